#include <swizproof/hardware/architecture.hpp>
using namespace swizproof;
// A hardware fact that a table leaves out has no default: neither its banks, nor its shared memory, nor its compute capability, nor what its
// TMA loads and what reads through descriptors.
#ifdef MISTAKE
constexpr Architecture fresh{"sm_999", &sm_90_phases, Support::assumed, "", usual_banks, 227 * 1024,
                             0,        999,           TmaLoads::none};  // and descriptors?
#else
constexpr Architecture fresh{"sm_999", &sm_90_phases,  Support::assumed, "", usual_banks, 227 * 1024, 0,
                             999,      TmaLoads::none, OperandUnit::none};
#endif
static_assert(!fresh.name.empty());
