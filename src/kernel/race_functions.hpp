// Values of functions that are not modelled, and of words of memory that do not change, in a question about two threads.
#pragma once

#include <swizproof/engine/term.hpp>

#include <cstdint>
#include <vector>

namespace swizproof::kernel_detail {

class FunctionValues {
 public:
  void clear() { all_.clear(); }
  /// Notes the value of a function; its arguments are nodes.
  void add(std::vector<std::uint64_t> name, std::vector<std::uint32_t> args, Term value);
  /// Truth: one function of equal arguments is equal, also where the arguments are different terms. Checked by
  /// KernelRaces.StoresOfOneLoadAreOfOneValue.
  [[nodiscard]] Formula consistent(Terms& terms) const;

 private:
  struct Application {
    std::vector<std::uint64_t> name{};
    std::vector<std::uint32_t> args{};
    Term value{};
  };
  [[nodiscard]] static Formula consistent(Terms& terms, Application const& a, Application const& b);

  std::vector<Application> all_{};
};

}  // namespace swizproof::kernel_detail
