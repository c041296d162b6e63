#include "sectors.hpp"

#include "access_cost.hpp"
#include "parameter_terms.hpp"

#include <swizproof/hardware/global.hpp>

#include <algorithm>
#include <bit>
#include <set>

namespace swizproof::kernel_detail {

using execution::Lanes;
using execution::Leaf;
using execution::Warp;

namespace {

constexpr unsigned line_bits = 7;  ///< of global_line_bytes

/// Adds what all lanes share: its low zero bits, and the parameter that decides the others.
void add_shared(ExecutedKernel const& kernel, Warp& warp, Lanes const& v,
                std::function<bool(Id)> const& alone, GlobalLanes& into) {
  unsigned least = line_bits;
  for (auto const& [atom, factor] : v.terms) {
    unsigned const zeros = static_cast<unsigned>(std::countr_zero(factor)) + warp.trailing_zeros(atom);
    if (zeros > least || zeros >= line_bits) continue;
    bool const free = free_parameter(kernel, atom, 0xffffffff) == atom && alone(atom);
    if (zeros < least) into.free.reset();
    if (free) into.free = atom;
    least = zeros;
  }
  into.step = std::uint64_t{1} << least;
  into.constant = least == line_bits;
}

/// Bytes from each active lane to the next one, if they are the same.
std::optional<std::int64_t> stride_of(std::uint32_t active, LaneAddresses const& address) {
  std::optional<std::int64_t> stride;
  for (unsigned l = 0; l + 1 < 32; ++l) {
    if ((active >> l & 3) != 3) continue;
    auto const now = static_cast<std::int64_t>(address[l + 1] - address[l]);
    if (stride && *stride != now) return std::nullopt;
    stride = now;
  }
  return stride;
}

/// Parameters that an address is made of by sums and choices; false if it has a summand of another kind that may be a pointer, or two.
bool find_pointers(ExecutedKernel const& kernel, Id id, std::set<std::uint32_t>& into, unsigned depth) {
  constexpr unsigned deepest = 64;
  if (depth == deepest) return false;
  Node const& n = kernel.execution.node(id);
  auto const in = [&](Id part, std::set<std::uint32_t>& to) {
    return find_pointers(kernel, part, to, depth + 1);
  };
  if (n.op == Op::bv_add || n.op == Op::bv_or) {
    std::set<std::uint32_t> left, right;
    if (!in(n.a, left) || !in(n.b, right) || (!left.empty() && !right.empty())) return false;
    into.insert(left.begin(), left.end()), into.insert(right.begin(), right.end());
    return true;
  }
  if (n.op == Op::ite) return in(n.b, into) && in(n.c, into);
  if (n.op == Op::bv_sub || n.op == Op::zero_extend || n.op == Op::truncate) return in(n.a, into);
  if (n.op != Op::variable) return true;
  if (execution::Phi const* const phi = kernel.execution.phi_at(id)) return in(phi->init, into);
  Leaf const& leaf = *kernel.execution.leaf_at(id);
  if (leaf.kind == Leaf::Kind::load || leaf.kind == Leaf::Kind::varying) return leaf.width < 32;
  bool const whole = leaf.kind == Leaf::Kind::param && leaf.offset == 0 && leaf.width >= 32 &&
                     !kernel.program.symbols[leaf.extra].array;
  if (whole) into.insert(leaf.extra);
  return true;
}

}  // namespace

std::optional<std::int64_t> stride_of(WarpAccess<std::uint32_t> const& lanes, unsigned bytes,
                                      unsigned sectors) {
  std::uint32_t active = 0;
  LaneAddresses address{};
  for (unsigned l = 0; l < 32; ++l) address[l] = lanes.address[l], active |= (lanes.active[l] ? 1U : 0U) << l;
  if (active == 0) return std::nullopt;
  LaneAddresses const near = as_near(active, address);
  return sectors_at(bytes, active, near, sector_bytes) == sectors ? stride_of(active, near) : std::nullopt;
}

GlobalLanes global_lanes(ExecutedKernel const& kernel, LanesInCase const& now,
                         std::function<bool(Id)> const& alone) {
  constexpr std::uint64_t far_from_zero = std::uint64_t{1} << 40;
  unsigned const width = kernel.execution.node(now.access.address).width;
  Lanes const whole = width > 32 ? now.warp.value(now.access.address, width) : Lanes{Lanes::State::stuck};
  GlobalLanes out;
  out.near = !whole.split();
  out.address = out.near ? as_near(now.active, now.address.lane) : whole.lane;
  add_shared(kernel, now.warp, out.near ? now.address : whole, alone, out);
  std::uint64_t const start = out.address[static_cast<unsigned>(std::countr_zero(now.active))];
  for (std::uint64_t& a : out.address) a += far_from_zero - start;
  out.low = start % out.step;
  return out;
}

SectorsInCase sectors_in(ExecutedKernel const& kernel, LanesInCase const& now,
                         std::function<bool(Id)> const& alone) {
  unsigned const bytes = now.memory.bytes;
  GlobalLanes const lanes = global_lanes(kernel, now, alone);
  SectorsInCase out;
  out.seen.near = lanes.near;
  out.seen.stride = stride_of(now.active, lanes.address);
  out.free = lanes.free || lanes.constant, out.same = true;
  for (std::uint64_t residue = lanes.low; residue < global_line_bytes; residue += lanes.step) {
    LaneAddresses moved = lanes.address;
    for (std::uint64_t& a : moved) a += residue;
    bool aligned = true;
    for (unsigned l = 0; l < 32; ++l)
      aligned = aligned && ((now.active >> l & 1) == 0 || moved[l] % bytes == 0);
    if (!aligned) continue;
    unsigned const sectors = sectors_at(bytes, now.active, moved, sector_bytes);
    KernelSectors one = out.seen;
    one.least = sectors;
    one.lines = one.least_lines = sectors_at(bytes, now.active, moved, global_line_bytes);
    out.same = out.same && (!out.aligned || sectors == out.most);
    if (!out.aligned) out.seen = one;
    out.seen.merge(one);
    if (!out.aligned || sectors > out.most) {
      out.most = sectors, out.residue = residue;
      for (unsigned l = 0; l < 32; ++l)
        out.lanes.address[l] = static_cast<std::uint32_t>(moved[l]),
        out.lanes.active[l] = (now.active >> l & 1) != 0;
    }
    out.aligned = true;
  }
  return out;
}

AlignedPointers align_pointers(ExecutedKernel& kernel) {
  bool const given = kernel.options.pointers != 0;
  std::uint64_t const bytes = given ? kernel.options.pointers : global_line_bytes;
  std::set<std::uint32_t> pointers;
  auto const& accesses = kernel.program.accesses;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    bool const source =
        i + 1 < accesses.size() && accesses[i + 1].bypasses && accesses[i + 1].line == accesses[i].line;
    if (!(accesses[i].global || (given && accesses[i].generic)) || !(given || source)) continue;
    std::set<std::uint32_t> of_one;
    if (kernel.execution.accesses[i].reached &&
        find_pointers(kernel, kernel.execution.accesses[i].address, of_one, 0))
      pointers.insert(of_one.begin(), of_one.end());
  }
  AlignedPointers from = AlignedPointers::none;
  for (std::uint32_t s = 0; s < kernel.program.symbols.size(); ++s) {
    program::Variable& v = kernel.program.symbols[s];
    if (kernel.launch.params.contains(v.name)) {
      v.points_to = 1;
    } else if (pointers.contains(s) && v.points_to < bytes) {
      v.points_to = bytes;
      from = given ? AlignedPointers::given : AlignedPointers::copied;
    }
  }
  return from;
}

unsigned ideal_of_global(ExecutedKernel& kernel, program::MemoryAccess const& access,
                         execution::ExecutedAccess const& executed) {
  int most = 0;
  for (unsigned w = 0; w < kernel.warps.count(); ++w) {
    Warp& warp = kernel.warps.plain(w);
    most = std::max(most, std::popcount(warp.present() & ~warp.truth(executed.guard).no));
  }
  return ideal_sectors(static_cast<unsigned>(most), access.bytes);
}

}  // namespace swizproof::kernel_detail
