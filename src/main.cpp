#include "command/command.hpp"
#include "system/temporary_file.hpp"

int main(int argc, char** argv) {
  swizproof::end_at_once_by_signals();
  return swizproof::command::run(argc, argv);
}
