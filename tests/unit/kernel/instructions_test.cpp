// Verdicts on instruction descriptors of tcgen05.mma, and what they say of the matrices in shared memory.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
using enum KernelVerdict;
namespace {

/// Operands of a kernel with A in `ta`, 16 KiB, and B in `tb`, 4 KiB, both at multiples of 1024.
std::vector<KernelOperand> operands_with_instruction(std::string const& body) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.shared .align 1024 .b8 ta[16384]; .shared .align "
      "1024 .b8 tb[4096];\n"
      ".entry k(.param .u32 n)\n{\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<9>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, ta; mov.u32 %r3, tb; ld.param.u32 %r5, [n];\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  KernelOptions options;
  options.block = {128, 1, 1};
  return decide_kernel(m, m.functions.at(0), options).operands;
}

/// A product with these descriptors (128B, SBO 1024 by default), `instruction` in %r6.
std::string tensor_product(std::string const& instruction, std::string const& kind = "f16",
                           std::string const& a = "0x4000404000010000", std::string const& at = "0",
                           std::string const& form = "cta_group::1", std::string const& more = "") {
  return "add.u32 %r7, %r2, " + at + "; shr.u32 %r7, %r7, 4; cvt.u64.u32 %rd1, %r7; or.b64 %rd1, %rd1, " + a +
         ";\nshr.u32 %r8, %r3, 4; cvt.u64.u32 %rd2, %r8; or.b64 %rd2, %rd2, 0x4000404000010000;\n" +
         instruction + "\ntcgen05.mma." + form + ".kind::" + kind + " [%r9], %rd1, %rd2, %r6, " + more +
         "%p1;";
}

std::string instruction_bits(std::uint32_t bits) { return "mov.u32 %r6, " + std::to_string(bits) + ";"; }

/// M is 128, N 32, D of f32.
constexpr std::uint32_t instruction_shape = 8U << 24 | 4U << 17 | 1U << 4;

KernelOperand instruction_of(std::string const& body) {
  for (KernelOperand const& o : operands_with_instruction(body))
    if (o.what == "instruction") return o;
  ADD_FAILURE() << "no instruction descriptor";
  return {};
}

}  // namespace

TEST(KernelInstruction, HasFieldsIfItIsConstant) {
  auto const all = operands_with_instruction(tensor_product(instruction_bits(instruction_shape)));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].what, "instruction");
  EXPECT_EQ(all[2].verdict, proved) << all[2].reason;
  ASSERT_TRUE(all[2].instruction);
  EXPECT_EQ(all[2].instruction->fields.n, 32U);
  // 128 rows: 15 groups of 1024 bytes, 7 rows of 128, 32 bytes.
  EXPECT_EQ(all[0].reads, 15 * 1024 + 7 * 128 + 32);
  EXPECT_EQ(all[0].in_bounds, true);
  EXPECT_EQ(all[1].reads, 3 * 1024 + 7 * 128 + 32);
  KernelOperand const open = instruction_of(tensor_product("or.b32 %r6, %r5, 16;"));
  EXPECT_EQ(open.verdict, unknown);
  EXPECT_EQ(open.reason.substr(0, 63), "bit 0 of the instruction descriptor is not known to be constant");
}

TEST(KernelInstruction, BreaksARuleThatIsNamed) {
  KernelOperand const type = instruction_of(tensor_product(instruction_bits(instruction_shape | 2U << 7)));
  EXPECT_EQ(type.verdict, refuted);
  EXPECT_EQ(type.reason, "the kind has no such type of A or B [PTX ISA 9.1, 9.7.16.4.2, tables 42 to 44]");
  EXPECT_EQ(instruction_of(tensor_product(instruction_bits(instruction_shape | 8U << 24), "f16",
                                          "0x4000404000010000", "0", "cta_group::2"))
                .verdict,
            proved);
  KernelOperand const rows =
      instruction_of(tensor_product(instruction_bits((instruction_shape & ~(31U << 24)) | 2U << 24)));
  EXPECT_EQ(rows.reason, "M is neither 64 nor 128 [PTX ISA 9.1, 9.7.16.2.1, table 39]");
  EXPECT_EQ(instruction_of(tensor_product(instruction_bits(instruction_shape | 1U << 2))).verdict,
            unknown);  // the ISA does not say which holds
  EXPECT_EQ(instruction_of("ret;" + tensor_product(instruction_bits(instruction_shape | 2U << 7))).executed,
            false);
}

TEST(KernelInstruction, AgreesWithTheModesOfItsMatrices) {
  std::uint32_t const tf32 = instruction_shape | 2U << 7 | 2U << 10;
  EXPECT_EQ(instruction_of(tensor_product(instruction_bits(tf32), "tf32")).verdict, proved);
  KernelOperand const transposed = instruction_of(tensor_product(instruction_bits(tf32 | 1U << 15), "tf32"));
  EXPECT_EQ(transposed.verdict, refuted);
  EXPECT_EQ(
      transposed.reason,
      "A is MN-major and its descriptor has mode 128B: tcgen05 reads MN-major elements of 32 bits under "
      "128B_ATOM_32B alone [PTX ISA 9.1, 9.7.16.10.3, table 52]");
  KernelOperand const atom =
      instruction_of(tensor_product(instruction_bits(instruction_shape), "f16", "0x2000404000010000"));
  EXPECT_EQ(atom.verdict, refuted);
  EXPECT_EQ(instruction_of(tensor_product(instruction_bits(instruction_shape | 1U << 15))).verdict, proved);
}

TEST(KernelInstruction, BoundsItsMatrices) {
  auto const a_of = [](std::string const& body) { return operands_with_instruction(body).at(0); };
  KernelOperand const behind =
      a_of(tensor_product(instruction_bits(instruction_shape), "f16", "0x4000404000010000", "1024"));
  EXPECT_EQ(behind.verdict, refuted);
  EXPECT_EQ(behind.reason, "its matrix ends 1024 bytes behind ta [PTX ISA 9.1, 9.7.16.4.1]");
  EXPECT_EQ(behind.in_bounds, false);
  // The last 32 bytes of each row: the swizzle keeps them in the row.
  EXPECT_EQ(
      a_of(tensor_product(instruction_bits(instruction_shape), "f16", "0x4000404000010000", "96")).in_bounds,
      true);
  KernelOperand const some = a_of("and.b32 %r10, %r5, 1024; add.u32 %r2, %r2, %r10;\n" +
                                  tensor_product(instruction_bits(instruction_shape)));
  EXPECT_EQ(some.in_bounds, std::nullopt);  // one of two starts
  EXPECT_EQ(some.verdict, proved) << some.reason;
  // Half of the rows in each block of a pair.
  EXPECT_EQ(a_of(tensor_product(instruction_bits(instruction_shape | 8U << 24), "f16", "0x4000404000010000",
                                "0", "cta_group::2"))
                .in_bounds,
            true);
}

TEST(KernelInstruction, LeavesOutWhatSelectsScaleFactors) {
  std::uint32_t const mx = 1U << 27 | 1U << 23 | 4U << 17;
  std::string const scales = "[%r9], [%r9], ",
                    selected = "and.b32 %r6, %r5, 0x60000030; or.b32 %r6, %r6, " + std::to_string(mx) + ";";
  auto const of = [&](std::string const& text, std::string const& kind) {
    return instruction_of(
        tensor_product(text, kind + ".block_scale", "0x4000404000010000", "0", "cta_group::1", scales));
  };
  KernelOperand const any = of(selected, "mxf8f6f4");
  EXPECT_EQ(any.verdict, proved) << any.reason;
  EXPECT_TRUE(any.instruction->selects);
  KernelOperand const half = of("or.b32 %r5, %r5, 0;" + selected + "or.b32 %r6, %r6, 1152;", "mxf4");
  EXPECT_EQ(half.verdict, unknown);
  EXPECT_EQ(of(instruction_bits(mx & ~(1U << 23)), "mxf8f6f4").verdict, refuted);
}

}  // namespace swizproof
