// Start of an operand: an address in shared memory; a descriptor holds it shifted right by 4.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// Address that an operand begins at.
class OperandStart {
 public:
  /// `term`: the operand's value, a descriptor or an address.
  OperandStart(ExecutedKernel& kernel, bool is_descriptor, Id term)
      : kernel_(kernel), is_descriptor_(is_descriptor), term_(term) {}

  /// Finds the addresses that a descriptor is made of.
  void find_shifted();
  /// `array + expression`, behind which a descriptor may be advanced.
  [[nodiscard]] std::string text();
  /// The number in the address of all lanes that no atom adds to.
  [[nodiscard]] std::optional<std::uint64_t> constant_part();
  /// Bytes of a descriptor behind what is shifted. Precondition: text() was called.
  [[nodiscard]] std::uint64_t advance() const { return advance_; }
  /// True if nothing but a number is added to the shifted address. Precondition: text() was called.
  [[nodiscard]] bool advances_by_number() const { return by_number_; }
  /// Addresses whose low bits a descriptor loses.
  [[nodiscard]] std::vector<Id> const& shifted() const { return shifted_; }
  /// True if a lane may have the start that another one has computed.
  [[nodiscard]] bool shuffled() const { return shuffled_; }

 private:
  [[nodiscard]] Node const& node(Id id) const { return kernel_.execution.terms.nodes()[id]; }

  ExecutedKernel& kernel_;
  bool is_descriptor_;
  Id term_;
  std::vector<Id> shifted_{};
  Id shift_node_ = 0;
  bool shuffled_ = false;
  bool by_number_ = false;
  std::uint64_t advance_ = 0;  ///< bytes of a descriptor behind what is shifted
};

}  // namespace swizproof::kernel_detail
