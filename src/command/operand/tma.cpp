// swizproof tma LAYOUT: which cuTensorMapEncodeTiled arguments write exactly this tile?
#include "command/layout/code.hpp"
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/line/help.hpp"
#include "command/operand/tma_box.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/tma.hpp>
#include <swizproof/layout/composed.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <memory>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_copies = 8;

struct TmaArguments {
  LayoutArgument layout;
  TmaBoxArguments one_box;  ///< --box or --im2col: then there is no layout
  std::string im2col;
  bool all = false;
  std::string emit;
};

struct TmaResult {
  Mapping map{};
  Architecture const* arch = nullptr;
  Support support = Support::measured;
  std::string element{};  ///< name of the element type; empty if only its size is known
  std::vector<TmaDataType const*> data_types{};  ///< possible types; the first is used
  TmaCopies found{};
  std::string hint{};  ///< change that would make it possible

  [[nodiscard]] std::size_t rank() const { return found.plans.front().box.size(); }
};

std::string cuda_name(TmaDataType const& type) { return "CU_TENSOR_MAP_DATA_TYPE_" + std::string(type.name); }

std::string cuda_name(TmaMode mode) {
  std::string text = "CU_TENSOR_MAP_SWIZZLE_" + std::string(name(mode));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// The type that elements of this name ask for, else all of that size that keep the bits.
std::vector<TmaDataType const*> data_types_of(std::string const& element, unsigned bits) {
  if (TmaDataType const* const type = tma_data_type(element)) return {type};
  std::vector<TmaDataType const*> all;
  for (TmaDataType const& type : tma_data_types)
    if (type.bits == bits && type.keeps_bits) all.push_back(&type);
  return all;
}

/// The tile's only swizzle, on bytes; nothing if it has none, or several, or one that no swizzle of bytes is.
std::optional<Swizzle> byte_swizzle(Mapping const& map) {
  bool const on_bytes = map.acts_on_bytes();
  std::vector<Stage> const& stages = on_bytes ? map.on_bytes : map.on_elements;
  auto const* const swizzle = std::get_if<Swizzle>(&stages.front());
  if (swizzle == nullptr || (on_bytes && stages.size() != 1)) return std::nullopt;
  return on_bytes ? *swizzle : recast(*swizzle, 3 - std::countr_zero(*map.element_bits));
}

/// Statement that no mode has the tile's swizzle; empty if one has.
std::string hint_of_swizzle(TmaResult const& result) {
  std::optional<Swizzle> const own = byte_swizzle(result.map);
  if (!own || own->bits == 0 || !result.found.plans.empty()) return {};
  for (TmaMode const mode : tma_modes_sm_100)
    if (swizzle_of(mode) == *own) return {};
  return fmt::format("its swizzle, {} on bytes, is none of TMA's: {}, {} and {}", to_string(*own),
                     to_string(swizzle_of(TmaMode::b32)), to_string(swizzle_of(TmaMode::b64)),
                     to_string(swizzle_of(TmaMode::b128)));
}

/// Modes of compute capability 10.0 that would write the tile where the architecture does not load with them.
std::string hint_of_newer(TmaResult const& result, Limits const& limits) {
  if (result.arch->tma != TmaLoads::up_to_128b || !result.found.plans.empty()) return {};
  TmaCopies const newer = tma_copies(result.map, {tma_modes_sm_100, {}, {}}, limits);
  if (newer.plans.empty()) return {};
  std::string const mode(name(newer.plans.front().mode));
  if (result.arch->capability >= 120)
    return fmt::format(
        "mode {}, which {} has for stores to global memory alone, loads it on sm_100 (documented, not "
        "measured)",
        mode, result.arch->name);
  return fmt::format(
      "mode {}, which compute capability 10.0 has (documented, not measured), writes it: --arch sm_100",
      mode);
}

/// Replaces the tile by the one whose elements TMA has; its text stays the user's.
void take_recast(TmaResult& result) {
  unsigned const before = *result.map.element_bits;
  static_cast<Map&>(result.map) = *result.found.recast;
  std::string const types = before == 4 ? "from compute capability 10.0 on 16U4_ALIGN8B copies the same "
                                          "bytes, with twice the first extents of box (at most 256) and "
                                          "tensor; "
                                          "16U4_ALIGN16B writes others, 8 bytes free behind every 8 "
                                          "('swizproof tma --box 128,64 --element 16U4_ALIGN16B --arch "
                                          "sm_100')"
                                        : fmt::format("TMA has no elements of {} bits", before);
  result.map.notes.push_back(
      fmt::format("{}; the answer is that of the same bytes as elements of {} bits: {}", types,
                  *result.map.element_bits, to_string(*result.found.recast)));
}

TmaResult compute_copies(Common const& common, Mapping const& map, std::string const& element) {
  TmaResult result;
  result.map = map;
  result.arch = &parse_architecture(common.arch);
  result.support = tma_basis(result.map, *result.arch);
  result.found = tma_copies(result.map, {tma_modes_of(*result.arch), {}, {}}, common.limits());
  if (result.found.recast) take_recast(result);
  if (!result.found.recast) result.element = result.map.element;
  if (result.element.empty() && !result.found.recast && !element.empty() &&
      parse_element(element) == result.map.element_bits)
    result.element = element;
  result.data_types = data_types_of(result.element, *result.map.element_bits);
  result.hint = hint_of_newer(result, common.limits());
  if (result.hint.empty()) result.hint = hint_of_swizzle(result);
  return result;
}

// ----------------------------------------------------------------------------------------- the code

/// Boxes at one distance along a mode of the tile.
struct BoxLoop {
  std::size_t mode = 0;
  std::uint64_t count = 1, elements = 1;
  std::int64_t bytes = 0;
};

/// The boxes as nested loops, the first mode innermost; nothing where their destinations are not at one distance.
std::optional<std::vector<BoxLoop>> loops_of(TmaPlan const& plan) {
  std::vector<BoxLoop> loops;
  std::int64_t const start = plan.copies.front().destination;
  std::uint64_t unit = 1;
  for (std::size_t m = 0; m < plan.copies.front().at.size(); ++m) {
    if (unit == plan.copies.size() || plan.copies[unit].at[m] == 0) continue;
    BoxLoop loop{m, 1, plan.copies[unit].at[m], plan.copies[unit].destination - start};
    while (loop.count * unit < plan.copies.size() && plan.copies[loop.count * unit].at[m] != 0) ++loop.count;
    unit *= loop.count;
    loops.push_back(loop);
  }
  for (TmaCopy const& copy : plan.copies) {
    std::int64_t sum = start;
    for (BoxLoop const& loop : loops) {
      if (copy.at[loop.mode] % loop.elements != 0) return std::nullopt;
      sum += static_cast<std::int64_t>(copy.at[loop.mode] / loop.elements) * loop.bytes;
    }
    if (sum != copy.destination) return std::nullopt;
  }
  return loops;
}

/// `tile + 128 + 8192*i`; a number of 0 is left out.
std::string sum(std::string text, std::int64_t start, std::string const& terms) {
  if (start != 0) text += fmt::format(" {} {}", start < 0 ? '-' : '+', std::abs(start));
  return text + terms;
}

/// `int const destination[2] = {0, 8192};` and the coordinates of boxes that lie at no regular distances.
void add_arrays(std::vector<std::string>& lines, TmaPlan const& plan) {
  auto const add = [&](std::string const& head, auto const& entry) {
    lines.push_back(head + " = {");
    for (std::size_t i = 0; i < plan.copies.size(); ++i) {
      if (i % shown_copies == 0) lines.emplace_back("   ");
      lines.back() += fmt::format(" {}{}", entry(plan.copies[i]), i + 1 < plan.copies.size() ? "," : "};");
    }
  };
  std::size_t const count = plan.copies.size();
  add(fmt::format("int const destination[{}]", count),
      [](TmaCopy const& copy) { return fmt::format("{}", copy.destination); });
  add(fmt::format("int const at[{}][{}]", count, plan.copies.front().at.size()),
      [](TmaCopy const& copy) { return fmt::format("{{{}}}", fmt::join(copy.at, ", ")); });
}

/// True if the box has dimensions that split modes of the tile.
bool is_split(TmaBoxes const& boxes) {
  return std::any_of(boxes.steps.begin(), boxes.steps.end(), [](std::uint32_t step) { return step != 1; });
}

/// Comments: what the tensor map's strides are where its dimensions split modes of the tile.
std::vector<std::string> strides_of_split(TmaBoxes const& boxes) {
  std::vector<std::string> lines;
  for (std::size_t d = 1; d < boxes.box.size(); ++d) {
    if (boxes.steps[d] == 1) continue;
    lines.push_back(
        fmt::format("// dimension {0} has every {1}th index of mode {2}: stride[{3}] = {1} * the stride of "
                    "mode {2}, extent[{0}] >= {4}",
                    d, boxes.steps[d], boxes.modes[d], d - 1, boxes.box[d]));
  }
  return lines;
}

/// The call and the copies; with the arrays of irregular boxes if `all` is set, or if they are few.
std::vector<std::string> code_of(TmaResult const& result, bool all) {
  TmaPlan const& plan = result.found.plans.front();
  std::size_t const rank = result.rank();
  std::vector<std::string> ones(rank, "1"), lines;
  lines.push_back(fmt::format("cuuint32_t const box[{0}] = {{{1}}}, step[{0}] = {{{2}}};", rank,
                              fmt::join(plan.box, ", "), fmt::join(ones, ", ")));
  for (std::string& line : strides_of_split(plan)) lines.push_back(std::move(line));
  lines.push_back(fmt::format("cuTensorMapEncodeTiled(&map, {}, {}, tensor, extent, stride, box, step,",
                              cuda_name(*result.data_types.front()), rank));
  lines.push_back(fmt::format("    CU_TENSOR_MAP_INTERLEAVE_NONE, {},", cuda_name(plan.mode)));
  lines.emplace_back("    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);");
  lines.push_back(fmt::format("mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};", plan.bytes * plan.boxes));
  auto const loops = loops_of(plan);
  std::string indent, terms;
  std::vector<std::string> at(rank);  // a dimension of a greater step counts from where that of step 1 is
  for (std::size_t d = 0; d < rank; ++d) at[d] = plan.steps[d] == 1 ? fmt::format("c{}", d) : "0";
  if (loops) {
    for (std::size_t l = loops->size(); l-- > 0;) {
      BoxLoop const& loop = (*loops)[l];
      char const variable = static_cast<char>('i' + (loops->size() - 1 - l));
      lines.push_back(fmt::format("{0}for (int {1} = 0; {1} < {2}; ++{1})", indent, variable, loop.count));
      indent += "  ";
      terms += fmt::format(" {} {}*{}", loop.bytes < 0 ? '-' : '+', std::abs(loop.bytes), variable);
      for (std::size_t d = 0; d < rank; ++d)
        if (plan.modes[d] == loop.mode && plan.steps[d] == 1)
          at[d] += loop.elements == 1 ? fmt::format(" + {}", variable)
                                      : fmt::format(" + {}*{}", loop.elements, variable);
    }
    terms = sum("tile", plan.copies.front().destination, terms);
  } else {
    bool const listed = all || plan.copies.size() <= shown_copies;
    if (listed) add_arrays(lines, plan);
    lines.push_back(fmt::format("for (int i = 0; i < {}; ++i)  // the boxes as they are listed{}", plan.boxes,
                                listed ? "" : "; --all prints destination[] and at[][]"));
    indent = "  ";
    terms = "tile + destination[i]";
    for (std::size_t d = 0; d < rank; ++d)
      if (plan.steps[d] == 1) at[d] += fmt::format(" + at[i][{}]", plan.modes[d]);
  }
  lines.push_back(
      fmt::format("{}cp.async.bulk.tensor.{}d.shared::cluster.global.mbarrier::complete_tx::bytes [{}], "
                  "[map, {{{}}}], [bar];",
                  indent, rank, terms, fmt::join(at, ", ")));
  lines.push_back(fmt::format(
      "{}// to store: cp.async.bulk.tensor.{}d.global.shared::cta.bulk_group [map, {{{}}}], [{}];", indent,
      rank, fmt::join(at, ", "), terms));
  return lines;
}

// ----------------------------------------------------------------------------------------- results

/// `384 modulo 1024`, `one of 512, 640 modulo 1024`: the good bases that are no multiples of the alignment.
std::string residues(TmaPlan const& plan) {
  std::size_t const count = std::min(plan.also.size(), shown_copies);
  std::string text = fmt::format(
      "{}", fmt::join(plan.also.begin(), plan.also.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  if (plan.also.size() > count) text += fmt::format(" or {} more (--json)", plan.also.size() - count);
  return fmt::format("{}{} modulo {}", plan.also.size() > 1 ? "one of " : "", text, plan.period);
}

std::string domain_of(TmaResult const& result) {
  TmaPlan const& plan = result.found.plans.front();
  std::string const bytes = fmt::format("every byte of indices 0..{}", result.map.domain()->size() - 1);
  if (plan.destination_alignment == 0) return fmt::format("{}, every base that is {}", bytes, residues(plan));
  return fmt::format("{}, every base that is a multiple of {}{}", bytes, plan.destination_alignment,
                     plan.also.empty() ? "" : ", and every other good base");
}

/// Bases from which there are no copies, of a refutation.
std::string domain_of_refutation(TmaResult const& result) {
  std::uint64_t const unit = result.found.none_from;
  return unit == 1 ? "every base" : fmt::format("every base that is a multiple of {}", unit);
}

/// The boxes that were tried in vain, in words.
std::string searched(TmaResult const& result) {
  std::vector<std::string_view> modes;
  for (TmaMode const mode : tma_modes_of(*result.arch)) modes.push_back(name(mode));
  return fmt::format(
      "all boxes of at most {} dimensions, each along one mode of the tile at any step, in modes {}; they "
      "may overlap",
      tma_most_dimensions, fmt::join(modes, ", "));
}

/// Null where no multiples are good bases.
Json multiples_of(TmaBoxes const& boxes) {
  return boxes.destination_alignment == 0 ? Json(nullptr) : Json(boxes.destination_alignment);
}

/// `{64, 64} of 2 boxes` and so on, for the other modes.
Json to_json(TmaBoxes const& boxes) {
  return {{"swizzle", name(boxes.mode)},
          {"interleave", "none"},
          {"box", boxes.box},
          {"box_modes", boxes.modes},
          {"box_steps", boxes.steps},
          {"boxes", boxes.boxes},
          {"pitch", boxes.pitch},
          {"bytes", boxes.bytes},
          {"destination_alignment", multiples_of(boxes)}};
}

Json to_json(TmaWitness const& witness) {
  Json out{{"at", witness.at}};
  if (witness.tma)
    out["byte"] = witness.byte, out["tma"] = *witness.tma;
  else
    out["other"] = witness.other;
  out["layout"] = witness.layout;
  return out;
}

void add_plan(Json& out, TmaResult const& result) {
  TmaPlan const& plan = result.found.plans.front();
  out.update(to_json(static_cast<TmaBoxes const&>(plan)));
  out["expect_tx"] = plan.bytes * plan.boxes;
  out["data_type"] = cuda_name(*result.data_types.front());
  out["data_types"] = Json::array();
  for (TmaDataType const* type : result.data_types) out["data_types"].push_back(cuda_name(*type));
  out["data_type_number"] = result.data_types.front()->number;
  out["swizzle_number"] = static_cast<unsigned>(plan.mode);
  out["rank"] = result.rank();
  out["fewest"] = !result.found.split.has_value();
  out["extents"] = Json::array();
  for (std::size_t m = 0; m < plan.copies.front().at.size(); ++m)
    out["extents"].push_back(result.map.domain()->shape.mode(m).product());
  out["element_strides"] = std::vector<unsigned>(result.rank(), 1);
  out["tensor"] = {{"address_multiple_of", tma_tensor_unit}, {"strides_multiple_of", tma_tensor_unit}};
  out["limits"] = {{"elements", tma_most_elements},
                   {"dimensions", tma_most_dimensions},
                   {"line_multiple_of", tma_line_unit},
                   {"line_at_most", tma_width(plan.mode) == 0 ? Json(nullptr) : Json(tma_width(plan.mode))}};
  out["bases"] = {{"multiples_of", multiples_of(plan)},
                  {"period", plan.period},
                  {"also", plan.also},
                  {"exact", plan.exact}};
  out["copies"] = Json::array();
  for (TmaCopy const& copy : plan.copies)
    out["copies"].push_back({{"at", copy.at}, {"destination", copy.destination}});
  if (plan.image) out["image"] = to_string(*plan.image);
  out["engines"] = list_of(plan.engines);
  out["domain"] = domain_of(result);
  out["others"] = Json::array();
  for (std::size_t i = 1; i < result.found.plans.size(); ++i)
    out["others"].push_back(to_json(static_cast<TmaBoxes const&>(result.found.plans[i])));
  out["code"] = code_of(result, true);
}

Json to_json(TmaResult const& result) {
  Json out{{"verdict", name(result.found.outcome)}, {"layout", result.map.text}};
  if (!result.found.plans.empty()) {
    add_plan(out, result);
  } else {
    out["reason"] = result.found.reason;
    if (std::holds_alternative<Refuted>(result.found.outcome)) out["searched"] = searched(result);
    if (result.found.witness) out["counterexample"] = to_json(*result.found.witness);
    if (!result.hint.empty()) out["hint"] = result.hint;
    out["engines"] = {name(Engine::exhaustive)};
    if (std::holds_alternative<Refuted>(result.found.outcome)) out["domain"] = domain_of_refutation(result);
  }
  if (result.found.recast)
    out["recast"] = {{"element_bits", *result.map.element_bits}, {"layout", to_string(*result.found.recast)}};
  if (result.found.split) {
    TmaPlan const& split = *result.found.split;
    out["split"] = to_json(static_cast<TmaBoxes const&>(split));
    std::optional<Map> const modes = split_tile(result.map, split);
    out["split"]["layout"] = modes ? Json(to_string(*modes)) : Json(nullptr);
    out["split"]["engines"] = list_of(split.engines);
  }
  out["arch"] = result.arch->name;
  out["evidence"] = name(result.support);
  if (!result.map.notes.empty()) out["notes"] = result.map.notes;
  return out;
}

std::string evidence_of(TmaResult const& result) {
  std::string text(name(result.support));
  if (result.support == Support::measured) text += " (campaigns tma and tiles)";
  return text;
}

std::string describe(TmaWitness const& witness) {
  std::string const element = fmt::format("element ({})", fmt::join(witness.at, ","));
  if (!witness.tma)
    return fmt::format("{} and element ({}) both lie at byte {}", element, fmt::join(witness.other, ","),
                       witness.layout);
  return fmt::format("{}{}: TMA puts it at byte {}, the layout has it at byte {}",
                     witness.byte == 0 ? "" : fmt::format("byte {} of ", witness.byte), element, *witness.tma,
                     witness.layout);
}

std::string good_bases(TmaPlan const& plan) {
  std::string_view const exactness = plan.exact ? "necessary and sufficient" : "sufficient";
  if (plan.destination_alignment == 0)
    return fmt::format("the tile's base is {} ({})", residues(plan), exactness);
  std::string text = fmt::format("the tile's base is a multiple of {} bytes", plan.destination_alignment);
  std::string const how = fmt::format(" ({})", exactness);
  if (plan.also.empty()) return text + how;
  std::size_t const count = std::min(plan.also.size(), shown_copies);
  text +=
      fmt::format(", or base mod {} is one of {}", plan.period,
                  fmt::join(plan.also.begin(), plan.also.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  if (plan.also.size() > count) text += fmt::format(" and {} more (--json)", plan.also.size() - count);
  return text + how;
}

/// `one box`, `2 boxes`.
std::string count_of(TmaBoxes const& boxes) {
  return boxes.boxes == 1 ? "one box" : fmt::format("{} boxes", boxes.boxes);
}

/// `one box of (64,2,64), mode 128B, if the tensor map has these modes: LAYOUT`.
std::string describe_split(TmaResult const& result) {
  TmaPlan const& plan = *result.found.split;
  std::optional<Map> const modes = split_tile(result.map, plan);
  return fmt::format("{} of ({}), mode {}, if the tensor map has {}", count_of(plan),
                     fmt::join(plan.box, ","), name(plan.mode),
                     modes ? "these modes: " + to_string(*modes)
                           : fmt::format("dimensions along modes {} of the tile, in steps of {}",
                                         fmt::join(plan.modes, ", "), fmt::join(plan.steps, ", ")));
}

/// Bytes that are written twice: 0 where boxes lie side by side.
std::uint64_t written_twice(TmaResult const& result) {
  TmaPlan const& plan = result.found.plans.front();
  return plan.bytes * plan.boxes -
         static_cast<std::uint64_t>(result.map.domain()->size()) * *result.map.element_bits / 8;
}

/// A line on the number of boxes, if there are several.
std::string minimum_of(TmaResult const& result) {
  TmaPlan const& plan = result.found.plans.front();
  if (plan.boxes == 1) return {};
  std::string text = result.found.split
                         ? "no fewer equal boxes along the tile's own modes; see split for fewer along others"
                         : "no fewer equal boxes of one tensor map write it from these bases";
  if (std::uint64_t const twice = written_twice(result); twice != 0)
    text += fmt::format("; they overlap: {} bytes are written twice, with the same values", twice);
  return text;
}

/// True if each copy's destination lies so many bytes behind that of the one before it along a mode.
bool steady_along(TmaPlan const& plan, std::vector<std::uint64_t> const& boxes, std::size_t mode,
                  std::int64_t bytes) {
  std::size_t unit = 1;
  for (std::size_t m = 0; m < mode; ++m) unit *= boxes[m];
  for (std::size_t i = 0; i + unit < plan.copies.size(); ++i)
    if (i / unit % boxes[mode] + 1 < boxes[mode] &&
        plan.copies[i + unit].destination - plan.copies[i].destination != bytes)
      return false;
  return true;
}

/// Reason why each box is one line or a part of one; empty if it is not.
std::string why_lines_alone(TmaResult const& result) {
  TmaPlan const& plan = result.found.plans.front();
  if (plan.boxes == 1 || written_twice(result) != 0 ||
      std::any_of(plan.box.begin() + 1, plan.box.end(), [](auto b) { return b != 1; }))
    return {};
  std::vector<std::uint64_t> extents, boxes;
  for (std::size_t m = 0; m < plan.copies.front().at.size(); ++m)
    extents.push_back(static_cast<std::uint64_t>(result.map.domain()->shape.mode(m).product()));
  boxes = extents;
  boxes[plan.modes.front()] /= plan.box.front();
  std::uint64_t const line = extents[plan.modes.front()], element = *result.map.element_bits / 8;
  bool const cut =
      line > plan.box.front() &&
      steady_along(plan, boxes, plan.modes.front(), static_cast<std::int64_t>(plan.box.front() * element));
  if (cut && tma_width(plan.mode) != 0 && line * element > tma_width(plan.mode))
    return fmt::format(
        "each piece of a line is a box: the tile's lines of {} bytes are wider than the swizzle's {}",
        line * element, tma_width(plan.mode));
  if (cut && line > tma_most_elements)
    return fmt::format("each piece of a line is a box: the tile's lines have {} elements, a box at most {}",
                       line, tma_most_elements);
  return plan.modes.size() == 1 ? "each piece of the line is a box: the line has gaps"
                                : "each line is a box: the tile's lines are not at one distance";
}

/// Conditions of a wgmma descriptor on the base beyond those of the copies; empty if there are none.
std::string base_of_wgmma(TmaResult const& result) {
  TmaPlan const& plan = result.found.plans.front();
  std::uint64_t const pattern = swizzle_of(plan.mode).period();
  if (plan.mode == TmaMode::none || result.map.acts_on_bytes() ||
      (plan.destination_alignment % pattern == 0 && plan.also.empty()))
    return {};
  return fmt::format("wgmma reads it with base offset 0 from multiples of {} bytes alone", pattern);
}

/// `mode 64B, 2 boxes of (32,64), from multiples of 512 bytes`
std::string in_short(TmaPlan const& plan) {
  return fmt::format(
      "mode {}, {} of ({}), from {}", name(plan.mode), count_of(plan), fmt::join(plan.box, ","),
      plan.destination_alignment == 0 ? "a base that is " + residues(plan)
                                      : fmt::format("multiples of {} bytes", plan.destination_alignment));
}

void print_plan(TmaResult const& result, bool all, Style const& style) {
  TmaPlan const& plan = result.found.plans.front();
  auto const line = [&](std::string_view what, std::string const& text) {
    fmt::print("  {:<13}{}\n", what, text);
  };
  auto const detail = [&](std::string_view what, std::string const& text) {
    if (!style.brief()) line(what, text);
  };
  fmt::print("  {}  TMA writes exactly this tile: mode {}, {} of ({})\n", style.outcome(result.found.outcome),
             style.strong(name(plan.mode)), count_of(plan), fmt::join(plan.box, ","));
  if (!style.brief()) fmt::print("           on {}\n\n", domain_of(result));
  std::vector<std::string> types;
  for (TmaDataType const* type : result.data_types)
    types.push_back(fmt::format("{} ({})", cuda_name(*type), type->number));
  line("data type", fmt::format("{}", fmt::join(types, " or ")));
  if (!result.data_types.front()->keeps_bits)
    line("",
         "converts f32 to tf32 during the copy, according to CUTLASS (not measured); FLOAT32 (7) keeps the "
         "bits");
  detail("swizzle", fmt::format("{} ({}); interleave CU_TENSOR_MAP_INTERLEAVE_NONE (0)", cuda_name(plan.mode),
                                static_cast<unsigned>(plan.mode)));
  line("box", fmt::format("{{{}}}, innermost first, along {} {} of the tile; element strides 1",
                          fmt::join(plan.box, ", "), plan.modes.size() == 1 ? "mode" : "modes",
                          fmt::join(plan.modes, ", ")));
  if (is_split(plan))
    line("", fmt::format("in steps of {} indices of these modes: the tensor map splits them",
                         fmt::join(plan.steps, ", ")));
  if (std::string const why = why_lines_alone(result); !why.empty()) line("why", why);
  if (std::string const minimum = minimum_of(result); !minimum.empty()) detail("minimum", minimum);
  detail("pitch", fmt::format("{} bytes from line to line of a box", plan.pitch));
  detail("bytes", fmt::format("{} of one box, {} in all: what the barrier expects", plan.bytes,
                              plan.bytes * plan.boxes));
  line("destination", good_bases(plan));
  if (std::string const wgmma = base_of_wgmma(result); !wgmma.empty()) line("", wgmma);
  detail("tensor", fmt::format("its address and its strides are multiples of {} bytes", tma_tensor_unit));
  detail("limits",
         fmt::format("a box: {} elements a dimension, {} dimensions; a line: multiples of {} bytes{}",
                     tma_most_elements, tma_most_dimensions, tma_line_unit,
                     tma_width(plan.mode) == 0 ? "" : fmt::format(", at most {}", tma_width(plan.mode))));
  if (plan.image) detail("as a layout", to_string(*plan.image));
  for (std::size_t i = 1; i < result.found.plans.size(); ++i)
    detail(i == 1 ? "others" : "", in_short(result.found.plans[i]));
  if (result.found.split) line("split", describe_split(result));
  if (!style.brief() || result.support != Support::measured)
    line("evidence", fmt::format("{}TMA model of {}: {}", style.brief() ? "" : names_of(plan.engines) + "; ",
                                 result.arch->name, evidence_of(result)));
  if (style.brief()) return;
  fmt::print("\n  tile coordinate  destination, bytes from the base\n");
  for (std::size_t i = 0; i < plan.copies.size() && (i < shown_copies || all); ++i)
    fmt::print("  {:<15}  {}\n", fmt::format("({})", fmt::join(plan.copies[i].at, ",")),
               plan.copies[i].destination);
  if (plan.copies.size() > shown_copies && !all)
    fmt::print("  and {} more (--all)\n", plan.copies.size() - shown_copies);
  fmt::print("\n");
  for (std::string const& code : code_of(result, all)) fmt::print("  {}\n", code);
}

void print_text(TmaResult const& result, bool all, Style const& style) {
  if (!style.brief()) fmt::print("{}\n", style.strong(result.map.text));
  for (std::string const& note : result.map.notes) fmt::print("  note: {}\n", note);
  if (!result.found.plans.empty()) return print_plan(result, all, style);
  bool const refuted_tile = std::holds_alternative<Refuted>(result.found.outcome);
  fmt::print("  {}  {}{}\n", style.outcome(result.found.outcome),
             refuted_tile ? "no equal boxes of one tensor map write exactly this tile: " : "",
             result.found.reason);
  if (result.found.witness) fmt::print("           {}\n", describe(*result.found.witness));
  if (refuted_tile && !style.brief())
    fmt::print("           on {}\n           tried: {}\n", domain_of_refutation(result), searched(result));
  if (!result.hint.empty()) fmt::print("           {}\n", result.hint);
  if (!style.brief() || result.support != Support::measured)
    fmt::print(
        "           {}: {}; interleaved tensors, gather4, scatter4 and copies without a tensor map are not "
        "modelled\n",
        result.arch->name, evidence_of(result));
}

/// `[64, 64]`.
template <class Numbers>
std::string list_of_numbers(Numbers const& numbers) {
  std::vector<std::string> texts;
  for (auto const number : numbers) texts.push_back(fmt::format("{}", number));
  return toml_list(texts);
}

std::string obligation_of(Common const& common, TmaArguments const& options, TmaResult const& result) {
  std::vector<std::pair<std::string, std::string>> statement;
  if (!result.found.plans.empty()) {
    TmaPlan const& plan = result.found.plans.front();
    statement = {{"mode", toml_text(std::string(name(plan.mode)))}, {"box", list_of_numbers(plan.box)}};
    if (is_split(plan)) {
      statement.emplace_back("modes", list_of_numbers(plan.modes));
      statement.emplace_back("steps", list_of_numbers(plan.steps));
    }
  }
  return command::obligation_of(common, options.layout.text + ": tma", true)
      .add("layout", options.layout.text_for_every_base(result.map))
      .add("element", options.layout.element)
      .add_value("tma", toml_table(statement))
      .text();
}

void run(Common& common, TmaArguments const& options) {
  bool const boxed = !options.one_box.box.empty() || !options.im2col.empty();
  if (boxed && !options.layout.text.empty())
    throw InputError::whole("--box and --im2col are of a box, not of a tile", options.layout.text,
                            "leave LAYOUT out, or --box");
  if (!options.one_box.box.empty() && !options.im2col.empty())
    throw InputError::whole("--box is of a tiled tensor map, --im2col of an im2col one", options.im2col);
  if (boxed) {
    TmaBoxArguments one = options.one_box;
    one.element = options.layout.element;
    one.emit = options.emit;
    one.im2col = !options.im2col.empty();
    if (one.im2col) one.box = options.im2col;
    return run_tma_box(common, one);
  }
  for (std::string const* of : {&options.one_box.extent, &options.one_box.stride,
                                &options.one_box.element_stride, &options.one_box.address})
    if (!of->empty())
      throw InputError::whole("--extent, --stride, --element-stride and --address go with --box or --im2col",
                              *of, "of a LAYOUT's tensor 'tma' says what it needs");
  if (!options.one_box.swizzle.empty())
    throw InputError::whole(
        "--swizzle goes with --box or --im2col", options.one_box.swizzle,
        "a LAYOUT has its own swizzle, as tma:32B<f16> (64,64) has, which 'equal' compares with yours");
  if (options.layout.text.empty())
    throw InputError{"LAYOUT is missing", {}, 0, 1, "or a box: --box 64,64 --element f16 --swizzle 128B"};
  TmaResult const result =
      compute_copies(common, options.layout.parse_for_every_base(), options.layout.element);
  common.exit_code = exit_code_of(result.found.outcome);
  if (!options.emit.empty())
    return print_obligation(common, to_json(result), obligation_of(common, options, result),
                            result.map.notes);
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, options.all, style_of(common));
}

}  // namespace

std::string tma_code(Common const& common, Mapping const& map, std::string const& element) {
  TmaResult const result = compute_copies(common, map, element);
  if (result.found.plans.empty())
    throw InputError::whole(
        "no equal boxes of one tensor map write exactly this tile: " + result.found.reason, map.text,
        result.hint);
  TmaPlan const& plan = result.found.plans.front();
  return fmt::format("// writes the tile if {}; dimensions are modes {} of the tile\n{}\n", good_bases(plan),
                     fmt::join(plan.modes, ", "), fmt::join(code_of(result, true), "\n"));
}

void add_tma(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "tma", "Which cuTensorMapEncodeTiled arguments write exactly LAYOUT's tile?",
      {"swizproof tma 'gmma:K_SW128<f16> (64,128)'", "which copies of the TMA write exactly this tile?"});
  auto const options = std::make_shared<TmaArguments>();
  options->layout.add_to(*sub);
  sub->get_option("LAYOUT")->required(false);
  sub->add_option(
         "--box", options->one_box.box,
         "extents of one box, innermost first, instead of LAYOUT: is it legal, and what does it write?")
      ->type_name("INTEGERS");
  sub->add_option("--im2col", options->im2col,
                  "the same for an im2col tensor map: channelsPerPixel,pixelsPerColumn")
      ->type_name("INTEGERS");
  sub->add_option("--swizzle", options->one_box.swizzle, "of --box and --im2col: none, 32B, 64B, 128B, ..");
  sub->add_option("--extent", options->one_box.extent,
                  "of --box and --im2col: the tensor's extents in elements, innermost first (globalDim)")
      ->type_name("INTEGERS");
  sub->add_option("--stride", options->one_box.stride,
                  "of --box and --im2col: the tensor's strides in bytes, of all dimensions but the\n"
                  "innermost (globalStrides)")
      ->type_name("INTEGERS");
  sub->add_option("--element-stride", options->one_box.element_stride,
                  "with --box or --im2col: distance in elements between copied elements (elementStrides)")
      ->type_name("INTEGERS");
  sub->add_option("--address", options->one_box.address,
                  "of --box and --im2col: the tensor's address (globalAddress)")
      ->type_name("INTEGER");
  auto* const all = sub->add_flag("--all", options->all, "list all boxes")->disable_flag_override();
  add_emit_toml_to(*sub, options->emit);
  add_brief_to(*sub, common)->excludes(all);
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
