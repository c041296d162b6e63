// One case of `views`: what print() prints of a view of CuTe, and its elements.
#pragma once

#define CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED
#include <cute/atom/mma_atom.hpp>
#include <cute/tensor.hpp>

#include <cstdio>

using namespace cute;

/// A tensor whose element is its own offset.
template <class Layout>
auto counting(Layout const& layout) {
  return make_tensor(counting_iterator<int>{0}, layout);
}

/// The layout of a tensor or of a layout, and the elements of a tensor of counting().
template <class View>
void view(int number, View const& of) {
  std::printf("# view %d\n", number);
  if constexpr (is_layout<View>::value || is_composed_layout<View>::value) {
    print(of);
    std::printf("\n");
    for (int i = 0; i < int(size(of)); ++i) std::printf("%d ", int(of(i)));
  } else {
    print(of.layout());
    std::printf("\n");
    for (int i = 0; i < int(size(of)); ++i) std::printf("%d ", int(of(i)));
  }
  std::printf("\n# end\n");
}

/// A fragment: its layout alone, for its elements are registers.
template <class Fragment>
void fragment(int number, Fragment const& of) {
  view(number, of.layout());
}

/// The layout that GIVEN of `views` stands for.
template <class Layout>
void given(int number, Layout const& layout) {
  std::printf("# given %d\n", number);
  print(layout);
  std::printf("\n# end\n");
}

/// The block that `text` of `views` stands for.
template <class Copy>
void block(int number, Copy const& copy) {
  std::printf("# block %d\n", number);
  print(copy);
  std::printf("# end\n");
}
