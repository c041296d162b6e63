// Bits of a descriptor that are the same for every base, thread and iteration.
//
// A start is not known, but it lies in 14 bits: an address of shared memory, below 2^18 bytes, in units of 16. What is added to it
// is an address again, so that nothing is carried into the other fields. That is assumed.
#pragma once

#include "executed_kernel.hpp"

#include <swizproof/hardware/descriptor.hpp>

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace swizproof::kernel_detail {

inline constexpr unsigned start_bits = start_field.bits;
inline constexpr std::uint64_t start_mask = low_bits(start_bits);
inline constexpr unsigned window_bits = 18;  ///< of an address of shared memory

/// Known bits of a word, and an upper bound.
struct Bits {
  std::uint64_t zeros = 0, ones = 0;
  std::uint64_t most = ~std::uint64_t{0};
  bool start = false;  ///< the low 14 bits are the start of an operand, or a part of it
};

/// Known bits of the terms of one kernel. Checked by KernelOperand.FieldsThatAreNotConstant and
/// tests/reference/kernel_operands.py.
class KnownBits {
 public:
  explicit KnownBits(ExecutedKernel& kernel)
      : execution_(kernel.execution), origins_(kernel.origins), kernel_(&kernel) {}
  /// In every launch: no facts of warps are used.
  KnownBits(execution::Execution const& execution, Origins const& origins)
      : execution_(execution), origins_(origins) {}

  Bits const& of(Id id);
  /// The term that a bit of another one comes from, which is not known.
  [[nodiscard]] Id source_of(Id id, unsigned bit);

 private:
  [[nodiscard]] Node const& node(Id id) const { return execution_.terms.nodes()[id]; }
  [[nodiscard]] Bits plain(Id id);
  Bits compute(Id id);
  Bits variable(Id id, Node const& n);
  [[nodiscard]] std::optional<bool> truth(Id id);
  Bits counted(execution::Phi const& p);
  Bits shifted(Node const& n);
  [[nodiscard]] bool is_followed(Id shuffle);
  Bits shuffled(execution::Leaf const& l, unsigned width);

  execution::Execution const& execution_;
  Origins const& origins_;
  ExecutedKernel* kernel_ = nullptr;  ///< null: any launch
  std::unordered_map<Id, Bits> memo_{};
  unsigned depth_ = 0;
};

}  // namespace swizproof::kernel_detail
