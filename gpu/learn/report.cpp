#include "learn/learn.hpp"

#include <swizproof/hardware/certainty.hpp>

#include <algorithm>
#include <cstdio>

namespace swizproof::gpu {
namespace {

std::string text_of(Reading r, Instruction i) {
  if (r.least == r.most) return std::to_string(r.least);
  return i.operation == Operation::cp_async ? std::to_string(r.least) + " to " + std::to_string(r.most)
                                            : std::to_string(r.least);
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// "0-7, 8-15, 16-23, 24-31"
std::string lanes_of(Phase const& phase) {
  std::string text;
  for (unsigned first = 0; first < warp_lanes; first += phase.lanes)
    for (unsigned i = 0; i < phase.lanes;) {
      auto const lane = [&](unsigned at) {
        return unsigned{phase.in_order ? first + at : phase.order[first + at]};
      };
      unsigned end = i + 1;
      while (end < phase.lanes && lane(end) == lane(end - 1) + 1) ++end;
      text += (text.empty() ? "" : i == 0 ? " | " : ", ") + std::to_string(lane(i));
      if (end > i + 1) text += "-" + std::to_string(lane(end - 1));
      i = end;
    }
  return text;
}

std::string in_words(Phase const& phase, bool whole_warp) {
  std::string text = "lanes " + lanes_of(phase);
  if (!whole_warp) text = std::to_string(phase.lanes) + " lanes, a matrix";
  text += phase.by_lane ? "; lanes at one word count each" : "; lanes at one word count once";
  if (whole_warp && phase.lanes < warp_lanes)
    text += phase.pays_idle ? "; idle phases take their turn" : "; idle phases cost nothing";
  if (phase.merged_lanes != 0) {
    text += "; " + std::to_string(phase.merged_lanes) + " lanes if all lanes l and";
    bool first = true;
    for (unsigned bit = 1; bit < warp_lanes; bit *= 2)
      if ((phase.partners & bit) != 0) {
        text += (first ? " l^" : " or l^") + std::to_string(bit);
        first = false;
      }
    text += " have one address";
  }
  return text;
}

/// The lanes' addresses, in bytes and hexadecimal; a dot for a lane that takes no part.
std::string addresses_of(Experiment const& e) {
  std::string text;
  char lane[16];
  for (unsigned l = 0; l < e.instruction.lanes(); ++l) {
    std::snprintf(lane, sizeof lane, "%s%x", l == 0 ? "" : " ", e.probe.address[l]);
    text += (e.probe.active >> l & 1) != 0 ? lane : l == 0 ? "." : " .";
  }
  return text;
}

std::string line_of(Experiment const& e) {
  std::string const wavefronts = text_of(e.reading, e.instruction);
  return "  " + e.shows + "  " + wavefronts + " wavefront" + (wavefronts == "1" ? "" : "s") + ", " +
         decimal(e.cycles) + " cycles\n";
}

constexpr char const* width_names[] = {"b32", "b64", "b128"};
constexpr char const* operation_names[] = {"ld.shared", "st.shared", "ldmatrix", "stmatrix", "cp.async"};

bool is_matrix(std::size_t operation) {
  return operation == static_cast<std::size_t>(Operation::ldmatrix) ||
         operation == static_cast<std::size_t>(Operation::stmatrix);
}

/// Calls visit(name, phase, whether it is of the whole warp) for each row that the table has.
template <class Visit>
void for_each_row(PhaseTable const& table, Visit const& visit) {
  for (std::size_t operation = 0; operation < operation_count; ++operation)
    for (std::size_t width = 0; width < 3; ++width) {
      Phase const& phase = table[operation][width];
      if (phase.lanes == 0 || (is_matrix(operation) && width != 2)) continue;
      std::string const name = operation_names[operation];
      visit(is_matrix(operation) ? name : name + "." + width_names[width], phase, !is_matrix(operation));
    }
}

std::string quote(std::string const& text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string list(std::vector<std::string> const& values) {
  std::string out = "[";
  for (std::string const& value : values) out += (out.size() > 1 ? ", " : "") + value;
  return out + "]";
}

std::string row_json(Phase const& phase) {
  std::vector<std::string> partners, order;
  for (unsigned bit = 1; phase.merged_lanes != 0 && bit < warp_lanes; bit *= 2)
    if ((phase.partners & bit) != 0) partners.push_back(std::to_string(bit));
  for (unsigned const lane : phase.order) order.push_back(std::to_string(lane));
  return "{\"lanes\": " + std::to_string(phase.lanes) +
         ", \"merged_lanes\": " + std::to_string(phase.merged_lanes) + ", \"partners\": " + list(partners) +
         ", \"equal_words\": " + (phase.by_lane ? "\"each lane\"" : "\"once\"") +
         ", \"idle_phases\": " + (phase.pays_idle ? "\"paid\"" : "\"free\"") +
         (phase.in_order ? "" : ", \"order\": " + list(order)) + "}";
}

std::string json(Experiment const& e) {
  std::vector<std::string> addresses;
  for (unsigned l = 0; l < warp_lanes; ++l)
    addresses.push_back(l < e.instruction.lanes() && (e.probe.active >> l & 1) != 0
                            ? std::to_string(e.probe.address[l])
                            : "null");
  return "{\"shows\": " + quote(e.shows) + ", \"op\": " + quote(to_string(e.instruction)) +
         ", \"address\": " + list(addresses) + ", \"cycles\": " + decimal(e.cycles) + ", \"wavefronts\": [" +
         std::to_string(e.reading.least) + ", " + std::to_string(e.reading.most) + "]}";
}

}  // namespace

std::string describe(Findings const& found) {
  std::string text;
  if (found.unit != 0) text += "a wavefront takes " + decimal(found.unit) + " cycles\n";
  if (found.outcome == Learned::table) {
    text += std::to_string(found.banks.count) + " banks of " + std::to_string(found.banks.bytes) + " bytes\n";
    for_each_row(found.phases, [&](std::string const& name, Phase const& phase, bool whole_warp) {
      text += name + std::string(16 - std::min<std::size_t>(15, name.size()), ' ') +
              in_words(phase, whole_warp) + "\n";
    });
  }
  text += "\nexperiments\n";
  for (Experiment const& e : found.experiments)
    if (!e.instruction.transposed) text += line_of(e);
  if (found.trial.patterns != 0)
    text += "\nrandom patterns: " + with_commas(found.trial.patterns) + ", " +
            (found.trial.mismatches == 0 ? "none costs" : with_commas(found.trial.mismatches) + " cost") +
            " anything else than the table says\n";
  if (found.outcome == Learned::table) {
    text += same_law(found.architecture(), sm_90) ? "the table is that of sm_90, which is proved\n"
                                                  : "the table is not that of sm_90\n";
    return text;
  }
  text += std::string(found.outcome == Learned::unclear ? "\nunclear: " : "\nnot explained: ") +
          found.reason + "\n";
  if (found.counterexample) {
    text += line_of(*found.counterexample);
    if (found.expected != 0) text += "  the table says " + std::to_string(found.expected) + "\n";
    text += "  " + to_string(found.counterexample->instruction) + " at " +
            addresses_of(*found.counterexample) + "\n";
  }
  return text;
}

std::string table_file(Findings const& found, Origin const& origin) {
  std::string rows, experiments;
  for_each_row(found.phases, [&](std::string const& name, Phase const& phase, bool) {
    rows += (rows.empty() ? "\n    " : ",\n    ") + quote(name) + ": " + row_json(phase);
  });
  for (Experiment const& e : found.experiments)
    experiments += (experiments.empty() ? "\n    " : ",\n    ") + json(e);
  char const* const outcome = found.outcome == Learned::table           ? "table"
                              : found.outcome == Learned::not_explained ? "not explained"
                                                                        : "unclear";
  std::string out = "{\n  \"format\": \"swizproof architecture 1\",\n  \"name\": " + quote(origin.name) +
                    ",\n  \"device\": " + quote(origin.device) + ",\n  \"date\": " + quote(origin.date) +
                    ",\n  \"outcome\": " + quote(outcome) + ",\n";
  if (!found.reason.empty()) out += "  \"reason\": " + quote(found.reason) + ",\n";
  out += origin.more + "  \"banks\": " + std::to_string(found.banks.count) +
         ",\n  \"bank_bytes\": " + std::to_string(found.banks.bytes) +
         ",\n  \"most_shared_bytes\": " + std::to_string(origin.most_shared_bytes) +
         ",\n  \"instructions\": {" + rows +
         "\n  },\n  \"patterns\": " + std::to_string(found.trial.patterns) +
         ",\n  \"mismatches\": " + std::to_string(found.trial.mismatches) +
         ",\n  \"cycles_of_a_wavefront\": " + decimal(found.unit) + ",\n";
  if (found.counterexample) out += "  \"counterexample\": " + json(*found.counterexample) + ",\n";
  return out + "  \"experiments\": [" + experiments + "\n  ]\n}\n";
}

}  // namespace swizproof::gpu
