#include "info.hpp"
#include "text.hpp"

#include <swizproof/hardware/architecture.hpp>

#include <algorithm>
#include <optional>

namespace swizproof::sass {

namespace {

constexpr std::size_t head = 4;  ///< bytes of an attribute before its values: format, kind, size
constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< of one attribute
constexpr std::uint64_t most_shared = std::uint64_t{1} << 24;

/// 0x10 or 16; nothing for an expression such as (.L_2 - .L_1).
std::optional<std::uint64_t> plain_number(std::string_view s) {
  return s.starts_with("0x") ? sass::number(s.substr(2), 16) : sass::number(s, 10);
}

/// `.zero` and 16 of `.zero 16`.
std::pair<std::string_view, std::string_view> directive(std::string_view s) {
  std::size_t const space = std::min(s.find_first_of(" \t"), s.size());
  return {s.substr(0, space), trimmed(s.substr(space))};
}

/// Rounds up to a power of two.
std::uint64_t rounded(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace

bool InfoReader::begin(std::string_view section) {
  constexpr std::string_view info = ".nv.info.", shared = ".nv.shared.", bank = ".nv.constant0.";
  section_ = section.starts_with(info)     ? Section::info
             : section.starts_with(shared) ? Section::shared
                                           : Section::none;
  attribute_.clear();
  if (section.starts_with(bank)) banks_.emplace(section.substr(bank.size()));
  if (section_ == Section::none) return false;
  of_ = &facts_[std::string(section.substr(section_ == Section::info ? info.size() : shared.size()))];
  if (section_ == Section::info)
    of_->known = true;
  else
    of_->shared_bytes = 0;
  return true;
}

std::string InfoReader::line(std::string_view s) {
  constexpr std::string_view attribute = "//----- nvinfo : ";
  if (section_ == Section::info) {
    if (!s.starts_with(attribute)) return data(s), "";
    std::string wrong = end_attribute();
    attribute_ = trimmed(s.substr(attribute.size()));
    return wrong;
  }
  auto const [name, rest] = directive(s);
  if (name != ".zero" && name != ".align") return {};
  auto const n = plain_number(rest);
  if (!n || *n > most_shared || (name == ".align" && (*n == 0 || (*n & (*n - 1)) != 0)))
    return "this size of shared memory is not read";
  if (name == ".zero") {
    *of_->shared_bytes += *n;
  } else {
    of_->shared_bytes = rounded(*of_->shared_bytes, *n);
    of_->shared_align = std::max(of_->shared_align, *n);
  }
  return *of_->shared_bytes > most_shared ? "this size of shared memory is not read" : "";
}

std::string InfoReader::end() {
  std::string wrong = section_ == Section::info ? end_attribute() : "";
  section_ = Section::none;
  return wrong;
}

/// Bytes of `/*0014*/ .byte 0x00, 0xf0`. Lengths and indices, which are expressions, count as 0.
void InfoReader::data(std::string_view s) {
  if (s.starts_with("/*")) s = trimmed(s.substr(std::min(s.find("*/"), s.size() - 2) + 2));
  auto const [name, rest] = directive(s);
  if (constexpr std::string_view index = "index@("; attribute_ == "EIATTR_EXTERNS" && rest.starts_with(index))
    of_->externs.emplace_back(rest.substr(index.size(), rest.find(')') - index.size()));
  std::size_t const size = name == ".byte"    ? 1
                           : name == ".short" ? 2
                           : name == ".word"  ? 4
                           : name == ".dword" ? 8
                                              : 0;
  if (name == ".zero")
    bytes_.resize(bytes_.size() + std::min<std::size_t>(plain_number(rest).value_or(0), 8));
  if (size == 0 || bytes_.size() > most_bytes) return;
  for (std::size_t from = 0; from <= rest.size();) {
    std::size_t const end = std::min(rest.find(',', from), rest.size());
    std::uint64_t value = plain_number(trimmed(rest.substr(from, end - from))).value_or(0);
    for (std::size_t k = 0; k < size; ++k, value >>= 8) bytes_.push_back(static_cast<std::uint8_t>(value));
    from = end + 1;
  }
}

std::uint64_t InfoReader::number(std::size_t at, std::size_t bytes) const {
  std::uint64_t value = 0;
  for (std::size_t k = bytes; k-- > 0;) value = value << 8 | bytes_[head + at + k];
  return value;
}

std::string InfoReader::end_attribute() {
  std::string const name = std::exchange(attribute_, {});
  bool const first = name == "EIATTR_KPARAM_INFO", second = name == "EIATTR_KPARAM_INFO_V2";
  bool const shape = name == "EIATTR_REQNTID" || name == "EIATTR_MAX_THREADS",
             bank = name == "EIATTR_PARAM_CBANK";
  std::size_t const needed = first || second || shape ? 12 : bank ? 8 : 0;
  std::string wrong;
  if (needed != 0 && bytes_.size() < head + needed) {
    wrong = name + " has too few bytes: the dump is cut off";
  } else if (first || second) {
    // Bits 18 to 31 of the last word of the first version are the size.
    std::uint64_t const size = first ? number(8, 4) >> 18 : number(8, 2);
    of_->parameters.push_back({static_cast<std::uint32_t>(number(4, 2)), number(6, 2), size});
  } else if (shape) {
    auto& to = name == "EIATTR_REQNTID" ? of_->reqntid : of_->maxntid;
    for (std::size_t k = 0; k < 3; ++k) to[k] = static_cast<std::uint32_t>(number(4 * k, 4));
    if (std::find(to.begin(), to.end(), 0U) != to.end()) wrong = name + " has a block without threads";
  } else if (bank) {
    of_->parameter_base = number(4, 2);
  } else if (name == "EIATTR_SYSCALL_OFFSETS") {
    for (std::size_t at = 0; head + at + 4 <= bytes_.size(); at += 4)
      of_->system_calls.push_back(static_cast<std::uint32_t>(number(at, 4)));
  }
  bytes_.clear();
  return wrong;
}

LaunchFacts InfoReader::facts(std::string const& kernel, unsigned arch) const {
  auto const found = facts_.find(kernel);
  if (found == facts_.end()) return {};
  LaunchFacts out = found->second;
  if (!out.known) return {};
  // A kernel that has none may lack the section; one that is cut off does, too.
  if (!out.shared_bytes && banks_.contains(kernel))
    out.shared_bytes = code_constants_of(arch).reserved_shared;
  if (!linked_) out.shared_bytes.reset();
  std::sort(out.parameters.begin(), out.parameters.end(),
            [](auto const& a, auto const& b) { return a.ordinal < b.ordinal; });
  std::uint64_t end = 0;
  out.listed = true;
  for (std::size_t k = 0; k < out.parameters.size(); ++k) {
    LaunchFacts::Parameter const& p = out.parameters[k];
    out.listed = out.listed && p.ordinal == k && p.offset >= end && p.bytes != 0;
    end = p.offset + p.bytes;
  }
  if (!out.listed) out.parameters.clear();
  return out;
}

}  // namespace swizproof::sass
