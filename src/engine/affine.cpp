#include <swizproof/core/gf2.hpp>
#include <swizproof/engine/affine.hpp>

#include <algorithm>
#include <utility>

namespace swizproof {

namespace {

/// Equations "form = 0" that hold together.
class Equations {
 public:
  /// 0 iff "form = 0" follows.
  [[nodiscard]] AffineForm reduce(AffineForm const& form) const { return echelon_.reduce(form); }
  /// Adds "form = 0"; false if that contradicts the others.
  [[nodiscard]] bool add(AffineForm const& form) {
    AffineForm const rest = reduce(form);
    if (!rest.has_inputs()) return !rest.constant;
    echelon_.add(rest);
    return true;
  }
  /// A solution: every free input 0.
  [[nodiscard]] std::array<std::uint64_t, 4> solution() const {
    std::array<std::uint64_t, 4> inputs{};
    for (AffineForm const& row : echelon_.rows())
      if (row.constant) inputs[row.leading() / 64] |= std::uint64_t{1} << (row.leading() % 64);
    return inputs;
  }

 private:
  Echelon<AffineForm> echelon_;
};

}  // namespace

std::optional<bool> AffineTruth::constant() const {
  if (opaque) return std::nullopt;
  bool open = false;
  for (AffineForm const& form : zero) {
    if (!form.has_inputs() && form.constant) return false;
    open |= form.has_inputs();
  }
  return open ? std::nullopt : std::optional(true);
}

AffineTruth operator&&(AffineTruth a, AffineTruth const& b) {
  if (a.constant() == false || b.constant() == false) return false;
  if (a.opaque || b.opaque) return AffineTruth::unknown();
  a.zero.insert(a.zero.end(), b.zero.begin(), b.zero.end());
  return a;
}

AffineTruth operator||(AffineTruth const& a, AffineTruth const& b) {
  if (a.constant() == true || b.constant() == true) return true;
  if (a.constant() == false) return b;
  if (b.constant() == false) return a;
  return AffineTruth::unknown();
}

AffineTruth operator!(AffineTruth const& a) {
  if (auto const value = a.constant()) return !*value;
  if (!a.opaque && a.zero.size() == 1) {  // not (form = 0) is (form + 1 = 0)
    AffineTruth negated = a;
    negated.zero[0].constant ^= true;
    return negated;
  }
  return AffineTruth::unknown();
}

Affine::Affine(unsigned width, std::uint64_t value) : width_(width), bits_(width) {
  for (unsigned i = 0; i < width; ++i) bits_[i].constant = (value >> i & 1) != 0;
}

Affine Affine::inputs(unsigned width, unsigned first, unsigned count) {
  Affine x(width, 0);
  for (unsigned i = 0; i < count && i < width; ++i)
    x.bits_[i].inputs[(first + i) / 64] |= std::uint64_t{1} << ((first + i) % 64);
  return x;
}

std::uint64_t Affine::at(std::array<std::uint64_t, 4> const& inputs) const {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width_; ++i) {
    std::uint64_t bit = bits_[i].constant ? 1 : 0;
    for (std::size_t w = 0; w < inputs.size(); ++w)
      bit ^= static_cast<std::uint64_t>(std::popcount(bits_[i].inputs[w] & inputs[w]));
    value |= (bit & 1) << i;
  }
  return value;
}

std::optional<std::uint64_t> Affine::constant() const {
  if (opaque_) return std::nullopt;
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width_; ++i) {
    if (bits_[i].has_inputs()) return std::nullopt;
    value |= std::uint64_t{bits_[i].constant} << i;
  }
  return value;
}

Affine Affine::unknown(unsigned width) {
  Affine x(0, 0);
  x.width_ = width;
  x.opaque_ = true;
  return x;
}

Affine operator^(Affine a, Affine const& b) {
  if (a.opaque_ || b.opaque_) return a.opaque();
  for (unsigned i = 0; i < a.width_; ++i) a.bits_[i] ^= b.bits_[i];
  return a;
}

Affine operator&(Affine const& a, Affine const& b) {
  if (a.opaque_ || b.opaque_) return a.opaque();
  Affine x(a.width_, 0);
  for (unsigned i = 0; i < a.width_; ++i) {
    AffineForm const &p = a.bits_[i], &q = b.bits_[i];
    if (p.is_zero() || q.is_zero()) continue;
    if (!q.has_inputs() || p == q)
      x.bits_[i] = p;
    else if (!p.has_inputs())
      x.bits_[i] = q;
    else
      return a.opaque();
  }
  return x;
}

Affine operator|(Affine const& a, Affine const& b) { return a ^ b ^ (a & b); }

Affine operator+(Affine const& a, Affine const& b) {
  auto const p = a.constant(), q = b.constant();
  if (p && q) return {a.width_, *p + *q};
  if (a.opaque_ || b.opaque_) return a.opaque();
  for (unsigned i = 0; i + 1 < a.width_; ++i)  // a carry out of the top bit is lost anyway
    if (!a.bits_[i].is_zero() && !b.bits_[i].is_zero()) return a.opaque();
  return a ^ b;
}

Affine operator-(Affine const& a, Affine const& b) {
  auto const p = a.constant(), q = b.constant();
  if (p && q) return {a.width_, *p - *q};
  if (q == 0) return a;
  return a.opaque();
}

Affine operator*(Affine const& a, Affine const& b) {
  auto const p = a.constant(), q = b.constant();
  if (p && q) return {a.width_, *p * *q};
  if (!p && !q) return a.opaque();
  Affine const& x = p ? b : a;
  std::uint64_t const factor = p ? *p : *q;
  Affine sum(a.width_, 0);
  for (unsigned i = 0; i < a.width_; ++i)
    if ((factor >> i & 1) != 0) sum = sum + shl(x, i);
  return sum;
}

Affine operator/(Affine const& a, Affine const& b) {
  auto const p = a.constant(), q = b.constant();
  if (p && q && *q != 0) return {a.width_, *p / *q};
  if (q && std::has_single_bit(*q)) return shr(a, static_cast<unsigned>(std::countr_zero(*q)));
  return a.opaque();
}

Affine operator%(Affine const& a, Affine const& b) {
  auto const p = a.constant(), q = b.constant();
  if (p && q && *q != 0) return {a.width_, *p % *q};
  if (q && std::has_single_bit(*q)) return a & like(a, *q - 1);
  return a.opaque();
}

Affine shl(Affine const& a, std::uint64_t n) {
  if (a.opaque_) return a;
  Affine x(a.width_, 0);
  for (unsigned i = 0; i < a.width_ && n < a.width_ - i; ++i) x.bits_[i + n] = a.bits_[i];
  return x;
}

Affine shr(Affine const& a, std::uint64_t n) {
  if (a.opaque_) return a;
  Affine x(a.width_, 0);
  for (unsigned i = 0; i < a.width_ && n < a.width_ - i; ++i) x.bits_[i] = a.bits_[i + n];
  return x;
}

Affine shl(Affine const& a, Affine const& n) {
  auto const count = n.constant();
  return count ? shl(a, *count) : a.opaque();
}

Affine shr(Affine const& a, Affine const& n) {
  auto const count = n.constant();
  return count ? shr(a, *count) : a.opaque();
}

Affine select(AffineTruth const& condition, Affine const& yes, Affine const& no) {
  auto const value = condition.constant();
  return value ? (*value ? yes : no) : yes.opaque();
}

AffineTruth operator==(Affine const& a, Affine const& b) {
  if (a.opaque_ || b.opaque_) return AffineTruth::unknown();
  AffineTruth truth;
  for (unsigned i = 0; i < a.width_; ++i) {
    AffineForm form = a.bits_[i];
    form ^= b.bits_[i];
    if (!form.is_zero()) truth.zero.push_back(form);
  }
  return truth;
}

AffineTruth operator<(Affine const& a, Affine const& b) {
  auto const p = a.constant(), q = b.constant();
  return p && q ? AffineTruth(*p < *q) : AffineTruth::unknown();
}

Affine tally(Affine const&, AffineTruth const& truth) {
  auto const value = truth.constant();
  return value ? Affine(8, *value) : Affine::unknown(8);
}

std::optional<AffineDecision> decide(AffineTruth const& hypothesis, AffineTruth const& conclusion) {
  if (hypothesis.constant() == false || conclusion.constant() == true) return AffineDecision{true, {}};
  if (hypothesis.opaque || conclusion.opaque) return std::nullopt;
  Equations equations;
  for (AffineForm const& form : hypothesis.zero)
    if (!equations.add(form)) return AffineDecision{true, {}};
  for (AffineForm const& form : conclusion.zero) {
    AffineForm violated = form;
    violated.constant ^= true;
    if (equations.reduce(form).is_zero()) continue;
    Equations counterexample = equations;
    if (counterexample.add(violated)) return AffineDecision{false, counterexample.solution()};
  }
  return AffineDecision{true, {}};
}

}  // namespace swizproof
