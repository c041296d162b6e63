// Each result that a handler decides is measured, or its form is named as assumed.
#include "sass_case.hpp"

#include "sass/instructions.hpp"

#include <swizproof/sass/lower.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace swizproof::sass {
namespace {

constexpr std::uint32_t line_of_case = 15;  ///< of the dump: behind `before`

/// R8 to R12, P0 and P1 are known, and so measured.
constexpr std::string_view before =
    "S2R R8, SR_TID.X\nMOV R9, RZ\nMOV R10, 0x40\nMOV R11, RZ\nMOV R12, 0x4\nMOV R13, RZ\nMOV R2, RZ\n"
    "ISETP.EQ.AND P0, PT, R8, RZ, PT\nISETP.EQ.AND P1, PT, R8, RZ, PT\n";

Lowered lowered(std::string_view instruction, std::string_view use) {
  Module const m = read_module(sass_kernel(fmt::format("{}{}\n{}EXIT", before, instruction, use)), "a.sass");
  EXPECT_EQ(m.functions.at(0).body.at(9).line, line_of_case);
  return lower(m, m.functions.at(0));
}

/// The registers whose value the instruction decides: no step on the way to it gives any value in any lane, or is a function that is not
/// modelled.
std::set<std::uint32_t> decided_by_case(program::Program const& p) {
  using program::Action;
  std::vector<bool> open(p.widths.size());
  std::set<std::uint32_t> decided;
  for (program::Step const& s : p.steps) {
    if (s.dst < 0) continue;
    bool is = s.action == Action::varying || s.action == Action::opaque;
    for (program::Source const source : {s.a, s.b, s.c}) is = is || (!source.constant && open[source.value]);
    open[static_cast<std::size_t>(s.dst)] = is;
    auto const r = static_cast<std::uint32_t>(s.dst);
    if (s.line != line_of_case || r >= p.registers.size()) continue;
    is ? decided.erase(r) : decided.insert(r).second;
  }
  return decided;
}

/// An access that rests on a register, by its name.
std::string use_of(std::string const& name) {
  return name.find('P') == name.npos ? fmt::format("LDS R0, [{}]\n", name)
                                     : fmt::format("@{} LDS R0, [R8]\n", name);
}

constexpr std::string_view modifiers[] = {
    "",      ".64",   ".128",  ".U8",      ".S8",       ".U16",  ".S16",    ".U32",  ".S32",
    ".U64",  ".S64",  ".X",    ".WIDE",    ".HI",       ".SX32", ".EX",     ".W",    ".L",
    ".R",    ".LUT",  ".PAND", ".EQ.AND",  ".GT",       ".E",    ".T",      ".MOV",  ".SHL",
    ".IADD", ".OR",   ".FILL", ".BF16_V2", ".16.M88.4", ".CAS",  ".S",      ".UP",   ".IDX",
    ".ANY",  ".BFLY", ".32",   ".U16x2",   ".MMA",      ".HI.X", ".WIDE.X", ".L.HI", ".E.S"};
constexpr std::string_view operands[] = {" R2, R8",
                                         " R2, P1, R8",
                                         " R2, SR_TID.X",
                                         " R2, SRZ",
                                         " UR2, UR8",
                                         " R2, c[0x0][0x210]",
                                         " R2, R8, R10",
                                         " R2, R8, 0x5",
                                         " R2, R8, R10, R12",
                                         " R2, R8, R10, R12, P1",
                                         " R2, P1, R8, R10, R12",
                                         " R2, R8, 0x5, R12",
                                         " R2, R8, R10, 0x5",
                                         " R2, R8, R10, R12, 0x5",
                                         " R2, R8, R10, P1",
                                         " R2, R8, R10, R12, 0xc0, !PT",
                                         " P0, R2, R8, R10, R12, 0xc0, !PT",
                                         " P0, RZ, [R8]",
                                         " P0, PT, R8, R10, PT",
                                         " P0, PT, R8, R10, PT, P1",
                                         " P0, PT, P1, P2, P3, 0x80, 0x8",
                                         " R2, -RZ, RZ, 1.5, 2",
                                         " R2, PR, R8, 0x7f",
                                         " PR, R8, 0x7f",
                                         " R2, [R8]",
                                         " [R8], R10",
                                         " P0, R2, [R8], R10, R12",
                                         " PT, R2, R8, 0x1, 0x1f",
                                         " R2, [R1+0x8]",
                                         " [R1+0x8], R2",
                                         " [R8], [R10]",
                                         " [UR8], [UR4]",
                                         " R2, gdesc[UR8], R10",
                                         " P0, UR2, PT"};

/// Compares what is named as assumed with what was measured, for all that the instruction decides. The number of these results.
std::size_t check_case(std::string const& opcode, std::string const& line) {
  Lowered const l = lowered(line, "");
  std::size_t results = 0;
  auto const check = [&](Lowered const& used, bool predicate, std::string const& what) {
    ++results;
    EXPECT_NE(is_measured(opcode, predicate), !used.assumed.empty()) << line << ": " << what;
  };
  if (!l.program.accesses.empty() || !l.program.operands.empty()) check(l, false, "its access");
  for (std::uint32_t const r : decided_by_case(l.program)) {
    std::string const& name = l.program.registers[r];
    check(lowered(line, use_of(name)), l.program.widths[r] == 1, name);
  }
  return results;
}

TEST(SassForms, EveryDecidedResultIsMeasuredOrNamed) {
  for (Row const& row : rows()) {
    std::size_t results = 0;
    for (std::string_view const modifier : modifiers)
      for (std::string_view const with : operands) {
        std::string const opcode = std::string(row.name) + std::string(modifier);
        results += check_case(opcode, opcode + std::string(with));
        if (row.form.empty()) break;
      }
    EXPECT_EQ(results == 0, row.form.empty() || row.name == "STL") << row.name << ": " << results;
  }
}

TEST(SassForms, AWordOfTheStackRestsOnItsStore) {
  Lowered const l = lowered("STL [R1+0x8], R8", "LDL R2, [R1+0x8]\nLDS R0, [R2]\n");
  EXPECT_EQ(l.assumed, (std::vector<std::string>{"LDL", "STL"}));
}

}  // namespace
}  // namespace swizproof::sass
