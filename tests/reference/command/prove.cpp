// prove FILE.toml: obligations of every kind.
#include <algorithm>

#include "reference/model/access.hpp"
#include "reference/command/equal.hpp"

namespace reference {
namespace {

struct Obligation {
  std::string text;  ///< TOML
  bool holds = true;
  std::function<void(Campaign&, Json const&)> compare;
};

std::string toml_string(std::string const& s) { return "\"" + s + "\""; }

std::string element_line(std::vector<std::string> const& options) {
  return options.empty() ? "" : "element = " + toml_string(options[1]) + "\n";
}

Obligation access_obligation(Random& r, Campaign& c) {
  Question q;
  do {
    q = draw_question(r, true, false);
  } while (!q.tile || !cheap(q, 300) || malformed(q) || idle(q) || may_be_sliced_otherwise(q));
  note(c, q);
  Obligation o;
  o.text = "layout = " + toml_string(q.tile->text) + "\n" + element_line(q.tile->options) + "access = ";
  if (q.accesses.size() == 1 && r.chance(50)) {
    o.text += toml_string(q.accesses[0].text) + "\n";
  } else {
    o.text += "[";
    for (std::size_t i = 0; i < q.accesses.size(); ++i)
      o.text += (i ? ", " : "") + toml_string(q.accesses[i].text);
    o.text += "]\n";
  }
  if (q.at_most) o.text += "at_most = " + std::to_string(*q.at_most) + "\n";
  if (q.align) o.text += "align = " + std::to_string(*q.align) + "\n";
  for (auto const& access : q.accesses) o.holds = expected_proved(q, access) && o.holds;
  o.compare = [q](Campaign& campaign, Json const& claim) {
    if (!claim.contains("accesses") || shares(*q.tile)) return;
    for (std::size_t i = 0; i < q.accesses.size() && i < claim.at("accesses").size(); ++i)
      compare_access(campaign, q, q.accesses[i], claim.at("accesses")[i]);
  };
  c.drew("obligation: access");
  return o;
}

Obligation equal_obligation(Random& r, Campaign& c) {
  for (;;) {
    auto const p = draw_pair(r, c);
    auto const e = equality(p);
    if (e.refused || (p.left.function && p.right.function && p.bits != 0 && p.bits < 8)) continue;
    Obligation o;
    o.text = "equal = [" + toml_string(p.left.text()) + ", " + toml_string(p.right.text()) + "]\n" +
             element_line(p.options);
    if (p.align) o.text += "align = " + std::to_string(*p.align) + "\n";
    o.holds = e.equal;
    c.drew("obligation: equal");
    return o;
  }
}

Obligation bijective_obligation(Random& r, Campaign& c) {
  Obligation o;
  c.drew("obligation: bijective");
  if (r.chance(30)) {
    auto f = draw_function(r);
    o.text = "bijective = " + toml_string(f.text) + "\n" + element_line(f.options);
    std::set<long long> values;
    for (long long x = 0; x < f.window(); ++x) values.insert(f(x));
    o.holds = static_cast<long long>(values.size()) == f.window();
    if (!o.holds)
      o.compare = [f](Campaign& campaign, Json const& claim) {
        auto const& at = claim.at("counterexample").at("values");
        auto const x = at.at("x").get<std::uint64_t>(), y = at.at("y").get<std::uint64_t>();
        auto const low = static_cast<std::uint64_t>(f.window() - 1);
        // Above the window every bit stays.
        campaign.expect(x != y && (x & ~low) == (y & ~low) &&
                            f(static_cast<long long>(x & low)) == f(static_cast<long long>(y & low)),
                        "x and y do not share a place");
      };
    return o;
  }
  for (;;) {
    auto const tile = draw_tile(Wish{}, r);
    if (tile.splits()) continue;
    bool whole = true;
    std::set<long long> values;
    for (long long i = 0; i < tile.size(); ++i) {
      auto const place = tile.place(i, 0, 0);
      whole = whole && place % tile.bits == 0;
      values.insert(place / tile.bits);
    }
    if (!whole) continue;
    o.text = "bijective = " + toml_string(tile.text) + "\n" + element_line(tile.options);
    o.holds = static_cast<long long>(values.size()) == tile.size() && *values.begin() == 0 &&
              *values.rbegin() == tile.size() - 1;
    if (!o.holds)
      o.compare = [tile](Campaign& campaign, Json const& claim) {
        auto const& at = claim.at("counterexample").at("values");
        auto const place = [&](char const* name) {
          return tile.place(at.at(name).get<long long>(), 0, 0) / tile.bits;
        };
        auto const out = [&](long long offset) { return offset < 0 || offset >= tile.size(); };
        campaign.expect(
            at.contains("y") ? at.at("x") != at.at("y") && place("x") == place("y") : out(place("x")),
            "the counterexample shows nothing");
      };
    return o;
  }
}

Obligation aligned_obligation(Random& r, Campaign& c) {
  Obligation o;
  c.drew("obligation: aligned");
  auto const to = r.chance(80) ? 1ll << r.between(0, 11) : r.between(1, 700);
  if (r.chance(40)) {
    auto const f = draw_function(r);
    o.text = "aligned = {layout = " + toml_string(f.text) + ", to = " + std::to_string(to) + "}\n" +
             element_line(f.options);
    o.holds =
        f.identity() || (to % f.alignment() == 0 && to * 8 % f.bits == 0);  // the identity has no element
    o.compare = [f, to, holds = o.holds](Campaign& campaign, Json const& claim) {
      if (holds) return;
      auto const base = claim.at("counterexample").at("values").at("base").get<long long>();
      campaign.expect(base % to == 0 && (base % f.alignment() != 0 || base * 8 % f.bits != 0),
                      "this base is good");
    };
    return o;
  }
  Wish wish;
  wish.top = 10;
  wish.most = 32;
  auto const tile = draw_tile(wish, r);
  auto const bases = good_bases(tile);
  o.text = "aligned = {layout = " + toml_string(tile.text) + ", to = " + std::to_string(to) + "}\n" +
           element_line(tile.options);
  for (long long k = 0; k < bases.period; ++k)
    o.holds = o.holds && bases.good[static_cast<std::size_t>(k * to % bases.period)];
  o.compare = [bases, to, holds = o.holds](Campaign& campaign, Json const& claim) {
    if (holds) return;
    auto const base = claim.at("counterexample").at("values").at("base").get<long long>();
    campaign.expect(base % to == 0 && !bases.good[static_cast<std::size_t>(base % bases.period)],
                    "this base is good");
  };
  return o;
}

Obligation always_obligation(Random& r, Campaign& c) {
  Obligation o;
  c.drew("obligation: always");
  if (r.chance(40)) {
    auto const s = draw_swizzle(r, 9);
    auto const block = 1ll << r.between(0, 9);
    auto const form = r.below(3);
    auto const call = "Sw" + s.plain() + "(x)";
    std::string const n = std::to_string(block);
    o.text = form == 0   ? call + " / " + n + " == x / " + n
             : form == 1 ? call + " % " + n + " == x % " + n
                         : "Sw" + s.plain() + "(" + call + ") == x";
    o.text = "always = " + toml_string(o.text) + "\nfor = {x = \"all\"}\n";
    auto const true_at = [s, block, form](unsigned long long x) {
      auto const window = (1ull << s.top()) - 1;
      auto const f = [&](unsigned long long v) {
        return (v & ~window) | static_cast<unsigned long long>(s(static_cast<long long>(v & window)));
      };
      auto const size = static_cast<unsigned long long>(block);
      return form == 0 ? f(x) / size == x / size : form == 1 ? f(x) % size == x % size : f(f(x)) == x;
    };
    for (unsigned long long x = 0; x < 1ull << s.top(); ++x) o.holds = o.holds && true_at(x);
    o.compare = [true_at, holds = o.holds](Campaign& campaign, Json const& claim) {
      if (!holds)
        campaign.expect(!true_at(claim.at("counterexample").at("values").at("x").get<std::uint64_t>()),
                        "it holds at this x");
    };
    return o;
  }
  auto const first = r.below(4), last = first + r.below(40);
  bool const two = r.chance(50);
  std::vector<std::string> names{"j"};
  if (two) names.emplace_back("k");
  auto const a = draw_expression(r, names, 3),
             b = r.chance(60) ? number(r.below(200)) : draw_expression(r, names, 2);
  auto const claim = apply(r.pick({"==", "!=", "<", "<=", ">", ">="}), a, b);
  for (auto j = first; j <= last; ++j)
    for (long long k = 0; k <= (two ? 7 : 0); ++k) o.holds = o.holds && claim({{"j", j}, {"k", k}}) != 0;
  o.text = "always = " + toml_string(claim.text(r)) + "\nfor = {j = \"" + std::to_string(first) + ".." +
           std::to_string(last) + "\"" + (two ? ", k = \"0..7\"" : "") + "}\n";
  o.compare = [claim, two, first, last, holds = o.holds](Campaign& campaign, Json const& answer) {
    if (holds) return;
    auto const& at = answer.at("counterexample").at("values");
    auto const j = at.at("j").get<long long>(), k = two ? at.at("k").get<long long>() : 0;
    campaign.expect(j >= first && j <= last && claim({{"j", j}, {"k", k}}) == 0, "it holds at these values");
  };
  return o;
}

}  // namespace

long long prove_case(Campaign& c, Random& r) {
  std::vector<Obligation> all;
  std::vector<bool> turned;
  std::string text;
  auto const count = r.between(4, 10);
  for (long long n = 0; n < count; ++n) {
    auto const kind = r.below(100);
    all.push_back(kind < 35   ? access_obligation(r, c)
                  : kind < 55 ? equal_obligation(r, c)
                  : kind < 70 ? bijective_obligation(r, c)
                  : kind < 85 ? aligned_obligation(r, c)
                              : always_obligation(r, c));
    turned.push_back(r.chance(30));
    text += "[[obligation]]\nname = \"" + std::to_string(n) + "\"\n" + all.back().text +
            (turned.back() ? "expect = \"refuted\"\n" : "") + "\n";
  }
  auto const answer = c.ask({"prove", c.file("o.toml", text), "--jobs", "1"});
  c.expect(answer.code == 0 || answer.code == 1 || answer.code == 3, "model: exit 0 or 1");
  auto const got = answer.json();
  auto const& claims = got.at("claims");
  c.same(claims.size(), all.size(), "claims");
  bool holds = true, open = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const verdict = claims[i].at("verdict").get<std::string>();
    if (verdict == "unknown") {
      c.undecided();
      open = true;
      continue;
    }
    bool const expected = all[i].holds != turned[i];
    holds = holds && expected;
    c.same(verdict, expected ? "proved" : "refuted", "verdict of " + std::to_string(i) + ": " + all[i].text);
    if (all[i].compare) all[i].compare(c, claims[i]);
  }
  c.same(answer.code, !holds ? 1 : open ? 3 : 0, "exit code");
  return count;
}

}  // namespace reference
