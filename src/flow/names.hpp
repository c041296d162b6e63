// Names of data: where a value of a kernel comes from, as a graph of elements, sums and products.
#pragma once

#include <swizproof/flow/flow.hpp>

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

/// Meaning of the bits of a value. All integers are one format: sums and products modulo 2^bits have no sign.
enum class Format : std::uint8_t { integer, f16, bf16, f32, f64, e4m3, e5m2 };
[[nodiscard]] Format format_of(std::string_view type);
[[nodiscard]] std::string_view name_of(Format format);

/// A value of up to 8 bytes: each byte is a byte of `number`, or of a name.
struct Word {
  std::uint64_t number = 0;
  std::array<std::uint32_t, 8> part{};  ///< name * 8 + its byte; 0: a byte of `number`
  std::uint8_t named = 0;               ///< bit i: byte i has a name
};
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
  bits,         ///< read in a format that is not its own, or across elements: of the names args()[a]
  function      ///< not followed: texts()[a], of the names args()[a]
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
};

/// A product of up to three elements, by canonical number; 0: none. Sorted.
struct FlowTerm {
  std::array<std::uint32_t, 3> factors{};
  double coefficient = 1;
};
[[nodiscard]] inline bool before(FlowTerm const& x, FlowTerm const& y) {
  for (std::size_t i = 0; i < 3; ++i)
    if (x.factors[i] != y.factors[i]) return x.factors[i] < y.factors[i];
  return false;
}
/// Sorts terms; most sums are sorted already.
void sort_terms(std::vector<FlowTerm>& terms);

/// The sum of products that a name is, sorted, each product once; or the reason why it is none.
struct FlowSum {
  std::vector<FlowTerm> terms{};
  std::string refused{};
  std::uint32_t line = 0;   ///< of the instruction that is the reason
  std::uint64_t steps = 0;  ///< nodes that were looked at
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
  Name function(std::string text, Format format, unsigned bytes, std::uint32_t line,
                std::vector<Name> args = {});
  std::uint32_t matrix_product(MatrixProduct product);

  /// Canonical number of the element that a name is, through moves and conversions; 0 if it is none. Bits that are read in another
  /// format have a number of their own, behind those of all elements: no expectation has them.
  [[nodiscard]] std::uint32_t canonical(Name n) const;
  [[nodiscard]] std::uint32_t canonical(std::uint32_t array, std::uint64_t index) const {
    return starts_[array] + static_cast<std::uint32_t>(index);
  }
  [[nodiscard]] FlowSum expand(Name n) const;
  /// Instructions that moved an element on its way into a value, the last one first. Of `term` is followed the product that it is.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> way_of(Name n, FlowTerm const& term) const;
  /// Instructions that the last way_of() has left out: they add a sum that holds the element to another product, or multiply it by one number.
  [[nodiscard]] std::vector<std::uint32_t> const& passed() const { return passed_; }
  /// The instruction that adds two values which both hold an element; 0 if none does.
  [[nodiscard]] std::uint32_t added_twice(Name n, std::uint32_t element) const;
  [[nodiscard]] std::string text(FlowTerm const& term) const;
  /// The value of a sum on data; nothing where it has bits that are read in another format.
  [[nodiscard]] std::optional<double> value(
      std::vector<FlowTerm> const& terms,
      std::function<double(FlowArray const&, std::uint64_t)> const& data) const;
  /// `A[0][1]`, or the name of what is not followed.
  [[nodiscard]] std::string text(Name n, unsigned depth = 0) const;

  /// A word that is a whole name.
  [[nodiscard]] Word word(Name n) const;
  /// The name of the bytes [from, from + bytes) of a word, read as a format; of integers `sign` is s, u, or b for either. An element
  /// without a sign is the same with zeros above it.
  Name whole(Word const& w, unsigned from, unsigned bytes, Format format, std::uint32_t line,
             char sign = 'b');
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  Name add(NameNode node);
  /// `i`, `u` or `f` of the element that a name is; 0 of what is none.
  [[nodiscard]] char type_of(Name n) const;
  [[nodiscard]] Name narrowed(Word const& w, unsigned from, unsigned bytes) const;
  [[nodiscard]] Name extended(Word const& w, unsigned from, unsigned bytes) const;
  [[nodiscard]] std::size_t array_of(std::uint32_t number) const;
  [[nodiscard]] std::string element_text(std::uint32_t number) const;
  Name bits_name(Word const& w, unsigned from, unsigned bytes, Format format, std::uint32_t line);
  [[nodiscard]] Name shared_name(Word const& w, unsigned from, unsigned bytes) const;
  bool expand_into(Name n, double coefficient, FlowSum& out, unsigned depth) const;
  void expand_product(NameNode const& node, double coefficient, FlowSum& out, unsigned depth) const;
  void multiply(FlowSum const& a, FlowSum const& b, double coefficient, FlowSum& out,
                std::uint32_t line) const;
  bool find(Name n, std::uint32_t element, std::vector<std::uint32_t>& way, unsigned depth) const;
  /// True if a product or a sum says nothing of where the element in its part `a` comes from.
  [[nodiscard]] bool passes(NameNode const& node, bool first) const;
  [[nodiscard]] bool is_number(Name n) const;

  std::vector<FlowArray> const& arrays_;
  std::vector<NameNode> nodes_;
  std::vector<std::string> texts_;
  std::vector<std::vector<Name>> args_{1};
  std::vector<double> numbers_;
  std::vector<MatrixProduct> products_;
  std::vector<std::uint32_t> starts_{0};  ///< canonical number of each array's first element: from 1 on
  std::uint32_t end_ = 1;                 ///< behind the canonical number of the last element
  std::unordered_map<std::uint64_t, Name> loaded_, moved_, converted_;
  std::map<std::array<std::uint32_t, 11>, Name> bits_;
  /// Nodes that one search for an element has looked at: a search of a sum whose parts are shared may take exponentially many.
  mutable std::uint64_t visits_ = 0;
  mutable std::vector<std::uint32_t> passed_{};
  static constexpr std::uint64_t most_visits = std::uint64_t{1} << 20;
};

/// The number that bits are in a format, and back; nothing where it is not exact.
[[nodiscard]] double value_of_bits(std::uint64_t bits, Format format, unsigned bytes);
[[nodiscard]] bool bits_of_value(double value, Format format, std::uint64_t& bits);

}  // namespace swizproof::flow_detail
