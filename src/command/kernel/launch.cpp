#include "command/kernel/launch.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace swizproof::command {

std::array<std::uint32_t, 3> parse_block(std::string const& text) {
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::size_t at = 0;
  for (unsigned i = 0;; ++i) {
    char const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data() + at, end, block[std::min(i, 2U)]);
    if (i > 2 || error != std::errc{} || block[i] == 0 || block[i] > 1024)
      throw InputError{"--block takes one to three numbers of threads, 1 to 1024 each", text, at, 1,
                       "for instance --block 128 or --block 32,8"};
    at = static_cast<std::size_t>(stop - text.data());
    if (at == text.size()) break;
    if (text[at++] != ',')
      throw InputError{"--block takes one to three numbers of threads, 1 to 1024 each", text, at - 1, 1,
                       "for instance --block 32,8"};
  }
  if (std::string const why = why_no_block({}, block); !why.empty()) throw InputError::whole(why, text);
  return block;
}

LaunchBlocks::LaunchBlocks(std::vector<std::string> const& texts) {
  for (std::string const& text : texts) {
    std::size_t const equal = text.rfind('=');
    if (equal == 0)
      throw InputError::whole("there is no name before the shape", "--block " + text,
                              "--block 32,8 is of all kernels, --block 'gemm.*=128' of some");
    if (equal != text.npos) {
      named_.push_back(
          {text, Pattern(text.substr(0, equal), "--block"), parse_block(text.substr(equal + 1))});
    } else if (auto const shape = parse_block(text);
               std::find(all_.begin(), all_.end(), shape) == all_.end()) {
      all_.emplace_back(shape);
    }
  }
}

std::vector<std::optional<LaunchBlocks::Shape>> LaunchBlocks::of(std::string const& mangled,
                                                                 std::string const& plain) {
  std::vector<std::optional<Shape>> shapes;
  for (Named& one : named_) {
    if (!one.name.found_in(mangled) && !one.name.found_in(plain)) continue;
    one.used = true;
    if (std::find(shapes.begin(), shapes.end(), one.shape) == shapes.end()) shapes.emplace_back(one.shape);
  }
  if (shapes.empty()) shapes = all_;
  if (shapes.empty()) shapes.emplace_back();
  return shapes;
}

void LaunchBlocks::must_be_used() const {
  for (Named const& one : named_)
    if (!one.used)
      throw InputError::whole("no kernel has a name that matches", "--block " + one.text,
                              "a regular expression, for instance --block 'gemm.*=128'; case matters");
}

std::pair<std::string, ParameterValue> parse_param(std::string const& text) {
  std::size_t const equal = text.find('=');
  if (equal != text.npos && equal != 0) {
    // `flow` writes 0=1024, and the answers of both write #0.
    bool const is_index = text.find_first_not_of("0123456789") == equal;
    std::string_view digits = std::string_view(text).substr(equal + 1);
    bool const minus = digits.starts_with('-');
    if (minus) digits.remove_prefix(1);
    bool const hex = digits.starts_with("0x");
    if (hex) digits.remove_prefix(2);
    std::uint64_t n = 0;
    auto const [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), n, hex ? 16 : 10);
    if (error == std::errc{} && stop == digits.data() + digits.size())
      return {(is_index ? "#" : "") + text.substr(0, equal), {minus ? 0 - n : n, minus && n != 0}};
  }
  throw InputError::whole("--param takes NAME=VALUE", text, "the first parameter is #0: --param '#0=1024'");
}

}  // namespace swizproof::command
