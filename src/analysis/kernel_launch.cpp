#include "kernel_launch.hpp"

#include <swizproof/ptx/inline.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
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

unsigned bits_of(ptx::Variable const& v) {
  return static_cast<unsigned>(std::min<std::uint64_t>(8 * v.bytes, 64));
}

DecidedLaunch launch_of(ptx::Function const& f, KernelOptions const& options, bool shape_needed) {
  DecidedLaunch out;
  ptx::Launch& launch = out.launch;
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
  std::uint64_t const threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  out.warps = static_cast<unsigned>(std::min<std::uint64_t>((threads + 31) / 32, most_warps));
  return out;
}

}  // namespace kernel_detail

std::optional<std::size_t> parameter_of(ptx::Function const& function, std::string_view name) {
  for (std::size_t i = 0; i < function.params.size(); ++i)
    if (name == function.params[i].name ||
        (!function.params[i].part && (name == fmt::format("{}", i) || name == fmt::format("#{}", i) ||
                                      name == fmt::format("param_{}", i))))
      return i;
  return std::nullopt;
}

std::string why_no_integer(std::string const& name, ParameterValue const& value, unsigned bits) {
  std::uint64_t const half = std::uint64_t{1} << (bits - 1), most = kernel_detail::low_bits(bits);
  if (value.negative ? value.bits >= 0 - half : value.bits <= most) return {};
  return fmt::format("{} has {} bits: -{} to {}", name, bits, half, most);
}

std::string why_no_parameter(ptx::Function const& kernel,
                             std::map<std::string, ParameterValue> const& given) {
  std::map<std::size_t, std::string> seen;
  for (auto const& [name, value] : given) {
    std::optional<std::size_t> const i = parameter_of(kernel, name);
    if (!i) continue;
    ptx::Variable const& p = kernel.params[*i];
    auto const [at, fresh] = seen.try_emplace(*i, name);
    if (!fresh) return fmt::format("{} and {} are one parameter", at->second, name);
    if (p.array || p.bytes > 8)
      return fmt::format("{} is a structure or an array of {} bytes: a value is a number", name, p.bytes);
    if (std::string const why = why_no_integer(name, value, kernel_detail::bits_of(p)); !why.empty())
      return why;
  }
  return {};
}

bool needs_block(ptx::Module const& module, ptx::Function const& f, KernelOptions const& options) {
  if (options.block || f.reqntid[0] != 0) return false;
  std::optional<ptx::Function> const inlined = ptx::inline_calls(module, f);
  return kernel_detail::shape_use(inlined ? *inlined : f).y_or_z;
}

std::string why_no_block(ptx::Function const& kernel, std::array<std::uint32_t, 3> const& block) {
  auto const threads = [](std::array<std::uint32_t, 3> const& b) {
    return std::uint64_t{b[0]} * b[1] * b[2];
  };
  if (threads(block) == 0) return "a block has at least one thread";
  if (threads(block) > 1024) return "a block has at most 1024 threads";
  if (block[2] > 64) return "a block has at most 64 threads in z";
  if (kernel.reqntid[0] != 0 && kernel.reqntid != block)
    return fmt::format("it was compiled for blocks of {} (.reqntid)", fmt::join(kernel.reqntid, ", "));
  if (kernel.maxntid[0] != 0 && threads(kernel.maxntid) < threads(block))
    return fmt::format("it was compiled for at most {} threads (.maxntid)", fmt::join(kernel.maxntid, ", "));
  return {};
}

}  // namespace swizproof
