#include "command/proof/allowed_line.hpp"

#include <fmt/format.h>

namespace swizproof::command {

namespace {

char const* unit_of(AllowedLine const& l) { return l.allowance.global ? "sectors" : "wavefronts"; }

/// `28 wavefronts above the ideal in sum`, or those of a block.
std::string sum_of(AllowedLine const& l) {
  if (!l.is_per_block()) return fmt::format("{} {} above the ideal in sum", l.excess, unit_of(l));
  return l.allowance.global ? fmt::format("{} sectors of a block above the ideal", *l.lost)
                            : fmt::format("{} wavefronts of a block lost", *l.lost);
}

std::uint64_t allowed_sum(AllowedLine const& l) {
  return l.is_per_block() ? *l.allowance.lost : l.allowance.excess.value_or(0);
}

}  // namespace

std::string failing(AllowedLine const& l) {
  bool const within = !l.allowance.excess || l.excess <= *l.allowance.excess;
  if (l.runs_open() && within)
    return fmt::format(
        "{}: how often a block executes {} instruction{} is not known, and {} {} of a block {} are "
        "allowed: it may be worse than when it was allowed",
        l.allowance.line, l.instructions, l.instructions == 1 ? "" : "s", *l.allowance.lost, unit_of(l),
        l.allowance.global ? "above the ideal" : "lost");
  return fmt::format("{}: {}{} by {} instruction{}, {} allowed: {}", l.allowance.line,
                     l.verdict == KernelVerdict::unknown ? "at most " : "", sum_of(l), l.instructions,
                     l.instructions == 1 ? "" : "s", allowed_sum(l),
                     l.verdict == KernelVerdict::unknown ? "it may be worse than when it was allowed"
                                                         : "worse than when it was allowed");
}

std::string why_allowed(AllowedLine const& l) {
  std::string text;
  if (!l.allowance.was_at.empty())
    text = fmt::format("the allowance of {} is for {}, where its text is now; --emit lock writes the line",
                       l.allowance.was_at, l.allowance.line);
  if (l.allowance.reason.empty()) return text;
  return fmt::format("{}{}{} may take {} {}: {}", text, text.empty() ? "" : "; ", l.allowance.line,
                     l.allowance.at_most, unit_of(l), l.allowance.reason);
}

std::string note_of(AllowedLine const& l) {
  if (!l.allowance.of_one || l.verdict != KernelVerdict::proved || !l.is_larger_than_needed()) return {};
  std::string const change =
      l.wavefronts < l.allowance.at_most
          ? fmt::format("{} {} are allowed, and {} needed", l.allowance.at_most, unit_of(l), l.wavefronts)
          : fmt::format("{}, {} allowed", sum_of(l), allowed_sum(l));
  return fmt::format("{}{}: {}: --emit lock writes the smaller number, or what was gained can be lost unseen",
                     l.allowance.line, l.allowance.data ? " (data)" : "", change);
}

}  // namespace swizproof::command
