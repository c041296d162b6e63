#include <swizproof/layout/composed.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/engine/decide.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace swizproof {

namespace {

constexpr std::uint64_t most_compared = std::uint64_t{1} << 22;

/// The two maps, ready to be compared: what index or number, in which unit.
class Comparison {
 public:
  Comparison(Map left, Map right, std::optional<std::uint64_t> align, Limits const& limits)
      : left_(std::move(left)), right_(std::move(right)), limits_(limits) {
    bits_ = left_.element_bits ? left_.element_bits : right_.element_bits;
    if (left_.element_bits && right_.element_bits && left_.element_bits != right_.element_bits)
      refuse("the elements have different sizes: " + std::to_string(*left_.element_bits) + " and " +
             std::to_string(*right_.element_bits) + " bits");
    left_.element_bits = right_.element_bits = bits_;
    bool const shaped_left = left_.domain() != nullptr, shaped_right = right_.domain() != nullptr;
    refuse_other_bases(left_, align);
    refuse_other_bases(right_, align);
    bases_ = {left_.base_address ? left_.base_address : right_.base_address,
              right_.base_address ? right_.base_address : left_.base_address};
    by_bytes_ = left_.acts_on_bytes() || right_.acts_on_bytes() || bases_[0] != bases_[1];
    if (shaped_left != shaped_right) {
      (shaped_left ? right_ : left_) =
          in_place_of_swizzle(shaped_left ? left_ : right_, shaped_left ? right_ : left_);
      out_.domain = "the function after " + to_string(bare_) + ", in place of its swizzle: ";
    }
    bool const mixed = left_.acts_on_bytes() != right_.acts_on_bytes();
    if ((mixed || (by_bytes_ && (shaped_left || shaped_right))) && !bits_)
      refuse("one acts on bytes, the other on elements of unknown size", element_hint);
    if (shaped_left || shaped_right) {
      size_ = static_cast<std::uint64_t>(left_.domain()->size());
      out_.domain += "indices 0.." + std::to_string(size_ - 1);
      if (by_bytes_ && bases_[0]) {
        out_.domain += ", " + known_base(*bases_[0]);
        if (bases_[0] != bases_[1]) out_.domain += " and " + known_base(*bases_[1]);
      } else if (by_bytes_) {
        std::optional<std::uint64_t> const step = align ? align : own_step();
        knows_bases_ = step.has_value();
        step_ = step.value_or(1);
      }
      out_.unit = !by_bytes_ ? "elements" : *bits_ % 8 == 0 ? "bytes" : "bits";
    } else {
      out_.domain = mixed ? "all 32-bit element offsets" : "all 64-bit numbers";
      out_.unit = by_bytes_ ? "bytes" : "elements";
      if (align) refuse("--align is for tiles: these functions are compared on all numbers");
      if (mixed && *bits_ % 8 != 0) out_.unit = "bits";
    }
    probes_ = probes(left_);
    if (std::vector<unsigned> const other = probes(right_); other.size() > probes_.size()) probes_ = other;
  }

  Equality run() {
    answer();
    if (shaped() && by_bytes_ && !bases_[0])
      out_.domain += ", " + (knows_bases_ ? words_of_bases(step_, out_.limited) : "bases that are not known");
    return std::move(out_);
  }

 private:
  void answer() {
    if (left_.domain() != nullptr && left_.domain()->size() != right_.domain()->size()) {
      auto const a = left_.domain()->size(), b = right_.domain()->size();
      out_.outcome = Refuted{"the sizes differ: " + std::to_string(a) + " and " + std::to_string(b), {}};
      out_.engines = {Engine::exhaustive};
      return;
    }
    if (!knows_bases_) {
      out_.outcome = Unknown{unknown_bases};
      return;
    }
    Question const q = question();
    std::optional<Difference> found;
    if (exhaust(found)) {
      out_.outcome = found ? Outcome(Refuted{"the two differ", {}}) : Outcome(Proved{});
      if (auto const other = confirm(q, Engine::exhaustive, out_.outcome)) out_.engines.push_back(*other);
      out_.engines.push_back(Engine::exhaustive);
    } else {
      out_.limited = shaped() && by_bytes_ && !bases_[0];
      Answer answer = decide(q, limits_);
      if (Refuted const* const refuted = answer.refuted()) found = difference_at(*refuted);
      out_.outcome = std::move(answer.outcome);
      out_.engines = std::move(answer.engines);
    }
    if (found) found->coordinate = coordinate_of(found->input);
    out_.difference = found;
  }
  /// The coordinate of an index in the shape that both have; empty where they share none.
  [[nodiscard]] std::vector<std::uint64_t> coordinate_of(std::uint64_t index) const {
    Layout const *const left = left_.domain(), *const right = right_.domain();
    if (left == nullptr || right == nullptr || left->rank() < 2 || left->rank() != right->rank() ||
        index >= static_cast<std::uint64_t>(left->size()))
      return {};
    std::vector<std::uint64_t> coordinate;
    for (std::size_t mode = 0; mode < left->rank(); ++mode) {
      auto const extent = static_cast<std::uint64_t>(left->shape.mode(mode).product());
      if (right->shape.mode(mode).product() != left->shape.mode(mode).product()) return {};
      coordinate.push_back(index % extent);
      index /= extent;
    }
    return coordinate;
  }

  [[noreturn]] void refuse(std::string message, std::string hint = {}) const {
    throw InputError{std::move(message), to_string(left_) + "  and  " + to_string(right_), 0, 1,
                     std::move(hint)};
  }
  /// Default alignment of both; nothing if it is not known.
  [[nodiscard]] std::optional<std::uint64_t> own_step() const {
    auto const left = own_alignment(left_, limits_), right = own_alignment(right_, limits_);
    if (!left || !right) return {};
    return std::lcm(array_alignment, std::lcm(*left, *right));
  }
  /// The shaped map with `function` instead of its own swizzle.
  [[nodiscard]] Map in_place_of_swizzle(Map const& shaped, Map const& function) {
    bare_ = without_swizzle(shaped);
    auto const moves = [](Stage const& stage) {
      return !std::holds_alternative<Layout>(stage) && !std::holds_alternative<Displacement>(stage);
    };
    if (shaped.on_bytes.size() > 1 || std::any_of(bare_.on_elements.begin(), bare_.on_elements.end(), moves))
      refuse("the tile has more than one swizzle: it is not clear which one the function stands for");
    Map map = function;
    map.on_elements.insert(map.on_elements.end(), bare_.on_elements.begin(), bare_.on_elements.end());
    map.element_bits = bits_;
    map.base_address = shaped.base_address;
    return map;
  }
  [[nodiscard]] bool shaped() const { return size_ != 0; }
  /// The base of one of the two: its pointer's, else the other's, else `base`.
  template <Word W>
  [[nodiscard]] W from(std::size_t side, W const& base) const {
    return bases_[side] ? like(base, *bases_[side]) : base;
  }

  /// True if the functions are compared as numbers of their own unit, not as addresses of elements.
  [[nodiscard]] bool as_numbers() const {
    return shaped() ? !by_bytes_ : left_.acts_on_bytes() == right_.acts_on_bytes();
  }
  /// The image of an input in out_.unit: of bit `bit` of the element, where addresses of elements are compared.
  template <Word W>
  [[nodiscard]] W value(Map const& map, W const& x, W const& base, unsigned bit) const {
    if (as_numbers()) return by_bytes_ ? swizproof::value(map.on_bytes, x) : offset(map, x).elements;
    if (*bits_ % 8 != 0) return bit_address(map, Address<W>{base}, x, bit);
    W const first = base + offset(map, x).elements * (*bits_ / 8);
    return swizproof::value(map.on_bytes, W(first + bit / 8));
  }

  [[nodiscard]] Question question() const {
    bool const mixed = left_.acts_on_bytes() != right_.acts_on_bytes();
    std::vector<Variable> variables;
    if (shaped())
      variables.push_back(Variable::steps("input", 0, 1, size_));
    else
      variables.push_back({"input", mixed ? 32U : 64U});
    if (shaped() && by_bytes_ && !bases_[0])
      variables.push_back(Variable::steps("base", 0, step_, number_of_bases()));
    return ask_of_all(to_string(left_) + " = " + to_string(right_), 64, variables,
                      [this]<Word W>(std::span<W const> values) {
                        W const base = values.size() > 1 ? values[1] : like(values[0], 0);
                        truth_of<W> agree = true;
                        for (unsigned const bit : probes_)
                          agree = agree && value(left_, values[0], from(0, base), bit) ==
                                               value(right_, values[0], from(1, base), bit);
                        return states(agree);
                      });
  }

  /// Multiples of the step below end_of_bases().
  [[nodiscard]] std::uint64_t number_of_bases() const { return (end_of_bases(step_) - 1) / step_ + 1; }

  /// True if all indices and bases modulo both periods were compared, which are all bases, or those below end_of_bases() where
  /// the period is larger; `found` is the first difference.
  bool exhaust(std::optional<Difference>& found) {
    if (!shaped()) return false;
    std::uint64_t bases = 1;
    if (by_bytes_ && !bases_[0]) {
      auto const a = some_period(left_.on_bytes, limits_).value,
                 b = some_period(right_.on_bytes, limits_).value;
      if (!a || !b) return false;
      std::uint64_t const period = std::max(*a, *b);  // powers of two
      bases = std::min(period / std::gcd(step_, period), number_of_bases());
      out_.limited = bases < period / std::gcd(step_, period);
    }
    if (size_ > most_compared || bases > most_compared / size_ / probes_.size()) return false;
    for (std::uint64_t x = 0; x < size_; ++x)
      for (std::uint64_t b = 0; b < bases; ++b) {
        found = difference(x, b * step_);
        if (found) return true;
      }
    return true;
  }

  /// Difference of the two at an input; nothing if they agree.
  [[nodiscard]] std::optional<Difference> difference(std::uint64_t x, std::uint64_t base) const {
    for (unsigned const bit : probes_) {
      std::uint64_t const l = value(left_, x, from(0, base), bit), r = value(right_, x, from(1, base), bit);
      if (l != r)
        return Difference{x, from(0, base), static_cast<std::int64_t>(l), static_cast<std::int64_t>(r), bit};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Difference> difference_at(Refuted const& refuted) const {
    return difference(refuted.values[0].second, refuted.values.size() > 1 ? refuted.values[1].second : 0);
  }

  Map left_, right_;
  Map bare_{};  // of a tile whose swizzle a function stands for
  Limits limits_;
  std::vector<unsigned> probes_{};  // bits of an element that are compared
  std::optional<unsigned> bits_{};
  bool by_bytes_ = false;
  std::array<std::optional<std::uint64_t>, 2> bases_{};  // where a pointer has an address
  std::uint64_t size_ = 0;                               // 0 without a shape
  bool knows_bases_ = true;
  std::uint64_t step_ = 1;  // bases are its multiples
  Equality out_;
};

}  // namespace

std::string place_of(Difference const& difference) {
  if (difference.coordinate.empty()) return std::to_string(difference.input);
  std::string text;
  for (std::uint64_t const c : difference.coordinate) text += (text.empty() ? "(" : ",") + std::to_string(c);
  return text + ")";
}

Equality compare(Map const& left, Map const& right, std::optional<std::uint64_t> align,
                 Limits const& limits) {
  return Comparison(left, right, align, limits).run();
}

}  // namespace swizproof
