// Writers of the memory that a descriptor reads.
#pragma once

#include "executed_kernel.hpp"
#include "ranges.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace swizproof::kernel_detail {

/// The writers of a kernel's shared memory. Checked by KernelOperand.ATileBehindTheStartOfACopy.
class TileWriters {
 public:
  explicit TileWriters(ExecutedKernel& kernel) : kernel_(kernel) {}

  /// True if nothing but copies of tensors writes to an array at or behind the address of this one: what is read there, they wrote.
  [[nodiscard]] bool only_tensors_behind(execution::ExecutedAccess const& copy, std::uint32_t symbol);

 private:
  /// The first byte of an array behind all that others write; nothing if that is not known.
  [[nodiscard]] std::optional<std::int64_t> end_of_others(std::uint32_t symbol);
  [[nodiscard]] std::optional<std::int64_t> end_of(std::size_t access, std::uint32_t symbol);

  [[nodiscard]] std::optional<Range> bytes_of(execution::ExecutedAccess const& access, std::uint32_t symbol);
  [[nodiscard]] std::optional<Range> bytes_of_lanes(execution::ExecutedAccess const& access,
                                                    std::uint32_t symbol);

  ExecutedKernel& kernel_;
  std::unordered_map<std::uint32_t, std::optional<std::int64_t>> ends_{};
};

}  // namespace swizproof::kernel_detail
