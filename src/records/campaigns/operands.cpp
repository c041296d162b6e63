#include "records/campaigns/recomputation.hpp"

#include <swizproof/parse/parse.hpp>

namespace swizproof {

namespace {

/// A row of `operands`.
std::string described(gpu::OperandStepRead const& c) {
  return std::string(c.operand.operand_a ? "A" : "B") + ", " + (c.operand.mn_major ? "mn" : "k") +
         "-major, " + c.operand.layout + " of " + c.operand.element + ", descriptor " +
         text_of(c.operand.descriptor) + ", at " + text_of(c.base) + ", row " + text_of(c.step.row) + ", k " +
         text_of(c.step.k);
}

/// Address in the layout of each 16 bytes of an instruction's elements, from a base: its own function, and none of wgmma.
std::vector<std::int64_t> stored_columns(gpu::OperandStepRead const& c) {
  Mapping const map = parse_mapping(c.operand.layout, {parse_element(c.operand.element)});
  auto const rows = static_cast<std::uint64_t>(map.domain()->shape.mode(0).product());
  unsigned const t = 16 / c.element_bytes;
  bool const k = !c.operand.mn_major;
  std::vector<std::int64_t> columns;
  for (unsigned mn = 0; mn < c.operand.rows; mn += k ? 1 : t)
    for (unsigned i = 0; i < c.operand.depth; i += k ? t : 1) {
      std::uint64_t const index = c.step.row + mn + rows * (c.step.k + i);
      std::uint64_t const place = value(map, Address<std::uint64_t>{c.base}, index, Unit::bytes);
      columns.push_back(static_cast<std::int64_t>(place / 16));
    }
  return columns;
}

}  // namespace

/// Rows [layout, element, operand, major, descriptor, base, row, k, wrong, [16-byte columns / 16]].
void check_operands(Recomputation& r) {
  std::vector<gpu::OperandStepRead> const all = gpu::operand_step_reads();
  r.check_units(all.size());
  std::map<std::string, gpu::OperandStepRead const*> kept;
  std::map<std::string, std::uint64_t> asked;
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!r.share.has(i)) continue;
    kept[described(all[i])] = &all[i];
    ++asked[all[i].operand.element];
    elements += std::uint64_t{all[i].operand.rows} * all[i].operand.depth;
  }
  r.equal("types", r.counts.group("asked"), asked);
  r.equal("elements", r.counts.count("elements"), elements);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) {
    std::string const layout = with_members(row, 10).at(0), element = row.at(1), operand = row.at(2),
                      major = row.at(3);
    if ((operand != "a" && operand != "b") || (major != "k" && major != "mn"))
      malformed("an operand is a or b, and k- or mn-major");
    gpu::OperandStepRead c{};
    c.operand.layout = layout.c_str();
    c.operand.element = element.c_str();
    c.operand.operand_a = operand == "a";
    c.operand.mn_major = major == "mn";
    c.operand.descriptor = integer<std::uint64_t>(row.at(4));
    c.base = integer<unsigned>(row.at(5));
    c.step.row = integer<unsigned>(row.at(6));
    c.step.k = integer<unsigned>(row.at(7));
    return described(c);
  };
  check_kept(r, r.list_of_rows("reads"), kept, about,
             [&](std::string const& name, Json const& row, gpu::OperandStepRead const& c) {
               r.equal<std::uint64_t>(name + ", elements that were wrong", integer<std::uint64_t>(row.at(8)),
                                      0);
               r.equal(name, integers<std::int64_t>(row.at(9)), stored_columns(c));
             });
  r.evidence.scope =
      (kept.size() == all.size() ? "all " : "") + text_of(kept.size()) + " reads of tiles by wgmma";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
