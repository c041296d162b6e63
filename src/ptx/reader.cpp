#include <swizproof/ptx/module.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

namespace swizproof::ptx {

namespace {

constexpr std::size_t deepest = 200;                 ///< nested scopes and operands
constexpr std::uint64_t most_registers = 4'000'000;  ///< of one function

/// Kinds of characters, in every locale.
struct Kinds {
  std::array<bool, 256> name{}, space{}, ends{};
  constexpr Kinds() {
    for (unsigned c = 0; c < 256; ++c) {
      name[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                c == '$' || c == '%';
      space[c] = c == ' ' || (c >= '\t' && c <= '\r');
      ends[c] = c == '{' || c == '}' || c == '"' || c == '/';
    }
  }
};
constexpr Kinds kinds;

bool in_name(char c) { return kinds.name[static_cast<unsigned char>(c)]; }
bool is_space(char c) { return kinds.space[static_cast<unsigned char>(c)]; }
/// True where a body may end, or a string or comment begins.
bool may_end(char c) { return kinds.ends[static_cast<unsigned char>(c)]; }

/// Registers and labels of one pair of braces.
struct Scope {
  struct Range {
    std::uint32_t first, count;
  };
  std::unordered_map<std::string_view, std::uint32_t> names{};
  std::unordered_map<std::string_view, Range> ranges{};  ///< by prefix: %r<12>
  std::unordered_map<std::string_view, std::uint32_t> labels{};
  std::unordered_map<std::string_view, std::string_view>
      targets{};  ///< lists of labels, as .branchtargets has them
  std::unordered_map<std::string_view, std::string_view> variables{};  ///< names that hide an earlier one
};

class Reader {
 public:
  Reader(std::shared_ptr<std::string const> text, std::string const& name,
         std::function<bool(Function const&)> const& wanted)
      : text_(*text), name_(name), wanted_(wanted) {
    module_.text = std::move(text);
  }

  Module read() {
    for (skip(); at_ < text_.size(); skip()) read_top_level();
    return std::move(module_);
  }

 private:
  // ------------------------------------------------------------------------------------- characters

  [[noreturn]] void fail(std::string const& what, std::size_t at, std::string const& hint = {}) const {
    std::size_t const from = at == 0 ? 0 : text_.rfind('\n', std::min(at, text_.size()) - 1) + 1;
    std::size_t const end = std::min(text_.find('\n', from), text_.size());
    auto const line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(from), '\n');
    std::string shown(text_.substr(from, std::min<std::size_t>(end - from, 160)));
    throw InputError{name_ + ":" + std::to_string(line) + ": " + what, shown,
                     std::min(at - from, shown.size()), 1, hint};
  }

  /// Line number of a place; places come in ascending order.
  std::uint32_t line_of(std::size_t at) {
    if (at <= counted_) return line_;
    std::string_view const between = view().substr(counted_, at - counted_);
    line_ += static_cast<std::uint32_t>(std::count(between.begin(), between.end(), '\n'));
    counted_ = at;
    return line_;
  }

  void skip() {
    while (at_ < text_.size()) {
      char const c = text_[at_];
      if (is_space(c)) {
        ++at_;
      } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
        std::size_t const end = text_.find("*/", at_ + 2);
        if (end == text_.npos) fail("the comment does not end", at_);
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (accept(c)) return;
    if (at_ >= text_.size())
      fail(std::string("the file ends where '") + c + "' is expected", at_, "is it truncated?");
    fail(std::string("expected '") + c + "'", at_);
  }

  /// A name, a directive or a number: letters, digits, _ $ % and dots.
  std::string_view word() {
    skip();
    std::size_t const from = at_;
    while (at_ < text_.size() && (in_name(text_[at_]) || text_[at_] == '.')) ++at_;
    if (from == at_) {
      if (at_ >= text_.size()) fail("the file ends within a statement", at_, "is it truncated?");
      fail("expected a name", at_);
    }
    return view().substr(from, at_ - from);
  }

  [[nodiscard]] std::string_view view() const { return text_; }
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  /// Everything up to the `;` that ends a statement, braces and strings balanced.
  std::string_view rest_of_statement() {
    skip();
    std::size_t const from = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      char const c = text_[at_];
      if (c == '"') {
        at_ = text_.find('"', at_ + 1);
        if (at_ == text_.npos) at_ = text_.size(), fail("the string does not end", from);
      } else if (c == '/' && at_ + 1 < text_.size() && (text_[at_ + 1] == '/' || text_[at_ + 1] == '*')) {
        skip(), --at_;
      } else if (c == '{' || c == '(' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ')' || c == ']') {
        if (--depth < 0) fail("expected ';'", at_);
      } else if (c == ';' && depth == 0) {
        return view().substr(from, at_++ - from);
      }
    }
    fail("the file ends within a statement", from, "is it truncated?");
  }

  // ------------------------------------------------------------------------------------- top level

  void read_top_level() {
    std::size_t const from = at_;
    std::string_view const first = word();
    if (first == ".version") {
      module_.version = word();
    } else if (first == ".target") {
      module_.target = word();
      while (accept(',')) (void)word();
    } else if (first == ".address_size") {
      (void)word();
    } else if (first == ".file") {
      read_file_directive();
    } else if (first == ".section") {
      (void)word();
      skip_braces();
    } else if (first == ".pragma" || first == ".alias") {
      (void)rest_of_statement();
    } else if (first.starts_with('.')) {
      at_ = from;
      read_declaration();
    } else {
      fail("expected a directive", from, "is this PTX?");
    }
  }

  void skip_braces() {
    expect('{');
    int depth = 1;
    std::size_t const from = at_;
    while (depth > 0) {
      if (at_ >= text_.size()) fail("the section does not end", from, "is the file truncated?");
      depth += text_[at_] == '{' ? 1 : text_[at_] == '}' ? -1 : 0;
      ++at_;
    }
  }

  std::uint64_t number() {
    std::string_view w = word();
    std::optional<std::uint64_t> const n = integer(w);
    if (!n) fail("expected a number", at_ - w.size());
    return *n;
  }

  /// `.file 1 "name" [, time, size]`, which no semicolon ends.
  void read_file_directive() {
    std::uint64_t const n = number();
    if (n > 1'000'000) fail("the number of the file is too large", at_);
    if (!accept('"')) fail("expected the name of the file", at_);
    std::size_t const end = text_.find('"', at_);
    if (end == text_.npos) fail("the string does not end", at_);
    if (module_.files.size() <= n) module_.files.resize(n + 1);
    module_.files[n] = text_.substr(at_, end - at_);
    at_ = end + 1;
    skip_line();
  }

  static Space space_of(std::string_view w) {
    if (w == ".shared") return Space::shared;
    if (w == ".global") return Space::global;
    if (w == ".const") return Space::constant;
    if (w == ".local") return Space::local;
    if (w == ".param") return Space::param;
    if (w == ".reg") return Space::reg;
    return Space::generic;
  }

  static unsigned bits_of(std::string_view type) {
    if (type == ".pred") return 1;
    if (type == ".f16x2" || type == ".bf16x2") return 32;
    std::size_t const digit = type.find_first_of("0123456789");
    if (digit == type.npos) return 64;  // .texref, .samplerref
    unsigned bits = 0;
    std::from_chars(type.data() + digit, type.data() + type.size(), bits);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits : 64;
  }

  /// The next directive: `.reg` of `.reg.b16`.
  std::string_view directive() {
    std::string_view const w = word();
    std::size_t const next = w.find('.', 1);
    if (next == w.npos) return w;
    at_ -= w.size() - next;
    return w.substr(0, next);
  }

  /// A function or variables, from the linkage on.
  void read_declaration() {
    bool external = false;
    for (;;) {
      std::size_t const from = at_;
      std::string_view const w = directive();
      if (w == ".extern") {
        external = true;
      } else if (w == ".visible" || w == ".weak" || w == ".common") {
      } else if (w == ".entry" || w == ".func") {
        return read_function(w == ".entry");
      } else if (space_of(w) != Space::generic) {
        return read_variables(space_of(w), module_.variables, external);
      } else if (w == ".tex" || w == ".surfref" || w == ".texref" || w == ".samplerref") {
        (void)rest_of_statement();
        return;
      } else {
        fail("unknown directive " + std::string(w), from);
      }
    }
  }

  /// `.align 16 .b8 name[4096] = {..}, other[];` behind the space. A register declaration is another matter.
  void read_variables(Space space, std::vector<Variable>& into, bool external) {
    Variable v;
    v.space = space;
    unsigned bits = 0, lanes = 1;
    read_type(v.align, bits, lanes);
    v.align = std::max({v.align, lanes * std::max(bits, 8U) / 8, 1U});
    do {
      v.name = word();
      v.bytes = read_dimensions(std::uint64_t{lanes} * std::max(bits, 8U) / 8);
      v.extern_array = v.bytes == 0;
      if (external && space != Space::shared) v.extern_array = false;
      into.push_back(v);
      if (accept('=')) {
        skip_initializer();
      }
    } while (accept(','));
    expect(';');
  }

  void skip_initializer() {
    if (peek() == '{') return skip_braces();
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ';') ++at_;
  }

  /// `.align 8 .v4 .f32`, `.attribute(..)`, `.ptr .global .align 4`.
  void read_type(std::uint32_t& align, unsigned& bits, unsigned& lanes) {
    while (peek() == '.') {
      std::string_view const w = word();
      if (w == ".align") {
        std::uint64_t const n = number();
        if (n == 0 || n > 1U << 20 || !std::has_single_bit(n)) fail("an alignment is a power of two", at_);
        align = static_cast<std::uint32_t>(n);
      } else if (w == ".attribute") {
        expect('(');
        while (!accept(')')) {
          if (at_ >= text_.size()) fail("the attribute does not end", at_);
          ++at_;
        }
      } else if (w == ".v2" || w == ".v4" || w == ".v8") {
        lanes = static_cast<unsigned>(w[2] - '0');
      } else if (w != ".ptr" && space_of(w) == Space::generic && w != ".managed" && w != ".unified") {
        bits = bits_of(w);
      }
    }
  }

  /// The bytes of `name[3][4]`; 0 for `name[]`.
  std::uint64_t read_dimensions(std::uint64_t bytes) {
    while (accept('[')) {
      std::uint64_t const n = peek() == ']' ? 0 : number();
      expect(']');
      if (n != 0 && bytes > (std::uint64_t{1} << 40) / n) fail("the array is too large", at_);
      bytes *= n;
    }
    return bytes;
  }

  // ------------------------------------------------------------------------------------- functions

  void read_parameters(std::vector<Variable>& into) {
    expect('(');
    while (!accept(')')) {
      std::size_t const from = at_;
      std::string_view const w = word();
      if (space_of(w) == Space::generic) fail("expected a parameter", from);
      Variable v;
      v.space = space_of(w) == Space::reg ? Space::reg : Space::param;
      unsigned bits = 32, lanes = 1;
      std::uint32_t pointed = 1;
      read_type(pointed, bits, lanes);
      v.name = word();
      v.array = peek() == '[';
      v.bytes = read_dimensions(std::uint64_t{lanes} * std::max(bits, 8U) / 8);
      into.push_back(std::move(v));
      if (!accept(',') && peek() != ')') fail("expected ',' or ')'", at_);
    }
  }

  void read_shape(std::array<std::uint32_t, 3>& shape, unsigned* dims = nullptr) {
    shape = {1, 1, 1};
    for (unsigned i = 0; i < 3; ++i) {
      std::uint64_t const n = number();
      if (n == 0 || n > 65535) fail("a block has 1 to 1024 threads in a dimension", at_);
      shape[i] = static_cast<std::uint32_t>(n);
      if (dims != nullptr) *dims = i + 1;
      if (!accept(',')) break;
    }
  }

  void read_function(bool entry) {
    Function f;
    f.entry = entry;
    if (!entry && peek() == '(') read_parameters(f.returned);
    skip();
    f.line = line_of(at_);
    f.name = word();
    if (peek() == '(') read_parameters(f.params);
    for (;;) {
      char const c = peek();
      if (c == ';') {  // declared alone
        ++at_;
        module_.declared.push_back(f.name);
        return;
      }
      if (c == '{') break;
      std::size_t const from = at_;
      std::string_view const w = word();
      if (w == ".maxntid") {
        read_shape(f.maxntid, &f.maxntid_dims);
      } else if (w == ".reqntid") {
        read_shape(f.reqntid);
      } else if (w == ".pragma") {
        (void)rest_of_statement();
      } else if (w == ".noreturn" || w == ".blocksareclusters" || w == ".explicitcluster" ||
                 w == ".abi_preserve" || w == ".abi_preserve_control") {
      } else if (w.starts_with(
                     ".")) {  // .minnctapersm 1, .maxnreg 255, .reqnctapercluster 2, 1, 1 and what comes
        while (std::isdigit(static_cast<unsigned char>(peek()))) {
          (void)number();
          if (!accept(',')) break;
        }
      } else {
        fail("expected the function's body", from);
      }
    }
    if (entry && wanted_ && !wanted_(f)) {
      f.skipped = true;
      skip_body(f);
      return module_.functions.push_back(std::move(f));
    }
    ++at_;
    function_ = &f;
    location_ = -1;
    scopes_.assign(1, {});
    declared_.clear();
    for (auto const* list : {&f.returned, &f.params})
      for (Variable const& v : *list) ++declared_[v.name];
    for (auto const* list : {&f.returned, &f.params})
      for (Variable const& v : *list)
        if (v.space == Space::reg)
          scopes_.back().names[v.name] =
              add_register(v.name, static_cast<unsigned>(std::min<std::uint64_t>(8 * v.bytes, 128)));
    read_body();
    check_labels();
    function_ = nullptr;
    module_.functions.push_back(std::move(f));
  }

  /// Up to behind the brace that ends a body; those in comments and strings are none.
  void skip_body(Function const& f) {
    std::size_t depth = 0;
    do {
      while (at_ < text_.size() && !may_end(text_[at_])) ++at_;
      if (at_ >= text_.size())
        fail("the function " + f.name + " does not end", at_, "is the file truncated?");
      char const c = text_[at_];
      if (c == '/') {
        std::size_t const from = at_;
        skip();
        if (at_ != from) continue;
      }
      if (c == '"') at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1);
      depth += c == '{' ? 1U : 0U, depth -= c == '}' ? 1U : 0U;
      ++at_;
    } while (depth > 0);
  }

  void read_body() {
    std::size_t depth = 1;
    while (depth > 0) {
      char const c = peek();
      if (c == '\0') fail("the function " + function_->name + " does not end", at_, "is the file truncated?");
      if (c == '}') {
        ++at_, --depth;
        if (depth > 0) close_scope();
      } else if (c == '{') {
        ++at_, ++depth;
        if (depth > deepest) fail("too many nested scopes", at_);
        scopes_.emplace_back();
        scope_starts_.push_back(function_->body.size());
      } else if (c == ';') {
        ++at_;
      } else if (c == '.') {
        read_directive();
      } else {
        read_instruction();
      }
    }
  }

  /// Gives the labels of an inner scope their numbers in what was read since it began.
  void close_scope() {
    resolve_labels(scope_starts_.back());
    scope_starts_.pop_back();
    scopes_.pop_back();
  }

  void resolve_labels(std::size_t from) {
    for (std::size_t i = from; i < function_->body.size(); ++i)
      for (Operand& o : function_->body[i].operands)
        if (o.kind == Operand::Kind::symbol && o.reg == 0)
          if (auto const label = scopes_.back().labels.find(o.text); label != scopes_.back().labels.end())
            o.reg = 1 + label->second;  // a label's number, of a symbol that is one
  }

  void check_labels() {
    resolve_labels(0);
    for (Instruction const& i : function_->body)
      if (i.label == 0 && (i.opcode.text == "bra" || i.opcode.text == "bra.uni"))
        if (i.operands.size() != 1 || i.operands[0].reg == 0)
          fail_at_line("the label of this branch is not defined", i.line);
  }

  [[noreturn]] void fail_at_line(std::string const& what, std::uint32_t line) const {
    std::size_t at = 0;
    for (std::uint32_t n = 1; n < line; ++n) at = text_.find('\n', at) + 1;
    while (at < text_.size() && is_space(text_[at])) ++at;
    fail(what, at);
  }

  void read_directive() {
    std::size_t const from = at_;
    std::string_view const w = directive();
    if (w == ".reg") return read_registers();
    if (w == ".loc") return read_location();
    if (w == ".pragma" || w == ".branchtargets" || w == ".calltargets" || w == ".callprototype") {
      (void)rest_of_statement();
      return;
    }
    if (w == ".section") {
      (void)word();
      return skip_braces();
    }
    if (w == ".extern" || w == ".visible" || w == ".weak") return read_directive();
    if (space_of(w) == Space::generic) fail("unknown directive " + std::string(w), from);
    std::size_t const first = function_->variables.size();
    read_variables(space_of(w), function_->variables, false);
    for (std::size_t k = first; k < function_->variables.size(); ++k) hide(function_->variables[k]);
  }

  /// Gives a variable another name if this one was declared before, as a parameter or in another scope: `param0` of each call.
  void hide(Variable& v) {
    std::size_t const times = ++declared_[v.name];
    if (times == 1) return;
    auto const old = module_.kept.emplace_back(std::make_shared<std::string const>(v.name));
    v.name += "'" + std::to_string(times);
    scopes_.back().variables[*old] = *module_.kept.emplace_back(std::make_shared<std::string const>(v.name));
  }
  /// The name of a variable, which may be one that hides another.
  [[nodiscard]] std::string_view visible(std::string_view name) const {
    for (std::size_t s = scopes_.size(); s-- > 0;)
      if (auto const found = scopes_[s].variables.find(name); found != scopes_[s].variables.end())
        return found->second;
    return name;
  }

  std::uint32_t add_register(std::string_view name, unsigned bits) {
    if (function_->registers.size() >= most_registers) fail("too many registers", at_);
    function_->registers.push_back({std::string(name), static_cast<std::uint8_t>(bits)});
    return static_cast<std::uint32_t>(function_->registers.size() - 1);
  }

  void read_registers() {
    std::uint32_t align = 1;
    unsigned bits = 32, lanes = 1;
    read_type(align, bits, lanes);
    do {
      std::string_view const name = word();
      if (accept('<')) {
        std::uint64_t const n = number();
        expect('>');
        if (n > most_registers) fail("too many registers", at_);
        auto const first = static_cast<std::uint32_t>(function_->registers.size());
        for (std::uint64_t i = 0; i < n; ++i) (void)add_register(std::string(name) + std::to_string(i), bits);
        scopes_.back().ranges[name] = {first, static_cast<std::uint32_t>(n)};
      } else {
        scopes_.back().names[name] = add_register(name, bits * lanes);
      }
    } while (accept(','));
    expect(';');
  }

  /// `.loc 1 50 3[, function_name NAME[+n], inlined_at 1 59 5]`, which the line ends.
  void read_location() {
    std::size_t const end = std::min(text_.find('\n', at_), text_.size());
    std::string_view rest = view().substr(at_, end - at_);
    at_ = end;
    auto const next = [&rest]() -> std::uint32_t {
      std::size_t const digit = rest.find_first_of("0123456789");
      if (digit == rest.npos) return 0;
      rest.remove_prefix(digit);
      std::uint32_t n = 0;
      auto const [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
      rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
      return n;
    };
    Location here{next(), next(), -1};
    (void)next();
    if (std::size_t const inlined = rest.find("inlined_at"); inlined != rest.npos) {
      rest.remove_prefix(inlined + 10);
      Location outer{next(), next(), -1};
      // The place that it is inlined at is one that was seen: with that one's own chain.
      for (std::size_t i = module_.locations.size(); i-- > 0 && i + 64 > module_.locations.size();)
        if (module_.locations[i].file == outer.file && module_.locations[i].line == outer.line) {
          outer.inlined_at = module_.locations[i].inlined_at;
          break;
        }
      module_.locations.push_back(outer);
      here.inlined_at = static_cast<std::int32_t>(module_.locations.size() - 1);
    }
    if (here.line == 0) return;  // of no line: the one before goes on
    module_.locations.push_back(here);
    location_ = static_cast<std::int32_t>(module_.locations.size() - 1);
  }

  // ------------------------------------------------------------------------------------- instructions

  void read_instruction() {
    Instruction i;
    skip();
    i.line = line_of(at_);
    i.location = location_;
    if (accept('@')) {
      i.guard_negated = accept('!');
      std::size_t const from = at_;
      std::string_view const p = word();
      std::optional<std::uint32_t> const reg = find_register(p);
      if (!reg) fail("the predicate " + std::string(p) + " is not declared", from);
      i.guard = static_cast<std::int32_t>(*reg);
    }
    std::size_t const from = at_;
    std::string_view const name = opcode();
    if (i.guard < 0 && peek() == ':') {
      ++at_;
      return read_label(name, i, from);
    }
    i.opcode = Opcode(name);
    std::string_view const rest = rest_of_statement();
    parse_operands(rest, i.operands, 0);
    if (i.opcode.text.starts_with("brx.idx")) name_targets(i);
    function_->body.push_back(std::move(i));
  }

  /// `brx.idx %r1, list` gets the labels of its list as operands; none if no list of this name was read in its braces.
  void name_targets(Instruction& i) {
    if (i.operands.size() != 2) return;
    auto const found = scopes_.back().targets.find(i.operands[1].text);
    i.operands.pop_back();
    if (found == scopes_.back().targets.end()) return;
    for (std::string_view rest = found->second; !rest.empty();) {
      std::string_view const label = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), label.size() + 1));
      Operand target;
      target.kind = Operand::Kind::symbol;
      target.text = trimmed(label);
      i.operands.push_back(std::move(target));
    }
  }

  void read_label(std::string_view name, Instruction& i, std::size_t from) {
    skip();
    constexpr std::string_view targets = ".branchtargets";
    if (view().substr(at_).starts_with(targets)) {
      at_ += targets.size();
      scopes_.back().targets[name] = rest_of_statement();
      return;
    }
    for (std::string_view const table : {".calltargets", ".callprototype"})
      if (view().substr(at_).starts_with(table)) return (void)rest_of_statement();
    auto const [at, fresh] =
        scopes_.back().labels.try_emplace(name, static_cast<std::uint32_t>(function_->labels.size()));
    if (!fresh) fail("the label " + std::string(name) + " is defined twice", from);
    function_->labels.emplace_back(name);
    i.label = 1 + at->second;
    function_->body.push_back(std::move(i));
  }

  /// `ld.shared::cta.v4.u32`: a word that may have pairs of colons in it.
  std::string_view opcode() {
    skip();
    std::size_t const from = at_;
    for (; at_ < text_.size(); ++at_) {
      char const c = text_[at_];
      if (in_name(c) || c == '.') continue;
      if (c == ':' && at_ + 1 < text_.size() && text_[at_ + 1] == ':') {
        ++at_;
        continue;
      }
      break;
    }
    if (from == at_) {
      if (at_ >= text_.size()) fail("the file ends within a function", at_, "is it truncated?");
      fail("expected an instruction", at_);
    }
    return view().substr(from, at_ - from);
  }

  std::optional<std::uint32_t> find_register(std::string_view name) {
    for (std::size_t s = scopes_.size(); s-- > 0;) {
      Scope& scope = scopes_[s];
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

  static std::string_view trimmed(std::string_view t) {
    while (!t.empty() && is_space(t.front())) t.remove_prefix(1);
    while (!t.empty() && is_space(t.back())) t.remove_suffix(1);
    return t;
  }

  /// An integer constant: 12, 0x1F, 017, 0b101, 12U, -3.
  static std::optional<std::uint64_t> integer(std::string_view t) {
    bool const minus = t.starts_with('-');
    if (minus) t = trimmed(t.substr(1));
    if (t.ends_with('U')) t.remove_suffix(1);
    int base = 10;
    if (t.starts_with("0x") || t.starts_with("0X")) {
      base = 16, t.remove_prefix(2);
    } else if (t.starts_with("0b") || t.starts_with("0B")) {
      base = 2, t.remove_prefix(2);
    } else if (t.size() > 1 && t[0] == '0') {
      base = 8, t.remove_prefix(1);
    }
    std::uint64_t n = 0;
    auto const [stop, error] = std::from_chars(t.data(), t.data() + t.size(), n, base);
    if (t.empty() || error != std::errc{} || stop != t.data() + t.size()) return std::nullopt;
    return minus ? 0 - n : n;
  }

  /// Operands between commas, each with its brackets.
  void parse_operands(std::string_view text, std::vector<Operand>& into, std::size_t depth) {
    if (depth > deepest) fail("too many nested operands", at_);
    int open = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      char const c = i < text.size() ? text[i] : ',';
      if (c == '/' && i + 1 < text.size() &&
          text[i + 1] == '/') {  // a comment within: blank it out by copying
        std::string plain(text);
        std::size_t const end = std::min(plain.find('\n', i), plain.size());
        plain.replace(i, end - i, end - i, ' ');
        module_.kept.push_back(std::make_shared<std::string const>(std::move(plain)));
        text = *module_.kept.back();
        continue;
      }
      open += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
      if ((c == ',' && open == 0) || i == text.size()) {
        std::string_view const one = trimmed(text.substr(from, i - from));
        from = i + 1;
        if (!one.empty()) into.push_back(parse_operand(one, depth));
      }
    }
  }

  Operand parse_operand(std::string_view t, std::size_t depth) {
    Operand o;
    o.text = t;
    if (t[0] == '{' || t[0] == '(') {
      o.kind = Operand::Kind::vector;
      parse_operands(t.substr(1, t.size() > 1 ? t.size() - 2 : 0), o.parts, depth + 1);
      return o;
    }
    if (t[0] == '[') return parse_address(t, depth);
    if (t[0] == '!') {
      o = parse_operand(trimmed(t.substr(1)).empty() ? "_" : trimmed(t.substr(1)), depth + 1);
      o.negated = true;
      return o;
    }
    if (std::size_t const bar = t.find('|'); bar != t.npos && bar > 0 && depth < deepest) {
      std::string_view const second = trimmed(t.substr(bar + 1));
      o = parse_operand(trimmed(t.substr(0, bar)), depth + 1);
      if (!second.empty()) o.parts.push_back(parse_operand(second, depth + 1));
      return o;
    }
    return parse_name(t);
  }

  /// Fails at a character of a statement; of one with comments in it, at its end.
  [[noreturn]] void fail_in(std::string_view part, std::size_t at, std::string const& what,
                            std::string const& hint) const {
    bool const within = part.data() >= text_.data() && part.data() < text_.data() + text_.size();
    fail(what, within ? static_cast<std::size_t>(part.data() - text_.data()) + at : at_ - 1, hint);
  }

  Operand parse_name(std::string_view t) {
    Operand o;
    o.text = t;
    if (t.empty() || t == "_") return o;
    if (std::isdigit(static_cast<unsigned char>(t[0])) || t[0] == '-') {
      o.kind = Operand::Kind::immediate;
      if (auto const n = integer(t)) {
        o.value = *n;
      } else if (t.size() > 2 && t[0] == '0' && (t[1] == 'f' || t[1] == 'F' || t[1] == 'd' || t[1] == 'D')) {
        o.value = integer("0x" + std::string(t.substr(2))).value_or(0);
      } else {
        o.kind = Operand::Kind::other;
      }
      return o;
    }
    if (auto const reg = find_register(t)) {
      o.kind = Operand::Kind::reg;
      o.reg = *reg;
      return o;
    }
    if (t[0] == '%') {
      o.kind = Operand::Kind::special;
      return o;
    }
    o.kind = Operand::Kind::symbol;
    if (std::size_t const plus = t.find('+'); plus != t.npos) {
      auto const n = integer(trimmed(t.substr(plus + 1)));
      if (!n) o.kind = Operand::Kind::other;
      o.text = trimmed(t.substr(0, plus));
      o.value = n.value_or(0);
    }
    o.text = visible(o.text);
    return o;
  }

  /// `[base]`, `[base+4]`, `[base+-4]`, `[base, {c0, c1}]`, `[4]`.
  Operand parse_address(std::string_view t, std::size_t depth) {
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
      parse_operands(inner, o.parts, depth + 1);
      return o;
    }
    std::size_t const plus = inner.find('+');
    std::string_view const base = trimmed(inner.substr(0, plus));
    if (std::size_t const minus = base.find('-'); minus != base.npos && minus != 0)
      fail_in(base, minus, "an address is a base and '+' a number", "write [base+-4] for 4 bytes below");
    if (!base.empty()) o.parts.push_back(parse_name(base));
    if (plus != inner.npos) {
      auto const n = integer(trimmed(inner.substr(plus + 1)));
      if (!n) o.kind = Operand::Kind::other;  // an expression
      o.value = n.value_or(0);
    }
    return o;
  }

  std::string const& text_;
  std::string const& name_;
  std::function<bool(Function const&)> const& wanted_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::uint32_t line_ = 1;
  Module module_{};
  Function* function_ = nullptr;
  std::int32_t location_ = -1;
  std::vector<Scope> scopes_{};
  std::unordered_map<std::string, std::size_t>
      declared_{};  ///< variables of the function, by name: how often
  std::vector<std::size_t> scope_starts_{};
};

}  // namespace

Module read_module(std::string text, std::string const& name,
                   std::function<bool(Function const& head)> const& wanted) {
  auto const shared = std::make_shared<std::string const>(std::move(text));
  return Reader(shared, name, wanted).read();
}

}  // namespace swizproof::ptx
