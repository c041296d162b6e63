#include "reference/model/function.hpp"

#include <algorithm>

namespace reference {

bool Function::identity() const {
  for (long long x = 0; x < window(); ++x)
    if ((*this)(x) != x) return false;
  return true;
}

long long Function::alignment() const {
  long long step = 1;
  for (; step < window(); ++step) {
    bool same = true;
    for (long long x = 0; x < window() && same; ++x) same = (*this)(x + step) == (*this)(x) + step;
    if (same) break;
  }
  // The identity takes any base; what acts on elements takes whole elements.
  return identity() ? 1 : std::max(1ll, step * bits / 8);
}

std::vector<std::string> Function::words() const {
  std::vector<std::string> all{text};
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

Function draw_function(Random& r, int top) {
  Function f;
  auto const kind = r.below(100);
  if (kind < 50) {
    f.swizzle = draw_swizzle(r, top);
    f.text = f.swizzle.text(r);
    f.top = f.swizzle.top();
  } else if (kind < 60 && top >= 10) {
    auto const log2 = static_cast<int>(r.between(0, 3));
    f.swizzle = {log2, 4, 3};
    f.text = std::string("tma:") + (log2 == 0 ? "none" : log2 == 1 ? "32B" : log2 == 2 ? "64B" : "128B");
    f.top = f.swizzle.top();
    return f;
  } else {
    f.expression = true;
    f.text = "fn(x) = x";
    for (auto n = r.between(1, 2); n > 0; --n) {
      auto const t = draw_swizzle(r, top);
      f.terms.push_back(t);
      auto const mask = (1ll << t.bits) - 1;
      auto const low = t.shift >= 0 ? t.base : t.base - t.shift;  // of the bits that change
      auto const right = std::to_string(std::abs(t.shift));
      // The mask after the shift, or before it.
      f.text += r.chance(50) ? " ^ ((x " + std::string(t.shift >= 0 ? ">> " : "<< ") + right + ") & " +
                                   std::to_string(mask << low) + ")"
                             : " ^ ((x & " + std::to_string(mask << (t.base + std::max(0, t.shift))) + ")" +
                                   (t.shift >= 0 ? " >> " : " << ") + right + ")";
      f.top = std::max(f.top, t.top());
    }
    if (r.chance(20)) {
      f.constant = r.below(1ll << std::max(1, f.top));
      f.top = std::max(f.top, 1);
      f.text += " ^ " + std::to_string(f.constant);
    }
  }
  if (r.chance(50)) {
    f.bytes = false;
    f.bits = r.pick({4, 8, 16, 32, 64});
    f.options = {"--element", element_name(f.bits, r)};
  }
  return f;
}

void note(Campaign& c, Function const& f) {
  if (!f.expression && f.swizzle.shift < 0) c.drew("negative shift");
  if (f.expression) c.drew("C arithmetic");
  if (f.bits < 8) c.drew("elements of " + std::to_string(f.bits) + " bits");
}

}  // namespace reference
