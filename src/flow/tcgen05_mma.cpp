// tcgen05.mma: what it reads in shared memory and Tensor Memory, and its sums in Tensor Memory.
//
// It reads and writes when it is issued, by a clock of the thread that issues it: others are ordered behind it once they have waited at the
// mbarrier of a tcgen05.commit behind it. [PTX ISA 9.1, 9.7.16.6.2.1.1]
#include "execute.hpp"

#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/hardware/mma_descriptor.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

namespace {

/// One tcgen05.mma of one thread, as it is executed.
class TensorMma {
 public:
  TensorMma(Now const& now, unsigned lane)
      : now_(now), lane_(lane), unit_(now.block.units.tensor_mma(now.thread(lane))) {}
  void run();

 private:
  void read_instruction();
  void check_flags();
  [[nodiscard]] std::vector<Name> shared_operand(std::uint64_t bits, Major major, unsigned rows,
                                                 std::string_view type, bool negates, char const* what);
  [[nodiscard]] std::vector<Name> tensor_operand(std::uint64_t address);
  [[nodiscard]] Name element(Word const& w, unsigned from, unsigned bytes, std::string_view type,
                             bool negates);
  void accumulate(std::uint32_t product);
  [[nodiscard]] std::uint64_t number(std::size_t operand, char const* what) const {
    return now_.number(now_.in.operands[operand], lane_, what);
  }
  [[nodiscard]] unsigned d_lane(unsigned m) const {
    return (d_ >> 16 & 0xffff) + tensor_lane_of(shape_.m, m);
  }

  Now const& now_;
  unsigned lane_, unit_;
  TensorMmaKind const* kind_ = nullptr;
  MmaDescriptor shape_{};
  unsigned d_ = 0;  ///< address of D
  bool adds_ = false;
};

void TensorMma::read_instruction() {
  for (TensorMmaKind const& k : tensor_mma_kinds)
    if (now_.decoded.has(k.name)) kind_ = &k;
  if (kind_ == nullptr) now_.refuse_opcode();
  shape_ = mma_descriptor(*kind_, static_cast<std::uint32_t>(number(3, "the instruction descriptor")));
  if (!shape_.refused.empty())
    now_.refuse(fmt::format("the instruction descriptor has {}, which is not executed", shape_.refused));
  if (!shape_.defect.empty())
    now_.fault(FlowFaultKind::misuse, now_.touch(lane_), isa::tensor_instruction,
               fmt::format("the instruction descriptor of thread {}: {}", now_.thread_of_block(lane_),
                           shape_.defect));
  d_ = static_cast<unsigned>(now_.address(now_.in.operands[0], lane_));
  unsigned const first = d_ >> 16;
  if (first != 0 && (shape_.m != 64 || first != 16))
    now_.fault(FlowFaultKind::misaligned, now_.touch(lane_), isa::tensor_layout,
               fmt::format("D of {} rows is at lane {} of Tensor Memory, and has to be at 0{}", shape_.m,
                           first, shape_.m == 64 ? " or 16" : ""));
}

/// [d], a, b, instruction {, {lanes that are not written}}, accumulates {, scale of D}.
void TensorMma::check_flags() {
  auto const& in = now_.in.operands;
  std::size_t at = 4;
  if (in[at].kind == ptx::Operand::Kind::vector) {
    for (ptx::Operand const& o : in[at].parts)
      if (now_.number(o, lane_, "a lane that is not written") != 0)
        now_.refuse("tcgen05.mma with lanes that are not written is not executed");
    ++at;
  }
  if (at >= in.size()) now_.refuse("operands are missing");
  adds_ = number(at, "the accumulation of D") != 0;
  if (at + 1 < in.size() && number(at + 1, "the scale of D") != 0)
    now_.refuse("tcgen05.mma with a scale of D is not executed");
}

Name TensorMma::element(Word const& w, unsigned from, unsigned bytes, std::string_view type, bool negates) {
  Names& names = now_.block.names;
  Format const format = format_of(type);
  Name const n = names.whole(w, from, bytes, format, now_.index, format == Format::integer ? type[0] : 'b');
  return negates ? names.product(n, names.number(-1, format, bytes), format, bytes, now_.index) : n;
}

/// Rows of A or columns of B in shared memory, by H13's addresses.
std::vector<Name> TensorMma::shared_operand(std::uint64_t bits, Major major, unsigned rows,
                                            std::string_view type, bool negates, char const* what) {
  DecodedDescriptor const d = decode(OperandReader::tcgen05, bits);
  auto const defect = [&](std::string_view text) {
    now_.fault(FlowFaultKind::misuse, now_.touch(lane_), isa::tensor_mma,
               fmt::format("the descriptor 0x{:x} of {}: {}", bits, what, text));
  };
  if (d.version_is_wrong) defect("bits 48..46 are not 1");
  if (d.mode_is_wrong) defect("it has no swizzle mode");
  if (d.reserved != 0) defect("bits that shall be 0 are not");
  if (d.leading_is_address)
    now_.refuse("a descriptor whose leading byte offset is an address is not executed");
  if (auto const why = why_not(OperandReader::tcgen05, d.descriptor.operand_mode(), major, kind_->bits);
      !why.empty())
    defect(why);
  unsigned const bytes = kind_->bits / 8;
  Toucher const by = now_.toucher(lane_, 0, unit_);
  std::vector<Name> names(std::size_t{rows} * kind_->k);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned k = 0; k < kind_->k; ++k) {
      std::uint64_t const at =
          now_.block.base + address_read(d.descriptor, major, bytes, d.descriptor.start, r, k).bytes;
      check_bounds(now_, program::Space::shared, at, 1, lane_, "reads by tcgen05.mma");
      check_bounds(now_, program::Space::shared, at + bytes - 1, 1, lane_, "reads by tcgen05.mma");
      Word const w = read_async(now_, program::Space::shared, at, bytes, by);
      names[std::size_t{r} * kind_->k + k] = element(w, 0, bytes, type, negates);
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
  unsigned const bytes = kind_->bits / 8, column = address & 0xffff;
  unsigned const columns = kind_->k * bytes / 4, first_of_d = d_ & 0xffff;
  if (column < first_of_d + shape_.n && first_of_d < column + columns)
    now_.refuse("A and D overlap in Tensor Memory: the ISA does not say that A is read before D is written");
  now_.block.tensor.need_columns(column, columns);
  std::vector<Name> names(std::size_t{shape_.m} * kind_->k);
  for (unsigned m = 0; m < shape_.m; ++m)
    for (unsigned k = 0; k < kind_->k; ++k)
      names[std::size_t{m} * kind_->k + k] =
          element(tensor_word(now_, now_.block.tensor.read(d_lane(m), column + k * bytes / 4)), k * bytes % 4,
                  bytes, shape_.a, shape_.negates_a);
  return names;
}

/// D = the product, or D + the product: a column of Tensor Memory holds one element, in its low bits. [PTX ISA 9.1, 9.7.16.10.4.1]
void TensorMma::accumulate(std::uint32_t product) {
  Names& names = now_.block.names;
  TensorMemory& tensor = now_.block.tensor;
  Format const format = format_of(shape_.d);
  unsigned const bytes = shape_.d == "f16" ? 2 : 4, first = d_ & 0xffff;
  Word const above = names.word(names.function("bits above an element of D", Format::integer, 2, now_.index));
  tensor.need_columns(first, shape_.n);
  for (unsigned m = 0; m < shape_.m; ++m)
    for (unsigned n = 0; n < shape_.n; ++n) {
      Name c = 0;
      if (adds_) {
        TensorCell const* const cell = tensor.read(d_lane(m), first + n);
        c = names.whole(tensor_word(now_, cell), 0, bytes, format, now_.index,
                        format == Format::integer ? 's' : 'b');
      }
      Word word = names.word(names.accumulated(c, product, m, n, format, now_.index));
      if (bytes == 2) place(word, 2, above, 2);
      tensor.write(d_lane(m), first + n, word);
    }
}

void TensorMma::run() {
  read_instruction(), check_flags();
  BlockState& block = now_.block;
  // It follows what its thread has waited for, also in the eyes of those who wait for it.
  block.clocks.take(block.clocks.seen(now_.thread(lane_)), unit_);
  FlowTouch const touch{now_.index, now_.warp.counts[now_.index], unit_, false};
  // One accumulator and shape: address and type of D, and M x N x K. [PTX ISA 9.1, 9.7.16.6.2, 9.7.16.2.1]
  std::uint64_t const accumulator = std::uint64_t{d_} << 32 | kind_->k << 24 | shape_.m << 16 |
                                    shape_.n << 1 | (shape_.d == "f16" ? 1U : 0U);
  block.tensor.begin({{now_.thread(lane_)}, unit_, touch, accumulator});
  auto const& in = now_.in.operands;
  MatrixProduct product{shape_.m, shape_.n, kind_->k, now_.index, {}, {}, {}, {}};
  product.a = in[1].kind == ptx::Operand::Kind::address
                  ? tensor_operand(now_.address(in[1], lane_))
                  : shared_operand(number(1, "the descriptor of A"), shape_.a_major, shape_.m, shape_.a,
                                   shape_.negates_a, "A");
  std::vector<Name> const b = shared_operand(number(2, "the descriptor of B"), shape_.b_major, shape_.n,
                                             shape_.b, shape_.negates_b, "B");
  product.b.resize(b.size());
  for (unsigned n = 0; n < shape_.n; ++n)
    for (unsigned k = 0; k < kind_->k; ++k)
      product.b[std::size_t{k} * shape_.n + n] = b[std::size_t{n} * kind_->k + k];
  accumulate(block.names.matrix_product(std::move(product)));
}

}  // namespace

void tensor_mma(Now const& now) {
  now.block.assumed.insert("tcgen05 is as PTX ISA 9.1 documents it: documented, not measured on a device");
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) TensorMma(now, lane).run();
}

}  // namespace swizproof::flow_detail
