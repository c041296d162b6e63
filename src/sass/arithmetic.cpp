#include "arithmetic.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace swizproof::sass {

Source zext(Builder& build, Source s) { return s.constant ? s : build.emit(Action::zext, 64, s); }

Source trunc(Builder& build, Source s) {
  return s.constant ? constant(s.value & ones32) : build.emit(Action::trunc, 32, s);
}

Source high(Builder& build, Source s) {
  return s.constant ? constant(s.value >> 32) : trunc(build, build.emit(Action::lshr, 64, s, constant(32)));
}

Source negate(Builder& build, Source p) {
  return p.constant ? constant(p.value ^ 1) : build.emit(Action::negate, 1, p);
}

Source minus(Builder& build, Source x, unsigned width) {
  std::uint64_t const all = width == 64 ? ~std::uint64_t{0} : ones32;
  return x.constant ? constant((0 - x.value) & all) : build.emit(Action::sub, width, constant(0), x);
}

Source sext(Builder& build, Source s) {
  if (s.constant) return constant((s.value ^ 0x80000000) - 0x80000000);
  Source const biased = build.emit(Action::zext, 64, add(build, s, constant(0x80000000)));
  return build.emit(Action::sub, 64, biased, constant(0x80000000));
}

Source pair(Builder& build, Source low, Source high) {
  if (low.constant && high.constant) return constant(low.value | high.value << 32);
  if (high.constant && high.value == 0) return zext(build, low);
  Source const up = build.emit(Action::shl, 64, zext(build, high), constant(32));
  return low.constant && low.value == 0 ? up : build.emit(Action::bit_or, 64, up, zext(build, low));
}

Source choose(Builder& build, Source p, Source yes, Source no, unsigned width) {
  if (p.constant) return p.value != 0 ? yes : no;
  return build.emit(Action::choose, width, p, yes, no);
}
Source both(Builder& build, Source p, Source q) {
  if (p.constant) return p.value != 0 ? q : p;
  if (q.constant) return q.value != 0 ? p : q;
  return build.emit(Action::both, 1, p, q);
}
Source either(Builder& build, Source p, Source q) {
  if (p.constant) return p.value != 0 ? p : q;
  if (q.constant) return q.value != 0 ? q : p;
  return build.emit(Action::either, 1, p, q);
}
Source add(Builder& build, Source a, Source b, unsigned width) {
  if (a.constant && a.value == 0) return b;
  if (b.constant && b.value == 0) return a;
  if (a.constant && b.constant)
    return constant(width == 64 ? a.value + b.value : (a.value + b.value) & ones32);
  return build.emit(Action::add, width, a, b);
}

Source below(Builder& build, Source a, Source b, unsigned width, bool is_signed) {
  // Both constants: a comparison has no width of its own then.
  if (a.constant && b.constant) {
    std::uint64_t const flip = is_signed ? std::uint64_t{1} << (width - 1) : 0;
    return constant((a.value ^ flip) < (b.value ^ flip) ? 1 : 0);
  }
  if (!is_signed) return build.emit(Action::below, 1, a, b);
  auto const flipped = [&](Source s) {
    std::uint64_t const m = std::uint64_t{1} << (width - 1);
    return s.constant ? constant(s.value ^ m) : build.emit(Action::add, width, s, constant(m));
  };
  Source const x = flipped(a);
  return build.emit(Action::below, 1, x, flipped(b));
}

Source arithmetic_shift(Builder& build, Source a, Source n, unsigned width) {
  // asr(x, n) = ((x + m) >> n) - (m >> n) for n < width, with m = 2^(width-1)
  Source const m = constant(std::uint64_t{1} << (width - 1));
  if (n.constant) {
    n.value = std::min<std::uint64_t>(n.value, width - 1);
    if (n.value == 0) return a;
  } else {
    n = choose(build, below(build, n, constant(width), width, false), n, constant(width - 1), width);
  }
  Source const up = build.emit(Action::lshr, width, add(build, a, m, width), n);
  Source const down = n.constant ? constant(m.value >> n.value) : build.emit(Action::lshr, width, m, n);
  return build.emit(Action::sub, width, up, down);
}

Source inverted(Builder& build, Source s, unsigned width) {
  if (width == 1) return negate(build, s);
  std::uint64_t const all = width == 64 ? ~std::uint64_t{0} : ones32;
  return s.constant ? constant(~s.value & all) : build.emit(Action::bit_xor, width, s, constant(all));
}

Source table2(Builder& build, unsigned lut, Source a, Source b, unsigned width) {
  std::uint64_t const all = width == 1 ? 1 : ones32;
  auto const op = [&](Action word_action, Action truth_action, Source x, Source y) {
    if (x.constant && y.constant)
      return constant(word_action == Action::bit_and  ? x.value & y.value
                      : word_action == Action::bit_or ? x.value | y.value
                                                      : x.value ^ y.value);
    for (auto const& [p, q] : {std::pair{x, y}, std::pair{y, x}}) {
      if (!p.constant) continue;
      if (word_action == Action::bit_and && p.value == 0) return constant(0);
      if (word_action == Action::bit_and && p.value == all) return q;
      if (word_action == Action::bit_or && p.value == 0) return q;
      if (word_action == Action::bit_or && p.value == all) return p;
      if (word_action == Action::bit_xor && p.value == 0) return q;
    }
    return build.emit(width == 1 ? truth_action : word_action, width, x, y);
  };
  auto const conjunction = [&](Source x, Source y) { return op(Action::bit_and, Action::both, x, y); };
  auto const disjunction = [&](Source x, Source y) { return op(Action::bit_or, Action::either, x, y); };
  auto const difference = [&](Source x, Source y) { return op(Action::bit_xor, Action::differ, x, y); };
  switch (lut & 15) {
    case 0:
      return constant(0);
    case 15:
      return constant(all);
    case 12:
      return a;
    case 10:
      return b;
    case 3:
      return inverted(build, a, width);
    case 5:
      return inverted(build, b, width);
    case 8:
      return conjunction(a, b);
    case 14:
      return disjunction(a, b);
    case 6:
      return difference(a, b);
    case 9:
      return inverted(build, difference(a, b), width);
    case 7:
      return inverted(build, conjunction(a, b), width);
    case 1:
      return inverted(build, disjunction(a, b), width);
    case 4:
      return conjunction(a, inverted(build, b, width));
    case 2:
      return conjunction(inverted(build, a, width), b);
    case 13:
      return disjunction(a, inverted(build, b, width));
    default:
      return disjunction(inverted(build, a, width), b);
  }
}

Source table(Builder& build, unsigned lut, Source a, Source b, Source c, unsigned width) {
  auto const at = [&](unsigned x, unsigned y, unsigned z) { return lut >> (4 * x + 2 * y + z) & 1; };
  unsigned best = 0, best_score = 100;
  std::array<unsigned, 3> zero{}, one{};  // of the two others, where the one is 0 or 1
  for (unsigned by = 0; by < 3; ++by) {
    for (unsigned x = 0; x < 2; ++x)
      for (unsigned y = 0; y < 2; ++y) {
        zero[by] |= (by == 0 ? at(0, x, y) : by == 1 ? at(x, 0, y) : at(x, y, 0)) << (2 * x + y);
        one[by] |= (by == 0 ? at(1, x, y) : by == 1 ? at(x, 1, y) : at(x, y, 1)) << (2 * x + y);
      }
    auto const simple = [](unsigned t) { return t == 0 || t == 15; };
    unsigned const z = zero[by], o = one[by];
    Source const s = by == 0 ? a : by == 1 ? b : c;
    unsigned const score = s.constant               ? 0
                           : z == o                 ? 1
                           : simple(z) && simple(o) ? 2
                           : z == (15 ^ o)          ? 3
                           : simple(z) || simple(o) ? 4
                                                    : 9;
    if (score < best_score) best = by, best_score = score;
  }
  Source const s = best == 0 ? a : best == 1 ? b : c, x = best == 0 ? b : a, y = best == 2 ? b : c;
  unsigned const z = zero[best], o = one[best];
  std::uint64_t const all = width == 1 ? 1 : ones32;
  if (z == o) return table2(build, z, x, y, width);
  if (s.constant && s.value == 0) return table2(build, z, x, y, width);
  if (s.constant && s.value == all) return table2(build, o, x, y, width);
  if (z == (15 ^ o)) return table2(build, 6, table2(build, z, x, y, width), s, width);
  if (z == 0) return table2(build, 8, table2(build, o, x, y, width), s, width);
  if (o == 15) return table2(build, 14, table2(build, z, x, y, width), s, width);
  if (o == 0) return table2(build, 4, table2(build, z, x, y, width), s, width);
  if (z == 15) return table2(build, 13, table2(build, o, x, y, width), s, width);
  return table2(build, 14, table2(build, 8, table2(build, o, x, y, width), s, width),
                table2(build, 4, table2(build, z, x, y, width), s, width), width);
}

}  // namespace swizproof::sass
