#include "report/kernel.hpp"

#include "report/pipe.hpp"

#include "report/fix.hpp"
#include "report/races.hpp"
#include "report/report.hpp"
#include "report/sarif.hpp"

#include <swizproof/hardware/collision.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>

namespace swizproof {

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }

Json to_json(KernelWorst const& worst) {
  Json out{{"warp", worst.warp},
           {"every_launch", worst.every_launch},
           {"values", Json::object()},
           {"lanes", Json::array()}};
  for (auto const& [what, value] : worst.values) out["values"][what] = value;
  for (auto const& [array, address] : worst.bases) out["bases"][array] = address;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if ((worst.open >> l & 1) != 0) out["open_lanes"].push_back(l);
    out["lanes"].push_back(worst.lanes.active[l] ? Json(worst.lanes.address[l]) : Json());
  }
  return out;
}

}  // namespace

std::string_view name(KernelVerdict v) {
  return v == KernelVerdict::proved    ? "proved"
         : v == KernelVerdict::refuted ? "refuted"
         : v == KernelVerdict::data    ? "data"
                                       : "unknown";
}

namespace {

std::string source_at(std::string const& file, std::uint32_t line, std::uint32_t code_line, bool sass) {
  if (file.empty()) return fmt::format("{} {}", sass ? "SASS" : "PTX", code_line);
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), line);
}

}  // namespace

std::string source_of(KernelAccess const& a) {
  return a.file.empty() ? source_at(a.file, a.line, a.ptx_line, a.sass)
                        : source_of({a.file, a.line}, a.inlined_at);
}
std::string source_of(SourceLine const& own, std::span<SourceLine const> inlined_at) {
  std::string const text = source_at(own.file, own.line, 0, false);
  if (inlined_at.empty()) return text;
  SourceLine const& outer = inlined_at.back();
  return fmt::format(
      "{} from {}", text,
      outer.file == own.file ? std::to_string(outer.line) : source_at(outer.file, outer.line, 0, false));
}
Json to_json(std::span<SourceLine const> lines) {
  Json out = Json::array();
  for (SourceLine const& at : lines) out.push_back({{"file", text_or_null(at.file)}, {"line", at.line}});
  return out;
}
SourceLine line_in_checkout(KernelAccess const& a) {
  return line_in_checkout({a.file, a.line}, a.inlined_at);
}
SourceLine line_in_checkout(SourceLine const& own, std::span<SourceLine const> inlined_at) {
  bool const elsewhere = path_in_checkout(own.file).starts_with('/');
  return elsewhere && !inlined_at.empty() ? inlined_at.back() : own;
}
SourceLine line_in_checkout(KernelOperand const& o) { return {o.file, o.line}; }

std::string source_of(KernelOperand const& o) { return source_at(o.file, o.line, o.ptx_line, o.sass); }

std::string bits_of(KernelOperand const& o) {
  if (o.instruction) return fmt::format("{:#010x}", o.instruction->bits);
  return o.descriptor ? fmt::format("{:#018x}", o.descriptor->bits()) : "";
}

namespace {

/// Keys that name an access, and its verdict.
Json named_json(KernelAccess const& a) {
  Json out{{"file", text_or_null(a.file)},
           {"line", a.file.empty() ? Json() : Json(a.line)},
           {a.sass ? "sass_line" : "ptx_line", a.ptx_line},
           {"op", a.op}};
  if (a.sass) out["pc"] = a.pc;
  if (!a.inlined_at.empty()) out["inlined_at"] = to_json(a.inlined_at);
  if (!a.calls.empty()) out["calls"] = a.calls;
  out["verdict"] = name(a.verdict);
  return out;
}

}  // namespace

nlohmann::ordered_json global_json(KernelAccess const& a) {
  Json out = named_json(a);
  bool const known = a.sectors->lines != 0;
  out["sectors"] = a.wavefronts ? Json(*a.wavefronts) : Json();
  out["reached"] = a.reached;
  if (a.seen != 0) out["seen"] = a.seen;
  out["least"] = known ? Json(a.sectors->least) : Json();
  out["ideal"] = a.instruction ? Json(a.ideal) : Json();
  out["allowed"] = a.instruction ? Json(a.allowed) : Json();
  out["lines"] = known ? Json(a.sectors->lines) : Json();
  out["least_lines"] = known ? Json(a.sectors->least_lines) : Json();
  out["stride"] = a.sectors->stride ? Json(*a.sectors->stride) : Json();
  out["loop_depth"] = a.loop_depth;
  out["executions"] = a.executions ? Json(*a.executions) : Json();
  out["address"] = text_or_null(a.address);
  out["reason"] = text_or_null(a.reason);
  out["executed"] = a.executed;
  out["counterexample"] = a.worst && a.verdict == KernelVerdict::refuted ? to_json(*a.worst) : Json();
  return out;
}

std::string sectors_of(KernelAccess const& a) {
  if (!a.wavefronts) return "-";
  bool const known = a.sectors->lines != 0;
  if (!a.executed || (known && a.sectors->least == *a.wavefronts)) return std::to_string(*a.wavefronts);
  if (!a.reached) return fmt::format("{}<={}", a.seen != 0 ? fmt::format("{}, ", a.seen) : "", *a.wavefronts);
  return known ? fmt::format("{}..{}", a.sectors->least, *a.wavefronts) : std::to_string(*a.wavefronts);
}

std::string sectors_in_words(KernelAccess const& a) {
  std::string text;
  auto const add = [&](std::string const& part) { text += (text.empty() ? "" : "; ") + part; };
  if (a.sectors->stride && a.executed)
    add(*a.sectors->stride == 0   ? std::string("all lanes at one address")
        : *a.sectors->stride == 1 ? std::string("lanes 1 byte apart")
                                  : fmt::format("lanes {} bytes apart", *a.sectors->stride));
  if (!a.reason.empty()) add(a.reason);
  if (a.verdict != KernelVerdict::refuted || !a.worst) return text;
  std::string values;
  for (auto const& [what, value] : a.worst->values)
    values += fmt::format("{}{} = {}", values.empty() ? " if " : ", ", what, value);
  add(fmt::format("warp {}{}", a.worst->warp, a.worst->every_launch ? " of every launch" : values));
  return text;
}

std::string failing_global(KernelAccess const& a) {
  std::string const words = sectors_in_words(a);
  if (!a.wavefronts) return fmt::format("{}: {}: {}", source_of(a), a.op, words);
  return fmt::format("{}: {}: {} sectors, ideal {}{}{}", source_of(a), a.op, sectors_of(a), a.ideal,
                     words.empty() ? "" : "; ", words);
}

nlohmann::ordered_json to_json(KernelAccess const& a) {
  Json out = named_json(a);
  out["wavefronts"] = a.wavefronts ? Json(*a.wavefronts) : Json();
  out["reached"] = a.reached;
  if (a.seen != 0) out["seen"] = a.seen;
  out["ideal"] = a.instruction ? Json(a.ideal) : Json();
  out["excess"] = a.wavefronts && a.instruction ? Json(excess_of(a)) : Json();
  out["loop_depth"] = a.loop_depth;
  out["executions"] = a.executions ? Json(*a.executions) : Json();
  out["lost"] =
      a.executions && a.wavefronts && a.instruction ? Json(wavefronts_lost(a, *a.executions)) : Json();
  out["address"] = text_or_null(a.address);
  out["layout"] = text_or_null(a.layout);
  out["reason"] = text_or_null(a.reason);
  out["executed"] = a.executed;
  out["counterexample"] = a.worst && a.verdict != KernelVerdict::proved ? to_json(*a.worst) : Json();
  out["aligned"] = a.aligned ? Json(*a.aligned) : Json();
  out["in_bounds"] = a.in_bounds ? Json(*a.in_bounds) : Json();
  out["bounds_reason"] = text_or_null(a.bounds_reason);
  out["on_bases"] = a.on_bases;
  if (a.function) out["function"] = {{"parameter", a.function->parameter}, {"at_most", a.function->at_most}};
  return out;
}

std::string text_of(KernelInstruction const& i) {
  MmaDescriptor const& d = i.fields;
  auto const matrix = [](char const* what, std::string_view type, Major major, bool negates) {
    return fmt::format("{} {}{} {}-major", what, negates ? "-" : "", type.empty() ? "?" : type,
                       major == Major::k ? "K" : "MN");
  };
  std::string out = fmt::format("{} x {} x {}, {}, {}, D {}", d.m, d.n, d.k,
                                matrix(d.sparse ? "sparse A" : "A", d.a, d.a_major, d.negates_a),
                                matrix("B", d.b, d.b_major, d.negates_b), d.d.empty() ? "?" : d.d);
  if (d.saturates) out += ", saturated";
  if (d.scale.empty()) return out;
  return out + fmt::format(", scales {}", d.scale) +
         (i.selects ? "" : fmt::format(" from bytes {} and {} on", d.a_scales, d.b_scales));
}

nlohmann::ordered_json to_json(KernelInstruction const& i) {
  MmaDescriptor const& d = i.fields;
  Json out{{"m", d.m},
           {"n", d.n},
           {"k", d.k},
           {"a", text_or_null(std::string(d.a))},
           {"b", text_or_null(std::string(d.b))},
           {"d", text_or_null(std::string(d.d))},
           {"a_major", name(d.a_major)},
           {"b_major", name(d.b_major)},
           {"negates_a", d.negates_a},
           {"negates_b", d.negates_b},
           {"sparse", d.sparse},
           {"saturates", d.saturates}};
  if (!d.scale.empty())
    out["scales"] = {{"type", d.scale},
                     {"a", i.selects ? Json() : Json(d.a_scales)},
                     {"b", i.selects ? Json() : Json(d.b_scales)}};
  return out;
}

nlohmann::ordered_json to_json(KernelOperand const& o) {
  Json out{{"file", text_or_null(o.file)},
           {"line", o.file.empty() ? Json() : Json(o.line)},
           {o.sass ? "sass_line" : "ptx_line", o.ptx_line},
           {"op", o.op}};
  if (!o.calls.empty()) out["calls"] = o.calls;
  out["operand"] = o.what;
  out["verdict"] = name(o.verdict);
  out["descriptor"] = text_or_null(bits_of(o));
  out["mode"] = o.descriptor ? Json(o.descriptor->operand_mode().name) : Json();
  out["leading_byte_offset"] = o.descriptor ? Json(o.descriptor->leading_byte_offset) : Json();
  out["stride_byte_offset"] = o.descriptor ? Json(o.descriptor->stride_byte_offset) : Json();
  out["base_offset"] = o.descriptor ? Json(o.descriptor->base_offset) : Json();
  out["start"] = text_or_null(o.start);
  out["needed"] = o.needed;
  out["guaranteed"] = o.guaranteed ? Json(*o.guaranteed) : Json();
  if (o.instruction) out["instruction"] = to_json(*o.instruction);
  if (o.reads) out["reads"] = *o.reads;
  if (o.reads || o.in_bounds) out["in_bounds"] = o.in_bounds ? Json(*o.in_bounds) : Json();
  out["reason"] = text_or_null(o.reason);
  out["executed"] = o.executed;
  out["array"] = text_or_null(o.array);
  out["base"] = o.base ? Json(*o.base) : Json();
  out["on_bases"] = o.on_bases;
  if (!o.values.empty()) {
    out["values"] = Json::object();
    for (auto const& [what, value] : o.values) out["values"][what] = value;
  }
  return out;
}

nlohmann::ordered_json to_json(KernelReport const& report, std::string const& name, std::string const& file) {
  Json kernel{{"kernel", name},
              {"mangled", report.kernel},
              {"file", file},
              {"block", text_or_null(report.block)},
              {"refused", text_or_null(report.refused)},
              {"accesses", Json::array()},
              {"operands", Json::array()}};
  if (!report.grid.empty()) kernel["grid"] = report.grid;
  for (KernelAccess const& a : report.global) kernel["global_accesses"].push_back(global_json(a));
  for (KernelAccess const& a : report.accesses) kernel["accesses"].push_back(to_json(a));
  kernel["pipe"] = to_json(pipe_time(report));
  kernel["fixes"] = Json::array();
  for (KernelFix const& f : report.fixes) {
    Json regions = Json::array();
    for (Fix const& fix : f.fixes) regions.push_back(to_json(fix));
    kernel["fixes"].push_back({{"array", f.array},
                               {"start", f.start},
                               {"executions", f.executions},
                               {"added", added_instructions(f)},
                               {"accesses", f.accesses},
                               {"left_out", f.left_out},
                               {"fixes", std::move(regions)}});
  }
  for (KernelUnfixed const& u : report.unfixed)
    kernel["unfixed"].push_back({{"array", u.array}, {"reason", u.reason}});
  for (KernelVector const& v : report.vectors)
    kernel["vectors"].push_back({{"array", v.array},
                                 {"file", text_or_null(v.source.file)},
                                 {"line", v.source.file.empty() ? Json() : Json(v.source.line)},
                                 {"ptx_lines", v.ptx_lines},
                                 {"instruction", to_string(v.instruction)},
                                 {"before", v.before},
                                 {"after", v.after}});
  for (KernelOperand const& o : report.operands) kernel["operands"].push_back(to_json(o));
  if (report.races) kernel["races"] = to_json(*report.races);
  if (!report.assumed.empty()) kernel["assumed"] = report.assumed;
  if (!report.assumed_bases.empty()) kernel["assumed"].push_back(report.assumed_bases);
  for (std::string const& one : report.rests_on) kernel["assumed"].push_back(one);
  return kernel;
}

std::string describe(KernelFunction const& f, int indent) {
  std::map<unsigned, std::string> cases;  // by cost: residues to as few bits as have one
  for (std::size_t modulus = 1; modulus <= f.at_most.size(); modulus *= 2)
    for (std::size_t r = 0; r < modulus; ++r) {
      auto const same = [&](std::size_t by) {
        for (std::size_t i = r % by; i < f.at_most.size(); i += by)
          if (f.at_most[i] != f.at_most[r % by]) return false;
        return true;
      };
      if (!same(modulus) || (modulus != 1 && same(modulus / 2))) continue;
      std::string& text = cases[f.at_most[r]];
      text += fmt::format("{}{} % {} = {}", text.empty() ? "" : " or ", f.parameter, modulus, r);
    }
  std::string text;
  for (auto const& [cost, when] : cases)
    text += fmt::format("{}{} if {}", text.empty() ? "at most " : ", ", cost, when);
  constexpr std::size_t most = 240;  // characters; the JSON document has the table
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
  return fmt::format("{:{}}{}\n", "", indent, printable(text));
}

std::string describe(KernelFix const& f, int indent, Style const& style) {
  std::string const all = f.accesses == 1 ? "the instruction that accesses it"
                          : f.left_out.empty()
                              ? fmt::format("all {} instructions that access it", f.accesses)
                              : fmt::format(
                                    "{} of {} instructions that access it; of the others the addresses are "
                                    "not known, or there is no cost model",
                                    f.accesses - f.left_out.size(), f.accesses);
  std::string const start = f.start == f.array ? "" : " from " + f.start + " on";
  std::string text = fmt::format(
      "{:{}}fix of array {}{}{}{}\n", "", indent, style.strong(printable(f.array)), printable(start),
      style.brief() && f.left_out.empty() ? "" : " for " + all,
      style.brief() ? "; wavefronts of a block" : "; wavefronts of a block, bytes from its start");
  for (Fix const& fix : f.fixes) {
    std::string const lines = describe(fix, style);
    for (std::size_t at = 0, end = 0; at < lines.size(); at = end + 1) {
      end = lines.find('\n', at);
      text += fmt::format("{:{}}{}\n", "", indent + 2, lines.substr(at, end - at));
    }
  }
  if (!style.brief()) text += added_in_words(f, indent + 4);
  return text;
}

std::string describe(std::span<KernelVector const> vectors, int indent) {
  std::vector<std::pair<std::string, unsigned>> lines;  // with the number of vectors that have this text
  for (KernelVector const& v : vectors) {
    std::string const text = fmt::format(
        "fix of {} accesses to array {} at {}: one {}-byte {}, {} wavefronts instead of {}; ptxas likely "
        "makes it "
        "of them already",
        v.ptx_lines.size(), printable(v.array),
        source_at(v.source.file, v.source.line, v.ptx_lines[0], false), v.instruction.bytes,
        v.instruction.operation == Operation::ld_shared ? "load" : "store", v.after, v.before);
    auto const same =
        std::find_if(lines.begin(), lines.end(), [&](auto const& l) { return l.first == text; });
    if (same == lines.end())
      lines.emplace_back(text, 1);
    else
      ++same->second;
  }
  std::string out;
  for (auto const& [text, times] : lines)
    out += fmt::format("{:{}}{}{}\n", "", indent, text, times == 1 ? "" : fmt::format(" ({} times)", times));
  return out;
}

std::string bases_of(KernelWorst const& w) {
  std::string text;
  for (auto const& [array, address] : w.bases)
    text += fmt::format("; {} starts at {:#x}", printable(array), address);
  return text;
}

std::string open_lanes_of(KernelWorst const& w) {
  int const n = std::popcount(w.open);
  return n == 0 ? "" : fmt::format("; {} more lane{} may take part", n, n == 1 ? "" : "s");
}

std::string assumed_in_words(std::vector<std::string> const& forms) {
  if (forms.empty()) return {};
  return fmt::format("the meaning of these instructions is assumed, not measured: {}",
                     fmt::join(forms, ", "));
}

std::uint64_t wavefronts_lost(KernelAccess const& a, std::uint64_t executions) {
  return a.instruction && a.executed ? excess_of(a) * executions : 0;
}

bool is_of_dynamic_size(KernelAccess const& a) { return a.bounds_reason.starts_with("the size of "); }

bool is_fault(KernelAccess const& a) { return a.aligned == false || a.in_bounds == false; }

bool has_conflict(KernelAccess const& a) {
  bool const above = is_fault(a) && a.wavefronts > a.allowed && (a.reached || a.seen != 0);
  return a.verdict == KernelVerdict::refuted && (a.reason.empty() || above) && a.worst && a.instruction;
}

std::string lanes_of(KernelAccess const& a, Architecture const& arch, int indent, Style const& style) {
  if (!has_conflict(a)) return {};
  KernelWorst const& w = *a.worst;
  std::string values;
  for (auto const& [what, value] : w.values)
    values += fmt::format("{}{} = {}", values.empty() ? " if " : ", ", what, value);
  if (w.every_launch) values = w.warp == 0 ? " of every launch" : " of every launch that has it";
  values += bases_of(w) + open_lanes_of(w);
  Cost<std::uint32_t> const c = cost(arch, *a.instruction, w.lanes);
  constexpr std::size_t most = 100;  // characters; the JSON document has longer ones
  std::string const address = a.address.size() <= most ? "; address: " + a.address : "";
  Collision const worst = fullest(*a.instruction, w.lanes, c);
  if (!a.calls.empty())
    values += fmt::format("; called at {} line{} {}", a.sass ? "SASS" : "PTX", a.calls.size() == 1 ? "" : "s",
                          fmt::join(a.calls, ", "));
  if (style.brief()) return describe(worst, indent, style, fmt::format("warp {}{}", w.warp, values));
  return fmt::format("{:{}}warp {}{}{}\n", "", indent, w.warp, values, address) +
         describe(worst, indent, style);
}

std::string wavefronts_of(KernelAccess const& a) {
  if (a.reached) return fmt::format("{}", *a.wavefronts);
  return a.seen != 0 ? fmt::format("{} to {}", a.seen, *a.wavefronts)
                     : fmt::format("at most {}", *a.wavefronts);
}

std::string failing(KernelAccess const& a) {
  std::string const what = source_of(a) + ": " + a.op;
  std::string const cost =
      a.wavefronts ? fmt::format(": {} wavefronts, {} allowed", wavefronts_of(a), a.allowed) : "";
  if (is_fault(a)) return what + ": " + a.reason;
  return what + cost + (a.reason.empty() ? "" : "; " + a.reason);
}

std::vector<FailingAccess> failing_of(KernelReport const& report,
                                      std::function<bool(KernelAccess const&)> const& accepts) {
  std::vector<FailingAccess> all;
  for (KernelAccess const& a : report.accesses) {
    if (a.verdict == KernelVerdict::proved || (accepts && accepts(a))) continue;
    std::string const text = failing(a);
    auto const same = std::find_if(all.begin(), all.end(), [&](FailingAccess const& f) {
      KernelAccess const& b = *f.access;
      bool const both = is_fault(a) && is_fault(b) && a.aligned == b.aligned && a.op == b.op;
      return b.file == a.file && (f.text == text || (both && source_of(a) == source_of(b)));
    });
    if (same == all.end())
      all.push_back({&a, text});
    else
      ++same->instructions;
  }
  return all;
}

std::vector<FailingOperand> failing_operands(KernelReport const& report) {
  std::vector<FailingOperand> all;
  for (KernelOperand const& o : report.operands) {
    if (o.verdict == KernelVerdict::proved) continue;
    std::string const text = fmt::format("{}: {} of {}: {}", source_of(o), o.what, o.op, o.reason);
    auto const same = std::find_if(all.begin(), all.end(), [&](FailingOperand const& f) {
      return f.operand->file == o.file && f.text == text;
    });
    if (same == all.end())
      all.push_back({&o, text});
    else
      ++same->instructions;
  }
  return all;
}

namespace {

std::string counted(std::string const& text, unsigned instructions, int indent) {
  return fmt::format("{:{}}{}{}\n", "", indent, printable(text),
                     instructions == 1 ? "" : fmt::format(" ({} instructions)", instructions));
}

}  // namespace

std::string describe(FailingOperand const& f, int indent) { return counted(f.text, f.instructions, indent); }

std::string describe(FailingAccess const& f, Architecture const& arch, int indent, Style const& style) {
  return counted(f.text, f.instructions, indent) + lanes_of(*f.access, arch, indent + 2, style);
}

}  // namespace swizproof
