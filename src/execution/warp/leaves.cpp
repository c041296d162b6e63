#include "leaves.hpp"

#include "evaluation.hpp"

#include <swizproof/program/step.hpp>

#include <algorithm>

namespace swizproof::execution {

Lanes LeafWords::value(Id id, unsigned bits) {
  Leaf const l = *in_.execution.leaf_at(id);
  auto const all_uniform = [&] {
    return std::all_of(l.args.begin(), l.args.end(),
                       [&](Id arg) { return in_.words.value(arg, in_.execution.node(arg).width).uniform(); });
  };
  switch (l.kind) {
    case Leaf::Kind::special:
      return special(id, l, bits);
    case Leaf::Kind::param:
      return parameter(id, l, bits);
    case Leaf::Kind::symbol:
    case Leaf::Kind::counter:
      return in_.atoms.of(id, bits);
    case Leaf::Kind::varying:
      if ((l.offset & one_together) == 0) return varying(id);
      [[fallthrough]];
    case Leaf::Kind::load:  // of an iteration that all lanes share
      if (l.apart || !in_.loops.has_common_iteration(l.loop)) return varying(id);
      [[fallthrough]];
    case Leaf::Kind::opaque:
      return all_uniform() ? in_.atoms.of(id, bits) : varying(id);
    case Leaf::Kind::voted:
      return voted(id, l, bits);
    case Leaf::Kind::shuffle:
      return shuffled(id, l, bits);
    case Leaf::Kind::phi:
      return in_.inductions.value(id, *in_.execution.phi_at(id), bits);
    case Leaf::Kind::exit:
      return left(id, l, bits);
    default:
      return varying(id);
  }
}

Lanes LeafWords::special(Id id, Leaf const& l, unsigned bits) {
  if (is_uniform(l)) return in_.atoms.of(id, bits);
  auto const s = static_cast<Special>(l.extra);
  auto const blocks = in_.launch.blocks(s);
  bool const launch_known = s == Special::ntid_y || s == Special::ntid_z ||
                            (s == Special::ntid_x && !in_.launch.any_multiple) ||
                            (blocks && (s >= Special::nctaid_x || *blocks == 1));
  if (s >= Special::ntid_x && s <= Special::nctaid_z && !launch_known) return in_.atoms.of(id, bits);
  if (s >= Special::warp_x && s <= Special::warp_z) return in_.atoms.of(id, bits);
  Lanes v;
  for (unsigned lane = 0; lane < 32; ++lane) v.lane[lane] = in_.threads.special(s, lane) & low_bits(bits);
  Id const part = in_.threads.of_any_warp() && s <= Special::tid_z ? in_.execution.warp_numbers[l.extra] : 0;
  return part == 0 ? v : in_.sums.sum(v, in_.atoms.of(part, bits), in_.threads.lanes(l.extra), bits);
}

Lanes LeafWords::parameter(Id id, Leaf const& l, unsigned bits) {
  auto const given = in_.launch.params.find(in_.program.symbols[l.extra].name);
  if (given == in_.launch.params.end() || l.offset >= 8) return in_.atoms.of(id, bits);
  Lanes v;
  v.lane.fill(given->second >> 8 * l.offset & low_bits(bits));
  return v;
}

Lanes LeafWords::voted(Id id, Leaf const& l, unsigned bits) {
  if (l.apart || !in_.loops.has_common_iteration(l.loop)) return varying(id);
  Node const mask = in_.execution.node(l.args[0]);
  auto const is = [&](Id part, std::uint64_t lanes) {
    Node const& n = in_.execution.node(part);
    return n.op == Op::constant && n.value == lanes;
  };
  // All lanes or none execute it.
  bool const either = mask.op == Op::ite && ((is(mask.b, 0xffffffff) && is(mask.c, 0)) ||
                                             (is(mask.b, 0) && is(mask.c, 0xffffffff)));
  if (either && in_.truths.value(mask.a).shared()) return in_.atoms.of(id, bits);
  Lanes const& lanes = in_.words.value(l.args[0], 32);
  return lanes.pure() && lanes.uniform() && lanes.lane[0] == 0xffffffff ? in_.atoms.of(id, bits)
                                                                        : varying(id);
}

/// A value of the iteration in which a lane leaves a loop.
Lanes LeafWords::left(Id id, Leaf const& l, unsigned bits) {
  Lanes const v = in_.words.value(l.args[0], bits);
  if (!v.split() || in_.loops.exits_together(l.left)) return v;
  // Numbers of lanes without terms are the same in every iteration, if none was assumed.
  Lanes const plain = in_.assumed.nothing() ? v : in_.clean().words.value(l.args[0], bits);
  return plain.split() && plain.pure() ? plain : varying(id);
}

struct LeafWords::Givers {
  LaneTruths const& on;        ///< which execute it
  bool exact = false;          ///< whether all of the mask execute it, if nothing shows that one does not
  bool sure = true;            ///< whether they have left no loop around it
  bool lost = false;           ///< whether which execute it depends on values that are not known alone
  std::uint32_t together = 0;  ///< those that execute it if one of them does
};

/// All lanes of the mask execute a shuffle, if nothing shows that one does not: it takes another branch, or has left a loop around it.
LeafWords::Givers LeafWords::givers(Leaf const& l, LaneTruths const& on) {
  Givers out{on};
  out.exact = l.offset != 0 && !l.apart && in_.loops.has_common_iteration(l.loop);
  for (std::int32_t const loop : in_.flow.around(l.loop)) {
    if (!out.exact) break;
    LaneLoops::Leaves const how = in_.loops.leaves(loop);
    out.exact = how != LaneLoops::Leaves::apart, out.sure = out.sure && how == LaneLoops::Leaves::together;
  }
  out.together = on.atom != 0 ? on.rest() : 0;
  out.lost = on.rest() != 0 && on.atom == 0 && in_.loops.is_lost(l.args[3]);
  return out;
}

/// True if a lane gives another one its value, which may be assumed.
bool LeafWords::gives(Givers const& g, unsigned from, unsigned to) {
  if (from == to) return true;
  if (!g.exact || (in_.threads.present() >> from & 1) == 0 || (g.on.no >> from & 1) != 0) return false;
  bool const known = (g.on.yes >> from & 1) != 0 || (g.together >> from & g.together >> to & 1) != 0;
  in_.execution.assumes_sources = in_.execution.assumes_sources || (known ? !g.sure : g.lost);
  return known || g.lost;
}

Id LeafWords::in_lanes(Id value, std::uint32_t lanes) {
  while (in_.execution.node(value).op == Op::ite) {
    Node const n = in_.execution.node(value);
    LaneTruths const t = in_.truths.value(n.a);
    if (t.stuck || ((lanes & ~t.yes) != 0 && (lanes & ~t.no) != 0)) break;
    value = (lanes & ~t.yes) == 0 ? n.b : n.c;
  }
  return value;
}

Lanes LeafWords::shuffled(Id id, Leaf const& l, unsigned bits) {
  Lanes const b = in_.words.value(l.args[1], 32), c = in_.words.value(l.args[2], 32);
  bool const full = c.pure() && c.uniform();
  auto const mode = static_cast<Shuffle>(l.extra);
  auto const source = [&](unsigned lane) {
    return shuffle_source(mode, lane, static_cast<std::uint32_t>(b.lane[lane]),
                          static_cast<std::uint32_t>(c.lane[0]));
  };
  bool const any_lane = mode == Shuffle::idx && full && (c.lane[0] & 0x1f1f) == 0x1f;
  std::uint32_t sources = ~0U;
  if (full && b.pure()) {
    sources = 0;
    for (unsigned lane = 0; lane < 32; ++lane) sources |= 1U << source(lane);
  } else if (std::uint64_t const most = in_.facts.of(l.args[1]).most; any_lane && most < 32) {
    sources = static_cast<std::uint32_t>(low_bits(static_cast<unsigned>(most) + 1));
  }
  Lanes const v = in_.words.value(in_lanes(l.args[0], sources), bits);
  if (v.state == Lanes::State::stuck) return v;
  // A lane that the warp lacks, or that does not execute the shuffle, gives any value.
  LaneTruths const on = in_.truths.value(l.args[3]);
  if (on.stuck) return {Lanes::State::stuck, on.why};
  Givers const g = givers(l, on);
  std::uint32_t const readers = in_.threads.present() & ~on.no;
  bool all_give = g.exact && in_.threads.present() == ~0U;
  for (unsigned lane = 0; lane < 32 && all_give; ++lane) all_give = gives(g, lane, (lane + 1) % 32);
  if (v.uniform() && all_give) return v;
  // One lane's value in all of them: not known, but the same.
  bool const one = any_lane && b.uniform() && all_give;
  if (one && !(v.split() && b.pure())) return in_.atoms.of(id, bits);
  if (!v.split()) return varying(v.why);
  if (!b.split()) return b;
  if (!full || !b.pure()) return varying(id);
  Lanes out = v;
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned const from = source(lane);
    if ((readers >> lane & 1) != 0 && !gives(g, from, lane)) return varying(id);
    out.lane[lane] = v.lane[from];
  }
  return out;
}

}  // namespace swizproof::execution
