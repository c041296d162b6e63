#include <swizproof/hardware/bank.hpp>
using namespace swizproof;
#ifdef MISTAKE
auto w = word(Offset<std::uint32_t>{5});  // an element offset has no bank word
#else
auto w = word(Address<std::uint32_t>{20});
#endif
