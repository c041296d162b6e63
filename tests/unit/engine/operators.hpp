// The operators of terms, and what each is on numbers: what every engine and every printed form must agree with.
#pragma once

#include <swizproof/engine/term.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace swizproof {

struct Operator {
  char const* name;
  std::function<Term(Term, Term)> term;
  std::function<std::uint64_t(std::uint64_t, std::uint64_t)> number;
};

/// All of them, on words of `width` bits.
inline std::vector<Operator> operators(unsigned width) {
  using T = Term;
  using N = std::uint64_t;
  N const mask = width >= 64 ? ~N{0} : (N{1} << width) - 1;
  return {
      {"xor", [](T a, T b) { return a ^ b; }, [](N a, N b) { return a ^ b; }},
      {"and", [](T a, T b) { return a & b; }, [](N a, N b) { return a & b; }},
      {"or", [](T a, T b) { return a | b; }, [](N a, N b) { return a | b; }},
      {"add", [](T a, T b) { return a + b; }, [mask](N a, N b) { return (a + b) & mask; }},
      {"sub", [](T a, T b) { return a - b; }, [mask](N a, N b) { return (a - b) & mask; }},
      {"mul", [](T a, T b) { return a * b; }, [mask](N a, N b) { return a * b & mask; }},
      {"udiv", [](T a, T b) { return a / b; }, [mask](N a, N b) { return b == 0 ? mask : a / b; }},
      {"urem", [](T a, T b) { return a % b; }, [](N a, N b) { return b == 0 ? a : a % b; }},
      {"shl", [](T a, T b) { return shl(a, b); }, [=](N a, N b) { return b < width ? a << b & mask : 0; }},
      {"lshr", [](T a, T b) { return shr(a, b); }, [=](N a, N b) { return b < width ? a >> b : 0; }},
      {"ult", [](T a, T b) { return select(a < b, like(a, 1), like(a, 0)); },
       [](N a, N b) { return N{a < b}; }},
      {"ite", [](T a, T b) { return select(a == b, a + b, a ^ b); },
       [mask](N a, N b) { return a == b ? (a + b) & mask : a ^ b; }},
      {"truths", [](T a, T b) { return select((a < b && !(a == 0)) || a == b, a, b); },
       [](N a, N b) { return (a < b && a != 0) || a == b ? a : b; }}};
}

}  // namespace swizproof
