// The values of a warp: what the rules of warp.cpp say is what plain arithmetic says for every value of the atoms tried.
#include <swizproof/execution/warp.hpp>
#include <swizproof/program/floating.hpp>
#include <swizproof/ptx/lower.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

namespace swizproof::execution {
namespace {

/// An expression over the thread's number and the addresses of two variables, and its value by plain arithmetic.
struct Case {
  Program program{};
  Flow flow{};
  Execution execution{};
  Launch launch{{64, 1, 1}, false, {}};
  std::mt19937_64 random;
  std::vector<std::uint32_t> words{}, truths{};
  std::uint32_t p = 0, q = 0;
  static constexpr std::uint64_t low_of_q = 511;  ///< bits whose value may be assumed

  std::uint32_t leaf(Leaf::Kind kind, std::uint32_t extra, std::uint64_t) {
    Leaf l;
    l.kind = kind;
    l.extra = extra;
    std::uint32_t const id = execution.terms.variable(32, 32, "v").id;
    execution.leaves.push_back(l);
    execution.phi_of.push_back(-1);
    return id;
  }

  explicit Case(std::uint64_t seed, std::array<std::uint32_t, 3> block = {64, 1, 1}) : random(seed) {
    launch.block = block;
    for (std::uint32_t const align : {1U, 64U})
      program.symbols.push_back({"s", Space::shared, align, 64, false});
    for (std::uint32_t d = 0; d < 3; ++d)
      if (d == 0 || block[d] > 1) words.push_back(leaf(Leaf::Kind::special, d, 0));
    p = leaf(Leaf::Kind::symbol, 0, 0), q = leaf(Leaf::Kind::symbol, 1, 0);
    words.push_back(p), words.push_back(q);
    for (unsigned i = 0; i < 12; ++i) grow();
  }

  std::uint32_t pick() { return words[random() % words.size()]; }
  std::uint32_t number(std::uint64_t n) { return execution.terms.constant(32, n).id; }
  void grow() {
    static constexpr Op ops[] = {Op::bv_add, Op::bv_sub, Op::bv_mul,  Op::bv_and,  Op::bv_or,
                                 Op::bv_xor, Op::bv_shl, Op::bv_lshr, Op::bv_udiv, Op::bv_urem};
    Op const op = ops[random() % std::size(ops)];
    bool const shift = op == Op::bv_shl || op == Op::bv_lshr;
    std::uint32_t const a = pick();
    std::uint64_t const few[] = {1, 3, 4, 7, 16, 63, 112, 992, 0xfffffff0, 0x80000000, 31};
    std::uint32_t const b =
        random() % 3 == 0 && !shift ? pick() : number(shift ? random() % 12 : few[random() % std::size(few)]);
    if (random() % 6 == 0) {
      std::uint32_t const c = execution.terms.add({random() % 2 == 0 ? Op::ult : Op::eq, 0, a, b});
      truths.push_back(c);
      words.push_back(execution.terms.add({Op::ite, 32, c, pick(), pick()}));
    } else {
      words.push_back(execution.terms.add({op, 32, a, b}));
    }
  }

  /// tid.x, y or z of the thread of this number, or the part of them that its warp has.
  std::uint64_t special(std::uint32_t which, std::uint64_t thread) const {
    auto const& block = launch.block;
    std::array<std::uint64_t, 3> const tid{thread % block[0], thread / block[0] % block[1],
                                           thread / block[0] / block[1]};
    if (which <= static_cast<std::uint32_t>(Special::tid_z)) return tid[which];
    std::uint32_t const d = which - static_cast<std::uint32_t>(Special::warp_x);
    return tid.at(d) / Warp::lanes_of(launch).value()[d];
  }

  /// Plain 32-bit arithmetic.
  std::uint64_t plain(std::uint32_t id, std::uint64_t tid, std::uint64_t vp, std::uint64_t vq) const {
    Node const& n = execution.terms.nodes()[id];
    auto const a = [&] { return static_cast<std::uint32_t>(plain(n.a, tid, vp, vq)); };
    auto const b = [&] { return static_cast<std::uint32_t>(plain(n.b, tid, vp, vq)); };
    switch (n.op) {
      case Op::constant:
      case Op::truth:
        return n.value;
      case Op::variable:
        if (Leaf const& l = execution.leaves[n.value]; l.kind == Leaf::Kind::undefined)
          return plain(l.args[0], tid, vp, vq) & ~low_of_q;  // without the bits that are assumed
        return id == p ? vp : id == q ? vq : special(execution.leaves[n.value].extra, tid);
      case Op::bv_add:
        return a() + b();
      case Op::bv_sub:
        return a() - b();
      case Op::bv_mul:
        return a() * b();
      case Op::bv_and:
        return a() & b();
      case Op::bv_or:
        return a() | b();
      case Op::bv_xor:
        return a() ^ b();
      case Op::bv_shl:
        return b() < 32 ? a() << b() : 0;
      case Op::bv_lshr:
        return b() < 32 ? a() >> b() : 0;
      case Op::bv_udiv:
        return b() == 0 ? 0xffffffff : a() / b();
      case Op::bv_urem:
        return b() == 0 ? a() : a() % b();
      case Op::ite:
        return plain(n.a, tid, vp, vq) != 0 ? b() : plain(n.c, tid, vp, vq);
      case Op::eq:
        return a() == b();
      case Op::ult:
        return a() < b();
      case Op::negation:
        return plain(n.a, tid, vp, vq) == 0;
      case Op::conjunction:
        return plain(n.a, tid, vp, vq) & plain(n.b, tid, vp, vq);
      case Op::disjunction:
        return plain(n.a, tid, vp, vq) | plain(n.b, tid, vp, vq);
      default:
        return plain(n.a, tid, vp, vq) &
               (n.width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n.width) - 1);
    }
  }
};

TEST(Execution, DivisorsOfProducts) {
  EXPECT_EQ(execution::divisor_of(0xaaaaaaab, 33), 3U);
  EXPECT_EQ(execution::divisor_of(0xaaaaaaab, 34), 6U);
  EXPECT_EQ(execution::divisor_of(0xcccccccd, 34), 5U);
  EXPECT_EQ(execution::divisor_of(0x124924925, 35), 7U) << "33 bits: what is added is 2^32 x";
  EXPECT_EQ(execution::divisor_of(0x24924925, 32), 0U) << "wrong for 0xffffffff / 7";
  EXPECT_EQ(execution::divisor_of(0x55555555, 32), 0U) << "0 for 3";
  EXPECT_EQ(execution::divisor_of(1U << 31, 33), 0U);
  EXPECT_EQ(execution::divisor_of(0xaaaaaaab, 31), 0U);
  EXPECT_EQ(execution::divisor_of(0xaaaaaaab, 63), 0U);
  EXPECT_EQ(execution::divisor_of(3, 62), 0U) << "a divisor of more than 32 bits: each quotient is 0";
  // If it names one, words at the edges are divided by it; and it names each that compilers would use.
  for (std::uint64_t d = 3; d < 5000; ++d) {
    if (std::has_single_bit(d)) continue;
    unsigned const shift = 32 + static_cast<unsigned>(std::bit_width(d - 1));
    std::uint64_t const factor = ((std::uint64_t{1} << shift) + d - 1) / d;
    ASSERT_EQ(execution::divisor_of(factor, shift), d);
    for (std::uint64_t const near : {factor - 2, factor - 1, factor + 1, factor + 2, factor + d})
      if (std::uint64_t const other = execution::divisor_of(near, shift); other != 0)
        for (std::uint64_t const x : {other - 1, other, 0xffffffff / other * other - 1,
                                      0xffffffff / other * other, std::uint64_t{0xffffffff}})
          if (x <= 0xffffffff && near <= ~std::uint64_t{0} / x)
            ASSERT_EQ(x * near >> shift, x / other) << near << " " << shift;
  }
}

TEST(Execution, ConstantsAreConvertedWhereTheFormatHoldsThem) {
  EXPECT_EQ(exact_conversion("cvt.rn.f16.s32", 0), 0U);
  EXPECT_EQ(exact_conversion("cvt.rn.f16.s32", 0xffffffff), 0xbc00U);  // -1
  EXPECT_EQ(exact_conversion("cvt.rn.f16.u32", 65504), 0x7bffU);
  for (std::uint64_t const x : {std::uint64_t{2049}, std::uint64_t{65536}, std::uint64_t{0xffffffff}})
    EXPECT_EQ(exact_conversion("cvt.rn.f16.u32", x), std::nullopt) << x;
  for (char const* other :
       {"cvt.rn.f32.f64", "cvt.rz.f32.s32", "cvt.rn.bf16.s32", "cvt.rn.f32.s32.x", "cvt.rn.f32.", ""})
    EXPECT_EQ(exact_conversion(other, 1), std::nullopt) << other;
  std::mt19937_64 random(5);
  for (unsigned round = 0; round < 20000; ++round) {
    std::uint64_t const x = random() >> random() % 64;
    auto const i = static_cast<std::int64_t>(x);
    auto const s = static_cast<std::int32_t>(x);
    if (auto const bits = exact_conversion("cvt.rn.f64.s64", x))
      EXPECT_EQ(*bits, std::bit_cast<std::uint64_t>(static_cast<double>(i))) << i;
    else
      EXPECT_NE(static_cast<__int128>(static_cast<double>(i)), static_cast<__int128>(i));
    if (auto const bits = exact_conversion("cvt.rn.f32.s32", x))
      EXPECT_EQ(*bits, std::bit_cast<std::uint32_t>(static_cast<float>(s))) << s;
    else
      EXPECT_NE(static_cast<std::int64_t>(static_cast<float>(s)), s);
  }
}

TEST(PtxWarp, RulesAreThoseOfPlainArithmetic) {
  unsigned split = 0, stuck = 0, with_atoms = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Case k(seed);
    unsigned const number = static_cast<unsigned>(seed & 1);
    Warp warp(k.program, k.flow, k.execution, k.launch, number);
    unsigned const bits = seed % 3 == 0 ? 7 : seed % 3 == 1 ? 12 : 32;
    std::uint32_t const id = k.words.back();
    Lanes const v = warp.value(id, bits);
    if (!v.split()) {
      ++stuck;
      continue;
    }
    ++split;
    with_atoms += !v.terms.empty();
    std::uint64_t const mask = (std::uint64_t{1} << bits) - 1;
    for (unsigned round = 0; round < 4; ++round) {
      std::uint64_t const vp = round == 0 ? 0 : k.random() & (round == 1 ? 0xff : 0xffffffff),
                          vq = k.random() & 0xffffffc0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        std::uint64_t const tid = number * 32 + lane;
        std::uint64_t sum = v.lane[lane];
        for (auto const& [atom, factor] : v.terms) sum += factor * k.plain(atom, tid, vp, vq);
        ASSERT_EQ(sum & mask, k.plain(id, tid, vp, vq) & mask)
            << "seed " << seed << " lane " << lane << " p " << vp << " q " << vq;
      }
    }
  }
  EXPECT_GT(split, 1000U);
  EXPECT_GT(stuck, 100U);
  EXPECT_GT(with_atoms, 300U);
}

/// One warp under one assumption after another, and under none again: what it keeps of its values holds under each.
TEST(PtxWarp, GoesOnUnderOtherAssumptions) {
  unsigned assumed = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Case k(seed);
    Warp warp(k.program, k.flow, k.execution, k.launch, 0);
    for (unsigned change = 0; change < 8; ++change) {
      std::vector<Assumption> now;
      std::uint64_t vp = k.random() & 0xffffffff, vq = k.random() & 0xffffffc0;
      if (k.random() % 2 == 0) now.push_back({k.p, false, 64, vp &= 7});
      if (k.random() % 3 == 0) now.push_back({k.q, false, 9, vq & Case::low_of_q});
      if (!k.truths.empty() && k.random() % 2 == 0) {  // that of a lane, which others may share
        std::uint32_t const truth = k.truths[k.random() % k.truths.size()];
        LaneTruths const t = warp.truth(truth);
        Node const n = k.execution.terms.nodes()[t.atom];
        if (t.rest() == ~0U && t.atom != 0 && n.op != Op::negation)
          now.push_back({t.atom, true, 64, k.plain(t.atom, 0, vp, vq)});
      }
      warp.assume(now);
      assumed += !now.empty();
      for (Assumption const& a : now)
        if (!a.truth)
          ASSERT_TRUE(warp.value(a.atom, std::min(a.bits, 32U)).pure())
              << "seed " << seed << " change " << change;
      for (std::uint32_t const id : k.words) {
        Lanes const v = warp.value(id, 32);
        for (unsigned lane = 0; v.split() && lane < 32; ++lane) {
          std::uint64_t sum = v.lane[lane];
          for (auto const& [atom, factor] : v.terms) sum += factor * k.plain(atom, lane, vp, vq);
          ASSERT_EQ(sum & 0xffffffff, k.plain(id, lane, vp, vq)) << "seed " << seed << " change " << change;
        }
      }
      for (std::uint32_t const truth : k.truths) {
        LaneTruths const t = warp.truth(truth);
        for (unsigned lane = 0; lane < 32; ++lane)
          ASSERT_FALSE((k.plain(truth, lane, vp, vq) != 0 ? t.no : t.yes) >> lane & 1)
              << "seed " << seed << " change " << change;
      }
    }
  }
  EXPECT_GT(assumed, 4000U);
}

TEST(PtxWarp, OneStandsForAll) {
  using Block = std::array<std::uint32_t, 3>;
  auto const lanes = [](Block const& block) { return Warp::lanes_of({block, false, {}}); };
  EXPECT_EQ(lanes({256, 1, 1}), (Block{32, 1, 1}));
  EXPECT_EQ(lanes({16, 16, 1}), (Block{16, 2, 1}));
  EXPECT_EQ(lanes({4, 2, 12}), (Block{4, 2, 4}));
  EXPECT_EQ(lanes({96, 5, 2}), (Block{32, 1, 1}));
  for (Block const& block : {Block{48, 2, 1}, {40, 1, 1}, {16, 1, 1}, {12, 8, 1}, {16, 3, 2}, {31, 1, 1}})
    EXPECT_EQ(lanes(block), std::nullopt) << block[0] << " " << block[1] << " " << block[2];
  constexpr std::array<Block, 7> blocks{
      {{256, 1, 1}, {16, 16, 1}, {32, 4, 1}, {8, 8, 4}, {96, 2, 2}, {4, 4, 16}, {1, 64, 2}}};
  unsigned split = 0, decided = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Case k(seed, blocks[seed % blocks.size()]);
    Warp warp(k.program, k.flow, k.execution, k.launch, Warp::every);
    std::uint32_t const id = k.words.back();
    Lanes const v = warp.value(id, 32);
    split += v.split() && !v.terms.empty();
    std::uint64_t const vp = k.random() & 0xffffffff, vq = k.random() & 0xffffffc0;
    std::uint64_t const threads = k.launch.block[0] * k.launch.block[1] * k.launch.block[2];
    for (std::uint64_t thread = 0; thread < threads && v.split(); ++thread) {
      std::uint64_t sum = v.lane[thread % 32];
      for (auto const& [atom, factor] : v.terms) sum += factor * k.plain(atom, thread, vp, vq);
      ASSERT_EQ(sum & 0xffffffff, k.plain(id, thread, vp, vq)) << "seed " << seed << " thread " << thread;
    }
    for (std::uint32_t const truth : k.truths) {
      LaneTruths const t = warp.truth(truth);
      decided += t.rest() == 0;
      for (std::uint64_t thread = 0; thread < threads; ++thread) {
        bool const holds = k.plain(truth, thread, vp, vq) != 0;
        std::uint32_t const lane = 1U << thread % 32;
        ASSERT_FALSE((holds ? t.no : t.yes) & lane) << "seed " << seed << " thread " << thread;
        if ((t.rest() & lane) != 0 && t.atom != 0)
          ASSERT_EQ(k.plain(t.atom, thread, vp, vq) != 0, holds) << "seed " << seed << " thread " << thread;
      }
    }
  }
  EXPECT_GT(split, 1000U);
  EXPECT_GT(decided, 500U);
}

TEST(PtxWarp, FactsHold) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Case k(seed);
    Warp warp(k.program, k.flow, k.execution, k.launch, 0);
    for (std::uint32_t const id : k.words) {
      Facts const f = warp.facts(id);
      for (unsigned round = 0; round < 4; ++round) {
        std::uint64_t const x =
            k.plain(id, k.random() % 64, k.random() & 0xffffffff, k.random() & 0xffffffc0);
        ASSERT_EQ(x & f.zeros, 0U) << "seed " << seed;
        ASSERT_LE(x, f.most) << "seed " << seed;
        ASSERT_GE(x, f.least) << "seed " << seed;
      }
    }
  }
}

TEST(PtxWarp, TruthsHold) {
  unsigned decided = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Case k(seed);
    Warp warp(k.program, k.flow, k.execution, k.launch, 1);
    for (std::uint32_t const id : k.truths) {
      LaneTruths const t = warp.truth(id);
      EXPECT_EQ(t.yes & t.no, 0U);
      decided += t.rest() == 0;
      std::uint64_t const vp = k.random() & 0xffffffff, vq = k.random() & 0xffffffc0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        bool const holds = k.plain(id, 32 + lane, vp, vq) != 0;
        if ((t.yes >> lane & 1) != 0) ASSERT_TRUE(holds) << "seed " << seed;
        if ((t.no >> lane & 1) != 0) ASSERT_FALSE(holds) << "seed " << seed;
        if ((t.rest() >> lane & 1) != 0 && t.atom != 0)
          ASSERT_EQ(k.plain(t.atom, 32 + lane, vp, vq) != 0, holds) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(decided, 300U);
}

TEST(PtxExecution, AMachineOfConstantsEndsWithItsLoop) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[64];\n.entry k()\n{\n"
      ".reg .pred %p<3>; .reg .b32 %r<9>;\nmov.u32 %r2, tile; mov.u32 %r1, 1;\nL: add.u32 %r3, %r2, %r1; "
      "ld.shared.u32 %r4, [%r3]; shl.b32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 32; @%p1 bra L;\nret;\n}\n",
      "test.ptx");
  Program const program = ptx::lower(m, m.functions.at(0));
  Execution execution;
  execute(program, flow_of(program), execution);
  ASSERT_EQ(execution.phis.size(), 1U);
  EXPECT_EQ(execution.phis[0].kind, Phi::Kind::orbit);
  EXPECT_EQ(execution.phis[0].values, (std::vector<std::uint64_t>{1, 2, 4, 8, 16})) << "32 and 0 never come";
}

TEST(Lower, ParametersInRegistersAreWrittenFirst) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.func f(.reg .b32 n, .reg .b64 p)\n{\nret;\n}\n",
      "test.ptx");
  Program const program = ptx::lower(m, m.functions.at(0));
  for (std::int32_t r : {0, 1})
    EXPECT_TRUE(std::any_of(program.steps.begin(), program.steps.end(), [&](Step const& s) {
      return s.action == Action::copy && s.dst == r && !s.a.constant;
    })) << r;
}

TEST(Lower, AMisspelledStateSpaceIsNoGenericAccess) {
  auto const access = [](std::string const& opcode) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b64 %rd<2>;\n"
        ".reg .f32 %f<2>;\n" +
            opcode + " [%rd1], %f1;\nret;\n}\n",
        "test.ptx");
    return ptx::lower(m, m.functions.at(0)).accesses.at(0);
  };
  EXPECT_EQ(access("st.sharde.f32").reason, "'.sharde' is no state space or modifier that is known");
  EXPECT_FALSE(access("st.sharde.f32").instruction);
  for (char const* const known :
       {"st.f32", "st.volatile.f32", "st.relaxed.gpu.L1::no_allocate.f32", "st.wb.v2.f32"})
    EXPECT_EQ(access(known).reason, "") << known;
}

}  // namespace
}  // namespace swizproof::execution
