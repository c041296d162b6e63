// Iterations of a loop that change nothing it ends by: a lane goes on until another one writes memory.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace swizproof::kernel_detail {

/// Terms of a loop, in an iteration that finds memory as the one before it did.
///
///   while (flag == 0);                          nothing of `flag == 0` changes
///   while (flag == 0 && ++n < 9);               n does: the loop ends
///   while (a < b) t[(a + b) / 2] < x ? a = (a + b) / 2 + 1 : b = (a + b) / 2;   one of a and b does, in either case
class Standstill {
 public:
  /// `loop`: index of the loop in the kernel's flow.
  Standstill(ExecutedKernel const& kernel, std::int32_t loop) : kernel_(kernel), loop_(loop) {}

  /// True if there may be such an iteration behind which a term has the value that it had: the registers at the loop's header that it
  /// depends on keep theirs, also by way of addresses. Also true if there are too many cases. Checked by KernelLocks.*PlainLoad*.
  [[nodiscard]] bool may_keep(Id term);

 private:
  /// A term to look at; with a `phi`, what an iteration makes of it.
  struct Part {
    Id term = 0, phi = 0;
  };
  /// One choice for each condition that was met.
  struct Case {
    std::vector<Part> work{}, of_phis{},
        choices{};  ///< choices come last, those of registers at the header first
    std::unordered_map<Id, bool> truths{};
    std::unordered_set<Id> seen{};
  };
  [[nodiscard]] bool holds(Case c);
  [[nodiscard]] bool holds_where(Case c, Id condition, bool is, Part then);
  [[nodiscard]] bool is_zero(Id id) const;
  /// The part of a sum that is 0 in one case; 0: none.
  [[nodiscard]] Id choice_of(Node const& sum) const;
  /// True for a word that has few values, each of them again and again.
  [[nodiscard]] bool has_few(Node const& n) const;
  /// True if a term takes what an iteration loads.
  [[nodiscard]] bool takes_load(Id id) const;
  void assume(Case& c, Id truth, bool is) const;
  [[nodiscard]] std::optional<bool> known(Case const& c, Id truth) const;
  [[nodiscard]] bool add_leaf(Case& c, Id id) const;
  /// True if a value of an iteration takes that of a register in the one before, but for other registers at the loop's header.
  [[nodiscard]] bool takes(Id term, Id phi) const;
  [[nodiscard]] std::vector<Id> parts_of(Id id) const;
  [[nodiscard]] Node const& node(Id id) const { return kernel_.execution.node(id); }

  ExecutedKernel const& kernel_;
  std::int32_t loop_;
  unsigned steps_ = 0;
};

}  // namespace swizproof::kernel_detail
