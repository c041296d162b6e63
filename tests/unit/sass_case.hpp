// A dump of one small kernel.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace swizproof {

/// The dump of a kernel k with these lines, each an instruction, a label (`.L_x_1:`) or `#7`: line 7 of case.cu.
inline std::string sass_kernel(std::string_view lines, unsigned arch = 90) {
  std::string text = fmt::format(
      "\t.target\tsm_{}\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n        .other          "
      "k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\nk:\n",
      arch);
  unsigned pc = 0;
  for (std::size_t at = 0; at < lines.size();) {
    std::size_t const end = std::min(lines.find('\n', at), lines.size());
    std::string_view const line = lines.substr(at, end - at);
    at = end + 1;
    if (line.starts_with('.')) {
      text += fmt::format("{}\n", line);
    } else if (line.starts_with('#')) {
      text += fmt::format("\t//## File \"/elsewhere/case.cu\", line {}\n", line.substr(1));
    } else {
      text += fmt::format("        /*{:04x}*/   {} ;\n", pc, line);
      pc += 16;
    }
  }
  return text;
}

}  // namespace swizproof
