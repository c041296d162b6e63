// Movers of shared memory that are no access of a warp's lanes: wgmma, the TMA, atomics.
#pragma once

#include <string_view>

namespace swizproof {

/// Throws InputError for such a name, with what it costs where that is known and the command that answers for it; does nothing for others.
/// `atom.shared.add.u32`: as many wavefronts as lanes access the fullest bank. Checked by NoAccess.SaysWhatItCosts.
void refuse_no_access(std::string_view text);

}  // namespace swizproof
