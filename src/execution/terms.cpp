#include <swizproof/execution/terms.hpp>

#include <swizproof/program/floating.hpp>
#include <swizproof/program/needed_bits.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace swizproof::execution {

namespace {

using Id = std::uint32_t;

/// The graph is larger than allowed.
struct TooLarge {};

class Executor {
 public:
  Executor(Program const& program, Flow const& flow, Execution& out, std::size_t most_nodes)
      : program_(program), flow_(flow), out_(out), terms_(out.terms), most_nodes_(most_nodes) {}

  void run() {
    collect_definitions();
    place_joins();
    reach_.assign(program_.blocks.size(), 1);
    path_.assign(program_.blocks.size(), 1);
    exact_.assign(program_.blocks.size(), true), decides_ = exact_;
    find_ends();
    stamp_.assign(program_.widths.size(), -1);
    now_.assign(program_.widths.size(), 0);
    for (std::size_t l = 0; l < flow_.loops.size(); ++l) {
      Leaf leaf;
      leaf.kind = Leaf::Kind::counter;
      leaf.width = 64;
      leaf.loop = static_cast<std::int32_t>(l);
      out_.counters.push_back(add_leaf(leaf, 64));
    }
    out_.accesses.resize(program_.accesses.size());
    out_.operands.resize(program_.operands.size());
    for (Id const block : flow_.order) run_block(block);
    close_exits();
    close_loops();
  }

 private:
  // ------------------------------------------------------------------------------------- nodes

  Id add(Node node) {
    if (terms_.nodes().size() > most_nodes_) throw TooLarge{};
    return terms_.add(node);
  }
  Id constant(unsigned width, std::uint64_t value) { return terms_.constant(width, value).id; }
  [[nodiscard]] Node const& node(Id id) const { return terms_.nodes()[id]; }
  [[nodiscard]] unsigned width(Id id) const { return node(id).width; }
  [[nodiscard]] bool is_constant(Id id) const {
    return node(id).op == Op::constant || node(id).op == Op::truth;
  }

  Id add_leaf(Leaf leaf, unsigned bits) {
    if (terms_.nodes().size() > most_nodes_) throw TooLarge{};
    leaf.width = static_cast<std::uint8_t>(bits);
    Term const t = terms_.variable(bits, bits, {});
    out_.leaves.push_back(std::move(leaf));
    out_.phi_of.push_back(-1);
    return t.id;
  }
  /// A leaf for a register: predicates are truths.
  Id leaf_value(Leaf leaf, unsigned bits) {
    Id const id = add_leaf(std::move(leaf), bits);
    return bits == 1 ? truth_of(id) : id;
  }
  Id truth_of(Id bit) { return add({Op::eq, 0, bit, constant(1, 1)}); }
  /// A truth as a word of one bit.
  Id word_of(Id truth) {
    return width(truth) == 0 ? add({Op::ite, 1, truth, constant(1, 1), constant(1, 0)}) : truth;
  }

  Id negate(Id a) { return add({Op::negation, 0, a}); }
  Id both(Id a, Id b) {
    if (a == b) return a;
    if (opposite(a, b)) return 0;
    return add({Op::conjunction, 0, a, b});
  }
  Id either(Id a, Id b) {
    if (a == b) return a;
    if (opposite(a, b)) return 1;
    // (p && q) || (p && !q) is p
    Node const x = node(a), y = node(b);
    if (x.op == Op::conjunction && y.op == Op::conjunction)
      for (auto const& [p, q, r, s] : {std::array<Id, 4>{x.a, x.b, y.a, y.b},
                                       {x.b, x.a, y.a, y.b},
                                       {x.a, x.b, y.b, y.a},
                                       {x.b, x.a, y.b, y.a}})
        if (p == r && opposite(q, s)) return p;
    return add({Op::disjunction, 0, a, b});
  }
  [[nodiscard]] bool opposite(Id a, Id b) const {
    return (node(a).op == Op::negation && node(a).a == b) || (node(b).op == Op::negation && node(b).a == a) ||
           (a < 2 && b < 2 && a != b);
  }
  Id pick(Id condition, Id yes, Id no) {
    if (yes == no || condition == 1) return yes;
    if (condition == 0) return no;
    yes = in_case(yes, condition, true), no = in_case(no, condition, false);
    if (yes == no) return yes;
    // A register that was not written may hold anything, so also the other value.
    if (is_undefined(no)) return yes;
    if (is_undefined(yes)) return no;
    if (width(yes) == 0) return either(both(condition, yes), both(negate(condition), no));
    if (node(condition).op == Op::negation)
      return add({Op::ite, static_cast<std::uint8_t>(width(yes)), node(condition).a, no, yes});
    return add({Op::ite, static_cast<std::uint8_t>(width(yes)), condition, yes, no});
  }
  /// A value where the truth that chooses it is known: registers that two guarded instructions write.
  Id in_case(Id value, Id condition, bool is) {
    if (is_constant(value) || (node(value).op == Op::variable && !is_load(value))) return value;
    Known known;
    known.most_terms = 40;
    return know(condition, is, known) ? under(value, known, 0) : value;
  }
  [[nodiscard]] bool is_undefined(Id id) const {
    if (node(id).op == Op::eq && node(node(id).a).op == Op::variable) id = node(id).a;
    if (node(id).op == Op::eq && node(node(id).b).op == Op::variable) id = node(id).b;
    return node(id).op == Op::variable && out_.leaves[node(id).value].kind == Leaf::Kind::undefined;
  }

  /// a + b with constants gathered: (x + 1) + 2 is x + 3.
  Id sum(unsigned w, Id a, Id b) {
    if (is_constant(a)) std::swap(a, b);
    if (std::optional<Id> const r = remainder(w, a, b, true)) return *r;
    if (std::optional<Id> const r = remainder(w, b, a, true)) return *r;
    if (is_constant(b) && node(a).op == Op::bv_add) {
      Node const n = node(a);
      if (is_constant(n.a)) return sum(w, n.b, add({Op::bv_add, static_cast<std::uint8_t>(w), n.a, b}));
      if (is_constant(n.b)) return sum(w, n.a, add({Op::bv_add, static_cast<std::uint8_t>(w), n.b, b}));
    }
    return add({Op::bv_add, static_cast<std::uint8_t>(w), a, b});
  }

  // ------------------------------------------------------------------------------------- division by a constant

  /// A product x * factor of 64 bits, shifted right: x is of 32 bits, extended by zeros.
  struct ShiftedProduct {
    Id x;
    std::uint64_t factor, shift;
  };
  std::optional<ShiftedProduct> shifted_product(Id at, std::uint64_t shift) {
    for (;; at = node(at).a) {
      Node const& n = node(at);
      if (n.op == Op::bv_lshr && is_constant(n.b)) {
        shift += std::min<std::uint64_t>(node(n.b).value, 64);
        continue;
      }
      Node const& of = node(n.op == Op::truncate ? n.a : at);
      bool const whole = n.op == Op::truncate && of.op == Op::bv_lshr && is_constant(of.b) &&
                         of.width <= n.width + node(of.b).value;
      if (!whole) break;
    }
    Node const n = node(at);
    if (n.op != Op::bv_mul || n.width != 64) return std::nullopt;
    auto const& [number, factor] = is_constant(n.a) ? std::pair{n.b, n.a} : std::pair{n.a, n.b};
    Node const x = node(number);
    bool const fits = is_constant(factor) && node(factor).value >> 32 == 0;  // the product in 64 bits
    if (!fits || x.op != Op::zero_extend || width(x.a) > 32) return std::nullopt;
    return ShiftedProduct{resized(Term{&terms_, x.a}, 32).id, node(factor).value, shift};
  }

  /// x / d, for (x * m) >> k and ((x - t) / 2 + t) >> k with t = (x * m) >> 32, by which compilers divide words of 32 bits by a constant.
  std::optional<Id> quotient(unsigned w, Id a, Id by) {
    if (!is_constant(by)) return std::nullopt;
    std::uint64_t const shift = node(by).value;
    Node const n = node(a);
    std::optional<ShiftedProduct> p = shifted_product(a, shift);
    std::uint64_t divisor = p ? divisor_of(p->factor, p->shift) : 0;
    if (n.op == Op::bv_add && n.width == 32)
      for (auto const& [half, t] : {std::pair{n.a, n.b}, std::pair{n.b, n.a}}) {
        Node const h = node(half), apart = node(h.a);
        bool const halved = h.op == Op::bv_lshr && is_constant(h.b) && node(h.b).value == 1;
        if (!halved || apart.op != Op::bv_sub || apart.b != t) continue;
        if (p = shifted_product(t, 0); p && p->shift == 32 && p->x == apart.a)
          divisor = divisor_of(p->factor + (std::uint64_t{1} << 32), 33 + shift);
      }
    if (divisor == 0) return std::nullopt;
    return resized(Term{&terms_, binary(Op::bv_udiv, 32, p->x, constant(32, divisor))}, w).id;
  }

  Id shifted_right(unsigned w, Id x, Id by) {
    return quotient(w, x, by).value_or(binary(Op::bv_lshr, w, x, by));
  }

  /// x % d, for x - d * (x / d), or x + (x / d) * -d if `added`.
  std::optional<Id> remainder(unsigned w, Id x, Id product, bool added) {
    Node const p = node(product);
    if (p.op != Op::bv_mul || w != 32) return std::nullopt;
    auto const& [q, factor] = is_constant(p.a) ? std::pair{p.b, p.a} : std::pair{p.a, p.b};
    Node const n = node(q);
    if (!is_constant(factor) || n.op != Op::bv_udiv || n.a != x || !is_constant(n.b)) return std::nullopt;
    std::uint64_t const d = added ? -node(factor).value & 0xffffffff : node(factor).value;
    return d == node(n.b).value ? std::optional(binary(Op::bv_urem, w, x, n.b)) : std::nullopt;
  }

  // ------------------------------------------------------------------------------------- which loops a node changes in

  static constexpr std::int32_t several = -2;
  /// The deepest loop of its leaves, -1 for none, `several` if they do not lie within each other.
  std::int32_t loop_of(Id id) {
    while (loop_of_.size() < terms_.nodes().size()) {
      Node const& n = terms_.nodes()[loop_of_.size()];
      std::int32_t l = -1;
      if (n.op == Op::variable) {
        l = out_.leaves[n.value].loop;
      } else if (n.op != Op::constant && n.op != Op::truth) {
        l = deeper(loop_of_[n.a], n.b < loop_of_.size() && uses_b(n.op) ? loop_of_[n.b] : -1);
        if (n.op == Op::ite) l = deeper(l, loop_of_[n.c]);
      }
      loop_of_.push_back(l);
    }
    return loop_of_[id];
  }
  static bool uses_b(Op op) { return op != Op::negation && op != Op::zero_extend && op != Op::truncate; }
  [[nodiscard]] bool inside(std::int32_t inner, std::int32_t outer) const {
    for (; inner >= 0; inner = flow_.loops[static_cast<std::size_t>(inner)].parent)
      if (inner == outer) return true;
    return false;
  }
  [[nodiscard]] std::int32_t deeper(std::int32_t a, std::int32_t b) const {
    if (a == several || b == several) return several;
    if (a < 0 || inside(b, a)) return b < 0 ? a : b;
    if (b < 0 || inside(a, b)) return a;
    return several;
  }
  bool changes_in(Id id, std::int32_t loop) {
    std::int32_t const l = loop_of(id);
    return l == several || inside(l, loop);
  }

  /// The value in a block outside of loops that it was computed in: that of the iteration in which each is left, the innermost first.
  Id leave(Id id, Id from, Id to) {
    for (std::int32_t l = flow_.loop[from]; l >= 0; l = flow_.loops[static_cast<std::size_t>(l)].parent)
      if (!flow_.within(to, l)) id = leave_loop(id, l);
    return id;
  }
  Id leave_loop(Id id, std::int32_t left) {
    if (is_constant(id) || !changes_in(id, left)) return id;
    auto const [at, fresh] = left_.try_emplace(std::uint64_t{id} << 32 | static_cast<std::uint32_t>(left), 0);
    if (!fresh) return at->second;
    Leaf leaf;
    leaf.kind = Leaf::Kind::exit;
    leaf.loop = flow_.loops[static_cast<std::size_t>(left)].parent;
    leaf.left = left;
    leaf.line = program_.blocks[flow_.loops[static_cast<std::size_t>(left)].header].line;
    bool const truth = width(id) == 0;
    leaf.args = {truth ? word_of(id) : id};
    Id const out = leaf_value(std::move(leaf), truth ? 1 : width(id));
    left_[std::uint64_t{id} << 32 | static_cast<std::uint32_t>(left)] = out;
    return out;
  }

  /// Loops in which a thread may end.
  void find_ends() {
    ends_within_.assign(flow_.loops.size(), false);
    for (Id const b : flow_.order) {
      Block const& block = program_.blocks[b];
      if (block.taken >= 0 && (block.condition < 0 || block.next >= 0)) continue;
      for (std::int32_t l = flow_.loop[b]; l >= 0; l = flow_.loops[static_cast<std::size_t>(l)].parent)
        ends_within_[static_cast<std::size_t>(l)] = true;
    }
  }
  /// A block behind a loop. Its path is exact if every thread that enters the loop comes out by its one exit, if it comes to an end;
  /// and the last iteration of those that do decides it if no thread ends within.
  void leaves_behind(std::int32_t l, Id block) {
    bool const ends = ends_within_[static_cast<std::size_t>(l)];
    exact_[block] = exact_[block] && !ends && flow_.loops[static_cast<std::size_t>(l)].exits.size() == 1;
    decides_[block] = decides_[block] && !ends;
  }

  // ------------------------------------------------------------------------------------- definitions and joins

  void collect_definitions() {
    needed_ = needed_bits(program_, flow_);
    blocks_of_.resize(needed_.size());
    for (Id const b : flow_.order)
      for (std::uint32_t s = program_.blocks[b].first; s < program_.blocks[b].last; ++s)
        if (std::int32_t const d = program_.steps[s].dst; d >= 0 && needed_[static_cast<std::size_t>(d)] != 0)
          if (auto& list = blocks_of_[static_cast<std::size_t>(d)]; list.empty() || list.back() != b)
            list.push_back(b);
  }

  void place_joins() {
    std::size_t const n = program_.blocks.size();
    frontier_.resize(n);
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
  std::vector<Id> const& joins_of(std::uint32_t reg) {
    auto const [at, fresh] = joins_.try_emplace(reg);
    if (!fresh) return at->second;
    std::vector<Id> found, work = blocks_of_[reg];
    while (!work.empty()) {
      Id const b = work.back();
      work.pop_back();
      for (Id const j : frontier_[b])
        if (std::find(found.begin(), found.end(), j) == found.end()) found.push_back(j), work.push_back(j);
    }
    std::sort(found.begin(), found.end());
    return joins_[reg] = std::move(found);
  }

  static std::uint64_t key(std::uint32_t reg, Id block) { return std::uint64_t{reg} << 32 | block; }

  /// The value of a register at the end of a block.
  Id at_end(std::uint32_t reg, Id block) {
    if (auto const found = ends_.find(key(reg, block)); found != ends_.end()) return found->second;
    return at_start(reg, block);
  }

  /// The value of a register at the start of a block: of the nearest dominator that writes it or joins writes.
  Id at_start(std::uint32_t reg, Id block) {
    std::vector<Id> const& writers = blocks_of_[reg];
    if (writers.empty()) return undefined(reg);
    if (writers.size() == 1 && writers[0] != block && flow_.dominates(writers[0], block)) {
      if (auto const found = ends_.find(key(reg, writers[0])); found != ends_.end())
        return leave(found->second, writers[0], block);
    }
    std::vector<Id> const& joins = joins_of(reg);
    for (std::int32_t at = static_cast<std::int32_t>(block); at >= 0;) {
      Id const b = static_cast<Id>(at);
      if (b != block)
        if (auto const found = ends_.find(key(reg, b)); found != ends_.end())
          return leave(found->second, b, block);
      if (std::binary_search(joins.begin(), joins.end(), b)) return leave(join(reg, b), b, block);
      at = flow_.idom[b];
    }
    return undefined(reg);
  }

  Id undefined(std::uint32_t reg) {
    auto const [at, fresh] = undefined_.try_emplace(reg, 0);
    if (!fresh) return at->second;
    Leaf leaf;
    leaf.kind = Leaf::Kind::undefined;
    leaf.extra = reg;
    Id const id = leaf_value(leaf, program_.widths[reg]);
    return undefined_[reg] = id;
  }

  [[nodiscard]] bool is_header(Id block) const {
    return flow_.loop[block] >= 0 && flow_.loops[static_cast<std::size_t>(flow_.loop[block])].header == block;
  }

  /// The value of a register where definitions meet.
  Id join(std::uint32_t reg, Id block) {
    if (auto const found = ends_.find(key(reg, block) | join_bit); found != ends_.end()) return found->second;
    Id value = 0;
    if (is_header(block)) {
      Leaf leaf;
      leaf.kind = Leaf::Kind::phi;
      leaf.loop = flow_.loop[block];
      leaf.line = program_.blocks[block].line;
      Id const id = add_leaf(leaf, program_.widths[reg]);
      value = program_.widths[reg] == 1 ? truth_of(id) : id;
      out_.phi_of.back() = static_cast<std::int32_t>(out_.phis.size());
      Phi phi;
      phi.node = id;
      phi.loop = leaf.loop;
      out_.phis.push_back(phi);
      pending_.push_back({reg, block});
      ends_[key(reg, block) | join_bit] = value;
      return value;
    }
    if (++joining_ > 400) throw TooLarge{};
    value = gate(reg, block, false);
    --joining_;
    ends_[key(reg, block) | join_bit] = value;
    return value;
  }

  /// The value over the forward edges into a block, or, of a header, over its back edges.
  Id gate(std::uint32_t reg, Id block, bool back) {
    std::vector<std::pair<Id, Id>> values;  // each once, and the truth with which a thread comes with it
    for (Id const p : flow_.before[block]) {
      bool const is_back = flow_.number[p] >= flow_.number[block];
      if (is_back != back) continue;
      Id const here = leave(at_end(reg, p), p, block);
      auto const same =
          std::find_if(values.begin(), values.end(), [&](auto const& v) { return v.first == here; });
      if (same == values.begin() && !values.empty()) continue;  // the value where none of these truths holds
      Id const comes = values.empty() ? 1 : back ? back_condition(p, block) : edge_path(p, block);
      if (same == values.end())
        values.emplace_back(here, comes);
      else
        same->second = either(same->second, comes);
    }
    if (values.empty()) return undefined(reg);
    Id value = values[0].first;
    for (std::size_t i = 1; i < values.size(); ++i) value = pick(values[i].second, values[i].first, value);
    return value;
  }

  // ------------------------------------------------------------------------------------- conditions

  /// The truth with which block `from` goes on to `to`.
  Id edge(Id from, Id to) {
    Block const& b = program_.blocks[from];
    if (b.condition < 0) return 1;
    auto const target = static_cast<std::int32_t>(to);
    if (b.taken == target && b.next == target) return 1;
    Id const c = at_end(static_cast<std::uint32_t>(b.condition), from);
    return (b.taken == target) != b.negated ? c : negate(c);
  }

  /// From block `top`, which dominates `block`, to `block`.
  Id chain(Id block, Id top) {
    Id all = 1;
    for (Id at = block; at != top; at = static_cast<Id>(flow_.idom[at])) {
      all = both(all, reach_[at]);
      if (flow_.idom[at] < 0) break;
    }
    return all;
  }

  /// From the dominator of `to` by way of the edge from `from`; a term of the iteration in which loops are left.
  Id edge_path(Id from, Id to) {
    auto const top = static_cast<Id>(flow_.idom[to]);
    std::int32_t left = -1;
    for (std::int32_t l = flow_.loop[from]; l >= 0; l = flow_.loops[static_cast<std::size_t>(l)].parent)
      if (!flow_.within(to, l)) left = l;
    if (left < 0) return both(chain(from, top), edge(from, to));
    Loop const& loop = flow_.loops[static_cast<std::size_t>(left)];
    leaves_behind(left, to);
    if (flow_.within(top, left)) return leave(both(chain(from, top), edge(from, to)), from, to);
    Id const entered = chain(loop.header, top);
    if (loop.exits.size() == 1) return entered;  // a thread that enters it leaves it there, or never
    return both(entered, leave(both(chain(from, loop.header), edge(from, to)), from, to));
  }
  Id back_condition(Id latch, Id header) { return both(chain(latch, header), edge(latch, header)); }

  void find_reach(Id block) {
    std::int32_t const top = flow_.idom[block];
    if (top < 0) return;
    exact_[block] = exact_[static_cast<std::size_t>(top)];
    decides_[block] = decides_[static_cast<std::size_t>(top)];
    Id reach = 0;
    bool first = true;
    if (flow_.postdominates(block, static_cast<Id>(top))) {
      reach = 1;
    } else {
      for (Id const p : flow_.before[block]) {
        if (flow_.number[p] >= flow_.number[block]) continue;
        Id const c = edge_path(p, block);
        reach = first ? c : either(reach, c);
        first = false;
      }
    }
    reach_[block] = reach;
    // Conditions within a loop that is left are those of its last iteration: the entry of the loop stands for them.
    Id base = static_cast<Id>(top);
    for (std::int32_t l = flow_.loop[base]; l >= 0; l = flow_.loops[static_cast<std::size_t>(l)].parent)
      if (!flow_.within(block, l)) {
        base = flow_.loops[static_cast<std::size_t>(l)].header;
        leaves_behind(l, block);
      }
    path_[block] = both(path_[base], reach);
  }

  // ------------------------------------------------------------------------------------- steps

  Id read(std::uint32_t reg, Id block) {
    if (stamp_[reg] == static_cast<std::int32_t>(block)) return now_[reg];
    return at_start(reg, block);
  }
  Id value(Source const& s, Id block, unsigned w) {
    if (s.constant) return w == 1 ? static_cast<Id>(s.value & 1) : constant(w, s.value);
    return read(static_cast<std::uint32_t>(s.value), block);
  }
  [[nodiscard]] unsigned width_of(Source const& s, unsigned other) const {
    return s.constant ? other : program_.widths[s.value];
  }

  void run_block(Id block) {
    find_reach(block);
    Block const& b = program_.blocks[block];
    std::vector<std::uint32_t> written;
    for (std::uint32_t s = b.first; s < b.last; ++s) {
      Step const& step = program_.steps[s];
      if (step.action == Action::access) {
        run_access(program_.accesses[step.extra], out_.accesses[step.extra], block);
        continue;
      }
      if (step.action == Action::operand) {
        SharedOperand const& o = program_.operands[step.extra];
        run_access(o.at, out_.operands[step.extra], block);
        if (o.size) out_.operands[step.extra].size = value(*o.size, block, 32);
        continue;
      }
      if (step.dst < 0 || needed_[static_cast<std::size_t>(step.dst)] == 0) continue;
      auto const d = static_cast<std::uint32_t>(step.dst);
      Id const result = run_step(step, block);
      if (stamp_[d] != static_cast<std::int32_t>(block)) written.push_back(d);
      stamp_[d] = static_cast<std::int32_t>(block);
      now_[d] = result;
    }
    for (std::uint32_t const d : written) ends_[key(d, block)] = now_[d];
  }

  void run_access(MemoryAccess const& m, ExecutedAccess& out, Id block) {
    unsigned const w = width_of(m.address, 32);
    Id const base = value(m.address, block, w);
    out.address = sum(w, base, constant(w, m.offset));
    out.guard = path_[block];
    if (m.guard >= 0) {
      Id const g = read(static_cast<std::uint32_t>(m.guard), block);
      out.guard = both(out.guard, m.guard_negated ? negate(g) : g);
    }
    Known known;
    if (know(out.guard, true, known)) out.address = under(out.address, known, 0);
    out.loop = flow_.loop[block];
    out.reached = true;
    out.exact = exact_[block];
    out.apart = flow_.apart[block];
  }

  /// Truths that are known, and terms as they are then.
  struct Known {
    std::unordered_map<Id, bool> truths{};
    std::unordered_map<Id, Id> terms{};
    std::size_t most_terms = 3000;
  };
  /// Takes a truth for known, and what follows from it; false if that is nothing.
  bool know(Id truth, bool is, Known& known) {
    if (truth < 2 || known.truths.size() > 400) return false;
    known.truths[truth] = is;
    Node const n = node(truth);
    if (n.op == Op::negation) know(n.a, !is, known);
    if ((n.op == Op::conjunction && is) || (n.op == Op::disjunction && !is))
      know(n.a, is, known), know(n.b, is, known);
    return true;
  }
  [[nodiscard]] std::optional<bool> known_truth(Id id, Known const& known, unsigned depth = 0) const {
    if (id < 2) return id == 1;
    if (auto const found = known.truths.find(id); found != known.truths.end()) return found->second;
    Node const& n = node(id);
    if (depth > 8) return std::nullopt;
    if (n.op == Op::negation) {
      auto const a = known_truth(n.a, known, depth + 1);
      return a ? std::optional(!*a) : std::nullopt;
    }
    if (n.op != Op::conjunction && n.op != Op::disjunction) return std::nullopt;
    auto const a = known_truth(n.a, known, depth + 1), b = known_truth(n.b, known, depth + 1);
    bool const decides = n.op == Op::disjunction;
    if ((a && *a == decides) || (b && *b == decides)) return decides;
    return a && b ? std::optional(!decides) : std::nullopt;
  }
  /// A term where truths are known: without the choices that they make.
  Id under(Id id, Known& known, unsigned depth) {
    Node const n = node(id);
    if (n.op == Op::variable) return load_under(id, known, depth);
    if (is_constant(id) || depth > 300) return id;
    if (n.width == 0)
      if (std::optional<bool> const is = known_truth(id, known)) return *is ? 1 : 0;
    if (auto const found = known.terms.find(id); found != known.terms.end()) return found->second;
    if (known.terms.size() > known.most_terms) return id;
    known.terms[id] = id;
    Id out = id;
    if (n.op == Op::ite) {
      std::optional<bool> const is = known_truth(n.a, known);
      if (is) {
        out = under(*is ? n.b : n.c, known, depth + 1);
      } else {
        Id const a = under(n.a, known, depth + 1), b = under(n.b, known, depth + 1),
                 c = under(n.c, known, depth + 1);
        if (a != n.a || b != n.b || c != n.c)
          out = b == c || a < 2 ? (a == 0 ? c : b) : add({Op::ite, n.width, a, b, c});
      }
    } else if (n.op == Op::negation) {
      Id const a = under(n.a, known, depth + 1);
      if (a != n.a) out = negate(a);
    } else if (n.op == Op::conjunction || n.op == Op::disjunction) {
      Id const a = under(n.a, known, depth + 1), b = under(n.b, known, depth + 1);
      if (a != n.a || b != n.b) out = n.op == Op::conjunction ? both(a, b) : either(a, b);
    } else {
      Node m = n;
      m.a = under(n.a, known, depth + 1);
      if (uses_b(n.op)) m.b = under(n.b, known, depth + 1);
      if (m.a != n.a || m.b != n.b) out = n.op == Op::bv_add ? sum(n.width, m.a, m.b) : add(m);
    }
    return known.terms[id] = out;
  }

  [[nodiscard]] bool is_load(Id variable) const {
    return out_.leaves[node(variable).value].kind == Leaf::Kind::load;
  }
  /// A load from memory where truths are known of its address: another leaf, of the same load.
  Id load_under(Id id, Known& known, unsigned depth) {
    if (!is_load(id) || depth > 300) return id;
    if (auto const found = known.terms.find(id); found != known.terms.end()) return found->second;
    if (known.terms.size() > known.most_terms) return id;
    known.terms[id] = id;
    Leaf of = out_.leaves[node(id).value];
    Id const address = under(of.args[0], known, depth + 1);
    if (address == of.args[0]) return id;
    of.args = {address};
    auto const [at, fresh] = loads_.try_emplace({id, address}, 0);
    if (fresh) at->second = add_leaf(of, width(id));
    return known.terms[id] = at->second;
  }

  Id binary(Op op, unsigned w, Id a, Id b) { return add({op, static_cast<std::uint8_t>(w), a, b}); }

  /// (s >> n) << n of the address of a variable, which is a multiple of 2^n: s.
  std::optional<Id> cleared_address(Id x, Id by) const {
    Node const& n = node(x);
    if (n.op != Op::bv_lshr || n.b != by || !is_constant(by) || node(by).value > 31) return std::nullopt;
    Node const& s = node(n.a);
    if (s.op != Op::variable || out_.leaves[s.value].kind != Leaf::Kind::symbol) return std::nullopt;
    std::uint32_t const align = program_.symbols[out_.leaves[s.value].extra].align;
    return align >> node(by).value << node(by).value == align && align != 0 ? std::optional(n.a)
                                                                            : std::nullopt;
  }

  Id difference(unsigned w, Id x, Id y) {
    if (is_constant(y)) return sum(w, x, constant(w, 0 - node(y).value));
    if (std::optional<Id> const r = remainder(w, x, y, false)) return *r;
    return x == y ? constant(w, 0) : binary(Op::bv_sub, w, x, y);
  }
  Id product(unsigned w, Id x, Id y) {
    if (is_constant(x) && node(x).value == 1) return y;
    if (is_constant(y) && node(y).value == 1) return x;
    return binary(Op::bv_mul, w, x, y);
  }

  /// a & b, as far as anything depends on it.
  Id masked(Step const& s, Id block) {
    for (Source const& mask : {s.a, s.b})
      if (mask.constant && (mask.value & needed_[static_cast<std::size_t>(s.dst)]) == 0)
        return constant(s.width, 0);
    return binary(Op::bv_and, s.width, value(s.a, block, s.width), value(s.b, block, s.width));
  }

  Id run_step(Step const& s, Id block) {
    unsigned const w = s.width;
    // Comparisons have a width of 1 and take words: of a register's width.
    unsigned const of = w == 1 && (s.action == Action::equal || s.action == Action::below)
                            ? width_of(s.a, width_of(s.b, 32))
                            : w;
    auto const a = [&] { return value(s.a, block, of); };
    auto const b = [&] { return value(s.b, block, of); };
    switch (s.action) {
      case Action::copy:
        return a();
      case Action::add:
        return sum(w, a(), b());
      case Action::sub:
      case Action::mul: {
        Id const x = a(), y = b();
        return s.action == Action::sub ? difference(w, x, y) : product(w, x, y);
      }
      case Action::bit_and:
        return masked(s, block);
      case Action::bit_or:
      case Action::bit_xor:
      case Action::udiv:
      case Action::urem:
        return binary(program::op_of(s.action), w, a(), b());
      case Action::shl: {
        Id const x = a(), y = b();
        if (std::optional<Id> const whole = cleared_address(x, y)) return *whole;
        return binary(Op::bv_shl, w, x, y);
      }
      case Action::lshr:
        return shifted_right(w, a(), b());
      case Action::zext:
      case Action::trunc: {
        Id const x = value(s.a, block, w);
        return resized(Term{&terms_, x}, w).id;
      }
      case Action::equal:
      case Action::below:
        return add({program::op_of(s.action), 0, a(), b()});
      case Action::both:
        return both(a(), b());
      case Action::either:
        return either(a(), b());
      case Action::differ: {
        Id const x = a(), y = b();
        return either(both(x, negate(y)), both(negate(x), y));
      }
      case Action::negate:
        return negate(a());
      case Action::choose:
        return pick(value(s.a, block, 1), value(s.b, block, w), value(s.c, block, w));
      default:
        return leaf_of(s, block);
    }
  }

  Id word(Source const& s, Id block, unsigned w) { return word_of(value(s, block, width_of(s, w))); }

  Id leaf_of(Step const& s, Id block) {
    Leaf leaf;
    leaf.line = s.line;
    leaf.loop = flow_.loop[block];
    leaf.extra = s.extra;
    switch (s.action) {
      case Action::special:
        leaf.kind = Leaf::Kind::special;
        leaf.loop = -1;
        return shared_leaf(leaf, s.width);
      case Action::symbol:
        leaf.kind = Leaf::Kind::symbol;
        leaf.loop = -1;
        return shared_symbol(leaf, s.width);
      case Action::opaque:
        leaf.kind = Leaf::Kind::opaque;
        leaf.args = {word(s.a, block, 64), word(s.b, block, 64), word(s.c, block, 64)};
        if (std::optional<std::uint64_t> const known = folded(s, leaf.args)) return constant(s.width, *known);
        leaf.loop = deepest_of(leaf.args);
        return shared_leaf(leaf, s.width);
      case Action::voted:
        leaf.kind = Leaf::Kind::voted;
        leaf.args = {s.a.constant && s.a.value == 0 ? executing(block) : word(s.a, block, 32),
                     word(s.b, block, 32)};
        return leaf_value(leaf, s.width);
      case Action::shuffle:
        leaf.kind = Leaf::Kind::shuffle;
        leaf.args = {word(s.a, block, 32), word(s.b, block, 32), word(s.c, block, 32), path_[block]};
        leaf.offset = decides_[block] ? 1 : 0;
        return leaf_value(leaf, s.width);
      case Action::load:
        return load(leaf, s, block);
      default:
        leaf.kind = Leaf::Kind::varying;
        leaf.offset = s.b.value;
        leaf.args = {word(s.a, block, 64)};
        return leaf_value(leaf, s.width);
    }
  }

  /// The floating-point number of a constant integer that the format holds exactly.
  [[nodiscard]] std::optional<std::uint64_t> folded(Step const& s, std::vector<Id> const& args) const {
    if (s.width < 16 || !std::all_of(args.begin(), args.end(), [&](Id a) { return is_constant(a); }))
      return std::nullopt;
    return exact_conversion(program_.names[s.extra], node(args[0]).value);
  }

  /// The full mask in a lane that executes a block; 0 in the others, and in all if they are not known.
  Id executing(Id block) {
    return decides_[block] ? pick(path_[block], constant(32, 0xffffffff), constant(32, 0)) : constant(32, 0);
  }

  /// The innermost loop in which any of the arguments changes; where they do not lie within each other, the block's own is not
  /// known here: a fresh leaf each time.
  std::int32_t deepest_of(std::vector<Id> const& args) {
    std::int32_t l = -1;
    for (Id const a : args) l = deeper(l, loop_of(a));
    return l;
  }

  /// One leaf for equal functions of equal arguments.
  Id shared_leaf(Leaf const& leaf, unsigned bits) {
    std::vector<std::uint64_t> name{static_cast<std::uint64_t>(leaf.kind), bits, leaf.extra, leaf.offset};
    name.insert(name.end(), leaf.args.begin(), leaf.args.end());
    auto const [at, fresh] = shared_.try_emplace(std::move(name), 0);
    if (fresh) at->second = leaf_value(leaf, bits);
    return at->second;
  }

  /// The address of a variable: a word of 64 bits, so that its halves and its whole are one leaf. Shared addresses have 32.
  Id shared_symbol(Leaf const& leaf, unsigned bits) {
    bool const narrow = program_.symbols[leaf.extra].space == Space::shared;
    Id const base = shared_leaf(leaf, narrow ? 32 : 64);
    return resized(Term{&terms_, base}, bits).id;
  }

  Id load(Leaf leaf, Step const& s, Id block) {
    auto const space = static_cast<Space>(s.extra);
    unsigned const w = width_of(s.a, 64);
    Id const address = sum(w, value(s.a, block, w), constant(w, s.b.value));
    leaf.args = {address};
    leaf.kind = Leaf::Kind::load;
    if (space == Space::param) {
      // Parameters do not change: the same address, the same value.
      Node const n = node(address);
      bool const moved = n.op == Op::bv_add && (is_constant(n.a) || is_constant(n.b));
      Id const base = !moved ? address : is_constant(n.a) ? n.b : n.a;
      std::uint64_t const offset = !moved ? 0 : node(is_constant(n.a) ? n.a : n.b).value;
      if (node(base).op == Op::variable && out_.leaves[node(base).value].kind == Leaf::Kind::symbol &&
          is_parameter(out_.leaves[node(base).value].extra)) {
        Leaf param;
        param.kind = Leaf::Kind::param;
        param.line = leaf.line;
        param.extra = out_.leaves[node(base).value].extra;
        param.offset = offset;
        return shared_leaf(param, s.width);
      }
      leaf.kind = Leaf::Kind::varying;
      leaf.extra = static_cast<std::uint32_t>(s.c.value);
    } else if (space == Space::constant || (space == Space::generic && of_launch(address))) {
      leaf.loop = loop_of(address) == several ? flow_.loop[block] : loop_of(address);
      return shared_leaf(leaf, s.width);
    } else if (space == Space::local || space == Space::generic) {
      leaf.kind = Leaf::Kind::varying;  // another value in each thread
      leaf.extra = static_cast<std::uint32_t>(s.c.value), leaf.offset = 1;
    }
    return leaf_value(leaf, s.width);
  }
  /// True for an address that the launch alone gives, as that of the parameters in memory.
  [[nodiscard]] bool of_launch(Id address) const {
    std::vector<Id> work{address};
    bool launch = false;
    for (std::size_t k = 0; k < work.size(); ++k) {
      Node const& n = node(work[k]);
      if (k > 40) return false;
      if (n.op == Op::variable) {
        Leaf const& l = out_.leaves[n.value];
        if (l.kind != Leaf::Kind::special || l.extra < 100) return false;
        launch = true;
      } else if (n.op != Op::constant) {
        if (n.op == Op::ite || n.width == 0) return false;
        work.push_back(n.a);
        if (uses_b(n.op)) work.push_back(n.b);
      }
    }
    return launch;
  }
  /// A parameter of the kernel: not one of a call within it, which changes.
  [[nodiscard]] bool is_parameter(std::uint32_t symbol) const {
    return symbol >= program_.first_param && symbol - program_.first_param < program_.params;
  }

  // ------------------------------------------------------------------------------------- loops

  void close_loops() {
    for (std::size_t i = 0; i < pending_.size(); ++i) {  // grows
      auto const [reg, header] = pending_[i];
      Id const init = gate(reg, header, false), back = gate(reg, header, true);
      Phi& phi = out_.phis[i];
      phi.init = word_of(init);
      phi.back = word_of(back);
    }
    find_copies();
    for (std::size_t i = 0; i < out_.phis.size(); ++i)
      if (out_.phis[i].kind != Phi::Kind::same) classify(i);
    for (Phi& phi : out_.phis)
      if (phi.kind == Phi::Kind::other || phi.kind == Phi::Kind::drift) find_orbit(phi);
  }

  /// A value, or some of its bits, behind loops that it was computed in.
  struct Masked {
    Id value = 0;
    std::uint64_t mask = ~std::uint64_t{0};
    Id exit = 0;                       ///< the value behind all of `left`; 0: it left none
    std::vector<std::int32_t> left{};  ///< the loops
    /// An order for sets; written out, for libc++ 14 has no operator<=> of vectors.
    bool operator<(Masked const& other) const {
      return std::tie(value, mask, exit, left) < std::tie(other.value, other.mask, other.exit, other.left);
    }
  };
  /// The register of which some bits are taken, if a loop may change it: r of `r & 255`.
  [[nodiscard]] std::optional<Masked> part_of_register(Masked at) const {
    Id const id = at.value;
    for (Node n = node(at.value); n.op == Op::bv_and && (is_constant(n.a) || is_constant(n.b));
         n = node(at.value))
      at.mask &= node(is_constant(n.a) ? n.a : n.b).value, at.value = is_constant(n.a) ? n.b : n.a;
    Node const& n = node(at.value);
    bool const changes =
        n.op == Op::ite || (n.op == Op::variable && (out_.leaves[n.value].kind == Leaf::Kind::phi ||
                                                     out_.leaves[n.value].kind == Leaf::Kind::exit));
    return changes && at.value != id ? std::optional(at) : std::nullopt;
  }
  /// Values that a register at a header takes, over the choices of its term: appended to `into`; false if they are too many.
  bool values_of(Id id, std::vector<Masked>& into) {
    std::vector<Masked> work{{.value = id}};
    std::set<Masked> seen;
    while (!work.empty()) {
      Masked const at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) continue;
      if (seen.size() > 200) return false;
      Node const& n = node(at.value);
      if (n.op == Op::ite && n.width != 1) {
        for (Id const side : {n.b, n.c}) work.push_back({side, at.mask, at.exit, at.left});
      } else if (auto const part = part_of_register(at)) {
        work.push_back(*part);
      } else if (n.op == Op::variable && out_.leaves[n.value].kind == Leaf::Kind::exit) {
        Leaf const& l = out_.leaves[n.value];
        Masked inside{l.args[0], at.mask, at.exit != 0 ? at.exit : at.value, at.left};
        inside.left.push_back(l.left);
        work.push_back(std::move(inside));
      } else {
        into.push_back(at);
      }
    }
    return true;
  }
  /// Bits that may be 1 in a term.
  [[nodiscard]] std::uint64_t possible_bits(Id id, unsigned depth = 0) const {
    Node const& n = node(id);
    std::uint64_t const all = low_bits(n.width);
    auto const of = [&](Id x) { return possible_bits(x, depth + 1); };
    if (depth > 30) return all;
    switch (n.op) {
      case Op::constant:
        return n.value;
      case Op::bv_and:
        return of(n.a) & of(n.b);
      case Op::bv_or:
      case Op::bv_xor:
        return of(n.a) | of(n.b);
      case Op::bv_lshr:
        return is_constant(n.b) && node(n.b).value < 64 ? of(n.a) >> node(n.b).value : all;
      case Op::zero_extend:
      case Op::truncate:
        return of(n.a) & all;
      case Op::ite:
        return n.width == 0 ? all : of(n.b) | of(n.c);
      case Op::variable: {
        Leaf const& l = out_.leaves[n.value];
        if (l.kind == Leaf::Kind::shuffle || l.kind == Leaf::Kind::exit) return of(l.args[0]) & all;
        if (l.kind == Leaf::Kind::special && l.extra <= static_cast<std::uint32_t>(Special::tid_z))
          return 1023;
        return all;
      }
      default:
        return all;
    }
  }
  /// Registers that only ever hold one value, which no iteration changes: copies of it, or of all its bits, that move between registers.
  void find_copies() {
    constexpr Id nothing_yet = ~0U, several_values = ~1U;
    std::vector<std::vector<Masked>> values(out_.phis.size());
    std::unordered_map<Id, Id> holds;  // of each phi's node
    for (std::size_t i = 0; i < values.size(); ++i) {
      Phi const& phi = out_.phis[i];
      bool const known = values_of(phi.init, values[i]) && values_of(phi.back, values[i]);
      holds[phi.node] = known ? nothing_yet : several_values;
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < values.size(); ++i) {
        Id& own = holds[out_.phis[i].node];
        if (own == several_values) continue;
        Id all = nothing_yet;
        for (auto const& [v, mask, exit, left] : values[i]) {
          auto const phi = holds.find(v);
          Id one = phi == holds.end()              ? (is_undefined(v) ? nothing_yet : v)
                   : phi->second == several_values ? v
                                                   : phi->second;
          auto const changes = [&](std::int32_t loop) { return changes_in(one, loop); };
          if (one != nothing_yet && std::any_of(left.begin(), left.end(), changes)) one = exit;
          if (one != nothing_yet && one != all) all = all == nothing_yet ? one : several_values;
          std::uint64_t const needed = needed_[pending_[i].first];
          if (all < several_values && (~mask & needed) != 0 && (possible_bits(all) & ~mask & needed) != 0)
            all = several_values;
        }
        if (all < several_values && (all == out_.phis[i].node || changes_in(all, out_.phis[i].loop)))
          all = several_values;
        if (all != own) own = all, changed = true;
      }
    }
    for (Phi& phi : out_.phis)
      if (Id const all = holds[phi.node]; all < several_values) phi.kind = Phi::Kind::same, phi.init = all;
  }

  /// A sum: constants and coefficients of other nodes, modulo 2^width.
  struct Linear {
    std::map<Id, std::uint64_t> terms{};
    std::uint64_t constant = 0;
  };
  bool linear(Id id, std::uint64_t factor, Linear& into, unsigned depth = 0) {
    if (depth > 200 || into.terms.size() > 64) return false;
    Node const n = node(id);
    auto const is = [&](Id x) { return node(x).op == Op::constant; };
    if (n.op == Op::constant) return into.constant += factor * n.value, true;
    if (n.op == Op::bv_add)
      return linear(n.a, factor, into, depth + 1) && linear(n.b, factor, into, depth + 1);
    if (n.op == Op::bv_sub)
      return linear(n.a, factor, into, depth + 1) && linear(n.b, 0 - factor, into, depth + 1);
    if (n.op == Op::bv_mul && is(n.a)) return linear(n.b, factor * node(n.a).value, into, depth + 1);
    if (n.op == Op::bv_mul && is(n.b)) return linear(n.a, factor * node(n.b).value, into, depth + 1);
    if (n.op == Op::bv_shl && is(n.b))
      return linear(n.a, node(n.b).value < 64 ? factor << node(n.b).value : 0, into, depth + 1);
    if (n.op == Op::ite && linear_choice(n, factor, into, depth)) return true;
    into.terms[id] += factor;
    return true;
  }
  /// c ? x + a : x + b is x + (c ? a : b); false if the two have nothing in common.
  bool linear_choice(Node const& n, std::uint64_t factor, Linear& into, unsigned depth) {
    Linear yes, no;
    if (depth > 20 || !linear(n.b, 1, yes, depth + 1) || !linear(n.c, 1, no, depth + 1)) return false;
    std::uint64_t const mask = low_bits(n.width);
    std::vector<Id> common;
    for (auto const& [id, k] : yes.terms)
      if (auto const other = no.terms.find(id);
          (k & mask) != 0 && other != no.terms.end() && ((other->second ^ k) & mask) == 0)
        common.push_back(id);
    if (common.empty()) return false;
    for (Id const id : common) {
      into.terms[id] += factor * yes.terms[id];
      yes.terms.erase(id), no.terms.erase(id);
    }
    into.terms[pick(n.a, node_of(yes, n.width), node_of(no, n.width))] += factor;
    return true;
  }
  Id node_of(Linear const& sum_of, unsigned w) {
    Id out = constant(w, sum_of.constant & low_bits(w));
    for (auto const& [id, factor] : sum_of.terms)
      out = sum(w, out, add({Op::bv_mul, static_cast<std::uint8_t>(w), id, constant(w, factor)}));
    return out;
  }

  void classify(std::size_t index) {
    Phi const phi = out_.phis[index];
    unsigned const w = width(phi.node);
    Phi& out = out_.phis[index];
    if (phi.back == phi.node) {
      out.kind = Phi::Kind::same;
      return;
    }
    Linear difference;
    if (w < 8 || !linear(phi.back, 1, difference)) return;
    std::uint64_t const mask = low_bits(w);
    auto const self = difference.terms.find(phi.node);
    if (self == difference.terms.end() || (self->second & mask) != 1) return;
    difference.terms.erase(self);
    bool invariant = true;
    Id step = constant(w, difference.constant);
    for (auto const& [id, factor] : difference.terms) {
      if ((factor & mask) == 0) continue;
      invariant = invariant && !changes_in(id, phi.loop);
      step = sum(w, step, add({Op::bv_mul, static_cast<std::uint8_t>(w), id, constant(w, factor)}));
    }
    out.step = step;
    out.kind = invariant ? Phi::Kind::affine : Phi::Kind::drift;
  }

  using State = std::unordered_map<Id, std::uint64_t>;
  /// The phis that those of `work` depend on, with their first values; false if they depend on more than constants.
  bool machine_of(std::int32_t loop, std::vector<Id> work, State& state) {
    while (!work.empty()) {
      Id const id = work.back();
      work.pop_back();
      if (state.count(id) != 0) continue;
      if (state.size() > 8) return false;
      std::int32_t const p = out_.phi_of[node(id).value];
      if (p < 0 || out_.phis[static_cast<std::size_t>(p)].loop != loop) return false;
      Phi const& one = out_.phis[static_cast<std::size_t>(p)];
      if (node(one.init).op != Op::constant) return false;
      state[id] = node(one.init).value;
      if (!leaves_of(one.back, work)) return false;
    }
    return true;
  }

  /// A phi whose next value depends on constants and on phis like it: all values that it takes, by running the machine,
  /// until the loop ends if that depends on them alone.
  void find_orbit(Phi& phi) {
    constexpr std::size_t most_steps = 4096;
    State state;
    if (!machine_of(phi.loop, {phi.node}, state)) return;
    Id const again = again_[static_cast<std::size_t>(phi.loop)];
    State with_end = state;
    std::vector<Id> tested;
    bool const ends = leaves_of(again, tested) && machine_of(phi.loop, tested, with_end);
    if (ends) state = std::move(with_end);
    std::vector<std::uint64_t> values;
    std::map<std::map<Id, std::uint64_t>, bool> seen;
    for (std::size_t k = 0; k < most_steps; ++k) {
      bool over = !seen.try_emplace({state.begin(), state.end()}, true).second;
      values.push_back(state[phi.node]);
      State memo = state, next;
      over = over || (ends && number(again, memo) == 0);
      if (over) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        phi.kind = Phi::Kind::orbit;
        phi.values = std::move(values);
        return;
      }
      for (auto const& [id, value] : state) next[id] = number(phi_at(id).back, memo);
      state = std::move(next);
    }
  }
  Phi const& phi_at(Id id) const { return out_.phis[static_cast<std::size_t>(out_.phi_of[node(id).value])]; }

  /// Appends the leaves of a term; false if they are too many, or other than phis.
  bool leaves_of(Id id, std::vector<Id>& into) {
    std::vector<Id> work{id};
    std::unordered_map<Id, bool> seen;
    while (!work.empty()) {
      Id const at = work.back();
      work.pop_back();
      if (!seen.try_emplace(at, true).second) continue;
      if (seen.size() > 300) return false;
      Node const& n = node(at);
      if (n.op == Op::variable) {
        if (out_.leaves[n.value].kind != Leaf::Kind::phi) return false;
        into.push_back(at);
        continue;
      }
      if (n.op == Op::constant || n.op == Op::truth) continue;
      work.push_back(n.a);
      if (uses_b(n.op)) work.push_back(n.b);
      if (n.op == Op::ite) work.push_back(n.c);
    }
    return true;
  }

  /// The number that a term is, its variables given in `memo`.
  std::uint64_t number(Id id, std::unordered_map<Id, std::uint64_t>& memo) {
    if (auto const found = memo.find(id); found != memo.end()) return found->second;
    Node const n = node(id);
    std::uint64_t value = 0;
    if (n.op == Op::constant || n.op == Op::truth) {
      value = n.value;
    } else if (n.op == Op::ite) {
      value = number(n.a, memo) != 0 ? number(n.b, memo) : number(n.c, memo);
    } else {
      std::uint64_t const a = number(n.a, memo), b = uses_b(n.op) ? number(n.b, memo) : 0;
      value = value_of(n, a, b);
    }
    return memo[id] = value;
  }

  /// The conditions under which loops end or go on. They may read registers at a header, which are closed afterwards.
  void close_exits() {
    out_.exits.resize(flow_.loops.size());
    out_.backs.resize(flow_.loops.size());
    again_.assign(flow_.loops.size(), 0);
    for (std::size_t l = 0; l < flow_.loops.size(); ++l) {
      Id const header = flow_.loops[l].header;
      for (Id const latch : flow_.loops[l].latches) {
        Id const back = leave(back_condition(latch, header), latch, header);
        again_[l] = either(again_[l], back);
        if (flow_.loops[l].latches.size() > 1) out_.backs[l].push_back(back);
      }
      for (Id const p : flow_.before[header])
        if (program_.blocks[p].copied && flow_.number[p] < flow_.number[header])
          out_.backs[l].push_back(edge_path(p, header));
      for (Loop::Exit const& e : flow_.loops[l].exits) {
        Id const c = both(chain(e.from, header), edge(e.from, e.to));
        // An exit from a loop within it is that loop's matter in its last iteration.
        Id const left = leave(c, e.from, header);
        out_.exits[l].push_back(left);
      }
    }
  }

  static constexpr std::uint64_t join_bit = std::uint64_t{1} << 63;

  Program const& program_;
  Flow const& flow_;
  Execution& out_;
  Terms& terms_;
  std::size_t most_nodes_;
  std::vector<std::uint64_t> needed_{};       ///< bits of each register
  std::vector<std::vector<Id>> blocks_of_{};  ///< blocks that write each register
  std::vector<std::vector<Id>> frontier_{};
  std::unordered_map<std::uint32_t, std::vector<Id>> joins_{};
  std::unordered_map<std::uint64_t, Id> ends_{};
  std::unordered_map<std::uint32_t, Id> undefined_{};
  std::unordered_map<std::uint64_t, Id> left_{};
  std::map<std::vector<std::uint64_t>, Id> shared_{};
  std::map<std::pair<Id, Id>, Id> loads_{};  ///< by a load and its address where truths are known
  std::vector<std::pair<std::uint32_t, Id>> pending_{};
  std::vector<Id> reach_{}, path_{};
  std::vector<Id> again_{};  ///< of each loop: the truth with which an iteration goes on to the next
  std::vector<bool> exact_{}, ends_within_{};
  std::vector<bool>
      decides_{};  ///< whether exactly the lanes execute a block of which its path says so in the last iteration of loops before it
  std::vector<std::int32_t> stamp_{};
  std::vector<Id> now_{};
  std::vector<std::int32_t> loop_of_{};
  int joining_ = 0;
};

}  // namespace

std::uint64_t divisor_of(std::uint64_t factor, std::uint64_t shift) {
  if (shift < 32 || shift > 62 || factor < 3 || factor >> 33 != 0 || std::has_single_bit(factor)) return 0;
  std::uint64_t const power = std::uint64_t{1} << shift, d = (power + factor - 1) / factor;
  return d >= 2 && d >> 32 == 0 && factor * d - power <= power >> 32 ? d : 0;
}

std::uint32_t Execution::add_leaf(Leaf leaf, unsigned bits) {
  leaf.width = static_cast<std::uint8_t>(bits);
  std::uint32_t const id = terms.variable(bits, bits, {}).id;
  leaves.push_back(std::move(leaf));
  phi_of.push_back(-1);
  return id;
}

void execute(Program const& program, Flow const& flow, Execution& into, std::size_t most_nodes) {
  if (!program.refused.empty()) {
    into.refused = program.refused;
    return;
  }
  if (!flow.reducible) {
    into.refused = "its control flow has a loop with two entries (irreducible)";
    return;
  }
  try {
    Executor(program, flow, into, most_nodes).run();
  } catch (TooLarge const&) {
    into.refused = "its values need more than " + std::to_string(most_nodes) + " terms";
    into.accesses.assign(program.accesses.size(), {});
    into.operands.assign(program.operands.size(), {});
  }
}

}  // namespace swizproof::execution
