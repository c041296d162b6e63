// Kinds of atomic operations.
#pragma once

#include "names.hpp"

#include <swizproof/program/opcode.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace swizproof::flow_detail {

/// Numbers of kinds. Operations of one kind have one result in each order: those of one operation, type and width; inc and dec also of one
/// bound. Each exchange and each compare-and-swap is of a kind of its own. Checked by Atomics.*.
class AtomicKinds {
 public:
  [[nodiscard]] std::uint32_t of(std::string_view op, program::Type type, Word const& b);

 private:
  std::map<std::string, std::uint32_t> numbers_{};
};

}  // namespace swizproof::flow_detail
