#include "address_text.hpp"

#include <swizproof/core/word.hpp>

#include <fmt/format.h>

namespace swizproof::kernel_detail {
namespace {

using execution::Leaf;
using execution::Phi;
using Id = std::uint32_t;

constexpr std::size_t longest_address = 240;

/// Prints a term as C would write it, up to a length.
class TermPrinter {
 public:
  TermPrinter(program::Program const& program, execution::Execution const& execution)
      : program_(program), execution_(execution) {}

  std::string text(Id id) {
    std::string out = print(id, 0, 0);
    if (out.size() > longest_address) out.replace(longest_address, std::string::npos, "...");
    return out;
  }

 private:
  std::string print(Id id, int outer, int depth) {
    if (depth > 40 || (budget_ += 1) > 200) return "...";
    Node const& n = execution_.terms.nodes()[id];
    auto const infix = [&](char const* op, int strength) {
      std::string const t = print(n.a, strength, depth + 1) + op + print(n.b, strength + 1, depth + 1);
      return strength < outer ? "(" + t + ")" : t;
    };
    switch (n.op) {
      case Op::constant:
        return number(n);
      case Op::variable:
        return leaf(n, depth);
      case Op::bv_add:
        if (Node const& b = execution_.terms.nodes()[n.b];
            b.op == Op::constant && b.value >> (b.width - 1) != 0)
          return parenthesized(
              print(n.a, 5, depth + 1) + fmt::format(" - {}", (0 - b.value) & low_bits(b.width)), 5 < outer);
        if (Node const& a = execution_.terms.nodes()[n.a];
            a.op == Op::constant && a.value >> (a.width - 1) == 0)
          return parenthesized(print(n.b, 5, depth + 1) + " + " + number(a), 5 < outer);
        return infix(" + ", 5);
      case Op::bv_sub:
        return infix(" - ", 5);
      case Op::bv_mul:
        return infix(" * ", 6);
      case Op::bv_udiv:
        return infix(" / ", 6);
      case Op::bv_urem:
        return infix(" % ", 6);
      case Op::bv_shl:
        return infix(" << ", 4);
      case Op::bv_lshr:
        return infix(" >> ", 4);
      case Op::bv_and:
        return infix(" & ", 3);
      case Op::bv_xor:
        return infix(" ^ ", 2);
      case Op::bv_or:
        return infix(" | ", 1);
      case Op::eq:
        return infix(" == ", 3);
      case Op::ult:
        return infix(" < ", 3);
      case Op::conjunction:
        return infix(" && ", 1);
      case Op::disjunction:
        return infix(" || ", 0);
      case Op::negation:
        return "!(" + print(n.a, 0, depth + 1) + ")";
      case Op::ite:
        return parenthesized(
            print(n.a, 1, depth + 1) + " ? " + print(n.b, 1, depth + 1) + " : " + print(n.c, 0, depth + 1),
            outer > 0);
      case Op::zero_extend:
      case Op::truncate:
        return print(n.a, outer, depth + 1);
      case Op::truth:
        break;
    }
    return n.value != 0 ? "true" : "false";
  }
  static std::string parenthesized(std::string t, bool wrap) { return wrap ? "(" + t + ")" : t; }
  static std::string number(Node const& n) {
    return n.value < 1024 ? fmt::format("{}", n.value) : fmt::format("{:#x}", n.value);
  }

  std::string leaf(Node const& n, int depth) {
    Leaf const& l = execution_.leaves[n.value];
    static constexpr char const* specials[] = {
        "tid.x",   "tid.y",       "tid.z",       "ntid.x",      "ntid.y",      "ntid.z",
        "ctaid.x", "ctaid.y",     "ctaid.z",     "nctaid.x",    "nctaid.y",    "nctaid.z",
        "laneid",  "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge"};
    switch (l.kind) {
      case Leaf::Kind::special:
        return l.extra < std::size(specials) ? specials[l.extra] : "launch";
      case Leaf::Kind::symbol:
        return short_name(program_.symbols[l.extra].name);
      case Leaf::Kind::param:
        return short_name(program_.symbols[l.extra].name) +
               (l.offset == 0 ? "" : fmt::format("[{}]", l.offset));
      case Leaf::Kind::counter:
        return fmt::format("i{}", l.loop);
      case Leaf::Kind::load:
        return fmt::format("load@{}", l.line);
      case Leaf::Kind::phi: {
        Phi const& p = execution_.phis[static_cast<std::size_t>(execution_.phi_of[n.value])];
        if (p.kind == Phi::Kind::same) return print(p.init, 9, depth + 1);
        if (p.kind == Phi::Kind::affine)
          return "(" + print(p.init, 5, depth + 1) + fmt::format(" + i{} * ", p.loop) +
                 print(p.step, 7, depth + 1) + ")";
        return fmt::format("loop@{}", l.line);
      }
      case Leaf::Kind::exit:
        return print(l.args[0], 9, depth + 1);
      case Leaf::Kind::shuffle:
        return fmt::format("shfl@{}", l.line);
      default:
        return fmt::format("{}@{}", execution::maps(program_, l) ? "mapa" : "value", l.line);
    }
  }
  program::Program const& program_;
  execution::Execution const& execution_;
  int budget_ = 0;
};

}  // namespace

std::string text_of_term(program::Program const& program, execution::Execution const& execution,
                         std::uint32_t id) {
  return TermPrinter(program, execution).text(id);
}

}  // namespace swizproof::kernel_detail
