#include "race_bytes.hpp"

namespace swizproof::kernel_detail {

using program::Space;

RaceBytes::RaceBytes(program::Program const& lowered, DataDecisions& data, ValueTerms& terms)
    : program_(lowered), data_(data), terms_(terms) {
  for (std::size_t s = 0; s < lowered.symbols.size(); ++s) {
    Space const space = lowered.symbols[s].space;
    std::uint64_t const from = space == Space::local   ? locals_from
                               : space == Space::param ? params_from
                                                       : symbols_from;
    addresses_.push_back(lowered.symbols[s].placed.value_or(from + (std::uint64_t{s} << 20)));
  }
}

void RaceBytes::begin(RaceLaunch const& launch) {
  launch_ = &launch;
  bytes_.clear(), read_.clear();
}

RaceValue RaceBytes::loaded(std::uint64_t at, unsigned bytes, std::uint32_t thread, std::uint32_t line) {
  RaceValue out{0, false, data_.stored};
  std::vector<ValueTerms::Term> terms;
  bool from_launch = false;  // some bytes were not stored by the block
  for (unsigned k = 0; k < bytes; ++k) {
    auto const found = bytes_.find(at + k);
    RaceValue byte{0, false, 0};
    if (found != bytes_.end())
      byte = found->second, data_.sets.join_to(out.data, byte.data);
    else if (from_launch = true; launch_->counts || launch_->falls)
      byte.bits =
          (launch_->falls ? 1023 - ((at + k) >> 2 & 1023) : (at + k) >> 2) >> 8 * ((at + k) % 4) & 0xff;
    out.open = out.open || byte.open;
    out.bits |= byte.bits << 8 * k;
    terms.push_back(found != bytes_.end() ? terms_.of(byte) : initial(at + k));
  }
  if (from_launch) data_.sets.join_to(out.data, data_.sets.of({line, thread, at, out.bits, bytes}));
  if (out.open) out.bits = 0;
  if (data_.stored == 0)
    out.term = terms_.moved(terms_.of_bytes(terms));  // else what is stored where depends on loads
  return out;
}

ValueTerms::Term RaceBytes::initial(std::uint64_t at) {
  return bytes_.count(at) != 0 ? 0 : terms_.initial(at, at < symbols_from);
}

std::vector<RaceValue> RaceBytes::copied(RaceValue const& from, RaceValue const& size, unsigned bytes) {
  std::vector<RaceValue> out;
  if (size.open || size.data != 0 || size.bits > bytes) return out;
  bool const known = !from.open && from.data == 0;
  for (unsigned k = 0; k < bytes; ++k)
    out.push_back(k >= size.bits ? RaceValue{0, false}
                  : known        ? RaceValue{0, true, 0, initial(from.bits + k)}
                                 : RaceValue{});
  return out;
}

RaceValue RaceBytes::parameter(std::uint64_t at, unsigned width, Space space) {
  std::uint64_t const symbol = (at - params_from) >> 20, offset = (at - params_from) & 0xfffff;
  if (space == Space::global || symbol >= program_.symbols.size() ||
      program_.symbols[symbol].space != Space::param)
    return {};  // far from every pointer
  auto const word_of = [&](std::uint64_t o) {
    auto const key = std::pair(static_cast<std::uint32_t>(symbol), o / 4 * 4);
    read_.insert(key);
    auto const found = launch_->params.find(key);
    return (found == launch_->params.end() ? 0 : found->second) >> 8 * (o % 4);
  };
  std::uint64_t const low = word_of(offset);
  std::uint64_t const bits =
      width == 64 ? (low & 0xffffffff) | word_of(offset + 4) << 32 : low & low_bits(width);
  return {bits, false};
}

}  // namespace swizproof::kernel_detail
