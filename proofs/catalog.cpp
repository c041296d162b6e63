// The order of the catalogue: what a swizzle is, what it equals, what it does to banks.
#include <swizproof/claim/catalog.hpp>

#include "theorems/theorem.hpp"

namespace swizproof {

std::vector<Claim> catalog() {
  std::vector<Claim> claims;
  proofs::add_one_to_one(claims);
  proofs::add_involution(claims);
  proofs::add_linearity(claims);
  proofs::add_kept_bits(claims);
  proofs::add_masks(claims);
  proofs::add_span(claims);
  proofs::add_period(claims);
  proofs::add_recast(claims);
  proofs::add_composition(claims);
  proofs::add_formulations(claims);
#ifdef SWIZPROOF_WITH_CUTLASS
  proofs::add_cutlass(claims);
#endif
  proofs::add_characterisation(claims);
  proofs::add_moves(claims);
  proofs::add_pitch(claims);
  proofs::add_core_matrices(claims);
  proofs::add_descriptor(claims);
  proofs::add_fragments(claims);
#ifdef SWIZPROOF_WITH_CUTLASS
  proofs::add_cutlass_fragments(claims);
#endif
  proofs::add_wavefronts(claims);
  return claims;
}

}  // namespace swizproof
