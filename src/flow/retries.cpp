// Waits at mbarriers that fail and are tried again.
//
// test_wait and try_wait may fail at any time. The executor tries until the phase is complete; that covers the executions with failures if the
// way from a failure leads back to the wait for all values, and changes nothing that is used behind it.
#include "execute.hpp"

#include <swizproof/program/step.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace swizproof::flow_detail {

namespace {

/// The instructions from a wait that fails until it is tried again.
class FailedWait {
 public:
  /// `wait`: index in Program::instructions.
  FailedWait(FlowKernel const& kernel, std::uint32_t wait) : kernel_(kernel), wait_(wait) {}

  /// True if they lead back to the wait and leave all as it was.
  [[nodiscard]] bool changes_nothing() {
    program::LoweredInstruction const& at = kernel_.program.instructions[wait_];
    ptx::Operand const& result = kernel_.function.body[at.instruction].operands[0];
    if (result.kind != ptx::Operand::Kind::reg) return false;
    known_[result.reg] = 0, ++writes_[result.reg];
    if (!comes_back(at.block)) return false;
    keep_recomputed(at.block);
    return std::all_of(writes_.begin(), writes_.end(),
                       [&](auto const& one) { return same_.contains(one.first) || !is_used(one.first); });
  }

 private:
  static constexpr unsigned most_blocks = 64;

  [[nodiscard]] std::optional<std::uint64_t> value(program::Source const& s) const {
    if (s.constant) return s.value;
    auto const found = known_.find(s.value);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

  void write(std::uint64_t reg, std::optional<std::uint64_t> const& value) {
    ++writes_[reg];
    if (value)
      known_[reg] = *value;
    else
      known_.erase(reg);
  }

  [[nodiscard]] static bool is_parameter(Decoded const& d) {
    return d.handler == Handler::load && d.space == program::Space::param;
  }

  /// Executes an instruction on what is known; false if it does more than compute.
  [[nodiscard]] bool step(program::LoweredInstruction const& i) {
    ptx::Instruction const& in = kernel_.function.body[i.instruction];
    Decoded const& d = kernel_.decoded[i.instruction];
    if (in.guard >= 0) {
      auto const guard = value({false, static_cast<std::uint64_t>(in.guard)});
      if (!guard) return false;
      if ((*guard != 0) == in.guard_negated) return true;
    }
    if (is_parameter(d)) each_register(in.operands[0], [&](std::uint32_t r) { write(r, std::nullopt); });
    if (d.handler == Handler::nothing || is_parameter(d)) return true;
    if (d.handler != Handler::steps || !kernel_.computes(i.instruction)) return false;
    for (std::uint32_t n = i.first; n < i.last; ++n) {
      program::Step const& s = kernel_.program.steps[n];
      auto const a = value(s.a), b = value(s.b), c = value(s.c);
      bool const known = program::computes(s.action) && a && b && c;
      write(static_cast<std::uint64_t>(s.dst),
            known ? std::optional(program::result_of(s, *a, *b, *c)) : std::nullopt);
    }
    return true;
  }

  /// Follows the way from the wait on; false if it does not come to it again, or values decide.
  [[nodiscard]] bool comes_back(std::uint32_t first_block) {
    std::int32_t block = static_cast<std::int32_t>(first_block);
    std::uint32_t n = wait_ + 1;
    for (unsigned blocks = 0; blocks < most_blocks && block >= 0; ++blocks) {
      auto const b = static_cast<std::size_t>(block);
      for (; n < kernel_.ranges[b].second; ++n) {
        if (n == wait_) return true;
        if (!step(kernel_.program.instructions[n])) return false;
      }
      program::Block const& end = kernel_.program.blocks[b];
      bool const traps = end.end != ~0U && kernel_.decoded[end.end].handler == Handler::trap;
      if (traps || kernel_.chooses(b)) return false;
      block = end.taken;
      if (end.condition >= 0) {
        auto const condition = value({false, static_cast<std::uint64_t>(end.condition)});
        if (!condition) return false;
        if ((*condition != 0) == end.negated) block = end.next;
      }
      if (block >= 0) n = kernel_.ranges[static_cast<std::size_t>(block)].first;
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

  /// True if a register may be read from the wait on before it is written.
  [[nodiscard]] bool is_used(std::uint64_t reg) const {
    if (reg >= kernel_.function.registers.size()) return false;  // a part of one instruction
    auto const r = static_cast<std::uint32_t>(reg);
    std::vector<std::int32_t> work{};
    std::set<std::int32_t> seen{};
    Use const first = use_in(kernel_.program.instructions[wait_].block, wait_, r, work);
    if (first == Use::read) return true;
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
  std::map<std::uint64_t, std::uint64_t> known_{};  ///< values of registers, by the failure alone
  std::map<std::uint64_t, unsigned> writes_{};      ///< how often each register is written
  std::set<std::uint64_t> same_{};                  ///< those that get the value that they have
};

}  // namespace

bool retries(Now const& now) {
  auto const wait = static_cast<std::uint32_t>(&now.lowered - now.block.kernel.program.instructions.data());
  return FailedWait(now.block.kernel, wait).changes_nothing();
}

}  // namespace swizproof::flow_detail
