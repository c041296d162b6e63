#include "parse/access/no_access.hpp"

#include <swizproof/core/error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace swizproof {

namespace {

/// True if the text has one of the words.
template <std::size_t N>
bool has_one_of(std::string_view text, std::array<std::string_view, N> const& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// Cost of a shared atomic in words (H14).
std::string cost_of_atomic(std::string_view name) {
  bool const swaps = has_one_of<2>(name, {".exch", ".cas"});
  bool const wide = has_one_of<3>(name, {".u64", ".s64", ".b64"});
  if (has_one_of<4>(name, {".f32", ".f16", ".bf16", ".f64"}) || (wide && !swaps))
    return "this atomic is a loop of compare-and-swap: 12 to 704 cycles were measured, and no number of "
           "wavefronts";
  std::string const lanes = " as lanes access the fullest bank, lanes at one word each (measured on an H200)";
  if (name.find(".cas") != name.npos) return "this atomic takes twice as many wavefronts" + lanes;
  return "this atomic takes as many wavefronts" + lanes +
         ": 32 if 32 lanes access one word; atomicAdd(&x, 1) whose result is not used takes 1";
}

}  // namespace

void refuse_no_access(std::string_view text) {
  auto const starts = [&](std::string_view word) { return text.starts_with(word); };
  auto const refuse = [&](std::string message, std::string hint) {
    return InputError::whole(std::move(message), std::string(text), std::move(hint));
  };
  if (starts("wgmma"))
    throw refuse(
        "wgmma has no bank conflicts: it reads operands of any layout at up to 128 bytes a cycle (measured "
        "on an "
        "H200: 640 layouts take the same time)",
        "whether it can read this tile: swizproof descriptor LAYOUT");
  if (starts("tcgen05"))
    throw refuse("tcgen05 reads operands through descriptors, not by lanes; its cost was not measured",
                 "whether it can read this tile: swizproof descriptor LAYOUT --for tcgen05");
  if (text == "tma" || text == "TMA" || starts("tma.") || starts("UTMA"))
    throw refuse(
        "the TMA is no access of a warp: its cost does not depend on lanes; warps, wgmma and bulk copies "
        "together move at most 1.07 x 128 bytes a cycle (measured on an H200)",
        "which boxes write this tile: swizproof tma LAYOUT; check the accesses that read it: --access "
        "ldmatrix.x4");
  if (starts("atom.") || starts("red.") || starts("ATOMS") || starts("atomic"))
    throw refuse(cost_of_atomic(text.substr(0, text.find(':'))),
                 "of a compiled kernel, for all warps and iterations: swizproof kernel FILE.ptx");
}

}  // namespace swizproof
