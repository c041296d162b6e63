// Origins of the terms of a kernel: a variable in shared memory, a load, or something that is not modelled.
#pragma once

#include <swizproof/engine/walk.hpp>
#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>
#include <swizproof/execution/warp.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

using Id = std::uint32_t;

/// The leaf that a value comes from which is not known: a load, or something that is not modelled. 0: neither.
struct Origin {
  Id leaf = 0;
  bool data = false;
  bool unwritten =
      false;  ///< a register that may not have been written: that it has been, where it is read, is assumed
};

/// The one that says more of a term with both.
[[nodiscard]] inline Origin stronger(Origin const& a, Origin const& b) {
  auto const rank = [](Origin const& o) { return o.leaf == 0 ? 0 : o.unwritten ? 1 : o.data ? 2 : 3; };
  return rank(b) > rank(a) ? b : a;
}

/// True for a value that comes from memory.
[[nodiscard]] inline bool is_load(execution::Leaf const& l) {
  return l.kind == execution::Leaf::Kind::load ||
         (l.kind == execution::Leaf::Kind::varying && (l.offset & program::from_memory) != 0);
}

/// Origins of the terms of one kernel.
class Origins {
 public:
  Origins(program::Program const& program, program::Flow const& flow, execution::Execution const& execution)
      : program_(program), flow_(flow), execution_(execution) {}

  /// The variable that an address is rooted in, if it is one, and the only one.
  enum class Root : std::uint8_t { shared, other, mixed, none };
  /// Sets `symbol` to the variable in shared memory. An address that is shared memory in one case and another in another is `mixed`.
  [[nodiscard]] Root root_of(Id id, std::uint32_t& symbol) const;
  /// True for an address that a parameter points to. It is global memory: a kernel gets no pointer to another block's shared memory or to
  /// a thread's own memory.
  [[nodiscard]] bool rooted_in_parameter(Id id) const;
  /// True if a generic address with this root is that of no shared memory, in every case.
  [[nodiscard]] bool is_elsewhere(Root root, Id address) const;

  /// Goes on from a term to its operands but for conditions, through loops to first values, and through shuffles to what a lane gives.
  void add_summands(Id id, Walk& walk) const;

  /// The lanes that a shuffle reads have this term.
  void follow(Id shuffle, Id value);

  /// Something that is not modelled and takes nothing that was loaded goes before a load: it need not depend on data. A load goes
  /// before a register that may not have been written, and before functions that each launch fixes.
  Origin origin(Id term);
  /// The strongest origin of the leaves that make a term differ in the lanes, and of `why`. A leaf without an origin is its own.
  Origin origin_of_varying(execution::Warp& warp, Id term, Id why);
  /// The origin of a guard that is not decided in some lanes: of the term that would decide it, or of the leaves that make the lanes differ.
  Origin origin_of_guard(execution::Warp& warp, Id guard, execution::LaneTruths const& truths);
  /// True if an address may be that of another block's shared memory: mapa gives it, or `&` clears bits of the block's rank. It is then as far from the
  /// array as its low program::window_bits say. Checked by KernelOperand.OfAnotherBlock.
  [[nodiscard]] bool may_leave_the_block(Id address) const;
  /// True if an address takes no variable in shared memory but this one. Checked by KernelFaults.OfOneOfTwoArraysAreNone.
  [[nodiscard]] bool is_of_array(Id address, std::uint32_t symbol) const;
  /// Leaves that terms depend on, also by way of other leaves; not what the address of a load depends on.
  [[nodiscard]] std::vector<Id> leaves_of(std::vector<Id> work) const;
  /// Nodes of the shared arrays whose addresses these terms depend on.
  [[nodiscard]] std::vector<Id> arrays_of(std::vector<Id> terms) const;
  /// Variables in shared memory whose addresses an access's cost may depend on: the address takes them other than as one
  /// summand, which all lanes share, or the guard takes them. Checked by Kernel.ACounterexampleNamesTheBaseThatItNeeds.
  [[nodiscard]] std::set<std::uint32_t> bases_of(execution::ExecutedAccess const& access, unsigned bytes,
                                                 unsigned turn = 4) const;
  /// The node of a variable's address; 0 if it has none.
  [[nodiscard]] Id node_of_symbol(std::uint32_t symbol);
  /// The leaf that a term is; none if it is a sum or another operation.
  [[nodiscard]] execution::Leaf const* leaf_at(Id id) const;
  /// Line of the first instruction in a loop's header.
  [[nodiscard]] std::uint32_t loop_line(std::int32_t loop) const;
  /// A leaf as a reason names it: `the load at PTX line 12`.
  [[nodiscard]] std::string text_of(Id id) const;
  /// A reason with the line of the instruction that makes a term, or of `line`, if it names none: `a sum is divided (PTX line 12)`.
  [[nodiscard]] std::string with_line(std::string reason, Id term, std::uint32_t line = 0) const;

 private:
  [[nodiscard]] static Root summed(Root a, Root b);
  [[nodiscard]] static Root chosen(Root a, Root b);
  [[nodiscard]] Id passed(Id id, execution::Leaf const& leaf) const;
  [[nodiscard]] std::array<Id, 2> parts_of_root(Id id) const;
  [[nodiscard]] Root find_root(Id id, std::uint32_t& symbol) const;
  using Summands = std::unordered_map<std::uint32_t, unsigned>;  ///< how often each variable's address is one
  /// Variables' addresses that are summands of a term in one case; of the rest, the terms go into `rest`.
  [[nodiscard]] Summands summands_of(Id id, std::vector<Id>& rest, unsigned depth) const;
  /// True for a load at an address that the launch alone gives: of parameters.
  [[nodiscard]] bool of_launch(execution::Leaf const& load) const;
  /// True for the upper word of an address that a parameter gives, plus carries and indices.
  [[nodiscard]] bool upper_word_of_parameter(Id id) const;
  [[nodiscard]] execution::Phi const& phi_at(Id id) const;
  [[nodiscard]] Origin find_origin(Id term);
  /// True if a leaf takes something that was loaded.
  [[nodiscard]] bool takes_load(Id leaf);
  /// Leaves that make a term differ in the lanes.
  void varying_leaves(execution::Warp& warp, Id id, std::set<Id>& seen, std::vector<Id>& into) const;

  program::Program const& program_;
  program::Flow const& flow_;
  execution::Execution const& execution_;
  std::unordered_map<Id, Id> followed_{};  ///< shuffles
  std::unordered_map<Id, Origin> origins_{};
  std::unordered_map<Id, bool> takes_load_{};     ///< of leaves
  mutable std::unordered_map<Id, bool> alone_{};  ///< of is_of_array
  mutable std::unordered_map<Id, std::pair<Root, std::uint32_t>> roots_{};
  std::unordered_map<std::uint32_t, Id> symbols_{};  ///< nodes of their addresses
  mutable std::vector<std::uint32_t> marks_{};       ///< by node: the search that saw it last
  mutable std::uint32_t mark_ = 0;
};

}  // namespace swizproof::kernel_detail
