#include "warps.hpp"

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::Warp;

void Warps::start(unsigned count) {
  for (unsigned w = 0; w < count; ++w)
    all_.push_back(std::make_unique<Warp>(program_, flow_, execution_, launch_, w));
}

Warp& Warps::plain(unsigned number) {
  if (number != Warp::every) return *all_[number];
  if (!every_) every_ = std::make_unique<Warp>(program_, flow_, execution_, launch_, number);
  return *every_;
}

std::unique_ptr<Warp> Warps::another(unsigned number) {
  return std::make_unique<Warp>(program_, flow_, execution_, launch_, number, &plain(number));
}

Warp& Warps::under(unsigned number, std::vector<Assumption> const& assumptions) {
  auto& warp = assuming_[number];
  if (!warp) warp = another(number);
  warp->assume(assumptions);
  return *warp;
}

std::uint64_t Warps::steps() const {
  std::uint64_t all = more_steps_;
  each([&](Warp const& w) { all += w.steps(); });
  return all;
}

void Warps::release() {
  std::size_t kept = 0;
  each([&](Warp const& w) { kept += w.kept(); });
  if (kept >= most_values) each([](Warp& w) { w.release(); });
}

}  // namespace swizproof::kernel_detail
