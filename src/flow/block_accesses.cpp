#include "block_accesses.hpp"

#include <fmt/format.h>

namespace swizproof::flow_detail {

namespace {

std::uint64_t key_of(Written const& w) { return std::uint64_t{w.array} << 48 | w.element; }

std::uint64_t first_byte(FlowKernel const& kernel, Written const& w) {
  return (std::uint64_t{w.array} << array_shift) + w.element * (kernel.arrays[w.array].bits / 8);
}

}  // namespace

std::uint64_t address_of(FlowKernel const& kernel, Written const& w, BlockRun const& block) {
  std::uint64_t at = first_byte(kernel, w);
  while (block.global().find(at) == nullptr) ++at;
  return at;
}

void BlockAccesses::read(Written const& w, bool weak) {
  auto const note = [&](std::uint32_t& by) { by = by == 0 || by == now_ ? now_ : several; };
  Readers& readers = readers_[key_of(w)];
  note(readers.any);
  if (weak) note(readers.weak);
}

BlockAccesses::Writer BlockAccesses::writer(Written const& w, BlockRun const& block) const {
  Cell::Access const last = block.global().find(address_of(kernel_, w, block))->writer;
  Writer out{block.number_of(last.doer), now_, last.line, last.atomic != 0};
  std::uint64_t const first = first_byte(kernel_, w);
  for (std::uint64_t at = first; at < first + kernel_.arrays[w.array].bits / 8; ++at)
    if (Cell const* const c = block.global().known(at))
      out.weak_write = out.weak_write || c->weak_write, out.weak_read = out.weak_read || c->weak_read;
  return out;
}

/// barrier.cluster may order accesses of two blocks, where the size of the cluster is not given.
BlockAccesses::Conflict BlockAccesses::conflict(std::string text, Writer const& writer, bool race,
                                                char const* why) const {
  bool const clustered = kernel_.clustered && !kernel_.cluster_is_given;
  if (clustered) text += ": whether barrier.cluster orders them depends on the cluster: --cluster X,Y,Z";
  if (!clustered && !race) text += why;
  return {std::move(text), writer.number, writer.line, race && !clustered};
}

std::optional<BlockAccesses::Conflict> BlockAccesses::write(Written const& w, BlockRun const& block) {
  Writer const second = writer(w, block);
  auto const [at, fresh] = writers_.try_emplace(w, second);
  Writer& first = at->second;
  if (fresh) return std::nullopt;
  if (first.count == now_) {  // of another way of the block
    first.weak_write = first.weak_write || second.weak_write;
    first.weak_read = first.weak_read || second.weak_read;
    return std::nullopt;
  }
  bool const race = first.weak_write || first.weak_read || second.weak_write || second.weak_read;
  return conflict(
      fmt::format("{} is written by block {} and by block {}", kernel_.arrays[w.array].element(w.element),
                  fmt::join(first.number, ","), fmt::join(second.number, ",")),
      second, race,
      first.atomic && second.atomic ? ", both times by an atomic: sums over blocks are not followed"
                                    : ", by strong accesses: which value remains is not followed");
}

std::optional<BlockAccesses::Conflict> BlockAccesses::read_elsewhere() const {
  std::optional<Conflict> undecided;
  for (auto const& [w, by] : writers_) {
    auto const at = readers_.find(key_of(w));
    if (at == readers_.end() || at->second.any == by.count) continue;
    bool const weak_reader = at->second.weak != 0 && at->second.weak != by.count;
    Conflict out = conflict(
        fmt::format("{} is written by block {} and read by another block",
                    kernel_.arrays[w.array].element(w.element), fmt::join(by.number, ",")),
        by, by.weak_write || weak_reader, ", by strong accesses: which value it reads is not followed");
    if (out.race) return out;
    if (!undecided) undecided = std::move(out);
  }
  return undecided;
}

}  // namespace swizproof::flow_detail
