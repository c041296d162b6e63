// How accesses of a compiled kernel look: JSON, and the lanes of a conflict.
#pragma once

#include "report/report.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// `proved`, `refuted`, `data` or `unknown`.
[[nodiscard]] std::string_view name(KernelVerdict verdict);

/// Line of the source, as `gemm.cu:31`; `copy.hpp:7 from gemm.cu:31` or `gemm.cu:7 from 31` if it was inlined there; without
/// -lineinfo that of the PTX, as `PTX 77`.
[[nodiscard]] std::string source_of(KernelAccess const& access);

/// The same of a line and those that it was inlined for, the kernel's own last. Precondition: the line has a file.
[[nodiscard]] std::string source_of(SourceLine const& own, std::span<SourceLine const> inlined_at);

/// Those as JSON: `[{"file": "gemm.cu", "line": 31}]`.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<SourceLine const> lines);

/// The same of an operand.
[[nodiscard]] std::string source_of(KernelOperand const& operand);

/// The line of source that a report of the checkout marks: the access's own, or the kernel's that it was inlined for if its own lies elsewhere,
/// in a header of the toolkit. Checked by Report.AFindingIsMarkedInTheCheckout.
[[nodiscard]] SourceLine line_in_checkout(KernelAccess const& access);
[[nodiscard]] SourceLine line_in_checkout(SourceLine const& own, std::span<SourceLine const> inlined_at);
[[nodiscard]] SourceLine line_in_checkout(KernelOperand const& operand);

/// Descriptor without its start, as `0x4000004000010000`; empty if its other bits are not known.
[[nodiscard]] std::string bits_of(KernelOperand const& operand);

/// `128 x 32 x 16, A f16 K-major, B f16 K-major, D f32`.
[[nodiscard]] std::string text_of(KernelInstruction const& instruction);
/// Its fields.
[[nodiscard]] nlohmann::ordered_json to_json(KernelInstruction const& instruction);

/// The keys of `kernel` for one access.
[[nodiscard]] nlohmann::ordered_json to_json(KernelAccess const& access);

/// The same for an access to global memory.
[[nodiscard]] nlohmann::ordered_json global_json(KernelAccess const& access);
/// Sectors of an access to global memory: `4..5` from the least to the most, `<=5` if no execution is known that has the most.
[[nodiscard]] std::string sectors_of(KernelAccess const& access);
/// `lanes 4096 bytes apart; warp 0 of every launch`
[[nodiscard]] std::string sectors_in_words(KernelAccess const& access);
/// `gemm.cu:31: ld.global.f32: 32 sectors, ideal 4; lanes 4096 bytes apart; warp 0 of every launch`
[[nodiscard]] std::string failing_global(KernelAccess const& access);

/// The same for an operand.
[[nodiscard]] nlohmann::ordered_json to_json(KernelOperand const& operand);

/// The same for a kernel of this name, from this file of PTX.
[[nodiscard]] nlohmann::ordered_json to_json(KernelReport const& report, std::string const& name,
                                             std::string const& file);

/// `at most 1 if n % 2 = 1, 2 if n % 4 = 2, 4 if n % 4 = 0`, as a line indented by `indent`.
[[nodiscard]] std::string describe(KernelFunction const& function, int indent);

/// A fix, as `explain` shows it, with how many of the array's accesses it was searched for; in lines indented by `indent`.
[[nodiscard]] std::string describe(KernelFix const& fix, int indent, Style const& style);

/// Vectors that replace accesses, a line each; those with one text once, with their number.
[[nodiscard]] std::string describe(std::span<KernelVector const> vectors, int indent);

/// `; memory starts at 0x7c`, the array's address in that execution, for each array whose address the cost may depend on; else
/// empty.
[[nodiscard]] std::string bases_of(KernelWorst const& worst);
/// `; 24 lanes more may take part`, if the execution is not known of these; else empty.
[[nodiscard]] std::string open_lanes_of(KernelWorst const& worst);

/// Wavefronts above the ideal ones of so many executions; 0 if nothing is known of the cost.
[[nodiscard]] std::uint64_t wavefronts_lost(KernelAccess const& access, std::uint64_t executions);

/// True for an access to dynamic shared memory whose bounds are not known for the lack of its size.
[[nodiscard]] bool is_of_dynamic_size(KernelAccess const& access);

/// True for an access that is misaligned, or leaves its array.
[[nodiscard]] bool is_fault(KernelAccess const& access);

/// True for a refuted access with an execution above the wavefronts that are allowed.
[[nodiscard]] bool has_conflict(KernelAccess const& access);

/// `assumed, not measured, is what these instructions mean: LEA.HI`, of SASS; empty where all are measured.
[[nodiscard]] std::string assumed_in_words(std::vector<std::string> const& forms);

/// Lanes of a refuted access that meet in one bank, with the values under which they do, in lines indented by `indent`;
/// nothing for an access of another kind. With --brief the bank alone. Checked by tests/golden/kernel.txt.
[[nodiscard]] std::string lanes_of(KernelAccess const& access, Architecture const& arch, int indent,
                                   Style const& style);

/// A reason why a kernel fails: an access, and how many instructions of its line fail for the same reason.
struct FailingAccess {
  KernelAccess const* access = nullptr;
  std::string text{};  ///< `failing(*access)`
  unsigned instructions = 1;
};

/// Accesses that are not proved, those of one line together; but for those that `accepts`, if it is given, is true of.
[[nodiscard]] std::vector<FailingAccess> failing_of(
    KernelReport const& report, std::function<bool(KernelAccess const&)> const& accepts = {});

/// An operand that is not proved, and how many instructions of its line fail for the same reason.
struct FailingOperand {
  KernelOperand const* operand = nullptr;
  std::string text{};  ///< `gemm.cu:88: descriptor A of wgmma...: the swizzle pattern does not start ..`
  unsigned instructions = 1;
};

/// Operands that are not proved, those of one line together.
[[nodiscard]] std::vector<FailingOperand> failing_operands(KernelReport const& report);

/// A line on the operand, indented by `indent`.
[[nodiscard]] std::string describe(FailingOperand const& failing, int indent);

/// A line on the access, and the lanes that collide, indented by `indent`.
[[nodiscard]] std::string describe(FailingAccess const& failing, Architecture const& arch, int indent,
                                   Style const& style);

/// Why the access is no proved one: `transpose.cu:31: st.shared.f32: 32 wavefronts, 1 allowed`.
[[nodiscard]] std::string failing(KernelAccess const& access);

}  // namespace swizproof
