#include "race_trials.hpp"

#include <swizproof/program/floating.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

namespace swizproof::kernel_detail {

using program::Action;

namespace {

constexpr std::size_t most_nodes = 20'000;  ///< of two terms
constexpr unsigned memories = 6;            ///< that are drawn, of each kind

using Number = std::optional<std::uint64_t>;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
  return x ^ x >> 32;
}

/// Byte of a memory.
std::uint64_t byte_at(std::uint64_t at, unsigned memory) {
  std::uint64_t const bits = mixed((at >> 2) * 64 + memory + 1);
  std::uint64_t const word = memory % 2 == 0 ? 0x3f800000 | (bits & 0x7fffff) : bits;
  return word >> 8 * (at % 4) & 0xff;
}

/// The terms that two of them depend on, in order; nothing if they are too many.
std::vector<ValueTerms::Term> parts_of(ValueTerms const& terms, ValueTerms::Term a, ValueTerms::Term b) {
  using Kind = ValueTerms::Kind;
  std::unordered_map<ValueTerms::Term, bool> seen;
  std::vector<ValueTerms::Term> work{a, b}, out;
  while (!work.empty() && out.size() < most_nodes) {
    ValueTerms::Term const t = work.back();
    work.pop_back();
    if (!seen.try_emplace(t, true).second) continue;
    out.push_back(t);
    ValueTerms::Node const& n = terms.nodes()[t];
    if (n.kind == Kind::list || n.kind == Kind::product || n.kind == Kind::byte_of_module || n.step != 0)
      return {};
    if (n.kind == Kind::number || n.kind == Kind::any_byte) continue;
    std::size_t const count = n.kind == Kind::byte || n.kind == Kind::moved ? 1
                              : n.kind == Kind::bytes                       ? 2
                                                                            : 3;
    for (std::size_t k = 0; k < count; ++k)
      if (n.operands[k] != 0) work.push_back(static_cast<ValueTerms::Term>(n.operands[k]));
  }
  if (!work.empty()) return {};
  std::sort(out.begin(), out.end());
  return out;
}

/// A result of two halves of 32 bits, of an opcode such as add.rn.f32x2.
Number of_halves(std::string opcode, std::array<std::uint64_t, 3> const& sources) {
  opcode.resize(opcode.size() - 2);
  std::array<std::uint64_t, 3> low{}, high{};
  for (std::size_t k = 0; k < 3; ++k) low[k] = sources[k] & low_bits(32), high[k] = sources[k] >> 32;
  auto const a = program::float_result(opcode, low), b = program::float_result(opcode, high);
  return a && b ? Number((*a & low_bits(32)) | *b << 32) : std::nullopt;
}

class Numbers {
 public:
  Numbers(ValueTerms const& terms, unsigned memory) : terms_(terms), memory_(memory) {}

  /// The number of a term whose operands have theirs.
  Number of(ValueTerms::Term t) {
    Number const out = compute(terms_.nodes()[t]);
    if (out) known_[t] = *out;
    return out;
  }
  [[nodiscard]] std::uint64_t known(std::uint64_t t) const {
    auto const at = known_.find(static_cast<ValueTerms::Term>(t));
    return at == known_.end() ? 0 : at->second;
  }

 private:
  using Kind = ValueTerms::Kind;

  [[nodiscard]] Number compute(ValueTerms::Node const& n) const {
    switch (n.kind) {
      case Kind::number:
        return n.operands[0];
      case Kind::any_byte:
        return byte_at(n.operands[0], memory_);
      case Kind::byte:
        return n.operands[1] < 8 ? known(n.operands[0]) >> 8 * n.operands[1] & 0xff : 0;
      case Kind::bytes:
        return n.width <= 64 ? Number(known(n.operands[0]) | known(n.operands[1]) << (n.width - 8))
                             : std::nullopt;
      case Kind::moved:
        return known(n.operands[0]);
      case Kind::step:
        return of_step(n);
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] Number of_step(ValueTerms::Node const& n) const {
    std::uint64_t const a = known(n.operands[0]), b = known(n.operands[1]), c = known(n.operands[2]);
    if (n.action == Action::choose && n.extra != 0) {
      std::uint64_t const flip = n.extra > 2 ? std::uint64_t{1} << (n.width - 1U) : 0,
                          mask = low_bits(n.width);
      bool const less = ((a ^ flip) & mask) < ((b ^ flip) & mask);
      return (less == (n.extra % 2 == 1) ? a : b) & mask;
    }
    if (n.action != Action::opaque)
      return program::result_of(program::Step{.action = n.action, .width = n.width}, a, b, c);
    std::string const& name = terms_.program().names[n.extra];
    Number const out =
        name.ends_with("f32x2") ? of_halves(name, {a, b, c}) : program::float_result(name, {a, b, c});
    return out ? Number(*out & low_bits(n.width)) : std::nullopt;
  }

  ValueTerms const& terms_;
  unsigned memory_;
  std::unordered_map<ValueTerms::Term, std::uint64_t> known_{};
};

}  // namespace

bool differ_on_a_memory(ValueTerms const& terms, ValueTerms::Term a, ValueTerms::Term b) {
  auto const parts = parts_of(terms, a, b);
  if (a == 0 || b == 0 || parts.empty()) return false;
  for (unsigned memory = 0; memory < 2 * memories; ++memory) {
    Numbers numbers(terms, memory);
    if (std::all_of(parts.begin(), parts.end(),
                    [&](ValueTerms::Term t) { return numbers.of(t).has_value(); }) &&
        numbers.known(a) != numbers.known(b))
      return true;
  }
  return false;
}

}  // namespace swizproof::kernel_detail
