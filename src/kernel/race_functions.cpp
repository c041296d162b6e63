#include "race_functions.hpp"

#include <utility>

namespace swizproof::kernel_detail {

namespace {

constexpr std::size_t most_applications = 64;  ///< whose pairs are compared

}  // namespace

void FunctionValues::add(std::vector<std::uint64_t> name, std::vector<std::uint32_t> args, Term value) {
  all_.push_back({std::move(name), std::move(args), value});
}

Formula FunctionValues::consistent(Terms& terms, Application const& a, Application const& b) {
  if (a.name != b.name || a.args.size() != b.args.size()) return true;
  Formula equal = true;
  for (std::size_t k = 0; k < a.args.size(); ++k) {
    unsigned const width = terms.nodes()[a.args[k]].width;
    if (width == 0 || width != terms.nodes()[b.args[k]].width) return true;  // truths are not compared
    equal = equal && Term{&terms, a.args[k]} == Term{&terms, b.args[k]};
  }
  return !equal || a.value == b.value;
}

Formula FunctionValues::consistent(Terms& terms) const {
  Formula all = true;
  if (all_.size() > most_applications) return all;
  for (std::size_t i = 0; i < all_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) all = all && consistent(terms, all_[i], all_[j]);
  return all;
}

}  // namespace swizproof::kernel_detail
