#include "copy_bounds.hpp"

#include "address_text.hpp"
#include "faults.hpp"
#include "operand_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::Lanes;
using execution::Warp;
using program::OperandRole;
using program::SharedOperand;

namespace {

class CopyBounds {
 public:
  CopyBounds(ExecutedKernel& kernel, std::size_t index, KernelOperand& out)
      : kernel_(kernel),
        operand_(kernel.program.operands[index]),
        done_(kernel.execution.operands[index]),
        out_(out),
        runs_(kernel, index) {}

  void run() {
    std::uint32_t symbol = ~0U;
    if (!is_sized() || kernel_.origins.root_of(done_.address, symbol) != Origins::Root::shared ||
        !kernel_.origins.is_of_array(done_.address, symbol))
      return;
    array_ = extent_of(kernel_, symbol);
    base_ = kernel_.origins.node_of_symbol(symbol);
    runs_.set_array(symbol, base_);
    bits_ = kernel_.origins.may_leave_the_block(done_.address) ? program::window_bits : address_bits;
    for (unsigned w = 0; w < kernel_.warps.count() && !leaves_; ++w) cases_ = 0, solve({w, {}, {}}, 0);
    if (leaves_ || stays_) out_.in_bounds = !leaves_;
  }

 private:
  static constexpr unsigned address_bits = 32, deepest = 4;
  static constexpr std::size_t most_cases = 1024;  ///< in one warp

  /// Bytes of an ignored end lie in no array.
  [[nodiscard]] bool is_sized() const {
    bool const has_size = operand_.role == OperandRole::barrier || done_.size != 0;
    return done_.reached && out_.executed && operand_.at.reason.empty() && has_size &&
           operand_.role >= OperandRole::destination && operand_.role <= OperandRole::barrier &&
           operand_.at.op.find(".ignore_oob") == operand_.at.op.npos;
  }

  void solve(OperandCase const& one, unsigned depth) {
    constexpr std::uint64_t bytes_of_barrier = 8;
    if (kernel_.out_of_steps() || ++cases_ > most_cases) return open();
    Warp& warp = runs_.under(one);
    std::uint32_t const active = warp.present() & ~warp.truth(done_.guard).no;
    if (active == 0 || leaves_) return;
    Lanes at = warp.value(done_.address, bits_);
    for (std::uint64_t& x : at.lane)  // bytes before the array are negative
      if ((x >> (bits_ - 1) & 1) != 0) x = (x | ~low_bits(bits_)) & low_bits(address_bits);
    Lanes size;
    size.lane.fill(bytes_of_barrier);
    if (operand_.role != OperandRole::barrier) size = warp.value(done_.size, address_bits);
    if (Id const counter = counter_in(warp, one, at); counter != 0) return split(one, counter, depth);
    auto const more = more_of(warp, at);
    if (!more || !size.pure()) return open();
    std::uint32_t outside = 0, beyond = 0;
    for (unsigned l = 0; l < 32; ++l) {
      if ((active >> l & 1) == 0 || size.lane[l] == 0) continue;
      std::uint64_t const first = at.lane[l], end = first + size.lane[l];
      if (first < array_.first || end + *more > array_.bytes) outside |= 1U << l;
      if (array_.end != 0 && end > array_.end) beyond |= 1U << l;
    }
    if (beyond != 0 && *more == 0 && runs_.exist(one, beyond, {}))
      refute(one, at, size, beyond);
    else if (outside != 0)
      open();
  }

  /// The counter of a loop in the address, whose iterations are known and not assumed; else 0.
  Id counter_in(Warp& warp, OperandCase const& one, Lanes const& at) {
    std::vector<Id> atoms;
    for (auto const& term : at.terms)
      if (term.first != base_) atoms.push_back(term.first);
    if (at.state == Lanes::State::stuck) atoms.push_back(warp.request(at.why).atom);
    std::erase(atoms, 0U);
    for (Id const id : kernel_.origins.leaves_of(std::move(atoms))) {
      bool const assumed = std::any_of(one.assumptions.begin(), one.assumptions.end(),
                                       [&](Assumption const& a) { return a.atom == id; });
      if (!assumed && kernel_.iterations.count(one.warp, id) != 0) return id;
    }
    return 0;
  }

  void split(OperandCase const& one, Id counter, unsigned depth) {
    if (depth == deepest) return open();
    for (std::uint64_t k = 0; k < kernel_.iterations.count(one.warp, counter); ++k) {
      OperandCase next = one;
      next.assumptions.push_back({counter, false, 64, k});
      solve(next, depth + 1);
    }
  }

  /// The most that other terms than the array's address add; nothing if it is not known.
  [[nodiscard]] std::optional<std::uint64_t> more_of(Warp& warp, Lanes const& at) const {
    bool const on_array =
        std::find(at.terms.begin(), at.terms.end(), std::pair(base_, std::uint64_t{1})) != at.terms.end();
    if (!at.split() || !on_array) return std::nullopt;
    std::uint64_t more = 0;
    for (auto const& [atom, factor] : at.terms) {
      std::uint64_t const most = atom == base_ ? 0 : warp.facts(atom).most;
      if (most != 0 && factor > low_bits(address_bits) / most) return std::nullopt;
      more += factor * most;
    }
    return more;
  }

  void refute(OperandCase const& one, Lanes const& at, Lanes const& size, std::uint32_t lanes) {
    auto const l = static_cast<unsigned>(std::countr_zero(lanes));
    auto const first = static_cast<std::int32_t>(at.lane[l]);
    leaves_ = true;
    out_.verdict = KernelVerdict::refuted;
    out_.on_bases = false, out_.base.reset();
    out_.reason = first < 0 ? fmt::format("it begins {} bytes before {}", -std::int64_t{first}, out_.array)
                            : fmt::format("its {} bytes end {} bytes behind {}", size.lane[l],
                                          at.lane[l] + size.lane[l] - array_.end, out_.array);
    out_.values = runs_.values();
    for (Assumption const& a : one.assumptions)
      out_.values.emplace_back(text_of_term(kernel_.program, kernel_.execution, a.atom), a.value);
  }
  void open() { stays_ = false; }

  ExecutedKernel& kernel_;
  SharedOperand const& operand_;
  ExecutedAccess const& done_;
  KernelOperand& out_;
  OperandRuns runs_;
  Extent array_{};
  unsigned bits_ = address_bits;  ///< of an address that say how far it is from its array
  Id base_ = 0;
  std::size_t cases_ = 0;
  bool leaves_ = false, stays_ = true;
};

}  // namespace

void check_copy_bounds(ExecutedKernel& kernel, std::size_t index, KernelOperand& out) {
  if (out.verdict != KernelVerdict::refuted) CopyBounds(kernel, index, out).run();
}

}  // namespace swizproof::kernel_detail
