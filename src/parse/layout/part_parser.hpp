// Parts of a composition: swizzles, offsets and pointers.
#pragma once

#include "parse/layout/layout_parser.hpp"

#include <swizproof/layout/composed.hpp>

namespace swizproof {

/// A pointer before a layout: what it says about the layout behind it.
struct Pointer {
  std::optional<unsigned> bits{};
  std::optional<std::uint64_t> address{};
  std::optional<Swizzle> swizzle{};
  std::optional<Displacement> start{};
};

/// Reads from a scanner that its owner shares.
class PartParser {
 public:
  PartParser(Scanner& in, LayoutParser& layouts, std::vector<std::string>& notes)
      : in_(in), layouts_(layouts), notes_(notes) {}

  [[nodiscard]] bool at_swizzle();
  [[nodiscard]] Swizzle swizzle();
  /// Bits of the elements that a Mojo swizzle was made for.
  [[nodiscard]] std::optional<unsigned> swizzle_bits() const { return swizzle_bits_; }
  [[nodiscard]] Displacement displacement(std::int64_t value, bool is_static, std::size_t from);
  [[nodiscard]] Displacement mixed_bits();
  [[nodiscard]] unsigned pointer_bits();
  /// The pointer that comes next, if one does.
  [[nodiscard]] std::optional<Pointer> pointer();

 private:
  Swizzle valid(Swizzle s, std::size_t from);
  std::optional<Swizzle> mojo_swizzle(std::string_view name);
  void read_address(Pointer& pointer);

  Scanner& in_;
  LayoutParser& layouts_;
  std::vector<std::string>& notes_;
  std::optional<unsigned> swizzle_bits_{};
};

}  // namespace swizproof
