// The reader of PTX on what compilers and people write.
#include <swizproof/ptx/module.hpp>

#include <gtest/gtest.h>

namespace swizproof::ptx {
namespace {

std::string const head = ".version 9.0\n.target sm_90a\n.address_size 64\n";
Module module_of(std::string const& body) { return read_module(head + body, "test.ptx"); }

TEST(PtxReader, ReadsDeclarations) {
  Module const m = module_of(
      ".file 1 \"a b.cu\"\n.shared .align 16 .b8 tile[4][256];\n.extern .shared .align 128 .b8 dynamic[];\n"
      ".visible .entry k(.param .u64 p, .param .align 8 .b8 s[24])\n.maxntid 128, 1, 1\n.minnctapersm 2\n"
      ".reqnctapercluster 2, 4\n.explicitcluster\n{ ret; }\n"
      ".entry c()\n.blocksareclusters\n{ ret; }\n");
  ASSERT_EQ(m.variables.size(), 2U);
  EXPECT_EQ(m.variables[0].bytes, 1024U);
  EXPECT_EQ(m.variables[0].align, 16U);
  EXPECT_TRUE(m.variables[1].extern_array);
  EXPECT_EQ(m.files.at(1), "a b.cu");
  ASSERT_EQ(m.functions.size(), 2U);
  EXPECT_EQ(m.functions[0].reqnctapercluster, (std::array<std::uint32_t, 3>{2, 4, 1}));
  EXPECT_FALSE(m.functions[0].blocks_are_clusters);
  EXPECT_TRUE(m.functions[1].blocks_are_clusters);
  EXPECT_TRUE(m.functions[0].entry);
  EXPECT_EQ(m.functions[0].maxntid[0], 128U);
  EXPECT_EQ(m.functions[0].params[1].bytes, 24U);
  EXPECT_TRUE(m.functions[0].params[1].array);
  EXPECT_FALSE(m.functions[0].params[0].array);
}

TEST(PtxReader, ReadsOperands) {
  Module const m = module_of(
      ".entry k() {\n.reg .b32 %r<8>; .reg .pred %p<3>; .reg .b64 %rd<2>;\n"
      "@!%p1 ld.shared::cta.v2.u32 {%r1, %r2}, [%r3+-8];\n mov.u32 %r4, -0x10; // twice\n"
      "shfl.sync.idx.b32 %r1|%p2, %r2, 0, 31, -1;\n}\n");
  auto const& body = m.functions.at(0).body;
  ASSERT_EQ(body.size(), 3U);
  EXPECT_EQ(body[0].opcode.text, "ld.shared::cta.v2.u32");
  EXPECT_TRUE(body[0].guard_negated);
  EXPECT_EQ(body[0].operands[0].parts.size(), 2U);
  EXPECT_EQ(body[0].operands[1].value, ~std::uint64_t{0} - 7);
  EXPECT_EQ(body[0].line, 6U);
  EXPECT_EQ(body[1].operands[1].value, ~std::uint64_t{0} - 15);
  EXPECT_EQ(body[2].operands[0].parts.size(), 1U);
}

TEST(PtxReader, ADirectiveAndItsTypeNeedNoBlank) {
  Module const m =
      module_of(".shared.align 8 .b8 tile[16];\n.entry k() {\n{.reg.b16 hl, hu; mov.b32 {hl, hu}, 7;}\n}\n");
  EXPECT_EQ(m.variables.at(0).align, 8U);
  EXPECT_EQ(m.functions.at(0).body.size(), 1U);
}

TEST(PtxReader, ScopesHaveTheirOwnNames) {
  Module const m = module_of(
      ".entry k() {\n.reg .b32 a;\nmov.u32 a, 1;\n{ .reg .b32 a; mov.u32 a, 2; L: bra L; }\n{ L: bra L; "
      "}\nmov.u32 a, 3;\n}\n");
  auto const& body = m.functions.at(0).body;
  ASSERT_EQ(body.size(), 7U);
  EXPECT_NE(body[0].operands[0].reg, body[1].operands[0].reg);
  EXPECT_EQ(body[0].operands[0].reg, body[6].operands[0].reg);
  EXPECT_NE(body[3].operands[0].reg, body[5].operands[0].reg);
}

TEST(PtxReader, AVariableOfAScopeIsAnotherOne) {
  Module const m = module_of(
      ".entry k(.param .b32 n) {\n.reg .b32 %r<3>;\n{ .param .b32 param0; st.param.b32 [param0], 1; }\n"
      "{ .param .b64 param0; st.param.b32 [param0], 2; }\n{ .param .b32 n; st.param.b32 [n], 3; }\n"
      "ld.param.b32 %r1, [n];\n}\n");
  Function const& f = m.functions.at(0);
  ASSERT_EQ(f.variables.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(f.body[k].operands[0].parts[0].text, f.variables[k].name);
  EXPECT_NE(f.variables[0].name, f.variables[1].name);
  EXPECT_NE(f.variables[2].name, "n");
  EXPECT_EQ(f.body[3].operands[1].parts[0].text, "n") << "the kernel's";
}

TEST(PtxReader, ParametersInRegisters) {
  Module const m =
      module_of(".func (.reg .b64 r) f(.reg .b32 a, .param .b32 b) {\n.reg .b32 c;\nmov.b32 c, a;\n}\n");
  Function const& f = m.functions.at(0);
  EXPECT_EQ(f.returned.at(0).space, Space::reg);
  EXPECT_EQ(f.params.at(1).space, Space::param);
  ASSERT_EQ(f.registers.size(), 3U);
  EXPECT_EQ(f.registers[0].bits, 64U);
  EXPECT_EQ(f.body[0].operands[1].reg, 1U);
}

TEST(PtxReader, LinesOfTheSource) {
  Module const m = module_of(
      ".entry k() {\n.loc 1 50 3\n.loc 1 28 3, function_name $L__info0, inlined_at 1 50 3\nL:\n.loc 2 7 "
      "1\nret;\n}\n");
  auto const& body = m.functions.at(0).body;
  Location const at = m.locations.at(static_cast<std::size_t>(body.at(1).location));
  EXPECT_EQ(at.file, 2U);
  EXPECT_EQ(at.line, 7U);
  Location const inlined = m.locations.at(static_cast<std::size_t>(body.at(0).location));
  EXPECT_EQ(inlined.line, 28U);
  EXPECT_EQ(m.locations.at(static_cast<std::size_t>(inlined.inlined_at)).line, 50U);
}

// As LLVM prints it; files come behind the kernel, and two of them may have one name.
TEST(PtxReader, LinesOfTheSourceInComments) {
  Module const m = module_of(
      ".entry k() {\n.loc\t2 293 36                        // std.py:293:36 @[ my.py:8:32 @[ my.py:11:84 ] "
      "]\nL:\n"
      ".loc 1 7 1 // my.py:7:1\nL2:\n.loc 2 5 1 // std.py:6:1 @[ my.py:9:1 ]\nL3:\n"
      ".loc 2 5 1 // std.py:5:1 @[ two.py:9:1 ]\nret;\n}\n"
      ".file 1 \"/a/my.py\"\n.file 2 \"/b/std.py\"\n.file 3 \"/a/two.py\"\n.file 4 \"/b/two.py\"\n");
  auto const lines = [&](std::size_t i) {
    std::string text;
    for (auto const& [file, line] : source_lines(m, m.functions.at(0).body.at(i).location))
      text += file + ":" + std::to_string(line) + " ";
    return text;
  };
  EXPECT_EQ(lines(0), "/b/std.py:293 /a/my.py:8 /a/my.py:11 ");
  EXPECT_EQ(lines(1), "/a/my.py:7 ");
  EXPECT_EQ(lines(2), "/b/std.py:5 ");  // a comment about another line
  EXPECT_EQ(lines(3), "/b/std.py:5 two.py:9 ");
}

TEST(PtxReader, NamesTheLineOfAnError) {
  auto const message = [](std::string const& body) -> std::string {
    try {
      (void)module_of(body);
    } catch (InputError const& error) {
      return error.message;
    }
    return {};
  };
  EXPECT_EQ(message(".entry k() {\n bra L;\n}\n"), "test.ptx:5: the label of this branch is not defined");
  EXPECT_EQ(message(".entry k() {\n ret;\n"), "test.ptx:6: the function k does not end");
  EXPECT_EQ(message(".entry k() {\n @%p1 ret;\n}\n"), "test.ptx:5: the predicate %p1 is not declared");
  EXPECT_EQ(message(".entry k() {\n mov.u32\n"), "test.ptx:6: the file ends within a statement");
  EXPECT_EQ(message("int main() {}\n"), "test.ptx:4: expected a directive");
  // ptxas 13.0 reads [%r1+-4] and not these.
  for (char const* address : {"[%r1-4]", "[%r1 - 4]", "[%r1--4]", "[tile-4]"})
    EXPECT_EQ(
        message(std::string(".entry k() {\n.reg .b32 %r<3>; .shared .b8 tile[8];\nld.shared.u32 %r2, ") +
                address + ";\n}\n"),
        "test.ptx:6: an address is a base and '+' a number")
        << address;
}

/// Bodies of entries that are not wanted are skipped to their brace; device functions and headers are read.
TEST(PtxReader, SkipsBodiesThatAreNotWanted) {
  std::string const all =
      ".entry other(.param .u32 n)\n.maxntid 64\n{\n // a brace } in a comment\n /* } */ .pragma \"}\";\n"
      "{ mov.u32 {%r1, %r2}; }\n}\n.func f() {\nret;\n}\n.entry k() {\n.loc 1 2 3\nbar.sync 0;\nret;\n}\n";
  auto const is_k = [](Function const& f) { return f.name == "k"; };
  Module const m = read_module(head + all, "test.ptx", is_k);
  ASSERT_EQ(m.functions.size(), 3U);
  EXPECT_TRUE(m.functions[0].skipped);
  EXPECT_EQ(m.functions[0].name, "other");
  EXPECT_EQ(m.functions[0].params.size(), 1U);
  EXPECT_EQ(m.functions[0].maxntid[0], 64U);
  EXPECT_TRUE(m.functions[0].body.empty());
  EXPECT_FALSE(m.functions[1].skipped);
  EXPECT_EQ(m.functions[1].body.size(), 1U);
  EXPECT_FALSE(m.functions[2].skipped);
  ASSERT_EQ(m.functions[2].body.size(), 2U);
  EXPECT_EQ(m.functions[2].body[0].line, 16U);
  for (std::string const end : {"", "\"", "//", "/", "/*", "}"}) {
    std::string const open = head + ".entry other() {\n{ ret;" + end;
    EXPECT_THROW((void)read_module(open, "test.ptx", is_k), InputError) << end;
  }
}

/// Every prefix of a file ends in a module or in an error with a place.
TEST(PtxReader, EveryPrefix) {
  std::string const all = head +
                          ".shared .align 4 .b8 t[64];\n.entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.loc 1 "
                          "2 3\nL:\nld.shared.u32 %r1, [t+4];\n{ .reg .pred q; @q bra L; }\nret;\n}\n";
  std::size_t errors = 0;
  for (std::size_t n = 0; n <= all.size(); ++n) try {
      (void)read_module(all.substr(0, n), "test.ptx");
    } catch (InputError const& error) {
      ++errors;
      EXPECT_TRUE(error.message.starts_with("test.ptx:")) << error.message;
      // The end of a body that is skipped must be there, too.
      auto const none = [](Function const&) { return false; };
      if (n < all.size() - 1 && all.substr(0, n).find('{') != std::string::npos)
        EXPECT_THROW((void)read_module(all.substr(0, n), "test.ptx", none), InputError) << n;
    }
  EXPECT_GT(errors, all.size() / 2);
}

/// Error in one instruction of a kernel for this architecture; empty if it is read.
std::string error_in(std::string const& instruction, std::string const& target = "sm_90a") {
  try {
    (void)read_module(".version 9.0\n.target " + target +
                          "\n.address_size 64\n.entry k() {\n.reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 "
                          "%d<9>; .reg .b128 %q<9>;\n" +
                          instruction + "\n}\n",
                      "test.ptx");
  } catch (InputError const& error) {
    return error.what();
  }
  return "";
}

TEST(PtxReader, RefusesTypesThatPtxDoesNotHave) {
  for (std::string const wrong :
       {"st.shared.v5.u99 [%r1], {%r2, %r3, %r4, %r5, %r6};", "st.shared.v3.b32 [%r1], {%r2, %r3, %r4};",
        "st.shared.q32 [%r1], %r2;", "st.shared.b24 [%r1], %r2;", "ld.shared %r2, [%r1];",
        "st.shared.v1.b32 [%r1], %r2;", "ld.shared.v2.v2.u32 {%r2, %r3}, [%r1];", "ld.shared.f16 %h1, [%r1];",
        "ld.shared.f16x2 %r2, [%r1];", "ld.shared.pred %r2, [%r1];", "st.shared.v4.b32 [%r1], {%r2, %r3};",
        "st.shared.b32 [%r1], {%r2, %r3};", "st.shared.v4.b64 [%r1], {%d1, %d2, %d3, %d4};",
        "st.shared.v2.b128 [%r1], {%q1, %q2};", "st.v4.b64 [%d1], {%d1, %d2, %d3, %d4};",
        "atom.shared.add.u99 %r2, [%r1], %r3;", "atom.shared.exch.q32 %r2, [%r1], %r3;",
        "red.shared.add.u8 [%r1], %h1;", "red.shared.add.v4.f32 [%r1], {%r2, %r3, %r4, %r5};"})
    EXPECT_NE(error_in(wrong).find("test.ptx:6"), std::string::npos) << wrong << error_in(wrong);
  for (std::string const right :
       {"st.shared.v4.b32 [%r1], {%r2, %r3, %r4, %r5};", "ld.shared.u32.v2 {%r2, %r3}, [%r1];",
        "st.shared.b128 [%r1], %q1;", "st.shared.v8.b16 [%r1], {%h1, %h1, %h1, %h1, %h1, %h1, %h1, %h1};",
        "st.shared.v4.b8 [%r1], {%h1, %h1, %h1, %h1};", "ld.shared.s8 %h1, [%r1];",
        "atom.shared.exch.b128 %q1, [%r1], %q2;", "atom.shared.cas.b16 %h1, [%r1], %h2, %h3;",
        "red.shared.add.noftz.bf16x2 [%r1], %r2;", "red.global.add.noftz.v2.f16 [%d1], {%h1, %h2};",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r1], {%r2, %r3, %r4, %r5}, "
        "[%r6];"})
    EXPECT_EQ(error_in(right), "") << right;
}

TEST(PtxReader, TakesWideVectorsOfGlobalMemoryFromSm100) {
  std::string const wide = "v4.b64 [%d1], {%d1, %d2, %d3, %d4};";
  EXPECT_EQ(error_in("st." + wide, "sm_100a"), "");
  EXPECT_EQ(error_in("st.global." + wide, "sm_120"), "");
  EXPECT_NE(error_in("st.global." + wide, "sm_90"), "");
  EXPECT_NE(error_in("st.shared." + wide, "sm_100a"), "");
  EXPECT_NE(error_in("st.global.v8.b64 [%d1], {%d1, %d1, %d1, %d1, %d1, %d1, %d1, %d1};", "sm_100a"), "");
}

}  // namespace
}  // namespace swizproof::ptx
