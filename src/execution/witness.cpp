#include "witness.hpp"

#include "gates.hpp"

#include <swizproof/engine/decide.hpp>
#include <swizproof/engine/walk.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <bit>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace swizproof::execution {

namespace {

constexpr std::size_t most_searches = 16;          ///< of one kernel
constexpr std::size_t most_witness_nodes = 8'000;  ///< of one search
constexpr std::uint64_t most_steps = 200'000;      ///< by Z3's count, of one search

/// Conditions that must hold, and the unknowns in them.
class Search {
 public:
  Search(Program const& program, Flow const& flow, Execution const& execution, Launch const& launch,
         Warp const& warp, std::int32_t loop)
      : program_(program), flow_(flow), execution_(execution), launch_(launch), warp_(warp), loop_(loop) {}

  /// Collects the unknowns below a term; false if it depends on what a witness cannot choose.
  bool collect(Id start) {
    walk_.add(start);
    while (auto const id = walk_.next()) {
      walk_.add(operands(node(*id)));
      gates_ += gates_of(execution_, node(*id));
      Leaf const* const l = execution_.leaf_at(*id);
      if (l == nullptr) continue;
      if (std::optional<Id> const divisor = divisor_of(*l)) {
        divisors_.insert(*divisor);
        walk_.add(*divisor);
      } else if (from_known_lane(*l)) {
        walk_.add(l->args[0]);
      } else {
        if (!add_leaf(node(*id))) return false;
        if (Phi const* const phi = execution_.phi_at(*id)) walk_.add(phi->init);
      }
    }
    return !walk_.over();
  }

  /// Gates of the terms that were collected.
  [[nodiscard]] std::size_t gates() const { return gates_; }
  /// That the lanes pass the guard and the assumptions hold, over the unknowns' values.
  Formula formula(std::span<Term const> values, Id guard, std::uint32_t lanes,
                  std::vector<Assumption> const& assumptions) {
    Terms* const terms = values.empty() ? nullptr : values[0].terms;
    if (terms == nullptr) return false;
    terms_ = terms, values_ = values;
    unsigned const first = static_cast<unsigned>(std::countr_zero(lanes));
    Formula all = true;
    for (std::size_t i = 0; i < unknowns_.size(); ++i)
      if (unknowns_[i].blocks != 0) all = all && values[i] < like(values[i], unknowns_[i].blocks);
    for (Assumption const& a : assumptions) {
      lane_ = first, memo_.clear();
      Id const atom = translated(a.atom);
      if (a.truth) {
        Formula const truth(terms, atom);
        all = all && (a.value != 0 ? truth : !truth);
        continue;
      }
      Term const word{terms, atom};
      std::uint64_t const low = low_bits(std::min(a.bits, word.width()));
      all = all && (word & like(word, low)) == like(word, a.value & low);
    }
    for (lane_ = first; lane_ < 32; ++lane_)
      if ((lanes >> lane_ & 1) != 0) {
        memo_.clear();
        all = all && Formula(terms, translated(guard));
        for (Id const divisor : divisors_) {
          Term const word{terms, translated(divisor)};
          all = all && !(word == like(word, 0));
        }
      }
    return all;
  }

  [[nodiscard]] std::vector<swizproof::Variable> variables() const {
    std::vector<swizproof::Variable> out;
    for (Unknown const& u : unknowns_) out.push_back({"v" + std::to_string(out.size()), u.bits});
    return out;
  }
  /// The leaves' values in a model.
  [[nodiscard]] LeafValues values_of(std::vector<std::pair<std::string, std::uint64_t>> const& model) const {
    LeafValues out;
    for (std::size_t i = 0; i < unknowns_.size() && i < model.size(); ++i)
      for (std::uint64_t const leaf : unknowns_[i].leaves) out[leaf] = model[i].second * unknowns_[i].unit;
    return out;
  }

 private:
  struct Unknown {
    unsigned bits = 0;
    std::uint64_t unit = 1;  ///< the leaf is a multiple of it
    std::uint32_t symbol = 0;
    std::uint64_t offset = 0;
    bool parameter = false;
    std::vector<std::uint64_t> leaves{};
    std::uint64_t blocks = 0;  ///< of the number of a block: it is below this one
  };

  [[nodiscard]] Node const& node(Id id) const { return execution_.terms.nodes()[id]; }
  /// The divisor where the leaf is the result of a division by 0, which PTX leaves open: a witness does without.
  [[nodiscard]] std::optional<Id> divisor_of(Leaf const& l) const {
    bool const open = l.kind == Leaf::Kind::opaque && program_.names[l.extra].ends_with(" by 0");
    return open ? std::optional(l.args[1]) : std::nullopt;
  }
  /// A shuffle whose source lane is a constant. That this lane executes it, a replay shows.
  [[nodiscard]] bool from_known_lane(Leaf const& l) const {
    return l.kind == Leaf::Kind::shuffle && node(l.args[1]).op == Op::constant &&
           node(l.args[2]).op == Op::constant;
  }
  /// The value that a lane gets: that of another lane, whose terms are its own.
  Id shuffled(Leaf const& l) {
    unsigned const to = lane_;
    lane_ =
        shuffle_source(static_cast<Shuffle>(l.extra), to, static_cast<std::uint32_t>(node(l.args[1]).value),
                       static_cast<std::uint32_t>(node(l.args[2]).value));
    bool const other = lane_ != to;
    std::unordered_map<Id, Id> memo;
    if (other) memo.swap(memo_);
    Id const out = translated(l.args[0]);
    if (other) memo.swap(memo_);
    lane_ = to;
    return out;
  }
  [[nodiscard]] static bool is_block(Leaf const& l) {
    auto const s = static_cast<Special>(l.extra);
    return l.kind == Leaf::Kind::special && !is_uniform(l) && s >= Special::ctaid_x && s < Special::nctaid_x;
  }

  bool add_leaf(Node const& n) {
    Leaf const& l = execution_.leaves[n.value];
    switch (l.kind) {
      case Leaf::Kind::special:
        if (is_uniform(l)) return false;
        if (is_block(l)) {
          auto const s = static_cast<Special>(l.extra);
          std::uint64_t const blocks = launch_.blocks(s).value_or(launch_.whole_clusters(s, witness_blocks));
          add(n.value, {std::max(1U, static_cast<unsigned>(std::bit_width(blocks - 1))),
                        1,
                        l.extra,
                        0,
                        false,
                        {},
                        blocks});
        }
        return true;
      case Leaf::Kind::symbol:
        add(n.value, {6, program_.symbols[l.extra].align, l.extra, 1, false, {}});
        return true;
      case Leaf::Kind::param:
        if (launch_.params.count(program_.symbols[l.extra].name) != 0 && l.offset < 8) return true;
        for (Unknown const& u : unknowns_)  // bytes that two of them share would have two values
          if (u.parameter && u.symbol == l.extra && l.offset < u.offset + u.bits / 8 &&
              u.offset < l.offset + l.width / 8 && (u.offset != l.offset || u.bits != l.width))
            return false;
        add(n.value, {l.width, 1, l.extra, l.offset, true, {}});
        return true;
      case Leaf::Kind::counter:
      case Leaf::Kind::phi:
        return flow_.encloses(l.loop, loop_);
      default:
        return false;
    }
  }
  void add(std::uint64_t leaf, Unknown one) {
    auto at = std::find_if(unknowns_.begin(), unknowns_.end(), [&](Unknown const& u) {
      return u.parameter == one.parameter && u.symbol == one.symbol && u.offset == one.offset &&
             u.unit == one.unit && u.bits == one.bits;
    });
    if (at == unknowns_.end()) at = unknowns_.insert(at, std::move(one));
    at->leaves.push_back(leaf);
    number_[leaf] = static_cast<std::size_t>(at - unknowns_.begin());
  }

  /// A term of the execution in the lane `lane_`.
  Id translated(Id id) {
    if (auto const found = memo_.find(id); found != memo_.end()) return found->second;
    Node const n = node(id);
    if (n.op == Op::variable) return memo_[id] = leaf(id, n);
    Id const out = terms_->add(with_operands(n, [&](Id operand) { return translated(operand); }));
    return memo_[id] = out;
  }
  Id leaf(Id id, Node const& n) {
    Leaf const& l = execution_.leaves[n.value];
    if (Phi const* const phi = execution_.phi_at(id)) return translated(phi->init);
    if (from_known_lane(l)) return shuffled(l);
    if (auto const at = number_.find(n.value); at != number_.end()) {
      Unknown const& u = unknowns_[at->second];
      Term const value = values_[at->second];
      return resized(u.unit == 1 ? value : value * like(value, u.unit), n.width).id;
    }
    std::uint64_t value = 0;  // a counter's, and of a division by 0, which does not occur
    if (l.kind == Leaf::Kind::param)
      value = launch_.params.at(program_.symbols[l.extra].name) >> 8 * l.offset;
    else if (auto const s = static_cast<Special>(l.extra); l.kind == Leaf::Kind::special)
      value = s >= Special::nctaid_x && s <= Special::nctaid_z
                  ? launch_.blocks(s).value_or(launch_.whole_clusters(s, witness_blocks))
              : s == Special::ntid_x && launch_.any_multiple ? launch_.block[0]
                                                             : warp_.special(s, lane_);
    return terms_->constant(n.width, value).id;
  }

  Program const& program_;
  Flow const& flow_;
  Execution const& execution_;
  Launch const& launch_;
  Warp const& warp_;
  std::int32_t loop_;
  Walk walk_{std::vector<Id>{}, most_witness_nodes};
  std::size_t gates_ = 0;
  std::vector<Unknown> unknowns_{};
  std::set<Id> divisors_{};
  std::unordered_map<std::uint64_t, std::size_t> number_{};  ///< of a leaf among the unknowns
  Terms* terms_ = nullptr;
  std::span<Term const> values_{};
  unsigned lane_ = 0;
  std::unordered_map<Id, Id> memo_{};
};

}  // namespace

std::optional<LeafValues> Witnesses::find(Warp const& warp, unsigned number, std::int32_t loop, Id guard,
                                          std::uint32_t lanes, std::vector<Assumption> const& assumptions) {
  Key key{number, loop, guard, lanes, {}};
  for (Assumption const& a : assumptions) std::get<4>(key).emplace_back(a.atom, a.bits, a.value);
  if (auto const found = known_.find(key); found != known_.end()) return found->second;
  if (known_.size() >= most_searches) return std::nullopt;
  std::optional<LeafValues>& result = known_[std::move(key)];
  Search search(program_, flow_, execution_, launch_, warp, loop);
  if (lanes == 0 || !search.collect(guard)) return result;
  for (Assumption const& a : assumptions)
    if (!search.collect(a.atom)) return result;
  Question q{"the lanes do not pass the guard", 64, search.variables(), {}, {}, {}};
  if (q.variables.empty()) return result = LeafValues{};
  if (search.gates() > gates_left_) return result;
  gates_left_ -= search.gates();
  q.on_terms = [&](std::span<Term const> values) {
    return states(!search.formula(values, guard, lanes, assumptions));
  };
  q.on_numbers = [&](std::span<std::uint64_t const> numbers) {
    Terms terms;  // folds constants
    std::vector<Term> values;
    for (std::uint64_t const x : numbers) values.push_back(terms.constant(64, x));
    return states(search.formula(values, guard, lanes, assumptions).id != 1);
  };
  Limits limits;
  limits.steps = most_steps;
  Outcome const outcome = decide_symbolically(std::span(&q, 1), limits);
  if (auto const* const refuted = std::get_if<Refuted>(&outcome)) result = search.values_of(refuted->values);
  return result;
}

}  // namespace swizproof::execution
