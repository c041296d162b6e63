// Global memory that a kernel loads and, as far as its own stores show, does not write: two loads at one address give one value.
//
// Pointers are told apart by their parameters: an address is taken to lie behind the pointers among its summands. A load is one of unwritten memory if
// no store, atomic or copy of the kernel takes one of its pointers. That nothing else writes there while the kernel runs (another pointer to the same
// array, another kernel) is an assumption, which the answer names.
#pragma once

#include <swizproof/execution/terms.hpp>
#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace swizproof::kernel_detail {

class UnwrittenMemory {
 public:
  using Pointers = std::set<std::string>;  ///< names of parameters and of variables in global memory

  /// `function`: with its calls inlined.
  UnwrittenMemory(ptx::Module const& module, ptx::Function const& function);
  /// True for a load of unwritten memory; its pointers are noted.
  [[nodiscard]] bool operator()(program::Program const& program, execution::Execution const& execution,
                                execution::Leaf const& load);
  /// The assumption about the pointers that were noted; empty if there are none.
  [[nodiscard]] std::string assumption() const;

 private:
  std::optional<Pointers> written_;  ///< nothing: not known
  Pointers used_{};
};

}  // namespace swizproof::kernel_detail
