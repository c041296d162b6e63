// Dominators and loops, against their definitions on random graphs.
#include <swizproof/program/control_flow.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace swizproof::program {
namespace {

Program graph(std::mt19937& random, unsigned blocks) {
  Program p;
  p.blocks.resize(blocks);
  for (Block& b : p.blocks) {
    auto const target = [&] { return static_cast<std::int32_t>(random() % (blocks + 1)) - 1; };
    b.taken = target();
    if (random() % 2 == 0) b.condition = 0, b.next = target();
  }
  return p;
}

/// True if `to` is reached from `from` without passing `without`.
bool reaches(Program const& p, std::uint32_t from, std::int64_t to, std::int64_t without) {
  std::vector<bool> seen(p.blocks.size(), false);
  std::vector<std::uint32_t> work;
  auto const go = [&](std::int32_t b) {
    if (b >= 0 && b != without && !seen[static_cast<std::size_t>(b)])
      seen[static_cast<std::size_t>(b)] = true, work.push_back(static_cast<std::uint32_t>(b));
  };
  go(static_cast<std::int32_t>(from));
  bool ends = false;
  while (!work.empty()) {
    Block const& b = p.blocks[work.back()];
    work.pop_back();
    ends = ends || b.taken < 0 || (b.condition >= 0 && b.next < 0);
    go(b.taken);
    if (b.condition >= 0) go(b.next);
  }
  return to < 0 ? ends : seen[static_cast<std::size_t>(to)];
}

TEST(Flow, Dominators) {
  std::mt19937 random(1);
  unsigned pairs = 0;
  for (unsigned round = 0; round < 300; ++round) {
    Program const p = graph(random, 2 + random() % 9);
    Flow const flow = flow_of(p);
    for (std::uint32_t const a : flow.order)
      for (std::uint32_t const b : flow.order) {
        bool const dominates = a == b || !reaches(p, 0, b, a);
        EXPECT_EQ(flow.dominates(a, b), dominates) << round << ": " << a << " " << b;
        // Postdominance is said of blocks that reach the end.
        if (reaches(p, b, -1, -1))
          EXPECT_EQ(flow.postdominates(a, b), a == b || !reaches(p, b, -1, a))
              << round << ": " << a << " " << b;
        ++pairs;
      }
  }
  EXPECT_GT(pairs, 3000U);
}

/// True if a way from `from` that does not pass `without` comes to the end, or back to the header of a loop with both.
bool leaves_out(Program const& p, Flow const& flow, std::uint32_t from, std::uint32_t without) {
  auto const begins_again = [&](std::uint32_t at, std::uint32_t to) {
    for (std::size_t l = 0; l < flow.loops.size(); ++l) {
      auto const& latches = flow.loops[l].latches;
      auto const loop = static_cast<std::int32_t>(l);
      if (flow.loops[l].header == to && flow.within(from, loop) && flow.within(without, loop) &&
          std::find(latches.begin(), latches.end(), at) != latches.end())
        return true;
    }
    return false;
  };
  std::vector<bool> seen(p.blocks.size(), false);
  std::vector<std::uint32_t> work{from};
  while (!work.empty()) {
    std::uint32_t const at = work.back();
    work.pop_back();
    Block const& b = p.blocks[at];
    if (b.taken < 0 || (b.condition >= 0 && b.next < 0)) return true;
    for (std::uint32_t const to : successors(b)) {
      if (begins_again(at, to)) return true;
      if (to != without && !seen[to]) seen[to] = true, work.push_back(to);
    }
  }
  return false;
}

TEST(Flow, BlocksThatFollowInAnIteration) {
  std::mt19937 random(3);
  unsigned pairs = 0, all = 0, other = 0;
  for (unsigned round = 0; round < 600; ++round) {
    Program const p = graph(random, 2 + random() % 9);
    Flow const flow = flow_of(p);
    if (!flow.reducible) continue;
    for (std::uint32_t const a : flow.order)
      for (std::uint32_t const b : flow.order) {
        if (a == b || !flow.dominates(a, b) || !reaches(p, a, -1, -1)) continue;
        bool const follows = flow.always_follows(b, a);
        EXPECT_EQ(flow.postdominates(b, a) && !leaves_out(p, flow, a, b), follows)
            << round << ": " << a << " " << b;
        all += follows ? 1 : 0;
        ++pairs, other += flow.postdominates(b, a) != follows ? 1 : 0;
      }
  }
  EXPECT_GT(pairs, 1000U);
  EXPECT_GT(all, 300U);
  EXPECT_GT(other, 20U);
}

TEST(Flow, LoopsAndTheirExits) {
  Program p;
  p.blocks.resize(5);  // 0 -> 1; 1 -> 2; 2 -> 2 or 3; 3 -> 1 or 4
  p.blocks[0].taken = 1, p.blocks[1].taken = 2;
  p.blocks[2].condition = 0, p.blocks[2].taken = 2, p.blocks[2].next = 3;
  p.blocks[3].condition = 0, p.blocks[3].taken = 1, p.blocks[3].next = 4;
  Flow const flow = flow_of(p);
  ASSERT_EQ(flow.loops.size(), 2U);
  EXPECT_TRUE(flow.reducible);
  EXPECT_EQ(flow.loops[0].header, 1U);
  EXPECT_EQ(flow.loops[1].header, 2U);
  EXPECT_EQ(flow.loops[1].parent, 0);
  EXPECT_EQ(flow.loop[3], 0);
  ASSERT_EQ(flow.loops[0].exits.size(), 1U);
  EXPECT_EQ(flow.loops[0].exits[0].to, 4U);
  std::vector<std::int32_t> around;
  for (std::int32_t const l : flow.around(flow.loop[2])) around.push_back(l);
  EXPECT_EQ(around, (std::vector{1, 0}));
  EXPECT_EQ(flow.around(-1).begin(), std::default_sentinel);
  EXPECT_TRUE(flow.encloses(0, 1) && flow.encloses(1, 1));
  EXPECT_FALSE(flow.encloses(1, 0) || flow.encloses(0, -1) || flow.encloses(-1, 0));
}

/// The first steps of the blocks of a way through a program: a copy has those of its block.
std::vector<std::uint32_t> way(Program const& p, std::mt19937 choices) {
  std::vector<std::uint32_t> out;
  for (std::int32_t at = 0; at >= 0 && out.size() < 40;) {
    Block const& b = p.blocks[static_cast<std::size_t>(at)];
    out.push_back(b.first);
    at = b.condition >= 0 && choices() % 2 == 0 ? b.next : b.taken;
  }
  return out;
}

TEST(Flow, ALoopWithTwoEntriesGetsOne) {
  std::mt19937 random(2);
  unsigned were = 0, are = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    Program p = graph(random, 2 + random() % 9);
    p.steps.resize(p.blocks.size());
    std::uint32_t accesses = 0;
    for (std::uint32_t b = 0; b < p.blocks.size(); ++b) {
      p.blocks[b].first = b, p.blocks[b].last = b + 1;
      if (random() % 4 == 0) p.steps[b].action = Action::access, ++accesses;
    }
    Program const split = with_one_entry(p);
    bool const was = flow_of(p).reducible;
    were += was ? 0 : 1, are += flow_of(split).reducible ? 0 : 1;
    if (was) EXPECT_EQ(split.blocks.size(), p.blocks.size());
    for (std::size_t b = 0; b < split.blocks.size(); ++b) {
      EXPECT_EQ(split.blocks[b].copied, b >= p.blocks.size());
      if (split.blocks[b].copied)
        EXPECT_NE(split.steps[split.blocks[b].first].action, Action::access) << "two accesses of one";
    }
    for (unsigned n = 0; n < 20; ++n) {
      std::mt19937 const choices(random());
      EXPECT_EQ(way(split, choices), way(p, choices)) << round;
    }
  }
  EXPECT_GT(were, 100U);
  EXPECT_LT(are, were / 2) << "of " << were;
}

TEST(Flow, WaysThatMeetEarly) {
  struct Row {
    std::string name;
    std::vector<std::array<int, 2>> targets;  // of each block; -1: the end, or none
    std::vector<bool> apart;
    std::vector<bool> goes_on = {};
  };
  for (Row const& row : {
           Row{"if", {{2, 1}, {2, -2}, {-1, -2}}, {false, false, false}},
           Row{"if and else", {{2, 1}, {3, -2}, {3, -2}, {-1, -2}}, {false, false, false, false}},
           Row{"a or b: the body is entered from both",
               {{2, 1}, {3, 2}, {3, -2}, {-1, -2}},
               {false, false, true, false}},
           Row{"what the body dominates is as it is, until all ways meet",
               {{2, 1}, {5, 2}, {4, 3}, {4, -2}, {5, -2}, {-1, -2}},
               {false, false, true, true, true, false}},
           Row{"one of three targets falls into the next",
               {{2, 1}, {3, 4}, {3, -2}, {4, -2}, {-1, -2}},
               {false, false, false, true, false},
               {false, true, false, false, false}},
           Row{"as two branches; the ways of the second one meet there",
               {{4, 1}, {2, 3}, {3, -2}, {4, -2}, {-1, -2}},
               {false, false, false, false, false}},
           Row{"as one branch",
               {{4, 1}, {2, 3}, {3, -2}, {4, -2}, {-1, -2}},
               {false, false, false, true, false},
               {false, true, false, false, false}},
           Row{"one target twice",
               {{3, 1}, {4, 2}, {3, -2}, {5, -2}, {5, -2}, {-1, -2}},
               {false, false, false, false, false, false},
               {false, true, true, false, false, false}},
           Row{"a loop with two exits",
               {{1, -2}, {4, 2}, {4, 3}, {1, -2}, {-1, -2}},
               {false, false, false, false, false}},
           Row{"lanes that continue a loop from two places begin the next iteration apart",
               {{1, -2}, {3, 2}, {4, 3}, {1, 4}, {-1, -2}},
               {false, true, true, true, false}},
           Row{"lanes that leave a loop in several iterations to where others do not",
               {{1, -2}, {3, 2}, {1, 4}, {4, -2}, {-1, -2}},
               {false, false, false, true, false}},
       }) {
    Program p;
    for (auto const& [taken, next] : row.targets) {
      p.blocks.emplace_back();
      p.blocks.back().taken = taken;
      if (next > -2) p.blocks.back().condition = 0, p.blocks.back().next = next;
    }
    for (std::size_t b = 0; b < row.goes_on.size(); ++b) p.blocks[b].goes_on = row.goes_on[b];
    EXPECT_EQ(flow_of(p).apart, row.apart) << row.name;
  }
}

TEST(Flow, IrreducibleIsNamed) {
  Program p;
  p.blocks.resize(3);
  p.blocks[0].condition = 0, p.blocks[0].taken = 1, p.blocks[0].next = 2;
  p.blocks[1].taken = 2, p.blocks[2].taken = 1;
  EXPECT_FALSE(flow_of(p).reducible);
}

}  // namespace
}  // namespace swizproof::program
