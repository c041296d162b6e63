#include <swizproof/claim/obligation.hpp>

#include <algorithm>

namespace swizproof {

namespace {

/// Sums of one line, and of the part that executions are known to reach.
class LineSum {
 public:
  explicit LineSum(LineAllowance const& allowance) { out_.allowance = allowance; }

  void add(KernelAccess const& a, std::size_t index) {
    if (!out_.worst || *a.wavefronts > out_.wavefronts) out_.worst = index, out_.wavefronts = *a.wavefronts;
    unsigned const excess = excess_of(a);
    if (excess == 0) return;
    ++out_.instructions;
    out_.excess += excess;
    if (a.reached) reached_ += excess;
    if (!a.executions) return out_.lost.reset();
    if (out_.lost) *out_.lost += excess * *a.executions;
    if (a.reached) reached_of_block_ += excess * *a.executions;
  }

  AllowedLine judged() {
    auto const judge = [&](std::uint64_t most, std::uint64_t sum, std::uint64_t reached) {
      out_.verdict = sum <= most      ? KernelVerdict::proved
                     : reached > most ? KernelVerdict::refuted
                                      : KernelVerdict::unknown;
    };
    if (out_.is_per_block())
      judge(*out_.allowance.lost, *out_.lost, reached_of_block_);
    else if (out_.allowance.excess)
      judge(*out_.allowance.excess, out_.excess, reached_);
    if (out_.runs_open() && out_.verdict == KernelVerdict::proved) out_.verdict = KernelVerdict::unknown;
    return out_;
  }

 private:
  AllowedLine out_{};
  std::uint64_t reached_ = 0, reached_of_block_ = 0;
};

}  // namespace

bool AllowedLine::is_larger_than_needed() const {
  return wavefronts < allowance.at_most ||
         (is_per_block() ? *lost < *allowance.lost : allowance.excess && excess < *allowance.excess);
}

std::vector<AllowedLine> allowed_lines(std::vector<LineAllowance> const& allow, KernelReport const& report,
                                       std::string const& file) {
  std::vector<AllowedLine> out;
  for (LineAllowance const& allowance : allow) {
    LineSum sum(allowance);
    std::vector<KernelAccess> const& all = allowance.global ? report.global : report.accesses;
    for (std::size_t i = 0; i < all.size(); ++i) {
      KernelAccess const& a = all[i];
      if (a.executed && a.wavefronts && (a.verdict == KernelVerdict::data) == allowance.data &&
          is_at(a, allowance.line, file))
        sum.add(a, i);
    }
    out.push_back(sum.judged());
  }
  return out;
}

bool accepts(KernelHolds const& hold, KernelAccess const& a) {
  if (a.verdict != KernelVerdict::data) return false;
  bool const global = a.sectors.has_value();
  bool limited = hold.limited && !global;
  for (LineAllowance const& one : hold.options.allow) {
    if (one.global != global || !is_at(a, one.line, hold.options.file)) continue;
    if (one.data) return a.wavefronts && *a.wavefronts <= one.at_most;
    limited = true;  // a bound above it is what makes the verdict depend on data
  }
  return hold.data_allowed && !limited;
}

}  // namespace swizproof
