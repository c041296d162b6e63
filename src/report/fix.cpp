#include "report/fix.hpp"

#include <swizproof/layout/map.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace swizproof {

namespace {

constexpr std::size_t most_ranges = 3;

/// `Swizzle<5,2,5>`, as CuTe's sources have it.
std::string in_source(Swizzle const& s) { return fmt::format("Swizzle<{},{},{}>", s.bits, s.base, s.shift); }

/// `fn(x) = x ^ ((x >> 5) & 0x7c)`, as the command line takes it.
std::string in_c(Swizzle const& s) { return to_string(LinearMap{0, {{s.shift, s.target_mask()}}}); }

std::string describe(SwizzleFix const& fix, unsigned element_bytes) {
  std::string const elements =
      fix.on_elements && element_bytes > 1
          ? fmt::format("{} of elements of {} bytes; ", in_source(*fix.on_elements), element_bytes)
          : "";
  return fmt::format(
      "{} of byte addresses: {}\n{:34}{}{}\n", in_source(fix.swizzle), in_c(fix.swizzle), "", elements,
      fix.on_offsets ? "also on offsets from the region's start"
                     : "on offsets from the region's start it costs more or leaves the region");
}

/// `rows of 33 elements of 4 bytes instead of 32; 124 more bytes of memory`
std::string describe(PaddingFix const& fix, unsigned element_bytes) {
  return fmt::format("rows of {} elements of {} bytes instead of {}; {} more bytes of memory\n",
                     (fix.pitch + fix.padding) / element_bytes, element_bytes, fix.pitch / element_bytes,
                     fix.memory);
}

}  // namespace

std::string describe(std::span<ByteRange const> region) {
  std::string text;
  for (ByteRange const& range : region.first(std::min(region.size(), most_ranges)))
    text += fmt::format("{}{:#x}..{:#x}", text.empty() ? "" : ", ", range.begin, range.end);
  return region.size() > most_ranges ? text + fmt::format(" and {} more", region.size() - most_ranges) : text;
}

std::string describe(Fix const& fix, Style const& style) {
  std::string text =
      fmt::format("{}: {} wavefronts, ideal {}\n", style.strong(describe(fix.region)), fix.before, fix.ideal);
  auto const line = [&](std::string_view what, std::uint64_t after, std::string const& how) {
    text += fmt::format("  {}  {:>10} wavefronts  {}", what, after, how);
  };
  if (fix.swizzle) line("swizzle", fix.swizzle->after, describe(*fix.swizzle, fix.element_bytes));
  if (fix.padding) line("padding", fix.padding->after, describe(*fix.padding, fix.element_bytes));
  if (fix.searched == 0)
    text += fmt::format("  no swizzle was searched: {} different accesses are too many\n", fix.patterns);
  if (fix.searched != 0 && !fix.swizzle && !fix.padding)
    text += fmt::format("  nothing helps: none of {} swizzles, and no padding of rows\n", fix.searched);
  else if (fix.searched != 0 && !fix.swizzle)
    text += fmt::format("  none of {} swizzles helps\n", fix.searched);
  else if (!fix.padding)
    text += "  no padding of rows helps\n";
  return text;
}

nlohmann::ordered_json to_json(Fix const& fix) {
  nlohmann::ordered_json out{{"region", nlohmann::ordered_json::array()},
                             {"before", fix.before},
                             {"ideal", fix.ideal},
                             {"swizzle", nullptr},
                             {"after", fix.swizzle ? fix.swizzle->after : fix.before}};
  for (ByteRange const& range : fix.region) out["region"].push_back({range.begin, range.end});
  if (fix.swizzle) {
    SwizzleFix const& s = *fix.swizzle;
    out["swizzle"] = to_string(s.swizzle);
    out["unit"] = "bytes";
    out["c"] = in_c(s.swizzle);
    out["on_elements"] = nullptr;
    if (s.on_elements) out["on_elements"] = to_string(*s.on_elements);
    out["on_offsets"] = s.on_offsets;
  }
  out["padding"] = nullptr;
  if (fix.padding)
    out["padding"] = {{"pitch", fix.padding->pitch},
                      {"padding", fix.padding->padding},
                      {"after", fix.padding->after},
                      {"memory", fix.padding->memory}};
  out["element_bytes"] = fix.element_bytes;
  out["patterns"] = fix.patterns;
  out["searched"] = fix.searched;
  return out;
}

}  // namespace swizproof
