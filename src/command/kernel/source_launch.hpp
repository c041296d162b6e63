// Blocks of launches, and kernel templates, in CUDA source.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::command {

/// A launch `kernel<<<grid, block>>>` in a source.
struct SourceLaunch {
  std::string kernel{};  ///< `transpose`, without namespace and template arguments
  std::size_t line = 0;
  std::array<std::uint32_t, 3> block{};  ///< zeros: the block is not a constant
  std::string text{};                    ///< of the block: `dim3(32, 8)`

  [[nodiscard]] bool is_constant() const { return block[0] != 0; }
  /// True if this is a launch of the kernel of this readable name: `void a::transpose<4>(float*)`.
  [[nodiscard]] bool is_of(std::string_view name) const;
};

/// Launches of a source, in its order. A block is a constant if it is made of integers, + - * / %, dim3, names that the source defines
/// once, by #define, const, constexpr or dim3, and names that `flags` define by -D. Checked by SourceLaunches.*
[[nodiscard]] std::vector<SourceLaunch> launches_in(std::string_view source,
                                                    std::vector<std::string> const& flags = {});

/// A kernel that is a template.
struct SourceTemplate {
  std::string name{};
  std::size_t line = 0;
  /// `template __global__ void scale<float>(float* x);`: types are float, and numbers 32. Empty if it has other parameters.
  std::string instantiation{};
};

/// Kernel templates of a source, in its order. Checked by SourceTemplates.*
[[nodiscard]] std::vector<SourceTemplate> templates_in(std::string_view source);

}  // namespace swizproof::command
