// A user's project: the core alone, and the core with the prover.
#include <swizproof/hardware/bank.hpp>
#include <swizproof/core/swizzle.hpp>
#ifdef WITH_PROVER
#include <swizproof/engine/decide.hpp>
#endif

#include <cstdio>

using namespace swizproof;

namespace {

// ldmatrix.x4 on 128-byte rows, written by hand and checked while compiling.
template <class F>
constexpr std::uint32_t ldmatrix_x4(F const& swizzle) {
  WarpAccess<std::uint32_t> warp{};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    warp.address[lane] = swizzle(128 * (lane % 16) + 16 * (lane / 16));
    warp.active[lane] = true;
  }
  return cost(sm_90, {Operation::ldmatrix, 16, 4}, warp).wavefronts;
}

static_assert(ldmatrix_x4(swizzle_128B) == 4);
static_assert(ldmatrix_x4(swizzle_none) == 32);

}  // namespace

int main() {
#ifdef WITH_PROVER
  Question const q =
      ask("mine", 64, {{"x", 64}}, [](auto x) { return states((x ^ ((x >> 3) & 0x70)) == swizzle_128B(x)); });
  Answer const answer = decide(q, {}, Effort::two);
  std::printf("x ^ ((x >> 3) & 0x70) is Sw<3,4,3>: %s\n", std::string(name(answer.outcome)).c_str());
  return answer.proved() && answer.engines.size() == 2 ? 0 : 1;
#else
  std::puts("the core alone compiles");
  return 0;
#endif
}
