#include "race_flags.hpp"

#include <algorithm>

namespace swizproof::kernel_detail {

namespace {

using program::Opcode;

bool is_atomic(Opcode const& op) { return op.name == "atom" || op.name == "red"; }
bool is_fence(Opcode const& op) {
  return op.name == "membar" || (op.name == "fence" && !op.has("proxy") && !op.has("mbarrier_init"));
}
bool writes(Opcode const& op) { return is_atomic(op) || (op.name == "st" && op.is_strong()); }
bool reads(Opcode const& op) { return FlagOrders::reads(op); }
bool is_release(Opcode const& op) { return writes(op) && (op.has("release") || op.has("acq_rel")); }
bool is_acquire(Opcode const& op) { return reads(op) && (op.has("acquire") || op.has("acq_rel")); }

}  // namespace

bool FlagOrders::reads(Opcode const& op) { return op.name == "atom" || (op.name == "ld" && op.is_strong()); }

FlagOrders::FlagOrders(ptx::Function const& function) {
  auto const has = [&](bool (*of)(Opcode const&)) {
    return std::any_of(function.body.begin(), function.body.end(),
                       [of](ptx::Instruction const& i) { return of(i.opcode); });
  };
  bool const fence = has(is_fence);
  any_ = (has(is_release) || (fence && has(writes))) && (has(is_acquire) || (fence && has(reads)));
}

void FlagOrders::begin(std::size_t threads) {
  threads_.assign(threads, {});
  warps_.assign(threads / 32 + 1, {});
}

void FlagOrders::begin_interval() {
  for (Thread& t : threads_) t.read = t.acquired = false;
  for (Warp& w : warps_) w.acquired = Warp{}.acquired;
}

void FlagOrders::before(std::uint32_t thread, std::uint32_t phase, Opcode const& op) {
  Thread& t = threads_[thread];
  if (is_release(op)) ++t.fences;
  if (!writes(op) || t.fences == 0) return;
  t.released = t.fences;
  warps_[thread / 32].released = std::max(warps_[thread / 32].released, phase);
}

void FlagOrders::after(std::uint32_t thread, std::uint32_t phase, Opcode const& op) {
  Thread& t = threads_[thread];
  t.read = t.read || reads(op);
  if (is_fence(op)) ++t.fences;
  if (!is_acquire(op) && !(is_fence(op) && t.read)) return;
  t.acquired = true;
  warps_[thread / 32].acquired = std::min(warps_[thread / 32].acquired, phase);
}

bool FlagOrders::behind(Access const& a) const {
  return a.at.behind || warps_[a.thread / 32].acquired < a.phase;
}

bool FlagOrders::in_front(Access const& a) const {
  return a.goes_on || a.at.fences < threads_[a.thread].released || a.phase < warps_[a.thread / 32].released;
}

bool FlagOrders::may_order(Access const& a, Access const& b) const {
  return (behind(a) && in_front(b)) || (behind(b) && in_front(a));
}

}  // namespace swizproof::kernel_detail
