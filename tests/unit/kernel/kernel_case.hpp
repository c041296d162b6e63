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

}  // namespace swizproof
