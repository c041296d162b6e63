#include "record.hpp"

#include <algorithm>
#include <cstdio>

namespace swizproof::gpu {

void Record::merge(Record const& other) {
  for (auto const& [key, value] : other.counts) counts[key] += value;
  for (auto const& [key, value] : other.longest) longest[key] = std::max(longest[key], value);
  for (auto const& [key, values] : other.rows)
    rows[key].insert(rows[key].end(), values.begin(), values.end());
}

// A line each: a kind, a key without blanks, a blank, the value.
std::string Record::text() const {
  std::string out;
  char number[64];
  for (auto const& [key, value] : counts) out += 'c' + key + ' ' + std::to_string(value) + '\n';
  for (auto const& [key, value] : longest) {
    std::snprintf(number, sizeof number, "%.17g", value);
    out += 'l' + key + ' ' + number + '\n';
  }
  for (auto const& [key, values] : rows)
    for (auto const& value : values) out += 'r' + key + ' ' + value + '\n';
  return out;
}

Record Record::parse(std::string const& text) {
  Record record;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = text.find('\n', at);
    std::size_t const blank = text.find(' ', at);
    std::string const key = text.substr(at + 1, blank - at - 1);
    std::string const value = text.substr(blank + 1, end - blank - 1);
    if (text[at] == 'c') record.counts[key] = std::stoull(value);
    if (text[at] == 'l') record.longest[key] = std::stod(value);
    if (text[at] == 'r') record.rows[key].push_back(value);
    at = end + 1;
  }
  return record;
}

namespace {

/// How many bytes the character of UTF-8 has that begins here; 0 where none does.
std::size_t character_at(std::string const& text, std::size_t at) {
  auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  std::size_t const length = byte(at) < 0x80   ? 1
                             : byte(at) < 0xc2 ? 0
                             : byte(at) < 0xe0 ? 2
                             : byte(at) < 0xf0 ? 3
                             : byte(at) < 0xf5 ? 4
                                               : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0U) != 0x80U) return 0;
  if ((byte(at) == 0xe0 && byte(at + 1) < 0xa0) || (byte(at) == 0xed && byte(at + 1) > 0x9f) ||
      (byte(at) == 0xf0 && byte(at + 1) < 0x90) || (byte(at) == 0xf4 && byte(at + 1) > 0x8f))
    return 0;
  return length;
}

}  // namespace

std::string quoted(std::string const& text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const length = character_at(text, at);
    if (length == 1 && (text[at] == '"' || text[at] == '\\')) out += '\\';
    if (length == 0)
      out += '?';
    else if (length == 1 && static_cast<unsigned char>(text[at]) < ' ')
      out += ' ';
    else
      out += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return out + '"';
}

}  // namespace swizproof::gpu
