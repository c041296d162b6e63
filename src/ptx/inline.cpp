#include <swizproof/program/control_flow.hpp>
#include <swizproof/ptx/inline.hpp>
#include <swizproof/ptx/lower.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

namespace swizproof::ptx {

namespace {

using Kind = Operand::Kind;
using Names = std::unordered_map<std::string_view, std::string_view>;

bool is_call(Instruction const& i) { return i.label == 0 && i.opcode.name == "call"; }
bool is_return(Instruction const& i) { return i.label == 0 && i.opcode.name == "ret"; }

Operand register_operand(std::uint32_t reg) {
  Operand o;
  o.kind = Kind::reg;
  o.reg = reg;
  return o;
}

/// `mov.b32`, of 8 to 64 bits.
std::string_view move_of(std::uint64_t bytes) {
  return bytes == 1 ? "mov.b8" : bytes == 2 ? "mov.b16" : bytes == 4 ? "mov.b32" : "mov.b64";
}
/// `ld.param.b32` or `st.param.b32`.
std::string_view param_access_of(std::uint64_t bytes, bool load) {
  static constexpr std::string_view loads[] = {"ld.param.b8", "ld.param.b16", "ld.param.b32", "ld.param.b64"};
  static constexpr std::string_view stores[] = {"st.param.b8", "st.param.b16", "st.param.b32",
                                                "st.param.b64"};
  unsigned const k = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return load ? loads[k] : stores[k];
}
bool is_word(std::uint64_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

/// The operands of a call: results, then arguments. Null where there are none.
struct CallOperands {
  std::vector<Operand>* results = nullptr;
  std::vector<Operand>* arguments = nullptr;
};
CallOperands operands_of(Instruction& call) {
  CallOperands out;
  bool named = false;
  for (Operand& o : call.operands) {
    if (o.kind != Kind::vector)
      named = true;
    else if (!named)
      out.results = &o.parts;
    else if (out.arguments == nullptr)
      out.arguments = &o.parts;
  }
  return out;
}

// ----------------------------------------------------------------------------------------- parameters become registers

/// ld.param or st.param of one variable, at a constant offset.
struct ParamAccess {
  bool load = false;
  std::string_view name{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< of each element
  std::size_t lanes = 1;
  bool is_signed = false;
  Operand const* data = nullptr;
};

std::optional<ParamAccess> param_access(Instruction const& i) {
  ParamAccess a;
  a.load = i.opcode.name == "ld";
  if (i.label != 0 || (!a.load && i.opcode.name != "st") || i.opcode.space != Space::param ||
      i.operands.size() != 2)
    return std::nullopt;
  Operand const& where = i.operands[a.load ? 1 : 0];
  a.data = &i.operands[a.load ? 0 : 1];
  if (where.kind != Kind::address || where.parts.size() != 1 || where.parts[0].kind != Kind::symbol)
    return std::nullopt;
  a.name = where.parts[0].text;
  a.offset = where.value;
  Type const type = i.opcode.type;
  a.is_signed = type.kind == 's';
  a.bytes = type.kind != 'p' && type.bits <= 64 ? type.bits / 8 : 0;
  a.lanes = i.opcode.lanes;
  std::size_t const given = a.data->kind == Kind::vector ? a.data->parts.size() : 1;
  if (a.bytes == 0 || a.lanes != given) return std::nullopt;
  return a;
}

/// Replaces `.param` variables that a body declares by registers.
class Promotion {
 public:
  explicit Promotion(Function& function) : f_(function) {}

  void run() {
    for (Variable const& v : f_.variables)
      if (v.space == Space::param) variables_[v.name].bytes = v.bytes;
    for (Instruction& i : f_.body) collect(i);
    for (auto& [name, v] : variables_) lay_out(v);
    std::vector<Instruction> body;
    body.reserve(f_.body.size());
    for (Instruction& i : f_.body) rewrite(std::move(i), body);
    f_.body = std::move(body);
  }

 private:
  /// Bytes [first, last) that accesses overlap in, as registers of `bytes` each.
  struct Part {
    std::uint64_t first, last, bytes;
    std::uint32_t reg;
  };
  struct Parameter {
    std::uint64_t bytes = 0;
    bool escapes = false;  ///< its address is taken, or an access to it is not read
    std::vector<std::pair<std::uint64_t, std::uint64_t>> accesses{};  ///< offset and bytes
    std::vector<Part> parts{};
  };

  void escape(Operand const& o) {
    if (o.kind == Kind::symbol)
      if (auto const v = variables_.find(o.text); v != variables_.end()) v->second.escapes = true;
    for (Operand const& part : o.parts) escape(part);
  }

  void collect(Instruction& i) {
    if (i.label != 0) return;
    if (auto const a = param_access(i)) {
      escape(*a->data);
      auto const v = variables_.find(a->name);
      if (v == variables_.end()) return;
      if (a->offset > v->second.bytes || a->bytes * a->lanes > v->second.bytes - a->offset)
        v->second.escapes = true;
      else
        for (std::size_t k = 0; k < a->lanes; ++k)
          v->second.accesses.push_back({a->offset + k * a->bytes, a->bytes});
      return;
    }
    CallOperands const call = is_call(i) ? operands_of(i) : CallOperands{};
    for (Operand const& o : i.operands)
      if (!is_call(i) || (&o.parts != call.results && &o.parts != call.arguments)) escape(o);
  }

  /// Cells of overlapping accesses have the greatest width that divides all their offsets and lengths.
  void lay_out(Parameter& v) {
    if (v.escapes) return;
    std::sort(v.accesses.begin(), v.accesses.end());
    for (std::size_t at = 0; at < v.accesses.size();) {
      Part part{v.accesses[at].first, v.accesses[at].first, 0, 0};
      for (std::uint64_t first = part.first;
           at < v.accesses.size() && (part.bytes == 0 || v.accesses[at].first < part.last); ++at) {
        auto const [offset, bytes] = v.accesses[at];
        part.bytes = std::gcd(part.bytes, std::gcd(offset - first, bytes));
        part.last = std::max(part.last, offset + bytes);
      }
      part.reg = static_cast<std::uint32_t>(f_.registers.size());
      for (std::uint64_t k = part.first; k < part.last; k += part.bytes)
        f_.registers.push_back({"parameter", static_cast<std::uint8_t>(8 * part.bytes)});
      v.parts.push_back(part);
    }
  }

  /// The registers of bytes [offset, offset + bytes).
  static Operand cells(Parameter const& v, std::uint64_t offset, std::uint64_t bytes) {
    auto const part =
        std::find_if(v.parts.begin(), v.parts.end(), [&](Part const& p) { return offset < p.last; });
    auto const first = part->reg + static_cast<std::uint32_t>((offset - part->first) / part->bytes);
    if (bytes == part->bytes) return register_operand(first);
    Operand all;
    all.kind = Kind::vector;
    for (std::uint64_t k = 0; k < bytes / part->bytes; ++k)
      all.parts.push_back(register_operand(first + static_cast<std::uint32_t>(k)));
    return all;
  }

  /// A load of a signed number into a wider register: `cvt.s32.s8`.
  static std::string_view extension_of(unsigned to, std::uint64_t bytes) {
    if (bytes == 1) return to == 16 ? "cvt.s16.s8" : to == 32 ? "cvt.s32.s8" : "cvt.s64.s8";
    if (bytes == 2) return to == 32 ? "cvt.s32.s16" : "cvt.s64.s16";
    return "cvt.s64.s32";
  }

  void rewrite(Instruction i, std::vector<Instruction>& body) {
    if (is_call(i)) {  // one that stays: it may write anything into its results
      if (CallOperands const call = operands_of(i); call.results != nullptr)
        for (Operand& result : *call.results) replace_result(result);
      return body.push_back(std::move(i));
    }
    auto const a = param_access(i);
    auto const v = a ? variables_.find(a->name) : variables_.end();
    if (v == variables_.end() || v->second.escapes) return body.push_back(std::move(i));
    for (std::size_t k = 0; k < a->lanes; ++k) {
      Operand const data = a->data->kind == Kind::vector ? a->data->parts[k] : *a->data;
      Operand const place = cells(v->second, a->offset + k * a->bytes, a->bytes);
      Instruction one = i;
      one.opcode = Opcode(move_of(a->bytes));
      one.operands = a->load ? std::vector{data, place} : std::vector{place, data};
      unsigned const to = data.kind == Kind::reg ? f_.registers[data.reg].bits : 0;
      if (a->load && a->is_signed && to > 8 * a->bytes) {
        if (place.kind == Kind::vector) {
          one.operands[0] = register_operand(static_cast<std::uint32_t>(f_.registers.size()));
          f_.registers.push_back({"parameter", static_cast<std::uint8_t>(8 * a->bytes)});
          body.push_back(one);
        }
        Operand const narrow = place.kind == Kind::vector ? one.operands[0] : place;
        one.opcode = Opcode(extension_of(to, a->bytes));
        one.operands = {data, narrow};
      }
      body.push_back(std::move(one));
    }
  }

  void replace_result(Operand& result) {
    if (result.kind != Kind::symbol) return;
    auto const v = variables_.find(result.text);
    if (v == variables_.end() || v->second.escapes) return;
    Operand all;
    all.kind = Kind::vector;
    for (Part const& part : v->second.parts)
      for (std::uint64_t k = 0; k < (part.last - part.first) / part.bytes; ++k)
        all.parts.push_back(register_operand(part.reg + static_cast<std::uint32_t>(k)));
    result = std::move(all);
  }

  Function& f_;
  std::unordered_map<std::string_view, Parameter> variables_{};
};

// ----------------------------------------------------------------------------------------- calls

class Inliner {
 public:
  Inliner(Module const& module, Function const& root, InlineLimits const& limits)
      : module_(module), root_(root), limits_(limits), left_(limits.instructions) {}

  std::optional<Function> run() {
    for (Function const& f : module_.functions)
      if (!f.entry) functions_.try_emplace(f.name, &f);
    if (std::none_of(root_.body.begin(), root_.body.end(),
                     [&](Instruction const& i) { return function_of(i) != nullptr; }))
      return std::nullopt;
    std::set<std::string_view> outer;
    for (Variable const& v : module_.variables) outer.insert(v.name);
    for (auto const* list : {&root_.params, &root_.variables})
      for (Variable const& v : *list)
        if (outer.count(v.name) != 0) hidden_ = v.name;
    out_ = root_;
    out_.body.clear();
    for (Variable const& v : root_.variables)
      if (v.space == Space::param) params_[v.name] = v.bytes;
    copy(Frame{&root_, 0, 0, 0, 0, {}});
    Promotion(out_).run();
    return std::move(out_);
  }

 private:
  /// Facts about a function, found before it is inlined.
  struct Facts {
    std::size_t size = 0;  ///< instructions and registers, with all calls in it inlined
    bool active = true;    ///< being looked at: a call of it from there is a recursion
    bool recursive = false;
    std::string refused{};
  };
  /// A body that is being copied.
  struct Frame {
    Function const* function = nullptr;
    std::uint32_t registers = 0, labels = 0;  ///< of the first ones
    std::uint32_t call = 0;                   ///< 1 + its index
    std::uint32_t end = 0;                    ///< 1 + the label behind it; 0: it is the root
    Names names{};
  };

  [[nodiscard]] Function const* function_of(Instruction const& i) const {
    if (!is_call(i)) return nullptr;
    auto const found = functions_.find(callee_of(i));
    return found == functions_.end() ? nullptr : found->second;
  }

  Facts const& facts_of(Function const& f) {
    auto const [at, fresh] = facts_.try_emplace(&f);
    Facts& facts = at->second;  // of a map: stays where it is
    if (!fresh) return facts;
    path_.push_back(&f);
    facts.size = f.body.size() + f.registers.size() + f.params.size() + f.returned.size() + 2;
    Program const program = with_one_entry(lower(module_, f));
    if (!program.refused.empty())
      facts.refused = program.refused;
    else if (!flow_of(program).reducible)
      facts.refused = "its control flow has a loop with two entries (irreducible)";
    for (Instruction const& i : f.body) {
      Function const* const called = function_of(i);
      if (called == nullptr || path_.size() >= limits_.depth) continue;
      Facts const& of = facts_of(*called);
      if (of.active)
        for (auto on = std::find(path_.begin(), path_.end(), called); on != path_.end(); ++on)
          facts_[*on].recursive = true;
      else if (of.refused.empty() && !of.recursive)
        facts.size = std::min(facts.size + of.size, limits_.instructions + 1);
    }
    facts.active = false;
    path_.pop_back();
    return facts;
  }

  /// The reason why a call is not inlined; empty if it is.
  std::string why_not(Instruction& call, Function const& f) {
    if (!hidden_.empty()) return "the variable " + std::string(hidden_) + " hides another one of the file";
    if (active_.size() >= limits_.depth)
      return "more than " + std::to_string(limits_.depth) + " calls are nested";
    Facts const& facts = facts_of(f);
    if (facts.recursive || std::find(active_.begin(), active_.end(), &f) != active_.end())
      return f.name + " calls itself";
    if (!facts.refused.empty()) return f.name + " is not executed: " + facts.refused;
    if (facts.size > left_)
      return "the inlined functions would have more than " + std::to_string(limits_.instructions) +
             " instructions and registers";
    CallOperands const given = operands_of(call);
    if (!match(given.results, f.returned, true) || !match(given.arguments, f.params, false))
      return "it does not match the parameters of " + f.name;
    return {};
  }

  bool match(std::vector<Operand> const* given, std::vector<Variable> const& formal, bool result) const {
    std::size_t const count = given == nullptr ? 0 : given->size();
    if (count != formal.size()) return false;
    for (std::size_t k = 0; k < count; ++k) {
      Operand const& o = (*given)[k];
      Variable const& v = formal[k];
      auto const param = o.kind == Kind::symbol ? params_.find(o.text) : params_.end();
      bool const word = !v.array && is_word(v.bytes);
      if (v.space == Space::reg && v.lanes > 1) {
        bool const registers = std::all_of(o.parts.begin(), o.parts.end(),
                                           [](Operand const& part) { return part.kind == Kind::reg; });
        if (o.parts.size() != v.lanes || !registers || !is_word(v.bytes / v.lanes)) return false;
        continue;
      }
      if (param != params_.end() ? param->second < v.bytes || (v.space == Space::reg && !word)
                                 : !word || !(o.kind == Kind::reg || (!result && o.kind == Kind::immediate)))
        return false;
    }
    return true;
  }

  /// A name that lives as long as the function.
  std::string_view keep(std::string name) {
    return *out_.kept.emplace_back(std::make_shared<std::string const>(std::move(name)));
  }
  void declare(Variable v, std::string_view name) {
    v.name = name;
    if (v.space == Space::param) params_[name] = v.bytes;
    out_.variables.push_back(std::move(v));
  }
  /// The names of a function's own variables in all its copies.
  Names const& names_of(Function const& f) {
    auto const [at, fresh] = names_.try_emplace(&f);
    if (fresh)
      for (Variable const& v : f.variables) {
        std::string_view const name = keep(f.name + "." + v.name);
        at->second[v.name] = name;
        declare(v, name);
      }
    return at->second;
  }

  static void rename(Operand& o, Frame const& frame) {
    if (o.kind == Kind::reg) o.reg += frame.registers;
    if (o.kind == Kind::symbol && o.reg != 0) {
      o.reg += frame.labels;
    } else if (o.kind == Kind::symbol) {
      if (auto const name = frame.names.find(o.text); name != frame.names.end()) o.text = name->second;
    }
    for (Operand& part : o.parts) rename(part, frame);
  }

  void copy(Frame const& frame) {
    std::vector<Instruction> const& body = frame.function->body;
    for (std::size_t k = 0; k < body.size(); ++k) {
      Instruction i = body[k];
      i.call = frame.call;
      if (i.guard >= 0) i.guard += static_cast<std::int32_t>(frame.registers);
      if (i.label != 0) i.label += frame.labels;
      for (Operand& o : i.operands) rename(o, frame);
      if (Function const* const f = function_of(i)) {
        call(std::move(i), *f, frame);
      } else if (frame.end != 0 && is_return(i)) {
        if (i.guard >= 0 || k + 1 < body.size()) jump(std::move(i), frame.end);
      } else {
        out_.body.push_back(std::move(i));
      }
    }
  }

  void jump(Instruction i, std::uint32_t label) {
    Operand to;
    to.kind = Kind::symbol;
    to.text = "return";
    to.reg = label;
    i.opcode = Opcode(i.opcode.has("uni") ? "bra.uni" : "bra");
    i.operands = {std::move(to)};
    out_.body.push_back(std::move(i));
  }
  /// 1 + the number of a new label.
  std::uint32_t new_label() {
    out_.labels.emplace_back("return");
    return static_cast<std::uint32_t>(out_.labels.size());
  }
  void place(Instruction at, std::uint32_t label) {
    at.opcode = {};
    at.operands.clear();
    at.guard = -1;
    at.guard_negated = false;
    at.label = label;
    out_.body.push_back(std::move(at));
  }

  void call(Instruction i, Function const& f, Frame const& from) {
    std::string refused = why_not(i, f);
    out_.calls.push_back({i.line, from.call, refused});
    if (!refused.empty()) {
      i.call = static_cast<std::uint32_t>(out_.calls.size());
      return out_.body.push_back(std::move(i));
    }
    left_ -= std::min(left_, f.body.size() + f.registers.size() + f.params.size() + f.returned.size() + 2);
    Frame frame{&f,
                static_cast<std::uint32_t>(out_.registers.size()),
                static_cast<std::uint32_t>(out_.labels.size()),
                static_cast<std::uint32_t>(out_.calls.size()),
                0,
                names_of(f)};
    out_.registers.insert(out_.registers.end(), f.registers.begin(), f.registers.end());
    out_.labels.insert(out_.labels.end(), f.labels.begin(), f.labels.end());
    frame.end = new_label();
    std::uint32_t const behind = i.guard >= 0 ? new_label() : 0;
    CallOperands const given = operands_of(i);
    Instruction plain = i;  // line and place of the call
    plain.guard = -1;
    plain.guard_negated = false;
    if (behind != 0) {
      i.guard_negated = !i.guard_negated;
      jump(i, behind);
    }
    std::uint32_t reg = frame.registers;
    std::vector<Instruction> after;
    for (std::size_t k = 0; k < f.returned.size(); ++k)
      bind((*given.results)[k], f.returned[k], reg, frame, plain, &after);
    for (std::size_t k = 0; k < f.params.size(); ++k)
      bind((*given.arguments)[k], f.params[k], reg, frame, plain, nullptr);
    active_.push_back(&f);
    copy(frame);
    active_.pop_back();
    place(plain, frame.end);
    for (Instruction& move : after) out_.body.push_back(std::move(move));
    if (behind != 0) place(plain, behind);
  }

  /// Gives a parameter of the callee what the call has for it. `after` gets the move of a result.
  void bind(Operand const& given, Variable const& formal, std::uint32_t& reg, Frame& frame,
            Instruction const& at, std::vector<Instruction>* after) {
    bool const is_param = given.kind == Kind::symbol;  // of the caller: `match` has seen to it
    Instruction move = at;
    if (formal.space == Space::reg && formal.lanes > 1) {
      for (Operand const& lane : given.parts) {
        Operand const mine = register_operand(reg++);
        move.opcode = Opcode(move_of(formal.bytes / formal.lanes));
        move.operands = after == nullptr ? std::vector{mine, lane} : std::vector{lane, mine};
        (after == nullptr ? out_.body : *after).push_back(move);
      }
      return;
    }
    if (formal.space == Space::reg) {
      Operand const mine = register_operand(reg++);
      move.opcode =
          Opcode(!is_param ? move_of(formal.bytes) : param_access_of(formal.bytes, after == nullptr));
      Operand const other = is_param ? address(given) : given;
      move.operands = after == nullptr ? std::vector{mine, other} : std::vector{other, mine};
    } else if (is_param) {
      frame.names[formal.name] = given.text;
      return;
    } else {
      std::string_view const name = keep(frame.function->name + "." + formal.name);
      if (params_.find(name) == params_.end()) declare(formal, name);
      frame.names[formal.name] = name;
      Operand symbol;
      symbol.kind = Kind::symbol;
      symbol.text = name;
      move.opcode = Opcode(param_access_of(formal.bytes, after != nullptr));
      move.operands =
          after == nullptr ? std::vector{address(symbol), given} : std::vector{given, address(symbol)};
    }
    if (after == nullptr)
      out_.body.push_back(std::move(move));
    else
      after->push_back(std::move(move));
  }
  static Operand address(Operand const& symbol) {
    Operand o;
    o.kind = Kind::address;
    o.parts = {symbol};
    return o;
  }

  Module const& module_;
  Function const& root_;
  InlineLimits const& limits_;
  std::size_t left_;
  std::string hidden_{};
  Function out_{};
  std::unordered_map<std::string_view, Function const*> functions_{};
  std::map<Function const*, Facts> facts_{};
  std::map<Function const*, Names> names_{};
  std::unordered_map<std::string_view, std::uint64_t> params_{};  ///< bytes of the `.param` variables so far
  std::vector<Function const*> path_{}, active_{};
};

}  // namespace

std::string_view callee_of(Instruction const& call) {
  for (Operand const& o : call.operands)
    if (o.kind != Kind::vector && !o.text.empty())
      return o.kind == Kind::reg || o.text.starts_with('%') ? std::string_view{} : o.text;
  return {};
}

std::optional<Function> inline_calls(Module const& module, Function const& function,
                                     InlineLimits const& limits) {
  if (std::none_of(function.body.begin(), function.body.end(), is_call)) return std::nullopt;
  return Inliner(module, function, limits).run();
}

}  // namespace swizproof::ptx
