#include "instructions.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>

namespace swizproof::sass {

namespace {

void nothing(Steps&, Instruction const&, Opcode const&) {}

/// Suffixes of a row whose handler looks at all of them.
constexpr std::string_view any = "*";
constexpr std::string_view words = "U8 S8 U16 S16 32 64 128", sizes = "U U8 S8 U16 S16 32 64 128 256";
constexpr std::string_view operations =
    "ADD INC DEC CAS EXCH MIN MAX AND OR XOR S32 U32 S64 U64 32 64 128 F16x2 BF16x2 F16 BF16 F32 F64 RN FTZ";
constexpr std::string_view tensors = "1D 2D 3D 4D 5D TILE IM2COL MULTICAST 2CTA GATHER4 SCATTER4";
/// Suffixes of any access: its scope, and what caches do. None changes what it reads or writes.
constexpr std::string_view of_caches =
    "E WEAK STRONG MMIO CONSTANT PRIVATE CTA SM GPU VC SYS EF EL LU EU NA IF ENL2 EFL2 LTC64B LTC128B "
    "LTC256B";

/// True if words, which blanks separate, have one.
bool lists(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    std::size_t const end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return !word.empty();
  }
  return false;
}

// clang-format off
constexpr Row handled[] = {
    {"MOV", move, "MOV"_form, "64 U32 SPILL", Unit::both},
    {"R2UR", move, "R2UR"_form, "FILL OR"},
    {"CS2R", move_special, "CS2R"_form, "32"},
    {"S2R", move_special, "S2R"_form},
    {"S2UR", move_special, "S2UR"_form},
    {"LDC", load_constant, "LDC"_form, words, Unit::both},
    {"LDCU", load_constant, "LDC"_form, words},
    {"IADD3", add3, "IADD3"_form, "X 64", Unit::both},
    {"IADD", add3, "IADD"_form, "X", Unit::both},
    {"VIADD", add3, "VIADD"_form, {}, Unit::both},
    {"IMAD", multiply, "IMAD"_form, "MOV SHL IADD U32 S32 X WIDE HI", Unit::both},
    {"LEA", shifted_add, "LEA"_form, "HI X SX32", Unit::both},
    {"SHF", shift, "SHF.R"_form, "L R U32 S32 U64 S64 W HI", Unit::both},
    {"LOP3", logic, "LOP3"_form, "LUT PAND", Unit::both},
    {"PLOP3", logic_of_predicates, "PLOP3"_form, "LUT", Unit::both},
    {"ISETP", set_predicate, "ISETP"_form, "EQ NE LT LE GT GE T F U32 S32 U64 S64 AND OR XOR EX", Unit::both},
    {"SEL", select, "SEL"_form, any, Unit::both},
    {"IMNMX", least_or_most, "IMNMX"_form, any, Unit::both},
    {"VIMNMX", least_or_most, "IMNMX"_form, any, Unit::both},
    {"VIMNMX3", least_or_most, "VIMNMX3"_form, any},
    {"VIADDMNMX", least_or_most, "VIADDMNMX"_form, any},
    {"IABS", absolute, "IABS"_form, any, Unit::both},
    {"PRMT", permute, "PRMT"_form, any, Unit::both},
    {"SGXT", extend, "SGXT"_form, "U32 W", Unit::both},
    {"BMSK", mask, "BMSK"_form, "W", Unit::both},
    {"POPC", ones, "POPC"_form, {}, Unit::both},
    {"BREV", reverse, "BREV"_form, {}, Unit::both},
    {"HFMA2", halves, "HFMA2 of a constant"_form, any},
    {"P2R", predicates_to_word, "P2R"_form, any},
    {"P2UR", predicates_to_word, "P2R"_form, any, Unit::both},
    {"R2P", word_to_predicates, "R2P"_form, any},
    {"LDS", shared_load, "LDS"_form, sizes, Unit::memory},
    {"STS", shared_store, "STS"_form, sizes, Unit::memory},
    {"LDSM", matrices, "LDSM"_form, "16 M88 MT88 1 2 4", Unit::memory},
    {"STSM", matrices, "STSM"_form, "16 8 M88 MT88 MT168 1 2 4", Unit::memory},
    {"ATOMS", shared_atomic, "ATOMS"_form, "ADD POPC INC DEC 32 64 CAST SPIN CAS EXCH MIN MAX AND OR XOR S32 U32 F16x2 BF16x2 F16 F32 F64 RN FTZ ARRIVE", Unit::memory},
    {"LDGSTS", copy_async, "LDGSTS"_form, "BYPASS ZFILL 32 64 128", Unit::memory},
    {"LD", generic_load, "LD"_form, sizes, Unit::memory},
    {"ST", generic_store, "ST"_form, sizes, Unit::memory},
    {"ATOM", generic_atomic, "ATOM"_form, operations, Unit::memory},
    {"QSPC", space_of_address, "QSPC"_form, "E S G L"},
    {"LDG", global_load, "LDG"_form, sizes, Unit::memory},
    {"ATOMG", global_atomic, {}, operations, Unit::memory},
    {"LDL", stack_load, "LDL"_form, words, Unit::memory},
    {"STL", stack_store, "STL"_form, words, Unit::memory},
    {"SHFL", shuffle, "SHFL"_form, "IDX UP DOWN BFLY"},
    {"VOTE", vote, "VOTE"_form, "ANY ALL EQ"},
    {"VOTEU", vote, "VOTE"_form, "ANY ALL EQ"},
    {"ELECT", elect, "ELECT"_form},
    {"UTMALDG", tensor_copy, "UTMALDG"_form, tensors, Unit::memory},
    {"UTMASTG", tensor_copy, "UTMASTG"_form, tensors, Unit::memory},
    {"UTMAREDG", tensor_copy, "UTMAREDG"_form, any, Unit::memory},
    {"UBLKCP", tensor_copy, "UBLKCP"_form, "S G MULTICAST", Unit::memory},
    {"UBLKRED", tensor_copy, "UBLKRED"_form, any, Unit::memory},
    {"HGMMA", warpgroup_multiply, "HGMMA"_form, any, Unit::memory},
    {"IGMMA", warpgroup_multiply, "IGMMA"_form, any, Unit::memory},
    {"QGMMA", warpgroup_multiply, "QGMMA"_form, any, Unit::memory},
    {"BGMMA", warpgroup_multiply, "BGMMA"_form, any, Unit::memory},
    {"I2F", float_of_division, {}},
    {"MUFU", float_of_division, {}},
    {"F2I", float_of_division, {}},
    {"FLO", unknown, {}, {}, Unit::both},
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
      {"HMMA", 4},    {"IMMA", 4},    {"BMMA", 4},       {"QMMA", 4},        {"DMMA", 8},      {"OMMA", 4},
      {"FADD", 1},    {"FMUL", 1},    {"FFMA", 1},       {"FMNMX", 1},       {"FSEL", 1},      {"FSET", 1},
      {"FSWZADD", 1}, {"MUFU", 1},    {"HADD2", 1},      {"HMUL2", 1},       {"HFMA2", 1},     {"HMNMX2", 1},
      {"HSET2", 1},   {"F2FP", 1},    {"I2FP", 1},       {"I2IP", 1},        {"F2I", 1},       {"I2F", 1},
      {"F2F", 1},     {"FRND", 1},    {"DADD", 2},       {"DMUL", 2},        {"DFMA", 2},      {"FLO", 1},
      {"IDP", 1},     {"IDP4A", 1},   {"ISCADD", 1},     {"VABSDIFF", 1},    {"VABSDIFF4", 1}, {"BMOV", 1},
      {"B2R", 1},     {"S2R", 1},     {"CS2R", 2},       {"GETLMEMBASE", 2}, {"LEPC", 2},      {"REDUX", 1},
      {"CREDUX", 1},  {"MATCH", 1},   {"VIMNMX3", 1},    {"VIADDMNMX", 1},   {"VIMNMX", 1},    {"FCHK", 0},
      {"FSETP", 0},   {"DSETP", 0},   {"HSETP2", 0},     {"QSPC", 1},        {"MOVM", 1},      {"FMNMX3", 1},
      {"FADD2", 2},   {"FMUL2", 2},   {"FFMA2", 2},      {"I2I", 1},         {"IABS", 1},      {"PRMT", 1},
      {"SGXT", 1},    {"BMSK", 1},    {"LEA", 1},        {"IMAD", 2},        {"IADD3", 1},     {"SHF", 1},
      {"LOP3", 1},    {"SEL", 1},     {"R2UR", 1},       {"S2UR", 1},        {"MOV", 1},       {"POPC", 1},
      {"VOTEU", 1},   {"VOTE", 1},    {"P2R", 1},        {"ATOMG", 2},       {"SHFL", 1},      {"ELECT", 1},
      {"VIADD", 1},   {"IMNMX", 1},   {"SYNCS", 2},      {"LDTM", 128},      {"HGMMA", 128},   {"IGMMA", 128},
      {"QGMMA", 128}, {"BGMMA", 128}, {"UTCATOMSWS", 1}, {"ISETP", 0},       {"PLOP3", 0},     {"LDC", 1},
      {"LDCU", 1},    {"BREV", 1}};
  auto const found = known.find(op.base);
  if (found == known.end()) return std::nullopt;
  if (op.base == "ATOMG" && (bytes_of_atomic(op) == 16 || !op.known)) return 4;
  if (!op.known && found->second != 0)
    return std::max({found->second, 2U, bytes_of(op) / 4, bytes_of_atomic(op) / 4});
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

bool Row::takes(std::string_view suffix) const {
  return suffixes == any || lists(suffixes, suffix) || (unit == Unit::memory && lists(of_caches, suffix));
}

void unknown(Steps& steps, Instruction const& i, Opcode const& op) {
  steps.refine({});
  if (i.operands.empty()) return;
  std::optional<unsigned> const width = width_of(op);
  Source from = steps.registers_of(i, 1);
  bool const pure = op.known && depends_on_operands_alone(op);
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
