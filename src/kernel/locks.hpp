// Locks: loops that the lanes of a warp leave one by one, since each of them waits for what another one writes behind the loop.
//
//   atom.cas in the loop, atom.exch behind it                a lane that has the lock lets the next one in
//   ld.volatile in the loop until it is the lane's turn,     so does a lane that ends its turn
//   st.volatile behind it
//
// Which lanes are together behind such a loop is not known before they meet at a barrier. A loop is none if all lanes of the warp
// leave it together; if no lane writes what it reads but in the loop, in front of it, or behind a barrier; if each lane has a lock of its own
// and gives back that one alone; if one lane of the warp reads, and no other one writes; and if a lane leaves it when an atomic gives what
// the lane has read before, since no lane waits there. Two ways back to one header are two loops.
#pragma once

#include "executed_kernel.hpp"

namespace swizproof::kernel_detail {

/// Sets ExecutedAccess::lock and ::apart of the accesses behind locks. Checked by KernelLocks.*.
void mark_locks(ExecutedKernel& kernel);

}  // namespace swizproof::kernel_detail
