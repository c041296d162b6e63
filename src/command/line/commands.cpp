// Every command of the program, in the order of its help.
#include "command/line/command.hpp"

namespace swizproof::command {

void add_commands(CLI::App& app, Common& common) {
  for (auto const add :
       {add_kernel, add_flow,     add_check,   add_find,    add_equal,    add_align,      add_descriptor,
        add_tma,    add_fragment, add_show,    add_prove,   add_explain,  add_crosscheck, add_inspect,
        add_eval,   add_convert,  add_predict, add_recheck, add_accesses, add_language})
    add(app, common);
}

}  // namespace swizproof::command
