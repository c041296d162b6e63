// equal: every bit of every element at every base.
#include "reference/command/equal.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace reference {
namespace {

// The same layout in other words: modes split in two, or wrapped.
Mode regrouped(Mode const& mode, Random& r) {
  if (mode.tuple) {
    std::vector<Mode> parts;
    for (auto const& m : mode.modes) parts.push_back(regrouped(m, r));
    return tuple(parts);
  }
  for (long long d = 2; d < mode.extent; ++d)
    if (mode.extent % d == 0 && r.chance(50))
      return tuple({leaf(d, mode.stride), leaf(mode.extent / d, mode.stride * d)});
  return mode;
}

Tile retold(Tile const& tile, int bits, Random& r) {
  Tile other;
  other.bits = bits;
  other.inner = r.chance(50) ? regrouped(tile.inner, r) : tile.inner;
  other.stages = tile.stages;
  auto const layout = text(other.inner, r);
  bool flagged = tile.flagged;
  if (bits != 0 && tile.stages.size() == 1 && tile.stages[0].is_swizzle && r.chance(60)) {
    // Bytes to elements or back: the base moves by log2 of the bytes.
    int log2 = 0;
    for (int b = 8; b < bits; b *= 2) ++log2;
    for (int b = bits; b < 8; b *= 2) --log2;
    auto& s = other.stages[0].swizzle;
    s.base += flagged ? -log2 : log2;
    flagged = !flagged;
    if (s.base < 0) return tile;
  }
  if (!other.stages.empty() && r.chance(25)) {
    auto& s = other.stages[static_cast<std::size_t>(r.below(static_cast<long long>(other.stages.size())))];
    auto const old = s;
    switch (r.below(4)) {
      case 0:
        s.swizzle.base += 1;
        break;
      case 1:
        s.swizzle.shift += s.swizzle.shift < 0 ? -1 : 1;
        break;
      case 2:
        s.swizzle.bits = std::max(0, s.swizzle.bits - 1);
        break;
      default:
        s.add += r.pick({1, 8, 64});
        break;
    }
    if (!valid(s.swizzle) || s.swizzle.top() > 13) s = old;
  }
  other.flagged = flagged;
  for (std::size_t i = 0; i < other.stages.size(); ++i) {
    auto const& s = other.stages[i];
    other.text += s.swizzle.text(r) + " o ";
    if (flagged) other.text += "smem_ptr[" + std::to_string(bits) + "b](unset) o ";
    if (!flagged || s.add != 0) other.text += std::to_string(s.add) + " o ";
  }
  other.text += layout;
  return other;
}

// Position of a bit of an element when a function replaces the tile's swizzle.
long long place_of_function(Function const& f, Tile const& tile, int bits, long long index, int bit,
                            long long base) {
  auto const x = tile.inner.at(index) + (tile.stages.empty() ? 0 : tile.stages[0].add);
  if (!f.bytes) return base * 8 + f(x) * bits + bit;
  auto const p = base * 8 + x * bits + bit;
  auto const byte = floor_div(p, 8);
  return f(byte) * 8 + (p - byte * 8);
}

long long place(Side const& side, Tile const& shape, int bits, long long index, int bit, long long base) {
  if (side.function) return place_of_function(*side.function, shape, bits, index, bit, base);
  Tile tile = *side.tile;
  if (bits != 0) tile.bits = bits;
  if (bits == 0) return tile.offset(index);
  return tile.place(index, bit, base);
}

// Image of bit `bit` of unit `x` under a bare function; one unit has `bits`.
long long bare(Function const& f, int bits, long long x, int bit) {
  if (!f.bytes) return f(x) * bits + bit;
  auto const p = x * bits + bit;
  return f(p / 8) * 8 + p % 8;
}

Tile const* shape_of(Pair const& p) {
  return p.left.tile ? &*p.left.tile : p.right.tile ? &*p.right.tile : nullptr;
}

long long period_of(Side const& s, int bits) {
  if (s.function)
    return s.function->bytes ? s.function->window() : std::max(1ll, s.function->window() * bits / 8);
  Tile t = *s.tile;
  t.bits = bits;
  return t.period_bytes();
}

// Least power of two of bases from whose multiples relative addressing is absolute addressing, on this tile.
long long own_alignment(Side const& s, int bits, Tile const* shape) {
  if (s.tile) {
    Tile t = *s.tile;
    t.bits = bits;
    return good_bases(t).alignment();
  }
  auto const period =
      std::max(1ll, s.function->bytes ? s.function->window() : s.function->window() * bits / 8);
  auto const good = [&](long long base) {
    for (long long i = 0; i < shape->size(); ++i) {
      if (!s.function->bytes) {
        auto const x = shape->inner.at(i) + (shape->stages.empty() ? 0 : shape->stages[0].add);
        if (base * 8 % bits != 0 || (*s.function)(base * 8 / bits + x) != base * 8 / bits + (*s.function)(x))
          return false;
        continue;
      }
      for (int b = 0; b < bits; b += std::min(8, bits))
        if (place_of_function(*s.function, *shape, bits, i, b, base) !=
            base * 8 + place_of_function(*s.function, *shape, bits, i, b, 0))
          return false;
    }
    return true;
  };
  for (long long step = 1; step < period; step *= 2) {
    bool all = true;
    for (long long base = 0; base < period && all; base += step) all = good(base);
    if (all) return step;
  }
  return period;
}

void draw_function_of(Side& side, int top, Random& r, Campaign& c) {
  auto f = draw_function(r, top);
  f.options.clear();
  f.bytes = true;
  f.bits = 8;
  side.function = f;
  note(c, f);
}

// The same as C arithmetic, or almost.
Function in_c(Function f, Random& r) {
  if (f.expression) return f;
  f.expression = true;
  if (r.chance(20) && f.swizzle.top() < 11) f.swizzle.base += 1;
  f.terms = {f.swizzle};
  auto const& s = f.swizzle;
  auto const mask = ((1ll << s.bits) - 1) << (s.base + std::max(0, s.shift));
  f.text = "fn(x) = x ^ ((x & " + std::to_string(mask) + ")" + (s.shift >= 0 ? " >> " : " << ") +
           std::to_string(std::abs(s.shift)) + ")";
  f.top = std::max(f.top, s.top());
  return f;
}

void draw_two_functions(Pair& p, Random& r, Campaign& c) {
  draw_function_of(p.left, 11, r, c);
  if (r.chance(50))
    draw_function_of(p.right, 11, r, c);
  else
    p.right.function = in_c(*p.left.function, r);
  if (r.chance(40)) p.bits = r.pick({4, 8, 16, 32});
}

// A function, perhaps the tile's own swizzle, that takes its place.
void draw_function_for(Side& side, Tile const& tile, Random& r, Campaign& c) {
  draw_function_of(side, 10, r, c);
  if (!r.chance(50) || tile.stages.size() != 1 || !tile.stages[0].is_swizzle) return;
  auto& f = *side.function;
  f.expression = false;
  f.swizzle = tile.stages[0].swizzle;
  f.text = f.swizzle.text(r);
  f.top = f.swizzle.top();
}

// A tile on the left; on the right, as `kind` of 100 says, a function, the same tile in other words, or another tile.
void draw_tile_and_other(Pair& p, long long kind, Random& r, Campaign& c) {
  Wish wish;
  wish.element = r.chance(85);
  wish.most = 64;
  wish.top = 10;
  auto tile = draw_tile(wish, r);
  note(c, tile);
  p.bits = tile.bits;
  p.left.tile = tile;
  if (kind < 37 && tile.stages.size() <= 1) {
    draw_function_for(p.right, tile, r, c);
  } else if (kind < 90) {
    p.right.tile = retold(tile, tile.bits, r);
  } else {
    Tile other;
    do {
      other = draw_tile(wish, r);
    } while (other.flagged && tile.flagged && other.bits != tile.bits);
    p.right.tile = other;
    if (other.flagged)
      p.bits = other.bits;
    else if (!tile.flagged)
      p.bits = std::max(tile.bits, other.bits);
  }
  if (r.chance(20)) p.align = 1ll << r.between(0, 9), c.drew("--align");
  if (r.chance(40)) std::swap(p.left, p.right);
}

}  // namespace

Pair draw_pair(Random& r, Campaign& c) {
  Pair p;
  auto const kind = r.below(100);
  if (kind < 22)
    draw_two_functions(p, r, c);
  else
    draw_tile_and_other(p, kind, r, c);
  bool const flagged = (p.left.tile && p.left.tile->flagged) || (p.right.tile && p.right.tile->flagged);
  bool const all_flagged =
      (!p.left.tile || p.left.tile->flagged) && (!p.right.tile || p.right.tile->flagged) && flagged;
  bool const functions = p.left.function && p.right.function;
  if (p.bits != 0 && !all_flagged && !(flagged && r.chance(10)))
    p.options = {"--element", element_name(p.bits, r)};
  bool const given = !p.options.empty();
  for (auto* side : {&p.left, &p.right})
    if (side->function && given && side->function->text.rfind("tma:", 0) != 0) {
      side->function->bytes = false;
      side->function->bits = p.bits;
    }
  if (!given && functions) p.bits = 0;
  return p;
}

Equality equality(Pair const& p) {
  Equality e;
  auto const* shape = shape_of(p);
  bool const given = !p.options.empty();
  if (shape == nullptr) {
    auto const &f = *p.left.function, &g = *p.right.function;
    int const bits = f.bytes && g.bytes ? 8 : p.bits;
    // In units of elements of less than a byte, a function of bytes reaches further up.
    long long end = std::max(1, 8 / bits) * (1ll << std::max(f.top, g.top));
    for (long long x = 0; x < end && e.equal; ++x)
      for (int b = 0; b < bits && e.equal; b += std::min(8, bits))
        e.equal = bare(f, bits, x, b) == bare(g, bits, x, b);
    return e;
  }
  bool const any_flagged = (p.left.tile && p.left.tile->flagged) || (p.right.tile && p.right.tile->flagged);
  for (auto const* side : {&p.left, &p.right}) {
    // Bytes on one side need the element's size on the other.
    if (side->tile && !side->tile->flagged && !given) {
      auto const& other = side == &p.left ? p.right : p.left;
      if (other.function || (any_flagged && !other.tile->flagged)) e.refused = true;
    }
  }
  if (e.refused) return e;
  if (p.left.tile && p.right.tile && p.left.tile->size() != p.right.tile->size()) {
    e.equal = false;
    return e;
  }
  int const bits = any_flagged || given ? p.bits : 0;
  long long end = 1;
  if (bits != 0) {
    e.step = p.align
                 ? *p.align
                 : std::max({16ll, own_alignment(p.left, bits, shape), own_alignment(p.right, bits, shape)});
    end = std::lcm(e.step, std::max(period_of(p.left, bits), period_of(p.right, bits)));
  }
  for (long long base = 0; base < end && e.equal; base += std::max(1ll, e.step))
    for (long long i = 0; i < shape->size() && e.equal; ++i)
      for (int b = 0; b < std::max(1, bits) && e.equal; b += bits == 0 ? 1 : std::min(8, bits))
        e.equal = place(p.left, *shape, bits, i, b, base) == place(p.right, *shape, bits, i, b, base);
  return e;
}

void compare_equal(Campaign& c, Pair const& p, Equality const& e, Json const& got) {
  c.same(got.at("verdict"), e.equal ? "proved" : "refuted", "verdict");
  auto const domain = got.at("domain").get<std::string>();
  std::string const before = "every base that is a multiple of ";
  auto const at = domain.rfind(before);
  if (at != std::string::npos && e.step != 0)
    c.same(std::atoll(domain.c_str() + at + before.size()), e.step, "the bases of the domain");
  if (e.equal) return;
  auto const* shape = shape_of(p);
  if (p.left.tile && p.right.tile && p.left.tile->size() != p.right.tile->size()) {
    c.drew("sizes differ");
    return;
  }
  auto const& shown = got.at("counterexample");
  auto const input = shown.at("input").get<long long>(), left = shown.at("left").get<long long>(),
             right = shown.at("right").get<long long>();
  c.expect(left != right, "the counterexample's two values are one");
  auto const base = shown.contains("base") ? shown.at("base").get<long long>() : 0;
  bool const functions = shape == nullptr;
  int const bits = functions     ? (p.left.function->bytes && p.right.function->bytes ? 8 : p.bits)
                   : e.step != 0 ? p.bits
                                 : 0;
  bool found = false;
  for (int b = 0; b < std::max(1, bits) && !found; ++b)
    for (long long unit : {1ll, 8ll, static_cast<long long>(std::max(1, bits))}) {
      // In bits, bytes or elements, as the answer's unit has it; a function of bytes may be shown at a byte.
      auto const l =
          functions ? bare(*p.left.function, bits, input, b) : place(p.left, *shape, bits, input, b, base);
      auto const r =
          functions ? bare(*p.right.function, bits, input, b) : place(p.right, *shape, bits, input, b, base);
      auto const scale = bits == 0 ? 1 : unit;
      if (floor_div(l, scale) == left && floor_div(r, scale) == right) found = true;
    }
  c.expect(found, "the counterexample's values are not those of input " + std::to_string(input) +
                      " at base " + std::to_string(base));
}

long long equal_case(Campaign& c, Random& r) {
  auto const p = draw_pair(r, c);
  std::vector<std::string> words{"equal", p.left.text(), p.right.text()};
  words.insert(words.end(), p.options.begin(), p.options.end());
  if (p.align) words.insert(words.end(), {"--align", std::to_string(*p.align)});
  auto const e = equality(p);
  auto const answer = c.ask(words);
  if (answer.code == 3) return c.undecided(), 1;
  bool const bytes_and_bits = p.left.function && p.right.function && p.bits != 0 && p.bits < 8 &&
                              p.left.function->bytes != p.right.function->bytes;
  if (bytes_and_bits && answer.code == 2)
    return c.refused(), 1;  // a function of bytes, of elements inside a byte
  if (e.refused) {
    c.expect(answer.code == 2, "model: the element size is missing");
    return c.refused(), 1;
  }
  c.expect(answer.code == 0 || answer.code == 1, "model: exit 0 or 1");
  compare_equal(c, p, e, answer.json());
  c.same(answer.code, e.equal ? 0 : 1, "exit code");
  c.drew(e.equal ? "equal" : "not equal");
  return 1;
}

}  // namespace reference
