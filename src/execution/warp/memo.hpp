// Values by a key, which stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// Values by a key, without removal. References to them hold until the map ends or is cleared, also if it is moved to another. Unlike an unordered_map,
/// it takes no memory of its own for each value. Checked by Memo.IsAMap.
template <typename T>
class Memo {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The value of a key, or null.
  [[nodiscard]] T* find(std::uint64_t key) {
    std::uint32_t const at = places_.empty() ? 0 : places_[place_of(key)];
    return at == 0 ? nullptr : &entry(at).second;
  }
  /// The value of a key; a new one if it has none.
  T& operator[](std::uint64_t key) {
    if (2 * (size_ + 1) > places_.size()) grow();
    std::uint32_t& at = places_[place_of(key)];
    if (at == 0) {
      if (size_ % chunk == 0) chunks_.emplace_back().reserve(chunk);
      chunks_.back().emplace_back(key, T{});
      at = ++size_;
    }
    return entry(at).second;
  }
  void clear() { *this = {}; }

 private:
  using Entry = std::pair<std::uint64_t, T>;
  static constexpr std::uint32_t chunk = 32;

  [[nodiscard]] Entry& entry(std::uint32_t place) {
    return chunks_[(place - 1) / chunk][(place - 1) % chunk];
  }
  /// The place of a key, or the one that it would get.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) {
    std::size_t const mask = places_.size() - 1;
    std::size_t at = key * 0x9E3779B97F4A7C15U >> 32 & mask;
    while (places_[at] != 0 && entry(places_[at]).first != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    places_.assign(places_.empty() ? 16 : 2 * places_.size(), 0);
    for (std::uint32_t i = 1; i <= size_; ++i) places_[place_of(entry(i).first)] = i;
  }

  std::vector<std::uint32_t> places_{};       ///< of a hash: the number of an entry, from 1 on, or 0
  std::vector<std::vector<Entry>> chunks_{};  ///< none grows beyond what it reserves
  std::uint32_t size_ = 0;
};

}  // namespace swizproof::execution
