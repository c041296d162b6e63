// Symbolic execution of a lowered function: the value of each register at each access as a term over the thread, parameters,
// loop counters and what is loaded.
//
//   blocks  -->  joins gated by the conditions of their edges, loops closed where a proof allows it  -->  terms
//
// Every term is exact modulo 2^width. A leaf is a variable of the graph, and `Leaf` says what it stands for.
#pragma once

#include <swizproof/engine/term.hpp>
#include <swizproof/program/control_flow.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace swizproof::execution {

using namespace program;  // the language that is executed
using program::Variable;

using Id = std::uint32_t;  ///< node of the graph of terms

/// Meaning of a variable of the graph.
struct Leaf {
  enum class Kind : std::uint8_t {
    special,  ///< `extra` is the Special, or from `first_uniform_special` on another register that all threads of a block share
    symbol,   ///< the address of a variable: `extra` is its index
    param,    ///< `extra` is the parameter's symbol, `offset` the bytes into it
    load,  ///< value in memory that all threads share; args: the address; `extra` is the Space, `offset` the name of one of global memory
    opaque,   ///< a function of its args that is not modelled; `extra` is its name
    varying,  ///< any value in any lane, which comes from its args; `offset`: from_memory, one_together; `extra` is its name
    voted,  ///< args: mask, what is voted on. Any value, the same in all lanes if the mask is full; `extra` is its name
    shuffle,  ///< args: value, lane, bounds, and which lanes execute it, exactly if `offset`; `extra` is the mode
    counter,   ///< number of complete iterations of the loop's body
    phi,       ///< a register at a loop's header: see Phi
    exit,      ///< args: a term of loop `left`, in the iteration in which the thread leaves it
    undefined  ///< register `extra`, which nothing has written; with args: a part of them that all lanes share
  };
  Kind kind = Kind::varying;
  std::uint8_t width = 32;
  std::int32_t loop = -1;  ///< innermost loop in which it takes new values
  std::int32_t left = -1;
  std::uint32_t line = 0;
  std::uint32_t extra = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint32_t> args{};  ///< nodes
  std::uint32_t step = ~0U;           ///< that makes it first; ~0: it is of no step
  bool apart =
      false;  ///< lanes may execute the step one by one: what one of them gets says nothing of the others
};

/// A register at the header of a loop, as far as it is closed.
struct Phi {
  enum class Kind : std::uint8_t {
    same,    ///< never changes: `init`
    affine,  ///< init + counter * step, exactly, modulo 2^width; `step` does not change in the loop
    orbit,   ///< takes the values of `values`, all that a machine of constants reaches
    drift,   ///< init + something; that is the same in all lanes if `step` is
    other
  };
  Kind kind = Kind::other;
  std::uint32_t node = 0, init = 0, back = 0, step = 0;
  std::int32_t loop = -1;
  std::vector<std::uint64_t> values{};
};

/// One access, executed.
struct ExecutedAccess {
  std::uint32_t address = 0;  ///< node: base + offset
  std::uint32_t guard = 1;    ///< node of a truth: the lanes that execute it, or more of them
  std::int32_t loop = -1;
  bool reached = false;                 ///< its block is reached
  std::uint32_t size = 0;               ///< node: bytes of a bulk copy, or 0
  std::vector<std::uint32_t> values{};  ///< nodes: words that a store stores (MemoryAccess::values)
  bool exact = true;                    ///< `guard` is exactly the lanes that execute it, if loops end
  bool apart = false;                   ///< lanes may execute it one after another (Flow::apart)
  std::uint32_t lock = 0;        ///< line of a wait in front of it, from which lanes come one by one; 0: none
  std::int32_t lock_event = -1;  ///< the event that this wait is; -1: a loop
};

/// A function's values.
struct Execution {
  Terms terms{};
  std::vector<Leaf> leaves{};          ///< leaves by the number of the variable
  std::vector<std::int32_t> phi_of{};  ///< index of each leaf in `phis`, or -1
  std::vector<Phi> phis{};
  std::vector<std::uint32_t> counters{};  ///< node of each loop's counter, 64 bits
  /// For each loop, the truth with which an iteration takes each exit.
  std::vector<std::vector<std::uint32_t>> exits{};
  /// For each loop with several ways back to its header, the truth with which an iteration takes each; and of the ways into it by a copied
  /// block, with which it is entered. Lanes are in one iteration if these are the same in all of them.
  std::vector<std::vector<std::uint32_t>> backs{};
  std::vector<ExecutedAccess> accesses{};
  std::vector<ExecutedAccess> operands{};  ///< `address` is a descriptor or an address
  std::vector<ExecutedAccess> events{};    ///< `address` is Event::at's
  std::vector<std::uint32_t>
      lines{};            ///< line of the instruction that makes a node first, by node; later nodes have none
  std::string refused{};  ///< reason if nothing was executed; else empty
  /// Set by the warps: a value comes from a shuffle whose source lane is assumed, but not known, to execute it.
  bool assumes_sources = false;
  /// Lanes that a wait parts load one number from global memory, which this kernel does not write.
  bool assumes_other_kernels = false;
  bool assumes_ranges =
      false;  ///< a loop ends, if what becomes less in it begins below a quarter of all words
  bool assumes_constants = false;     ///< a value comes from constant memory as the module initialises it
  std::uint64_t induction_steps = 0;  ///< sum over all warps so far
  /// Nodes of Special::warp_x, .. for the dimensions that are divided among warps, if one Warp represents all; else 0.
  std::array<std::uint32_t, 3> warp_numbers{};
  bool wants_conditions = false;  ///< set before execute(): `conditions` are filled
  std::vector<std::uint32_t>
      conditions{};  ///< truth that a block's branch tests, before it is negated, by block

  [[nodiscard]] Node const& node(std::uint32_t id) const { return terms.nodes()[id]; }
  /// The leaf that a node is; null for an operation.
  [[nodiscard]] Leaf const* leaf_at(std::uint32_t id) const {
    return node(id).op == Op::variable ? &leaves[node(id).value] : nullptr;
  }
  /// The register at a loop's header that a node is; null for another node.
  [[nodiscard]] Phi const* phi_at(std::uint32_t id) const {
    std::int32_t const index = node(id).op == Op::variable ? phi_of[node(id).value] : -1;
    return index < 0 ? nullptr : &phis[static_cast<std::size_t>(index)];
  }
  /// Adds a variable of these bits: its node.
  std::uint32_t add_leaf(Leaf leaf, unsigned bits);
};

/// True for a register other than a Special that all threads of a block share.
[[nodiscard]] inline bool is_uniform(Leaf const& leaf) {
  return leaf.kind == Leaf::Kind::special && leaf.extra >= first_uniform_special;
}

/// True for the lane that elect.sync elects.
[[nodiscard]] inline bool elects(Program const& program, Leaf const& leaf) {
  return leaf.kind == Leaf::Kind::voted && program.names[leaf.extra].starts_with("elect");
}

/// True for the windows between a block's address and that which mapa gives (program::window_bits).
[[nodiscard]] inline bool maps(Program const& program, Leaf const& leaf) {
  return leaf.kind == Leaf::Kind::opaque && program.names[leaf.extra] == "mapa";
}

/// The number d for which (x * factor) >> shift is x / d for every x below 2^32; 0 if this is not known of one. By the theorem of Granlund
/// and Montgomery (PLDI 1994): 2^shift <= factor * d <= 2^shift + 2^(shift - 32). `divisor_of(0xaaaaaaab, 33)` is 3. Checked by
/// Execution.DivisorsOfProducts.
[[nodiscard]] std::uint64_t divisor_of(std::uint64_t factor, std::uint64_t shift);

/// Executes a program. `most_nodes` bounds the graph: beyond it `refused` says so.
void execute(Program const& program, Flow const& flow, Execution& into, std::size_t most_nodes = 3'000'000);

}  // namespace swizproof::execution
