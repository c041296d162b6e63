#include "replay.hpp"

#include <swizproof/engine/term.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace swizproof::execution {

namespace {

/// An operation on each lane.
template <Op op>
void each_lane(unsigned width, Replay::Values const& a, Replay::Values const& b, Replay::Values& out) {
  Node const n{op, static_cast<std::uint8_t>(width)};
  for (unsigned l = 0; l < 32; ++l) out[l] = value_of(n, a[l], b[l]);
}
using EachLane = void (*)(unsigned, Replay::Values const&, Replay::Values const&, Replay::Values&);
/// By operator.
template <std::size_t... I>
constexpr std::array<EachLane, sizeof...(I)> operations(std::index_sequence<I...>) {
  return {&each_lane<static_cast<Op>(I)>...};
}
constexpr auto operation =
    operations(std::make_index_sequence<static_cast<std::size_t>(Op::disjunction) + 1>{});

}  // namespace

Replay::Values const& Replay::value(Id id) {
  if (Values const* const found = known_.find(id)) return *found;
  Values const v = compute(id);
  return known_.add(id, v);
}

Replay::Values Replay::compute(Id id) {
  Node const n = execution_.terms.nodes()[id];
  Values out{};
  if (++depth_ > 800) valid_ = false;
  if (!valid_) return --depth_, out;
  if (n.op == Op::constant || n.op == Op::truth) {
    out.fill(n.value);
  } else if (n.op == Op::variable) {
    out = leaf(n);
    for (std::uint64_t& x : out) x &= low_bits(n.width);
  } else if (n.op == Op::ite) {
    out = chosen(n);
  } else {
    Values const& a = value(n.a);
    Values const& b = operand_count(n.op) == 1 ? a : value(n.b);
    operation[static_cast<std::size_t>(n.op)](n.width, a, b, out);
  }
  --depth_;
  return out;
}

/// Each side is run if a lane takes it: what no lane takes makes a run no less certain.
Replay::Values Replay::chosen(Node const& n) {
  Values const& which = value(n.a);
  auto const takes = [&](bool yes) {
    return std::any_of(which.begin(), which.end(), [&](std::uint64_t w) { return (w != 0) == yes; });
  };
  static constexpr Values nothing{};
  Values const &yes = takes(true) ? value(n.b) : nothing, &no = takes(false) ? value(n.c) : nothing;
  Values out{};
  for (unsigned l = 0; l < 32; ++l) out[l] = which[l] != 0 ? yes[l] : no[l];
  return out;
}

Replay::Values Replay::all(std::uint64_t x) {
  Values v;
  v.fill(x);
  return v;
}

Replay::Values Replay::leaf(Node const& n) {
  Leaf const& l = execution_.leaves[n.value];
  Values out{};
  switch (l.kind) {
    case Leaf::Kind::special:
      return special(l);
    case Leaf::Kind::param:
      return all(inputs_.parameter(l.extra, l.offset, l.width));
    case Leaf::Kind::symbol: {
      std::uint64_t const align = inputs_.align_of(l.extra);
      std::uint64_t const any = inputs_.random() % 64 * align & 0x3ffff;
      if (!inputs_.placed(l.extra)) inputs_.place(l.extra, any);
      return all(*inputs_.placed(l.extra));
    }
    case Leaf::Kind::counter:
      if (!flow_.encloses(l.loop, loop_)) valid_ = false;
      if (first_iterations_) return all(0);
      certain_ = false;
      return all(iteration(l.loop));
    case Leaf::Kind::phi:
      return loop_value(execution_.phis[static_cast<std::size_t>(execution_.phi_of[n.value])]);
    case Leaf::Kind::load:
    case Leaf::Kind::opaque:
      return data(l);
    case Leaf::Kind::voted:
      if (leader_ && elects(program_, l)) return all(*leader_);
      certain_ = false;
      return all(inputs_.random());
    case Leaf::Kind::shuffle:
      return shuffled(l);
    case Leaf::Kind::varying:
      certain_ = false;
      for (std::uint64_t& x : out) x = inputs_.random();
      return out;
    default:
      return valid_ = false, out;
  }
}

std::uint64_t Replay::iteration(std::int32_t loop) {
  auto const known = trips_.find(loop);
  return inputs_.random() % (known != trips_.end() ? known->second : 8);
}

Replay::Values Replay::special(Leaf const& l) {
  if (is_uniform(l)) return certain_ = false, all(inputs_.random() & 0xffff);
  auto const s = static_cast<Special>(l.extra);
  if (s == Special::ntid_x && launch_.any_multiple) return all(launch_.block[0]);
  if (s >= Special::ctaid_x && s <= Special::nctaid_z) return all(inputs_.block(s));
  Values out{};
  for (unsigned lane = 0; lane < 32; ++lane) out[lane] = warp_.special(s, lane);
  return out;
}

Replay::Values Replay::loop_value(Phi const& p) {
  if (!flow_.encloses(p.loop, loop_)) valid_ = false;
  if (first_iterations_ || p.kind == Phi::Kind::same) return value(p.init);
  certain_ = false;
  Values out{};
  Id const counter = execution_.counters[static_cast<std::size_t>(p.loop)];
  if (counter == 0) return valid_ = false, out;
  Values const k = value(counter);
  if (p.kind != Phi::Kind::affine) {
    // Iterations that there are: of a machine of constants, or of a loop whose number of them is known.
    bool const exists = p.kind == Phi::Kind::orbit ? k[0] < p.values.size() : trips_.count(p.loop) != 0;
    std::optional<std::uint64_t> const now = exists ? warp_.iterated(p.node, k[0]) : std::nullopt;
    return valid_ = valid_ && now, all(now.value_or(0));
  }
  Values const init = value(p.init), step = value(p.step);
  for (unsigned lane = 0; lane < 32; ++lane) out[lane] = init[lane] + k[lane] * step[lane];
  return out;
}

Replay::Values Replay::shuffled(Leaf const& l) {
  Values const v = value(l.args[0]), b = value(l.args[1]), c = value(l.args[2]), on = value(l.args[3]);
  Values out{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned const from =
        shuffle_source(static_cast<Shuffle>(l.extra), lane, static_cast<std::uint32_t>(b[lane]),
                       static_cast<std::uint32_t>(c[lane]));
    bool const exists = (warp_.present() >> from & 1) != 0;
    bool const gives = l.offset != 0 && on[from] != 0 && exists;
    bool const reads = on[lane] != 0 && (warp_.present() >> lane & 1) != 0;
    // A lane that does not execute the shuffle gives any value. Where it is assumed to, there is no such execution.
    certain_ = certain_ && (from == lane || gives || !reads);
    valid_ = valid_ && (from == lane || gives || !reads || !exists || !execution_.assumes_sources);
    out[lane] = from == lane || gives ? v[from] : inputs_.random();
  }
  return out;
}

Replay::Values Replay::data(Leaf const& l) {
  certain_ = false;
  std::array<Values, 3> args{};
  for (std::size_t i = 0; i < l.args.size(); ++i) args[i] = value(l.args[i]);
  std::uint64_t const salt = inputs_.random();
  Values out{};
  for (unsigned lane = 0; lane < 32; ++lane)
    out[lane] = mixed(salt ^ mixed(args[0][lane] ^ mixed(args[1][lane] ^ mixed(args[2][lane]))));
  return out;
}

std::uint64_t Replay::mixed(std::uint64_t x) {
  x = (x ^ x >> 31) * 0x9E3779B97F4A7C15U;
  return x ^ x >> 29;
}

}  // namespace swizproof::execution
