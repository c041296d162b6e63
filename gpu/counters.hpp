// Hardware counters of kernel launches, through CUPTI's range profiler.
#pragma once

#include "record.hpp"

#include <functional>

namespace swizproof::gpu {

/// The metrics' values for each of the `ranges` kernels that `launches` launches on the current device, in
/// their order. Throws Failure where counters cannot be read: no permission, an unknown metric.
[[nodiscard]] std::vector<std::vector<double>> count(std::vector<char const*> metrics, std::size_t ranges,
                                                     std::function<void()> const& launches);

/// Campaign `counters`: wavefronts as the hardware counts them, against the cost model of bank.hpp.
[[nodiscard]] Record counters(Device const& device, Settings const& settings, Part part);

/// Campaign `copies`: wavefronts of cp.async as the hardware counts them, compared with H21 and H22.
[[nodiscard]] Record copies(Device const& device, Settings const& settings, Part part);

/// Campaign `global`: sectors of global memory as the hardware counts them, compared with H20.
[[nodiscard]] Record global(Device const& device, Settings const& settings, Part part);

}  // namespace swizproof::gpu
