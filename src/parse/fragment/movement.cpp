#include <swizproof/parse/movement.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

namespace swizproof {

namespace {

/// FRAGMENT, or INSTRUCTION: row = ..., col = ....
struct Mover {
  std::string text;                ///< without the rows
  std::optional<Access> access{};  ///< with them
};

Mover mover_of(std::string const& text) {
  if (text.find('=') == std::string::npos) return {text, {}};
  static std::string const of_warpgroups[] = {"warp", "thread"};  // as RowVariable numbers them
  Access access = parse_access(text, of_warpgroups);
  auto const refuse = [&](std::string message) {
    throw InputError::whole(std::move(message), text,
                            "such as ldmatrix.x4.trans: row = lane%16, col = 8*(lane/16)");
  };
  if (access.instruction.matrices == 0) refuse("only ldmatrix and stmatrix have rows");
  auto const* const where = std::get_if<Coordinate>(&access.where);
  if (where == nullptr || where->modes.size() != 2 || access.active)
    refuse("rows are given as row = ..., col = ... of the tile, of all lanes");
  if (access.variables.size() > 1 ||
      (!access.variables.empty() && (access.variables[0].first != 0 || access.variables[0].step != 1)))
    refuse("of several instructions the first is number 0: for i in 0..3");
  return {std::string(name(access.instruction)), std::move(access)};
}

[[noreturn]] void refuse_pair(NamedFragment const& from, NamedFragment const& into, std::string message,
                              std::string hint) {
  throw InputError{std::move(message), from.name() + " --into " + into.name(), 0, 1, std::move(hint)};
}

/// Refuses what is no operand that elements move to or from.
void refuse_unmoved(NamedFragment const& from, NamedFragment const& into) {
  for (NamedFragment const* f : {&from, &into}) {
    if (!f->operand && !f->memory)
      refuse_pair(from, into, "movmatrix is between two operands: name them",
                  "the answer names movmatrix where it does it, such as mma.m16n8k16.f16:d --into "
                  "mma.m16n8k16.f16:b");
    if (f->of_cells || f->operand == Operand::e)
      throw InputError::whole(f->of_cells ? "lanes and columns of Tensor Memory are no registers"
                                          : "metadata are loaded as whole registers, not as a matrix",
                              f->name(), "without --into: what each lane holds");
    if (holders_of_each(f->fragment) > 1)
      refuse_pair(from, into, "scales are given in the registers that the selector names",
                  "without --into: which lane gives which scale");
  }
}

bool is_memory(std::string const& text) {
  return text.find("TMEM_") == std::string::npos && looks_like_instruction(text) &&
         parse_instruction(text).matrices != 0;
}

/// Refuses an element that is not the operand's own, where nothing is converted.
void refuse_other_element(std::optional<unsigned> bits, NamedFragment const& operand,
                          std::string const& text) {
  if (bits && *bits != operand.fragment.bits)
    throw InputError::whole(fmt::format("{} has elements of {} bits", operand.name(), operand.fragment.bits),
                            text, "leave --element out");
}

}  // namespace

bool is_retile(MovementWords const& words) {
  return looks_like_tiled_copy(words.from) || looks_like_tiled_copy(words.into);
}

RetileQuestion parse_retile(MovementWords const& words) {
  bool const loads = looks_like_tiled_copy(words.from);
  if (words.transposed)
    throw InputError::whole("--transposed is of one operand's registers into another's", "--transposed",
                            "a TiledCopy moves each element to the register that it has");
  if (!words.contiguous.empty())
    throw InputError::whole("--contiguous is of ldmatrix and stmatrix alone", words.contiguous,
                            "the TiledCopy says which elements it moves");
  if (!words.registers.empty())
    throw InputError::whole("registers are those of one instruction's operand", words.into,
                            "the TiledCopy says which register each value has");
  if (loads && looks_like_tiled_copy(words.into))
    throw InputError::whole("two copies: one side is the operand of a TiledMMA, in registers", words.into,
                            "--into \"$(cat tiled_mma.txt):a\"");
  std::string const& copy_text = loads ? words.from : words.into;
  std::string const suffix = words.operand.empty() ? "" : ":" + words.operand;
  std::string const operand_text = loads ? words.into : words.from + suffix;
  std::optional<unsigned> bits;
  if (!words.element.empty()) bits = parse_element(words.element);
  TiledOperand operand = parse_tiled_operand(operand_text, bits);
  TiledCopy copy = parse_tiled_copy(copy_text);
  if (copy.tiled_tv.rank() != 2)
    throw InputError::whole("a Copy_Atom alone has no tile", copy_text,
                            "paste the whole print of the TiledCopy");
  return retile_question(std::move(operand), std::move(copy), loads, copy_text);
}

MovementQuestion parse_movement(MovementWords const& words) {
  Mover const from = mover_of(words.from), into = mover_of(words.into);
  MovementQuestion q;
  q.contiguous = words.contiguous;
  q.registers = words.registers;
  std::string const suffix = words.operand.empty() ? "" : ":" + words.operand;
  std::optional<unsigned> const bits =
      words.element.empty() ? std::nullopt : std::optional(parse_element(words.element));
  if (bits) q.element = parse_element_type(words.element).name;
  bool const loads = is_memory(from.text), stores = is_memory(into.text);
  if (loads && stores)
    refuse_pair(parse_fragment(from.text), parse_fragment(into.text),
                "ldmatrix fills registers and stmatrix empties them: name the operand between them", "");
  if (loads) {
    q.into = parse_fragment(into.text);
    refuse_other_element(bits, q.into, words.element);
    refuse_unmoved(q.into, q.into);
    q.from = parse_fragment(from.text, q.into.fragment.bits);
    q.rows = from.access;
    refuse_unmoved(q.from, q.into);
    if (q.from.memory->operation != Operation::ldmatrix)
      refuse_pair(q.from, q.into, "stmatrix does not fill registers", "ldmatrix does");
  } else if (stores) {
    q.from = parse_fragment(from.text + suffix, bits);
    if (bits)
      if (unsigned const computed = parse_fragment(from.text + suffix).fragment.bits; computed > *bits)
        q.computed_bits = computed;
    q.into = parse_fragment(into.text, q.from.fragment.bits);
    q.rows = into.access;
    refuse_unmoved(q.from, q.into);
    if (q.into.memory->operation != Operation::stmatrix)
      refuse_pair(q.from, q.into, "ldmatrix does not empty registers", "stmatrix does");
  } else {
    q.from = parse_fragment(from.text + suffix);
    q.into = parse_fragment(into.text);
    refuse_other_element(bits, q.into, words.element);
    if (!words.contiguous.empty())
      refuse_pair(q.from, q.into, "nothing is stored here", "leave --contiguous out");
    refuse_unmoved(q.from, q.into);
  }
  q.transposed = words.transposed;
  if (q.transposed && (loads || stores))
    refuse_pair(q.from, q.into, "--transposed is of one operand's registers into another's",
                "ldmatrix and stmatrix transpose with .trans");
  return q;
}

}  // namespace swizproof
