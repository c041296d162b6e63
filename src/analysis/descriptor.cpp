#include "cut_tile.hpp"

#include <swizproof/analysis/descriptor.hpp>
#include <swizproof/analysis/inspect.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/layout/algebra.hpp>
#include <swizproof/layout/composed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace swizproof {

namespace {

constexpr std::uint64_t most_solver_steps = 2'000'000;
constexpr std::size_t most_solver_questions = 32;

/// One way to read: a mode with a base offset, in one order.
struct Way {
  std::size_t mode;
  std::uint32_t base_offset;
  Major major;
};

/// The fields that the elements at the corners of atoms need, and the starts; or the element that needs too much.
struct Fitted {
  TileDescriptor found{};
  std::string misfit{};  ///< number that no field can hold; then nothing was read
};

Fitted fit(CutTile const& tile, OperandReader reader, Way way, std::vector<std::uint64_t> const& stored,
           std::uint64_t base) {
  OperandMode const& mode = operand_modes[way.mode];
  auto const plain = [&](std::size_t i) { return swizzled(mode.swizzle, way.base_offset, stored[i]); };
  std::uint64_t const first = plain(0);
  Fitted out;
  TileDescriptor& d = out.found;
  d.major = way.major;
  d.fields.reader = reader;
  d.fields.mode = way.mode;
  d.fields.base_offset = way.base_offset;
  std::uint64_t const t = 16 / tile.element_bytes, w = mode.shape.row_bytes / 16;
  auto const length = [&](DescriptorField field, std::uint64_t row, std::uint64_t k) -> std::uint32_t {
    std::uint64_t const bytes = plain(tile.index(row, k, 0)) - first;
    auto const signed_bytes = static_cast<std::int64_t>(bytes);
    std::uint64_t const most = start_unit << field.bits;
    if (out.misfit.empty() && (bytes % start_unit != 0 || bytes >= most))
      out.misfit = fmt::format("{} would be {} bytes, to row {}, k {}: it holds multiples of {} from 0 to {}",
                               field.name, signed_bytes, row, k, start_unit, most - start_unit);
    return static_cast<std::uint32_t>(bytes);
  };
  // First use of each stride: at the second atom along rows, and along k.
  bool const along_k = way.major == Major::k, swizzles = mode.shape.swizzled;
  std::uint64_t const next_row = along_k    ? 8
                                 : swizzles ? t * w
                                            : t,
                      next_k = along_k ? t : mode.shape.k_lines;
  bool const rows_stride = next_row < tile.cut.rows, k_stride = next_k < tile.cut.depth;
  bool const leading_is_of_rows = !along_k && swizzles, leading_is_of_k = !swizzles;
  d.leading_is_read = (leading_is_of_rows && rows_stride) || (leading_is_of_k && k_stride);
  d.stride_is_read = leading_is_of_rows ? k_stride : rows_stride;
  // A field that is not read is 16 under a swizzle along k, as CUTLASS has it, and 0 elsewhere.
  d.fields.leading_byte_offset = along_k && swizzles ? 16 : 0;
  if (d.leading_is_read)
    d.fields.leading_byte_offset =
        leading_is_of_rows ? length(leading_field, next_row, 0) : length(leading_field, 0, next_k);
  if (d.stride_is_read)
    d.fields.stride_byte_offset =
        leading_is_of_rows ? length(stride_field, 0, next_k) : length(stride_field, next_row, 0);
  d.start = static_cast<std::int64_t>(first - base);
  for (std::uint64_t i = 0; i < tile.cut.count(); ++i) {
    std::uint64_t const at = plain(tile.corner(i));
    if (out.misfit.empty() && at % start_unit != 0)
      out.misfit =
          fmt::format("an instruction would start {} bytes from the tile's base: {} is in units of {}",
                      static_cast<std::int64_t>(at - base), start_field.name, start_unit);
    d.starts.push_back(static_cast<std::int64_t>(at - first));
  }
  return out;
}

/// The fields that the kernel hard-codes in place of those that were found.
void fix(TileDescriptor& d, FixedFields const& fixed) {
  d.fields.leading_byte_offset = fixed.leading_byte_offset.value_or(d.fields.leading_byte_offset);
  d.fields.stride_byte_offset = fixed.stride_byte_offset.value_or(d.fields.stride_byte_offset);
  d.start = fixed.start.value_or(d.start);
}

/// Number of elements that are read from where they are stored; the first that is not.
struct Reading {
  std::uint64_t right = 0;
  std::optional<Misread> wrong{};
};

/// Stops at the first that is wrong, unless all are to be counted.
Reading read_all(CutTile const& tile, TileDescriptor const& d, std::vector<std::uint64_t> const& stored,
                 std::uint64_t base, bool count) {
  Reading out;
  for (std::uint64_t i = 0; i < tile.cut.count(); ++i) {
    std::uint64_t const start = base + static_cast<std::uint64_t>(d.start + d.starts[i]);
    std::size_t const corner = tile.corner(i);
    for (std::uint64_t k = 0; k < tile.cut.depth; ++k)
      for (std::uint64_t row = 0; row < tile.cut.rows; ++row) {
        std::size_t const at = corner + row + tile.rows * k;
        std::uint64_t const read = address_read(d.fields, d.major, tile.element_bytes, start, row, k).bytes;
        if (read == stored[at]) {
          ++out.right;
        } else if (!out.wrong) {
          std::uint64_t const shift = base - base % tile_origin;
          out.wrong = Misread{at % tile.rows,
                              at / tile.rows % tile.depth,
                              at / tile.rows / tile.depth,
                              base % tile_origin,
                              static_cast<std::int64_t>(read - shift),
                              static_cast<std::int64_t>(stored[at] - shift)};
          if (!count) return out;
        }
      }
  }
  return out;
}

/// The least period with which a set of residues repeats.
Bases reduced(Bases bases) {
  std::sort(bases.residues.begin(), bases.residues.end());
  while (bases.period > start_unit) {
    std::uint64_t const half = bases.period / 2;
    std::vector<std::uint64_t> low, high;
    for (std::uint64_t const r : bases.residues) (r < half ? low : high).push_back(r % half);
    if (low != high) break;
    bases = {half, std::move(low)};
  }
  return bases;
}

/// The map's swizzle as one of bytes, if the map has no other function than it and a layout; else nothing.
std::optional<Swizzle> own_swizzle(Map const& map) {
  std::optional<Swizzle> own;
  bool other = false;
  auto const look = [&](std::vector<Stage> const& stages, int unit) {
    for (Stage const& stage : stages) {
      if (auto const* swizzle = std::get_if<Swizzle>(&stage)) {
        other = other || own.has_value();
        own = Swizzle{swizzle->bits, swizzle->base + unit, swizzle->shift};
      } else {
        other =
            other || std::holds_alternative<Expression>(stage) || std::holds_alternative<LinearMap>(stage);
      }
    }
  };
  look(map.on_bytes, 0);
  look(map.on_elements, std::countr_zero(*map.element_bits / 8));
  if (other) return std::nullopt;
  if (!own || own->bits == 0) return swizzle_none;
  return own;
}

/// The searches over all ways and bases.
class DescriptorSearch {
 public:
  DescriptorSearch(CutTile const& tile, DescriptorQuestion const& question, std::uint64_t period)
      : tile_(tile), question_(question), period_(period) {}

  [[nodiscard]] std::vector<TileDescriptor> solutions() const {
    using Key = std::tuple<std::size_t, std::uint32_t, Major, std::int64_t, std::uint32_t, std::uint32_t,
                           std::vector<std::int64_t>>;
    std::map<Key, TileDescriptor> found;
    for (std::uint64_t residue = 0; residue < period_; residue += start_unit) {
      std::uint64_t const base = tile_origin + residue;
      std::vector<std::uint64_t> const stored = tile_.stored(base);
      if (stored.empty()) continue;
      for (Way const way : ways()) {
        if (!why_not(question_.reader, operand_modes[way.mode], way.major, 8 * tile_.element_bytes).empty())
          continue;
        Fitted fitted = fit(tile_, question_.reader, way, stored, base);
        fix(fitted.found, question_.fixed);
        if (!fitted.misfit.empty() || read_all(tile_, fitted.found, stored, base, false).wrong) continue;
        TileDescriptor& d = fitted.found;
        Key const key{way.mode,
                      way.base_offset,
                      way.major,
                      d.start,
                      d.fields.leading_byte_offset,
                      d.fields.stride_byte_offset,
                      d.starts};
        found.try_emplace(key, std::move(d)).first->second.bases.residues.push_back(residue);
      }
    }
    std::vector<TileDescriptor> all;
    for (auto& entry : found) {
      TileDescriptor& d = entry.second;
      d.bases.period = period_;
      d.bases = reduced(std::move(d.bases));
      // A base offset counts modulo the rows of the pattern: the least says it.
      bool const said = std::any_of(all.begin(), all.end(), [&](TileDescriptor const& other) {
        MatrixDescriptor same = d.fields;
        same.base_offset = other.fields.base_offset;
        return same.bits() == other.fields.bits() && d.start == other.start && d.major == other.major &&
               d.bases == other.bases;
      });
      if (!said) all.push_back(std::move(d));
    }
    std::stable_sort(all.begin(), all.end(), [](TileDescriptor const& a, TileDescriptor const& b) {
      auto const rank = [](TileDescriptor const& d) {
        double const share =
            static_cast<double>(d.bases.residues.size()) / static_cast<double>(d.bases.period);
        return std::tuple(d.bases.residues.front() != 0 || d.fields.base_offset != 0, -share,
                          d.start < 0 ? -d.start : d.start, d.fields.base_offset, d.major,
                          -static_cast<int>(d.fields.mode));
      };
      return rank(a) < rank(b);
    });
    return all;
  }

  /// The first multiple of the question's `align` from which none of the descriptors reads the tile.
  [[nodiscard]] std::optional<std::uint64_t> missing_base(std::vector<TileDescriptor> const& found) const {
    for (std::uint64_t base = 0, i = 0; question_.align && i < period_; base += *question_.align, ++i) {
      std::uint64_t const residue = base % period_;
      if (i > 0 && residue == 0) return std::nullopt;
      bool const reached = std::any_of(found.begin(), found.end(),
                                       [&](TileDescriptor const& d) { return d.bases.has(residue); });
      if (!reached) return residue;
    }
    return std::nullopt;
  }

  /// Adds what is to be known of the tile's own swizzle.
  void explain_swizzle(DescriptorAnswer& answer, std::optional<Swizzle> const& own) const {
    bool const own_is_a_mode = std::any_of(
        std::begin(operand_modes), std::end(operand_modes),
        [&](OperandMode const& m) { return own && m.swizzle == *own && m.number(question_.reader) >= 0; });
    bool const is_of_the_other = own && std::any_of(std::begin(operand_modes), std::end(operand_modes),
                                                    [&](OperandMode const& m) { return m.swizzle == *own; });
    if (own && !own_is_a_mode)
      answer.reasons.insert(
          answer.reasons.begin(),
          fmt::format("its swizzle, {} of bytes, is no mode of {}{}", to_string(*own), name(question_.reader),
                      is_of_the_other ? ", but one of tcgen05" : ""));
    else if (own && own->bits == 0 && answer.misread)
      answer.reasons.push_back(
          fmt::format("it has no swizzle, and without one {} reads atoms of 8 x 16 contiguous bytes{}",
                      name(question_.reader), swizzled_tile()));
  }

  /// `; the same rows in a swizzle mode: gmma:K_SW128<f16> (64,64)`, where k is contiguous and a mode's rows divide it; else empty.
  [[nodiscard]] std::string swizzled_tile() const {
    unsigned const bytes = tile_.element_bytes;
    bool const along_k = tile_.depth > 1 && tile_.places[tile_.index(0, 1, 0)] == tile_.places[0] + bytes;
    if (!along_k || tile_.rest != 1 || tile_.rows % 8 != 0) return {};
    for (unsigned const row : {128U, 64U, 32U})
      if (tile_.depth * bytes % row == 0)
        return fmt::format("; the same rows in a swizzle mode: gmma:K_SW{}<{}> ({},{})", row,
                           bytes == 1   ? "e4m3"
                           : bytes == 2 ? "f16"
                                        : "tf32",
                           tile_.rows, tile_.depth);
    return {};
  }

  /// Explains a refutation by the way that reads most elements right, and its first wrong element. Ways with the tile's own
  /// swizzle come first.
  void explain(DescriptorAnswer& answer, std::uint64_t residue) const {
    std::uint64_t const base = tile_origin + residue;
    std::vector<std::uint64_t> const stored = tile_.stored(base);
    std::optional<Swizzle> const own = own_swizzle(tile_.map);
    bool const is_fixed = question_.fixed.any();
    std::optional<std::pair<bool, std::uint64_t>> nearest;
    for (Way const way : ways()) {
      OperandMode const& mode = operand_modes[way.mode];
      if (way.base_offset != question_.fixed.base_offset.value_or(0) || mode.number(question_.reader) < 0)
        continue;
      bool const is_own = own && mode.swizzle == *own;
      std::string_view const forbidden = why_not(question_.reader, mode, way.major, 8 * tile_.element_bytes);
      Fitted fitted = fit(tile_, question_.reader, way, stored, base);
      fix(fitted.found, question_.fixed);
      Reading const reading =
          read_all(tile_, fitted.found, stored, base, true);  // also what no field can hold
      bool const reads_it = fitted.misfit.empty() && !reading.wrong;
      std::pair const near{is_own, reads_it ? tile_.places.size() + 1 : reading.right};
      if ((!forbidden.empty() && !reads_it) || (nearest && near <= *nearest)) continue;
      nearest = near;
      answer.misread = fitted.misfit.empty() || is_fixed ? reading.wrong : std::nullopt;
      std::string as = fmt::format("{}, mode {}", way.major == Major::k ? "K-major" : "MN-major", mode.name);
      if (question_.fixed.base_offset) as += fmt::format(", {} {}", base_offset_field.name, way.base_offset);
      if (question_.fixed.start.value_or(0) != 0)
        as += fmt::format(", {} {}", start_field.name, *question_.fixed.start);
      MatrixDescriptor const& fields = fitted.found.fields;
      if (!forbidden.empty())
        answer.reasons = {fmt::format("the tile is {}, and {}", as, forbidden)};
      else if (!fitted.misfit.empty() && !is_fixed)
        answer.reasons = {fmt::format("{}: {}", as, fitted.misfit)};
      else
        answer.reasons = {fmt::format(
            "{}{}{}{}{} {} of {} elements from where they are stored", is_fixed ? "" : "nearest is ", as,
            fitted.found.stride_is_read ? fmt::format(", {} {}", stride_field.name, fields.stride_byte_offset)
                                        : "",
            fitted.found.leading_is_read
                ? fmt::format(", {} {}", leading_field.name, fields.leading_byte_offset)
                : "",
            is_fixed ? " reads" : ", which reads", reading.right, tile_.places.size())};
    }
    if (answer.reasons.empty())  // no mode reads such elements in this order
      answer.reasons.emplace_back(why_not(question_.reader, operand_modes[question_.fixed.mode.value_or(1)],
                                          question_.major.value_or(Major::k), 8 * tile_.element_bytes));
    if (is_fixed) return add_right_one(answer, residue);
    if (question_.major) {
      DescriptorQuestion other = question_;
      other.major = *question_.major == Major::k ? Major::mn : Major::k;
      if (!DescriptorSearch(tile_, other, period_).solutions().empty())
        answer.reasons.push_back(fmt::format("{}-major it is read", other.major == Major::k ? "K" : "MN"));
    }
    explain_swizzle(answer, own);
  }

 private:
  /// Modes without a swizzle do not read the base offset: it is 0, or what is hard-coded.
  [[nodiscard]] std::vector<Way> ways() const {
    FixedFields const& fixed = question_.fixed;
    std::vector<Way> all;
    for (Major const major : {Major::k, Major::mn})
      for (std::size_t mode = 0; mode < std::size(operand_modes); ++mode)
        for (std::uint32_t b = 0; b < 8; ++b) {
          std::uint32_t const other = operand_modes[mode].shape.swizzled ? b : 0;
          if (question_.major.value_or(major) == major && fixed.mode.value_or(mode) == mode &&
              fixed.base_offset.value_or(other) == b)
            all.push_back({mode, b, major});
        }
    return all;
  }
  /// Adds the descriptor that reads the tile from a base where the hard-coded one does not, if there is one.
  void add_right_one(DescriptorAnswer& answer, std::uint64_t base) const {
    DescriptorQuestion free = question_;
    free.fixed = {};
    for (TileDescriptor const& right : DescriptorSearch(tile_, free, period_).solutions()) {
      if (!right.bases.has(base)) continue;
      MatrixDescriptor const& d = right.fields;
      answer.reasons.push_back(fmt::format("{:#018x} reads it: mode {}, {} {}, {} {}, {} {}",
                                           number_of(right), d.operand_mode().name, stride_field.name,
                                           d.stride_byte_offset, leading_field.name, d.leading_byte_offset,
                                           base_offset_field.name, d.base_offset));
      return;
    }
  }

  CutTile const& tile_;
  DescriptorQuestion const& question_;
  std::uint64_t period_;
};

/// "read = stored" for every element of an instruction and every base with one of the residues.
Question reads(CutTile const& tile, TileDescriptor const& d, std::uint64_t instruction,
               std::uint64_t residue) {
  std::uint64_t const corner = tile.corner(instruction);
  std::vector<Variable> const variables{
      Variable::steps("row", 0, 1, tile.cut.rows),
      Variable::steps("k", 0, 1, tile.cut.depth),
      {"base", static_cast<unsigned>(std::bit_width((std::uint64_t{1} << 31) / d.bases.period)), residue,
       d.bases.period}};
  return ask_of_all(
      fmt::format("instruction {}", instruction), 64, variables,
      [&tile, &d, instruction, corner]<Word W>(std::span<W const> values) {
        W const &row = values[0], &k = values[1], &base = values[2];
        W const start = base + static_cast<std::uint64_t>(d.start + d.starts[instruction]);
        W const place = offset(tile.map, W(corner + row + k * tile.rows)).elements * tile.element_bytes;
        return states(address_read(d.fields, d.major, tile.element_bytes, start, row, k).bytes ==
                      value(tile.map.on_bytes, W(base + place)));
      });
}

std::string words(Bases const& bases) {
  if (bases.residues == std::vector<std::uint64_t>{0})
    return fmt::format("every base that is a multiple of {}", bases.period);
  return fmt::format("{} of the {} bases that are multiples of {}, modulo {}", bases.residues.size(),
                     bases.period / start_unit, start_unit, bases.period);
}

}  // namespace

FixedFields fields_of(MatrixDescriptor const& descriptor) {
  std::int64_t const start = descriptor.start;
  return {descriptor.mode,
          descriptor.leading_byte_offset,
          descriptor.stride_byte_offset,
          descriptor.base_offset,
          descriptor.start >= most_shared_bytes ? start - (1 << 18) : start,
          true};
}

std::optional<OperandReader> reader_on(Architecture const* arch, std::optional<OperandReader> named) {
  if (arch == nullptr) return named;
  auto const refuse = [&](std::string message, std::string hint) {
    return InputError::whole(std::move(message), std::string(arch->name), std::move(hint));
  };
  std::string const whose = "wgmma is of sm_90a, tcgen05 of sm_100a, sm_103a and sm_110a";
  if (arch->operands == OperandUnit::none)
    throw refuse(fmt::format("{} has no instruction that reads through descriptors", arch->name), whose);
  if (arch->operands == OperandUnit::unknown) {
    if (named) return named;
    throw refuse(
        fmt::format("it is not known which instruction of compute capability {}.{} reads through descriptors",
                    arch->capability / 10, arch->capability % 10),
        "--for wgmma or --for tcgen05 says so");
  }
  OperandReader const of_arch =
      arch->operands == OperandUnit::wgmma ? OperandReader::wgmma : OperandReader::tcgen05;
  if (named && *named != of_arch) throw refuse(fmt::format("{} has no {}", arch->name, name(*named)), whose);
  return of_arch;
}

namespace {

DescriptorAnswer find_descriptors(Map const& map, DescriptorQuestion const& question, Limits const& limits) {
  if (question.align.value_or(start_unit) % start_unit != 0)
    throw bad_tile(
        map, fmt::format("bases are multiples of {} bytes, and align is {}", start_unit, *question.align),
        "a descriptor's start is in units of 16 bytes");
  CutTile const tile = cut_tile(map, question);
  DescriptorAnswer answer;
  answer.instructions = tile.cut;
  // Both sides repeat with the base: what is stored with the tile's function of bytes, what is read with 1024.
  Quantity const own = some_period(map.on_bytes, limits);
  if (!own.value || *own.value > tile_origin) {
    answer.outcome =
        Unknown{"the function of the addresses has no period that is known, and no bases can be tried"};
    return answer;
  }
  std::uint64_t period = *own.value;
  for (OperandMode const& mode : operand_modes)
    period = std::max<std::uint64_t>(period, std::uint64_t{8} * mode.shape.row_bytes);
  DescriptorSearch const search(tile, question, period);
  answer.solutions = search.solutions();
  answer.engines = {Engine::exhaustive};
  std::optional<std::uint64_t> const missing = search.missing_base(answer.solutions);
  if (answer.solutions.empty() || missing) {
    search.explain(answer, missing.value_or(0));
    answer.solutions.clear();
    answer.outcome = Refuted{"no descriptor reads the tile", {}};
    answer.domain = fmt::format("{}bases that are multiples of {}",
                                question.fixed.any() ? "" : "all modes, base offsets, and ",
                                question.align.value_or(start_unit));
    return answer;
  }
  answer.outcome = Proved{};
  TileDescriptor const& best = answer.solutions.front();
  answer.domain =
      fmt::format("every element of {} instruction{}, {}", tile.cut.count(), tile.cut.count() == 1 ? "" : "s",
                  question.align ? fmt::format("every base that is a multiple of {}", *question.align)
                                 : words(best.bases));
  // Every base was tried up to the period; the engines that speak of all bases at once say the same, or nothing.
  if (tile.cut.count() * best.bases.residues.size() > most_solver_questions) return answer;
  std::vector<Question> questions;
  for (std::uint64_t i = 0; i < tile.cut.count(); ++i)
    for (std::uint64_t const residue : best.bases.residues)
      questions.push_back(reads(tile, best, i, residue));
  Limits its = limits;
  its.steps = most_solver_steps;
  Answer const second = decide(questions, its, Effort::one);
  if (second.unknown() == nullptr) {
    must_agree(to_string(map), Engine::exhaustive, name(answer.outcome), second.engines.front(),
               name(second.outcome));
    answer.engines.insert(answer.engines.begin(), second.engines.begin(), second.engines.end());
  }
  return answer;
}

}  // namespace

DescriptorAnswer descriptors_of(Map const& map, DescriptorQuestion const& question, Limits const& limits) {
  DescriptorAnswer plain = find_descriptors(map, question, limits);
  std::int64_t const start = question.fixed.start.value_or(0);
  if (!question.fixed.of_a_number || start <= 0 || !std::holds_alternative<Refuted>(plain.outcome))
    return plain;
  // A number that a kernel has computed holds the address of its tile.
  DescriptorQuestion free = question;
  free.fixed.start = 0;
  DescriptorAnswer found = find_descriptors(map, free, limits);
  found.address = static_cast<std::uint64_t>(start);
  if (!std::holds_alternative<Proved>(found.outcome)) return found;
  Bases const& bases = found.solutions.front().bases;
  if (bases.has(*found.address)) {
    found.domain = fmt::format("every element of {} instruction{}, the tile at address {:#x}",
                               found.instructions.count(), found.instructions.count() == 1 ? "" : "s", start);
    return found;
  }
  found.reasons = {fmt::format("it reads a tile from {}, and its start is {:#x}", words(bases), start)};
  found.domain = fmt::format("the tile at address {:#x}", start);
  found.outcome = Refuted{"no descriptor reads the tile", {}};
  found.solutions.clear();
  return found;
}

std::optional<Mapping> map_of(MatrixDescriptor const& descriptor, Major major, unsigned element_bits,
                              std::uint64_t rows) {
  if (rows == 0) return std::nullopt;
  OperandMode const& mode = descriptor.operand_mode();
  std::uint32_t const bytes = element_bits / 8;
  // operand_offset() is the sum of a function of the row and one of k: each is a mode, if its values are those of a layout.
  auto const mode_of = [&](std::uint64_t extent, auto const& offset_at) -> std::optional<Layout> {
    std::vector<std::int64_t> values;
    for (std::uint32_t i = 0; i < extent; ++i) {
      if (offset_at(i) % bytes != 0) return std::nullopt;
      values.push_back(offset_at(i) / bytes);
    }
    std::optional<Layout> const layout = layout_of_values(values);
    return layout ? std::optional(coalesce(*layout)) : std::nullopt;
  };
  auto const offset_to = [&](std::uint32_t row, std::uint32_t k) {
    return operand_offset(mode.shape, descriptor.leading_byte_offset, descriptor.stride_byte_offset, major,
                          bytes, row, k);
  };
  std::optional<Layout> const of_rows = mode_of(rows, [&](std::uint32_t i) { return offset_to(i, 0); }),
                              of_k = mode_of(operand_k_bytes / bytes,
                                             [&](std::uint32_t i) { return offset_to(0, i); });
  if (!of_rows || !of_k) return std::nullopt;
  Mapping map;
  map.element_bits = element_bits;
  if (mode.shape.swizzled) {
    std::int64_t const shift = 128 * std::int64_t{descriptor.base_offset};
    map.on_bytes = {mode.swizzle};
    if (shift != 0) map.on_bytes = {Displacement{shift}, mode.swizzle, Displacement{-shift}};
  } else {
    map.on_bytes = {swizzle_none};
  }
  if (descriptor.start != 0) map.on_elements.emplace_back(Displacement{descriptor.start / bytes});
  map.on_elements.emplace_back(make_layout({*of_rows, *of_k}));
  map.text = to_string(map);
  if (descriptor.base_offset != 0 && mode.shape.swizzled) {
    // The three stages as one function, as the command line takes them.
    Swizzle const& f = mode.swizzle;
    std::uint32_t const row = 128 * descriptor.base_offset, mask = ((1U << f.bits) - 1) << f.base;
    Map elements = map;
    elements.on_bytes.clear();
    map.text = fmt::format("fn(x) = x ^ (((x - {}) >> {}) & {:#x}) o smem_ptr[{}b](unset) o {}", row, f.shift,
                           mask, element_bits, to_string(elements));
  }
  return map;
}

namespace {

/// Probable mistakes in a descriptor's start; `row_bytes` is all that it reads along rows.
void suspect_start(MatrixDescriptor const& descriptor, Major major, std::uint64_t row_bytes,
                   std::vector<std::string>& all) {
  OperandMode const& mode = descriptor.operand_mode();
  if (std::uint64_t const end = descriptor.start; end >= most_shared_bytes)
    all.push_back(
        fmt::format("start is {:#x}, beyond the {} bytes of a block: the field counts units of 16 bytes", end,
                    most_shared_bytes));
  if (!mode.shape.swizzled) return;
  std::uint32_t const pattern = 8 * mode.shape.row_bytes, start = descriptor.start;
  if (start % pattern >= 128 && descriptor.base_offset == 0)
    all.push_back(
        fmt::format("start lies {} bytes into the swizzle's pattern of {} and the base offset is 0: right "
                    "for data that is swizzled by "
                    "its absolute address, as TMA writes it; for a tile that begins here and is swizzled "
                    "from its own base it "
                    "would be (start >> 7) & 7 = {}",
                    start % pattern, pattern, start >> 7 & 7));
  if (std::uint32_t const column = start % mode.shape.row_bytes;
      major == Major::k && column + operand_k_bytes > mode.shape.row_bytes)
    all.push_back(
        fmt::format("start lies {} bytes into a row of {}: of the {} bytes of k some come from the next row",
                    column, mode.shape.row_bytes, operand_k_bytes));
  if (major == Major::mn &&
      start % mode.shape.row_bytes + std::min<std::uint64_t>(row_bytes, mode.shape.row_bytes) >
          mode.shape.row_bytes)
    all.push_back(fmt::format(
        "start lies {} bytes into a row of {}: the columns at its end come from the next row of k",
        start % mode.shape.row_bytes, mode.shape.row_bytes));
}

}  // namespace

namespace {

/// A number with as many bits as an instruction descriptor.
std::vector<std::string> of_32_bits(MatrixDescriptor const& descriptor) {
  if (descriptor.bits() >> 32 != 0) return {};
  return {
      "bits 63..32 are 0: no stride and no mode; an instruction descriptor of tcgen05.mma, which has 32 "
      "bits, "
      "is not read here"};
}

}  // namespace

std::vector<std::string> suspicions(MatrixDescriptor const& descriptor, Major major, unsigned element_bits,
                                    std::uint64_t rows) {
  OperandMode const& mode = descriptor.operand_mode();
  std::uint32_t const bytes = element_bits / 8, depth = operand_k_bytes / bytes;
  bool const swizzles = mode.shape.swizzled;
  // Elements that share a byte with another.
  auto const overlapping = [&](MatrixDescriptor const& d) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t mn = 0; mn < rows; ++mn)
      for (std::uint32_t k = 0; k < depth; ++k)
        places.push_back(address_read(d, major, bytes, d.start, mn, k).bytes);
    std::sort(places.begin(), places.end());
    return std::adjacent_find(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) {
             return b - a < bytes;
           }) != places.end();
  };
  std::vector<std::string> all = of_32_bits(descriptor);
  MatrixDescriptor exchanged = descriptor;
  std::swap(exchanged.leading_byte_offset, exchanged.stride_byte_offset);
  std::uint32_t const atom = 8 * mode.shape.row_bytes;
  bool const overlaps = overlapping(descriptor);
  if (overlaps && !overlapping(exchanged))
    all.push_back(
        fmt::format("elements overlap; with leading and stride byte offset exchanged ({} and {}) they do not",
                    exchanged.leading_byte_offset, exchanged.stride_byte_offset));
  else if (overlaps)
    all.push_back(fmt::format(
        "elements overlap: two of them are read from one address (atoms touch at {} bytes)", atom));
  // Lengths that would be those of atoms that touch, if they had been divided; which they are if the rest agrees.
  std::vector<std::string> undivided;
  MatrixDescriptor divided = descriptor;
  auto const not_divided = [&](std::string_view field, std::uint32_t& length, std::uint32_t usual) {
    if (length != 16 * usual) return;
    undivided.push_back(
        fmt::format("{} is {} bytes, 16 times the {} of atoms that touch: the field counts units of 16 "
                    "bytes; perhaps {} was written without >> 4",
                    field, length, usual, usual));
    length = usual;
  };
  std::uint32_t const touching = swizzles ? mode.shape.k_lines * mode.shape.row_bytes : atom;
  if (major == Major::k || swizzles)
    not_divided(stride_field.name, divided.stride_byte_offset, swizzles ? touching : 2 * atom);
  if (!swizzles || major == Major::mn) not_divided(leading_field.name, divided.leading_byte_offset, touching);
  if (!undivided.empty() && !overlapping(divided)) all.insert(all.end(), undivided.begin(), undivided.end());
  // The mode may be another generation's number, or missing: find the mode whose 8 rows the stride steps over.
  for (OperandMode const& other : operand_modes)
    if (major == Major::k && other.shape.swizzled && other.shape.k_lines == 8 && &other != &mode &&
        descriptor.stride_byte_offset == 8 * other.shape.row_bytes &&
        ((swizzles && other.shape.row_bytes > mode.shape.row_bytes) || overlaps))
      all.push_back(
          fmt::format("stride byte offset {} is 8 rows under {}, and the mode is {}: perhaps its number is "
                      "missing, or one of the "
                      "other generation (wgmma: 1 128B, 2 64B, 3 32B; tcgen05: 2 128B, 4 64B, 6 32B){}",
                      descriptor.stride_byte_offset, other.name, mode.name,
                      overlaps ? ""
                               : fmt::format("; right where {} atoms lie side by side along k",
                                             other.shape.row_bytes / mode.shape.row_bytes)));
  suspect_start(descriptor, major, rows * bytes, all);
  return all;
}

}  // namespace swizproof
