#include "race_access.hpp"

#include "known_bits.hpp"

#include <swizproof/engine/walk.hpp>
#include <swizproof/program/opcode.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace swizproof::kernel_detail {

using execution::ExecutedAccess;
using program::MemoryAccess;

bool is_wgmma(program::SharedOperand const& operand) { return operand.is_descriptor() && !operand.tcgen05; }

namespace {

constexpr unsigned rows_of_a = 64;  ///< of wgmma [PTX ISA 9.1, 9.7.15.2]

/// N and K of `m64nNkK`; zeros if there is no such part.
std::pair<unsigned, unsigned> shape_of(ptx::Opcode const& op) {
  for (std::string_view const p : op.parts) {
    if (!p.starts_with("m64n")) continue;
    unsigned n = 0, k = 0;
    auto const [at, error] = std::from_chars(p.data() + 4, p.data() + p.size(), n);
    if (error == std::errc() && at != p.data() + p.size() && *at == 'k')
      std::from_chars(at + 1, p.data() + p.size(), k);
    return {n, k};
  }
  return {};
}

/// Calls fn(mn, k) for one element of each 16 bytes of a tile.
template <class Fn>
void each_unit(WgmmaTile const& t, Fn const& fn) {
  unsigned const unit = 16 / t.element_bytes, depth = operand_k_bytes / t.element_bytes;
  bool const k = t.major == Major::k;
  for (unsigned row = 0; row < t.rows; row += k ? 1 : unit)
    for (unsigned column = 0; column < depth; column += k ? unit : 1) fn(row, column);
}

/// The tile of a descriptor whose fields are these bits; nothing if it is not modelled.
std::optional<WgmmaTile> tile_of(ptx::Instruction const& i, bool a, std::uint64_t fields) {
  auto const [n, k] = shape_of(i.opcode);
  DecodedDescriptor const decoded = decode(OperandReader::wgmma, fields & ~start_mask);
  if (n == 0 || (k != 8 && k != 16 && k != 32) || i.opcode.has("sp") || decoded.reserved != 0 ||
      decoded.mode_is_wrong || i.operands.size() < 3)
    return std::nullopt;
  WgmmaTile out;
  out.fields = wgmma_descriptor(fields & ~start_mask);
  out.rows = a ? rows_of_a : n, out.by_warps = a;
  out.element_bytes = operand_k_bytes / k;
  if (out.element_bytes == 2) {  // majors are the last operands: of A in shared memory, then of B
    bool const registers = i.operands[1].kind == ptx::Operand::Kind::vector;
    std::size_t const at = a || registers ? 6 : 7;
    if (at >= i.operands.size() || i.operands[at].kind != ptx::Operand::Kind::immediate) return std::nullopt;
    out.major = i.operands[at].value != 0 ? Major::mn : Major::k;
  }
  OperandAtom const atom{out.piece(), 8, out.fields.mode != WgmmaMode::none};
  each_unit(out, [&](unsigned row, unsigned column) {
    out.extent = std::max(
        out.extent, 16 + operand_offset(atom, out.fields.leading_byte_offset, out.fields.stride_byte_offset,
                                        out.major, out.element_bytes, row, column));
  });
  return out;
}

bool has(std::string const& op, std::string_view part) { return op.find(part) != std::string::npos; }

RaceRole role_of(MemoryAccess const& m) {
  if (m.op.starts_with("atom") || m.op.starts_with("red")) return RaceRole::atomic;
  if (!m.instruction || m.of_tile) return RaceRole::none;
  switch (m.instruction->operation) {
    case Operation::ld_shared:
    case Operation::ldmatrix:
      return RaceRole::read;
    case Operation::st_shared:
    case Operation::stmatrix:
    case Operation::cp_async:
      return RaceRole::write;
  }
  return RaceRole::none;
}

/// The form of the matrices of an instruction; nothing for other instructions.
std::optional<MatrixRows> matrix_of(MemoryAccess const& m) {
  if (!m.instruction ||
      (m.instruction->operation != Operation::ldmatrix && m.instruction->operation != Operation::stmatrix))
    return std::nullopt;
  MatrixRows out;
  for (std::string_view const p : program::Opcode(m.op).parts)
    if (p.size() > 2 && p[0] == 'm' && p[1] >= '0' && p[1] <= '9') out.shape = p;
  out.square = out.shape == "m8n8", out.trans = m.instruction->transposed;
  return out;
}

/// Instructions on shared memory that make no access of the program.
bool touches_otherwise(ptx::Opcode const& op) {
  static constexpr std::string_view known[] = {"ld",       "st",       "atom",  "red",   "ldmatrix",
                                               "stmatrix", "cp",       "cvta",  "mapa",  "isspacep",
                                               "wmma",     "multimem", "fence", "wgmma", "tcgen05"};
  if (op.name == "mbarrier" || op.name == "tensormap" || (op.name == "cp" && op.has("mbarrier")) ||
      (op.name == "tcgen05" && (op.has("commit") || op.has("alloc"))) || (op.name == "st" && op.has("bulk")))
    return true;
  return std::find(std::begin(known), std::end(known), op.name) == std::end(known) &&
         std::any_of(op.parts.begin(), op.parts.end(),
                     [](std::string_view p) { return p.starts_with("shared"); });
}

/// True for an operand that is an access of --races.
bool is_taken(program::SharedOperand const& o) {
  bool const copies =
      o.at.op.starts_with("cp.async.bulk.shared") || o.at.op.starts_with("cp.async.bulk.tensor");
  bool const copy = copies && !has(o.at.op, "multicast") && !has(o.at.op, "cta_group") &&
                    has(o.at.op, ".mbarrier::complete_tx") && o.role != program::OperandRole::source;
  return is_wgmma(o) || copy || o.at.op.starts_with("mbarrier");
}

class Classification {
 public:
  Classification(ptx::Function const& function, program::Program const& lowered,
                 execution::Execution const& execution, Origins& origins)
      : function_(function),
        lowered_(lowered),
        execution_(execution),
        origins_(origins),
        known_(execution, origins) {
    for (program::LoweredInstruction const& i : lowered.instructions)
      for (std::uint32_t s = i.first; s < i.last; ++s)
        if (lowered.steps[s].action == program::Action::access)
          instructions_[lowered.steps[s].extra] = &function.body[i.instruction],
          taken_.insert(&function.body[i.instruction]);
  }

  SharedAccesses run() {
    out_.all.resize(lowered_.accesses.size());
    for (std::size_t i = 0; i < out_.all.size(); ++i)
      if (execution_.accesses[i].reached) lowered_.accesses[i].operand >= 0 ? operand(i) : access(i);
    for (ptx::Instruction const& i : function_.body)
      if (touches_otherwise(i.opcode) && !taken_.count(&i))
        ++out_.count, hinder(std::string(i.opcode.text) + " is not modelled", i.line);
    for (std::size_t i = 0; i < lowered_.operands.size(); ++i)
      if (execution_.operands[i].reached && !is_taken(lowered_.operands[i]))
        ++out_.count, hinder(lowered_.operands[i].at.op + " is not modelled", lowered_.operands[i].at.line);
    return std::move(out_);
  }

 private:
  void hinder(std::string const& why, std::uint32_t line) {
    if (out_.obstacle.empty()) out_.obstacle = why;
    out_.lines.push_back(line);
  }

  void access(std::size_t index) {
    MemoryAccess const& m = lowered_.accesses[index];
    ExecutedAccess const& e = execution_.accesses[index];
    SharedAccess& one = out_.all[index];
    if (m.global) return;
    std::uint32_t symbol = 0;
    Origins::Root const root = origins_.root_of(e.address, symbol);
    if (m.generic) {
      if (root != Origins::Root::shared && origins_.is_elsewhere(root, e.address)) return;
      if (root != Origins::Root::shared)
        return hinder("a generic address may be one of shared memory: " + m.op, m.line);
    }
    one.bytes = m.bytes;
    one.role = role_of(m), one.copy = m.instruction && m.instruction->operation == Operation::cp_async;
    if (root == Origins::Root::shared && origins_.is_of_array(e.address, symbol)) one.array = symbol;
    one.matrix = matrix_of(m);
    if (one.matrix) one.givers = 8 * m.instruction->matrices;
    one.strong = one.role == RaceRole::atomic || program::Opcode(m.op).is_strong();
    ++out_.count;
    if (one.role == RaceRole::none || (one.role != RaceRole::atomic && !m.reason.empty()) ||
        has(m.op, "shared::cluster"))
      hinder(m.reason.empty() ? m.op + " is not modelled" : m.reason, m.line);
  }

  void operand(std::size_t index) {
    MemoryAccess const& m = lowered_.accesses[index];
    if (is_wgmma(lowered_.operands[static_cast<std::size_t>(m.operand)])) return descriptor(index);
    SharedAccess& one = out_.all[index];
    ++out_.count;
    std::uint32_t symbol = 0;
    if (!m.reason.empty() ||
        origins_.root_of(execution_.accesses[index].address, symbol) != Origins::Root::shared)
      return hinder(m.reason.empty() ? "an address of " + m.op + " is not known" : m.reason, m.line);
    if (origins_.is_of_array(execution_.accesses[index].address, symbol)) one.array = symbol;
    one.bytes = 8;
    bool const barrier =
        lowered_.operands[static_cast<std::size_t>(m.operand)].role == program::OperandRole::barrier;
    one.role = barrier && !m.op.starts_with("mbarrier.init") ? RaceRole::atomic : RaceRole::write;
    if (barrier) return;
    one.tensor = lowered_.operands[static_cast<std::size_t>(m.operand)].tensor;
    if (one.tensor) return void(one.bytes = 0);
    Node const& size = execution_.node(execution_.accesses[index].size);
    if (size.op != Op::constant || size.value == 0)
      return hinder("the size of a bulk copy is no constant: " + m.op, m.line);
    one.bytes = static_cast<std::uint32_t>(size.value);
  }

  /// The tile that wgmma reads, where all fields but the start are constants.
  void descriptor(std::size_t index) {
    MemoryAccess const& m = lowered_.accesses[index];
    ExecutedAccess const& e = execution_.accesses[index];
    SharedAccess& one = out_.all[index];
    ptx::Instruction const& i = *instructions_.at(static_cast<std::uint32_t>(index));
    ++out_.count;
    Bits const b = known_.of(e.address);
    if ((~start_mask & ~(b.zeros | b.ones)) != 0)
      return hinder("a field of a descriptor is no constant: " + m.op, m.line);
    bool const a =
        lowered_.operands[static_cast<std::size_t>(m.operand)].role == program::OperandRole::descriptor_a;
    one.tile = tile_of(i, a, b.ones);
    if (!one.tile) return hinder(m.op + " is not modelled", m.line);
    one.role = RaceRole::read, out_.descriptors = true;
    std::uint32_t symbol = 0;
    if (origins_.root_of(e.address, symbol) == Origins::Root::shared &&
        origins_.is_of_array(e.address, symbol))
      one.array = symbol;
  }

  ptx::Function const& function_;
  program::Program const& lowered_;
  execution::Execution const& execution_;
  Origins& origins_;
  KnownBits known_;
  std::map<std::uint32_t, ptx::Instruction const*> instructions_{};  ///< by access
  std::set<ptx::Instruction const*> taken_{};                        ///< those with an access
  SharedAccesses out_{};
};

}  // namespace

Accessors MatrixRows::accessors(std::uint32_t giver, std::uint32_t byte) const {
  std::uint32_t const warp = giver & ~31U, row = giver % 8, element = byte / 2;
  std::uint32_t const of_row = warp + 4 * row + element / 2;  // without .trans: elements 2k and 2k + 1
  return {giver, of_row, trans ? warp + 4 * element + row / 2 : of_row};
}

std::vector<std::uint32_t> WgmmaTile::units(std::uint32_t start, std::uint32_t warp) const {
  WgmmaDescriptor d = fields;
  d.start = start;
  std::set<std::uint32_t> out;
  unsigned const quarter = rows / 4;
  each_unit(*this, [&](unsigned row, unsigned column) {
    if (!by_warps || row / quarter == warp % 4)
      out.insert(wgmma_address(d, major, element_bytes, row, column).bytes & ~15U);
  });
  return {out.begin(), out.end()};
}

void operands_as_accesses(program::Program& lowered) {
  for (program::Step& s : lowered.steps) {
    if (s.action != program::Action::operand || !is_taken(lowered.operands[s.extra])) continue;
    MemoryAccess m = lowered.operands[s.extra].at;
    m.operand = static_cast<std::int32_t>(s.extra);
    s.action = program::Action::access, s.extra = static_cast<std::uint32_t>(lowered.accesses.size());
    lowered.accesses.push_back(std::move(m));
  }
}

SharedAccesses shared_accesses_of(ptx::Function const& function, program::Program const& lowered,
                                  execution::Execution const& execution, Origins& origins) {
  return Classification(function, lowered, execution, origins).run();
}

std::optional<std::size_t> leaving_array(program::Program const& program,
                                         execution::Execution const& execution, Origins const& origins,
                                         std::vector<SharedAccess> const& accesses) {
  for (std::size_t a = 0; a < accesses.size(); ++a) {
    SharedAccess const& one = accesses[a];
    if (program.accesses[a].operand < 0 || one.tile || one.array < 0) continue;
    program::Variable const& array = program.symbols[static_cast<std::size_t>(one.array)];
    Id const address = execution.accesses[a].address;
    std::unordered_map<Id, std::uint64_t> known;
    bool constant = array.placed.has_value();
    for (Id const leaf : origins.leaves_of({address})) {
      constant = constant && execution.leaf_at(leaf)->kind == execution::Leaf::Kind::symbol;
      known[leaf] = array.placed.value_or(0);
    }
    if (!constant) continue;
    std::uint64_t const offset = number_of(execution.terms, address, known) - *array.placed & low_bits(32);
    if (array.extern_array ? offset >> 31 != 0 : offset + one.bytes > array.bytes) return a;
  }
  return std::nullopt;
}

}  // namespace swizproof::kernel_detail
