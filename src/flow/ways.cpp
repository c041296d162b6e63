#include "ways.hpp"

#include <algorithm>
#include <utility>

namespace swizproof::flow_detail {

bool Ways::is_number(Name n) const {
  while (names_[n].kind == NameKind::moved || names_[n].kind == NameKind::converted) n = names_[n].a;
  if (names_[n].kind == NameKind::number) return true;
  return names_[n].kind == NameKind::element && names_.place_of(names_[n].a).first->extents.empty();
}

bool Ways::passes(NameNode const& node, bool first) const {
  Name const other = first ? static_cast<Name>(node.b) : node.a;
  if (node.kind == NameKind::product) return is_number(other);
  return names_[other].kind == NameKind::product && names_[other].line == node.line;  // fma: c, of a * b + c
}

/// Factors of element k of a sum of products: of A, of B, and their scales.
std::array<Name, most_factors> Ways::parts_of(MatrixProduct const& p, NameNode const& node, unsigned k) {
  unsigned const row = node.c >> 16, column = node.c & 0xffff;
  if (p.block == 0) return {p.a[p.in_a(row, k)], p.b[p.in_b(k, column)], 0, 0};
  return {p.a[p.in_a(row, k)], p.b[p.in_b(k, column)], p.scale_a[p.in_scale_a(row, k)],
          p.scale_b[p.in_scale_b(k, column)]};
}

/// Follows an element down to where it was loaded; appends the instructions, the last one first.
bool Ways::find(Name n, std::uint32_t element, std::vector<std::uint32_t>& way, unsigned depth) {
  if (depth > 4000 || n == 0 || way.size() > 4000 || ++visits_ > most_visits) return false;
  NameNode const& node = names_[n];
  std::size_t const length = way.size();
  auto const in = [&](Name next) { return find(next, element, way, depth + 1); };
  switch (node.kind) {
    case NameKind::element:
      if (node.a != element) return false;
      way.push_back(node.line);
      return true;
    case NameKind::bits:
      if (names_.bits_of(element) != n) break;
      way.push_back(node.line);
      (void)find(names_.args(node.a)[0], names_.canonical(names_.args(node.a)[0]), way, depth + 1);
      return true;
    case NameKind::extreme:
      way.push_back(node.line);
      if (in(node.a) || in(static_cast<Name>(node.b))) return true;
      break;
    case NameKind::moved:
      way.push_back(node.line), way.push_back(node.b);
      if (in(node.a)) return true;
      break;
    case NameKind::converted:
      return in(node.a);
    case NameKind::sum:
    case NameKind::product:
      for (bool const first : {true, false}) {
        bool const pass = passes(node, first);
        if (!pass) way.push_back(node.line);
        if (in(first ? node.a : static_cast<Name>(node.b))) {
          if (pass) passed_.push_back(node.line);
          return true;
        }
        way.resize(length);
      }
      break;
    case NameKind::accumulated: {
      MatrixProduct const& p = names_.matrices(node.b);
      way.push_back(p.line);
      for (unsigned k = 0; k < p.k; ++k)
        for (Name const part : parts_of(p, node, k))
          if (part != 0 && in(part)) return true;
      way.resize(length);
      return in(node.a);
    }
    case NameKind::number:
    case NameKind::function:
      break;
  }
  way.resize(length);
  return false;
}

std::uint32_t Ways::added_twice(Name n, std::uint32_t element) {
  visits_ = 0;
  while (n != 0) {
    NameNode const& node = names_[n];
    std::vector<std::uint32_t> a, b;
    bool const sum = node.kind == NameKind::sum;
    bool const in_a = sum && find(node.a, element, a, 0), in_b = sum && find(node.b, element, b, 0);
    if (in_a && in_b) return node.line;
    if (sum && !in_a && !in_b) return 0;
    if (!sum && node.kind != NameKind::moved && node.kind != NameKind::converted) return 0;
    n = in_b ? static_cast<Name>(node.b) : node.a;
  }
  return 0;
}

std::vector<std::vector<std::uint32_t>> Ways::way_of(Name n, FlowTerm const& term) {
  std::vector<std::vector<std::uint32_t>> ways;
  visits_ = 0;
  passed_.clear();
  // The accumulation with all of the factors, if one has them.
  for (Name at = n; at != 0;) {
    NameNode const& node = names_[at];
    if (node.kind != NameKind::accumulated) {
      at = node.kind == NameKind::moved || node.kind == NameKind::converted ? node.a : 0;
      continue;
    }
    MatrixProduct const& p = names_.matrices(node.b);
    for (unsigned k = 0; k < p.k; ++k) {
      std::array<std::pair<std::uint32_t, Name>, most_factors> of{};
      std::size_t i = 0;
      for (Name const part : parts_of(p, node, k)) of[i++] = {part == 0 ? 0 : names_.canonical(part), part};
      std::sort(of.begin(), of.end());
      bool same = true;
      for (i = 0; i < most_factors; ++i) same = same && of[i].first == term.factors[i];
      if (!same) continue;
      for (auto const& [factor, part] : of) {
        ways.emplace_back();
        if (part == 0) continue;
        (void)find(part, factor, ways.back(), 0);
        ways.back().push_back(p.line);
      }
      return ways;
    }
    at = node.a;
  }
  for (std::uint32_t const f : term.factors) {
    ways.emplace_back();
    if (f != 0) (void)find(n, f, ways.back(), 0);
  }
  return ways;
}

std::vector<std::uint32_t> Ways::odd_way(Name n, std::vector<FlowTerm> const& extra,
                                         std::vector<FlowTerm> const& missing) {
  if (extra.empty() || extra.front().factors[0] == 0) return {};
  Factors const& found = extra.front().factors;
  for (FlowTerm const& m : missing) {
    Factors only{};  // of the found term
    auto const end =
        std::set_difference(found.begin(), found.end(), m.factors.begin(), m.factors.end(), only.begin());
    if (end - only.begin() != 1) continue;
    auto const at = std::find(found.begin(), found.end(), only[0]) - found.begin();
    return way_of(n, extra.front())[static_cast<std::size_t>(at)];
  }
  return {};
}

}  // namespace swizproof::flow_detail
