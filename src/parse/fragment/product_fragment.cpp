// Operands of mma and wgmma, dense, sparse and with scales.
#include "parse/fragment/fragment_words.hpp"

#include <swizproof/hardware/element.hpp>

#include <algorithm>
#include <charconv>

namespace swizproof {

namespace {

/// The types of a shape that `name` may stand for: itself, and of fp8, i8, i4, fp4 every one of its kind.
bool has_type(std::string_view types, std::string_view name) {
  std::string_view const kinds[][2] = {{"fp8", "e4m3"}, {"i8", "s8"}, {"i4", "s4"}, {"fp4", "e2m1"}};
  for (auto const& kind : kinds)
    if (name == kind[0]) name = kind[1];
  return (" " + std::string(types) + " ").find(" " + std::string(name) + " ") != std::string::npos;
}

/// `m16n8k16`: the numbers after m, n and k; n may be the letter N, which gives 0.
struct MmaExtents {
  unsigned m = 0, n = 0, k = 0;
};
std::optional<MmaExtents> mma_extents(std::string_view text) {
  MmaExtents extents;
  unsigned* const numbers[] = {&extents.m, &extents.n, &extents.k};
  for (std::size_t i = 0; i < 3; ++i) {
    if (text.empty() || text[0] != "mnk"[i]) return {};
    text.remove_prefix(1);
    if (i == 1 && !text.empty() && text[0] == 'N') {
      text.remove_prefix(1);
      continue;
    }
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), *numbers[i]);
    if (error != std::errc{}) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return text.empty() ? std::optional(extents) : std::nullopt;
}

class ProductReader {
 public:
  explicit ProductReader(FragmentWords& words) : w_(words) {}

  [[nodiscard]] NamedFragment read() { return w_.words[0] == "mma" ? mma() : wgmma(); }

 private:
  /// The types behind the shape: that of A and B, and the bits of D. One type, or D, A, B and, of mma, C.
  struct Types {
    MmaType operands;  ///< of A, and of B too without a kind
    MmaType b;
    unsigned d_bits;
    std::string text;
  };
  [[nodiscard]] Types types(std::size_t all) const {
    std::vector<MmaType> found;
    std::string text;
    for (std::size_t i = 2; i < w_.words.size(); ++i) {
      if (!w_.kind && (w_.words[i] == "e3m2" || w_.words[i] == "e2m3"))
        w_.fail(w_.words[0] + " of " + w_.words[i] + " is one of a kind: the kind is missing",
                "mma.m16n8k32.kind::f8f6f4." + w_.words[i]);
      std::optional<MmaType> const type = mma_type(w_.words[i]);
      if (!type) w_.unknown_type(w_.words[i]);
      found.push_back(*type);
      text += "." + w_.words[i];
    }
    if (found.empty()) w_.fail("the element type is missing", "such as mma.m16n8k16.f16");
    if (found.size() == 1) return {found[0], found[0], found[0].bits == 64 ? 64U : 32U, text};
    if (found.size() != all)
      w_.fail(
          "the types are that of A and B alone, or those of D, A, B" + std::string(all == 4 ? " and C" : ""),
          "such as mma.m16n8k16.f32.f16.f16.f32 or wgmma.m64n64k16.f32.f16.f16");
    if (!w_.kind && found[1].bits != found[2].bits) w_.fail("A and B have elements of different sizes", "");
    if (found.size() == 4 && found[3].name != found[0].name)
      w_.fail("C and D have one type in every mma that is modelled, and these are " +
                  std::string(found[3].name) + " and " + std::string(found[0].name),
              "the types are those of D, A, B and C");
    return {found[1], found[2], found[0].bits, text};
  }
  /// With the size of the elements that D is converted to.
  [[nodiscard]] unsigned d_bits(unsigned bits) const {
    if (!w_.element_bits) return bits;
    if (w_.operand != Operand::d)
      w_.fail("the instruction says how large elements of A and B are", "leave --element out");
    if (*w_.element_bits > 32 || *w_.element_bits < 4 || *w_.element_bits > bits)
      w_.fail("results are converted to elements of 4 to 32 bits, not more than they have",
              "--element f16, fp8");
    return *w_.element_bits;
  }
  [[nodiscard]] Operand operand(std::string_view letters) const {
    if (!w_.operand)
      w_.fail("the operand is missing", "write it behind a colon: " + w_.name + letters.data());
    return *w_.operand;
  }
  NamedFragment named(std::string instruction, Operand operand, Fragment const& fragment,
                      std::string_view needs) const {
    NamedFragment named;
    named.instruction = std::move(instruction);
    named.operand = operand;
    named.fragment = fragment;
    named.needs = needs;
    return named;
  }

  [[nodiscard]] NamedFragment mma() {
    take_sparse();
    w_.kind = take_kind(w_.words, w_.text);
    if (w_.words.size() < 2 || !mma_extents(w_.words[1])) w_.unknown();
    Types const type = types(4);
    if (w_.sparse) return sparse_mma(type);
    if (w_.kind) return of_kind(type);
    if (w_.operand == Operand::e)
      w_.fail("metadata are those of a sparse product", "such as mma.sp.m16n8k32.f16:e");
    if (w_.operand == Operand::scale_a || w_.operand == Operand::scale_b)
      w_.fail("scales are those of a kind, and no .kind is given",
              "such as mma.m16n8k64.kind::mxf4nvf4.scale_vec::4X.e2m1:sfa");
    std::string known;
    for (MmaShape const& shape : mma_shapes) {
      if (shape.shape != w_.words[1]) continue;
      known += (known.empty() ? "" : " ") + std::string(shape.types);
      if (!has_type(shape.types, type.operands.name)) continue;
      Operand const which = operand(":a, :b or :d");
      bool const float8 = type.operands.bits == 8 && type.operands.name[0] != 's' &&
                          type.operands.name[0] != 'u' && type.operands.name[0] != 'i';
      bool const bfloat16 = shape.k == 8 && type.operands.name == "bf16";
      NamedFragment found =
          named("mma." + w_.words[1] + type.text, which, shape.fragment(which, d_bits(type.d_bits)),
                float8     ? "sm_89"
                : bfloat16 ? "sm_80"
                           : shape.needs);
      found.measured = !has_type("e2m1 b1", type.operands.name);
      if (has_type("e2m1", type.operands.name)) found.scale_blocks = {32, 16};
      return found;
    }
    if (known.empty()) w_.unknown();
    std::string_view const operands = type.operands.name;
    std::string const exists = w_.words[1] == "m16n8k32" && operands == "e2m1"
                                   ? "sm_120a has it, in units of 8 bits: mma.m16n8k32.kind::f8f6f4.e2m1; "
                                   : "";
    w_.fail("mma." + w_.words[1] + " of " + std::string(operands) + " is not modelled",
            exists + "modelled of this shape: " + known);
  }
  /// Takes `sp` or `sp::ordered_metadata` out of the name.
  void take_sparse() {
    if (w_.words.size() < 2 || (w_.words[1] != "sp" && w_.words[1] != "sp::ordered_metadata")) return;
    w_.sparse = true;
    w_.words.erase(w_.words.begin() + 1);
  }
  /// mma.sp, with a kind of sm_120a or without.
  [[nodiscard]] NamedFragment sparse_mma(Types const& type) {
    std::string known;
    bool const small = w_.kind && w_.kind->kind->container == 8;
    for (SparseShape const& shape : sparse_shapes) {
      if (shape.shape != w_.words[1]) continue;
      bool const of_kind =
          w_.kind && shape.k == (small ? 64U : 128U) && shape.bits == w_.kind->kind->container &&
          has_type(w_.kind->kind->types, type.operands.name) && has_type(w_.kind->kind->types, type.b.name);
      if (!w_.kind) known += (known.empty() ? "" : " ") + std::string(shape.types);
      bool const plain = !w_.kind && has_type(shape.types, type.operands.name) &&
                         type.operands.name != "e2m1" && type.operands.name != "fp4";
      if (!plain && !of_kind) continue;
      bool const scales = w_.operand == Operand::scale_a || w_.operand == Operand::scale_b;
      if (scales && (!w_.kind || w_.kind->vectors == 0))
        w_.fail("this product has no scales", "kind::mxf4 has");
      NamedFragment found = sparse_fragment(shape, type, operand(":a, :b, :d or :e"), shape.n);
      if (scales) found.fragment = scale_fragment(*w_.operand, w_.kind->vectors);
      if (scales) w_.notes.push_back(selector_note(*w_.operand));
      if (w_.kind) {
        found.needs = "sm_120a";
        found.measured = false;
        if (w_.kind->vectors != 0) found.scale_blocks = {shape.k / w_.kind->vectors};
        if (w_.operand == Operand::a || w_.operand == Operand::b)
          note_container(w_.operand == Operand::a ? type.operands : type.b);
      } else if (type.operands.name[0] == 'e' || type.operands.name == "fp8") {
        found.needs = "sm_89";
      }
      return found;
    }
    if (known.empty() && !w_.kind) w_.unknown();
    w_.fail(
        "mma.sp." + w_.words[1] + " of " + std::string(type.operands.name) + " is not modelled",
        w_.kind ? "kinds have m16n8k64 of 8 bits and m16n8k128 of 4" : "modelled of this shape: " + known);
  }
  /// An operand of a sparse product, with what its numbers mean.
  [[nodiscard]] NamedFragment sparse_fragment(SparseShape const& shape, Types const& type, Operand which,
                                              unsigned columns) {
    if (which == Operand::e && w_.element_bits)
      w_.fail("an index has 2 bits, of tf32 4", "leave --element out");
    std::string const name = w_.words[0] + ".sp." + w_.words[1] + (w_.kind ? "." + w_.kind->text() : "") +
                             type.text +
                             (w_.kind && !w_.kind->scale_type.empty() ? "." + w_.kind->scale_type : "");
    bool const scales = which == Operand::scale_a || which == Operand::scale_b;
    NamedFragment found = named(
        name, which, shape.fragment(scales ? Operand::d : which, columns, scales ? 32 : d_bits(type.d_bits)),
        shape.needs);
    found.sparse = true;
    found.measured = has_type("tf32 f16 s8 s4", type.operands.name);
    if (which == Operand::a)
      w_.notes.push_back(
          shape.bits == 32  ? "nonzero j of a row is k 2j or 2j + 1: the metadata, :e, say which"
          : shape.bits == 4 ? "nonzeros 4i to 4i + 3 of a row are two of the four pairs of k from 8i on: "
                              "the metadata, :e, say which"
                            : "nonzeros 2i and 2i + 1 of a row are two of k 4i to 4i + 3: the metadata, "
                              ":e, say which");
    if (which == Operand::e) {
      w_.notes.push_back(shape.bits == 32 ? "index j of a row: 0b0100 for k 2j, 0b1110 for k 2j + 1"
                         : shape.bits == 4
                             ? "index i of a row: the place of its pair among the four of k from 8 (i/2) on"
                             : "index i of a row: the place of nonzero i among the four k from 4 (i/2) on");
      std::string const lanes = shape.e == FragmentFormula::e_one ? "lane F of each four is read"
                                : shape.e == FragmentFormula::e_all
                                    ? "every lane is read"
                                    : "lanes 2F and 2F + 1 of each four are read";
      w_.notes.push_back("sparsity selector F, " + std::string(shape.selectors) + ": " + lanes);
    }
    return found;
  }
  /// mma with a kind: m16n8k32 in containers of 8 bits, or m16n8k64 of 4, and their scales.
  [[nodiscard]] NamedFragment of_kind(Types const& type) {
    MmaKind const& kind = *w_.kind->kind;
    if (w_.words[1] != kind.shape)
      w_.fail("kind::" + std::string(kind.name) + " has no " + w_.words[1],
              "it has " + std::string(kind.shape) + " alone");
    for (MmaType const& one : {type.operands, type.b})
      if (!has_type(kind.types, one.name))
        w_.fail("kind::" + std::string(kind.name) + " has no elements of " + std::string(one.name),
                "it has " + std::string(kind.types));
    Operand const which = operand(":a, :b, :d, or for scales :sfa or :sfb");
    std::string name = "mma." + w_.words[1] + "." + w_.kind->text() + type.text;
    if (!w_.kind->scale_type.empty()) name += "." + w_.kind->scale_type;
    auto const* const shape = std::find_if(mma_shapes.begin(), mma_shapes.end(), [&](MmaShape const& s) {
      return s.shape == kind.shape && s.bits == kind.container;
    });
    bool const scales = which == Operand::scale_a || which == Operand::scale_b;
    if (scales && w_.kind->vectors == 0)
      w_.fail("kind::" + std::string(kind.name) + " has no scales", "kind::mxf8f6f4 has");
    if (scales && w_.element_bits) w_.fail("a scale has 8 bits", "leave --element out");
    NamedFragment found =
        named(std::move(name), which,
              scales ? scale_fragment(which, w_.kind->vectors) : shape->fragment(which, d_bits(type.d_bits)),
              "sm_120a");
    found.measured = false;
    if (w_.kind->vectors != 0) found.scale_blocks = {shape->k / w_.kind->vectors};
    if (scales) w_.notes.push_back(selector_note(which));
    if (which == Operand::a || which == Operand::b)
      note_container(which == Operand::a ? type.operands : type.b);
    return found;
  }
  /// Registers that the selector of an instruction names, whose fragment is that of {0, ..}.
  [[nodiscard]] std::string selector_note(Operand which) const {
    bool const a = which == Operand::scale_a;
    std::string const ids(byte_ids(w_.kind->vectors));
    return "selector {byte-id, thread-id}: byte-id is " + ids +
           (ids == "0" ? "" : ", and value i is byte byte-id + i") +
           "; of each group of four lanes the register of " +
           (a ? "lanes 0 and 1 is read for thread-id 0, of lanes 2 and 3 for thread-id 1"
              : "lane thread-id is read, 0 to 3");
  }
  /// Bits of a container of 8 that smaller elements have.
  void note_container(MmaType const& type) {
    if (w_.kind->kind->container != 8 || type.bits == 8) return;
    w_.notes.push_back(type.bits == 6
                           ? "each element is in bits 0 to 5 of its 8"
                           : "each element is in bits 2 to 5 of its 8: ldmatrix ...b8x16.b4x16_p64 "
                             "writes bits 0 to 3, so shift left by 2");
  }
  [[nodiscard]] NamedFragment wgmma() {
    take_sparse();
    auto const extents = w_.words.size() < 2 ? std::nullopt : mma_extents(w_.words[1]);
    if (!extents) w_.unknown();
    Types const type = types(3);
    Operand const which = operand(w_.sparse ? ":a, :d or :e" : ":a or :d");
    if (which == Operand::e && !w_.sparse)
      w_.fail("metadata are those of a sparse product", "such as wgmma.sp.m64n64k32.f16:e");
    if (extents->m != 64) w_.fail("wgmma has m64", "such as wgmma.m64n128k16.f16");
    if (which == Operand::b)
      w_.fail("wgmma reads B from shared memory, no register holds it",
              "in registers it has A, which may also be in shared memory, and D: :a or :d");
    if (which == Operand::a && w_.a_is_shared)
      w_.fail("this atom reads A from shared memory, as SS says: no register holds it",
              "the atom of A in registers ends with _RS; in registers this one has D: :d");
    if (which == Operand::d && (extents->n < 8 || extents->n > 256 || extents->n % 8 != 0))
      w_.fail("n of wgmma is 8, 16, .., 256", "such as wgmma.m64n128k16.f16");
    char const kind = type.operands.name[0];
    if (which == Operand::d && (kind == 's' || kind == 'u' || kind == 'i') && extents->n > 32 &&
        extents->n % 16 != 0)
      w_.fail("n of wgmma with integers is 8, 16, 24, 32, 48, 64, .., 256", "such as wgmma.m64n128k32.s8");
    std::string known;
    if (w_.sparse)
      for (SparseShape const& shape : sparse_wgmma_shapes)
        if (shape.k == extents->k && has_type(shape.types, type.operands.name))
          return sparse_fragment(shape, type, which, extents->n);
    for (WgmmaShape const& shape : wgmma_shapes) {
      if (w_.sparse) break;
      known += (known.empty() ? "k" : ", k") + std::to_string(shape.k) + " " + std::string(shape.types);
      if (shape.k == extents->k && has_type(shape.types, type.operands.name))
        return named("wgmma." + w_.words[1] + type.text, which,
                     shape.fragment(which, extents->n, d_bits(type.d_bits)), "sm_90a");
    }
    if (w_.sparse) known = "k16 tf32, k32 f16 bf16, k64 e4m3 e5m2 s8 u8";
    w_.fail("wgmma of " + std::string(type.operands.name) + " with k" + std::to_string(extents->k) +
                " is not modelled",
            "modelled: " + known);
  }

  FragmentWords& w_;
};

}  // namespace

NamedFragment product_fragment(FragmentWords& words) { return ProductReader(words).read(); }

}  // namespace swizproof
