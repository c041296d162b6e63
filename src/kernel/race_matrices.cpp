#include "race_matrices.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

namespace swizproof::kernel_detail {

namespace {

/// True if a word is in a list of words with blanks between.
bool is_among(std::string_view word, std::string_view list) {
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    std::size_t const end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

/// A dense mma.sync by its shape and the types of D, A, B and C.
struct Mma {
  MmaShape const* shape = nullptr;
  unsigned d_bits = 32;
};

std::optional<Mma> mma_of(ptx::Instruction const& i) {
  ptx::Opcode const& op = i.opcode;
  if (op.name != "mma" || !op.has("sync") || op.parts.size() < 8 || op.has("sp") || op.has("block_scale") ||
      i.operands.size() != 4)
    return std::nullopt;
  std::string_view const d = op.parts[op.parts.size() - 4], a = op.parts[op.parts.size() - 3],
                         b = op.parts[op.parts.size() - 2], c = op.parts.back();
  for (MmaShape const& s : mma_shapes)
    if (op.has(s.shape) && is_among(a, s.types) && is_among(b, s.types) && d == c)
      return Mma{&s, program::type_of(d).bits};
  return std::nullopt;
}

std::optional<Instruction> matrices_of(ptx::Instruction const& i) {
  ptx::Opcode const& op = i.opcode;
  unsigned const n = op.has("x4") ? 4 : op.has("x2") ? 2 : op.has("x1") ? 1 : 0;
  bool const load = op.name == "ldmatrix";
  if ((!load && op.name != "stmatrix") || !op.has("m8n8") || op.parts.back() != "b16" || n == 0 ||
      i.operands.size() < 2 || i.operands[load ? 1 : 0].parts.empty())
    return std::nullopt;
  return Instruction{load ? Operation::ldmatrix : Operation::stmatrix, 16, n, op.has("trans")};
}

/// Registers of an operand.
std::span<ptx::Operand const> registers_of(ptx::Operand const& o) {
  return o.kind == ptx::Operand::Kind::vector ? std::span(o.parts) : std::span(&o, 1);
}

}  // namespace

bool MatrixValues::follows(ptx::Instruction const& i) {
  if (i.guard >= 0) return false;
  if (auto const m = matrices_of(i)) {
    ptx::Operand const& held = i.operands[m->operation == Operation::ldmatrix ? 0 : 1];
    return registers_of(held).size() == m->matrices;
  }
  auto const m = mma_of(i);
  if (!m) return false;
  auto const count = [&](Operand of) { return m->shape->fragment(of, m->d_bits).registers(); };
  return registers_of(i.operands[0]).size() == count(Operand::d) &&
         registers_of(i.operands[1]).size() == count(Operand::a) &&
         registers_of(i.operands[2]).size() == count(Operand::b) &&
         registers_of(i.operands[3]).size() == count(Operand::d);
}

void MatrixValues::execute(ptx::Instruction const& i, std::span<MatrixLane> lanes, bool memory) {
  auto const m = matrices_of(i);
  if (!m) return multiply(i, lanes);
  if (m->operation == Operation::stmatrix) return store(i, lanes);
  if (memory) load(i, lanes);
}

void MatrixValues::give(ptx::Instruction const& i, std::vector<RaceValue>& values,
                        std::vector<RaceValue>& registers) {
  if (i.opcode.name == "stmatrix") return values.clear();
  auto const to = registers_of(i.operands[0]);
  for (std::size_t k = 0; k < std::min(to.size(), values.size()); ++k)
    if (to[k].kind == ptx::Operand::Kind::reg) registers[to[k].reg] = values[k];
  values.clear();
}

RaceValue MatrixValues::value(MatrixLane const& lane, ptx::Operand const& o) const {
  if (lane.registers == nullptr) return {};
  RaceValue out = o.kind == ptx::Operand::Kind::immediate ? RaceValue{o.value, false}
                  : o.kind == ptx::Operand::Kind::reg     ? (*lane.registers)[o.reg]
                                                          : RaceValue{};
  if (lane.by != 0) sets_.join_to(out.data, lane.by), out.term = 0;
  return out;
}

/// A register of these bytes.
RaceValue MatrixValues::word(std::span<RaceValue const> bytes) {
  RaceValue out{0, false};
  std::vector<ValueTerms::Term> terms;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    out.open = out.open || bytes[k].open, out.bits |= bytes[k].bits << 8 * k;
    sets_.join_to(out.data, bytes[k].data);
    terms.push_back(terms_.of(bytes[k]));
  }
  if (out.open) out.bits = 0;
  if (out.open || out.data != 0) out.term = terms_.moved(terms_.of_bytes(terms));
  return out;
}

void MatrixValues::multiply(ptx::Instruction const& i, std::span<MatrixLane> lanes) {
  Mma const mma = *mma_of(i);
  // Registers of a row of A or a column of B, by their first index of k: all elements of a register are along k.
  struct Line {
    std::map<std::uint32_t, ValueTerms::Term> registers{};
    LoadSets::Set data = 0;
  };
  auto const lines_of = [&](Operand of, std::size_t operand, unsigned count) {
    std::vector<Line> out(count);
    Fragment const f = mma.shape->fragment(of, mma.d_bits);
    auto const registers = registers_of(i.operands[operand]);
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
      for (std::uint32_t r = 0; r < registers.size(); ++r) {
        MatrixElement const at = element_of(f, lane, r * (f.register_bits() / f.bits));
        RaceValue const v = value(lanes[lane], registers[r]);
        Line& line = out[of == Operand::a ? at.row : at.column];
        line.registers[of == Operand::a ? at.column : at.row] = terms_.of(v);
        sets_.join_to(line.data, v.data);
      }
    return out;
  };
  auto const rows = lines_of(Operand::a, 1, mma.shape->m), columns = lines_of(Operand::b, 2, mma.shape->n);
  auto const terms_of = [](Line const& line) {
    std::vector<ValueTerms::Term> out;
    for (auto const& [k, term] : line.registers) out.push_back(term);
    return out;
  };
  Fragment const f = mma.shape->fragment(Operand::d, mma.d_bits);
  unsigned const bytes = f.bits / 8, in_register = f.register_bits() / f.bits;
  auto const held = registers_of(i.operands[3]);
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint32_t r = 0; r < held.size(); ++r) {
      RaceValue const c = value(lanes[lane], held[r]);
      std::vector<RaceValue> all, of_c;
      add_bytes(c, f.register_bits() / 8, terms_, of_c);
      LoadSets::Set data = c.data;
      for (std::uint32_t e = 0; e < in_register; ++e) {
        MatrixElement const at = element_of(f, lane, r * in_register + e);
        RaceValue const part = in_register == 1 ? c : word(std::span(of_c).subspan(e * bytes, bytes));
        RaceValue d{0, true};
        d.term = terms_.of_product(i.opcode.text, at, terms_of(rows[at.row]), terms_of(columns[at.column]),
                                   terms_.of(part), f.bits);
        sets_.join_to(data, sets_.join(rows[at.row].data, columns[at.column].data));
        in_register == 1 ? all.push_back(d) : add_bytes(d, bytes, terms_, all);
      }
      RaceValue out = in_register == 1 ? all[0] : word(all);
      out.data = data;
      lanes[lane].out.push_back(out);
    }
}

void MatrixValues::load(ptx::Instruction const& i, std::span<MatrixLane> lanes) {
  Instruction const m = *matrices_of(i);
  Fragment const f = fragment_of(m, 16);
  ptx::Operand const& where = i.operands[1];
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint32_t r = 0; r < m.matrices; ++r) {
      std::vector<RaceValue> bytes;
      LoadSets::Set by = 0;
      for (std::uint32_t half = 0; half < 2; ++half) {
        MatrixElement const at = element_of(f, lane, 2 * r + half);
        RaceValue const base = value(lanes[at.row], where.parts[0]);
        RaceValue element{};
        if (!base.open)
          element = bytes_.loaded(base.bits + where.value + 2 * at.column, 2, lanes[at.row].thread, i.line);
        if (base.data != 0) element.term = 0;
        sets_.join_to(by, base.data);
        add_bytes(element, 2, terms_, bytes);
      }
      lanes[lane].out.push_back(word(bytes));
      sets_.join_to(lanes[lane].out.back().data, by);
    }
}

void MatrixValues::store(ptx::Instruction const& i, std::span<MatrixLane> lanes) {
  Instruction const m = *matrices_of(i);
  Fragment const f = fragment_of(m, 16);
  auto const held = registers_of(i.operands[1]);
  for (std::uint32_t row = 0; row < 8 * m.matrices; ++row) lanes[row].out.assign(16, {});
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint32_t r = 0; r < m.matrices; ++r) {
      std::vector<RaceValue> bytes;
      add_bytes(value(lanes[lane], held[r]), 4, terms_, bytes);
      for (std::uint32_t half = 0; half < 2; ++half) {
        MatrixElement const at = element_of(f, lane, 2 * r + half);
        MatrixLane& giver = lanes[at.row];
        for (std::uint32_t b = 0; b < 2; ++b) {
          RaceValue& to = giver.out[2 * at.column + b] = bytes[2 * half + b];
          if (giver.by != 0) sets_.join_to(to.data, giver.by), to.term = 0;
        }
      }
    }
}

void add_bytes(RaceValue const& v, unsigned bytes, ValueTerms& terms, std::vector<RaceValue>& to) {
  for (unsigned k = 0; k < bytes; ++k) {
    to.push_back(k < 8 ? RaceValue{v.bits >> 8 * k & 0xff, v.open, v.data} : RaceValue{});
    if (k < 8 && v.term != 0) to.back().term = terms.byte(v.term, k);
  }
}

}  // namespace swizproof::kernel_detail
