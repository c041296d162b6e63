#include <swizproof/hardware/bank.hpp>
using namespace swizproof;
#ifdef MISTAKE
auto b = bank(33U);  // 33 of what?
#else
auto b = bank(BankWord<std::uint32_t>{33});
#endif
