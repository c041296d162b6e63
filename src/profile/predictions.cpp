#include "profile/predictions.hpp"

#include "profile/requests.hpp"
#include "report/report.hpp"

#include <swizproof/hardware/certainty.hpp>
#include <swizproof/hardware/collision.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace swizproof {

namespace {

constexpr std::size_t longest_line = 1 << 20;
constexpr std::size_t most_dropped = std::size_t{1} << 32;  // of one line; then the input is no text

/// Reads a stream by lines in large blocks. Every line is followed by the padding that its reader needs.
/// A line longer than the limit comes back empty, and marked; one that is longer than any text ends the input.
class Lines {
 public:
  explicit Lines(std::FILE* file) : file_(file), buffer_(2 * longest_line + RequestReader::padding) {}

  /// The next line without its newline; false at the end. `too_long` says that the rest was dropped.
  bool next(char*& line, std::size_t& length, bool& too_long) {
    too_long = false;
    while (true) {
      void* const newline = std::memchr(buffer_.data() + from_, '\n', to_ - from_);
      std::size_t const have = to_ - from_;
      if (newline != nullptr || (ended_ && have > 0)) {
        line = buffer_.data() + from_;
        char* const end = newline != nullptr ? static_cast<char*>(newline) : buffer_.data() + to_;
        length = static_cast<std::size_t>(end - line);
        from_ += length + (newline != nullptr ? 1 : 0);
        if (dropping_) {  // the tail of a line that was already answered
          dropping_ = false;
          dropped_ = 0;
          continue;
        }
        too_long = length > longest_line;
        return true;
      }
      if (ended_) return false;
      if (have > longest_line) {
        from_ = to_ = 0;
        dropped_ += have;
        if (dropped_ > most_dropped) endless_ = ended_ = true;
        if (dropping_) continue;
        dropping_ = too_long = true;
        length = 0;
        return true;
      }
      std::memmove(buffer_.data(), buffer_.data() + from_, have);
      from_ = 0;
      std::size_t const got = std::fread(buffer_.data() + have, 1, 2 * longest_line - have, file_);
      to_ = have + got;
      ended_ = got == 0;
    }
  }
  [[nodiscard]] bool failed() const { return std::ferror(file_) != 0; }
  [[nodiscard]] bool endless() const { return endless_; }

 private:
  std::FILE* file_;
  std::vector<char> buffer_;
  std::size_t from_ = 0, to_ = 0, dropped_ = 0;
  bool ended_ = false, dropping_ = false, endless_ = false;
};

/// Every bank in which a phase's lanes collide.
void explain(fmt::memory_buffer& out, Request const& request, Phases phases) {
  nlohmann::ordered_json conflicts = nlohmann::ordered_json::array();
  for (unsigned p = 0; p < phases.count; ++p)
    for (Collision const& collision : collisions(request.instruction, request.access, phases, p))
      conflicts.push_back(to_json(collision));
  fmt::format_to(std::back_inserter(out), ", \"conflicts\": {}", json_text(conflicts));
}

/// Cost of a request, and its ideal.
struct Prediction {
  Cost<std::uint32_t> cost;
  unsigned ideal;
};

Prediction predict(Architecture const& arch, Request const& request) {
  return {cost(arch, request.instruction, request.access), ideal_wavefronts(arch, request.instruction)};
}

/// Appends a prediction as JSON, but for the end of the object. By hand: a general formatter takes longer than the cost model.
void append(fmt::memory_buffer& out, Prediction const& prediction) {
  std::array<char, 256> text;  // four names, eleven numbers
  char* end = text.data();
  auto const add = [&](std::string_view words, unsigned number) {
    end = std::copy(words.begin(), words.end(), end);
    fmt::format_int const digits(number);
    end = std::copy_n(digits.data(), digits.size(), end);
  };
  auto const& [wavefronts, degree, phases] = prediction.cost;
  add("{\"wavefronts\": ", wavefronts);
  add(", \"ideal\": ", prediction.ideal);
  add(", \"excess\": ", excess_over(prediction.ideal, wavefronts));
  for (unsigned p = 0; p < phases.count; ++p) add(p == 0 ? ", \"degree\": [" : ", ", degree[p]);
  *end++ = ']';
  out.append(text.data(), end);
}

/// Appends the answer to one line; false if the line is bad. `alone`: no document around it says what the cost model rests on.
bool answer(fmt::memory_buffer& out, Architecture const& arch, std::variant<Request, LineError> const& line,
            std::size_t number, bool explaining, bool alone) {
  if (auto const* error = std::get_if<LineError>(&line)) {
    fmt::format_to(std::back_inserter(out), "{{\"error\": {}, \"line\": {}}}", json_text(error->message),
                   number);
    return false;
  }
  Request const& request = std::get<Request>(line);
  if (!has(arch, request.instruction)) {
    fmt::format_to(std::back_inserter(out), "{{\"error\": {}, \"line\": {}}}",
                   json_text(fmt::format("{} has no {}", arch.name, to_string(request.instruction))), number);
    return false;
  }
  Prediction const prediction = predict(arch, request);
  append(out, prediction);
  if (explaining) explain(out, request, prediction.cost.phases);
  if (alone && arch.support != Support::measured)
    fmt::format_to(std::back_inserter(out), ", \"evidence\": \"{}\"",
                   name(support_of(arch, request.instruction.operation)));
  out.push_back('}');
  return true;
}

/// Buffered answers: they are delivered however the program ends.
class Answers {
 public:
  explicit Answers(std::FILE* out) : out_(out) {}
  Answers(Answers const&) = delete;
  Answers& operator=(Answers const&) = delete;
  ~Answers() { deliver(); }
  [[nodiscard]] fmt::memory_buffer& text() { return text_; }
  void deliver() {
    std::fwrite(text_.data(), 1, text_.size(), out_);
    text_.clear();
  }

 private:
  std::FILE* out_;
  fmt::memory_buffer text_{};
};

/// Reason why the input ended before its end.
std::optional<InputError> broken_off(Lines const& lines, std::string const& file) {
  if (lines.failed()) return InputError::whole("cannot read the input", file);
  if (lines.endless()) return InputError::whole("a line of the input does not end", file);
  return std::nullopt;
}

Answered answer_all(Lines& lines, Answers& answers, Architecture const& arch, PredictionStyle style) {
  RequestReader reader;
  Answered count;
  char* line = nullptr;
  std::size_t length = 0, number = 0;
  bool too_long = false;
  while (lines.next(line, length, too_long)) {
    std::string_view text(line, length);
    if (++number == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
    if (!too_long && text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (style.json) answers.text().append(std::string_view(count.all == 0 ? "{\"predictions\": [\n" : ",\n"));
    auto const request = too_long
                             ? std::variant<Request, LineError>(LineError{"the line is longer than 1 MiB"})
                             : reader.read(text.data(), text.size());
    if (!answer(answers.text(), arch, request, number, style.explain, !style.json)) ++count.bad;
    ++count.all;
    if (!style.json) answers.text().push_back('\n');
    if (answers.text().size() > 1 << 16) answers.deliver();
  }
  return count;
}

}  // namespace

Answered predict(std::FILE* input, std::string const& name, std::FILE* out, Architecture const& arch,
                 PredictionStyle style) {
  Lines lines(input);
  Answers answers(out);
  Answered count = answer_all(lines, answers, arch, style);
  count.broken_off = broken_off(lines, name);
  if (style.json && count.all > 0) {
    bool const whole = count.bad == 0 && !count.broken_off;
    fmt::format_to(std::back_inserter(answers.text()),
                   "\n], \"verdict\": \"{}\", \"evidence\": \"{}\", \"certainty\": {}",
                   whole ? "proved" : "unknown", swizproof::name(arch.support), json_text(certainty(arch)));
    if (count.broken_off)
      fmt::format_to(std::back_inserter(answers.text()),
                     ", \"error\": {{\"message\": {}, \"input\": {}, \"at\": 0}}",
                     json_text(count.broken_off->message), json_text(count.broken_off->input));
    answers.text().append(std::string_view("}\n"));
  }
  answers.deliver();
  return count;
}

}  // namespace swizproof
