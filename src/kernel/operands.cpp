#include "operands.hpp"

#include "address_text.hpp"
#include "copy_bounds.hpp"
#include "instructions.hpp"
#include "known_bits.hpp"
#include "operand_runs.hpp"
#include "operand_start.hpp"
#include "shuffle_source.hpp"
#include "tile_writers.hpp"

#include <swizproof/hardware/tile_base.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace swizproof::kernel_detail {

namespace {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::Lanes;
using execution::LaneTruths;
using execution::Request;
using execution::Warp;
using program::OperandRole;
using program::SharedOperand;

constexpr std::uint64_t base_period = std::uint64_t{1} << base_bits;
constexpr std::size_t most_operand_cases = 4096;  ///< most cases of one operand in one warp
constexpr unsigned most_doubts = 4;               ///< most doubts of one operand in one warp

// --------------------------------------------------------------------------------------- operands

std::string_view name(OperandRole role) {
  static constexpr std::string_view names[] = {"descriptor A", "descriptor B", "descriptor", "destination",
                                               "source",       "mbarrier",     "instruction"};
  return names[static_cast<std::size_t>(role)];
}

KernelOperand described(ptx::Module const& module, program::Program const& program, SharedOperand const& o) {
  KernelOperand out;
  out.sass = program.language == "SASS";
  out.op = o.at.op;
  out.what = name(o.role);
  out.ptx_line = o.at.line;
  out.calls = o.at.calls;
  out.needed = o.unit;
  if (o.at.location >= 0) {
    ptx::Location const& at = module.locations[static_cast<std::size_t>(o.at.location)];
    if (at.file < module.files.size()) out.file = module.files[at.file];
    out.line = at.line;
  }
  return out;
}

/// Swizzle pattern that a start lies in: its size in bytes, and the bytes of its first row.
struct Pattern {
  std::uint64_t bytes = 0;  ///< 0: none
  std::uint64_t row = 0;
  std::uint64_t shift = 0;        ///< start of the pattern, modulo `bytes`
  std::uint64_t least_bytes = 0;  ///< period of the swizzle itself
};

/// [PTX ISA 9.1, 9.7.15.5.1 and 9.7.16.4.1: the pattern begins at a multiple of 1024, 512 or 256 bytes, or the base offset is
/// (address of the pattern >> 7) & 7]
Pattern pattern_of(MatrixDescriptor const& d) {
  OperandMode const& mode = d.operand_mode();
  if (!mode.shape.swizzled) return {};
  std::uint64_t const own = std::uint64_t{8} * mode.shape.row_bytes;
  std::uint64_t const least = mode.swizzle.period();
  if (d.base_offset != 0)
    return {base_period, mode.shape.row_bytes, std::uint64_t{128} * d.base_offset, least};
  return {own, mode.shape.row_bytes, 0, least};
}

/// One operand of one kernel.
class OperandDecision {
 public:
  OperandDecision(ExecutedKernel& kernel, std::size_t index, KernelOperand& out)
      : kernel_(kernel),
        operand_(kernel.program.operands[index]),
        done_(kernel.execution.operands[index]),
        out_(out),
        start_(kernel, operand_.is_descriptor(), done_.address),
        runs_(kernel, index) {}

  /// Descriptor, array and start; false if the verdict is there already.
  bool prepare(KnownBits& known) {
    if (!done_.reached) {
      out_.executed = false;
      return settle(KernelVerdict::proved, "no path leads to it");
    }
    if (!operand_.at.reason.empty()) return settle(KernelVerdict::unknown, operand_.at.reason);
    follow_shuffles(kernel_, done_.address);
    Origins::Root const root = kernel_.origins.root_of(done_.address, symbol_);
    if (root != Origins::Root::shared) symbol_ = ~0U;
    if (symbol_ != ~0U) find_base();
    if (symbol_ != ~0U) start_.find_shifted();
    out_.start = start_.text();
    if (operand_.is_descriptor() && !find_fields(known)) return false;
    if (root != Origins::Root::shared && root != Origins::Root::none)
      return settle(KernelVerdict::unknown, "the address is not that of one variable in shared memory");
    return true;
  }

  /// Decides on all bases that PTX permits, and where the answer depends on them, on that which a device gives.
  void decide() {
    decide_on(std::nullopt);
    if (out_.verdict == KernelVerdict::proved || symbol_ == ~0U || kernel_.options.any_base) return;
    KernelOperand const any = out_;
    if (auto const& placed = kernel_.program.symbols[symbol_].placed) {
      out_.base = std::nullopt, out_.values.clear(), out_.reason.clear();
      found_ = {}, on_bases_ = true;
      decide_on(*placed % base_period);
      out_.on_bases = out_.verdict != any.verdict || out_.guaranteed != any.guaranteed;
      if (!out_.on_bases) out_ = any;
    } else if (any.base) {
      settle(KernelVerdict::unknown, any.reason + "; where it lies is not known");
    }
  }

  /// The tile of this descriptor starts where an address points to, but for what changes with stages; or whole patterns behind it, and
  /// no other code writes there.
  [[nodiscard]] bool reads_from(OperandDecision& destination, TileWriters& writers) {
    auto const here = start_.constant_part(), there = destination.start_.constant_part();
    if (symbol_ == ~0U || symbol_ != destination.symbol_ || pattern_.bytes == 0 || !here || !there ||
        *here < *there || (*here - *there) % pattern_.bytes >= pattern_.row)
      return false;
    return *here - *there < pattern_.row || writers.only_tensors_behind(destination.done_, symbol_);
  }
  /// The tile of this descriptor is written by TMA, which swizzles addresses, too: it may start anywhere. A base offset moves
  /// what is read, and nothing that is written.
  void is_written_by_tma() {
    if (pattern_.bytes == 0 || out_.descriptor->base_offset != 0) return;
    pattern_ = {};
    need(base_unit({.descriptor = true}));
  }
  [[nodiscard]] bool is_descriptor() const { return operand_.is_descriptor(); }
  [[nodiscard]] bool is_tensor_destination() const {
    return operand_.tensor && operand_.role == OperandRole::destination;
  }

 private:
  /// Findings of all cases.
  struct Found {
    std::size_t cases = 0;
    unsigned doubts = 0;  ///< wrong cases without an execution that shows them
    bool any = false, refuted = false, measured = true;
    std::string unknown{}, reason{};
    std::uint64_t guaranteed = ~std::uint64_t{0};
    /// Bytes from the start of the pattern to that of the operand, with the first base.
    std::map<std::vector<std::uint64_t>, std::pair<std::uint64_t, std::optional<std::uint64_t>>> first{};
  };

  /// Decides on one base modulo 1024, or on all.
  void decide_on(std::optional<std::uint64_t> base) {
    found_.guaranteed = out_.needed;
    for (warp_ = 0; warp_ < kernel_.warps.count(); ++warp_) {
      found_.cases = 0, found_.doubts = 0;
      reference_ = on_bases_;  // where the tile begins in the pattern if its array is at a multiple of 1024
      if (reference_) solve({warp_, {}, 0}, 0);
      reference_ = false;
      solve({warp_, {}, base}, 0);
    }
    out_.executed = found_.any;
    if (!found_.any)
      settle(KernelVerdict::proved, "no lane executes it");
    else if (found_.refuted)
      settle(KernelVerdict::refuted, found_.reason);
    else if (!found_.unknown.empty())
      settle(KernelVerdict::unknown, found_.unknown);
    else
      settle(KernelVerdict::proved, "");
    if (found_.any && found_.measured) out_.guaranteed = static_cast<unsigned>(found_.guaranteed);
  }
  void need(std::uint64_t bytes) {
    out_.needed = static_cast<unsigned>(std::max<std::uint64_t>(operand_.unit, bytes));
  }

  bool settle(KernelVerdict verdict, std::string reason) {
    out_.verdict = verdict;
    out_.reason = std::move(reason);
    return false;
  }
  void unknown(std::string reason) {
    if (found_.unknown.empty()) found_.unknown = std::move(reason);
  }
  /// The address is not known, or not the same in all lanes.
  void lost(std::string reason) {
    found_.measured = false;
    unknown(std::move(reason));
  }
  [[nodiscard]] Node const& node(Id id) const { return kernel_.execution.terms.nodes()[id]; }

  // ------------------------------------------------------------------------------------- what it is

  void find_base() {
    base_ = kernel_.origins.node_of_symbol(symbol_);
    program::Variable const& array = kernel_.program.symbols[symbol_];
    align_ = std::max<std::uint64_t>(array.align, 1);
    out_.array = text_of_term(kernel_.program, kernel_.execution, base_);
    runs_.set_array(symbol_, base_);
  }

  bool find_fields(KnownBits& known) {
    Bits const b = known.of(done_.address);
    std::uint64_t const high = ~start_mask, open = high & ~(b.zeros | b.ones);
    if (open != 0) {
      auto const bit = static_cast<unsigned>(std::countr_zero(open));
      Id const source = known.source_of(done_.address, bit);
      Origin const from = kernel_.origins.origin(source);
      std::string const text = fmt::format("bit {} of the descriptor is not known to be constant", bit);
      return settle(KernelVerdict::unknown,
                    from.leaf != 0 ? text + ": it depends on " + kernel_.origins.text_of(from.leaf)
                                   : kernel_.origins.with_line(text, source));
    }
    OperandReader const reader = operand_.tcgen05 ? OperandReader::tcgen05 : OperandReader::wgmma;
    DecodedDescriptor const decoded = decode(reader, b.ones & high);
    if (decoded.version_is_wrong)
      invalid_ =
          fmt::format("bits 48..46 of a descriptor of tcgen05 are 1, and here {}", version_field.of(b.ones));
    else if (decoded.mode_is_wrong)
      invalid_ = fmt::format("no swizzle mode of {} has the number {}", swizproof::name(reader),
                             mode_field(reader).of(b.ones));
    if (!invalid_.empty()) return true;
    if (decoded.reserved != 0)
      return settle(KernelVerdict::unknown,
                    fmt::format("bits {:#x} of the descriptor belong to no field of {}", decoded.reserved,
                                swizproof::name(reader)));
    out_.descriptor = decoded.descriptor;
    if (decoded.leading_is_address)
      return settle(KernelVerdict::unknown, "its leading byte offset is an address (bit 52): not modelled");
    pattern_ = pattern_of(decoded.descriptor);
    need(base_unit({.descriptor = true, .offsets = std::max<std::uint64_t>(pattern_.bytes, 1)}));
    return true;
  }

  // ------------------------------------------------------------------------------------- cases

  /// Address modulo 1024: of a descriptor the start, with the low bits that `>> 4` loses.
  struct Address {
    Lanes lanes{};
    std::vector<std::pair<Id, std::uint64_t>> terms{};  ///< those that are no multiples of 1024
    bool one = true;                                    ///< one value in all lanes that execute it
  };
  Lanes measured(Warp& warp, std::uint32_t active, Address& out) {
    auto const bits =
        static_cast<unsigned>(std::countr_zero(std::max<std::uint64_t>(operand_.unit, pattern_.bytes)));
    Lanes v = warp.value(done_.address, is_descriptor() ? start_bits : bits);
    if (!v.split()) return v;
    unsigned const first = static_cast<unsigned>(std::countr_zero(active));
    for (unsigned l = 0; l < 32; ++l)
      out.one = out.one && ((active >> l & 1) == 0 || v.lane[l] == v.lane[first]);
    add(out, v, is_descriptor() ? 16 : 1, warp, bits);
    for (Id const address : start_.shifted()) {
      Lanes const low = warp.value(address, 4);
      if (!low.split()) return low;
      if (start_.shuffled() && !low.uniform()) return {Lanes::State::varying, address};
      if (start_.shifted().size() == 1) add(out, low, 1, warp, 4);
    }
    return v;
  }
  static void add(Address& into, Lanes const& v, std::uint64_t factor, Warp& warp, unsigned bits) {
    for (unsigned l = 0; l < 32; ++l) into.lanes.lane[l] += factor * v.lane[l];
    for (auto const& [atom, f] : v.terms)
      if (static_cast<unsigned>(std::countr_zero(f * factor)) + warp.trailing_zeros(atom) < bits)
        into.terms.emplace_back(atom, f * factor);
  }

  /// Bytes by which an address moves if the base does by one; 0: the atom is not the base.
  [[nodiscard]] std::uint64_t slope(Id atom, std::uint64_t factor) const {
    if (base_ == 0) return 0;
    if (atom == base_) return factor;
    Node const n = node(atom);
    if (n.op != Op::bv_lshr || n.a != base_ || node(n.b).op != Op::constant) return 0;
    std::uint64_t const k = node(n.b).value;
    return k < base_bits && align_ % (std::uint64_t{1} << k) == 0 && factor % (std::uint64_t{1} << k) == 0
               ? factor >> k
               : 0;
  }
  void solve(OperandCase const& one, unsigned depth) {
    if (kernel_.out_of_steps()) return lost("the limit of steps for one kernel");
    if (++found_.cases > most_operand_cases)
      return lost(fmt::format("more than {} cases", most_operand_cases));
    Warp& warp = runs_.under(one);
    LaneTruths const guard = warp.truth(done_.guard);
    std::uint32_t const active = warp.present() & ~guard.no;
    if (active == 0) return;
    Address address;
    Lanes const v = measured(warp, active, address);
    if (v.state == Lanes::State::varying) {
      found_.any = true;
      Origin const from = kernel_.origins.origin_of_varying(warp, done_.address, v.why);
      return lost("the address depends on " + kernel_.origins.text_of(from.leaf));
    }
    bool const free_base = base_ != 0 && !one.base && align_ < base_period;
    if (v.state == Lanes::State::stuck) {
      if (free_base) return all_bases(one, depth);
      return split(warp, one, warp.request(v.why), depth);
    }
    std::uint64_t moves = 0;
    for (auto const& [atom, factor] : address.terms) {
      std::uint64_t const s = free_base ? slope(atom, factor) : 0;
      if (s == 0)
        return free_base && runs_.depends_on_base(atom)
                   ? all_bases(one, depth)
                   : split(warp, one,
                           {Request::Kind::residue, atom,
                            base_bits - static_cast<unsigned>(std::countr_zero(factor)),
                            "a part of the address"},
                           depth);
      moves += s;
    }
    if (moves != 0 && runs_.depends_on_base(done_.guard)) return all_bases(one, depth);
    found_.any = true;
    // A warp issues a wgmma, and each lane a tcgen05.mma or tcgen05.cp of its own.
    if (is_descriptor() && !operand_.tcgen05 && !address.one)
      return lost("the lanes of a warp have different descriptors");
    check_invalid(one, active);
    std::map<std::uint64_t, std::uint32_t> lanes;  // of each address modulo 1024
    for (unsigned l = 0; l < 32; ++l)
      if ((active >> l & 1) != 0) lanes[address.lanes.lane[l] & (base_period - 1)] |= 1U << l;
    for (auto const& [x, of] : lanes) {
      if (moves == 0) {
        check(one, of, x);
        continue;
      }
      for (std::uint64_t const r : bases())
        check({one.warp, one.assumptions, r}, of, x + moves * r & (base_period - 1));
    }
  }
  /// Bases modulo 1024. Those that keep the place in a row come first: the smallest of them shows it for all descriptors of a
  /// tile.
  [[nodiscard]] std::vector<std::uint64_t> bases() const {
    std::uint64_t const step = std::max(align_, pattern_.row);
    std::vector<std::uint64_t> all;
    for (std::uint64_t r = 0; r < base_period; r += step) all.push_back(r);
    for (std::uint64_t r = 0; r < base_period; r += align_)
      if (r % step != 0) all.push_back(r);
    return all;
  }
  void all_bases(OperandCase const& one, unsigned depth) {
    for (std::uint64_t const r : bases()) solve({one.warp, one.assumptions, r}, depth + 1);
  }

  static bool assumed(std::vector<Assumption> const& assumptions, Id id) {
    return std::any_of(assumptions.begin(), assumptions.end(),
                       [&](Assumption const& a) { return a.atom == id; });
  }
  void split(Warp& warp, OperandCase const& one, Request const& request, unsigned depth) {
    Request const wanted = request;  // of a warp that is changed below
    auto const give_up = [&] {
      found_.any = true;
      Origin const from = wanted.atom == 0 ? Origin{} : kernel_.origins.origin(wanted.atom);
      lost(from.leaf != 0 ? "the address depends on " + kernel_.origins.text_of(from.leaf)
                          : (wanted.reason.empty() ? "a value is not followed" : wanted.reason));
    };
    if (wanted.kind == Request::Kind::none || depth >= 6) return give_up();
    // A counter settles more than a part of it, and an iteration that is known to be executed is one of an execution.
    Id counter = 0;
    for (Id const id : kernel_.origins.leaves_of({wanted.atom}))
      if (wanted.atom != 0 && kernel_.iterations.count(warp_, id) != 0 && !assumed(one.assumptions, id))
        counter = id;
    // A part that moves with the base must not be taken for another case.
    if (counter == 0 && pattern_.bytes != 0 && wanted.atom != 0 && runs_.depends_on_base(wanted.atom))
      return found_.any = true, lost("how the address depends on the base is not followed");
    std::vector<Assumption> values;
    if (counter != 0) {
      for (std::uint64_t k = 0; k < kernel_.iterations.count(warp_, counter); ++k)
        values.push_back({counter, false, 64, k});
    } else if (wanted.kind == Request::Kind::truth) {
      Id atom = wanted.atom;
      while (node(atom).op == Op::negation) atom = node(atom).a;
      for (std::uint64_t const v : {0U, 1U}) values.push_back({atom, true, 64, v});
    } else if (auto const domain = warp.domain(wanted.atom, 64)) {
      for (std::uint64_t const x : *domain) values.push_back({wanted.atom, false, 64, x});
    } else if (wanted.kind == Request::Kind::residue && wanted.bits <= base_bits) {
      execution::Facts const facts = warp.facts(wanted.atom);
      for (std::uint64_t v = 0; v < std::uint64_t{1} << wanted.bits && v <= facts.most; ++v)
        if ((v & facts.zeros) == 0) values.push_back({wanted.atom, false, wanted.bits, v});
    } else {
      return give_up();
    }
    for (Assumption const& v : values) {
      OperandCase next = one;
      std::erase_if(next.assumptions, [&](Assumption const& a) { return a.atom == v.atom; });
      next.assumptions.push_back(v);
      solve(next, depth + 1);
    }
  }

  // ------------------------------------------------------------------------------------- verdicts

  void check_invalid(OperandCase const& one, std::uint32_t active) {
    if (!invalid_.empty()) violated(one, active, invalid_);
    if (done_.size == 0 || found_.refuted) return;
    Lanes const size = runs_.under(one).value(done_.size, 4);  // what is not constant is not checked
    if (!size.pure()) return;
    std::uint32_t odd = 0;
    for (unsigned l = 0; l < 32; ++l)
      if (size.lane[l] != 0) odd |= active & 1U << l;
    if (odd != 0) violated(one, odd, "its size is not a multiple of 16 bytes");
  }

  [[nodiscard]] std::string if_base(std::optional<std::uint64_t> base) const {
    if (!base || base_ == 0) return {};
    return on_bases_ ? fmt::format(" with {} at {:#x}", out_.array, *kernel_.program.symbols[symbol_].placed)
                     : fmt::format(" if the base of {} is {}; its .align is {}", out_.array, *base, align_);
  }

  /// An address modulo 1024 in one case, in the lanes that have it.
  void check(OperandCase const& one, std::uint32_t lanes, std::uint64_t x) {
    if (x % operand_.unit != 0 && !reference_) {
      found_.guaranteed = std::min<std::uint64_t>(found_.guaranteed, std::uint64_t{1} << std::countr_zero(x));
      return violated(
          one, lanes,
          fmt::format("the address is not a multiple of {} bytes{}", operand_.unit, if_base(one.base)));
    }
    if (pattern_.bytes == 0) return;
    std::uint64_t const within = x - pattern_.shift & (pattern_.bytes - 1);
    std::vector<std::uint64_t> key{warp_, lanes};
    for (Assumption const& a : one.assumptions) key.insert(key.end(), {a.atom, a.bits, a.value});
    auto const [at, fresh] = found_.first.try_emplace(std::move(key), within, one.base);
    auto const [first, first_base] = at->second;
    if (reference_) return;
    if (on_bases_ && (first - within) % pattern_.least_bytes != 0)
      return unknown(fmt::format("the swizzle pattern starts {} bytes from a multiple of {}{}",
                                 first - within & (pattern_.bytes - 1), pattern_.bytes, if_base(one.base)));
    if (first != within)
      found_.guaranteed = std::min(found_.guaranteed, std::uint64_t{1} << std::countr_zero(first ^ within));
    // Neither where the pattern begins in the array depends on the base, nor the row that the operand starts in: the base moves
    // no start to another row.
    if (first / pattern_.row != within / pattern_.row) {
      auto const wrong = within / pattern_.row != 0 ? one.base : first_base;
      std::string moved = fmt::format("the swizzle pattern does not start at a multiple of {} bytes{}",
                                      pattern_.bytes, if_base(wrong));
      if ((first - within) % pattern_.least_bytes == 0) return unknown(moved);
      return violated({one.warp, one.assumptions, wrong}, lanes, moved);
    }
    if (within >= pattern_.row)
      unknown(fmt::format("it starts in row {} of a swizzle pattern of {} bytes; base offset {} is of row 0",
                          within / pattern_.row, pattern_.bytes, out_.descriptor->base_offset));
  }

  /// The operand is wrong in this case, in these lanes: refuted if one of them executes it.
  void violated(OperandCase const& one, std::uint32_t lanes, std::string const& reason) {
    if (found_.refuted || found_.doubts == most_doubts || reference_) return;
    if (!runs_.exist(one, lanes, bases()))
      return ++found_.doubts, unknown("no execution was found in which " + reason);
    found_.refuted = true;
    found_.reason = reason;
    out_.base = on_bases_ ? kernel_.program.symbols[symbol_].placed : one.base;
    out_.values = runs_.values();
    for (Assumption const& a : one.assumptions)
      out_.values.emplace_back(text_of_term(kernel_.program, kernel_.execution, a.atom), a.value);
  }

  ExecutedKernel& kernel_;
  SharedOperand const& operand_;
  ExecutedAccess const& done_;
  KernelOperand& out_;
  std::uint32_t symbol_ = ~0U;
  Id base_ = 0;  ///< node of the array's address
  std::uint64_t align_ = base_period;
  OperandStart start_;
  OperandRuns runs_;
  Pattern pattern_{};
  unsigned warp_ = 0;
  std::string invalid_{};
  bool reference_ = false;
  bool on_bases_ = false;  ///< decides on the base that a device gives
  Found found_{};
};

}  // namespace

std::vector<KernelOperand> list_operands(ptx::Module const& module, program::Program const& program,
                                         std::string const& reason) {
  std::vector<KernelOperand> all;
  for (SharedOperand const& o : program.operands) {
    all.push_back(described(module, program, o));
    all.back().reason = reason;
  }
  return all;
}

std::vector<KernelOperand> decide_operands(ExecutedKernel& kernel) {
  std::vector<KernelOperand> all = list_operands(kernel.module, kernel.program, "");
  if (all.empty()) return all;
  KnownBits known(kernel);
  std::vector<std::unique_ptr<OperandDecision>> open;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (kernel.program.operands[i].role == OperandRole::instruction)
      decide_instruction(kernel, i, known, all[i]);
    else if (auto one = std::make_unique<OperandDecision>(kernel, i, all[i]); one->prepare(known))
      open.push_back(std::move(one));
  std::vector<OperandDecision*> written;
  TileWriters writers(kernel);
  for (auto const& to : open)
    if (to->is_tensor_destination())
      for (auto const& from : open)
        if (from->is_descriptor() && from->reads_from(*to, writers)) written.push_back(from.get());
  for (OperandDecision* const one : written) one->is_written_by_tma();
  for (auto const& one : open) one->decide(), kernel.warps.release();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (kernel.program.operands[i].role == OperandRole::instruction)
      compare_with_matrices(kernel, i, all);
    else
      check_copy_bounds(kernel, i, all[i]);
  for (KernelOperand& o : all)
    if (o.verdict == KernelVerdict::unknown)
      o.reason = kernel.origins.with_line(std::move(o.reason), 0, o.ptx_line);
  return all;
}

}  // namespace swizproof::kernel_detail
