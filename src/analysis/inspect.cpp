#include "analysis/distinct.hpp"

#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/inspect.hpp>
#include <swizproof/engine/decide.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace swizproof {

namespace {

/// The bare function of a mapping without a shape, on its own unit.
struct BareFunction {
  std::vector<Stage> const* stages;
  template <Word W>
  [[nodiscard]] W operator()(W x) const {
    return value(*stages, x);
  }
};

Fact fact_of(Answer const& answer) {
  // The cheaper engine is the one that is named first.
  Fact fact{answer.outcome, answer.engines.empty() ? Engine::smt : answer.engines.back(), {}};
  if (answer.engines.size() > 1) fact.second = answer.engines[answer.engines.size() - 2];
  return fact;
}

/// Answer of two engines, if two can answer.
Fact decide_twice(Question const& q, Limits const& limits) { return fact_of(decide(q, limits, Effort::two)); }

/// The largest k in [0, 64] for which q(k) holds, if q(0) does and q holds up to some k and not beyond. If that is unknown
/// whether q(k) does, `stronger(k)`, which implies it, is put to linear algebra.
template <class Ask, class Stronger>
Quantity last_that_holds(Ask const& q, Stronger const& stronger, Limits const& limits) {
  unsigned holds = 0, fails = 65;
  Engine engine = Engine::linear;  // the strongest that was needed
  while (fails - holds > 1) {
    unsigned const k = (holds + fails) / 2;
    Fact fact = fact_of(decide(q(k), limits));
    if (std::holds_alternative<Unknown>(fact.outcome))
      if (auto const implied = decide_linearly(stronger(k));
          implied && std::holds_alternative<Proved>(*implied))
        fact = {*implied, Engine::linear, {}};
    if (auto const* unknown = std::get_if<Unknown>(&fact.outcome))
      return {{}, fact.engine, unknown->reason, true};
    engine = std::max(engine, fact.engine);
    (std::holds_alternative<Proved>(fact.outcome) ? holds : fails) = k;
  }
  Quantity out{holds, engine, {}};
  if (holds != 0) out.second = decide_twice(q(holds), limits).second;
  return out;
}

template <class Ask>
Quantity last_that_holds(Ask const& q, Limits const& limits) {
  return last_that_holds(q, q, limits);
}

Quantity power_of_two(Quantity exponent) {
  if (!exponent.value) return exponent;
  unsigned const k = 64 - static_cast<unsigned>(*exponent.value);
  if (k == 64) return {{}, exponent.engine, "none below 2^64"};
  exponent.value = 1ULL << k;
  return exponent;
}

Quantity function_period(BareFunction const& f, Limits const& limits) {
  return power_of_two(last_that_holds(
      [f](unsigned k) {
        return ask("period", 64, {{"x", 64}}, [f, k](auto x) {
          auto const step = k == 0 ? like(x, 0) : like(x, 1ULL << (64 - k));
          return states(f(x + step) == f(x) + step);
        });
      },
      // Without a carry: f maps the first block of P into itself, and every other block as the first one.
      [f](unsigned k) {
        return ask("period of blocks", 64, {{"x", 64}}, [f, k](auto x) {
          std::uint64_t const in_block = low_bits(64 - k);
          auto const first = f(x & in_block);
          return states((first & ~in_block) == 0 && f(x) == (first ^ (x & ~in_block)));
        });
      },
      limits));
}

Fact function_is_one_to_one(BareFunction const& f, Limits const& limits) {
  return decide_twice(ask("one-to-one", 64, {{"x", 64}, {"y", 64}},
                          [f](auto x, auto y) { return states(f(x) == f(y), x == y); }),
                      limits);
}

/// Bases from which relative addressing is absolute, as one number.
Quantity alignment_quantity(Map const& map, Limits const& limits) {
  if (!map.acts_on_bytes() && !map.element_bits && !map.on_elements.empty() &&
      !(map.domain() != nullptr && map.on_elements.size() == 1))
    return {{}, Engine::linear, std::string(needs_element)};
  Alignment const found = alignment_of(map, limits);
  if (auto const* unknown = std::get_if<Unknown>(&found.outcome))
    return {{}, found.engine, unknown->reason, true};
  Quantity out{found.bytes, found.engine, {}};
  if (found.bytes == 1) out.note = "every base will do";
  if (!found.also.empty())
    out.note = std::to_string(found.also.size()) + " more of every " + std::to_string(found.period) +
               " bases will do: see align";
  return out;
}

void inspect_function(Inspection& out, Map const& map, Limits const& limits) {
  BareFunction const f{map.acts_on_bytes() ? &map.on_bytes : &map.on_elements};
  out.domain = "all 64-bit numbers";
  out.linear = decide_twice(ask("linear", 64, {{"x", 64}, {"y", 64}},
                                [f](auto x, auto y) { return states(f(x ^ y) == (f(x) ^ f(y))); }),
                            limits);
  out.bijective = function_is_one_to_one(f, limits);
  out.injective = out.bijective;  // on words of one width the two are the same
  out.involution =
      decide_twice(ask("involution", 64, {{"x", 64}}, [f](auto x) { return states(f(f(x)) == x); }), limits);
  out.kept_low_bits = last_that_holds(
      [f](unsigned k) {
        return ask("low bits", 64, {{"x", 64}},
                   [f, k](auto x) { return states(((f(x) ^ x) & low_bits(k)) == 0); });
      },
      limits);
  // Blocks and steps of 2^(64-k): the larger k, the smaller they are.
  out.span = power_of_two(last_that_holds(
      [f](unsigned k) {
        return ask("span", 64, {{"x", 64}},
                   [f, k](auto x) { return states(((f(x) ^ x) & ~low_bits(64 - k)) == 0); });
      },
      limits));
  out.period = function_period(f, limits);
  if (std::holds_alternative<Proved>(out.linear.outcome)) out.matrix = BitMatrix::of(f, 64);
  // The good bases of a function of all numbers are a subgroup: exactly the multiples of its least period.
  out.alignment = out.period;
  if (map.acts_on_bytes() || !out.period.value) return;
  if (!map.element_bits)
    out.alignment = {{}, out.period.engine, std::string(needs_element)};
  else if (*out.period.value == 1)
    out.alignment = alignment_quantity(map, limits);
  else if (auto const bytes = bytes_of_period(map, *out.period.value))
    out.alignment.value = bytes;
  else
    out.alignment = {{}, out.period.engine, "none below 2^64"};
}

/// True if a table's values differ; else the collision that an enumeration in order would meet first.
Fact one_to_one_of(std::vector<std::uint64_t> const& values) {
  if (distinct(values).size() == values.size()) return {Proved{}, Engine::exhaustive};
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  // The collision that an enumeration in order would meet first.
  std::size_t second = values.size(), first = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (values[order[i - 1]] == values[order[i]] && order[i] < second)
      second = order[i], first = order[i - 1];
  return {Refuted{"two indices, one place", {{"x", first}, {"y", second}, {"f(x)", values[second]}}, true},
          Engine::exhaustive};
}

/// True if a table holds 0..size-1; `one_to_one` is the result of one_to_one_of().
Fact onto_of(std::vector<std::uint64_t> const& values, Fact const& one_to_one) {
  if (!std::holds_alternative<Proved>(one_to_one.outcome)) return one_to_one;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] >= values.size())
      return {Refuted{"one-to-one, but not onto 0..size-1", {{"x", i}, {"f(x)", values[i]}}, true},
              Engine::exhaustive};
  return one_to_one;
}

/// Facts and quantities of a table of values.
class Enumeration {
 public:
  Enumeration(Inspection& out, std::vector<std::uint64_t> values) : out_(out), f_(std::move(values)) {}

  void run() {
    one_to_one();
    involution();
    linear();
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i < f_.size(); ++i) differ |= f_[i] ^ i;
    out_.kept_low_bits.value = differ == 0 ? 64 : std::countr_zero(differ);
    if (std::bit_width(differ) < 64)
      out_.span.value = 1ULL << std::bit_width(differ);
    else
      out_.span.note = "no block below 2^64";
    period();
  }

 private:
  static Fact refuted(std::string why, std::initializer_list<std::pair<std::string, std::uint64_t>> values) {
    return {Refuted{std::move(why), values}, Engine::exhaustive};
  }
  void one_to_one() {
    out_.injective = one_to_one_of(f_);
    out_.bijective = onto_of(f_, out_.injective);
  }
  void involution() {
    out_.involution = {Proved{}, Engine::exhaustive};
    for (std::size_t i = 0; i < f_.size(); ++i)
      if (f_[i] >= f_.size() || f_[f_[i]] != i) {
        out_.involution = refuted("f(f(x)) is not x", {{"x", i}, {"f(x)", f_[i]}});
        return;
      }
  }
  /// Linear on a domain of 2^n indices: every value is the XOR of its bits' values.
  void linear() {
    if (!std::has_single_bit(f_.size())) {
      out_.linear = {Refuted{"the size is no power of two", {{"size", f_.size()}}}, Engine::exhaustive};
      return;
    }
    for (std::size_t i = 0; i < f_.size(); ++i) {
      std::size_t const rest = i & (i - 1);
      if (i != 0 && rest == 0) continue;  // a single bit is its own image
      if (f_[i] != (i == 0 ? 0 : f_[rest] ^ f_[i ^ rest])) {
        out_.linear = refuted("f(x ^ y) is not f(x) ^ f(y)", {{"x", rest}, {"y", i ^ rest}});
        return;
      }
    }
    out_.linear = {Proved{}, Engine::exhaustive};
    BitMatrix matrix;
    for (std::size_t bit = 1; bit < f_.size(); bit *= 2) matrix.columns.push_back(f_[bit]);
    out_.matrix = std::move(matrix);
  }
  void period() {
    std::uint64_t budget = 1ULL << 28;
    for (std::size_t p = 1; p < f_.size(); ++p) {
      bool repeats = true;
      for (std::size_t i = 0; repeats && i + p < f_.size(); ++i, --budget) repeats = f_[i + p] == f_[i] + p;
      if (repeats) {
        out_.period.value = p;
        return;
      }
      if (budget < f_.size()) {
        out_.period = {{}, Engine::exhaustive, "not found within 2^28 steps", true};
        return;
      }
    }
    out_.period.note = "none below the size";
  }

  Inspection& out_;
  std::vector<std::uint64_t> f_;
};

/// Entries of the table of a tile's map: its elements, or smaller parts of equal size where a swizzle of bytes
/// splits elements.
struct Parts {
  unsigned bits = 1;     ///< size of a part
  unsigned of_each = 1;  ///< parts of an element
  std::string unit = "elements";
};

Parts parts_of(Map const& map) {
  if (!map.acts_on_bytes()) return {};
  unsigned const bits = map.element_bits.value_or(8);
  if (!splits_elements(map)) return {bits, 1, "elements"};
  unsigned const part = std::gcd(bits, 8U);
  return {part, bits / part, part == 8 ? "bytes" : "parts of " + std::to_string(part) + " bits"};
}

std::uint64_t size_of(Map const& map) {
  return static_cast<std::uint64_t>(map.domain()->size()) * parts_of(map).of_each;
}

/// The bit at which a part of an element lies before any swizzle of bytes.
template <Word W>
W bit_of(Map const& map, Parts const& parts, W const& offset, W const& part) {
  return offset * map.element_bits.value_or(8) + part * parts.bits;
}

/// The place of each part of each index of a tile, in parts; from base 0 if the map acts on bytes.
template <Word W>
W value_at(Map const& map, Parts const& parts, W const& x) {
  if (!map.acts_on_bytes()) return offset(map, x).elements;
  return swizzle_bit_address(
      map, bit_of(map, parts, offset(map, W(x / parts.of_each)).elements, W(x % parts.of_each)));
}

std::vector<std::uint64_t> values_of(Map const& map) {
  Parts const parts = parts_of(map);
  std::vector<std::uint64_t> const elements = offsets(map);
  if (!map.acts_on_bytes()) return elements;
  std::vector<std::uint64_t> bytes(size_of(map)), low(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint64_t const at =
        bit_of(map, parts, elements[i / parts.of_each], std::uint64_t{i % parts.of_each});
    bytes[i] = asr(at, 3), low[i] = at & 7;
  }
  values_in_place(map.on_bytes, bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes[i] << 3 | low[i]) /
                                          std::int64_t{parts.bits});
  return bytes;
}

std::string too_many(std::uint64_t size) {
  return "the domain has " + std::to_string(size) + " elements, more than 2^22 are not enumerated";
}

bool too_large(Map const& map) { return size_of(map) > static_cast<std::uint64_t>(most_enumerated); }

/// Asks linear algebra what enumeration has said, where the map is affine in the bits of its index.
void second_opinion(Inspection& out, Map const& map) {
  Parts const parts = parts_of(map);
  std::uint64_t const size = size_of(map);
  if (!std::has_single_bit(size) || (map.acts_on_bytes() && !std::has_single_bit(parts.bits))) return;
  unsigned const bits = std::max(1U, static_cast<unsigned>(std::countr_zero(size)));
  if (size == 1) return;
  auto const f = [&](auto const& x) {
    using W = std::remove_cvref_t<decltype(x)>;
    W const value = value_at(map, parts, x);
    return map.acts_on_bytes() ? asr(value, static_cast<unsigned>(std::countr_zero(parts.bits))) : value;
  };
  auto const compare = [&](Fact& fact, Question const& q) {
    fact.second = confirm(q, Engine::exhaustive, fact.outcome);
  };
  compare(out.injective, ask("one-to-one", 64, {{"x", bits}, {"y", bits}},
                             [&](auto x, auto y) { return states(f(x) == f(y), x == y); }));
  compare(out.linear, ask("linear", 64, {{"x", bits}, {"y", bits}},
                          [&](auto x, auto y) { return states(f(x ^ y) == (f(x) ^ f(y))); }));
}

void inspect_layout(Inspection& out, Map const& map, Limits const& limits) {
  Parts const parts = parts_of(map);
  out.unit = parts.unit;
  std::uint64_t const size = size_of(map);
  out.domain = (parts.of_each == 1 ? "indices 0.." : parts.unit + " 0..") + std::to_string(size - 1);
  if (parts.of_each != 1)
    out.domain += ", " + std::to_string(parts.of_each) + " of each element: the swizzle splits elements";
  if (too_large(map)) {
    std::string const reason = too_many(size);
    for (Fact* fact : {&out.injective, &out.bijective, &out.involution, &out.linear})
      fact->outcome = Unknown{reason};
    for (Quantity* quantity : {&out.kept_low_bits, &out.span, &out.period})
      *quantity = {{}, Engine::exhaustive, reason, true};
  } else {
    Enumeration(out, values_of(map)).run();
    second_opinion(out, map);
  }
  out.alignment = alignment_quantity(map, limits);
}

}  // namespace

Inspection inspect(Map const& map, Limits const& limits) {
  Inspection out;
  bool const bare = map.domain() == nullptr;
  out.unit = bare && map.acts_on_bytes() ? "bytes" : "elements";
  if (bare)
    inspect_function(out, map, limits);
  else
    inspect_layout(out, map, limits);
  return out;
}

Fact is_one_to_one(Map const& map, Limits const& limits) {
  if (map.domain() == nullptr)
    return function_is_one_to_one({map.acts_on_bytes() ? &map.on_bytes : &map.on_elements}, limits);
  if (too_large(map)) return {Unknown{too_many(size_of(map))}, Engine::exhaustive};
  Fact fact = one_to_one_of(values_of(map));
  if (auto* refuted = std::get_if<Refuted>(&fact.outcome))  // of parts: name their elements
    for (std::size_t i = 0; i < 2; ++i) refuted->values[i].second /= parts_of(map).of_each;
  return fact;
}

Fact is_bijective(Map const& map, Limits const& limits) {
  Fact const fact = is_one_to_one(map, limits);
  if (map.domain() == nullptr || !std::holds_alternative<Proved>(fact.outcome)) return fact;
  return onto_of(values_of(map), fact);
}

Quantity some_period(std::vector<Stage> const& stages, Limits const& limits) {
  std::uint64_t period = 1;
  for (Stage const& stage : stages) {
    auto const* swizzle = std::get_if<Swizzle>(&stage);
    if (swizzle == nullptr && !std::holds_alternative<Displacement>(stage))
      return function_period({&stages}, limits);
    if (swizzle != nullptr) period = std::max(period, swizzle->period());
  }
  return {period, Engine::linear, {}};
}

Quantity period_of(std::vector<Stage> const& stages, Limits const& limits) {
  auto const moves = std::count_if(stages.begin(), stages.end(), [](Stage const& stage) {
    return !std::holds_alternative<Displacement>(stage);
  });
  return moves <= 1 ? some_period(stages, limits) : function_period({&stages}, limits);
}

}  // namespace swizproof
