#include "needed_values.hpp"

#include "access_cost.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::Lanes;
using execution::LaneTruths;
using execution::Leaf;
using execution::ReadNumber;
using execution::Warp;

namespace {

/// The access in one warp, for all values that are not fixed by an assumption.
class AnyValues {
 public:
  AnyValues(ExecutedKernel& kernel, AccessSearch const& search, unsigned warp, unsigned wavefronts)
      : kernel_(kernel), search_(search), warp_(warp), wavefronts_(wavefronts) {
    for (Id const id : kernel.origins.leaves_of({search.access.address, search.access.guard}))
      leaves_.push_back(id);
  }

  /// True if the access takes the number of threads in a block.
  [[nodiscard]] bool takes_block() const {
    return std::any_of(leaves_.begin(), leaves_.end(), [this](Id id) {
      Leaf const& l = *kernel_.origins.leaf_at(id);
      return l.kind == Leaf::Kind::special &&
             static_cast<program::Special>(l.extra) == program::Special::ntid_x;
    });
  }
  /// True if the access takes as many wavefronts in the first iteration with these numbers and any others.
  [[nodiscard]] bool suffice(std::vector<ReadNumber> const& numbers) {
    if (kernel_.out_of_steps()) return false;
    std::vector<Assumption> assumptions;
    for (auto loop = search_.access.loop; loop >= 0;
         loop = kernel_.flow.loops[static_cast<std::size_t>(loop)].parent)
      if (Id const counter = kernel_.execution.counters[static_cast<std::size_t>(loop)]; counter != 0)
        assumptions.push_back({counter, false, 64, 0});
    for (Id const id : leaves_)
      for (ReadNumber const& n : numbers)
        if (is(*kernel_.origins.leaf_at(id), n)) assumptions.push_back({id, false, 64, n.value});
    return takes_as_many(assumptions.empty() ? kernel_.warps.plain(warp_)
                                             : kernel_.warps.under(warp_, assumptions));
  }

 private:
  [[nodiscard]] static bool is(Leaf const& leaf, ReadNumber const& n) {
    if (n.block) return leaf.kind == Leaf::Kind::special && !is_uniform(leaf) && leaf.extra == n.symbol;
    return leaf.kind == Leaf::Kind::param && leaf.extra == n.symbol && leaf.offset == n.offset &&
           leaf.width == n.bits;
  }

  [[nodiscard]] bool takes_as_many(Warp& warp) const {
    Instruction const& instruction = *search_.memory.instruction;
    LaneTruths const guard = warp.truth(search_.access.guard);
    std::uint32_t const active = warp.present() & guard.yes;
    if ((guard.rest() & warp.present()) != 0 || active == 0) return false;
    Lanes const v = warp.value(search_.access.address, 32);
    if (!v.split()) return false;
    // A part that all lanes share moves them by whole words and whole accesses.
    auto const whole = static_cast<unsigned>(std::countr_zero(std::max(4U, instruction.bytes)));
    LaneAddresses address = v.lane;
    for (auto const& [atom, factor] : v.terms)
      if (static_cast<unsigned>(std::countr_zero(factor)) + warp.trailing_zeros(atom) < whole) return false;
    for (unsigned l = 0; l < 32; ++l)
      if (takes_part(instruction, active, l) && address[l] % instruction.bytes != 0) return false;
    return cost_of(kernel_.options, search_.memory, active, address).wavefronts == wavefronts_;
  }

  ExecutedKernel& kernel_;
  AccessSearch const& search_;
  unsigned warp_, wavefronts_;
  std::vector<Id> leaves_{};
};

}  // namespace

bool needs_block(ExecutedKernel& kernel, AccessSearch const& search, unsigned warp, unsigned wavefronts) {
  if (!kernel.launch.any_multiple) return false;
  AnyValues any(kernel, search, warp, wavefronts);
  return any.takes_block() && !any.suffice({});
}

std::vector<ReadNumber> needed_values(ExecutedKernel& kernel, AccessSearch const& search, unsigned warp,
                                      unsigned wavefronts, std::vector<ReadNumber> numbers) {
  if (search.source != nullptr || search.memory.bypasses) return numbers;  // all that both addresses take
  if (numbers.empty() || !search.access.exact || search.access.apart) return numbers;
  AnyValues any(kernel, search, warp, wavefronts);
  if (any.suffice({})) return {};
  if (numbers.size() == 1 || !any.suffice(numbers)) return numbers;
  for (std::size_t i = 0; i < numbers.size();) {
    std::vector<ReadNumber> fewer = numbers;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (any.suffice(fewer))
      numbers = std::move(fewer);
    else
      ++i;
  }
  return numbers;
}

}  // namespace swizproof::kernel_detail
