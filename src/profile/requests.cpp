#include "profile/requests.hpp"

#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <simdjson.h>

#include <string_view>

namespace swizproof {

namespace {

/// The beginning of a text, at most `most` bytes, cut between two characters of UTF-8.
std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

struct RequestReader::Parser : simdjson::dom::parser {};

std::size_t const RequestReader::padding = simdjson::SIMDJSON_PADDING;
RequestReader::RequestReader() : parser_(std::make_unique<Parser>()) {}
RequestReader::~RequestReader() = default;

std::variant<Request, LineError> RequestReader::read(char const* line, std::size_t length) {
  simdjson::dom::element document;
  if (auto const error = parser_->parse(line, length, false).get(document))
    return LineError{fmt::format("this is not a JSON object: {}", simdjson::error_message(error))};
  simdjson::dom::object object;
  if (document.get(object)) return LineError{"a JSON object is expected"};
  bool has_op = false, has_address = false;
  Request request{};
  for (auto const& [key, value] : object) {
    if (key == "op") {
      std::string_view text;
      if (value.get(text)) return LineError{"\"op\" must be a string"};
      if (has_op) return LineError{"\"op\" is given twice"};
      if (!last_op_ || text != *last_op_) {
        try {
          last_instruction_ = parse_instruction(text);
        } catch (InputError const&) {
          return LineError{fmt::format("unknown op '{}'; known: {}", beginning(text, 40), known_ops)};
        }
        last_op_ = text;
      }
      request.instruction = last_instruction_;
      has_op = true;
    } else if (key == "address") {
      if (has_address) return LineError{"\"address\" is given twice"};
      simdjson::dom::array array;
      if (value.get(array)) return LineError{"\"address\" must be an array"};
      if (array.size() != warp_lanes)
        return LineError{fmt::format("\"address\" has {} lanes, a warp has 32", array.size())};
      unsigned lane = 0;
      for (simdjson::dom::element const given : array) {
        std::uint64_t address = 0;
        bool const active = !given.is_null();
        if (active && (given.get(address) || address > 0xffffffffULL))
          return LineError{fmt::format("lane {}: an address is an integer from 0 to 2^32-1, or null", lane)};
        request.access.address[lane] = static_cast<std::uint32_t>(address);
        request.access.active[lane] = active;
        ++lane;
      }
      has_address = true;
    }
  }
  if (!has_op) return LineError{"\"op\" is missing"};
  if (!has_address) return LineError{"\"address\" is missing"};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::uint32_t const address = request.access.address[lane];
    if (lane >= request.instruction.lanes()) {
      request.access.active[lane] = false;  // H6: the hardware does not look at it
    } else if (!request.access.active[lane]) {
      if (request.instruction.matrices != 0)
        return LineError{fmt::format("lane {}: {} needs the addresses of lanes 0..{}", lane, *last_op_,
                                     request.instruction.lanes() - 1)};
    } else if ((address & (request.instruction.bytes - 1)) != 0) {  // a power of two: a division takes longer
      return LineError{fmt::format("lane {}: address {} is not a multiple of {} bytes", lane, address,
                                   request.instruction.bytes)};
    }
  }
  return request;
}

}  // namespace swizproof
