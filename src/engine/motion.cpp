#include <swizproof/engine/motion.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace swizproof {

namespace {

using Signed = std::int64_t;
using Unsigned = std::uint64_t;

constexpr Signed lowest = std::numeric_limits<Signed>::min();
constexpr Signed highest = std::numeric_limits<Signed>::max();

/// floor(x / divisor). Precondition: divisor > 0.
Signed floor_of(Signed x, Signed divisor) { return x / divisor - (x % divisor < 0 ? 1 : 0); }

/// The sum of two steps; nothing if one is not known.
template <class F>
std::optional<Unsigned> both(std::optional<Unsigned> a, std::optional<Unsigned> b, F const& f) {
  return a && b ? std::optional(f(*a, *b)) : std::nullopt;
}

}  // namespace

Motion Motion::between(Signed least, Signed most, Unsigned step, unsigned zeros) {
  Motion m;
  m.least_ = least, m.most_ = most, m.step_ = step, m.zeros_ = zeros;
  return m;
}

Motion Motion::any(std::optional<Unsigned> step) {
  Motion m = between(lowest, highest);
  m.step_ = step;
  return m;
}

Motion Motion::of_steady(Motion const& a, Motion const& b) {
  return any(a.is_steady() && b.is_steady() ? std::optional<Unsigned>(0) : std::nullopt);
}

// Values of steps k and k + 1 differ by the step modulo 2^64, and by less than 2^63 if that is the range: so by the
// step as a number of two's complement.
std::optional<Signed> Motion::integer_step() const {
  bool const near = static_cast<Unsigned>(most_) - static_cast<Unsigned>(least_) <= Unsigned{highest};
  return step_ && near ? std::optional(static_cast<Signed>(*step_)) : std::nullopt;
}

bool Motion::lies_below_steps_of(Motion const& moving) const {
  if (!is_steady() || !is_natural() || !moving.step_) return false;
  return static_cast<int>(std::bit_width(static_cast<Unsigned>(most_))) <= std::countr_zero(*moving.step_);
}

// With a step s, as an integer, that is a multiple of the divisor: floor((x + k s) / d) = floor(x / d) + k (s / d).
Motion Motion::quotient(Signed divisor) const {
  Motion out = between(floor_of(least_, divisor), floor_of(most_, divisor));
  auto const width = static_cast<Unsigned>(divisor);
  if (std::has_single_bit(width)) out.zeros_ = zeros_ - std::min<unsigned>(zeros_, std::countr_zero(width));
  auto const step = integer_step();
  out.step_ = step && *step % divisor == 0 ? std::optional(static_cast<Unsigned>(*step / divisor))
              : is_steady()                ? std::optional<Unsigned>(0)
                                           : std::nullopt;
  return out;
}

Motion Motion::of_bits(Motion const& a, Motion const& b, std::optional<Unsigned> step) {
  Motion out = any(step);
  out.zeros_ = std::min(a.zeros_, b.zeros_);
  if (!a.is_natural() || !b.is_natural()) return out;
  Unsigned const most = static_cast<Unsigned>(std::max(a.most_, b.most_));
  out.least_ = 0, out.most_ = static_cast<Signed>((Unsigned{1} << std::bit_width(most)) - 1);
  return out;
}

// Claim moves/low bits. (x + k s) ^ y = (x ^ y) + k s where y has only bits below those of s: no step changes these bits of x.
Motion operator^(Motion const& a, Motion const& b) {
  if (a.constant() && b.constant()) return Motion::number(*a.constant() ^ *b.constant());
  if (b.lies_below_steps_of(a)) return Motion::of_bits(a, b, a.step_);
  if (a.lies_below_steps_of(b)) return Motion::of_bits(a, b, b.step_);
  return Motion::of_bits(a, b, Motion::of_steady(a, b).step_);
}

// The same bits alone survive: (x + k s) & y = x & y. Or all others: (x + k s) & ~y = (x & ~y) + k s.
Motion operator&(Motion const& a, Motion const& b) {
  if (a.constant() && b.constant()) return Motion::number(*a.constant() & *b.constant());
  Motion out = Motion::of_bits(a, b, Motion::of_steady(a, b).step_);
  out.zeros_ = std::max(a.zeros_, b.zeros_);
  auto const narrow = [&out](Motion const& mask, Motion const& other) {
    if (!mask.is_natural()) return;
    out.least_ = 0, out.most_ = std::min(out.most_, mask.most_);
    if (static_cast<unsigned>(std::bit_width(static_cast<Unsigned>(mask.most_))) <= other.zeros_)
      out = Motion();
  };
  narrow(a, b), narrow(b, a);
  if (out.constant()) return out;
  auto const inverted = [](Motion const& mask) { return Motion::number(~*mask.constant()); };
  if (a.lies_below_steps_of(b) || b.lies_below_steps_of(a))
    out.step_ = 0;
  else if (a.constant() && inverted(a).lies_below_steps_of(b))
    out.step_ = b.step_;
  else if (b.constant() && inverted(b).lies_below_steps_of(a))
    out.step_ = a.step_;
  return out;
}

Motion operator|(Motion const& a, Motion const& b) {
  if (a.constant() && b.constant()) return Motion::number(*a.constant() | *b.constant());
  return a ^ b;  // of their steps and bits the same is true
}

Motion operator+(Motion const& a, Motion const& b) {
  Motion out = Motion::any(both(a.step_, b.step_, [](Unsigned s, Unsigned t) { return s + t; }));
  if (a.constant() && b.constant()) return Motion::number(*a.constant() + *b.constant());
  out.zeros_ = std::min(a.zeros_, b.zeros_);
  Signed least = 0, most = 0;
  if (__builtin_add_overflow(a.least_, b.least_, &least) || __builtin_add_overflow(a.most_, b.most_, &most))
    return out;
  out.least_ = least, out.most_ = most;
  return out;
}

Motion operator-(Motion const& a, Motion const& b) {
  Motion out = Motion::any(both(a.step_, b.step_, [](Unsigned s, Unsigned t) { return s - t; }));
  if (a.constant() && b.constant()) return Motion::number(*a.constant() - *b.constant());
  out.zeros_ = std::min(a.zeros_, b.zeros_);
  Signed least = 0, most = 0;
  if (__builtin_sub_overflow(a.least_, b.most_, &least) || __builtin_sub_overflow(a.most_, b.least_, &most))
    return out;
  out.least_ = least, out.most_ = most;
  return out;
}

Motion operator*(Motion const& a, Motion const& b) {
  auto const p = a.constant(), q = b.constant();
  if (p && q) return Motion::number(*p * *q);
  if (!p && !q) return Motion::of_steady(a, b);
  Motion const& x = p ? b : a;
  Unsigned const factor = p ? *p : *q;
  Motion out = Motion::any(x.step_ ? std::optional(*x.step_ * factor) : std::nullopt);
  out.zeros_ = std::min(a.zeros_ + b.zeros_, 64U);
  Signed one = 0, other = 0;
  if (__builtin_mul_overflow(x.least_, static_cast<Signed>(factor), &one) ||
      __builtin_mul_overflow(x.most_, static_cast<Signed>(factor), &other))
    return out;
  out.least_ = std::min(one, other), out.most_ = std::max(one, other);
  return out;
}

Motion operator/(Motion const& a, Motion const& b) {
  auto const q = b.constant();
  if (!q || *q == 0 || !a.is_natural() || !b.is_natural()) return Motion::of_steady(a, b);
  return a.quotient(static_cast<Signed>(*q));
}

Motion operator%(Motion const& a, Motion const& b) {
  auto const q = b.constant();
  if (!q || *q == 0 || !b.is_natural()) return Motion::of_steady(a, b);
  if (std::has_single_bit(*q)) return a & Motion::number(*q - 1);
  if (a.is_natural() && a.most_ < b.least_) return a;
  Motion out = Motion::between(0, b.least_ - 1, 0, std::min(a.zeros_, b.zeros_));
  auto const step = a.integer_step();
  if (!a.is_steady() && !(a.is_natural() && step && *step % b.least_ == 0)) out.step_.reset();
  return out;
}

Motion shl(Motion const& a, Unsigned n) {
  if (n >= 64) return {};
  return a * Motion::number(Unsigned{1} << n);
}

Motion shr(Motion const& a, Unsigned n) {
  if (n >= 64) return {};
  if (a.is_natural()) return n == 63 ? Motion() : a.quotient(Signed{1} << n);
  Motion const out = Motion::any(a.is_steady() ? std::optional<Unsigned>(0) : std::nullopt);
  return n == 0 ? a : out;
}

Motion shl(Motion const& a, Motion const& n) {
  return n.constant() ? shl(a, *n.constant()) : Motion::of_steady(a, n);
}

Motion shr(Motion const& a, Motion const& n) {
  return n.constant() ? shr(a, *n.constant()) : Motion::of_steady(a, n);
}

Motion asr(Motion const& a, unsigned n) {
  if (n >= 63) return Motion::of_steady(a, a);
  return a.quotient(Signed{1} << n);
}

Motion select(MotionTruth const& condition, Motion const& yes, Motion const& no) {
  if (condition.value) return *condition.value ? yes : no;
  Motion out = Motion::between(std::min(yes.least_, no.least_), std::max(yes.most_, no.most_), 0,
                               std::min(yes.zeros_, no.zeros_));
  out.step_ = condition.steady && yes.step_ == no.step_ ? yes.step_ : std::nullopt;
  return out;
}

MotionTruth operator==(Motion const& a, Motion const& b) {
  if (a.constant() && b.constant()) return *a.constant() == *b.constant();
  if (a.most_ < b.least_ || b.most_ < a.least_) return false;
  return MotionTruth::open(a.step_ && a.step_ == b.step_);
}

// Unsigned. Precondition of the bounds: both natural.
MotionTruth operator<(Motion const& a, Motion const& b) {
  if (a.is_natural() && b.is_natural()) {
    if (a.most_ < b.least_) return true;
    if (b.most_ <= a.least_) return false;
  }
  return MotionTruth::open(a.is_steady() && b.is_steady());
}

}  // namespace swizproof
