// The launch that a kernel's values are those of.
#pragma once

#include <swizproof/program/program.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace swizproof::execution {

/// Shape of a block, and what was given on the command line.
struct Launch {
  std::array<std::uint32_t, 3> block{1, 1, 1};
  bool any_multiple = false;  ///< block.x stands for every multiple of 32 up to it: %ntid.x is not known
  std::optional<std::array<std::uint32_t, 3>> grid{};  ///< blocks; nothing: any number
  std::array<std::uint32_t, 3> cluster{1, 1, 1};       ///< blocks of a cluster, which a grid has whole
  std::map<std::string, std::uint64_t> params{};       ///< values of parameters, by name

  /// Blocks of the dimension that %ctaid or %nctaid `s` is of, if they are given.
  [[nodiscard]] std::optional<std::uint32_t> blocks(program::Special s) const {
    using program::Special;
    if (!grid || s < Special::ctaid_x || s > Special::nctaid_z) return std::nullopt;
    return grid->at(dimension_of(s));
  }
  /// The number of blocks that %nctaid `s` has in a grid of `n` or more of them: a multiple of the cluster's. 3 is 4 with clusters of 2.
  /// [CUDA C++ Programming Guide, Thread Block Clusters] Checked by KernelGrid.HasWholeClusters.
  [[nodiscard]] std::uint64_t whole_clusters(program::Special s, std::uint64_t n) const {
    std::uint64_t const of = cluster.at(dimension_of(s));
    return (n + of - 1) / of * of;
  }
  /// 0, 1 or 2 for x, y or z of %ctaid and %nctaid.
  [[nodiscard]] static std::size_t dimension_of(program::Special s) {
    return (static_cast<std::size_t>(s) - static_cast<std::size_t>(program::Special::ctaid_x)) % 3;
  }
};

}  // namespace swizproof::execution
