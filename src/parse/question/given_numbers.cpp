#include "parse/question/given_numbers.hpp"

#include "parse/question/expectation.hpp"
#include "parse/text/scanner.hpp"
#include "system/whole_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace swizproof {

namespace {

using Json = nlohmann::json;
constexpr std::string_view npy = "\x93NUMPY";

/// A file of numbers for one array.
class NumbersFile {
 public:
  NumbersFile(std::string const& path, FlowArray const& array)
      : path_(path), array_(array), text_(read_file(path)) {}

  std::vector<std::uint64_t> read() {
    if (text_.starts_with(npy)) return of_npy();
    std::size_t const first = text_.find_first_not_of(" \t\r\n");
    if (first != text_.npos && text_[first] == '[') return of_json();
    return of_bytes(0);
  }

 private:
  [[noreturn]] void fail(std::string const& why) const { throw InputError::whole(why, path_); }

  [[nodiscard]] std::vector<std::uint64_t> of_bytes(std::size_t from) const {
    std::size_t const bytes = array_.bits / 8;
    if (text_.size() - from != array_.size() * bytes)
      fail(fmt::format("the file has {} bytes of numbers, and {} {}", text_.size() - from, array_.name,
                       array_.size() * bytes));
    std::vector<std::uint64_t> out(array_.size());
    for (std::size_t i = 0; i < out.size() * bytes; ++i)
      out[i / bytes] |= std::uint64_t{static_cast<unsigned char>(text_[from + i])} << 8 * (i % bytes);
    return out;
  }

  /// One extent holds the elements in rows; several are those of the array.
  void check_shape(std::vector<std::uint64_t> const& shape) const {
    bool const flat = shape.size() == 1 && shape[0] == array_.size();
    if (!flat && shape != array_.extents)
      fail(fmt::format("the file has the shape [{}], and {} [{}]", fmt::join(shape, "]["), array_.name,
                       fmt::join(array_.extents, "][")));
  }

  /// `'<i4'` of a key of the header.
  [[nodiscard]] std::string_view value_of(std::string_view header, std::string_view key,
                                          std::string_view end) const {
    std::size_t const at = header.find(key);
    std::size_t const stop = at == header.npos ? at : header.find_first_of(end, at + key.size());
    if (stop == header.npos) fail(fmt::format("the header of the .npy file has no {}", key));
    return header.substr(at + key.size(), stop - at - key.size());
  }

  [[nodiscard]] std::vector<std::uint64_t> of_npy() const {
    auto const byte = [&](std::size_t i) {
      return i < text_.size() ? std::size_t{static_cast<unsigned char>(text_[i])} : 0;
    };
    bool const wide = byte(6) > 1;
    std::size_t const start = wide ? 12 : 10;
    std::size_t const length = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : 0);
    if (start + length > text_.size()) fail("the header of the .npy file is longer than the file");
    std::string_view const header = std::string_view(text_).substr(start, length);
    std::string_view type = value_of(header, "'descr': '", "'");
    char const kind = array_.type[0] == 'i' ? 'i' : array_.type[0] == 'u' ? 'u' : 'f';
    bool const small = array_.bits == 8;
    if (small && (type.starts_with('|') || type.starts_with('<'))) type.remove_prefix(1);
    if (!small && type.starts_with('<')) type.remove_prefix(1);
    bool const numpys = array_.type != "bf16" && !(small && kind == 'f');
    if (!numpys || type != fmt::format("{}{}", kind, array_.bits / 8))
      fail(fmt::format("the .npy file has the type '{}', and {} {}", value_of(header, "'descr': '", "'"),
                       array_.name, array_.type));
    if (value_of(header, "'fortran_order': ", ",}") != "False")
      fail("the .npy file has its columns one after the other");
    std::vector<std::uint64_t> shape;
    std::string_view list = value_of(header, "'shape': (", ")");
    while (!list.empty()) {
      std::uint64_t n = 0;
      auto const [stop, error] = std::from_chars(list.data(), list.data() + list.size(), n);
      if (error != std::errc{}) fail("the shape of the .npy file is no list of integers");
      shape.push_back(n);
      list.remove_prefix(static_cast<std::size_t>(stop - list.data()));
      list.remove_prefix(std::min(list.size(), list.find_first_not_of(", ")));
    }
    check_shape(shape);
    return of_bytes(start + length);
  }

  [[nodiscard]] std::uint64_t bits_of(std::string const& number) const {
    try {
      return std::get<FlowValue>(parse_flow_param("0=" + number + ":" + array_.type).second).bits &
             low_bits(array_.bits);
    } catch (InputError const&) {
      fail(fmt::format("{} is no number of {}", number, array_.type));
    }
  }

  void take(Json const& node, std::size_t depth, std::vector<std::uint64_t>& shape,
            std::vector<std::uint64_t>& out) const {
    if (!node.is_array()) {
      if (depth != shape.size() || !node.is_number())
        fail("the JSON is no list of numbers, or lists of them of one length");
      out.push_back(bits_of(node.dump()));
      return;
    }
    if (depth == shape.size() && out.empty()) shape.push_back(node.size());
    if (depth >= shape.size() || node.size() != shape[depth]) fail("the lists of the JSON differ in length");
    for (Json const& one : node) take(one, depth + 1, shape, out);
  }

  [[nodiscard]] std::vector<std::uint64_t> of_json() const {
    constexpr std::size_t deepest = 16;
    std::size_t depth = 0;
    auto const shallow = [&](int, Json::parse_event_t event, Json&) {
      if (event == Json::parse_event_t::array_start && ++depth > deepest)
        fail("the JSON has more than 16 lists in each other");
      if (event == Json::parse_event_t::array_end) --depth;
      return true;
    };
    Json const all = Json::parse(text_, shallow, false);
    if (all.is_discarded()) fail("the file begins with [ and is no JSON");
    std::vector<std::uint64_t> shape, out;
    take(all, 0, shape, out);
    check_shape(shape);
    return out;
  }

  std::string const& path_;
  FlowArray const& array_;
  std::string text_;
};

}  // namespace

std::string file_of_param(std::string const& text) {
  std::size_t const first = text.find('='), second = first == text.npos ? first : text.find('=', first + 1);
  std::string const value = second == text.npos ? "" : text.substr(second + 1);
  bool const number = !value.empty() && (is_digit(value[0]) || value[0] == '-' ||
                                         (value[0] == '.' && value.size() > 1 && is_digit(value[1])));
  return number || value == "zeros" || value == "iota" ? "" : value;
}

std::pair<std::string, FlowParam> param_with_file(std::string const& text) {
  constexpr std::uint64_t most_given = std::uint64_t{1} << 22;
  std::string const file = file_of_param(text);
  if (file.empty()) return parse_flow_param(text);
  auto out = parse_flow_param(text.substr(0, text.size() - file.size() - 1));
  auto* const array = std::get_if<FlowArray>(&out.second);
  if (array == nullptr || array->extents.empty())
    throw InputError::whole("a file has the numbers of an array", text, "0=ids:i32[64]=ids.npy");
  if (array->size() > most_given)
    throw InputError::whole("an array whose numbers are given has at most 2^22 elements", text);
  array->values = NumbersFile(file, *array).read();
  return out;
}

}  // namespace swizproof
