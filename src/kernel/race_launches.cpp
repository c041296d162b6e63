#include "race_launches.hpp"

#include <swizproof/core/float_format.hpp>

#include <algorithm>

namespace swizproof::kernel_detail {

using program::Space;

namespace {

constexpr unsigned of_different = 7;  ///< style of different numbers

/// Parameters of a style: the same number in all, or different ones; pointers lie far apart.
std::uint64_t number_of_style(unsigned style, std::size_t index) {
  static constexpr std::uint64_t numbers[race_styles] = {64, 1, 16, 100, 3, 0, 1024, 0, 64};
  return style == of_different ? 2 + index : numbers[style];
}

}  // namespace

RaceLaunches::RaceLaunches(program::Program const& program, ptx::Function const& function,
                           BlockShapes const& shapes, std::map<std::string, std::uint64_t> const& params,
                           bool descriptors)
    : program_(program), shapes_(shapes), params_(params), descriptors_(descriptors) {
  for (ptx::Instruction const& i : function.body)
    if (i.opcode.name == "ld" && i.opcode.space == Space::param && i.opcode.type.kind == 'f' &&
        i.opcode.type.bits == 32 && i.operands.size() > 1 && !i.operands[1].parts.empty())
      floats_.insert(i.operands[1].parts[0].text);
}

std::vector<std::array<std::uint32_t, 3>> RaceLaunches::blocks() const {
  if (shapes_.given) return {*shapes_.given};
  std::vector<std::array<std::uint32_t, 3>> all{{64, 1, 1}, {33, 1, 1}, {256, 1, 1}, {2, 1, 1}};
  if (shapes_.dimensions == 3) all = {{8, 8, 1}, {32, 4, 1}, {4, 4, 4}, {16, 16, 1}};
  if (descriptors_) all = {{128, 1, 1}, {256, 1, 1}, {384, 1, 1}};
  std::erase_if(all, [&](auto const& b) { return b[0] * b[1] * b[2] > shapes_.most; });
  if (all.empty()) all.push_back({shapes_.most, 1, 1});
  return all;
}

RaceLaunch RaceLaunches::of_style(std::array<std::uint32_t, 3> const& block, unsigned style) const {
  RaceLaunch out;
  out.block = block;
  out.grid = style % 2 == 0 ? std::array{2U, 2U, 2U} : std::array{1U, 1U, 1U};
  out.index = {style % 4 == 2 ? 1U : 0U, 0, 0};
  if (shapes_.grid) out.grid = *shapes_.grid, out.index[0] = std::min(out.index[0], out.grid[0] - 1);
  out.counts = style == of_different || style == 2;
  out.falls = style == race_styles - 1;
  for (std::uint32_t i = 0; i < program_.params; ++i) {
    std::uint32_t const symbol = program_.first_param + i;
    program::Variable const& v = program_.symbols[symbol];
    bool const pointer = v.bytes == 8;
    for (std::uint64_t o = 0; o < std::max<std::uint64_t>(v.bytes, 4); o += 4)
      out.params[{symbol, o}] = pointer ? (o == 0 ? 0 : std::uint64_t{i} + 1)
                                : floats_.count(v.name) != 0
                                    ? same_bits<std::uint32_t>(static_cast<float>(number_of_style(style, i)))
                                    : number_of_style(style, i);
    give(v, symbol, out);
  }
  return out;
}

/// The values of --param.
void RaceLaunches::give(program::Variable const& v, std::uint32_t symbol, RaceLaunch& out) const {
  auto const given = params_.find(v.name);
  if (given == params_.end()) return;
  out.params[{symbol, 0}] = given->second & 0xffffffff;
  if (v.bytes > 4) out.params[{symbol, 4}] = given->second >> 32;
}

RaceLaunch RaceLaunches::of_case(Refuted const& one, std::vector<RaceUnknown> const& unknowns) const {
  RaceLaunch out = of_style(shapes_.given.value_or(std::array{1U, 1U, 1U}), 0);
  out.index = {}, out.grid = shapes_.grid.value_or(std::array{1U, 1U, 1U});
  for (std::size_t i = 0; i < unknowns.size() && i < one.values.size(); ++i) {
    RaceUnknown const& u = unknowns[i];
    std::uint64_t const value = one.values[i].second;
    if (u.kind == RaceUnknown::Kind::shape) out.block[u.which] = static_cast<std::uint32_t>(value);
    if (u.kind == RaceUnknown::Kind::block) out.index[u.which] = static_cast<std::uint32_t>(value);
    if (u.kind == RaceUnknown::Kind::blocks) out.grid[u.which] = static_cast<std::uint32_t>(value);
    if (u.kind == RaceUnknown::Kind::param && u.offset % 4 == 0) {
      bool const pointer = program_.symbols[u.which].bytes == 8 && u.offset == 0 && u.bits == 64;
      out.params[{u.which, u.offset}] = value & 0xffffffff;
      if (u.bits > 32 || pointer) out.params[{u.which, u.offset + 4}] = value >> 32;
    }
  }
  for (unsigned d = 0; d < 3; ++d) out.grid[d] = std::max(out.grid[d], out.index[d] + 1);
  for (std::uint32_t i = 0; i < program_.params; ++i)
    give(program_.symbols[program_.first_param + i], program_.first_param + i, out);
  return out;
}

}  // namespace swizproof::kernel_detail
