// Instructions of SASS by name: a row of the table, and a function for each kind.
#pragma once

#include "steps.hpp"

#include <span>
#include <string_view>

namespace swizproof::sass {

using Handler = void (*)(Steps&, Instruction const&, Opcode const&);

/// both: the uniform datapath has the instruction, too, with a U in front. memory: its handler adds an access or an operand even if a
/// suffix is not known.
enum class Unit : std::uint8_t { vector, both, memory };

/// Opcodes of one name: their meaning, and the form that a verdict rests on where the handler decides a result. The handler may
/// name another one. Checked by SassForms.EveryDecidedResultIsMeasuredOrNamed. With a suffix that is not among `suffixes` an instruction
/// that has a form is not modelled: SassLower.ASuffixThatIsNotKnownIsNotModelled.
struct Row {
  std::string_view name{};
  Handler handler{};
  FormName form{};
  std::string_view suffixes{};  ///< with blanks between them; *: the handler looks at all
  Unit unit = Unit::vector;
  [[nodiscard]] bool takes(std::string_view suffix) const;
};
[[nodiscard]] std::span<Row const> rows();
/// The row of a name; null if the table has no such row.
[[nodiscard]] Row const* row_of(std::string_view name);

/// An instruction that is not modelled: destinations are functions of its sources if it has no other input, else any values. They
/// are the first operand and predicates behind it; of an opcode that is not known, any register from the first on.
void unknown(Steps& steps, Instruction const& i, Opcode const& op);

// ------------------------------------------------------------------------------------- moves, sums, products and shifts (integer.cpp)

void move(Steps& steps, Instruction const& i, Opcode const& op);
void move_special(Steps& steps, Instruction const& i, Opcode const& op);
void load_constant(Steps& steps, Instruction const& i, Opcode const& op);
/// IADD3 R, [P, [P,]] a, b, c and IADD3.X with up to two predicates behind: the carries of a + b + c.
void add3(Steps& steps, Instruction const& i, Opcode const& op);
void multiply(Steps& steps, Instruction const& i, Opcode const& op);
/// LEA R, [P,] a, b, n: (a << n) + b. HI: the upper word of {c:a} << n, plus b. X: a carry behind. SX32: c is a's sign.
void shifted_add(Steps& steps, Instruction const& i, Opcode const& op);
/// SHF.L and SHF.R: a word of {high:low}, shifted. W: the amount is taken modulo the width.
void shift(Steps& steps, Instruction const& i, Opcode const& op);
/// IMNMX R, a, b, P: the least if P, else the most. VIMNMX3 has a third, VIADDMNMX adds the first two before.
void least_or_most(Steps& steps, Instruction const& i, Opcode const& op);
void absolute(Steps& steps, Instruction const& i, Opcode const& op);
/// The three instructions on floats by which ptxas begins a division: functions of their operand, see execution/terms/division.hpp.
void float_of_division(Steps& steps, Instruction const& i, Opcode const& op);

// ------------------------------------------------------------------------------------- bits, bytes and predicates (logic.cpp)

void logic(Steps& steps, Instruction const& i, Opcode const& op);
void logic_of_predicates(Steps& steps, Instruction const& i, Opcode const& op);
/// PRMT R, a, selector, c: bytes of {c:a}.
void permute(Steps& steps, Instruction const& i, Opcode const& op);
void extend(Steps& steps, Instruction const& i, Opcode const& op);
/// BMSK R, from, length: ones from a bit on. The amounts are clamped at 32, or with W taken modulo it.
void mask(Steps& steps, Instruction const& i, Opcode const& op);
void ones(Steps& steps, Instruction const& i, Opcode const& op);
void reverse(Steps& steps, Instruction const& i, Opcode const& op);
/// HFMA2 R, -RZ, RZ, h, l: two halves as a constant.
void halves(Steps& steps, Instruction const& i, Opcode const& op);
/// ISETP.GE.U32.AND P, Q, a, b, R [, low]: P = (a >= b) && R and Q = !(a >= b) && R. EX: a and b are upper words, `low` what the
/// comparison of the lower ones gave.
void set_predicate(Steps& steps, Instruction const& i, Opcode const& op);
void select(Steps& steps, Instruction const& i, Opcode const& op);
/// P2R R, PR, a, mask: the predicates as bits, where the mask has them, else bits of a.
void predicates_to_word(Steps& steps, Instruction const& i, Opcode const& op);
/// R2P PR, a, mask: bits of a as predicates, where the mask has them.
void word_to_predicates(Steps& steps, Instruction const& i, Opcode const& op);

// ------------------------------------------------------------------------------------- memory and other units (memory.cpp)

void shared_load(Steps& steps, Instruction const& i, Opcode const& op);
void shared_store(Steps& steps, Instruction const& i, Opcode const& op);
/// LDSM.16.M88.4 R, [R] and STSM: 16-bit elements, 8 x 8 matrices, MT: transposed.
void matrices(Steps& steps, Instruction const& i, Opcode const& op);
void shared_atomic(Steps& steps, Instruction const& i, Opcode const& op);
/// LDGSTS [shared], [global]: cp.async.
void copy_async(Steps& steps, Instruction const& i, Opcode const& op);
void generic_load(Steps& steps, Instruction const& i, Opcode const& op);
void generic_store(Steps& steps, Instruction const& i, Opcode const& op);
void generic_atomic(Steps& steps, Instruction const& i, Opcode const& op);
/// QSPC.E.S P, R, [address]: whether a generic address is one of shared memory. A kernel that makes none has none; in others it is a
/// function of the address. Checked by SassLower.AQuestionForTheSpaceOfAnAddress.
void space_of_address(Steps& steps, Instruction const& i, Opcode const& op);
/// STG, RED and REDG: no result.
void global_store(Steps& steps, Instruction const& i, Opcode const& op);
/// ATOMG: its results are any values.
void global_atomic(Steps& steps, Instruction const& i, Opcode const& op);
/// LDG: words of memory that all blocks share.
void global_load(Steps& steps, Instruction const& i, Opcode const& op);
void stack_load(Steps& steps, Instruction const& i, Opcode const& op);
void stack_store(Steps& steps, Instruction const& i, Opcode const& op);
/// UTMALDG [UR8], [UR4], ..: UR8 is the destination, UR9 the mbarrier; UTMASTG [UR8], [UR4]: UR8 is the source. UBLKCP.S.G [UR8], [UR4]:
/// as UTMALDG; UBLKCP.G.S [UR8], [UR4]: UR4 is the source. Checked by SassLower.ABulkCopyNamesWhatItReadsLast.
void tensor_copy(Steps& steps, Instruction const& i, Opcode const& op);
/// HGMMA R, gdesc[UR8], R: the descriptor of A is in UR8 and UR9, that of B in UR10 and UR11.
void warpgroup_multiply(Steps& steps, Instruction const& i, Opcode const& op);

// ------------------------------------------------------------------------------------- lanes that wait (waits.cpp)

/// True if an instruction asks an mbarrier whether a phase is complete.
[[nodiscard]] bool polls(Opcode const& op);
/// True if a lane may wait for what another one does: the events of the code are listed then.
[[nodiscard]] bool may_wait(Code const& code);
/// Adds the event of an instruction at which lanes wait for each other, or by which a loop waits.
void hold_back(Steps& steps, Instruction const& i, Opcode const& op);
/// Adds an event for an instruction that writes memory and has no access.
void write_memory(Steps& steps, Instruction const& i, Opcode const& op);

// ------------------------------------------------------------------------------------- the warp (warp.cpp)

/// SHFL.mode P, R, a, b, c.
void shuffle(Steps& steps, Instruction const& i, Opcode const& op);
/// VOTE.ANY R, P, q: what the lanes that execute it share.
void vote(Steps& steps, Instruction const& i, Opcode const& op);
/// ELECT P, UR, Q: the lane that is elected is one number for the lanes that execute it.
void elect(Steps& steps, Instruction const& i, Opcode const& op);

}  // namespace swizproof::sass
