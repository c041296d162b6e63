// Instructions by all their names: ours, those of PTX and SASS, and CUTLASS's copy atoms.
#include "parse/text/scanner.hpp"

#include "parse/fragment/blackwell_atom.hpp"
#include "parse/text/nearest.hpp"
#include "parse/access/sass.hpp"

#include <swizproof/parse/parse.hpp>

#include <array>
#include <vector>

namespace swizproof {

namespace {

/// CUTLASS's copy atoms of matrices.
struct CopyAtom {
  std::string_view name, instruction;
};
constexpr CopyAtom copy_atoms[] = {
    {"SM75_U32x1_LDSM_N", "ldmatrix.x1"},       {"SM75_U32x2_LDSM_N", "ldmatrix.x2"},
    {"SM75_U32x4_LDSM_N", "ldmatrix.x4"},       {"SM75_U16x2_LDSM_T", "ldmatrix.x1.trans"},
    {"SM75_U16x4_LDSM_T", "ldmatrix.x2.trans"}, {"SM75_U16x8_LDSM_T", "ldmatrix.x4.trans"},
    {"SM90_U32x1_STSM_N", "stmatrix.x1"},       {"SM90_U32x2_STSM_N", "stmatrix.x2"},
    {"SM90_U32x4_STSM_N", "stmatrix.x4"},       {"SM90_U16x2_STSM_T", "stmatrix.x1.trans"},
    {"SM90_U16x4_STSM_T", "stmatrix.x2.trans"}, {"SM90_U16x8_STSM_T", "stmatrix.x4.trans"},
};

/// The text without the address `/*0fe0*/` and the predicate `@!P0` that a listing has before an instruction.
std::string_view without_place(std::string_view text) {
  auto const without_blanks = [&] {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  };
  without_blanks();
  if (std::size_t const end = text.find("*/"); text.starts_with("/*") && end != text.npos)
    text.remove_prefix(end + 2);
  without_blanks();
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
  without_blanks();
  return text;
}

class InstructionReader {
 public:
  explicit InstructionReader(std::string_view text) : whole_(text) {
    while (!text.empty() && (is_space(text.back()) || text.back() == ';')) text.remove_suffix(1);
    text = without_place(text);
    std::size_t const end = std::min(text.find_first_of(" \t\n"), text.size());
    mnemonic_ = text.substr(0, end);
    operands_ = text.substr(end);
  }

  [[nodiscard]] Instruction read() {
    if (std::optional<Instruction> const known = from_table(mnemonic_); known && no_operands()) return *known;
    for (std::size_t at = 0; at < mnemonic_.size();) {
      std::size_t const dot = std::min(mnemonic_.find('.', at), mnemonic_.size());
      words_.push_back(mnemonic_.substr(at, dot - at));
      at = dot + 1;
    }
    if (words_.empty()) unknown();
    for (std::size_t i = 1; i < words_.size(); ++i)
      if (std::find(words_.begin() + 1, words_.begin() + static_cast<std::ptrdiff_t>(i), words_[i]) !=
          words_.begin() + static_cast<std::ptrdiff_t>(i))
        refuse("'" + std::string(words_[i]) + "' is given twice");
    std::string_view const op = words_[0];
    if (op == "ld" || op == "st") return load_or_store();
    if (op == "ldmatrix" || op == "stmatrix") return matrices();
    if (op == "cp") return copy();
    if (op == "LDSM" || op == "STSM" || op == "LDS" || op == "STS" || op == "LDGSTS") return sass();
    if (op == "LDG" || op == "STG" || op == "LD" || op == "ST" || op == "LDL" || op == "STL" ||
        op == "UTMALDG")
      refuse(std::string(op) + " is no access of a warp to shared memory",
             "LDS, STS, LDSM, STSM and LDGSTS are");
    if (std::optional<Instruction> const atom = copy_atom()) return *atom;
    unknown();
  }

 private:
  [[noreturn]] void refuse(std::string message, std::string hint = {}) const {
    throw InputError{std::move(message), std::string(whole_), 0, std::max<std::size_t>(whole_.size(), 1),
                     std::move(hint)};
  }
  static constexpr char const* known_names =
      "known: ld.shared and st.shared .b8 to .b128, ldmatrix and stmatrix .x1 .x2 .x4 [.trans], cp.async "
      ".b32 "
      ".b64 .b128; as PTX, SASS and CUTLASS name them too";
  [[noreturn]] void unknown() const {
    std::vector<std::string> names;
    for (InstructionName const& known : instruction_names) names.emplace_back(known.text);
    for (CopyAtom const& known : copy_atoms) names.emplace_back(known.name);
    for (char const* name : {"SM80_CP_ASYNC_CACHEALWAYS", "SM80_CP_ASYNC_CACHEGLOBAL"})
      names.emplace_back(name);
    refuse("unknown instruction", did_you_mean(mnemonic_.substr(0, mnemonic_.find('<')), names, known_names));
  }
  static std::optional<Instruction> from_table(std::string_view text) {
    for (InstructionName const& known : instruction_names)
      if (known.text == text) return known.instruction;
    return std::nullopt;
  }
  /// True where nothing follows but what a pasted line of PTX has there.
  [[nodiscard]] bool no_operands() const {
    std::size_t const from = operands_.find_first_not_of(" \t\n");
    return from == operands_.npos || std::string_view("[{%").find(operands_[from]) != std::string_view::npos;
  }
  void expect_operands() const {
    if (!no_operands())
      refuse("unexpected text after the instruction", "operands are [address] and registers");
  }
  [[nodiscard]] bool has(std::string_view word) const {
    return std::find(words_.begin() + 1, words_.end(), word) != words_.end();
  }
  /// Every word behind the first is one of these, or is refused.
  void expect_words(std::initializer_list<std::string_view> known) const {
    for (std::size_t i = 1; i < words_.size(); ++i)
      if (std::find(known.begin(), known.end(), words_[i]) == known.end())
        refuse("'" + std::string(words_[i]) + "' is not known behind " + std::string(words_[0]),
               did_you_mean(words_[i], std::vector<std::string>(known.begin(), known.end()), known_names));
  }

  /// Bytes of a PTX type: f32, u16, b128, bf16x2.
  static unsigned type_bytes(std::string_view type) {
    static constexpr std::pair<std::string_view, unsigned> types[] = {
        {"b8", 1},   {"u8", 1},  {"s8", 1},    {"b16", 2},   {"u16", 2},   {"s16", 2}, {"f16", 2},
        {"bf16", 2}, {"b32", 4}, {"u32", 4},   {"s32", 4},   {"f32", 4},   {"b64", 8}, {"u64", 8},
        {"s64", 8},  {"f64", 8}, {"b128", 16}, {"f16x2", 4}, {"bf16x2", 4}};
    for (auto const& [name, bytes] : types)
      if (name == type) return bytes;
    return 0;
  }

  /// ld.shared.v4.f32, st.volatile.shared::cta.u16
  Instruction load_or_store() {
    static constexpr std::string_view spaces[] = {"global", "local",        "const",
                                                  "param",  "param::entry", "param::func"};
    for (std::string_view const space : spaces)
      if (has(space))
        refuse(std::string(mnemonic_) + " does not access shared memory", "ld.shared and st.shared do");
    bool shared = false;
    unsigned count = 1, bytes = 0;
    for (std::size_t i = 1; i < words_.size(); ++i) {
      std::string_view const word = words_[i];
      if (word == "shared" || word == "shared::cta" || word == "shared::cluster") {
        shared = true;
      } else if (word == "v2" || word == "v4" || word == "v8") {
        count = static_cast<unsigned>(word[1] - '0');
      } else if (unsigned const of_type = type_bytes(word)) {
        if (bytes != 0) refuse("the type is given twice");
        bytes = of_type;
      } else if (std::string_view(" weak volatile relaxed acquire release cta cluster gpu sys ")
                     .find(" " + std::string(word) + " ") == std::string_view::npos) {
        refuse("'" + std::string(word) + "' is not known behind " + std::string(words_[0]),
               did_you_mean(word,
                            std::vector<std::string>{"shared", "volatile", "relaxed", "acquire", "release"},
                            known_names));
      }
    }
    if (!shared)
      refuse(std::string(mnemonic_) + " names no state space",
             "a generic address may be shared memory: write " + std::string(words_[0]) + ".shared if it is");
    if (bytes == 0)
      refuse("the type is missing", "such as " + std::string(words_[0]) + ".shared.v4.f32 or .b128");
    if (count * bytes > 16)
      refuse("a lane takes at most 16 bytes of shared memory at once, and this is " +
             std::to_string(count * bytes));
    expect_operands();
    return {words_[0] == "ld" ? Operation::ld_shared : Operation::st_shared, count * bytes};
  }

  /// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
  Instruction matrices() {
    for (std::string_view const word : {"m16n16", "m8n16", "m16n8", "b8", "b8x16"})
      if (has(word)) return byte_matrices();
    expect_words({"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta", "b16"});
    std::optional<std::string> found;
    for (char const* count : {"x1", "x2", "x4"}) {
      if (!has(count)) continue;
      if (found) refuse("the number of matrices is given twice");
      found = std::string(words_[0]) + "." + count + (has("trans") ? ".trans" : "");
    }
    if (!found) refuse("the number of matrices is missing: .x1, .x2 or .x4");
    expect_operands();
    return *from_table(*found);
  }

  /// ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8, ldmatrix.sync.aligned.m8n16.x4.b8x16.b4x16_p64
  Instruction byte_matrices() {
    expect_words({"sync", "aligned", "m16n16", "m8n16", "m16n8", "x1", "x2", "x4", "trans", "shared",
                  "shared::cta", "b8", "b8x16", "b6x16_p32", "b4x16_p64"});
    std::string name;
    for (std::string_view const word : words_)
      if (word != "sync" && word != "aligned" && !word.starts_with("shared"))
        name += (name.empty() ? "" : ".") + std::string(word);
    for (InstructionName const& known : byte_matrix_names)
      if (known.text == name) {
        expect_operands();
        return known.instruction;
      }
    std::vector<std::string> names;
    for (InstructionName const& known : byte_matrix_names) names.emplace_back(known.text);
    refuse("no such matrices of bytes: " + name,
           did_you_mean(name, names,
                        "m16n16 with .x1 or .x2 and .trans, m8n16 with .b8x16, stmatrix m16n8 with .trans"));
  }

  /// cp.async.cg.shared.global [dst], [src], 16
  Instruction copy() {
    if (!has("async")) unknown();
    if (has("bulk") || has("tensor"))
      refuse("a bulk copy is no access of a warp: the copy engine writes shared memory",
             "'swizproof tma' shows the bytes that TMA writes");
    if (!has("ca") && !has("cg")) unknown();
    for (std::size_t i = 1; i < words_.size(); ++i)
      if (!words_[i].starts_with("L2::") &&
          std::string_view(" async ca cg shared shared::cta shared::cluster global ")
                  .find(" " + std::string(words_[i]) + " ") == std::string_view::npos)
        refuse("'" + std::string(words_[i]) + "' is not known behind cp.async",
               is_digit(words_[i].empty() ? 'x' : words_[i][0])
                   ? "cp.async.cg.shared.global [dst], [src], 16 copies 16 bytes; in short cp.async.b128"
                   : known_names);
    std::optional<unsigned> const bytes = copied_bytes();
    bool const whole = has("cg");
    if (!bytes && !whole)
      refuse("the number of bytes is missing",
             "cp.async.ca.shared.global [dst], [src], 8 copies 4, 8 or 16 bytes");
    unsigned const n = bytes.value_or(16);
    if (n != 16 && (whole || (n != 4 && n != 8)))
      refuse(std::string("cp.async.") + (whole ? "cg copies 16 bytes" : "ca copies 4, 8 or 16 bytes") +
             ", and this says " + std::to_string(n));
    return {Operation::cp_async, n};
  }
  /// The first operand that is a number.
  [[nodiscard]] std::optional<unsigned> copied_bytes() const {
    for (std::size_t at = 0; at < operands_.size();) {
      std::size_t const comma = std::min(operands_.find(',', at), operands_.size());
      std::string_view part = operands_.substr(at, comma - at);
      while (!part.empty() && is_space(part.front())) part.remove_prefix(1);
      while (!part.empty() && is_space(part.back())) part.remove_suffix(1);
      unsigned n = 0;
      auto const [end, error] = std::from_chars(part.data(), part.data() + part.size(), n);
      if (error == std::errc{} && end == part.data() + part.size()) return n;
      at = comma + 1;
    }
    return std::nullopt;
  }

  /// LDS.128 R4, [R3]; LDSM.16.MT88.4; and LDSM.x4, which no assembler prints.
  Instruction sass() {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> modifiers{{
        {"LDS", " U 64 128 U8 S8 U16 S16 "},
        {"STS", " 64 128 U8 S8 U16 S16 "},
        {"LDSM", " 16 M88 MT88 2 4 "},
        {"STSM", " 16 M88 MT88 2 4 "},
        {"LDGSTS", " E 64 128 BYPASS ZFILL LTC64B LTC128B LTC256B "},
    }};
    std::string_view const op = words_[0];
    if ((op == "LDSM" || op == "STSM") && (has("x1") || has("x2") || has("x4"))) {
      words_[0] = op == "LDSM" ? "ldmatrix" : "stmatrix";
      for (std::string_view& word : words_)
        if (word == "T") word = "trans";
      return matrices();
    }
    auto const known =
        std::find_if(modifiers.begin(), modifiers.end(), [&](auto const& m) { return m.first == op; });
    for (std::size_t i = 1; i < words_.size(); ++i)
      if (known->second.find(" " + std::string(words_[i]) + " ") == std::string_view::npos)
        refuse("'" + std::string(words_[i]) + "' is not known behind " + std::string(op),
               "known:" + std::string(known->second));
    std::optional<Instruction> const found = parse_sass(mnemonic_);
    if (!found)
      refuse("the shape of the matrices is missing",
             std::string(op) + ".16.M88.4, or .MT88 for transposed ones");
    return *found;
  }

  /// `SM75_U32x4_LDSM_N`, `SM80_CP_ASYNC_CACHEGLOBAL<cute::uint128_t>`, `Copy_Atom<SM75_U16x8_LDSM_T, half_t>`
  std::optional<Instruction> copy_atom() {
    std::string text(mnemonic_);
    text += operands_;
    text.erase(std::remove_if(text.begin(), text.end(), is_space), text.end());
    std::string_view name = text;
    auto const without = [&](std::string_view prefix) {
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    };
    if (name.ends_with("{}")) name.remove_suffix(2);
    without("cute::");
    if (name.starts_with("Copy_Atom<")) {
      name.remove_prefix(10);
      name = name.substr(0, std::min(name.rfind(','), name.size() - 1));
      without("cute::");
      if (name.starts_with("Copy_Traits<") && name.ends_with(">")) name = name.substr(12, name.size() - 13);
      without("cute::");
    }
    for (CopyAtom const& atom : copy_atoms)
      if (atom.name == name) return from_table(atom.instruction);
    if (name.starts_with("SM100_") && (name.find("_LDSM_") != name.npos || name.find("_STSM_") != name.npos))
      if (std::string const ptx = ptx_of_blackwell_atom(name); !ptx.empty()) return parse_instruction(ptx);
    for (std::string_view const prefix : {"SM80_CP_ASYNC_CACHEALWAYS", "SM80_CP_ASYNC_CACHEGLOBAL"}) {
      if (!name.starts_with(prefix)) continue;
      std::string_view rest = name.substr(prefix.size());
      if (rest.starts_with("_ZFILL")) rest.remove_prefix(6);
      return asynchronous(std::string(prefix), rest);
    }
    if (name.starts_with("UniversalCopy") || name.starts_with("AutoVectorizingCopy") ||
        name.starts_with("DefaultCopy")) {
      std::size_t const angle = name.find('<');
      std::string_view const inside =
          angle == name.npos ? "" : name.substr(angle + 1, name.size() - angle - 2);
      unsigned bits = 0;
      (void)std::from_chars(inside.data(), inside.data() + inside.size(), bits);
      unsigned const bytes = name.starts_with("AutoVec") ? bits / 8 : bytes_of_type(inside);
      std::string const width = bytes != 0 ? ".b" + std::to_string(8 * bytes) : ".b128";
      refuse(
          std::string(name) + " copies between any two memories: it names no instruction of shared memory",
          "write ld.shared" + width + " where it reads the tile, st.shared" + width + " where it writes it");
    }
    if (name.starts_with("SM90_TMA") || name.starts_with("SM100_TMA") || name.starts_with("SM90_BULK"))
      refuse("a bulk copy is no access of a warp: the copy engine writes shared memory",
             "'swizproof tma' shows the bytes that TMA writes");
    if (name.find("_LDSM_") != name.npos || name.find("_STSM_") != name.npos)
      refuse("unknown copy atom " + std::string(name),
             "known: SM75_U32x{1,2,4}_LDSM_N, SM75_U16x{2,4,8}_LDSM_T, SM90_U32x{1,2,4}_STSM_N, "
             "SM90_U16x{2,4,8}_STSM_T");
    return std::nullopt;
  }

  /// Bytes of the C++ type that an atom copies.
  static unsigned bytes_of_type(std::string_view type) {
    while (!type.empty() && (type.back() == '>' || is_space(type.back()))) type.remove_suffix(1);
    if (type.starts_with("cute::")) type.remove_prefix(6);
    if (type.starts_with("cutlass::")) type.remove_prefix(9);
    static constexpr std::pair<std::string_view, unsigned> types[] = {
        {"uint128_t", 16}, {"uint4", 16}, {"int4", 16},    {"float4", 16}, {"double2", 16}, {"uint64_t", 8},
        {"int64_t", 8},    {"uint2", 8},  {"float2", 8},   {"double", 8},  {"uint32_t", 4}, {"int32_t", 4},
        {"float", 4},      {"int", 4},    {"unsigned", 4}, {"uint1", 4}};
    for (auto const& [name, bytes] : types)
      if (name == type) return bytes;
    return 0;
  }
  Instruction asynchronous(std::string const& atom, std::string_view argument) const {
    if (!argument.starts_with("<") || !argument.ends_with(">"))
      refuse("the type that " + atom + " copies is missing", "such as " + atom + "<uint128_t>");
    argument = argument.substr(1, argument.size() - 2);
    unsigned const bytes = bytes_of_type(argument.substr(0, argument.find(',')));
    if (bytes == 0)
      refuse("how many bytes has " + std::string(argument) + "?", "write uint128_t, uint64_t or uint32_t");
    if (atom.ends_with("GLOBAL") && bytes != 16)
      refuse(atom + " copies 16 bytes, and " + std::string(argument) + " has " + std::to_string(bytes));
    return {Operation::cp_async, bytes};
  }

  std::string_view whole_, mnemonic_, operands_;
  std::vector<std::string_view> words_{};
};

}  // namespace

Instruction parse_instruction(std::string_view text) { return InstructionReader(text).read(); }

bool looks_like_instruction(std::string_view text) {
  text = without_place(text);
  static constexpr std::string_view starts[] = {
      "ld.",        "st.",    "ldmatrix.", "stmatrix.",  "cp.async",      "LDS",
      "STS",        "LDGSTS", "LDG",       "STG",        "SM75_",         "SM80_",
      "SM90_",      "SM100_", "cute::",    "Copy_Atom<", "UniversalCopy", "AutoVectorizingCopy",
      "DefaultCopy"};
  return std::any_of(std::begin(starts), std::end(starts),
                     [&](std::string_view s) { return text.starts_with(s); });
}

}  // namespace swizproof
