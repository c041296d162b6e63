// Operands of an instruction.
#pragma once

#include "characters.hpp"
#include "scopes.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::ptx {

inline constexpr std::size_t deepest = 200;  ///< nested scopes and operands

/// Reads operands, whose names `scopes` has. `kept` owns what is not in the text as it is.
class OperandReader {
 public:
  OperandReader(Characters const& text, Scopes const& scopes,
                std::vector<std::shared_ptr<std::string const>>& kept)
      : text_(text), scopes_(scopes), kept_(kept) {}

  /// Operands between commas, each with its brackets.
  void read(std::string_view list, std::vector<Operand>& into, std::size_t depth = 0);

 private:
  Operand operand(std::string_view t, std::size_t depth);
  [[nodiscard]] Operand name(std::string_view t) const;
  Operand address(std::string_view t, std::size_t depth);

  Characters const& text_;
  Scopes const& scopes_;
  std::vector<std::shared_ptr<std::string const>>& kept_;
};

}  // namespace swizproof::ptx
