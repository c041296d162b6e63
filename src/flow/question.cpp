#include <swizproof/flow/flow.hpp>

#include "block_accesses.hpp"
#include "canceled_work.hpp"
#include "differences.hpp"
#include "drawn_data.hpp"
#include "edits.hpp"
#include "numbers.hpp"
#include "orders.hpp"
#include "target.hpp"
#include "ways.hpp"

#include <swizproof/hardware/architecture.hpp>
#include <swizproof/hardware/element.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace swizproof {

namespace {

using flow_detail::address_of;
using flow_detail::Cell;
using flow_detail::FlowKernel;
using flow_detail::FlowSum;
using flow_detail::FlowTerm;
using flow_detail::Name;
using flow_detail::Names;
using flow_detail::Target;
using flow_detail::Written;

constexpr std::size_t most_shown = 4;
constexpr char const* exact_floats = "floating-point arithmetic is exact: no rounding, overflow or NaN";

using Ones = std::vector<std::pair<Written, Target*>>;

/// At most 256 of them, without a pattern.
Ones sampled(Ones const& all) {
  constexpr std::size_t most = 256;
  if (all.size() <= most) return all;
  Ones out;
  std::uint64_t x = 1;
  for (std::size_t i = 0; i < most; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    out.push_back(all[(x >> 33) % all.size()]);
  }
  return out;
}

/// A term of an element's sum. A number without elements is one without a sign, where the array has such; `alone`: there are no other terms.
std::string text_in(FlowArray const& array, FlowTerm const& term, bool alone, Names const& names) {
  bool const number = std::all_of(term.factors.begin(), term.factors.end(), [](auto f) { return f == 0; });
  if (!alone || !number || array.type[0] != 'u' || term.coefficient >= 0) return names.text(term);
  constexpr unsigned word = 64;
  auto const bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(term.coefficient));
  return std::to_string(array.bits == word ? bits : bits & ((std::uint64_t{1} << array.bits) - 1));
}

/// Fails where no device has as much shared memory for a block. PTX for sm_90a is for that device alone; other PTX also for newer ones.
void check_shared(FlowKernel const& kernel) {
  std::string const& target = kernel.module.target;
  std::uint64_t most = 0, own = 0;
  for (Architecture const& a : architectures) {
    most = std::max(most, a.most_shared_bytes.value());
    if (a.name == target || fmt::format("{}a", a.name) == target) own = a.most_shared_bytes.value();
  }
  bool const one = own != 0 && target.ends_with('a');
  if (kernel.shared_bytes() > (one ? own : most))
    throw InputError::whole(fmt::format("a block has {} bytes of shared memory, and {} has at most {}",
                                        kernel.shared_bytes(), one ? target : "a device", one ? own : most),
                            std::to_string(kernel.launch.shared_bytes));
}

/// Name of an element that was written.
Name name_of(FlowKernel const& kernel, Written const& w, flow_detail::BlockRun const& block, Names& names) {
  FlowArray const& a = kernel.arrays[w.array];
  std::uint64_t const at = (std::uint64_t{w.array} << flow_detail::array_shift) + w.element * (a.bits / 8);
  flow_detail::Word word;
  std::uint32_t line = ~0U;
  for (unsigned i = 0; i < a.bits / 8; ++i) {
    Cell const* const c = block.global().find(at + i);
    if (c == nullptr && !a.values.empty()) {
      word.number |= a.values[w.element] & std::uint64_t{0xff} << 8 * i;
    } else if (c == nullptr) {  // the part that is not written stays what it was
      word.part[i] = names.element(w.array, w.element, line) * 8 + i;
    } else {
      word.part[i] = c->part, word.number |= std::uint64_t{c->number} << 8 * i, line = c->writer.line;
    }
    if (word.part[i] != 0) word.named = static_cast<std::uint8_t>(word.named | 1U << i);
  }
  return names.whole(word, 0, a.bits / 8, flow_detail::format_of(a.type), line);
}

/// An answer is refuted by data that may not exist: what is found in a way that data choose.
void soften(FlowReport& report) {
  std::string const what = report.fault   ? report.fault->text
                           : report.first ? report.first->element + " is wrong"
                                          : "an element is not written, or is not expected";
  report.reason = "on one of the ways that data choose: " + what + "; no data were found that lead there";
  if (report.fault && !report.fault->lines.empty()) report.at = report.fault->lines[0];
  report.fault.reset(), report.first.reset();
  report.missing = report.unexpected = 0;
  report.verdict = FlowVerdict::unknown;
}

/// One launch, block by block.
class Launched {
 public:
  /// `without`: an instruction that is not executed; none if it is no instruction. `hasty`: it ends at the first element that is not right.
  Launched(FlowKernel const& kernel, std::vector<FlowExpectation> const& expectations, FlowReport& report,
           std::uint32_t without = ~0U, bool hasty = false)
      : kernel_(kernel), report_(report), without_(without), free_(expectations.empty()), hasty_(hasty) {
    for (FlowExpectation const& e : expectations) {
      targets_.emplace_back(e, kernel);
      report_.elements += targets_.back().count();
      flow_detail::must_be_disjoint(kernel_, targets_);
    }
  }

  void run() {
    run_blocks();
    if (by_data_ && report_.verdict == FlowVerdict::refuted) soften(report_);
    if (report_.verdict == FlowVerdict::proved) return;
    report_.hints = flow_detail::hints_of(kernel_, uses_, moved_);
  }
  /// True if data decide what is executed, and the answer is not proved: data may refute it.
  [[nodiscard]] bool undecided_by_data() const { return by_data_ && report_.verdict == FlowVerdict::unknown; }
  /// Instructions that a block has executed.
  [[nodiscard]] std::set<std::uint32_t> const& executed() const { return executed_; }
  /// Instructions of warps, also those of a block that has not ended.
  [[nodiscard]] std::uint64_t spent() const { return spent_; }

 private:
  void run_blocks() {
    for (auto const& block : flow_detail::clusters_of(kernel_))
      if (!run_block(block)) return;
    if (!canceled_.compare(
            kernel_, [&](Written const& w) { return target_of(w) != nullptr; }, report_))
      return;
    if (without(accesses_.read_elsewhere())) finish();
    leave_out();
  }

  /// Executes a cluster from its first block on, in each way that data choose. False if it is decided: a fault, or an instruction that is not
  /// executed.
  bool run_block(std::array<std::uint32_t, 3> const& number) {
    flow_detail::Decisions ways;
    do {
      Names names(kernel_.arrays);
      flow_detail::BlockRun block(kernel_, number, names, without_, &ways);
      bool const goes_on = run_way(block, names, number, ways.ways() == 1);
      by_data_ = by_data_ || block.by_data();
      for (auto const& [array, types] : block.uses()) uses_[array].insert(types.begin(), types.end());
      report_.ways = std::max<std::uint64_t>(report_.ways, ways.ways());
      if (!goes_on) return false;
    } while (ways.next());
    return true;
  }

  bool run_way(flow_detail::BlockRun& block, Names& names, std::array<std::uint32_t, 3> const& number,
               bool first) {
    try {
      execute(block);
    } catch (flow_detail::FlowConflict const& conflict) {
      refute(conflict, number);
      report_.fault->text += flow_detail::where_canceled(number, block.canceled());
      if (block.not_well_synchronised()) explain(*block.not_well_synchronised());
      return false;
    } catch (flow_detail::FlowRefused const& refused) {
      if (block.not_well_synchronised())
        return synchronised_otherwise(*block.not_well_synchronised(), number);
      by_data_ = by_data_ || refused.by_data;
      report_.reason = refused.text;
      if (refused.line != ~0U) report_.at = kernel_.line(refused.line);
      return false;
    }
    if (block.not_well_synchronised()) return synchronised_otherwise(*block.not_well_synchronised(), number);
    report_.cancels = report_.cancels || kernel_.cancels;
    report_.blocks += first ? kernel_.blocks_of_cluster() : 0;
    report_.steps += block.steps();
    if (kernel_.launch.spare) executed_.merge(block.executed());
    left_out_.insert(block.left_out().begin(), block.left_out().end());
    assumed_.insert(block.assumed().begin(), block.assumed().end());
    if (report_.steps > kernel_.launch.most_steps) {
      report_.reason = fmt::format("the blocks execute more than {} instructions", kernel_.launch.most_steps);
      return false;
    }
    return check(block, names, first, number);
  }

  void execute(flow_detail::BlockRun& block) {
    try {
      block.run();
    } catch (...) {
      spent_ += block.steps();
      throw;
    }
    spent_ += block.steps();
  }

  /// A block that is not well synchronised: a fault in another order refutes, and without one the answer is unknown. False.
  bool synchronised_otherwise(flow_detail::FlowConflict const& why,
                              std::array<std::uint32_t, 3> const& number) {
    if (auto const fault = flow_detail::fault_in_another_order(kernel_, number, kernel_.launch.most_steps))
      return refute(*fault, number);
    report_.reason = "not well synchronised: " + why.text;
    report_.at = kernel_.line(why.second.line);
    return false;
  }

  /// A fault of a launch that is not well synchronised: why it is not, and the instruction.
  void explain(flow_detail::FlowConflict const& why) {
    report_.fault->why = "not well synchronised: " + why.text;
    FlowLine const line = kernel_.line(why.second.line);
    auto& lines = report_.fault->lines;
    if (std::none_of(lines.begin(), lines.end(),
                     [&](FlowLine const& l) { return l.ptx_line == line.ptx_line; }))
      lines.push_back(line);
  }

  /// Makes the answer a fault; false.
  bool refute(flow_detail::FlowConflict const& conflict, std::array<std::uint32_t, 3> const& number) {
    report_.fault = flow_detail::fault_of(kernel_, conflict, number);
    report_.verdict = FlowVerdict::refuted;
    return false;
  }

  /// A way of a cluster that has canceled others: each element has to be right.
  bool check_canceled(std::set<Written> const& written, flow_detail::BlockRun const& block, Names& names) {
    if (free_) return true;
    Ones wrong;
    for (Written const& w : written) {
      Target* const target = target_of(w);
      if (target == nullptr) continue;
      Name const name = name_of(kernel_, w, block, names);
      FlowSum const found = names.expand(name);
      if (!followed(w, found)) return false;
      std::vector<FlowTerm> const expected = target->expected(target->place(w.element), names);
      if (is_same(w, found.terms, expected)) continue;
      if (!shown_wrong(w, name, found, expected, names)) return false;
      wrong.emplace_back(w, target);
    }
    report_.wrong += wrong.size();
    if (!wrong.empty() && !report_.first) explain(wrong, {}, block, names);
    return true;
  }

  /// Compares what a block has written; `first`: in its first way.
  bool check(flow_detail::BlockRun const& block, Names& names, bool first,
             std::array<std::uint32_t, 3> const& number) {
    std::set<Written> written, read;
    if (first) accesses_.next_block();
    block.global().each([&](std::uint64_t address, Cell const& c) {
      std::uint32_t const id = kernel_.array_of(address);
      std::uint64_t const at = address & ((std::uint64_t{1} << flow_detail::array_shift) - 1);
      Written const w{id, at / (kernel_.arrays[id].bits / 8)};
      if (c.written) written.insert(w);
      if (c.read_before && block.canceled().empty()) accesses_.read(w, c.weak_read);
      if (c.read_before && kernel_.cancels) read.insert(w);
    });
    if (kernel_.cancels) canceled_.add(number, block.canceled(), written, read);
    if (!block.canceled().empty()) return check_canceled(written, block, names);
    if (!first) return check_way(written, block, names);
    written_ = written;
    Ones wrong, right_ones;
    bool open = false;
    for (Written const& w : written) {
      if (!without(accesses_.write(w, block))) return false;
      if (free_) {
        show(w, block, names);
        continue;
      }
      Target* const target = target_of(w);
      std::uint32_t const place = target == nullptr ? 0 : target->place(w.element);
      if (place == 0) {
        ++report_.unexpected;
        if (hasty_) return false;
        if (report_.unexpected_names.size() < most_shown)
          report_.unexpected_names.push_back(kernel_.arrays[w.array].element(w.element));
        if (!kernel_.launch.data) continue;
      }
      Name const name = name_of(kernel_, w, block, names);
      FlowSum const found = names.expand(name);
      if (!followed(w, found)) return false;
      std::vector<FlowTerm> const expected =
          place == 0 ? std::vector<FlowTerm>{} : target->expected(place, names);
      bool const right = place != 0 && is_same(w, found.terms, expected);
      if (hasty_ && !right) return false;
      if (place != 0 && !right && !shown_wrong(w, name, found, expected, names)) {
        open = true;  // unless another element is wrong
        target->state(place) = Target::State::undecided;
        continue;
      }
      if (kernel_.launch.data && !note_number(w, &found.terms,
                                              place == 0 ? nullptr
                                              : right    ? &found.terms
                                                         : &expected,
                                              names))
        return false;
      if (place == 0) continue;
      target->state(place) = right ? Target::State::right : Target::State::wrong;
      ++(right ? report_.right : report_.wrong);
      (right ? right_ones : wrong).emplace_back(w, target);
    }
    if (open && wrong.empty()) return false;
    if (open) report_.reason.clear(), report_.at.reset();
    if (!wrong.empty() && !report_.first) explain(wrong, right_ones, block, names);
    return true;
  }

  /// Describes the first wrong element, and orders the lines that moved it.
  void explain(Ones const& wrong, Ones const& right_ones, flow_detail::BlockRun const& block, Names& names) {
    for (Ones const* const ones : {&wrong, &right_ones})
      for (auto const& [w, target] : sampled(*ones))
        flow_detail::note_moved(kernel_, target->expected(target->place(w.element), names),
                                names.expand(name_of(kernel_, w, block, names)).terms, names, moved_);
    std::vector<std::uint32_t> lines = describe(wrong.front().first, *wrong.front().second, block, names);
    rank(lines, sampled(wrong), sampled(right_ones), block, names);
    std::stable_partition(lines.begin(), lines.end(), [&](std::uint32_t line) {
      return std::find(weak_.begin(), weak_.end(), line) == weak_.end();
    });
    for (std::uint32_t const line : twice_) std::erase(lines, line), lines.insert(lines.begin(), line);
    for (std::uint32_t const line : lines) report_.first->lines.push_back(kernel_.line(line));
  }

  /// Another way of a block: it has to write the same elements as the first, and each has to be right.
  bool check_way(std::set<Written> const& written, flow_detail::BlockRun const& block, Names& names) {
    for (Written const& w : written)
      if (!without(accesses_.write(w, block))) return false;
    if (free_) return true;
    std::vector<Written> differs;
    std::set_symmetric_difference(written.begin(), written.end(), written_.begin(), written_.end(),
                                  std::back_inserter(differs));
    if (!differs.empty()) {
      report_.reason = fmt::format("data choose if {} is written",
                                   kernel_.arrays[differs[0].array].element(differs[0].element));
      return false;
    }
    for (Written const& w : written) {
      Target* const target = target_of(w);
      if (target == nullptr) continue;  // not expected in any way
      FlowSum const found = names.expand(name_of(kernel_, w, block, names));
      if (!followed(w, found)) return false;
      if (is_same(w, found.terms, target->expected(target->place(w.element), names))) continue;
      report_.reason = fmt::format("{} differs from its expectation on one of the ways that data choose",
                                   kernel_.arrays[w.array].element(w.element));
      return false;
    }
    return true;
  }

  /// True if the sum that an element holds is known. Notes what it assumes.
  bool followed(Written const& w, FlowSum const& found) {
    if (!found.refused.empty()) return not_followed(w, found.refused, found.line);
    note_assumed(found);
    return true;
  }

  /// Notes what a sum of terms assumes.
  void note_assumed(FlowSum const& sum) {
    if (sum.widened) assumed_.insert("integers do not wrap before they are widened");
    if (sum.real) assumed_.insert(exact_floats);
  }

  /// Makes the answer unknown; false. `line`: ~0U if no instruction is to be named.
  bool not_followed(Written const& w, std::string const& why, std::uint32_t line) {
    report_.reason =
        fmt::format("{} holds what is not followed: {}", kernel_.arrays[w.array].element(w.element), why);
    if (line != ~0U) report_.at = kernel_.line(line);
    return false;
  }

  [[nodiscard]] bool is_same(Written const& w, std::vector<FlowTerm> const& found,
                             std::vector<FlowTerm> const& expected) const {
    return flow_detail::same_number(kernel_.arrays[w.array], found, expected);
  }

  /// True if an element is wrong; else unknown, with the reason. Checked by Extremes.OfOneValueAreNotWrong.
  bool shown_wrong(Written const& w, Name name, FlowSum const& found, std::vector<FlowTerm> const& expected,
                   Names const& names) {
    std::string const why = flow_detail::why_not_wrong(names, kernel_.arrays[w.array], name, found, expected);
    return why.empty() || not_followed(w, why, ~0U);
  }

  /// Computes an element of the launch's data: what it holds (none: what it held before), and what is expected. False if it has none.
  bool note_number(Written const& w, std::vector<FlowTerm> const* found,
                   std::vector<FlowTerm> const* expected, Names const& names) {
    FlowArray const& array = kernel_.arrays[w.array];
    auto const& data = kernel_.launch.data;
    flow_detail::Numbers numbers(names, data);
    double const before = data(array, w.element);
    std::optional<double> const holds = found != nullptr ? numbers.value(*found) : before;
    if (!holds) return not_followed(w, "bits that are read in another format", ~0U);
    report_.numbers.push_back({array.name, w.element, *holds != before, *holds,
                               expected == nullptr ? std::nullopt
                               : expected == found ? holds
                                                   : numbers.value(*expected)});
    return true;
  }

  /// Takes over accesses of two blocks to one element, if there are such; false then.
  bool without(std::optional<flow_detail::BlockAccesses::Conflict> const& conflict) {
    if (!conflict) return true;
    if (conflict->race) {
      report_.fault =
          FlowFault{conflict->text, conflict->block, {kernel_.line(conflict->line)}, FlowFaultKind::race};
      report_.verdict = FlowVerdict::refuted;
    } else {
      report_.reason = conflict->text;
      report_.at = kernel_.line(conflict->line);
    }
    return false;
  }

  Target* target_of(Written const& w) {
    for (Target& t : targets_)
      if (t.array() == w.array && t.place(w.element) != 0) return &t;
    return nullptr;
  }

  /// Without an expectation: what reaches the first element that is written of each array.
  void show(Written const& w, flow_detail::BlockRun const& block, Names& names) {
    if (!shown_.insert(w.array).second && !kernel_.launch.every_element) return;
    FlowSum const sum = names.expand(name_of(kernel_, w, block, names));
    std::string text = kernel_.arrays[w.array].element(w.element) + " =";
    if (sum.refused.empty())
      note_assumed(sum);
    else
      text += " " + sum.refused;
    std::size_t const most = kernel_.launch.every_element ? sum.terms.size() : 8;
    for (std::size_t i = 0; i < std::min(sum.terms.size(), most); ++i)
      text += (i == 0 ? " " : " + ") +
              text_in(kernel_.arrays[w.array], sum.terms[i], sum.terms.size() == 1, names);
    if (sum.terms.empty() && sum.refused.empty()) text += " 0";
    if (sum.terms.size() > most) text += fmt::format(" + {} more terms", sum.terms.size() - most);
    report_.values.push_back(std::move(text));
  }

  /// The first wrong element: terms that differ, and the instructions that moved them.
  std::vector<std::uint32_t> describe(Written const& w, Target& target, flow_detail::BlockRun const& block,
                                      Names& names) {
    std::uint32_t const place = target.place(w.element);
    Name const name = name_of(kernel_, w, block, names);
    std::vector<FlowTerm> const expected = target.expected(place, names), found = names.expand(name).terms;
    Cell::Access const writer = block.global().find(address_of(kernel_, w, block))->writer;
    FlowWrong first{kernel_.arrays[w.array].element(w.element), block.number_of(writer.doer)};
    first.expected_terms = expected.size(), first.found_terms = found.size();
    std::vector<FlowTerm> const extra = difference(found, expected), missing = difference(expected, found);
    for (std::size_t i = 0; i < std::min(extra.size(), most_shown); ++i)
      first.extra.push_back(text_in(kernel_.arrays[w.array], extra[i], found.size() == 1, names));
    for (std::size_t i = 0; i < std::min(missing.size(), most_shown); ++i)
      first.missing.push_back(text_in(kernel_.arrays[w.array], missing[i], expected.size() == 1, names));
    std::vector<std::uint32_t> lines = flow_detail::Ways(names).odd_way(name, extra, missing);
    if (!extra.empty())
      for (auto const line : suspects(extra.front(), name, target, place, names)) lines.push_back(line);
    std::uint32_t const store = writer.line;
    if (!extra.empty() && std::any_of(expected.begin(), expected.end(),
                                      [&](FlowTerm const& t) { return t.factors == extra.front().factors; }))
      for (std::uint32_t const f : extra.front().factors)
        if (std::uint32_t const line = f == 0 ? 0 : flow_detail::Ways(names).added_twice(name, f); line != 0)
          twice_.push_back(line);
    if (extra.empty() && !found.empty()) lines = suspects(found.front(), name, target, place, names);
    lines.push_back(block.global().find(address_of(kernel_, w, block))->writer.line);
    std::vector<std::uint32_t> once;
    for (std::uint32_t const line : lines)
      if (line < kernel_.function.body.size() && std::find(once.begin(), once.end(), line) == once.end())
        once.push_back(line);
    report_.first = std::move(first);
    return once;
  }

  /// How many terms an instruction has moved: wrong ones, and right ones.
  struct Moved {
    double wrong = 0, right = 0;
  };

  /// Sorts instructions by the share of wrong terms among those that they moved; of equal ones the order stays.
  void rank(std::vector<std::uint32_t>& lines, Ones const& wrong, Ones const& right,
            flow_detail::BlockRun const& block, Names& names) const {
    std::map<std::uint32_t, Moved> counts;
    for (auto const* const ones : {&wrong, &right})
      for (auto const& [w, target] : *ones) count_terms(w, *target, block, names, counts);
    auto const share = [&](std::uint32_t line) {
      Moved const& m = counts[line];
      return m.wrong == 0 ? 0.0 : m.wrong / (m.wrong + m.right);
    };
    std::stable_sort(lines.begin(), lines.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return share(a) > share(b); });
  }

  /// Counts the instructions of an element's terms, at most 64 of them.
  void count_terms(Written const& w, Target const& target, flow_detail::BlockRun const& block, Names& names,
                   std::map<std::uint32_t, Moved>& counts) const {
    constexpr std::size_t most = 64;
    Name const name = name_of(kernel_, w, block, names);
    std::vector<FlowTerm> const expected = target.expected(target.place(w.element), names);
    std::vector<FlowTerm> const found = names.expand(name).terms;
    std::vector<FlowTerm> const extra = difference(found, expected);
    for (std::size_t i = 0; i < std::min(found.size(), most); ++i) {
      FlowTerm const& term = found[found.size() <= most ? i : i * found.size() / most];
      bool const bad = std::any_of(extra.begin(), extra.end(),
                                   [&](FlowTerm const& t) { return t.factors == term.factors; });
      std::set<std::uint32_t> once{block.global().find(address_of(kernel_, w, block))->writer.line};
      for (auto const& way : flow_detail::Ways(names).way_of(name, term)) once.insert(way.begin(), way.end());
      for (std::uint32_t const line : once) (bad ? counts[line].wrong : counts[line].right) += 1;
    }
  }

  /// Instructions that moved the factors of a term: of a factor that may be wrong before those of one that is right elsewhere.
  std::vector<std::uint32_t> suspects(FlowTerm const& term, Name name, Target& target, std::uint32_t place,
                                      Names& names) {
    flow_detail::Ways search(names);
    std::vector<std::vector<std::uint32_t>> const ways = search.way_of(name, term);
    std::vector<std::vector<std::uint32_t>> ordered, cleared;
    weak_ = search.passed();
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (ways[i].empty()) continue;
      std::string const element = names.text(flow_detail::term_of(term.factors[i]));
      // A number that all elements have does not tell them apart.
      bool clear = std::any_of(kernel_.arrays.begin() + 1, kernel_.arrays.end(),
                               [&](FlowArray const& a) { return a.extents.empty() && a.name == element; });
      if (clear) weak_.insert(weak_.end(), ways[i].begin(), ways[i].end());
      for (std::size_t f = 0; f < target.factors().size(); ++f)
        if (element.starts_with(kernel_.arrays[target.factors()[f]].name + "["))
          clear = target.innocent(f, place);
      (clear ? cleared : ordered).push_back(ways[i]);
    }
    std::vector<std::uint32_t> lines;
    for (auto const* const group : {&ordered, &cleared})
      for (std::size_t step = 0, more = 1; more != 0; ++step) {
        more = 0;
        for (auto const& way : *group)
          if (step < way.size()) lines.push_back(way[step]), more = 1;
      }
    for (auto const& way : ordered)
      for (std::uint32_t const line : way) std::erase(weak_, line);
    lines.insert(lines.end(), weak_.begin(), weak_.end());
    return lines;
  }

  /// Takes over the parts that the answer does not cover, and the readings that it depends on.
  void leave_out() {
    if (kernel_.launch.proxy == FlowProxy::off) left_out_.insert("proxy fences (--proxy off)");
    if (kernel_.launch.proxy == FlowProxy::write)
      left_out_.insert("proxy fences behind reads and mbarrier.init (--proxy write)");
    if (!targets_.empty() && kernel_.rounds()) assumed_.insert(exact_floats);
    if (kernel_.launch.same_values) assumed_.insert("two writes of one value without order are accepted");
    report_.left_out.assign(left_out_.begin(), left_out_.end());
    report_.assumed.assign(assumed_.begin(), assumed_.end());
  }

  void finish() {
    Names const names(kernel_.arrays);
    for (Target& t : targets_)
      for (std::uint64_t e = 0; e < kernel_.arrays[t.array()].size(); ++e) {
        if (t.place(e) != 0 && t.state(t.place(e)) == Target::State::undecided &&
            ++report_.undecided <= most_shown)
          report_.undecided_names.push_back(kernel_.arrays[t.array()].element(e));
        if (t.place(e) != 0 && t.state(t.place(e)) == Target::State::open) {
          ++report_.missing;
          if (kernel_.launch.data) {
            std::vector<FlowTerm> const expected = t.expected(t.place(e), names);
            (void)note_number({t.array(), e}, nullptr, &expected, names);
          }
          if (report_.missing_names.size() < most_shown)
            report_.missing_names.push_back(kernel_.arrays[t.array()].element(e));
        }
      }
    bool const holds = report_.wrong == 0 && report_.missing == 0 && report_.unexpected == 0;
    report_.verdict = holds ? FlowVerdict::proved : FlowVerdict::refuted;
  }

  FlowKernel const& kernel_;
  FlowReport& report_;
  std::uint32_t without_;
  bool free_, hasty_;
  flow_detail::ArrayUses uses_{};
  flow_detail::MovedElements moved_{};
  bool by_data_ = false;         ///< data have chosen what was executed
  std::set<Written> written_{};  ///< elements that the first way of the block has written
  std::uint64_t spent_ = 0;
  std::vector<Target> targets_{};
  flow_detail::BlockAccesses accesses_{kernel_};
  flow_detail::CanceledWork canceled_{};
  std::set<std::uint32_t> shown_{};
  std::set<std::string> left_out_{}, assumed_{};
  std::set<std::uint32_t> executed_{};
  std::vector<std::uint32_t>
      weak_{};  ///< instructions that are listed last: of numbers that all elements have
  std::vector<std::uint32_t> twice_{};  ///< instructions that add an element of the first wrong term twice
};

/// Instructions of the lines that a refuted launch names; without any, those that write global memory.
std::vector<std::uint32_t> named_by(FlowKernel const& kernel, FlowReport const& report) {
  std::vector<std::uint32_t> out;
  auto const& body = kernel.function.body;
  std::vector<FlowLine> const none;
  for (FlowLine const& l : report.fault ? report.fault->lines : report.first ? report.first->lines : none)
    for (std::uint32_t i = 0; i < body.size(); ++i)
      if (body[i].line == l.ptx_line) out.push_back(i);
  for (std::uint32_t i = 0; i < body.size() && out.empty(); ++i)
    if (kernel.decoded[i].handler == flow_detail::Handler::store &&
        kernel.decoded[i].space == program::Space::global)
      out.push_back(i);
  return out;
}

/// Makes an answer refuted for data with which the launch is, if they are found.
void refute_by_data(ptx::Module const& module, FlowKernel const& kernel,
                    std::vector<FlowExpectation> const& expectations, std::uint64_t spent,
                    FlowReport& report) {
  auto const run = [&](FlowLaunch const& launch) {
    FlowReport out;
    FlowKernel const ready(module, kernel.function, launch);
    Launched(ready, expectations, out).run();
    return out;
  };
  if (auto found = flow_detail::refuting_data(kernel, !expectations.empty(), report.reason, spent, run))
    report = std::move(*found);
}

/// Edits of one instruction with which a refuted launch is proved, of at most three instructions.
void find_repairs(ptx::Module const& module, FlowKernel const& kernel,
                  std::vector<FlowExpectation> const& expectations, std::uint64_t spent, FlowReport& report) {
  constexpr std::size_t most = 3;
  FlowLaunch launch = kernel.launch;
  if (spent > launch.repair_steps / 2) return;
  launch.most_steps = std::min(launch.most_steps, std::max(2 * spent, launch.repair_steps / 8));
  launch.blocks = flow_detail::blocks_of(launch);
  std::stable_partition(launch.blocks.begin(), launch.blocks.end(), [&](auto const& block) {
    return block == (report.fault ? report.fault->block : report.first ? report.first->block : block);
  });
  ptx::Function function = kernel.function;
  auto const edits = flow_detail::edits_of(kernel, flow_detail::by_distance(kernel, named_by(kernel, report)),
                                           function.kept);
  std::set<std::uint32_t> found;
  std::uint64_t left = kernel.launch.repair_steps;
  for (auto const& edit : edits) {
    if (left == 0 || found.size() == most) break;
    if (found.count(edit.instruction) != 0) continue;
    ptx::Instruction const before = std::exchange(function.body[edit.instruction], edit.other);
    try {
      FlowKernel const edited(module, function, launch);
      FlowReport other;
      Launched run(edited, expectations, other, ~0U, true);
      run.run();
      left -= std::min(left, std::max<std::uint64_t>(run.spent(), 1));
      if (other.verdict == FlowVerdict::proved) {
        found.insert(edit.instruction);
        report.repairs.push_back({kernel.line(edit.instruction), edit.text});
      }
    } catch (flow_detail::FlowRefused const&) {  // it is no kernel that can be executed
      --left;
    } catch (InputError const&) {  // it reads another parameter
      --left;
    }
    function.body[edit.instruction] = before;
  }
}

}  // namespace

FlowReport trace_flow(ptx::Module const& module, ptx::Function const& kernel, FlowLaunch const& launch,
                      std::vector<FlowExpectation> const& expectations) {
  FlowReport report;
  try {
    FlowKernel const ready(module, kernel, launch);
    check_shared(ready);
    Launched whole(ready, expectations, report);
    whole.run();
    if (whole.undecided_by_data() && !launch.data)
      refute_by_data(module, ready, expectations, whole.spent(), report);
    if (!report.data.empty()) return report;
    if (launch.repair_steps != 0 && report.verdict == FlowVerdict::refuted && !expectations.empty())
      find_repairs(module, ready, expectations, whole.spent(), report);
    if (!launch.spare || report.verdict != FlowVerdict::proved) return report;
    for (std::uint32_t const i : whole.executed()) {
      if (!flow_detail::orders_threads(ready.decoded[i])) continue;
      FlowReport other;
      Launched(ready, expectations, other, i).run();
      bool const same = other.verdict == FlowVerdict::proved && other.values == report.values &&
                        other.left_out == report.left_out && other.assumed == report.assumed;
      if (same) report.spare.push_back(ready.line(i));
    }
  } catch (flow_detail::FlowRefused const& refused) {
    report.reason = refused.text;
  }
  return report;
}

}  // namespace swizproof
