// Which numbers of a record can be others without being contradicted: those that its output names as not compared, and no more.
#include "records/record_case.hpp"

#include <cstdlib>
#include <sstream>

namespace swizproof {
namespace {

/// Places of a record to change: all, but of a long list its middle and last member, and of a group of many its first
/// and last.
void places(Json const& value, Json::json_pointer const& at, std::vector<Json::json_pointer>& out) {
  if (value.is_object()) {
    std::size_t i = 0;
    for (auto const& [key, member] : value.items()) {
      bool const many = value.size() > 4 && at != Json::json_pointer();
      if (!many || i == 0 || i + 1 == value.size()) places(member, at / key, out);
      ++i;
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      if (value.size() <= 16 || i == value.size() / 2 || i + 1 == value.size()) places(value[i], at / i, out);
  } else {
    out.push_back(at);
  }
}

/// Another value of the same kind.
Json changed(Json const& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>() + 1;
  if (value.is_number_float()) return value.get<double>() * 1.001;
  auto text = value.get<std::string>();
  if (text.empty()) return "x";
  text.back() = static_cast<char>(text.back() ^ 1);
  return text;
}

/// "/rows/maps/12/3" as "/rows/maps/*/3".
std::string kind_of(Json::json_pointer const& at) {
  std::string out, token;
  std::istringstream tokens(at.to_string());
  std::size_t depth = 0;
  for (std::getline(tokens, token, '/'); std::getline(tokens, token, '/'); ++depth)
    out += "/" + (depth >= 2 && out.starts_with("/rows") && depth <= 3 && token.size() <= 5 &&
                          token.find_first_not_of("0123456789") == std::string::npos && !out.ends_with("*")
                      ? "*"
                      : token);
  return out;
}

std::vector<std::string> tokens_of(std::string const& pointer) {
  std::vector<std::string> out;
  std::istringstream all(pointer);
  for (std::string token; std::getline(all, token, '/');) out.push_back(token);
  return out;
}

/// True if a record's list names a kind of place: `*` is any member.
bool is_named(std::string const& kind, std::string const& named) {
  auto const a = tokens_of(kind), b = tokens_of(named.substr(0, named.find(" (")));
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto const& x, auto const& y) { return y == "*" || x == y; });
}

/// H17: what goes unseen is what the output names as not compared, no more and no less.
void expect_named(Json const& record, std::set<std::string> const& unseen) {
  std::vector<std::string> named = recompute("record", record.dump()).not_compared;
  for (std::string const& one : named)
    EXPECT_TRUE(std::any_of(unseen.begin(), unseen.end(), [&](auto const& u) { return is_named(u, one); }))
        << one << " is compared";
  named.insert(named.end(), never_compared().begin(), never_compared().end());
  for (std::string const& u : unseen)
    if (!u.ends_with(" may be missing"))
      EXPECT_TRUE(std::any_of(named.begin(), named.end(), [&](auto const& one) { return is_named(u, one); }))
          << u << " is not named";
}

/// Parts of a record that can be another number, or missing, without being contradicted: of every `stride`-th of its numbers.
std::set<std::string> unseen(Json const& record, std::size_t stride) {
  EXPECT_FALSE(seen(record)) << record["campaign"];
  std::vector<Json::json_pointer> all;
  places(record, Json::json_pointer(), all);
  std::set<std::string> out;
  for (std::size_t i = 0; i < all.size(); i += stride) {
    Json::json_pointer const& at = all[i];
    Json other = record;
    other[at] = changed(record[at]);
    if (!seen(other)) out.insert(kind_of(at));
    Json less = record;
    Json& from = less[at.parent_pointer()];
    if (from.is_object())
      from.erase(at.back());
    else
      from.erase(std::stoul(at.back()));
    if (!seen(less)) out.insert(kind_of(at) + " may be missing");
  }
  return out;
}

/// The parts that go unseen are these, and `more` where no place is that is changed. The nightly run changes each number (SWIZPROOF_NIGHTLY), others
/// every tenth.
void expect_unseen(Json const& record, std::set<std::string> parts, std::set<std::string> const& more = {}) {
  bool const every = std::getenv("SWIZPROOF_NIGHTLY") != nullptr;
  std::set<std::string> const found = unseen(record, every ? 1 : 10);
  if (every) EXPECT_EQ(found, parts);
  for (std::string const& one : found) EXPECT_TRUE(parts.contains(one)) << one << " goes unseen";
  parts.insert(more.begin(), more.end());
  expect_named(record, parts);
}
void expect_unseen(char const* name, std::set<std::string> const& parts) {
  expect_unseen(parsed(name), parts);
}

std::set<std::string> const about_the_run{"/commit", "/compiler", "/cuda_driver", "/date",
                                          "/device", "/driver",   "/toolkit",     "/longest/seconds"};

/// The metadata, and what else is named.
std::set<std::string> and_metadata(std::set<std::string> others) {
  others.insert(about_the_run.begin(), about_the_run.end());
  return others;
}

// Values that do not depend on the seed or on the number of devices say nothing about them.
TEST(EvidenceLeaves, OfExhaustive) {
  expect_unseen("h200-exhaustive.json",
                and_metadata({"/seed", "/devices", "/ranks", "/longest/integer_pipe_percent/shift -3",
                              "/longest/integer_pipe_percent/shift 3"}));
}

TEST(EvidenceLeaves, OfLdmatrix) {
  expect_unseen("h200-ldmatrix.json", and_metadata({"/seed", "/devices", "/ranks"}));
}

TEST(EvidenceLeaves, OfTma) { expect_unseen("h200-tma.json", and_metadata({"/seed", "/devices", "/ranks"})); }

TEST(EvidenceLeaves, OfTiles) {
  expect_unseen(record_of_tiles(), and_metadata({"/seed", "/devices", "/ranks"}));
}

TEST(EvidenceLeaves, OfOperands) {
  expect_unseen(record_of_operands(), and_metadata({"/seed", "/devices", "/ranks"}));
}

TEST(EvidenceLeaves, OfWgmma) {
  expect_unseen("h200-wgmma.json", and_metadata({"/seed", "/devices", "/ranks"}));
}

TEST(EvidenceLeaves, OfFlow) {
  expect_unseen(
      record_of_flow({"values8"}, 3),
      and_metadata({"/devices", "/ranks", "/architecture may be missing", "/rows/kernels/values8/ptx",
                    "/rows/launches/*/4", "/rows/not_launched/*/3", "/rows/not_launched/*/4"}));
}

TEST(EvidenceLeaves, OfCounters) { expect_unseen("h200-counters.json", and_metadata({})); }

// Copies that conflict on both sides have bounds.
TEST(EvidenceLeaves, OfCopies) {
  Json const record = parsed("h200-copies.json");
  Json other = record;
  Json& wavefronts = other["/rows/sample/cp.async.ca.b128/52/1"_json_pointer];
  wavefronts = wavefronts.get<std::int64_t>() + 1;
  EXPECT_FALSE(seen(other));
  expect_unseen(record, and_metadata({"/architecture may be missing"}),
                {"/rows/sample/cp.async.ca.b128/*/1"});
}

// The counts of atomics have bounds alone.
TEST(EvidenceLeaves, OfGlobal) {
  expect_unseen("h100-global.json",
                and_metadata({"/architecture may be missing", "/rows/sample/atom.global.b32/*/2",
                              "/rows/sample/atom.global.b32/*/3"}));
}

// Measured: times, cycles within their rounding, and the number of repeated measurements, which no row has.
TEST(EvidenceLeaves, OfWavefronts) {
  expect_unseen("h200-wavefronts.json",
                and_metadata({"/counts/measured_again", "/longest/until/calibrated", "/longest/until/drawn",
                              "/longest/farthest_from_law/cp.async.b128",
                              "/longest/farthest_from_law/stmatrix.x4.trans",
                              "/rows/sample/cp.async.b128/*/2", "/rows/sample/stmatrix.x4.trans/*/2"}));
}

std::set<std::string> of_an_architecture(std::set<std::string> others) {
  others.insert({"/architecture may be missing", "/devices", "/ranks"});
  return and_metadata(std::move(others));
}

TEST(EvidenceLeaves, OfRegisters) { expect_unseen("h100-registers.json", of_an_architecture({"/seed"})); }

TEST(EvidenceLeaves, OfBases) {
  for (const auto* record : {"h100-bases.json", "h200-bases.json"})
    expect_unseen(record, of_an_architecture({"/seed"}));
}
TEST(EvidenceLeaves, OfBoxes) { expect_unseen("h100-boxes.json", of_an_architecture({"/seed"})); }

// Cycles within what the cost model allows, and how much was measured again.
TEST(EvidenceLeaves, OfAtomics) {
  expect_unseen(
      "h200-atomics.json",
      of_an_architecture({"/counts/measured_again", "/rows/sample/red.shared.xor.b32/*/2",
                          "/rows/sample/red.shared.xor.b32/*/3", "/rows/sample/atom.shared.add.u32/*/2",
                          "/rows/sample/atom.shared.add.u32/*/3"}));
}

TEST(EvidenceLeaves, OfCluster) {
  expect_unseen("h200-cluster.json",
                of_an_architecture({"/counts/measured_again", "/rows/sample/atom.shared::cluster.cas.b32/*/2",
                                    "/rows/sample/atom.shared::cluster.cas.b32/*/3",
                                    "/rows/sample/st.shared::cluster.b64/*/2",
                                    "/rows/sample/st.shared::cluster.b64/*/3"}));
}

TEST(EvidenceLeaves, OfContention) {
  expect_unseen("h200-contention.json", of_an_architecture({"/seed", "/rows/layouts/*/5", "/rows/pairs/*/2",
                                                            "/rows/pairs/*/3", "/rows/pairs/*/4"}));
}

}  // namespace
}  // namespace swizproof
