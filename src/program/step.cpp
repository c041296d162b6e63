#include <swizproof/program/step.hpp>

namespace swizproof::program {

Shuffle shuffle_mode(Opcode const& op) {
  return op.has("up")     ? Shuffle::up
         : op.has("down") ? Shuffle::down
         : op.has("bfly") ? Shuffle::bfly
                          : Shuffle::idx;
}

std::optional<unsigned> shuffle_in_range(Shuffle mode, unsigned lane, std::uint32_t b, std::uint32_t c) {
  std::uint32_t const clamp = c & 31, segment = c >> 8 & 31, by = b & 31;
  std::uint32_t const most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  auto const signed_lane = static_cast<std::int32_t>(lane), signed_most = static_cast<std::int32_t>(most);
  std::int32_t j = 0;
  if (mode == Shuffle::up) j = signed_lane - static_cast<std::int32_t>(by);
  if (mode == Shuffle::down) j = static_cast<std::int32_t>(lane + by);
  if (mode == Shuffle::bfly) j = static_cast<std::int32_t>(lane ^ by);
  if (mode == Shuffle::idx) j = static_cast<std::int32_t>(least | (by & ~segment));
  bool const in = mode == Shuffle::up ? j >= signed_most : j <= signed_most;
  if (!in) return std::nullopt;
  return static_cast<unsigned>(j) & 31U;
}

unsigned shuffle_source(Shuffle mode, unsigned lane, std::uint32_t b, std::uint32_t c) {
  return shuffle_in_range(mode, lane, b, c).value_or(lane);
}

std::optional<std::uint64_t> special_of(std::uint32_t which, ThreadOfLaunch const& at) {
  if (which >= first_uniform_special) return std::nullopt;
  auto const& [thread, lane, block, grid, number] = at;
  auto const axis = [&](Special first) { return which - static_cast<std::size_t>(first); };
  switch (static_cast<Special>(which)) {
    case Special::tid_x:
      return thread % block[0];
    case Special::tid_y:
      return thread / block[0] % block[1];
    case Special::tid_z:
      return thread / block[0] / block[1];
    case Special::ntid_x:
    case Special::ntid_y:
    case Special::ntid_z:
      return block[axis(Special::ntid_x)];
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
      return number[axis(Special::ctaid_x)];
    case Special::nctaid_x:
    case Special::nctaid_y:
    case Special::nctaid_z:
      return grid[axis(Special::nctaid_x)];
    case Special::laneid:
      return lane;
    case Special::mask_eq:
      return std::uint64_t{1} << lane;
    case Special::mask_lt:
      return low_bits(lane);
    case Special::mask_le:
      return low_bits(lane + 1);
    case Special::mask_gt:
      return ~low_bits(lane + 1) & low_bits(32);
    case Special::mask_ge:
      return ~low_bits(lane) & low_bits(32);
    default:
      return std::nullopt;
  }
}

PlacedArrays place_shared(std::vector<Variable> const& symbols, std::uint64_t start,
                          std::function<std::uint64_t(std::uint32_t)> const& align_of) {
  PlacedArrays out;
  out.addresses.resize(symbols.size());
  out.end = start;
  for (bool const dynamic : {false, true})
    for (std::uint32_t i = 0; i < symbols.size(); ++i) {
      Variable const& v = symbols[i];
      if (v.space != Space::shared || v.extern_array != dynamic) continue;
      std::uint64_t const align = align_of(i), at = (out.end + align - 1) / align * align;
      out.addresses[i] = at;
      if (!dynamic) out.end = at + v.bytes;
    }
  return out;
}

}  // namespace swizproof::program
