// Forms of SASS instructions whose meaning the lowering takes, one line each: what it takes them to mean, and whether that was measured.
//
// NVIDIA documents names alone. The meanings are those that code of known PTX needs: tests/reference/sass.py executes them
// another way, and traces of an H200 agree (tests/KERNELS.md). A campaign on a GPU may measure them: then `measured` is true.
#pragma once

#include <string_view>

namespace swizproof::sass {

/// A form: its name in verdicts, and its meaning.
struct Form {
  std::string_view name;
  std::string_view meaning;
  bool measured = false;
};

/// Every form.
inline constexpr Form forms[] = {
    {"MOV", "d = a"},
    {"S2R", "d = a special register"},
    {"S2UR", "d = a special register"},
    {"CS2R", "d, d+1 = a special register of 64 bits"},
    {"R2UR", "d = a, which all lanes that execute it share"},
    {"LDC", "d = a word of the constant bank, at an offset in bytes"},
    {"IADD3", "d = a + b + c; the predicate is the carry out of 32 bits, -b counting as ~b + 1"},
    {"IADD3.X", "d = a + b + c + p + q"},
    {"IADD", "d = a + b"},
    {"VIADD", "d = a + b"},
    {"IMAD", "d = a * b + c, lower word"},
    {"IMAD.X", "d = a * b + c + p"},
    {"IMAD.WIDE",
     "d, d+1 = a * b + {c+1, c}, extended by sign, with U32 by zero; the predicate is the carry out of 64 "
     "bits"},
    {"IMAD.WIDE.X", "the same + p"},
    {"IMAD.HI", "d = upper word of a * b + {c+1, c}"},
    {"LEA", "d = (a << n) + b; the predicate is the carry"},
    {"LEA.HI", "d = upper word of {c, a} << n, + b, with X + p"},
    {"LEA.HI.SX32", "d = upper word of a << n, extended by sign, + b, with X + p"},
    {"SHF.L", "d = lower word of {c, a} << n, with HI the upper; n is at most 32 (64), with W modulo it"},
    {"SHF.R", "d = lower word of {c, a} >> n, with HI the upper; S32 and S64 repeat the sign"},
    {"LOP3", "d = a truth table of the bits of a, b, c: 0xf0, 0xcc, 0xaa; the predicate is d != 0, or p"},
    {"PLOP3", "p, q = truth tables of three predicates"},
    {"PRMT", "d = bytes of {c, a} by the nibbles of the selector; 8 repeats a sign"},
    {"SEL", "d = p ? a : b"},
    {"ISETP", "p = a cmp b, joined with r; q = !(a cmp b), joined with r"},
    {"ISETP.EX", "the same of two words, the comparison of the lower ones given"},
    {"IMNMX", "d = p ? least : most"},
    {"VIMNMX3", "d = p ? least : most, of three"},
    {"VIADDMNMX", "d = p ? least : most, of a + b and c"},
    {"IABS", "d = |a|"},
    {"SGXT", "d = the low n bits of a, extended by sign, with U32 by zero"},
    {"BMSK", "d = n ones from bit m on"},
    {"POPC", "d = ones of a"},
    {"BREV", "d = a, its bits in reverse order"},
    {"HFMA2 of a constant", "d = two halves"},
    {"P2R", "d = predicates as bits where the mask has them, else bits of a"},
    {"R2P", "predicates = bits of a where the mask has them"},
    {"LDS",
     "a load of shared memory, at the sum of a register, times its scale, a uniform register and an offset"},
    {"STS", "a store to shared memory"},
    {"LDSM", "ldmatrix"},
    {"STSM", "stmatrix"},
    {"ATOMS", "an atomic of shared memory"},
    {"LDGSTS", "cp.async"},
    {"LDG", "a load of global memory"},
    {"LDL", "a load of the word of the stack that the last STL at its offset from R1 wrote"},
    {"STL", "a store to the stack"},
    {"LD", "a load by a generic address"},
    {"ST", "a store by a generic address"},
    {"UTMALDG",
     "a copy of a tensor to shared memory: destination, mbarrier and coordinates in uniform registers, in "
     "this order"},
    {"UTMASTG", "a copy of a tensor from shared memory"},
    {"UTMAREDG", "a reduction of a tensor from shared memory"},
    {"UBLKCP", "a bulk copy: destination and mbarrier in uniform registers, in this order"},
    {"UBLKRED", "a bulk reduction"},
    {"HGMMA", "wgmma: descriptors of A and B in four uniform registers"},
    {"IGMMA", "wgmma: descriptors of A and B in four uniform registers"},
    {"QGMMA", "wgmma: descriptors of A and B in four uniform registers"},
    {"BGMMA", "wgmma: descriptors of A and B in four uniform registers"},
    {"SHFL", "shfl.sync: predicate, value, lane, bounds"},
    {"VOTE", "a value that the lanes that execute it share"},
    {"ELECT", "elect.sync"},
    {"BRX", "a branch to one of the labels that the dump names"},
    {"BRA.DIV", "a branch of a warp whose lanes are not together, to code with the same result"},
    {"CALL.REL", "a call that goes on at the address that a MOV before it puts into the register of RET"},
    {"CALL.ABS",
     "a call that changes no register but R0, R2 to R15, R20, R21, R32 to R254, UR0 to UR35 and predicates"},
};

inline constexpr std::string_view measured[] = {"IADD3"};

/// The same name, as the table has it; empty for one that it lacks.
[[nodiscard]] constexpr std::string_view form_named(std::string_view name) {
  for (Form const& f : forms)
    if (f.name == name) return f.name;
  return {};
}

/// True for a form that was measured, and for what is none.
[[nodiscard]] constexpr bool is_measured(std::string_view name) {
  if (name.empty()) return true;
  for (Form const& f : forms)
    if (f.name == name) return f.measured;
  return false;
}

}  // namespace swizproof::sass
