#include "parse/fragment/mma_atom.hpp"

#include "parse/fragment/blackwell_atom.hpp"
#include "parse/text/scanner.hpp"

#include <swizproof/hardware/element.hpp>
#include <swizproof/hardware/quad_pairs.hpp>
#include <swizproof/parse/parse.hpp>

#include <optional>

namespace swizproof {

namespace {

[[noreturn]] void refuse_mma_atom(std::string message, std::string_view name, std::string hint = {}) {
  throw InputError::whole(std::move(message), std::string(name), std::move(hint));
}

/// `(shape):(stride)` of modes, nested once at most: {{8, 1}, {4, 8}}.
struct AtomMode {
  std::vector<std::int64_t> extents, strides;
};
Layout layout_of_modes(std::vector<AtomMode> const& modes) {
  std::vector<Layout> layouts;
  for (AtomMode const& mode : modes) {
    std::vector<IntTuple> const shape(mode.extents.begin(), mode.extents.end());
    std::vector<IntTuple> const stride(mode.strides.begin(), mode.strides.end());
    layouts.push_back(shape.size() == 1 ? Layout{shape[0], stride[0]}
                                        : Layout{IntTuple(shape), IntTuple(stride)});
  }
  return layouts.size() == 1 ? layouts[0] : make_layout(layouts);
}

/// One thread has a whole matrix: (1,(rows,columns)):(0,(1,rows)).
Layout whole_matrix(std::int64_t threads, std::int64_t rows, std::int64_t columns) {
  return layout_of_modes({{{threads}, {0}}, {{rows, columns}, {1, rows}}});
}

/// UniversalFMA, SM61_DP4A and SM61_DP2A: a thread multiplies 1, 4 or 2 elements.
std::optional<NamedAtom> of_thread(std::string_view name) {
  std::int64_t k = 0;
  NamedAtom found;
  if (name == "SM61_DP4A" || name == "SM61_DP2A") {
    k = name == "SM61_DP4A" ? 4 : 2;
    found.instruction = k == 4 ? "dp4a" : "dp2a";
    found.needs = "sm_61";
    found.bits = {k == 4 ? 8U : 16U, k == 4 ? 8U : 16U, 32};
  } else if (name == "SM100_2x1x1_F32F32F32F32" || name == "SM100_1x2x1_F32F32F32F32") {
    bool const m = name[6] == '2';
    found.instruction = "fma.rn.f32x2";
    found.needs = "sm_100";
    found.atom.threads = layout_of_modes({{{1}, {0}}});
    found.atom.extents = {m ? 2 : 1, m ? 1 : 2, 1};
    found.atom.a = layout_of_modes({{{1}, {0}}, {{m ? 2 : 1}, {1}}});
    found.atom.b = layout_of_modes({{{1}, {0}}, {{m ? 1 : 2}, {1}}});
    found.atom.c = layout_of_modes({{{1}, {0}}, {{2}, {1}}});
    found.bits = {32, 32, 32};
    return found;
  } else if (name.starts_with("UniversalFMA")) {
    k = 1;
    std::vector<std::string> types = template_arguments(name);
    if (types.empty() && name == "UniversalFMA") types = {"float"};
    if (types.empty() || types.size() > 4) refuse_mma_atom("UniversalFMA has one to four types", name);
    while (types.size() < 4) types.push_back(types.size() == 3 ? types[0] : types.back());
    for (std::size_t i = 0; i < 3; ++i) {
      ElementType const* const type = element_type(types[i + 1]);
      found.bits[i] = type == nullptr ? 0 : type->bits;
    }
  } else {
    return std::nullopt;
  }
  found.atom.threads = layout_of_modes({{{1}, {0}}});
  found.atom.extents = {1, 1, k};
  found.atom.a = found.atom.b = layout_of_modes({{{1}, {0}}, {{k}, {1}}});
  found.atom.c = layout_of_modes({{{1}, {0}}, {{1}, {0}}});
  return found;
}

/// The types and orders of sm_70's mma.m8n8k4 of f16.
std::optional<QuadPairs> of_quad_pairs(std::string_view name) {
  for (char const* order : {"TN", "NT", "NN", "TT"})
    for (bool const f32 : {false, true})
      if (name == std::string("SM70_8x8x4_") + (f32 ? "F32F16F16F32_" : "F16F16F16F16_") + order)
        return QuadPairs{order[0] == 'T', order[1] == 'N', f32};
  std::vector<std::string> words, orders, types;
  for (std::size_t from = 0; from <= name.size();) {
    std::size_t const end = std::min(name.find('.', from), name.size());
    std::string const word(name.substr(from, end - from));
    from = end + 1;
    if (word == "row" || word == "col")
      orders.push_back(word);
    else if (word == "f16" || word == "f32")
      types.push_back(word);
    else if (word != "sync" && word != "aligned")
      words.push_back(word);
  }
  if (words != std::vector<std::string>{"mma", "m8n8k4"} || types.empty()) return std::nullopt;
  if (orders.empty()) orders = {"row", "col"};
  bool const one = types.size() == 1 && types[0] == "f16";
  if (orders.size() != 2 || !(one || (types.size() == 4 && types[1] == "f16" && types[2] == "f16")))
    return std::nullopt;
  if (!one && types[0] != types[3])
    refuse_mma_atom(
        "C and D have one type in every mma that is modelled, and these are " + types[3] + " and " + types[0],
        name, "the types are those of D, A, B and C");
  return QuadPairs{orders[0] == "row", orders[1] == "col", one || types[0] == "f32"};
}

/// [PTX ISA 9.1, 9.7.14.5.1; CUTLASS 4.7, mma_traits_sm70.hpp] Lanes 4q..4q+3 and 4q+16..4q+19 compute product q of four.
NamedAtom quad_pair_atom(QuadPairs const& of) {
  Layout const along = layout_of_modes({{{8}, {1}}, {{4}, {8}}});
  Layout const across = layout_of_modes({{{4, 2}, {8, 4}}, {{4}, {1}}});
  NamedAtom found;
  found.atom.threads = layout_of_modes({{{4, 2}, {1, 16}}});
  found.atom.extents = {8, 8, 4};
  found.atom.a = of.a_row ? along : across;
  found.atom.b = of.b_col ? along : across;
  found.atom.c = of.f32 ? layout_of_modes({{{2, 2, 2}, {1, 16, 4}}, {{2, 2, 2}, {8, 2, 32}}})
                        : layout_of_modes({{{8}, {1}}, {{8}, {8}}});
  std::string const d = of.f32 ? "f32" : "f16";
  found.instruction = std::string("mma.m8n8k4.") + (of.a_row ? "row." : "col.") +
                      (of.b_col ? "col." : "row.") + d + ".f16.f16." + d;
  found.needs = "sm_70";
  found.measured = true;
  found.bits = {16, 16, of.f32 ? 32U : 16U};
  return found;
}

/// tcgen05.mma by CuTe's name: one thread has the whole tile, of a pair of blocks each a half.
NamedAtom of_tensor_memory(std::string_view name) {
  std::string_view const head = name.substr(0, name.find('<'));
  bool const ultra = head.starts_with("SM103_MXF4_ULTRA");
  auto const has = [&](std::string_view word) { return head.find(word) != head.npos; };
  if (has("INTERLEAVED") || has("_ws")) refuse_mma_atom("this atom is not modelled", name);
  std::vector<std::string> const arguments = template_arguments(name);
  std::vector<std::int64_t> extents;
  for (std::string const& argument : arguments)
    if (!argument.empty() && argument.find_first_not_of("0123456789") == argument.npos && argument.size() < 5)
      extents.push_back(std::stoll(argument));
  if (extents.size() < 2)
    refuse_mma_atom(
        "the template arguments of this atom are missing", name,
        "such as SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 64, UMMA::Major::K, UMMA::Major::K>");
  bool const pair = has("2x1SM"), sparse = has("SPARSE");
  std::int64_t const m = extents[0], n = extents[1];
  std::int64_t const bits = has("TF32") ? 32 : has("F16BF16") ? 16 : has("MXF4") ? 4 : 8;
  std::int64_t const k = ultra ? 96 : 256 / bits * (sparse ? 2 : 1);
  if (m < 1 || n < 1 || m > 256 || n > 512) refuse_mma_atom("M is at most 256, N at most 512 here", name);
  NamedAtom found;
  found.instruction = "tcgen05.mma";
  found.needs = ultra ? "sm_103a" : "sm_100a";
  found.atom.threads = layout_of_modes({{{pair ? 2 : 1}, {pair ? 1 : 0}}});
  found.atom.extents = {m, n, k};
  auto const operand = [&](std::int64_t rows, std::int64_t columns) {
    if (!pair) return whole_matrix(1, rows, columns);
    return layout_of_modes({{{2}, {rows / 2}}, {{rows / 2, columns}, {1, rows}}});
  };
  found.atom.a = operand(m, k), found.atom.b = operand(n, k), found.atom.c = operand(m, n);
  return found;
}

/// A of a sparse atom as CuTe counts it: both elements of k that a stored one stands for.
Layout sparse_operand(Fragment const& a) {
  std::int64_t const run = 2 * std::max(1U, 32 / a.bits), m = a.rows, rest = 2 * a.values / (2 * run);
  AtomMode threads{{4, 8}, {run * m, 1}}, values{{run, 2}, {m, 8}};
  if (a.threads == 128) threads.extents.push_back(4), threads.strides.push_back(16);
  if (rest > 1) values.extents.push_back(rest), values.strides.push_back(4 * run * m);
  return layout_of_modes({threads, values});
}

/// An atom whose fragments have names: mma and wgmma.
NamedAtom of_fragments(std::string_view name) {
  std::string const text(name);
  std::string_view const head = name.substr(0, name.find('<'));
  NamedFragment const d = parse_fragment(text + ":d");
  NamedAtom found;
  found.instruction = d.instruction;
  found.needs = d.needs;
  found.measured = d.measured;
  found.atom.threads = layout_of_modes({{{d.fragment.threads}, {1}}});
  found.atom.c = thread_values(d.fragment);
  found.bits[2] = d.fragment.bits;
  std::int64_t const m = d.fragment.rows, n = d.fragment.columns;
  std::size_t const k_at = d.instruction.find('k', d.instruction.find(".m"));
  std::int64_t const k = std::stoll(d.instruction.substr(k_at + 1));
  found.atom.extents = {m, n, k};
  bool const group = d.fragment.threads == 128;
  if (group && head.find("_SS") != head.npos) {
    found.atom.a = whole_matrix(128, m, k);
  } else {
    NamedFragment const named = parse_fragment(text + ":a");
    Fragment const& a = named.fragment;
    found.atom.a = named.sparse ? sparse_operand(a) : thread_values(a);
    found.bits[0] = named.sparse ? 0 : a.bits;
  }
  if (group) {
    found.atom.b = whole_matrix(128, n, k);
  } else {
    Fragment const b = parse_fragment(text + ":b").fragment;
    found.atom.b = thread_values(b);
    found.bits[1] = b.bits;
  }
  return found;
}

}  // namespace

NamedAtom atom_by_name(std::string_view name) {
  std::string_view plain = name;
  for (bool again = true; again;) {
    again = false;
    for (std::string_view const space :
         {"cute::", "::", "SM100::", "SM103::", "UMMA::", "BLOCKSCALED::", "SPARSE::"})
      if (plain.starts_with(space)) plain.remove_prefix(space.size()), again = true;
  }
  if (auto found = of_thread(plain)) return *std::move(found);
  if (auto const quads = of_quad_pairs(plain)) return quad_pair_atom(*quads);
  if (plain.starts_with("SM100_MMA_") || plain.starts_with("SM103_MXF4")) return of_tensor_memory(plain);
  return of_fragments(name);
}

bool is_of_quad_pairs(std::string_view name) {
  std::size_t const colon = name.rfind(':');
  std::string_view plain = name.substr(0, colon);
  if (plain.starts_with("cute::")) plain.remove_prefix(6);
  return of_quad_pairs(plain).has_value();
}

TiledOperand quad_pairs(std::string_view text) {
  std::size_t const colon = text.rfind(':');
  std::string_view plain = text.substr(0, colon);
  if (plain.starts_with("cute::")) plain.remove_prefix(6);
  std::string_view const letters = colon == text.npos ? std::string_view{} : text.substr(colon + 1);
  if (letters.empty())
    refuse_mma_atom("the operand is missing", text, "write it behind a colon: :a, :b or :d");
  if (letters.size() != 1 || std::string_view("abcdABCD").find(letters[0]) == std::string_view::npos)
    refuse_mma_atom("an operand is a, b, c or d", text, "such as mma.m8n8k4.f16:b");
  NamedAtom const atom = quad_pair_atom(*of_quad_pairs(plain));
  char const letter = static_cast<char>(letters[0] | 0x20);
  TiledOperand tiled;
  tiled.operand = letter == 'a' ? Operand::a : letter == 'b' ? Operand::b : Operand::d;
  tiled.addend = letter == 'c';
  tiled.instruction = atom.instruction;
  tiled.needs = atom.needs;
  tiled.measured = atom.measured;
  tiled.element_bits = atom.bits[static_cast<std::size_t>(tiled.operand)];
  bool const b = tiled.operand == Operand::b;
  tiled.mma = make_tiled_mma(
      atom.atom, layout_of_modes({{{b ? 1 : 4}, {b ? 0 : 1}}, {{b ? 4 : 1}, {b ? 1 : 0}}, {{1}, {0}}}), {});
  tiled.notes.push_back(std::string("four products of a warp: ") + (b ? "columns" : "rows") +
                        " 8q to 8q + 7 are those of product q, of lanes 4q to 4q + 3 and 4q + 16 to 4q + 19");
  return tiled;
}

}  // namespace swizproof
