// Measurements of a campaign: numbers to add up, times to take the maximum of, and rows. Parts of
// one campaign (devices, ranks) are merged only by this rule, in every campaign.
#pragma once

#include "campaign/cases.hpp"
#include "device.hpp"

#include <map>

namespace swizproof::gpu {

/// Options of the command line for every campaign.
struct Settings {
  std::uint64_t seed = 1;
  double seconds = 10;  ///< how long `wavefronts` draws random patterns
};

struct Record {
  std::map<std::string, std::uint64_t> counts{};           ///< merged by adding
  std::map<std::string, double> longest{};                 ///< merged by the larger
  std::map<std::string, std::vector<std::string>> rows{};  ///< JSON values; merged one behind the other

  void merge(Record const& other);
  /// For the wire: merge(parse(text(r))) is merge(r).
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Record parse(std::string const& text);
};

/// `"a\"b"`: a text as JSON. Control characters become blanks, and what is no UTF-8 question marks.
[[nodiscard]] std::string quoted(std::string const& text);

/// True if the kernels are built for the current device.
[[nodiscard]] bool kernels_run();

/// The campaigns. Each runs its part on the current device and returns what it found; mismatches are
/// counted under "mismatches", never thrown.
[[nodiscard]] Record atomics(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record bases(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record cluster(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record contention(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record exhaustive(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record wavefronts(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record ldmatrix(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record tma(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record operands(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record tiles(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record mma(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record registers(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record boxes(Device const& device, Settings const& settings, Part part);
[[nodiscard]] Record wgmma(Device const& device, Settings const& settings, Part part);

}  // namespace swizproof::gpu
