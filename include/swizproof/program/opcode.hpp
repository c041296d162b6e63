// An opcode of PTX in parts, decoded once.
#pragma once

#include <swizproof/program/variable.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace swizproof::program {

/// Type of PTX: kind b, s, u, f or p (predicate), and bits, of f16x2 and the like of both elements. Kind 0: no type.
struct Type {
  char kind = 0;
  unsigned bits = 0;
  [[nodiscard]] constexpr bool integer() const { return kind == 'b' || kind == 's' || kind == 'u'; }
};
/// Type that a part of an opcode names: `type_of("u16")` is u, 16 bits.
[[nodiscard]] Type type_of(std::string_view part);

/// `ld.shared::cta.v4.u32`: parts ld, shared::cta, v4, u32. Checked by Opcode.IsDecodedOnce.
struct Opcode {
  Opcode() = default;  ///< opcode of a label: no parts
  explicit Opcode(std::string_view all);

  std::string_view text{};
  std::string_view name{};  ///< the first part
  std::vector<std::string_view> parts{};
  Type type{};                   ///< type in the last part that is no vector
  Space space = Space::generic;  ///< the first that a part names
  std::uint8_t lanes = 1;        ///< elements of a vector: .v2, .v4, .v8
  [[nodiscard]] bool has(std::string_view part) const;
  /// True for an access that is no part of a data race with others like it. [PTX ISA, Memory Consistency Model: strong operations]
  [[nodiscard]] bool is_strong() const;
  /// Type of the last part but one, as of cvt; no type if the name is that part.
  [[nodiscard]] Type type_before() const;
};

/// True if the result of an instruction of this name depends on its operands alone.
[[nodiscard]] bool depends_on_operands_alone(std::string_view name);

/// True for a product, or a sum, of floating point without a rounding mode, as `mul.f32` and `sub.f16x2`: ptxas may make one fma of both. [PTX ISA 9.1,
/// 9.7.3.3: add] Checked by KernelRaces.ASumMayBeFusedWithAProduct.
[[nodiscard]] bool is_fusible_product(Opcode const& op);
[[nodiscard]] bool is_fusible_sum(Opcode const& op);

}  // namespace swizproof::program
