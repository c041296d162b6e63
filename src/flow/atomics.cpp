// Atomic operations on shared and global memory [PTX ISA, Parallel Synchronization and Communication Instructions, atom and red].
#include "execute.hpp"
#include "real_numbers.hpp"
#include "windows.hpp"

#include <swizproof/program/step.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace swizproof::flow_detail {

namespace {

using program::Action;
using program::Space;

/// Operation of an opcode; empty if it is none that is executed.
std::string_view operation_of(Decoded const& d) {
  constexpr std::string_view all[] = {"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"};
  for (std::string_view const op : all)
    if (d.has(op)) return op;
  return {};
}

/// Result of min, max, inc and dec on numbers.
std::uint64_t result(std::string_view op, program::Type type, std::uint64_t old, std::uint64_t b) {
  if (op == "inc") return old >= b ? 0 : old + 1;
  if (op == "dec") return old == 0 || old > b ? b : old - 1;
  bool const less = type.kind == 's' ? signed_of(old, type.bits) < signed_of(b, type.bits) : old < b;
  return less == (op == "min") ? old : b;
}

/// True if PTX does not fix a sum: of a NaN, or of numbers below the normal ones, which are 0 in global memory and none in shared memory.
bool is_not_fixed(std::string_view type_name, Word const& old, Word const& b) {
  Packed const type = packed_of(type_name);
  bool out = false;
  for (Word const* const w : {&old, &b}) {
    for (unsigned part = 0; part < type.count; ++part) out = out || has_nan(*w, type, part * type.bytes);
    out = out || (type.format == Format::f32 && flushed(*w, type).number != w->number);
  }
  return out;
}

}  // namespace

std::uint32_t AtomicKinds::of(std::string_view op, program::Type type, Word const& b) {
  bool const bounded = op == "inc" || op == "dec";
  bool const alone = op == "exch" || op == "cas" || (bounded && b.named != 0);
  char const kind = type.kind == 'f' || op == "min" || op == "max" ? type.kind : 'b';
  std::string const key =
      alone ? fmt::format("{} {}", op, numbers_.size())
            : fmt::format("{} {}{} {}", op, kind, type.bits, bounded ? b.number & low_bits(type.bits) : 0);
  return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
}

/// The sum of floating-point numbers has no order, as other sums have none.
Word after_atomic(Now const& now, std::string_view op, program::Type type, std::string_view type_name,
                  Word const& old, Word const& b, Word const& c) {
  if (op == "exch") return b;
  bool const plain_ones = (old.named | b.named) == 0;
  if (op == "cas")
    return plain_ones ? (old.number == (b.number & low_bits(type.bits)) ? c : old)
                      : now.unknown(type.bits, {&old, &b, &c});
  if (op == "add" && type.kind == 'f')
    return is_not_fixed(type_name, old, b) ? now.unknown(type.bits, {&old, &b})
                                           : sum_of_reals(now.block.names, type_name, now.index, old, b);
  program::Step step;
  step.width = static_cast<std::uint8_t>(type.bits);
  step.action = op == "add"   ? Action::add
                : op == "and" ? Action::bit_and
                : op == "or"  ? Action::bit_or
                              : Action::bit_xor;
  if (op == "add" || op == "and" || op == "or" || op == "xor") return apply_step(now, step, old, b, {});
  return plain_ones && type.kind != 'f' ? plain(result(op, type, old.number, b.number & low_bits(type.bits)))
                                        : now.unknown(type.bits, {&old, &b});
}

namespace {

/// A byte-wise read and write of one location by a lane. Which value an atomic returns depends on the order: it is not followed.
Word atomic_lane(Now const& now, Space space, std::uint64_t at, unsigned lane, Word const& b, Word const& c) {
  std::string_view const op = operation_of(now.decoded);
  unsigned const bytes = now.decoded.type.bits / 8;
  Bytes& memory = space == Space::global ? now.block.global : now.block.shared;
  Toucher by = now.toucher(lane);
  by.atomic = now.block.atomic_kinds.of(op, now.decoded.type, b);
  Word value = after_atomic(now, op, now.decoded.type, now.decoded.parts.back(),
                            update(now, memory, at, bytes, by), b, c);
  if (takes_part(now.warp.doubtful, lane)) value = maybe(now, memory, at, bytes, value);
  for (unsigned i = 0; i < bytes; ++i) {
    bool const named = (value.named >> i & 1) != 0;
    memory.write(at + i, by, named ? value.part[i] : 0,
                 named ? std::uint8_t{0} : static_cast<std::uint8_t>(value.number >> 8 * i));
  }
  return now.block.names.word(now.block.names.function(
      fmt::format("the result of {} of {}", now.in.opcode.text, now.block.units.thread(by.thread)),
      Format::integer, bytes, now.index));
}

}  // namespace

/// atom and red. Those with an order of memory (.acquire, .release) and of 128 bits are refused.
void atomic(Now const& now) {
  Decoded const& d = now.decoded;
  std::string_view const op = operation_of(d);
  bool const returns = d.name == "atom";
  std::size_t const sources = (returns ? 1U : 0U) + 1 + (op == "cas" ? 2 : 1);
  bool const type_fits = d.type.integer() || (d.type.kind == 'f' && op == "add");
  bool const orders = d.has("acquire") || d.has("release") || d.has("acq_rel");
  if (op.empty() || !type_fits || d.type.bits < 16 || d.type.bits > 64 || orders || d.has("async") ||
      now.in.operands.size() < sources)
    now.refuse_opcode();
  unsigned const each = d.type.bits / 8;
  auto const parts = [](ptx::Operand const& o) {
    return o.kind == ptx::Operand::Kind::vector ? o.parts : std::vector<ptx::Operand>{o};
  };
  std::size_t const where = returns ? 1 : 0;
  auto const from = parts(now.in.operands[where + 1]);
  auto const into = returns ? parts(now.in.operands[0]) : std::vector<ptx::Operand>{};
  if (from.size() != d.lanes || (returns && into.size() != d.lanes))
    now.refuse("the number of registers does not match");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    auto const [space, at] = located(now, now.in.operands[where], lane);
    if (space != Space::global && space != Space::shared)
      now.refuse("an atomic outside of shared and global memory");
    if (d.lanes > 1 && space == Space::shared)
      now.fault(FlowFaultKind::misuse, now.touch(lane), isa::vector_atomic,
                fmt::format("{} accesses shared memory by {}, which is for global memory",
                            now.block.units.thread(now.thread(lane)), d.text));
    check_bounds(now, space, at, each * d.lanes, lane, "writes");
    now.block.flags.update(at, each * d.lanes, now.thread(lane), d.has("cta"), now.block.clocks);
    check_scopes(now);
    for (unsigned k = 0; k < from.size(); ++k) {
      Word const b = now.operand(from[k], lane, d.type.bits);
      Word const c = op == "cas" ? now.operand(now.in.operands[where + 2], lane, d.type.bits) : Word{};
      Word const old = atomic_lane(now, space, at + k * each, lane, b, c);
      if (returns) now.put(into[k], lane, old);
    }
  }
}

}  // namespace swizproof::flow_detail
