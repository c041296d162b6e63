#include "code.hpp"

#include <swizproof/program/driver.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace swizproof::sass {

std::optional<std::uint32_t> Code::index_of_pc(std::uint64_t pc) const {
  auto const found = index_of_.find(static_cast<std::uint32_t>(pc));
  return pc <= 0xffffffff && found != index_of_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<std::uint32_t> Code::target_of(Operand const& o) const {
  if (o.kind == Kind::immediate) return index_of_pc(o.value);
  if (o.kind != Kind::label) return std::nullopt;
  auto const found = function.labels.find(o.text);
  return found == function.labels.end() ? std::nullopt : std::optional(found->second);
}

bool Code::is_harmless_call(Instruction const& i) const {
  auto const& externs = function.facts.externs;
  auto const& calls = function.facts.system_calls;
  return i.opcode.starts_with("CALL.ABS") && std::find(calls.begin(), calls.end(), i.pc) != calls.end() &&
         std::all_of(externs.begin(), externs.end(), program::is_harmless) && !externs.empty();
}

bool Code::fails_assertion(Instruction const& i) const {
  auto const& externs = function.facts.externs;
  return is_harmless_call(i) && std::all_of(externs.begin(), externs.end(),
                                            [](std::string const& name) { return name == "__assertfail"; });
}

bool Code::jumps(std::string_view base) {
  static constexpr std::string_view names[] = {"BRA", "EXIT", "BRX", "BRXU", "CALL", "RET", "BPT", "KILL"};
  return std::find(std::begin(names), std::end(names), base) != std::end(names);
}

Code::Code(Function const& in_function) : function(in_function) {
  std::size_t const n = function.body.size();
  leader_.assign(n + 1, false);
  ways_to_.assign(n + 1, 0);
  for (std::uint32_t k = 0; k < n; ++k) index_of_[function.body[k].pc] = k;
  for (auto const& [label, at] : function.labels) leader_[at] = true;
  for (std::uint32_t k = 0; k < n; ++k) {
    Instruction const& i = function.body[k];
    std::string_view const base = i.opcode.substr(0, i.opcode.find('.'));
    if (!jumps(base)) continue;
    leader_[k + 1] = true;
    for (Operand const& o : i.operands)
      if (auto const to = target_of(o)) leader_[*to] = true, ++ways_to_[*to];
    for (std::string_view const label : i.targets)
      if (auto const to = function.labels.find(label); to != function.labels.end()) ++ways_to_[to->second];
    if (base == "CALL")
      if (auto const back = return_of(k)) leader_[*back] = true, ++ways_to_[*back];
  }
}

bool Code::is_slow_copy(std::uint32_t index) const {
  bool collective = false;
  for (std::uint32_t k = index; k < function.body.size() && k < index + 4096; ++k) {
    Opcode const op = opcode_of(function.body[k].opcode);
    if (op.base.starts_with("LD") || op.base.starts_with("ST") || op.base.starts_with("ATOM") ||
        op.base.starts_with("RED") || op.base == "EXIT" || op.base == "CALL")
      if (op.base != "LDC" && op.base != "REDUX") return false;
    collective = collective || (op.base == "WARPSYNC" && op.has("COLLECTIVE"));
    bool const leaves = op.base == "BRA" && function.body[k].guard == Kind::other && op.modifiers.empty();
    if (!leaves) continue;
    for (Operand const& o : function.body[k].operands)
      if (auto const to = target_of(o); to && *to < index) return collective;
  }
  return false;
}

std::optional<std::uint32_t> Code::return_of(std::uint32_t call) const {
  std::optional<std::uint32_t> found;
  bool several = false;
  for (std::uint32_t k = call; k-- > 0 && call - k < 64;) {
    Instruction const& i = function.body[k];
    bool const copies = i.opcode == "MOV" && i.operands.size() == 2;
    bool const adds = i.opcode == "IMAD.MOV.U32" && i.operands.size() == 4 &&
                      i.operands[1].kind == Kind::reg && i.operands[1].reg == no_register;
    Operand const& last = operand(i, copies ? 1 : 3);
    if ((copies || adds) && last.kind == Kind::immediate && i.guard == Kind::other)
      if (auto const at = index_of_pc(last.value)) {
        if (*at == call + 1) return at;
        several = several || (found && *found != *at);
        if (last.value >= 0x40) found = at;  // small ones are numbers
      }
    if (leader_[k]) break;
  }
  return several ? std::nullopt : found;
}

}  // namespace swizproof::sass
