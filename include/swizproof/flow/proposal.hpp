// A question for a kernel without a command line: its parameters, and values with which a launch is executed.
#pragma once

#include <swizproof/flow/flow.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace swizproof {

enum class FlowParameterKind : std::uint8_t { number, pointer, tensor_map };

/// A parameter of a kernel or a part of one, as the kernel uses it.
struct FlowParameter {
  std::string key{};  ///< `0`, of a structure `0+8`
  std::uint64_t bytes = 0;
  FlowParameterKind kind = FlowParameterKind::number;
  std::string type{};  ///< type of the elements behind a pointer or a tensor map, or of the number
  bool read = false, written = false;
  unsigned dimensions = 0;  ///< dimensions of a tensor map
  bool given = false;       ///< it has a value
  bool guessed = false;     ///< the value is one of many: the PTX does not say it
  bool zeros = false;       ///< an array whose numbers decide: all 0
  std::string name{};       ///< name of the array or of the number
  std::string value{};      ///< text for `--param KEY=`; empty if none is proposed
};

/// A launch that is proposed.
struct FlowProposal {
  std::vector<FlowParameter> parameters{};             ///< parameters that the kernel reads
  std::vector<std::array<std::uint32_t, 3>> blocks{};  ///< those that are executed; empty: all
  std::uint64_t shared_bytes = 0;                      ///< size of dynamic shared memory, if none is given
  bool fault = false;    ///< the launch has a fault: what lies behind it is not measured
  std::string reason{};  ///< reason if the launch is not executed to its end
};

/// Threads of a block, and where that is from; empty: the kernel has no other one.
struct FlowBlock {
  std::array<std::uint32_t, 3> threads{1, 1, 1};
  std::string source{};
};
/// Block of a kernel's .reqntid or .maxntid, else 128 threads, or 32,8 if it reads %tid.y.
[[nodiscard]] FlowBlock likely_block(ptx::Function const& kernel);

/// Values for the parameters that the launch does not give. An integer is the number of threads, at least 32 and at most 1024; an array has as many
/// elements as the launch accesses. Checked by tests/golden/flow_proposal.txt and Proposal.*.
[[nodiscard]] FlowProposal propose_flow(ptx::Module const& module, ptx::Function const& kernel,
                                        FlowLaunch const& given);

}  // namespace swizproof
