// Locks: loops that the lanes of a warp leave one by one, since each of them waits for what another one writes behind the loop.
//
//   atom.cas in the loop, atom.exch behind it                a lane that has the lock lets the next one in
//   ld.volatile in the loop until it is the lane's turn,     so does a lane that ends its turn
//   st.volatile behind it
//
// Which lanes are together behind such a loop is not known before they meet at a barrier. They may be together behind
// other loops: where what ends them is data; where lanes read one address, and compare it with one number; where each has a lock of
// its own; and where a compare-and-swap takes what the iteration before has read, since no lane waits there.
#pragma once

#include "executed_kernel.hpp"

namespace swizproof::kernel_detail {

/// Sets ExecutedAccess::lock and ::apart of the accesses behind locks. Checked by KernelLocks.*.
void mark_locks(ExecutedKernel& kernel);

}  // namespace swizproof::kernel_detail
