#include <swizproof/ptx/arrays.hpp>

#include "lowering.hpp"

#include <swizproof/hardware/shared_arrays.hpp>
#include <swizproof/ptx/inline.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace swizproof::ptx {

namespace {

using SymbolNames = std::set<std::string_view>;

void add_names(Operand const& o, SymbolNames& into) {
  if (o.kind == Operand::Kind::symbol) into.insert(o.text);
  for (Operand const& part : o.parts) add_names(part, into);
}

SymbolNames names_in(Function const& f) {
  SymbolNames names;
  for (Instruction const& i : f.body)
    for (Operand const& o : i.operands) add_names(o, names);
  return names;
}

bool is_shared(Variable const& v) { return v.space == Space::shared; }

/// Why the functions that `f` calls may change where a kernel's arrays lie; empty if they do not. `named`: by the kernel.
std::string why_calls_matter(Module const& module, Function const& f, SymbolNames const& named,
                             SymbolNames& seen) {
  for (Instruction const& i : f.body) {
    if (i.opcode.name != "call") continue;
    std::string_view const name = callee_of(i);
    if (is_harmless(name) || !seen.insert(name).second) continue;
    Function const* const callee = name.empty() ? nullptr : function_named(module, name);
    if (callee == nullptr || callee->body.empty())
      return name.empty() ? "an indirect call"
                          : "it calls " + std::string(name) + ", which is not in this file";
    SymbolNames const others = names_in(*callee);
    bool const own = std::any_of(callee->variables.begin(), callee->variables.end(), is_shared);
    bool const more = std::any_of(module.variables.begin(), module.variables.end(), [&](Variable const& v) {
      return is_shared(v) && !v.extern_array && others.count(v.name) != 0 && named.count(v.name) == 0;
    });
    if (own || more) return "it calls " + std::string(name) + ", which has shared arrays";
    if (std::string why = why_calls_matter(module, *callee, named, seen); !why.empty()) return why;
  }
  return {};
}

}  // namespace

std::string place_arrays(Module const& module, Function const& kernel, std::uint64_t first,
                         Program& program) {
  if (!kernel.entry) return "it is no kernel: its caller has arrays, too";
  SymbolNames const named = names_in(kernel);
  SymbolNames seen;
  if (std::string why = why_calls_matter(module, kernel, named, seen); !why.empty()) return why;
  SharedArrays arrays(first);
  SymbolNames placed;  // a kernel's own variable hides one of the module
  for (bool const dynamic : {false, true})
    for (auto const* list : {&kernel.variables, &module.variables})
      for (Variable const& v : *list) {
        if (!is_shared(v) || v.extern_array != dynamic || (!dynamic && named.count(v.name) == 0)) continue;
        if (!placed.insert(v.name).second) continue;
        std::uint64_t const align = std::max<std::uint64_t>(v.align, 1);
        std::uint64_t const at = dynamic ? arrays.place_dynamic(align) : arrays.place(align, v.bytes);
        auto const symbol = std::find_if(program.symbols.rbegin(), program.symbols.rend(),
                                         [&](Variable const& s) { return s.name == v.name; });
        if (symbol != program.symbols.rend()) symbol->placed = at;
      }
  return {};
}

}  // namespace swizproof::ptx
