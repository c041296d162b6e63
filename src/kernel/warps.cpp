#include "warps.hpp"

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::Warp;

void Warps::start(unsigned count) {
  for (unsigned w = 0; w < count; ++w)
    all_.push_back(w == 0 ? std::make_unique<Warp>(program_, flow_, execution_, launch_, w)
                          : std::make_unique<Warp>(*all_[0], w));
}

void Warps::start_again() {
  unsigned const n = count();
  all_.clear(), every_.reset(), assuming_.clear();
  start(n);
}

Warp& Warps::plain(unsigned number) {
  if (number != Warp::every) return *all_[number];
  if (!every_) every_ = std::make_unique<Warp>(*all_[0], number);
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

std::uint64_t Warps::steps() const { return all_.empty() ? 0 : all_[0]->steps(); }

void Warps::release() {
  std::size_t kept = 0;
  each([&](Warp const& w) { kept += w.kept(); });
  if (kept >= most_values) each([](Warp& w) { w.release(); });
}

}  // namespace swizproof::kernel_detail
