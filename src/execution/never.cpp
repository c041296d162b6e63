#include "never.hpp"

#include "gates.hpp"

#include <swizproof/core/splitmix.hpp>
#include <swizproof/engine/decide.hpp>
#include <swizproof/engine/walk.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace swizproof::execution {

namespace {

constexpr std::size_t most_nodes = 2'000;
constexpr std::size_t most_gates = 30'000;  ///< of a truth: 0.2 s

/// A truth, and what is known of its leaves.
class Claim {
 public:
  Claim(Execution const& execution, Warp& warp, std::map<Id, std::uint64_t> const& counts)
      : execution_(execution), warp_(warp), counts_(counts) {}

  /// Collects the leaves. If the truth has too many gates, its products are leaves, too: each may then be any number that its facts
  /// allow. False if it has too many parts.
  bool collect(Id truth) { return find_leaves(truth) || (gates_ > most_gates && find_leaves(truth)); }

  [[nodiscard]] std::vector<swizproof::Variable> variables() const {
    std::vector<swizproof::Variable> out;
    for (Id const id : leaves_) out.push_back({"v" + std::to_string(out.size()), execution_.node(id).width});
    return out;
  }

  /// True if the truth holds for some numbers that are tried, small ones and any: most truths that can hold do.
  bool holds_for_some(Id truth) {
    constexpr std::uint64_t most_tried = 32, small = 7;
    for (std::uint64_t seed = 0; seed < most_tried; ++seed) {
      Terms terms;  // folds constants
      std::vector<Term> values;
      for (Id const id : leaves_) {
        Facts const f = facts_of(id);
        std::uint64_t const range = f.most - f.least, any = splitmix64(seed << 32 | values.size());
        std::uint64_t const number = (any >> 63) != 0 ? any : any & small;
        std::uint64_t const x = range == ~std::uint64_t{0} ? number : number % (range + 1);
        values.push_back(terms.constant(64, (f.least + x) & ~f.zeros));
      }
      if (formula(values, truth).id == 1) return true;
    }
    return false;
  }

  /// That the truth holds for these values of the leaves, and that the leaves can have them.
  Formula formula(std::span<Term const> values, Id truth) {
    terms_ = values[0].terms, values_ = values, memo_.clear();
    Formula all(terms_, translated(truth));
    for (std::size_t i = 0; i < leaves_.size(); ++i) all = all && allowed(i);
    return all;
  }

 private:
  bool find_leaves(Id truth) {
    bool const cut = std::exchange(gates_, 0) != 0;
    number_.clear(), leaves_.clear();
    Walk walk(truth, most_nodes);
    while (auto const id = walk.next()) {
      Node const n = execution_.node(*id);
      std::size_t const gates = gates_of(execution_, n);
      bool const leaf = cut && gates > n.width;
      gates_ += leaf ? n.width : gates;
      if (leaf)
        number_.try_emplace(*id, number_.size());
      else
        walk.add(operands(n));
      if (execution_.leaf_at(*id) == nullptr) continue;
      if (Phi const* const phi = sum_at(*id)) {
        walk.add(std::vector<Id>{phi->init, phi->step, counter_of(*phi)});
        gates_ += std::size_t{n.width} * n.width;
      } else {
        number_.try_emplace(*id, number_.size());
      }
    }
    leaves_.resize(number_.size());
    for (auto const& [id, number] : number_) leaves_[number] = id;
    return !walk.over() && gates_ <= most_gates && !leaves_.empty();
  }
  /// A register of a loop that is a sum.
  [[nodiscard]] Phi const* sum_at(Id id) const {
    Phi const* const phi = execution_.phi_at(id);
    return phi != nullptr && (phi->kind == Phi::Kind::affine || phi->kind == Phi::Kind::same) ? phi : nullptr;
  }
  [[nodiscard]] Id counter_of(Phi const& phi) const {
    return execution_.counters[static_cast<std::size_t>(phi.loop)];
  }

  [[nodiscard]] Facts facts_of(Id id) const {
    Facts facts = warp_.facts(id);
    if (auto const count = counts_.find(id); count != counts_.end()) facts.most = count->second - 1;
    facts.most = std::min(facts.most, low_bits(execution_.node(id).width));
    return facts;
  }
  Formula allowed(std::size_t i) {
    Id const id = leaves_[i];
    Term const x = values_[i];
    Facts const facts = facts_of(id);
    Formula all = !(x < like(x, facts.least)) && !(like(x, facts.most) < x) &&
                  (x & like(x, facts.zeros & low_bits(execution_.node(id).width))) == like(x, 0);
    Leaf const* const l = execution_.leaf_at(id);
    if (l == nullptr || l->kind != Leaf::Kind::special || is_uniform(*l)) return all;
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      Leaf const* const grid = execution_.leaf_at(leaves_[k]);
      auto const ctaid = static_cast<std::uint32_t>(Special::ctaid_x),
                 nctaid = static_cast<std::uint32_t>(Special::nctaid_x);
      if (grid != nullptr && grid->kind == Leaf::Kind::special && l->extra >= ctaid && l->extra < nctaid &&
          grid->extra == l->extra - ctaid + nctaid)
        all = all && x < values_[k];
    }
    return all;
  }

  Id translated(Id id) {
    if (auto const found = memo_.find(id); found != memo_.end()) return found->second;
    Node const n = execution_.node(id);
    Id out = 0;
    if (auto const leaf = number_.find(id); leaf != number_.end()) {
      out = resized(values_[leaf->second], n.width).id;
    } else if (Phi const* const phi = sum_at(id)) {
      Term const init{terms_, translated(phi->init)};
      out = init.id;
      if (phi->kind == Phi::Kind::affine) {
        Term const k = resized(Term{terms_, translated(counter_of(*phi))}, n.width);
        out = (init + k * Term{terms_, translated(phi->step)}).id;
      }
    } else {
      out = terms_->add(with_operands(n, [&](Id operand) { return translated(operand); }));
    }
    return memo_[id] = out;
  }

  Execution const& execution_;
  Warp& warp_;
  std::map<Id, std::uint64_t> const& counts_;
  std::size_t gates_ = 0;                         ///< of the truth, by the last walk; 0: not walked
  std::unordered_map<Id, std::size_t> number_{};  ///< of a leaf
  std::vector<Id> leaves_{};
  Terms* terms_ = nullptr;
  std::span<Term const> values_{};
  std::unordered_map<Id, Id> memo_{};
};

}  // namespace

bool never_holds(Execution const& execution, Warp& warp, Id truth, std::map<Id, std::uint64_t> const& counts,
                 std::uint64_t most_steps) {
  Claim claim(execution, warp, counts);
  if (!claim.collect(truth) || claim.holds_for_some(truth)) return false;
  Question q{"no thread passes the guard", 64, claim.variables(), {}, {}, {}};
  q.on_terms = [&](std::span<Term const> values) { return states(!claim.formula(values, truth)); };
  q.on_numbers = [&](std::span<std::uint64_t const> numbers) {
    Terms terms;  // folds constants
    std::vector<Term> values;
    for (std::uint64_t const x : numbers) values.push_back(terms.constant(64, x));
    return states(claim.formula(values, truth).id != 1);
  };
  Limits limits;
  limits.steps = most_steps;
  return std::holds_alternative<Proved>(decide_symbolically(std::span(&q, 1), limits));
}

}  // namespace swizproof::execution
