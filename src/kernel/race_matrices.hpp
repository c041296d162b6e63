// Instructions on matrices that the lanes of a warp execute together: mma.sync, ldmatrix and stmatrix.
#pragma once

#include "race_bytes.hpp"
#include "race_data.hpp"
#include "race_values.hpp"

#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace swizproof::kernel_detail {

/// A lane at such an instruction.
struct MatrixLane {
  std::vector<RaceValue> const* registers = nullptr;  ///< null: there is no such thread, or it has ended
  std::uint32_t thread = 0;
  LoadSets::Set by = 0;  ///< loads that decide that it is there
  std::vector<RaceValue>
      out{};  ///< registers that it gets; of stmatrix the 16 bytes of the row whose address it gives. Empty: not known
};

class MatrixValues {
 public:
  MatrixValues(LoadSets& sets, ValueTerms& terms, RaceBytes& bytes)
      : sets_(sets), terms_(terms), bytes_(bytes) {}

  /// True for an instruction without a guard whose results are followed: a dense mma.sync (H10), ldmatrix and stmatrix of 8 x 8 matrices of 16 bits.
  [[nodiscard]] static bool follows(ptx::Instruction const& i);
  /// Results of an instruction in the 32 lanes of a warp. `memory`: what shared memory holds is known. [PTX ISA 9.1, 9.7.14.5] Checked by
  /// KernelRaces.WarpsOfOneProductStoreOneValue and KernelRaces.MatricesAreMovedElementByElement.
  void execute(ptx::Instruction const& i, std::span<MatrixLane> lanes, bool memory);
  /// Puts what a thread got of an instruction into its registers.
  static void give(ptx::Instruction const& i, std::vector<RaceValue>& values,
                   std::vector<RaceValue>& registers);

 private:
  void multiply(ptx::Instruction const& i, std::span<MatrixLane> lanes);
  void load(ptx::Instruction const& i, std::span<MatrixLane> lanes);
  void store(ptx::Instruction const& i, std::span<MatrixLane> lanes);
  [[nodiscard]] RaceValue value(MatrixLane const& lane, ptx::Operand const& o) const;
  [[nodiscard]] RaceValue word(std::span<RaceValue const> bytes);

  LoadSets& sets_;
  ValueTerms& terms_;
  RaceBytes& bytes_;
};

/// Adds the bytes of a register that a store stores.
void add_bytes(RaceValue const& v, unsigned bytes, ValueTerms& terms, std::vector<RaceValue>& to);

}  // namespace swizproof::kernel_detail
