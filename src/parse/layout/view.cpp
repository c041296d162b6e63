// CuTe's views of one thread: partition_A(TILEDMMA, 5, LAYOUT) of a TiledMMA, partition_S(TILEDCOPY, 5, LAYOUT) of a TiledCopy; and
// retile_S(TILEDCOPY, LAYOUT), the same for every thread.
#include "parse/layout/mapping_parser.hpp"
#include "parse/fragment/tiled_mma.hpp"

#include <swizproof/access/tiler.hpp>
#include <swizproof/parse/parse.hpp>

namespace swizproof {

namespace {

/// A view by its name.
struct View {
  std::string_view name;
  char side;              ///< a, b or c of a TiledMMA; s or d of a TiledCopy, r of a fragment that it retiles
  bool fragment = false;  ///< layout of registers: the shape of the partition, compact
  bool whole = false;     ///< all threads, as a first mode
  [[nodiscard]] bool of_thread() const { return side != 'r' && !whole; }
};
constexpr View views[] = {{"partition_A", 'a'},
                          {"partition_B", 'b'},
                          {"partition_C", 'c'},
                          {"partition_fragment_A", 'a', true},
                          {"partition_fragment_B", 'b', true},
                          {"partition_fragment_C", 'c', true},
                          {"partition_S", 's'},
                          {"partition_D", 'd'},
                          {"tidfrg_S", 's', false, true},
                          {"tidfrg_D", 'd', false, true},
                          {"retile_S", 'r'},
                          {"retile_D", 'r'},
                          {"retile", 'r'}};

View const* named_view(std::string_view name) {
  auto const* const found =
      std::find_if(std::begin(views), std::end(views), [&](View const& v) { return v.name == name; });
  return found == std::end(views) ? nullptr : found;
}

/// A coordinate that leaves so many modes free.
Tiler free_modes(std::size_t count) { return {std::vector<Tiler>(count, Tiler{Underscore{}})}; }

/// The layout of the whole tensor with its threads in front, and the coordinate of one thread's part.
struct Divided {
  Layout layout;
  Tiler coordinate;
};
Divided divided(TiledOperand const& tiled, IntTuple const& thread, Layout const& tensor) {
  Layout const all = thrfrg(tiled.mma, tiled.operand, tensor);
  auto const [i, j] = modes_of(tiled.operand);
  std::vector<Tiler> const at = flat_coordinate(tiled.mma.threads, thread);
  Tiler const here{std::vector<Tiler>{at[0], Tiler{std::vector<Tiler>{at[i + 1], at[j + 1]}}}};
  Tiler const rest{std::vector<Tiler>{Tiler{Underscore{}}, free_modes(all.mode(1).mode(1).rank())}};
  return {all, Tiler{std::vector<Tiler>{here, rest}}};
}
Divided divided(TiledCopy const& copy, bool source, IntTuple const& thread, Layout const& tensor) {
  Layout const all = tidfrg(copy, source ? copy.source : copy.destination, tensor);
  return {all, Tiler{std::vector<Tiler>{Tiler{thread}, Tiler{Underscore{}}, free_modes(all.mode(2).rank())}}};
}

void refuse_thread(std::int64_t thread, std::int64_t threads) {
  if (thread < 0 || thread >= threads)
    throw AlgebraError{"threads are from 0 to " + std::to_string(threads - 1)};
}

/// A TiledCopy that has a tile.
TiledCopy tiled_copy(std::string const& block) {
  TiledCopy copy = parse_tiled_copy(block);
  if (copy.tiled_tv.rank() != 2) throw AlgebraError{"a Copy_Atom alone has no tile"};
  return copy;
}

/// The registers of a fragment as the copy's values, for every thread.
Mapping retiled(std::string const& block, std::optional<std::int64_t> thread, Mapping const& fragment) {
  TiledCopy const copy = tiled_copy(block);
  if (thread) refuse_thread(*thread, copy.tiled_tv.mode(0).size());
  std::size_t const modes = 1 + tile_shape(copy.tiler).rank();
  if (fragment.domain()->rank() < modes)
    throw AlgebraError{"a fragment has a mode of values and one for each mode of the tile, " +
                       std::to_string(modes) + " in all"};
  Mapping out = with_layout(fragment, retile(copy, *fragment.domain()));
  if (thread)
    out.notes.push_back("a fragment is retiled the same way for every thread, not for " +
                        std::to_string(*thread) + " alone");
  return out;
}

/// A tensor as (thread, values, rest) of a copy. Throws AlgebraError, and InputError about the block.
Mapping of_all_threads(View const& v, std::string const& block, std::optional<std::int64_t> thread,
                       Mapping const& tensor) {
  if (thread) throw AlgebraError{"it has all threads: leave get_slice out"};
  TiledCopy const copy = tiled_copy(block);
  return with_layout(tensor, tidfrg(copy, v.side == 's' ? copy.source : copy.destination, *tensor.domain()));
}

/// The part of a tensor that a thread has. Throws AlgebraError, and InputError about the block.
Mapping part_of_thread(View const& v, std::string const& block, IntTuple const& thread,
                       Mapping const& tensor) {
  Divided part;
  if (v.side == 's' || v.side == 'd') {
    TiledCopy const copy = tiled_copy(block);
    refuse_thread(thread.value, copy.tiled_tv.mode(0).size());
    part = divided(copy, v.side == 's', thread, *tensor.domain());
  } else {
    TiledOperand const tiled = parse_tiled_operand(block + ":" + v.side);
    refuse_thread(thread.value, tiled.mma.threads.cosize());
    part = divided(tiled, thread, *tensor.domain());
  }
  Mapping const mine = slice(with_layout(tensor, part.layout), part.coordinate);
  if (!v.fragment) return mine;
  return mapping(v.side == 'c' ? make_layout(mine.domain()->shape) : make_fragment_like(*mine.domain()));
}

/// A block as CuTe prints it, or a TiledMMA as it is written: up to the next ',' outside of parentheses and angles.
std::string_view take_block(Scanner& in) {
  std::size_t const from = in.at();
  std::string_view const rest = in.rest();
  std::size_t n = 0;
  for (int depth = 0; n < rest.size() && depth >= 0 && (depth > 0 || rest[n] != ','); ++n)
    depth += rest[n] == '(' || rest[n] == '<' ? 1 : rest[n] == ')' || rest[n] == '>' ? -1 : 0;
  in.back_to(from + n);
  return in.trimmed(from, from + n);
}

}  // namespace

bool is_view(std::string_view name) { return named_view(name) != nullptr; }

/// A TiledMMA or a TiledCopy, by a name of take_tiled() or written out, and `.get_slice(5)` behind it. Nothing for others.
std::optional<Tiled> ViewParser::take_part() {
  std::size_t const from = in_.at();
  Tiled tiled;
  auto const known = in_.at_letter() ? tiled_.find(in_.peek_name()) : tiled_.end();
  if (known != tiled_.end()) {
    (void)in_.take_name();
    tiled = known->second;
  } else if (looks_like_tiled_mma(in_.rest()) || looks_like_tiled_copy(in_.rest())) {
    std::string_view const rest = in_.rest();
    std::size_t n = 0;
    for (int depth = 0; n < rest.size(); ++n) {
      if (depth == 0 && (rest[n] == ';' || rest.substr(n).starts_with(".get_"))) break;
      depth += rest[n] == '(' || rest[n] == '<' ? 1 : rest[n] == ')' || rest[n] == '>' ? -1 : 0;
    }
    in_.back_to(from + n);
    if (n == rest.size()) return in_.back_to(from), std::nullopt;
    tiled.block = in_.trimmed(from, from + n);
  } else {
    return std::nullopt;
  }
  tiled.at = from;
  tiled.length = in_.trimmed(from, in_.at()).size();
  if (!in_.take(".get_slice") && !in_.take(".get_thread_slice")) return tiled;
  if (tiled.thread) in_.fail("a thread of one thread is taken", from, in_.at() - from);
  in_.expect("(", "of the thread");
  tiled.thread = layouts_.constant();
  in_.expect(")", "after the thread");
  return tiled;
}

/// `auto mma = make_tiled_mma(...);`, `auto thr_mma = mma.get_slice(5);`: a name for what follows. False if it is none.
bool ViewParser::take_tiled(std::string const& name) {
  if (name.empty()) return false;
  std::size_t const from = in_.at();
  std::optional<Tiled> tiled = take_part();
  if (!tiled || !in_.take(";") || in_.done()) {
    in_.back_to(from);
    return false;
  }
  constexpr std::size_t most = 64;
  if (tiled_.size() >= most) in_.fail("more than 64 TiledMMAs and TiledCopies have names", from, 1);
  tiled_.insert_or_assign(name, *std::move(tiled));
  return true;
}

/// `thr_mma.partition_A(L)`, `make_tiled_mma(...).get_slice(5).partition_C(L)`. Nothing where no such call stands.
std::optional<Value> ViewParser::method_view() {
  Nesting const nesting(in_, depth_);
  std::size_t const from = in_.at();
  std::optional<Tiled> const tiled = take_part();
  if (tiled && in_.done() && tiled_.contains(in_.trimmed(from, in_.at())))
    in_.fail("this is the name of a TiledMMA or a TiledCopy, and a layout is needed", from, in_.at() - from,
             "such as NAME.get_slice(5).partition_A(LAYOUT): what thread 5 has");
  if (!tiled || !in_.take(".")) return in_.back_to(from), std::nullopt;
  std::size_t const at = in_.at();
  std::string const name(in_.at_letter() ? in_.take_name() : "");
  if (!is_view(name))
    in_.fail("no such view of a thread", at, name.size(),
             "partition_A, partition_B, partition_C, partition_fragment_A, .. of a TiledMMA; partition_S, "
             "partition_D, retile_S, retile_D of a TiledCopy");
  if (!tiled->thread && name != "retile" && !named_view(name)->whole)  // functions of the TiledCopy itself
    in_.fail("which thread?", from, at - from, "get_slice(5)." + name + "(LAYOUT): thread 5");
  in_.expect("(", "of the tensor of " + name);
  return view_of(name, *tiled, from);
}

/// Behind the name of a view: the block, the thread, of retile_S none, and the layout of the tensor.
Value ViewParser::view() {
  Nesting const nesting(in_, depth_);
  std::size_t const from = in_.at();
  std::string const name(in_.take_name());
  in_.expect("(", "of the arguments of " + name);
  std::size_t const block_at = in_.at();
  auto const known = in_.at_letter() ? tiled_.find(in_.peek_name()) : tiled_.end();
  Tiled tiled{std::string(take_block(in_))};
  std::size_t const length = tiled.block.size();
  if (known != tiled_.end() && known->first == tiled.block) tiled = known->second;
  tiled.at = block_at;
  tiled.length = length;
  if (!named_view(name)->of_thread()) {
    in_.expect(",", "and the layout of the tensor behind the block");
    return view_of(name, tiled, from);
  }
  in_.expect(",", "and the thread behind the block");
  if (tiled.thread) in_.fail("the thread is given twice", block_at, length);
  tiled.thread = layouts_.constant();
  in_.expect(",", "and the layout of the tensor behind the thread");
  return view_of(name, tiled, from);
}

/// Behind the thread: the layout of the tensor, and the part of it that the thread has.
Value ViewParser::view_of(std::string_view name, Tiled const& tiled, std::size_t from) {
  View const& v = *named_view(name);
  bool const retiles = v.side == 'r', of_copy = v.side == 's' || v.side == 'd' || retiles;
  if (of_copy ? !looks_like_tiled_copy(tiled.block) : !looks_like_tiled_mma(tiled.block))
    in_.fail(of_copy ? "a TiledCopy as CuTe prints it is meant here"
                     : "a TiledMMA as CuTe prints or makes it is meant here",
             tiled.at, tiled.length,
             std::string(v.name) + "(" + (of_copy ? "TiledCopy" : "TiledMMA") +
                 (v.of_thread() ? " ..., 5, LAYOUT)" : " ..., LAYOUT)"));
  // Fragments are static in CuTe: their shape, and what is retiled.
  bool const outside = layouts_.reads_all_static();
  (void)layouts_.read_all_static(outside || retiles || v.fragment || !options_.keep_dynamic);
  Argument const tensor = argument_();
  (void)layouts_.read_all_static(outside);
  in_.expect(")", "behind the tensor of " + std::string(v.name));
  auto const* const tiler = std::get_if<Tiler>(&tensor.value);
  Mapping const map = tiler != nullptr && std::holds_alternative<Layout>(tiler->value)
                          ? mapping(std::get<Layout>(tiler->value))
                      : std::holds_alternative<Mapping>(tensor.value) ? std::get<Mapping>(tensor.value)
                                                                      : Mapping{};
  if (map.domain() == nullptr || map.domain()->rank() < 2 || map.domain()->stride.has_basis())
    in_.fail("the tensor is a layout of two modes or more", tensor.at, tensor.length);
  called_ = true;
  try {
    if (retiles) return retiled(tiled.block, tiled.thread, map);
    if (v.whole) return of_all_threads(v, tiled.block, tiled.thread, map);
    return part_of_thread(v, tiled.block, IntTuple(*tiled.thread, !options_.keep_dynamic), map);
  } catch (InputError const& error) {
    in_.fail(error.message, tiled.at, tiled.length, error.hint);
  } catch (AlgebraError const& error) {
    in_.fail(std::string(v.name) + ": " + error.what(), from, in_.at() - from);
  }
}

}  // namespace swizproof
