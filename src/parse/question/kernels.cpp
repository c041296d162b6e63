#include "parse/question/kernels.hpp"

#include <swizproof/core/error.hpp>
#include <swizproof/parse/parse.hpp>
#include <swizproof/sass/module.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cxxabi.h>
#include <iterator>
#include <memory>

namespace swizproof {

std::string demangled(std::string const& name) {
  if (!name.starts_with("_Z")) return name;  // a kernel `f` of extern "C" is no `float`
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(text.get()) : name;
}

std::string short_name(std::string name) {
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at = name.find(anonymous); at != name.npos; at = name.find(anonymous, at))
    name.erase(at, anonymous.size());
  return name;
}

bool names_kernel(Pattern const& pattern, std::string const& name) {
  std::string const in_cpp = demangled(name);
  return pattern.found_in(name) || pattern.found_in(in_cpp) || pattern.found_in(short_name(in_cpp));
}

PtxTarget ptx_target(ptx::Module const& module) {
  PtxTarget out{module.target.substr(0, module.target.find_first_of(", \t"))};
  if (out.name.empty()) return out;
  try {
    // sm_90a is the device sm_90 with all that it can.
    unsigned const capability = parse_architecture(out.name).capability;
    out.own = std::find_if(std::begin(architectures), std::end(architectures),
                           [&](Architecture const& a) { return a.capability == capability; });
  } catch (InputError const&) {  // it has no table
  }
  return out;
}

std::string target_note(PtxTarget const& target, Architecture const& decided_for, bool given,
                        std::string const& choose) {
  if (target.name.empty() ||
      (target.own != nullptr && (!given || target.own->capability == decided_for.capability)))
    return {};
  if (given) return "the PTX is for " + target.name + ", and is decided for " + std::string(decided_for.name);
  return "the PTX is for " + target.name + ", which has no table here: it is decided for " +
         std::string(decided_for.name) + "; " + choose + " chooses";
}

std::vector<std::size_t> kernels_named(Pattern const& pattern, ptx::Module const& module) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].entry && names_kernel(pattern, module.functions[i].name)) found.push_back(i);
  return found;
}

std::string kernels_in_words(std::vector<std::string> const& names) {
  if (names.empty()) return "is no kernel";
  constexpr std::size_t most = 5;
  std::string text = names.size() == 1 ? "is " : "are ";
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i == 0 ? "" : "; ") + names[i];
  return names.size() > most ? text + "; and more" : text;
}

void must_be_code(std::string_view text, std::string const& file) {
  if (text.find("\"swizproof trace ") < 64)
    throw InputError::whole("this is a trace of a run, not compiled code", file,
                            "swizproof explain FILE.trace shows what it recorded, and swizproof crosscheck "
                            "FILE.trace FILE.ptx compares it with the code");
  bool const empty = text.find_first_not_of(" \t\r\n") == text.npos;
  bool const binary = text.starts_with("\177ELF");
  if (binary || (!sass::is_sass(text) && text.find(".version") == text.npos))
    throw InputError::whole(empty    ? "the file is empty"
                            : binary ? "this is a binary, not the text of PTX or SASS"
                                     : "this is neither PTX, which begins with .version, nor a dump of SASS",
                            file, "nvcc -ptx -lineinfo writes PTX, nvdisasm -g FILE.cubin SASS");
}

std::array<std::uint32_t, 3> parse_three(std::string const& text, std::string const& option,
                                         std::uint32_t least) {
  std::array<std::uint32_t, 3> out{least, least, least};
  char const* at = text.data();
  char const* const end = text.data() + text.size();
  for (unsigned i = 0;; ++i) {
    auto const [stop, error] = std::from_chars(at, end, out[std::min(i, 2U)]);
    bool const more = error == std::errc{} && stop != end && *stop == ',';
    if (i > 2 || error != std::errc{} || out[i] < least || (stop != end && !more))
      throw InputError{option + " takes one to three numbers", text,
                       static_cast<std::size_t>(at - text.data()), 1, "for instance " + option + " 8,8"};
    if (!more) return out;
    at = stop + 1;
  }
}

std::array<std::uint32_t, 3> parse_grid(std::string const& text) {
  constexpr std::array<std::uint32_t, 3> most{0x7fffffff, 0xffff,
                                              0xffff};  // [CUDA C++ Programming Guide, 20.9.3]
  std::array<std::uint32_t, 3> const grid = parse_three(text, "--grid", 1);
  for (std::size_t d = 0; d < 3; ++d)
    if (grid.at(d) > most.at(d))
      throw InputError::whole("a grid has at most 2147483647, 65535 and 65535 blocks in x, y and z", text);
  return grid;
}

void refuse_without_shape(std::string const& kernel) {
  throw InputError::whole(
      "the shape of the kernel's block is not known: it reads tid.y, tid.z, ntid.y or ntid.z", kernel,
      "give --block X,Y,Z");
}

}  // namespace swizproof
