// Elements of global memory that several blocks access: blocks have no order, unless they are of one cluster.
//
// A race is two accesses of two blocks, one of them a write, that are not both strong (PTX ISA, Memory Consistency Model: data races, morally
// strong operations). Of strong ones the order decides which value is read, and which remains. Checked by Atomics.*.
#pragma once

#include "block.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace swizproof::flow_detail {

/// The element that a byte of global memory belongs to.
struct Written {
  std::uint32_t array;
  std::uint64_t element;
  bool operator<(Written const& o) const { return std::pair(array, element) < std::pair(o.array, o.element); }
};

/// Address of the first byte of an element that was written.
[[nodiscard]] std::uint64_t address_of(FlowKernel const& kernel, Written const& w, BlockRun const& block);

class BlockAccesses {
 public:
  explicit BlockAccesses(FlowKernel const& kernel) : kernel_(kernel) {}
  /// Accesses of two blocks to one element.
  struct Conflict {
    std::string text{};
    std::array<std::uint32_t, 3> block{};
    std::uint32_t line = ~0U;  ///< a write
    bool race = true;          ///< false: it is not decided
  };
  /// The next accesses are of another block, or of the blocks of another cluster.
  void next_block() { ++now_; }
  /// An element is read before it is written.
  void read(Written const& w, bool weak);
  /// An element is written.
  [[nodiscard]] std::optional<Conflict> write(Written const& w, BlockRun const& block);
  /// The first element that one block reads and another writes.
  [[nodiscard]] std::optional<Conflict> read_elsewhere() const;

 private:
  struct Writer {
    std::array<std::uint32_t, 3> number{};
    std::uint32_t count = 0;  ///< of the blocks up to it
    std::uint32_t line = 0;
    bool atomic = false, weak_write = false, weak_read = false;
  };
  /// Blocks that read an element, by their count: 0 is none.
  struct Readers {
    std::uint32_t any = 0, weak = 0;
  };
  [[nodiscard]] Writer writer(Written const& w, BlockRun const& block) const;
  [[nodiscard]] Conflict conflict(std::string text, Writer const& writer, bool race, char const* why) const;
  static constexpr std::uint32_t several = ~0U;

  FlowKernel const& kernel_;
  std::map<Written, Writer> writers_{};
  std::unordered_map<std::uint64_t, Readers> readers_{};
  std::uint32_t now_ = 0;  ///< number of blocks up to this one
};

}  // namespace swizproof::flow_detail
