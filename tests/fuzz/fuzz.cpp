// One entry point for each reader of text or files, and one that compares the engines. The first argument chooses. Every
// input ends in a value or an InputError: no crash, no other exception, no hang.
#include "records/evidence.hpp"
#include "parse/question/expectation.hpp"
#include "profile/nsight.hpp"
#include "profile/requests.hpp"
#include "profile/trace.hpp"
#include "generators/tile_case.hpp"

#include <swizproof/analysis/tma.hpp>
#include <swizproof/analysis/check.hpp>
#include <swizproof/kernel/kernel.hpp>
#include <swizproof/flow/flow.hpp>
#include <swizproof/engine/decide.hpp>
#include <swizproof/parse/obligations.hpp>
#include <swizproof/parse/parse.hpp>
#include <swizproof/sass/lower.hpp>
#include <swizproof/certificate/rup.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace swizproof {
namespace {

/// Reads a tile, a swizzle and an access from bytes; nothing where they do not fit together.
void compare_engines(std::string_view bytes) {
  std::size_t at = 0;
  auto const next = [&](std::uint32_t bound) {
    return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at++]) % bound : 0;
  };
  static constexpr char const* names[] = {
      "ld.shared.b8",  "ld.shared.b16", "ld.shared.b32",  "ld.shared.b64", "ld.shared.b128",
      "st.shared.b32", "st.shared.b64", "st.shared.b128", "ldmatrix.x1",   "ldmatrix.x2",
      "ldmatrix.x4",   "stmatrix.x4",   "cp.async.b32",   "cp.async.b64",  "cp.async.b128"};
  TileCase k{};
  k.instruction = parse_instruction(names[next(15)]);
  k.bits = std::min(8U << next(3), 8 * k.instruction.bytes);
  k.vector = std::max(8 * k.instruction.bytes / k.bits, 1U);
  k.rows = 1 + next(64);
  k.columns = k.vector * (1 + next(16));
  k.pitch = k.columns + k.vector * next(4);
  k.swizzle = {static_cast<int>(next(6)), static_cast<int>(next(7)), static_cast<int>(next(13)) - 6};
  k.on_bytes = next(2) == 0;
  k.a = next(40), k.b = next(40), k.c = next(40), k.d = next(40);
  k.values = 1 + next(8);
  if (!k.swizzle.valid()) return;
  MappingOptions options;
  options.element_bits = k.on_bytes ? std::nullopt : std::optional(k.bits);
  Placement const placement(parse_mapping(k.layout(), options), parse_access(k.access()));
  CheckOptions ask;
  ask.at_most = 32;
  // Z3 is slow under sanitizers: one input in sixteen waits for it, the others compare what needs no solver.
  ask.limits.seconds = next(16) == 15 ? 5 : 0.001;
  bool const every_base = next(2) == 1;
  if (!every_base) ask.align = 1U << 20;
  AccessVerdict const verdict = check(placement, ask);  // throws Disagreement if its engines do not agree
  if (verdict.cost() == nullptr) return;
  // The plain loop knows base 0: what the tool says of every base is at least that.
  unsigned const worst = k.worst();
  if (every_base ? verdict.cost()->wavefronts < worst : verdict.cost()->wavefronts != worst) {
    std::string const said = fmt::format("{} {}: the tool says {}, a plain loop {}\n", k.layout(), k.access(),
                                         verdict.cost()->wavefronts, worst);
    std::fputs(said.c_str(), stderr);
    std::abort();
  }
}

/// A file of this text; obligations are read from files.
std::string file_of(std::string_view text) {
  static int const file = memfd_create("fuzz", 0);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    std::abort();
  return "/proc/self/fd/" + std::to_string(file);
}

void read_layout(std::string_view text) { (void)parse_value(text, {}); }

/// The boxes of a tile; throws Disagreement if another engine does not find their addresses the tile's.
void find_copies(std::string_view text) {
  Mapping const map = parse_mapping(text, {16});
  if (map.domain() == nullptr || map.domain()->size() > 1 << 12) return;
  Limits limits;
  limits.seconds = 0.001;
  TmaCopies const found = tma_copies(map, {tma_modes_sm_100, {}, {}}, limits);
  for (TmaPlan const& plan : found.plans)
    if (plan.copies.size() != plan.boxes ||
        plan.boxes * plan.bytes * 8 != static_cast<std::uint64_t>(map.domain()->size()) * *map.element_bits)
      std::abort();
}

void read_access(std::string_view text) { (void)parse_access(text); }
/// An array's declaration in the first line, an access to it below.
void read_declaration(std::string_view text) {
  std::size_t const line = std::min(text.find('\n'), text.size());
  Mapping const map = parse_mapping(text.substr(0, line));
  if (map.array)
    (void)parse_access(text.substr(std::min(line + 1, text.size())), {}, {map.array, BlockShape{20, 3, 1}});
}
void read_fragment(std::string_view text) {
  auto const operand = parse_operand(text);
  if (auto const* const tile = std::get_if<TiledOperand>(&operand)) {
    try {
      (void)thread_values(tile->mma, tile->operand);
    } catch (AlgebraError const&) {  // what CuTe does not make
    }
    return;
  }
  NamedFragment const f = std::get<NamedFragment>(operand);
  NamedFragment const again = parse_fragment(f.name());  // its own name means the same
  if (!(again.fragment == f.fragment)) std::abort();
}

void read_expression(std::string_view text) {
  std::string const names[] = {"x", "lane"};
  Expression const e = parse_expression(text, names);
  std::uint64_t const values[] = {12345, 7};
  (void)e(std::span<std::uint64_t const>(values), std::uint64_t{});
}

/// A text as a parameter of a launch, and as an expectation of arrays.
void read_flow(std::string_view text) {
  std::vector<FlowArray> const arrays{
      {"C", "f32", 32, {16, 8}}, {"A", "f16", 16, {16, 32}}, {"B", "f16", 16, {32, 8}}, {"x", "f32", 32, {}}};
  try {
    (void)parse_flow_param(std::string(text));
  } catch (InputError const&) {
  }
  (void)parse_expectation(std::string(text), arrays);
}

void read_file_of_obligations(std::string_view text) { (void)read_obligations(file_of(text)); }

void read_json_lines(std::string_view text) {
  RequestReader reader;
  std::string padded(text);
  padded.resize(text.size() + RequestReader::padding);
  (void)reader.read(padded.data(), text.size());
}

void read_evidence(std::string_view text) { (void)recompute("fuzz", text); }

void read_profile(std::string_view text) { (void)read_nsight("fuzz", text); }

void read_traced_program(std::string_view text) { (void)read_trace("fuzz", text); }

void read_proof(std::string_view text) {
  std::size_t const half = std::min(text.find("--\n"), text.size());
  (void)check_proof(text.substr(0, half), text.substr(std::min(half + 3, text.size())));
}

/// PTX: read, lowered, executed and decided; throws Disagreement if a replay costs more than was proved.
void read_ptx(std::string_view text) {
  ptx::Module const module = ptx::read_module(std::string(text), "fuzz");
  KernelOptions options;
  options.block = {64, 2, 1};
  options.steps = 100'000;
  FlowLaunch launch;
  launch.block = {40, 2, 1};
  launch.most_steps = 2'000;
  for (ptx::Function const& f : module.functions) {
    (void)decide_kernel(module, f, options);
    if (!f.entry) continue;
    for (std::size_t i = 0; i < f.params.size(); ++i)
      launch.params["#" + std::to_string(i)] = FlowArray{"a" + std::to_string(i), "f16", 16, {4096}};
    (void)trace_flow(module, f, launch, {});
  }
}

/// SASS: read, lowered, executed and decided.
void read_sass(std::string_view text) {
  sass::Module const module = sass::read_module(std::string(text), "fuzz");
  KernelOptions options;
  options.block = {64, 2, 1};
  options.steps = 100'000;
  for (sass::Function const& f : module.functions)
    (void)decide_kernel(module, sass::lower(module, f), options);
}

/// An entry point, by the name of its corpus.
struct Entry {
  std::string_view name;
  void (*run)(std::string_view text);
};
constexpr Entry entries[] = {
    {"layout", read_layout},
    {"access", read_access},
    {"declaration", read_declaration},
    {"fragment", read_fragment},
    {"expression", read_expression},
    {"expectation", read_flow},
    {"obligations", read_file_of_obligations},
    {"json_lines", read_json_lines},
    {"evidence", read_evidence},
    {"nsight", read_profile},
    {"proof", read_proof},
    {"engines", compare_engines},
    {"trace", read_traced_program},
    {"tma", find_copies},
    {"ptx", read_ptx},
    {"sass", read_sass},
};
Entry const* chosen = nullptr;

}  // namespace
}  // namespace swizproof

/// Takes the entry point's name, the first argument, off the command line. libFuzzer calls it first, and starts itself
/// again with the arguments that are left: the name stays in the environment.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr char const* variable = "SWIZPROOF_FUZZ_ENTRY";
  char const* const inherited = std::getenv(variable);
  std::string_view const name = inherited != nullptr ? inherited : *argc > 1 ? (*argv)[1] : "";
  for (swizproof::Entry const& entry : swizproof::entries)
    if (entry.name == name) swizproof::chosen = &entry;
  if (swizproof::chosen == nullptr) {
    std::fputs("usage: swizproof_fuzz ENTRY ..., and ENTRY is the name of a folder of tests/fuzz/corpus\n",
               stderr);
    std::exit(2);
  }
  if (inherited != nullptr) return 0;
  setenv(variable, (*argv)[1], 1);
  std::rotate(*argv + 1, *argv + 2, *argv + *argc);
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    swizproof::chosen->run({reinterpret_cast<char const*>(data), size});
  } catch (swizproof::InputError const&) {
  }
  return 0;
}
