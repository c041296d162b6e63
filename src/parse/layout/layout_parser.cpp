#include "parse/layout/mapping_parser.hpp"

#include <limits>

namespace swizproof {

IntTuple LayoutParser::shape() { return tuple(false, 0); }
IntTuple LayoutParser::strides() { return tuple(true, 0); }

char LayoutParser::take_opening() {
  in_.skip_namespaces();
  if (in_.take("(")) return ')';
  if (!in_.at_letter()) return 0;
  static constexpr std::string_view types[] = {"Shape", "Stride", "Step", "Coord", "Tile", "Tiler", "tuple"};
  static constexpr std::string_view functions[] = {"make_shape", "make_stride", "make_step", "make_coord",
                                                   "make_tile",  "make_tuple",  "IntTuple"};
  std::size_t const from = in_.at();
  std::string_view const name = in_.take_name();
  auto const one_of = [&](auto const& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  if (one_of(types) && in_.take("<")) return '>';
  if (one_of(functions) && in_.take("(")) return ')';
  in_.back_to(from);
  return 0;
}

namespace {

/// Marks the text between < and > of a type, as long as it lives.
class Angles {
 public:
  Angles(bool& now, bool here) : now_(now), before_(std::exchange(now, here)) {}
  Angles(Angles const&) = delete;
  Angles& operator=(Angles const&) = delete;
  ~Angles() { now_ = before_; }

 private:
  bool& now_;
  bool before_;
};

}  // namespace

void LayoutParser::expand(std::size_t letters, std::size_t from) {
  constexpr std::size_t most = 1 << 16;
  expanded_ += letters;
  if (expanded_ > most) in_.fail("the definitions become longer than 64 KiB", from, in_.at() - from);
}

bool LayoutParser::at_named_tuple() {
  std::size_t const from = in_.at();
  bool const applied = order_name() && in_.looking_at("::Apply");
  in_.back_to(from);
  return applied || (in_.at_letter() && tuples_.contains(in_.peek_name()));
}

std::optional<IntTuple> LayoutParser::named_tuple() {
  if (!at_named_tuple()) return std::nullopt;
  std::size_t const from = in_.at();
  std::optional<Order> const major = order_name();
  if (!major) {
    IntTuple const& known = tuples_.find(in_.take_name())->second;
    in_.skip_braces();
    expand(to_string(known).size(), from);
    return known;
  }
  (void)in_.take("::Apply");
  in_.expect("<", "and the shape whose strides these are");
  IntTuple const extents = shape();
  in_.expect(">", "after the shape");
  in_.skip_braces();
  try {
    return make_layout(extents, *major).stride;
  } catch (AlgebraError const& error) {
    in_.fail(error.what(), from, in_.at() - from);
  }
}

IntTuple LayoutParser::tuple(bool strides, int depth) {
  Nesting const nesting(in_, depth_);
  std::size_t const from = in_.at();
  if (std::optional<IntTuple> named = named_tuple()) return std::move(*named);
  char const closing = take_opening();
  if (closing == 0) return leaf(strides, depth != 0);
  std::string const close(1, closing);
  std::vector<IntTuple> modes;
  {
    Angles const angles(in_angles_, closing == '>');
    if (!in_.looking_at(close)) do
        modes.push_back(tuple(strides, depth + 1));
      while (in_.take_comma(closing));
    in_.expect(close, "or ',' in the tuple");
  }
  if (closing == '>') in_.skip_braces();
  if (depth != 0 && closing == ')' && modes.size() == 1 && !modes[0].is_tuple && at_operator()) {  // (3+5)*2
    in_.back_to(from);
    return {shift(), true};
  }
  return IntTuple(std::move(modes));
}

bool LayoutParser::at_named_number() {
  if (at_constant() || at_named_tuple()) return true;
  std::size_t const from = in_.at();
  bool const tuple = take_opening() != 0;
  in_.back_to(from);
  if (tuple) return true;
  in_.skip_namespaces();
  std::string_view const name = in_.take_name();
  static constexpr std::string_view numbers[] = {"Int", "C", "integral_constant", "constant", "Constant",
                                                 "E",   "X", "Underscore",        "None"};
  bool const number = std::find(std::begin(numbers), std::end(numbers), name) != std::end(numbers) &&
                      (in_.looking_at("<") || name == "X" || name == "Underscore" || name == "None");
  in_.back_to(from);
  return number;
}

std::optional<IntTuple> LayoutParser::named_integer(bool strides) {
  Nesting const nesting(in_, depth_);
  in_.skip_namespaces();
  if (!in_.at_letter()) return std::nullopt;
  std::size_t const from = in_.at();
  std::string_view const name = in_.take_name();
  bool const typed = name == "integral_constant" || name == "constant" || name == "Constant";
  bool const basis = strides && name == "E";
  if ((!typed && !basis && name != "Int" && name != "C") || !in_.take("<")) {
    in_.back_to(from);
    return std::nullopt;
  }
  if (typed && in_.at_letter()) {
    (void)in_.take_type_name();
    in_.expect(",", "after the constant's type");
  }
  std::vector<std::int64_t> numbers;
  {
    Angles const angles(in_angles_, true);
    do numbers.push_back(constant());
    while (basis && in_.take(","));
  }
  in_.expect(">", "after the number");
  in_.skip_braces();
  if (!basis) return IntTuple(numbers[0], true);
  IntTuple leaf(1, true);
  for (std::int64_t const mode : numbers) {
    if (mode < 0 || mode > 63) in_.fail("coordinates are numbered from 0 to 63", from, in_.at() - from);
    leaf.basis.push_back(static_cast<int>(mode));
  }
  if (leaf.basis.size() > 16) in_.fail("a stride with more than 16 coordinates", from, in_.at() - from);
  return leaf;
}

bool LayoutParser::at_constant() {
  std::size_t const from = in_.at();
  in_.skip_namespaces();
  if (!in_.at_letter()) return false;
  std::string_view const name = in_.take_name();
  static constexpr std::string_view functions[] = {"sizeof",   "sizeof_bits", "sizeof_bits_v",
                                                   "ceil_div", "max",         "min"};
  bool const called = std::find(std::begin(functions), std::end(functions), name) != std::end(functions) &&
                      (in_.looking_at("(") || in_.looking_at("<"));
  in_.back_to(from);
  return called || name == "true" || name == "false" || constants_.contains(name);
}

std::int64_t LayoutParser::factor() {
  Nesting const nesting(in_, depth_);
  if (in_.take("(")) {
    Angles const angles(in_angles_, false);
    std::int64_t const inner = shift();
    in_.expect(")", "to close the parenthesis");
    return inner;
  }
  if (!in_.at_letter()) {
    (void)in_.take("_");
    std::int64_t const value = in_.take_integer("a number");
    if (in_.looking_at("{")) in_.skip_braces();
    return value;
  }
  if (auto const named = named_integer(false)) return named->value;
  if (auto const called = function_of_numbers()) return *called;
  if (in_.take_word("true")) return 1;
  if (in_.take_word("false")) return 0;
  auto const known = constants_.find(in_.peek_name());
  if (known == constants_.end()) fail_at_name();
  (void)in_.take_name();
  if (in_.looking_at("{")) in_.skip_braces();
  return known->second;
}

/// `sizeof(half_t)`, `sizeof_bits<half_t>::value`, `ceil_div(a, b)`, `max(a, b)`, `min(a, b)`. Nothing where none comes next.
std::optional<std::int64_t> LayoutParser::function_of_numbers() {
  std::size_t const from = in_.at();
  in_.skip_namespaces();
  std::string_view const name = in_.take_name();
  bool const in_bits = name == "sizeof_bits" || name == "sizeof_bits_v";
  bool const two = name == "ceil_div" || name == "max" || name == "min";
  if ((!in_bits && !two && name != "sizeof") || !in_.take(in_bits ? "<" : "(")) {
    in_.back_to(from);
    return std::nullopt;
  }
  if (!two) {
    unsigned const bits = parse_element_here(in_).bits;
    in_.expect(in_bits ? ">" : ")", "after the type");
    (void)in_.take("::value");
    if (in_bits || bits % 8 == 0) return in_bits ? bits : bits / 8;
    in_.fail("an element of " + std::to_string(bits) + " bits has no whole bytes", from, in_.at() - from);
  }
  Angles const angles(in_angles_, false);
  std::int64_t const a = constant();
  in_.expect(",", "between the two numbers");
  std::int64_t const b = constant();
  in_.expect(")", "after the two numbers");
  if (name == "ceil_div" && (a < 0 || b < 1))
    in_.fail("ceil_div takes a number and a divisor of 1 or more", from, in_.at() - from);
  return name == "max" ? std::max(a, b) : name == "min" ? std::min(a, b) : a / b + (a % b != 0 ? 1 : 0);
}

std::int64_t LayoutParser::product() {
  std::size_t const from = in_.at();
  std::int64_t value = factor();
  for (char op = in_.peek(); op == '*' || op == '/' || op == '%'; op = in_.peek()) {
    (void)in_.take(std::string_view(&op, 1));
    std::int64_t const right = factor();
    if (op == '*') {
      if (__builtin_mul_overflow(value, right, &value))
        in_.fail("this number needs more than 63 bits", from, in_.at() - from);
    } else {
      if (right < 1) in_.fail("a divisor is 1 or more here", from, in_.at() - from);
      value = op == '/' ? value / right : value % right;
    }
  }
  return value;
}

std::int64_t LayoutParser::sum() {
  std::size_t const from = in_.at();
  std::int64_t value = product();
  for (char op = in_.peek(); op == '+' || op == '-'; op = in_.peek()) {
    (void)in_.take(std::string_view(&op, 1));
    std::int64_t const right = product();
    bool const lost = op == '+' ? __builtin_add_overflow(value, right, &value)
                                : __builtin_sub_overflow(value, right, &value);
    if (lost) in_.fail("this number needs more than 63 bits", from, in_.at() - from);
  }
  return value;
}

/// `a == b ? x : y`, and `!=`, `<`, `<=`, `>`, `>=`: what chooses between the extents of two tiles.
std::int64_t LayoutParser::constant() {
  std::int64_t value = shift();
  static constexpr std::string_view comparisons[] = {"==", "!=", "<=", ">=", "<", ">"};
  auto const* const found = std::find_if(
      std::begin(comparisons), std::end(comparisons),
      [&](std::string_view token) { return (token[0] != '>' || !in_angles_) && in_.looking_at(token); });
  if (found != std::end(comparisons)) {
    (void)in_.take(*found);
    std::int64_t const right = shift();
    bool const equal = value == right, less = value < right, or_equal = found->size() == 2;
    char const kind = (*found)[0];
    value = (kind == '='   ? equal
             : kind == '!' ? !equal
             : kind == '<' ? less || (or_equal && equal)
                           : !less && (or_equal || !equal))
                ? 1
                : 0;
  }
  if (!in_.take("?")) return value;
  std::int64_t const yes = constant();
  in_.expect(":", "of the conditional");
  std::int64_t const no = constant();
  return value != 0 ? yes : no;
}

std::int64_t LayoutParser::constant_in_angles() {
  Angles const angles(in_angles_, true);
  return constant();
}

/// `>>` closes two templates in the arguments of one.
std::int64_t LayoutParser::shift() {
  std::size_t const from = in_.at();
  std::int64_t value = sum();
  while (in_.looking_at("<<") || (!in_angles_ && in_.looking_at(">>"))) {
    bool const left = in_.take("<<");
    if (!left) (void)in_.take(">>");
    std::int64_t const by = sum();
    if (value < 0 || by < 0 || by > 62)
      in_.fail("numbers are shifted by 0 to 62 bits", from, in_.at() - from);
    if (left && value >> (62 - by) > 1)
      in_.fail("this number needs more than 63 bits", from, in_.at() - from);
    value = left ? value << by : value >> by;
  }
  return value;
}

std::string formula_hint(Scanner const& in, std::string_view name) {
  if (std::size_t const arrow = in.text().find("->"); arrow != std::string_view::npos)
    return "a formula names its variables and the shape: fn(row, col) = row*64 + col (64,64)";
  if (name != "row" && name != "col") return {};
  return "a formula names its variables and the shape: fn(row, col) = " + std::string(in.text()) + " (64,64)";
}

void LayoutParser::fail_at_name() {
  std::size_t const from = in_.at();
  std::string const name(in_.take_name());
  std::string const formula = formula_hint(in_, name);
  bool const type = name == "int" || name == "size_t" || name == "int64_t" || name == "int32_t" ||
                    name == "uint32_t" || name == "unsigned";
  in_.fail(type ? "an extent of type " + name + " is known at run time alone, and a number is needed"
                : "'" + name + "' is a name, and a number is needed",
           from, name.size(),
           !formula.empty()
               ? formula
               : "what is proved holds for one layout: write the number that stands for it, such as "
                 "128 or _128, and ask once for each");
}

/// Before an operator of the arithmetic, on the same line. `>` closes a template's arguments.
bool LayoutParser::at_operator() {
  return !in_.done() && !in_.at_new_line() &&
         (std::string_view("+-*/%").find(in_.peek()) != std::string_view::npos || in_.looking_at("<<") ||
          (!in_angles_ && in_.looking_at(">>")));
}

/// `_8`, `8`; among strides also `5@1@0`, outermost coordinate last, or `0:1:5`, outermost first.
IntTuple LayoutParser::leaf(bool strides, bool inside) {
  auto const coordinate = [&] {
    std::size_t const at = in_.at();
    std::int64_t const mode = in_.take_integer("the number of a coordinate");
    if (mode < 0 || mode > 63) in_.fail("coordinates are numbered from 0 to 63", at, in_.at() - at);
    return static_cast<int>(mode);
  };
  std::size_t const from = in_.at();
  if (auto named = named_integer(strides)) {
    if (!named->basis.empty() || !at_operator()) return std::move(*named);
    in_.back_to(from);
    return {shift(), true};
  }
  if (at_constant()) {
    IntTuple constant_of(constant(), true);
    in_.skip_braces();
    return constant_of;
  }
  if (in_.at_letter()) fail_at_name();
  std::vector<int> basis;
  while (strides && inside && in_.looking_at_old_basis()) {
    basis.push_back(coordinate());
    (void)in_.take(":");
  }
  bool const fixed = in_.take("_");
  if (fixed && !in_.at_number()) in_.fail_here("a bare _ is not a number");
  IntTuple leaf(in_.take_integer("an integer or a tuple"), fixed || all_static_);
  if (in_.looking_at("{")) in_.skip_braces();
  if (at_operator()) {
    in_.back_to(from);
    return {shift(), true};
  }
  if (!strides && in_.looking_at("@")) in_.fail_here("an extent has no coordinate: 1@0 is a stride");
  while (in_.take("@")) basis.insert(basis.begin(), coordinate());
  if (basis.size() > 16) in_.fail_here("a stride with more than 16 coordinates");
  leaf.basis = std::move(basis);
  return leaf;
}

Layout LayoutParser::layout(IntTuple shape, std::size_t from) {
  std::size_t const at = in_.at();
  IntTuple stride = strides();
  if (!congruent(shape, stride))
    in_.fail("the strides must have the shape's nesting", at, in_.at() - at,
             "the shape is " + to_string(shape));
  Layout layout{std::move(shape), std::move(stride)};
  check(layout, from, at);
  return layout;
}

bool LayoutParser::at_layout_type() {
  in_.skip_namespaces();
  std::size_t const from = in_.at();
  bool const found = in_.take_word("Layout") && in_.looking_at("<");
  in_.back_to(from);
  return found;
}

Layout LayoutParser::layout_type() {
  in_.skip_namespaces();
  std::size_t const from = in_.at();
  (void)in_.take_word("Layout");
  in_.expect("<", "of the layout's type");
  Angles const angles(in_angles_, true);
  IntTuple extents = shape();
  bool const has_strides = in_.take(",");
  std::optional<Order> const major = has_strides ? order() : Order::left;
  Layout result;
  if (major) {
    try {
      result = make_layout(extents, *major);
    } catch (AlgebraError const& error) {
      in_.fail(error.what(), from, in_.at() - from);
    }
    check(result, from, from);
  } else {
    result = layout(std::move(extents), from);
  }
  in_.expect(">", has_strides ? "of the layout's type" : "or ',' and the strides of the layout's type");
  in_.skip_braces();
  return result;
}

std::optional<Order> LayoutParser::order_name() {
  in_.skip_namespaces();
  if (in_.take_word("LayoutLeft") || in_.take_word("GenColMajor")) return Order::left;
  if (in_.take_word("LayoutRight") || in_.take_word("GenRowMajor")) return Order::right;
  return std::nullopt;
}

std::optional<Order> LayoutParser::order() {
  std::size_t const from = in_.at();
  std::optional<Order> const major = order_name();
  if (major && in_.looking_at("::")) {
    in_.back_to(from);
    return std::nullopt;
  }
  if (major) in_.skip_braces();
  return major;
}

Layout LayoutParser::layout() {
  if (at_layout_type()) return layout_type();
  std::size_t const from = in_.at();
  IntTuple extents = shape();
  if (!in_.take(":"))
    in_.fail_here("expected ':' and the strides", "a layout is shape:stride, such as (8,64):(64,1)");
  return layout(std::move(extents), from);
}

Tiler LayoutParser::tiler() {
  Nesting const nesting(in_, depth_);
  if (std::optional<IntTuple> const named = named_tuple()) return swizproof::tiler(*named);
  std::size_t const from = in_.at();
  Tiler result;
  if (char const closing = take_opening(); closing != 0) {
    std::string const close(1, closing);
    std::vector<Tiler> modes;
    {
      Angles const angles(in_angles_, closing == '>');
      if (!in_.looking_at(close)) do
          modes.push_back(tiler());
        while (in_.take_comma(closing));
      in_.expect(close, "or ',' in the tuple");
    }
    if (closing == '>') in_.skip_braces();
    auto const* const only =
        depth_ > 1 && modes.size() == 1 && closing == ')' ? std::get_if<IntTuple>(&modes[0].value) : nullptr;
    if (only != nullptr && !only->is_tuple && at_operator()) {  // (3+5)*2
      in_.back_to(from);
      return {IntTuple(shift(), true)};
    }
    result.value = std::move(modes);
  } else if (in_.looking_at_underscore() || in_.looking_at_name("X") || in_.looking_at_name("Underscore") ||
             in_.looking_at_name("None")) {
    (void)in_.take_name();
    if (in_.looking_at("{")) in_.skip_braces();
    return {Underscore{}};
  } else if (at_layout_type()) {
    return {layout_type()};
  } else if (named_ && in_.at_letter() && !at_named_number()) {
    return named_();
  } else {
    result.value = leaf(false, false);
  }
  if (!in_.looking_at(":")) return result;
  // Only now it is known to be a shape, which is stricter than a tiler.
  in_.back_to(from);
  return {layout()};
}

Defect defect(Layout const& layout) {
  auto const extents = layout.shape.leaves(), strides = layout.stride.leaves();
  std::int64_t size = 1, reach = 1;
  for (std::int64_t const extent : extents) {
    if (extent < 1) return Defect::extent;
    if (__builtin_mul_overflow(size, extent, &size) || size > (std::int64_t{1} << 62)) return Defect::size;
  }
  for (std::size_t i = 0; i < extents.size(); ++i) {
    std::int64_t step = 0;
    bool const lost = strides[i] == std::numeric_limits<std::int64_t>::min() ||
                      __builtin_mul_overflow(extents[i] - 1, std::abs(strides[i]), &step) ||
                      __builtin_add_overflow(reach, step, &reach) || reach > (std::int64_t{1} << 56);
    if (lost) return Defect::reach;
  }
  return Defect::none;
}

std::string_view explain(Defect defect) {
  switch (defect) {
    case Defect::extent:
      return "extents must be 1 or more";
    case Defect::size:
      return "the shape has more than 2^62 elements";
    case Defect::reach:
      return "the layout reaches further than 2^56 elements";
    case Defect::none:
      break;
  }
  return "valid";
}

void LayoutParser::check(Layout const& layout, std::size_t from, std::size_t stride_from) const {
  Defect const found = defect(layout);
  if (found == Defect::none) return;
  std::size_t const at = found == Defect::reach ? stride_from : from;
  std::size_t const length = found == Defect::extent ? to_string(layout.shape).size() : in_.at() - at;
  in_.fail(std::string(explain(found)), at, length);
}

}  // namespace swizproof
