// tcgen05.mma: what it reads in shared memory and Tensor Memory, and its sums in Tensor Memory.
//
// It reads and writes when it is issued, by a clock of the thread that issues it: others are ordered behind it once they have waited at the
// mbarrier of a tcgen05.commit behind it. [PTX ISA 9.1, 9.7.16.6.2.1.1]
#include "execute.hpp"

#include <swizproof/hardware/mma_descriptor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace swizproof::flow_detail {

namespace {

/// One tcgen05.mma of one thread, as it is executed.
class TensorMma {
 public:
  TensorMma(Now const& now, unsigned lane)
      : now_(now),
        lane_(lane),
        unit_(now.block.units.tensor_mma(now.thread(lane))),
        blocks_(tensor_blocks(now)),
        left_out_(blocks_.size() * tensor_lanes / 32) {}
  void run();

 private:
  void read_instruction();
  void read_form();
  void check_flags();
  void check_weight_stationary() const;
  void check_column_mask(std::uint64_t mask) const;
  [[nodiscard]] std::vector<Name> shared_operand(std::uint64_t bits, Major major, unsigned rows,
                                                 std::string_view type, bool negates, char const* what);
  [[nodiscard]] std::vector<Name> tensor_operand(std::uint64_t address);
  [[nodiscard]] std::vector<Name> scales_of_a();
  [[nodiscard]] std::vector<Name> scales_of_b();
  [[nodiscard]] std::vector<Name> scales(BlockState& block, std::size_t operand, unsigned rows,
                                         unsigned first);
  [[nodiscard]] Name scale_at(BlockState& block, unsigned row, unsigned column, unsigned byte);
  [[nodiscard]] Name element(Word const& w, unsigned from, unsigned bytes, std::string_view type,
                             bool negates);
  [[nodiscard]] Name narrow_element(Word const& w, unsigned bit, std::string_view type);
  void use_collector(std::vector<Name> const& a);
  void accumulate(std::uint32_t product);
  [[nodiscard]] std::uint64_t number(std::size_t operand, char const* what) const {
    return now_.number(now_.in.operands[operand], lane_, what);
  }
  [[nodiscard]] bool is_pair() const { return blocks_.size() == 2; }
  /// Cell of D for a row and a column, in the block's Tensor Memory.
  [[nodiscard]] AccumulatorCell cell(unsigned m, unsigned n) const {
    AccumulatorCell at = accumulator_cell(form_, shape_.m, shape_.n, m, n);
    at.lane += d_ >> 16, at.column += d_ & 0xffff;
    return at;
  }
  /// Columns of D in the Tensor Memory of each block.
  [[nodiscard]] unsigned columns() const { return cell(0, shape_.n - 1).column - cell(0, 0).column + 1; }
  /// Elements of a row, where a pair of 4 bits is one.
  [[nodiscard]] unsigned elements() const { return kind_->is_packed() ? kind_->k / 2 : kind_->k; }
  [[nodiscard]] unsigned element_bytes() const { return kind_->is_packed() ? 1 : kind_->bits / 8; }

  Now const& now_;
  unsigned lane_, unit_;
  TensorMmaKind const* kind_ = nullptr;
  TensorMmaForm form_{};
  MmaDescriptor shape_{};
  unsigned d_ = 0;  ///< address of D
  bool adds_ = false;
  int scale_of_d_ = 0;                   ///< D is multiplied by 2^-s
  std::vector<BlockState*> blocks_;      ///< that have a part of A, B and D
  std::vector<std::uint32_t> left_out_;  ///< lanes that are not written
};

/// The kind, and the number of scale factors along k. [PTX ISA 9.1, 9.7.16.10.7.1, table 54]
void TensorMma::read_form() {
  form_.blocks = static_cast<unsigned>(blocks_.size());
  form_.ws = now_.decoded.has("ws");
  auto const has = [&](std::string_view word) { return now_.decoded.has(word); };
  for (TensorMmaKind const& k : tensor_mma_kinds)
    if (has(k.name)) kind_ = &k;
  if (kind_ == nullptr || kind_->scaled != has("block_scale")) now_.refuse_opcode();
  if (!kind_->scaled) return;
  if (std::optional<unsigned> const scales = scale_factors(*kind_, has)) {
    form_.scales = *scales;
    return;
  }
  now_.fault(FlowFaultKind::misuse, now_.touch(lane_), isa::tensor_scales,
             "the kind has no such number of scale factors");
}

void TensorMma::read_instruction() {
  read_form();
  shape_ = mma_descriptor(*kind_, static_cast<std::uint32_t>(number(3, "the instruction descriptor")), form_);
  if (shape_.disagrees) now_.refuse("the instruction descriptor has a sparse matrix, which is not executed");
  if (!shape_.defect.empty())
    now_.fault(FlowFaultKind::misuse, now_.touch(lane_), isa::tensor_instruction,
               fmt::format("the instruction descriptor of thread {}: {}", now_.thread_of_block(lane_),
                           shape_.defect));
  if (form_.ws) check_weight_stationary();
  if (shape_.saturates) now_.refuse("the instruction descriptor has saturation, which is not executed");
  if (kind_->scaled && is_pair() && shape_.m != 256)
    now_.refuse(
        "block scales of a pair and 128 rows: the ISA does not say which block has which scale factors");
  d_ = static_cast<unsigned>(now_.address(now_.in.operands[0], lane_));
  unsigned const first = d_ >> 16;
  bool const of_half = shape_.m == 64 && !is_pair() && !form_.ws;
  if (first != 0 && !(of_half && first == 16))
    now_.fault(FlowFaultKind::misaligned, now_.touch(lane_), isa::tensor_layout,
               fmt::format("D of {} rows is at lane {} of Tensor Memory, and has to be at 0{}", shape_.m,
                           first, of_half ? " or 16" : ""));
}

/// tcgen05.mma.ws. B of a collector may be another one. [PTX ISA 9.1, 9.7.16.10.9.3]
void TensorMma::check_weight_stationary() const {
  if (number(3, "the instruction descriptor") >> 30 != 0)
    now_.refuse("tcgen05.mma.ws with a maximum shift of B is not executed");
  for (std::string_view const word : now_.decoded.parts)
    if (word.starts_with("collector::b") && (word.ends_with("::use") || word.ends_with("::lastuse")))
      now_.refuse(fmt::format("{}: B of a collector is not executed", now_.in.opcode.text));
}

/// A zero-column mask without bits: its non-zero mask and its column shift are 0. [PTX ISA 9.1, 9.7.16.4.3, table 45]
void TensorMma::check_column_mask(std::uint64_t mask) const {
  constexpr unsigned non_zero_at = 39, shift_at = 56;
  if ((mask >> non_zero_at & 1) != 0 || (mask >> shift_at & 0x3f) != 0)
    now_.refuse("tcgen05.mma.ws with columns of B that are zero or shifted is not executed");
}

/// [d], a, b, instruction {, {lanes that are not written}}, accumulates {, scale of D}; with block scales [d], a, b, instruction, [scales of A],
/// [scales of B], accumulates.
void TensorMma::check_flags() {
  auto const& in = now_.in.operands;
  std::size_t at = kind_->scaled ? 6 : 4;
  if (in[at].kind == ptx::Operand::Kind::vector) {
    if (in[at].parts.size() != left_out_.size())
      now_.refuse(fmt::format("the lanes that are not written are no {} numbers", left_out_.size()));
    for (std::size_t i = 0; i < left_out_.size(); ++i)
      left_out_[i] =
          static_cast<std::uint32_t>(now_.number(in[at].parts[i], lane_, "the lanes that are not written"));
    if (is_pair() && !std::equal(left_out_.begin(), left_out_.begin() + 4, left_out_.begin() + 4))
      now_.block.assumed.insert(
          "the first four numbers of the lanes that tcgen05.mma of a pair does not write are those of the "
          "even "
          "block");
    ++at;
  }
  if (at >= in.size()) now_.refuse("operands are missing");
  adds_ = number(at, "the accumulation of D") != 0;
  if (at + 1 >= in.size()) return;
  if (form_.ws) return check_column_mask(number(at + 1, "the zero-column mask"));
  scale_of_d_ = static_cast<int>(number(at + 1, "the scale of D"));
  if (scale_of_d_ < 0 || scale_of_d_ > 15 || kind_->bits < 16)
    now_.fault(FlowFaultKind::misuse, now_.touch(lane_), isa::tensor_mma,
               "the scale of D is 0 to 15, of kind::f16 and kind::tf32");
}

Name TensorMma::element(Word const& w, unsigned from, unsigned bytes, std::string_view type, bool negates) {
  Names& names = now_.block.names;
  Word const part = bytes_of(w, from, bytes);
  bool const is_number = (part.named & 1) == 0, is_zero = is_number && (part.number & 0xff) == 0;
  if (kind_->is_packed() && (!is_number || is_zero)) type = "e2m1x2";
  if (is_narrow(type)) return narrow_element(part, 0, type);
  Format const format = format_of(type);
  Name const n = names.whole(w, from, bytes, format, now_.index, format == Format::integer ? type[0] : 'b');
  return negates ? names.product(n, names.number(-1, format, bytes), format, bytes, now_.index) : n;
}

/// An element of 4 or 6 bits: not followed. Equal bits have one name.
Name TensorMma::narrow_element(Word const& w, unsigned bit, std::string_view type) {
  return now_.block.names.function_of(fmt::format("{} at bit {}", type, bit), {w},
                                      fmt::format("an element of {}, of 4 or 6 bits:", type), 1, now_.index);
}

/// Rows of A or columns of B in shared memory, by H13's addresses; of a pair half of them in each block, by one descriptor. Of 16 elements of 4 or 6 bits, 16 bytes hold the bits of all from the first
/// one on; the last ones are not read. [PTX ISA 9.1, 9.7.16.10.4.4]
std::vector<Name> TensorMma::shared_operand(std::uint64_t bits, Major major, unsigned rows,
                                            std::string_view type, bool negates, char const* what) {
  unsigned const bytes = element_bytes(), width = element_bits_of(type), count = elements();
  bool const narrow = !kind_->is_packed() && is_narrow(type);
  MatrixDescriptor const d = tensor_descriptor(now_, lane_, bits, major, 8 * bytes, what);
  Toucher const by = now_.toucher(lane_, 0, unit_);
  auto const read = [&](std::uint64_t at, unsigned n) {
    check_bounds(now_, program::Space::shared, at, 1, lane_, "reads by tcgen05.mma");
    check_bounds(now_, program::Space::shared, at + n - 1, 1, lane_, "reads by tcgen05.mma");
    std::uint64_t const start = at - in_block(at) + d.start;  // in the block that it reads
    note_span(now_, start, at + n - start);
    return read_async(now_, program::Space::shared, at, n, by);
  };
  std::vector<Name> names(std::size_t{rows} * count);
  unsigned const each = rows / static_cast<unsigned>(blocks_.size());
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned k = 0; k < count; ++k) {
      Name& name = names[std::size_t{r} * count + k];
      std::uint64_t const at =
          blocks_[r / each]->base +
          address_read(d, major, bytes, d.start, r % each, narrow ? k - k % 16 : k).bytes;
      unsigned const bit = k % 16 * width;
      name = narrow ? narrow_element(read(at + bit / 8, bit % 8 + width > 8 ? 2 : 1), bit % 8, type)
                    : element(read(at, bytes), 0, bytes, type, negates);
    }
  return names;
}

/// A in Tensor Memory: its elements are packed along the columns. [PTX ISA 9.1, 9.7.16.10.4.2]
std::vector<Name> TensorMma::tensor_operand(std::uint64_t address) {
  if (shape_.a_major != Major::k) now_.refuse("A in Tensor Memory that is transposed is not executed");
  if ((address >> 16 & 0xffff) != d_ >> 16)
    now_.refuse(
        fmt::format("A is at lane {} of Tensor Memory, and D at lane {}: the ISA does not say what is read",
                    address >> 16 & 0xffff, d_ >> 16));
  if (form_.ws && shape_.m != 128)
    now_.refuse(fmt::format(
        "A of {} rows in Tensor Memory, of tcgen05.mma.ws: the ISA does not say in which lanes", shape_.m));
  if (is_pair() && shape_.m == 128)
    now_.refuse(
        "A of 128 rows in the Tensor Memory of a pair of blocks: the ISA does not say in which lanes");
  unsigned const bytes = element_bytes(), column = address & 0xffff, count = elements();
  unsigned const width = count * bytes / 4, first_of_d = d_ & 0xffff;
  if (column < first_of_d + columns() && first_of_d < column + width)
    now_.refuse("A and D overlap in Tensor Memory: the ISA does not say that A is read before D is written");
  for (BlockState* const b : blocks_) b->tensor.need_columns(column, width);
  std::vector<Name> names(std::size_t{shape_.m} * count);
  for (unsigned m = 0; m < shape_.m; ++m)
    for (unsigned k = 0; k < count; ++k) {
      AccumulatorCell const at = cell(m, 0);
      TensorMemory& tensor = blocks_[at.block]->tensor;
      names[std::size_t{m} * count + k] =
          element(tensor_word(now_, tensor, tensor.read(at.lane, column + k * bytes / 4)), k * bytes % 4,
                  bytes, shape_.a, shape_.negates_a);
    }
  return names;
}

/// Scale factor j of each row: byte first + j of column row/32, in lane row % 32 of every 32. [PTX ISA 9.1, 9.7.16.10.7.2, .3]
std::vector<Name> TensorMma::scales(BlockState& block, std::size_t operand, unsigned rows, unsigned first) {
  std::uint64_t const address = now_.address(now_.in.operands[operand], lane_);
  if (address >> 16 != 0)
    now_.refuse("scale factors at another lane of Tensor Memory than 0: the ISA does not say what is read");
  auto const column = static_cast<unsigned>(address & 0xffff);
  block.tensor.need_columns(column, (rows + 31) / 32);
  std::vector<Name> names(std::size_t{rows} * form_.scales);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned j = 0; j < form_.scales; ++j)
      names[std::size_t{r} * form_.scales + j] = scale_at(block, r, column + r / 32, first + j);
  return names;
}

/// Each block of a pair has the scale factors of its own rows of A.
std::vector<Name> TensorMma::scales_of_a() {
  std::vector<Name> names;
  for (BlockState* const b : blocks_) {
    auto const own = scales(*b, 4, shape_.m / static_cast<unsigned>(blocks_.size()), shape_.a_scales);
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

/// Each block of a pair has the scale factors of all columns of B.
std::vector<Name> TensorMma::scales_of_b() {
  std::vector<Name> const names = scales(*blocks_[0], 5, shape_.n, shape_.b_scales);
  if (!is_pair()) return names;
  std::vector<Name> const other = scales(*blocks_[1], 5, shape_.n, shape_.b_scales);
  Names const& all = now_.block.names;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!all.same_bits(names[i], other[i]) &&
        (all.canonical(names[i]) == 0 || all.canonical(names[i]) != all.canonical(other[i])))
      now_.refuse(
          fmt::format("the blocks of a pair may have different scale factors of column {} of B: not executed",
                      i / form_.scales));
  return names;
}

/// The four copies are one scale factor: "need to be duplicated to all 32 lane partitions" [PTX ISA 9.1, 9.7.16.10.7].
Name TensorMma::scale_at(BlockState& block, unsigned row, unsigned column, unsigned byte) {
  Names& names = now_.block.names;
  Format const format = format_of(shape_.scale);
  Name first = 0;
  for (unsigned lane = row % 32; lane < tensor_lanes; lane += 32) {
    Word const w = tensor_word(now_, block.tensor, block.tensor.read(lane, column));
    Name const one = names.whole(w, byte, 1, format, now_.index);
    if (first == 0) first = one;
    if (names.same_bits(first, one)) continue;
    auto const is_certain = [&](Name n) {
      return names.canonical(n) != 0 || names[n].kind == NameKind::number;
    };
    bool const known = is_certain(first) && is_certain(one);
    std::string const text = fmt::format("the scale factors of row {} in lanes {} and {} of Tensor Memory{}",
                                         row, row % 32, lane, now_.block.units.of_rank(block.rank));
    if (!known) now_.refuse(text + " may differ");
    now_.fault(FlowFaultKind::misuse, now_.touch(lane_), isa::tensor_scales,
               text + " differ: all four parts of 32 lanes need them");
  }
  return first;
}

/// Checks that the collector holds this A. The instruction may also read it again, so both have to be one. [PTX ISA 9.1, 9.7.16.10.9.1]
void TensorMma::use_collector(std::vector<Name> const& a) {
  bool const last = now_.decoded.has("collector::a::lastuse"),
             use = last || now_.decoded.has("collector::a::use");
  Collector& held = blocks_[0]->collector;
  Names const& names = now_.block.names;
  if (use && held.a.empty())
    now_.fault(FlowFaultKind::misuse, now_.touch(lane_), isa::tensor_mma,
               "nothing has filled the collector of A since it was discarded");
  if (use && held.thread != now_.thread(lane_))
    now_.refuse("a thread fills the collector of A, and another one uses it: not executed");
  bool const same = std::equal(a.begin(), a.end(), held.a.begin(), held.a.end(), [&](Name x, Name y) {
    return names.same_bits(x, y) || (names.canonical(x) != 0 && names.canonical(x) == names.canonical(y));
  });
  if (use && !same) {
    now_.block.faults.add(
        {FlowFaultKind::misuse,
         fmt::format("thread {} uses A of the collector, which holds another A", now_.thread_of_block(lane_)),
         now_.touch(lane_),
         held.filled,
         isa::tensor_mma,
         {},
         {},
         false});
  }
  if (now_.decoded.has("collector::a::fill"))
    held = {a, now_.thread(lane_), now_.touch(lane_)};
  else if (!use || last)
    held = {};
}

/// D = the product, or D + the product: a column of Tensor Memory holds one element, in its low bits. [PTX ISA 9.1, 9.7.16.10.4.1]
void TensorMma::accumulate(std::uint32_t product) {
  Names& names = now_.block.names;
  Format const format = format_of(shape_.d);
  unsigned const bytes = shape_.d == "f16" ? 2 : 4;
  Word const above = names.word(names.function("bits above an element of D", Format::integer, 2, now_.index));
  Name const scale = scale_of_d_ == 0 ? 0 : names.number(std::ldexp(1, -scale_of_d_), format, bytes);
  for (BlockState* const b : blocks_) b->tensor.need_columns(d_ & 0xffff, columns());
  for (unsigned m = 0; m < shape_.m; ++m)
    for (unsigned n = 0; n < shape_.n; ++n) {
      AccumulatorCell const at = cell(m, n);
      if (takes_part(left_out_[at.block * tensor_lanes / 32 + at.lane / 32], at.lane % 32)) continue;
      TensorMemory& tensor = blocks_[at.block]->tensor;
      Name c = 0;
      if (adds_) {
        TensorCell const* const held = tensor.read(at.lane, at.column);
        c = names.whole(tensor_word(now_, tensor, held), 0, bytes, format, now_.index,
                        format == Format::integer ? 's' : 'b');
        if (scale != 0) c = names.product(c, scale, format, bytes, now_.index);
      }
      Word word = names.word(names.accumulated(c, product, m, n, format, now_.index));
      if (bytes == 2) place(word, 2, above, 2);
      tensor.write(at.lane, at.column, word);
    }
}

void TensorMma::run() {
  read_instruction(), check_flags();
  BlockState& block = now_.block;
  if (is_pair())
    block.assumed.insert(
        "tcgen05.mma of a pair reads half of the rows of A and half of the columns of B in each block, the "
        "first "
        "ones in the even block, as CUTLASS has them");
  // It follows what its thread has waited for, also in the eyes of those who wait for it.
  block.clocks.take(block.clocks.seen(now_.thread(lane_)), unit_);
  FlowTouch const touch{now_.index, now_.warp.counts[now_.index], unit_, false};
  // One accumulator and shape: address and type of D, and M x N x K. [PTX ISA 9.1, 9.7.16.6.2, 9.7.16.2.1]
  std::uint64_t const accumulator = std::uint64_t{d_} << 32 | kind_->k << 24 | shape_.m << 16 |
                                    shape_.n << 1 | (shape_.d == "f16" ? 1U : 0U);
  for (BlockState* const b : blocks_) {
    b->tensor.begin({{now_.thread(lane_)}, unit_, touch, TensorOperation::mma, accumulator});
    if (b != &block) block.lifetimes.access(b->rank, touch);
  }
  auto const& in = now_.in.operands;
  unsigned const count = elements();
  MatrixProduct product{shape_.m, shape_.n, count, now_.index, {}, {}, {}, {}};
  product.a = in[1].kind == ptx::Operand::Kind::address
                  ? tensor_operand(now_.address(in[1], lane_))
                  : shared_operand(number(1, "the descriptor of A"), shape_.a_major, shape_.m, shape_.a,
                                   shape_.negates_a, "A");
  if (!form_.ws) use_collector(product.a);
  auto const transposed = [](std::vector<Name> const& from, unsigned rows) {
    std::vector<Name> to(from.size());
    std::size_t const columns = rows == 0 ? 0 : from.size() / rows;
    for (std::size_t n = 0; n < rows; ++n)
      for (std::size_t k = 0; k < columns; ++k) to[k * rows + n] = from[n * columns + k];
    return to;
  };
  product.b = transposed(shared_operand(number(2, "the descriptor of B"), shape_.b_major, shape_.n, shape_.b,
                                        shape_.negates_b, "B"),
                         shape_.n);
  if (kind_->scaled) {
    product.block = count / form_.scales;
    product.scale_a = scales_of_a();
    product.scale_b = transposed(scales_of_b(), shape_.n);
    if (is_pair())
      block.assumed.insert(
          "tcgen05.mma of a pair has the scale factors of the rows of A in the block of these rows, and all "
          "of B "
          "in both blocks, as CUTLASS has them");
    if (shape_.scale == "ue4m3") block.assumed.insert("the top bit of scale factors of ue4m3 is 0");
  }
  accumulate(block.names.matrix_product(std::move(product)));
}

}  // namespace

void tensor_mma(Now const& now) {
  now.block.assumed.insert("tcgen05 is as PTX ISA 9.1 documents it: documented, not measured on a device");
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) TensorMma(now, lane).run();
}

}  // namespace swizproof::flow_detail
