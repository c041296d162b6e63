#include "instructions.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>

namespace swizproof::sass {

namespace {

void nothing(Steps&, Instruction const&, Opcode const&) {}

// clang-format off
constexpr Row handled[] = {
    {"MOV", move, "MOV"_form, true},
    {"R2UR", move, "R2UR"_form},
    {"CS2R", move_special, "CS2R"_form},
    {"S2R", move_special, "S2R"_form},
    {"S2UR", move_special, "S2UR"_form},
    {"LDC", load_constant, "LDC"_form, true},
    {"LDCU", load_constant, "LDC"_form},
    {"IADD3", add3, "IADD3"_form, true},
    {"IADD", add3, "IADD"_form, true},
    {"VIADD", add3, "VIADD"_form, true},
    {"IMAD", multiply, "IMAD"_form, true},
    {"LEA", shifted_add, "LEA"_form, true},
    {"SHF", shift, "SHF.R"_form, true},
    {"LOP3", logic, "LOP3"_form, true},
    {"PLOP3", logic_of_predicates, "PLOP3"_form, true},
    {"ISETP", set_predicate, "ISETP"_form, true},
    {"SEL", select, "SEL"_form, true},
    {"IMNMX", least_or_most, "IMNMX"_form, true},
    {"VIMNMX", least_or_most, "IMNMX"_form, true},
    {"VIMNMX3", least_or_most, "VIMNMX3"_form},
    {"VIADDMNMX", least_or_most, "VIADDMNMX"_form},
    {"IABS", absolute, "IABS"_form, true},
    {"PRMT", permute, "PRMT"_form, true},
    {"SGXT", extend, "SGXT"_form, true},
    {"BMSK", mask, "BMSK"_form, true},
    {"POPC", ones, "POPC"_form, true},
    {"BREV", reverse, "BREV"_form, true},
    {"HFMA2", halves, "HFMA2 of a constant"_form},
    {"P2R", predicates_to_word, "P2R"_form},
    {"P2UR", predicates_to_word, "P2R"_form, true},
    {"R2P", word_to_predicates, "R2P"_form},
    {"LDS", shared_load, "LDS"_form},
    {"STS", shared_store, "STS"_form},
    {"LDSM", matrices, "LDSM"_form},
    {"STSM", matrices, "STSM"_form},
    {"ATOMS", shared_atomic, "ATOMS"_form},
    {"LDGSTS", copy_async, "LDGSTS"_form},
    {"LD", generic_load, "LD"_form},
    {"ST", generic_store, "ST"_form},
    {"ATOM", generic_atomic, "ATOM"_form},
    {"QSPC", space_of_address, "QSPC"_form},
    {"LDG", global_load, "LDG"_form},
    {"ATOMG", global_atomic, {}},
    {"LDL", stack_load, "LDL"_form},
    {"STL", stack_store, "STL"_form},
    {"SHFL", shuffle, "SHFL"_form},
    {"VOTE", vote, "VOTE"_form},
    {"VOTEU", vote, "VOTE"_form},
    {"ELECT", elect, "ELECT"_form},
    {"UTMALDG", tensor_copy, "UTMALDG"_form},
    {"UTMASTG", tensor_copy, "UTMASTG"_form},
    {"UTMAREDG", tensor_copy, "UTMAREDG"_form},
    {"UBLKCP", tensor_copy, "UBLKCP"_form},
    {"UBLKRED", tensor_copy, "UBLKRED"_form},
    {"HGMMA", warpgroup_multiply, "HGMMA"_form},
    {"IGMMA", warpgroup_multiply, "IGMMA"_form},
    {"QGMMA", warpgroup_multiply, "QGMMA"_form},
    {"BGMMA", warpgroup_multiply, "BGMMA"_form},
    {"I2F", float_of_division, {}},
    {"MUFU", float_of_division, {}},
    {"F2I", float_of_division, {}},
    {"FLO", unknown, {}, true},
    // No result, and no access of shared memory.
    {"NOP", nothing, {}}, {"BSSY", nothing, {}}, {"BSYNC", nothing, {}},
    {"BREAK", nothing, {}}, {"WARPSYNC", nothing, {}}, {"YIELD", nothing, {}},
    {"BAR", nothing, {}}, {"MEMBAR", nothing, {}}, {"DEPBAR", nothing, {}},
    {"LDGDEPBAR", nothing, {}}, {"ERRBAR", nothing, {}}, {"CGAERRBAR", nothing, {}},
    {"CCTL", nothing, {}}, {"NANOSLEEP", nothing, {}}, {"STG", global_store, {}},
    {"CCTLG", nothing, {}}, {"RED", global_store, {}}, {"REDG", global_store, {}},
    {"FENCE", nothing, {}}, {"ENDCOLLECTIVE", nothing, {}}, {"PREEXIT", nothing, {}},
    {"ACQBULK", nothing, {}}, {"WARPGROUP", nothing, {}}, {"UTMACCTL", nothing, {}},
    {"UTMACMDFLUSH", nothing, {}}, {"UTMAPF", nothing, {}}, {"UCGABAR_ARV", nothing, {}},
    {"UCGABAR_WAIT", nothing, {}}, {"PMTRIG", nothing, {}}, {"CCTLL", nothing, {}},
    {"CCTLT", nothing, {}}, {"BPT", nothing, {}}, {"WARPGROUPSET", nothing, {}},
    {"UBLKPF", nothing, {}}, {"USETSHMSZ", nothing, {}}, {"MATCHUR", nothing, {}},
    {"SETMAXREG", nothing, {}}, {"SETLMEMBASE", nothing, {}}, {"KILL", nothing, {}},
    {"ARRIVES", nothing, {}}, {"UTCBAR", nothing, {}},
    {"BRA", nothing, {}}, {"CALL", nothing, {}}, {"SUST", nothing, {}},
    {"STT", nothing, {}}, {"STTM", nothing, {}}, {"FENCE_T", nothing, {}},
    {"UTMASTG_W", nothing, {}},
};
// clang-format on

/// Registers that a destination of an instruction has which is not modelled; nothing: not known.
std::optional<unsigned> width_of(Opcode const& op) {
  static std::unordered_map<std::string_view, unsigned> const known{
      {"HMMA", 4},    {"IMMA", 4},    {"BMMA", 4},      {"QMMA", 4},        {"DMMA", 8},      {"OMMA", 4},
      {"FADD", 1},    {"FMUL", 1},    {"FFMA", 1},      {"FMNMX", 1},       {"FSEL", 1},      {"FSET", 1},
      {"FSWZADD", 1}, {"MUFU", 1},    {"HADD2", 1},     {"HMUL2", 1},       {"HFMA2", 1},     {"HMNMX2", 1},
      {"HSET2", 1},   {"F2FP", 1},    {"I2FP", 1},      {"I2IP", 1},        {"F2I", 1},       {"I2F", 1},
      {"F2F", 1},     {"FRND", 1},    {"DADD", 2},      {"DMUL", 2},        {"DFMA", 2},      {"FLO", 1},
      {"IDP", 1},     {"IDP4A", 1},   {"ISCADD", 1},    {"VABSDIFF", 1},    {"VABSDIFF4", 1}, {"BMOV", 1},
      {"B2R", 1},     {"S2R", 1},     {"CS2R", 2},      {"GETLMEMBASE", 2}, {"LEPC", 2},      {"REDUX", 1},
      {"CREDUX", 1},  {"MATCH", 1},   {"VIMNMX3", 1},   {"VIADDMNMX", 1},   {"VIMNMX", 1},    {"FCHK", 0},
      {"FSETP", 0},   {"DSETP", 0},   {"HSETP2", 0},    {"QSPC", 1},        {"MOVM", 1},      {"FMNMX3", 1},
      {"FADD2", 2},   {"FMUL2", 2},   {"FFMA2", 2},     {"I2I", 1},         {"IABS", 1},      {"PRMT", 1},
      {"SGXT", 1},    {"BMSK", 1},    {"LEA", 1},       {"IMAD", 2},        {"IADD3", 1},     {"SHF", 1},
      {"LOP3", 1},    {"SEL", 1},     {"R2UR", 1},      {"S2UR", 1},        {"MOV", 1},       {"POPC", 1},
      {"VOTEU", 1},   {"VOTE", 1},    {"P2R", 1},       {"ATOMG", 2},       {"SHFL", 1},      {"ELECT", 1},
      {"VIADD", 1},   {"IMNMX", 1},   {"SYNCS", 2},     {"LDTM", 128},      {"HGMMA", 128},   {"IGMMA", 128},
      {"QGMMA", 128}, {"BGMMA", 128}, {"UTCATOMSWS", 1}};
  auto const found = known.find(op.base);
  if (found == known.end()) return std::nullopt;
  if (op.base == "ATOMG" && bytes_of_atomic(op) == 16) return 4;
  if (found->second != 1) return op.base == "IMAD" && !op.has("WIDE") ? 1 : found->second;
  // For a conversion the result decides: F2F.F32.F64 and F2I.F64 write one register, F2F.F64.F32 and I2F.F64 two.
  bool const float64 = op.has("F64"), integer64 = op.has("S64") || op.has("U64");
  if (op.base == "F2F") {
    auto const is_format = [](std::string_view m) {
      return m.ends_with("F16") || m.ends_with("F32") || m == "F64";
    };
    auto const first = std::find_if(op.modifiers.begin(), op.modifiers.end(), is_format);
    return first != op.modifiers.end() && *first == "F64" ? 2 : 1;
  }
  if (op.base == "I2F") return float64 ? 2 : 1;
  if (op.base == "F2I") return integer64 ? 2 : 1;
  if (op.base == "SHF") return 1;  // a word of the shifted pair
  return float64 || integer64 || op.has("64") ? 2 : 1;
}

/// Instructions whose result depends on their operands alone.
bool depends_on_operands_alone(Opcode const& op) {
  static std::set<std::string_view> const pure{
      "FADD",    "FMUL",      "FFMA",   "FMNMX",  "FSEL",   "FSET",    "FSETP", "FCHK", "MUFU",
      "HADD2",   "HMUL2",     "HFMA2",  "HSET2",  "F2FP",   "I2FP",    "I2IP",  "F2I",  "I2F",
      "F2F",     "FRND",      "HSETP2", "DADD",   "DMUL",   "DFMA",    "DSETP", "FLO",  "IDP",
      "VIMNMX3", "VIADDMNMX", "VIMNMX", "IMNMX",  "PRMT",   "IMAD",    "LEA",   "SHF",  "LOP3",
      "SGXT",    "BMSK",      "IADD3",  "HMNMX2", "FMNMX3", "VABSDIFF"};
  return pure.count(op.base) != 0;
}

}  // namespace

std::span<Row const> rows() { return handled; }

Row const* row_of(std::string_view name) {
  static std::unordered_map<std::string_view, Row const*> const known = [] {
    std::unordered_map<std::string_view, Row const*> h;
    for (Row const& row : handled) h.emplace(row.name, &row);
    return h;
  }();
  auto const found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

void unknown(Steps& steps, Instruction const& i, Opcode const& op) {
  steps.refine({});
  if (i.operands.empty()) return;
  std::optional<unsigned> const width = width_of(op);
  Source from = steps.registers_of(i, 1);
  bool const pure = depends_on_operands_alone(op);
  bool const memory = op.base.starts_with("LD") || op.base.starts_with("ATOM") ||
                      op.base.starts_with("TEX") || op.base.starts_with("TLD") || op.base.starts_with("SULD");
  std::uint64_t literals =
      1469598103934665603U;  // hash of the literals: instructions with one opcode and equal registers may differ in them
  for (std::size_t k = 1; k < i.operands.size(); ++k) {
    Operand const& o = i.operands[k];
    bool const named_register = o.reg != no_register || o.kind == Kind::constant;
    std::uint64_t const flags = (o.negative ? 1U : 0U) | (o.inverted ? 2U : 0U) | (o.absolute ? 4U : 0U) |
                                (o.negated ? 8U : 0U) | static_cast<std::uint64_t>(k) << 4;
    literals = (literals ^ flags) * 1099511628211U;
    if (!named_register || o.suffixed)
      literals = (literals ^ std::hash<std::string_view>{}(o.text)) * 1099511628211U;
  }
  for (Operand const& o : i.operands)
    if (Operand part; polls(op) && o.kind == Kind::memory) {  // the mbarrier that it asks
      part.kind = Kind::reg, part.reg = o.reg;
      Source const base = steps.word_at(part, 0);
      part.kind = Kind::uniform, part.reg = o.uniform;
      from = steps.function_of(64, from, base, steps.word_at(part, 0));
    }
  auto const result = [&](unsigned bits, unsigned which) {
    return pure        ? steps.function_of(bits, from, constant(literals), constant(which))
           : polls(op) ? steps.build.one_together(bits, from)
                       : steps.any(bits, from, memory);
  };
  auto const lose_words = [&](Operand const& o, unsigned count) {
    for (unsigned k = 0; k < count; ++k)
      if (auto const r = number_of(o, k)) steps.write(*r, result(32, k), 32);
  };
  std::size_t first = 0;  // the first that is no predicate
  while (first < i.operands.size() && first < 3 && is_predicate(i.operands[first])) ++first;
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    Operand const& o = i.operands[k];
    if (is_predicate(o) && k < 3 && !o.negated)
      steps.put_truth(o, result(1, 1000 + static_cast<unsigned>(k)));
    else if ((o.kind == Kind::reg || o.kind == Kind::uniform) && (k == first || (!width && k < 3)))
      lose_words(o, width.value_or(128));
  }
}

}  // namespace swizproof::sass
