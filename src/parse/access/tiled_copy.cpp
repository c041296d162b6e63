// Reader of CuTe's prints of a TiledCopy, a ThrCopy and a Copy_Atom.
#include <swizproof/parse/parse.hpp>

#include "parse/layout/layout_parser.hpp"
#include <swizproof/access/tiler.hpp>

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
    read();
    try {
      TiledCopy copy = tiled_ ? tiled_copy() : atom();
      if (thread_ && *thread_ >= copy.source_tv.mode(0).size())
        in_.fail("ThrIdx is not below the " + std::to_string(copy.source_tv.mode(0).size()) +
                     " threads of the TiledCopy",
                 thread_at_);
      copy.thread = thread_;
      return copy;
    } catch (AlgebraError const& error) {
      in_.fail("this is not a TiledCopy that CuTe can make: " + std::string(error.what()), 0, 9);
    }
  }

  /// The instruction of the Copy_Atom, whose name CuTe does not print: from which lane each bit comes, and to which it goes.
  [[nodiscard]] Instruction instruction() {
    read();
    (void)required("ThrID");
    Layout const &source = thread_value("ValLayoutSrc"), &destination = thread_value("ValLayoutDst");
    for (InstructionName const& known : instruction_names) {
      if (known.instruction.matrices == 0) continue;
      bool const loads = known.instruction.operation == Operation::ldmatrix;
      if (is_addresses(loads ? source : destination, known.instruction) &&
          is_registers(loads ? destination : source, known.instruction))
        return known.instruction;
    }
    std::size_t const at = fields_.find("ValLayoutSrc")->at;
    auto const bits = static_cast<std::uint64_t>(source.mode(1).size()) * value_bits();
    if (source.mode(0).size() != 1)
      in_.fail("the Copy_Atom is none of ldmatrix or stmatrix, and its name is not printed", at, 1,
               "write the instruction before it: ld.shared.b128: TiledCopy ...");
    std::string const width = std::to_string(bits >= 8 && bits <= 128 ? bits : 128);
    in_.fail("this Copy_Atom copies " + std::to_string(bits) +
                 " bits a thread and does not say between which memories: the instruction is missing",
             at, 1,
             "write it before the block: ld.shared.b" + width + ": TiledCopy ..., st.shared.b" + width +
                 " or cp.async.b" + width);
  }

 private:
  void read() {
    if (in_.take("ThrCopy")) {
      in_.expect("ThrIdx", "of the ThrCopy");
      in_.expect(":", "after ThrIdx");
      (void)in_.take("_");
      thread_at_ = in_.at();
      thread_ = in_.take_integer("the number of the thread");
      if (!in_.looking_at("TiledCopy")) in_.fail_here("a ThrCopy is followed by its TiledCopy");
    }
    tiled_ = in_.take("TiledCopy");
    if (tiled_) read_lines();
    in_.expect("Copy_Atom", tiled_ ? "block of the TiledCopy" : "");
    read_lines();
    if (!in_.done()) in_.fail_here("unexpected text after the block");
  }

  /// True if a layout's values begin at the bits that `bit(thread, first bit of the value)` says, of 32 threads with `bits` each.
  template <class Bit>
  bool is_side(Layout const& side, unsigned bits, Bit const& bit) {
    unsigned const each = value_bits();
    if (side.mode(0).size() != warp_lanes || side.mode(1).size() * each != bits || each > 16) return false;
    for (std::uint64_t thread = 0; thread < warp_lanes; ++thread)
      for (std::uint64_t value = 0; value < bits / each; ++value) {
        std::uint64_t const at[] = {thread, value};
        if (side(std::span<std::uint64_t const>(at)).elements * each != bit(thread, value * each))
          return false;
      }
    return true;
  }
  /// The side of shared memory: each lane has a row of 128 bits; lanes beyond the matrices repeat those before.
  bool is_addresses(Layout const& side, Instruction const& i) {
    return is_side(side, 128,
                   [&](std::uint64_t thread, std::uint64_t bit) { return thread % i.lanes() * 128 + bit; });
  }
  /// The side of registers: 32 bits of each matrix, of one row or, transposed, of one column.
  bool is_registers(Layout const& side, Instruction const& i) {
    Layout const values = thread_values(fragment_of(i, 16));
    return is_side(side, 32 * i.matrices, [&](std::uint64_t thread, std::uint64_t bit) {
      std::uint64_t const at[] = {thread, bit};
      return values(std::span<std::uint64_t const>(at)).elements;
    });
  }

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
    TiledCopy copy;
    copy.source_tv = copy.layout_s_tv = thread_value("ValLayoutSrc");
    copy.destination_tv = copy.layout_d_tv = thread_value("ValLayoutDst");
    copy.tile = coshape(thread_value("ValLayoutRef"));
    copy.value_bits = value_bits();
    return copy;
  }

  TiledCopy tiled_copy() {
    (void)required("ThrID");
    Tiler const& of_tile = required("Tiler_MN");
    Layout const identity = make_layout(tile_shape(of_tile));
    if (std::int64_t const reach = thread_value("TiledLayout_TV").cosize(); reach > identity.size())
      in_.fail("TiledLayout_TV reaches index " + std::to_string(reach - 1) + ", the tile has " +
                   std::to_string(identity.size()) + " elements",
               fields_.find("TiledLayout_TV")->at, 1);
    TiledCopy copy;
    copy.value_bits = value_bits();
    copy.tiler = of_tile;
    copy.tiled_tv = thread_value("TiledLayout_TV");
    copy.source = thread_value("ValLayoutSrc");
    copy.destination = thread_value("ValLayoutDst");
    copy.reference = thread_value("ValLayoutRef");
    copy.source_tv = copy.layout_s_tv = composition(identity, thread_values(copy, copy.source));
    copy.destination_tv = copy.layout_d_tv = composition(identity, thread_values(copy, copy.destination));
    Layout* const sides[] = {&copy.source_tv, &copy.destination_tv};
    copy.tile = through_tiler(of_tile, sides);
    return copy;
  }

  Scanner in_;
  LayoutParser layouts_;
  Fields fields_{};
  bool tiled_ = false;
  std::optional<std::int64_t> thread_{};  ///< of a ThrCopy
  std::size_t thread_at_ = 0;
};

}  // namespace

TiledCopy parse_tiled_copy(std::string_view text) { return BlockParser(text).parse(); }

Instruction copy_instruction(std::string_view text) { return BlockParser(text).instruction(); }

bool looks_like_tiled_copy(std::string_view text) {
  Scanner in(text);
  for (char const* name : {"TiledCopy", "ThrCopy", "Copy_Atom"})
    if (in.take(name)) return !in.looking_at("<");  // its type says nothing of its layouts
  return false;
}

}  // namespace swizproof
