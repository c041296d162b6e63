#include "parse/fragment/blackwell_atom.hpp"

#include "parse/text/scanner.hpp"

#include <swizproof/hardware/element.hpp>
#include <swizproof/hardware/tensor_memory.hpp>
#include <swizproof/parse/parse.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace swizproof {

namespace {

[[noreturn]] void refuse_atom(std::string message, std::string_view name, std::string hint = {}) {
  throw InputError::whole(std::move(message), std::string(name), std::move(hint));
}

/// PTX's name of an operand's or a result's type in these atoms.
std::optional<std::string> ptx_type(std::string const& cutlass) {
  for (char const* six : {"e3m2", "e2m3"})
    if (cutlass == "float_" + std::string(six) + "_t") return six;
  ElementType const* const type = element_type(cutlass);
  if (type == nullptr) return std::nullopt;
  for (std::string_view const known : {"e4m3", "e5m2", "e2m1", "f32", "f16"})
    if (type->name == known) return std::string(known);
  return std::nullopt;
}

/// `SM120_16x8x32_TN<A, B, C>`, `SM120_16x8x{32,64}_TN_VS<A, B, C, SF, VS>`. [CUTLASS 4.7, include/cute/arch/mma_sm120.hpp]
std::string of_sm120(std::string_view name) {
  std::string_view const atom = name.substr(0, name.find('<'));
  bool const sparse = atom.starts_with("SM120_SPARSE_");
  bool const scaled = atom.ends_with("_VS");
  if (atom != "SM120_16x8x32_TN_VS" && atom != "SM120_16x8x64_TN_VS" && atom != "SM120_16x8x32_TN" &&
      atom != "SM120_SPARSE_16x8x64_TN" && atom != "SM120_SPARSE_16x8x64_TN_VS" &&
      atom != "SM120_SPARSE_16x8x128_TN_VS")
    refuse_atom(
        "unknown atom of SM120", name,
        "SM120_16x8x32_TN<A,B,C>, SM120_16x8x32_TN_VS<A,B,C,SF,VS> and SM120_16x8x64_TN_VS<A,B,C,SF,VS> are "
        "known, and SM120_SPARSE_16x8x{64,128}_TN..");
  std::vector<std::string> const arguments = template_arguments(name);
  if (arguments.size() != (scaled ? 5U : 3U))
    refuse_atom("the template arguments of this atom are missing", name,
                scaled ? "such as <float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 16>"
                       : "such as <float_e4m3_t, float_e4m3_t, float>");
  std::string types[3];
  for (std::size_t i = 0; i < 3; ++i) {
    std::optional<std::string> const type = ptx_type(arguments[i]);
    if (!type) refuse_atom("no atom of SM120 has elements of " + arguments[i], name);
    types[i] = *type;
  }
  std::string const tail = "." + types[2] + "." + types[0] + "." + types[1] + "." + types[2];
  std::string const head = sparse ? "mma.sp::ordered_metadata." : "mma.";
  if (!scaled) return head + (sparse ? "m16n8k64" : "m16n8k32") + ".kind::f8f6f4" + tail;
  std::string scale = arguments[3];
  if (!scale.starts_with("float_ue") || !scale.ends_with("_t"))
    refuse_atom("scales are of float_ue8m0_t or float_ue4m3_t", name);
  scale = scale.substr(6, scale.size() - 8);
  bool const wide = atom == "SM120_16x8x32_TN_VS" || atom == "SM120_SPARSE_16x8x64_TN_VS";
  if (!sparse && arguments[4] != "32" && (wide || arguments[4] != "16"))
    refuse_atom(wide ? "one scale is for 32 elements of this atom"
                     : "one scale is for 16 or 32 elements of this atom",
                name);
  if (wide)
    return head + (sparse ? "m16n8k64" : "m16n8k32") + ".kind::mxf8f6f4.block_scale.scale_vec::1X" + tail +
           "." + scale;
  bool const four = arguments[4] == (sparse ? "32" : "16");
  return head + (sparse ? "m16n8k128" : "m16n8k64") +
         ".kind::mxf4nvf4.block_scale.scale_vec::" + std::string(four ? "4X" : "2X") + tail + "." + scale;
}

/// `SM100_U8x8_LDSM_T`, `SM100_SU4_DU8x16_x1_LDSM_N`, `SM100_U8x4_STSM_T`; empty for others. [CUTLASS 4.7, include/cute/arch/
/// copy_sm100.hpp]
std::string matrices_of_sm100(std::string_view name) {
  for (auto const& [bytes, count] : {std::pair("8", "1"), {"16", "2"}})
    if (name == "SM100_U8x" + std::string(bytes) + "_LDSM_T")
      return "ldmatrix.m16n16.x" + std::string(count) + ".trans.b8";
  for (auto const& [bytes, count] : {std::pair("4", "1"), {"8", "2"}, {"16", "4"}})
    if (name == "SM100_U8x" + std::string(bytes) + "_STSM_T")
      return "stmatrix.m16n8.x" + std::string(count) + ".trans.b8";
  for (char const* count : {"1", "2", "4"})
    for (auto const& [bits, format] : {std::pair("4", "b4x16_p64"), {"6", "b6x16_p32"}})
      if (name == "SM100_SU" + std::string(bits) + "_DU8x16_x" + count + "_LDSM_N")
        return "ldmatrix.m8n16.x" + std::string(count) + ".b8x16." + format;
  return {};
}

/// `SM100_TMEM_LOAD_16dp256b4x`, `SM100_TMEM_STORE_32dp32b8x`, and `.._16b`, which packs; empty for others.
std::string tensor_memory_of_sm100(std::string_view name) {
  std::string out;
  for (auto const& [start, op] : {std::pair("SM100_TMEM_LOAD_", "ld"), {"SM100_TMEM_STORE_", "st"}})
    if (name.starts_with(start)) {
      out = "tcgen05." + std::string(op);
      name.remove_prefix(std::string_view(start).size());
    }
  if (out.empty()) return {};
  bool const packs = name.ends_with("_16b");
  if (packs) name.remove_suffix(4);
  for (auto const& [cute, ptx] : {std::pair("32dp32b", "32x32b"),
                                  {"16dp64b", "16x64b"},
                                  {"16dp128b", "16x128b"},
                                  {"16dp256b", "16x256b"},
                                  {"16dp32b", "16x32bx2"}}) {
    if (!name.starts_with(cute) || !name.ends_with("x")) continue;
    std::string const many(
        name.substr(std::string_view(cute).size(), name.size() - 1 - std::string_view(cute).size()));
    if (many.empty() || many.find_first_not_of("0123456789") != many.npos) continue;
    return out + "." + ptx + ".x" + many +
           (!packs                ? ""
            : out == "tcgen05.ld" ? ".pack::16b"
                                  : ".unpack::16b") +
           ".b32";
  }
  refuse_atom("unknown atom of Tensor Memory", name, "such as SM100_TMEM_LOAD_16dp256b4x");
}

}  // namespace

std::vector<std::string> template_arguments(std::string_view name) {
  std::size_t const open = name.find('<'), close = name.rfind('>');
  if (open == name.npos || close == name.npos || close < open || close + 1 != name.size()) return {};
  std::vector<std::string> out{""};
  for (char const c : name.substr(open + 1, close - open - 1))
    if (c == ',')
      out.emplace_back();
    else if (!is_space(c))
      out.back() += c;
  for (std::string& argument : out) argument = std::string(plain_element_name(argument));
  return out;
}

namespace {

/// The command that has the scales of a kind.
std::string scales_of(std::string const& kind) {
  return "; 'swizproof fragment tcgen05.mma.kind::" + kind + ".m128:sfa' the scales";
}

}  // namespace

std::string ptx_of_blackwell_atom(std::string_view name) {
  for (std::string_view const space :
       {"cute::", "SM120::", "BLOCKSCALED::", "SPARSE::", "SM100::", "TMEM::", "UTCCP::", "UMMA::"})
    if (name.starts_with(space)) name.remove_prefix(space.size());
  if (name.starts_with("SM120_")) return of_sm120(name);
  for (TensorMemoryCopy const& copy : tensor_memory_copies)
    for (char const* blocks : {"_1cta", "_2cta"})
      if (name == "SM100_UTCCP_" + std::string(copy.atom) + blocks)
        return "tcgen05.cp." + std::string(copy.name);
  if (std::string ptx = matrices_of_sm100(name); !ptx.empty()) return ptx;
  if (std::string ptx = tensor_memory_of_sm100(name); !ptx.empty()) return ptx;
  if (name.starts_with("SM100_MMA_"))
    refuse_atom("tcgen05.mma reads its operands from shared memory and Tensor Memory: no register holds them",
                name,
                "'swizproof descriptor --for tcgen05' has the operands; 'swizproof fragment "
                "tcgen05.ld.32x32b.x32' the results" +
                    (name.starts_with("SM100_MMA_MXF8F6F4") ? scales_of("mxf8f6f4")
                     : name.starts_with("SM100_MMA_MXF4")   ? scales_of("mxf4")
                                                            : ""));
  return {};
}

}  // namespace swizproof
