// Objects that subscript expressions of C name: `a[i][j]`, `&a[i][j]`, `reinterpret_cast<float4*>(&a[i][0])[k]`.
#pragma once

#include "parse/expression/expression_parser.hpp"

#include <swizproof/layout/array.hpp>

#include <optional>
#include <span>
#include <vector>

namespace swizproof {

/// An object in the array, or its address: an element by its subscripts, and so many elements behind it.
struct CPlace {
  enum class Kind : std::uint8_t { array, object, pointer };
  Kind kind = Kind::array;
  std::vector<CValue> subscripts{};
  std::optional<CValue> beyond{};  ///< elements behind that of the subscripts, along the rows
  unsigned bytes = 0;              ///< of the object, or of that pointed to; 0 for an array

  /// One index for each extent, of an access of `elements` elements. Subscripts are indices themselves; elements beyond them that may
  /// leave the row are counted through the rows, as C counts them. Throws InputError without a position.
  [[nodiscard]] std::vector<Expression> coordinate(DeclaredArray const& array, std::uint64_t elements) const;
};

/// Reads one.
class CPlaceParser {
 public:
  CPlaceParser(Scanner& in, DeclaredArray const& array, std::span<NamedExpression const> named)
      : in_(in), array_(array), named_(named) {}

  [[nodiscard]] CPlace parse() { return sum(); }
  /// An array as the address of its first element, which it is in most expressions of C. Others are as they are.
  [[nodiscard]] CPlace decayed(CPlace place) const;

 private:
  CPlace sum();
  CPlace unary();
  CPlace postfix();
  CPlace primary();
  CPlace cast(bool reference, CType const& type, CPlace from, std::size_t at);
  std::optional<CPlace> c_cast();
  CPlace named_cast();
  void move(CPlace& pointer, CValue const& by, std::size_t at);
  void subscript(CPlace& place, std::size_t at);
  CValue integer();

  Scanner& in_;
  DeclaredArray const& array_;
  std::span<NamedExpression const> named_;
  int depth_ = 0;
};

}  // namespace swizproof
