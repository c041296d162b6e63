#include <swizproof/certificate/rup.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace swizproof {

namespace {

using Clause = std::vector<int>;
constexpr int largest_variable = 1 << 22;

/// Clauses with two watched literals each, and what they force.
class Propagator {
 public:
  /// Adds a clause. False if the clauses are now contradictory by unit propagation alone.
  bool add(Clause clause) {
    normalize(clause);
    for (int const l : clause) reserve(l);
    std::uint64_t const key = hash(clause);
    // Watch two literals that are not false, where there are two.
    std::stable_partition(clause.begin(), clause.end(), [&](int l) { return !is_true(-l); });
    literals_.push_back(static_cast<int>(clause.size()));
    auto const place = static_cast<std::uint32_t>(literals_.size());
    literals_.insert(literals_.end(), clause.begin(), clause.end());
    places_.emplace(key, place);
    if (clause.size() > 1)
      watch(clause[0]).push_back({place, clause[1]}), watch(clause[1]).push_back({place, clause[0]});
    if (clause.empty() || is_true(-clause[0])) return false;
    bool const unit = clause.size() == 1 || is_true(-clause[1]);
    return !unit || is_true(clause[0]) || (set(clause[0]), propagate());
  }

  /// Forgets a clause. What it has forced stays: that follows from clauses which were there.
  bool remove(Clause clause) {
    normalize(clause);
    auto [at, end] = places_.equal_range(hash(clause));
    for (; at != end; ++at) {
      int* const first = literals_.data() + at->second;
      if (!std::is_permutation(clause.begin(), clause.end(), first, first + first[-1])) continue;
      first[-1] = 0;  // the watch lists drop it when they meet it
      places_.erase(at);
      return true;
    }
    return false;
  }

  /// True if the clause follows by reverse unit propagation. Leaves everything as it was.
  bool follows(Clause const& clause) {
    std::size_t const before = trail_.size();
    bool contradiction = false;
    for (int const l : clause) {
      reserve(l);
      contradiction = contradiction || is_true(l);
      if (!contradiction && !is_true(-l)) set(-l);
    }
    contradiction = contradiction || !propagate();
    for (std::size_t i = before; i < trail_.size(); ++i) value_[index(trail_[i])] = 0;
    trail_.resize(before);
    done_ = std::min(done_, before);
    return contradiction;
  }

 private:
  struct Watch {
    std::uint32_t place;  // of the clause
    int other;            // some literal of the clause; if it is true, there is nothing to do
  };
  static std::size_t index(int l) { return 2 * static_cast<std::size_t>(l < 0 ? -l : l) + (l < 0 ? 1 : 0); }
  static void normalize(Clause& clause) {
    std::sort(clause.begin(), clause.end());
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  }
  static std::uint64_t hash(Clause const& clause) {
    std::uint64_t h = clause.size();
    for (int const l : clause) h = (h ^ static_cast<std::uint32_t>(l)) * 0x9E3779B97F4A7C15U, h ^= h >> 29;
    return h;
  }
  [[nodiscard]] bool is_true(int l) const { return value_[index(l)] != 0; }
  std::vector<Watch>& watch(int l) { return watches_[index(l)]; }
  void reserve(int l) {
    std::size_t const size = (index(l) | 1) + 1;
    if (size > value_.size()) value_.resize(size, 0), watches_.resize(size);
  }
  void set(int l) {
    value_[index(l)] = 1;
    trail_.push_back(l);
  }

  /// Sets all that is forced. False if a clause is false.
  bool propagate() {
    for (; done_ < trail_.size(); ++done_) {
      int const gone = -trail_[done_];  // is false now
      std::vector<Watch>& watching = watch(gone);
      std::size_t kept = 0, i = 0;
      bool consistent = true;
      while (i < watching.size() && consistent) {
        Watch const w = watching[kept++] = watching[i++];
        if (is_true(w.other)) continue;
        int* const clause = literals_.data() + w.place;
        if (clause[-1] == 0) {
          --kept;
          continue;
        }
        if (clause[0] == gone) std::swap(clause[0], clause[1]);
        watching[kept - 1].other = clause[0];
        if (is_true(clause[0])) continue;
        int* const end = clause + clause[-1];
        int* const free = std::find_if(clause + 2, end, [&](int l) { return !is_true(-l); });
        if (free != end) {
          std::swap(clause[1], *free);
          watch(clause[1]).push_back({w.place, clause[0]});
          --kept;
        } else if (is_true(-clause[0])) {
          consistent = false;
        } else {
          set(clause[0]);
        }
      }
      watching.erase(watching.begin() + static_cast<std::ptrdiff_t>(kept),
                     watching.begin() + static_cast<std::ptrdiff_t>(i));
      if (!consistent) return false;
    }
    return true;
  }

  std::vector<int> literals_;  // of all clauses: size (0 if removed), two that are watched, the others
  std::unordered_multimap<std::uint64_t, std::uint32_t> places_;  // of clauses, by hash
  std::vector<std::vector<Watch>> watches_;                       // by literal: clauses that watch it
  std::vector<char> value_;                                       // by literal: is it true?
  std::vector<int> trail_;                                        // true literals, oldest first
  std::size_t done_ = 0;                                          // of them, propagated
};

/// Takes the next line; false at the end.
bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  std::size_t const end = std::min(text.find('\n'), text.size());
  line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

/// Reads `1 -2 0`. False if the line is anything else.
bool read_clause(std::string_view line, Clause& clause) {
  clause.clear();
  while (true) {
    while (!line.empty() && (line[0] == ' ' || line[0] == '\t' || line[0] == '\r')) line.remove_prefix(1);
    int literal = 0;
    auto const [end, error] = std::from_chars(line.data(), line.data() + line.size(), literal);
    if (error != std::errc{} || literal > largest_variable || literal < -largest_variable) return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (literal == 0) return line.find_first_not_of(" \t\r") == line.npos;
    clause.push_back(literal);
  }
}

}  // namespace

ProofCheck check_proof(std::string_view dimacs, std::string_view proof) {
  ProofCheck out;
  auto const refuse = [&](char const* file, std::size_t line, char const* why) {
    out.reason = std::string(file) + ":" + std::to_string(line) + ": " + why;
    return out;
  };
  if (dimacs.size() + proof.size() > 0xffffffff)
    return refuse("formula", 1, "too large");  // for places of 32 bits
  Propagator clauses;
  Clause clause;
  std::string_view line;
  bool consistent = true, header = false;
  for (std::size_t n = 1; take_line(dimacs, line); ++n) {
    if (line.empty() || line[0] == 'c') continue;
    if (line.starts_with("p cnf ")) {
      header = true;
      continue;
    }
    if (!header || !read_clause(line, clause)) return refuse("formula", n, "not a clause");
    consistent = clauses.add(clause) && consistent;
  }
  if (!header) return refuse("formula", 1, "no 'p cnf' line");
  for (std::size_t n = 1; take_line(proof, line); ++n) {
    if (line.empty() || line[0] == 'c') continue;
    bool const removes = line.starts_with("d ");
    if (!read_clause(removes ? line.substr(2) : line, clause)) return refuse("proof", n, "not a clause");
    if (removes) {
      if (!clauses.remove(clause)) return refuse("proof", n, "removes a clause that is not there");
      continue;
    }
    ++out.lemmas;
    if (consistent && !clauses.follows(clause))
      return refuse("proof", n, "does not follow by unit propagation");
    if (clause.empty()) {
      out.valid = true;
      return out;
    }
    if (consistent) consistent = clauses.add(clause);
  }
  out.valid = !consistent;  // then unit propagation alone refutes the formula: the proof may be empty
  if (!out.valid) out.reason = "proof: ends without the empty clause";
  return out;
}

}  // namespace swizproof
