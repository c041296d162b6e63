// Numbers that a warp has in common: redux.sync and match.sync. Data are not followed.
#include "execute.hpp"

#include <swizproof/program/step.hpp>

#include <bit>
#include <optional>

namespace swizproof::flow_detail {

namespace {

/// Values of the lanes, and if all are numbers.
struct Lanes {
  std::array<Word, 32> values{};
  std::array<std::uint32_t, 32> members{};
  bool plain = true;
};

Lanes lanes_of(Now const& now, ptx::Operand const& mask) {
  Lanes out;
  now.check_members(mask);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    out.values[lane] =
        low_bytes(now.operand(now.in.operands[1], lane, now.decoded.type.bits), now.decoded.type.bits / 8);
    out.members[lane] = static_cast<std::uint32_t>(now.number(mask, lane, "the mask")) & now.mask;
    out.plain = out.plain && out.values[lane].named == 0;
  }
  return out;
}

/// Two numbers of 32 bits as redux joins them; nothing of an operation that is not executed.
std::optional<std::uint64_t> joined(Decoded const& d, std::uint64_t a, std::uint64_t b) {
  if (d.type.kind == 'f' || d.type.bits != 32) return std::nullopt;
  bool const less = d.type.kind == 's' ? signed_of(a, 32) < signed_of(b, 32) : a < b;
  if (d.has("add")) return (a + b) & low_bits(32);
  if (d.has("min")) return less ? a : b;
  if (d.has("max")) return less ? b : a;
  if (d.has("and")) return a & b;
  if (d.has("or")) return a | b;
  if (d.has("xor")) return a ^ b;
  return std::nullopt;
}

}  // namespace

/// redux.sync of numbers. [PTX ISA 9.1, 9.7.13.9]
void reduce(Now const& now) {
  Lanes const all = lanes_of(now, now.in.operands[2]);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::optional<std::uint64_t> result;
    for (unsigned other = 0; other < 32; ++other) {
      if (!takes_part(all.members[lane], other)) continue;
      std::uint64_t const value = all.values[other].number;
      result = other == static_cast<unsigned>(std::countr_zero(all.members[lane])) ? value
               : result ? joined(now.decoded, *result, value)
                        : result;
    }
    bool const known = all.plain && result && joined(now.decoded, 0, 0);
    now.put(now.in.operands[0], lane, known ? plain(*result) : now.unknown(32, {&all.values[lane]}));
  }
}

/// match.sync of numbers: the lanes that have the same one, or all of the mask if each has it. [PTX ISA 9.1, 9.7.13.8]
void match(Now const& now) {
  Lanes const all = lanes_of(now, now.in.operands[2]);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint32_t same = 0;
    for (unsigned other = 0; other < 32; ++other)
      if (takes_part(all.members[lane], other) && all.values[other].number == all.values[lane].number)
        same |= 1U << other;
    bool const each = same == all.members[lane], any = now.decoded.has("any");
    ptx::Operand const& to = now.in.operands[0];
    now.put(to, lane,
            all.plain ? plain(any    ? same
                              : each ? all.members[lane]
                                     : 0)
                      : now.unknown(32, {&all.values[lane]}));
    for (ptx::Operand const& p : to.parts)
      now.put(p, lane, all.plain ? plain(each ? 1 : 0) : now.unknown(1, {&all.values[lane]}));
  }
}

}  // namespace swizproof::flow_detail
