// The language of LAYOUT, ACCESS and their parts, as data: what `swizproof language` prints. Names come from the tables that
// the parsers read; what is written out here is read by the parsers in tests/unit/parse/language_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace swizproof {

/// A form of the language, or a name: `Layout<Shape<_8,_64>,Stride<_64,_1>>{}` and what it is.
struct LanguageForm {
  std::string text;
  std::string means;
  std::vector<std::string> names{};  ///< other spellings of the same
};

/// A group of entries: `algebra`, "CuTe's functions of layouts, with CuTe's results", and the functions.
struct LanguagePart {
  std::string name;
  std::string about;
  std::vector<LanguageForm> forms;
};

/// All parts: layout, algebra, atom, expression, access, subscript, instruction, element. Every form is accepted, and every name of the
/// tables is there: checked by tests/unit/parse/language_test.cpp.
[[nodiscard]] std::vector<LanguagePart> language();

}  // namespace swizproof
