// Lane addresses as JSON lines: the input of `predict`.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace swizproof {

/// Possible values of "op", in words.
inline constexpr std::string_view known_ops =
    "ld.shared and st.shared .b8 .b16 .b32 .b64 .b128, ldmatrix and stmatrix .x1 .x2 .x4 [.trans], cp.async "
    ".b32 .b64 .b128";

/// A warp instruction and its lanes' addresses.
struct Request {
  Instruction instruction;
  WarpAccess<std::uint32_t> access;
};

/// Fault of a line, as its answer says it.
struct LineError {
  std::string message;
};

/// Reads {"op": "ld.shared.b128", "address": [a0, .., a31]}, bytes; null is a lane that takes no part.
class RequestReader {
 public:
  /// Number of bytes behind a line that may be read.
  static std::size_t const padding;

  RequestReader();
  RequestReader(RequestReader const&) = delete;
  RequestReader& operator=(RequestReader const&) = delete;
  ~RequestReader();
  /// One line, with `padding` bytes behind it.
  [[nodiscard]] std::variant<Request, LineError> read(char const* line, std::size_t length);

 private:
  struct Parser;  // simdjson's
  std::unique_ptr<Parser> parser_;
  std::optional<std::string> last_op_{};
  Instruction last_instruction_{};
};

}  // namespace swizproof
