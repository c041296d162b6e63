// Files that are watched, where none changes: in a browser.
#include "command/kernel/watch.hpp"

#include <swizproof/parse/parse.hpp>

namespace swizproof::command::kernel_detail {

WatchedFiles::WatchedFiles(std::vector<std::string> const& /*files*/) {
  throw InputError::whole("files of this page do not change", "--watch",
                          "leave it out, and drop the file again");
}

std::string WatchedFiles::wait_for_change() { return {}; }

}  // namespace swizproof::command::kernel_detail
