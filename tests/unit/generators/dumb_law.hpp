// An independent oracle of the cost model: slow and simple.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <map>
#include <set>
#include <utility>

namespace swizproof {

/// The cost model of bank.hpp, H1 to H7, written as plainly as possible: sets of words for each bank.
template <class Address>
unsigned dumb_law(Instruction const& i, WarpAccess<Address> const& warp) {
  unsigned lanes = i.bytes <= 4 ? 32 : i.bytes == 8 ? 16 : 8;
  if (i.operation == Operation::ld_shared && i.bytes >= 8)
    for (unsigned const bit : {1U, 2U}) {
      bool equal = true;
      for (unsigned l = 0; l < 32; ++l)
        if (warp.active[l] && warp.active[l ^ bit] && warp.address[l] != warp.address[l ^ bit]) equal = false;
      if (equal) {
        lanes *= 2;
        break;
      }
    }
  unsigned const total_lanes = i.matrices != 0 ? 8 * i.matrices : 32;
  unsigned sum = 0;
  for (unsigned first = 0; first < total_lanes; first += lanes) {
    std::map<Address, std::set<std::pair<unsigned, Address>>> words_of_bank;  // cp.async: of each lane
    for (unsigned l = first; l < first + lanes; ++l)
      if (warp.active[l])
        for (unsigned byte = 0; byte < i.bytes; ++byte) {
          Address const w = (warp.address[l] + byte) / 4;
          words_of_bank[w % 32].insert({i.operation == Operation::cp_async ? l : 0, w});
        }
    std::size_t degree = 0;
    for (auto const& [bank, words] : words_of_bank) degree = std::max(degree, words.size());
    sum += static_cast<unsigned>(degree);
  }
  return std::max(sum, i.operation == Operation::cp_async ? 1 : total_lanes / lanes);
}

}  // namespace swizproof
