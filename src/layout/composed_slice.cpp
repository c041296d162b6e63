// Slices of composed layouts, as CuTe makes them and as the function is.
#include "layout/functions.hpp"

#include <bit>

namespace swizproof {

using namespace layout_detail;

namespace {

/// CuTe's MixedBits, or an integer: bits known to the compiler, and bits known at run time.
struct Bits {
  std::uint32_t known = 0;    ///< static bits
  std::uint32_t dynamic = 0;  ///< values of the others
  std::uint32_t mask = 0;     ///< which bits are the others; all of them for a dynamic integer
  [[nodiscard]] std::uint32_t value() const { return known | dynamic; }
  [[nodiscard]] bool is_static() const { return mask == 0; }
};
constexpr std::uint32_t every_bit = ~std::uint32_t{0};

Bits bits_of(Displacement const& d) {
  auto const value = static_cast<std::uint32_t>(d.elements);
  if (d.dynamic_bits != 0) return {value & ~d.dynamic_bits, value & d.dynamic_bits, d.dynamic_bits};
  return d.is_static ? Bits{value, 0, 0} : Bits{0, value, every_bit};
}
Displacement displacement(Bits const& b) {
  auto const value = static_cast<std::int64_t>(static_cast<std::int32_t>(b.value()));
  if (b.mask == 0) return {value};
  if (b.mask == every_bit) return {value, false};
  return {b.value(), false, b.mask};
}
Bits operator^(Bits const& a, Bits const& b) {
  std::uint32_t const mask = a.mask | b.mask, value = a.value() ^ b.value();
  return {value & ~mask, value & mask, mask};
}

/// The coordinate's offset as bits; extents and strides must be powers of two.
Bits mixed_bits(IntTuple const& shape, IntTuple const& stride, IntTuple const& coordinate) {
  if (shape.is_tuple) {
    Bits all;
    IntTuple rest = coordinate;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      bool const last = i + 1 == shape.rank(), split = !coordinate.is_tuple;
      IntTuple const extent = size(shape.modes[i]);
      IntTuple const part = !split ? coordinate.modes[i] : last ? rest : rest % extent;
      all = all ^ mixed_bits(shape.modes[i], stride.modes[i], part);
      if (split && !last) rest = rest / extent;
    }
    return all;
  }
  IntTuple const reach = shape * stride, step = coordinate * stride;
  if (!reach.is_static) refuse("CuTe slices a swizzled layout only along static extents and strides");
  if (reach.value != 0 && !std::has_single_bit(static_cast<std::uint64_t>(reach.value)))
    refuse("CuTe slices a swizzled layout only where extent x stride is a power of two");
  auto const mask = static_cast<std::uint32_t>((shape.value - 1) * stride.value);
  auto const value = static_cast<std::uint32_t>(step.value) & mask;
  return step.is_static ? Bits{value, 0, 0} : Bits{0, value, mask};
}

/// The modes that a coordinate fixes, and the coordinate in them.
void fixed_modes(Layout const& l, Tiler const& at, std::vector<Layout>& modes, std::vector<IntTuple>& fixed) {
  if (auto const* leaf = std::get_if<IntTuple>(&at.value)) {
    modes.push_back(l);
    fixed.push_back(*leaf);
  }
  if (auto const* inner_modes = std::get_if<std::vector<Tiler>>(&at.value))
    for (std::size_t i = 0; i < inner_modes->size(); ++i)
      fixed_modes(l.mode(i), (*inner_modes)[i], modes, fixed);
}

/// A layout of B bits: 2^base, B bits, the gap, B bits, one more mode; with these strides for the fields.
Layout fields(Swizzle const& s, std::vector<IntTuple> const& strides) {
  std::int64_t const bits = std::int64_t{1} << s.bits,
                     gap = std::int64_t{1} << (s.distance() - unsigned(s.bits));
  return {IntTuple(std::vector<IntTuple>{std::int64_t{1} << s.base, bits, gap, bits, 1}), IntTuple(strides)};
}

/// Strides of the bits of one field after the slice: the lower bit pattern says + or -.
std::vector<IntTuple> decayed_strides(bool of_target, std::uint32_t source, std::uint32_t target,
                                      Bits const& at, int bits) {
  std::vector<IntTuple> out;
  auto const z = static_cast<std::int64_t>(target), y = static_cast<std::int64_t>(source);
  for (int i = 0; i < bits; ++i) {
    std::uint32_t const other = (of_target ? source : target) << i;
    bool const known = (at.mask & other) == 0, zero = (at.value() & other) == 0;
    std::int64_t const plus = of_target ? z : y + z, minus = of_target ? -z : y - z;
    out.emplace_back((zero ? plus : minus) << i, known);
  }
  return out;
}

struct Sliced {
  Mapping map;
  Word64 left_to_pointer = 0;
};

/// CuTe's slice_and_offset of swizzle o offset o layout.
Sliced cute_slice(Swizzle const& s, Displacement const& offset, Layout const& l, Tiler const& coordinate) {
  Layout const kept = slice(l, coordinate).layout;
  if (kept.rank() == 0) refuse("no mode is free");
  std::vector<Layout> modes;
  std::vector<IntTuple> fixed;
  fixed_modes(l, coordinate, modes, fixed);
  Mapping composed;
  composed.on_elements = {s, offset, kept};
  if (fixed.empty()) return {with_layout(composed, kept), 0};
  bool const whole = std::holds_alternative<IntTuple>(coordinate.value);
  Layout const diced = whole ? l : make_layout(modes);
  IntTuple const at = whole ? fixed[0] : IntTuple(fixed);

  auto const power = [](unsigned n) { return std::int64_t{1} << n; };
  auto const base = static_cast<unsigned>(s.base), bits = static_cast<unsigned>(s.bits);
  std::int64_t const end = power(base + bits + s.distance());
  Layout const others = fields(s, {1, 0, power(base + bits), 0, end});
  Layout const active = fields(s, {0, power(base), 0, power(base + s.distance()), 0});
  Layout const diced_active = composition(active, diced);
  Bits const in_fields = bits_of(offset) ^ mixed_bits(diced_active.shape, diced_active.stride, at);
  Layout const diced_others = composition(others, diced);
  std::vector<Tiler> all;
  Word64 const elsewhere = static_cast<Word64>(slice(diced_others, tiler(at)).offset.value);

  // If the free modes reach both a source bit and its target, the swizzle stays.
  Layout const kept_active = composition(active, kept);
  IntTuple const last = size(kept_active.shape) - IntTuple(1);
  IntTuple const reached = slice(kept_active, {last}).offset;
  auto const x = static_cast<Word64>(reached.value);
  if (reached.is_static && (x & ~s(x)) != 0) {
    composed.on_elements[1] = displacement(in_fields);
    return {with_layout(composed, kept), elsewhere};
  }
  auto const source = static_cast<std::uint32_t>(s.source_mask() & -s.source_mask());
  auto const target = static_cast<std::uint32_t>(s.target_mask() & -s.target_mask());
  std::vector<IntTuple> extents{power(base)}, strides{1};
  auto const add_field = [&](bool of_target) {
    auto const field = decayed_strides(of_target, source, target, in_fields, s.bits);
    extents.insert(extents.end(), field.size(), 2);
    strides.insert(strides.end(), field.begin(), field.end());
  };
  add_field(target < source);
  extents.emplace_back(power(s.distance() - bits));
  strides.emplace_back(power(base + bits));
  add_field(target > source);
  extents.emplace_back(1);
  strides.emplace_back(end);
  Layout const decayed{IntTuple(std::move(extents)), IntTuple(std::move(strides))};
  return {mapping(composition(decayed, kept)), s(Word64{in_fields.value()}) + elsewhere};
}

/// The offset of the fixed part added where it belongs: the right function, even if CuTe returns another.
Mapping exact_slice(Mapping map, Slice const& part) {
  bool const flagged = is_flagged(map), has_offset = map.on_elements.size() >= 2;
  if (flagged && !has_offset) map.on_elements.insert(map.on_elements.begin(), Displacement{});
  auto& plus = std::get<Displacement>(map.on_elements[map.on_elements.size() - 2]);
  plus = {plus.elements + part.offset.value,
          plus.is_static && plus.dynamic_bits == 0 && part.offset.is_static};
  if (flagged && plus == Displacement{}) map.on_elements.erase(map.on_elements.begin());
  return with_layout(std::move(map), part.layout);
}

Mapping slice_flagged(Mapping const& map, Slice const& part) {
  Mapping right = exact_slice(map, part);
  if (is_constant(part.offset, 0) && map.on_elements.size() == 1) return right;
  // CuTe puts the offset in the flag's place, and the byte swizzle acts on elements from then on.
  Mapping theirs;
  theirs.on_elements = {map.on_bytes[0], Displacement{part.offset.value, part.offset.is_static}, part.layout};
  theirs = with_layout(theirs, part.layout);
  Word64 const bits = *map.element_bits;
  auto const address = [&](Word64 i) { return bit_address(right, Address<Word64>{0}, i); };
  auto const at = first_difference(
      part.layout.size(), [&](Word64 i) { return value(theirs, i) * bits; }, address);
  if (!at) return theirs;
  right.notes.push_back(another_function(theirs.text, *at, value(theirs, *at), address(*at) / bits) +
                        " (cutlass #3023: the swizzle is in bytes, the offset in elements)");
  return right;
}

}  // namespace

Mapping slice(Mapping const& map, Tiler const& coordinate) {
  Slice const part = slice(inner(map), coordinate);
  if (part.offset.is_tuple) refuse("a coordinate map has no offset");
  if (is_flagged(map)) return slice_flagged(map, part);
  if (plain_layout(map) != nullptr) {
    Mapping result = mapping(part.layout);
    result.notes = map.notes;
    if (part.offset.value != 0)
      result.notes.push_back("the slice starts at offset " + std::to_string(part.offset.value) +
                             ", which CuTe adds to the pointer");
    return result;
  }
  Mapping right = exact_slice(map, part);
  auto const* swizzle = std::get_if<Swizzle>(&map.on_elements[0]);
  if (swizzle == nullptr || map.on_elements.size() != 3) return right;
  try {
    Sliced theirs = cute_slice(*swizzle, std::get<Displacement>(map.on_elements[1]), inner(map), coordinate);
    auto const whole = [&](Word64 i) { return value(theirs.map, i) + theirs.left_to_pointer; };
    auto const at = first_difference(part.layout.size(), whole, [&](Word64 i) { return value(right, i); });
    bool const same_size = inner(theirs.map).size() == part.layout.size();
    if (!at && same_size) {
      theirs.map.notes = map.notes;
      if (theirs.left_to_pointer != 0)
        theirs.map.notes.push_back("the slice starts at offset " + number(theirs.left_to_pointer) +
                                   ", which CuTe adds to the pointer");
      return theirs.map;
    }
    Word64 const where = at.value_or(0);
    right.notes.push_back(another_function(theirs.map.text + " from offset " + number(theirs.left_to_pointer),
                                           where, whole(where), value(right, where)));
  } catch (AlgebraError const& error) {
    right.notes.push_back("CuTe does not compile this slice: " + std::string(error.what()));
  }
  return right;
}

}  // namespace swizproof
