// Random numbers from which the cases are drawn.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace reference {

/// A stream of numbers that its seed alone decides, on every machine (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// One of 0 .. bound-1.
  long long below(long long bound) {
    return static_cast<long long>(next() % static_cast<std::uint64_t>(bound));
  }

  /// One of first .. last.
  long long between(long long first, long long last) { return first + below(last - first + 1); }

  /// True in `percent` of 100 draws.
  bool chance(int percent) { return below(100) < percent; }

  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<long long>(values.size()))];
  }
  template <class T>
  T const& pick(std::vector<T> const& values) {
    return values[static_cast<std::size_t>(below(static_cast<long long>(values.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace reference
