#include "block.hpp"
#include "uses.hpp"

#include <swizproof/flow/proposal.hpp>
#include <swizproof/hardware/element.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace swizproof {

namespace {

using flow_detail::FlowKernel;
using flow_detail::ParameterUse;

constexpr std::uint64_t most_extent = std::uint64_t{1} << 26, most_given = std::uint64_t{1} << 16,
                        most_shared = 232448, most_steps = 200'000, usual_extent = 1 << 20;

bool reads_special(ptx::Function const& kernel, std::string_view name) {
  auto const is = [&](ptx::Operand const& o) { return o.text.starts_with(name); };
  return std::any_of(kernel.body.begin(), kernel.body.end(), [&](ptx::Instruction const& i) {
    return std::any_of(i.operands.begin(), i.operands.end(), is);
  });
}

/// Values of the parameters that have none, one launch after the other until one is executed.
class Proposer {
 public:
  Proposer(ptx::Module const& module, ptx::Function const& kernel, FlowLaunch const& given)
      : module_(module), kernel_(kernel), launch_(given) {}

  FlowProposal propose() {
    launch_.most_steps = std::min(launch_.most_steps, most_steps);
    choose_blocks();
    FlowKernel const bare(module_, kernel_, launch_);
    for (ParameterUse const& use : flow_detail::uses_of(bare)) add(use, bare);
    bool const dynamic = std::any_of(
        bare.program.symbols.begin(), bare.program.symbols.end(),
        [](program::Variable const& v) { return v.space == program::Space::shared && v.extern_array; });
    if (launch_.shared_bytes == 0 && dynamic) launch_.shared_bytes = out_.shared_bytes = most_shared;
    for (unsigned tries = 0; tries < 8; ++tries) {
      out_.reason.clear();
      run();
      if (out_.reason.empty() || !decide_data()) break;
    }
    measure();
    return std::move(out_);
  }

 private:
  /// All blocks of a small grid, the first one of a large.
  void choose_blocks() {
    constexpr std::uint64_t most_blocks = 4;
    auto const& g = launch_.grid;
    if (launch_.blocks.empty() && std::uint64_t{g[0]} * g[1] * g[2] > most_blocks)
      launch_.blocks.push_back({0, 0, 0});
    out_.blocks = launch_.blocks;
  }

  /// A parameter, with a value if it has none.
  void add(ParameterUse const& use, FlowKernel const& bare) {
    FlowParameter p;
    bool const whole = use.offset == 0 && use.bytes == kernel_.params[use.param].bytes;
    p.key =
        whole || use.tensor_map ? fmt::format("{}", use.param) : fmt::format("{}+{}", use.param, use.offset);
    p.kind = use.tensor_map ? FlowParameterKind::tensor_map
             : use.pointer  ? FlowParameterKind::pointer
                            : FlowParameterKind::number;
    p.bytes = use.tensor_map ? 128 : use.bytes, p.type = use.type;
    p.read = use.loads, p.written = use.stores, p.dimensions = use.dimensions;
    auto const& bytes = bare.params[use.param].bytes;
    p.given = (use.offset < bytes.size() && bytes[use.offset].given) ||
              bare.tensors.contains(bare.params[use.param].start + use.offset);
    if (!out_.parameters.empty() && !p.given && overlaps(use)) return;
    end_ = {use.param, use.offset + p.bytes};
    if (!p.given && p.kind == FlowParameterKind::pointer) {
      FlowArray array;
      array.name = name_of(use), array.type = use.type, array.bits = element_bits(use.type);
      array.extents = {most_extent};
      launch_.params["#" + p.key] = array;
      p.name = array.name;
    } else if (!p.given && p.kind == FlowParameterKind::number) {
      give_number(p, use);
    }
    out_.parameters.push_back(std::move(p));
  }

  [[nodiscard]] bool overlaps(ParameterUse const& use) const {
    return end_.first == use.param && use.offset < end_.second;
  }

  static unsigned element_bits(std::string const& type) {
    ElementType const* const known = element_type(type);
    return known == nullptr ? 32 : known->bits;
  }

  /// The parameter's own name, if a programmer wrote it.
  [[nodiscard]] std::string name_of(ParameterUse const& use) const {
    constexpr std::size_t longest = 12;
    std::string const& own = kernel_.params[use.param].name;
    bool const generated =
        own.size() > longest || own.find("param_") != own.npos || own[0] == '%' || own.find('$') != own.npos;
    std::string name = generated ? fmt::format("p{}", use.param) : own;
    return use.offset == 0 ? name : fmt::format("{}_{}", name, use.offset);
  }

  /// An integer is the number of threads; a floating-point number keeps its name.
  void give_number(FlowParameter& p, ParameterUse const& use) {
    bool const real = use.type[0] != 'i' && use.type[0] != 'u';
    if (real) {
      FlowArray number;
      number.name = p.name = name_of(use), number.type = use.type, number.bits = 8 * use.bytes;
      launch_.params["#" + p.key] = number;
      p.value = fmt::format("{}:{}", p.name, use.type);
      return;
    }
    std::uint64_t const n = use.bytes == 1 ? 1 : threads();
    p.guessed = true;
    bool const typed = p.key.find('+') != p.key.npos && use.bytes != 4;
    p.value = typed ? fmt::format("{}:u{}", n, 8 * use.bytes) : fmt::format("{}", n);
    launch_.params["#" + p.key] = FlowValue{n, false, typed ? fmt::format("u{}", 8 * use.bytes) : ""};
  }

  [[nodiscard]] std::uint64_t threads() const {
    constexpr std::uint64_t least = 32, most = 1024;
    auto const &b = launch_.block, &g = launch_.grid;
    return std::clamp(std::uint64_t{b[0]} * b[1] * b[2] * g[0] * g[1] * g[2], least, most);
  }

  /// Executes the blocks; what they access is measured, also if one has a fault.
  void run() {
    extents_.clear(), shared_end_ = 0;
    if (std::any_of(out_.parameters.begin(), out_.parameters.end(), [](FlowParameter const& p) {
          return p.kind == FlowParameterKind::tensor_map && !p.given;
        })) {
      out_.reason = "a tensor map has no value";
      return;
    }
    try {
      FlowKernel const ready(module_, kernel_, launch_);
      for (auto const& block : flow_detail::clusters_of(ready))
        if (!run_block(ready, block)) return;
    } catch (flow_detail::FlowRefused const& refused) {
      out_.reason = refused.text;
    }
  }

  bool run_block(FlowKernel const& ready, std::array<std::uint32_t, 3> const& number) {
    flow_detail::Names names(ready.arrays);
    flow_detail::BlockRun block(ready, number, names);
    try {
      block.run();
    } catch (flow_detail::FlowConflict const& conflict) {
      out_.fault = true;
      if (conflict.kind == FlowFaultKind::out_of_bounds) out_.reason = conflict.text;
    } catch (flow_detail::FlowRefused const& refused) {
      out_.reason = refused.text;
    }
    block.global().each([&](std::uint64_t address, flow_detail::Cell const&) {
      FlowArray const& a = ready.arrays[ready.array_of(address)];
      std::uint64_t const at = address & ((std::uint64_t{1} << flow_detail::array_shift) - 1);
      std::uint64_t& extent = extents_[a.name];
      extent = std::max(extent, at / (a.bits / 8) + 1);
    });
    block.shared().each([&](std::uint64_t address, flow_detail::Cell const&) {
      std::uint64_t const at = flow_detail::in_block(address);
      shared_end_ = std::max(shared_end_, at + 1 - std::min(at, dynamic_start(ready)));
    });
    return out_.reason.empty();
  }

  static std::uint64_t dynamic_start(FlowKernel const& ready) {
    for (std::size_t i = 0; i < ready.program.symbols.size(); ++i)
      if (ready.program.symbols[i].extern_array && ready.addresses[i]) return *ready.addresses[i];
    return 0;
  }

  /// Data that decide: a number becomes 1, the elements of an array become 0. False if the reason is another one.
  bool decide_data() {
    for (FlowParameter& p : out_.parameters) {
      if (p.given || p.guessed || p.name.empty()) continue;
      auto* const array = std::get_if<FlowArray>(&launch_.params["#" + p.key]);
      bool const decides = out_.reason.find("depends on data") != std::string::npos &&
                           (out_.reason.find(" " + p.name) != std::string::npos);
      if (array == nullptr || !decides) continue;
      p.guessed = true;
      if (p.kind == FlowParameterKind::number) {
        launch_.params["#" + p.key] = FlowValue{*flow_bits(1, p.type), false, p.type};
        p.value = "1:" + p.type;
      } else {
        array->extents = {most_given};
        array->values.assign(most_given, 0);
        p.zeros = true;
      }
      return true;
    }
    return false;
  }

  /// Extents of the arrays, and the bytes of dynamic shared memory.
  void measure() {
    constexpr std::uint64_t unit = 16;
    if (out_.shared_bytes != 0) out_.shared_bytes = std::max((shared_end_ + unit - 1) / unit * unit, unit);
    for (FlowParameter& p : out_.parameters) {
      if (p.given || p.kind != FlowParameterKind::pointer) continue;
      bool const measured = extents_.contains(p.name) || out_.reason.empty();
      std::uint64_t const extent = measured ? std::max<std::uint64_t>(extents_[p.name], 1) : usual_extent;
      p.value = fmt::format("{}:{}[{}]{}", p.name, p.type, extent, p.zeros ? "=zeros" : "");
    }
  }

  ptx::Module const& module_;
  ptx::Function const& kernel_;
  FlowLaunch launch_;
  FlowProposal out_{};
  std::pair<std::size_t, std::uint64_t> end_{};  ///< of the last parameter that was added
  std::map<std::string, std::uint64_t> extents_{};
  std::uint64_t shared_end_ = 0;
};

}  // namespace

FlowBlock likely_block(ptx::Function const& kernel) {
  constexpr std::uint32_t warp = 32, usual = 128;
  if (kernel.reqntid[0] != 0) {
    FlowBlock block{kernel.reqntid, {}};
    for (std::uint32_t& n : block.threads) n = std::max(n, 1U);
    return block;
  }
  std::uint32_t const most = kernel.maxntid[0];
  bool const plane = reads_special(kernel, "%tid.y");
  if (most != 0 && std::max(kernel.maxntid[1], kernel.maxntid[2]) > 1)
    return {{most, std::max(kernel.maxntid[1], 1U), std::max(kernel.maxntid[2], 1U)}, ".maxntid of the PTX"};
  std::uint32_t const n = most != 0 ? most : plane ? 2 * usual : usual;
  std::string const why = most != 0 ? ".maxntid of the PTX" : "the PTX does not specify it";
  if (plane && n % warp == 0 && n > warp) return {{warp, n / warp, 1}, why};
  return {{n, 1, 1}, why};
}

FlowProposal propose_flow(ptx::Module const& module, ptx::Function const& kernel, FlowLaunch const& given) {
  try {
    return Proposer(module, kernel, given).propose();
  } catch (flow_detail::FlowRefused const& refused) {
    FlowProposal out;
    out.reason = refused.text;
    return out;
  }
}

}  // namespace swizproof
