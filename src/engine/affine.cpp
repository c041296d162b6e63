#include <swizproof/core/gf2.hpp>
#include <swizproof/engine/affine.hpp>

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

template <class F>
Affine Affine::mapped(F const& f) const {
  Affine x(width_, f(constant_));
  x.columns_.reserve(columns_.size());
  for (Column const& c : columns_)
    if (std::uint64_t const bits = f(c.bits) & mask(); bits != 0) x.columns_.push_back({c.input, bits});
  return x;
}

std::uint64_t Affine::varying() const {
  std::uint64_t bits = 0;
  for (Column const& c : columns_) bits |= c.bits;
  return bits;
}

Affine Affine::inputs(unsigned width, unsigned first, unsigned count) {
  Affine x(width, 0);
  for (unsigned i = 0; i < count && i < width; ++i) x.columns_.push_back({first + i, std::uint64_t{1} << i});
  return x;
}

AffineForm Affine::bit(unsigned i) const {
  AffineForm form{{}, (constant_ >> i & 1) != 0};
  for (Column const& c : columns_) form.inputs[c.input / 64] |= (c.bits >> i & 1) << (c.input % 64);
  return form;
}

std::array<std::uint64_t, 4> Affine::depends_on() const {
  std::array<std::uint64_t, 4> inputs{};
  for (Column const& c : columns_) inputs[c.input / 64] |= std::uint64_t{1} << (c.input % 64);
  return inputs;
}

std::uint64_t Affine::at(std::array<std::uint64_t, 4> const& inputs) const {
  std::uint64_t value = constant_;
  for (Column const& c : columns_)
    if ((inputs[c.input / 64] >> (c.input % 64) & 1) != 0) value ^= c.bits;
  return value;
}

Affine Affine::unknown(unsigned width) {
  Affine x(width, 0);
  x.opaque_ = true;
  return x;
}

Affine operator^(Affine a, Affine const& b) {
  if (a.opaque_ || b.opaque_) return a.opaque();
  a.constant_ ^= b.constant_;
  if (b.columns_.empty()) return a;
  std::vector<Affine::Column> const old = std::exchange(a.columns_, {});
  a.columns_.reserve(old.size() + b.columns_.size());
  auto p = old.begin();
  auto q = b.columns_.begin();
  while (p != old.end() || q != b.columns_.end()) {
    if (q == b.columns_.end() || (p != old.end() && p->input < q->input)) {
      a.columns_.push_back(*p++);
    } else if (p == old.end() || q->input < p->input) {
      a.columns_.push_back(*q++);
    } else {
      if (p->bits != q->bits) a.columns_.push_back({p->input, p->bits ^ q->bits});
      ++p, ++q;
    }
  }
  return a;
}

// Exact where one of the two bits is constant, or both are the same form.
Affine operator&(Affine const& a, Affine const& b) {
  if (a.opaque_ || b.opaque_) return a.opaque();
  std::uint64_t const p = a.varying(), q = b.varying(), both = p & q;
  auto const kept = [](Affine const& x, std::uint64_t bits) {
    return x.mapped([bits](std::uint64_t column) { return column & bits; });
  };
  if (both != 0) {
    Affine const x = kept(a, both), y = kept(b, both);
    if (x.constant_ != y.constant_ || x.columns_ != y.columns_) return a.opaque();
  }
  return kept(a, (b.constant_ & ~q) | both) ^ kept(b, a.constant_ & ~p & q);
}

Affine operator|(Affine const& a, Affine const& b) { return a ^ b ^ (a & b); }

Affine operator+(Affine const& a, Affine const& b) {
  auto const p = a.constant(), q = b.constant();
  if (p && q) return {a.width_, *p + *q};
  if (a.opaque_ || b.opaque_) return a.opaque();
  std::uint64_t const both = (a.constant_ | a.varying()) & (b.constant_ | b.varying());
  if ((both & a.mask() >> 1) != 0) return a.opaque();  // a carry out of the top bit is lost anyway
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
  return a.mapped([n](std::uint64_t bits) { return shl(bits, n); });
}

Affine shr(Affine const& a, std::uint64_t n) {
  if (a.opaque_) return a;
  return a.mapped([n](std::uint64_t bits) { return shr(bits, n); });
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
  Affine const differ = a ^ b;
  for (std::uint64_t bits = differ.constant_ | differ.varying(); bits != 0; bits &= bits - 1)
    truth.zero.push_back(differ.bit(static_cast<unsigned>(std::countr_zero(bits))));
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
