// The question of `descriptor` as a text.
#pragma once

#include <swizproof/analysis/descriptor.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace swizproof {

/// A DescriptorQuestion in words, as the command line and obligations have it; what is empty is not said.
struct DescriptorWords {
  std::string operand{};  ///< a or b
  std::string major{};    ///< k or mn
  std::string extent{};   ///< 64,16
  std::string element{};  ///< name of the element type
};

/// The question, but its reader. Throws InputError.
[[nodiscard]] DescriptorQuestion parse_descriptor_question(DescriptorWords const& words);

/// `wgmma` or `tcgen05`; nothing for an empty text. Throws InputError.
[[nodiscard]] std::optional<OperandReader> parse_reader(std::string const& text);

/// Reader whose name a LAYOUT has: tcgen05 of `umma:` and of a descriptor with its version, else wgmma.
[[nodiscard]] OperandReader reader_of_layout(std::string_view text);

/// True if a type's name is that of integers: `i8`, `u8`, `int8_t`.
[[nodiscard]] bool names_integers(std::string const& element);

}  // namespace swizproof
