#include "registers.hpp"

#include <algorithm>

namespace swizproof::execution {

Registers::Registers(Program const& program, Flow const& flow, std::vector<std::uint64_t> const& needed,
                     Execution& out, Graph& graph, Scopes& scopes, Cases& cases, Paths& paths)
    : program_(program),
      flow_(flow),
      needed_(needed),
      out_(out),
      graph_(graph),
      scopes_(scopes),
      cases_(cases),
      paths_(paths),
      stamp_(program.widths.size(), -1),
      now_(program.widths.size(), 0) {
  collect_definitions();
  place_joins();
}

void Registers::collect_definitions() {
  writers_.resize(needed_.size());
  for (Id const b : flow_.order)
    for (std::uint32_t s = program_.blocks[b].first; s < program_.blocks[b].last; ++s)
      if (std::int32_t const d = program_.steps[s].dst; d >= 0 && needed_[static_cast<std::size_t>(d)] != 0)
        if (auto& list = writers_[static_cast<std::size_t>(d)]; list.empty() || list.back() != b)
          list.push_back(b);
}

void Registers::place_joins() {
  frontier_.resize(program_.blocks.size());
  for (Id const b : flow_.order) {
    bool const join = flow_.before[b].size() >= 2 || (b == flow_.order.front() && !flow_.before[b].empty());
    if (!join) continue;
    for (Id p : flow_.before[b])
      while (static_cast<std::int32_t>(p) != flow_.idom[b]) {
        if (frontier_[p].empty() || frontier_[p].back() != b) frontier_[p].push_back(b);
        if (flow_.idom[p] < 0) break;
        p = static_cast<Id>(flow_.idom[p]);
      }
  }
}

/// Blocks at which different definitions of a register meet.
std::vector<Id> const& Registers::joins_of(std::uint32_t reg) {
  auto const [at, fresh] = joins_.try_emplace(reg);
  if (!fresh) return at->second;
  std::vector<Id> found, work = writers_[reg];
  while (!work.empty()) {
    Id const b = work.back();
    work.pop_back();
    for (Id const j : frontier_[b])
      if (std::find(found.begin(), found.end(), j) == found.end()) found.push_back(j), work.push_back(j);
  }
  std::sort(found.begin(), found.end());
  return at->second = std::move(found);
}

Id Registers::read(std::uint32_t reg, Id block) {
  return stamp_[reg] == static_cast<std::int32_t>(block) ? now_[reg] : at_start(reg, block);
}

void Registers::write(std::uint32_t reg, Id block, Id value) {
  if (stamp_[reg] != static_cast<std::int32_t>(block)) written_.push_back(reg);
  stamp_[reg] = static_cast<std::int32_t>(block);
  now_[reg] = value;
}

void Registers::finish(Id block) {
  for (std::uint32_t const reg : written_) ends_[key(reg, block)] = now_[reg];
  written_.clear();
}

Id Registers::at_end(std::uint32_t reg, Id block) {
  if (auto const found = ends_.find(key(reg, block)); found != ends_.end()) return found->second;
  return at_start(reg, block);
}

/// The value of a register at the start of a block: of the nearest dominator that writes it or joins writes.
Id Registers::at_start(std::uint32_t reg, Id block) {
  std::vector<Id> const& writers = writers_[reg];
  if (writers.empty()) return undefined(reg);
  if (writers.size() == 1 && writers[0] != block && flow_.dominates(writers[0], block)) {
    if (auto const found = ends_.find(key(reg, writers[0])); found != ends_.end())
      return scopes_.leave(found->second, writers[0], block);
  }
  std::vector<Id> const& joins = joins_of(reg);
  for (std::int32_t at = static_cast<std::int32_t>(block); at >= 0;) {
    Id const b = static_cast<Id>(at);
    if (b != block)
      if (auto const found = ends_.find(key(reg, b)); found != ends_.end())
        return scopes_.leave(found->second, b, block);
    if (std::binary_search(joins.begin(), joins.end(), b)) return scopes_.leave(join(reg, b), b, block);
    at = flow_.idom[b];
  }
  return undefined(reg);
}

Id Registers::undefined(std::uint32_t reg) {
  if (needed_[reg] == 0) return graph_.constant(program_.widths[reg], 0);  // any number will do
  auto const [at, fresh] = undefined_.try_emplace(reg, 0);
  if (!fresh) return at->second;
  Leaf leaf;
  leaf.kind = Leaf::Kind::undefined;
  leaf.extra = reg;
  return at->second = graph_.leaf_value(leaf, program_.widths[reg]);
}

bool Registers::is_header(Id block) const {
  return flow_.loop[block] >= 0 && flow_.loops[static_cast<std::size_t>(flow_.loop[block])].header == block;
}

/// The value of a register where definitions meet.
Id Registers::join(std::uint32_t reg, Id block) {
  if (auto const found = joined_.find(key(reg, block)); found != joined_.end()) return found->second;
  if (is_header(block)) return joined_[key(reg, block)] = at_header(reg, block);
  if (++joining_ > 400) throw TooLarge{};
  Id const value = gate(reg, block, false);
  --joining_;
  return joined_[key(reg, block)] = value;
}

/// A register at a loop's header, whose values are found later.
Id Registers::at_header(std::uint32_t reg, Id block) {
  Leaf leaf;
  leaf.kind = Leaf::Kind::phi;
  leaf.loop = flow_.loop[block];
  leaf.line = program_.blocks[block].line;
  Phi phi;
  phi.loop = leaf.loop;
  phi.node = graph_.add_leaf(leaf, program_.widths[reg]);
  Id const value = program_.widths[reg] == 1 ? graph_.truth_of(phi.node) : phi.node;
  out_.phi_of.back() = static_cast<std::int32_t>(out_.phis.size());
  out_.phis.push_back(phi);
  at_headers_.emplace_back(reg, block);
  return value;
}

Id Registers::gate(std::uint32_t reg, Id block, bool back) {
  std::vector<std::pair<Id, Id>> values;  // each once, and the truth with which a thread comes with it
  for (Id const p : flow_.before[block]) {
    bool const is_back = flow_.number[p] >= flow_.number[block];
    if (is_back != back) continue;
    Id const here = scopes_.leave(at_end(reg, p), p, block);
    auto const same =
        std::find_if(values.begin(), values.end(), [&](auto const& v) { return v.first == here; });
    if (same == values.begin() && !values.empty()) continue;  // the value where none of these truths holds
    Id const comes = values.empty() ? 1 : back ? paths_.back(p, block) : paths_.by_edge(p, block);
    if (same == values.end())
      values.emplace_back(here, comes);
    else
      same->second = graph_.either(same->second, comes);
  }
  if (values.empty()) return undefined(reg);
  Id value = values[0].first;
  for (std::size_t i = 1; i < values.size(); ++i)
    value = cases_.pick(values[i].second, values[i].first, value);
  return value;
}

}  // namespace swizproof::execution
