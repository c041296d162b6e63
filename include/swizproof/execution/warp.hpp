// Terms of an execution, seen by one warp: 32 numbers plus a sum that all lanes share.
//
//   value of lane l = lane[l] + sum of coefficient * atom   (mod 2^bits)
//
// An atom is a node whose value is the same in all lanes, and not known. The rules are those of arithmetic modulo 2^bits; a
// rule that needs more (no carry, no wrap, a multiple of a power of two) is applied where it is shown from known zero bits and
// upper bounds, and nowhere else. Where it is not, the value is `stuck`, and `request` names the atom whose low bits, or value,
// would settle it: the caller tries all of them.
#pragma once

#include <swizproof/execution/facts.hpp>
#include <swizproof/execution/lanes.hpp>
#include <swizproof/execution/launch.hpp>
#include <swizproof/execution/terms.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// One warp of a block. Not shared between threads.
class Warp {
 public:
  /// The number of one that stands for all warps of a block: what holds in it holds in each. tid.x is then a number of the lane plus
  /// 32 times a number of the warp that is not known, in a block of 256 threads. Only of a block for which lanes_of() has an answer.
  static constexpr unsigned every = ~0U;
  /// Threads of each dimension that the lanes of a warp have, where all warps have the same ones: of 16 x 16 threads 16, 2 and 1; nothing
  /// where a row of threads ends within a warp in one and not in another, or the last warp is not whole. Checked by
  /// PtxWarp.OneStandsForAll.
  [[nodiscard]] static std::optional<std::array<std::uint32_t, 3>> lanes_of(Launch const& launch);

  /// `clean`: the same warp without assumptions, which decides loops for this one while something is assumed; it must live as long. If none is
  /// given, it has one of its own.
  Warp(Program const& program, Flow const& flow, Execution& execution, Launch const& launch, unsigned number,
       Warp* clean = nullptr);

  /// Value of a node modulo 2^bits (at most its width).
  Lanes const& value(std::uint32_t node, unsigned bits);
  LaneTruths truth(std::uint32_t node);
  /// Known of a node in every warp.
  Facts facts(std::uint32_t node);
  /// Trailing zeros that a node surely has.
  unsigned trailing_zeros(std::uint32_t node);

  /// True if all lanes that enter a loop leave it in the same iteration.
  bool exits_together(std::int32_t loop);
  /// Goes on under other assumptions. Values that rest on none of those that differ are kept.
  void assume(std::vector<Assumption> assumptions);
  /// Forgets the values of nodes, which are computed again where they are needed; references to them end.
  void release();
  /// Values that are kept: of 300 bytes and more each.
  [[nodiscard]] std::size_t kept() const {
    std::size_t all = memo_.size() + (clean_ ? clean_->kept() : 0);
    for (auto const& some : forgotten_) all += some.size();
    return all;
  }
  /// The request of a stuck value, by its `why`.
  [[nodiscard]] Request const& request(std::uint32_t why) const { return requests_[why]; }
  /// All values that an atom can have, if they are at most `most`; nothing if they are more, or not known.
  std::optional<std::vector<std::uint64_t>> domain(std::uint32_t atom, std::size_t most);
  /// The value of a register at a loop's header in an iteration (0: the first), if the registers that it depends on there start from
  /// numbers that are known, the same in all lanes, and nothing else that their next values depend on changes in the loop or is
  /// unknown. Of `d` that starts as ntid.x = 64 and is halved: 64, 32, 16. Checked by Kernel.RegistersThatALoopShiftsAreFollowed.
  std::optional<std::uint64_t> iterated(std::uint32_t phi, std::uint64_t iteration);
  /// Lanes that exist: the last warp of a block may have fewer.
  [[nodiscard]] std::uint32_t present() const { return present_; }
  /// Terms that were computed; not those of a warp without assumptions that was given.
  [[nodiscard]] std::uint64_t steps() const { return steps_ + (clean_ ? clean_->steps() : 0); }
  /// Values of the special registers of a lane, for a replay.
  [[nodiscard]] std::uint64_t special(Special s, unsigned lane) const;

 private:
  using Id = std::uint32_t;
  /// Atoms of which a value asked what is assumed, by their places: those of which nothing ever was share the first one.
  struct Asked {
    static constexpr unsigned places = 256;
    std::array<std::uint64_t, places / 64> words{};
    void add(unsigned place) { words[place / 64] |= std::uint64_t{1} << place % 64; }
    [[nodiscard]] bool has(unsigned place) const { return (words[place / 64] >> place % 64 & 1) != 0; }
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
  [[nodiscard]] unsigned place_of(Id atom) const;
  /// Gives an atom of which something is assumed for the first time a place of its own, as long as there are any.
  void give_place(Id atom);
  /// Notes that what is being computed rests on what is assumed of an atom; true if something may be.
  bool ask(Id atom);
  /// True if a kept value holds under the assumptions of now: none that it asked about has changed since. What is being computed rests on it.
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
  /// Computes a value and keeps it.
  template <typename T, typename F>
  T& keep(std::unordered_map<std::uint64_t, Kept<T>>& all, std::uint64_t key, F compute) {
    Asked const before = std::exchange(asked_, {});
    T value = compute();
    Kept<T>& kept = all[key];
    kept.value = std::move(value), kept.asked = asked_, kept.since = now_;
    asked_.join(before);
    return kept.value;
  }
  /// A phi that is no closed form, or its low bits: its first value plus `added`, which all lanes share. 1: proved, 0: not so, 2: being
  /// decided, 3: proved if those are that are being decided.
  struct Induction {
    int state = 2;
    Id added = 0;
  };
  [[nodiscard]] Node const& node(Id id) const { return execution_.terms.nodes()[id]; }
  [[nodiscard]] unsigned width(Id id) const { return node(id).width; }
  Lanes compute(Id id, unsigned bits);
  Lanes leaf(Id id, unsigned bits);
  Lanes of_phi(Id id, Phi const& phi, unsigned bits);
  /// Registers at a loop's header whose next values depend on each other and on numbers that do not change.
  struct Machine {
    std::map<Id, std::uint64_t> numbers{};  ///< of other variables
    std::vector<std::map<Id, std::uint64_t>>
        states{};  ///< of the registers, by iteration; none: it is no such machine
  };
  Machine machine_of(Id phi);
  bool add_to_machine(Machine& machine, Id phi, std::vector<Id>& registers);
  [[nodiscard]] bool changes_in(Leaf const& leaf, std::int32_t loop) const;
  Lanes shuffled(Id id, Leaf const& l, unsigned bits);
  /// How the lanes leave a loop: some in other iterations by their number, by values that are not known, or all in one.
  enum class Leaves : std::uint8_t { apart, unknown, together };
  Leaves leaves(std::int32_t loop);
  bool goes_back_together(std::int32_t loop);
  bool has_common_iteration(std::int32_t loop);
  bool is_lost(Id id);
  Lanes atom(Id id, unsigned bits);
  Lanes stuck(Request request);
  Lanes sum(Lanes const& a, Lanes const& b, std::uint64_t factor, unsigned bits);
  Lanes scaled(Lanes const& a, std::uint64_t factor, unsigned bits);
  Lanes product(Id id, unsigned bits);
  Lanes shifted_left(Id id, unsigned bits);
  Lanes shifted_right(Id id, unsigned bits);
  Lanes bitwise(Id id, unsigned bits);
  /// Two sums, one of which has terms, combined bit by bit: `a` has at least as many terms as `b`.
  Lanes bitwise_of_sums(Node const& n, Lanes const& a, Lanes const& b, unsigned bits);
  /// Facts about a variable, at least `f`.
  Facts leaf_facts(Node const& n, Facts f);
  std::uint64_t most_of_phi(Node const& n, Phi const& p);
  Facts chosen_facts(Id condition, bool truth, Id value);
  Lanes masked(Id id, Lanes const& a, std::uint64_t mask, unsigned bits, unsigned exact);
  Lanes divided(Id id, unsigned bits);
  Lanes chosen(Id id, unsigned bits);
  [[nodiscard]] bool has_few_bits(Id id);
  Lanes chosen_by_all(Node m, Id condition, Lanes const& a, Lanes const& b, Lanes const& apart,
                      unsigned bits);
  Lanes extended(Id id, unsigned bits);
  Lanes as_atom(Id id, std::initializer_list<Lanes const*> operands, unsigned bits);
  Lanes missing_bits(Lanes const& a, unsigned bits, std::string reason);
  Lanes missing_value(Lanes const& a, std::string reason);
  Id node_of(Lanes const& v, unsigned width);
  void reduce(Lanes& v, unsigned bits);
  [[nodiscard]] unsigned zeros_of(Lanes const& v, unsigned bits);
  [[nodiscard]] std::optional<std::uint64_t> bound(Lanes const& v, unsigned width);
  /// Least and greatest number of each lane.
  struct Range {
    std::array<std::uint64_t, 32> least{}, most{};
  };
  [[nodiscard]] Range range(Lanes const& v, unsigned width);
  Induction decide_phi(std::size_t index, unsigned width);
  Lanes movement(Phi const& phi, Id added, unsigned width);
  Id fresh_atom(unsigned bits, unsigned zeros, Id part_of);
  void forget();
  LaneTruths relation(Id id);
  LaneTruths compute_truth(Id id);
  LaneTruths atom_truth(Id id);
  Warp& clean();

  Program const& program_;
  Flow const& flow_;
  Execution& execution_;
  Launch const& launch_;
  unsigned number_;
  std::uint32_t present_ = 0;
  std::array<std::uint64_t, 32> thread_{};       ///< of each lane
  std::array<std::uint32_t, 3> lanes_{1, 1, 1};  ///< of `every`: see lanes_of()
  std::unordered_map<std::uint64_t, Kept<Lanes>> memo_{};
  /// Values of hypotheses that failed, to which what is being computed may refer.
  std::vector<std::unordered_map<std::uint64_t, Kept<Lanes>>> forgotten_{};
  std::unordered_map<std::uint64_t, Kept<LaneTruths>> truths_{};
  std::unordered_map<Id, Facts> facts_{};
  std::vector<Id> facts_found_{};  ///< under a hypothesis about a register at a loop's header, in their order
  std::set<std::uint64_t> limits_{};  ///< what conditions leave at most of what they compare with a constant
  unsigned hypotheses_ = 0, tries_ = 0;
  std::unordered_map<Id, Assumption> assumed_{};
  std::unordered_map<Id, bool> assumed_truths_{};
  std::vector<std::uint8_t> places_{};  ///< by atom; 0: nothing was ever assumed of it
  unsigned places_given_ = 0;
  std::array<std::uint32_t, Asked::places> changed_{};  ///< by place: the assumptions that changed it last
  std::uint32_t now_ = 0;                               ///< how many assumptions there were
  Asked asked_{};                                       ///< by what is being computed
  Asked assumed_at_{};                                  ///< places of what is assumed
  std::map<std::int32_t, Leaves> leaves_{};
  std::map<std::int32_t, bool> backs_{};
  std::unordered_map<std::uint64_t, Kept<Machine>> machines_{};
  std::map<std::pair<std::size_t, unsigned>, Induction> inductions_{};  ///< by phi and bits
  std::unordered_map<std::uint64_t, Id> rests_{};
  std::vector<Request> requests_{};
  Warp* given_;  ///< the same warp without assumptions: what holds in all iterations is decided there
  std::unique_ptr<Warp> clean_{};  ///< the same, if none was given
  std::uint64_t steps_ = 0;
  std::uint64_t induction_start_ = 0, induction_steps_ = 0;
  unsigned depth_ = 0;
};

}  // namespace swizproof::execution
