// Names of data: where a value of a kernel comes from, as a graph of elements, sums and products.
#pragma once

#include <swizproof/flow/flow.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace swizproof::flow_detail {

/// A node of the graph; 0 is none.
using Name = std::uint32_t;

/// Meaning of the bits of a value. All integers are one format: sums and products modulo 2^bits have no sign. The last three are pairs of
/// numbers of 4 bits, the first one in the lower bits: a product of two pairs is x.lo*y.lo + x.hi*y.hi, and is followed as one product.
enum class Format : std::uint8_t { integer, f16, bf16, f32, f64, e4m3, e5m2, e8m0, e2m1x2, s4x2, u4x2 };
[[nodiscard]] constexpr bool is_pair(Format format) { return format >= Format::e2m1x2; }
[[nodiscard]] Format format_of(std::string_view type);
[[nodiscard]] std::string_view name_of(Format format);
/// Type of a pair of elements of 4 bits; another type is itself. `pair_type("s4") == "s4x2"`
[[nodiscard]] std::string pair_type(std::string_view type);
/// Bits of a fraction: 23 of f32; 52 of integers.
[[nodiscard]] unsigned fraction_bits_of(Format format);

/// A value of up to 8 bytes: each byte is a byte of `number`, or of a name.
struct Word {
  std::uint64_t number = 0;
  std::array<std::uint32_t, 8> part{};  ///< name * 8 + its byte; 0: a byte of `number`
  std::uint8_t named = 0;               ///< bit i: byte i has a name
  std::uint16_t origin = 0;  ///< 1 + the variable whose address a number is, as places.hpp has it; 0: none

  [[nodiscard]] friend bool operator==(Word const&, Word const&) = default;
};
inline constexpr std::uint16_t several_origins = 0xffff;  ///< origin of a number that several addresses made
[[nodiscard]] inline Word plain(std::uint64_t number) {
  Word w;
  w.number = number;
  return w;
}

/// Kinds of nodes.
enum class NameKind : std::uint8_t {
  element,      ///< a: canonical number of the element, line: what loaded it
  number,       ///< a: index in numbers()
  sum,          ///< a + b
  product,      ///< a * b
  converted,    ///< a in another format
  moved,        ///< a, written by instruction b and read by instruction line
  accumulated,  ///< a (or 0) + row and column (c) of matrix product b
  extreme,      ///< the larger of a and b; c & 1: the smaller; c & 2: of integers without a sign
  bits,  ///< bytes()[b] in a format that is not their own, of the names args()[a]; c: with the top bit inverted
  function  ///< value that is not followed: texts()[a], of the names args()[a]
};

struct NameNode {
  NameKind kind = NameKind::element;
  Format format = Format::integer;
  std::uint8_t bytes = 4;
  Name a = 0;
  std::uint32_t b = 0, c = 0;
  std::uint32_t line = 0;  ///< index of the instruction
};

/// One mma: names of A and B, row by row.
struct MatrixProduct {
  unsigned m = 0, n = 0, k = 0;
  std::uint32_t line = 0;
  std::vector<Name> a{}, b{};                       ///< m x k, k x n
  std::vector<std::uint32_t> plain_a{}, plain_b{};  ///< canonical elements, where all are; else empty
  unsigned block = 0;                      ///< elements of k that a scale factor multiplies; 0: no scales
  std::vector<Name> scale_a{}, scale_b{};  ///< m x blocks, blocks x n
  std::vector<std::uint32_t> plain_scale_a{}, plain_scale_b{};

  [[nodiscard]] std::size_t in_a(unsigned row, unsigned at) const { return std::size_t{row} * k + at; }
  [[nodiscard]] std::size_t in_b(unsigned at, unsigned column) const { return std::size_t{at} * n + column; }
  /// Places of the scale factors of element `at` of k.
  [[nodiscard]] std::size_t in_scale_a(unsigned row, unsigned at) const {
    return std::size_t{row} * (k / block) + at / block;
  }
  [[nodiscard]] std::size_t in_scale_b(unsigned at, unsigned column) const {
    return std::size_t{at / block} * n + column;
  }
};

/// Most elements of a product.
inline constexpr std::size_t most_factors = 4;
/// Elements of a product, by canonical number, sorted; 0: none.
using Factors = std::array<std::uint32_t, most_factors>;

/// A product of up to four elements.
struct FlowTerm {
  Factors factors{};
  double coefficient = 1;
};
/// One element.
[[nodiscard]] inline FlowTerm term_of(std::uint32_t factor, double coefficient = 1) {
  return {{0, 0, 0, factor}, coefficient};
}
[[nodiscard]] inline bool before(FlowTerm const& x, FlowTerm const& y) { return x.factors < y.factors; }
/// The number that an element is, of an array whose numbers are given.
[[nodiscard]] double value_of_element(FlowArray const& array, std::uint64_t index);
/// Coefficients of a sum of integers, which is one modulo 2^(8 * bytes); terms with 0 are left out.
void wrap_coefficients(std::vector<FlowTerm>& terms, unsigned bytes);
/// Sorts terms, joins those of one product, and leaves out those with coefficient 0.
void merge_terms(std::vector<FlowTerm>& terms);
/// Terms of `a` that `b` lacks, or has with another coefficient. Precondition: both are merged.
[[nodiscard]] std::vector<FlowTerm> difference(std::vector<FlowTerm> const& a,
                                               std::vector<FlowTerm> const& b);

/// The sum of products that a name is, sorted, each product once; or the reason why it is none.
struct FlowSum {
  std::vector<FlowTerm> terms{};
  std::string refused{};
  std::uint32_t line = 0;   ///< line of the instruction that is the reason
  std::uint64_t steps = 0;  ///< nodes that were looked at
  bool widened =
      false;  ///< it has a sum or product of integers in fewer bits, taken as one that has not wrapped
  bool real = false;  ///< it has floating-point numbers that are computed or converted, taken as exact
  unsigned fraction_bits = 52;  ///< of the coarsest format of these; 52 without one
  bool whole = true;            ///< all of its numbers are integers
  /// Takes over what a part of it assumes.
  void note(FlowSum const& part) {
    widened = widened || part.widened, real = real || part.real;
    fraction_bits = std::min(fraction_bits, part.fraction_bits), whole = whole && part.whole;
  }
};

/// Sets of sums whose largest or smallest is a factor. Each has a number, behind those of all other factors.
class ExtremeSets {
 public:
  struct Extreme {
    bool smallest = false;
    std::vector<std::vector<FlowTerm>> members{};
  };
  /// The largest or smallest of sums: one of them, or a factor. Equal sets are one factor; sets that are not equal may have one value all the
  /// same. Members of one kind are joined, and so are constants. Checked by tests/reference/flow_expectations.py.
  [[nodiscard]] std::vector<FlowTerm> of(bool smallest, std::vector<std::vector<FlowTerm>> members);
  /// The set of a factor; nullptr of another factor.
  [[nodiscard]] Extreme const* with(std::uint32_t factor) const {
    return factor > ~static_cast<std::uint32_t>(sets_.size()) ? &sets_[~factor] : nullptr;
  }
  std::unordered_map<Name, FlowSum> expanded{};  ///< of names that are such

 private:
  std::vector<Extreme> sets_{};
  std::map<std::vector<double>, std::uint32_t> numbers_{};
};

/// The names of one block.
class Names {
 public:
  explicit Names(std::vector<FlowArray> const& arrays);

  [[nodiscard]] NameNode const& operator[](Name n) const { return nodes_[n]; }
  Name element(std::uint32_t array, std::uint64_t index, std::uint32_t line);
  Name number(double value, Format format, unsigned bytes);
  Name sum(Name a, Name b, Format format, unsigned bytes, std::uint32_t line);
  Name product(Name a, Name b, Format format, unsigned bytes, std::uint32_t line);
  Name converted(Name a, Format format, unsigned bytes, std::uint32_t line);
  Name moved(Name a, std::uint32_t writer, std::uint32_t reader);
  Name accumulated(Name a, std::uint32_t product, unsigned row, unsigned column, Format format,
                   std::uint32_t line);
  /// The larger or smaller of two values. `is_unsigned`: of integers that have no sign.
  Name extreme(Name a, Name b, bool smaller, bool is_unsigned, std::uint32_t line);
  Name function(std::string text, Format format, unsigned bytes, std::uint32_t line,
                std::vector<Name> args = {});
  /// Name of an opaque function: equal words, also moved ones, have one name. `which`: the function.
  Name function_of(std::string const& which, std::vector<Word> const& words, std::string text, unsigned bytes,
                   std::uint32_t line);
  /// True if a value may be one of another name's.
  [[nodiscard]] bool comes_from(Name n, Name other) const;
  /// True if a factor is an element, or bits, in a format of pairs.
  [[nodiscard]] bool has_pair(std::uint32_t factor) const;
  /// The name before its moves.
  [[nodiscard]] Name unmoved(Name n) const {
    while (nodes_[n].kind == NameKind::moved) n = nodes_[n].a;
    return n;
  }
  std::uint32_t matrix_product(MatrixProduct product);

  /// Canonical number of the element that a name is, through moves and conversions; 0 if it is none. Bits that are read in another
  /// format have a number of their own, behind those of all elements: no expectation has them.
  [[nodiscard]] std::uint32_t canonical(Name n) const;
  [[nodiscard]] std::uint32_t canonical(std::uint32_t array, std::uint64_t index) const {
    return starts_[array] + static_cast<std::uint32_t>(index);
  }
  /// `sizes`: a coefficient is the sum of its parts without signs; for a name without largest or smallest of sets.
  [[nodiscard]] FlowSum expand(Name n, bool sizes = false) const;
  [[nodiscard]] ExtremeSets& sets() const { return sets_; }
  [[nodiscard]] std::string text(FlowTerm const& term) const;
  /// Parts of nodes, by the numbers that these hold.
  [[nodiscard]] Word const& bytes(std::uint32_t b) const { return words_[b]; }
  [[nodiscard]] double constant(Name a) const { return numbers_[a]; }
  [[nodiscard]] std::vector<Name> const& args(Name a) const { return args_[a]; }
  [[nodiscard]] MatrixProduct const& matrices(std::uint32_t b) const { return products_[b]; }
  /// The array of an element's canonical number, and its index there; the name of bits, which has such a number, too.
  [[nodiscard]] std::pair<FlowArray const*, std::uint64_t> place_of(std::uint32_t number) const;
  [[nodiscard]] Name bits_of(std::uint32_t number) const {
    return number < end_ || sets_.with(number) != nullptr ? 0 : number - end_;
  }
  /// `A[0][1]`, or a description of a value that is not followed.
  [[nodiscard]] std::string text(Name n, unsigned depth = 0) const;

  /// A word that is a whole name.
  [[nodiscard]] Word word(Name n) const;
  /// The name of the bytes [from, from + bytes) of a word, read as a format; of integers `sign` is s, u, or b for either. An element
  /// without a sign is the same with zeros above it.
  Name whole(Word const& w, unsigned from, unsigned bytes, Format format, std::uint32_t line,
             char sign = 'b');
  /// The byte of the shorter integer for a byte of an extended one; the same byte for other names.
  [[nodiscard]] std::uint32_t source_of(std::uint32_t part) const;
  /// An integer with its top bit inverted: the integer plus 2^(bits - 1).
  Name biased(Name n, std::uint32_t line);
  /// The integer whose biased form has this byte on top; 0 if it is no such byte.
  [[nodiscard]] Name unbiased(std::uint32_t part) const;
  /// The name whose bytes these are, all of them and in order; 0 if they are no whole name.
  [[nodiscard]] Name shared_name(Word const& w, unsigned from, unsigned bytes) const;
  /// True if two names are the same bits: of one element, or results of the same instructions of such. Checked by
  /// Races.KnowEqualResults.
  [[nodiscard]] bool same_bits(Name x, Name y) const;
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  bool same_bits(Name x, Name y, unsigned& visits) const;
  Name add(NameNode node);
  [[nodiscard]] bool has_sign(Name n, char sign) const;
  [[nodiscard]] Name half(Word const& w, unsigned from, unsigned bytes, Format format, std::uint32_t line);
  [[nodiscard]] Name narrowed(Word const& w, unsigned from, unsigned bytes) const;
  [[nodiscard]] Name extended(Word const& w, unsigned from, unsigned bytes) const;
  [[nodiscard]] std::size_t array_of(std::uint32_t number) const;
  [[nodiscard]] std::string element_text(std::uint32_t number) const;
  Name bits_name(Word const& w, unsigned from, unsigned bytes, Format format, std::uint32_t line,
                 bool inverted = false);

  std::vector<FlowArray> const& arrays_;
  std::vector<NameNode> nodes_;
  std::vector<std::string> texts_;
  std::vector<std::vector<Name>> args_{1};
  std::vector<double> numbers_;
  std::vector<MatrixProduct> products_;
  std::vector<Word> words_;
  std::vector<std::uint32_t> starts_{0};  ///< canonical number of each array's first element: from 1 on
  std::uint32_t end_ = 1;                 ///< behind the canonical number of the last element
  std::unordered_map<std::uint64_t, Name> loaded_, moved_, converted_;
  std::unordered_map<std::uint64_t, std::uint32_t> paths_;  ///< numbers of pairs of writer and reader
  std::map<std::array<std::uint32_t, 11>, Name> bits_;
  std::map<std::pair<std::string, std::vector<std::uint64_t>>, Name> functions_;
  mutable ExtremeSets sets_{};  ///< numbered where they are met, also those of expectations
};

/// The two's complement number that the low `width` bits are: 1 to 64. `signed_of(0xff, 8) == -1`.
[[nodiscard]] inline std::int64_t signed_of(std::uint64_t bits, unsigned width) {
  return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
}

/// The number that bits are in a format, and back; nothing where it is not exact.
[[nodiscard]] double value_of_bits(std::uint64_t bits, Format format, unsigned bytes);
[[nodiscard]] bool bits_of_value(double value, Format format, std::uint64_t& bits);

}  // namespace swizproof::flow_detail
