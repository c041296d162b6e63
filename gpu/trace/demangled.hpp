// Names of kernels as people write them.
#pragma once

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string>

namespace swizproof::trace {

/// `_Z1kPf` is k(float*); a name that is not mangled stays.
[[nodiscard]] inline std::string demangled(std::string const& name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace swizproof::trace
