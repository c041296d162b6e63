#include <swizproof/sass/module.hpp>

#include "info.hpp"
#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace swizproof::sass {

namespace {

constexpr std::size_t most_instructions = 40'000'000;  ///< most instructions of one dump
constexpr std::size_t most_operands = 24;              ///< most operands of one instruction
constexpr std::size_t longest_line = 200'000;          ///< characters

/// 0x10 or -0x10, two's complement.
std::optional<std::uint64_t> hexadecimal(std::string_view s) {
  bool const minus = s.starts_with('-');
  if (minus || s.starts_with('+')) s.remove_prefix(1);
  if (!s.starts_with("0x")) return std::nullopt;
  auto const value = number(s.substr(2), 16);
  return value ? std::optional(minus ? 0 - *value : *value) : std::nullopt;
}

/// R12 with the prefix `R`; RZ is no_register.
std::optional<std::uint16_t> numbered(std::string_view s, std::string_view prefix, std::string_view zero,
                                      unsigned most) {
  if (s == zero) return no_register;
  if (!s.starts_with(prefix)) return std::nullopt;
  auto const n = number(s.substr(prefix.size()), 10);
  return n && *n <= most ? std::optional(static_cast<std::uint16_t>(*n)) : std::nullopt;
}

/// Takes a suffix off a register: R4.64 is R4, and wide.
std::string_view without_suffixes(std::string_view s, Operand& o) {
  std::string_view name = s.substr(0, s.find('.'));
  for (std::size_t at = name.size(); at < s.size();) {
    std::size_t const end = std::min(s.find('.', at + 1), s.size());
    std::string_view const suffix = s.substr(at + 1, end - at - 1);
    if (suffix == "64")
      o.wide = true;
    else if (suffix == "X4" || suffix == "X8")
      o.scale = static_cast<std::uint8_t>(suffix[1] - '0');
    else if (suffix == "X16")
      o.scale = 16;
    else if (suffix != "reuse")
      o.suffixed = true;
    at = end;
  }
  return name;
}

/// A register or predicate of any kind; false: none.
bool read_register(std::string_view s, Operand& o) {
  using Kind = Operand::Kind;
  std::string_view const name = without_suffixes(s, o);
  for (auto const& [kind, prefix, zero, most] :
       {std::tuple{Kind::uniform_predicate, "UP", "UPT", 6U}, std::tuple{Kind::uniform, "UR", "URZ", 254U},
        std::tuple{Kind::predicate, "P", "PT", 6U}, std::tuple{Kind::reg, "R", "RZ", 254U}})
    if (auto const n = numbered(name, prefix, zero, most)) {
      o.kind = kind, o.reg = *n;
      return true;
    }
  o.suffixed = o.wide = false, o.scale = 1;
  return false;
}

/// Parts of `R2.64+UR4+-0x10`; false where one is not read.
bool read_sum(std::string_view s, Operand& o) {
  for (std::size_t from = 0; from <= s.size();) {
    std::size_t const end = std::min(s.find('+', from), s.size());
    std::string_view const part = trimmed(s.substr(from, end - from));
    Operand one;
    if (auto const offset = hexadecimal(part)) {
      o.value += *offset;
    } else if (read_register(part, one) &&
               (one.kind == Operand::Kind::reg || one.kind == Operand::Kind::uniform)) {
      o.suffixed |= one.suffixed, o.wide |= one.wide;
      auto& into = one.kind == Operand::Kind::reg ? o.reg : o.uniform;
      if (into != no_register && one.reg != no_register) return false;
      if (one.reg != no_register) into = one.reg;
      if (one.scale != 1) o.scale = one.scale;
    } else {
      return false;
    }
    from = end + 1;
  }
  return true;
}

/// c[0x0][0x210], c[0x3][R2+0x10], cx[UR4][0x10].
bool read_constant(std::string_view s, Operand& o) {
  std::size_t const open = s.find("]["), first = s.find('[');
  if (!s.starts_with('c') || open == s.npos || !s.ends_with(']')) return false;
  o.kind = Operand::Kind::constant;
  std::string_view const bank = s.substr(first + 1, open - first - 1);
  auto const n = s.starts_with("c[") ? hexadecimal(bank) : std::nullopt;
  o.bank = n && *n < 32 ? static_cast<std::uint8_t>(*n) : 255;  // 255: named by a register
  return read_sum(s.substr(open + 2, s.size() - open - 3), o);
}

Operand read_operand(std::string_view s) {
  Operand o;
  o.text = s;
  for (bool more = true; more && s.size() > 1;) {
    more = false;
    bool const digit = std::isdigit(static_cast<unsigned char>(s[1])) != 0;
    if (s[0] == '!' || s[0] == '~' || (s[0] == '-' && !digit)) {
      (s[0] == '!' ? o.negated : s[0] == '~' ? o.inverted : o.negative) = true;
      s.remove_prefix(1), more = true;
    } else if (s[0] == '|' && s.find('|', 1) != s.npos) {
      std::size_t const end = s.find('|', 1);
      o.absolute = true;
      if (end + 1 != s.size() && s.substr(end + 1) != ".reuse") o.suffixed = true;
      s = s.substr(1, end - 1), more = true;
    }
  }
  if (s.starts_with("`(") && s.ends_with(')')) {
    o.kind = Operand::Kind::label, o.text = s.substr(2, s.size() - 3);
  } else if (auto const value = hexadecimal(s)) {
    o.kind = Operand::Kind::immediate, o.value = *value;
  } else if (s.find('[') != s.npos) {
    std::string_view const inner = s.ends_with(".reuse") ? s.substr(0, s.size() - 6) : s;
    if (read_constant(inner, o)) return o;
    std::size_t const open = inner.rfind('['), end = inner.find(']', open);
    o.kind = Operand::Kind::memory;
    if (end == s.npos || !read_sum(inner.substr(open + 1, end - open - 1), o)) o.suffixed = true;
  } else if (!read_register(s, o)) {
    bool const numeral =
        std::isdigit(static_cast<unsigned char>(s.empty() ? ' ' : s[0])) != 0 || s.starts_with('-');
    bool const infinite = s.ends_with("INF") || s.ends_with("NAN");
    o.kind = s.starts_with("SR")   ? Operand::Kind::special
             : numeral || infinite ? Operand::Kind::number
                                   : Operand::Kind::other;
  }
  return o;
}

class Reader {
 public:
  Reader(std::shared_ptr<std::string const> text, std::string const& name) : text_(*text), name_(name) {
    module_.text = std::move(text);
    module_.source.files.emplace_back();
  }

  Module read() {
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t const end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      if (end - at > longest_line) fail("the line has more than 200000 characters", text_.substr(at, 60));
      read_line(trimmed(text_.substr(at, end - at)));
      at = end + 1;
    }
    end_section();
    if (module_.functions.empty())
      throw InputError::whole("no section of code (.text.NAME) is in this dump", name_,
                              "nvdisasm -g FILE.cubin writes one");
    if (module_.arch == 0)
      throw InputError::whole("the dump does not name its architecture (.target sm_90)", name_,
                              "nvdisasm -g FILE.cubin writes it");
    for (Function& f : module_.functions) {
      check(f);
      f.facts = info_.facts(f.name, module_.arch);
      if (f.facts.known && !f.facts.listed)
        module_.notes.push_back(name_ + ": the list of parameters of " + f.name +
                                " has gaps and is left out: parameters are those that it reads");
    }
    return std::move(module_);
  }

 private:
  [[noreturn]] void fail(std::string const& what, std::string_view shown,
                         std::string const& hint = {}) const {
    throw InputError::whole(name_ + ":" + std::to_string(line_) + ": " + what,
                            std::string(shown.substr(0, 160)), hint);
  }

  void note(std::string const& kind) {
    if (!noted_.insert(kind).second) return;
    module_.notes.push_back(name_ + ":" + std::to_string(line_) + ": " + kind + " is left out");
  }

  void begin(std::string_view name, bool entry) {
    module_.functions.emplace_back();
    module_.functions.back().name = std::string(name);
    module_.functions.back().entry = entry;
    module_.functions.back().line = line_;
    location_ = -1;
    inlined_.clear();
  }

  void read_line(std::string_view s) {
    if (s.empty()) return;
    if (in_info_ && !s.starts_with(".section")) {
      if (std::string const wrong = info_.line(s); !wrong.empty()) fail(wrong, s);
      return;
    }
    if (s.starts_with("//##")) return read_location(trimmed(s.substr(4)));
    if (s.starts_with("//")) return;
    if (s.starts_with("Function : ")) return in_code_ = true, begin(s.substr(11), true);
    if (s.starts_with("code for ")) return read_target(s.substr(9));
    if (s.starts_with(".section\t") || s.starts_with(".section ")) return read_section(trimmed(s.substr(8)));
    if (s.starts_with(".elftype") && s.find("ET_REL") != s.npos) info_.not_linked();
    if (s.starts_with(".target")) return read_target(trimmed(s.substr(7)));
    if (s.starts_with(".headerflags")) return read_flags(s);
    if (!in_code_) return;  // sections without code, and the head of cuobjdump
    if (s.starts_with("/*")) return read_instruction(s);
    if (s.ends_with(':') && s.find(' ') == s.npos) return read_label(s.substr(0, s.size() - 1));
    if (s.starts_with(".other")) {
      bool const kernel = s.find("STO_CUDA_ENTRY") != s.npos;
      std::string_view const of = trimmed(s.substr(6, s.find(',') - 6));
      if (kernel && !module_.functions.empty() && of == module_.functions.back().name)
        module_.functions.back().entry = true;
      return;
    }
    if (s.starts_with('.')) return;  // .align, .type, .size, .global, .weak, .headerflags
    if (s.starts_with("Fatbin") || s.starts_with("=") || s.find(" = ") != s.npos) return;  // of cuobjdump
    if (s == "compressed" || s.starts_with("host = ")) return;
    if (s == "{" || s == "}")
      fail("pairs of instructions in braces are not read", s, "sm_70 and later have none");
    fail("this line is neither an instruction nor a label nor a directive", s,
         "a dump of nvdisasm -g, or of cuobjdump -sass, is read");
  }

  /// Ends a section that says how a kernel is launched.
  void end_section() {
    if (std::string const wrong = info_.end(); !wrong.empty()) fail(wrong, "end of the section");
    in_info_ = false;
  }

  void read_section(std::string_view s) {
    end_section();
    std::string_view const name = trimmed(s.substr(0, s.find(',')));
    in_code_ = name.starts_with(".text.");
    if (in_code_) begin(name.substr(6), false);
    in_info_ = info_.begin(name);
  }

  /// `.headerflags @"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_SM90 .."`: cubins of toolkits before 13 are printed without .target.
  void read_flags(std::string_view s) {
    constexpr std::string_view flag = " EF_CUDA_SM";
    std::size_t const at = s.find(flag);
    if (at == s.npos) return;
    s.remove_prefix(at + flag.size());
    std::string_view const number = s.substr(0, s.find_first_not_of("0123456789"));
    if (!number.empty()) read_target("sm_" + std::string(number));
  }

  void read_target(std::string_view s) {
    s = trimmed(s.substr(0, s.find(',')));
    if (!s.starts_with("sm_")) return;
    unsigned arch = 0;
    std::from_chars(s.data() + 3, s.data() + s.size(), arch);
    if (arch < 70 || arch > 999)
      fail("this architecture has other instructions", s, "sm_70 and later are read");
    if (module_.arch != 0 && module_.arch != arch) fail("the dump has code of two architectures", s);
    module_.arch = arch, module_.target = std::string(s);
  }

  void read_label(std::string_view name) {
    if (module_.functions.empty()) return;
    Function& f = module_.functions.back();
    if (!f.labels.try_emplace(name, static_cast<std::uint32_t>(f.body.size())).second)
      fail("this label is already defined", name);
  }

  std::uint32_t file_of(std::string_view path) {
    auto const [at, fresh] =
        files_.try_emplace(path, static_cast<std::uint32_t>(module_.source.files.size()));
    if (fresh) module_.source.files.emplace_back(path);
    return at->second;
  }

  /// Reads `File "a.cu", line 3 [inlined at "b.cu", line 7]`. Lines of inlined code follow one another, the innermost first.
  void read_location(std::string_view s) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> chain;
    bool more = false;
    while (!s.empty()) {
      std::size_t const open = s.find('"'), end = open == s.npos ? s.npos : s.find('"', open + 1);
      std::size_t const line = end == s.npos ? s.npos : s.find("line ", end);
      if (line == s.npos) break;
      std::uint32_t number_of_line = 0;
      auto const [rest, error] = std::from_chars(s.data() + line + 5, s.data() + s.size(), number_of_line);
      if (error != std::errc{}) break;
      chain.emplace_back(file_of(s.substr(open + 1, end - open - 1)), number_of_line);
      s.remove_prefix(static_cast<std::size_t>(rest - s.data()));
    }
    if (chain.empty()) return note("a comment that names no line of the source");
    // "a" inlined at "b", then "b" inlined at "c": one chain.
    if (!inlined_.empty() && fresh_ && inlined_.back() == chain.front())
      inlined_.insert(inlined_.end(), chain.begin() + 1, chain.end());
    else
      inlined_ = chain;
    (void)more;
    fresh_ = true;
    location_ = -2;  // to be made when an instruction comes
  }

  std::int32_t location() {
    if (location_ != -2) return location_;
    std::int32_t at = -1;
    for (auto i = inlined_.rbegin(); i != inlined_.rend(); ++i) {
      auto const [found, fresh] = locations_.try_emplace(
          std::tuple{i->first, i->second, at}, static_cast<std::int32_t>(module_.source.locations.size()));
      if (fresh) module_.source.locations.push_back({i->first, i->second, at});
      at = found->second;
    }
    return location_ = at;
  }

  void read_instruction(std::string_view s) {
    std::size_t const end = s.find("*/");
    if (end == s.npos) fail("the comment does not end", s);
    std::string_view const address = trimmed(s.substr(2, end - 2));
    s = trimmed(s.substr(end + 2));
    if (address.starts_with("0x") && s.empty()) return;  // the second half of an encoding
    auto const pc = number(address, 16);
    if (!pc || *pc > 0xffffffff) fail("this is no address of an instruction", address);
    if (module_.functions.empty()) return;
    Instruction i;
    i.pc = static_cast<std::uint32_t>(*pc);
    i.line = line_;
    i.location = location();
    fresh_ = false;
    if (std::size_t const encoding = s.rfind("/*"); encoding != s.npos) s = trimmed(s.substr(0, encoding));
    if (std::size_t const open = s.find("(*\""); open != s.npos) {
      read_targets(s.substr(open + 3), i);
      s = trimmed(s.substr(0, open));
    } else if (!s.ends_with(';')) {
      fail("the instruction does not end with a semicolon: the dump is cut off", s);
    }
    if (s.ends_with(';')) s = trimmed(s.substr(0, s.size() - 1));
    read_guard(s, i);
    std::size_t const space = std::min(s.find(' '), s.size());
    i.opcode = s.substr(0, space);
    if (i.opcode.empty()) fail("an instruction has no opcode", s);
    read_operands(trimmed(s.substr(space)), i);
    Function& f = module_.functions.back();
    if (!f.body.empty() && f.body.back().pc >= i.pc) fail("addresses do not ascend", address);
    if (++instructions_ > most_instructions) fail("the dump has more than 40000000 instructions", s);
    f.body.push_back(std::move(i));
  }

  /// BRANCH_TARGETS .L_x_1,.L_x_2"*);
  static void read_targets(std::string_view s, Instruction& i) {
    s = s.substr(0, s.find('"'));
    std::size_t const space = s.find(' ');
    if (!s.starts_with("BRANCH_TARGETS") || space == s.npos) return;
    s = s.substr(space + 1);
    for (std::size_t from = 0; from < s.size();) {
      std::size_t const end = std::min(s.find(',', from), s.size());
      i.targets.push_back(trimmed(s.substr(from, end - from)));
      from = end + 1;
    }
  }

  void read_guard(std::string_view& s, Instruction& i) const {
    if (!s.starts_with('@')) return;
    std::size_t const space = s.find(' ');
    Operand const o = read_operand(s.substr(1, space == s.npos ? s.npos : space - 1));
    if ((o.kind != Operand::Kind::predicate && o.kind != Operand::Kind::uniform_predicate) || space == s.npos)
      fail("the guard is no predicate", s);
    i.guard = o.kind, i.guard_reg = o.reg, i.guard_negated = o.negated;
    s = trimmed(s.substr(space));
  }

  void read_operands(std::string_view s, Instruction& i) const {
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t at = 0; at <= s.size(); ++at) {
      char const c = at < s.size() ? s[at] : ',';
      depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      if (c != ',' || (depth != 0 && at < s.size())) continue;
      if (std::string_view const one = trimmed(s.substr(from, at - from)); !one.empty()) add(one, i);
      from = at + 1;
    }
    if (i.operands.size() > most_operands) fail("the instruction has more than 24 operands", s);
  }
  /// An operand; some have two parts without a comma: `R4 -0x35d0`.
  static void add(std::string_view one, Instruction& i) {
    std::size_t const space = one.find(' ');
    if (space != one.npos && one.find('[') == one.npos && one.find('(') == one.npos) {
      add(trimmed(one.substr(0, space)), i);
      return add(trimmed(one.substr(space)), i);
    }
    i.operands.push_back(read_operand(one));
  }

  /// Labels that a branch names exist.
  void check(Function const& f) {
    for (Instruction const& i : f.body) {
      bool const jumps = i.opcode.starts_with("BRA") || i.opcode.starts_with("BRX");
      if (!jumps) continue;
      auto const known = [&](std::string_view label) {
        line_ = i.line;
        if (f.labels.count(label) == 0) fail("this label is not defined in the kernel", label);
      };
      for (Operand const& o : i.operands)
        if (o.kind == Operand::Kind::label) known(o.text);
      for (std::string_view const t : i.targets) known(t);
    }
  }

  std::string_view text_;
  std::string const& name_;
  Module module_{};
  std::uint32_t line_ = 0;
  bool in_code_ = false;
  bool in_info_ = false;
  InfoReader info_{};
  bool fresh_ = false;  ///< no instruction has come since the last line of the source
  std::size_t instructions_ = 0;
  std::int32_t location_ = -1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      inlined_{};  ///< file and line of the next instructions
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::int32_t> locations_{};
  std::unordered_map<std::string_view, std::uint32_t> files_{};
  std::set<std::string> noted_{};
};

}  // namespace

bool is_sass(std::string_view text) {
  std::string_view const head = text.substr(0, 8192);
  for (std::string_view const sign : {"\t.section\t.text.", "\t.target\tsm_", "\t.headerflags\t@\"EF_CUDA",
                                      "\n\tcode for sm_", "\n.text.", "\t\tFunction : "})
    if (head.find(sign) != head.npos) return true;
  return false;
}

Module read_module(std::string text, std::string const& name) {
  return Reader(std::make_shared<std::string const>(std::move(text)), name).read();
}

}  // namespace swizproof::sass
