#include "parse/question/expectation.hpp"

#include "parse/expression/expression_parser.hpp"

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

/// Reads an expectation.
class ExpectationParser {
 public:
  ExpectationParser(std::string const& text, std::vector<FlowArray> const& arrays)
      : text_(text), in_(text), arrays_(arrays) {}

  FlowExpectation parse() {
    e_.text = text_;
    find_indices();
    e_.target = reference();
    if (e_.target.at.empty()) in_.fail_here("the result is an element of an array", form);
    in_.expect("=", "after the element of the result");
    if (in_.take_word("sum")) sums();
    do {
      if (e_.factors.size() == 3) in_.fail_here("a product has at most three factors");
      e_.factors.push_back(reference());
    } while (in_.take("*"));
    while (in_.take_word("for")) range();
    if (!in_.done()) in_.fail_here("expected '*', 'for' or the end", form);
    for (std::size_t i = 0; i < e_.indices.size(); ++i) bound(i);
    return std::move(e_);
  }

 private:
  static constexpr char const* form = "C[m][n] = sum(k) A[m][k] * B[k][n] for m in 0..127";

  /// Names within brackets, in their order.
  void find_indices() {
    int depth = 0;
    for (std::size_t i = 0; i < text_.size();) {
      char const c = text_[i];
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (!is_name(c) || is_digit(c)) {
        for (++i; is_digit(c) && i < text_.size() && is_name(text_[i]);) ++i;  // 0x10, 8u
        continue;
      }
      std::size_t const from = i;
      while (i < text_.size() && is_name(text_[i])) ++i;
      std::string const name = text_.substr(from, i - from);
      if (depth > 0 && std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    }
    if (names_.size() > 8) in_.fail_here("more than 8 indices");
    for (std::string const& name : names_) e_.indices.push_back({name, 0, 0, false});
    given_.assign(names_.size(), false);
  }

  FlowReference reference() {
    std::size_t const at = in_.at();
    FlowReference r;
    r.array = in_.take_name();
    auto const known =
        std::find_if(arrays_.begin(), arrays_.end(), [&](FlowArray const& a) { return a.name == r.array; });
    if (r.array.empty() || is_digit(r.array[0])) in_.fail_here("expected the name of an array", form);
    if (known == arrays_.end())
      in_.fail("no parameter is the array " + r.array, at, r.array.size(),
               "give it: --param 0=" + r.array + ":f16[128][64]");
    while (in_.take("[")) {
      if (r.at.size() == known->extents.size())
        in_.fail(r.array + " has " + std::to_string(known->extents.size()) + " indices", at, in_.at() - at);
      Expression const x = ExpressionParser(in_, names_).parse();
      in_.expect("]", "to close the index");
      if (x.nodes().size() == 1 && x.nodes()[0].op == Expression::Op::variable)
        alone_.push_back({x.nodes()[0].value, known->extents[r.at.size()]});
      r.at.push_back(x);
    }
    if (r.at.size() != known->extents.size())
      in_.fail(r.array + " has " + std::to_string(known->extents.size()) + " indices", at,
               in_.at_end_of_token() - at);
    return r;
  }

  std::size_t index_named(std::size_t at) {
    std::string_view const name = in_.take_name();
    auto const known = std::find(names_.begin(), names_.end(), name);
    if (known == names_.end()) in_.fail("no index has this name", at, name.size());
    return static_cast<std::size_t>(known - names_.begin());
  }

  void sums() {
    in_.expect("(", "and the indices of the sum");
    do {
      e_.indices[index_named(in_.at())].summed = true;
    } while (in_.take(","));
    in_.expect(")", "after the indices of the sum");
  }

  void range() {
    std::size_t const i = index_named(in_.at());
    if (!in_.take_word("in")) in_.fail_here("expected 'in' and a range", "for m in 0..127");
    std::size_t const from = in_.at();
    e_.indices[i].first = in_.take_literal();
    in_.expect("..", "between the ends of the range");
    e_.indices[i].last = in_.take_literal();
    if (given_[i]) in_.fail("this index has a range already", from, in_.at_end_of_token() - from);
    if (e_.indices[i].first > e_.indices[i].last || e_.indices[i].last > most_elements)
      in_.fail("the range is empty, or larger than 2^26", from, in_.at_end_of_token() - from);
    given_[i] = true;
  }

  /// The range of an index without `for`: of the extents that it stands for alone.
  void bound(std::size_t i) {
    FlowIndex& index = e_.indices[i];
    if (!index.summed && !in_target(i))
      in_.fail("the index " + index.name + " is neither summed nor in the result", 0, text_.size(), form);
    if (index.summed && in_target(i))
      in_.fail("the index " + index.name + " is summed and in the result", 0, text_.size());
    if (given_[i]) return;
    std::optional<std::uint64_t> extent;
    for (auto const& [variable, size] : alone_) {
      if (variable != i) continue;
      if (extent && *extent != size)
        in_.fail("the index " + index.name + " stands for extents of " + std::to_string(*extent) +
                     " and of " + std::to_string(size),
                 0, text_.size(), "give its range: for " + index.name + " in 0..31");
      extent = size;
    }
    if (!extent)
      in_.fail("the range of the index " + index.name + " is not known", 0, text_.size(),
               "give it: for " + index.name + " in 0..31");
    index.last = *extent - 1;
  }
  [[nodiscard]] bool in_target(std::size_t i) const {
    return std::any_of(e_.target.at.begin(), e_.target.at.end(), [&](Expression const& x) {
      return std::any_of(x.nodes().begin(), x.nodes().end(), [&](Expression::Node const& n) {
        return n.op == Expression::Op::variable && n.value == i;
      });
    });
  }

  std::string const& text_;
  Scanner in_;
  std::vector<FlowArray> const& arrays_;
  std::vector<std::string> names_{};
  std::vector<bool> given_{};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> alone_{};  ///< index, extent
  FlowExpectation e_{};
};

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

FlowExpectation parse_expectation(std::string const& text, std::vector<FlowArray> const& arrays) {
  return ExpectationParser(text, arrays).parse();
}

}  // namespace swizproof
