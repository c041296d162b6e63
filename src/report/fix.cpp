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

/// `0x400`: the rows' start where one serves all ranges, else those of the ranges in their order.
std::string starts_of(PaddingFix const& fix) {
  std::uint64_t const first = fix.starts.empty() ? 0 : fix.starts[0];
  bool const one = std::all_of(fix.starts.begin(), fix.starts.end(),
                               [&](std::uint64_t s) { return (s - first) % fix.pitch == 0; });
  std::string text = fmt::format("{:#x}", first);
  for (std::size_t i = 1; !one && i < std::min(fix.starts.size(), most_ranges); ++i)
    text += fmt::format(", {:#x}", fix.starts[i]);
  return one || fix.starts.size() <= most_ranges
             ? text
             : text + fmt::format(" and {} more", fix.starts.size() - most_ranges);
}

/// `rows of 33 elements of 4 bytes instead of 32, counted from 0x400; 124 more bytes of memory`
std::string describe(PaddingFix const& fix, unsigned element_bytes) {
  return fmt::format(
      "rows of {} elements of {} bytes instead of {}, counted from {}; {} more bytes of memory\n",
      (fix.pitch + fix.padding) / element_bytes, element_bytes, fix.pitch / element_bytes, starts_of(fix),
      fix.memory);
}

/// `all 140 Swizzle<b,m,s> with m >= 4 and b + m + |s| <= 13 that keep the region in its own lines`
std::string swizzles_searched(Fix const& fix) {
  if (fix.searched == 0) return fmt::format("none: {} different accesses are too many", fix.patterns);
  return fmt::format(
      "all {} Swizzle<b,m,s> with m >= {} and b + m + |s| <= {}, of these what keeps the region in its own "
      "lines",
      fix.searched, fix.widest_bits, fix.address_bits);
}

/// `rows of any length from any start, in steps of 4 bytes; each longer by 4 to 124 bytes, at most twice as long`
std::string paddings_searched(PaddingFamily const& family) {
  if (family.most == 0) return "none: no padding changes a bank";
  if (family.longest == 0 && family.longer.empty()) return "none: the accesses are too many";
  std::string rows = "any length";
  if (!family.all) {
    rows = family.longest == 0 ? "" : fmt::format("{} to {}", family.step, family.longest);
    for (std::uint64_t const pitch : family.longer)
      rows += fmt::format("{}{}", rows.empty() ? "" : ", ", pitch);
    rows += " bytes";
  }
  return fmt::format(
      "rows of {} from any start, in steps of {} bytes; each longer by {} to {} bytes, at most doubled", rows,
      family.step, family.step, family.most);
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
  bool const paddings = fix.paddings.longest != 0 || !fix.paddings.longer.empty();
  if (!fix.swizzle)
    text += fmt::format("  {}: {}\n", fix.searched == 0 ? "swizzles searched" : "no swizzle helps",
                        swizzles_searched(fix));
  if (!fix.padding)
    text += fmt::format("  {}: {}\n", paddings ? "no padding helps" : "paddings searched",
                        paddings_searched(fix.paddings));
  if (!fix.swizzle && !fix.padding) text += "  not searched: a swizzle and another pitch together\n";
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
                      {"memory", fix.padding->memory},
                      {"starts", fix.padding->starts}};
  out["element_bytes"] = fix.element_bytes;
  out["patterns"] = fix.patterns;
  out["searched"] = fix.searched;
  out["searched_what"] = swizzles_searched(fix);
  PaddingFamily const& family = fix.paddings;
  out["padding_searched"] = {{"step", family.step},       {"most", family.most},
                             {"longest", family.longest}, {"longer", family.longer},
                             {"all", family.all},         {"what", paddings_searched(family)}};
  return out;
}

}  // namespace swizproof
