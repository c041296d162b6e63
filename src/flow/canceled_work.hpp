// Work of canceled clusters: what another cluster writes and reads instead.
//
// A cluster that cancels others has to do their work, since they do not run [PTX ISA 9.0, 9.7.13.17]. In each way it has to write what it and the canceled
// ones write where no request succeeds, and may read what these read. Then the clusters of each execution write and read the elements that all clusters
// do where no request succeeds. If that launch has no race, no execution has one.
#pragma once

#include "block_accesses.hpp"

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

class CanceledWork {
 public:
  /// Number of the first block of a cluster.
  using First = std::array<std::uint32_t, 3>;
  /// Elements of a way of a cluster that has canceled others.
  void add(First const& cluster, std::vector<First> const& canceled, std::set<Written> const& written,
           std::set<Written> const& read);
  /// Compares the elements of all ways. Those that canceled clusters would have written, and no cluster writes, are missing in the report, if they are
  /// expected. False if an element that only a way with canceled clusters accesses makes the answer unknown.
  [[nodiscard]] bool compare(FlowKernel const& kernel, std::function<bool(Written const&)> const& is_expected,
                             FlowReport& report) const;

 private:
  struct Elements {
    std::set<Written> written{}, read{};
  };
  struct Way {
    First cluster{};
    std::vector<First> canceled{};
    Elements elements{};
  };
  [[nodiscard]] Elements expected(Way const& way) const;
  /// An element that only a way with canceled clusters writes or reads, in words; or empty.
  [[nodiscard]] std::string further(FlowKernel const& kernel) const;

  std::map<First, Elements> own_{};  ///< where no request succeeds
  std::vector<Way> ways_{};
};

/// `, where block 0,0,0 cancels block 1,0,0`; empty if it cancels no other.
[[nodiscard]] std::string where_canceled(CanceledWork::First const& cluster,
                                         std::vector<CanceledWork::First> const& canceled);

}  // namespace swizproof::flow_detail
