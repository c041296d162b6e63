#include "names.hpp"

#include <swizproof/core/float_format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace swizproof::flow_detail {

namespace {

constexpr std::pair<std::string_view, Format> format_names[] = {
    {"f16", Format::f16},     {"bf16", Format::bf16},    {"f32", Format::f32},     {"tf32", Format::f32},
    {"f64", Format::f64},     {"e4m3", Format::e4m3},    {"e5m2", Format::e5m2},   {"f16x2", Format::f16},
    {"bf16x2", Format::bf16}, {"e4m3x2", Format::e4m3},  {"e5m2x2", Format::e5m2}, {"e8m0", Format::e8m0},
    {"ue8m0", Format::e8m0},  {"ue8m0x2", Format::e8m0}, {"ue4m3", Format::e4m3},  {"e2m1x2", Format::e2m1x2},
    {"s4x2", Format::s4x2},   {"u4x2", Format::u4x2}};

static_assert(static_cast<int>(Format::e8m0) == static_cast<int>(FloatFormat::e8m0) + 1);
FloatFormat float_format(Format format) { return static_cast<FloatFormat>(static_cast<int>(format) - 1); }

}  // namespace

Format format_of(std::string_view type) {
  for (auto const& [text, format] : format_names)
    if (text == type) return format;
  return Format::integer;
}

std::string_view name_of(Format format) {
  for (auto const& [text, known] : format_names)
    if (known == format) return text;
  return "integer";
}

std::string pair_type(std::string_view type) {
  return std::string(type) + (type == "s4" || type == "u4" ? "x2" : "");
}

unsigned fraction_bits_of(Format format) {
  if (format == Format::integer || format == Format::s4x2 || format == Format::u4x2)
    return fraction_bits_of(Format::f64);
  return static_cast<unsigned>(
      shape_of(format == Format::e2m1x2 ? FloatFormat::e2m1 : float_format(format)).fraction_bits);
}

double value_of_bits(std::uint64_t bits, Format format, unsigned bytes) {
  if (is_pair(format)) return bits == 0 ? 0 : std::nan("");  // a pair is no number
  if (format != Format::integer) return float_value(float_format(format), bits);
  return static_cast<double>(signed_of(bits, 8 * bytes));
}

bool bits_of_value(double value, Format format, std::uint64_t& bits) {
  bool const none = format == Format::integer || is_pair(format);
  auto const found = none ? std::nullopt : float_bits(float_format(format), value);
  bits = found.value_or(0);
  return found || (none && value == 0);
}

double value_of_element(FlowArray const& array, std::uint64_t index) {
  std::uint64_t const bits = array.values[index];
  Format const format = format_of(array.type);
  return format == Format::integer && array.type[0] == 'u' ? static_cast<double>(bits)
                                                           : value_of_bits(bits, format, array.bits / 8);
}

Names::Names(std::vector<FlowArray> const& arrays) : arrays_(arrays), nodes_(1), texts_(1) {
  std::uint64_t next = 1;
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    starts_.push_back(static_cast<std::uint32_t>(next));
    next += arrays[i].size();
  }
  end_ = static_cast<std::uint32_t>(next);
}

/// The array of an element's canonical number.
std::size_t Names::array_of(std::uint32_t number) const {
  std::size_t array = starts_.size() - 1;
  while (starts_[array] > number) --array;
  return array;
}

std::pair<FlowArray const*, std::uint64_t> Names::place_of(std::uint32_t number) const {
  std::size_t const array = array_of(number);
  return {&arrays_[array], number - starts_[array]};
}

std::string Names::element_text(std::uint32_t number) const {
  if (ExtremeSets::Extreme const* const set = sets_.with(number); set != nullptr) {
    constexpr std::size_t most = 4;
    std::string out = set->smallest ? "min(" : "max(";
    for (std::size_t i = 0; i < std::min(set->members.size(), most); ++i) {
      if (i != 0) out += ", ";
      if (set->members[i].empty()) out += "0";
      for (std::size_t k = 0; k < set->members[i].size(); ++k)
        out += (k == 0 ? "" : " + ") + text(set->members[i][k]);
    }
    return out + (set->members.size() > most ? fmt::format(", .. {} values)", set->members.size()) : ")");
  }
  if (number >= end_) return text(static_cast<Name>(number - end_));
  std::size_t const array = array_of(number);
  return arrays_[array].element(number - starts_[array]);
}

Name Names::add(NameNode node) {
  nodes_.push_back(node);
  return static_cast<Name>(nodes_.size() - 1);
}

Name Names::element(std::uint32_t array, std::uint64_t index, std::uint32_t line) {
  std::uint32_t const number = canonical(array, index);
  auto const [at, fresh] = loaded_.try_emplace(std::uint64_t{number} << 32 | line, 0);
  FlowArray const& a = arrays_[array];
  if (fresh)
    at->second = add(
        {NameKind::element, format_of(a.type), static_cast<std::uint8_t>(a.bits / 8), number, 0, 0, line});
  return at->second;
}

Name Names::number(double value, Format format, unsigned bytes) {
  numbers_.push_back(value);
  return add(
      {NameKind::number, format, static_cast<std::uint8_t>(bytes), static_cast<Name>(numbers_.size() - 1)});
}

Name Names::sum(Name a, Name b, Format format, unsigned bytes, std::uint32_t line) {
  return add({NameKind::sum, format, static_cast<std::uint8_t>(bytes), a, b, 0, line});
}

Name Names::product(Name a, Name b, Format format, unsigned bytes, std::uint32_t line) {
  return add({NameKind::product, format, static_cast<std::uint8_t>(bytes), a, b, 0, line});
}

Name Names::converted(Name a, Format format, unsigned bytes, std::uint32_t line) {
  if (nodes_[a].format == format && nodes_[a].bytes == bytes) return a;
  std::uint64_t const key = std::uint64_t{a} << 32 | static_cast<std::uint64_t>(format) << 4 | bytes;
  auto const [at, fresh] = converted_.try_emplace(key, 0);
  if (fresh) at->second = add({NameKind::converted, format, static_cast<std::uint8_t>(bytes), a, 0, 0, line});
  return at->second;
}

Name Names::moved(Name a, std::uint32_t writer, std::uint32_t reader) {
  auto const path =
      paths_.try_emplace(std::uint64_t{writer} << 32 | reader, static_cast<std::uint32_t>(paths_.size()));
  auto const [at, fresh] = moved_.try_emplace(std::uint64_t{a} << 32 | path.first->second, 0);
  if (fresh) at->second = add({NameKind::moved, nodes_[a].format, nodes_[a].bytes, a, writer, 0, reader});
  return at->second;
}

bool Names::same_bits(Name x, Name y) const {
  unsigned visits = 4096;
  return same_bits(x, y, visits);
}

/// Instructions round: other ones may give other bits. Of functions that are not followed the operands without names are not known.
bool Names::same_bits(Name x, Name y, unsigned& visits) const {
  while (nodes_[x].kind == NameKind::moved) x = nodes_[x].a;
  while (nodes_[y].kind == NameKind::moved) y = nodes_[y].a;
  NameNode const &a = nodes_[x], &b = nodes_[y];
  if (x == y) return true;
  if (visits == 0 || a.kind != b.kind || a.format != b.format || a.bytes != b.bytes) return false;
  --visits;
  if (a.kind == NameKind::element) return a.a == b.a;
  if (a.kind == NameKind::number)
    return constant(a.a) == constant(b.a) && std::signbit(constant(a.a)) == std::signbit(constant(b.a));
  if (a.line != b.line) return false;
  if (a.kind == NameKind::converted) return same_bits(a.a, b.a, visits);
  if (a.kind != NameKind::sum && a.kind != NameKind::product && a.kind != NameKind::extreme) return false;
  return (same_bits(a.a, b.a, visits) && same_bits(a.b, b.b, visits)) ||
         (same_bits(a.a, b.b, visits) && same_bits(a.b, b.a, visits));
}

Name Names::accumulated(Name a, std::uint32_t product, unsigned row, unsigned column, Format format,
                        std::uint32_t line) {
  unsigned const bytes = format == Format::f64 ? 8 : format == Format::f16 ? 2 : 4;
  return add({NameKind::accumulated, format, static_cast<std::uint8_t>(bytes), a, product, row << 16 | column,
              line});
}

Name Names::function(std::string text, Format format, unsigned bytes, std::uint32_t line,
                     std::vector<Name> args) {
  texts_.push_back(std::move(text));
  args_.push_back(std::move(args));
  return add({NameKind::function, format, static_cast<std::uint8_t>(bytes),
              static_cast<Name>(texts_.size() - 1), 0, 0, line});
}

Name Names::function_of(std::string const& which, std::vector<Word> const& words, std::string text,
                        unsigned bytes, std::uint32_t line) {
  std::vector<std::uint64_t> key{bytes};
  std::vector<Name> args;
  for (Word const& w : words) {
    key.push_back(w.number);
    for (std::uint32_t part : w.part) {
      Name n = part / 8;
      while (nodes_[n].kind == NameKind::moved) n = nodes_[n].a;
      bool const element = n != 0 && nodes_[n].kind == NameKind::element;
      key.push_back(element ? std::uint64_t{1} << 40 | std::uint64_t{nodes_[n].a} << 3 | part % 8
                            : std::uint64_t{n} << 3 | part % 8);
      if (part / 8 != 0 && std::find(args.begin(), args.end(), part / 8) == args.end())
        args.push_back(part / 8);
    }
  }
  auto const [at, fresh] = functions_.try_emplace({which, std::move(key)}, 0);
  if (fresh) at->second = function(std::move(text), Format::integer, bytes, line, std::move(args));
  return at->second;
}

bool Names::comes_from(Name n, Name other) const {
  constexpr std::size_t most = 1 << 12;
  std::vector<Name> work{n};
  for (std::size_t looked = 0; !work.empty(); ++looked) {
    if (work.back() == other || looked == most) return true;
    NameNode const& node = nodes_[work.back()];
    work.pop_back();
    if (node.kind == NameKind::function || node.kind == NameKind::bits)
      work.insert(work.end(), args_[node.a].begin(), args_[node.a].end());
    else if (node.kind == NameKind::accumulated)
      return true;  // of many
    else if (node.kind != NameKind::element && node.kind != NameKind::number)
      work.push_back(node.a);
    if (node.kind == NameKind::sum || node.kind == NameKind::product || node.kind == NameKind::extreme)
      work.push_back(static_cast<Name>(node.b));
  }
  return false;
}

std::uint32_t Names::matrix_product(MatrixProduct product) {
  auto const all = [&](std::vector<Name> const& from, std::vector<std::uint32_t>& to) {
    for (Name const n : from) to.push_back(canonical(n));
    return std::find(to.begin(), to.end(), 0U) == to.end();
  };
  if (!all(product.a, product.plain_a) || !all(product.b, product.plain_b) ||
      !all(product.scale_a, product.plain_scale_a) || !all(product.scale_b, product.plain_scale_b))
    product.plain_a.clear(), product.plain_b.clear();
  products_.push_back(std::move(product));
  return static_cast<std::uint32_t>(products_.size() - 1);
}

bool Names::has_pair(std::uint32_t factor) const {
  if (factor == 0 || sets_.with(factor) != nullptr) return false;
  if (Name const bits = bits_of(factor); bits != 0) return is_pair(nodes_[bits].format);
  return is_pair(format_of(place_of(factor).first->type));
}

std::uint32_t Names::canonical(Name n) const {
  while (nodes_[n].kind == NameKind::moved || nodes_[n].kind == NameKind::converted) n = nodes_[n].a;
  if (nodes_[n].kind == NameKind::bits) return end_ + n;
  return n != 0 && nodes_[n].kind == NameKind::element ? nodes_[n].a : 0;
}

// --------------------------------------------------------------------------------------------- words

Word Names::word(Name n) const {
  Word w;
  for (unsigned i = 0; i < nodes_[n].bytes; ++i) w.part[i] = n * 8 + i;
  w.named = static_cast<std::uint8_t>((1U << nodes_[n].bytes) - 1);
  return w;
}

/// The name whose bytes these are, all of them and in order; 0 if they are no whole name.
Name Names::shared_name(Word const& w, unsigned from, unsigned bytes) const {
  Name const n = w.part[from] / 8;
  if (n == 0 || nodes_[n].bytes != bytes) return 0;
  for (unsigned i = 0; i < bytes; ++i)
    if (w.part[from + i] != n * 8 + i) return 0;
  return n;
}

/// True if an integer is what its bits are, read with a sign (s) or without one (u): of the elements that it is made of, and as sums do
/// not overflow. A negative number has a sign. One that was made of fewer bytes has both.
bool Names::has_sign(Name n, char sign) const {
  constexpr unsigned most = 1U << 12;
  std::vector<Name> work{n};
  unsigned const bytes = nodes_[n].bytes;
  for (unsigned looked = 0; !work.empty(); ++looked) {
    if (looked > most) return false;
    NameNode const& node = nodes_[work.back()];
    work.pop_back();
    switch (node.kind) {
      case NameKind::element: {
        char const type = arrays_[array_of(node.a)].type[0];
        if (sign == 's' ? type == 'u' && node.bytes >= bytes : type == 'i') return false;
        break;
      }
      case NameKind::number:
        if (sign == 'u' && numbers_[node.a] < 0) return false;
        break;
      case NameKind::sum:
      case NameKind::product:
      case NameKind::extreme:
        work.push_back(node.b);
        work.push_back(node.a);
        break;
      case NameKind::converted:
      case NameKind::moved:
        work.push_back(node.a);
        break;
      case NameKind::bits:
        if (sign == 'u') return false;
        break;
      case NameKind::accumulated:  // its factors have no sign of their own here
        return sign == 's';
      case NameKind::function:
        break;
    }
  }
  return true;
}

/// The integer that is not negative and whose bytes the low ones are, the others being 0; 0 if they are no such integer.
Name Names::extended(Word const& w, unsigned from, unsigned bytes) const {
  Name const n = w.part[from] / 8;
  if (n == 0 || nodes_[n].bytes >= bytes || nodes_[n].format != Format::integer ||
      shared_name(w, from, nodes_[n].bytes) == 0 || !has_sign(n, 'u'))
    return 0;
  for (unsigned i = nodes_[n].bytes; i < bytes; ++i)
    if ((w.named >> (from + i) & 1) != 0 || (w.number >> 8 * (from + i) & 0xff) != 0) return 0;
  return n;
}

std::uint32_t Names::source_of(std::uint32_t part) const {
  Name n = part / 8;
  while ((nodes_[n].kind == NameKind::converted || nodes_[n].kind == NameKind::moved) &&
         nodes_[n].format == Format::integer && nodes_[nodes_[n].a].format == Format::integer) {
    n = nodes_[n].a;
    if (part % 8 < nodes_[n].bytes && nodes_[n].bytes < nodes_[part / 8].bytes) part = n * 8 + part % 8;
  }
  return part;
}

Name Names::biased(Name n, std::uint32_t line) {
  return bits_name(word(n), 0, nodes_[n].bytes, Format::integer, line, true);
}

Name Names::unbiased(std::uint32_t part) const {
  NameNode const& node = nodes_[part / 8];
  return node.kind == NameKind::bits && node.c == 1 && part % 8 + 1 == node.bytes ? args_[node.a][0] : 0;
}

/// A bf16 is the upper half of the f32 of its value, and the upper half of an f32 is a bf16 that it is rounded to; 0 if it is neither.
Name Names::half(Word const& w, unsigned from, unsigned bytes, Format format, std::uint32_t line) {
  if (format == Format::f32 && bytes == 4 && (w.named >> from & 3) == 0 &&
      (w.number >> 8 * from & 0xffff) == 0) {
    Name const n = shared_name(w, from + 2, 2);
    if (n != 0 && nodes_[n].format == Format::bf16) return converted(n, Format::f32, 4, line);
  }
  if (format == Format::bf16 && bytes == 2 && w.part[from] % 8 == 2 && w.part[from + 1] == w.part[from] + 1) {
    Name const n = w.part[from] / 8;
    if (nodes_[n].format == Format::f32 && nodes_[n].bytes == 4) return converted(n, Format::bf16, 2, line);
  }
  return 0;
}

/// The integer that was extended to the name whose low bytes these are; 0 if they are no such bytes.
Name Names::narrowed(Word const& w, unsigned from, unsigned bytes) const {
  Name n = w.part[from] / 8;
  for (unsigned i = 0; i < bytes; ++i)
    if (n == 0 || w.part[from + i] != n * 8 + i) return 0;
  while (nodes_[n].format == Format::integer && nodes_[n].bytes > bytes &&
         (nodes_[n].kind == NameKind::converted || nodes_[n].kind == NameKind::moved))
    n = nodes_[n].a;
  if (nodes_[n].kind == NameKind::bits && nodes_[n].c == 0)  // a sign or none was read in another's place
    if (Name const one = shared_name(words_[nodes_[n].b], 0, nodes_[n].bytes); one != 0) n = one;
  return nodes_[n].bytes == bytes && nodes_[n].format == Format::integer ? n : 0;
}

Name Names::whole(Word const& w, unsigned from, unsigned bytes, Format format, std::uint32_t line,
                  char sign) {
  unsigned const mask = ((1U << bytes) - 1) << from;
  if ((w.named & mask) == 0) {
    std::uint64_t const bits =
        bytes == 8 ? w.number : w.number >> 8 * from & ((std::uint64_t{1} << 8 * bytes) - 1);
    return number(value_of_bits(bits, format, bytes), format, bytes);
  }
  Name n = shared_name(w, from, bytes);
  if (n == 0 && format == Format::integer) n = narrowed(w, from, bytes);
  bool const other_sign = n != 0 && format == Format::integer && sign != 'b' && !has_sign(n, sign);
  if (n != 0 && !other_sign && (nodes_[n].format == format || nodes_[n].kind == NameKind::function)) return n;
  if (format == Format::integer)
    if (Name const low = extended(w, from, bytes); low != 0) return converted(low, format, bytes, line);
  if (Name const part = half(w, from, bytes, format, line); part != 0) return part;
  return bits_name(w, from, bytes, format, line);
}

Name Names::bits_name(Word const& w, unsigned from, unsigned bytes, Format format, std::uint32_t line,
                      bool inverted) {
  std::array<std::uint32_t, 11> key{static_cast<std::uint32_t>(format) << 8 | bytes |
                                    (inverted ? 1U << 16 : 0)};
  Word all;
  std::vector<Name> args;
  for (unsigned i = 0; i < bytes; ++i) {
    key[i + 1] = all.part[i] = w.part[from + i];
    if (key[i + 1] != 0)
      all.named = static_cast<std::uint8_t>(all.named | 1U << i);
    else
      all.number |= (w.number >> 8 * (from + i) & 0xff) << 8 * i;
    if (key[i + 1] == 0)
      key[9 + i / 4] |= static_cast<std::uint32_t>(w.number >> 8 * (from + i) & 0xff) << 8 * (i % 4);
    if (Name const one = w.part[from + i] / 8; one != 0 && (args.empty() || args.back() != one))
      args.push_back(one);
  }
  auto const [at, fresh] = bits_.try_emplace(key, 0);
  if (!fresh) return at->second;
  texts_.push_back(format == Format::integer ? "integer" : std::string(name_of(format)));
  args_.push_back(std::move(args));
  words_.push_back(all);
  return at->second = add({NameKind::bits, format, static_cast<std::uint8_t>(bytes),
                           static_cast<Name>(texts_.size() - 1),
                           static_cast<std::uint32_t>(words_.size() - 1), inverted ? 1U : 0U, line});
}

std::string Names::text(FlowTerm const& term) const {
  std::string out;
  for (std::uint32_t const f : term.factors)
    if (f != 0) out += (out.empty() ? "" : "*") + element_text(f);
  if (out.empty()) return fmt::format("{}", term.coefficient);
  return term.coefficient == 1 ? out : fmt::format("{}*{}", term.coefficient, out);
}

std::string Names::text(Name n, unsigned depth) const {
  constexpr unsigned deepest = 4;
  while (nodes_[n].kind == NameKind::moved || nodes_[n].kind == NameKind::converted) n = nodes_[n].a;
  NameNode const& node = nodes_[n];
  if (node.kind == NameKind::element) return element_text(node.a);
  if (node.kind == NameKind::number) return fmt::format("{}", numbers_[node.a]);
  if (node.kind == NameKind::accumulated) return "a sum of products";
  if (depth > deepest) return "..";
  if (node.kind == NameKind::extreme)
    return fmt::format("{}({}, {})", (node.c & 1) != 0 ? "min" : "max", text(node.a, depth + 1),
                       text(node.b, depth + 1));
  if (node.kind == NameKind::sum || node.kind == NameKind::product)
    return fmt::format("{} {} {}", text(node.a, depth + 1), node.kind == NameKind::sum ? "+" : "*",
                       text(node.b, depth + 1));
  std::string of;
  for (Name const a : args_[node.a]) of += (of.empty() ? "" : ", ") + text(a, depth + 1);
  if (node.kind == NameKind::bits) return fmt::format("{}(bits of {})", texts_[node.a], of);
  return texts_[node.a] + (of.empty() ? "" : " " + of);
}

}  // namespace swizproof::flow_detail
