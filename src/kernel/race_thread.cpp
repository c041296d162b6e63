#include "race_thread.hpp"

#include <swizproof/program/step.hpp>

namespace swizproof::kernel_detail {

using execution::Leaf;
using program::Special;

std::uint32_t threads_of(BlockShapes const& shapes) {
  return shapes.given ? (*shapes.given)[0] * (*shapes.given)[1] * (*shapes.given)[2] : shapes.most;
}

ThreadNumbers::Number ThreadNumbers::of(std::uint32_t id) {
  if (auto const at = memo_.find(id); at != memo_.end()) return at->second;
  memo_[id] = std::nullopt;
  return memo_[id] = compute(id);
}

ThreadNumbers::Number ThreadNumbers::compute(std::uint32_t id) {
  Node const n = execution_.node(id);
  if (n.op == Op::variable) return leaf(*execution_.leaf_at(id), n.width);
  unsigned const count = operand_count(n.op);
  if (count == 0) return n.value;
  Number const a = of(n.a);
  if (n.op == Op::ite) return a ? of(*a != 0 ? n.b : n.c) : std::nullopt;
  Number const b = count > 1 ? of(n.b) : Number(0);
  bool const all = n.op == Op::conjunction || n.op == Op::bv_and || n.op == Op::bv_mul;
  if (all && ((a && *a == 0) || (b && *b == 0))) return 0;
  if (n.op == Op::disjunction && ((a && *a != 0) || (b && *b != 0))) return 1;
  if (!a || !b) return std::nullopt;
  return value_of(n, *a, *b);
}

ThreadNumbers::Number ThreadNumbers::leaf(Leaf const& l, unsigned width) {
  if (l.kind == Leaf::Kind::voted && elects(program_, l)) {
    Node const& mask = execution_.node(l.args[0]);
    if (mask.op != Op::constant || mask.value != low_bits(32)) return std::nullopt;
    return shapes_.lane_0_leads ? 0 : leader_;
  }
  if (l.kind == Leaf::Kind::symbol && program_.symbols[l.extra].placed)
    return *program_.symbols[l.extra].placed & low_bits(width);
  if (l.kind == Leaf::Kind::shuffle) return first_lane(l);
  if (l.kind != Leaf::Kind::special || execution::is_uniform(l)) return std::nullopt;
  auto const s = static_cast<Special>(l.extra);
  bool const line = shapes_.dimensions == 1;
  if (s == Special::laneid && (shapes_.given || line)) return thread_ % 32;
  if (shapes_.given && s <= Special::ntid_z)
    return program::special_of(l.extra, {thread_, thread_ % 32, *shapes_.given, {1, 1, 1}, {}});
  if (s == Special::tid_x && line) return thread_;
  if ((s == Special::tid_y || s == Special::tid_z) && line) return 0;
  return std::nullopt;
}

/// The number that the first lane of the warp gives: each warp has it.
ThreadNumbers::Number ThreadNumbers::first_lane(Leaf const& l) {
  bool const full = static_cast<program::Shuffle>(l.extra) == program::Shuffle::idx;
  Number const lane = of(l.args[1]), bounds = of(l.args[2]);
  if (!full || !lane || *lane != 0 || !bounds || *bounds != 31) return std::nullopt;
  return ThreadNumbers(program_, execution_, shapes_, thread_ / 32 * 32,
                       leader_ && *leader_ == no_lane ? std::nullopt : leader_)
      .of(l.args[0]);
}

}  // namespace swizproof::kernel_detail
