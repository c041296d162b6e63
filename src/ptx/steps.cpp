// Sources and destinations of instructions.
#include "lowering.hpp"

#include <swizproof/ptx/initial.hpp>

#include <algorithm>
#include <iterator>

namespace swizproof::ptx {

namespace {

using Kind = Operand::Kind;

bool is_function(Module const& module, std::string_view name) {
  return std::find(module.declared.begin(), module.declared.end(), name) != module.declared.end() ||
         function_named(module, name) != nullptr;
}

}  // namespace

Operand const& operand(Instruction const& i, std::size_t k) {
  static Operand const none{};
  return k < i.operands.size() ? i.operands[k] : none;
}

Function const* function_named(Module const& module, std::string_view name) {
  auto const found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](Function const& f) { return f.name == name; });
  return found == module.functions.end() ? nullptr : &*found;
}

Steps::Steps(Module const& in_module, Function const& of) : module(in_module), function(of) {
  Program& p = build.program;
  p.name = function.name;
  for (Register const& r : function.registers) p.widths.push_back(std::min<std::uint8_t>(r.bits, 64));
  // The later hides the earlier: a function's own variables come last.
  p.first_param = static_cast<std::uint32_t>(module.variables.size());
  p.params = function.entry ? static_cast<std::uint32_t>(function.params.size()) : 0;
  for (auto const* list : {&module.variables, &function.params, &function.variables})
    for (Variable const& v : *list) {
      symbols_[v.name] = static_cast<std::uint32_t>(p.symbols.size());
      p.symbols.push_back(v);
    }
}

bool Steps::begin(Instruction const& i) {
  build.line = i.line;
  build.opcode = i.opcode.text;
  for (Operand const& o : i.operands) check_declared(o);
  guard = i.guard;
  guard_negated = i.guard_negated;
  if (guard < 0 || width_of(static_cast<std::uint32_t>(guard)) == 1) return true;
  build.refuse("the guard is no predicate");
  return false;
}

Source Steps::resize(Source s, unsigned from, unsigned to, bool is_signed) {
  if (s.constant) {
    std::uint64_t v = s.value & mask_of(from);
    if (is_signed && to > from && (v >> (from - 1) & 1) != 0) v |= ~mask_of(from);
    return constant(v & mask_of(to));
  }
  if (from == to) return s;
  if (to < from) return emit(Action::trunc, to, s);
  if (!is_signed) return emit(Action::zext, to, s);
  // sext(x) = zext(x + 2^(w-1)) - 2^(w-1)
  Source const biased = emit(Action::add, from, s, constant(std::uint64_t{1} << (from - 1)));
  return emit(Action::sub, to, emit(Action::zext, to, biased), constant(std::uint64_t{1} << (from - 1)));
}

Source Steps::registers_of(Instruction const& i, std::size_t from) {
  Source all{};
  auto const look = [&](auto const& self, Operand const& o) -> void {
    if (o.kind == Kind::reg) all = function_of(64, all, reg(o.reg));
    for (Operand const& part : o.parts) self(self, part);
  };
  for (std::size_t k = from; k < i.operands.size(); ++k) look(look, i.operands[k]);
  return all;
}

Source Steps::in(Operand const& o, unsigned width, bool is_signed) {
  switch (o.kind) {
    case Kind::immediate:
      return constant(o.value & mask_of(width));
    case Kind::reg: {
      unsigned const bits = width_of(o.reg);
      if (function.registers[o.reg].bits > 64 || (bits == 1 && width != 1)) return any(width, reg(o.reg));
      return resize(reg(o.reg), bits, width, is_signed && bits < width);
    }
    case Kind::special:
      return special(o.text, width);
    case Kind::symbol:
      return symbol(o, width);
    default:
      return any(width);
  }
}

Source Steps::predicate(Operand const& o) {
  if (o.kind == Kind::immediate) return constant(o.value & 1);
  if (o.kind != Kind::reg) return any(1);
  if (width_of(o.reg) != 1) return any(1, reg(o.reg));
  return o.negated ? emit(Action::negate, 1, reg(o.reg)) : reg(o.reg);
}

Source Steps::symbol(Operand const& o, unsigned width) {
  if (o.text == "WARP_SZ") return constant(32);
  auto const found = symbols_.find(o.text);
  if (found == symbols_.end()) {  // the address of a function
    if (!is_function(module, o.text)) build.refuse(std::string(o.text) + " is not declared");
    return emit(Action::opaque, width, {}, {}, {}, build.named(o.text));
  }
  take_content(found->second);
  Source const base = emit(Action::symbol, width, {}, {}, {}, found->second);
  return o.value == 0 ? base : emit(Action::add, width, base, constant(o.value & mask_of(width)));
}

/// Reads what the module puts into an array in constant memory, once.
void Steps::take_content(std::uint32_t symbol) {
  constexpr std::uint64_t most_bytes = 4096;
  Variable& v = build.program.symbols[symbol];
  bool const may_be_known = v.space == Space::constant && symbol < module.variables.size() && v.bytes != 0 &&
                            v.bytes <= most_bytes && v.content.empty();
  if (!may_be_known || module.text == nullptr || !taken_.insert(symbol).second) return;
  if (auto bytes = initial_bytes(*module.text, v)) v.content = std::move(*bytes);
}

/// Refuses names with % that are neither registers of the function nor special ones.
void Steps::check_declared(Operand const& o) {
  static constexpr std::string_view specials[] = {
      "%tid",         "%ntid",        "%laneid",     "%warpid",    "%nwarpid",   "%ctaid",
      "%nctaid",      "%smid",        "%nsmid",      "%gridid",    "%clusterid", "%nclusterid",
      "%cluster_",    "%is_explicit", "%lanemask_",  "%clock",     "%pm",        "%envreg",
      "%globaltimer", "%reserved_",   "%total_smem", "%aggr_smem", "%dynamic_",  "%current_"};
  if (o.kind == Kind::special &&
      std::none_of(std::begin(specials), std::end(specials),
                   [&](std::string_view known) { return o.text.starts_with(known); }))
    build.refuse(std::string(o.text) + " is not declared");
  for (Operand const& part : o.parts) check_declared(part);
}

Source Steps::special(std::string_view name, unsigned width) {
  static std::unordered_map<std::string_view, Special> const known{
      {"%tid.x", Special::tid_x},         {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},         {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},       {"%ntid.z", Special::ntid_z},
      {"%ctaid.x", Special::ctaid_x},     {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},     {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y},   {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::laneid},       {"%lanemask_eq", Special::mask_eq},
      {"%lanemask_lt", Special::mask_lt}, {"%lanemask_le", Special::mask_le},
      {"%lanemask_gt", Special::mask_gt}, {"%lanemask_ge", Special::mask_ge}};
  auto const found = known.find(name);
  if (found == known.end()) {
    if (auto const place = of_cluster(name)) return resize(*place, 32, width, false);
    // The same in the whole warp, and as long as the block runs.
    for (std::string_view uniform :
         {"%nwarpid", "%gridid", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size", "%nclusterid",
          "%clusterid", "%cluster_", "%is_explicit_cluster", "%reserved_smem", "%envreg", "%nsmid"})
      if (name.starts_with(uniform)) return build.uniform(width, name);
    // One number in the lanes that read it together; another one later.
    for (std::string_view const of_warp : {"%warpid", "%smid", "%clock", "%globaltimer"})
      if (name.starts_with(of_warp))
        return emit(Action::voted, width, constant(0), {}, {}, build.named(name));
    return emit(Action::varying, width, {}, {}, {}, build.named(name));
  }
  return resize(build.special(found->second), 32, width, false);
}

std::optional<Source> Steps::of_cluster(std::string_view name) {
  std::array<std::uint32_t, 3> const& size = function.reqnctapercluster;
  if (size[0] == 0 || function.blocks_are_clusters) return std::nullopt;
  constexpr std::string_view axes = "xyz";
  std::size_t const axis = axes.find(name.back());
  std::string_view const of = name.substr(0, name.size() - 2);
  auto const in_grid = [&](Special x, std::size_t a) {
    return build.special(static_cast<Special>(static_cast<std::size_t>(x) + a));
  };
  auto const block = [&](std::size_t a) {
    return emit(Action::urem, 32, in_grid(Special::ctaid_x, a), constant(size[a]));
  };
  if (name == "%cluster_nctarank") return constant(std::uint64_t{size[0]} * size[1] * size[2]);
  if (name == "%cluster_ctarank") {
    Source const plane = emit(Action::add, 32, emit(Action::mul, 32, block(2), constant(size[1])), block(1));
    return emit(Action::add, 32, emit(Action::mul, 32, plane, constant(size[0])), block(0));
  }
  if (axis == axes.npos) return std::nullopt;
  if (of == "%cluster_nctaid") return constant(size[axis]);
  if (of == "%cluster_ctaid") return block(axis);
  if (of == "%clusterid")
    return emit(Action::udiv, 32, in_grid(Special::ctaid_x, axis), constant(size[axis]));
  if (of == "%nclusterid")
    return emit(Action::udiv, 32, in_grid(Special::nctaid_x, axis), constant(size[axis]));
  return std::nullopt;
}

void Steps::out(Operand const& o, Source value, unsigned width, bool is_signed) {
  if (o.kind == Kind::symbol) build.refuse(std::string(o.text) + " is not declared");
  if (o.kind != Kind::reg) return;
  unsigned const bits = width_of(o.reg);
  if ((bits == 1) != (width == 1)) {
    value = any(bits, value);
  } else {
    value = resize(value, width, bits, is_signed);
  }
  std::optional<Source> when;
  if (guard >= 0) when = reg(static_cast<std::uint32_t>(guard));
  if (when && guard_negated) when = emit(Action::negate, 1, *when);
  build.assign(o.reg, value, bits, when);
}

Source Steps::carry(bool borrow) {
  if (!carry_) {
    carry_ = build.temporary(1);
    bool kinds[2] = {};
    for (Instruction const& i : function.body)
      if (i.label == 0 && (i.opcode.has("cc") || i.opcode.name == "addc" || i.opcode.name == "subc" ||
                           i.opcode.name == "madc"))
        kinds[i.opcode.name.starts_with("sub") ? 1 : 0] = true;
    if (kinds[0] && kinds[1]) borrow_ = build.temporary(1);
  }
  if (!borrow_) return reg(*carry_);
  Source const other = any(1);
  return borrow ? emit(Action::choose, 1, reg(*borrow_), reg(*carry_), other)
                : emit(Action::choose, 1, reg(*borrow_), other, reg(*carry_));
}

void Steps::write_carry(Source value, bool borrow) {
  (void)carry(borrow);
  std::optional<Source> when;
  if (guard >= 0) when = reg(static_cast<std::uint32_t>(guard));
  if (when && guard_negated) when = emit(Action::negate, 1, *when);
  build.assign(*carry_, value, 1, when);
  if (borrow_) build.assign(*borrow_, constant(borrow ? 1 : 0), 1, when);
}

void Steps::unknown(Operand const& o, Source from, bool memory) {
  if (o.kind == Kind::reg) out(o, any(width_of(o.reg), from, memory), width_of(o.reg));
  if (o.kind == Kind::address) return;
  for (Operand const& part : o.parts) unknown(part, from, memory);
}
void Steps::unknown(Instruction const& i, bool memory) {
  if (!i.operands.empty()) unknown(i.operands[0], memory ? Source{} : registers_of(i, 1), memory);
}

void Steps::one_together(Instruction const& i) {
  Operand const& d = operand(i, 0);
  if (d.kind == Kind::reg && d.parts.empty())
    out(d, build.one_together(width_of(d.reg), registers_of(i, 1)), width_of(d.reg));
  else
    unknown(i);
}

void Steps::opaque(Instruction const& i) {
  if (i.operands.empty()) return;
  Operand const& d = i.operands[0];
  if (d.kind != Kind::reg || !d.parts.empty() || i.operands.size() > 4) return unknown(i);
  Source sources[3] = {};
  for (std::size_t k = 1; k < i.operands.size(); ++k) {
    Operand const& o = i.operands[k];
    if (o.kind == Kind::vector || o.kind == Kind::other || o.kind == Kind::address) return unknown(i);
    unsigned const bits = o.kind == Kind::reg ? width_of(o.reg) : 64;
    sources[k - 1] = bits == 1 ? predicate(o) : in(o, bits);
  }
  unsigned const bits = width_of(d.reg);
  // The largest of three numbers is that of the third and the larger one of the others. [PTX ISA 9.1, 9.7.3.12: max]
  bool const of_three = i.operands.size() == 4 && (i.opcode.name == "min" || i.opcode.name == "max");
  Source const two = function_of(bits, sources[0], sources[1], of_three ? Source{} : sources[2]);
  out(d, of_three ? function_of(bits, two, sources[2]) : two, bits);
}

}  // namespace swizproof::ptx
