// The processes of a run: one, or the ranks of an MPI job (where MPI was found when this was built).
#pragma once

#include "record.hpp"

namespace swizproof::gpu {

/// This process among the ranks. Without mpirun, or without MPI, it is rank 0 of 1.
class Ranks {
 public:
  Ranks(int& argc, char**& argv);

  int rank = 0;
  int count = 1;
  int local = 0;        ///< rank on this host
  int local_count = 1;  ///< ranks on this host

  /// The merge of all ranks' records on rank 0, on the others their own. Every rank must call it.
  /// Throws Failure if a rank does not answer within `longest_wait`.
  [[nodiscard]] Record gather(Record mine) const;
  /// Ends well: all ranks agree on the exit code of rank 0.
  [[nodiscard]] int leave(int exit_code) const;
  /// Ends badly: takes the other ranks down, too.
  [[nodiscard]] int fail(int exit_code) const;
};

}  // namespace swizproof::gpu
