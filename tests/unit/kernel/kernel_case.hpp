// Verdicts of one small kernel.
#pragma once

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// One kernel over `tile`, 8 KiB of shared memory, and `dynamic`.
inline KernelReport report_of(std::string const& body, KernelOptions options = {}) {
  if (!options.block) options.block = {64, 1, 1};
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n.extern .shared "
      ".align 16 .b8 dynamic[];\n"
      ".entry k(.param .u32 n, .param .u64 g)\n{\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<9>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u32 %r3, [n];\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  return decide_kernel(m, m.functions.at(0), options);
}

inline std::vector<KernelAccess> decided(std::string const& body, KernelOptions options = {}) {
  return report_of(body, std::move(options)).accesses;
}

inline KernelAccess one(std::string const& body, KernelOptions options = {}) {
  auto const all = decided(body, std::move(options));
  EXPECT_EQ(all.size(), 1U);
  return all.at(0);
}

/// A column of words behind a condition in %p1.
inline KernelAccess behind(std::string const& condition, KernelOptions options = {}) {
  return one(condition + " shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2; @%p1 st.shared.u32 [%r5], %r1;",
             std::move(options));
}

/// A loop of n iterations, whose counter is %r20.
inline std::string looped(std::string const& first, std::string const& body) {
  return first + " mov.u32 %r20, 0;\nL: " + body +
         " add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, %r3; @%p8 bra L;";
}

/// The load at `tile + 4 * %r4` after these lines; %r6 is a number of global memory, the same in all lanes, %r7 one of each lane.
inline KernelAccess load_at(std::string const& body) {
  return one(
      "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1];\nmad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 "
      "%r7, [%rd2];\n" +
      body + "\nshl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];");
}

// Names of the loads in load_at(), and of an instruction in it that is not modelled.
inline std::string const uniform_load = "the load at PTX line 10", lane_load = "the load at PTX line 11";
inline std::string not_modelled(std::string const& name) {
  return name + " at PTX line 12, which is not modelled";
}

}  // namespace swizproof
