// One entry point for each reader of text or files, and one that compares the engines. FUZZ_TARGET chooses. Every input ends
// in a value or an InputError: no crash, no other exception, no hang.
#include "../../src/evidence.hpp"
#include "../../src/nsight.hpp"
#include "../property/dumb_law.hpp"

#include <swizproof/check.hpp>
#include <swizproof/parse.hpp>
#include <swizproof/rup.hpp>

#if FUZZ_TARGET == 4
#include "../../src/command/predict.cpp"
#endif

#include <fmt/format.h>

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace swizproof {
namespace {

enum Target {
  layout = 0,
  access = 1,
  expression = 2,
  obligations = 3,
  json_lines = 4,
  evidence = 5,
  nsight = 6,
  proof = 7,
  engines = 8
};

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
  Instruction const instruction = parse_instruction(names[next(15)]);
  std::uint32_t const bits = std::min(8U << next(3), 8 * instruction.bytes);
  std::uint32_t const vector = std::max(8 * instruction.bytes / bits, 1U);
  std::uint32_t const rows = 1 + next(64), columns = vector * (1 + next(16)),
                      pitch = columns + vector * next(4);
  Swizzle const swizzle{static_cast<int>(next(6)), static_cast<int>(next(7)), static_cast<int>(next(13)) - 6};
  bool const on_bytes = next(2) == 0;
  std::uint32_t const a = next(40), b = next(40), c = next(40), d = next(40), values = 1 + next(8);
  if (!swizzle.valid()) return;
  std::string const tile = fmt::format("({},{}):({},1)", rows, columns, pitch);
  std::string const layout =
      on_bytes ? fmt::format("{} o smem_ptr[{}b](unset) o {}", to_string(swizzle), bits, tile)
               : fmt::format("{} o _0 o {}", to_string(swizzle), tile);
  MappingOptions options;
  options.element_bits = on_bytes ? std::nullopt : std::optional(bits);
  Placement const placement(
      parse_mapping(layout, options),
      parse_access(
          fmt::format("{}: row = (lane*{} + v*{}) % {}, col = {}*((lane*{} + v*{}) % {}) for v in 0..{}",
                      to_string(instruction), a, b, rows, vector, c, d, columns / vector, values - 1)));
  CheckOptions ask;
  ask.at_most = 32;
  ask.limits.seconds = 5;
  AccessVerdict const verdict = check(placement, ask);  // its engines must agree, or it throws Disagreement
  unsigned worst = 0;
  for (std::uint32_t v = 0; v < values; ++v) {
    WarpAccess<std::uint32_t> warp{};
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      std::uint32_t const offset =
          (lane * a + v * b) % rows * pitch + vector * ((lane * c + v * d) % (columns / vector));
      warp.address[lane] = on_bytes ? swizzle(offset * (bits / 8)) : swizzle(offset) * (bits / 8);
      warp.active[lane] = lane < instruction.lanes();
    }
    worst = std::max(worst, dumb_law(instruction, warp));
  }
  if (std::holds_alternative<Unknown>(verdict.outcome)) return;
  if (verdict.wavefronts != worst) {
    std::string const said = fmt::format("{} {}: the tool says {}, a plain loop {}\n", layout,
                                         to_string(instruction), verdict.wavefronts, worst);
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

void run(std::string_view text) {
  static constexpr int target = FUZZ_TARGET;
  if constexpr (target == layout) (void)parse_value(text, {});
  if constexpr (target == access) (void)parse_access(text);
  if constexpr (target == expression) {
    std::string const names[] = {"x", "lane"};
    Expression const e = parse_expression(text, names);
    std::uint64_t const values[] = {12345, 7};
    (void)e(std::span<std::uint64_t const>(values), std::uint64_t{});
  }
  if constexpr (target == obligations) (void)read_obligations(file_of(text));
#if FUZZ_TARGET == 4
  command::RequestReader reader;
  std::string padded(text);
  padded.resize(text.size() + simdjson::SIMDJSON_PADDING);
  (void)reader.read(padded.data(), text.size());
#endif
  if constexpr (target == evidence) (void)recompute("fuzz", text);
  if constexpr (target == nsight) (void)read_nsight("fuzz", text);
  if constexpr (target == proof) {
    std::size_t const half = std::min(text.find("--\n"), text.size());
    (void)check_proof(text.substr(0, half), text.substr(std::min(half + 3, text.size())));
  }
  if constexpr (target == engines) compare_engines(text);
}

}  // namespace
}  // namespace swizproof

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    swizproof::run({reinterpret_cast<char const*>(data), size});
  } catch (swizproof::InputError const&) {
  }
  return 0;
}
