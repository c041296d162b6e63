#include <swizproof/sass/module.hpp>

#include <gtest/gtest.h>

#include <string>

namespace swizproof::sass {
namespace {

using Kind = Operand::Kind;

/// A dump of one kernel with these lines.
std::string dump(std::string const& lines, std::string const& target = "sm_90") {
  return "\t.target\t" + target +
         "\n\n\t.section\t.text.k,\"ax\",@progbits\n\t.align\t128\n.text.k:\n"
         "        .type           k,@function\n        .other          k,@\"STO_CUDA_ENTRY "
         "STV_DEFAULT\"\nk:\n" +
         lines + "        /*ff00*/                   EXIT ;\n";
}
Instruction first(std::string const& line) {
  static Module kept;
  kept = read_module(dump("        /*0000*/                   " + line + "\n"), "a.sass");
  return kept.functions.at(0).body.at(0);
}
std::string message(std::string const& text) {
  try {
    (void)read_module(text, "a.sass");
  } catch (InputError const& e) {
    return e.message;
  }
  return {};
}

TEST(SassReader, OperandsOfEveryKind) {
  Instruction const i =
      first("@!P3 IADD3.X R6, P0, ~R5.reuse, -UR8, |R7|, !PT, c[0x0][0x210], -0x10, SR_TID.X, 0.5, B0 ;");
  EXPECT_EQ(i.opcode, "IADD3.X");
  EXPECT_EQ(i.guard, Kind::predicate);
  EXPECT_TRUE(i.guard_negated);
  EXPECT_EQ(i.guard_reg, 3);
  ASSERT_EQ(i.operands.size(), 11U);
  EXPECT_EQ(i.operands[0].kind, Kind::reg);
  EXPECT_EQ(i.operands[0].reg, 6);
  EXPECT_EQ(i.operands[1].kind, Kind::predicate);
  EXPECT_TRUE(i.operands[2].inverted);
  EXPECT_FALSE(i.operands[2].suffixed);
  EXPECT_EQ(i.operands[3].kind, Kind::uniform);
  EXPECT_TRUE(i.operands[3].negative);
  EXPECT_TRUE(i.operands[4].absolute);
  EXPECT_EQ(i.operands[5].reg, no_register);
  EXPECT_TRUE(i.operands[5].negated);
  EXPECT_EQ(i.operands[6].kind, Kind::constant);
  EXPECT_EQ(i.operands[6].value, 0x210U);
  EXPECT_EQ(i.operands[7].value, static_cast<std::uint64_t>(-16));
  EXPECT_EQ(i.operands[8].kind, Kind::special);
  EXPECT_FALSE(i.operands[8].suffixed);
  EXPECT_EQ(i.operands[9].kind, Kind::number);
  EXPECT_EQ(i.operands[10].kind, Kind::other);
}

TEST(SassReader, Addresses) {
  Operand const shared = first("LDS R4, [R2.X4+UR4+-0x100] ;").operands[1];
  EXPECT_EQ(shared.kind, Kind::memory);
  EXPECT_EQ(shared.reg, 2);
  EXPECT_EQ(shared.uniform, 4);
  EXPECT_EQ(shared.scale, 4);
  EXPECT_EQ(shared.value, static_cast<std::uint64_t>(-256));
  Operand const global = first("LDG.E R4, desc[UR6][R2.64+0x8] ;").operands[1];
  EXPECT_TRUE(global.wide);
  EXPECT_EQ(global.reg, 2);
  EXPECT_EQ(global.uniform, no_register);
  EXPECT_EQ(global.value, 8U);
  EXPECT_EQ(first("HGMMA.64x16x16.F32 R24, gdesc[UR8], R24 ;").operands[1].uniform, 8);
  EXPECT_EQ(first("LDC R4, c[0x3][R2+0x10] ;").operands[1].bank, 3);
  EXPECT_TRUE(first("LDS R4, [R2+R3] ;").operands[1].suffixed) << "two registers are no address that is read";
}

TEST(SassReader, LabelsAndTargets) {
  Module const m = read_module(
      dump("        /*0000*/              @P0 BRA `(.L_x_1) ;\n"
           "        /*0010*/                   BRX R4 -0x20      (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*);\n"
           ".L_x_1:\n        /*0020*/                   NOP ;\n.L_x_2:\n"),
      "a.sass");
  Function const& f = m.functions.at(0);
  EXPECT_TRUE(f.entry);
  EXPECT_EQ(m.arch, 90U);
  EXPECT_EQ(f.labels.at(".L_x_1"), 2U);
  EXPECT_EQ(f.labels.at(".L_x_2"), 3U);
  ASSERT_EQ(f.body[1].targets.size(), 2U);
  EXPECT_EQ(f.body[1].targets[1], ".L_x_2");
}

TEST(SassReader, LinesOfTheSource) {
  Module const m =
      read_module(dump("\t//## File \"/a/b.cu\", line 7 inlined at \"/a/c.cu\", line 9\n"
                       "\t//## File \"/a/c.cu\", line 9\n"
                       "        /*0000*/                   NOP ;                /* 0x0000000000007918 */\n"
                       "                                                       /* 0x000fc00000000000 */\n"),
                  "a.sass");
  Instruction const& i = m.functions.at(0).body.at(0);
  ASSERT_GE(i.location, 0);
  ptx::Location const inner = m.source.locations.at(static_cast<std::size_t>(i.location));
  EXPECT_EQ(m.source.files.at(inner.file), "/a/b.cu");
  EXPECT_EQ(inner.line, 7U);
  ptx::Location const outer = m.source.locations.at(static_cast<std::size_t>(inner.inlined_at));
  EXPECT_EQ(outer.line, 9U);
  EXPECT_EQ(outer.inlined_at, -1);
}

TEST(SassReader, OlderToolkitsNameTheArchitectureInTheFlags) {
  std::string text = dump("        /*0000*/                   NOP ;\n");
  constexpr std::string_view target = "\t.target\tsm_90";
  ASSERT_NE(text.find(target), text.npos);
  text.replace(text.find(target), target.size(),
               "\t.headerflags\t@\"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90 "
               "EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)\"");
  EXPECT_TRUE(is_sass(text.substr(0, text.find("\n") + 1))) << "the code may stand far behind";
  EXPECT_EQ(read_module(text, "a.sass").arch, 90U);
  EXPECT_EQ(read_module(text, "a.sass").target, "sm_90");
}

TEST(SassReader, RefusesWithThePlace) {
  EXPECT_EQ(message(dump("        /*0000*/                   NOP\n")),
            "a.sass:9: the instruction does not end with a semicolon: the dump is cut off");
  EXPECT_EQ(message(dump("        garbage here\n")),
            "a.sass:9: this line is neither an instruction nor a label nor a directive");
  EXPECT_EQ(message(dump("        /*0000*/                   BRA `(.L_x_9) ;\n")),
            "a.sass:9: this label is not defined in the kernel");
  EXPECT_EQ(message(dump("        /*0010*/ NOP ;\n        /*0010*/ NOP ;\n")),
            "a.sass:10: addresses do not ascend");
  EXPECT_EQ(message(dump("", "sm_52")), "a.sass:1: this architecture has other instructions");
  EXPECT_EQ(message("\t.target\tsm_90\n"), "no section of code (.text.NAME) is in this dump");
  EXPECT_EQ(message(dump(".L_x_1:\n.L_x_1:\n")), "a.sass:10: this label is already defined");
}

TEST(SassReader, KnowsItsFiles) {
  EXPECT_TRUE(is_sass(dump("")));
  EXPECT_TRUE(is_sass("\n\tcode for sm_90a\n\t\tFunction : k\n"));
  EXPECT_FALSE(is_sass(".version 8.0\n.target sm_90\n.entry k() {}\n"));
}

/// The sections of a kernel `k` that nvdisasm prints without -c, with these attributes and lines of .nv.shared.
std::string whole_dump(std::string const& attributes, std::string const& shared,
                       std::string const& head = {}) {
  return "\t.target\tsm_90\n" + head +
         "\t.section\t.nv.info.k,\"\",@\"SHT_CUDA_INFO\"\n\t.sectionflags\t@\"\"\n" + attributes +
         dump("        /*0000*/                   NOP ;\n") + shared +
         "\t.section\t.nv.constant0.k,\"a\",@progbits\n.nv.constant0.k:\n\t.zero\t\t552\n";
}
std::string attribute(std::string const& name, std::string const& data) {
  return "\n\t//----- nvinfo : EIATTR_" + name +
         "\n\t.align\t\t4\n.L_7:\n        /*0008*/ \t.byte\t0x04, 0x17\n" +
         "        /*000a*/ \t.short\t(.L_9 - .L_8)\n.L_8:\n" + data;
}
std::string words(std::vector<std::string> const& all) {
  std::string text;
  for (std::string const& w : all) text += "        /*000c*/ \t.word\t" + w + "\n";
  return text;
}
std::string const shared_section =
    "\t.section\t.nv.shared.k,\"aw\",@nobits\n\t.align\t16\n.nv.shared.k:\n\t.zero\t\t5328\n";

TEST(SassReader, FactsOfLaunches) {
  // The second parameter comes first, as ptxas writes them.
  std::string const parameters =
      attribute("KPARAM_INFO", words({"0x00000000"}) +
                                   "\t.short\t0x0001\n\t.short\t0x0008\n\t.byte\t0x00, 0xf0, 0x41, 0x00\n") +
      attribute("KPARAM_INFO_V2", words({"0x00000000"}) +
                                      "\t.short\t0x0000\n\t.short\t0x0000\n\t.short\t0x0004\n\t.zero\t\t2\n");
  Module const m =
      read_module(whole_dump(parameters + attribute("REQNTID", words({"0x20", "0x4", "0x2"})) +
                                 attribute("MAX_THREADS", words({"0x100", "0x1", "0x1"})) +
                                 attribute("PARAM_CBANK", words({"index@(.nv.constant0.k)"}) +
                                                              "\t.short\t0x0210\n\t.short\t0x0018\n"),
                             shared_section),
                  "a.sass");
  LaunchFacts const& facts = m.functions.at(0).facts;
  EXPECT_TRUE(facts.known && facts.listed);
  EXPECT_EQ(facts.reqntid, (std::array<std::uint32_t, 3>{32, 4, 2}));
  EXPECT_EQ(facts.maxntid, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(facts.parameter_base, 0x210U);
  EXPECT_EQ(facts.shared_bytes, 5328U);
  EXPECT_EQ(facts.shared_align, 16U);
  ASSERT_EQ(facts.parameters.size(), 2U);
  EXPECT_EQ(facts.parameters[0].bytes, 4U);
  EXPECT_EQ(facts.parameters[1].offset, 8U);
  EXPECT_EQ(facts.parameters[1].bytes, 16U);
  EXPECT_TRUE(m.notes.empty());
  std::string const calls = attribute("EXTERNS", words({"index@(vprintf)", "index@(__assertfail)"})) +
                            attribute("SYSCALL_OFFSETS", words({"0x000001c0", "0x00000520"}));
  LaunchFacts const of_calls = read_module(whole_dump(calls, ""), "a.sass").functions.at(0).facts;
  EXPECT_EQ(of_calls.externs, (std::vector<std::string>{"vprintf", "__assertfail"}));
  EXPECT_EQ(of_calls.system_calls, (std::vector<std::uint32_t>{0x1c0, 0x520}));
}

TEST(SassReader, FactsThatADumpLacks) {
  EXPECT_FALSE(read_module(dump(""), "a.sass").functions.at(0).facts.known) << "a dump of -c";
  auto const facts = [](std::string const& text) {
    return read_module(text, "a.sass").functions.at(0).facts;
  };
  EXPECT_EQ(facts(whole_dump("", "")).shared_bytes, 0x400U) << "a kernel without shared memory of its own";
  std::string const cut = whole_dump("", "");
  EXPECT_FALSE(facts(cut.substr(0, cut.find("\t.section\t.nv.constant0"))).shared_bytes)
      << "cut off behind the code";
  EXPECT_FALSE(facts(whole_dump("", shared_section, "\t.elftype\t@\"ET_REL\"\n")).shared_bytes)
      << "functions that it calls are not linked yet";
  Module const gap = read_module(
      whole_dump(
          attribute("KPARAM_INFO",
                    words({"0x0"}) + "\t.short\t0x0001\n\t.short\t0x0008\n\t.byte\t0x00, 0xf0, 0x41, 0x00\n"),
          shared_section),
      "a.sass");
  EXPECT_FALSE(gap.functions.at(0).facts.listed);
  ASSERT_EQ(gap.notes.size(), 1U);
  EXPECT_EQ(
      gap.notes[0],
      "a.sass: the list of parameters of k has gaps and is left out: parameters are those that it reads");
}

TEST(SassReader, RefusesFactsThatAreCutOff) {
  EXPECT_EQ(message(whole_dump(attribute("REQNTID", words({"0x20"})), shared_section)),
            "a.sass:14: EIATTR_REQNTID has too few bytes: the dump is cut off");
  EXPECT_EQ(message(whole_dump(attribute("REQNTID", words({"0x20", "0x0", "0x1"})), shared_section)),
            "a.sass:16: EIATTR_REQNTID has a block without threads");
  EXPECT_EQ(message(whole_dump("", "\t.section\t.nv.shared.k,\"aw\",@nobits\n\t.zero\t\tmany\n")),
            "a.sass:15: this size of shared memory is not read");
}

}  // namespace
}  // namespace swizproof::sass
