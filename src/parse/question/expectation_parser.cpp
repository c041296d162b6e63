#include "parse/question/expectation.hpp"

#include "parse/expression/expression_parser.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

namespace swizproof {

namespace {

constexpr std::uint64_t most_values = std::uint64_t{1} << 26;

/// Reads an expectation: `TARGET = SUM [if EXPR] [for INDEX in A..B]..`, where a SUM is products with + and - between them, and a product may end with
/// `sum(INDEX [in A..B], .. [if EXPR]) PRODUCT`, also with max or min for sum. `max(SUM, ..)` and `abs(SUM)` are factors.
class ExpectationParser {
 public:
  ExpectationParser(std::string const& text, std::vector<FlowArray> const& arrays)
      : text_(text), in_(text), arrays_(arrays) {}
  /// Reads it once more in C's types: the ranges of the indices, which stand behind the elements or are their extents, are known.
  ExpectationParser(std::string const& text, std::vector<FlowArray> const& arrays,
                    std::vector<FlowIndex> const& indices)
      : ExpectationParser(text, arrays) {
    typed_.emplace();
    for (FlowIndex const& i : indices)
      typed_->push_back(typed_variable(i.name, typed_->size(), i.first, i.last));
  }

  FlowExpectation parse() {
    e_.text = text_;
    find_indices();
    e_.target = reference(true);
    if (e_.target.at.empty()) in_.fail_here("the result is an element of an array", form);
    in_.expect("=", "after the element of the result");
    (void)sum();
    if (in_.take_word("if")) e_.condition = expression().value;
    while (in_.take_word("for")) range();
    if (!in_.done()) in_.fail_here("expected '*', '+', 'for' or the end", form);
    for (std::size_t i = 0; i < e_.indices.size(); ++i) bound(i);
    return std::move(e_);
  }

 private:
  static constexpr char const* form = "C[m][n] = sum(k) A[m][k] * B[k][n] for m in 0..127";
  static constexpr std::size_t most_nodes = 1000;
  static constexpr std::pair<char const*, FlowOperation> functions[] = {{"sum", FlowOperation::sum},
                                                                        {"max", FlowOperation::largest},
                                                                        {"min", FlowOperation::smallest},
                                                                        {"abs", FlowOperation::largest}};

  /// Names within brackets, in their order.
  void find_indices() {
    int depth = 0;
    for (std::size_t i = 0; i < text_.size();) {
      char const c = text_[i];
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (!is_name(c) || is_digit(c)) {
        for (++i; is_digit(c) && i < text_.size() && is_name(text_[i]);) ++i;  // 0x10, 8u
        continue;
      }
      std::size_t const from = i;
      while (i < text_.size() && is_name(text_[i])) ++i;
      std::string const name = text_.substr(from, i - from);
      if (depth > 0 && std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    }
    if (names_.size() > 8) in_.fail_here("more than 8 indices");
    for (std::string const& name : names_) e_.indices.push_back({name, 0, 0, false});
    given_.assign(names_.size(), false), known_.assign(names_.size(), false);
  }

  std::size_t add(FlowNode node) {
    if (e_.nodes.size() >= most_nodes) in_.fail_here("an expectation of more than 1000 parts");
    e_.nodes.push_back(std::move(node));
    return e_.nodes.size() - 1;
  }
  std::size_t add(FlowOperation operation, std::size_t a, std::size_t b = 0) {
    FlowNode node;
    node.operation = operation, node.a = a, node.b = b;
    return add(std::move(node));
  }

  std::size_t sum() {
    std::size_t left = product();
    for (;;) {
      if (in_.take("+"))
        left = add(FlowOperation::add, left, product());
      else if (in_.take("-"))
        left = add(FlowOperation::add, left, add(FlowOperation::negate, product()));
      else
        return left;
    }
  }

  std::size_t product() {
    std::size_t left = factor();
    while (in_.take("*")) left = add(FlowOperation::multiply, left, factor());
    return left;
  }

  std::size_t factor() {
    if (++depth_ > deepest_nesting) in_.fail_here("nested too deeply");
    std::size_t const out = factor_here();
    --depth_;
    return out;
  }
  std::size_t factor_here() {
    if (in_.take("-")) return add(FlowOperation::negate, factor());
    if (in_.take("(")) {
      std::size_t const inner = sum();
      in_.expect(")", "to close the sum");
      return inner;
    }
    for (auto const& [word, operation] : functions) {
      if (!in_.looking_at_name(word)) continue;
      std::size_t const from = in_.at();
      (void)in_.take_word(word);
      if (in_.peek() == '(') return function(word, operation);
      in_.back_to(from);
    }
    if (is_digit(in_.peek()) || in_.peek() == '.') return number();
    FlowNode node;
    node.operation = FlowOperation::element;
    node.element = reference(false);
    return add(std::move(node));
  }

  /// False for an integer that f64 does not hold; true for numbers with a fraction or an exponent, which are rounded.
  static bool is_exact(std::string_view digits, double value) {
    if (digits.find_first_not_of("0123456789") != digits.npos) return true;
    std::uint64_t n = 0;
    auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return error == std::errc{} ? value < 0x1p64 && static_cast<std::uint64_t>(value) == n : false;
  }

  std::size_t number() {
    std::string const rest(in_.rest());
    char* end = nullptr;
    double const value = std::strtod(rest.c_str(), &end);
    auto const length = static_cast<std::size_t>(end - rest.c_str());
    std::size_t const from = in_.at();
    if (length == 0 || !std::isfinite(value)) in_.fail_here("expected a number", form);
    in_.back_to(from + length);
    FlowNode node;
    node.number = value;
    if (std::string_view const digits = std::string_view(rest).substr(0, length); !is_exact(digits, value)) {
      std::uint64_t n = 0;
      auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
      node.above = true, node.number = static_cast<double>(static_cast<std::int64_t>(n));
      if (error != std::errc{} || !(std::fabs(node.number) < 0x1p53))
        throw InputError{"f64 does not hold this integer", text_, from, length,
                         "give one of at most 53 bits, such as -1"};
    }
    return add(std::move(node));
  }

  /// `max(x[i], 0)`, `abs(x[i])`, or indices and the product behind them.
  std::size_t function(std::string_view word, FlowOperation operation) {
    if (operation == FlowOperation::sum || (word != "abs" && has_indices())) return over_indices(operation);
    in_.expect("(", "and the values");
    std::size_t left = sum();
    if (word == "abs") left = add(operation, left, add(FlowOperation::negate, left));
    while (word != "abs" && in_.take(",")) left = add(operation, left, sum());
    in_.expect(")", "after the values");
    return left;
  }

  /// True if a name that is no array follows the parenthesis, and no element.
  bool has_indices() {
    std::size_t const from = in_.at();
    (void)in_.take("(");
    std::string const name(in_.take_name());
    bool const ends =
        in_.peek() == ',' || in_.peek() == ')' || in_.looking_at_name("in") || in_.looking_at_name("if");
    in_.back_to(from);
    return ends && !name.empty() && !is_digit(name[0]) &&
           std::none_of(arrays_.begin(), arrays_.end(), [&](FlowArray const& a) { return a.name == name; });
  }

  /// `(k, j in 0..i if j != k)` and the product behind it.
  std::size_t over_indices(FlowOperation operation) {
    in_.expect("(", "and the indices of the sum");
    FlowNode node;
    node.operation = operation;
    do {
      std::size_t const at = in_.at();
      declare_summed();
      std::size_t const i = index_named();
      if (in_target(i))
        in_.fail("the index " + names_[i] + " is summed and in the result", at, in_.at_end_of_token() - at);
      if (known_[i]) in_.fail("the index " + names_[i] + " is summed twice", at, in_.at_end_of_token() - at);
      std::optional<std::pair<Expression, Expression>> values;
      if (in_.take_word("in")) {
        CValue const first = expression();
        in_.expect("..", "between the ends of the range");
        CValue const last = expression();
        values = {first.value, last.value};
        given_[i] = true;
        if (typed_)
          (*typed_)[i].bounds = {{}, first.bounds.least, std::max(first.bounds.least, last.bounds.most)};
      }
      e_.indices[i].summed = known_[i] = true;
      node.indices.push_back(i), node.ranges.push_back(std::move(values));
    } while (in_.take(","));
    if (in_.take_word("if")) node.condition = expression().value;
    in_.expect(")", "after the indices of the sum");
    std::vector<std::size_t> const mine = node.indices;
    node.a = product();
    for (std::size_t const i : mine) known_[i] = false;
    return add(std::move(node));
  }

  /// The index of a sum with a range need not be one of an element.
  void declare_summed() {
    std::size_t const at = in_.at();
    std::string const name(in_.take_name());
    bool const ranged = in_.looking_at_name("in");
    in_.back_to(at);
    if (!ranged || name.empty() || is_digit(name[0]) ||
        std::find(names_.begin(), names_.end(), name) != names_.end())
      return;
    names_.push_back(name);
    e_.indices.push_back({name, 0, 0, true});
    given_.push_back(false), known_.push_back(false);
  }

  /// An expression of the indices that are known here.
  CValue expression() {
    std::size_t const at = in_.at();
    CValue x = of_indices();
    check_known(x.value, at);
    return x;
  }
  CValue of_indices() {
    return typed_ ? ExpressionParser(in_, {}, *typed_).parse_c()
                  : CValue{ExpressionParser(in_, names_).before_types().parse(), {}};
  }
  void check_known(Expression const& x, std::size_t at) {
    for (Expression::Node const& n : x.nodes())
      if (n.op == Expression::Op::variable && !known_[n.value] && !in_target(n.value))
        in_.fail("the index " + names_[n.value] + " is neither summed nor in the result", at,
                 in_.at_end_of_token() - at, form);
  }

  FlowReference reference(bool target) {
    std::size_t const at = in_.at();
    FlowReference r;
    r.array = in_.take_name();
    auto const known =
        std::find_if(arrays_.begin(), arrays_.end(), [&](FlowArray const& a) { return a.name == r.array; });
    if (r.array.empty() || is_digit(r.array[0])) in_.fail_here("expected the name of an array", form);
    if (known == arrays_.end() && (r.array == "sum" || r.array == "max" || r.array == "min"))
      in_.fail(r.array + " has its indices in parentheses", at, r.array.size(), r.array + "(k) A[k]");
    if (known == arrays_.end())
      in_.fail("no parameter is the array " + r.array, at, r.array.size(),
               "give it: --param 0=" + r.array + ":f16[128][64]");
    while (in_.take("[")) {
      if (r.at.size() == known->extents.size())
        in_.fail(r.array + " has " + std::to_string(known->extents.size()) + " indices", at, in_.at() - at);
      std::size_t const from = in_.at();
      Expression const x = of_indices().value;
      if (!target) check_known(x, from);
      in_.expect("]", "to close the index");
      if (x.nodes().size() == 1 && x.nodes()[0].op == Expression::Op::variable)
        alone_.push_back({x.nodes()[0].value, known->extents[r.at.size()]});
      r.at.push_back(x);
    }
    if (r.at.size() != known->extents.size())
      in_.fail(r.array + " has " + std::to_string(known->extents.size()) + " indices", at,
               in_.at_end_of_token() - at);
    return r;
  }

  std::size_t index_named() {
    std::size_t const at = in_.at();
    std::string_view const name = in_.take_name();
    auto const known = std::find(names_.begin(), names_.end(), name);
    if (known == names_.end()) in_.fail("no index has this name", at, name.size());
    return static_cast<std::size_t>(known - names_.begin());
  }

  void range() {
    std::size_t const i = index_named();
    if (!in_.take_word("in")) in_.fail_here("expected 'in' and a range", "for m in 0..127");
    std::size_t const from = in_.at();
    e_.indices[i].first = in_.take_literal();
    in_.expect("..", "between the ends of the range");
    e_.indices[i].last = in_.take_literal();
    if (given_[i]) in_.fail("this index has a range already", from, in_.at_end_of_token() - from);
    if (e_.indices[i].first > e_.indices[i].last || e_.indices[i].last > most_values)
      in_.fail("the range is empty, or larger than 2^26", from, in_.at_end_of_token() - from);
    given_[i] = true;
  }

  /// The range of an index without `for`: of the extents that it stands for alone.
  void bound(std::size_t i) {
    FlowIndex& index = e_.indices[i];
    if (!index.summed && !in_target(i))
      in_.fail("the index " + index.name + " is neither summed nor in the result", 0, text_.size(), form);
    if (given_[i]) return;
    std::optional<std::uint64_t> extent;
    std::uint64_t least = ~std::uint64_t{0};
    for (auto const& [variable, size] : alone_)
      if (variable == i) least = std::min(least, size);
    for (auto const& [variable, size] : alone_) {
      if (variable != i) continue;
      if (extent && *extent != size)
        in_.fail("the index " + index.name + " stands for extents of " + std::to_string(*extent) +
                     " and of " + std::to_string(size),
                 0, text_.size(),
                 "give its range: for " + index.name + " in 0.." + std::to_string(least - 1));
      extent = size;
    }
    if (!extent)
      in_.fail("the range of the index " + index.name + " is not known", 0, text_.size(),
               "give it: for " + index.name + " in 0..31");
    index.last = *extent - 1;
  }
  [[nodiscard]] bool in_target(std::size_t i) const {
    return std::any_of(e_.target.at.begin(), e_.target.at.end(), [&](Expression const& x) {
      return std::any_of(x.nodes().begin(), x.nodes().end(), [&](Expression::Node const& n) {
        return n.op == Expression::Op::variable && n.value == i;
      });
    });
  }

  std::string const& text_;
  Scanner in_;
  std::vector<FlowArray> const& arrays_;
  std::vector<std::string> names_{};
  std::vector<bool> given_{}, known_{};  ///< indices with a range; summed around the place that is read
  std::vector<std::pair<std::uint64_t, std::uint64_t>> alone_{};  ///< index, extent
  std::optional<std::vector<NamedExpression>> typed_{};           ///< the indices with their bounds
  int depth_ = 0;
  FlowExpectation e_{};
};

}  // namespace

FlowExpectation parse_expectation(std::string const& text, std::vector<FlowArray> const& arrays) {
  FlowExpectation const ranges = ExpectationParser(text, arrays).parse();
  return ExpectationParser(text, arrays, ranges.indices).parse();
}

}  // namespace swizproof
