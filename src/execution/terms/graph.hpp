// The graph of an execution while it grows: nodes, leaves and truths.
#pragma once

#include <swizproof/execution/terms.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace swizproof::execution {

/// The graph is larger than allowed.
struct TooLarge {};

/// Adds nodes to an execution, up to a number of them.
class Graph {
 public:
  Graph(Execution& out, std::size_t most_nodes) : out_(out), most_nodes_(most_nodes) {}

  Id add(Node node) { return check(), out_.terms.add(node); }
  Id add(Op op, unsigned width, Id a, Id b) { return add({op, static_cast<std::uint8_t>(width), a, b}); }
  Id constant(unsigned width, std::uint64_t value) { return out_.terms.constant(width, value).id; }
  /// A word with zeros added, or its low bits.
  Id resized(Id id, unsigned width) { return swizproof::resized(Term{&out_.terms, id}, width).id; }
  [[nodiscard]] std::size_t size() const { return out_.terms.nodes().size(); }
  [[nodiscard]] Node const& node(Id id) const { return out_.node(id); }
  [[nodiscard]] unsigned width(Id id) const { return node(id).width; }
  [[nodiscard]] bool is_constant(Id id) const {
    return node(id).op == Op::constant || node(id).op == Op::truth;
  }
  /// The leaf that a node is; null for an operation.
  [[nodiscard]] Leaf const* leaf_at(Id id) const { return out_.leaf_at(id); }
  [[nodiscard]] bool is(Id id, Leaf::Kind kind) const {
    return leaf_at(id) != nullptr && leaf_at(id)->kind == kind;
  }
  /// A register at a loop's header, once it is closed; null for another node.
  [[nodiscard]] Phi const* phi_at(Id id) const { return out_.phi_at(id); }
  /// True for a register that nothing has written.
  [[nodiscard]] bool is_undefined(Id id) const;

  /// A variable.
  Id add_leaf(Leaf leaf, unsigned bits) { return check(), out_.add_leaf(std::move(leaf), bits); }
  /// A variable for a register: predicates are truths.
  Id leaf_value(Leaf leaf, unsigned bits);
  Id truth_of(Id bit) { return add({Op::eq, 0, bit, constant(1, 1)}); }
  /// A truth as a word of one bit.
  Id word_of(Id truth);

  /// An equality or order of words that constants and one truth make: `(p ? 1 : 0) == 0` is !p.
  std::optional<Id> relation_of_choices(Op op, Id a, Id b);

  Id negate(Id a) { return add({Op::negation, 0, a}); }
  Id both(Id a, Id b);
  Id either(Id a, Id b);

 private:
  void check() const {
    if (size() > most_nodes_) throw TooLarge{};
  }
  [[nodiscard]] bool opposite(Id a, Id b) const;
  /// A word with one value where a truth holds, and another one where it does not; a constant has the truth 1.
  struct Choice {
    Id truth = 1;
    std::uint64_t yes = 0, no = 0;
  };
  [[nodiscard]] std::optional<Choice> choice(Id id, unsigned depth) const;

  Execution& out_;
  std::size_t most_nodes_;
};

}  // namespace swizproof::execution
