#include "records/campaigns/recomputation.hpp"

#include <swizproof/hardware/fragment.hpp>

namespace swizproof {

namespace {

/// A product and its number.
struct NumberedProduct {
  std::uint32_t number;
  gpu::Product const* product;
};

/// Result of the first round in the registers of D, by thread and value.
std::vector<std::int32_t> registers_of(NumberedProduct const& p) {
  Fragment const d = p.product->fragment(Operand::d);
  std::vector<std::int32_t> values;
  for (std::uint32_t thread = 0; thread < d.threads; ++thread)
    for (std::uint32_t i = 0; i < d.values; ++i) {
      MatrixElement const e = element_of(d, thread, i);
      values.push_back(gpu::result_of(p.number, 0, p.product->k, e.row, e.column));
    }
  return values;
}

}  // namespace

/// Rows [name, wrong, [D of the first round by thread, value]].
void check_mma(Recomputation& r) {
  r.check_units(std::size(gpu::products));
  std::vector<NumberedProduct> mine;
  std::map<std::string, NumberedProduct const*> kept;
  std::uint64_t elements = 0;
  for (std::uint32_t i = 0; i < std::size(gpu::products); ++i)
    if (r.share.has(i)) mine.push_back({i, &gpu::products[i]});
  for (NumberedProduct const& p : mine) {
    kept[p.product->name] = &p;
    elements += std::uint64_t{gpu::product_rounds} * p.product->m * p.product->n;
  }
  r.equal("elements", r.counts.count("elements"), elements);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) { return with_members(row, 3).at(0).get<std::string>(); };
  check_kept(r, r.list_of_rows("products"), kept, about,
             [&](std::string const& name, Json const& row, NumberedProduct const& p) {
               r.equal<std::uint64_t>(name + ", elements that were wrong", integer<std::uint64_t>(row.at(1)),
                                      0);
               r.equal(name, integers<std::int32_t>(row.at(2)), registers_of(p));
             });
  r.evidence.scope = text_of(kept.size()) + " products, " + text_of(gpu::product_rounds) + " rounds each";
}

}  // namespace swizproof
