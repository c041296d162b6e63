// swizproof flow: which elements of global memory reach which element of the result of a compiled kernel?
#include "command/command.hpp"
#include "command/fat_binary.hpp"
#include "command/help.hpp"
#include "command/launch.hpp"

#include "parse/expectation.hpp"
#include "parse/kernels.hpp"
#include "parse/pattern.hpp"
#include "report/report.hpp"

#include <swizproof/analysis/provenance.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace swizproof::command {

namespace flow_command {
namespace {

using Json = nlohmann::ordered_json;

struct FlowArguments {
  std::string file, kernel, block, grid = "1";
  std::vector<std::string> only, params, expect;
  std::uint64_t shared_bytes = 0;
  bool every_element = false;
};

struct FlowAnswer {
  std::string kernel{};
  FlowLaunch launch{};
  FlowReport report{};
};

/// One to three numbers: blocks of a grid, or the number of a block, which begins at 0.
std::array<std::uint32_t, 3> parse_blocks(std::string const& text, std::string const& option,
                                          std::uint32_t least) {
  std::array<std::uint32_t, 3> out{least, least, least};
  char const* at = text.data();
  char const* const end = text.data() + text.size();
  for (unsigned i = 0;; ++i) {
    auto const [stop, error] = std::from_chars(at, end, out[std::min(i, 2U)]);
    bool const more = error == std::errc{} && stop != end && *stop == ',';
    if (i > 2 || error != std::errc{} || out[i] < least || (stop != end && !more))
      throw InputError{option + " takes one to three numbers", text,
                       static_cast<std::size_t>(at - text.data()), 1, "for instance " + option + " 8,8"};
    if (!more) return out;
    at = stop + 1;
  }
}

/// The only kernel of a module whose name matches.
ptx::Function const& kernel_of(ptx::Module const& module, std::string const& text, std::string const& file) {
  Pattern const chosen(text, "--kernel");
  std::vector<ptx::Function const*> found;
  for (ptx::Function const& f : module.functions)
    if (f.entry && (chosen.found_in(f.name) || chosen.found_in(demangled(f.name)))) found.push_back(&f);
  if (found.empty()) throw InputError::whole("no kernel has a name that matches", text.empty() ? file : text);
  if (found.size() > 1) {
    std::string names;
    for (auto const* f : found) names += (names.empty() ? "" : "; ") + demangled(f->name);
    throw InputError::whole("several kernels have a name that matches", text.empty() ? file : text,
                            "give --kernel for one of: " + names);
  }
  return *found[0];
}

void check_param(ptx::Function const& kernel, std::string const& text, std::string const& key,
                 std::variant<FlowArray, ParameterValue> const& value) {
  std::optional<std::size_t> const at = parameter_of(kernel, key);
  if (!at)
    throw InputError::whole(fmt::format("the kernel has no parameter {}", key), text,
                            fmt::format("it has {}: #0 to #{}", kernel.params.size(),
                                        std::max<std::size_t>(kernel.params.size(), 1) - 1));
  if (auto const* const number = std::get_if<ParameterValue>(&value)) {
    if (std::string const why = why_no_parameter(kernel, {{key, *number}}); !why.empty())
      throw InputError::whole(why, text);
    return;
  }
  FlowArray const& a = std::get<FlowArray>(value);
  std::uint64_t const bytes = a.extents.empty() ? a.bits / 8 : 8;
  if (kernel.params[*at].array || kernel.params[*at].bytes != bytes)
    throw InputError::whole(
        fmt::format("the parameter has {} bytes, and {} {}", kernel.params[*at].bytes,
                    a.extents.empty() ? a.name + " has" : "a pointer to " + a.name + " has", bytes),
        text);
}

FlowAnswer compute(FlowArguments const& arguments) {
  FlowAnswer answer;
  FlowLaunch& launch = answer.launch;
  launch.block = parse_block(arguments.block);
  launch.grid = parse_blocks(arguments.grid, "--grid", 1);
  launch.shared_bytes = arguments.shared_bytes;
  launch.every_element = arguments.every_element;
  if (arguments.every_element && !arguments.expect.empty())
    throw InputError::whole("--every-element is for a question without --expect", arguments.expect[0]);
  for (std::string const& text : arguments.only) {
    launch.blocks.push_back(parse_blocks(text, "--only-block", 0));
    for (unsigned i = 0; i < 3; ++i)
      if (launch.blocks.back()[i] >= launch.grid[i])
        throw InputError::whole("the grid has no such block", text, "give --grid");
    if (std::count(launch.blocks.begin(), launch.blocks.end(), launch.blocks.back()) != 1)
      throw InputError::whole("this block is given twice", text);
  }
  std::vector<PtxText> parts = ptx_of(arguments.file);
  if (parts.size() != 1)
    throw InputError::whole("the binary has more than one module of PTX", arguments.file,
                            "cuobjdump -xptx all writes them");
  ptx::Module const module = ptx::read_module(std::move(parts[0].text), parts[0].name);
  ptx::Function const& kernel = kernel_of(module, arguments.kernel, arguments.file);
  if (std::string const why = why_no_block(kernel, launch.block); !why.empty())
    throw InputError::whole(why, arguments.block);
  std::vector<FlowArray> arrays;
  std::vector<std::size_t> seen;
  std::uint64_t elements = 0;
  for (std::string const& text : arguments.params) {
    auto param = parse_flow_param(text);
    check_param(kernel, text, param.first, param.second);
    std::size_t const at = *parameter_of(kernel, param.first);
    if (std::find(seen.begin(), seen.end(), at) != seen.end())
      throw InputError::whole("this parameter has a value already", text);
    seen.push_back(at);
    if (auto const* const a = std::get_if<FlowArray>(&param.second)) {
      if (std::any_of(arrays.begin(), arrays.end(),
                      [&](FlowArray const& other) { return other.name == a->name; }))
        throw InputError::whole("there are two arrays of this name", text);
      arrays.push_back(*a);
      elements += a->size();
      if (elements >> 31 != 0) throw InputError::whole("the arrays have more than 2^31 elements", text);
    }
    launch.params.insert(std::move(param));
  }
  std::vector<FlowExpectation> expectations;
  for (std::string const& text : arguments.expect) expectations.push_back(parse_expectation(text, arrays));
  answer.kernel = demangled(kernel.name);
  answer.report = trace_flow(module, kernel, launch, expectations);
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
           {"expect", arguments.expect},
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
             arguments.expect.empty()
                 ? "each byte is written before it is read, and a barrier is between them"
                 : fmt::format("{}", fmt::join(arguments.expect, "; ")));
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
  sub->add_option("--kernel", arguments->kernel, "the kernel with a name that this regular expression finds");
  sub->add_option("--block", arguments->block, "threads of a block: X, X,Y or X,Y,Z")->required();
  sub->add_option("--grid", arguments->grid, "blocks of the grid: X, X,Y or X,Y,Z")->capture_default_str();
  sub->add_option("--only-block", arguments->only,
                  "execute this block of the grid alone: X, X,Y or X,Y,Z, from 0; may be repeated")
      ->allow_extra_args(false);
  sub->add_option(
         "--param", arguments->params,
         "a parameter: 0=A:f16[128][64], a pointer to an array in rows; 1=1024, an integer; 2=alpha:f32, a\n"
         "number that keeps its name. 0 is the first; or its name; may be repeated")
      ->allow_extra_args(false);
  sub->add_option(
         "--expect", arguments->expect,
         "what an array holds at the end: 'C[m][n] = sum(k) A[m][k] * B[k][n] for m in 0..127'; may be\n"
         "repeated, for other arrays. Without it, the terms of the first element of each array are printed")
      ->allow_extra_args(false);
  sub->add_flag("--every-element", arguments->every_element,
                "without --expect: print the terms of every element that is written");
  sub->add_option("--shared-bytes", arguments->shared_bytes, "bytes of dynamic shared memory")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
  sub->callback([&common, arguments] { flow_command::run(common, *arguments); });
}

}  // namespace swizproof::command
