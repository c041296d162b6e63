// FRAGMENT: `mma.m16n8k16.f16:a`, `wgmma.m64n128k16.f16:d`, `ldmatrix.x4.trans`; PTX's and CuTe's spelling of the same.
#include "parse/fragment/blackwell_atom.hpp"
#include "parse/fragment/mma_atom.hpp"
#include "parse/fragment/mma_kind.hpp"
#include "parse/text/nearest.hpp"
#include "parse/text/scanner.hpp"
#include "parse/fragment/tiled_mma.hpp"

#include <swizproof/hardware/element.hpp>
#include <swizproof/layout/algebra.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace swizproof {

namespace {

constexpr char const* fragment_forms =
    "mma.SHAPE[.KIND].TYPE:a|b|d|sfa|sfb, wgmma.m64nNkK.TYPE:a|d, ldmatrix or stmatrix .x1 .x2 .x4 [.trans], "
    "movmatrix.trans, tcgen05.ld.SHAPE.xN; PTX's whole names and CuTe's atoms too";

/// An element type of mma: its name for PTX, or ours, and its bits.
struct MmaType {
  std::string_view name;
  unsigned bits;
};
std::optional<MmaType> mma_type(std::string_view name) {
  for (std::string_view const known : {"f64", "f32", "tf32", "s32", "i32", "f16", "bf16", "e4m3", "e5m2",
                                       "fp8", "s8", "u8", "i8", "s4", "u4", "i4", "e2m1", "fp4", "b1"})
    if (known == name) return MmaType{known, name == "b1" ? 1 : element_type(name)->bits};
  for (std::string_view const six : {"e3m2", "e2m3"})
    if (six == name) return MmaType{six, 6};
  return std::nullopt;
}

/// The types of a shape that `name` may stand for: itself, and of fp8, i8, i4, fp4 every one of its kind.
bool has_type(std::string_view types, std::string_view name) {
  std::string_view const kinds[][2] = {{"fp8", "e4m3"}, {"i8", "s8"}, {"i4", "s4"}, {"fp4", "e2m1"}};
  for (auto const& kind : kinds)
    if (name == kind[0]) name = kind[1];
  return (" " + std::string(types) + " ").find(" " + std::string(name) + " ") != std::string::npos;
}

/// Every name that may be meant, without operands.
std::vector<std::string> fragment_names() {
  std::vector<std::string> names;
  auto const each_type = [&](std::string const& shape, std::string_view types) {
    while (!types.empty()) {
      std::size_t const end = std::min(types.find(' '), types.size());
      names.push_back(shape + "." + std::string(types.substr(0, end)));
      types.remove_prefix(std::min(end + 1, types.size()));
    }
  };
  for (InstructionName const& known : instruction_names)
    if (known.instruction.matrices != 0) names.emplace_back(known.text);
  for (InstructionName const& known : byte_matrix_names) names.emplace_back(known.text);
  names.emplace_back("movmatrix.trans");
  for (TensorMemoryForm const& form : tensor_memory_forms)
    for (char const* op : {"tcgen05.ld.", "tcgen05.st."})
      for (unsigned many = 1; many <= form.most; many *= 2)
        names.push_back(op + std::string(form.name) + ".x" + std::to_string(many));
  for (MmaShape const& s : mma_shapes) each_type("mma." + std::string(s.shape), s.types);
  for (WgmmaShape const& s : wgmma_shapes)
    for (unsigned const n : {8U, 16U, 32U, 64U, 96U, 128U, 192U, 256U})
      each_type("wgmma.m64n" + std::to_string(n) + "k" + std::to_string(s.k), s.types);
  return names;
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

class FragmentParser {
 public:
  FragmentParser(std::string_view text, std::optional<unsigned> element_bits)
      : text_(text), element_bits_(element_bits) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    name_ = text;
    if (std::size_t const space = name_.find(".shared::cta"); space != name_.npos) name_.erase(space + 7, 5);
    std::size_t colon = name_.rfind(':');
    if (colon != name_.npos && colon > 0 && name_[colon - 1] == ':') colon = name_.npos;  // of kind::f8f6f4
    if (colon != name_.npos) {
      read_operand(std::string_view(name_).substr(colon + 1));
      name_.resize(colon);
    }
    if (std::string ptx = ptx_of_blackwell_atom(name_); !ptx.empty()) {
      if (ptx.rfind("ldmatrix.m16n16", 0) == 0)
        notes_.emplace_back(
            "CuTe's atom exchanges bytes 2 and 3 of each even register with bytes 0 and 1 of the next after "
            "the "
            "instruction; this is the instruction's");
      name_ = std::move(ptx);
    } else
      plain_cute();
    std::size_t const point = name_.rfind('.');
    if (colon == name_.npos && point != name_.npos && point + 2 == name_.size() &&
        std::string_view("abcdABCD").find(name_[point + 1]) != std::string_view::npos)
      fail("the operand stands behind a colon", name_.substr(0, point) + ":" + name_[point + 1]);
  }

  [[nodiscard]] NamedFragment parse() {
    NamedFragment f = fragment();
    f.addend = operand_ && addend_;
    f.notes.insert(f.notes.end(), notes_.begin(), notes_.end());
    return f;
  }

 private:
  [[nodiscard]] NamedFragment fragment() {
    std::string const ptx = name_.rfind("SM", 0) == 0 ? from_cute() : name_;
    split(ptx);
    if (words_.empty()) unknown();
    if (words_[0] == "mma") return mma();
    if (words_[0] == "wgmma") return wgmma();
    if (words_[0] == "movmatrix") return movmatrix();
    if (words_[0] == "tcgen05" && words_.size() > 1 && (words_[1] == "ld" || words_[1] == "st"))
      return tcgen05();
    if (words_[0] == "tcgen05" && words_.size() > 1 && words_[1] == "cp") return copied();
    bool const of_scales = operand_ == Operand::scale_a || operand_ == Operand::scale_b;
    if (words_[0] == "tcgen05" && words_.size() > 1 && words_[1] == "mma" && of_scales) return scales();
    if (words_[0] == "tcgen05" && words_.size() > 1 && words_[1] == "mma")
      fail("tcgen05.mma reads its operands from shared memory and Tensor Memory: no register holds them",
           "'swizproof descriptor --for tcgen05' has the operands in shared memory; scales are in Tensor "
           "Memory: :sfa, :sfb");
    if (words_[0] == "ldmatrix" || words_[0] == "stmatrix") return matrices();
    unknown();
  }
  [[noreturn]] void fail(std::string message, std::string hint) const {
    throw InputError::whole(std::move(message), text_, std::move(hint));
  }
  [[nodiscard]] bool has_word(std::string_view word) const {
    return std::find(words_.begin(), words_.end(), word) != words_.end();
  }
  [[noreturn]] void unknown() const {
    fail("unknown fragment", did_you_mean(name_, fragment_names(), fragment_forms));
  }
  void read_operand(std::string_view letters) {
    if (letters == "a" || letters == "A")
      operand_ = Operand::a;
    else if (letters == "b" || letters == "B")
      operand_ = Operand::b;
    else if (letters == "c" || letters == "C" || letters == "d" || letters == "D")
      operand_ = Operand::d, addend_ = letters == "c" || letters == "C";
    else if (letters == "sfa" || letters == "SFA")
      operand_ = Operand::scale_a;
    else if (letters == "sfb" || letters == "SFB")
      operand_ = Operand::scale_b;
    else if (letters == "e" || letters == "E")
      operand_ = Operand::e;
    else
      fail("an operand is a, b, c or d, sfa or sfb for scales, or e for metadata",
           "such as mma.m16n8k16.f16:b");
  }
  /// `cute::SM90::GMMA::MMA_64x128x16_F32F16F16_SS<Major::K, Major::K>` as SM90_64x128x16_F32F16F16_SS.
  void plain_cute() {
    for (std::string_view const space : {"cute::", "SM90::", "GMMA::"})
      if (name_.rfind(space, 0) == 0) name_.erase(0, space.size());
    if (name_.rfind("SPARSE::GMMA_", 0) == 0) {
      name_.replace(0, 13, "SM90_");
      sparse_ = true;
    }
    if (name_.rfind("MMA_", 0) == 0) name_.replace(0, 4, "SM90_");
    std::size_t const open = name_.find('<'), close = name_.rfind('>');
    if (name_.rfind("SM", 0) == 0 && open < close && close != name_.npos) name_.erase(open, close - open + 1);
  }
  /// The words between the points, without those that change nothing here.
  void split(std::string const& ptx) {
    std::size_t from = 0;
    std::vector<std::string> orders;
    while (from <= ptx.size()) {
      std::size_t const end = std::min(ptx.find('.', from), ptx.size());
      std::string word = ptx.substr(from, end - from);
      from = end + 1;
      if (word.empty()) unknown();
      if (word == "row" || word == "col") orders.push_back(word);
      static constexpr std::string_view idle[] = {"sync",      "aligned",   "row", "col", "shared", "cta",
                                                  "mma_async", "satfinite", "xor", "and", "popc"};
      if (words_.empty() || std::find(std::begin(idle), std::end(idle), word) == std::end(idle))
        words_.push_back(std::move(word));
    }
    if (!orders.empty() && orders != std::vector<std::string>{"row", "col"})
      fail("A is row and B is col in every mma that is modelled", "mma.sync.aligned.m16n8k16.row.col...");
  }
  /// `SM80_16x8x16_F32F16F16F32_TN`, `SM90_64x128x16_F32F16F16_RS`, `SM75_U16x8_LDSM_T` as PTX writes them.
  [[nodiscard]] std::string from_cute() {
    std::vector<std::string> parts{""};
    for (char const c : name_)
      if (c == '_')
        parts.emplace_back();
      else
        parts.back() += c;
    if (parts.size() == 4 && (parts[2] == "LDSM" || parts[2] == "STSM") && parts[1].size() == 5 &&
        parts[1][0] == 'U') {
      std::string const kind = parts[2] == "LDSM" ? "ldmatrix.x" : "stmatrix.x";
      unsigned const count = static_cast<unsigned>(parts[1][4] - '0');
      if (parts[3] == "N" && parts[1].substr(0, 4) == "U32x") return kind + std::to_string(count);
      if (parts[3] == "T" && parts[1].substr(0, 4) == "U16x" && count % 2 == 0)
        return kind + std::to_string(count / 2) + ".trans";
    }
    std::size_t const first = parts.size() > 1 ? parts[1].find('x') : std::string::npos;
    std::size_t const second = first == std::string::npos ? first : parts[1].find('x', first + 1);
    if (parts.size() < 3 || second == std::string::npos) unknown();
    std::string const shape = "m" + parts[1].substr(0, first) + "n" +
                              parts[1].substr(first + 1, second - first - 1) + "k" +
                              parts[1].substr(second + 1);
    std::string types;
    if (parts[2].find("C64") != std::string::npos)
      fail("this atom of complex numbers is several products, and is not modelled as one",
           "the atom of F64 has the same threads");
    for (std::size_t i = 0; i < parts[2].size();) {
      std::size_t longest = 0;
      std::string lower;
      if (parts[2].substr(i, 2) == "U1" && parts[2].substr(i, 3) != "U16") longest = 2, lower = "b1";
      for (std::size_t n = 2; n <= 4 && i + n <= parts[2].size(); ++n) {
        std::string word = parts[2].substr(i, n);
        std::transform(word.begin(), word.end(), word.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        if (mma_type(word)) longest = n, lower = word;
      }
      if (longest == 0) unknown();
      types += "." + lower;
      i += longest;
    }
    a_is_shared_ = parts.size() > 3 && parts[3] == "SS";
    return (parts[0] == "SM90" && parts[1].rfind("64x", 0) == 0 ? "wgmma." : "mma.") + shape + types;
  }

  // ------------------------------------------------------------------------------------------ instructions

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
    for (std::size_t i = 2; i < words_.size(); ++i) {
      if (!kind_ && (words_[i] == "e3m2" || words_[i] == "e2m3"))
        fail(words_[0] + " of " + words_[i] + " is one of a kind: the kind is missing",
             "mma.m16n8k32.kind::f8f6f4." + words_[i]);
      std::optional<MmaType> const type = mma_type(words_[i]);
      if (!type)
        fail("unknown element type " + words_[i], did_you_mean(name_, fragment_names(), fragment_forms));
      found.push_back(*type);
      text += "." + words_[i];
    }
    if (found.empty()) fail("the element type is missing", "such as mma.m16n8k16.f16");
    if (found.size() == 1) return {found[0], found[0], found[0].bits == 64 ? 64U : 32U, text};
    if (found.size() != all)
      fail("the types are that of A and B alone, or those of D, A, B" + std::string(all == 4 ? " and C" : ""),
           "such as mma.m16n8k16.f32.f16.f16.f32 or wgmma.m64n64k16.f32.f16.f16");
    if (!kind_ && found[1].bits != found[2].bits) fail("A and B have elements of different sizes", "");
    if (found.size() == 4 && found[3].name != found[0].name)
      fail("C and D have one type in every mma that is modelled, and these are " +
               std::string(found[3].name) + " and " + std::string(found[0].name),
           "the types are those of D, A, B and C");
    return {found[1], found[2], found[0].bits, text};
  }
  /// With the size of the elements that D is converted to.
  [[nodiscard]] unsigned d_bits(unsigned bits) const {
    if (!element_bits_) return bits;
    if (operand_ != Operand::d)
      fail("the instruction says how large elements of A and B are", "leave --element out");
    if (*element_bits_ > 32 || *element_bits_ < 4 || *element_bits_ > bits)
      fail("results are converted to elements of 4 to 32 bits, not more than they have",
           "--element f16, fp8");
    return *element_bits_;
  }
  [[nodiscard]] Operand operand(std::string_view letters) const {
    if (!operand_) fail("the operand is missing", "write it behind a colon: " + name_ + letters.data());
    return *operand_;
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
    kind_ = take_kind(words_, text_);
    if (words_.size() < 2 || !mma_extents(words_[1])) unknown();
    Types const type = types(4);
    if (sparse_) return sparse_mma(type);
    if (kind_) return of_kind(type);
    if (operand_ == Operand::e)
      fail("metadata are those of a sparse product", "such as mma.sp.m16n8k32.f16:e");
    if (operand_ == Operand::scale_a || operand_ == Operand::scale_b)
      fail("scales are those of a kind, and no .kind is given",
           "such as mma.m16n8k64.kind::mxf4nvf4.scale_vec::4X.e2m1:sfa");
    std::string known;
    for (MmaShape const& shape : mma_shapes) {
      if (shape.shape != words_[1]) continue;
      known += (known.empty() ? "" : " ") + std::string(shape.types);
      if (!has_type(shape.types, type.operands.name)) continue;
      Operand const which = operand(":a, :b or :d");
      bool const float8 = type.operands.bits == 8 && type.operands.name[0] != 's' &&
                          type.operands.name[0] != 'u' && type.operands.name[0] != 'i';
      bool const bfloat16 = shape.k == 8 && type.operands.name == "bf16";
      NamedFragment found =
          named("mma." + words_[1] + type.text, which, shape.fragment(which, d_bits(type.d_bits)),
                float8     ? "sm_89"
                : bfloat16 ? "sm_80"
                           : shape.needs);
      found.measured = !has_type("e2m1 b1", type.operands.name);
      if (has_type("e2m1", type.operands.name)) found.scale_blocks = {32, 16};
      return found;
    }
    if (known.empty()) unknown();
    std::string_view const operands = type.operands.name;
    std::string const exists = words_[1] == "m16n8k32" && operands == "e2m1"
                                   ? "sm_120a has it, in units of 8 bits: mma.m16n8k32.kind::f8f6f4.e2m1; "
                                   : "";
    fail("mma." + words_[1] + " of " + std::string(operands) + " is not modelled",
         exists + "modelled of this shape: " + known);
  }
  /// Takes `sp` or `sp::ordered_metadata` out of the name.
  void take_sparse() {
    if (words_.size() < 2 || (words_[1] != "sp" && words_[1] != "sp::ordered_metadata")) return;
    sparse_ = true;
    words_.erase(words_.begin() + 1);
  }
  /// mma.sp, with a kind of sm_120a or without.
  [[nodiscard]] NamedFragment sparse_mma(Types const& type) {
    std::string known;
    bool const small = kind_ && kind_->kind->container == 8;
    for (SparseShape const& shape : sparse_shapes) {
      if (shape.shape != words_[1]) continue;
      bool const of_kind = kind_ && shape.k == (small ? 64U : 128U) && shape.bits == kind_->kind->container &&
                           has_type(kind_->kind->types, type.operands.name) &&
                           has_type(kind_->kind->types, type.b.name);
      if (!kind_) known += (known.empty() ? "" : " ") + std::string(shape.types);
      bool const plain = !kind_ && has_type(shape.types, type.operands.name) &&
                         type.operands.name != "e2m1" && type.operands.name != "fp4";
      if (!plain && !of_kind) continue;
      bool const scales = operand_ == Operand::scale_a || operand_ == Operand::scale_b;
      if (scales && (!kind_ || kind_->vectors == 0)) fail("this product has no scales", "kind::mxf4 has");
      NamedFragment found = sparse_fragment(shape, type, operand(":a, :b, :d or :e"), shape.n);
      if (scales) found.fragment = scale_fragment(*operand_, kind_->vectors);
      if (scales) notes_.push_back(selector_note(*operand_));
      if (kind_) {
        found.needs = "sm_120a";
        found.measured = false;
        if (kind_->vectors != 0) found.scale_blocks = {shape.k / kind_->vectors};
        if (operand_ == Operand::a || operand_ == Operand::b)
          note_container(operand_ == Operand::a ? type.operands : type.b);
      } else if (type.operands.name[0] == 'e' || type.operands.name == "fp8") {
        found.needs = "sm_89";
      }
      return found;
    }
    if (known.empty() && !kind_) unknown();
    fail("mma.sp." + words_[1] + " of " + std::string(type.operands.name) + " is not modelled",
         kind_ ? "kinds have m16n8k64 of 8 bits and m16n8k128 of 4" : "modelled of this shape: " + known);
  }
  /// An operand of a sparse product, with what its numbers mean.
  [[nodiscard]] NamedFragment sparse_fragment(SparseShape const& shape, Types const& type, Operand which,
                                              unsigned columns) {
    if (which == Operand::e && element_bits_) fail("an index has 2 bits, of tf32 4", "leave --element out");
    std::string const name = words_[0] + ".sp." + words_[1] + (kind_ ? "." + kind_->text() : "") + type.text +
                             (kind_ && !kind_->scale_type.empty() ? "." + kind_->scale_type : "");
    bool const scales = which == Operand::scale_a || which == Operand::scale_b;
    NamedFragment found = named(
        name, which, shape.fragment(scales ? Operand::d : which, columns, scales ? 32 : d_bits(type.d_bits)),
        shape.needs);
    found.sparse = true;
    found.measured = has_type("tf32 f16 s8 s4", type.operands.name);
    if (which == Operand::a)
      notes_.push_back(shape.bits == 32 ? "nonzero j of a row is k 2j or 2j + 1: the metadata, :e, say which"
                       : shape.bits == 4
                           ? "nonzeros 4i to 4i + 3 of a row are two of the four pairs of k from 8i on: "
                             "the metadata, :e, say which"
                           : "nonzeros 2i and 2i + 1 of a row are two of k 4i to 4i + 3: the metadata, "
                             ":e, say which");
    if (which == Operand::e) {
      notes_.push_back(shape.bits == 32 ? "index j of a row: 0b0100 for k 2j, 0b1110 for k 2j + 1"
                       : shape.bits == 4
                           ? "index i of a row: the place of its pair among the four of k from 8 (i/2) on"
                           : "index i of a row: the place of nonzero i among the four k from 4 (i/2) on");
      std::string const lanes = shape.e == FragmentFormula::e_one ? "lane F of each four is read"
                                : shape.e == FragmentFormula::e_all
                                    ? "every lane is read"
                                    : "lanes 2F and 2F + 1 of each four are read";
      notes_.push_back("sparsity selector F, " + std::string(shape.selectors) + ": " + lanes);
    }
    return found;
  }
  /// mma with a kind: m16n8k32 in containers of 8 bits, or m16n8k64 of 4, and their scales.
  [[nodiscard]] NamedFragment of_kind(Types const& type) {
    MmaKind const& kind = *kind_->kind;
    if (words_[1] != kind.shape)
      fail("kind::" + std::string(kind.name) + " has no " + words_[1],
           "it has " + std::string(kind.shape) + " alone");
    for (MmaType const& one : {type.operands, type.b})
      if (!has_type(kind.types, one.name))
        fail("kind::" + std::string(kind.name) + " has no elements of " + std::string(one.name),
             "it has " + std::string(kind.types));
    Operand const which = operand(":a, :b, :d, or for scales :sfa or :sfb");
    std::string name = "mma." + words_[1] + "." + kind_->text() + type.text;
    if (!kind_->scale_type.empty()) name += "." + kind_->scale_type;
    auto const* const shape = std::find_if(mma_shapes.begin(), mma_shapes.end(), [&](MmaShape const& s) {
      return s.shape == kind.shape && s.bits == kind.container;
    });
    bool const scales = which == Operand::scale_a || which == Operand::scale_b;
    if (scales && kind_->vectors == 0)
      fail("kind::" + std::string(kind.name) + " has no scales", "kind::mxf8f6f4 has");
    if (scales && element_bits_) fail("a scale has 8 bits", "leave --element out");
    NamedFragment found =
        named(std::move(name), which,
              scales ? scale_fragment(which, kind_->vectors) : shape->fragment(which, d_bits(type.d_bits)),
              "sm_120a");
    found.measured = false;
    if (kind_->vectors != 0) found.scale_blocks = {shape->k / kind_->vectors};
    if (scales) notes_.push_back(selector_note(which));
    if (which == Operand::a || which == Operand::b)
      note_container(which == Operand::a ? type.operands : type.b);
    return found;
  }
  /// Registers that the selector of an instruction names, whose fragment is that of {0, ..}.
  [[nodiscard]] std::string selector_note(Operand which) const {
    bool const a = which == Operand::scale_a;
    std::string const ids(byte_ids(kind_->vectors));
    return "selector {byte-id, thread-id}: byte-id is " + ids +
           (ids == "0" ? "" : ", and value i is byte byte-id + i") +
           "; of each group of four lanes the register of " +
           (a ? "lanes 0 and 1 is read for thread-id 0, of lanes 2 and 3 for thread-id 1"
              : "lane thread-id is read, 0 to 3");
  }
  /// Bits of a container of 8 that smaller elements have.
  void note_container(MmaType const& type) {
    if (kind_->kind->container != 8 || type.bits == 8) return;
    notes_.push_back(type.bits == 6 ? "each element is in bits 0 to 5 of its 8"
                                    : "each element is in bits 2 to 5 of its 8: ldmatrix ...b8x16.b4x16_p64 "
                                      "writes bits 0 to 3, so shift left by 2");
  }
  [[nodiscard]] NamedFragment wgmma() {
    take_sparse();
    auto const extents = words_.size() < 2 ? std::nullopt : mma_extents(words_[1]);
    if (!extents) unknown();
    Types const type = types(3);
    Operand const which = operand(sparse_ ? ":a, :d or :e" : ":a or :d");
    if (which == Operand::e && !sparse_)
      fail("metadata are those of a sparse product", "such as wgmma.sp.m64n64k32.f16:e");
    if (extents->m != 64) fail("wgmma has m64", "such as wgmma.m64n128k16.f16");
    if (which == Operand::b)
      fail("wgmma reads B from shared memory, no register holds it",
           "in registers it has A, which may also be in shared memory, and D: :a or :d");
    if (which == Operand::a && a_is_shared_)
      fail("this atom reads A from shared memory, as SS says: no register holds it",
           "the atom of A in registers ends with _RS; in registers this one has D: :d");
    if (which == Operand::d && (extents->n < 8 || extents->n > 256 || extents->n % 8 != 0))
      fail("n of wgmma is 8, 16, .., 256", "such as wgmma.m64n128k16.f16");
    char const kind = type.operands.name[0];
    if (which == Operand::d && (kind == 's' || kind == 'u' || kind == 'i') && extents->n > 32 &&
        extents->n % 16 != 0)
      fail("n of wgmma with integers is 8, 16, 24, 32, 48, 64, .., 256", "such as wgmma.m64n128k32.s8");
    std::string known;
    if (sparse_)
      for (SparseShape const& shape : sparse_wgmma_shapes)
        if (shape.k == extents->k && has_type(shape.types, type.operands.name))
          return sparse_fragment(shape, type, which, extents->n);
    for (WgmmaShape const& shape : wgmma_shapes) {
      if (sparse_) break;
      known += (known.empty() ? "k" : ", k") + std::to_string(shape.k) + " " + std::string(shape.types);
      if (shape.k == extents->k && has_type(shape.types, type.operands.name))
        return named("wgmma." + words_[1] + type.text, which,
                     shape.fragment(which, extents->n, d_bits(type.d_bits)), "sm_90a");
    }
    if (sparse_) known = "k16 tf32, k32 f16 bf16, k64 e4m3 e5m2 s8 u8";
    fail("wgmma of " + std::string(type.operands.name) + " with k" + std::to_string(extents->k) +
             " is not modelled",
         "modelled: " + known);
  }
  /// ldmatrix and stmatrix of bytes.
  [[nodiscard]] NamedFragment of_bytes(InstructionName const& known) const {
    if (operand_) fail("ldmatrix and stmatrix have no operands", "--into says which operand is meant");
    if (element_bits_ && *element_bits_ != 8)
      fail(std::string(known.text) + " moves elements of 8 bits, and these have " +
               std::to_string(*element_bits_),
           "ldmatrix and stmatrix of .m8n8 move units of 16 bits");
    NamedFragment found;
    found.instruction = known.text;
    found.memory = known.instruction;
    found.fragment = fragment_of(known.instruction, 8);
    found.needs = "sm_100a, sm_110a or sm_120a";
    found.measured = false;
    MatrixForm const form = known.instruction.form;
    if (form == MatrixForm::m16n16_b6 || form == MatrixForm::m8n16_b6)
      found.notes.emplace_back(
          "a row in memory is 16 elements of 6 bits in 12 bytes and 4 bytes of gap; in registers bits 0 to 5 "
          "of each 8");
    if (form == MatrixForm::m16n16_b4 || form == MatrixForm::m8n16_b4)
      found.notes.emplace_back(
          "a row in memory is 16 elements of 4 bits in 8 bytes and 8 bytes of gap; in registers bits 0 to 3 "
          "of each 8");
    return found;
  }
  /// movmatrix.sync.aligned.m8n8.trans.b16: registers to registers. [PTX ISA 9.1, 9.7.14.5.17]
  [[nodiscard]] NamedFragment movmatrix() const {
    for (std::size_t i = 1; i < words_.size(); ++i)
      if (words_[i] != "m8n8" && words_[i] != "trans" && words_[i] != "b16") unknown();
    if (operand_) fail("movmatrix has no operands", "--into says which operand is meant");
    unsigned const bits = element_bits_.value_or(16);
    if (bits < 4 || bits > 16)
      fail("movmatrix moves units of 16 bits: elements have 4 to 16", "--element f16, fp8");
    NamedFragment found;
    found.instruction = "movmatrix.trans";
    found.fragment = fragment_of({Operation::ldmatrix, 16, 1, true}, bits);
    found.needs = "sm_75";
    return found;
  }
  /// tcgen05.ld.sync.aligned.16x256b.x4.b32. [PTX ISA 9.1, 9.7.16.8.1]
  [[nodiscard]] NamedFragment tcgen05() const {
    if (operand_ && *operand_ != Operand::d)
      fail(words_[0] + "." + words_[1] + " has no operands",
           "the lanes and columns of Tensor Memory are its indices");
    TensorMemoryForm const* form = nullptr;
    unsigned many = 0;
    for (std::size_t i = 2; i < words_.size(); ++i) {
      std::string const& word = words_[i];
      auto const* const known = std::find_if(std::begin(tensor_memory_forms), std::end(tensor_memory_forms),
                                             [&](TensorMemoryForm const& f) { return f.name == word; });
      if (known != std::end(tensor_memory_forms))
        form = known;
      else if (word.starts_with("pack::") || word.starts_with("unpack::"))
        fail("." + word + " is not modelled", "without it a register has one column of 32 bits");
      else if (word.size() > 1 && word[0] == 'x')
        (void)std::from_chars(word.data() + 1, word.data() + word.size(), many);
      else if (word != "b32")
        unknown();
    }
    if (form == nullptr || many == 0) unknown();
    if ((many & (many - 1)) != 0 || many > form->most)
      fail(".num of ." + std::string(form->name) + " is x1, x2, .., x" + std::to_string(form->most), "");
    unsigned const bits = element_bits_.value_or(32);
    if (bits < 4 || bits > 32)
      fail("columns are converted to elements of 4 to 32 bits", "--element f16, fp8");
    NamedFragment found;
    found.instruction = "tcgen05." + words_[1] + "." + std::string(form->name) + ".x" + std::to_string(many);
    found.operand = Operand::d;
    found.fragment = fragment_of(*form, many, bits);
    found.needs = "sm_100a or sm_110a";
    found.measured = false;
    found.notes.push_back(form->lanes == 32
                              ? "lanes and columns are counted from the address; warp w of a warpgroup "
                                "reaches lanes 32w to 32w + 31"
                              : "lanes and columns are counted from the address, at lane 32w or 32w + 16 "
                                "of warp w of a warpgroup");
    if (form->shape == TensorMemoryShape::s16x32bx2)
      found.notes.push_back("columns from " + std::to_string(many) + " on are those from immHalfSplitoff on");
    return found;
  }
  /// tcgen05.cp: what lanes and columns of Tensor Memory get. [PTX ISA 9.1, 9.7.16.8]
  [[nodiscard]] NamedFragment copied() {
    std::string shape;
    for (std::size_t i = 2; i < words_.size(); ++i) {
      std::string const& word = words_[i];
      if (word.starts_with("cta_group::")) continue;
      if (word == "b8x16" || word == "b6x16_p32" || word == "b4x16_p64")
        fail(
            "tcgen05.cp that unpacks elements is not modelled: PTX ISA 9.1 names the formats and no place of "
            "their bits "
            "in Tensor Memory",
            "without the formats a column is 32 bits of shared memory");
      shape += (shape.empty() ? "" : ".") + word;
    }
    std::string names;
    for (TensorMemoryCopy const& copy : tensor_memory_copies) {
      names += (names.empty() ? "" : ", ") + std::string(copy.name);
      if (copy.name != shape) continue;
      if (operand_ || element_bits_)
        fail("tcgen05.cp moves 32 bits to a column", "leave operand and --element out");
      NamedFragment found;
      found.instruction = "tcgen05.cp." + shape;
      found.fragment = copied_fragment(copy);
      found.needs = "sm_100a or sm_110a";
      found.of_cells = true;
      found.measured = false;
      found.notes.emplace_back(
          "L is a lane of Tensor Memory, C a column of it; row and column, of 32 bits, are those of the "
          "matrix that the "
          "descriptor names");
      if (copy.rows == 4) found.notes.emplace_back("lane t here is lane 32t, from that of the address on");
      return found;
    }
    fail("unknown shape of tcgen05.cp", names);
  }
  /// Scale factors of tcgen05.mma in Tensor Memory. [PTX ISA 9.1, 9.7.16.10.7]
  [[nodiscard]] NamedFragment scales() {
    std::optional<unsigned> rows;
    std::vector<std::string> rest{words_[0]};
    for (std::size_t i = 2; i < words_.size(); ++i) {
      std::string const& word = words_[i];
      bool const extent = word.size() > 1 && (word[0] == 'm' || word[0] == 'n') &&
                          word.find_first_not_of("0123456789", 1) == word.npos && word.size() < 5;
      if (extent)
        rows = static_cast<unsigned>(std::stoul(word.substr(1)));
      else if (!word.starts_with("cta_group::"))
        rest.push_back(word);
    }
    kind_ = take_kind(rest, text_);
    if (!kind_ || kind_->vectors == 0 || rest.size() != 1)
      fail("scales are those of a kind", "such as tcgen05.mma.kind::mxf4nvf4.scale_vec::4X:sfa");
    unsigned const lines = rows.value_or(128);
    if (lines < 32 || lines > 256 || lines % 32 != 0)
      fail("scales are modelled of 32, 64, .., 256 rows", "tcgen05.mma.kind::mxf4.m128:sfa");
    NamedFragment found;
    found.instruction = "tcgen05.mma." + kind_->text() + (*operand_ == Operand::scale_a ? ".m" : ".n") +
                        std::to_string(lines);
    found.operand = operand_;
    found.fragment = scales_in_memory(lines, kind_->vectors);
    found.needs = "sm_100a or sm_110a";
    found.of_cells = true;
    found.measured = false;
    found.notes.emplace_back(
        "L is a lane of Tensor Memory, C a column of 32 bits; the 32 lanes of every warp have all scales");
    if (kind_->vectors != 4)
      found.notes.emplace_back(
          "each 32 rows have a column of their own, and SF_ID of the instruction descriptor names the first "
          "byte in it (" +
          std::string(byte_ids(kind_->vectors)) + "): here they are side by side");
    return found;
  }
  [[nodiscard]] NamedFragment matrices() const {
    std::string name;
    for (std::string const& word : words_)
      if (word != "m8n8" && word != "b16") name += (name.empty() ? "" : ".") + word;
    for (InstructionName const& known : byte_matrix_names)
      if (known.text == name) return of_bytes(known);
    auto const* const known =
        std::find_if(instruction_names.begin(), instruction_names.end(),
                     [&](InstructionName const& i) { return i.text == name && i.instruction.matrices != 0; });
    if (known == instruction_names.end() && did_you_mean(name_, fragment_names()).empty())
      for (std::string_view const shape : {"m16n16", "m8n16", "m16n8"})
        if (has_word(shape))
          fail("the name needs .x1, .x2 or .x4, .trans (not with m8n16) and the type",
               shape == "m16n16"  ? "ldmatrix.m16n16.x1.trans.b8, .b8x16.b6x16_p32 or .b8x16.b4x16_p64"
               : shape == "m8n16" ? "ldmatrix.m8n16.x1.b8x16.b6x16_p32 or .b8x16.b4x16_p64"
                                  : "stmatrix.m16n8.x1.trans.b8");
    if (known == instruction_names.end()) unknown();
    if (operand_) fail("ldmatrix and stmatrix have no operands", "--into says which operand is meant");
    unsigned const bits = element_bits_.value_or(16);
    if (bits < 4 || bits > 32)
      fail("ldmatrix and stmatrix move elements of 4 to 32 bits here", "--element f16, fp8, f32");
    if (known->instruction.transposed && bits > 16)
      fail("elements of " + std::to_string(bits) + " bits are split: .trans moves units of 16 bits",
           "without .trans they stay whole");
    NamedFragment found;
    found.instruction = name;
    found.memory = known->instruction;
    found.fragment = fragment_of(known->instruction, bits);
    found.needs = known->instruction.operation == Operation::stmatrix ? "sm_90" : "sm_75";
    return found;
  }

  std::string text_;
  std::string name_;
  std::optional<unsigned> element_bits_;
  std::optional<Operand> operand_;
  std::optional<KindWords> kind_{};
  std::vector<std::string> notes_{};
  bool addend_ = false;       ///< C
  bool sparse_ = false;       ///< of mma.sp, wgmma with .sp
  bool a_is_shared_ = false;  ///< of CuTe's atoms for two operands in shared memory
  std::vector<std::string> words_{};
};

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
  return FragmentParser(text, element_bits).parse();
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
  if (threads != f.threads || values != counted_values(f))
    refuse(fmt::format("this layout has {} threads and {} values, the fragment {} and {}{}", threads, values,
                       f.threads, counted_values(f), counts_bits(f) ? " bits" : ""));
  return *layout;
}

TiledOperand parse_tiled_operand(std::string_view text, std::optional<unsigned> element_bits) {
  if (looks_like_tiled_mma(text)) return std::get<TiledOperand>(parse_tiled_mma(text, element_bits, true));
  if (is_of_quad_pairs(text)) return quad_pairs(text);
  NamedFragment const f = FragmentParser(text, element_bits).parse();
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
