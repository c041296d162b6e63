// Terms that have one value in all threads of a block, if they are in the same iterations of the loops around them.
#pragma once

#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace swizproof::kernel_detail {

class UniformTerms {
 public:
  UniformTerms(program::Program const& program, execution::Execution const& execution);
  [[nodiscard]] bool operator()(std::uint32_t node);
  /// True if all threads that enter a loop leave it in the same iteration, by the same exit.
  [[nodiscard]] bool exits(std::int32_t loop);

 private:
  [[nodiscard]] bool of_leaf(std::uint32_t node);

  program::Program const& program_;
  execution::Execution const& execution_;
  std::vector<bool> differs_{};       ///< by number of a register at a header
  std::vector<std::int8_t> known_{};  ///< by node: 0 not known, 1 uniform, 2 not
};

}  // namespace swizproof::kernel_detail
