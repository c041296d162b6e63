#include "instruction_descriptor.hpp"

#include "report/kernel.hpp"
#include "report/report.hpp"

#include <swizproof/hardware/mma_descriptor.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> split(std::string const& text, char at) {
  std::vector<std::string> out(1);
  for (char const c : text) {
    if (c == at)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

/// `f16`, `kind::f16`, `mxf4nvf4.block_scale.scale_vec::4X`, `f16.cta_group::2`: the kind first, then qualifiers of the instruction.
TensorMmaQualifiers qualifiers_of(std::string const& text) {
  constexpr std::string_view known[] = {
      "cta_group::1",  "cta_group::2",  "ws",      "sp",     "block_scale", "scale_vec::1X",
      "scale_vec::2X", "scale_vec::4X", "block16", "block32"};
  std::vector<std::string> words = split(text, '.');
  if (!words[0].starts_with("kind::")) words[0].insert(0, "kind::");
  std::vector<std::string> kinds;
  for (TensorMmaKind const& k : tensor_mma_kinds) kinds.emplace_back(k.name.substr(6));
  if (std::none_of(kinds.begin(), kinds.end(),
                   [&](std::string const& k) { return words[0] == "kind::" + k; }))
    throw InputError::whole(fmt::format("tcgen05.mma has no {}", words[0]), text,
                            "one of " + fmt::format("{}", fmt::join(kinds, ", ")));
  for (std::size_t i = 1; i < words.size(); ++i)
    if (std::find(std::begin(known), std::end(known), words[i]) == std::end(known))
      throw InputError::whole(
          fmt::format("no qualifier of tcgen05.mma that changes a descriptor: {}", words[i]), text,
          fmt::format("{}", fmt::join(known, ", ")));
  TensorMmaQualifiers const out = mma_qualifiers(
      [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); });
  if (out.kind == nullptr)
    throw InputError::whole("the kind has no such number of scale factors", text,
                            "PTX ISA 9.1, 9.7.16.10.7.1: scale_vec::1X, 2X, 4X, block16 or block32");
  return out;
}

std::uint32_t bits_of(std::string const& text) {
  errno = 0;
  char* end = nullptr;
  unsigned long long const bits = std::strtoull(text.c_str(), &end, 0);
  if (errno != 0 || bits > 0xffffffffU || *text.c_str() == '\0' ||
      std::string_view(end).find_first_not_of("uUlL") != std::string_view::npos)
    throw InputError::whole("an instruction descriptor is a number of 32 bits", text);
  return static_cast<std::uint32_t>(bits);
}

/// Fields of a number, and why it is wrong; `section` of PTX ISA 9.1.
struct Result {
  KernelInstruction instruction;
  TensorMmaKind const& kind;
  std::string reason{}, section{};
  bool open = false;  ///< the ISA does not say which of two holds
  [[nodiscard]] char const* verdict() const {
    return reason.empty() ? "proved" : open ? "unknown" : "refuted";
  }
};

/// Types of A and B, or of D.
std::vector<std::string_view> names_of(TensorMmaKind const& kind, bool results) {
  std::vector<std::string_view> out;
  for (std::string_view const t : kind.types)
    if (!results && !t.empty()) out.push_back(t);
  for (std::string_view const t : kind.results)
    if (results && !t.empty()) out.push_back(t);
  return out;
}

/// Compares the fields with M, N and the types that the user gives.
void compare(Result& r, InstructionArguments const& options) {
  MmaDescriptor const& d = r.instruction.fields;
  auto const differ = [&](char const* what, auto const& has, auto const& wanted) {
    if (r.reason.empty() || r.open)
      r.open = false, r.section.clear(),
      r.reason = fmt::format("{} is {}, and {} is given", what, has, wanted);
  };
  if (!options.shape.empty()) {
    auto const shape = split(options.shape, ',');
    auto const is_number = [](std::string const& text) {
      return !text.empty() && text[0] != '0' && text.find_first_not_of("0123456789") == text.npos;
    };
    if (shape.size() != 2 || !is_number(shape[0]) || !is_number(shape[1]))
      throw InputError::whole("a shape is M,N", options.shape, "--mma-shape 128,64");
    if (shape[0] != std::to_string(d.m)) differ("M", d.m, shape[0]);
    if (shape[1] != std::to_string(d.n)) differ("N", d.n, shape[1]);
  }
  if (options.types.empty()) return;
  auto const types = split(options.types, ',');
  if (types.size() != 3)
    throw InputError::whole("types are those of A, B and D", options.types, "--types bf16,bf16,f32");
  std::string_view const own[] = {d.a, d.b, d.d};
  char const* const names[] = {"A", "B", "D"};
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::string_view> const all = names_of(r.kind, i == 2);
    if (std::find(all.begin(), all.end(), types[i]) == all.end())
      throw InputError::whole(fmt::format("{} of {} has no type {}", names[i], r.kind.name, types[i]),
                              options.types, "one of " + fmt::format("{}", fmt::join(all, ", ")));
    if (types[i] != own[i]) differ(names[i], own[i].empty() ? "of no type" : own[i], types[i]);
  }
}

Result result_of(InstructionArguments const& options) {
  TensorMmaQualifiers const q = qualifiers_of(options.kind);
  std::uint32_t const bits = bits_of(options.number);
  Result out{{bits, false, q.form, mma_descriptor(*q.kind, bits, q.form)}, *q.kind};
  MmaDescriptor const& d = out.instruction.fields;
  if (!d.defect.empty()) out.reason = d.defect, out.section = d.section;
  if (out.reason.empty() && d.disagrees)
    out.reason = d.sparse ? "A is sparse by the descriptor, and the instruction is not .sp"
                          : "A is dense by the descriptor, and the instruction is .sp",
    out.section = "9.7.16.4.2", out.open = true;
  compare(out, options);
  return out;
}

Json to_json(Result const& r) {
  return {{"verdict", r.verdict()},
          {"layout", nullptr},
          {"for", "tcgen05"},
          {"evidence", "documented"},
          {"number", fmt::format("{:#010x}", r.instruction.bits)},
          {"kind", r.kind.name},
          {"instruction", swizproof::to_json(r.instruction)},
          {"reason", r.reason.empty() ? Json() : Json(r.reason)},
          {"section", r.section.empty() ? Json() : Json(r.section)}};
}

void print_bits(char const* what, std::uint32_t bits, unsigned first, unsigned count,
                std::string const& says) {
  std::uint32_t const value = bits >> first & ((1U << count) - 1);
  fmt::print("  {:<14} {:<24} {} = {}\n", what, says,
             count == 1 ? fmt::format("bit {}", first) : fmt::format("bits {}..{}", first + count - 1, first),
             value);
}

void print_text(Result const& r, Style const& style) {
  MmaDescriptor const& d = r.instruction.fields;
  std::uint32_t const bits = r.instruction.bits;
  fmt::print("{}  an instruction descriptor of tcgen05.mma, {}\n",
             style.strong(fmt::format("{:#010x}", bits)), r.kind.name);
  fmt::print("{}  {}\n", r.verdict(), text_of(r.instruction));
  if (!r.reason.empty())
    fmt::print("  {}{}\n", r.reason, r.section.empty() ? "" : fmt::format(" [PTX ISA 9.1, {}]", r.section));
  if (style.brief()) return;
  auto const type = [](std::string_view t) {
    return t.empty() ? std::string("no such type") : std::string(t);
  };
  auto const major = [](Major m) { return m == Major::k ? "K-major" : "MN-major"; };
  bool const scaled = r.kind.scaled;
  fmt::print("\n");
  print_bits("M", bits, scaled ? 27 : 24, scaled ? 2 : 5, std::to_string(d.m));
  print_bits("N", bits, 17, 6, std::to_string(d.n));
  print_bits("type of A", bits, 7, 3, type(d.a));
  print_bits("type of B", bits, 10, r.kind.is_packed() ? 2 : 3, type(d.b));
  if (!scaled) print_bits("type of D", bits, 4, 2, type(d.d));
  print_bits("A", bits, 15, 1, major(d.a_major));
  print_bits("B", bits, 16, 1, major(d.b_major));
  print_bits("sign of A", bits, 13, 1, d.negates_a ? "negated" : "as it is");
  print_bits("sign of B", bits, 14, 1, d.negates_b ? "negated" : "as it is");
  print_bits("sparsity", bits, 2, 1, d.sparse ? "A is sparse" : "A is dense");
  if (!scaled) {
    print_bits("saturation", bits, 3, 1, d.saturates ? "D is saturated" : "none");
  } else {
    print_bits("type of scales", bits, 23, 1, std::string(d.scale));
    print_bits("scales of A", bits, 29, 2, fmt::format("from byte {} on", d.a_scales));
    print_bits("scales of B", bits, 4, 2, fmt::format("from byte {} on", d.b_scales));
  }
  fmt::print("  K is {}, by the kind{}. Documented in PTX ISA 9.1, 9.7.16.4.2, not measured.\n", d.k,
             r.kind.is_packed() ? " and bit 31" : " and the sparsity");
}

}  // namespace

void run_instruction_descriptor(Common& common, InstructionArguments const& options) {
  Result const result = result_of(options);
  constexpr int undecided = 3;
  common.exit_code = result.reason.empty() ? 0 : result.open ? undecided : 1;
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, style_of(common));
}

}  // namespace swizproof::command
