#include "race_data.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace swizproof::kernel_detail {

namespace {

constexpr std::uint32_t cut = ~0U;  ///< in place of the loads that are not kept

/// True for what orders accesses of threads, or ends a group of copies.
bool orders_accesses(ptx::Opcode const& op) {
  static constexpr std::string_view names[] = {"bar",   "barrier", "wgmma",    "shfl",  "vote",
                                               "redux", "match",   "mbarrier", "fence", "membar"};
  bool const groups = op.name == "cp" && (op.has("commit_group") || op.has("wait_group") ||
                                          op.has("wait_all") || op.has("mbarrier"));
  return groups || std::find(std::begin(names), std::end(names), op.name) != std::end(names);
}

bool stores(ptx::Opcode const& op) {
  return op.name == "st" || op.name == "red" || op.name == "atom" || op.name == "cp" ||
         op.name == "stmatrix" || op.name == "call" || op.name == "multimem" || op.name == "wmma";
}

}  // namespace

LoadSets::Set LoadSets::of(LoadedNumber const& load) {
  auto const [at, fresh] = known_.try_emplace(load, static_cast<std::uint32_t>(loads_.size()));
  if (fresh) loads_.push_back(load);
  return number_of({at->second});
}

LoadSets::Set LoadSets::join(Set a, Set b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  auto const [at, fresh] = joined_.try_emplace(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b), Set{0});
  if (!fresh) return at->second;
  std::vector<std::uint32_t> both;
  std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(),
                 std::back_inserter(both));
  if (both.size() > most) both.resize(most), both.back() = cut;
  return at->second = number_of(both);
}

LoadSets::Set LoadSets::number_of(std::vector<std::uint32_t> const& members) {
  auto const [at, fresh] = numbers_.try_emplace(members, static_cast<Set>(sets_.size()));
  if (fresh) sets_.push_back(members);
  return at->second;
}

std::vector<LoadedNumber> LoadSets::loads(Set set) const {
  std::vector<LoadedNumber> out;
  for (std::uint32_t const member : sets_[set])
    if (member != cut) out.push_back(loads_[member]);
  std::sort(out.begin(), out.end());
  return out;
}

bool LoadSets::is_cut(Set set) const { return !sets_[set].empty() && sets_[set].back() == cut; }

void LoadSets::clear() {
  loads_.clear(), known_.clear(), numbers_.clear(), joined_.clear();
  sets_.assign(1, {});
}

BranchRegions::BranchRegions(ptx::Function const& function, program::Program const& lowered)
    : function_(function), program_(lowered), flow_(program::flow_of(lowered)) {}

BranchRegion const& BranchRegions::behind(std::uint32_t block) {
  auto const [at, fresh] = known_.try_emplace(block);
  BranchRegion& out = at->second;
  if (!fresh) return out;
  out.until = flow_.ipdom[block];
  std::vector<bool> seen(program_.blocks.size(), false);
  std::vector<std::uint32_t> work = program::successors(program_.blocks[block]);
  while (!work.empty()) {
    std::uint32_t const b = work.back();
    work.pop_back();
    if (seen[b] || static_cast<std::int32_t>(b) == out.until) continue;
    seen[b] = true;
    add(b, out);
    for (std::uint32_t const next : program::successors(program_.blocks[b])) work.push_back(next);
  }
  return out;
}

void BranchRegions::add(std::uint32_t block, BranchRegion& to) const {
  for (std::uint32_t i = program_.blocks[block].first; i < program_.blocks[block].last; ++i)
    if (std::int32_t const d = program_.steps[i].dst; d >= 0)
      to.written.push_back(static_cast<std::uint32_t>(d));
  for (program::LoweredInstruction const& i : program_.instructions) {
    if (i.block != block) continue;
    ptx::Opcode const& op = function_.body[i.instruction].opcode;
    to.orders = to.orders || orders_accesses(op);
    to.barrier = to.barrier || op.name == "bar" || op.name == "barrier";
    to.stores = to.stores || stores(op);
  }
}

void DataDecisions::enter(ByData& at, std::uint32_t block, LoadSets::Set data) {
  at.by = sets.join(at.by, data);
  if (at.branch < 0) at.branch = static_cast<std::int32_t>(block);
  BranchRegion const& region = regions_.behind(block);
  if (region.stores) stored = sets.join(stored, at.by);
  if (region.barrier) passed = sets.join(passed, at.by);
  if (region.orders || region.until < 0) at.stay();
}

std::vector<std::uint32_t> const* DataDecisions::met(ByData const& at, std::uint32_t block) {
  if (at.branch < 0 || at.branch == ByData::never) return nullptr;
  BranchRegion const& region = regions_.behind(static_cast<std::uint32_t>(at.branch));
  return region.until == static_cast<std::int32_t>(block) ? &region.written : nullptr;
}

}  // namespace swizproof::kernel_detail
