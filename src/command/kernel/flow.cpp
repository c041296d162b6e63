// swizproof flow: which elements of global memory reach which element of the result of a compiled kernel?
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/kernel/cuda_source.hpp"
#include "command/kernel/fat_binary.hpp"
#include "command/kernel/flow_proposal.hpp"
#include "command/kernel/source_launch.hpp"
#include "command/line/help.hpp"

#include "parse/question/flow_question.hpp"
#include "parse/question/given_numbers.hpp"
#include "parse/question/kernels.hpp"
#include "report/flow.hpp"
#include "report/report.hpp"
#include "system/whole_file.hpp"

#include <swizproof/flow/flow.hpp>
#include <swizproof/sass/module.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace swizproof::command {

namespace flow_command {
namespace {

using Json = nlohmann::ordered_json;

struct FlowArguments {
  FlowArguments() { question.repair_steps = 100'000; }
  std::string file{};
  FlowQuestion question{};
  std::string emit{}, trace{};
  CompilerOptions compiler{};  ///< of a .cu file
};

struct FlowAnswer {
  std::string kernel{};
  FlowLaunch launch{};
  FlowReport report{};
};

/// Module of a source. A question without a block takes that of the launches of its kernel, if they have one alone.
ptx::Module module_of_source(Common& common, FlowArguments& arguments) {
  if (!arguments.emit.empty())
    throw InputError::whole("an obligation is about a file of PTX, and this is CUDA source", arguments.file,
                            "nvcc -ptx -lineinfo -arch=sm_90a writes its PTX");
  arguments.compiler.arch = parse_architecture(common.arch).name;
  CompiledSource source = compiled(arguments.file, arguments.compiler);
  ptx::Module module = ptx::read_module(std::move(source.text), arguments.file);
  if (!arguments.question.block.empty()) return module;
  Pattern const chosen(arguments.question.kernel, "--kernel");
  std::vector<SourceLaunch> launches;
  for (SourceLaunch& launch : launches_in(read_file(arguments.file), arguments.compiler.flags))
    for (ptx::Function const& f : module.functions)
      if (f.entry && names_kernel(chosen, f.name) && launch.is_of(demangled(f.name)))
        launches.push_back(launch);
  bool const same = std::all_of(launches.begin(), launches.end(), [&](SourceLaunch const& l) {
    return l.is_constant() && l.block == launches[0].block;
  });
  if (launches.empty() || !same) return module;
  arguments.question.block = three_text(launches[0].block);
  if (!common.json)
    fmt::print(common.streams.out, "note: assumed: {} has blocks of {}, as line {} launches it\n",
               launches[0].kernel, arguments.question.block, launches[0].line);
  return module;
}

ptx::Module module_of(Common& common, FlowArguments& arguments) {
  refuse_source_by_name(arguments.file);
  if (is_cuda_source(arguments.file)) return module_of_source(common, arguments);
  std::vector<PtxText> parts = ptx_of(arguments.file);
  if (parts.size() != 1)
    throw InputError::whole("the binary has more than one module of PTX", arguments.file,
                            "cuobjdump -xptx all writes them");
  if (!arguments.emit.empty() && !parts[0].part.empty())
    throw InputError::whole("an obligation is about a file of PTX, and this is a binary", arguments.file,
                            "cuobjdump -xptx all writes its PTX");
  must_be_code(parts[0].text, parts[0].name);
  if (sass::is_sass(parts[0].text))
    throw InputError::whole("flow executes PTX, and this is SASS", parts[0].name, "nvcc -ptx writes PTX");
  return ptx::read_module(std::move(parts[0].text), parts[0].name);
}

FlowAnswer compute(FlowArguments const& arguments, ptx::Module const& module) {
  FlowPlan plan = plan_flow(module, arguments.question, arguments.file);
  ptx::Function const& kernel = module.functions[plan.function];
  FlowAnswer answer{demangled(kernel.name), std::move(plan.launch), {}};
  answer.report = trace_flow(module, kernel, answer.launch, plan.expectations);
  return answer;
}

/// The question, or what is checked without one; of a refuted launch the kind of fault first.
std::string headline(FlowReport const& r, std::vector<std::string> const& expect) {
  std::string const asked = fmt::format("{}", fmt::join(expect, "; "));
  std::string const kind(refuted_by(r));
  if (!kind.empty()) return asked.empty() ? kind : fmt::format("{}: {}", kind, asked);
  if (!asked.empty()) return asked;
  return r.verdict == FlowVerdict::proved ? "no race and no fault; no expectation was given"
                                          : "no expectation was given";
}

void print(Common const& common, FlowAnswer const& answer, std::vector<std::string> const& expect,
           Style const& style) {
  FlowReport const& r = answer.report;
  std::string const word(name(r.verdict));
  auto const& grid = answer.launch.grid;
  auto const& cluster = answer.launch.cluster;
  fmt::print(common.streams.out, "{}  block {}, grid {}{}\n", style.strong(short_name(answer.kernel)),
             three_text(answer.launch.block), three_text(grid),
             cluster[0] == 0 ? "" : ", cluster " + three_text(cluster));
  fmt::print(common.streams.out, "{}  {}\n",
             r.verdict == FlowVerdict::proved    ? style.good(word)
             : r.verdict == FlowVerdict::refuted ? style.bad(word)
                                                 : style.doubtful(word),
             headline(r, expect));
  fmt::print(common.streams.out, "{}", describe(r, 2));
  if (r.missing != 0 && grid == std::array<std::uint32_t, 3>{1, 1, 1})
    fmt::print(common.streams.out, "  the grid has one block: --grid X,Y,Z gives more\n");
  for (std::string const& v : r.values) fmt::print(common.streams.out, "  {}\n", v);
  if (r.elements != 0 && !r.fault && r.reason.empty())
    fmt::print(common.streams.out, "  {} of {} elements right, {} wrong, {} not written{}\n", r.right,
               r.elements, r.wrong, r.missing,
               r.undecided == 0 ? "" : fmt::format(", {} not decided", r.undecided));
  if (answer.launch.spare && r.verdict == FlowVerdict::proved)
    fmt::print(common.streams.out, "{}", spare_text(r, 2));
  if (r.verdict == FlowVerdict::proved)
    fmt::print(common.streams.out, "{}; {} instructions of warps\n", domain_text(r, answer.launch), r.steps);
  else
    fmt::print(
        common.streams.out, "of this launch{}\n",
        r.wrong == 0 || r.assumed.empty() ? "" : fmt::format("; assumed: {}", fmt::join(r.assumed, "; ")));
}

/// The question as an obligation.
std::string obligation_of(FlowArguments const& arguments, FlowAnswer const& answer) {
  FlowQuestion const& q = arguments.question;
  auto const numbers = [](std::array<std::uint32_t, 3> const& three) {
    return toml_list({std::to_string(three[0]), std::to_string(three[1]), std::to_string(three[2])});
  };
  TomlEntry entry("flow");
  std::string const about =
      q.expect.empty() ? answer.kernel + ", without a race" : fmt::format("{}", fmt::join(q.expect, "; "));
  entry.add("name", obligation_name(arguments.file.substr(arguments.file.rfind('/') + 1) + ": " + about));
  entry.add("ptx", arguments.file).add("kernel", q.kernel);
  entry.add_value("block", numbers(answer.launch.block)).add_value("grid", numbers(answer.launch.grid));
  if (!q.cluster.empty()) entry.add_value("cluster", numbers(answer.launch.cluster));
  std::vector<std::string> only;
  for (auto const& block : answer.launch.blocks) only.push_back(numbers(block));
  if (!only.empty()) entry.add_value("only_block", toml_list(only));
  std::vector<std::pair<std::string, std::string>> params;
  for (std::string const& text : q.params) {
    if (!file_of_param(text).empty())
      throw InputError::whole("an obligation has the numbers of an array themselves", text,
                              "--param '0=ids:i32[4]=0,1,1,2'");
    std::size_t const equal = text.find('=');
    params.emplace_back(toml_key(text.substr(0, equal)), toml_text(text.substr(equal + 1)));
  }
  if (!params.empty()) entry.add_value("param", toml_table(params));
  if (q.shared_bytes != 0) entry.add("shared_bytes", q.shared_bytes);
  if (q.proxy != "strict") entry.add("proxy", q.proxy);
  if (q.same_values) entry.add_value("same_values", "true");
  if (q.steps != 0) entry.add("steps", q.steps);
  return entry.add("result", q.expect).text();
}

void run(Common& common, FlowArguments arguments) {
  if (!arguments.emit.empty() && arguments.question.every_element)
    throw InputError::whole("--every-element prints terms, and an obligation has none", "--emit toml");
  refuse_without_source(arguments.compiler, {arguments.file});
  ptx::Module const module = module_of(common, arguments);
  if (!arguments.trace.empty()) take_launch(arguments.question, module, arguments.trace);
  if (needs_proposal(arguments.question, module)) {
    if (!arguments.emit.empty() || !arguments.question.expect.empty())
      throw InputError::whole("the question has no block, or no parameter", arguments.file,
                              "swizproof flow " + arguments.file + " proposes them");
    common.exit_code = undecided;
    return print_proposals(common, arguments.question, module, arguments.file);
  }
  FlowAnswer const answer = compute(arguments, module);
  FlowVerdict const v = answer.report.verdict;
  common.exit_code = v == FlowVerdict::proved ? holds : v == FlowVerdict::refuted ? refuted : undecided;
  Json const document = to_json(answer.report, answer.kernel, answer.launch, arguments.question.expect);
  if (!arguments.emit.empty()) return print_obligation(common, document, obligation_of(arguments, answer));
  if (common.json) return print_json(common, document);
  print(common, answer, arguments.question.expect, style_of(common));
}

}  // namespace
namespace {

/// Adds the rules that are faults, and the limits.
void add_rules_to(CLI::App& sub, FlowQuestion& question) {
  sub.add_option(
         "--proxy", question.proxy,
         "which missing fence.proxy.async and fence.mbarrier_init are faults: strict, all that the PTX ISA\n"
         "requires; write, only after stores; off, none")
      ->check(CLI::IsMember({"strict", "write", "off"}))
      ->capture_default_str();
  sub.add_flag("--same-values", question.same_values,
               "accept two unordered writes of the same value to a byte")
      ->disable_flag_override();
  sub.add_flag("--spare", question.spare,
               "for a proved launch, list the barriers, fences and waits that can be removed, one at a time")
      ->disable_flag_override();
  sub.add_option("--steps", question.steps, "limit of executed warp instructions (default: 20000000)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  sub.add_option(
         "--repair-steps", question.repair_steps,
         "instructions of warps that a refuted launch is executed for with one instruction of the kernel\n"
         "changed, to find a change with which it is proved; 0: none")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40))
      ->capture_default_str();
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
                  "CUDA source (.cu), which nvcc compiles; PTX, as nvcc -ptx -lineinfo writes it; or a "
                  "compiled file with\n"
                  "one module of PTX")
      ->required();
  sub->add_option("--kernel", arguments->question.kernel,
                  "the kernel whose name matches this regular expression");
  sub->add_option("--block", arguments->question.block,
                  "threads of a block: X, X,Y or X,Y,Z. Without it, or without a --param, the command lists\n"
                  "the parameters of the kernels and proposes a question for each");
  sub->add_option("--grid", arguments->question.grid, "blocks of the grid: X, X,Y or X,Y,Z")
      ->capture_default_str();
  sub->add_option("--cluster", arguments->question.cluster,
                  "blocks of a cluster, which are executed together: X, X,Y or X,Y,Z; without it, as\n"
                  ".reqnctapercluster of the kernel has it, else 1");
  sub->add_option("--only-block", arguments->question.only,
                  "execute only this block of the grid, and the others of its cluster: X, X,Y or X,Y,Z, from "
                  "0; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--trace", arguments->trace,
                  "take block and grid from the kernel's launch in this trace, if they are not given")
      ->type_name("FILE");
  sub->add_option(
         "--param", arguments->question.params,
         "a parameter: 0=A:f16[128][64], a pointer to an array in rows; '0=A:f16[128][64] "
         "box[64][64] 128B', a\n"
         "tensor map of it; '2=ids:i32[64]=FILE', an array with the numbers of a file: .npy, JSON, or its "
         "bytes;\n"
         "1=1024, an integer; 1=1.5:f32, a number of a type; 2=alpha:f32, a number that "
         "keeps its name;\n"
         "3+8=1024, the part of a structure at its byte 8. 0 is the first; or its name; may be repeated")
      ->allow_extra_args(false);
  sub->add_option(
         "--expect", arguments->question.expect,
         "what an array holds at the end: 'C[m][n] = sum(k) A[m][k] * B[k][n] for m in 0..127'; may be\n"
         "repeated, for other arrays. Without it, the terms of the first element of each array are printed")
      ->allow_extra_args(false);
  sub->add_flag("--every-element", arguments->question.every_element,
                "without --expect: print the terms of every element that is written")
      ->disable_flag_override();
  sub->add_option("--shared-bytes", arguments->question.shared_bytes, "bytes of dynamic shared memory")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
  flow_command::add_rules_to(*sub, arguments->question);
  add_compiler_to(*sub, arguments->compiler);
  add_emit_toml_to(*sub, arguments->emit);
  sub->callback([&common, arguments] { flow_command::run(common, *arguments); });
}

}  // namespace swizproof::command
