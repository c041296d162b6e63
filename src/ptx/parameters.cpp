#include <swizproof/ptx/parameters.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace swizproof {

unsigned bits_of(program::Variable const& v) {
  return static_cast<unsigned>(std::min<std::uint64_t>(8 * v.bytes, 64));
}

std::optional<std::size_t> parameter_of(ptx::Function const& function, std::string_view name) {
  for (std::size_t i = 0; i < function.params.size(); ++i)
    if (name == function.params[i].name ||
        (!function.params[i].part && (name == fmt::format("{}", i) || name == fmt::format("#{}", i) ||
                                      name == fmt::format("param_{}", i))))
      return i;
  return std::nullopt;
}

std::string why_no_integer(std::string const& name, ParameterValue const& value, unsigned bits) {
  std::uint64_t const half = std::uint64_t{1} << (bits - 1),
                      most = 2 * half - 1;  // 2^bits - 1, of 64 bits too
  if (value.negative ? value.bits >= 0 - half : value.bits <= most) return {};
  return fmt::format("{} has {} bits: -{} to {}", name, bits, half, most);
}

std::string why_no_parameter(ptx::Function const& kernel,
                             std::map<std::string, ParameterValue> const& given) {
  std::map<std::size_t, std::string> seen;
  for (auto const& [name, value] : given) {
    std::optional<std::size_t> const i = parameter_of(kernel, name);
    if (!i) continue;
    program::Variable const& p = kernel.params[*i];
    auto const [at, fresh] = seen.try_emplace(*i, name);
    if (!fresh) return fmt::format("{} and {} are one parameter", at->second, name);
    if (p.array || p.bytes > 8)
      return fmt::format("{} is a structure or an array of {} bytes: a value is a number", name, p.bytes);
    if (std::string const why = why_no_integer(name, value, bits_of(p)); !why.empty()) return why;
  }
  return {};
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
