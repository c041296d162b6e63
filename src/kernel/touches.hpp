// Memory that several threads have: which instructions ask what others write, which write it, and which of them may be to one word.
#pragma once

#include "executed_kernel.hpp"
#include "ways.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace swizproof::kernel_detail {

/// An instruction that reads memory for whose change a loop may wait, or writes memory.
struct Touch {
  Place place{};
  std::uint32_t line = 0;
  Id address = 0, guard = 1;
  bool polls = false;  ///< another thread's write may be what it waits for
  bool plain =
      false;  ///< a load that compilers take out of a loop which does not change its address; of machine code also a volatile one
  bool atomic = false;  ///< it reads and writes
  bool writes = false;
  bool event = false;  ///< no access: of an mbarrier, a bulk copy, a call
  bool any = false;    ///< of any memory: a call
  bool global = false, generic = false;
  [[nodiscard]] bool is_shared() const { return !event && !global && !generic; }
};

/// The touches that a kernel comes to.
class Touches {
 public:
  explicit Touches(ExecutedKernel& kernel);

  [[nodiscard]] std::vector<Touch> const& all() const { return all_; }
  /// True if two may be to one array, or behind one parameter. Dynamic arrays of shared memory are one.
  [[nodiscard]] bool may_be_one(Touch const& a, Touch const& b) const;

 private:
  [[nodiscard]] bool share_an_array(Id a, Id b) const;
  [[nodiscard]] bool may_be_shared(Touch const& touch, Origins::Root root) const;
  [[nodiscard]] std::vector<Id> const& pointers_of(Id address) const;

  ExecutedKernel& kernel_;
  std::vector<Touch> all_{};
  mutable std::unordered_map<Id, std::vector<Id>> pointers_{};  ///< parameters in an address
};

}  // namespace swizproof::kernel_detail
