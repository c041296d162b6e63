// Assumptions about atoms, and values that were computed under them.
#pragma once

#include "memo.hpp"

#include <swizproof/execution/lanes.hpp>
#include <swizproof/execution/terms.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// Assumptions, which change. A value that is kept rests on what was assumed of the atoms that its computation asked about.
class Assumed {
 public:
  /// Set of atoms whose assumptions a value depends on. Slot 0: atoms never assumed.
  struct Asked {
    static constexpr unsigned slots = 256;
    std::array<std::uint64_t, slots / 64> words{};
    void add(unsigned slot) { words[slot / 64] |= std::uint64_t{1} << slot % 64; }
    [[nodiscard]] bool has(unsigned slot) const { return (words[slot / 64] >> slot % 64 & 1) != 0; }
    void join(Asked const& other) {
      for (unsigned i = 0; i < words.size(); ++i) words[i] |= other.words[i];
    }
  };
  /// A value, what it rests on, and the latest assumptions under which it is known to hold.
  template <typename T>
  struct Kept {
    T value{};
    Asked asked{};
    std::uint32_t since = 0;
  };
  /// Values by a key, as keep() adds them.
  template <typename T>
  using Memo = execution::Memo<Kept<T>>;

  explicit Assumed(Execution const& execution) : execution_(execution) {}

  [[nodiscard]] bool nothing() const { return words_.empty() && truths_.empty(); }
  /// Goes on under other assumptions.
  void assume(std::vector<Assumption> const& assumptions);
  /// Assumption about a word, or null; the value that is being computed rests on it.
  [[nodiscard]] Assumption const* of(Id atom);
  /// The same of a truth.
  [[nodiscard]] std::optional<bool> truth_of(Id atom);

  /// A kept value that holds now, on which what is being computed rests then; else null.
  template <typename T>
  [[nodiscard]] T* find(Memo<T>& all, std::uint64_t key) {
    Kept<T>* const found = all.find(key);
    return found != nullptr && holds(*found) ? &found->value : nullptr;
  }
  /// Computes a value and keeps it.
  template <typename T, typename F>
  T& keep(Memo<T>& all, std::uint64_t key, F compute) {
    Asked const before = std::exchange(asked_, {});
    T value = compute();
    Kept<T>& kept = all[key];
    kept.value = std::move(value), kept.asked = asked_, kept.since = now_;
    asked_.join(before);
    return kept.value;
  }
  /// Keeps a value that rests on nothing.
  template <typename T>
  void put(Memo<T>& all, std::uint64_t key, T value) {
    all[key] = {std::move(value), {}, now_};
  }

 private:
  [[nodiscard]] unsigned slot_of(Id atom) const { return atom < slots_.size() ? slots_[atom] : 0; }
  /// Gives an atom a slot of its own, as long as there are any. Precondition: nothing was assumed of it before.
  void give_slot(Id atom);
  /// Notes that what is being computed rests on what is assumed of an atom; true if something may be.
  bool ask(Id atom);
  /// True if none of the atoms that a kept value asked about has changed since. What is being computed rests on it.
  template <typename T>
  bool holds(Kept<T>& kept) {
    if (kept.since != now_) {
      for (unsigned i = 0; i < kept.asked.words.size(); ++i)
        for (std::uint64_t rest = kept.asked.words[i]; rest != 0; rest &= rest - 1)
          if (changed_[64 * i + static_cast<unsigned>(std::countr_zero(rest))] > kept.since) return false;
      kept.since = now_;
    }
    asked_.join(kept.asked);
    return true;
  }

  Execution const& execution_;
  std::unordered_map<Id, Assumption> words_{};
  std::unordered_map<Id, bool> truths_{};
  std::vector<std::uint8_t> slots_{};  ///< by atom; 0: nothing was ever assumed of it
  unsigned slots_given_ = 0;
  std::array<std::uint32_t, Asked::slots> changed_{};  ///< by slot: the assumptions that changed it last
  std::uint32_t now_ = 0;                              ///< how many assumptions there were
  Asked asked_{};                                      ///< by what is being computed
  Asked assumed_at_{};                                 ///< slots of atoms with assumptions
};

}  // namespace swizproof::execution
