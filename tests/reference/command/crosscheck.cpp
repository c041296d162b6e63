// crosscheck PROFILE.csv OBLIGATIONS.toml: Nsight Compute's counts against what was proved.
#include <algorithm>

#include "reference/model/access.hpp"

namespace reference {
namespace {

struct Proved {
  std::string op, kernel;
  int wavefronts = 0;
  bool countable = true;
};

// Name of an instruction in the disassembler's output.
std::string sass(Instruction const& op, Random& r) {
  auto const guard = r.chance(20) ? r.pick({"@P0 ", "@!P1  "}) : "      ";
  auto const reg = "R" + std::to_string(r.between(2, 30));
  std::string width = op.width == 16  ? ".128"
                      : op.width == 8 ? ".64"
                      : op.width == 2 ? ".U16"
                      : op.width == 1 ? ".U8"
                                      : "";
  if (op.is_matrix()) {
    auto const many = op.matrices == 1 ? "" : "." + std::to_string(op.matrices);
    bool const turned = op.name.find("trans") != std::string::npos;
    if (op.kind == Instruction::ldmatrix)
      return guard + std::string("LDSM.16.M") + (turned ? "T" : "") + "88" + many + " " + reg + ", [R7] ";
    return guard + std::string("STSM.16.M") + (turned ? "T" : "") + "88" + many + " [R7+0x10], " + reg + " ";
  }
  if (op.kind == Instruction::load) return guard + std::string("LDS") + width + " " + reg + ", [R3+UR4] ";
  if (op.kind == Instruction::store) return guard + std::string("STS") + width + " [R12+0x400], " + reg + " ";
  return guard + std::string("LDGSTS.E") + (op.width == 16 ? ".BYPASS" : "") + width +
         " [R3], desc[UR6][R4.64] ";
}

struct Row {
  std::string comparison;
  long long executed = 1, wavefronts = 1;
  bool countable = true;
  std::string text;
};

// An obligation whose access costs what at_most says.
Proved draw_proved(Campaign& c, Random& r, std::string& toml) {
  Question q;
  int worst = 0;
  do {
    q = draw_question(r, true, false);
    if (!q.tile || !cheap(q, 100) || malformed(q) || idle(q) || may_be_sliced_otherwise(q)) continue;
    q.accesses.resize(1);
    q.at_most.reset();
    q.align.reset();
    worst = shares(*q.tile) ? 0 : worst_wavefronts(q, q.accesses[0]);
  } while (worst == 0);
  note(c, q);
  q.at_most = worst;
  std::string const kernel = r.pick({"", "gemm", "^other", "e"});
  toml += "[[obligation]]\nname = \"o" + std::to_string(toml.size()) + "\"\nlayout = \"" + q.tile->text +
          "\"\n" + (q.tile->options.empty() ? "" : "element = \"" + q.tile->options[1] + "\"\n") +
          "access = \"" + q.accesses[0].text + "\"\nat_most = " + std::to_string(worst) + "\n" +
          (kernel.empty() ? "" : "kernel = \"" + kernel + "\"\n") + "\n";
  Proved const proved{q.accesses[0].op.name, kernel, worst, countable(q, q.accesses[0])};
  if (!proved.countable) c.drew("what a counter does not see");
  return proved;
}

// Verdict of n executions of w wavefronts in all, if each costs lo to hi and their ideals, one for each, are in the profile.
std::string comparison_of(Instruction const& op, Row const& row, long long least, long long most) {
  bool const wide = !op.is_matrix() && op.width >= 8, copy = op.kind == Instruction::async;
  long long const n = row.executed, w = row.wavefronts, ideal = op.ideal(),
                  hi = op.is_matrix() ? 8 * op.matrices : 32;
  long long const lo = wide ? 1 : ideal;
  if (n * lo > w || n * hi < w || n * ideal > w) return "undecided";  // no such executions
  if (w > n * most) return copy ? "undecided" : "MORE than proved";
  long long const largest = std::min({hi, w - lo * (n - 1), ideal + w - n * ideal});
  if (largest > least) return "undecided";
  return w == n * most && !(copy && w != n * ideal) ? "as proved" : "below the worst case";
}

Row draw_row(Random& r, std::vector<Proved> const& proved, std::string const& kernel, long long n) {
  auto const& op = r.chance(75) ? instruction(r.pick(proved).op) : r.pick(instructions());
  std::set<long long> here;
  Row row;
  for (auto const& p : proved) {
    bool const matches =
        p.kernel.empty() || (p.kernel[0] == '^' ? kernel.rfind(p.kernel.substr(1), 0) == 0
                                                : kernel.find(p.kernel) != std::string::npos);
    if (!matches || p.op != op.name) continue;
    here.insert(p.wavefronts);
    row.countable = row.countable && p.countable;
  }
  row.executed = r.chance(80) ? 1ll << r.between(5, 20) : r.between(1, 5000);
  auto const each = here.empty() || r.chance(40) ? r.between(1, 33)
                    : r.chance(70)               ? *here.rbegin()
                                                 : std::max(1ll, *here.begin() - 1);
  row.wavefronts = row.executed * each + (r.chance(20) ? r.below(row.executed) : 0);
  row.comparison = here.empty() ? "no obligation" : comparison_of(op, row, *here.begin(), *here.rbegin());
  auto const text = [](long long v) { return "\"" + std::to_string(v) + "\""; };
  row.text = text(n + 1) + ",\"0x7f00" + std::to_string(n) + "0\",\"" + sass(op, r) + "\",\"3\"," +
             text(row.executed) + ",\"32\",\"" + (op.writes() ? "Store" : "Load") + "\"," +
             text(op.width * 8) + ",\"0\"," + text(row.wavefronts) + "," + text(row.executed * op.ideal()) +
             "\n";
  return row;
}

}  // namespace

long long crosscheck_case(Campaign& c, Random& r) {
  std::vector<Proved> proved;
  std::string toml;
  for (auto n = r.between(1, 4); n > 0; --n) proved.push_back(draw_proved(c, r, toml));
  std::string const kernel =
      r.pick({"gemm", "void gemm<128, 64>(float *, int)", "other", "attention_kernel"});
  std::string csv =
      "\"Kernel Name\",\"" + kernel + "\",\n" +
      R"("#","Address","Source","# Samples","Instructions Executed","Avg. Threads Executed","Access Operation",)" +
      R"("Access Size","L1 Wavefronts Shared Excessive","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal")" +
      "\n";
  std::vector<Row> rows;
  auto const count = r.between(1, 12);
  for (long long n = 0; n < count; ++n) {
    rows.push_back(draw_row(r, proved, kernel, n));
    csv += rows.back().text;
  }
  auto const compared = std::count_if(rows.begin(), rows.end(),
                                      [](Row const& row) { return row.comparison != "no obligation"; });
  if (compared == 0) return 0;
  auto const profile = c.file("p.csv", csv);
  auto const answer = c.ask({"crosscheck", profile, c.file("o.toml", toml)});
  c.expect(answer.code == 0 || answer.code == 1 || answer.code == 3, "model: exit 0, 1 or 3");
  auto const got = answer.json();
  auto const& measurements = got.at("measurements");
  c.same(measurements.size(), rows.size(), "measurements");
  bool more = false, open = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const comparison = measurements[i].at("comparison").get<std::string>();
    c.same(measurements[i].at("executed"), rows[i].executed, "executed");
    c.same(measurements[i].at("wavefronts"), rows[i].wavefronts, "wavefronts");
    if (rows[i].countable) c.same(comparison, rows[i].comparison, "row " + std::to_string(i + 1));
    more = more || comparison == "MORE than proved";
    open = open || comparison == "undecided";
  }
  c.same(got.at("compared"), compared, "compared");
  c.same(answer.code, more ? 1 : open ? 3 : 0, "exit code");
  return count;
}

}  // namespace reference
