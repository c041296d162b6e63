// Executions of an operand in one case: those that surely exist.
#pragma once

#include "executed_kernel.hpp"

#include <swizproof/execution/warp.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

constexpr unsigned base_bits = 10;  ///< of a base modulo 1024 bytes, the period of the widest swizzle

/// A case of an operand in one warp: assumptions, and the base of its array modulo 1024 if it matters.
struct OperandCase {
  unsigned warp = 0;
  std::vector<execution::Assumption> assumptions{};
  std::optional<std::uint64_t> base{};
};

/// Warps under the assumptions of cases, and the executions that are known to have them.
class OperandRuns {
 public:
  /// `base`: the node of the array's address, or 0, `symbol` its variable.
  OperandRuns(ExecutedKernel& kernel, std::size_t index)
      : kernel_(kernel),
        line_(kernel.program.operands[index].at.line),
        done_(kernel.execution.operands[index]) {}

  void set_array(std::uint32_t symbol, Id base) { symbol_ = symbol, base_ = base; }
  /// The warp of a case, until the next call for it.
  execution::Warp& under(OperandCase const& one);
  /// True if one of the lanes executes the operand in this case. `bases` are tried if the condition depends on them.
  bool exist(OperandCase const& one, std::uint32_t lanes, std::vector<std::uint64_t> const& bases);
  /// True if a term depends on the base of the array.
  [[nodiscard]] bool depends_on_base(Id id);
  /// Parameters of the execution that was found last, if they were chosen.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> const& values() const { return values_; }

 private:
  [[nodiscard]] std::vector<Id> leaders() const;
  [[nodiscard]] bool may_be_launched(unsigned warp) const;
  bool executes(OperandCase const& one, std::uint32_t lanes);
  bool replays(OperandCase const& one, std::uint32_t lanes);

  ExecutedKernel& kernel_;
  std::uint32_t line_;
  execution::ExecutedAccess const& done_;
  std::uint32_t symbol_ = ~0U;
  Id base_ = 0;
  std::map<Id, bool> moved_by_base_{};
  std::vector<std::pair<std::string, std::uint64_t>> values_{};
};

}  // namespace swizproof::kernel_detail
