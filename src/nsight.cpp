#include "nsight.hpp"

#include "pattern.hpp"

#include <swizproof/parse.hpp>

#include <csv.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <memory>
#include <regex>
#include <tuple>

namespace swizproof {

namespace {

struct Row {
  std::vector<std::string> fields{};
  std::size_t line = 0;  ///< of the file, from 1; where the row starts
};

/// The rows of a CSV text, by libcsv.
std::vector<Row> rows_of(std::string_view text) {
  struct Reader {
    std::vector<Row> rows{};
    std::vector<std::string> fields{};
  } reader;
  csv_parser parser{};
  if (csv_init(&parser, 0) != 0) throw std::bad_alloc();
  std::unique_ptr<csv_parser, decltype(&csv_free)> const owner(&parser, csv_free);
  auto const on_field = [](void* bytes, std::size_t size, void* to) {
    static_cast<Reader*>(to)->fields.emplace_back(static_cast<char const*>(bytes), size);
  };
  auto const on_row = [](int, void* to) {
    auto* const r = static_cast<Reader*>(to);
    r->rows.push_back({std::move(r->fields), 0});
    r->fields.clear();
  };
  // Line by line, so that each row knows its place; a quoted field may go on over several.
  std::size_t line = 0, first = 1;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find('\n'), text.size() - 1) + 1;
    ++line;
    std::size_t const before = reader.rows.size();
    csv_parse(&parser, text.data(), end, on_field, on_row, &reader);
    text.remove_prefix(end);
    if (reader.rows.size() == before) continue;
    reader.rows.back().line = first;
    first = line + 1;
  }
  csv_fini(&parser, on_field, on_row, &reader);
  if (!reader.rows.empty() && reader.rows.back().line == 0) reader.rows.back().line = first;
  return std::move(reader.rows);
}

constexpr std::size_t absent = std::string::npos;

/// The first column that has one of the names.
std::size_t column(Row const& header, std::initializer_list<std::string_view> names) {
  for (std::string_view const name : names)
    for (std::size_t i = 0; i < header.fields.size(); ++i)
      if (header.fields[i] == name) return i;
  return absent;
}

/// A kind of sum over a kernel: its metrics, by every name that they have.
struct Sum {
  std::string name;
  std::vector<Operation> operations;
  std::string wavefronts;
  std::vector<std::string> executed;  ///< added up
  bool shared_with_others;
};

std::vector<Sum> const& sums() {
  static std::vector<Sum> const all = [] {
    std::vector<Sum> list;
    std::tuple<Operation, std::string, std::string> const each[] = {
        {Operation::ld_shared, "ld", "all LDS"},
        {Operation::st_shared, "st", "all STS"},
        {Operation::ldmatrix, "ldsm", "all LDSM"},
        {Operation::stmatrix, "stsm", "all STSM"},
        {Operation::cp_async, "ldgsts", "all LDGSTS"}};
    for (auto const& [operation, op, name] : each) {
      bool const plain = operation == Operation::ld_shared || operation == Operation::st_shared;
      std::string const executed = plain || operation == Operation::stmatrix ? "inst_executed_op_shared_" + op
                                                                             : "inst_executed_op_" + op;
      for (std::string const unit : {"smsp__sass_", "sm__sass_"})
        list.push_back({name,
                        {operation},
                        unit + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" + op + ".sum",
                        {unit + executed + ".sum"},
                        false});
    }
    list.push_back({"all LDS and LDSM",
                    {Operation::ld_shared, Operation::ldmatrix},
                    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                    {"smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_ldsm.sum"},
                    true});
    list.push_back(
        {"all STS and STSM",
         {Operation::st_shared, Operation::stmatrix},
         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
         {"smsp__sass_inst_executed_op_shared_st.sum", "smsp__sass_inst_executed_op_shared_stsm.sum"},
         true});
    return list;
  }();
  return all;
}

bool is_metric(std::string_view name) {
  for (Sum const& s : sums()) {
    if (s.wavefronts == name) return true;
    for (std::string const& e : s.executed)
      if (e == name) return true;
  }
  return false;
}

/// Reads one export.
class Reader {
 public:
  Reader(std::string const& name, std::string_view text) : name_(name), rows_(rows_of(text)) {}

  std::vector<Measurement> read() {
    for (std::size_t i = 0; i < rows_.size(); ++i) take(rows_[i]);
    finish_kernels();
    if (!found_)
      refuse("no table of shared-memory wavefronts", 0,
             "export it with: ncu --page source --csv -i REPORT (section SourceCounters), or with\n  "
             "--metrics smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,"
             "smsp__sass_inst_executed_op_shared_ld.sum");
    return std::move(out_);
  }

 private:
  enum class Table : std::uint8_t { none, source, wide, narrow };

  [[noreturn]] void refuse(std::string const& message, std::size_t line, std::string hint) const {
    std::string const place = line == 0 ? name_ : name_ + ":" + std::to_string(line);
    throw InputError{place + ": " + message, name_, 0, name_.size(), std::move(hint)};
  }

  /// An integer, perhaps with separators of thousands (1,048,576 or 1.048.576) and what follows a space.
  [[nodiscard]] std::optional<std::uint64_t> count(Row const& row, std::size_t at) const {
    if (at >= row.fields.size()) refuse("the row ends before column " + std::to_string(at + 1), row.line, {});
    std::string text = row.fields[at].substr(0, row.fields[at].find(' '));
    if (text.empty() || text == "-" || text == "N/A" || text == "n/a") return std::nullopt;
    static std::regex const plain("[0-9]{1,19}"), grouped("[0-9]{1,3}([.,'][0-9]{3}){1,5}");
    if (!std::regex_match(text, plain) && !std::regex_match(text, grouped))
      refuse("'" + text + "' is no count", row.line, "export with --print-units base");
    std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
    return std::stoull(text);
  }

  void take(Row const& row) {
    if (row.fields.size() >= 2 && row.fields[0] == "Kernel Name" && row.fields.size() <= 3) {
      kernel_ = row.fields[1];
      table_ = Table::none;
      return;
    }
    if (take_header(row)) return;
    if (table_ == Table::source && row.fields.size() == header_.fields.size()) take_sass(row);
    if (table_ == Table::wide && row.fields.size() == header_.fields.size()) take_wide(row);
    if (table_ == Table::narrow && row.fields.size() > std::max(value_, name_column_)) take_narrow(row);
  }

  bool take_header(Row const& row) {
    std::size_t const source = column(row, {"Source"});
    std::size_t const executed = column(row, {"Instructions Executed", "inst_executed"});
    std::size_t const wavefronts = column(row, {"L1 Wavefronts Shared", "memory_l1_wavefronts_shared"});
    std::size_t const kernel = column(row, {"Kernel Name"});
    std::size_t const name = column(row, {"Metric Name"}), value = column(row, {"Metric Value"});
    if (source != absent && executed != absent && wavefronts != absent) {
      table_ = Table::source;
      source_ = source, executed_ = executed, wavefronts_ = wavefronts;
      found_ = true;
    } else if (kernel != absent && name != absent && value != absent) {
      table_ = Table::narrow;
      name_column_ = name, value_ = value;
    } else if (kernel != absent && std::any_of(row.fields.begin(), row.fields.end(), is_metric)) {
      table_ = Table::wide;
    } else {
      return false;
    }
    header_ = row;
    return true;
  }

  void take_sass(Row const& row) {
    auto const wavefronts = count(row, wavefronts_), executed = count(row, executed_);
    if (!wavefronts || !executed || *wavefronts == 0 || *executed == 0) return;
    std::string sass = row.fields[source_];
    sass.erase(0, sass.find_first_not_of(" \t"));
    sass.erase(sass.find_last_not_of(" \t;") + 1);
    out_.push_back({kernel_, sass, parse_sass(sass), {}, *executed, *wavefronts, false});
  }
  void take_wide(Row const& row) {
    std::size_t const kernel = column(header_, {"Kernel Name"}), id = column(header_, {"ID"});
    if (row.fields[kernel].empty()) return;  // the row of units
    for (std::size_t i = 0; i < row.fields.size(); ++i)
      if (is_metric(header_.fields[i]))
        note(id == absent ? std::to_string(row.line) : row.fields[id], row.fields[kernel], header_.fields[i],
             count(row, i));
  }
  void take_narrow(Row const& row) {
    std::size_t const kernel = column(header_, {"Kernel Name"}), id = column(header_, {"ID"});
    if (kernel >= row.fields.size() || !is_metric(row.fields[name_column_])) return;
    note(id < row.fields.size() ? row.fields[id] : "", row.fields[kernel], row.fields[name_column_],
         count(row, value_));
  }
  void note(std::string const& id, std::string const& kernel, std::string const& metric,
            std::optional<std::uint64_t> value) {
    found_ = true;
    if (value) kernels_[{id, kernel}][metric] = *value;
  }
  void finish_kernels() {
    for (auto const& [key, metrics] : kernels_)
      for (Sum const& sum : sums()) {
        auto const wavefronts = metrics.find(sum.wavefronts);
        if (wavefronts == metrics.end()) continue;
        std::uint64_t executed = 0;
        bool all = !sum.executed.empty();
        for (std::string const& name : sum.executed) {
          auto const at = metrics.find(name);
          all = all && at != metrics.end();
          if (at != metrics.end()) executed += at->second;
        }
        if (all && executed != 0)
          out_.push_back({key.second,
                          sum.name,
                          {},
                          sum.operations,
                          executed,
                          wavefronts->second,
                          sum.shared_with_others});
      }
  }

  std::string const& name_;
  std::vector<Row> rows_;
  std::vector<Measurement> out_{};
  Table table_ = Table::none;
  Row header_{};
  std::size_t source_ = 0, executed_ = 0, wavefronts_ = 0, name_column_ = 0, value_ = 0;
  std::string kernel_{};
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::uint64_t>> kernels_{};
  bool found_ = false;
};

/// True where no two lanes that are served together load the same address, and no group is idle.
bool counts_as_cycles(Placement const& placement) {
  Instruction const i = placement.instruction();
  if (i.operation != Operation::ld_shared || i.bytes < 8) return true;
  if (placement.assignments() > most_cases) return false;
  bool all = true;
  for_each_assignment(placement, [&](std::span<std::uint64_t const> values) {
    auto const warp = placement.warp(values, std::uint64_t{0});
    std::vector<std::uint64_t> seen(warp.address.begin(), warp.address.end());
    std::sort(seen.begin(), seen.end());
    all = all && std::adjacent_find(seen.begin(), seen.end()) == seen.end() &&
          std::all_of(warp.active.begin(), warp.active.end(), [](bool active) { return active; });
  });
  return all;
}

bool covers(ProvedAccess const& proved, Measurement const& measured) {
  bool const kind = measured.instruction
                        ? proved.instruction == *measured.instruction
                        : std::find(measured.operations.begin(), measured.operations.end(),
                                    proved.instruction.operation) != measured.operations.end();
  return kind && (proved.kernel.empty() || Pattern(proved.kernel, "kernel").found_in(measured.kernel));
}

}  // namespace

std::optional<Instruction> parse_sass(std::string_view line) {
  std::string text(line);
  static std::regex const form(R"(\s*(?:@!?U?P[0-9T]+\s+)?([A-Z0-9]+)((?:\.[A-Za-z0-9_]+)*)(?:\s.*)?)");
  std::smatch match;
  if (text.size() > 1000 || !std::regex_match(text, match, form)) return std::nullopt;
  std::string const op = match[1], modifiers = match[2].str() + ".";
  auto const has = [&](std::string_view word) {
    return modifiers.find("." + std::string(word) + ".") != std::string::npos;
  };
  unsigned const wide = has("128") ? 16 : has("64") ? 8 : 4;
  unsigned const narrow = has("U8") || has("S8") ? 1 : has("U16") || has("S16") ? 2 : wide;
  if (op == "LDS") return Instruction{Operation::ld_shared, narrow, 0, false};
  if (op == "STS") return Instruction{Operation::st_shared, narrow, 0, false};
  if (op == "LDGSTS") return Instruction{Operation::cp_async, wide, 0, false};
  if ((op == "LDSM" || op == "STSM") && (has("M88") || has("MT88")))
    return Instruction{op == "LDSM" ? Operation::ldmatrix : Operation::stmatrix, 16,
                       has("4")   ? 4U
                       : has("2") ? 2U
                                  : 1U,
                       has("MT88")};
  return std::nullopt;
}

std::vector<Measurement> read_nsight(std::string const& name, std::string_view text) {
  return Reader(name, text).read();
}

std::vector<ProvedAccess> prove_accesses(std::vector<Obligation> const& obligations, Limits const& limits) {
  std::vector<ProvedAccess> proved;
  for (Obligation const& o : obligations) {
    auto const* const hold = std::get_if<AccessesHold>(&o.what);
    if (hold == nullptr) continue;
    for (Placement const& placement : hold->placements) {
      AccessVerdict const v = check(placement, {hold->at_most, hold->align, o.arch, limits});
      if (!std::holds_alternative<Unknown>(v.outcome))
        proved.push_back({o.name, o.kernel, placement.access().name, placement.instruction(), v.wavefronts,
                          counts_as_cycles(placement)});
    }
  }
  return proved;
}

Compared compare(Measurement const& measured, std::vector<ProvedAccess> const& proved) {
  Compared out;
  if (!measured.instruction && measured.operations.empty()) {
    out.comparison = Comparison::not_modelled;
    return out;
  }
  bool as_proved = false, countable = true;
  for (ProvedAccess const& p : proved) {
    if (!covers(p, measured)) continue;
    out.candidates.push_back(&p);
    out.most = std::max(out.most, p.wavefronts);
    as_proved = as_proved || measured.wavefronts == p.wavefronts * measured.executed;
    countable = countable && p.counts_as_cycles;
  }
  if (out.candidates.empty()) return out;
  if (as_proved)
    out.comparison = Comparison::as_proved;
  else if (measured.wavefronts < out.most * measured.executed)
    out.comparison = Comparison::below;
  else
    out.comparison = measured.shared_with_others || !countable ? Comparison::noisy : Comparison::above;
  return out;
}

}  // namespace swizproof
