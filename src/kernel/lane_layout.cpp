#include "lane_layout.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::kernel_detail {

namespace {

constexpr unsigned lane_bits = 5;

/// Swizzles of bytes to try, after none.
std::vector<Swizzle> const& swizzles() {
  static std::vector<Swizzle> const all = [] {
    std::vector<Swizzle> out{{3, 4, 3}, {2, 4, 3}, {1, 4, 3}};
    constexpr int period_bits = 12;
    for (int bits = 1; bits <= 5; ++bits)
      for (int base = 0; base + 2 * bits <= period_bits; ++base)
        for (int shift = bits; base + bits + shift <= period_bits; ++shift)
          if (Swizzle const s{bits, base, shift}; std::find(out.begin(), out.end(), s) == out.end())
            out.push_back(s);
    return out;
  }();
  return all;
}

std::size_t modes_of(LaneForm const& form) { return form.layout.shape.leaf_count(); }

}  // namespace

/// Bytes from one lane to the next, for each bit of the lane; none for bits in which the lanes of a case never differ.
struct LaneLayout::Strides {
  std::array<std::optional<std::uint32_t>, lane_bits> of{};

  /// Modes of the layout: neighbouring bits are one if the next has twice the stride.
  [[nodiscard]] Layout layout() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> modes;
    for (unsigned b = 0; b < lane_bits && of[b]; ++b) {
      auto const stride = static_cast<std::int32_t>(*of[b]);
      if (!modes.empty() && std::int64_t{stride} == modes.back().first * modes.back().second)
        modes.back().first *= 2;
      else
        modes.emplace_back(2, stride);
    }
    std::vector<IntTuple> shape, stride;
    for (auto const& [extent, step] : modes) {
      shape.emplace_back(extent, false);
      stride.emplace_back(step, false);
    }
    if (modes.size() == 1) return {shape[0], stride[0]};
    return {IntTuple{std::move(shape)}, IntTuple{std::move(stride)}};
  }
};

void LaneLayout::add(std::array<std::uint64_t, 32> const& bytes, std::uint32_t lanes, unsigned zeros) {
  if (lanes == 0 || cases_.size() > most_cases) return;
  std::uint64_t const shared = bytes[static_cast<unsigned>(std::countr_zero(lanes))] & ~(longest_period - 1);
  Case one{lanes, std::min(zeros, static_cast<unsigned>(std::countr_zero(longest_period))), {}};
  for (unsigned l = 0; l < 32; ++l)
    if ((lanes >> l & 1) != 0) one.byte[l] = static_cast<std::uint32_t>(bytes[l] - shared);
  cases_.insert(one);
}

/// Strides with which all cases are layouts, after `plain`, which takes a swizzle away.
template <class Plain>
bool LaneLayout::find(Plain const& plain, Strides& into) const {
  into = {};
  auto const on = [](Case const& c, unsigned l) { return (c.lanes >> l & 1) != 0; };
  auto const open = [&] {
    return std::any_of(into.of.begin(), into.of.end(), [](auto const& stride) { return !stride; });
  };
  for (Case const& c : cases_)
    for (unsigned l = 0; l < 32 && open(); ++l)
      for (unsigned b = 0; b < lane_bits; ++b)
        if (unsigned const next = l | 1U << b; next != l && on(c, l) && on(c, next) && !into.of[b])
          into.of[b] = plain(c.byte[next]) - plain(c.byte[l]);
  bool gap = false;  // lanes are counted by the bits below it
  for (auto const& stride : into.of) {
    if (gap && stride) return false;
    gap = gap || !stride;
  }
  return std::all_of(cases_.begin(), cases_.end(), [&](Case const& c) {
    unsigned const first = static_cast<unsigned>(std::countr_zero(c.lanes));
    for (unsigned l = first; l < 32; ++l) {
      if (!on(c, l)) continue;
      std::uint32_t expected = plain(c.byte[first]);
      for (unsigned b = 0; b < lane_bits; ++b) {
        if (((l ^ first) >> b & 1) == 0) continue;
        if (!into.of[b]) return false;
        expected += (l >> b & 1) != 0 ? *into.of[b] : 0U - *into.of[b];
      }
      if (plain(c.byte[l]) != expected) return false;
    }
    return true;
  });
}

std::vector<LaneForm> LaneLayout::forms() const {
  if (cases_.empty() || cases_.size() > most_cases) return {};
  Strides strides;
  auto const plain = [](std::uint32_t x) { return x; };
  if (find(plain, strides) && !strides.of[0]) return {};
  if (find(plain, strides)) return {{std::nullopt, strides.layout()}};
  unsigned zeros = 32;
  for (Case const& c : cases_) zeros = std::min(zeros, c.zeros);
  std::vector<LaneForm> out;
  for (Swizzle const& s : swizzles())
    if (s.period() >> zeros <= 1 && find([&](std::uint32_t x) { return s(x); }, strides))
      out.push_back({s, strides.layout()});
  std::stable_sort(out.begin(), out.end(),
                   [](LaneForm const& a, LaneForm const& b) { return modes_of(a) < modes_of(b); });
  return out;
}

std::string to_string(LaneForm const& form) {
  std::string const layout = swizproof::to_string(form.layout);
  return form.swizzle ? layout + " under " + swizproof::to_string(*form.swizzle) : layout;
}

std::vector<std::optional<LaneForm>> common_forms(std::vector<std::vector<LaneForm>> accesses) {
  auto const of = [](std::vector<LaneForm> const& forms, Swizzle const& s) {
    return std::find_if(forms.begin(), forms.end(), [&](LaneForm const& f) { return f.swizzle == s; });
  };
  auto const swizzled = [](std::vector<LaneForm> const& forms) { return !forms.empty() && forms[0].swizzle; };
  std::optional<Swizzle> chosen;
  std::size_t fewest = ~std::size_t{0};
  for (Swizzle const& s : swizzles()) {
    std::size_t modes = 0;
    bool common = true;
    for (std::vector<LaneForm> const& forms : accesses) {
      if (!swizzled(forms)) continue;
      auto const form = of(forms, s);
      common = common && form != forms.end();
      if (common) modes += modes_of(*form);
    }
    if (common && modes < fewest) chosen = s, fewest = modes;
  }
  std::vector<std::optional<LaneForm>> out;
  for (std::vector<LaneForm> const& forms : accesses) {
    bool const one = swizzled(forms) && chosen;
    out.push_back(forms.empty() ? std::nullopt : std::optional(one ? *of(forms, *chosen) : forms[0]));
  }
  return out;
}

}  // namespace swizproof::kernel_detail
