#include "drawn_data.hpp"

#include "names.hpp"

#include <swizproof/core/splitmix.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace swizproof::flow_detail {

namespace {

constexpr std::uint64_t most_listed = 4096;  ///< elements of an array whose numbers are listed one by one

/// Numbers that elements of a type may be: near 0, and near those that the kernel compares with.
std::vector<std::uint64_t> candidates(FlowArray const& array, std::vector<std::uint64_t> const& constants) {
  std::vector<std::uint64_t> out;
  std::uint64_t const all = low_bits(array.bits);
  auto const add = [&](std::uint64_t bits) {
    if (std::find(out.begin(), out.end(), bits) == out.end()) out.push_back(bits);
  };
  Format const format = format_of(array.type);
  if (format == Format::integer) {
    for (std::uint64_t const x : {0, 1, 2, 3, -1}) add(x & all);
    for (std::uint64_t const c : constants)
      for (std::uint64_t const x : {c - 1, c, c + 1}) add(x & all);
    return out;
  }
  std::uint64_t bits = 0;
  for (double const x : {0.0, 1.0, -1.0, 2.0, 8.0, -8.0})
    if (bits_of_value(x, format, bits)) add(bits);
  for (std::uint64_t const c : constants)
    for (double const more : {-1.0, 0.0, 1.0})
      if (bits_of_value(value_of_bits(c & all, format, array.bits / 8) + more, format, bits)) add(bits);
  return out;
}

/// Numbers of an array: one for all elements, or any; of a large array one, or the numbers of its elements.
std::vector<std::uint64_t> draw(FlowArray const& array, std::vector<std::uint64_t> const& from,
                                unsigned number, std::uint64_t& state) {
  std::vector<std::uint64_t> out(std::max<std::uint64_t>(array.size(), 1));
  bool const counts = number % 4 == 2 && format_of(array.type) == Format::integer;
  bool const alike = number % 2 == 0 || out.size() > most_listed;
  std::uint64_t const one = number == 0 ? 0 : from[splitmix64(++state) % from.size()];
  for (std::uint64_t i = 0; i < out.size(); ++i)
    out[i] = counts ? i & low_bits(array.bits) : alike ? one : from[splitmix64(++state) % from.size()];
  return out;
}

/// `1=ids:i32[4]=0,1,1,2`, or `2=0.5:f32` of a number.
std::string text_of(std::string const& key, FlowArray const& array,
                    std::vector<std::uint64_t> const& values) {
  if (array.extents.empty())
    return fmt::format("{}={}:{}", key[0] == '#' ? key.substr(1) : key,
                       value_of_bits(values[0], format_of(array.type), array.bits / 8), array.type);
  std::string out = fmt::format("{}={}:{}", key[0] == '#' ? key.substr(1) : key, array.name, array.type);
  for (std::uint64_t const n : array.extents) out += fmt::format("[{}]", n);
  bool zeros = true, counts = format_of(array.type) == Format::integer;
  for (std::uint64_t i = 0; i < values.size(); ++i)
    zeros = zeros && values[i] == 0, counts = counts && values[i] == (i & low_bits(array.bits));
  if (zeros || (counts && values.size() > 1)) return out + (zeros ? "=zeros" : "=iota");
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    out += i == 0 ? "=" : ",";
    if (format_of(array.type) != Format::integer)
      out += fmt::format("{}", value_of_bits(values[i], format_of(array.type), array.bits / 8));
    else
      out += array.type[0] == 'u' ? fmt::format("{}", values[i])
                                  : fmt::format("{}", signed_of(values[i], array.bits));
  }
  return out;
}

/// Numbers that conditions of the kernel compare with.
std::vector<std::uint64_t> constants_of(FlowKernel const& kernel) {
  std::vector<std::uint64_t> out;
  for (ptx::Instruction const& i : kernel.function.body)
    for (ptx::Operand const& o : i.operands)
      if (o.kind == ptx::Operand::Kind::immediate && i.opcode.name == "setp") out.push_back(o.value);
  return out;
}

/// A launch with numbers for these parameters, and their texts.
struct Drawn {
  FlowLaunch launch{};
  std::map<std::string, std::string> texts{};
};
Drawn drawn_of(FlowLaunch const& launch, std::vector<std::string> const& keys,
               std::vector<std::uint64_t> const& constants, unsigned number, std::uint64_t& state) {
  Drawn out{launch, {}};
  for (std::string const& key : keys) {
    FlowArray array = std::get<FlowArray>(launch.params.at(key));
    auto values = draw(array, candidates(array, constants), number, state);
    out.texts[key] = text_of(key, array, values);
    if (array.extents.empty()) {
      out.launch.params[key] = FlowValue{values[0], false, array.type};
      continue;
    }
    array.values = std::move(values);
    out.launch.params[key] = std::move(array);
  }
  return out;
}

}  // namespace

std::optional<FlowReport> refuting_data(FlowKernel const& kernel, bool arrays, std::string const& reason,
                                        std::uint64_t spent,
                                        std::function<FlowReport(FlowLaunch const&)> const& run) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 22, least = 5'000, most = 4'000'000;
  constexpr unsigned most_draws = 32;
  FlowLaunch launch = kernel.launch;
  launch.spare = false, launch.every_element = false;
  launch.most_steps = std::min(launch.most_steps, std::max(2 * spent, least));
  std::vector<std::string> open;
  std::uint64_t elements = 0, state = 1, left = std::min(most, std::max(16 * spent, 40 * least));
  for (auto const& [key, value] : launch.params)
    if (auto const* const a = std::get_if<FlowArray>(&value);
        a != nullptr && a->values.empty() && a->box.empty() && !(arrays && a->extents.empty()))
      open.push_back(key), elements += a->size();
  if (open.empty() || elements > most_elements) return std::nullopt;
  bool const address = reason.starts_with("the address depends");
  auto const refuted = [&](FlowLaunch const& with) -> std::optional<FlowReport> {
    try {
      left -= std::min(left, launch.most_steps);
      FlowReport out = run(with);
      if (out.verdict == FlowVerdict::proved)
        left += launch.most_steps - std::min(launch.most_steps, out.steps);
      bool const outside = out.fault && (out.fault->kind == FlowFaultKind::out_of_bounds ||
                                         out.fault->kind == FlowFaultKind::misaligned);
      if (out.verdict == FlowVerdict::refuted && !(address && outside)) return out;
    } catch (FlowRefused const&) {  // NOLINT(bugprone-empty-catch): other numbers may be executed
    } catch (InputError const&) {   // NOLINT(bugprone-empty-catch): an expectation needs the symbolic number
    }
    return std::nullopt;
  };
  std::vector<std::uint64_t> const constants = constants_of(kernel);
  for (unsigned number = 0; number < most_draws && left != 0; ++number) {
    Drawn drawn = drawn_of(launch, open, constants, number, state);
    std::optional<FlowReport> out = refuted(drawn.launch);
    if (!out) continue;
    std::vector<std::string> data;
    for (std::string const& key : open) {
      FlowParam const given = std::exchange(drawn.launch.params[key], launch.params.at(key));
      if (auto without = refuted(drawn.launch)) {
        out = std::move(without);
        continue;
      }
      drawn.launch.params[key] = given;
      data.push_back(drawn.texts[key]);
    }
    out->data = std::move(data);
    return out;
  }
  return std::nullopt;
}

}  // namespace swizproof::flow_detail
