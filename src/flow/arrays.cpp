// Arrays and numbers that parameters are.
#include <swizproof/flow/flow.hpp>

#include "names.hpp"

#include <swizproof/hardware/element.hpp>

#include <fmt/format.h>

#include <charconv>

namespace swizproof {

std::uint64_t FlowArray::size() const {
  std::uint64_t n = 1;
  for (std::uint64_t const e : extents) n *= e;
  return n;
}

std::string FlowArray::element(std::uint64_t index) const {
  std::string out;
  for (std::size_t i = extents.size(); i-- > 0; index /= extents[i])
    out = fmt::format("[{}]", index % extents[i]) + out;
  return name + out;
}

std::optional<FlowPlace> flow_place(ptx::Function const& kernel, std::string_view key) {
  FlowPlace place;
  std::size_t const plus = key.find('+');
  if (plus != key.npos) {
    char const* const end = key.data() + key.size();
    auto const [stop, error] = std::from_chars(key.data() + plus + 1, end, place.offset);
    if (error != std::errc{} || stop != end) return std::nullopt;
    place.part = true;
  }
  std::optional<std::size_t> const param = parameter_of(kernel, key.substr(0, plus));
  if (!param) return std::nullopt;
  place.param = *param;
  return place;
}

std::uint64_t flow_bytes(ptx::Function const& kernel, FlowPlace const& place, FlowParam const& value) {
  constexpr std::uint64_t pointer = 8, tensor_map = 128, integer = 4;
  if (FlowArray const* const array = std::get_if<FlowArray>(&value))
    return !array->box.empty() ? tensor_map : !array->extents.empty() ? pointer : array->bits / 8;
  FlowValue const& number = std::get<FlowValue>(value);
  if (ElementType const* const type = element_type(number.type)) return type->bits / 8;
  return place.part ? integer : kernel.params[place.param].bytes;
}

std::optional<std::uint64_t> flow_bits(double value, std::string_view type) {
  std::uint64_t bits = 0;
  flow_detail::Format const format = flow_detail::format_of(type);
  if (format == flow_detail::Format::integer || !flow_detail::bits_of_value(value, format, bits))
    return std::nullopt;
  return bits;
}

}  // namespace swizproof
