// The instructions of an access, one by one: the address of each lane, with the swizzle and without.
#include "picture/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof {

namespace {

constexpr std::uint64_t most_tried = std::uint64_t{1} << 18;

Access const& drawable(Access const& access) {
  if (std::holds_alternative<RawAddress>(access.where))
    throw InputError::whole("an access by address has no coordinates to draw", access.name,
                            "write row = ..., col = ... ; 'swizproof check' takes addresses");
  return access;
}

/// The tile that a pattern of row and byte takes.
std::string footprint_hint(Access const& access) {
  auto const* pattern = std::get_if<RowAndByte>(&access.where);
  if (pattern == nullptr) return {};
  return fmt::format("; {} takes {} rows of {} bytes ('swizproof accesses' lists others)", access.name,
                     pattern->rows, pattern->row_bytes);
}

}  // namespace

Shots::Shots(Map const& map, Access const& access, std::uint64_t base)
    : given_(map, drawable(access)),
      plain_(without_swizzle(map), access),
      base_(base),
      fixed_(variables().size()) {}

void Shots::set(std::string_view name, std::uint64_t value) {
  std::string known;
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    Variable const& v = variables()[i];
    known += fmt::format("{}{} = {}", i == 0 ? "" : "; ", v.name, v.first);
    if (v.count > 1) known += fmt::format(", {} .. {}", v.first + v.step, v.value(v.count - 1));
    if (v.name != name) continue;
    bool const reached =
        value >= v.first && (value - v.first) % v.step == 0 && (value - v.first) / v.step < v.count;
    if (!reached) break;
    fixed_[i] = value;
    return;
  }
  std::string const text = fmt::format("{}={}", name, value);
  throw InputError::whole(fmt::format("{} has no {} = {}", given_.access().name, name, value), text,
                          known.empty() ? "this access has no variables" : "variables: " + known);
}

std::uint64_t Shots::count() const {
  std::uint64_t all = 1;
  for (std::size_t i = 0; i < fixed_.size(); ++i)
    if (!fixed_[i] && (__builtin_mul_overflow(all, variables()[i].count, &all) || all >> 63 != 0))
      return std::uint64_t{1} << 63;
  return all;
}

std::vector<std::uint64_t> Shots::values(std::uint64_t i) const {
  std::vector<std::uint64_t> values(fixed_.size());
  for (std::size_t v = fixed_.size(); v-- > 0;) {
    values[v] = fixed_[v].value_or(variables()[v].value(i % variables()[v].count));
    if (!fixed_[v]) i /= variables()[v].count;
  }
  return values;
}

Shot Shots::at(std::uint64_t i) const {
  std::vector<std::uint64_t> const assigned = values(i);
  std::span<std::uint64_t const> const all(assigned);
  Shot shot;
  for (std::size_t v = 0; v < assigned.size(); ++v)
    shot.variables.emplace_back(variables()[v].name, assigned[v]);
  Layout const& tile = *given_.map().domain();
  auto const rows = static_cast<std::uint64_t>(tile.rank() < 2 ? 1 : tile.shape.mode(0).product());
  for (unsigned l = 0; l < warp_lanes; ++l) {
    auto const place = given_.lane(all, std::uint64_t{l});
    if (!place.active) continue;
    if (!given_.starts_inside(place)) {
      std::string const& name = given_.access().name;
      throw InputError::whole(
          fmt::format("lane {} lies outside the tile for {}", l, describe(shot)), name,
          "the tile has the shape " + to_string(tile.shape) + footprint_hint(given_.access()));
    }
    // The first index is the row, the others are digits of the column; a single one is CuTe's plain index.
    std::uint64_t row = place.element->coordinate[0] % rows, col = place.element->coordinate[0] / rows,
                  step = 1;
    for (std::size_t m = 1; m < place.element->coordinate.size(); ++m) {
      col += step * place.element->coordinate[m];
      step *= static_cast<std::uint64_t>(tile.shape.mode(m).product());
    }
    auto const plain = plain_.address(plain_.lane(all, std::uint64_t{l}), base_);
    shot.lane[l] =
        LaneSpot{static_cast<std::int64_t>(row), static_cast<std::int64_t>(col),
                 static_cast<std::int64_t>(plain), static_cast<std::int64_t>(given_.address(place, base_))};
    // A swizzle that splits lanes is drawn as such; an access that is misaligned without one is a mistake.
    if (plain % given_.instruction().bytes != 0) {
      std::string const& name = given_.access().name;
      throw InputError::whole(
          fmt::format("lane {} accesses byte {} for {}: not a multiple of the {} bytes that it takes", l,
                      plain, describe(shot), given_.instruction().bytes),
          name);
    }
  }
  return shot;
}

Shot Shots::worst(Architecture const& arch) const {
  if (count() > most_tried)
    throw InputError::whole(
        fmt::format("{} has more than 2^18 instructions to choose from", given_.access().name),
        given_.access().name, "choose with --set NAME=VALUE");
  // Lanes whose bytes a swizzle takes apart are worse than any cost: it does not apply to them.
  auto const apart = [&](Shot const& shot) {
    return std::any_of(shot.lane.begin(), shot.lane.end(), [&](std::optional<LaneSpot> const& spot) {
      return spot && spot->swizzled % given_.instruction().bytes != 0;
    });
  };
  Shot worst = at(0);
  std::uint32_t most = 0;
  for (std::uint64_t i = 0; i < count(); ++i) {
    Shot shot = at(i);
    if (apart(shot)) return shot;
    std::uint32_t const waves = cost(arch, given_.instruction(), shot.warp(&LaneSpot::swizzled)).wavefronts;
    if (waves > most) most = waves, worst = std::move(shot);
  }
  return worst;
}

}  // namespace swizproof
