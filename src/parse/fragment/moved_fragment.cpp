// Fragments of ldmatrix, stmatrix, movmatrix and copies of Tensor Memory, and scale factors there.
#include "parse/fragment/fragment_words.hpp"

#include <algorithm>
#include <charconv>

namespace swizproof {

namespace {

class MoveReader {
 public:
  explicit MoveReader(FragmentWords const& words) : w_(words) {}

  [[nodiscard]] NamedFragment read() const {
    if (w_.words[0] == "movmatrix") return movmatrix();
    if (w_.words[0] != "tcgen05") return matrices();
    return w_.words[1] == "cp" ? copied() : tcgen05();
  }

 private:
  /// ldmatrix and stmatrix of bytes.
  [[nodiscard]] NamedFragment of_bytes(InstructionName const& known) const {
    if (w_.operand) w_.fail("ldmatrix and stmatrix have no operands", "--into says which operand is meant");
    if (w_.element_bits && *w_.element_bits != 8)
      w_.fail(std::string(known.text) + " moves elements of 8 bits, and these have " +
                  std::to_string(*w_.element_bits),
              "ldmatrix and stmatrix of .m8n8 move units of 16 bits");
    NamedFragment found;
    found.instruction = known.text;
    found.memory = known.instruction;
    found.fragment = fragment_of(known.instruction, 8);
    found.needs = "sm_100a, sm_110a or sm_120a";
    found.measured = false;
    MatrixForm const form = known.instruction.form;
    if (form == MatrixForm::m16n16_b6 || form == MatrixForm::m8n16_b6)
      found.notes.emplace_back(
          "a row in memory is 16 elements of 6 bits in 12 bytes and 4 bytes of gap; in registers bits 0 to 5 "
          "of each 8");
    if (form == MatrixForm::m16n16_b4 || form == MatrixForm::m8n16_b4)
      found.notes.emplace_back(
          "a row in memory is 16 elements of 4 bits in 8 bytes and 8 bytes of gap; in registers bits 0 to 3 "
          "of each 8");
    return found;
  }
  /// movmatrix.sync.aligned.m8n8.trans.b16: registers to registers. [PTX ISA 9.1, 9.7.14.5.17]
  [[nodiscard]] NamedFragment movmatrix() const {
    for (std::size_t i = 1; i < w_.words.size(); ++i)
      if (w_.words[i] != "m8n8" && w_.words[i] != "trans" && w_.words[i] != "b16") w_.unknown();
    if (w_.operand) w_.fail("movmatrix has no operands", "--into says which operand is meant");
    unsigned const bits = w_.element_bits.value_or(16);
    if (bits < 4 || bits > 16)
      w_.fail("movmatrix moves units of 16 bits: elements have 4 to 16", "--element f16, fp8");
    NamedFragment found;
    found.instruction = "movmatrix.trans";
    found.fragment = fragment_of({Operation::ldmatrix, 16, 1, true}, bits);
    found.needs = "sm_75";
    return found;
  }
  /// tcgen05.ld.sync.aligned.16x256b.x4.b32. [PTX ISA 9.1, 9.7.16.8.1]
  [[nodiscard]] NamedFragment tcgen05() const {
    if (w_.operand && *w_.operand != Operand::d)
      w_.fail(w_.words[0] + "." + w_.words[1] + " has no operands",
              "the lanes and columns of Tensor Memory are its indices");
    TensorMemoryForm const* form = nullptr;
    unsigned many = 0;
    for (std::size_t i = 2; i < w_.words.size(); ++i) {
      std::string const& word = w_.words[i];
      auto const* const known = std::find_if(std::begin(tensor_memory_forms), std::end(tensor_memory_forms),
                                             [&](TensorMemoryForm const& f) { return f.name == word; });
      if (known != std::end(tensor_memory_forms))
        form = known;
      else if (word.starts_with("pack::") || word.starts_with("unpack::"))
        w_.fail("." + word + " is not modelled", "without it a register has one column of 32 bits");
      else if (word.size() > 1 && word[0] == 'x')
        (void)std::from_chars(word.data() + 1, word.data() + word.size(), many);
      else if (word != "b32")
        w_.unknown();
    }
    if (form == nullptr || many == 0) w_.unknown();
    if ((many & (many - 1)) != 0 || many > form->most)
      w_.fail(".num of ." + std::string(form->name) + " is x1, x2, .., x" + std::to_string(form->most), "");
    unsigned const bits = w_.element_bits.value_or(32);
    if (bits < 4 || bits > 32)
      w_.fail("columns are converted to elements of 4 to 32 bits", "--element f16, fp8");
    NamedFragment found;
    found.instruction =
        "tcgen05." + w_.words[1] + "." + std::string(form->name) + ".x" + std::to_string(many);
    found.operand = Operand::d;
    found.fragment = fragment_of(*form, many, bits);
    found.needs = "sm_100a or sm_110a";
    found.measured = false;
    found.notes.push_back(form->lanes == 32
                              ? "lanes and columns are counted from the address; warp w of a warpgroup "
                                "reaches lanes 32w to 32w + 31"
                              : "lanes and columns are counted from the address, at lane 32w or 32w + 16 "
                                "of warp w of a warpgroup");
    if (form->shape == TensorMemoryShape::s16x32bx2)
      found.notes.push_back("columns from " + std::to_string(many) + " on are those from immHalfSplitoff on");
    return found;
  }
  /// tcgen05.cp: what lanes and columns of Tensor Memory get. [PTX ISA 9.1, 9.7.16.8]
  [[nodiscard]] NamedFragment copied() const {
    std::string shape;
    for (std::size_t i = 2; i < w_.words.size(); ++i) {
      std::string const& word = w_.words[i];
      if (word.starts_with("cta_group::")) continue;
      if (word == "b8x16" || word == "b6x16_p32" || word == "b4x16_p64")
        w_.fail(
            "tcgen05.cp that unpacks elements is not modelled: PTX ISA 9.1 names the formats and no place of "
            "their bits "
            "in Tensor Memory",
            "without the formats a column is 32 bits of shared memory");
      shape += (shape.empty() ? "" : ".") + word;
    }
    std::string names;
    for (TensorMemoryCopy const& copy : tensor_memory_copies) {
      names += (names.empty() ? "" : ", ") + std::string(copy.name);
      if (copy.name != shape) continue;
      if (w_.operand || w_.element_bits)
        w_.fail("tcgen05.cp moves 32 bits to a column", "leave operand and --element out");
      NamedFragment found;
      found.instruction = "tcgen05.cp." + shape;
      found.fragment = copied_fragment(copy);
      found.needs = "sm_100a or sm_110a";
      found.of_cells = true;
      found.measured = false;
      found.notes.emplace_back(
          "L is a lane of Tensor Memory, C a column of it; row and column, of 32 bits, are those of the "
          "matrix that the "
          "descriptor names");
      if (copy.rows == 4) found.notes.emplace_back("lane t here is lane 32t, from that of the address on");
      return found;
    }
    w_.fail("unknown shape of tcgen05.cp", names);
  }
  [[nodiscard]] NamedFragment matrices() const {
    std::string name;
    for (std::string const& word : w_.words)
      if (word != "m8n8" && word != "b16") name += (name.empty() ? "" : ".") + word;
    for (InstructionName const& known : byte_matrix_names)
      if (known.text == name) return of_bytes(known);
    auto const* const known =
        std::find_if(instruction_names.begin(), instruction_names.end(),
                     [&](InstructionName const& i) { return i.text == name && i.instruction.matrices != 0; });
    if (known == instruction_names.end() && w_.similar_names().empty())
      for (std::string_view const shape : {"m16n16", "m8n16", "m16n8"})
        if (w_.has_word(shape))
          w_.fail("the name needs .x1, .x2 or .x4, .trans (not with m8n16) and the type",
                  shape == "m16n16"  ? "ldmatrix.m16n16.x1.trans.b8, .b8x16.b6x16_p32 or .b8x16.b4x16_p64"
                  : shape == "m8n16" ? "ldmatrix.m8n16.x1.b8x16.b6x16_p32 or .b8x16.b4x16_p64"
                                     : "stmatrix.m16n8.x1.trans.b8");
    if (known == instruction_names.end()) w_.unknown();
    if (w_.operand) w_.fail("ldmatrix and stmatrix have no operands", "--into says which operand is meant");
    unsigned const bits = w_.element_bits.value_or(16);
    if (bits < 4 || bits > 32)
      w_.fail("ldmatrix and stmatrix move elements of 4 to 32 bits here", "--element f16, fp8, f32");
    if (known->instruction.transposed && bits > 16)
      w_.fail("elements of " + std::to_string(bits) + " bits are split: .trans moves units of 16 bits",
              "without .trans they stay whole");
    NamedFragment found;
    found.instruction = name;
    found.memory = known->instruction;
    found.fragment = fragment_of(known->instruction, bits);
    found.needs = known->instruction.operation == Operation::stmatrix ? "sm_90" : "sm_75";
    return found;
  }

  FragmentWords const& w_;
};

}  // namespace

NamedFragment moved_fragment(FragmentWords const& words) { return MoveReader(words).read(); }

NamedFragment scales_in_tensor_memory(FragmentWords& w) {
  std::optional<unsigned> rows;
  std::vector<std::string> rest{w.words[0]};
  for (std::size_t i = 2; i < w.words.size(); ++i) {
    std::string const& word = w.words[i];
    bool const extent = word.size() > 1 && (word[0] == 'm' || word[0] == 'n') &&
                        word.find_first_not_of("0123456789", 1) == word.npos && word.size() < 5;
    if (extent)
      rows = static_cast<unsigned>(std::stoul(word.substr(1)));
    else if (!word.starts_with("cta_group::"))
      rest.push_back(word);
  }
  w.kind = take_kind(rest, w.text);
  if (!w.kind || w.kind->vectors == 0 || rest.size() != 1)
    w.fail("scales are those of a kind", "such as tcgen05.mma.kind::mxf4nvf4.scale_vec::4X:sfa");
  unsigned const lines = rows.value_or(128);
  if (lines < 32 || lines > 256 || lines % 32 != 0)
    w.fail("scales are modelled of 32, 64, .., 256 rows", "tcgen05.mma.kind::mxf4.m128:sfa");
  NamedFragment found;
  found.instruction = "tcgen05.mma." + w.kind->text() + (*w.operand == Operand::scale_a ? ".m" : ".n") +
                      std::to_string(lines);
  found.operand = w.operand;
  found.fragment = scales_in_memory(lines, w.kind->vectors);
  found.needs = "sm_100a or sm_110a";
  found.of_cells = true;
  found.measured = false;
  found.notes.emplace_back(
      "L is a lane of Tensor Memory, C a column of 32 bits; the 32 lanes of every warp have all scales");
  if (w.kind->vectors != 4)
    found.notes.emplace_back(
        "each 32 rows have a column of their own, and SF_ID of the instruction descriptor names the first "
        "byte in it (" +
        std::string(byte_ids(w.kind->vectors)) + "): here they are side by side");
  return found;
}

}  // namespace swizproof
