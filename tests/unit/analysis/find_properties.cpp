// find_*() against plain loops that share nothing with it: every swizzle, every case, every byte.
#include "generators/dumb_law.hpp"
#include "generators/rounds.hpp"

#include <swizproof/layout/composed.hpp>
#include <swizproof/analysis/find.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace swizproof {
namespace {

using Int = std::int64_t;

Int floor_div(Int a, Int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// The swizzle bit by bit, of a two's complement number.
Int by_bits(Swizzle const& s, Int x) {
  Int y = x;
  for (int i = 0; i < s.bits; ++i) {
    int const source = s.base + i + (s.shift > 0 ? s.shift : 0),
              target = s.base + i + (s.shift < 0 ? -s.shift : 0);
    if ((x >> source & 1) != 0) y ^= Int{1} << target;
  }
  return y;
}

/// A tile of rows and columns: element (r, c) lies at offset + inner(r * row + c * column).
struct Tile {
  Int rows = 8, columns = 8, row = 8, column = 1, offset = 0;
  unsigned bits = 16;
  Swizzle inner{};  // a layout within: composed before the offset
  bool flagged = false;

  [[nodiscard]] Int at(Int r, Int c) const { return offset + by_bits(inner, r * row + c * column); }
  [[nodiscard]] std::string layout() const {
    return fmt::format("({},{}):({},{})", rows, columns, row, column);
  }
  /// With some swizzle of the user's in front, which a search leaves out.
  [[nodiscard]] std::string text() const {
    std::string const within =
        inner.bits == 0 ? layout() : fmt::format("{} o 0 o {}", to_string(inner), layout());
    if (flagged) return fmt::format("Sw<2,4,3> o smem_ptr[{}b](unset) o {} o {}", bits, offset, within);
    return offset == 0 && inner.bits == 0 ? within : fmt::format("Sw<1,4,3> o {} o {}", offset, within);
  }
};

/// Lane l of case v accesses `vector` elements at row (l*a + v*b) % rows, vector (l*c + v*d) % (columns / vector).
struct Asks {
  Instruction instruction{};
  Int a = 1, b = 0, c = 0, d = 0, cases = 1;

  [[nodiscard]] Int vector(Tile const& t) const { return std::max<Int>(8 * instruction.bytes / t.bits, 1); }
  [[nodiscard]] std::string text(Tile const& t) const {
    Int const k = vector(t), along = t.column == 1 ? t.columns : t.rows,
              across = t.column == 1 ? t.rows : t.columns;
    std::string const line = fmt::format("(lane*{} + v*{}) % {}", a, b, across);
    std::string const piece = fmt::format("{}*((lane*{} + v*{}) % {})", k, c, d, along / k);
    return fmt::format("{}: row = {}, col = {} for v in 0..{}", to_string(instruction),
                       t.column == 1 ? line : piece, t.column == 1 ? piece : line, cases - 1);
  }
  /// The element that the lane's vector starts with, and element j of it: (row, column).
  [[nodiscard]] std::pair<Int, Int> element(Tile const& t, Int lane, Int v, Int j) const {
    Int const k = vector(t), along = t.column == 1 ? t.columns : t.rows,
              across = t.column == 1 ? t.rows : t.columns;
    Int const line = (lane * a + v * b) % across, piece = k * ((lane * c + v * d) % (along / k)) + j;
    return t.column == 1 ? std::pair(line, piece) : std::pair(piece, line);
  }
};

/// Bytes of an element under a swizzle of `on_bytes` or elements, from base 0; half a byte is its byte.
std::vector<Int> bytes_of(Tile const& t, Swizzle const& s, bool on_bytes, Int r, Int c) {
  Int const z = on_bytes ? t.at(r, c) : by_bits(s, t.at(r, c)), bits = t.bits;
  std::vector<Int> all;
  for (Int bit = 0; bit < std::max<Int>(bits, 8); bit += 8) {
    Int const byte = floor_div(z * bits + bit, 8);
    all.push_back(on_bytes ? by_bits(s, byte) : byte);
  }
  return all;
}

/// Access of one lane in one case: the offsets of its elements, or their bytes where a swizzle acts on these.
std::vector<Int> parts_of(Tile const& t, Asks const& asks, bool on_bytes, Int lane, Int v) {
  std::vector<Int> parts;
  for (Int j = 0; j < asks.vector(t); ++j) {
    auto const [r, c] = asks.element(t, lane, v, j);
    Int const z = t.at(r, c);
    if (!on_bytes || t.bits < 8) parts.push_back(z);
    for (Int bit = 0; on_bytes && t.bits >= 8 && bit < t.bits; bit += 8)
      parts.push_back(z * (t.bits / 8) + bit / 8);
  }
  if (on_bytes && t.bits >= 8) parts.resize(asks.instruction.bytes);  // of a wider element: its first bytes
  return parts;
}

/// The lane's first byte, if all bytes of its vector lie side by side from a multiple of its width.
std::optional<Int> place(Tile const& t, Asks const& asks, Swizzle const& s, bool on_bytes,
                         std::vector<Int> const& parts) {
  std::array<Int, 32> at{};  // of each part: its byte, or its nibble where elements are below a byte
  bool const nibbles = t.bits < 8, whole_elements = !on_bytes && !nibbles;
  for (std::size_t i = 0; i < parts.size(); ++i)
    at[i] = nibbles
                ? on_bytes ? 2 * by_bits(s, floor_div(parts[i], 2)) + (parts[i] & 1) : by_bits(s, parts[i])
                : by_bits(s, parts[i]) * (whole_elements ? t.bits / 8 : 1);
  Int const step = whole_elements ? t.bits / 8 : 1, unit = nibbles ? 2 : 1;
  if (floor_div(at[0], unit * asks.instruction.bytes) * unit * asks.instruction.bytes != at[0])
    return std::nullopt;
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (at[i] != at[0] + static_cast<Int>(i) * step) return std::nullopt;
  return floor_div(at[0], unit);
}

struct Sums {
  std::vector<unsigned> worst{};
  std::vector<std::uint64_t> totals{};
  std::uint64_t total = 0;
  unsigned excess = 0;
};

/// Result of a plain loop over lanes and cases; equal patterns of addresses are costed once.
class Loop {
 public:
  Loop(Tile const& tile, std::vector<Asks> const& asks, std::vector<std::uint64_t> const& weights,
       bool on_bytes)
      : tile_(tile), asks_(asks), weights_(weights), on_bytes_(on_bytes), parts_(asks.size()) {
    for (std::size_t i = 0; i < asks_.size(); ++i)
      for (Int v = 0; v < asks_[i].cases; ++v)
        for (Int l = 0; l < asks_[i].instruction.lanes(); ++l)
          parts_[i].push_back(parts_of(tile_, asks_[i], on_bytes, l, v));
  }

  /// The first byte that the lane accesses in case v.
  [[nodiscard]] std::optional<Int> at(Swizzle const& s, std::size_t i, Int v, unsigned lane) const {
    return place(tile_, asks_[i], s, on_bytes_,
                 parts_[i][static_cast<std::size_t>(v) * asks_[i].instruction.lanes() + lane]);
  }
  std::optional<Sums> of(Swizzle const& s) {
    Sums sums;
    for (std::size_t i = 0; i < asks_.size(); ++i) {
      unsigned worst = 0;
      std::uint64_t total = 0;
      for (Int v = 0; v < asks_[i].cases; ++v) {
        WarpAccess<std::uint64_t> warp{};
        for (unsigned l = 0; l < asks_[i].instruction.lanes(); ++l) {
          auto const at = this->at(s, i, v, l);
          if (!at) return std::nullopt;
          warp.address[l] = static_cast<std::uint64_t>(*at + (Int{1} << 40));
          warp.active[l] = true;
        }
        auto const [known, is_new] = costs_.try_emplace({i, warp.address});
        if (is_new) known->second = dumb_law(asks_[i].instruction, warp);
        worst = std::max(worst, known->second);
        total += known->second;
      }
      unsigned const ideal = ideal_wavefronts(sm_90, asks_[i].instruction);
      sums.worst.push_back(worst);
      sums.totals.push_back(total);
      sums.total += total * weights_[i];
      sums.excess += worst > ideal ? worst - ideal : 0;
    }
    return sums;
  }
  /// Bytes of an array that holds the tile: from the base, or the lowest byte below it, to the highest byte.
  [[nodiscard]] std::uint64_t memory(Swizzle const& s) const {
    std::optional<Int> low, high;
    for (Int r = 0; r < tile_.rows; ++r)
      for (Int c = 0; c < tile_.columns; ++c)
        for (Int const b : bytes_of(tile_, s, on_bytes_, r, c))
          low = std::min(low.value_or(b), b), high = std::max(high.value_or(b), b);
    return static_cast<std::uint64_t>(*high - std::min(*low, Int{0}) + 1);
  }

 private:
  Tile tile_;
  std::vector<Asks> asks_;
  std::vector<std::uint64_t> weights_;
  bool on_bytes_;
  std::vector<std::vector<std::vector<Int>>> parts_;
  std::map<std::pair<std::size_t, std::array<std::uint64_t, warp_lanes>>, unsigned> costs_{};
};

/// Random tiles and accesses, and how often each kind was drawn.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::map<std::string, int> drawn{};

  Int of(std::initializer_list<Int> from) { return from.begin()[random_() % from.size()]; }

  Tile tile() {
    Tile t;
    t.bits = static_cast<unsigned>(of({4, 8, 16, 16, 32}));
    Int const unit = 128 / t.bits;  // 16 bytes of elements
    t.columns = unit * of({1, 2, 3, 4}), t.rows = of({4, 7, 8, 9, 16});
    t.row = t.columns + unit * of({0, 0, 0, 1});
    if (of({0, 0, 0, 0, 1}) == 1) t.row += of({1, 2, unit / 2}), ++drawn["odd pitch"];
    if (of({0, 0, 1}) == 1) t.row = -t.row, ++drawn["negative stride"];
    if (of({0, 0, 1}) == 1) t.offset = unit * of({1, 4, 8, -2}), ++drawn["offset"];
    if (of({0, 0, 0, 1}) == 1)
      t.inner = {1,
                 static_cast<int>(std::countr_zero(static_cast<std::uint64_t>(unit))) +
                     static_cast<int>(of({0, 1})),
                 2},
      ++drawn["inner swizzle"];
    t.flagged = t.inner.bits == 0 && of({0, 1}) == 1;
    if (of({0, 0, 1}) == 1) std::swap(t.rows, t.columns), std::swap(t.row, t.column), ++drawn["columns"];
    drawn["below a byte"] += t.bits < 8;
    drawn["odd extent"] += t.rows % 2 != 0 || t.columns % 2 != 0;
    return t;
  }
  Asks asks(Tile const& t) {
    Asks out;
    auto const operation = static_cast<Operation>(of({0, 0, 1, 1, 2, 4}));
    out.instruction = operation == Operation::ldmatrix
                          ? Instruction{operation, 16, static_cast<unsigned>(of({1, 2, 4}))}
                      : operation == Operation::cp_async
                          ? Instruction{operation, static_cast<unsigned>(of({4, 8, 16}))}
                          : Instruction{operation, static_cast<unsigned>(of({1, 2, 4, 8, 16}))};
    out.a = of({0, 1, 1, 2, 3}), out.b = of({0, 1, 4}), out.c = of({0, 1, 1, 3}), out.d = of({0, 1, 2});
    out.cases = of({1, 2, 3});
    drawn["8- and 16-bit access"] += out.instruction.bytes < 4;
    drawn["less than an element"] += 8 * out.instruction.bytes < t.bits;
    return out;
  }

 private:
  std::mt19937 random_;
};

struct Drawn {
  Tile tile;
  std::vector<Asks> asks;
  SearchProblem problem{};
  std::vector<std::uint64_t> weights{};
};

Drawn draw_problem(Draw& draw) {
  Drawn d{draw.tile(), {}};
  Int const count = draw.of({1, 1, 2});
  for (Int i = 0; i < count; ++i)
    d.asks.push_back(draw.asks(d.tile)), d.weights.push_back(static_cast<std::uint64_t>(draw.of({1, 1, 3})));
  Map const given = parse_mapping(d.tile.text(), {d.tile.bits});
  d.problem.tile = searched_tile(given);
  d.problem.on_bytes = given.acts_on_bytes();
  for (Asks const& asks : d.asks) d.problem.accesses.push_back(parse_access(asks.text(d.tile)));
  d.problem.weights = d.weights;
  return d;
}

/// One function of every index, from base 0, and of the same size.
bool same(Map const& a, Map const& b) {
  if (a.domain()->size() != b.domain()->size()) return false;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(a.domain()->size()); ++i)
    if (bit_address(a, Address<std::uint64_t>{0}, i) != bit_address(b, Address<std::uint64_t>{0}, i))
      return false;
  return true;
}

TEST(FindProperties, EverySwizzleCostsWhatAPlainLoopSays) {
  Draw draw(3);
  int const all = rounds(40);
  int searched = 0, refused = 0;
  for (int round = 0; round < all; ++round) {
    Drawn const d = draw_problem(draw);
    std::string const what = text_of(d.problem.tile) + "  " + d.problem.accesses.back().name;
    bool const on_bytes = d.problem.on_bytes;
    SwizzleSearch const found = find_swizzle(d.problem);
    Loop loop(d.tile, d.asks, d.weights, on_bytes);
    bool const fits = loop.of({}).has_value();
    ASSERT_EQ(fits, found.misfits.empty()) << what;
    ASSERT_EQ(fits, !found.best.empty()) << what;
    (fits ? searched : refused) += 1;
    if (!fits) continue;
    std::uint64_t count = 0, unusable = 0, least = ~std::uint64_t{0};
    std::pair gentlest{~0U, ~std::uint64_t{0}};
    std::map<Swizzle, Sums> best;
    for (int bits = 0; bits <= 32; ++bits)
      for (int base = 0; base <= 32; ++base)
        for (int shift = -32; shift <= 32; ++shift) {
          Swizzle s{bits, base, shift};
          if (!s.valid()) continue;
          ++count;
          auto const sums = loop.of(s);
          unusable += !sums;
          if (!sums) continue;
          gentlest = std::min(gentlest, std::pair(sums->excess, sums->total));
          if (sums->total > least) continue;
          if (sums->total < least) best.clear();
          least = sums->total;
          best.emplace(bits == 0 ? swizzle_none : s, *sums);
        }
    EXPECT_EQ(found.searched, count);
    EXPECT_EQ(found.unusable, unusable) << what;
    EXPECT_EQ(found.best.size(), best.size()) << what;
    EXPECT_EQ(std::pair(found.gentlest.cost.excess, found.gentlest.cost.total), gentlest) << what;
    for (Candidate const& c : found.best) {
      ASSERT_TRUE(best.contains(c.swizzle)) << what << "  " << to_string(c.swizzle);
      Sums const& sums = best.at(c.swizzle);
      EXPECT_EQ(c.cost.total, sums.total) << what << "  " << to_string(c.swizzle);
      EXPECT_EQ(c.cost.excess, sums.excess) << what;
      EXPECT_EQ(c.cost.wavefronts, sums.worst) << what;
      EXPECT_EQ(c.cost.totals, sums.totals) << what;
      EXPECT_EQ(c.memory, loop.memory(c.swizzle)) << what << "  " << to_string(c.swizzle);
    }
    for (std::size_t i = 0; i < found.best.size(); i += 1 + found.best.size() / 40) {
      Candidate const& c = found.best[i];
      Map const map = swizzled(d.problem, c.swizzle);
      // A swizzle of half bytes that lie beyond the tile is none of bytes, and leaves the tile as it is.
      if (c.tma.element_bits == 0 || !tma_recasts(map).empty())
        EXPECT_EQ(c.tma.writes.has_value(), tma_boxes(map).writes.has_value())
            << text_of(map) << ": " << c.tma.reason;
      EXPECT_TRUE(same(map, parse_mapping(text_of(map), {d.tile.bits}))) << text_of(map);
    }
  }
  for (char const* kind : {"negative stride", "offset", "inner swizzle", "columns", "below a byte",
                           "odd extent", "8- and 16-bit access", "less than an element"})
    EXPECT_GE(draw.drawn[kind], all / 10) << kind;
  EXPECT_GT(searched, 3 * all / 4);
  EXPECT_GE(refused, 3 * all / 40);
}

// The search and check() ask about the same bases: what one says, the other finds again.
TEST(FindProperties, CheckAgreesWithEveryAnswer) {
  Draw draw(5);
  int compared = 0;
  for (int round = 0; round < rounds(90); ++round) {
    Drawn const d = draw_problem(draw);
    SwizzleSearch const found = find_swizzle(d.problem);
    if (found.best.empty()) continue;
    Candidate const& c =
        found.best[static_cast<std::size_t>(round) % std::min<std::size_t>(found.best.size(), 9)];
    Map const map = swizzled(d.problem, c.swizzle);
    for (std::size_t i = 0; i < d.asks.size(); ++i) {
      auto const verdict = check_exhaustively(Placement(map, d.problem.accesses[i]), {});
      if (!verdict) continue;
      ++compared;
      ASSERT_NE(verdict->cost(), nullptr) << text_of(map) << "  " << verdict->access;
      EXPECT_EQ(verdict->cost()->wavefronts, c.cost.wavefronts[i]) << text_of(map) << "  " << verdict->access;
      EXPECT_EQ(verdict->cost()->total, c.cost.totals[i]) << text_of(map) << "  " << verdict->access;
    }
  }
  EXPECT_GT(compared, rounds(60));
}

TEST(FindProperties, EveryPitchCostsWhatAPlainLoopSays) {
  Draw draw(11);
  int searched = 0, own_misfits = 0;
  for (int round = 0; round < 60; ++round) {
    Drawn d = draw_problem(draw);
    d.tile.inner = {}, d.tile.row = d.tile.column == 1 ? std::abs(d.tile.row) : d.tile.row;
    d.tile.column = d.tile.column == 1 ? 1 : std::abs(d.tile.column);
    Int& pitch = d.tile.column == 1 ? d.tile.row : d.tile.column;
    pitch += draw.of({0, 0, 1, 3});
    d.problem.tile = searched_tile(parse_mapping(d.tile.text(), {d.tile.bits}));
    PitchSearch const found = find_padding(d.problem);
    Int const own = pitch;
    EXPECT_EQ(found.own, own);
    std::map<Int, Pitch> fitting;
    for (Pitch const& p : found.fitting) fitting.emplace(p.elements, p);
    std::uint64_t least = ~std::uint64_t{0};
    EXPECT_EQ(found.first, d.problem.tile.domain()->shape.mode(d.tile.column == 1 ? 1 : 0).product());
    EXPECT_EQ(found.last, found.first + 1024 / d.tile.bits - 1) << "128 bytes";
    EXPECT_EQ(found.searched,
              static_cast<std::uint64_t>(found.last - found.first + 1 + (own > found.last ? 1 : 0)));
    for (pitch = found.first; pitch <= found.last; ++pitch) {
      Loop loop(d.tile, d.asks, d.weights, false);
      auto const sums = loop.of({});
      ASSERT_EQ(sums.has_value(), fitting.contains(pitch)) << d.tile.text() << "  " << d.asks[0].text(d.tile);
      if (pitch == own) {
        EXPECT_EQ(sums.has_value(), found.misfits.empty());
        own_misfits += sums ? 0 : 1;
      }
      if (!sums) continue;
      Pitch const& p = fitting.at(pitch);
      least = std::min(least, sums->total);
      EXPECT_EQ(p.cost.total, sums->total) << d.tile.text();
      EXPECT_EQ(p.cost.excess, sums->excess) << d.tile.text();
      EXPECT_EQ(p.memory, loop.memory({})) << d.tile.text();
      Map const map = padded(d.problem, pitch);
      EXPECT_TRUE(same(map, parse_mapping(text_of(map), {d.tile.bits}))) << text_of(map);
      EXPECT_TRUE(same(map, searched_tile(parse_mapping(d.tile.text(), {d.tile.bits})))) << text_of(map);
    }
    if (found.fitting.empty()) continue;
    ++searched;
    EXPECT_EQ(found.fitting.front().cost.total, least);
  }
  EXPECT_GT(searched, 30);
  EXPECT_GT(own_misfits, 5);
}

// Every linear map from 16-byte blocks to the 8 slots of the banks: 3 rows over the block's bits.
TEST(FindProperties, NoLinearMapBeatsTheBestXorMap) {
  Draw draw(13);
  int compared = 0;
  for (int round = 0; round < rounds(50) && compared < rounds(10); ++round) {
    Drawn d = draw_problem(draw);
    for (Asks& asks : d.asks)
      if (asks.instruction.bytes < 16) asks.instruction = {Operation::st_shared, 16};
    d.problem.accesses.clear();
    for (Asks const& asks : d.asks) d.problem.accesses.push_back(parse_access(asks.text(d.tile)));
    Loop loop(d.tile, d.asks, d.weights, false);
    if (!loop.of({})) {
      EXPECT_FALSE(find_xor(d.problem).misfits.empty());
      continue;
    }
    XorSearch const found = find_xor(d.problem);
    unsigned const columns = found.address_bits - 4;
    if (columns > 5) continue;
    ++compared;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint64_t rows = 0; rows < std::uint64_t{1} << (3 * columns); ++rows) {
      std::uint64_t total = 0;
      for (std::size_t i = 0; i < d.asks.size() && total < least; ++i)
        for (Int v = 0; v < d.asks[i].cases; ++v) {
          WarpAccess<std::uint64_t> warp{};
          for (unsigned l = 0; l < d.asks[i].instruction.lanes(); ++l) {
            Int const block = floor_div(*loop.at({}, i, v, l), 16);
            Int slot = 0;
            for (unsigned row = 0; row < 3; ++row)
              slot |= (std::popcount(rows >> (row * columns) & static_cast<std::uint64_t>(block) &
                                     ((1U << columns) - 1)) &
                       1)
                      << row;
            // The block's own number above the slot keeps different blocks different.
            warp.address[l] = static_cast<std::uint64_t>(((block + (1 << 20)) * 8 + slot) * 16);
            warp.active[l] = true;
          }
          total += dumb_law(d.asks[i].instruction, warp) * d.weights[i];
        }
      least = std::min(least, total);
    }
    EXPECT_EQ(found.best.cost.total, least) << text_of(d.problem.tile) << "  " << d.problem.accesses[0].name;
    Map const map = under(d.problem, found.best.function);
    EXPECT_TRUE(same(map, parse_mapping(text_of(map)))) << text_of(map);
    EXPECT_TRUE(std::holds_alternative<Proved>(is_one_to_one(map, {}).outcome)) << text_of(map);
    for (std::size_t i = 0; i < d.asks.size(); ++i) {
      auto const verdict = check_exhaustively(Placement(map, d.problem.accesses[i]), {});
      ASSERT_TRUE(verdict);
      EXPECT_EQ(verdict->cost()->total, found.best.cost.totals[i]) << text_of(map);
    }
  }
  EXPECT_GE(compared, rounds(10));
}

}  // namespace
}  // namespace swizproof
