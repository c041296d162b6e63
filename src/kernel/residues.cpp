#include "residues.hpp"

#include "parameter_terms.hpp"

#include <algorithm>

namespace swizproof::kernel_detail {

using execution::Assumption;

namespace {

constexpr unsigned most_bits = 10;  ///< of a parameter, that are looked at

}  // namespace

void Residues::add(ExecutedKernel const& kernel, std::vector<Assumption> const& assumptions,
                   unsigned wavefronts) {
  Cost one{0, 0, wavefronts};
  for (Assumption const& a : assumptions) {
    auto const of = a.truth || a.bits > most_bits ? std::nullopt : parameter_at(kernel, a.atom);
    if (!of) continue;
    others_ = others_ || (parameter_ && *parameter_ != *of) || one.bits != 0;
    parameter_ = of;
    one.bits = a.bits, one.value = a.value;
  }
  costs_.push_back(one);
}

std::vector<unsigned> Residues::table() const {
  if (!parameter_ || others_) return {};
  unsigned bits = 0;
  for (Cost const& c : costs_) bits = std::max(bits, c.bits);
  std::vector<unsigned> most(std::size_t{1} << bits, 0);
  for (Cost const& c : costs_)
    for (std::uint64_t r = c.value; r < most.size(); r += std::uint64_t{1} << c.bits)
      most[r] = std::max(most[r], c.wavefronts);
  while (most.size() > 1 &&
         std::equal(most.begin() + static_cast<std::ptrdiff_t>(most.size() / 2), most.end(), most.begin()))
    most.resize(most.size() / 2);
  return most;
}

}  // namespace swizproof::kernel_detail
