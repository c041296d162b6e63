#include "target.hpp"

#include "real_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace swizproof::flow_detail {

namespace {

constexpr std::size_t most_terms = std::size_t{1} << 22;

std::uint64_t value_of(Expression const& x, std::vector<std::uint64_t> const& v) {
  return x(std::span<std::uint64_t const>(v), std::uint64_t{0});
}

}  // namespace

/// Calls fn(values) for each value of the indices that are not summed.
template <class Fn>
void Target::each_element(Fn const& fn) const {
  Values values(e_.indices.size(), 0);
  for (std::size_t i = 0; i < e_.indices.size(); ++i)
    if (!e_.indices[i].summed) values[i] = e_.indices[i].first;
  for (;;) {
    if (!e_.condition || value_of(*e_.condition, values) != 0) fn(values);
    std::size_t i = e_.indices.size();
    while (i-- > 0) {
      if (e_.indices[i].summed) continue;
      if (++values[i] <= e_.indices[i].last) break;
      values[i] = e_.indices[i].first;
    }
    if (i == ~std::size_t{0}) return;
  }
}

/// Calls fn() for each value of the indices of a sum, from its k-th on.
template <class Fn>
void Target::each_value_of(FlowNode const& sum, std::size_t k, Values& values, Fn const& fn) const {
  if (k == sum.indices.size()) {
    if (!sum.condition || value_of(*sum.condition, values) != 0) fn();
    return;
  }
  std::size_t const i = sum.indices[k];
  auto const& range = sum.ranges[k];
  auto const first = static_cast<std::int64_t>(range ? value_of(range->first, values) : e_.indices[i].first);
  auto const last = static_cast<std::int64_t>(range ? value_of(range->second, values) : e_.indices[i].last);
  for (std::int64_t n = first; n <= last; ++n) {
    values[i] = static_cast<std::uint64_t>(n);
    each_value_of(sum, k + 1, values, fn);
  }
}

Target::Target(FlowExpectation const& expectation, FlowKernel const& kernel)
    : e_(expectation), kernel_(kernel), arrays_(e_.nodes.size(), 0), simple_(e_.nodes.size(), false) {
  id_ = array_named(e_.target.array);
  for (std::size_t n = 0; n < e_.nodes.size(); ++n) {
    FlowNode const& node = e_.nodes[n];
    simple_[n] = node.operation == FlowOperation::number || node.operation == FlowOperation::element ||
                 (node.operation == FlowOperation::negate && simple_[node.a]) ||
                 (node.operation == FlowOperation::multiply && simple_[node.a] && simple_[node.b]);
    if (node.operation != FlowOperation::element) continue;
    arrays_[n] = array_named(node.element.array);
    factors_.push_back(arrays_[n]), references_.push_back(n);
  }
  std::uint64_t const most = kernel.arrays[id_].size();
  std::vector<std::uint64_t> elements;  // one more than the array has, if two values of the indices are one
  each_element([&](Values const& v) {
    std::uint64_t const element = index(e_.target, id_, v);
    if (elements.size() > most) return;
    elements.push_back(element);
    values_.insert(values_.end(), v.begin(), v.end());
  });
  count_ = elements.size();
  if (!elements.empty()) {
    auto const [low, high] = std::minmax_element(elements.begin(), elements.end());
    first_ = *low;
    place_.assign(*high - *low + 1, 0);
  }
  std::uint32_t number = 0;
  for (std::uint64_t const element : elements) {
    if (place(element) != 0)
      throw InputError::whole(
          fmt::format("two values of the indices are {}", kernel_.arrays[id_].element(element)), e_.text);
    place_[element - first_] = ++number;
  }
  state_.assign(count_ + 1, State::open);
}

/// A number of the text: of f64 and of integers itself, of other types the f32 next to it, as a compiler rounds it.
double Target::rounded(double number) const {
  std::string const& type = kernel_.arrays[id_].type;
  return type == "f64" || type[0] == 'i' || type[0] == 'u' ? number
                                                           : static_cast<double>(static_cast<float>(number));
}

void Target::take_factor(FlowTerm& term, std::uint32_t factor) const {
  if (term.factors[0] != 0) throw InputError::whole("a product has at most four factors", e_.text);
  term.factors[0] = factor;
  std::sort(term.factors.begin(), term.factors.end());
}

void Target::check_pairs(Terms const& terms, Names const& names) const {
  bool const copies = is_pair(format_of(kernel_.arrays[id_].type));
  for (FlowTerm const& t : terms) {
    auto const pairs =
        std::count_if(t.factors.begin(), t.factors.end(), [&](std::uint32_t f) { return names.has_pair(f); });
    if (pairs != 0 && pairs != 2 && !(copies && pairs == 1))
      throw InputError::whole(names.text(t) + " has no value: an element is a pair of numbers", e_.text,
                              "sum(k) A[m][k]*B[k][n], of two pairs x.lo*y.lo + x.hi*y.hi");
  }
}

void Target::multiply_into(std::size_t n, FlowTerm& term, Values const& values, Names const& names) const {
  FlowNode const& node = e_.nodes[n];
  if (node.operation == FlowOperation::number) {
    bool const modulo = format_of(kernel_.arrays[id_].type) == Format::integer;
    term.coefficient *= rounded(node.number + (node.above && !modulo ? 0x1p64 : 0));
  } else if (node.operation == FlowOperation::element) {
    FlowArray const& a = kernel_.arrays[arrays_[n]];
    std::uint64_t const at = index(node.element, arrays_[n], values);
    if (a.values.empty())
      take_factor(term, names.canonical(arrays_[n], at));
    else if (double const value = value_of_element(a, at); is_pair(format_of(a.type)) && value != 0)
      throw InputError::whole(fmt::format("{} is a pair of numbers: it has no value", a.element(at)),
                              e_.text);
    else
      term.coefficient *= value;
  } else {
    multiply_into(node.a, term, values, names);
    if (node.operation == FlowOperation::negate)
      term.coefficient = -term.coefficient;
    else
      multiply_into(node.b, term, values, names);
  }
}

void Target::multiply(FlowNode const& node, double coefficient, Values& values, Names const& names,
                      Terms& out) const {
  Terms left, right;
  add_terms(node.a, coefficient, values, names, left);
  add_terms(node.b, 1, values, names, right);
  if (left.size() * right.size() > most_terms)
    throw InputError::whole("a product of sums has more than 2^22 terms", e_.text);
  for (FlowTerm const& a : left)
    for (FlowTerm const& b : right) {
      FlowTerm t = a;
      t.coefficient *= b.coefficient;
      for (std::uint32_t const f : b.factors)
        if (f != 0) take_factor(t, f);
      out.push_back(t);
    }
}

void Target::add_terms(std::size_t n, double coefficient, Values& values, Names const& names,
                       Terms& out) const {
  FlowNode const& node = e_.nodes[n];
  if (out.size() > most_terms) throw InputError::whole("a sum has more than 2^22 terms", e_.text);
  if (simple_[n]) {
    FlowTerm term{{}, coefficient};
    multiply_into(n, term, values, names);
    out.push_back(term);
    return;
  }
  switch (node.operation) {
    case FlowOperation::add:
      add_terms(node.a, coefficient, values, names, out);
      return add_terms(node.b, coefficient, values, names, out);
    case FlowOperation::negate:
      return add_terms(node.a, -coefficient, values, names, out);
    case FlowOperation::sum:
      return each_value_of(node, 0, values, [&] { add_terms(node.a, coefficient, values, names, out); });
    case FlowOperation::largest:
    case FlowOperation::smallest:
      for (FlowTerm t : extreme(node, values, names)) {
        t.coefficient *= coefficient;
        out.push_back(t);
      }
      return;
    default:
      return multiply(node, coefficient, values, names, out);
  }
}

Target::Terms Target::extreme(FlowNode const& node, Values& values, Names const& names) const {
  std::vector<Terms> members;
  std::size_t size = 0;
  auto const take = [&](std::size_t n) {
    Terms terms;
    add_terms(n, 1, values, names, terms);
    merge_terms(terms);
    check_pairs(terms, names);
    if ((size += terms.size()) > most_terms)
      throw InputError::whole("the values of max or min have more than 2^22 terms", e_.text);
    members.push_back(std::move(terms));
  };
  if (node.indices.empty())
    take(node.a), take(node.b);
  else
    each_value_of(node, 0, values, [&] { take(node.a); });
  if (members.empty())
    throw InputError::whole("max or min of no values", e_.text, "give the elements that have values a range");
  return names.sets().of(node.operation == FlowOperation::smallest, std::move(members));
}

std::vector<FlowTerm> Target::expected(std::uint32_t place, Names const& names) const {
  Terms terms;
  Values values(values_.begin() + static_cast<std::ptrdiff_t>((place - 1) * e_.indices.size()),
                values_.begin() + static_cast<std::ptrdiff_t>(place * e_.indices.size()));
  add_terms(e_.nodes.size() - 1, 1, values, names, terms);
  merge_terms(terms);
  check_pairs(terms, names);
  FlowArray const& a = kernel_.arrays[id_];
  Format const format = format_of(a.type);
  if (format == Format::integer) {
    auto const is_long = [](FlowTerm const& t) {
      int exponent = 0;
      return std::fabs(t.coefficient) > 0x1p53 && std::fabs(std::frexp(t.coefficient, &exponent)) != 0.5;
    };
    if (std::any_of(terms.begin(), terms.end(), is_long))
      throw InputError::whole("an expected coefficient has more than 53 bits", e_.text);
    wrap_coefficients(terms, a.bits / 8);
  }
  // One number is rounded, so that an element can hold it.
  if (format != Format::integer && terms.size() == 1 && terms[0].factors == Factors{})
    if (auto const bits = rounded_bits(terms[0].coefficient, format, Rounding::nearest); bits) {
      double const held = value_of_bits(*bits, format, a.bits / 8);
      if (std::isfinite(held)) terms[0].coefficient = held;
      if (held == 0) terms.clear();
    }
  return terms;
}

bool Target::innocent(std::size_t f, std::uint32_t place) const {
  std::size_t const n = e_.indices.size();
  std::vector<bool> used(n, false);
  for (Expression const& x : e_.nodes[references_[f]].element.at)
    for (auto const& node : x.nodes())
      if (node.op == Expression::Op::variable) used[node.value] = true;
  for (std::uint32_t other = 1; other <= count_; ++other) {
    if (state_[other] != State::right) continue;
    bool same = true;
    for (std::size_t i = 0; i < n && same; ++i)
      same = !used[i] || e_.indices[i].summed || values_[(other - 1) * n + i] == values_[(place - 1) * n + i];
    if (same) return true;
  }
  return false;
}

std::uint32_t Target::array_named(std::string const& name) const {
  for (std::uint32_t i = 1; i < kernel_.arrays.size(); ++i)
    if (kernel_.arrays[i].name == name) return i;
  throw InputError::whole(fmt::format("no parameter is the array {}", name), e_.text);
}

std::uint64_t Target::index(FlowReference const& r, std::uint32_t id, Values const& v) const {
  FlowArray const& a = kernel_.arrays[id];
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < a.extents.size(); ++i) {
    std::uint64_t const x = value_of(r.at[i], v);
    if (x >= a.extents[i]) {
      std::string values;
      for (std::size_t k = 0; k < v.size(); ++k)
        values += fmt::format("{}{} = {}", k == 0 ? "" : ", ", e_.indices[k].name, v[k]);
      throw InputError::whole(
          fmt::format("index {} of {} is {}, and its extent is {}; {}", i, a.name, x, a.extents[i], values),
          e_.text, "limit an index: for m in 0..127");
    }
    at = at * a.extents[i] + x;
  }
  return at;
}

void must_be_disjoint(FlowKernel const& kernel, std::vector<Target> const& targets) {
  Target const& last = targets.back();
  for (std::size_t i = 0; i + 1 < targets.size(); ++i)
    for (std::uint64_t e = 0; targets[i].array() == last.array() && e < kernel.arrays[last.array()].size();
         ++e)
      if (targets[i].place(e) != 0 && last.place(e) != 0)
        throw InputError::whole("two expectations of " + kernel.arrays[last.array()].element(e), last.text(),
                                "give each its own range: for i in 0..127");
}

}  // namespace swizproof::flow_detail
