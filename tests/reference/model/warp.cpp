#include "reference/model/warp.hpp"

#include <algorithm>

namespace reference {
namespace {

std::vector<Instruction> all_instructions() {
  std::vector<Instruction> all;
  for (int width : {1, 2, 4, 8, 16}) {
    auto const b = ".b" + std::to_string(8 * width);
    all.push_back({Instruction::load, width, 0, "ld.shared" + b});
    all.push_back({Instruction::store, width, 0, "st.shared" + b});
    if (width >= 4) all.push_back({Instruction::async, width, 0, "cp.async" + b});
  }
  for (int n : {1, 2, 4})
    for (auto trans : {"", ".trans"}) {
      auto const x = ".x" + std::to_string(n) + trans;
      all.push_back({Instruction::ldmatrix, 16, n, "ldmatrix" + x});
      all.push_back({Instruction::stmatrix, 16, n, "stmatrix" + x});
    }
  return all;
}

// True if every active lane with an active partner has the partner's address.
bool pairs(Warp const& warp, int mask) {
  for (int l = 0; l < 32; ++l)
    if (warp[l] && warp[l ^ mask] && *warp[l] != *warp[l ^ mask]) return false;
  return true;
}

}  // namespace

std::vector<Instruction> const& instructions() {
  static auto const all = all_instructions();
  return all;
}

Instruction const& instruction(std::string const& name) {
  for (auto const& op : instructions())
    if (op.name == name) return op;
  throw std::logic_error("no instruction " + name);
}

Cost cost(Instruction const& op, Warp const& warp, bool meetings) {
  Cost c;
  int const served = op.width == 16 ? 8 : op.width == 8 ? 16 : 32;
  c.merged = op.kind == Instruction::load && op.width >= 8 && (pairs(warp, 1) || pairs(warp, 2));
  int const group = c.group_lanes = op.is_matrix() ? 8 : c.merged ? 2 * served : served;
  int const used = op.is_matrix() ? 8 * op.matrices : 32;
  int sum = 0;
  for (int first = 0; first < used; first += group) {
    // Lanes that each bank serves, and their words: one lane a word; with cp.async every lane.
    std::vector<std::pair<int, long long>> banks[32];
    for (int l = first; l < first + group; ++l) {
      if (!warp[l]) continue;
      for (auto w = floor_div(*warp[l], 4); w <= floor_div(*warp[l] + op.width - 1, 4); ++w) {
        auto& bank = banks[((w % 32) + 32) % 32];
        auto const same =
            std::find_if(bank.begin(), bank.end(), [w](auto const& b) { return b.second == w; });
        if (op.kind == Instruction::async || same == bank.end()) bank.emplace_back(l, w);
      }
    }
    std::size_t degree = 0;
    for (int b = 0; b < 32; ++b) {
      degree = std::max(degree, banks[b].size());
      if (meetings && banks[b].size() > 1) c.meetings.push_back({first / group, b, banks[b]});
    }
    c.degree.push_back(static_cast<int>(degree));
    sum += static_cast<int>(degree);
  }
  if (op.is_matrix())
    c.wavefronts = sum;
  else if (op.kind == Instruction::async)
    c.wavefronts = std::max(sum, 1);
  else
    c.wavefronts = std::max(sum, 32 / group);
  return c;
}

std::vector<Origin> origins(Access const& access, Tile const*) {
  std::vector<Origin> all{{}};
  for (auto const& range : access.ranges) {
    std::vector<Origin> longer;
    for (auto const& origin : all)
      for (auto v = range.first; v <= range.last; v += range.step) {
        auto next = origin;
        next[range.name] = v;
        longer.push_back(next);
      }
    all = longer;
  }
  return all;
}

namespace {

void misfit(Shot& shot, int lane, std::string why) {
  shot.bad[static_cast<std::size_t>(lane)] = why;
  if (!shot.fit.fits) return;
  shot.fit = {false, false, lane, std::move(why)};
}

// The elements of a lane must lie side by side from an address that the instruction takes.
void touch(Shot& shot, Access const& access, Tile const& tile, int lane,
           std::vector<std::vector<long long>> const& runs, long long base) {
  std::string why = "elements not side by side";
  for (auto const& run : runs) {
    auto const start = tile.place(run[0], 0, base);
    bool together = true;
    long long bits = 0;
    std::vector<std::pair<long long, int>> bytes;
    for (auto const element : run)
      for (int bit = 0; bit < tile.bits && bits < access.op.width * 8; bit += std::min(8, tile.bits)) {
        together = together && tile.place(element, bit, base) == start + bits;
        bytes.emplace_back(element, bit / 8);
        bits += std::min(8, tile.bits);
      }
    if (!together) {
      why = "elements not side by side";
      continue;
    }
    if (start % 8 != 0 || (start / 8) % access.op.width != 0) {
      why = "misaligned";
      shot.warp[lane] = floor_div(start, 8);
      continue;
    }
    shot.warp[lane] = start / 8;
    shot.bytes.insert(shot.bytes.end(), bytes.begin(), bytes.end());
    return;
  }
  misfit(shot, lane, why);
}

// The byte address of an access by raw address, under a bare swizzle or without.
void shoot_address(Shot& shot, Access const& access, Swizzle const* bare, Origin const& values, int lane,
                   long long base) {
  auto const width = access.op.width;
  auto const asked = base + access.coordinate[0](values);
  auto const address = bare ? (*bare)(asked) : asked;
  shot.warp[lane] = address;
  if (address % width != 0) misfit(shot, lane, "misaligned");
  if (bare && (*bare)(asked + width - 1) != address + width - 1)
    misfit(shot, lane, "elements not side by side");
}

// Addresses that the thread of a lane accesses, by its thread-value layout.
void shoot_thread_value(Shot& shot, Access const& access, Tile const& tile, Origin const& values, int lane,
                        int count, long long base) {
  auto const& tv = access.tv;
  auto const thread = values.at("warp") * 32 + lane;
  if (thread >= tv.layout.modes[0].size()) {
    if (access.op.is_matrix()) misfit(shot, lane, "no thread for this lane");
    return;
  }
  std::vector<long long> run;
  for (int k = 0; k < count; ++k) {
    auto const value = values.at("instruction") * count + k;
    auto const index = tv.layout.modes[0].at(thread) + tv.layout.modes[1].at(value);
    std::vector<long long> at{index % tv.rows + values.at("tile 0") * tv.rows,
                              index / tv.rows + values.at("tile 1") * tv.cols};
    if (k == 0) shot.coordinate[lane] = at;
    if (index < 0 || index >= tv.rows * tv.cols)
      misfit(shot, lane, "outside its own tile");
    else
      run.push_back(tile.index(at));
  }
  if (run.size() == static_cast<std::size_t>(count)) touch(shot, access, tile, lane, {run}, base);
}

// Vectors of `count` elements from a coordinate on: along each mode whose elements are neighbours in the layout, before
// any swizzle.
std::vector<std::vector<long long>> runs_from(std::vector<long long> const& at, Tile const& tile, int count) {
  std::vector<std::vector<long long>> runs;
  for (std::size_t m = at.size(); m-- > 0;) {
    if (at[m] + count > tile.extent(m)) continue;
    std::vector<long long> run;
    auto next = at;
    bool neighbours = true;
    for (int k = 0; k < count; ++k, ++next[m]) {
      run.push_back(tile.index(next));
      neighbours = neighbours && tile.inner.at(run.back()) == tile.inner.at(run.front()) + k;
    }
    if (neighbours) runs.push_back(run);
  }
  return runs;
}

// Addresses that a lane accesses by coordinate or by index.
void shoot_place(Shot& shot, Access const& access, Tile const& tile, Origin const& values, int lane,
                 int count, long long base) {
  std::vector<long long> at;
  for (auto const& e : access.coordinate) at.push_back(e(values));
  if (access.form == Access::plain_index) {
    if (at[0] < 0 || at[0] >= tile.size()) {
      shot.coordinate[lane] = {at[0]};
      return misfit(shot, lane, "outside the tile");
    }
    at = tile.coordinate(at[0]);
  }
  shot.coordinate[lane] = at;
  for (std::size_t m = 0; m < at.size(); ++m)
    if (at[m] < 0 || at[m] >= tile.extent(m)) return misfit(shot, lane, "outside the tile");
  touch(shot, access, tile, lane, runs_from(at, tile, count), base);
}

}  // namespace

Shot shoot(Access const& access, Tile const* tile, Swizzle const* bare, Origin const& origin,
           long long base) {
  Shot shot;
  auto const& op = access.op;
  int const count = tile ? static_cast<int>(std::max(1, op.width * 8 / tile->bits)) : 1;
  for (int lane = 0; lane < op.lanes(); ++lane) {
    auto values = origin;
    values["lane"] = lane;
    if (access.condition && (*access.condition)(values) == 0) continue;
    if (access.form == Access::address)
      shoot_address(shot, access, bare, values, lane, base);
    else if (access.form == Access::thread_value)
      shoot_thread_value(shot, access, *tile, values, lane, count, base);
    else
      shoot_place(shot, access, *tile, values, lane, count, base);
  }
  return shot;
}

}  // namespace reference
