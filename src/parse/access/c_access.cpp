#include "parse/access/c_access.hpp"

#include "parse/expression/c_place.hpp"
#include "parse/access/threads.hpp"

#include <algorithm>

namespace swizproof {

namespace {

/// Position of a token of `wanted` outside of brackets at or behind `from`, or the end. `at(i)` is true at such a token.
template <class At>
std::size_t find_outside(std::string_view text, std::size_t from, At const& at) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    char const c = text[i];
    if (depth == 0 && at(i)) return i;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') depth = std::max(depth - 1, 0);
  }
  return text.size();
}

bool is_word_at(std::string_view text, std::size_t at, std::string_view word) {
  return text.substr(at).starts_with(word) && (at == 0 || !is_name(text[at - 1])) &&
         (at + word.size() == text.size() || !is_name(text[at + word.size()]));
}

/// True at the '=' of an assignment, `+=` and `<<=` too: not that of a comparison.
bool assigns_at(std::string_view text, std::size_t at) {
  if (text[at] != '=' || text.substr(at + 1).starts_with('=')) return false;
  char const before = text[at - 1];
  bool const doubled = at > 1 && text[at - 2] == before;
  return before != '=' && before != '!' && ((before != '<' && before != '>') || doubled);
}

/// A text in one line.
std::string in_one_line(std::string_view text) {
  std::string out;
  for (char const c : text)
    if (!is_space(c))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  while (!out.empty() && (out.back() == ' ' || out.back() == ';')) out.pop_back();
  return out;
}

/// [INSTRUCTION:] loops, conditions and names of C; one load or store; then any of `for v in ..` and `if EXPR`.
class CAccessParser {
 public:
  CAccessParser(std::string_view text, AccessOptions const& options)
      : text_(text), in_(text), array_(*options.array), block_(options.block) {}

  [[nodiscard]] Access parse() {
    if (looks_like_instruction(text_)) take_instruction();
    std::size_t const body = in_.at();
    name_threads();
    declare_suffix_variables();
    while (take_prefix()) continue;
    statement();
    (void)in_.take(";");
    for (; braces_ > 0; --braces_) in_.expect("}", "of the loop: one load or store is one access");
    while (!in_.done())
      if (in_.take_word("for"))
        pass_values();
      else if (in_.take_word("if"))
        add_condition(expression());
      else
        in_.fail_here("unexpected text after the access",
                      "one load or store is one access: repeat --access for others");
    finish(body);
    return std::move(access_);
  }

 private:
  static constexpr std::size_t most_variables = 16;

  [[nodiscard]] CValue expression() { return ExpressionParser(in_, {}, names_).parse_c(); }
  /// Runs what throws an InputError without a position, of the text from `from` to here.
  template <class Do>
  auto in_text(std::size_t from, Do const& what) {
    try {
      return what();
    } catch (InputError const& error) {
      if (!error.input.empty()) throw;
      in_.fail(error.message, from, in_.at_end_of_token() - from, error.hint);
    }
  }

  void take_instruction() {
    std::size_t const colon = find_outside(text_, 0, [&](std::size_t i) {
      return text_[i] == ':' && text_[i - (i > 0 ? 1 : 0)] != ':' && !text_.substr(i + 1).starts_with(':');
    });
    access_.instruction = parse_instruction(in_.trimmed(0, colon));
    has_instruction_ = true;
    in_.back_to(std::min(colon + 1, text_.size()));
  }

  // ------------------------------------------------------------------------------- names and variables

  void name_threads() {
    CValue warp = c_number(0);
    std::size_t const back = in_.at();
    std::optional<std::size_t> const own_warps = suffix_for("warp");
    if (block_ && own_warps)
      in_.fail("the block has its warps", *own_warps, 4, "leave 'for warp' out, or --block");
    if (own_warps) in_.back_to(*own_warps);
    if (block_ && warps_of(*block_) > 1)
      warp = variable(Variable::range("warp", 0, warps_of(*block_) - 1), back);
    if (own_warps) warp = variable(values_behind_for(), *own_warps);
    in_.back_to(back);
    has_warps_ = block_ || own_warps;
    if (!block_) refuse_other_axes();
    Threads threads = threads_of(block_, warp);
    names_ = std::move(threads.names);
    names_.push_back({"lane", Expression::variable(0), {{}, 0, warp_lanes - 1}});
    names_.push_back({"warpSize", Expression(warp_lanes), {{}, warp_lanes, warp_lanes}});
    if (has_warps_) names_.push_back({"warp", warp.value, warp.bounds});
    if (threads.active) active_.push_back({*threads.active, {{}, 0, 1}});
  }
  /// Refuses names that need the shape of the block, if it is not known.
  void refuse_other_axes() const {
    for (std::string_view const name : {"threadIdx.y", "threadIdx.z", "blockDim"})
      if (std::size_t const at = text_.find(name); at != text_.npos)
        in_.fail("the shape of the block is not known", at, name.size(),
                 "give --block 32,8; in a file of obligations block = [32, 8]");
  }
  /// A new variable of the access, as a value.
  CValue variable(Variable v, std::size_t from) {
    if (access_.variables.size() == most_variables) in_.fail("more than 16 variables", from);
    if (v.last() > 0x7fffffff)
      in_.fail("values of an int must be below 2^31", from, in_.at_end_of_token() - from);
    CBounds const bounds{{}, v.first, v.last()};
    access_.variables.push_back(std::move(v));
    return {Expression::variable(access_.variables.size()), bounds};
  }
  /// A name of the text: one of ours gives way to it.
  void define(std::string const& name, CValue const& value, std::size_t from) {
    if (name == array_.name || std::count(own_names_.begin(), own_names_.end(), name) != 0)
      in_.fail("there are two of this name", from, name.size());
    if (own_names_.size() >= 100) in_.fail("more than 100 names", from, name.size());
    own_names_.push_back(name);
    std::erase_if(names_, [&](NamedExpression const& n) { return n.name == name; });
    names_.push_back({name, value.value, value.bounds});
  }
  /// Position of the name in `for NAME in`, for that name or for any; nothing if the text has no such suffix.
  [[nodiscard]] std::optional<std::size_t> suffix_for(std::string_view name, std::size_t from = 0) const {
    for (std::size_t i = from; i < text_.size(); ++i) {
      if (!is_word_at(text_, i, "for")) continue;
      Scanner in(text_);
      in.back_to(i + 3);
      std::size_t const at = in.at();
      std::string_view const found = in.take_name();
      if (!found.empty() && in.take_word("in") && (name.empty() || found == name)) return at;
    }
    return std::nullopt;
  }
  /// Reads the values of a variable behind `for`, from its name on.
  Variable values_behind_for() {
    std::string name(in_.take_name());
    if (is_digit(name[0]))
      in_.fail("expected the name of a variable after 'for'", in_.at_end_of_token() - name.size());
    (void)in_.take_word("in");
    return take_values(in_, std::move(name));
  }
  /// The variables behind the access, which it names before.
  void declare_suffix_variables() {
    std::size_t const back = in_.at();
    for (auto from = suffix_for({}); from; from = suffix_for({}, *from)) {
      in_.back_to(*from);
      Variable v = values_behind_for();
      std::string const name = v.name;
      if (name != "warp") define(name, variable(std::move(v), *from), *from);
    }
    in_.back_to(back);
  }
  /// Passes `NAME in a..b`, which was read before.
  void pass_values() {
    (void)in_.take_name();
    if (!in_.take_word("in")) in_.fail_here("expected 'in' and the values of the variable", "for i in 0..7");
    (void)take_values(in_, {});
  }

  // ---------------------------------------------------------------------------- what stands before

  /// A pragma, a loop, a condition, a brace or names of integers.
  bool take_prefix() {
    if (in_.take("#pragma")) {
      if (!in_.take_word("unroll")) in_.fail_here("expected unroll: other pragmas are not read");
      if (in_.looking_at("(") || in_.at_number()) (void)expression();
      return true;
    }
    if (in_.looking_at_name("for")) return loop(), true;
    if (in_.take_word("if")) {
      in_.expect("(", "of the condition");
      add_condition(expression());
      in_.expect(")", "of the condition");
      return true;
    }
    if (in_.take("{")) return ++braces_, true;
    return take_names();
  }
  /// `int const row = threadIdx.x / 4, col = 8;`, unless it loads from the array.
  bool take_names() {
    std::size_t const from = in_.at(), end = end_of_statement(from);
    while (in_.take_word("constexpr") || in_.take_word("static") || in_.take_word("const")) continue;
    bool const automatic = in_.take_word("auto");
    std::optional<CType> const type = automatic ? std::nullopt : take_c_type(in_);
    if ((!automatic && !type) || names_array(text_.substr(from, end - from), array_.name))
      return in_.back_to(from), false;
    do {
      std::size_t const at_name = in_.at();
      std::string const name(take_c_name(in_));
      if (name.empty()) in_.fail_here("expected a name behind the type");
      in_.expect("=", "and the value of " + name);
      std::size_t const at_value = in_.at();
      CValue const value = expression();
      if (type && !type->integer)
        in_.fail("'" + type->name + "' is no type of integers", from, type->name.size());
      define(name, type ? in_text(at_value, [&] { return c_convert(value, *type->integer); }) : value,
             at_name);
    } while (in_.take(","));
    in_.expect(";", "after the value of a name");
    return true;
  }
  /// `for (int i = threadIdx.y; i < 32; i += blockDim.y)`: the steps are a variable, and threads whose i is too large are idle.
  void loop() {
    std::size_t const from = in_.at();
    (void)in_.take_word("for");
    in_.expect("(", "of the loop; behind the access write: for i in 0..7");
    std::optional<CType> const type = take_c_type(in_);
    if (!type || !type->integer)
      in_.fail_here("expected the type of the loop's variable", "for (int i = 0; i < 8; ++i)");
    std::size_t const at_name = in_.at();
    std::string const name(in_.take_name());
    in_.expect("=", "and the first value of the loop's variable");
    CValue const first = in_text(from, [&] { return c_convert(expression(), *type->integer); });
    in_.expect(";", "after the first value");
    auto const again = [&] {
      if (in_.take_name() != name) in_.fail_here("a loop is of one variable", "for (int i = 0; i < 8; ++i)");
    };
    again();
    bool const or_equal = in_.take("<=");
    if (!or_equal) in_.expect("<", "or '<=' and the end of the loop");
    CValue const end = expression();
    in_.expect(";", "after the end of the loop");
    bool const before = in_.take("++");
    again();
    WideInteger const step = before || in_.take("++") ? 1 : step_of_loop(from);
    in_.expect(")", "of the loop");
    in_text(from, [&] { return run(name, first, end, or_equal, step, at_name), 0; });
  }
  /// `+= 8`
  WideInteger step_of_loop(std::size_t from) {
    in_.expect("+=", "or '++' of the loop");
    CBounds const by = expression().bounds;
    if (!by.is_constant() || by.least < 1)
      in_.fail("the step of a loop is a positive constant", from, in_.at_end_of_token() - from);
    return by.least;
  }
  /// Makes the loop's steps a variable.
  void run(std::string const& name, CValue const& first, CValue const& end, bool or_equal, WideInteger step,
           std::size_t from) {
    WideInteger const length = end.bounds.most - first.bounds.least + (or_equal ? 1 : 0);
    if (length <= 0) throw InputError("this loop has no iteration");
    WideInteger const count = (length - 1) / step + 1, last = first.bounds.least + step * (count - 1);
    if (last > 0x7fffffff || step > 0x7fffffff) throw InputError("values of an int must be below 2^31");
    if (first.bounds.least < 0 && !end.bounds.type.is_signed)
      throw InputError("a negative number is compared with an unsigned one, which ends the loop");
    auto const n = [](WideInteger x) { return static_cast<std::uint64_t>(x); };
    if (first.bounds.is_constant() && end.bounds.is_constant() && first.bounds.least >= 0) {
      Variable values = Variable::steps(name, n(first.bounds.least), n(step), n(count));
      CValue const value = c_convert(variable(std::move(values), from), first.bounds.type);
      if (value.bounds.most != last) throw InputError("the loop's variable may overflow its type");
      return define(name, value, from);
    }
    CValue const steps = variable(Variable::range("iteration of " + name, 0, n(count - 1)), from);
    CValue const value = c_convert(
        c_apply(Expression::Op::add, first,
                c_apply(Expression::Op::multiply, steps, c_number(static_cast<std::int64_t>(step)))),
        first.bounds.type);
    active_.push_back(c_apply(or_equal ? Expression::Op::less_equal : Expression::Op::less, value, end));
    define(name, value, from);
  }
  void add_condition(CValue const& condition) {
    if (access_.instruction.matrices != 0)
      in_.fail_here("ldmatrix and stmatrix need all their lanes: they take no 'if'");
    active_.push_back(condition);
  }

  // --------------------------------------------------------------------------------- the access itself

  /// Position behind the load or store that begins at `from`: of its semicolon, a closing brace, `for` or `if`.
  [[nodiscard]] std::size_t end_of_statement(std::size_t from) const {
    return find_outside(text_, from, [&](std::size_t i) {
      return text_[i] == ';' || text_[i] == '}' || is_word_at(text_, i, "for") || is_word_at(text_, i, "if");
    });
  }
  void statement() {
    std::size_t const from = in_.at(), end = end_of_statement(from);
    std::size_t const assignment = find_outside(
        text_.substr(0, end), from, [&](std::size_t i) { return i > from && assigns_at(text_, i); });
    bool const assigns = assignment < end;
    bool const writes = assigns && names_array(text_.substr(from, assignment - from), array_.name);
    bool const reads = names_array(
        text_.substr(assigns ? assignment : from, end - (assigns ? assignment : from)), array_.name);
    if (writes && reads)
      in_.fail("this reads " + array_.name + " and writes it: two accesses", from, end - from,
               "ask of each: x = " + array_.name + "[..], and " + array_.name + "[..] = x");
    if (!reads && !writes) in_.fail_here("expected a load or store of " + array_.name);
    if (!writes && assigns) in_.back_to(assignment + 1);
    std::size_t const place_at = in_.at();
    CPlaceParser places(in_, array_, names_);
    CPlace place = places.parse();
    if (has_instruction_) place = places.decayed(std::move(place));
    std::size_t const place_end = in_.at_end_of_token();
    unsigned const moved = access_.instruction.bytes;
    if (has_instruction_ && !assigns && place.kind == CPlace::Kind::object && moved > place.bytes &&
        moved % array_.element_bytes == 0) {
      place.kind = CPlace::Kind::pointer;
      note(to_string(access_.instruction) + " takes an address: that of the element is meant, &" +
           array_.name + "[..]");
    }
    if (writes) pass_stored_value(place, end);
    set_instruction(place, place_at, place_end, assigns ? std::optional(writes) : std::nullopt);
    std::uint64_t const elements =
        std::max<std::uint64_t>(access_.instruction.bytes / array_.element_bytes, 1);
    access_.where = Coordinate{in_text(place_at, [&] { return place.coordinate(array_, elements); })};
  }
  /// The value that is stored has no part in the address.
  void pass_stored_value(CPlace const& place, std::size_t end) {
    std::size_t const from = in_.at();
    if (!in_.take("="))
      in_.fail_here("this reads " + array_.name + " and writes it, or is no store",
                    "ask of each: x = " + array_.name + "[..], and " + array_.name + "[..] = x");
    if (in_.at() >= end) in_.fail("the value that is stored is missing", from);
    refuse_wide_value(place);
    in_.back_to(end);
  }
  /// Refuses make_float4(..) for an element that is smaller.
  void refuse_wide_value(CPlace const& place) {
    std::size_t const from = in_.at();
    std::string_view const name = in_.take_name();
    in_.back_to(from);
    if (!name.starts_with("make_")) return;
    Scanner made(name.substr(5));
    std::optional<CType> const type = take_c_type(made);
    if (!type || type->bytes <= place.bytes) return;
    in_.fail(std::string(name) + " has " + std::to_string(type->bytes) +
                 " bytes, and the element that is stored to " + std::to_string(place.bytes),
             from, name.size(),
             "*reinterpret_cast<" + type->name + "*>(&" + array_.name + "[..]) = .. stores them all");
  }
  /// `write a[..][..], or declare a as a[2048]`
  [[nodiscard]] std::string all_subscripts() const {
    std::string subscripts;
    std::uint64_t elements = 1;
    for (auto const extent : array_.extents)
      subscripts += "[..]", elements *= static_cast<std::uint64_t>(extent);
    return "write " + array_.name + subscripts + ", or declare " + array_.type + " " + array_.name + "[" +
           std::to_string(elements) + "]";
  }
  /// The instruction by the object's size, or the one that the text names if it fits. `writes`: the text says which.
  void set_instruction(CPlace const& place, std::size_t from, std::size_t end, std::optional<bool> writes) {
    if (place.kind == CPlace::Kind::array)
      in_.fail(array_.name + " has " + std::to_string(array_.extents.size()) + " extents, and " +
                   std::to_string(place.subscripts.size()) + " have a subscript",
               from, end - from, all_subscripts());
    bool const address = place.kind == CPlace::Kind::pointer;
    Instruction& i = access_.instruction;
    if (!has_instruction_) {
      if (address)
        in_.fail("this is an address, which no load or store has", from, end - from,
                 "an instruction may precede it: ldmatrix.x4: &" + array_.name + "[..][..]");
      i = {writes.value_or(false) ? Operation::st_shared : Operation::ld_shared, place.bytes};
      if (name(i).empty())
        in_.fail("no instruction moves " + std::to_string(place.bytes) + " bytes", from, end - from,
                 "write the accesses that the compiler makes of it");
    }
    bool const stores = i.operation != Operation::ld_shared && i.operation != Operation::ldmatrix;
    if (writes && *writes != stores)
      in_.fail(to_string(i) + (stores ? " stores, and this loads" : " loads, and this stores"), from,
               end - from);
    if (!address && place.bytes != i.bytes)
      in_.fail(to_string(i) + " moves " + std::to_string(i.bytes) + " bytes, and this has " +
                   std::to_string(place.bytes),
               from, end - from);
    if (i.bytes % array_.element_bytes != 0)
      in_.fail(
          to_string(i) + " moves a part of an element of " + std::to_string(array_.element_bytes) + " bytes",
          from, end - from);
    if (!writes && !has_instruction_)
      note("'" + array_.name + "[..]' is a load; '" + array_.name + "[..] = x' is a store");
  }
  void finish(std::size_t body) {
    if (access_.instruction.matrices != 0 && !active_.empty())
      throw InputError::whole("ldmatrix and stmatrix need all their lanes, and not all take part",
                              std::string(text_));
    for (CValue const& condition : active_)
      access_.active = access_.active ? *access_.active && condition.value : condition.value;
    access_.name = to_string(access_.instruction) + ": " + in_one_line(text_.substr(body));
    if (!has_warps_ && (text_.find("threadIdx") != text_.npos || text_.find("tid") != text_.npos))
      note("only threads 0 to 31, one warp; for more warps give --block, such as --block 128");
    if (access_.instruction.bytes > array_.alignment && access_.instruction.bytes > array_.element_bytes)
      note(array_.type + " " + array_.name + "[..] is aligned to " + std::to_string(array_.alignment) +
           " bytes: alignas(" + std::to_string(access_.instruction.bytes) + ") guarantees the base that " +
           to_string(access_.instruction) + " needs");
  }
  void note(std::string const& text) { access_.note += (access_.note.empty() ? "" : "; ") + text; }

  std::string_view text_;
  Scanner in_;
  DeclaredArray const& array_;
  std::optional<BlockShape> block_;
  std::vector<NamedExpression> names_{};
  std::vector<std::string> own_names_{};  ///< names that the text defines
  std::vector<CValue> active_{};          ///< conditions that all must hold
  Access access_{};
  bool has_instruction_ = false;
  bool has_warps_ = false;  ///< the warps are those of a block, or of `for warp`; else there is a single one
  int braces_ = 0;
};

}  // namespace

bool names_array(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (!is_word_at(text, at, name) || (at > 0 && text[at - 1] == '.')) continue;
    Scanner behind(text.substr(at + name.size()));
    char const c = behind.peek();
    if (c == '[' || c == ')' || c == '+' || c == '\0' || c == ';') return true;
  }
  return false;
}

Access parse_c_access(std::string_view text, AccessOptions const& options) {
  Access access = CAccessParser(text, options).parse();
  access.as_written = true;
  return access;
}

}  // namespace swizproof
