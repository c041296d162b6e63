#include "parse/fragment/fragment_words.hpp"

#include "parse/fragment/blackwell_atom.hpp"
#include "parse/fragment/mma_atom.hpp"
#include "parse/text/nearest.hpp"
#include "parse/text/scanner.hpp"

#include <swizproof/hardware/element.hpp>

#include <algorithm>

namespace swizproof {

namespace {

constexpr char const* fragment_forms =
    "mma.SHAPE[.KIND].TYPE:a|b|d|sfa|sfb, wgmma.m64nNkK.TYPE:a|d, ldmatrix or stmatrix .x1 .x2 .x4 [.trans], "
    "movmatrix.trans, tcgen05.ld.SHAPE.xN; PTX's whole names and CuTe's atoms too";

/// Every name that may be meant, without operands.
std::vector<std::string> fragment_names() {
  std::vector<std::string> names;
  auto const each_type = [&](std::string const& shape, std::string_view types) {
    while (!types.empty()) {
      std::size_t const end = std::min(types.find(' '), types.size());
      names.push_back(shape + "." + std::string(types.substr(0, end)));
      types.remove_prefix(std::min(end + 1, types.size()));
    }
  };
  for (InstructionName const& known : instruction_names)
    if (known.instruction.matrices != 0) names.emplace_back(known.text);
  for (InstructionName const& known : byte_matrix_names) names.emplace_back(known.text);
  names.emplace_back("movmatrix.trans");
  for (TensorMemoryForm const& form : tensor_memory_forms)
    for (char const* op : {"tcgen05.ld.", "tcgen05.st."})
      for (unsigned many = 1; many <= form.most; many *= 2)
        names.push_back(op + std::string(form.name) + ".x" + std::to_string(many));
  for (MmaShape const& s : mma_shapes) each_type("mma." + std::string(s.shape), s.types);
  for (WgmmaShape const& s : wgmma_shapes)
    for (unsigned const n : {8U, 16U, 32U, 64U, 96U, 128U, 192U, 256U})
      each_type("wgmma.m64n" + std::to_string(n) + "k" + std::to_string(s.k), s.types);
  return names;
}

}  // namespace

std::optional<MmaType> mma_type(std::string_view name) {
  for (std::string_view const known : {"f64", "f32", "tf32", "s32", "i32", "f16", "bf16", "e4m3", "e5m2",
                                       "fp8", "s8", "u8", "i8", "s4", "u4", "i4", "e2m1", "fp4", "b1"})
    if (known == name) return MmaType{known, name == "b1" ? 1 : element_type(name)->bits};
  for (std::string_view const six : {"e3m2", "e2m3"})
    if (six == name) return MmaType{six, 6};
  return std::nullopt;
}

FragmentWords::FragmentWords(std::string_view given, std::optional<unsigned> bits)
    : text(given), element_bits(bits) {
  while (!given.empty() && is_space(given.front())) given.remove_prefix(1);
  while (!given.empty() && is_space(given.back())) given.remove_suffix(1);
  name = given;
  if (std::size_t const space = name.find(".shared::cta"); space != name.npos) name.erase(space + 7, 5);
  std::size_t colon = name.rfind(':');
  if (colon != name.npos && colon > 0 && name[colon - 1] == ':') colon = name.npos;  // of kind::f8f6f4
  if (colon != name.npos) {
    read_operand(std::string_view(name).substr(colon + 1));
    name.resize(colon);
  }
  if (std::string ptx = ptx_of_blackwell_atom(name); !ptx.empty()) {
    if (ptx.rfind("ldmatrix.m16n16", 0) == 0)
      notes.emplace_back(
          "CuTe's atom exchanges bytes 2 and 3 of each even register with bytes 0 and 1 of the next after "
          "the "
          "instruction; this is the instruction's");
    name = std::move(ptx);
  } else
    plain_cute();
  std::size_t const point = name.rfind('.');
  if (colon == name.npos && point != name.npos && point + 2 == name.size() &&
      std::string_view("abcdABCD").find(name[point + 1]) != std::string_view::npos)
    fail("the operand stands behind a colon", name.substr(0, point) + ":" + name[point + 1]);
  split(name.rfind("SM", 0) == 0 ? from_cute() : name);
  if (words.empty()) unknown();
}

void FragmentWords::fail(std::string message, std::string hint) const {
  throw InputError::whole(std::move(message), text, std::move(hint));
}
bool FragmentWords::has_word(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}
void FragmentWords::unknown() const {
  fail("unknown fragment", did_you_mean(name, fragment_names(), fragment_forms));
}
void FragmentWords::unknown_type(std::string const& word) const {
  fail("unknown element type " + word, did_you_mean(name, fragment_names(), fragment_forms));
}
std::string FragmentWords::similar_names() const { return did_you_mean(name, fragment_names()); }
void FragmentWords::read_operand(std::string_view letters) {
  if (letters == "a" || letters == "A")
    operand = Operand::a;
  else if (letters == "b" || letters == "B")
    operand = Operand::b;
  else if (letters == "c" || letters == "C" || letters == "d" || letters == "D")
    operand = Operand::d, addend = letters == "c" || letters == "C";
  else if (letters == "sfa" || letters == "SFA")
    operand = Operand::scale_a;
  else if (letters == "sfb" || letters == "SFB")
    operand = Operand::scale_b;
  else if (letters == "e" || letters == "E")
    operand = Operand::e;
  else
    fail("an operand is a, b, c or d, sfa or sfb for scales, or e for metadata",
         "such as mma.m16n8k16.f16:b");
}
void FragmentWords::plain_cute() {
  for (std::string_view const space : {"cute::", "SM90::", "GMMA::"})
    if (name.rfind(space, 0) == 0) name.erase(0, space.size());
  if (name.rfind("SPARSE::GMMA_", 0) == 0) {
    name.replace(0, 13, "SM90_");
    sparse = true;
  }
  if (name.rfind("MMA_", 0) == 0) name.replace(0, 4, "SM90_");
  std::size_t const open = name.find('<'), close = name.rfind('>');
  if (name.rfind("SM", 0) == 0 && open < close && close != name.npos) name.erase(open, close - open + 1);
}
void FragmentWords::split(std::string const& ptx) {
  std::size_t from = 0;
  std::vector<std::string> orders;
  while (from <= ptx.size()) {
    std::size_t const end = std::min(ptx.find('.', from), ptx.size());
    std::string word = ptx.substr(from, end - from);
    from = end + 1;
    if (word.empty()) unknown();
    if (word == "row" || word == "col") orders.push_back(word);
    static constexpr std::string_view idle[] = {"sync",      "aligned",   "row", "col", "shared", "cta",
                                                "mma_async", "satfinite", "xor", "and", "popc"};
    if (words.empty() || std::find(std::begin(idle), std::end(idle), word) == std::end(idle))
      words.push_back(std::move(word));
  }
  if (!orders.empty() && orders != std::vector<std::string>{"row", "col"})
    fail("A is row and B is col in every mma that is modelled", "mma.sync.aligned.m16n8k16.row.col...");
}
std::string FragmentWords::from_cute() {
  std::vector<std::string> parts{""};
  for (char const c : name)
    if (c == '_')
      parts.emplace_back();
    else
      parts.back() += c;
  if (parts.size() == 4 && (parts[2] == "LDSM" || parts[2] == "STSM") && parts[1].size() == 5 &&
      parts[1][0] == 'U') {
    std::string const kind = parts[2] == "LDSM" ? "ldmatrix.x" : "stmatrix.x";
    unsigned const count = static_cast<unsigned>(parts[1][4] - '0');
    if (parts[3] == "N" && parts[1].substr(0, 4) == "U32x") return kind + std::to_string(count);
    if (parts[3] == "T" && parts[1].substr(0, 4) == "U16x" && count % 2 == 0)
      return kind + std::to_string(count / 2) + ".trans";
  }
  std::size_t const first = parts.size() > 1 ? parts[1].find('x') : std::string::npos;
  std::size_t const second = first == std::string::npos ? first : parts[1].find('x', first + 1);
  if (parts.size() < 3 || second == std::string::npos) unknown();
  std::string const shape = "m" + parts[1].substr(0, first) + "n" +
                            parts[1].substr(first + 1, second - first - 1) + "k" +
                            parts[1].substr(second + 1);
  std::string types;
  if (parts[2].find("C64") != std::string::npos)
    fail("this atom of complex numbers is several products, and is not modelled as one",
         "the atom of F64 has the same threads");
  for (std::size_t i = 0; i < parts[2].size();) {
    std::size_t longest = 0;
    std::string lower;
    if (parts[2].substr(i, 2) == "U1" && parts[2].substr(i, 3) != "U16") longest = 2, lower = "b1";
    for (std::size_t n = 2; n <= 4 && i + n <= parts[2].size(); ++n) {
      std::string word = parts[2].substr(i, n);
      std::transform(word.begin(), word.end(), word.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
      if (mma_type(word)) longest = n, lower = word;
    }
    if (longest == 0) unknown();
    types += "." + lower;
    i += longest;
  }
  a_is_shared = parts.size() > 3 && parts[3] == "SS";
  return (parts[0] == "SM90" && parts[1].rfind("64x", 0) == 0 ? "wgmma." : "mma.") + shape + types;
}

}  // namespace swizproof
