// The reference model: a differential campaign against every command of swizproof; it shares no line with the program.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "reference/campaign.hpp"

namespace {

struct Command {
  char const* name;
  int weight;  ///< runs of the tool in 1,000
  long long (*body)(reference::Campaign&, reference::Random&);
};

constexpr Command commands[] = {
    {"eval", 560, reference::eval_case},
    {"inspect", 45, reference::inspect_case},
    {"align", 50, reference::align_case},
    {"check", 130, reference::check_case},
    {"equal", 80, reference::equal_case},
    {"show", 60, reference::show_case},
    {"predict", 43, reference::predict_case},
    {"prove", 15, reference::prove_case},
    {"crosscheck", 15, reference::crosscheck_case},
    {"find", 2, reference::find_case},
};

}  // namespace

int main(int argc, char** argv) {
  long long cases = 1000, seed = 1, first = 0, most = 20;
  std::string only, tool;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    auto const value = [&]() -> char const* {
      if (i + 1 < argc) return argv[++i];
      std::fprintf(stderr, "swizproof_reference: %s needs a value\n", word.c_str());
      std::exit(2);
    };
    if (word == "--cases")
      cases = std::atoll(value());
    else if (word == "--seed")
      seed = std::atoll(value());
    else if (word == "--first")
      first = std::atoll(value());
    else if (word == "--only")
      only = value();
    else if (word == "--tool")
      tool = value();
    else if (word == "--differences")
      most = std::atoll(value());
    else if (word == "--verbose")
      verbose = true;
    else {
      std::printf(
          "swizproof_reference [--cases N] [--seed S] [--only COMMAND] [--first N] [--tool PATH] "
          "[--differences N] [--verbose]\n"
          "  --first: number of the first run, as a difference names it; --differences: give up after so "
          "many\n"
          "  --tool: a swizproof to start for each case, in place of the commands in this program\n");
      return word == "--help" ? 0 : 2;
    }
  }
  try {
    reference::Campaign campaign(static_cast<std::uint64_t>(seed), tool, verbose);
    long long differences = 0;
    for (long long number = first; campaign.cases() < cases && differences < most; ++number) {
      reference::Random random(static_cast<std::uint64_t>(seed * 7919 + number));
      random.next();
      auto ticket = random.below(1000);
      Command const* command = commands;
      while (ticket >= command->weight) ticket -= (command++)->weight;
      for (auto const& c : commands)
        if (only == c.name) command = &c;
      auto const found = campaign.run(command->name, static_cast<std::uint64_t>(number), command->body);
      differences += found ? 1 : 0;
    }
    return campaign.report() == 0 ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "swizproof_reference: error: %s\n", error.what());
    return 2;
  }
}
