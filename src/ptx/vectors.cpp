#include "vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace swizproof::ptx {

namespace {

bool is_number(std::string_view digits) {
  return !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
}

/// True of `.v3`, also of counts that PTX does not have.
bool is_vector(std::string_view part) { return part.starts_with('v') && is_number(part.substr(1)); }

/// Types of loads and stores: 8 to 64 bits, .b128, .f32 and .f64. Atomics have those of 16 bits and more.
bool has_type(Opcode const& op, bool atomic) {
  Type const t = op.type;
  if (t.kind == 'p' || t.kind == 0) return false;
  if (atomic)
    return t.bits >= 32 ? t.kind == 'b' || t.bits <= 64 : t.bits == 16 && t.kind != 's' && t.kind != 'u';
  if (t.integer()) return t.bits <= 64 || t.kind == 'b';
  return op.has("f32") || op.has("f64");
}

/// The number of `sm_100a`: 100; 0 for other texts.
unsigned number_of(std::string_view target) {
  unsigned number = 0;
  if (target.starts_with("sm_")) std::from_chars(target.data() + 3, target.data() + target.size(), number);
  return number;
}

/// Error in the bytes of a lane.
std::string error_of_size(Opcode const& op, bool atomic, std::string_view target) {
  unsigned const bits = op.lanes * op.type.bits;
  bool const wide = op.space == Space::global || op.space == Space::generic;
  if (bits <= 128 && !(atomic && op.lanes > 1 && !wide)) return {};
  if (bits <= 128) return fmt::format("{} has no vectors in this state space: only in .global", op.name);
  if (bits > 256 || op.type.bits == 128) return fmt::format("{} bytes a lane: at most 16", bits / 8);
  if (!wide) return fmt::format("{} bytes a lane: at most 16, but in .global", bits / 8);
  unsigned const sm = number_of(target);
  if (sm == 0 || sm >= 100) return {};
  return fmt::format("{} bytes a lane: at most 16 before sm_100", bits / 8);
}

}  // namespace

std::string error_of_type(Instruction const& i, std::string_view target) {
  Opcode const& op = i.opcode;
  bool const store = op.name == "st" || op.name == "red", load = op.name == "ld" || op.name == "ldu";
  bool const atomic = op.name == "red" || op.name == "atom";
  if ((!load && !store && !atomic) || op.has("async") || op.has("bulk")) return {};
  auto const vectors = std::count_if(op.parts.begin(), op.parts.end(), is_vector);
  if (vectors > 1 || (vectors == 1 && op.lanes == 1)) return "a vector is one of .v2, .v4 and .v8";
  if (!has_type(op, atomic))
    return fmt::format("{} has no type that it can access: {}", op.name,
                       atomic ? "one of 32 or 64 bits, .b16, .f16, .bf16 or .b128"
                              : ".b8 to .b128, .u8 to .u64, .s8 to .s64, .f32 or .f64");
  std::size_t const data = store ? 1 : 0;
  if (i.operands.size() > data && i.operands[data].kind == Operand::Kind::vector &&
      i.operands[data].parts.size() != op.lanes)
    return fmt::format("{} in braces, and {} elements in the instruction", i.operands[data].parts.size(),
                       op.lanes);
  return error_of_size(op, atomic, target);
}

}  // namespace swizproof::ptx
