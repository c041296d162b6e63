// Fragments: the element of the tile in each register of each lane.
//
// PTX gives row and column of value i of lane l as formulas with cases; CuTe gives a thread-value layout, sums of strides.
// That the two are one function is proved for every operand of every shape, and that the lanes hold each element of the
// tile in exactly one place: where the layout is as large as the tile, and every element has a place.
#include "theorem.hpp"

#include <swizproof/analysis/fragment.hpp>

namespace swizproof::proofs {

namespace {

/// A fragment of the catalogue, and its name in a question.
struct Held {
  std::string name;
  Fragment fragment;
};

std::vector<Held> of_mma(Operand operand) {
  std::vector<Held> all;
  for (MmaShape const& shape : mma_shapes) {
    auto const add = [&](unsigned d_bits) {
      std::string name = "mma." + std::string(shape.shape) + " of " + std::to_string(shape.bits) + " bits, " +
                         letter(operand);
      if (operand == Operand::d) name += " of " + std::to_string(d_bits) + " bits";
      all.push_back({std::move(name), shape.fragment(operand, d_bits)});
    };
    add(shape.bits == 64 ? 64 : 32);
    if (operand == Operand::d && shape.bits <= 16) add(16);
  }
  return all;
}

std::vector<Held> of_wgmma() {
  std::vector<Held> all;
  for (WgmmaShape const& shape : wgmma_shapes)
    all.push_back({"wgmma A, k" + std::to_string(shape.k), shape.fragment(Operand::a, 8, 32)});
  for (unsigned const bits : {32U, 16U})
    for (unsigned n = 8; n <= 256; n += 8)
      all.push_back({"wgmma D, n" + std::to_string(n), wgmma_shapes[1].fragment(Operand::d, n, bits)});
  return all;
}

std::vector<Held> of_matrices() {
  std::vector<Held> all;
  for (InstructionName const& known : instruction_names)
    for (unsigned const bits : {4U, 8U, 16U, 32U})
      if (known.instruction.matrices != 0 && !(known.instruction.transposed && bits == 32))
        all.push_back({std::string(known.text) + " of " + std::to_string(bits) + " bits",
                       fragment_of(known.instruction, bits)});
  return all;
}

/// A false statement about a fragment.
using Wrong = Layout (*)(Fragment const&);

/// Its layout with the last mode of the values one step further, where they have one; else with the lanes' second.
Layout last_stride_doubled(Fragment const& f) {
  Layout layout = thread_values(f);
  IntTuple& values = layout.stride.modes[1];
  IntTuple& last = values.is_tuple ? values.modes.back() : values;
  if (last.value != 0)
    last.value *= 2;
  else
    layout.stride.modes[0].modes.back().value *= 2;
  return layout;
}

void add(std::vector<Claim>& claims, std::string const& name, std::string const& domain,
         std::string const& source, std::vector<Held> (*held)()) {
  auto const each = [held](auto ask_one) {
    std::vector<Question> questions;
    for (Held const& h : held()) questions.push_back(ask_one(h));
    return questions;
  };
  auto const same = [each](Wrong layout) {
    return [=] {
      return each([=](Held const& h) { return is_thread_values(h.name, h.fragment, layout(h.fragment)); });
    };
  };
  claims.push_back(
      {"fragment/" + name,
       {name + ": PTX's formulas for row and column are CuTe's thread-value layout", same(thread_values)},
       domain,
       source,
       {"with the last stride doubled", same(last_stride_doubled)}});
  claims.push_back(
      {"fragment/" + name + ", each element once",
       {name + ": every element of the tile is held in exactly one place",
        [=] {
          return each([](Held const& h) { return held_once(h.name, h.fragment, thread_values(h.fragment)); });
        }},
       domain,
       source,
       {"with a value fewer", [=] {
          return each([](Held h) {
            Layout const layout = thread_values(h.fragment);
            --h.fragment.values;
            return held_once(h.name, h.fragment, layout);
          });
        }}});
}

}  // namespace

void add_fragments(std::vector<Claim>& claims) {
  std::string const mma =
      "PTX ISA 9.1, 9.7.14.5 (matrix fragments for mma); CUTLASS mma_traits_sm75/80/89/90.hpp";
  std::string const shapes =
      "m8n8k{4,16,32,128} and m16n8k{4,8,16,32,64,128,256} of 64 to 1 bits: every lane and value";
  add(claims, "mma A", shapes, mma, [] { return of_mma(Operand::a); });
  add(claims, "mma B", shapes, mma, [] { return of_mma(Operand::b); });
  add(claims, "mma D", shapes + ", results of 64, 32 and 16 bits", mma, [] { return of_mma(Operand::d); });
  add(claims, "wgmma", "A of k8, k16, k32; D of n8, n16, .., n256: 128 threads, every value",
      "PTX ISA 9.1, 9.7.15.5.1.1 (figures); CUTLASS mma_traits_sm90_gmma.hpp", of_wgmma);
  add(claims, "ldmatrix and stmatrix",
      "x1, x2, x4, with and without .trans; elements of 4 to 32 bits: every lane and bit",
      "PTX ISA 9.1, 9.7.14.5.15 and .16; CUTLASS copy_traits_sm75.hpp and sm90.hpp", of_matrices);
}

}  // namespace swizproof::proofs
