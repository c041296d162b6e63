#include "windows.hpp"

#include "execute.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace swizproof::flow_detail {

namespace {

using program::Space;

/// A window: addresses [start, start + bytes) of a space, and the same plus `shift` as generic ones.
struct Window {
  Space space;
  std::uint64_t start, bytes, shift;
  std::string_view name;
  [[nodiscard]] bool has(std::uint64_t address) const { return address - start < bytes; }
  [[nodiscard]] bool has_generic(std::uint64_t address) const { return has(address - shift); }
};

/// The windows lie below the first array. The one of shared memory begins at a multiple of 2^32, as on devices.
constexpr Window shared_window{Space::shared, 0, shared_limit, std::uint64_t{3} << 37, "shared"},
    windows[] = {shared_window,
                 {Space::local, local_start, local_limit - local_start,
                  (std::uint64_t{1} << 38) + (std::uint64_t{1} << 37) - local_limit, "local"},
                 {Space::param, tensor_start, std::uint64_t{1} << 32, std::uint64_t{1} << 35, "param"},
                 {Space::constant, std::uint64_t{1} << array_shift, std::uint64_t{1} << 59,
                  std::uint64_t{1} << 60, "const"}};

/// True if an address is one of the space of a window, and of a variable or parameter there.
bool is_in(Now const& now, Window const& w, std::uint64_t address) {
  FlowKernel const& kernel = now.block.kernel;
  if (w.space == Space::constant) return kernel.constants.contains(kernel.array_of(address));
  if (w.space == Space::param) return kernel.in_params(address);
  return w.has(address) && (w.space != Space::shared || in_block(address) >= shared_start);
}

/// Space of a variable that an address names; nothing of another operand. It is one of its space, as ptxas takes it: `st.u32 [tile], %r1`.
std::optional<Space> space_of_variable(Now const& now, ptx::Operand const& o) {
  if (o.parts.size() != 1 || o.parts[0].kind != ptx::Operand::Kind::symbol) return std::nullopt;
  for (program::Variable const& v : now.block.kernel.program.symbols)
    if (v.name == o.parts[0].text) return v.space == Space::constant ? Space::global : v.space;
  return std::nullopt;
}

}  // namespace

std::uint64_t without_window(std::uint64_t address) {
  for (Window const& w : windows)
    if (w.has_generic(address)) return address - w.shift;
  return address;
}

std::optional<std::uint64_t> generic_of_shared(std::uint64_t address) {
  if (!shared_window.has(address)) return std::nullopt;
  return address + shared_window.shift;
}

Located of_generic(Now const& now, std::uint64_t address, unsigned lane) {
  for (Window const& w : windows) {
    if (w.has_generic(address))
      return {w.space == Space::constant ? Space::global : w.space, address - w.shift};
    if (is_in(now, w, address))
      now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::generic,
                fmt::format("{} uses an address of .{} by {}, which takes a generic one: cvta.{} converts it",
                            now.block.units.thread(now.thread(lane)), w.name, now.in.opcode.text, w.name));
  }
  return {Space::global, address};
}

void check_space(Now const& now, std::uint64_t address, unsigned lane) {
  for (Window const& w : windows)
    if (w.has_generic(address))
      now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::generic,
                fmt::format("{} uses a generic address by {}, which takes one of its state space: "
                            "cvta.to.{} converts it",
                            now.block.units.thread(now.thread(lane)), now.in.opcode.text, w.name));
}

std::uint64_t address_in_space(Now const& now, ptx::Operand const& o, unsigned lane) {
  std::uint64_t const at = now.address(o, lane);
  check_space(now, at, lane);
  return at;
}

Located located(Now const& now, ptx::Operand const& o, unsigned lane) {
  Space const space = now.decoded.space;
  if (space != Space::generic)
    return {space == Space::constant ? Space::global : space, address_in_space(now, o, lane)};
  std::uint64_t const at = now.address(o, lane);
  if (auto const named = space_of_variable(now, o)) return {*named, at};
  return of_generic(now, at, lane);
}

std::uint64_t shared_address(Now const& now, ptx::Operand const& o, unsigned lane) {
  Located const where = located(now, o, lane);
  if (where.space != Space::shared)
    now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::generic,
              fmt::format("{} uses an address outside of shared memory by {}",
                          now.block.units.thread(now.thread(lane)), now.in.opcode.text));
  return where.at;
}

void note_window(Now const& now, program::Step const& s, std::uint64_t a, std::uint64_t b,
                 std::uint64_t result) {
  bool const first = shared_window.has_generic(a), second = shared_window.has_generic(b);
  if (first == second || s.width == 1 || s.action == program::Action::choose ||
      shared_window.has_generic(result))
    return;
  now.block.assumed.insert(
      "the window of shared memory begins at a multiple of 2^32, as on devices, which the PTX ISA does not "
      "specify");
}

namespace {

/// True if cvta may convert an address of a space, or to one: `.shared` is the block's own shared memory. Another result is undefined.
bool may_convert(Now const& now, Window const& w, std::uint64_t address) {
  if (w.space == Space::constant || w.space == Space::param) return is_in(now, w, address);
  return w.has(address) && (w.space != Space::shared || now.decoded.has("shared::cluster") ||
                            rank_at(address) == now.block.rank);
}

}  // namespace

/// cvta, cvta.to: a result that is undefined is not followed.
void convert_address(Now const& now) {
  bool const back = now.decoded.has("to");
  unsigned const width = now.decoded.type.bits;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    Word const from = now.operand(now.in.operands[1], lane, 64);
    Word to = from;
    bool fits = width == 64;
    for (Window const& w : windows) {
      if (from.named != 0) continue;
      std::uint64_t const in_space = back ? from.number - w.shift : from.number;
      if (w.space != now.decoded.space) {
        fits = fits && !w.has_generic(from.number);
        continue;
      }
      fits = fits && may_convert(now, w, in_space);
      to.number = back ? in_space : from.number + w.shift;
    }
    now.put(now.in.operands[0], lane,
            fits ? to : now.function_of(std::string(now.in.opcode.text), std::max(width, 32U), {from}));
  }
}

}  // namespace swizproof::flow_detail
