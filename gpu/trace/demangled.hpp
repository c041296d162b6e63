// Names of kernels as people write them.
#pragma once

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string>

#ifdef SWIZPROOF_CUFILT
#include <nv_decode.h>
#endif

namespace swizproof::trace {

/// `_Z1kPf` is k(float*); a name that is not mangled stays. Some names that nvcc makes (of CUTLASS) only the toolkit's own library
/// reads; without it they stay as they are.
[[nodiscard]] inline std::string demangled(std::string const& name) {
  using Text = std::unique_ptr<char, decltype(&std::free)>;
  int status = 0;
  Text const text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0) return text.get();
#ifdef SWIZPROOF_CUFILT
  Text const its(__cu_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0 && its != nullptr) return its.get();
#endif
  return name;
}

}  // namespace swizproof::trace
