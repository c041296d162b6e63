#include <swizproof/program/builder.hpp>

#include <utility>

namespace swizproof::program {

std::uint32_t Builder::temporary(unsigned width) {
  program.widths.push_back(static_cast<std::uint8_t>(width));
  return static_cast<std::uint32_t>(program.widths.size() - 1);
}

Source Builder::emit(Action action, unsigned width, Source a, Source b, Source c, std::uint32_t extra) {
  std::uint32_t const to = temporary(width);
  program.steps.push_back(
      {action, static_cast<std::uint8_t>(width), static_cast<std::int32_t>(to), a, b, c, extra, line});
  return reg(to);
}

void Builder::assign(std::uint32_t r, Source value, unsigned width, std::optional<Source> const& guard) {
  auto const w = static_cast<std::uint8_t>(width);
  auto const to = static_cast<std::int32_t>(r);
  if (guard)
    program.steps.push_back({Action::choose, w, to, *guard, value, reg(r), 0, line});
  else
    program.steps.push_back({Action::copy, w, to, value, {}, {}, 0, line});
}

std::uint32_t Builder::named(std::string_view what) {
  auto const [at, fresh] =
      names_.try_emplace(std::string(what), static_cast<std::uint32_t>(program.names.size()));
  if (fresh) program.names.emplace_back(what);
  return at->second;
}

Source Builder::any(unsigned width, Source from, bool memory) {
  return emit(Action::varying, width, from, constant(memory ? from_memory : 0), {}, named(opcode));
}

Source Builder::one_together(unsigned width, Source from) {
  return emit(Action::varying, width, from, constant(program::one_together), {}, named(opcode));
}

Source Builder::function_of(unsigned width, Source a, Source b, Source c) {
  return emit(Action::opaque, width, a, b, c, named(opcode));
}

Source Builder::special(Special which) {
  program.uses_ntid_x |= which == Special::ntid_x;
  program.uses_y_or_z |= which == Special::tid_y || which == Special::tid_z || which == Special::ntid_y ||
                         which == Special::ntid_z;
  return emit(Action::special, 32, {}, {}, {}, static_cast<std::uint32_t>(which));
}

Source Builder::uniform(unsigned width, std::string_view name) {
  auto const [at, fresh] =
      uniform_.try_emplace(std::string(name), static_cast<std::uint32_t>(uniform_.size()));
  return emit(Action::special, width, {}, {}, {}, first_uniform_special + at->second);
}

void Builder::add(MemoryAccess m) {
  if (!m.reason.empty()) m.instruction.reset(), m.atomic.reset();
  auto const number = static_cast<std::uint32_t>(program.accesses.size());
  program.steps.push_back({Action::access, 32, -1, m.address, {}, {}, number, line});
  program.accesses.push_back(std::move(m));
}

void Builder::add(SharedOperand o) {
  auto const number = static_cast<std::uint32_t>(program.operands.size());
  program.steps.push_back({Action::operand, 32, -1, o.at.address, {}, {}, number, line});
  program.operands.push_back(std::move(o));
}

void Builder::add(Event e) {
  auto const number = static_cast<std::uint32_t>(program.events.size());
  program.steps.push_back({Action::event, 32, -1, e.at.address, {}, {}, number, line});
  program.events.push_back(std::move(e));
}

void Builder::refuse(std::string_view why) {
  if (program.refused.empty()) program.refused = "line " + std::to_string(line) + ": " + std::string(why);
}

}  // namespace swizproof::program
