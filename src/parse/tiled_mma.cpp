// Reader of CuTe's prints of a TiledMMA, a ThrMMA and an MMA_Atom: which fragment it is, whose name is not printed.
#include "parse/tiled_mma.hpp"

#include "parse/layout/layout_parser.hpp"

#include <swizproof/parse/parse.hpp>

#include <map>

namespace swizproof {

namespace {

class MmaBlockParser {
 public:
  MmaBlockParser(std::string_view text, std::optional<unsigned> element_bits)
      : in_(text), layouts_(in_), element_bits_(element_bits) {
    (void)layouts_.read_all_static(true);
  }

  [[nodiscard]] NamedFragment parse() {
    read();
    if (operand_.empty())
      in_.fail("the operand is missing", 0, in_.peek_name().size(),
               "write :a, :b, :c or :d behind the block");
    Layout const* const c = layout("LayoutC_TV");
    if (c == nullptr) in_.fail("the block has no line LayoutC_TV", 0, 1);
    for (std::string const& name : names(*c))
      if (is(name)) {
        refuse_tiling(name);
        refuse_thread();
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
    in_.fail("this MMA_Atom is none that is known", lines_.at("LayoutC_TV").at, 1,
             "mma of m8n8k4 to m16n8k64 and wgmma are; 'swizproof fragment' takes their names");
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

  [[noreturn]] void refuse(std::string_view label, std::string message, std::string hint) const {
    std::size_t const at = lines_.find(label)->second.at;
    in_.fail(std::move(message), at, std::max<std::size_t>(in_.trimmed(at, in_.text_size()).find('\n'), 1),
             std::move(hint));
  }
  /// Refuses what holds more than one atom, whose threads and elements are not those of the atom.
  void refuse_tiling(std::string const& name) const {
    static constexpr char const* hint =
        "what one atom holds: paste the block from the line MMA_Atom on; tiles of several atoms are not "
        "computed";
    for (char const* label : {"ThrLayoutVMNK", "TiledThr", "TiledVal"}) {
      Layout const* const threads = layout(label);
      if (threads == nullptr) continue;
      bool const with_v = std::string_view(label) == "ThrLayoutVMNK";
      std::int64_t atoms = threads->size();
      if (with_v) atoms /= threads->mode(0).size();
      if (atoms != 1)
        refuse(label,
               std::to_string(atoms) + " atoms lie side by side here, and a fragment is that of one atom",
               hint);
      if (with_v && threads->mode(0).size() != layout("LayoutC_TV")->mode(0).size())
        refuse(label,
               "the atom has " + std::to_string(layout("LayoutC_TV")->mode(0).size()) +
                   " threads, this line " + std::to_string(threads->mode(0).size()),
               "");
    }
    for (char const* label : {"PermutationMNK", "TiledPerm", "TiledShape_MNK"}) {
      auto const line = lines_.find(label);
      if (line == lines_.end()) continue;
      auto const* const modes = std::get_if<std::vector<Tiler>>(&line->second.value.value);
      bool plain = modes != nullptr;
      for (std::size_t i = 0; plain && i < modes->size(); ++i)
        plain = i < 3 && is_extent((*modes)[i], name, i);
      if (!plain)
        refuse(label, "this line permutes or repeats the atom, and a fragment is that of one atom", hint);
    }
    auto const shape = lines_.find("Shape_MNK");
    if (shape == lines_.end()) return;
    auto const* const modes = std::get_if<std::vector<Tiler>>(&shape->second.value.value);
    bool same = modes != nullptr && modes->size() == 3;
    for (std::size_t i = 0; same && i < 3; ++i)
      same = !std::holds_alternative<Underscore>((*modes)[i].value) && is_extent((*modes)[i], name, i);
    if (!same) refuse("Shape_MNK", "the layouts of this block are those of " + name, "");
  }
  /// `_`, or the atom's own extent.
  static bool is_extent(Tiler const& t, std::string const& name, std::size_t mode) {
    if (std::holds_alternative<Underscore>(t.value)) return true;
    auto const* const n = std::get_if<IntTuple>(&t.value);
    std::size_t const at = name.find("mnk"[mode], name.find(".m"));
    return n != nullptr && !n->is_tuple && n->value == std::stoll(name.substr(at + 1));
  }
  /// A ThrMMA is one thread's part, and a fragment that of all threads.
  void refuse_thread() const {
    auto const id = lines_.find("ThrID");
    Layout const* const threads = layout("ThrID");
    std::int64_t const all = layout("LayoutC_TV")->mode(0).size();
    if (id != lines_.end() &&
        (threads == nullptr || threads->size() != all || coalesce(*threads).stride.value != 1))
      refuse("ThrID", "the threads of the atom are 0 to " + std::to_string(all - 1) + " in their order", "");
    auto const vmnk = lines_.find("VMNK");
    if (vmnk == lines_.end()) return;
    auto const* const modes = std::get_if<std::vector<Tiler>>(&vmnk->second.value.value);
    for (std::size_t i = 1; modes != nullptr && i < modes->size(); ++i)
      if (auto const* n = std::get_if<IntTuple>(&(*modes)[i].value);
          n == nullptr || n->is_tuple || n->value != 0)
        refuse("VMNK", "this thread belongs to another atom than the first", "");
    auto const* const v =
        modes == nullptr || modes->empty() ? nullptr : std::get_if<IntTuple>(&(*modes)[0].value);
    if (v == nullptr || v->is_tuple)
      refuse("VMNK", "expected the thread's coordinate, such as (5,0,0,_0)", "");
    if (v->value < 0 || v->value >= all)
      refuse("VMNK", "the atom has the threads 0 to " + std::to_string(all - 1), "");
    thread_ = v->value;
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
  mutable std::int64_t thread_ = -1;  ///< of a ThrMMA
  LayoutParser layouts_;
  std::optional<unsigned> element_bits_;
  std::string operand_{};
  std::map<std::string, Line, std::less<>> lines_{};
};

}  // namespace

NamedFragment parse_tiled_mma(std::string_view text, std::optional<unsigned> element_bits) {
  return MmaBlockParser(text, element_bits).parse();
}

bool looks_like_tiled_mma(std::string_view text) {
  Scanner in(text);
  return in.looking_at("TiledMMA") || in.looking_at("ThrMMA") || in.looking_at("MMA_Atom\n") ||
         in.looking_at("MMA_Atom ");
}

void refuse_tiled_mma(Scanner& in) {
  if (looks_like_tiled_mma(in.rest()))
    in.fail("a TiledMMA computes on registers: it lays out no shared memory and accesses none", in.at(),
            in.peek_name().size(),
            "'swizproof fragment' tells which register holds what; the TiledCopy made of it says what each "
            "lane accesses");
}

}  // namespace swizproof
