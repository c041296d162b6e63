// Sums of products that names are, and largest and smallest of such sums.
#include "names.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace swizproof::flow_detail {

void wrap_coefficients(std::vector<FlowTerm>& terms, unsigned bytes) {
  double const half = std::ldexp(1.0, static_cast<int>(8 * bytes) - 1);
  for (FlowTerm& t : terms) {
    if (t.coefficient < half && t.coefficient >= -half) continue;
    t.coefficient = std::remainder(t.coefficient, 2 * half);
    if (t.coefficient == half) t.coefficient = -half;
  }
  std::erase_if(terms, [](FlowTerm const& t) { return t.coefficient == 0; });
}

std::vector<FlowTerm> difference(std::vector<FlowTerm> const& a, std::vector<FlowTerm> const& b) {
  std::vector<FlowTerm> out;
  for (FlowTerm const& t : a) {
    auto const at = std::lower_bound(b.begin(), b.end(), t, before);
    if (at == b.end() || at->factors != t.factors || at->coefficient != t.coefficient) out.push_back(t);
  }
  return out;
}

void merge_terms(std::vector<FlowTerm>& terms) {
  auto const earlier = [](FlowTerm const& x, FlowTerm const& y) { return before(x, y); };
  // most sums are sorted already
  if (!std::is_sorted(terms.begin(), terms.end(), earlier)) std::sort(terms.begin(), terms.end(), earlier);
  std::size_t kept = 0;
  for (FlowTerm const& t : terms)
    if (kept != 0 && terms[kept - 1].factors == t.factors)
      terms[kept - 1].coefficient += t.coefficient;
    else
      terms[kept++] = t;
  terms.resize(kept);
  std::erase_if(terms, [](FlowTerm const& t) { return t.coefficient == 0; });
}

namespace {

using Terms = std::vector<FlowTerm>;

/// A member's terms as a key that orders them.
std::vector<double> key_of(Terms const& terms) {
  std::vector<double> out;
  for (FlowTerm const& t : terms) {
    for (std::uint32_t const f : t.factors) out.push_back(f);
    out.push_back(t.coefficient);
  }
  return out;
}

bool is_constant(Terms const& terms) {
  return terms.empty() || (terms.size() == 1 && terms[0].factors == Factors{});
}

}  // namespace

Terms ExtremeSets::of(bool smallest, std::vector<Terms> members) {
  std::vector<std::pair<std::vector<double>, Terms>> all;
  std::optional<double> constant;
  auto const take = [&](Terms const& terms) {
    if (!is_constant(terms)) return all.emplace_back(key_of(terms), terms), void();
    double const x = terms.empty() ? 0 : terms[0].coefficient;
    constant = !constant ? x : smallest ? std::min(*constant, x) : std::max(*constant, x);
  };
  for (Terms const& terms : members) {
    bool const alone =
        terms.size() == 1 && terms[0].coefficient == 1 && terms[0].factors[most_factors - 2] == 0;
    Extreme const* const inner = alone ? with(terms[0].factors.back()) : nullptr;
    if (inner == nullptr || inner->smallest != smallest) {
      take(terms);
      continue;
    }
    for (Terms const& t : inner->members) take(t);
  }
  if (constant) {
    Terms number{{{}, *constant}};
    if (*constant == 0) number.clear();
    all.emplace_back(key_of(number), std::move(number));
  }
  auto const earlier = [](auto const& x, auto const& y) { return x.first < y.first; };
  std::sort(all.begin(), all.end(), earlier);
  all.erase(
      std::unique(all.begin(), all.end(), [](auto const& x, auto const& y) { return x.first == y.first; }),
      all.end());
  if (all.size() == 1) return std::move(all[0].second);
  std::vector<double> key{smallest ? 1.0 : 0.0};
  Extreme set{smallest, {}};
  for (auto& [of_member, terms] : all) {
    key.push_back(static_cast<double>(terms.size()));
    key.insert(key.end(), of_member.begin(), of_member.end());
    set.members.push_back(std::move(terms));
  }
  auto const [at, fresh] = numbers_.try_emplace(std::move(key), ~static_cast<std::uint32_t>(sets_.size()));
  if (fresh) sets_.push_back(std::move(set));
  return {term_of(at->second)};
}

namespace {

/// The number below or above which a format has none: one that a largest or smallest starts with.
double last_number(Format format, unsigned bytes, bool smallest, bool is_unsigned) {
  double const sign = smallest ? 1 : -1;
  if (format == Format::integer) {
    double const all = std::ldexp(1.0, static_cast<int>(8 * bytes));
    if (is_unsigned) return smallest ? all - 1 : 0;
    return smallest ? all / 2 - 1 : -all / 2;
  }
  constexpr double most_f16 = 65504, most_bf16 = 3.3895313892515355e38;
  return sign * (format == Format::f64    ? DBL_MAX
                 : format == Format::f16  ? most_f16
                 : format == Format::bf16 ? most_bf16
                                          : static_cast<double>(FLT_MAX));
}

class Expansion {
 public:
  explicit Expansion(Names const& names, bool sizes = false) : names_(names), sizes_(sizes) {}
  FlowSum of(Name n);

 private:
  bool into(Name n, double coefficient, FlowSum& out, unsigned depth);
  void product(NameNode const& node, double coefficient, FlowSum& out, unsigned depth);
  void multiply(FlowSum const& a, FlowSum const& b, double coefficient, FlowSum& out,
                std::uint32_t line) const;
  /// Joins what is nested in a largest or smallest.
  FlowSum extreme(Name n);

  /// True if the result of an operation on integers is read in a wider format.
  [[nodiscard]] bool is_widened(NameNode const& node) const {
    return node.format == Format::integer &&
           (whole_->format != Format::integer || node.bytes < whole_->bytes);
  }
  /// True for a floating-point number that is computed, or converted to a format that may not hold it.
  [[nodiscard]] bool may_round(NameNode const& node) const {
    if (node.format == Format::integer) return false;
    if (node.kind == NameKind::converted)
      return names_[node.a].format == Format::integer || names_[node.a].bytes >= node.bytes;
    return node.kind == NameKind::sum || node.kind == NameKind::product ||
           node.kind == NameKind::accumulated || node.kind == NameKind::extreme;
  }

  /// Notes what a node assumes.
  void note(NameNode const& node, FlowSum& out) const {
    bool const rounds = may_round(node);
    out.real = out.real || rounds;
    if (rounds) out.fraction_bits = std::min(out.fraction_bits, fraction_bits_of(node.format));
    if (node.kind == NameKind::number) {
      double const x = names_.constant(node.a);
      out.whole = out.whole && x == std::floor(x);
    }
    if (node.kind == NameKind::sum || node.kind == NameKind::product)
      out.widened = out.widened || is_widened(node);
  }

  Names const& names_;
  bool sizes_;
  NameNode const* whole_ = nullptr;  ///< the value that is expanded
  unsigned nested_ = 0;              ///< largest and smallest of others
};

FlowSum Expansion::of(Name n) {
  FlowSum out;
  NameNode const* const outer = std::exchange(whole_, &names_[n]);
  bool const followed = into(n, 1, out, 0);
  whole_ = outer;
  if (!followed) {
    out.terms.clear();
    return out;
  }
  merge_terms(out.terms);
  NameNode const& whole = names_[n];
  if (whole.format != Format::integer) return out;
  constexpr double exact = 9007199254740992;  // 2^53
  if (std::any_of(out.terms.begin(), out.terms.end(),
                  [](FlowTerm const& t) { return std::abs(t.coefficient) >= exact; })) {
    out.terms.clear();
    out.refused = "a sum with a coefficient of more than 53 bits", out.line = whole.line;
    return out;
  }
  wrap_coefficients(out.terms, whole.bytes);
  return out;
}

bool Expansion::into(Name n, double coefficient, FlowSum& out, unsigned depth) {
  constexpr unsigned deepest = 64;
  constexpr std::uint64_t most_steps = std::uint64_t{1} << 22;
  if (depth > deepest) return out.refused = "the value has more than 64 nested products", false;
  std::vector<Name> work{n};
  while (!work.empty() && out.refused.empty()) {
    if (++out.steps > most_steps) {
      out.refused = "a sum of more than 2^22 parts";
      break;
    }
    Name const at = work.back();
    work.pop_back();
    NameNode const& node = names_[at];
    note(node, out);
    switch (node.kind) {
      case NameKind::element:
      case NameKind::bits:
        out.terms.push_back(term_of(names_.canonical(at), coefficient));
        break;
      case NameKind::number:
        if (double const x = names_.constant(node.a); x != 0)
          out.terms.push_back({{}, coefficient * (sizes_ ? std::fabs(x) : x)});
        break;
      case NameKind::sum:
        work.push_back(node.b);
        work.push_back(node.a);
        break;
      case NameKind::converted:
      case NameKind::moved:
        work.push_back(node.a);
        break;
      case NameKind::accumulated:
        if (node.a != 0) work.push_back(node.a);
        product(node, coefficient, out, depth);
        break;
      case NameKind::product: {
        FlowSum a, b;
        if (!into(node.a, 1, a, depth + 1) || !into(node.b, 1, b, depth + 1)) {
          out.refused = a.refused + b.refused, out.line = std::max(a.line, b.line);
          break;
        }
        out.note(a), out.note(b);
        multiply(a, b, coefficient, out, node.line);
        break;
      }
      case NameKind::extreme: {
        FlowSum const inner = extreme(at);
        out.refused = inner.refused, out.line = inner.line, out.note(inner);
        for (FlowTerm const& t : inner.terms) out.terms.push_back({t.factors, coefficient * t.coefficient});
        break;
      }
      case NameKind::function:
        out.refused = names_.text(at), out.line = node.line;
        break;
    }
  }
  return out.refused.empty();
}

void Expansion::product(NameNode const& node, double coefficient, FlowSum& out, unsigned depth) {
  MatrixProduct const& p = names_.matrices(node.b);
  unsigned const row = node.c >> 16, column = node.c & 0xffff;
  for (unsigned k = 0; k < p.k; ++k) {
    if (!p.plain_a.empty()) {
      FlowTerm term{{0, 0, p.plain_a[p.in_a(row, k)], p.plain_b[p.in_b(k, column)]}, coefficient};
      if (p.block != 0)
        term.factors[0] = p.plain_scale_a[p.in_scale_a(row, k)],
        term.factors[1] = p.plain_scale_b[p.in_scale_b(k, column)];
      std::sort(term.factors.begin(), term.factors.end());
      out.terms.push_back(term);
      continue;
    }
    std::vector<Name> parts{p.a[p.in_a(row, k)], p.b[p.in_b(k, column)]};
    if (p.block != 0)
      parts.insert(parts.end(), {p.scale_a[p.in_scale_a(row, k)], p.scale_b[p.in_scale_b(k, column)]});
    FlowSum all;
    all.terms.push_back({{}, coefficient});
    for (Name const part : parts) {
      FlowSum one, next;
      if (!into(part, 1, one, depth + 1))
        next = one, next.terms.clear();
      else
        multiply(all, one, 1, next, p.line);
      out.note(one);
      out.refused = next.refused, out.line = next.line;
      if (!next.refused.empty()) return;
      all = std::move(next);
    }
    out.terms.insert(out.terms.end(), all.terms.begin(), all.terms.end());
  }
}

void Expansion::multiply(FlowSum const& a, FlowSum const& b, double coefficient, FlowSum& out,
                         std::uint32_t line) const {
  constexpr std::size_t most = std::size_t{1} << 22;
  if (a.terms.size() * b.terms.size() > most) {
    out.refused = "a product of sums has more than 2^22 terms", out.line = line;
    return;
  }
  for (FlowTerm const& x : a.terms)
    for (FlowTerm const& y : b.terms) {
      std::array<std::uint32_t, 2 * most_factors> all{};
      std::copy(x.factors.begin(), x.factors.end(), all.begin());
      std::copy(y.factors.begin(), y.factors.end(), all.begin() + most_factors);
      std::sort(all.begin(), all.end());
      if (all[most_factors - 1] != 0) {
        out.refused = "a product has more than four factors", out.line = line;
        return;
      }
      // (a*b) * (c*d) of pairs is not (a*c) * (b*d)
      if (all[most_factors + 1] != 0 &&
          std::count_if(all.begin(), all.end(), [&](std::uint32_t f) { return names_.has_pair(f); }) > 2) {
        out.refused = "a product of products of pairs", out.line = line;
        return;
      }
      FlowTerm term{{}, coefficient * x.coefficient * y.coefficient};
      std::copy(all.begin() + most_factors, all.end(), term.factors.begin());
      out.terms.push_back(term);
    }
}

FlowSum Expansion::extreme(Name n) {
  auto& done = names_.sets().expanded;
  if (auto const known = done.find(n); known != done.end()) return known->second;
  constexpr std::size_t most_terms = std::size_t{1} << 22;
  constexpr unsigned deepest = 256;
  NameNode const& top = names_[n];
  bool const smallest = (top.c & 1) != 0;
  FlowSum out;
  if (++nested_ > deepest)
    out.refused = "the value has more than 256 nested max and min", out.line = top.line;
  std::vector<Terms> members;
  std::vector<Name> work{n};
  std::unordered_set<Name> seen;
  std::size_t size = 0;
  while (!work.empty() && out.refused.empty()) {
    Name const leaf = work.back();
    work.pop_back();
    if (!seen.insert(leaf).second) continue;
    Name inner = leaf;
    while (names_[inner].kind == NameKind::moved || names_[inner].kind == NameKind::converted)
      inner = names_[inner].a;
    NameNode const& node = names_[inner];
    if (node.kind == NameKind::extreme && ((node.c ^ top.c) & 1) == 0) {
      work.push_back(static_cast<Name>(node.b)), work.push_back(node.a);
      continue;
    }
    if (node.kind == NameKind::number) {
      double const x = names_.constant(node.a),
                   last = last_number(top.format, top.bytes, smallest, (top.c & 2) != 0);
      if (smallest ? x >= last : x <= last) continue;  // it is never the one
    }
    FlowSum member = of(leaf);
    out.refused = member.refused, out.line = member.line;
    out.note(member);
    if ((size += member.terms.size()) > most_terms)
      out.refused = "the values of max or min have more than 2^22 terms", out.line = top.line;
    members.push_back(std::move(member.terms));
  }
  if (members.empty() && out.refused.empty())
    out.refused = "the largest or smallest of no values", out.line = top.line;
  --nested_;
  if (out.refused.empty()) out.terms = names_.sets().of(smallest, std::move(members));
  return done.try_emplace(n, std::move(out)).first->second;
}

}  // namespace

FlowSum Names::expand(Name n, bool sizes) const { return Expansion(*this, sizes).of(n); }

}  // namespace swizproof::flow_detail
