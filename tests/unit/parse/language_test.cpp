// The output of `swizproof language` is the language: every form is read, and every name that a parser accepts is printed.
#include <swizproof/parse/language.hpp>

#include <swizproof/hardware/element.hpp>
#include <swizproof/parse/parse.hpp>

#include "parse/layout/mapping_parser.hpp"
#include "parse/question/expectation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace swizproof {
namespace {

LanguagePart part(std::string_view name) {
  for (LanguagePart& one : language())
    if (one.name == name) return std::move(one);
  ADD_FAILURE() << "no part " << name;
  return {};
}

TEST(Language, EveryFormIsRead) {
  std::vector<Variable> const ranges{Variable::range("x", 0, 31), Variable::range("y", 0, 7)};
  for (LanguagePart const& one : language())
    for (LanguageForm const& form : one.forms) {
      SCOPED_TRACE(one.name + ": " + form.text);
      try {
        if (one.name == "layout" || one.name == "algebra" || one.name == "atom") {
          (void)parse_value(form.text);
        } else if (one.name == "access") {
          (void)parse_access(form.text);
        } else if (one.name == "subscript") {
          Mapping const map = parse_mapping("__shared__ half a[64][72]");
          (void)parse_access(form.text, {}, {map.array, BlockShape{32, 8, 1}});
        } else if (one.name == "instruction") {
          for (std::string const& other : form.names)
            EXPECT_EQ(parse_instruction(other), parse_instruction(form.text)) << other;
        } else if (one.name == "element") {
          for (std::string const& other : form.names)
            EXPECT_EQ(parse_element_type(other).name, form.text) << other;
        } else if (one.name == "flow") {
          (void)parse_expectation(form.text, {{"C", "f32", 32, {64, 64}},
                                              {"A", "f16", 16, {64, 64}},
                                              {"B", "f16", 16, {64, 64}},
                                              {"x", "f32", 32, {64, 64}},
                                              {"y", "f32", 32, {64, 64}},
                                              {"s", "f32", 32, {64}},
                                              {"t", "f32", 32, {64}},
                                              {"w", "f32", 32, {3}},
                                              {"r", "f32", 32, {64}},
                                              {"alpha", "f32", 32, {}},
                                              {"beta", "f32", 32, {}}});
        } else {
          ASSERT_EQ(one.name, "expression");
          for (std::size_t at = 0; at < form.text.size();) {  // `x * y, x / 8`: each by itself
            std::size_t const end = std::min(form.text.find(", ", at), form.text.size());
            (void)parse_expression(form.text.substr(at, end - at), ranges);
            at = end + 2;
          }
        }
      } catch (InputError const& error) {
        ADD_FAILURE() << error.message;
      }
    }
}

TEST(Language, EveryFunctionOfTheAlgebraIsPrinted) {
  std::set<std::string> printed;
  for (LanguageForm const& form : part("algebra").forms)
    if (std::string const name = form.text.substr(0, form.text.find_first_of("<(")); !is_view(name))
      printed.insert(name);
  for (std::string const& name : algebra_names()) EXPECT_TRUE(printed.count(name) == 1) << name;
  EXPECT_EQ(printed.size(), algebra_names().size());
}

TEST(Language, EveryOperatorIsPrinted) {
  std::string all;
  for (LanguageForm const& form : part("expression").forms) all += form.text + "\n";
  for (char const* op : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*", "/", "%",
                         "+",  "-",  "<",  ">",  "&",  "^",  "|",  "~",  "!", "?"})
    EXPECT_NE(all.find(std::string(" ") + op), std::string::npos) << op;
}

}  // namespace
}  // namespace swizproof
