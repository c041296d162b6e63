// The ladder of certainty: what a verdict about bank conflicts rests on, in one sentence, the same in every command, page and record.
//
//   proved for the model          engines proved it, for all inputs, of the formulas in this folder: every verdict says so itself
//   the model is measured         on these devices, on these days, of so many patterns none costs anything else
//   the model is documented       a manual or an engineer of the vendor says so; it was not measured
//   the model is assumed          it is taken from another architecture
#pragma once

#include <swizproof/core/error.hpp>
#include <swizproof/hardware/architecture.hpp>

#include <string>

namespace swizproof {

/// A number as people write it. `with_commas(1896130619) == "1,896,130,619"`
[[nodiscard]] inline std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

/// Basis of the model of an architecture: "sm_90: measured on an H200, 2026-11-21; 1,896,130,619 access patterns, no
/// mismatch". Checked by Certainty.*.
[[nodiscard]] inline std::string certainty(Architecture const& arch) {
  std::string text = std::string(arch.name) + ": " + std::string(arch.evidence);
  if (arch.support == Support::measured)
    text += "; " + with_commas(arch.patterns) + " access patterns, no mismatch";
  return text;
}

/// The same for one operation: the cost of cp.async is not documented.
[[nodiscard]] inline std::string certainty(Architecture const& arch, Operation operation) {
  if (support_of(arch, operation) == arch.support) return certainty(arch);
  return std::string(arch.name) + ": assumed as on sm_90, neither documented nor measured";
}

/// Throws InputError if the architecture has no such instruction. `text` is the input that named it.
inline void require(Architecture const& arch, Instruction const& instruction, std::string const& text = {}) {
  if (has(arch, instruction)) return;
  std::string const asked = text.empty() ? to_string(instruction) : text;
  if (instruction.form != MatrixForm::m8n8_b16)
    throw InputError::whole(
        "the wavefronts of " + to_string(instruction) + " are neither documented nor measured", asked,
        "'swizproof fragment' has its registers");
  char const* const since = instruction.operation == Operation::ldmatrix   ? "ldmatrix came with sm_75"
                            : instruction.operation == Operation::cp_async ? "cp.async came with sm_80"
                            : instruction.operation == Operation::stmatrix ? "stmatrix came with sm_90"
                                                                           : "its table does not have it";
  throw InputError::whole(std::string(arch.name) + " has no " + to_string(instruction), asked, since);
}

}  // namespace swizproof
