// Reader of CuTe's prints of a TiledMMA, a ThrMMA and an MMA_Atom: which instruction it is, whose name is not printed, and
// how its atoms are tiled.
#include "parse/fragment/tiled_mma.hpp"

#include "parse/layout/layout_parser.hpp"

#include <swizproof/parse/parse.hpp>

#include <map>

namespace swizproof {

namespace {

bool is_extent(Tiler const& t, std::int64_t extent) {
  auto const* const n = std::get_if<IntTuple>(&t.value);
  return n != nullptr && !n->is_tuple && n->value == extent;
}

class MmaBlockParser {
 public:
  MmaBlockParser(std::string_view text, std::optional<unsigned> element_bits)
      : in_(text), layouts_(in_), element_bits_(element_bits) {
    (void)layouts_.read_all_static(true);
  }

  [[nodiscard]] std::variant<NamedFragment, TiledOperand> parse(bool as_tile) {
    read();
    if (operand_.empty())
      in_.fail("the operand is missing", 0, in_.peek_name().size(),
               "write :a, :b, :c or :d behind the block");
    if (layout("LayoutC_TV") == nullptr) in_.fail("the block has no line LayoutC_TV", 0, 1);
    std::string const name = instruction();
    refuse_other_shape(name);
    refuse_old_tiling(name);
    TiledOperand tiled = tiled_operand(name);
    if (!as_tile && !name.empty() && is_one_atom(tiled.mma)) return one_atom(name);
    return tiled;
  }

 private:
  struct Line {
    std::size_t at = 0;
    Tiler value{};
  };

  void read() {
    static constexpr std::string_view heads[] = {"TiledMMA", "ThrMMA", "MMA_Atom"};
    static constexpr std::string_view labels[] = {
        "ThrLayoutVMNK", "PermutationMNK", "TiledThr",   "TiledVal",   "TiledPerm",  "TiledShape_MNK",
        "ThrID",         "Shape_MNK",      "LayoutA_TV", "LayoutB_TV", "LayoutC_TV", "VMNK"};
    while (!in_.done()) {
      if (in_.looking_at(":")) {
        std::size_t const at = in_.at();
        (void)in_.take(":");
        operand_ = ":" + std::string(in_.take_name());
        if (!in_.done()) in_.fail_here("unexpected text after the operand");
        if (operand_.size() != 2 || operand_[1] < 'a' || operand_[1] > 'd')
          in_.fail("an operand is a, b, c or d", at, operand_.size());
        return;
      }
      std::size_t const at = in_.at();
      std::string_view const label = in_.take_name();
      if (std::find(std::begin(heads), std::end(heads), label) != std::end(heads) || label == "Thr") continue;
      if (std::find(std::begin(labels), std::end(labels), label) == std::end(labels))
        in_.fail("expected a line of the block", at, label.size(),
                 "ThrLayoutVMNK, PermutationMNK, ThrID, Shape_MNK, LayoutA_TV, LayoutB_TV, LayoutC_TV");
      in_.expect(":", "after " + std::string(label));
      std::size_t const value_at = in_.at();
      if (!lines_.emplace(label, Line{value_at, layouts_.tiler()}).second)
        in_.fail(std::string(label) + " is given twice", at, label.size());
    }
  }

  [[noreturn]] void refuse(std::string_view label, std::string message, std::string hint = {}) const {
    auto const line = lines_.find(label);
    if (line == lines_.end()) in_.fail("the block has no line " + std::string(label), 0, 1);
    std::size_t const at = line->second.at;
    in_.fail(std::move(message), at, std::max<std::size_t>(in_.trimmed(at, in_.text_size()).find('\n'), 1),
             std::move(hint));
  }

  // ------------------------------------------------------------------------------------------- one atom

  [[nodiscard]] NamedFragment one_atom(std::string const& name) const {
    if (Layout const* a = layout("LayoutA_TV");
        operand_ == ":a" && name[0] == 'w' && a != nullptr && in_shared_memory(*a, 'a'))
      refuse("LayoutA_TV", "this atom reads A from shared memory: no register holds it",
             "its D is in registers: :d");
    NamedFragment found = parse_fragment(name + operand_, element_bits_);
    if (thread_ >= 0)
      found.notes.push_back("this ThrMMA is thread " + std::to_string(thread_) +
                            "; the answer is of all threads");
    return found;
  }
  /// Extent of mode M, N or K in the name of an instruction.
  static std::int64_t extent(std::string const& name, std::size_t mode) {
    return std::stoll(name.substr(name.find("mnk"[mode], name.find(".m")) + 1));
  }
  /// CuTe 3.2 and 3.3 wrote the tiling in other words, which are read where they say nothing.
  void refuse_old_tiling(std::string const& name) const {
    static constexpr char const* hint =
        "paste what CUTLASS 3.4 or a later one prints, or one atom: the block from the line MMA_Atom on";
    for (char const* label : {"TiledThr", "TiledVal"})
      if (Layout const* const tiling = layout(label); lines_.contains(label))
        if (tiling == nullptr || tiling->size() != 1)
          refuse(label, "a tiling of atoms in the words of CUTLASS 3.2 is not computed", hint);
    for (char const* label : {"TiledPerm", "TiledShape_MNK"}) {
      auto const line = lines_.find(label);
      if (line == lines_.end()) continue;
      auto const* const modes = std::get_if<std::vector<Tiler>>(&line->second.value.value);
      bool plain = modes != nullptr && modes->size() == 3 && !name.empty();
      for (std::size_t i = 0; plain && i < 3; ++i)
        plain =
            std::holds_alternative<Underscore>((*modes)[i].value) || is_extent((*modes)[i], extent(name, i));
      if (!plain) refuse(label, "a tiling of atoms in the words of CUTLASS 3.2 is not computed", hint);
    }
  }
  void refuse_other_shape(std::string const& name) const {
    std::optional<IntTuple> const shape = printed_shape();
    if (!shape || name.empty()) return;
    for (std::size_t i = 0; i < 3; ++i)
      if (shape->mode(i).product() != extent(name, i))
        refuse("Shape_MNK", "the layouts of this block are those of " + name);
  }

  // ---------------------------------------------------------------------------------------------- tiles

  [[nodiscard]] std::optional<IntTuple> printed_shape() const {
    auto const line = lines_.find("Shape_MNK");
    if (line == lines_.end()) return {};
    std::optional<IntTuple> shape = integers(line->second.value);
    bool valid = shape && shape->is_tuple && shape->rank() == 3 && shape->depth() == 1;
    for (std::size_t i = 0; valid && i < 3; ++i)
      valid = shape->mode(i).value >= 1 && shape->mode(i).value <= 1 << 16;
    if (!valid) refuse("Shape_MNK", "expected three extents, such as (_16,_8,_16)");
    return shape;
  }
  /// The layout of a line, whose strides are not negative.
  [[nodiscard]] Layout required(std::string_view label, std::size_t rank) const {
    Layout const* const found = layout(label);
    bool valid = found != nullptr && !found->stride.has_basis() && (rank == 1 || found->rank() == rank);
    for (std::int64_t const stride : valid ? found->stride.leaves() : std::vector<std::int64_t>())
      valid = valid && stride >= 0;
    if (!valid)
      refuse(label,
             rank == 1 ? "expected a layout" : "expected a layout of " + std::to_string(rank) + " modes");
    return *found;
  }
  [[nodiscard]] MmaAtom atom(std::string const& name, Operand operand) const {
    MmaAtom atom;
    std::optional<IntTuple> const shape = printed_shape();
    if (!shape && name.empty()) refuse("Shape_MNK", {});
    for (std::size_t i = 0; i < 3; ++i) atom.extents[i] = shape ? shape->mode(i).value : extent(name, i);
    atom.threads = required("ThrID", 1);
    auto const [i, j] = modes_of(operand);
    std::string const label = std::string("Layout") + "ABC"[static_cast<std::size_t>(operand)] + "_TV";
    Layout const values = required(label, 2);
    if (values.mode(0).size() != atom.threads.size())
      refuse(label, "the atom has " + std::to_string(atom.threads.size()) + " threads, this line " +
                        std::to_string(values.mode(0).size()));
    if (values.mode(1).size() > 1 << 18) refuse(label, "more than 2^18 values of a thread");
    if (values.cosize() > atom.extents[i] * atom.extents[j])
      refuse(label, "this line reaches element " + std::to_string(values.cosize() - 1) +
                        ", the operand has " + std::to_string(atom.extents[i] * atom.extents[j]));
    (operand == Operand::a ? atom.a : operand == Operand::b ? atom.b : atom.c) = values;
    return atom;
  }
  [[nodiscard]] TiledOperand tiled_operand(std::string const& name) {
    TiledOperand tiled;
    tiled.operand = operand_ == ":a" ? Operand::a : operand_ == ":b" ? Operand::b : Operand::d;
    tiled.addend = operand_ == ":c";
    tiled.instruction = name;
    bool const has_threads = lines_.contains("ThrLayoutVMNK");
    char const* const threads_label = has_threads ? "ThrLayoutVMNK" : "ThrID";
    try {
      MmaAtom const atom_of = atom(name, tiled.operand);
      tiled.mma = make_tiled_mma(atom_of, Layout{}, {});
      if (has_threads) tiled.mma.threads = required("ThrLayoutVMNK", 4);
      if (std::string const fault = fault_of_threads(tiled.mma); !fault.empty()) refuse(threads_label, fault);
      if (auto const line = lines_.find("PermutationMNK"); line != lines_.end()) {
        auto const* const modes = std::get_if<std::vector<Tiler>>(&line->second.value.value);
        if (modes == nullptr || modes->size() != 3)
          refuse("PermutationMNK", "expected three modes, such as (_32,_,(_8,_2):(_1,_16))");
        std::copy(modes->begin(), modes->end(), tiled.mma.permutation.begin());
        if (std::string const fault = fault_of_permutation(tiled.mma); !fault.empty())
          refuse("PermutationMNK", fault);
      }
    } catch (AlgebraError const& error) {
      in_.fail("this is not a TiledMMA that CuTe can make: " + std::string(error.what()), 0, 8);
    }
    read_thread(tiled);
    describe_elements(tiled);
    return tiled;
  }
  /// Reads the thread of a ThrMMA: its coordinate (V,M,N,K) in ThrLayoutVMNK.
  void read_thread(TiledOperand& tiled) {
    auto const vmnk = lines_.find("VMNK");
    if (vmnk == lines_.end()) return;
    std::optional<IntTuple> const at = integers(vmnk->second.value);
    if (!at || at->rank() != 4 || at->depth() != 1)
      refuse("VMNK", "expected the thread's coordinate, such as (5,0,0,_0)");
    std::vector<std::uint64_t> coordinate;
    for (std::size_t i = 0; i < 4; ++i) {
      std::int64_t const most = tiled.mma.threads.mode(i).size();
      if (at->mode(i).value < 0 || at->mode(i).value >= most)
        refuse("VMNK", std::string(1, "VMNK"[i]) + " is from 0 to " + std::to_string(most - 1) + " here");
      coordinate.push_back(static_cast<std::uint64_t>(at->mode(i).value));
    }
    thread_ =
        static_cast<std::int64_t>(tiled.mma.threads(std::span<std::uint64_t const>(coordinate)).elements);
    tiled.notes.push_back("this ThrMMA is thread " + std::to_string(thread_) +
                          "; the answer is of all threads");
  }
  /// Sizes of the elements, and where they lie.
  void describe_elements(TiledOperand& tiled) const {
    bool const in_registers = note_memory(tiled);
    if (!tiled.instruction.empty()) {
      NamedFragment const d = parse_fragment(tiled.instruction + ":d");
      tiled.needs = d.needs;
      tiled.measured = d.measured;
    }
    if (!tiled.instruction.empty() && in_registers)
      tiled.element_bits = parse_fragment(tiled.instruction + operand_, element_bits_).fragment.bits;
    else if (element_bits_)
      tiled.element_bits = *element_bits_;
  }

  [[nodiscard]] Layout const* layout(std::string_view label) const {
    auto const line = lines_.find(label);
    return line == lines_.end() ? nullptr : std::get_if<Layout>(&line->second.value.value);
  }
  /// K of the block, from its shape or from A's elements.
  [[nodiscard]] std::int64_t depth(std::int64_t rows) const {
    if (auto const line = lines_.find("Shape_MNK"); line != lines_.end())
      if (auto const shape = integers(line->second.value); shape && shape->rank() == 3)
        return shape->mode(2).product();
    Layout const* const a = layout("LayoutA_TV");
    return a == nullptr || a->rank() != 2 ? 0 : a->mode(1).size() / rows;
  }
  /// The instruction with these layouts and threads in their order; empty where none has them.
  [[nodiscard]] std::string instruction() const {
    Layout const& c = *layout("LayoutC_TV");
    if (Layout const* const threads = layout("ThrID"))
      if (lines_.contains("ThrID") && coalesce(*threads).stride.value != 1) return {};
    for (std::string const& name : names(c))
      if (is(name)) return name;
    return {};
  }
  /// Candidates. Of several element types that one atom has, which CuTe does not print, the first.
  [[nodiscard]] std::vector<std::string> names(Layout const& c) const {
    std::vector<std::string> out;
    if (c.rank() == 2 && c.mode(0).size() == 128) {
      for (WgmmaShape const& shape : wgmma_shapes)
        if (shape.k == depth(64))
          out.push_back("wgmma.m64n" + std::to_string(c.size() / 64) + "k" + std::to_string(shape.k) + "." +
                        first(shape.types));
      return out;
    }
    for (MmaShape const& shape : mma_shapes)
      out.push_back("mma." + std::string(shape.shape) + "." + first(shape.types));
    return out;
  }
  static std::string first(std::string_view types) { return std::string(types.substr(0, types.find(' '))); }
  /// True if the operands of `name` that lie in registers are those of the block.
  [[nodiscard]] bool is(std::string const& name) const {
    bool const warp = name.starts_with("mma");
    for (auto const& [label, operand] :
         {std::pair("LayoutC_TV", ":d"), {"LayoutA_TV", ":a"}, {"LayoutB_TV", ":b"}}) {
      Layout const* const ours = layout(label);
      if (ours == nullptr) continue;
      if (!warp && operand[1] != 'd' && in_shared_memory(*ours, operand[1])) continue;
      if (!warp && operand[1] == 'b') return false;
      Layout const theirs = thread_values(parse_fragment(name + operand).fragment);
      if (ours->rank() != 2 || ours->size() != theirs.size() || ours->mode(0).size() != theirs.mode(0).size())
        return false;
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(theirs.size()); ++i)
        if ((*ours)(i).elements != theirs(i).elements) return false;
    }
    return true;
  }

  /// wgmma's operand in shared memory, which all threads read: `(_128,(_64,_16)):(_0,(_1,_64))`.
  [[nodiscard]] bool in_shared_memory(Layout const& l, char operand) const {
    std::int64_t const rows = operand == 'a' ? 64 : layout("LayoutC_TV")->size() / 64;
    bool same = l.rank() == 2 && l.mode(0).size() == 128 && l.mode(0).cosize() == 1 &&
                l.mode(1).size() == rows * depth(64);
    for (std::int64_t i = 0; same && i < l.mode(1).size(); ++i)
      same = l.mode(1)(static_cast<std::uint64_t>(i)).elements == static_cast<std::uint64_t>(i);
    return same;
  }

  mutable Scanner in_;
  std::int64_t thread_ = -1;  ///< thread of a ThrMMA
  LayoutParser layouts_;
  std::optional<unsigned> element_bits_;
  std::string operand_{};
  std::map<std::string, Line, std::less<>> lines_{};
};

}  // namespace

bool is_one_atom(TiledMma const& mma) {
  bool one = mma.threads.size() == mma.atom.threads.size();
  for (std::size_t mode = 0; one && mode < 3; ++mode)
    one = is_extent(mma.permuted(mode), mma.atom.extents[mode]);
  return one;
}

std::string fault_of_threads(TiledMma const& mma) {
  if (mma.threads.cosize() > 1 << 12 || mma.threads.size() > 1 << 12) return "more than 4096 threads";
  std::vector<bool> taken(static_cast<std::size_t>(mma.threads.cosize()));
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(mma.threads.size()); ++i) {
    std::uint64_t const thread = mma.threads(i).elements;
    if (taken[thread]) return "thread " + std::to_string(thread) + " is taken twice";
    taken[thread] = true;
  }
  if (right_inverse(make_layout({mma.threads, complement(mma.threads)})).size() < mma.threads.cosize())
    return "the gaps between these threads are no whole copies of them: CuTe's inverse loses threads";
  Layout const first = mma.threads.mode(0);
  bool same = first.size() == mma.atom.threads.size();
  for (std::uint64_t i = 0; same && i < static_cast<std::uint64_t>(first.size()); ++i)
    same = first(i).elements == mma.atom.threads(i).elements;
  if (same) return {};
  return "the threads of the atom are " + to_string(mma.atom.threads) + ", those of the tile " +
         to_string(first);
}

std::string fault_of_permutation(TiledMma const& mma) {
  for (std::size_t mode = 0; mode < 3; ++mode) {
    std::int64_t const atoms = mma.atom.extents[mode] * mma.atoms(mode);
    Tiler const tiler = mma.permuted(mode);
    auto const* const n = std::get_if<IntTuple>(&tiler.value);
    if ((n != nullptr && (n->is_tuple || n->value < 1)) || tiler.is_tuple())
      return "a mode of it is _, an extent or a layout, such as (_32,(_8,_2):(_1,_16),_)";
    std::int64_t const extent = size(n != nullptr ? *n : std::get<Layout>(tiler.value).shape).value;
    std::string const name(1, "MNK"[mode]);
    if (extent % atoms != 0)
      return name + " has " + std::to_string(extent) + " elements here, no multiple of the " +
             std::to_string(atoms) + " of its atoms";
    if (mma.extent(mode) > 1 << 12) return "more than 4096 elements along " + name;
  }
  return {};
}

bool note_memory(TiledOperand& tiled) {
  Layout const& values = tiled.mma.atom.thread_values(tiled.operand);
  bool const shared = values.mode(0).size() > 1 && values.mode(0).cosize() == 1;
  if (shared || values.mode(1).size() > 256)
    tiled.notes.push_back(shared ? "every thread of the atom has all of its elements: this operand is read "
                                   "from memory, no register holds it"
                                 : "more elements of an atom than a thread has registers: this operand "
                                   "lies in shared or in tensor memory");
  if (tiled.operand == Operand::d && tiled.mma.atoms(2) > 1)
    tiled.notes.push_back(
        "several atoms along k: this is what partition_C gives; CuTe's get_layoutC_TV, and with it "
        "make_tiled_copy_C, leaves the tile");
  return !shared;
}

std::variant<NamedFragment, TiledOperand> parse_tiled_mma(std::string_view text,
                                                          std::optional<unsigned> element_bits,
                                                          bool as_tile) {
  if (looks_like_named_tile(text)) return parse_named_tile(text, element_bits, as_tile);
  return MmaBlockParser(text, element_bits).parse(as_tile);
}

bool looks_like_tiled_mma(std::string_view text) {
  if (looks_like_named_tile(text)) return true;
  Scanner in(text);
  return in.looking_at("TiledMMA") || in.looking_at("ThrMMA") || in.looking_at("MMA_Atom\n") ||
         in.looking_at("MMA_Atom ");
}

void refuse_tiled_mma(Scanner& in) {
  if (looks_like_tiled_mma(in.rest()))
    in.fail("a TiledMMA computes on registers: it lays out no shared memory and accesses none", in.at(),
            in.peek_name().size(),
            "'swizproof fragment' shows which register holds which element; the TiledCopy made from it shows "
            "what each lane accesses");
}

}  // namespace swizproof
