#include "launch.hpp"

#include <swizproof/ptx/cluster.hpp>
#include <swizproof/ptx/inline.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace swizproof {

namespace kernel_detail {
namespace {

constexpr unsigned most_warps = 32;

/// Which registers of the block's shape a function reads.
struct ShapeUse {
  bool y_or_z = false, ntid_x = false;
};
ShapeUse shape_use(ptx::Function const& f) {
  ShapeUse use;
  auto const look = [&](auto const& self, ptx::Operand const& o) -> void {
    if (o.kind == ptx::Operand::Kind::special) {
      use.y_or_z |= o.text == "%tid.y" || o.text == "%tid.z" || o.text == "%ntid.y" || o.text == "%ntid.z";
      use.ntid_x |= o.text == "%ntid.x";
    }
    for (ptx::Operand const& p : o.parts) self(self, p);
  };
  for (ptx::Instruction const& i : f.body)
    for (ptx::Operand const& o : i.operands) look(look, o);
  return use;
}

}  // namespace

DecidedLaunch launch_of(ptx::Function const& f, KernelOptions const& options, bool shape_needed) {
  DecidedLaunch out;
  execution::Launch& launch = out.launch;
  if (options.block || f.reqntid[0] != 0) {
    launch.block = options.block.value_or(f.reqntid);
    if (std::string const why = why_no_block(f, launch.block); !why.empty()) {
      out.refused = fmt::format("no block of {}: {}", fmt::join(launch.block, ","), why);
      launch.block = {32, 1, 1};
    }
  } else if (!shape_needed) {
    std::uint64_t const most =
        f.maxntid[0] == 0 ? 1024 : std::uint64_t{f.maxntid[0]} * f.maxntid[1] * f.maxntid[2];
    launch.block = {static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 1024)) / 32 * 32, 1, 1};
    launch.any_multiple = true;
    if (launch.block[0] == 0) {
      out.refused = fmt::format("its block has at most {} threads (.maxntid): give --block", most);
      launch.block = {32, 1, 1};
    }
  } else {
    out.refused = "the shape of its block is not known: give --block X,Y,Z";
    launch.block = {32, 1, 1};
  }
  if (std::string const why = why_no_parameter(f, options.params); !why.empty()) out.refused = why;
  for (auto const& [name, value] : options.params)
    if (auto const i = parameter_of(f, name))
      launch.params[f.params[*i].name] = value.bits & low_bits(bits_of(f.params[*i]));
  if (f.reqnctapercluster[0] != 0) launch.cluster = f.reqnctapercluster;
  launch.grid = options.grid;
  if (std::string const why = why_no_cluster(f.reqnctapercluster, {}, options.grid.value_or(launch.cluster));
      !why.empty())
    out.refused = why;
  std::uint64_t const threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  out.warps = static_cast<unsigned>(std::min<std::uint64_t>((threads + 31) / 32, most_warps));
  return out;
}

}  // namespace kernel_detail

bool needs_block(ptx::Module const& module, ptx::Function const& f, KernelOptions const& options) {
  if (options.block || f.reqntid[0] != 0) return false;
  std::optional<ptx::Function> const inlined = ptx::inline_calls(module, f);
  return kernel_detail::shape_use(inlined ? *inlined : f).y_or_z;
}

}  // namespace swizproof
