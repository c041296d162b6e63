// Other programs where there are none: in a browser.
#include "system/process.hpp"

namespace swizproof {

ProcessResult run_process(std::vector<std::string> const& /*arguments*/, double /*seconds*/,
                          unsigned /*megabytes*/) {
  return {};
}

bool has_program(std::string const& /*name*/) { return false; }

}  // namespace swizproof
