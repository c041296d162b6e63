// Races of one small kernel.
#pragma once

#include "kernel_case.hpp"

namespace swizproof {

/// %r4 is the address of the thread's own word, %r5 that of its neighbour's.
inline std::string const addresses = "shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; add.u32 %r5, %r4, 4;\n";

inline KernelRaces races_of(std::string const& body, KernelOptions options = {}) {
  options.races = true;
  return report_of(addresses + body, std::move(options)).races.value();
}
inline KernelRaces expect_race(std::string const& body, RaceKind kind = RaceKind::race) {
  KernelRaces const races = races_of(body);
  EXPECT_EQ(races.verdict, RaceVerdict::refuted) << body << ": " << races.reason;
  if (!races.races.empty()) EXPECT_EQ(races.races.front().kind, kind) << body;
  return races;
}
inline void expect_open(std::string const& body, std::string const& reason) {
  KernelRaces const races = races_of(body);
  EXPECT_EQ(races.verdict, RaceVerdict::unknown) << body;
  EXPECT_NE(races.reason.find(reason), std::string::npos) << races.reason;
}

}  // namespace swizproof
