#include "parameter_terms.hpp"

#include "executed_kernel.hpp"

namespace swizproof::kernel_detail {

using execution::Leaf;

std::optional<Id> free_parameter(ExecutedKernel const& kernel, Id term, std::uint64_t low) {
  auto const& nodes = kernel.execution.terms.nodes();
  Node const& n = nodes[term];
  auto const constant = [&](Id at) { return nodes[at].op == Op::constant; };
  if (n.op == Op::truncate || n.op == Op::zero_extend) return free_parameter(kernel, n.a, low);
  if (n.op == Op::bv_and || n.op == Op::bv_add || n.op == Op::bv_xor) {
    if (constant(n.a) == constant(n.b)) return std::nullopt;
    Id const rest = constant(n.a) ? n.b : n.a;
    std::uint64_t const number = nodes[constant(n.a) ? n.a : n.b].value;
    if (n.op == Op::bv_and && (number & low) != low) return std::nullopt;
    return free_parameter(kernel, rest, low);
  }
  if (n.op != Op::variable || (n.width < 64 && low >> n.width != 0)) return std::nullopt;
  Leaf const& l = kernel.execution.leaves[n.value];
  if (l.kind != Leaf::Kind::param) return std::nullopt;
  bool const given = kernel.launch.params.count(kernel.program.symbols[l.extra].name) != 0;
  return given ? std::nullopt : std::optional(term);
}

std::optional<Id> parameter_at(ExecutedKernel const& kernel, Id term) {
  Node const& n = kernel.execution.terms.nodes()[term];
  if (n.op == Op::truncate || n.op == Op::zero_extend) return parameter_at(kernel, n.a);
  return n.op == Op::variable ? free_parameter(kernel, term, 0) : std::nullopt;
}

}  // namespace swizproof::kernel_detail
