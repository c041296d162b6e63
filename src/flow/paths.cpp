#include "paths.hpp"

#include <utility>

namespace swizproof::flow_detail {

bool is_of_whole_warp(Handler handler) {
  switch (handler) {
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

}  // namespace swizproof::flow_detail
