#include "certificate/cnf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace swizproof {

namespace {

/// A literal: a gate or an unknown bit; its negative is the complement. 1 is true.
using Literal = int;
using Bits = std::vector<Literal>;
constexpr Literal yes = 1, no = -1;

/// Gates of two inputs.
class Circuit {
 public:
  explicit Circuit(Sharing sharing) : sharing_(sharing) {}
  struct Gate {
    Literal a = 0, b = 0;
    enum class Kind : std::uint8_t { input, conjunction, parity } kind = Kind::input;
  };

  Literal input() {
    gates_.push_back({});
    return static_cast<Literal>(gates_.size() - 1);
  }
  Literal both(Literal a, Literal b) {
    if (a == no || b == no || a == -b) return no;
    if (a == yes || a == b) return b;
    if (b == yes) return a;
    return gate(std::min(a, b), std::max(a, b), Gate::Kind::conjunction);
  }
  Literal either(Literal a, Literal b) { return -both(-a, -b); }
  Literal parity(Literal a, Literal b) {
    if (std::abs(a) == 1) return a == yes ? -b : b;
    if (std::abs(b) == 1) return b == yes ? -a : a;
    if (a == b) return no;
    if (a == -b) return yes;
    bool const flip = (a < 0) != (b < 0);
    a = std::abs(a), b = std::abs(b);
    Literal const out = gate(std::min(a, b), std::max(a, b), Gate::Kind::parity);
    return flip ? -out : out;
  }
  Literal choose(Literal condition, Literal a, Literal b) {
    if (a == b) return a;
    if (a == -b) return parity(condition, b);
    return either(both(condition, a), both(-condition, b));
  }
  /// a + b + carry; carry becomes the carry out.
  Bits add(Bits const& a, Bits const& b, Literal& carry) {
    Bits out;
    for (std::size_t i = 0; i < a.size(); ++i) {
      Literal const half = parity(a[i], b[i]);
      out.push_back(parity(half, carry));
      carry = either(both(a[i], b[i]), both(half, carry));
    }
    return out;
  }
  [[nodiscard]] std::vector<Gate> const& gates() const { return gates_; }

 private:
  Literal gate(Literal a, Literal b, Gate::Kind kind) {
    auto const next = static_cast<Literal>(gates_.size());
    if (sharing_ == Sharing::gates) {
      std::uint64_t const key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 |
                                static_cast<std::uint64_t>(static_cast<std::uint32_t>(b));
      auto& known = kind == Gate::Kind::conjunction ? conjunctions_ : parities_;
      auto const [at, fresh] = known.try_emplace(key, next);
      if (!fresh) return at->second;
    }
    gates_.push_back({a, b, kind});
    return next;
  }
  Sharing sharing_;
  std::vector<Gate> gates_{{}, {}};  // 0 is none, 1 is true
  std::unordered_map<std::uint64_t, Literal> conjunctions_, parities_;
};

/// The circuit of a graph of terms.
class Blaster {
 public:
  Blaster(Terms const& terms, Sharing sharing) : circuit_(sharing) {
    for (Terms::Unknown const& u : terms.unknowns()) {
      unknowns_.emplace_back();
      for (unsigned i = 0; i < u.bits; ++i) unknowns_.back().push_back(circuit_.input());
    }
    for (Node const& n : terms.nodes()) bits_.push_back(blast(n));
  }
  [[nodiscard]] Literal truth(Formula const& f) const { return bits_[f.id][0]; }
  Circuit& circuit() { return circuit_; }
  [[nodiscard]] std::vector<Bits> const& unknowns() const { return unknowns_; }

 private:
  static Bits number(unsigned width, std::uint64_t value) {
    Bits out;
    for (unsigned i = 0; i < width; ++i) out.push_back(i < 64 && (value >> i & 1) != 0 ? yes : no);
    return out;
  }
  template <class Gate>
  static Bits bitwise(Bits const& a, Bits const& b, Gate const& gate) {
    Bits out;
    for (std::size_t i = 0; i < a.size(); ++i) out.push_back(gate(a[i], b[i]));
    return out;
  }
  Bits choose(Literal condition, Bits const& a, Bits const& b) {
    return bitwise(a, b, [&](Literal x, Literal y) { return circuit_.choose(condition, x, y); });
  }
  static Bits complement(Bits bits) {
    for (Literal& b : bits) b = -b;
    return bits;
  }
  Bits subtract(Bits const& a, Bits const& b, Literal& no_borrow) {
    no_borrow = yes;
    return circuit_.add(a, complement(b), no_borrow);
  }
  static Bits moved(Bits const& a, std::size_t by, bool left) {
    Bits out(a.size(), no);
    for (std::size_t i = by; i < a.size(); ++i) (left ? out[i] : out[i - by]) = left ? a[i - by] : a[i];
    return out;
  }
  Bits shift(Bits bits, Bits const& by, bool left) {
    for (std::size_t i = 0; i < by.size(); ++i)
      bits =
          choose(by[i],
                 i < 7 && std::size_t{1} << i < bits.size() ? moved(bits, std::size_t{1} << i, left)
                                                            : number(static_cast<unsigned>(bits.size()), 0),
                 bits);
    return bits;
  }
  Bits multiply(Bits const& a, Bits const& b) {
    Bits sum = number(static_cast<unsigned>(a.size()), 0);
    for (std::size_t i = 0; i < b.size(); ++i) {
      Literal carry = no;
      Bits const row = moved(a, i, true);
      sum = circuit_.add(sum, bitwise(row, row, [&](Literal x, Literal) { return circuit_.both(x, b[i]); }),
                         carry);
    }
    return sum;
  }
  /// Quotient and remainder, by long division; of 0 as SMT-LIB says: all ones, the dividend.
  std::pair<Bits, Bits> divide(Bits const& a, Bits b) {
    b.push_back(no);
    Bits rest = number(static_cast<unsigned>(b.size()), 0), quotient(a.size(), no);
    for (std::size_t i = a.size(); i-- > 0;) {
      rest = moved(rest, 1, true);
      rest[0] = a[i];
      Literal fits = no;
      Bits const less = subtract(rest, b, fits);
      quotient[i] = fits;
      rest = choose(fits, less, rest);
    }
    rest.pop_back();
    return {quotient, rest};
  }
  Bits blast(Node const& n) {
    Bits const& a = bits_.size() > n.a ? bits_[n.a] : none_;
    Bits const& b = bits_.size() > n.b ? bits_[n.b] : none_;
    auto const both = [&](Literal x, Literal y) { return circuit_.both(x, y); };
    auto const parity = [&](Literal x, Literal y) { return circuit_.parity(x, y); };
    Literal carry = no;
    switch (n.op) {
      case Op::constant:
        return number(n.width, n.value);
      case Op::variable:
        return unknowns_[n.value];
      case Op::truth:
        return {n.value != 0 ? yes : no};
      case Op::bv_xor:
        return bitwise(a, b, parity);
      case Op::bv_and:
      case Op::conjunction:
        return bitwise(a, b, both);
      case Op::bv_or:
      case Op::disjunction:
        return bitwise(a, b, [&](Literal x, Literal y) { return circuit_.either(x, y); });
      case Op::negation:
        return complement(a);
      case Op::bv_add:
        return circuit_.add(a, b, carry);
      case Op::bv_sub:
        return subtract(a, b, carry);
      case Op::bv_mul:
        return multiply(a, b);
      case Op::bv_udiv:
        return divide(a, b).first;
      case Op::bv_urem:
        return divide(a, b).second;
      case Op::bv_shl:
        return shift(a, b, true);
      case Op::bv_lshr:
        return shift(a, b, false);
      case Op::ite:
        return choose(a[0], b, bits_[n.c]);
      case Op::truncate:
      case Op::zero_extend: {
        Bits out = a;
        out.resize(n.width, no);
        return out;
      }
      case Op::eq: {
        Literal all = yes;
        for (std::size_t i = 0; i < a.size(); ++i) all = circuit_.both(all, -circuit_.parity(a[i], b[i]));
        return {all};
      }
      case Op::ult: {
        Literal no_borrow = no;
        (void)subtract(a, b, no_borrow);
        return {-no_borrow};
      }
    }
    std::abort();
  }

  Circuit circuit_;
  std::vector<Bits> unknowns_, bits_;
  Bits const none_{};
};

}  // namespace

Cnf cnf(Terms const& terms, std::span<Formula const> any, Sharing sharing) {
  Blaster blaster(terms, sharing);
  Cnf out;
  std::vector<int> top;
  bool holds = false;
  for (Formula const& f : any) {
    Literal const l = blaster.truth(f);
    holds = holds || l == yes;
    if (l != no) top.push_back(l);
  }
  auto const& gates = blaster.circuit().gates();
  // Only what the formulas need, and the unknowns, numbered again from 1.
  std::vector<bool> needed(gates.size(), false);
  for (int const l : top) needed[static_cast<std::size_t>(std::abs(l))] = true;
  for (std::size_t i = gates.size(); i-- > 2;)
    if (needed[i] && gates[i].kind != Circuit::Gate::Kind::input)
      for (Literal const operand : {gates[i].a, gates[i].b})
        needed[static_cast<std::size_t>(std::abs(operand))] = true;
  std::vector<int> name(gates.size(), 0);
  for (Bits const& unknown : blaster.unknowns()) {
    out.unknowns.emplace_back();
    for (Literal const bit : unknown)
      out.unknowns.back().push_back(name[static_cast<std::size_t>(bit)] = ++out.variables);
  }
  auto const named = [&](Literal l) {
    return l > 0 ? name[static_cast<std::size_t>(l)] : -name[static_cast<std::size_t>(-l)];
  };
  if (!holds) {
    for (std::size_t i = 2; i < gates.size(); ++i) {
      if (!needed[i] || gates[i].kind == Circuit::Gate::Kind::input) continue;
      int const g = name[i] = ++out.variables, a = named(gates[i].a), b = named(gates[i].b);
      if (gates[i].kind == Circuit::Gate::Kind::conjunction)
        out.clauses.insert(out.clauses.end(), {{-g, a}, {-g, b}, {g, -a, -b}});
      else
        out.clauses.insert(out.clauses.end(), {{-g, a, b}, {-g, -a, -b}, {g, -a, b}, {g, a, -b}});
    }
    for (int& l : top) l = named(l);
    out.clauses.push_back(top);  // empty where every formula is false as it stands
  }
  return out;
}

std::string dimacs(Cnf const& cnf, std::span<std::string const> comments) {
  std::string out;
  for (std::string const& comment : comments) out += "c " + comment + "\n";
  out += fmt::format("p cnf {} {}\n", cnf.variables, cnf.clauses.size());
  for (std::vector<int> const& clause : cnf.clauses) {
    for (int const l : clause) fmt::format_to(std::back_inserter(out), "{} ", l);
    out += "0\n";
  }
  return out;
}

}  // namespace swizproof
