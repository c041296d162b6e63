// Shapes, strides, layouts and tilers: the parts of every LAYOUT.
#pragma once

#include "parse/text/scanner.hpp"

#include <swizproof/layout/algebra.hpp>

#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace swizproof {

/// Fault of a layout as a Layout, whose numbers have bounds.
enum class Defect : std::uint8_t { none, extent, size, reach };
[[nodiscard]] Defect defect(Layout const& layout);
[[nodiscard]] std::string_view explain(Defect defect);

/// The text as a function of coordinates, where `name` is one that a formula without `fn` has; else empty.
[[nodiscard]] std::string formula_hint(Scanner const& in, std::string_view name);

/// Reads from a scanner that its owner shares with other parsers.
class LayoutParser {
 public:
  /// `named` reads what begins with a letter inside a tiler: a function call.
  explicit LayoutParser(Scanner& in, std::function<Tiler()> named = {}) : in_(in), named_(std::move(named)) {}

  /// Sets whether `8` is read as `_8` from here on, or as it is spelled. Returns the value before.
  bool read_all_static(bool all_static) { return std::exchange(all_static_, all_static); }
  [[nodiscard]] bool reads_all_static() const { return all_static_; }

  /// `8`, `(_8,(2,4))`; as C++ and Python write it, `Shape<_8,Shape<_2,_4>>{}` and `make_shape(Int<8>{}, ...)`.
  [[nodiscard]] IntTuple shape();
  /// Reads the same as shape(), and coordinate strides: `(_1@0,5@1@0)`, in CuTe 3.0 `(0:_1,1:0:5)`.
  [[nodiscard]] IntTuple strides();
  /// The strides of `shape`, which began at `from`, behind its ':'. Checks what a Layout promises.
  [[nodiscard]] Layout layout(IntTuple shape, std::size_t from);
  /// shape:stride, or as a type.
  [[nodiscard]] Layout layout();
  /// True at `Layout<`.
  [[nodiscard]] bool at_layout_type();
  /// `Layout<Shape<_8,_64>,Stride<_64,_1>>{}`; without strides the first index is contiguous, as in CuTe.
  [[nodiscard]] Layout layout_type();
  /// `LayoutRight{}`, `GenColMajor`, if one comes next.
  [[nodiscard]] std::optional<Order> order();
  /// True at a number, a shape or strides by a name: `Int<8>{}`, `make_shape(`, `Shape<`.
  [[nodiscard]] bool at_named_number();
  /// Defines `name` as a number from here on.
  void define(std::string name, std::int64_t value) { constants_[std::move(name)] = value; }
  /// Defines `name` as a shape or as strides from here on.
  void define(std::string name, IntTuple tuple) {
    tuples_.insert_or_assign(std::move(name), std::move(tuple));
  }
  /// Counts the letters that a name at `from` stands for. Definitions of definitions that grow without end are refused.
  void expand(std::size_t letters, std::size_t from);
  /// True at a number that has a name, `kBlockM` after `kBlockM = 128;`.
  [[nodiscard]] bool at_constant();
  /// `128`, `64*2`, `1 << 4`, `kBlockM + 8`: numbers and names of numbers in C's arithmetic.
  [[nodiscard]] std::int64_t constant();
  /// The same between < and > of a type, where > is no comparison.
  [[nodiscard]] std::int64_t constant_in_angles();
  /// `_`, an integer, a layout, or a tuple of these.
  [[nodiscard]] Tiler tiler();

  /// A name stands where a number must.
  [[noreturn]] void fail_at_name();
  /// Refuses what overflows, or an extent below 1, at the text from `from` to here.
  void check(Layout const& layout, std::size_t from, std::size_t stride_from) const;

 private:
  IntTuple tuple(bool strides, int depth);
  IntTuple leaf(bool strides, bool inside);
  /// `Int<8>{}`, `C<8>`, `integral_constant<int, 8>`; among strides `E<0>`. Nothing where none comes next.
  std::optional<IntTuple> named_integer(bool strides);
  /// Passes `make_shape(` or `Shape<`, and `(` alone; returns what closes it, or 0 where no tuple begins.
  char take_opening();

  Scanner& in_;
  std::function<Tiler()> named_;
  /// A name of define() for a shape or strides; `LayoutRight::Apply<Shape<_8,_64>>`, the strides of a shape without gaps. Nothing
  /// where none comes next.
  std::optional<IntTuple> named_tuple();
  bool at_named_tuple();
  std::optional<Order> order_name();
  /// C's integer arithmetic, from what binds least: shifts, sums, products, factors.
  std::int64_t shift();
  std::int64_t sum();
  std::int64_t product();
  std::int64_t factor();

  std::optional<std::int64_t> function_of_numbers();
  bool at_operator();

  bool in_angles_ = false;  ///< between < and > of a type, where >> is no operator
  bool all_static_ = false;
  std::map<std::string, std::int64_t, std::less<>> constants_{};
  std::map<std::string, IntTuple, std::less<>> tuples_{};
  std::size_t expanded_ = 0;  ///< letters of the definitions that were put where their names stand
  int depth_ = 0;
};

}  // namespace swizproof
