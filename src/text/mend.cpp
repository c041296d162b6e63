#include "text/mend.hpp"

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

std::string describe(SwizzleMend const& mend, unsigned element_bytes) {
  std::string const elements =
      mend.on_elements && element_bytes > 1
          ? fmt::format("{} of elements of {} bytes; ", in_source(*mend.on_elements), element_bytes)
          : "";
  return fmt::format("{} of byte addresses: {}\n{:34}{}{}\n", in_source(mend.swizzle), in_c(mend.swizzle), "",
                     elements,
                     mend.on_offsets ? "as good of offsets from the region's start"
                                     : "of offsets from the region's start it is dearer, or leads out");
}

/// `rows of 33 elements of 4 bytes instead of 32; 124 bytes of memory more`
std::string describe(PaddingMend const& mend, unsigned element_bytes) {
  return fmt::format("rows of {} elements of {} bytes instead of {}; {} bytes of memory more\n",
                     (mend.pitch + mend.padding) / element_bytes, element_bytes, mend.pitch / element_bytes,
                     mend.memory);
}

}  // namespace

std::string describe(std::span<ByteRange const> region) {
  std::string text;
  for (ByteRange const& range : region.first(std::min(region.size(), most_ranges)))
    text += fmt::format("{}{:#x}..{:#x}", text.empty() ? "" : ", ", range.begin, range.end);
  return region.size() > most_ranges ? text + fmt::format(" and {} more", region.size() - most_ranges) : text;
}

std::string describe(Mend const& mend, Style const& style) {
  std::string text = fmt::format("{}: {} wavefronts, ideal {}\n", style.strong(describe(mend.region)),
                                 mend.before, mend.ideal);
  auto const line = [&](std::string_view what, std::uint64_t after, std::string const& how) {
    text += fmt::format("  {}  {:>10} wavefronts  {}", what, after, how);
  };
  if (mend.swizzle) line("swizzle", mend.swizzle->after, describe(*mend.swizzle, mend.element_bytes));
  if (mend.padding) line("padding", mend.padding->after, describe(*mend.padding, mend.element_bytes));
  if (mend.searched == 0)
    text += fmt::format("  no swizzle was searched: {} different accesses are too many\n", mend.patterns);
  if (mend.searched != 0 && !mend.swizzle && !mend.padding)
    text += fmt::format("  nothing helps: none of {} swizzles, and no padding of rows\n", mend.searched);
  else if (mend.searched != 0 && !mend.swizzle)
    text += fmt::format("  none of {} swizzles helps\n", mend.searched);
  else if (!mend.padding)
    text += "  no padding of rows helps\n";
  return text;
}

nlohmann::ordered_json to_json(Mend const& mend) {
  nlohmann::ordered_json out{{"region", nlohmann::ordered_json::array()},
                             {"before", mend.before},
                             {"ideal", mend.ideal},
                             {"swizzle", nullptr},
                             {"after", mend.swizzle ? mend.swizzle->after : mend.before}};
  for (ByteRange const& range : mend.region) out["region"].push_back({range.begin, range.end});
  if (mend.swizzle) {
    SwizzleMend const& s = *mend.swizzle;
    out["swizzle"] = to_string(s.swizzle);
    out["unit"] = "bytes";
    out["c"] = in_c(s.swizzle);
    out["on_elements"] = nullptr;
    if (s.on_elements) out["on_elements"] = to_string(*s.on_elements);
    out["on_offsets"] = s.on_offsets;
  }
  out["padding"] = nullptr;
  if (mend.padding)
    out["padding"] = {{"pitch", mend.padding->pitch},
                      {"padding", mend.padding->padding},
                      {"after", mend.padding->after},
                      {"memory", mend.padding->memory}};
  out["element_bytes"] = mend.element_bytes;
  out["patterns"] = mend.patterns;
  out["searched"] = mend.searched;
  return out;
}

}  // namespace swizproof
