// Tensors: a bound pointer, or a coordinate, before a layout.
#include "parse/layout/mapping_parser.hpp"

namespace swizproof {

namespace {

/// Pointers that CuTe prints before " o ": their names, and whether shared memory is behind them.
struct PointerName {
  std::string_view text;
  bool shared;
};
constexpr PointerName pointer_names[] = {
    {"smem_subptr", true}, {"smem_ptr", true}, {"gmem_subptr", false}, {"gmem_ptr", false},
    {"rmem_ptr", false},   {"raw_ptr", false}, {"subptr", false},      {"ptr", false},
    {"tmem_ptr", false},   {"tmem_", false},
};

}  // namespace

/// smem_ptr[16b](0x5626ac5a2c00), Sw<3,4,3>_smem_ptr[16b](0x...), in CUTLASS 3.0 smem_ptr_S<3,4,3>_16b(0x...).
std::optional<Pointer> PartParser::pointer() {
  std::size_t const from = in_.at();
  Pointer result;
  if (in_.looking_at_name("S") || in_.looking_at_name("Sw") || in_.looking_at_name("Swizzle")) {
    result.swizzle = swizzle();
    if (!in_.take("_")) {
      in_.back_to(from);
      return std::nullopt;
    }
  }
  if (in_.looking_at("smem_sparse")) in_.fail_here("sparse pointers are not supported");
  if (in_.take("counting_iter")) {
    in_.expect("(", "of the counting iterator");
    std::size_t const at = in_.at();
    result.start = displacement(in_.take_integer("the first number"), false, at);
    in_.expect(")", "of the counting iterator");
    notes_.push_back("a counting iterator: its values are numbers, not places in shared memory");
    return result;
  }
  auto const* known = std::find_if(std::begin(pointer_names), std::end(pointer_names),
                                   [&](PointerName const& name) { return in_.looking_at(name.text); });
  if (known == std::end(pointer_names)) {
    if (result.swizzle) in_.fail_here("expected smem_ptr after the swizzle's _");
    return std::nullopt;
  }
  (void)in_.take(known->text);
  if (known->text.starts_with("tmem"))
    in_.fail("tensor memory is not shared memory: it has no banks and no swizzle", from, in_.at() - from);
  if (in_.looking_at("_S") && in_.take("_")) result.swizzle = swizzle();
  result.bits = pointer_bits();
  if (in_.take("(unset)")) in_.fail("smem_ptr[..](unset) stands between one swizzle and a layout", from);
  read_address(result);
  if (!known->shared) {
    result.address.reset();
    notes_.push_back(
        std::string(known->text) +
        " is no pointer to shared memory: banks mean nothing there, and its address is not used");
  }
  return result;
}

/// (0x55ea5cecdc00), and with a bit in the byte for elements below a byte: (0x55ea5cecdc00.4).
void PartParser::read_address(Pointer& pointer) {
  in_.expect("(", "of the pointer");
  std::size_t const at = in_.at();
  if (!in_.looking_at("0x"))
    in_.fail_here("expected an address such as 0x7f00", "or (unset) behind a swizzle");
  pointer.address = in_.take_literal();
  if (*pointer.address >= std::uint64_t{1} << 60)
    in_.fail("the address has more than 60 bits", at, in_.at() - at);
  if (*pointer.address % std::max(*pointer.bits / 8, 1U) != 0)
    in_.fail("an element of " + std::to_string(*pointer.bits) + " bits does not lie at this address", at,
             in_.at() - at);
  if (in_.take(".")) {
    std::size_t const bit_at = in_.at();
    std::int64_t const bit = in_.take_integer("the number of the bit in the byte");
    if (bit < 0 || bit > 7 || bit % *pointer.bits != 0)
      in_.fail("no element starts at this bit of a byte", bit_at, in_.at() - bit_at);
    if (bit != 0) pointer.start = Displacement{bit / *pointer.bits};
  }
  in_.expect(")", "of the pointer");
}

/// pointer o layout.
Value MappingParser::tensor(Pointer const& pointer) {
  is_tensor_ = true;
  if (!in_.take_joint()) in_.fail_here("expected ' o ' and a layout after the pointer");
  Chain chain;
  chain.bound = true;
  std::size_t const from = in_.at();
  add_stage(chain);
  Value value = rest_of(std::move(chain));
  auto* const map = std::get_if<Mapping>(&value);
  if (map == nullptr || map->domain() == nullptr)
    in_.fail("a pointer is followed by a layout", from, in_.at() - from);
  bool const shifted = std::holds_alternative<Displacement>(map->on_elements[0]);
  if (pointer.swizzle && map->on_elements.size() != (shifted ? 2 : 1))
    in_.fail("a pointer that swizzles is followed by one layout", from, in_.at() - from);
  if (pointer.start) {
    if (map->on_elements.size() > 1) in_.fail("only a layout may follow this pointer", from, in_.at() - from);
    map->on_elements.insert(map->on_elements.begin(), *pointer.start);
  }
  if (pointer.swizzle) map->on_bytes = {*pointer.swizzle};
  if (pointer.bits) map->element_bits = pointer.bits;
  map->base_address = pointer.address;
  map->text = to_string(*map);
  return value;
}

Value coordinates(Scanner& in, LayoutParser& layouts) {
  (void)in.take("ArithTuple");
  std::size_t const from = in.at();
  IntTuple const start = layouts.shape();
  auto const parts = start.leaves();
  if (!start.is_tuple || std::any_of(parts.begin(), parts.end(), [](std::int64_t part) { return part != 0; }))
    in.fail("only coordinates that start at (_0,_0,...) are supported", from, in.at() - from);
  if (!in.take_joint()) in.fail_here("expected ' o ' and a layout after ArithTuple");
  return Tiler{layouts.layout()};
}

}  // namespace swizproof
