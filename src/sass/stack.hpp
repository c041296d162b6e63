// Local memory that is a stack of words.
#pragma once

#include "code.hpp"

#include <swizproof/program/builder.hpp>

#include <cstdint>
#include <unordered_map>

namespace swizproof::sass {

/// Words of local memory that are named by constant offsets from R1 alone: R1 is set where the kernel begins, which nothing jumps back
/// to, before any of them, and no other instruction reads it.
class Stack {
 public:
  /// `may`: false if a write of R1 was found while instructions were lowered.
  Stack(Code const& code, bool may);

  [[nodiscard]] bool used() const { return used_; }
  /// The register of the word at an offset from R1.
  std::uint32_t slot(program::Builder& build, std::uint64_t offset);
  /// An instruction of this line of the dump writes a register.
  void written(std::uint32_t r, std::uint32_t line);
  /// False if an instruction has written R1 behind the start of the kernel, so that the words are not those that were taken.
  [[nodiscard]] bool kept() const { return kept_; }

 private:
  [[nodiscard]] bool find(Code const& code);

  std::uint32_t line_ = 0;  ///< of the last instruction that sets R1
  bool used_;
  bool kept_ = true;
  std::unordered_map<std::uint64_t, std::uint32_t> slots_{};
};

}  // namespace swizproof::sass
