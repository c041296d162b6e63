#include "profile/nsight.hpp"

#include "profile/metrics.hpp"
#include "parse/access/sass.hpp"

#include <swizproof/parse/parse.hpp>

#include <csv.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace swizproof {

namespace {

struct Row {
  std::vector<std::string> fields{};
  std::size_t line = 0;  ///< line of the file, from 1, at which the row starts
};

/// The rows of a CSV text, by libcsv, without the profiler's own messages (==PROF== ...).
class Rows {
 public:
  explicit Rows(std::string_view text) {
    if (csv_init(&parser_, CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    // Line by line, so that each row has its line number; a quoted field may span several lines.
    std::size_t line = 0;
    bool open = false;
    while (!text.empty()) {
      std::size_t const end = std::min(text.find('\n'), text.size() - 1) + 1;
      std::string_view const now = text.substr(0, end);
      text.remove_prefix(end);
      ++line;
      if (!open) first_ = line;
      if (!open && now.starts_with("==")) continue;
      std::size_t const before = all.size();
      csv_parse(&parser_, now.data(), now.size(), on_field, on_row, this);
      open = all.size() == before && (open || now.find_first_not_of(" \t\r\n") != std::string_view::npos);
      if (text.empty()) cut_off = now.back() != '\n' && now.back() != '"';
    }
    cut_off = csv_fini(&parser_, on_field, on_row, this) != 0 || cut_off;
  }
  Rows(Rows const&) = delete;
  Rows& operator=(Rows const&) = delete;
  ~Rows() { csv_free(&parser_); }

  std::vector<Row> all{};
  bool cut_off = false;  ///< the last row ends within a field: neither its newline nor its quote is there

 private:
  static void on_field(void* bytes, std::size_t size, void* to) {
    static_cast<Rows*>(to)->fields_.emplace_back(static_cast<char const*>(bytes), size);
  }
  static void on_row(int, void* to) {
    auto* const r = static_cast<Rows*>(to);
    r->all.push_back({std::exchange(r->fields_, {}), r->first_});
  }
  csv_parser parser_{};
  std::vector<std::string> fields_{};
  std::size_t first_ = 1;
};

constexpr std::size_t absent = std::string::npos;
constexpr std::uint64_t most_count = std::uint64_t{1}
                                     << 56;  ///< largest count, so that sums and products fit

/// The first column that has one of the names.
std::size_t column(Row const& header, std::span<std::string_view const> names) {
  for (std::string_view const name : names)
    for (std::size_t i = 0; i < header.fields.size(); ++i)
      if (header.fields[i] == name) return i;
  return absent;
}
std::size_t column(Row const& header, std::string_view name) { return column(header, std::span(&name, 1)); }

/// Reads one export.
class Reader {
 public:
  Reader(std::string const& name, std::string_view text) : name_(name), rows_(text) {}

  Profile read() {
    for (Row const& row : rows_.all) take(row);
    if (rows_.cut_off && table_ != Table::none) refuse("the last row is cut off", rows_.all.back().line, {});
    finish_table();
    for (Launch const& launch : launches_)
      for (Sum const& sum : sums()) finish(launch, sum);
    for (Launch const& launch : launches_) finish_pipe(launch);
    if (!source_ && out_.measurements.empty() && out_.pipes.empty() && out_.never_ran + out_.no_count == 0)
      refuse(found_ ? "no sum has both its wavefronts and its instructions"
                    : "no table of shared-memory wavefronts",
             0,
             "export it with: ncu --page source --csv -i REPORT (section SourceCounters), or with\n  "
             "--metrics smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,"
             "smsp__sass_inst_executed_op_shared_ld.sum");
    return std::move(out_);
  }

 private:
  enum class Table : std::uint8_t { none, source, wide, narrow };
  using Metrics = std::map<std::string, std::optional<std::uint64_t>, std::less<>>;
  /// A kernel that was launched, or several that the export does not tell apart.
  struct Launch {
    std::string kernel;
    Metrics metrics{};
  };

  [[noreturn]] void refuse(std::string const& message, std::size_t line, std::string hint) const {
    std::string const place = line == 0 ? name_ : name_ + ":" + std::to_string(line);
    throw InputError::whole(place + ": " + message, name_, std::move(hint));
  }
  [[nodiscard]] std::optional<std::uint64_t> count(Row const& row, std::size_t at) const {
    try {
      return parse_count(row.fields[at]);
    } catch (InputError const& error) {
      refuse(error.message, row.line, error.hint);
    }
  }
  /// A column that occurs once; nothing if it does not occur.
  [[nodiscard]] std::size_t one(std::span<std::string_view const> names) const {
    std::size_t const at = column(header_, names);
    if (at != absent && std::count(header_.fields.begin(), header_.fields.end(), header_.fields[at]) > 1)
      refuse("the column '" + header_.fields[at] + "' appears twice", header_.line, {});
    return at;
  }
  [[nodiscard]] std::size_t one(std::string_view name) const { return one(std::span(&name, 1)); }
  [[nodiscard]] static std::string field(Row const& row, std::size_t at) {
    return at == absent ? std::string() : row.fields[at];
  }

  void take(Row const& row) {
    if (row.fields.empty() || take_header(row)) return;
    if (row.fields[0] == "Kernel Name" && row.fields.size() >= 2 && row.fields.size() <= 3) {
      finish_table();
      kernel_ = row.fields[1];
      table_ = Table::none;
      return;
    }
    if (table_ == Table::none) return;  // what the profiled program has printed
    if (row.fields.size() != header_.fields.size())
      refuse("the row has " + std::to_string(row.fields.size()) + " fields, its table has " +
                 std::to_string(header_.fields.size()),
             row.line, "is it cut off, or does a name with commas stand without quotes?");
    if (table_ == Table::source) take_sass(row);
    if (table_ == Table::wide) take_wide(row);
    if (table_ == Table::narrow) take_narrow(row);
  }

  bool take_header(Row const& row) {
    bool const source = column(row, "Source") != absent && column(row, executed_names) != absent &&
                        column(row, wavefront_names) != absent;
    bool const kernel = column(row, "Kernel Name") != absent;
    bool const narrow =
        kernel && column(row, "Metric Name") != absent && column(row, "Metric Value") != absent;
    bool const wide = kernel && std::any_of(row.fields.begin(), row.fields.end(), is_metric);
    bool const other = !source && !narrow && !wide;
    if (other && (!kernel || column(row, "ID") == absent)) return false;
    finish_table();
    table_ = Table::none;
    if (other) return true;
    table_ = source ? Table::source : narrow ? Table::narrow : Table::wide;
    source_ = source_ || source;
    found_ = found_ || source || wide;
    header_ = row;
    ++section_;
    for (std::string const& field : header_.fields)
      if (is_metric(field)) (void)one(field);
    return true;
  }

  // ------------------------------------------------------------------------------ the source page

  void take_sass(Row const& row) {
    for (std::string const& text : row.fields) table_text_ += text + '\x1f';
    table_text_ += '\n';
    auto const wavefronts = count(row, one(wavefront_names)), executed = count(row, one(executed_names));
    std::size_t const ideal_column = one(ideal_names), address_column = one("Address");
    std::string sass = row.fields[one("Source")];
    sass.erase(0, sass.find_first_not_of(" \t"));
    sass.erase(sass.find_last_not_of(" \t;") + 1);
    std::optional<std::uint64_t> address;
    if (address_column != absent) {
      address = hexadecimal(row.fields[address_column]);
      if (!address) refuse("'" + row.fields[address_column].substr(0, 40) + "' is no address", row.line, {});
      if (!first_address_) first_address_ = address;
      if (!lines_seen_.insert(*address).second || *address < *first_address_)
        refuse("the address is that of an earlier line, or below the table's first", row.line,
               "was the file changed? export it once more");
    }
    if (wavefronts.value_or(0) != 0 && executed && *executed == 0)
      refuse("wavefronts of an instruction that did not run", row.line, {});
    auto const instruction = parse_sass(sass);
    bool const shared = instruction || (is_atomic(sass) && sass.find("ATOMS") != std::string::npos);
    if (!shared && !is_generic(sass) && wavefronts.value_or(0) == 0) return;
    Measurement m;
    m.kernel = plain_kernel_name(kernel_);
    m.kernel_as_written = kernel_;
    m.where = std::move(sass);
    m.instruction = instruction;
    m.executed = executed.value_or(0);
    m.wavefronts = wavefronts.value_or(0);
    m.ideal = ideal_column == absent ? std::nullopt : count(row, ideal_column);
    m.atomic = is_atomic(m.where);
    m.pc = address ? std::optional(*address - *first_address_) : std::nullopt;
    m.counted = wavefronts && executed;
    lines_.push_back(std::move(m));
  }
  /// `0x7fdc8f7ac200`; nothing if it is none.
  static std::optional<std::uint64_t> hexadecimal(std::string_view text) {
    std::uint64_t value = 0;
    if (!text.starts_with("0x")) return std::nullopt;
    auto const [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  }
  /// Takes over what the table holds; of equal tables the first.
  void finish_table() {
    first_address_.reset();
    lines_seen_.clear();
    std::vector<Measurement> lines = std::exchange(lines_, {});
    std::string const text = std::exchange(table_text_, {});
    if (table_ != Table::source || text.empty()) return;
    auto const [at, fresh] = tables_.try_emplace(kernel_ + '\n' + text, out_.tables.size());
    if (!fresh) {
      ++out_.repeated;
      ++out_.tables[at->second].copies;
      return;
    }
    for (Measurement const& m : lines) take_line(m);
    out_.tables.push_back({kernel_, 1, std::move(lines)});
  }
  /// A line of a table: a measurement, or one that did not run in any lane.
  void take_line(Measurement const& m) {
    bool const shared = m.instruction || m.where.find("ATOMS") != std::string::npos;
    if (!m.counted) {
      out_.no_count += shared ? 1 : 0;
      if (m.instruction) out_.measurements.push_back(m);
    } else if (m.wavefronts != 0 ||
               (m.instruction && m.executed != 0 && (!is_predicated(m.where) || m.ideal.value_or(0) != 0))) {
      out_.measurements.push_back(m);  // an execution without a predicate costs at least 1
    } else {
      out_.never_ran += shared ? 1 : 0;  // as the padding @!PT LDS RZ, [RZ]
    }
  }

  // ------------------------------------------------------------------------------ sums of kernels

  void take_wide(Row const& row) {
    std::string const kernel = row.fields[one("Kernel Name")];
    if (!kernel.empty()) launches_.push_back({kernel, {}});
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      if (!is_metric(header_.fields[i])) continue;
      if (kernel.empty())  // the row of units
        check_unit(row, row.fields[i]);
      else
        launches_.back().metrics[header_.fields[i]] = count(row, i);
    }
  }
  void take_narrow(Row const& row) {
    std::string const metric = row.fields[one("Metric Name")], kernel = row.fields[one("Kernel Name")];
    if (!is_metric(metric)) return;
    found_ = true;
    check_unit(row, field(row, one("Metric Unit")));
    std::string const key = std::to_string(section_) + '\n' + field(row, one("Host Name")) + '\n' +
                            field(row, one("Process ID")) + '\n' + field(row, one("ID")) + '\n' + kernel;
    auto const [at, fresh] = places_.try_emplace(key, launches_.size());
    if (fresh) launches_.push_back({kernel, {}});
    auto const value = count(row, one("Metric Value"));
    auto const [known, first] = launches_[at->second].metrics.try_emplace(metric, value);
    if (first) return;
    ++out_.added_up;
    known->second = known->second && value ? std::optional(*known->second + *value) : std::nullopt;
    if (known->second > most_count) refuse("the sum of the rows is no count", row.line, {});
  }
  void check_unit(Row const& row, std::string const& unit) const {
    if (unit.size() > 1 && std::string_view("kKMGT").find(unit[0]) != std::string_view::npos)
      refuse("the unit '" + unit + "' is no unit of counts", row.line, "export with --print-units base");
  }
  /// The first of the names that the launch has a row of.
  static std::optional<std::uint64_t> const* value_of(Launch const& launch,
                                                      std::vector<std::string> const& names) {
    for (std::string const& name : names)
      if (auto const at = launch.metrics.find(name); at != launch.metrics.end()) return &at->second;
    return nullptr;
  }
  void finish_pipe(Launch const& launch) {
    for (PipeMetrics const& pipe : pipe_metrics) {
      auto const* const wavefronts = value_of(launch, {std::string(pipe.wavefronts)});
      auto const* const cycles = value_of(launch, {std::string(pipe.cycles)});
      if (wavefronts == nullptr || cycles == nullptr || !*wavefronts || !*cycles) continue;
      if (**wavefronts > **cycles + **cycles / 20)  // two passes of the profiler differ by less
        refuse("more wavefronts of shared memory than cycles: " + launch.kernel, 0,
               "export both metrics of one run");
      out_.pipes.push_back({plain_kernel_name(launch.kernel), **wavefronts, **cycles, pipe.of});
      return;
    }
  }
  void finish(Launch const& launch, Sum const& sum) {
    auto const* const wavefronts = value_of(launch, sum.wavefronts);
    if (wavefronts == nullptr) return;
    Measurement m;
    m.kernel = plain_kernel_name(launch.kernel);
    m.kernel_as_written = launch.kernel;
    m.where = sum.name;
    m.shared_with_others = sum.shared_with_others;
    bool counted = wavefronts->has_value();
    for (Sum::Part const& part : sum.parts) {
      auto const* const executed = value_of(launch, part.executed);
      counted = counted && executed != nullptr && executed->has_value();
      if (!counted) break;
      m.executed += **executed;
      m.atomic = m.atomic || !part.operation;
      if (part.operation && **executed != 0) m.operations.push_back({*part.operation, **executed});
    }
    if (!counted) {
      out_.no_count += 1;
      m.counted = false;
      m.executed = 0;
      m.operations.clear();
      for (Sum::Part const& part : sum.parts)
        if (part.operation) m.operations.push_back({*part.operation, 0});
      if (!m.operations.empty()) out_.measurements.push_back(std::move(m));
    } else if (m.executed == 0 || **wavefronts == 0) {
      if (**wavefronts != 0 && !sum.shared_with_others)
        refuse("wavefronts of instructions that did not run: " + sum.name + " of " + launch.kernel, 0, {});
      out_.never_ran += 1;
    } else {
      m.wavefronts = **wavefronts;
      out_.measurements.push_back(std::move(m));
    }
  }

  static constexpr std::array<std::string_view, 2> executed_names{"Instructions Executed", "inst_executed"};
  static constexpr std::array<std::string_view, 2> wavefront_names{"L1 Wavefronts Shared",
                                                                   "memory_l1_wavefronts_shared"};
  static constexpr std::array<std::string_view, 2> ideal_names{"L1 Wavefronts Shared Ideal",
                                                               "memory_l1_wavefronts_shared_ideal"};
  std::string const& name_;
  Rows rows_;
  Profile out_{};
  std::vector<Measurement> lines_{};  ///< lines of the table
  Table table_ = Table::none;
  Row header_{};
  std::size_t section_ = 0;  ///< tables so far: concatenated exports use the same numbers for other launches
  std::optional<std::uint64_t> first_address_{};  ///< first address of the table
  std::set<std::uint64_t> lines_seen_{};          ///< addresses of the table
  std::string kernel_{}, table_text_{};
  std::map<std::string, std::size_t> tables_{};  ///< index of each in out_
  std::vector<Launch> launches_{};
  std::map<std::string, std::size_t> places_{};
  bool found_ = false, source_ = false;
};

}  // namespace

std::optional<std::uint64_t> parse_count(std::string const& text) {
  if (text.empty() || text == "-" || text == "N/A" || text == "n/a" || text == "no data") return std::nullopt;
  auto const refuse = [&](std::string const& why, std::string hint) -> InputError {
    std::string const shown = text.substr(0, 40);
    return {"'" + shown + "' " + why, shown, 0, shown.size(), std::move(hint)};
  };
  // Digits, perhaps in groups of three by one kind of separator, perhaps with a fraction of zeros.
  static RE2 const form(
      R"(([0-9]{1,3}(?:,[0-9]{3}){1,5})(?:\.0+)?|([0-9]{1,3}(?:\.[0-9]{3}){2,5})(?:,0+)?|([0-9]{1,3}\.[0-9]{3}),0+|)"
      R"(([0-9]{1,3}(?:[' ][0-9]{3}){1,5})(?:[.,]0+)?|([0-9]{1,17})(?:[.,]0+)?)");
  static RE2 const unclear(R"([0-9]{1,3}\.[0-9]{3})");
  std::string plain = text;
  for (char const* const space : {"\xc2\xa0", "\xe2\x80\xaf"})  // that do not break lines
    RE2::GlobalReplace(&plain, space, " ");
  if (RE2::FullMatch(plain, unclear))
    throw refuse("can be read in two ways",
                 "export it where thousands are separated by commas, or not at all");
  std::array<std::string, 5> parts;
  (void)RE2::FullMatch(plain, form, &parts[0], &parts[1], &parts[2], &parts[3], &parts[4]);
  std::string digits;
  for (std::string const& part : parts) digits += part;
  if (digits.empty()) throw refuse("is no count", "export with --print-units base");
  std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
  std::uint64_t const value = std::stoull(digits);
  if (value > most_count) throw refuse("is no count", {});
  return value;
}

std::string plain_kernel_name(std::string name) {
  static RE2 const cast(R"(\(([A-Za-z_][A-Za-z0-9_: ]*)\)(-?[0-9]))", RE2::Latin1);
  RE2::GlobalReplace(&name, cast, R"(\2)");
  return name;
}

Profile read_nsight(std::string const& name, std::string_view text) { return Reader(name, text).read(); }

}  // namespace swizproof
