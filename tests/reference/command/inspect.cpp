// inspect and align: what kind of map it is, and from which bases relative addressing is absolute addressing.
#include <algorithm>

#include "reference/model/function.hpp"
#include "reference/model/tile.hpp"

namespace reference {
namespace {

struct Properties {
  bool injective = true, bijective = true, involution = true, linear = true;
  int kept = 64;
  Json span, period;
};

// A map of 0..size-1, in units; `window`: a bare function, whose values outside repeat those inside.
Properties properties(std::vector<long long> const& f, bool window) {
  Properties p;
  auto const size = static_cast<long long>(f.size());
  std::set<long long> const values(f.begin(), f.end());
  p.injective = values.size() == f.size();
  p.bijective = p.injective && *values.begin() >= 0 && *values.rbegin() < size;
  p.linear = (size & (size - 1)) == 0;
  for (long long x = 0; x < size; ++x) {
    auto const y = f[static_cast<std::size_t>(x)];
    if (y < 0 || y >= size || f[static_cast<std::size_t>(y)] != x) p.involution = false;
    if (x != y) p.kept = std::min(p.kept, __builtin_ctzll(static_cast<unsigned long long>(x ^ y)));
  }
  // f is linear iff it is the sum of its values at the powers of two.
  for (long long x = 0; x < size && p.linear; ++x) {
    long long sum = 0;
    for (long long bit = 1; bit < size; bit *= 2)
      if (x & bit) sum ^= f[static_cast<std::size_t>(bit)];
    p.linear = f[static_cast<std::size_t>(x)] == sum;
  }
  for (long long block = 1; block <= 1ll << 40; block *= 2) {
    bool inside = true;
    for (long long x = 0; x < size && inside; ++x) {
      auto const y = f[static_cast<std::size_t>(x)];
      inside = y >= 0 && y / block == x / block;
    }
    if (inside) {
      p.span = block;
      break;
    }
  }
  for (long long step = 1; step < (window ? size + 1 : size) && p.period.is_null(); ++step) {
    bool same = true;
    for (long long x = 0; x < size && same; ++x) {
      auto const next = x + step;
      if (next >= size && !window) break;
      auto const there =
          next < size ? f[static_cast<std::size_t>(next)] : f[static_cast<std::size_t>(next - size)] + size;
      same = there == f[static_cast<std::size_t>(x)] + step;
    }
    if (same) p.period = step;
  }
  return p;
}

// The inputs that a refutation names must show it. Outside a window of numbers, f repeats what it does inside.
void replay(Campaign& c, Json const& got, std::vector<long long> const& f, bool window) {
  auto const size = static_cast<long long>(f.size());
  auto const at = [&](long long x) {
    return window ? f[static_cast<std::size_t>(x & (size - 1))] + (x & ~(size - 1))
                  : f.at(static_cast<std::size_t>(x));
  };
  auto const inside = [&](long long x) { return window || (x >= 0 && x < size); };
  for (auto const& [property, evidence] : got.at("evidence").items()) {
    if (!evidence.contains("counterexample") || !evidence.at("counterexample").is_object()) continue;
    auto const& values = evidence.at("counterexample").at("values");
    if (!values.contains("x")) continue;
    auto const x = static_cast<long long>(values.at("x").get<std::uint64_t>());
    if (values.contains("f(x)"))
      c.same(values.at("f(x)").get<std::uint64_t>(), static_cast<std::uint64_t>(at(x)),
             property + ": f of " + std::to_string(x));
    bool shown = true;
    if (values.contains("y")) {
      auto const y = static_cast<long long>(values.at("y").get<std::uint64_t>());
      shown =
          property == "linear" ? !inside(x ^ y) || at(x ^ y) != (at(x) ^ at(y)) : x != y && at(x) == at(y);
    } else if (property == "involution") {
      shown = !inside(at(x)) || at(at(x)) != x;
    } else if (property == "bijective" && !window) {
      shown = !inside(at(x));
    }
    c.expect(shown, property + ": x = " + std::to_string(x) + " does not show it");
    c.drew("replayed: " + property);
  }
}

// Bases that are no multiples fail at one of the witnesses.
void replay_witnesses(Campaign& c, Json const& got, Function const& f) {
  if (!got.contains("witnesses")) return;
  for (long long base = 1; base < f.window(); ++base) {
    bool good = true, fails = false;
    for (long long x = 0; x < f.window() && good; ++x) good = f(base + x) == base + f(x);
    for (auto const& witness : got.at("witnesses")) {
      auto const x = witness.get<long long>();
      fails = fails || f(base + x) != base + f(x);
    }
    c.expect(good != fails, "base " + std::to_string(base) + " and the witnesses");
  }
  c.drew("replayed: witnesses");
}

void compare(Campaign& c, Json const& got, Properties const& p) {
  c.same(got.at("injective"), p.injective, "injective");
  c.same(got.at("bijective"), p.bijective, "bijective");
  c.same(got.at("involution"), p.involution, "involution");
  c.same(got.at("linear"), p.linear, "linear");
  c.same(got.at("kept_low_bits"), p.kept, "kept_low_bits");
  c.same(got.at("span"), p.span, "span");
  c.same(got.at("period"), p.period, "period");
}

std::vector<std::string> with(std::string const& command, std::vector<std::string> words) {
  words.insert(words.begin(), command);
  return words;
}

// True if no bit of memory belongs to two elements.
bool apart(Tile const& tile) {
  std::set<long long> bits;
  int const width = tile.bits == 0 ? 1 : tile.bits;
  for (long long i = 0; i < tile.size(); ++i)
    for (int b = 0; b < width; b += std::min(width, 8)) {
      auto const place = tile.bits == 0 ? tile.offset(i) : tile.place(i, b, 0);
      if (!bits.insert(place).second) return false;
    }
  return true;
}

// Every base below the period, byte for byte.
void compare_bases(Campaign& c, Json const& got, Bases const& bases) {
  // The good bases are the multiples of the alignment, and those that `also` names modulo the period.
  auto const alignment = got.at("alignment").get<long long>();
  std::set<long long> also;
  for (auto const& b : got.at("also")) also.insert(b.get<long long>());
  auto const repeats = got.at("period").get<long long>();
  for (long long b = 0; b < std::max(bases.period, repeats); ++b) {
    bool const tool = b % alignment == 0 || also.count(b % repeats) > 0;
    bool const model = bases.good[static_cast<std::size_t>(b % bases.period)];
    c.expect(tool == model, "base " + std::to_string(b) + " is " + (model ? "good" : "bad"));
  }
  if (!got.at("exact").get<bool>()) c.drew("good bases that are no multiples");
}

}  // namespace

long long inspect_case(Campaign& c, Random& r) {
  if (r.chance(30)) {
    auto const f = draw_function(r);
    note(c, f);
    auto const answer = c.ask(with("inspect", f.words()));
    if (answer.code == 3) return c.undecided(), 1;
    c.expect(answer.code == 0, "model: exit 0");
    std::vector<long long> values;
    for (long long x = 0; x < f.window(); ++x) values.push_back(f(x));
    auto const p = properties(values, true);
    compare(c, answer.json(), p);
    replay(c, answer.json(), values, true);
    c.same(answer.json().at("alignment"), f.alignment(), "alignment");
    return 1;
  }
  Wish wish;
  wish.element = r.chance(85);
  wish.most = 128;
  auto const tile = draw_tile(wish, r);
  note(c, tile);
  auto const answer = c.ask(with("inspect", tile.words()));
  if (answer.code == 3) return c.undecided(), 1;
  c.expect(answer.code == 0, "model: exit 0");
  auto const got = answer.json();
  c.same(got.at("injective"), apart(tile), "injective");
  std::vector<long long> values;
  bool whole = !tile.splits();
  for (long long i = 0; i < tile.size() && whole; ++i) {
    auto const place = tile.bits == 0 ? tile.offset(i) : tile.place(i, 0, 0);
    auto const unit = tile.bits == 0 ? 1 : tile.bits;
    whole = place % unit == 0;
    values.push_back(place / unit);
  }
  if (whole) {
    compare(c, got, properties(values, false));
    replay(c, got, values, false);
  }
  if (tile.bits != 0) c.same(got.at("alignment"), good_bases(tile).alignment(), "alignment");
  return 1;
}

long long align_case(Campaign& c, Random& r) {
  if (r.chance(25)) {
    auto const f = draw_function(r);
    note(c, f);
    auto const answer = c.ask(with("align", f.words()));
    if (answer.code == 3) return c.undecided(), 1;
    c.expect(answer.code == 0, "model: exit 0");
    c.same(answer.json().at("alignment"), f.alignment(), "alignment");
    replay_witnesses(c, answer.json(), f);
    return 1;
  }
  Wish wish;
  wish.element = r.chance(97);
  wish.most = r.chance(50) ? 16 : 100;
  wish.top = 10;
  auto const tile = draw_tile(wish, r);
  note(c, tile);
  auto const answer = c.ask(with("align", tile.words()));
  if (tile.bits == 0 && !tile.stages.empty()) {
    c.expect(answer.code == 2, "model: the element size is not known");
    return c.refused(), 1;
  }
  if (answer.code == 3) return c.undecided(), 1;
  c.expect(answer.code == 0, "model: exit 0");
  compare_bases(c, answer.json(), good_bases(tile));
  return 1;
}

}  // namespace reference
