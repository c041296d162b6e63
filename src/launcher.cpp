// bin/swizproof of the self-contained archive: runs lib/swizproof/swizproof with the loader and the libraries of the archive,
// so that it works on any x86-64 Linux, with any C library or none. Linked statically: it needs neither a shell nor
// /proc. Arguments, environment, descriptors, signals and the exit code are the program's own, since exec leaves no process
// behind. LD_LIBRARY_PATH is not set: programs that swizproof starts (cvc5, cadical) are the system's, with its libraries.
// Checked by tests/package/archive.
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/auxv.h>
#include <unistd.h>

namespace {

/// The folder that holds bin and lib: of the file that was started, behind all links.
bool find_prefix(char (&prefix)[PATH_MAX]) {
  ssize_t const length = readlink("/proc/self/exe", prefix, sizeof prefix - 1);
  if (length > 0) {
    prefix[length] = 0;
  } else {  // no /proc: the path that exec was given
    auto const* const started = reinterpret_cast<char const*>(getauxval(AT_EXECFN));
    if (started == nullptr || realpath(started, prefix) == nullptr) return false;
  }
  for (int folders = 0; folders < 2; ++folders) {
    char* const slash = std::strrchr(prefix, '/');
    if (slash == nullptr) return false;
    *slash = 0;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  char prefix[PATH_MAX], library[PATH_MAX], loader[PATH_MAX], program[PATH_MAX];
  auto const join = [&](char(&path)[PATH_MAX], char const* name) {
    int const written = std::snprintf(path, sizeof path, "%s/lib/swizproof%s", prefix, name);
    return written > 0 && static_cast<std::size_t>(written) < sizeof path;
  };
  if (!find_prefix(prefix) || !join(library, "") || !join(loader, "/" SWIZPROOF_LOADER) ||
      !join(program, "/swizproof")) {
    std::fputs("swizproof: cannot find the folder that it lies in\n", stderr);
    return 2;
  }
  // Libraries that are loaded before all others would be linked to another C library.
  unsetenv("LD_PRELOAD");
  unsetenv("LD_AUDIT");
  char inhibit[] = "--inhibit-cache", path[] = "--library-path", name[] = "--argv0",
       swizproof[] = "swizproof";
  constexpr int added = 7;
  auto** const words =
      static_cast<char**>(std::calloc(static_cast<std::size_t>(argc) + added + 1, sizeof(char*)));
  if (words == nullptr) return 3;
  char* const head[added] = {loader, inhibit, path, library, name, argc > 0 ? argv[0] : swizproof, program};
  std::memcpy(words, head, sizeof head);
  for (int i = 1; i < argc; ++i) words[added + i - 1] = argv[i];
  execv(loader, words);
  std::fprintf(stderr, "swizproof: cannot run %s: %s\n", loader, std::strerror(errno));
  return 2;
}
