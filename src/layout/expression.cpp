#include <swizproof/layout/expression.hpp>

namespace swizproof {

namespace {

using Op = Expression::Op;

struct Sign {
  std::string_view text;
  int binds;  ///< tighter, the larger
};

Sign sign_of(Op op) {
  switch (op) {
    case Op::multiply:
      return {"*", 3};
    case Op::divide:
      return {"/", 3};
    case Op::remainder:
      return {"%", 3};
    case Op::add:
      return {" + ", 2};
    case Op::bit_xor:
      return {" ^ ", 1};
    default:
      break;
  }
  assert(false && "an operator that is not printed");
  return {"?", 0};
}

/// The text of a node, in parentheses if it binds less than `least`.
std::string text_of(Expression const& e, std::size_t at, std::span<std::string const> variables, int least) {
  Expression::Node const& n = e.nodes()[at];
  if (n.op == Op::number) return std::to_string(n.value);
  if (n.op == Op::variable) return variables[n.value];
  Sign const sign = sign_of(n.op);
  // What stands beside ^ is in parentheses: few people know C's order of bit operators.
  int const left = n.op == Op::bit_xor ? 4 : sign.binds, right = n.op == Op::bit_xor ? 4 : sign.binds + 1;
  std::string const text =
      text_of(e, n.a, variables, left) + std::string(sign.text) + text_of(e, n.b, variables, right);
  return sign.binds < least ? "(" + text + ")" : text;
}

}  // namespace

std::string to_string(Expression const& expression, std::span<std::string const> variables) {
  return text_of(expression, expression.nodes().size() - 1, variables, 0);
}

}  // namespace swizproof
