#include "operand_start.hpp"

#include "address_text.hpp"
#include "known_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace swizproof::kernel_detail {

using execution::Lanes;
using execution::Warp;

void OperandStart::find_shifted() {
  if (!is_descriptor_) return;
  Walk walk(term_);
  while (auto const at = walk.next()) {
    Node const n = node(*at);
    std::uint32_t symbol = 0;
    bool const shift = n.op == Op::bv_lshr && node(n.b).op == Op::constant;
    if (shift && node(n.b).value == 4 && kernel_.origins.root_of(n.a, symbol) == Origins::Root::shared) {
      if (std::find(shifted_.begin(), shifted_.end(), n.a) == shifted_.end()) shifted_.push_back(n.a);
      shift_node_ = *at;
    } else {
      kernel_.origins.add_summands(*at, walk);
      if (auto const* const phi = kernel_.execution.phi_at(*at)) walk.add(phi->back);
      auto const* const leaf = kernel_.execution.leaf_at(*at);
      shuffled_ = shuffled_ || (leaf != nullptr && leaf->kind == execution::Leaf::Kind::shuffle);
    }
  }
}

std::string OperandStart::text() {
  auto const text = [&](Id id) { return text_of_term(kernel_.program, kernel_.execution, id); };
  if (!is_descriptor_) return text(term_);
  if (shifted_.size() != 1) return fmt::format("({}) % 16384 * 16", text(term_));
  Warp& warp = kernel_.warps.plain(0);
  Lanes const whole = warp.value(term_, start_bits), part = warp.value(shift_node_, start_bits);
  std::string out = text(shifted_[0]);
  by_number_ = whole.split() && part.split();
  if (!by_number_) return out + " + ..";
  for (auto const& [atom, factor] : whole.terms)
    if (std::find(part.terms.begin(), part.terms.end(), std::pair(atom, factor)) == part.terms.end())
      out += fmt::format(" + {} * {}", 16 * (factor & start_mask), text(atom)), by_number_ = false;
  advance_ = 16 * (whole.lane[0] - part.lane[0] & start_mask);
  return out + (advance_ == 0 ? "" : fmt::format(" + {}", advance_));
}

std::optional<std::uint64_t> OperandStart::constant_part() {
  Warp& warp = kernel_.warps.plain(0);
  if (is_descriptor_ && shifted_.size() != 1) return std::nullopt;
  Lanes const v = warp.value(is_descriptor_ ? shifted_[0] : term_, window_bits);
  if (!v.uniform()) return std::nullopt;
  return v.lane[0] + advance_;
}

}  // namespace swizproof::kernel_detail
