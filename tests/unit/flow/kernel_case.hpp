// A small kernel for tests of `flow`, and its answer in words.
#pragma once

#include "parse/question/expectation.hpp"

#include <swizproof/flow/flow.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace swizproof {

/// A kernel over `tile`, 4 KiB of shared memory, and arrays c and a; b, if it is given. %r1 is the thread, %r2 the tile, %rd1 and %rd2
/// are c and a, %rd3 and %rd4 the thread's elements of 4 bytes in them.
struct Case {
  std::string body;
  std::string c = "f32[64]", a = "f32[64]";
  std::vector<std::string> expect{};
  unsigned threads = 64, grid = 1;
  FlowProxy proxy = FlowProxy::strict;
  bool same_values = false, spare = false;
  std::uint64_t steps = 1'000'000, repair_steps = 0;
  unsigned cluster = 0;  ///< blocks of a cluster; 0: not given
  bool only_first_block = false;
  std::string target = "sm_90a";
  std::string functions{};  ///< before the kernel

  [[nodiscard]] FlowReport report() const {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target " + target + "\n.address_size 64\n" + functions +
            ".entry k(.param .u64 c, .param .u64 a, .param .u32 "
            "n)\n{\n"
            ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .b64 %rd<20>;\n"
            ".shared .align 128 .b8 tile[4096];\n"
            "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u64 %rd1, [c]; ld.param.u64 %rd2, [a];\n"
            "mul.wide.u32 %rd5, %r1, 4; add.s64 %rd3, %rd1, %rd5; add.s64 %rd4, %rd2, %rd5;\n"
            "shl.b32 %r3, %r1, 2; add.s32 %r3, %r3, %r2;\n" +
            body + "\nret;\n}\n",
        "test.ptx");
    FlowLaunch launch;
    launch.block = {threads, 1, 1};
    launch.grid = {grid, 1, 1};
    if (cluster != 0) launch.cluster = {cluster, 1, 1};
    if (only_first_block) launch.blocks = {{0, 0, 0}};
    launch.every_element = true;
    launch.proxy = proxy, launch.same_values = same_values, launch.spare = spare, launch.most_steps = steps;
    launch.repair_steps = repair_steps;
    std::vector<FlowArray> arrays;
    for (std::string const& text : {"c=c:" + c, "a=a:" + a, std::string("n=7")}) {
      auto param = parse_flow_param(text);
      if (auto const* array = std::get_if<FlowArray>(&param.second)) arrays.push_back(*array);
      launch.params.insert(param);
    }
    std::vector<FlowExpectation> expectations;
    for (std::string const& e : expect) expectations.push_back(parse_expectation(e, arrays));
    return trace_flow(m, m.functions.back(), launch, expectations);
  }
  /// Without ` (tile+0x80)` behind a byte of shared memory, which Provenance.NamesTheArray checks.
  static std::string without_array(std::string text) {
    for (std::size_t at = 0; (at = text.find(" (tile+0x")) != std::string::npos;)
      text.erase(at, text.find(')', at) + 1 - at);
    return text;
  }
  [[nodiscard]] std::string value(std::size_t i) const {
    FlowReport const r = report();
    return r.fault               ? without_array(r.fault->text)
           : !r.reason.empty()   ? r.reason
           : i < r.values.size() ? r.values[i]
                                 : "nothing";
  }
  /// `proved`, `race: ..`, `unknown: ..`: the kind of a fault, and its text.
  [[nodiscard]] std::string answer() const {
    FlowReport const r = report();
    if (r.fault) return fmt::format("{}: {}", name_of(r.fault->kind), without_array(r.fault->text));
    if (!r.reason.empty()) return "unknown: " + r.reason;
    return r.verdict == FlowVerdict::proved ? "proved" : r.wrong != 0 ? "wrong element" : "refuted";
  }
  /// The kind of a fault, `proved`, `unknown` or `refuted`.
  [[nodiscard]] std::string kind() const {
    std::string const all = answer();
    return all.substr(0, all.find(':'));
  }
};

/// The element of the thread, loaded and stored; and stored to the thread's word of the tile.
inline std::string const load = "ld.global.f32 %f1, [%rd4];\n", store = "st.global.f32 [%rd3], %f2;\n",
                         in = load + "st.shared.f32 [%r3], %f1;\n";
/// Reads the tile at the thread's number xor 1, or 33.
inline std::string neighbour(unsigned bit) {
  return fmt::format(
      "xor.b32 %r4, %r1, {}; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; ld.shared.f32 %f2, [%r4];\n", bit);
}
/// Instructions of one warp alone: `label` has to be new.
inline std::string only_warp(unsigned warp, std::string const& label, std::string const& body) {
  return fmt::format("shr.u32 %r30, %r1, 5; setp.ne.u32 %p8, %r30, {};\n@%p8 bra {};\n{}{}:\n", warp, label,
                     body, label);
}
/// Instructions of thread 0 alone.
inline std::string only_first(std::string const& label, std::string const& body) {
  return fmt::format("setp.ne.u32 %p7, %r1, 0;\n@%p7 bra {};\n{}{}:\n", label, body, label);
}

}  // namespace swizproof
