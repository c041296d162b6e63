#include "certificate/trimmer.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace swizproof {

namespace {

using Clause = std::vector<int>;
using Id = std::uint32_t;  ///< number of a clause: those of the formula first, then the lemmas
constexpr Id none = 0xffffffff;
constexpr int largest_variable = 1 << 22;

std::size_t variable(int l) { return static_cast<std::size_t>(l < 0 ? -l : l); }
std::size_t index(int l) { return 2 * variable(l) + (l < 0 ? 1 : 0); }

/// Reasons of a step: clauses, and variables that were set for good.
struct Reasons {
  std::vector<Id> clauses{};
  std::vector<std::size_t> variables{};
};

/// Unit propagation that remembers why.
class Propagator {
 public:
  /// Adds the next clause.
  void add(Clause clause) {
    for (int const l : clause) reserve(l);
    Id const id = static_cast<Id>(places_.size());
    known_.emplace(hash(clause), id);
    std::stable_partition(clause.begin(), clause.end(), [&](int l) { return !is_true(-l); });
    places_.push_back(literals_.size());
    sizes_.push_back(clause.size());
    removed_.push_back(0);
    literals_.insert(literals_.end(), clause.begin(), clause.end());
    if (clause.size() > 1)
      watch(clause[0]).push_back({id, clause[1]}), watch(clause[1]).push_back({id, clause[0]});
    if (clause.empty() || is_true(-clause[0])) {
      refute(id);
    } else if ((clause.size() == 1 || is_true(-clause[1])) && !is_true(clause[0])) {
      set(clause[0], id);
      refute(propagate());
    }
  }
  /// Forgets a clause; it may still be a reason. Returns false if the clause is not known.
  bool remove(Clause const& clause) {
    auto [at, end] = known_.equal_range(hash(clause));
    for (; at != end; ++at) {
      auto const first = literals_.begin() + static_cast<std::ptrdiff_t>(places_[at->second]);
      auto const size = static_cast<std::ptrdiff_t>(sizes_[at->second]);
      if (!std::is_permutation(clause.begin(), clause.end(), first, first + size)) continue;
      removed_[at->second] = 1;
      known_.erase(at);
      return true;
    }
    return false;
  }
  /// Reason why the clause follows. Nothing if it does not.
  std::optional<Reasons> reasons(Clause const& clause) {
    lasting_ = trail_.size();
    std::optional<Reasons> out;
    for (int const l : clause) {
      reserve(l);
      if (is_true(l) && !out) out = why({l}, none);
      if (!is_true(l) && !is_true(-l)) set(-l, none);
    }
    if (Id const conflict = out ? none : propagate(); conflict != none) out = why({}, conflict);
    for (std::size_t i = lasting_; i < trail_.size(); ++i) value_[index(trail_[i])] = 0;
    trail_.resize(lasting_);
    done_ = std::min(done_, lasting_);
    return out;
  }
  /// The clause that is false for good, if there is one.
  [[nodiscard]] Id contradiction() const { return contradiction_; }
  [[nodiscard]] Id reason(std::size_t v) const { return reason_[v]; }
  /// Calls visit(variable) for all of a clause.
  template <class Visit>
  void each_variable(Id id, Visit const& visit) const {
    for (std::size_t i = 0; i < sizes_[id]; ++i) visit(variable(literals_[places_[id] + i]));
  }

 private:
  struct Watch {
    Id id;
    int other;  // some literal of the clause; if it is true, there is nothing to do
  };
  static std::uint64_t hash(Clause const& clause) {  // the same in every order
    std::uint64_t h = clause.size();
    for (int const l : clause) {
      std::uint64_t const mixed = static_cast<std::uint32_t>(l) * 0x9E3779B97F4A7C15U;
      h += mixed ^ mixed >> 31;
    }
    return h;
  }
  [[nodiscard]] bool is_true(int l) const { return value_[index(l)] != 0; }
  std::vector<Watch>& watch(int l) { return watches_[index(l)]; }
  void reserve(int l) {
    std::size_t const size = (index(l) | 1) + 1;
    if (size <= value_.size()) return;
    value_.resize(size, 0), watches_.resize(size);
    reason_.resize(size / 2, none), place_.resize(size / 2, 0), seen_.resize(size / 2, 0);
  }
  void set(int l, Id reason) {
    value_[index(l)] = 1;
    reason_[variable(l)] = reason;
    place_[variable(l)] = trail_.size();
    trail_.push_back(l);
  }
  void refute(Id conflict) {
    if (contradiction_ == none) contradiction_ = conflict;
  }
  /// All that a conflict, or the literals, rest on.
  Reasons why(Clause const& literals, Id conflict) {
    Reasons out;
    std::vector<std::size_t> met;
    auto const meet = [&](std::size_t v) {
      if (seen_[v] == 0) seen_[v] = 1, met.push_back(v);
    };
    auto const use = [&](Id id) {
      out.clauses.push_back(id);
      each_variable(id, meet);
    };
    for (int const l : literals) meet(variable(l));
    if (conflict != none) use(conflict);
    for (std::size_t i = 0; i < met.size(); ++i) {
      if (place_[met[i]] < lasting_)
        out.variables.push_back(met[i]);
      else if (reason_[met[i]] != none)
        use(reason_[met[i]]);
    }
    for (std::size_t const v : met) seen_[v] = 0;
    return out;
  }
  /// Sets all that is forced. Returns a clause that is false, if there is one.
  Id propagate() {
    for (; done_ < trail_.size(); ++done_) {
      int const gone = -trail_[done_];
      std::vector<Watch>& watching = watch(gone);
      std::size_t kept = 0, i = 0;
      Id conflict = none;
      while (i < watching.size() && conflict == none) {
        Watch const w = watching[kept++] = watching[i++];
        if (is_true(w.other)) continue;
        if (removed_[w.id] != 0) {
          --kept;
          continue;
        }
        int* const clause = literals_.data() + places_[w.id];
        int* const end = clause + sizes_[w.id];
        if (clause[0] == gone) std::swap(clause[0], clause[1]);
        watching[kept - 1].other = clause[0];
        if (is_true(clause[0])) continue;
        int* const free = std::find_if(clause + 2, end, [&](int l) { return !is_true(-l); });
        if (free != end) {
          std::swap(clause[1], *free);
          watch(clause[1]).push_back({w.id, clause[0]});
          --kept;
        } else if (is_true(-clause[0])) {
          conflict = w.id;
        } else {
          set(clause[0], w.id);
        }
      }
      watching.erase(watching.begin() + static_cast<std::ptrdiff_t>(kept),
                     watching.begin() + static_cast<std::ptrdiff_t>(i));
      if (conflict != none) return conflict;
    }
    return none;
  }

  std::vector<int> literals_;                         // of all clauses; the first two of each are watched
  std::vector<std::size_t> places_, sizes_;           // by clause
  std::vector<char> removed_;                         // by clause
  std::unordered_multimap<std::uint64_t, Id> known_;  // clauses that are not removed, by hash
  std::vector<std::vector<Watch>> watches_;           // by literal
  std::vector<char> value_;                           // by literal: is it true?
  std::vector<Id> reason_;                            // by variable: the clause that forced it
  std::vector<std::size_t> place_;                    // by variable: on the trail
  std::vector<char> seen_;                            // by variable
  std::vector<int> trail_;
  std::size_t done_ = 0, lasting_ = 0;  // of the trail: propagated; set for good
  Id contradiction_ = none;
};

/// Takes the next line that is no comment; false at the end.
bool take_line(std::string_view& text, std::string_view& line) {
  do {
    if (text.empty()) return false;
    std::size_t const end = std::min(text.find('\n'), text.size());
    line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  } while (line.empty() || line[0] == 'c' || line[0] == 'p');
  return true;
}

/// Reads `1 -2 0`. False if the line is anything else.
bool read_clause(std::string_view line, Clause& clause) {
  clause.clear();
  for (int literal = 0;;) {
    while (!line.empty() && line[0] == ' ') line.remove_prefix(1);
    auto const [end, error] = std::from_chars(line.data(), line.data() + line.size(), literal);
    if (error != std::errc{} || literal > largest_variable || literal < -largest_variable) return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (literal == 0) break;
    clause.push_back(literal);
  }
  std::sort(clause.begin(), clause.end());
  clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  return line.find_first_not_of(' ') == line.npos;
}

constexpr Id for_good = none - 1;

/// Last lemma that uses each clause: `none` where nothing needs it, `for_good` where the contradiction or a variable rests
/// on it. `why` holds the reasons of each lemma.
std::vector<Id> last_uses(Propagator const& clauses, std::vector<Reasons> const& why, Id of_formula) {
  std::vector<Id> last(of_formula + why.size(), none);
  std::vector<Id> todo;
  std::vector<std::size_t> variables;
  std::unordered_set<std::size_t> met;
  auto const use = [&](Id id, Id by) {
    if (last[id] == none && id >= of_formula) todo.push_back(id - of_formula);
    if (last[id] == none || last[id] < by) last[id] = by;
  };
  auto const meet = [&](std::size_t v) {
    if (met.insert(v).second) variables.push_back(v);
  };
  use(clauses.contradiction(), for_good);
  clauses.each_variable(clauses.contradiction(), meet);
  while (!todo.empty() || !variables.empty()) {
    if (!variables.empty()) {
      Id const reason = clauses.reason(variables.back());
      variables.pop_back();
      use(reason, for_good);
      clauses.each_variable(reason, meet);
      continue;
    }
    Id const lemma = todo.back();
    todo.pop_back();
    for (Id const id : why[lemma].clauses) use(id, lemma);
    for (std::size_t const v : why[lemma].variables) meet(v);
  }
  return last;
}

/// The proof of the lemmas that are needed. `lines` are of clauses, `last` their last uses.
std::string written(std::vector<std::string_view> const& lines, std::vector<Id> const& last, Id of_formula,
                    std::size_t lemmas_a_byte) {
  std::vector<std::vector<Id>> gone(lines.size() - of_formula);  // by lemma: what it uses last
  std::size_t to_come = 0;                                       // lemmas
  for (Id id = 0; id < last.size(); ++id) {
    if (last[id] < for_good) gone[last[id]].push_back(id);
    if (id >= of_formula && last[id] != none) ++to_come;
  }
  std::string out;
  auto const remove = [&](Id id) {
    if (to_come > lemmas_a_byte * lines[id].size()) ((out += "d ") += lines[id]) += '\n';
  };
  for (Id id = 0; id < of_formula; ++id)
    if (last[id] == none) remove(id);
  for (Id id = of_formula; id < lines.size(); ++id) {
    if (last[id] == none) continue;
    (out += lines[id]) += '\n';
    --to_come;
    for (Id const other : gone[id - of_formula]) remove(other);
  }
  return out + "0\n";
}

}  // namespace

std::optional<std::string> trimmed(std::string_view dimacs, std::string_view proof,
                                   std::size_t lemmas_a_byte) {
  Propagator clauses;
  Clause clause;
  std::string_view line;
  Id of_formula = 0;
  std::vector<std::string_view> lines;  // by clause
  for (; take_line(dimacs, line); ++of_formula) {
    lines.push_back(line);
    if (!read_clause(line, clause)) return std::nullopt;
    clauses.add(clause);
  }
  std::vector<Reasons> why;
  while (clauses.contradiction() == none) {
    if (!take_line(proof, line)) return std::nullopt;
    bool const removes = line[0] == 'd';
    if (!read_clause(removes ? line.substr(1) : line, clause)) return std::nullopt;
    if (removes) {
      if (!clauses.remove(clause)) return std::nullopt;
      continue;
    }
    auto reasons = clauses.reasons(clause);
    if (!reasons) return std::nullopt;
    why.push_back(std::move(*reasons));
    lines.push_back(line);
    clauses.add(clause);
  }
  return written(lines, last_uses(clauses, why, of_formula), of_formula, lemmas_a_byte);
}

}  // namespace swizproof
