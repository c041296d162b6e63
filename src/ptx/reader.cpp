#include "characters.hpp"
#include "expression.hpp"
#include "read_operands.hpp"
#include "scopes.hpp"
#include "vectors.hpp"

#include <swizproof/ptx/module.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <utility>

namespace swizproof::ptx {

namespace {

Space space_of(std::string_view w) {
  if (w == ".shared") return Space::shared;
  if (w == ".global") return Space::global;
  if (w == ".const") return Space::constant;
  if (w == ".local") return Space::local;
  if (w == ".param") return Space::param;
  if (w == ".reg") return Space::reg;
  return Space::generic;
}

unsigned bits_of(std::string_view type) {
  if (type == ".pred") return 1;
  if (type == ".f16x2" || type == ".bf16x2") return 32;
  std::size_t const digit = type.find_first_of("0123456789");
  if (digit == type.npos) return 64;  // .texref, .samplerref
  unsigned bits = 0;
  std::from_chars(type.data() + digit, type.data() + type.size(), bits);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits : 64;
}

/// Types, variables and shapes, as functions and files declare them.
class Declarations {
 public:
  explicit Declarations(Characters& text) : text_(text) {}

  /// `.align 16 .b8 name[4096] = {..}, other[];` behind the space. A register declaration is another matter.
  void variables(Space space, std::vector<Variable>& into, bool external) {
    Variable v;
    v.space = space;
    unsigned bits = 0, lanes = 1;
    type(v.align, bits, lanes);
    v.align = std::max({v.align, lanes * std::max(bits, 8U) / 8, 1U});
    do {
      v.name = text_.word();
      v.bytes = dimensions(std::uint64_t{lanes} * std::max(bits, 8U) / 8);
      v.extern_array = v.bytes == 0;
      if (external && space != Space::shared) v.extern_array = false;
      into.push_back(v);
      if (text_.accept('=')) {
        text_.skip_initializer();
      }
    } while (text_.accept(','));
    text_.expect(';');
  }

  /// `.align 8 .v4 .f32`, `.attribute(..)`, `.ptr .global .align 4`. Returns true for a pointer, whose address the alignment is of.
  bool type(std::uint32_t& align, unsigned& bits, unsigned& lanes) {
    bool pointer = false;
    while (text_.peek() == '.') {
      std::string_view const w = text_.directive();
      pointer = pointer || w == ".ptr";
      if (w == ".align") {
        std::uint64_t const n = text_.number();
        if (n == 0 || n > 1U << 20 || !std::has_single_bit(n))
          text_.fail("an alignment is a power of two", text_.at);
        align = static_cast<std::uint32_t>(n);
      } else if (w == ".attribute") {
        text_.expect('(');
        while (!text_.accept(')')) {
          if (text_.ended()) text_.fail("the attribute does not end", text_.at);
          ++text_.at;
        }
      } else if (w == ".v2" || w == ".v4" || w == ".v8") {
        lanes = static_cast<unsigned>(w[2] - '0');
      } else if (w != ".ptr" && space_of(w) == Space::generic && w != ".managed" && w != ".unified") {
        bits = bits_of(w);
      }
    }
    return pointer;
  }

  /// `(.param .u64 a, .reg .u32 b)`.
  void parameters(std::vector<Variable>& into) {
    text_.expect('(');
    while (!text_.accept(')')) {
      std::size_t const from = text_.at;
      std::string_view const w = text_.directive();
      if (space_of(w) == Space::generic) text_.fail("expected a parameter", from);
      Variable v;
      v.space = space_of(w) == Space::reg ? Space::reg : Space::param;
      unsigned bits = 32, lanes = 1;
      std::uint32_t pointed = 1;
      if (type(pointed, bits, lanes)) v.points_to = pointed;
      v.lanes = static_cast<std::uint8_t>(lanes);
      v.name = text_.word();
      v.array = text_.peek() == '[';
      v.bytes = dimensions(std::uint64_t{lanes} * std::max(bits, 8U) / 8);
      into.push_back(std::move(v));
      if (!text_.accept(',') && text_.peek() != ')') text_.fail("expected ',' or ')'", text_.at);
    }
  }

  void shape(std::array<std::uint32_t, 3>& shape, unsigned* dims = nullptr) {
    shape = {1, 1, 1};
    for (unsigned i = 0; i < 3; ++i) {
      std::uint64_t const n = text_.number();
      if (n == 0 || n > 65535) text_.fail("a dimension is 1 to 65535", text_.at);
      shape[i] = static_cast<std::uint32_t>(n);
      if (dims != nullptr) *dims = i + 1;
      if (!text_.accept(',')) break;
    }
  }

 private:
  /// The bytes of `name[3][4]`; 0 for `name[]`.
  std::uint64_t dimensions(std::uint64_t bytes) {
    while (text_.accept('[')) {
      std::uint64_t const n = text_.peek() == ']' ? 0 : text_.number();
      text_.expect(']');
      if (n != 0 && bytes > (std::uint64_t{1} << 40) / n) text_.fail("the array is too large", text_.at);
      bytes *= n;
    }
    return bytes;
  }

  Characters& text_;
};

/// The body of a function.
class Body {
 public:
  Body(Characters& text, Module& module, Function& function)
      : text_(text), module_(module), function_(function), scopes_(function, module.kept) {
    for (auto const* list : {&function.returned, &function.params})
      for (Variable const& v : *list)
        if (v.space == Space::reg) {
          auto const bits = static_cast<unsigned>(std::min<std::uint64_t>(8 * v.bytes, 128));
          (void)(v.lanes > 1 ? scopes_.add_lanes(v.name, v.lanes, bits / v.lanes)
                             : scopes_.add_register(v.name, bits).has_value());
        }
  }

  /// Reads up to behind its closing brace.
  void read() {
    statements();
    if (auto const line = scopes_.undefined_label())
      text_.fail_at_line("the label of this branch is not defined", *line);
  }

 private:
  void statements() {
    std::size_t depth = 1;
    while (depth > 0) {
      char const c = text_.peek();
      if (c == '\0')
        text_.fail("the function " + function_.name + " does not end", text_.at, "is the file truncated?");
      if (c == '}') {
        ++text_.at, --depth;
        if (depth > 0) scopes_.close();
      } else if (c == '{') {
        ++text_.at, ++depth;
        if (depth > deepest) text_.fail("too many nested scopes", text_.at);
        scopes_.open();
      } else if (c == ';') {
        ++text_.at;
      } else if (c == '.') {
        directive();
      } else {
        instruction();
      }
    }
  }

  void directive() {
    std::size_t const from = text_.at;
    std::string_view const w = text_.directive();
    if (w == ".reg") return registers();
    if (w == ".loc") return location();
    if (w == ".pragma" || w == ".branchtargets" || w == ".calltargets" || w == ".callprototype") {
      (void)text_.rest_of_statement();
      return;
    }
    if (w == ".section") {
      (void)text_.word();
      return text_.skip_braces();
    }
    if (w == ".extern" || w == ".visible" || w == ".weak") return directive();
    if (space_of(w) == Space::generic) text_.fail("unknown directive " + std::string(w), from);
    std::size_t const first = function_.variables.size();
    declarations_.variables(space_of(w), function_.variables, false);
    for (std::size_t k = first; k < function_.variables.size(); ++k) scopes_.declare(function_.variables[k]);
  }

  void registers() {
    std::uint32_t align = 1;
    unsigned bits = 32, lanes = 1;
    declarations_.type(align, bits, lanes);
    do {
      std::string_view const name = text_.word();
      bool fits = false;
      if (text_.accept('<')) {
        std::uint64_t const n = text_.number();
        text_.expect('>');
        fits = scopes_.add_registers(name, n, bits);
      } else if (lanes > 1) {
        fits = scopes_.add_lanes(name, lanes, bits);
      } else {
        fits = scopes_.add_register(name, bits).has_value();
      }
      if (!fits) text_.fail("too many registers", text_.at);
    } while (text_.accept(','));
    text_.expect(';');
  }

  /// `.loc 1 50 3[, function_name NAME[+n], inlined_at 1 59 5]`, which the line ends.
  void location() {
    std::string_view rest = text_.rest_of_line();
    auto const next = [&rest]() -> std::uint32_t {
      std::size_t const digit = rest.find_first_of("0123456789");
      if (digit == rest.npos) return 0;
      rest.remove_prefix(digit);
      std::uint32_t n = 0;
      auto const [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
      rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
      return n;
    };
    Location here{next(), next()};
    (void)next();
    if (std::size_t const inlined = rest.find("inlined_at"); inlined != rest.npos) {
      rest.remove_prefix(inlined + 10);
      Location outer{next(), next()};
      // The place that it is inlined at is one that was seen: with that one's own chain.
      for (std::size_t i = module_.locations.size(); i-- > 0 && i + 64 > module_.locations.size();)
        if (module_.locations[i].file == outer.file && module_.locations[i].line == outer.line) {
          outer.inlined_at = module_.locations[i].inlined_at;
          break;
        }
      module_.locations.push_back(outer);
      here.inlined_at = static_cast<std::int32_t>(module_.locations.size() - 1);
    } else {
      here.inlined_at = inlined_in_comment(rest, here.line);
    }
    if (here.line == 0) return;  // of no line: the one before goes on
    module_.locations.push_back(here);
    location_ = static_cast<std::int32_t>(module_.locations.size() - 1);
  }

  /// The place that a `.loc` without inlined_at is inlined at, from LLVM's comment `// a.py:3:1 @[ b.py:8:32 @[ c.py:11:84 ] ]`, as in
  /// PTX of Triton: the inner line, which `.loc` has, and those it was inlined at. -1 without one.
  std::int32_t inlined_in_comment(std::string_view rest, std::uint32_t line) {
    std::vector<Location> chain;
    for (std::size_t at = rest.find("//"); at != rest.npos; at = rest.find("@[")) {
      rest.remove_prefix(std::min(rest.find_first_not_of(' ', at + 2), rest.size()));
      std::size_t const name = std::min(rest.find(':'), rest.size());
      std::uint32_t n = 0;
      (void)std::from_chars(rest.data() + std::min(name + 1, rest.size()), rest.data() + rest.size(), n);
      chain.push_back({0, n, -1, rest.substr(0, name)});
      rest.remove_prefix(name);
    }
    if (chain.size() < 2 || chain[0].line != line) return -1;
    for (std::size_t i = chain.size(); i-- > 1;) {
      if (i + 1 < chain.size()) chain[i].inlined_at = static_cast<std::int32_t>(module_.locations.size() - 1);
      module_.locations.push_back(chain[i]);
    }
    return static_cast<std::int32_t>(module_.locations.size() - 1);
  }

  // ------------------------------------------------------------------------------------- instructions

  void instruction() {
    Instruction i;
    text_.skip();
    i.line = text_.line_of(text_.at);
    i.location = location_;
    if (text_.accept('@')) {
      i.guard_negated = text_.accept('!');
      std::size_t const from = text_.at;
      std::string_view const p = text_.word();
      std::optional<std::uint32_t> const reg = scopes_.find_register(p);
      if (!reg) text_.fail("the predicate " + std::string(p) + " is not declared", from);
      i.guard = static_cast<std::int32_t>(*reg);
    }
    std::size_t const from = text_.at;
    std::string_view const name = text_.opcode();
    if (i.guard < 0 && text_.peek() == ':') {
      ++text_.at;
      return label(name, i, from);
    }
    i.opcode = Opcode(name);
    std::string_view const rest = text_.rest_of_statement();
    operands_.read(rest, i.operands);
    if (i.opcode.name != "call") evaluate(i.operands);
    if (i.opcode.text.starts_with("brx.idx")) name_targets(i);
    if (std::string const error = error_of_type(i, module_.target); !error.empty()) text_.fail(error, from);
    function_.body.push_back(std::move(i));
  }

  /// Takes operands such as `(1 + 1)` for their values, of a call they are lists; and the constant WARP_SZ. [PTX ISA 9.1, 4.4.5]
  static void evaluate(std::vector<Operand>& operands) {
    for (Operand& o : operands)
      if (o.kind == Operand::Kind::symbol && o.text == "WARP_SZ")
        o = {}, o.kind = Operand::Kind::immediate, o.value = 32;
    for (Operand& o : operands)
      if (auto const n = o.text.starts_with('(') ? constant_of(o.text) : std::nullopt)
        o.kind = Operand::Kind::immediate, o.value = *n, o.parts.clear();
  }

  /// `brx.idx %r1, list` gets the labels of its list as operands; none if no list of this name was read in its braces.
  void name_targets(Instruction& i) {
    if (i.operands.size() != 2) return;
    std::string_view rest = scopes_.targets_of(i.operands[1].text).value_or("");
    i.operands.pop_back();
    while (!rest.empty()) {
      std::string_view const label = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), label.size() + 1));
      Operand target;
      target.kind = Operand::Kind::symbol;
      target.text = trimmed(label);
      i.operands.push_back(std::move(target));
    }
  }

  void label(std::string_view name, Instruction& i, std::size_t from) {
    text_.skip();
    if (text_.accept_word(".branchtargets")) return scopes_.add_targets(name, text_.rest_of_statement());
    for (std::string_view const table : {".calltargets", ".callprototype"})
      if (text_.accept_word(table)) return (void)text_.rest_of_statement();
    auto const number = scopes_.add_label(name);
    if (!number) text_.fail("the label " + std::string(name) + " is defined twice", from);
    i.label = *number;
    function_.body.push_back(std::move(i));
  }

  Characters& text_;
  Module& module_;
  Function& function_;
  Scopes scopes_;
  Declarations declarations_{text_};
  OperandReader operands_{text_, scopes_, module_.kept};
  std::int32_t location_ = -1;
};

/// Declarations of a file: variables, functions with their bodies.
class Reader {
 public:
  Reader(std::shared_ptr<std::string const> text, std::string const& name,
         std::function<bool(Function const&)> const& wanted)
      : text_(*text, name), wanted_(wanted) {
    module_.text = std::move(text);
  }

  Module read() {
    for (text_.skip(); !text_.ended(); text_.skip()) read_top_level();
    return std::move(module_);
  }

 private:
  void read_top_level() {
    std::size_t const from = text_.at;
    std::string_view const first = text_.word();
    if (first == ".version") {
      module_.version = text_.word();
    } else if (first == ".target") {
      module_.target = text_.word();
      while (text_.accept(',')) (void)text_.word();
    } else if (first == ".address_size") {
      (void)text_.word();
    } else if (first == ".file") {
      read_file_directive();
    } else if (first == ".section") {
      (void)text_.word();
      text_.skip_braces();
    } else if (first == ".pragma" || first == ".alias") {
      (void)text_.rest_of_statement();
    } else if (first.starts_with('.')) {
      text_.at = from;
      read_declaration();
    } else {
      text_.fail("expected a directive", from, "is this PTX?");
    }
  }

  /// `.file 1 "name" [, time, size]`, which no semicolon ends.
  void read_file_directive() {
    std::uint64_t const n = text_.number();
    if (n > 1'000'000) text_.fail("the number of the file is too large", text_.at);
    if (!text_.accept('"')) text_.fail("expected the name of the file", text_.at);
    if (module_.files.size() <= n) module_.files.resize(n + 1);
    module_.files[n] = text_.quoted();
    (void)text_.rest_of_line();
  }

  /// A function or variables, from the linkage on.
  void read_declaration() {
    bool external = false;
    for (;;) {
      std::size_t const from = text_.at;
      std::string_view const w = text_.directive();
      if (w == ".extern") {
        external = true;
      } else if (w == ".visible" || w == ".weak" || w == ".common") {
      } else if (w == ".entry" || w == ".func") {
        return read_function(w == ".entry");
      } else if (space_of(w) != Space::generic) {
        return declarations_.variables(space_of(w), module_.variables, external);
      } else if (w == ".tex" || w == ".surfref" || w == ".texref" || w == ".samplerref") {
        (void)text_.rest_of_statement();
        return;
      } else {
        text_.fail("unknown directive " + std::string(w), from);
      }
    }
  }

  void read_function(bool entry) {
    Function f;
    f.entry = entry;
    if (!entry && text_.peek() == '(') declarations_.parameters(f.returned);
    text_.skip();
    f.line = text_.line_of(text_.at);
    f.name = text_.word();
    if (text_.peek() == '(') declarations_.parameters(f.params);
    while (text_.peek() != ';' && text_.peek() != '{') read_attribute(f);
    if (text_.accept(';')) {
      module_.declared.push_back(f.name);
      return;
    }
    if (entry && wanted_ && !wanted_(f)) {
      f.skipped = true;
      text_.skip_body(f.name);
    } else {
      ++text_.at;
      Body(text_, module_, f).read();
    }
    module_.functions.push_back(std::move(f));
  }

  /// `.maxntid 256`, `.minnctapersm 1` and the like, before a body.
  void read_attribute(Function& f) {
    std::size_t const from = text_.at;
    std::string_view const w = text_.word();
    static constexpr std::string_view flags[] = {".noreturn", ".blocksareclusters", ".explicitcluster",
                                                 ".abi_preserve", ".abi_preserve_control"};
    if (w == ".maxntid") {
      declarations_.shape(f.maxntid, &f.maxntid_dims);
    } else if (w == ".reqntid") {
      declarations_.shape(f.reqntid);
    } else if (w == ".reqnctapercluster") {
      declarations_.shape(f.reqnctapercluster);
    } else if (w == ".pragma") {
      (void)text_.rest_of_statement();
    } else if (std::find(std::begin(flags), std::end(flags), w) != std::end(flags)) {
      f.blocks_are_clusters = f.blocks_are_clusters || w == ".blocksareclusters";
    } else if (w.starts_with('.')) {  // .maxnreg 255, .maxclusterrank 8 and what comes
      while (std::isdigit(static_cast<unsigned char>(text_.peek()))) {
        (void)text_.number();
        if (!text_.accept(',')) break;
      }
    } else {
      text_.fail("expected the function's body", from);
    }
  }

  Characters text_;
  Declarations declarations_{text_};
  std::function<bool(Function const&)> const& wanted_;
  Module module_{};
};

}  // namespace

Module read_module(std::string text, std::string const& name,
                   std::function<bool(Function const& head)> const& wanted) {
  auto const shared = std::make_shared<std::string const>(std::move(text));
  return Reader(shared, name, wanted).read();
}

namespace {

/// The name of the one file whose last part is `called`; else `called`.
std::string full_name(Module const& module, std::string_view called) {
  std::string const* found = nullptr;
  for (std::string const& file : module.files) {
    if (std::string_view(file).substr(file.find_last_of('/') + 1) != called) continue;
    if (found != nullptr) return std::string(called);
    found = &file;
  }
  return found != nullptr ? *found : std::string(called);
}

}  // namespace

std::vector<SourceLine> source_lines(Module const& module, std::int32_t location) {
  std::vector<SourceLine> lines;
  while (location >= 0) {
    Location const& at = module.locations[static_cast<std::size_t>(location)];
    lines.push_back({at.called.empty() ? at.file < module.files.size() ? module.files[at.file] : ""
                                       : full_name(module, at.called),
                     at.line});
    location = at.inlined_at;
  }
  return lines;
}

}  // namespace swizproof::ptx
