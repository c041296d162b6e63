#include "faults.hpp"

#include "access_cost.hpp"
#include "address_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::Lanes;
using execution::LaneTruths;
using execution::Leaf;
using program::Variable;

namespace {

/// From here on: bytes below an array, which no more than 2^18 lie in front of. Other numbers may be products that wrap around.
constexpr std::uint64_t first_below = 0xfffc0000;

}  // namespace

Extent extent_of(ExecutedKernel const& kernel, std::uint32_t symbol) {
  if (symbol == ~0U) return {};
  Variable const& array = kernel.program.symbols[symbol];
  auto const& dynamic = kernel.options.shared_bytes;
  if (kernel.program.language != "SASS") {
    std::uint64_t const bytes = array.extern_array ? dynamic.value_or(0) : array.bytes;
    bool const open = array.extern_array && bytes == 0;
    return {0, bytes, open ? first_below : bytes, open ? kernel.options.arch->most_shared_bytes.value() : 0};
  }
  if (!array.sized) return {};
  std::uint64_t const bytes = array.bytes + dynamic.value_or(0);
  return {array.first, bytes, dynamic ? bytes + array.padding : 0};
}

std::string leaves_in_words(std::uint32_t at, std::string const& array, std::uint64_t end,
                            std::uint64_t most) {
  auto const number = static_cast<std::int32_t>(at);
  std::string const byte = number < 0
                               ? std::to_string(number)
                               : fmt::format("{:#x}", std::max<std::uint64_t>(at, most != 0 ? most : end));
  return fmt::format("accesses byte {} of {}, {}", byte, array,
                     end != first_below ? fmt::format("which has {} bytes", end)
                     : number < 0       ? "before its start"
                                        : fmt::format("and a block has at most {} bytes", most));
}

std::string why_no_bounds(ExecutedKernel const& kernel, ExecutedAccess const& access, std::uint32_t symbol) {
  std::vector<Variable> const& symbols = kernel.program.symbols;
  bool const sass = kernel.program.language == "SASS";
  if (sass && std::none_of(symbols.begin(), symbols.end(), std::mem_fn(&Variable::sized)))
    return "the dump has no size of shared memory: nvdisasm -g FILE.cubin, without -c, prints it";
  if (symbol == ~0U) return no_known_array;
  if (sass && !kernel.options.shared_bytes)
    return "dynamic shared memory may follow the static part: --shared-bytes N gives its size";
  std::string const name = short_name(symbols[symbol].name);
  if (symbols[symbol].extern_array && !kernel.options.shared_bytes)
    return fmt::format("the size of {} is set at the launch: --shared-bytes N gives it", name);
  auto const leaves = kernel.origins.leaves_of({access.address});
  bool const parameter = std::any_of(leaves.begin(), leaves.end(), [&](Id id) {
    return kernel.origins.leaf_at(id)->kind == Leaf::Kind::param;
  });
  std::string const open = fmt::format(
      "no proof that the address stays within {}, and no execution was found that leaves it", name);
  return parameter ? open + "; the address takes a parameter: --param NAME=VALUE gives it" : open;
}

namespace {

constexpr std::uint64_t window = 0xffffffff;  ///< greatest address
constexpr std::uint64_t most_iterations_checked = 2048;

/// Lanes of a mask that give an address where these lanes are active, in their order.
std::vector<unsigned> lanes_of_mask(program::MemoryAccess const& m, std::uint32_t active,
                                    std::uint32_t mask) {
  std::vector<unsigned> lanes;
  for (unsigned l = 0; active != 0 && l < 32; ++l)
    if (takes_part(*m.instruction, active, l) && (mask >> l & 1) != 0) lanes.push_back(l);
  return lanes;
}

/// Summands of all lanes' addresses: counters of loops whose iterations are known, and the rest.
struct SharedSum {
  struct Counter {
    Id atom;
    std::uint64_t factor;
    LanesByIteration const* all;
  };
  std::vector<Counter> counters{};
  std::uint64_t cases = 1;  ///< iterations of all counters
  std::uint64_t last = 0;   ///< upper bound of the counters; 2^32 if it may wrap
  std::uint64_t most = 0;   ///< upper bound of the rest without the array's address; ~0: not known
  bool on_array = false;    ///< the array's address is a summand
  std::uint64_t base = 0;   ///< assumed low bits of that address
  bool others = false;      ///< the rest has more than it
  unsigned zeros = 32;      ///< lower bound of the rest's zero bits
};

/// Addresses of the lanes in one iteration, in bytes of their window, and the lanes at fault, a bit a lane.
struct LaneStarts {
  LaneAddresses bytes{};
  std::uint32_t outside = 0;  ///< may end outside what is known to be the array's
  std::uint32_t beyond = 0;   ///< ends behind all that may be the array's
  std::uint32_t past = 0;     ///< Extent::is_past_block()
  std::uint32_t odd = 0;      ///< starts at no multiple of its size
};

/// The check of one case.
class FaultCheck {
 public:
  FaultCheck(ExecutedKernel& kernel, LanesInCase const& now, Faults& faults, FirstFaults& first)
      : kernel_(kernel), now_(now), faults_(faults), first_(first) {}

  void run() {
    Lanes const& v = now_.address;
    if (!bounded_ || array_.bytes == 0) faults_.in_bounds = std::nullopt;
    if (!aligned_) faults_.aligned = false;
    // One iteration with all lanes is checked where all have one answer.
    bool const one_guard = (now_.guard.rest() & now_.warp.present()) == 0;
    auto const [least, top] = std::minmax_element(v.lane.begin(), v.lane.end());
    std::uint64_t const bytes = array_.bytes != 0  ? array_.bytes
                                : array_.most != 0 ? array_.most
                                                   : array_.end;
    bool const steady = (!bounded_ || (*least >= array_.first + sum_.base &&
                                       *top + sum_.last + sum_.most + unit_ <= bytes + sum_.base)) &&
                        std::all_of(sum_.counters.begin(), sum_.counters.end(),
                                    [&](SharedSum::Counter const& c) { return c.factor % unit_ == 0; });
    bool checked = false;
    for (std::uint64_t i = 0; i < sum_.cases && !(steady && checked) && (bounded_ || aligned_ || differ_);
         ++i)
      checked = (check_iterations(i) == ~0U && one_guard) || checked;
  }

 private:
  /// Counters are followed where they may misalign the access, and all of them if an end of the array is known.
  SharedSum find_sum() {
    SharedSum sum;
    Lanes const base = address_of_array();
    for (auto const& [atom, factor] : now_.address.terms) {
      bool const follow = array_.bytes != 0 || array_.end != 0 || factor % unit_ != 0;
      LanesByIteration const* const all = follow ? kernel_.iterations.of(now_.number, atom) : nullptr;
      if (all != nullptr && sum.cases * all->size() <= most_iterations_checked) {
        sum.counters.push_back({atom, factor, all});
        sum.cases *= all->size();
        sum.last = std::min(sum.last + factor * (all->size() - 1), window + 1);
        continue;
      }
      sum.zeros = std::min(sum.zeros,
                           static_cast<unsigned>(std::countr_zero(factor)) + now_.warp.trailing_zeros(atom));
      if (!sum.on_array && base.terms == decltype(base.terms){{atom, factor}}) {
        sum.on_array = true, sum.base = base.lane[0];
        continue;
      }
      sum.others = true;
      std::uint64_t const f = now_.warp.facts(atom).most;
      bool const unknown = sum.most > window || (f != 0 && factor > window / f);
      sum.most = unknown ? ~std::uint64_t{0} : sum.most + factor * f;
    }
    return sum;
  }

  /// The address of the array under the assumptions; without summands if it is not known which array it is.
  Lanes address_of_array() {
    for (Id const id : kernel_.origins.arrays_of({now_.access.address}))
      if (kernel_.origins.leaf_at(id)->extra == now_.symbol) return now_.warp.value(id, 32);
    return {};
  }

  [[nodiscard]] bool lanes_differ() const {
    auto const& lane = now_.address.lane;
    return std::any_of(lane.begin(), lane.end(),
                       [&](std::uint64_t at) { return (at - lane[0]) % unit_ != 0; });
  }

  [[nodiscard]] LaneStarts starts(std::uint64_t moved) const {
    LaneStarts out;
    for (unsigned l = 0; l < 32; ++l) {
      std::uint64_t const behind = now_.address.lane[l] + moved & window;
      std::uint64_t const at = out.bytes[l] = behind - sum_.base & window;
      bool const beyond = bounded_ && array_.end != 0 && at + unit_ > array_.end;
      bool const stays = at >= array_.first && at + sum_.most + unit_ <= array_.bytes;
      if (beyond) out.beyond |= 1U << l;
      if (bounded_ && array_.is_past_block(at, unit_)) out.past |= 1U << l;
      if (beyond || array_.is_past_block(at, unit_) || (bounded_ && array_.bytes != 0 && !stays))
        out.outside |= 1U << l;
      if (behind % unit_ != 0) out.odd |= 1U << l;
    }
    return out;
  }

  /// Checks the iterations of all counters that have the number `i`; returns the lanes that may have them.
  std::uint32_t check_iterations(std::uint64_t i) {
    std::vector<Assumption> assumptions = now_.assumptions;
    std::uint64_t moved = 0;
    std::uint32_t run = certain_, can = ~0U;
    for (SharedSum::Counter const& counter : sum_.counters) {
      std::uint64_t const k = i % counter.all->size();
      if (!kernel_.iterations.meets(now_.assumptions, counter.atom, k)) return 0;
      i /= counter.all->size();
      assumptions.push_back({counter.atom, false, 64, k});
      moved += counter.factor * k;
      auto const lanes = kernel_.iterations.lanes_in(now_.access.loop, counter.atom, *counter.all, k);
      run &= lanes.surely, can &= lanes.may;
    }
    if (can != 0) check_lanes(starts(moved), assumptions, run, can);
    return can;
  }

  /// Checks the lanes of one iteration: those in `run` surely execute it, those in `can` may.
  void check_lanes(LaneStarts const& at, std::vector<Assumption> const& assumptions, std::uint32_t run,
                   std::uint32_t can) {
    auto const& m = now_.memory;
    bool const matrices = m.instruction->matrices != 0;
    std::uint32_t const odd = aligned_ ? at.odd : differ_ ? ~0U : 0U;
    auto const some = [&](std::uint32_t lanes, std::uint32_t of) {
      return !lanes_of_mask(m, lanes, of).empty();
    };
    LaneTruths here = now_.guard;
    std::uint32_t const present = now_.warp.present();
    if (!some(can & present & ~here.no, at.outside | odd)) return;
    bool const again = !sum_.counters.empty() && (now_.guard.rest() & present) != 0;
    if (again && !kernel_.out_of_steps())  // the condition in this iteration
      here = kernel_.warps.under(now_.number, assumptions).truth(now_.access.guard);
    if (matrices && run != ~0U) run = 0;
    std::uint32_t const may = can & present & ~here.no;
    std::uint32_t does = present & here.yes & run;
    if (matrices && does != present) does = 0;
    if (some(may, at.outside)) faults_.in_bounds = std::nullopt;
    if (some(may, odd)) faults_.aligned = false;
    // If the block is not known, only its first warp surely exists.
    bool const exists = !kernel_.launch.any_multiple || now_.number == 0;
    if (!sum_.others && exists) {
      note_outside(lanes_of_mask(m, does, at.beyond | at.past), at.bytes);
      note_possible(lanes_of_mask(m, may, at.beyond), assumptions);
    }
    faults_.misaligned |= note_misaligned(lanes_of_mask(m, does, odd), at.bytes);
  }

  /// Keeps the first lane that leaves an array.
  void note_outside(std::vector<unsigned> const& lanes, LaneAddresses const& bytes) {
    if (lanes.empty() || !first_.outside.empty()) return;
    unsigned const l = lanes.front();
    bool const sass = kernel_.program.language == "SASS";
    std::string const text = sass ? fmt::format("accesses byte {:#x} of shared memory, which ends at {:#x}",
                                                std::max(bytes[l], array_.end), array_.end)
                                  : leaves_in_words(static_cast<std::uint32_t>(bytes[l]),
                                                    short_name(kernel_.program.symbols[now_.symbol].name),
                                                    array_.end, array_.most);
    first_.outside = fmt::format("lane {} of warp {} {}", l, now_.number, text);
  }

  /// Keeps the first lane that leaves an array if the guard lets it.
  void note_possible(std::vector<unsigned> const& lanes, std::vector<Assumption> const& assumptions) {
    if (!lanes.empty() && !first_.possible && now_.number != execution::Warp::every)
      first_.possible = {now_.number, lanes.front(), assumptions};
  }

  /// True if one of the lanes is surely misaligned: each of them if the base is known to be aligned, else one of two that differ by no
  /// whole number of units. Keeps the first.
  bool note_misaligned(std::vector<unsigned> const& all, LaneAddresses const& bytes) {
    if (all.empty()) return false;
    unsigned const first = all.front();
    auto const other = std::find_if(all.begin(), all.end(),
                                    [&](unsigned l) { return (bytes[l] - bytes[first]) % unit_ != 0; });
    if (!aligned_ && other == all.end()) return false;
    if (first_.misaligned.empty())
      first_.misaligned =
          aligned_
              ? fmt::format("lane {} of warp {} is {} bytes past a multiple of {}", first, now_.number,
                            bytes[first] % unit_, unit_)
              : fmt::format(
                    "lanes {} and {} of warp {} are {} bytes apart: they cannot both be at a multiple of {}",
                    first, *other, now_.number,
                    std::max(bytes[first], bytes[*other]) - std::min(bytes[first], bytes[*other]), unit_);
    return true;
  }

  ExecutedKernel& kernel_;
  LanesInCase const& now_;
  Faults& faults_;
  FirstFaults& first_;
  std::uint64_t unit_ = now_.memory.instruction->bytes;
  Extent array_ = extent_of(kernel_, now_.symbol);
  SharedSum sum_ = find_sum();
  bool bounded_ = (array_.bytes != 0 || array_.end != 0) && sum_.on_array && sum_.most <= window;
  bool aligned_ = sum_.zeros >=
                  static_cast<unsigned>(std::countr_zero(unit_));  ///< the sum that all lanes add is aligned
  bool differ_ = !aligned_ && lanes_differ();  ///< two lanes differ by no whole number of units
  std::uint32_t certain_ =
      now_.access.exact ? kernel_.iterations.surely(now_.number, now_.access.loop, now_.assumptions) : 0;
};

}  // namespace

void check_faults(ExecutedKernel& kernel, LanesInCase const& now, Faults& faults, FirstFaults& first) {
  FaultCheck(kernel, now, faults, first).run();
}

}  // namespace swizproof::kernel_detail
