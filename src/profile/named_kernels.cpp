#include "profile/named_kernels.hpp"

#include "parse/access/sass.hpp"
#include "parse/question/kernels.hpp"
#include "profile/nsight.hpp"
#include "profile/trace_vs_profile.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <set>

namespace swizproof {

namespace {

/// The identifiers and numbers in a mangled name: `_ZN1a4gemmILi64EEEv` has a, gemm and 64. Not those that begin with E: the 2 of
/// an enumerator in `E2Ef` looks like a length.
std::set<std::string> words_of_mangled(std::string const& name) {
  static RE2 const reference("S[0-9A-Z]*_|T[0-9]*_"), number("L[a-z]n?([0-9]+)E");
  std::set<std::string> words;
  re2::StringPiece rest = name;
  std::string word;
  while (!rest.empty()) {
    std::size_t length = 0;
    if (RE2::Consume(&rest, reference)) continue;
    if (RE2::Consume(&rest, number, &word)) {
      words.insert(word);
    } else if (RE2::Consume(&rest, "([0-9]+)", &length)) {
      length = std::min<std::size_t>(length, rest.size());
      words.emplace(rest.data(), length);
      rest.remove_prefix(static_cast<int>(length));
    } else {
      rest.remove_prefix(1);
    }
  }
  std::erase_if(words, [](std::string const& w) {
    return w.empty() || w.starts_with('E') || w.starts_with("_GLOBAL__N_");
  });
  return words;
}

/// True if a mangled name has the identifiers of a demangled one, and no other numbers. nvcc mangles names of CUTLASS in a way
/// that only the toolkit's library reads.
bool same_words(std::string const& mangled, std::string const& name) {
  static RE2 const word("([A-Za-z_][A-Za-z_0-9]*|[0-9]+)"),
      none(
          "E.*|void|bool|char|signed|unsigned|short|int|long|float|double|const|volatile|anonymous|namespace|"
          "T[0-"
          "9]+");
  std::set<std::string> const words = words_of_mangled(mangled);
  re2::StringPiece rest = name;
  std::string one;
  std::size_t known = 0;
  std::set<std::string> seen;
  while (RE2::FindAndConsume(&rest, word, &one)) {
    bool const number = one[0] >= '0' && one[0] <= '9';
    if (RE2::FullMatch(one, none) || !seen.insert(one).second) continue;
    if (words.count(one) == 0 && !number) return false;
    known += words.count(one);
  }
  return known == words.size();
}

/// True if two functions have the same instructions; labels may have other names.
bool same_code(sass::Function const& f, sass::Function const& g) {
  auto const same_operand = [](sass::Operand const& a, sass::Operand const& b) {
    return a.kind == b.kind && (a.kind == sass::Operand::Kind::label || a.text == b.text) && a.reg == b.reg &&
           a.uniform == b.uniform && a.value == b.value && a.bank == b.bank && a.negative == b.negative &&
           a.inverted == b.inverted && a.negated == b.negated;
  };
  return std::equal(f.body.begin(), f.body.end(), g.body.begin(), g.body.end(),
                    [&](sass::Instruction const& a, sass::Instruction const& b) {
                      return a.opcode == b.opcode && a.pc == b.pc && a.guard == b.guard &&
                             a.guard_reg == b.guard_reg && a.guard_negated == b.guard_negated &&
                             std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(),
                                        b.operands.end(), same_operand);
                    });
}

/// True if a function has the traced instructions at their addresses.
bool has_all(sass::Function const& f, std::span<TracedInstruction const> traced) {
  return std::all_of(traced.begin(), traced.end(), [&](TracedInstruction const& i) {
    auto const at = std::lower_bound(f.body.begin(), f.body.end(), i.pc,
                                     [](sass::Instruction const& x, std::uint64_t pc) { return x.pc < pc; });
    return at != f.body.end() && at->pc == i.pc && sass_opcode(i.sass) == at->opcode;
  });
}

/// Several modules may have a kernel of this name: those with the traced instructions, without copies.
std::vector<NamedKernel> that_have(std::span<TracedInstruction const> traced,
                                   std::vector<NamedKernel> const& all) {
  std::vector<NamedKernel> out;
  for (NamedKernel const& k : all) {
    if (k.sass == nullptr) return all;
    if (has_all(*k.sass, traced) && std::none_of(out.begin(), out.end(), [&](NamedKernel const& o) {
          return same_code(*o.sass, *k.sass);
        }))
      out.push_back(k);
  }
  return out.empty() ? all : out;
}

}  // namespace

std::vector<NamedKernel> kernels_of(std::string const& name, std::vector<PtxFile> const& files) {
  std::vector<NamedKernel> all, same;
  auto const add = [&](NamedKernel const& f) {
    std::string const written = demangled(f.name());
    bool const mangled = written == f.name() && f.name().starts_with("_Z");
    if (mangled ? !same_words(f.name(), name) && f.name() != name
                : comparable_kernel_name(written) != comparable_kernel_name(name))
      return;
    all.push_back(f);
    if (plain_kernel_name(written) == plain_kernel_name(name)) same.push_back(f);
  };
  for (PtxFile const& file : files) {
    for (ptx::Function const& f : file.module.functions)
      if (f.entry) add({&file, &f, nullptr});
    if (!file.sass) continue;
    for (sass::Function const& f : file.sass->functions)
      if (f.entry) add({&file, nullptr, &f});
  }
  return all.size() > 1 && !same.empty() ? same : all;
}

std::vector<NamedKernel> kernels_of(std::span<TracedInstruction const> traced,
                                    std::vector<PtxFile> const& files) {
  std::vector<NamedKernel> const all = kernels_of(traced.front().kernel, files);
  return all.size() > 1 ? that_have(traced, all) : all;
}

}  // namespace swizproof
