#include "wavefront_bound.hpp"

#include "access_cost.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace swizproof::kernel_detail {

using execution::Lanes;
using execution::Warp;
using program::MemoryAccess;

namespace {

constexpr std::size_t most_parts = 64;

/// An address in the lanes: a number that is known, and one of a few parts in each lane.
struct LaneParts {
  LaneAddresses known{};
  std::set<std::uint64_t> parts{0};
};

/// Adds `factor` times the values of a term that may be any of a domain in each lane; false if they are too many.
bool add_domain(Warp& warp, Id term, std::uint64_t factor, LaneParts& to) {
  auto const domain = warp.domain(term, most_parts);
  if (!domain || to.parts.size() * domain->size() > most_parts) return false;
  std::set<std::uint64_t> sums;
  for (std::uint64_t const p : to.parts)
    for (std::uint64_t const x : *domain) sums.insert(p + factor * x);
  to.parts = std::move(sums);
  return true;
}

/// Adds up an address. Nothing if a part that all lanes share is not a whole number of words, or if parts are too many.
std::optional<LaneParts> parts_of(Terms const& terms, Warp& warp, Id address) {
  LaneParts out;
  std::vector<std::pair<Id, std::uint64_t>> work{{address, 1}};  // times a factor
  while (!work.empty()) {
    auto const [id, factor] = work.back();
    work.pop_back();
    Node const n = terms.nodes()[id];
    bool const by_constant = n.op == Op::bv_shl && terms.nodes()[n.b].op == Op::constant;
    Lanes const v = warp.value(id, 32);
    if (v.split()) {
      for (unsigned l = 0; l < 32; ++l) out.known[l] += factor * v.lane[l];
      for (auto const& [atom, f] : v.terms)  // words and banks rotate together
        if (static_cast<unsigned>(std::countr_zero(factor * f | 4)) + warp.trailing_zeros(atom) < 2)
          return std::nullopt;
    } else if (n.op == Op::bv_add) {
      work.insert(work.end(), {{n.a, factor}, {n.b, factor}});
    } else if (by_constant && terms.nodes()[n.b].value < 32) {
      work.emplace_back(n.a, factor << terms.nodes()[n.b].value);
    } else if (!add_domain(warp, id, factor, out)) {
      return std::nullopt;
    }
  }
  return out;
}

/// Wavefronts at most of loads and stores of up to 4 bytes, all aligned, where a part of the address may be any of a few values in each
/// lane: a bank has at most its lanes' words, and at most the words that any lane may access.
std::optional<unsigned> bound_of_few_values(ExecutedKernel const& kernel, Warp& warp, MemoryAccess const& m,
                                            Id address, std::uint32_t active) {
  std::uint64_t const bytes = m.instruction->bytes;
  Operation const operation = m.instruction->operation;
  bool const plain = operation == Operation::ld_shared || operation == Operation::st_shared;
  if (!plain || m.atomic || bytes > 4 || !same_law(*kernel.options.arch, sm_90)) return std::nullopt;
  auto const lanes_parts = parts_of(kernel.execution.terms, warp, address);
  if (!lanes_parts) return std::nullopt;
  std::array<std::set<std::uint64_t>, bank_count> words;
  std::array<std::uint32_t, bank_count> lanes{};
  for (unsigned l = 0; l < 32; ++l)
    for (std::uint64_t const p : lanes_parts->parts) {
      std::uint64_t const at = lanes_parts->known[l] + p & 0xffffffff, word = at / bank_bytes;
      if ((active >> l & 1) == 0) continue;
      if (at % bytes != 0) return std::nullopt;
      words[word % bank_count].insert(word), lanes[word % bank_count] |= 1U << l;
    }
  std::size_t fullest = 0;
  for (unsigned b = 0; b < bank_count; ++b)
    fullest = std::max(fullest, std::min<std::size_t>(words[b].size(), std::popcount(lanes[b])));
  return static_cast<unsigned>(fullest);
}

}  // namespace

std::optional<unsigned> bound_of_varying(ExecutedKernel const& kernel, Warp& warp, MemoryAccess const& access,
                                         Id address, std::uint32_t active) {
  auto const few = bound_of_few_values(kernel, warp, access, address, active);
  return few ? few : bound_of_banks(kernel, warp, access, address, active);
}

std::optional<unsigned> bound_of_banks(ExecutedKernel const& kernel, Warp& warp, MemoryAccess const& access,
                                       Id address, std::uint32_t active) {
  if (access.atomic || access.bypasses) return std::nullopt;
  auto const& banks = kernel.options.arch->banks;
  unsigned const line = banks.row();
  Lanes const v = warp.value(address, static_cast<unsigned>(std::countr_zero(line)));
  std::uint64_t const unit = std::max<std::uint64_t>(access.instruction->bytes, banks.bytes);
  bool const whole = std::all_of(v.terms.begin(), v.terms.end(), [&](auto const& term) {
    return static_cast<unsigned>(std::countr_zero(term.second)) + warp.trailing_zeros(term.first) >=
           static_cast<unsigned>(std::countr_zero(unit));
  });
  if (!v.split() || !whole) return std::nullopt;
  LaneAddresses at{};
  for (unsigned l = 0; l < 32; ++l) {
    at[l] = v.lane[l] % line + std::uint64_t{line} * l;
    if (at[l] % access.instruction->bytes != 0) return std::nullopt;
  }
  return cost_of(kernel.options, access, active, at).wavefronts;
}

}  // namespace swizproof::kernel_detail
