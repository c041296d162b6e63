#include "operand_address.hpp"

#include "address_text.hpp"
#include "known_bits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::kernel_detail {

using execution::Lanes;
using execution::Warp;

OperandAddress::OperandAddress(ExecutedKernel& kernel, program::SharedOperand const& operand,
                               execution::ExecutedAccess const& done)
    : kernel_(kernel), operand_(operand), address_(done.address), root_(Origins::Root::none) {
  if (!done.reached) return;
  root_ = kernel_.origins.root_of(address_, symbol_);
  if (root_ != Origins::Root::shared) symbol_ = ~0U;
  if (symbol_ == ~0U) return;
  base_ = kernel_.origins.node_of_symbol(symbol_);
  align_ = std::max<std::uint64_t>(array()->align, 1);
  find_shifted();
}

program::Variable const* OperandAddress::array() const {
  return symbol_ == ~0U ? nullptr : &kernel_.program.symbols[symbol_];
}

void OperandAddress::find_shifted() {
  if (!operand_.is_descriptor()) return;
  Walk walk(address_);
  while (auto const at = walk.next()) {
    Node const n = node(*at);
    std::uint32_t symbol = 0;
    bool const shift = n.op == Op::bv_lshr && node(n.b).op == Op::constant;
    if (shift && node(n.b).value == 4 && kernel_.origins.root_of(n.a, symbol) == Origins::Root::shared) {
      if (std::find(shifted_.begin(), shifted_.end(), n.a) == shifted_.end()) shifted_.push_back(n.a);
      shift_node_ = *at;
    } else {
      kernel_.origins.add_summands(*at, walk);
    }
  }
}

std::string OperandAddress::text() {
  auto const text = [&](Id id) { return text_of_term(kernel_.program, kernel_.execution, id); };
  if (!operand_.is_descriptor()) return text(address_);
  if (shifted_.size() != 1) return fmt::format("({}) % 16384 * 16", text(address_));
  Warp& warp = kernel_.warps.plain(0);
  Lanes const whole = warp.value(address_, start_bits), part = warp.value(shift_node_, start_bits);
  std::string out = text(shifted_[0]);
  if (!whole.split() || !part.split()) return out + " + ..";
  for (auto const& [atom, factor] : whole.terms)
    if (std::find(part.terms.begin(), part.terms.end(), std::pair(atom, factor)) == part.terms.end())
      out += fmt::format(" + {} * {}", 16 * (factor & start_mask), text(atom));
  advance_ = 16 * (whole.lane[0] - part.lane[0] & start_mask);
  return out + (advance_ == 0 ? "" : fmt::format(" + {}", advance_));
}

std::optional<std::uint64_t> OperandAddress::constant_part() {
  if (operand_.is_descriptor() && shifted_.size() != 1) return std::nullopt;
  Id const whole = operand_.is_descriptor() ? shifted_[0] : address_;
  Lanes const v = kernel_.warps.plain(0).value(whole, window_bits);
  if (!v.uniform()) return std::nullopt;
  return v.lane[0] + advance_;
}

std::uint64_t OperandAddress::slope(Id atom, std::uint64_t factor) const {
  if (base_ == 0) return 0;
  if (atom == base_) return factor;
  Node const n = node(atom);
  if (n.op != Op::bv_lshr || n.a != base_ || node(n.b).op != Op::constant) return 0;
  std::uint64_t const k = node(n.b).value;
  return k < period_bits && align_ % (std::uint64_t{1} << k) == 0 && factor % (std::uint64_t{1} << k) == 0
             ? factor >> k
             : 0;
}

bool OperandAddress::depends_on_base(Id id) {
  if (base_ == 0) return false;
  auto const [memo, fresh] = moved_by_base_.try_emplace(id, false);
  if (!fresh) return memo->second;
  std::vector<Id> const leaves = kernel_.origins.leaves_of({id});
  return memo->second = std::find(leaves.begin(), leaves.end(), base_) != leaves.end();
}

}  // namespace swizproof::kernel_detail
