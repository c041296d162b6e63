#include "analysis/distinct.hpp"
#include "system/cpu_time.hpp"

#include <swizproof/layout/composed.hpp>
#include <swizproof/analysis/align.hpp>
#include <swizproof/engine/decide.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <numeric>

namespace swizproof {

namespace {

constexpr std::uint64_t most_steps = std::uint64_t{1} << 28;  ///< values of f that an enumeration computes
constexpr std::uint64_t most_residues = std::uint64_t{1} << 24;

/// f as a function of byte (or element) numbers.
struct Function {
  std::vector<Stage> stages;
  template <Word W>
  [[nodiscard]] W operator()(W const& x) const {
    return value(stages, x);
  }
  [[nodiscard]] bool only_shifts() const {
    return std::all_of(stages.begin(), stages.end(), [](Stage const& stage) {
      auto const* swizzle = std::get_if<Swizzle>(&stage);
      return std::holds_alternative<Displacement>(stage) || (swizzle != nullptr && swizzle->bits == 0);
    });
  }
};

/// Everything that comes after the place to which a base is added.
Function function_of(Map const& map) {
  if (map.acts_on_bytes()) return {map.on_bytes};
  std::size_t const inner = map.domain() == nullptr ? 0 : 1;
  return {{map.on_elements.begin(), map.on_elements.end() - static_cast<std::ptrdiff_t>(inner)}};
}

/// How bases are counted: `step` units of f are `bytes` bytes, the least that is a whole number of both.
struct Grid {
  std::uint64_t step = 1;
  std::uint64_t bytes = 1;
};

Grid grid_of(Map const& map) {
  if (map.acts_on_bytes()) return {};
  std::uint64_t const bits = *map.element_bits, both = std::gcd(bits, std::uint64_t{8});
  return {8 / both, bits / both};
}

/// Exactly the multiples of the period, for functions of all x: refutes every other base with a few x,
/// which the solver's counterexamples name one by one.
void prove_multiples_only(Function const& f, Alignment& out, Limits const& limits) {
  for (int round = 0; round < 70; ++round) {
    auto const no_other = [&](unsigned bits) {
      return ask("no other base", 64, {{"b", bits}}, [&](auto b) {
        using W = decltype(b);
        truth_of<W> agree = true;
        for (std::uint64_t const x : out.witnesses) agree = agree && f(W(b + x)) == b + f(like(b, x));
        return states(agree, truth_of<W>((b & (out.period - 1)) == 0));
      });
    };
    Answer answer = decide(no_other(64), limits);
    // Bases a period apart are good or bad together, and those of one period can be tried.
    if (answer.unknown() != nullptr) answer = decide(no_other(std::bit_width(out.period)), limits);
    if (answer.refuted() == nullptr) {
      if (!answer.engines.empty()) out.engine = answer.engines.front();
      out.outcome = answer.outcome;
      return;
    }
    std::uint64_t const b = answer.refuted()->values[0].second;
    Question const here = ask("this base too", 64, {{"x", 64}}, [&, b](auto x) {
      using W = decltype(x);
      return states(truth_of<W>(f(W(b + x)) == b + f(x)));
    });
    Outcome const witness = decide(here, limits, Effort::refute).outcome;
    if (auto const* refuted = std::get_if<Refuted>(&witness)) {
      out.witnesses.push_back(refuted->values[0].second);
      continue;
    }
    out.outcome = std::holds_alternative<Proved>(witness)
                      ? Outcome(Unknown{"base " + std::to_string(b) +
                                        " agrees too: the set is not the multiples of one number"})
                      : witness;
    return;
  }
  out.outcome = Unknown{"no proof within 70 witnesses"};
}

/// The places of a tile before f, modulo f's period: a period more changes nothing. Elements that lie periods apart are one.
std::vector<std::uint64_t> places_of(Map const& map, std::uint64_t period) {
  bool const bytes = map.acts_on_bytes();
  std::vector<std::uint64_t> first = bytes ? offsets(map) : map.domain()->offsets();
  std::uint64_t const bits = bytes ? map.element_bits.value_or(8) : 1;
  for (std::uint64_t& at : first) at = at * bits & ((bytes ? 8 * period : period) - 1);
  first = distinct(std::move(first));
  if (!bytes) return first;
  std::vector<std::uint64_t> places;
  for (std::uint64_t const at : first)
    for (std::uint64_t byte = at >> 3; byte != ((at + bits - 1) >> 3) + 1; ++byte)
      places.push_back(byte & (period - 1));
  return distinct(std::move(places));
}

/// The bases of one period, tried one by one on every place of the tile. What refuted the last one is tried first.
void enumerate_bases(Function const& f, std::vector<std::uint64_t> places, Grid const& grid, Alignment& out,
                     Limits const& limits) {
  ThreadClock const clock;
  std::uint64_t const count = out.period / std::gcd(out.period, grid.step);
  std::vector<bool> good(count, false);
  std::uint64_t steps = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    std::uint64_t const b = k * grid.step;
    auto const bad =
        std::find_if(places.begin(), places.end(), [&](std::uint64_t x) { return f(b + x) != b + f(x); });
    good[k] = bad == places.end();
    if (!good[k]) std::iter_swap(bad, places.begin());
    auto const tried = static_cast<std::uint64_t>(bad - places.begin());
    if (steps >> 20 != (steps + tried) >> 20 && clock.seconds() > limits.seconds) {
      out.outcome = Unknown{"time-out"};
      return;
    }
    steps += tried;
    if (steps > most_steps) {
      out.outcome = Unknown{"more than 2^28 steps: the tile and the period of its swizzle are too large"};
      return;
    }
  }
  std::uint64_t least = count;  // all its multiples are good
  for (std::uint64_t step = count / 2; step > 0; step /= 2) {
    bool all = true;
    for (std::uint64_t k = 0; k < count; k += step) all = all && good[k];
    if (all) least = step;
  }
  out.bytes = least * grid.bytes;
  out.period = count * grid.bytes;
  for (std::uint64_t k = 0; k < count; ++k)
    if (good[k] && k % least != 0) out.also.push_back(k * grid.bytes);
  out.engine = Engine::exhaustive;
  out.outcome = Proved{};
}

}  // namespace

std::string words_of_bases(std::uint64_t step, bool limited) {
  std::string text = step == 1 ? "every base" : "every base that is a multiple of " + std::to_string(step);
  if (limited)
    text +=
        (step == 1 ? " below 2^" : " and below 2^") + std::to_string(std::countr_zero(end_of_bases(step)));
  return text;
}

bool Alignment::holds(std::uint64_t base) const {
  return base % bytes == 0 || std::binary_search(also.begin(), also.end(), base % period);
}

Alignment alignment_of(Map const& map, Limits const& limits) {
  Alignment out;
  Function const f = function_of(map);
  bool const bare = map.domain() == nullptr;
  out.domain = bare ? "all x" : "every byte of the tile";
  if (f.only_shifts()) {
    out.outcome = Proved{};
    out.engine = Engine::linear;
    return out;
  }
  if (!map.acts_on_bytes()) {
    if (!map.element_bits) {
      std::string const text = to_string(map);
      throw InputError::whole("the element size is not known", text, element_hint);
    }
    out.domain = bare ? "all elements, bases that are multiples of one"
                      : "every element of the tile, bases that are multiples of one";
  }
  Grid const grid = grid_of(map);
  Quantity const period = bare ? period_of(f.stages, limits) : some_period(f.stages, limits);
  if (!period.value) {
    out.outcome =
        Unknown{period.unknown ? period.note : "no power of two below 2^64 is a period of this function"};
    return out;
  }
  if (*period.value == 1) {  // a displacement, however it is written
    out.domain = bare ? "all x" : "every byte of the tile";
    out.outcome = Proved{};
    out.engine = Engine::linear;
    return out;
  }
  out.period = *period.value;
  if (bare) {
    prove_multiples_only(f, out, limits);
    if (auto const bytes = bytes_of_period(map, out.period))
      out.bytes = out.period = *bytes;
    else
      out.outcome = Unknown{"no base below 2^64 bytes but 0"};
    return out;
  }
  if (map.domain()->size() > most_enumerated || out.period > most_residues) {
    out.outcome =
        Unknown{"the tile has more than 2^22 elements, or its period more than 2^24: not enumerated"};
    return out;
  }
  enumerate_bases(f, places_of(map, out.period), grid, out, limits);
  return out;
}

std::optional<std::uint64_t> bytes_of_period(Map const& map, std::uint64_t period) {
  Grid const grid = grid_of(map);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(period / std::gcd(period, grid.step), grid.bytes, &bytes)) return std::nullopt;
  return bytes;
}

std::string known_base(std::uint64_t base) {
  char text[32];
  std::snprintf(text, sizeof text, "the base 0x%llx", static_cast<unsigned long long>(base));
  return text;
}

void refuse_other_bases(Map const& map, std::optional<std::uint64_t> align) {
  if (!align || !map.base_address) return;
  std::string const text = to_string(map);
  throw InputError::whole(
      "the pointer's address gives " + known_base(*map.base_address) + ", and an alignment other ones", text,
      "leave one of them out; without its pointer the layout is " + text);
}

std::optional<std::uint64_t> own_alignment(Map const& map, Limits const& limits) {
  Function const f = function_of(map);
  if (f.only_shifts()) return 1;
  if (!map.acts_on_bytes() && !map.element_bits) return 1;
  if (map.domain() != nullptr)
    if (Alignment const found = alignment_of(map, limits); std::holds_alternative<Proved>(found.outcome))
      return found.bytes;
  Quantity const period = period_of(f.stages, limits);
  if (period.unknown) return std::nullopt;
  auto const bytes = bytes_of_period(map, period.value.value_or(1));
  return bytes && *bytes <= std::uint64_t{1} << 31 ? *bytes : 1;
}

}  // namespace swizproof
