#include "race_shuffles.hpp"

#include <swizproof/program/step.hpp>

namespace swizproof::kernel_detail {

namespace {

/// True if a lane waits for the same exchange.
bool waits_with(ShuffleLane const& lane, ShuffleOffer const& o) {
  return lane.offer && lane.offer->mode == o.mode && lane.offer->mask == o.mask;
}

bool complete(std::span<ShuffleLane> lanes, ShuffleOffer const& o) {
  for (std::size_t l = 0; l < lanes.size(); ++l)
    if ((o.mask >> l & 1) != 0 && !lanes[l].ended && !waits_with(lanes[l], o)) return false;
  return true;
}

RaceValue taken(std::span<ShuffleLane> lanes, std::size_t lane, LoadSets& sets, ValueTerms& terms) {
  ShuffleOffer const& o = *lanes[lane].offer;
  if (o.by.open || o.bounds.open) return {};
  std::size_t const from =
      program::shuffle_source(o.mode, static_cast<unsigned>(lane), static_cast<std::uint32_t>(o.by.bits),
                              static_cast<std::uint32_t>(o.bounds.bits));
  bool const gives = from < lanes.size() && (o.mask >> from & 1) != 0 && waits_with(lanes[from], o);
  RaceValue out = gives ? lanes[from].offer->value : RaceValue{};
  out.term = terms.moved(out.term);
  LoadSets::Set const by = sets.join(o.by.data, o.bounds.data);
  if (by != 0) out.term = 0, out.data = sets.join(out.data, by);
  return out;
}

}  // namespace

bool exchange(std::span<ShuffleLane> lanes, LoadSets& sets, ValueTerms& terms) {
  bool any = false;
  for (std::size_t l = 0; l < lanes.size(); ++l)
    if (lanes[l].offer && (lanes[l].offer->mask >> l & 1) != 0 && complete(lanes, *lanes[l].offer))
      lanes[l].result = taken(lanes, l, sets, terms), any = true;
  return any;
}

}  // namespace swizproof::kernel_detail
