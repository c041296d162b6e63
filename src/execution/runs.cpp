#include "runs.hpp"

#include <swizproof/program/floating.hpp>
#include <swizproof/program/needed_bits.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

namespace swizproof::execution {

namespace {

/// Styles of the first runs; see Inputs.
constexpr std::array<unsigned, 9> styles{10, 11, 12, 13, 14, 15, 16, 1, 5};
constexpr unsigned most_runs = 400;
constexpr unsigned most_quiet = 64;  ///< most runs in a row without a new block or a higher cost
constexpr std::uint64_t most_steps_of_run = 20'000;   ///< most steps of one run
constexpr std::uint64_t most_steps_in_all = 600'000;  ///< most steps for one kernel
constexpr unsigned most_turned_runs = 150;            ///< additional runs, which a branch waited for
constexpr std::uint64_t most_turned_steps = 200'000;
constexpr std::uint64_t most_again_steps = 400'000;
constexpr unsigned most_visits = 12;  ///< most visits of a loop's header in one run
/// The address of a parameter, or of an array in constant memory with known content, is (its symbol + 1) << 16.
constexpr unsigned variable_shift = 16;

/// Lanes that execute an access, and lanes that may.
struct Part {
  std::uint32_t lanes = 0, open = 0;
};

/// The part that a guard leaves of it, with its values in the lanes `here`.
Part under(Part part, std::uint32_t here, Runs::Addresses const& guard, std::uint32_t open, bool negated) {
  for (unsigned l = 0; l < 32; ++l) {
    std::uint32_t const bit = 1U << l;
    if ((here & bit) == 0 || ((open & bit) == 0 && (guard[l] != 0) != negated)) continue;
    part.open = (open & bit) != 0 ? part.open | bit : part.open & ~bit;
    part.lanes &= ~bit;
  }
  return part;
}

/// Static arrays one after the other, as they are declared, then dynamic ones at one address; those that have no address yet. Where
/// `further` is not 0, the dynamic ones get one that is so many times their alignment higher.
void place_arrays(Program const& program, Inputs& inputs, std::uint64_t further) {
  auto const align_of = [&](std::uint32_t i) { return inputs.align_of(i); };
  PlacedArrays const arrays = place_shared(program.symbols, 0, align_of);
  std::optional<std::uint32_t> dynamic;
  for (std::uint32_t i = 0; i < program.symbols.size(); ++i) {
    if (!arrays.addresses[i]) continue;
    if (program.symbols[i].extern_array)
      dynamic = i;
    else if (!inputs.placed(i))
      inputs.place(i, *arrays.addresses[i]);
  }
  if (dynamic && (!inputs.placed(*dynamic) || further != 0))
    inputs.place(*dynamic, *arrays.addresses[*dynamic] + further * align_of(*dynamic));
}

/// Numbers of arrays in constant memory at these addresses; outside of the arrays they are open.
template <class Word>
Word content_at(Program const& program, Word const& base, Step const& s) {
  Word out;
  out.open = base.open;
  unsigned const unit = s.width / 8;
  for (unsigned l = 0; l < 32; ++l) {
    std::uint64_t const at = base.lane[l] + s.b.value, symbol = (at >> variable_shift) - 1,
                        offset = at & low_bits(variable_shift);
    bool const known = symbol < program.symbols.size() && offset % unit == 0 &&
                       offset + unit <= program.symbols[symbol].content.size();
    if (!known) out.open |= 1U << l;
    if ((out.open >> l & 1) != 0) continue;
    std::vector<std::uint8_t> const& bytes = program.symbols[symbol].content;
    for (unsigned i = 0; i < unit; ++i) out.lane[l] |= std::uint64_t{bytes[offset + i]} << 8 * i;
  }
  return out;
}

}  // namespace

Seen const& Runs::seen(std::uint32_t access, unsigned bound) {
  seen_.resize(program_.accesses.size());
  while (seen_[access].wavefronts < bound && run_next()) continue;
  return seen_[access];
}

bool Runs::run_next() {
  if (next_ == 0) find_optional();
  bool const others = next_ < most_runs && quiet_ < most_quiet && steps_ - turned_steps_ < most_steps_in_all;
  bool const turned =
      !waiting_.empty() && turned_runs_ < most_turned_runs && turned_steps_ < most_turned_steps;
  if (turned && (!others || turned_runs_ < next_)) {
    Waiting one = std::move(waiting_.back());
    waiting_.pop_back();
    std::uint64_t const before = steps_;
    run(one.warp, std::move(one.inputs));
    turned_steps_ += steps_ - before, ++turned_runs_;
    return true;
  }
  if (!others) return false;
  unsigned const n = next_++;
  ++quiet_;
  unsigned const warp = n % 2 == 0 ? 0U : n / 2 % static_cast<unsigned>(warps_.size());
  Inputs inputs = n < 2 * styles.size() || news_.empty() ? by_style(n) : news_[n % news_.size()].changed(n);
  if (n / 2 % 2 != 0) place_arrays(program_, inputs, inputs.random() % 64);
  run(warp, std::move(inputs));
  return true;
}

/// Queues a run for a branch to a block that this warp has not visited, if a parameter would make its lanes go there.
void Runs::note_turns(Block const& block, Inputs const& inputs, unsigned warp) {
  constexpr std::size_t most_of_block = 4, most_waiting = 256;
  for (bool const truth : {false, true}) {
    std::int32_t const to = truth != block.negated ? block.taken : block.next;
    if (to < 0 || visited_[warp * program_.blocks.size() + static_cast<std::size_t>(to)]) continue;
    auto const turn = turns_.turn(block.condition, truth);
    if (turn && waiting_.size() < most_waiting && ++turned_[{warp, to}] <= most_of_block)
      waiting_.push_back({inputs.with(turn->symbol, turn->offset, turn->bits, turn->value), warp});
  }
}

/// Tells `turns_` of a step.
void Runs::follow(Step const& s, std::uint32_t lanes, Word const& now) {
  if (s.action == Action::load) {
    Word constant;
    std::uint64_t const at = value(s.a, constant).lane[0] + s.b.value;
    bool const parameter = static_cast<Space>(s.extra) == Space::param && now.open == 0;
    if (parameter)
      return turns_.read(s.dst, {static_cast<std::uint32_t>((at >> variable_shift) - 1),
                                 at & low_bits(variable_shift), s.width, 0});
  }
  if (!turns_.concerns(s)) return;
  turns_.step(s, [&](Source const& source) -> std::optional<std::uint64_t> {
    Word constant;
    Word const& word = value(source, constant);
    std::optional<std::uint64_t> number;
    for (unsigned l = 0; l < 32; ++l) {
      if ((lanes >> l & 1) == 0) continue;
      if ((word.open >> l & 1) != 0 || (number && *number != word.lane[l])) return std::nullopt;
      number = word.lane[l];
    }
    return number;
  });
}

Inputs Runs::by_style(unsigned n) const {
  Inputs inputs(program_, execution_, launch_, n, styles[n % styles.size()]);
  unsigned const round = n / styles.size();
  for (std::uint32_t const symbol : optional_)  // none, all, then any of them
    if (round == 0 || (round > 1 && inputs.random() % 2 == 0)) inputs.set_null(symbol);
  return inputs;
}

void Runs::run_with(LeafValues const& values, unsigned warp) {
  seen_.resize(program_.accesses.size());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> key(values.begin(), values.end());
  std::sort(key.begin(), key.end());
  key.emplace_back(~std::uint64_t{0}, warp);
  if (steps_ - turned_steps_ >= most_steps_in_all || !tried_.insert(std::move(key)).second) return;
  Inputs inputs(program_, execution_, launch_, warp, 7);
  inputs.give(values);
  run(warp, std::move(inputs));
}

Seen Runs::again(std::uint32_t access, Numbers const& numbers,
                 std::map<std::uint32_t, std::uint64_t> const& bases) {
  if (again_steps_ >= most_again_steps) return {};
  seen_.resize(program_.accesses.size());
  Inputs inputs(program_, execution_, launch_, numbers.warp, smallest_style);
  inputs.give(numbers.read);
  for (auto const& [symbol, address] : bases) inputs.place(symbol, address);
  auto const [so_far, before, quiet] = std::tuple(std::exchange(seen_[access], {}), steps_, quiet_);
  run(numbers.warp, std::move(inputs));
  again_steps_ += steps_ - before;
  steps_ = before, quiet_ = quiet;  // the search for other executions goes on as if this one had not been
  return std::exchange(seen_[access], so_far);
}

/// Finds the pointers that the program compares with 0. Each is 0 in some runs.
void Runs::find_optional() {
  using Symbols = std::map<std::uint64_t, std::uint32_t>;  // of a register
  Symbols addresses, pointers;
  for (Step const& s : program_.steps) {
    auto const d = static_cast<std::uint64_t>(s.dst);
    if (s.action == Action::symbol) addresses[d] = s.extra;
    if (s.a.constant) continue;
    auto const address = addresses.find(s.a.value), pointer = pointers.find(s.a.value);
    if (s.action == Action::copy && address != addresses.end()) addresses[d] = address->second;
    if (s.action == Action::copy && pointer != pointers.end()) pointers[d] = pointer->second;
    if (s.action == Action::load && s.width == 64 && s.b.value == 0 && address != addresses.end())
      pointers[d] = address->second;
    if (s.action == Action::equal && s.b.constant && s.b.value == 0 && pointer != pointers.end())
      optional_.insert(pointer->second);
  }
}

/// The lanes of the block that comes first run to its end, until none is left: a loop before what follows it, and an iteration before
/// the next one. A loop that goes on for long is left like a branch on an open value.
void Runs::run(unsigned warp, Inputs inputs) {
  if (needed_.empty()) needed_ = needed_bits(program_, flow_);
  registers_.resize(program_.widths.size());
  // A register without needed bits is not computed, and its value does not matter.
  for (std::size_t r = 0; r < registers_.size(); ++r) {
    Word& w = registers_[r];
    w.open = needed_[r] != 0 ? ~0U : 0U;
  }
  turns_.start(registers_.size());
  place_arrays(program_, inputs, 0);
  std::array<std::int32_t, 32> at{};
  for (unsigned l = 0; l < 32; ++l) at[l] = (warps_[warp]->present() >> l & 1) != 0 ? 0 : -1;
  Returns returned{};
  ways_.fill(0);
  skipped_ = 0;
  std::vector<unsigned> visits(program_.blocks.size());  // of headers of loops
  visited_.resize(warps_.size() * program_.blocks.size());
  bool is_new = false;
  for (std::uint64_t const until = steps_ + most_steps_of_run; steps_ < until;) {
    std::uint32_t const lanes = first_lanes(at, returned);
    if (lanes == 0) break;
    std::int32_t const first = at[static_cast<std::size_t>(__builtin_ctz(lanes))];
    auto const here = static_cast<std::size_t>(first), of_warp = warp * program_.blocks.size() + here;
    is_new = is_new || !visited_[of_warp], visited_[of_warp] = true;
    Block const& block = program_.blocks[here];
    bool const again = is_header(static_cast<std::uint32_t>(first)) && ++visits[here] > most_visits;
    if (!again) run_block(static_cast<std::uint32_t>(first), lanes, inputs, warp);
    if (block.condition >= 0 && !again) note_turns(block, inputs, warp);
    std::uint32_t skips = 0;
    for (unsigned l = 0; l < 32; ++l) {
      if ((lanes >> l & 1) == 0) continue;
      at[l] = block.taken;
      if (block.condition < 0 && !again) continue;
      Word const& c = registers_[static_cast<std::size_t>(std::max(block.condition, 0))];
      if (again || (c.open >> l & 1) != 0)
        at[l] = flow_.ipdom[static_cast<std::size_t>(first)], skips |= 1U << l;
      else if ((c.lane[l] != 0) == block.negated)
        at[l] = block.next;
    }
    std::int32_t to = -1;
    bool back = false;  // mostly all lanes go to one block
    for (unsigned l = 0; l < 32; ++l) {
      if ((lanes >> l & 1) == 0) continue;
      if (at[l] != to) to = at[l], back = goes_back(first, to);
      returned[l] = back ? steps_ : 0;
      bool const apart = to >= 0 && flow_.apart[static_cast<std::size_t>(to)];
      ways_[l] = apart ? 1000003 * ways_[l] + steps_ : 0;  // what it ran last, and when
    }
    skipped_ |= skips;
    if (skips != 0)
      for (std::uint32_t const r : written_after(static_cast<std::uint32_t>(first)))
        registers_[r].open |= skips;
    if (again) open_writes(static_cast<std::uint32_t>(first), skips);
  }
  if (is_new) news_.push_back(std::move(inputs)), quiet_ = 0;
}

/// Registers that are written between a branch and the block at which its sides meet again: open for a lane whose side is not
/// known. A lane that ends reaches that block.
std::vector<std::uint32_t> const& Runs::written_after(std::uint32_t branch) {
  auto const [at, fresh] = written_.try_emplace(branch);
  if (!fresh) return at->second;
  std::vector<bool> seen(program_.blocks.size(), false);
  std::vector<std::uint32_t> work = successors(program_.blocks[branch]);
  while (!work.empty()) {
    std::uint32_t const b = work.back();
    work.pop_back();
    if (seen[b] || static_cast<std::int32_t>(b) == flow_.ipdom[branch]) continue;
    seen[b] = true;
    for (std::uint32_t const next : successors(program_.blocks[b])) work.push_back(next);
    for (std::uint32_t i = program_.blocks[b].first; i < program_.blocks[b].last; ++i)
      if (std::int32_t const d = program_.steps[i].dst; d >= 0 && needed_[static_cast<std::size_t>(d)] != 0)
        at->second.push_back(static_cast<std::uint32_t>(d));
  }
  return at->second;
}

/// A block that lanes do not run leaves what it writes open.
void Runs::open_writes(std::uint32_t block, std::uint32_t lanes) {
  for (std::uint32_t i = program_.blocks[block].first; i < program_.blocks[block].last; ++i)
    if (std::int32_t const d = program_.steps[i].dst; d >= 0 && needed_[static_cast<std::size_t>(d)] != 0)
      registers_[static_cast<std::size_t>(d)].open |= lanes;
}

/// The lanes that run next, all at one block: that which comes first. Lanes that came back to the header of a loop wait until all
/// lanes in it did; then those go on that came back together. Those that came by another way need not meet them.
std::uint32_t Runs::first_lanes(std::array<std::int32_t, 32> const& at, Returns const& returned) const {
  std::uint32_t all = 0;
  bool together = true;  // as they mostly are
  for (unsigned l = 0, one = 32; l < 32; ++l) {
    if (at[l] < 0) continue;
    if (all == 0) one = l;
    together = together && at[l] == at[one] && returned[l] == returned[one];
    all |= 1U << l;
  }
  if (together) return all;
  auto const waits = [&](std::int32_t header) {
    for (unsigned l = 0; l < 32; ++l)
      if (at[l] >= 0 && (at[l] != header || returned[l] == 0) &&
          flow_.within(static_cast<std::uint32_t>(at[l]), flow_.loop[static_cast<std::size_t>(header)]))
        return true;
    return false;
  };
  int first = -1;
  for (int l = 0; l < 32; ++l) {
    if (at[l] < 0 || (returned[l] != 0 && waits(at[l]))) continue;
    if (first < 0 || comes_first(static_cast<std::uint32_t>(at[l]), static_cast<std::uint32_t>(at[first])))
      first = l;
  }
  std::uint32_t lanes = 0;
  for (int l = std::max(first, 0); first >= 0 && l < 32; ++l)
    if (at[l] == at[first] && returned[l] == returned[first]) lanes |= 1U << l;
  return lanes;
}

/// True if `to` is the header of a loop around `from`.
bool Runs::goes_back(std::int32_t from, std::int32_t to) const {
  auto const block = static_cast<std::uint32_t>(to);
  return to >= 0 && is_header(block) && flow_.within(static_cast<std::uint32_t>(from), flow_.loop[block]);
}

bool Runs::is_header(std::uint32_t block) const {
  std::int32_t const l = flow_.loop[block];
  return l >= 0 && flow_.loops[static_cast<std::size_t>(l)].header == block;
}

/// True if, in the innermost loop around both, the inner loop or block of `a` comes before that of `b`.
bool Runs::comes_first(std::uint32_t a, std::uint32_t b) const {
  auto const within = [&](std::uint32_t block, std::int32_t loop) {
    std::int32_t inner = -1;
    for (LoopsAround l = flow_.around(flow_.loop[block]); l.at >= 0 && l.at != loop; ++l) inner = l.at;
    return flow_.number[inner < 0 ? block : flow_.loops[static_cast<std::size_t>(inner)].header];
  };
  std::int32_t common = flow_.loop[a];
  while (!flow_.within(b, common)) common = flow_.loops[static_cast<std::size_t>(common)].parent;
  return within(a, common) < within(b, common);
}

void Runs::run_block(std::uint32_t block, std::uint32_t lanes, Inputs& inputs, unsigned warp) {
  Block const& b = program_.blocks[block];
  for (std::uint32_t i = b.first; i < b.last; ++i) {
    Step const& s = program_.steps[i];
    if (s.action == Action::access)
      access(s.extra, lanes, inputs, warp);
    else if (s.dst >= 0 && needed_[static_cast<std::size_t>(s.dst)] != 0)
      step(s, lanes, inputs, warp);
  }
  ++steps_;
}

Runs::Word const& Runs::value(Source const& s, Word& constant) const {
  if (!s.constant) return registers_[s.value];
  constant.lane.fill(s.value), constant.open = 0;
  return constant;
}

void Runs::step(Step const& s, std::uint32_t lanes, Inputs& inputs, unsigned warp) {
  ++steps_;
  Word const now = computed(s, lanes, inputs, warp);
  follow(s, lanes, now);
  Word& out = registers_[static_cast<std::size_t>(s.dst)];
  out.open = (out.open & ~lanes) | (now.open & lanes);
  std::uint64_t const mask = low_bits(s.width);
  for (unsigned l = 0; l < 32; ++l) out.lane[l] = (lanes >> l & 1) != 0 ? now.lane[l] & mask : out.lane[l];
}

/// A product by 0 and a truth that one operand decides are known where the other operand is open.
template <Op op>
Runs::Word Runs::arithmetic(Step const& s) const {
  Word constant_a, constant_b, out;
  Word const& a = value(s.a, constant_a);
  Word const& b = op == Op::negation ? a : value(s.b, constant_b);
  // Comparisons take words of a register's width.
  constexpr bool compares = op == Op::eq || op == Op::ult;
  std::uint64_t const mask = low_bits(!compares       ? s.width
                                      : !s.a.constant ? program_.widths[s.a.value]
                                      : !s.b.constant ? program_.widths[s.b.value]
                                                      : 32);
  Node const n{op, s.width};
  for (unsigned l = 0; l < 32; ++l) out.lane[l] = value_of(n, a.lane[l] & mask, b.lane[l] & mask);
  out.open = a.open | b.open;
  constexpr std::uint64_t decides = op == Op::disjunction ? 1 : 0;
  if constexpr (op == Op::bv_and || op == Op::bv_mul || op == Op::conjunction || op == Op::disjunction)
    for (unsigned l = 0; (a.open ^ b.open) != 0 && l < 32; ++l)
      if (((a.open ^ b.open) >> l & 1) != 0 && ((a.open >> l & 1) != 0 ? b : a).lane[l] == decides)
        out.lane[l] = decides, out.open &= ~(1U << l);
  return out;
}

Runs::Word Runs::computed(Step const& s, std::uint32_t lanes, Inputs& inputs, unsigned warp) {
  using Arithmetic = Word (Runs::*)(Step const&) const;
  static constexpr auto functions = []<std::size_t... Actions>(std::index_sequence<Actions...>) {
    return std::array<Arithmetic, sizeof...(Actions)>{
        &Runs::arithmetic<op_of(static_cast<Action>(Actions))>...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(Action::choose)>{});
  switch (s.action) {
    case Action::copy:
    case Action::zext:
    case Action::trunc: {
      Word constant;
      return value(s.a, constant);
    }
    case Action::choose:
      return chosen(s);
    case Action::shuffle:
      return shuffled(s, lanes);
    case Action::opaque:
      return floating(s);
    case Action::load:
      return loaded(s, inputs);
    case Action::special:
      return special(s, inputs, warp);
    case Action::symbol:
      return address_of(s, inputs);
    default:
      return computes(s.action) ? (this->*functions[static_cast<std::size_t>(s.action)])(s) : Word{};
  }
}

Runs::Word Runs::chosen(Step const& s) const {
  Word constant_a, constant_b, constant_c, out;
  Word const &which = value(s.a, constant_a), &yes = value(s.b, constant_b), &no = value(s.c, constant_c);
  std::uint32_t taken = 0;
  for (unsigned l = 0; l < 32; ++l) {
    taken |= which.lane[l] != 0 ? 1U << l : 0U;
    out.lane[l] = which.lane[l] != 0 ? yes.lane[l] : no.lane[l];
  }
  out.open = which.open | (taken & yes.open) | (~taken & no.open);
  return out;
}

/// A value from a lane that does not take part is open.
Runs::Word Runs::shuffled(Step const& s, std::uint32_t lanes) const {
  Word constant_a, constant_b, constant_c, out;
  Word const &v = value(s.a, constant_a), &b = value(s.b, constant_b), &c = value(s.c, constant_c);
  out.open = b.open | c.open;
  for (unsigned l = 0; l < 32; ++l) {
    unsigned const from =
        shuffle_source(static_cast<Shuffle>(s.extra), l, static_cast<std::uint32_t>(b.lane[l]),
                       static_cast<std::uint32_t>(c.lane[l]));
    out.lane[l] = v.lane[from];
    bool const gives = from == l || (lanes >> from & 1) != 0;
    if (!gives || (v.open >> from & 1) != 0) out.open |= 1U << l;
  }
  return out;
}

/// A floating-point result that is known to the last bit; else open.
Runs::Word Runs::floating(Step const& s) const {
  Word constant_a, constant_b, constant_c, out;
  Word const &a = value(s.a, constant_a), &b = value(s.b, constant_b), &c = value(s.c, constant_c);
  out.open = a.open | b.open | c.open;
  std::string const& opcode = program_.names[s.extra];
  std::array<std::uint64_t, 3> last{};
  for (unsigned l = 0; l < 32; ++l) {
    if ((out.open >> l & 1) != 0) continue;
    std::array<std::uint64_t, 3> const sources{a.lane[l], b.lane[l], c.lane[l]};
    bool const again = l > 0 && (out.open >> (l - 1) & 1) == 0 && sources == last;
    auto const result = again ? std::optional(out.lane[l - 1]) : float_result(opcode, sources);
    out.lane[l] = result.value_or(0);
    if (!result) out.open |= 1U << l;
    last = sources;
  }
  return out;
}

/// Parameters of the kernel are known, and arrays in constant memory that the module initialises; nothing else in memory is.
Runs::Word Runs::loaded(Step const& s, Inputs& inputs) const {
  Word constant, out;
  Word const& base = value(s.a, constant);
  if (static_cast<Space>(s.extra) == Space::constant) return content_at(program_, base, s);
  if (static_cast<Space>(s.extra) != Space::param || base.open != 0) return out;
  for (unsigned l = 0; l < 32; ++l) {
    std::uint64_t const at = base.lane[l] + s.b.value, symbol = (at >> variable_shift) - 1;
    if (symbol < program_.first_param || symbol - program_.first_param >= program_.params) return {};
    bool const again = l > 0 && at == base.lane[l - 1] + s.b.value;
    out.lane[l] =
        again ? out.lane[l - 1]
              : inputs.parameter(static_cast<std::uint32_t>(symbol), at & low_bits(variable_shift), s.width);
  }
  out.open = 0;
  return out;
}

Runs::Word Runs::special(Step const& s, Inputs& inputs, unsigned warp) const {
  Word out;
  if (s.extra >= first_uniform_special) return out;
  auto const which = static_cast<Special>(s.extra);
  out.open = 0;
  if (which == Special::ntid_x && launch_.any_multiple)
    out.lane.fill(launch_.block[0]);
  else if (which >= Special::ctaid_x && which <= Special::nctaid_z)
    out.lane.fill(inputs.block(which));
  else
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = warps_[warp]->special(which, l);
  return out;
}

/// Addresses of other variables than those in shared memory, the kernel's parameters and arrays with known content are open.
Runs::Word Runs::address_of(Step const& s, Inputs const& inputs) const {
  Word out;
  bool const numbered =
      s.extra - program_.first_param < program_.params || !program_.symbols[s.extra].content.empty();
  auto const placed = inputs.placed(s.extra);
  if (numbered || placed)
    out.open = 0, out.lane.fill(numbered ? (std::uint64_t{s.extra} + 1) << variable_shift : *placed);
  return out;
}

bool Seen::take(AccessRun const& run, unsigned warp, Inputs const& inputs) {
  if (!run.fault.empty()) {
    if (!fault || Numbers{warp, inputs.numbers()} < fault->numbers())
      fault = {run.fault, run.lane, warp, run.outside, inputs.numbers(), inputs.bases()};
    return false;
  }
  if (run.wavefronts <= wavefronts) return false;
  wavefronts = run.wavefronts;
  worst = {warp, named(inputs.numbers()), {}, run.lanes, run.open};
  read = inputs.numbers();
  bases = inputs.bases();
  return true;
}

void Runs::access(std::uint32_t index, std::uint32_t lanes, Inputs const& inputs, unsigned warp) {
  MemoryAccess const& m = program_.accesses[index];
  Word constant;
  Word const& base = value(m.address, constant);
  Part part{lanes & ~base.open, (lanes & base.open) | (skipped_ & ~lanes)};
  if (m.guard >= 0) {
    Word const& guard = registers_[static_cast<std::size_t>(m.guard)];
    part = under(part, lanes, guard.lane, guard.open, m.guard_negated);
  }
  Addresses address{};
  for (unsigned l = 0; l < 32; ++l) address[l] = base.lane[l] + m.offset & 0xffffffff;
  for (lanes = part.lanes; lanes != 0;) {  // those that came by one way, behind a lock each alone
    std::uint32_t some = 0;
    for (unsigned l = 0; l < 32; ++l)
      if ((lanes >> l & 1) != 0 && ways_[l] == ways_[static_cast<std::size_t>(std::countr_zero(lanes))])
        some |= 1U << l;
    if (execution_.accesses[index].lock != 0) some &= ~some + 1;
    lanes &= ~some;
    auto run = cost_of_(index, some, address, inputs.bases());
    if (run) run->open = part.open;
    if (run && seen_[index].take(*run, warp, inputs)) quiet_ = 0;
  }
}

}  // namespace swizproof::execution
