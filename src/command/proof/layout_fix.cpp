#include "command/proof/layout_fix.hpp"

#include <swizproof/analysis/find.hpp>
#include <swizproof/layout/composed.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::command {

namespace {

/// Obligations that are of one layout, as one search.
struct Shared {
  SearchProblem problem{};
  std::vector<unsigned> allowed{};  ///< wavefronts of each access
  std::vector<TextRegion> where{};  ///< the layout's texts, each once
};

bool is_same(TextRegion const& a, TextRegion const& b) {
  return a.line == b.line && a.column == b.column && a.file == b.file;
}

/// True if a report says what each access costs.
bool has_costs(ObligationReport const& r) {
  return !r.accesses.empty() && std::all_of(r.accesses.begin(), r.accesses.end(),
                                            [](AccessVerdict const& v) { return v.cost() != nullptr; });
}

/// Nothing where an obligation of the layout is no statement about costs.
std::optional<Shared> shared_by(std::span<Obligation const> all, std::span<ObligationReport const> reports,
                                AccessesHold const& hold, Architecture const* arch) {
  Shared out;
  out.problem.arch = arch;
  out.problem.on_bytes = hold.map.acts_on_bytes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const* const other = std::get_if<AccessesHold>(&all[i].what);
    if (other == nullptr || !other->layout_at || other->layout_at->file != hold.layout_at->file ||
        other->map.text != hold.map.text || other->map.element_bits != hold.map.element_bits ||
        other->map.array != hold.map.array)
      continue;
    if (std::none_of(out.where.begin(), out.where.end(),
                     [&](TextRegion const& r) { return is_same(r, *other->layout_at); }))
      out.where.push_back(*other->layout_at);
    if (all[i].expect_refuted || !has_costs(reports[i])) return std::nullopt;
    if (all[i].arch != arch) continue;
    for (std::size_t a = 0; a < other->placements.size(); ++a) {
      out.problem.accesses.push_back(other->placements[a].access());
      out.allowed.push_back(reports[i].accesses[a].allowed);
    }
  }
  return out;
}

bool keeps_to(Bill const& bill, std::vector<unsigned> const& allowed) {
  for (std::size_t i = 0; i < allowed.size(); ++i)
    if (bill.wavefronts[i] > allowed[i]) return false;
  return true;
}

/// The declaration with rows of another length.
std::string declaration(DeclaredArray const& array, std::int64_t row) {
  return fmt::format("{}__shared__ {} {}[{}][{}]",
                     array.has_alignas ? fmt::format("alignas({}) ", array.alignment) : "", array.type,
                     array.name, array.extents[0], row);
}

/// The layout's other text, and what it is.
std::optional<std::pair<std::string, std::string>> better(Shared const& shared, Mapping const& map) {
  if (map.array) {
    if (map.array->extents.size() != 2) return std::nullopt;
    PitchSearch const found = find_padding(shared.problem);
    for (Pitch const& pitch : found.fitting)
      if (keeps_to(pitch.cost, shared.allowed))
        return std::pair(
            declaration(*map.array, pitch.elements),
            fmt::format("rows of {} elements, {} wavefronts in all", pitch.elements, pitch.cost.total));
    return std::nullopt;
  }
  SwizzleSearch const found = find_swizzle(shared.problem);
  if (found.best.empty()) return std::nullopt;
  for (Candidate const* c : {&found.best.front(), &found.gentlest})
    if (keeps_to(c->cost, shared.allowed))
      return std::pair(text_of(swizzled(shared.problem, c->swizzle)),
                       fmt::format("{} of {}, {} wavefronts in all", to_string(c->swizzle),
                                   shared.problem.on_bytes ? "bytes" : "elements", c->cost.total));
  return std::nullopt;
}

}  // namespace

std::optional<SarifFix> layout_fix(std::span<Obligation const> all, std::span<ObligationReport const> reports,
                                   std::size_t at) {
  auto const* const hold = std::get_if<AccessesHold>(&all[at].what);
  if (hold == nullptr || !hold->layout_at || all[at].expect_refuted || !has_costs(reports[at]) ||
      !std::holds_alternative<Refuted>(reports[at].outcome) ||
      !all[at].source.starts_with(hold->layout_at->file + ":"))
    return std::nullopt;
  std::optional<Shared> shared = shared_by(all, reports, *hold, all[at].arch);
  if (!shared) return std::nullopt;
  std::optional<std::pair<std::string, std::string>> found;
  try {
    shared->problem.tile = searched_tile(hold->map);
    found = better(*shared, hold->map);
  } catch (InputError const&) {  // no search: a tensor at an address, too many cases
    return std::nullopt;
  }
  if (!found) return std::nullopt;
  SarifFix fix{"the layout that find gives, for the kernel too: " + found->second, {}};
  for (TextRegion const& r : shared->where)
    fix.replacements.push_back(
        {r.file, r.line, r.column, r.end_line, r.end_column, '"' + found->first + '"'});
  return fix;
}

}  // namespace swizproof::command
