#include <swizproof/claim/line_cost.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace swizproof {

namespace {

/// An address without the lines of the PTX, as in `load@28`, and without the numbers of loops, as in `i3`: both move from build to build.
std::string without_numbers(std::string const& text) {
  auto const is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    bool const starts = at == 0 || !is_name(text[at - 1]);
    out += text[at];
    bool const numbered = text[at] == '@' || (text[at] == 'i' && starts);
    std::size_t end = text.find_first_not_of("0123456789", ++at);
    end = std::min(end, text.size());
    if (numbered && (end == text.size() || !is_name(text[end]))) at = end;
  }
  return out;
}

/// Places of the operators of C in `levels[level]` that no parentheses are around, of the text of an expression.
std::vector<std::pair<std::size_t, std::string_view>> operators_in(
    std::string_view text, std::vector<std::string_view> const& level) {
  std::vector<std::pair<std::size_t, std::string_view>> found;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    for (std::string_view const op : level)
      if (depth == 0 && text.substr(at, op.size()) == op) found.emplace_back(at, op);
  }
  return found;
}

/// An expression with the operands of `+`, `*`, `&`, `|` and `^` in one order: that of the text depends on the rest of the kernel.
std::string in_order(std::string_view text) {
  static std::vector<std::vector<std::string_view>> const levels{
      {", "},           {" ? ", " : "},   {" || "},
      {" && "},         {" | "},          {" ^ "},
      {" & "},          {" == ", " != "}, {" < ", " <= ", " > ", " >= "},
      {" << ", " >> "}, {" + ", " - "},   {" * ", " / ", " % "}};
  for (auto const& level : levels) {
    auto const operators = operators_in(text, level);
    if (operators.empty()) continue;
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (auto const& [at, op] : operators) {
      parts.push_back(in_order(text.substr(from, at - from)));
      from = at + op.size();
    }
    parts.push_back(in_order(text.substr(from)));
    std::string_view const first = operators[0].second;
    bool const any_order =
        (first == " + " || first == " * " || first == " & " || first == " | " || first == " ^ ") &&
        std::all_of(operators.begin(), operators.end(), [&](auto const& o) { return o.second == first; });
    if (any_order) std::sort(parts.begin(), parts.end());
    std::string out = std::move(parts[0]);
    for (std::size_t i = 1; i < parts.size(); ++i) out += std::string(operators[i - 1].second) + parts[i];
    return out;
  }
  std::size_t const open = text.find('(');
  if (open == text.npos || !text.ends_with(')')) return std::string(text);
  return std::string(text.substr(0, open + 1)) + in_order(text.substr(open + 1, text.size() - open - 2)) +
         ")";
}

}  // namespace

void CostRange::add(CostRange const& other, std::uint64_t times) {
  least += other.least * times;
  if (!other.most)
    most.reset();
  else if (most)
    *most += *other.most * times;
}

std::string in_words(CostRange const& range, std::string const& unit) {
  bool const any = !range.most && range.least == 0;
  std::string const of = unit.empty() ? "" : (any ? " of " : " ") + unit;
  if (any) return "an unknown number" + of;
  if (range.is_point()) return std::to_string(range.least) + of;
  if (!range.most) return fmt::format("at least {}{}", range.least, of);
  return range.least == 0 ? fmt::format("at most {}{}", *range.most, of)
                          : fmt::format("{} to {}{}", range.least, *range.most, of);
}

void LineCost::add(KernelAccess const& a) {
  unsigned const floor = std::max(a.allowed, a.ideal);
  CostRange excess{excess_over(floor, a.seen), std::nullopt};
  if (a.wavefronts) excess.most = excess_over(floor - a.ideal, excess_of(a));
  if (a.reached) excess.least = *excess.most;
  bool const loses = excess.most != 0U;
  std::uint64_t const runs = a.executions.value_or(a.about_executions);
  once_.add(excess, 1);
  runs_known_ = runs_known_ && (a.executions || !loses);
  Part& part = parts_[a.executions ? 0 : a.open_loops];
  part.all.emplace_back(a.executions.has_value(), runs);
  if (!loses) return;
  part.losing.push_back(part.all.back());
  part.weighted.add(excess, runs);
  // If their number is open, the known loss is that of one execution.
  part.lost.add({excess.least * (a.executions ? runs : 1),
                 excess.most ? std::optional(*excess.most * runs) : std::nullopt},
                1);
  part.shape +=
      fmt::format("{} {} {} {} {}{};", in_order(without_numbers(a.address)), static_cast<int>(a.verdict),
                  excess.least, excess.most.value_or(~std::uint64_t{0}), runs, a.executions ? "" : "?");
}

std::optional<CostRange> LineCost::block() const {
  if (!runs_known_) return std::nullopt;
  auto const at = parts_.find(0);
  return at == parts_.end() ? CostRange{} : at->second.lost;
}

std::string LineCost::block_in_words(std::string const& unit) const {
  std::vector<std::string> words;
  for (auto at = parts_.rbegin(); at != parts_.rend(); ++at) {
    auto const& [loops, part] = *at;
    if (part.losing.empty()) continue;
    words.push_back(in_words(part.lost, words.empty() ? unit : ""));
    if (loops != 0)
      words.back() += fmt::format(" in each iteration of {} of unknown length",
                                  loops == 1 ? "a loop" : fmt::format("{} loops", loops));
    else if (words.size() > 1)
      words.back() += " outside";
  }
  return words.empty() ? in_words({}, unit) : fmt::format("{}", fmt::join(words, " and "));
}

LineCost::Order LineCost::compared(Part const& now, Part const& before) {
  auto const alike = [](Runs a, Runs b) {
    std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
    return a == b;
  };
  bool const as_often = alike(now.all, before.all) || alike(now.losing, before.losing);
  CostRange const& n = as_often ? now.weighted : now.lost;
  CostRange const& b = as_often ? before.weighted : before.lost;
  if (b.most && n.least > *b.most) return Order::more;
  if (n.most && *n.most < b.least) return Order::less;
  if (n == b && (n.is_point() || now.shape == before.shape)) return Order::equal;
  return n.most && *n.most <= b.least ? Order::at_most_equal : Order::open;
}

CostChange LineCost::since(LineCost const& before) const {
  unsigned loops = 0;
  for (LineCost const* const c : {this, &before})
    if (!c->parts_.empty()) loops = std::max(loops, c->parts_.rbegin()->first);
  bool fewer = false;  // or as many, in some part
  auto const part_of = [](LineCost const& c, unsigned n) {
    auto const at = c.parts_.find(n);
    return at == c.parts_.end() ? Part{} : at->second;
  };
  for (unsigned n = loops + 1; n-- > 0;) {
    Order const order = compared(part_of(*this, n), part_of(before, n));
    if (order == Order::less) return CostChange::better;
    if (order == Order::open || (order == Order::more && fewer)) return CostChange::undecided;
    if (order == Order::more) return CostChange::worse;
    fewer = fewer || order == Order::at_most_equal;
  }
  return fewer ? CostChange::better : CostChange::same;
}

}  // namespace swizproof
