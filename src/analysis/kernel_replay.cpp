#include "kernel_replay.hpp"

#include <swizproof/engine/term.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kernel_origin.hpp"

namespace swizproof::kernel_detail {

using ptx::Leaf;
using ptx::Phi;
using ptx::Special;

Replay::Values const& Replay::value(Id id) {
  if (auto const found = memo_.find(id); found != memo_.end()) return found->second;
  Values const v = compute(id);
  return memo_[id] = v;
}

std::vector<std::pair<std::string, std::uint64_t>> const& Replay::parameters() const { return parameters_; }

Replay::Values Replay::compute(Id id) {
  Node const& n = execution_.terms.nodes()[id];
  Values out{};
  if (++depth_ > 800) valid_ = false;
  if (!valid_) return --depth_, out;
  if (n.op == Op::constant || n.op == Op::truth) {
    out.fill(n.value);
  } else if (n.op == Op::variable) {
    out = leaf(n);
    for (std::uint64_t& x : out) x &= mask(n.width);
  } else if (n.op == Op::ite) {
    out = chosen(n);
  } else {
    Values const a = value(n.a);
    bool const unary = n.op == Op::negation || n.op == Op::zero_extend || n.op == Op::truncate;
    Values const b = unary ? a : value(n.b);
    for (unsigned l = 0; l < 32; ++l) out[l] = value_of(n, a[l], b[l]);
  }
  --depth_;
  return out;
}

/// Each side is run if a lane takes it: what no lane takes makes a run no less certain.
Replay::Values Replay::chosen(Node const& n) {
  Values const which = value(n.a);
  auto const takes = [&](bool yes) {
    return std::any_of(which.begin(), which.end(), [&](std::uint64_t w) { return (w != 0) == yes; });
  };
  Values const yes = takes(true) ? value(n.b) : Values{}, no = takes(false) ? value(n.c) : Values{};
  Values out{};
  for (unsigned l = 0; l < 32; ++l) out[l] = which[l] != 0 ? yes[l] : no[l];
  return out;
}

bool Replay::encloses(std::int32_t l) const {
  for (std::int32_t at = loop_; at >= 0; at = flow_.loops[static_cast<std::size_t>(at)].parent)
    if (at == l) return true;
  return false;
}

Replay::Values Replay::all(std::uint64_t x) {
  Values v;
  v.fill(x);
  return v;
}

void Replay::give(LeafValues const& values) {
  for (auto const& [number, value] : values) {
    Leaf const& l = execution_.leaves[number];
    if (l.kind == Leaf::Kind::param) parameter(l, value);
    if (l.kind == Leaf::Kind::symbol) place(l.extra, value);
    if (l.kind == Leaf::Kind::special) blocks_[l.extra] = value;
  }
}

/// Bytes that two loads of a parameter share have one value.
std::uint64_t Replay::parameter(Leaf const& l, std::uint64_t value) {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < (l.width + 7U) / 8; ++i) {
    auto const byte = static_cast<std::uint8_t>(value >> 8 * i);
    out |= std::uint64_t{bytes_.try_emplace({l.extra, l.offset + i}, byte).first->second} << 8 * i;
  }
  return out;
}

std::uint64_t Replay::any_parameter(Leaf const& l) {
  std::string const& name = program_.symbols[l.extra].name;
  if (auto const given = launch_.params.find(name); given != launch_.params.end() && l.offset < 8)
    return given->second >> 8 * l.offset;
  switch (style_ < 5 ? style_ : random_() % 5) {
    case 0:
      return l.width == 64 ? random_() << 8 : std::uint64_t{1} << 20;
    case 1:
      return random_() % 4096;
    case 2:
      return std::uint64_t{1} << random_() % 16;
    case 3:
      return random_();
    default:
      return 1 + random_() % 8;
  }
}

Replay::Values Replay::leaf(Node const& n) {
  Leaf const& l = execution_.leaves[n.value];
  Values out{};
  switch (l.kind) {
    case Leaf::Kind::special:
      return special(l);
    case Leaf::Kind::param: {
      std::string const& name = program_.symbols[l.extra].name;
      std::size_t const short_name = name.rfind("_param_");
      parameters_.emplace_back((short_name == name.npos ? name : name.substr(short_name + 1)) +
                                   (l.offset == 0 ? "" : fmt::format("[{}]", l.offset)),
                               parameter(l, any_parameter(l)) & mask(l.width));
      return all(parameters_.back().second);
    }
    case Leaf::Kind::symbol: {
      std::uint64_t const align = program_.symbols[l.extra].align;
      std::uint64_t const any = random_() % 64 * align & 0x3ffff;
      auto const placed = placed_.find(l.extra);
      return all(placed == placed_.end() ? any : placed->second);
    }
    case Leaf::Kind::counter:
      if (!encloses(l.loop)) valid_ = false;
      if (style_ < 8) return all(0);
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
      return all(random_());
    case Leaf::Kind::shuffle:
      return shuffled(l);
    case Leaf::Kind::varying:
      certain_ = false;
      for (std::uint64_t& x : out) x = random_();
      return out;
    default:
      return valid_ = false, out;
  }
}

std::uint64_t Replay::iteration(std::int32_t loop) {
  auto const known = trips_.find(loop);
  return random_() % (known != trips_.end() ? known->second : 8);
}

/// The number of the block, or of blocks in the grid.
std::uint64_t Replay::block_value(Special s) {
  auto const dimension = static_cast<std::size_t>(s) - static_cast<std::size_t>(Special::ctaid_x);
  constexpr std::array<std::string_view, 6> names{"ctaid.x",  "ctaid.y",  "ctaid.z",
                                                  "nctaid.x", "nctaid.y", "nctaid.z"};
  auto const given = blocks_.find(static_cast<std::uint32_t>(s));
  std::uint64_t const value = given != blocks_.end()      ? given->second
                              : s >= Special::nctaid_x    ? witness_blocks
                              : style_ < 3 || style_ == 7 ? 0
                                                          : random_() % witness_blocks;
  parameters_.emplace_back(names[dimension], value);
  return value;
}

Replay::Values Replay::special(Leaf const& l) {
  if (l.extra >= 100) return certain_ = false, all(random_() & 0xffff);
  auto const s = static_cast<Special>(l.extra);
  if (s == Special::ntid_x && launch_.any_multiple) return all(1024);
  if (s >= Special::ctaid_x && s <= Special::nctaid_z) return all(block_value(s));
  Values out{};
  for (unsigned lane = 0; lane < 32; ++lane) out[lane] = warp_.special(s, lane);
  return out;
}

Replay::Values Replay::loop_value(Phi const& p) {
  if (!encloses(p.loop)) valid_ = false;
  if (style_ < 8 || p.kind == Phi::Kind::same) return value(p.init);
  certain_ = false;
  if (p.kind == Phi::Kind::orbit) return all(p.values[random_() % p.values.size()]);
  Values out{};
  if (p.kind != Phi::Kind::affine) return valid_ = false, out;
  Values const init = value(p.init), step = value(p.step),
               k = value(execution_.counters[static_cast<std::size_t>(p.loop)]);
  for (unsigned lane = 0; lane < 32; ++lane) out[lane] = init[lane] + k[lane] * step[lane];
  return out;
}

Replay::Values Replay::shuffled(Leaf const& l) {
  Values const v = value(l.args[0]), b = value(l.args[1]), c = value(l.args[2]), on = value(l.args[3]);
  Values out{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned const from =
        ptx::shuffle_source(static_cast<ptx::Shuffle>(l.extra), lane, static_cast<std::uint32_t>(b[lane]),
                            static_cast<std::uint32_t>(c[lane]));
    bool const gives = l.offset != 0 && on[from] != 0 && (warp_.present() >> from & 1) != 0;
    bool const reads = on[lane] != 0 && (warp_.present() >> lane & 1) != 0;
    // A lane that does not execute the shuffle gives any value.
    certain_ = certain_ && (from == lane || gives || !reads);
    out[lane] = from == lane || gives ? v[from] : random_();
  }
  return out;
}

Replay::Values Replay::data(Leaf const& l) {
  certain_ = false;
  std::array<Values, 3> args{};
  for (std::size_t i = 0; i < l.args.size(); ++i) args[i] = value(l.args[i]);
  std::uint64_t const salt = random_();
  Values out{};
  for (unsigned lane = 0; lane < 32; ++lane)
    out[lane] = mixed(salt ^ mixed(args[0][lane] ^ mixed(args[1][lane] ^ mixed(args[2][lane]))));
  return out;
}

std::uint64_t Replay::mixed(std::uint64_t x) {
  x = (x ^ x >> 31) * 0x9E3779B97F4A7C15U;
  return x ^ x >> 29;
}

}  // namespace swizproof::kernel_detail
