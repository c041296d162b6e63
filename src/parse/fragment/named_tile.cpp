// Reader of a TiledMMA as it is written: its atom by name, the layout of atoms and the permutation.
#include "parse/fragment/mma_atom.hpp"
#include "parse/fragment/tiled_mma.hpp"

#include "parse/layout/layout_parser.hpp"

#include <swizproof/parse/parse.hpp>

namespace swizproof {

namespace {

/// Passes `using TiledMma = decltype(cute::` before the name; returns the parentheses that it opens.
int skip_declaration(Scanner& in) {
  int parentheses = 0;
  for (bool again = true; again;) {
    in.skip_namespaces();
    again = false;
    for (char const* word : {"using", "auto", "constexpr", "const", "static"})
      again = again || in.take_word(word);
    std::size_t const from = in.at();
    if (again && !in.take_name().empty() && !in.take("=")) in.back_to(from);
    if (in.take_word("decltype") && in.take("(")) ++parentheses, again = true;
  }
  return parentheses;
}

class NamedTileParser {
 public:
  NamedTileParser(std::string_view text, std::optional<unsigned> element_bits)
      : in_(text), layouts_(in_, [this] { return call(); }), element_bits_(element_bits) {
    (void)layouts_.read_all_static(true);
  }

  [[nodiscard]] std::variant<NamedFragment, TiledOperand> parse(bool as_tile) {
    read();
    NamedAtom const atom = [&] {
      try {
        return atom_by_name(atom_);
      } catch (InputError const& error) {
        in_.fail(error.message, atom_at_, atom_.size(), error.hint);
      }
    }();
    TiledOperand tiled = operand_of(atom);
    bool const in_registers = note_memory(tiled);
    auto const which = static_cast<std::size_t>(tiled.operand);
    // CuTe counts both elements of k that one stored element of a sparse A stands for.
    bool const has_fragment =
        atom.instruction.starts_with("mma.m") || atom.instruction.starts_with("wgmma.m");
    if (!as_tile && has_fragment && in_registers && atom.atom.threads.size() >= 32 && is_one_atom(tiled.mma))
      return parse_fragment(atom_ + operand_, element_bits_);
    tiled.element_bits = atom.bits[which];
    if (element_bits_) tiled.element_bits = converted(tiled);
    return tiled;
  }

 private:
  void read() {
    parentheses_ = skip_declaration(in_);
    bool const type = !in_.take_word("make_tiled_mma");
    if (type && !in_.take_word("TiledMMA")) in_.fail_here("expected make_tiled_mma( or TiledMMA<");
    char const* const closing = type ? ">" : ")";
    in_.expect(type ? "<" : "(", "of the arguments of the TiledMMA");
    read_atom();
    if (in_.take(",")) {
      atoms_at_ = in_.at();
      Tiler const atoms = layouts_.tiler();
      if (auto const* const layout = std::get_if<Layout>(&atoms.value))
        atoms_ = *layout;
      else if (auto const shape = integers(atoms))
        atoms_ = make_layout(*shape);
      else
        in_.fail("the second argument is the layout of the atoms", atoms_at_, in_.at() - atoms_at_,
                 "Layout<Shape<_2,_2,_1>>{}");
    }
    if (in_.take(",")) {
      permutation_at_ = in_.at();
      Tiler const tile = layouts_.tiler();
      if (auto const* const modes = std::get_if<std::vector<Tiler>>(&tile.value))
        permutation_ = *modes;
      else if (auto const shape = integers(tile); shape && shape->is_tuple)
        for (IntTuple const& mode : shape->modes) permutation_.push_back(Tiler{mode});
      else
        permutation_ = {tile};
    }
    in_.expect(closing, "behind the arguments of the TiledMMA");
    for (; parentheses_ > 0; --parentheses_) in_.expect(")", "of decltype");
    in_.skip_braces();
    (void)in_.take(";");
    read_operand();
  }
  /// The atom's name with its template arguments, `MMA_Atom<...>` around it or not.
  void read_atom() {
    int wrapped = 0;
    for (bool again = true; again;) {
      in_.skip_namespaces();
      again = in_.take_word("MMA_Atom") || in_.take_word("MMA_Traits");
      if (again) {
        in_.expect("<", "of the atom");
        ++wrapped;
      }
    }
    std::size_t const from = atom_at_ = in_.at();
    std::string_view const rest = in_.rest();
    std::size_t n = 0;
    for (int depth = 0; n < rest.size(); ++n) {
      if (rest[n] == '<') ++depth;
      if (rest[n] == '>' && depth-- == 0) break;
      if (depth == 0 && std::string_view(",){(").find(rest[n]) != std::string_view::npos) break;
    }
    in_.back_to(from + n);
    atom_ = in_.trimmed(from, from + n);
    if (atom_.empty()) in_.fail_here("the atom is missing", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})");
    in_.skip_braces();
    for (; wrapped > 0; --wrapped) {
      in_.expect(">", "behind the atom");
      in_.skip_braces();
    }
  }
  void read_operand() {
    std::size_t const at = in_.at();
    if (!in_.take(":"))
      in_.fail("the operand is missing", at > 0 ? at - 1 : 0, 1,
               "write :a, :b, :c or :d behind the TiledMMA");
    operand_ = ":" + std::string(in_.take_name());
    if (!in_.done()) in_.fail_here("unexpected text after the operand");
    if (operand_.size() == 2) operand_[1] = static_cast<char>(operand_[1] | 0x20);
    if (operand_.size() != 2 || operand_[1] < 'a' || operand_[1] > 'd')
      in_.fail("an operand is a, b, c or d", at, operand_.size());
  }
  /// A function of CuTe that makes a layout: `make_layout(make_shape(2, 2, 1))`.
  [[nodiscard]] Tiler call() {
    std::size_t const from = in_.at();
    (void)in_.take_name();
    std::string_view const rest = in_.rest();
    std::size_t n = 0;
    for (int depth = 0; n < rest.size(); ++n) {
      if (rest[n] == '(' || rest[n] == '<') ++depth;
      if ((rest[n] == ')' || rest[n] == '>') && --depth <= 0) {
        ++n;
        break;
      }
    }
    in_.back_to(in_.at_end_of_token() + n);
    std::string const text(in_.trimmed(from, in_.at_end_of_token()));
    Mapping map;
    try {
      map = parse_mapping(text);
    } catch (InputError const& error) {
      in_.fail(error.message, from, text.size(), error.hint);
    }
    auto const* const layout = map.on_elements.size() == 1 && map.on_bytes.empty()
                                   ? std::get_if<Layout>(&map.on_elements[0])
                                   : nullptr;
    if (layout == nullptr) in_.fail("a layout without a swizzle is meant here", from, text.size());
    return {*layout};
  }

  [[nodiscard]] TiledOperand operand_of(NamedAtom const& atom) {
    TiledOperand tiled;
    tiled.operand = operand_[1] == 'a' ? Operand::a : operand_[1] == 'b' ? Operand::b : Operand::d;
    tiled.addend = operand_ == ":c";
    tiled.instruction = atom.instruction;
    tiled.needs = atom.needs;
    tiled.measured = atom.measured;
    if (atom.instruction.empty())
      tiled.notes.emplace_back(
          "a thread multiplies one pair of elements: the compiler chooses the instruction");
    try {
      tiled.mma = make_tiled_mma(atom.atom, atoms_, permutation_);
      if (std::string const fault = fault_of_threads(tiled.mma); !fault.empty())
        in_.fail(fault, atoms_at_, 1);
      if (std::string const fault = fault_of_permutation(tiled.mma); !fault.empty())
        in_.fail(fault, permutation_at_, 1);
    } catch (AlgebraError const& error) {
      in_.fail("this is not a TiledMMA that CuTe can make: " + std::string(error.what()), atoms_at_, 1);
    }
    return tiled;
  }
  /// Bits of the elements that results are converted to.
  [[nodiscard]] unsigned converted(TiledOperand const& tiled) {
    if (tiled.operand != Operand::d && tiled.element_bits != 0)
      in_.fail("the instruction says how large elements of A and B are", 0, 1, "leave --element out");
    return *element_bits_;
  }

  mutable Scanner in_;
  LayoutParser layouts_;
  std::optional<unsigned> element_bits_;
  std::string atom_{}, operand_{};
  Layout atoms_{1, 0};
  std::vector<Tiler> permutation_{};
  std::size_t atom_at_ = 0, atoms_at_ = 0, permutation_at_ = 0;
  int parentheses_ = 0;  ///< that are open
};

}  // namespace

bool looks_like_named_tile(std::string_view text) {
  if (text.size() > longest_text) return false;
  Scanner in(text);
  (void)skip_declaration(in);
  return in.looking_at("make_tiled_mma") || in.looking_at("TiledMMA<") || in.looking_at("TiledMMA <");
}

std::variant<NamedFragment, TiledOperand> parse_named_tile(std::string_view text,
                                                           std::optional<unsigned> element_bits,
                                                           bool as_tile) {
  return NamedTileParser(text, element_bits).parse(as_tile);
}

}  // namespace swizproof
