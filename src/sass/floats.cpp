// Floats: functions of their operands, which runs on numbers compute to the last bit (program/floating.hpp).
#include "instructions.hpp"

#include <swizproof/program/floating.hpp>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>

namespace swizproof::sass {

namespace {

constexpr std::uint64_t sign = 0x80000000;

/// Bits of a number as nvdisasm prints it, with at least nine digits where they matter; nothing for NaN and infinity.
std::optional<std::uint64_t> float_bits_of(std::string_view text) {
  std::string const copy(text);
  char* end = nullptr;
  float const x = std::strtof(copy.c_str(), &end);
  if (end == copy.c_str() || *end != 0 || !std::isfinite(x)) return std::nullopt;
  return std::bit_cast<std::uint32_t>(x);
}

/// The operand with its signs, |x| before -x; nothing if it has another suffix.
std::optional<Source> float_word(Steps& steps, Operand const& o) {
  if (o.suffixed || o.inverted || is_predicate(o)) return std::nullopt;
  if (o.kind == Kind::number) {
    auto const bits = float_bits_of(o.text);
    return bits ? std::optional(constant(*bits)) : std::nullopt;
  }
  if (o.kind != Kind::reg && o.kind != Kind::uniform && o.kind != Kind::constant) return std::nullopt;
  Source s = steps.word_at(o, 0);
  if (o.absolute) s = table2(steps, 8, s, constant(sign - 1), 32);
  return o.negative ? table2(steps, 6, s, constant(sign), 32) : s;
}

}  // namespace

void floating(Steps& steps, Instruction const& i, Opcode const& op) {
  std::size_t const sources = op.base == "FFMA" ? 3 : op.base == "FADD" || op.base == "FMUL" ? 2 : 1;
  bool const of_integer = op.base == "I2FP";
  if (program::float_opcode(i.opcode).empty() || i.operands.size() != 1 + sources)
    return unknown(steps, i, op);
  std::array<Source, 3> words{};
  for (std::size_t k = 0; k < sources; ++k) {
    Operand const& o = operand(i, 1 + k);
    auto const word = of_integer && (o.negative || o.absolute) ? std::nullopt : float_word(steps, o);
    if (!word) return unknown(steps, i, op);
    words[k] = *word;
  }
  steps.refine(op.base == "F2I"    ? "F2I"_form
               : op.base == "I2FP" ? "I2FP"_form
               : op.base == "FRND" ? "FRND"_form
               : op.base == "FADD" ? "FADD"_form
               : op.base == "FMUL" ? "FMUL"_form
                                   : "FFMA"_form);
  steps.put(operand(i, 0), steps.function_of(32, words[0], words[1], words[2]));
}

}  // namespace swizproof::sass
