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

std::string quoted(std::string const& text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c < ' ' ? ' ' : c;
  }
  return out + '"';
}

}  // namespace swizproof::gpu
