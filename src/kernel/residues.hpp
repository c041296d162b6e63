// Costs of an access by the low bits of a parameter.
#pragma once

#include <swizproof/execution/warp.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace swizproof::kernel_detail {

struct ExecutedKernel;

/// Costs of the cases of one access.
class Residues {
 public:
  /// A case under assumptions.
  void add(ExecutedKernel const& kernel, std::vector<execution::Assumption> const& assumptions,
           unsigned wavefronts);
  /// Most wavefronts for each residue of the parameter modulo the least power of two that separates all costs. One entry if the parameter
  /// changes nothing; none if no parameter or more than one was assumed.
  [[nodiscard]] std::vector<unsigned> table() const;
  /// The term of the parameter.
  [[nodiscard]] std::optional<std::uint32_t> parameter() const { return parameter_; }

 private:
  struct Cost {
    unsigned bits = 0;
    std::uint64_t value = 0;  ///< of the low bits
    unsigned wavefronts = 0;
  };
  std::vector<Cost> costs_{};
  std::optional<std::uint32_t> parameter_{};
  bool others_ = false;  ///< more than one parameter
};

}  // namespace swizproof::kernel_detail
