// swizproof predict: wavefronts of raw lane addresses, one JSON line each.
#include "command/line/command.hpp"
#include "command/line/help.hpp"

#include "profile/predictions.hpp"
#include "profile/requests.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace swizproof::command {

namespace {

struct PredictArguments {
  std::string file = "-";
  bool explain = false;
};

std::FILE* open_input(Common const& common, std::string const& name) {
  if (name == "-") return common.streams.in;
  std::FILE* const file = std::fopen(name.c_str(), "rb");
  if (file == nullptr)
    throw InputError::whole("cannot open the file: " + std::string(std::strerror(errno)), name);
  return file;
}

void run(Common& common, PredictArguments const& options) {
  Architecture const& arch = parse_architecture(common.arch);
  auto const close = [&](std::FILE* file) { return file == common.streams.in ? 0 : std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> const file(open_input(common, options.file), close);
  Answered const count =
      predict(file.get(), options.file, common.streams.out, arch, {common.json, options.explain});
  if (count.bad > 0 || count.broken_off) common.exit_code = bad_input;
  if (count.broken_off && !(common.json && count.all > 0)) throw *count.broken_off;
  if (count.all == 0)
    throw InputError{"the input has no lines", "", 0, 1,
                     R"(write lines such as {"op": "ld.shared.b32", "address": [0, 4, ...]})"};
}

}  // namespace

void add_predict(CLI::App& app, Common& common) {
  CLI::App* const sub =
      add_command(app, "predict", "Wavefronts of raw lane addresses, a JSON line each",
                  {"seq 0 128 3968 | paste -sd, | sed 's/.*/{\"op\": \"ld.shared.b32\", \"address\": [&]}/' "
                   "| swizproof predict",
                   "how many wavefronts do 32 lanes cost whose addresses lie 128 bytes apart?"});
  auto const options = std::make_shared<PredictArguments>();
  sub->add_option("FILE", options->file,
                  "JSON lines {\"op\": \"ld.shared.b128\", \"address\": [a0, ..., a31]}, in bytes,\n"
                  "null for an inactive lane; - is standard input. op: " +
                      std::string(known_ops) +
                      ".\nA bad line is answered with {\"error\": ..., \"line\": n}, and the exit code is 2 "
                      "at the end.")
      ->capture_default_str();
  sub->add_flag("--explain", options->explain, "list the banks, words and lanes that collide")
      ->disable_flag_override();
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
