#include "parse/question/flow_question.hpp"

#include "parse/question/expectation.hpp"
#include "parse/question/given_numbers.hpp"
#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace swizproof {

namespace {

/// Index of the only kernel of a module whose name matches.
std::size_t kernel_of(ptx::Module const& module, std::string const& text, std::string const& file) {
  std::vector<std::size_t> const found = kernels_named(Pattern(text, "--kernel"), module);
  if (found.size() == 1) return found[0];
  std::vector<std::string> names;
  for (std::size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].entry && (found.empty() || std::count(found.begin(), found.end(), i) != 0))
      names.push_back(demangled(module.functions[i].name));
  if (names.empty()) throw InputError::whole("there is no kernel (.entry) in it", file);
  throw InputError::whole(
      found.empty() ? "no kernel has a name that matches" : "several kernels have a name that matches",
      text.empty() ? file : text,
      (found.empty() ? "there " : "choose one: there ") + kernels_in_words(names));
}

std::string value_name(FlowParam const& value) {
  FlowArray const* const a = std::get_if<FlowArray>(&value);
  if (a == nullptr) return "a number of type " + std::get<FlowValue>(value).type;
  return a->extents.empty() ? a->name : (a->box.empty() ? "a pointer to " : "a tensor map of ") + a->name;
}

/// Checks that a value is one of the parameter, or of the part of it.
void check_place(ptx::Function const& kernel, std::string const& text, std::string const& key,
                 FlowPlace const& place, FlowParam const& value) {
  constexpr std::uint64_t tensor_align = 64;
  program::Variable const& p = kernel.params[place.param];
  auto const* const number = std::get_if<FlowValue>(&value);
  bool const untyped = number != nullptr && number->type.empty();
  std::string const part = fmt::format("of a structure give a part: {}+8=..", key.substr(key[0] == '#'));
  std::uint64_t const bytes = flow_bytes(kernel, place, value);
  if (!place.part && untyped && bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    throw InputError::whole(fmt::format("{} is a structure of {} bytes", key, bytes), text, part);
  if (!place.part && bytes != p.bytes)
    throw InputError::whole(
        fmt::format("the parameter has {} bytes, and {} {}", p.bytes, value_name(value) + " has", bytes),
        text,
        p.bytes == 128 && p.array ? "of a tensor map: 0=A:f16[128][64] box[64][64] 128B"
        : p.array                 ? part
                                  : "");
  if (place.offset > p.bytes || bytes > p.bytes - place.offset)
    throw InputError::whole(fmt::format("the parameter has {} bytes, and {} bytes at {} are not in it",
                                        p.bytes, bytes, place.offset),
                            text);
  if (auto const* const a = std::get_if<FlowArray>(&value);
      a != nullptr && !a->box.empty() && (place.offset % tensor_align != 0 || !p.array))
    throw InputError::whole("a tensor map begins at a multiple of 64 bytes of a structure", text);
  if (untyped)
    if (std::string const why =
            why_no_integer(key, {number->bits, number->negative}, static_cast<unsigned>(8 * bytes));
        !why.empty())
      throw InputError::whole(why, text, place.part ? fmt::format("of 8 bytes: {}:u64", text) : "");
}

/// The bytes of a parameter that a text gives. Throws InputError.
FlowPlace check_param(ptx::Function const& kernel, std::string const& text, std::string const& key,
                      FlowParam const& value) {
  std::optional<FlowPlace> const place = flow_place(kernel, key);
  if (!place)
    throw InputError::whole(fmt::format("the kernel has no parameter {}", key), text,
                            fmt::format("it has {}: #0 to #{}", kernel.params.size(),
                                        std::max<std::size_t>(kernel.params.size(), 1) - 1));
  check_place(kernel, text, key, *place, value);
  return *place;
}

/// The variable of constant or global memory that a key names; none if it is a parameter.
program::Variable const* variable_of(ptx::Module const& module, ptx::Function const& kernel,
                                     std::string const& key) {
  if (flow_place(kernel, key)) return nullptr;
  auto const at =
      std::find_if(module.variables.begin(), module.variables.end(), [&](program::Variable const& v) {
        bool const memory = v.space == program::Space::constant || v.space == program::Space::global;
        return memory && (v.name == key || demangled(v.name) == key);
      });
  return at == module.variables.end() ? nullptr : &*at;
}

/// The array of data that a variable is given as.
FlowArray variable_given(program::Variable const& variable, std::string const& text, FlowParam const& value) {
  auto const* const a = std::get_if<FlowArray>(&value);
  if (a == nullptr || a->extents.empty() || !a->box.empty())
    throw InputError::whole("a variable is an array of data", text, variable.name + "=w:f32[9]");
  if (a->size() * (a->bits / 8) > variable.bytes)
    throw InputError::whole(fmt::format("the variable has {} bytes, and this array {}", variable.bytes,
                                        a->size() * (a->bits / 8)),
                            text);
  return *a;
}

/// Takes the parameters into a launch; returns the arrays.
std::vector<FlowArray> take_params(ptx::Module const& module, ptx::Function const& kernel,
                                   std::vector<std::string> const& texts, FlowLaunch& launch) {
  std::vector<FlowArray> arrays;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t>
      seen;  // parameter and first byte, the last byte
  std::uint64_t elements = 0;
  for (std::string const& text : texts) {
    auto param = param_with_file(text);
    if (program::Variable const* const variable = variable_of(module, kernel, param.first)) {
      arrays.push_back(variable_given(*variable, text, param.second));
      launch.variables[variable->name] = arrays.back();
      continue;
    }
    FlowPlace const place = check_param(kernel, text, param.first, param.second);
    std::uint64_t const last = place.offset + flow_bytes(kernel, place, param.second) - 1;
    auto const before = seen.upper_bound({place.param, last});
    if (before != seen.begin() && std::prev(before)->first.first == place.param &&
        std::prev(before)->second >= place.offset)
      throw InputError::whole(place.part
                                  ? fmt::format("bytes {} to {} of this parameter have a value already",
                                                std::max(place.offset, std::prev(before)->first.second),
                                                std::min(last, std::prev(before)->second))
                                  : "this parameter has a value already",
                              text);
    seen[{place.param, place.offset}] = last;
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
  return arrays;
}

}  // namespace

FlowProxy parse_proxy(std::string const& text) {
  if (text == "strict") return FlowProxy::strict;
  if (text == "write") return FlowProxy::write;
  if (text == "off") return FlowProxy::off;
  throw InputError::whole("proxy is strict, write or off", text);
}

FlowPlan plan_flow(ptx::Module const& module, FlowQuestion const& question, std::string const& file) {
  FlowPlan plan;
  FlowLaunch& launch = plan.launch;
  launch.block = parse_three(question.block, "--block", 1);
  launch.grid = parse_grid(question.grid);
  launch.shared_bytes = question.shared_bytes;
  launch.every_element = question.every_element;
  launch.same_values = question.same_values, launch.spare = question.spare;
  if (question.steps != 0) launch.most_steps = question.steps;
  launch.repair_steps = question.repair_steps;
  launch.proxy = parse_proxy(question.proxy);
  if (question.every_element && !question.expect.empty())
    throw InputError::whole("--every-element is for a question without --expect", question.expect[0]);
  for (std::string const& text : question.only) {
    launch.blocks.push_back(parse_three(text, "--only-block", 0));
    for (unsigned i = 0; i < 3; ++i)
      if (launch.blocks.back()[i] >= launch.grid[i])
        throw InputError::whole("the grid has no such block", text,
                                fmt::format("the grid is {}", fmt::join(launch.grid, ",")));
    if (std::count(launch.blocks.begin(), launch.blocks.end(), launch.blocks.back()) != 1)
      throw InputError::whole("this block is given twice", text);
  }
  plan.function = kernel_of(module, question.kernel, file);
  ptx::Function const& kernel = module.functions[plan.function];
  if (!question.cluster.empty()) launch.cluster = parse_three(question.cluster, "--cluster", 1);
  if (std::string const why = why_no_cluster(kernel.reqnctapercluster, launch.cluster, launch.grid);
      !why.empty() && !kernel.blocks_are_clusters)
    throw InputError::whole(why, question.cluster.empty() ? question.grid : question.cluster);
  if (launch.cluster[0] == 0) launch.cluster = kernel.reqnctapercluster;
  if (std::string const why = why_no_block(kernel, launch.block); !why.empty())
    throw InputError::whole(why, question.block);
  std::vector<FlowArray> const arrays = take_params(module, kernel, question.params, launch);
  for (std::string const& text : question.expect)
    plan.expectations.push_back(parse_expectation(text, arrays));
  return plan;
}

}  // namespace swizproof
