#include "race_paths.hpp"

#include <algorithm>

namespace swizproof::kernel_detail {

using program::Action;
using program::Block;
using program::Flow;
using program::MemoryAccess;
using program::Program;
using program::Source;
using program::Special;
using program::Step;

namespace {

constexpr std::size_t most_path_states = 20'000;
constexpr std::size_t most_constants =
    130;  ///< that a register has on all paths, before fewer bits of it are told apart
constexpr unsigned most_joins = 3;
constexpr std::uint32_t bits_told[] = {6, 4, 3, 2};  ///< apart, then
constexpr unsigned most_runs = 20;                   ///< that end with too many states

bool is_of_mbarrier(Program const& p, MemoryAccess const& m) {
  return m.operand >= 0 &&
         p.operands[static_cast<std::size_t>(m.operand)].role == program::OperandRole::barrier;
}

/// Registers that grow in a loop by constants, and that it does not set to another number.
std::vector<bool> counters_of(Program const& program, Flow const& flow) {
  std::vector<std::vector<std::uint32_t>> from(program.widths.size());  // sums and copies
  std::vector<std::vector<std::int32_t>> grows(program.widths.size());  // loops of its sums
  std::vector<std::set<std::int32_t>> set(program.widths.size());       // loops that set it to a constant
  for (std::uint32_t const b : flow.order)
    for (std::uint32_t s = program.blocks[b].first; s < program.blocks[b].last; ++s) {
      Step const& step = program.steps[s];
      bool const sum = step.action == Action::add && step.a.constant != step.b.constant;
      bool const copy =
          step.action == Action::copy || step.action == Action::zext || step.action == Action::trunc;
      if (step.dst < 0 || (!sum && !copy)) continue;
      Source const& other = step.a.constant && sum ? step.b : step.a;
      auto const to = static_cast<std::size_t>(step.dst);
      if (other.constant)
        set[to].insert(flow.loop[b]);
      else
        from[to].push_back(static_cast<std::uint32_t>(other.value));
      if (sum && flow.loop[b] >= 0) grows[to].push_back(flow.loop[b]);
    }
  std::vector<bool> out(program.widths.size(), false);
  for (std::uint32_t r = 0; r < out.size(); ++r) {
    if (grows[r].empty()) continue;
    std::set<std::uint32_t> seen;  // registers that it is a sum of
    std::vector<std::uint32_t> work = from[r];
    while (!work.empty()) {
      std::uint32_t const at = work.back();
      work.pop_back();
      if (seen.insert(at).second) work.insert(work.end(), from[at].begin(), from[at].end());
    }
    if (seen.count(r) == 0) continue;
    bool const reset = std::any_of(seen.begin(), seen.end(), [&](std::uint32_t at) {
      return std::any_of(grows[r].begin(), grows[r].end(),
                         [&](std::int32_t l) { return set[at].count(l) != 0; });
    });
    if (reset) continue;
    out[r] = true;
    for (std::uint32_t const at : seen) out[at] = true;
  }
  return out;
}

/// Numbers the truths that are a function of the thread and the launch alone, where several steps have one.
std::vector<std::int32_t> truths_of(Program const& program, Flow const& flow) {
  std::vector<unsigned> writers(program.widths.size(), 0);
  std::vector<std::int64_t> number(program.widths.size(), -1);  // of a register's function
  for (Step const& s : program.steps)
    if (s.dst >= 0) ++writers[static_cast<std::size_t>(s.dst)];
  std::map<std::vector<std::uint64_t>, std::int64_t> functions;
  std::map<std::int64_t, std::vector<std::uint32_t>> steps;
  std::vector<bool> in_loop(program.steps.size(), false);
  std::vector<bool> all_lanes(program.widths.size(), false);  // registers with the mask of all lanes
  std::int64_t next = 1;
  for (std::uint32_t const b :
       flow.order)  // a register is written before it is read, if its one writer dominates
    for (std::uint32_t s = program.blocks[b].first; s < program.blocks[b].last; ++s) {
      Step const& step = program.steps[s];
      in_loop[s] = in_loop[s] || flow.loop[b] >= 0;
      bool const param =
          step.action == Action::load && static_cast<program::Space>(step.extra) == program::Space::param;
      bool const special = step.action == Action::special && step.extra < program::first_uniform_special;
      auto const is_all = [&](Source const& mask) {
        return mask.constant ? mask.value == low_bits(32) : all_lanes[mask.value];
      };
      bool const one = step.dst >= 0 && writers[static_cast<std::size_t>(step.dst)] == 1;
      if (one && step.action == Action::copy) all_lanes[static_cast<std::size_t>(step.dst)] = is_all(step.a);
      bool const elects =
          step.action == Action::voted && program.names[step.extra].starts_with("elect") && is_all(step.a);
      bool pure = step.dst >= 0 && (program::computes(step.action) || special || elects ||
                                    step.action == Action::symbol || param);
      std::vector<std::uint64_t> key{static_cast<std::uint64_t>(step.action), step.width, step.extra};
      for (Source const& from : {elects ? Source{} : step.a, step.b, step.c}) {
        std::int64_t const of = from.constant ? 0 : number[from.value];
        pure = pure && of >= 0;
        key.insert(key.end(),
                   {from.constant ? 1U : 0U, from.constant ? from.value : static_cast<std::uint64_t>(of)});
      }
      if (!pure) continue;
      auto const [at, fresh] = functions.try_emplace(std::move(key), next);
      next += fresh ? 1 : 0;
      if (writers[static_cast<std::size_t>(step.dst)] == 1)
        number[static_cast<std::size_t>(step.dst)] = at->second;
      if (step.width == 1) steps[at->second].push_back(s);
    }
  std::vector<std::int32_t> out(program.steps.size(), -1);
  for (auto const& [function, all] : steps)
    if (all.size() > 1 || std::any_of(all.begin(), all.end(), [&](std::uint32_t s) { return in_loop[s]; }))
      for (std::uint32_t const s : all) out[s] = static_cast<std::int32_t>(function);
  return out;
}

}  // namespace

ThreadPaths::ThreadPaths(Program const& program, Flow const& flow, execution::Execution const& execution,
                         BlockShapes const& shapes, std::vector<SharedAccess> const& accesses,
                         std::vector<CopyOrder> const& orders)
    : program_(program),
      flow_(flow),
      accesses_(accesses),
      execution_(execution),
      shapes_(shapes),
      most_(threads_of(shapes)),
      orders_(program.blocks.size()),
      truth_of_(truths_of(program, flow)) {
  for (execution::Leaf const& l : execution.leaves)
    if (l.kind == execution::Leaf::Kind::shuffle && l.step != ~0U) shuffled_[l.step].push_back(l.args[0]);
  for (CopyOrder const& o : orders) orders_[o.at.block].push_back(o);
  for (std::vector<CopyOrder>& of : orders_)
    std::sort(of.begin(), of.end(), [](CopyOrder const& a, CopyOrder const& b) {
      return std::pair(a.at.step, a.at.instruction) < std::pair(b.at.step, b.at.instruction);
    });
  slice();
  find_live();
  find_live_truths();
}

bool ThreadPaths::is_wait(std::uint32_t access) const {
  std::string const& op = program_.accesses[access].op;
  return op.starts_with("mbarrier") && op.find(".parity") != std::string::npos;
}

/// Registers that these depend on, with themselves.
void ThreadPaths::add_sources(std::vector<std::uint32_t> work, std::vector<bool>& into) const {
  std::vector<std::vector<std::uint32_t>> writers(program_.widths.size());
  for (std::uint32_t s = 0; s < program_.steps.size(); ++s)
    if (program_.steps[s].dst >= 0) writers[static_cast<std::size_t>(program_.steps[s].dst)].push_back(s);
  while (!work.empty()) {
    std::uint32_t const r = work.back();
    work.pop_back();
    if (into[r]) continue;
    into[r] = true;
    for (std::uint32_t const w : writers[r]) {
      Step const& s = program_.steps[w];
      bool const shuffles = s.action == Action::shuffle;  // the lane and its bounds
      if (!program::computes(s.action) && !shuffles) continue;
      for (Source const& from : {shuffles ? Source{} : s.a, s.b, s.c})
        if (!from.constant) work.push_back(static_cast<std::uint32_t>(from.value));
    }
  }
}

/// Blocks whose branch decides whether an mbarrier is used.
std::vector<bool> ThreadPaths::near_mbarriers() const {
  std::vector<bool> uses(program_.blocks.size(), false), out(program_.blocks.size(), false);
  for (std::uint32_t const b : flow_.order)
    for (std::uint32_t s = program_.blocks[b].first; s < program_.blocks[b].last; ++s)
      uses[b] = uses[b] || (program_.steps[s].action == Action::access &&
                            is_of_mbarrier(program_, program_.accesses[program_.steps[s].extra]));
  for (std::uint32_t const b : flow_.order) {
    if (program_.blocks[b].condition < 0) continue;
    std::vector<bool> seen(program_.blocks.size(), false);
    std::vector<std::uint32_t> work = program::successors(program_.blocks[b]);
    while (!work.empty() && !out[b]) {
      std::uint32_t const at = work.back();
      work.pop_back();
      if (seen[at] || static_cast<std::int32_t>(at) == flow_.ipdom[b]) continue;
      seen[at] = true;
      out[b] = uses[at];
      for (std::uint32_t const to : program::successors(program_.blocks[at])) work.push_back(to);
    }
  }
  return out;
}

/// Registers that depend on constants and on addresses of arrays alone: whether an array is aligned, say.
std::vector<bool> ThreadPaths::of_constants() const {
  std::vector<bool> out(program_.widths.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (Step const& s : program_.steps) {
      if (s.dst < 0 || !out[static_cast<std::size_t>(s.dst)]) continue;
      bool constant = program::computes(s.action) || s.action == Action::symbol;
      for (Source const& from : {s.a, s.b, s.c}) constant = constant && (from.constant || out[from.value]);
      changed = changed || !constant;
      out[static_cast<std::size_t>(s.dst)] = constant;
    }
  }
  return out;
}

void ThreadPaths::slice() {
  std::vector<std::uint32_t> all, deciding;
  auto const add = [](std::vector<std::uint32_t>& to, Source const& s) {
    if (!s.constant) to.push_back(static_cast<std::uint32_t>(s.value));
  };
  for (std::size_t a = 0; a < program_.accesses.size(); ++a) {
    MemoryAccess const& m = program_.accesses[a];
    if (accesses_[a].role == RaceRole::none) continue;
    bool const decides = is_of_mbarrier(program_, m);
    add(decides ? deciding : all, m.address);
    if (m.operand >= 0)
      if (auto const& size = program_.operands[static_cast<std::size_t>(m.operand)].size)
        add(decides ? deciding : all, *size);
    if (m.guard >= 0) (decides ? deciding : all).push_back(static_cast<std::uint32_t>(m.guard));
  }
  std::vector<bool> const near = near_mbarriers();
  std::vector<bool> const constant = of_constants();
  for (std::uint32_t const b : flow_.order)
    if (std::int32_t const c = program_.blocks[b].condition; c >= 0 && constant[static_cast<std::size_t>(c)])
      all.push_back(static_cast<std::uint32_t>(c));
  std::vector<bool> exact(program_.widths.size(), false), any = exact;
  std::vector<bool> data = exact;
  add_sources(deciding, data);
  for (std::uint32_t const b : flow_.order)
    if (program_.blocks[b].condition >= 0 && near[b])
      deciding.push_back(static_cast<std::uint32_t>(program_.blocks[b].condition));
  add_sources(deciding, exact);
  all.insert(all.end(), deciding.begin(), deciding.end());
  add_sources(all, any);
  std::vector<bool> const counts = counters_of(program_, flow_);
  index_.assign(program_.widths.size(), -1);
  for (std::uint32_t r = 0; r < any.size(); ++r) {
    if (!any[r]) continue;
    index_[r] = static_cast<std::int32_t>(told_.size());
    told_.push_back(exact[r] ? 64 : 0);
    splits_.push_back(exact[r] && program_.widths[r] == 1);
    use_.push_back(!data[r] ? Use::steers : counts[r] ? Use::counts : Use::other);
  }
  seen_values_.resize(told_.size());
  for (std::uint32_t const b : flow_.order)
    for (std::uint32_t s = program_.blocks[b].first; s < program_.blocks[b].last; ++s)
      if (std::int32_t const dst = program_.steps[s].dst;
          dst >= 0 && index_[static_cast<std::size_t>(dst)] >= 0)
        for (std::int32_t const l : flow_.around(flow_.loop[b]))
          changes_.insert({flow_.loops[static_cast<std::size_t>(l)].header,
                           static_cast<std::size_t>(index_[static_cast<std::size_t>(dst)])});
}

/// Registers that are read behind the beginning of a block before they are written.
void ThreadPaths::find_live() {
  std::size_t const count = told_.size();
  live_.assign(program_.blocks.size(), std::vector<bool>(count, false));
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = flow_.order.rbegin(); at != flow_.order.rend(); ++at) {
      Block const& b = program_.blocks[*at];
      std::vector<bool> live(count, false);
      auto const read = [&](std::int64_t r) {
        if (r >= 0 && index_[static_cast<std::size_t>(r)] >= 0)
          live[static_cast<std::size_t>(index_[static_cast<std::size_t>(r)])] = true;
      };
      for (std::uint32_t const to : program::successors(b))
        for (std::size_t k = 0; k < count; ++k) live[k] = live[k] || live_[to][k];
      read(b.condition);
      for (std::uint32_t s = b.last; s-- > b.first;) {
        Step const& step = program_.steps[s];
        if (step.dst >= 0 && index_[static_cast<std::size_t>(step.dst)] >= 0)
          live[static_cast<std::size_t>(index_[static_cast<std::size_t>(step.dst)])] = false;
        if (step.action == Action::access) {
          MemoryAccess const& m = program_.accesses[step.extra];
          read(m.guard);
          if (!m.address.constant) read(static_cast<std::int64_t>(m.address.value));
          if (m.operand >= 0)
            if (auto const& size = program_.operands[static_cast<std::size_t>(m.operand)].size;
                size && !size->constant)
              read(static_cast<std::int64_t>(size->value));
        } else {
          for (Source const& from : {step.a, step.b, step.c})
            if (!from.constant) read(static_cast<std::int64_t>(from.value));
        }
      }
      changed = changed || live != live_[*at];
      live_[*at] = std::move(live);
    }
  }
}

/// Finds which numbered truths a step behind the beginning of each block has.
void ThreadPaths::find_live_truths() {
  live_truths_.assign(program_.blocks.size(), {});
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = flow_.order.rbegin(); at != flow_.order.rend(); ++at) {
      std::set<std::uint32_t>& live = live_truths_[*at];
      std::size_t const before = live.size();
      for (std::uint32_t s = program_.blocks[*at].first; s < program_.blocks[*at].last; ++s)
        if (truth_of_[s] >= 0) live.insert(static_cast<std::uint32_t>(truth_of_[s]));
      for (std::uint32_t const to : program::successors(program_.blocks[*at]))
        live.insert(live_truths_[to].begin(), live_truths_[to].end());
      changed = changed || live.size() != before;
    }
  }
}

PathValue ThreadPaths::value(State const& state, Source const& source) const {
  if (source.constant) return path_number(source.value);
  std::int32_t const k = index_[source.value];
  return k < 0 ? any_word(program_.widths[source.value]) : state.values[static_cast<std::size_t>(k)];
}

bool ThreadPaths::follow(PathObserver& observer) {
  warp_.reset();
  if (!shapes_.given && shapes_.dimensions != 1) return follow_warp(observer);
  for (warp_ = 0; *warp_ * 32 < most_; ++*warp_)
    if (!follow_warp(observer)) return false;
  return true;
}

bool ThreadPaths::follow_warp(PathObserver& observer) {
  while (!run(observer))
    if (++runs_ > most_runs || !demote()) return false;
  return true;
}

bool ThreadPaths::run(PathObserver& observer) {
  states_.clear(), work_.clear(), forks_.clear();
  for (std::set<std::uint64_t>& values : seen_values_) values.clear();
  State start;
  start.block = flow_.order[0];
  for (std::size_t r = 0; r < index_.size(); ++r)
    if (index_[r] >= 0) start.values.push_back(any_word(program_.widths[r]));
  if (!enter(std::move(start))) return false;
  while (!work_.empty()) {
    State state = std::move(work_.front());
    work_.pop_front();
    state.step = program_.blocks[state.block].first, state.order = 0;
    forks_.push_back(std::move(state));
    while (!forks_.empty()) {
      State next = std::move(forks_.back());
      forks_.pop_back();
      go(std::move(next), observer);
      if (states_.size() > most_path_states) return false;
    }
    for (std::size_t k = 0; k < seen_values_.size(); ++k)
      if (told_[k] == 64 && seen_values_[k].size() > most_constants) return false;
  }
  return true;
}

/// Takes the register with the most constants less exactly, first one that only branches depend on; false if no register has three.
bool ThreadPaths::demote() {
  std::size_t most = 0, which = 0;
  for (Use const use : {Use::steers, Use::counts, Use::other}) {
    if (most >= 3) break;
    for (std::size_t k = 0; k < seen_values_.size(); ++k)
      if (told_[k] != 0 && use_[k] == use && seen_values_[k].size() > most)
        most = seen_values_[k].size(), which = k;
  }
  if (most < 3) return false;
  auto const fewer = std::find_if(std::begin(bits_told), std::end(bits_told),
                                  [&](std::uint32_t bits) { return bits < told_[which]; });
  told_[which] = use_[which] == Use::steers || fewer == std::end(bits_told) ? 0 : *fewer;
  return true;
}

ThreadPaths::Key ThreadPaths::key_of(State const& state) const {
  Key key{state.block};
  key.reserve(128);
  for (std::size_t k = 0; k < state.values.size(); ++k) {
    if (told_[k] == 0 || !live_[state.block][k]) continue;
    PathValue const& v = state.values[k];
    std::uint32_t const known = v.constant() ? 64 : std::min(v.known, std::min(told_[k], bits_told[0]));
    if (known == 0) continue;
    key.insert(key.end(), {k, known, v.bits & low_bits(known)});
  }
  key.push_back(~std::uint64_t{0});
  for (auto const& [number, truth] : state.truths) key.insert(key.end(), {number, truth ? 1U : 0U});
  key.push_back(~std::uint64_t{0});
  for (auto const& [m, c] : state.history.of)
    key.insert(key.end(), {m, static_cast<std::uint64_t>(c.passed), static_cast<std::uint64_t>(c.arrived),
                           static_cast<std::uint64_t>(c.left), static_cast<std::uint64_t>(c.before),
                           c.initialised ? 1U : 0U});
  for (auto const& [m, c] : state.history.of)
    for (auto const* copies : {&c.copies, &c.next_copies}) {
      key.push_back(~std::uint64_t{0});
      for (auto const& [access, to] : *copies) key.insert(key.end(), {access, to});
    }
  key.push_back(~std::uint64_t{0});
  for (PathPending const& p : state.history.pending)
    key.insert(key.end(), {p.access, p.commits, p.holds, p.fills});
  return key;
}

/// A thread comes to a block; false if there are too many states.
bool ThreadPaths::enter(State state) {
  std::erase_if(state.truths,
                [&](auto const& one) { return live_truths_[state.block].count(one.first) == 0; });
  for (std::size_t k = 0; k < state.values.size(); ++k) {
    PathValue& v = state.values[k];
    if (!live_[state.block][k]) v = any_word(64);
    if (told_[k] == 0) continue;
    if (told_[k] != 64 && changes_.count({state.block, k}) != 0)
      v = {0, ~std::uint64_t{0}, v.bits & low_bits(std::min(v.known, told_[k])), std::min(v.known, told_[k])};
    if (v.known != 0) seen_values_[k].insert(v.bits);
  }
  auto const [at, fresh] = states_.try_emplace(key_of(state));
  Known& known = at->second;
  if (fresh) {
    known.values = state.values;
  } else {
    bool changed = false;
    for (std::size_t k = 0; k < known.values.size(); ++k) {
      PathValue& old = known.values[k];
      PathValue both = joined(old, state.values[k]);
      if (both == old) continue;
      if (known.visits > most_joins) both = {0, ~std::uint64_t{0}, both.bits, both.known};
      changed = changed || both != old;
      old = both;
    }
    if (!changed) return true;
    state.values = known.values;
  }
  ++known.visits;
  work_.push_back(std::move(state));
  return true;
}

/// Follows a state to the end of its block.
void ThreadPaths::go(State state, PathObserver& observer) {
  Block const& block = program_.blocks[state.block];
  std::vector<CopyOrder> const& orders = orders_[state.block];
  while (state.step < block.last) {
    for (; state.order < orders.size() && orders[state.order].at.step <= state.step; ++state.order)
      observer.order(state.history, orders[state.order]);
    if (!observer.goes_on(state.history) || !step(state, observer)) return;
    ++state.step;
  }
  for (; state.order < orders.size(); ++state.order) observer.order(state.history, orders[state.order]);
  leave(state);
}

void ThreadPaths::leave(State& state) {
  Block const& block = program_.blocks[state.block];
  auto const to = [&](std::int32_t next) {
    if (next < 0) return;
    State there = state;
    there.block = static_cast<std::uint32_t>(next), there.wait = -1;
    (void)enter(std::move(there));
  };
  PathValue const condition = block.condition < 0
                                  ? path_number(1)
                                  : value(state, {false, static_cast<std::uint64_t>(block.condition)});
  bool const truth = (condition.least & 1) != 0;
  if (block.condition < 0) return to(block.taken);
  if (!condition.constant() || truth != block.negated) to(block.taken);
  if (!condition.constant() || truth == block.negated) to(block.next);
}

/// A register may be 0 or 1: goes on with 1, and notes a state with 0. False if it is no such register.
bool ThreadPaths::fork(State& state, std::int32_t reg) {
  std::int32_t const k = index_[static_cast<std::size_t>(reg)];
  if (k < 0) return false;
  State other = state;
  other.values[static_cast<std::size_t>(k)] = path_number(0);
  forks_.push_back(std::move(other));
  state.values[static_cast<std::size_t>(k)] = path_number(1);
  return true;
}

PathValue ThreadPaths::computed(State const& state, Step const& s) const {
  if (program::computes(s.action))
    return result_on_path(s, value(state, s.a), value(state, s.b), value(state, s.c));
  if (s.action == Action::symbol)
    if (auto const& at = program_.symbols[s.extra].placed) return path_number(*at & low_bits(s.width));
  if (s.action == Action::special && s.extra <= static_cast<std::uint32_t>(Special::laneid))
    return special(static_cast<Special>(s.extra));
  if (s.action == Action::shuffle) return shuffled(state, s);
  return any_word(s.width);
}

PathValue ThreadPaths::special(Special which) const {
  bool const known = which <= Special::ntid_z && (shapes_.given || which == Special::tid_x);
  if (which == Special::laneid) return {0, 31, 0, 0};
  if (which <= Special::tid_z && (!warp_ || !known)) return {0, most_ - 1, 0, 0};
  if (!known) return any_word(32);
  if (!shapes_.given) return {32 * *warp_, std::min(32 * *warp_ + 31, most_ - 1), 0, 0};
  PathValue out;
  for (std::uint32_t t = 32 * *warp_; t < std::min(32 * *warp_ + 32, most_); ++t) {
    PathValue const one = path_number(
        *program::special_of(static_cast<std::uint32_t>(which), {t, t % 32, *shapes_.given, {1, 1, 1}, {}}));
    out = t % 32 == 0 ? one : joined(out, one);
  }
  return out;
}

/// Number that a shuffle gives [PTX ISA 9.1, shfl.sync]. Its source lane must be known: any lane in a block of a given shape, else lane 0.
PathValue ThreadPaths::shuffled(State const& state, Step const& s) const {
  auto const at = shuffled_.find(static_cast<std::uint32_t>(&s - program_.steps.data()));
  PathValue const lane = value(state, s.b), bounds = value(state, s.c);
  if (!warp_ || at == shuffled_.end() || static_cast<program::Shuffle>(s.extra) != program::Shuffle::idx ||
      !lane.constant() || bounds != path_number(31))
    return any_word(32);
  std::uint32_t const source = 32 * *warp_ + (lane.least & 31);
  if (source >= most_ || (!shapes_.given && lane.least % 32 != 0)) return any_word(32);
  ThreadNumbers numbers(program_, execution_, shapes_, source, std::nullopt);
  std::optional<PathValue> out;
  for (std::uint32_t const node : at->second) {
    ThreadNumbers::Number const number = numbers.of(node);
    if (!number) return any_word(32);
    out = out ? joined(*out, path_number(*number)) : path_number(*number);
  }
  return *out;
}

/// False if the state is noted for later.
bool ThreadPaths::step(State& state, PathObserver& observer) {
  Step const& s = program_.steps[state.step];
  if (s.action == Action::access) return access(state, s.extra, observer);
  if (s.dst < 0) return true;
  if (s.action == Action::varying && state.wait >= 0 && s.width == 1 &&
      program_.names[s.extra] == program_.accesses[static_cast<std::uint32_t>(state.wait)].op) {
    auto const wait = static_cast<std::uint32_t>(state.wait);
    state.wait = -1;
    std::int32_t const k = index_[static_cast<std::size_t>(s.dst)];
    State other = state;
    if (k >= 0) {
      state.values[static_cast<std::size_t>(k)] = path_number(1);
      other.values[static_cast<std::size_t>(k)] = path_number(0);
    }
    ++other.step;
    forks_.push_back(std::move(other));
    observer.waited(state.history, wait, state.address, state.parity);
    return true;
  }
  std::int32_t const k = index_[static_cast<std::size_t>(s.dst)];
  if (k < 0) return true;
  auto const at = static_cast<std::size_t>(k);
  state.values[at] = computed(state, s);
  if (!splits_[at] || state.values[at].constant()) return true;
  std::int32_t const number = truth_of_[state.step];
  if (auto const known = state.truths.find(static_cast<std::uint32_t>(number));
      number >= 0 && known != state.truths.end())
    return state.values[at] = path_number(known->second ? 1 : 0), true;
  State other = state;
  split(other, at, false, number), ++other.step;
  split(state, at, true, number);
  forks_.push_back(std::move(other));
  return true;
}

/// Takes a truth for this one.
void ThreadPaths::split(State& state, std::size_t at, bool truth, std::int32_t number) {
  state.values[at] = path_number(truth ? 1 : 0);
  if (number >= 0) state.truths[static_cast<std::uint32_t>(number)] = truth;
}

bool ThreadPaths::access(State& state, std::uint32_t access, PathObserver& observer) {
  MemoryAccess const& m = program_.accesses[access];
  if (accesses_[access].role == RaceRole::none) return true;
  if (m.guard >= 0) {
    PathValue const guard = value(state, {false, static_cast<std::uint64_t>(m.guard)});
    if (!guard.constant()) {
      if (is_of_mbarrier(program_, m)) {         // both ways, from this step on
        if (fork(state, m.guard)) --state.step;  // goes on here
        return true;
      }
    } else if (((guard.least & 1) != 0) == m.guard_negated) {
      return true;
    }
  }
  PathValue address = value(state, m.address);
  Step add;
  add.action = Action::add;
  add.width = m.address.constant ? 64 : program_.widths[m.address.value];
  address = result_on_path(add, address, path_number(m.offset & low_bits(add.width)), {});
  PathValue size = path_number(0);
  if (m.operand >= 0)
    if (auto const& of = program_.operands[static_cast<std::size_t>(m.operand)].size)
      size = value(state, *of);
  if (is_wait(access) && m.guard < 0)
    state.wait = static_cast<std::int32_t>(access), state.address = address, state.parity = size;
  observer.access(state.history, access, address, size);
  return true;
}

}  // namespace swizproof::kernel_detail
