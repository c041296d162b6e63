#include "uses.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace swizproof::flow_detail {

namespace {

using Kind = ptx::Operand::Kind;
using program::Space;

/// `f16` of f16x2, `i32` of s32, `s4x2` of s4; empty of no type.
std::string element_type_of(std::string_view part) {
  if (part == "s4" || part == "u4") return pair_type(part);
  if (part.ends_with("x2")) part.remove_suffix(2);
  if (part == "tf32") return "f32";
  if (format_of(part) != Format::integer) return std::string(part);
  program::Type const t = program::type_of(part);
  if (!t.integer() || t.bits < 8 || t.bits > 64) return {};
  return (t.kind == 's' ? "i" : "u") + std::to_string(t.bits);
}

/// True of a type that is more than its number of bits.
bool is_float(std::string const& type) {
  return !type.empty() && ((type[0] != 'i' && type[0] != 'u') || is_pair(format_of(type)));
}

/// Calls fn(register) for the registers of an operand that are no predicates.
template <class Fn>
void each_value(FlowKernel const& kernel, ptx::Operand const& o, Fn const& fn) {
  if (o.kind == Kind::reg && kernel.program.widths[o.reg] > 1) fn(o.reg);
  if (o.kind == Kind::vector)
    for (ptx::Operand const& p : o.parts) each_value(kernel, p, fn);
}

/// Classes of registers and of memory whose elements have one type.
class Uses {
 public:
  explicit Uses(FlowKernel const& kernel) : kernel_(kernel), bases_(kernel.function.registers.size()) {}

  std::vector<ParameterUse> find() {
    for (bool more = true; more;) {
      more = false;
      each([&](ptx::Instruction const& i, Decoded const& d) { more = find_bases(i, d) || more; });
    }
    classes_.resize(bases_.size() + 2 * roots_.size());
    std::iota(classes_.begin(), classes_.end(), 0U);
    each([&](ptx::Instruction const& i, Decoded const& d) { join(i, d); });
    each([&](ptx::Instruction const& i, Decoded const& d) { look(i, d); });
    std::vector<ParameterUse> out;
    for (std::size_t r = 0; r < roots_.size(); ++r) {
      if (roots_[r].symbol || (roots_[r].address && !roots_[r].use.tensor_map)) continue;
      ParameterUse use = roots_[r].use;
      bool const value = !use.pointer && !use.tensor_map;
      use.type = type_of_class(value ? of_value(r) : of_elements(r), value ? 8 * use.bytes : width_[r]);
      out.push_back(std::move(use));
    }
    std::sort(out.begin(), out.end(), [](ParameterUse const& a, ParameterUse const& b) {
      return std::pair(a.param, a.offset) < std::pair(b.param, b.offset);
    });
    return out;
  }

 private:
  /// Origin of an address: the value of a parameter, its own address, or a variable.
  struct Root {
    ParameterUse use{};
    bool address = false, symbol = false, global = false;
  };
  using Bases = std::set<std::size_t>;

  template <class Fn>
  void each(Fn const& fn) {
    for (std::size_t i = 0; i < kernel_.function.body.size(); ++i)
      if (kernel_.function.body[i].label == 0 && !kernel_.function.body[i].operands.empty())
        fn(kernel_.function.body[i], kernel_.decoded[i]);
  }

  std::size_t root(std::size_t param, std::uint64_t offset, bool address, bool symbol, unsigned bytes) {
    auto const [at, fresh] = numbers_.try_emplace({param, offset, address, symbol}, roots_.size());
    if (fresh) {
      roots_.push_back({{param, offset, bytes}, address, symbol});
      width_.push_back(0);
    }
    return at->second;
  }

  [[nodiscard]] std::optional<std::size_t> param_named(std::string_view name) const {
    auto const& all = kernel_.function.params;
    auto const at = std::find_if(all.begin(), all.end(), [&](auto const& v) { return v.name == name; });
    if (at == all.end()) return std::nullopt;
    return static_cast<std::size_t>(at - all.begin());
  }

  Bases of(ptx::Operand const& o) {
    if (o.kind == Kind::reg) return bases_[o.reg];
    if (o.kind == Kind::address && !o.parts.empty()) return of(o.parts[0]);
    if (o.kind != Kind::symbol) return {};
    if (auto const param = param_named(o.text)) return {root(*param, o.value, true, false, 128)};
    for (std::size_t s = 0; s < kernel_.program.symbols.size(); ++s)
      if (kernel_.program.symbols[s].name == o.text) return {root(s, 0, false, true, 0)};
    return {};
  }

  bool add(ptx::Operand const& to, Bases const& from) {
    if (to.kind != Kind::reg || from.empty()) return false;
    std::size_t const before = bases_[to.reg].size();
    bases_[to.reg].insert(from.begin(), from.end());
    return bases_[to.reg].size() != before;
  }

  /// Registers that a parameter's value or an address reaches by sums. True if one is new.
  bool find_bases(ptx::Instruction const& i, Decoded const& d) {
    auto const& o = i.operands;
    for (ptx::Operand const& one : o) (void)of(one);  // all roots are known when the classes are made
    if (d.handler == Handler::load && d.space == Space::param) return load_param(i, d);
    bool more = false;
    auto const take = [&](std::size_t k) {
      if (k < o.size()) more = add(o[0], of(o[k])) || more;
    };
    if (d.name == "mov" || d.name == "cvta" || d.name == "cvt" || d.name == "sub" || d.name == "mapa")
      take(1);
    if (d.name == "add" || d.name == "selp") take(1), take(2);
    if (d.name == "mad") take(3);
    if (d.name == "cvta" && d.space == Space::global)
      for (std::size_t const r : of(o[1])) roots_[r].global = true;
    return more;
  }

  bool load_param(ptx::Instruction const& i, Decoded const& d) {
    ptx::Operand const& where = i.operands[1];
    if (where.kind != Kind::address || where.parts.size() != 1) return false;
    bool more = false;
    unsigned const bytes = d.type.bits / 8;
    for (std::size_t k = 0; k < d.lanes; ++k) {
      ptx::Operand const& to = d.lanes == 1 ? i.operands[0] : i.operands[0].parts[k];
      if (where.parts[0].kind == Kind::symbol) {
        if (auto const param = param_named(where.parts[0].text))
          more =
              add(to, {root(*param, where.value + where.parts[0].value + k * bytes, false, false, bytes)}) ||
              more;
        continue;
      }
      for (std::size_t const r : of(where.parts[0])) {
        if (!roots_[r].address) continue;
        std::size_t const value =
            root(roots_[r].use.param, roots_[r].use.offset + where.value + k * bytes, false, false, bytes);
        more = add(to, {value}) || more;
      }
    }
    return more;
  }

  [[nodiscard]] std::size_t of_value(std::size_t root) const { return bases_.size() + 2 * root; }
  [[nodiscard]] std::size_t of_elements(std::size_t root) const { return bases_.size() + 2 * root + 1; }

  std::size_t found(std::size_t n) {
    while (classes_[n] != n) n = classes_[n] = classes_[classes_[n]];
    return n;
  }
  void unite(std::size_t a, std::size_t b) { classes_[found(a)] = found(b); }

  /// Origins of an address: of several parameters those that are made addresses of global memory, if there are some.
  Bases memory_of(ptx::Operand const& address) {
    Bases all = of(address);
    bool const any = std::any_of(all.begin(), all.end(), [&](std::size_t r) { return roots_[r].global; });
    std::erase_if(all, [&](std::size_t r) {
      Root const& x = roots_[r];
      return x.address || (!x.symbol && (x.use.bytes != 8 || (any && !x.global)));
    });
    return all;
  }

  void access(ptx::Operand const& address, ptx::Operand const* data, unsigned bits, bool stores) {
    for (std::size_t const r : memory_of(address)) {
      roots_[r].use.pointer = true;
      (stores ? roots_[r].use.stores : roots_[r].use.loads) = true;
      width_[r] = std::max(width_[r], bits);
      if (data != nullptr) each_value(kernel_, *data, [&](std::size_t reg) { unite(reg, of_elements(r)); });
    }
  }

  /// A copy from memory to memory.
  void copy(ptx::Operand const& to, ptx::Operand const& from) {
    access(to, nullptr, 32, true), access(from, nullptr, 32, false);
    for (std::size_t const a : memory_of(to))
      for (std::size_t const b : memory_of(from)) unite(of_elements(a), of_elements(b));
  }

  /// A copy of a tensor: `map` and its coordinates, and shared memory.
  void copy_tensor(ptx::Operand const& map, ptx::Operand const& shared, bool stores) {
    for (std::size_t const r : of(map)) {
      if (!roots_[r].address) continue;
      ParameterUse& use = roots_[r].use;
      use.tensor_map = true, (stores ? use.stores : use.loads) = true;
      use.dimensions = map.parts.size() == 2 ? static_cast<unsigned>(map.parts[1].parts.size()) : 0;
      for (std::size_t const s : memory_of(shared)) unite(of_elements(r), of_elements(s));
    }
  }

  void join(ptx::Instruction const& i, Decoded const& d) {
    auto const& o = i.operands;
    switch (d.handler) {
      case Handler::load:
        if (d.space == Space::param) return join_param(i, d);
        return access(o[1], &o[0], d.type.bits, false);
      case Handler::store:
        return access(o[0], &o[1], d.type.bits, true);
      case Handler::atomic: {
        std::size_t const at = d.name == "atom" ? 1 : 0;
        access(o[at], &o.back(), d.type.bits, true);
        return access(o[at], &o[0], d.type.bits, false);
      }
      case Handler::ldmatrix:
        return access(o[1], &o[0], 16, false);
      case Handler::stmatrix:
        return access(o[0], &o[1], 16, true);
      case Handler::copy_async:
      case Handler::bulk_load_bytes:
      case Handler::bulk_store_bytes:
        return copy(o[0], o[1]);
      case Handler::bulk_copy:
        return copy_tensor(o[1], o[0], false);
      case Handler::bulk_store:
        return copy_tensor(o[0], o[1], true);
      default:
        break;
    }
    std::size_t const moved = d.name == "mov" || d.name == "shfl" || d.name == "movmatrix" ? 2
                              : d.name == "selp" || d.name == "prmt"                       ? 3
                                                                                           : 0;
    std::optional<std::size_t> first;
    for (std::size_t k = 0; k < std::min(moved, o.size()); ++k)
      each_value(kernel_, o[k], [&](std::size_t reg) {
        if (first) unite(reg, *first);
        first = reg;
      });
  }

  void join_param(ptx::Instruction const& i, Decoded const& d) {
    for (std::size_t k = 0; k < d.lanes; ++k) {
      ptx::Operand const& to = d.lanes == 1 ? i.operands[0] : i.operands[0].parts[k];
      if (to.kind != Kind::reg) continue;
      for (std::size_t const r : bases_[to.reg])
        if (!roots_[r].address && !roots_[r].symbol && bases_[to.reg].size() == 1) unite(to.reg, of_value(r));
    }
  }

  void saw(ptx::Operand const& o, std::string const& type) {
    if (!type.empty()) each_value(kernel_, o, [&](std::size_t reg) { ++seen_[found(reg)][type]; });
  }

  /// Types of an instruction's operands.
  void look(ptx::Instruction const& i, Decoded const& d) {
    auto const& o = i.operands;
    std::size_t const last = d.parts.size() - 1;
    auto const part = [&](std::size_t back) {
      return back <= last ? element_type_of(d.parts[last - back]) : std::string{};
    };
    if (d.handler == Handler::mma && o.size() >= 4) {
      for (std::size_t k = 0; k < 4; ++k) saw(o[k], part(3 - k));
      return;
    }
    if (d.handler == Handler::wgmma) {
      saw(o[0], part(2));
      if (o.size() > 1 && o[1].kind == Kind::vector) saw(o[1], part(1));
      for (std::size_t r = 0; r < roots_.size(); ++r)
        if (roots_[r].symbol) ++seen_[found(of_elements(r))][part(1)];
      return;
    }
    if (d.handler == Handler::convert) {
      saw(o[0], part(1));
      for (std::size_t k = 1; k < o.size(); ++k) saw(o[k], part(0));
      return;
    }
    if (d.handler == Handler::load || d.handler == Handler::store || d.handler == Handler::atomic) {
      if (is_float(part(0))) saw(o[d.handler == Handler::load ? 0 : o.size() - 1], part(0));
      return;
    }
    if (d.type.kind == 'f' || d.handler == Handler::real)
      for (ptx::Operand const& one : o) saw(one, part(0));
  }

  /// The floating-point type that was seen most, of this width if there is one; else the integer of the width.
  std::string type_of_class(std::size_t n, unsigned bits) {
    std::string best;
    unsigned most = 0;
    for (auto const& [type, count] : seen_[found(n)])
      if (is_float(type) && count > most) best = type, most = count;
    if (!best.empty()) return best;
    for (auto const& [type, count] : seen_[found(n)])
      if (type.substr(1) == std::to_string(bits) && count > most) best = type, most = count;
    return best.empty() ? "u" + std::to_string(bits == 0 ? 32 : bits) : best;
  }

  FlowKernel const& kernel_;
  std::vector<Bases> bases_;  ///< of each register
  std::vector<Root> roots_{};
  std::vector<unsigned> width_{};  ///< of the widest access behind each root
  std::map<std::tuple<std::size_t, std::uint64_t, bool, bool>, std::size_t> numbers_{};
  std::vector<std::size_t> classes_{};
  std::map<std::size_t, std::map<std::string, unsigned>> seen_{};
};

}  // namespace

std::vector<ParameterUse> uses_of(FlowKernel const& kernel) { return Uses(kernel).find(); }

}  // namespace swizproof::flow_detail
