// What CuTe prints for a TiledCopy, a ThrCopy and a Copy_Atom.
#include <swizproof/text/parse.hpp>

#include "text/layout/layout_parser.hpp"

#include <array>

namespace swizproof {

namespace {

/// The lines of a block, by label. CUTLASS 3.0 printed a Copy_Atom's Bit layouts as well.
struct Fields {
  struct Line {
    std::string_view label;
    std::size_t at = 0;
    std::optional<Tiler> value{};
  };
  std::array<Line, 9> lines{{{"Tiler_MN"},
                             {"TiledLayout_TV"},
                             {"ThrID"},
                             {"ValLayoutSrc"},
                             {"ValLayoutDst"},
                             {"ValLayoutRef"},
                             {"BitLayoutSrc"},
                             {"BitLayoutDst"},
                             {"BitLayoutRef"}}};
  unsigned value_bits = 0;

  [[nodiscard]] Line* find(std::string_view label) {
    auto* const line =
        std::find_if(lines.begin(), lines.end(), [&](Line const& l) { return l.label == label; });
    return line == lines.end() ? nullptr : line;
  }
};

class BlockParser {
 public:
  explicit BlockParser(std::string_view text) : in_(text), layouts_(in_) { layouts_.read_all_static(true); }

  [[nodiscard]] TiledCopy parse() {
    if (in_.take("ThrCopy")) {
      in_.expect("ThrIdx", "of the ThrCopy");
      in_.expect(":", "after ThrIdx");
      (void)in_.take("_");
      (void)in_.take_integer("the number of the thread");
      if (!in_.looking_at("TiledCopy")) in_.fail_here("a ThrCopy is followed by its TiledCopy");
    }
    bool const tiled = in_.take("TiledCopy");
    if (tiled) read_lines();
    in_.expect("Copy_Atom", tiled ? "block of the TiledCopy" : "");
    read_lines();
    if (!in_.done()) in_.fail_here("unexpected text after the block");
    try {
      return tiled ? tiled_copy() : atom();
    } catch (AlgebraError const& error) {
      in_.fail("this is not a TiledCopy that CuTe can make: " + std::string(error.what()), 0, 9);
    }
  }

 private:
  void read_lines() {
    while (!in_.done() && !in_.looking_at("Copy_Atom")) {
      std::size_t const at = in_.at();
      std::string_view const label = in_.take_name();
      if (label == "ValueType") {
        in_.expect(":", "after ValueType");
        read_value_type();
        continue;
      }
      Fields::Line* const line = fields_.find(label);
      if (line == nullptr)
        in_.fail("expected a line of the block", at, label.size(),
                 "Tiler_MN, TiledLayout_TV, ThrID, ValLayoutSrc, ValLayoutDst, ValLayoutRef, ValueType");
      if (line->value) in_.fail(std::string(label) + " is given twice", at, label.size());
      in_.expect(":", "after " + std::string(label));
      line->at = in_.at();
      line->value = layouts_.tiler();
    }
  }

  void read_value_type() {
    std::size_t const at = in_.at();
    if (fields_.value_bits != 0) in_.fail("ValueType is given twice", at, 1);
    std::int64_t const bits = in_.take_integer("the bits of a value");
    if (bits < 1 || bits > 1024) in_.fail("a value has 1 to 1024 bits", at, in_.at() - at);
    in_.expect("b", "after the bits of a value");
    fields_.value_bits = static_cast<unsigned>(bits);
  }

  Tiler const& required(std::string_view label) {
    Fields::Line const& line = *fields_.find(label);
    if (!line.value) in_.fail_here("the block has no line " + std::string(label));
    return *line.value;
  }
  Layout const& thread_value(std::string_view label) {
    auto const* layout = std::get_if<Layout>(&required(label).value);
    if (layout == nullptr || layout->rank() != 2 || layout->stride.has_basis())
      in_.fail(std::string(label) + " must be a layout of (thread, value)", fields_.find(label)->at);
    return *layout;
  }
  unsigned value_bits() {
    if (fields_.value_bits == 0) in_.fail_here("the block has no line ValueType");
    return fields_.value_bits;
  }

  /// A Copy_Atom by itself: its threads and values, counted in values.
  TiledCopy atom() {
    (void)required("ThrID");
    Layout const &source = thread_value("ValLayoutSrc"), &destination = thread_value("ValLayoutDst");
    Layout const& reference = thread_value("ValLayoutRef");
    return {source, destination, coshape(reference), value_bits(), source, destination};
  }

  TiledCopy tiled_copy() {
    (void)required("ThrID");
    Layout const& reference = thread_value("ValLayoutRef");
    Tiler const& of_tile = required("Tiler_MN");
    Layout const identity = make_layout(tile_shape(of_tile));
    Layout const of_source = thread_value_of(identity, reference, thread_value("ValLayoutSrc"));
    Layout const of_destination = thread_value_of(identity, reference, thread_value("ValLayoutDst"));
    TiledCopy copy{of_source, of_destination, {}, value_bits(), of_source, of_destination};
    go_through(of_tile, copy);
    return copy;
  }

  /// TiledLayout_TV with the atom's (thread, value) of one side in place of the reference side's.
  Layout thread_value_of(Layout const& identity, Layout const& reference, Layout const& side) {
    Layout const to_reference = composition(right_inverse(reference), side);
    Layout const& all = thread_value("TiledLayout_TV");
    IntTuple const atom(std::vector<IntTuple>{size(reference.shape.mode(0)), size(reference.shape.mode(1))});
    for (std::size_t i = 0; i < 2; ++i)
      if (size(all.shape.mode(i)).value % atom.modes[i].value != 0)
        throw AlgebraError{"TiledLayout_TV has too few " + std::string(i == 0 ? "threads" : "values") +
                           " for the Copy_Atom"};
    Layout const by_atom = zipped_divide(all, tiler(atom));
    Layout const on_side =
        composition(by_atom, Tiler{std::vector<Tiler>{Tiler{to_reference}, Tiler{Underscore{}}}});
    IntTuple const profile(std::vector<IntTuple>{1, IntTuple(std::vector<IntTuple>{1, 1})});
    Layout const paired = zip(on_side.mode(0), on_side.mode(1));
    return composition(identity, coalesce(paired, profile));
  }

  /// CuTe's shape(Tiler_MN).
  static IntTuple tile_shape(Tiler const& t) {
    if (auto const* layout = std::get_if<Layout>(&t.value)) return layout->shape;
    if (auto const* n = std::get_if<IntTuple>(&t.value)) return *n;
    auto const* modes = std::get_if<std::vector<Tiler>>(&t.value);
    if (modes == nullptr) throw AlgebraError{"a tiler of _ has no size"};
    std::vector<IntTuple> out;
    for (Tiler const& m : *modes) out.push_back(tile_shape(m));
    return IntTuple(std::move(out));
  }

  /// Sets the tile, and makes indices in the tiler's order column-major indices into it. A tiler with
  /// gaps is repeated into them: the copies are further values of each thread.
  void go_through(Tiler const& t, TiledCopy& copy) {
    auto const* modes = std::get_if<std::vector<Tiler>>(&t.value);
    std::vector<Tiler> const all = modes != nullptr ? *modes : std::vector<Tiler>{t};
    std::vector<Layout> through, plain, gaps;
    std::vector<IntTuple> extents;
    std::int64_t step = 1;
    for (Tiler const& m : all) {
      IntTuple const shape = tile_shape(m);
      auto const* layout = std::get_if<Layout>(&m.value);
      Layout const mode = layout != nullptr ? *layout : make_layout(shape);
      Layout const gap = complement(mode);
      Layout const whole = make_layout({mode, gap});
      if (mode.stride.has_basis() || whole.cosize() != whole.size() || !is_one_to_one(whole))
        throw AlgebraError{"the tiler " + to_string(mode) + " does not name its coordinates once each"};
      through.push_back(scaled(mode, step));
      plain.push_back(scaled(make_layout(shape), step));
      if (gap.size() != 1) gaps.push_back(scaled(gap, step));
      extents.emplace_back(whole.size());
      step *= whole.size();
    }
    copy.tile = IntTuple(std::move(extents));
    if (through == plain) return;
    for (Layout* const side : {&copy.source_tv, &copy.destination_tv}) {
      *side = composition(make_layout(through), *side);
      if (gaps.empty()) continue;
      std::vector<Layout> values = gaps;
      values.insert(values.begin(), side->mode(1));
      *side = make_layout({side->mode(0), make_layout(values)});
    }
  }

  /// True if a layout with cosize = size takes every offset: the strides must count on from each other.
  static bool is_one_to_one(Layout const& mode) {
    auto const extents = mode.shape.leaves(), strides = mode.stride.leaves();
    std::int64_t reached = 1;
    while (reached < mode.size()) {
      std::size_t i = 0;
      while (i < extents.size() && (extents[i] == 1 || strides[i] != reached)) ++i;
      if (i == extents.size()) return false;
      reached *= extents[i];
    }
    return true;
  }

  static Layout scaled(Layout layout, std::int64_t factor) {
    auto const scale = [&](auto const& self, IntTuple& t) -> void {
      t.value *= t.is_tuple ? 1 : factor;
      for (IntTuple& m : t.modes) self(self, m);
    };
    scale(scale, layout.stride);
    return layout;
  }

  Scanner in_;
  LayoutParser layouts_;
  Fields fields_{};
};

}  // namespace

TiledCopy parse_tiled_copy(std::string_view text) { return BlockParser(text).parse(); }

bool looks_like_tiled_copy(std::string_view text) {
  Scanner in(text);
  return in.looking_at("TiledCopy") || in.looking_at("ThrCopy") || in.looking_at("Copy_Atom");
}

}  // namespace swizproof
