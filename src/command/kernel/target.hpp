// The architecture that a file of code is decided for.
#pragma once

#include "command/line/command.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <set>
#include <string>
#include <vector>

namespace swizproof::command {

/// Adds the notes that are not there yet.
void add_notes(std::vector<std::string>& notes, std::vector<std::string> const& more);

/// Architectures of the files of one command: that of --arch, or each file's own. Notes say where these differ.
/// Checked by golden.kernel_architecture_of_the_code.
class TargetArchitectures {
 public:
  /// The architecture of `options` stands for those without a table.
  TargetArchitectures(Common& common, KernelOptions& options, std::vector<std::string>& notes)
      : common_(common), options_(options), notes_(notes), otherwise_(*options.arch) {}
  void take_ptx(ptx::Module const& module);
  /// `number`: of the architecture of machine code, 90 for sm_90. Throws InputError for one without a table.
  void take_sass(unsigned number);
  /// The architecture of the file that was taken last.
  [[nodiscard]] Architecture const& now() const { return *options_.arch; }
  /// Adds the note that the files are of several architectures, if they are.
  void note_several();

 private:
  void take(Architecture const& own);

  Common& common_;
  KernelOptions& options_;
  std::vector<std::string>& notes_;
  Architecture const& otherwise_;
  std::set<std::string> names_{};
  Architecture const* weakest_ = nullptr;  ///< what supports its costs supports all
};

}  // namespace swizproof::command
