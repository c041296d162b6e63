// H14 and H15 compared with simple counts: the cost of atomics, and of another block's memory.
#include "campaign/cluster_model.hpp"
#include "campaign/contention.hpp"
#include "campaign/contention_model.hpp"

#include <swizproof/hardware/atomic.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace swizproof {
namespace {

using Warp = WarpAccess<std::uint32_t>;

/// Lanes at multiples of `bytes` in a few rows, so that words, sectors and lines are shared.
Warp any_warp(unsigned bytes) {
  Warp warp{};
  auto const rows = *rc::gen::element(1U, 2U, 4U, 32U);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    warp.address[lane] = bytes * *rc::gen::inRange<std::uint32_t>(0, rows * 128 / bytes);
    warp.active[lane] = *rc::gen::inRange(0, 4) != 0;
  }
  return warp;
}

/// The most of `count` lanes from `first` on that ask one bank.
unsigned lanes_of_a_bank(Warp const& warp, unsigned first, unsigned count, unsigned bytes) {
  std::map<std::uint32_t, unsigned> asked;
  unsigned most = 0;
  for (unsigned lane = first; lane < first + count; ++lane)
    if (warp.active[lane]) most = std::max(most, ++asked[warp.address[lane] % 128 / bytes]);
  return most;
}

RC_GTEST_PROP(Atomics, TakeTheLanesOfTheBankThatIsAskedMost, ()) {
  Warp const narrow = any_warp(4), wide = any_warp(8);
  unsigned const lanes = std::max(1U, lanes_of_a_bank(narrow, 0, 32, 4));
  unsigned const halves = std::max(2U, lanes_of_a_bank(wide, 0, 16, 8) + lanes_of_a_bank(wide, 16, 16, 8));
  RC_ASSERT(atomic_wavefronts(narrow) == lanes);
  RC_ASSERT(atomic_wavefronts(narrow, 4, Atomic::compare_and_swap) == 2 * lanes);
  RC_ASSERT(atomic_wavefronts(wide, 8) == halves);
  RC_ASSERT(atomic_wavefronts(wide, 8, Atomic::compare_and_swap) == 2 * halves);
}

RC_GTEST_PROP(Atomics, ThatCountTakeTheWordsOfTheBankThatIsAskedMost, ()) {
  Warp const warp = any_warp(4);
  std::map<std::uint32_t, std::set<std::uint32_t>> words;
  std::size_t most = 1;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if (warp.active[lane]) {
      auto& of_bank = words[warp.address[lane] / 4 % 32];
      of_bank.insert(warp.address[lane]);
      most = std::max(most, of_bank.size());
    }
  RC_ASSERT(atomic_wavefronts(warp, 4, Atomic::counting) == most);
}

RC_GTEST_PROP(Cluster, SectorsAndPacketsAreCountedByteByByte, ()) {
  auto const bytes = *rc::gen::element(4U, 8U, 16U);
  Warp const warp = any_warp(bytes);
  std::set<std::uint32_t> written;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    for (unsigned b = 0; warp.active[lane] && b < bytes; ++b) written.insert(warp.address[lane] + b);
  std::map<std::uint32_t, unsigned> of_sector;
  std::map<std::uint32_t, std::set<std::uint32_t>> pieces;  // of a sector
  for (std::uint32_t const b : written) ++of_sector[b / 32], pieces[b / 32].insert(b / 16);
  std::map<std::uint32_t, unsigned> whole;  // of a line
  std::size_t sent = 0;
  for (auto const& [sector, count] : of_sector) {
    if (count == 32)
      ++whole[sector / 4];
    else
      sent += pieces[sector].size();
  }
  for (auto const& [line, count] : whole) sent += std::max(2U, count);
  RC_ASSERT(sectors(warp) == of_sector.size());
  RC_ASSERT(packets(warp, bytes) == sent);
}

TEST(Cluster, TakesOneAndAHalfCyclesASector) {
  Warp const words = detail::consecutive_words(32);
  EXPECT_EQ(remote_time(Remote::load, 4, words).least, 40U);  // 6 cycles, less one
  EXPECT_EQ(remote_time(Remote::load, 4, words).most, 60U);
  Warp column{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    column.address[lane] = 128 * lane, column.active[lane] = true;
  EXPECT_EQ(remote_time(Remote::load, 4, column).least, 8U * 48 - 8);
  EXPECT_EQ(remote_time(Remote::store, 4, column).least, 8U * 48 - 8);
  EXPECT_EQ(remote_time(Remote::store_async, 4, column).most, 28U * 32 + 48);
}

TEST(Cluster, TakesTheWavefrontsOfHomeWhereTheyAreMore) {
  Warp rows{};  // b128: 8 lanes of a phase in one bank group, 8 sectors in all
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    rows.address[lane] = lane % 8 * 512, rows.active[lane] = true;
  EXPECT_EQ(sectors(rows), 8U);
  EXPECT_EQ(remote_time(Remote::load, 16, rows).least, 8U * 32 - 8);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) rows.address[lane] = lane % 16 * 128;
  EXPECT_EQ(remote_time(Remote::store, 8, rows).least, 8U * 32 - 8);
  EXPECT_EQ(remote_time(Remote::load, 8, rows).least, 12U * 16 - 8);
}

TEST(Contention, AsksWhatItsNamesSay) {
  for (gpu::Issued const& issued : gpu::issued_beside)
    if (std::string const name = issued.name; name != "nothing") {
      unsigned const wavefronts = gpu::wavefronts_beside(issued);
      EXPECT_NE(name.find(", " + std::to_string(wavefronts) + " wavefront"), std::string::npos) << name;
    }
}

TEST(Contention, CountsTheBytesOfOperands) {
  EXPECT_EQ(wgmma_bytes(64, true), 4096U);
  EXPECT_EQ(wgmma_bytes(64, false), 2048U);
  EXPECT_EQ(wgmma_bytes(8, false), 256U);
}

}  // namespace
}  // namespace swizproof
