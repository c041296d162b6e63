#include "parse/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace swizproof {

std::string demangled(std::string const& name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(text.get()) : name;
}

std::string why_no_block(ptx::Function const& kernel, std::array<std::uint32_t, 3> const& block) {
  auto const threads = [](std::array<std::uint32_t, 3> const& b) {
    return std::uint64_t{b[0]} * b[1] * b[2];
  };
  if (threads(block) > 1024) return "a block has at most 1024 threads";
  if (kernel.reqntid[0] != 0 && kernel.reqntid != block)
    return fmt::format("the PTX has .reqntid {}", fmt::join(kernel.reqntid, ", "));
  if (kernel.maxntid[0] != 0 && threads(kernel.maxntid) < threads(block))
    return fmt::format("the PTX has .maxntid {}", fmt::join(kernel.maxntid, ", "));
  return {};
}

}  // namespace swizproof
