// Obligations: a user's own layouts, with what must hold of them. parse/obligations.hpp reads them from a file.
#pragma once

#include <swizproof/analysis/align.hpp>
#include <swizproof/claim/allowance.hpp>
#include <swizproof/analysis/check.hpp>
#include <swizproof/analysis/convert.hpp>
#include <swizproof/analysis/descriptor.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/kernel/kernel.hpp>
#include <swizproof/analysis/movement.hpp>
#include <swizproof/flow/flow.hpp>
#include <swizproof/analysis/retile.hpp>
#include <swizproof/analysis/tma.hpp>
#include <swizproof/analysis/tma_box.hpp>
#include <swizproof/core/error.hpp>
#include <swizproof/ptx/module.hpp>
#include <swizproof/sass/lower.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace swizproof {

/// A part of a file, by lines and columns from 1; the end is behind it.
struct TextRegion {
  std::string file{};
  unsigned line = 1, column = 1, end_line = 1, end_column = 1;
};

/// `access`: each at most `at_most` wavefronts, and no two elements of the tile in one place.
struct AccessesHold {
  Mapping map{};
  std::vector<Placement> placements{};
  std::optional<unsigned> at_most{};
  std::optional<std::uint64_t> align{};
  std::vector<std::uint64_t> weights{};   ///< number of runs of each access, if given; a budget counts them
  std::optional<TextRegion> layout_at{};  ///< the string of `layout` in the file, with its quotes
};

/// The accesses of one obligation that a budget counts.
struct CountedAccesses {
  std::string obligation{};  ///< its name
  AccessesHold hold{};
};

/// `budget`: the accesses of all obligations of one kernel, each in all its cases at its most expensive base and as often as its
/// weight says, cost at most so many wavefronts together.
struct StaysWithin {
  std::uint64_t wavefronts = 0;
  std::vector<CountedAccesses> parts{};
};

/// `equal`: two LAYOUTs are one function.
struct FunctionsEqual {
  Mapping left{}, right{};
  std::optional<std::uint64_t> align{};
};

/// `bijective`: a LAYOUT fills 0..size-1, or permutes all 64-bit numbers.
struct IsBijective {
  Mapping map{};
};

/// `aligned`: bases that are multiples of `to` bytes make relative addressing absolute.
struct IsAligned {
  Mapping map{};
  std::uint64_t to = 1;
};

/// `always`: an expression over `for` variables is never 0, in 64-bit words.
struct AlwaysHolds {
  std::string text{};
  Expression expression{};
  std::vector<Variable> variables{};
};

/// `descriptor`: wgmma or tcgen05 reads a tile through a descriptor, the hard-coded one where the question has fixed fields.
struct DescriptorHolds {
  Mapping map{};
  DescriptorQuestion question{};          ///< but the reader
  std::optional<OperandReader> reader{};  ///< `for`
  OperandReader of_layout =
      OperandReader::wgmma;  ///< reader that the name of the layout implies, if nothing else names one
};

/// `tma`: copies of the TMA write a tile, by the hard-coded box where there is one.
struct TmaHolds {
  Mapping map{};
  std::optional<TmaMode> mode{};  ///< hard-coded; else all of the architecture
  std::optional<FixedBox> box{};
  std::optional<std::uint64_t> align{};
};

/// `fragment` and `into`: a movement gives every register, or puts in every place, the element that is wanted.
struct FragmentHolds {
  MovementQuestion question{};
};

/// `fragment` and `into`, one of them a TiledCopy: each value reaches, or comes from, the register that the operand has for it.
struct RetileHolds {
  RetileQuestion question{};
};

/// `fragment` with `of` and `tv`: the layout (thread, value) is the instruction's own.
struct ThreadValuesHold {
  NamedFragment named{};
  Layout layout{};
};

/// `tma` without a tile: the box is legal as one of these types.
struct TmaBoxHolds {
  std::vector<TmaBoxQuestion> types{};
};

/// `convert`: the layout in other units covers the same bytes, and is the layout that is hard-coded, where one is.
struct ConversionHolds {
  Mapping map{};
  unsigned unit_bits = 8;
  std::optional<Mapping> gives{};
};

/// `[[kernel]]`: each access of a compiled kernel to shared memory takes at most the wavefronts that `options` allows.
struct KernelHolds {
  std::shared_ptr<ptx::Module const> module{};         ///< module; for SASS only the heads of its kernels
  std::shared_ptr<sass::LoweredKernels const> sass{};  ///< null for PTX
  std::size_t function = 0;                            ///< index in the module, and in the kernels of SASS
  std::string file{};                                  ///< file of PTX or SASS, as the entry has it
  std::string kernel{};                                ///< demangled
  KernelOptions options{};                             ///< but the architecture
  bool data_allowed = false;  ///< accesses that depend on loaded data are no reason to fail
  bool limited = false;       ///< but for those above `at_most` or `excess`, which the entry has
};

/// True if an access depends on data, and the entry accepts its bound. Checked by tests/golden/kernel_lock.txt.
[[nodiscard]] bool accepts(KernelHolds const& hold, KernelAccess const& access);

/// `[[flow]]`: each element of a kernel's result is what is expected, in one launch.
struct FlowHolds {
  std::shared_ptr<ptx::Module const> module{};
  std::size_t function = 0;  ///< index in the module
  std::string kernel{};      ///< demangled
  FlowLaunch launch{};
  std::vector<FlowExpectation> expectations{};
};

/// An entry that cannot be read, and why.
struct Malformed {
  InputError error{""};
};

/// One entry of a file.
struct Obligation {
  std::string name{};    ///< unique in its file; its `source` where it has none
  std::string source{};  ///< "layouts.toml:3", or what the entry says: "tiles.cpp:12"
  std::variant<AccessesHold, StaysWithin, FunctionsEqual, IsBijective, IsAligned, AlwaysHolds,
               DescriptorHolds, TmaHolds, FragmentHolds, RetileHolds, ThreadValuesHold, TmaBoxHolds,
               ConversionHolds, KernelHolds, FlowHolds, Malformed>
      what{};
  Architecture const* arch = &sm_90;
  bool arch_is_given = false;  ///< the entry or --arch names the architecture
  bool of_several = false;     ///< the entry is checked for other architectures, too
  bool expect_refuted = false;
  std::vector<std::pair<std::string, std::string>>
      about{};  ///< the author's own keys: copied into the JSON document, unread
  std::string
      kernel{};  ///< `crosscheck`: regular expression of the kernels meant; empty: all. `budget`: whose it is

  /// `A tile`; `A tile on sm_100` if the entry is checked for several architectures.
  [[nodiscard]] std::string title() const {
    return of_several ? name + " on " + std::string(arch->name) : name;
  }
};

/// Share of one access in a budget, in wavefronts.
struct Expense {
  std::string obligation{};
  std::uint64_t weight = 1;
  std::uint64_t total = 0;  ///< sum over all cases, at the most expensive base, times the weight
  std::uint64_t ideal = 0;  ///< the least for the bytes of all cases, times the weight
};

/// A budget and what is spent of it.
struct Spending {
  std::uint64_t allowed = 0, total = 0, ideal = 0;
  std::vector<Expense> expenses{};  ///< one for each of the report's accesses
};

/// The report on an obligation.
struct ObligationReport {
  Outcome outcome{};  ///< Proved: the obligation holds, which is a refutation where one is expected
  Outcome found{};    ///< answer to the statement itself
  std::string domain{};
  std::string detail{};  ///< one line: wavefronts, or what was found
  std::vector<Engine> engines{};
  std::vector<AccessVerdict> accesses{};
  std::optional<KernelReport> kernel{};  ///< report of a compiled kernel
  std::vector<AllowedLine> lines{};      ///< a sum for each line that the entry of the kernel allows more
  std::optional<FlowReport> flow{};      ///< report of a launch
  std::optional<Support>
      basis{};  ///< basis of the model of an operand, a copy or a fragment; else the bank model's counts
  std::optional<Spending> spending{};  ///< spending of a budget whose accesses can all be counted
  std::optional<InputError>
      error{};  ///< error of a malformed entry: file, line and position; then `outcome` is Unknown
  double seconds = 0;
};

/// For each obligation the place of the first one that asks the same: of equal accesses to equal maps, by the same limits of cost
/// and bases, on one architecture. Their reports differ in `seconds` alone, but for those with an `error`, which names the entry.
/// An obligation that is not about accesses has its own place. Checked by Obligations.WhatAnEarlierOneAsksIsDecidedOnce.
[[nodiscard]] std::vector<std::size_t> first_that_ask_the_same(std::span<Obligation const> obligations);

/// Decides one. An access that does not fit its tile is Refuted; what only now turns out to be malformed is in `error`.
/// Throws Disagreement.
[[nodiscard]] ObligationReport decide(Obligation const& obligation, Limits const& limits);

}  // namespace swizproof
