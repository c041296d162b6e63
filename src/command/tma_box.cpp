#include "command/tma_box.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/tma_box.hpp>

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
  unsigned number = 0;  ///< of CUtensorMapDataType
};

struct BoxResult {
  std::vector<OneType> types{};  ///< of elements of 4 bits two
  Architecture const* arch = nullptr;
  Support support = Support::documented;
  [[nodiscard]] bool legal() const {
    return std::any_of(types.begin(), types.end(), [](OneType const& t) { return t.found.broken.empty(); });
  }
};

/// `48,16`: at most five numbers, which are read whole.
std::vector<std::uint64_t> extents_of(std::string const& text) {
  std::vector<std::uint64_t> out;
  for (std::size_t from = 0; from <= text.size();) {
    std::size_t const end = std::min(text.find(',', from), text.size());
    out.push_back(parse_number(text, from, end, "a box is its extents in elements, innermost first: 48,16"));
    if (out.back() > 1U << 20) throw InputError{"an extent of a box is at most 256", text, from, end - from};
    from = end + 1;
  }
  if (out.size() > 16) throw InputError::whole("a tensor map has at most 5 dimensions", text);
  return out;
}

/// A mode by its name, in any case, with or without the prefix of cuda.h.
TmaModeName const* mode_of(std::string const& text) {
  if (text.empty()) return &tma_mode_names[0];
  std::string upper = text;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string const prefix = "CU_TENSOR_MAP_SWIZZLE_";
  if (upper.rfind(prefix, 0) == 0) upper.erase(0, prefix.size());
  for (TmaModeName const& mode : tma_mode_names)
    if (is_of_cuda(mode) && (mode.name == upper || (upper == "NONE" && mode.name == "none"))) return &mode;
  std::string known;
  for (TmaModeName const& mode : tma_mode_names)
    if (is_of_cuda(mode)) known += (known.empty() ? "" : " ") + std::string(mode.name);
  throw InputError::whole("unknown swizzle mode of TMA", text, "one of " + known);
}

TmaBoxQuestion box_question_of(TmaBoxArguments const& options) {
  TmaBoxQuestion q;
  q.box = extents_of(options.box);
  q.mode = mode_of(options.swizzle);
  q.im2col = options.im2col;
  if (q.im2col && q.box.size() != 2)
    throw InputError::whole("--im2col needs two numbers: channels and pixels", options.box,
                            "such as --im2col 64,128");
  return q;
}

OneType of_packed(TmaBoxQuestion q, TmaPackedType const& type) {
  q.type = type.name;
  q.bits = type.bits;
  q.packed = &type;
  return {std::move(q), {}, type.number};
}

OneType of_plain(TmaBoxQuestion q, TmaDataType const& type) {
  q.type = type.name;
  q.bits = type.bits;
  return {std::move(q), {}, type.number};
}

/// The types that elements of this name are copied as.
std::vector<OneType> types_of(TmaBoxArguments const& options) {
  std::string const& element = options.element;
  TmaBoxQuestion const q = box_question_of(options);
  if (element.empty())
    throw InputError::whole("the element type is missing", options.box,
                            "--element f16, e4m3, 4b, or a name of cuda.h: --element 16U4_ALIGN16B");
  if (TmaPackedType const* const type = tma_packed_type(element)) return {of_packed(q, *type)};
  for (TmaDataType const& type : tma_data_types)
    if (type.name == plain_element_name(element)) return {of_plain(q, type)};
  if (TmaDataType const* const type = tma_data_type(element)) return {of_plain(q, *type)};
  unsigned const bits = parse_element(element);
  std::vector<OneType> out;
  for (TmaPackedType const& type : tma_packed_types)
    if (type.bits == bits) out.push_back(of_packed(q, type));
  for (TmaDataType const& type : tma_data_types)
    if (type.bits == bits && type.keeps_bits && out.empty()) out.push_back(of_plain(q, type));
  if (out.empty())
    throw InputError::whole(fmt::format("TMA has no elements of {} bits", bits), element,
                            "it has elements of 4, 6, 8, 16, 32 and 64 bits");
  return out;
}

BoxResult compute_box(Common const& common, TmaBoxArguments const& options) {
  BoxResult result;
  result.arch = &parse_architecture(common.arch);
  std::optional<Support> const support = tma_support(*result.arch);
  if (!support)
    throw InputError::whole("no TMA is known of this architecture", common.arch,
                            "it came with compute capability 9.0: --arch sm_90");
  result.types = types_of(options);
  for (OneType& type : result.types) type.found = tma_box(type.question, *result.arch);
  // Campaign `boxes` asked the driver on sm_90.
  result.support = result.arch == &sm_90 ? *support : weaker(*support, Support::documented);
  return result;
}

Json to_json(OneType const& type) {
  TmaBoxAnswer const& found = type.found;
  Json out{{"data_type", "CU_TENSOR_MAP_DATA_TYPE_" + type.question.type},
           {"data_type_number", type.number},
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

void print_type(OneType const& type, Style const& style) {
  TmaBoxQuestion const& q = type.question;
  TmaBoxAnswer const& found = type.found;
  bool const legal = found.broken.empty();
  fmt::print("  {}  {} box {{{}}} of CU_TENSOR_MAP_DATA_TYPE_{} ({}) {}\n",
             style.outcome(legal ? Outcome(Proved{}) : Outcome(Refuted{})), q.im2col ? "im2col" : "tiled",
             fmt::join(q.box, ", "), q.type, type.number,
             legal ? fmt::format("is legal under mode {}", q.mode->name)
                   : fmt::format("is not legal under mode {}", q.mode->name));
  for (std::string const& rule : found.broken) fmt::print("           {}\n", rule);
  if (legal && !style.brief()) {
    fmt::print("           lines of {} bytes at a pitch of {}, {} bytes of shared memory\n", found.line_bytes,
               found.pitch, found.bytes);
    if (std::string const gaps = gaps_of(q.packed); !gaps.empty()) fmt::print("           {}\n", gaps);
    if (!found.layout.empty()) fmt::print("           as a layout: {}\n", found.layout);
  }
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

}  // namespace

void run_tma_box(Common& common, TmaBoxArguments const& options) {
  BoxResult const result = compute_box(common, options);
  common.exit_code = result.legal() ? holds : refuted;
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
