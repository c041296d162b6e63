// find: every swizzle, every pitch, every linear map that differs, by brute force on small tiles.
#include <algorithm>

#include "reference/model/access.hpp"

namespace reference {
namespace {

// One case of an access: for each lane the offsets of its vector's elements.
struct Vectors {
  std::array<std::vector<long long>, 32> lane;
};

struct Searched {
  Instruction op;
  std::vector<Vectors> cases;
  long long weight = 1;
};

// The lanes of every case on the tile without a swizzle; nothing where a lane does not fit.
std::optional<std::vector<Searched>> vectors(Question const& q) {
  std::vector<Searched> all;
  for (auto const& access : q.accesses) {
    Searched one{access.op, {}};
    for (auto const& origin : origins(access, nullptr)) {
      auto const shot = shoot(q, access, origin, 0);
      if (!shot.fit.fits) return std::nullopt;
      Vectors v;
      auto const count = std::max(1, access.op.width * 8 / q.tile->bits);
      bool idle = true;
      for (std::size_t l = 0; l < 32; ++l)
        if (shot.warp[l])
          for (long long k = 0; k < count; ++k)
            v.lane[l].push_back(*shot.warp[l] * 8 / q.tile->bits + k), idle = false;
      if (idle) return std::nullopt;
      one.cases.push_back(v);
    }
    all.push_back(one);
  }
  return all;
}

struct Price {
  bool split = false;
  int excess = 0;
  long long total = 0;  ///< weight x wavefronts over all cases
  std::vector<int> wavefronts;
};

// The least total, and whether some map of that total has no conflicts.
struct Optimum {
  long long total = -1;
  bool free = false;
  void take(Price const& p) {
    if (p.split || (total >= 0 && p.total > total)) return;
    free = (p.total == total && free) || p.excess == 0;
    total = p.total;
  }
};

// `place`: where a byte (bit, below a byte) of an element lies, in bits.
template <class Place>
Price price(std::vector<Searched> const& searched, int bits, Place const& place) {
  Price p;
  for (auto const& one : searched) {
    int worst = 0;
    for (auto const& v : one.cases) {
      Warp warp;
      for (std::size_t l = 0; l < 32; ++l) {
        if (v.lane[l].empty()) continue;
        auto const start = place(v.lane[l][0], 0);
        long long done = 0;
        for (auto const x : v.lane[l])
          for (int bit = 0; bit < bits && done < one.op.width * 8;
               bit += std::min(8, bits), done += std::min(8, bits))
            if (place(x, bit) != start + done) p.split = true;
        if (start % (8 * one.op.width) != 0) p.split = true;
        if (p.split) return p;
        warp[l] = start / 8;
      }
      auto const wavefronts = cost(one.op, warp).wavefronts;
      worst = std::max(worst, wavefronts);
      p.total += one.weight * wavefronts;
    }
    p.wavefronts.push_back(worst);
    p.excess += std::max(0, worst - one.op.ideal());
  }
  return p;
}

Swizzle parsed(std::string const& text) {
  Swizzle s;
  if (std::sscanf(text.c_str(), "Sw<%d,%d,%d>", &s.bits, &s.base, &s.shift) != 3)
    throw Difference("no swizzle: " + text);
  return s;
}

void compare_entry(Campaign& c, Json const& entry, Price const& p, std::string const& what) {
  c.expect(!p.split, what + " splits a vector");
  c.same(entry.at("excess"), p.excess, "excess of " + what);
  c.same(entry.at("wavefronts"), p.wavefronts, "wavefronts of " + what);
  c.same(entry.at("total"), p.total, "total of " + what);
}

// The first of `best` has the least total and, where that is possible, no conflicts.
void compare_best(Campaign& c, Json const& best, Optimum const& optimum) {
  c.expect(!best.empty(), "something is best");
  c.same(best.at(0).at("total"), optimum.total, "least total");
  c.same(best.at(0).at("excess") == 0, optimum.free, "the best has no conflicts");
}

void swizzles(Campaign& c, Question const& q, std::vector<Searched> const& searched, bool bytes,
              Json const& got) {
  auto const bits = q.tile->bits;
  auto const price_of = [&](Swizzle s) {
    return bytes ? price(searched, bits,
                         [&](long long x, int bit) {
                           auto const p = x * bits + bit;
                           return s(p / 8) * 8 + p % 8;
                         })
                 : price(searched, bits, [&](long long x, int bit) { return s(x) * bits + bit; });
  };
  // Swizzles that read the same bits below the tile's size, and move them alike, are one map here.
  auto const end = q.tile->inner.cosize() * (bytes ? std::max(1, bits / 8) : 1);
  int top = 0;
  while (1ll << top < end) ++top;
  std::map<std::pair<long long, int>, Price> known;
  int count = 0, split = 0;
  Optimum optimum;
  for (int b = 0; b <= 16; ++b)
    for (int m = 0; m <= 32; ++m)
      for (int sh = -32; sh <= 32; ++sh) {
        Swizzle const s{b, m, sh};
        if (!valid(s)) continue;
        ++count;
        auto const source = (((1ll << b) - 1) << (m + std::max(0, sh))) & ((1ll << top) - 1);
        auto const key = source == 0 ? std::pair{0ll, 0} : std::pair{source, sh};
        auto const found = known.find(key);
        auto const& p = found != known.end() ? found->second : known.emplace(key, price_of(s)).first->second;
        split += p.split;
        optimum.take(p);
      }
  c.same(got.at("searched"), count, "searched");
  if (got.contains("splitting")) c.same(got.at("splitting"), split, "splitting");
  compare_best(c, got.at("best"), optimum);
  for (auto const& entry : got.at("best")) {
    auto const name = entry.at("swizzle").get<std::string>();
    compare_entry(c, entry, price_of(parsed(name)), name);
  }
}

void pitches(Campaign& c, Question const& q, std::vector<Searched> const& searched, Json const& got) {
  auto const& tile = *q.tile;
  auto const cols = tile.extent(1), pitch = tile.inner.modes[0].stride;
  auto const price_of = [&](long long p) {
    return price(searched, tile.bits,
                 [&](long long x, int bit) { return (x / pitch * p + x % pitch) * tile.bits + bit; });
  };
  Optimum optimum;
  int all = 0, misaligned = 0;
  for (long long p = cols; p < cols + 128 * 8 / tile.bits; ++p, ++all) {
    auto const here = price_of(p);
    misaligned += here.split;
    optimum.take(here);
  }
  if (pitch >= cols + 128 * 8 / tile.bits) {  // the tile as it is
    auto const here = price_of(pitch);
    ++all, misaligned += here.split;
    optimum.take(here);
  }
  c.same(got.at("searched"), all, "searched");
  if (got.contains("splitting")) c.same(got.at("splitting"), misaligned, "misaligned pitches");
  compare_best(c, got.at("best"), optimum);
  for (auto const& entry : got.at("best")) {
    auto const p = entry.at("pitch").get<long long>();
    compare_entry(c, entry, price_of(p), "pitch " + std::to_string(p));
  }
}

// Calls `visit` with every subspace of dimension d of GF(2)^n, as a reduced basis (row by pivot).
void subspaces(int n, int d, std::function<void(std::vector<unsigned> const&, unsigned)> const& visit) {
  for (unsigned pivots = 0; pivots < 1u << n; ++pivots) {
    if (__builtin_popcount(pivots) != d) continue;
    std::vector<unsigned> rows;
    std::vector<std::pair<int, unsigned>> free;
    for (int p = n - 1; p >= 0; --p)
      if (pivots >> p & 1) {
        for (int b = 0; b < p; ++b)
          if (!(pivots >> b & 1)) free.emplace_back(static_cast<int>(rows.size()), 1u << b);
        rows.push_back(1u << p);
      }
    for (unsigned long long choice = 0; choice < 1ull << free.size(); ++choice) {
      auto basis = rows;
      for (std::size_t k = 0; k < free.size(); ++k)
        if (choice >> k & 1) basis[static_cast<std::size_t>(free[k].first)] |= free[k].second;
      visit(basis, pivots);
    }
  }
}

void linear_maps(Campaign& c, Question const& q, std::vector<Searched> const& searched, int n, int unit_log2,
                 int bank_bits, Json const& got) {
  auto const bits = q.tile->bits;
  int const d = std::max(0, n - bank_bits);
  Optimum optimum;
  subspaces(n, d, [&](std::vector<unsigned> const& basis, unsigned pivots) {
    // Blocks meet iff they differ by an element of the subspace: their representatives name the banks.
    auto const moved = [&](long long byte) {
      auto block = static_cast<unsigned>(byte >> unit_log2);
      auto const high = block & pivots;
      for (auto const row : basis)
        if (block & (1u << (31 - __builtin_clz(row)))) block ^= row;
      long long out = 0;
      int to = 0;
      for (int b = 0; b < n; ++b)
        if (!(pivots >> b & 1)) out |= static_cast<long long>(block >> b & 1) << to++;
      for (int b = 0; b < n; ++b)
        if (pivots >> b & 1) out |= static_cast<long long>(high >> b & 1) << to++;
      return out << unit_log2 | (byte & ((1ll << unit_log2) - 1));
    };
    optimum.take(price(searched, bits, [&](long long x, int bit) {
      auto const p = x * bits + bit;
      return moved(p / 8) * 8 + p % 8;
    }));
  });
  compare_best(c, got.at("best"), optimum);
  auto const& best = got.at("best").at(0);
  auto const rows = best.at("rows").get<std::vector<unsigned long long>>();
  auto const map = [&](long long byte) {
    long long out = 0;
    for (std::size_t b = 0; b < rows.size(); ++b)
      out |= static_cast<long long>(__builtin_parityll(rows[b] & static_cast<unsigned long long>(byte))) << b;
    return out;
  };
  compare_entry(c, best,
                price(searched, bits,
                      [&](long long x, int bit) {
                        auto const p = x * bits + bit;
                        return map(p / 8) * 8 + p % 8;
                      }),
                "the best map");
}

enum class Kind { swizzles, pitches, maps };

// A tile that this search takes.
bool searchable(Tile const& tile, Kind kind) {
  if (tile.bits == 0 || tile.inner.size() > 1024 || tile.rank() != 2) return false;
  if (kind == Kind::swizzles) return true;
  auto const &rows = tile.inner.modes[0], &cols = tile.inner.modes[1];
  if (tile.bits < 8 || rows.tuple || cols.tuple) return false;
  if (kind == Kind::pitches) return cols.stride == 1 && rows.stride >= tile.extent(1);
  return tile.inner.cosize() == tile.size() && (tile.size() & (tile.size() - 1)) == 0;
}

// Accesses that the plain loops can follow.
bool few_cases(Question const& q) {
  long long cases = 0;
  for (auto const& access : q.accesses) {
    cases += static_cast<long long>(origins(access, nullptr).size());
    if (access.form == Access::thread_value) return false;
  }
  return cases <= 24;
}

bool has_negative_offset(Tile const& tile) {
  for (long long i = 0; i < tile.size(); ++i)
    if (tile.inner.at(i) < 0) return true;
  return false;
}

// Draws until there is a question that the search takes; gives its lanes.
std::vector<Searched> draw_searched(Question& q, Kind kind, Random& r) {
  for (;;) {
    q = draw_question(r, true, true);
    auto& tile = *q.tile;
    if (!searchable(tile, kind)) continue;
    // All linear maps are many: mostly of small tiles.
    if (kind == Kind::maps && tile.size() != 1ll << (r.between(2, 4) + r.between(2, 4))) continue;
    // The search puts its own swizzle there: a plain layout.
    if (!tile.stages.empty()) {
      tile.stages.clear();
      tile.flagged = false;
      tile.text = text(tile.inner, r);
      tile.options = {"--element", element_name(tile.bits, r)};
    }
    if (!few_cases(q) || has_negative_offset(tile) || shares(tile)) continue;
    if (auto searched = vectors(q)) return *searched;
  }
}

// Address bits above the unit that no linear map may take apart: the largest access, at least a bank word.
struct Blocks {
  int unit_log2 = 2, bits = 0;
  int bank_bits() const { return 7 - unit_log2; }
  // There are few enough maps for a plain loop.
  bool few_maps() const { return bits - bank_bits() <= (bits <= 7 ? 3 : 0); }
};

Blocks blocks_of(Tile const& tile, std::vector<Searched> const& searched) {
  Blocks blocks;
  for (auto const& one : searched)
    while (1 << blocks.unit_log2 < one.op.width) ++blocks.unit_log2;
  int log2 = 0;
  while (1ll << log2 < tile.size() * tile.bits / 8) ++log2;
  blocks.bits = std::max(0, log2 - blocks.unit_log2);
  return blocks;
}

}  // namespace

long long find_case(Campaign& c, Random& r) {
  auto const drawn = r.below(100);
  auto kind = drawn < 25 ? Kind::pitches : drawn < 50 ? Kind::maps : Kind::swizzles;
  Question q;
  auto searched = draw_searched(q, kind, r);
  note(c, q);
  auto const blocks = blocks_of(*q.tile, searched);
  if (kind == Kind::maps && !blocks.few_maps()) kind = Kind::swizzles;
  auto words = q.words();
  words.insert(words.begin(), "find");
  if (r.chance(30)) {
    c.drew("--weight");
    words.emplace_back("--weight");
    for (auto& one : searched) words.push_back(std::to_string(one.weight = r.between(1, 40)));
  }
  bool const bytes = kind == Kind::swizzles && q.tile->bits >= 8 && r.chance(30);
  if (kind == Kind::pitches) words.emplace_back("--padding"), c.drew("--padding");
  if (kind == Kind::maps) words.emplace_back("--xor"), c.drew("--xor");
  if (bytes) words.insert(words.end(), {"--unit", "bytes"}), c.drew("--unit bytes");
  auto const answer = c.ask(words);
  if (answer.code == 3) return c.undecided(), 1;
  c.expect(answer.code == 0, "model: exit 0");
  auto const got = answer.json();
  if (kind == Kind::pitches)
    pitches(c, q, searched, got);
  else if (kind == Kind::maps)
    linear_maps(c, q, searched, blocks.bits, blocks.unit_log2, blocks.bank_bits(), got);
  else
    swizzles(c, q, searched, bytes, got);
  return 1;
}

}  // namespace reference
