// Translates graphs of terms to Z3 and asks. The only file that knows Z3.
#include "violations.hpp"

#include <z3.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>

namespace swizproof {

namespace {

using Clock = std::chrono::steady_clock;

/// A Z3 context with one solver, and the translation of one Terms.
class Solver {
 public:
  explicit Solver(Limits const& limits) {
    Z3_config const config = Z3_mk_config();
    context_ = Z3_mk_context_rc(config);
    Z3_del_config(config);
    Z3_set_error_handler(context_, nullptr);
    solver_ = Z3_mk_solver_for_logic(context_, Z3_mk_string_symbol(context_, "QF_FD"));
    Z3_solver_inc_ref(context_, solver_);
    Z3_params const params = Z3_mk_params(context_);
    Z3_params_inc_ref(context_, params);
    auto const set = [&](char const* key, unsigned value) {
      Z3_params_set_uint(context_, params, Z3_mk_string_symbol(context_, key), value);
    };
    set("random_seed", limits.seed);
    set("max_memory", limits.megabytes);
    Z3_solver_set_params(context_, solver_, params);
    Z3_params_dec_ref(context_, params);
  }
  Solver(Solver const&) = delete;
  Solver& operator=(Solver const&) = delete;
  ~Solver() {
    if (model_ != nullptr) Z3_model_dec_ref(context_, model_);
    Z3_solver_dec_ref(context_, solver_);
    // Z3 frees a context that still holds references a hundred times slower than an empty one.
    for (Z3_ast const ast : asts_) Z3_dec_ref(context_, ast);
    Z3_del_context(context_);
  }

  /// Requires that at least one of the formulas holds.
  void require_any(Terms const& terms, std::span<Formula const> formulas) {
    translate(terms);
    std::vector<Z3_ast> any;
    for (Formula const& f : formulas) any.push_back(asts_[f.id]);
    Z3_solver_assert(context_, solver_, Z3_mk_or(context_, static_cast<unsigned>(any.size()), any.data()));
  }

  [[nodiscard]] Z3_lbool check(double seconds) {
    Z3_params const params = Z3_mk_params(context_);
    Z3_params_inc_ref(context_, params);
    double const ms = std::clamp(seconds * 1000, 1.0, 4e9);
    Z3_params_set_uint(context_, params, Z3_mk_string_symbol(context_, "timeout"), static_cast<unsigned>(ms));
    Z3_solver_set_params(context_, solver_, params);
    Z3_params_dec_ref(context_, params);
    Z3_lbool const answer = Z3_solver_check(context_, solver_);
    if (answer == Z3_L_TRUE) {
      model_ = Z3_solver_get_model(context_, solver_);
      Z3_model_inc_ref(context_, model_);
    }
    return answer;
  }

  [[nodiscard]] std::string reason() {
    std::string text = Z3_solver_get_reason_unknown(context_, solver_);
    return text.find("cancel") != std::string::npos || text == "timeout" ? "time-out" : text;
  }

  /// The value of variable `number` in the model; 0 where the model does not care.
  [[nodiscard]] std::uint64_t value(std::size_t number) {
    Z3_ast out = nullptr;
    std::uint64_t value = 0;
    if (number < variables_.size() && variables_[number] != nullptr &&
        Z3_model_eval(context_, model_, variables_[number], true, &out) &&
        Z3_get_numeral_uint64(context_, out, &value))
      return value;
    return 0;
  }

 private:
  void translate(Terms const& terms) {
    variables_.resize(terms.unknowns().size(), nullptr);
    for (std::size_t i = asts_.size(); i < terms.nodes().size(); ++i) {
      Node const& n = terms.nodes()[i];
      Z3_ast const a = n.a < i ? asts_[n.a] : nullptr;
      Z3_ast const b = n.b < i ? asts_[n.b] : nullptr;
      Z3_ast const c = n.c < i ? asts_[n.c] : nullptr;
      Z3_ast const ast = make(n, a, b, c);
      Z3_inc_ref(context_, ast);
      asts_.push_back(ast);
    }
  }

  Z3_ast make(Node const& n, Z3_ast a, Z3_ast b, Z3_ast c) {
    Z3_ast const both[] = {a, b};
    switch (n.op) {
      case Op::constant:
        return Z3_mk_unsigned_int64(context_, n.value, Z3_mk_bv_sort(context_, n.width));
      case Op::variable:
        return variables_[n.value] = Z3_mk_const(
                   context_, Z3_mk_int_symbol(context_, static_cast<int>(n.value)),  // names may repeat
                   Z3_mk_bv_sort(context_, n.width));
      case Op::bv_xor:
        return Z3_mk_bvxor(context_, a, b);
      case Op::bv_and:
        return Z3_mk_bvand(context_, a, b);
      case Op::bv_or:
        return Z3_mk_bvor(context_, a, b);
      case Op::bv_add:
        return Z3_mk_bvadd(context_, a, b);
      case Op::bv_sub:
        return Z3_mk_bvsub(context_, a, b);
      case Op::bv_mul:
        return Z3_mk_bvmul(context_, a, b);
      case Op::bv_udiv:
        return Z3_mk_bvudiv(context_, a, b);
      case Op::bv_urem:
        return Z3_mk_bvurem(context_, a, b);
      case Op::bv_shl:
        return Z3_mk_bvshl(context_, a, b);
      case Op::bv_lshr:
        return Z3_mk_bvlshr(context_, a, b);
      case Op::ite:
        return Z3_mk_ite(context_, a, b, c);
      case Op::zero_extend: {
        unsigned const from = Z3_get_bv_sort_size(context_, Z3_get_sort(context_, a));
        return Z3_mk_zero_ext(context_, n.width - from, a);
      }
      case Op::eq:
        return Z3_mk_eq(context_, a, b);
      case Op::ult:
        return Z3_mk_bvult(context_, a, b);
      case Op::truth:
        return n.value != 0 ? Z3_mk_true(context_) : Z3_mk_false(context_);
      case Op::negation:
        return Z3_mk_not(context_, a);
      case Op::conjunction:
        return Z3_mk_and(context_, 2, both);
      case Op::disjunction:
        return Z3_mk_or(context_, 2, both);
    }
    throw std::logic_error("unknown node");
  }

  Z3_context context_ = nullptr;
  Z3_solver solver_ = nullptr;
  Z3_model model_ = nullptr;
  std::vector<Z3_ast> asts_;
  std::vector<Z3_ast> variables_;
};

/// Decides up to a chunk of questions in one query.
Outcome decide_chunk(std::span<Question const> part, Limits const& limits, double seconds) {
  Violations const violations(part);
  Solver solver(limits);
  solver.require_any(violations.terms, violations.formulas);
  Z3_lbool const answer = solver.check(seconds);
  if (answer == Z3_L_UNDEF) return Unknown{solver.reason()};
  if (answer == Z3_L_FALSE) return Proved{};
  for (std::size_t i = 0; i < part.size(); ++i) {
    std::vector<std::uint64_t> values;
    Refuted refuted{part[i].name, {}};
    for (std::size_t v = 0; v < part[i].variables.size(); ++v) {
      auto const& nodes = violations.terms.nodes();
      Node const& node = nodes[violations.unknowns[i][v].id];
      values.push_back(solver.value(node.op == Op::variable ? node.value : nodes[node.a].value));
      refuted.values.emplace_back(part[i].variables[v].name, values.back());
    }
    auto const [hypothesis, conclusion] = part[i].on_numbers(values);
    if (hypothesis && !conclusion) return refuted;
  }
  throw Disagreement{"Z3's model for '" + part.front().name + "' is no counterexample on plain numbers"};
}

}  // namespace

Outcome decide_symbolically(std::span<Question const> questions, Limits const& limits) {
  if (questions.empty()) return Unknown{"no question was asked"};
  // All negated claims in one disjunction share one bit-blasting and one search: ten times faster
  // over a family of thousands than a query each. Chunks bound the memory and feed the threads.
  constexpr std::size_t largest_chunk = 1024;
  auto const deadline = Clock::now() + std::chrono::duration<double>(limits.seconds);
  std::size_t const share = (questions.size() + limits.threads - 1) / std::max(limits.threads, 1U);
  std::size_t const chunk = std::clamp<std::size_t>(share, 1, largest_chunk);
  std::size_t const chunks = (questions.size() + chunk - 1) / chunk;
  std::vector<Outcome> outcomes(chunks);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> open = true;
  auto const work = [&] {
    for (std::size_t i = next++; i < chunks && open; i = next++) {
      auto const part = questions.subspan(i * chunk, std::min(chunk, questions.size() - i * chunk));
      outcomes[i] =
          decide_chunk(part, limits, std::chrono::duration<double>(deadline - Clock::now()).count());
      if (!std::holds_alternative<Proved>(outcomes[i])) open = false;
    }
  };
  std::vector<std::future<void>> helpers;
  for (std::size_t t = 1; t < std::min<std::size_t>(limits.threads, chunks); ++t)
    helpers.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& helper : helpers) helper.get();
  // A counterexample first; then the reason that stopped the chunks which were not reached.
  Outcome verdict = Proved{};
  for (Outcome const& outcome : outcomes) {
    if (std::holds_alternative<Refuted>(outcome)) return outcome;
    auto const* unknown = std::get_if<Unknown>(&outcome);
    if (unknown && (std::holds_alternative<Proved>(verdict) || unknown->reason != not_decided))
      verdict = outcome;
  }
  return verdict;
}

}  // namespace swizproof
