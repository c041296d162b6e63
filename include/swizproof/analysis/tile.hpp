// Which thread holds which element of a tile that several threads share.
#pragma once

#include <swizproof/engine/decide.hpp>
#include <swizproof/layout/layout.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace swizproof {

/// A tile in the registers of threads: (thread, value) -> i + I j.
struct HeldTile {
  Layout thread_values{};
  std::array<std::int64_t, 2> extents{1, 1};  ///< I, J

  [[nodiscard]] std::uint64_t threads() const {
    return static_cast<std::uint64_t>(thread_values.mode(0).size());
  }
  [[nodiscard]] std::uint64_t values() const {
    return static_cast<std::uint64_t>(thread_values.mode(1).size());
  }
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(extents[0] * extents[1]); }
  /// The element i + I j that is a value of a thread.
  [[nodiscard]] std::uint64_t at(std::uint64_t thread, std::uint64_t value) const {
    std::array<std::uint64_t, 2> const place{thread, value};
    return thread_values(std::span<std::uint64_t const>(place)).elements;
  }
};

/// True if every element is held: the answer, and by how many (thread, value) an element is held at least and at most.
struct HolderCount {
  Answer answer{};
  std::uint64_t least = 0, most = 0;
  std::uint64_t missing = 0;  ///< the first element i + I j that no thread holds, where there is one
  std::optional<std::array<std::uint64_t, 2>>
      outside{};  ///< the first thread and value of an element outside of the tile
};

/// Counts the holders of each element, over all threads and values, and has the layout's inverse confirm it.
/// An element outside of the tile refutes it. Throws Disagreement.
[[nodiscard]] HolderCount count_holders(HeldTile const& tile);

/// Threads that hold an element as the same value.
struct TileHolders {
  std::uint64_t value = 0;
  std::vector<unsigned> threads{};  ///< ascending
};

/// Every holder of an element, by ascending values.
[[nodiscard]] std::vector<TileHolders> holders_of(HeldTile const& tile, std::uint64_t element);

/// Values that a copy moves to or from the registers of a tile.
struct TileMovement {
  Layout moved{};      ///< (thread, value of the copy) -> element
  Layout registers{};  ///< value of the copy -> register, by the retiled fragment
  Layout held{};       ///< (thread, register) -> element that the operand has there
};

/// A value of a copy that is another element than its register's.
struct WrongRegister {
  std::uint64_t thread = 0, value = 0, reg = 0;
  std::uint64_t moved = 0, held = 0;  ///< elements
};

/// True if every value of every thread is its register's element; else the first, by threads and then by values, that is not.
struct TileDelivery {
  Answer answer{};
  std::optional<WrongRegister> first{};
};

/// Decides it. Precondition: as many values in `moved` as in `registers`, as many threads in `moved` as in `held`.
[[nodiscard]] TileDelivery deliver(TileMovement const& movement, Limits const& limits);

}  // namespace swizproof
