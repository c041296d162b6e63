#include "scopes.hpp"

#include <cctype>
#include <charconv>
#include <system_error>

namespace swizproof::ptx {

namespace {

constexpr std::uint64_t most_registers = 4'000'000;  ///< of one function

}  // namespace

Scopes::Scopes(Function& function, std::vector<std::shared_ptr<std::string const>>& kept)
    : function_(function), kept_(kept) {
  for (auto const* list : {&function.returned, &function.params})
    for (Variable const& v : *list) ++declared_[v.name];
}

void Scopes::open() {
  scopes_.emplace_back();
  scopes_.back().start = function_.body.size();
}

void Scopes::close() {
  resolve_labels();
  scopes_.pop_back();
}

void Scopes::resolve_labels() {
  auto const& labels = scopes_.back().labels;
  for (std::size_t i = scopes_.back().start; i < function_.body.size(); ++i)
    for (Operand& o : function_.body[i].operands)
      if (o.kind == Operand::Kind::symbol && o.reg == 0)
        if (auto const label = labels.find(o.text); label != labels.end())
          o.reg = 1 + label->second;  // a label's number, of a symbol that is one
}

std::optional<std::uint32_t> Scopes::undefined_label() {
  resolve_labels();
  for (Instruction const& i : function_.body)
    if (i.opcode.text == "bra" || i.opcode.text == "bra.uni")
      if (i.operands.size() != 1 || i.operands[0].reg == 0) return i.line;
  return std::nullopt;
}

std::optional<std::uint32_t> Scopes::add_register(std::string_view name, unsigned bits) {
  if (function_.registers.size() >= most_registers) return std::nullopt;
  auto const number = static_cast<std::uint32_t>(function_.registers.size());
  function_.registers.push_back({std::string(name), static_cast<std::uint8_t>(bits)});
  scopes_.back().names[name] = number;
  return number;
}

bool Scopes::add_registers(std::string_view name, std::uint64_t count, unsigned bits) {
  if (count > most_registers - function_.registers.size()) return false;
  scopes_.back().ranges[name] = {static_cast<std::uint32_t>(function_.registers.size()),
                                 static_cast<std::uint32_t>(count)};
  for (std::uint64_t i = 0; i < count; ++i)
    function_.registers.push_back({std::string(name) + std::to_string(i), static_cast<std::uint8_t>(bits)});
  return true;
}

bool Scopes::add_lanes(std::string_view name, unsigned lanes, unsigned bits) {
  constexpr std::string_view by_place = "xyzw", by_color = "rgba";
  auto const lane_of = [&](char lane) -> std::string const& {
    return *kept_.emplace_back(std::make_shared<std::string const>(std::string(name) + '.' + lane));
  };
  for (unsigned k = 0; k < lanes && k < by_place.size(); ++k) {
    auto const reg = add_register(lane_of(by_place[k]), bits);
    if (!reg) return false;
    scopes_.back().names[lane_of(by_color[k])] = *reg;
  }
  return true;
}

std::optional<std::uint32_t> Scopes::find_register(std::string_view name) const {
  for (std::size_t s = scopes_.size(); s-- > 0;) {
    Scope const& scope = scopes_[s];
    if (auto const found = scope.names.find(name); found != scope.names.end()) return found->second;
    std::size_t digits = name.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1]))) --digits;
    if (digits == name.size() || digits == 0) continue;
    // %r<10> declares %r0..%r9; a prefix may itself end with digits.
    for (std::size_t cut = digits; cut < name.size(); ++cut) {
      auto const range = scope.ranges.find(name.substr(0, cut));
      if (range == scope.ranges.end()) continue;
      std::string_view const digit = name.substr(cut);
      std::uint64_t n = 0;
      auto const [stop, error] = std::from_chars(digit.data(), digit.data() + digit.size(), n);
      if (error == std::errc{} && n < range->second.count && (digit.size() == 1 || digit[0] != '0'))
        return range->second.first + static_cast<std::uint32_t>(n);
    }
  }
  return std::nullopt;
}

void Scopes::declare(Variable& v) {
  std::size_t const times = ++declared_[v.name];
  if (times == 1) return;
  auto const old = kept_.emplace_back(std::make_shared<std::string const>(v.name));
  v.name += "'" + std::to_string(times);
  scopes_.back().variables[*old] = *kept_.emplace_back(std::make_shared<std::string const>(v.name));
}

std::string_view Scopes::visible(std::string_view name) const {
  for (std::size_t s = scopes_.size(); s-- > 0;)
    if (auto const found = scopes_[s].variables.find(name); found != scopes_[s].variables.end())
      return found->second;
  return name;
}

std::optional<std::uint32_t> Scopes::add_label(std::string_view name) {
  auto const number = static_cast<std::uint32_t>(function_.labels.size());
  if (!scopes_.back().labels.try_emplace(name, number).second) return std::nullopt;
  function_.labels.emplace_back(name);
  return 1 + number;
}

std::optional<std::string_view> Scopes::targets_of(std::string_view list) const {
  auto const found = scopes_.back().targets.find(list);
  return found == scopes_.back().targets.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace swizproof::ptx
