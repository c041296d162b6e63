// The small language that the executor runs: assignments of operations to registers, accesses, and branches between blocks.
//
// The readers of PTX and SASS lower to it, so that the executor needs no instruction set. Registers
// have a width of 1 (predicates) to 64 bits. Every operation is exact modulo 2^width, as the engine's terms are.
#pragma once

#include <swizproof/hardware/atomic.hpp>
#include <swizproof/hardware/instruction.hpp>
#include <swizproof/program/variable.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::program {

/// Operation of a step on its sources a, b and c.
enum class Action : std::uint8_t {
  copy,
  add,
  sub,
  mul,
  bit_and,
  bit_or,
  bit_xor,
  shl,
  lshr,
  udiv,
  urem,
  zext,
  trunc,
  equal,  ///< a == b, a predicate
  below,  ///< a < b, unsigned
  both,   ///< predicates
  either,
  differ,
  negate,
  choose,  ///< a ? b : c
  opaque,  ///< a function of its sources that is not modelled: equal sources, equal results; `extra` is its name
  varying,  ///< any value in any lane, which comes from a; b: from_memory, one_together; `extra` is its name
  voted,  ///< any value, the same in all lanes if a is the full mask of lanes (a vote on b); 0: the lanes that execute it; `extra` is its name
  load,   ///< value in space `extra` at address a + b; c is its name
  special,  ///< special register `extra`; from first_uniform_special on another one, the same in a whole warp
  symbol,   ///< address of symbol `extra`
  shuffle,  ///< a from the lane that b and c name; `extra` is the mode
  access,   ///< Program::accesses[extra]
  operand,  ///< Program::operands[extra]
  event     ///< Program::events[extra]
};

/// `b` of Action::varying, and Leaf::offset of its leaf, are a sum of these.
inline constexpr std::uint64_t from_memory = 1;  ///< it comes from memory
inline constexpr std::uint64_t one_together =
    2;  ///< lanes that execute it together with equal sources get one value

/// Special registers that are functions of the thread or the launch.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  mask_eq,
  mask_lt,
  mask_le,
  mask_gt,
  mask_ge,
  warp_x,  ///< what a whole warp adds to tid.x, by what its lanes have of it: of no register, see Warp::every
  warp_y,
  warp_z,
};

/// `extra` of Action::special from here on: other registers that all threads of a block share, numbered as they come.
inline constexpr std::uint32_t first_uniform_special = 100;

/// Modes of a shuffle.
enum class Shuffle : std::uint8_t { up, down, bfly, idx };

/// A register or a constant.
struct Source {
  bool constant = true;
  std::uint64_t value = 0;
};

/// One step. `dst` is -1 where it has none.
struct Step {
  Action action = Action::copy;
  std::uint8_t width = 32;
  std::int32_t dst = -1;
  Source a{}, b{}, c{};
  std::uint32_t extra = 0;
  std::uint32_t line = 0;
};

// Why the cost of an atomic is a bound alone (assumption H14).
inline constexpr std::string_view may_take_less =
    "lanes of this atomic share a bank; what an atomic takes may be less (assumption H14)";
inline constexpr std::string_view a_round =
    "a round of this atomic's loop of compare-and-swap takes at most this; which lanes win decides how many "
    "rounds there are (assumption H14)";

/// A warp instruction that touches shared memory, or may; with `global` one that touches global memory.
struct MemoryAccess {
  std::string op{};                                     ///< operation in the words of PTX
  std::optional<swizproof::Instruction> instruction{};  ///< nothing: not modelled, and `reason` says why
  std::string reason{};
  std::optional<Atomic> atomic{};  ///< kind of an atomic: `instruction` has only its bytes
  std::string_view at_most{};      ///< reason if the cost of an atomic is only a bound; empty: it is the cost
  bool gathers = false;            ///< ptxas may make one lane's atomic of those of a warp at one address
  bool generic = false;            ///< a generic address: in shared memory only if its symbol is
  bool bypasses = false;           ///< cp.async.cg, whose cost is that of H22
  bool copy_source = false;        ///< what cp.async reads through L1: its cost are turns of the lanes (H21)
  bool global = false;             ///< an access to global memory: `instruction` has only its bytes
  std::uint32_t bytes = 0;         ///< bytes of each lane
  Source address{};
  std::uint64_t offset = 0;
  std::vector<Source>
      values{};  ///< words that a store to shared memory stores, where operations of mbarriers are listed
  std::int32_t guard = -1;
  bool guard_negated = false;
  std::uint32_t line = 0;
  std::uint32_t pc = 0;  ///< SASS: bytes from the start of the kernel
  std::int32_t location = -1;
  std::vector<std::uint32_t>
      calls{};                ///< PTX lines of the calls that it was inlined for, from the kernel's own on
  bool of_tile = false;       ///< one of those that ptxas makes of a wmma.load or wmma.store (H19)
  std::int32_t operand = -1;  ///< index in Program::operands of the descriptor that it was made of; -1: none
  /// Number of PTX accesses that may be parts of one vector: they have one base and guard, and nothing between them; 0: none.
  std::uint32_t series = 0;
};

/// Role of a value that names shared memory for a unit other than the warp's own loads and stores.
enum class OperandRole : std::uint8_t {
  descriptor_a,
  descriptor_b,
  descriptor_source,  ///< source of tcgen05.cp
  destination,        ///< destination of a bulk copy
  source,
  barrier,     ///< the mbarrier that a bulk copy arrives at
  instruction  ///< instruction descriptor of tcgen05.mma: 32 bits, and no address
};

/// A descriptor of wgmma or tcgen05, or an address of a bulk copy or a copy of a tensor (TMA).
struct SharedOperand {
  MemoryAccess at{};  ///< `address` is a descriptor of 64 bits or an address; `bytes` is not used
  OperandRole role = OperandRole::destination;
  bool tcgen05 = false;          ///< descriptor that tcgen05 reads; else wgmma does
  bool tensor = false;           ///< address in a copy of a tensor
  std::uint32_t unit = 0;        ///< bytes that divide the address, or the start of a descriptor
  std::optional<Source> size{};  ///< bytes of a bulk copy, 32 bits: a multiple of 16
  [[nodiscard]] bool is_descriptor() const { return role <= OperandRole::descriptor_source; }
};

/// An effect of an instruction that no access has: it holds lanes back, writes memory, or gives what others write. Where no lane may wait for
/// another one, readers list only writes of PTX that no operand has, such as mbarriers. Checked by KernelLocks.* and SassLower.AllLanesOfAWarpMeetAtABarrier.
struct Event {
  enum class Kind : std::uint8_t {
    warp,   ///< all lanes of a warp wait for each other
    block,  ///< all threads of a block do
    lanes,  ///< a lane waits for the lanes of a mask, `at.address`
    threads,  ///< a lane waits for other threads: with all of its warp, if `at.address` is one number in all of them
    call,   ///< code that is not there: it may hold lanes back, and write any memory
    write,  ///< memory at `at.address` is written
    poll    ///< its answer depends on the memory at `at.address`, which others write
  };
  Kind kind = Kind::warp;
  MemoryAccess at{};
  /// True if all lanes of a warp are together behind it.
  [[nodiscard]] bool meets() const { return kind == Kind::warp || kind == Kind::block; }
};

/// Steps [first, last), then a branch: to `taken` if the predicate `condition` is true (or is -1), else to `next`. -1: the end.
struct Block {
  std::uint32_t first = 0, last = 0;
  std::int32_t condition = -1;
  bool negated = false;
  std::int32_t taken = -1, next = -1;
  std::uint32_t line = 0;
  std::uint32_t end = ~0U;  ///< index in Function::body of the branch or end behind it; ~0: none, or SASS
  bool copied =
      false;  ///< made by with_one_entry: lanes in it may run with others that are in the block it copies
  bool goes_on =
      false;  ///< its branch and that of its one predecessor are one branch with several targets (brx.idx, BRX)
};

/// Steps [first, last) of an instruction of the function's body, in a block. Branches and ends have none: a block ends there.
struct LoweredInstruction {
  std::uint32_t instruction = 0;  ///< index in Function::body
  std::uint32_t first = 0, last = 0;
  std::uint32_t block = 0;
};

/// A function, lowered.
struct Program {
  std::string name{};
  std::string_view language = "PTX";  ///< language of the text that `line` refers to in messages: PTX or SASS
  std::vector<std::uint8_t> widths{};  ///< widths of registers
  std::vector<Step> steps{};
  std::vector<Block> blocks{};  ///< the first is the entry
  std::vector<LoweredInstruction> instructions{};
  std::vector<MemoryAccess> accesses{};
  std::vector<SharedOperand> operands{};
  std::vector<Event> events{};
  std::vector<Variable> symbols{};
  std::vector<std::string> registers{};  ///< names of the first ones, for messages: `UR4`; PTX has none
  std::vector<std::string>
      names{};  ///< operations and registers that are not modelled: `activemask.b32`, `%clock`
  std::uint32_t first_param = 0, params = 0;  ///< symbols that are its parameters
  bool uses_y_or_z = false;                   ///< %tid.y, %tid.z, %ntid.y, %ntid.z
  bool uses_ntid_x = false;
  /// False if the kernel makes no generic address of shared memory: it has no cvta.shared and no mapa, or reads no window as SASS, and
  /// calls no code outside of it but vprintf, __assertfail, malloc and free.
  bool makes_generic = true;
  std::string refused{};  ///< reason if it is not executed; else empty
};

}  // namespace swizproof::program
