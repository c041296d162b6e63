#include "command/kernel/target.hpp"

#include "parse/question/kernels.hpp"

#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace swizproof::command {

void add_notes(std::vector<std::string>& notes, std::vector<std::string> const& more) {
  for (std::string const& note : more)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

void TargetArchitectures::take_ptx(ptx::Module const& module) {
  PtxTarget const target = ptx_target(module);
  if (!common_.arch_is_given && !target.name.empty()) {
    if (target.own != nullptr)
      take(*target.own);
    else
      options_.arch = &otherwise_;
  }
  std::string note = target_note(target, *options_.arch, common_.arch_is_given, "--arch NAME");
  if (!note.empty()) add_notes(notes_, {std::move(note)});
}

void TargetArchitectures::take_sass(unsigned number) {
  if (!common_.arch_is_given) take(parse_architecture(fmt::format("sm_{}", number)));
}

void TargetArchitectures::take(Architecture const& own) {
  options_.arch = &own;
  names_.emplace(own.name);
  if (weakest_ == nullptr || weaker(own.support, weakest_->support) != weakest_->support) weakest_ = &own;
  common_.arch = weakest_->name;
}

void TargetArchitectures::note_several() {
  if (names_.size() > 1)
    notes_.push_back(fmt::format(
        "each file is decided for the architecture of its code: {}; --arch NAME decides all for one",
        fmt::join(names_, ", ")));
}

}  // namespace swizproof::command
