// wmma.load and wmma.store: the accesses that ptxas makes of them (H19).
#include "lowering.hpp"

#include <swizproof/ptx/wmma.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace swizproof::ptx {

namespace {

/// Bits of an element; 0 for a type that wmma does not have.
unsigned element_bits(std::string_view type) {
  static constexpr std::pair<std::string_view, unsigned> known[] = {
      {"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"s32", 32}, {"f64", 64},
      {"s8", 8},   {"u8", 8},    {"s4", 4},    {"u4", 4},   {"b1", 1}};
  for (auto const& [name, bits] : known)
    if (name == type) return bits;
  return 0;
}

}  // namespace

WmmaForm wmma_form(Opcode const& op) {
  WmmaForm form;
  for (std::string_view const p : op.parts) {
    if (p == "a" || p == "b" || p == "c" || p == "d") form.fragment = p[0];
    if (p == "row" || p == "col") form.row = p == "row";
    if (p[0] != 'm' || p.size() < 6) continue;
    char const* const end = p.data() + p.size();
    auto const m = std::from_chars(p.data() + 1, end, form.m);
    auto const n = std::from_chars(std::min(m.ptr + 1, end), end, form.n);
    (void)std::from_chars(std::min(n.ptr + 1, end), end, form.k);
  }
  form.bits = element_bits(op.parts.back());
  form.generic = op.space == Space::generic;
  return form;
}

void wmma(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  bool const load = op.has("load");
  if (op.space != Space::shared && op.space != Space::generic) return load ? steps.unknown(i, true) : void();
  MemoryAccess m = access_at(steps, i, operand(i, load ? 1 : 0));
  m.generic = op.space == Space::generic;
  WmmaForm const form = wmma_form(op);
  std::optional<WmmaAccesses> const accesses = wmma_accesses(form, !load);
  if (!accesses || !m.reason.empty()) {
    if (m.reason.empty()) m.reason = "this form of wmma is not known";
    steps.build.add(std::move(m));
    return load ? steps.unknown(i, true) : void();
  }
  Source const stride = i.operands.size() > 2 ? steps.in(operand(i, 2), 32) : constant(accesses->positions);
  bool const whole = form.bits >= 8;  // bytes
  Source pitch =
      steps.emit(Action::mul, 32, stride, constant(whole ? form.bits / 8 : form.bits));  // from line to line
  if (!whole) pitch = steps.emit(Action::lshr, 32, pitch, constant(3));
  Source const lane = steps.special("%laneid", 32);
  Source at = constant(0);
  auto const move = [&](WmmaPlace step, Source by) {
    auto const add = [&](Source bytes) {
      at = steps.emit(Action::add, 32, at, steps.emit(Action::mul, 32, by, bytes));
    };
    if (step.line != 0) add(steps.emit(Action::mul, 32, pitch, constant(step.line)));
    if (step.bytes != 0) add(constant(step.bytes));
  };
  for (WmmaField const& f : accesses->fields)
    if (f.mask != 0)
      move(f.step, steps.emit(Action::bit_and, 32, steps.emit(Action::lshr, 32, lane, constant(f.shift)),
                              constant(f.mask)));
  Source const of_lane = at;
  unsigned const width =
      m.address.constant ? 32 : steps.width_of(static_cast<std::uint32_t>(m.address.value));
  m.instruction = accesses->instruction;
  m.bytes = m.instruction->bytes;
  m.of_tile = true;
  m.op += ": " + to_string(*m.instruction);
  for (unsigned k = 0; k < accesses->count; ++k) {
    at = of_lane;
    move(accesses->starts[k], constant(1));
    MemoryAccess one = m;
    one.address = steps.emit(Action::add, width, m.address, steps.resize(at, 32, width, false));
    steps.build.add(std::move(one));
  }
  if (load) steps.unknown(i, true);
}

}  // namespace swizproof::ptx
