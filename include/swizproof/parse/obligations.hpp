// Obligations in a TOML file under version control.
//
//   [[obligation]]
//   name   = "A tile"
//   layout = "Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)"
//   access = ["ldmatrix.x4", "copy.row128"]
//
// docs/obligations.md lists the keys. Entries are independent: an entry that cannot be read reports its error and line, and the
// others are decided all the same.
#pragma once

#include <swizproof/claim/obligation.hpp>

#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// Reads a file; an entry that cannot be read is Malformed. `archs` are those of entries which name none, sm_90 if
/// they are none; what depends on an architecture comes once for each of its own. A budget has what it counts: the accesses of every obligation of the file
/// whose `kernel` is the same text. Throws InputError with file, line and column for a file that cannot be read, is no TOML, or
/// holds something else than obligations. Checked by tests/unit/parse/obligation_test.cpp.
[[nodiscard]] std::vector<Obligation> read_obligations(std::string const& path,
                                                       std::span<Architecture const* const> archs = {});

/// Throws the InputError of the first entry that cannot be read.
void refuse_malformed(std::span<Obligation const> obligations);

}  // namespace swizproof
