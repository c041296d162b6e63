// Architectures: how each serves a warp's instructions, and what that rests on.
#pragma once

#include <swizproof/hardware/instruction.hpp>
#include <swizproof/hardware/measured.hpp>

#include <array>
#include <string_view>

namespace swizproof {

/// Division of shared memory (H1): `count` banks of `bytes` bytes, both powers of two, neighbours in neighbouring banks.
/// There are no banks by default: each table states its own.
struct Banks {
  unsigned count;
  unsigned bytes;
  SWIZPROOF_HOST_DEVICE constexpr Banks(unsigned how_many, unsigned wide) : count(how_many), bytes(wide) {}
  /// Bytes that fill all banks once. `usual_banks.row() == 128`
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned row() const { return count * bytes; }
  [[nodiscard]] friend constexpr bool operator==(Banks a, Banks b) {
    return a.count == b.count && a.bytes == b.bytes;
  }
};
inline constexpr unsigned most_banks = 64;  ///< most banks of the cost model
/// Banks of every compute capability that is documented. [CUDA C++ Programming Guide 13.1, 20.4.3]
inline constexpr Banks usual_banks{32, 4};

/// All lanes in the order in which they are served: the first phase's lanes first.
using LaneOrder = std::array<std::uint8_t, warp_lanes>;

/// Partners l^1 and l^2 (H4), as a set of the bits that they differ in.
inline constexpr unsigned partners_1_and_2 = 3;

/// Rules by which the lanes of an instruction are served. The differences between architectures are this data; one cost model
/// (bank.hpp) reads it.
struct Phase {
  unsigned lanes = 0;         ///< served together (H3, H6); 0: the architecture has no such instruction
  unsigned merged_lanes = 0;  ///< the same if equal addresses merge (H4); 0: they never do
  bool by_lane = false;       ///< lanes at one word count each (H7)
  bool pays_idle = true;      ///< a phase without active lanes takes its turn (H5)
  unsigned partners = partners_1_and_2;  ///< bits p: equal addresses of all lanes l and l^p merge (H4)
  bool in_order = true;                  ///< phases are consecutive lanes, and `order` is not read
  LaneOrder order{};
  [[nodiscard]] friend constexpr bool operator==(Phase const& a, Phase const& b) {
    if (a.lanes != b.lanes || a.merged_lanes != b.merged_lanes || a.by_lane != b.by_lane ||
        a.pays_idle != b.pays_idle || a.in_order != b.in_order)
      return false;
    if (a.merged_lanes != 0 && a.partners != b.partners) return false;
    for (unsigned i = 0; !a.in_order && i < warp_lanes; ++i)
      if (a.order[i] != b.order[i]) return false;
    return true;
  }
};

inline constexpr unsigned operation_count = 5;

/// Phases by operation (in the order of Operation) and width: up to 4 bytes, 8, 16.
using PhaseTable = std::array<std::array<Phase, 3>, operation_count>;

/// Phases of compute capability 9.0.
inline constexpr PhaseTable sm_90_phases{{
    {{{32, 0}, {16, 32}, {8, 16}}},                                       // ld.shared
    {{{32, 0}, {16, 0}, {8, 0}}},                                         // st.shared
    {{{8, 0}, {8, 0}, {8, 0}}},                                           // ldmatrix
    {{{8, 0}, {8, 0}, {8, 0}}},                                           // stmatrix
    {{{32, 0, true, false}, {16, 0, true, false}, {8, 0, true, false}}},  // cp.async
}};

/// The table without the instructions that came with compute capability 7.5, 8.0 and 9.0 (ldmatrix, cp.async, stmatrix), as far as
/// `capability` (75 for 7.5) is older.
[[nodiscard]] constexpr PhaseTable as_of(unsigned capability, PhaseTable table) {
  if (capability < 75) table[static_cast<std::size_t>(Operation::ldmatrix)] = {};
  if (capability < 80) table[static_cast<std::size_t>(Operation::cp_async)] = {};
  if (capability < 90) table[static_cast<std::size_t>(Operation::stmatrix)] = {};
  return table;
}
inline constexpr PhaseTable sm_70_phases = as_of(70, sm_90_phases), sm_75_phases = as_of(75, sm_90_phases),
                            sm_80_phases = as_of(80, sm_90_phases);

/// Basis of a table of phases: measured on a device, documented in a manual, or assumed.
enum class Support : std::uint8_t { measured, documented, assumed };

/// Its name in text and JSON (`"evidence"`).
[[nodiscard]] constexpr std::string_view name(Support support) {
  return support == Support::measured     ? "measured"
         : support == Support::documented ? "documented"
                                          : "assumed";
}

/// The weaker of two: what rests on both rests on no more. `weaker(Support::measured, Support::documented) == Support::documented`
[[nodiscard]] constexpr Support weaker(Support a, Support b) { return a < b ? b : a; }

/// A hardware fact, which has no default: a table that leaves one out does not compile (tests/source/compile_fail/missing_fact.cpp).
template <class T>
class Stated {
 public:
  SWIZPROOF_HOST_DEVICE constexpr Stated(T value) : value_(value) {}
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr T value() const { return value_; }
  SWIZPROOF_HOST_DEVICE constexpr operator T() const { return value_; }

 private:
  T value_;
};

/// Swizzle modes that an architecture's TMA loads with: none of them (no TMA), those up to 128B, or the 128B_ATOM modes too.
enum class TmaLoads : std::uint8_t { unknown, none, up_to_128b, with_atoms };

/// The instruction of an architecture that reads operands through descriptors in shared memory.
enum class OperandUnit : std::uint8_t { unknown, none, wgmma, tcgen05 };

/// Constants of machine code: offsets in constant bank 0 of the launch's shape and of the first parameter, and bytes of shared memory
/// before a kernel's own. Seen in what ptxas of CUDA 13.0 writes and nvdisasm prints for each architecture.
struct CodeConstants {
  std::uint64_t shape, parameters, reserved_shared;
};
inline constexpr CodeConstants code_before_sm_90{0, 0x160, 0}, code_of_sm_90{0, 0x210, 0x400},
    code_from_sm_100{0x360, 0x380, 0x400};

/// Architecture without a stated compute capability.
inline constexpr unsigned unknown_capability = 0;

/// An architecture: its name on the command line, its phases, and what supports them. A table that a user has learned is one too.
struct Architecture {
  std::string_view name;
  PhaseTable const* phases;
  Support support;
  std::string_view evidence;  ///< evidence in words
  Banks banks;
  Stated<std::uint64_t> most_shared_bytes;  ///< bytes of shared memory that a block may have
  std::uint64_t patterns;                   ///< number of measured patterns that cost what the model predicts
  Stated<unsigned> capability;              ///< compute capability: 90 for 9.0, or unknown_capability
  Stated<TmaLoads> tma;
  Stated<OperandUnit> operands;
  Stated<CodeConstants> code;
};

/// Architecture for costs alone: phases and banks; everything else is unknown. Precondition: `phases` outlives it.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Architecture phases_alone(PhaseTable const* phases,
                                                                        Banks banks) {
  return {{},
          phases,
          Support::assumed,
          {},
          banks,
          std::uint64_t{0},
          0,
          unknown_capability,
          TmaLoads::unknown,
          OperandUnit::unknown,
          CodeConstants{}};
}

namespace detail {
inline constexpr char documented_7[] =
    "documented: banks, broadcast (CUDA Programming Guide), merged loads (NVIDIA forum 77228); the rest as "
    "on sm_90, not measured";
inline constexpr char documented_8[] =
    "documented: banks, broadcast (CUDA Programming Guide); the rest as on sm_90, not measured";
}  // namespace detail

/// Known architectures, the one that everything is checked for by default first. Only sm_90 has been measured. Of the others H1
/// and H2 are documented [CUDA C++ Programming Guide 13.1, 20.4.3 and the sections "Shared Memory" of 20.5 to 20.10], of 7.0 and 7.5 also
/// H4 [NVIDIA forum 77228]; the rest is taken from sm_90. Shared memory of a block: 96 KiB on 7.0, 64 on 7.5, 163 on 8.0 and 8.7, 99 on
/// 8.6, 8.9 and 12.x, 227 on 9.0, 10.x and 11.0 [Programming Guide 13.1, 20.7.3, 20.8.3, 20.9.3, 20.10.3; table 31 of 13.1's appendix 5.1].
/// ldmatrix came with 7.5, cp.async with 8.0, stmatrix with 9.0 [PTX ISA 9.1]. The 128B_ATOM modes came with 10.0; 12.x has them for
/// stores alone [PTX ISA 9.1, 9.7.10.28.5.1, restrictions on .swizzle_atomicity for sm_120a]. wgmma is of 9.0 alone, tcgen05 of 10.x and 11.0.
inline constexpr Architecture architectures[] = {
    {"sm_90", &sm_90_phases, Support::measured, measured_sm_90, usual_banks, 227 * 1024, patterns_sm_90, 90,
     TmaLoads::up_to_128b, OperandUnit::wgmma, code_of_sm_90},
    {"sm_70", &sm_70_phases, Support::documented, detail::documented_7, usual_banks, 96 * 1024, 0, 70,
     TmaLoads::none, OperandUnit::none, code_before_sm_90},
    {"sm_75", &sm_75_phases, Support::documented, detail::documented_7, usual_banks, 64 * 1024, 0, 75,
     TmaLoads::none, OperandUnit::none, code_before_sm_90},
    {"sm_80", &sm_80_phases, Support::documented, detail::documented_8, usual_banks, 163 * 1024, 0, 80,
     TmaLoads::none, OperandUnit::none, code_before_sm_90},
    {"sm_86", &sm_80_phases, Support::documented, detail::documented_8, usual_banks, 99 * 1024, 0, 86,
     TmaLoads::none, OperandUnit::none, code_before_sm_90},
    {"sm_87", &sm_80_phases, Support::documented, detail::documented_8, usual_banks, 163 * 1024, 0, 87,
     TmaLoads::none, OperandUnit::none, code_before_sm_90},
    {"sm_89", &sm_80_phases, Support::documented, detail::documented_8, usual_banks, 99 * 1024, 0, 89,
     TmaLoads::none, OperandUnit::none, code_before_sm_90},
    {"sm_90a", &sm_90_phases, Support::measured, measured_sm_90, usual_banks, 227 * 1024, patterns_sm_90, 90,
     TmaLoads::up_to_128b, OperandUnit::wgmma, code_of_sm_90},
    {"sm_100", &sm_90_phases, Support::documented, detail::documented_8, usual_banks, 227 * 1024, 0, 100,
     TmaLoads::with_atoms, OperandUnit::tcgen05, code_from_sm_100},
    {"sm_103", &sm_90_phases, Support::documented, detail::documented_8, usual_banks, 227 * 1024, 0, 103,
     TmaLoads::with_atoms, OperandUnit::tcgen05, code_from_sm_100},
    {"sm_110", &sm_90_phases, Support::documented, detail::documented_8, usual_banks, 227 * 1024, 0, 110,
     TmaLoads::with_atoms, OperandUnit::tcgen05, code_from_sm_100},
    {"sm_120", &sm_90_phases, Support::documented, detail::documented_8, usual_banks, 99 * 1024, 0, 120,
     TmaLoads::up_to_128b, OperandUnit::none, code_from_sm_100},
    {"sm_121", &sm_90_phases, Support::documented, detail::documented_8, usual_banks, 99 * 1024, 0, 121,
     TmaLoads::up_to_128b, OperandUnit::none, code_from_sm_100},
};

inline constexpr Architecture const& sm_90 = architectures[0];

/// Constants of code for a compute capability: those of the newest architecture here that is no newer.
/// `code_constants_of(90).parameters == 0x210`. Checked by Architectures.ConstantsOfCodeAreThoseOfTheNewestThatIsKnown.
[[nodiscard]] constexpr CodeConstants code_constants_of(unsigned capability) {
  CodeConstants constants = code_before_sm_90;
  unsigned newest = 0;
  for (Architecture const& arch : architectures)
    if (arch.capability <= capability && arch.capability > newest)
      newest = arch.capability, constants = arch.code;
  return constants;
}

/// Bytes of shared memory that a block of sm_90 may have. [CUDA C++ Programming Guide 13.1, 20.8.3, 20.9.3]
inline constexpr std::uint64_t most_shared_bytes = sm_90.most_shared_bytes.value();

/// Service of an instruction by an architecture.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Phase const& phase(Architecture const& arch, Instruction i) {
  return (*arch.phases)[static_cast<std::size_t>(i.operation)][i.bytes <= 4 ? 0 : i.bytes == 8 ? 1 : 2];
}

/// True if the architecture has the instruction and a model of its cost: sm_80 has no stmatrix, and matrices of bytes have no cost
/// model. Precondition of all that costs one.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool has(Architecture const& arch, Instruction i) {
  return phase(arch, i).lanes != 0 && i.form == MatrixForm::m8n8_b16;
}

/// Basis of the model for an instruction: no document says how cp.async counts its lanes (H7), so it is assumed where it has
/// not been measured.
[[nodiscard]] constexpr Support support_of(Architecture const& arch, Operation operation) {
  bool const assumed = operation == Operation::cp_async && arch.support == Support::documented;
  return assumed ? Support::assumed : arch.support;
}

/// True if two architectures serve everything alike.
[[nodiscard]] constexpr bool same_law(Architecture const& a, Architecture const& b) {
  if (!(a.banks == b.banks)) return false;
  for (std::size_t operation = 0; operation < operation_count; ++operation)
    for (std::size_t width = 0; width < 3; ++width)
      if (!((*a.phases)[operation][width] == (*b.phases)[operation][width])) return false;
  return true;
}

namespace detail {
/// Lanes served together: no more than give addresses.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned lanes_together(Phase const& row, Instruction i,
                                                                      bool merged) {
  unsigned const lanes = merged ? row.merged_lanes : row.lanes;
  return lanes < i.lanes() ? lanes : i.lanes();
}
}  // namespace detail

/// Least cost of an access for the bytes it moves, one wavefront a phase: on sm_90 1, 2, 4 for up to 4, 8, 16
/// bytes a lane; N for ldmatrix and stmatrix xN. A phase of more than all banks hold takes as many as fill them: ld.shared.b32
/// costs 2 on 16 banks of 4 bytes. Merged loads (H4), and there lanes at one word, may cost less. Checked by Ideal.*.
[[nodiscard]] constexpr unsigned ideal_wavefronts(Architecture const& arch, Instruction i) {
  Phase const& row = phase(arch, i);
  unsigned const together = detail::lanes_together(row, i, false);
  unsigned const of_lane =
      row.by_lane && i.bytes < arch.banks.bytes ? arch.banks.bytes : i.bytes;  // H7: a word
  unsigned const moved = together * of_lane, at_once = arch.banks.row();
  return i.lanes() / together * (moved > at_once ? moved / at_once : 1);
}

}  // namespace swizproof
