#include "system/source.hpp"

#include "system/whole_file.hpp"

#include <swizproof/core/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace swizproof {

namespace {

namespace files = std::filesystem;

constexpr std::size_t most_folders = 16, most_tails = 64;
constexpr std::size_t mebibytes_of_a_source = 16, bytes_of_sources = std::size_t{64} << 20;
constexpr std::size_t longest_path = 4096, longest_source_line = 400;

/// The path and what is left of it without its first folders, the longest first. Nothing in them leads upwards.
std::vector<files::path> tails_of(std::string const& name) {
  std::vector<files::path> parts;
  for (files::path const& part : files::path(name).lexically_normal().relative_path())
    if (part != ".." && !part.empty()) parts.push_back(part);
  std::vector<files::path> tails;
  for (std::size_t from = parts.size() > most_tails ? parts.size() - most_tails : 0; from < parts.size();
       ++from) {
    files::path tail;
    for (std::size_t i = from; i < parts.size(); ++i) tail /= parts[i];
    tails.push_back(std::move(tail));
  }
  return tails;
}

/// A device or a pipe could be read for ever.
bool is_source(files::path const& path) {
  std::error_code error;
  return files::is_regular_file(path, error);
}

/// Path at which a file is read; the path itself if it is nowhere else.
std::string find_source(std::vector<std::string> const& folders, std::string const& name) {
  for (files::path const& tail : folders.empty() ? std::vector<files::path>() : tails_of(name))
    for (std::string const& folder : folders)
      if (files::path path = folder / tail; is_source(path)) return path.string();
  return name;
}

std::vector<std::uint32_t> starts_of(std::string_view text) {
  std::vector<std::uint32_t> starts;
  for (std::size_t at = 0; at < text.size();) {
    starts.push_back(static_cast<std::uint32_t>(at));
    std::size_t const end = text.find('\n', at);
    at = end == text.npos ? text.size() : end + 1;
  }
  return starts;
}

/// Reads a file, or says why it is not read.
SourceFile read_source(std::string const& name, std::string const& path, std::size_t left) {
  SourceFile file{name, {}, {}, {}, {}};
  std::error_code error;
  if (path.size() > longest_path || !files::exists(path, error))
    file.reason = "it is not on this machine";
  else if (!is_source(path))
    file.reason = "it is no regular file";
  if (!file.reason.empty()) return file;
  try {
    file.text = read_file(path, mebibytes_of_a_source);
  } catch (InputError const& refused) {
    file.reason = refused.message;
  }
  if (file.text.find('\0') != file.text.npos) file.reason = "it is no text";
  if (file.text.size() > left) file.reason = "the sources are larger than 64 MiB in all";
  if (!file.reason.empty()) {
    file.text.clear();
    return file;
  }
  file.path = path;
  file.starts = starts_of(file.text);
  return file;
}

}  // namespace

std::string trimmed(std::string const& line) {
  constexpr char const* blanks = " \t\r";
  std::size_t const first = line.find_first_not_of(blanks);
  return first == line.npos ? "" : line.substr(first, line.find_last_not_of(blanks) + 1 - first);
}

std::optional<std::string> SourceFile::line(std::uint64_t number) const {
  if (number == 0 || number > starts.size()) return std::nullopt;
  std::string_view const from = std::string_view(text).substr(starts[number - 1]);
  std::string_view line = from.substr(0, from.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() <= longest_source_line) return std::string(line);
  std::size_t most = longest_source_line;  // not within a character of UTF-8
  while (most > longest_source_line - 4 && (static_cast<unsigned char>(line[most]) & 0xC0) == 0x80) --most;
  return std::string(line.substr(0, most)) + "...";
}

Sources::Sources(std::vector<std::string> folders) : folders_(std::move(folders)) {
  if (folders_.size() > most_folders)
    throw InputError{fmt::format("more than {} folders of sources", most_folders), "--source", 0, 8, {}};
  for (std::string const& folder : folders_) {
    std::error_code error;
    if (!files::is_directory(folder, error))
      throw InputError::whole("there is no such folder", folder,
                              "--source names a folder to look for the sources in");
  }
}

SourceFile const& Sources::file(std::string const& name) {
  auto const [entry, fresh] = files_.try_emplace(name);
  if (!fresh) return entry->second;
  entry->second = read_source(name, find_source(folders_, name), bytes_of_sources - bytes_);
  bytes_ += entry->second.text.size();
  return entry->second;
}

}  // namespace swizproof
