// wmma.load, wmma.store and wmma.mma [PTX ISA 9.1, 9.7.14.2 to .4: warp-level matrix instructions, wmma].
//
// The PTX ISA does not specify which lane holds which element of a fragment. Here a fragment is those of the mma.sync that the product is made of,
// and a lane reads and writes what it does in the code of ptxas (H19): the answer says so.
#include "execute.hpp"
#include "windows.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/hardware/wmma.hpp>
#include <swizproof/ptx/wmma.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace swizproof::flow_detail {

namespace {

/// Elements of 4 bits share a byte, and two that follow each other along k are one: a pair.
unsigned per_unit(WmmaForm const& f) { return f.bits == 4 ? 2 : 1; }
unsigned unit_bytes(WmmaForm const& f) { return f.bits * per_unit(f) / 8; }

/// Elements, or pairs, that a lane holds of a matrix of a product.
class WmmaFragment {
 public:
  explicit WmmaFragment(WmmaForm const& f)
      : role_(f.fragment == 'c' ? 'd' : f.fragment), bits_(f.bits), k_(f.k), step_(per_unit(f)) {
    // A product with 8 rows and 32 columns is the transposed one of 32 rows and 8 columns.
    swapped_ = f.m == 8 && f.n == 32;
    if (swapped_ && role_ != 'd') role_ = role_ == 'a' ? 'b' : 'a';
    height_ = swapped_ ? f.n : f.m, width_ = swapped_ ? f.m : f.n;
    tall_ = height_ == 8 ? 8 : 16;
    if (role_ == 'd') {
      part_ = {tall_ == 8 ? FragmentFormula::d_m8 : FragmentFormula::d_m16,
               warp_lanes,
               tall_ * 8 / warp_lanes,
               bits_,
               tall_,
               8};
      return;
    }
    for (MmaShape const& s : mma_shapes)
      if (s.m == tall_ && s.n == 8 && s.k == k_ && s.bits == bits_ && !known_)
        part_ = s.fragment(role_ == 'a' ? swizproof::Operand::a : swizproof::Operand::b, 32), known_ = true;
  }
  [[nodiscard]] bool known() const { return role_ == 'd' || known_; }
  /// Elements of each lane; those of a register.
  [[nodiscard]] unsigned values() const {
    return (role_ == 'd' ? height_ * width_ : role_ == 'a' ? height_ * k_ : k_ * width_) / warp_lanes / step_;
  }
  [[nodiscard]] unsigned register_bits() const { return part_.register_bits(); }
  [[nodiscard]] unsigned registers() const { return values() * step_ * bits_ / register_bits(); }
  [[nodiscard]] MatrixElement at(unsigned lane, unsigned i) const {
    unsigned const tile = i * step_ / part_.values;
    MatrixElement e = element_of(part_, lane, i * step_ % part_.values);
    (role_ == 'b' ? e.row : e.column) /= step_;
    unsigned const across = role_ == 'd' ? width_ / 8 : 1;
    if (role_ == 'b')
      e.column += 8 * tile;
    else
      e.row += tile / across * tall_, e.column += tile % across * 8;
    if (swapped_) std::swap(e.row, e.column);
    return e;
  }

 private:
  char role_;
  unsigned bits_, k_, step_, height_ = 0, width_ = 0, tall_ = 16;
  bool swapped_ = false, known_ = false;
  Fragment part_{};
};

/// The rows and columns of a matrix, and its elements or pairs.
struct WmmaMatrix {
  explicit WmmaMatrix(WmmaForm const& f)
      : rows(f.fragment == 'b' ? f.k / per_unit(f) : f.m),
        columns(f.fragment == 'a' ? f.k / per_unit(f) : f.n),
        elements(std::size_t{rows} * columns),
        known(elements.size(), false) {}
  [[nodiscard]] std::size_t number(WmmaForm const& f, unsigned line, unsigned position) const {
    return f.row ? std::size_t{line} * columns + position : std::size_t{position} * columns + line;
  }
  unsigned rows, columns;
  std::vector<Word> elements;
  std::vector<bool> known;
};

std::vector<ptx::Operand> registers_of(ptx::Operand const& o) {
  return o.kind == ptx::Operand::Kind::vector ? o.parts : std::vector<ptx::Operand>{o};
}

/// Puts a matrix into the registers of the lanes. Where a fragment has more registers than its elements fill, they repeat.
void put_fragment(Now const& now, WmmaForm const& form, ptx::Operand const& to, WmmaMatrix const& matrix) {
  WmmaFragment const fragment(form);
  auto const regs = registers_of(to);
  if (!fragment.known() || regs.size() % fragment.registers() != 0)
    now.refuse("the number of registers does not match");
  unsigned const bytes = unit_bytes(form);
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::vector<Word> words(fragment.registers());
    for (unsigned i = 0; i < fragment.values(); ++i) {
      MatrixElement const e = fragment.at(lane, i);
      unsigned const bit = 8 * i * unit_bytes(form);
      place(words[bit / fragment.register_bits()], bit % fragment.register_bits() / 8,
            matrix.elements[std::size_t{e.row} * matrix.columns + e.column], bytes);
    }
    for (std::size_t r = 0; r < regs.size(); ++r) now.put(regs[r], lane, words[r % words.size()]);
  }
}

WmmaMatrix matrix_of(Now const& now, WmmaForm const& form, ptx::Operand const& from) {
  WmmaFragment const fragment(form);
  WmmaMatrix matrix(form);
  auto const regs = registers_of(from);
  if (!fragment.known() || regs.size() % fragment.registers() != 0)
    now.refuse("the number of registers does not match");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < fragment.values(); ++i) {
      MatrixElement const e = fragment.at(lane, i);
      unsigned const bit = 8 * i * unit_bytes(form);
      Word const w = now.operand(regs[bit / fragment.register_bits()], lane, fragment.register_bits());
      matrix.elements[std::size_t{e.row} * matrix.columns + e.column] =
          bytes_of(w, bit % fragment.register_bits() / 8, unit_bytes(form));
    }
  return matrix;
}

/// The operand that all lanes have; another one in a lane is undefined.
std::uint64_t of_all_lanes(Now const& now, std::uint64_t first, std::uint64_t (*of)(Now const&, unsigned)) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (of(now, lane) != first)
      now.refuse("lanes of one wmma have other addresses or strides: it is undefined");
  return first;
}

/// Each row or column begins at a multiple of the fragment's size [PTX ISA 9.1, 9.7.14.4.2: address alignment]. The CUDA C++ Programming Guide
/// asks this of the address alone, and of the stride multiples of 16 bytes.
void check_alignment(Now const& now, std::uint64_t start, std::uint64_t stride, unsigned fragment) {
  constexpr unsigned guide = 16;
  auto const fails = [&](std::string const& what, unsigned size) {
    now.fault(FlowFaultKind::misaligned, now.touch(0, true), isa::wmma_alignment,
              fmt::format("{} of {} of {} is no multiple of {}: the size of a lane's fragment is {} bytes",
                          what, now.in.opcode.text, now.block.units.warp(now.warp.number), size, fragment));
  };
  if (start % fragment != 0) fails(fmt::format("the address 0x{:x}", start), fragment);
  if (stride % std::min(fragment, guide) != 0)
    fails(fmt::format("the stride {} in bytes", stride), std::min(fragment, guide));
  if (stride % fragment != 0)
    now.block.assumed.insert(
        "the stride of wmma is a multiple of 16 bytes alone, which the CUDA C++ Programming Guide allows; "
        "the PTX "
        "ISA requires a multiple of the size of a fragment");
}

}  // namespace

void wmma_move(Now const& now) {
  now.need_whole_warp();
  Decoded const& d = now.decoded;
  bool const load = d.has("load");
  WmmaForm form = ptx::wmma_form(d);
  auto const base = [](Now const& n, unsigned lane) {
    return located(n, n.in.operands[n.decoded.has("load") ? 1 : 0], lane).at;
  };
  std::uint64_t const start = of_all_lanes(now, base(now, 0), base);
  program::Space const space = located(now, now.in.operands[load ? 1 : 0], 0).space;
  if (space != program::Space::shared && space != program::Space::global)
    now.refuse("wmma outside of shared and global memory");
  form.generic = d.space != program::Space::shared;
  auto const accesses = wmma_accesses(form, !load);
  if (!accesses || form.bits < 4) now.refuse_opcode();
  auto const pitch = [](Now const& n, unsigned lane) {
    return n.number(n.in.operands[2], lane, "the stride") & low_bits(32);
  };
  std::uint64_t const stride =
      now.in.operands.size() > 2 ? of_all_lanes(now, pitch(now, 0), pitch) : accesses->positions;
  now.block.assumed.insert(
      "lanes of wmma access memory, and hold elements, as ptxas compiles it (H19), which the PTX ISA does "
      "not specify");
  if (stride % per_unit(form) != 0) now.refuse("wmma with lines that begin within a byte is not executed");
  unsigned const bytes = unit_bytes(form);
  std::uint64_t const pitch_bytes = stride / per_unit(form) * bytes;
  WmmaFragment const held(form);
  if (held.known())
    check_alignment(
        now, start, pitch_bytes,
        static_cast<unsigned>(registers_of(now.in.operands[load ? 0 : 1]).size()) * held.register_bits() / 8);
  bool const rows = accesses->instruction.operation == Operation::ldmatrix;
  unsigned const each = rows ? 16 : accesses->instruction.bytes,
                 lanes = rows ? 8 * accesses->instruction.matrices : 32;
  WmmaMatrix matrix = load ? WmmaMatrix(form) : matrix_of(now, form, now.in.operands[1]);
  for (unsigned a = 0; a < accesses->count; ++a)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      WmmaPlace const p = accesses->at(a, lane);
      std::uint64_t const at = start + p.line * pitch_bytes + p.bytes;
      check_bounds(now, space, at, each, lane, load ? "reads" : "writes");
      for (unsigned i = 0; i < each / bytes; ++i) {
        std::size_t const n = matrix.number(form, p.line, p.bytes / bytes + i);
        if (load)
          matrix.elements[n] = read_bytes(now, space, at + i * bytes, bytes, lane);
        else
          write_bytes(now, space, at + i * bytes, bytes, lane, matrix.elements[n]);
        matrix.known[n] = true;
      }
    }
  if (std::find(matrix.known.begin(), matrix.known.end(), false) != matrix.known.end()) now.refuse_opcode();
  if (load) put_fragment(now, form, now.in.operands[0], matrix);
}

namespace {

/// Types of wmma.mma behind its shape and rounding: of D, A, B, C. Where A and B are f16, only D and C have one.
std::vector<std::string_view> types_of(Decoded const& d) {
  auto at = std::find_if(d.parts.begin(), d.parts.end(), [](std::string_view p) {
    return p.size() > 5 && p[0] == 'm' && p[1] >= '0' && p[1] <= '9';
  });
  std::vector<std::string_view> types;
  for (; at != d.parts.end() && ++at != d.parts.end();)
    if (*at != "satfinite" && (at->size() != 2 || (*at)[0] != 'r')) types.push_back(*at);  // .rn
  if (types.size() == 2) types.insert(types.begin() + 1, {"f16", "f16"});
  return types;
}

}  // namespace

/// D = A * B + C, by the elements of the fragments.
void wmma_product(Now const& now) {
  now.need_whole_warp();
  auto const types = types_of(now.decoded);
  WmmaForm form = ptx::wmma_form(now.decoded);
  if (types.size() != 4 || now.in.operands.size() != 4) now.refuse_opcode();
  if (types[1] == "b1") return opaque_product(now);
  if (now.decoded.has("satfinite")) now.block.assumed.insert(no_saturation);
  Packed const of_d = packed_of(types[0]);
  Names& names = now.block.names;
  auto const gather = [&](char which, Packed type, std::size_t operand) {
    form.fragment = which, form.bits = is_pair(type.format) ? 4 : 8 * type.bytes;
    WmmaMatrix const matrix = matrix_of(now, form, now.in.operands[operand]);
    std::vector<Name> out;
    for (Word const& w : matrix.elements) out.push_back(matrix_name(now, w, 0, type));
    return out;
  };
  MatrixProduct product{form.m,
                        form.n,
                        form.k,
                        now.index,
                        gather('a', packed_of(pair_type(types[1])), 1),
                        gather('b', packed_of(pair_type(types[2])), 2),
                        {},
                        {}};
  product.k = static_cast<unsigned>(product.a.size()) / form.m;
  std::vector<Name> const c = gather('c', packed_of(types[3]), 3);
  std::uint32_t const number = names.matrix_product(std::move(product));
  form.fragment = 'd', form.bits = 8 * of_d.bytes;
  WmmaMatrix out(form);
  for (unsigned row = 0; row < form.m; ++row)
    for (unsigned column = 0; column < form.n; ++column) {
      std::size_t const at = std::size_t{row} * form.n + column;
      out.elements[at] = names.word(names.accumulated(c[at], number, row, column, of_d.format, now.index));
    }
  put_fragment(now, form, now.in.operands[0], out);
}

/// A product whose values are not followed: of elements of 1 bit and e2m1, sparse, with scale factors.
void opaque_product(Now const& now) {
  now.need_whole_warp();
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::vector<Word> from;
    for (std::size_t k = 1; k < now.in.operands.size(); ++k)
      for (ptx::Operand const& r : registers_of(now.in.operands[k]))
        if (r.kind == ptx::Operand::Kind::reg) from.push_back(now.operand(r, lane, 32));
    for (ptx::Operand const& r : registers_of(now.in.operands[0]))
      now.put(r, lane, now.unknown(32, {&from.front(), &from.back()}));
  }
}

}  // namespace swizproof::flow_detail
