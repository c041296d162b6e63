#include "variables.hpp"

#include <algorithm>

namespace swizproof::flow_detail {

FlowArray array_of_variable(program::Variable const& variable) {
  FlowArray a;
  a.name = variable.name;
  a.bits = variable.bytes % 4 == 0 ? 32 : 8;
  a.type = a.bits == 32 ? "u32" : "u8";
  a.extents = {std::max<std::uint64_t>(variable.bytes / (a.bits / 8), 1)};
  return a;
}

void take_initial(FlowArray& array, std::vector<std::uint8_t> const& bytes) {
  array.values.assign(array.size(), 0);
  unsigned const each = array.bits / 8;
  for (std::size_t i = 0; i < bytes.size() && i / each < array.values.size(); ++i)
    array.values[i / each] |= std::uint64_t{bytes[i]} << 8 * (i % each);
}

}  // namespace swizproof::flow_detail
