#include "arrays.hpp"

#include "address_text.hpp"

#include <algorithm>
#include <set>

namespace swizproof::kernel_detail {

namespace {

std::uint64_t saved(std::vector<Fix> const& fixes) {
  std::uint64_t sum = 0;
  for (Fix const& f : fixes) sum += f.before - f.after();
  return sum;
}

/// One fix of all, unless those of regions save more; none where nothing is saved.
std::vector<Fix> best_fixes(std::vector<WeightedAccess> executions, Architecture const& arch, unsigned whole,
                            DescriptorUse use) {
  std::vector<Fix> best = fixes_of(executions, arch, whole, use);
  std::uint64_t all = 0;
  for (WeightedAccess& a : executions) {
    all += a.executed * cost(arch, a.instruction, a.access).wavefronts;
    a.pc = 0;  // of one region
  }
  if (best.size() != 1 || best.front().before != all)  // else one region has all accesses
    if (std::vector<Fix> one = fixes_of(executions, arch, whole, use); saved(one) >= saved(best))
      best = std::move(one);
  std::erase_if(best, [](Fix const& f) { return f.after() == f.before; });
  return best;
}

}  // namespace

void Arrays::add(std::size_t index, std::uint32_t symbol, KernelAccess const& access) {
  unsigned const bytes = access.instruction ? access.instruction->bytes : 16;
  bool const is_refuted = access.verdict == KernelVerdict::refuted && access.reason.empty();
  accesses_.push_back({index,
                       symbol,
                       access.instruction,
                       bytes,
                       access.ptx_line,
                       access.atomic,
                       is_refuted,
                       access.wavefronts.value_or(0),
                       {access.file, access.line}});
  bool& refuted = refuted_[symbol];
  refuted = refuted || is_refuted;
}

std::vector<ArrayAccess> Arrays::to_search() const {
  std::vector<ArrayAccess> out;
  for (ArrayAccess const& a : accesses_)
    if (a.instruction && !a.atomic && !bypasses(a) && refuted_.at(a.symbol) && !has_tiles(a.symbol))
      out.push_back(a);
  return out;
}

bool Arrays::bypasses(ArrayAccess const& access) const { return program_.accesses[access.index].bypasses; }

bool Arrays::has_tiles(std::uint32_t symbol) const {
  return std::any_of(accesses_.begin(), accesses_.end(), [&](ArrayAccess const& a) {
    return a.symbol == symbol && program_.accesses[a.index].of_tile;
  });
}

bool Arrays::add_execution(ArrayAccess const& access, Id start, std::array<std::uint64_t, 32> const& lanes,
                           std::uint64_t moved, std::uint32_t active) {
  Instruction const& instruction = *access.instruction;
  WeightedAccess one{instruction, {}, 0, access.index};
  std::array<std::uint32_t, 33> key{};
  for (unsigned l = 0; l < instruction.lanes(); ++l) {
    one.access.active[l] = instruction.matrices != 0 || (active >> l & 1) != 0;
    if (!one.access.active[l]) continue;
    auto const at = static_cast<std::uint32_t>(lanes[l] + moved);
    if (at % instruction.bytes != 0 || at >= most_bytes) return false;
    one.access.address[l] = key[l] = at;
    key[32] |= 1U << l;
  }
  Patterns& patterns = arrays_[{access.symbol, start}];
  ++patterns.try_emplace({access.index, key}, one).first->second.executed;
  return patterns.size() <= most_patterns;
}

void Arrays::join(ArrayAccess const& vector, std::span<ArrayAccess const> members) {
  for (ArrayAccess const& a : members) joined_[a.index] = vector.index;
  vectors_.push_back({vector, {members.begin(), members.end()}});
}

void Arrays::exclude(std::uint32_t symbol, std::string reason) {
  excluded_.try_emplace(memory_of(symbol), std::move(reason));
}

std::uint32_t Arrays::memory_of(std::uint32_t symbol) const {
  return program_.symbols[symbol].extern_array ? ~0U : symbol;
}

std::string Arrays::why_excluded(std::uint32_t symbol) const {
  if (auto const found = excluded_.find(memory_of(symbol)); found != excluded_.end()) return found->second;
  auto const other = std::find_if(accesses_.begin(), accesses_.end(), [&](ArrayAccess const& a) {
    return a.symbol != symbol && memory_of(a.symbol) == memory_of(symbol);
  });
  if (other == accesses_.end()) return {};
  return "its memory is also that of " + short_name(program_.symbols[other->symbol].name);
}

void Arrays::leave_out(ArrayAccess const& access, std::string reason) {
  reasons_[access.index] = std::move(reason);
  for (auto& [key, patterns] : arrays_)
    patterns.erase(patterns.lower_bound({access.index, {}}), patterns.lower_bound({access.index + 1, {}}));
}

std::vector<KernelFix> Arrays::fixes(Architecture const& arch) const {
  std::vector<KernelFix> out;
  for (auto const& [key, patterns] : arrays_) {
    auto const& [symbol, start] = key;
    if (!why_excluded(symbol).empty()) continue;
    KernelFix one{
        short_name(program_.symbols[symbol].name), text_of_term(program_, execution_, start), {}, 0, 0, {}};
    std::vector<WeightedAccess> executions;
    std::set<std::size_t> searched;
    for (auto const& [pattern, access] : patterns) {
      executions.push_back(access);
      one.executions += access.executed;
      searched.insert(pattern.first);
    }
    unsigned whole = operands_.count(symbol) != 0 ? 16 : 1;
    for (ArrayAccess const& a : accesses_) {
      if (a.symbol != symbol) continue;
      ++one.accesses;
      auto const vector = joined_.find(a.index);
      if (searched.count(vector != joined_.end() ? vector->second : a.index) != 0) continue;
      one.left_out.push_back(a.ptx_line);
      whole = std::max(whole, a.bytes);
    }
    bool const copied =
        std::any_of(accesses_.begin(), accesses_.end(),
                    [&, of = symbol](ArrayAccess const& a) { return a.symbol == of && bypasses(a); });
    DescriptorUse use = copied ? DescriptorUse::copied : DescriptorUse::none;
    for (auto const& [array, how] : descriptors_)
      if (array.empty() || array == one.array) use = std::max(use, how);
    one.fixes = best_fixes(std::move(executions), arch, whole, use);
    if (one.fixes.empty()) continue;
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<KernelUnfixed> Arrays::unfixed(std::vector<KernelFix> const& fixes,
                                           std::vector<KernelVector> const& vectors) const {
  std::vector<KernelUnfixed> out;
  auto const is_of = [](std::string const& array) {
    return [&](auto const& one) { return one.array == array; };
  };
  for (ArrayAccess const& a : accesses_) {
    std::string const array = short_name(program_.symbols[a.symbol].name);
    if (!a.refuted || std::any_of(fixes.begin(), fixes.end(), is_of(array)) ||
        std::any_of(vectors.begin(), vectors.end(), is_of(array)) ||
        std::any_of(out.begin(), out.end(), is_of(array)))
      continue;
    auto const why = reasons_.find(a.index);
    std::string const excluded = why_excluded(a.symbol);
    std::string reason =
        !excluded.empty() ? excluded
        : a.atomic        ? "atomics have no fix"
        : bypasses(a)     ? "its cost is one of source and destination (H22), and no fix is searched for it"
        : has_tiles(a.symbol)   ? "all lines of a wmma tile have one stride: try a longer one"
        : why != reasons_.end() ? why->second
                                : "no swizzle and no padding that was searched saves a wavefront";
    out.push_back({array, std::move(reason)});
  }
  return out;
}

unsigned Arrays::most_of(ArrayAccess const& access, Architecture const& arch) const {
  unsigned most = 0;
  for (auto const& [key, patterns] : arrays_)
    for (auto const& [pattern, one] : patterns)
      if (pattern.first == access.index)
        most = std::max(most, cost(arch, *access.instruction, one.access).wavefronts);
  return most;
}

std::vector<KernelVector> Arrays::vectors(Architecture const& arch) const {
  std::vector<KernelVector> out;
  for (auto const& [access, members] : vectors_) {
    KernelVector one{
        short_name(program_.symbols[access.symbol].name), *access.instruction, {}, access.source};
    bool refuted = false;
    for (ArrayAccess const& a : members) {
      one.ptx_lines.push_back(a.ptx_line);
      one.before += a.wavefronts;
      refuted = refuted || a.refuted;
    }
    one.after = most_of(access, arch);
    if (refuted && one.after < one.before) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace swizproof::kernel_detail
