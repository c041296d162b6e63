#include <swizproof/layout/expression.hpp>

#include <algorithm>

namespace swizproof {

namespace {

constexpr std::uint64_t most_printed = 1000;  // nodes

using Op = Expression::Op;

constexpr int additive = 2, unary = 4, whole = 5;  // how tightly operators bind; what stands alone binds most

struct Sign {
  Op op;
  std::string_view text;
  int binds;
};

// C's order of the bit operators is easily misread: operands of one of binding 1 are in parentheses.
constexpr Sign signs[] = {
    {Op::minus, "-", unary},       {Op::complement, "~", unary},
    {Op::logical_not, "!", unary}, {Op::multiply, "*", 3},
    {Op::divide, "/", 3},          {Op::remainder, "%", 3},
    {Op::add, " + ", additive},    {Op::subtract, " - ", additive},
    {Op::shift_left, " << ", 1},   {Op::shift_right, " >> ", 1},
    {Op::less, " < ", 1},          {Op::less_equal, " <= ", 1},
    {Op::greater, " > ", 1},       {Op::greater_equal, " >= ", 1},
    {Op::equal, " == ", 1},        {Op::not_equal, " != ", 1},
    {Op::bit_and, " & ", 1},       {Op::bit_xor, " ^ ", 1},
    {Op::bit_or, " | ", 1},        {Op::logical_and, " && ", 1},
    {Op::logical_or, " || ", 1},   {Op::conditional, " ? ", 0},
};

/// The text of a node, in parentheses if it binds less than `least`.
std::string text_of(Expression const& e, std::size_t at, std::span<std::string const> variables, int least) {
  Expression::Node const& n = e.nodes()[at];
  if (n.op == Op::number) return std::to_string(n.value);
  if (n.op == Op::variable) return variables[n.value];
  Sign const& sign =
      *std::find_if(std::begin(signs), std::end(signs), [&](Sign const& s) { return s.op == n.op; });
  auto const part = [&](std::size_t node, int binds) { return text_of(e, node, variables, binds); };
  std::string const name(sign.text);
  std::string text;
  if (sign.binds == unary)
    text = name + part(n.a, whole);
  else if (n.op == Op::conditional)
    text = part(n.a, 1) + name + part(n.b, 1) + " : " + part(n.c, 1);
  else
    text = part(n.a, sign.binds == 1 ? unary : sign.binds) + name +
           part(n.b, sign.binds == 1 ? unary : sign.binds + 1);
  return sign.binds < least ? "(" + text + ")" : text;
}

/// How many nodes the text has, in which a shared node stands more than once.
std::uint64_t nodes_in_text(Expression const& e) {
  constexpr std::uint64_t many = std::uint64_t{1} << 32;
  std::vector<std::uint64_t> count;
  for (Expression::Node const& n : e.nodes()) {
    std::uint64_t all = 1;
    if (n.op != Op::number && n.op != Op::variable) {
      bool const one = n.op == Op::minus || n.op == Op::complement || n.op == Op::logical_not;
      all += count[n.a] + (one ? 0 : count[n.b]) + (n.op == Op::conditional ? count[n.c] : 0);
    }
    count.push_back(std::min(all, many));
  }
  return count.back();
}

}  // namespace

std::string to_string(Expression const& expression, std::span<std::string const> variables) {
  if (nodes_in_text(expression) > most_printed) return "...";
  return text_of(expression, expression.nodes().size() - 1, variables, 0);
}

}  // namespace swizproof
