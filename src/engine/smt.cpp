// Translates graphs of terms to Z3 and queries it. No other file uses Z3.
#include "system/cpu_time.hpp"
#include "system/parallel.hpp"
#include "engine/engines.hpp"
#include "engine/violations.hpp"

#include <swizproof/engine/solver.hpp>

#include <z3.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>

namespace swizproof::engine {

namespace {

/// A call of Z3 that did not do what it was asked.
struct Failure {
  Z3_error_code code;
  std::string message;
};

/// Reason why a query stopped; empty if it was answered.
struct Stop {
  std::string reason{};
  bool memory = false;
};

/// The CPU seconds that a query may take, counted from its construction on the thread that made it: Z3 works on that thread, and
/// its own limit counts time on the wall.
class Budget {
 public:
  explicit Budget(double seconds) : seconds_(std::max(seconds, 0.001)) {}
  [[nodiscard]] bool spent() const { return clock_.seconds() >= seconds_; }

 private:
  ThreadClock clock_{};
  double seconds_;
};

/// Interrupts a query when its budget is spent, or when its answer is not wanted any more. Z3 forgets an interruption that comes
/// before the query has begun, that of its own timer too: this one comes again until the query has ended.
class Watch {
 public:
  Watch(Z3_context context, Budget const& budget, std::stop_token stop)
      : thread_([context, &budget, stop = std::move(stop)](std::stop_token const& ended) {
          constexpr std::chrono::milliseconds step{10};
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock(mutex);
          while (!ended.stop_requested()) {
            wake.wait_for(lock, ended, step, [] { return false; });
            bool const over = stop.stop_requested() || budget.spent();
            if (over && !ended.stop_requested()) Z3_interrupt(context);
          }
        }) {}

 private:
  std::jthread thread_;
};

/// A Z3 context with one solver, and the translation of one Terms. Every call's error code is checked; a call that failed
/// throws Failure.
class Solver {
 public:
  /// `megabytes` bounds what Z3 has allocated in this process, by all solvers together: it counts no other way.
  Solver(Limits const& limits, std::uint64_t megabytes) : limits_(limits), megabytes_(megabytes) {
    Z3_config const config = Z3_mk_config();
    owned_.reset(Z3_mk_context_rc(config));
    Z3_del_config(config);
    context_ = owned_.get();
    if (context_ == nullptr) throw Failure{Z3_MEMOUT_FAIL, "no context"};
    Z3_set_error_handler(context_, nullptr);
    solver_ = checked(Z3_mk_solver_for_logic(context_, Z3_mk_string_symbol(context_, "QF_FD")));
    Z3_solver_inc_ref(context_, solver_);
  }
  Solver(Solver const&) = delete;
  Solver& operator=(Solver const&) = delete;
  /// Leaves Z3's memory as it is: for a context that an exception has passed through, which may hold anything.
  void abandon() {
    (void)owned_.release();
    asts_.clear();
    model_ = nullptr, solver_ = nullptr;
  }
  ~Solver() {
    if (model_ != nullptr) Z3_model_dec_ref(context_, model_);
    if (solver_ != nullptr) Z3_solver_dec_ref(context_, solver_);
    // Z3 frees a context that still holds references a hundred times slower than an empty one.
    for (Z3_ast const ast : asts_) Z3_dec_ref(context_, ast);
  }

  /// Requires that at least one of the formulas holds.
  void require_any(Terms const& terms, std::span<Formula const> formulas) {
    translate(terms);
    std::vector<Z3_ast> any;
    for (Formula const& f : formulas) any.push_back(asts_[f.id]);
    Z3_ast const violated = checked(Z3_mk_or(context_, static_cast<unsigned>(any.size()), any.data()));
    Z3_solver_assert(context_, solver_, violated);
    check_error();
  }

  [[nodiscard]] Z3_lbool check(double seconds) {
    set_parameters();
    budget_.emplace(seconds);
    Z3_lbool const answer = check_until_stopped();
    if (budget_->spent()) return Z3_L_UNDEF;  // a model may have been interrupted as well
    check_error();
    if (answer == Z3_L_TRUE) {
      model_ = checked(Z3_solver_get_model(context_, solver_));
      Z3_model_inc_ref(context_, model_);
    }
    return answer;
  }

  /// Reason if the answer is neither yes nor no. Z3's own texts ("canceled", "no reason given") do not distinguish limits.
  [[nodiscard]] Stop why_unknown() { return why(Z3_solver_get_reason_unknown(context_, solver_)); }
  [[nodiscard]] Stop why(std::string const& text) const {
    if (limits_.stop.stop_requested()) return {"stopped"};
    if (budget_ && budget_->spent()) return {"time-out"};
    if (text.find("memory") != text.npos || Z3_get_estimated_alloc_size() >> 20 >= megabytes_)
      return {"out of memory: more than " + std::to_string(megabytes_) + " MiB", true};
    bool const canceled = text.find("cancel") != text.npos || text.find("resource") != text.npos;
    if (limits_.steps != 0 && (canceled || text == "no reason given"))
      return {"limit of " + std::to_string(limits_.steps) + " steps"};
    return {canceled || text == "timeout" ? "time-out" : "Z3 says: " + text};
  }

  /// The value of variable `number` in the model; 0 where the model does not care.
  [[nodiscard]] std::uint64_t value(std::size_t number) {
    Z3_ast out = nullptr;
    std::uint64_t value = 0;
    if (number < variables_.size() && variables_[number] != nullptr &&
        Z3_model_eval(context_, model_, variables_[number], true, &out) &&
        Z3_get_numeral_uint64(context_, out, &value))
      return value;
    check_error();
    return 0;
  }

 private:
  [[nodiscard]] Z3_lbool check_until_stopped() {
    Watch const watch(context_, *budget_, limits_.stop);
    return limits_.stop.stop_requested() ? Z3_L_UNDEF : Z3_solver_check(context_, solver_);
  }
  struct Delete {
    void operator()(Z3_context context) const { Z3_del_context(context); }
  };

  void check_error() const {
    Z3_error_code const code = Z3_get_error_code(context_);
    if (code != Z3_OK) throw Failure{code, Z3_get_error_msg(context_, code)};
  }
  template <class T>
  T checked(T value) const {
    check_error();
    return value;
  }

  void set_parameters() {
    Z3_params const params = checked(Z3_mk_params(context_));
    Z3_params_inc_ref(context_, params);
    auto const name = [&](char const* key) { return Z3_mk_string_symbol(context_, key); };
    auto const set = [&](char const* key, std::uint64_t value) {
      constexpr std::uint64_t most = std::numeric_limits<unsigned>::max();
      Z3_params_set_uint(context_, params, name(key), static_cast<unsigned>(std::min(value, most)));
    };
    set("random_seed", limits_.seed);
    set("max_memory", megabytes_);
    if (limits_.steps != 0) set("rlimit", limits_.steps);
    Z3_params_set_bool(context_, params, name("ctrl_c"),
                       false);  // a signal is the program's, not one query's
    Z3_solver_set_params(context_, solver_, params);
    Z3_params_dec_ref(context_, params);
    check_error();
  }

  void translate(Terms const& terms) {
    variables_.resize(terms.unknowns().size(), nullptr);
    for (std::size_t i = asts_.size(); i < terms.nodes().size(); ++i) {
      Node const& n = terms.nodes()[i];
      Z3_ast const a = n.a < i ? asts_[n.a] : nullptr;
      Z3_ast const b = n.b < i ? asts_[n.b] : nullptr;
      Z3_ast const c = n.c < i ? asts_[n.c] : nullptr;
      Z3_ast const ast = checked(make(n, a, b, c));
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
      case Op::truncate:
        return Z3_mk_extract(context_, n.width - 1U, 0, a);
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

  Limits const& limits_;
  std::uint64_t megabytes_;
  std::optional<Budget> budget_{};
  std::unique_ptr<std::remove_pointer_t<Z3_context>, Delete> owned_{};
  Z3_context context_ = nullptr;
  Z3_solver solver_ = nullptr;
  Z3_model model_ = nullptr;
  std::vector<Z3_ast> asts_;
  std::vector<Z3_ast> variables_;
};

/// Queries that run now. Z3's limit of memory is one of the process, so that a query's own can only be kept while it runs
/// alone: see decide_chunk().
class Running {
 public:
  /// Shared or exclusive lock; released by the destructor.
  class Place {
   public:
    Place(Running& running, bool alone) : running_(running), alone_(alone) {
      std::unique_lock lock(running_.mutex_);
      running_.waiting_alone_ += alone ? 1 : 0;
      running_.changed_.wait(lock, [&] {
        return alone ? running_.count_ == 0 : !running_.alone_ && running_.waiting_alone_ == 0;
      });
      running_.waiting_alone_ -= alone ? 1 : 0;
      running_.alone_ = alone;
      others_ = running_.count_++;
      running_.entered_ += 1;
      entered_ = running_.entered_;
    }
    Place(Place const&) = delete;
    Place& operator=(Place const&) = delete;
    ~Place() {
      std::scoped_lock const lock(running_.mutex_);
      --running_.count_;
      if (alone_) running_.alone_ = false;
      running_.changed_.notify_all();
    }
    /// Those that were here when this one entered.
    [[nodiscard]] std::uint64_t others() const { return others_; }
    /// True if another query ran here at any time since.
    [[nodiscard]] bool shared() const {
      std::scoped_lock const lock(running_.mutex_);
      return others_ != 0 || running_.entered_ != entered_;
    }

   private:
    Running& running_;
    bool alone_;
    std::uint64_t others_ = 0, entered_ = 0;
  };

 private:
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::uint64_t count_ = 0, waiting_alone_ = 0, entered_ = 0;
  bool alone_ = false;
};

/// Values of each question's variables in the model. One of the questions at least fails there.
Finding candidates(std::span<Question const> part, Violations const& violations, Solver& solver) {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < part.size(); ++i) {
    all.push_back({i, {}});
    for (std::size_t v = 0; v < part[i].variables.size(); ++v) {
      auto const& nodes = violations.terms.nodes();
      Node const& node = nodes[violations.unknowns[i][v].id];
      all.back().numbers.push_back(solver.value(node.op == Op::variable ? node.value : nodes[node.a].value));
    }
  }
  return all;
}

/// Z3 is not started if three quarters of the remaining memory are less than this: Z3 4.8.12 crashes if memory ends while a
/// context is made or deleted.
constexpr std::uint64_t least_megabytes = 32;

/// One query. `stop` says what ended it without an answer.
Finding query(std::span<Question const> part, Limits const& limits, std::uint64_t megabytes, double seconds,
              Stop& stop) {
  std::optional<Solver> solver;
  bool asked = false;
  try {
    Violations const violations(part);
    solver.emplace(limits, megabytes);
    solver->require_any(violations.terms, violations.formulas);
    asked = true;
    Z3_lbool const answer = solver->check(seconds);
    if (answer == Z3_L_FALSE) return Proved{};
    if (answer == Z3_L_TRUE) return candidates(part, violations, *solver);
    stop = solver->why_unknown();
  } catch (Failure const& failure) {
    if (failure.code == Z3_MEMOUT_FAIL)
      stop = {"out of memory", true};
    else if (failure.code == Z3_EXCEPTION && asked)
      stop = solver->why(failure.message);
    else  // before the query, memory is the only limit
      throw std::logic_error("Z3, asked about '" + part.front().name + "': " + failure.message);
  } catch (std::bad_alloc const&) {
    if (solver) solver->abandon();
    stop = {"out of memory", true};
  } catch (std::system_error const&) {  // Z3 keeps its time by a thread
    if (solver) solver->abandon();
    stop = {"out of memory: no thread can be made", true};
  }
  return Unknown{stop.reason};
}

/// Decides up to a chunk of questions. Those that run together share the memory of all of them; one that this stopped is
/// asked again when it can have its own for itself.
Finding decide_chunk(std::span<Question const> part, Limits const& limits, double seconds) {
  static Running running;  // as Z3's count of memory: one for the process
  std::uint64_t const most = memory_megabytes() / 4 * 3;
  if (most < least_megabytes) return Unknown{"out of memory"};
  Stop stop;
  {
    Running::Place const place(running, false);
    std::uint64_t const megabytes = std::min(most, limits.megabytes * (place.others() + 1));
    Finding found = query(part, limits, megabytes, seconds, stop);
    if (!stop.memory || !place.shared()) return found;
  }
  Running::Place const place(running, true);
  return query(part, limits, std::min<std::uint64_t>(most, limits.megabytes), limits.seconds, stop);
}

}  // namespace

Finding smt(std::span<Question const> questions, Limits const& limits) {
  // All negated claims in one disjunction share one bit-blasting and one search: ten times faster
  // over a family of thousands than a query each. Chunks bound the memory and feed the threads.
  // A few questions are each of another kind, and cheaper apart.
  constexpr std::size_t largest_chunk = 1024, few = 8;
  std::atomic<double> spent = 0;  // CPU seconds, by all threads
  std::size_t const share = (questions.size() + limits.threads - 1) / std::max(limits.threads, 1U);
  std::size_t const chunk = questions.size() <= few ? 1 : std::clamp<std::size_t>(share, 1, largest_chunk);
  std::size_t const chunks = (questions.size() + chunk - 1) / chunk;
  auto const workers =
      static_cast<double>(std::clamp<std::size_t>(limits.threads, 1, std::max<std::size_t>(chunks, 1)));
  std::vector<Finding> found(chunks, Unknown{std::string(not_decided)});
  std::atomic<bool> open = true;
  auto const decide_one = [&](std::size_t i) {
    if (!open) return;
    auto const part = questions.subspan(i * chunk, std::min(chunk, questions.size() - i * chunk));
    ThreadClock const clock;
    found[i] = decide_chunk(part, limits, limits.seconds - spent / workers);
    spent += clock.seconds();
    if (auto* failed = std::get_if<std::vector<Candidate>>(&found[i]))
      for (Candidate& candidate : *failed) candidate.question += i * chunk;
    if (!std::holds_alternative<Proved>(found[i])) open = false;
  };
  in_parallel(chunks, std::max(limits.threads, 1U), decide_one);
  // A counterexample first; then the reason that stopped the chunks which were not reached.
  Finding verdict = Proved{};
  for (Finding const& one : found) {
    if (std::holds_alternative<std::vector<Candidate>>(one)) return one;
    auto const* unknown = std::get_if<Unknown>(&one);
    if (unknown && (std::holds_alternative<Proved>(verdict) || unknown->reason != not_decided)) verdict = one;
  }
  return verdict;
}

}  // namespace swizproof::engine

namespace swizproof {

std::string_view solver_name() { return "Z3"; }

}  // namespace swizproof
