#include "scopes.hpp"

#include <utility>

namespace swizproof::execution {

std::int32_t Scopes::loop_of(Id id) {
  while (loop_of_.size() < graph_.size()) {
    auto const at = static_cast<Id>(loop_of_.size());
    std::int32_t l = -1;
    if (Leaf const* const leaf = graph_.leaf_at(at)) l = leaf->loop;
    for (Id const operand : operands(graph_.node(at))) l = deeper(l, loop_of_[operand]);
    loop_of_.push_back(l);
  }
  return loop_of_[id];
}

std::int32_t Scopes::loop_of(std::vector<Id> const& ids) {
  std::int32_t l = -1;
  for (Id const id : ids) l = deeper(l, loop_of(id));
  return l;
}

std::int32_t Scopes::deeper(std::int32_t a, std::int32_t b) const {
  if (a == several || b == several) return several;
  if (a < 0 || flow_.encloses(a, b)) return b < 0 ? a : b;
  if (b < 0 || flow_.encloses(b, a)) return a;
  return several;
}

bool Scopes::changes_in(Id id, std::int32_t loop) {
  std::int32_t const l = loop_of(id);
  return l == several || flow_.encloses(loop, l);
}

Id Scopes::leave(Id id, Id from, Id to) {
  for (std::int32_t const l : flow_.around(flow_.loop[from]))
    if (!flow_.within(to, l)) id = leave_loop(id, l);
  return id;
}

Id Scopes::leave_loop(Id id, std::int32_t left) {
  if (graph_.is_constant(id) || !changes_in(id, left)) return id;
  auto const [at, fresh] = left_.try_emplace(std::uint64_t{id} << 32 | static_cast<std::uint32_t>(left), 0);
  if (!fresh) return at->second;
  Loop const& loop = flow_.loops[static_cast<std::size_t>(left)];
  Leaf leaf;
  leaf.kind = Leaf::Kind::exit;
  leaf.loop = loop.parent;
  leaf.left = left;
  leaf.line = program_.blocks[loop.header].line;
  leaf.args = {graph_.word_of(id)};
  unsigned const width = graph_.width(id);
  return at->second = graph_.leaf_value(std::move(leaf), width == 0 ? 1 : width);
}

}  // namespace swizproof::execution
