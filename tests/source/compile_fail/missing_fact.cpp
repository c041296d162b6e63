#include <swizproof/hardware/architecture.hpp>
using namespace swizproof;
// A hardware fact that a table leaves out has no default: neither its banks, nor its shared memory, nor its compute capability, nor what its
// TMA loads, what reads through descriptors and constants of its code.
#ifdef MISTAKE
constexpr Architecture fresh{"sm_999", &sm_90_phases,  Support::assumed, "", usual_banks, 227 * 1024, 0,
                             999,      TmaLoads::none, OperandUnit::none};  // and constants of its code?
#else
constexpr Architecture fresh{
    "sm_999",       &sm_90_phases,     Support::assumed, "", usual_banks, 227 * 1024, 0, 999,
    TmaLoads::none, OperandUnit::none, code_from_sm_100};
#endif
static_assert(!fresh.name.empty());
