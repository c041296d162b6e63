#include "reference/model/expression.hpp"

#include <cstdio>
#include <stdexcept>

namespace reference {
namespace {

int precedence(std::string const& op) {
  static std::map<std::string, int> const table{{"?", 1},  {"||", 2}, {"&&", 3}, {"|", 4},  {"^", 5},
                                                {"&", 6},  {"==", 7}, {"!=", 7}, {"<", 8},  {"<=", 8},
                                                {">", 8},  {">=", 8}, {"<<", 9}, {">>", 9}, {"+", 10},
                                                {"-", 10}, {"*", 11}, {"/", 11}, {"%", 11}};
  return table.at(op);
}

}  // namespace

long long Expression::operator()(std::map<std::string, long long> const& values) const {
  if (op == "n") return number;
  if (op == "v") return values.at(name);
  if (op == "t") return table[static_cast<std::size_t>(values.at("lane"))];
  auto const a = parts[0](values);
  if (op == "?") return a ? parts[1](values) : parts[2](values);
  if (op == "&&") return a && parts[1](values);
  if (op == "||") return a || parts[1](values);
  auto const b = parts[1](values);
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&") return a & b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "<<") return a << b;
  if (op == ">>") return a >> b;
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "%") return a % b;
  throw std::logic_error("no operator " + op);
}

std::string Expression::text(Random& r, int outer) const {
  if (op == "n")
    return r.chance(6) && number >= 10
               ? "0x" +
                     [&] {
                       char buffer[32];
                       std::snprintf(buffer, sizeof buffer, "%llx", static_cast<unsigned long long>(number));
                       return std::string(buffer);
                     }()
               : std::to_string(number);
  if (op == "v") return name;
  int const mine = precedence(op);
  std::string s;
  if (op == "?") {
    s = parts[0].text(r, 2) + " ? " + parts[1].text(r, 2) + " : " + parts[2].text(r, 2);
  } else {
    auto const space = r.chance(60) ? " " : "";
    s = parts[0].text(r, mine) + space + op + space + parts[1].text(r, mine + 1);
  }
  return mine < outer || r.chance(8) ? "(" + s + ")" : s;
}

Expression number(long long n) {
  Expression e;
  e.op = "n";
  e.number = n;
  return e;
}

Expression variable(std::string name) {
  Expression e;
  e.op = "v";
  e.name = std::move(name);
  return e;
}

Expression apply(std::string op, Expression a, Expression b) {
  Expression e;
  e.op = std::move(op);
  e.parts = {std::move(a), std::move(b)};
  return e;
}

Expression draw_expression(Random& r, std::vector<std::string> const& names, int depth) {
  if (depth <= 0 || r.chance(15))
    return r.chance(75) && !names.empty() ? variable(r.pick(names)) : number(r.below(17));
  auto const a = draw_expression(r, names, depth - 1);
  auto const kind = r.below(100);
  if (kind < 20) return apply("%", a, number(r.pick({2, 4, 8, 16, 3, 5, 32})));
  if (kind < 40) return apply("/", a, number(r.pick({2, 4, 8, 16, 3})));
  if (kind < 55) return apply("*", a, number(r.pick({2, 4, 8, 3, 16})));
  if (kind < 60) return apply("<<", a, number(r.below(5)));
  if (kind < 65) return apply(">>", a, number(r.below(5)));
  if (kind < 72) return apply("&", a, number(r.below(32)));
  if (kind < 75) return apply("|", a, number(r.below(16)));
  auto const b = draw_expression(r, names, depth - 1);
  if (kind < 88) return apply("+", a, b);
  if (kind < 95) return apply("^", a, b);
  if (kind < 97) return apply("|", a, b);
  auto e = apply("?", apply(r.pick({"<", "<=", ">", ">=", "==", "!="}), a, number(r.below(16))), b);
  e.parts.push_back(draw_expression(r, names, depth - 1));
  return e;
}

}  // namespace reference
