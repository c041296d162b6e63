// Bytes of memory in a launch: zeros or numbers of words at first, and parameters.
#pragma once

#include "race_data.hpp"
#include "race_values.hpp"

#include <swizproof/program/program.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// A launch of one block.
struct RaceLaunch {
  std::array<std::uint32_t, 3> block{1, 1, 1}, index{}, grid{1, 1, 1};
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t>
      params{};         ///< 4 bytes each, by symbol and offset
  bool counts = false;  ///< memory holds the number of each word, else 0
  bool falls = false;   ///< or 1023 minus its number modulo 1024
};

class RaceBytes {
 public:
  /// Addresses of symbols that are not placed, by space, begin here. Those of shared memory are below `symbols_from`, too.
  static constexpr std::uint64_t symbols_from = std::uint64_t{1} << 40, locals_from = std::uint64_t{1} << 41,
                                 params_from = std::uint64_t{1} << 42;

  RaceBytes(program::Program const& lowered, DataDecisions& data, ValueTerms& terms);

  void begin(RaceLaunch const& launch);
  [[nodiscard]] std::uint64_t address_of(std::uint32_t symbol) const { return addresses_[symbol]; }
  /// Parameters that were read, by symbol and offset.
  [[nodiscard]] std::set<std::pair<std::uint32_t, std::uint64_t>> const& read() const { return read_; }
  /// Result of a load at an address. `line`: of the code.
  [[nodiscard]] RaceValue loaded(std::uint64_t at, unsigned bytes, std::uint32_t thread, std::uint32_t line);
  /// The byte that memory holds before the launch; none if the block has written it.
  [[nodiscard]] ValueTerms::Term initial(std::uint64_t at);
  /// Bytes that cp.async writes: those at an address, if the block has not written them, and zeros behind the size of its source [PTX ISA 9.1, cp.async:
  /// src-size, at most the size of the copy]. Empty if they are not known. Checked by KernelRaces.ACopyRacesWithItsOwnThreadBeforeTheWait.
  [[nodiscard]] std::vector<RaceValue> copied(RaceValue const& from, RaceValue const& size, unsigned bytes);
  /// Parameter at an address from `params_from` on; open, if none lies at it.
  [[nodiscard]] RaceValue parameter(std::uint64_t at, unsigned width, program::Space space);
  void put(std::uint64_t at, RaceValue const& byte) { bytes_[at] = byte; }

 private:
  program::Program const& program_;
  DataDecisions& data_;
  ValueTerms& terms_;
  std::vector<std::uint64_t> addresses_{};  ///< of symbols
  RaceLaunch const* launch_ = nullptr;
  std::unordered_map<std::uint64_t, RaceValue> bytes_{};  ///< that the block has written
  std::set<std::pair<std::uint32_t, std::uint64_t>> read_{};
};

}  // namespace swizproof::kernel_detail
