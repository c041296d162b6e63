// LAYOUT: everything that CuTe prints for a layout, TMA modes, functions.
#include "expression_parser.hpp"

#include <bit>
#include <limits>

namespace swizproof {

namespace {

class MappingParser {
 public:
  MappingParser(std::string_view text, MappingOptions const& options) : in_(text), options_(options) {}

  [[nodiscard]] Mapping parse() {
    if (in_.done()) in_.fail_here("a layout is missing");
    Mapping map = in_.looking_at("fn") ? function() : in_.looking_at("tma:") ? tma() : composition();
    if (!in_.done()) in_.fail_here("unexpected text after the layout");
    return map;
  }

  [[nodiscard]] Swizzle swizzle() {
    std::size_t const from = in_.at();
    if (!in_.take("Swizzle") && !in_.take("Sw") && !in_.take("S"))
      in_.fail_here("expected a swizzle", "write Sw<bits,base,shift>, such as Sw<3,4,3>");
    in_.expect("<", "of the swizzle");
    auto const field = [&](std::string_view name) {
      std::size_t const at = in_.at();
      std::int64_t const value = in_.take_integer(std::string(name) + " of the swizzle");
      if (value < -64 || value > 64) in_.fail(std::string(name) + " is out of range", at, in_.at() - at);
      return static_cast<int>(value);
    };
    Swizzle s;
    s.bits = field("bits");
    in_.expect(",", "after bits");
    s.base = field("base");
    in_.expect(",", "after base: a swizzle has three parameters");
    s.shift = field("shift");
    in_.expect(">", "to close the swizzle");
    if (s.error() != SwizzleError::none)
      in_.fail("not a valid swizzle: " + std::string(explain(s.error())), from, in_.at() - from);
    return s;
  }

  void finish() {
    if (!in_.done()) in_.fail_here("unexpected text after the swizzle");
  }

 private:
  /// Layout or composed layout: stages joined by " o ".
  Mapping composition() {
    Mapping map;
    bool flagged = false;
    std::vector<std::size_t> places;  // where each stage of on_elements begins
    while (true) {
      std::size_t const from = in_.at();
      if (std::optional<unsigned> const bits = flag()) {
        if (flagged || map.on_elements.size() != 1 || !std::holds_alternative<Swizzle>(map.on_elements[0]))
          in_.fail("smem_ptr[..](unset) stands between one swizzle and a layout", from, in_.at() - from);
        flagged = true;
        map.element_bits = bits;
        map.on_bytes = std::exchange(map.on_elements, {});
        places.clear();
      } else {
        map.on_elements.push_back(stage(map.on_elements.size()));
        places.push_back(from);
      }
      map.text += (map.text.empty() ? "" : " o ") + std::string(trimmed(from, in_.at()));
      if (!in_.take_joint()) break;
    }
    check_order(map, places, flagged);
    if (options_.element_bits) {
      if (flagged && map.element_bits != options_.element_bits)
        in_.fail("--element says " + std::to_string(*options_.element_bits) + " bits, the layout says " +
                     std::to_string(*map.element_bits),
                 0, 1);
      map.element_bits = options_.element_bits;
    }
    bool const bare = map.on_elements.size() == 1 && std::holds_alternative<Swizzle>(map.on_elements[0]);
    if (bare && !options_.element_bits) map.on_bytes = std::exchange(map.on_elements, {});
    return map;
  }

  /// f o offset o g o offset o ... : every second stage is a number, the last one is a function.
  void check_order(Mapping const& map, std::span<std::size_t const> places, bool flagged) {
    std::size_t const count = map.on_elements.size();
    if (flagged && (count != 1 || map.domain() == nullptr))
      in_.fail_here("smem_ptr[..](unset) must be followed by one layout");
    for (std::size_t i = 0; i < count; ++i) {
      bool const number = std::holds_alternative<Displacement>(map.on_elements[i]);
      if (number != (i % 2 == 1))
        in_.fail(
            number ? "a layout or swizzle must stand here, not a number" : "an offset is missing before this",
            places[i], 1, "CuTe prints swizzle o offset o layout: Sw<3,3,3> o _0 o (8,64):(64,1)");
    }
    if (count % 2 == 0 && count != 0) in_.fail_here("a layout is missing after the offset");
  }

  /// smem_ptr[16b](unset), and the spelling of CUTLASS 3.0 to 3.2: smem_ptr_16b(unset).
  std::optional<unsigned> flag() {
    if (!in_.looking_at("smem_ptr") && !in_.looking_at("smem_sparse")) return std::nullopt;
    if (in_.looking_at("smem_sparse")) in_.fail_here("sparse pointers are not supported");
    (void)in_.take("smem_ptr");
    bool const old = in_.take("_");
    if (!old) in_.expect("[", "of the pointer's element size");
    std::size_t const at = in_.at();
    std::int64_t const bits = in_.take_integer("the element size in bits");
    if (bits < 1 || bits > 128 || !std::has_single_bit(static_cast<std::uint64_t>(bits)))
      in_.fail("element sizes are powers of two from 1 to 128 bits", at, in_.at() - at);
    in_.expect("b", "after the element size");
    if (!old) in_.expect("]", "after the element size");
    in_.expect("(unset)", "of the pointer");
    return static_cast<unsigned>(bits);
  }

  Stage stage(std::size_t place) {
    if (in_.looking_at("S")) return swizzle();
    if (in_.looking_at("M_")) return mixed_bits();
    std::size_t const from = in_.at();
    IntTuple const shape = tuple();
    if (!in_.take(":")) {
      bool const number = place % 2 == 1 && !shape.is_tuple;
      if (!number)
        in_.fail_here("expected ':' and the strides", "a layout is shape:stride, such as (8,64):(64,1)");
      return displacement(shape.value, to_string(shape), from);
    }
    std::size_t const at = in_.at();
    IntTuple const stride = tuple();
    if (!congruent(shape, stride))
      in_.fail("the strides must have the shape's nesting", at, in_.at() - at,
               "the shape is " + to_string(shape));
    check_extents(shape, from);
    check_reach(Layout{shape, stride}, at);
    return Layout{shape, stride};
  }

  /// M_128|(64&64)=192: the value after '=' counts.
  Displacement mixed_bits() {
    std::size_t const from = in_.at();
    (void)in_.take("M_");
    (void)in_.take_integer("the static bits");
    in_.expect("|(", "of the mixed bits");
    (void)in_.take_integer("the dynamic bits");
    in_.expect("&", "of the mixed bits");
    (void)in_.take_integer("the mask");
    in_.expect(")=", "of the mixed bits");
    std::int64_t const value = in_.take_integer("the value");
    return displacement(value, std::string(trimmed(from, in_.at())), from);
  }

  Displacement displacement(std::int64_t value, std::string text, std::size_t from) {
    constexpr std::int64_t most = std::int64_t{1} << 56;
    if (value > most || value < -most)
      in_.fail("the offset reaches further than 2^56 elements", from, text.size());
    return {value, std::move(text)};
  }

  IntTuple tuple() {
    Nesting const nesting(in_, depth_);
    if (in_.take("(")) {
      std::vector<IntTuple> modes;
      if (in_.take(")")) return IntTuple(std::move(modes));
      do modes.push_back(tuple());
      while (in_.take(","));
      in_.expect(")", "or ',' in the tuple");
      return IntTuple(std::move(modes));
    }
    bool const fixed = in_.take("_");
    if (fixed && !in_.at_number()) in_.fail_here("a bare _ is not a number");
    std::int64_t const value = in_.take_integer("an integer or a tuple");
    if (in_.looking_at("@")) in_.fail_here("coordinate strides (1@0) are not offsets in memory");
    return {value, fixed};
  }

  void check_extents(IntTuple const& shape, std::size_t from) {
    std::int64_t size = 1;
    for (std::int64_t const extent : shape.leaves()) {
      if (extent < 1) in_.fail("extents must be 1 or more", from, to_string(shape).size());
      if (__builtin_mul_overflow(size, extent, &size) || size > (std::int64_t{1} << 62))
        in_.fail("the shape has more than 2^62 elements", from, in_.at() - from);
    }
  }
  void check_reach(Layout const& layout, std::size_t from) {
    auto const extents = layout.shape.leaves(), strides = layout.stride.leaves();
    std::int64_t reach = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      std::int64_t step = 0;
      bool const lost = strides[i] == std::numeric_limits<std::int64_t>::min() ||
                        __builtin_mul_overflow(extents[i] - 1, std::abs(strides[i]), &step) ||
                        __builtin_add_overflow(reach, step, &reach) || reach > (std::int64_t{1} << 56);
      if (lost) in_.fail("the layout reaches further than 2^56 elements", from, in_.at() - from);
    }
  }

  /// The TMA's maps of byte addresses (CUDA C++ Programming Guide 13.1, 10.29.3; PTX ISA 9.1, 5.5.7).
  Mapping tma() {
    struct Mode {
      std::string_view name;
      Swizzle swizzle;
    };
    static constexpr Mode modes[] = {
        {"none", swizzle_none}, {"32B", swizzle_32B},         {"64B", swizzle_64B},
        {"128B", swizzle_128B}, {"128B_ATOM_32B", {2, 5, 2}}, {"128B_ATOM_64B", {1, 6, 1}},
        {"96B", swizzle_32B},
    };
    (void)in_.take("tma:");
    std::size_t const at = in_.at();
    std::string_view const name = in_.take_name();
    Mapping map;
    map.text = "tma:" + std::string(name);
    map.element_bits = options_.element_bits;
    if (name == "128B_ATOM_32B_FLIP_8B") {
      map.on_bytes = {
          parse_expression("x ^ ((x >> 2) & 0x60) ^ ((x >> 4) & 8)", std::array<std::string, 1>{"x"})};
      return map;
    }
    for (Mode const& mode : modes)
      if (mode.name == name) {
        map.on_bytes = {mode.swizzle};
        return map;
      }
    in_.fail("unknown TMA mode '" + std::string(name) + "'", at, name.size(),
             "known: none, 32B, 64B, 128B, 96B, 128B_ATOM_32B, 128B_ATOM_32B_FLIP_8B, 128B_ATOM_64B");
  }

  Mapping function() {
    std::size_t const from = in_.at();
    (void)in_.take("fn");
    in_.expect("(", "after fn: fn(x) = expression");
    std::array<std::string, 1> const variable{std::string(in_.take_name())};
    if (variable[0].empty() || is_digit(variable[0][0])) in_.fail_here("expected the name of the variable");
    in_.expect(")", "after the variable");
    in_.expect("=", "before the expression");
    Expression expression = ExpressionParser(in_, variable).parse();
    Mapping map;
    map.text = std::string(trimmed(from, in_.at()));
    map.element_bits = options_.element_bits;
    (options_.element_bits ? map.on_elements : map.on_bytes).push_back(std::move(expression));
    return map;
  }

  std::string_view trimmed(std::size_t from, std::size_t to) const {
    while (to > from && is_space(in_.text(to - 1, to)[0])) --to;
    return in_.text(from, to);
  }

  Scanner in_;
  MappingOptions options_;
  int depth_ = 0;
};

}  // namespace

Mapping parse_mapping(std::string_view text, MappingOptions const& options) {
  return MappingParser(text, options).parse();
}

Swizzle parse_swizzle(std::string_view text) {
  MappingParser parser(text, {});
  Swizzle const s = parser.swizzle();
  parser.finish();
  return s;
}

unsigned parse_element(std::string_view text) {
  struct Type {
    std::string_view name;
    unsigned bits;
  };
  static constexpr Type types[] = {
      {"f64", 64}, {"f32", 32}, {"tf32", 32}, {"f16", 16}, {"bf16", 16}, {"fp8", 8},  {"e4m3", 8},
      {"e5m2", 8}, {"fp4", 4},  {"e2m1", 4},  {"i64", 64}, {"i32", 32},  {"i16", 16}, {"i8", 8},
      {"i4", 4},   {"u64", 64}, {"u32", 32},  {"u16", 16}, {"u8", 8},    {"u4", 4},
  };
  for (Type const& type : types)
    if (type.name == text) return type.bits;
  unsigned bits = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error == std::errc{} && std::string_view(end, text.data() + text.size()) == "b" &&
      std::has_single_bit(bits) && bits <= 128)
    return bits;
  throw InputError{"unknown element type", std::string(text), 0, text.size(),
                   "known: f64 f32 tf32 f16 bf16 fp8 e4m3 e5m2 fp4 e2m1 i64 .. i4 u64 .. u4, or Nb with N a "
                   "power of two up to 128"};
}

std::string to_string(Swizzle const& s) {
  return "Sw<" + std::to_string(s.bits) + "," + std::to_string(s.base) + "," + std::to_string(s.shift) + ">";
}

}  // namespace swizproof
