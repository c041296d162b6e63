// The one source that is compiled anew for each commit.
#include "command/line/command.hpp"

#include "command/commit.hpp"

namespace swizproof::command {

std::string version_text() {
  std::string const commit = SWIZPROOF_COMMIT;
  return "swizproof " SWIZPROOF_VERSION + (commit.empty() ? "" : ", commit " + commit);
}

}  // namespace swizproof::command
