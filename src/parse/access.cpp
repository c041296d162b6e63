// ACCESS: a named pattern, or an instruction and what each lane asks for; names of architectures.
#include "expression_parser.hpp"

#include <bit>

namespace swizproof {

namespace {

struct InstructionName {
  std::string_view text;
  Instruction instruction;
};

constexpr InstructionName instruction_names[] = {
    {"ld.shared.b8", {Operation::ld_shared, 1}},
    {"ld.shared.b16", {Operation::ld_shared, 2}},
    {"ld.shared.b32", {Operation::ld_shared, 4}},
    {"ld.shared.b64", {Operation::ld_shared, 8}},
    {"ld.shared.b128", {Operation::ld_shared, 16}},
    {"st.shared.b8", {Operation::st_shared, 1}},
    {"st.shared.b16", {Operation::st_shared, 2}},
    {"st.shared.b32", {Operation::st_shared, 4}},
    {"st.shared.b64", {Operation::st_shared, 8}},
    {"st.shared.b128", {Operation::st_shared, 16}},
    {"ldmatrix.x1", {Operation::ldmatrix, 16, 1}},
    {"ldmatrix.x2", {Operation::ldmatrix, 16, 2}},
    {"ldmatrix.x4", {Operation::ldmatrix, 16, 4}},
    {"ldmatrix.x1.trans", {Operation::ldmatrix, 16, 1, true}},
    {"ldmatrix.x2.trans", {Operation::ldmatrix, 16, 2, true}},
    {"ldmatrix.x4.trans", {Operation::ldmatrix, 16, 4, true}},
    {"stmatrix.x1", {Operation::stmatrix, 16, 1}},
    {"stmatrix.x2", {Operation::stmatrix, 16, 2}},
    {"stmatrix.x4", {Operation::stmatrix, 16, 4}},
    {"stmatrix.x1.trans", {Operation::stmatrix, 16, 1, true}},
    {"stmatrix.x2.trans", {Operation::stmatrix, 16, 2, true}},
    {"stmatrix.x4.trans", {Operation::stmatrix, 16, 4, true}},
    {"cp.async.b32", {Operation::cp_async, 4}},
    {"cp.async.b64", {Operation::cp_async, 8}},
    {"cp.async.b128", {Operation::cp_async, 16}},
};

/// The footprint, from all lanes' positions; refuses positions that the instruction cannot take.
void measure(Access& access, std::string_view text) {
  std::uint32_t last_row = 0, last_byte = 0;
  for (std::uint32_t lane = 0; lane < access.instruction.lanes(); ++lane) {
    std::span<std::uint32_t const> const variables(&lane, 1);
    std::uint32_t const row = access.row(variables, lane), byte = access.byte(variables, lane);
    if (byte % access.instruction.bytes != 0)
      throw InputError{"lane " + std::to_string(lane) + " asks for byte " + std::to_string(byte) +
                           ", which is not a multiple of the " + std::to_string(access.instruction.bytes) +
                           " bytes that the instruction takes",
                       std::string(text),
                       0,
                       text.size(),
                       {}};
    last_row = std::max(last_row, row);
    last_byte = std::max(last_byte, byte + access.instruction.bytes - 1);
  }
  if (last_row >= 1U << 20 || last_byte >= 1U << 20)
    throw InputError{
        "a lane is more than 2^20 rows or bytes from the origin", std::string(text), 0, text.size(), {}};
  access.rows = std::bit_ceil(last_row + 1);
  access.row_bytes = std::bit_ceil(last_byte + 1);
}

}  // namespace

Expression parse_expression(std::string_view text, std::span<std::string const> variables) {
  Scanner in(text);
  Expression expression = ExpressionParser(in, variables).parse();
  if (!in.done()) in.fail_here("unexpected text after the expression");
  return expression;
}

Instruction parse_instruction(std::string_view text) {
  for (InstructionName const& known : instruction_names)
    if (known.text == text) return known.instruction;
  throw InputError{"unknown instruction", std::string(text), 0, text.size(),
                   "known: ld.shared and st.shared .b8 to .b128, ldmatrix and stmatrix .x1 .x2 .x4 [.trans], "
                   "cp.async .b32 .b64 .b128"};
}

std::string to_string(Instruction const& instruction) {
  for (InstructionName const& known : instruction_names)
    if (known.instruction == instruction) return std::string(known.text);
  return "unknown instruction";
}

Access parse_access(std::string_view text) {
  std::size_t const colon = text.find(':');
  if (colon == std::string_view::npos) {
    for (NamedAccess const& named : named_accesses())
      if (named.name == text) {
        Access access = parse_access(named.text);
        access.name = named.name;
        return access;
      }
    throw InputError{
        "unknown access", std::string(text), 0, text.size(),
        "'swizproof accesses' lists the named ones; or write INSTRUCTION: row = ..., byte = ..."};
  }
  Access access;
  access.name = text;
  access.instruction = parse_instruction(text.substr(0, colon));
  Scanner in(text);
  in.back_to(colon + 1);
  std::array<std::string, 1> const variables{"lane"};
  in.expect("row", "= ..., byte = ...");
  in.expect("=", "after row");
  access.row = ExpressionParser(in, variables).parse();
  in.expect(",", "and then byte = ...");
  in.expect("byte", "= ... after the row");
  in.expect("=", "after byte");
  access.byte = ExpressionParser(in, variables).parse();
  if (!in.done()) in.fail_here("unexpected text after the access");
  measure(access, text);
  return access;
}

Architecture const& parse_architecture(std::string_view text) {
  std::string known;
  for (Architecture const& arch : architectures) {
    if (arch.name == text) return arch;
    known += " " + std::string(arch.name);
  }
  throw InputError{"unknown architecture", std::string(text), 0, text.size(), "known:" + known};
}

}  // namespace swizproof
