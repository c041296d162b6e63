#include <swizproof/hardware/element.hpp>
#include <swizproof/parse/parse.hpp>
#include <swizproof/parse/tma_box.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace swizproof {

namespace {

/// A mode by its name, in any case, with or without the prefix of cuda.h.
TmaModeName const* mode_of(std::string const& text) {
  if (text.empty()) return &tma_mode_names[0];
  std::string upper = text;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  for (std::string const prefix : {"CU_TENSOR_MAP_", "SWIZZLE_"})
    if (upper.starts_with(prefix)) upper.erase(0, prefix.size());
  if (upper == "32" || upper == "64" || upper == "128") upper += "B";
  for (TmaModeName const& mode : tma_mode_names)
    if (is_of_cuda(mode) && (mode.name == upper || (upper == "NONE" && mode.name == "none"))) return &mode;
  std::string known;
  for (TmaModeName const& mode : tma_mode_names)
    if (is_of_cuda(mode)) known += (known.empty() ? "" : " ") + std::string(mode.name);
  throw InputError::whole("unknown swizzle mode of TMA", text, "one of " + known);
}

TmaBoxQuestion of_packed(TmaBoxQuestion q, TmaPackedType const& type) {
  q.type = type.name;
  q.number = type.number;
  q.bits = type.bits;
  q.packed = &type;
  return q;
}

TmaBoxQuestion of_plain(TmaBoxQuestion q, TmaDataType const& type) {
  q.type = type.name;
  q.number = type.number;
  q.bits = type.bits;
  return q;
}

/// The same for each type of that name or size.
std::vector<TmaBoxQuestion> of_each_type(TmaBoxQuestion const& q, std::string const& element) {
  if (TmaPackedType const* const type = tma_packed_type(element)) return {of_packed(q, *type)};
  for (TmaDataType const& type : tma_data_types)
    if (type.name == plain_element_name(element)) return {of_plain(q, type)};
  if (TmaDataType const* const type = tma_data_type(element)) return {of_plain(q, *type)};
  unsigned const bits = parse_element(element);
  std::vector<TmaBoxQuestion> out;
  for (TmaPackedType const& type : tma_packed_types)
    if (type.bits == bits) out.push_back(of_packed(q, type));
  for (TmaDataType const& type : tma_data_types)
    if (type.bits == bits && type.keeps_bits && out.empty()) out.push_back(of_plain(q, type));
  if (out.empty())
    throw InputError::whole(fmt::format("TMA has no elements of {} bits", bits), element,
                            "it has elements of 4, 6, 8, 16, 32 and 64 bits");
  return out;
}

}  // namespace

std::vector<TmaBoxQuestion> parse_tma_box(TmaBoxWords const& words) {
  std::string const text = fmt::format("{}", fmt::join(words.box, ","));
  if (words.box.size() > 16) throw InputError::whole("a tensor map has at most 5 dimensions", text);
  TmaBoxQuestion q;
  q.box = words.box;
  q.mode = mode_of(words.mode);
  q.im2col = words.im2col;
  q.tensor = words.tensor;
  if (q.im2col && q.box.size() != 2)
    throw InputError::whole("im2col needs two numbers: channels and pixels", text, "such as 64,128");
  if (words.element.empty())
    throw InputError::whole(
        "the element type is missing", text,
        "--element f16, e4m3, 4b, or a name of cuda.h: --element 16U4_ALIGN16B; in an obligation "
        "element = \"f16\"");
  return of_each_type(q, words.element);
}

}  // namespace swizproof
