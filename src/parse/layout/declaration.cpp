// Arrays of C: `alignas(16) __shared__ half a[64][72];`
#include "parse/expression/c_type.hpp"
#include "parse/layout/mapping_parser.hpp"

#include <swizproof/layout/composed.hpp>

#include <bit>

namespace swizproof {

namespace {

constexpr std::size_t most_extents = 4;
constexpr std::uint64_t largest_alignment = 1 << 20;

/// Words of a declaration that change no address.
bool take_storage(Scanner& in) {
  for (std::string_view const word : {"__shared__", "extern", "static", "const", "volatile"})
    if (in.take_word(word)) return true;
  return false;
}

/// Names of threads in ACCESS.
bool is_taken(std::string_view name) {
  static constexpr std::string_view names[] = {"lane", "lane_id", "laneId",  "laneid",
                                               "tid",  "warp",    "warpSize"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

bool MappingParser::at_declaration() {
  std::size_t const from = in_.at();
  bool found = false;
  while (take_storage(in_)) found = found || in_.text(from, in_.at_end_of_token()).ends_with("__shared__");
  found = found || in_.looking_at_name("alignas") || in_.looking_at_name("__align__");
  if (!found) {
    bool const integer = take_c_type(in_).has_value() || !take_c_name(in_).empty();
    found = integer && !take_c_name(in_).empty() && in_.looking_at("[");
  }
  in_.back_to(from);
  return found;
}

/// `alignas(16)`, `alignas(float4)`, `__align__(16)`: the bytes, if one comes next.
std::optional<std::uint64_t> MappingParser::alignment() {
  std::size_t const from = in_.at();
  if (!in_.take_word("alignas") && !in_.take_word("__align__")) return std::nullopt;
  in_.expect("(", "of the alignment");
  std::optional<CType> const type = take_c_type(in_);
  std::int64_t const bytes = type ? type->alignment : layouts_.constant();
  in_.expect(")", "of the alignment");
  if (bytes < 1 || bytes > static_cast<std::int64_t>(largest_alignment) ||
      !std::has_single_bit(static_cast<std::uint64_t>(bytes)))
    in_.fail("an alignment is a power of two up to 2^20", from, in_.at() - from);
  return static_cast<std::uint64_t>(bytes);
}

/// The element's type; of a name that is none, the elements of --element.
CType MappingParser::declared_type() {
  std::size_t const from = in_.at();
  std::optional<CType> type = take_c_type(in_);
  if (!type) {
    std::string const name(take_c_name(in_));
    if (name.empty()) in_.fail_here("expected the type of the array's elements");
    if (!options_.element_bits || *options_.element_bits % 8 != 0)
      in_.fail("the size of '" + name + "' is not known", from, name.size(),
               "--element says it, such as --element f16");
    unsigned const bytes = *options_.element_bits / 8;
    type = CType{name, bytes, bytes};
  }
  if (!std::has_single_bit(type->bytes) || type->bytes > 16)
    in_.fail(type->name + " has " + std::to_string(type->bytes) + " bytes, and no instruction moves so many",
             from, in_.at_end_of_token() - from, "declare scalars with one extent more: float a[64][3]");
  return *type;
}

/// One array of one to four extents. Its layout has row-major strides.
Mapping MappingParser::declaration() {
  DeclaredArray array;
  std::optional<std::uint64_t> aligned;
  auto const specifiers = [&] {
    for (bool again = true; again;) {
      again = take_storage(in_);
      if (auto const bytes = alignment()) aligned = std::max(aligned.value_or(1), *bytes), again = true;
    }
  };
  specifiers();
  CType const type = declared_type();
  specifiers();
  std::size_t const at_name = in_.at();
  array.name = take_c_name(in_);
  if (array.name.empty()) in_.fail_here("expected the name of the array");
  if (is_taken(array.name))
    in_.fail("'" + array.name + "' has a meaning in ACCESS", at_name, array.name.size(), "rename the array");
  std::size_t const at_extents = in_.at();
  while (in_.take("[")) {
    if (in_.looking_at("]"))
      in_.fail_here("the array has no extent here", "write the extent that the kernel uses");
    array.extents.push_back(layouts_.constant());
    in_.expect("]", "after the extent");
  }
  if (array.extents.empty() || array.extents.size() > most_extents)
    in_.fail("an array has one to four extents", at_extents, in_.at_end_of_token() - at_extents,
             "half a[64][72]");
  if (in_.looking_at("=") || in_.looking_at("{") || in_.looking_at(","))
    in_.fail_here("a declaration is of one array without a value");
  array.type = type.name;
  array.element_bytes = type.bytes;
  array.has_alignas = aligned.has_value();
  array.alignment = std::max<std::uint64_t>(aligned.value_or(1), type.alignment);
  return array_mapping(std::move(array), type, at_extents);
}

Mapping MappingParser::array_mapping(DeclaredArray array, CType const& type, std::size_t at) {
  std::vector<IntTuple> shape, stride;
  std::int64_t step = 1;
  for (std::size_t i = array.extents.size(); i-- > 0;) {
    std::int64_t const extent = array.extents[i];
    if (extent < 1 || __builtin_mul_overflow(step, extent, &step) || step > std::int64_t{1} << 31)
      in_.fail("the extents are from 1 on, and their product is at most 2^31", at,
               in_.at_end_of_token() - at);
    shape.insert(shape.begin(), IntTuple(extent, false));
    stride.insert(stride.begin(), IntTuple(step / extent, false));
  }
  bool const one = shape.size() == 1;
  Mapping map = mapping(one ? Layout{shape[0], stride[0]} : Layout{IntTuple(shape), IntTuple(stride)});
  map.element_bits = 8 * type.bytes;
  map.element = type.element;
  if (array.has_alignas)
    map.notes.push_back("alignas: every base is a multiple of " + std::to_string(array.alignment) + " bytes");
  map.array = std::move(array);
  return map;
}

}  // namespace swizproof
