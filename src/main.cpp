// Reads the command line and hands over to one subcommand.
#include "command/command.hpp"
#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace swizproof::command {

void LayoutArgument::add_to(CLI::App& app) {
  app.add_option("LAYOUT", text,
                 "Sw<3,4,3> | (8,64):(64,1) | Sw<3,3,3> o _0 o (8,64):(64,1) |\n"
                 "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1) | tma:128B | fn(x) = EXPRESSION")
      ->required();
  app.add_option("--element", element, "element type where LAYOUT does not say: f16 bf16 f32 fp8 i8 ... or Nb");
}

Mapping LayoutArgument::parse() const {
  MappingOptions options;
  if (!element.empty()) options.element_bits = parse_element(element);
  return parse_mapping(text, options);
}

}  // namespace swizproof::command

int main(int argc, char** argv) {
  using namespace swizproof;
  using namespace swizproof::command;
  Common common;
  CLI::App app{"swizproof proves things about CuTe swizzles, layouts and shared-memory banks.\n"
               "Start with 'swizproof prove', 'swizproof inspect \"Sw<3,4,3>\"' or 'swizproof accesses'.",
               "swizproof"};
  app.set_version_flag("--version", "swizproof " SWIZPROOF_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", common.json, "one JSON document on standard output");
  app.add_option("--timeout", common.timeout, "seconds for one solver query")->check(CLI::Range(0.001, 1e6))->capture_default_str();
  app.add_option("--seed", common.seed, "random seed of the solver")->capture_default_str();
  app.add_option("--arch", common.arch, "architecture whose bank model is used")->capture_default_str();
  app.add_option("--color", common.color, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}))->capture_default_str();
  app.footer("Exit codes: 0 holds, 1 refuted, 2 bad input, 3 undecided, 4 two engines disagree.");
  add_prove(app, common);
  add_inspect(app, common);
  add_eval(app, common);
  add_predict(app, common);
  add_accesses(app, common);

  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& error) {
    return app.exit(error) == 0 ? holds : bad_input;
  } catch (InputError const& error) {
    std::fputs(describe(error, Style(common.color, STDERR_FILENO)).c_str(), stderr);
    return bad_input;
  } catch (Disagreement const& error) {
    fmt::print(stderr, "swizproof: two engines disagree; this is a bug, please report it:\n  {}\n", error.message);
    return disagreement;
  } catch (std::bad_alloc const&) {
    fmt::print(stderr, "swizproof: out of memory\n");
    return undecided;
  }
  return common.exit_code;
}
