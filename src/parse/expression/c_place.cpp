#include "parse/expression/c_place.hpp"

namespace swizproof {

namespace {

constexpr IntegerType long_type{64, true};

CValue wide(CValue const& v) { return c_convert(v, long_type); }
CValue times(CValue const& v, std::int64_t n) {
  return n == 1 ? v : c_apply(Expression::Op::multiply, v, c_number(n));
}
CValue sum_of(CValue const& a, CValue const& b) { return c_apply(Expression::Op::add, a, b); }
bool is_zero(CValue const& v) { return v.bounds.is_constant() && v.bounds.least == 0; }

/// Indices of the element that lies `last` elements behind the start of a row, in this row or another.
void count_through_rows(DeclaredArray const& array, CValue const& last, std::size_t along,
                        std::vector<CValue>& indices) {
  CValue flat = wide(indices[0]);
  for (std::size_t i = 1; i <= along; ++i)
    flat = sum_of(times(flat, array.extents[i]), i < along ? wide(indices[i]) : last);
  for (std::size_t i = along; i > 0; --i) {
    indices[i] = c_apply(Expression::Op::remainder, flat, c_number(array.extents[i]));
    flat = c_apply(Expression::Op::divide, flat, c_number(array.extents[i]));
  }
  indices[0] = flat;
}

}  // namespace

std::vector<Expression> CPlace::coordinate(DeclaredArray const& array, std::uint64_t elements) const {
  std::vector<CValue> indices = subscripts;
  indices.resize(array.extents.size(), c_number(0));
  std::size_t along = array.extents.size() - 1;  // rows of one element lie side by side
  while (along > 0 && array.extents[along] == 1) --along;
  std::int64_t const row = array.extents[along];
  auto const vector = static_cast<std::int64_t>(elements);
  bool const moves = beyond && !is_zero(*beyond);
  CValue const last = moves ? sum_of(wide(indices[along]), *beyond) : indices[along];
  bool const stays = along == 0 || (last.bounds.least >= 0 && last.bounds.most + vector <= row);
  if (!stays && row % vector != 0)
    throw InputError("vectors of " + std::to_string(vector) + " elements may cross the rows of " +
                         std::to_string(row) + " elements, which a coordinate cannot name",
                     {}, 0, 1,
                     "declare the array with one extent, " + array.type + " " + array.name + "[..]");
  if (!moves || stays)
    indices[along] = last;
  else
    count_through_rows(array, last, along, indices);
  std::vector<Expression> out;
  for (CValue& index : indices) out.push_back(std::move(index.value));
  return out;
}

/// A place, and integers that are added to an address: `a[i] + 4`.
CPlace CPlaceParser::sum() {
  Nesting const nesting(in_, depth_);
  CPlace place = unary();
  std::size_t const at = in_.at();
  if (in_.looking_at("+=") || !in_.take("+")) return place;
  place = decayed(std::move(place));
  if (place.kind != CPlace::Kind::pointer)
    in_.fail("a number is added to what is no address", at, 1, "&" + array_.name + "[..] is one");
  move(place, integer(), at);
  return place;
}

CPlace CPlaceParser::unary() {
  Nesting const nesting(in_, depth_);
  std::size_t const at = in_.at();
  if (in_.take("*")) {
    CPlace place = decayed(unary());
    if (place.kind != CPlace::Kind::pointer || place.bytes == 0)
      in_.fail("* needs the address of an object", at);
    place.kind = CPlace::Kind::object;
    return place;
  }
  if (in_.take("&")) {
    CPlace place = unary();
    if (place.kind == CPlace::Kind::pointer) in_.fail("& of an address", at);
    place.kind = CPlace::Kind::pointer;
    return place;
  }
  if (std::optional<CPlace> casted = c_cast()) return *std::move(casted);
  return postfix();
}

/// `(float4*)&a[i][j]`, `(const float4&)a[i][j]`. Nothing is passed where no cast comes next.
std::optional<CPlace> CPlaceParser::c_cast() {
  std::size_t const from = in_.at();
  if (!in_.take("(") || in_.looking_at_name(array_.name)) return in_.back_to(from), std::nullopt;
  std::optional<CType> const type = take_c_type(in_);
  bool const reference = in_.looking_at("&");
  if (!type || !(in_.take("*") || in_.take("&"))) return in_.back_to(from), std::nullopt;
  in_.expect(")", "of the cast");
  return cast(reference, *type, unary(), from);
}

CPlace CPlaceParser::postfix() {
  CPlace place = primary();
  while (true) {
    std::size_t const at = in_.at();
    if (in_.take("[")) {
      subscript(place, at);
    } else if (in_.looking_at("->") || (in_.looking_at(".") && !in_.looking_at(".."))) {
      in_.fail("members of vectors are not read", at, 2,
               "declare the array with one more extent: float " + array_.name + "[..][4]");
    } else {
      return place;
    }
  }
}

CPlace CPlaceParser::primary() {
  if (in_.take("(")) {
    CPlace inner = sum();
    in_.expect(")", "to close the parenthesis");
    return inner;
  }
  if (in_.looking_at_name("reinterpret_cast") || in_.looking_at_name("static_cast")) return named_cast();
  std::size_t const from = in_.at();
  std::string_view const name = in_.take_name();
  if (name == array_.name) return {};
  in_.fail(
      "expected an element of " + array_.name, from, name.size(),
      array_.name + "[..], *reinterpret_cast<float4*>(&" + array_.name + "[..]), or an address for ldmatrix");
}

/// `reinterpret_cast<const float4*>(&a[i][j])`.
CPlace CPlaceParser::named_cast() {
  std::size_t const from = in_.at();
  (void)in_.take_name();
  in_.expect("<", "and the type of the cast");
  std::optional<CType> const type = take_c_type(in_);
  bool const reference = in_.looking_at("&");
  if (!type || !(in_.take("*") || in_.take("&")))
    in_.fail_here("expected a pointer to a type of known size",
                  "reinterpret_cast<float4*>(&" + array_.name + "[..])");
  in_.expect(">", "of the cast");
  in_.expect("(", "of the cast's operand");
  CPlace place = sum();
  in_.expect(")", "of the cast's operand");
  return cast(reference, *type, std::move(place), from);
}

CPlace CPlaceParser::cast(bool reference, CType const& type, CPlace place, std::size_t at) {
  auto const refuse = [&](std::string message, std::string hint) {
    in_.fail(std::move(message), at, in_.at_end_of_token() - at, std::move(hint));
  };
  if (!reference) place = decayed(std::move(place));
  if (place.kind != (reference ? CPlace::Kind::object : CPlace::Kind::pointer))
    refuse(reference ? "a reference is made of no object" : "a pointer is made of no address",
           "*reinterpret_cast<float4*>(&" + array_.name + "[..])");
  if (type.bytes % array_.element_bytes != 0)
    refuse(type.name + " has " + std::to_string(type.bytes) +
               " bytes, which are no whole number of elements of " + std::to_string(array_.element_bytes) +
               " bytes",
           "declare the array with elements of the smaller type");
  place.bytes = type.bytes;
  place.subscripts.resize(array_.extents.size(), c_number(0));
  return place;
}

CPlace CPlaceParser::decayed(CPlace place) const {
  if (place.kind != CPlace::Kind::array) return place;
  place.kind = CPlace::Kind::pointer;
  place.subscripts.push_back(c_number(0));
  place.bytes = place.subscripts.size() == array_.extents.size() ? array_.element_bytes : 0;
  return place;
}

void CPlaceParser::move(CPlace& pointer, CValue const& by, std::size_t at) {
  if (pointer.bytes == 0)
    in_.fail("this is the address of a row", at, 1, "write the subscript: " + array_.name + "[i + 1]");
  try {
    CValue const elements = times(wide(by), pointer.bytes / array_.element_bytes);
    pointer.beyond = pointer.beyond ? sum_of(*pointer.beyond, elements) : elements;
  } catch (InputError const& error) {  // it has no position
    in_.fail(error.message, at, in_.at_end_of_token() - at, error.hint);
  }
}

/// The subscript in the brackets that began at `at`.
void CPlaceParser::subscript(CPlace& place, std::size_t at) {
  CValue const index = integer();
  in_.expect("]", "after the subscript");
  if (place.kind == CPlace::Kind::object)
    in_.fail(array_.name + " has " + std::to_string(array_.extents.size()) +
                 " extents, and this is one subscript more",
             at, in_.at_end_of_token() - at);
  if (place.kind == CPlace::Kind::pointer) {
    move(place, index, at);
    place.kind = CPlace::Kind::object;
    return;
  }
  place.subscripts.push_back(index);
  if (place.subscripts.size() < array_.extents.size()) return;
  place.kind = CPlace::Kind::object;
  place.bytes = array_.element_bytes;
}

CValue CPlaceParser::integer() { return ExpressionParser(in_, {}, named_).parse_c(); }

}  // namespace swizproof
