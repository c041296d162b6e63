// Names of the lane and of the thread in ACCESS: `lane`, `threadIdx.x`.
#pragma once

#include "parse/expression/expression_parser.hpp"

#include <swizproof/parse/parse.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace swizproof {

/// Names of threads, and the threads of a block's last warp that take part.
struct Threads {
  std::vector<NamedExpression> names{};
  std::optional<Expression> active{};  ///< nothing where every warp is whole
};

/// Warps of a block of that shape.
[[nodiscard]] std::uint64_t warps_of(BlockShape const& block);

/// The names of one warp's lanes: `lane` (unless variable 0 has that name itself), `lane_id`, and `tid`, `threadIdx.x` of the thread
/// lane + 32 * `warp`. With a block also threadIdx.y, blockDim.x and their kin, by the order of threads in a block.
/// [CUDA C++ Programming Guide, thread hierarchy: thread (x, y, z) of a block (Dx, Dy, Dz) has the number x + y Dx + z Dx Dy]
[[nodiscard]] Threads threads_of(std::optional<BlockShape> const& block, CValue const& warp);

/// `a..b`, both included. Throws InputError for an empty range.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> take_range(Scanner& in);

/// `a..b`, or Python's `range(n)`, `range(a, b)`, `range(a, b, step)`. Throws InputError for an empty range and values from
/// 2^32 on.
[[nodiscard]] Variable take_values(Scanner& in, std::string name);

}  // namespace swizproof
