#include "race_memory.hpp"

#include <swizproof/engine/walk.hpp>
#include <swizproof/program/control_flow.hpp>
#include <swizproof/program/opcode.hpp>
#include <swizproof/ptx/lower.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace swizproof::kernel_detail {

using execution::Leaf;
using program::Space;

namespace {

constexpr std::size_t most_nodes = 2000;  ///< of a walk to the pointers of an address

bool stores(std::string_view op) {
  return op.starts_with("st") || op.starts_with("atom") || op.starts_with("red");
}

/// True for an instruction that may write global memory, and is no store or atomic with an address in it.
bool writes_otherwise(ptx::Instruction const& i) {
  ptx::Opcode const& op = i.opcode;
  if (op.name == "st" || op.name == "atom" || op.name == "red") return op.space == Space::generic;
  if (op.name == "wmma") return op.has("store") && op.space != Space::shared;
  if (op.name == "cp") {
    if (op.has("prefetch")) return false;
    auto const space = std::find_if(op.parts.begin(), op.parts.end(), [](std::string_view p) {
      return p == "global" || p.starts_with("shared");
    });
    return space != op.parts.end() && *space == "global";
  }
  static constexpr std::string_view known[] = {"call", "multimem", "tensormap", "discard",
                                               "sust", "sured",    "suld",      "applypriority"};
  return std::find(std::begin(known), std::end(known), op.name) != std::end(known);
}

/// Pointers among the summands of an address; nothing if one of them may be another one's.
std::optional<UnwrittenMemory::Pointers> pointers_of(program::Program const& program,
                                                     execution::Execution const& execution,
                                                     std::uint32_t address) {
  UnwrittenMemory::Pointers out;
  Walk walk(address, most_nodes);
  while (auto const at = walk.next()) {
    Node const& n = execution.node(*at);
    for (std::uint32_t const operand : operands(n))
      if (n.op != Op::ite || execution.node(operand).width != 0) walk.add(operand);
    Leaf const* const l = execution.leaf_at(*at);
    if (l == nullptr) continue;
    if (auto const* const phi = execution.phi_at(*at)) {
      walk.add(phi->init), walk.add(phi->kind == execution::Phi::Kind::affine ? phi->step : phi->back);
    } else if (l->kind == Leaf::Kind::exit) {
      walk.add(l->args[0]);
    } else if (l->kind == Leaf::Kind::param || l->kind == Leaf::Kind::symbol) {
      std::string const& name = program.symbols[l->extra].name;
      if (l->width != 64 && program.symbols[l->extra].bytes >= 8) return std::nullopt;  // half of a pointer
      if (l->width == 64) out.insert(l->offset == 0 ? name : fmt::format("{}+{}", name, l->offset));
    } else if (l->width == 64 && l->kind != Leaf::Kind::counter) {
      return std::nullopt;
    }
  }
  return walk.over() || out.empty() ? std::nullopt : std::optional(std::move(out));
}

/// Pointers through which a kernel writes global memory; nothing if they are not all known.
std::optional<UnwrittenMemory::Pointers> written_by(ptx::Module const& module,
                                                    ptx::Function const& function) {
  if (std::any_of(function.body.begin(), function.body.end(), writes_otherwise)) return std::nullopt;
  program::Program const program = program::with_one_entry(ptx::lower(module, function, true));
  program::Flow const flow = program::flow_of(program);
  execution::Execution execution;
  execution::execute(program, flow, execution);
  if (!execution.refused.empty()) return std::nullopt;
  UnwrittenMemory::Pointers out;
  for (std::size_t i = 0; i < program.accesses.size(); ++i) {
    if (!program.accesses[i].global || !execution.accesses[i].reached || !stores(program.accesses[i].op))
      continue;
    auto const pointers = pointers_of(program, execution, execution.accesses[i].address);
    if (!pointers) return std::nullopt;
    out.insert(pointers->begin(), pointers->end());
  }
  return out;
}

}  // namespace

UnwrittenMemory::UnwrittenMemory(ptx::Module const& module, ptx::Function const& function)
    : written_(written_by(module, function)) {}

bool UnwrittenMemory::operator()(program::Program const& program, execution::Execution const& execution,
                                 Leaf const& load) {
  if (!written_ || static_cast<Space>(load.extra) != Space::global) return false;
  if (program::Opcode(program.names[load.offset]).is_strong()) return false;  // others may write it
  auto const pointers = pointers_of(program, execution, load.args[0]);
  if (!pointers || std::any_of(pointers->begin(), pointers->end(),
                               [&](std::string const& p) { return written_->count(p) != 0; }))
    return false;
  used_.insert(pointers->begin(), pointers->end());
  return true;
}

std::string UnwrittenMemory::assumption() const {
  Pointers names;
  for (std::string const& p : used_) names.insert(program::short_name(p));
  return names.empty() ? ""
                       : fmt::format("nothing writes what the kernel loads from {}, while it runs",
                                     fmt::join(names, ", "));
}

}  // namespace swizproof::kernel_detail
