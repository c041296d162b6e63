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

/// `alignas(16)`, `alignas(float4)`, `__align__(16)`: the bytes, if one comes next.
std::optional<std::uint64_t> alignment(Scanner& in, LayoutParser& layouts) {
  std::size_t const from = in.at();
  if (!in.take_word("alignas") && !in.take_word("__align__")) return std::nullopt;
  in.expect("(", "of the alignment");
  std::optional<CType> const type = take_c_type(in);
  std::int64_t const bytes = type ? type->alignment : layouts.constant();
  in.expect(")", "of the alignment");
  if (bytes < 1 || bytes > static_cast<std::int64_t>(largest_alignment) ||
      !std::has_single_bit(static_cast<std::uint64_t>(bytes)))
    in.fail("an alignment is a power of two up to 2^20", from, in.at() - from);
  return static_cast<std::uint64_t>(bytes);
}

/// The element's type; of a name that is none, the elements of --element.
CType declared_type(Scanner& in, MappingOptions const& options) {
  std::size_t const from = in.at();
  std::optional<CType> type = take_c_type(in);
  if (!type) {
    std::string const name(take_c_name(in));
    if (name.empty()) in.fail_here("expected the type of the array's elements");
    if (!options.element_bits || *options.element_bits % 8 != 0)
      in.fail("the size of '" + name + "' is not known", from, name.size(),
              "--element says it, such as --element f16");
    unsigned const bytes = *options.element_bits / 8;
    type = CType{name, bytes, bytes};
  }
  if (!std::has_single_bit(type->bytes) || type->bytes > 16)
    in.fail(type->name + " has " + std::to_string(type->bytes) + " bytes, and no instruction moves so many",
            from, in.at_end_of_token() - from, "declare scalars with one extent more: float a[64][3]");
  return *type;
}

Mapping array_mapping(Scanner& in, DeclaredArray array, CType const& type, std::size_t at) {
  std::vector<IntTuple> shape, stride;
  std::int64_t step = 1;
  for (std::size_t i = array.extents.size(); i-- > 0;) {
    std::int64_t const extent = array.extents[i];
    if (extent < 1 || __builtin_mul_overflow(step, extent, &step) || step > std::int64_t{1} << 31)
      in.fail("the extents are from 1 on, and their product is at most 2^31", at, in.at_end_of_token() - at);
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

}  // namespace

bool at_declaration(Scanner& in) {
  std::size_t const from = in.at();
  bool found = false;
  while (take_storage(in)) found = found || in.text(from, in.at_end_of_token()).ends_with("__shared__");
  found = found || in.looking_at_name("alignas") || in.looking_at_name("__align__");
  if (!found) {
    bool const integer = take_c_type(in).has_value() || !take_c_name(in).empty();
    found = integer && !take_c_name(in).empty() && in.looking_at("[");
  }
  in.back_to(from);
  return found;
}

Mapping parse_declaration(Scanner& in, LayoutParser& layouts, MappingOptions const& options) {
  DeclaredArray array;
  std::optional<std::uint64_t> aligned;
  auto const specifiers = [&] {
    for (bool again = true; again;) {
      again = take_storage(in);
      if (auto const bytes = alignment(in, layouts))
        aligned = std::max(aligned.value_or(1), *bytes), again = true;
    }
  };
  specifiers();
  CType const type = declared_type(in, options);
  specifiers();
  std::size_t const at_name = in.at();
  array.name = take_c_name(in);
  if (array.name.empty()) in.fail_here("expected the name of the array");
  if (is_taken(array.name))
    in.fail("'" + array.name + "' has a meaning in ACCESS", at_name, array.name.size(), "rename the array");
  std::size_t const at_extents = in.at();
  while (in.take("[")) {
    if (in.looking_at("]"))
      in.fail_here("the array has no extent here", "write the extent that the kernel uses");
    array.extents.push_back(layouts.constant());
    in.expect("]", "after the extent");
  }
  if (array.extents.empty() || array.extents.size() > most_extents)
    in.fail("an array has one to four extents", at_extents, in.at_end_of_token() - at_extents,
            "half a[64][72]");
  if (in.looking_at("=") || in.looking_at("{") || in.looking_at(","))
    in.fail_here("a declaration is of one array without a value");
  array.type = type.name;
  array.element_bytes = type.bytes;
  array.has_alignas = aligned.has_value();
  array.alignment = std::max<std::uint64_t>(aligned.value_or(1), type.alignment);
  return array_mapping(in, std::move(array), type, at_extents);
}

}  // namespace swizproof
