#include "race_access.hpp"

#include "known_bits.hpp"
#include "race_intervals.hpp"

#include <swizproof/engine/walk.hpp>
#include <swizproof/hardware/mma_descriptor.hpp>
#include <swizproof/hardware/tensor_memory.hpp>
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

namespace {

constexpr std::uint64_t most_shared = 1 << 18;  ///< bytes: more than a block can have
constexpr unsigned rows_of_a = 64;              ///< of wgmma [PTX ISA 9.1, 9.7.15.2]

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
void each_unit(OperandTile const& t, Fn const& fn) {
  unsigned const unit = 16 / t.element_bytes, depth = t.row_bytes / t.element_bytes;
  bool const k = t.major == Major::k;
  for (unsigned row = 0; row < t.rows; row += k ? 1 : unit)
    for (unsigned column = 0; column < depth; column += k ? unit : 1) fn(row, column);
}

/// The fields of a descriptor of these bits; nothing if they are not modelled.
std::optional<MatrixDescriptor> fields_of(OperandReader reader, std::uint64_t bits) {
  DecodedDescriptor const decoded = decode(reader, bits & ~start_mask);
  if (decoded.reserved != 0 || decoded.mode_is_wrong || decoded.version_is_wrong ||
      decoded.leading_is_address)
    return std::nullopt;
  return decoded.descriptor;
}

/// Sets the extent of a tile.
OperandTile measured(OperandTile out) {
  each_unit(out, [&](unsigned row, unsigned column) {
    out.extent = std::max(
        out.extent,
        16 + operand_offset(out.fields.operand_mode().shape, out.fields.leading_byte_offset,
                            out.fields.stride_byte_offset, out.major, out.element_bytes, row, column));
  });
  return out;
}

/// The tile of tcgen05.mma, of A or of B; nothing if it is not modelled. `instruction`: its instruction descriptor; if it is not known, the largest of all.
std::optional<OperandTile> tile_of_mma(program::Opcode const& op, bool a, MatrixDescriptor const& fields,
                                       std::optional<std::uint32_t> instruction) {
  TensorMmaQualifiers const form = mma_qualifiers([&](std::string_view word) { return op.has(word); });
  if (form.kind == nullptr) return std::nullopt;
  MmaDescriptor const d = mma_descriptor(*form.kind, instruction.value_or(0), form.form);
  if (instruction && (!d.defect.empty() || d.sparse || d.disagrees)) return std::nullopt;
  OperandTile out;
  out.fields = fields;
  out.element_bytes = form.kind->is_packed() ? 1 : form.kind->bits / 8;
  out.rows = a ? d.m : d.n, out.major = a ? d.a_major : d.b_major;
  if (instruction) return measured(out);
  out.rows = a ? 128 : 256, out.major = Major::mn;
  std::uint32_t const transposed = measured(out).extent;
  out.major = Major::k, out.extent = transposed;
  return measured(out);
}

/// The tile of tcgen05.cp; nothing if it is not modelled.
std::optional<OperandTile> tile_of_copy(program::Opcode const& op, MatrixDescriptor const& fields) {
  for (TensorMemoryCopy const& c : tensor_memory_copies) {
    if (!op.has(c.name.substr(0, c.name.find('.')))) continue;
    OperandTile out;
    out.fields = fields, out.rows = c.rows, out.element_bytes = 4, out.row_bytes = 4 * c.columns;
    return measured(out);
  }
  return std::nullopt;
}

/// The tile of a descriptor of wgmma whose fields are these bits; nothing if it is not modelled.
std::optional<OperandTile> tile_of(ptx::Instruction const& i, bool a, std::uint64_t fields) {
  auto const [n, k] = shape_of(i.opcode);
  auto const decoded = fields_of(OperandReader::wgmma, fields);
  if (n == 0 || (k != 8 && k != 16 && k != 32) || i.opcode.has("sp") || !decoded || i.operands.size() < 3)
    return std::nullopt;
  OperandTile out;
  out.fields = *decoded;
  out.rows = a ? rows_of_a : n, out.by_warps = a;
  out.element_bytes = operand_k_bytes / k;
  if (out.element_bytes == 2) {  // majors are the last operands: of A in shared memory, then of B
    bool const registers = i.operands[1].kind == ptx::Operand::Kind::vector;
    std::size_t const at = a || registers ? 6 : 7;
    if (at >= i.operands.size() || i.operands[at].kind != ptx::Operand::Kind::immediate) return std::nullopt;
    out.major = i.operands[at].value != 0 ? Major::mn : Major::k;
  }
  return measured(out);
}

bool has(std::string_view op, std::string_view part) { return op.find(part) != std::string::npos; }

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
  Group const group = group_of(o.at);
  bool const one_block = has(o.at.op, "cta_group::1") && !has(o.at.op, ".sp");
  if (o.is_descriptor()) return !o.tcgen05 || one_block;
  bool const copy = group == Group::phase && has(o.at.op, ".mbarrier::complete_tx") &&
                    !has(o.at.op, "cta_group::2") && o.role != program::OperandRole::source;
  return copy || group == Group::bulk || o.at.op.starts_with("mbarrier") ||
         o.at.op.starts_with("tcgen05.commit");
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
    for (ptx::Instruction const& i : function_.body) {
      bool const of_cluster = i.opcode.name == "mapa" || has(i.opcode.text, ".multicast");
      out_.one_block = out_.one_block || of_cluster;
      if (of_cluster && function_.reqnctapercluster[0] != 0)
        hinder(std::string(i.opcode.text) + " of a cluster is not modelled", i.line);
      if (touches_otherwise(i.opcode) && !taken_.count(&i))
        ++out_.count, hinder(std::string(i.opcode.text) + " is not modelled", i.line);
    }
    for (std::size_t i = 0; i < lowered_.operands.size(); ++i)
      if (execution_.operands[i].reached && !is_taken(lowered_.operands[i]) &&
          lowered_.operands[i].role != program::OperandRole::instruction)
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
    if (m.op.starts_with("tcgen05.alloc")) one.matrix = MatrixRows{}, one.givers = 1;  // any lane of the warp
    one.strong = one.role == RaceRole::atomic || program::Opcode(m.op).is_strong();
    one.scalar = has(m.op, "f16x2") ? m.bytes / 2 : m.bytes;
    ++out_.count;
    if (one.role == RaceRole::none || (one.role != RaceRole::atomic && !m.reason.empty()) ||
        has(m.op, "shared::cluster"))
      hinder(m.reason.empty() ? m.op + " is not modelled" : m.reason, m.line);
  }

  void operand(std::size_t index) {
    MemoryAccess const& m = lowered_.accesses[index];
    if (lowered_.operands[static_cast<std::size_t>(m.operand)].is_descriptor()) return descriptor(index);
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
    bool const from_shared = group_of(m) == Group::bulk;
    if (from_shared) one.role = RaceRole::read;
    if (one.tensor && from_shared) one.end = end_of(one.array);
    if (one.tensor) return void(one.bytes = from_shared ? 16 : 0);
    Node const& size = execution_.node(execution_.accesses[index].size);
    if (size.op != Op::constant || size.value == 0)
      return hinder("the size of a bulk copy is no constant: " + m.op, m.line);
    one.bytes = static_cast<std::uint32_t>(size.value);
  }

  /// The end of an array, or of shared memory if it is not known.
  [[nodiscard]] std::uint64_t end_of(std::int64_t array) const {
    if (array < 0) return most_shared;
    program::Variable const& v = lowered_.symbols[static_cast<std::size_t>(array)];
    return v.placed && !v.extern_array ? *v.placed + v.bytes : most_shared;
  }

  /// The instruction descriptor of a tcgen05.mma, if all its bits but those that select scale factors are constants.
  std::optional<std::uint32_t> instruction_of(std::size_t matrix) {
    constexpr std::uint64_t selectors = 0x60000030;
    for (std::size_t o = matrix + 1; o < lowered_.operands.size() && o < matrix + 3; ++o) {
      if (lowered_.operands[o].role != program::OperandRole::instruction) continue;
      Bits const b = known_.of(execution_.operands[o].address);
      std::uint64_t const free = has(lowered_.operands[o].at.op, "block_scale") ? selectors : 0;
      if ((low_bits(32) & ~(b.zeros | b.ones) & ~free) != 0) return std::nullopt;
      return static_cast<std::uint32_t>(b.ones);
    }
    return std::nullopt;
  }

  /// The tile that tcgen05 reads.
  std::optional<OperandTile> tile_of_tensor(std::size_t matrix, std::uint64_t bits) {
    program::SharedOperand const& o = lowered_.operands[matrix];
    program::Opcode const op(o.at.op);
    auto const fields = fields_of(OperandReader::tcgen05, bits);
    if (!fields) return std::nullopt;
    if (!op.has("cp"))
      return tile_of_mma(op, o.role == program::OperandRole::descriptor_a, *fields, instruction_of(matrix));
    return tile_of_copy(op, *fields);
  }

  /// Bits of a descriptor that a sum of its low word may carry into: two between fields, and the leading byte offset.
  static constexpr std::uint64_t carried = 0xc000c000, leading = 0xffffc000;

  /// The tile that wgmma or tcgen05 reads, where all fields but the start are constants, or do not matter.
  void descriptor(std::size_t index) {
    MemoryAccess const& m = lowered_.accesses[index];
    ExecutedAccess const& e = execution_.accesses[index];
    SharedAccess& one = out_.all[index];
    ptx::Instruction const& i = *instructions_.at(static_cast<std::uint32_t>(index));
    ++out_.count;
    Bits const b = known_.of(e.address);
    std::uint64_t const open = ~start_mask & ~(b.zeros | b.ones);
    if ((open & ~leading) != 0) return hinder("a field of a descriptor is no constant: " + m.op, m.line);
    auto const matrix = static_cast<std::size_t>(m.operand);
    program::SharedOperand const& o = lowered_.operands[matrix];
    auto const tile_with = [&](std::uint64_t bits) {
      return o.tcgen05 ? tile_of_tensor(matrix, bits)
                       : tile_of(i, o.role == program::OperandRole::descriptor_a, bits);
    };
    one.tile = tile_with(b.ones & ~(open | carried));
    // A start of 14 bits may carry into a field that does not matter.
    if (open != 0 && one.tile && tile_with(b.ones | (open & ~carried))->extent != one.tile->extent)
      return hinder("a field of a descriptor is no constant: " + m.op, m.line);
    if (!one.tile) return hinder("the matrix of " + m.op + " is not modelled", m.line);
    one.role = RaceRole::read, out_.tiles = true, out_.descriptors = out_.descriptors || !o.tcgen05;
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

std::vector<std::uint32_t> OperandTile::units(std::uint32_t start, std::uint32_t warp) const {
  std::set<std::uint32_t> out;
  unsigned const quarter = rows / 4;
  each_unit(*this, [&](unsigned row, unsigned column) {
    if (!by_warps || row / quarter == warp % 4)
      out.insert(address_read(fields, major, element_bytes, start, row, column).bytes & ~15U);
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

namespace {

/// The address of an access whose terms are constants.
std::optional<std::uint64_t> constant_place(program::Program const& program,
                                            execution::Execution const& execution, Origins const& origins,
                                            SharedAccess const& one, Id address) {
  if (one.tile || one.array < 0) return std::nullopt;
  program::Variable const& array = program.symbols[static_cast<std::size_t>(one.array)];
  if (!array.placed) return std::nullopt;
  std::unordered_map<Id, std::uint64_t> known;
  for (Id const leaf : origins.leaves_of({address})) {
    if (execution.leaf_at(leaf)->kind != execution::Leaf::Kind::symbol) return std::nullopt;
    known[leaf] = *array.placed;
  }
  return number_of(execution.terms, address, known) & low_bits(32);
}

}  // namespace

std::optional<std::size_t> leaving_array(program::Program const& program,
                                         execution::Execution const& execution, Origins const& origins,
                                         std::vector<SharedAccess> const& accesses) {
  for (std::size_t a = 0; a < accesses.size(); ++a) {
    SharedAccess const& one = accesses[a];
    if (program.accesses[a].operand < 0) continue;
    auto const place = constant_place(program, execution, origins, one, execution.accesses[a].address);
    if (!place) continue;
    program::Variable const& array = program.symbols[static_cast<std::size_t>(one.array)];
    std::uint64_t const offset = *place - *array.placed & low_bits(32);
    if (array.extern_array ? offset >> 31 != 0 : offset + one.bytes > array.bytes) return a;
  }
  return std::nullopt;
}

std::optional<std::size_t> overwriting_mbarrier(program::Program const& program,
                                                execution::Execution const& execution, Origins const& origins,
                                                std::vector<SharedAccess> const& accesses) {
  auto const is_of_mbarrier = [&](std::size_t a) {
    std::int64_t const operand = program.accesses[a].operand;
    return operand >= 0 &&
           program.operands[static_cast<std::size_t>(operand)].role == program::OperandRole::barrier;
  };
  constexpr std::uint64_t object = 8;  // bytes of an mbarrier
  std::set<std::uint64_t> mbarriers;
  std::vector<std::pair<std::size_t, std::uint64_t>> writes;
  for (std::size_t a = 0; a < accesses.size(); ++a) {
    auto const place =
        constant_place(program, execution, origins, accesses[a], execution.accesses[a].address);
    if (place && is_of_mbarrier(a))
      mbarriers.insert(*place);
    else if (place && (accesses[a].role == RaceRole::write || accesses[a].role == RaceRole::atomic))
      writes.emplace_back(a, *place);
  }
  for (auto const& [a, place] : writes)
    for (std::uint64_t const mbarrier : mbarriers)
      if (mbarrier < place + accesses[a].bytes && place < mbarrier + object) return a;
  return std::nullopt;
}

}  // namespace swizproof::kernel_detail
