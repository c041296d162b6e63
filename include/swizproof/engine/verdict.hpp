// Answer of an engine: proved, refuted with a counterexample, or unknown with a reason.
//
// There are three outcomes and never two. A time-out is not a proof, and a model that a solver found
// is not a counterexample until the same template, run on plain numbers, has confirmed it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
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
  std::string question{};  ///< the claim's question that failed
  std::vector<std::pair<std::string, std::uint64_t>> values{};
  bool simplest = false;  ///< the first among small values; else some model of a solver
};

/// Undecided, with the reason: time-out, memory limit, no solver.
struct Unknown {
  std::string reason{};
};

/// The reason of an Outcome that no engine has filled in.
inline constexpr std::string_view not_decided = "not decided";

/// One of the three. Default: Unknown.
struct Outcome : std::variant<Unknown, Proved, Refuted> {
  Outcome() : variant(Unknown{std::string(not_decided)}) {}
  using variant::variant;
};

/// Engine that gave the answer. `search` tried small values and found a counterexample.
enum class Engine : std::uint8_t { exhaustive, linear, search, smt };

[[nodiscard]] constexpr std::string_view name(Engine engine) {
  switch (engine) {
    case Engine::exhaustive:
      return "exhaustive";
    case Engine::linear:
      return "linear";
    case Engine::search:
      return "search";
    case Engine::smt:
      break;
  }
  return "SMT";
}

/// Appends those of `more` that `engines` does not have.
inline void add_engines(std::vector<Engine>& engines, std::span<Engine const> more) {
  for (Engine const e : more)
    if (std::find(engines.begin(), engines.end(), e) == engines.end()) engines.push_back(e);
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

/// The name of an outcome in every output, machine or human.
[[nodiscard]] inline std::string_view name(Outcome const& outcome) {
  if (std::holds_alternative<Proved>(outcome)) return "proved";
  return std::holds_alternative<Refuted>(outcome) ? "refuted" : "unknown";
}

/// The outcome of "all of these hold": the first Refuted, else the first Unknown, else
/// Proved; Unknown if there are none.
[[nodiscard]] inline Outcome conjunction(std::span<Outcome const> outcomes) {
  Outcome all;
  for (Outcome const& outcome : outcomes) {
    if (std::holds_alternative<Refuted>(outcome)) return outcome;
    if (&outcome == &outcomes.front() || std::holds_alternative<Proved>(all)) all = outcome;
  }
  return all;
}

}  // namespace swizproof
