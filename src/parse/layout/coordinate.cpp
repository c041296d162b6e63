// Functions of coordinates: fn(row, col) = row*64 + (col ^ ((row & 7) << 3)) (64,64).
#include "parse/layout/mapping_parser.hpp"

#include <swizproof/layout/bases.hpp>

#include <numeric>

namespace swizproof {

namespace {

/// Nodes that are evaluated to find out what a function is.
constexpr std::size_t most_evaluated = std::size_t{1} << 26;

/// A function of coordinates and its values at all of them, the first index fastest.
class CoordinateFunction {
 public:
  /// Precondition: the shape has at most 2^40 elements.
  CoordinateFunction(Expression const& expression, std::vector<std::int64_t> const& shape)
      : expression_(expression), shape_(shape) {
    for (std::int64_t const extent : shape_) size_ *= static_cast<std::size_t>(extent);
    known_ = size_ <= most_evaluated / expression.nodes().size();
    for (std::size_t index = 0; known_ && index < size_; ++index) {
      values_.push_back(static_cast<std::int64_t>(at(coordinate(index))));
      known_ = std::abs(values_.back() >> 40) <= 1;
    }
  }

  [[nodiscard]] std::uint64_t at(std::vector<std::uint64_t> const& coordinate) const {
    return expression_(std::span<std::uint64_t const>(coordinate), std::uint64_t{});
  }

  /// The layout that it is: each axis by itself, if every value is the sum of those of its indices.
  [[nodiscard]] std::optional<Layout> layout() const {
    if (!known_ || values_[0] != 0) return std::nullopt;
    std::vector<Layout> modes;
    for (std::size_t m = 0, step = 1; m < shape_.size(); step *= static_cast<std::size_t>(shape_[m++])) {
      std::vector<std::int64_t> along;
      for (std::size_t i = 0; i < static_cast<std::size_t>(shape_[m]); ++i)
        along.push_back(values_[i * step]);
      std::optional<Layout> const mode = along.size() == 1 ? Layout{} : layout_of_values(along);
      if (!mode) return std::nullopt;
      modes.push_back(mode->rank() == 1 ? mode->mode(0) : *mode);
    }
    Layout whole = make_layout(modes);
    return is(whole) ? std::optional(std::move(whole)) : std::nullopt;
  }

  /// The swizzle, or linear map of bits, on a layout that it is.
  [[nodiscard]] std::optional<std::vector<Stage>> linear() const {
    return known_ ? linear_stages(shape_, values_) : std::nullopt;
  }

  /// The expression on a compact layout, in which the axis of the smaller steps comes first: x is its offset, and an axis is
  /// x / step % extent.
  [[nodiscard]] std::vector<Stage> on_compact() const {
    std::vector<std::size_t> axes(shape_.size());
    std::iota(axes.rbegin(), axes.rend(), 0);
    std::stable_sort(axes.begin(), axes.end(),
                     [&](std::size_t a, std::size_t b) { return reach(a) < reach(b); });
    std::vector<IntTuple> extents(shape_.begin(), shape_.end()), strides(shape_.size());
    Expression whole;
    std::vector<std::size_t> roots(shape_.size());
    std::uint64_t step = 1;
    for (std::size_t const axis : axes) {
      auto const extent = static_cast<std::uint64_t>(shape_[axis]);
      strides[axis] = IntTuple(extent == 1 ? 0 : static_cast<std::int64_t>(step));
      std::size_t root = whole.add({Op::variable});
      if (step != 1) root = whole.add({Op::divide, 0, root, whole.add({Op::number, step})});
      if (axis != axes.back()) root = whole.add({Op::remainder, 0, root, whole.add({Op::number, extent})});
      roots[axis] = root;
      step *= extent;
    }
    std::vector<std::size_t> placed;
    for (Expression::Node n : expression_.nodes()) {
      if (n.op == Op::variable) {
        placed.push_back(roots[n.value]);
        continue;
      }
      for (std::size_t* operand : {&n.a, &n.b, &n.c})
        *operand = *operand < placed.size() ? placed[*operand] : 0;
      placed.push_back(whole.add(n));
    }
    if (expression_.nodes().back().op == Op::variable)  // the value is that of the last node
      (void)whole.add({Op::add, 0, placed.back(), whole.add({Op::number, 0})});
    return {std::move(whole), Layout{IntTuple(std::move(extents)), IntTuple(std::move(strides))}};
  }

 private:
  using Op = Expression::Op;

  [[nodiscard]] std::vector<std::uint64_t> coordinate(std::size_t index) const {
    std::vector<std::uint64_t> out;
    for (std::int64_t const extent : shape_) {
      out.push_back(index % static_cast<std::size_t>(extent));
      index /= static_cast<std::size_t>(extent);
    }
    return out;
  }
  /// How far the first step along an axis moves; an axis of one index moves nothing.
  [[nodiscard]] std::uint64_t reach(std::size_t axis) const {
    std::vector<std::uint64_t> from(shape_.size(), 0), to = from;
    to[axis] = shape_[axis] > 1 ? 1 : 0;
    auto const step = static_cast<std::int64_t>(at(to) - at(from));
    return step < 0 ? ~static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  }
  [[nodiscard]] bool is(Layout const& layout) const {
    for (std::size_t index = 0; index < size_; ++index)
      if (static_cast<std::int64_t>(layout(std::uint64_t{index}).elements) != values_[index]) return false;
    return true;
  }

  Expression const& expression_;
  std::vector<std::int64_t> const& shape_;
  std::size_t size_ = 1;
  bool known_ = false;
  std::vector<std::int64_t> values_{};
};

}  // namespace

Mapping coordinate_function(Expression const& expression, std::vector<std::int64_t> const& shape,
                            std::string text) {
  CoordinateFunction const function(expression, shape);
  Mapping map;
  if (auto layout = function.layout())
    map.on_elements = {std::move(*layout)};
  else if (auto stages = function.linear())
    map.on_elements = std::move(*stages);
  if (!map.on_elements.empty()) {
    map.text = to_string(map);
    return map;
  }
  map.on_elements = function.on_compact();
  map.text = std::move(text);
  return map;
}

}  // namespace swizproof
