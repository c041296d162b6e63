// A question about a kernel's data flow, as options and obligations spell it.
#pragma once

#include <swizproof/flow/flow.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace swizproof {

/// The texts of a question: `swizproof flow --kernel KERNEL --block BLOCK ..`.
struct FlowQuestion {
  std::string kernel{}, block{}, grid = "1";
  std::vector<std::string> only{}, params{}, expect{};
  std::uint64_t shared_bytes = 0;
  bool every_element = false;
  std::string proxy = "strict";  ///< or write, off
  bool same_values = false, spare = false;
  std::uint64_t steps = 0;  ///< 0: the default
  std::uint64_t repair_steps = 0;
  std::string cluster{};  ///< empty: as the kernel has it
};

/// Meaning of a question for a module.
struct FlowPlan {
  std::size_t function = 0;  ///< index in the module
  FlowLaunch launch{};
  std::vector<FlowExpectation> expectations{};
};

/// `strict`, `write` or `off`. Throws InputError.
[[nodiscard]] FlowProxy parse_proxy(std::string const& text);

/// Reads a question. Throws InputError: for a pattern that finds no kernel of the module or several, for a launch that the kernel cannot
/// have, for parameters that it does not have, and for expectations. `file` names the module. Checked by tests/unit/parse/expectation_test.cpp.
[[nodiscard]] FlowPlan plan_flow(ptx::Module const& module, FlowQuestion const& question,
                                 std::string const& file);

}  // namespace swizproof
