#include "command/operand/tma_box.hpp"

#include "command/layout/emit.hpp"

#include "report/report.hpp"

#include <swizproof/parse/tma_box.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// A box of one type, and what was found.
struct OneType {
  TmaBoxQuestion question{};
  TmaBoxAnswer found{};
};

struct BoxResult {
  std::vector<OneType> types{};  ///< types; two for elements of 4 bits
  Architecture const* arch = nullptr;
  Support support = Support::documented;
  [[nodiscard]] bool legal() const {
    return std::any_of(types.begin(), types.end(), [](OneType const& t) { return t.found.broken.empty(); });
  }
};

/// `48,16`: numbers, which are read whole. No text is none.
std::vector<std::uint64_t> numbers_of(std::string const& text, std::string const& wanted) {
  std::vector<std::uint64_t> out;
  for (std::size_t from = 0; from <= text.size() && !text.empty();) {
    std::size_t const end = std::min(text.find(',', from), text.size());
    out.push_back(parse_number(text, from, end, wanted));
    from = end + 1;
  }
  return out;
}

std::vector<std::uint64_t> extents_of(std::string const& text) {
  std::vector<std::uint64_t> out =
      numbers_of(text, "a box is its extents in elements, innermost first: 48,16");
  if (out.empty()) throw InputError::whole("a box is its extents in elements, innermost first: 48,16", text);
  for (std::uint64_t const extent : out)
    if (extent > 1U << 20) throw InputError::whole("an extent of a box is at most 256", text);
  return out;
}

TmaTensor tensor_of(TmaBoxArguments const& options) {
  TmaTensor tensor;
  tensor.extents =
      numbers_of(options.extent, "--extent takes the tensor's extents in elements, innermost first");
  tensor.strides = numbers_of(options.stride, "--stride takes bytes, of all dimensions but the innermost");
  tensor.element_strides =
      numbers_of(options.element_stride, "--element-stride takes a number for each dimension");
  if (!options.address.empty())
    tensor.address =
        parse_number(options.address, 0, options.address.size(), "--address takes a number of bytes");
  return tensor;
}

bool has_tensor(TmaBoxArguments const& o) {
  return !o.extent.empty() || !o.stride.empty() || !o.element_stride.empty() || !o.address.empty();
}

BoxResult compute_box(Common const& common, TmaBoxArguments const& options) {
  BoxResult result;
  result.arch = &parse_architecture(common.arch);
  result.support = tma_box_basis(*result.arch);
  // Campaign `boxes` measured boxes of one tensor.
  if (has_tensor(options)) result.support = weaker(result.support, Support::documented);
  for (TmaBoxQuestion& question : parse_tma_box(
           {extents_of(options.box), options.swizzle, options.element, options.im2col, tensor_of(options)})) {
    TmaBoxAnswer found = tma_box(question, *result.arch);
    result.types.push_back({std::move(question), std::move(found)});
  }
  return result;
}

Json to_json(OneType const& type) {
  TmaBoxAnswer const& found = type.found;
  Json out{{"data_type", "CU_TENSOR_MAP_DATA_TYPE_" + type.question.type},
           {"data_type_number", type.question.number},
           {"verdict", found.broken.empty() ? "proved" : "refuted"},
           {"broken", found.broken}};
  if (found.broken.empty()) {
    out["line_bytes"] = found.line_bytes;
    out["pitch"] = found.pitch;
    out["bytes"] = found.bytes;
    out["layout"] = found.layout.empty() ? Json() : Json(found.layout);
  }
  out["takes"] = found.takes;
  out["split"] = nullptr;
  if (found.split) out["split"] = {{"box", found.split->box}, {"boxes", found.split->boxes}};
  return out;
}

Json to_json(BoxResult const& result) {
  TmaBoxQuestion const& q = result.types[0].question;
  Json out{{"verdict", result.legal() ? "proved" : "refuted"},
           {"box", q.box},
           {"swizzle", q.mode->name},
           {"im2col", q.im2col},
           {"types", Json::array()}};
  for (OneType const& type : result.types) out["types"].push_back(to_json(type));
  out["arch"] = result.arch->name;
  out["evidence"] = name(result.support);
  return out;
}

/// `8 bytes free behind every 8`; empty without gaps.
std::string gaps_of(TmaPackedType const* packed) {
  if (packed == nullptr) return {};
  std::uint32_t const used = 2 * packed->bits;
  if (used == packed->shared_bytes) return fmt::format("16 elements in {} bytes, no gaps", used);
  return fmt::format("16 elements in {} bytes, {} bytes free behind them", used, packed->shared_bytes - used);
}

/// True if a row of the tensor begins before the one before it ends.
bool overlaps(TmaTensor const& tensor, std::uint64_t element_bits) {
  std::uint64_t bytes = tensor.extents.empty() ? 0 : tensor.extents[0] * element_bits / 8;
  for (std::size_t d = 0; d < std::min(tensor.strides.size(), tensor.extents.size()); ++d) {
    if (tensor.strides[d] < bytes) return true;
    bytes = d + 1 < tensor.extents.size() ? tensor.strides[d] * tensor.extents[d + 1] : 0;
  }
  return false;
}

void print_type(OneType const& type, Style const& style) {
  TmaBoxQuestion const& q = type.question;
  TmaBoxAnswer const& found = type.found;
  bool const legal = found.broken.empty();
  fmt::print("  {}  {} box {{{}}} of CU_TENSOR_MAP_DATA_TYPE_{} ({}) {}\n",
             style.outcome(legal ? Outcome(Proved{}) : Outcome(Refuted{})), q.im2col ? "im2col" : "tiled",
             fmt::join(q.box, ", "), q.type, q.number,
             legal ? fmt::format("is legal under mode {}", q.mode->name)
                   : fmt::format("is not legal under mode {}", q.mode->name));
  for (std::string const& rule : found.broken) fmt::print("           {}\n", rule);
  if (legal && !style.brief()) {
    fmt::print("           lines of {} bytes at a pitch of {}, {} bytes of shared memory\n", found.line_bytes,
               found.pitch, found.bytes);
    if (std::string const gaps = gaps_of(q.packed); !gaps.empty()) fmt::print("           {}\n", gaps);
    if (!found.layout.empty()) fmt::print("           as a layout: {}\n", found.layout);
  }
  if (legal && overlaps(q.tensor, q.bits))
    fmt::print("  note: a stride is shorter than what it steps over: parts of the tensor overlap\n");
  if (found.split)
    fmt::print("           legal: {} boxes of {{{}}} side by side\n", found.split->boxes,
               fmt::join(found.split->box, ", "));
  if (!legal && !found.takes.empty())
    fmt::print("           legal: this box under mode {}\n", fmt::join(found.takes, ", "));
  if (q.packed != nullptr && q.packed->line != 0 && !style.brief())
    fmt::print(
        "           the tensor's address and strides are multiples of 32 bytes, its first extent one of "
        "128\n");
}

/// The box as an obligation: no tile, its mode, and the architecture if one is given.
std::string obligation_of(Common const& common, TmaBoxArguments const& options, BoxResult const& result) {
  TmaBoxQuestion const& q = result.types[0].question;
  std::vector<std::string> extents;
  for (std::uint64_t const extent : q.box) extents.push_back(std::to_string(extent));
  return command::obligation_of(common,
                                fmt::format("{} {} of {}: mode {}", q.im2col ? "im2col" : "box", options.box,
                                            options.element, q.mode->name),
                                true)
      .add("layout", "-")
      .add("element", options.element)
      .add_value("tma", toml_table({{"mode", toml_text(std::string(q.mode->name))},
                                    {q.im2col ? "im2col" : "box", toml_list(extents)}}))
      .text();
}

}  // namespace

void run_tma_box(Common& common, TmaBoxArguments const& options) {
  BoxResult const result = compute_box(common, options);
  common.exit_code = result.legal() ? holds : refuted;
  if (!options.emit.empty() && has_tensor(options))
    throw InputError::whole("an obligation is of a box alone, without its tensor", "--emit " + options.emit,
                            "leave --extent, --stride, --element-stride and --address out");
  if (!options.emit.empty())
    return print_obligation(common, to_json(result), obligation_of(common, options, result));
  if (common.json) {
    print_json(common, to_json(result));
    return;
  }
  Style const style = style_of(common);
  for (OneType const& type : result.types) print_type(type, style);
  if (!style.brief() || result.support != Support::measured)
    fmt::print(
        "           {}: {}, from the rules of cuda.h; interleaved tensors, gather4 and scatter4 are not "
        "modelled\n",
        result.arch->name, name(result.support));
}

}  // namespace swizproof::command
