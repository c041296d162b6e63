// tcgen05.cp and tcgen05.shift: shared memory to Tensor Memory, and rows of Tensor Memory down by one.
//
// They are issued by a thread, as tcgen05.mma is, by the same clock: tcgen05.commit tracks all three. [PTX ISA 9.1, 9.7.16.6.2.2]
#include "execute.hpp"

#include <swizproof/hardware/tensor_memory.hpp>

#include <fmt/format.h>

namespace swizproof::flow_detail {

MatrixDescriptor tensor_descriptor(Now const& now, unsigned lane, std::uint64_t bits, Major major,
                                   unsigned element_bits, char const* what) {
  DecodedDescriptor const d = decode(OperandReader::tcgen05, bits);
  auto const defect = [&](std::string_view text) {
    now.fault(FlowFaultKind::misuse, now.touch(lane), isa::tensor_mma,
              fmt::format("the descriptor 0x{:x} of {}: {}", bits, what, text));
  };
  if (d.version_is_wrong) defect("bits 48..46 are not 1");
  if (d.mode_is_wrong) defect("it has no swizzle mode");
  if (d.reserved != 0) defect("bits that shall be 0 are not");
  if (d.leading_is_address)
    now.refuse("a descriptor whose leading byte offset is an address is not executed");
  if (auto const why = why_not(OperandReader::tcgen05, d.descriptor.operand_mode(), major, element_bits);
      !why.empty())
    defect(why);
  return d.descriptor;
}

namespace {

/// Begins an access that tcgen05.commit tracks, of each block's Tensor Memory; returns the unit that executes it.
unsigned begin_tracked(Now const& now, unsigned lane, TensorOperation operation) {
  BlockState& block = now.block;
  unsigned const unit = block.units.tensor_mma(now.thread(lane));
  block.assumed.insert("tcgen05 is as PTX ISA 9.1 documents it: documented, not measured on a device");
  // It follows what its thread has waited for, also in the eyes of those who wait for it.
  block.clocks.take(block.clocks.seen(now.thread(lane)), unit);
  FlowTouch const touch{now.index, now.warp.counts[now.index], unit, false};
  for (BlockState* const b : tensor_blocks(now)) {
    b->tensor.begin({{now.thread(lane)}, unit, touch, operation});
    if (b != &block) block.lifetimes.access(b->rank, touch);
  }
  return unit;
}

/// The shape of a tcgen05.cp, by its words in any order.
TensorMemoryCopy const& copy_of(Now const& now) {
  for (TensorMemoryCopy const& c : tensor_memory_copies) {
    std::string_view const shape = c.name.substr(0, c.name.find('.')),
                           multicast = shape.size() < c.name.size() ? c.name.substr(shape.size() + 1) : "";
    bool const copies_to_more =
        now.decoded.has("warpx2::02_13") || now.decoded.has("warpx2::01_23") || now.decoded.has("warpx4");
    if (now.decoded.has(shape) && (multicast.empty() ? !copies_to_more : now.decoded.has(multicast)))
      return c;
  }
  now.refuse_opcode();
}

/// Lanes that get row r, from the address on.
std::vector<unsigned> lanes_of(TensorMemoryCopy const& c, unsigned r) {
  if (c.rows == 4) return {32 * r};
  if (c.rows == 32) return {r, r + 32, r + 64, r + 96};
  if (c.rows == 128) return {r};
  if (c.name.ends_with("02_13")) return {r, r + 64};
  return {r / 32 * 64 + r % 32, r / 32 * 64 + r % 32 + 32};
}

void copy_one(Now const& now, unsigned lane) {
  TensorMemoryCopy const& c = copy_of(now);
  std::uint64_t const to = now.address(now.in.operands[0], lane),
                      bits = now.number(now.in.operands[1], lane, "a descriptor");
  auto const first = static_cast<unsigned>(to >> 16 & 0xffff), column = static_cast<unsigned>(to & 0xffff);
  if (decode(OperandReader::tcgen05, bits).descriptor.operand_mode().shape.k_lines == 4)
    now.refuse("tcgen05.cp of a matrix under 128B_ATOM_32B is not executed");
  MatrixDescriptor const d = tensor_descriptor(now, lane, bits, Major::k, 32, "tcgen05.cp");
  unsigned const unit =
      begin_tracked(now, lane, c.rows == 4 ? TensorOperation::copy_4x256b : TensorOperation::copy);
  unsigned const last = first + (c.rows == 4 ? 96 : 127);
  if (last >= tensor_lanes)
    now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::tensor_copy,
              fmt::format("tcgen05.cp of thread {} writes lanes {} to {} of Tensor Memory, which has 128",
                          now.thread_of_block(lane), first, last));
  auto const blocks = tensor_blocks(now);
  if (blocks.size() == 2)
    now.block.assumed.insert(
        "tcgen05.cp of a pair copies from the shared memory of each block to its own Tensor Memory, as "
        "CUTLASS "
        "uses it: 9.7.16.9.2 does not say from which block");
  Toucher const by = now.toucher(lane, 0, unit);
  for (BlockState* const b : blocks) {
    b->tensor.need_columns(column, c.columns);
    for (unsigned r = 0; r < c.rows; ++r)
      for (unsigned k = 0; k < c.columns; ++k) {
        std::uint64_t const at = b->base + address_read(d, Major::k, 4, d.start, r, k).bytes;
        check_bounds(now, program::Space::shared, at, 4, lane, "reads by tcgen05.cp");
        Word const word = read_async(now, program::Space::shared, at, 4, by);
        for (unsigned const to_lane : lanes_of(c, r)) b->tensor.write(first + to_lane, column + k, word);
      }
  }
}

/// Rows of a block's Tensor Memory from lane `first` on, each to the next lane.
void shift_rows(Now const& now, TensorMemory& tensor, unsigned first, unsigned column) {
  constexpr unsigned rows = 32, columns = 8;  // .31x256b: 32 bytes of each row but the last
  tensor.need_columns(column, columns);
  std::vector<Word> moved;
  for (unsigned r = 0; r + 1 < rows; ++r)
    for (unsigned k = 0; k < columns; ++k)
      moved.push_back(tensor_word(now, tensor, tensor.read(first + r, column + k, true)));
  for (unsigned r = 0; r + 1 < rows; ++r)
    for (unsigned k = 0; k < columns; ++k) tensor.write(first + r + 1, column + k, moved[r * columns + k]);
}

void shift_one(Now const& now, unsigned lane) {
  constexpr unsigned rows = 32;
  std::uint64_t const at = now.address(now.in.operands[0], lane);
  auto const first = static_cast<unsigned>(at >> 16 & 0xffff), column = static_cast<unsigned>(at & 0xffff);
  begin_tracked(now, lane, TensorOperation::shift);
  if (first % rows != 0 || first >= tensor_lanes)
    now.fault(FlowFaultKind::misaligned, now.touch(lane), isa::tensor_shift,
              fmt::format("tcgen05.shift of thread {} begins at lane {} of Tensor Memory, and has to at a "
                          "multiple of 32 below 128",
                          now.thread_of_block(lane), first));
  for (BlockState* const b : tensor_blocks(now)) shift_rows(now, b->tensor, first, column);
  now.block.assumed.insert("tcgen05.shift moves each of 31 lanes to the next one, by 9.7.16.9.3");
}

}  // namespace

void tensor_copy(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) copy_one(now, lane);
}

void tensor_shift(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) shift_one(now, lane);
}

}  // namespace swizproof::flow_detail
