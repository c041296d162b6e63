#include <swizproof/access/fragment.hpp>

#include <vector>

namespace swizproof {

namespace {

/// A mode of a thread-value layout: extent and stride.
struct Mode {
  std::int64_t extent = 0, stride = 0;
};

/// As CuTe's traits write them: the thread's modes, then the value's. A single value mode stands alone.
Layout layout_of(std::vector<Mode> const& threads, std::vector<Mode> const& values) {
  auto const tuple = [](std::vector<Mode> const& modes, std::int64_t Mode::*member) {
    if (modes.size() == 1) return IntTuple(modes.front().*member);
    std::vector<IntTuple> leaves;
    for (Mode const& mode : modes) leaves.emplace_back(mode.*member);
    return IntTuple(std::move(leaves));
  };
  return {IntTuple(std::vector{tuple(threads, &Mode::extent), tuple(values, &Mode::extent)}),
          IntTuple(std::vector{tuple(threads, &Mode::stride), tuple(values, &Mode::stride)})};
}

/// Copy_Traits<SM100_TMEM_LOAD_...>::DstLayout, in columns of 32 bits, which follow each other after all lanes.
Layout tensor_memory_of(Fragment const& f) {
  std::int64_t const lanes = f.rows;
  std::vector<Mode> threads, values;
  switch (f.formula) {
    case FragmentFormula::tensor_memory_16x64b:
      threads = {{2, 8}, {2, lanes}, {8, 1}}, values = {{f.values, 2 * lanes}};
      break;
    case FragmentFormula::tensor_memory_16x128b:
      threads = {{4, lanes}, {8, 1}}, values = {{2, 8}, {f.values / 2, 4 * lanes}};
      break;
    case FragmentFormula::tensor_memory_16x256b:
      threads = {{4, 2 * lanes}, {8, 1}}, values = {{2, lanes}, {2, 8}, {f.values / 4, 8 * lanes}};
      break;
    case FragmentFormula::tensor_memory_16x32bx2:
      threads = {{16, 1}, {2, f.values * lanes}}, values = {{f.values, lanes}};
      break;
    default:
      threads = {{32, 1}}, values = {{f.values, lanes}};
  }
  if (values.size() > 1 && values.back().extent == 1) values.pop_back();
  return layout_of(threads, values);
}

/// Copy_Traits<SM75_U32xN_LDSM_N>::DstLayout and <SM75_U16x2N_LDSM_T>::DstLayout; stmatrix's are the same.
Layout matrices_of(Fragment const& f) {
  if (f.formula == FragmentFormula::matrices_m16n16) {
    std::vector<Mode> values{{8, 1}, {4, 128}, {2, 64}};
    if (f.rows > 16) values.push_back({f.rows / 16, 2048});
    return layout_of({{4, 512}, {8, 8}}, values);
  }
  std::int64_t const matrices = f.rows / 8;
  std::vector<Mode> values;
  if (f.formula == FragmentFormula::matrices_m16n8) {
    values = {{8, 1}, {2, 128}, {2, 64}};
    if (matrices > 1) values.push_back({matrices, 1024});
    return layout_of({{4, 256}, {8, 8}}, values);
  }
  if (f.formula == FragmentFormula::matrices)
    values = {{32, 1}};
  else
    values = {{16, 1}, {2, 128}};
  if (matrices > 1) values.push_back({matrices, 1024});
  if (f.formula == FragmentFormula::matrices) return layout_of({{32, 32}}, values);
  return layout_of({{4, 256}, {8, 16}}, values);
}

/// A with `run` elements of a register along k: MMA_Traits<...>::ALayout, and GMMA::ALayout_64x{8,16,32}.
Layout operand_a(Fragment const& f, std::int64_t run) {
  std::int64_t const m = f.rows;
  std::vector<Mode> threads{{4, run * m}, {8, 1}}, values;
  if (f.threads == 128) threads.push_back({4, 16});
  if (run > 1) values.push_back({run, m});
  if (m > 8) values.push_back({2, 8});
  std::int64_t const rest = f.values / (run * (m > 8 ? 2 : 1));
  if (rest > 1) values.push_back({rest, 4 * run * m});
  if (values.empty()) values.push_back({1, 0});
  return layout_of(threads, values);
}

/// B with `run` elements of a register along k: MMA_Traits<...>::BLayout, numbered n + 8 k.
Layout operand_b(Fragment const& f, std::int64_t run) {
  std::vector<Mode> values;
  if (run > 1) values.push_back({run, 8});
  if (f.values > run) values.push_back({f.values / run, 4 * run * 8});
  if (values.empty()) values.push_back({1, 0});
  return layout_of({{4, run * 8}, {8, 1}}, values);
}

/// SFALayout and SFBLayout of SM120's traits with one value a block: lanes that the selector chooses among hold the same.
Layout scales_of(Fragment const& f) {
  std::int64_t const blocks = f.values;
  if (f.formula == FragmentFormula::scale_a) return layout_of({{2, 8}, {2, 0}, {8, 1}}, {{blocks, 16}});
  return layout_of({{4, 0}, {8, 1}}, {{blocks, 8}});
}

/// Metadata of a sparse A: MMA_Traits<...>::ELayout in indices, lanes that the selector chooses among hold the same.
Layout metadata_of(Fragment const& f) {
  std::int64_t const m = f.rows, half = 16 / f.bits;
  std::vector<Mode> threads{{4, 0}}, values{{half, m}, {2, 8}};
  if (f.formula == FragmentFormula::e_pair) threads = {{2, half * m}, {2, 0}};
  if (f.formula == FragmentFormula::e_pair_rows || f.formula == FragmentFormula::e_all) {
    threads = {{2, 8}, {2, f.formula == FragmentFormula::e_all ? 16 * m : 0}};
    values = {{16, m}};
  }
  threads.push_back({8, 1});
  if (f.threads == 128) threads.push_back({4, 16});
  return layout_of(threads, values);
}

/// Copy_Traits<SM100_UTCCP_...> and UMMA::tmem_sf_frg: lanes of Tensor Memory and their columns, or bytes of them.
Layout cells_of(Fragment const& f) {
  std::int64_t const rows = f.rows;
  std::vector<Mode> threads{{f.threads, 1}}, values{{f.columns, rows}};
  if (f.formula == FragmentFormula::copied_02_13) threads = {{64, 1}, {2, 0}};
  if (f.formula == FragmentFormula::copied_01_23) threads = {{32, 1}, {2, 0}, {2, 32}};
  if (f.formula == FragmentFormula::copied_x4) threads = {{32, 1}, {4, 0}};
  if (f.formula == FragmentFormula::scales_in_tensor_memory) {
    threads = {{32, 1}, {4, 0}};
    if (rows > 32) values.push_back({rows / 32, 32});
  }
  return layout_of(threads, values);
}

/// MMA_Traits<...>::CLayout, and GMMA::CLayout_64xN.
Layout operand_d(Fragment const& f) {
  std::int64_t const m = f.rows;
  std::vector<Mode> threads{{4, 2 * m}, {8, 1}}, values{{2, m}};
  if (m > 8) values.push_back({2, 8});
  if (f.threads == 128) {
    threads.push_back({4, 16});
    values.push_back({f.columns / 8, 8 * m});
  }
  return layout_of(threads, values);
}

}  // namespace

std::string letter(Operand operand) {
  switch (operand) {
    case Operand::a:
      return "a";
    case Operand::b:
      return "b";
    case Operand::scale_a:
      return "sfa";
    case Operand::scale_b:
      return "sfb";
    case Operand::e:
      return "e";
    case Operand::d:
      break;
  }
  return "d";
}

std::string NamedFragment::operand_letter() const { return addend ? "c" : letter(*operand); }

std::string NamedFragment::name() const {
  return operand && !tensor_memory() ? instruction + ":" + operand_letter() : instruction;
}

std::string_view NamedFragment::row_index() const {
  if (tensor_memory()) return "lane";
  if (!operand) return "row";
  if (*operand == Operand::scale_b) return of_cells ? "n" : "block";
  return *operand == Operand::b ? "k" : "m";
}

std::string_view NamedFragment::column_index() const {
  if (!operand || tensor_memory()) return "column";
  if (*operand == Operand::scale_a || (of_cells && *operand == Operand::scale_b)) return "block";
  if (*operand == Operand::e) return "index";
  if (*operand == Operand::a && sparse) return "nonzero";
  return *operand == Operand::a ? "k" : "n";
}

Layout thread_values(Fragment const& f) {
  // Elements of a 32-bit register lie along k; those of 64 bits have registers of their own.
  std::int64_t const run = f.bits >= 32 ? 1 : 32 / f.bits;
  if (counts_bits(f)) return matrices_of(f);
  if (is_tensor_memory(f.formula)) return tensor_memory_of(f);
  if (f.formula >= FragmentFormula::copied && f.formula <= FragmentFormula::scales_in_tensor_memory)
    return cells_of(f);
  if (f.formula >= FragmentFormula::e_one && f.formula <= FragmentFormula::e_all) return metadata_of(f);
  if (holders_of_each(f) > 1) return scales_of(f);
  if (is_b(f)) return operand_b(f, run);
  if (f.formula < FragmentFormula::b_k4) return operand_a(f, run);
  return operand_d(f);
}

}  // namespace swizproof
