// Addresses of accesses on the paths of threads, and the bytes of boxes of tensors, which are not in the PTX.
//
// A copy to shared memory has a box of the bytes up to the next destination, or of an equal part of the bytes that its mbarrier expects. All boxes
// of an mbarrier together have exactly these bytes. A copy from shared memory has a box of at most the bytes up to the next address of a copy or of an
// mbarrier. Both are assumptions, which the answer lists.
#pragma once

#include "race_access.hpp"
#include "race_thread.hpp"

#include <swizproof/program/program.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// One mbarrier.
struct Mbarrier {
  std::uint64_t address = 0;
  std::optional<std::uint64_t> count{};
  std::set<std::uint32_t> inits{}, arrivals{}, copies{}, waits{}, expects{};
  std::set<std::uint64_t> expected{};                                ///< bytes
  std::set<std::pair<std::uint64_t, std::uint32_t>> destinations{};  ///< of its copies, with the access
};

/// Addresses of an access, and what its thread holds and fills there: a bit for each ring.
struct StagePlace {
  std::uint64_t least = 0, most = 0;  ///< first bytes
  std::uint64_t holds = 0, fills = 0;
  auto operator<=>(StagePlace const&) const = default;
};

/// Places of all accesses.
class RingPlaces {
 public:
  /// `end`: of shared memory.
  RingPlaces(program::Program const& program, execution::Execution const& execution,
             BlockShapes const& shapes, std::vector<SharedAccess> const& accesses, std::uint64_t end)
      : program_(program),
        execution_(execution),
        shapes_(shapes),
        accesses_(accesses),
        end_(end),
        places_(accesses.size()) {}

  /// False if an access has too many places.
  [[nodiscard]] bool add(std::uint32_t access, StagePlace const& place);
  [[nodiscard]] std::set<StagePlace> const& of(std::uint32_t access) const { return places_[access]; }
  /// Finds the boxes of copies to shared memory; 0: not one number.
  void find_boxes(std::vector<Mbarrier> const& mbarriers);
  /// Finds those of copies from shared memory, when all places are known.
  void find_stored_boxes(std::vector<Mbarrier> const& mbarriers);
  /// By access.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> const& boxes() const { return boxes_; }
  /// The sizes of boxes, as assumptions.
  [[nodiscard]] std::vector<std::string> assumed() const;
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t access) const;
  /// True if an access has no byte in common with another one, at these places.
  [[nodiscard]] bool disjoint(std::uint32_t a, StagePlace const& x, std::uint32_t b,
                              StagePlace const& y) const;
  /// True at all their places.
  [[nodiscard]] bool apart(std::uint32_t a, std::uint32_t b) const;

 private:
  [[nodiscard]] std::vector<StagePlace> starts_of(std::uint32_t access) const;

  program::Program const& program_;
  execution::Execution const& execution_;
  BlockShapes const& shapes_;
  std::vector<SharedAccess> const& accesses_;
  std::uint64_t end_;
  std::vector<std::set<StagePlace>> places_;
  std::map<std::uint32_t, std::uint32_t> boxes_{};
};

}  // namespace swizproof::kernel_detail
