#include <swizproof/hardware/tma.hpp>
#include <swizproof/ptx/inline.hpp>
#include <swizproof/ptx/lower.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace swizproof::ptx {

namespace {

constexpr std::size_t most_targets = 4096;  ///< of an indirect branch, as of SASS

std::uint64_t mask_of(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

class Lowering {
 public:
  Lowering(Module const& module, Function const& function) : module_(module), function_(function) {
    program_.name = function.name;
    for (Register const& r : function.registers)
      program_.widths.push_back(std::min<std::uint8_t>(r.bits, 64));
    // The later hides the earlier: a function's own variables come last.
    program_.first_param = static_cast<std::uint32_t>(module.variables.size());
    program_.params = function.entry ? static_cast<std::uint32_t>(function.params.size()) : 0;
    for (auto const* list : {&module.variables, &function.params, &function.variables})
      for (Variable const& v : *list) {
        symbols_[v.name] = static_cast<std::uint32_t>(program_.symbols.size());
        program_.symbols.push_back(v);
      }
  }

  Program run() {
    find_leaders();
    program_.makes_generic = std::any_of(function_.body.begin(), function_.body.end(),
                                         [this](Instruction const& i) { return may_make_generic(i); });
    if (fresh_registers() != 0) {  // what a caller gives
      opcode_ = ".reg";
      for (std::uint32_t r = 0; r < fresh_registers(); ++r)
        program_.steps.push_back({Action::copy,
                                  program_.widths[r],
                                  static_cast<std::int32_t>(r),
                                  any(program_.widths[r], {}, true),
                                  {},
                                  {},
                                  0,
                                  function_.line});
    }
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      if (leader_[i] && !starts_empty()) begin_block();
      if (leader_[i]) block_of_[i] = current();
      instruction(function_.body[i], i);
    }
    program_.blocks.back().last = here();
    connect();
    return std::move(program_);
  }

 private:
  using Kind = Operand::Kind;

  // ------------------------------------------------------------------------------------- blocks

  static bool is_branch(Opcode const& op) { return op.name == "bra"; }
  static bool is_end(Opcode const& op) { return op.name == "ret" || op.name == "exit" || op.name == "trap"; }

  void find_leaders() {
    leader_.assign(function_.body.size() + 1, false);
    block_of_.assign(function_.body.size() + 1, 0);
    leader_[0] = true;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      Instruction const& in = function_.body[i];
      if (in.label != 0) {
        leader_[i] = true;
        label_at_.resize(std::max<std::size_t>(label_at_.size(), in.label), 0);
        label_at_[in.label - 1] = i;
      } else if (is_branch(in.opcode) || is_end(in.opcode) || in.opcode.name == "brx") {
        leader_[i + 1] = true;
      }
    }
    program_.blocks.emplace_back();
  }

  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(program_.steps.size()); }
  [[nodiscard]] std::uint32_t current() const {
    return static_cast<std::uint32_t>(program_.blocks.size() - 1);
  }
  /// True if the current block has neither instructions nor an end: a label may begin there. An instruction may have no steps.
  [[nodiscard]] bool starts_empty() const {
    bool const none = program_.instructions.empty() || program_.instructions.back().block != current();
    return program_.blocks.back().first == here() && none && !ended_;
  }

  void begin_block() {
    program_.blocks.back().last = here();
    if (!ended_) targets_.push_back({current(), false, current() + 1});
    ended_ = false;
    program_.blocks.emplace_back();
    program_.blocks.back().first = here();
  }

  /// Ends the block by a branch; with a guard it goes on with the next one otherwise.
  void branch(Instruction const& in, std::int64_t label) {
    if (label >= 0) jumps_.push_back({current(), static_cast<std::size_t>(label)});
    branch(in.guard, in.guard_negated, in.line);
  }
  void branch(std::int32_t condition, bool negated, std::uint32_t line) {
    Block& block = program_.blocks.back();
    block.condition = condition;
    block.negated = negated;
    block.line = line;
    ended_ = true;
    if (condition >= 0) targets_.push_back({current(), true, current() + 1});
    block.last = here();
    begin_block_after_end();
  }

  /// brx.idx: a block for each target but the last, which is left for it if the index is its number. An index behind the list is
  /// undefined behaviour; here it is the last one's.
  void indirect_branch(Instruction const& i) {
    auto const is_label = [](Operand const& o) { return o.kind == Kind::symbol && o.reg != 0; };
    if (i.operands.size() < 2 || !std::all_of(i.operands.begin() + 1, i.operands.end(), is_label))
      return refuse("brx.idx needs a list of known labels before it, in its braces");
    if (i.operands.size() > 1 + most_targets) return refuse("brx.idx with more than 4,096 labels");
    if (i.operands[0].kind != Kind::reg) return refuse("the index of brx.idx is no register");
    auto const targets = static_cast<std::uint32_t>(i.operands.size() - 1);
    if (guard_ >= 0) {
      targets_.push_back({current(), false, current() + 1 + targets});
      branch(guard_, !i.guard_negated, i.line);
      program_.blocks.back().goes_on = true;
    }
    guard_ = -1;
    Source const index = in(i.operands[0], 32);
    for (std::uint32_t k = 0; k < targets; ++k) {
      bool const last = k + 1 == targets;
      std::int32_t const is =
          last ? -1 : static_cast<std::int32_t>(emit(Action::equal, 1, index, constant(k)).value);
      jumps_.push_back({current(), i.operands[1 + k].reg - 1});
      branch(is, false, i.line);
      if (!last) program_.blocks.back().goes_on = true;
    }
  }
  void begin_block_after_end() {
    program_.blocks.emplace_back();
    program_.blocks.back().first = here();
    ended_ = false;
    fresh_ = true;
  }

  void connect() {
    auto const last = static_cast<std::int32_t>(program_.blocks.size());
    for (auto const& t : targets_)
      if (static_cast<std::int32_t>(t.to) < last) {
        Block& b = program_.blocks[t.from];
        (t.conditional ? b.next : b.taken) = static_cast<std::int32_t>(t.to);
      }
    for (auto const& j : jumps_)
      program_.blocks[j.from].taken = static_cast<std::int32_t>(block_of_[label_at_[j.label]]);
  }

  /// Parameters in registers, which come first.
  [[nodiscard]] std::uint32_t fresh_registers() const {
    std::uint32_t count = 0;
    for (auto const* list : {&function_.returned, &function_.params})
      for (Variable const& v : *list) count += v.space == Space::reg ? 1 : 0;
    return count;
  }

  // ------------------------------------------------------------------------------------- sources and destinations

  std::uint32_t temporary(unsigned width) {
    program_.widths.push_back(static_cast<std::uint8_t>(width));
    return static_cast<std::uint32_t>(program_.widths.size() - 1);
  }
  static Source constant(std::uint64_t value) { return {true, value}; }
  static Source reg(std::uint32_t r) { return {false, r}; }

  Source emit(Action action, unsigned width, Source a = {}, Source b = {}, Source c = {},
              std::uint32_t extra = 0) {
    std::uint32_t const to = temporary(width);
    program_.steps.push_back(
        {action, static_cast<std::uint8_t>(width), static_cast<std::int32_t>(to), a, b, c, extra, line_});
    return reg(to);
  }

  [[nodiscard]] unsigned width_of(Source s, unsigned of_constant) const {
    return s.constant ? of_constant : program_.widths[s.value];
  }

  Source resize(Source s, unsigned from, unsigned to, bool is_signed) {
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

  /// Number of the name of what is not modelled.
  std::uint32_t named(std::string_view what) {
    auto const [at, fresh] =
        names_.try_emplace(std::string(what), static_cast<std::uint32_t>(program_.names.size()));
    if (fresh) program_.names.emplace_back(what);
    return at->second;
  }
  /// Any value in any lane, which the instruction makes of `from`, or of memory.
  Source any(unsigned width, Source from = {}, bool memory = false) {
    return emit(Action::varying, width, from, constant(memory ? 1 : 0), {}, named(opcode_));
  }
  /// A function of the sources: of instructions of one opcode the same one.
  Source function_of(unsigned width, Source a, Source b = {}, Source c = {}) {
    return emit(Action::opaque, width, a, b, c, named(opcode_));
  }
  /// Value that comes from all registers that the operands from `from` on name.
  Source registers_of(Instruction const& i, std::size_t from) {
    Source all{};
    auto const look = [&](auto const& self, Operand const& o) -> void {
      if (o.kind == Kind::reg) all = function_of(64, all, reg(o.reg));
      for (Operand const& part : o.parts) self(self, part);
    };
    for (std::size_t k = from; k < i.operands.size(); ++k) look(look, i.operands[k]);
    return all;
  }

  void refuse(std::string const& why) {
    if (program_.refused.empty()) program_.refused = "line " + std::to_string(line_) + ": " + why;
  }

  /// The value of an operand as a word of `width` bits.
  Source in(Operand const& o, unsigned width, bool is_signed = false) {
    switch (o.kind) {
      case Kind::immediate:
        return constant(o.value & mask_of(width));
      case Kind::reg: {
        unsigned const bits = program_.widths[o.reg];
        if (function_.registers[o.reg].bits > 64 || (bits == 1 && width != 1)) return any(width, reg(o.reg));
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

  Source predicate(Operand const& o) {
    if (o.kind == Kind::immediate) return constant(o.value & 1);
    if (o.kind != Kind::reg) return any(1);
    if (program_.widths[o.reg] != 1) return any(1, reg(o.reg));
    return o.negated ? emit(Action::negate, 1, reg(o.reg)) : reg(o.reg);
  }

  Source symbol(Operand const& o, unsigned width) {
    if (o.text == "WARP_SZ") return constant(32);
    auto const found = symbols_.find(o.text);
    if (found == symbols_.end()) {  // the address of a function
      if (!is_function(o.text)) refuse(std::string(o.text) + " is not declared");
      return emit(Action::opaque, width, {}, {}, {}, named(o.text));
    }
    Source const base = emit(Action::symbol, width, {}, {}, {}, found->second);
    return o.value == 0 ? base : emit(Action::add, width, base, constant(o.value & mask_of(width)));
  }

  [[nodiscard]] bool is_function(std::string_view name) const {
    return std::find(module_.declared.begin(), module_.declared.end(), name) != module_.declared.end() ||
           function_named(name) != nullptr;
  }
  [[nodiscard]] Function const* function_named(std::string_view name) const {
    auto const found = std::find_if(module_.functions.begin(), module_.functions.end(),
                                    [&](Function const& f) { return f.name == name; });
    return found == module_.functions.end() ? nullptr : &*found;
  }

  /// Refuses names with % that are neither registers of the function nor special ones.
  void check_declared(Operand const& o) {
    static constexpr std::string_view specials[] = {
        "%tid",         "%ntid",        "%laneid",     "%warpid",    "%nwarpid",   "%ctaid",
        "%nctaid",      "%smid",        "%nsmid",      "%gridid",    "%clusterid", "%nclusterid",
        "%cluster_",    "%is_explicit", "%lanemask_",  "%clock",     "%pm",        "%envreg",
        "%globaltimer", "%reserved_",   "%total_smem", "%aggr_smem", "%dynamic_",  "%current_"};
    if (o.kind == Kind::special &&
        std::none_of(std::begin(specials), std::end(specials),
                     [&](std::string_view known) { return o.text.starts_with(known); }))
      refuse(std::string(o.text) + " is not declared");
    for (Operand const& part : o.parts) check_declared(part);
  }

  Source special(std::string_view name, unsigned width) {
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
      // The same in the whole warp, and as long as the block runs.
      for (std::string_view uniform :
           {"%nwarpid", "%gridid", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size", "%nclusterid",
            "%clusterid", "%cluster_", "%is_explicit_cluster", "%reserved_smem"})
        if (name.starts_with(uniform))
          return emit(Action::special, width, {}, {}, {}, 100 + uniform_index(name));
      return emit(Action::varying, width, {}, {}, {}, named(name));
    }
    Special const s = found->second;
    program_.uses_ntid_x |= s == Special::ntid_x;
    program_.uses_y_or_z |=
        s == Special::tid_y || s == Special::tid_z || s == Special::ntid_y || s == Special::ntid_z;
    Source const value = emit(Action::special, 32, {}, {}, {}, static_cast<std::uint32_t>(s));
    return resize(value, 32, width, false);
  }
  std::uint32_t uniform_index(std::string_view name) {
    auto const [at, fresh] = uniform_.try_emplace(name, static_cast<std::uint32_t>(uniform_.size()));
    return at->second;
  }

  /// Writes a register, under the instruction's guard.
  void out(Operand const& o, Source value, unsigned width, bool is_signed = false) {
    if (o.kind == Kind::symbol) refuse(std::string(o.text) + " is not declared");
    if (o.kind != Kind::reg) return;
    unsigned const bits = program_.widths[o.reg];
    if ((bits == 1) != (width == 1)) {
      value = any(bits, value);
    } else {
      value = resize(value, width, bits, is_signed);
    }
    if (guard_ >= 0) {
      Source const guard = guard_negated_ ? emit(Action::negate, 1, reg(static_cast<std::uint32_t>(guard_)))
                                          : reg(static_cast<std::uint32_t>(guard_));
      program_.steps.push_back({Action::choose, static_cast<std::uint8_t>(bits),
                                static_cast<std::int32_t>(o.reg), guard, value, reg(o.reg), 0, line_});
      return;
    }
    program_.steps.push_back({Action::copy,
                              static_cast<std::uint8_t>(bits),
                              static_cast<std::int32_t>(o.reg),
                              value,
                              {},
                              {},
                              0,
                              line_});
  }

  /// All registers of an operand get any values.
  void unknown(Operand const& o, Source from = {}, bool memory = false) {
    if (o.kind == Kind::reg) out(o, any(program_.widths[o.reg], from, memory), program_.widths[o.reg]);
    if (o.kind == Kind::address) return;
    for (Operand const& part : o.parts) unknown(part, from, memory);
  }
  /// Writes any values, as an instruction that is not modelled does.
  void unknown(Instruction const& i, bool memory = false) {
    if (!i.operands.empty()) unknown(i.operands[0], memory ? Source{} : registers_of(i, 1), memory);
  }

  /// A function of the sources that is not modelled.
  void opaque(Instruction const& i, std::size_t from = 1) {
    if (i.operands.empty()) return;
    Operand const& d = i.operands[0];
    if (d.kind != Kind::reg || !d.parts.empty() || i.operands.size() > from + 3) return unknown(i);
    Source sources[3] = {};
    for (std::size_t k = from; k < i.operands.size(); ++k) {
      Operand const& o = i.operands[k];
      if (o.kind == Kind::vector || o.kind == Kind::other || o.kind == Kind::address) return unknown(i);
      unsigned const bits = o.kind == Kind::reg ? program_.widths[o.reg] : 64;
      sources[k - from] = bits == 1 ? predicate(o) : in(o, bits);
    }
    unsigned const bits = program_.widths[d.reg];
    out(d, function_of(bits, sources[0], sources[1], sources[2]), bits);
  }

  // ------------------------------------------------------------------------------------- arithmetic

  Source sign_flip(Source s, unsigned w) {
    return emit(Action::add, w, s, constant(std::uint64_t{1} << (w - 1)));
  }
  Source below(Source a, Source b, unsigned w, bool is_signed) {
    return is_signed ? emit(Action::below, 1, sign_flip(a, w), sign_flip(b, w))
                     : emit(Action::below, 1, a, b);
  }
  Source negated(Source a, unsigned w) { return emit(Action::sub, w, constant(0), a); }

  Source shifted_right(Source a, Source n, unsigned w, bool is_signed) {
    if (!is_signed) return emit(Action::lshr, w, a, n);
    // asr(x, n) = ((x + m) >> n) - (m >> n) for n < w, with m = 2^(w-1); PTX takes w-1 for larger n.
    Source const m = constant(std::uint64_t{1} << (w - 1));
    if (n.constant)
      n.value = std::min<std::uint64_t>(n.value, w - 1);
    else
      n = emit(Action::choose, w, emit(Action::below, 1, n, constant(w)), n, constant(w - 1));
    Source const up = emit(Action::lshr, w, emit(Action::add, w, a, m), n);
    Source const down = n.constant ? constant(m.value >> n.value) : emit(Action::lshr, w, m, n);
    return emit(Action::sub, w, up, down);
  }

  /// A division by 0 gives what the machine gives: PTX does not specify it.
  Source divided(Source a, Source b, unsigned w, bool is_signed, bool remainder) {
    Source const result = quotient(a, b, w, is_signed, remainder);
    if (b.constant && b.value != 0) return result;
    Source const open = emit(Action::opaque, w, a, b, {}, named(std::string(opcode_) + " by 0"));
    return b.constant ? open : emit(Action::choose, w, emit(Action::equal, 1, b, constant(0)), open, result);
  }
  Source quotient(Source a, Source b, unsigned w, bool is_signed, bool remainder) {
    Action const action = remainder ? Action::urem : Action::udiv;
    if (!is_signed) return emit(action, w, a, b);
    Source const m = constant(std::uint64_t{1} << (w - 1));
    // x is negative if and only if x + 2^(w-1) < 2^(w-1), unsigned
    Source const a_minus = emit(Action::below, 1, emit(Action::add, w, a, m), m);
    Source const b_minus = emit(Action::below, 1, emit(Action::add, w, b, m), m);
    Source const a_abs = emit(Action::choose, w, a_minus, negated(a, w), a);
    Source const b_abs = emit(Action::choose, w, b_minus, negated(b, w), b);
    Source const q = emit(action, w, a_abs, b_abs);
    Source const flip = remainder ? a_minus : emit(Action::differ, 1, a_minus, b_minus);
    return emit(Action::choose, w, flip, negated(q, w), q);
  }

  Source high_product(Source a, Source b, unsigned w, bool is_signed) {
    if (w > 32) return function_of(w, a, b);
    Source const product =
        emit(Action::mul, 2 * w, resize(a, w, 2 * w, is_signed), resize(b, w, 2 * w, is_signed));
    return emit(Action::trunc, w, emit(Action::lshr, 2 * w, product, constant(w)));
  }

  /// lop3 by its truth table.
  Source lop3(Source a, Source b, Source c, unsigned table, unsigned w) {
    Source result = constant(0);
    Source const ones = constant(mask_of(w));
    for (unsigned row = 0; row < 8; ++row) {
      if ((table >> row & 1) == 0) continue;
      auto const bit = [&](Source s, unsigned set) {
        return set != 0 ? s : emit(Action::bit_xor, w, s, ones);
      };
      Source const term = emit(Action::bit_and, w, emit(Action::bit_and, w, bit(a, row & 4), bit(b, row & 2)),
                               bit(c, row & 1));
      result = result.constant ? term : emit(Action::bit_or, w, result, term);
    }
    return result;
  }

  /// Operand k; a missing one is unknown.
  static Operand const& operand(Instruction const& i, std::size_t k) {
    static Operand const none{};
    return k < i.operands.size() ? i.operands[k] : none;
  }

  /// x shifted by n of 32 bits at any width of the word: an amount that does not fit the word gives what the width gives.
  Source shifted(Source x, Source n, unsigned w, bool is_signed, bool left) {
    n = n.constant ? constant(std::min<std::uint64_t>(n.value, w))
                   : emit(Action::choose, 32, emit(Action::below, 1, n, constant(w)), n, constant(w));
    n = resize(n, 32, w, false);
    return left ? emit(Action::shl, w, x, n) : shifted_right(x, n, w, is_signed);
  }

  /// shf: 32 bits of a pair of words, shifted.
  Source funnel_shift(Instruction const& i, Opcode const& op) {
    Source const low = in(operand(i, 1), 32), high = in(operand(i, 2), 32);
    Source n = in(operand(i, 3), 32);
    if (op.has("wrap"))
      n = emit(Action::bit_and, 32, n, constant(31));
    else
      n = emit(Action::choose, 32, emit(Action::below, 1, n, constant(32)), n, constant(32));
    Source const both =
        emit(Action::bit_or, 64, emit(Action::shl, 64, resize(high, 32, 64, false), constant(32)),
             resize(low, 32, 64, false));
    Source const by = resize(n, 32, 64, false);
    if (op.has("r")) return emit(Action::trunc, 32, emit(Action::lshr, 64, both, by));
    return emit(Action::trunc, 32, emit(Action::lshr, 64, emit(Action::shl, 64, both, by), constant(32)));
  }

  /// bfi: the low `length` bits of x in y, from bit `at` on.
  Source inserted_field(Source x, Source y, std::uint64_t at, std::uint64_t length, unsigned w) {
    std::uint64_t const field =
        at >= w || length == 0
            ? 0
            : (mask_of(static_cast<unsigned>(std::min<std::uint64_t>(length, 64))) << at) & mask_of(w);
    Source const moved = emit(Action::shl, w, x, constant(std::min<std::uint64_t>(at, w)));
    return emit(Action::bit_or, w, emit(Action::bit_and, w, moved, constant(field)),
                emit(Action::bit_and, w, y, constant(~field & mask_of(w))));
  }

  /// Integer arithmetic; false: not modelled.
  bool arithmetic(Instruction const& i, Opcode const& op) {
    std::string_view const name = op.name;
    unsigned const w = op.type.bits;
    bool const s = op.type.kind == 's';
    if (w > 64 || w < 8 || op.has("sat") || op.has("cc")) return false;
    auto const a = [&] { return in(operand(i, 1), w, s); };
    auto const b = [&] { return in(operand(i, 2), w, s); };
    Operand const& d = operand(i, 0);
    auto const put = [&](Source value, unsigned width) {
      out(d, value, width, s);
      return true;
    };
    auto const two = [&](Action action) {
      Source const x = a();
      Source const y = b();
      return put(emit(action, w, x, y), w);
    };
    if (name == "add") return two(Action::add);
    if (name == "sub") return two(Action::sub);
    if (name == "and") return two(Action::bit_and);
    if (name == "or") return two(Action::bit_or);
    if (name == "xor") return two(Action::bit_xor);
    if (name == "not") return put(emit(Action::bit_xor, w, a(), constant(mask_of(w))), w);
    if (name == "neg") return put(negated(a(), w), w);
    if (name == "abs") {
      Source const x = a();
      return put(emit(Action::choose, w, below(x, constant(0), w, true), negated(x, w), x), w);
    }
    if (name == "min" || name == "max") {
      if (op.has("relu")) return false;
      Source const x = a(), y = b();
      Source const less = name == "min" ? below(x, y, w, s) : below(y, x, w, s);
      return put(emit(Action::choose, w, less, x, y), w);
    }
    if (name == "div" || name == "rem") return put(divided(a(), b(), w, s, name == "rem"), w);
    if (name == "mul" || name == "mad") {
      Source const x = a(), y = b();
      bool const wide = op.has("wide"), high = op.has("hi");
      if (wide && w > 32) return false;
      unsigned const to = wide ? 2 * w : w;
      Source value = high   ? high_product(x, y, w, s)
                     : wide ? emit(Action::mul, to, resize(x, w, to, s), resize(y, w, to, s))
                            : emit(Action::mul, w, x, y);
      if (name == "mad") value = emit(Action::add, to, value, in(operand(i, 3), to, s));
      return put(value, to);
    }
    if (name == "shl" || name == "shr")
      return put(shifted(a(), in(operand(i, 2), 32), w, s, name == "shl"), w);
    if (name == "shf" && w == 32) return put(funnel_shift(i, op), w);
    if (name == "lop3" && w == 32 && operand(i, 4).kind == Kind::immediate && d.parts.empty() &&
        !op.has("or"))
      return put(lop3(a(), b(), in(operand(i, 3), w), static_cast<unsigned>(operand(i, 4).value & 255), w),
                 w);
    if (name == "bfe" && operand(i, 2).kind == Kind::immediate && operand(i, 3).kind == Kind::immediate)
      return put(bit_field(a(), operand(i, 2).value & 255, operand(i, 3).value & 255, w, s), w);
    if (name == "bfi" && operand(i, 3).kind == Kind::immediate && operand(i, 4).kind == Kind::immediate)
      return put(inserted_field(a(), b(), operand(i, 3).value & 255, operand(i, 4).value & 255, w), w);
    if (name == "prmt" && operand(i, 3).kind == Kind::immediate && op.parts.size() == 2) return permute(i);
    if (name == "popc" || name == "clz" || name == "brev" || name == "bfind") return counted(i, op, w);
    return false;
  }

  Source bit_field(Source x, std::uint64_t at, std::uint64_t length, unsigned w, bool is_signed) {
    if (length == 0) return constant(0);
    at = std::min<std::uint64_t>(at, w);
    // A signed field that sticks out repeats the word's sign: as if it ended there.
    if (is_signed && at + length > w) length = at >= w ? 1 : w - at;
    if (is_signed && at >= w) at = w - 1;
    if (at + length >= w) return shifted_right(x, constant(at), w, is_signed);
    if (!is_signed)
      return emit(Action::bit_and, w, shifted_right(x, constant(at), w, false),
                  constant(mask_of(static_cast<unsigned>(length))));
    auto const up = static_cast<unsigned>(w - at - length);
    return shifted_right(emit(Action::shl, w, x, constant(up)), constant(at + up), w, true);
  }

  /// prmt in its default mode with a constant selector.
  bool permute(Instruction const& i) {
    Source const a = in(operand(i, 1), 32), b = in(operand(i, 2), 32);
    std::uint64_t const selector = operand(i, 3).value;
    Source result = constant(0);
    for (unsigned k = 0; k < 4; ++k) {
      auto const pick = static_cast<unsigned>(selector >> 4 * k & 15);
      Source byte = emit(Action::bit_and, 32,
                         emit(Action::lshr, 32, pick & 4 ? b : a, constant(8 * (pick & 3))), constant(255));
      if (pick & 8)  // the byte's sign, eight times
        byte = emit(Action::mul, 32, emit(Action::lshr, 32, byte, constant(7)), constant(255));
      result = emit(Action::bit_or, 32, result, emit(Action::shl, 32, byte, constant(8 * k)));
    }
    out(operand(i, 0), result, 32);
    return true;
  }

  Source ones_of(Source x, unsigned w) {
    Source count = constant(0);
    for (unsigned k = 0; k < w; ++k)
      count = emit(Action::add, w, count,
                   emit(Action::bit_and, w, emit(Action::lshr, w, x, constant(k)), constant(1)));
    return count;
  }
  /// popc, clz, brev and bfind.u, bit by bit.
  bool counted(Instruction const& i, Opcode const& op, unsigned w) {
    Source x = in(operand(i, 1), w);
    if (op.name == "brev") {
      Source result = constant(0);
      for (unsigned k = 0; k < w; ++k)
        result = emit(
            Action::bit_or, w, result,
            emit(Action::shl, w, emit(Action::bit_and, w, emit(Action::lshr, w, x, constant(k)), constant(1)),
                 constant(w - 1 - k)));
      out(operand(i, 0), result, w);
      return true;
    }
    if (op.name == "bfind") return false;
    if (op.name == "clz") {
      for (unsigned k = 1; k < w; k *= 2)
        x = emit(Action::bit_or, w, x, emit(Action::lshr, w, x, constant(k)));
      x = emit(Action::bit_xor, w, x, constant(mask_of(w)));
    }
    Source const count = ones_of(x, w);
    out(operand(i, 0), w == 32 ? count : emit(Action::trunc, 32, count), 32);
    return true;
  }

  // ------------------------------------------------------------------------------------- predicates, moves, conversions

  Source compared(std::string_view how, Source a, Source b, unsigned w, Type type) {
    bool const s = type.kind == 's';
    if (how == "eq") return emit(Action::equal, 1, a, b);
    if (how == "ne") return emit(Action::negate, 1, emit(Action::equal, 1, a, b));
    if (how == "lt" || how == "lo") return below(a, b, w, s && how == "lt");
    if (how == "gt" || how == "hi") return below(b, a, w, s && how == "gt");
    if (how == "le" || how == "ls") return emit(Action::negate, 1, below(b, a, w, s && how == "le"));
    if (how == "ge" || how == "hs") return emit(Action::negate, 1, below(a, b, w, s && how == "ge"));
    return function_of(1, a, b);
  }

  void set_predicate(Instruction const& i, Opcode const& op) {
    Type const type = op.type;
    Operand const& d = operand(i, 0);
    Source p{};
    if (type.integer() && type.bits >= 8 && type.bits <= 64) {
      Source const a = in(operand(i, 1), type.bits, type.kind == 's');
      p = compared(op.parts[1], a, in(operand(i, 2), type.bits, type.kind == 's'), type.bits, type);
    } else {
      unsigned const w = std::min(std::max(type.bits, 8U), 64U);
      Source const a = in(operand(i, 1), w);
      p = function_of(1, a, in(operand(i, 2), w));
    }
    Source q = emit(Action::negate, 1, p);
    if (i.operands.size() > 3) {
      Source const c = predicate(operand(i, 3));
      auto const with = [&](Source x) {
        if (op.has("and")) return emit(Action::both, 1, x, c);
        if (op.has("or")) return emit(Action::either, 1, x, c);
        if (op.has("xor")) return emit(Action::differ, 1, x, c);
        return function_of(1, x, c);
      };
      p = with(p), q = with(q);
    }
    if (!d.parts.empty()) out(d.parts[0], q, 1);
    out(d, p, 1);
  }

  bool logic_of_predicates(Instruction const& i, std::string_view op) {
    Source const a = predicate(operand(i, 1));
    Source value = a;
    if (op == "not")
      value = emit(Action::negate, 1, a);
    else if (op == "and")
      value = emit(Action::both, 1, a, predicate(operand(i, 2)));
    else if (op == "or")
      value = emit(Action::either, 1, a, predicate(operand(i, 2)));
    else if (op == "xor")
      value = emit(Action::differ, 1, a, predicate(operand(i, 2)));
    else if (op != "mov")
      return false;
    out(operand(i, 0), value, 1);
    return true;
  }

  void move(Instruction const& i, Type type) {
    Operand const& d = operand(i, 0);
    Operand const& s = operand(i, 1);
    unsigned const w = type.bits;
    if (type.kind == 'p') {
      (void)logic_of_predicates(i, "mov");
    } else if (w > 64 || w < 8) {
      unknown(i);
    } else if (d.kind == Kind::vector) {
      unsigned const part = w / static_cast<unsigned>(std::max<std::size_t>(d.parts.size(), 1));
      if (part < 8 || s.kind == Kind::vector) return unknown(i);
      Source const value = in(s, w);
      for (unsigned k = 0; k < d.parts.size(); ++k)
        if (d.parts[k].kind == Kind::reg)
          out(d.parts[k], emit(Action::trunc, part, emit(Action::lshr, w, value, constant(k * part))), part);
    } else if (s.kind == Kind::vector) {
      unsigned const part = w / static_cast<unsigned>(std::max<std::size_t>(s.parts.size(), 1));
      if (part < 8 || s.parts.size() < 2) return unknown(i);
      Source value = constant(0);
      for (unsigned k = 0; k < s.parts.size(); ++k)
        value = emit(Action::bit_or, w, value,
                     emit(Action::shl, w, resize(in(s.parts[k], part), part, w, false), constant(k * part)));
      out(d, value, w);
    } else {
      out(d, in(s, w), w);
    }
  }

  void convert(Instruction const& i, Opcode const& op) {
    Type const from = op.type, to = op.type_before();
    if (!from.integer() || !to.integer() || op.has("sat") || from.bits > 64 || to.bits > 64) return opaque(i);
    bool const s = from.kind == 's';
    Source const value = resize(in(operand(i, 1), from.bits), from.bits, to.bits, s);
    out(operand(i, 0), value, to.bits, to.kind == 's');
  }

  void choose(Instruction const& i, Type type) {
    if (type.bits > 64 || type.bits < 8) return unknown(i);
    Source const a = in(operand(i, 1), type.bits);
    Source const b = in(operand(i, 2), type.bits);
    out(operand(i, 0), emit(Action::choose, type.bits, predicate(operand(i, 3)), a, b), type.bits);
  }

  // ------------------------------------------------------------------------------------- memory

  /// Base and offset of an address operand as a word of 32 (shared) or 64 bits.
  std::pair<Source, std::uint64_t> address(Operand const& o) {
    if (o.kind == Kind::other) return {any(32), 0};
    if (o.kind != Kind::address || o.parts.empty()) return {constant(o.value), 0};
    Operand const& base = o.parts[0];
    unsigned const w = base.kind == Kind::reg      ? program_.widths[base.reg]
                       : base.kind == Kind::symbol ? 64
                                                   : 32;
    if (base.kind == Kind::address) return address(base);
    return {in(base, w == 1 ? 32 : w), o.value};
  }

  /// A word of a load or store without a space that PTX ISA 9.1, 9.7.9, does not have: a space misspelled, or a new one. Else empty.
  static std::string_view unknown_word(Opcode const& op) {
    static constexpr std::string_view known[] = {
        "weak",    "volatile", "relaxed", "acquire", "release", "mmio", "cta", "cluster", "gpu", "sys", "nc",
        "unified", "ca",       "cg",      "cs",      "lu",      "cv",   "wb",  "wt",      "v2",  "v4",  "v8"};
    for (std::string_view const p : op.parts)
      if (p != op.name && type_of(p).kind == 0 && p.find("::") == p.npos &&
          std::find(std::begin(known), std::end(known), p) == std::end(known))
        return p;
    return {};
  }

  MemoryAccess access_at(Instruction const& i, Operand const& where) {
    MemoryAccess m;
    m.op = std::string(i.opcode.text);
    std::tie(m.address, m.offset) = address(where);
    m.guard = guard_;
    m.guard_negated = guard_negated_;
    m.line = i.line;
    m.location = i.location;
    for (std::uint32_t c = i.call; c != 0; c = function_.calls[c - 1].within)
      if (function_.calls[c - 1].refused.empty())
        m.calls.insert(m.calls.begin(), function_.calls[c - 1].line);
    if (where.kind == Kind::other) m.reason = "this form of an address is not read";
    return m;
  }
  /// An access with a reason is not modelled.
  void add(MemoryAccess m) {
    if (!m.reason.empty()) m.instruction.reset(), m.atomic.reset();
    program_.steps.push_back({Action::access,
                              32,
                              -1,
                              m.address,
                              {},
                              {},
                              static_cast<std::uint32_t>(program_.accesses.size()),
                              line_});
    program_.accesses.push_back(std::move(m));
  }

  /// A descriptor in a register, or an address in shared memory, that no lane accesses itself.
  void add_operand(Instruction const& i, Operand const& what, OperandRole role, std::uint32_t unit,
                   Opcode const& op, std::optional<Source> size = {}) {
    SharedOperand o;
    o.role = role;
    o.tcgen05 = op.name == "tcgen05";
    o.tensor = op.has("tensor");
    o.unit = unit;
    o.size = size;
    o.at = access_at(i, what);
    if (o.is_descriptor()) o.at.reason.clear(), o.at.address = in(what, 64);
    program_.steps.push_back({Action::operand,
                              32,
                              -1,
                              o.at.address,
                              {},
                              {},
                              static_cast<std::uint32_t>(program_.operands.size()),
                              line_});
    program_.operands.push_back(std::move(o));
  }

  static bool takes_descriptors(Opcode const& op) {
    return (op.name == "wgmma" && op.has("mma_async")) ||
           (op.name == "tcgen05" && (op.has("mma") || op.has("cp")));
  }

  /// Descriptors of wgmma.mma_async, tcgen05.mma and tcgen05.cp: A may be in registers, or in tensor memory by an address.
  void descriptors(Instruction const& i, Opcode const& op) {
    auto const add = [&](std::size_t k, OperandRole role) {
      Kind const kind = operand(i, k).kind;
      if (kind == Kind::reg || kind == Kind::immediate) add_operand(i, operand(i, k), role, 16, op);
    };
    if (op.has("cp")) return add(1, OperandRole::descriptor_source);
    add(1, OperandRole::descriptor_a);
    add(2, OperandRole::descriptor_b);
  }

  /// cp.async.bulk and cp.reduce.async.bulk, also of tensors: the state spaces of destination and source are in the opcode, in
  /// this order; behind both are the size of a copy that is none of a tensor, and the mbarrier. Addresses are multiples of 16
  /// bytes, of tensors of 128 bytes, of mbarriers of 8. [PTX ISA 9.1: cp.async.bulk, cp.async.bulk.tensor, mbarrier.init]
  void bulk_copy(Instruction const& i, Opcode const& op) {
    bool const tensor = op.has("tensor");
    std::optional<Source> const size =
        tensor || i.operands.size() < 3 ? std::nullopt : std::optional(in(operand(i, 2), 32));
    std::size_t k = 0;
    for (std::string_view const p : op.parts) {
      bool const shared = p == "shared" || p.starts_with("shared::");
      if (shared && k < 2)
        add_operand(i, operand(i, k), k == 0 ? OperandRole::destination : OperandRole::source,
                    tensor ? tma_destination : 16, op, size);
      if (shared || p == "global") ++k;
    }
    if (k != 2 || !op.has("mbarrier::complete_tx::bytes")) return;  // a prefetch has one space
    for (std::size_t at = 2; at < i.operands.size(); ++at)
      if (operand(i, at).kind == Kind::address || operand(i, at).kind == Kind::other)
        return add_operand(i, operand(i, at), OperandRole::barrier, 8, op);
  }

  /// ld and st of up to 16 bytes a lane.
  void load_or_store(Instruction const& i, Opcode const& op, bool load) {
    Operand const& where = operand(i, load ? 1 : 0);
    Type const type = op.type;
    Space const space = op.space;
    unsigned const lanes = op.lanes, each = std::max(type.bits, 8U) / 8;
    if (space == Space::shared || space == Space::generic) {
      MemoryAccess m = access_at(i, where);
      m.bytes = each * lanes;
      m.generic = space == Space::generic;
      if (op.has("shared::cluster")) {
        m.reason = "the memory of another block of the cluster is not modelled";
      } else if (std::string_view const word = m.generic ? unknown_word(op) : ""; !word.empty()) {
        m.reason = "'." + std::string(word) + "' is no state space or modifier that is known";
      } else if (m.bytes <= 16) {
        m.instruction = swizproof::Instruction{load ? Operation::ld_shared : Operation::st_shared, m.bytes};
      } else {
        m.reason = "accesses of more than 16 bytes a lane are not modelled";
      }
      add(std::move(m));
    }
    if (!load) return;
    auto [base, offset] = address(where);
    if (!base.constant)
      base = emit(Action::copy, program_.widths[base.value], base);  // a destination may be its register
    std::vector<Operand> const one{operand(i, 0)};
    std::vector<Operand> const& into = one[0].kind == Kind::vector ? one[0].parts : one;
    for (std::size_t k = 0; k < into.size(); ++k) {
      if (into[k].kind != Kind::reg) continue;
      if (type.bits > 64 || type.bits == 0) {
        unknown(into[k], {}, true);
        continue;
      }
      unsigned const bits = std::max(type.bits, 8U);
      // Loads that may change between two executions are told apart by the executor.
      Source const value = emit(Action::load, bits, base, constant(offset + k * each),
                                constant(named(opcode_)), static_cast<std::uint32_t>(space));
      out(into[k], value, bits, type.kind == 's');
    }
  }

  void matrices(Instruction const& i, Opcode const& op, bool load) {
    Space const space = op.space;
    MemoryAccess m = access_at(i, operand(i, load ? 1 : 0));
    m.generic = space == Space::generic;
    m.bytes = 16;
    unsigned const n = op.has("x4") ? 4 : op.has("x2") ? 2 : op.has("x1") ? 1 : 0;
    if (n == 0 || !op.has("m8n8")) {
      m.reason = "this shape is not modelled";
    } else {
      m.instruction =
          swizproof::Instruction{load ? Operation::ldmatrix : Operation::stmatrix, 16, n, op.has("trans")};
    }
    if (space == Space::shared || space == Space::generic) add(std::move(m));
    if (load) unknown(i, true);
  }

  void copy_async(Instruction const& i, Opcode const& op) {
    if (op.has("bulk")) return bulk_copy(i, op);
    if (op.has("mbarrier") || !op.has("global")) return;  // groups
    MemoryAccess m = access_at(i, operand(i, 0));
    std::uint64_t const bytes = operand(i, 2).value;
    m.bytes = static_cast<std::uint32_t>(bytes);
    if (operand(i, 2).kind == Kind::immediate && (bytes == 4 || bytes == 8 || bytes == 16)) {
      m.instruction = swizproof::Instruction{Operation::cp_async, m.bytes};
    } else {
      m.reason = "the number of bytes is no constant";
    }
    add(std::move(m));
  }

  void atomic(Instruction const& i, Opcode const& op, bool returns) {
    Type const type = op.type;
    Space const space = op.space;
    MemoryAccess m = access_at(i, operand(i, returns ? 1 : 0));
    m.generic = space == Space::generic;
    m.bytes = std::max(type.bits, 8U) / 8 * op.lanes;
    bool const swap = op.has("cas") || op.has("exch");
    bool const whole = type.integer() && ((type.bits == 32 && !op.has("noftz")) || (type.bits == 64 && swap));
    if (whole && op.lanes == 1 && !op.has("shared::cluster")) {
      m.instruction = swizproof::Instruction{Operation::st_shared, m.bytes};
      m.atomic = op.has("cas") ? Atomic::compare_and_swap : Atomic::arithmetic;
    } else {
      m.reason =
          "this atomic is a loop of compare-and-swap, whose cost depends on which lane wins: it is not "
          "modelled";
    }
    if (space == Space::shared || space == Space::generic) add(std::move(m));
    if (returns) unknown(i, true);
  }

  // ------------------------------------------------------------------------------------- the warp

  void shuffle(Instruction const& i, Opcode const& op) {
    Operand const& d = operand(i, 0);
    Shuffle const mode = op.has("up")     ? Shuffle::up
                         : op.has("down") ? Shuffle::down
                         : op.has("bfly") ? Shuffle::bfly
                                          : Shuffle::idx;
    if (!op.has("sync") || guard_ >= 0) {  // lanes that a guard switches off give no value
      unknown(i);
      return;
    }
    Source const a = in(operand(i, 1), 32);
    Source const b = in(operand(i, 2), 32);
    Source const c = in(operand(i, 3), 32);
    for (Operand const& p : d.parts) out(p, within_segment(mode, b, c), 1);
    Operand plain = d;
    plain.parts.clear();
    out(plain, emit(Action::shuffle, 32, a, b, c, static_cast<std::uint32_t>(mode)), 32);
  }

  /// A shuffle's predicate: the lane that it names lies within the segment (PTX ISA 9.0, shfl.sync).
  Source within_segment(Shuffle mode, Source b, Source c) {
    auto const both = [&](Source x, Source y) { return emit(Action::bit_and, 32, x, y); };
    Source const lane = special("%laneid", 32), by = both(b, constant(31)), clamp = both(c, constant(31));
    Source const segment = both(emit(Action::lshr, 32, c, constant(8)), constant(31));
    Source const others = emit(Action::bit_xor, 32, segment, constant(31)), least = both(lane, segment);
    Source const most = emit(Action::bit_or, 32, least, both(clamp, others));
    // lane - by >= most
    if (mode == Shuffle::up)
      return emit(Action::negate, 1, emit(Action::below, 1, lane, emit(Action::add, 32, most, by)));
    Source const from = mode == Shuffle::down   ? emit(Action::add, 32, lane, by)
                        : mode == Shuffle::bfly ? emit(Action::bit_xor, 32, lane, by)
                                                : emit(Action::bit_or, 32, least, both(by, others));
    return emit(Action::negate, 1, emit(Action::below, 1, most, from));
  }

  /// A result that all lanes of the mask share: vote.sync and redux.sync.
  void voted(Instruction const& i, Opcode const& op) {
    Operand const& d = operand(i, 0);
    if (d.kind != Kind::reg || !d.parts.empty() || !op.has("sync")) return unknown(i);
    unsigned const bits = program_.widths[d.reg];
    out(d, emit(Action::voted, bits, in(operand(i, 2), 32), registers_of(i, 1), {}, named(opcode_)), bits);
  }

  /// elect.sync: the lane that is elected is one number for the lanes of the mask.
  void elect(Instruction const& i) {
    Operand const& d = operand(i, 0);
    if (guard_ >= 0 || (d.kind == Kind::reg && d.parts.empty())) return unknown(i);
    Source const leader = emit(Action::voted, 32, in(operand(i, 1), 32), {}, {}, named(opcode_));
    Operand lane = d;
    lane.parts.clear();
    if (lane.kind == Kind::reg) out(lane, leader, 32);
    for (Operand const& p : d.parts) out(p, emit(Action::equal, 1, leader, special("%laneid", 32)), 1);
  }

  // ------------------------------------------------------------------------------------- one instruction

  void instruction(Instruction const& i, std::size_t index) {
    if (i.label != 0) {
      block_of_[index] = current();
      return;
    }
    fresh_ = false;
    line_ = i.line;
    opcode_ = i.opcode.text;
    for (Operand const& o : i.operands) check_declared(o);
    guard_ = i.guard;
    guard_negated_ = i.guard_negated;
    if (guard_ >= 0 && program_.widths[static_cast<std::size_t>(guard_)] != 1) {
      refuse("the guard is no predicate");
      return;
    }
    if (is_branch(i.opcode)) return branch(i, static_cast<std::int64_t>(operand(i, 0).reg) - 1);
    if (is_end(i.opcode)) return branch(i, -1);
    if (i.opcode.name == "brx") return indirect_branch(i);
    std::uint32_t const first = here();
    dispatch(i);
    program_.instructions.push_back({static_cast<std::uint32_t>(index), first, here(), current()});
  }

  void dispatch(Instruction const& i) {
    Opcode const& op = i.opcode;
    std::string_view const name = op.name;
    if (name == "ld" || name == "ldu") return load_or_store(i, op, true);
    if (name == "st" && !op.has("async") && !op.has("bulk")) return load_or_store(i, op, false);
    if (name == "mov") return move(i, op.type);
    if (name == "setp") return set_predicate(i, op);
    if (name == "selp") return choose(i, op.type);
    if (name == "cvt") return convert(i, op);
    if (name == "cvta") {
      unsigned const w = op.type.bits == 32 ? 32 : 64;
      return out(operand(i, 0), in(operand(i, 1), w), w);
    }
    if (name == "ldmatrix") return matrices(i, op, true);
    if (name == "stmatrix") return matrices(i, op, false);
    if (name == "cp") return copy_async(i, op);
    if (name == "atom") return atomic(i, op, true);
    if (name == "red" && !op.has("async")) return atomic(i, op, false);
    if (name == "shfl") return shuffle(i, op);
    if (name == "vote" || name == "redux") return voted(i, op);
    if (name == "elect") return elect(i);
    if (name == "multimem" && op.has("bulk")) return bulk_copy(i, op);
    if (takes_descriptors(op)) descriptors(i, op);
    if (name == "wmma" && (op.has("load") || op.has("store"))) return wmma(i, op);
    if (name == "call") return call(i);
    if (op.has("async") && (name == "st" || name == "red")) return store_async(i);
    if (op.type.kind == 'p' && logic_of_predicates(i, name)) return;
    if (op.type.integer() && arithmetic(i, op)) return;
    if (depends_on_operands_alone(name)) return opaque(i);
    if (name == "st" || name == "red") return;
    if (name == "bar" || name == "barrier" || name == "membar" || name == "fence" || name == "prefetch" ||
        name == "nanosleep") {
      if (op.has("red")) unknown(i);
      return;
    }
    unknown(i, reads_memory(op));
  }

  /// Opcodes whose result comes from memory, also by way of a descriptor.
  static bool reads_memory(Opcode const& op) {
    return op.name == "tex" || op.name == "tld4" || op.name == "suld" || op.name == "multimem" ||
           op.name == "wgmma" || (op.name == "tcgen05" && op.has("ld"));
  }

  void wmma(Instruction const& i, Opcode const& op) {
    bool const load = op.has("load");
    Space const space = op.space;
    MemoryAccess m = access_at(i, operand(i, load ? 1 : 0));
    m.generic = space == Space::generic;
    m.reason = "how wmma spreads a tile over lanes is not modelled";
    if (space == Space::shared || space == Space::generic) add(std::move(m));
    if (load) unknown(i, true);
  }

  /// st.async and red.async.
  void store_async(Instruction const& i) {
    MemoryAccess m = access_at(i, operand(i, 0));
    m.reason = "the memory of another block of the cluster is not modelled";
    add(std::move(m));
  }

  /// A call that was not inlined: where its function may access shared memory, that is an access which is not decided.
  void call(Instruction const& i) {
    if (!i.operands.empty() && i.operands[0].kind == Kind::vector) unknown(i.operands[0]);
    std::set<std::string_view> seen;
    std::string const why = why_call_matters(callee_of(i), seen);
    if (why.empty()) return;
    MemoryAccess m = access_at(i, Operand{});
    std::string const refused = i.call == 0 ? "" : function_.calls[i.call - 1].refused;
    m.reason =
        why + (refused.empty() ? ": the call is not inlined" : ": the call is not inlined, since " + refused);
    add(std::move(m));
  }

  /// True of what makes a generic address of shared memory, and of calls that may return one.
  [[nodiscard]] bool may_make_generic(Instruction const& i) const {
    if (i.label != 0) return false;
    if (i.opcode.name == "mapa") return true;
    if (i.opcode.name == "call") return !is_harmless(callee_of(i));
    return i.opcode.name == "cvta" && !i.opcode.has("to") && i.opcode.space == Space::shared;
  }
  /// Functions of CUDA's run-time system, which the compiler calls.
  static bool is_harmless(std::string_view function) {
    static constexpr std::string_view harmless[] = {"vprintf", "__assertfail", "malloc", "free"};
    return std::find(std::begin(harmless), std::end(harmless), function) != std::end(harmless);
  }

  /// Why a function may access shared memory; empty if it does not.
  std::string why_call_matters(std::string_view name, std::set<std::string_view>& seen) const {
    if (is_harmless(name)) return {};
    if (!seen.insert(name).second) return {};
    Function const* const callee = function_named(name);
    if (callee == nullptr || callee->body.empty())
      return name.empty() ? "an indirect call" : "the function " + std::string(name) + " is not in this file";
    for (ptx::Instruction const& i : callee->body) {
      if (i.label != 0) continue;
      std::string_view const op = i.opcode.name;
      if (op == "call")
        if (std::string why = why_call_matters(callee_of(i), seen); !why.empty()) return why;
      bool const memory = op == "ld" || op == "ldu" || op == "st" || op == "atom" || op == "red" ||
                          op == "ldmatrix" || op == "stmatrix" || op == "cp" || op == "wmma";
      Space const space = i.opcode.space;
      if (takes_descriptors(i.opcode) ||
          (memory && (space == Space::shared || space == Space::generic || op == "cp")))
        return "the function " + std::string(name) + " may access shared memory";
    }
    return {};
  }

  struct Target {
    std::uint32_t from;
    bool conditional;
    std::uint32_t to;
  };
  struct Jump {
    std::uint32_t from;
    std::size_t label;
  };

  Module const& module_;
  Function const& function_;
  Program program_{};
  std::unordered_map<std::string_view, std::uint32_t> symbols_{};
  std::unordered_map<std::string_view, std::uint32_t> uniform_{};
  std::unordered_map<std::string, std::uint32_t> names_{};
  std::vector<bool> leader_{};
  std::vector<std::uint32_t> block_of_{};
  std::vector<std::size_t> label_at_{};
  std::vector<Target> targets_{};
  std::vector<Jump> jumps_{};
  std::uint32_t line_ = 0;
  std::string_view opcode_{};
  std::int32_t guard_ = -1;
  bool guard_negated_ = false;
  bool ended_ = false;
  bool fresh_ = false;
};

}  // namespace

Program lower(Module const& module, Function const& function) { return Lowering(module, function).run(); }

}  // namespace swizproof::ptx
