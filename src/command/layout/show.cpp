// swizproof show LAYOUT: the picture, on the terminal or in a file.
#include "command/line/command.hpp"
#include "command/line/help.hpp"

#include "command/layout/show_fragment.hpp"
#include "picture/picture.hpp"

#include <swizproof/hardware/certainty.hpp>
#include <swizproof/hardware/element.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t largest_drawn_base = std::uint64_t{1} << 27;

struct ShowArguments {
  LayoutArgument layout;
  AccessArguments accesses{};
  std::string base{};
  std::string origin{};
  std::vector<std::string> set{};
  std::optional<unsigned> phase{};
  std::string rows{}, cols{};
  bool memory = false;
  std::string content{};
  std::string svg{}, html{};
  [[nodiscard]] bool wants_memory() const { return memory || !content.empty(); }
};

/// `A<joint>B`.
std::pair<std::uint64_t, std::uint64_t> two_numbers(std::string const& text, std::string const& joint,
                                                    std::string const& wanted) {
  std::size_t const at = text.find(joint);
  if (at == std::string::npos) throw InputError::whole(wanted, text);
  return {parse_number(text, 0, at, wanted), parse_number(text, at + joint.size(), text.size(), wanted)};
}

std::optional<std::pair<std::int64_t, std::int64_t>> range(std::string const& text,
                                                           std::string const& option) {
  if (text.empty()) return {};
  auto const [first, last] = two_numbers(text, "..", option + " takes A..B, both included");
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  return std::pair(static_cast<std::int64_t>(std::min(first, most)),
                   static_cast<std::int64_t>(std::min(last, most)));
}

/// Fixes what --origin and --set say.
void choose(Shots& shots, ShowArguments const& options, unsigned element_bits) {
  if (!options.origin.empty()) {
    auto const [row, col] =
        two_numbers(options.origin, ",", "--origin takes ROW,COLUMN of the tile, in elements");
    if (!std::holds_alternative<RowAndByte>(shots.placement().access().where))
      throw InputError::whole("--origin goes with patterns of row and byte", options.origin,
                              "choose with --set NAME=VALUE");
    bool const down = shots.placement().row_mode() == 1 && shots.placement().map().domain()->rank() > 1;
    shots.set("row", down ? col : row);
    shots.set("byte", (down ? row : col) * element_bits / 8);
  }
  for (std::string const& text : options.set) {
    std::size_t const at = text.find('=');
    std::string const wanted = "--set takes NAME=VALUE";
    if (at == std::string::npos) throw InputError::whole(wanted, text);
    shots.set(text.substr(0, at), parse_number(text, at + 1, text.size(), wanted));
  }
}

std::vector<Picture> pictures(Mapping const& map, Tile const& tile, std::vector<Access> const& accesses,
                              ShowArguments const& options, Architecture const& arch) {
  if (accesses.empty()) return {make_picture(tile, arch.banks)};
  std::vector<Picture> all;
  for (Access const& access : accesses) {
    Shots shots(map, access, tile.base);
    choose(shots, options, tile.element_bits);
    all.push_back(
        make_picture(tile, arch, access.title(), access.instruction, shots.worst(arch), options.phase));
  }
  return all;
}

[[noreturn]] void refuse(std::string message, std::string const& input, std::string hint = {}) {
  throw InputError::whole(std::move(message), input, std::move(hint));
}

void refuse_contradictions(Common const& common, ShowArguments const& options) {
  if (options.wants_memory() && common.json)
    refuse("--memory has no JSON form", "--json", "the JSON of show has every element's address");
  if (options.wants_memory() &&
      (!options.accesses.texts.empty() || !options.svg.empty() || !options.html.empty()))
    refuse("--memory shows what lies where, without an access, as text", "--memory");
  if (options.accesses.texts.empty() && (!options.origin.empty() || !options.set.empty() || options.phase))
    refuse("--origin, --set and --phase choose among the instructions of an access", "", "give --access");
  if (common.json && (options.svg == "-" || options.html == "-"))
    refuse("standard output takes one form", "--json", "write the picture to a file");
  if (!options.svg.empty() && options.accesses.texts.size() > 1)
    refuse("an SVG shows one access", options.accesses.texts[1], "call once for each");
}

// ----------------------------------------------------------------------------------- the result

struct ShowResult {
  Mapping map{};
  Architecture const* arch = nullptr;
  Tile tile{};
  std::vector<Access> accesses{};
  std::vector<Picture> pictures{};  ///< one for each access; without one, of the tile alone
};

/// The tile at its base address, as far as --rows and --cols go.
Tile tile_of(Mapping const& map, ShowArguments const& options) {
  std::uint64_t base = map.base_address.value_or(0);
  if (!options.base.empty())
    base = parse_number(options.base, 0, options.base.size(), "--base takes one byte address");
  if (base > largest_drawn_base)
    refuse(fmt::format("the base address {:#x} is more than 2^27", base),
           options.base.empty() ? map.text : options.base,
           "give the tile's address in shared memory: --base 0");
  return make_tile(map, base, {range(options.rows, "--rows"), range(options.cols, "--cols")});
}

ShowResult compute(Common const& common, ShowArguments const& options) {
  ShowResult result;
  result.arch = &parse_architecture(common.arch);
  result.map = options.layout.parse();
  result.tile = tile_of(result.map, options);
  if (options.wants_memory()) return result;
  result.accesses = options.accesses.parse(result.map.array, result.map.notes);
  result.pictures = pictures(result.map, result.tile, result.accesses, options, *result.arch);
  return result;
}

// ------------------------------------------------------------------------------------ the forms

Json to_json(ShowResult const& result) {
  Json out{{"arch", result.arch->name},
           {"evidence", name(result.arch->support)},
           {"certainty", certainty(*result.arch)},
           {"pictures", Json::array()}};
  for (Picture const& picture : result.pictures) out["pictures"].push_back(to_json(picture));
  if (!result.map.notes.empty()) out["notes"] = result.map.notes;
  return out;
}

void print_text(ShowResult const& result, Style const& style) {
  for (Picture const& picture : result.pictures)
    fmt::print("{}{}", &picture == &result.pictures[0] ? "" : "\n", terminal(picture, style));
  for (std::string const& note : result.map.notes) fmt::print("note: {}\n", note);
}

void print_memory(ShowResult const& result, ShowArguments const& options, Style const& style) {
  std::array<std::string, 2> const variables{"row", "col"};
  std::optional<Expression> content;
  if (!options.content.empty()) content = parse_expression(options.content, variables);
  ElementType const* const type = element_type(options.layout.element);
  bool const real = type != nullptr && !type->is_integer();
  fmt::print("{}", memory_image(result.tile, result.arch->banks, content, real, style));
}

/// Which thread holds which element of a fragment.
void run_fragment(Common const& common, ShowArguments const& options) {
  std::string const& text = options.layout.text;
  if (common.json)
    refuse("the picture of a fragment has no JSON form", text,
           looks_like_tiled_copy(text) ? "leave --json out"
                                       : "swizproof fragment '" + text + "' --json has all its elements");
  if (!options.accesses.texts.empty() || options.wants_memory() || !options.base.empty())
    refuse("a fragment is in registers: it has no banks", text, "leave --access, --memory and --base out");
  std::optional<unsigned> bits;
  if (!options.layout.element.empty()) bits = parse_element(options.layout.element);
  HeldMatrix const matrix =
      held_matrix(text, bits, {range(options.rows, "--rows"), range(options.cols, "--cols")});
  if (!options.svg.empty()) write_output(common, options.svg, "the picture", svg(matrix), false);
  if (!options.html.empty()) write_output(common, options.html, "the page", html(matrix), false);
  if (options.svg.empty() && options.html.empty())
    fmt::print("{}", terminal(matrix, Style(common.color, STDOUT_FILENO), terminal_columns()));
}

void run(Common const& common, ShowArguments const& options) {
  if (is_fragment(options.layout.text)) return run_fragment(common, options);
  refuse_contradictions(common, options);
  ShowResult const result = compute(common, options);
  Style const style(common.color, STDOUT_FILENO);
  if (options.wants_memory()) return print_memory(result, options, style);
  if (!options.svg.empty())
    write_output(common, options.svg, "the picture", svg(result.pictures[0]), common.json);
  if (!options.html.empty())
    write_output(common, options.html, "the page",
                 html(result.map, result.tile, result.accesses, *result.arch), common.json);
  if (common.json)
    print_json(common, to_json(result), -1);
  else if (options.svg.empty() && options.html.empty())
    print_text(result, style);
}

}  // namespace

void add_show(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "show", "Draw a tile in shared memory (banks, lanes, collisions), or a fragment in registers",
      {"swizproof show 'Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)' --access ldmatrix.x2",
       "which banks do the lanes of a phase take, with the swizzle and without?"});
  auto const options = std::make_shared<ShowArguments>();
  options->layout.add_to(*sub);
  options->accesses
      .add_to(*sub, "draw one phase of this access, the worst unless chosen below; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--origin", options->origin, "ROW,COLUMN of a named pattern's corner, in elements")
      ->type_name("INTEGERS");
  sub->add_option("--set", options->set, "NAME=VALUE of a variable of the access; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--phase", options->phase, "which phase, from 0");
  sub->add_option("--base", options->base, "byte address of the tile (default: what LAYOUT says, else 0)")
      ->type_name("INTEGER");
  sub->add_option("--rows", options->rows, "A..B: these rows only")->type_name("RANGE");
  sub->add_option("--cols", options->cols, "A..B: these columns only")->type_name("RANGE");
  sub->add_flag("--memory", options->memory,
                "print what lies in each slot of shared memory, all banks once (128 bytes) a line")
      ->disable_flag_override();
  sub->add_option("--content", options->content,
                  "the same, for a tile whose elements are this expression of row and col");
  add_output_to(*sub, "--svg", options->svg, "write a figure to this file, or to - for standard output");
  add_output_to(*sub, "--html", options->html,
                "write a page to this file (or -): choose swizzle, access, origin, phase");
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
