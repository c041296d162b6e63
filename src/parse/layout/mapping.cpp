// LAYOUT: the whole text, compositions of functions, flags, calls.
#include "parse/expression/expression_parser.hpp"
#include "parse/layout/mapping_parser.hpp"
#include "parse/text/nearest.hpp"
#include "parse/fragment/tiled_mma.hpp"

#include <swizproof/hardware/element.hpp>
#include <swizproof/parse/parse.hpp>

#include <bit>

namespace swizproof {

namespace {

/// The numbers in angle brackets, if there are any: `<2>`, and units as `<16b,f32>`.
std::vector<std::int64_t> numbers(Scanner& in, std::string_view name) {
  std::vector<std::int64_t> all;
  if (!in.take("<")) return all;
  bool const units = name == "recast_layout";
  do {
    std::size_t const at = in.at();
    if (units && in.at_letter()) {
      all.push_back(parse_element_here(in).bits);
      continue;
    }
    std::int64_t const n = in.take_integer("a number");
    if (n < 0 || n > 1 << 20) in.fail("numbers in <> are from 0 to 2^20", at, in.at() - at);
    if (units) (void)in.take("b");
    all.push_back(n);
  } while (in.take(","));
  in.expect(">", "after the numbers of " + std::string(name));
  return all;
}

/// Passes the end of a pointer without an address, as CuTe prints it.
void expect_unset(Scanner& in) {
  if (in.take("(unset)")) return;
  in.fail_here("expected '(unset)' of the pointer",
               in.looking_at("(") ? "with an address, CuTe prints it behind the swizzle: "
                                    "Sw<3,4,3>_smem_ptr[16b](0x800) o (64,64):(64,1)"
                                  : "");
}

/// print_latex begins with a comment such as "% Layout: (_2,_2):(_1,_2)".
void take_latex(Scanner& in) {
  if (!in.take("%")) return;
  in.expect("Layout", "of print_latex");
  std::size_t const colon = in.find(':');
  std::string_view const label = in.trimmed(in.at(), colon);
  static constexpr std::string_view labels[] = {"", "S TV", "D TV", "A", "B", "C", "TV"};
  if (std::find(std::begin(labels), std::end(labels), label) == std::end(labels))
    in.fail_here("expected ':' of the line that print_latex begins with");
  in.back_to(colon);
  in.expect(":", "after Layout");
}

/// f o offset o g o offset o ... : every second stage is a number, the last one is a function. Behind a
/// pointer an offset may come first. A swizzle right before a layout is `composition(swizzle, layout)`: its offset is _0.
void check_order(Scanner& in, Chain& chain) {
  auto& stages = chain.map.on_elements;
  if (!chain.flagged && !chain.bound && stages.size() == 2 && std::holds_alternative<Swizzle>(stages[0]) &&
      std::holds_alternative<Layout>(stages[1])) {
    stages.insert(stages.begin() + 1, Displacement{});
    chain.places.insert(chain.places.begin() + 1, chain.places[1]);
  }
  bool const shifted =
      (chain.flagged || chain.bound) && !stages.empty() && std::holds_alternative<Displacement>(stages[0]);
  std::size_t const count = stages.size(), first = shifted ? 1 : 0;
  if (chain.flagged && (count != first + 1 || chain.map.domain() == nullptr))
    in.fail_here("smem_ptr[..](unset) must be followed by one layout");
  for (std::size_t i = 0; i < count; ++i) {
    bool const number = std::holds_alternative<Displacement>(stages[i]);
    if (number != ((i + first) % 2 == 1))
      in.fail(number ? "expected a layout or swizzle here, not a number" : "an offset is missing before this",
              chain.places[i], 1, "CuTe prints swizzle o offset o layout: Sw<3,3,3> o _0 o (8,64):(64,1)");
  }
  if ((count + first) % 2 == 0 && count != 0) in.fail_here("a layout is missing after the offset");
}

/// Final step of every Mapping: applies --element and adds notes.
void finish(Scanner& in, MappingOptions const& options, std::vector<std::string>& notes, Mapping& map) {
  if (options.element_bits) {
    if (map.element_bits && map.element_bits != options.element_bits)
      in.fail("--element says " + std::to_string(*options.element_bits) + " bits, the layout says " +
                  std::to_string(*map.element_bits),
              0, 1);
    map.element_bits = options.element_bits;
  }
  if (!map.element_bits && plain_swizzle(map) != nullptr && !map.on_elements.empty())
    map.on_bytes = std::exchange(map.on_elements, {});
  if (auto const index = index_below_zero(map))
    in.fail("a layout in " + map.text + " is evaluated at its index " + std::to_string(*index) +
                ", and indices begin with 0",
            0, in.text_size());
  for (std::string& note : notes)
    if (std::find(map.notes.begin(), map.notes.end(), note) == map.notes.end())
      map.notes.push_back(std::move(note));
  if (auto unit = note_of_unit(map))
    map.notes.push_back(std::move(*unit));
  else if (auto note = note_of_lost_flag(map))
    map.notes.push_back(std::move(*note));
}

/// Names of the variables of a function: `x`, `row, col`.
std::vector<std::string> take_variables(Scanner& in) {
  std::vector<std::string> variables;
  do {
    std::size_t const at = in.at();
    std::string const name(in.take_name());
    if (name.empty() || is_digit(name[0])) in.fail_here("expected the name of the variable");
    if (std::find(variables.begin(), variables.end(), name) != variables.end())
      in.fail("there are two variables of this name", at, name.size());
    if (variables.size() == 8) in.fail("more than 8 variables", at, name.size());
    variables.push_back(name);
  } while (in.take(","));
  return variables;
}

/// The shape behind a function of coordinates.
std::vector<std::int64_t> extents_of(Scanner& in, std::vector<std::string> const& variables) {
  std::size_t const at = in.at();
  IntTuple const shape = parse_extents(
      in, variables.size() == 1 ? "without a shape, fn(x) is compared on all 64-bit numbers" : "");
  if (shape.rank() != variables.size())
    in.fail("the function has " + std::to_string(variables.size()) + " variables, the shape " +
                std::to_string(shape.rank()) + " extents",
            at, in.at() - at);
  std::int64_t size = 1;
  for (std::int64_t const extent : shape.leaves())
    if ((size *= extent) > std::int64_t{1} << 40)
      in.fail("the shape has more than 2^40 elements", at, in.at() - at);
  return shape.leaves();
}

/// The variables in C's types, whose bounds the extents are.
std::vector<NamedExpression> coordinates(std::vector<std::string> const& variables,
                                         std::vector<std::int64_t> const& extents) {
  std::vector<NamedExpression> out;
  for (std::size_t i = 0; i < variables.size(); ++i)
    out.push_back(typed_variable(variables[i], i, 0, extents[i] - 1));
  return out;
}

}  // namespace

void flag(Scanner& in, Chain& chain, unsigned bits, std::size_t from) {
  auto& stages = chain.map.on_elements;
  if (chain.flagged || stages.size() != 1 || !std::holds_alternative<Swizzle>(stages[0]))
    in.fail("smem_ptr[..](unset) stands between one swizzle and a layout", from, in.at() - from);
  chain.flagged = true;
  chain.map.element_bits = bits;
  chain.map.on_bytes = std::exchange(stages, {});
  chain.places.clear();
}

// The whole text

/// Hint for a text behind a mapping.
static std::string hint_for_rest(Scanner& in, Mapping const* map) {
  if (map == nullptr) return {};
  if (in.at_number()) return "a shape has brackets: (64,64)";
  if (map->domain() != nullptr) return {};
  return in.looking_at("(") ? "a swizzle goes on a layout with an o: Sw<3,3,3> o (64,64):(64,1)" : "";
}

Value MappingParser::parse() {
  take_latex(in_);
  Value value;
  for (bool more = true; more;) {
    std::size_t const from = in_.at();
    std::string name = take_declaration();
    if (in_.done()) in_.fail_here("a layout is missing");
    if (take_definition(name) || views_.take_tiled(name)) continue;
    bool const typed = name.empty() && at_type();
    value = line();
    if (typed) name = take_declared_name(in_);
    more = in_.take(";") && !name.empty() && !in_.done();
    if (more) define(name, std::move(value), from);
  }
  auto* const map = std::get_if<Mapping>(&value);
  if (!in_.done() && (in_.at_new_line() || in_.looking_at(":")) && map != nullptr && map->domain() != nullptr)
    skip_table(in_, *map, is_tensor_);
  if (!in_.done()) in_.fail_here("unexpected text after the layout", hint_for_rest(in_, map));
  if (map != nullptr) finish(in_, options_, notes_, *map);
  return value;
}

Mapping MappingParser::parse_mapping() {
  std::size_t const from = in_.at();
  Value value = parse();
  if (auto* const map = std::get_if<Mapping>(&value)) return std::move(*map);
  std::size_t const length = in_.trimmed(from, in_.at()).size();
  if (auto const* tiler = std::get_if<Tiler>(&value)) {
    if (std::holds_alternative<Layout>(tiler->value))
      in_.fail("a coordinate map gives coordinates, not offsets in memory", from, length,
               "strides such as 1@0 name a coordinate; 'swizproof eval' prints them");
    in_.fail("this is " + to_string(*tiler) + ", not a layout", from, length, "'swizproof eval' prints it");
  }
  in_.fail("this is not a layout", from, length);
}

Swizzle MappingParser::parse_swizzle() {
  Swizzle const s = parts_.swizzle();
  if (!in_.done()) in_.fail_here("unexpected text after the swizzle");
  return s;
}

Value MappingParser::line() {
  in_.skip_namespaces();
  if (in_.looking_at("fn")) return function();
  if (at_tma(in_)) return parse_tma(in_, options_);
  if (at_operand_atom(in_)) return parse_operand_atom(in_, options_);
  if (in_.looking_at_name("ComposedLayout")) return composed_type();
  if (in_.looking_at_name("decltype")) return inside_decltype();
  if (auto known = defined()) return std::move(*known);
  if (in_.looking_at("desc:")) return parse_descriptor(in_, options_);
  if (in_.looking_at("#") || in_.looking_at("!") || at_gluon(in_)) return parse_triton(in_, options_);
  if (in_.looking_at("ArithTuple")) return coordinates(in_, layouts_);
  if (at_kernel_language(in_)) return parse_kernel_language(in_, options_);
  if (at_declaration(in_)) return parse_declaration(in_, layouts_, options_);
  if (auto part = views_.method_view()) return std::move(*part);
  refuse_tiled_mma(in_);
  if (looks_like_tiled_copy(in_.rest())) {
    TiledCopy const copy = parse_tiled_copy(in_.rest());
    in_.back_to(in_.text_size());
    if (copy.thread)
      notes_.push_back("this ThrCopy is thread " + std::to_string(*copy.thread) +
                       "; the layout is of all threads");
    if (copy.source_tv != copy.layout_s_tv)
      notes_.push_back(
          "the tile's index is counted in the order of Tiler_MN, as CuTe's get_layoutS_TV() does");
    return mapping(copy.layout_s_tv);
  }
  if (std::optional<Pointer> const bound = parts_.pointer()) return tensor(*bound);
  return composition();
}

/// fn(x) = expression, alone or on a layout; fn(row, col) = expression SHAPE.
Mapping MappingParser::function() {
  std::size_t const from = in_.at();
  (void)in_.take("fn");
  in_.expect("(", "after fn: fn(x) = expression");
  std::vector<std::string> const variables = take_variables(in_);
  in_.expect(")", variables.size() == 1 ? "after the variable" : "after the variables");
  std::size_t const after_variables = in_.at();
  (void)in_.take("=");  // fn(x) = {...} or fn(x) {...}
  bool const block = in_.take("{");
  if (!block) {
    in_.back_to(after_variables);
    in_.expect("=", "before the expression");
  }
  std::size_t const expression_at = in_.at();
  Expression expression = ExpressionParser(in_, variables).before_types().parse(block);
  if (block) in_.expect("}", "after the expression");
  if (variables.size() > 1 || in_.looking_at("(")) {
    if (!in_.looking_at("("))
      in_.fail_here(
          "a function of coordinates needs the shape behind it",
          "fn(row, col) = row*64 + (col ^ ((row & 7) << 3)) (64,64); one of the offset is fn(x) = ...");
    std::vector<std::int64_t> const extents = extents_of(in_, variables);
    std::size_t const end = in_.at();
    in_.back_to(expression_at);
    expression = ExpressionParser(in_, {}, coordinates(variables, extents)).parse_c(block).value;
    in_.back_to(end);
    return coordinate_function(expression, extents, std::string(in_.trimmed(from, end)));
  }
  std::size_t const end = in_.at();
  in_.back_to(expression_at);
  NamedExpression const x[] = {any_number(variables[0], 0)};
  expression = ExpressionParser(in_, {}, x).parse_c(block).value;
  in_.back_to(end);
  Mapping map;
  map.text = std::string(in_.trimmed(from, end));
  if (in_.looking_at_joint()) return function_on_layout(std::move(expression), map.text);
  (options_.element_bits ? map.on_elements : map.on_bytes).push_back(std::move(expression));
  return map;
}

/// fn(x) = expression o LAYOUT: x is what stands behind it, an element offset of a layout, or a byte address
/// of smem_ptr[16b](unset) o LAYOUT and of a layout whose swizzle acts on bytes.
Mapping MappingParser::function_on_layout(Expression expression, std::string const& text) {
  (void)in_.take_joint();
  std::size_t const from = in_.at();
  std::optional<unsigned> bits;
  std::string flag;
  if (in_.take("smem_ptr")) {
    bits = parts_.pointer_bits();
    expect_unset(in_);
    if (!in_.take_joint()) in_.fail_here("expected ' o ' and a layout after the pointer");
    flag = "smem_ptr[" + std::to_string(*bits) + "b](unset) o ";
  }
  Value value;
  if (at_tma(in_) || at_operand_atom(in_) || in_.looking_at("desc:") || in_.looking_at("#") ||
      in_.looking_at("!") || at_gluon(in_)) {
    value = line();
  } else {
    Chain chain;
    chain.bound = true;  // an offset may come first
    add_stage(chain);
    value = rest_of(std::move(chain));
  }
  auto* const map = std::get_if<Mapping>(&value);
  if (map == nullptr || map->domain() == nullptr)
    in_.fail("a function is put on a layout with a shape", from, in_.at() - from);
  if (bits && map->acts_on_bytes())
    in_.fail("a second flag: the layout's own swizzle acts on bytes already", from, in_.at() - from);
  map->text = text + " o " + flag + map->text;
  if (bits) map->element_bits = bits;
  auto& stages = bits || map->acts_on_bytes() ? map->on_bytes : map->on_elements;
  stages.insert(stages.begin(), std::move(expression));
  return std::move(*map);
}

// Compositions

/// f o offset o g o offset o ...; a call alone may also give an integer or a coordinate map.
Value MappingParser::composition() {
  Chain chain;
  if (at_call(in_)) {
    std::size_t const from = in_.at();
    Value value = call();
    if (!in_.looking_at_joint()) return value;
    add_value(chain, std::move(value), from);
  } else {
    add_stage(chain);
  }
  return rest_of(std::move(chain));
}

Value MappingParser::rest_of(Chain chain) {
  while (in_.take_joint())
    if (!take_flag(chain)) add_stage(chain);
  check_order(in_, chain);
  Mapping& map = chain.map;
  if (Layout const* layout = map.domain(); layout != nullptr && layout->stride.has_basis()) {
    if (map.on_elements.size() != 1 || chain.flagged || chain.bound)
      in_.fail("a coordinate map cannot be composed: its values are coordinates", chain.places.back(),
               in_.at() - chain.places.back());
    return Tiler{*layout};
  }
  map.text = to_string(map);
  return std::move(map);
}

void MappingParser::add_stage(Chain& chain) {
  bool const calls = at_call(in_);
  std::size_t const from = in_.at();
  if (calls) return add_value(chain, call(), from);
  std::vector<Stage>& stages = chain.map.on_elements;
  bool const shifted = !stages.empty() && std::holds_alternative<Displacement>(stages[0]);
  bool const may_be_offset =
      (stages.size() + (shifted ? 1 : 0)) % 2 == 1 || (stages.empty() && (chain.flagged || chain.bound));
  chain.places.push_back(from);
  if (parts_.at_swizzle()) {
    stages.emplace_back(parts_.swizzle());
    if (parts_.swizzle_bits()) chain.map.element_bits = parts_.swizzle_bits();
  } else if (in_.looking_at("M_")) {
    stages.emplace_back(parts_.mixed_bits());
  } else if (layouts_.at_layout_type()) {
    stages.emplace_back(layouts_.layout_type());
  } else {
    bool const named = in_.at_letter();
    if (named && !layouts_.at_named_number()) fail_at_name(in_);
    IntTuple shape = layouts_.shape();
    if (in_.take(":")) {
      stages.emplace_back(layouts_.layout(std::move(shape), from));
      return;
    }
    if (named && (!may_be_offset || shape.is_tuple))
      in_.fail("this is " + to_string(shape) + ", not a layout", from, in_.at() - from,
               "as the shape of a layout: make_layout(" + to_string(shape) +
                   "), and LayoutRight for rows that are contiguous");
    if (!may_be_offset || shape.is_tuple)
      in_.fail_here("expected ':' and the strides", "a layout is shape:stride, such as (8,64):(64,1)");
    stages.emplace_back(parts_.displacement(shape.value, shape.is_static, from));
  }
}

/// Adds the stages of a call's result, in place of one stage.
void MappingParser::add_value(Chain& chain, Value value, std::size_t from) {
  auto const* tiler = std::get_if<Tiler>(&value);
  auto const* result = std::get_if<Mapping>(&value);
  if (tiler != nullptr && std::holds_alternative<Layout>(tiler->value)) {
    chain.map.on_elements.emplace_back(std::get<Layout>(tiler->value));
    chain.places.push_back(from);
    return;
  }
  if (result == nullptr) in_.fail("expected a layout or swizzle here", from, in_.at() - from);
  if (!result->on_bytes.empty()) {
    if (!chain.places.empty() || chain.flagged || chain.bound)
      in_.fail("a swizzle that acts on bytes can only come first", from, in_.at() - from);
    chain.flagged = true;
    chain.map.on_bytes = result->on_bytes;
    chain.map.element_bits = result->element_bits;
  }
  for (Stage const& stage : result->on_elements) {
    chain.map.on_elements.push_back(stage);
    chain.places.push_back(from);
  }
}

/// smem_ptr[16b](unset), and the spelling of CUTLASS 3.0 to 3.2: smem_ptr_16b(unset).
bool MappingParser::take_flag(Chain& chain) {
  std::size_t const from = in_.at();
  if (in_.looking_at("smem_sparse")) in_.fail_here("sparse pointers are not supported");
  if (!in_.take("smem_ptr")) return false;
  unsigned const bits = parts_.pointer_bits();
  expect_unset(in_);
  flag(in_, chain, bits, from);
  return true;
}

// Calls

/// name<numbers>(arguments).
Value MappingParser::call() {
  if (is_view(in_.peek_name())) return views_.view();
  Nesting const nesting(in_, depth_);
  std::size_t const from = in_.at();
  Call call;
  call.name = in_.take_name();
  std::optional<Order> major;
  if (call.name == "Layout") {
    call.name = "make_layout";
    if (in_.take(".")) major = mojo_order(in_);
  } else if (call.name == "slice_") {
    call.name = "slice";
  }
  call.numbers = numbers(in_, call.name);
  in_.expect("(", "of the arguments of " + std::string(call.name));
  bool const outside = layouts_.reads_all_static();
  (void)layouts_.read_all_static(outside || !options_.keep_dynamic);
  do {
    if (!call.arguments.empty() && take_modes(in_, call)) continue;
    take_keyword(in_, call.name, call.arguments.size());
    call.arguments.push_back(argument());
  } while (in_.take_comma(')'));
  (void)layouts_.read_all_static(outside);
  in_.expect(")", "or ',' after an argument of " + std::string(call.name));
  if (major) {
    std::vector<Tiler> modes;
    for (Argument& extent : call.arguments)
      if (auto* const tiler = std::get_if<Tiler>(&extent.value)) modes.push_back(std::move(*tiler));
    if (modes.size() != call.arguments.size())
      in_.fail("extents are numbers, and this is a layout", from, in_.at() - from);
    call.arguments = {{Tiler{std::move(modes)}, from, 0}, {*major, from, 0}};
  }
  calls_algebra_ = true;
  try {
    return evaluate(call, notes_);
  } catch (AlgebraError const& error) {
    in_.fail(std::string(call.name) + ": " + error.what(), from, in_.at() - from);
  }
}

/// A word inside a tiler.
Tiler MappingParser::call_in_tiler() {
  std::size_t const from = in_.at();
  if (!at_call(in_)) {
    std::vector<std::string> const known = algebra_names();
    std::string const hint = did_you_mean(in_.peek_name(), known);
    if (hint.empty()) layouts_.fail_at_name();
    in_.fail_here("expected a layout, an integer or _", hint);
  }
  Value value = call();
  if (auto* const tiler = std::get_if<Tiler>(&value)) return std::move(*tiler);
  auto const* map = std::get_if<Mapping>(&value);
  Layout const* layout = map != nullptr ? plain_layout(*map) : nullptr;
  if (layout == nullptr) in_.fail("a tiler holds layouts without a swizzle", from, in_.at() - from);
  return {*layout};
}

/// A layout in any form, a shape, a tiler, an integer, LayoutLeft or LayoutRight.
Argument MappingParser::argument() {
  std::size_t const from = in_.at();
  auto const here = [&](Value value) { return Argument{std::move(value), from, in_.at() - from}; };
  if (auto const order = layouts_.order()) return here(*order);
  if (in_.looking_at("fn")) in_.fail_here("a function fn cannot be an argument");
  if (at_tma(in_)) {
    Mapping map = parse_tma(in_, options_);
    if (map.domain() == nullptr)
      in_.fail("a TMA mode without a box maps byte addresses, and the algebra acts on elements", from,
               in_.at() - from, "with an element type and a box it has a layout: tma:128B<f16> (8,64)");
    return here(std::move(map));
  }
  if (at_operand_atom(in_)) return here(parse_operand_atom(in_, options_));
  if (in_.looking_at("desc:")) return here(parse_descriptor(in_, options_));
  if (in_.looking_at("#") || in_.looking_at("!") || at_gluon(in_)) return here(parse_triton(in_, options_));
  if (at_kernel_language(in_)) return here(parse_kernel_language(in_, options_));
  if (in_.looking_at_name("ComposedLayout")) return here(composed_type());
  if (in_.looking_at_name("decltype")) return here(inside_decltype());
  if (auto known = defined()) return here(std::move(*known));
  if (parts_.at_swizzle() || at_call(in_) || in_.looking_at("M_")) return here(composition());
  if (in_.at_letter() && !layouts_.at_named_number() && !layouts_.at_layout_type()) {
    std::string const hint = did_you_mean(in_.peek_name(), algebra_names());
    std::size_t const at = in_.at();
    std::string_view const name = in_.take_name();
    if (!hint.empty()) in_.fail("unknown name '" + std::string(name) + "'", at, name.size(), hint);
    in_.back_to(at);
    fail_at_name(in_);
  }
  Tiler tiler = layouts_.tiler();
  if (!in_.looking_at_joint()) return here(std::move(tiler));
  in_.back_to(from);
  return here(composition());
}

// The interface

namespace {

/// A text without the marks of static integers: `(_8,_64):(_64,_1)` is `(8,64):(64,1)`.
std::string without_marks(std::string text) {
  std::erase(text, '_');
  return text;
}

/// True if two maps with shapes are one function of the index; nothing beyond 2^20 indices times modes.
std::optional<bool> same_function(Mapping const& a, Mapping const& b) {
  if (a.domain() == nullptr || b.domain() == nullptr || a.domain()->size() != b.domain()->size())
    return false;
  auto const size = static_cast<std::uint64_t>(a.domain()->size());
  auto const modes = static_cast<std::uint64_t>(std::count(a.text.begin(), a.text.end(), ',')) + 1;
  if (size > (std::uint64_t{1} << 20) / modes) return std::nullopt;
  for (std::uint64_t i = 0; i < size; ++i)
    if (offset(a, i).elements != offset(b, i).elements) return false;
  return to_string(Map{{}, a.on_bytes}) == to_string(Map{{}, b.on_bytes});
}

std::string text_of(Value const& value) {
  if (auto const* map = std::get_if<Mapping>(&value)) return map->text;
  auto const* tiler = std::get_if<Tiler>(&value);
  return tiler != nullptr ? to_string(*tiler) : std::string();
}

/// A note with both results if CuTe's result differs for integers that are known only at run time; nothing if it is the same.
std::optional<std::string> note_of_run_time(std::string_view text, MappingOptions options,
                                            Value const& fixed) {
  options.keep_dynamic = true;
  std::string const start = std::string(run_time_note) + "known at run time alone, ";
  constexpr std::ptrdiff_t most_commas =
      1024;  // CuTe's functions take time that grows with the square of the modes
  if (std::count(text.begin(), text.end(), ',') > most_commas)
    return start + "CuTe's result was not computed: the text has more than 1024 commas";
  try {
    Value const dynamic = MappingParser(text, options).parse();
    std::string const theirs = text_of(dynamic), ours = text_of(fixed);
    if (without_marks(theirs) == without_marks(ours)) return std::nullopt;
    auto const *a = std::get_if<Mapping>(&fixed), *b = std::get_if<Mapping>(&dynamic);
    if (b != nullptr)
      for (std::string const& note : b->notes)
        if (note.starts_with("CuTe prints") &&
            (a == nullptr || !std::count(a->notes.begin(), a->notes.end(), note)))
          return start + note;
    std::optional<bool> const same =
        a != nullptr && b != nullptr ? same_function(*a, *b) : std::optional<bool>();
    return start + "CuTe's result is " + theirs + ", not " + ours +
           (!same   ? ""
            : *same ? ": the same function"
                    : ": another function");
  } catch (InputError const& error) {
    return start + "this is refused: " + error.message;
  }
}

}  // namespace

Mapping parse_mapping(std::string_view text, MappingOptions const& options) {
  MappingParser parser(text, options);
  Mapping map = parser.parse_mapping();
  if (parser.calls_algebra() && !options.keep_dynamic)
    if (auto note = note_of_run_time(text, options, map)) map.notes.push_back(*std::move(note));
  return map;
}

Evaluated parse_value(std::string_view text, MappingOptions const& options, std::vector<std::string>* notes) {
  MappingParser parser(text, options);
  Value value = parser.parse();
  std::optional<std::string> run_time;
  if (parser.calls_algebra() && !options.keep_dynamic) run_time = note_of_run_time(text, options, value);
  if (notes != nullptr && !std::holds_alternative<Mapping>(value)) {
    *notes = parser.notes();
    if (run_time) notes->push_back(*run_time);
  }
  if (auto* const map = std::get_if<Mapping>(&value)) {
    if (run_time) map->notes.push_back(*run_time);
    return std::move(*map);
  }
  if (auto* const tiler = std::get_if<Tiler>(&value)) {
    if (auto* const layout = std::get_if<Layout>(&tiler->value)) {
      if (layout->stride.has_basis()) return std::move(*layout);
      return mapping(std::move(*layout));
    }
    if (auto const integer = integers(*tiler)) return *integer;
  }
  throw InputError::whole("this is not a layout", std::string(text));
}

std::uint64_t parse_number(std::string const& text, std::size_t from, std::size_t to,
                           std::string const& wanted) {
  bool const hex = text.compare(from, 2, "0x") == 0;
  char const* const last = text.data() + to;
  std::uint64_t value = 0;
  auto const [stop, error] =
      std::from_chars(std::min(text.data() + from + (hex ? 2 : 0), last), last, value, hex ? 16 : 10);
  if (error != std::errc{} || stop != last)
    throw InputError{wanted, text, from, std::max<std::size_t>(to - from, 1), {}};
  return value;
}

Swizzle parse_swizzle(std::string_view text) { return MappingParser(text, {}).parse_swizzle(); }

Element parse_element_type(std::string_view text) {
  if (ElementType const* const type = element_type(text)) return {std::string(type->name), type->bits};
  // 16b, and as PTX names bits without a type: b16
  std::string_view const digits = text.starts_with('b') ? text.substr(1) : text.substr(0, text.find('b'));
  unsigned bits = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error == std::errc{} && end == digits.data() + digits.size() && digits.size() + 1 == text.size() &&
      std::has_single_bit(bits) && bits <= 128)
    return {std::to_string(bits) + "b", bits};
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_digit))
    throw InputError::whole(
        "unknown element type", std::string(text),
        "a size is written in bits with a b behind them, 16b, and elements of 2 bytes are 16b");
  std::string_view const plain = plain_element_name(text);
  if (plain.find("e2m3") != plain.npos || plain.find("e3m2") != plain.npos || text == "6b")
    throw InputError::whole(
        "elements of 6 bits have no address of their own", std::string(text),
        "shared memory holds 16 of them in 16 bytes, the last 4 padding: give the tile in bytes, "
        "as u8");
  std::vector<std::string> known;
  for (ElementType const& type : element_types) {
    known.emplace_back(type.name);
    for (std::string_view rest = type.aliases; !rest.empty();) {
      std::size_t const comma = std::min(rest.find(','), rest.size());
      known.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  throw InputError::whole(
      "unknown element type", std::string(text),
      did_you_mean_of(
          plain, known,
          "known: f64 f32 tf32 f16 bf16 fp8 e4m3 e5m2 fp4 e2m1 i64 .. i4 (or s) u64 .. u4, as C, CUDA, "
          "CUTLASS, Triton and PyTorch write them too, or Nb with N a power of two up to 128"));
}

unsigned parse_element(std::string_view text) { return parse_element_type(text).bits; }

}  // namespace swizproof
