#include <swizproof/hardware/bank.hpp>
using namespace swizproof;
#ifdef MISTAKE
Bank<std::uint32_t> b = BankWord<std::uint32_t>{33};  // a word is not its bank
#else
Bank<std::uint32_t> b = bank(BankWord<std::uint32_t>{33});
#endif
