#include <swizproof/parse.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

namespace swizproof {

namespace {

constexpr int deepest_nesting = 200;
constexpr std::size_t longest_text = 1 << 20;
constexpr std::size_t most_operations = 1000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

/// A text and a place in it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text.size() > longest_text)
      throw InputError{"the text is longer than 1 MiB", std::string(text.substr(0, 60)), 0, 1, {}};
  }

  [[noreturn]] void fail(std::string message, std::size_t at, std::size_t length = 1,
                         std::string hint = {}) const {
    throw InputError{std::move(message), std::string(text_), at, std::max<std::size_t>(length, 1),
                     std::move(hint)};
  }
  [[noreturn]] void fail_here(std::string message, std::string hint = {}) {
    skip_space();
    fail(std::move(message), at_, word_length(), std::move(hint));
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  [[nodiscard]] std::size_t at() {
    skip_space();
    return at_;
  }
  void back_to(std::size_t at) { at_ = at; }
  [[nodiscard]] bool done() { return at() == text_.size(); }
  [[nodiscard]] char peek() { return done() ? '\0' : text_[at_]; }
  [[nodiscard]] bool looking_at(std::string_view token) { return text_.substr(at()).starts_with(token); }
  /// Passes `token` if it comes next.
  [[nodiscard]] bool take(std::string_view token) {
    if (!looking_at(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token, std::string_view where) {
    if (!take(token)) fail_here("expected '" + std::string(token) + "' " + std::string(where));
  }
  /// Passes the o that joins two functions.
  [[nodiscard]] bool take_joint() {
    if (!looking_at("o") || (at_ + 1 < text_.size() && !is_space(text_[at_ + 1]))) return false;
    ++at_;
    return true;
  }
  /// Passes a name: letters, digits and _.
  [[nodiscard]] std::string_view take_name() {
    std::size_t const from = at();
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  [[nodiscard]] bool at_number() {
    std::size_t const from = at();
    std::size_t const sign = from < text_.size() && text_[from] == '-' ? 1 : 0;
    return from + sign < text_.size() && is_digit(text_[from + sign]);
  }
  /// A decimal integer with an optional sign, of at most 63 bits.
  [[nodiscard]] std::int64_t take_integer(std::string_view what) {
    std::size_t const from = at();
    std::int64_t value = 0;
    if (!at_number()) fail_here("expected " + std::string(what));
    auto const [end, error] = std::from_chars(text_.data() + from, text_.data() + text_.size(), value);
    at_ = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc{}) fail("this number needs more than 63 bits", from, at_ - from);
    return value;
  }
  /// A C literal: decimal, 0x hexadecimal, 0b binary or 0 octal, with u, l suffixes.
  [[nodiscard]] std::uint64_t take_literal() {
    std::size_t const from = at();
    int base = 10;
    if (take("0x") || take("0X"))
      base = 16;
    else if (take("0b") || take("0B"))
      base = 2;
    else if (peek() == '0' && from + 1 < text_.size() && is_digit(text_[from + 1]))
      base = 8;
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value, base);
    at_ = static_cast<std::size_t>(end - text_.data());
    if (error == std::errc::result_out_of_range)
      fail("this number needs more than 64 bits", from, at_ - from);
    if (error != std::errc{}) fail("expected digits", at_);
    while (at_ < text_.size() &&
           (text_[at_] == 'u' || text_[at_] == 'U' || text_[at_] == 'l' || text_[at_] == 'L'))
      ++at_;
    if (at_ < text_.size() && is_name(text_[at_])) fail("this is not a number", from, at_ + 1 - from);
    return value;
  }
  [[nodiscard]] std::string_view text(std::size_t from, std::size_t to) const {
    return text_.substr(from, to - from);
  }

 private:
  [[nodiscard]] std::size_t word_length() const {
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    return end - at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Counts nesting; deeper than any real text is refused before the stack is at risk.
class Nesting {
 public:
  Nesting(Scanner& in, int& depth) : depth_(depth) {
    if (++depth_ > deepest_nesting) in.fail_here("nested more than 200 deep");
  }
  Nesting(Nesting const&) = delete;
  Nesting& operator=(Nesting const&) = delete;
  ~Nesting() { --depth_; }

 private:
  int& depth_;
};

// ---------------------------------------------------------------------------------- expressions

/// Precedence climbing over C's binary operators.
class ExpressionParser {
 public:
  ExpressionParser(Scanner& in, std::span<std::string const> variables) : in_(in), variables_(variables) {}

  [[nodiscard]] Expression parse() {
    conditional();
    return std::move(expression_);
  }

 private:
  using Op = Expression::Op;
  struct Binary {
    std::string_view token;
    Op op;
    int precedence;
  };
  // Longer tokens first, so that "<<" is not read as "<".
  static constexpr std::array<Binary, 18> operators{{
      {"<<", Op::shift_left, 8},
      {">>", Op::shift_right, 8},
      {"<=", Op::less_equal, 7},
      {">=", Op::greater_equal, 7},
      {"==", Op::equal, 6},
      {"!=", Op::not_equal, 6},
      {"&&", Op::logical_and, 2},
      {"||", Op::logical_or, 1},
      {"*", Op::multiply, 10},
      {"/", Op::divide, 10},
      {"%", Op::remainder, 10},
      {"+", Op::add, 9},
      {"-", Op::subtract, 9},
      {"<", Op::less, 7},
      {">", Op::greater, 7},
      {"&", Op::bit_and, 5},
      {"^", Op::bit_xor, 4},
      {"|", Op::bit_or, 3},
  }};

  std::size_t add(Op op, std::size_t a = 0, std::size_t b = 0, std::size_t c = 0) {
    return add({op, 0, a, b, c});
  }
  std::size_t add(Expression::Node const& node) {
    if (expression_.nodes().size() >= most_operations)
      in_.fail_here("the expression has more than 1000 operations");
    return expression_.add(node);
  }
  std::size_t conditional() {
    Nesting const nesting(in_, depth_);
    std::size_t const condition = binary(1);
    if (!in_.take("?")) return condition;
    std::size_t const yes = conditional();
    in_.expect(":", "of the conditional");
    return add(Op::conditional, condition, yes, conditional());
  }
  std::size_t binary(int least) {
    std::size_t left = unary();
    while (true) {
      auto const* found = std::find_if(operators.begin(), operators.end(),
                                       [&](Binary const& o) { return in_.looking_at(o.token); });
      if (found == operators.end() || found->precedence < least) return left;
      std::size_t const at = in_.at();
      (void)in_.take(found->token);
      std::size_t const operand = in_.at();
      std::size_t const right = binary(found->precedence + 1);
      if (found->op == Op::divide || found->op == Op::remainder) check_divisor(at, operand, right);
      left = add(found->op, left, right);
    }
  }
  /// Divisors must be constants, and not 0 even in words of 32 bits: a division by zero would have to
  /// be guessed.
  void check_divisor(std::size_t at, std::size_t operand, std::size_t node) {
    std::optional<std::uint64_t> const value = constant_at(node);
    if (!value) in_.fail("the divisor must be a number", operand, in_.at() - operand);
    if (*value == 0) in_.fail("division by zero", at);
    if (*value > 0xffffffffULL) in_.fail("the divisor needs more than 32 bits", operand, in_.at() - operand);
  }
  /// The value of a node that is a number or simple arithmetic of numbers.
  std::optional<std::uint64_t> constant_at(std::size_t node) const {
    Expression::Node const& n = expression_.nodes()[node];
    if (n.op == Op::number) return n.value;
    bool const simple =
        n.op == Op::multiply || n.op == Op::add || n.op == Op::subtract || n.op == Op::shift_left;
    if (!simple) return std::nullopt;
    auto const a = constant_at(n.a), b = constant_at(n.b);
    if (!a || !b) return std::nullopt;
    switch (n.op) {
      case Op::multiply:
        return *a * *b;
      case Op::add:
        return *a + *b;
      case Op::subtract:
        return *a - *b;
      default:
        return shl(*a, *b);
    }
  }
  std::size_t unary() {
    Nesting const nesting(in_, depth_);
    if (in_.take("-")) return add(Op::minus, unary());
    if (in_.take("+")) return unary();
    if (in_.take("~")) return add(Op::complement, unary());
    if (in_.looking_at("!") && !in_.looking_at("!=") && in_.take("!")) return add(Op::logical_not, unary());
    if (in_.take("(")) {
      std::size_t const inner = conditional();
      in_.expect(")", "to close the parenthesis");
      return inner;
    }
    if (is_digit(in_.peek())) return add(Expression::Node{Op::number, in_.take_literal()});
    std::size_t const at = in_.at();
    std::string_view const name = in_.take_name();
    if (name.empty()) in_.fail_here("expected a number, a variable or '('");
    auto const known = std::find(variables_.begin(), variables_.end(), name);
    if (known == variables_.end()) {
      std::string names;
      for (std::string const& v : variables_) names += (names.empty() ? "" : ", ") + v;
      in_.fail("unknown variable '" + std::string(name) + "'", at, name.size(), "known here: " + names);
    }
    return add(Expression::Node{Op::variable, static_cast<std::uint64_t>(known - variables_.begin())});
  }

  Scanner& in_;
  std::span<std::string const> variables_;
  Expression expression_;
  int depth_ = 0;
};

// -------------------------------------------------------------------------------------- layouts

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

// ------------------------------------------------------------------------------------- accesses

struct InstructionName {
  std::string_view text;
  Instruction instruction;
};

constexpr InstructionName instruction_names[] = {
    {"ld.shared.b8", {Operation::ld_shared, 1}},
    {"ld.shared.b16", {Operation::ld_shared, 2}},
    {"ld.shared.b32", {Operation::ld_shared, 4}},
    {"ld.shared.b64", {Operation::ld_shared, 8}},
    {"ld.shared.b128", {Operation::ld_shared, 16}},
    {"st.shared.b8", {Operation::st_shared, 1}},
    {"st.shared.b16", {Operation::st_shared, 2}},
    {"st.shared.b32", {Operation::st_shared, 4}},
    {"st.shared.b64", {Operation::st_shared, 8}},
    {"st.shared.b128", {Operation::st_shared, 16}},
    {"ldmatrix.x1", {Operation::ldmatrix, 16, 1}},
    {"ldmatrix.x2", {Operation::ldmatrix, 16, 2}},
    {"ldmatrix.x4", {Operation::ldmatrix, 16, 4}},
    {"ldmatrix.x1.trans", {Operation::ldmatrix, 16, 1, true}},
    {"ldmatrix.x2.trans", {Operation::ldmatrix, 16, 2, true}},
    {"ldmatrix.x4.trans", {Operation::ldmatrix, 16, 4, true}},
    {"stmatrix.x1", {Operation::stmatrix, 16, 1}},
    {"stmatrix.x2", {Operation::stmatrix, 16, 2}},
    {"stmatrix.x4", {Operation::stmatrix, 16, 4}},
    {"stmatrix.x1.trans", {Operation::stmatrix, 16, 1, true}},
    {"stmatrix.x2.trans", {Operation::stmatrix, 16, 2, true}},
    {"stmatrix.x4.trans", {Operation::stmatrix, 16, 4, true}},
    {"cp.async.b32", {Operation::cp_async, 4}},
    {"cp.async.b64", {Operation::cp_async, 8}},
    {"cp.async.b128", {Operation::cp_async, 16}},
};

/// The footprint, from all lanes' positions; refuses positions that the instruction cannot take.
void measure(Access& access, std::string_view text) {
  std::uint32_t last_row = 0, last_byte = 0;
  for (std::uint32_t lane = 0; lane < access.instruction.lanes(); ++lane) {
    std::span<std::uint32_t const> const variables(&lane, 1);
    std::uint32_t const row = access.row(variables, lane), byte = access.byte(variables, lane);
    if (byte % access.instruction.bytes != 0)
      throw InputError{"lane " + std::to_string(lane) + " asks for byte " + std::to_string(byte) +
                           ", which is not a multiple of the " + std::to_string(access.instruction.bytes) +
                           " bytes that the instruction takes",
                       std::string(text),
                       0,
                       text.size(),
                       {}};
    last_row = std::max(last_row, row);
    last_byte = std::max(last_byte, byte + access.instruction.bytes - 1);
  }
  if (last_row >= 1U << 20 || last_byte >= 1U << 20)
    throw InputError{
        "a lane is more than 2^20 rows or bytes from the origin", std::string(text), 0, text.size(), {}};
  access.rows = std::bit_ceil(last_row + 1);
  access.row_bytes = std::bit_ceil(last_byte + 1);
}

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

Expression parse_expression(std::string_view text, std::span<std::string const> variables) {
  Scanner in(text);
  Expression expression = ExpressionParser(in, variables).parse();
  if (!in.done()) in.fail_here("unexpected text after the expression");
  return expression;
}

Instruction parse_instruction(std::string_view text) {
  for (InstructionName const& known : instruction_names)
    if (known.text == text) return known.instruction;
  throw InputError{"unknown instruction", std::string(text), 0, text.size(),
                   "known: ld.shared and st.shared .b8 to .b128, ldmatrix and stmatrix .x1 .x2 .x4 [.trans], "
                   "cp.async .b32 .b64 .b128"};
}

std::string to_string(Instruction const& instruction) {
  for (InstructionName const& known : instruction_names)
    if (known.instruction == instruction) return std::string(known.text);
  return "unknown instruction";
}

Access parse_access(std::string_view text) {
  std::size_t const colon = text.find(':');
  if (colon == std::string_view::npos) {
    for (NamedAccess const& named : named_accesses())
      if (named.name == text) {
        Access access = parse_access(named.text);
        access.name = named.name;
        return access;
      }
    throw InputError{
        "unknown access", std::string(text), 0, text.size(),
        "'swizproof accesses' lists the named ones; or write INSTRUCTION: row = ..., byte = ..."};
  }
  Access access;
  access.name = text;
  access.instruction = parse_instruction(text.substr(0, colon));
  Scanner in(text);
  in.back_to(colon + 1);
  std::array<std::string, 1> const variables{"lane"};
  in.expect("row", "= ..., byte = ...");
  in.expect("=", "after row");
  access.row = ExpressionParser(in, variables).parse();
  in.expect(",", "and then byte = ...");
  in.expect("byte", "= ... after the row");
  in.expect("=", "after byte");
  access.byte = ExpressionParser(in, variables).parse();
  if (!in.done()) in.fail_here("unexpected text after the access");
  measure(access, text);
  return access;
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

Architecture const& parse_architecture(std::string_view text) {
  std::string known;
  for (Architecture const& arch : architectures) {
    if (arch.name == text) return arch;
    known += " " + std::string(arch.name);
  }
  throw InputError{"unknown architecture", std::string(text), 0, text.size(), "known:" + known};
}

std::string to_string(Swizzle const& s) {
  return "Sw<" + std::to_string(s.bits) + "," + std::to_string(s.base) + "," + std::to_string(s.shift) + ">";
}

}  // namespace swizproof
