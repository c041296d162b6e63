#include "inputs.hpp"

#include "smallest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace swizproof::execution {

namespace {

constexpr std::array<std::uint64_t, 7> sizes{256, 300, 1000, 64, 1024, 16, 1};
constexpr unsigned any_style = 10 + sizes.size();

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> named(std::vector<ReadNumber> const& numbers) {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (ReadNumber const& n : numbers) out.emplace_back(n.name, n.value);
  return out;
}

void Inputs::give(LeafValues const& values) {
  for (auto const& [number, value] : values) {
    Leaf const& l = execution_.leaves[number];
    if (l.kind == Leaf::Kind::param) kept(l.extra, l.offset, l.width, value);
    if (l.kind == Leaf::Kind::symbol) place(l.extra, value / align_of(l.extra) * align_of(l.extra));
    if (l.kind == Leaf::Kind::special) blocks_[l.extra] = value;
  }
}

void Inputs::give(std::vector<ReadNumber> const& numbers) {
  for (ReadNumber const& n : numbers) {
    if (n.block)
      blocks_[n.symbol] = n.value;
    else if (!n.given)
      kept(n.symbol, n.offset, n.bits, n.value);
  }
}

void Inputs::note(ReadNumber number) {
  auto const known = [&](ReadNumber const& n) { return n.name == number.name; };
  if (std::none_of(numbers_.begin(), numbers_.end(), known)) numbers_.push_back(std::move(number));
}

std::uint64_t Inputs::kept(std::uint32_t symbol, std::uint64_t offset, unsigned bits, std::uint64_t value) {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < (bits + 7U) / 8; ++i) {
    auto const byte = static_cast<std::uint8_t>(value >> 8 * i);
    out |= std::uint64_t{bytes_.try_emplace({symbol, offset + i}, byte).first->second} << 8 * i;
  }
  return out;
}

std::uint64_t Inputs::parameter(std::uint32_t symbol, std::uint64_t offset, unsigned bits) {
  std::string const& name = program_.symbols[symbol].name;
  std::size_t const short_name = name.rfind("_param_");
  std::uint64_t const unit = offset == 0 ? program_.symbols[symbol].points_to : 1;
  std::uint64_t const value =
      kept(symbol, offset, bits, any_parameter(symbol, offset, bits)) & low_bits(bits) & ~(unit - 1);
  bool const given = launch_.params.count(name) != 0 && offset < 8;
  note({(short_name == name.npos ? name : name.substr(short_name + 1)) +
            (offset == 0 ? "" : fmt::format("[{}]", offset)),
        false, symbol, offset, bits, value, given});
  return value;
}

std::uint64_t Inputs::any_parameter(std::uint32_t symbol, std::uint64_t offset, unsigned bits) {
  std::string const& name = program_.symbols[symbol].name;
  if (auto const given = launch_.params.find(name); given != launch_.params.end() && offset < 8)
    return given->second >> 8 * offset;
  if (style_ == smallest_style) return least_number(bits);
  return any_number(style_ < 5 || (style_ >= 10 && style_ < any_style) ? style_
                    : style_ < 10 || random_() % 2 == 0                ? random_() % 5
                                                                       : 10 + random_() % sizes.size(),
                    bits);
}

std::uint64_t Inputs::any_number(unsigned style, unsigned bits) {
  switch (style) {
    case 0:
      return bits == 64 ? random_() << 8 : std::uint64_t{1} << 20;
    case 1:
      return random_() % 4096;
    case 2:
      return std::uint64_t{1} << random_() % 16;
    case 3:
      return random_();
    case 4:
      return 1 + random_() % 8;
    default:
      return bits == 64 ? (random_() % 4096 + 1) << 32 : sizes.at(style - 10);
  }
}

Inputs Inputs::changed(std::uint64_t seed) const {
  Inputs out = *this;
  out.random_.seed(seed);
  out.style_ = any_style;
  out.first_block_ = out.random_() % 2 == 0;
  out.numbers_.clear();
  std::uint64_t const words = bytes_.size() / 4 + blocks_.size() + 1;
  bool drop = false;
  std::erase_if(out.bytes_, [&](auto const& byte) {
    if (byte.first.second % 4 == 0) drop = out.random_() % words < 2;
    return drop;
  });
  std::erase_if(out.blocks_, [&](auto const&) { return out.random_() % words < 2; });
  return out;
}

Inputs Inputs::with(std::uint32_t symbol, std::uint64_t offset, unsigned bits, std::uint64_t value) const {
  Inputs out = *this;
  out.numbers_.clear();
  if (launch_.params.count(program_.symbols[symbol].name) != 0 && offset < 8) return out;
  for (unsigned i = 0; i < (bits + 7U) / 8; ++i) out.bytes_.erase({symbol, offset + i});
  (void)out.kept(symbol, offset, bits, value);
  return out;
}

std::uint64_t Inputs::block(Special s) {
  auto const dimension = static_cast<std::size_t>(s) - static_cast<std::size_t>(Special::ctaid_x);
  constexpr std::array<std::string_view, 6> names{"ctaid.x",  "ctaid.y",  "ctaid.z",
                                                  "nctaid.x", "nctaid.y", "nctaid.z"};
  auto const given = blocks_.find(static_cast<std::uint32_t>(s));
  auto const all = launch_.blocks(s);
  std::uint64_t value = 0;
  if (all && s >= Special::nctaid_x)
    value = *all;
  else if (given != blocks_.end())
    value = given->second;
  else if (s >= Special::nctaid_x)
    value = style_ < 10 || style_ == smallest_style
                ? witness_blocks
                : (witness_blocks + random_() % 100) << random_() % 9;  // below 2^16
  else if (!first_block_ || (all && style_ == 7))
    value = all && random_() % 2 == 0 ? *all - 1 : random_() % all.value_or(witness_blocks);
  if (s >= Special::nctaid_x) value = launch_.whole_clusters(s, value);
  blocks_[static_cast<std::uint32_t>(s)] = value;
  note({std::string(names[dimension]), true, static_cast<std::uint32_t>(s), 0, 32, value,
        all && s >= Special::nctaid_x});
  return value;
}

void Inputs::place(std::uint32_t symbol, std::uint64_t address) {
  if (program_.symbols[symbol].placed) return;
  placed_[symbol] = address;
  for (std::uint32_t i = 0; program_.symbols[symbol].extern_array && i < program_.symbols.size(); ++i)
    if (program_.symbols[i].extern_array && program_.symbols[i].space == Space::shared) placed_[i] = address;
}

std::uint64_t Inputs::align_of(std::uint32_t symbol) const {
  std::uint64_t most = std::max<std::uint64_t>(program_.symbols[symbol].align, 1);
  if (program_.symbols[symbol].extern_array)
    for (Variable const& v : program_.symbols)
      if (v.extern_array && v.space == Space::shared) most = std::max<std::uint64_t>(most, v.align);
  return most;
}

std::optional<std::uint64_t> Inputs::placed(std::uint32_t symbol) const {
  auto const found = placed_.find(symbol);
  return found == placed_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace swizproof::execution
