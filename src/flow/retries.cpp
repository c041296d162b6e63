// Waits at mbarriers that fail and are tried again.
//
// test_wait and try_wait may fail at any time. The executor tries until the phase is complete; that covers the executions with failures if the
// way from a failure leads back to the wait for all values, and changes nothing that is used behind it. So it does if a wait that fails leads to another
// one for the same phase of the same mbarrier, as behind a test whose result says if a loop has to wait: where both have passed, all is alike.
#include "execute.hpp"

#include <swizproof/program/step.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace swizproof::flow_detail {

namespace {

/// A way from a wait on: what comes next, and what is known by the wait's result alone.
struct Way {
  std::size_t block = 0;
  std::uint32_t next = 0;  ///< of Program::instructions; behind those of the block: its branch
  std::map<std::uint64_t, std::uint64_t> known{};  ///< values of registers
  std::map<std::uint64_t, unsigned> writes{};      ///< how often each register is written

  void write(std::uint64_t reg, std::optional<std::uint64_t> const& value) {
    ++writes[reg];
    if (value)
      known[reg] = *value;
    else
      known.erase(reg);
  }
  [[nodiscard]] std::optional<std::uint64_t> value(std::uint64_t reg) const {
    auto const found = known.find(reg);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<std::uint64_t> value(program::Source const& s) const {
    return s.constant ? std::optional(s.value) : value(s.value);
  }
};

bool is_wait(Decoded const& d) {
  return d.handler == Handler::mbarrier && (d.has("test_wait") || d.has("try_wait"));
}

bool is_alike(ptx::Operand const& a, ptx::Operand const& b) {
  return a.kind == b.kind && a.negated == b.negated && a.reg == b.reg && a.value == b.value &&
         a.text == b.text &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), is_alike);
}

/// Two waits with the same parts but .test_wait and .try_wait, and the same mbarrier and phase.
bool is_alike(FlowKernel const& kernel, std::uint32_t a, std::uint32_t b) {
  auto const same_part = [](std::string_view x, std::string_view y) {
    return x == y || (x.ends_with("_wait") && y.ends_with("_wait"));
  };
  auto const &p = kernel.decoded[a].parts, &q = kernel.decoded[b].parts;
  auto const &in = kernel.function.body[a].operands, &other = kernel.function.body[b].operands;
  return std::equal(p.begin(), p.end(), q.begin(), q.end(), same_part) && other.size() > 2 &&
         is_alike(in[1], other[1]) && is_alike(in[2], other[2]);
}

/// The instructions from a wait that fails until it is tried again, or until another one for the same phase has passed.
class FailedWait {
 public:
  /// `wait`: index in Program::instructions.
  FailedWait(FlowKernel const& kernel, std::uint32_t wait) : kernel_(kernel), wait_(wait) {}

  /// True if what a failure leads to is covered by the wait that passes.
  [[nodiscard]] bool changes_nothing() {
    ptx::Instruction const& in = instruction(wait_);
    return in.operands[0].kind == ptx::Operand::Kind::reg && (is_tried_again() || is_tried_by_another());
  }

 private:
  static constexpr unsigned most_moves = 512;

  [[nodiscard]] ptx::Instruction const& instruction(std::uint32_t n) const {
    return kernel_.function.body[kernel_.program.instructions[n].instruction];
  }

  /// Behind a wait with a result.
  void pass(Way& way, std::uint32_t wait, std::uint64_t result) const {
    way.block = kernel_.program.instructions[wait].block, way.next = wait + 1;
    way.write(instruction(wait).operands[0].reg, result);
  }

  [[nodiscard]] bool is_tried_again() {
    Way way;
    pass(way, wait_, 0);
    if (!comes_back(way)) return false;
    writes_ = way.writes;
    keep_recomputed(static_cast<std::uint32_t>(way.block));
    return std::all_of(writes_.begin(), writes_.end(), [&](auto const& one) {
      return same_.contains(one.first) || !is_used(one.first, static_cast<std::uint32_t>(way.block), wait_);
    });
  }

  /// True if a failure comes to a loop that waits for the same, and behind it to where the wait that passes comes, with the same registers.
  [[nodiscard]] bool is_tried_by_another() const {
    Way failed;
    pass(failed, wait_, 0);
    for (unsigned moves = 0; !waits_for_the_same(failed); ++moves)
      if (moves == most_moves || !advance(failed)) return false;
    std::uint32_t const other = failed.next;
    if (instruction(other).operands[0].kind != ptx::Operand::Kind::reg ||
        !FailedWait(kernel_, other).is_tried_again())
      return false;
    pass(failed, other, 1);
    std::vector<Way> passed(1);
    pass(passed[0], wait_, 1);
    for (Way way = passed[0]; passed.size() < most_moves && advance(way);) passed.push_back(way);
    for (unsigned moves = 0; moves < most_moves; ++moves) {
      auto const meets = std::find_if(passed.begin(), passed.end(), [&](Way const& way) {
        return way.block == failed.block && way.next == failed.next;
      });
      if (meets != passed.end()) return has_the_same(failed, *meets) && has_the_same(*meets, failed);
      if (!advance(failed)) return false;
    }
    return false;
  }

  /// True if a register that one way has written has the same value on the other, or is not used from here on.
  [[nodiscard]] bool has_the_same(Way const& one, Way const& other) const {
    return std::all_of(one.writes.begin(), one.writes.end(), [&](auto const& write) {
      auto const value = one.value(write.first);
      return (value && value == other.value(write.first)) ||
             !is_used(write.first, static_cast<std::uint32_t>(one.block), one.next);
    });
  }

  /// True if another wait for the same comes next, and nothing that it depends on was written.
  [[nodiscard]] bool waits_for_the_same(Way const& way) const {
    if (way.next == wait_ || way.next >= kernel_.ranges[way.block].second) return false;
    std::uint32_t const index = kernel_.program.instructions[way.next].instruction;
    if (!is_wait(kernel_.decoded[index]) || !guard_of(way, kernel_.function.body[index]).value_or(false) ||
        !is_alike(kernel_, kernel_.program.instructions[wait_].instruction, index))
      return false;
    bool same = true;
    for (std::size_t k = 1; k < 3; ++k)
      each_register(kernel_.function.body[index].operands[k],
                    [&](std::uint32_t r) { same = same && !way.writes.contains(r); });
    return same;
  }

  [[nodiscard]] static bool is_parameter(Decoded const& d) {
    return d.handler == Handler::load && d.space == program::Space::param;
  }

  /// If an instruction is executed; nothing if that is not known.
  [[nodiscard]] static std::optional<bool> guard_of(Way const& way, ptx::Instruction const& in) {
    if (in.guard < 0) return true;
    auto const guard = way.value(static_cast<std::uint64_t>(in.guard));
    return guard ? std::optional((*guard != 0) != in.guard_negated) : std::nullopt;
  }

  /// Executes an instruction on what is known; false if it does more than compute.
  [[nodiscard]] bool step(Way& way, program::LoweredInstruction const& i) const {
    ptx::Instruction const& in = kernel_.function.body[i.instruction];
    Decoded const& d = kernel_.decoded[i.instruction];
    auto const guard = guard_of(way, in);
    if (!guard) return false;
    if (!*guard) return true;
    if (is_parameter(d)) each_register(in.operands[0], [&](std::uint32_t r) { way.write(r, std::nullopt); });
    if (d.handler == Handler::nothing || is_parameter(d)) return true;
    if (d.handler != Handler::steps || !kernel_.computes(i.instruction)) return false;
    for (std::uint32_t n = i.first; n < i.last; ++n) {
      program::Step const& s = kernel_.program.steps[n];
      auto const a = way.value(s.a), b = way.value(s.b), c = way.value(s.c);
      bool const known = program::computes(s.action) && a && b && c;
      way.write(static_cast<std::uint64_t>(s.dst),
                known ? std::optional(program::result_of(s, *a, *b, *c)) : std::nullopt);
    }
    return true;
  }

  /// Executes what comes next; false if it does more than compute, or values decide.
  [[nodiscard]] bool advance(Way& way) const {
    if (way.next < kernel_.ranges[way.block].second)
      return step(way, kernel_.program.instructions[way.next++]);
    program::Block const& end = kernel_.program.blocks[way.block];
    bool const traps = end.end != ~0U && kernel_.decoded[end.end].handler == Handler::trap;
    if (traps || kernel_.chooses(way.block)) return false;
    std::int32_t block = end.taken;
    if (end.condition >= 0) {
      auto const condition = way.value(static_cast<std::uint64_t>(end.condition));
      if (!condition) return false;
      if ((*condition != 0) == end.negated) block = end.next;
    }
    if (block < 0) return false;
    way.block = static_cast<std::size_t>(block), way.next = kernel_.ranges[way.block].first;
    return true;
  }

  /// Follows the way from the wait on; false if it does not come to it again.
  [[nodiscard]] bool comes_back(Way& way) const {
    for (unsigned moves = 0; moves < most_moves; ++moves) {
      if (way.next == wait_ && wait_ < kernel_.ranges[way.block].second) return true;
      if (!advance(way)) return false;
    }
    return false;
  }

  /// Registers that the block of the wait computes before it from what is not changed.
  void keep_recomputed(std::uint32_t block) {
    for (std::uint32_t n = kernel_.ranges[block].first; n < wait_; ++n) {
      program::LoweredInstruction const& i = kernel_.program.instructions[n];
      Decoded const& d = kernel_.decoded[i.instruction];
      ptx::Instruction const& in = kernel_.function.body[i.instruction];
      if (in.guard >= 0 || in.operands.empty() || !has_result(d, in)) continue;
      bool same = true;
      for (std::uint32_t s = i.first; s < i.last && d.handler == Handler::steps; ++s)
        same = same && (kernel_.program.steps[s].action != program::Action::special ||
                        kernel_.program.steps[s].extra < program::first_uniform_special);
      for (std::size_t k = 1; k < in.operands.size(); ++k)
        each_register(in.operands[k],
                      [&](std::uint32_t r) { same = same && (!writes_.contains(r) || same_.contains(r)); });
      each_register(in.operands[0], [&](std::uint32_t r) {
        if (same && writes_[r] == 1) same_.insert(r);
      });
    }
  }

  /// True if a register may be read from an instruction of a block on before it is written.
  [[nodiscard]] bool is_used(std::uint64_t reg, std::uint32_t from, std::uint32_t instruction) const {
    if (reg >= kernel_.function.registers.size()) return false;  // a part of one instruction
    auto const r = static_cast<std::uint32_t>(reg);
    std::vector<std::int32_t> work{};
    std::set<std::int32_t> seen{};
    if (use_in(from, instruction, r, work) == Use::read) return true;
    while (!work.empty()) {
      std::int32_t const b = work.back();
      work.pop_back();
      if (b < 0 || !seen.insert(b).second) continue;
      auto const block = static_cast<std::uint32_t>(b);
      if (use_in(block, kernel_.ranges[block].first, r, work) == Use::read) return true;
    }
    return false;
  }

  enum class Use { none, read, written };
  /// The first use of a register in a block, from an instruction on; the blocks behind it, if it has no use.
  [[nodiscard]] Use use_in(std::uint32_t block, std::uint32_t from, std::uint32_t r,
                           std::vector<std::int32_t>& behind) const {
    for (std::uint32_t n = from; n < kernel_.ranges[block].second; ++n)
      if (Use const use = use_of(kernel_.program.instructions[n].instruction, r); use != Use::none)
        return use;
    program::Block const& end = kernel_.program.blocks[block];
    if (end.end != ~0U && use_of(end.end, r) == Use::read) return Use::read;
    if (end.condition == static_cast<std::int32_t>(r)) return Use::read;
    behind.push_back(end.taken);
    if (end.condition >= 0) behind.push_back(end.next);
    return Use::none;
  }

  [[nodiscard]] Use use_of(std::uint32_t instruction, std::uint32_t r) const {
    ptx::Instruction const& in = kernel_.function.body[instruction];
    bool const result = has_result(kernel_.decoded[instruction], in);
    bool reads = in.guard == static_cast<std::int32_t>(r), writes = false;
    for (std::size_t k = 0; k < in.operands.size(); ++k)
      each_register(in.operands[k], [&](std::uint32_t one) {
        (k == 0 && result ? writes : reads) = (k == 0 && result ? writes : reads) || one == r;
      });
    if (reads || (writes && in.guard >= 0)) return Use::read;
    return writes ? Use::written : Use::none;
  }

  FlowKernel const& kernel_;
  std::uint32_t wait_;
  std::map<std::uint64_t, unsigned> writes_{};  ///< how often each register is written
  std::set<std::uint64_t> same_{};              ///< those that get the value that they have
};

}  // namespace

bool retries(Now const& now) {
  auto const wait = static_cast<std::uint32_t>(&now.lowered - now.block.kernel.program.instructions.data());
  return FailedWait(now.block.kernel, wait).changes_nothing();
}

}  // namespace swizproof::flow_detail
