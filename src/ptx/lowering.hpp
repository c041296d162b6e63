// The lowering of one instruction of PTX: its operands as sources and destinations of steps, and a function for each noun.
#pragma once

#include <swizproof/program/builder.hpp>
#include <swizproof/program/driver.hpp>
#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace swizproof::ptx {

/// 2^bits - 1.
[[nodiscard]] constexpr std::uint64_t mask_of(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// Operand k; a missing one is unknown.
[[nodiscard]] Operand const& operand(Instruction const& i, std::size_t k);

/// Steps of a function: the values of an instruction's operands, and what is written to them.
class Steps {
 public:
  Steps(Module const& in_module, Function const& of);

  Module const& module;
  Function const& function;
  Builder build{};
  std::int32_t guard = -1;  ///< of the instruction that is lowered, as Instruction has it
  bool guard_negated = false;
  bool lists_global = false;  ///< accesses to global memory are added to the program
  bool may_lock =
      false;  ///< a lane may wait for what is in global memory: stores there, and such loads, are added
  bool lists_mbarriers = false;  ///< operations of mbarriers are
  bool lists_events = false;     ///< events are: a lane may wait for another one

  /// Makes `i` the instruction that is lowered; false if its guard is no predicate.
  bool begin(Instruction const& i);
  [[nodiscard]] unsigned width_of(std::uint32_t r) const { return build.program.widths[r]; }
  Source emit(Action action, unsigned width, Source a = {}, Source b = {}, Source c = {},
              std::uint32_t extra = 0) {
    return build.emit(action, width, a, b, c, extra);
  }
  Source any(unsigned width, Source from = {}, bool memory = false) { return build.any(width, from, memory); }
  Source function_of(unsigned width, Source a, Source b = {}, Source c = {}) {
    return build.function_of(width, a, b, c);
  }
  Source resize(Source s, unsigned from, unsigned to, bool is_signed);
  /// The value of an operand as a word of `width` bits.
  Source in(Operand const& o, unsigned width, bool is_signed = false);
  Source predicate(Operand const& o);
  Source special(std::string_view name, unsigned width);
  /// Value that comes from all registers that the operands from `from` on name.
  Source registers_of(Instruction const& i, std::size_t from);
  /// Writes a register, under the instruction's guard.
  void out(Operand const& o, Source value, unsigned width, bool is_signed = false);
  /// The flag of a carry, CC.CF: a predicate. `borrow`: of a difference. A sum that reads what a difference has written, or the reverse, reads any
  /// value: PTX has a borrow there, and the tests of ZLUDA its inverse.
  Source carry(bool borrow);
  void write_carry(Source value, bool borrow);
  /// All registers of an operand get any values.
  void unknown(Operand const& o, Source from = {}, bool memory = false);
  /// Writes any values, as an instruction that is not modelled does.
  void unknown(Instruction const& i, bool memory = false);
  /// As unknown(), but lanes that execute it together with equal registers get one value.
  void one_together(Instruction const& i);
  /// Writes a function of the sources that is not modelled.
  void opaque(Instruction const& i);

 private:
  void check_declared(Operand const& o);
  /// A register of the cluster, from the block's number, if .reqnctapercluster gives the shape: rank 3 of 2 x 2 blocks is the one at x = y = 1.
  /// Nothing for another register. [PTX ISA 9.1, 10.13 to 10.19]
  std::optional<Source> of_cluster(std::string_view name);
  Source symbol(Operand const& o, unsigned width);
  void take_content(std::uint32_t symbol);
  std::unordered_map<std::string_view, std::uint32_t> symbols_{};
  std::unordered_set<std::uint32_t>
      taken_{};  ///< arrays in constant memory whose content was read, or is not known
  std::optional<std::uint32_t> carry_{}, borrow_{};  ///< CC.CF, and if a difference has written it
};

using program::is_harmless;

/// Function of this name; null if the module has none.
[[nodiscard]] Function const* function_named(Module const& module, std::string_view name);

// ------------------------------------------------------------------------------------- integers (lower_integer.cpp)

/// Integer arithmetic; false: not modelled.
bool arithmetic(Steps& steps, Instruction const& i);
/// a < b, a predicate.
Source below(Steps& steps, Source a, Source b, unsigned width, bool is_signed);
/// A comparison of words of a type by its name in PTX; one that is not known is a function of both.
Source compared(Steps& steps, std::string_view how, Source a, Source b, unsigned width, Type type);
/// Integer instructions that arithmetic() does not have (lower_bits.cpp): fields, masks, carries, products of 24 bits; false: not modelled.
bool arithmetic_of_bits(Steps& steps, Instruction const& i);
/// set of integers; false: not modelled.
bool set_word(Steps& steps, Instruction const& i);
/// mov, not, and, or and xor of predicates; false: another instruction.
bool logic_of_predicates(Steps& steps, Instruction const& i);
void set_predicate(Steps& steps, Instruction const& i);
void move(Steps& steps, Instruction const& i);
void convert(Steps& steps, Instruction const& i);
void choose(Steps& steps, Instruction const& i);

// ------------------------------------------------------------------------------------- memory (lower_memory.cpp)

/// True for a load or an atomic of a word for whose change a loop may wait.
[[nodiscard]] bool waits(Opcode const& op);

/// An access by the address that an operand is.
MemoryAccess access_at(Steps& steps, Instruction const& i, Operand const& where);
/// ld and st of up to 16 bytes a lane.
void load_or_store(Steps& steps, Instruction const& i, bool load);
/// ldmatrix and stmatrix.
void matrices(Steps& steps, Instruction const& i, bool load);
void copy_async(Steps& steps, Instruction const& i);
/// cp.async.bulk and cp.reduce.async.bulk, also of tensors: the state spaces of destination and source are in the opcode, in
/// this order; behind both are the size of a copy that is none of a tensor, and the mbarrier. Addresses are multiples of 16
/// bytes, of tensors of 128 bytes, of mbarriers of 8. [PTX ISA 9.1: cp.async.bulk, cp.async.bulk.tensor, mbarrier.init]
void bulk_copy(Steps& steps, Instruction const& i);
/// mbarrier.init, mbarrier.arrive.expect_tx and waits with a parity.
void mbarrier(Steps& steps, Instruction const& i);
/// tcgen05.alloc and tcgen05.commit.
void tensor_memory(Steps& steps, Instruction const& i);
/// clusterlaunchcontrol.try_cancel.
void try_cancel(Steps& steps, Instruction const& i);
void atomic(Steps& steps, Instruction const& i, bool returns);
/// wmma.load and wmma.store.
void wmma(Steps& steps, Instruction const& i);
/// mapa: an address as far into the window of another block. Of one block, where operations of mbarriers are listed, it is the same address.
void map_address(Steps& steps, Instruction const& i);
/// st.async and red.async.
void store_async(Steps& steps, Instruction const& i);
[[nodiscard]] bool takes_descriptors(Opcode const& op);
/// Descriptors of wgmma.mma_async, tcgen05.mma and tcgen05.cp: A may be in registers, or in tensor memory by an address.
void descriptors(Steps& steps, Instruction const& i);

// ------------------------------------------------------------------------------------- lanes that wait (lower_waits.cpp)

/// True if a lane of a function may wait for what another one does: its events are listed then.
[[nodiscard]] bool may_wait(Module const& module, Function const& function);
/// Adds the event of an instruction at which lanes wait for each other, or by which a loop waits.
void hold_back(Steps& steps, Instruction const& i);
/// Adds an event for each address that an instruction writes. [PTX ISA 9.1: the instructions that the list in lower_waits.cpp has]
void write_memory(Steps& steps, Instruction const& i);
/// True if an instruction asks an mbarrier whether a phase is complete.
[[nodiscard]] inline bool polls(Opcode const& op) {
  return op.name == "mbarrier" && (op.has("test_wait") || op.has("try_wait"));
}
/// True if the access that an instruction may add has all that it writes.
[[nodiscard]] bool writes_listed(Opcode const& op);

// ------------------------------------------------------------------------------------- the warp (lower_warp.cpp)

/// shfl.sync.
void shuffle(Steps& steps, Instruction const& i);
/// A result that all lanes of the mask share: vote.sync and redux.sync.
void voted(Steps& steps, Instruction const& i);
/// elect.sync: the lane that is elected is one number for the lanes of the mask.
void elect(Steps& steps, Instruction const& i);

}  // namespace swizproof::ptx
