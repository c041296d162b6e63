#include "kernel_case.hpp"

#include <algorithm>
#include <array>

namespace swizproof {
namespace {

KernelRaces races_of(std::string const& body, unsigned threads, bool proxies = true) {
  KernelOptions options;
  options.races = true, options.proxies = proxies;
  options.block = {{threads, 1, 1}};
  return report_of(body, std::move(options)).races.value();
}
void expect_races(std::string const& body, RaceVerdict verdict, unsigned threads = 128) {
  KernelRaces const races = races_of(body, threads, false);
  EXPECT_EQ(races.verdict, verdict) << body << ": " << races.reason;
}

// The number of a warp comes from its first lane, and is part of an address.
TEST(KernelRaces, AnAddressHasWhatTheFirstLaneGives) {
  auto const kernel = [](std::string const& given, std::string const& lane) {
    return given + "shfl.sync.idx.b32 %r6, %r5, " + lane +
           ", 31, -1;\nand.b32 %r7, %r1, 31; shl.b32 %r6, %r6, 5; add.u32 %r6, %r6, %r7; shl.b32 %r6, %r6, "
           "2; "
           "add.u32 %r6, %r6, %r2;\nst.shared.u32 [%r6], %r1;\n";
  };
  std::string const warp = "shr.u32 %r5, %r1, 5; ";
  expect_races(kernel(warp, "0"), RaceVerdict::proved);
  expect_races(kernel("shr.u32 %r5, %r1, 6; ", "0"), RaceVerdict::unknown);
  expect_races(kernel(warp, "%r3"), RaceVerdict::unknown);
  expect_races(kernel("mov.u32 %r5, 0; ", "0"), RaceVerdict::unknown);
  expect_races(
      "shfl.sync.idx.b32 %r6, %r1, 0, 31, -1;\nshl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r2; st.shared.u32 "
      "[%r6], %r1;\n",
      RaceVerdict::unknown);
}

}  // namespace
}  // namespace swizproof
