#include "steps.hpp"

#include <swizproof/engine/walk.hpp>
#include <swizproof/program/floating.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <utility>

namespace swizproof::execution {

void Steps::run(Id block) {
  block_ = block;
  Block const& b = program_.blocks[block];
  for (std::uint32_t i = b.first; i < b.last; ++i) {
    Step const& s = program_.steps[step_ = i];
    if (s.action == Action::access) {
      MemoryAccess const& m = program_.accesses[s.extra];
      access(m, out_.accesses[s.extra]);
      for (Source const& word : m.values)
        out_.accesses[s.extra].values.push_back(
            value(word, 8 * m.bytes / static_cast<unsigned>(m.values.size())));
      if (m.operand >= 0 && program_.operands[static_cast<std::size_t>(m.operand)].size)
        out_.accesses[s.extra].size = value(*program_.operands[static_cast<std::size_t>(m.operand)].size, 32);
    } else if (s.action == Action::operand) {
      SharedOperand const& o = program_.operands[s.extra];
      access(o.at, out_.operands[s.extra]);
      if (o.size) out_.operands[s.extra].size = value(*o.size, 32);
    } else if (s.action == Action::event) {
      access(program_.events[s.extra].at, out_.events[s.extra]);
    } else if (s.dst >= 0 && needed_[static_cast<std::size_t>(s.dst)] != 0) {
      registers_.write(static_cast<std::uint32_t>(s.dst), block, result(s));
    }
    out_.lines.resize(out_.terms.nodes().size(), s.line);
  }
  registers_.finish(block);
  if (!out_.wants_conditions) return;
  out_.conditions.resize(program_.blocks.size(), 1);
  if (b.condition >= 0)
    out_.conditions[block] = registers_.at_end(static_cast<std::uint32_t>(b.condition), block);
}

Id Steps::value(Source const& s, unsigned w) {
  if (!s.constant) return registers_.read(static_cast<std::uint32_t>(s.value), block_);
  return w == 1 ? static_cast<Id>(s.value & 1) : graph_.constant(w, s.value);
}

void Steps::access(MemoryAccess const& m, ExecutedAccess& out) {
  unsigned const w = width_of(m.address, 32);
  Id const base = value(m.address, w);
  out.address = arithmetic_.sum(w, base, graph_.constant(w, m.offset));
  out.guard = paths_.to(block_);
  if (m.guard >= 0) {
    Id const g = registers_.read(static_cast<std::uint32_t>(m.guard), block_);
    out.guard = graph_.both(out.guard, m.guard_negated ? graph_.negate(g) : g);
  }
  out.address = cases_.where(out.guard, out.address);
  out.loop = flow_.loop[block_];
  out.reached = true;
  out.exact = paths_.exact(block_);
  out.apart = flow_.apart[block_];
}

/// An operation whose operands have its own width, or that of a register for a comparison.
Id Steps::operation(Step const& s, Op op, unsigned w) {
  // The operand that is made first has the smaller number, and sums print it first.
  bool const in_order =
      op == Op::bv_sub || op == Op::bv_mul || op == Op::bv_shl || op == Op::eq || op == Op::ult;
  Id const first = value(in_order ? s.a : s.b, w), second = value(in_order ? s.b : s.a, w);
  Id const a = in_order ? first : second, b = in_order ? second : first;
  switch (op) {
    case Op::bv_add:
      return arithmetic_.sum(w, a, b);
    case Op::bv_sub:
      return arithmetic_.difference(w, a, b);
    case Op::bv_mul:
      return arithmetic_.product(w, a, b);
    case Op::bv_shl:
      return arithmetic_.shifted_left(w, a, b);
    case Op::bv_lshr:
      return arithmetic_.shifted_right(w, a, b);
    case Op::conjunction:
      return graph_.both(a, b);
    case Op::disjunction:
      return graph_.either(a, b);
    case Op::ult:
      if (std::optional<Id> const apart = different_signs(a, b)) return *apart;
      [[fallthrough]];
    case Op::eq:
      if (std::optional<Id> const truth = graph_.relation_of_choices(op, a, b)) return *truth;
      return graph_.add(op, 0, a, b);
    default:
      return graph_.add(op, w, a, b);
  }
}

/// x < 0 != y < 0, for x ^ y < 0.
std::optional<Id> Steps::different_signs(Id moved, Id middle) {
  std::uint64_t const m = std::uint64_t{1} << (std::max(graph_.width(moved), 1U) - 1);
  Node const n = node(moved);
  if (n.op != Op::bv_add || !graph_.is_constant(middle) || node(middle).value != m) return std::nullopt;
  bool const first = graph_.is_constant(n.a);
  Node const x = node(first ? n.b : n.a);
  if (node(first ? n.a : n.b).value != m || x.op != Op::bv_xor) return std::nullopt;
  auto const negative = [&](Id id) {
    return graph_.add(Op::ult, 0, arithmetic_.sum(n.width, id, middle), middle);
  };
  Id const p = negative(x.a), q = negative(x.b);
  return graph_.either(graph_.both(p, graph_.negate(q)), graph_.both(graph_.negate(p), q));
}

/// a & b, as far as anything depends on it.
Id Steps::masked(Step const& s) {
  for (Source const& mask : {s.a, s.b})
    if (mask.constant && (mask.value & needed_[static_cast<std::size_t>(s.dst)]) == 0)
      return graph_.constant(s.width, 0);
  return operation(s, Op::bv_and, s.width);
}

Id Steps::result(Step const& s) {
  unsigned const w = s.width;
  switch (s.action) {
    case Action::copy:
      return value(s.a, w);
    case Action::bit_and:
      return masked(s);
    case Action::zext:
    case Action::trunc:
      return graph_.resized(value(s.a, w), w);
    case Action::equal:
    case Action::below:  // of words of a register's width
      return operation(s, op_of(s.action), w == 1 ? width_of(s.a, width_of(s.b, 32)) : w);
    case Action::differ: {
      Id const x = value(s.a, w), y = value(s.b, w);
      return graph_.either(graph_.both(x, graph_.negate(y)), graph_.both(graph_.negate(x), y));
    }
    case Action::negate:
      return graph_.negate(value(s.a, w));
    case Action::choose: {
      Id const no = value(s.c, w), yes = value(s.b, w);
      Id const choice = cases_.pick(value(s.a, 1), yes, no);
      return division_.of(choice).value_or(choice);
    }
    default:
      return computes(s.action) ? operation(s, op_of(s.action), w) : leaf_of(s);
  }
}

Id Steps::leaf_of(Step const& s) {
  Leaf leaf;
  leaf.line = s.line;
  leaf.loop = flow_.loop[block_];
  leaf.step = step_;
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
      return opaque(std::move(leaf), s);
    case Action::voted:
      leaf.kind = Leaf::Kind::voted;
      leaf.args = {s.a.constant && s.a.value == 0 ? executing() : word(s.a, 32), word(s.b, 32)};
      if (s.width == 1) {  // equal votes of one block have one result
        leaf.offset = block_;
        return shared_leaf(leaf, s.width);
      }
      // "the same leader thread is elected for the same membermask every time" [PTX ISA 9.1, elect.sync]
      if (elects(program_, leaf) && graph_.is_constant(leaf.args[0]) &&
          node(leaf.args[0]).value == low_bits(32)) {
        leaf.loop = -1;
        return shared_leaf(leaf, s.width);
      }
      return graph_.leaf_value(leaf, s.width);
    case Action::shuffle:
      leaf.kind = Leaf::Kind::shuffle;
      leaf.args = {word(s.a, 32), word(s.b, 32), word(s.c, 32), paths_.to(block_)};
      leaf.offset = paths_.decides(block_) ? 1 : 0;
      return graph_.leaf_value(leaf, s.width);
    case Action::load:
      return load(std::move(leaf), s);
    default:
      leaf.kind = Leaf::Kind::varying;
      leaf.offset = s.b.value;
      leaf.args = {word(s.a, 64)};
      return graph_.leaf_value(leaf, s.width);
  }
}

/// True for a sum that ptxas may fuse with a product: two of equal operands may be rounded in two ways.
bool Steps::is_sum_of_product(Leaf const& sum) const {
  if (!program::is_fusible_sum(program::Opcode(program_.names[sum.extra]))) return false;
  return std::any_of(sum.args.begin(), sum.args.end(), [&](Id id) {
    Leaf const* const l = graph_.leaf_at(id);
    if (l == nullptr) return !graph_.is_constant(id);
    if (l->kind == Leaf::Kind::opaque) {
      program::Opcode const of(program_.names[l->extra]);
      return of.name == "neg" || of.name == "abs" || program::is_fusible_product(of);
    }
    return l->kind == Leaf::Kind::phi || l->kind == Leaf::Kind::exit;
  });
}

/// A function that is not modelled. The floating-point number of a constant integer that the format holds exactly is known.
Id Steps::opaque(Leaf leaf, Step const& s) {
  leaf.kind = Leaf::Kind::opaque;
  leaf.args = {word(s.a, 64), word(s.b, 64), word(s.c, 64)};
  auto const constant = [&](Id id) { return graph_.is_constant(id); };
  if (s.width >= 16 && std::all_of(leaf.args.begin(), leaf.args.end(), constant))
    if (auto const number = exact_conversion(program_.names[s.extra], node(leaf.args[0]).value))
      return graph_.constant(s.width, *number);
  if (is_sum_of_product(leaf)) leaf.offset = step_ + std::uint64_t{1};
  // If no loop has all others of the arguments within it, it is a fresh leaf each time.
  leaf.loop = scopes_.loop_of(leaf.args);
  return shared_leaf(leaf, s.width);
}

/// The full mask in a lane that executes the block; 0 in the others, and in all if they are not known.
Id Steps::executing() {
  if (!paths_.decides(block_)) return graph_.constant(32, 0);
  Id const none = graph_.constant(32, 0), all = graph_.constant(32, 0xffffffff);
  return cases_.pick(paths_.to(block_), all, none);
}

/// One leaf for equal functions of equal arguments.
Id Steps::shared_leaf(Leaf const& leaf, unsigned bits) {
  std::vector<std::uint64_t> name{static_cast<std::uint64_t>(leaf.kind), bits, leaf.extra, leaf.offset};
  name.insert(name.end(), leaf.args.begin(), leaf.args.end());
  auto const [at, fresh] = shared_.try_emplace(std::move(name), 0);
  if (fresh) at->second = graph_.leaf_value(leaf, bits);
  return at->second;
}

/// The address of a variable: a word of 64 bits, so that its halves and its whole are one leaf. Shared addresses have 32.
Id Steps::shared_symbol(Leaf const& leaf, unsigned bits) {
  bool const narrow = program_.symbols[leaf.extra].space == Space::shared;
  return graph_.resized(shared_leaf(leaf, narrow ? 32 : 64), bits);
}

Id Steps::load(Leaf leaf, Step const& s) {
  auto const space = static_cast<Space>(s.extra);
  unsigned const w = width_of(s.a, 64);
  Id const offset = graph_.constant(w, s.b.value), address = arithmetic_.sum(w, value(s.a, w), offset);
  leaf.args = {address};
  leaf.kind = Leaf::Kind::load, leaf.extra = s.extra;
  if (space == Space::global) leaf.offset = s.c.value;
  if (space == Space::param) {
    if (std::optional<Id> const known = parameter(address, leaf, s.width)) return *known;
    leaf.kind = Leaf::Kind::varying;
    leaf.extra = static_cast<std::uint32_t>(s.c.value);
  } else if (space == Space::constant || (space == Space::generic && of_launch(address))) {
    std::int32_t const loop = scopes_.loop_of(address);
    if (loop != Scopes::several) leaf.loop = loop;
    Id const any = shared_leaf(leaf, s.width);
    std::optional<Id> const known =
        space == Space::constant ? tables_.value(address, s.width, any) : std::nullopt;
    out_.assumes_constants = out_.assumes_constants || known;
    return known.value_or(any);
  } else if (space == Space::local || space == Space::generic) {
    leaf.kind = Leaf::Kind::varying;  // another value in each thread
    leaf.extra = static_cast<std::uint32_t>(s.c.value), leaf.offset = 1;
  }
  return graph_.leaf_value(leaf, s.width);
}

/// A load of a parameter of the kernel, which does not change: the same address, the same value.
std::optional<Id> Steps::parameter(Id address, Leaf const& load, unsigned width) {
  Node const n = node(address);
  bool const sum = n.op == Op::bv_add, first = sum && graph_.is_constant(n.a);
  bool const moved = first || (sum && graph_.is_constant(n.b));
  Id const base = !moved ? address : first ? n.b : n.a;
  if (!graph_.is(base, Leaf::Kind::symbol) || !is_parameter(graph_.leaf_at(base)->extra)) return std::nullopt;
  Leaf leaf;
  leaf.kind = Leaf::Kind::param;
  leaf.line = load.line;
  leaf.extra = graph_.leaf_at(base)->extra;
  leaf.offset = moved ? node(first ? n.a : n.b).value : 0;
  return shared_leaf(leaf, width);
}

/// True for an address that the launch alone gives, as that of the parameters in memory.
bool Steps::of_launch(Id address) const {
  Walk walk(address, 40);
  bool launch = false;
  while (auto const at = walk.next()) {
    Node const& n = node(*at);
    if (n.op == Op::ite || n.width == 0) return false;
    walk.add(operands(n));
    if (n.op != Op::variable) continue;
    if (!graph_.is(*at, Leaf::Kind::special) || !is_uniform(*graph_.leaf_at(*at))) return false;
    launch = true;
  }
  return launch && !walk.over();
}

/// A parameter of the kernel: not one of a call within it, which changes.
bool Steps::is_parameter(std::uint32_t symbol) const {
  return symbol >= program_.first_param && symbol - program_.first_param < program_.params;
}

}  // namespace swizproof::execution
