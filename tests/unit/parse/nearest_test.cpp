#include "parse/text/nearest.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(Nearest, NamesOneWordIfItIsNear) {
  std::string const known[] = {"ldmatrix.x4", "stmatrix.x4", "coalesce", "complement", "S"};
  EXPECT_EQ(nearest("ldmatrx.x4", known), "ldmatrix.x4");
  EXPECT_EQ(nearest("LDMATRIX.X4", known), "ldmatrix.x4") << "letters of the other case";
  EXPECT_EQ(nearest("colaesce", known), "coalesce");
  EXPECT_EQ(nearest("compliment", known), "complement");
  EXPECT_EQ(nearest("stmatirx.x4", known), "stmatrix.x4") << "two letters change places";
  EXPECT_EQ(nearest("banana", known), "");
  EXPECT_EQ(nearest("s", known), "") << "every letter may be meant";
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("coal", known), "");
  EXPECT_EQ(nearest(std::string(100000, 'x'), known), "") << "too long for a typing error";
}

TEST(Nearest, AsksOrSaysWhatIsKnown) {
  std::string const known[] = {"coalesce"};
  EXPECT_EQ(did_you_mean("coalesc", known, "known: coalesce"), "did you mean coalesce?");
  EXPECT_EQ(did_you_mean_of("coalesc", known, "known: coalesce"), "did you mean coalesce? known: coalesce");
  EXPECT_EQ(did_you_mean_of("slice", known, "known: coalesce"), "known: coalesce");
  EXPECT_EQ(did_you_mean("slice", known, "known: coalesce"), "known: coalesce");
  EXPECT_EQ(did_you_mean("coalesce", known, "it stands elsewhere"), "it stands elsewhere");
}

}  // namespace
}  // namespace swizproof
