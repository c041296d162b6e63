#include <swizproof/check.hpp>
#include <swizproof/parse.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace swizproof {

namespace {

constexpr unsigned most_free_bits = 12;        ///< that the linear engine enumerates
constexpr double second_opinion_seconds = 10;  ///< for SMT where exhaustion has decided

/// True if the stages move whole aligned blocks of `size`, so that no vector is torn apart.
bool keeps_blocks(std::span<Stage const> stages, std::uint64_t size) {
  return std::all_of(stages.begin(), stages.end(), [&](Stage const& stage) {
    auto const* swizzle = std::get_if<Swizzle>(&stage);
    bool const small =
        swizzle != nullptr && (swizzle->bits == 0 || std::uint64_t{1} << swizzle->base >= size);
    auto const* plus = std::get_if<Displacement>(&stage);
    return small || (plus != nullptr && plus->elements % static_cast<std::int64_t>(size) == 0);
  });
}

/// One case: a value for each variable, and a base.
struct Case {
  std::vector<std::uint64_t> values{};
  std::uint64_t base = 0;
};

/// The most that any case costs, and the first case that costs it.
struct Worst {
  unsigned wavefronts = 0;
  Case where{};
};

class Checker {
 public:
  Checker(Placement const& placement, CheckOptions const& options)
      : placement_(placement), options_(options), instruction_(placement.instruction()) {
    step_ = std::max<std::uint64_t>(
        options.align.value_or(base_alignment(placement.map(), instruction_, options.limits)), 1);
    step_ = std::lcm(step_, std::uint64_t{instruction_.bytes});
    if (auto const period = period_of(placement.map().on_bytes, options.limits).value)
      modulus_ = std::max({*period, std::uint64_t{instruction_.bytes}, std::uint64_t{bank_bytes}});
    std::uint64_t const k = placement.vector_elements();
    Mapping const& map = placement.map();
    bool const has_tile = !map.on_elements.empty();
    torn_ = (has_tile && k > 1 &&
             !keeps_blocks(std::span(map.on_elements).first(map.on_elements.size() - 1), k)) ||
            !keeps_blocks(map.on_bytes, instruction_.bytes);
    by_values_ = std::holds_alternative<ThreadValues>(placement.access().where) && k > 1;
  }

  std::optional<AccessVerdict> run_exhaustively() {
    std::optional<Worst> const worst = by_exhaustion();
    if (!worst) return std::nullopt;
    AccessVerdict out = unanswered();
    out.engines.push_back(Engine::exhaustive);
    describe(*worst, out);
    return out;
  }

  AccessVerdict run() {
    AccessVerdict out = unanswered();
    std::optional<Worst> worst = by_exhaustion();
    if (worst)
      out.engines.push_back(Engine::exhaustive);
    else
      must_fit();
    if (std::optional<Worst> const linear = by_algebra()) {
      if (worst && worst->wavefronts != linear->wavefronts)
        throw Disagreement{out.access + ": exhaustion says " + std::to_string(worst->wavefronts) +
                           " wavefronts, GF(2) says " + std::to_string(linear->wavefronts)};
      out.engines.insert(out.engines.begin(), Engine::linear);
      if (!worst) worst = linear;
    } else if (auto const unknown = by_smt(worst, out)) {
      if (!worst) {
        out.outcome = *unknown;
        return out;
      }
    }
    describe(*worst, out);
    return out;
  }

  using W = std::uint64_t;

  /// Refuses the access if some lane of some case does not fit, by algebra or SMT.
  void must_fit() const {
    Question const q = question("every lane fits the tile", [this](auto const& values, auto const& base) {
      using V = std::remove_cvref_t<decltype(base)>;
      truth_of<V> fits = true;
      for (unsigned l = 0; l < warp_lanes; ++l) {
        LanePlace<V> const place = placement_.lane(std::span<V const>(values), l, base);
        V const address = placement_.address(place, base);
        truth_of<V> here =
            placement_.inside(place, base) && address % like(base, instruction_.bytes) == like(base, 0);
        if (unsigned const bits = placement_.map().element_bits.value_or(8); bits < 8)
          here = here && (place.swizzled * like(base, bits)) % like(base, 8) == like(base, 0);
        if (by_values_)
          for (W j = 1; j < placement_.vector_elements(); ++j)
            here = here && placement_.offset_of_value(std::span<V const>(values), l, j) ==
                               place.offset + like(base, j);
        if (torn_)
          for (unsigned j = 1; j < instruction_.bytes; ++j)
            here = here && placement_.byte_of_vector(place, j, base) == address + like(base, j);
        fits = fits && implies(place.active, here);
      }
      return fits;
    });
    Outcome outcome;
    if (auto linear = decide_linearly(q))
      outcome = *linear;
    else
      outcome = decide_symbolically(std::span(&q, 1), options_.limits);
    if (auto const* unknown = std::get_if<Unknown>(&outcome))
      throw InputError{"cannot tell whether every lane lies in the tile: " + unknown->reason,
                       placement_.access().name, 0, placement_.access().name.size(),
                       "give it a smaller range, or more --timeout"};
    if (auto const* refuted = std::get_if<Refuted>(&outcome)) {
      Case const c = case_of(*refuted);
      for (unsigned l = 0; l < warp_lanes; ++l)
        must_fit(c, l, placement_.lane(std::span<W const>(c.values), l, c.base));
      throw Disagreement{"a lane that does not fit was found, but none on plain numbers: " +
                         placement_.access().name};
    }
  }

 private:
  [[nodiscard]] AccessVerdict unanswered() const {
    AccessVerdict out;
    out.access = placement_.access().name;
    out.ideal = ideal_wavefronts(*options_.arch, instruction_);
    out.allowed = options_.at_most.value_or(out.ideal);
    out.domain = domain();
    return out;
  }
  [[nodiscard]] std::string domain() const {
    std::string text;
    for (Place const& v : placement_.variables()) {
      if (v.count == 1) continue;
      text += v.name + " = " + std::to_string(v.first);
      if (v.step != 1) text += ", " + std::to_string(v.first + v.step);
      if (v.count > 2 || v.step == 1)
        text += (v.step != 1 ? ", .., " : "..") + std::to_string(v.first + v.step * (v.count - 1));
      text += "; ";
    }
    return text + (step_ == 1 ? "every base" : "every base that is a multiple of " + std::to_string(step_));
  }

  // ------------------------------------------------------------------ does every lane fit the tile?

  /// What is wrong with lane l of a case, in words; empty if nothing is.
  [[nodiscard]] std::string misfit(Case const& c, unsigned l, LanePlace<W> const& place) const {
    std::span<W const> const values(c.values);
    if (!placement_.inside(place, W{0})) {
      std::string at;
      for (W const x : place.coordinate)
        at += (at.empty() ? "" : ",") + std::to_string(static_cast<std::int64_t>(x));
      return "asks for (" + at + "), outside the tile " + to_string(placement_.map().domain()->shape);
    }
    W const address = placement_.address(place, c.base);
    unsigned const bits = placement_.map().element_bits.value_or(8);
    bool const within_byte = bits < 8 && (place.swizzled * bits) % 8 != 0;
    if (address % instruction_.bytes != 0 || within_byte)
      return "has the address " + std::to_string(address) + (within_byte ? " and a part of a byte" : "") +
             ", which is not a multiple of the " + std::to_string(instruction_.bytes) + " bytes that " +
             to_string(instruction_) + " takes";
    if (by_values_)
      for (W j = 1; j < placement_.vector_elements(); ++j)
        if (placement_.offset_of_value(values, l, j) != place.offset + j)
          return "has values that do not lie side by side, as " + to_string(instruction_) + " takes them";
    if (!torn_) return {};
    for (unsigned j = 1; j < instruction_.bytes; ++j)
      if (placement_.byte_of_vector(place, j, c.base) != address + j)
        return "finds byte " + std::to_string(j) + " of its vector at " +
               std::to_string(placement_.byte_of_vector(place, j, c.base)) + ", not at " +
               std::to_string(address + j) + ": the layout tears the vector apart";
    return {};
  }
  /// Refuses the access if lane l does not fit.
  void must_fit(Case const& c, unsigned l, LanePlace<W> const& place) const {
    std::string const wrong = place.active ? misfit(c, l, place) : std::string();
    if (wrong.empty()) return;
    std::string at;
    for (auto const& [name, value] : named(c)) at += ", " + name + " = " + std::to_string(value);
    std::string const& text = placement_.access().name;
    throw InputError{
        "lane " + std::to_string(l) + " " + wrong + " (base " + std::to_string(c.base) + at + ")",
        text,
        0,
        text.size(),
        {}};
  }
  // ------------------------------------------------------------------------------------ the engines

  [[nodiscard]] unsigned cost_of(Case const& c) const {
    return cost(*options_.arch, instruction_, placement_.warp(std::span<W const>(c.values), c.base))
        .wavefronts;
  }

  /// Every assignment, and every base modulo the period.
  [[nodiscard]] std::optional<Worst> by_exhaustion() const {
    if (!modulus_) return std::nullopt;
    std::uint64_t const bases = *modulus_ / std::gcd(step_, *modulus_);
    std::uint64_t const all = placement_.assignments();
    if (all > most_cases || bases > most_cases / all) return std::nullopt;
    Worst worst;
    for_each_assignment(placement_, [&](std::span<W const> values) {
      Case c{{values.begin(), values.end()}, 0};
      for (std::uint64_t b = 0; b < bases; ++b) {
        c.base = b * step_;
        WarpAccess<W> warp;
        for (unsigned l = 0; l < warp_lanes; ++l) {
          LanePlace<W> const place = placement_.lane(values, l, c.base);
          must_fit(c, l, place);
          warp.address[l] = placement_.address(place, c.base);
          warp.active[l] = place.active;
        }
        unsigned const n = cost(*options_.arch, instruction_, warp).wavefronts;
        if (n > worst.wavefronts) worst = {n, c};
      }
    });
    return worst;
  }

  /// The cost depends on the XOR of the lanes' addresses alone: if that is affine in few bits of the
  /// variables, their values are all the cases there are.
  [[nodiscard]] std::optional<Worst> by_algebra() const {
    // Bases that are multiples of the modulus change no XOR; others would carry into the offsets.
    if (!modulus_ || step_ % *modulus_ != 0) return std::nullopt;
    std::vector<Affine> values;
    unsigned inputs = 0;
    for (Place const& v : placement_.variables()) {
      unsigned const bits = v.count == 1 ? 0 : static_cast<unsigned>(std::bit_width(v.count - 1));
      if (!std::has_single_bit(v.count) || inputs + bits > 256) return std::nullopt;
      values.push_back(v.value(bits == 0 ? Affine(64, 0) : Affine::inputs(64, inputs, bits)));
      inputs += bits;
    }
    auto const warp = placement_.warp(std::span<Affine const>(values), Affine(64, 0));
    WarpAccess<W> numbers{};
    std::array<std::uint64_t, 4> used{};
    unsigned first = warp_lanes;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      auto const active = warp.active[l].constant();
      if (!active || (*active && !warp.address[l].exact())) return std::nullopt;
      numbers.active[l] = *active;
      if (*active && first == warp_lanes) first = l;
    }
    if (first == warp_lanes) return std::nullopt;
    std::array<Affine, warp_lanes> difference;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      if (!numbers.active[l]) continue;
      difference[l] = warp.address[l] ^ warp.address[first];
      for (unsigned i = 0; i < difference[l].width(); ++i)
        for (unsigned w = 0; w < 4; ++w) used[w] |= difference[l].bit(i).inputs[w];
    }
    std::vector<unsigned> free;
    for (unsigned i = 0; i < inputs; ++i)
      if ((used[i / 64] >> (i % 64) & 1) != 0) free.push_back(i);
    if (free.size() > most_free_bits) return std::nullopt;
    Worst worst;
    for (std::uint64_t some = 0; some < std::uint64_t{1} << free.size(); ++some) {
      std::array<std::uint64_t, 4> point{};
      for (std::size_t i = 0; i < free.size(); ++i) point[free[i] / 64] |= (some >> i & 1) << (free[i] % 64);
      for (unsigned l = 0; l < warp_lanes; ++l)
        numbers.address[l] = numbers.active[l] ? difference[l].at(point) : 0;
      unsigned const n = cost(*options_.arch, instruction_, numbers).wavefronts;
      if (n > worst.wavefronts) worst = {n, case_at(point)};
    }
    if (cost_of(worst.where) != worst.wavefronts)
      throw Disagreement{placement_.access().name + ": GF(2)'s worst case does not replay on plain numbers"};
    return worst;
  }

  /// Proves that no case costs more than `worst`, raising it as long as the solver finds one that does.
  std::optional<Unknown> by_smt(std::optional<Worst>& worst, AccessVerdict& out) const {
    bool const decided = worst.has_value();
    Limits limits = options_.limits;
    if (decided) limits.seconds = std::min(limits.seconds, second_opinion_seconds);
    Worst most = decided ? *worst : first_case();
    while (true) {
      Question const q = question("at most " + std::to_string(most.wavefronts) + " wavefronts",
                                  [this, n = most.wavefronts](auto const& values, auto const& base) {
                                    using V = std::remove_cvref_t<decltype(base)>;
                                    auto const warp = placement_.warp(std::span<V const>(values), base);
                                    auto const met = wavefronts(*options_.arch, instruction_, warp);
                                    return !(like(met, n) < met);
                                  });
      Outcome const outcome = decide_symbolically(std::span(&q, 1), limits);
      if (auto const* unknown = std::get_if<Unknown>(&outcome)) return *unknown;
      if (std::holds_alternative<Proved>(outcome)) break;
      Case const c = case_of(std::get<Refuted>(outcome));
      if (decided)
        throw Disagreement{out.access + ": exhaustion says at most " + std::to_string(most.wavefronts) +
                           " wavefronts, SMT found " + std::to_string(cost_of(c))};
      most = {cost_of(c), c};
    }
    out.engines.insert(out.engines.begin(), Engine::smt);
    worst = most;
    return std::nullopt;
  }

  // ------------------------------------------------------------------------------ cases and questions

  [[nodiscard]] Worst first_case() const {
    Case c;
    for (Place const& v : placement_.variables()) c.values.push_back(v.first);
    return {cost_of(c), c};
  }
  [[nodiscard]] Case case_at(std::array<std::uint64_t, 4> const& point) const {
    Case c;
    unsigned at = 0;
    for (Place const& v : placement_.variables()) {
      std::uint64_t i = 0;
      for (unsigned bit = 0; (std::uint64_t{1} << bit) < v.count; ++bit, ++at)
        i |= (point[at / 64] >> (at % 64) & 1) << bit;
      c.values.push_back(v.value(i));
    }
    return c;
  }
  /// Reads a counterexample to question().
  [[nodiscard]] Case case_of(Refuted const& refuted) const {
    Case c;
    std::size_t at = 0;
    for (Place const& v : placement_.variables())
      c.values.push_back(v.value(v.count == 1 ? std::uint64_t{0} : refuted.values[at++].second));
    c.base = refuted.values[at].second * step_;
    return c;
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> named(Case const& c) const {
    std::vector<std::pair<std::string, std::uint64_t>> all;
    for (std::size_t i = 0; i < c.values.size(); ++i)
      if (placement_.variables()[i].count > 1) all.emplace_back(placement_.variables()[i].name, c.values[i]);
    return all;
  }

  /// For all values of the variables and all bases below 2^32: statement(values, base).
  template <class Statement>
  [[nodiscard]] Question question(std::string name, Statement statement) const {
    Question q;
    q.name = placement_.access().name + ": " + std::move(name);
    q.width = 64;
    for (Place const& v : placement_.variables())
      if (v.count > 1) q.variables.push_back({v.name, static_cast<unsigned>(std::bit_width(v.count - 1))});
    std::uint64_t const bases = ((std::uint64_t{1} << 32) - 1) / step_;
    q.variables.push_back(
        {"base / " + std::to_string(step_), std::max(1U, static_cast<unsigned>(std::bit_width(bases)))});
    auto const ask = [this, statement, bases](auto inputs) {
      using V = std::remove_cvref_t<decltype(inputs[0])>;
      truth_of<V> hypothesis = true;
      auto const within = [&](V const& x, std::uint64_t count) {
        if (!std::has_single_bit(count)) hypothesis = hypothesis && x < like(x, count);
      };
      std::vector<V> values;
      std::size_t at = 0;
      for (Place const& v : placement_.variables()) {
        V const index = v.count == 1 ? like(inputs[0], 0) : inputs[at++];
        within(index, v.count);
        values.push_back(v.value(index));
      }
      within(inputs[at], bases + 1);
      V const base = inputs[at] * like(inputs[at], step_);
      return claim(hypothesis, truth_of<V>(statement(values, base)));
    };
    q.on_numbers = [ask](std::span<std::uint64_t const> v) { return ask(v); };
    q.on_terms = [ask](std::span<Term const> v) { return ask(v); };
    q.on_affine = [ask](std::span<Affine const> v) { return ask(v); };
    return q;
  }

  // ------------------------------------------------------------------------------------- the answer

  void describe(Worst const& worst, AccessVerdict& out) const {
    WarpAccess<W> const warp = placement_.warp(std::span<W const>(worst.where.values), worst.where.base);
    auto const cost_there = cost(*options_.arch, instruction_, warp);
    out.wavefronts = worst.wavefronts;
    out.degree.assign(cost_there.degree.begin(), cost_there.degree.begin() + cost_there.groups.count);
    out.conflict = conflict(worst.where, warp, cost_there);
    if (out.wavefronts <= out.allowed) {
      out.outcome = Proved{};
      return;
    }
    Refuted refuted{out.access, named(worst.where), false};
    refuted.values.emplace_back("base", worst.where.base);
    out.outcome = std::move(refuted);
  }

  /// The fullest bank of the fullest phase: the lowest where there are several.
  [[nodiscard]] std::optional<Conflict> conflict(Case const& c, WarpAccess<W> const& warp,
                                                 Cost<std::uint32_t> const& found) const {
    auto const fullest = std::max_element(found.degree.begin(), found.degree.begin() + found.groups.count);
    if (*fullest < 2) return std::nullopt;
    Conflict out{named(c), c.base, static_cast<unsigned>(fullest - found.degree.begin()), 0, {}};
    out.by_lane = instruction_.operation == Operation::cp_async;
    std::uint64_t const unit = std::max(instruction_.bytes, bank_bytes);
    std::vector<std::vector<unsigned>> lanes_of(bank_count);
    for (unsigned l = out.phase * found.groups.size; l < (out.phase + 1) * found.groups.size; ++l) {
      if (!warp.active[l]) continue;
      auto const word_of = [&](unsigned lane) { return warp.address[lane] / unit; };
      auto& here = lanes_of[word_of(l) * unit / bank_bytes % bank_count];
      if (out.by_lane || std::none_of(here.begin(), here.end(),
                                      [&](unsigned other) { return word_of(other) == word_of(l); }))
        here.push_back(l);
    }
    auto const bank = std::max_element(lanes_of.begin(), lanes_of.end(),
                                       [](auto const& a, auto const& b) { return a.size() < b.size(); });
    out.bank = static_cast<unsigned>(bank - lanes_of.begin());
    for (unsigned const l : *bank) {
      LanePlace<W> const place = placement_.lane(std::span<W const>(c.values), l, c.base);
      std::uint64_t const address = warp.address[l];
      auto const relative = static_cast<std::int64_t>(address - c.base);
      int const bits = static_cast<int>(placement_.map().element_bits.value_or(8));
      out.lanes.push_back({l, place.coordinate, static_cast<std::int64_t>(place.offset),
                           place.coordinate.empty() ? relative : relative * 8 / bits, address,
                           address / bank_bytes});
    }
    return out;
  }

  Placement const& placement_;
  CheckOptions const& options_;
  Instruction instruction_;
  std::uint64_t step_ = 1;                  // bases are its multiples
  std::optional<std::uint64_t> modulus_{};  // adding it to the base changes no cost
  bool torn_ = false;                       // some stage may tear vectors apart
  bool by_values_ = false;                  // the vector's elements are given one by one
};

}  // namespace

std::uint64_t base_alignment(Mapping const& map, Instruction instruction, Limits const& limits) {
  std::uint64_t const on_bytes = period_of(map.on_bytes, limits).value.value_or(1);
  std::vector<Stage> swizzles;
  for (Stage const& stage : map.on_elements)
    if (std::holds_alternative<Swizzle>(stage)) swizzles.push_back(stage);
  std::uint64_t const on_elements = period_of(swizzles, limits).value.value_or(1);
  std::uint64_t const bytes = on_elements == 1 ? 1 : on_elements * map.element_bits.value_or(8) / 8;
  return std::max({std::uint64_t{instruction.bytes}, on_bytes, bytes});
}

AccessVerdict check(Placement const& placement, CheckOptions const& options) {
  return Checker(placement, options).run();
}

std::optional<AccessVerdict> check_exhaustively(Placement const& placement, CheckOptions const& options) {
  return Checker(placement, options).run_exhaustively();
}

void must_fit(Placement const& placement, CheckOptions const& options) {
  if (!check_exhaustively(placement, options)) Checker(placement, options).must_fit();
}

}  // namespace swizproof
