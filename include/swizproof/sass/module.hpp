// SASS as nvdisasm and cuobjdump print it: kernels, their instructions with operands, labels and lines of the source.
//
//   nvdisasm -g FILE.cubin         also with -gi (lines of inlined calls) and -hex (encodings, which are left out)
//   nvdisasm -c -g FILE.cubin      the code alone: without block, parameters and size of shared memory
//   cuobjdump -sass FILE           likewise, without labels: a branch names an address
//
// The reader keeps every instruction, also one whose opcode it has never seen: what an instruction does is decided where it is
// lowered (lower.hpp).
#pragma once

#include <swizproof/core/error.hpp>
#include <swizproof/ptx/module.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace swizproof::sass {

inline constexpr std::uint16_t no_register = 0xffff;  ///< RZ, URZ, or none

/// One operand, as it is printed.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,                ///< R4, RZ
    uniform,            ///< UR4, URZ
    predicate,          ///< P0, PT
    uniform_predicate,  ///< UP0, UPT
    immediate,          ///< 0x10, -0x1
    number,             ///< number of a floating-point instruction: 0.5, +INF; `text` has it
    constant,           ///< c[0x0][0x210], c[0x3][R2+0x10]
    memory,             ///< [R2+UR4+0x100], desc[UR6][R2.64], gdesc[UR8]
    label,              ///< `(.L_x_1)
    special,            ///< SR_TID.X, SRZ
    other               ///< B0, SB0, gsb0, PR
  };
  Kind kind = Kind::other;
  bool negative = false;                ///< -R4
  bool inverted = false;                ///< ~R4
  bool absolute = false;                ///< |R4|
  bool negated = false;                 ///< !P0
  bool wide = false;                    ///< R4.64: also the base of an address
  bool suffixed = false;                ///< a suffix that changes what is read: R4.H0_H0, R4.U32
  std::uint8_t scale = 1;               ///< scale in an address: [R4.X8]
  std::uint8_t bank = 0;                ///< bank of a constant
  std::uint16_t reg = no_register;      ///< number of a register or predicate; of an address its R
  std::uint16_t uniform = no_register;  ///< uniform register of an address
  std::uint64_t value = 0;              ///< immediate; in an address the offset in bytes, modulo 2^64
  std::string_view text{};
};

/// One instruction. `guard` is an operand of the kinds predicate and uniform_predicate, or `other` where it has none.
struct Instruction {
  std::string_view opcode{};  ///< opcode with its modifiers: IMAD.WIDE.U32
  std::vector<Operand> operands{};
  std::vector<std::string_view>
      targets{};  ///< labels that an indirect branch may reach, as the dump has them
  Operand::Kind guard = Operand::Kind::other;
  bool guard_negated = false;
  std::uint16_t guard_reg = no_register;  ///< PT and UPT: no_register
  std::uint32_t pc = 0;                   ///< bytes from the start of the kernel
  std::uint32_t line = 0;                 ///< line of the dump, from 1
  std::int32_t location = -1;             ///< index of Module::source.locations
};

/// Facts of launches, from the sections .nv.info.KERNEL and .nv.shared.KERNEL of a cubin.
struct LaunchFacts {
  /// EIATTR_KPARAM_INFO, or its second version.
  struct Parameter {
    std::uint32_t ordinal = 0;
    std::uint64_t offset = 0;  ///< bytes from the first parameter
    std::uint64_t bytes = 0;
  };
  bool known = false;                   ///< the dump has .nv.info.KERNEL
  bool listed = false;                  ///< `parameters` are all of them
  std::vector<Parameter> parameters{};  ///< parameters by ordinal
  std::uint64_t parameter_base = 0;     ///< offset in constant bank 0 (EIATTR_PARAM_CBANK); 0: not given
  std::array<std::uint32_t, 3> maxntid{}, reqntid{};  ///< EIATTR_MAX_THREADS, EIATTR_REQNTID; 0: not given
  std::optional<std::uint64_t> shared_bytes{};        ///< static shared memory, from the window's start on
  std::uint64_t shared_align = 1;
  std::vector<std::string> externs{};         ///< functions that the cubin does not have (EIATTR_EXTERNS)
  std::vector<std::uint32_t> system_calls{};  ///< addresses of calls of the driver's (EIATTR_SYSCALL_OFFSETS)
};

/// The code of one section: a kernel with the functions that it calls.
struct Function {
  std::string name{};
  bool entry = false;
  std::uint32_t line = 0;
  std::vector<Instruction> body{};
  std::unordered_map<std::string_view, std::uint32_t>
      labels{};  ///< index in `body` of the instruction after a label
  LaunchFacts facts{};
};

/// A dump. Views into its text stay valid as long as the module, or a copy of it, lives.
struct Module {
  std::shared_ptr<std::string const> text{};
  unsigned arch = 0;     ///< 90 of sm_90a
  std::string target{};  ///< sm_90a
  ptx::Module source{};  ///< `files` and `locations` alone
  std::vector<Function> functions{};
  std::vector<std::string> notes{};  ///< lines that were left out, once a kind, with the first place
};

/// True for text that looks like a dump of nvdisasm or cuobjdump -sass.
[[nodiscard]] bool is_sass(std::string_view text);

/// Reads a dump. `name` is the file's in messages. Throws InputError with the line. Checked by tests/unit/sass/reader_test.cpp.
[[nodiscard]] Module read_module(std::string text, std::string const& name);

}  // namespace swizproof::sass
