#include "race_run.hpp"

#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/program/floating.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace swizproof::kernel_detail {

using program::Action;
using program::Block;
using program::MemoryAccess;
using program::Program;
using program::Source;
using program::Space;
using program::Step;

namespace {

constexpr std::uint64_t most_block_steps = 1'500'000;  ///< of one block
constexpr unsigned most_flag_reads = 256,              ///< of a thread before others go on
    most_flag_rounds = 64;                             ///< in which no barrier is passed

/// Instructions whose writes of memory are not followed.
bool writes_elsewhere(ptx::Opcode const& op) {
  bool const atomic = (op.name == "atom" || op.name == "red") && op.space != Space::shared;
  return atomic || (op.name == "cp" && op.has("bulk")) || op.name == "multimem" || op.name == "wmma" ||
         op.name == "call" || (op.name == "st" && (op.has("async") || op.has("bulk")));
}

/// True for a barrier at which a thread that has ended is missed: it counts arrivals [PTX ISA 9.1, 9.7.13.1].
bool counts_threads(ptx::Instruction const& barrier) {
  return barrier.operands.size() == (barrier.opcode.has("red") ? 4U : 2U);
}

/// The word behind an atomic; nothing if it is not followed. `other`: the number that a compare-and-swap stores.
std::optional<std::uint64_t> changed(ptx::Opcode const& op, std::uint64_t old, std::uint64_t by,
                                     std::optional<std::uint64_t> other) {
  if (op.has("add")) return old + by;
  if (op.has("exch")) return by;
  if (op.has("and")) return old & by;
  if (op.has("or")) return old | by;
  if (op.has("xor")) return old ^ by;
  if (!other) return std::nullopt;
  return old == (by & low_bits(32)) ? *other : old;
}

/// First byte and end of the array of an access; `end`: of shared memory.
std::pair<std::uint64_t, std::uint64_t> bounds_of(Program const& program, SharedAccess const& access,
                                                  std::uint64_t end) {
  if (access.array < 0) return {0, end};
  program::Variable const& v = program.symbols[static_cast<std::size_t>(access.array)];
  std::uint64_t const first = v.placed.value_or(0);
  return {first, v.extern_array ? end : first + v.bytes};
}

/// The src-size of a cp.async of so many bytes, whose last operand has a value: all or nothing if that is the predicate ignore-src. [PTX ISA 9.1, cp.async]
RaceValue source_size(program::Program const& program, ptx::Instruction const& i, RaceValue last,
                      unsigned bytes) {
  ptx::Operand const& o = i.operands.back();
  if (i.operands.size() == 3) return {bytes, false};
  if (o.kind == ptx::Operand::Kind::reg && program.widths[o.reg] == 1)
    last.bits = (last.bits != 0) != o.negated ? 0 : bytes;
  return last;
}

}  // namespace

RaceRun::RaceRun(ptx::Function const& function, Program const& lowered,
                 std::vector<SharedAccess> const& accesses, std::uint64_t end)
    : function_(function),
      program_(lowered),
      accesses_(accesses),
      of_block_(lowered.blocks.size()),
      end_(end),
      data_(function, lowered),
      terms_(lowered),
      bytes_(lowered, data_, terms_),
      matrices_(data_.sets, terms_, bytes_),
      meetings_(function) {
  for (program::LoweredInstruction const& i : lowered.instructions) of_block_[i.block].push_back(i);
  for (auto const& name : lowered.names) strong_.push_back(program::Opcode(name).is_strong());
  for (std::uint32_t i = 0; i < function.body.size(); ++i)
    if (function.body[i].opcode.name == "trap") traps_.insert(i);
}

RaceRun::Value RaceRun::value(Thread const& t, Source const& s) const {
  return s.constant ? Value{s.value, false, 0} : t.registers[s.value];
}

RaceRun::Value RaceRun::value(Thread const& t, ptx::Operand const& o) const {
  using Kind = ptx::Operand::Kind;
  if (o.kind == Kind::immediate) return {o.value, false, 0};
  return o.kind == Kind::reg ? t.registers[o.reg] : Value{};
}

std::vector<RaceRun::Found> const& RaceRun::run(RaceLaunch const& launch) {
  launch_ = &launch;
  std::uint32_t const count = launch.block[0] * launch.block[1] * launch.block[2];
  threads_.assign(count, {});
  for (Thread& t : threads_) t.registers.resize(program_.widths.size());
  bytes_.begin(launch), seen_.clear(), data_.clear(), terms_.clear();
  meetings_.begin(count);
  any_store_ = false, left_ = most_block_steps;
  unsigned rounds = 0;
  for (bool moves = true; moves && left_ > 0;) {
    for (std::uint32_t n = 0; n < count; ++n)
      if (threads_[n].state == Thread::State::runs) go(n);
    bool const waits = std::any_of(threads_.begin(), threads_.end(),
                                   [](Thread const& t) { return t.state == Thread::State::runs; });
    moves = release();
    rounds = moves ? 0 : rounds + 1;
    moves = moves || (waits && rounds < most_flag_rounds);
  }
  end_interval();
  complete_ = std::all_of(threads_.begin(), threads_.end(),
                          [](Thread const& t) { return t.state == Thread::State::ended; });
  return meetings_.found;
}

/// Lets warps and the block go on whose threads all wait; false if none does.
bool RaceRun::release() {
  using State = Thread::State;
  bool moves = exchange_all();
  moves = execute_matrices() || moves;
  for (std::size_t w = 0; w < threads_.size(); w += 32) {
    auto const first = threads_.begin() + static_cast<std::ptrdiff_t>(w);
    auto const last = threads_.begin() + static_cast<std::ptrdiff_t>(std::min(w + 32, threads_.size()));
    auto const waits = [](Thread const& t) { return t.state == State::at_warp || t.state == State::ended; };
    auto const here = std::find_if(first, last, [](Thread const& t) { return t.state == State::at_warp; });
    if (here == last || !std::all_of(first, last, waits)) continue;
    std::uint32_t phase = 0;  // behind those of all its threads: some may have executed more shuffles
    for (auto t = first; t != last; ++t) phase = std::max(phase, t->phase + 1);
    for (auto t = first; t != last; ++t)
      if (t->state == State::at_warp)
        t->state = State::runs, t->passed = true, t->phase = phase, moves = true;
  }
  if (moves) return true;
  std::uint32_t at = 0;
  bool ended = false;
  for (Thread const& t : threads_) {
    ended = ended || t.state == State::ended;
    if (t.state == State::ended) continue;
    if (t.state != State::at_barrier || (at != 0 && at != t.waits)) return false;
    at = t.waits;
  }
  if (at == 0 || (ended && counts_threads(function_.body[at - 1]))) return false;
  for (Thread& t : threads_)
    if (t.state == State::at_barrier) t.state = State::runs, t.passed = true;
  begin_interval();
  return true;
}

/// Lets lanes go on that wait for each other at a shuffle; false if none does.
bool RaceRun::exchange_all() {
  bool moves = false;
  for (std::size_t w = 0; w < threads_.size(); w += 32) {
    std::size_t const count = std::min<std::size_t>(32, threads_.size() - w);
    std::array<ShuffleLane, 32> lanes{};
    for (std::size_t l = 0; l < count; ++l)
      lanes[l].offer = threads_[w + l].offer, lanes[l].ended = threads_[w + l].state == Thread::State::ended;
    if (!exchange(std::span(lanes).first(count), data_.sets, terms_)) continue;
    moves = true;
    for (std::size_t l = 0; l < count; ++l)
      if (lanes[l].result) {
        Thread& t = threads_[w + l];
        t.taken = *lanes[l].result, t.state = Thread::State::runs, t.passed = true, t.offer.reset();
      }
  }
  return moves;
}

/// Lets warps go on whose threads all wait at one instruction on matrices; false if none does.
bool RaceRun::execute_matrices() {
  using State = Thread::State;
  bool moves = false;
  for (std::size_t w = 0; w < threads_.size(); w += 32) {
    std::array<MatrixLane, 32> lanes{};
    std::uint32_t at = 0;
    bool all = true;
    for (std::size_t l = 0; l < 32 && w + l < threads_.size(); ++l) {
      Thread const& t = threads_[w + l];
      lanes[l].thread = static_cast<std::uint32_t>(w + l);
      if (t.state == State::ended) continue;
      all = all && t.state == State::at_matrix && (at == 0 || t.waits == at);
      at = t.waits, lanes[l].registers = &t.registers, lanes[l].by = t.where.by;
    }
    if (!all || at == 0) continue;
    matrices_.execute(function_.body[at - 1], lanes, !any_store_), moves = true;
    for (std::size_t l = 0; l < 32 && w + l < threads_.size(); ++l)
      if (Thread& t = threads_[w + l]; t.state == State::at_matrix)
        t.state = State::runs, t.passed = true, t.matrix = std::move(lanes[l].out);
  }
  return moves;
}

/// Nothing if an instruction is no shuffle that waits for lanes that are known.
std::optional<ShuffleOffer> RaceRun::offer_of(Thread const& t, ptx::Instruction const& i) {
  if (i.opcode.name != "shfl" || !i.opcode.has("sync") || i.guard >= 0 || i.operands.size() < 5)
    return std::nullopt;
  Value const mask = value(t, i.operands[4]);
  if (mask.open || mask.data != 0) return std::nullopt;
  ShuffleOffer out{program::shuffle_mode(i.opcode), static_cast<std::uint32_t>(mask.bits),
                   value(t, i.operands[1]), value(t, i.operands[2]), value(t, i.operands[3])};
  if (t.where.by != 0) out.value.term = 0, data_.sets.join_to(out.value.data, t.where.by);
  return out;
}

/// Forgets the accesses before a barrier, except copies that may not be complete.
void RaceRun::begin_interval() {
  end_interval();
  seen_.clear();
  for (Thread& t : threads_) {
    std::erase_if(t.copies, [](Copy const& c) { return c.done.has_value(); });
    for (std::size_t k = 0; k < t.copies.size(); ++k) {
      t.copies[k].event.copy = static_cast<std::int32_t>(k);
      seen_[t.copies[k].byte].push_back(t.copies[k].event);
    }
  }
}

bool RaceRun::pending(Event const& e) const {
  return e.copy >= 0 && !threads_[e.thread].copies[static_cast<std::size_t>(e.copy)].done;
}

/// Commits of groups and waits; false if the thread cannot go on.
bool RaceRun::order_copies(Thread& t, ptx::Instruction const& i) {
  bool const commit = i.opcode.has("commit_group"), all = i.opcode.has("wait_all");
  Group const of = group_of(i.opcode);
  if (of == Group::none || (!commit && !all && !i.opcode.has("wait_group"))) return true;
  std::uint32_t& groups = t.groups[static_cast<std::size_t>(of)];
  if (i.guard >= 0) {
    Value const g = t.registers[static_cast<std::size_t>(i.guard)];
    if (g.open) return t.state = Thread::State::stuck, false;
    if (g.data != 0) data_.sets.join_to(t.where.by, g.data), t.where.stay();
    if (((g.bits & 1) != 0) == i.guard_negated) return true;
  }
  if (commit) return ++groups, true;
  if (!all && i.operands.empty()) return t.state = Thread::State::stuck, false;
  std::uint64_t const left = all ? 0 : i.operands[0].value;
  for (Copy& c : t.copies)
    if (!c.done && c.of == of && (all || c.group + left < groups)) c.done = t.phase;
  return true;
}

/// Runs a thread to a barrier, its end, or where it is stuck; or until it has read flags so often that others go on.
void RaceRun::go(std::uint32_t number) {
  Thread& t = threads_[number];
  unsigned flag_reads = 0;
  for (;;) {
    auto const* const written = t.at == 0 ? data_.met(t.where, t.block) : nullptr;
    if (written != nullptr) {
      for (std::uint32_t const r : *written)
        data_.sets.join_to(t.registers[r].data, t.where.by), t.registers[r].term = 0;
      t.where = {};
    }
    Block const& block = program_.blocks[t.block];
    auto const& list = of_block_[t.block];
    for (; t.at < list.size(); ++t.at) {
      ptx::Instruction const& i = function_.body[list[t.at].instruction];
      bool const wgmma = i.opcode.name == "wgmma";  // all of them wait for the warp
      bool const barrier = i.opcode.name == "bar" || i.opcode.name == "barrier";
      bool const warp = wgmma || (barrier && i.opcode.has("warp"));
      if ((barrier || wgmma) && !t.passed) {
        t.state = warp ? Thread::State::at_warp : Thread::State::at_barrier;
        t.waits = list[t.at].instruction + 1;
        return;
      }
      if (!t.passed) t.offer = offer_of(t, i);
      if (t.offer) return void(t.state = Thread::State::at_shuffle);
      bool const matrix = MatrixValues::follows(i);
      if (matrix && !t.passed)
        return t.waits = list[t.at].instruction + 1, void(t.state = Thread::State::at_matrix);
      t.passed = false;
      if (FlagOrders::reads(i.opcode) && ++flag_reads > most_flag_reads) return;
      if (i.opcode.name == "shfl" || i.opcode.name == "vote" || i.opcode.name == "redux" ||
          i.opcode.name == "match")
        ++t.phase;
      bool const store = i.opcode.name == "st";
      std::uint32_t const from = t.at == 0 ? block.first : list[t.at - 1].last;
      auto const change = change_of(t, number, i);
      meetings_.flags.before(number, t.phase, i.opcode);
      if (!steps(t, number, from, list[t.at].last, &i)) return;
      meetings_.flags.after(number, t.phase, i.opcode);
      if (change) make(t, i, *change);
      if (matrix) MatrixValues::give(i, t.matrix, t.registers);
      if (store && i.opcode.space == Space::global) store_global(t, i);
      if (writes_elsewhere(i.opcode)) any_store_ = true;
      if (!order_copies(t, i)) return;
      if (wgmma) ++t.phase;
    }
    std::uint32_t const from = list.empty() ? block.first : list.back().last;
    if (!steps(t, number, from, block.last, nullptr) || !branch(t)) return;
  }
}

/// Goes on to the next block; false at the end of the thread.
bool RaceRun::branch(Thread& t) {
  Block const& block = program_.blocks[t.block];
  std::int32_t to = block.taken;
  if (block.condition >= 0) {
    Value const c = t.registers[static_cast<std::size_t>(block.condition)];
    if (c.open) return t.state = Thread::State::stuck, false;
    if (c.data != 0) data_.enter(t.where, t.block, c.data);
    to = ((c.bits & 1) != 0) != block.negated ? block.taken : block.next;
  }
  if (to < 0)
    return t.state = traps_.count(block.end) != 0 ? Thread::State::stuck : Thread::State::ended, false;
  t.block = static_cast<std::uint32_t>(to), t.at = 0;
  return true;
}

bool RaceRun::steps(Thread& t, std::uint32_t number, std::uint32_t first, std::uint32_t last,
                    ptx::Instruction const* of) {
  if (left_ <= last - first + 1) return left_ = 0, t.state = Thread::State::stuck, false;
  left_ -= last - first + 1;
  for (std::uint32_t s = first; s < last; ++s)
    if (!step(t, number, program_.steps[s], of)) return t.state = Thread::State::stuck, false;
  return true;
}

bool RaceRun::step(Thread& t, std::uint32_t number, Step const& s, ptx::Instruction const* of) {
  if (s.action == Action::access) return access(t, number, s.extra, of);
  if (s.dst < 0) return true;
  Value out;
  if (s.action == Action::load) {
    out = load(t, number, s);
  } else if (s.action == Action::shuffle) {
    out = std::exchange(t.taken, Value{});
  } else if (s.action == Action::special) {
    auto const x =
        program::special_of(s.extra, {number, number % 32, launch_->block, launch_->grid, launch_->index});
    out = {x.value_or(0) & low_bits(s.width), !x};
  } else if (s.action == Action::symbol) {
    out = {bytes_.address_of(s.extra) & low_bits(s.width), false};
  } else if (program::computes(s.action) || s.action == Action::choose || s.action == Action::opaque) {
    out = value_of_step(program_, s, {value(t, s.a), value(t, s.b), value(t, s.c)}, data_.sets, terms_);
  }
  t.registers[static_cast<std::size_t>(s.dst)] = out;
  return true;
}

RaceRun::Value RaceRun::load(Thread const& t, std::uint32_t number, Step const& s) {
  Value const base = value(t, s.a);
  if (base.open) return {};
  std::uint64_t const at = base.bits + s.b.value;
  Value out;
  if (at >= RaceBytes::params_from) {
    out = bytes_.parameter(at, s.width, static_cast<Space>(s.extra));
  } else {
    if (any_store_ || at >= RaceBytes::locals_from || static_cast<Space>(s.extra) == Space::local) return {};
    out = bytes_.loaded(at, s.width / 8, number, s.line);
    if (strong_[s.c.value]) out.term = 0;  // another one may see another number
  }
  if (base.data != 0) data_.sets.join_to(out.data, base.data), out.term = 0;
  return out;
}

/// Nothing if it is not followed.
std::optional<RaceChange> RaceRun::change_of(Thread const& t, std::uint32_t number,
                                             ptx::Instruction const& i) {
  ptx::Opcode const& op = i.opcode;
  std::size_t const where = op.name == "red" ? 0 : 1;
  bool const word = op.space == Space::shared && op.type.integer() && op.type.bits == 32;
  if ((op.name != "atom" && op.name != "red") || !word || any_store_ || i.operands.size() < where + 2)
    return std::nullopt;
  if (i.guard >= 0) {
    Value const g = t.registers[static_cast<std::size_t>(i.guard)];
    if (g.open || ((g.bits & 1) != 0) == i.guard_negated) return std::nullopt;
  }
  ptx::Operand const& address = i.operands[where];
  if (address.parts.empty() || address.parts[0].kind != ptx::Operand::Kind::reg) return std::nullopt;
  Value const base = t.registers[address.parts[0].reg], by = value(t, i.operands[where + 1]);
  if (base.open || by.open) return std::nullopt;
  RaceChange out{
      base.bits + address.value, 4, bytes_.loaded(base.bits + address.value, 4, number, i.line), {}};
  if (out.old.open) return std::nullopt;
  data_.sets.join_to(out.old.data, base.data);
  out.old.term = 0;
  bool const compares = op.has("cas") && i.operands.size() > where + 2;
  Value const other = compares ? value(t, i.operands[where + 2]) : Value{0, false, 0};
  if (other.open) return std::nullopt;
  auto const now = changed(op, out.old.bits, by.bits, compares ? std::optional(other.bits) : std::nullopt);
  if (!now) return std::nullopt;
  out.now = {*now & low_bits(32), false, data_.sets.join(data_.sets.join(out.old.data, by.data), t.where.by)};
  data_.sets.join_to(out.now.data, other.data);
  return out;
}

void RaceRun::make(Thread& t, ptx::Instruction const& i, RaceChange const& change) {
  for (unsigned k = 0; k < change.bytes; ++k)
    bytes_.put(change.at + k, {change.now.bits >> 8 * k & 0xff, false, change.now.data});
  if (i.opcode.name == "atom" && i.operands[0].kind == ptx::Operand::Kind::reg)
    t.registers[i.operands[0].reg] = change.old;
}

/// The bytes that a store stores.
std::vector<RaceRun::Value> RaceRun::stored_by(Thread const& t, ptx::Instruction const& i) {
  std::vector<Value> out;
  if (i.operands.size() < 2) return out;
  ptx::Operand const& from = i.operands[1];
  std::vector<ptx::Operand> const one{from};
  std::vector<ptx::Operand> const& parts = from.kind == ptx::Operand::Kind::vector ? from.parts : one;
  unsigned const bytes = std::max(i.opcode.type.bits, 8U) / 8;
  for (ptx::Operand const& part : parts) add_bytes(value(t, part), bytes, terms_, out);
  return out;
}

/// The bytes that a copy writes.
std::vector<RaceRun::Value> RaceRun::copied_by(Thread const& t, ptx::Instruction const& i, unsigned bytes) {
  if (i.operands.size() < 3 || i.operands.size() > 4 || i.operands[1].parts.empty() || t.where.by != 0 ||
      i.opcode.has("L2::cache_hint"))
    return {};
  Value from = value(t, i.operands[1].parts[0]);
  from.bits += i.operands[1].value, from.open = from.open || any_store_;
  return bytes_.copied(from, source_size(program_, i, value(t, i.operands.back()), bytes), bytes);
}

/// `where`: loads that decide the address.
void RaceRun::store(Thread const& t, ptx::Instruction const& i, std::uint64_t at, LoadSets::Set where) {
  data_.sets.join_to(data_.stored, where);
  for (Value byte : stored_by(t, i)) {
    if (t.where.by != 0) data_.sets.join_to(byte.data, t.where.by), byte.term = 0;
    bytes_.put(at++, byte);
  }
}

void RaceRun::store_global(Thread const& t, ptx::Instruction const& i) {
  if (i.guard >= 0) {
    Value const g = t.registers[static_cast<std::size_t>(i.guard)];
    if (g.open) any_store_ = true;
    data_.sets.join_to(data_.stored, g.data);
    if (!g.open && ((g.bits & 1) != 0) == i.guard_negated) return;
  }
  ptx::Operand const& where = i.operands[0];
  if (where.parts.empty() || where.parts[0].kind != ptx::Operand::Kind::reg) return void(any_store_ = true);
  Value const base = t.registers[where.parts[0].reg];
  if (base.open) return void(any_store_ = true);
  store(t, i, base.bits + where.value, base.data);
}

/// An access to shared memory, if the address is there; false if the thread cannot go on.
bool RaceRun::access(Thread& t, std::uint32_t number, std::uint32_t index, ptx::Instruction const* of) {
  ptx::Instruction const* const store_of = of != nullptr && of->opcode.name == "st" ? of : nullptr;
  MemoryAccess const& m = program_.accesses[index];
  if (m.global) return true;  // the source of a copy
  SharedAccess const& known = accesses_[index];
  LoadSets::Set data = data_.sets.join(t.where.by, data_.passed);
  if (m.guard >= 0) {
    Value const g = t.registers[static_cast<std::size_t>(m.guard)];
    if (g.open) return any_store_ = any_store_ || known.role != RaceRole::read, true;
    data_.sets.join_to(data, g.data);
    if (known.role != RaceRole::read) data_.sets.join_to(data_.stored, g.data);
    if (((g.bits & 1) != 0) == m.guard_negated) return true;
  }
  Value const base = value(t, m.address);
  if (base.open) return any_store_ = any_store_ || known.role != RaceRole::read, true;
  data_.sets.join_to(data, base.data);
  if (known.role != RaceRole::read) data_.sets.join_to(data_.stored, base.data);
  std::uint64_t const at = base.bits + m.offset;
  if (m.generic && at >= shared_window) {
    if (store_of != nullptr) store(t, *store_of, at, base.data);
    if (store_of == nullptr && known.role == RaceRole::atomic) any_store_ = true;
    return true;
  }
  if (known.role == RaceRole::none) return any_store_ = true, true;
  if (known.tile) return wgmma(t, number, index, {base.bits, false, data});
  if (m.bytes == 0) return any_store_ = true, true;  // a box that is not known
  if (number % 32 >= known.givers) return true;
  auto const [first, last] = bounds_of(program_, known, end_);
  std::uint64_t const unit = std::min<std::uint64_t>(m.bytes & (0 - m.bytes), 16);
  if (at < first || at + m.bytes > last || at % unit != 0) return false;
  std::vector<Value> stored = known.copy ? copied_by(t, *of, m.bytes) : std::vector<Value>();
  if (store_of != nullptr) store(t, *store_of, at, base.data), stored = stored_by(t, *store_of);
  if (known.matrix && known.role == RaceRole::write) stored = t.matrix;
  for (std::uint64_t b = at; b < at + m.bytes; ++b) {
    if (store_of == nullptr && known.role != RaceRole::read)
      bytes_.put(b, b - at < stored.size() ? stored[b - at] : Value{});
    Event e = event_of(t, number, index, data);
    if (known.matrix) e.by = known.matrix->accessors(number, static_cast<std::uint32_t>(b - at));
    if (b - at < stored.size()) e.value = stored[b - at];
    known.copy ? note_copy(t, e, b, Group::copy) : note(e, b);
  }
  return true;
}

RaceRun::Event RaceRun::event_of(Thread const& t, std::uint32_t number, std::uint32_t index,
                                 LoadSets::Set data) const {
  return {number,
          index,
          t.phase,
          accesses_[index].role,
          data,
          {},
          -1,
          meetings_.flags.at(number),
          {number, number, number}};
}

void RaceRun::note_copy(Thread& t, Event e, std::uint64_t byte, Group of) {
  e.copy = static_cast<std::int32_t>(t.copies.size());
  t.copies.push_back({e, byte, of, t.groups[static_cast<std::size_t>(of)], {}});
  note(e, byte);
}

/// Bytes that wgmma reads for a warp, as reads of its first thread. False if the thread cannot go on.
bool RaceRun::wgmma(Thread& t, std::uint32_t number, std::uint32_t index, Value const& descriptor) {
  if (number % 32 != 0) return true;
  auto const units = accesses_[index].tile->units(
      static_cast<std::uint32_t>(start_field.of(descriptor.bits)) << 4, number / 32);
  if (units.empty() || units.back() + 16 > end_) return false;
  left_ -= std::min<std::uint64_t>(left_, units.size());
  for (std::uint32_t const unit : units)
    for (std::uint64_t b = unit; b < unit + 16; ++b)
      note_copy(t, event_of(t, number, index, descriptor.data), b, Group::wgmma);
  return true;
}

/// True for accesses of one warp with a barrier of the warp between them, or a shuffle, which is taken as one here.
bool RaceRun::ordered(Event const& a, Event const& b) const {
  if (a.thread / 32 != b.thread / 32) return false;
  if (a.copy < 0 || b.phase <= a.phase) return a.phase != b.phase;
  auto const& done = threads_[a.thread].copies[static_cast<std::size_t>(a.copy)].done;
  return done && b.phase > *done;
}

void RaceRun::note(Event const& e, std::uint64_t byte) {
  std::vector<Event>& all = seen_[byte];
  unsigned of_role = 0;
  for (Event const& o : all) {
    of_role += o.role == e.role ? 1 : 0;
    bool const reads = o.role == RaceRole::read && e.role == RaceRole::read;
    SharedAccess const &x = accesses_[o.access], &y = accesses_[e.access];
    if (reads || (o.thread == e.thread ? !pending(o) : are_strong(x, y) || ordered(o, e))) continue;
    if (o.thread != e.thread && may_be_of_one(o, e, accesses_)) continue;
    if (meetings_.flags.any() && (accesses_[o.access].matrix || accesses_[e.access].matrix)) {
      meetings_.any_by_flag = true;  // of a lane that is not known
      continue;
    }
    meetings_.add(o, e, byte, data_.sets, terms_);
  }
  if (of_role < 3) all.push_back(e);
}

void RaceRun::end_interval() {
  meetings_.end_interval(data_.sets, terms_, [&](std::uint32_t thread) {
    Thread::State const s = threads_[thread].state;
    return s == Thread::State::stuck || s == Thread::State::runs || s == Thread::State::at_shuffle ||
           s == Thread::State::at_matrix;
  });
}

}  // namespace swizproof::kernel_detail
