#include "generators/generators.hpp"

#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace swizproof {
namespace {

/// Parses, or throws InputError with a place inside the text; nothing else ever happens.
template <class Parse>
void must_not_crash(std::string const& text, Parse const& parse) {
  try {
    parse(text);
  } catch (InputError const& error) {
    RC_ASSERT(!error.message.empty());
    RC_ASSERT(error.at <= text.size());
  }
}

rc::Gen<std::string> near_grammar() {
  return rc::gen::map(
      rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
          "(", ")", ",", ":", "_", "8", "64", "0", "-1", "Sw<3,4,3>", "Sw<", ">", " o ", "_0",
          "smem_ptr[16b](unset)", "fn(x) = ", "x", "^", ">>", "& 0x70", "tma:", "128B", "M_0|(64&64)=64", "@",
          "999999999999999999999", "ld.shared.b128", "row = ", "byte = ", "Layout<", "Shape<", "Stride<",
          "Int<", "E<", "{}", ";", "cute::", "cute.", "make_layout(", "make_shape(", "stride=", "LayoutRight",
          "ComposedLayout<", "smem_ptr_flag_bits<", "decltype(", "using X = ", "GMMA::Layout_K_SW128_Atom<",
          "Layout_SW64_Atom<", "half_t", "GMMA::Major::K", "Swizzle<3,3,3>", "Swizzle(", "make_swizzle[",
          "make_ldmatrix_swizzle[", "]", "Layout.row_major(", "CU_TENSOR_MAP_SWIZZLE_", "m",
          "let y = ", "fn(row, col) = ", "threadIdx.x", "LDSM.16.M88.4",
          "ld.shared.v4.f32: ", "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}",
          "#ttg.nvmma_shared<{", "swizzlingByteWidth = 128, elementBitWidth = 16",
          "#ttg.padded_shared<[8:+2] {order = [1, 0], shape = [8, 8]",
          "#ttg.shared_linear<{offset = [[0, 1], [1, 0]]", "}> (8,64)", "}>", "[", "]",
          "!ttg.memdesc<8x64xf16, ", "#smem", "TiledMMA", "TiledCopy", " tile ", "lane", "/8", "%", "?", "\n",
          "\xff")),
      [](std::vector<std::string> const& parts) {
        std::string text;
        for (std::string const& p : parts) text += p;
        return text;
      });
}

RC_GTEST_PROP(Parser, NeverCrashesOnTextNearTheGrammar, ()) {
  std::string const text = *near_grammar();
  must_not_crash(text, [](std::string const& t) { (void)parse_mapping(t); });
  must_not_crash(text, [](std::string const& t) { (void)parse_access(t); });
}

RC_GTEST_PROP(Parser, NeverCrashesOnAnyText, (std::string text)) {
  must_not_crash(text, [](std::string const& t) { (void)parse_mapping(t); });
  must_not_crash(text, [](std::string const& t) { (void)parse_access(t); });
}

RC_GTEST_PROP(Parser, RefusesEveryProperPrefixOfALayoutOrReadsLess, ()) {
  Mapping const map = *any_mapping();
  RC_PRE(!index_below_zero(map).has_value());
  classify(map);
  std::string const text = map.text;
  std::size_t const cut = *rc::gen::inRange<std::size_t>(0, text.size());
  must_not_crash(text.substr(0, cut), [](std::string const& t) {
    Mapping const read = parse_mapping(t);
    RC_ASSERT(read.text == t || t.ends_with(' '));
  });
}

}  // namespace
}  // namespace swizproof
