#include <swizproof/analysis/fragment.hpp>

#include <swizproof/layout/algebra.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace swizproof {

Question is_thread_values(std::string name, Fragment const& f, Layout const& layout) {
  return ask(std::move(name), 32,
             {Variable::steps("thread", 0, 1, f.threads), Variable::steps("value", 0, 1, counted_values(f))},
             [f, layout](auto const& thread, auto const& value) {
               using W = std::decay_t<decltype(thread)>;
               std::array<W, 2> const at{thread, value};
               return states(cute_index(f, thread, value) == layout(std::span<W const>(at)).elements);
             });
}

OtherNumber other_number(Fragment const& f, Layout const& layout, Refuted const& refuted) {
  auto const thread = static_cast<std::uint32_t>(refuted.values.at(0).second);
  auto const value = static_cast<std::uint32_t>(refuted.values.at(1).second);
  std::array<std::uint32_t, 2> const at{thread, value};
  return {thread, value, layout(std::span<std::uint32_t const>(at)).elements, cute_index(f, thread, value)};
}

Question held_once(std::string name, Fragment const& f, Layout const& layout) {
  std::uint64_t const size = std::uint64_t{f.rows} * f.columns * (counts_bits(f) ? f.bits : 1);
  bool const as_many = std::uint64_t{f.threads} * counted_values(f) == size * holders_of_each(f);
  return ask(std::move(name), 32, {Variable::steps("element", 0, 1, size)},
             [f, as_many, inverse = right_inverse(layout)](auto const& element) {
               using W = std::decay_t<decltype(element)>;
               W const place = inverse(element).elements;
               auto const there = cute_index(f, W(place % f.threads), W(place / f.threads)) == element;
               return states(truth_of<W>(as_many) && there);
             });
}

Holder holder_of(Fragment const& f, unsigned row, unsigned column) {
  std::uint32_t const unit = counts_bits(f) ? f.bits : 1;
  std::uint32_t const index = counts_bits(f) ? row * 128 + column * f.bits
                              : is_b(f)      ? column + row * f.columns
                                             : row + column * f.rows;
  std::uint32_t const place = right_inverse(thread_values(f))(index).elements;
  return {place % f.threads, place / f.threads / unit};
}

namespace {

// ------------------------------------------------------------------------------------------------- rows

/// Variables of a row's start, in this order, with the numbers and names for expressions.
constexpr RowVariable row_variables[] = {RowVariable::lane, RowVariable::warp, RowVariable::instruction};
constexpr char const* row_variable_names[] = {"lane", "warp", "i"};

/// A term of a row's start: `times` x the `bits` bits from bit `from` on of one of the row_variables.
struct RowTerm {
  std::size_t variable = 0;
  unsigned from = 0, bits = 0;
  std::int64_t times = 0;
};

/// A row's start, strided and contiguous.
using Start = std::array<std::int64_t, 2>;

/// Rows' starts by lane, warp and instruction.
struct Starts {
  using Place = std::array<std::size_t, 3>;
  explicit Starts(Place const& counts) : counts_(counts), at_(counts[0] * counts[1] * counts[2]) {}
  [[nodiscard]] std::size_t count(std::size_t variable) const { return counts_[variable]; }
  [[nodiscard]] std::size_t size() const { return at_.size(); }
  [[nodiscard]] Place place(std::size_t number) const {
    return {number % counts_[0], number / counts_[0] % counts_[1], number / counts_[0] / counts_[1]};
  }
  Start& operator[](Place const& p) { return at_[(p[2] * counts_[1] + p[1]) * counts_[0] + p[0]]; }
  Start const& operator[](Place const& p) const {
    return at_[(p[2] * counts_[1] + p[1]) * counts_[0] + p[0]];
  }

 private:
  Place counts_;
  std::vector<Start> at_;
};

/// Number of bits that the numbers below `count` have.
unsigned bits_below(std::size_t count) {
  unsigned bits = 0;
  while (std::size_t{1} << bits < count) ++bits;
  return bits;
}

/// One index of the starts as a sum of bits of lane, warp and i, if it is one; runs of bits whose weights double become one term.
std::optional<std::vector<RowTerm>> sum_of_bits(Starts const& starts, std::size_t index) {
  std::vector<RowTerm> terms;
  if (starts[Starts::Place{}][index] != 0) return {};
  for (std::size_t variable = 0; variable < 3; ++variable)
    for (unsigned b = 0; b < bits_below(starts.count(variable)); ++b) {
      Starts::Place one{};
      one[variable] = std::size_t{1} << b;
      std::int64_t const weight = starts[one][index];
      if (weight == 0) continue;
      RowTerm* const last = terms.empty() ? nullptr : &terms.back();
      if (last != nullptr && last->variable == variable && last->from + last->bits == b &&
          weight == last->times << last->bits)
        ++last->bits;
      else
        terms.push_back({variable, b, 1, weight});
    }
  for (std::size_t n = 0; n < starts.size(); ++n) {
    Starts::Place const place = starts.place(n);
    std::int64_t sum = 0;
    for (RowTerm const& t : terms)
      sum += static_cast<std::int64_t>(place[t.variable] >> t.from & ((1U << t.bits) - 1)) * t.times;
    if (sum != starts[place][index]) return {};
  }
  return terms;
}

/// The expression, and its text.
std::pair<Expression, std::string> written(std::vector<RowTerm> const& terms, Starts const& starts) {
  Expression sum(0);
  std::string text;
  for (RowTerm const& t : terms) {
    Expression e = Expression::variable(static_cast<std::uint64_t>(row_variables[t.variable]));
    std::string words = row_variable_names[t.variable];
    unsigned const bits = bits_below(starts.count(t.variable));
    bool const plain = t.from == 0 && t.bits == bits && (t.variable != 0 || t.bits == 5);
    if (t.from != 0)
      e = e / Expression(std::uint64_t{1} << t.from), words += fmt::format("/{}", 1U << t.from);
    if (t.from + t.bits < bits || (t.from == 0 && !plain)) {
      e = e % Expression(std::uint64_t{1} << t.bits);
      words += fmt::format("%{}", 1U << t.bits);
    }
    if (t.times != 1) {
      e = Expression(static_cast<std::uint64_t>(t.times)) * e;
      words = plain ? fmt::format("{}*{}", t.times, words) : fmt::format("{}*({})", t.times, words);
    }
    sum = text.empty() ? e : sum + e;
    text += (text.empty() ? "" : " + ") + words;
  }
  return {sum, text.empty() ? "0" : text};
}

/// The expressions of the starts, if they are sums of bits.
std::optional<RowStarts> expressed(Starts const& starts) {
  RowStarts rows;
  for (std::size_t index = 0; index < 2; ++index) {
    auto const terms = sum_of_bits(starts, index);
    if (!terms) return {};
    auto [expression, text] = written(*terms, starts);
    (index == 0 ? rows.strided : rows.contiguous) = std::move(expression);
    rows.text += (index == 0 ? "row = " : ", col = ") + text;
  }
  if (starts.count(2) > 1) rows.text += fmt::format(" for i in 0..{}", starts.count(2) - 1);
  return rows;
}

// ----------------------------------------------------------------------------------------- permutations

/// A map of numbers below its size that is learned a pair at a time and stays one-to-one.
class Pairing {
 public:
  explicit Pairing(std::size_t size) : image_(size, none), taken_(size, false) {}
  /// False if `from` has another image, or `to` is another's.
  bool learn(unsigned from, unsigned to, std::vector<unsigned>& trail) {
    if (from >= image_.size() || to >= image_.size()) return false;
    if (image_[from] != none) return image_[from] == to;
    if (taken_[to]) return false;
    image_[from] = to;
    taken_[to] = true;
    trail.push_back(from);
    return true;
  }
  void forget(std::vector<unsigned> const& trail) {
    for (unsigned const from : trail) {
      taken_[image_[from]] = false;
      image_[from] = none;
    }
  }
  /// Nothing if it is the identity.
  [[nodiscard]] std::vector<unsigned> changes() const {
    for (std::size_t i = 0; i < image_.size(); ++i)
      if (image_[i] != i) return image_;
    return {};
  }

 private:
  static constexpr unsigned none = ~0U;
  std::vector<unsigned> image_;
  std::vector<bool> taken_;
};

/// Allowed changes, in addition to another order of the values within a thread.
struct Freedom {
  bool values, k, other;
};

/// Element that is delivered as value i of a thread; rows are computed in 64 bits.
MatrixElement delivered_at(Movement const& m, std::uint64_t thread, std::uint64_t i) {
  MatrixElementOf<std::uint64_t> const e = m.delivered.at(thread, i);
  return {static_cast<std::uint32_t>(e.row), static_cast<std::uint32_t>(e.column)};
}

/// Looks for the changes, by trying values in order and learning what each says of k and of the other index.
class Search {
 public:
  Search(Movement const& m, Freedom freedom)
      : freedom_(freedom),
        threads_(m.wanted.fragment.threads),
        values_(m.wanted.values()),
        order_(values_),
        k_(0),
        other_(0) {
    std::uint32_t rows = 0, columns = 0;
    for (std::uint32_t t = 0; t < threads_; ++t)
      for (std::uint32_t i = 0; i < values_; ++i) {
        got_.push_back(delivered_at(m, t, i));
        wanted_.push_back(m.wanted.at(t, i));
        rows =
            std::max(rows, wanted_.back().row + 1);  // what lies outside the operand is no permutation of it
        columns = std::max(columns, wanted_.back().column + 1);
      }
    k_is_row_ = m.operand == Operand::b;
    k_ = Pairing(k_is_row_ ? rows : columns);
    other_ = Pairing(k_is_row_ ? columns : rows);
  }

  /// True if every candidate was tried.
  [[nodiscard]] bool complete() const { return tried_ <= most_tried; }

  [[nodiscard]] std::optional<UpTo> run() {
    if (!place(0)) return {};
    UpTo found{order_.changes(), k_.changes(), other_.changes(), {}};
    return found;
  }

 private:
  static constexpr unsigned most_tried = 1U << 14;

  bool fits(unsigned value, unsigned given, std::vector<unsigned>& k_trail,
            std::vector<unsigned>& other_trail) {
    for (unsigned t = 0; t < threads_; ++t) {
      MatrixElement const &w = wanted_[t * values_ + value], &g = got_[t * values_ + given];
      unsigned const wk = k_is_row_ ? w.row : w.column, gk = k_is_row_ ? g.row : g.column;
      unsigned const wo = k_is_row_ ? w.column : w.row, go = k_is_row_ ? g.column : g.row;
      if ((!freedom_.k && wk != gk) || (!freedom_.other && wo != go)) return false;
      if (!k_.learn(wk, gk, k_trail) || !other_.learn(wo, go, other_trail)) return false;
    }
    return true;
  }
  bool place(unsigned value) {
    if (value == values_) return true;
    for (unsigned n = 0; n < (freedom_.values ? values_ : 1); ++n) {
      if (++tried_ > most_tried) return false;
      unsigned const given = freedom_.values ? n : value;
      std::vector<unsigned> order_trail, k_trail, other_trail;
      if (order_.learn(value, given, order_trail) && fits(value, given, k_trail, other_trail) &&
          place(value + 1))
        return true;
      order_.forget(order_trail);
      k_.forget(k_trail);
      other_.forget(other_trail);
    }
    return false;
  }

  Freedom freedom_;
  unsigned threads_, values_;
  std::vector<MatrixElement> got_{}, wanted_{};
  bool k_is_row_ = false;
  Pairing order_, k_, other_;
  unsigned tried_ = 0;
};

/// table[i], or i where the table is empty; a chain of choices for symbolic words.
template <Word W>
W looked_up(std::vector<unsigned> const& table, W const& i) {
  if (table.empty()) return i;
  W value = like(i, table[0]);
  for (std::size_t n = 1; n < table.size(); ++n) value = select(i == n, like(i, table[n]), value);
  return value;
}

std::vector<Variable> places_of(FragmentSide const& side) {
  return {Variable::steps("thread", 0, 1, side.fragment.threads),
          Variable::steps("value", 0, 1, side.values())};
}

/// The movement holds after the changes.
Question after(std::string name, Movement const& m, UpTo const& changes) {
  unsigned const width = m.delivered.rows ? 64 : 32;
  return ask_of_all(std::move(name), width, places_of(m.wanted), [m, changes]<Word W>(std::span<W const> v) {
    MatrixElementOf<W> const got = m.delivered.at(v[0], looked_up(changes.values, v[1]));
    MatrixElementOf<W> const wanted = m.wanted.at(v[0], v[1]);
    bool const k_is_row = m.operand == Operand::b;
    return states(got == MatrixElementOf<W>{looked_up(k_is_row ? changes.k : changes.other, wanted.row),
                                            looked_up(k_is_row ? changes.other : changes.k, wanted.column)});
  });
}

/// The thread and the value whose bits movmatrix brings to value i of a thread, of register `registers[r]` in place of r.
/// [PTX ISA 9.1, 9.7.14.5.17]
template <Word W>
std::array<W, 2> before_movmatrix(W const& thread, W const& i, unsigned bits,
                                  std::vector<unsigned> const& registers) {
  W const bit = i * bits;
  MatrixElementOf<W> const e = matrix_element_of(W(thread % warp_lanes), W(bit % 32 / 16), true);
  W const lane = e.row * 4 + e.column / 2;
  W const from = looked_up(registers, W(bit / 32)) * 32 + e.column % 2 * 16 + bit % 16;
  return {thread / warp_lanes * warp_lanes + lane, from / bits};
}

/// The movement holds after movmatrix.
Question after_movmatrix(Movement const& m, std::vector<unsigned> const& registers) {
  return ask_of_all("after movmatrix", 32, places_of(m.wanted), [m, registers]<Word W>(std::span<W const> v) {
    auto const [thread, value] = before_movmatrix(v[0], v[1], m.wanted.fragment.bits, registers);
    return states(m.delivered.at(thread, value) == m.wanted.at(v[0], v[1]));
  });
}

/// The order of the source's registers in which movmatrix is the answer, if there is one.
std::optional<Transposition> transposition(Movement const& m, Limits const& limits) {
  unsigned const bits = m.wanted.fragment.bits;
  if (m.delivered.rows || m.wanted.rows || bits > 16 || m.wanted.values() * bits % 32 != 0) return {};
  unsigned const count = m.wanted.values() * bits / 32, each = 32 / bits;
  Transposition found;
  for (std::uint32_t r = 0; r < count; ++r) {
    auto const comes_from = [&](unsigned source) {
      std::vector<unsigned> const registers(count, source);
      for (std::uint32_t t = 0; t < m.wanted.fragment.threads; ++t)
        for (std::uint32_t i = r * each; i < (r + 1) * each; ++i) {
          auto const [thread, value] = before_movmatrix(t, i, bits, registers);
          if (!(m.delivered.at(thread, value) == m.wanted.at(t, i))) return false;
        }
      return true;
    };
    unsigned source = 0;
    while (source < count && !comes_from(source)) ++source;
    if (source == count) return {};
    found.registers.push_back(source);
  }
  found.answer = decide(after_movmatrix(m, found.registers), limits, Effort::one);
  if (!found.answer.proved()) return {};
  return found;
}

/// Every row starts at a multiple of 16 bytes of the tile. Precondition: rows are delivered.
Question aligned_rows(Movement const& m) {
  FragmentSide const& from = m.delivered;
  return ask(
      "every row starts at a multiple of 16 bytes", 64,
      {Variable::steps("lane", 0, 1, from.fragment.rows),
       Variable::steps("warp", 0, 1, m.wanted.fragment.threads / warp_lanes),
       Variable::steps("i", 0, 1, from.copies)},
      [rows = *from.rows, bits = from.fragment.bits](auto const& lane, auto const& warp, auto const& i) {
        return states(rows.at(lane, warp, i)[1] * bits % 128 == 0);
      });
}

/// The first row that does not, if there is one.
std::optional<MisalignedRow> first_misaligned(Movement const& m) {
  FragmentSide const& from = m.delivered;
  for (std::uint64_t i = 0; i < from.copies; ++i)
    for (std::uint64_t thread = 0; thread < m.wanted.fragment.threads; ++thread) {
      std::uint64_t const lane = thread % warp_lanes;
      if (lane >= from.fragment.rows) continue;
      std::uint64_t const start = from.rows->at(lane, std::uint64_t{thread / warp_lanes}, i)[1];
      if (start * from.fragment.bits % 128 != 0)
        return MisalignedRow{static_cast<unsigned>(thread), static_cast<unsigned>(i), start};
    }
  return {};
}

}  // namespace

Solution solve_rows(Fragment const& memory, FragmentSide const& wanted, bool columns_contiguous) {
  unsigned const instructions = wanted.values() / memory.values;
  unsigned const warps = wanted.fragment.threads / warp_lanes;
  struct First {
    Start start;
    Holder holder;
    std::uint32_t column;
  };
  Starts starts({memory.rows, warps, instructions});
  std::map<Starts::Place, First> found;
  for (std::uint32_t t = 0; t < wanted.fragment.threads; ++t)
    for (std::uint32_t i = 0; i < wanted.values(); ++i) {
      MatrixElement const in_row = element_of(memory, t, std::uint32_t{i % memory.values});
      MatrixElement const e = wanted.at(t, i);
      Start start = columns_contiguous ? Start{e.row, e.column} : Start{e.column, e.row};
      start[1] -= in_row.column;
      First const& first = found
                               .try_emplace({in_row.row, t / warp_lanes, i / memory.values},
                                            First{start, {t, i}, in_row.column})
                               .first->second;
      if (first.start == start) continue;
      Holder const one = first.holder;
      return {{},
              SplitRow{{one, {t, i}},
                       {wanted.at(std::uint32_t{one.thread}, std::uint32_t{one.value}), e},
                       static_cast<int>(in_row.column) - static_cast<int>(first.column)}};
    }
  for (auto const& [place, first] : found) {
    starts[place] = first.start;
    if (first.start[1] * memory.bits % 128 == 0) continue;
    Holder const one = first.holder;
    MatrixElement const e = wanted.at(std::uint32_t{one.thread}, std::uint32_t{one.value});
    return {{}, SplitRow{{one, one}, {e, e}, 0}};
  }
  return {expressed(starts), {}};
}

RowStarts natural_rows(Fragment const& memory, FragmentSide const& wanted, bool columns_contiguous) {
  unsigned const instructions = wanted.values() / memory.values;
  unsigned const warps = wanted.fragment.threads / warp_lanes;
  unsigned const warp_rows =
      wanted.fragment.rows / warps;  // of the operand: warp w has those from w * warp_rows on
  std::uint32_t rows = 0;            // of the tile, that one warp reads
  for (std::uint32_t t = 0; t < warp_lanes; ++t)
    for (std::uint32_t i = 0; i < wanted.values(); ++i) {
      MatrixElement const e = wanted.at(t, i);
      rows = std::max(rows, (columns_contiguous ? e.row : e.column) + 1);
    }
  Starts starts({memory.rows, warps, instructions});
  for (std::size_t n = 0; n < starts.size(); ++n) {
    Starts::Place const place = starts.place(n);
    auto const row = static_cast<std::int64_t>(place[2] * memory.rows + place[0]);
    starts[place] = {row % rows, row / rows * memory.columns};
    starts[place][columns_contiguous ? 0 : 1] += static_cast<std::int64_t>(place[1] * warp_rows);
  }
  if (auto rows_found = expressed(starts)) return *rows_found;
  auto const variable = [](RowVariable v) { return Expression::variable(static_cast<std::uint64_t>(v)); };
  return {variable(RowVariable::lane) + Expression(memory.rows) * variable(RowVariable::instruction),
          Expression(0),
          fmt::format("row = lane + {}*i, col = 0 for i in 0..{}", memory.rows, instructions - 1)};
}

Delivery deliver(Movement const& m, Limits const& limits) {
  Delivery out;
  out.domain = fmt::format("{} {}, {} values each", m.wanted.fragment.threads,
                           m.wanted.fragment.threads == warp_lanes ? "lanes" : "threads", m.wanted.values());
  std::vector<Question> questions{
      after("every value is the element that is wanted", m, UpTo{m.order, {}, {}, {}})};
  if (m.delivered.rows) questions.push_back(aligned_rows(m));
  out.answer = decide(questions, limits, Effort::two);
  if (out.answer.refuted() == nullptr) return out;
  if (m.delivered.rows) out.misaligned = first_misaligned(m);
  for (std::uint32_t t = 0; t < m.wanted.fragment.threads && !out.first; ++t)
    for (std::uint32_t i = 0; i < m.wanted.values() && !out.first; ++i)
      if (MatrixElement const got = delivered_at(m, t, looked_up(m.order, std::uint64_t{i}));
          !(got == m.wanted.at(t, i)))
        out.first = WrongValue{t, i, got, m.wanted.at(t, i)};
  if (m.order.empty()) out.movmatrix = transposition(m, limits);
  if (m.operand == Operand::d || out.misaligned || !m.order.empty()) return out;
  out.nothing_fixes = true;
  for (Freedom const& freedom :
       {Freedom{false, true, false}, Freedom{true, false, false}, Freedom{false, true, true},
        Freedom{true, true, false}, Freedom{true, true, true}}) {
    Search search(m, freedom);
    if (auto found = search.run()) {
      out.nothing_fixes = false;
      found->answer = decide(after("up to these changes", m, *found), limits, Effort::one);
      if (found->answer.proved()) out.up_to = std::move(found);
      break;
    }
    out.nothing_fixes = out.nothing_fixes && search.complete();
  }
  return out;
}

}  // namespace swizproof
