#include "executions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::LaneTruths;
using execution::Warp;

namespace {

constexpr std::uint64_t most_sets = 4096;   ///< of iterations, whose lanes are looked at one by one
constexpr std::uint64_t most_guards = 128;  ///< that are decided for one access

class Counting {
 public:
  Counting(ExecutedKernel& kernel, ExecutedAccess const& access) : kernel_(kernel), access_(access) {}

  Executions run() {
    Executions out;
    std::uint64_t exactly = 0;
    bool known = access_.exact && (!access_.apart || is_dead()) && !kernel_.launch.any_multiple;
    for (unsigned w = 0; w < kernel_.warps.count(); ++w) {
      find_loops(w, out);
      out.about += sets_;
      if (!known) continue;
      std::optional<std::uint64_t> const n = out.open_loops == 0 ? count(w) : std::nullopt;
      known = n.has_value();
      exactly += n.value_or(0);
    }
    if (known) out.exactly = exactly;
    return out;
  }

 private:
  struct Loop {
    Id counter = 0;
    LanesByIteration const* lanes = nullptr;
  };

  /// True if no lane of any warp executes it.
  [[nodiscard]] bool is_dead() {
    for (unsigned w = 0; w < kernel_.warps.count(); ++w)
      if (Warp& warp = kernel_.warps.plain(w); (warp.present() & ~warp.truth(access_.guard).no) != 0)
        return false;
    return true;
  }

  void find_loops(unsigned warp, Executions& out) {
    loops_.clear();
    sets_ = 1, out.loops = out.open_loops = 0;
    for (auto loop = access_.loop; loop >= 0;
         loop = kernel_.flow.loops[static_cast<std::size_t>(loop)].parent) {
      Id const counter = kernel_.execution.counters[static_cast<std::size_t>(loop)];
      LanesByIteration const* const lanes = counter == 0 ? nullptr : kernel_.iterations.of(warp, counter);
      ++out.loops;
      if (lanes == nullptr) {
        ++out.open_loops;
        continue;
      }
      loops_.push_back({counter, lanes});
      sets_ *= lanes->size();
    }
  }

  /// Iterations, one of each loop around the access, with the lanes that surely execute them.
  template <class F>
  bool each_set(F const& f) const {
    for (std::uint64_t set = 0; set < sets_; ++set) {
      std::uint32_t lanes = ~0U;
      std::uint64_t rest = set;
      std::vector<Assumption> now;
      for (Loop const& l : loops_) {
        lanes &= (*l.lanes)[rest % l.lanes->size()];
        now.push_back({l.counter, false, 64, rest % l.lanes->size()});
        rest /= l.lanes->size();
      }
      if (!f(lanes, now)) return false;
    }
    return true;
  }

  std::optional<std::uint64_t> count(unsigned number) {
    Warp& plain = kernel_.warps.plain(number);
    std::uint32_t const present = plain.present();
    LaneTruths const guard = plain.truth(access_.guard);
    if ((present & ~guard.no) == 0) return 0;
    std::uint32_t always = guard.yes & present;  // lanes in all iterations
    for (Loop const& l : loops_)
      for (std::uint32_t const lanes : *l.lanes) always &= lanes;
    if (always != 0) return sets_;
    if (sets_ > most_sets) return std::nullopt;
    if ((guard.yes & present) != 0) {
      bool const each =
          each_set([&](std::uint32_t lanes, auto const&) { return (lanes & guard.yes & present) != 0; });
      if (each) return sets_;
    }
    std::uint64_t executed = 0;
    bool const known = each_set([&](std::uint32_t lanes, std::vector<Assumption> const& now) {
      if (now.empty() || ++guards_ > most_guards || kernel_.out_of_steps()) return false;
      LaneTruths const here = kernel_.warps.under(number, now).truth(access_.guard);
      bool const some = (here.yes & lanes & present) != 0;
      executed += some ? 1 : 0;
      return some || (present & ~here.no) == 0;
    });
    return known ? std::optional(executed) : std::nullopt;
  }

  ExecutedKernel& kernel_;
  ExecutedAccess const& access_;
  std::vector<Loop> loops_{};
  std::uint64_t sets_ = 1;
  std::uint64_t guards_ = 0;
};

}  // namespace

Executions executions_of(ExecutedKernel& kernel, ExecutedAccess const& access) {
  return Counting(kernel, access).run();
}

}  // namespace swizproof::kernel_detail
