// Results that engines give to decide.cpp: answers that were not replayed yet.
#pragma once

#include <swizproof/engine/question.hpp>
#include <swizproof/engine/verdict.hpp>

#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace swizproof::engine {

/// Numbers of values under which a question is said to fail.
struct Candidate {
  std::size_t question = 0;
  std::vector<std::uint64_t> numbers{};
};

/// Proved; or candidates, at least one of them to be confirmed by replay; or Unknown.
using Finding = std::variant<Unknown, Proved, std::vector<Candidate>>;

/// Decides by enumeration. Nothing if there are more than 2^bits cases; Unknown after `seconds`. exhaustive.cpp
[[nodiscard]] std::optional<Finding> exhaustive(Question const& question, unsigned bits, double seconds);

/// The first failure among the smallest values, 2^budget of them. exhaustive.cpp
[[nodiscard]] std::optional<Candidate> search(Question const& question, unsigned budget);

/// Decides by linear algebra. Nothing if the statement is not affine. linear.cpp
[[nodiscard]] std::optional<Finding> linear(Question const& question);

/// All questions together. smt.cpp
[[nodiscard]] Finding smt(std::span<Question const> questions, Limits const& limits);

}  // namespace swizproof::engine
