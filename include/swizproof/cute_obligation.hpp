// CuTe's types as obligations: text that `swizproof prove` reads. Part of swizproof/cute.hpp.
#pragma once

#include <cute/layout.hpp>

#include <swizproof/hardware/instruction.hpp>

#include <cstdio>

namespace swizproof {

namespace detail {

/// A text between double quotes, as TOML has it.
inline void print_quoted(char const* text) {
  std::putchar('"');
  for (; *text != 0; ++text) {
    if (*text == '"' || *text == '\\') std::putchar('\\');
    std::putchar(static_cast<unsigned char>(*text) < ' ' ? ' ' : *text);
  }
  std::putchar('"');
}

}  // namespace detail

/// The name of an obligation and the source line that prints it: code hosts annotate that line if the obligation breaks.
struct ObligationName {
  char const* name;
  char const* file;
  int line;
  // NOLINTNEXTLINE(google-explicit-constructor): a name is what one writes
  ObligationName(char const* called, char const* in = __builtin_FILE(), int at = __builtin_LINE())
      : name(called), file(in), line(at) {}
};

namespace detail {

/// Name and source of an obligation, and its layout, as CuTe prints it.
template <class Element, class SmemLayout>
void print_head(ObligationName const& name, SmemLayout const& layout) {
  std::printf("[[obligation]]\nname = ");
  print_quoted(name.name);
  std::printf("\nsource = ");
  char place[4096];
  std::snprintf(place, sizeof place, "%s:%d", name.file, name.line);
  print_quoted(place);
  std::printf("\nlayout = '");
  cute::print(layout);
  std::printf("'\nelement = '%db'\naccess = [", int(cute::sizeof_bits<Element>::value));
}

}  // namespace detail

/// Prints an obligation (TOML) on standard output: this layout, as CuTe prints it, and these accesses in swizproof's words.
/// A program of such lines is what swizproof_add_obligations(SOURCES ...) takes.
template <class Element, class SmemLayout, class... Accesses>
void print_obligation(ObligationName const& name, SmemLayout const& layout, char const* access,
                      Accesses... more) {
  detail::print_head<Element>(name, layout);
  detail::print_quoted(access);
  ((std::printf(", "), detail::print_quoted(more)), ...);
  std::printf("]\n\n");
}

/// The same of one side of a TiledCopy: the instructions that an assertion checks, of every warp, value and tile. What an assertion
/// refuses does not compile here either.
template <class Access, class Element, class SmemLayout>
void print_obligation(ObligationName const& name, SmemLayout const& layout) {
  (void)Access::template instructions<Element>(layout);
  detail::print_head<Element>(name, layout);
  auto const instruction = swizproof::name(Access::Instruction::value);
  std::printf("'%.*s: tv ", static_cast<int>(instruction.size()), instruction.data());
  cute::print(Access::thread_values());
  std::printf(" tile ");
  cute::print(Access::tiler());
  std::printf("']\n\n");
}

}  // namespace swizproof
