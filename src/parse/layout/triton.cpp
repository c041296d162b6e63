// Triton's encodings of shared memory as text, #ttg.swizzled_shared<{...}> (64,64) and its kin, and Gluon's dataclasses.
#include "parse/layout/triton_encoding.hpp"

#include <map>

namespace swizproof {

namespace {

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
    if (in_.looking_at("!")) return lay_out_triton(in_, options_, encoding_, memory_descriptor());
    if (!last) last = encoding();
    std::string element;
    std::optional<unsigned> const bits = parse_angled_element(in_, options_, element);
    encoding_ = std::move(*last);
    return lay_out_triton(in_, options_, encoding_,
                          shape(element.empty() ? std::optional<unsigned>() : bits, element));
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

  /// (64,64), or 64x64xf16. Nothing if the encoding has its own shape.
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
    return lay_out_triton(in_, options_, encoding_,
                          shape(element.empty() ? std::optional<unsigned>() : bits, element));
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
    return lay_out_triton(in_, options_, encoding_, block);
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
