// Calls replaced by the bodies of their functions.
#include <swizproof/ptx/inline.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace swizproof::ptx {
namespace {

Module read(std::string const& body) {
  return read_module(".version 9.0\n.target sm_90a\n.address_size 64\n" + body, "test.ptx");
}
Function const& kernel_of(Module const& m) {
  return *std::find_if(m.functions.begin(), m.functions.end(), [](Function const& f) { return f.entry; });
}
std::size_t count(Function const& f, std::string_view opcode) {
  return static_cast<std::size_t>(std::count_if(f.body.begin(), f.body.end(), [&](Instruction const& i) {
    return i.label == 0 && i.opcode.text == opcode;
  }));
}
Instruction const& first(Function const& f, std::string_view opcode) {
  for (Instruction const& i : f.body)
    if (i.label == 0 && i.opcode.text == opcode) return i;
  throw std::runtime_error("there is no " + std::string(opcode));
}

TEST(Inline, NothingToInlineIsNothing) {
  Module const m = read(".extern .func g();\n.entry k() { call.uni g; ret; }\n");
  EXPECT_FALSE(inline_calls(m, kernel_of(m)).has_value());
}

TEST(Inline, EachCallHasItsOwnRegistersAndLabels) {
  Module const m = read(
      ".func f(.reg .b32 a) {\n.reg .b32 %r<2>; .reg .pred %p<2>;\nL: add.u32 %r1, a, 1; setp.eq.u32 %p1, "
      "%r1, 3; @%p1 bra L; ret; }\n.entry k() { .reg .b32 %r<3>; call f, (%r1); call f, (7); ret; }\n");
  Function const f = inline_calls(m, kernel_of(m)).value();
  EXPECT_EQ(count(f, "call"), 0U);
  EXPECT_EQ(count(f, "ret"), 1U) << "the kernel's";
  std::vector<Instruction const*> adds, branches;
  for (Instruction const& i : f.body) {
    if (i.label == 0 && i.opcode.text == "add.u32") adds.push_back(&i);
    if (i.label == 0 && i.opcode.text == "bra") branches.push_back(&i);
  }
  ASSERT_EQ(adds.size(), 2U);
  ASSERT_EQ(branches.size(), 2U);
  EXPECT_NE(adds[0]->operands[0].reg, adds[1]->operands[0].reg);
  EXPECT_GE(adds[0]->operands[0].reg, 3U) << "behind the kernel's";
  EXPECT_NE(branches[0]->operands[0].reg, branches[1]->operands[0].reg);
  EXPECT_NE(branches[0]->guard, branches[1]->guard);
  EXPECT_EQ(adds[0]->call, 1U);
  EXPECT_EQ(adds[1]->call, 2U);
  EXPECT_EQ(f.calls.at(0).line, 7U);
}

TEST(Inline, LanesOfAVectorAreRegistersOfTheirOwn) {
  Module const m = read(
      ".func (.reg.u32 r) f (.reg.v4.u16 v, .reg .u32 n)\n{\n.reg.v2.u16 h;\nmov.u16 h.y, v.z; cvt.u32.u16 "
      "r, "
      "h.y; add.u32 r, r, n; ret;\n}\n.entry k(.param.u64 to, .param.align 8 .b8 s[16])\n{\n.reg .v4 .u16 w; "
      ".reg .u32 %r<3>; call (%r1), f, (w, 7); st.global.u32 [%r2], %r1; ret;\n}\n");
  EXPECT_EQ(kernel_of(m).params.at(0).name, "to");
  EXPECT_EQ(kernel_of(m).params.at(1).bytes, 16U);
  Function const f = inline_calls(m, kernel_of(m)).value();
  EXPECT_EQ(count(f, "call"), 0U);
  EXPECT_EQ(count(f, "mov.b16"), 4U) << "to the lanes";
  Instruction const *third = nullptr, *use = nullptr;
  unsigned lane = 0;
  for (Instruction const& i : f.body) {
    if (i.label == 0 && i.opcode.text == "mov.b16" && ++lane == 3) third = &i;
    if (i.label == 0 && i.opcode.text == "mov.u16") use = &i;
  }
  ASSERT_TRUE(third != nullptr && use != nullptr);
  EXPECT_EQ(third->operands.at(0).reg, use->operands.at(1).reg);
  Module const other =
      read(".func f (.reg.v4.u16 v)\n{\nret;\n}\n.entry k()\n{\n.reg .v2 .u16 w;\ncall f, (w); ret;\n}\n");
  EXPECT_EQ(inline_calls(other, kernel_of(other)).value().calls.at(0).refused,
            "it does not match the parameters of f");
}

TEST(Inline, ParametersBecomeRegisters) {
  Module const m = read(
      ".func (.param .align 8 .b8 r[16]) f(.param .align 8 .b8 s[16]) {\n.reg .b32 %r<4>; .reg .b64 %d<2>; "
      ".reg .b16 %h<2>;\n"
      "ld.param.u64 %d1, [s+8]; ld.param.v2.u32 {%r1, %r2}, [s]; ld.param.s8 %h1, [s+4]; st.param.b64 [r+8], "
      "%d1; "
      "ret; }\n"
      ".entry k() { .reg .b32 %r<3>; .reg .b64 %d<3>;\n{ .param .align 8 .b8 param0[16]; st.param.b32 "
      "[param0], "
      "%r1; st.param.b32 [param0+4], %r2; st.param.b64 [param0+8], %d1; .param .align 8 .b8 retval0[16]; "
      "call "
      "(retval0), f, (param0); ld.param.b64 %d2, [retval0+8]; } ret; }\n");
  Function const f = inline_calls(m, kernel_of(m)).value();
  for (Instruction const& i : f.body)
    EXPECT_EQ(i.opcode.text.find("param"), std::string_view::npos) << i.opcode.text;
  Instruction const& extended = first(f, "cvt.s16.s8");
  EXPECT_EQ(f.registers[extended.operands[1].reg].bits, 8U) << "bytes 4 to 7 are bytes: one is read alone";
  Instruction const& low = first(f, "mov.b32");
  EXPECT_EQ(low.operands[0].kind, Operand::Kind::reg);
  EXPECT_EQ(f.registers[low.operands[0].reg].bits, 32U) << "bytes 0 to 3 are one word";
}

TEST(Inline, WordsThatAreReadAloneAndTogetherAreRegistersOfTheirOwn) {
  Module const m = read(
      ".func f(.param .b64 s) {\n.reg .b32 %r<3>; .reg .b64 %d<2>; ld.param.u32 %r1, [s]; ld.param.u64 %d1, "
      "[s]; ret; }\n"
      ".entry k() { .reg .b64 %d<2>;\n{ .param .b64 param0; st.param.b64 [param0], %d1; call f, (param0); } "
      "ret; }\n");
  Function const f = inline_calls(m, kernel_of(m)).value();
  Instruction const& word = first(f, "mov.b32");
  EXPECT_EQ(f.registers[word.operands[1].reg].bits, 32U);
  EXPECT_EQ(count(f, "mov.b64"), 2U);
  for (Instruction const& i : f.body)
    if (i.label == 0 && i.opcode.text == "mov.b64")
      EXPECT_TRUE(i.operands[0].parts.size() == 2 || i.operands[1].parts.size() == 2);
}

TEST(Inline, AParameterWhoseAddressIsTakenStaysInMemory) {
  Module const m = read(
      ".func f(.param .b32 a) {\n.reg .b64 %d<2>; mov.b64 %d1, a; ret; }\n.entry k() {\n{ .param .b32 "
      "param0; "
      "st.param.b32 [param0], 1; call f, (param0); } ret; }\n");
  EXPECT_EQ(count(inline_calls(m, kernel_of(m)).value(), "st.param.b32"), 1U);
}

TEST(Inline, ASharedVariableOfAFunctionIsOne) {
  Module const m = read(
      ".func f() {\n.reg .b32 %r<2>; .shared .align 4 .b8 own[64]; mov.u32 %r1, own; ret; }\n"
      ".func g() {\n.shared .align 4 .b8 own[64]; call f; ret; }\n"
      ".entry k() { .shared .align 4 .b8 own[16]; call f; call g; ret; }\n");
  Function const f = inline_calls(m, kernel_of(m)).value();
  EXPECT_EQ(f.variables.size(), 3U) << "of k, f and g";
  std::vector<std::string_view> named;
  for (Instruction const& i : f.body)
    if (i.label == 0 && i.opcode.text == "mov.u32") named.push_back(i.operands[1].text);
  EXPECT_EQ(named, (std::vector<std::string_view>{"f.own", "f.own"}));
}

TEST(Inline, AGuardJumpsOverTheBody) {
  Module const m = read(
      ".func (.reg .b32 r) f() { .reg .pred %q<2>; @!%q1 ret; mov.u32 r, 1; ret; }\n"
      ".entry k() { .reg .b32 %r<3>; .reg .pred %p<3>; @%p2 call (%r1), f; ret; }\n");
  Function const f = inline_calls(m, kernel_of(m)).value();
  std::vector<Instruction const*> jumps;
  std::size_t move = 0, behind = 0;
  for (std::size_t k = 0; k < f.body.size(); ++k) {
    Instruction const& i = f.body[k];
    if (i.label == 0 && i.opcode.text == "bra") jumps.push_back(&i);
    if (i.label == 0 && i.opcode.text == "mov.b32") move = k;
    if (i.label != 0) behind = k;
  }
  ASSERT_EQ(jumps.size(), 2U);
  EXPECT_EQ(jumps[0]->guard, 5) << "behind three registers, the last of three";
  EXPECT_TRUE(jumps[0]->guard_negated);
  EXPECT_TRUE(jumps[1]->guard_negated) << "the function's own";
  EXPECT_NE(jumps[0]->operands[0].reg, jumps[1]->operands[0].reg);
  EXPECT_LT(move, behind) << "lanes that do not call get no result";
}

TEST(Inline, WhatIsNotInlinedHasAReason) {
  auto const refused = [](std::string const& text, InlineLimits const& limits = {}) {
    Module const m = read(text);
    std::optional<Function> const f = inline_calls(m, kernel_of(m), limits);
    std::string all;
    for (Call const& c : f.value().calls) all += c.refused;
    return all;
  };
  std::string const k = ".entry k() { .reg .b32 %r<3>; call f; ret; }\n";
  EXPECT_EQ(refused(".func f() { call f; ret; }\n" + k), "f calls itself");
  EXPECT_EQ(refused(".func f() { call g; ret; }\n.func g() { call f; ret; }\n" + k), "f calls itself");
  EXPECT_EQ(refused(".func f() { .reg .b32 %i; L: brx.idx %i, L; }\n" + k),
            "f is not executed: line 4: brx.idx needs a list of known labels before it, in its braces");
  EXPECT_EQ(
      refused(
          ".func f() { .reg .pred %p; .reg .b32 %i; @%p bra B; A: st.shared.u32 [%i], %i; B: st.shared.u32 "
          "[%i], %i; @%p bra A; }\n" +
          k),
      "f is not executed: its control flow has a loop with two entries (irreducible)");
  EXPECT_EQ(refused(".func f(.reg .b32 a) { ret; }\n" + k), "it does not match the parameters of f");
  EXPECT_EQ(
      refused(
          ".func f(.param .b64 a) { ret; }\n.entry k() { { .param .b32 param0; call f, (param0); } ret; }\n"),
      "it does not match the parameters of f");
  EXPECT_EQ(refused(".func f() { ret; }\n" + k, {.instructions = 2, .depth = 64}),
            "the inlined functions would have more than 2 instructions and registers");
  EXPECT_EQ(
      refused(".func g() { ret; }\n.func f() { call g; ret; }\n" + k, {.instructions = 100, .depth = 1}),
      "more than 1 calls are nested");
}

TEST(Inline, AChainThatDoublesIsCutAtItsHead) {
  std::string text = ".func f0() { .reg .b32 %r<9>; ret; }\n";
  for (int i = 1; i < 60; ++i) {
    std::string const call = "call f" + std::to_string(i - 1) + "; ";
    text += ".func f" + std::to_string(i) + "() { " + call + call + "ret; }\n";
  }
  Module const m = read(text + ".entry k() { call f59; call f5; ret; }\n");
  Function const f = inline_calls(m, kernel_of(m)).value();
  EXPECT_EQ(count(f, "call"), 1U) << "f59 would have 2^59 bodies";
  EXPECT_EQ(f.calls.size(), 64U) << "and f5 the rest: 1 + 2 + 4 + .. + 32 calls";
}

TEST(Inline, ResultsOfCallsThatStayAreUnknown) {
  Module const m = read(
      ".extern .func (.param .b32 r) g();\n.func f() { ret; }\n"
      ".entry k() { .reg .b32 %r<3>;\ncall f;\n{ .param .b32 retval0; call (retval0), g; ld.param.b32 %r1, "
      "[retval0]; }\nret; }\n");
  Function const f = inline_calls(m, kernel_of(m)).value();
  Operand const& result = first(f, "call").operands.at(0).parts.at(0);
  ASSERT_EQ(result.parts.size(), 1U);
  EXPECT_EQ(result.parts[0].reg, first(f, "mov.b32").operands[1].reg) << "what the load reads";
}

}  // namespace
}  // namespace swizproof::ptx
