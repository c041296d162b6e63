// Sections of a cubin that say how a kernel is launched, as nvdisasm prints them without -c.
#pragma once

#include <swizproof/sass/module.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::sass {

/// Reads the lines of .nv.info.KERNEL and .nv.shared.KERNEL. Attributes other than those of LaunchFacts say nothing of addresses.
class InfoReader {
 public:
  /// Begins a section; false if it is none of these.
  bool begin(std::string_view section);
  /// Reads a line of the section. Returns the error in it, or nothing.
  [[nodiscard]] std::string line(std::string_view s);
  /// Ends the section. Returns the error in it, or nothing.
  [[nodiscard]] std::string end();
  /// Marks an object that is not linked: the shared memory of functions that it calls is not known.
  void not_linked() { linked_ = false; }
  /// The facts of a kernel of code for `arch`. A list of parameters that has gaps is left out.
  [[nodiscard]] LaunchFacts facts(std::string const& kernel, unsigned arch) const;

 private:
  enum class Section : std::uint8_t { none, info, shared };
  [[nodiscard]] std::string end_attribute();
  void data(std::string_view s);
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t bytes) const;

  Section section_ = Section::none;
  bool linked_ = true;
  std::map<std::string, LaunchFacts, std::less<>> facts_{};
  std::set<std::string, std::less<>> banks_{};  ///< kernels whose section behind .nv.shared was read
  LaunchFacts* of_ = nullptr;
  std::string attribute_{};
  std::vector<std::uint8_t> bytes_{};
};

}  // namespace swizproof::sass
