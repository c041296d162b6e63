// clusterlaunchcontrol: requests to cancel the launch of a cluster, and their responses.
//
// try_cancel writes 16 bytes by the async proxy and completes 16 bytes at an mbarrier, with .multicast::cluster::all in each block of the cluster
// [PTX ISA 9.0, 9.7.13.17]. A request fails, or it cancels a cluster that has not started: any one of the grid but the own one and those that this one
// has canceled. Each is a way of the cluster, which a launch can have (decisions.hpp). The bytes are opaque: query_cancel reads them, 16 of one
// response [9.7.13.18]. Undefined: the first block of a request that has failed, and a request behind an observed failure. A block observes it when one
// of its threads executes query_cancel.is_canceled.
#pragma once

#include "faults.hpp"
#include "names.hpp"
#include "order.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace swizproof::flow_detail {

/// Requests and responses of a cluster.
struct LaunchControl {
  /// Number of the first block of a cluster.
  using First = std::array<std::uint32_t, 3>;
  /// A response: the cluster that is canceled, if one is.
  struct Response {
    bool canceled = false;
    First first{};
  };
  /// A request, or the first query of a failed one by a thread.
  struct Event {
    unsigned thread = 0, rank = 0;
    std::uint32_t clock = 0;
    FlowTouch touch{};
  };
  std::map<std::pair<Name, Name>, Response> responses{};  ///< by the names of their halves
  std::vector<First> canceled{};
  std::vector<Event> requests{}, failures{};
};

}  // namespace swizproof::flow_detail
