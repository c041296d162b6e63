#include "records/campaigns/recomputation.hpp"

#include <algorithm>

namespace swizproof {

std::uint64_t Share::of(std::uint64_t all) const {
  std::uint64_t const rest = all % count;
  return all / count * parts() + std::min(last, std::max(first, rest)) - first;
}

void Recomputation::row(std::string const& about, std::set<std::string>& seen) {
  bool const fresh = seen.insert(about).second;
  equal(about + ", stands once", fresh, true);
  if (fresh) evidence.rows.push_back(about);
}

Json const& Recomputation::groups_of_rows(std::string const& key) {
  static Json const none = Json::object();
  Json const* const found = rows.find(key);
  return found == nullptr ? none : *found;
}

Json const& Recomputation::list_of_rows(std::string const& key) {
  static Json const none = Json::array();
  Json const* const found = rows.find(key);
  if (found != nullptr && !found->is_array()) malformed("'" + key + "' is no list");
  return found == nullptr ? none : *found;
}

void Recomputation::check_no_mismatches(std::vector<std::string> const& forms) {
  std::map<std::string, std::uint64_t> none;
  for (std::string const& form : forms) none[form] = 0;
  equal("mismatches of each instruction", counts.group("mismatches_of"), none);
}

void Recomputation::check_mismatches_of(std::vector<Instruction> const& all) {
  std::vector<std::string> forms;
  for (Instruction const& i : all) forms.push_back(to_string(i));
  check_no_mismatches(forms);
}

void Recomputation::check_patterns(std::vector<std::string_view> const& forms, std::uint64_t a_part) {
  equal("patterns", counts.count("patterns"), a_part * share.parts());
  equal("units", evidence.units, a_part * share.parts());
  equal("units of all parts", evidence.units_of_all_parts, evidence.shard == 1 ? a_part * share.count : 0);
  check_no_mismatches({forms.begin(), forms.end()});
  (void)longest.measured("seconds");
}

void Recomputation::check_units(std::uint64_t all) {
  equal("units", evidence.units, share.of(all));
  equal("units of all parts", evidence.units_of_all_parts, evidence.shard == 1 ? all : 0);
}

WarpAccess<std::uint32_t> addresses_of(std::string const& text, Instruction const& instruction) {
  std::size_t const digits = instruction.bytes == 16 ? 2 : 3;
  if (text.size() != digits * warp_lanes) malformed("a warp has 32 lanes");
  WarpAccess<std::uint32_t> warp{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::string const unit = text.substr(lane * digits, digits);
    bool const inactive = unit.find_first_not_of('.') == std::string::npos;
    if (!inactive && unit.find_first_not_of("0123456789abcdef") != std::string::npos)
      malformed("addresses are hexadecimal");
    warp.active[lane] = !inactive && lane < instruction.lanes();
    warp.address[lane] =
        inactive ? 0 : static_cast<std::uint32_t>(std::stoul(unit, nullptr, 16)) * instruction.bytes;
  }
  return warp;
}

std::vector<std::string> const& never_compared() {
  static std::vector<std::string> const all{"/commit", "/compiler", "/cuda_driver", "/date",
                                            "/device", "/driver",   "/toolkit",     "/longest/seconds"};
  return all;
}

namespace {

/// Returns the numbers that nothing is compared with, campaign by campaign. tests/unit/records/evidence_test.cpp changes every kind of number, and
/// compares what goes unnoticed with this list.
std::vector<std::string> not_compared_of(std::string const& campaign) {
  std::vector<std::string> out;
  bool const clocked = campaign == "atomics" || campaign == "cluster";
  bool const drawn = clocked || campaign == "wavefronts" || campaign == "counters" || campaign == "flow" ||
                     campaign == "sass" || campaign == "global" || campaign == "copies";
  if (!drawn) out = {"/seed (nothing is drawn)"};
  if (clocked || campaign == "flow" || campaign == "sass" || !drawn)
    out.insert(out.end(), {"/devices (one record, all units)", "/ranks (one record, all units)"});
  if (campaign == "exhaustive") out.emplace_back("/longest/integer_pipe_percent/* (at most 100)");
  if (campaign == "flow")
    for (char const* cell :
         {"/rows/kernels/*/ptx (executed)", "/rows/launches/*/4 (the edit in words, each once)",
          "/rows/not_launched/*/3 (executed)", "/rows/not_launched/*/4 (the edit in words, each once)"})
      out.emplace_back(cell);
  if (campaign == "orders")
    for (char const* cell : {"/rows/kernels/*/ptx (executed)", "/rows/runs/*/3 (elements, 0 or more)",
                             "/rows/runs/*/4 (the delayed line)", "/rows/runs/*/5 (the delayed warp)"})
      out.emplace_back(cell);
  if (campaign == "contention")
    for (char const* cell :
         {"/rows/layouts/*/5 (cycles, as the others within 1 %)",
          "/rows/pairs/*/2 (cycles, a share that H16 allows, the neighbour's to three of its turns)",
          "/rows/pairs/*/3 (cycles of the neighbour, a share that H16 allows, those of the warps to "
          "three turns)",
          "/rows/pairs/*/4 (operations of the neighbour, a share that H16 allows, whole batches of wgmma)"})
      out.emplace_back(cell);
  if (clocked)
    for (char const* cell :
         {"/rows/sample/*/*/2 (cycles, within what the model allows; of a form that is not modelled, any)",
          "/rows/sample/*/*/3 (cycles, within what the model allows; of a form that is not modelled, any)"})
      out.emplace_back(cell);
  if (campaign == "copies")
    out.emplace_back(
        "/rows/sample/*/*/1 (wavefronts; of .ca where both sides have conflicts, of .cg where lanes read one "
        "unit, within bounds)");
  if (campaign == "global")
    for (char const* cell : {"/rows/sample/*/*/2 (sectors; those of red and atom within bounds)",
                             "/rows/sample/*/*/3 (lines; those of red and atom within bounds)"})
      out.emplace_back(cell);
  if (clocked || campaign == "wavefronts") out.emplace_back("/counts/measured_again (at most all patterns)");
  if (campaign == "wavefronts")
    for (char const* cell :
         {"/longest/until/* (in their order)", "/longest/farthest_from_law/* (within the rounding)",
          "/rows/sample/*/*/2 (cycles, within their rounding)"})
      out.emplace_back(cell);
  return out;
}

}  // namespace

void recompute_campaign(Recomputation& r) {
  std::string const& campaign = r.evidence.campaign;
  r.evidence.not_compared = not_compared_of(campaign);
  bool const any_card = campaign == "wavefronts" || campaign == "exhaustive";
  if (!any_card && r.evidence.architecture != "sm_90")
    malformed("campaign '" + campaign + "' is of sm_90 alone, not of " + r.evidence.architecture);
  if (campaign == "wavefronts")
    check_wavefronts(r);
  else if (campaign == "counters")
    check_counters(r);
  else if (campaign == "copies")
    check_copies(r);
  else if (campaign == "global")
    check_global(r);
  else if (campaign == "exhaustive")
    check_exhaustive(r);
  else if (campaign == "flow")
    check_flow(r);
  else if (campaign == "orders")
    check_orders(r);
  else if (campaign == "ldmatrix")
    check_ldmatrix(r);
  else if (campaign == "tma")
    check_tma(r);
  else if (campaign == "operands")
    check_operands(r);
  else if (campaign == "sass")
    check_sass(r);
  else if (campaign == "tiles")
    check_tiles(r);
  else if (campaign == "wgmma")
    check_wgmma(r);
  else if (campaign == "mma")
    check_mma(r);
  else if (campaign == "registers")
    check_registers(r);
  else if (campaign == "boxes")
    check_boxes(r);
  else if (campaign == "bases")
    check_bases(r);
  else if (campaign == "atomics")
    check_atomics(r);
  else if (campaign == "cluster")
    check_cluster(r);
  else if (campaign == "contention")
    check_contention(r);
  else
    malformed("unknown campaign '" + campaign + "'");
}

}  // namespace swizproof
