#include "parse/question/expectation.hpp"

#include "parse/text/scanner.hpp"

#include <swizproof/hardware/element.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cerrno>
#include <cstdlib>
#include <optional>

namespace swizproof {

namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 26, most_given = std::uint64_t{1} << 22;

/// `[64][64] 128B` of a tensor map, behind `box`.
void take_box(Scanner& in, FlowArray& a) {
  std::size_t const at = in.at();
  while (in.take("[")) {
    std::size_t const from = in.at();
    std::uint64_t const n = in.take_literal();
    in.expect("]", "to close the box's extent");
    if (n == 0 || n > tma_most_elements)
      in.fail("a box has 1 to 256 elements along a dimension", from, in.at() - from);
    a.box.push_back(static_cast<std::uint32_t>(n));
  }
  if (a.box.empty() || a.box.size() != a.extents.size() || a.box.size() > tma_most_dimensions)
    in.fail("the box of a tensor map has the dimensions of the array, at most 5", at, in.at() - at,
            "0=A:f16[128][64] box[64][64] 128B");
  std::size_t const from = in.at();
  if (std::string_view const mode = in.take_name(); !mode.empty()) {
    auto const known =
        std::find_if(std::begin(tma_modes), std::end(tma_modes), [&](TmaMode m) { return name(m) == mode; });
    if (known == std::end(tma_modes))
      in.fail("the swizzle of a tensor map is none, 32B, 64B or 128B", from, mode.size());
    a.mode = *known;
  }
  TmaLine const line = tma_line(tma_width(a.mode), std::uint64_t{a.box.back()} * a.bits);
  if (line != TmaLine::fits)
    in.fail(line == TmaLine::too_wide ? "the box's rows are wider than the swizzle"
                                      : "the box's rows are no multiple of 16 bytes",
            at, in.at() - at);
  if (a.extents.size() > 1 && a.extents.back() * a.bits % (8 * tma_tensor_unit) != 0)
    in.fail("the array's rows are no multiple of 16 bytes", 0, in.at());
}

std::optional<FlowValue> flow_number(std::string const& text, std::size_t from);

/// `=zeros`, `=iota` or `=0,1,1,2` behind an array: its numbers before the launch.
void take_values(Scanner& in, FlowArray& a) {
  std::size_t const at = in.at();
  std::string const all(in.rest());
  std::uint64_t const size = a.size();
  if (size > most_given) in.fail("an array whose numbers are given has at most 2^22 elements", 0, at);
  std::size_t from = 0;
  while (a.values.size() < size) {
    std::size_t const comma = std::min(all.find(',', from), all.size());
    std::string const item = all == "zeros"  ? "0"
                             : all == "iota" ? std::to_string(a.values.size())
                                             : all.substr(from, comma - from);
    std::optional<FlowValue> const value = flow_number(item + ":" + a.type, 0);
    if (!value) in.fail("expected zeros, iota, or a list of numbers", at, all.size(), "0=ids:i32[4]=0,1,1,2");
    a.values.push_back(value->bits & low_bits(a.bits));
    if (all == "zeros" || all == "iota") continue;
    if ((comma == all.size()) != (a.values.size() == size))
      in.fail(fmt::format("the array has {} elements, and the list {}", size,
                          1 + std::count(all.begin(), all.end(), ',')),
              at, all.size());
    from = comma + 1;
  }
  in.back_to(at + all.size());
}

/// `A:f16[128][64]` behind the first `=` of a parameter.
FlowArray flow_array(Scanner& in) {
  FlowArray a;
  a.name = in.take_name();
  in.expect(":", "and the type of the elements of " + a.name);
  std::size_t const at = in.at();
  std::string_view const type = in.take_name();
  Element const element = parse_element_type(type);
  if (element.bits < 8 || element.bits > 64 || element_type(element.name) == nullptr || element.name == "fp8")
    in.fail("the elements of an array have a type of 8 to 64 bits", at, type.size(),
            "f16, bf16, f32, e4m3, u8, i32");
  a.type = element.name, a.bits = element.bits;
  while (in.take("[")) {
    std::size_t const from = in.at();
    std::uint64_t const extent = in.take_literal();
    in.expect("]", "to close the extent");
    a.extents.push_back(extent);
    if (extent == 0 || extent > most_elements || a.size() > most_elements)
      in.fail("an array has 1 to 2^26 elements", from, in.at() - from);
  }
  if (in.take_word("box")) take_box(in, a);
  if (!a.extents.empty() && in.take("=")) take_values(in, a);
  if (!in.done())
    in.fail_here("expected the end of the parameter",
                 "0=A:f16[128][64], or of a tensor map 0=A:f16[128][64] box[64][64] 128B");
  return a;
}

/// An integer of 64 bits, with a sign; nothing for other texts.
std::optional<FlowValue> flow_integer(std::string_view digits) {
  bool const minus = digits.starts_with('-');
  if (minus) digits.remove_prefix(1);
  bool const hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  std::uint64_t n = 0;
  auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n, hex ? 16 : 10);
  if (error != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  return FlowValue{minus ? 0 - n : n, minus && n != 0, {}};
}

/// `1024`, `64:u64`, `-1.5:f32` behind the first `=` of a parameter; nothing where it is no number.
std::optional<FlowValue> flow_number(std::string const& text, std::size_t from) {
  std::size_t const colon = text.find(':', from);
  std::string const digits = text.substr(from, colon == text.npos ? colon : colon - from);
  bool const number = digits.find_first_of("0123456789") != digits.npos &&
                      (is_digit(digits[0]) || digits[0] == '-' || digits[0] == '.');
  if (!number) return std::nullopt;
  std::optional<FlowValue> value = flow_integer(digits);
  if (colon == text.npos) {
    if (!value)
      throw InputError{"expected an integer of 64 bits, or a number and its type", text, from, digits.size(),
                       "1024, 64:u64, 1.5:f32"};
    return value;
  }
  std::string const type = text.substr(colon + 1);
  Element const element = parse_element_type(type);
  auto const fail = [&](std::string const& why) {
    throw InputError{why, text, from, text.size() - from, "64:u64, -1:i32, 1.5:f32"};
  };
  if (element.bits < 8 || element.bits > 64 || element_type(element.name) == nullptr)
    fail("a number has a type of 8 to 64 bits");
  bool const is_signed = element.name[0] == 'i';
  if (is_signed || element.name[0] == 'u') {
    if (!value) fail("expected an integer of 64 bits");
    std::uint64_t const most = ~std::uint64_t{0} >> (64 - element.bits + (is_signed ? 1U : 0U));
    if (value->negative ? !is_signed || ~value->bits > most : value->bits > most)
      fail("the type " + type + " has no such number");
    value->type = element.name;
    return value;
  }
  char* end = nullptr;
  errno = 0;
  double const real = std::strtod(digits.c_str(), &end);
  bool const exceeds = errno == ERANGE;  // the number is rounded to 0 or to infinity
  if (*end != '\0' || digits.find_first_not_of("0123456789.eE+-") != digits.npos) fail("expected a number");
  std::optional<std::uint64_t> const bits = flow_bits(real, element.name);
  if (!bits || exceeds) fail("the type " + type + " has no such number");
  return FlowValue{*bits, false, std::string(element.name)};
}

/// `#0+8` of `0+0x8`.
std::string flow_key(std::string const& text, std::string key) {
  std::size_t const plus = key.find('+');
  if (plus != key.npos) {
    std::optional<FlowValue> const offset = flow_integer(std::string_view(key).substr(plus + 1));
    if (!offset || offset->negative || plus == 0)
      throw InputError{"the offset of a part of a parameter is a number of bytes", text, 0, key.size(),
                       "--param 0+8=1024"};
    key = key.substr(0, plus + 1) + std::to_string(offset->bits);
  }
  std::string_view const name = std::string_view(key).substr(0, plus);
  return std::all_of(name.begin(), name.end(), is_digit) ? "#" + key : key;
}

}  // namespace

std::pair<std::string, FlowParam> parse_flow_param(std::string const& text) {
  std::size_t const equal = text.find('=');
  if (equal == text.npos || equal == 0)
    throw InputError::whole("--param takes PARAMETER=VALUE", text,
                            "--param 0=A:f16[128][64] or --param 1=1024");
  std::string key = flow_key(text, text.substr(0, equal));
  if (std::optional<FlowValue> const number = flow_number(text, equal + 1)) return {key, *number};
  Scanner in(text);
  in.back_to(equal + 1);
  if (!in.at_letter() && in.peek() != '_')
    in.fail_here("expected a number, or an array", "--param 0=A:f16[128][64]");
  return {key, flow_array(in)};
}

}  // namespace swizproof
