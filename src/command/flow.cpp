// swizproof flow: which elements of global memory reach which element of the result of a compiled kernel?
#include "command/command.hpp"
#include "command/fat_binary.hpp"
#include "command/help.hpp"

#include "parse/flow_question.hpp"
#include "parse/kernels.hpp"
#include "report/report.hpp"

#include <swizproof/analysis/provenance.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace swizproof::command {

namespace flow_command {
namespace {

using Json = nlohmann::ordered_json;

struct FlowArguments {
  std::string file{};
  FlowQuestion question{};
};

struct FlowAnswer {
  std::string kernel{};
  FlowLaunch launch{};
  FlowReport report{};
};

FlowAnswer compute(FlowArguments const& arguments) {
  std::vector<PtxText> parts = ptx_of(arguments.file);
  if (parts.size() != 1)
    throw InputError::whole("the binary has more than one module of PTX", arguments.file,
                            "cuobjdump -xptx all writes them");
  ptx::Module const module = ptx::read_module(std::move(parts[0].text), parts[0].name);
  FlowPlan plan = plan_flow(module, arguments.question, arguments.file);
  ptx::Function const& kernel = module.functions[plan.function];
  FlowAnswer answer{demangled(kernel.name), std::move(plan.launch), {}};
  answer.report = trace_flow(module, kernel, answer.launch, plan.expectations);
  return answer;
}

char const* verdict_name(FlowVerdict v) {
  return v == FlowVerdict::proved ? "proved" : v == FlowVerdict::refuted ? "refuted" : "unknown";
}

std::string block_text(std::array<std::uint32_t, 3> const& b) {
  return fmt::format("{},{},{}", b[0], b[1], b[2]);
}

// ---------------------------------------------------------------------------------------- JSON

Json flow_lines(std::vector<FlowLine> const& lines) {
  Json out = Json::array();
  for (FlowLine const& l : lines)
    out.push_back({{"ptx_line", l.ptx_line},
                   {"op", l.op},
                   {"file", l.source.file.empty() ? Json() : Json(l.source.file)},
                   {"line", l.source.file.empty() ? Json() : Json(l.source.line)}});
  return out;
}

Json to_json(FlowAnswer const& answer, FlowArguments const& arguments) {
  FlowReport const& r = answer.report;
  Json out{{"verdict", verdict_name(r.verdict)},
           {"kernel", answer.kernel},
           {"block", answer.launch.block},
           {"grid", answer.launch.grid},
           {"blocks", r.blocks},
           {"only_blocks", answer.launch.blocks},
           {"expect", arguments.question.expect},
           {"elements", r.elements},
           {"right", r.right},
           {"wrong", r.wrong},
           {"missing", r.missing},
           {"unexpected", r.unexpected},
           {"missing_names", r.missing_names},
           {"unexpected_names", r.unexpected_names},
           {"values", r.values},
           {"instructions", r.steps},
           {"first_wrong", nullptr},
           {"fault", nullptr},
           {"reason", r.reason.empty() ? Json() : Json(r.reason)},
           {"at", r.at ? flow_lines({*r.at})[0] : Json()}};
  if (r.first)
    out["first_wrong"] = {{"element", r.first->element},
                          {"block", r.first->block},
                          {"expected_terms", r.first->expected_terms},
                          {"found_terms", r.first->found_terms},
                          {"missing", r.first->missing},
                          {"extra", r.first->extra},
                          {"lines", flow_lines(r.first->lines)}};
  if (r.fault)
    out["fault"] = {
        {"text", r.fault->text}, {"block", r.fault->block}, {"lines", flow_lines(r.fault->lines)}};
  return out;
}

// ---------------------------------------------------------------------------------------- text

std::string line_text(FlowLine const& l) {
  std::string const source =
      l.source.file.empty()
          ? ""
          : fmt::format("  {}:{}", l.source.file.substr(l.source.file.rfind('/') + 1), l.source.line);
  return fmt::format("    PTX line {:<6} {}{}\n", l.ptx_line, l.op, source);
}

std::string terms_text(std::vector<std::string> const& shown) {
  return fmt::format("{}", fmt::join(shown, " + "));
}

void print_wrong(Common const& common, FlowWrong const& w) {
  fmt::print(common.streams.out, "  {} is wrong, in block {}: {} term{} expected, {} found\n", w.element,
             block_text(w.block), w.expected_terms, w.expected_terms == 1 ? "" : "s", w.found_terms);
  if (!w.missing.empty()) fmt::print(common.streams.out, "    missing: {}\n", terms_text(w.missing));
  if (!w.extra.empty()) fmt::print(common.streams.out, "    found:   {}\n", terms_text(w.extra));
  fmt::print(common.streams.out, "  moved by\n");
  for (FlowLine const& l : w.lines) fmt::print(common.streams.out, "{}", line_text(l));
}

std::uint64_t blocks_of(std::array<std::uint32_t, 3> const& grid) {
  return std::uint64_t{grid[0]} * grid[1] * grid[2];
}

std::string names_text(std::uint64_t count, std::vector<std::string> const& names) {
  std::string const more = count > names.size() ? fmt::format(" and {} more", count - names.size()) : "";
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

void print(Common const& common, FlowAnswer const& answer, FlowArguments const& arguments,
           Style const& style) {
  FlowReport const& r = answer.report;
  std::string const word = verdict_name(r.verdict);
  fmt::print(common.streams.out, "{}  block {}, grid {}\n", style.strong(answer.kernel),
             block_text(answer.launch.block), block_text(answer.launch.grid));
  fmt::print(common.streams.out, "{}  {}\n",
             r.verdict == FlowVerdict::proved    ? style.good(word)
             : r.verdict == FlowVerdict::refuted ? style.bad(word)
                                                 : style.doubtful(word),
             arguments.question.expect.empty()
                 ? "each byte is written before it is read, and a barrier is between them"
                 : fmt::format("{}", fmt::join(arguments.question.expect, "; ")));
  if (r.fault) {
    fmt::print(common.streams.out, "  block {}: {}\n", block_text(r.fault->block), r.fault->text);
    for (FlowLine const& l : r.fault->lines) fmt::print(common.streams.out, "{}", line_text(l));
  }
  if (!r.reason.empty()) {
    fmt::print(common.streams.out, "  not decided: {}\n", printable(r.reason));
    if (r.at) fmt::print(common.streams.out, "{}", line_text(*r.at));
  }
  if (r.first) print_wrong(common, *r.first);
  if (r.missing != 0)
    fmt::print(common.streams.out, "  not written: {}\n", names_text(r.missing, r.missing_names));
  if (r.unexpected != 0)
    fmt::print(common.streams.out, "  written and not expected: {}\n",
               names_text(r.unexpected, r.unexpected_names));
  for (std::string const& v : r.values) fmt::print(common.streams.out, "  {}\n", v);
  if (r.elements != 0 && !r.fault && r.reason.empty())
    fmt::print(common.streams.out, "  {} of {} elements right, {} wrong, {} not written\n", r.right,
               r.elements, r.wrong, r.missing);
  if (r.verdict == FlowVerdict::proved)
    fmt::print(common.streams.out,
               "of this launch, {} of its {} blocks, for all data and every order of the warps; {} "
               "instructions of warps\n",
               r.blocks, blocks_of(answer.launch.grid), r.steps);
  else
    fmt::print(common.streams.out, "of this launch\n");
}

void run(Common& common, FlowArguments const& arguments) {
  FlowAnswer const answer = compute(arguments);
  FlowVerdict const v = answer.report.verdict;
  common.exit_code = v == FlowVerdict::proved ? holds : v == FlowVerdict::refuted ? refuted : undecided;
  if (common.json) return print_json(common, to_json(answer, arguments));
  print(common, answer, arguments, style_of(common));
}

}  // namespace
}  // namespace flow_command

void add_flow(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "flow", "Which elements of the arguments reach which element of a compiled kernel's result?",
      {"swizproof flow transpose.ptx --kernel Padded --block 32,8 --grid 128,128 --only-block 0 --param "
       "'0=to:f32[4096][4096]' --param '1=from:f32[4096][4096]' --expect 'to[j][i] = from[i][j] for i in "
       "0..31 for "
       "j in 0..31'",
       "does this block transpose its tile, for all data, without a race?"});
  auto const arguments = std::make_shared<flow_command::FlowArguments>();
  sub->add_option("FILE", arguments->file,
                  "PTX, as nvcc -ptx -lineinfo writes it, or a compiled file with one module of PTX")
      ->required();
  sub->add_option("--kernel", arguments->question.kernel,
                  "the kernel with a name that this regular expression finds");
  sub->add_option("--block", arguments->question.block, "threads of a block: X, X,Y or X,Y,Z")->required();
  sub->add_option("--grid", arguments->question.grid, "blocks of the grid: X, X,Y or X,Y,Z")
      ->capture_default_str();
  sub->add_option("--only-block", arguments->question.only,
                  "execute this block of the grid alone: X, X,Y or X,Y,Z, from 0; may be repeated")
      ->allow_extra_args(false);
  sub->add_option(
         "--param", arguments->question.params,
         "a parameter: 0=A:f16[128][64], a pointer to an array in rows; 1=1024, an integer; 2=alpha:f32, a\n"
         "number that keeps its name. 0 is the first; or its name; may be repeated")
      ->allow_extra_args(false);
  sub->add_option(
         "--expect", arguments->question.expect,
         "what an array holds at the end: 'C[m][n] = sum(k) A[m][k] * B[k][n] for m in 0..127'; may be\n"
         "repeated, for other arrays. Without it, the terms of the first element of each array are printed")
      ->allow_extra_args(false);
  sub->add_flag("--every-element", arguments->question.every_element,
                "without --expect: print the terms of every element that is written");
  sub->add_option("--shared-bytes", arguments->question.shared_bytes, "bytes of dynamic shared memory")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
  sub->callback([&common, arguments] { flow_command::run(common, *arguments); });
}

}  // namespace swizproof::command
