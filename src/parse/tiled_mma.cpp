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
      in_.fail("which operand is missing", 0, in_.peek_name().size(), "write :a, :b or :d behind the block");
    Layout const* const c = layout("LayoutC_TV");
    if (c == nullptr) in_.fail("the block has no line LayoutC_TV", 0, 1);
    for (std::string const& name : names(*c))
      if (is(name)) return parse_fragment(name + operand_, element_bits_);
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
      if (ours == nullptr || (!warp && operand[1] != 'd')) continue;
      Layout const theirs = thread_values(parse_fragment(name + operand).fragment);
      if (ours->rank() != 2 || ours->size() != theirs.size() || ours->mode(0).size() != theirs.mode(0).size())
        return false;
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(theirs.size()); ++i)
        if ((*ours)(i).elements != theirs(i).elements) return false;
    }
    return true;
  }

  Scanner in_;
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
