#include "command/kernel/flow_proposal.hpp"

#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"
#include "profile/trace.hpp"
#include "report/flow.hpp"
#include "report/report.hpp"
#include "system/whole_file.hpp"

#include <swizproof/flow/proposal.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// A proposal for one kernel.
struct Proposed {
  std::string kernel{};
  FlowProposal proposal{};
  std::vector<std::string> missing{}, guessed{};
  std::string line{};  ///< empty where the kernel is not executed
};

/// `32,8` of 32,8,1.
std::string short_three(std::array<std::uint32_t, 3> const& numbers, std::string_view rest = ",1") {
  std::string out = three_text(numbers);
  while (out.ends_with(rest)) out.resize(out.size() - rest.size());
  return out;
}

/// A word of a command line, in quotes where a shell needs them.
std::string shell_word(std::string const& text) {
  bool const plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_./,-=:+") == text.npos;
  if (plain) return text;
  std::string out = "'";
  for (char const c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// A regular expression that finds this kernel of a module alone: a word of its name, or the whole name.
std::string pattern_of(ptx::Module const& module, std::string const& name) {
  std::string const words = demangled(name);
  auto const is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = 0, end = 0; at < words.size(); at = end + 1) {
    end = at;
    while (end < words.size() && is_word(words[end])) ++end;
    std::string const word = words.substr(at, end - at);
    if (word.size() < 3) continue;
    if (std::count_if(module.functions.begin(), module.functions.end(), [&](ptx::Function const& f) {
          return f.entry && (f.name + " " + demangled(f.name)).find(word) != std::string::npos;
        }) == 1)
      return word;
  }
  std::string out = "^";
  for (char const c : name) out += (c == '$' || c == '.' ? "\\" : "") + std::string(1, c);
  return out + "$";
}

std::string_view name(FlowParameterKind kind) {
  return kind == FlowParameterKind::number    ? "number"
         : kind == FlowParameterKind::pointer ? "pointer"
                                              : "tensor map";
}

/// The value of a tensor map, as it has to be given: its extents and its box are not in the PTX.
std::string tensor_form(FlowParameter const& p) {
  std::string extents, box;
  for (unsigned d = 0; d < std::max(p.dimensions, 1U); ++d) extents += "[..]", box += "[..]";
  return fmt::format("{}=A:{}{} box{} 128B", p.key, p.type, extents, box);
}

Proposed propose(FlowQuestion question, ptx::Module const& module, std::size_t index,
                 std::string const& file) {
  ptx::Function const& kernel = module.functions[index];
  Proposed out;
  out.kernel = demangled(kernel.name);
  if (question.block.empty()) {
    FlowBlock const block = likely_block(kernel);
    question.block = short_three(block.threads);
    out.missing.push_back("--block");
    if (!block.source.empty()) out.guessed.push_back(fmt::format("--block: {}", block.source));
  }
  if (question.grid == "1" && kernel.reqnctapercluster[0] != 0)
    question.grid = short_three(kernel.reqnctapercluster), out.missing.push_back("--grid");
  bool const one = std::count_if(module.functions.begin(), module.functions.end(),
                                 [](auto const& f) { return f.entry; }) == 1;
  question.kernel = pattern_of(module, kernel.name);
  question.expect.clear(), question.every_element = false;
  FlowPlan const plan = plan_flow(module, question, file);
  out.proposal = propose_flow(module, kernel, plan.launch);
  FlowProposal const& p = out.proposal;
  std::string line = "swizproof flow " + shell_word(file);
  if (!one) line += " --kernel " + shell_word(question.kernel);
  line += " --block " + question.block;
  if (question.grid != "1") line += " --grid " + question.grid;
  if (!question.cluster.empty()) line += " --cluster " + question.cluster;
  for (auto const& block : p.blocks) line += " --only-block " + short_three(block, ",0");
  for (std::string const& text : question.params) line += " --param " + shell_word(text);
  for (FlowParameter const& one_of : p.parameters) {
    if (one_of.given) continue;
    out.missing.push_back("--param of #" + one_of.key);
    bool const tensor = one_of.kind == FlowParameterKind::tensor_map;
    if (one_of.guessed) out.guessed.push_back(fmt::format("--param of #{}", one_of.key));
    if (tensor)
      out.guessed.push_back(
          fmt::format("--param of #{}: the PTX does not say the extents and the box, [..]", one_of.key));
    line += " --param " + shell_word(tensor ? tensor_form(one_of) : one_of.key + "=" + one_of.value);
  }
  if (p.fault)
    out.guessed.push_back(
        "extents: the guessed launch stops at a fault, such as a race, and arrays may need more elements");
  std::uint64_t const shared = question.shared_bytes != 0 ? question.shared_bytes : p.shared_bytes;
  if (shared != 0) line += fmt::format(" --shared-bytes {}", shared);
  if (p.shared_bytes != 0) out.missing.push_back("--shared-bytes");
  if (question.proxy != "strict") line += " --proxy " + question.proxy;
  if (question.same_values) line += " --same-values";
  bool const read = !p.parameters.empty() || p.reason.empty();
  if (read) out.line = std::move(line);
  return out;
}

std::vector<std::size_t> chosen(FlowQuestion const& question, ptx::Module const& module) {
  return kernels_named(Pattern(question.kernel, "--kernel"), module);
}

void print(Common const& common, Proposed const& p, Style const& style) {
  auto& out = common.streams.out;
  fmt::print(out, "{}\n", style.strong(short_name(p.kernel)));
  for (FlowParameter const& one : p.proposal.parameters)
    fmt::print(out, "  #{:<6} {:<11} {:<5} {}{}{}\n", one.key, name(one.kind), one.type,
               one.read ? "read" : "", one.read && one.written ? ", " : "", one.written ? "written" : "");
  if (!p.missing.empty()) fmt::print(out, "  missing: {}\n", fmt::join(p.missing, ", "));
  if (!p.proposal.reason.empty()) fmt::print(out, "  not executed to its end: {}\n", p.proposal.reason);
  if (p.line.empty()) return;
  fmt::print(out, "  try\n    {}\n", p.line);
  if (!p.guessed.empty()) fmt::print(out, "  guessed: {}\n", fmt::join(p.guessed, "; "));
}

Json json_of(Proposed const& p) {
  Json parameters = Json::array();
  for (FlowParameter const& one : p.proposal.parameters)
    parameters.push_back({{"key", one.key},
                          {"kind", name(one.kind)},
                          {"bytes", one.bytes},
                          {"type", one.type},
                          {"read", one.read},
                          {"written", one.written},
                          {"given", one.given},
                          {"guessed", one.guessed},
                          {"value", one.value.empty() ? Json() : Json(one.value)}});
  return {{"kernel", p.kernel},
          {"parameters", parameters},
          {"missing", p.missing},
          {"guessed", p.guessed},
          {"reason", p.proposal.reason.empty() ? Json() : Json(p.proposal.reason)},
          {"command", p.line.empty() ? Json() : Json(p.line)}};
}

}  // namespace

void take_launch(FlowQuestion& question, ptx::Module const& module, std::string const& trace) {
  Trace const read = read_trace(trace, read_file(trace));
  for (std::size_t const i : chosen(question, module)) {
    std::string const kernel = demangled(module.functions[i].name);
    auto const at = std::find_if(read.instructions.begin(), read.instructions.end(),
                                 [&](TracedInstruction const& t) { return t.kernel == kernel; });
    if (at == read.instructions.end()) continue;
    question.kernel = pattern_of(module, module.functions[i].name);
    if (question.block.empty()) question.block = short_three(at->block);
    if (question.grid == "1") question.grid = short_three(at->grid);
    return;
  }
  throw InputError::whole("no kernel of this trace is a kernel of the PTX", trace);
}

bool needs_proposal(FlowQuestion const& question, ptx::Module const& module) {
  if (question.block.empty()) return true;
  std::vector<std::size_t> const all = chosen(question, module);
  return question.params.empty() && std::any_of(all.begin(), all.end(), [&](std::size_t i) {
           return !module.functions[i].params.empty();
         });
}

void print_proposals(Common const& common, FlowQuestion const& question, ptx::Module const& module,
                     std::string const& file) {
  constexpr std::size_t most = 8;
  std::vector<std::size_t> all = chosen(question, module);
  if (all.empty()) {  // names the kernels
    FlowQuestion one = question;
    one.block = "1";
    (void)plan_flow(module, one, file);
  }
  std::size_t const more = all.size() - std::min(all.size(), most);
  all.resize(all.size() - more);
  Json kernels = Json::array();
  for (std::size_t const i : all) {
    Proposed const one = propose(question, module, i, file);
    if (common.json)
      kernels.push_back(json_of(one));
    else
      print(common, one, style_of(common));
  }
  if (common.json) {
    FlowReport report;
    report.reason = "the question has no block, or no value of a parameter";
    Json document = to_json(report, "", {}, {});
    document["proposed"] = kernels;
    return print_json(common, document);
  }
  if (more != 0) fmt::print(common.streams.out, "{} more kernels: --kernel chooses\n", more);
}

}  // namespace swizproof::command
