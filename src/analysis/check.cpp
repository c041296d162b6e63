#include "analysis/distinct.hpp"
#include "analysis/repeats.hpp"

#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/check.hpp>
#include <swizproof/engine/decide.hpp>
#include <swizproof/hardware/certainty.hpp>
#include <swizproof/hardware/collision.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>

namespace swizproof {

namespace {

bool stores(Instruction const& i) {
  return i.operation != Operation::ld_shared && i.operation != Operation::ldmatrix;
}

constexpr unsigned most_free_bits = 12;  ///< most bits that the linear engine enumerates
constexpr std::uint64_t most_counted = std::uint64_t{1} << 48;  ///< cases whose wavefronts are summed

/// One case: a value for each variable, and a base.
struct Case {
  std::vector<std::uint64_t> values{};
  std::uint64_t base = 0;
};

/// The most that any case costs, the first case that costs it, and what all cases cost.
struct Worst {
  unsigned wavefronts = 0;
  Case where{};
  std::optional<std::uint64_t> total{};  ///< total at the most expensive base
  std::optional<unsigned> least{};       ///< least cost of any case, if known
};

/// Result of an engine: the worst case, a lane that does not fit, or the reason why it is unknown.
using Found = std::variant<Worst, Misfit, Unknown>;

/// Names what is accessed where no case accesses anything.
[[noreturn]] void refuse_nothing(Placement const& placement) {
  std::string const& text = placement.access().name;
  throw InputError::whole("no lane takes part in any case: nothing is accessed", text,
                          "the condition after 'if' is never true");
}

/// A likely mistake of a lane whose vector starts between two others of its mode: vectors were counted, not elements.
std::string counted_in_elements(Placement const& placement, LanePlace<std::uint64_t> const& place) {
  std::uint64_t const elements = placement.vector_elements();
  if (!std::holds_alternative<Coordinate>(placement.access().where) ||
      place.element->coordinate.size() != 2 ||
      place.element->coordinate[1 - placement.row_mode()] % elements == 0)
    return {};
  return "; an index counts elements: " + std::to_string(elements) + " are " +
         std::to_string(placement.instruction().bytes) + " bytes";
}

class Checker {
 public:
  Checker(Placement const& placement, CheckOptions const& options)
      : placement_(placement), options_(options), instruction_(placement.instruction()) {
    require(*options.arch, instruction_, placement.access().name);
    refuse_other_bases(placement.map(), options.align);
    base_ = placement.map().base_address;
    std::optional<std::uint64_t> const bases =
        base_           ? std::uint64_t{1}
        : options.align ? options.align
                        : base_alignment(placement.map(), instruction_, options.limits);
    knows_bases_ = bases.has_value();
    asked_ = bases.value_or(array_alignment);
    step_ = base_ ? 1 : std::lcm(std::max<std::uint64_t>(asked_, 1), std::uint64_t{instruction_.bytes});
    if (auto const period = some_period(placement.map().on_bytes, options.limits).value)
      modulus_ =
          std::max({*period, std::uint64_t{instruction_.bytes}, std::uint64_t{options_.arch->banks.bytes}});
    repeats_ = repeats_of(placement, options.arch->banks.bytes, base_.value_or(end_of_bases(step_)));
  }

  std::optional<AccessVerdict> run_exhaustively() {
    std::optional<Found> const found = by_exhaustion();
    if (!found) return std::nullopt;
    AccessVerdict out = unanswered();
    out.engines.push_back(Engine::exhaustive);
    out.domain = domain(has_limited_bases());
    answer(*found, out);
    return out;
  }

  AccessVerdict run() {
    AccessVerdict out = unanswered();
    if (!knows_bases_) {
      answer(Unknown{unknown_bases}, out);
      return out;
    }
    std::optional<Found> found = by_exhaustion();
    bool const exhausted = found.has_value();
    if (exhausted) {
      out.engines.push_back(Engine::exhaustive);
    } else {
      refuse_if_nothing();
      auto const fit = does_not_fit(out);
      if (auto const* misfit = std::get_if<Misfit>(&fit)) found = *misfit;
      if (auto const* unknown = std::get_if<Unknown>(&fit)) found = *unknown;
    }
    out.domain = domain(!exhausted || has_limited_bases());
    if (!found || std::holds_alternative<Worst>(*found)) cost_symbolically(found, out);
    answer(*found, out);
    return out;
  }

  using W = std::uint64_t;

  /// Reason why some lane of some case does not fit, by exhaustion, or else by algebra or SMT.
  [[nodiscard]] std::variant<std::monostate, Misfit, Unknown> misfit() {
    if (auto const found = by_exhaustion()) {
      if (auto const* misfit = std::get_if<Misfit>(&*found)) return *misfit;
      return std::monostate{};
    }
    AccessVerdict ignored;
    return does_not_fit(ignored);
  }

 private:
  [[nodiscard]] AccessVerdict unanswered() const {
    AccessVerdict out;
    out.access = placement_.access().name;
    out.title = placement_.access().title();
    out.ideal = ideal_wavefronts(*options_.arch, instruction_);
    out.allowed = options_.at_most.value_or(out.ideal);
    out.domain = domain(false);
    out.base_step = step_;
    out.base = base_;
    out.narrowed = !placement_.access().positions.empty();
    out.support = support_of(*options_.arch, instruction_.operation);
    return out;
  }
  [[nodiscard]] std::string domain(bool limited) const {
    std::string text;
    for (Variable const& v : placement_.variables()) {
      if (v.count == 1) continue;
      text += v.name + " = " + std::to_string(v.first);
      if (v.step != 1) text += ", " + std::to_string(v.first + v.step);
      if (v.count > 2 || v.step == 1)
        text += (v.step != 1 ? ", .., " : "..") + std::to_string(v.first + v.step * (v.count - 1));
      text += "; ";
    }
    if (base_) return text + known_base(*base_);
    if (!knows_bases_) return text + "bases that are not known";
    text += words_of_bases(step_, limited);
    if (step_ != asked_)
      text += " (of " + std::to_string(asked_) + ", and of the " + std::to_string(instruction_.bytes) +
              " bytes that " + to_string(instruction_) + " takes)";
    return text;
  }

  // ------------------------------------------------------------------ does every lane fit the tile?

  /// Fault of lane l of a case, and its description, which is empty without a fault.
  [[nodiscard]] std::pair<Fault, std::string> fault(Case const& c, unsigned l,
                                                    LanePlace<W> const& place) const {
    std::span<W const> const values(c.values);
    if (!place.active)
      return {Fault::idle, instruction_.matrices != 0 && l < instruction_.lanes()
                               ? "takes no part, but " + to_string(instruction_) + " needs its address"
                               : std::string()};
    if (!placement_.inside(values, place)) {
      std::string at;
      for (W const x : place.element->coordinate)
        at += (at.empty() ? "" : ",") + std::to_string(static_cast<std::int64_t>(x));
      bool const starts = placement_.starts_inside(place);
      std::string const what = (starts ? std::to_string(instruction_.bytes) + " bytes from (" : "(") + at +
                               (starts ? ") on, which end" : "),");
      return {Fault::outside,
              "accesses " + what + " outside the tile " + to_string(placement_.map().domain()->shape)};
    }
    W const address = placement_.address(place, c.base);
    W const first = placement_.bit_of_vector(values, place, 0, c.base);
    bool const within_byte = first % 8 != 0 && placement_.map().element_bits.value_or(8) % 8 != 0;
    if (address % instruction_.bytes != 0 || within_byte)
      return {Fault::misaligned,
              "has the address " + std::to_string(static_cast<std::int64_t>(address)) +
                  (within_byte ? " and a part of a byte" : "") + ", which is not a multiple of the " +
                  std::to_string(instruction_.bytes) + " bytes that " + to_string(instruction_) + " takes" +
                  counted_in_elements(placement_, place)};
    if (placement_.whole_vectors()) return {};
    for (unsigned bit = 0; bit < 8 * instruction_.bytes; bit += placement_.grain()) {
      W const there = placement_.bit_of_vector(values, place, bit, c.base);
      if (there == shl(address, 3) + bit) continue;
      return {Fault::split, "finds byte " + std::to_string(bit / 8) + " of its vector at " +
                                std::to_string(static_cast<std::int64_t>(asr(there, 3))) + ", not at " +
                                std::to_string(static_cast<std::int64_t>(address + bit / 8)) +
                                ": the layout splits the vector"};
    }
    return {};
  }
  /// The lane of a case that does not fit.
  [[nodiscard]] std::optional<Misfit> misfit_at(Case const& c, unsigned l, LanePlace<W> const& place) const {
    auto [kind, why] = fault(c, l, place);
    if (why.empty()) return std::nullopt;
    return Misfit{named(c), l, kind, std::move(why)};
  }
  /// True if some lane of some case does not fit, by algebra or SMT.
  [[nodiscard]] std::variant<std::monostate, Misfit, Unknown> does_not_fit(AccessVerdict& out) const {
    Question const q = question("every lane fits the tile", [this](auto const& values, auto const& base) {
      using V = std::remove_cvref_t<decltype(base)>;
      std::span<V const> const at(values);
      truth_of<V> fits = true;
      for (unsigned l = 0; l < instruction_.lanes(); ++l) {
        LanePlace<V> const place = placement_.lane(at, like(base, l));
        V const address = placement_.address(place, base);
        truth_of<V> here = placement_.inside(at, place) && address % instruction_.bytes == 0;
        if (!placement_.whole_vectors())
          for (unsigned bit = 0; bit < 8 * instruction_.bytes; bit += placement_.grain())
            here = here && placement_.bit_of_vector(at, place, bit, base) == shl(address, 3) + bit;
        else if (placement_.grain() != 8)
          here = here && placement_.bit_of_vector(at, place, 0, base) % 8 == 0;
        if (instruction_.matrices != 0) here = here && place.active;
        fits = fits && implies(place.active, here);
        if (instruction_.matrices != 0) fits = fits && place.active;
      }
      return fits;
    });
    Answer const answer = decide(q, options_.limits);
    if (auto const* unknown = answer.unknown())
      return Unknown{"cannot tell whether every lane fits the tile: " + unknown->reason};
    auto const* refuted = answer.refuted();
    if (refuted == nullptr) return std::monostate{};
    out.engines = answer.engines;
    Case const c = case_of(*refuted);
    for (unsigned l = 0; l < instruction_.lanes(); ++l)
      if (auto misfit = misfit_at(c, l, placement_.lane(std::span<W const>(c.values), W{l}))) return *misfit;
    must_agree(placement_.access().name, answer.engines.front(), "a lane does not fit the tile",
               Engine::exhaustive, "all lanes of that case fit");
    return std::monostate{};
  }
  /// Refuses an access that no lane makes, by trying some cases, then by SMT.
  void refuse_if_nothing() const {
    if (!placement_.access().active && !std::holds_alternative<ThreadValues>(placement_.access().where))
      return;
    Question const q = question("no lane takes part", [this](auto const& values, auto const& base) {
      using V = std::remove_cvref_t<decltype(base)>;
      truth_of<V> none = true;
      for (unsigned l = 0; l < instruction_.lanes(); ++l)
        none = none && !placement_.lane(std::span<V const>(values), like(base, l)).active;
      return none;
    });
    if (decide(q, options_.limits, Effort::refute).proved()) refuse_nothing(placement_);
  }

  // ------------------------------------------------------------------------------------ the engines

  [[nodiscard]] unsigned cost_of(Case const& c) const {
    return cost(*options_.arch, instruction_, placement_.warp(std::span<W const>(c.values), c.base))
        .wavefronts;
  }

  /// Multiples of the step below end_of_bases(), and those after which costs repeat. Precondition of the second: modulus_.
  [[nodiscard]] std::uint64_t number_of_bases() const { return (end_of_bases(step_) - 1) / step_ + 1; }
  [[nodiscard]] std::uint64_t bases_of_a_period() const { return *modulus_ / std::gcd(step_, *modulus_); }

  /// True if the period is larger than the bases that are looked at. Precondition: modulus_ or a known base.
  [[nodiscard]] bool has_limited_bases() const { return !base_ && bases_of_a_period() > number_of_bases(); }

  /// Every assignment to which no earlier one is alike, and every base modulo the period, or below end_of_bases() where the period
  /// is larger.
  [[nodiscard]] std::optional<Found> by_exhaustion() const {
    if (!modulus_ && !base_) return std::nullopt;
    std::uint64_t const bases = base_ ? 1 : std::min(bases_of_a_period(), number_of_bases());
    std::uint64_t const all = number_of_classes(repeats_);
    if (all > most_cases || bases > most_cases / all) return std::nullopt;
    bool const counted = placement_.assignments() <= most_counted;
    Worst worst;
    unsigned least = ~0U;
    std::optional<Misfit> misfit;
    bool accessed = false;
    std::vector<std::uint64_t> total(bases, 0);
    for_each_class(placement_, repeats_, [&](AlikeCases const& alike) {
      if (misfit) return;
      auto const values = alike.values;
      Case c{{values.begin(), values.end()}, 0};
      for (std::uint64_t b = 0; b < bases && !misfit; ++b) {
        c.base = base_.value_or(b * step_);
        WarpAccess<W> warp;
        for (unsigned l = 0; l < warp_lanes; ++l) {
          LanePlace<W> const place = placement_.lane(values, W{l});
          if (!misfit) misfit = misfit_at(c, l, place);
          warp.address[l] = placement_.address(place, c.base);
          warp.active[l] = place.active;
          accessed = accessed || place.active;
        }
        unsigned const n = cost(*options_.arch, instruction_, warp).wavefronts;
        if (counted) total[b] += n * alike.count();
        least = std::min(least, n);
        if (n > worst.wavefronts) worst = {n, c, {}, {}};
      }
    });
    if (misfit) return *misfit;
    if (!accessed) refuse_nothing(placement_);
    if (counted) worst.total = *std::max_element(total.begin(), total.end());
    worst.least = least;
    return worst;
  }

  /// The cost by algebra, else, where the cases are too many to try, by SMT.
  void cost_symbolically(std::optional<Found>& found, AccessVerdict& out) const {
    std::optional<Worst> worst;
    if (found) worst = std::get<Worst>(*found);
    if (std::optional<Worst> const linear = by_algebra()) {
      auto const says = [](Worst const& w) {
        return std::to_string(w.wavefronts) + " wavefronts, " + std::to_string(w.total.value_or(0)) +
               " in all cases";
      };
      if (worst) must_agree(out.access, Engine::exhaustive, says(*worst), Engine::linear, says(*linear));
      out.engines.insert(out.engines.begin(), Engine::linear);
      if (!worst) worst = linear;
    } else if (worst) {
      if (options_.every_engine) confirm_by_smt(*worst, out);
    } else {
      if (auto const unknown = by_smt(worst, out)) {
        found = *unknown;
        return;
      }
    }
    found = *worst;
  }

  /// The cost depends on the XOR of the lanes' addresses alone: if that is affine in few bits of the
  /// variables, their values are all the cases there are.
  [[nodiscard]] std::optional<Worst> by_algebra() const {
    // Bases that are multiples of the modulus change no XOR; others would carry into the offsets.
    if (!modulus_ || base_.value_or(step_) % *modulus_ != 0) return std::nullopt;
    std::vector<Affine> values;
    unsigned inputs = 0;
    for (Variable const& v : placement_.variables()) {
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
      for (unsigned w = 0; w < 4; ++w) used[w] |= difference[l].depends_on()[w];
    }
    std::vector<unsigned> free;
    for (unsigned i = 0; i < inputs; ++i)
      if ((used[i / 64] >> (i % 64) & 1) != 0) free.push_back(i);
    if (free.size() > most_free_bits) return std::nullopt;
    Worst worst;
    std::uint64_t sum = 0;
    unsigned least = ~0U;
    for (std::uint64_t some = 0; some < std::uint64_t{1} << free.size(); ++some) {
      std::array<std::uint64_t, 4> point{};
      for (std::size_t i = 0; i < free.size(); ++i) point[free[i] / 64] |= (some >> i & 1) << (free[i] % 64);
      for (unsigned l = 0; l < warp_lanes; ++l)
        numbers.address[l] = numbers.active[l] ? difference[l].at(point) : 0;
      unsigned const n = cost(*options_.arch, instruction_, numbers).wavefronts;
      sum += n;
      least = std::min(least, n);
      if (n > worst.wavefronts) worst = {n, case_at(point), {}, {}};
    }
    worst.least = least;
    // Each of these stands for as many cases as the other inputs have values.
    // At most 2^12 times 32 wavefronts are a sum.
    if (inputs - free.size() < 46) worst.total = sum << (inputs - free.size());
    must_agree(placement_.access().name, Engine::linear,
               "a case of " + std::to_string(worst.wavefronts) + " wavefronts", Engine::exhaustive,
               "a case of " + std::to_string(cost_of(worst.where)) + " wavefronts");
    return worst;
  }

  [[nodiscard]] Question at_most(unsigned n) const {
    return question("at most " + std::to_string(n) + " wavefronts",
                    [this, n](auto const& values, auto const& base) {
                      using V = std::remove_cvref_t<decltype(base)>;
                      auto const warp = placement_.warp(std::span<V const>(values), base);
                      return !(n < wavefronts(*options_.arch, instruction_, warp));
                    });
  }
  /// Asks the solver whether no case costs more than the worst that was found by trying them all.
  void confirm_by_smt(Worst const& worst, AccessVerdict& out) const {
    Outcome const said = decide_symbolically(std::array{at_most(worst.wavefronts)}, options_.limits);
    if (std::holds_alternative<Unknown>(said)) return;
    must_agree(out.access, Engine::exhaustive, name(Proved{}), Engine::smt, name(said));
    out.engines.insert(out.engines.begin(), Engine::smt);
  }
  /// Proves that no case costs more than `worst`, raising it as long as the solver finds one that does.
  std::optional<Unknown> by_smt(std::optional<Worst>& worst, AccessVerdict& out) const {
    Worst most = first_case();
    while (true) {
      Answer const answer = decide(at_most(most.wavefronts), options_.limits);
      if (auto const* unknown = answer.unknown()) return *unknown;
      auto const* refuted = answer.refuted();
      if (refuted == nullptr) {
        out.engines.insert(out.engines.begin(), answer.engines.begin(), answer.engines.end());
        worst = most;
        return std::nullopt;
      }
      Case const c = case_of(*refuted);
      most = {cost_of(c), c, {}, {}};
    }
  }

  // ------------------------------------------------------------------------------ cases and questions

  [[nodiscard]] Worst first_case() const {
    Case c{{}, base_.value_or(0)};
    for (Variable const& v : placement_.variables()) c.values.push_back(v.first);
    return {cost_of(c), c, {}, {}};
  }
  [[nodiscard]] Case case_at(std::array<std::uint64_t, 4> const& point) const {
    Case c{{}, base_.value_or(0)};
    unsigned at = 0;
    for (Variable const& v : placement_.variables()) {
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
    for (Variable const& v : placement_.variables())
      c.values.push_back(v.count == 1 ? v.first : refuted.values[at++].second);
    c.base = refuted.values[at].second;
    return c;
  }
  [[nodiscard]] Origin named(Case const& c) const {
    Origin origin{{}, c.base};
    for (std::size_t i = 0; i < c.values.size(); ++i)
      if (placement_.variables()[i].count > 1)
        origin.variables.emplace_back(placement_.variables()[i].name, c.values[i]);
    return origin;
  }

  /// For all values of the variables and the known base, or all bases below end_of_bases(): statement(values, base).
  template <class Statement>
  [[nodiscard]] Question question(std::string name, Statement statement) const {
    std::vector<Variable> free;
    for (Variable const& v : placement_.variables())
      if (v.count > 1) free.push_back(v);
    free.push_back(base_ ? Variable::steps("base", *base_, 1, 1)
                         : Variable::steps("base", 0, step_, number_of_bases()));
    auto const about = [this, statement]<Word V>(std::span<V const> given) {
      std::vector<V> values;
      std::size_t at = 0;
      for (Variable const& v : placement_.variables())
        values.push_back(v.count == 1 ? like(given[0], v.first) : given[at++]);
      return states(truth_of<V>(statement(values, given[at])));
    };
    return ask_of_all(placement_.access().name + ": " + std::move(name), 64, std::move(free), about);
  }

  // ------------------------------------------------------------------------------------- the answer

  void answer(Found const& found, AccessVerdict& out) const {
    if (auto const* unknown = std::get_if<Unknown>(&found))
      out.found = *unknown;
    else if (auto const* misfit = std::get_if<Misfit>(&found))
      out.found = *misfit;
    else
      out.found = cost_of(std::get<Worst>(found));
  }
  [[nodiscard]] WorstCost cost_of(Worst const& worst) const {
    Case const& c = worst.where;
    WarpAccess<W> const warp = placement_.warp(std::span<W const>(c.values), c.base);
    auto const there = cost(*options_.arch, instruction_, warp);
    WorstCost out;
    out.wavefronts = worst.wavefronts;
    out.degree.assign(there.degree.begin(), there.degree.begin() + there.phases.count);
    out.origin = named(c);
    out.collision = fullest(instruction_, warp, there);
    for (CollidingLane const& lane : out.collision.lanes)
      out.elements.push_back(element_at(placement_.lane(std::span<W const>(c.values), W{lane.lane}),
                                        static_cast<std::int64_t>(lane.address - c.base)));
    out.total = worst.total;
    out.differs = worst.least && *worst.least < worst.wavefronts;
    if (!placement_.is_everywhere()) out.coverage = coverage();
    if (stores(instruction_)) out.lost = two_of_one_address(warp);
    return out;
  }
  /// Accesses are aligned to their bytes: two that overlap have one address.
  [[nodiscard]] std::optional<std::pair<unsigned, unsigned>> two_of_one_address(
      WarpAccess<W> const& warp) const {
    std::map<W, unsigned> first;
    for (unsigned l = 0; l < instruction_.lanes(); ++l)
      if (warp.active[l])
        if (auto const [at, fresh] = first.try_emplace(warp.address[l], l); !fresh)
          return std::pair{at->second, l};
    return std::nullopt;
  }
  /// `relative`: the lane's address, relative to the base.
  [[nodiscard]] ElementAtFault element_at(LanePlace<W> const& place, std::int64_t relative) const {
    if (!place.element) return {{}, static_cast<std::int64_t>(place.byte), relative};
    return {place.element->coordinate, static_cast<std::int64_t>(place.element->offset),
            relative * 8 / static_cast<int>(*placement_.map().element_bits)};
  }

  /// The places of the tile that some lane of some case reaches: places before any swizzle, in grains.
  [[nodiscard]] std::optional<Coverage> coverage() const {
    Layout const* const tile = placement_.map().domain();
    if (tile == nullptr || placement_.assignments() > most_cases || tile->size() > most_enumerated)
      return std::nullopt;
    unsigned const vector_bits = 8 * instruction_.bytes;
    unsigned const run = placement_.whole_vectors() ? vector_bits : placement_.grain();  // side by side
    std::vector<std::uint64_t> starts;                                                   // of runs, in bits
    std::size_t enough = 2 * most_cases;  // to drop those that are there twice
    for_each_class(placement_, repeats_, [&](AlikeCases const& alike) {
      std::vector<std::uint64_t> const further = alike.distances();
      for (unsigned l = 0; l < instruction_.lanes(); ++l) {
        LanePlace<W> const place = placement_.lane(alike.values, W{l});
        for (unsigned bit = 0; place.active && bit < vector_bits; bit += run) {
          std::uint64_t const first = placement_.place_of_vector(alike.values, place, bit);
          std::size_t const known = starts.size();
          starts.resize(known + further.size());
          for (std::size_t i = 0; i < further.size(); ++i) starts[known + i] = first + further[i];
          if (starts.size() < enough) continue;
          starts = distinct(std::move(starts));
          enough = 2 * (most_cases + starts.size());
        }
      }
    });
    starts = distinct(std::move(starts));
    std::uint64_t reached = 0;
    for (std::size_t i = 0; i < starts.size(); ++i)
      reached += i + 1 < starts.size() ? std::min<std::uint64_t>(run, starts[i + 1] - starts[i]) : run;
    std::uint64_t const of = distinct(tile->offsets()).size() * *placement_.map().element_bits;
    return Coverage{(reached + 7) / 8, (of + 7) / 8};
  }

  Placement const& placement_;
  CheckOptions const& options_;
  Instruction instruction_;
  bool knows_bases_ = true;
  std::optional<std::uint64_t> base_{};     // the only base, if the pointer has an address
  std::uint64_t asked_ = 1;                 // alignment of the bases in question
  std::uint64_t step_ = 1;                  // least common multiple of it and the instruction's bytes
  std::optional<std::uint64_t> modulus_{};  // adding it to the base changes no cost
  std::vector<Repeat> repeats_{};           // of the variables: cases that are one
};

}  // namespace

std::optional<std::uint64_t> base_alignment(Map const& map, Instruction instruction, Limits const& limits) {
  std::optional<std::uint64_t> const own = own_alignment(map, limits);
  if (!own) return std::nullopt;
  return std::lcm(std::lcm(*own, array_alignment), std::uint64_t{instruction.bytes});
}

Outcome AccessVerdict::outcome() const {
  auto const refuted = [](std::string what, Origin const& origin) {
    Refuted out{std::move(what), origin.variables, false};
    out.values.emplace_back("base", origin.base);
    return out;
  };
  if (auto const* unknown = std::get_if<Unknown>(&found)) return *unknown;
  if (auto const* misfit = std::get_if<Misfit>(&found))
    return refuted("lane " + std::to_string(misfit->lane) + " " + misfit->why, misfit->origin);
  if (auto const* lost = std::get_if<LostStore>(&found))
    return Refuted{"elements of this view share a place, and a store through it can lose one", lost->values,
                   true};
  if (cost()->wavefronts <= allowed) return Proved{};
  return refuted(access, cost()->origin);
}

AccessVerdict check(Placement const& placement, CheckOptions const& options) {
  AccessVerdict out = Checker(placement, options).run();
  // Positions that are multiples of the footprint alone, if others differ from them.
  WorstCost const* const cost = out.cost();
  bool const ask = cost != nullptr ? cost->wavefronts > out.ideal : std::holds_alternative<Misfit>(out.found);
  std::string clause = ask ? placement.footprint_clause() : std::string();
  if (clause.empty()) return out;
  Placement const there = placement.at_footprints();
  AccessVerdict const verdict = Checker(there, options).run();
  WorstCost const* const less = verdict.cost();
  if (less != nullptr && (cost == nullptr || cost->differs || less->wavefronts < cost->wavefronts))
    out.at_footprints = {std::move(clause), less->wavefronts};
  return out;
}

std::optional<AccessVerdict> check_exhaustively(Placement const& placement, CheckOptions const& options) {
  return Checker(placement, options).run_exhaustively();
}

std::variant<std::monostate, Misfit, Unknown> misfit_of(Placement const& placement,
                                                        CheckOptions const& options) {
  return Checker(placement, options).misfit();
}

namespace {

/// The shape with one index along every stride of 0.
IntTuple once(IntTuple shape, IntTuple const& stride) {
  for (std::size_t m = 0; m < shape.modes.size(); ++m) shape.modes[m] = once(shape.modes[m], stride.modes[m]);
  if (!shape.is_tuple && stride.value == 0) shape.value = 1;
  return shape;
}

/// True if the map keeps all elements apart but for those along strides of 0.
bool is_broadcast(Map map, Limits const& limits) {
  if (map.domain() == nullptr) return false;
  Layout& tile = std::get<Layout>(map.on_elements.back());
  tile.shape = once(tile.shape, tile.stride);
  return std::holds_alternative<Proved>(is_one_to_one(map, limits).outcome);
}

/// A store to a view whose elements share places.
AccessVerdict lossy_store(Placement const& placement, CheckOptions const& options, Refuted const& shared) {
  AccessVerdict out;
  out.access = placement.access().name;
  out.title = placement.access().title();
  out.ideal = ideal_wavefronts(*options.arch, placement.instruction());
  out.allowed = options.at_most.value_or(out.ideal);
  out.support = support_of(*options.arch, placement.instruction().operation);
  out.engines = {Engine::exhaustive};
  out.found = LostStore{shared.values};
  return out;
}

}  // namespace

TileVerdict check(Map const& map, std::span<Placement const> placements, CheckOptions const& options) {
  for (Placement const& placement : placements)
    require(*options.arch, placement.instruction(), placement.access().name);
  TileVerdict out;
  out.one_to_one = is_one_to_one(map, options.limits);
  auto const* const shared = std::get_if<Refuted>(&out.one_to_one.outcome);
  out.broadcast = shared != nullptr && is_broadcast(map, options.limits);
  if (shared != nullptr && !out.broadcast) {
    out.outcome = out.one_to_one.outcome;
    return out;
  }
  std::vector<Outcome> outcomes;
  if (!out.broadcast) outcomes.push_back(out.one_to_one.outcome);
  for (Placement const& placement : placements) {
    bool const lossy = out.broadcast && stores(placement.instruction());
    out.accesses.push_back(lossy ? lossy_store(placement, options, *shared) : check(placement, options));
    outcomes.push_back(out.accesses.back().outcome());
  }
  out.outcome = conjunction(outcomes);
  return out;
}

}  // namespace swizproof
