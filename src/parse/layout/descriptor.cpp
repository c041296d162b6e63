// Descriptors as numbers: their fields, and desc:..., the layout that one instruction reads.
#include "parse/layout/mapping_parser.hpp"

#include <swizproof/analysis/descriptor.hpp>

#include <fmt/format.h>

namespace swizproof {

namespace {

/// Refuses what no field explains, at the number's place in the text.
MatrixDescriptor fields_of(Scanner& in, std::uint64_t bits, std::optional<OperandReader> wanted,
                           std::size_t from, bool decimal) {
  OperandReader const reader = wanted.value_or(reader_of(bits));
  DecodedDescriptor const decoded = decode(reader, bits);
  auto const refuse = [&](std::string message, std::string hint = {}) {
    in.fail(std::move(message), from, in.at() - from, std::move(hint));
  };
  std::uint64_t const version = version_field.of(bits);
  if (decoded.version_is_wrong)
    refuse(fmt::format("{} (bits {}..{}) is {}, and of tcgen05 it is 1", version_field.name,
                       version_field.first + version_field.bits - 1, version_field.first, version),
           version == 0
               ? fmt::format("a descriptor of wgmma has 0 there (--for wgmma); of tcgen05 this is {:#018x}",
                             bits | std::uint64_t{1} << version_field.first)
               : "");
  if (decoded.reserved != 0)
    refuse(fmt::format("reserved bits are set: {:#x} of {:#x} belongs to no field of {}", decoded.reserved,
                       bits, name(reader)),
           reader == OperandReader::wgmma && version == 1
               ? "bits 48..46 are the version of a descriptor of tcgen05: --for tcgen05"
           : reader == OperandReader::wgmma && decoded.reserved == std::uint64_t{1} << 61
               ? "bit 61 is of tcgen05's mode: of wgmma it has bits 63..62, 1 128B, 2 64B, 3 32B"
           : decimal ? "this was read as a decimal number: is 0x missing?"
                     : "lengths have 14 bits in units of 16 bytes: was a field written without >> 4, or "
                       "without a mask?");
  if (decoded.mode_is_wrong)
    refuse(fmt::format("{} (bits 63..{}) is {}, which no mode of {} has", mode_field(reader).name,
                       mode_field(reader).first, mode_field(reader).of(bits), name(reader)),
           "tcgen05: 0 none, 1 128B_ATOM_32B, 2 128B, 4 64B, 6 32B; wgmma: 0 none, 1 128B, 2 64B, 3 32B in "
           "bits 63..62");
  if (decoded.leading_is_address)
    refuse(fmt::format(
        "{} (bit {}) is 1: the leading byte offset is an address, and what is read then is not modelled",
        leading_is_field.name, leading_is_field.first));
  return decoded.descriptor;
}

}  // namespace

MatrixDescriptor parse_matrix_descriptor(std::string_view text, std::optional<OperandReader> reader) {
  Scanner in(text);
  std::size_t const from = in.at();
  std::uint64_t const bits = in.take_literal();
  if (!in.done())
    in.fail_here("unexpected text after the descriptor", "a descriptor is one number of 64 bits");
  return fields_of(in, bits, reader, from, text.find('x') == text.npos && text.find('X') == text.npos);
}

Mapping parse_descriptor(Scanner& in, MappingOptions const& options) {
  std::size_t const from = in.at();
  (void)in.take("desc:");
  std::size_t const number = in.at();
  MatrixDescriptor const descriptor = fields_of(in, in.take_literal(), std::nullopt, number, false);
  std::string type;
  std::optional<unsigned> const bits = parse_angled_element(in, options, type);
  if (!bits) in.fail_here("the element type is missing", "such as desc:0x4000004000010000<f16>,K (64,16)");
  in.expect(",", "and K or MN, the index that is contiguous, after the descriptor");
  std::size_t const at = in.at();
  std::string_view const major_name = in.take_name();
  if (major_name != "K" && major_name != "MN")
    in.fail("the contiguous index is K or MN", at, major_name.size());
  Major const major = major_name == "K" ? Major::k : Major::mn;
  if (std::string_view const why = why_not(descriptor.reader, descriptor.operand_mode(), major, *bits);
      !why.empty())
    in.fail(std::string(why), from, in.at() - from);
  if (!in.looking_at("("))
    in.fail_here("the extent of one instruction is missing",
                 fmt::format("(rows, k), such as (64,{})", 8 * operand_k_bytes / *bits));
  std::size_t const extents_from = in.at();
  IntTuple const shape = parse_extents(in);
  std::uint64_t const depth = 8 * operand_k_bytes / *bits;
  if (shape.rank() != 2 || static_cast<std::uint64_t>(shape.modes[1].value) != depth)
    in.fail(fmt::format("one instruction reads (rows, {}) elements of {} bits", depth, *bits), extents_from,
            in.at() - extents_from, "what the next instruction reads along k has a start of its own");
  auto const rows = static_cast<std::uint64_t>(shape.modes[0].value);
  if (!reads_rows(descriptor.reader, true, false, rows) && !reads_rows(descriptor.reader, false, false, rows))
    in.fail(fmt::format("no instruction of {} reads {} rows", name(descriptor.reader), rows), extents_from,
            in.at() - extents_from, "A has 64 rows (of tcgen05 also 128), B a multiple of 8 up to 256");
  std::optional<Mapping> map = map_of(descriptor, major, *bits, rows);
  if (!map)
    in.fail(fmt::format("the addresses of {} rows are no layout", rows), extents_from,
            in.at() - extents_from);
  map->element = std::move(type);
  map->notes.push_back("this is " + map->text);
  if (descriptor.start != 0)
    map->notes.push_back(
        fmt::format("the start of the descriptor, {:#x}, counts from the tile's base", descriptor.start));
  map->text = fmt::format("desc:{:#018x}<{}b>,{} ({},{})", descriptor.bits(), *bits, major_name, rows, depth);
  return std::move(*map);
}

}  // namespace swizproof
