// The [[kernel]] entries of a file of obligations.
#pragma once

#include "parse/obligations/toml_file.hpp"

#include <swizproof/ptx/module.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace swizproof {

/// PTX files that were read, by the path in the entries: each is read once.
using PtxModules = std::map<std::string, std::shared_ptr<ptx::Module const>>;

/// The module of a file of PTX, whose path is relative to the file of obligations. Throws InputError.
[[nodiscard]] std::shared_ptr<ptx::Module const> ptx_module(TomlFile const& obligations, PtxModules& modules,
                                                            std::string const& file);

/// An obligation for each kernel that the entry names, each shape of its block and each architecture; one that is Malformed for an entry
/// that cannot be read. `archs` are those of an entry without `arch`; names of obligations are added to `names`.
[[nodiscard]] std::vector<Obligation> kernel_obligations(TomlFile const& file, toml::node const& entry,
                                                         std::vector<Architecture const*> const& archs,
                                                         PtxModules& modules, std::set<std::string>& names);

}  // namespace swizproof
