// Names of a function that is read: registers, labels and variables of its pairs of braces.
#pragma once

#include <swizproof/ptx/module.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace swizproof::ptx {

/// Names of one function. Those of an inner pair of braces hide others.
class Scopes {
 public:
  /// `kept` owns names that are made.
  Scopes(Function& function, std::vector<std::shared_ptr<std::string const>>& kept);

  void open();
  /// Ends the innermost scope; its labels get their numbers in what was read since it began.
  void close();
  /// The line of a branch whose label is not defined; nothing where all are.
  [[nodiscard]] std::optional<std::uint32_t> undefined_label();
  /// Adds a register; nothing if the function has too many.
  std::optional<std::uint32_t> add_register(std::string_view name, unsigned bits);
  /// Adds `name<count>`; false if the function has too many registers.
  bool add_registers(std::string_view name, std::uint64_t count, unsigned bits);
  /// Adds a register of 2 or 4 lanes: `v.x`, `v.y` and so on, which are also `v.r`, `v.g`. False as above.
  bool add_lanes(std::string_view name, unsigned lanes, unsigned bits);
  [[nodiscard]] std::optional<std::uint32_t> find_register(std::string_view name) const;
  /// Gives a variable another name if this one was declared before, as a parameter or in another scope: `param0` of each call.
  void declare(Variable& v);
  /// The name of a variable, which may be one that hides another.
  [[nodiscard]] std::string_view visible(std::string_view name) const;
  /// Number of a new label, from 1; nothing if it is defined twice.
  std::optional<std::uint32_t> add_label(std::string_view name);
  /// Text of a list of labels, as .branchtargets has it.
  void add_targets(std::string_view list, std::string_view labels) { scopes_.back().targets[list] = labels; }
  [[nodiscard]] std::optional<std::string_view> targets_of(std::string_view list) const;

 private:
  /// Registers and labels of one pair of braces.
  struct Scope {
    struct Range {
      std::uint32_t first, count;
    };
    std::size_t start = 0;  ///< in the function's body
    std::unordered_map<std::string_view, std::uint32_t> names{};
    std::unordered_map<std::string_view, Range> ranges{};  ///< by prefix: %r<12>
    std::unordered_map<std::string_view, std::uint32_t> labels{};
    std::unordered_map<std::string_view, std::string_view> targets{};    ///< lists of labels
    std::unordered_map<std::string_view, std::string_view> variables{};  ///< names that hide an earlier one
  };
  void resolve_labels();

  Function& function_;
  std::vector<std::shared_ptr<std::string const>>& kept_;
  std::vector<Scope> scopes_{1};
  std::unordered_map<std::string, std::size_t> declared_{};  ///< variables, by name: how often
};

}  // namespace swizproof::ptx
