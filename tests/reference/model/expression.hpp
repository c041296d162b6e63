// C expressions of small integers: drawn as trees, written as text, computed here.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reference/random.hpp"

namespace reference {

/// A tree over named variables.
struct Expression {
  std::string op;  ///< "n", "v", or an operator of C
  long long number = 0;
  std::string name;
  std::vector<Expression> parts;
  std::vector<long long> table;  ///< op "t": by lane; it has no text

  long long operator()(std::map<std::string, long long> const& values) const;
  /// With the parentheses that C needs, and now and then more.
  std::string text(Random&, int outer = 0) const;
};

Expression number(long long);
Expression variable(std::string);
Expression apply(std::string op, Expression, Expression);
/// Any expression of these variables; every intermediate value is 0 or more where the variables are.
Expression draw_expression(Random&, std::vector<std::string> const& names, int depth);

}  // namespace reference
