#include "bypass_copy.hpp"

#include <swizproof/hardware/copy.hpp>

#include <algorithm>

namespace swizproof::kernel_detail {

namespace {

constexpr unsigned number_bits = 6;  ///< of at most 32 wavefronts
constexpr unsigned number_mask = (1U << number_bits) - 1;

}  // namespace

unsigned CopyCost::number(bool by_excess) const {
  return by_excess ? excess() << number_bits | wavefronts : wavefronts << number_bits | least;
}

CopyCost CopyCost::of_number(unsigned number, bool by_excess) {
  unsigned const high = number >> number_bits, low = number & number_mask;
  return by_excess ? CopyCost{low, low - high} : CopyCost{high, low};
}

unsigned allowed_copy(KernelOptions const& options, std::optional<unsigned> number) {
  unsigned const most = std::min(number.value_or(options.excess), number_mask);
  return most << number_bits | number_mask;
}

void name_copy(bool by_excess, CopyMost const& most, KernelAccess& out) {
  if (!out.wavefronts || !out.executed) return;
  bool const proved = out.verdict == KernelVerdict::proved;
  CopyCost const worst = CopyCost::of_number(*out.wavefronts, by_excess);
  CopyCost const shown = out.seen != 0 ? CopyCost::of_number(out.seen, by_excess) : worst;
  bool const partly = out.seen != 0 || (out.reached && out.verdict == KernelVerdict::refuted);
  out.seen = partly && shown.wavefronts < most.wavefronts ? shown.wavefronts : 0;
  out.reached = out.reached && worst.wavefronts == most.wavefronts;
  out.wavefronts = most.wavefronts;
  out.copy_excess = most.excess;
  out.allowed = out.allowed >> number_bits;
  out.ideal = !by_excess ? worst.least : proved && most.excess == 0 ? most.wavefronts : shown.least;
  if (by_excess) out.allowed += proved ? most.wavefronts : out.ideal;
  if (!by_excess || most.excess != 0) out.function.reset();
}

std::optional<CopyCost> copy_cost(std::uint32_t active, LaneAddresses const& from, LaneAddresses const& to) {
  WarpAccess<std::uint64_t> source{from, {}}, destination{to, {}};
  for (unsigned l = 0; l < warp_lanes; ++l) {
    source.active[l] = destination.active[l] = (active >> l & 1) != 0;
    if (source.active[l] && (from[l] | to[l]) % 16 != 0) return std::nullopt;
  }
  CopyWavefronts const cost = bypass_copy_wavefronts(source, destination);
  return CopyCost{cost.most, least_bypass_wavefronts_from(source), cost.least == cost.most,
                  !reads_a_unit_twice(source)};
}

CopyInCase copy_in(ExecutedKernel const& kernel, LanesInCase const& from, LaneAddresses const& to,
                   bool by_excess, std::function<bool(execution::Id)> const& alone) {
  GlobalLanes const lanes = global_lanes(kernel, from, alone);
  CopyInCase out;
  out.free = lanes.free, out.constant = lanes.constant, out.near = lanes.near, out.same = true;
  for (std::uint64_t residue = lanes.low; residue < copy_row; residue += lanes.step) {
    LaneAddresses moved = lanes.address;
    for (std::uint64_t& a : moved) a += residue;
    auto const cost = copy_cost(from.active, moved, to);
    if (!cost) continue;
    unsigned const number = cost->number(by_excess);
    out.wavefronts = std::max(out.wavefronts, cost->wavefronts);
    out.excess = std::max(out.excess, cost->excess());
    out.same = out.same && (!out.aligned || number == out.most);
    if (!out.aligned || number > out.most) out.most = number, out.residue = residue;
    out.exact = out.exact && cost->is_exact(by_excess), out.aligned = true;
  }
  return out;
}

}  // namespace swizproof::kernel_detail
