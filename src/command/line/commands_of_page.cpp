// The commands of a browser, which has no files, no processes and no solver; the others say where they are.
#include "command/line/command.hpp"

#include <string>

namespace swizproof::command {

namespace {

/// A command that only the program has: any words behind its name are taken, and refused with it.
void add_elsewhere(CLI::App& app, std::string const& name, std::string const& needs) {
  CLI::App* const sub = app.add_subcommand(name, "of the program alone: it needs " + needs);
  sub->allow_extras()->fallthrough(false);
  sub->callback([name, needs] {
    throw InputError::whole("this page cannot " + name + ", which needs " + needs, name,
                            "ask the program: ./run prove builds it");
  });
}

}  // namespace

void add_commands(CLI::App& app, Common& common) {
  for (auto const add :
       {add_kernel, add_inspect, add_check, add_find, add_equal, add_align, add_convert, add_descriptor,
        add_tma, add_fragment, add_eval, add_show, add_accesses, add_language})
    add(app, common);
  add_elsewhere(app, "prove", "a solver");
  add_elsewhere(app, "predict", "requests as JSON lines");
  for (char const* const name : {"crosscheck", "explain", "flow", "recheck"})
    add_elsewhere(app, name, "files");
}

}  // namespace swizproof::command
