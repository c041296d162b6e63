#include "parse/access/threads.hpp"

#include <tuple>

namespace swizproof {

namespace {

constexpr IntegerType unsigned_type{32, false};

CValue thread_number(CValue const& warp) {
  CValue const lane{Expression::variable(0), {{}, 0, warp_lanes - 1}};
  if (warp.bounds.is_constant() && warp.bounds.least == 0) return lane;
  return c_apply(Expression::Op::add, lane, c_apply(Expression::Op::multiply, c_number(warp_lanes), warp));
}

/// thread / size % extent, without what does nothing: `more` is true where other coordinates are slower than this one.
CValue coordinate_of(CValue const& thread, std::uint64_t size, std::uint32_t extent, bool more) {
  if (extent == 1) return c_convert(c_number(0), unsigned_type);
  auto const number = [](std::uint64_t n) { return c_number(static_cast<std::int64_t>(n)); };
  CValue at = size == 1 ? thread : c_apply(Expression::Op::divide, thread, number(size));
  if (more) at = c_apply(Expression::Op::remainder, at, number(extent));
  return c_convert(at, unsigned_type);
}

}  // namespace

std::uint64_t warps_of(BlockShape const& block) {
  return (std::uint64_t{block[0]} * block[1] * block[2] + warp_lanes - 1) / warp_lanes;
}

Threads threads_of(std::optional<BlockShape> const& block, CValue const& warp) {
  Threads out;
  auto const add = [&](std::string name, CValue const& value) {
    out.names.push_back({std::move(name), value.value, value.bounds});
  };
  CValue const lane{Expression::variable(0), {{}, 0, warp_lanes - 1}}, thread = thread_number(warp);
  for (char const* name : {"lane_id", "laneId", "laneid"}) add(name, lane);
  if (!block) {
    for (char const* name : {"tid", "tid.x", "threadIdx.x"}) add(name, c_convert(thread, unsigned_type));
    return out;
  }
  std::uint64_t const threads = std::uint64_t{(*block)[0]} * (*block)[1] * (*block)[2];
  if (threads % warp_lanes != 0)
    out.active = c_apply(Expression::Op::less, thread, c_number(static_cast<std::int64_t>(threads))).value;
  bool const one_dimension = (*block)[1] == 1 && (*block)[2] == 1;
  std::uint64_t size = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    std::uint32_t const extent = (*block)[i];
    CValue const at = coordinate_of(thread, size, extent, size * extent < threads);
    std::string const axis(1, "xyz"[i]);
    add("threadIdx." + axis, at);
    add("tid." + axis, at);
    if (i == 0 && one_dimension) add("tid", at);
    add("blockDim." + axis, c_convert(c_number(extent), unsigned_type));
    add("ntid." + axis, c_convert(c_number(extent), unsigned_type));
    size *= extent;
  }
  return out;
}

std::pair<std::uint64_t, std::uint64_t> take_range(Scanner& in) {
  std::size_t const from = in.at();
  std::uint64_t const first = in.take_literal();
  in.expect("..", "between the first and the last value, which is included");
  std::uint64_t const last = in.take_literal();
  if (last < first) in.fail("this range is empty", from, in.at() - from);
  return {first, last};
}

Variable take_values(Scanner& in, std::string name) {
  std::size_t const from = in.at();
  std::uint64_t first = 0, last = 0, step = 1;
  if (in.take_word("range")) {
    in.expect("(", "of the range");
    std::uint64_t end = in.take_literal();
    if (in.take(",")) {
      first = std::exchange(end, in.take_literal());
      if (in.take(",")) step = in.take_literal();
    }
    in.expect(")", "of the range");
    if (step == 0) in.fail("the step of this range is 0", from, in.at_end_of_token() - from);
    if (end <= first) in.fail("this range is empty", from, in.at_end_of_token() - from);
    last = end - 1;
  } else {
    std::tie(first, last) = take_range(in);
  }
  if (last > 0xffffffff) in.fail("values must be below 2^32", from, in.at() - from);
  return Variable::steps(std::move(name), first, step, (last - first) / step + 1);
}

}  // namespace swizproof
