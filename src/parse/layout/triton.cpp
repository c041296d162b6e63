// Triton's encodings of shared memory: #ttg.swizzled_shared<{...}> (64,64) and its kin.
//
// An encoding with a shape says at which offset each coordinate lies, in elements. The coordinate is in the order of the
// shape, so that (row, col) of Triton's tensor is (row, col) of the layout here, and a plain index runs, as in CuTe, through
// the first extent fastest. The formulas are those of Triton's LinearLayoutConversions.cpp (in 2026): an offset's bits lead to
// coordinates, which places() inverts. Checked against plain loops by tests/unit/parse/triton_test.cpp.
#include "parse/layout/mapping_parser.hpp"

#include <swizproof/layout/bases.hpp>

#include <bit>
#include <map>
#include <numeric>

namespace swizproof {

namespace {

constexpr std::string_view triton_forms =
    "such as #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> (64,64), 64x64xf16 "
    "for (64,64), or "
    "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{...}>, #smem>";

bool is_power(std::int64_t n) { return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n)); }
int log2_of_power(std::int64_t n) { return std::countr_zero(static_cast<std::uint64_t>(n)); }

/// `vec = 8` of an encoding, and where it stands.
struct TritonField {
  std::string name{};
  IntTuple value{};
  bool is_truth = false;
  std::size_t at = 0, length = 0;
};

/// An encoding as it is written.
struct TritonEncoding {
  std::string_view
      kind{};  ///< swizzled_shared; shared and its leading offset are told apart when it is laid out
  std::vector<TritonField> fields{};
  std::vector<std::pair<std::int64_t, std::int64_t>> pads{};  ///< 512:+8 of padded_shared
  std::size_t at = 0, length = 0;
};

/// The extents that an encoding is given, and the bits of an element where they are said.
struct TritonShape {
  std::vector<std::int64_t> extents{};
  std::optional<unsigned> bits{};
  std::string element{};
  std::size_t at = 0, length = 0;
};

/// A shared layout of Gluon (python/triton/experimental/gluon/language/_layouts.py), and the encoding that it is: its arguments in
/// their order, each as `argument:field`.
struct GluonLayout {
  std::string_view name, kind, fields;
};
constexpr GluonLayout gluon_layouts[] = {
    {"NVMMASharedLayout", "nvmma_shared",
     "swizzle_byte_width:swizzlingByteWidth element_bitwidth:elementBitWidth rank:rank transposed:transposed "
     "fp4_padded:fp4Padded ctas_per_cga:CTAsPerCGA cta_split_num:CTASplitNum cta_order:CTAOrder "
     "cga_layout:CGALayout"},
    {"SwizzledSharedLayout", "swizzled_shared",
     "vec:vec per_phase:perPhase max_phase:maxPhase order:order ctas_per_cga:CTAsPerCGA "
     "cta_split_num:CTASplitNum cta_order:CTAOrder cga_layout:CGALayout"},
    {"PaddedSharedLayout", "padded_shared",
     "interval_padding_pairs:pads offset_bases:offset cga_layout:CGALayout block_bases:block shape:shape "
     "order:order"},
    {"SharedLinearLayout", "shared_linear", "offset_bases:offset block_bases:block alignment:alignment"},
};
struct GluonField {
  std::string_view name, field;
};
std::vector<GluonField> fields_of(GluonLayout const& layout) {
  std::vector<GluonField> all;
  for (std::string_view rest = layout.fields; !rest.empty();) {
    std::string_view const one = rest.substr(0, rest.find(' '));
    all.push_back({one.substr(0, one.find(':')), one.substr(one.find(':') + 1)});
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return all;
}
GluonLayout const* gluon_layout(std::string_view name) {
  auto const* found = std::find_if(std::begin(gluon_layouts), std::end(gluon_layouts),
                                   [&](GluonLayout const& l) { return l.name == name; });
  return found == std::end(gluon_layouts) ? nullptr : found;
}
/// Passes the module before a layout's name.
bool take_gluon_module(Scanner& in) {
  for (std::string_view const module : {"ttgl.", "gl.", "gluon.language.", "gluon."})
    if (in.take(module)) return true;
  return false;
}

class TritonParser {
 public:
  TritonParser(Scanner& in, MappingOptions const& options) : in_(in), options_(options) {}

  [[nodiscard]] Mapping parse() {
    if (at_gluon(in_)) return gluon();
    std::optional<TritonEncoding> last = definitions();
    if (in_.looking_at("!")) return lay_out(memory_descriptor());
    if (!last) last = encoding();
    std::string element;
    std::optional<unsigned> const bits = parse_angled_element(in_, options_, element);
    encoding_ = std::move(*last);
    return lay_out(shape(element.empty() ? std::optional<unsigned>() : bits, element));
  }

 private:
  // Text

  /// `#shared = #ttg.swizzled_shared<{...}>`, any number of them. What behind them stands for is the last one's shape, or a
  /// type that names them.
  std::optional<TritonEncoding> definitions() {
    std::optional<TritonEncoding> last;
    while (in_.looking_at("#")) {
      std::size_t const from = in_.at();
      (void)in_.take("#");
      std::string const name(in_.take_name());
      if (name.empty() || !in_.take("=") || in_.looking_at("=")) {
        in_.back_to(from);
        break;
      }
      if (memory_space()) continue;
      last = encoding();
      if (!known_.emplace(name, *last).second)
        in_.fail("#" + name + " is defined twice", from, name.size() + 1);
    }
    if (in_.looking_at("#") && last) {
      std::size_t const at = in_.at();
      (void)in_.take("#");
      auto const found = known_.find(std::string(in_.peek_name()));
      if (found == known_.end())
        in_.fail("this encoding is not defined above", at, in_.peek_name().size() + 1);
      (void)in_.take_name();
      last = found->second;
    }
    return last;
  }

  /// #smem, or #ttg.shared_memory: where, not how.
  bool memory_space() {
    std::size_t const from = in_.at();
    if (in_.take("#ttg.shared_memory") || in_.take("#triton_gpu.shared_memory") || in_.take("#smem"))
      return true;
    if (in_.take("#ttng.tensor_memory"))
      in_.fail("tensor memory is not shared memory: it has no banks and no swizzle", from, in_.at() - from);
    return false;
  }

  TritonEncoding encoding() {
    TritonEncoding out;
    out.at = in_.at();
    in_.expect("#", "of an encoding");
    std::string_view const dialect = in_.take_name();
    bool const dotted = in_.take(".");
    if (!dotted) {
      auto const found = known_.find(std::string(dialect));
      if (found != known_.end()) return found->second;
      in_.fail("#" + std::string(dialect) + " is not defined here", out.at, dialect.size() + 1,
               "give its definition before it, or the encoding itself: " + std::string(triton_forms));
    }
    std::size_t const at = in_.at();
    out.kind = in_.take_name();
    if (dialect == "ttng")
      in_.fail("tensor memory is not shared memory: it has no banks and no swizzle", out.at,
               in_.at() - out.at);
    if (dialect != "ttg" && dialect != "triton_gpu")
      in_.fail("unknown dialect '" + std::string(dialect) + "'", out.at + 1, dialect.size(),
               "ttg, or triton_gpu until Triton 3.1");
    check_kind(out.kind, at);
    in_.expect("<", "of the encoding's parameters");
    if (in_.take("[")) {
      if (out.kind != "padded_shared") in_.fail_here("only padded_shared has intervals", "write <{...}>");
      do pads(out);
      while (in_.take(","));
      in_.expect("]", "or ',' after an interval");
    }
    if (in_.take("{")) {
      if (!in_.looking_at("}")) do
          out.fields.push_back(field(out));
        while (in_.take(","));
      in_.expect("}", "or ',' after a parameter");
    } else {
      in_.fail_here("expected '{' of the parameters", std::string(triton_forms));
    }
    while (in_.take(",")) out.fields.push_back(field(out));
    in_.expect(">", "to close the encoding");
    out.length = in_.at() - out.at;
    return out;
  }

  void check_kind(std::string_view kind, std::size_t at) {
    static constexpr std::string_view kinds[] = {"swizzled_shared", "shared",        "nvmma_shared",
                                                 "padded_shared",   "shared_linear", "linear"};
    if (std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds)) return;
    static constexpr std::string_view others[] = {"blocked", "nvidia_mma", "mma",     "dot_op",
                                                  "slice",   "amd_mfma",   "amd_wmma"};
    if (std::find(std::begin(others), std::end(others), kind) != std::end(others))
      in_.fail(std::string(kind) +
                   " says which thread holds an element in registers: it lays out no shared memory",
               at, kind.size(),
               "the encodings of shared memory: swizzled_shared, nvmma_shared, padded_shared, shared_linear");
    in_.fail("unknown encoding '" + std::string(kind) + "'", at, kind.size(),
             "known: swizzled_shared, nvmma_shared, padded_shared, shared_linear, and shared as older "
             "versions write it");
  }

  /// 512:+8
  void pads(TritonEncoding& out) {
    auto const power = [&](std::string_view what) {
      std::size_t const at = in_.at();
      std::int64_t const n = in_.take_integer(what);
      if (!is_power(n) || n > 1 << 20)
        in_.fail(
            std::string(what) + " is " + std::to_string(n) + ", and Triton needs a power of two (up to 2^20)",
            at, in_.at() - at);
      return n;
    };
    std::size_t const at = in_.at();
    std::int64_t const interval = power("the interval");
    in_.expect(":", "of interval:+padding");
    in_.expect("+", "of interval:+padding, such as 512:+8");
    std::int64_t const padding = power("the padding");
    for (auto const& [known, unused] : out.pads)
      if (known == interval)
        in_.fail("the interval " + std::to_string(interval) + " is given twice", at, in_.at() - at);
    out.pads.emplace_back(interval, padding);
  }

  /// name = value
  TritonField field(TritonEncoding const& encoding) {
    TritonField out;
    out.at = in_.at();
    out.name = in_.take_name();
    if (out.name.empty()) in_.fail_here("expected the name of a parameter");
    for (TritonField const& known : encoding.fields)
      if (known.name == out.name) in_.fail(out.name + " is given twice", out.at, out.name.size());
    in_.expect("=", "after " + out.name);
    if (in_.looking_at("true") || in_.looking_at("false")) {
      out.value = IntTuple(in_.take_name() == "true" ? 1 : 0);
      out.is_truth = true;
    } else {
      out.value = value(0);
    }
    out.length = in_.at() - out.at;
    return out;
  }

  /// `8`, `[[0, 1], [0, 2]]`, `8 : i32`.
  IntTuple value(int depth) {
    if (depth > 3) in_.fail_here("nested more than 3 deep");
    if (!in_.take("[")) {
      in_.skip_space();
      std::string_view const digits = in_.rest();
      if (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]))
        in_.fail_here("neither MLIR nor Python has numbers that begin with 0 and another digit",
                      "it would be octal in C and decimal in MLIR: write it without the 0");
      IntTuple const number(in_.take_integer("a number, true, false or a list in brackets"));
      if (in_.take(":")) (void)in_.take_name();
      return number;
    }
    std::vector<IntTuple> modes;
    if (!in_.looking_at("]")) do
        modes.push_back(value(depth + 1));
      while (in_.take(",") && !in_.looking_at("]"));
    in_.expect("]", "or ',' in the list");
    return IntTuple(std::move(modes));
  }

  /// (64,64), or 64x64xf16. Nothing where the encoding knows its own.
  TritonShape shape(std::optional<unsigned> bits, std::string element) {
    TritonShape out;
    out.at = in_.at();
    out.bits = bits;
    out.element = std::move(element);
    if (in_.looking_at("(")) {
      IntTuple const extents = parse_extents(in_);
      out.extents = extents.leaves();
    } else if (is_digit(in_.peek())) {
      extents_by_x(out);
    }
    out.length = in_.at() - out.at;
    return out;
  }

  /// 64x64xf16; the type may be missing.
  void extents_by_x(TritonShape& out) {
    while (is_digit(in_.peek())) {
      std::size_t const at = in_.at();
      std::int64_t const extent = in_.take_integer("an extent");
      if (extent < 1 || extent > 1 << 20) in_.fail("extents are integers from 1 to 2^20", at, in_.at() - at);
      out.extents.push_back(extent);
      if (!in_.take("x")) return;
    }
    std::size_t const at = in_.at();
    out.element = in_.take_name();
    out.bits = element_bits(out.element, at);
  }

  /// Bits of an element type as MLIR names it: f16, bf16, i8, f8E4M3FN.
  unsigned element_bits(std::string const& name, std::size_t at) {
    if (name.starts_with("f8E")) return 8;
    if (name == "i1") return 8;  // a byte in shared memory
    try {
      return parse_element(name);
    } catch (InputError const& error) {
      in_.fail(error.message, at, name.size(),
               "as MLIR names them: f16, bf16, f32, f64, i8, i16, i32, f8E4M3FN, f8E5M2");
    }
  }

  /// !ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{...}>, #smem, mutable>: its encoding becomes encoding_.
  TritonShape memory_descriptor() {
    std::size_t const from = in_.at();
    (void)in_.take("!");
    std::string_view const dialect = in_.take_name();
    if (!in_.take(".") || !in_.take("memdesc"))
      in_.fail("expected the type !ttg.memdesc<...>", from, in_.at() - from,
               "tensors live in registers; " + std::string(triton_forms));
    if (dialect != "ttg" && dialect != "triton_gpu" && dialect != "tt")
      in_.fail("unknown dialect '" + std::string(dialect) + "'", from + 1, dialect.size());
    in_.expect("<", "of the memdesc");
    TritonShape out;
    out.at = in_.at();
    extents_by_x(out);
    out.length = in_.at() - out.at;
    if (!out.bits) in_.fail("a memdesc has extents and an element type: 64x64xf16", out.at, out.length);
    in_.expect(",", "and the encoding, after the element type");
    encoding_ = encoding();
    while (in_.take(",")) {
      if (memory_space() || in_.take("mutable")) continue;
      std::size_t const at = in_.at();
      TritonShape whole;
      if (!is_digit(in_.peek())) in_.fail_here("expected #smem, mutable or the allocation's shape");
      extents_by_x(whole);
      if (!std::equal(out.extents.rbegin(), out.extents.rend(), whole.extents.rbegin(),
                      whole.extents.rbegin() +
                          static_cast<std::ptrdiff_t>(std::min(out.extents.size(), whole.extents.size()))))
        in_.fail("this is a view of a larger allocation, whose layout it has", at, in_.at() - at,
                 "give the allocation's memdesc: its lines are as long as the allocation's");
    }
    in_.expect(">", "to close the memdesc");
    return out;
  }

  /// `ttgl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2) (64,64)`: a dataclass of Gluon.
  Mapping gluon() {
    encoding_ = {};
    encoding_.at = in_.at();
    (void)take_gluon_module(in_);
    GluonLayout const& layout = *gluon_layout(in_.peek_name());
    (void)in_.take_name();
    encoding_.kind = layout.kind;
    if (in_.take(".")) {
      if (layout.kind == "nvmma_shared" && in_.take_word("get_default_for")) return gluon_default();
      in_.fail(
          std::string(layout.name) + "." + std::string(in_.peek_name()) + " is computed from its arguments",
          encoding_.at, in_.at() - encoding_.at, "write the layout that it gives, as print() shows it");
    }
    in_.expect("(", "of the layout's arguments");
    std::size_t position = 0;
    if (!in_.looking_at(")")) do
        gluon_argument(layout, position++);
      while (in_.take_comma(')'));
    in_.expect(")", "or ',' after an argument");
    encoding_.length = in_.at() - encoding_.at;
    std::string element;
    std::optional<unsigned> const bits = parse_angled_element(in_, options_, element);
    return lay_out(shape(element.empty() ? std::optional<unsigned>() : bits, element));
  }
  /// `NVMMASharedLayout.get_default_for([64, 64], gl.float16)`: the widest swizzle that divides the bytes of the contiguous extent; none
  /// for less than 8 lines. [Triton, python/triton/experimental/gluon/language/_layouts.py]
  Mapping gluon_default() {
    in_.expect("(", "of the block's shape");
    TritonShape block;
    block.at = in_.at();
    block.extents = value(0).leaves();
    block.length = in_.at_end_of_token() - block.at;
    in_.expect(",", "after the block's shape");
    (void)take_gluon_module(in_);
    Element const element = parse_element_here(in_);
    block.bits = element.bits, block.element = element.name;
    bool transposed = false;
    if (in_.take(",")) {
      if (!in_.take_word("transposed") || !in_.take("=")) in_.fail_here("expected transposed=");
      transposed = in_.take_word("True");
      if (!transposed && !in_.take_word("False")) in_.fail_here("expected True or False");
    }
    in_.expect(")", "of the arguments");
    encoding_.length = in_.at_end_of_token() - encoding_.at;
    std::int64_t size = 1;
    for (std::int64_t const n : block.extents)
      if (n < 1 || n > (1 << 20) || (size *= n) > std::int64_t{1} << 31)
        in_.fail("extents are from 1 on, and their product is at most 2^31", block.at, block.length);
    if (block.extents.empty())
      in_.fail("a block has a shape", block.at, std::max<std::size_t>(block.length, 1));
    std::int64_t const contiguous = transposed ? block.extents.front() : block.extents.back();
    std::int64_t const bytes = contiguous * element.bits / 8;
    std::int64_t width = bytes % 128 == 0 ? 128 : bytes % 64 == 0 ? 64 : bytes % 32 == 0 ? 32 : 0;
    if (block.extents.size() < 2 || size / contiguous < 8) width = 0;
    auto const field = [&](char const* name, std::int64_t n, bool is_truth) {
      encoding_.fields.push_back({name, IntTuple(n), is_truth, encoding_.at, encoding_.length});
    };
    field("swizzlingByteWidth", width, false);
    field("elementBitWidth", element.bits, false);
    field("transposed", transposed ? 1 : 0, true);
    field("rank", static_cast<std::int64_t>(block.extents.size()), false);
    return lay_out(block);
  }
  /// One argument, by its name or its position, as the field of the encoding that it becomes.
  void gluon_argument(GluonLayout const& layout, std::size_t position) {
    std::size_t const from = in_.at();
    std::string name(in_.at_letter() ? in_.take_name() : "");
    std::vector<GluonField> const fields = fields_of(layout);
    if (name.empty() || !in_.take("=")) {
      in_.back_to(from);
      if (position >= fields.size())
        in_.fail_here(std::string(layout.name) + " has " + std::to_string(fields.size()) + " arguments");
      name = fields[position].name;
    }
    auto const known =
        std::find_if(fields.begin(), fields.end(), [&](GluonField const& f) { return f.name == name; });
    if (known == fields.end()) {
      std::string names;
      for (GluonField const& f : fields) names += (names.empty() ? "" : ", ") + std::string(f.name);
      in_.fail("unknown argument '" + name + "' of " + std::string(layout.name), from, name.size(),
               "its arguments: " + names);
    }
    TritonField out;
    out.at = in_.at();
    out.name = known->field;
    for (TritonField const& f : encoding_.fields)
      if (f.name == out.name) in_.fail(name + " is given twice", from, name.size());
    if (in_.take_word("None")) return;
    bool const yes = in_.take_word("True"), no = !yes && in_.take_word("False");
    out.is_truth = yes || no;
    out.value = out.is_truth ? IntTuple(yes ? 1 : 0) : value(0);
    out.length = in_.at() - out.at;
    if (out.name == "pads") return gluon_pads(out);
    bool const nothing = out.value.is_tuple && out.value.modes.empty();
    if (nothing && (out.name == "block" || out.name == "CGALayout")) return;
    encoding_.fields.push_back(std::move(out));
  }
  /// [[512, 8], [1024, 16]]
  void gluon_pads(TritonField const& pairs) {
    for (IntTuple const& pair : pairs.value.modes) {
      std::vector<std::int64_t> const both = pair.leaves();
      bool const powers = both.size() == 2 && is_power(both[0]) && is_power(both[1]) && both[0] <= 1 << 20 &&
                          both[1] <= 1 << 20;
      if (!powers)
        in_.fail("an interval and its padding are powers of two (up to 2^20)", pairs.at, pairs.length,
                 "[[512, 8]]: 8 elements behind each 512");
      for (auto const& [known, unused] : encoding_.pads)
        if (known == both[0])
          in_.fail("the interval " + std::to_string(known) + " is given twice", pairs.at, pairs.length);
      encoding_.pads.emplace_back(both[0], both[1]);
    }
  }

  // Meaning

  [[nodiscard]] TritonField const* find(std::string_view name) const {
    auto const found = std::find_if(encoding_.fields.begin(), encoding_.fields.end(),
                                    [&](TritonField const& f) { return f.name == name; });
    return found == encoding_.fields.end() ? nullptr : &*found;
  }
  [[noreturn]] void missing(std::string_view name) {
    in_.fail(std::string(encoding_.kind) + " needs " + std::string(name), encoding_.at, encoding_.length,
             "its parameters: " + std::string(names()));
  }
  std::int64_t number(std::string_view name, std::int64_t least, std::int64_t most) {
    TritonField const* const f = find(name);
    if (f == nullptr) missing(name);
    bool const fits = !f->value.is_tuple && !f->is_truth && f->value.value >= least && f->value.value <= most;
    if (!fits)
      in_.fail(
          std::string(name) + " is a number from " + std::to_string(least) + " to " + std::to_string(most),
          f->at, f->length);
    return f->value.value;
  }
  std::int64_t power(std::string_view name) {
    std::int64_t const n = number(name, 1, 1 << 20);
    if (is_power(n)) return n;
    TritonField const* const f = find(name);
    in_.fail(std::string(name) + " is " + std::to_string(n) + ", and Triton's layouts need a power of two",
             f->at, f->length);
  }
  bool truth(std::string_view name) {
    TritonField const* const f = find(name);
    if (f == nullptr) return false;
    if (!f->is_truth) in_.fail(std::string(name) + " is true or false", f->at, f->length);
    return f->value.value != 0;
  }
  /// The axes, fastest first.
  std::vector<std::size_t> order() {
    TritonField const* const f = find("order");
    if (f == nullptr) missing("order");
    return axes_of(*f);
  }
  std::vector<std::size_t> axes_of(TritonField const& field) {
    TritonField const* const f = &field;
    std::vector<std::int64_t> const axes = f->value.leaves();
    std::vector<std::int64_t> sorted = axes, wanted(axes.size());
    std::sort(sorted.begin(), sorted.end());
    std::iota(wanted.begin(), wanted.end(), 0);
    if (!f->value.is_tuple || axes.empty() || sorted != wanted)
      in_.fail(f->name + " lists every axis once, the fastest first", f->at, f->length,
               "row-major with two axes: order = [1, 0]");
    return {axes.begin(), axes.end()};
  }
  /// Only one CTA, or the same for all: what else there is says which CTA has which part.
  void refuse_splits() {
    for (char const* name : {"CTAsPerCGA", "CTASplitNum", "CGALayout", "block"}) {
      TritonField const* const f = find(name);
      if (f == nullptr) continue;
      bool const counts = std::string_view(name).starts_with("CTA");
      for (std::int64_t const n : f->value.leaves())
        if (n != (counts ? 1 : 0))
          in_.fail(std::string(name) +
                       " splits the tensor among the CTAs of a cluster, and a layout here is one CTA's",
                   f->at, f->length, "give the encoding without it, with the shape of one CTA's part");
    }
  }
  /// The names that an encoding knows, for its messages without those of CTAs, which must say that there is one.
  struct Parameters {
    std::string_view kind, names;
  };
  static constexpr Parameters parameters[] = {
      {"swizzled_shared", "vec perPhase maxPhase order"},
      {"shared", "vec perPhase maxPhase order hasLeadingOffset"},
      {"nvmma_shared", "swizzlingByteWidth transposed elementBitWidth fp4Padded rank"},
      {"padded_shared", "order shape offset block"},
      {"shared_linear", "offset block alignment"},
      {"linear", "offset block alignment register lane warp"},
  };
  [[nodiscard]] std::string_view names() const {
    return std::find_if(std::begin(parameters), std::end(parameters),
                        [&](Parameters const& p) { return p.kind == encoding_.kind; })
        ->names;
  }
  void refuse_unknown() const {
    std::string const known = " " + std::string(names()) + " CTAsPerCGA CTASplitNum CTAOrder CGALayout ";
    for (TritonField const& f : encoding_.fields)
      if (known.find(" " + f.name + " ") == known.npos)
        in_.fail(std::string(encoding_.kind) + " has no parameter '" + f.name + "'", f.at, f.name.size(),
                 "its parameters: " + std::string(names()));
  }
  [[noreturn]] void refuse_shape(TritonShape const& shape, std::string message, std::string hint = {}) {
    in_.fail(std::move(message), shape.at, std::max<std::size_t>(shape.length, 1), std::move(hint));
  }

  /// The extents of one buffer, powers of two: the last `rank` ones. Those before them count buffers.
  std::vector<std::int64_t> extents_of(TritonShape const& shape, std::size_t rank) {
    if (shape.extents.empty())
      in_.fail(std::string(encoding_.kind) + " says nothing of the extents: the shape is missing",
               encoding_.at, encoding_.length, std::string(triton_forms));
    if (shape.extents.size() < rank)
      refuse_shape(shape, "the encoding has " + std::to_string(rank) + " axes, the shape " +
                              std::to_string(shape.extents.size()));
    std::vector<std::int64_t> const own(shape.extents.end() - static_cast<std::ptrdiff_t>(rank),
                                        shape.extents.end());
    std::int64_t product = 1;
    for (std::int64_t const n : own) {
      if (!is_power(n))
        refuse_shape(shape,
                     "the extent " + std::to_string(n) + " is no power of two, and Triton's layouts need one",
                     "tensors of Triton have extents of powers of two; give the shape of what is allocated");
      product *= n;
      if (product > 1 << 28) refuse_shape(shape, "the shape has more than 2^28 elements");
    }
    return own;
  }

  Mapping lay_out(TritonShape const& shape) {
    refuse_unknown();
    Mapping map = lay_out_known(shape);
    if (TritonField const* const f = find("CTAOrder")) {
      (void)axes_of(*f);
      map.notes.push_back("CTAOrder orders the CTAs of a cluster: the layout is that of one CTA");
    }
    return map;
  }
  Mapping lay_out_known(TritonShape const& shape) {
    std::string_view const kind = encoding_.kind;
    Mapping map = kind == "nvmma_shared"                        ? nvmma(shape)
                  : kind == "padded_shared"                     ? padded(shape)
                  : kind == "shared_linear" || kind == "linear" ? linear(shape)
                                                                : swizzled(shape);
    if (!map.element_bits) map.element_bits = shape.bits ? shape.bits : options_.element_bits;
    if (shape.bits && map.element_bits != shape.bits)
      refuse_shape(shape, "the encoding says elements of " + std::to_string(*map.element_bits) +
                              " bits, the shape " + std::to_string(*shape.bits));
    map.element = shape.element;
    map.text = to_string(map);
    return map;
  }

  /// The map of one buffer; of several, one behind the other, the last modes say which, as CuTe's stages do.
  Mapping finish(TritonShape const& shape, std::vector<std::int64_t> const& own, BitPlaces const& places,
                 std::int64_t each) {
    Mapping map;
    map.on_elements = stages_of_bits(own, places);
    auto& layout = std::get<Layout>(map.on_elements.back());
    std::size_t const buffers = shape.extents.empty() ? 0 : shape.extents.size() - own.size();
    for (std::size_t i = buffers; i-- > 0;) {
      layout.shape.modes.insert(layout.shape.modes.begin() + static_cast<std::ptrdiff_t>(own.size()),
                                IntTuple(shape.extents[i]));
      layout.stride.modes.insert(layout.stride.modes.begin() + static_cast<std::ptrdiff_t>(own.size()),
                                 IntTuple(each));
      if (__builtin_mul_overflow(each, shape.extents[i], &each) || each > std::int64_t{1} << 32)
        refuse_shape(shape, "the shape has more than 2^32 elements");
    }
    if (buffers != 0)
      map.notes.push_back("the encoding has " + std::to_string(own.size()) +
                          " axes: the extents before them count buffers, one behind the other, which are the "
                          "last modes here");
    return map;
  }

  /// Positions of the bits of each mode if the axes follow each other in `order`, without a swizzle.
  static BitPlaces in_order(std::vector<std::int64_t> const& shape, std::vector<std::size_t> const& order) {
    std::vector<std::uint64_t> start(shape.size());
    std::uint64_t next = 1;
    for (std::size_t const axis : order) {
      start[axis] = next;
      next *= static_cast<std::uint64_t>(shape[axis]);
    }
    BitPlaces out;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      for (int bit = 0; bit < log2_of_power(shape[axis]); ++bit) out.push_back(start[axis] << bit);
    return out;
  }

  /// offset(row, col) = row * columns + (col ^ (vec * (row / perPhase % maxPhase)) % columns); `col` is the axis order[0].
  Mapping swizzled(TritonShape const& shape) {
    std::int64_t const vec = power("vec"), per_phase = power("perPhase"), phases = power("maxPhase");
    std::vector<std::size_t> const axes = order();
    refuse_splits();
    bool const leading = encoding_.kind == "shared" && truth("hasLeadingOffset");
    if (leading) return leading_offset(shape, per_phase, phases, axes);
    std::vector<std::int64_t> const own = extents_of(shape, axes.size());
    BitPlaces places = in_order(own, axes);
    if (axes.size() > 1) {
      std::size_t first = 0;
      for (std::size_t axis = 0; axis < axes[1]; ++axis)
        first += static_cast<std::size_t>(log2_of_power(own[axis]));
      for (int bit = 0; bit < log2_of_power(own[axes[1]]); ++bit) {
        std::int64_t const row = std::int64_t{1} << bit;
        places[first + static_cast<std::size_t>(bit)] ^=
            static_cast<std::uint64_t>(vec * (row / per_phase % phases) % own[axes[0]]);
      }
    }
    return finish(shape, own, places,
                  std::accumulate(own.begin(), own.end(), std::int64_t{1}, std::multiplies<>()));
  }

  /// The 8 rows of a core matrix, whose columns are exchanged: bases of offsets, (row, col).
  struct CoreMatrix {
    std::int64_t columns = 0, vec = 0, per_phase = 0, phases = 0;
    bool padded = false;  ///< 8 bytes of fp4 and 8 bytes of nothing
    [[nodiscard]] std::vector<std::vector<std::int64_t>> bases() const {
      auto const packed = [&](std::int64_t column) { return padded ? column / 16 * 8 + column % 8 : column; };
      std::vector<std::vector<std::int64_t>> out;
      for (std::int64_t column = 1; column < columns; column *= 2) out.push_back({0, packed(column)});
      for (std::int64_t row = 1; row < 8; row *= 2)
        out.push_back({row, packed(vec * (row / per_phase % phases))});
      return out;
    }
  };

  /// More offsets for what of an axis is not reached yet.
  static void extend(OffsetBases& bases, std::size_t axis, std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step < to; step *= 2) {
      std::vector<std::int64_t> base(bases.shape.size(), 0);
      base[axis] = step;
      bases.coordinates.push_back(std::move(base));
    }
  }

  /// nvmma_shared, with its swizzle on byte addresses, where TMA and wgmma apply it; Triton aligns the buffer to its period.
  Mapping nvmma(TritonShape const& shape) {
    std::int64_t const width = number("swizzlingByteWidth", 0, 128), bits = number("elementBitWidth", 8, 64);
    if (width != 0 && width != 32 && width != 64 && width != 128)
      in_.fail("swizzlingByteWidth is 0, 32, 64 or 128", find("swizzlingByteWidth")->at,
               find("swizzlingByteWidth")->length);
    if (!is_power(bits))
      in_.fail("elementBitWidth is 8, 16, 32 or 64", find("elementBitWidth")->at,
               find("elementBitWidth")->length);
    bool const transposed = truth("transposed"), padded = truth("fp4Padded");
    std::int64_t const rank = find("rank") != nullptr ? number("rank", 1, 5) : 2;
    refuse_splits();
    std::vector<std::int64_t> const own = extents_of(shape, static_cast<std::size_t>(rank));
    if (padded && (bits != 8 || width != 128))
      in_.fail("fp4Padded needs elementBitWidth = 8 and swizzlingByteWidth = 128", find("fp4Padded")->at,
               find("fp4Padded")->length);
    if (width == 0 && transposed && rank > 2)
      in_.fail("transposed without a swizzle is read of two axes alone", find("transposed")->at,
               find("transposed")->length, "give the two axes that one buffer has");
    std::size_t const contiguous = transposed ? 0 : own.size() - 1;
    std::vector<std::int64_t> block = own;
    if (padded) block[contiguous] *= 2;
    for (std::int64_t& n : block) n = std::min<std::int64_t>(n, 256);
    std::int64_t const line = 8 * width / bits;
    if (width != 0) {
      if (rank < 2) refuse_shape(shape, "a swizzle needs two axes");
      if (block[contiguous] < line)
        refuse_shape(shape,
                     "the contiguous axis has " + std::to_string(block[contiguous]) +
                         " elements, the swizzle's lines " + std::to_string(line),
                     "swizzlingByteWidth is at most the bytes of a line; of a transposed one the first axis "
                     "is contiguous");
      block[contiguous] = line;
    }
    if (padded) block[contiguous] /= 2;
    OffsetBases const bases = width == 0 ? linear_block(own, block, transposed && rank > 1)
                                         : core_matrices(shape, own, block, transposed, padded);
    std::optional<BitPlaces> const found = places(bases);
    if (!found) refuse_shape(shape, "Triton lays out no tensor of this shape so");
    Mapping map = finish(shape, own, *found, std::int64_t{1} << bases.coordinates.size());
    if (width == 0 && transposed && rank > 1)
      map.notes.push_back(
          "Triton before its pull request 10453 (June 2026) ignores transposed where swizzlingByteWidth is "
          "0: "
          "there the last axis is contiguous, as with transposed = false");
    map.element_bits = static_cast<unsigned>(bits);
    if (map.on_elements.size() == 3 && std::holds_alternative<Swizzle>(map.on_elements[0])) {
      auto const on_bytes = recast(std::get<Swizzle>(map.on_elements[0]), -log2_of_power(bits / 8));
      if (on_bytes) {
        map.on_bytes = {*on_bytes};
        map.on_elements.erase(map.on_elements.begin(), map.on_elements.begin() + 2);
      }
    }
    return map;
  }

  /// Blocks of TMA one behind the other, in each the last axis fastest; transposed, the first of two.
  static OffsetBases linear_block(std::vector<std::int64_t> const& own,
                                  std::vector<std::int64_t> const& block, bool transposed) {
    OffsetBases bases{own, {}};
    std::vector<std::size_t> axes(own.size());
    std::iota(axes.rbegin(), axes.rend(), 0);  // the last one first
    if (transposed) std::reverse(axes.begin(), axes.end());
    for (std::size_t const axis : axes) extend(bases, axis, 1, block[axis]);
    for (std::size_t const axis : axes) extend(bases, axis, block[axis], own[axis]);
    return bases;
  }

  /// One TMA block, its outer axes as one, and behind it the blocks along each axis, the first axis fastest.
  OffsetBases core_matrices(TritonShape const& shape, std::vector<std::int64_t> const& own,
                            std::vector<std::int64_t> const& block, bool transposed, bool padded) {
    std::int64_t const bits = number("elementBitWidth", 8, 64), width = number("swizzlingByteWidth", 0, 128);
    std::size_t const rank = own.size();
    std::int64_t rows = 1, columns = block.back();
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) rows *= block[axis];
    if (transposed) std::swap(rows, columns);
    CoreMatrix const core{8 * width / bits, 128 / bits, 128 / width, width / 16, padded};
    if (rows < 8)
      refuse_shape(shape, "a core matrix has 8 lines, the shape " + std::to_string(rows),
                   "Triton refuses it too: expected collapsed shapePerCTA to be at least 8 lines");
    OffsetBases flat{{rows, columns}, core.bases()};
    extend(flat, 0, 8, rows);
    extend(flat, 1, padded ? core.columns / 2 : core.columns, columns);
    // The collapsed coordinate (row, column) is one number, whose digits are the block's axes, the last one fastest.
    std::vector<std::size_t> axes(rank);
    std::iota(axes.begin(), axes.end(), transposed ? 1 : 0);
    if (transposed) axes.back() = 0;
    OffsetBases out{own, {}};
    for (std::vector<std::int64_t> const& base : flat.coordinates) {
      std::int64_t index = base[0] * columns + base[1];
      std::vector<std::int64_t> coordinate(rank, 0);
      for (std::size_t i = rank; i-- > 0; index /= block[axes[i]])
        coordinate[axes[i]] = index % block[axes[i]];
      out.coordinates.push_back(std::move(coordinate));
    }
    for (std::size_t axis = 0; axis < rank; ++axis) extend(out, axis, block[axis], own[axis]);
    return out;
  }

  /// shared<{..., hasLeadingOffset = true}>, nvmma_shared before it had a name: tiles of 8 rows, then rows, then columns.
  Mapping leading_offset(TritonShape const& shape, std::int64_t per_phase, std::int64_t phases,
                         std::vector<std::size_t> const& axes) {
    std::vector<std::int64_t> const own = extents_of(shape, axes.size());
    auto const bits = static_cast<std::int64_t>(shape.bits ? *shape.bits : options_.element_bits.value_or(0));
    if (bits == 0)
      refuse_shape(shape, "hasLeadingOffset swizzles bytes: the element type is missing",
                   "write 64x64xf16, or --element f16");
    if (per_phase * phases != 8 || phases < 2)
      in_.fail("hasLeadingOffset needs perPhase and maxPhase of a wgmma swizzle", encoding_.at,
               encoding_.length,
               "perPhase = 1, maxPhase = 8 (128 bytes), 2 and 4 (64 bytes), or 4 and 2 (32 bytes)");
    if (axes.size() < 2) refuse_shape(shape, "a swizzle needs two axes");
    std::int64_t const line = 8 * 16 * phases / bits;
    if (own[axes[0]] < line || own[axes[1]] < 8)
      refuse_shape(shape,
                   "the shape is smaller than a tile of 8 rows of " + std::to_string(line) + " elements");
    if (std::int64_t const vec = power("vec"); vec != 128 / bits)
      in_.fail("hasLeadingOffset moves 16 bytes at once: vec is " + std::to_string(128 / bits) +
                   " elements here, not " + std::to_string(vec),
               find("vec")->at, find("vec")->length);
    CoreMatrix const core{line, 128 / bits, per_phase, phases, false};
    OffsetBases bases{own, {}};
    for (std::vector<std::int64_t> const& base : core.bases()) {
      std::vector<std::int64_t> coordinate(own.size(), 0);
      coordinate[axes[1]] = base[0], coordinate[axes[0]] = base[1];
      bases.coordinates.push_back(std::move(coordinate));
    }
    extend(bases, axes[1], 8, own[axes[1]]);
    extend(bases, axes[0], line, own[axes[0]]);
    for (std::size_t i = 2; i < axes.size(); ++i) extend(bases, axes[i], 1, own[axes[i]]);
    Mapping map = finish(shape, own, places(bases).value(), std::int64_t{1} << bases.coordinates.size());
    if (auto const* swizzle = std::get_if<Swizzle>(&map.on_elements[0]); swizzle != nullptr && bits >= 8)
      if (auto const on_bytes = recast(*swizzle, -log2_of_power(bits / 8))) {
        map.on_bytes = {*on_bytes};
        map.on_elements.erase(map.on_elements.begin(), map.on_elements.begin() + 2);
        map.element_bits = static_cast<unsigned>(bits);
      }
    return map;
  }

  /// The bases `offset = [[0, 1], [0, 2], ...]`; the extents are the powers of two above what they reach.
  OffsetBases offset_bases(TritonShape const& shape) {
    TritonField const* const f = find("offset");
    if (f == nullptr) {
      if (encoding_.kind == "linear")
        in_.fail(
            "a linear layout of registers, lanes and warps says which thread holds an element: it lays out "
            "no shared memory",
            encoding_.at, encoding_.length,
            "one of shared memory has offset = [[0, 1], ...], as shared_linear");
      missing("offset");
    }
    OffsetBases bases;
    bool const lists = f->value.is_tuple && !f->value.modes.empty() && f->value.modes[0].is_tuple;
    bases.shape.assign(lists ? f->value.modes[0].modes.size() : 0, 1);
    if (bases.shape.empty())
      in_.fail("offset is a list of coordinates, one for each bit of an offset", f->at, f->length,
               "row-major (2,4): offset = [[0, 1], [0, 2], [1, 0]]");
    for (IntTuple const& base : f->value.modes) {
      if (!base.is_tuple || base.modes.size() != bases.shape.size() || base.depth() != 1)
        in_.fail("the coordinates of offset have as many indices each", f->at, f->length);
      for (std::size_t m = 0; m < bases.shape.size(); ++m) {
        std::int64_t const n = base.modes[m].value;
        if (n < 0 || n > 1 << 20) in_.fail("indices are from 0 to 2^20", f->at, f->length);
        bases.shape[m] = std::max(
            bases.shape[m], static_cast<std::int64_t>(2 * std::bit_floor(static_cast<std::uint64_t>(n))));
      }
      bases.coordinates.push_back(base.leaves());
    }
    check_given(shape, bases.shape);
    return bases;
  }
  /// The shape behind an encoding that has its own must be that one, or have buffers before it.
  void check_given(TritonShape const& shape, std::vector<std::int64_t> const& own) {
    if (shape.extents.empty()) return;
    if (shape.extents.size() >= own.size() && std::equal(own.rbegin(), own.rend(), shape.extents.rbegin()))
      return;
    std::string text;
    for (std::int64_t const n : own) text += (text.empty() ? "(" : ",") + std::to_string(n);
    refuse_shape(shape, "the encoding is one of the shape " + text + ")");
  }
  BitPlaces inverse(OffsetBases const& bases) {
    if (auto found = places(bases)) return std::move(*found);
    TritonField const* const f = find("offset");
    in_.fail("these bases do not give every coordinate one offset", f->at, f->length,
             "as many bits of the offset as of the coordinates, none a sum (XOR) of others; a gap is a base "
             "of zeros");
  }

  /// shared_linear, and linear with an offset.
  Mapping linear(TritonShape const& shape) {
    OffsetBases const bases = offset_bases(shape);
    refuse_splits();
    for (char const* name : {"register", "lane", "warp"})
      if (TritonField const* const f = find(name))
        in_.fail(std::string(name) + " says which thread holds an element, and offset where it lies", f->at,
                 f->length, "of shared memory leave it out");
    std::optional<std::int64_t> alignment;
    if (find("alignment") != nullptr) alignment = power("alignment");
    Mapping map = finish(shape, bases.shape, inverse(bases), std::int64_t{1} << bases.coordinates.size());
    if (alignment)
      map.notes.push_back("alignment = " + std::to_string(*alignment) +
                          ": Triton starts the buffer at a multiple of it, which --align " +
                          std::to_string(*alignment) + " assumes");
    return map;
  }

  /// i + sum of (i / interval) * padding, of the offset i that the linear part gives: bits stay apart, so it is a layout.
  Mapping padded(TritonShape const& shape) {
    if (encoding_.pads.empty()) missing("intervals");
    OffsetBases bases;
    BitPlaces places;
    if (find("offset") != nullptr || find("order") == nullptr) {
      for (char const* name : {"order", "shape"})
        if (TritonField const* const f = find(name); f != nullptr && find("offset") != nullptr)
          in_.fail("offset says where every element lies: " + std::string(name) + " has no meaning with it",
                   f->at, f->length);
      bases = offset_bases(shape);
      for (std::vector<std::int64_t> const& base : bases.coordinates)
        if (std::count(base.begin(), base.end(), 0) + 1 != static_cast<std::ptrdiff_t>(base.size()) ||
            !is_power(std::accumulate(base.begin(), base.end(), std::int64_t{0})))
          in_.fail("each base of padded_shared moves along one axis by a power of two", find("offset")->at,
                   find("offset")->length);
      refuse_splits();
      places = inverse(bases);
    } else {
      std::vector<std::size_t> const axes = order();
      TritonField const* const f = find("shape");
      if (f == nullptr) missing("shape");
      TritonShape const own{f->value.leaves(), {}, {}, f->at, f->length};
      if (own.extents.size() != axes.size())
        in_.fail("shape and order have as many axes each", f->at, f->length);
      bases.shape = extents_of(own, axes.size());
      check_given(shape, bases.shape);
      places = in_order(bases.shape, axes);
    }
    if (shape.extents.size() > bases.shape.size())
      refuse_shape(shape, "buffers of a padded encoding are not laid out here", "give one buffer's shape");
    for (std::uint64_t& place : places) {
      std::uint64_t const offset = place;
      for (auto const& [interval, padding] : encoding_.pads)
        place += offset / static_cast<std::uint64_t>(interval) * static_cast<std::uint64_t>(padding);
    }
    Mapping map;
    map.on_elements = {layout_of_bits(bases.shape, places)};
    return map;
  }

  Scanner& in_;
  MappingOptions const& options_;
  std::map<std::string, TritonEncoding> known_{};
  TritonEncoding encoding_{};
};

}  // namespace

bool at_gluon(Scanner& in) {
  std::size_t const from = in.at();
  (void)take_gluon_module(in);
  bool const found = gluon_layout(in.peek_name()) != nullptr;
  in.back_to(from);
  return found;
}

Mapping parse_triton(Scanner& in, MappingOptions const& options) { return TritonParser(in, options).parse(); }

}  // namespace swizproof
