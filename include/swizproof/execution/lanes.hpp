// Values of a word and of a truth in the 32 lanes of a warp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// Value of a word in the lanes of a warp: 32 numbers plus a sum that all lanes share.
struct Lanes {
  enum class State : std::uint8_t { split, varying, stuck };
  State state = State::split;
  std::uint32_t why = 0;  ///< node that a varying value comes from; Warp::request for one that is stuck
  std::array<std::uint64_t, 32> lane{};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> terms{};  ///< atom, coefficient; by atom

  [[nodiscard]] bool split() const { return state == State::split; }
  [[nodiscard]] bool pure() const { return split() && terms.empty(); }
  [[nodiscard]] bool uniform() const;
};

/// Truth in the lanes: yes, no, or for the rest `atom` (0: they may differ).
struct LaneTruths {
  std::uint32_t yes = 0, no = 0;
  std::uint32_t atom = 0;
  std::uint32_t why =
      0;  ///< the node that the rest comes from, if they may differ; a request, if it is stuck
  bool stuck = false;
  [[nodiscard]] std::uint32_t rest() const { return ~(yes | no); }
  /// True if it is the same in all lanes.
  [[nodiscard]] bool shared() const {
    return !stuck && (rest() == 0 ? (yes == 0 || no == 0) : rest() == ~0U && atom != 0);
  }
};

/// The bits or the value that would settle a stuck value.
struct Request {
  enum class Kind : std::uint8_t { none, residue, value, truth };
  Kind kind = Kind::none;
  std::uint32_t atom = 0;
  unsigned bits = 0;     ///< number of low bits of a residue
  std::string reason{};  ///< reason in words, for a verdict
};

/// An assumption about an atom: its value, or its value modulo 2^bits.
struct Assumption {
  std::uint32_t atom = 0;
  bool truth = false;
  unsigned bits = 64;  ///< 64: the whole value
  std::uint64_t value = 0;
  bool operator==(Assumption const&) const = default;
};

}  // namespace swizproof::execution
