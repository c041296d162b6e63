#include "parse/obligations/flow_entries.hpp"

#include "parse/question/expectation.hpp"
#include "parse/question/flow_question.hpp"
#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"

namespace swizproof {

namespace {

/// The blocks of `only_block = [[0, 0], [1, 0]]`; one block may stand without a list around it.
std::vector<std::string> blocks_in(TomlFile const& file, toml::node const& node) {
  toml::array const* const array = node.as_array();
  if (array == nullptr || array->empty() || !(*array)[0].is_array())
    return {file.three(node, "only_block", 0)};
  std::vector<std::string> out;
  for (toml::node const& one : *array) out.push_back(file.three(one, "only_block", 0));
  return out;
}

/// `{"#0" = "A:f16[128][64]", n = 1024}` as the option has it.
std::vector<std::string> params_in(TomlFile const& file, toml::node const& node) {
  toml::table const* const table = node.as_table();
  if (table == nullptr)
    file.fail("param is a table: {\"0\" = \"A:f16[128][64]\"}, which is the first, or {n = 1024}",
              node.source());
  std::vector<std::string> out;
  for (auto const& [key, value] : *table) {
    auto const number = value.value_exact<std::int64_t>();
    if (!number && !value.is_string())
      file.fail("a parameter is an integer, or a string such as \"A:f16[128][64]\"", value.source());
    std::string name(key.str());
    if (name.starts_with('#')) name.erase(0, 1);
    out.push_back(name + "=" + (number ? std::to_string(*number) : file.string(value, "param")));
    (void)file.within(value, [&] { return parse_flow_param(out.back()); });
  }
  return out;
}

/// The question of an entry, and the file of its PTX.
FlowQuestion question_in(TomlFile const& file, toml::table const& table) {
  FlowQuestion q;
  if (toml::node const* const kernel = table.get("kernel")) {
    q.kernel = file.string(*kernel, "kernel");
    (void)file.within(*kernel, [&] { return Pattern(q.kernel, "kernel").found_in(""); });
  }
  toml::node const* const block = table.get("block");
  if (block == nullptr) file.fail("the entry has no block", table.source(), "block = [128]");
  q.block = file.three(*block, "block", 1);
  if (toml::node const* const grid = table.get("grid")) q.grid = file.three(*grid, "grid", 1);
  if (toml::node const* const cluster = table.get("cluster")) q.cluster = file.three(*cluster, "cluster", 1);
  if (toml::node const* const only = table.get("only_block")) q.only = blocks_in(file, *only);
  if (toml::node const* const param = table.get("param")) q.params = params_in(file, *param);
  if (toml::node const* const bytes = table.get("shared_bytes"))
    q.shared_bytes = file.number(*bytes, "shared_bytes", 1, 1 << 20);
  if (toml::node const* const proxy = table.get("proxy")) {
    q.proxy = file.string(*proxy, "proxy");
    (void)file.within(*proxy, [&] { return parse_proxy(q.proxy); });
  }
  if (toml::node const* const same = table.get("same_values")) {
    auto const value = same->value_exact<bool>();
    if (!value) file.fail("same_values is true or false", same->source());
    q.same_values = *value;
  }
  if (toml::node const* const steps = table.get("steps"))
    q.steps = file.number(*steps, "steps", 1, std::int64_t{1} << 40);
  if (toml::node const* const result = table.get("result"))
    for (toml::node const* one : file.list(*result, "result"))
      q.expect.push_back(file.string(*one, "result"));
  return q;
}

void read_flow(TomlFile const& file, toml::table const& table, CompiledFiles& files,
               std::set<std::string>& names, Obligation& out) {
  static std::set<std::string_view> const known{
      "name",  "ptx",          "kernel", "block",  "grid",  "cluster",     "only_block",
      "param", "shared_bytes", "result", "expect", "proxy", "same_values", "steps"};
  file.refuse_unknown_keys(table, known);
  file.take_expectation(table, out);
  toml::node const* const ptx = table.get("ptx");
  if (ptx == nullptr) file.fail("the entry has no ptx", table.source(), "ptx = \"build/gemm.ptx\"");
  std::string const path = file.string(*ptx, "ptx");
  FlowHolds hold;
  hold.module = file.within(*ptx, [&] { return compiled_file(file, files, path).ptx; });
  if (!hold.module)
    file.fail("'" + path + "' is SASS, and flow executes PTX", ptx->source(), "nvcc -ptx writes it");
  FlowQuestion const question = question_in(file, table);
  toml::node const* const result = table.get("result");
  FlowPlan plan = file.within(result == nullptr ? *ptx : *result,
                              [&] { return plan_flow(*hold.module, question, path); });
  hold.function = plan.function;
  hold.kernel = demangled(hold.module->functions[plan.function].name);
  hold.launch = std::move(plan.launch);
  hold.expectations = std::move(plan.expectations);
  std::string name =
      fmt::format("{}: {} block {} grid {}", std::filesystem::path(path).filename().string(), hold.kernel,
                  fmt::join(hold.launch.block, ","), fmt::join(hold.launch.grid, ","));
  toml::node const* const given = table.get("name");
  if (given != nullptr) name = file.string(*given, "name");
  if (name.empty()) file.fail("the name is empty", given->source());
  if (!names.insert(name).second)
    file.fail("two obligations are called '" + name + "'",
              given == nullptr ? table.source() : given->source(), "name = \"..\"");
  out.name = std::move(name);
  out.what = std::move(hold);
}

}  // namespace

Obligation flow_obligation(TomlFile const& file, toml::node const& entry, CompiledFiles& files,
                           std::set<std::string>& names) {
  Obligation out;
  out.name = out.source = file.place(entry.source());
  try {
    toml::table const* const table = entry.as_table();
    if (table == nullptr) file.fail("an entry is a table: [[flow]]", entry.source());
    read_flow(file, *table, files, names, out);
  } catch (InputError const& error) {
    out.what = Malformed{error};
  }
  return out;
}

}  // namespace swizproof
