#include "operands.hpp"

#include "address_text.hpp"
#include "known_bits.hpp"
#include "execution/replay.hpp"

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
using execution::Replay;
using execution::Request;
using execution::TermValues;
using execution::Warp;
using program::OperandRole;
using program::SharedOperand;

constexpr unsigned period_bits = 10;  ///< 1024 bytes, of the widest swizzle
constexpr std::uint64_t base_period = std::uint64_t{1} << period_bits;
constexpr std::size_t most_operand_cases = 4096;  ///< of one operand in one warp
constexpr unsigned most_doubts = 4;               ///< of one operand in one warp

// --------------------------------------------------------------------------------------- operands

std::string_view name(OperandRole role) {
  static constexpr std::string_view names[] = {"descriptor A", "descriptor B", "descriptor",
                                               "destination",  "source",       "mbarrier"};
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

/// Swizzle pattern that a start lies in: `bytes` of it, of which `row` bytes are its first row.
struct Pattern {
  std::uint64_t bytes = 0;  ///< 0: none
  std::uint64_t row = 0;
  std::uint64_t shift = 0;        ///< where it begins, modulo `bytes`
  bool anywhere = false;          ///< the address may be in any row
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
    return {base_period, mode.shape.row_bytes, std::uint64_t{128} * d.base_offset, false, least};
  return {own, mode.shape.row_bytes, 0, false, least};
}

/// One operand of one kernel.
class OperandDecision {
 public:
  OperandDecision(ExecutedKernel& kernel, std::size_t index, KernelOperand& out)
      : kernel_(kernel),
        operand_(kernel.program.operands[index]),
        done_(kernel.execution.operands[index]),
        out_(out) {}

  /// Descriptor, array and start; false if the verdict is there already.
  bool prepare(KnownBits& known) {
    if (!done_.reached) {
      out_.executed = false;
      return settle(KernelVerdict::proved, "no path leads to it");
    }
    if (!operand_.at.reason.empty()) return settle(KernelVerdict::unknown, operand_.at.reason);
    Origins::Root const root = kernel_.origins.root_of(done_.address, symbol_);
    if (root != Origins::Root::shared) symbol_ = ~0U;
    if (symbol_ != ~0U) find_base();
    find_shifted();
    out_.start = start_text();
    if (operand_.is_descriptor() && !find_fields(known)) return false;
    if (root != Origins::Root::shared && root != Origins::Root::none)
      return settle(KernelVerdict::unknown, "the address is not that of one variable in shared memory");
    return true;
  }

  void decide() {
    for (warp_ = 0; warp_ < kernel_.warps.count(); ++warp_) {
      cases_ = 0, doubts_ = 0;
      solve({}, std::nullopt, 0);
    }
    out_.executed = any_;
    if (!any_)
      settle(KernelVerdict::proved, "no lane executes it");
    else if (refuted_)
      settle(KernelVerdict::refuted, reason_);
    else if (!unknown_.empty())
      settle(KernelVerdict::unknown, unknown_);
    else
      settle(KernelVerdict::proved, out_.reason);
    if (any_ && measured_) out_.guaranteed = static_cast<unsigned>(guaranteed_);
  }

  /// The tile of this descriptor starts where an address points to, but for what changes with stages.
  [[nodiscard]] bool reads_from(OperandDecision& destination) {
    auto const here = constant_part(), there = destination.constant_part();
    return symbol_ != ~0U && symbol_ == destination.symbol_ && pattern_.bytes != 0 && here && there &&
           *here >= *there && *here - *there < pattern_.row;
  }
  /// The destination of a copy is read by this descriptor.
  void is_read_by(OperandDecision const& descriptor) {
    if (pattern_.bytes >= descriptor.pattern_.bytes) return;
    pattern_ = descriptor.pattern_;
    pattern_.anywhere = true;
    out_.needed = std::max(operand_.unit, static_cast<unsigned>(pattern_.bytes));
    guaranteed_ = out_.needed;
    KernelOperand const& d = descriptor.out_;
    out_.reason =
        fmt::format("{} at {} reads it under {}", d.what,
                    d.file.empty() ? fmt::format("{} {}", d.sass ? "SASS" : "PTX", d.ptx_line)
                                   : fmt::format("{}:{}", d.file.substr(d.file.rfind('/') + 1), d.line),
                    d.descriptor->operand_mode().name);
  }
  [[nodiscard]] bool is_descriptor() const { return operand_.is_descriptor(); }
  [[nodiscard]] bool is_tensor_destination() const {
    return operand_.tensor && operand_.role == OperandRole::destination;
  }

 private:
  bool settle(KernelVerdict verdict, std::string reason) {
    out_.verdict = verdict;
    out_.reason = std::move(reason);
    return false;
  }
  void unknown(std::string reason) {
    if (unknown_.empty()) unknown_ = std::move(reason);
  }
  /// The address is not known, or not the same in all lanes.
  void lost(std::string reason) {
    measured_ = false;
    unknown(std::move(reason));
  }
  [[nodiscard]] Node const& node(Id id) const { return kernel_.execution.terms.nodes()[id]; }

  // ------------------------------------------------------------------------------------- what it is

  void find_base() {
    base_ = kernel_.origins.node_of_symbol(symbol_);
    program::Variable const& array = kernel_.program.symbols[symbol_];
    align_ = std::max<std::uint64_t>(array.align, 1);
    out_.array = text_of_term(kernel_.program, kernel_.execution, base_);
  }

  /// Finds the addresses of which a descriptor has what `>> 4` leaves.
  void find_shifted() {
    if (!operand_.is_descriptor() || symbol_ == ~0U) return;
    Walk walk(done_.address);
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

  /// `array + expression`, behind which a descriptor may be advanced.
  std::string start_text() {
    auto const text = [&](Id id) { return text_of_term(kernel_.program, kernel_.execution, id); };
    if (!operand_.is_descriptor()) return text(done_.address);
    if (shifted_.size() != 1) return fmt::format("({}) % 16384 * 16", text(done_.address));
    Warp& warp = kernel_.warps.plain(0);
    Lanes const whole = warp.value(done_.address, start_bits), part = warp.value(shift_node_, start_bits);
    std::string out = text(shifted_[0]);
    if (!whole.split() || !part.split()) return out + " + ..";
    for (auto const& [atom, factor] : whole.terms)
      if (std::find(part.terms.begin(), part.terms.end(), std::pair(atom, factor)) == part.terms.end())
        out += fmt::format(" + {} * {}", 16 * (factor & start_mask), text(atom));
    advance_ = 16 * (whole.lane[0] - part.lane[0] & start_mask);
    return out + (advance_ == 0 ? "" : fmt::format(" + {}", advance_));
  }

  bool find_fields(KnownBits& known) {
    Bits const b = known.of(done_.address);
    std::uint64_t const high = ~start_mask, open = high & ~(b.zeros | b.ones);
    if (open != 0)
      return settle(
          KernelVerdict::unknown,
          fmt::format("bit {} of the descriptor is not known to be constant", std::countr_zero(open)));
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
    out_.needed = std::max(operand_.unit, static_cast<unsigned>(pattern_.bytes));
    guaranteed_ = out_.needed;
    return true;
  }

  /// The number in the address of all lanes that no atom adds to.
  std::optional<std::uint64_t> constant_part() {
    Warp& warp = kernel_.warps.plain(0);
    if (is_descriptor() && shifted_.size() != 1) return std::nullopt;
    Lanes const v = warp.value(is_descriptor() ? shifted_[0] : done_.address, window_bits);
    if (!v.uniform()) return std::nullopt;
    return v.lane[0] + advance_;
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
    for (Id const address : shifted_) {
      Lanes const low = warp.value(address, 4);
      if (!low.split()) return low;
      if (shifted_.size() == 1) add(out, low, 1, warp, 4);
    }
    return v;
  }
  static void add(Address& into, Lanes const& v, std::uint64_t factor, Warp& warp, unsigned bits) {
    for (unsigned l = 0; l < 32; ++l) into.lanes.lane[l] += factor * v.lane[l];
    for (auto const& [atom, f] : v.terms)
      if (static_cast<unsigned>(std::countr_zero(f * factor)) + warp.trailing_zeros(atom) < bits)
        into.terms.emplace_back(atom, f * factor);
  }

  Warp& under(std::vector<Assumption> assumptions, std::optional<std::uint64_t> base) {
    if (base) assumptions.push_back({base_, false, period_bits, *base});
    if (assumptions.empty()) return kernel_.warps.plain(warp_);
    auto& s = scratches_[warp_];
    if (!s) s = kernel_.warps.another(warp_);
    s->assume(assumptions);
    return *s;
  }

  /// Bytes by which an address moves if the base does by one; 0: the atom is not the base.
  [[nodiscard]] std::uint64_t slope(Id atom, std::uint64_t factor) const {
    if (base_ == 0) return 0;
    if (atom == base_) return factor;
    Node const n = node(atom);
    if (n.op != Op::bv_lshr || n.a != base_ || node(n.b).op != Op::constant) return 0;
    std::uint64_t const k = node(n.b).value;
    return k < period_bits && align_ % (std::uint64_t{1} << k) == 0 && factor % (std::uint64_t{1} << k) == 0
               ? factor >> k
               : 0;
  }
  [[nodiscard]] bool depends_on_base(Id id) {
    if (base_ == 0) return false;
    auto const [memo, fresh] = moved_by_base_.try_emplace(id, false);
    if (!fresh) return memo->second;
    std::vector<Id> const leaves = kernel_.origins.leaves_of({id});
    return memo->second = std::find(leaves.begin(), leaves.end(), base_) != leaves.end();
  }

  /// One case: assumptions, and the base modulo 1024 if it matters.
  void solve(std::vector<Assumption> const& assumptions, std::optional<std::uint64_t> base, unsigned depth) {
    if (kernel_.out_of_steps()) return lost("the limit of steps for one kernel");
    if (++cases_ > most_operand_cases) return lost(fmt::format("more than {} cases", most_operand_cases));
    Warp &warp = under(assumptions, base), &clean = kernel_.warps.plain(warp_);
    auto const steps = [&] { return warp.steps() + (&warp == &clean ? 0 : clean.steps()); };
    std::uint64_t const before = steps();
    LaneTruths const guard = warp.truth(done_.guard);
    std::uint32_t const active = warp.present() & ~guard.no;
    if (active == 0) return;
    Address address;
    Lanes const v = measured(warp, active, address);
    kernel_.warps.add_steps(steps() - before);
    if (v.state == Lanes::State::varying) {
      any_ = true;
      Origin const from = kernel_.origins.origin_of_varying(warp, done_.address, v.why);
      return lost("the address depends on " + kernel_.origins.text_of(from.leaf));
    }
    bool const free_base = base_ != 0 && !base && align_ < base_period;
    if (v.state == Lanes::State::stuck) {
      if (free_base) return all_bases(assumptions, depth);
      return split(warp, assumptions, base, warp.request(v.why), depth);
    }
    std::uint64_t moves = 0;
    for (auto const& [atom, factor] : address.terms) {
      std::uint64_t const s = free_base ? slope(atom, factor) : 0;
      if (s == 0)
        return free_base && depends_on_base(atom)
                   ? all_bases(assumptions, depth)
                   : split(warp, assumptions, base,
                           {Request::Kind::residue, atom,
                            period_bits - static_cast<unsigned>(std::countr_zero(factor)),
                            "a part of the address"},
                           depth);
      moves += s;
    }
    if (moves != 0 && depends_on_base(done_.guard)) return all_bases(assumptions, depth);
    any_ = true;
    if (is_descriptor() && !address.one) return lost("the lanes of a warp have different descriptors");
    check_invalid(assumptions, base, active);
    std::map<std::uint64_t, std::uint32_t> lanes;  // of each address modulo 1024
    for (unsigned l = 0; l < 32; ++l)
      if ((active >> l & 1) != 0) lanes[address.lanes.lane[l] & (base_period - 1)] |= 1U << l;
    for (auto const& [x, of] : lanes) {
      if (moves == 0) {
        check(assumptions, base, of, x);
        continue;
      }
      for (std::uint64_t const r : bases()) check(assumptions, r, of, x + moves * r & (base_period - 1));
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
  void all_bases(std::vector<Assumption> const& assumptions, unsigned depth) {
    for (std::uint64_t const r : bases()) solve(assumptions, r, depth + 1);
  }

  static bool assumed(std::vector<Assumption> const& assumptions, Id id) {
    return std::any_of(assumptions.begin(), assumptions.end(),
                       [&](Assumption const& a) { return a.atom == id; });
  }
  void split(Warp& warp, std::vector<Assumption> const& assumptions, std::optional<std::uint64_t> base,
             Request const& request, unsigned depth) {
    Request const wanted = request;  // of a warp that is changed below
    auto const give_up = [&] {
      any_ = true;
      Origin const from = wanted.atom == 0 ? Origin{} : kernel_.origins.origin(wanted.atom);
      lost(from.leaf != 0 ? "the address depends on " + kernel_.origins.text_of(from.leaf)
                          : (wanted.reason.empty() ? "a value is not followed" : wanted.reason));
    };
    if (wanted.kind == Request::Kind::none || depth >= 6) return give_up();
    // A counter settles more than a part of it, and an iteration that is known to be executed is one of an execution.
    Id counter = 0;
    for (Id const id : kernel_.origins.leaves_of({wanted.atom}))
      if (wanted.atom != 0 && kernel_.iterations.count(warp_, id) != 0 && !assumed(assumptions, id))
        counter = id;
    // A part that moves with the base must not be taken for another case.
    if (counter == 0 && pattern_.bytes != 0 && wanted.atom != 0 && depends_on_base(wanted.atom))
      return any_ = true, lost("how the address depends on the base is not followed");
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
    } else if (wanted.kind == Request::Kind::residue && wanted.bits <= period_bits) {
      execution::Facts const facts = warp.facts(wanted.atom);
      for (std::uint64_t v = 0; v < std::uint64_t{1} << wanted.bits && v <= facts.most; ++v)
        if ((v & facts.zeros) == 0) values.push_back({wanted.atom, false, wanted.bits, v});
    } else {
      return give_up();
    }
    for (Assumption const& v : values) {
      std::vector<Assumption> next = assumptions;
      std::erase_if(next, [&](Assumption const& a) { return a.atom == v.atom; });
      next.push_back(v);
      solve(next, base, depth + 1);
    }
  }

  // ------------------------------------------------------------------------------------- verdicts

  void check_invalid(std::vector<Assumption> const& assumptions, std::optional<std::uint64_t> base,
                     std::uint32_t active) {
    if (!invalid_.empty()) violated(assumptions, base, active, invalid_);
    if (done_.size == 0 || refuted_) return;
    Lanes const size = under(assumptions, base).value(done_.size, 4);  // what is not constant is not checked
    if (!size.pure()) return;
    std::uint32_t odd = 0;
    for (unsigned l = 0; l < 32; ++l)
      if (size.lane[l] != 0) odd |= active & 1U << l;
    if (odd != 0) violated(assumptions, base, odd, "its size is not a multiple of 16 bytes");
  }

  [[nodiscard]] std::string if_base(std::optional<std::uint64_t> base) const {
    if (!base || base_ == 0) return {};
    return fmt::format(" if the base of {} is {}; its .align is {}", out_.array, *base, align_);
  }

  /// An address modulo 1024 in one case, in the lanes that have it.
  void check(std::vector<Assumption> const& assumptions, std::optional<std::uint64_t> base,
             std::uint32_t lanes, std::uint64_t x) {
    if (x % operand_.unit != 0) {
      guaranteed_ = std::min<std::uint64_t>(guaranteed_, std::uint64_t{1} << std::countr_zero(x));
      return violated(
          assumptions, base, lanes,
          fmt::format("the address is not a multiple of {} bytes{}", operand_.unit, if_base(base)));
    }
    if (pattern_.bytes == 0) return;
    std::uint64_t const within = x - pattern_.shift & (pattern_.bytes - 1);
    std::vector<std::uint64_t> key{warp_, lanes};
    for (Assumption const& a : assumptions) key.insert(key.end(), {a.atom, a.bits, a.value});
    auto const [at, fresh] = first_.try_emplace(std::move(key), within, base);
    auto const [first, first_base] = at->second;
    if (first != within)
      guaranteed_ = std::min(guaranteed_, std::uint64_t{1} << std::countr_zero(first ^ within));
    // Neither where the pattern begins in the array depends on the base, nor the row that the operand starts in: the base moves
    // no start to another row.
    if (first / pattern_.row != within / pattern_.row) {
      auto const wrong = within / pattern_.row != 0 ? base : first_base;
      std::string moved = fmt::format("the swizzle pattern does not start at a multiple of {} bytes{}",
                                      pattern_.bytes, if_base(wrong));
      if (!out_.reason.empty()) moved += "; " + out_.reason;
      if ((first - within) % pattern_.least_bytes == 0) return unknown(moved);
      return violated(assumptions, wrong, lanes, moved);
    }
    if (!pattern_.anywhere && within >= pattern_.row)
      unknown(fmt::format("it starts in row {} of a swizzle pattern of {} bytes; base offset {} is of row 0",
                          within / pattern_.row, pattern_.bytes, out_.descriptor->base_offset));
  }

  /// The operand is wrong in this case, in these lanes: refuted if one of them executes it.
  void violated(std::vector<Assumption> const& assumptions, std::optional<std::uint64_t> base,
                std::uint32_t lanes, std::string const& reason) {
    if (refuted_ || doubts_ == most_doubts) return;
    if (!runs(assumptions, base, lanes))
      return ++doubts_, unknown("no execution was found in which " + reason);
    refuted_ = true;
    reason_ = reason;
    out_.base = base;
    for (Assumption const& a : assumptions)
      out_.values.emplace_back(text_of_term(kernel_.program, kernel_.execution, a.atom), a.value);
  }

  /// An execution of this case in one of the lanes is known. A base that the condition permits is looked for among the first.
  bool runs(std::vector<Assumption> const& assumptions, std::optional<std::uint64_t> base,
            std::uint32_t lanes) {
    if (executes(assumptions, base, lanes)) return true;
    if (assumptions.empty() && replays(base, lanes)) return true;
    if (base || !depends_on_base(done_.guard)) return false;
    std::vector<std::uint64_t> const all = bases();
    return std::any_of(all.begin(),
                       all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), 8)),
                       [&](std::uint64_t r) { return executes(assumptions, r, lanes); });
  }

  /// Nodes of the lanes that elect.sync elects, in the condition.
  [[nodiscard]] std::vector<Id> leaders() const {
    std::vector<Id> all;
    for (Id const id : kernel_.origins.leaves_of({done_.guard}))
      if (elects(kernel_.program, *kernel_.origins.leaf_at(id))) all.push_back(id);
    return all;
  }

  /// If the shape of the block is not known, only its first warp surely exists.
  [[nodiscard]] bool exists() const { return !kernel_.launch.any_multiple || warp_ == 0; }

  /// One of the lanes executes it in this case, whichever lane is elected.
  bool executes(std::vector<Assumption> const& assumptions, std::optional<std::uint64_t> base,
                std::uint32_t lanes) {
    if (!done_.exact || !exists()) return false;
    std::uint32_t const sure = kernel_.iterations.surely(warp_, done_.loop, assumptions) & lanes;
    Warp& warp = under(assumptions, base);
    if ((warp.truth(done_.guard).yes & warp.present() & sure) != 0) return true;
    std::vector<Id> const elected = leaders();
    if (elected.empty()) return false;
    for (unsigned l = 0; l < 32; ++l) {
      if ((warp.present() >> l & 1) == 0) continue;
      std::vector<Assumption> with = assumptions;
      for (Id const id : elected) with.push_back({id, false, 64, l});
      Warp& chosen = under(std::move(with), base);
      if ((chosen.truth(done_.guard).yes & chosen.present() & sure) == 0) return false;
    }
    return true;
  }

  /// Parameters and the first iteration of each loop with which one of the lanes executes it, whichever lane is elected.
  bool replays(std::optional<std::uint64_t> base, std::uint32_t lanes) {
    if (!done_.exact || !exists()) return false;
    Warp& warp = kernel_.warps.plain(warp_);
    bool const elected = !leaders().empty();
    Replay::Trips const trips;
    for (unsigned style = 0; style < 8; ++style) {
      bool all = true;
      std::vector<std::pair<std::string, std::uint64_t>> values;
      for (unsigned l = 0; l < (elected ? 32U : 1U) && all; ++l) {
        if ((warp.present() >> l & 1) == 0) continue;
        Replay run(kernel_.program, kernel_.flow, kernel_.execution, kernel_.launch, warp, done_.loop,
                   operand_.at.line * 1000003ULL + style, style, trips, replayed_);
        if (base) run.place(symbol_, *base);
        if (elected) run.elect(l);
        auto const guard = run.value(done_.guard);
        bool on = false;
        for (unsigned lane = 0; lane < 32; ++lane)
          on = on || (guard[lane] != 0 && (warp.present() & lanes) >> lane & 1);
        all = on && run.certain();
        values = named(run.numbers());
      }
      if (!all) continue;
      out_.values = std::move(values);
      return true;
    }
    return false;
  }

  TermValues replayed_{};  ///< of the replay that runs
  ExecutedKernel& kernel_;
  SharedOperand const& operand_;
  ExecutedAccess const& done_;
  KernelOperand& out_;
  std::uint32_t symbol_ = ~0U;
  Id base_ = 0;  ///< node of the array's address
  std::map<Id, bool> moved_by_base_{};
  std::uint64_t align_ = base_period;
  std::vector<Id> shifted_{};
  Id shift_node_ = 0;
  std::uint64_t advance_ = 0;  ///< bytes of a descriptor behind what is shifted
  Pattern pattern_{};
  unsigned warp_ = 0;
  std::size_t cases_ = 0;
  unsigned doubts_ = 0;  ///< cases that are wrong, of which no execution was found
  bool any_ = false, refuted_ = false, measured_ = true;
  std::string invalid_{}, unknown_{}, reason_{};
  std::uint64_t guaranteed_ = operand_.unit;
  /// Bytes from the start of the pattern to that of the operand, with the first base.
  std::map<std::vector<std::uint64_t>, std::pair<std::uint64_t, std::optional<std::uint64_t>>> first_{};
  std::map<unsigned, std::unique_ptr<Warp>> scratches_{};
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
  KnownBits known(kernel.execution, kernel.origins, kernel.warps.plain(0));
  std::vector<std::unique_ptr<OperandDecision>> open;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (auto one = std::make_unique<OperandDecision>(kernel, i, all[i]); one->prepare(known))
      open.push_back(std::move(one));
  for (auto const& to : open)
    if (to->is_tensor_destination())
      for (auto const& from : open)
        if (from->is_descriptor() && from->reads_from(*to)) to->is_read_by(*from);
  for (auto const& one : open) one->decide();
  return all;
}

}  // namespace swizproof::kernel_detail
