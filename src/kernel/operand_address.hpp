// The address of an operand in shared memory: its array, and what a descriptor has of it.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

inline constexpr unsigned period_bits = 10;  ///< 1024 bytes, of the widest swizzle
inline constexpr std::uint64_t base_period = std::uint64_t{1} << period_bits;

/// The address of one operand of a kernel.
class OperandAddress {
 public:
  OperandAddress(ExecutedKernel& kernel, program::SharedOperand const& operand,
                 execution::ExecutedAccess const& done);

  [[nodiscard]] Origins::Root root() const { return root_; }
  /// The array; nothing if it is not one variable in shared memory.
  [[nodiscard]] program::Variable const* array() const;
  [[nodiscard]] std::uint32_t symbol() const { return symbol_; }
  /// The node of the array's address; 0: none.
  [[nodiscard]] Id base() const { return base_; }
  /// Bytes that divide the array's address in every launch that PTX permits.
  [[nodiscard]] std::uint64_t align() const { return align_; }
  /// Addresses of which a descriptor has what `>> 4` leaves.
  [[nodiscard]] std::vector<Id> const& shifted() const { return shifted_; }
  /// `array + expression`, behind which a descriptor may be advanced.
  [[nodiscard]] std::string text();
  /// The number in the address of all lanes that no atom adds to. Call text() before.
  [[nodiscard]] std::optional<std::uint64_t> constant_part();
  /// Bytes by which an address moves if the base does by one; 0: the atom is not the base.
  [[nodiscard]] std::uint64_t slope(Id atom, std::uint64_t factor) const;
  [[nodiscard]] bool depends_on_base(Id id);

 private:
  [[nodiscard]] Node const& node(Id id) const { return kernel_.execution.terms.nodes()[id]; }
  void find_shifted();

  ExecutedKernel& kernel_;
  program::SharedOperand const& operand_;
  Id address_;
  std::uint32_t symbol_ = ~0U;
  Origins::Root root_;
  Id base_ = 0;
  std::uint64_t align_ = base_period;
  std::vector<Id> shifted_{};
  Id shift_node_ = 0;
  std::uint64_t advance_ = 0;  ///< bytes of a descriptor behind what is shifted
  std::map<Id, bool> moved_by_base_{};
};

}  // namespace swizproof::kernel_detail
