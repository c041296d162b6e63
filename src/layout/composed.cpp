#include <swizproof/layout/composed.hpp>

#include "layout/functions.hpp"

#include <bit>
#include <cstdio>
#include <numeric>

namespace swizproof {

using namespace layout_detail;

namespace {

/// The stages as CuTe prints them, behind a pointer that is bound to an address or is not.
std::string printed(Map const& map, std::uint64_t const* bound) {
  static std::string const x[] = {"x"};
  std::string text;
  auto const add = [&](std::string const& part) { text += (text.empty() ? "" : " o ") + part; };
  auto const add_stage = [&](Stage const& stage) {
    if (auto const* swizzle = std::get_if<Swizzle>(&stage)) add(to_string(*swizzle));
    if (auto const* plus = std::get_if<Displacement>(&stage)) add(to_string(*plus));
    if (auto const* layout = std::get_if<Layout>(&stage)) add(to_string(*layout));
    if (auto const* fn = std::get_if<Expression>(&stage)) add("fn(x) = " + to_string(*fn, x));
    if (auto const* linear = std::get_if<LinearMap>(&stage)) add(to_string(*linear));
  };
  for (Stage const& stage : map.on_bytes) add_stage(stage);
  if (bound != nullptr) {
    // A bound pointer takes its swizzle into its name.
    char address[24];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(*bound));
    text +=
        (text.empty() ? "" : "_") + ("smem_ptr[" + std::to_string(*map.element_bits)) + "b](" + address + ")";
  } else if (is_flagged(map)) {
    add("smem_ptr[" + std::to_string(*map.element_bits) + "b](unset)");
  }
  for (Stage const& stage : map.on_elements) add_stage(stage);
  return text;
}

}  // namespace

std::string to_string(Map const& map) { return printed(map, nullptr); }

std::string to_string(Mapping const& map) {
  return printed(map, map.base_address && map.element_bits ? &*map.base_address : nullptr);
}

Mapping mapping(Layout layout) {
  Mapping map;
  map.on_elements.emplace_back(std::move(layout));
  return finished(std::move(map));
}
Mapping mapping(Swizzle swizzle) {
  Mapping map;
  map.on_elements.emplace_back(swizzle);
  return finished(std::move(map));
}

Layout const* plain_layout(Map const& map) {
  bool const alone = map.on_bytes.empty() && map.on_elements.size() == 1;
  return alone ? std::get_if<Layout>(&map.on_elements[0]) : nullptr;
}
Swizzle const* plain_swizzle(Map const& map) {
  auto const& stages = map.on_elements.empty() ? map.on_bytes : map.on_elements;
  bool const alone = map.on_bytes.size() + map.on_elements.size() == 1;
  return alone ? std::get_if<Swizzle>(&stages[0]) : nullptr;
}
bool is_flagged(Map const& map) {
  return !map.on_bytes.empty() && !map.on_elements.empty() && map.element_bits.has_value();
}

Mapping with_layout(Mapping map, Layout layout) {
  auto& stages = map.on_elements;
  stages.back() = std::move(layout);
  while (stages.size() >= 3) {
    auto const* swizzle = std::get_if<Swizzle>(&stages[stages.size() - 3]);
    bool const nothing = swizzle != nullptr && swizzle->bits == 0;
    if (!nothing || std::get<Displacement>(stages[stages.size() - 2]) != Displacement{}) break;
    stages.erase(stages.end() - 3, stages.end() - 1);
  }
  return finished(std::move(map));
}

namespace {

__extension__ using Wide = __int128;

/// The least and the greatest value that a function takes.
struct Bounds {
  Wide least = 0, most = 0;

  void add(Wide a, Wide b) {
    least += std::min(a, b);
    most += std::max(a, b);
  }
};

/// Offsets of a layout at the indices 0..last, which may lie past its end: then it goes on along the last mode.
Bounds bounds_of(Layout const& l, Wide last) {
  Bounds out;
  auto const extents = l.shape.leaves(), strides = l.stride.leaves();
  for (std::size_t i = 0; i < extents.size(); ++i) {
    Wide const inside = extents[i] - 1;
    out.add(0, (i + 1 == extents.size() ? std::max(inside, last) : inside) * strides[i]);
    last /= extents[i];
  }
  return out;
}

}  // namespace

std::optional<std::int64_t> index_below_zero(Map const& map) {
  if (map.domain() == nullptr) return std::nullopt;
  Bounds at = bounds_of(inner(map), 0);
  for (auto stage = map.on_elements.rbegin() + 1; stage < map.on_elements.rend(); ++stage) {
    if (auto const* plus = std::get_if<Displacement>(&*stage)) at.add(plus->elements, plus->elements);
    if (auto const* swizzle = std::get_if<Swizzle>(&*stage))
      at.most += static_cast<Wide>(swizzle->target_mask());
    auto const* const layout = std::get_if<Layout>(&*stage);
    if (layout == nullptr) continue;
    constexpr Wide far = Wide{1} << 62;
    at.most = std::min(at.most, far);
    if (at.least < 0 && layout->shape.leaf_count() > 1)
      return static_cast<std::int64_t>(std::max(at.least, -far));
    Wide const step = layout->shape.leaf_count() == 1 ? layout->stride.leaves()[0] : 0;
    Wide const below = std::max(at.least, -far) * step;
    at = bounds_of(*layout, at.most);
    at.add(std::min<Wide>(below, 0), std::max<Wide>(below, 0));
  }
  return std::nullopt;
}

// Composition

namespace {

/// CuTe's make_swizzle: the swizzle with these source and target bits.
Swizzle swizzle_of(std::uint32_t source, std::uint32_t target) {
  int const bits = std::popcount(source);
  int const low_source = std::countr_zero(source), low_target = std::countr_zero(target);
  Swizzle const s{bits, std::min(low_source, low_target) % 32, low_source - low_target};
  if (bits != std::popcount(target) || !s.valid() ||
      (s.source_mask() | s.target_mask()) != (Word64{source} | target))
    refuse("the bits that take part are not those of a swizzle");
  return s;
}

/// CuTe's a o s: swizzle o a, where the bits of s go through a as the bits of another swizzle.
Mapping swizzle_through(Layout const& a, Swizzle const& s) {
  IntTuple const source = slice(a, {IntTuple(static_cast<std::int64_t>(s.source_mask()))}).offset;
  IntTuple const target = slice(a, {IntTuple(static_cast<std::int64_t>(s.target_mask()))}).offset;
  if (!source.is_static || !target.is_static || source.is_tuple)
    refuse("a layout with dynamic integers is not composed with a swizzle; write " + to_string(a) +
           " o _0 o " + to_string(s) + ", which is that function");
  Swizzle through;
  try {
    through = swizzle_of(static_cast<std::uint32_t>(source.value), static_cast<std::uint32_t>(target.value));
  } catch (AlgebraError const&) {
    refuse("the layout does not take the swizzle's bits to those of another swizzle; write " + to_string(a) +
           " o _0 o " + to_string(s) + ", which is that function");
  }
  return composition(mapping(through), Displacement{}, mapping(a));
}

/// `theirs` where it is the function `right` on 0..size-1, else that one with a note.
Mapping checked(Mapping theirs, Mapping right, std::int64_t size) {
  auto const at = first_difference(
      size, [&](Word64 i) { return value(theirs, i); }, [&](Word64 i) { return value(right, i); });
  if (!at) return theirs;
  right = finished(std::move(right));
  right.notes.push_back(another_function(theirs.text, *at, value(theirs, *at), value(right, *at)));
  return right;
}

Mapping merged(Swizzle const& a, Swizzle const& b) {
  if (a.shift != b.shift) refuse("only swizzles of the same shift compose into one");
  Swizzle const merged = swizzle_of(static_cast<std::uint32_t>(a.source_mask() ^ b.source_mask()),
                                    static_cast<std::uint32_t>(a.target_mask() ^ b.target_mask()));
  // Both are linear over GF(2), so the single bits decide.
  for (Word64 bit = 1; bit < Word64{1} << 33; bit *= 2)
    if (a(b(bit)) != merged(bit))
      refuse(another_function(to_string(merged), bit, merged(bit), a(b(bit))) + "; write " + to_string(a) +
             " o _0 o " + to_string(b));
  return mapping(merged);
}

}  // namespace

Mapping composition(Mapping const& a, Displacement offset, Mapping const& b) {
  if (is_flagged(a) || is_flagged(b) || a.on_elements.size() + a.on_bytes.size() != 1)
    refuse("composition(f, offset, g) takes a swizzle or a layout, an integer, and a layout");
  auto const& first = a.on_elements.empty() ? a.on_bytes : a.on_elements;
  Mapping map;
  map.on_elements = {first[0], offset};
  map.on_elements.insert(map.on_elements.end(), b.on_elements.begin(), b.on_elements.end());
  if (map.domain() == nullptr) return finished(std::move(map));
  return with_layout(std::move(map), inner(b));
}

Mapping composition(Mapping const& a, Mapping const& b) {
  Swizzle const *const of_a = plain_swizzle(a), *const of_b = plain_swizzle(b);
  Layout const *const from_a = plain_layout(a), *const from_b = plain_layout(b);
  if (of_a != nullptr) {
    if (of_b != nullptr) return merged(*of_a, *of_b);
    if (from_b == nullptr) refuse("a swizzle is composed with a layout or a swizzle");
    return composition(mapping(*of_a), Displacement{}, b);
  }
  if (from_a != nullptr) {
    if (of_b != nullptr)
      return checked(swizzle_through(*from_a, *of_b), {Map{{*from_a, Displacement{}, *of_b}}},
                     from_a->size());
    if (from_b != nullptr) {
      Layout const result = composition(*from_a, *from_b);
      auto const at = difference(*from_a, *from_b, result);
      if (!at) return mapping(result);
      Mapping right = finished({Map{{*from_a, Displacement{}, *from_b}}});
      bool const same_size = result.size() == from_b->size();
      right.notes.push_back(
          same_size ? another_function(to_string(result), *at, result(*at).elements, value(right, *at))
                    : "CuTe prints " + to_string(result) + ", which is another function: it has " +
                          std::to_string(result.size()) + " elements, not " + std::to_string(from_b->size()));
      return right;
    }
    if (is_flagged(b))
      refuse("the swizzle of " + b.text + " acts on bytes, and CuTe would let it act on elements; take " +
             position_independent(b).text);
    if (std::get<Displacement>(b.on_elements[1]) != Displacement{})
      refuse("a layout is composed with a swizzled layout only if its offset is _0");
    Mapping rest;
    rest.on_elements.assign(b.on_elements.begin() + 2, b.on_elements.end());
    rest = finished(std::move(rest));
    auto const* const swizzle = std::get_if<Swizzle>(&b.on_elements[0]);
    if (swizzle == nullptr) {
      Mapping first;
      first.on_elements = {b.on_elements[0]};
      return composition(composition(a, finished(std::move(first))), rest);
    }
    Mapping right = b;
    right.on_elements.insert(right.on_elements.begin(), {*from_a, Displacement{}});
    Mapping const through = swizzle_through(*from_a, *swizzle);
    return checked(composition(through, rest), std::move(right), inner(rest).size());
  }
  // A composed layout: its innermost layout is composed.
  Mapping const last = composition(mapping(inner(a)), b);
  Mapping result = a;
  result.notes.insert(result.notes.end(), last.notes.begin(), last.notes.end());
  if (Layout const* const layout = plain_layout(last)) return with_layout(std::move(result), *layout);
  result.on_elements.pop_back();
  result.on_elements.insert(result.on_elements.end(), last.on_elements.begin(), last.on_elements.end());
  return finished(std::move(result));
}

// Inverses

namespace {

/// f o offset becomes f o offset o s; behind an offset of _0 CuTe composes f with s.
void append_swizzle(Mapping& f, Swizzle const& s) {
  auto& stages = f.on_elements;
  if (stages.empty() || std::get<Displacement>(stages.back()) != Displacement{}) {
    stages.emplace_back(s);
    return;
  }
  stages.pop_back();
  if (auto* const last = std::get_if<Swizzle>(&stages.back()))
    *last = std::get<Swizzle>(merged(*last, s).on_elements[0]);
  else
    f = composition(finished(std::move(f)), mapping(s));
}

template <class Inverse>
Mapping inverse(Mapping const& map, Inverse const& of_layout) {
  if (plain_swizzle(map) != nullptr) return map;
  if (is_flagged(map))
    refuse("CuTe does not invert a layout with the flag smem_ptr; take " + position_independent(map).text);
  // Right to left: the inverse of (f o + o g) is g' o - o f'.
  Mapping result;
  for (auto stage = map.on_elements.rbegin(); stage != map.on_elements.rend(); ++stage) {
    auto& stages = result.on_elements;
    if (auto const* plus = std::get_if<Displacement>(&*stage)) {
      if (!plus->is_static || plus->dynamic_bits != 0) refuse("CuTe does not invert a dynamic offset");
      stages.emplace_back(Displacement{-plus->elements});
    } else if (auto const* layout = std::get_if<Layout>(&*stage)) {
      stages.emplace_back(of_layout(*layout));
    } else {
      append_swizzle(result, std::get<Swizzle>(*stage));
    }
  }
  return finished(std::move(result));
}

void note_where_not_inverse(Mapping& result, std::string_view law, std::optional<Word64> at, Word64 gives,
                            Word64 wanted) {
  if (at)
    result.notes.push_back("CuTe's result is no inverse: " + std::string(law) + " is " + number(gives) +
                           " and not " + number(wanted) + " at i = " + std::to_string(*at));
}

}  // namespace

Mapping right_inverse(Mapping const& map) {
  Mapping result = inverse(map, [](Layout const& l) { return right_inverse(l); });
  if (result.domain() == nullptr || map.domain() == nullptr) return result;
  auto const round = [&](Word64 i) { return value(map, value(result, i)); };
  auto const at = first_difference(inner(result).size(), round, [](Word64 i) { return i; });
  note_where_not_inverse(result, "L(R(i))", at, at ? round(*at) : 0, at.value_or(0));
  return result;
}

Mapping left_inverse(Mapping const& map) {
  Mapping result = inverse(map, [](Layout const& l) { return left_inverse(l); });
  if (map.domain() == nullptr) return result;
  auto const direct = [&](Word64 i) { return value(map, i); };
  auto const round = [&](Word64 i) { return value(map, value(result, value(map, i))); };
  auto const at = first_difference(inner(map).size(), round, direct);
  note_where_not_inverse(result, "L(R(L(i)))", at, at ? round(*at) : 0, at ? direct(*at) : 0);
  return result;
}

// Units

namespace {

std::string moves_below(Swizzle const& s, std::int64_t n) {
  Word64 const low = static_cast<Word64>(n) - 1;
  Word64 x = static_cast<Word64>(n);
  while ((s(x) & low) == 0) x *= 2;
  return to_string(s) + " moves bits below the new unit of " + std::to_string(n) +
         ", so that units do not stay whole: offset " + std::to_string(x) + " goes to " + number(s(x)) +
         ". CuTe's result, given here, says only in which unit it lies";
}

Swizzle upcast(Swizzle const& s, std::int64_t n, std::vector<std::string>& notes) {
  int const k = log2_of(n);
  if (!recast(s, k)) notes.push_back(moves_below(s, n));
  Swizzle const moved{s.bits, s.base - k, s.shift};
  return moved.base >= 0 ? moved : Swizzle{std::max(s.bits + moved.base, 0), 0, s.shift};
}
Swizzle downcast(Swizzle const& s, std::int64_t n) {
  Swizzle const moved{s.bits, s.base + log2_of(n), s.shift};
  if (!moved.valid()) refuse("the result is not a valid swizzle: " + std::string(explain(moved.error())));
  return moved;
}

Displacement recast(Displacement d, std::int64_t n, bool up) {
  if (d == Displacement{}) return d;
  if (!d.is_static && d.dynamic_bits == 0) refuse("CuTe does not change the unit of a dynamic offset");
  if (!up) {
    d.elements = (IntTuple(d.elements) * IntTuple(n)).value;
    d.dynamic_bits *= static_cast<std::uint32_t>(n);
    return d;
  }
  if (d.dynamic_bits != 0) (void)log2_of(n);
  if (d.elements % n != 0 || d.dynamic_bits % static_cast<std::uint32_t>(n) != 0)
    refuse("the offset " + to_string(d) + " is not a multiple of " + std::to_string(n));
  d.elements /= n;
  d.dynamic_bits /= static_cast<std::uint32_t>(n);
  return d;
}

/// CuTe's upcast and downcast take an offset as 32 bits without a sign, and do not take it back.
void note_negative_offset(Mapping const& map, std::int64_t n, bool up, Mapping& result) {
  Mapping theirs = result;
  for (std::size_t i = 0; i < map.on_elements.size() && !is_flagged(map); ++i) {
    auto const* const before = std::get_if<Displacement>(&map.on_elements[i]);
    if (before == nullptr || before->elements >= 0) continue;
    auto const bits = static_cast<std::uint32_t>(before->elements), factor = static_cast<std::uint32_t>(n);
    theirs.on_elements[i] = Displacement{up ? bits / factor : bits * factor};
  }
  theirs = finished(std::move(theirs));
  if (theirs.text != result.text)
    result.notes.push_back("CuTe prints " + theirs.text +
                           ": it takes a negative offset for 32 bits without a sign");
}

Mapping change_unit(Mapping const& map, std::int64_t n, bool up) {
  if (n < 1) refuse("the factor must be 1 or more");
  Mapping result = map;
  auto const recast_layout = [&](Layout const& l) { return up ? upcast(l, n) : downcast(l, n); };
  if (is_flagged(map)) {
    std::int64_t const bits = *map.element_bits;
    std::int64_t const changed = up ? bits * n : bits / n;
    bool const whole = (up || bits % n == 0) && changed >= 1 && changed <= 1024;
    if (!whole) refuse("elements of " + std::to_string(bits) + " bits have no such unit");
    result.element_bits = static_cast<unsigned>(changed);
  }
  auto& swizzles = is_flagged(map)              ? result.on_elements
                   : result.on_elements.empty() ? result.on_bytes
                                                : result.on_elements;
  for (Stage& stage : swizzles) {
    if (auto* const s = std::get_if<Swizzle>(&stage)) *s = up ? upcast(*s, n, result.notes) : downcast(*s, n);
    if (auto* const plus = std::get_if<Displacement>(&stage)) *plus = recast(*plus, n, up);
    if (auto* const layout = std::get_if<Layout>(&stage)) *layout = recast_layout(*layout);
    if (std::holds_alternative<Expression>(stage) || std::holds_alternative<LinearMap>(stage))
      refuse("a function fn has no unit to change");
  }
  result = finished(std::move(result));
  note_negative_offset(map, n, up, result);
  return result;
}

}  // namespace

Mapping upcast(Mapping const& map, std::int64_t n) { return change_unit(map, n, true); }
Mapping downcast(Mapping const& map, std::int64_t n) { return change_unit(map, n, false); }

Mapping position_independent(Mapping const& map) {
  if (!is_flagged(map)) return map;
  auto const* const swizzle = std::get_if<Swizzle>(&map.on_bytes[0]);
  if (swizzle == nullptr) refuse("only a swizzle has a form that acts on elements");
  Mapping result;
  result.notes = map.notes;
  std::int64_t const bits = *map.element_bits;
  Swizzle const s = bits >= 8 ? upcast(*swizzle, bits / 8, result.notes) : downcast(*swizzle, 8 / bits);
  Displacement offset{};
  if (map.on_elements.size() == 2) offset = std::get<Displacement>(map.on_elements[0]);
  result.on_elements = {s, offset, inner(map)};
  return with_layout(result, inner(map));
}

// Vectors

namespace {

/// The elements that a swizzle leaves together; like CuTe, on elements even one of 0 bits counts.
std::int64_t whole_elements(Mapping const& map) {
  std::int64_t whole = std::int64_t{1} << 62;
  Mapping const on_elements = position_independent(map);
  for (Stage const& stage : on_elements.on_elements)
    if (auto const* s = std::get_if<Swizzle>(&stage); s != nullptr && (s->bits != 0 || !is_flagged(map)))
      whole = std::min(whole, std::int64_t{1} << s->base);
  return whole;
}

bool is_swizzled(Mapping const& map) { return plain_layout(map) == nullptr; }

}  // namespace

Layout max_common_layout(Mapping const& a, Mapping const& b) {
  if (is_swizzled(a) && is_swizzled(b)) refuse("CuTe defines this for at most one swizzled layout");
  if (!is_swizzled(a) && !is_swizzled(b)) return max_common_layout(inner(a), inner(b));
  Layout const common = max_common_layout(inner(is_swizzled(a) ? a : b), inner(is_swizzled(a) ? b : a));
  std::int64_t const whole = std::min(whole_elements(a), whole_elements(b));
  return whole < common.size() ? composition(common, Tiler{IntTuple(whole)}) : common;
}

IntTuple max_common_vector(Mapping const& a, Mapping const& b) {
  IntTuple const common = max_common_vector(inner(is_swizzled(b) && !is_swizzled(a) ? b : a),
                                            inner(is_swizzled(b) && !is_swizzled(a) ? a : b));
  Mapping const one = position_independent(a), other = position_independent(b);
  auto const* of_one = std::get_if<Swizzle>(&one.on_elements[0]);
  auto const* of_other = std::get_if<Swizzle>(&other.on_elements[0]);
  if (of_one != nullptr && of_other != nullptr && *of_one == *of_other) return common;
  return min(common, IntTuple(std::min(whole_elements(a), whole_elements(b))));
}

IntTuple max_alignment(Mapping const& map) {
  if (Swizzle const* const s = plain_swizzle(map)) return std::int64_t{1} << s->base;
  if (map.on_elements.size() > 1 && std::holds_alternative<Layout>(map.on_elements[0])) return 1;
  std::int64_t divisor = max_alignment(inner(map)).value;
  for (Stage const& stage : position_independent(map).on_elements) {
    if (auto const* s = std::get_if<Swizzle>(&stage)) divisor = std::gcd(divisor, std::int64_t{1} << s->base);
    auto const* plus = std::get_if<Displacement>(&stage);
    if (plus == nullptr) continue;
    if (!plus->is_static && plus->dynamic_bits == 0)
      refuse("CuTe does not know the alignment of a dynamic offset");
    std::int64_t const bits = plus->elements | plus->dynamic_bits;
    divisor = std::gcd(divisor, plus->dynamic_bits == 0 ? plus->elements : bits & -bits);
  }
  return divisor;
}

Mapping as_cute_counts(Mapping map) {
  if (!is_flagged(map)) return map;
  if (std::holds_alternative<Layout>(map.on_elements.front()))
    map.on_elements.insert(map.on_elements.begin(), Displacement{});
  map.on_elements.insert(map.on_elements.begin(), map.on_bytes.begin(), map.on_bytes.end());
  map.on_bytes.clear();
  return finished(std::move(map));
}

}  // namespace swizproof
