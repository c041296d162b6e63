#include "tables.hpp"

#include <swizproof/engine/walk.hpp>

#include <vector>

namespace swizproof::execution {

std::optional<Id> Tables::value(Id address, unsigned bits, Id outside) {
  constexpr std::uint64_t most_numbers = 256;
  std::optional<Place> const place = place_of(address);
  std::uint64_t const unit = bits / 8;
  if (!place || bits % 8 != 0 || unit == 0 || place->content.size() < unit) return std::nullopt;
  std::uint64_t const end = place->content.size() / unit * unit;
  Node const offset = node(place->offset);
  if (graph_.is_constant(place->offset))
    return offset.value % unit == 0 && offset.value < end
               ? std::optional(chosen(*place, offset.value, offset.value + unit, bits))
               : std::nullopt;
  if (end / unit > most_numbers || !depends_on_lane(place->offset)) return std::nullopt;
  Id const within = graph_.add(Op::ult, 0, place->offset, graph_.constant(offset.width, end));
  return graph_.add(
      {Op::ite, static_cast<std::uint8_t>(bits), within, chosen(*place, 0, end, bits), outside});
}

/// The summands of an address: one is that of an array.
std::optional<Tables::Place> Tables::place_of(Id address) {
  constexpr std::size_t most_summands = 16;
  std::vector<Id> summands{address};
  unsigned const width = graph_.width(address);
  std::optional<Place> out;
  Id rest = graph_.constant(width, 0);
  for (std::size_t i = 0; i < summands.size(); ++i) {
    Node const n = node(summands[i]);
    if (summands.size() > most_summands) return std::nullopt;
    if (n.op == Op::bv_add) {
      summands.insert(summands.end(), {n.a, n.b});
      continue;
    }
    Leaf const* const leaf = graph_.leaf_at(summands[i]);
    bool const array =
        leaf != nullptr && leaf->kind == Leaf::Kind::symbol && !program_.symbols[leaf->extra].content.empty();
    if (array && out) return std::nullopt;
    if (array)
      out = Place{program_.symbols[leaf->extra].content, 0};
    else
      rest = arithmetic_.sum(width, rest, summands[i]);
  }
  if (out) out->offset = rest;
  return out;
}

bool Tables::depends_on_lane(Id id) const {
  constexpr std::size_t most_nodes = 200;
  Walk walk(id, most_nodes);
  while (auto const at = walk.next()) {
    Leaf const* const leaf = graph_.leaf_at(*at);
    if (leaf != nullptr && leaf->kind == Leaf::Kind::special &&
        (leaf->extra <= static_cast<std::uint32_t>(Special::tid_z) ||
         leaf->extra == static_cast<std::uint32_t>(Special::laneid)))
      return true;
    walk.add(operands(node(*at)));
  }
  return false;
}

Id Tables::chosen(Place const& place, std::uint64_t from, std::uint64_t to, unsigned bits) {
  std::uint64_t const unit = bits / 8, middle = from + (to - from) / unit / 2 * unit;
  if (middle == from) {
    std::uint64_t number = 0;
    for (unsigned i = 0; i < unit; ++i) number |= std::uint64_t{place.content[from + i]} << 8 * i;
    return graph_.constant(bits, number);
  }
  Id const low = chosen(place, from, middle, bits), high = chosen(place, middle, to, bits);
  if (low == high) return low;
  Id const below = graph_.add(Op::ult, 0, place.offset, graph_.constant(graph_.width(place.offset), middle));
  return graph_.add({Op::ite, static_cast<std::uint8_t>(bits), below, low, high});
}

}  // namespace swizproof::execution
