// Records of device campaigns (gpu/), recomputed: does the model say what the device said?
//
// Every prediction is made again from the raw record: addresses, descriptors and maps as they were measured. The record's
// own verdict is never believed: each of its counters is compared with the others, with the rows, and with what the
// campaign asks (campaign/cases.hpp), as far as one follows from the other.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// A contradiction between a record and the model, the campaign, or itself.
struct Contradiction {
  std::string where{};      ///< "ld.shared.b128, few 4224"
  std::string recorded{};   ///< value that the device gave
  std::string predicted{};  ///< value of the model
};

/// One record and what recomputing it gave.
struct Evidence {
  std::string name{};  ///< name of the file
  std::string campaign{}, device{}, date{};
  std::string architecture = "sm_90";  ///< records before 2026-11-22 name none
  std::uint64_t seed = 0, shard = 1, shards = 1;
  std::uint64_t parts = 1;  ///< devices times ranks: number of parts of the campaign that ran at once
  std::uint64_t units = 0;  ///< number of units that this record states
  std::uint64_t units_of_all_parts = 0;  ///< 0 if another shard states it
  std::uint64_t compared = 0;            ///< number of values that were compared with their expected values
  std::string scope{};                   ///< part of the campaign that the rows are: "all 6801 swizzles"
  bool digest = false;                   ///< the record has a digest, and it matches the text
  bool every_unit_kept = false;          ///< the rows are the units, not a sample of them
  std::vector<std::string> rows{};       ///< subject of each row, each once
  std::vector<Contradiction> contradictions{};
  /// Numbers and names of the record that nothing is compared with, as JSON pointers, `*` for any member; in parentheses what of
  /// them is compared all the same: "/rows/sample/*/*/2 (cycles, within what the model allows)".
  std::vector<std::string> not_compared{};
};

/// The names and times of a run, which nothing is compared with in any record.
[[nodiscard]] std::vector<std::string> const& never_compared();

/// The cost model under test: wavefronts of a warp instruction.
using Law = std::function<unsigned(Instruction const&, WarpAccess<std::uint32_t> const&)>;

/// cost() of bank.hpp for sm_90.
[[nodiscard]] unsigned law_of_the_model(Instruction const& instruction,
                                        WarpAccess<std::uint32_t> const& access);

/// Recomputes a record. Throws InputError if `text` is no record, holds nothing, has a key twice or one that is not known, or
/// ends in the digest of another text. Checked by tests/unit/records/evidence_test.cpp, which shows that wrong laws are contradicted, and for each number of
/// a record whether a change of it is.
[[nodiscard]] Evidence recompute(std::string const& name, std::string_view text,
                                 Law const& law = law_of_the_model);

/// Shards of one campaign must be complete and disjoint: n records of `--shard i/n`, each i once, one seed, as many
/// parts in each, as many units together as the campaign has, and no row in two of them.
[[nodiscard]] std::vector<Contradiction> check_shards(std::vector<Evidence> const& records);

}  // namespace swizproof
