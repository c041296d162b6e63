#include "command/command.hpp"

int main(int argc, char** argv) { return swizproof::command::run(argc, argv); }
