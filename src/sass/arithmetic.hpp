// Arithmetic of words, pairs and truths, which takes no step for what is known.
#pragma once

#include <swizproof/program/builder.hpp>

#include <cstdint>

namespace swizproof::sass {

using program::Action;
using program::Builder;
using program::constant;
using program::reg;
using program::Source;

inline constexpr std::uint64_t ones32 = 0xffffffff;

/// The 64 bits of a word, and a word of 64 bits.
Source zext(Builder& b, Source s);
Source sext(Builder& b, Source s);
Source trunc(Builder& b, Source s);
Source high(Builder& b, Source s);
Source pair(Builder& b, Source low, Source high);

Source choose(Builder& b, Source p, Source yes, Source no, unsigned width);
Source negate(Builder& b, Source p);
Source both(Builder& b, Source p, Source q);
Source either(Builder& b, Source p, Source q);

Source add(Builder& b, Source x, Source y, unsigned width = 32);
Source minus(Builder& b, Source x, unsigned width = 32);
/// x < y.
Source below(Builder& b, Source x, Source y, unsigned width, bool is_signed);
Source arithmetic_shift(Builder& b, Source x, Source n, unsigned width);
Source inverted(Builder& b, Source s, unsigned width);
/// A truth table of two, `lut` bit 2x + y.
Source table2(Builder& b, unsigned lut, Source x, Source y, unsigned width);
/// A truth table of three, `lut` bit 4x + 2y + z, in as few operations as a split at one of them gives.
Source table(Builder& b, unsigned lut, Source x, Source y, Source z, unsigned width);

}  // namespace swizproof::sass
