// Arrays in shared memory, and what a kernel's warps execute on each: what their fixes are searched for.
#pragma once

#include <swizproof/kernel/kernel.hpp>
#include <swizproof/execution/terms.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// An access to a variable in shared memory, by its index in the program.
struct ArrayAccess {
  std::size_t index = 0;
  std::uint32_t symbol = 0;
  std::optional<Instruction> instruction{};  ///< nothing: not modelled
  unsigned bytes = 16;                       ///< bytes of a lane that stay together
  std::uint32_t ptx_line = 0;
  bool atomic = false;
  bool refuted = false;     ///< for its cost
  unsigned wavefronts = 0;  ///< upper bound
  SourceLine source{};
};

/// The arrays of one kernel. An array begins at a term that addresses have: a variable, or one that is rounded up.
class Arrays {
 public:
  using Id = std::uint32_t;
  Arrays(program::Program const& program, execution::Execution const& execution)
      : program_(program), execution_(execution) {}

  /// An access that a lane executes, or that may be: not decided if it has no instruction.
  void add(std::size_t index, std::uint32_t symbol, KernelAccess const& access);
  /// A descriptor or a bulk copy reads this variable: 16 bytes stay together.
  void add_operand(std::uint32_t symbol) { operands_.insert(symbol); }
  /// A descriptor reads the variable of this name, or any one if it is not known which.
  void add_descriptor(std::string const& array, DescriptorUse use) {
    descriptors_[array] = std::max(descriptors_[array], use);
  }
  /// The variable has no fix but vectors, for this reason: an instruction that may access it follows none. Dynamic arrays are one memory.
  void exclude(std::uint32_t symbol, std::string reason);
  /// Accesses to the variables with one that is refuted for its cost; without atomics, which have no fix, and cp.async.cg.
  [[nodiscard]] std::vector<ArrayAccess> to_search() const;
  /// True for cp.async.cg: the swizzles that are searched do not change its cost (H22).
  [[nodiscard]] bool bypasses(ArrayAccess const& access) const;
  /// True if wmma accesses the variable: all lines of a tile have one stride.
  [[nodiscard]] bool has_tiles(std::uint32_t symbol) const;
  /// An execution of a warp: each lane's offset from the array at `start`, but for `moved`. False if it is no aligned access of
  /// shared memory, or if there are too many.
  bool add_execution(ArrayAccess const& access, Id start, std::array<std::uint64_t, 32> const& lanes,
                     std::uint64_t moved, std::uint32_t active);
  /// These accesses are one, the vector, whose executions were added.
  void join(ArrayAccess const& vector, std::span<ArrayAccess const> members);
  /// An execution of this access is not known, for this reason.
  void leave_out(ArrayAccess const& access, std::string reason);

  /// Accesses that are left out of the search keep their bytes together, too. Checked by KernelFixes.* in
  /// tests/unit/kernel/fixes_test.cpp, and tests/reference/kernel_fixes.py.
  [[nodiscard]] std::vector<KernelFix> fixes(Architecture const& arch) const;
  /// The variables with an access that is refuted for its cost that `fixes` and `vectors` are not of. Checked by KernelFixes.SayWhyThereIsNone.
  [[nodiscard]] std::vector<KernelUnfixed> unfixed(std::vector<KernelFix> const& fixes,
                                                   std::vector<KernelVector> const& vectors) const;
  /// Vectors that are cheaper than their accesses, if an access among them is refuted for its cost.
  [[nodiscard]] std::vector<KernelVector> vectors(Architecture const& arch) const;

 private:
  static constexpr std::size_t most_patterns = std::size_t{1} << 14;  ///< most patterns of one array
  static constexpr std::uint32_t most_bytes = 1U
                                              << 20;  ///< bound of sizes in bytes, larger than shared memory

  /// Its different executions, by instruction, lanes and addresses.
  using Patterns = std::map<std::pair<std::size_t, std::array<std::uint32_t, 33>>, WeightedAccess>;

  struct Vector {
    ArrayAccess access{};
    std::vector<ArrayAccess> members{};
  };
  /// The first name of the memory of a variable: dynamic arrays are one memory.
  [[nodiscard]] std::uint32_t memory_of(std::uint32_t symbol) const;
  /// Why no fix is searched that moves what is in a variable; empty if one is.
  [[nodiscard]] std::string why_excluded(std::uint32_t symbol) const;
  /// Wavefronts of the most expensive execution of an access.
  [[nodiscard]] unsigned most_of(ArrayAccess const& access, Architecture const& arch) const;

  program::Program const& program_;
  execution::Execution const& execution_;
  std::vector<ArrayAccess> accesses_{};
  std::vector<Vector> vectors_{};
  std::map<std::size_t, std::size_t> joined_{};  ///< index of the vector, by that of each of its accesses
  std::set<std::uint32_t> operands_{};           ///< variables
  std::map<std::string, DescriptorUse> descriptors_{};  ///< by name of the variable; an empty name: any
  std::map<std::size_t, std::string> reasons_{};  ///< reason for each access that is left out, by its index
  std::map<std::uint32_t, std::string> excluded_{};  ///< by memory
  std::map<std::uint32_t, bool>
      refuted_{};  ///< true for a variable with an access that is refuted for its cost
  std::map<std::pair<std::uint32_t, Id>, Patterns> arrays_{};  ///< patterns by variable and start
};

}  // namespace swizproof::kernel_detail
