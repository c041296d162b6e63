// swizproof eval LAYOUT: offsets or byte addresses of indices.
#include "command/command.hpp"

#include "text/report.hpp"

#include <swizproof/layout/algebra.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <memory>
#include <optional>

namespace swizproof::command {

namespace {

struct Options {
  LayoutArgument layout;
  std::optional<std::string> at{};
  bool bytes = false;
  std::optional<std::string> base_text{};
  std::optional<std::uint64_t> base{};
};

constexpr std::int64_t most_values = std::int64_t{1} << 22;
constexpr std::uint64_t largest_base = std::uint64_t{1} << 48;

/// `0,1,0x80`: comma-separated indices.
std::vector<std::uint64_t> parse_indices(std::string const& text, std::string_view option) {
  std::vector<std::uint64_t> indices;
  std::size_t from = 0;
  while (from <= text.size()) {
    std::size_t const end = std::min(text.find(',', from), text.size());
    indices.push_back(
        parse_number(text, from, end, fmt::format("{} takes integers from 0 to 2^64-1", option)));
    from = end + 1;
  }
  return indices;
}

/// The value of one index in the unit asked for.
std::uint64_t value_at(Mapping const& map, Options const& options, std::uint64_t index) {
  std::uint64_t const base = options.base.value_or(0);
  if (map.domain() == nullptr) {  // a bare function of byte addresses or of element offsets
    auto const& stages = map.acts_on_bytes() ? map.on_bytes : map.on_elements;
    return value(stages, index + base);
  }
  if (!options.bytes && !map.acts_on_bytes()) return offset(map, index).elements;
  Address<std::uint64_t> const origin{base};
  std::uint64_t const bits = *map.element_bits;
  if (options.bytes && bits % 8 == 0) return value(map, origin, index, Unit::bytes);
  std::uint64_t const address = bit_address(map, origin, index);
  std::uint64_t const unit = options.bytes ? 8 : bits;
  if (address % unit != 0)
    throw InputError{fmt::format("index {} lies at bit {}, inside {}", index, address,
                                 options.bytes ? "a byte" : "an element"),
                     map.text, 0, map.text.size(),
                     options.bytes ? "leave --bytes out for element offsets" : "use --bytes"};
  // Offsets may be negative, and stay so when bits become elements.
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(address) / static_cast<std::int64_t>(unit));
}

/// A coordinate map: CuTe prints the coordinate of each index.
void print_coordinates(Common const& common, Options const& options, Layout const& map) {
  if (options.bytes || options.base_text)
    throw InputError{"a coordinate map has no byte addresses", to_string(map), 0, 1, {}};
  std::vector<std::uint64_t> indices;
  if (options.at) {
    indices = parse_indices(*options.at, "--at");
  } else {
    if (map.size() > most_values)
      throw InputError{fmt::format("the map has {} coordinates, more than 2^22", map.size()), to_string(map),
                       0, 1, "give --at 0,1,2,..."};
    for (std::int64_t i = 0; i < map.size(); ++i) indices.push_back(static_cast<std::uint64_t>(i));
  }
  std::vector<std::string> values;
  for (std::uint64_t const i : indices) {
    if (i > 1U << 30) throw InputError{"indices of a coordinate map go up to 2^30", *options.at, 0, 1, {}};
    try {
      values.push_back(to_string(coordinate(map, static_cast<std::int64_t>(i))));
    } catch (AlgebraError const&) {
      throw InputError{"the strides mix a coordinate with its own parts, such as 1@0 with 1@1@0",
                       to_string(map),
                       0,
                       to_string(map).size(),
                       {}};
    }
  }
  if (common.json) {
    nlohmann::ordered_json const out{
        {"layout", to_string(map)}, {"unit", "coordinates"}, {"size", map.size()}, {"values", values}};
    fmt::print("{}\n", json_text(out));
    return;
  }
  fmt::print("{}  size {}, values are coordinates\n", to_string(map), map.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    fmt::print("{}{}", values[i], i % 8 == 7 || i + 1 == values.size() ? "\n" : " ");
}

/// An integer or a shape, which some functions of the algebra give.
void print_integers(Common const& common, IntTuple const& value, std::vector<std::string> const& notes) {
  if (common.json) {
    nlohmann::ordered_json out{{"value", to_string(value)}, {"size", value.product()}};
    if (!notes.empty()) out["notes"] = notes;
    fmt::print("{}\n", json_text(out));
    return;
  }
  fmt::print("{}\n", to_string(value));
  for (std::string const& note : notes) fmt::print("note: {}\n", note);
}

void run_mapping(Common& common, Options& options, Mapping const& map);

void run(Common& common, Options& options) {
  MappingOptions parse_options;
  if (!options.layout.element.empty()) parse_options.element_bits = parse_element(options.layout.element);
  std::vector<std::string> notes;
  Evaluated const value = parse_value(options.layout.text, parse_options, &notes);
  if (auto const* map = std::get_if<Layout>(&value)) return print_coordinates(common, options, *map);
  if (auto const* integers = std::get_if<IntTuple>(&value)) return print_integers(common, *integers, notes);
  run_mapping(common, options, std::get<Mapping>(value));
}

void run_mapping(Common& common, Options& options, Mapping const& map) {
  if (options.base_text) {
    auto const values = parse_indices(*options.base_text, "--base");
    if (values.size() != 1 || values[0] > largest_base)
      throw InputError{"--base takes one byte address of at most 48 bits",
                       *options.base_text,
                       0,
                       options.base_text->size(),
                       {}};
    options.base = values[0];
  }
  if (!options.base && options.bytes) options.base = map.base_address;
  bool const bare = map.domain() == nullptr;
  if (options.base && !options.bytes && !(bare && map.acts_on_bytes()))
    throw InputError{"--base goes with --bytes", "", 0, 1, {}};
  if (options.bytes && !bare && !map.element_bits)
    throw InputError{"the element size is not known", map.text, 0, map.text.size(),
                     "give --element, such as --element f16"};
  if (bare && options.bytes && !map.acts_on_bytes())
    throw InputError{"a function of element offsets has no byte addresses", map.text, 0, map.text.size(),
                     "leave --element out"};
  std::vector<std::uint64_t> indices;
  if (options.at) {
    indices = parse_indices(*options.at, "--at");
  } else if (bare) {
    throw InputError{"a function without a shape has no list of values", map.text, 0, map.text.size(),
                     "give --at 0,1,2,..."};
  } else {
    if (map.domain()->size() > most_values)
      throw InputError{fmt::format("the layout has {} elements, more than 2^22", map.domain()->size()),
                       map.text, 0, map.text.size(), "give --at 0,1,2,..."};
    for (std::int64_t i = 0; i < map.domain()->size(); ++i) indices.push_back(static_cast<std::uint64_t>(i));
  }
  // Offsets may be negative (negative strides); they are words, read as signed.
  std::vector<std::int64_t> values;
  values.reserve(indices.size());
  for (std::uint64_t const index : indices)
    values.push_back(static_cast<std::int64_t>(value_at(map, options, index)));

  std::string const unit = options.bytes || (bare && map.acts_on_bytes()) ? "bytes" : "elements";
  if (common.json) {
    nlohmann::ordered_json out{{"layout", map.text}, {"unit", unit}};
    if (!bare) {
      out["size"] = map.domain()->size();
      out["cosize"] = map.domain()->cosize();
      auto const [least, most] = std::minmax_element(values.begin(), values.end());
      if (!values.empty()) out["least"] = *least, out["most"] = *most;
    }
    if (bare)
      out["values"] = std::vector<std::uint64_t>(values.begin(), values.end());
    else
      out["values"] = values;
    if (!map.notes.empty()) out["notes"] = map.notes;
    fmt::print("{}\n", json_text(out));
    return;
  }
  if (bare) {
    fmt::print("{}  on {}\n", map.text, unit);
  } else {
    fmt::print("{}  size {}, cosize {}, values in {}\n", map.text, map.domain()->size(),
               map.domain()->cosize(), unit);
  }
  std::size_t width = 1;
  auto const shown = [&](std::int64_t v) {
    return bare ? fmt::format("{}", static_cast<std::uint64_t>(v)) : fmt::format("{}", v);
  };
  for (std::int64_t const v : values) width = std::max(width, shown(v).size());
  // A layout of rank 2 is shown as the table that its shape is; anything else in lines of 16.
  bool const table = !bare && !options.at && map.domain()->rank() == 2;
  std::size_t const rows =
      table ? static_cast<std::size_t>(map.domain()->shape.mode(0).product()) : (values.size() + 15) / 16;
  std::string text;
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t const step = table ? rows : 1;
    std::size_t const first = table ? r : 16 * r;
    std::size_t const last = table ? values.size() : std::min(values.size(), first + 16);
    for (std::size_t i = first; i < last; i += step)
      text += fmt::format("{}{:>{}}", i == first ? "" : " ", shown(values[i]), width);
    text += '\n';
  }
  fmt::print("{}", text);
  for (std::string const& note : map.notes) fmt::print("note: {}\n", note);
  auto const most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  bool const beyond = !bare && std::any_of(indices.begin(), indices.end(), [&](std::uint64_t i) {
    return i >= static_cast<std::uint64_t>(map.domain()->size());
  });
  if (beyond) fmt::print("note: indices past the size go on along the last mode, as in CuTe\n");
  if (!bare && unit == "elements" && !options.at && most >= map.domain()->cosize())
    fmt::print("note: cosize is CuTe's, of the inner layout; the largest offset {} needs {}\n", most,
               most + 1);
}

}  // namespace

void add_eval(CLI::App& app, Common& common) {
  CLI::App* const sub =
      app.add_subcommand("eval", "Offsets or byte addresses of a layout's elements, in CuTe's order");
  auto const options = std::make_shared<Options>();
  options->layout.add_to(*sub);
  sub->add_option("--at", options->at, "these indices only, separated by commas");
  sub->add_flag("--bytes", options->bytes, "byte addresses instead of element offsets")
      ->disable_flag_override();
  sub->add_option("--base", options->base_text, "byte address of the tile (with --bytes)");
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
