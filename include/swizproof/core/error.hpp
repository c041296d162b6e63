// Exceptions of this library. Each derives from std::runtime_error, so any program can print it.
//
//   InputError      the text or the file is wrong, and where                      exit 2 of the command line
//   AlgebraError    a function of the layout algebra has no result                becomes an InputError in a text
//   Disagreement    two engines gave two answers: a bug of swizproof             exit 4
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace swizproof {

/// Wrong input: what is wrong, where in which text, and what to do instead.
struct InputError : std::runtime_error {
  InputError(std::string what_is_wrong, std::string text = {}, std::size_t place = 0, std::size_t marked = 1,
             std::string advice = {})
      : std::runtime_error(what_is_wrong),
        message(std::move(what_is_wrong)),
        input(std::move(text)),
        at(place),
        length(marked),
        hint(std::move(advice)) {}

  /// Wrong input that is marked from its first to its last character.
  [[nodiscard]] static InputError whole(std::string what_is_wrong, std::string text,
                                        std::string advice = {}) {
    std::size_t const all = text.size();
    return {std::move(what_is_wrong), std::move(text), 0, all, std::move(advice)};
  }

  std::string message;
  std::string input;   ///< the text that is wrong; may be empty
  std::size_t at;      ///< byte position in it
  std::size_t length;  ///< number of characters that the caret line marks
  std::string hint;    ///< advice; may be empty

  /// `message`, as it is now: who catches one may add the place in a file.
  [[nodiscard]] char const* what() const noexcept override { return message.c_str(); }
};

/// CuTe's algebra has no such layout, or swizproof cannot write it down; in words.
struct AlgebraError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Two engines gave two answers, or a solver's model does not replay: always a bug.
struct Disagreement : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace swizproof
