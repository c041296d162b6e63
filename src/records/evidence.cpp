#include "records/evidence.hpp"

#include "campaign/digest.hpp"
#include "records/campaigns/recomputation.hpp"

#include <swizproof/parse/parse.hpp>

#include <algorithm>

namespace swizproof {

namespace {

constexpr std::uint64_t most_parts = 1 << 20;  ///< devices, ranks and shards each

std::uint64_t from_one(Json const& value, char const* what) {
  auto const n = integer<std::uint64_t>(value);
  if (n < 1 || n > most_parts) malformed(std::string(what) + " is no number from 1 to 2^20");
  return n;
}

/// Reads what is about the run, and not about the campaign.
Evidence header(std::string const& name, Members& record, Members& counts) {
  Evidence e;
  e.name = name;
  if (record.text("format") != "swizproof evidence 1") malformed("unknown format");
  e.campaign = record.text("campaign");
  e.device = record.text("device");
  e.date = record.text("date");
  auto const digit = [&](std::size_t i) { return e.date[i] >= '0' && e.date[i] <= '9'; };
  bool dated = e.date.size() == 10;
  for (std::size_t i = 0; dated && i < e.date.size(); ++i)
    dated = i == 4 || i == 7 ? e.date[i] == '-' : digit(i);
  if (!dated) malformed("'date' is no date such as 2026-11-21");
  for (char const* key : {"driver", "cuda_driver", "toolkit", "compiler", "commit"}) (void)record.text(key);
  if (Json const* const architecture = record.find("architecture")) {
    if (!architecture->is_string() || !architecture->get_ref<std::string const&>().starts_with("sm_"))
      malformed("'architecture' is no name such as sm_90");
    e.architecture = architecture->get<std::string>();
  }
  e.seed = record.count("seed");
  e.parts = from_one(record.at("devices"), "'devices'") * from_one(record.at("ranks"), "'ranks'");
  if (e.parts > most_parts) malformed("more than 2^20 devices took part");
  Json const& shard = record.at("shard");
  if (!shard.is_array() || shard.size() != 2) malformed("'shard' is no pair [i, n]");
  e.shard = from_one(shard.at(0), "'shard'");
  e.shards = from_one(shard.at(1), "'shard'");
  if (e.shard > e.shards) malformed("'shard' is [i, n] with i <= n");
  e.units = counts.count("units");
  e.units_of_all_parts = counts.count("units_of_all_parts");
  return e;
}

/// Refuses a record of another digest than its text has. It stands at the end.
void check_digest(std::string_view text) {
  std::string const before{text.substr(0, text.rfind(trace::before_digest))};
  if (text != trace::with_digest(before + '}'))
    malformed("the digest is not that of the text: the file was changed");
}

/// Checks that the shards of one campaign, which are correct one by one, are all of its parts.
void check_whole(std::string const& name, std::uint64_t count, std::vector<Evidence const*> const& parts,
                 std::vector<Contradiction>& found) {
  std::set<std::uint64_t> shards, seeds, parts_in_one;
  std::set<std::string> rows;
  std::uint64_t units = 0, all = 0, all_rows = 0;
  for (Evidence const* e : parts) {
    if (!shards.insert(e->shard).second)
      found.push_back({name, "shard " + text_of(e->shard) + " appears twice", "each shard once"});
    seeds.insert(e->seed);
    parts_in_one.insert(e->parts);
    units += e->units;
    all = std::max(all, e->units_of_all_parts);
    all_rows += e->rows.size();
    rows.insert(e->rows.begin(), e->rows.end());
  }
  bool const complete = shards.size() == count && *shards.begin() == 1 && *shards.rbegin() == count;
  if (!complete) found.push_back({name, text_of(shards.size()) + " shards", text_of(count) + " shards"});
  if (seeds.size() != 1) found.push_back({name, text_of(seeds.size()) + " seeds", "one seed"});
  if (parts_in_one.size() != 1)
    found.push_back(
        {name, "as many devices in one shard as in another: no", "yes, or they are not disjoint"});
  if (complete && units != all) found.push_back({name, text_of(units) + " units", text_of(all) + " units"});
  if (rows.size() != all_rows)
    found.push_back({name, text_of(all_rows - rows.size()) + " rows are in two shards", "no row twice"});
  if (complete && parts.front()->every_unit_kept && rows.size() != all)
    found.push_back({name, text_of(rows.size()) + " different rows", text_of(all) + " different rows"});
}

}  // namespace

unsigned law_of_the_model(Instruction const& instruction, WarpAccess<std::uint32_t> const& access) {
  return cost(sm_90, instruction, access).wavefronts;
}

Evidence recompute(std::string const& name, std::string_view text, Law const& law) {
  auto const refuse = [&](std::string const& why) {
    return InputError::whole("not a record of swizproof-gpu: " + why, name,
                             "records are written by swizproof-gpu --out FILE; see gpu/README.md");
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw refuse("the file is empty");
  Evidence evidence;
  try {
    Json const json = parse_json(text);
    Members record(json, "the record");
    Members counts(record.at("counts"), "counts");
    evidence = header(name, record, counts);
    evidence.digest = record.find("digest") != nullptr;
    if (evidence.digest) check_digest(text);
    std::uint64_t const first = (evidence.shard - 1) * evidence.parts;
    Recomputation r{law,
                    evidence,
                    {first, first + evidence.parts, evidence.shards * evidence.parts},
                    std::move(counts),
                    Members(record.at("longest"), "longest"),
                    Members(record.at("rows"), "rows")};
    r.equal<std::uint64_t>("mismatches that the run itself saw", r.counts.count("mismatches"), 0);
    recompute_campaign(r);
    for (Members const* members : {&record, &r.counts, &r.longest, &r.rows}) members->finish();
  } catch (BadJson const& error) {
    throw refuse(error.what());
  } catch (Json::exception const&) {
    throw refuse("a value is missing, or of another type than is written there");
  }
  return evidence;
}

std::vector<Contradiction> check_shards(std::vector<Evidence> const& records) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<Evidence const*>> campaigns;
  for (Evidence const& e : records)
    if (e.shards > 1) campaigns[{e.campaign, e.shards}].push_back(&e);
  std::vector<Contradiction> found;
  for (auto const& [key, parts] : campaigns)
    check_whole(key.first + ", shards of " + text_of(key.second), key.second, parts, found);
  return found;
}

}  // namespace swizproof
