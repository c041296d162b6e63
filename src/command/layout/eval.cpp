// swizproof eval LAYOUT: offsets or byte addresses of indices.
#include "command/line/command.hpp"
#include "command/line/help.hpp"

#include "report/report.hpp"

#include <swizproof/layout/algebra.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <variant>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct EvalArguments {
  LayoutArgument layout;
  std::optional<std::string> at{};
  bool bytes = false;
  std::optional<std::string> base{};
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

/// `(3,4)` or `(3,4),(3,5)`: indices of the elements at these coordinates, one number for each mode of the shape.
std::vector<std::uint64_t> parse_coordinates(std::string const& text, Layout const* domain) {
  if (domain == nullptr)
    throw InputError::whole("a function without a shape has no coordinates", text, "give --at 0,1,2,...");
  std::string const wanted = fmt::format("--at takes coordinates of the shape {}: one number for each mode",
                                         to_string(domain->shape));
  std::vector<std::uint64_t> indices;
  for (std::size_t from = 0; from < text.size(); ++from) {
    std::size_t const close = text.find(')', from);
    if (text[from] != '(' || close == std::string::npos) throw InputError::whole(wanted, text);
    std::uint64_t index = 0, stride = 1;
    ++from;
    for (std::size_t mode = 0; mode < domain->rank(); ++mode) {
      std::size_t const end = mode + 1 == domain->rank() ? close : text.find(',', from);
      if (end > close) throw InputError::whole(wanted, text);
      std::uint64_t const at = parse_number(text, from, end, wanted);
      std::uint64_t const extent = static_cast<std::uint64_t>(domain->shape.mode(mode).product());
      if (at >= extent)
        throw InputError{wanted + fmt::format(", this one below {}", extent), text, from, end - from, {}};
      index += at * stride;
      stride *= extent;
      from = end + 1;
    }
    indices.push_back(index);
    if (from < text.size() && text[from] != ',') throw InputError::whole(wanted, text);
  }
  return indices;
}

/// The indices of --at; without it, all `size` of them. `refuse` throws where there are too many.
template <class Refuse>
std::vector<std::uint64_t> indices_of(EvalArguments const& options, Layout const* domain, std::int64_t size,
                                      Refuse const& refuse) {
  if (options.at && options.at->starts_with('(')) return parse_coordinates(*options.at, domain);
  if (options.at) return parse_indices(*options.at, "--at");
  if (size > most_values) refuse();
  std::vector<std::uint64_t> indices;
  for (std::int64_t i = 0; i < size; ++i) indices.push_back(static_cast<std::uint64_t>(i));
  return indices;
}

// ---------------------------------------------------------------------------------- coordinates

/// The values of a coordinate map.
struct Coordinates {
  std::string map;
  std::int64_t size = 0;
  std::vector<std::string> values{};
};

/// A coordinate map: CuTe prints the coordinate of each index.
Coordinates compute(EvalArguments const& options, Layout const& map) {
  Coordinates found{to_string(map), map.size()};
  auto const refuse = [&](std::string message, std::size_t length, std::string hint = {}) {
    throw InputError{std::move(message), found.map, 0, length, std::move(hint)};
  };
  if (options.bytes || options.base) refuse("a coordinate map has no byte addresses", 1);
  auto const indices = indices_of(options, &map, map.size(), [&] {
    refuse(fmt::format("the map has {} coordinates, more than 2^22", map.size()), 1, "give --at 0,1,2,...");
  });
  for (std::uint64_t const i : indices) {
    if (i > 1U << 30) throw InputError{"indices of a coordinate map go up to 2^30", *options.at, 0, 1, {}};
    try {
      found.values.push_back(to_string(coordinate(map, static_cast<std::int64_t>(i))));
    } catch (AlgebraError const&) {
      refuse("the strides mix a coordinate with its own parts, such as 1@0 with 1@1@0", found.map.size());
    }
  }
  return found;
}

Json to_json(Coordinates const& found) {
  return {{"layout", found.map}, {"unit", "coordinates"}, {"size", found.size}, {"values", found.values}};
}

void print_text(Coordinates const& found) {
  fmt::print("{}  size {}, values are coordinates\n", found.map, found.size);
  for (std::size_t i = 0; i < found.values.size(); ++i)
    fmt::print("{}{}", found.values[i], i % 8 == 7 || i + 1 == found.values.size() ? "\n" : " ");
}

// ------------------------------------------------------------------------- integers and shapes

/// An integer or a shape, which some functions of the algebra give.
struct Integers {
  IntTuple value;
  std::vector<std::string> notes{};
};

Json to_json(Integers const& found) {
  Json out{{"value", to_string(found.value)}, {"size", found.value.product()}};
  if (!found.notes.empty()) out["notes"] = found.notes;
  return out;
}

void print_text(Integers const& found) {
  fmt::print("{}\n", to_string(found.value));
  for (std::string const& note : found.notes) fmt::print("note: {}\n", note);
}

// ------------------------------------------------------------------------ offsets and addresses

/// The values of a function of offsets or addresses.
struct Offsets {
  std::string layout;
  std::optional<Layout> domain{};  ///< none of a function without a shape
  bool bytes = false;              ///< the unit, else elements
  bool chosen = false;             ///< by --at
  bool beyond = false;             ///< some index is past the size
  std::string
      coordinate{};  ///< the text of --at in brackets, where its indices may be meant as one coordinate
  /// Offsets may be negative (negative strides); those of a function without a shape are words.
  std::vector<std::int64_t> values{};
  std::vector<std::string> notes{};
  [[nodiscard]] std::string unit() const { return bytes ? "bytes" : "elements"; }
};

/// The byte address of --base, or what LAYOUT says of it.
std::optional<std::uint64_t> base_of(EvalArguments const& options, Mapping const& map) {
  if (!options.base) return options.bytes ? map.base_address : std::nullopt;
  auto const values = parse_indices(*options.base, "--base");
  if (values.size() != 1 || values[0] > largest_base)
    throw InputError{
        "--base takes one byte address of at most 48 bits", *options.base, 0, options.base->size(), {}};
  return values[0];
}

void refuse_contradictions(EvalArguments const& options, Mapping const& map, bool has_base) {
  bool const bare = map.domain() == nullptr;
  auto const refuse = [&](std::string message, std::string hint) {
    throw InputError::whole(std::move(message), map.text, std::move(hint));
  };
  if (has_base && !options.bytes && !(bare && map.acts_on_bytes()))
    throw InputError{"--base goes with --bytes", "", 0, 1, {}};
  if (options.bytes && !bare && !map.element_bits)
    refuse("the element size is not known", "give --element f16");
  if (bare && options.bytes && !map.acts_on_bytes())
    refuse("a function of element offsets has no byte addresses", "leave --element out");
  if (bare && !options.at) refuse("a function without a shape has no list of values", "give --at 0,1,2,...");
}

/// The value of one index in the requested unit.
std::uint64_t value_at(Mapping const& map, bool bytes, std::uint64_t base, std::uint64_t index) {
  if (map.domain() == nullptr) {  // a bare function of byte addresses or of element offsets
    auto const& stages = map.acts_on_bytes() ? map.on_bytes : map.on_elements;
    return value(stages, index + base);
  }
  if (!bytes && !map.acts_on_bytes()) return offset(map, index).elements;
  Address<std::uint64_t> const origin{base};
  std::uint64_t const bits = *map.element_bits;
  if (bytes && bits % 8 == 0) return value(map, origin, index, Unit::bytes);
  std::uint64_t const address = bit_address(map, origin, index);
  std::uint64_t const unit = bytes ? 8 : bits;
  if (address % unit != 0)
    throw InputError::whole(
        fmt::format("index {} lies at bit {}, inside {}", index, address, bytes ? "a byte" : "an element"),
        map.text, bytes ? "leave --bytes out for element offsets" : "use --bytes");
  // Offsets may be negative, and stay so when bits become elements.
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(address) / static_cast<std::int64_t>(unit));
}

Offsets compute(EvalArguments const& options, Mapping const& map) {
  std::optional<std::uint64_t> const base = base_of(options, map);
  refuse_contradictions(options, map, base.has_value());
  Layout const* const domain = map.domain();
  std::int64_t const size = domain == nullptr ? 0 : domain->size();
  auto const indices = indices_of(options, domain, size, [&] {
    throw InputError::whole(fmt::format("the layout has {} elements, more than 2^22", size), map.text,
                            "give --at 0,1,2,...");
  });
  Offsets found{map.text};
  if (domain != nullptr) found.domain = *domain;
  found.bytes = options.bytes || (domain == nullptr && map.acts_on_bytes());
  found.chosen = options.at.has_value();
  if (domain != nullptr && domain->rank() > 1 && found.chosen && options.at->front() != '(' &&
      indices.size() == domain->rank())
    found.coordinate = "(" + *options.at + ")";
  found.notes = map.notes;
  if (map.base_address && !found.bytes && map.acts_on_bytes())
    found.notes.push_back(
        fmt::format("offsets are those from a base of 0, whose swizzle begins there: --bytes has the "
                    "addresses from {:#x}",
                    *map.base_address));
  found.values.reserve(indices.size());
  for (std::uint64_t const index : indices) {
    found.beyond = found.beyond || (domain != nullptr && index >= static_cast<std::uint64_t>(size));
    found.values.push_back(static_cast<std::int64_t>(value_at(map, options.bytes, base.value_or(0), index)));
  }
  return found;
}

Json to_json(Offsets const& found) {
  Json out{{"layout", found.layout}, {"unit", found.unit()}};
  if (found.domain) {
    out["size"] = found.domain->size();
    out["cosize"] = found.domain->cosize();
    auto const [least, most] = std::minmax_element(found.values.begin(), found.values.end());
    if (!found.values.empty()) out["least"] = *least, out["most"] = *most;
    out["values"] = found.values;
  } else {
    out["values"] = std::vector<std::uint64_t>(found.values.begin(), found.values.end());
  }
  if (!found.notes.empty()) out["notes"] = found.notes;
  return out;
}

/// A layout of rank 2 as the table that its shape is; anything else in lines of 16.
std::string table_of(Offsets const& found) {
  auto const shown = [&](std::int64_t v) {
    return found.domain ? fmt::format("{}", v) : fmt::format("{}", static_cast<std::uint64_t>(v));
  };
  std::size_t const count = found.values.size();
  std::size_t width = 1;
  for (std::int64_t const v : found.values) width = std::max(width, shown(v).size());
  bool const table = found.domain && !found.chosen && found.domain->rank() == 2;
  std::size_t const rows =
      table ? static_cast<std::size_t>(found.domain->shape.mode(0).product()) : (count + 15) / 16;
  std::string text;
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t const step = table ? rows : 1;
    std::size_t const first = table ? r : 16 * r;
    std::size_t const last = table ? count : std::min(count, first + 16);
    for (std::size_t i = first; i < last; i += step)
      text += fmt::format("{}{:>{}}", i == first ? "" : " ", shown(found.values[i]), width);
    text += '\n';
  }
  return text;
}

void print_text(Offsets const& found) {
  if (found.domain)
    fmt::print("{}  size {}, cosize {}, values in {}{}\n", found.layout, found.domain->size(),
               found.domain->cosize(), found.unit(),
               found.chosen || found.domain->rank() != 2 ? "" : ", a row of the tile in each line");
  else
    fmt::print("{}  on {}\n", found.layout, found.unit());
  fmt::print("{}", table_of(found));
  for (std::string const& note : found.notes) fmt::print("note: {}\n", note);
  if (!found.coordinate.empty())
    fmt::print("note: these are {} indices; the element at the coordinate {} is --at '{}'\n",
               found.values.size(), found.coordinate, found.coordinate);
  if (found.beyond) fmt::print("note: indices past the size go on along the last mode, as in CuTe\n");
  auto const most = found.values.empty() ? 0 : *std::max_element(found.values.begin(), found.values.end());
  if (found.domain && !found.bytes && !found.chosen && most >= found.domain->cosize())
    fmt::print("note: cosize is CuTe's, of the inner layout; the largest offset {} needs {}\n", most,
               most + 1);
}

// ---------------------------------------------------------------------------------------------

using EvalResult = std::variant<Coordinates, Integers, Offsets>;

EvalResult compute(EvalArguments const& options) {
  MappingOptions parse_options;
  if (!options.layout.element.empty()) parse_options.element_bits = parse_element(options.layout.element);
  std::vector<std::string> notes;
  Evaluated const value = parse_value(options.layout.text, parse_options, &notes);
  if (auto const* map = std::get_if<Layout>(&value)) return compute(options, *map);
  if (auto const* integers = std::get_if<IntTuple>(&value)) return Integers{*integers, notes};
  return compute(options, std::get<Mapping>(value));
}

void run(Common const& common, EvalArguments const& options) {
  EvalResult const result = compute(options);
  std::visit(
      [&](auto const& found) {
        if (common.json)
          print_json(common, to_json(found), -1);
        else
          print_text(found);
      },
      result);
}

}  // namespace

void add_eval(CLI::App& app, Common& common) {
  CLI::App* const sub =
      add_command(app, "eval", "Offsets or byte addresses of a layout's elements, in CuTe's order",
                  {"swizproof eval 'Sw<3,3,3> o _0 o (8,64):(64,1)' --at 0,1,8",
                   "where do the elements 0, 1 and 8 lie?"});
  auto const options = std::make_shared<EvalArguments>();
  options->layout.add_to(*sub);
  sub->add_option("--at", options->at, "these indices only, separated by commas, or coordinates: (3,4)")
      ->type_name("INTEGERS");
  sub->add_flag("--bytes", options->bytes, "byte addresses instead of element offsets")
      ->disable_flag_override();
  sub->add_option("--base", options->base, "byte address of the tile (with --bytes)")->type_name("INTEGER");
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
