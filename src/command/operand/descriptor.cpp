// swizproof descriptor LAYOUT, and swizproof descriptor 0x...: which descriptor reads a tile, what a descriptor reads.
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/operand/instruction_descriptor.hpp"
#include "command/line/help.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/descriptor.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/hardware/element.hpp>
#include <swizproof/layout/algebra.hpp>
#include <swizproof/parse/descriptor_question.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct DescriptorArguments {
  LayoutArgument layout;
  std::string operand, major, reader, extent, emit, kind, shape, types;
  std::optional<std::string> number;
};

std::string_view support_in_words(OperandReader reader) {
  return reader == OperandReader::wgmma ? "the model is measured: campaigns wgmma and operands"
                                        : "tcgen05's model is documented, not measured";
}

/// The reader that --for and --arch name; nothing if neither is given. Throws InputError if the architecture has none, or another.
std::optional<OperandReader> reader_of_options(Common const& common, std::string const& wanted) {
  return reader_on(common.arch_is_given ? &parse_architecture(common.arch) : nullptr, parse_reader(wanted));
}

DescriptorQuestion descriptor_question(DescriptorArguments const& options, std::string const& element) {
  return parse_descriptor_question({options.operand, options.major, options.extent, element});
}

std::string hexadecimal(std::uint64_t bits) { return fmt::format("{:#018x}", bits); }

std::string_view in_words(Major major) { return major == Major::k ? "K-major" : "MN-major"; }

// ---------------------------------------------------------------------------------------- starts

/// Starts of the instructions along each index, the others being 0, in bytes from the first.
struct Starts {
  std::vector<std::int64_t> k, rows, rest;
  bool independent = true;  ///< the start of every instruction is the sum of its three
};

Starts starts_of(Instructions const& cut, std::vector<std::int64_t> const& starts) {
  Starts out;
  auto const at = [&](std::uint64_t k, std::uint64_t row, std::uint64_t rest) {
    return starts[k + cut.along_k * (row + cut.along_rows * rest)];
  };
  for (std::uint64_t k = 0; k < cut.along_k; ++k) out.k.push_back(at(k, 0, 0));
  for (std::uint64_t row = 0; row < cut.along_rows; ++row) out.rows.push_back(at(0, row, 0));
  for (std::uint64_t rest = 0; rest < cut.rest; ++rest) out.rest.push_back(at(0, 0, rest));
  for (std::uint64_t i = 0; i < starts.size(); ++i)
    out.independent = out.independent && starts[i] == out.k[i % cut.along_k] +
                                                          out.rows[i / cut.along_k % cut.along_rows] +
                                                          out.rest[i / cut.along_k / cut.along_rows];
  return out;
}

/// `+32 bytes, descriptor +2`; `number i at 32*(i%4) + 8192*(i/4) bytes`; numbers that are no layout one by one.
std::string steps_in_words(std::vector<std::int64_t> const& numbers) {
  std::optional<Layout> const layout = layout_of_values(numbers);
  if (!layout) return fmt::format("at {} bytes", fmt::join(numbers, ", "));
  if (layout->rank() == 1) return fmt::format("{:+} bytes, descriptor {:+}", numbers[1], numbers[1] / 16);
  std::string text;
  std::int64_t before = 1;
  for (std::size_t m = 0; m < layout->rank(); ++m) {
    std::int64_t const count = layout->shape.mode(m).value;
    std::string const index = before == 1 ? "i" : fmt::format("i/{}", before);
    bool const last = m + 1 == layout->rank();
    text += fmt::format("{}{}*({}{})", m == 0 ? "" : " + ", layout->stride.mode(m).value,
                        last || before == 1 ? index : fmt::format("({})", index),
                        last ? "" : fmt::format("%{}", count));
    before *= count;
  }
  return fmt::format("number i at {} bytes; in the descriptor a 16th of it", text);
}

/// The first step; null without one.
Json step_json(std::vector<std::int64_t> const& numbers) {
  return numbers.size() > 1 ? Json(numbers[1]) : Json(nullptr);
}
/// True if that is every step.
bool is_every(std::vector<std::int64_t> const& numbers) {
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<std::int64_t>(i) * numbers[1]) return false;
  return true;
}

// ---------------------------------------------------------------------------------------- a tile's

/// The number, for a tile at `smem`.
std::string expression_of(TileDescriptor const& d) {
  std::string const address = d.start == 0
                                  ? std::string("smem")
                                  : fmt::format("(smem {} {})", d.start < 0 ? '-' : '+', std::abs(d.start));
  return fmt::format("{}ull | ({} & 0x3ffff) >> 4", hexadecimal(d.fields.bits()), address);
}

/// The solutions that are needed to reach every base that any of them reaches: each adds some.
std::vector<TileDescriptor const*> needed(std::vector<TileDescriptor> const& solutions) {
  std::uint64_t period = 1;
  for (TileDescriptor const& d : solutions) period = std::max(period, d.bases.period);
  std::set<std::uint64_t> reached;
  std::vector<TileDescriptor const*> out;
  for (TileDescriptor const& d : solutions) {
    std::size_t const before = reached.size();
    for (std::uint64_t r : d.bases.residues)
      for (; r < period; r += d.bases.period) reached.insert(r);
    if (reached.size() > before) out.push_back(&d);
  }
  return out;
}

/// Number of rows of 128 bytes in the pattern, if each of these starts at its base and has the number of the base's row as
/// its base offset; they are one formula then.
std::optional<unsigned> rows_of_base_offset(std::vector<TileDescriptor const*> const& all) {
  MatrixDescriptor expected = all.front()->fields;
  for (std::size_t i = 0; i < all.size(); ++i) {
    TileDescriptor const& d = *all[i];
    expected.base_offset = static_cast<std::uint32_t>(i);
    if (i > 7 || d.fields.bits() != expected.bits() || d.major != all.front()->major ||
        d.start != all.front()->start || d.starts != all.front()->starts ||
        d.bases != Bases{128 * all.size(), {128 * i}})
      return std::nullopt;
  }
  return all.size() > 1 ? std::optional(static_cast<unsigned>(all.size())) : std::nullopt;
}

std::string in_words(Bases const& bases) {
  if (bases.residues == std::vector<std::uint64_t>{0})
    return fmt::format("every multiple of {} bytes", bases.period);
  if (bases.residues.size() <= 8)
    return fmt::format("base mod {} = {}", bases.period, fmt::join(bases.residues, ", "));
  return fmt::format("{} residues mod {}: {}, ..", bases.residues.size(), bases.period,
                     fmt::join(bases.residues.begin(), bases.residues.begin() + 8, ", "));
}

Json to_json(Bases const& bases) { return {{"period", bases.period}, {"residues", bases.residues}}; }

Json to_json(TileDescriptor const& d, Instructions const& cut) {
  Starts const starts = starts_of(cut, d.starts);
  Json out{{"major", name(d.major)},
           {"mode", d.fields.operand_mode().name},
           {"leading_byte_offset", d.fields.leading_byte_offset},
           {"leading_byte_offset_read", d.leading_is_read},
           {"stride_byte_offset", d.fields.stride_byte_offset},
           {"stride_byte_offset_read", d.stride_is_read},
           {"base_offset", d.fields.base_offset},
           {"start", d.start},
           {"k_step", step_json(starts.k)},
           {"k_step_is_every", is_every(starts.k)},
           {"mn_step", step_json(starts.rows)},
           {"mn_step_is_every", is_every(starts.rows)},
           {"k_starts", starts.k},
           {"mn_starts", starts.rows}};
  if (cut.rest > 1) out["rest_starts"] = starts.rest;
  if (!starts.independent) out["starts"] = d.starts;
  out["descriptor"] = hexadecimal(number_of(d));
  out["expression"] = expression_of(d);
  out["bases"] = to_json(d.bases);
  return out;
}

struct TileResult {
  Mapping map;
  DescriptorQuestion question;
  DescriptorAnswer found;
  std::optional<std::uint64_t> number{};  ///< hard-coded descriptor to check
};

Json to_json(TileResult const& result) {
  DescriptorAnswer const& found = result.found;
  Instructions const& cut = found.instructions;
  Json out{{"verdict", name(found.outcome)},      {"layout", result.map.text},
           {"for", name(result.question.reader)}, {"operand", cut.operand == Operand::a ? "a" : "b"},
           {"extent", {cut.rows, cut.depth}},     {"instructions", {cut.along_rows, cut.along_k, cut.rest}}};
  if (!found.solutions.empty()) {
    out.update(to_json(found.solutions.front(), cut));
    out["solutions"] = Json::array();
    for (TileDescriptor const& d : found.solutions) out["solutions"].push_back(to_json(d, cut));
  } else {
    for (char const* const key : {"mode", "leading_byte_offset", "stride_byte_offset", "base_offset",
                                  "k_step", "mn_step", "descriptor", "bases"})
      out[key] = nullptr;
    auto const* unknown = std::get_if<Unknown>(&found.outcome);
    out["reasons"] = unknown != nullptr ? std::vector<std::string>{unknown->reason} : found.reasons;
  }
  if (result.number) out["number"] = hexadecimal(*result.number);
  out["address"] = found.address ? Json(*found.address) : Json(nullptr);
  out["counterexample"] = nullptr;
  if (found.misread)
    out["counterexample"] = {{"row", found.misread->row},   {"k", found.misread->k},
                             {"rest", found.misread->rest}, {"base", found.misread->base},
                             {"read", found.misread->read}, {"stored", found.misread->stored}};
  out["domain"] = found.domain;
  out["engines"] = list_of(found.engines);
  out["evidence"] = name(support_of(result.question.reader));
  if (!result.map.notes.empty()) out["notes"] = result.map.notes;
  return out;
}

void print_field(std::string_view field, std::string const& says, std::string const& encoded) {
  fmt::print("  {:<20} {:<{}}{}\n", field, says, encoded.empty() ? 0 : 40, encoded);
}

/// `bits 45..32 = 64`.
std::string encoded(DescriptorField field, std::uint64_t bits) {
  return fmt::format("bits {}..{} = {}", field.first + field.bits - 1, field.first, field.of(bits));
}

void print_fields(MatrixDescriptor const& d, std::string const& leading, std::string const& stride,
                  std::string const& start) {
  std::uint64_t const bits = d.bits();
  print_field("mode", std::string(d.operand_mode().name), encoded(mode_field(d.reader), bits));
  print_field(stride_field.name, stride, encoded(stride_field, bits));
  print_field(leading_field.name, leading, encoded(leading_field, bits));
  print_field(base_offset_field.name, std::to_string(d.base_offset), encoded(base_offset_field, bits));
  if (d.reader == OperandReader::tcgen05) print_field(version_field.name, "1", encoded(version_field, bits));
  print_field(start_field.name, start, encoded(start_field, bits));
}

/// Index along which each of the two strides steps.
std::string stride_of(TileDescriptor const& d) {
  OperandAtom const& atom = d.fields.operand_mode().shape;
  if (d.major == Major::k) return "8 rows on";
  return atom.swizzled ? fmt::format("{} k on", atom.k_lines) : "16 bytes of rows on";
}
std::string leading_of(TileDescriptor const& d) {
  OperandAtom const& atom = d.fields.operand_mode().shape;
  if (d.major == Major::k) return "16 bytes of k on";
  return atom.swizzled ? fmt::format("{} bytes of rows on", atom.row_bytes) : "8 k on";
}

/// True if the leading byte offset is not a part of the address: K-major with a swizzle.
bool ignores_leading(MatrixDescriptor const& d, Major major) {
  return major == Major::k && d.operand_mode().shape.swizzled;
}
std::string ignored_leading(MatrixDescriptor const& d) {
  return fmt::format("not read in mode {}, K-major", d.operand_mode().name);
}
/// True if the leading byte offset steps along rows, and the other stride along k; else the reverse.
bool leading_is_of_rows(MatrixDescriptor const& d, Major major) {
  return major == Major::mn && d.operand_mode().shape.swizzled;
}
/// Text for a stride along which an instruction has no second atom.
std::string not_needed(bool along_k, Instructions const& cut) {
  return along_k ? fmt::format("not read: {} of k lie in one atom", cut.depth)
                 : fmt::format("not read: {} rows lie in one atom", cut.rows);
}

void print_solutions(TileResult const& result, Style const& style) {
  DescriptorAnswer const& found = result.found;
  Instructions const& cut = found.instructions;
  TileDescriptor const& best = found.solutions.front();
  MatrixDescriptor const& d = best.fields;
  std::string const leading =
      best.leading_is_read             ? fmt::format("{} bytes, {}", d.leading_byte_offset, leading_of(best))
      : ignores_leading(d, best.major) ? ignored_leading(d)
                                       : not_needed(!leading_is_of_rows(d, best.major), cut);
  std::string const stride = best.stride_is_read
                                 ? fmt::format("{} bytes, {}", d.stride_byte_offset, stride_of(best))
                                 : not_needed(leading_is_of_rows(d, best.major), cut);
  if (!style.brief()) {
    fmt::print("\n");
    print_fields(d, leading, stride,
                 best.start == 0 ? "the tile's base" : fmt::format("base {:+} bytes", best.start));
  }
  Starts const starts = starts_of(cut, best.starts);
  auto const next = [](std::string const& what, std::vector<std::int64_t> const& numbers) {
    if (numbers.size() > 1) print_field(what, steps_in_words(numbers), "");
  };
  if (starts.independent) {
    next(fmt::format("next {} of k", cut.depth), starts.k);
    next(fmt::format("next {} rows", cut.rows), starts.rows);
    next("next stage", starts.rest);
  } else {
    print_field("starts",
                fmt::format("{} bytes; k runs first, then rows, then stages", fmt::join(best.starts, ", ")),
                "");
  }
  print_field("bases",
              in_words(best.bases) +
                  (result.map.acts_on_bytes() ? ", of a tile that is swizzled by its addresses" : ""),
              "");
  fmt::print("{}  {}\n", style.gap(), style.strong(expression_of(best)));
  if (style.brief()) return;
  fmt::print("  smem: the tile's shared address, as __cvta_generic_to_shared gives it\n");
  std::vector<TileDescriptor const*> const more = needed(found.solutions);
  if (auto const rows = rows_of_base_offset(more)) {
    fmt::print(
        "\n  from every multiple of 128 bytes, with a base offset:\n  {} | (uint64_t)(smem >> 7 & {}) << "
        "{}\n",
        expression_of(best), *rows - 1, base_offset_field.first);
  } else {
    for (std::size_t i = 1; i < more.size(); ++i)
      fmt::print("{}  {}\n    {}, mode {}, base offset {}; bases: {}\n", i == 1 ? "\n" : "",
                 expression_of(*more[i]), in_words(more[i]->major), more[i]->fields.operand_mode().name,
                 more[i]->fields.base_offset, in_words(more[i]->bases));
  }
  if (std::size_t const rest = found.solutions.size() - more.size(); rest != 0)
    fmt::print("\n  {} more descriptor{} for some of these bases: --json\n", rest, rest == 1 ? "" : "s");
}

/// The last line: engines and basis of the model; with --brief the basis alone, if it is not measured.
std::string basis_of(std::span<Engine const> engines, OperandReader reader, Style const& style) {
  std::string const basis(support_in_words(reader));
  if (!style.brief())
    return fmt::format("  {}\n", style.faint(fmt::format("evidence: {}; {}", names_of(engines), basis)));
  return support_of(reader) == Support::measured ? "" : fmt::format("  {}\n", basis);
}

void print_text(TileResult const& result, Style const& style) {
  DescriptorAnswer const& found = result.found;
  Instructions const& cut = found.instructions;
  if (!style.brief()) fmt::print("{}\n", style.strong(result.map.text));
  for (std::string const& note : result.map.notes) fmt::print("  note: {}\n", note);
  if (found.address)
    fmt::print("  note: the start of {} is taken as the tile's address, {:#x}\n",
               hexadecimal(result.number.value_or(0)), *found.address);
  std::string const instructions = fmt::format("{} instruction{} of {} rows and {} of k", cut.count(),
                                               cut.count() == 1 ? "" : "s", cut.rows, cut.depth);
  std::string_view const operand = cut.operand == Operand::a ? "A" : "B";
  if (auto const* unknown = std::get_if<Unknown>(&found.outcome)) {
    fmt::print("  {}  {}\n", style.outcome(found.outcome), unknown->reason);
    return;
  }
  std::string const evidence = basis_of(found.engines, result.question.reader, style);
  if (found.solutions.empty()) {
    std::string const what = result.number
                                 ? hexadecimal(*result.number) + " does not read"
                                 : fmt::format("no descriptor of {} reads", name(result.question.reader));
    fmt::print("  {}  {} it as {}, in {}\n", style.outcome(found.outcome), what, operand, instructions);
    for (std::string const& reason : found.reasons) fmt::print("           {}\n", reason);
    if (found.misread)
      fmt::print("           at row {}, k {}{}: read from byte {}, stored at byte {}\n", found.misread->row,
                 found.misread->k, cut.rest > 1 ? fmt::format(", stage {}", found.misread->rest) : "",
                 found.misread->read, found.misread->stored);
    if (!style.brief()) fmt::print("           for {}\n", found.domain);
    fmt::print("{}", evidence);
    return;
  }
  fmt::print("  {}  {} reads it as {}, {}, in {}\n", style.outcome(found.outcome),
             name(result.question.reader), operand, in_words(found.solutions.front().major), instructions);
  if (!style.brief()) fmt::print("           for {}\n", found.domain);
  if (result.question.reader == OperandReader::tcgen05 && cut.operand == Operand::b && cut.rows % 16 != 0)
    fmt::print("  note: {} rows of B are read with 64 rows of A alone\n", cut.rows);
  print_solutions(result, style);
  fmt::print("{}{}", style.gap(), evidence);
}

// ---------------------------------------------------------------------------------------- a number's

struct NumberResult {
  MatrixDescriptor descriptor;
  Major major;
  unsigned element_bits;
  std::uint64_t rows;
  std::optional<Mapping> map{};
  std::string why_none{};  ///< reason if there is no map
  std::vector<std::string> suspicions{};
};

NumberResult compute_number(Common const& common, DescriptorArguments const& options) {
  DescriptorQuestion const question = descriptor_question(options, options.layout.element);
  NumberResult result{parse_matrix_descriptor(options.layout.text, reader_of_options(common, options.reader)),
                      question.major.value_or(Major::k),
                      options.layout.element.empty() ? 16 : parse_element(options.layout.element),
                      question.rows.value_or(64)};
  std::string_view const why =
      why_not(result.descriptor.reader, result.descriptor.operand_mode(), result.major, result.element_bits);
  auto const refuse = [&](std::string message, std::string hint = {}) {
    return InputError::whole(std::move(message), options.layout.text, std::move(hint));
  };
  if (!why.empty()) throw refuse(std::string(why));
  if (question.depth && *question.depth != 8 * operand_k_bytes / result.element_bits)
    throw refuse(fmt::format("one instruction has {} such elements along k",
                             8 * operand_k_bytes / result.element_bits),
                 fmt::format("--extent {},{}", result.rows, 8 * operand_k_bytes / result.element_bits));
  auto const reads = [&](bool a) {
    return reads_rows(result.descriptor.reader, a, question.integers, result.rows);
  };
  if (question.operand ? !reads(*question.operand == Operand::a) : !reads(true) && !reads(false))
    throw refuse(fmt::format("no instruction of {} reads {} rows{}", name(result.descriptor.reader),
                             result.rows,
                             !question.operand                 ? ""
                             : *question.operand == Operand::a ? " of A"
                                                               : " of B"));
  result.map = map_of(result.descriptor, result.major, result.element_bits, result.rows);
  if (!result.map) result.why_none = fmt::format("the addresses of {} rows are no layout", result.rows);
  result.suspicions = suspicions(result.descriptor, result.major, result.element_bits, result.rows);
  return result;
}

/// `desc:0x4000004000010000<16b>,K (64,16)`.
std::string layout_text(NumberResult const& r) {
  return fmt::format("desc:{}<{}b>,{} ({},{})", hexadecimal(r.descriptor.bits()), r.element_bits,
                     r.major == Major::k ? "K" : "MN", r.rows, 8 * operand_k_bytes / r.element_bits);
}

Json to_json(NumberResult const& r) {
  MatrixDescriptor const& d = r.descriptor;
  Json out{{"verdict", "proved"},
           {"for", name(d.reader)},
           {"major", name(r.major)},
           {"mode", d.operand_mode().name},
           {"leading_byte_offset", d.leading_byte_offset},
           {"stride_byte_offset", d.stride_byte_offset},
           {"base_offset", d.base_offset},
           {"start", d.start},
           {"descriptor", hexadecimal(d.bits())},
           {"layout", layout_text(r)},
           {"reads", r.map ? Json(r.map->text) : Json(nullptr)},
           {"suspicions", r.suspicions},
           {"evidence", name(support_of(d.reader))}};
  return out;
}

void print_text(NumberResult const& r, Style const& style) {
  MatrixDescriptor const& d = r.descriptor;
  fmt::print("{}  a descriptor of {}\n", style.strong(hexadecimal(d.bits())), name(d.reader));
  if (!style.brief()) {
    fmt::print("\n");
    print_fields(
        d, ignores_leading(d, r.major) ? ignored_leading(d) : fmt::format("{} bytes", d.leading_byte_offset),
        fmt::format("{} bytes", d.stride_byte_offset), fmt::format("{:#x}", d.start));
    fmt::print("\n");
  }
  fmt::print("  elements of {} bits, {}, {} rows and {} of k (--element, --major, --extent) are read as\n",
             r.element_bits, in_words(r.major), r.rows, 8 * operand_k_bytes / r.element_bits);
  fmt::print("  {}\n", r.map ? style.strong(r.map->text) : r.why_none);
  if (!style.brief() || support_of(d.reader) != Support::measured)
    fmt::print("  {}\n", support_in_words(d.reader));
  for (std::string const& what : r.suspicions)
    fmt::print("{}  {}  {}\n", style.gap(), style.doubtful("suspicious"), what);
}

std::string obligation_of(Common const& common, DescriptorArguments const& options,
                          TileResult const& result) {
  auto const text = [](std::string const& words) { return words.empty() ? "" : toml_text(words); };
  bool const found = !result.found.solutions.empty();
  std::string const number = result.number && !(found && result.found.address)
                                 ? toml_text(hexadecimal(*result.number))
                             : found ? toml_text(hexadecimal(number_of(result.found.solutions.front())))
                                     : "";
  std::string const statement = toml_table({{"for", toml_text(std::string(name(result.question.reader)))},
                                            {"operand", text(options.operand)},
                                            {"major", text(options.major)},
                                            {"extent", text(options.extent)},
                                            {"number", number}});
  return command::obligation_of(common, options.layout.text + ": descriptor", true)
      .add("layout", options.layout.text_for_every_base(result.map))
      .add("element", options.layout.element)
      .add_value("descriptor", statement)
      .text();
}

// ---------------------------------------------------------------------------------------------

/// Asks about a tile, and about a number for it where one is given.
TileResult compute_tile(Common const& common, DescriptorArguments const& options) {
  TileResult result{
      options.layout.parse_for_every_base(), descriptor_question(options, options.layout.element), {}};
  std::optional<OperandReader> reader = reader_of_options(common, options.reader);
  // `umma:` names its reader; of other layouts the number's version does.
  if (!reader && reader_of_layout(options.layout.text) == OperandReader::tcgen05)
    reader = OperandReader::tcgen05;
  if (options.number) {
    MatrixDescriptor const number = parse_matrix_descriptor(*options.number, reader);
    reader = number.reader;
    result.number = number.bits();
    result.question.fixed = fields_of(number);
  }
  result.question.reader = reader ? *reader : reader_of_layout(options.layout.text);
  if (!result.map.element.empty()) result.question.integers = names_integers(result.map.element);
  result.found = descriptors_of(result.map, result.question, common.limits());
  return result;
}

void run_descriptor(Common& common, DescriptorArguments const& options) {
  if (!options.kind.empty()) {
    bool const of_tile = options.number || !options.operand.empty() || !options.major.empty() ||
                         !options.reader.empty() || !options.extent.empty() ||
                         !options.layout.element.empty();
    if (of_tile || !options.emit.empty())
      throw InputError::whole(
          of_tile ? "with --kind LAYOUT is a number: --element, --operand, --major, --for, --extent "
                    "and --number are those of a tile"
                  : "a descriptor alone can be read; an obligation needs the tile that it reads",
          options.layout.text, "swizproof descriptor 0x08040490 --kind f16");
    return run_instruction_descriptor(common,
                                      {options.layout.text, options.kind, options.shape, options.types});
  }
  if (!options.shape.empty() || !options.types.empty())
    throw InputError::whole("--mma-shape and --types are those of an instruction descriptor",
                            options.layout.text,
                            "swizproof descriptor 0x08040490 --kind f16 --mma-shape 128,16");
  Style const style = style_of(common);
  std::size_t const first = options.layout.text.find_first_not_of(" \t\n");
  if (first != std::string::npos &&
      options.layout.text.find_first_not_of("0123456789abcdefxXABCDEFulUL", first) == std::string::npos &&
      options.layout.text[first] >= '0' && options.layout.text[first] <= '9') {
    if (!options.emit.empty())
      throw InputError::whole("a descriptor alone can be read; an obligation needs the tile that it reads",
                              options.layout.text, "swizproof descriptor LAYOUT --emit toml");
    if (options.number)
      throw InputError::whole("--number checks a tile, and this is a number", options.layout.text,
                              "swizproof descriptor LAYOUT --number 0x...");
    NumberResult const result = compute_number(common, options);
    if (common.json)
      print_json(common, to_json(result));
    else
      print_text(result, style);
    return;
  }
  TileResult const result = compute_tile(common, options);
  common.exit_code = exit_code_of(result.found.outcome);
  if (!options.emit.empty())
    return print_obligation(common, to_json(result), obligation_of(common, options, result),
                            result.map.notes);
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, style);
}

}  // namespace

void add_descriptor(CLI::App& app, Common& common) {
  CLI::App* const sub =
      add_command(app, "descriptor",
                  "Which descriptor makes tcgen05 or wgmma read LAYOUT; what does a descriptor 0x... read?",
                  {"swizproof descriptor 'umma:K_SW128<f16> (128,64)'",
                   "which 64 bits make tcgen05 (gmma: wgmma) read this tile, and from which bases?"});
  auto const options = std::make_shared<DescriptorArguments>();
  options->layout.add_to(*sub);
  sub->add_option("--operand", options->operand, "a (m rows) or b (n rows); default: a where 64 rows fit")
      ->check(CLI::IsMember({"a", "b"}));
  sub->add_option("--major", options->major, "which index is contiguous: k or mn; default: what fits")
      ->transform(CLI::IsMember({"k", "mn"}, CLI::ignore_case));
  sub->add_option("--for", options->reader,
                  "wgmma (sm_90a) or tcgen05 (sm_100a); default: as implied by --arch or by "
                  "the number, else wgmma")
      ->check(CLI::IsMember({"wgmma", "tcgen05"}));
  sub->add_option("--extent", options->extent,
                  "ROWS,K: elements that one instruction reads; default: the most rows")
      ->type_name("INTEGERS");
  sub->add_option("--number", options->number, "does this number, which a kernel hard-codes, read LAYOUT?")
      ->type_name("INTEGER");
  sub->add_option(
      "--kind", options->kind,
      "LAYOUT is an instruction descriptor of tcgen05.mma, a number of 32 bits, of this kind and these "
      "qualifiers: f16, tf32.cta_group::2, i8.ws, mxf4nvf4.scale_vec::4X, f16.sp, ...");
  sub->add_option("--mma-shape", options->shape, "M,N that the instruction descriptor has to have")
      ->type_name("INTEGERS");
  sub->add_option("--types", options->types,
                  "types of A, B and D that the instruction descriptor has to have: bf16,bf16,f32");
  add_emit_toml_to(*sub, options->emit);
  add_brief_to(*sub, common);
  sub->callback([&common, options] { run_descriptor(common, *options); });
}

}  // namespace swizproof::command
