#include "parse/obligations/operand_statements.hpp"

#include <swizproof/parse/descriptor_question.hpp>
#include <swizproof/parse/movement.hpp>
#include <swizproof/parse/tma_box.hpp>

#include <iterator>
#include <optional>

namespace swizproof {

namespace {

/// An inline table with known keys; any of them may be missing.
class Statement {
 public:
  Statement(TomlFile const& file, toml::node const& node, std::string_view kind,
            std::set<std::string_view> const& known)
      : file_(file), table_(node.as_table()) {
    if (table_ == nullptr)
      file.fail(fmt::format("{} is a table, which may be empty: {} = {{}}", kind, kind), node.source(),
                fmt::format("its keys: {}", fmt::join(known, ", ")));
    file.refuse_unknown_keys(*table_, known);
  }

  [[nodiscard]] toml::node const* get(std::string_view key) const { return table_->get(key); }
  /// Empty where the key is missing.
  [[nodiscard]] std::string text(std::string_view key) const {
    toml::node const* const node = get(key);
    return node == nullptr ? "" : file_.string(*node, key);
  }
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view key, std::int64_t least,
                                                    std::int64_t most) const {
    toml::node const* const node = get(key);
    if (node == nullptr) return std::nullopt;
    return file_.number(*node, key, least, most);
  }
  /// False where the key is missing.
  [[nodiscard]] bool truth(std::string_view key) const {
    toml::node const* const node = get(key);
    if (node == nullptr) return false;
    auto const value = node->value_exact<bool>();
    if (!value) file_.fail(fmt::format("{} is true or false", key), node->source());
    return *value;
  }
  /// A list of integers; empty where the key is missing.
  template <class T>
  [[nodiscard]] std::vector<T> numbers(std::string_view key, std::int64_t least, std::int64_t most) const {
    toml::node const* const node = get(key);
    if (node == nullptr) return {};
    toml::array const* const array = node->as_array();
    if (array == nullptr || array->empty())
      file_.fail(fmt::format("{} is a list of integers", key), node->source());
    std::vector<T> all;
    for (toml::node const& one : *array)
      all.push_back(static_cast<T>(file_.number(one, "each number of " + std::string(key), least, most)));
    return all;
  }
  /// Errors of the words in the table, at its line.
  template <class Parse>
  auto within(Parse const& parse) const {
    return file_.within(*table_, parse);
  }

 private:
  TomlFile const& file_;
  toml::table const* table_;
};

/// Place of a mode in operand_modes.
std::size_t operand_mode(TomlFile const& file, toml::node const& node) {
  std::string const word = file.string(node, "mode");
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < std::size(operand_modes); ++i) {
    if (operand_modes[i].name == word) return i;
    names.push_back(operand_modes[i].name);
  }
  file.fail("no mode has this name", node.source(), fmt::format("modes: {}", fmt::join(names, ", ")));
}

TmaMode tma_mode(TomlFile const& file, toml::node const& node) {
  std::string const word = file.string(node, "mode");
  std::vector<std::string_view> names;
  for (TmaMode const mode : tma_modes_sm_100) {
    if (name(mode) == word) return mode;
    names.push_back(name(mode));
  }
  file.fail("no mode has this name", node.source(), fmt::format("modes: {}", fmt::join(names, ", ")));
}

/// `of` and `tv` of a fragment.
ThreadValuesHold thread_values_statement(TomlFile const& file, toml::node const& node, Statement const& words,
                                         std::string const& element) {
  for (char const* const key : {"of", "tv"})
    if (words.get(key) == nullptr)
      file.fail(fmt::format("fragment needs {} next to {}", key, key[0] == 'o' ? "tv" : "of"), node.source(),
                "fragment = {of = \"mma.m16n8k16.f16:d\", tv = \"((4,8),(2,2)):((32,1),(16,8))\"}");
  for (char const* const key : {"from", "into", "contiguous", "registers", "transposed"})
    if (toml::node const* const other = words.get(key))
      file.fail(fmt::format("{} is of a movement, and of and tv are of one fragment", key), other->source());
  std::optional<unsigned> const bits = element.empty() ? std::nullopt : std::optional(parse_element(element));
  std::string const of = words.text("of"), tv = words.text("tv");
  ThreadValuesHold hold;
  hold.named = words.within([&] { return parse_fragment(of, bits); });
  hold.layout = words.within([&] { return parse_thread_values(hold.named.fragment, tv); });
  return hold;
}

/// A descriptor's 64 bits, "0x4000004000010000" or an integer.
std::string number_text(TomlFile const& file, toml::node const& node) {
  if (auto const value = node.value_exact<std::int64_t>(); value && *value >= 0)
    return std::to_string(*value);
  return file.string(node, "number");
}

}  // namespace

DescriptorHolds descriptor_statement(TomlFile const& file, toml::node const& node, Mapping map,
                                     std::string const& layout_text, std::string const& element) {
  static std::set<std::string_view> const known{
      "for",   "operand",    "major", "extent", "number", "mode", "leading_byte_offset", "stride_byte_offset",
      "start", "base_offset"};
  Statement const words(file, node, "descriptor", known);
  DescriptorHolds hold;
  hold.of_layout = reader_of_layout(layout_text);
  DescriptorWords const asked{words.text("operand"), words.text("major"), words.text("extent"),
                              map.element.empty() ? element : map.element};
  hold.question = words.within([&] { return parse_descriptor_question(asked); });
  std::string const reader = words.text("for");
  hold.reader = words.within([&] { return parse_reader(reader); });
  FixedFields& fixed = hold.question.fixed;
  if (toml::node const* const mode = words.get("mode")) fixed.mode = operand_mode(file, *mode);
  constexpr std::int64_t most = (1 << 18) - 16;
  auto const length = [&](char const* key) -> std::optional<std::uint32_t> {
    auto const bytes = words.number(key, 0, most);
    if (bytes && *bytes % 16 != 0)
      file.fail(fmt::format("{} is a multiple of 16 bytes", key), words.get(key)->source());
    return bytes ? std::optional(static_cast<std::uint32_t>(*bytes)) : std::nullopt;
  };
  fixed.leading_byte_offset = length("leading_byte_offset");
  fixed.stride_byte_offset = length("stride_byte_offset");
  if (auto const offset = words.number("base_offset", 0, 7))
    fixed.base_offset = static_cast<std::uint32_t>(*offset);
  if (auto const start = words.number("start", -most, most)) {
    fixed.start = static_cast<std::int64_t>(*start);
    if (*fixed.start % 16 != 0) file.fail("start is a multiple of 16 bytes", words.get("start")->source());
  }
  if (toml::node const* const number = words.get("number")) {
    if (fixed.any())
      file.fail("number has all fields of the descriptor", number->source(), "leave the others out");
    MatrixDescriptor const d = file.within(
        *number, [&] { return parse_matrix_descriptor(number_text(file, *number), hold.reader); });
    fixed = fields_of(d);
    fixed.of_a_number = false;  // an obligation is about every base
    hold.reader = d.reader;
  }
  hold.map = std::move(map);
  return hold;
}

TmaHolds tma_statement(TomlFile const& file, toml::node const& node, Mapping map) {
  static std::set<std::string_view> const known{"mode", "box", "modes", "steps", "im2col"};
  Statement const words(file, node, "tma", known);
  if (toml::node const* const im2col = words.get("im2col"))
    file.fail("an im2col box writes no tile of this model", im2col->source(),
              "layout = \"-\": is the box legal?");
  TmaHolds hold;
  if (toml::node const* const mode = words.get("mode")) hold.mode = tma_mode(file, *mode);
  FixedBox box{words.numbers<std::uint32_t>("box", 1, tma_most_elements),
               words.numbers<std::size_t>("modes", 0, 1 << 10),
               words.numbers<std::uint32_t>("steps", 1, 1 << 20)};
  if (box.box.empty()) {
    for (char const* const key : {"modes", "steps"})
      if (words.get(key) != nullptr)
        file.fail(fmt::format("{} are those of a box", key), words.get(key)->source());
  } else {
    if (box.box.size() > tma_most_dimensions)
      file.fail(fmt::format("a box has at most {} dimensions", tma_most_dimensions),
                words.get("box")->source());
    if (box.modes.empty() != box.steps.empty())
      file.fail("modes and steps go together: both, or none for one dimension along each mode",
                node.source());
    if (!box.modes.empty() && (box.modes.size() != box.box.size() || box.steps.size() != box.box.size()))
      file.fail("box, modes and steps have one number for each dimension", node.source());
    for (std::size_t const mode : box.modes)
      if (map.domain() == nullptr || mode >= map.domain()->rank())
        file.fail(fmt::format("the tile has no mode {}", mode), words.get("modes")->source());
    // A dimension of one element is of the tensor, not of the tile.
    for (std::size_t d = box.box.size(); box.modes.empty() && d-- > 1;)
      if (box.box[d] == 1) box.box.erase(box.box.begin() + static_cast<std::ptrdiff_t>(d));
    hold.box = std::move(box);
  }
  hold.map = std::move(map);
  return hold;
}

TmaBoxHolds tma_box_statement(TomlFile const& file, toml::node const& node, std::string const& element) {
  static std::set<std::string_view> const known{"mode", "box", "im2col"};
  Statement const words(file, node, "tma", known);
  bool const im2col = words.get("im2col") != nullptr;
  if (im2col == (words.get("box") != nullptr))
    file.fail("tma without a tile needs one box: box or im2col", node.source(),
              "tma = {mode = \"128B\", box = [64, 64]}");
  char const* const key = im2col ? "im2col" : "box";
  if (words.get("mode") == nullptr)
    file.fail("a box without a tile needs its mode", node.source(), "mode = \"none\" for no swizzle");
  TmaBoxWords const box{words.numbers<std::uint64_t>(key, 0, 1 << 20), words.text("mode"), element, im2col};
  return TmaBoxHolds{words.within([&] { return parse_tma_box(box); })};
}

ConversionHolds conversion_statement(TomlFile const& file, toml::node const& node, Mapping map) {
  static std::set<std::string_view> const known{"to", "gives"};
  Statement const words(file, node, "convert", known);
  if (words.get("to") == nullptr)
    file.fail("convert needs to", node.source(), "convert = {to = \"f32\"}; bits, bytes or a type");
  ConversionHolds hold;
  std::string const to = words.text("to");
  hold.unit_bits = words.within([&] { return parse_unit(to, map); });
  if (toml::node const* const gives = words.get("gives"))
    hold.gives = file.mapping(*gives, "gives", {.element_bits = hold.unit_bits});
  hold.map = std::move(map);
  return hold;
}

std::variant<FragmentHolds, RetileHolds, ThreadValuesHold> fragment_statement(TomlFile const& file,
                                                                              toml::node const& node,
                                                                              std::string const& element) {
  static std::set<std::string_view> const known{"from", "into",      "contiguous", "of",
                                                "tv",   "registers", "transposed"};
  Statement const words(file, node, "fragment", known);
  if (words.get("of") != nullptr || words.get("tv") != nullptr)
    return thread_values_statement(file, node, words, element);
  for (char const* const key : {"from", "into"})
    if (words.get(key) == nullptr)
      file.fail(fmt::format("fragment needs {}", key), node.source(),
                "fragment = {from = \"ldmatrix.x4\", into = \"mma.m16n8k16.f16:a\"}");
  MovementWords const movement{words.text("from"),
                               words.text("into"),
                               "",
                               element,
                               words.text("contiguous"),
                               words.numbers<unsigned>("registers", 0, 255),
                               words.truth("transposed")};
  if (is_retile(movement)) return RetileHolds{words.within([&] { return parse_retile(movement); })};
  return FragmentHolds{words.within([&] { return parse_movement(movement); })};
}

}  // namespace swizproof
