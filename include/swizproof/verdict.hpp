// What an engine answers: proved, refuted with a counterexample, or unknown with a reason.
//
// There are three outcomes and never two. A time-out is not a proof, and a model that a solver found
// is not a counterexample until the same template, run on plain numbers, has confirmed it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace swizproof {

/// The claim holds for every element of its domain.
struct Proved {};

/// Values of the variables under which the claim fails; replayed on plain numbers.
struct Refuted {
  std::string question{};  ///< which of the claim's questions failed
  std::vector<std::pair<std::string, std::uint64_t>> values{};
};

/// Nobody knows: time-out, memory limit, no solver; in words.
struct Unknown {
  std::string reason{};
};

using Outcome = std::variant<Proved, Refuted, Unknown>;

/// Which engine gave the answer.
enum class Engine : std::uint8_t { exhaustive, linear, smt };

[[nodiscard]] constexpr std::string_view name(Engine engine) {
  switch (engine) {
    case Engine::exhaustive: return "exhaustive";
    case Engine::linear: return "GF(2)";
    case Engine::smt: break;
  }
  return "SMT";
}

/// An outcome, who found it, and how long that took.
struct Verdict {
  Outcome outcome{};
  Engine engine = Engine::smt;
  double seconds = 0;

  [[nodiscard]] bool proved() const { return std::holds_alternative<Proved>(outcome); }
  [[nodiscard]] bool refuted() const { return std::holds_alternative<Refuted>(outcome); }
  [[nodiscard]] bool unknown() const { return std::holds_alternative<Unknown>(outcome); }
};

/// The word that stands for an outcome in every output, machine or human.
[[nodiscard]] inline std::string_view word(Outcome const& outcome) {
  if (std::holds_alternative<Proved>(outcome)) return "proved";
  return std::holds_alternative<Refuted>(outcome) ? "refuted" : "unknown";
}

}  // namespace swizproof
