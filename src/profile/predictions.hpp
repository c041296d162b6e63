// Cost of raw lane addresses: a line of requests in, a line of answers out.
#pragma once

#include <swizproof/core/error.hpp>
#include <swizproof/hardware/architecture.hpp>

#include <cstdio>
#include <optional>
#include <string>

namespace swizproof {

/// How answers are written.
struct PredictionStyle {
  bool json = false;     ///< one document, instead of a JSON object a line
  bool explain = false;  ///< names the banks, words and lanes that meet
};

/// How many lines were answered, and how many of them with an error.
struct Answered {
  std::size_t all = 0, bad = 0;
  std::optional<InputError> broken_off;  ///< why the input ended before its end
};

/// Answers every line of `input` on `out` as it comes. `name` is the input's, for errors.
[[nodiscard]] Answered predict(std::FILE* input, std::string const& name, std::FILE* out,
                               Architecture const& arch, PredictionStyle style);

}  // namespace swizproof
