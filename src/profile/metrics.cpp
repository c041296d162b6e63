#include "profile/metrics.hpp"

#include <swizproof/hardware/counter.hpp>

#include <functional>
#include <set>
#include <utility>

namespace swizproof {

namespace {

/// How often an operation's instructions ran: as SASS counts it, or as the instruction's pipe does.
Sum::Part part_of(std::optional<Operation> operation, std::string const& counter) {
  Sum::Part part{operation, {}};
  for (std::string const unit : {"smsp__sass_", "sm__sass_", "smsp__", "sm__"})
    part.executed.push_back(unit + "inst_executed_op_" + counter + ".sum");
  return part;
}

/// Its name in the counters of wavefronts.
std::string_view operation_of(Sum::Part const& part) {
  return part.operation ? counter_operations[static_cast<std::size_t>(*part.operation)] : "atom";
}

}  // namespace

std::vector<Sum> const& sums() {
  static std::vector<Sum> const all = [] {
    Sum::Part const ld = part_of(Operation::ld_shared, "shared_ld"),
                    ldsm = part_of(Operation::ldmatrix, "ldsm"),
                    st = part_of(Operation::st_shared, "shared_st"),
                    stsm = part_of(Operation::stmatrix, "shared_stsm"),
                    ldgsts = part_of(Operation::cp_async, "ldgsts"), atom = part_of({}, "shared_atom");
    auto const own = [](std::string const& name, Sum::Part const& part) {
      std::string const counter = wavefront_counter(operation_of(part));
      return Sum{name, {"smsp__" + counter, "sm__" + counter}, {part}, false};
    };
    auto const with_others = [](std::string const& name, std::vector<Sum::Part> parts) {
      std::string const of(operation_of(parts.front()));
      return Sum{
          name, {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + of + ".sum"}, std::move(parts), true};
    };
    return std::vector<Sum>{own("all LDS", ld),
                            own("all STS", st),
                            own("all LDSM", ldsm),
                            own("all STSM", stsm),
                            own("all LDGSTS", ldgsts),
                            own("all ATOMS", atom),
                            with_others("all LDS and LDSM", {ld, ldsm}),
                            with_others("all STS and STSM", {st, stsm}),
                            with_others("all ATOMS", {atom})};
  }();
  return all;
}

bool is_metric(std::string_view name) {
  static std::set<std::string, std::less<>> const names = [] {
    std::set<std::string, std::less<>> all;
    for (PipeMetrics const& pipe : pipe_metrics) all.emplace(pipe.wavefronts), all.emplace(pipe.cycles);
    for (Sum const& s : sums()) {
      all.insert(s.wavefronts.begin(), s.wavefronts.end());
      for (Sum::Part const& part : s.parts) all.insert(part.executed.begin(), part.executed.end());
    }
    return all;
  }();
  return names.contains(name);
}

}  // namespace swizproof
