#include "profile/trace.hpp"

#include "campaign/digest.hpp"
#include "parse/text/members.hpp"

#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

namespace swizproof {

namespace {

constexpr std::uint64_t most_executed = std::uint64_t{1}
                                        << 56;     ///< most executions of a whole trace, so that its sums fit
constexpr std::uint32_t end_of_window = 1U << 18;  ///< bytes: no block has more than 228 KiB of shared memory
constexpr unsigned bytes_of_sass = 16;             ///< an instruction has, since compute capability 7.0

bool matches(std::string const& text, RE2 const& form) { return RE2::FullMatch(text, form); }

std::string text_or_null(Members& line, std::string const& name) {
  return line.at(name).is_null() ? std::string() : line.text(name);
}

/// Facts that a machine may lack: its driver's version, the commit of a source without its history.
std::string possibly_empty(Members& head, std::string const& name) {
  Json const& value = head.at(name);
  return value.is_string() && value.get_ref<std::string const&>().empty() ? std::string() : head.text(name);
}

template <class T = std::uint64_t>
T positive(Json const& value, std::string const& what) {
  T const n = integer<T>(value);
  if (n < 1) malformed(what + " is 0");
  return n;
}

std::array<unsigned, 3> three(Members& line, std::string const& name) {
  Json const& value = line.at(name);
  if (!value.is_array() || value.size() != 3) malformed("'" + name + "' is no list of three numbers");
  std::array<unsigned, 3> all{};
  for (std::size_t i = 0; i < 3; ++i) all[i] = positive<unsigned>(value[i], "a number of '" + name + "'");
  return all;
}

std::vector<std::string> texts_of(Json const& values, std::string const& name) {
  bool const right = values.is_array() && std::all_of(values.begin(), values.end(), [](Json const& value) {
                       return value.is_string() && !value.get_ref<std::string const&>().empty();
                     });
  if (!right) malformed("'" + name + "' is no list of texts");
  return values;
}

void equal(std::string const& what, std::uint64_t said, std::string const& other, std::uint64_t is) {
  if (said != is) malformed(fmt::format("{} is {}, but {} is {}", what, said, other, is));
}

/// The width of an address: of the instruction, or what the name of an atomic operation says; 0 where none is kept.
unsigned bytes_of(TracedInstruction const& i) {
  static RE2 const atomic(R"(atom\.shared\.b(8|16|32|64|128))");
  unsigned bits = 0;
  if (i.instruction) return i.instruction->bytes;
  return RE2::FullMatch(i.op, atomic, &bits) ? bits / 8 : 0;
}

/// The addresses of a warp's lanes, null for one that takes no part.
WarpAccess<std::uint32_t> access_of(Json const& values, TracedInstruction const& i) {
  unsigned const bytes = bytes_of(i), lanes = i.instruction ? i.instruction->lanes() : warp_lanes;
  if (!values.is_array() || values.size() != warp_lanes) malformed("'address' has not 32 lanes");
  WarpAccess<std::uint32_t> access{};
  bool some = false;
  for (unsigned lane = 0; lane < lanes; ++lane) {  // H6: the hardware does not look at the others
    if (values[lane].is_null() && i.instruction && i.instruction->matrices != 0)
      malformed(
          fmt::format("lane {} has no address, and {} needs those of lanes 0 to {}", lane, i.op, lanes - 1));
    if (values[lane].is_null()) continue;
    auto const address = integer<std::uint32_t>(values[lane]);
    if (address % bytes != 0)
      malformed(fmt::format("lane {}: address {} is not a multiple of {} bytes", lane, address, bytes));
    if (address >= end_of_window)
      malformed(fmt::format("lane {}: address {} lies beyond the shared memory of a block", lane, address));
    access.address[lane] = address;
    access.active[lane] = some = true;
  }
  for (unsigned lane = lanes; lane < warp_lanes; ++lane)
    if (!values[lane].is_null()) (void)integer<std::uint32_t>(values[lane]);
  if (!some) malformed("'address' has no lane that takes part");
  return access;
}

/// Reads what is null where there is no cost model, and a number where there is one. It is compared with what it must be.
void compare_or_null(Members& line, TracedInstruction const& i, std::string const& name,
                     std::string const& other, std::uint64_t is) {
  if (i.instruction)
    equal("'" + name + "'", line.count(name), other, is);
  else if (!line.at(name).is_null())
    malformed("'" + name + "' is not null, but there is no cost model of " + i.op);
}

std::array<std::uint64_t, 33> distribution_of(Json const& value, std::uint64_t executed) {
  if (!value.is_object()) malformed("'distribution' is no object");
  std::array<std::uint64_t, 33> all{};
  for (auto const& [key, times] : value.items()) {
    static RE2 const form("[1-9]|[12][0-9]|3[0-2]");
    if (!matches(key, form)) malformed("'distribution' has the key '" + key.substr(0, 60) + "', not 1 to 32");
    all[std::stoul(key)] = positive(times, "a number of 'distribution'");
    if (times > executed) malformed("a number of 'distribution' is larger than 'executed'");
  }
  return all;
}

std::vector<TracedPattern> patterns_of(Json const& values, TracedInstruction const& i,
                                       Architecture const& arch) {
  if (!values.is_array()) malformed("'patterns' is no list");
  if (!values.empty() && bytes_of(i) == 0)
    malformed("'patterns' has some, but no width of " + i.op + " is known");
  std::vector<TracedPattern> all;
  std::set<Json> known;
  std::uint64_t left = i.executed;
  for (Json const& value : values) {
    Members pattern(value, "a pattern");
    TracedPattern p;
    p.executed = positive(pattern.at("executed"), "'executed' of a pattern");
    p.access = access_of(pattern.at("address"), i);
    if (i.instruction) p.wavefronts = cost(arch, *i.instruction, p.access).wavefronts;
    compare_or_null(pattern, i, "wavefronts", "what the cost model says of these addresses", p.wavefronts);
    pattern.finish();
    if (p.executed > left) malformed("the patterns were executed more often than the instruction");
    left -= p.executed;
    if (!known.insert(pattern.at("address")).second) malformed("a pattern appears twice");
    all.push_back(p);
  }
  std::stable_sort(all.begin(), all.end(), [](TracedPattern const& a, TracedPattern const& b) {
    return std::pair(a.wavefronts, a.executed) > std::pair(b.wavefronts, b.executed);
  });
  return all;
}

/// Every recorded execution is in the distribution.
void check_distribution(TracedInstruction const& i) {
  std::array<std::uint64_t, 33> kept{};
  for (TracedPattern const& p : i.patterns) kept[p.wavefronts] += p.executed;
  for (std::size_t w = 1; w < kept.size(); ++w)
    if (kept[w] > i.distribution[w])
      malformed(fmt::format("'distribution' has {} executions of {} wavefront{}, but the patterns have {}",
                            i.distribution[w], w, w == 1 ? "" : "s", kept[w]));
}

/// The most expensive execution: its cost is in the distribution, and one of the patterns where all were kept.
std::optional<WarpAccess<std::uint32_t>> worst_of(Json const& value, TracedInstruction const& i,
                                                  Architecture const& arch) {
  if (!i.instruction) {
    if (!value.is_null()) malformed("'worst' is not null, but there is no cost model of " + i.op);
    return std::nullopt;
  }
  Members worst(value, "worst");
  std::uint64_t most = i.distribution.size() - 1;
  while (i.distribution[most] == 0) --most;
  auto const access = access_of(worst.at("address"), i);
  std::uint64_t const wavefronts = worst.count("wavefronts");
  equal("'wavefronts' of the worst", wavefronts, "what the cost model says of these addresses",
        cost(arch, *i.instruction, access).wavefronts);
  equal("'wavefronts' of the worst", wavefronts, "the most of 'distribution'", most);
  worst.finish();
  bool const kept = std::any_of(i.patterns.begin(), i.patterns.end(), [&](TracedPattern const& p) {
    return p.access.address == access.address && p.access.active == access.active;
  });
  if (i.not_kept == 0 && !kept) malformed("'worst' is none of the patterns, but all of them were kept");
  return access;
}

/// Counts, patterns and sums of an instruction, each compared with the others and against the cost model.
void read_counts(TracedInstruction& i, Members& line, Architecture const& arch) {
  i.executed = positive(line.at("executed"), "'executed'");
  if (i.executed > most_executed) malformed("'executed' is more than 2^56");
  i.distribution = distribution_of(line.at("distribution"), i.executed);
  std::uint64_t counted = 0;
  for (std::size_t w = 1; w < i.distribution.size(); ++w) {
    counted += i.distribution[w];
    i.wavefronts += w * i.distribution[w];
  }
  equal("the sum of 'distribution'", counted, i.instruction ? "'executed'" : "what has no cost model",
        i.instruction ? i.executed : 0);
  compare_or_null(line, i, "wavefronts", "the sum of 'distribution'", i.wavefronts);
  compare_or_null(line, i, "ideal", "the least of so many executions", i.ideal(arch));
  i.patterns = patterns_of(line.at("patterns"), i, arch);
  i.not_kept = line.count("not_kept");
  std::uint64_t kept = 0;
  for (TracedPattern const& p : i.patterns) kept += p.executed;
  equal("'not_kept'", i.not_kept, "'executed' without its patterns", i.executed - kept);
  if (i.instruction) check_distribution(i);
  i.worst = worst_of(line.at("worst"), i, arch);
}

TracedInstruction instruction_of(Json const& json, Architecture const& arch) {
  static RE2 const form("[a-z0-9:._]+");
  Members line(json, "the line");
  TracedInstruction i;
  i.kernel = line.text("kernel");
  i.launches = positive(line.at("launches"), "'launches'");
  i.grid = three(line, "grid");
  i.block = three(line, "block");
  i.pc = line.count("pc");
  if (i.pc % bytes_of_sass != 0) malformed("'pc' is not a multiple of 16 bytes");
  i.sass = text_or_null(line, "sass");
  i.file = text_or_null(line, "file");
  Json const& source = line.at("line");
  if (source.is_null() != i.file.empty()) malformed("'file' and 'line' must both be there, or both be null");
  if (!source.is_null()) i.source_line = positive<unsigned>(source, "'line'");
  i.op = line.text("op");
  if (!matches(i.op, form)) malformed("'op' is no name such as ld.shared.b32");
  for (InstructionName const& known : instruction_names)
    if (known.text == i.op) i.instruction = known.instruction;
  if (i.instruction && !has(arch, *i.instruction)) malformed(fmt::format("{} has no {}", arch.name, i.op));
  read_counts(i, line, arch);
  line.finish();
  return i;
}

void read_head(Trace& trace, Json const& json) {
  static RE2 const time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)");
  Members head(json, "the head");
  if (head.text("format") != "swizproof trace 1") malformed("the format is not 'swizproof trace 1'");
  trace.device = head.text("device");
  std::string const architecture = head.text("architecture");
  if (architecture.find_first_of("/.") != std::string::npos)
    malformed("'architecture' is no name such as sm_90");
  trace.arch = &parse_architecture(architecture);
  trace.driver = possibly_empty(head, "driver");
  trace.toolkit = head.text("toolkit");
  trace.commit = possibly_empty(head, "commit");
  trace.recorded = head.text("recorded");
  if (!matches(trace.recorded, time)) malformed("'recorded' is no time such as 2026-11-22T08:00:00Z");
  Json const& program = head.at("program");
  if (!program.is_array() || program.empty()) malformed("'program' is no list of words");
  for (Json const& word : program) {
    if (!word.is_string()) malformed("'program' is no list of words");
    trace.program.push_back(word);
  }
  head.finish();
}

/// Reads a trace line by line, and counts the lines for its messages.
class TraceReader {
 public:
  TraceReader(std::string const& name, std::string_view text) : rest_(text) { trace_.name = name; }

  Trace read() {
    if (!is_trace(rest_))
      refuse("it does not begin as a trace does",
             "swizproof-trace --out FILE -- PROGRAM writes a trace; swizproof kernel FILE reads PTX");
    bool ended = false;
    while (!rest_.empty()) {
      std::string_view const line = next();
      if (ended) refuse("text behind the end of the trace");
      try {
        ended = take(parse_json(line), line);
        digest_.add(line);
        digest_.add("\n");
      } catch (BadJson const& error) {
        refuse(error.byte != 0 && rest_.empty() ? "the trace is cut off in this line" : error.what());
      } catch (Json::exception const&) {
        refuse("a value is missing, or of another type than is written there");
      } catch (InputError const& error) {  // an architecture that is not known
        refuse(error.message + " '" + error.input + "'", error.hint);
      }
    }
    if (!ended) refuse("the trace is cut off behind this line: its end, {\"lines\": ...}, is missing");
    return std::move(trace_);
  }

 private:
  std::string_view next() {
    std::size_t const end = std::min(rest_.find('\n'), rest_.size());
    std::string_view const line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    return line;
  }
  /// Takes a line over; true if it is the end.
  bool take(Json const& json, std::string_view line) {
    if (line_ == 1) {
      read_head(trace_, json);
    } else if (json.is_object() && json.contains("lines")) {
      Members end(json, "the end");
      equal("'lines'", end.count("lines"), "the number of lines above it", line_ - 1);
      trace_.dropped = end.count("dropped");
      if (Json const* const unseen = end.find("unseen")) read_unseen(*unseen);
      if (Json const* const failures = end.find("failures"))
        trace_.failures = texts_of(*failures, "failures");
      if (Json const* const digest = end.find("digest")) check_digest(*digest, line);
      end.finish();
      if (!trace_.digest) refuse_doubled();
      return true;
    } else {
      trace_.instructions.push_back(instruction_of(json, *trace_.arch));
      if (!texts_.emplace(line, line_).second && doubled_ == 0) doubled_ = line_;
      trace_.instructions.back().line = line_;
      executed_ += trace_.instructions.back().executed;
      if (executed_ > most_executed) malformed("more than 2^56 executions in all");
    }
    return false;
  }
  void read_unseen(Json const& unseen) {
    if (!unseen.is_object()) malformed("'unseen' is no object");
    for (auto const& [kernel, opcodes] : unseen.items()) {
      bool const known = std::any_of(trace_.instructions.begin(), trace_.instructions.end(),
                                     [&name = kernel](auto const& i) { return i.kernel == name; });
      if (!known) malformed("'unseen' names '" + kernel.substr(0, 60) + "', but no line is of this kernel");
      trace_.unseen[kernel] = texts_of(opcodes, "unseen");
    }
  }
  void check_digest(Json const& digest, std::string_view end) {
    digest_.add(end.substr(0, end.rfind(trace::before_digest)));
    if (digest != digest_.text())
      malformed("the digest is " + digest.dump().substr(0, 60) + ", but that of the text is \"" +
                digest_.text() + "\": the file was changed");
    trace_.digest = true;
  }
  /// Refuses equal lines without a digest: two functions of one name may have two equal lines, but so may an altered trace.
  void refuse_doubled() const {
    if (doubled_ != 0)
      malformed(
          fmt::format("line {} is there twice, and no digest shows that the tracer wrote both", doubled_));
  }
  [[noreturn]] void refuse(std::string const& message, std::string hint = {}) const {
    std::string const& name = trace_.name;
    if (hint.empty()) hint = "traces are written by swizproof-trace --out FILE -- PROGRAM";
    throw InputError::whole(fmt::format("{}:{}: {}", name, std::max<std::size_t>(line_, 1), message), name,
                            std::move(hint));
  }

  Trace trace_{};
  std::string_view rest_;
  trace::Digest digest_{};
  std::size_t line_ = 0, doubled_ = 0;
  std::map<std::string_view, std::size_t> texts_{};  ///< the lines of instructions
  std::uint64_t executed_ = 0;
};

}  // namespace

bool is_trace(std::string_view text) {
  static RE2 const form(R"(^\s*\{\s*"format"\s*:\s*"swizproof trace )", RE2::Latin1);
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), form);
}

Trace read_trace(std::string const& name, std::string_view text) { return TraceReader(name, text).read(); }

}  // namespace swizproof
