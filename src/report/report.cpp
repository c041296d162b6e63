#include "report/report.hpp"

#include "report/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace swizproof {

Style::Style(std::string_view when, int file_descriptor, bool brief)
    : colored_(when == "always" ||
               (when == "auto" && isatty(file_descriptor) != 0 && std::getenv("NO_COLOR") == nullptr)),
      brief_(brief) {}

std::string Style::paint(std::string_view code, std::string_view text) const {
  return colored_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string Style::outcome(Outcome const& outcome) const {
  std::string_view const text = name(outcome);
  if (std::holds_alternative<Proved>(outcome)) return good(text);
  return std::holds_alternative<Refuted>(outcome) ? bad(text) : doubtful(text);
}

std::string describe(InputError const& error, Style const& style) {
  std::string message = error.message;  // which may quote a file or a word of the command line
  for (char& c : message)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return fmt::format("{} {}\n{}", style.bad("swizproof: error:"), message, marked(error, style));
}

namespace {

/// A text as a terminal shows it, and the columns that it takes: `?` for control characters and for bytes that are no UTF-8.
std::pair<std::string, std::size_t> in_columns(std::string_view text) {
  std::string shown;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    auto const byte = static_cast<unsigned char>(text[i]);
    std::size_t const bytes = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
    std::uint32_t code = bytes == 0 ? 0 : byte & (0xffU >> (bytes == 1 ? 1 : bytes + 1));
    bool valid = bytes != 0 && i + bytes <= text.size();
    for (std::size_t k = 1; valid && k < bytes; ++k) {
      auto const more = static_cast<unsigned char>(text[i + k]);
      valid = (more & 0xc0) == 0x80;
      code = code << 6 | (more & 0x3fU);
    }
    bool const control = code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
                         (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f;
    if (!valid || control) {
      shown += '?', ++columns, i += valid ? bytes : 1;
      continue;
    }
    bool const wide =
        (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xffe7 && code != 0xfeff);
    shown += text.substr(i, bytes), columns += wide ? 2 : 1, i += bytes;
  }
  return {std::move(shown), columns};
}

}  // namespace

std::string marked(InputError const& error, Style const& style, int indent) {
  std::string text;
  if (!error.input.empty()) {
    // Long input is cut to a window around the place; control characters would move the caret.
    constexpr std::size_t before = 60, width = 100;
    std::string_view const input = error.input;
    auto const whole = [&](std::size_t i) {  // the start of the character that byte i is of
      while (i > 0 && i < input.size() && (static_cast<unsigned char>(input[i]) & 0xc0) == 0x80) --i;
      return std::min(i, input.size());
    };
    std::size_t const at = whole(error.at);
    std::size_t const from = whole(at > before ? at - before : 0), end = whole(from + width);
    std::string const lead = from > 0 ? "..." : "", tail = end < input.size() ? "..." : "";
    auto const [before_it, skipped] = in_columns(input.substr(from, at - from));
    std::size_t const length = std::clamp<std::size_t>(error.length, 1, std::max<std::size_t>(end - at, 1));
    auto const [marked_part, marks] = in_columns(input.substr(at, length));
    auto const [behind_it, ignored] =
        in_columns(input.substr(std::min(at + length, end), end - std::min(at + length, end)));
    text += fmt::format("{:{}}{}{}{}{}{}\n{:{}}{}{}\n", "", indent, lead, before_it, marked_part, behind_it,
                        tail, "", indent, std::string(lead.size() + skipped, ' '),
                        style.good(std::string(std::max<std::size_t>(marks, 1), '^')));
  }
  if (!error.hint.empty()) text += fmt::format("{:{}}{}\n", "", indent, error.hint);
  return text;
}

nlohmann::ordered_json to_json(InputError const& error) {
  nlohmann::ordered_json out{{"message", error.message}, {"input", nullptr}, {"at", nullptr}};
  if (!error.input.empty()) {
    out["input"] = error.input;
    out["at"] = std::min(error.at, error.input.size());
    out["length"] = error.length;
  }
  if (!error.hint.empty()) out["hint"] = error.hint;
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const byte = static_cast<unsigned char>(text[i]);
    bool const second = i + 1 < text.size() && byte == 0xc2;  // C1 controls have two bytes: c2 80 to c2 9f
    bool const c1 = second && static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                    static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    else if (byte < ' ' || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += text[i];
  }
  return out;
}

std::string describe(Refuted const& refuted) {
  std::string text;
  for (auto const& [name, value] : refuted.values) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, static_cast<std::int64_t>(value));
    if (value > 9) text += fmt::format(" ({:#x})", value);
  }
  return text;
}

std::string duration(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  return fmt::format("{:.1f} s", seconds);
}

std::string wrapped(std::string const& text, std::size_t indent, std::size_t width) {
  std::istringstream words(text);
  std::string out, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) {
      out += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line;
}

std::string runs_of(std::span<unsigned const> numbers, std::string_view to) {
  std::string text;
  for (std::size_t i = 0, end = 0; i < numbers.size(); i = end) {
    for (end = i + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (end - i > 1) text += fmt::format("{}{}", to, numbers[end - 1]);
  }
  return text;
}

nlohmann::ordered_json to_json(Refuted const& refuted) {
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (auto const& [name, value] : refuted.values) values[name] = value;
  return {{"question", refuted.question}, {"values", values}};
}

std::string in_table(std::string text) {
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    code = code != (text[i] == '`');
    bool const tag = text[i] == '<' && !code && i + 1 < text.size() &&
                     std::isalpha(static_cast<unsigned char>(text[i + 1])) != 0;
    if (text[i] == '|' || tag) text.insert(i++, 1, '\\');
  }
  return text;
}

std::string names_of(std::span<Engine const> engines) {
  std::string text;
  for (Engine const e : engines) text += (text.empty() ? "" : ", ") + std::string(name(e));
  return text;
}

nlohmann::ordered_json list_of(std::span<Engine const> engines) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (Engine const e : engines) list.push_back(name(e));
  return list;
}

std::string describe(Collision const& collision, int indent, Style const& style, std::string_view where,
                     std::span<ElementAtFault const> elements) {
  constexpr std::size_t shown = 8;
  std::vector<CollidingLane> const& all = collision.lanes;
  bool const has_elements = !elements.empty() && !elements.front().coordinate.empty();
  bool const is_swizzled = std::any_of(elements.begin(), elements.end(),
                                       [](ElementAtFault const& e) { return e.offset != e.swizzled; });
  auto const offset = [&](ElementAtFault const& e) {
    return is_swizzled ? fmt::format("{} -> {}", e.offset, e.swizzled) : fmt::format("{}", e.offset);
  };
  std::string lanes, addresses, lines;
  for (std::size_t i = 0; i < std::min(all.size(), shown); ++i) {
    lanes += fmt::format(" {:>7}", all[i].lane);
    addresses += fmt::format(" {:>#7x}", all[i].address);
    if (has_elements)
      lines += fmt::format("{:{}}  lane {:>2}  ({})  offset {}  address {:#x}  word {}\n", "", indent,
                           all[i].lane, fmt::join(elements[i].coordinate, ","), offset(elements[i]),
                           all[i].address, all[i].word);
  }
  std::string const more = all.size() > shown ? fmt::format("  and {} more lanes", all.size() - shown) : "";
  std::string const first =
      fmt::format("{:{}}phase {}, bank {}: {} {}{}\n", "", indent, collision.phase, collision.bank,
                  all.size(), collision.by_lane ? "lanes, each for itself" : "different words",
                  where.empty() ? "" : fmt::format(" ({})", where));
  if (style.brief()) return first;
  if (has_elements) return first + lines + (more.empty() ? "" : fmt::format("{:{}}{}\n", "", indent, more));
  return first +
         fmt::format("{0:{1}}  lane    {2}{3}\n{0:{1}}  address {4}\n", "", indent, lanes, more, addresses);
}

std::string describe(WorstCost const& cost, int indent, Style const& style) {
  std::string where;
  for (auto const& [name, value] : cost.origin.variables) where += fmt::format("{} = {}, ", name, value);
  return describe(cost.collision, indent, style, where + fmt::format("base {}", cost.origin.base),
                  cost.elements);
}

std::string footprint_line(AccessVerdict const& v, int indent) {
  if (!v.at_footprints) return {};
  auto const& [clause, wavefronts] = *v.at_footprints;
  if (v.cost() != nullptr && v.cost()->wavefronts == wavefronts)
    return fmt::format("{:{}}also at multiples of the footprint ('{}'); other positions cost less\n", "",
                       indent, clause);
  return fmt::format(
      "{:{}}at multiples of the footprint {} wavefront{}: '{}' behind the access narrows it to these\n", "",
      indent, wavefronts, wavefronts == 1 ? "" : "s", clause);
}

std::string next_step(AccessVerdict const& v, std::string_view rows) {
  auto const* const misfit = std::get_if<Misfit>(&v.found);
  if (misfit == nullptr) return {};
  constexpr std::string_view steps[] = {
      "let all lanes take part, or take an instruction of fewer matrices",
      "give a larger tile, or an access that stays inside it ('swizproof accesses' has the footprints)",
      "let each row, and each access in it, start at a multiple of the access's bytes",
      "give a tile in which each vector is contiguous, or an access of fewer bytes"};
  return fmt::format("         next: {}{}\n", steps[static_cast<std::size_t>(misfit->fault)],
                     misfit->fault == Fault::misaligned ? rows : "");
}

namespace {

/// `         for i = 0..31; every base that is a multiple of 16`
std::string domain_line(AccessVerdict const& v, Style const& style) {
  return style.brief() ? "" : fmt::format("         for {}\n", v.domain);
}

std::string describe_cost(AccessVerdict const& v, Style const& style, bool is_best) {
  WorstCost const& cost = *v.cost();
  std::string text = fmt::format("         {} wavefront{} in the worst case, ideal {}", cost.wavefronts,
                                 cost.wavefronts == 1 ? "" : "s", v.ideal);
  if (v.excess() > 0) text += fmt::format(", excess {}", v.excess());
  if (!is_best && v.allowed != v.ideal) text += fmt::format(", {} allowed", v.allowed);
  bool const idle = std::find(cost.degree.begin(), cost.degree.end(), 0U) != cost.degree.end();
  text += fmt::format("; degree {}{}\n", fmt::join(cost.degree, " "),
                      idle ? " (at least one for each phase)" : "") +
          domain_line(v, style) + footprint_line(v, 9);
  if (cost.coverage && cost.coverage->reached < cost.coverage->of)
    text += fmt::format("         reaches {} of the tile's {} bytes{}\n", cost.coverage->reached,
                        cost.coverage->of, v.narrowed ? "" : "; add 'for i in 0..N' to cover more positions");
  if (cost.lost)
    text += fmt::format("         lanes {} and {} store to one byte: one value is lost\n", cost.lost->first,
                        cost.lost->second);
  Outcome const outcome = v.outcome();
  auto const* const refuted = std::get_if<Refuted>(&outcome);
  if (refuted == nullptr) return text;
  if (cost.has_conflict()) return text + describe(cost, 9, style);
  return text + fmt::format("         no bank conflict: the access needs {} wavefronts ({})\n",
                            cost.wavefronts, describe(*refuted));
}

}  // namespace

std::string describe(AccessVerdict const& v, Style const& style, bool is_best) {
  Outcome const outcome = v.outcome();
  bool const remains = is_best && std::holds_alternative<Proved>(outcome) && v.excess() > 0;
  std::string const word =
      remains ? "conflict" : style.outcome(outcome) + std::string(8 - name(outcome).size(), ' ');
  std::string const first = fmt::format("{} {}\n", word, style.strong(v.title));
  if (v.cost() != nullptr) return first + describe_cost(v, style, is_best);
  if (auto const* unknown = std::get_if<Unknown>(&outcome))
    return first + fmt::format("         {}\n", unknown->reason) + domain_line(v, style);
  Refuted const& refuted = std::get<Refuted>(outcome);
  if (std::holds_alternative<LostStore>(v.found))
    return first + fmt::format("         {}: {}\n", refuted.question, describe(refuted));
  return first +
         fmt::format("         it does not fit: {}\n         {}\n", refuted.question, describe(refuted)) +
         domain_line(v, style) + footprint_line(v, 9);
}

namespace {

using Json = nlohmann::ordered_json;

Json values_json(std::span<std::pair<std::string, std::uint64_t> const> values) {
  Json out = Json::object();
  for (auto const& [name, value] : values) out[name] = value;
  return out;
}

/// Keys that every case but Unknown has.
void add_common(Json& out, AccessVerdict const& v) {
  out["ideal"] = v.ideal;
  out["at_most"] = v.allowed;
  out["domain"] = v.domain;
  out["engines"] = list_of(v.engines);
  out["evidence"] = name(v.support);
  if (!v.at_footprints) return;
  out["at_footprints"] = {{"clause", v.at_footprints->clause}, {"wavefronts", v.at_footprints->wavefronts}};
}

/// The worst case: the lanes of its fullest bank; none where no two collide.
Json counterexample(WorstCost const& cost) {
  Json out{{"origin", values_json(cost.origin.variables)}, {"base", cost.origin.base}};
  if (cost.has_conflict())
    out.update(to_json(cost.collision, cost.elements));
  else
    out["lanes"] = Json::array();
  return out;
}

void add(Json& out, AccessVerdict const& v, WorstCost const& cost) {
  out["wavefronts"] = cost.wavefronts;
  out["excess"] = v.excess();
  out["degree"] = cost.degree;
  add_common(out, v);
  out["total"] = cost.total ? Json(*cost.total) : Json();
  out["coverage"] =
      cost.coverage ? Json{{"reached", cost.coverage->reached}, {"of", cost.coverage->of}} : Json();
  out["lost_store"] = cost.lost ? Json{cost.lost->first, cost.lost->second} : Json();
  out["counterexample"] = cost.wavefronts > v.allowed ? counterexample(cost) : Json();
}

void add(Json& out, AccessVerdict const& v, Misfit const& misfit) {
  add_common(out, v);
  out["counterexample"] = {{"origin", values_json(misfit.origin.variables)},
                           {"base", misfit.origin.base},
                           {"lane", misfit.lane},
                           {"reason", misfit.why}};
}

void add(Json& out, AccessVerdict const& v, LostStore const& lost) {
  add_common(out, v);
  out["counterexample"] = values_json(lost.values);
}

void add(Json& out, AccessVerdict const& v, Unknown const&) {
  out["domain"] = v.domain;
  out["evidence"] = name(v.support);
}

constexpr std::string_view kind_of(AccessVerdict const& v) {
  constexpr std::array<std::string_view, 4> kinds{"unknown", "cost", "misfit", "lost_store"};
  return kinds[v.found.index()];
}

}  // namespace

nlohmann::ordered_json to_json(Collision const& collision, std::span<ElementAtFault const> elements) {
  Json lanes = Json::array();
  for (std::size_t i = 0; i < collision.lanes.size(); ++i) {
    CollidingLane const& at = collision.lanes[i];
    Json& lane = lanes.emplace_back(Json{{"lane", at.lane}});
    if (!elements.empty()) {
      lane["coordinate"] = elements[i].coordinate;
      lane["offset"] = elements[i].offset;
      lane["swizzled_offset"] = elements[i].swizzled;
    }
    lane["address"] = at.address;
    lane["word"] = at.word;
  }
  return {{"phase", collision.phase},
          {"bank", collision.bank},
          {"by_lane", collision.by_lane},
          {"lanes", std::move(lanes)}};
}

nlohmann::ordered_json to_json(AccessVerdict const& v) {
  Outcome const outcome = v.outcome();
  Json out{{"access", v.access}, {"verdict", name(outcome)}, {"kind", kind_of(v)}};
  if (auto const* unknown = std::get_if<Unknown>(&outcome))
    out["reason"] = unknown->reason;
  else if (v.cost() == nullptr)
    out["reason"] = std::get<Refuted>(outcome).question;
  std::visit([&](auto const& found) { add(out, v, found); }, v.found);
  return out;
}

std::string evidence_footer(std::span<AccessVerdict const> accesses, Architecture const& arch,
                            Style const& style) {
  if (style.brief()) return certainty_footer(arch, style);
  std::vector<Engine> engines;
  for (AccessVerdict const& v : accesses) add_engines(engines, v.engines);
  std::string const by = engines.empty() ? "" : style.faint(names_of(engines) + "; ");
  return "\n" + style.faint("evidence: ") + by + style.faint("bank model of ") + certainty_line(arch, style) +
         "\n";
}

std::string certainty_footer(Architecture const& arch, Style const& style) {
  if (style.brief() && arch.support == Support::measured) return {};
  return fmt::format("{}{}\n", style.gap(), certainty_line(arch, style));
}

std::string certainty_line(Architecture const& arch, Style const& style) {
  std::string const text = certainty(arch);
  return arch.support == Support::measured ? style.faint(text) : style.doubtful(text);
}

std::string junit_xml(std::string_view suite, std::span<JUnitCase const> cases, std::string_view certainty) {
  std::size_t failures = 0, errors = 0;
  double seconds = 0;
  std::string body;
  for (JUnitCase const& c : cases) {
    seconds += c.seconds;
    auto const add = [&](std::string_view element, std::string const& message) {
      body += fmt::format(">\n    <{} message=\"{}\">{}</{}>\n  </testcase>\n", element, in_xml(message),
                          in_xml(c.detail), element);
    };
    body += fmt::format("  <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\"", in_xml(c.name),
                        in_xml(c.source), c.seconds);
    auto const* refuted = std::get_if<Refuted>(&c.outcome);
    auto const* unknown = std::get_if<Unknown>(&c.outcome);
    if (!c.error.empty())
      ++errors, add("error", "bad input: " + c.error);
    else if (refuted != nullptr)
      ++failures, add("failure", "refuted: " + refuted->question +
                                     (refuted->values.empty() ? "" : ": " + describe(*refuted)));
    else if (unknown != nullptr)
      ++errors, add("error", "unknown: " + unknown->reason);
    else
      body += "/>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n{}{}</testsuite>\n</testsuites>\n",
      in_xml(suite), cases.size(), failures, errors, seconds,
      certainty.empty() ? ""
                        : fmt::format("  <properties>\n    <property name=\"certainty\" value=\"{}\"/>\n"
                                      "  </properties>\n",
                                      in_xml(certainty)),
      body);
}

}  // namespace swizproof
