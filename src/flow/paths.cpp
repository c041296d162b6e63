#include "paths.hpp"

#include <algorithm>
#include <utility>

namespace swizproof::flow_detail {

bool is_of_whole_warp(Decoded const& decoded) {
  switch (decoded.handler) {
    case Handler::cluster_barrier:
      return decoded.has("aligned");
    case Handler::barrier:
    case Handler::warp_barrier:
    case Handler::ldmatrix:
    case Handler::stmatrix:
    case Handler::movmatrix:
    case Handler::mma:
    case Handler::wmma_move:
    case Handler::wmma_product:
    case Handler::shuffle:
    case Handler::vote:
    case Handler::reduce:
    case Handler::match:
    case Handler::tensor_allocate:
    case Handler::tensor_load:
    case Handler::tensor_store:
    case Handler::tensor_wait:
      return true;
    default:
      return false;
  }
}

bool has_lane_mask(Decoded const& decoded) {
  switch (decoded.handler) {
    case Handler::warp_barrier:
      return true;
    case Handler::shuffle:
    case Handler::vote:
    case Handler::reduce:
    case Handler::match:
      return decoded.has("sync");
    default:
      return false;
  }
}

bool gather(std::vector<Path>& paths, std::uint32_t live) {
  paths.back().parked = true;
  while (paths.size() > 1 && paths.back().mask != live) {
    Path& top = paths.back();
    Path& below = paths[paths.size() - 2];
    bool const is_parent = below.block == top.join && (below.mask & live & ~top.mask) == 0;
    bool const same_place = below.block == top.block && below.at == top.at;
    if (!is_parent && below.join != top.join) break;
    if (!is_parent && !below.parked) return std::swap(top, below), true;
    if (!is_parent && !same_place) break;
    if (is_parent)
      top.join = below.join;  // no lane waits there
    else
      top.mask |= below.mask;
    paths.erase(paths.end() - 2);
  }
  paths.back().parked = false;
  return false;
}

bool let_others_go_on(std::vector<Path>& paths, std::uint32_t live) {
  std::uint32_t const waiting = paths.empty() ? 0 : paths.back().mask;
  if (std::none_of(paths.begin(), paths.end(),
                   [&](Path const& p) { return !p.parked && (p.mask & live & ~waiting) != 0; }))
    return false;
  do {
    Path one = paths.back();
    paths.pop_back();
    for (Path& p : paths) p.mask &= ~one.mask;
    one.join = -1;
    paths.insert(paths.begin(), one);
  } while (paths.back().parked);
  return true;
}

}  // namespace swizproof::flow_detail
