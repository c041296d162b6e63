// Names that are no access of a warp's lanes: the message has the cost, the hint the command to use.
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(NoAccess, SaysWhatItCosts) {
  struct Case {
    char const *text, *message, *hint;
  };
  for (Case const& c : {Case{"wgmma", "640 layouts", "swizproof descriptor"},
                        Case{"wgmma.mma_async.sync.aligned.m64n128k16", "128 bytes a cycle", "descriptor"},
                        Case{"tcgen05.mma", "not measured", "--for tcgen05"},
                        Case{"tma", "1.07 x 128 bytes a cycle", "swizproof tma"},
                        Case{"atom.shared.add.u32", "as many wavefronts as lanes", "swizproof kernel"},
                        Case{"atom.shared.add.u32: row = 0, col = lane", "32 if 32 lanes", "kernel"},
                        Case{"atom.shared.exch.b64", "as many wavefronts as lanes", "kernel"},
                        Case{"atom.shared.cas.b32", "twice as many", "kernel"},
                        Case{"red.shared.add.f32", "12 to 704 cycles", "kernel"},
                        Case{"atom.shared.add.u64", "12 to 704 cycles", "kernel"}}) {
    try {
      (void)parse_access(c.text);
      ADD_FAILURE() << c.text;
    } catch (InputError const& error) {
      EXPECT_NE(error.message.find(c.message), std::string::npos) << c.text << ": " << error.message;
      EXPECT_NE(error.hint.find(c.hint), std::string::npos) << c.text << ": " << error.hint;
    }
  }
}

}  // namespace
}  // namespace swizproof
