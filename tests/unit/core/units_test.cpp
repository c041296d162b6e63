#include <swizproof/hardware/bank.hpp>
#include <swizproof/core/units.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

static_assert(address(Address<std::uint32_t>{1024}, Offset<std::uint32_t>{5}, 16).bytes == 1034);
static_assert(address(Address<std::uint32_t>{1024}, Offset<std::uint32_t>{6}, 4).bytes == 1027);
static_assert(bank_word(Address<std::uint32_t>{0x84}).number == 33);
static_assert(bank(bank_word(Address<std::uint32_t>{0x84})).number == 1);

TEST(Units, WordsOfOneBankLie128BytesApart) {
  for (std::uint32_t a = 0; a < 4096; ++a)
    EXPECT_EQ(bank(bank_word(Address<std::uint32_t>{a})), bank(bank_word(Address<std::uint32_t>{a + 128})));
}

}  // namespace
}  // namespace swizproof
