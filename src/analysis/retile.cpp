#include <swizproof/analysis/retile.hpp>

#include <swizproof/core/error.hpp>

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace swizproof {

namespace {

/// Refuses two sides that CuTe would not let meet.
void refuse_unlike(RetileQuestion const& r, std::string const& text) {
  auto const copy_threads = r.movement.moved.mode(0).size(), threads = r.movement.held.mode(0).size();
  if (copy_threads != threads)
    throw InputError::whole(
        fmt::format("the TiledCopy has {} threads, the TiledMMA {}", copy_threads, threads), text);
  Layout const moved = r.movement.moved.mode(1), &registers = r.movement.registers;
  Layout const rest = moved.mode(1);
  if (moved.mode(0).size() != registers.mode(0).size() || rest.mode(0).size() != registers.mode(1).size() ||
      rest.mode(1).size() != registers.mode(2).size())
    throw InputError::whole(
        fmt::format("the TiledCopy's partition of the tensor is {} x {} x {} values of a thread, the retiled "
                    "fragment {} x {} x {}",
                    moved.mode(0).size(), rest.mode(0).size(), rest.mode(1).size(), registers.mode(0).size(),
                    registers.mode(1).size(), registers.mode(2).size()),
        text);
}

}  // namespace

RetileQuestion retile_question(TiledOperand operand, TiledCopy copy, bool loads,
                               std::string const& copy_text) {
  RetileQuestion r{std::move(operand), std::move(copy), loads};
  if (r.operand.element_bits != 0 && r.operand.operand != Operand::d &&
      r.operand.element_bits != r.copy.value_bits)
    throw InputError::whole(
        fmt::format("the TiledCopy moves values of {} bits, the operand has elements of {}",
                    r.copy.value_bits, r.operand.element_bits),
        copy_text);
  std::vector<std::int64_t> const tile = r.copy.tile.leaves();
  if (tile.size() != 2)
    throw InputError::whole("the TiledCopy's tile has no two modes", copy_text, "an operand is a matrix");
  for (std::size_t i = 0; i < 2; ++i) r.extents[i] = std::lcm(tile[i], r.operand.extents()[i]);
  if (r.extents[0] * r.extents[1] > 1 << 22)
    throw InputError::whole(
        fmt::format("a tensor that both tile has {} x {} elements", r.extents[0], r.extents[1]), copy_text);
  Layout const tensor = make_layout(IntTuple(std::vector<IntTuple>{r.extents[0], r.extents[1]}));
  try {
    Layout const moved = tidfrg(r.copy, r.loads ? r.copy.destination : r.copy.source, tensor);
    r.movement.moved = make_layout({moved.mode(0), make_layout({moved.mode(1), moved.mode(2)})});
    r.movement.held = thread_values(r.operand.mma, r.operand.operand, tensor);
    Layout const values = r.movement.held.mode(1), rest = values.mode(1);
    std::vector<IntTuple> const shape{size(values.mode(0).shape), size(rest.mode(0).shape),
                                      size(rest.mode(1).shape)};
    for (std::size_t i = 0; i < 3; ++i) r.fragment[i] = static_cast<std::uint64_t>(shape[i].value);
    r.movement.registers = retile(r.copy, make_layout(IntTuple(shape)));
  } catch (AlgebraError const& error) {
    throw InputError::whole("CuTe does not retile the fragment so: " + std::string(error.what()), copy_text);
  }
  refuse_unlike(r, copy_text);
  r.notes = r.operand.notes;
  if (r.copy.thread)
    r.notes.push_back(fmt::format("this ThrCopy is thread {}; the answer is of all threads", *r.copy.thread));
  return r;
}

}  // namespace swizproof
