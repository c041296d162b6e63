// Results of several threads, taken in order.
#include "system/parallel.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace swizproof {
namespace {

constexpr auto nothing = [](std::size_t) {};

TEST(InOrder, GivesEveryResultAtItsPlace) {
  for (unsigned const jobs : {1U, 2U, 7U}) {
    InOrder<std::size_t> squares(100, jobs, [](std::size_t i) { return i * i; });
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(squares.wait(i, nothing), i * i);
  }
}

TEST(InOrder, GivesTheFirstWhileLaterOnesAreWorkedOn) {
  std::atomic<bool> taken = false;
  InOrder<int> results(2, 2, [&](std::size_t i) {
    while (i == 1 && !taken) std::this_thread::yield();
    return static_cast<int>(i);
  });
  EXPECT_EQ(results.wait(0, nothing), 0);
  taken = true;
  EXPECT_EQ(results.wait(1, nothing), 1);
}

TEST(InOrder, SaysHowManyThereAreWhileItWaits) {
  std::atomic<bool> asked = false;
  InOrder<int> results(1, 1, [&](std::size_t) {
    while (!asked) std::this_thread::yield();
    return 1;
  });
  std::size_t least = 2;
  (void)results.wait(0, [&](std::size_t done) {
    least = std::min(least, done);
    asked = true;
  });
  EXPECT_EQ(least, 0U);
}

TEST(InOrder, ThrowsWhatACallHasThrownAndBeginsNoMore) {
  std::atomic<std::size_t> begun = 0;
  InOrder<int> results(1000, 1, [&](std::size_t i) {
    ++begun;
    if (i == 3) throw std::runtime_error("three");
    return 0;
  });
  EXPECT_THROW((void)results.wait(999, nothing), std::runtime_error);
  EXPECT_EQ(begun, 4U);
}

TEST(InOrder, OfNothingIsNothing) {
  InOrder<int> const none(0, 4, [](std::size_t) { return 0; });
}

}  // namespace
}  // namespace swizproof
