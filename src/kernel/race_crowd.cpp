#include "race_crowd.hpp"

#include <swizproof/program/step.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace swizproof::kernel_detail {

using execution::Leaf;
using program::Special;

namespace {

using Id = std::uint32_t;
using Number = std::optional<std::uint64_t>;

constexpr std::uint64_t no_lane = 32;
constexpr std::size_t warps_of_group = 4;

/// Numbers of terms in one thread.
class OfThread {
 public:
  /// `leader`: of its warp; nothing if it is not known.
  OfThread(program::Program const& program, execution::Execution const& execution, BlockShapes const& shapes,
           std::uint32_t thread, Number leader)
      : program_(program), execution_(execution), shapes_(shapes), thread_(thread), leader_(leader) {}

  Number of(Id id) {
    if (auto const at = memo_.find(id); at != memo_.end()) return at->second;
    memo_[id] = std::nullopt;
    return memo_[id] = compute(id);
  }

 private:
  Number compute(Id id) {
    Node const n = execution_.node(id);
    if (n.op == Op::variable) return leaf(*execution_.leaf_at(id), n.width);
    unsigned const count = operand_count(n.op);
    if (count == 0) return n.value;
    Number const a = of(n.a);
    if (n.op == Op::ite) return a ? of(*a != 0 ? n.b : n.c) : std::nullopt;
    Number const b = count > 1 ? of(n.b) : Number(0);
    bool const all = n.op == Op::conjunction || n.op == Op::bv_and || n.op == Op::bv_mul;
    if (all && ((a && *a == 0) || (b && *b == 0))) return 0;
    if (n.op == Op::disjunction && ((a && *a != 0) || (b && *b != 0))) return 1;
    if (!a || !b) return std::nullopt;
    return value_of(n, *a, *b);
  }

  Number leaf(Leaf const& l, unsigned width) {
    if (l.kind == Leaf::Kind::voted && elects(program_, l)) {
      Node const& mask = execution_.node(l.args[0]);
      return mask.op == Op::constant && mask.value == low_bits(32) ? leader_ : std::nullopt;
    }
    if (l.kind == Leaf::Kind::symbol && program_.symbols[l.extra].placed)
      return *program_.symbols[l.extra].placed & low_bits(width);
    if (l.kind == Leaf::Kind::shuffle) return first_lane(l);
    if (l.kind != Leaf::Kind::special || execution::is_uniform(l)) return std::nullopt;
    auto const s = static_cast<Special>(l.extra);
    bool const line = shapes_.dimensions == 1;
    if (s == Special::laneid && (shapes_.given || line)) return thread_ % 32;
    if (shapes_.given && s <= Special::ntid_z)
      return program::special_of(l.extra, {thread_, thread_ % 32, *shapes_.given, {1, 1, 1}, {}});
    if (s == Special::tid_x && line) return thread_;
    if ((s == Special::tid_y || s == Special::tid_z) && line) return 0;
    return std::nullopt;
  }

  /// The number that the first lane of the warp gives: each warp has it.
  Number first_lane(Leaf const& l) {
    bool const full = static_cast<program::Shuffle>(l.extra) == program::Shuffle::idx;
    Number const lane = of(l.args[1]), bounds = of(l.args[2]);
    if (!full || !lane || *lane != 0 || !bounds || *bounds != 31) return std::nullopt;
    return OfThread(program_, execution_, shapes_, thread_ / 32 * 32,
                    leader_ && *leader_ == no_lane ? std::nullopt : leader_)
        .of(l.args[0]);
  }

  program::Program const& program_;
  execution::Execution const& execution_;
  BlockShapes const& shapes_;
  std::uint32_t thread_;
  Number leader_;
  std::unordered_map<Id, Number> memo_{};
};

/// For each warp, how many of its threads may make one of the guards true; nothing if the threads of a block are not known.
std::optional<std::vector<std::uint64_t>> by_warp(program::Program const& program,
                                                  execution::Execution const& execution,
                                                  BlockShapes const& shapes, std::vector<Id> const& guards) {
  if (!shapes.given && shapes.dimensions != 1) return std::nullopt;
  std::uint32_t const threads = threads_of(shapes);
  std::vector<std::uint64_t> out;
  for (std::uint32_t first = 0; first < threads; first += 32) {
    std::uint64_t count = 0;
    bool elected = false;
    for (std::uint32_t t = first; t < std::min(first + 32, threads); ++t) {
      auto const may = [&](Number leader) {
        OfThread of(program, execution, shapes, t, leader);
        return std::any_of(guards.begin(), guards.end(), [&](Id g) {
          Number const truth = of.of(g);
          return !truth || *truth != 0;
        });
      };
      if (may(no_lane))
        ++count;
      else
        elected = elected || may(std::nullopt);
    }
    out.push_back(count + (elected ? 1 : 0));
  }
  return out;
}

/// True if each warpgroup with a thread that may make one of `guards` true has one that may make one of `others` true.
bool has_each_warpgroup(program::Program const& program, execution::Execution const& execution,
                        BlockShapes const& shapes, std::vector<Id> const& guards,
                        std::vector<Id> const& others) {
  auto const warps = by_warp(program, execution, shapes, guards);
  auto const there = by_warp(program, execution, shapes, others);
  if (!warps || !there) return false;
  for (std::size_t first = 0; first < warps->size(); first += warps_of_group) {
    std::uint64_t here = 0, other = 0;
    for (std::size_t w = first; w < std::min(first + warps_of_group, warps->size()); ++w)
      here += (*warps)[w], other += (*there)[w];
    if (here != 0 && other == 0) return false;
  }
  return true;
}

}  // namespace

std::uint32_t threads_of(BlockShapes const& shapes) {
  return shapes.given ? (*shapes.given)[0] * (*shapes.given)[1] * (*shapes.given)[2] : shapes.most;
}

std::uint64_t crowd_of(program::Program const& program, execution::Execution const& execution,
                       BlockShapes const& shapes, std::vector<Id> const& guards) {
  auto const warps = by_warp(program, execution, shapes, guards);
  return warps ? std::accumulate(warps->begin(), warps->end(), std::uint64_t{0}) : threads_of(shapes);
}

bool of_one_warp(program::Program const& program, execution::Execution const& execution,
                 BlockShapes const& shapes, std::vector<Id> const& guards) {
  auto const warps = by_warp(program, execution, shapes, guards);
  return warps &&
         std::count(warps->begin(), warps->end(), 0U) + 1 >= static_cast<std::ptrdiff_t>(warps->size());
}

std::string why_too_many(program::Program const& program, execution::Execution const& execution,
                         BlockShapes const& shapes, Rings::Crowd const& crowd, bool& of_warpgroups) {
  auto const guards_of = [&](std::set<std::uint32_t> const& accesses) {
    std::vector<Id> guards;
    for (std::uint32_t const a : accesses) guards.push_back(execution.accesses[a].guard);
    return guards;
  };
  std::set<std::uint32_t> all = crowd.accesses;
  all.insert(crowd.of_warpgroups.begin(), crowd.of_warpgroups.end());
  if (crowd_of(program, execution, shapes, guards_of(all)) <= crowd.count) return {};
  std::uint64_t const threads = crowd_of(program, execution, shapes, guards_of(crowd.accesses));
  if (threads > crowd.count)
    return fmt::format("{} threads may arrive at an mbarrier, or access its stage, that counts {}", threads,
                       crowd.count);
  of_warpgroups = true;
  if (threads == crowd.count && has_each_warpgroup(program, execution, shapes, guards_of(crowd.of_warpgroups),
                                                   guards_of(crowd.arrivals)))
    return {};
  return fmt::format(
      "no thread may arrive for a warpgroup whose wgmma reads a stage, or fewer threads than the {} that its "
      "mbarrier counts",
      crowd.count);
}

}  // namespace swizproof::kernel_detail
