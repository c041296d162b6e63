// One kernel of SASS on its way to the executor's language: blocks, registers and the steps of each instruction.
#pragma once

#include "forms.hpp"

#include <swizproof/sass/lower.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::sass {

/// Parts of an opcode: IMAD, WIDE, U32.
struct Opcode {
  std::string_view text{};
  std::string_view base{};  ///< without the U of the uniform datapath where `uniform`
  bool uniform = false;
  std::vector<std::string_view> modifiers{};
  [[nodiscard]] bool has(std::string_view modifier) const;
};
[[nodiscard]] Opcode opcode_of(std::string_view text);

class Lowering {
 public:
  /// `stack`: local memory may be a stack, which find_stack decides.
  Lowering(Module const& module, Function const& function, bool stack);
  Lowered run();
  /// False if an instruction has written R1 behind the start of the kernel, so that the words of the stack are not those that were taken.
  [[nodiscard]] bool keeps_stack() const { return keeps_stack_; }

  using Handler = void (Lowering::*)(Instruction const&, Opcode const&);
  /// Opcodes of one name: their meaning, and the form that a verdict rests on where the handler decides a result. The handler may
  /// name another one. Checked by SassForms.EveryDecidedResultIsMeasuredOrNamed.
  struct Row {
    std::string_view name;
    Handler handler;
    FormName form;
  };
  static std::span<Row const> rows();

 private:
  using Source = program::Source;
  using Action = program::Action;
  using Kind = Operand::Kind;

  // ------------------------------------------------------------------------------------- blocks (lower.cpp)

  /// One call that is inlined, or the kernel itself.
  struct Context {
    std::int32_t parent = -1;
    std::uint32_t back = 0;  ///< index of the instruction that it returns to
    std::uint32_t line = 0;  ///< of the call
    unsigned depth = 0;
  };
  static std::vector<std::string> register_names();
  static bool jumps(std::string_view base);
  void find_leaders();
  [[nodiscard]] bool may_make_generic(Instruction const& i) const;
  void find_parameters();
  struct Parameter {
    std::uint64_t first = 0, bytes = 0;
    std::uint32_t symbol = 0;
  };
  [[nodiscard]] std::vector<Parameter> parts_read(std::uint64_t base) const;
  void add_parameter(Parameter p, bool part, std::string name = {});
  std::int32_t block_at(std::uint32_t context, std::uint32_t index);
  static bool may_write(Instruction const& i, Operand const& predicate);
  void lower_block(std::uint32_t context, std::uint32_t index);
  /// Ends the block if the instruction does; false: it goes on.
  bool control(Instruction const& i, Opcode const& op, std::uint32_t index);
  bool branch(Instruction const& i, Opcode const& op, std::uint32_t index);
  bool indirect_branch(Instruction const& i, std::uint32_t index);
  bool call(Instruction const& i, Opcode const& op, std::uint32_t index);
  void end_block(std::int32_t taken, std::int32_t next, std::optional<Source> condition);
  [[nodiscard]] std::optional<std::uint32_t> target_of(Operand const& o) const;
  [[nodiscard]] std::optional<std::uint32_t> index_of_pc(std::uint64_t pc) const;
  [[nodiscard]] std::optional<std::uint32_t> return_of(std::uint32_t call) const;
  [[nodiscard]] bool is_slow_copy(std::uint32_t index) const;
  void external_call();
  void instruction(Instruction const& i, Opcode const& op);
  void refuse(std::string const& why);

  // ------------------------------------------------------------------------------------- steps (lower.cpp)

  std::uint32_t temporary(unsigned width);
  static Source constant(std::uint64_t value) { return {true, value}; }
  static Source reg(std::uint32_t r) { return {false, r}; }
  Source emit(Action action, unsigned width, Source a = {}, Source b = {}, Source c = {},
              std::uint32_t extra = 0);
  std::uint32_t named(std::string_view what);
  Source any(unsigned width, Source from = {}, bool memory = false);
  Source function_of(unsigned width, Source a, Source b = {}, Source c = {});
  Source zext(Source s) { return s.constant ? s : emit(Action::zext, 64, s); }
  Source sext(Source s);
  Source trunc(Source s) { return s.constant ? constant(s.value & 0xffffffff) : emit(Action::trunc, 32, s); }
  Source high(Source s) { return trunc(emit(Action::lshr, 64, s, constant(32))); }
  Source pair(Source low, Source high);
  Source choose(Source p, Source yes, Source no, unsigned width);
  Source negate(Source p) { return p.constant ? constant(p.value ^ 1) : emit(Action::negate, 1, p); }
  Source both(Source p, Source q);
  Source either(Source p, Source q);
  Source add(Source a, Source b, unsigned width = 32);
  Source below(Source a, Source b, unsigned width, bool is_signed);
  Source arithmetic_shift(Source a, Source n, unsigned width);
  Source uniform_special(std::string const& name);

  // ------------------------------------------------------------------------------------- operands (operand.cpp)

  static Operand const& operand(Instruction const& i, std::size_t k);
  [[nodiscard]] static bool is_predicate(Operand const& o) {
    return o.kind == Kind::predicate || o.kind == Kind::uniform_predicate;
  }
  /// Registers that an operand names, in the program; nothing for RZ and the like.
  static std::optional<std::uint32_t> number_of(Operand const& o, unsigned plus = 0);
  Source word(Operand const& o);
  Source word_at(Operand const& o, unsigned plus);
  Source wide(Operand const& o, bool sign_immediate);
  Source truth(Operand const& o);
  Source constant_bank(Operand const& o, unsigned bits, unsigned plus = 0);
  std::optional<Source> parameter_at(std::uint64_t at, unsigned bits);
  Source bank_bytes(std::uint64_t at, unsigned bits);
  Source special(std::string_view name);
  void write(std::uint32_t r, Source value, unsigned width);
  void put(Operand const& o, Source value);
  void put_wide(Operand const& o, Source value);
  void put_truth(Operand const& o, Source value);
  void put_truths(Instruction const& i, Source first, Source second);
  /// Registers of a destination from `o` on become unknown.
  void lose(Operand const& o, unsigned count, Source from = {}, bool memory = false);
  Source registers_of(Instruction const& i, std::size_t from);
  void unknown(Instruction const& i, Opcode const& op);
  void not_modelled(Operand const& o, unsigned count, Source from = {}, bool memory = false);
  void form(FormName name);
  void refine(FormName name);

  // ------------------------------------------------------------------------------------- predicates in bits (bits.cpp)

  void find_kept_bits();
  [[nodiscard]] std::optional<Source> kept_bit(Source r, unsigned bit) const;
  Source bit_of(Source value, unsigned bit, unsigned depth);
  void write_kept_bits(std::uint32_t r, Source value);
  [[nodiscard]] std::optional<Source> tested_bit(Instruction const& i) const;

  // ------------------------------------------------------------------------------------- instructions (integer.cpp)

  static Row const* row_of(std::string_view name);
  void nothing(Instruction const&, Opcode const&) {}
  void move(Instruction const& i, Opcode const& op);
  void move_special(Instruction const& i, Opcode const& op);
  void load_constant(Instruction const& i, Opcode const& op);
  void add3(Instruction const& i, Opcode const& op);
  void multiply(Instruction const& i, Opcode const& op);
  void multiply_wide(Instruction const& i, Opcode const& op, std::size_t at);
  void shifted_add(Instruction const& i, Opcode const& op);
  void shift(Instruction const& i, Opcode const& op);
  void logic(Instruction const& i, Opcode const& op);
  void logic_of_predicates(Instruction const& i, Opcode const& op);
  void set_predicate(Instruction const& i, Opcode const& op);
  void select(Instruction const& i, Opcode const& op);
  void least_or_most(Instruction const& i, Opcode const& op);
  void absolute(Instruction const& i, Opcode const& op);
  void permute(Instruction const& i, Opcode const& op);
  void extend(Instruction const& i, Opcode const& op);
  void mask(Instruction const& i, Opcode const& op);
  void ones(Instruction const& i, Opcode const& op);
  void reverse(Instruction const& i, Opcode const& op);
  void halves(Instruction const& i, Opcode const& op);
  void predicates_to_word(Instruction const& i, Opcode const& op);
  void word_to_predicates(Instruction const& i, Opcode const& op);
  Source table(unsigned lut, Source a, Source b, Source c, unsigned width);
  Source table2(unsigned lut, Source a, Source b, unsigned width);
  Source inverted(Source s, unsigned width);

  // ------------------------------------------------------------------------------------- memory and the warp (memory.cpp)

  Source address(Operand const& o);
  void access(program::MemoryAccess m, Operand const& where);
  program::MemoryAccess access_of(Instruction const& i, Opcode const& op) const;
  void shared_load(Instruction const& i, Opcode const& op);
  void shared_store(Instruction const& i, Opcode const& op);
  void matrices(Instruction const& i, Opcode const& op);
  void shared_atomic(Instruction const& i, Opcode const& op);
  void copy_async(Instruction const& i, Opcode const& op);
  void generic_load(Instruction const& i, Opcode const& op);
  void generic_store(Instruction const& i, Opcode const& op);
  void generic_atomic(Instruction const& i, Opcode const& op);
  void global_load(Instruction const& i, Opcode const& op);
  void find_stack();
  std::uint32_t slot(std::uint64_t offset);
  void stack_load(Instruction const& i, Opcode const& op);
  void stack_store(Instruction const& i, Opcode const& op);
  void tensor_copy(Instruction const& i, Opcode const& op);
  void warpgroup_multiply(Instruction const& i, Opcode const& op);
  void operand_at(Instruction const& i, Opcode const& op, program::OperandRole role, std::uint32_t unit,
                  Source value);
  void shuffle(Instruction const& i, Opcode const& op);
  void vote(Instruction const& i, Opcode const& op);
  void elect(Instruction const& i, Opcode const& op);
  Source within_segment(program::Shuffle mode, Source b, Source c);
  static unsigned bytes_of(Opcode const& op);

  static constexpr std::uint32_t first_uniform = 255, first_predicate = 510, first_uniform_predicate = 517,
                                 registers = 524;

  Module const& module_;
  Function const& function_;
  Lowered out_{};
  program::Program& program_ = out_.program;
  std::vector<bool> leader_{};
  std::vector<Context> contexts_{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int32_t> blocks_{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> work_{};
  std::unordered_map<std::uint32_t, std::uint32_t> index_of_{};  ///< of each address
  std::unordered_map<std::string, std::uint32_t> names_{};
  std::unordered_map<std::string, std::uint32_t> uniform_{};
  std::vector<Parameter> parameters_{};  ///< that are read as numbers
  std::uint32_t shared_symbol_ = 0;
  bool stack_;                    ///< local memory is words at constant offsets from R1
  bool keeps_stack_ = true;       ///< nothing has written R1 since
  std::uint32_t stack_line_ = 0;  ///< of the last instruction that sets R1
  std::unordered_map<std::uint64_t, std::uint32_t> slots_{};  ///< registers that stand for them
  /// By register and bit: the register of a truth that is the bit.
  std::unordered_map<std::uint32_t, std::map<unsigned, std::uint32_t>> kept_bits_{};
  std::uint32_t context_ = 0;
  std::int32_t block_ = 0;
  std::uint32_t line_ = 0;
  std::string_view opcode_{};
  std::optional<Source> guard_{};  ///< what must hold; nothing: always
  std::size_t lowered_ = 0;
  /// The first step of an instruction, and its form.
  struct UsedForm {
    std::uint32_t first = 0;
    FormName form{};
    std::string_view opcode{};
  };
  std::vector<UsedForm> forms_{};
};

}  // namespace swizproof::sass
