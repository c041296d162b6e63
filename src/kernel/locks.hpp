// Locks, and other waits of a lane for what another one does later: the lanes of a warp come through them one by one.
//
//   atom.cas in a loop, atom.exch behind it                  a lane that has the lock lets the next one in
//   ld.volatile in a loop until it is the lane's turn,       so does a lane that ends its turn
//   st.volatile behind it
//   a plain load likewise, unless the loop ends by what     so does a lane that writes
//   it counts: see LoopEnds
//   mbarrier.try_wait in a loop on the lane's own mbarrier,  so does a lane that arrives at the next one's
//   mbarrier.arrive behind it
//   bar.warp.sync with another mask in each lane             a lane goes on with those of its mask alone
//   a call of code that is not there                         it may do any of this
//
// A loop is no wait if all lanes of the warp come to it and leave it together, or meet at an aligned barrier in each iteration, if no write that counts may be to
// what it reads, if each lane has a lock of its own and gives back that one alone, if one lane of the warp reads, and no other one writes;
// and if a lane leaves it when an atomic gives what the lane has read before, since no lane waits there. Two ways back to one header are two
// loops. A write counts unless it is in the loop, or over before: a barrier of the block is on each way from it to the loop, and no way leads
// back to it. An instruction with a mask is no wait if all lanes of each mask come to it with the same one.
//
// Which lanes are together behind a wait is not known before they meet: at a barrier, or at an instruction for the whole warp. Until then no
// cost of several lanes is refuted (ExecutedAccess::lock), and what a lane loads or votes says nothing of the others (Leaf::apart), unless no
// write changes it meanwhile.
#pragma once

#include "executed_kernel.hpp"

namespace swizproof::kernel_detail {

/// Sets ExecutedAccess::lock and ::apart of the accesses behind waits, and Leaf::apart of the values. Starts the warps again where it
/// does. Checked by KernelLocks.*.
void mark_locks(ExecutedKernel& kernel);

}  // namespace swizproof::kernel_detail
