#include "read_operands.hpp"

#include "expression.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace swizproof::ptx {

void OperandReader::read(std::string_view list, std::vector<Operand>& into, std::size_t depth) {
  if (depth > deepest) text_.fail("too many nested operands", text_.at);
  int open = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    char const c = i < list.size() ? list[i] : ',';
    bool const block = list.substr(i).starts_with("/*");
    if (block || list.substr(i).starts_with("//")) {  // a comment within: blank it out by copying
      std::string plain(list);
      std::size_t const end =
          block ? plain.find("*/", i + 2) + 2 : std::min(plain.find('\n', i), plain.size());
      plain.replace(i, end - i, end - i, ' ');
      kept_.push_back(std::make_shared<std::string const>(std::move(plain)));
      list = *kept_.back();
      continue;
    }
    open += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
    if ((c == ',' && open == 0) || i == list.size()) {
      std::string_view const one = trimmed(list.substr(from, i - from));
      from = i + 1;
      if (!one.empty()) into.push_back(operand(one, depth));
    }
  }
}

Operand OperandReader::operand(std::string_view t, std::size_t depth) {
  Operand o;
  o.text = t;
  if (auto const n = depth > 0 || t[0] != '(' ? constant_of(t) : std::nullopt) {
    o.kind = Operand::Kind::immediate;
    o.value = *n;
    return o;
  }
  std::size_t const bar = t.find('|', t[0] == '{' ? std::min(t.rfind('}'), t.size()) : 0);
  if (bar != t.npos && bar > 0 && depth < deepest && t.find_first_of("([!") != 0) {
    std::string_view const second = trimmed(t.substr(bar + 1));
    o = operand(trimmed(t.substr(0, bar)), depth + 1);
    if (!second.empty()) o.parts.push_back(operand(second, depth + 1));
    return o;
  }
  if (t[0] == '{' || t[0] == '(') {
    o.kind = Operand::Kind::vector;
    read(t.substr(1, t.size() > 1 ? t.size() - 2 : 0), o.parts, depth + 1);
    return o;
  }
  if (t[0] == '[') return address(t, depth);
  if (t[0] == '!') {
    o = operand(trimmed(t.substr(1)).empty() ? "_" : trimmed(t.substr(1)), depth + 1);
    o.negated = true;
    return o;
  }
  return name(t);
}

Operand OperandReader::name(std::string_view t) const {
  Operand o;
  o.text = t;
  if (t.empty() || t == "_") return o;
  if (std::isdigit(static_cast<unsigned char>(t[0])) || t[0] == '-') {
    o.kind = Operand::Kind::immediate;
    if (t.size() > 2 && t[0] == '0' && (t[1] == 'f' || t[1] == 'F' || t[1] == 'd' || t[1] == 'D')) {
      o.value = integer("0x" + std::string(t.substr(2))).value_or(0);
    } else {
      o.kind = Operand::Kind::other;
    }
    return o;
  }
  if (auto const reg = scopes_.find_register(t)) {
    o.kind = Operand::Kind::reg;
    o.reg = *reg;
    return o;
  }
  for (char const lane : std::string_view("xyzw")) {  // of a register of several lanes
    auto const reg = scopes_.find_register(std::string(t) + '.' + lane);
    if (!reg) break;
    o.kind = Operand::Kind::vector;
    o.parts.emplace_back().kind = Operand::Kind::reg;
    o.parts.back().text = t, o.parts.back().reg = *reg;
  }
  if (o.kind == Operand::Kind::vector) return o;
  if (t[0] == '%') {
    o.kind = Operand::Kind::special;
    return o;
  }
  o.kind = Operand::Kind::symbol;
  if (std::size_t const plus = t.find('+'); plus != t.npos) {
    auto const n = constant_of(t.substr(plus + 1));
    if (!n) o.kind = Operand::Kind::other;
    o.text = trimmed(t.substr(0, plus));
    o.value = n.value_or(0);
  }
  o.text = scopes_.visible(o.text);
  return o;
}

/// `[base]`, `[base+4]`, `[base+-4]`, `[base, {c0, c1}]`, `[4]`.
Operand OperandReader::address(std::string_view t, std::size_t depth) {
  Operand o;
  o.kind = Operand::Kind::address;
  o.text = t;
  if (t.size() < 2 || t.back() != ']') {
    o.kind = Operand::Kind::other;
    return o;
  }
  std::string_view const inner = trimmed(t.substr(1, t.size() - 2));
  if (inner.empty()) return o;
  if (inner.find(',') != inner.npos) {
    read(inner, o.parts, depth + 1);
    return o;
  }
  if (auto const n = constant_of(inner)) {
    o.value = *n;
    return o;
  }
  std::size_t const plus = inner.find('+');
  std::string_view const base = trimmed(inner.substr(0, plus));
  if (std::size_t const minus = base.find('-'); minus != base.npos && minus != 0)
    text_.fail_in(base, minus, "an address is a base and '+' a number", "write [base+-4] for 4 bytes below");
  if (!base.empty()) o.parts.push_back(name(base));
  if (plus != inner.npos) {
    auto const n = constant_of(inner.substr(plus + 1));
    if (!n) o.kind = Operand::Kind::other;
    o.value = n.value_or(0);
  }
  return o;
}

}  // namespace swizproof::ptx
