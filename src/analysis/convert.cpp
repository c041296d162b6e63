#include <swizproof/analysis/convert.hpp>

#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/core/error.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/layout/composed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace swizproof {

namespace {

/// The units that a tile of elements covers, in order.
std::vector<std::int64_t> units_of(Mapping const& map, unsigned bits, unsigned unit) {
  std::vector<std::int64_t> all;
  for (std::uint64_t const offset : offsets(map)) {
    std::int64_t const first = static_cast<std::int64_t>(offset) * bits / unit;
    for (unsigned u = 0; u < bits / unit; ++u) all.push_back(first + u);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// The same integers, all static, as they are on a command line.
IntTuple as_static(IntTuple tuple) {
  tuple.is_static = true;
  for (IntTuple& mode : tuple.modes) mode = as_static(std::move(mode));
  return tuple;
}

/// The map in units of so many bits. Its swizzle is one of those units as well.
Mapping in_units(Mapping const& map, unsigned bits) {
  auto const refuse = [&](std::string message) { return InputError::whole(std::move(message), map.text); };
  for (std::vector<Stage> const* const stages : {&map.on_elements, &map.on_bytes})
    for (Stage const& stage : *stages)
      if (std::holds_alternative<Expression>(stage) || std::holds_alternative<LinearMap>(stage))
        throw refuse("only layouts and swizzles have another unit; this is a function");
  Mapping const plain = is_flagged(map) ? position_independent(map) : map;
  if (plain.acts_on_bytes() && plain_swizzle(plain) == nullptr)
    throw refuse("this function of byte addresses is none of elements");
  unsigned const own = own_unit(map);
  if (bits == own) return plain;
  if (bits > own ? bits % own != 0 : own % bits != 0)
    throw refuse(fmt::format("elements of {} bits have no units of {} bits", own, bits));
  Mapping from = plain;
  from.notes.clear();
  if (Layout const* const layout = plain.domain())
    from = with_layout(from, Layout{as_static(layout->shape), as_static(layout->stride)});
  try {
    Mapping out = bits > own ? upcast(from, bits / own) : downcast(from, own / bits);
    out.element_bits = bits;
    return out;
  } catch (AlgebraError const& error) {
    throw refuse(error.what());
  }
}

/// True if the outermost swizzle, which is none of units of `n` elements, keeps them whole at each offset that the tile has, and moves
/// them as that of the converted tile does.
bool stay_whole(Mapping const& own, Mapping const& converted, std::uint64_t n) {
  if (own.domain() == nullptr) return false;
  auto const* const before = std::get_if<Swizzle>(&own.on_elements.front());
  auto const* const after = std::get_if<Swizzle>(&converted.on_elements.front());
  if (before == nullptr || recast(*before, std::countr_zero(n))) return false;  // the note has another reason
  Swizzle const moved = after == nullptr ? swizzle_none : *after;
  Map inside = own;
  inside.on_elements.erase(inside.on_elements.begin());
  for (std::int64_t i = 0; i < own.domain()->size(); ++i) {
    std::uint64_t const x = offset(inside, static_cast<std::uint64_t>(i)).elements, y = (*before)(x);
    if (y % n != x % n || y / n != moved(x / n)) return false;
  }
  return true;
}

/// Throws InputError for a tile whose elements are not looked at one by one.
void must_be_small(Mapping const& tile) {
  if (tile.domain() != nullptr && tile.domain()->size() > static_cast<std::int64_t>(8 * most_shared_bytes))
    throw InputError::whole(
        fmt::format("the tile has {} elements, more than the {} bytes of a block's shared memory",
                    tile.domain()->size(), most_shared_bytes),
        tile.text);
}

/// True if two tiles cover the same units. CuTe's recast counts some otherwise: with modes of extent 1, or below their first element.
bool covers_the_same(Mapping const& given, unsigned own, Mapping const& converted, unsigned bits) {
  if (given.domain() == nullptr) return true;
  unsigned const unit = std::min(own, bits);
  return units_of(given, own, unit) == units_of(converted, bits, unit);
}

/// First difference between a layout with a byte swizzle and the same with a swizzle of elements: what CuTe prints keeps
/// elements whole where the swizzle of bytes splits them. Nothing where they are proved to be the same, from bases that are multiples of
/// `alignment`. Throws InputError where that is not decided.
std::optional<Difference> split_at(Mapping const& given, Mapping const& on_elements, std::uint64_t alignment,
                                   Limits const& limits) {
  if (!is_flagged(given)) return std::nullopt;
  Equality const found = compare(given, on_elements, alignment, limits);
  if (auto const* const unknown = std::get_if<Unknown>(&found.outcome))
    throw InputError::whole(
        "whether the swizzle of bytes is one of elements is not decided: " + unknown->reason, given.text,
        "give more --timeout");
  return found.difference;
}

}  // namespace

unsigned own_unit(Mapping const& map) {
  if (plain_swizzle(map) != nullptr && map.acts_on_bytes()) return 8;
  if (!map.element_bits)
    throw InputError::whole("the size of an element is missing", map.text, "--element f16");
  return *map.element_bits;
}

Conversion convert_units(Mapping const& given, unsigned unit_bits, Limits const& limits) {
  Conversion out;
  out.unit_bits = unit_bits;
  out.alignment = own_alignment(given, limits).value_or(1);  // of layouts and swizzles it is known
  out.converted = in_units(given, unit_bits);
  out.converted.text = to_string(static_cast<Map const&>(out.converted));
  unsigned const own = own_unit(given);
  Mapping const plain = in_units(given, own);
  std::optional<Difference> const split = split_at(given, plain, out.alignment, limits);
  auto& notes = out.converted.notes;
  if (unit_bits != own) {
    must_be_small(plain);
    if (unit_bits > own && notes.size() == 1 && stay_whole(plain, out.converted, unit_bits / own))
      notes.clear();
    bool const recast = notes.empty();
    out.same = recast && covers_the_same(plain, own, out.converted, unit_bits);
    if (recast && !out.same)
      notes.push_back(
          "CuTe's result, given here, is another tile: it covers other units, or some of them twice");
  }
  if (split) {
    out.same = false;
    notes.push_back(fmt::format(
        "the swizzle of bytes splits elements, and this layout keeps them whole: bit {} of the element "
        "at index {} lies in byte {}, here in byte {}",
        split->bit, split->input, split->left, split->right));
  }
  for (std::string const& note : given.notes)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return out;
}

}  // namespace swizproof
