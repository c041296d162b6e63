#include "records/campaigns/recomputation.hpp"

#include <swizproof/hardware/wgmma.hpp>

namespace swizproof {

namespace {

/// A row of `wgmma`.
std::string name_of(gpu::OperandRead const& c) {
  WgmmaDescriptor const& d = c.descriptor;
  return std::string(c.operand_a ? "A" : "B") + ", " + (c.major == Major::k ? "k" : "mn") + "-major, " +
         c.question + ", mode " + text_of(static_cast<unsigned>(d.mode)) + ", start " + text_of(d.start) +
         ", LBO " + text_of(d.leading_byte_offset) + ", SBO " + text_of(d.stride_byte_offset) +
         ", base offset " + text_of(d.base_offset);
}

/// 16-byte columns that the operand's runs of 8 elements start at.
std::vector<std::int64_t> columns_of(gpu::OperandRead const& c) {
  bool const k = c.major == Major::k;
  std::vector<std::int64_t> columns;
  for (std::uint32_t mn = 0; mn < c.extent(); mn += k ? 1 : 8)
    for (std::uint32_t i = 0; i < gpu::wgmma_depth; i += k ? 8 : 1)
      columns.push_back(wgmma_address(c.descriptor, c.major, 2, mn, i).bytes / 16);
  return columns;
}

}  // namespace

/// Rows [operand, major, mode, start, LBO, SBO, base offset, question, wrong, [16-byte columns / 16]].
void check_wgmma(Recomputation& r) {
  std::vector<gpu::OperandRead> const all = gpu::operand_reads();
  r.check_units(all.size());
  std::map<std::string, gpu::OperandRead const*> kept;
  std::map<std::string, std::uint64_t> asked;
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!r.share.has(i)) continue;
    ++asked[all[i].question];
    elements += std::uint64_t{all[i].extent()} * gpu::wgmma_depth;
    if (all[i].keep) kept[name_of(all[i])] = &all[i];
  }
  r.equal("questions", r.counts.group("asked"), asked);
  r.equal("elements", r.counts.count("elements"), elements);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) {
    std::string const operand = with_members(row, 10).at(0), major = row.at(1), question = row.at(7);
    if ((operand != "A" && operand != "B") || (major != "k" && major != "mn"))
      malformed("an operand is A or B, and k- or mn-major");
    WgmmaDescriptor const d{integer<std::uint32_t>(row.at(3)), integer<std::uint32_t>(row.at(4)),
                            integer<std::uint32_t>(row.at(5)),
                            static_cast<WgmmaMode>(integer<std::uint8_t>(row.at(2))),
                            integer<std::uint32_t>(row.at(6))};
    return name_of(
        gpu::OperandRead{operand == "A", major == "k" ? Major::k : Major::mn, d, true, question.c_str()});
  };
  check_kept(r, r.list_of_rows("maps"), kept, about,
             [&](std::string const& name, Json const& row, gpu::OperandRead const& c) {
               r.equal<std::uint64_t>(name + ", elements that were wrong", integer<std::uint64_t>(row.at(8)),
                                      0);
               r.equal(name, integers<std::int64_t>(row.at(9)), columns_of(c));
             });
  r.evidence.scope = text_of(kept.size()) + " maps kept of " + text_of(r.evidence.units) + " descriptors";
}

}  // namespace swizproof
