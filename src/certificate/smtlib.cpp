// Graphs of terms as SMT-LIB 2 text, that any solver reads.
#include "certificate/smtlib.hpp"

#include <fmt/format.h>

namespace swizproof {

namespace {

std::string_view symbol_of(Op op) {
  switch (op) {
    case Op::bv_xor:
      return "bvxor";
    case Op::bv_and:
      return "bvand";
    case Op::bv_or:
      return "bvor";
    case Op::bv_add:
      return "bvadd";
    case Op::bv_sub:
      return "bvsub";
    case Op::bv_mul:
      return "bvmul";
    case Op::bv_udiv:
      return "bvudiv";
    case Op::bv_urem:
      return "bvurem";
    case Op::bv_shl:
      return "bvshl";
    case Op::bv_lshr:
      return "bvlshr";
    case Op::ite:
      return "ite";
    case Op::eq:
      return "=";
    case Op::ult:
      return "bvult";
    case Op::negation:
      return "not";
    case Op::conjunction:
      return "and";
    case Op::disjunction:
      return "or";
    default:
      return "?";
  }
}

std::string literal(std::uint64_t value, unsigned width) {
  return width % 4 == 0 ? fmt::format("#x{:0{}x}", value, width / 4) : fmt::format("#b{:0{}b}", value, width);
}

/// Prints the cone of the formulas: nodes that are used once in their place, the others by a name.
class Printer {
 public:
  explicit Printer(Terms const& terms)
      : terms_(terms), uses_(terms.nodes().size(), 0), known_(uses_.size()) {}

  void count(std::uint32_t id) {
    if (++uses_[id] > 1) return;
    for (std::uint32_t const operand : operands(terms_.nodes()[id])) count(operand);
  }
  /// Defines what the formula needs, and returns it as text.
  std::string define(std::uint32_t id, std::string& out) {
    if (!known_[id].empty()) return known_[id];
    Node const& n = terms_.nodes()[id];
    std::string text;
    switch (n.op) {
      case Op::constant:
        return literal(n.value, n.width);
      case Op::truth:
        return n.value != 0 ? "true" : "false";
      case Op::variable:
        return known_[id] = fmt::format("|{}|", terms_.unknowns()[n.value].name);
      case Op::truncate:
        text = fmt::format("((_ extract {} 0) {})", n.width - 1, define(n.a, out));
        break;
      case Op::zero_extend:
        text = fmt::format("((_ zero_extend {}) {})", n.width - terms_.nodes()[n.a].width, define(n.a, out));
        break;
      default:
        text = "(" + std::string(symbol_of(n.op));
        for (std::uint32_t const operand : operands(n)) text += " " + define(operand, out);
        text += ")";
    }
    if (uses_[id] < 2 && text.size() < 2000) return text;
    std::string const sort = n.width == 0 ? "Bool" : fmt::format("(_ BitVec {})", n.width);
    out += fmt::format("(define-fun t{} () {} {})\n", id, sort, text);
    return known_[id] = fmt::format("t{}", id);
  }

 private:
  Terms const& terms_;
  std::vector<unsigned> uses_;
  std::vector<std::string> known_;
};

std::string without(std::string text, std::string_view bad) {
  for (char& c : text)
    if (bad.find(c) != bad.npos || static_cast<unsigned char>(c) < 32) c = ' ';
  return text;
}

}  // namespace

std::string smtlib(Heading const& heading, Violations const& violations, std::span<std::string const> names) {
  std::string out = "(set-logic QF_BV)\n(set-info :smt-lib-version 2.6)\n";
  for (auto const& [key, text] : heading.comments) out += fmt::format("; {}: {}\n", key, without(text, ""));
  out += fmt::format("(set-info :source |swizproof, claim {}: {}|)\n", without(heading.name, "|\\"),
                     without(heading.source, "|\\"));
  out += fmt::format("(set-info :status {})\n", heading.counterexample.empty() ? "unsat" : "sat");
  Terms const& terms = violations.terms;
  for (Terms::Unknown const& u : terms.unknowns())
    out += fmt::format("(declare-fun |{}| () (_ BitVec {}))\n", u.name, u.bits);
  for (std::size_t i = 0; i < heading.counterexample.size(); ++i) {
    Terms::Unknown const& u = terms.unknowns()[i];
    out += fmt::format("(assert (= |{}| {}))\n", u.name, literal(heading.counterexample[i], u.bits));
  }
  Printer printer(terms);
  for (Formula const& formula : violations.formulas) printer.count(formula.id);
  std::string any;
  for (std::size_t i = 0; i < violations.formulas.size(); ++i) {
    if (violations.formulas[i].id == 0) continue;  // false: decided when it was built
    std::string const name = fmt::format("|{}: {}|", i, without(names[i], "|\\"));
    std::string const text = printer.define(violations.formulas[i].id, out);
    out += fmt::format("(define-fun {} () Bool {})\n", name, text);
    any += "\n  " + name;
  }
  return out + "(assert (or false" + any + "))\n(check-sat)\n(exit)\n";
}

}  // namespace swizproof
