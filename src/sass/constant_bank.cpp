#include "constant_bank.hpp"

#include "opcode.hpp"

#include <swizproof/hardware/architecture.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace swizproof::sass {

namespace {

using program::Special;

/// Words of constant bank 0 below the parameters: the launch's shape. [Seen in code that ptxas of CUDA 13.0 writes: from sm_100 on, a
/// word lies between ntid.z and nctaid.x.] Checked by SassLower.TheLaunchsShapeLiesWhereTheArchitectureHasIt.
std::optional<Special> shape_at(unsigned arch, std::uint64_t offset) {
  static constexpr Special shape[] = {Special::ntid_x,   Special::ntid_y,   Special::ntid_z,
                                      Special::nctaid_x, Special::nctaid_y, Special::nctaid_z};
  std::uint64_t const base = code_constants_of(arch).shape, block = base + 12,
                      grid = block + (arch < 100 ? 0 : 4);
  if (offset < base || offset >= grid + 12 || offset % 4 != 0) return std::nullopt;
  if (offset >= grid) return shape[3 + (offset - grid) / 4];
  return offset < block ? std::optional(shape[(offset - base) / 4]) : std::nullopt;
}

/// Bytes of the constant bank that an instruction reads by an operand.
unsigned constant_bytes(Opcode const& op) {
  if (op.base == "LDC" || op.base == "LDCU") {
    if (op.has("U8") || op.has("S8")) return 1;
    if (op.has("U16") || op.has("S16")) return 2;
    if (op.has("128")) return 16;
    return op.has("64") ? 8 : 4;
  }
  bool const wide = (op.base == "IMAD" && (op.has("WIDE") || op.has("HI"))) || op.base.starts_with("D") ||
                    op.has("F64") || op.has("64");
  return wide ? 8 : 4;
}

}  // namespace

/// Parts of the constant bank behind `base` that instructions read.
std::vector<ConstantBank::Parameter> ConstantBank::parts_read(std::uint64_t base) const {
  std::map<std::uint64_t, std::uint64_t> parts;  // first byte, and the byte after the last
  for (Instruction const& i : function_.body) {
    Opcode const op = opcode_of(i.opcode);
    for (Operand const& o : i.operands) {
      if (o.kind != Kind::constant || o.bank != 0 || o.reg != no_register || o.uniform != no_register)
        continue;
      if (o.value < base || o.value > 0x10000) continue;
      std::uint64_t const end = o.value + constant_bytes(op);
      // Words, as they are loaded: two halves of one are one parameter.
      std::uint64_t& known = parts[o.value / 4 * 4];
      known = std::max(known, (end + 3) / 4 * 4);
    }
  }
  std::vector<Parameter> out;
  for (auto const& [first, end] : parts) {
    if (!out.empty() && out.back().first + out.back().bytes > first)
      out.back().bytes = std::max(out.back().bytes, end - out.back().first);
    else
      out.push_back({first, end - first, 0});
  }
  return out;
}

/// Adds a parameter of the kernel, or a part of one; `name` if it has another one than its place.
void ConstantBank::add_parameter(std::vector<program::Variable>& listed, Parameter p, bool part,
                                 std::string name) {
  program::Variable v;
  v.name = name.empty() ? fmt::format("c[0x0][{:#x}]", p.first) : std::move(name);
  v.space = program::Space::param;
  v.align = 4;
  v.bytes = p.bytes;
  v.array = p.bytes > 8;
  v.part = part;
  p.symbol = static_cast<std::uint32_t>(build_.program.symbols.size());
  listed.push_back(v);
  build_.program.symbols.push_back(v);
  parameters_.push_back(p);
}

void ConstantBank::find_parameters(std::vector<program::Variable>& listed) {
  LaunchFacts const& facts = function_.facts;
  std::uint64_t const base =
      facts.parameter_base != 0 ? facts.parameter_base : code_constants_of(module_.arch).parameters;
  std::vector<Parameter> const parts = parts_read(base);
  build_.program.first_param = 0;
  if (!facts.listed)
    for (Parameter const& p : parts) add_parameter(listed, p, false);
  std::vector<Parameter> structures;
  for (LaunchFacts::Parameter const& given : facts.parameters) {
    Parameter const p{base + given.offset, given.bytes, 0};
    bool const structure = p.bytes > 8;
    add_parameter(listed, p, false,
                  structure ? fmt::format("c[0x0][{:#x}..{:#x}]", p.first, p.first + p.bytes - 1) : "");
    if (structure) structures.push_back(p), parameters_.pop_back();  // its words are read
  }
  for (Parameter const& whole : structures)
    for (Parameter const& p : parts) {
      std::uint64_t const first = std::max(p.first, whole.first),
                          end = std::min(p.first + p.bytes, whole.first + whole.bytes);
      if (first < end) add_parameter(listed, {first, end - first, 0}, true);
    }
}

/// Bits of one parameter; nothing if they are not in one.
std::optional<Source> ConstantBank::parameter_at(std::uint64_t at, unsigned bits) {
  for (Parameter const& p : parameters_) {
    if (at < p.first || at + bits / 8 > p.first + p.bytes) continue;
    Source const base = build_.emit(Action::symbol, 64, {}, {}, {}, p.symbol);
    return build_.emit(Action::load, bits, base, constant(at - p.first), constant(build_.named("parameter")),
                       static_cast<std::uint32_t>(program::Space::param));
  }
  return std::nullopt;
}

/// Bits of constant bank 0: of one parameter, of several small ones, or of values that the driver writes.
Source ConstantBank::bytes(std::uint64_t at, unsigned bits) {
  if (auto const whole = parameter_at(at, bits)) return *whole;
  bool const touched = std::any_of(parameters_.begin(), parameters_.end(), [&](Parameter const& p) {
    return at < p.first + p.bytes && p.first < at + bits / 8;
  });
  if (touched && bits > 8) {
    Source const low = bytes(at, bits / 2), high = bytes(at + bits / 16, bits / 2);
    Source const up =
        build_.emit(Action::shl, bits, build_.emit(Action::zext, bits, high), constant(bits / 2));
    return build_.emit(Action::bit_or, bits, up, build_.emit(Action::zext, bits, low));
  }
  Source const s = build_.uniform(32, fmt::format("c[0x0][{:#x}]", at));
  return bits == 32 ? s : build_.emit(Action::trunc, bits, s);
}

Source ConstantBank::load(std::uint64_t at, unsigned bits) {
  if (auto const s = shape_at(module_.arch, at); s && bits == 32) return build_.special(*s);
  return bytes(at, bits);
}

}  // namespace swizproof::sass
