// Functions that execute the instructions of a warp, by the file that has them. A result of false: the warp waits.
#pragma once

#include "block_state.hpp"

#include <swizproof/hardware/descriptor.hpp>

namespace swizproof::flow_detail {

// steps.cpp: integers exactly, names byte by byte
void execute_steps(Now const& now);
/// The result of one step.
[[nodiscard]] Word apply_step(Now const& now, program::Step const& s, Word const& a, Word const& b,
                              Word const& c);

// clusters.cpp
void map_address(Now const& now);
void convert_address(Now const& now);  // windows.cpp
void rank_of_address(Now const& now);
/// Value of %cluster_ctarank and the other registers of clusters; nothing of another register.
[[nodiscard]] std::optional<std::uint64_t> cluster_register(Now const& now, std::string_view name);
/// Notes that each block is taken as a cluster of its own, where no size is given.
void assume_cluster(Now const& now);
/// Fails if a lane may not access shared memory of another block. `own`: the operand is one of .shared::cta.
void check_window(Now const& now, std::uint64_t address, unsigned lane, char const* verb, bool own = false);

// memory_access.cpp
void load(Now const& now);
void store(Now const& now);
void copy_async(Now const& now);
void wait_for_copies(Now const& now);
/// cp.async.mbarrier.arrive: the copies of a thread arrive at an mbarrier.
void arrive_async(Now const& now);
void store_zeros(Now const& now);
/// st.async to the block's own shared memory.
void store_async(Now const& now);
void matrices(Now const& now, bool load);
/// `own`: an operand that is in the block's own shared memory.
void check_bounds(Now const& now, program::Space space, std::uint64_t address, unsigned bytes, unsigned lane,
                  char const* verb, unsigned alignment = 0, bool own = false);
/// Value of bytes where data choose if another one is written: that one, or the old one.
[[nodiscard]] Word maybe(Now const& now, Bytes& memory, std::uint64_t address, unsigned bytes,
                         Word const& value);
/// Bytes that a lane loads and stores.
[[nodiscard]] Word read_bytes(Now const& now, program::Space space, std::uint64_t address, unsigned bytes,
                              unsigned lane);
void write_bytes(Now const& now, program::Space space, std::uint64_t address, unsigned bytes, unsigned lane,
                 Word const& value);
/// A byte of an element that nothing has written.
[[nodiscard]] Word element_byte(Now const& now, std::uint64_t address);
/// Bytes that an atomic finds. Its write follows, and finds the races.
[[nodiscard]] Word update(Now const& now, Bytes& memory, std::uint64_t address, unsigned bytes,
                          Toucher const& by);

// wide_registers.cpp: registers of 128 bits
/// Value of a register of 128 bits.
struct WideWord {
  Word low{}, high{};
};
/// A register of 128 bits, or `{low, high}`.
[[nodiscard]] WideWord wide_operand(Now const& now, ptx::Operand const& o, unsigned lane);
void put_wide(Now const& now, ptx::Operand const& o, unsigned lane, WideWord const& value);
/// ld, st and mov of .b128.
void move_wide(Now const& now);

// atomics.cpp
void atomic(Now const& now);
/// The value that memory holds after an operation; `op` is add, min and so on.
[[nodiscard]] Word after_atomic(Now const& now, std::string_view op, program::Type type,
                                std::string_view type_name, Word const& old, Word const& b, Word const& c);

// synchronisation.cpp
bool barrier(Now const& now);
/// Lanes of a warp end; then, where it has no others, the warp.
void end_threads(BlockState& block, Warp& warp, std::uint32_t lanes);
void end_warp(BlockState& block, Warp& warp);
void warp_barrier(Now const& now);
bool cluster_barrier(Now const& now);
void proxy_fence(Now const& now);
void memory_fence(Now const& now);
/// Refuses a release and an acquire that a scope keeps apart.
void check_scopes(Now const& now);
void mbarrier_fence(Now const& now);
bool mbarrier(Now const& now);

// retries.cpp
inline constexpr std::string_view failure_not_followed =
    "the wait at an mbarrier may fail, and the code that is executed then is not followed";
/// True if a wait at an mbarrier that fails is tried again, and nothing else happens before: `L: try_wait p; @!p bra L;`.
[[nodiscard]] bool retries(Now const& now);

// bulk_copy.cpp
void bulk_copy(Now const& now);
void bulk_store(Now const& now);
void bulk_load_bytes(Now const& now);
void bulk_send(Now const& now);
void bulk_store_bytes(Now const& now);
void bulk_reduce(Now const& now);
void bulk_groups(Now const& now);
void bulk_prefetch(Now const& now);
/// Bytes that a unit of the async proxy reads.
[[nodiscard]] Word read_async(Now const& now, program::Space space, std::uint64_t address, unsigned bytes,
                              Toucher const& by);

/// A byte that a unit of the async proxy writes.
void write_async(Now const& now, program::Space space, std::uint64_t address, Toucher const& by,
                 Word const& value);

// launch_control.cpp: clusterlaunchcontrol
void try_cancel(Now const& now);
void query_cancel(Now const& now);

// wmma.cpp
void wmma_move(Now const& now);
void wmma_product(Now const& now);
/// A matrix product whose values are not followed.
void opaque_product(Now const& now);

// warpgroups.cpp
/// Fails if the warps of a warpgroup do not execute the same instruction, with the same descriptors.
void in_warpgroup(Now const& now, Warpgroups::Values const& values);
void change_registers(Now const& now);

// wgmma.cpp
void wgmma(Now const& now);
void wgmma_groups(Now const& now);
/// Before each instruction: none but wgmma may touch accumulators and registers of A in flight; what it writes needs a fence before the
/// next wgmma.
void check_registers(Now const& now);

// tcgen05.cpp: Tensor Memory and its registers, and what orders them
/// An instruction of tcgen05. False if the warp waits for columns.
bool execute_tensor(Now const& now);
/// Bytes of a cell of a block's Tensor Memory; nullptr: one that nothing has written.
[[nodiscard]] Word tensor_word(Now const& now, TensorMemory const& memory, TensorCell const* cell);
void assume_tensor(BlockState& block);
/// Before each instruction: a register that tcgen05.ld has still to write may be read, and not written.
void check_loading(Now const& now);

// tensor_pair.cpp
/// The blocks whose Tensor Memory an instruction with a .cta_group accesses, the even one of a pair first.
[[nodiscard]] std::vector<BlockState*> tensor_blocks(Now const& now);
/// Fails if the kernel has two values of .cta_group, or the peer is none, may not have begun, or may have ended.
void check_pair(Now const& now);
/// Executes one warp's part of an instruction of two warps of a pair. Returns the first column (tcgen05.alloc), or nothing while the warp waits.
[[nodiscard]] std::optional<unsigned> execute_part(Now const& now, TensorPart part);

// tcgen05_copy.cpp: tcgen05.cp, tcgen05.shift
void tensor_copy(Now const& now);
void tensor_shift(Now const& now);
/// A descriptor that a lane gives to tcgen05. Fails where it is wrong for elements of this size and order.
[[nodiscard]] MatrixDescriptor tensor_descriptor(Now const& now, unsigned lane, std::uint64_t bits,
                                                 Major major, unsigned element_bits, char const* what);

// tcgen05_mma.cpp
void tensor_mma(Now const& now);

// small_numbers.cpp
/// True for a cvt from or to numbers of 4 or 6 bits.
[[nodiscard]] bool converts_small(Decoded const& d);
void convert_small(Now const& now);

// extremes.cpp
void extreme(Now const& now);

// warp_numbers.cpp
void reduce(Now const& now);
void match(Now const& now);

// warp_values.cpp
void real(Now const& now);
void compare(Now const& now);
void convert(Now const& now);
void mma(Now const& now);
/// The element of a matrix at a byte of a word, or a pair of 4 bits each. Pairs of known numbers are not followed, but zeros are.
[[nodiscard]] Name matrix_name(Now const& now, Word const& w, unsigned from, Packed const& type);
inline constexpr char const* no_saturation =
    "no sum of a matrix product with .satfinite leaves the numbers of its type";
void shuffle(Now const& now);
void vote(Now const& now);
void elect(Now const& now);
void active_mask(Now const& now);
void movmatrix(Now const& now);
/// The sum of two registers of floating-point numbers, as an atomic makes it. One that is not exact keeps its name.
[[nodiscard]] Word sum_of_reals(Names& names, std::string_view type, std::uint32_t line, Word const& a,
                                Word const& b);

}  // namespace swizproof::flow_detail
