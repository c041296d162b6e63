// Which modules have instructions whose pointers may lead to any memory: LD, ST and ATOM, unlike LDS or LDG.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string_view>

namespace swizproof::trace {

/// True if the code of a cubin has one; true as well where that cannot be told, so that none is missed. Architectures from sm_75
/// on: an instruction has 16 bytes, whose lowest 9 bits say what it does. [`nvdisasm -hex` of CUDA 13.0 says so for sm_80, 86, 89,
/// 90, 100 and 120; on others it is taken to be so] Checked by tests/unit/profile/trace_test.cpp, on a device by `trials`.
[[nodiscard]] inline bool has_generic_accesses(std::string_view cubin) {
  Elf64_Ehdr header;
  if (cubin.size() < sizeof header) return true;
  std::memcpy(&header, cubin.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shoff > cubin.size() ||
      (cubin.size() - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum)
    return true;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, cubin.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_EXECINSTR) == 0) continue;
    if (section.sh_offset > cubin.size() || cubin.size() - section.sh_offset < section.sh_size) return true;
    for (std::uint64_t at = 0; at + 16 <= section.sh_size; at += 16) {
      std::uint16_t low = 0;
      std::memcpy(&low, cubin.data() + section.sh_offset + at, sizeof low);
      switch (low & 0x1ff) {
        case 0x180:  // LD
        case 0x185:  // ST
        case 0x18a:  // ATOM
        case 0x18b:
        case 0x1a2:
          return true;
        default:
          break;
      }
    }
  }
  return false;
}

}  // namespace swizproof::trace
