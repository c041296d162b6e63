// Data flow of a compiled kernel: which elements of global memory reach which element of its result.
//
//   PTX  -->  every thread of a block, integers exact, data as names (array, index)  -->  sums of products of names
//
// One launch is executed: its blocks, its parameters, its shared memory, its warps in one order. The answer holds for every order if the launch is
// well synchronised (src/flow/barriers.hpp, mbarriers.hpp) and race free (order.hpp, races.hpp, proxies.hpp): both are checked on the
// order that is executed, and are theorems about all orders. What is not checked is named in the answer, `FlowReport::left_out`.
#pragma once

#include <swizproof/flow/expectation.hpp>
#include <swizproof/hardware/tma.hpp>
#include <swizproof/ptx/cluster.hpp>
#include <swizproof/ptx/parameters.hpp>
#include <swizproof/program/source_line.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace swizproof {

/// An array that a parameter points to, in rows; without extents a number that the parameter is.
struct FlowArray {
  std::string name{};
  std::string type{};  ///< an element type of 8 to 64 bits: `f16`
  unsigned bits = 32;
  std::vector<std::uint64_t> extents{};
  /// A parameter that is a tensor map (CUtensorMap) has these: the box that one copy moves, in the order of the extents; and its swizzle.
  std::vector<std::uint32_t> box{};
  TmaMode mode = TmaMode::none;
  /// Bits of each element before the launch, where they are given; empty: the elements are any data.
  std::vector<std::uint64_t> values{};

  /// Elements of the array; 1 of a number.
  [[nodiscard]] std::uint64_t size() const;
  /// `A[3][0]` of an element's index.
  [[nodiscard]] std::string element(std::uint64_t index) const;
};

/// A number that a parameter or a part of it is.
struct FlowValue {
  std::uint64_t bits = 0;  ///< two's complement, or those of the type
  bool negative = false;
  std::string type{};  ///< `u64`; empty: an integer of the parameter's size, of 4 bytes in a structure
};
/// Value of a parameter or of a part of it.
using FlowParam = std::variant<FlowArray, FlowValue>;

/// Bytes of a kernel's parameter that a key stands for: `#0`, `n`, or with an offset within a structure `#0+8`.
struct FlowPlace {
  std::size_t param = 0;
  std::uint64_t offset = 0;
  bool part = false;  ///< it has an offset
};
/// Nothing where the kernel has no such parameter, or the offset is no number.
[[nodiscard]] std::optional<FlowPlace> flow_place(ptx::Function const& kernel, std::string_view key);
/// Bytes that a value takes at a place: of a pointer 8, of a tensor map 128.
[[nodiscard]] std::uint64_t flow_bytes(ptx::Function const& kernel, FlowPlace const& place,
                                       FlowParam const& value);
/// The bits of a number in a floating-point type; nothing where it has no such number.
[[nodiscard]] std::optional<std::uint64_t> flow_bits(double value, std::string_view type);

/// Missing fences between the generic and the async proxy that are faults.
enum class FlowProxy : std::uint8_t {
  strict,  ///< each fence that the PTX ISA requires
  write,   ///< behind what threads store, and neither behind what they read nor behind mbarrier.init
  off
};

/// A launch; its blocks are executed.
struct FlowLaunch {
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  /// Blocks of a cluster, which divide the grid; {0, 0, 0}: as `.reqnctapercluster` of the kernel has it, else 1.
  std::array<std::uint32_t, 3> cluster{};
  std::vector<std::array<std::uint32_t, 3>>
      blocks{};                    ///< those that are executed, with their clusters; empty: all of the grid
  std::uint64_t shared_bytes = 0;  ///< size of dynamic shared memory
  std::map<std::string, FlowParam>
      params{};  ///< parameters by key, as flow_place() reads it; `#0` is the first
  std::map<std::string, FlowArray>
      variables{};  ///< variables of constant and global memory by name: arrays of data
  bool every_element =
      false;  ///< without expectations: the terms of all elements that are written, not of the first alone
  /// Value of an element of an array before the launch. Where it is given, the report has the numbers that the launch computes of it.
  std::function<double(FlowArray const&, std::uint64_t)> data{};
  std::uint64_t most_steps = 20'000'000;  ///< instructions of warps in all blocks, then the answer is unknown
  FlowProxy proxy = FlowProxy::strict;
  bool same_values = false;        ///< two writes of one value without order are accepted
  bool spare = false;              ///< also which barriers, fences and waits can be removed, one at a time
  std::uint64_t repair_steps = 0;  ///< instructions of warps that a search of repairs executes at most
};

/// An instruction that moved something.
struct FlowLine {
  std::uint32_t ptx_line = 0;
  std::string op{};
  SourceLine source{};                   ///< line of the source, if the PTX has lines
  std::vector<SourceLine> inlined_at{};  ///< lines that the compiler inlined it for, the kernel's own last
  std::uint32_t execution = 0;           ///< execution by its warp that has a fault, from 1; 0: not counted
};

/// An edit of one instruction with which a refuted launch is proved.
struct FlowRepair {
  FlowLine line{};
  std::string edit{};  ///< `4 for 5`, `as sub.s32`
};

/// An element that is not what is expected.
struct FlowWrong {
  std::string element{};
  std::array<std::uint32_t, 3> block{};
  std::size_t expected_terms = 0, found_terms = 0;
  std::vector<std::string> missing{};  ///< the first terms that are expected and not there
  std::vector<std::string> extra{};    ///< the first that are there and not expected
  std::vector<FlowLine> lines{};       ///< lines that moved the first of these; the likeliest first
};

/// Kinds of faults.
enum class FlowFaultKind : std::uint8_t {
  race,             ///< two accesses to a byte without order, one of them a write
  same_value_race,  ///< two writes of one value without order
  fence,            ///< a proxy fence is missing
  not_well_synchronised,  ///< the lanes that meet at a barrier depend on the order, or a barrier is not complete at the end
  misuse,  ///< wrong use of a barrier, an mbarrier, a mask, or of an instruction that all of a warp executes
  uninitialised,   ///< bytes of shared memory that no thread has written
  never_released,  ///< a warp waits for ever
  out_of_bounds,
  misaligned,
  trap,
  read_only,  ///< a write of data that ld.global.nc reads
  lifetime    ///< an access to the memory of another block, which may not have begun or may have ended
};
/// `race`, `same-value race`, `missing fence`, ..
[[nodiscard]] std::string_view name_of(FlowFaultKind kind);

/// An access of a fault.
struct FlowAccess {
  FlowLine line{};
  std::string by{};  ///< `thread 3`, `warp 1`, `the TMA`
};

/// An access that refutes the kernel for every expectation.
struct FlowFault {
  std::string text{};  ///< description
  std::array<std::uint32_t, 3> block{};
  std::vector<FlowLine> lines{};  ///< lines of both accesses, the second one first, or of those that wait
  FlowFaultKind kind = FlowFaultKind::race;
  std::optional<FlowAccess> first{}, second{};  ///< accesses in the executed order
  std::string rule{};                           ///< paragraph of the PTX ISA
  std::string fix{};                            ///< instruction that would fix it, and its position
  std::string why{};  ///< of a launch that is not well synchronised: why it is not, which may be the cause
};

/// An element that is written or expected, computed of given data. Sums and products of integers are exact while they are below 2^53.
struct FlowNumber {
  std::string array{};
  std::uint64_t element = 0;
  bool changed = false;              ///< the value before the launch was another one
  double found = 0;                  ///< value after the launch
  std::optional<double> expected{};  ///< nothing where no expectation is about it
};

enum class FlowVerdict : std::uint8_t { proved, refuted, unknown };

/// Result for one kernel and launch.
struct FlowReport {
  FlowVerdict verdict = FlowVerdict::unknown;
  std::string reason{};          ///< reason of an unknown answer
  std::optional<FlowLine> at{};  ///< its instruction, where it is one
  std::size_t blocks = 0;        ///< executed
  std::uint64_t steps = 0;       ///< instructions of warps
  std::uint64_t elements = 0;    ///< number of expected elements
  std::uint64_t right = 0, wrong = 0, missing = 0;
  std::uint64_t unexpected = 0;              ///< written, and not expected
  std::vector<std::string> missing_names{};  ///< the first of them
  std::vector<std::string> unexpected_names{};
  std::uint64_t undecided = 0;  ///< written, and neither right nor wrong, where another element is wrong
  std::vector<std::string> undecided_names{};
  std::optional<FlowWrong> first{};
  std::optional<FlowFault> fault{};
  std::vector<std::string> left_out{};  ///< cases that `for every order of the warps` does not cover
  std::vector<std::string> assumed{};   ///< readings of the PTX ISA that the answer depends on
  std::vector<FlowLine> spare{};        ///< each of them can be removed alone
  std::vector<FlowRepair> repairs{};    ///< each alone; of at most three instructions
  std::uint64_t ways =
      1;  ///< ways that data choose, or canceled clusters, each followed to its end; of the block that has most
  bool cancels = false;  ///< requests of clusterlaunchcontrol were executed
  std::vector<std::string>
      hints{};  ///< where an answer is not `proved`: types and pitches of arrays that do not fit the kernel
  std::vector<std::string> data{};  ///< refuted only with these numbers: each as --param takes it
  std::vector<std::string>
      values{};  ///< without expectations: what reaches the first element of each array that is written
  std::vector<FlowNumber>
      numbers{};  ///< results with given data, block by block; elements that are not written come last
};

/// Executes a kernel of a module. Throws InputError for parameters without a value, and expectations of other arrays. Checked by
/// tests/reference/flow.py, tests/program/flow_mutants and, on a device, gpu/evidence/h100-flow.json.
[[nodiscard]] FlowReport trace_flow(ptx::Module const& module, ptx::Function const& kernel,
                                    FlowLaunch const& launch,
                                    std::vector<FlowExpectation> const& expectations);

}  // namespace swizproof
