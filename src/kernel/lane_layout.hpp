// Layout of an access: the byte of each lane, from the start of its array, as CuTe writes a layout.
#pragma once

#include <swizproof/layout/map.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace swizproof::kernel_detail {

/// A layout from lanes to bytes, and the swizzle behind it.
struct LaneForm {
  std::optional<Swizzle> swizzle{};
  Layout layout{};
};
/// `(8,4):(128,16) under Sw<3,4,3>`.
[[nodiscard]] std::string to_string(LaneForm const& form);

/// One form for each access of an array: of the swizzles that all of them have which need one, that of the fewest modes; else the
/// first of each. No form where an access has none.
[[nodiscard]] std::vector<std::optional<LaneForm>> common_forms(std::vector<std::vector<LaneForm>> accesses);

/// The cases of one access, and the layout that all of them have: in each case there is a number K, and lane l accesses byte
/// swizzle(K + layout(l)). Checked by KernelLayout.* in tests/unit/kernel/lane_layout_test.cpp.
class LaneLayout {
 public:
  /// One case: bytes of these lanes from the array's start, but for a multiple of 2^zeros that all of them share.
  void add(std::array<std::uint64_t, 32> const& bytes, std::uint32_t lanes, unsigned zeros);

  /// Every form that all cases have: the one without a swizzle if it is one, else those with swizzles of bytes, by the number of
  /// modes, then those of TMA first, then by bits, base and shift; periods are at most 4,096 bytes. None if no lane has a neighbour, or if more than 1,024 cases differ
  /// by more than a multiple of 4,096 bytes.
  [[nodiscard]] std::vector<LaneForm> forms() const;

 private:
  static constexpr std::uint64_t longest_period = 4096;  ///< bytes
  static constexpr std::size_t most_cases = 1024;
  struct Case {
    std::uint32_t lanes = 0;
    unsigned zeros = 0;  ///< at most 12
    std::array<std::uint32_t, 32> byte{};
    [[nodiscard]] friend bool operator<(Case const& a, Case const& b) {
      return std::tie(a.lanes, a.zeros, a.byte) < std::tie(b.lanes, b.zeros, b.byte);
    }
  };
  std::set<Case> cases_{};

  struct Strides;
  template <class Plain>
  bool find(Plain const& plain, Strides& into) const;
};

}  // namespace swizproof::kernel_detail
