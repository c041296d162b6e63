#include "parse/expression/c_type.hpp"

#include <swizproof/hardware/element.hpp>

#include <algorithm>
#include <vector>

namespace swizproof {

namespace {

/// Vectors whose names are not a scalar's and a number. [cuda_fp16.h, cuda_bf16.h, cuda_fp8.h]
struct PackedType {
  std::string_view name;
  unsigned bytes;
};
constexpr PackedType packed_types[] = {{"half2", 4},           {"__half2", 4},
                                       {"nv_bfloat162", 4},    {"__nv_bfloat162", 4},
                                       {"__nv_fp8x2_e4m3", 2}, {"__nv_fp8x4_e4m3", 4},
                                       {"__nv_fp8x2_e5m2", 2}, {"__nv_fp8x4_e5m2", 4},
                                       {"uint128_t", 16},      {"bool", 1}};

/// Scalars of CUDA's built-in vectors, `float` of `float4`. [CUDA C++ Programming Guide, built-in vector types]
struct VectorOf {
  std::string_view scalar;
  unsigned bytes;
};
constexpr VectorOf vectors[] = {{"char", 1}, {"uchar", 1},    {"short", 2},     {"ushort", 2}, {"int", 4},
                                {"uint", 4}, {"longlong", 8}, {"ulonglong", 8}, {"float", 4},  {"double", 8}};

/// `float4`, `uchar2`: n scalars, aligned to all of them but at most to 16 bytes; of three, to one.
std::optional<CType> built_in_vector(std::string_view name) {
  if (name.size() < 2 || name.back() < '1' || name.back() > '4') return std::nullopt;
  auto const n = static_cast<unsigned>(name.back() - '0');
  auto const* const found = std::find_if(std::begin(vectors), std::end(vectors), [&](VectorOf const& v) {
    return v.scalar == name.substr(0, name.size() - 1);
  });
  if (found == std::end(vectors)) return std::nullopt;
  return CType{std::string(name), n * found->bytes, std::min(n == 3 ? found->bytes : n * found->bytes, 16U)};
}

bool is_qualifier(std::string_view word) { return word == "const" || word == "volatile"; }

bool is_word_of_integers(std::string_view word) {
  static constexpr std::string_view words[] = {"unsigned", "signed", "long", "short", "int", "char"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// The type of `unsigned long long int`: words in any order.
CType integer_of(std::vector<std::string_view> const& words, Scanner& in, std::size_t from) {
  auto const count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  CType type;
  for (std::string_view const word : words) type.name += (type.name.empty() ? "" : " ") + std::string(word);
  if (count("long") == 1)
    in.fail("long has 4 bytes on Windows and 8 on Linux", from, in.at_end_of_token() - from,
            "write int or long long");
  bool const known = words.size() <= 4 && count("long") <= 2 && count("short") <= 1 && count("char") <= 1 &&
                     count("int") <= 1 && count("unsigned") + count("signed") <= 1 &&
                     (count("long") != 0) + (count("short") != 0) + (count("char") != 0) <= 1 &&
                     (count("char") == 0 || count("int") == 0);
  if (!known) in.fail("'" + type.name + "' is no type of C", from, in.at_end_of_token() - from);
  type.integer = {count("long") != 0    ? 64U
                  : count("short") != 0 ? 16U
                  : count("char") != 0  ? 8U
                                        : 32U,
                  count("unsigned") == 0};
  type.bytes = type.alignment = type.integer->bits / 8;
  type.element = (type.integer->is_signed ? "i" : "u") + std::to_string(type.integer->bits);
  return type;
}

}  // namespace

std::optional<CType> c_type(std::string_view name) {
  for (PackedType const& packed : packed_types)
    if (packed.name == name) return CType{std::string(name), packed.bytes, packed.bytes};
  if (auto vector = built_in_vector(name)) return vector;
  ElementType const* const type = element_type(name);
  if (type == nullptr || type->bits < 8) return std::nullopt;
  CType out{std::string(name), type->bits / 8, type->bits / 8, std::string(type->name)};
  if (type->is_integer()) out.integer = {type->bits, type->kind == ElementKind::with_sign};
  return out;
}

std::string_view take_c_name(Scanner& in) {
  std::size_t const from = in.at();
  if (is_digit(in.peek())) return {};
  do
    if (in.take_name().empty()) break;
  while (in.take("::"));
  return in.trimmed(from, in.at_end_of_token());
}

std::optional<CType> take_c_type(Scanner& in) {
  std::size_t const from = in.at();
  std::vector<std::string_view> words;
  std::optional<CType> type;
  while (true) {
    std::size_t const at = in.at();
    std::string_view const word = take_c_name(in);
    if (is_qualifier(word)) continue;
    if (!type && is_word_of_integers(word)) {
      words.push_back(word);
      continue;
    }
    if (!type && words.empty() && (type = c_type(word))) continue;
    in.back_to(at);
    break;
  }
  if (!words.empty()) return integer_of(words, in, from);
  if (!type) in.back_to(from);
  return type;
}

}  // namespace swizproof
