// Constant bank 0: a kernel's parameters, the launch's shape, and what the driver writes.
#pragma once

#include "arithmetic.hpp"

#include <swizproof/sass/module.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::sass {

/// Words of constant bank 0, as values of a program.
class ConstantBank {
 public:
  ConstantBank(Module const& module, Function const& function, Builder& build)
      : module_(module), function_(function), build_(build) {}

  /// Makes parameters of the program: as the dump lists them, words of structures behind them; without a list, the parts that the
  /// kernel reads. `listed` gets them, too.
  void find_parameters(std::vector<program::Variable>& listed);
  /// Bits at an offset in bytes.
  Source load(std::uint64_t at, unsigned bits);

 private:
  struct Parameter {
    std::uint64_t first = 0, bytes = 0;
    std::uint32_t symbol = 0;
  };
  [[nodiscard]] std::vector<Parameter> parts_read(std::uint64_t base) const;
  void add_parameter(std::vector<program::Variable>& listed, Parameter p, bool part, std::string name = {});
  std::optional<Source> parameter_at(std::uint64_t at, unsigned bits);
  Source bytes(std::uint64_t at, unsigned bits);

  Module const& module_;
  Function const& function_;
  Builder& build_;
  std::vector<Parameter> parameters_{};  ///< that are read as numbers
};

}  // namespace swizproof::sass
