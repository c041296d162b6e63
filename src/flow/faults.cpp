#include "faults.hpp"

namespace swizproof {

std::string_view name_of(FlowFaultKind kind) {
  constexpr std::string_view names[] = {"race",
                                        "same-value race",
                                        "missing fence",
                                        "not well synchronised",
                                        "misuse",
                                        "uninitialised",
                                        "never released",
                                        "out of bounds",
                                        "misaligned",
                                        "trap",
                                        "write of read-only data",
                                        "block lifetime"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace swizproof

namespace swizproof::flow_detail {

namespace {

/// Order of telling: a race of two warps first, a missing fence last.
unsigned rank_of(FlowFaultKind kind, bool two_warps) {
  if (kind == FlowFaultKind::race) return two_warps ? 0 : 1;
  if (kind == FlowFaultKind::uninitialised) return 2;
  if (kind == FlowFaultKind::same_value_race) return 4;
  if (kind == FlowFaultKind::fence) return 5;
  return 3;
}

}  // namespace

bool Faults::would_keep(FlowFaultKind kind, bool two_warps) const {
  return !best_ || rank_of(kind, two_warps) < rank_of(best_->kind, best_->two_warps);
}

void Faults::add(FlowConflict conflict) {
  if (!would_keep(conflict.kind, conflict.two_warps)) return;
  best_ = std::move(conflict);
  if (rank_of(best_->kind, best_->two_warps) == 0) raise();
}

}  // namespace swizproof::flow_detail
