// The size of a term for Z3, which limits no time that it takes to make bits of words.
#pragma once

#include <swizproof/execution/terms.hpp>

#include <cstddef>

namespace swizproof::execution {

/// Gates that Z3 makes of a node, about: of a product or quotient of two words that are not known the square of their width. 100,000
/// take a second.
[[nodiscard]] inline std::size_t gates_of(Execution const& execution, Node const& n) {
  bool const quotient = n.op == Op::bv_udiv || n.op == Op::bv_urem;
  bool const product =
      n.op == Op::bv_mul && execution.node(n.a).op != Op::constant && execution.node(n.b).op != Op::constant;
  return quotient || product ? std::size_t{n.width} * n.width : n.width;
}

}  // namespace swizproof::execution
