#include <swizproof/hardware/element.hpp>
#include <swizproof/parse/descriptor_question.hpp>
#include <swizproof/parse/parse.hpp>

#include <string>

namespace swizproof {

namespace {

/// `64,16`.
void read_extent(std::string const& text, DescriptorQuestion& question) {
  if (text.empty()) return;
  std::string const wanted = "an extent is ROWS,K in elements of one instruction, such as 64,16";
  std::size_t const comma = text.find(',');
  if (comma == text.npos) throw InputError::whole(wanted, text);
  question.rows = parse_number(text, 0, comma, wanted);
  question.depth = parse_number(text, comma + 1, text.size(), wanted);
}

/// Throws InputError for a word that is neither of two.
void must_be(std::string const& word, std::string const& what, std::string const& one,
             std::string const& other) {
  if (!word.empty() && word != one && word != other)
    throw InputError::whole(what + " is " + one + " or " + other, word);
}

}  // namespace

DescriptorQuestion parse_descriptor_question(DescriptorWords const& words) {
  must_be(words.major, "major", "k", "mn");
  must_be(words.operand, "operand", "a", "b");
  DescriptorQuestion question;
  if (!words.major.empty()) question.major = words.major == "k" ? Major::k : Major::mn;
  if (!words.operand.empty()) question.operand = words.operand == "a" ? Operand::a : Operand::b;
  read_extent(words.extent, question);
  question.integers = names_integers(words.element);
  return question;
}

std::optional<OperandReader> parse_reader(std::string const& text) {
  must_be(text, "for", "wgmma", "tcgen05");
  if (text.empty()) return std::nullopt;
  return text == "tcgen05" ? OperandReader::tcgen05 : OperandReader::wgmma;
}

OperandReader reader_of_layout(std::string_view text) {
  std::size_t const first = text.find_first_not_of(" \t\n");
  if (first != text.npos) text.remove_prefix(first);
  for (std::string_view const atom : {"umma:", "UMMA::Layout_"})
    if (text.find(atom) != text.npos) return OperandReader::tcgen05;
  if (!text.starts_with("desc:")) return OperandReader::wgmma;
  std::string const number(text.substr(5, text.find('<') - 5));
  return reader_of(parse_number(number, 0, number.size(), "a descriptor"));
}

bool names_integers(std::string const& element) {
  ElementType const* const type = element_type(element);
  return type != nullptr && type->is_integer();
}

}  // namespace swizproof
