// The [[flow]] entries of a file of obligations.
#pragma once

#include "parse/obligations/kernel_entries.hpp"

namespace swizproof {

/// The obligation of an entry: one launch of one kernel. It is Malformed for an entry that cannot be read. Its name is added to `names`.
[[nodiscard]] Obligation flow_obligation(TomlFile const& file, toml::node const& entry, CompiledFiles& files,
                                         std::set<std::string>& names);

}  // namespace swizproof
