// The warps of a block: each without assumptions, and under those of the case that is tried.
#pragma once

#include <swizproof/execution/terms.hpp>
#include <swizproof/execution/warp.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace swizproof::kernel_detail {

/// All warps of a kernel, and the steps that they have taken. A number is that of a warp, or Warp::every.
class Warps {
 public:
  Warps(program::Program const& program, program::Flow const& flow, execution::Execution& execution,
        execution::Launch const& launch)
      : program_(program), flow_(flow), execution_(execution), launch_(launch) {}
  Warps(Warps const&) = delete;
  Warps& operator=(Warps const&) = delete;

  /// Makes the warps 0 to `count` - 1. Their terms must be there.
  void start(unsigned count);
  /// Makes them again, after leaves have changed.
  void start_again();
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(all_.size()); }
  [[nodiscard]] std::vector<std::unique_ptr<execution::Warp>> const& all() const { return all_; }

  /// A warp without assumptions.
  [[nodiscard]] execution::Warp& plain(unsigned number);
  /// The same warp under assumptions, until the next call for it.
  [[nodiscard]] execution::Warp& under(unsigned number,
                                       std::vector<execution::Assumption> const& assumptions);
  /// A warp for another search, which takes what no assumption changes from plain().
  [[nodiscard]] std::unique_ptr<execution::Warp> another(unsigned number);

  /// Steps of all warps, and of those for other searches.
  [[nodiscard]] std::uint64_t steps() const;

  /// Lets the warps forget their values if they keep too many. They compute again what is needed.
  void release();

 private:
  static constexpr std::size_t most_values = std::size_t{1} << 21;  ///< that all warps keep

  template <class F>
  void each(F const& f) const {
    for (auto const& w : all_) f(*w);
    if (every_) f(*every_);
    for (auto const& [number, w] : assuming_) f(*w);
  }

  program::Program const& program_;
  program::Flow const& flow_;
  execution::Execution& execution_;
  execution::Launch const& launch_;
  std::vector<std::unique_ptr<execution::Warp>> all_{};
  std::unique_ptr<execution::Warp> every_{};  ///< stands for all of them
  std::map<unsigned, std::unique_ptr<execution::Warp>> assuming_{};
};

}  // namespace swizproof::kernel_detail
