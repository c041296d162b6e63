#include "instructions.hpp"

#include "operand_runs.hpp"
#include "operand_start.hpp"

#include <swizproof/program/opcode.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace swizproof::kernel_detail {

namespace {

using execution::Lanes;
using execution::LaneTruths;
using execution::Warp;
using program::OperandRole;
using program::SharedOperand;

/// Fields of block scales that select scale factors: CUTLASS takes them from an address of Tensor Memory.
constexpr std::uint32_t selectors = 0x60000030;
constexpr std::uint64_t most_pattern = 1024;  ///< bytes of the largest pattern of a swizzle

TensorMmaQualifiers form_of(std::string_view opcode) {
  program::Opcode const op(opcode);
  return mma_qualifiers([&](std::string_view word) { return op.has(word); });
}

/// Lanes of a warp that may execute an operand.
std::uint32_t lanes_of(ExecutedKernel& kernel, std::size_t index, unsigned warp_number) {
  Warp& warp = kernel.warps.plain(warp_number);
  LaneTruths const guard = warp.truth(kernel.execution.operands[index].guard);
  return warp.present() & ~guard.no;
}

/// Settles an operand that is wrong in every execution: refuted if there is one.
void settle_wrong(ExecutedKernel& kernel, std::size_t index, std::string const& reason, KernelOperand& out) {
  OperandRuns runs(kernel, index);
  bool any = false;
  for (unsigned w = 0; w < kernel.warps.count(); ++w) {
    std::uint32_t const lanes = lanes_of(kernel, index, w);
    if (lanes == 0) continue;
    any = true;
    if (!runs.exist({w, {}, {}}, lanes, {})) continue;
    out.verdict = KernelVerdict::refuted, out.reason = reason, out.values = runs.values();
    return;
  }
  if (any) out.verdict = KernelVerdict::unknown, out.reason = "no execution was found in which " + reason;
}

/// True if a lane of a warp executes it.
bool is_executed(ExecutedKernel& kernel, std::size_t index) {
  for (unsigned w = 0; w < kernel.warps.count(); ++w)
    if (lanes_of(kernel, index, w) != 0) return true;
  return false;
}

/// A matrix that an instruction reads in shared memory.
struct Matrix {
  MatrixDescriptor const& d;
  Major major;
  unsigned element_bytes;
  unsigned
      width;  ///< bits of an element: 16 elements of 4 or 6 bits take 16 bytes, whose last ones are not read
  unsigned rows, columns;

  /// Largest of fn(row, column of the element's first byte, bytes from there) over all elements.
  template <class Fn>
  [[nodiscard]] std::uint64_t largest(Fn const& fn) const {
    bool const narrow = width < 8 * element_bytes;
    std::uint64_t out = 0;
    for (std::uint32_t r = 0; r < rows; ++r)
      for (std::uint32_t c = 0; c < columns; ++c)
        out = std::max<std::uint64_t>(
            out, narrow ? fn(r, c - c % 16, (c % 16 * width + width + 7) / 8) : fn(r, c, element_bytes));
    return out;
  }
  /// Bytes from the start to the end of the last element, without the swizzle.
  [[nodiscard]] std::uint64_t extent() const {
    return largest([&](std::uint32_t r, std::uint32_t c, unsigned bytes) {
      return operand_offset(d.operand_mode().shape, d.leading_byte_offset, d.stride_byte_offset, major,
                            element_bytes, r, c) +
             bytes;
    });
  }
  /// The end of the last byte that is read, if the start is `start` bytes behind a multiple of the pattern.
  [[nodiscard]] std::uint64_t end(std::uint64_t start) const {
    return largest([&](std::uint32_t r, std::uint32_t c, unsigned bytes) {
      return address_read(d, major, element_bytes, static_cast<std::uint32_t>(start), r, c).bytes + bytes;
    });
  }
};

}  // namespace

void decide_instruction(ExecutedKernel& kernel, std::size_t index, KnownBits& known, KernelOperand& out) {
  SharedOperand const& operand = kernel.program.operands[index];
  execution::ExecutedAccess const& done = kernel.execution.operands[index];
  if (!done.reached || !is_executed(kernel, index)) {
    out.executed = false, out.verdict = KernelVerdict::proved;
    out.reason = done.reached ? "no lane executes it" : "no path leads to it";
    return;
  }
  TensorMmaQualifiers const form = form_of(operand.at.op);
  if (form.kind == nullptr) {
    out.reason = "the instruction has no such kind, or no such number of scale factors";
    return;
  }
  Bits const b = known.of(done.address);
  std::uint64_t const open = low_bits(32) & ~(b.zeros | b.ones);
  std::uint64_t const free = form.kind->scaled ? selectors : 0;
  if ((open & ~free) != 0) {
    auto const bit = static_cast<unsigned>(std::countr_zero(open & ~free));
    Id const source = known.source_of(done.address, bit);
    Origin const from = kernel.origins.origin(source);
    out.reason = fmt::format("bit {} of the instruction descriptor is not known to be constant", bit);
    if (from.leaf != 0) out.reason += ": it depends on " + kernel.origins.text_of(from.leaf);
    return;
  }
  auto const bits = static_cast<std::uint32_t>(b.ones);
  out.instruction =
      KernelInstruction{bits, open != 0, form.form, mma_descriptor(*form.kind, bits, form.form)};
  MmaDescriptor const& d = out.instruction->fields;
  if (!d.defect.empty())
    return settle_wrong(kernel, index, fmt::format("{} [PTX ISA 9.1, {}]", d.defect, d.section), out);
  out.verdict = KernelVerdict::proved;
  if (d.disagrees)
    out.verdict = KernelVerdict::unknown,
    out.reason = d.sparse ? "A is sparse by the descriptor, and the instruction is not .sp"
                          : "A is dense by the descriptor, and the instruction is .sp";
  else if (open != 0 && form.form.scales > 1)
    out.verdict = KernelVerdict::unknown,
    out.reason =
        "the bits that select scale factors are not known to be constant: 2X takes 0 or 2, 4X takes 0";
}

namespace {

/// One matrix against the instruction descriptor; true if the instruction is wrong.
class MatrixComparison {
 public:
  MatrixComparison(ExecutedKernel& kernel, std::size_t instruction, std::size_t matrix,
                   std::vector<KernelOperand>& all)
      : kernel_(kernel), instruction_(instruction), matrix_(matrix), all_(all) {}

  void decide() {
    KernelOperand& out = all_[instruction_];
    KernelOperand& matrix = all_[matrix_];
    if (!matrix.descriptor || matrix.verdict == KernelVerdict::refuted) return;
    MmaDescriptor const& d = out.instruction->fields;
    bool const a = kernel_.program.operands[matrix_].role == OperandRole::descriptor_a;
    Major const major = a ? d.a_major : d.b_major;
    TensorMmaQualifiers const form = form_of(kernel_.program.operands[instruction_].at.op);
    TensorMmaKind const& kind = *form.kind;
    unsigned const unit = kind.is_packed() ? 8 : kind.bits;
    if (auto const why = why_not(OperandReader::tcgen05, matrix.descriptor->operand_mode(), major, unit);
        !why.empty())
      return settle_wrong(
          kernel_, instruction_,
          fmt::format(
              "{} is {}-major and its descriptor has mode {}: {} [PTX ISA 9.1, 9.7.16.10.3, table 52]",
              a ? "A" : "B", major == Major::k ? "K" : "MN", matrix.descriptor->operand_mode().name, why),
          out);
    unsigned const rows = (a ? d.m : d.n) / form.form.blocks, k = d.sparse && a ? d.k / 2 : d.k;
    Matrix const what{*matrix.descriptor,
                      major,
                      unit / 8,
                      kind.is_packed() ? 8 : element_bits_of(a ? d.a : d.b),
                      rows,
                      kind.is_packed() ? k / 2 : k};
    matrix.reads = what.extent();
    check_end(matrix, what);
  }

 private:
  /// The last byte in the array: decided where the start is a number behind the array, or a sum that is bounded. A swizzle moves bytes within
  /// rows of 128.
  void check_end(KernelOperand& matrix, Matrix const& what) {
    execution::ExecutedAccess const& done = kernel_.execution.operands[matrix_];
    std::uint32_t symbol = ~0U;
    if (kernel_.origins.root_of(done.address, symbol) != Origins::Root::shared || symbol == ~0U) return;
    program::Variable const& array = kernel_.program.symbols[symbol];
    if (array.extern_array && !kernel_.options.shared_bytes) return;
    std::uint64_t const bytes = array.extern_array ? *kernel_.options.shared_bytes : array.bytes;
    bool const swizzled = what.d.operand_mode().shape.swizzled;
    if (swizzled && array.align % most_pattern != 0) return;
    auto const range = starts(done.address, symbol);
    if (!range) return;
    auto const [first, last] = *range;
    constexpr std::uint64_t row = 128;
    std::uint64_t const from = swizzled ? (first + *matrix.reads - 1) / row * row : first + *matrix.reads - 1,
                        to = swizzled ? (last + *matrix.reads + row - 1) / row * row : last + *matrix.reads;
    bool const one = first == last;
    std::uint64_t const end = one ? what.end(first) : 0;
    if (one ? end <= bytes : to <= bytes) {
      matrix.in_bounds = true;
    } else if (one || from >= bytes) {
      matrix.in_bounds = false;
      settle_wrong(kernel_, matrix_,
                   fmt::format("its matrix ends {} bytes behind {} [PTX ISA 9.1, 9.7.16.4.1]",
                               one ? end - bytes : from + 1 - bytes, matrix.array),
                   matrix);
    }
  }

  /// Least and largest bytes behind the array at which the descriptor starts, in all warps.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> starts(Id descriptor, std::uint32_t symbol) {
    OperandStart start(kernel_, true, descriptor);
    start.find_shifted();
    (void)start.text();  // it finds what the descriptor is advanced by
    if (start.shifted().size() != 1 || !start.advances_by_number()) return std::nullopt;
    Id const base = kernel_.origins.node_of_symbol(symbol);
    std::pair<std::uint64_t, std::uint64_t> out{~std::uint64_t{0}, 0};
    for (unsigned w = 0; w < kernel_.warps.count(); ++w) {
      std::uint32_t const lanes = lanes_of(kernel_, matrix_, w);
      if (lanes == 0) continue;
      auto const range = offsets(start, base, w, lanes);
      if (!range) return std::nullopt;
      out.first = std::min(out.first, range->first), out.second = std::max(out.second, range->second);
    }
    if (out.first > out.second) return std::nullopt;
    return out;
  }

  /// Least and largest bytes behind the array at which a warp's descriptor starts.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> offsets(OperandStart& start, Id base, unsigned w,
                                                                 std::uint32_t lanes) {
    Warp& warp = kernel_.warps.plain(w);
    Lanes const v = warp.value(start.shifted()[0], window_bits);
    if (!v.split()) return std::nullopt;
    std::uint64_t least = ~std::uint64_t{0}, most = 0, more = 0;
    for (unsigned l = 0; l < 32; ++l)
      if ((lanes >> l & 1) != 0) least = std::min(least, v.lane[l]), most = std::max(most, v.lane[l]);
    for (auto const& [atom, factor] : v.terms) {
      if (atom == base && factor == 1) continue;
      std::uint64_t const largest = warp.facts(atom).most;
      if (factor == 0 || largest > low_bits(window_bits) / factor) return std::nullopt;
      more += factor * largest;
    }
    least += start.advance(), most += start.advance() + more;
    if (most > low_bits(window_bits)) return std::nullopt;
    return std::pair(least, most);
  }

  ExecutedKernel& kernel_;
  std::size_t instruction_, matrix_;
  std::vector<KernelOperand>& all_;
};

}  // namespace

void compare_with_matrices(ExecutedKernel& kernel, std::size_t index, std::vector<KernelOperand>& all) {
  KernelOperand const& out = all[index];
  if (!out.instruction || !out.executed || out.verdict == KernelVerdict::refuted) return;
  auto const& operands = kernel.program.operands;
  for (std::size_t i = index; i-- > 0 && operands[i].at.line == operands[index].at.line &&
                              operands[i].is_descriptor() &&
                              operands[i].at.calls == operands[index].at.calls;)
    if (all[index].verdict != KernelVerdict::refuted) MatrixComparison(kernel, index, i, all).decide();
}

}  // namespace swizproof::kernel_detail
