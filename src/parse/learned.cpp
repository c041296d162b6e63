// Tables of architectures that a user has learned from a card: `swizproof-gpu learn --out FILE`, format "swizproof architecture 1".
#include "parse/text/nearest.hpp"
#include "parse/text/scanner.hpp"
#include "system/json.hpp"

#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

namespace swizproof {

namespace {

using LearnedJson = nlohmann::json;

/// An architecture with all that it refers to.
struct Learned {
  std::string name, evidence;
  PhaseTable phases{};
  std::optional<Architecture> arch{};
};

class TableReader {
 public:
  TableReader(std::string const& text, std::string name) : name_(std::move(name)) {
    try {
      root_ = parse_json(text);
    } catch (BadJson const& error) {
      if (error.byte == 0) fail(error.what());
      std::string_view const before = std::string_view(text).substr(0, error.byte - 1);
      fail(fmt::format("no JSON from byte {} of line {} on", before.size() - before.rfind('\n'),
                       std::count(before.begin(), before.end(), '\n') + 1));
    }
    if (!root_.is_object()) fail("is no JSON object");
  }

  std::unique_ptr<Learned> read() {
    if (string(root_, "format", "") != "swizproof architecture 1")
      fail("'format' is not \"swizproof architecture 1\": swizproof-gpu learn writes such files");
    refuse_unexplained();
    auto out = std::make_unique<Learned>();
    std::string const card = string(root_, "name", "");
    unsigned const capability = capability_of(card);
    Banks const banks(power_of_two(root_, "banks", "", 1, most_banks),
                      power_of_two(root_, "bank_bytes", "", 1, 32));
    if (banks.row() < 16) fail("'banks' times 'bank_bytes' is less than 16 bytes, one lane's widest access");
    std::uint64_t const most = integer(root_, "most_shared_bytes", "", 1024, 1 << 30);
    read_rows(out->phases);
    out->name = name_;
    out->evidence = fmt::format("{}, measured by you on {}, {}", card, string(root_, "device", ""), date());
    // The file is about banks. What copies and reads tiles is that of the architectures of this compute capability, if one is known.
    auto const known = std::find_if(std::begin(architectures), std::end(architectures),
                                    [&](Architecture const& a) { return a.capability == capability; });
    bool const is_known = known != std::end(architectures);
    out->arch = Architecture{out->name,
                             &out->phases,
                             Support::measured,
                             out->evidence,
                             banks,
                             most,
                             integer(root_, "patterns", "", 1, std::uint64_t{1} << 62),
                             capability,
                             is_known ? known->tma.value() : TmaLoads::unknown,
                             is_known ? known->operands.value() : OperandUnit::unknown,
                             code_constants_of(capability)};
    return out;
  }

 private:
  [[noreturn]] void fail(std::string const& what) const { throw InputError{name_ + ": " + what}; }

  /// "'lanes' of ld.shared.b32"
  static std::string field(std::string const& key, std::string const& of) {
    return quoted_key(key) + (of.empty() ? "" : " of " + of);
  }
  LearnedJson const& member(LearnedJson const& object, std::string const& key, std::string const& of) const {
    auto const found = object.find(key);
    if (found == object.end()) fail(field(key, of) + " is missing");
    return *found;
  }
  std::string string(LearnedJson const& object, std::string const& key, std::string const& of) const {
    LearnedJson const& value = member(object, key, of);
    if (!value.is_string() || value.get_ref<std::string const&>().empty())
      fail(field(key, of) + " is no text");
    std::string const text = value.get<std::string>();
    if (text.size() > 200) fail(field(key, of) + " is longer than 200 bytes");
    for (std::size_t i = 0; i < text.size(); ++i) {
      bool const c1 =
          text[i] == '\xc2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
      if (static_cast<unsigned char>(text[i]) < ' ' || text[i] == '\x7f' || c1)  // U+0080 to U+009F too
        fail(field(key, of) + " has control characters");
    }
    return text;
  }
  std::uint64_t integer(LearnedJson const& object, std::string const& key, std::string const& of,
                        std::uint64_t least, std::uint64_t most) const {
    LearnedJson const& value = member(object, key, of);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
        value.get<std::uint64_t>() > most)
      fail(fmt::format("{} is no whole number from {} to {}", field(key, of), least, most));
    return value.get<std::uint64_t>();
  }
  unsigned power_of_two(LearnedJson const& object, std::string const& key, std::string const& of,
                        unsigned least, unsigned most) const {
    auto const value = static_cast<unsigned>(integer(object, key, of, least, most));
    if (!std::has_single_bit(value)) fail(field(key, of) + fmt::format(" is {}, no power of two", value));
    return value;
  }
  std::string one_of(LearnedJson const& object, std::string const& key, std::string const& of,
                     std::string const& a, std::string const& b) const {
    std::string word = string(object, key, of);
    if (word != a && word != b)
      fail(fmt::format("{} is '{}', neither \"{}\" nor \"{}\"", field(key, of), word, a, b));
    return word;
  }

  void refuse_unexplained() const {
    if (std::string const outcome = string(root_, "outcome", ""); outcome != "table")
      fail("the table does not explain what was measured: 'outcome' is '" + outcome + "'");
    if (integer(root_, "mismatches", "", 0, ~std::uint64_t{0}) != 0)
      fail("the table does not explain what was measured: 'mismatches' is " + root_["mismatches"].dump());
  }

  unsigned capability_of(std::string const& card) const {
    unsigned number = 0;
    char const* const end = card.data() + card.size();
    auto const [behind, error] =
        std::from_chars(card.data() + std::min<std::size_t>(3, card.size()), end, number);
    std::string_view const rest(behind, static_cast<std::size_t>(end - behind));
    if (!card.starts_with("sm_") || error != std::errc{} || number < 50 || number > 199 ||
        (!rest.empty() && rest != "a" && rest != "f"))
      fail("'name' is '" + card + "', no architecture such as sm_89");
    return number;
  }

  std::string date() const {
    std::string const text = string(root_, "date", "");
    bool good = text.size() == 10;
    for (std::size_t i = 0; good && i < text.size(); ++i)
      good = i == 4 || i == 7 ? text[i] == '-' : is_digit(text[i]);
    auto const number = [&](std::size_t at, std::size_t digits) {
      return static_cast<unsigned>(std::stoul(text.substr(at, digits)));
    };
    good =
        good && std::chrono::year_month_day{std::chrono::year(static_cast<int>(number(0, 4))),
                                            std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2))}
                    .ok();
    if (!good) fail("'date' is '" + text + "', no day such as 2026-11-22");
    return text;
  }

  void read_rows(PhaseTable& phases) const {
    LearnedJson const& rows = member(root_, "instructions", "");
    if (!rows.is_object() || rows.empty())
      fail("'instructions' is no JSON object with an entry for each instruction");
    static std::map<std::string, std::pair<Operation, int>> const known{
        {"ld.shared.b32", {Operation::ld_shared, 0}},  {"ld.shared.b64", {Operation::ld_shared, 1}},
        {"ld.shared.b128", {Operation::ld_shared, 2}}, {"st.shared.b32", {Operation::st_shared, 0}},
        {"st.shared.b64", {Operation::st_shared, 1}},  {"st.shared.b128", {Operation::st_shared, 2}},
        {"ldmatrix", {Operation::ldmatrix, -1}},       {"stmatrix", {Operation::stmatrix, -1}},
        {"cp.async.b32", {Operation::cp_async, 0}},    {"cp.async.b64", {Operation::cp_async, 1}},
        {"cp.async.b128", {Operation::cp_async, 2}}};
    std::vector<std::string> names;
    for (auto const& [name, where] : known) names.push_back(name);
    for (auto const& [name, row] : rows.items()) {
      auto const found = known.find(name);
      if (found == known.end())
        fail(fmt::format("'instructions' has {}; {}", quoted_key(name),
                         did_you_mean_of(name, names, fmt::format("known: {}", fmt::join(names, ", ")))));
      auto const [operation, width] = found->second;
      Phase const phase = read_row(row, name);
      auto& widths = phases[static_cast<std::size_t>(operation)];
      if (width >= 0) widths[static_cast<std::size_t>(width)] = phase;
      if (width < 0) widths = {phase, phase, phase};
    }
    for (auto const& [name, where] : known) {
      auto const [operation, width] = where;
      bool const some = std::any_of(phases[static_cast<std::size_t>(operation)].begin(),
                                    phases[static_cast<std::size_t>(operation)].end(),
                                    [](Phase const& p) { return p.lanes != 0; });
      bool const needed = operation == Operation::ld_shared || operation == Operation::st_shared || some;
      if (needed && !rows.contains(name)) fail("'instructions' has no " + name);
    }
  }

  Phase read_row(LearnedJson const& row, std::string const& name) const {
    if (!row.is_object()) fail("'" + name + "' is no JSON object");
    std::vector<std::string> const known{"lanes",       "merged_lanes", "partners",
                                         "equal_words", "idle_phases",  "order"};
    for (auto const& [key, value] : row.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(fmt::format("{} is no field; {}", field(key, name),
                         did_you_mean_of(key, known, fmt::format("known: {}", fmt::join(known, ", ")))));
    Phase phase;
    phase.lanes = power_of_two(row, "lanes", name, warp_lanes / most_phases, warp_lanes);
    if (integer(row, "merged_lanes", name, 0, warp_lanes) != 0) {
      phase.merged_lanes = power_of_two(row, "merged_lanes", name, 1, warp_lanes);
      if (phase.merged_lanes <= phase.lanes) fail(field("merged_lanes", name) + " is not more than 'lanes'");
    }
    phase.by_lane = one_of(row, "equal_words", name, "once", "each lane") == "each lane";
    phase.pays_idle = one_of(row, "idle_phases", name, "paid", "free") == "paid";
    LearnedJson const& partners = member(row, "partners", name);
    if (!partners.is_array()) fail(field("partners", name) + " is no list");
    unsigned bits = 0;
    for (LearnedJson const& partner : partners) {
      bool const good = partner.is_number_unsigned() && partner.get<std::uint64_t>() < warp_lanes &&
                        std::has_single_bit(partner.get<std::uint64_t>());
      if (!good)
        fail(fmt::format("{} has {}, none of 1, 2, 4, 8, 16", field("partners", name),
                         partner.is_number() ? partner.dump() : partner.type_name()));
      bits |= partner.get<unsigned>();
    }
    if ((bits != 0) != (phase.merged_lanes != 0))
      fail(field("partners", name) + " must name some where 'merged_lanes' is not 0, and none where it is");
    if (bits != 0) phase.partners = bits;
    read_order(phase, row, name);
    return phase;
  }

  void read_order(Phase& phase, LearnedJson const& row, std::string const& name) const {
    auto const order = row.find("order");
    if (order == row.end()) return;
    std::array<bool, warp_lanes> met{};
    bool good = order->is_array() && order->size() == warp_lanes;
    for (std::size_t i = 0; good && i < warp_lanes; ++i) {
      LearnedJson const& lane = (*order)[i];
      good = lane.is_number_unsigned() && lane.get<std::uint64_t>() < warp_lanes &&
             !met[lane.get<std::size_t>()];
      if (!good) break;
      phase.order[i] = lane.get<std::uint8_t>();
      met[phase.order[i]] = true;
      phase.in_order = phase.in_order && phase.order[i] == i;
    }
    if (!good) fail(field("order", name) + " is no list of the 32 lanes, each once");
  }

  std::string name_;
  LearnedJson root_;
};

}  // namespace

Architecture const& read_architecture(std::string const& text, std::string const& name) {
  // Verdicts refer to their architecture, so that each that was read stays, once.
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::unique_ptr<Learned>> known;
  std::unique_ptr<Learned> read = TableReader(text, name).read();
  std::lock_guard const lock(mutex);
  auto& slot = known[{name, text}];
  if (!slot) slot = std::move(read);
  return *slot->arch;
}

}  // namespace swizproof
