#include "edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

namespace swizproof::flow_detail {

namespace {

using Kind = ptx::Operand::Kind;

/// Pairs of opcodes that are mistaken for each other.
constexpr std::pair<std::string_view, std::string_view> opcodes[] = {
    {"add", "sub"},     {"shl.b", "shr.u"},     {"shl.b", "shr.s"},     {"shl.b", "shr.b"},
    {"and", "or"},      {"or", "xor"},          {"add", "mul"},         {"and", "xor"},
    {".lt", ".le"},     {".gt", ".ge"},         {".eq", ".ne"},         {".lt", ".gt"},
    {".ge", ".le"},     {".lt", ".ge"},         {".le", ".gt"},         {".down", ".up"},
    {".bfly", ".down"}, {".x4.", ".x4.trans."}, {".x2.", ".x2.trans."}, {".x1.", ".x1.trans."},
    {".lo", ".hi"},     {".s32", ".u32"},       {"min", "max"}};

/// Finds an operand, or a part of one, in an instruction.
using Of = std::function<ptx::Operand&(ptx::Instruction&)>;

/// Edits of one instruction.
class OfInstruction {
 public:
  OfInstruction(FlowKernel const& kernel, std::uint32_t index,
                std::vector<std::shared_ptr<std::string const>>& kept)
      : kernel_(kernel), index_(index), in_(kernel.function.body[index]), kept_(kept) {}

  std::vector<Edit> all() {
    opcode();
    for (std::size_t i = 0; i < in_.operands.size(); ++i)
      exchange([&](ptx::Instruction& to) -> ptx::Operand& { return to.operands[i]; });
    exchange_operands();
    std::size_t const first = has_result(kernel_.decoded[index_], in_) ? 1 : 0;
    for (std::size_t i = first; i < in_.operands.size(); ++i)
      numbers([&](ptx::Instruction& to) -> ptx::Operand& { return to.operands[i]; });
    for (std::size_t i = first; i < in_.operands.size(); ++i)
      registers([&](ptx::Instruction& to) -> ptx::Operand& { return to.operands[i]; });
    if (in_.guard >= 0) guard();
    std::stable_sort(out_.begin(), out_.end(),
                     [](auto const& a, auto const& b) { return a.first < b.first; });
    std::vector<Edit> edits;
    for (auto& [cost, edit] : out_) edits.push_back(std::move(edit));
    return edits;
  }

 private:
  void add(unsigned cost, ptx::Instruction other, std::string text) {
    out_.emplace_back(cost, Edit{index_, std::move(other), std::move(text)});
  }
  [[nodiscard]] std::string const& name(std::uint32_t reg) const {
    return kernel_.function.registers[reg].name;
  }

  void opcode() {
    for (auto const& [x, y] : opcodes)
      for (auto const& [from, to] : {std::pair(x, y), std::pair(y, x)}) {
        std::size_t const at = in_.opcode.text.find(from);
        if (at == std::string_view::npos || (from[0] != '.' && at != 0)) continue;
        if (from == ".x4." || from == ".x2." || from == ".x1.")
          if (in_.opcode.text.find(".trans") != std::string_view::npos) continue;
        std::string text(in_.opcode.text);
        kept_.push_back(std::make_shared<std::string const>(text.replace(at, from.size(), to)));
        ptx::Instruction other = in_;
        other.opcode = program::Opcode(*kept_.back());
        add(1, std::move(other), "as " + *kept_.back());
      }
  }

  /// Neighbours in a vector: also in one that is an operand's part.
  void exchange(Of const& of) {
    ptx::Instruction copy = in_;
    if (of(copy).kind != Kind::vector) return;
    for (std::size_t i = 0; i + 1 < of(copy).parts.size(); ++i) {
      ptx::Instruction other = in_;
      std::swap(of(other).parts[i], of(other).parts[i + 1]);
      add(1, std::move(other), fmt::format("parts {} and {} of a vector exchanged", i + 1, i + 2));
    }
  }

  void exchange_operands() {
    std::size_t const first = has_result(kernel_.decoded[index_], in_) ? 1 : 0;
    for (std::size_t i = first; i + 1 < in_.operands.size(); ++i) {
      ptx::Instruction other = in_;
      std::swap(other.operands[i], other.operands[i + 1]);
      if (other.operands[i].kind == Kind::address || other.operands[i + 1].kind == Kind::address) continue;
      add(1, std::move(other), fmt::format("operands {} and {} exchanged", i + 1, i + 2));
    }
  }

  /// Other immediates and offsets.
  void numbers(Of const& of) {
    ptx::Instruction copy = in_;
    ptx::Operand const& o = of(copy);
    bool const offset = o.kind == Kind::address;
    if (o.kind == Kind::vector)
      for (std::size_t k = 0; k < o.parts.size(); ++k)
        numbers([&, k](ptx::Instruction& to) -> ptx::Operand& { return of(to).parts[k]; });
    if (o.kind != Kind::immediate && !offset) return;
    Handler const h = kernel_.decoded[index_].handler;
    if (!offset && (h == Handler::real || h == Handler::compare)) return;
    auto const value = static_cast<std::int64_t>(o.value);
    std::vector<std::int64_t> others{value + 1, value - 1, 2 * value, value / 2, 2 * value + 1};
    if (offset) others = {value + 4, value - 4, 0};
    for (std::int64_t const more : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024})
      if (offset || value > 4) others.push_back(value + more), others.push_back(value - more);
    unsigned cost = 1;
    std::set<std::int64_t> seen{value};
    for (std::int64_t const n : others) {
      if (!seen.insert(n).second || (n < 0 && value >= 0 && !offset)) continue;
      ptx::Instruction other = in_;
      of(other).value = static_cast<std::uint64_t>(n);
      add(cost++, std::move(other), fmt::format("{} for {}", n, value));
    }
  }

  /// Other registers of the same kind of name, those that are used nearby first.
  void registers(Of const& of) {
    ptx::Instruction copy = in_;
    ptx::Operand const& o = of(copy);
    for (std::size_t k = 0; k < o.parts.size(); ++k)
      registers([&](ptx::Instruction& to) -> ptx::Operand& { return of(to).parts[k]; });
    if (o.kind != Kind::reg) return;
    unsigned cost = 2;
    for (std::uint32_t const r : nearby(o.reg)) {
      ptx::Instruction other = in_;
      of(other).reg = r;
      add(cost++, std::move(other), fmt::format("{} for {}", name(r), name(o.reg)));
    }
  }

  /// Registers like this one, by the distance of their use.
  [[nodiscard]] std::vector<std::uint32_t> nearby(std::uint32_t reg) const {
    auto const kind = [&](std::uint32_t r) { return name(r).substr(0, name(r).find_first_of("0123456789")); };
    std::vector<std::uint32_t> out;
    auto const& body = kernel_.function.body;
    for (std::size_t d = 1; d < body.size(); ++d)
      for (std::size_t const at : {index_ - d, index_ + d}) {
        if (at >= body.size()) continue;
        for (ptx::Operand const& o : body[at].operands)
          each_register(o, [&](std::uint32_t r) {
            if (r != reg && kernel_.function.registers[r].bits == kernel_.function.registers[reg].bits &&
                kind(r) == kind(reg) && std::find(out.begin(), out.end(), r) == out.end())
              out.push_back(r);
          });
      }
    return out;
  }

  void guard() {
    ptx::Instruction other = in_;
    other.guard_negated = !other.guard_negated;
    add(1, std::move(other), "the other predicate");
    unsigned cost = 2;
    for (std::uint32_t const r : nearby(static_cast<std::uint32_t>(in_.guard))) {
      other = in_, other.guard = static_cast<std::int32_t>(r);
      add(cost++, std::move(other),
          fmt::format("@{} for @{}", name(r), name(static_cast<std::uint32_t>(in_.guard))));
    }
  }

  FlowKernel const& kernel_;
  std::uint32_t index_;
  ptx::Instruction const& in_;
  std::vector<std::shared_ptr<std::string const>>& kept_;
  std::vector<std::pair<unsigned, Edit>> out_{};
};

}  // namespace

std::vector<std::uint32_t> by_distance(FlowKernel const& kernel, std::vector<std::uint32_t> const& first) {
  auto const& body = kernel.function.body;
  std::vector<std::vector<std::uint32_t>> writers(kernel.function.registers.size());
  for (std::uint32_t i = 0; i < body.size(); ++i)
    if (body[i].label == 0 && has_result(kernel.decoded[i], body[i]))
      each_register(body[i].operands[0], [&](std::uint32_t r) { writers[r].push_back(i); });
  std::vector<std::uint32_t> out;
  std::vector<bool> seen(body.size());
  auto const take = [&](std::uint32_t i) {
    if (body[i].label == 0 && !seen[i]) out.push_back(i);
    seen[i] = true;
  };
  std::size_t next = 0;
  auto const follow = [&] {
    for (; next < out.size(); ++next) {
      ptx::Instruction const& in = body[out[next]];
      auto const from = [&](std::uint32_t r) { std::for_each(writers[r].begin(), writers[r].end(), take); };
      if (in.guard >= 0) from(static_cast<std::uint32_t>(in.guard));
      for (std::size_t k = 0; k < in.operands.size(); ++k)
        if (k != 0 || !has_result(kernel.decoded[out[next]], in)) each_register(in.operands[k], from);
    }
  };
  std::for_each(first.begin(), first.end(), take);
  follow();
  for (std::uint32_t i = 0; i < body.size(); ++i)
    if (body[i].guard >= 0) take(i);
  follow();
  for (std::uint32_t i = 0; i < body.size(); ++i) take(i);
  return out;
}

std::vector<Edit> edits_of(FlowKernel const& kernel, std::vector<std::uint32_t> const& instructions,
                           std::vector<std::shared_ptr<std::string const>>& kept) {
  std::vector<std::pair<std::size_t, Edit>> ranked;
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    std::vector<Edit> edits = OfInstruction(kernel, instructions[n], kept).all();
    for (std::size_t k = 0; k < edits.size(); ++k) ranked.emplace_back(n + 2 * k, std::move(edits[k]));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](auto const& a, auto const& b) { return a.first < b.first; });
  std::vector<Edit> out;
  for (auto& [rank, edit] : ranked) out.push_back(std::move(edit));
  return out;
}

}  // namespace swizproof::flow_detail
