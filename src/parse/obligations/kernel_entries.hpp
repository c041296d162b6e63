// The [[kernel]] entries of a file of obligations.
#pragma once

#include "parse/obligations/toml_file.hpp"

#include <swizproof/ptx/module.hpp>
#include <swizproof/sass/module.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace swizproof {

/// A file of compiled code: one of the two is not null.
struct CompiledFile {
  std::shared_ptr<ptx::Module const> ptx{};
  std::shared_ptr<sass::Module const> sass{};  ///< a dump
};

/// Files that were read, by the path in the entries: each is read once.
using CompiledFiles = std::map<std::string, CompiledFile>;

/// Files that an entry's `ptx` names: itself, each .ptx below a folder, or those that a pattern with `*`, `?` and `**/` matches, in order; relative to the
/// file of obligations. Throws InputError if there are none.
[[nodiscard]] std::vector<std::string> compiled_files(TomlFile const& obligations, std::string const& path);

/// A file of PTX or SASS, whose path is relative to the file of obligations. Throws InputError.
[[nodiscard]] CompiledFile compiled_file(TomlFile const& obligations, CompiledFiles& files,
                                         std::string const& file);

/// An obligation for each kernel that the entry names, each shape of its block and each architecture; one that is Malformed for an entry
/// that cannot be read. `archs` are those of --arch, for an entry without `arch`; without both it is that of the code. Names of
/// obligations are added to `names`.
[[nodiscard]] std::vector<Obligation> kernel_obligations(TomlFile const& file, toml::node const& entry,
                                                         std::vector<Architecture const*> const& archs,
                                                         CompiledFiles& files, std::set<std::string>& names);

}  // namespace swizproof
