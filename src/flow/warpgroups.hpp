// Instructions that the four warps of a warpgroup execute together: wgmma and setmaxnreg.
//
// All threads of a warpgroup execute the same instruction [PTX ISA, wgmma.mma_async and setmaxnreg: .aligned], and wgmma has the same descriptors in
// all of them. A warpgroup is four warps that follow each other, the first a multiple of 4 [PTX ISA, Asynchronous Warpgroup Level Matrix
// Instructions]. So the four warps execute one sequence of these instructions, which the first of them to come there writes.
#pragma once

#include "faults.hpp"
#include "order.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

class Warpgroups {
 public:
  static constexpr unsigned size = 4;
  /// Values that all warps have: the descriptors of a wgmma, or the count of a setmaxnreg; else they are 0.
  struct Values {
    std::array<std::uint64_t, 2> descriptors{};
    std::uint64_t registers = 0;
    bool operator==(Values const&) const = default;
  };
  /// `warps`: of the block.
  explicit Warpgroups(unsigned warps)
      : groups_((warps + size - 1) / size),
        done_(warps),
        moments_(warps),
        threads_(warps),
        registers_(warps) {}

  struct Difference {
    std::string text{};
    std::optional<FlowTouch> first{};  ///< what another warp of the group has executed
  };
  /// Why a warp may not execute an instruction now; nothing if it may.
  [[nodiscard]] std::optional<Difference> execute(unsigned warp, FlowTouch const& by, Values const& values);
  /// True if warps have executed setmaxnreg of one count at several places.
  [[nodiscard]] bool apart() const { return apart_; }
  /// Why a warp may not change its number of registers now; empty if it may. `count`: of each thread, behind it.
  [[nodiscard]] std::string change_registers(unsigned warp, unsigned first_thread, std::uint64_t count,
                                             bool more, Clocks& clocks);
  /// At the end of the block: an instruction that one warp of a group has executed, and another not.
  [[nodiscard]] std::optional<FlowConflict> end() const;

 private:
  struct Step {
    FlowTouch by{};
    unsigned warp = 0;
    Values values{};
  };
  [[nodiscard]] std::size_t warps() const { return done_.size(); }

  std::vector<std::vector<Step>> groups_;
  bool apart_ = false;
  std::vector<std::size_t> done_;  ///< steps of each warp
  /// Moments at which each warp has changed its registers, and how many it has; 0: as the launch gives them.
  std::vector<std::vector<std::uint32_t>> moments_;
  std::vector<unsigned> threads_;
  std::vector<std::uint64_t> registers_;
};

}  // namespace swizproof::flow_detail
