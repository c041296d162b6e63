#include "command/line/run.hpp"
#include "system/temporary_file.hpp"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <string_view>
#include <typeinfo>

namespace {

/// If memory ends, Z3 4.8.12 throws in destructors, which cannot be caught: that is no answer, and no crash either.
/// Checked by tests/program/too_large.
[[noreturn]] void end_without_memory() {
  std::type_info const* const thrown = abi::__cxa_current_exception_type();
  if (thrown == nullptr ||
      (*thrown != typeid(std::bad_alloc) && std::strcmp(thrown->name(), "19out_of_memory_error") != 0))
    std::abort();
  swizproof::detail::remove_unfinished();
  constexpr std::string_view message = "swizproof: out of memory\n";
  [[maybe_unused]] auto const written = write(STDERR_FILENO, message.data(), message.size());
  std::_Exit(swizproof::command::undecided);
}

}  // namespace

int main(int argc, char** argv) {
  swizproof::end_at_once_by_signals();
  std::set_terminate(end_without_memory);
  return swizproof::command::run(argc, argv);
}
