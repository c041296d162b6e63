// Loads from arrays in constant memory whose content the module gives.
#pragma once

#include "arithmetic.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace swizproof::execution {

/// Values of such loads, as terms.
class Tables {
 public:
  Tables(Program const& program, Graph& graph, Arithmetic& arithmetic)
      : program_(program), graph_(graph), arithmetic_(arithmetic) {}

  /// Value at an address, of `bits` bits: the number, or choices by an index that depends on the lane. `outside`: the value behind the array.
  /// Nothing for another address, an index that is the same in all lanes, and more than 256 numbers. Checked by KernelAddresses.*Constant*.
  std::optional<Id> value(Id address, unsigned bits, Id outside);

 private:
  using Bytes = std::span<std::uint8_t const>;
  /// An array, and the term that is added to its address.
  struct Place {
    Bytes content;
    Id offset;
  };
  [[nodiscard]] std::optional<Place> place_of(Id address);
  [[nodiscard]] bool depends_on_lane(Id id) const;
  /// Value at one of the offsets from `from` to below `to`.
  Id chosen(Place const& place, std::uint64_t from, std::uint64_t to, unsigned bits);
  [[nodiscard]] Node const& node(Id id) const { return graph_.node(id); }

  Program const& program_;
  Graph& graph_;
  Arithmetic& arithmetic_;
};

}  // namespace swizproof::execution
