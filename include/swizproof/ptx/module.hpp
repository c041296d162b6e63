// PTX as read from a file: functions, their variables and instructions, each with its line. PTX ISA 9.x.
//
// The reader keeps every instruction, also one whose opcode it has never seen: what an instruction does is decided where it
// is lowered (lower.cpp), and an unknown opcode there only makes its destinations unknown. Loads, stores and atomics need a type and
// a vector that PTX has (vectors.cpp). Names of inline assembly's scopes
// ({ .reg .pred p; ... }) are resolved here: a register or a variable of an inner scope is another one.
#pragma once

#include <swizproof/core/error.hpp>
#include <swizproof/program/opcode.hpp>
#include <swizproof/program/source_line.hpp>
#include <swizproof/program/variable.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::ptx {

using namespace program;  // the language that PTX is lowered to
using program::Variable;

/// One operand. Vectors and groups have parts; an address is a base (its only part) and a constant offset in bytes.
struct Operand {
  enum class Kind : std::uint8_t { reg, immediate, symbol, special, address, vector, other };
  Kind kind = Kind::other;
  bool negated = false;          ///< !%p
  std::uint32_t reg = 0;         ///< number of a register in the function
  std::uint64_t value = 0;       ///< value of an immediate, or offset of a symbol or an address
  std::string_view text{};       ///< name of a symbol, a special register or a label
  std::vector<Operand> parts{};  ///< parts of a vector, a group (..) or an address; of `a|b`: b
};

/// One source position: `.loc`, with the place that the function was inlined at.
struct Location {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::int32_t inlined_at = -1;  ///< index of a location, or -1
  std::string_view called{};     ///< last part of the file's name, from a comment, in place of `file`
};

/// One instruction. `guard` is -1 where it has none.
struct Instruction {
  Opcode opcode{};
  std::vector<Operand> operands{};
  std::int32_t guard = -1;
  bool guard_negated = false;
  std::uint32_t line = 0;      ///< line of the PTX file, from 1
  std::int32_t location = -1;  ///< index of Module::locations
  std::uint32_t label = 0;     ///< 1 + index of Function::labels if this is a label, which is no instruction
  std::uint32_t call =
      0;  ///< 1 + index of Function::calls: the call that it was inlined for, or itself if refused
};

/// True if an instruction writes its second operand, too: `redval` of tcgen05.ld.red [PTX ISA 9.1, 9.7.16.8.2]. Checked by
/// KernelRaces.RegistersBehindTheFirstOnesAreWritten.
[[nodiscard]] inline bool writes_second(Instruction const& i) {
  return i.opcode.name == "tcgen05" && i.opcode.has("red");
}

/// A call that was inlined, or one that was not, with the reason.
struct Call {
  std::uint32_t line = 0;    ///< line of the call in the PTX file
  std::uint32_t within = 0;  ///< 1 + index of the call whose function contains it; 0: the function's own
  std::string refused{};     ///< empty if it was inlined
};

/// A declared register.
struct Register {
  std::string name{};
  std::uint8_t bits = 32;  ///< 1 for predicates
};

/// An entry or a device function.
struct Function {
  std::string name{};
  bool entry = false;
  std::uint32_t line = 0;
  std::vector<Variable>
      params{};  ///< parameters; those of a device function that are registers have space `reg`
  std::vector<Variable> returned{};                   ///< likewise
  std::vector<Variable> variables{};                  ///< declared in its body
  std::array<std::uint32_t, 3> maxntid{}, reqntid{};  ///< 0: not given
  unsigned maxntid_dims = 0;
  std::array<std::uint32_t, 3> reqnctapercluster{};  ///< blocks of a cluster; 0: not given
  bool blocks_are_clusters = false;                  ///< .blocksareclusters: a launch's grid counts clusters
  bool skipped = false;                              ///< the body of this entry was not read
  std::vector<Register> registers{};  ///< those of `returned` and `params` come first, in this order
  std::vector<std::string> labels{};
  std::vector<Instruction> body{};
  std::vector<Call> calls{};                               ///< calls that inlining treated: see inline.hpp
  std::vector<std::shared_ptr<std::string const>> kept{};  ///< names that inlining made
};

/// A file of PTX. Views into its text stay valid as long as the module, or a copy of it, lives.
struct Module {
  std::shared_ptr<std::string const> text{};
  std::string version{}, target{};
  std::vector<Variable> variables{};
  std::vector<Function> functions{};
  std::vector<std::string> declared{};  ///< names of functions without a body
  std::vector<std::string> files{};     ///< names by the number of `.file`; empty for an unused number
  std::vector<Location> locations{};
  std::vector<std::shared_ptr<std::string const>> kept{};  ///< copies of statements with comments in them
};

/// The line of a location, and the lines that the compiler inlined it for, the kernel's own last; none of location -1.
[[nodiscard]] std::vector<SourceLine> source_lines(Module const& module, std::int32_t location);

/// Reads PTX. `name` is the file's in messages. Of an entry that is not `wanted`, if that is given, the body is skipped to its brace: it
/// has no instructions, and what is wrong in it is not found. Throws InputError with the line. Checked by tests/unit/ptx/reader_test.cpp.
[[nodiscard]] Module read_module(std::string text, std::string const& name,
                                 std::function<bool(Function const& head)> const& wanted = {});

}  // namespace swizproof::ptx
