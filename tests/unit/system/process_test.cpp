// Programs that are run with limits: of CPU time, not of time on the wall.
#include "system/cpu_time.hpp"
#include "system/process.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace swizproof {
namespace {

using End = ProcessResult::End;

ProcessResult shell(std::string const& script, double seconds) {
  return run_process({"sh", "-c", script}, seconds, 4096);
}

TEST(Process, ASleeperUsesNoneOfItsLimit) {
  ProcessResult const slept = shell("sleep 0.5; echo done", 0.1);
  EXPECT_EQ(slept.end, End::exited);
  EXPECT_EQ(slept.output, "done\n");
}

TEST(Process, OneThatIsStoppedUsesNoneOfItsLimit) {
  // Another process stops the program and lets it go on, as a busy machine does.
  ProcessResult const stopped = shell(
      "self=$$; (sleep 0.1; kill -CONT $self; sleep 0.4; kill -CONT $self) & kill -STOP $$; echo done; wait",
      0.1);
  EXPECT_EQ(stopped.end, End::exited);
  EXPECT_EQ(stopped.output, "done\n");
}

TEST(Process, OneThatWorksIsEnded) {
  EXPECT_EQ(shell("while :; do :; done", 0.2).end, End::timed_out);
  // Programs that the program starts have a clock of their own, and the limit of the system.
  EXPECT_NE(shell("sh -c 'while :; do :; done'; echo \"ends with $?\"", 0.2).output.find("ends with"),
            std::string::npos);
}

TEST(Process, OutputAndCodeAreKept) {
  ProcessResult const run = shell("echo out; echo error >&2; exit 7", 10);
  EXPECT_EQ(run.end, End::exited);
  EXPECT_EQ(run.code, 7);
  EXPECT_EQ(run.output, "out\nerror\n");
  EXPECT_EQ(run_process({"no-such-program-here"}, 1, 100).end, End::not_found);
}

TEST(CpuTime, ASleeperUsesNone) {
  ThreadClock const clock;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(clock.seconds(), 0.2);
  while (clock.seconds() < 0.01) {  // and one that works does
  }
}

}  // namespace
}  // namespace swizproof
