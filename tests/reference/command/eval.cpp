// eval: offsets or addresses, in CuTe's order.
#include <optional>

#include "reference/model/tile.hpp"

namespace reference {
namespace {

// CuTe's algebra, where its result is a function that plain loops give.
struct Made {
  Tile tile;                      ///< text and options
  std::vector<long long> values;  ///< in order
};

std::vector<long long> offsets(Mode const& m) {
  std::vector<long long> all;
  for (long long i = 0; i < m.size(); ++i) all.push_back(m.at(i));
  return all;
}

Mode draw_matrix(Random& r, int most_log2) {
  auto const rows = 1ll << r.between(0, most_log2), cols = 1ll << r.between(0, most_log2);
  return r.chance(50) ? tuple({leaf(rows, cols), leaf(cols, 1)}) : tuple({leaf(rows, 1), leaf(cols, rows)});
}

long long draw_divisor(long long n, Random& r) {
  std::vector<long long> all;
  for (long long d = 1; d <= n; ++d)
    if (n % d == 0) all.push_back(d);
  return r.pick(all);
}

// Each of these is a function of CuTe's algebra on a matrix `a`, which is written `la`.

void coalesced(Made& made, Mode const& a, std::string const& la, Random&) {
  made.tile.text = "coalesce(" + la + ")";
  made.values = offsets(a);
}

// B runs through A's domain with powers of two: every composition of these exists.
void composed(Made& made, Mode const& a, std::string const& la, Random& r) {
  auto const size = a.size();
  auto const n = draw_divisor(size, r);
  auto const stride = draw_divisor(size / n, r);
  made.tile.text = "composition(" + la + ", " + std::to_string(n) + ":" + std::to_string(stride) + ")";
  for (long long i = 0; i < n; ++i) made.values.push_back(a.at(i * stride));
}

void divided(Made& made, Mode const& a, std::string const& la, Random& r) {
  auto const n = draw_divisor(a.size(), r);
  made.tile.text = r.pick({"logical_divide(", "zipped_divide(", "tiled_divide(", "flat_divide("}) + la +
                   ", " + std::to_string(n) + ":1)";
  made.values = offsets(a);
}

void divided_by_mode(Made& made, Mode const& a, std::string const& la, Random& r) {
  auto const &rows = a.modes[0], &cols = a.modes[1];
  auto const t0 = draw_divisor(rows.extent, r), t1 = draw_divisor(cols.extent, r);
  made.tile.text = r.pick({"zipped_divide(", "tiled_divide("}) + la + ", (" + std::to_string(t0) + "," +
                   std::to_string(t1) + "))";
  for (long long q1 = 0; q1 < cols.extent / t1; ++q1)
    for (long long q0 = 0; q0 < rows.extent / t0; ++q0)
      for (long long i1 = 0; i1 < t1; ++i1)
        for (long long i0 = 0; i0 < t0; ++i0)
          made.values.push_back((i0 + t0 * q0) * rows.stride + (i1 + t1 * q1) * cols.stride);
}

void sliced(Made& made, Mode const& a, std::string const& la, Random& r) {
  auto const &rows = a.modes[0], &cols = a.modes[1];
  auto const row = r.below(rows.extent);
  made.tile.text = "slice(" + la + ", (" + std::to_string(row) + ",_))";
  for (long long i = 0; i < cols.extent; ++i)
    made.values.push_back(i * cols.stride);  // what CuTe adds to the pointer is no part of it
}

void tiled(Made& made, Mode const& a, std::string const& la, Random& r) {
  auto const &rows = a.modes[0], &cols = a.modes[1];
  auto const r0 = 1ll << r.below(3), r1 = 1ll << r.below(3);
  made.tile.text = "tile_to_shape(" + la + ", (" + std::to_string(rows.extent * r0) + "," +
                   std::to_string(cols.extent * r1) + "))";
  for (long long j = 0; j < cols.extent * r1; ++j)
    for (long long i = 0; i < rows.extent * r0; ++i)
      made.values.push_back((i % rows.extent) * rows.stride + (j % cols.extent) * cols.stride +
                            a.cosize() * (i / rows.extent + r0 * (j / cols.extent)));
}

// Compact layouts have both inverses, and they are one.
void inverted(Made& made, Mode const& a, std::string const& la, Random& r) {
  made.tile.text = r.pick({"right_inverse(", "left_inverse("}) + la + ")";
  made.values.assign(static_cast<std::size_t>(a.size()), 0);
  for (long long i = 0; i < a.size(); ++i) made.values[static_cast<std::size_t>(a.at(i))] = i;
}

Made draw_algebra(Random& r, Campaign& c) {
  Made made;
  auto const a = draw_matrix(r, 4);
  auto const la = text(a, r);
  auto const function = r.pick({coalesced, composed, divided, divided_by_mode, sliced, tiled, inverted});
  function(made, a, la, r);
  c.drew("CuTe's algebra");
  return made;
}

// wgmma's atoms of 16-bit and 8-bit elements, K-major: eight rows of the swizzle's width, repeated column after column.
Made draw_atom(Random& r, Campaign& c) {
  Made made;
  auto const bits = r.pick({8, 16, 32});
  auto const log2 = r.between(0, 3);
  auto const width = (16ll << log2) * 8 / bits;
  auto const rows = 8 * r.between(1, 3), cols = width * r.between(1, 2);
  made.tile.text = "gmma:K_" + std::string(log2 == 0 ? "INTER" : "SW" + std::to_string(16 << log2)) + "<" +
                   (bits == 8    ? "e4m3"
                    : bits == 16 ? "f16"
                                 : "tf32") +
                   "> (" + std::to_string(rows) + "," + std::to_string(cols) + ")";
  Swizzle const swizzle{static_cast<int>(log2), 4, 3};
  for (long long j = 0; j < cols; ++j)
    for (long long i = 0; i < rows; ++i) {
      auto const offset = (i % 8) * width + j % width + 8 * width * (i / 8 + rows / 8 * (j / width));
      made.values.push_back(swizzle(offset * bits / 8) * 8 / bits);
    }
  c.drew("wgmma's atoms");
  return made;
}

long long compare(Campaign& c, Made const& made) {
  auto const answer = c.ask([&] {
    std::vector<std::string> words{"eval"};
    for (auto const& w : made.tile.words()) words.push_back(w);
    return words;
  }());
  c.expect(answer.code == 0, "model: exit 0");
  c.same(answer.json().at("values"), made.values, "values");
  return 1;
}

long long compare_odd_element(Campaign& c, Random& r) {
  // 6 bits: bytes hold no whole number of them, and the contract has powers of two alone.
  c.drew("elements of 6 bits");
  auto const tile = dress(draw_matrix(r, 3), 6, Wish{}, r);
  std::vector<std::string> words{"eval"};
  for (auto const& w : tile.words()) words.push_back(w);
  c.expect(c.ask(words).code == 2, "model: bad input, an element size that is no power of two");
  return c.refused(), 1;
}

// The indices of --at, or all of them.
std::vector<long long> draw_indices(Tile const& tile, std::vector<std::string>& words, Campaign& c,
                                    Random& r) {
  std::vector<long long> indices;
  if (r.chance(40)) {
    std::string list;
    for (auto n = r.between(1, 5); n > 0; --n) {
      indices.push_back(r.below(tile.size() * (r.chance(10) ? 2 : 1)));
      list += (list.empty() ? "" : ",") + std::to_string(indices.back());
    }
    words.insert(words.end(), {"--at", list});
    c.drew("--at");
  } else {
    for (long long i = 0; i < tile.size(); ++i) indices.push_back(i);
  }
  return indices;
}

// Offsets, or addresses in bytes from `base` on; nothing where a value lies inside its unit.
std::optional<std::vector<long long>> expected(Tile const& tile, std::vector<long long> const& indices,
                                               bool bytes, long long base) {
  std::vector<long long> values;
  for (auto const i : indices) {
    if (!tile.flagged && !bytes) {
      values.push_back(tile.offset(i));
      continue;
    }
    auto const place = tile.place(i, 0, base);
    auto const unit = bytes ? 8 : tile.bits;
    if (place % unit != 0) return std::nullopt;
    values.push_back(place / unit);
  }
  return values;
}

}  // namespace

long long eval_case(Campaign& c, Random& r) {
  if (r.chance(8)) return compare(c, draw_algebra(r, c));
  if (r.chance(3)) return compare(c, draw_atom(r, c));
  if (r.chance(1)) return compare_odd_element(c, r);
  Wish wish;
  wish.element = false;
  wish.top = 31;
  auto tile = draw_tile(wish, r);
  note(c, tile);
  bool const bytes = tile.bits != 0 && r.chance(50);
  std::vector<std::string> words{"eval"};
  for (auto const& w : tile.words()) words.push_back(w);
  long long base = 0;
  if (bytes) {
    words.emplace_back("--bytes");
    if (r.chance(50)) {
      base = r.chance(50) ? 16 * r.below(200) : r.below(5000);
      words.insert(words.end(), {"--base", std::to_string(base)});
      c.drew("--base");
    }
  }
  auto const indices = draw_indices(tile, words, c, r);
  auto const answer = c.ask(words);
  auto const values = expected(tile, indices, bytes, base);
  if (!values) {
    c.drew("a value inside its unit");
    c.expect(answer.code == 2, "model: bad input, an index lies inside a byte or element");
    c.refused();
    return 1;
  }
  c.expect(answer.code == 0, "model: exit 0");
  auto const json = answer.json();
  c.same(json.at("values"), *values, "values");
  c.same(json.at("size"), tile.size(), "size");
  c.same(json.at("cosize"), tile.inner.cosize(), "cosize");
  return 1;
}

}  // namespace reference
