#include "report/report.hpp"

#include "report/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace swizproof {

Style::Style(std::string_view when, int file_descriptor)
    : colored_(when == "always" ||
               (when == "auto" && isatty(file_descriptor) != 0 && std::getenv("NO_COLOR") == nullptr)) {}

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

std::string marked(InputError const& error, Style const& style, int indent) {
  std::string text;
  if (!error.input.empty()) {
    // Long input is cut to a window around the place; control characters would move the caret.
    constexpr std::size_t before = 60, width = 100;
    std::size_t const at = std::min(error.at, error.input.size());
    std::size_t const from = at > before ? at - before : 0;
    std::string shown = error.input.substr(from, width);
    for (char& c : shown)
      if (c < ' ' || c > '~') c = '?';  // control characters and bytes of other alphabets
    std::string const lead = from > 0 ? "..." : "";
    std::string const tail = from + width < error.input.size() ? "..." : "";
    std::size_t const marks = std::clamp<std::size_t>(error.length, 1, width - (at - from));
    text += fmt::format("{:{}}{}{}{}\n{:{}}{}{}\n", "", indent, lead, shown, tail, "", indent,
                        std::string(lead.size() + at - from, ' '), style.good(std::string(marks, '^')));
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

std::string describe(Conflict const& conflict, int indent) {
  std::string at;
  for (auto const& [name, value] : conflict.origin) at += fmt::format("{} = {}, ", name, value);
  std::string text =
      fmt::format("{:{}}phase {}, bank {}: {} {} ({}base {})\n", "", indent, conflict.phase, conflict.bank,
                  conflict.lanes.size(), conflict.by_lane ? "lanes, each for itself" : "different words", at,
                  conflict.base);
  constexpr std::size_t shown = 8;
  for (std::size_t i = 0; i < conflict.lanes.size(); ++i) {
    if (i == shown) {
      text += fmt::format("{:{}}  and {} more lanes\n", "", indent, conflict.lanes.size() - shown);
      break;
    }
    LaneAtFault const& lane = conflict.lanes[i];
    text += fmt::format("{:{}}  lane {:>2}  ", "", indent, lane.lane);
    if (auto const& e = lane.element)
      text += fmt::format("({})  offset {} -> {}  ", fmt::join(e->coordinate, ","), e->offset, e->swizzled);
    text += fmt::format("address {:#x}  word {}\n", lane.address, lane.word);
  }
  return text;
}

std::string describe(AccessVerdict const& v, Style const& style) {
  std::string const pad(7 - name(v.outcome).size(), ' ');
  std::string text = fmt::format("{}{}  {}\n", style.outcome(v.outcome), pad, style.strong(v.title));
  if (auto const* unknown = std::get_if<Unknown>(&v.outcome))
    return text + fmt::format("         {}\n         for {}\n", unknown->reason, v.domain);
  auto const* const refuted = std::get_if<Refuted>(&v.outcome);
  if (v.misfit)
    return text + fmt::format("         it does not fit: {}  {}\n         {}\n         for {}\n",
                              refuted->question, style.faint(names_of(v.engines)), describe(*refuted),
                              v.domain);
  if (v.wavefronts == 0 && refuted != nullptr)
    return text + fmt::format("         {}: {}\n", refuted->question, describe(*refuted));
  text += fmt::format("         {} wavefront{} in the worst case, ideal {}", v.wavefronts,
                      v.wavefronts == 1 ? "" : "s", v.ideal);
  if (v.excess() > 0) text += fmt::format(", excess {}", v.excess());
  if (v.allowed != v.ideal) text += fmt::format(", {} allowed", v.allowed);
  text += fmt::format("; degree {}  {}\n         for {}\n", fmt::join(v.degree, " "),
                      style.faint(names_of(v.engines)), v.domain);
  if (v.coverage && v.coverage->reached < v.coverage->of)
    text += fmt::format("         reaches {} of the tile's {} bytes\n", v.coverage->reached, v.coverage->of);
  if (refuted == nullptr) return text;
  text += v.conflict ? describe(*v.conflict, 9)
                     : fmt::format("         no bank conflict: the access needs {} wavefronts ({})\n",
                                   v.wavefronts, describe(*refuted));
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

Json values_json(std::span<std::pair<std::string, std::uint64_t> const> values) {
  Json out = Json::object();
  for (auto const& [name, value] : values) out[name] = value;
  return out;
}

/// Colliding lanes; without a conflict, where fewer wavefronts are allowed than an access without a collision costs.
Json counterexample(AccessVerdict const& v, Refuted const& refuted) {
  Json lanes = Json::array();
  if (!v.conflict) {
    Json origin = values_json(refuted.values);
    std::uint64_t const base = origin["base"];
    origin.erase("base");
    return {{"origin", origin}, {"base", base}, {"lanes", lanes}};
  }
  for (LaneAtFault const& lane : v.conflict->lanes) {
    // Raw addresses are of bytes: their offsets are, too.
    auto const place = lane.element.value_or(
        ElementAtFault{{}, lane.byte, static_cast<std::int64_t>(lane.address - v.conflict->base)});
    lanes.push_back({{"lane", lane.lane},
                     {"coordinate", place.coordinate},
                     {"offset", place.offset},
                     {"swizzled_offset", place.swizzled},
                     {"address", lane.address},
                     {"word", lane.word}});
  }
  return {{"origin", values_json(v.conflict->origin)},
          {"base", v.conflict->base},
          {"phase", v.conflict->phase},
          {"bank", v.conflict->bank},
          {"lanes", lanes}};
}

/// Access without a cost: a lane does not fit, or there is nothing to cost.
void add_refusal(Json& out, AccessVerdict const& v, Refuted const& refuted) {
  out["reason"] = refuted.question;
  out["wavefronts"] = nullptr;
  out["ideal"] = v.ideal;
  out["at_most"] = v.allowed;
  out["domain"] = v.domain;
  out["engine"] = names_of(v.engines);
  out["evidence"] = name(v.support);
  if (v.misfit) {
    Json origin = values_json(refuted.values);
    origin.erase("base");
    out["counterexample"] = {
        {"origin", origin}, {"base", v.misfit->base}, {"lane", v.misfit->lane}, {"reason", v.misfit->why}};
  } else {
    out["counterexample"] = values_json(refuted.values);
  }
}

void add_cost(Json& out, AccessVerdict const& v) {
  out["wavefronts"] = v.wavefronts;
  out["ideal"] = v.ideal;
  out["excess"] = v.excess();
  out["at_most"] = v.allowed;
  out["degree"] = v.degree;
  out["domain"] = v.domain;
  out["engine"] = names_of(v.engines);
  out["evidence"] = name(v.support);
  out["total"] = nullptr;
  if (v.total) out["total"] = *v.total;
  out["coverage"] = nullptr;
  if (v.coverage) out["coverage"] = {{"reached", v.coverage->reached}, {"of", v.coverage->of}};
}

}  // namespace

nlohmann::ordered_json to_json(AccessVerdict const& v) {
  Json out{{"access", v.access}, {"verdict", name(v.outcome)}};
  if (auto const* unknown = std::get_if<Unknown>(&v.outcome)) {
    out["reason"] = unknown->reason;
    out["domain"] = v.domain;
    out["evidence"] = name(v.support);
    return out;
  }
  auto const* const refuted = std::get_if<Refuted>(&v.outcome);
  if (refuted != nullptr && v.wavefronts == 0) {
    add_refusal(out, v, *refuted);
    return out;
  }
  add_cost(out, v);
  out["counterexample"] = nullptr;
  if (refuted != nullptr) out["counterexample"] = counterexample(v, *refuted);
  return out;
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
