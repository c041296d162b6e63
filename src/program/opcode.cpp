#include <swizproof/program/opcode.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace swizproof::program {

namespace {

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    std::size_t const dot = std::min(text.find('.', from), text.size());
    parts.push_back(text.substr(from, dot - from));
    from = dot + 1;
  }
  return parts;
}

bool is_vector(std::string_view part) { return part == "v2" || part == "v4" || part == "v8"; }

Space space_of(std::vector<std::string_view> const& parts) {
  for (std::string_view const p : parts) {
    if (p == "shared" || p.starts_with("shared::")) return Space::shared;
    if (p == "global") return Space::global;
    if (p == "const") return Space::constant;
    if (p == "local") return Space::local;
    if (p == "param" || p.starts_with("param::")) return Space::param;
  }
  return Space::generic;
}

/// True for an instruction of floating point that names no rounding mode.
bool is_unrounded(Opcode const& op) {
  static constexpr std::string_view roundings[] = {"rn", "rz", "rm", "rp", "rna"};
  std::string_view const type = op.parts.back();
  return (type.starts_with('f') || type.starts_with("bf")) &&
         std::none_of(std::begin(roundings), std::end(roundings),
                      [&](std::string_view r) { return op.has(r); });
}

}  // namespace

Type type_of(std::string_view part) {
  static constexpr std::pair<std::string_view, unsigned> sizes[] = {
      {"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}};
  static constexpr std::pair<std::string_view, Type> others[] = {
      {"pred", {'p', 1}},  {"f16x2", {'f', 32}},  {"bf16x2", {'f', 32}},
      {"tf32", {'f', 32}}, {"bf16", {'f', 16}},   {"e4m3", {'f', 8}},
      {"e5m2", {'f', 8}},  {"e4m3x2", {'f', 16}}, {"e5m2x2", {'f', 16}}};
  if (part.size() < 2) return {};
  if (part[0] == 'b' || part[0] == 's' || part[0] == 'u' || part[0] == 'f')
    for (auto const& [text, bits] : sizes)
      if (part.substr(1) == text) return {part[0], bits};
  for (auto const& [text, type] : others)
    if (part == text) return type;
  return {};
}

Opcode::Opcode(std::string_view all) : text(all), parts(parts_of(all)) {
  name = parts[0];
  bool const behind = parts.size() > 2 && is_vector(parts.back());  // ld.u32.v2
  type = type_of(parts[parts.size() - (behind ? 2 : 1)]);
  space = space_of(parts);
  for (std::string_view const p : parts)
    if (is_vector(p)) lanes = static_cast<std::uint8_t>(p[1] - '0');
}

bool Opcode::has(std::string_view part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

bool Opcode::is_strong() const {
  static constexpr std::string_view orders[] = {"volatile", "relaxed", "acquire",
                                                "release",  "acq_rel", "mmio"};
  return std::any_of(std::begin(orders), std::end(orders), [&](std::string_view o) { return has(o); });
}

Type Opcode::type_before() const { return parts.size() > 2 ? type_of(parts[parts.size() - 2]) : Type{}; }

bool depends_on_operands_alone(std::string_view name) {
  static constexpr std::string_view pure[] = {
      "add",   "sub",   "mul",      "mad",   "fma",  "div",  "rem",   "abs",  "neg",  "min",
      "max",   "rcp",   "sqrt",     "rsqrt", "sin",  "cos",  "tanh",  "lg2",  "ex2",  "cvt",
      "and",   "or",    "xor",      "not",   "cnot", "shl",  "shr",   "shf",  "lop3", "bfe",
      "bfi",   "bfind", "prmt",     "popc",  "clz",  "brev", "sad",   "dp4a", "dp2a", "mul24",
      "mad24", "slct",  "copysign", "testp", "set",  "fns",  "szext", "bmsk"};
  return std::find(std::begin(pure), std::end(pure), name) != std::end(pure);
}

bool is_fusible_product(Opcode const& op) { return op.name == "mul" && is_unrounded(op); }

bool is_fusible_sum(Opcode const& op) { return (op.name == "add" || op.name == "sub") && is_unrounded(op); }

}  // namespace swizproof::program
