// The values of registers in each block: static single assignment, with terms in place of names.
#pragma once

#include "cases.hpp"
#include "graph.hpp"
#include "paths.hpp"
#include "scopes.hpp"

#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// Registers of a program, whose blocks are executed one after another, each behind its dominators.
class Registers {
 public:
  /// `needed`: bits of each register that matter.
  Registers(Program const& program, Flow const& flow, std::vector<std::uint64_t> const& needed,
            Execution& out, Graph& graph, Scopes& scopes, Cases& cases, Paths& paths);

  /// Value of a register in the block that is executed.
  Id read(std::uint32_t reg, Id block);
  void write(std::uint32_t reg, Id block, Id value);
  /// Ends the execution of a block.
  void finish(Id block);
  /// Value of a register at the end of a block.
  Id at_end(std::uint32_t reg, Id block);
  /// Registers at headers of loops, with the header, by their Phi. Values of others are added as they are needed.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, Id>> const& at_headers() const { return at_headers_; }
  /// Value over the forward edges into a block, or, of a header, over its back edges.
  Id gate(std::uint32_t reg, Id block, bool back);

 private:
  static std::uint64_t key(std::uint32_t reg, Id block) { return std::uint64_t{reg} << 32 | block; }
  void collect_definitions();
  void place_joins();
  std::vector<Id> const& joins_of(std::uint32_t reg);
  Id at_start(std::uint32_t reg, Id block);
  Id undefined(std::uint32_t reg);
  Id join(std::uint32_t reg, Id block);
  Id at_header(std::uint32_t reg, Id block);
  [[nodiscard]] bool is_header(Id block) const;

  Program const& program_;
  Flow const& flow_;
  std::vector<std::uint64_t> const& needed_;  ///< bits of each register that matter
  Execution& out_;
  Graph& graph_;
  Scopes& scopes_;
  Cases& cases_;
  Paths& paths_;
  std::vector<std::vector<Id>> writers_{};   ///< by register: blocks
  std::vector<std::vector<Id>> frontier_{};  ///< by block: where its definitions meet others
  std::unordered_map<std::uint32_t, std::vector<Id>> joins_{};  ///< by register
  std::unordered_map<std::uint64_t, Id> ends_{};                ///< by register and block that writes it
  std::unordered_map<std::uint64_t, Id> joined_{};  ///< by register and block where definitions meet
  std::unordered_map<std::uint32_t, Id> undefined_{};
  std::vector<std::pair<std::uint32_t, Id>> at_headers_{};
  std::vector<std::int32_t> stamp_{};     ///< by register: the block that wrote it last
  std::vector<Id> now_{};                 ///< by register: what that wrote
  std::vector<std::uint32_t> written_{};  ///< in the block that is executed
  int joining_ = 0;
};

}  // namespace swizproof::execution
