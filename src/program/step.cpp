#include <swizproof/program/step.hpp>

namespace swizproof::program {

unsigned shuffle_source(Shuffle mode, unsigned lane, std::uint32_t b, std::uint32_t c) {
  std::uint32_t const clamp = c & 31, segment = c >> 8 & 31, by = b & 31;
  std::uint32_t const most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  auto const signed_lane = static_cast<std::int32_t>(lane), signed_most = static_cast<std::int32_t>(most);
  std::int32_t j = 0;
  if (mode == Shuffle::up) j = signed_lane - static_cast<std::int32_t>(by);
  if (mode == Shuffle::down) j = static_cast<std::int32_t>(lane + by);
  if (mode == Shuffle::bfly) j = static_cast<std::int32_t>(lane ^ by);
  if (mode == Shuffle::idx) j = static_cast<std::int32_t>(least | (by & ~segment));
  bool const in = mode == Shuffle::up ? j >= signed_most : j <= signed_most;
  return in ? static_cast<unsigned>(j) & 31U : lane;
}

}  // namespace swizproof::program
