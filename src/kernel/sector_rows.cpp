#include "sector_rows.hpp"

#include "access_cost.hpp"
#include "parameter_terms.hpp"

#include <swizproof/hardware/global.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::Lanes;
using execution::Warp;
using program::MemoryAccess;

namespace {

constexpr unsigned sector_bits = 5, address_bits = 32;

/// Bytes of a term that all lanes share, times its factor.
struct SharedTerm {
  Id atom = 0;
  std::uint64_t factor = 0;
};

/// An address by its parts, modulo 2^32.
class AddressParts {
 public:
  AddressParts(ExecutedKernel const& kernel, Warp& warp) : kernel_(kernel), warp_(warp) {}

  /// False if the address has another form.
  bool add(Id id, std::uint64_t factor) {
    if (++steps_ > most_steps) return false;
    Node const n = kernel_.execution.terms.nodes()[id];
    auto const constant = [&](Id at) { return kernel_.execution.node(at).op == Op::constant; };
    if (Lanes const v = lanes(id); v.split()) return add_known(v, factor), true;
    if (n.op == Op::bv_add) return add(n.a, factor) && add(n.b, factor);
    if (n.op == Op::bv_sub) return add(n.a, factor) && add(n.b, -factor);
    bool const whole = kernel_.execution.node(n.a).width >= address_bits;
    if ((n.op == Op::zero_extend || n.op == Op::truncate) && n.width >= address_bits && whole)
      return add(n.a, factor);
    if (n.op == Op::bv_shl && constant(n.b) && kernel_.execution.node(n.b).value < address_bits)
      return add(n.a, factor << kernel_.execution.node(n.b).value);
    if (n.op != Op::bv_mul) return false;
    if (constant(n.a)) return add(n.b, factor * kernel_.execution.node(n.a).value);
    if (constant(n.b)) return add(n.a, factor * kernel_.execution.node(n.b).value);
    return add_product(n.a, n.b, factor) || add_product(n.b, n.a, factor);
  }

  LaneAddresses known{};
  std::vector<SharedTerm> shared{};
  std::map<Id, LaneAddresses> pitches{};  ///< coefficients, by the number that they multiply
  std::set<Id> multiplied{};              ///< terms that all lanes share, in a product with a pitch
  unsigned zeros = sector_bits;           ///< of the part that all lanes have in common

 private:
  static constexpr unsigned most_steps = 256;

  [[nodiscard]] Lanes lanes(Id id) {
    return warp_.value(id, std::min<unsigned>(kernel_.execution.node(id).width, address_bits));
  }

  void add_known(Lanes const& v, std::uint64_t factor) {
    for (unsigned l = 0; l < 32; ++l) known[l] += factor * v.lane[l];
    for (auto const& [atom, f] : v.terms) {
      shared.push_back({atom, factor * f});
      zeros = std::min(zeros, zeros_of(factor * f, atom));
    }
  }

  [[nodiscard]] unsigned zeros_of(std::uint64_t factor, Id atom) {
    return static_cast<unsigned>(std::countr_zero(factor)) + warp_.trailing_zeros(atom);
  }

  /// A number of each lane, plus what all lanes share, times a number that all lanes share.
  bool add_product(Id row, Id pitch, std::uint64_t factor) {
    Lanes const rows = lanes(row), by = lanes(pitch);
    if (!rows.split() || !by.split() || !by.uniform()) return false;
    LaneAddresses& coefficients = pitches[pitch];
    for (unsigned l = 0; l < 32; ++l) coefficients[l] += factor * rows.lane[l];
    for (auto const& [atom, f] : rows.terms) {
      zeros = std::min(zeros, zeros_of(factor * f, atom) + warp_.trailing_zeros(pitch));
      multiplied.insert(atom);
    }
    return true;
  }

  ExecutedKernel const& kernel_;
  Warp& warp_;
  unsigned steps_ = 0;
};

/// The most sectors of lanes whose distances are known, for each start that is `from` modulo 2^zeros; 0 if none is aligned.
unsigned most_of_row(MemoryAccess const& access, std::uint32_t lanes, LaneAddresses const& known,
                     unsigned zeros) {
  constexpr std::uint64_t far_from_zero = std::uint64_t{1} << 40;
  LaneAddresses const near = as_near(lanes, known);
  std::uint64_t const start = near[static_cast<unsigned>(std::countr_zero(lanes))];
  std::uint64_t const step = std::uint64_t{1} << zeros;
  unsigned most = 0;
  for (std::uint64_t r = start % step; r < sector_bytes; r += step) {
    LaneAddresses at{};
    bool aligned = true;
    for (unsigned l = 0; l < 32; ++l) {
      at[l] = near[l] - start + far_from_zero + r;
      aligned = aligned && ((lanes >> l & 1) == 0 || at[l] % access.bytes == 0);
    }
    if (aligned) most = std::max(most, sectors_at(access.bytes, lanes, at, sector_bytes));
  }
  return most;
}

/// Lanes by their coefficients.
std::vector<std::uint32_t> rows_in(AddressParts const& parts, std::uint32_t active) {
  std::map<std::vector<std::uint64_t>, std::uint32_t> rows;
  for (unsigned l = 0; l < 32; ++l) {
    if ((active >> l & 1) == 0) continue;
    std::vector<std::uint64_t> key;
    for (auto const& [pitch, coefficients] : parts.pitches)
      key.push_back(coefficients[l] & low_bits(address_bits));
    rows[key] |= 1U << l;
  }
  std::vector<std::uint32_t> out;
  for (auto const& [key, lanes] : rows) out.push_back(lanes);
  return out;
}

/// Pitches and a start with which the warp takes `most` sectors.
class Reaching {
 public:
  Reaching(ExecutedKernel const& kernel, Warp& warp, AddressParts const& parts, MemoryAccess const& access,
           std::uint32_t active, unsigned most)
      : kernel_(kernel), warp_(warp), parts_(parts), access_(access), active_(active), most_(most) {}

  std::vector<Assumption> find() {
    std::optional<SharedTerm> const base = base_of();
    if (!base && !parts_.shared.empty()) return {};
    std::uint64_t const unit =
        base ? std::uint64_t{1} << std::min(warp_.trailing_zeros(base->atom), sector_bits) : 1;
    for (std::uint64_t const odd : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 16U, 24U})
      for (std::uint64_t pitch = 32; pitch <= 8192; pitch *= 2)
        for (std::uint64_t residue = 0; residue < (base ? sector_bytes : 1); residue += unit)
          if (takes_all(pitch + odd, residue)) return assumptions(pitch + odd, residue, base);
    return {};
  }

 private:
  /// The pointer: a parameter that each residue may be of.
  [[nodiscard]] std::optional<SharedTerm> base_of() const {
    for (SharedTerm const& t : parts_.shared)
      if (t.factor == 1 && free_parameter(kernel_, t.atom, sector_bytes - 1) == t.atom) return t;
    return std::nullopt;
  }

  /// The n-th pitch, in the order of AddressParts::pitches.
  [[nodiscard]] static std::uint64_t pitch_of(std::uint64_t first, std::size_t n) { return first << 5 * n; }

  [[nodiscard]] bool takes_all(std::uint64_t pitch, std::uint64_t residue) const {
    constexpr std::uint64_t far_from_zero = std::uint64_t{1} << 40;
    LaneAddresses at = parts_.known;
    std::size_t n = 0;
    for (auto const& [atom, coefficients] : parts_.pitches) {
      for (unsigned l = 0; l < 32; ++l) at[l] += coefficients[l] * pitch_of(pitch, n);
      ++n;
    }
    for (unsigned l = 0; l < 32; ++l) at[l] = at[l] & low_bits(address_bits);
    at = as_near(active_, at);
    std::uint64_t const start = at[static_cast<unsigned>(std::countr_zero(active_))];
    std::uint64_t const low = start % sector_bytes;
    for (unsigned l = 0; l < 32; ++l) {
      at[l] = at[l] - start + far_from_zero + low + residue;
      if ((active_ >> l & 1) != 0 && at[l] % access_.bytes != 0) return false;
    }
    return sectors_at(access_.bytes, active_, at, sector_bytes) == most_;
  }

  /// The pointer has the residue, all that is added to it is a multiple of a sector.
  [[nodiscard]] std::vector<Assumption> assumptions(std::uint64_t pitch, std::uint64_t residue,
                                                    std::optional<SharedTerm> const& base) const {
    std::vector<Assumption> out;
    std::size_t n = 0;
    for (auto const& [atom, coefficients] : parts_.pitches)
      out.push_back({atom, false, 64, pitch_of(pitch, n++)});
    for (Id const atom : parts_.multiplied) out.push_back({atom, false, sector_bits, 0});
    for (SharedTerm const& t : parts_.shared) {
      bool const pointer = base && t.atom == base->atom;
      auto const multiple = static_cast<unsigned>(std::countr_zero(t.factor));
      if (!pointer && multiple >= sector_bits) continue;
      if (std::none_of(out.begin(), out.end(), [&](Assumption const& a) { return a.atom == t.atom; }))
        out.push_back({t.atom, false, sector_bits, pointer ? residue : 0});
    }
    return out;
  }

  ExecutedKernel const& kernel_;
  Warp& warp_;
  AddressParts const& parts_;
  MemoryAccess const& access_;
  std::uint32_t active_;
  unsigned most_;
};

}  // namespace

std::optional<SectorRows> rows_of(ExecutedKernel const& kernel, Warp& warp, MemoryAccess const& access,
                                  Id address, std::uint32_t active) {
  AddressParts parts(kernel, warp);
  if (active == 0 || !parts.add(address, 1) || parts.pitches.empty()) return std::nullopt;
  for (std::uint64_t& a : parts.known) a &= low_bits(address_bits);
  SectorRows out;
  for (std::uint32_t const lanes : rows_in(parts, active)) {
    unsigned zeros = parts.zeros;
    for (auto const& [pitch, coefficients] : parts.pitches) {
      std::uint64_t const factor = coefficients[static_cast<unsigned>(std::countr_zero(lanes))];
      if (factor != 0)
        zeros = std::min(zeros, static_cast<unsigned>(std::countr_zero(factor)) + warp.trailing_zeros(pitch));
    }
    unsigned const most = most_of_row(access, lanes, parts.known, zeros);
    if (most == 0) return std::nullopt;
    out.most += most;
  }
  out.most = std::min(out.most, most_wavefronts(kernel.options, access, active));
  out.reached_by = Reaching(kernel, warp, parts, access, active, out.most).find();
  return out;
}

}  // namespace swizproof::kernel_detail
