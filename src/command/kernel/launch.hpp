// Launches of compiled kernels as options name them: --block and --param.
#pragma once

#include <swizproof/kernel/kernel.hpp>

#include "parse/text/regular_expression.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::command {

/// Shape of a block: `128`, `32,8` or `16,16,2`. Throws InputError.
[[nodiscard]] std::array<std::uint32_t, 3> parse_block(std::string const& text);

/// Shapes that --block gives: `32,8` for all kernels, `gemm.*=128` for those with a name that the regular expression finds, which have no other one
/// then. Checked by golden.kernel_blocks_by_name.
class LaunchBlocks {
 public:
  using Shape = std::array<std::uint32_t, 3>;
  /// Throws InputError.
  explicit LaunchBlocks(std::vector<std::string> const& texts);

  /// Shapes of a kernel, each once, by its mangled name and its plain one; a single unknown one if none is given.
  [[nodiscard]] std::vector<std::optional<Shape>> of(std::string const& mangled, std::string const& plain);
  [[nodiscard]] bool by_name() const { return !named_.empty(); }
  /// Throws InputError for an expression that found no kernel.
  void must_be_used() const;

 private:
  struct Named {
    std::string text{};  ///< as it was given
    Pattern name;
    Shape shape{};
    bool used = false;
  };
  std::vector<std::optional<Shape>> all_{};
  std::vector<Named> named_{};
};

/// A parameter's name and value: `n=1024`, `n=-1`, `param_2=0x10`. Throws InputError.
[[nodiscard]] std::pair<std::string, ParameterValue> parse_param(std::string const& text);

}  // namespace swizproof::command
