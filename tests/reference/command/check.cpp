// check: every origin and every base, by plain loops, and every lane that the tool shows.
#include <algorithm>
#include <numeric>

#include "reference/model/access.hpp"

namespace reference {

Shot shoot(Question const& q, Access const& access, Origin const& origin, long long base) {
  return shoot(access, q.tile ? &*q.tile : nullptr, q.function ? &q.function->swizzle : nullptr, origin,
               base);
}

long long base_step(Question const& q, Access const& access) {
  // Bases that the instruction cannot take are none of the question.
  if (q.align) return std::lcm(*q.align, access.op.width);
  long long own = 1;
  if (q.function) own = q.function->alignment();
  if (q.tile && !q.tile->stages.empty()) own = good_bases(*q.tile).alignment();
  return std::lcm(std::max(own, 16ll), access.op.width);
}

long long base_end(Question const& q) {
  // An amount added after the swizzle rotates the banks and changes nothing else.
  long long end = 128;
  if (q.function) end = std::max(end, q.function->window());
  if (q.tile && q.tile->flagged) end = std::max(end, q.tile->period_bytes());
  return end;
}

bool cheap(Question const& q, long long most) {
  long long work = 0;
  for (auto const& access : q.accesses) {
    auto const step = base_step(q, access);
    work += static_cast<long long>(origins(access, nullptr).size()) * (std::lcm(step, base_end(q)) / step);
  }
  return work <= most;
}

bool shares(Tile const& tile) {
  std::set<long long> seen;
  for (long long i = 0; i < tile.size(); ++i)
    for (int bit = 0; bit < tile.bits; bit += std::min(8, tile.bits))
      if (!seen.insert(tile.place(i, bit, 0)).second) return true;
  return false;
}

namespace {

long long number_after(std::string const& text, std::string const& before) {
  auto const at = text.rfind(before);
  return at == std::string::npos ? 1 : std::atoll(text.c_str() + at + before.size());
}

struct Enumeration {
  bool nothing = true;
  bool merges = false;           ///< H4: loads of equal pairs
  bool equal_addresses = false;  ///< two lanes of a load of 8 or 16 bytes have one address
  bool idle_groups = false;
  std::optional<std::string> misfit;
  std::string why;
  int worst = 0;
  long long total = 0;  ///< over all origins, at the base where that is most
  long long bases = 0;
  std::set<std::vector<int>> degrees;
  std::set<std::pair<long long, int>> reached;
};

Enumeration enumerate(Question const& q, Access const& access, long long step) {
  Enumeration e;
  auto const end = std::lcm(step, base_end(q));
  e.bases = end / step;
  std::map<long long, long long> totals;
  for (auto const& origin : origins(access, nullptr)) {
    for (long long base = 0; base < end; base += step) {
      auto const shot = shoot(q, access, origin, base);
      if (!shot.fit.fits) {
        e.nothing = false;
        e.why = shot.fit.why;
        e.misfit = "lane " + std::to_string(shot.fit.lane) + ": " + shot.fit.why;
        return e;
      }
      for (auto const& lane : shot.warp)
        if (lane) e.nothing = false;
      auto const price = cost(access.op, shot.warp);
      e.merges = e.merges || price.merged;
      if (access.op.kind == Instruction::load && access.op.width >= 8) {
        std::set<long long> addresses;
        for (auto const& lane : shot.warp)
          e.equal_addresses = e.equal_addresses || (lane && !addresses.insert(*lane).second);
      }
      e.idle_groups = e.idle_groups || std::count(price.degree.begin(), price.degree.end(), 0) > 0;
      if (price.wavefronts > e.worst) e.degrees.clear();
      e.worst = std::max(e.worst, price.wavefronts);
      if (price.wavefronts == e.worst) e.degrees.insert(price.degree);
      totals[base] += price.wavefronts;
      if (base == 0) e.reached.insert(shot.bytes.begin(), shot.bytes.end());
    }
  }
  for (auto const& [base, total] : totals) e.total = std::max(e.total, total);
  return e;
}

bool collides_nowhere(std::vector<int> const& degree) {
  return *std::max_element(degree.begin(), degree.end()) <= 1;
}

// The lanes of a counterexample, computed anew.
void replay(Campaign& c, Question const& q, Access const& access, Json const& got, Enumeration const& e) {
  auto const& shown = got.at("counterexample");
  c.expect(shown.is_object(), "model: refuted, so a counterexample");
  Origin origin;
  for (auto const& range : access.ranges)
    // A variable with one value need not be shown.
    origin[range.name] = shown.at("origin").contains(range.name)
                             ? shown.at("origin").at(range.name).get<long long>()
                             : range.first;
  auto const base = shown.at("base").get<long long>();
  auto const shot = shoot(q, access, origin, base);
  if (e.misfit) {
    c.expect(!shot.fit.fits, "the origin and base that are shown fit");
    auto const lane = shown.contains("lane") ? shown.at("lane").get<std::size_t>()
                                             : shown.at("lanes").at(0).at("lane").get<std::size_t>();
    c.expect(!shot.bad.at(lane).empty(), "lane " + std::to_string(lane) + " fits");
    return;
  }
  auto const price = cost(access.op, shot.warp, true);
  c.same(got.at("wavefronts"), price.wavefronts, "wavefronts at the origin and base that are shown");
  c.same(got.at("degree"), price.degree, "degree at the origin and base that are shown");
  if (collides_nowhere(price.degree)) {
    // Fewer are allowed than a degree of 1 costs: no lane is at fault.
    c.drew("fewer allowed than a degree of 1 costs");
    c.expect(shown.at("lanes").empty(), "no lane is at fault");
    return;
  }
  auto const phase = shown.at("phase").get<int>(), bank = shown.at("bank").get<int>();
  Meeting const* meeting = nullptr;
  for (auto const& m : price.meetings)
    if (m.group == phase && m.bank == bank) meeting = &m;
  if (price.degree.at(static_cast<std::size_t>(phase)) <= 1) return;
  c.expect(meeting != nullptr, "nothing meets in this phase and bank");
  std::set<long long> words, lanes;
  for (auto const& lane : shown.at("lanes")) {
    auto const l = lane.at("lane").get<std::size_t>();
    c.expect(shot.warp.at(l).has_value(), "lane " + std::to_string(l) + " is not active");
    c.same(lane.at("address"), *shot.warp[l], "address of lane " + std::to_string(l));
    auto const& at = lane.at("coordinate");
    if (access.form == Access::plain_index && at.size() == 1 && shot.coordinate[l].size() > 1)
      c.same(at[0], q.tile->index(shot.coordinate[l]), "index of lane " + std::to_string(l));
    else if (access.form != Access::address)
      c.same(at, shot.coordinate[l], "coordinate of lane " + std::to_string(l));
    auto const word = lane.at("word").get<long long>();
    // Addresses below 0 have words that wrap.
    auto const byte = static_cast<long long>(static_cast<unsigned long long>(word) * 4);
    c.expect(
        byte < *shot.warp[l] + access.op.width && byte + 4 > *shot.warp[l] && ((word % 32) + 32) % 32 == bank,
        "lane " + std::to_string(l) + " does not touch this word of this bank");
    words.insert(word);
    lanes.insert(static_cast<long long>(l));
  }
  auto const slots = access.op.kind == Instruction::async ? lanes.size() : words.size();
  c.same(slots, price.degree[static_cast<std::size_t>(phase)], "what meets in the bank that is shown");
}

}  // namespace

int worst_wavefronts(Question const& q, Access const& access) {
  auto const e = enumerate(q, access, base_step(q, access));
  return e.misfit || e.nothing ? 0 : e.worst;
}

bool countable(Question const& q, Access const& access) {
  auto const e = enumerate(q, access, base_step(q, access));
  bool const wide_load = access.op.kind == Instruction::load && access.op.width >= 8;
  return !e.misfit && !(wide_load && access.condition) && !e.equal_addresses && !e.merges && !e.idle_groups;
}

bool expected_proved(Question const& q, Access const& access) {
  auto const e = enumerate(q, access, base_step(q, access));
  if (e.misfit || e.nothing) return false;
  if (q.tile && (shares(without_repeats(*q.tile)) || (access.op.writes() && shares(*q.tile)))) return false;
  return e.worst <= (q.at_most ? *q.at_most : access.op.ideal());
}

bool compare_access(Campaign& c, Question const& q, Access const& access, Json const& got) {
  auto const step = base_step(q, access);
  auto const e = enumerate(q, access, step);
  auto const verdict = got.at("verdict").get<std::string>();
  if (e.merges) c.drew("merged loads");
  if (e.nothing) {
    c.drew("nothing is accessed");
    c.same(verdict, "refuted", "no lane is ever active; verdict");
    return false;
  }
  if (e.misfit) {
    c.drew("a lane that does not fit: " + e.why);
    c.same(verdict, "refuted", "model: " + *e.misfit + "; verdict");
    replay(c, q, access, got, e);
    return false;
  }
  c.same(number_after(got.at("domain").get<std::string>(), "every base that is a multiple of "), step,
         "the bases of the domain");
  auto const allowed = q.at_most ? *q.at_most : access.op.ideal();
  c.same(got.at("wavefronts"), e.worst, "wavefronts");
  c.same(got.at("ideal"), access.op.ideal(), "ideal");
  c.same(got.at("excess"), std::max(0, e.worst - access.op.ideal()), "excess");
  c.same(verdict, e.worst <= allowed ? "proved" : "refuted", "verdict");
  c.expect(e.degrees.count(got.at("degree").get<std::vector<int>>()) == 1, "no worst case has these degrees");
  c.same(got.at("total"), e.total, "total");
  if (got.at("coverage").is_object() && q.tile && q.tile->size() * q.tile->bits % 8 == 0 &&
      !shares(*q.tile)) {
    auto const reached = static_cast<long long>(e.reached.size());
    c.same(got.at("coverage").at("of"), q.tile->size() * q.tile->bits / 8, "coverage, of");
    c.same(got.at("coverage").at("reached"), q.tile->bits < 8 ? reached * q.tile->bits / 8 : reached,
           "coverage, reached");
  }
  if (e.worst > allowed) replay(c, q, access, got, e);
  return e.worst <= allowed;
}

bool idle(Question const& q) {
  for (auto const& access : q.accesses) {
    bool any = false;
    for (auto const& origin : origins(access, nullptr))
      for (int lane = 0; lane < 32 && !any; ++lane) {
        auto values = origin;
        values["lane"] = lane;
        any = !access.condition || (*access.condition)(values) != 0;
      }
    if (!any) return true;
  }
  return false;
}

bool malformed(Question const& q) {
  for (auto const& access : q.accesses) {
    if (access.form != Access::thread_value) continue;
    auto const& tv = access.tv;
    if (access.op.is_matrix() && tv.layout.modes[0].size() % 32 != 0) return true;
    if (tv.layout.cosize() > tv.rows * tv.cols) return true;
  }
  return false;
}

/// True if two steps of a mode, or one and what is reached before, have a bit in common below `top`.
bool overlaps(Mode const& mode, long long top, long long reached) {
  bool carries = false;
  auto const walk = [&](auto const& self, Mode const& part) -> void {
    for (auto const& each : part.modes) self(self, each);
    long long bits = 0;
    for (long long i = 0; !part.tuple && i < part.extent; ++i) bits |= i * part.stride;
    bool const power = (part.stride & (part.stride - 1)) == 0;
    carries = carries || (reached & bits & (top - 1)) != 0 || (bits != 0 && !power);
    reached |= bits;
  };
  walk(walk, mode);
  return carries;
}

/// True if steps of a tile's layout, of the threads and values, or what is added before a swizzle, meet below the swizzle's top.
bool may_carry(Tile const& tile, Access const& access) {
  long long top = 0, reached = 0;
  for (auto const& stage : tile.stages) {
    if (!stage.is_swizzle) return true;  // layouts of layouts: not looked at
    if (stage.swizzle.bits != 0) top = std::max(top, 1ll << stage.swizzle.top());
    reached |= stage.add;
  }
  constexpr long long everywhere = 1ll << 62;
  return top != 0 && !tile.flagged &&
         (overlaps(tile.inner, top, reached) || overlaps(access.tv.layout, everywhere, 0));
}

bool may_be_sliced_otherwise(Question const& q) {
  return q.tile && std::any_of(q.accesses.begin(), q.accesses.end(), [&](Access const& a) {
           return a.form == Access::thread_value && may_carry(*q.tile, a);
         });
}

long long check_case(Campaign& c, Random& r) {
  Question q;
  for (;;) {
    q = draw_question(r, false, false);
    if (cheap(q, 600)) break;
  }
  note(c, q);
  auto words = q.words();
  words.insert(words.begin(), "check");
  auto const answer = c.ask(words);
  if (answer.code == 3) return c.undecided(), 1;
  if (answer.code == 2 && idle(q)) {
    c.drew("nothing is accessed");
    return c.refused(), 1;
  }
  if (answer.code == 2 && malformed(q)) {
    c.drew("a thread-value layout that is none");
    return c.refused(), 1;
  }
  bool const sliced =
      answer.out.find("CuTe's partition of this layout may be another function") != std::string::npos;
  if (answer.code == 2 && sliced && may_be_sliced_otherwise(q)) {
    c.drew("offsets that may carry under a swizzle, which CuTe slices otherwise");
    return c.refused(), 1;
  }
  c.expect(answer.code == 0 || answer.code == 1, "model: exit 0 or 1");
  auto const json = answer.json();
  bool all = true;
  if (q.tile && shares(without_repeats(*q.tile))) {
    // Two elements in one place: no cost means anything.
    c.drew("not one-to-one");
    c.same(json.at("verdict"), "refuted", "two elements share a place; verdict");
    c.same(answer.code, 1, "exit code");
    return 1;
  }
  for (auto const& access : q.accesses)
    if (q.tile && access.op.writes() && shares(*q.tile)) {
      c.drew("writes to a stride of 0");
      c.same(json.at("verdict"), "refuted", "what is written twice; verdict");
      c.same(answer.code, 1, "exit code");
      return 1;
    }
  auto const& accesses = json.at("accesses");
  c.same(accesses.size(), q.accesses.size(), "accesses");
  for (std::size_t i = 0; i < q.accesses.size(); ++i) {
    c.same(accesses[i].at("access"), q.accesses[i].text, "the access's text");
    all = compare_access(c, q, q.accesses[i], accesses[i]) && all;
  }
  c.same(json.at("verdict"), all ? "proved" : "refuted", "verdict of all");
  c.same(answer.code, all ? 0 : 1, "exit code");
  return 1;
}

}  // namespace reference
