#include "parse/kernels.hpp"

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

}  // namespace swizproof
