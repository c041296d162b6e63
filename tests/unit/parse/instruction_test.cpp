// Instructions by the names of PTX, SASS and CUTLASS: each is one of the table.
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(InstructionNames, OfPtxSassAndCutlassAreThoseOfTheTable) {
  struct Spelling {
    char const *text, *name;
  };
  for (Spelling const& s : {
           Spelling{"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.x4"},
           {"ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16", "ldmatrix.x2.trans"},
           {"ldmatrix.sync.aligned.x1.m8n8.shared.b16 {%r1}, [%r2];", "ldmatrix.x1"},
           {"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r1], {%r2, %r3, %r4, %r5};",
            "stmatrix.x4.trans"},
           {"LDSM.16.M88.4", "ldmatrix.x4"},
           {"LDSM.16.MT88.4", "ldmatrix.x4.trans"},
           {"LDSM.16.M88.2 R4, [R3]", "ldmatrix.x2"},
           {"LDSM.16.M88", "ldmatrix.x1"},
           {"STSM.16.MT88.4", "stmatrix.x4.trans"},
           {"LDSM.x4", "ldmatrix.x4"},
           {"LDSM.T.x4", "ldmatrix.x4.trans"},
           {"STSM.x2", "stmatrix.x2"},
           {"LDS", "ld.shared.b32"},
           {"LDS.U8", "ld.shared.b8"},
           {"LDS.S16", "ld.shared.b16"},
           {"LDS.64", "ld.shared.b64"},
           {"LDS.128", "ld.shared.b128"},
           {"LDS.U.128 R4, [R3+0x10]", "ld.shared.b128"},
           {"STS", "st.shared.b32"},
           {"STS.64", "st.shared.b64"},
           {"LDGSTS.E.BYPASS.128", "cp.async.b128"},
           {"LDGSTS.E.BYPASS.LTC128B.128.ZFILL", "cp.async.b128"},
           {"LDGSTS.E.64", "cp.async.b64"},
           {"LDGSTS.E", "cp.async.b32"},
           {"ld.shared.f32", "ld.shared.b32"},
           {"ld.shared.u8", "ld.shared.b8"},
           {"ld.shared.v4.f32", "ld.shared.b128"},
           {"ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];", "ld.shared.b128"},
           {"ld.shared.v2.u32", "ld.shared.b64"},
           {"ld.shared.v4.u16", "ld.shared.b64"},
           {"ld.shared.v2.b64", "ld.shared.b128"},
           {"ld.volatile.shared.f64", "ld.shared.b64"},
           {"ld.relaxed.cta.shared::cta.b32", "ld.shared.b32"},
           {"st.shared.v4.b32", "st.shared.b128"},
           {"st.shared.bf16x2", "st.shared.b32"},
           {"cp.async.cg.shared.global", "cp.async.b128"},
           {"cp.async.cg.shared.global [%r1], [%rd1], 16;", "cp.async.b128"},
           {"cp.async.cg.shared::cta.global.L2::128B [%0], [%1], 16, %2;", "cp.async.b128"},
           {"cp.async.ca.shared.global [%r1], [%rd1], 4", "cp.async.b32"},
           {"cp.async.ca.shared.global 8", "cp.async.b64"},
           {"SM75_U32x4_LDSM_N", "ldmatrix.x4"},
           {"cute::SM75_U16x8_LDSM_T", "ldmatrix.x4.trans"},
           {"SM75_U16x2_LDSM_T", "ldmatrix.x1.trans"},
           {"SM90_U32x4_STSM_N", "stmatrix.x4"},
           {"SM90_U16x4_STSM_T{}", "stmatrix.x2.trans"},
           {"Copy_Atom<SM75_U32x4_LDSM_N, half_t>", "ldmatrix.x4"},
           {"Copy_Atom<SM75_U16x8_LDSM_T>{}", "ldmatrix.x4.trans"},
           {"/*0fe0*/  @!P0 LDSM.16.M88.4 R4, [R2+0x10] ;", "ldmatrix.x4"},
           {"@%p1 ld.shared.v2.f32", "ld.shared.b64"},
           {"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "cp.async.b128"},
           {"SM80_CP_ASYNC_CACHEALWAYS<float>", "cp.async.b32"},
           {"SM80_CP_ASYNC_CACHEALWAYS_ZFILL<cute::uint64_t>", "cp.async.b64"},
           {"Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<cute::uint128_t>, cutlass::half_t>", "cp.async.b128"},
       })
    EXPECT_EQ(name(parse_instruction(s.text)), s.name) << s.text;
}

// ptxas 13.0 compiles every vector of shared memory, for sm_75 to sm_120, to one instruction of all its bytes.
TEST(InstructionNames, OfVectorsAreWhatPtxasMakesOfThem) {
  struct Compiled {
    char const *type, *alone, *pair, *four;  ///< suffixes of LDS and STS; none: 16 bytes at most
  };
  for (Compiled const& c : {Compiled{"u8", ".U8", ".U16", ""},
                            {"s8", ".S8", ".S16", ""},
                            {"u16", ".U16", "", ".64"},
                            {"b32", "", ".64", ".128"},
                            {"f32", "", ".64", ".128"},
                            {"b64", ".64", ".128", nullptr}})
    for (bool const store : {false, true})
      for (auto const& [vector, sass] : {std::pair{"", c.alone}, {".v2", c.pair}, {".v4", c.four}}) {
        if (sass == nullptr) continue;
        std::string const ptx = std::string(store ? "st" : "ld") + ".shared" + vector + "." + c.type;
        EXPECT_EQ(parse_instruction(ptx), parse_instruction(std::string(store ? "STS" : "LDS") + sass))
            << ptx;
      }
}

TEST(InstructionNames, WhatIsNoAccessToSharedMemoryIsRefusedWithTheReason) {
  struct Refused {
    char const *text, *message;
  };
  for (Refused const& r : {
           Refused{"UniversalCopy<uint128_t>", "UniversalCopy<uint128_t> copies between any two memories"},
           {"AutoVectorizingCopyWithAssumedAlignment<128>", "names no instruction of shared memory"},
           {"DefaultCopy", "names no instruction of shared memory"},
           {"SM90_TMA_LOAD", "a bulk copy is no access of a warp"},
           {"cp.async.bulk.tensor.2d.shared::cluster.global", "a bulk copy is no access of a warp"},
           {"cp.async.ca.shared.global", "the number of bytes is missing"},
           {"cp.async.cg.shared.global 8", "cp.async.cg copies 16 bytes, and this says 8"},
           {"SM80_CP_ASYNC_CACHEGLOBAL<float>", "copies 16 bytes, and float has 4"},
           {"SM80_CP_ASYNC_CACHEGLOBAL", "the type that SM80_CP_ASYNC_CACHEGLOBAL copies is missing"},
           {"SM75_U32x3_LDSM_N", "unknown copy atom SM75_U32x3_LDSM_N"},
           {"ld.global.v4.f32", "ld.global.v4.f32 does not access shared memory"},
           {"ld.v4.f32", "ld.v4.f32 names no state space"},
           {"ld.shared", "the type is missing"},
           {"ld.shared.v4.f64", "at most 16 bytes of shared memory at once, and this is 32"},
           {"ld.shared.v4.f33", "'f33' is not known behind ld"},
           {"ldmatrix.sync.aligned.m8n8.shared.b16", "the number of matrices is missing"},
           {"ldmatrix.sync.aligned.m16n16.x1.shared.b8", "no such matrices of bytes: ldmatrix.m16n16.x1.b8"},
           {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b16", "'b16' is not known behind ldmatrix"},
           {"LDS.256", "'256' is not known behind LDS"},
           {"LDSM.16.4", "the shape of the matrices is missing"},
           {"LDG.E.128", "LDG is no access of a warp to shared memory"},
           {"ld.shared.b32 and more", "unexpected text after the instruction"},
           {"mov.b32", "unknown instruction"},
           {"ldmatrix.x4.trans.trans", "'trans' is given twice"},
           {"", "unknown instruction"},
       })
    try {
      (void)parse_instruction(r.text);
      ADD_FAILURE() << "accepted: " << r.text;
    } catch (InputError const& error) {
      EXPECT_NE(error.message.find(r.message), std::string::npos) << r.text << ": " << error.message;
    }
}

TEST(InstructionNames, StandBeforeAColonOrForTheirPattern) {
  EXPECT_EQ(parse_access("ld.shared::cta.v4.f32: row = lane, col = 0").instruction,
            parse_instruction("ld.shared.b128"));
  EXPECT_EQ(parse_access("cute::SM75_U32x4_LDSM_N: row = lane%16, byte = 16*(lane/16)").instruction,
            parse_instruction("ldmatrix.x4"));
  EXPECT_EQ(parse_access("LDSM.16.M88.4").name, "ldmatrix.x4");
  EXPECT_EQ(parse_access("SM90_U32x4_STSM_N").name, "stmatrix.x4");
  EXPECT_EQ(parse_access("Copy_Atom<SM75_U32x4_LDSM_N, half_t>").name, "ldmatrix.x4");
  EXPECT_EQ(parse_access("@P0 LDSM.16.MT88.4 R4, [R2]").name, "ldmatrix.x4.trans");
  try {
    (void)parse_access("LDS.128");
    ADD_FAILURE();
  } catch (InputError const& error) {
    EXPECT_EQ(error.message, "what each lane accesses is missing: ld.shared.b128 has no pattern of its own");
  }
}

TEST(InstructionNames, TheNearestIsNamed) {
  struct Near {
    char const *text, *hint;
  };
  for (Near const& n : {Near{"ldmatrx.x4", "did you mean ldmatrix.x4?"},
                        {"SM75_U32x4_LSDM_N", "did you mean SM75_U32x4_LDSM_N?"},
                        {"copy.row12", "did you mean copy.row128?"},
                        {"ld.shraed.b32", "did you mean shared?"},
                        {"ldmatrix.x4.tran", "did you mean trans?"}})
    try {
      (void)parse_access(n.text);
      ADD_FAILURE() << "accepted: " << n.text;
    } catch (InputError const& error) {
      EXPECT_EQ(error.hint, n.hint) << n.text;
    }
}

}  // namespace
}  // namespace swizproof
