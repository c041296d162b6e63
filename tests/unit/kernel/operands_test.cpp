// Verdicts on descriptors of wgmma and tcgen05 and on addresses of bulk copies.
#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace swizproof {
namespace {

/// Operands of a kernel with `tile`, 64 KiB at a multiple of 1024, `loose`, as much at a multiple of 16, and `odd` at one of 8.
std::vector<KernelOperand> operands_of(std::string const& body, KernelOptions options = {}) {
  if (!options.block) options.block = {128, 1, 1};
  options.any_base = true;  // those that a device gives: bases_test.cpp
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.shared .align 1024 .b8 tile[65536];\n"
      ".extern .shared .align 16 .b8 loose[];\n.shared .align 8 .b8 odd[64];\n.shared .align 256 .b8 "
      "most[64];\n"
      ".entry k(.param .u32 n, .param .u64 g)\n{\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<9>; .reg "
      ".f32 %f<9>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, loose; mov.u32 %r4, odd; ld.param.u32 %r5, [n];\n"
      "ld.param.u64 %rd1, [g]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r6, most;\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  return decide_kernel(m, m.functions.at(0), options).operands;
}

/// The operand that is no instruction descriptor.
KernelOperand operand_of(std::string const& body, KernelOptions options = {}) {
  auto all = operands_of(body, std::move(options));
  std::erase_if(all, [](KernelOperand const& o) { return o.what == "instruction"; });
  EXPECT_EQ(all.size(), 1U) << body;
  return all.at(0);
}

/// wgmma with A in registers and B at the address in %r10, with these other bits and this advance in units of 16 bytes.
std::string wgmma_of(std::string const& address, std::string const& bits = "0x4000004000010000",
                     std::string const& advance = "0") {
  return address +
         " and.b32 %r11, %r10, 0x3ffff; shr.u32 %r11, %r11, 4; cvt.u64.u32 %rd2, %r11;\nor.b64 %rd3, %rd2, " +
         bits + "; add.s64 %rd3, %rd3, " + advance +
         ";\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, %rd3, "
         "1, 1, 1, "
         "0;";
}
std::string bulk_at(std::string const& address, std::string const& size = "64") {
  return address + " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1], " +
         size + ", [%r2];";
}
std::string tensor_at(std::string const& address) {
  return address +
         " cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r10], [%rd1, "
         "{%r1}], [%r2];";
}

struct Row {
  std::string body;
  KernelVerdict verdict;
  std::optional<unsigned> guaranteed;
  std::optional<std::uint64_t> base = {};
};

void expect_rows(std::vector<Row> const& rows) {
  for (Row const& row : rows) {
    KernelOperand const o = operands_of(row.body).at(0);
    EXPECT_EQ(o.verdict, row.verdict) << row.body << ": " << o.reason;
    EXPECT_EQ(o.guaranteed, row.guaranteed) << row.body;
    EXPECT_EQ(o.base, row.base) << row.body;
  }
}

using enum KernelVerdict;

TEST(KernelOperand, FieldsOfADescriptor) {
  KernelOperand const o = operand_of(wgmma_of("add.s32 %r10, %r2, 8192;", "0x4000004000010000", "2"));
  EXPECT_EQ(o.verdict, proved) << o.reason;
  EXPECT_EQ(o.what, "descriptor B");
  ASSERT_TRUE(o.descriptor);
  EXPECT_EQ(o.descriptor->operand_mode().name, "128B");
  EXPECT_EQ(o.descriptor->leading_byte_offset, 16U);
  EXPECT_EQ(o.descriptor->stride_byte_offset, 1024U);
  EXPECT_EQ(o.descriptor->bits(), 0x4000004000010000U);
  EXPECT_EQ(o.start, "tile + 0x2000 & 0x3ffff + 32");
  EXPECT_EQ(o.needed, 1024U);
  EXPECT_EQ(o.guaranteed, 1024U);
  EXPECT_EQ(o.array, "tile");
  EXPECT_EQ(o.op, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
}

TEST(KernelOperand, BothDescriptorsAreListed) {
  auto const all = operands_of(
      "shr.u32 %r11, %r2, 4; cvt.u64.u32 %rd2, %r11; or.b64 %rd3, %rd2, 0x4000004000010000;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd3, %rd3, 1, 1, 1, 0, 0;");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].what, "descriptor A");
  EXPECT_EQ(all[1].what, "descriptor B");
  EXPECT_EQ(all[0].verdict, proved) << all[0].reason;  // no mask: an address is below 2^18
}

TEST(KernelOperand, PatternNeedsItsBase) {
  std::string const b64 = "0x8000002000010000", b32 = "0xc000001000010000", none = "0x0000001000080000";
  expect_rows({
      {wgmma_of("mov.u32 %r10, %r2;"), proved, 1024},
      {wgmma_of("mov.u32 %r10, %r3;"), refuted, 16, 128},
      {wgmma_of("mov.u32 %r10, %r3;", "0x4000004000010000", "6"), refuted, 16, 128},
      {wgmma_of("mov.u32 %r10, %r3;", b64), refuted, 16, 64},
      {wgmma_of("mov.u32 %r10, %r3;", b32), refuted, 16, 32},
      {wgmma_of("mov.u32 %r10, %r3;", none), proved, 16},
      {wgmma_of("mov.u32 %r10, %r6;"), refuted, 256, 256},
      {wgmma_of("mov.u32 %r10, %r6;", b64), refuted, 256, 256},
      {wgmma_of("mov.u32 %r10, %r6;", b32), proved, 256},
      // Rounded up, down, and to too little.
      {wgmma_of("add.s32 %r10, %r3, 1023; and.b32 %r10, %r10, -1024;"), proved, 1024},
      {wgmma_of("and.b32 %r10, %r3, -1024;"), proved, 1024},
      {wgmma_of("add.s32 %r10, %r3, 511; and.b32 %r10, %r10, -512;"), refuted, 512, 128},
      {wgmma_of("add.s32 %r10, %r3, 511; and.b32 %r10, %r10, -512;", b64), proved, 512},
      // Rounded by arithmetic.
      {wgmma_of("and.b32 %r8, %r3, 1023; sub.u32 %r10, %r3, %r8; add.u32 %r10, %r10, 1024;"), proved, 1024},
      {wgmma_of("add.u32 %r8, %r3, 1023; div.u32 %r8, %r8, 1024; mul.lo.u32 %r10, %r8, 1024;"), proved, 1024},
  });
}

TEST(KernelOperand, KMovesWithinARow) {
  auto const at = [](std::string const& advance) {
    return wgmma_of("mov.u32 %r10, %r2;", "0x4000004000010000", advance);
  };
  expect_rows({{at("2"), proved, 1024},
               {at("7"), proved, 1024},
               {at("8"), unknown, 1024},
               {at("64"), proved, 1024},
               {wgmma_of("mov.u32 %r10, %r2;", "0xc000001000010000", "1"), proved, 256},
               {wgmma_of("mov.u32 %r10, %r2;", "0xc000001000010000", "2"), unknown, 256},
               // Base offset 1 is of a pattern that begins 128 bytes behind.
               {wgmma_of("add.u32 %r10, %r2, 128;", "0x4002004000010000"), proved, 1024},
               {wgmma_of("mov.u32 %r10, %r2;", "0x4002004000010000"), unknown, 1024}});
}

TEST(KernelOperand, LowBitsThatTheShiftLoses) {
  std::string const none = "0x0000001000080000";
  expect_rows({{wgmma_of("add.u32 %r10, %r2, 8;"), refuted, 8},
               {wgmma_of("mov.u32 %r10, %r4;", none), refuted, 8, 8},
               {wgmma_of("add.u32 %r10, %r4, 15; and.b32 %r10, %r10, -16;", none), proved, 16}});
}

TEST(KernelOperand, FieldsThatAreNotConstant) {
  KernelOperand const o =
      operand_of(wgmma_of("mov.u32 %r10, %r2; cvt.u64.u32 %rd4, %r5; shl.b64 %rd4, %rd4, 16;", "%rd4"));
  EXPECT_EQ(o.verdict, unknown);
  EXPECT_EQ(o.reason, "bit 16 of the descriptor is not known to be constant (PTX line 11)");
  // Bit 16 is bit 0 before the shift.
  KernelOperand const masked = operand_of(wgmma_of(
      "mov.u32 %r10, %r2;\nand.b32 %r8, %r5, 255;\ncvt.u64.u32 %rd4, %r8;\nshl.b64 %rd4, %rd4, 16;", "%rd4"));
  EXPECT_EQ(masked.reason, "bit 16 of the descriptor is not known to be constant (PTX line 11)");
  // A negative advance borrows from the next field, unless the start is known to be large enough.
  KernelOperand const back = operand_of(wgmma_of("mov.u32 %r10, %r2;", "0x4000004000010000", "-2"));
  EXPECT_EQ(back.verdict, unknown);
  EXPECT_EQ(back.reason, "bit 14 of the descriptor is not known to be constant (PTX line 14)");
  // Bit 15 belongs to no field.
  EXPECT_EQ(operand_of(wgmma_of("mov.u32 %r10, %r2;", "0x4000004000018000")).verdict, unknown);
  KernelOperand const loaded =
      operand_of(wgmma_of("mov.u32 %r10, %r2; ld.global.u64 %rd4, [%rd1]; shl.b64 %rd4, %rd4, 20;", "%rd4"));
  EXPECT_EQ(loaded.reason,
            "bit 20 of the descriptor is not known to be constant: it depends on the load at PTX line 13");
  // A number whose lowest bit is 0 is not 1.
  EXPECT_EQ(operand_of(wgmma_of("mov.u32 %r10, %r2; and.b32 %r8, %r5, 2; setp.eq.u32 %p1, %r8, 1; selp.b64 "
                                "%rd4, 0, 0x4000004000010000, %p1;",
                                "%rd4"))
                .verdict,
            proved);
  // Another descriptor in each lane.
  KernelOperand const lanes = operand_of(wgmma_of("shl.b32 %r8, %r1, 10; add.u32 %r10, %r2, %r8;"));
  EXPECT_EQ(lanes.verdict, unknown);
  EXPECT_EQ(lanes.reason, "the lanes of a warp have different descriptors (PTX line 15)");
}

TEST(KernelOperand, HalvesOfADescriptor) {  // as CuTe advances one
  expect_rows(
      {{"shr.u32 %r11, %r2, 4; and.b32 %r11, %r11, 16383; cvt.u64.u32 %rd2, %r11; or.b64 %rd3, %rd2, "
        "0x4000004000010000; mov.b64 {%r12, %r13}, %rd3; add.s32 %r12, %r12, 2; mov.b64 %rd3, {%r12, %r13};\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, %rd3, 1, 1, "
        "1, 0;",
        proved, 1024}});
}

TEST(KernelOperand, FieldOfAnAddress) {  // as Triton makes and advances one
  KernelOperand const o = operand_of(
      "add.u32 %r10, %r2, 8192; bfe.u32 %r11, %r10, 4, 14; cvt.u64.u32 %rd2, %r11;\n"
      "add.s64 %rd3, %rd2, 0x4000004000010002;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, %rd3, 1, 1, "
      "1, 0;");
  EXPECT_EQ(o.verdict, proved) << o.reason;
  EXPECT_EQ(o.start, "tile + 0x2000 + 32");
  EXPECT_EQ(o.guaranteed, 1024U);
}

TEST(KernelOperand, Tcgen05) {
  auto const mma = [](std::string const& bits) {
    return "shr.u32 %r11, %r2, 4; cvt.u64.u32 %rd2, %r11; or.b64 %rd3, %rd2, " + bits +
           ";\ntcgen05.mma.cta_group::1.kind::f16 [%r7], [%r8], %rd3, %r5, %p1;";
  };
  KernelOperand const o = operand_of(mma("0x4000404000010000"));
  EXPECT_EQ(o.what, "descriptor B");  // A is in tensor memory
  EXPECT_EQ(o.verdict, proved) << o.reason;
  EXPECT_EQ(o.descriptor->operand_mode().name, "128B");
  KernelOperand const version = operand_of(mma("0x4000004000010000"));
  EXPECT_EQ(version.verdict, refuted);
  EXPECT_EQ(version.reason, "bits 48..46 of a descriptor of tcgen05 are 1, and here 0");
  KernelOperand const mode = operand_of(mma("0x6000404000010000"));
  EXPECT_EQ(mode.verdict, refuted);
  EXPECT_EQ(mode.reason, "no swizzle mode of tcgen05 has the number 3");
  EXPECT_EQ(operand_of(mma("0x4010404000010000")).verdict, unknown);  // LBO is an address
  KernelOperand const copy = operand_of(
      "shr.u32 %r11, %r2, 4; cvt.u64.u32 %rd2, %r11; or.b64 %rd3, %rd2, 0x0000404000010000;\n"
      "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r7], %rd3;");
  EXPECT_EQ(copy.what, "descriptor");
  EXPECT_EQ(copy.verdict, proved) << copy.reason;
}

TEST(KernelOperand, AtomsOf32BytesHaveAShorterPeriod) {
  auto const mma = [](std::string const& array) {
    return "shr.u32 %r11, " + array +
           ", 4; cvt.u64.u32 %rd2, %r11; or.b64 %rd3, %rd2, 0x2000404000010000;\n"
           "tcgen05.mma.cta_group::1.kind::f16 [%r7], [%r8], %rd3, %r5, %p1;";
  };
  expect_rows({{mma("%r2"), proved, 1024}, {mma("%r3"), refuted, 16, 128}});
  // Bases 512 bytes apart are not known to differ.
  EXPECT_EQ(operand_of("add.u32 %r10, %r3, 511; and.b32 %r10, %r10, -512;" + mma("%r10")).verdict, unknown);
}

TEST(KernelOperand, BulkCopies) {
  expect_rows({{bulk_at("add.u32 %r10, %r2, 48;"), proved, 16},
               {bulk_at("add.u32 %r10, %r2, 8;"), refuted, 8},
               {bulk_at("mov.u32 %r10, %r3;"), proved, 16},
               {bulk_at("mov.u32 %r10, %r4;"), refuted, 8, 8},
               {bulk_at("shl.b32 %r8, %r1, 4; add.u32 %r10, %r2, %r8;"), proved, 16},
               {bulk_at("shl.b32 %r8, %r1, 3; add.u32 %r10, %r2, %r8;"), refuted, 8},
               {bulk_at("mad.lo.u32 %r10, %r5, 16, %r2;"), proved, 16},
               {bulk_at("mad.lo.u32 %r10, %r5, 8, %r2;"), refuted, 8},  // n may be 1
               {bulk_at("mov.u32 %r10, %r2;", "72"), refuted, 16},
               {bulk_at("mov.u32 %r10, %r2;", "%r5"), proved, 16}});
  auto const all = operands_of(bulk_at("mov.u32 %r10, %r2;"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].what, "destination");
  EXPECT_EQ(all[1].what, "mbarrier");
  EXPECT_EQ(all[1].needed, 8U);
  KernelOperand const store = operand_of("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 64;");
  EXPECT_EQ(store.what, "source");
  EXPECT_EQ(store.needed, 16U);
  KernelOperand const add =
      operand_of("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r3+4], 64;");
  EXPECT_EQ(add.what, "source");
  EXPECT_EQ(add.verdict, refuted);
  KernelOperand const all_gpus =
      operand_of("multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3+8], 64;");
  EXPECT_EQ(all_gpus.what, "source");
  EXPECT_EQ(all_gpus.verdict, refuted);
  EXPECT_TRUE(
      operands_of("cp.async.bulk.prefetch.L2.global [%rd1], 64; cp.async.bulk.commit_group;").empty());
}

TEST(KernelOperand, BulkCopiesThatLeaveTheirArray) {
  auto const first = [](std::string const& address, std::string const& size) {
    return operands_of(bulk_at(address, size)).at(0);
  };
  KernelOperand const whole = first("mov.u32 %r10, %r2;", "65536");
  EXPECT_EQ(whole.verdict, proved);
  EXPECT_EQ(whole.in_bounds, true);
  KernelOperand const longer = first("mov.u32 %r10, %r2;", "65552");
  EXPECT_EQ(longer.verdict, refuted);
  EXPECT_EQ(longer.in_bounds, false);
  EXPECT_EQ(longer.reason, "its 65552 bytes end 16 bytes behind tile");
  EXPECT_EQ(first("add.u32 %r10, %r2, 65520;", "32").in_bounds, false);
  EXPECT_EQ(first("sub.u32 %r10, %r2, 16;", "32").reason, "it begins 16 bytes before tile");
  EXPECT_EQ(first("mov.u32 %r10, %r2;", "0").in_bounds, true);
  KernelOperand const size = first("mov.u32 %r10, %r2;", "%r5");
  EXPECT_EQ(size.verdict, proved);
  EXPECT_EQ(size.in_bounds, std::nullopt) << "n bytes";
  KernelOperand const start = first("mad.lo.u32 %r10, %r5, 16, %r2;", "16");
  EXPECT_EQ(start.in_bounds, std::nullopt);
  // The start of a dynamic array is known.
  EXPECT_EQ(first("mov.u32 %r10, %r3;", "65552").in_bounds, std::nullopt);
  EXPECT_EQ(first("sub.u32 %r10, %r3, 16;", "16").reason, "it begins 16 bytes before loose");
  KernelOptions sized;
  sized.shared_bytes = 1024;
  EXPECT_EQ(operands_of(bulk_at("add.u32 %r10, %r3, 512;", "512"), sized).at(0).in_bounds, true);
  EXPECT_EQ(operands_of(bulk_at("add.u32 %r10, %r3, 512;", "528"), sized).at(0).in_bounds, false);
}

TEST(KernelOperand, LanesAndIterationsWhoseCopiesLeaveTheirArray) {
  auto const first = [](std::string const& body) { return operands_of(body).at(0).in_bounds; };
  // 128 threads, each with 512 bytes.
  EXPECT_EQ(first(bulk_at("mad.lo.u32 %r10, %r1, 512, %r2;", "512")), true);
  EXPECT_EQ(first(bulk_at("mad.lo.u32 %r10, %r1, 512, %r2;", "528")), false);
  EXPECT_EQ(first("setp.lt.u32 %p1, %r1, 127;" + bulk_at("mad.lo.u32 %r10, %r1, 512, %r2; @%p1", "528")),
            true);
  std::string const data = "ld.global.u32 %r8, [%rd1]; setp.eq.u32 %p1, %r8, 7;";
  EXPECT_EQ(first(data + bulk_at("mov.u32 %r10, %r2; @%p1", "65552")), std::nullopt)
      << "it may not be executed";
  EXPECT_EQ(first("elect.sync %r8|%p1, -1;" + bulk_at("mov.u32 %r10, %r2; @%p1", "65552")), false);
  auto const stages = [&](std::string const& count) {
    return first("mov.u32 %r8, 0;\nL: " + bulk_at("mad.lo.u32 %r10, %r8, 16384, %r2;", "16384") +
                 " add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, " + count + "; @%p1 bra L;");
  };
  EXPECT_EQ(stages("4"), true);
  EXPECT_EQ(stages("5"), false);
}

TEST(KernelOperand, OtherSidesOfCopiesThatLeaveTheirArray) {
  auto const barrier = [](std::string const& offset) {
    return operands_of(
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 64, [%r4+" +
               offset + "];")
        .at(1);
  };
  EXPECT_EQ(barrier("56").in_bounds, true);
  EXPECT_EQ(barrier("64").in_bounds, false);
  EXPECT_EQ(barrier("64").reason, "its 8 bytes end 8 bytes behind odd");
  EXPECT_EQ(operand_of("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2+65536], 16;").in_bounds,
            false);
  EXPECT_EQ(operand_of("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 65552;")
                .in_bounds,
            false);
  EXPECT_EQ(operands_of(tensor_at("mov.u32 %r10, %r2;")).at(0).in_bounds, std::nullopt)
      << "its size is not known";
}

TEST(KernelOperand, CopiesOfTensors) {
  expect_rows({{tensor_at("add.u32 %r10, %r2, 128;"), proved, 128},
               {tensor_at("add.u32 %r10, %r2, 64;"), refuted, 64},
               {tensor_at("mov.u32 %r10, %r3;"), refuted, 16, 16},
               {tensor_at("add.u32 %r10, %r3, 127; and.b32 %r10, %r10, -128;"), proved, 128}});
  KernelOperand const store =
      operand_of("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r1, %r1}], [%r2+64];");
  EXPECT_EQ(store.what, "source");
  EXPECT_EQ(store.verdict, refuted);
  auto const im2col = operands_of(
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r2], [%rd1, "
      "{%r1, %r1, "
      "%r1}], [%r4+4], {%r7};");
  ASSERT_EQ(im2col.size(), 2U);
  EXPECT_EQ(im2col[1].what, "mbarrier");
  EXPECT_EQ(im2col[1].verdict, refuted);
}

// TMA and wgmma swizzle addresses: what one writes the other reads right from every multiple of 128.
TEST(KernelOperand, DestinationOfWhatADescriptorReads) {
  auto const both = [](std::string const& array, std::string const& behind,
                       std::string const& bits = "0x4000004000010000") {
    return operands_of(tensor_at("add.u32 %r10, " + array + ", " + behind + ";") +
                       wgmma_of("mov.u32 %r10, " + array + ";", bits, "2"));
  };
  auto const read = both("%r6", "0");  // destination, mbarrier, descriptor
  EXPECT_EQ(read[0].needed, 128U);
  EXPECT_EQ(read[0].verdict, proved) << read[0].reason;
  EXPECT_EQ(read[2].needed, 16U);
  EXPECT_EQ(read[2].verdict, proved) << read[2].reason;
  auto const other = both("%r6", "4096");  // another tile of the array
  EXPECT_EQ(other[0].verdict, proved) << other[0].reason;
  EXPECT_EQ(other[2].needed, 1024U);
  EXPECT_EQ(other[2].verdict, refuted);
  EXPECT_EQ(other[2].base, 256U);
  auto const behind = operands_of(tensor_at("mov.u32 %r10, %r6;") + wgmma_of("add.u32 %r10, %r6, 4224;"));
  EXPECT_EQ(behind[2].needed, 1024U) << "nor in another row of it";
  auto const offset = both("%r6", "0", "0x4002004000010000");  // base offset 1
  EXPECT_EQ(offset[2].needed, 1024U);
  EXPECT_NE(offset[2].verdict, proved);
  auto const loose = both("%r3", "0");
  EXPECT_EQ(loose[0].verdict, refuted);
  EXPECT_EQ(loose[0].base, 16U);
  EXPECT_EQ(loose[2].verdict, proved) << loose[2].reason;
}

// A part of a tile that starts whole patterns behind the copy, as the second half of 128 rows.
TEST(KernelOperand, ATileBehindTheStartOfACopy) {
  auto const behind = [](std::string const& others) {
    auto const all =
        operands_of(tensor_at("add.u32 %r10, %r6, 1024;") + others + wgmma_of("add.u32 %r10, %r6, 9216;"));
    for (KernelOperand const& o : all)
      if (o.what == "descriptor B") return o.verdict == proved && o.needed == 16;
    return false;
  };
  std::string const lanes = "shl.b32 %r12, %r1, 2; add.u32 %r12, %r12, %r6;";  // 512 bytes
  EXPECT_TRUE(behind(""));
  EXPECT_TRUE(behind(lanes + "st.shared.u32 [%r12+512], %r7;"));
  EXPECT_TRUE(behind(lanes + "ld.shared.u32 %r7, [%r12+9216];"));
  EXPECT_TRUE(behind("st.shared.u32 [%r3+9216], %r7;")) << "another array";
  EXPECT_FALSE(behind(lanes + "st.shared.u32 [%r12+516], %r7;")) << "the last word is behind the start";
  EXPECT_FALSE(behind(lanes + "st.shared.u32 [%r12+9216], %r7;"));
  EXPECT_FALSE(behind(lanes + "atom.shared.add.u32 %r7, [%r12+9216], %r7;"));
  EXPECT_FALSE(behind("add.u32 %r12, %r5, %r6; st.shared.u32 [%r12], %r7;"));
  EXPECT_FALSE(behind(bulk_at("add.u32 %r10, %r6, 9216;"))) << "a copy that swizzles nothing";
}

TEST(KernelOperand, Guards) {
  auto const guarded = [](std::string const& condition) {
    return operands_of(
               condition +
               " @!%p1 bra END; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2+8], 64; END:")
        .at(0);
  };
  KernelOperand const never = guarded("setp.gt.u32 %p1, %r1, 1000;");
  EXPECT_EQ(never.verdict, proved);
  EXPECT_FALSE(never.executed);
  EXPECT_EQ(guarded("setp.eq.u32 %p1, %r1, 77;").verdict, refuted);
  EXPECT_EQ(guarded("setp.eq.u32 %p1, %r5, 77;").verdict, unknown);  // n is never tried at 77
  EXPECT_EQ(guarded("setp.lt.u32 %p1, %r1, %r5;").verdict, refuted);
  EXPECT_EQ(guarded("elect.sync %r9|%p1, 0xffffffff;").verdict, refuted);
  EXPECT_EQ(guarded("elect.sync _|%p1, 0xffffffff; setp.lt.and.u32 %p1, %r1, 32, %p1;").verdict, refuted);
  EXPECT_EQ(guarded("elect.sync %r9|%p1, %r5;").verdict, refuted);  // one of its lanes is elected
  KernelOperand const fifth = guarded("elect.sync %r9|%p1, 0xffffffff; setp.eq.and.u32 %p1, %r1, 5, %p1;");
  EXPECT_EQ(fifth.verdict, unknown);  // lane 5 need not be elected
  EXPECT_NE(fifth.reason.find("no execution was found in which"), std::string::npos);
  EXPECT_EQ(guarded("ld.global.u32 %r8, [%rd1]; setp.eq.u32 %p1, %r8, 0;").verdict, unknown);
}

/// tcgen05.mma with A and B at the address in %r10, under %p1, and what is behind it.
std::vector<KernelOperand> tcgen05_of(std::string const& address, std::string const& behind = "") {
  auto all = operands_of(address +
                         " and.b32 %r11, %r10, 0x3ffff; shr.u32 %r11, %r11, 4; cvt.u64.u32 %rd2, %r11;\n"
                         "or.b64 %rd3, %rd2, 0x4000404000010000; mov.u32 %r12, 0x8100490;\n"
                         "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r13], %rd3, %rd3, %r12, 1;" +
                         behind);
  std::erase_if(all, [](KernelOperand const& o) { return o.what != "descriptor A"; });
  EXPECT_EQ(all.size(), 1U);
  return all;
}

// Any lane may be elected, and issues its own product.
TEST(KernelOperand, EachLaneIssuesATcgen05Mma) {
  std::string const leader = "elect.sync _|%p1, -1;", lane = "mad.lo.u32 %r10, %r1, 1024, %r2;";
  EXPECT_EQ(tcgen05_of(leader + lane).at(0).verdict, proved);
  EXPECT_EQ(tcgen05_of(leader + "setp.eq.u32 %p2, %r1, 3; selp.b32 %r10, %r2, %r3, %p2;").at(0).verdict,
            unknown);
  // A lane whose tile starts in another row of the pattern may be the leader; the base moves all of them.
  EXPECT_EQ(tcgen05_of(leader + "mad.lo.u32 %r10, %r1, 128, %r2;").at(0).verdict, unknown);
  EXPECT_EQ(tcgen05_of(leader + "mad.lo.u32 %r10, %r1, 1024, %r3;").at(0).verdict, refuted);
  EXPECT_EQ(operand_of(wgmma_of(lane)).verdict, unknown) << "a warp issues one wgmma";
}

TEST(KernelOperand, OneMaskHasOneLeader) {
  auto const chosen = [](std::string const& first, std::string const& second) {
    return tcgen05_of("elect.sync _|%p2, " + first + "; elect.sync %r9|%p1, " + second +
                      "; selp.b32 %r10, %r2, 0, %p2;")
        .at(0);
  };
  EXPECT_EQ(chosen("-1", "-1").verdict, proved) << chosen("-1", "-1").reason;
  EXPECT_EQ(chosen("-1", "%r5").verdict, unknown);
  EXPECT_EQ(chosen("%r5", "%r5").verdict, unknown) << "lanes that are not in it have no leader";
  EXPECT_EQ(chosen("0xffff", "0xffff").verdict, unknown);
  // A register that the leader has set before a loop.
  auto const before = [](std::string const& changes) {
    return tcgen05_of(
               "elect.sync _|%p2, -1; mov.u32 %r9, 0; @%p2 mov.u32 %r9, %r2; mov.u32 %r14, 0;\nL: elect.sync "
               "_|%p1, -1; mov.u32 %r10, %r9;",
               changes + "add.u32 %r14, %r14, 1; setp.lt.u32 %p3, %r14, 4; @%p3 bra L;")
        .at(0);
  };
  EXPECT_EQ(before("").verdict, proved) << before("").reason;
  EXPECT_EQ(before("mov.u32 %r9, 0;").verdict, unknown);
  EXPECT_EQ(before("add.u32 %r9, %r9, 8192;").verdict, unknown);
}

TEST(KernelOperand, PartsThatMoveWithTheBaseAreNoCases) {
  for (std::string const part : {"setp.lt.u32 %p1, %r3, 4096; selp.b32 %r8, 0, 128, %p1;",
                                 "popc.b32 %r8, %r3; shl.b32 %r8, %r8, 4;"}) {
    KernelOperand const o = operand_of(wgmma_of(part + " add.u32 %r10, %r3, %r8;"));
    EXPECT_EQ(o.verdict, unknown);
    EXPECT_EQ(o.reason.find("how the address depends on the base is not followed"), 0U) << o.reason;
  }
}

TEST(KernelOperand, ACheckOfTheBaseExcludesIt) {
  auto const checked = [](std::string const& mask) {
    return operand_of("and.b32 %r8, %r3, " + mask + "; setp.ne.u32 %p1, %r8, 0; @%p1 trap;" +
                      wgmma_of("mov.u32 %r10, %r3;"));
  };
  EXPECT_EQ(checked("1023").verdict, proved) << checked("1023").reason;
  // A size that is wrong for every base that the check permits.
  EXPECT_EQ(operands_of("and.b32 %r8, %r3, 255; setp.ne.u32 %p1, %r8, 0; @%p1 trap;" +
                        bulk_at("mov.u32 %r10, %r2;", "24"))
                .at(0)
                .verdict,
            refuted);
  KernelOperand const half = checked("511");
  EXPECT_EQ(half.verdict, refuted);
  EXPECT_EQ(half.base, 512U);
}

TEST(KernelOperand, Loops) {
  auto const loop = [](std::string const& step, std::string const& last, std::string const& body) {
    return "mov.u32 %r8, 0; mov.u32 %r9, %r2; LOOP: " + body + " add.u32 %r9, %r9, " + step +
           "; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, " + last + "; @%p1 bra LOOP;";
  };
  std::string const tile = wgmma_of("mov.u32 %r10, %r9;"), copy = tensor_at("mov.u32 %r10, %r9;");
  expect_rows({{loop("8192", "%r5", tile), proved, 1024},
               {loop("32", "4", tile), proved, 1024},
               {loop("32", "5", tile), unknown, 1024},
               {loop("32", "%r5", tile), unknown, 1024},
               {loop("256", "%r5", copy), proved, 128},
               {loop("64", "2", copy), refuted, 64},
               {loop("64", "%r5", copy), unknown, 64}});
}

/// wgmma of the descriptor whose lower word is in %r12, with the mode of 128 bytes.
std::string wgmma_of_word() {
  return " mov.b64 %rd3, {%r12, 1073741888};\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
         "{%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, %rd3, 1, 1, 1, 0;";
}
/// The lower word of a descriptor at the address in `array`, which all lanes have of lane 0.
std::string shuffled_word(std::string const& array, std::string const& mask = "-1") {
  return "shr.u32 %r11, " + array + ", 4; and.b32 %r11, %r11, 16383; shfl.sync.idx.b32 %r12, %r11, 0, 31, " +
         mask + ";";
}

TEST(KernelOperand, ShufflesOfADescriptor) {
  std::string const lanes = "shl.b32 %r8, %r1, 10; add.u32 %r10, %r2, %r8;", odd = "add.u32 %r10, %r2, %r1;";
  expect_rows({{shuffled_word("%r2") + wgmma_of_word(), proved, 1024},
               {lanes + shuffled_word("%r10") + wgmma_of_word(), proved, 1024},
               // The low bits that are lost are those of lane 0, which are not followed.
               {odd + shuffled_word("%r10") + wgmma_of_word(), unknown, {}},
               // Lane 0 does not execute it.
               {"setp.eq.u32 %p1, %r1, 0; @%p1 bra END; " + shuffled_word("%r2") + wgmma_of_word() + "END:",
                unknown,
                {}}});
  // The upper word of lane 0, which does not execute the shuffle.
  auto const upper = [](std::string const& guard) {
    return operand_of(
               guard +
               "shr.u32 %r11, %r2, 4; and.b32 %r11, %r11, 16383; mov.u32 %r13, 1073741888; "
               "shfl.sync.idx.b32 %r12, %r13, 0, 31, -1; mov.b64 %rd3, {%r11, %r12};\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, "
               "%rd3, 1, 1, 1, 0;\nEND:")
        .verdict;
  };
  EXPECT_EQ(upper(""), proved);
  EXPECT_EQ(upper("setp.eq.u32 %p1, %r1, 0; @%p1 bra END; "), unknown);
}

// Lane i has the start of stage i, as in DeepGEMM for sm_100: the others have none, and are not read. TMA writes the tile.
TEST(KernelOperand, OfALaneThatASelectChooses) {
  auto const stages = [](std::string const& held, std::string const& stage, std::string const& others = "0") {
    auto const all = operands_of(
        tensor_at("mov.u32 %r10, %r2;") +
        "shr.u32 %r11, %r2, 4; and.b32 %r11, %r11, 16383; and.b32 %r8, %r1, 31; shl.b32 %r9, %r8, 10; "
        "add.u32 %r11, %r11, %r9; setp.lt.u32 %p1, %r8, " +
        held + "; selp.b32 %r11, %r11, " + others + ", %p1; " + stage +
        " shfl.sync.idx.b32 %r12, %r11, %r13, 31, -1;" + wgmma_of_word());
    for (KernelOperand const& o : all)
      if (o.what == "descriptor B") return o.verdict;
    return refuted;
  };
  std::string const of_data = "ld.global.u32 %r13, [%rd1]; and.b32 %r13, %r13, ";
  EXPECT_EQ(stages("4", "mov.u32 %r13, 2;"), proved);
  EXPECT_EQ(stages("4", of_data + "3;"), proved);
  EXPECT_EQ(stages("3", of_data + "3;"), unknown) << "lane 3 has no start";
  EXPECT_EQ(stages("4", of_data + "7;"), unknown);
  EXPECT_EQ(stages("32", of_data + "31;"), unknown) << "lane 16 adds a bit of another field";
  EXPECT_EQ(stages("4", "mov.u32 %r13, 4;"), unknown);
}

TEST(KernelOperand, ACounterOfALoopIsAStage) {
  auto const loop = [](std::string const& last, std::string const& bits) {
    return shuffled_word("%r2") + "mov.u32 %r13, %r12; mov.u32 %r8, 0; LOOP: shl.b32 %r9, %r8, " + bits +
           "; add.u32 %r12, %r13, %r9;" + wgmma_of_word() + "add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, " +
           last + "; @%p1 bra LOOP;";
  };
  EXPECT_EQ(operand_of(loop("4", "10")).verdict, proved) << operand_of(loop("4", "10")).reason;
  EXPECT_EQ(operand_of(loop("2", "14")).verdict, unknown);  // bit 14 is added
  EXPECT_EQ(operand_of(loop("%r5", "10")).verdict, unknown);
}

TEST(KernelOperand, ARingOfStages) {
  // A persistent loop around that over k, whose numbers of iterations are data. Two stages are taken in each iteration.
  auto const ring = [](std::string const& first, std::string const& last, std::string const& test) {
    auto const step = [&](std::string const& at) {
      return "add.u32 %r9, " + at + ", 1; setp." + test + " %p1, " + at + ", " + last +
             "; selp.b32 %r8, 0, %r9, %p1;";
    };
    std::string const use = "shl.b32 %r9, %r8, 10; add.u32 %r12, %r13, %r9;" + wgmma_of_word();
    return shuffled_word("%r2") + "mov.u32 %r13, %r12; mov.u32 %r8, " + first +
           "; ld.global.u32 %r15, [%rd1]; ld.global.u32 %r16, [%rd1+4]; mov.u32 %r17, 0;\n"
           "OUTER: mov.u32 %r18, 0; INNER: " +
           use + step("%r8") + step("%r8") +
           "add.u32 %r18, %r18, 2; setp.lt.u32 %p2, %r18, %r15; @%p2 bra INNER;\n"
           "add.u32 %r17, %r17, 1; setp.lt.u32 %p2, %r17, %r16; @%p2 bra OUTER;";
  };
  EXPECT_EQ(operand_of(ring("0", "4", "eq.u32")).verdict, proved)
      << operand_of(ring("0", "4", "eq.u32")).reason;
  EXPECT_EQ(operand_of(ring("0", "3", "gt.u32")).verdict, proved)
      << operand_of(ring("0", "3", "gt.u32")).reason;
  EXPECT_EQ(operand_of(ring("0", "3", "gt.s32")).verdict, proved)
      << operand_of(ring("0", "3", "gt.s32")).reason;
  EXPECT_EQ(operand_of(ring("1", "4", "eq.u32")).verdict, proved);
  EXPECT_EQ(operand_of(ring("5", "4", "eq.u32")).verdict, unknown);    // 4 is never reached
  EXPECT_EQ(operand_of(ring("%r5", "4", "eq.u32")).verdict, unknown);  // n may be 5
}

TEST(KernelOperand, AComparisonBoundsAStage) {
  auto const stage = [](std::string const& choice) {
    return operand_of(shuffled_word("%r2") + choice + " shl.b32 %r9, %r8, 10; add.u32 %r12, %r12, %r9;" +
                      wgmma_of_word())
        .verdict;
  };
  EXPECT_EQ(stage("setp.lt.u32 %p1, %r5, 4; selp.b32 %r8, %r5, 0, %p1;"), proved);
  EXPECT_EQ(stage("setp.lt.s32 %p1, %r5, 4; selp.b32 %r8, %r5, 0, %p1;"), unknown);  // n may be negative
  EXPECT_EQ(stage("add.u32 %r9, %r5, 1; setp.lt.u32 %p1, %r9, 5; selp.b32 %r8, %r9, 0, %p1;"), proved);
  EXPECT_EQ(stage("add.u32 %r9, %r5, 1; setp.lt.u32 %p1, %r9, 5; selp.b32 %r8, %r5, 0, %p1;"),
            unknown);  // -1
}

// It is as far from its array as it is in the block's own memory [PTX ISA 9.1, mapa].
TEST(KernelOperand, OfAnotherBlock) {
  // The mbarrier of a copy, in 64 bytes at a multiple of 8.
  auto const barrier = [](std::string const& address, std::string const& offset = "+8") {
    return operands_of(
               address +
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 64, [%r10" +
               offset + "];")
        .at(1);
  };
  std::string const peer =
      "mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1; mapa.shared::cluster.u32 %r10, %r4, %r8;";
  for (std::string const& address :
       {peer, std::string("mapa.shared::cluster.u32 %r10, %r4, 1;"),
        std::string("mapa.shared::cluster.u32 %r10, %r4, %r1;"),
        std::string("ld.global.u32 %r8, [%rd1]; mapa.shared::cluster.u32 %r10, %r4, %r8;"),
        std::string("and.b32 %r10, %r4, 0xfeffffff;")}) {
    EXPECT_EQ(barrier(address).verdict, proved) << address;
    EXPECT_EQ(barrier(address).in_bounds, true) << address;
    EXPECT_EQ(barrier(address).array, "odd");
    EXPECT_EQ(barrier(address, "+4").verdict, refuted) << address;
    EXPECT_EQ(barrier(address, "+64").in_bounds, false) << address;
    EXPECT_EQ(barrier(address, "+-8").in_bounds, false) << address;
  }
  EXPECT_EQ(barrier("mov.u32 %r8, 0; L: mapa.shared::cluster.u32 %r10, %r4, %r8; add.u32 %r8, %r8, 1; "
                    "setp.lt.u32 %p1, %r8, 4; "
                    "@%p1 bra L;")
                .verdict,
            proved);
  // A mask that clears other bits leaves it unknown where the address is.
  EXPECT_EQ(barrier("and.b32 %r10, %r4, 0xffffff80;").in_bounds, std::nullopt);
  EXPECT_EQ(operands_of("mapa.shared::cluster.u32 %r10, %r2, 1;" + bulk_at("")).at(0).verdict, proved);
  EXPECT_EQ(operands_of("mapa.shared::cluster.u32 %r10, tile, 1;" + bulk_at("add.u32 %r10, %r10, 8;"))
                .at(0)
                .verdict,
            refuted);
}

TEST(KernelOperand, OtherMemory) {
  EXPECT_EQ(operands_of("mov.u32 %r10, 1024;" + bulk_at("")).at(0).verdict, proved);
  EXPECT_EQ(operands_of("mov.u32 %r10, %r5;" + bulk_at("")).at(0).verdict, refuted);
  EXPECT_EQ(operands_of("ld.global.u32 %r10, [%rd1];" + bulk_at("")).at(0).verdict, unknown);
}

/// A function that is called with an address as its only operand.
std::vector<KernelOperand> called(std::string const& body) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[65536];\n"
      ".func f(.param .b32 a)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\nld.param.u32 %r1, "
      "[a];\n" +
          body +
          "\nret;\n}\n.entry k()\n{\n.reg .b32 %r<9>;\nmov.u32 %r1, tile; add.u32 %r1, %r1, 8;\n"
          "{ .param .b32 p; st.param.b32 [p], %r1; call f, (p); }\nret;\n}\n",
      "test.ptx");
  KernelReport const report =
      decide_kernel(m, m.functions.at(1), {.block = std::array<std::uint32_t, 3>{32, 1, 1}});
  EXPECT_EQ(report.operands.size() + report.accesses.size(), 1U);
  if (!report.accesses.empty()) EXPECT_EQ(report.accesses.at(0).verdict, unknown);
  return report.operands;
}

TEST(KernelOperand, InFunctions) {
  auto const inlined = called("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;");
  ASSERT_EQ(inlined.size(), 1U);
  EXPECT_EQ(inlined[0].verdict, refuted);
  EXPECT_EQ(inlined[0].calls.size(), 1U);
  // A call that is not inlined is one access that is not decided.
  EXPECT_TRUE(
      called(
          "{ .param .b32 p; st.param.b32 [p], %r1; call f, (p); }\n"
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd1, 1, 1, 1, 0, 0;")
          .empty());
}

TEST(KernelOperand, NotDecidedIsListed) {
  KernelOptions options;
  options.block = {2048, 1, 1};
  KernelOperand const o = operands_of(bulk_at("mov.u32 %r10, %r2;"), options).at(0);
  EXPECT_EQ(o.verdict, unknown);
  EXPECT_NE(o.reason.find("1024 threads"), std::string::npos);
}

}  // namespace
}  // namespace swizproof
