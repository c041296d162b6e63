#include "executed_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>

namespace swizproof::kernel_detail {

using execution::Leaf;
using program::Special;

std::string ExecutedKernel::text_of(Id leaf) const {
  std::string const text = origins.text_of(leaf);
  Leaf const* const of = origins.leaf_at(leaf);
  if (of == nullptr || of->kind != Leaf::Kind::opaque || of->args.size() < 2 ||
      !std::string_view(program.names[of->extra]).ends_with(" by 0"))
    return text;
  std::set<std::string> missing;  // --grid goes before --param
  for (Id const id : origins.leaves_of({of->args[1]})) {
    Leaf const& l = *origins.leaf_at(id);
    bool const blocks = l.kind == Leaf::Kind::special && l.extra >= static_cast<unsigned>(Special::ctaid_x) &&
                        l.extra <= static_cast<unsigned>(Special::nctaid_z);
    if (blocks && !options.grid) missing.insert("--grid X,Y,Z");
    if (l.kind != Leaf::Kind::param || launch.params.count(program.symbols[l.extra].name) != 0) continue;
    missing.insert(fmt::format("--param {}=VALUE", program::short_name(program.symbols[l.extra].name)));
  }
  return missing.empty()
             ? text
             : fmt::format("{}; {} may show that the divisor is never 0", text, fmt::join(missing, " with "));
}

}  // namespace swizproof::kernel_detail
