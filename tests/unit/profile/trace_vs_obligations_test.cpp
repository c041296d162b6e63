// Traced accesses compared with proved ones, lane by lane; and fixes of a traced kernel.
#include "profile/trace_vs_obligations.hpp"
#include "profile/fixes.hpp"

#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace swizproof {
namespace {

/// Obligations, their proofs, and a trace.
struct Case {
  std::vector<Obligation> obligations{};
  std::vector<ProvedAccess> proved{};
  Trace trace{};

  void oblige(std::string const& layout, std::string const& access, std::string kernel = {},
              std::optional<std::uint64_t> align = {}) {
    Obligation& o = obligations.emplace_back();
    o.name = "obligation " + std::to_string(obligations.size());
    o.kernel = std::move(kernel);
    AccessesHold hold;
    if (layout != "-") static_cast<Mapping&>(hold.map) = parse_mapping(layout, {});
    hold.placements.emplace_back(hold.map, parse_access(access));
    hold.align = align;
    o.what = std::move(hold);
  }
  TracedInstruction& trace_of(std::string kernel, Instruction instruction) {
    TracedInstruction& i = trace.instructions.emplace_back();
    i.kernel = std::move(kernel);
    i.op = to_string(instruction);
    i.instruction = instruction;
    return i;
  }
  [[nodiscard]] std::vector<TracedInstruction const*> traced() const {
    std::vector<TracedInstruction const*> all;
    for (TracedInstruction const& i : trace.instructions) all.push_back(&i);
    return all;
  }
  ConformanceReport report() {
    ProvedAccesses all = prove_accesses(obligations, {});
    EXPECT_EQ(all.left_out, std::vector<std::string>{});
    proved = std::move(all.proved);
    return conformance(trace, proved, {});
  }
  [[nodiscard]] Placement const& placement(std::size_t i = 0) const {
    return std::get<AccessesHold>(obligations[i].what).placements[0];
  }
};

void add(TracedInstruction& i, WarpAccess<std::uint32_t> const& access, std::uint64_t executed = 1) {
  i.patterns.push_back({access, cost(sm_90, *i.instruction, access).wavefronts, executed});
  i.executed += executed;
}

/// The access of a placement for some values of its variables from a base.
WarpAccess<std::uint32_t> instance(Placement const& placement, std::vector<std::uint64_t> const& values,
                                   std::uint64_t base) {
  auto const warp = placement.warp(std::span<std::uint64_t const>(values), base);
  WarpAccess<std::uint32_t> out{};
  for (unsigned l = 0; l < warp_lanes; ++l) {
    out.address[l] = static_cast<std::uint32_t>(warp.address[l]);
    out.active[l] = warp.active[l];
  }
  return out;
}

constexpr char const* swizzled = "Sw<3,4,3> o smem_ptr[16b](unset) o (64,64):(64,1)";
constexpr Instruction ldsm_x4{Operation::ldmatrix, 16, 4};

TEST(Conformance, EveryInstanceFromEveryProvedBaseConforms) {
  Case c;
  c.oblige(swizzled, "ldmatrix.x4");
  TracedInstruction& i = c.trace_of("gemm", ldsm_x4);
  for (std::uint64_t const base : {0x400U, 0x1000U, 0x8c00U})
    for_each_assignment(c.placement(), [&](std::span<std::uint64_t const> values) {
      add(i, instance(c.placement(), {values.begin(), values.end()}, base), 3);
    });
  ConformanceReport const report = c.report();
  ASSERT_EQ(report.instructions.size(), 1U);
  EXPECT_EQ(report.instructions[0].conformance, Conformance::as_proved);
  EXPECT_EQ(report.instructions[0].as_proved, i.executed);
  EXPECT_EQ(report.instructions[0].differing, 0U);
  EXPECT_FALSE(report.instructions[0].nearest);
  EXPECT_EQ(report.count(Conformance::as_proved), 1U);
  EXPECT_TRUE(report.never_traced.empty());
}

TEST(Conformance, NamesTheFirstLaneThatDiffers) {
  Case c;
  c.oblige(swizzled, "ldmatrix.x4", {}, 8192);  // the tile's own size: another row is no other base
  TracedInstruction& i = c.trace_of("gemm", ldsm_x4);
  WarpAccess<std::uint32_t> const right = instance(c.placement(), {16, 32}, 0x4000);
  WarpAccess<std::uint32_t> wrong = right;
  wrong.address[21] += 16;
  wrong.address[30] += 16;
  add(i, wrong, 5);
  add(i, right, 2);
  wrong = right;
  wrong.address[2] += 16;
  add(i, wrong, 9);
  ConformanceReport const report = c.report();
  ConformingInstruction const& of = report.instructions.at(0);
  EXPECT_EQ(of.conformance, Conformance::differs);
  EXPECT_EQ(of.differing, 14U);
  EXPECT_EQ(of.as_proved, 2U);
  ASSERT_TRUE(of.nearest);
  EXPECT_EQ(of.nearest->equal, 30U) << "the first pattern is shown: the most expensive";
  EXPECT_EQ(of.nearest->lane, 21U);
  EXPECT_EQ(of.nearest->base, 0x4000U);
  EXPECT_FALSE(of.nearest->base_not_proved);
  EXPECT_EQ(of.nearest->access, &c.proved[0]);
  EXPECT_EQ(of.nearest->origin,
            (std::vector<std::pair<std::string, std::uint64_t>>{{"row", 16}, {"byte", 32}}));
  EXPECT_EQ(of.nearest->proved, std::int64_t{right.address[21]} - 0x4000);
  EXPECT_EQ(of.nearest->asked, std::int64_t{right.address[21]} + 16 - 0x4000);
}

TEST(Conformance, AFirstLaneThatDiffersIsNamedToo) {
  Case c;
  c.oblige("-", "ld.shared.b32: address = 128*i + 4*lane for i in 0..31", {}, 128);
  TracedInstruction& i = c.trace_of("k", {Operation::ld_shared, 4});
  WarpAccess<std::uint32_t> access = instance(c.placement(), {3}, 0x800);
  access.address[0] += 4;
  add(i, access);
  ConformanceReport const report = c.report();
  ASSERT_TRUE(report.instructions.at(0).nearest);
  NearestInstance const& nearest = *report.instructions[0].nearest;
  EXPECT_EQ(nearest.lane, 0U);
  EXPECT_EQ(nearest.equal, 31U);
  EXPECT_EQ(nearest.asked.value() - nearest.proved.value(), 4);
}

TEST(Conformance, AnotherBaseAlignmentDoesNotConform) {
  Case c;
  c.oblige(swizzled, "ldmatrix.x4");
  TracedInstruction& i = c.trace_of("gemm", ldsm_x4);
  WarpAccess<std::uint32_t> access = instance(c.placement(), {0, 0}, 0x1000);
  for (auto& address : access.address) address += 0x80;
  add(i, access);
  ConformanceReport const report = c.report();
  EXPECT_EQ(report.instructions.at(0).conformance, Conformance::differs);
  ASSERT_TRUE(report.instructions[0].nearest);
  EXPECT_TRUE(report.instructions[0].nearest->base_not_proved);
  EXPECT_EQ(report.instructions[0].nearest->base, 0x1080U);
  EXPECT_EQ(report.instructions[0].nearest->access->base_step, 1024U);
}

// From bases that are multiples of 128 alone, the swizzle acts in another way from each: all of these are proved.
TEST(Conformance, BasesBelowThePeriodAreEachLookedAt) {
  Case c;
  c.oblige(swizzled, "ldmatrix.x4", {}, 128);
  TracedInstruction& i = c.trace_of("gemm", ldsm_x4);
  for (std::uint64_t const base : {0x400U, 0x480U, 0x780U}) add(i, instance(c.placement(), {16, 64}, base));
  add(i, instance(c.placement(), {48, 96}, 0x410));  // its last row ends behind the tile
  ConformanceReport const report = c.report();
  EXPECT_EQ(report.instructions.at(0).as_proved, 3U);
  EXPECT_EQ(report.instructions[0].differing, 1U);
}

TEST(Conformance, NoBaseIsBelowTheSharedWindow) {
  Case c;
  c.oblige("-", "ld.shared.b32: address = 1024 + 4*lane");
  TracedInstruction& i = c.trace_of("k", {Operation::ld_shared, 4});
  for (std::uint64_t const base : {0U, 32U}) add(i, instance(c.placement(), {}, base));
  WarpAccess<std::uint32_t> below = i.patterns[0].access;
  for (auto& address : below.address) address -= 64;
  add(i, below, 7);
  ConformanceReport const report = c.report();
  EXPECT_EQ(report.instructions.at(0).as_proved, 2U);
  EXPECT_EQ(report.instructions[0].differing, 7U);
}

TEST(Conformance, LanesThatTakeNoPartMustNot) {
  Case c;
  c.oblige("-", "ld.shared.b32: address = 4*lane if lane < 20");
  TracedInstruction& i = c.trace_of("k", {Operation::ld_shared, 4});
  WarpAccess<std::uint32_t> access = instance(c.placement(), {}, 64);
  for (unsigned l = 20; l < warp_lanes; ++l) access.address[l] = 0x7777;  // of no meaning
  add(i, access);
  access.active[24] = true;
  access.address[24] = 64 + 96;
  add(i, access);
  ConformanceReport const report = c.report();
  EXPECT_EQ(report.instructions.at(0).as_proved, 1U);
  ASSERT_TRUE(report.instructions[0].nearest);
  EXPECT_EQ(report.instructions[0].nearest->lane, 24U);
  EXPECT_EQ(report.instructions[0].nearest->proved, std::nullopt);
  EXPECT_EQ(report.instructions[0].nearest->asked, 96);
}

TEST(Conformance, LanesThatTakePartMust) {
  Case c;
  c.oblige("-", "ld.shared.b32: address = 4*lane");
  TracedInstruction& i = c.trace_of("k", {Operation::ld_shared, 4});
  WarpAccess<std::uint32_t> access = instance(c.placement(), {}, 64);
  access.active[9] = false;
  add(i, access);
  ConformanceReport const report = c.report();
  ASSERT_TRUE(report.instructions.at(0).nearest);
  EXPECT_EQ(report.instructions[0].nearest->equal, 31U);
  EXPECT_EQ(report.instructions[0].nearest->lane, 9U);
  EXPECT_EQ(report.instructions[0].nearest->proved, 36);
  EXPECT_EQ(report.instructions[0].nearest->asked, std::nullopt);
}

// ldmatrix.x1 takes the addresses of 8 lanes.
TEST(Conformance, OnlyAddressesThatTheInstructionUsesCount) {
  Case c;
  c.oblige(swizzled, "ldmatrix.x1");
  Instruction const x1{Operation::ldmatrix, 16, 1};
  TracedInstruction& i = c.trace_of("gemm", x1);
  WarpAccess<std::uint32_t> access = instance(c.placement(), {8, 16}, 0x2000);
  for (unsigned l = 8; l < warp_lanes; ++l) access.active[l] = true, access.address[l] = 16 * l;
  add(i, access);
  EXPECT_EQ(c.report().instructions.at(0).conformance, Conformance::as_proved);
}

// H18: .trans changes no address, and what each lane gets.
TEST(Conformance, AForgottenTransIsUndecided) {
  for (bool const traced_transposed : {false, true}) {
    Case c;
    c.oblige(swizzled, traced_transposed ? "ldmatrix.x4" : "ldmatrix.x4.trans");
    TracedInstruction& i = c.trace_of("gemm", {Operation::ldmatrix, 16, 4, traced_transposed});
    add(i, instance(c.placement(), {16, 32}, 0x2000));
    ConformanceReport const report = c.report();
    EXPECT_EQ(report.instructions.at(0).conformance, Conformance::undecided);
    EXPECT_NE(report.instructions[0].why.find("the same addresses, but other data"), std::string::npos);
    EXPECT_EQ(report.never_traced.size(), 1U);
  }
}

// H7: an access of a refuted obligation is no proved one; if it expects that, it is said.
TEST(Conformance, WhatIsRefutedIsNotAsProved) {
  for (bool const expected : {false, true}) {
    Case c;
    c.oblige("-", "ld.shared.b32: address = 128*lane", {}, 128);
    c.obligations[0].expect_refuted = expected;
    TracedInstruction& i = c.trace_of("k", {Operation::ld_shared, 4});
    add(i, instance(c.placement(), {}, 0x400));
    ProvedAccesses const all = prove_accesses(c.obligations, {});
    EXPECT_EQ(all.left_out.size(), expected ? 0U : 1U);
    ConformanceReport const report = conformance(c.trace, all.proved, {});
    EXPECT_EQ(report.instructions.at(0).conformance,
              expected ? Conformance::as_expected : Conformance::undecided);
  }
}

TEST(Conformance, AnotherArchitectureProvesNothingHere) {
  Case c;
  c.oblige(swizzled, "ldmatrix.x4");
  TracedInstruction& i = c.trace_of("gemm", ldsm_x4);
  add(i, instance(c.placement(), {16, 32}, 0x2000));
  c.trace.arch = &parse_architecture("sm_80");
  EXPECT_EQ(c.report().instructions.at(0).conformance, Conformance::undecided);
}

// H9: comparing ends, says how far it came, and contradicts nothing that it did not look at.
TEST(Conformance, EndsWithItsBudget) {
  Case c;
  c.oblige("-", "ld.shared.b32: address = 4*lane + 0*i for i in 0..1048575");
  TracedInstruction& i = c.trace_of("k", {Operation::ld_shared, 4});
  WarpAccess<std::uint32_t> access = instance(c.placement(), {0}, 0x400);
  access.address[31] += 4;
  add(i, access);
  ProvedAccesses const all = prove_accesses(c.obligations, {});
  Limits none;
  none.seconds = 0;
  ConformanceReport const report = conformance(c.trace, all.proved, none);
  EXPECT_EQ(report.instructions.at(0).conformance, Conformance::undecided);
  EXPECT_NE(report.instructions[0].why.find("time-out: 0 of its 1048576 instances were compared"),
            std::string::npos)
      << report.instructions[0].why;
  std::stop_source stop;
  stop.request_stop();
  Limits stopped;
  stopped.stop = stop.get_token();
  EXPECT_EQ(conformance(c.trace, all.proved, stopped).instructions.at(0).conformance, Conformance::undecided);
}

TEST(Conformance, IsAboutTheKernelsAndInstructionsThatAreNamed) {
  Case c;
  c.oblige(swizzled, "ldmatrix.x4", "^void gemm<");
  c.oblige(swizzled, "ldmatrix.x2");
  for (char const* kernel : {"void gemm<4>(float*)", "void other()"}) {
    TracedInstruction& i = c.trace_of(kernel, ldsm_x4);
    add(i, instance(c.placement(), {0, 0}, 0x400));
  }
  TracedInstruction& atomic = c.trace.instructions.emplace_back();
  atomic.kernel = "void gemm<4>(float*)";
  atomic.op = "atom.shared.b32";
  ConformanceReport const report = c.report();
  ASSERT_EQ(report.instructions.size(), 3U);
  EXPECT_EQ(report.instructions[0].conformance, Conformance::as_proved);
  EXPECT_EQ(report.instructions[1].conformance, Conformance::no_obligation);
  EXPECT_EQ(report.instructions[2].conformance, Conformance::not_modelled);
  EXPECT_EQ(report.never_traced, (std::vector<ProvedAccess const*>{&c.proved[1]}));
}

TEST(Conformance, OneOfSeveralObligationsIsEnough) {
  Case c;
  c.oblige("Sw<2,4,3> o smem_ptr[16b](unset) o (64,32):(32,1)", "ldmatrix.x4");
  c.oblige(swizzled, "ldmatrix.x4");
  TracedInstruction& i = c.trace_of("gemm", ldsm_x4);
  add(i, instance(c.placement(0), {16, 32}, 0x400));
  add(i, instance(c.placement(1), {16, 32}, 0x2400));
  EXPECT_EQ(c.report().instructions.at(0).conformance, Conformance::as_proved);
}

TEST(Conformance, WhatIsNotKeptIsUndecided) {
  Case c;
  c.oblige(swizzled, "ldmatrix.x4");
  TracedInstruction& i = c.trace_of("gemm", ldsm_x4);
  add(i, instance(c.placement(), {0, 0}, 0x400));
  i.not_kept = 1;
  c.trace.dropped = 9;
  ConformanceReport const report = c.report();
  EXPECT_EQ(report.instructions.at(0).conformance, Conformance::undecided);
  EXPECT_EQ(report.instructions[0].why, "1 executions were not kept");
  EXPECT_EQ(report.dropped, 9U);
}

TEST(Conformance, WhatHasTooManyInstancesIsUndecidedUnlessAnotherIsMet) {
  Case c;
  c.oblige("-", "ld.shared.b32: address = 4*v + 4*lane for v");
  c.oblige("-", "ld.shared.b32: address = 4*lane");
  TracedInstruction& i = c.trace_of("k", {Operation::ld_shared, 4});
  add(i, instance(c.placement(1), {}, 0x400));
  EXPECT_EQ(c.report().instructions.at(0).conformance, Conformance::as_proved);
  i.patterns[0].access.address[3] += 4;
  ConformanceReport const report = c.report();
  EXPECT_EQ(report.instructions.at(0).conformance, Conformance::undecided);
  EXPECT_NE(report.instructions[0].why.find("it has more than 2^24 instances"), std::string::npos)
      << report.instructions[0].why;
}

// ----------------------------------------------------------------------------------------- fixes

TEST(Fixes, AreOfATracedKernel) {
  Case c;
  TracedInstruction& stores = c.trace_of("transpose", {Operation::st_shared, 4});
  stores.pc = 16;
  for (std::uint32_t row = 0; row < 32; ++row) {
    WarpAccess<std::uint32_t> access{};
    for (std::uint32_t l = 0; l < warp_lanes; ++l)
      access.address[l] = 0x400 + 128 * row + 4 * l, access.active[l] = true;
    add(stores, access, 32);
  }
  TracedInstruction& loads = c.trace_of("transpose", {Operation::ld_shared, 4});
  loads.pc = 32;
  loads.not_kept = 5;
  for (std::uint32_t column = 0; column < 32; ++column) {
    WarpAccess<std::uint32_t> access{};
    for (std::uint32_t l = 0; l < warp_lanes; ++l)
      access.address[l] = 0x400 + 128 * l + 4 * column, access.active[l] = true;
    add(loads, access, 32);
  }
  for (int i = 0; i < 2; ++i) {
    TracedInstruction& atomic = c.trace.instructions.emplace_back();
    atomic.op = "atom.shared.b32";
    atomic.not_kept = 100;
  }
  KernelFixes const found = fixes_of(c.traced(), sm_90);
  ASSERT_EQ(found.fixes.size(), 1U);
  EXPECT_EQ(found.fixes[0].before, 1024U + 32768U);
  EXPECT_EQ(found.fixes[0].after(), 2048U);
  EXPECT_EQ(found.not_kept, 5U);
  EXPECT_EQ(found.no_law, std::vector<std::string>{"atom.shared.b32"});
}

// The two buffers of one load are one region.
TEST(Fixes, KnowWhichInstructionItWas) {
  Case c;
  TracedInstruction& loads = c.trace_of("gemm", {Operation::ld_shared, 4});
  for (std::uint32_t const buffer : {0x400U, 0x2400U}) {
    WarpAccess<std::uint32_t> access{};
    for (std::uint32_t l = 0; l < warp_lanes; ++l)
      access.address[l] = buffer + 128 * l, access.active[l] = true;
    add(loads, access);
  }
  EXPECT_EQ(fixes_of(c.traced(), sm_90).fixes.size(), 1U);
}

}  // namespace
}  // namespace swizproof
