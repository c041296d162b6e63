// A GPU that answers what the learner asks: campaigns/wavefronts.cu.
#pragma once

#include "learn/device.hpp"
#include "record.hpp"

namespace swizproof::gpu {

/// The current device, by its clock, as campaign `wavefronts` measures. `try_random` draws for `settings.seconds` at most.
[[nodiscard]] DeviceUnderTest device_under_test(Device const& device, Settings const& settings);

}  // namespace swizproof::gpu
