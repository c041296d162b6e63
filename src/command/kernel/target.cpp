#include "command/kernel/target.hpp"

#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace swizproof::command {

void add_notes(std::vector<std::string>& notes, std::vector<std::string> const& more) {
  for (std::string const& note : more)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

void TargetArchitectures::take_ptx(std::string_view target) {
  std::string const name(target.substr(0, target.find_first_of(", \t")));
  if (name.empty()) return;
  Architecture const* own = nullptr;
  try {
    // sm_90a is the device sm_90 with all that it can.
    unsigned const capability = parse_architecture(name).capability;
    own = std::find_if(std::begin(architectures), std::end(architectures),
                       [&](Architecture const& a) { return a.capability == capability; });
  } catch (InputError const&) {  // it has no table
  }
  if (common_.arch_is_given) {
    if (own == nullptr || own->capability != options_.arch->capability)
      add_notes(notes_, {fmt::format("the PTX is for {}, and is decided for {}", name, common_.arch)});
  } else if (own != nullptr) {
    take(*own);
  } else {
    options_.arch = &otherwise_;
    add_notes(
        notes_,
        {fmt::format("the PTX is for {}, which has no table here: it is decided for {}; --arch NAME chooses",
                     name, otherwise_.name)});
  }
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
