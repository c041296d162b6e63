#include <swizproof/core/units.hpp>
using namespace swizproof;
#ifdef MISTAKE
auto a = Address<std::uint32_t>{1024} + Offset<std::uint32_t>{5};  // bytes plus elements
#else
auto a = address(Address<std::uint32_t>{1024}, Offset<std::uint32_t>{5}, 16);
#endif
