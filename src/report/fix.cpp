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

/// `0x400, 0x1400, 0x2400 and 1 more`
std::string list_of(std::span<std::uint64_t const> addresses) {
  std::string text;
  for (std::uint64_t const a : addresses.first(std::min(addresses.size(), most_ranges)))
    text += fmt::format("{}{:#x}", text.empty() ? "" : ", ", a);
  return addresses.size() > most_ranges ? text + fmt::format(" and {} more", addresses.size() - most_ranges)
                                        : text;
}

/// `; reaches 40 bytes behind the region`, which the array must have; empty where it stays within.
std::string reach_of(SwizzleFix const& swizzle) {
  std::string text;
  if (swizzle.behind != 0) text += fmt::format("; reaches {} bytes behind the region", swizzle.behind);
  if (swizzle.ahead != 0) text += fmt::format("; reaches {} bytes before the region", swizzle.ahead);
  return text;
}

/// Starts of offsets on which the swizzle works as well as on addresses.
std::string offsets_of(SwizzleFix const& swizzle, Fix const& fix) {
  if (swizzle.offset_starts.empty())
    return "on offsets from the region's start, or from it rounded down to a line, it costs more or leaves "
           "the region";
  if (swizzle.starts_with(fix.region)) return "also on offsets from the region's start";
  return fmt::format("also on offsets from {}", list_of(swizzle.offset_starts));
}

std::string describe(SwizzleFix const& swizzle, Fix const& fix) {
  std::string const elements =
      swizzle.on_elements && fix.element_bytes > 1
          ? fmt::format("{} of elements of {} bytes; ", in_source(*swizzle.on_elements), fix.element_bytes)
          : "";
  return fmt::format("{} of byte addresses: {}{}\n{:34}{}{}\n", in_source(swizzle.swizzle),
                     in_c(swizzle.swizzle), reach_of(swizzle), "", elements, offsets_of(swizzle, fix));
}

/// `0x400`: the rows' start where one serves all ranges, else `0x400, 0x5e0 in each range, which moves by 0x0, 0x20 more`.
std::string starts_of(PaddingFix const& fix) {
  std::span<std::uint64_t const> const all = fix.starts;
  if (fix.has_one_start()) return list_of(all.first(1));
  return fmt::format("{} in each range, which moves by {} more", list_of(all), list_of(fix.moves));
}

/// `index i + i/32: 1 element of 4 bytes after each 32`; `index i + i/64*8: 8 elements of 2 bytes after each 64`
std::string padded(PaddingFix const& fix, unsigned element_bytes) {
  std::uint64_t const more = fix.padding / element_bytes, pitch = fix.pitch / element_bytes;
  return fmt::format("index i + i/{}{}: {} element{} of {} byte{} after each {}", pitch,
                     more == 1 ? "" : fmt::format("*{}", more), more, more == 1 ? "" : "s", element_bytes,
                     element_bytes == 1 ? "" : "s", pitch);
}

/// `index i + i/32: 1 element of 4 bytes after each 32, i = 0 at 0x400; 124 more bytes of memory`
std::string describe(PaddingFix const& fix, unsigned element_bytes) {
  return fmt::format("{}, i = 0 at {}; {} more bytes of memory\n", padded(fix, element_bytes), starts_of(fix),
                     fix.memory);
}

/// Family of swizzles that was searched: `all 140 Swizzle<b,m,s> with m >= 4 and b + m + |s| <= 13 (...)`
std::string swizzles_searched(Fix const& fix) {
  if (fix.too_many) return fmt::format("none: {} different accesses are too many", fix.patterns);
  if (fix.of_descriptors)
    return fmt::format("the {} of Sw<1,4,3>, Sw<2,4,3> and Sw<3,4,3> that fit, since {} the array",
                       fix.searched, fix.of_copies ? "cp.async.cg writes rows of" : "a descriptor reads");
  return fmt::format(
      "all {} Swizzle<b,m,s> with m >= {} and b + m + |s| <= {} (one that leaves the region's lines does not "
      "count)",
      fix.searched, fix.widest_bits, fix.address_bits);
}

/// `4 to 812 bytes`, `4 to 812, 1024, 4096 bytes` or `any length`
std::string rows_searched(PaddingFamily const& family) {
  if (family.all) return "any length";
  std::string rows = family.longest == 0 ? "" : fmt::format("{} to {}", family.step, family.longest);
  for (std::uint64_t const pitch : family.longer)
    rows += fmt::format("{}{}", rows.empty() ? "" : ", ", pitch);
  return rows + " bytes";
}

/// Family of paddings that was searched: `rows of any length, counted from any address, in steps of 4 bytes; ...`
std::string paddings_searched(PaddingFamily const& family) {
  if (family.most == 0) return "none: no padding changes a bank";
  if (family.is_empty()) return "none: the different accesses are too many";
  return fmt::format(
      "rows of {}, counted from any address, in steps of {} bytes; each longer by {} to {} bytes, at most "
      "doubled",
      rows_searched(family), family.step, family.step, family.most);
}

}  // namespace

std::string describe(std::span<ByteRange const> region) {
  std::string text;
  for (ByteRange const& range : region.first(std::min(region.size(), most_ranges)))
    text += fmt::format("{}{:#x}..{:#x}", text.empty() ? "" : ", ", range.begin, range.end);
  return region.size() > most_ranges ? text + fmt::format(" and {} more", region.size() - most_ranges) : text;
}

namespace {

/// The region and a line for each kind of fix.
std::string describe_briefly(Fix const& fix, Style const& style) {
  std::string text =
      fmt::format("{}: {} wavefronts, ideal {}\n", style.strong(describe(fix.region)), fix.before, fix.ideal);
  if (fix.swizzle)
    text += fmt::format("  swizzle {:>6}  {} of byte addresses: {}{}\n", fix.swizzle->after,
                        in_source(fix.swizzle->swizzle), in_c(fix.swizzle->swizzle), reach_of(*fix.swizzle));
  if (!fix.padding) return text;
  PaddingFix const& rows = *fix.padding;
  bool const from_0 = rows.has_one_start() && rows.starts.front() == 0;
  return text + fmt::format("  padding {:>6}  {}{}\n", rows.after, padded(rows, fix.element_bytes),
                            from_0 ? "" : ", i = 0 at " + starts_of(rows));
}

}  // namespace

std::string describe(Fix const& fix, Style const& style) {
  if (style.brief() && (fix.swizzle || fix.padding)) return describe_briefly(fix, style);
  std::string text =
      fmt::format("{}: {} wavefronts, ideal {}\n", style.strong(describe(fix.region)), fix.before, fix.ideal);
  auto const line = [&](std::string_view what, std::uint64_t after, std::string const& how) {
    text += fmt::format("  {}  {:>10} wavefronts  {}", what, after, how);
  };
  if (fix.swizzle) line("swizzle", fix.swizzle->after, describe(*fix.swizzle, fix));
  if (fix.padding) line("padding", fix.padding->after, describe(*fix.padding, fix.element_bytes));
  if (!fix.swizzle)
    text += fmt::format("  {}searched: {}\n", fix.too_many ? "swizzles " : "no swizzle helps; ",
                        swizzles_searched(fix));
  if (fix.padding && (!fix.paddings.all || fix.padding->after > fix.ideal))
    text += fmt::format("  paddings searched: {}\n", paddings_searched(fix.paddings));
  if (!fix.padding)
    text += fmt::format("  {}searched: {}\n", fix.paddings.is_empty() ? "paddings " : "no padding helps; ",
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
    out["on_offsets"] = s.starts_with(fix.region);
    out["offset_starts"] = s.offset_starts;
    out["swizzle_memory"] = {s.ahead, s.behind};
  }
  out["padding"] = nullptr;
  if (fix.padding)
    out["padding"] = {{"pitch", fix.padding->pitch},
                      {"padding", fix.padding->padding},
                      {"after", fix.padding->after},
                      {"memory", fix.padding->memory},
                      {"starts", fix.padding->starts}};
  if (fix.padding && !fix.padding->moves.empty()) out["padding"]["moves"] = fix.padding->moves;
  out["element_bytes"] = fix.element_bytes;
  out["patterns"] = fix.patterns;
  out["searched"] = fix.searched;
  out["too_many"] = fix.too_many;
  out["searched_what"] = swizzles_searched(fix);
  PaddingFamily const& family = fix.paddings;
  out["padding_searched"] = {{"step", family.step},       {"most", family.most},
                             {"longest", family.longest}, {"longer", family.longer},
                             {"all", family.all},         {"what", paddings_searched(family)}};
  return out;
}

}  // namespace swizproof
