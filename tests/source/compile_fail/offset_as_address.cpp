#include <swizproof/hardware/bank.hpp>
using namespace swizproof;
#ifdef MISTAKE
auto w = bank_word(Offset<std::uint32_t>{5});  // an element offset has no bank word
#else
auto w = bank_word(Address<std::uint32_t>{20});
#endif
