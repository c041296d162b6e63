// deliver() against a memory of bytes and a loop that moves them as PTX says, on random rows.
#include <swizproof/analysis/fragment.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace swizproof {
namespace {

using Registers = std::array<std::array<std::uint16_t, 8>, 32>;  // 16-bit halves, lowest first

/// ldmatrix.x4 as PTX defines it: matrix j is rows 8j..8j+7, each of 8 halves; thread r*4 + c/2 gets element (r, c) in half c%2;
/// with .trans element (c, r).
Registers ldmatrix(std::vector<std::uint16_t> const& memory, std::array<std::size_t, 32> const& row_starts,
                   bool trans) {
  Registers out{};
  for (std::size_t matrix = 0; matrix < 4; ++matrix)
    for (std::size_t r = 0; r < 8; ++r)
      for (std::size_t c = 0; c < 8; ++c) {
        std::size_t const row = trans ? c : r, column = trans ? r : c;
        out[r * 4 + c / 2][2 * matrix + c % 2] = memory[row_starts[8 * matrix + row] + column];
      }
  return out;
}

// The tile is 64 rows of 64 halves, each its own number; k down and n across for .trans into B, m down and k across into A.
RC_GTEST_PROP(Delivery, SaysWhatALoopOverMemorySays, ()) {
  bool const trans = *rc::gen::arbitrary<bool>();
  auto const weights =
      *rc::gen::container<std::vector<std::uint64_t>>(3, rc::gen::element<std::uint64_t>(0, 8, 16, 24));
  bool const usual = *rc::gen::arbitrary<bool>();
  Expression const lane = Expression::variable(0);
  Expression const strided =
      usual ? lane % Expression(16)
            : lane % Expression(8) + Expression(weights[0]) * (lane / Expression(8) % Expression(2));
  Expression const contiguous = usual ? Expression(8) * (lane / Expression(16))
                                      : Expression(weights[1]) * (lane / Expression(16)) +
                                            Expression(weights[2]) * (lane / Expression(8) % Expression(2));
  NamedFragment const operand = parse_fragment(trans ? "mma.m16n8k16.f16:b" : "mma.m16n8k16.f16:a");
  Fragment const memory = parse_fragment(trans ? "ldmatrix.x4.trans" : "ldmatrix.x4").fragment;
  FragmentSide const wanted{operand.fragment, trans ? 2U : 1U, trans, {}, false};
  Delivery const found =
      deliver({{memory, 1, false, RowStarts{strided, contiguous, ""}, true}, wanted, *operand.operand}, {});

  std::vector<std::uint16_t> tile(64 * 64);
  for (std::size_t i = 0; i < tile.size(); ++i) tile[i] = static_cast<std::uint16_t>(i);
  std::array<std::size_t, 32> starts{};
  for (std::uint64_t l = 0; l < 32; ++l) {
    std::span<std::uint64_t const> const variables(&l, 1);
    starts[l] = 64 * strided(variables, l) + contiguous(variables, l);
  }
  Registers const got = ldmatrix(tile, starts, trans);
  bool right = true;
  for (std::uint32_t t = 0; t < 32; ++t)
    for (std::uint32_t i = 0; i < 8; ++i) {
      MatrixElement const e = element_of(operand.fragment, t, i % operand.fragment.values);
      std::uint32_t const column = e.column + i / operand.fragment.values * 8;
      right = right && got[t][i] == 64 * e.row + column;
    }
  RC_CLASSIFY(right);
  RC_ASSERT(found.answer.proved() == right);
  if (found.first)
    RC_ASSERT(got[found.first->thread][found.first->value] ==
              64 * found.first->got.row + found.first->got.column);
  if (found.up_to) {  // replayed on what the loop moved
    auto const at = [](std::vector<unsigned> const& table, std::uint32_t i) {
      return table.empty() ? i : table[i];
    };
    for (std::uint32_t t = 0; t < 32; ++t)
      for (std::uint32_t i = 0; i < 8; ++i) {
        MatrixElement const w = wanted.at(t, i);
        std::uint32_t const row = at(trans ? found.up_to->k : found.up_to->other, w.row);
        std::uint32_t const column = at(trans ? found.up_to->other : found.up_to->k, w.column);
        RC_ASSERT(got[t][at(found.up_to->values, i)] == 64 * row + column);
      }
  }
}

// Rows that are found always deliver; where none are, the two elements named cannot lie as far apart as they would have to.
RC_GTEST_PROP(Delivery, RowsThatAreFoundDeliver, ()) {
  auto const operand = parse_fragment(*rc::gen::element<std::string>(
      "mma.m16n8k8.f16:a", "mma.m16n8k8.f16:b", "mma.m16n8k16.bf16:a", "mma.m16n8k16.bf16:b",
      "mma.m16n8k16.s8:a", "mma.m16n8k32.s8:a", "mma.m16n8k32.s8:b", "mma.m16n8k64.s4:a", "mma.m16n8k64.s4:b",
      "mma.m8n8k32.s4:b", "mma.m16n8k16.f16.f16.f16.f16:d", "wgmma.m64n64k16.f16:a", "wgmma.m64n32k32.e4m3:a",
      "wgmma.m64n8k16.f16.f16.f16:d", "wgmma.m64n48k16.f16.f16.f16:d"));
  auto const instruction =
      *rc::gen::element<std::string>("ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x1.trans",
                                     "ldmatrix.x2.trans", "ldmatrix.x4.trans");
  bool const columns = *rc::gen::arbitrary<bool>();
  Fragment const memory = parse_fragment(instruction, operand.fragment.bits).fragment;
  unsigned const copies = std::max(1U, memory.values / operand.fragment.values);
  FragmentSide const wanted{operand.fragment, copies, *operand.operand != Operand::a, {}, false};
  Solution const s = solve_rows(memory, wanted, columns);
  RC_CLASSIFY(s.rows.has_value());
  RC_ASSERT(s.rows.has_value() != s.split.has_value());
  if (s.rows) {
    FragmentSide const delivered{memory, wanted.values() / memory.values, false, s.rows, columns};
    RC_ASSERT(deliver({delivered, wanted, *operand.operand}, {}).answer.proved());
    return;
  }
  auto const in = [&](Holder const& h) {
    return element_of(memory, std::uint32_t{h.thread}, std::uint32_t{h.value % memory.values});
  };
  auto const along = [&](MatrixElement const& e) { return static_cast<int>(columns ? e.column : e.row); };
  auto const across = [&](MatrixElement const& e) { return columns ? e.row : e.column; };
  SplitRow const& split = *s.split;
  RC_ASSERT(in(split.holders[0]).row == in(split.holders[1]).row);
  RC_ASSERT(across(split.wanted[0]) != across(split.wanted[1]) ||
            along(split.wanted[1]) - along(split.wanted[0]) != split.apart ||
            (along(split.wanted[0]) - static_cast<int>(in(split.holders[0]).column)) *
                    static_cast<int>(memory.bits) % 128 !=
                0);
}

}  // namespace
}  // namespace swizproof
