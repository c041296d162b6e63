// Inputs of one execution on numbers: parameters, the block's number, and the addresses of variables.
#pragma once

#include "witness.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/execution/warp.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// A number that an execution reads: bits of a parameter, or the number of the block, or of blocks, in one dimension.
struct ReadNumber {
  std::string name{};
  bool block = false;        ///< no parameter
  std::uint32_t symbol = 0;  ///< of the parameter; else the Special
  std::uint64_t offset = 0;  ///< bytes into the parameter
  unsigned bits = 32;
  std::uint64_t value = 0;
  bool given = false;  ///< by --param or --grid

  [[nodiscard]] bool is(ReadNumber const& other) const {
    return block == other.block && symbol == other.symbol && offset == other.offset && bits == other.bits;
  }
};
/// Names and values.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> named(
    std::vector<ReadNumber> const& numbers);

/// The style of parameters that are the least that is tried; see Inputs and smallest.hpp.
inline constexpr unsigned smallest_style = 18;

/// Values by a seed, those of --param and of a witness excepted. What was read has the same value again.
class Inputs {
 public:
  /// Styles of parameters: 0 is large pointers and 2^20, 1 below 4096, 2 powers of two, 3 any number, 4 from 1 to 8; from 5 to 9
  /// each parameter has one of these. From 10 to 16 words of 64 bits are large, and all other parameters one number: 256, 300, 1000, 64, 1024, 16 or 1.
  /// 17: each parameter has one of all styles. In 18 all are least_number(). Numbers of the block are 0 in 0, 1, 2, 7 and 18, and in about half of the others; in a given grid
  /// those of 7 are any.
  Inputs(Program const& program, Execution const& execution, Launch const& launch, std::uint64_t seed,
         unsigned style)
      : program_(program),
        execution_(execution),
        launch_(launch),
        random_(seed),
        style_(style),
        first_block_(style < 3 || style == 7 || style == smallest_style || random_() % 2 == 0) {
    for (std::uint32_t i = 0; i < program.symbols.size(); ++i)
      if (program.symbols[i].placed) placed_[i] = *program.symbols[i].placed;
  }

  /// The same values but for about two, which are drawn anew, each in any style.
  [[nodiscard]] Inputs changed(std::uint64_t seed) const;
  /// The same values but for bits of a parameter, which --param does not give.
  [[nodiscard]] Inputs with(std::uint32_t symbol, std::uint64_t offset, unsigned bits,
                            std::uint64_t value) const;
  /// Gives values to leaves, by their number: block numbers, variables' addresses and parameters.
  void give(LeafValues const& values);
  /// Gives values to numbers; those of --param stay.
  void give(std::vector<ReadNumber> const& numbers);
  /// Sets a pointer to 0 if it is not given by --param.
  void set_null(std::uint32_t symbol) {
    if (launch_.params.count(program_.symbols[symbol].name) == 0) (void)kept(symbol, 0, 64, 0);
  }
  /// Puts a variable in shared memory at an address, if it has none by H18: dynamic arrays, which all begin at one, together.
  void place(std::uint32_t symbol, std::uint64_t address);
  /// The alignment of a variable in shared memory; of a dynamic array the largest one, since all begin at one address.
  [[nodiscard]] std::uint64_t align_of(std::uint32_t symbol) const;

  /// Bits of a parameter from a byte on. Bytes that two reads share have one value.
  std::uint64_t parameter(std::uint32_t symbol, std::uint64_t offset, unsigned bits);
  /// The number of the block, or of blocks in the grid.
  std::uint64_t block(Special s);
  /// The address of a variable, if it was placed.
  [[nodiscard]] std::optional<std::uint64_t> placed(std::uint32_t symbol) const;
  /// Addresses of the variables that have one.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> const& bases() const { return placed_; }
  [[nodiscard]] std::uint64_t random() { return random_(); }

  /// Parameters and numbers of blocks, as they were read.
  [[nodiscard]] std::vector<ReadNumber> const& numbers() const { return numbers_; }

 private:
  std::uint64_t any_parameter(std::uint32_t symbol, std::uint64_t offset, unsigned bits);
  std::uint64_t any_number(unsigned style, unsigned bits);
  std::uint64_t kept(std::uint32_t symbol, std::uint64_t offset, unsigned bits, std::uint64_t value);
  void note(ReadNumber number);

  Program const& program_;
  Execution const& execution_;
  Launch const& launch_;
  std::mt19937_64 random_;
  unsigned style_;
  bool first_block_;  ///< block 0 of the grid
  std::vector<ReadNumber> numbers_{};
  std::map<std::uint32_t, std::uint64_t> placed_{};
  std::map<std::uint32_t, std::uint64_t> blocks_{};  ///< by their Special
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint8_t>
      bytes_{};  ///< of parameters, by symbol and offset
};

}  // namespace swizproof::execution
