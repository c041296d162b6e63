#include "race_uniform.hpp"

#include <algorithm>

namespace swizproof::kernel_detail {

using execution::Leaf;
using execution::Phi;
using program::Special;

/// Starts with all registers at headers as uniform, and removes those that cannot be, until nothing changes.
UniformTerms::UniformTerms(program::Program const& program, execution::Execution const& execution)
    : program_(program), execution_(execution), differs_(execution.phis.size(), false) {
  for (bool changed = true; changed;) {
    changed = false;
    known_.assign(execution_.terms.nodes().size(), 0);
    for (std::size_t i = 0; i < differs_.size(); ++i) {
      Phi const& phi = execution_.phis[i];
      if (differs_[i] || ((*this)(phi.init) && (phi.kind == Phi::Kind::same || (*this)(phi.back)))) continue;
      differs_[i] = changed = true;
    }
  }
}

bool UniformTerms::exits(std::int32_t loop) {
  auto const& all = execution_.exits[static_cast<std::size_t>(loop)];
  return std::all_of(all.begin(), all.end(), [&](std::uint32_t id) { return (*this)(id); });
}

bool UniformTerms::operator()(std::uint32_t start) {
  if (known_[start] != 0) return known_[start] == 1;
  std::vector<std::uint32_t> work{start};  // no recursion: sums may be deep
  while (!work.empty()) {
    std::uint32_t const id = work.back();
    Node const& n = execution_.node(id);
    bool ready = true, all = true;
    if (n.op == Op::variable) {
      known_[id] = 2;  // until its arguments are known, which may come back to it
      all = of_leaf(id);
    } else {
      for (std::uint32_t const o : operands(n)) {
        if (known_[o] == 0) work.push_back(o), ready = false;
        all = all && known_[o] == 1;
      }
    }
    if (!ready) continue;
    known_[id] = all ? 1 : 2;
    work.pop_back();
  }
  return known_[start] == 1;
}

bool UniformTerms::of_leaf(std::uint32_t id) {
  Leaf const& l = *execution_.leaf_at(id);
  auto const arguments = [&] {
    return std::all_of(l.args.begin(), l.args.end(), [&](std::uint32_t a) { return (*this)(a); });
  };
  switch (l.kind) {
    case Leaf::Kind::special:
      return execution::is_uniform(l) || (static_cast<Special>(l.extra) >= Special::ntid_x &&
                                          static_cast<Special>(l.extra) <= Special::nctaid_z);
    case Leaf::Kind::symbol:
    case Leaf::Kind::param:
    case Leaf::Kind::counter:
      return true;
    case Leaf::Kind::load:
      return false;
    case Leaf::Kind::opaque:
      return arguments();
    case Leaf::Kind::phi:
      return !differs_[static_cast<std::size_t>(execution_.phi_of[execution_.node(id).value])];
    case Leaf::Kind::exit:
      return exits(l.left) && arguments();
    default:
      return false;
  }
}

}  // namespace swizproof::kernel_detail
