#include "repeats.hpp"

#include <bit>

namespace swizproof::flow_detail {

bool changes_registers_alone(Decoded const& decoded) {
  switch (decoded.handler) {
    case Handler::steps:
    case Handler::nothing:
    case Handler::real:
    case Handler::compare:
    case Handler::convert:
    case Handler::extreme:
    case Handler::load:
      return true;
    case Handler::mbarrier:
      return decoded.has("test_wait") || decoded.has("try_wait");
    default:
      return false;
  }
}

bool Repeats::again(std::vector<Path> const& paths, std::vector<Word> const& registers, std::uint32_t line) {
  if (line != ~0U) line_ = line;
  ++branches_;
  if (branches_ < first_kept || branches_ % compared != 0) return false;
  if (std::has_single_bit(branches_)) {
    paths_ = paths, registers_ = registers, loads_ = false;
    return false;
  }
  return endless_ = paths == paths_ && registers == registers_;
}

}  // namespace swizproof::flow_detail
