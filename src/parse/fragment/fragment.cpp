// FRAGMENT: `mma.m16n8k16.f16:a`, `wgmma.m64n128k16.f16:d`, `ldmatrix.x4.trans`; PTX's and CuTe's spelling of the same.
#include "parse/fragment/fragment_words.hpp"
#include "parse/fragment/mma_atom.hpp"
#include "parse/fragment/tiled_mma.hpp"

#include <swizproof/layout/algebra.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

namespace swizproof {

namespace {

/// The fragment of one instruction.
NamedFragment fragment_of_words(FragmentWords& w) {
  bool const tensor_memory = w.words[0] == "tcgen05" && w.words.size() > 1;
  if (w.words[0] == "mma" || w.words[0] == "wgmma") return product_fragment(w);
  if (tensor_memory && w.words[1] == "mma") {
    if (w.operand == Operand::scale_a || w.operand == Operand::scale_b) return scales_in_tensor_memory(w);
    w.fail("tcgen05.mma reads its operands from shared memory and Tensor Memory: no register holds them",
           "'swizproof descriptor --for tcgen05' has the operands in shared memory; scales are in Tensor "
           "Memory: :sfa, :sfb");
  }
  bool const copies = tensor_memory && (w.words[1] == "ld" || w.words[1] == "st" || w.words[1] == "cp");
  if (copies || w.words[0] == "movmatrix" || w.words[0] == "ldmatrix" || w.words[0] == "stmatrix")
    return moved_fragment(w);
  w.unknown();
}

NamedFragment one_fragment(std::string_view text, std::optional<unsigned> element_bits) {
  FragmentWords words(text, element_bits);
  NamedFragment f = fragment_of_words(words);
  f.addend = words.operand && words.addend;
  f.notes.insert(f.notes.end(), words.notes.begin(), words.notes.end());
  return f;
}

}  // namespace

NamedFragment parse_fragment(std::string_view text, std::optional<unsigned> element_bits) {
  auto operand = parse_operand(text, element_bits);
  if (auto* const fragment = std::get_if<NamedFragment>(&operand)) return std::move(*fragment);
  throw InputError::whole(
      "this is the tile of several atoms, or of one of another kind, and one instruction is meant here",
      std::string(text), "paste the block from the line MMA_Atom on, or name the instruction");
}

std::variant<NamedFragment, TiledOperand> parse_operand(std::string_view text,
                                                        std::optional<unsigned> element_bits) {
  if (looks_like_tiled_mma(text)) return parse_tiled_mma(text, element_bits);
  if (is_of_quad_pairs(text)) return quad_pairs(text);
  return one_fragment(text, element_bits);
}

/// A thread-value layout of elements as one of their bits, which are the first mode of the values.
static Layout in_bits(Layout const& elements, unsigned bits) {
  auto const scaled = [&](auto const& self, IntTuple const& strides) -> IntTuple {
    if (!strides.is_tuple)
      return IntTuple(static_cast<std::int64_t>(static_cast<std::uint64_t>(strides.value) * bits));
    std::vector<IntTuple> modes;
    for (IntTuple const& mode : strides.modes) modes.push_back(self(self, mode));
    return IntTuple(std::move(modes));
  };
  Layout const lanes = elements.mode(0), values = elements.mode(1);
  using Modes = std::vector<IntTuple>;
  return {IntTuple(Modes{lanes.shape, IntTuple(Modes{IntTuple(std::int64_t{bits}), values.shape})}),
          IntTuple(Modes{scaled(scaled, lanes.stride),
                         IntTuple(Modes{IntTuple(1), scaled(scaled, values.stride)})})};
}

Layout parse_thread_values(Fragment const& f, std::string const& text) {
  Mapping const map = parse_mapping(text);
  auto const refuse = [&](std::string message) {
    throw InputError::whole(std::move(message), text,
                            "such as " + to_string(thread_values(f)) + ", which is CuTe's");
  };
  auto const* const layout = map.on_elements.empty() ? nullptr : std::get_if<Layout>(&map.on_elements.back());
  if (layout == nullptr || map.on_elements.size() != 1 || !map.on_bytes.empty() || layout->rank() != 2 ||
      map.element_bits)
    refuse("--tv takes a layout of two modes, (thread, value)");
  std::int64_t const threads = layout->mode(0).size(), values = layout->mode(1).size();
  if (counts_bits(f) && threads == f.threads && values == f.values) return in_bits(*layout, f.bits);
  if (threads != f.threads || values != counted_values(f))
    refuse(fmt::format("this layout has {} threads and {} values, the fragment {} and {}{}", threads, values,
                       f.threads, counted_values(f), counts_bits(f) ? " bits" : ""));
  return *layout;
}

TiledOperand parse_tiled_operand(std::string_view text, std::optional<unsigned> element_bits) {
  if (looks_like_tiled_mma(text)) return std::get<TiledOperand>(parse_tiled_mma(text, element_bits, true));
  if (is_of_quad_pairs(text)) return quad_pairs(text);
  NamedFragment const f = one_fragment(text, element_bits);
  if (!f.operand || f.of_cells || f.sparse)
    throw InputError::whole("a TiledMMA or a dense mma with its operand is meant here", std::string(text));
  TiledOperand tiled;
  tiled.operand = *f.operand;
  tiled.addend = f.addend;
  tiled.instruction = f.instruction;
  tiled.needs = f.needs;
  tiled.measured = f.measured;
  tiled.element_bits = f.fragment.bits;
  MmaAtom& atom = tiled.mma.atom;
  atom.threads = Layout{IntTuple(std::int64_t{f.fragment.threads}), IntTuple(1)};
  auto const [i, j] = modes_of(tiled.operand);
  atom.extents = {1, 1, 1};
  atom.extents[i] = is_b(f.fragment) ? f.fragment.columns : f.fragment.rows;
  atom.extents[j] = is_b(f.fragment) ? f.fragment.rows : f.fragment.columns;
  (tiled.operand == Operand::a   ? atom.a
   : tiled.operand == Operand::b ? atom.b
                                 : atom.c) = thread_values(f.fragment);
  tiled.mma = make_tiled_mma(atom, Layout{}, {});
  return tiled;
}

}  // namespace swizproof
