#include <swizproof/equal.hpp>
#include <swizproof/parse.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace swizproof {

namespace {

constexpr std::uint64_t most_compared = std::uint64_t{1} << 22;

std::vector<Stage> swizzles_of(std::vector<Stage> const& stages) {
  std::vector<Stage> only;
  for (Stage const& stage : stages)
    if (std::holds_alternative<Swizzle>(stage) || std::holds_alternative<Expression>(stage))
      only.push_back(stage);
  return only;
}

/// Bytes from whose multiples the map's own swizzle is the same relative and absolute; 1 if unknown.
std::uint64_t own_alignment(Mapping const& map, unsigned element_bits, Limits const& limits) {
  std::uint64_t const on_bytes = period_of(swizzles_of(map.on_bytes), limits).value.value_or(1);
  std::uint64_t const on_elements = period_of(swizzles_of(map.on_elements), limits).value.value_or(1);
  return std::max<std::uint64_t>(on_bytes, on_elements == 1 ? 1 : on_elements * element_bits / 8);
}

/// The two maps, ready to be compared: what index or number, in which unit.
class Comparison {
 public:
  Comparison(Mapping left, Mapping right, std::optional<std::uint64_t> align, Limits const& limits)
      : left_(std::move(left)), right_(std::move(right)), limits_(limits) {
    bits_ = left_.element_bits ? left_.element_bits : right_.element_bits;
    if (left_.element_bits && right_.element_bits && left_.element_bits != right_.element_bits)
      refuse("the elements have different sizes: " + std::to_string(*left_.element_bits) + " and " +
             std::to_string(*right_.element_bits) + " bits");
    bool const shaped_left = left_.domain() != nullptr, shaped_right = right_.domain() != nullptr;
    by_bytes_ = left_.acts_on_bytes() || right_.acts_on_bytes();
    if (shaped_left != shaped_right) {
      (shaped_left ? right_ : left_) =
          in_place_of_swizzle(shaped_left ? left_ : right_, shaped_left ? right_ : left_);
      out_.domain = "the function after " + to_string(*(shaped_left ? left_ : right_).domain()) +
                    ", in place of its swizzle: ";
    }
    bool const mixed = left_.acts_on_bytes() != right_.acts_on_bytes();
    if ((mixed || (by_bytes_ && (shaped_left || shaped_right))) && !bits_)
      refuse("one acts on bytes, the other on elements of unknown size",
             "give --element, such as --element f16");
    if (shaped_left || shaped_right) {
      size_ = static_cast<std::uint64_t>(left_.domain()->size());
      out_.domain += "indices 0.." + std::to_string(size_ - 1);
      if (by_bytes_) {
        step_ = align.value_or(
            std::max(own_alignment(left_, *bits_, limits), own_alignment(right_, *bits_, limits)));
        out_.domain +=
            step_ == 1 ? ", every base" : ", every base that is a multiple of " + std::to_string(step_);
      }
      out_.unit = !by_bytes_ ? "elements" : *bits_ % 8 == 0 ? "bytes" : "bits";
    } else {
      out_.domain = mixed ? "all 32-bit element offsets" : "all 64-bit numbers";
      out_.unit = by_bytes_ ? "bytes" : "elements";
      if (align) refuse("--align is for tiles: these functions are compared on all numbers");
      if (mixed && *bits_ % 8 != 0) refuse("elements of less than a byte have no byte addresses");
    }
  }

  Equality run() {
    if (left_.domain() != nullptr && left_.domain()->size() != right_.domain()->size()) {
      auto const a = left_.domain()->size(), b = right_.domain()->size();
      out_.outcome = Refuted{"the sizes differ: " + std::to_string(a) + " and " + std::to_string(b), {}};
      out_.engines = {Engine::exhaustive};
      return out_;
    }
    Question const q = question();
    std::optional<Difference> found;
    bool const exhausted = exhaust(found);
    if (exhausted) {
      out_.engines.push_back(Engine::exhaustive);
      out_.outcome = found ? Outcome(Refuted{"the two differ", {}}) : Outcome(Proved{});
    }
    Engine engine = Engine::linear;
    std::optional<Outcome> symbolic = decide_linearly(q);
    if (!symbolic && !found) {
      engine = Engine::smt;
      if (auto refuted = search_counterexample(q, 12)) {
        symbolic = *std::move(refuted);
        engine = Engine::search;
      } else {
        symbolic = decide_symbolically(std::span(&q, 1), limits_);
      }
    }
    if (symbolic && !std::holds_alternative<Unknown>(*symbolic)) {
      if (exhausted && symbolic->index() != out_.outcome.index())
        throw Disagreement{left_.text + " = " + right_.text + ": exhaustion says " +
                           std::string(word(out_.outcome)) + ", " + std::string(name(engine)) + " says " +
                           std::string(word(*symbolic))};
      out_.engines.insert(out_.engines.begin(), engine);
    }
    if (!exhausted) out_.outcome = *symbolic;
    if (!found)
      if (auto const* refuted = symbolic ? std::get_if<Refuted>(&*symbolic) : nullptr)
        found = difference_at(*refuted);
    out_.difference = found;
    return out_;
  }

 private:
  [[noreturn]] void refuse(std::string message, std::string hint = {}) const {
    throw InputError{std::move(message), left_.text + "  and  " + right_.text, 0, 1, std::move(hint)};
  }
  /// The shaped map with `function` instead of its own swizzle.
  [[nodiscard]] Mapping in_place_of_swizzle(Mapping const& shaped, Mapping const& function) const {
    Mapping map = function;
    map.on_elements.push_back(shaped.on_elements.back());
    return map;
  }
  [[nodiscard]] bool shaped() const { return size_ != 0; }

  /// The image of an input in out_.unit. A function without a shape takes its own unit; if the other
  /// one takes another, the input is an element offset.
  template <Word W>
  [[nodiscard]] W value(Mapping const& map, W const& x, W const& base) const {
    if (shaped()) {
      if (!by_bytes_) return offset(map, x).elements;
      if (*bits_ % 8 != 0) return bit_address(map, Address<W>{base}, x);
      return detail::apply(map.on_bytes, W(base + offset(map, x).elements * like(x, *bits_ / 8)));
    }
    bool const mixed = left_.acts_on_bytes() != right_.acts_on_bytes();
    if (!mixed) return detail::apply(by_bytes_ ? map.on_bytes : map.on_elements, x);
    W const bytes = like(x, *bits_ / 8);
    return map.acts_on_bytes() ? detail::apply(map.on_bytes, W(x * bytes))
                               : W(detail::apply(map.on_elements, x) * bytes);
  }

  [[nodiscard]] Question question() const {
    Question q;
    q.name = left_.text + " = " + right_.text;
    q.width = 64;
    bool const mixed = left_.acts_on_bytes() != right_.acts_on_bytes();
    unsigned const index_bits = shaped() ? std::max(1U, static_cast<unsigned>(std::bit_width(size_ - 1)))
                                : mixed  ? 32
                                         : 64;
    q.variables.push_back({"input", index_bits});
    if (shaped() && by_bytes_)
      q.variables.push_back(
          {"base", static_cast<unsigned>(std::bit_width((std::uint64_t{1} << 32) / step_))});
    auto const same = [this](auto inputs) {
      using V = std::remove_cvref_t<decltype(inputs[0])>;
      V const base = inputs.size() > 1 ? V(inputs[1] * like(inputs[1], step_)) : like(inputs[0], 0);
      truth_of<V> hypothesis = true;
      if (shaped() && !std::has_single_bit(size_)) hypothesis = inputs[0] < like(inputs[0], size_);
      return claim(hypothesis, truth_of<V>(value(left_, inputs[0], base) == value(right_, inputs[0], base)));
    };
    q.on_numbers = [same](std::span<std::uint64_t const> v) { return same(v); };
    q.on_terms = [same](std::span<Term const> v) { return same(v); };
    q.on_affine = [same](std::span<Affine const> v) { return same(v); };
    return q;
  }

  /// True if all indices and bases modulo both periods were compared; `found` is the first difference.
  bool exhaust(std::optional<Difference>& found) const {
    if (!shaped()) return false;
    std::uint64_t bases = 1;
    if (by_bytes_) {
      auto const a = period_of(left_.on_bytes, limits_).value, b = period_of(right_.on_bytes, limits_).value;
      if (!a || !b) return false;
      std::uint64_t const period = std::max(*a, *b);  // powers of two
      bases = period / std::gcd(step_, period);
    }
    if (size_ > most_compared || bases > most_compared / size_) return false;
    for (std::uint64_t x = 0; x < size_; ++x)
      for (std::uint64_t b = 0; b < bases; ++b) {
        std::uint64_t const base = b * step_;
        std::uint64_t const l = value(left_, x, base), r = value(right_, x, base);
        if (l == r) continue;
        found = Difference{x, base, static_cast<std::int64_t>(l), static_cast<std::int64_t>(r)};
        return true;
      }
    return true;
  }

  [[nodiscard]] Difference difference_at(Refuted const& refuted) const {
    Difference d;
    d.input = refuted.values[0].second;
    if (refuted.values.size() > 1) d.base = refuted.values[1].second * step_;
    d.left = static_cast<std::int64_t>(value(left_, d.input, d.base));
    d.right = static_cast<std::int64_t>(value(right_, d.input, d.base));
    return d;
  }

  Mapping left_, right_;
  Limits limits_;
  std::optional<unsigned> bits_{};
  bool by_bytes_ = false;
  std::uint64_t size_ = 0;  // 0 without a shape
  std::uint64_t step_ = 1;  // bases are its multiples
  Equality out_;
};

// ---------------------------------------------------------------------------------------- alignment

/// f as a function of byte (or element) numbers.
struct Function {
  std::vector<Stage> stages;
  template <Word W>
  [[nodiscard]] W operator()(W const& x) const {
    return detail::apply(stages, x);
  }
};

/// Exactly the multiples of the period, for functions of all x: refutes every other base with a few x,
/// which the solver's counterexamples name one by one.
void prove_multiples_only(Function const& f, Alignment& out, Limits const& limits) {
  out.engine = Engine::smt;
  for (int round = 0; round < 70; ++round) {
    Question const q = ask("no other base", 64, {{"b", 64}}, [&](auto b) {
      using W = decltype(b);
      truth_of<W> agree = true;
      for (std::uint64_t const x : out.witnesses) agree = agree && f(W(b + like(b, x))) == b + f(like(b, x));
      return claim(agree, truth_of<W>((b & like(b, out.period - 1)) == like(b, 0)));
    });
    Outcome const outcome = decide_symbolically(std::span(&q, 1), limits);
    if (!std::holds_alternative<Refuted>(outcome)) {
      out.outcome = outcome;
      return;
    }
    std::uint64_t const b = std::get<Refuted>(outcome).values[0].second;
    Question const here = ask("this base too", 64, {{"x", 64}}, [&, b](auto x) {
      using W = decltype(x);
      return claim(truth_of<W>(f(W(like(x, b) + x)) == like(x, b) + f(x)));
    });
    Outcome witness;
    if (auto simple = search_counterexample(here, 12))
      witness = *std::move(simple);
    else
      witness = decide_symbolically(std::span(&here, 1), limits);
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

/// The residues of the period, tried one by one on every unit of the tile.
void enumerate_residues(Function const& f, std::vector<std::uint64_t> const& units, Alignment& out) {
  std::vector<bool> good(out.period, false);
  for (std::uint64_t b = 0; b < out.period; ++b)
    good[b] = std::all_of(units.begin(), units.end(), [&](std::uint64_t x) { return f(b + x) == b + f(x); });
  out.bytes = out.period;
  for (std::uint64_t step = out.period / 2; step > 0; step /= 2) {
    bool all = true;
    for (std::uint64_t b = 0; b < out.period; b += step) all = all && good[b];
    if (all) out.bytes = step;
  }
  for (std::uint64_t b = 0; b < out.period; ++b)
    if (good[b] && b % out.bytes != 0) out.also.push_back(b);
  out.engine = Engine::exhaustive;
  out.outcome = Proved{};
}

}  // namespace

Equality equal(Mapping const& left, Mapping const& right, std::optional<std::uint64_t> align,
               Limits const& limits) {
  return Comparison(left, right, align, limits).run();
}

Alignment alignment_of(Mapping const& map, Limits const& limits) {
  Alignment out;
  Function const f{map.acts_on_bytes() ? map.on_bytes : swizzles_of(map.on_elements)};
  out.domain = map.domain() == nullptr ? "all x" : "every byte of the tile";
  if (f.stages.empty()) {
    out.outcome = Proved{};
    out.engine = Engine::linear;
    return out;
  }
  if (!map.acts_on_bytes() && !map.element_bits)
    throw InputError{"the element size is not known", map.text, 0, map.text.size(),
                     "give --element, such as --element f16"};
  Quantity const period = period_of(f.stages, limits);
  if (!period.value) {
    out.outcome =
        Unknown{period.unknown ? period.note : "no power of two below 2^64 is a period of this function"};
    return out;
  }
  out.period = out.bytes = *period.value;
  if (map.domain() == nullptr) {
    prove_multiples_only(f, out, limits);
  } else {
    // Bytes that the tile covers, before any swizzle; or elements, where the swizzle counts those.
    std::vector<std::uint64_t> units;
    auto const size = static_cast<std::uint64_t>(map.domain()->size());
    if (size > most_enumerated || out.period > most_compared) {
      out.outcome = Unknown{"the tile or the period has more than 2^22 elements: not enumerated"};
      return out;
    }
    std::uint64_t const bits = map.element_bits.value_or(8);
    for (std::uint64_t i = 0; i < size; ++i) {
      std::uint64_t const o = (*map.domain())(i).elements;
      if (!map.acts_on_bytes())
        units.push_back(o);
      else
        for (std::uint64_t bit = 0; bit < std::max<std::uint64_t>(bits, 8); bit += 8)
          units.push_back((o * bits + bit) / 8);
    }
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    enumerate_residues(f, units, out);
  }
  if (!map.acts_on_bytes()) {
    auto const in_bytes = [&](std::uint64_t n) {
      return std::max<std::uint64_t>(n * *map.element_bits / 8, 1);
    };
    out.bytes = in_bytes(out.bytes);
    out.period = in_bytes(out.period);
    for (std::uint64_t& b : out.also) b = in_bytes(b);
    out.domain = map.domain() == nullptr ? "all elements, bases that are multiples of one"
                                         : "every element of the tile, bases that are multiples of one";
  }
  return out;
}

}  // namespace swizproof
