#include "stack.hpp"

namespace swizproof::sass {

Stack::Stack(Code const& code, bool may) : used_(find(code) && may) {}

bool Stack::find(Code const& code) {
  Function const& function = code.function;
  bool used = false;
  bool led = false;       // a block begins here or before, behind the first
  std::uint32_t set = 0;  // the last instruction that sets R1
  for (std::uint32_t k = 0; k < function.body.size(); ++k) {
    Instruction const& i = function.body[k];
    Opcode const op = opcode_of(i.opcode);
    led = led || (k != 0 && code.leads(k));
    bool const stack = op.base == "LDL" || op.base == "STL";
    bool const sets = !stack && !i.operands.empty() && i.operands[0].kind == Kind::reg &&
                      i.operands[0].reg == 1 && i.guard == Kind::other && !used && !led;
    used = used || stack;
    if (stack && !op.known) return false;
    if (sets) set = k;
    if (op.base == "CALL" && !op.has("REL") && !code.fails_assertion(i))
      return false;  // what it is given lies there
    for (std::string_view const label : i.targets)
      if (function.labels.at(label) <= set) return false;
    for (std::size_t n = sets ? 1 : 0; n < i.operands.size(); ++n) {
      Operand const& o = i.operands[n];
      if (auto const to = Code::jumps(op.base) ? code.target_of(o) : std::nullopt; to && *to <= set)
        return false;
      bool const plain = o.reg == 1 && o.uniform == no_register && !o.suffixed && !o.wide && o.scale == 1;
      bool const reads =
          !sets && o.reg == 1 && (o.kind == Kind::reg || o.kind == Kind::memory || o.kind == Kind::constant);
      if (stack && o.kind == Kind::memory ? !plain : reads || (o.reg == 0 && o.wide))
        return false;  // R0 and R1
    }
  }
  line_ = function.body.empty() ? 0 : function.body[set].line;
  return used;
}

void Stack::written(std::uint32_t r, std::uint32_t line) {
  if (r == 1 && line > line_) kept_ = kept_ && !used_;  // as a half of a pair, too
}

std::uint32_t Stack::slot(program::Builder& build, std::uint64_t offset) {
  auto const [at, fresh] = slots_.try_emplace(offset & 0xffffffff, 0);
  if (fresh) at->second = build.temporary(32);
  return at->second;
}

}  // namespace swizproof::sass
