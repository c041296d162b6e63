// ACCESS: a named pattern, or an instruction and what each lane accesses; names of architectures.
#include "parse/access/c_access.hpp"
#include "parse/expression/expression_parser.hpp"
#include "parse/layout/mapping_parser.hpp"
#include "parse/text/nearest.hpp"
#include "parse/access/no_access.hpp"
#include "parse/access/threads.hpp"
#include "parse/fragment/tiled_mma.hpp"
#include <swizproof/access/tiler.hpp>

#include <swizproof/layout/composed.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace swizproof {

namespace {

/// Sets the footprint; refuses positions that the instruction cannot take.
void measure(RowAndByte& pattern, Access const& access, std::string_view text) {
  auto const refuse = [&](std::string message) {
    throw InputError::whole(std::move(message), std::string(text));
  };
  for (std::uint64_t lane = 0; lane < access.instruction.lanes(); ++lane) {
    std::span<std::uint64_t const> const variables(&lane, 1);
    if (access.active && (*access.active)(variables, lane) == 0) continue;
    std::uint64_t const row = pattern.row(variables, lane), byte = pattern.byte(variables, lane);
    if (byte % access.instruction.bytes != 0)
      refuse("lane " + std::to_string(lane) + " accesses byte " + std::to_string(byte) +
             ", which is not a multiple of the " + std::to_string(access.instruction.bytes) +
             " bytes that the instruction takes");
    if (row >= 1U << 20 || byte >= 1U << 20 || byte + access.instruction.bytes > 1U << 20)
      refuse("a lane is more than 2^20 rows or bytes from the origin");
  }
  set_footprint(pattern, access.instruction, access.active);
}

/// Takes a clause that begins here: `at row 8, byte 0`, `step mode 2 4`.
bool take_positions(Scanner& in, Access& access) {
  std::size_t const from = in.at();
  std::string_view const word = in.take_name();
  bool const only = word == "at";
  if (!only && word != "step") {
    in.back_to(from);
    return false;
  }
  do {
    std::size_t const at = in.at();
    PositionsAlong along{std::string(in.take_name()), 0, only};
    if (along.axis.empty())
      in.fail_here("expected an axis after '" + std::string(word) + "'", "step row 16, col 8");
    if (along.axis == "mode") along.axis += " " + std::to_string(in.take_integer("the number of a mode"));
    for (PositionsAlong const& other : access.positions)
      if (other.axis == along.axis) in.fail("this axis has its positions already", at, in.at() - at);
    std::size_t const number = in.at();
    std::int64_t const value = in.take_integer("a position, or the step from one to the next");
    if (value < (only ? 0 : 1) || value > 1 << 30)
      in.fail("positions are from 0 to 2^30, steps from 1", number, in.at() - number);
    along.value = static_cast<std::uint64_t>(value);
    access.positions.push_back(std::move(along));
  } while (in.take(","));
  return true;
}

/// Start of the clauses behind the name of an access, or the end of the text.
std::size_t clauses_behind(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && !is_space(text[at])) ++at;
  std::size_t word = at;
  while (word < text.size() && is_space(text[word])) ++word;
  for (std::string_view const clause : {"at", "step"})
    if (text.substr(word).starts_with(clause) && word + clause.size() < text.size() &&
        is_space(text[word + clause.size()]))
      return word;
  return text.size();
}

/// INSTRUCTION: where, then any of `for v in a..b` and `if EXPR`.
class AccessParser {
 public:
  /// The lanes' expressions begin at `from`.
  AccessParser(std::string_view text, std::size_t from, Instruction const& instruction,
               std::span<std::string const> more, std::optional<BlockShape> const& block)
      : text_(text), in_(text), from_(from), block_(block), names_{"lane"} {
    access_.instruction = instruction;
    names_.insert(names_.end(), more.begin(), more.end());
    if (block_ && warps_of(*block_) > 1) {
      names_.emplace_back("warp");
      access_.variables.push_back(Variable::range("warp", 0, warps_of(*block_) - 1));
    }
  }

  [[nodiscard]] Access parse() {
    access_.name = text_;
    declare_variables();
    name_threads();
    // The ranges of the variables stand behind the expressions: these are read once more when their bounds are known.
    Access const start = access_;
    (void)lanes();
    name_bounds();
    access_ = start;
    auto const [pattern_at, where_end] = lanes();
    if (!access_.positions.empty() && !access_.variables.empty())
      in_.fail("the 'for' gives the positions: leave 'at' and 'step' out", where_end, in_.at() - where_end);
    if (block_) take_part(pattern_at, where_end);
    if (auto* pattern = std::get_if<RowAndByte>(&access_.where)) {
      if (!access_.variables.empty())
        in_.fail("row and byte stand for every origin of the tile: they take no 'for'", pattern_at,
                 where_end - pattern_at, "with variables write row = ..., col = ...");
      measure(*pattern, access_, text_);
    }
    return std::move(access_);
  }

 private:
  /// The places of the lanes, and the clauses behind them; start and end of the places.
  std::pair<std::size_t, std::size_t> lanes() {
    in_.back_to(from_);
    while (std::optional<NamedExpression> part = take_let()) named_.push_back(std::move(*part));
    if (in_.done()) in_.fail_here("what each lane accesses is missing", forms);
    std::size_t const pattern_at = in_.at();
    where();
    std::size_t const where_end = in_.at();
    while (!in_.done()) {
      if (take_word("for"))
        range();
      else if (take_word("if"))
        condition();
      else if (!take_positions(in_, access_))
        in_.fail_here("expected 'for', 'if', 'at', 'step' or the end of the access");
    }
    return {pattern_at, where_end};
  }
  static constexpr char const* forms =
      "row = ..., col = ... | coord = (..., ...) | tv LAYOUT tile SHAPE | address = ... | a pasted TiledCopy";
  static constexpr std::size_t most_variables = 16;
  static constexpr std::int64_t most_warps = 1 << 20;  ///< more than a launch has

  std::string_view trimmed(std::size_t from, std::size_t to) const {
    while (from < to && is_space(text_[from])) ++from;
    while (to > from && is_space(text_[to - 1])) --to;
    return text_.substr(from, to - from);
  }
  /// Position of the separate word `word` at or behind `from`, or npos.
  std::size_t find_word(std::string_view word, std::size_t from) const {
    std::size_t at = text_.find(word, from);
    while (at != text_.npos &&
           (is_name(text_[at - 1]) || (at + word.size() < text_.size() && is_name(text_[at + word.size()]))))
      at = text_.find(word, at + 1);
    return at;
  }
  bool take_word(std::string_view word) {
    std::size_t const from = in_.at();
    if (in_.take_name() == word) return true;
    in_.back_to(from);
    return false;
  }
  /// The names after each `for`, so that expressions before it may use them.
  void declare_variables() {
    std::size_t at = from_;
    std::string_view previous;
    while (at < text_.size()) {
      if (!is_name(text_[at])) {
        ++at;
        continue;
      }
      std::size_t const from = at;
      while (at < text_.size() && is_name(text_[at])) ++at;
      std::string_view const word = text_.substr(from, at - from);
      if (previous == "for") {
        bool const reserved = word == "for" || word == "in" || word == "if" || is_digit(word[0]);
        if (reserved) in_.fail("expected the name of a variable after 'for'", from, word.size());
        if (std::find(names_.begin(), names_.end(), word) != names_.end())
          in_.fail("there are two variables of this name", from, word.size());
        if (names_.size() > most_variables) in_.fail("more than 16 variables", from, word.size());
        names_.emplace_back(word);
      }
      previous = word;
    }
  }
  /// Other names of the lane, and of the thread: threadIdx.x is lane + 32*warp where a `for` is called warp (or warp_id,
  /// warpId), or a block has several warps, else the lane of warp 0. A `for` of such a name comes first.
  void name_threads() {
    CValue number = c_number(0);
    for (char const* name : {"warp", "warp_id", "warpId"}) {
      auto const warp = std::find(names_.begin(), names_.end(), name);
      if (warp == names_.end()) continue;
      number = {Expression::variable(static_cast<std::uint64_t>(warp - names_.begin())), {{}, 0, most_warps}};
      break;
    }
    threads_ = threads_of(block_, number);
    named_ = threads_.names;
  }
  /// The variables as named values of C, whose bounds are those of their ranges.
  void name_bounds() {
    std::size_t const ranges = names_.size() - access_.variables.size();  // from here on
    named_.clear();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      WideInteger least = 0, most = i == 0 ? warp_lanes - 1 : most_warps;
      if (i >= ranges) {
        Variable const& v = access_.variables[i - ranges];
        least = v.first, most = v.last();
      }
      named_.push_back(typed_variable(names_[i], i, least, most));
    }
    named_.insert(named_.end(), threads_.names.begin(), threads_.names.end());
    names_.clear();
  }
  /// Leaves out the threads that the block's last warp does not have.
  void take_part(std::size_t from, std::size_t end) {
    access_.as_written = true;
    bool const by_thread = std::holds_alternative<Coordinate>(access_.where) ||
                           std::holds_alternative<RawAddress>(access_.where);
    if (!by_thread)
      in_.fail("this access has its own threads: a block is for expressions of threadIdx", from, end - from,
               "leave --block out");
    if (!threads_.active) return;
    if (access_.instruction.matrices != 0)
      in_.fail("ldmatrix and stmatrix need whole warps, and the block's last one is not", from, end - from);
    access_.active = access_.active ? *threads_.active && *access_.active : *threads_.active;
  }
  std::optional<NamedExpression> take_let() {
    return names_.empty() ? ExpressionParser(in_, {}, named_).take_c_let()
                          : ExpressionParser(in_, names_, named_).before_types().take_let();
  }
  Expression expression() {
    return names_.empty() ? ExpressionParser(in_, {}, named_).parse_c().value
                          : ExpressionParser(in_, names_, named_).before_types().parse();
  }
  Expression assigned(std::string_view name) {
    if (!take_word(name)) in_.fail_here("expected '" + std::string(name) + " = ...'");
    in_.expect("=", "after " + std::string(name));
    return expression();
  }

  void where() {
    if (looks_like_tiled_copy(text_.substr(in_.at()))) return tiled_copy();
    refuse_tiled_mma(in_);
    if (take_word("tv")) return thread_values();
    if (take_word("address")) {
      in_.expect("=", "after address");
      access_.where = RawAddress{expression()};
      return;
    }
    if (take_word("coord")) return coordinate();
    std::size_t const from = in_.at();
    if (in_.take_name() != "row") {
      in_.back_to(from);
      in_.fail_here("expected row, coord, tv or address", forms);
    }
    in_.back_to(from);
    Expression row = assigned("row");
    in_.expect(",", "and then col = ... (or byte = ...)");
    std::size_t const second = in_.at();
    std::string_view const name = in_.take_name();
    in_.back_to(second);
    if (name == "byte") {
      access_.where = RowAndByte{std::move(row), assigned("byte")};
    } else {
      Coordinate c;
      c.modes.push_back(std::move(row));
      c.modes.push_back(assigned("col"));
      access_.where = std::move(c);
    }
  }
  /// (e, e, ...), or one expression, which may itself begin with a parenthesis.
  void coordinate() {
    in_.expect("=", "after coord");
    Coordinate c;
    std::size_t const from = in_.at();
    if (in_.take("(")) {
      c.modes.push_back(expression());
      if (in_.looking_at(",")) {
        while (in_.take(",")) c.modes.push_back(expression());
        in_.expect(")", "to close the coordinate");
        access_.where = std::move(c);
        return;
      }
      in_.back_to(from);
      c.modes.clear();
    }
    c.modes.push_back(expression());
    access_.where = std::move(c);
  }
  /// tv LAYOUT tile SHAPE
  void thread_values() {
    std::size_t const from = in_.at();
    std::size_t const tile = find_word("tile", from);
    if (tile == std::string_view::npos)
      in_.fail_here("a thread-value layout needs the tile that it indexes",
                    "tv ((_16,_2),(_8,_1)):((_1,_128),(_16,_0)) tile (16,16)");
    ThreadValues out;
    try {
      Mapping const map = parse_mapping(trimmed(from, tile));
      Layout const* const plain = map.element_bits ? nullptr : plain_layout(map);
      if (plain == nullptr || plain->rank() != 2)
        in_.fail("a thread-value layout is a plain layout of two modes, (thread, value)", from,
                 trimmed(from, tile).size());
      for (std::string const& note : map.notes)  // another profile of the same function is no other access
        if (!note.starts_with(run_time_note) || note.find("another function") != note.npos)
          in_.fail("this layout is not the whole function: " + note, from, trimmed(from, tile).size());
      out.tv = *plain;
    } catch (InputError const& error) {  // its position is relative to the layout
      if (error.input == text_) throw;
      std::size_t const start = static_cast<std::size_t>(trimmed(from, tile).data() - text_.data());
      in_.fail(error.message, start + error.at, error.length, error.hint);
    }
    in_.back_to(tile + 4);
    std::size_t const tile_from = in_.at();
    tile_of(out, tile_from);
    std::int64_t size = 1;
    for (std::int64_t const n : out.tile.leaves())
      if (__builtin_mul_overflow(size, n, &size) || size > std::int64_t{1} << 62)
        in_.fail("the tile has more than 2^62 elements", tile_from, in_.at() - tile_from);
    set(std::move(out), from);
  }
  /// The tile's extents, or a layout for each of its modes, which CuTe's index goes through.
  void tile_of(ThreadValues& out, std::size_t from) {
    LayoutParser layouts(in_);
    Tiler tiler = layouts.tiler();
    if (std::optional<IntTuple> const extents = integers(tiler)) {
      for (std::int64_t const n : extents->leaves())
        if (n < 1 || n > (1 << 20)) in_.fail("extents are from 1 to 2^20", from, in_.at() - from);
      out.tile = *extents;
      return;
    }
    in_.back_to(from);
    (void)layouts.read_all_static(true);
    tiler = layouts.tiler();
    make_static(out.tv.shape);
    make_static(out.tv.stride);
    Layout* const sides[] = {&out.tv};
    out.partition = out.tv.mode(1).size();
    try {
      if (out.tv.cosize() > tile_shape(tiler).product())
        in_.fail("the layout reaches index " + std::to_string(out.tv.cosize() - 1) + ", the tiler has " +
                     std::to_string(tile_shape(tiler).product()) + " elements",
                 from, in_.at() - from);
      out.tile = through_tiler(tiler, sides);
    } catch (AlgebraError const& error) {
      in_.fail("this is no tiler that CuTe can make: " + std::string(error.what()), from, in_.at() - from);
    }
  }
  static void make_static(IntTuple& t) {
    t.is_static = !t.is_tuple;
    for (IntTuple& m : t.modes) make_static(m);
  }
  void tiled_copy() {
    // A block spans lines; it ends where the access does, or at a `for` or `if`, which it cannot hold.
    std::size_t const from = in_.at();
    try {
      TiledCopy const copy = parse_tiled_copy(text_.substr(from));
      bool const stores = access_.instruction.operation == Operation::st_shared ||
                          access_.instruction.operation == Operation::stmatrix ||
                          access_.instruction.operation == Operation::cp_async;
      in_.back_to(text_.size());
      std::int64_t const values = (stores ? copy.layout_d_tv : copy.layout_s_tv).mode(1).size();
      set({stores ? copy.destination_tv : copy.source_tv, copy.tile, copy.value_bits, values}, from);
      if (copy.thread)
        access_.note =
            "this ThrCopy is thread " + std::to_string(*copy.thread) + "; the access is of all threads";
    } catch (InputError const& error) {
      if (error.input == text_) throw;
      in_.fail(error.message, from + error.at, error.length, error.hint);
    }
  }
  /// Checks that every index of the layout lies in the tile.
  void set(ThreadValues out, std::size_t from) {
    if (out.tv.size() > (std::int64_t{1} << 22)) in_.fail("more than 2^22 threads times values", from);
    std::int64_t least = 0, most = 0;
    auto const extents = out.tv.shape.leaves(), strides = out.tv.stride.leaves();
    for (std::size_t i = 0; i < extents.size(); ++i)
      (strides[i] < 0 ? least : most) += (extents[i] - 1) * strides[i];
    if (least < 0 || most >= out.tile.product())
      in_.fail("the layout reaches index " + std::to_string(least < 0 ? least : most) + ", the tile has " +
                   std::to_string(out.tile.product()) + " elements",
               from, in_.at() - from);
    access_.where = std::move(out);
  }
  void range() {
    std::string const name(in_.take_name());
    if (name.empty()) in_.fail_here("expected the name of a variable after 'for'");
    access_.variables.push_back(take_word("in") ? take_values(in_, name)
                                                : Variable::range(name, 0, 0xffffffff));
  }
  void condition() {
    if (access_.active) in_.fail_here("there are two conditions", "join them with &&");
    if (access_.instruction.matrices != 0)
      in_.fail_here("ldmatrix and stmatrix need all their lanes: they take no 'if'");
    access_.active = expression();
  }

  std::string_view text_;
  Scanner in_;
  std::size_t from_;
  std::optional<BlockShape> block_;
  std::vector<std::string> names_;  ///< of the variables, until their bounds are known
  std::vector<NamedExpression> named_;
  Threads threads_;
  Access access_;
};

}  // namespace

std::pair<std::uint64_t, std::uint64_t> parse_range(std::string_view text) {
  Scanner in(text);
  auto const range = take_range(in);
  if (!in.done()) in.fail_here("expected the end of the range");
  return range;
}

Expression parse_expression(std::string_view text, std::span<std::string const> variables) {
  Scanner in(text);
  Expression expression = ExpressionParser(in, variables).parse();
  if (!in.done()) in.fail_here("unexpected text after the expression");
  return expression;
}

Expression parse_expression(std::string_view text, std::span<Variable const> variables) {
  Scanner in(text);
  std::vector<NamedExpression> names;
  for (Variable const& v : variables)
    names.push_back(v.unlimited() ? any_number(v.name, names.size())
                                  : typed_variable(v.name, names.size(), v.first, v.last()));
  Expression expression = ExpressionParser(in, {}, names).parse_c().value;
  if (!in.done()) in.fail_here("unexpected text after the expression");
  return expression;
}

/// End of the instruction and start of the lanes' expressions: a colon that is no part of `shared::cta`.
static std::size_t find_colon(std::string_view text) {
  std::size_t at = text.find(':');
  while (at != text.npos && at + 1 < text.size() && text[at + 1] == ':') at = text.find(':', at + 2);
  return at;
}

/// A note on a copy that bypasses L1, by one of its names.
static std::string note_on_bypass(std::string_view text, Access const& access) {
  constexpr std::array<std::string_view, 3> names{".cg", ".BYPASS", "_CACHEGLOBAL"};
  bool const bypasses = std::any_of(names.begin(), names.end(),
                                    [&](std::string_view name) { return text.find(name) != text.npos; });
  if (access.instruction.operation != Operation::cp_async || !bypasses) return {};
  return "cp.async.cg takes wavefronts by what it reads, too (H22): these are those of the write of "
         "cp.async.ca; "
         "'swizproof kernel' decides both sides";
}

Access parse_noted_access(std::string_view text, std::vector<std::string>& notes,
                          AccessOptions const& options) {
  Access access = parse_access(text, {}, options);
  if (std::string const note = note_on_bypass(text, access);
      !note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end())
    notes.push_back(note);
  if (!access.note.empty() && std::find(notes.begin(), notes.end(), access.note) == notes.end())
    notes.push_back(access.note);
  return access;
}

/// A hint for a name that is no access.
static std::string hint_for_unknown(std::string_view text, AccessOptions const& options) {
  if (text.find('[') != text.npos && options.array) return "the array of LAYOUT is " + options.array->name;
  if (text.find('[') != text.npos)
    return "a subscript of C needs LAYOUT to be the array's declaration, such as '__shared__ half a[64][72]'";
  if (text.starts_with("mma")) return "it reads registers: swizproof fragment " + std::string(text) + ":a";
  std::vector<std::string> names, longer, related;
  std::string const family(text.substr(0, text.find('.')));
  for (NamedAccess const& known : named_accesses()) {
    names.emplace_back(known.access.name);
    if (names.back().starts_with(std::string(text) + ".")) longer.push_back(names.back());
    if (names.back().starts_with(family + ".")) related.push_back(names.back());
  }
  if (!longer.empty()) {
    std::string hint = "did you mean " + longer.front();
    for (std::size_t i = 1; i < std::min<std::size_t>(longer.size(), 4); ++i)
      hint += (i + 1 == std::min<std::size_t>(longer.size(), 4) ? " or " : ", ") + longer[i];
    return hint + "?";
  }
  std::string all = "'swizproof accesses' lists the named ones; or write INSTRUCTION: row = ..., col = ...";
  if (!related.empty()) all = fmt::format("names of {}: {}; {}", family, fmt::join(related, ", "), all);
  return did_you_mean(text, names, all);
}

/// Refuses --block for an access that is named alone.
static Access without_block(Access named, std::string_view text, AccessOptions const& options) {
  if (options.block)
    throw InputError::whole("this access has its own threads: a block is for expressions of threadIdx",
                            std::string(text), "leave --block out");
  return named;
}

Access parse_access(std::string_view text, std::span<std::string const> more, AccessOptions const& options) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  Scanner whole(text);
  refuse_tiled_mma(whole);
  if (options.array && names_array(text, options.array->name)) return parse_c_access(text, options);
  refuse_no_access(text);
  if (looks_like_tiled_copy(text))
    return AccessParser(text, 0, copy_instruction(text), more, options.block).parse();
  std::size_t const colon = find_colon(text);
  if (colon != std::string_view::npos)
    return AccessParser(text, colon + 1, parse_instruction(whole.trimmed(0, colon)), more, options.block)
        .parse();
  std::size_t const clauses = clauses_behind(text);
  std::string_view const pattern = whole.trimmed(0, clauses);
  auto const moved = [&](Access access) {
    Scanner in(text);
    in.back_to(clauses);
    while (!in.done())
      if (!take_positions(in, access)) in.fail_here("expected 'at', 'step' or the end of the access");
    if (!access.positions.empty()) access.name = text;
    return without_block(std::move(access), text, options);
  };
  if (Access const* const named = named_access(pattern)) return moved(*named);
  if (!looks_like_instruction(pattern))
    Scanner(pattern).fail("unknown access", 0, pattern.size(), hint_for_unknown(pattern, options));
  // `LDSM.16.M88.4` is the pattern ldmatrix.x4.
  std::string_view const known = name(parse_instruction(pattern));
  if (Access const* const named = named_access(known)) return moved(*named);
  throw InputError::whole(
      "what each lane accesses is missing: " + std::string(known) + " has no pattern of its own",
      std::string(text),
      "write " + std::string(known) + ": row = ..., col = ...; 'swizproof accesses' lists the named ones");
}

}  // namespace swizproof
