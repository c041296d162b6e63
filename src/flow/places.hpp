// Places of variables in shared and local memory: an address of one of them that reaches another depends on how they lie.
//
// PTX leaves open how variables lie. An address is of the variable that it is computed from; where it is in another one, the answer rests on
// H18, that they lie one behind the other as they are declared; of local memory nothing was measured. Checked by Variables.ReachOthersByAnAssumption.
#pragma once

#include "names.hpp"

#include <swizproof/program/program.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

/// `Word::origin` of an address of this variable.
[[nodiscard]] std::uint16_t origin_of(std::size_t symbol);
/// Origin of a result on these words: the variable of their addresses, `several_origins` of more than one, 0 of none.
[[nodiscard]] std::uint16_t joined_origin(program::Step const& s, Word const& a, Word const& b,
                                          Word const& c);

/// Variables by the number of their symbol.
class Places {
 public:
  struct Place {
    std::uint64_t start = 0, end = 0;
    std::string name{};
    [[nodiscard]] bool has(std::uint64_t address) const { return address >= start && address < end; }
  };
  void add(std::size_t symbol, Place place);
  /// The variable that a byte belongs to; nullptr: none.
  [[nodiscard]] Place const* with(std::uint64_t address) const;
  /// The variable of an address; nullptr of several or of none.
  [[nodiscard]] Place const* of(std::uint16_t origin) const;
  /// Variables in shared, or in local memory.
  [[nodiscard]] unsigned count(bool local) const { return local ? local_ : shared_; }

 private:
  std::vector<Place> places_{};  ///< without bytes: a symbol elsewhere
  unsigned shared_ = 0, local_ = 0;
};

struct Now;
/// Notes that an answer depends on how variables lie, if an address of shared or local memory is not in its variable.
void note_origin(Now const& now, std::uint16_t origin, std::uint64_t address);
/// The same of an access that begins in one variable and ends in another, or before it: `bytes` modulo 2^64.
void note_span(Now const& now, std::uint64_t address, std::uint64_t bytes);

}  // namespace swizproof::flow_detail
