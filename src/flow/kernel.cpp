#include "kernel.hpp"
#include "clusters.hpp"
#include "variables.hpp"

#include <swizproof/ptx/initial.hpp>
#include <swizproof/ptx/inline.hpp>
#include <swizproof/program/step.hpp>
#include <swizproof/ptx/lower.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace swizproof::flow_detail {

namespace {

using program::Space;

template <std::size_t N>
bool one_of(std::string_view word, std::string_view const (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// Opcodes whose steps compute the result on integers and bytes.
constexpr std::string_view stepped[] = {
    "mov",  "and",   "or",    "xor",   "not",   "shl",      "shr",  "shf",  "lop3",        "bfe",  "bfi",
    "prmt", "popc",  "clz",   "brev",  "bfind", "setp",     "selp", "div",  "rem",         "slct", "fns",
    "bmsk", "szext", "mul24", "mad24", "sad",   "cnot",     "rcp",  "sqrt", "sin",         "cos",  "ex2",
    "lg2",  "tanh",  "set",   "testp", "rsqrt", "copysign", "dp4a", "dp2a", "createpolicy"};
constexpr std::string_view without_effect[] = {"prefetch", "prefetchu",      "nanosleep",
                                               "pmevent",  "griddepcontrol", "applypriority"};
constexpr std::string_view arithmetic[] = {"add", "sub", "mul", "fma", "mad", "addc", "subc", "madc", "neg"};

Handler async_handler(program::Opcode const& d) {
  if (d.has("bulk")) return Handler::refused;
  if (d.has("mbarrier")) return d.has("arrive") ? Handler::arrive_async : Handler::refused;
  if (d.has("commit_group")) return Handler::commit;
  if (d.has("wait_group") || d.has("wait_all")) return Handler::wait;
  return d.parts.size() > 1 && d.parts[1] == "async" && d.has("global") ? Handler::copy_async
                                                                        : Handler::refused;
}

/// Words of the bulk copies that are executed.
constexpr std::string_view bulk_words[] = {"cp",
                                           "async",
                                           "bulk",
                                           "tensor",
                                           "1d",
                                           "2d",
                                           "3d",
                                           "4d",
                                           "5d",
                                           "global",
                                           "tile",
                                           "shared::cta",
                                           "shared::cluster",
                                           "mbarrier::complete_tx::bytes",
                                           "bulk_group",
                                           "L2::cache_hint",
                                           "multicast::cluster",
                                           "cta_group::1",
                                           "cta_group::2",
                                           "commit_group",
                                           "reduce",
                                           "noftz",
                                           "add",
                                           "min",
                                           "max",
                                           "inc",
                                           "dec",
                                           "and",
                                           "or",
                                           "xor",
                                           "f16",
                                           "bf16",
                                           "f32",
                                           "f64",
                                           "u32",
                                           "s32",
                                           "u64",
                                           "s64",
                                           "b32",
                                           "b64",
                                           "wait_group",
                                           "read"};

/// Bulk copies between global and shared memory, and to the shared memory of another block. Their other forms have other words: im2col, gather.
Handler bulk_handler(program::Opcode const& d) {
  if (d.has("prefetch")) return Handler::bulk_prefetch;  // into L2
  for (std::string_view const p : d.parts)
    if (!one_of(p, bulk_words)) return Handler::refused;
  if (d.has("commit_group") || d.has("wait_group")) return Handler::bulk_groups;
  bool const reduces = d.has("reduce");
  std::size_t at = 3;
  while (at < d.parts.size() && !d.parts[at].starts_with("shared") && d.parts[at] != "global") ++at;
  if (d.parts.size() < at + 3) return Handler::refused;
  bool const in_shared = d.parts[at + 1] == "shared::cta" || d.parts[at + 1] == "shared::cluster";
  if (reduces)
    return d.parts[at] == "global" && in_shared && d.has("bulk_group") ? Handler::bulk_reduce
                                                                       : Handler::refused;
  if (d.parts[at].starts_with("shared") && d.parts[at + 1] == "global" &&
      d.has("mbarrier::complete_tx::bytes"))
    return d.has("tensor") ? Handler::bulk_copy : Handler::bulk_load_bytes;
  if (d.parts[at] == "shared::cluster" && d.parts[at + 1] == "shared::cta" &&
      d.has("mbarrier::complete_tx::bytes") && !d.has("tensor"))
    return Handler::bulk_send;
  if (d.parts[at] == "global" && in_shared && d.has("bulk_group"))
    return d.has("tensor") ? Handler::bulk_store : Handler::bulk_store_bytes;
  return Handler::refused;
}

bool is_of_tensor_memory(Handler h) { return h >= Handler::tensor_allocate && h <= Handler::tensor_commit; }

/// Instructions that use the clocks behind those of the threads.
bool is_asynchronous(Handler h) {
  return (h >= Handler::wgmma && h <= Handler::wgmma_wait) || h == Handler::store_async ||
         is_of_tensor_memory(h) || (h >= Handler::bulk_copy && h <= Handler::bulk_groups);
}

Handler wgmma_handler(program::Opcode const& d) {
  if (d.has("fence")) return Handler::wgmma_fence;
  if (d.has("commit_group")) return Handler::wgmma_commit;
  if (d.has("wait_group")) return Handler::wgmma_wait;
  return d.has("mma_async") && !d.has("sp") ? Handler::wgmma : Handler::refused;
}

/// Words of tcgen05 that are executed.
constexpr std::string_view tensor_words[] = {"sync",
                                             "aligned",
                                             "shared::cta",
                                             "shared::cluster",
                                             "b32",
                                             "b64",
                                             "cta_group::1",
                                             "cta_group::2",
                                             "kind::f16",
                                             "kind::tf32",
                                             "kind::f8f6f4",
                                             "kind::i8",
                                             "kind::mxf8f6f4",
                                             "kind::mxf4",
                                             "kind::mxf4nvf4",
                                             "block_scale",
                                             "scale_vec::1X",
                                             "scale_vec::2X",
                                             "scale_vec::4X",
                                             "block16",
                                             "block32",
                                             "ws",
                                             "collector::b0::fill",
                                             "collector::b1::fill",
                                             "collector::b2::fill",
                                             "collector::b3::fill",
                                             "collector::b0::use",
                                             "collector::b1::use",
                                             "collector::b2::use",
                                             "collector::b3::use",
                                             "collector::b0::lastuse",
                                             "collector::b1::lastuse",
                                             "collector::b2::lastuse",
                                             "collector::b3::lastuse",
                                             "collector::b0::discard",
                                             "collector::b1::discard",
                                             "collector::b2::discard",
                                             "collector::b3::discard",
                                             "collector::a::fill",
                                             "collector::a::use",
                                             "collector::a::lastuse",
                                             "collector::a::discard",
                                             "128x256b",
                                             "4x256b",
                                             "128x128b",
                                             "64x128b",
                                             "32x128b",
                                             "warpx2::02_13",
                                             "warpx2::01_23",
                                             "warpx4",
                                             "down",
                                             "mbarrier::arrive::one",
                                             "multicast::cluster"};

/// Instructions of tcgen05, by their second word. Their other forms have other words: sparse matrices, .ashift, packed loads, reductions, and copies that decompress.
Handler tensor_handler(program::Opcode const& d) {
  constexpr std::pair<std::string_view, Handler> handlers[] = {
      {"alloc", Handler::tensor_allocate},
      {"dealloc", Handler::tensor_allocate},
      {"relinquish_alloc_permit", Handler::tensor_allocate},
      {"ld", Handler::tensor_load},
      {"st", Handler::tensor_store},
      {"wait::ld", Handler::tensor_wait},
      {"wait::st", Handler::tensor_wait},
      {"fence::before_thread_sync", Handler::tensor_fence},
      {"fence::after_thread_sync", Handler::tensor_fence},
      {"mma", Handler::tensor_mma},
      {"cp", Handler::tensor_copy},
      {"shift", Handler::tensor_shift},
      {"commit", Handler::tensor_commit}};
  if (d.parts.size() < 2) return Handler::refused;
  auto const* const at = std::find_if(std::begin(handlers), std::end(handlers),
                                      [&](auto const& one) { return one.first == d.parts[1]; });
  if (at == std::end(handlers)) return Handler::refused;
  bool const moves = at->second == Handler::tensor_load || at->second == Handler::tensor_store;
  for (std::size_t i = 2; i < d.parts.size(); ++i)
    if (!one_of(d.parts[i], tensor_words) &&
        !(moves && (d.parts[i][0] == 'x' || d.parts[i][0] == '1' || d.parts[i][0] == '3')))
      return Handler::refused;
  return at->second;
}

Handler handler_of(program::Opcode const& d) {
  std::string_view const op = d.name;
  if (op == "cp" && d.has("bulk")) return bulk_handler(d);
  if (op == "mapa") return Handler::map_address;
  if (op == "cvta") return Handler::convert_address;
  if (op == "getctarank") return Handler::address_rank;
  if (op == "st" && d.has("async")) return d.has("mmio") ? Handler::refused : Handler::store_async;
  if (op == "ld" || op == "ldu") return Handler::load;
  if (op == "st") return d.has("bulk") ? Handler::store_zeros : Handler::store;
  if (op == "cp") return async_handler(d);
  if (op == "atom" || op == "red") return Handler::atomic;
  if (op == "bar" || op == "barrier") {
    if (d.has("cluster"))
      return d.has("arrive") || d.has("wait") ? Handler::cluster_barrier : Handler::refused;
    return d.has("warp") ? Handler::warp_barrier : Handler::barrier;
  }
  if (op == "ldmatrix") return Handler::ldmatrix;
  if (op == "stmatrix") return Handler::stmatrix;
  if (op == "movmatrix") return Handler::movmatrix;
  if (op == "mma") return d.has("sync") ? Handler::mma : Handler::refused;
  if (op == "wmma") return d.has("mma") ? Handler::wmma_product : Handler::wmma_move;
  if (op == "shfl") return Handler::shuffle;
  if (op == "vote") return Handler::vote;
  if (op == "elect") return Handler::elect;
  if (op == "redux") return d.has("sync") ? Handler::reduce : Handler::refused;
  if (op == "match") return d.has("sync") ? Handler::match : Handler::refused;
  if (op == "activemask") return Handler::active_mask;
  if (op == "cvt") return Handler::convert;
  if (op == "min" || op == "max" || op == "abs") return Handler::extreme;
  if (op == "mbarrier") return Handler::mbarrier;
  if (op == "wgmma") return wgmma_handler(d);
  if (op == "setmaxnreg") return Handler::set_registers;
  if (op == "tcgen05") return tensor_handler(d);
  if (op == "clusterlaunchcontrol")
    return d.has("try_cancel")     ? Handler::try_cancel
           : d.has("query_cancel") ? Handler::query_cancel
                                   : Handler::refused;
  if (op == "fence" && d.has("proxy"))
    return d.has("async") || d.has("async::generic") ? Handler::proxy_fence : Handler::refused;
  if (op == "fence" && d.has("mbarrier_init")) return Handler::mbarrier_fence;
  if (op == "fence" || op == "membar") return Handler::memory_fence;
  if (op == "trap") return Handler::trap;
  if (op == "setp" && d.type.kind == 'f') return Handler::compare;
  if (one_of(op, arithmetic)) return d.type.kind == 'f' ? Handler::real : Handler::steps;
  if (one_of(op, without_effect)) return Handler::nothing;
  return one_of(op, stepped) ? Handler::steps : Handler::refused;
}

}  // namespace

Decoded::Decoded(program::Opcode const& opcode)
    : Opcode(opcode),
      handler(handler_of(*this)),
      strong(handler == Handler::atomic ||
             ((handler == Handler::load || handler == Handler::store) && is_strong())) {}

FlowKernel::FlowKernel(ptx::Module const& in_module, ptx::Function const& kernel, FlowLaunch const& given)
    : module(in_module),
      function(ptx::inline_calls(in_module, kernel).value_or(kernel)),
      program(ptx::lower(in_module, function)),
      flow(program::flow_of(program)),
      launch(given),
      arrays(1),
      threads(given.block[0] * given.block[1] * given.block[2]),
      cluster{given.cluster[0] != 0 ? given.cluster : kernel.reqnctapercluster},
      cluster_is_given(cluster[0] != 0) {
  if (!program.refused.empty()) throw FlowRefused{program.refused};
  if (kernel.blocks_are_clusters)
    throw FlowRefused{"the kernel has .blocksareclusters: a grid that counts clusters is not modelled"};
  std::string const why = why_no_cluster(kernel.reqnctapercluster, given.cluster, given.grid);
  if (!why.empty()) throw FlowRefused{why};
  if (!cluster_is_given) cluster = {1, 1, 1};
  decode();
  place_symbols();
  take_params();
}

/// Registers of 128 bits are executed by a few instructions alone: the others have 64 bits of a register.
Handler FlowKernel::handler_of_wide(Decoded const& d, ptx::Instruction const& in) const {
  bool wide = false;
  for (ptx::Operand const& o : in.operands)
    each_register(o, [&](std::uint32_t r) { wide = wide || function.registers[r].bits == 128; });
  if (!wide || d.handler == Handler::query_cancel) return d.handler;
  bool const moves = d.handler == Handler::load || d.handler == Handler::store || d.name == "mov";
  return moves && !d.strong && d.lanes == 1 && d.type.bits == 128 ? Handler::move_wide : Handler::refused;
}

namespace {

/// True if a vector of results has a register twice.
bool repeats_result(Decoded const& d, ptx::Instruction const& in) {
  if (in.label != 0 || in.operands.empty() || (!has_result(d, in) && d.handler != Handler::wgmma))
    return false;
  std::set<std::uint32_t> seen;
  auto const& parts = in.operands[0].parts;
  return in.operands[0].kind == ptx::Operand::Kind::vector &&
         std::any_of(parts.begin(), parts.end(), [&](ptx::Operand const& o) {
           return o.kind == ptx::Operand::Kind::reg && !seen.insert(o.reg).second;
         });
}

}  // namespace

void FlowKernel::decode() {
  for (ptx::Instruction const& i : function.body) {
    decoded.push_back(i.label != 0 ? Decoded{} : Decoded(i.opcode));
    decoded.back().handler = handler_of_wide(decoded.back(), i);
    decoded.back().repeats = repeats_result(decoded.back(), i);
  }
  for (Decoded const& d : decoded) {
    asynchronous = asynchronous || is_asynchronous(d.handler);
    stores_bulk = stores_bulk || d.handler == Handler::bulk_store || d.handler == Handler::bulk_store_bytes ||
                  d.handler == Handler::bulk_groups || d.handler == Handler::bulk_reduce;
    arrives_async = arrives_async || d.handler == Handler::arrive_async;
    cancels = cancels || d.handler == Handler::try_cancel;
    tensor = tensor || is_of_tensor_memory(d.handler);
    if (d.name == "tcgen05")
      tensor_groups |= (d.has("cta_group::1") ? 1U : 0U) | (d.has("cta_group::2") ? 2U : 0U);
    clustered = clustered || d.handler == Handler::cluster_barrier;
    flags = flags || d.handler == Handler::memory_fence || (d.strong && d.handler != Handler::atomic);
  }
  ranges.assign(program.blocks.size(), {0, 0});
  for (std::uint32_t n = 0; n < program.instructions.size(); ++n) {
    auto& [first, last] = ranges[program.instructions[n].block];
    if (first == last) first = n;
    last = n + 1;
  }
}

/// Shared arrays follow each other from 0x400 on, each at its alignment, dynamic shared memory last.
void FlowKernel::place_symbols() {
  auto const align_of = [&](std::uint32_t i) { return std::max<std::uint64_t>(program.symbols[i].align, 1); };
  program::PlacedArrays arrays = program::place_shared(program.symbols, shared_start, align_of);
  addresses = std::move(arrays.addresses);
  shared_end = arrays.end;
  std::uint64_t local = local_start;
  for (std::uint32_t i = 0; i < program.symbols.size(); ++i) {
    program::Variable const& v = program.symbols[i];
    if (v.space == Space::local) {
      addresses[i] = (local + align_of(i) - 1) / align_of(i) * align_of(i);
      local = *addresses[i] + v.bytes;
    }
    if (v.space == Space::shared && v.extern_array)
      dynamic = true, shared_end = std::max(shared_end, *addresses[i] + launch.shared_bytes);
    if ((v.space == Space::shared || v.space == Space::local) && addresses[i])
      places.add(i, {*addresses[i], *addresses[i] + (v.extern_array ? launch.shared_bytes : v.bytes),
                     std::string(program::short_name(v.name))});
  }
  place_variables();
  if (shared_end > window_bytes) throw FlowRefused{"the kernel has more than 16 MiB of shared memory"};
}

/// Variables in constant and global memory are arrays. One in constant memory has its initial numbers, unless it is given as data.
void FlowKernel::place_variables() {
  constexpr std::uint64_t most_bytes = 1 << 26;
  for (std::uint32_t i = 0; i < program.symbols.size(); ++i) {
    program::Variable const& v = program.symbols[i];
    bool const constant = v.space == Space::constant;
    if ((!constant && v.space != Space::global) || v.bytes == 0 || v.bytes > most_bytes) continue;
    auto const id = static_cast<std::uint32_t>(arrays.size());
    auto const given = launch.variables.find(v.name);
    arrays.push_back(given != launch.variables.end() ? given->second : array_of_variable(v));
    addresses[i] = std::uint64_t{id} << array_shift;
    if (!constant) continue;
    constants.insert(id);
    auto const bytes = given == launch.variables.end() ? ptx::initial_bytes(*module.text, v) : std::nullopt;
    if (bytes) take_initial(arrays.back(), *bytes), initialised.insert(id);
  }
}

/// Parameters follow each other, each from a multiple of 128 on.
void FlowKernel::take_params() {
  constexpr std::uint64_t align = 128, most_param_bytes = 1 << 16;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    if (function.params[i].bytes > most_param_bytes)
      throw FlowRefused{fmt::format("parameter #{} has more than {} bytes", i, most_param_bytes)};
    params.push_back({params_end, std::vector<ParameterByte>(function.params[i].bytes)});
    addresses[program.first_param + i] = params_end;
    params_end += std::max<std::uint64_t>((function.params[i].bytes + align - 1) / align, 1) * align;
  }
  for (auto const& [key, value] : launch.params) {
    FlowPlace const place = *flow_place(function, key);  // the caller has checked it
    std::uint64_t const count = flow_bytes(function, place, value);
    std::uint64_t bits = 0;
    std::uint32_t number_of = 0;
    if (FlowArray const* const array = std::get_if<FlowArray>(&value)) {
      auto const id = static_cast<std::uint32_t>(arrays.size());
      arrays.push_back(*array);
      if (!array->box.empty()) {
        tensors[params[place.param].start + place.offset] = id;
        continue;
      }
      bits = std::uint64_t{id} << array_shift;
      number_of = array->extents.empty() ? id : 0;
    } else {
      bits = std::get<FlowValue>(value).bits;
    }
    std::vector<ParameterByte>& bytes = params[place.param].bytes;
    for (std::uint64_t i = 0; i < count && place.offset + i < bytes.size(); ++i)
      bytes[place.offset + i] = {true, static_cast<std::uint8_t>(number_of != 0 ? i : bits >> 8 * i),
                                 number_of};
  }
}

std::string FlowKernel::without_value() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < params.size(); ++i)
    if (std::none_of(params[i].bytes.begin(), params[i].bytes.end(), std::mem_fn(&ParameterByte::given)))
      all.push_back(fmt::format("#{}", i));
  if (all.size() < 2) return {};
  std::string const last = std::move(all.back());
  all.pop_back();
  return fmt::format("{} and {} have no value: ", fmt::join(all, ", "), last);
}

std::string FlowKernel::param_at(std::uint64_t address) const {
  std::size_t i = params.size() - 1;
  while (params[i].start > address) --i;
  return fmt::format("#{}+{}", i, address - params[i].start);
}

FlowLine FlowKernel::line(std::uint32_t instruction) const {
  if (instruction >= function.body.size()) return {};
  ptx::Instruction const& i = function.body[instruction];
  FlowLine out{i.line, std::string(i.opcode.text)};
  std::vector<SourceLine> const lines = ptx::source_lines(module, i.location);
  if (lines.empty()) return out;
  out.source = lines.front();
  out.inlined_at.assign(lines.begin() + 1, lines.end());
  return out;
}

std::uint32_t FlowKernel::array_of(std::uint64_t address) const {
  std::uint64_t const id = address >> array_shift;
  return id < arrays.size() ? static_cast<std::uint32_t>(id) : 0;
}

bool FlowKernel::rounds() const {
  static constexpr std::string_view computing[] = {"add",   "sub", "mul",   "fma",     "mad",  "div",  "sqrt",
                                                   "rsqrt", "rcp", "ex2",   "lg2",     "sin",  "cos",  "tanh",
                                                   "cvt",   "mma", "wgmma", "tcgen05", "wmma", "atom", "red"};
  auto const is_float = [](std::string_view part) {
    bool const tensor_kind = part.starts_with("kind::") && part != "kind::i8";
    return tensor_kind || part.starts_with("f16") || part.starts_with("bf16") || part == "f32" ||
           part == "f64" || part == "tf32" || part == "f32x2" || part.starts_with("e4m3") ||
           part.starts_with("e5m2");
  };
  return std::any_of(function.body.begin(), function.body.end(), [&](ptx::Instruction const& i) {
    return std::find(std::begin(computing), std::end(computing), i.opcode.name) != std::end(computing) &&
           std::any_of(i.opcode.parts.begin(), i.opcode.parts.end(), is_float);
  });
}

std::string FlowKernel::shared_byte(std::uint64_t address) const {
  std::string const byte = fmt::format("byte 0x{:x} of shared memory{}", in_block(address),
                                       Units{0, blocks_of_cluster()}.of_rank(rank_at(address)));
  address = in_block(address);
  for (std::uint32_t i = 0; i < program.symbols.size(); ++i) {
    program::Variable const& v = program.symbols[i];
    std::uint64_t const bytes = v.extern_array ? launch.shared_bytes : v.bytes;
    if (v.space == Space::shared && addresses[i] && address >= *addresses[i] &&
        address < *addresses[i] + bytes)
      return fmt::format("{} ({}+0x{:x})", byte, program::short_name(v.name), address - *addresses[i]);
  }
  return byte;
}

std::string FlowKernel::element_at(std::uint64_t address) const {
  FlowArray const& a = arrays[array_of(address)];
  return a.element((address & ((std::uint64_t{1} << array_shift) - 1)) / (a.bits / 8));
}

std::vector<std::array<std::uint32_t, 3>> blocks_of(FlowLaunch const& launch) {
  std::vector<std::array<std::uint32_t, 3>> blocks = launch.blocks;
  auto const& grid = launch.grid;
  if (blocks.empty())
    for (std::uint32_t z = 0; z < grid[2]; ++z)
      for (std::uint32_t y = 0; y < grid[1]; ++y)
        for (std::uint32_t x = 0; x < grid[0]; ++x) blocks.push_back({x, y, z});
  return blocks;
}

bool has_result(Decoded const& d, ptx::Instruction const& in) {
  if (in.operands.empty() || in.operands[0].kind == ptx::Operand::Kind::address) return false;
  switch (d.handler) {
    case Handler::nothing:
    case Handler::warp_barrier:
    case Handler::refused:
      return false;
    case Handler::barrier:
      return d.has("red");
    case Handler::tensor_load:
      return true;
    default:
      return d.handler < Handler::bulk_copy;
  }
}

}  // namespace swizproof::flow_detail
