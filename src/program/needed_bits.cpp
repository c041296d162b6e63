#include <swizproof/program/needed_bits.hpp>

#include <swizproof/core/word.hpp>

#include <array>
#include <bit>

namespace swizproof::program {

namespace {

/// All bits up to the highest one.
std::uint64_t below_top(std::uint64_t bits) {
  return bits == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(bits);
}

/// Bits of the sources of a step that those of its result may depend on.
std::array<std::uint64_t, 3> read_bits(Step const& s, std::uint64_t result) {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  auto const other = [](Source const& x, std::uint64_t absent) { return x.constant ? x.value : absent; };
  switch (s.action) {
    case Action::copy:
    case Action::zext:
    case Action::trunc:
    case Action::bit_xor:
      return {result, result, 0};
    case Action::add:
    case Action::sub:
    case Action::mul:
      return {below_top(result), below_top(result), 0};
    case Action::bit_and:
      return {result & other(s.b, all), result & other(s.a, all), 0};
    case Action::bit_or:
      return {result & ~other(s.b, 0), result & ~other(s.a, 0), 0};
    case Action::shl:
      if (!s.b.constant) return {below_top(result), all, 0};
      return {s.b.value < s.width ? result >> s.b.value : 0, 0, 0};
    case Action::lshr:
      if (!s.b.constant) return {all, all, 0};
      return {s.b.value < s.width ? result << s.b.value : 0, 0, 0};
    case Action::choose:
      return {1, result, result};
    case Action::shuffle:
      return {result, all, all};
    default:
      return {all, all, all};
  }
}

}  // namespace

std::vector<std::uint64_t> needed_bits(Program const& program, Flow const& flow) {
  std::size_t const n = program.widths.size();
  std::vector<std::vector<std::uint32_t>> steps(n);
  for (std::uint32_t const b : flow.order)
    for (std::uint32_t s = program.blocks[b].first; s < program.blocks[b].last; ++s)
      if (program.steps[s].dst >= 0) steps[static_cast<std::size_t>(program.steps[s].dst)].push_back(s);
  std::vector<std::uint64_t> needed(n, 0);
  std::vector<std::uint32_t> work;
  auto const need = [&](std::uint64_t r, std::uint64_t bits) {
    unsigned const w = program.widths[r];
    bits &= low_bits(w);
    if ((bits & ~needed[r]) != 0) needed[r] |= bits, work.push_back(static_cast<std::uint32_t>(r));
  };
  auto const need_source = [&](Source const& s, std::uint64_t bits) {
    if (!s.constant) need(s.value, bits);
  };
  constexpr std::uint64_t all = ~std::uint64_t{0};
  for (std::uint32_t const b : flow.order)
    if (program.blocks[b].condition >= 0) need(static_cast<std::uint64_t>(program.blocks[b].condition), 1);
  auto const need_access = [&](MemoryAccess const& m) {
    need_source(m.address, all);
    if (m.guard >= 0) need(static_cast<std::uint64_t>(m.guard), 1);
    for (Source const& value : m.values) need_source(value, all);
  };
  for (MemoryAccess const& m : program.accesses) need_access(m);
  for (SharedOperand const& o : program.operands) {
    need_access(o.at);
    if (o.size) need_source(*o.size, all);
  }
  for (Event const& e : program.events) need_access(e.at);
  while (!work.empty()) {
    std::uint32_t const r = work.back();
    work.pop_back();
    for (std::uint32_t const s : steps[r]) {
      Step const& step = program.steps[s];
      std::array<std::uint64_t, 3> const bits = read_bits(step, needed[r]);
      need_source(step.a, bits[0]), need_source(step.b, bits[1]), need_source(step.c, bits[2]);
    }
  }
  return needed;
}

}  // namespace swizproof::program
