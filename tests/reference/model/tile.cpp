#include "reference/model/tile.hpp"

#include <algorithm>
#include <functional>
#include <cstdlib>

namespace reference {
namespace {

std::string integer(long long n, Random& r) { return (r.chance(30) ? "_" : "") + std::to_string(n); }

std::string tree(Mode const& mode, bool shape, Random& r) {
  if (!mode.tuple) return integer(shape ? mode.extent : mode.stride, r);
  std::string s = "(";
  for (std::size_t i = 0; i < mode.modes.size(); ++i) s += (i ? "," : "") + tree(mode.modes[i], shape, r);
  return s + ")";
}

bool any(Mode const& mode, bool (*is)(Mode const&)) {
  if (!mode.tuple) return is(mode);
  return std::any_of(mode.modes.begin(), mode.modes.end(), [&](Mode const& m) { return any(m, is); });
}

}  // namespace

Mode leaf(long long extent, long long stride) {
  Mode m;
  m.extent = extent;
  m.stride = stride;
  return m;
}

Mode tuple(std::vector<Mode> modes) {
  Mode m;
  m.tuple = true;
  m.modes = std::move(modes);
  return m;
}

long long Mode::size() const {
  if (!tuple) return extent;
  long long n = 1;
  for (auto const& m : modes) n *= m.size();
  return n;
}

long long Mode::at(long long x) const {
  if (!tuple) return x * stride;
  long long sum = 0;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    bool const last = i + 1 == modes.size();
    auto const n = modes[i].size();
    sum += modes[i].at(last ? x : x % n);
    x /= n;
  }
  return sum;
}

long long Mode::cosize() const {
  if (!tuple) return (extent - 1) * std::llabs(stride) + 1;
  long long sum = 1;
  for (auto const& m : modes) sum += m.cosize() - 1;
  return sum;
}

std::string text(Mode const& mode, Random& r) { return tree(mode, true, r) + ":" + tree(mode, false, r); }

long long Swizzle::operator()(long long x) const {
  long long const yyy = ((1ll << bits) - 1) << (base + std::max(0, shift));
  return x ^ (shift >= 0 ? (x & yyy) >> shift : (x & yyy) << -shift);
}

std::string Swizzle::plain() const {
  return "<" + std::to_string(bits) + "," + std::to_string(base) + "," + std::to_string(shift) + ">";
}

std::string Swizzle::text(Random& r) const { return r.pick({"Sw", "Sw", "Sw", "S", "Swizzle"}) + plain(); }

bool valid(Swizzle s) { return s.bits <= std::abs(s.shift) && s.top() <= 32; }

Swizzle draw_swizzle(Random& r, int top, bool small) {
  for (;;) {
    Swizzle s;
    s.bits = static_cast<int>(r.between(r.chance(10) ? 0 : 1, small ? 3 : 6));
    s.base = static_cast<int>(r.between(0, small ? 6 : 12));
    s.shift = static_cast<int>(s.bits + r.between(0, 2)) * (r.chance(25) ? -1 : 1);
    if (valid(s) && s.top() <= top) return s;
  }
}

long long Tile::through(long long x) const {
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) x = (*stage)(x);
  return x;
}

long long Tile::place_at(long long inner_offset, int bit, long long base) const {
  if (!flagged) return base * 8 + through(inner_offset) * bits + bit;
  auto const& stage = stages.front();
  auto const p = base * 8 + (inner_offset + stage.add) * bits + bit;
  auto const byte = floor_div(p, 8);
  return stage.swizzle(byte) * 8 + (p - byte * 8);
}

long long Tile::place(long long index, int bit, long long base) const {
  return place_at(inner.at(index), bit, base);
}

long long Tile::period_bytes() const {
  int top = 0;
  for (auto const& s : stages)
    if (s.is_swizzle && s.swizzle.bits > 0) top = std::max(top, s.swizzle.top());
  auto const units = 1ll << top;
  return flagged || bits == 0 ? units : std::max(1ll, units * bits / 8);
}

bool Tile::moves() const {
  return std::any_of(stages.begin(), stages.end(), [](Stage const& s) { return s.swizzle.bits > 0; });
}

bool Tile::splits() const {
  if (!flagged) return false;
  auto const& s = stages.front().swizzle;
  int const lowest = s.base + std::min(0, 0);
  return s.bits > 0 && (1ll << lowest) * 8 < bits;
}

long long Tile::index(std::vector<long long> const& coordinate) const {
  long long x = 0, scale = 1;
  for (std::size_t m = 0; m < coordinate.size(); ++m) {
    x += coordinate[m] * scale;
    scale *= extent(m);
  }
  return x;
}

std::vector<long long> Tile::coordinate(long long index) const {
  std::vector<long long> c;
  for (std::size_t m = 0; m < rank(); ++m) {
    c.push_back(index % extent(m));
    index /= extent(m);
  }
  return c;
}

std::vector<std::string> Tile::words() const {
  std::vector<std::string> all{text};
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

long long Bases::alignment() const {
  for (long long p = 1; p < period; p *= 2) {
    bool all = true;
    for (long long b = 0; b < period && all; b += p) all = good[static_cast<std::size_t>(b)];
    if (all) return p;
  }
  return period;
}

Bases good_bases(Tile const& tile) {
  Bases bases;
  int const bits = tile.bits == 0 ? 8 : tile.bits;
  bases.period = std::max(tile.period_bytes(), static_cast<long long>((bits + 7) / 8));
  std::vector<long long> inner;
  for (long long i = 0; i < tile.size(); ++i) inner.push_back(tile.inner.at(i));
  std::sort(inner.begin(), inner.end());
  inner.erase(std::unique(inner.begin(), inner.end()), inner.end());
  for (long long b = 0; b < bases.period; ++b) {
    bool good = true;
    if (tile.flagged) {
      for (std::size_t k = 0; k < inner.size() && good; ++k)
        for (int bit = 0; bit < bits && good; bit += std::min(bits, 8))
          good = tile.place_at(inner[k], bit, b) == b * 8 + tile.place_at(inner[k], bit, 0);
      // An element of fewer bits than a byte starts inside a byte: its last bit may lie in the next one.
      if (bits % 8 != 0)
        for (std::size_t k = 0; k < inner.size() && good; ++k)
          good = tile.place_at(inner[k], bits - 1, b) == b * 8 + tile.place_at(inner[k], bits - 1, 0);
    } else if (tile.moves()) {
      good = b * 8 % bits == 0;
      auto const k = b * 8 / bits;
      for (std::size_t i = 0; i < inner.size() && good; ++i)
        good = tile.through(k + inner[i]) == k + tile.through(inner[i]);
    }
    bases.good.push_back(good);
  }
  return bases;
}

std::string element_name(int bits, Random& r) {
  std::vector<std::string> names{std::to_string(bits) + "b"};
  auto const add = [&](std::initializer_list<char const*> more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  if (bits == 4) add({"fp4", "e2m1", "i4", "u4"});
  if (bits == 8) add({"fp8", "e4m3", "i8", "u8"});
  if (bits == 16) add({"f16", "bf16", "i16"});
  if (bits == 32) add({"f32", "tf32", "i32"});
  if (bits == 64) add({"f64", "i64"});
  return r.pick(names);
}

Tile dress(Mode inner, int bits, Wish const& wish, Random& r) {
  Tile tile;
  tile.inner = std::move(inner);
  auto const layout = text(tile.inner, r);
  auto const displacement = [&](long long unit) {
    return unit * (r.chance(wish.negative ? 25 : 0) ? -r.between(0, 9) : r.between(0, 20));
  };
  auto const add_text = [&](long long add) {
    if (add >= 0 && r.chance(8)) {
      // CuTe's mixed bits: static | (dynamic & mask), the two without a common bit.
      auto const part = add & 255;
      return "M_" + std::to_string(add - part) + "|(" + std::to_string(part) + "&255)=" + std::to_string(add);
    }
    return integer(add, r);
  };
  auto const kind = r.below(100);
  bool const say = wish.element || r.chance(60);
  if (kind < 35) {
    tile.text = layout;
  } else if (kind < 62) {
    Stage s;
    s.swizzle = draw_swizzle(r, wish.top);
    if (r.chance(35)) s.add = displacement(r.pick({1, 8}));
    tile.stages = {s};
    tile.text = s.swizzle.text(r) + " o " + add_text(s.add) + " o " + layout;
  } else if (kind < 90 || !wish.nested) {
    Stage s;
    s.swizzle = draw_swizzle(r, wish.top);
    if (r.chance(25)) s.add = displacement(r.pick({1, 8}));
    tile.stages = {s};
    tile.flagged = true;
    tile.text = s.swizzle.text(r) + " o " +
                (r.chance(15) ? "smem_ptr_" + std::to_string(bits) + "b(unset)"
                              : "smem_ptr[" + std::to_string(bits) + "b](unset)") +
                " o " + (s.add != 0 || r.chance(5) ? add_text(s.add) + " o " : "") + layout;
    tile.bits = bits;
    return tile;
  } else {
    // CuTe's composed layouts nest to the right; a plain layout as a function is given no negative argument.
    int const depth = static_cast<int>(r.between(2, 3));
    for (int d = 0; d < depth; ++d) {
      Stage s;
      s.swizzle = draw_swizzle(r, wish.top);
      if (r.chance(60)) s.add = displacement(r.pick({1, 4}));
      tile.stages.push_back(s);
      tile.text += s.swizzle.text(r) + " o " + add_text(s.add) + " o ";
    }
    tile.text += layout;
  }
  if (say) {
    tile.bits = bits;
    tile.options = {"--element", element_name(bits, r)};
  }
  return tile;
}

Tile draw_tile(Wish const& wish, Random& r) {
  auto const bits =
      wish.sub_byte ? r.pick({1, 2, 4, 4, 8, 8, 16, 16, 16, 32, 32, 64}) : r.pick({8, 16, 16, 32, 64});
  for (;;) {
    Mode inner;
    auto const extent = [&] { return r.chance(25) ? r.between(1, 9) : 1ll << r.between(0, 4); };
    auto const stride = [&](long long compact) {
      auto s = r.chance(45) ? compact : r.chance(50) ? 1ll << r.between(0, 7) : r.between(1, 72);
      if (wish.negative && r.chance(6)) s = -s;
      if (wish.zero && r.chance(4)) s = 0;
      return s;
    };
    if (r.chance(55)) {
      auto const rows = extent(), cols = extent();
      inner = r.chance(65) ? tuple({leaf(rows, stride(cols)), leaf(cols, r.chance(85) ? 1 : stride(1))})
                           : tuple({leaf(rows, r.chance(85) ? 1 : stride(1)), leaf(cols, stride(rows))});
    } else {
      auto const rank = wish.two ? 2 : r.between(1, 3);
      long long compact = 1;
      std::vector<Mode> modes;
      for (int m = 0; m < rank; ++m) {
        std::vector<Mode> parts;
        auto const count = r.chance(40) ? r.between(2, 3) : 1;
        for (int p = 0; p < count; ++p) {
          auto const n = r.chance(25) ? r.between(1, 5) : 1ll << r.between(0, 3);
          parts.push_back(leaf(n, stride(compact)));
          compact *= n;
        }
        modes.push_back(parts.size() == 1 && r.chance(95) ? parts[0] : tuple(parts));
      }
      inner = modes.size() == 1 && r.chance(70) && !wish.two ? modes[0] : tuple(modes);
    }
    if (inner.size() <= wish.most && (!wish.two || inner.modes.size() == 2))
      return dress(inner, bits, wish, r);
  }
}

Tile without_repeats(Tile tile) {
  std::function<void(Mode&)> const drop = [&](Mode& m) {
    for (auto& part : m.modes) drop(part);
    if (!m.tuple && m.stride == 0) m.extent = 1;
  };
  drop(tile.inner);
  return tile;
}

void note(Campaign& c, Tile const& tile) {
  if (tile.bits > 0 && tile.bits < 8) c.drew("elements of " + std::to_string(tile.bits) + " bits");
  if (tile.stages.size() > 1) c.drew("nested compositions");
  for (auto const& s : tile.stages) {
    if (s.add != 0) c.drew(tile.flagged ? "displacement, bytes" : "displacement, elements");
    if (s.is_swizzle && s.swizzle.shift < 0) c.drew("negative shift");
  }
  if (tile.flagged) c.drew("swizzle on bytes");
  if (tile.splits()) c.drew("byte swizzle that splits elements");
  if (any(tile.inner, [](Mode const& m) { return m.stride < 0; })) c.drew("negative stride");
  if (any(tile.inner, [](Mode const& m) { return m.stride == 0 && m.extent > 1; })) c.drew("stride 0");
  if (any(tile.inner, [](Mode const& m) { return (m.extent & (m.extent - 1)) != 0; })) c.drew("odd extent");
}

}  // namespace reference
