#include <swizproof/analysis/tma_box.hpp>

#include <swizproof/core/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace swizproof {

namespace {

/// Bits that an element takes in shared memory, its part of the gaps included.
std::uint64_t shared_bits(TmaBoxQuestion const& q) {
  return q.packed != nullptr ? q.packed->shared_bytes / 2 : q.bits;
}

std::string extent_name(TmaBoxQuestion const& q, std::size_t dimension) {
  if (!q.im2col) return fmt::format("box[{}]", dimension);
  return dimension == 0 ? "channelsPerPixel" : "pixelsPerColumn";
}

std::string rule_of_extents(TmaBoxQuestion const& q) {
  for (std::size_t d = 0; d < q.box.size(); ++d) {
    std::uint64_t const most = q.im2col && d == 1 ? tma_most_pixels : tma_most_elements;
    if (q.box[d] == 0 || q.box[d] > most)
      return fmt::format("{} is {}, and it is from 1 to {}", extent_name(q, d), q.box[d], most);
  }
  return {};
}

std::string rule_of_rank(TmaBoxQuestion const& q) {
  if (q.im2col && q.box.size() != 2)
    return fmt::format("im2col has channels and pixels, 2 numbers, and these are {}", q.box.size());
  if (q.box.size() > tma_most_dimensions)
    return fmt::format("a box of {} dimensions, and a tensor map has at most {}", q.box.size(),
                       tma_most_dimensions);
  return {};
}

std::string rule_of_line(TmaBoxQuestion const& q) {
  std::uint64_t const bits = q.box[0] * q.bits;
  if (q.packed != nullptr && q.packed->line != 0)
    return q.box[0] == q.packed->line ? ""
                                      : fmt::format("{} is {}, and with {} it is {}", extent_name(q, 0),
                                                    q.box[0], q.type, q.packed->line);
  if (bits % (8 * tma_line_unit) == 0) return {};
  return fmt::format("a line has {} x {} bits, no multiple of {} bytes: {} is a multiple of {}", q.box[0],
                     q.bits, tma_line_unit, extent_name(q, 0), 8 * tma_line_unit / q.bits);
}

std::string rule_of_width(TmaBoxQuestion const& q) {
  std::uint64_t const bits = q.box[0] * shared_bits(q);
  if (q.mode->width == 0 || bits <= std::uint64_t{8} * q.mode->width) return {};
  return fmt::format("a line has {} bytes, and under {} at most {}: {} is at most {}", (bits + 7) / 8,
                     q.mode->name, q.mode->width, extent_name(q, 0), 8 * q.mode->width / shared_bits(q));
}

/// Drivers refuse packed types on compute capability 9.0: campaign `boxes`.
std::string rule_of_type(TmaBoxQuestion const& q, Architecture const& arch) {
  if (q.packed == nullptr || arch.capability == unknown_capability || arch.capability >= 100) return {};
  return fmt::format("{} has no elements of {}, which came with compute capability 10.0", arch.name, q.type);
}

std::string rule_of_mode(TmaBoxQuestion const& q, Architecture const& arch) {
  if (q.packed != nullptr && !q.packed->modes.empty() &&
      q.packed->modes.find(fmt::format(" {} ", q.mode->name)) == std::string_view::npos)
    return fmt::format("{} is loaded with the modes{}alone, not with {}", q.type, q.packed->modes,
                       q.mode->name);
  bool const of_sm_90 = std::any_of(std::begin(tma_modes), std::end(tma_modes),
                                    [&](TmaMode mode) { return name(mode) == q.mode->name; });
  if (of_sm_90 || arch.tma == TmaLoads::with_atoms) return {};
  return fmt::format("{} does not load with mode {}, which came with compute capability 10.0", arch.name,
                     q.mode->name);
}

/// Numbers of a tensor: how many there are, their range, and what divides them.
struct TensorRule {
  std::string_view name{};
  std::size_t count = 0;
  std::uint64_t least = 1, most = 0, unit = 1;
};

void check_tensor(std::vector<std::string>& broken, TensorRule const& rule,
                  std::vector<std::uint64_t> const& given) {
  if (given.empty()) return;
  if (given.size() != rule.count)
    broken.push_back(
        fmt::format("{} has {} numbers, and this tensor map has {}", rule.name, given.size(), rule.count));
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < rule.least || given[i] > rule.most)
      broken.push_back(fmt::format("{}[{}] is {}, and it is from {} to {}", rule.name, i, given[i],
                                   rule.least, rule.most));
    if (std::uint64_t const unit = i == 0 || rule.name == "globalStrides" ? rule.unit : 1;
        given[i] % unit != 0)
      broken.push_back(fmt::format("{}[{}] is {}, no multiple of {}", rule.name, i, given[i], unit));
  }
}

/// The rules of cuda.h on the tensor, as far as it is given.
std::vector<std::string> rules_of_tensor(TmaBoxQuestion const& q) {
  std::vector<std::string> broken;
  bool const wide = q.packed != nullptr && q.packed->line != 0;  // 16U4_ALIGN16B and 16U6_ALIGN16B
  std::uint64_t const bytes = wide ? 32 : tma_line_unit;
  // An im2col box has two numbers, and its tensor 3 to 5 dimensions.
  std::size_t const rank = !q.im2col ? q.box.size()
                           : !q.tensor.extents.empty()
                               ? std::clamp<std::size_t>(q.tensor.extents.size(), 3, 5)
                               : q.tensor.strides.size() + 1;
  check_tensor(broken,
               {"globalDim", rank, 1, std::uint64_t{1} << 32,
                wide                  ? q.packed->line
                : q.packed != nullptr ? 2U
                                      : 1U},
               q.tensor.extents);
  check_tensor(broken, {"globalStrides", rank - 1, 0, (std::uint64_t{1} << 40) - 1, bytes}, q.tensor.strides);
  check_tensor(broken, {"elementStrides", rank, 1, 8, 1}, q.tensor.element_strides);
  if (q.tensor.address.value_or(0) % bytes != 0)
    broken.push_back(fmt::format("globalAddress is {:#x}, no multiple of {}", *q.tensor.address, bytes));
  return broken;
}

/// Elements that a box copies along a dimension: of every elementStrides-th one.
std::uint64_t copied(TmaBoxQuestion const& q, std::size_t d) {
  std::uint64_t const step = d > 0 && d < q.tensor.element_strides.size() ? q.tensor.element_strides[d] : 1;
  return (q.box[d] + step - 1) / std::max<std::uint64_t>(step, 1);
}

/// Bytes of a line in shared memory, and from line to line.
std::uint64_t line_bytes_of(TmaBoxQuestion const& q) { return q.box[0] * shared_bits(q) / 8; }
std::uint64_t pitch_of(TmaBoxQuestion const& q) {
  return tma_pitch(q.mode->width, static_cast<std::uint32_t>(line_bytes_of(q)));
}

/// Bytes of shared memory. Precondition: the box keeps every rule of cuda.h.
std::uint64_t bytes_of(TmaBoxQuestion const& q) {
  std::uint64_t bytes = pitch_of(q);
  for (std::size_t d = 1; d < q.box.size(); ++d) bytes *= copied(q, d);
  return bytes;
}

std::string rule_of_size(TmaBoxQuestion const& q, Architecture const& arch) {
  std::uint64_t const bytes = bytes_of(q);
  if (bytes <= arch.most_shared_bytes) return {};
  return fmt::format("it writes {} bytes of shared memory, more than the {} of a block of {}", bytes,
                     arch.most_shared_bytes.value(), arch.name);
}

/// The rules that a box breaks; that of its size where it keeps the others.
std::vector<std::string> broken_rules(TmaBoxQuestion const& q, Architecture const& arch) {
  std::vector<std::string> broken;
  for (std::string& rule :
       std::vector<std::string>{rule_of_rank(q), rule_of_extents(q), rule_of_line(q), rule_of_width(q),
                                rule_of_type(q, arch), rule_of_mode(q, arch)})
    if (!rule.empty()) broken.push_back(std::move(rule));
  for (std::string& rule : rules_of_tensor(q)) broken.push_back(std::move(rule));
  if (broken.empty())
    if (std::string rule = rule_of_size(q, arch); !rule.empty()) broken.push_back(std::move(rule));
  return broken;
}

/// The longest legal line that divides the box's.
std::optional<TmaBoxSplit> split_of(TmaBoxQuestion const& q, Architecture const& arch) {
  for (std::uint64_t line = std::min<std::uint64_t>(q.box[0], tma_most_elements); line > 0; --line) {
    if (q.box[0] % line != 0) continue;
    TmaBoxQuestion part = q;
    part.box[0] = line;
    if (broken_rules(part, arch).empty()) return TmaBoxSplit{part.box, q.box[0] / line};
  }
  return std::nullopt;
}

/// The box as LAYOUT: lines at the pitch, and of packed types the gaps behind 16 elements.
std::string layout_of(TmaBoxQuestion const& q) {
  if (q.mode->flips || q.bits == 6) return {};
  bool const gaps = shared_bits(q) != q.bits;
  std::vector<std::string> shape{fmt::format("{}", q.box[0])}, stride{"1"};
  if (gaps) {
    shape[0] = fmt::format("(16,{})", q.box[0] / 16);
    stride[0] = fmt::format("(1,{})", 16 * shared_bits(q) / q.bits);
  }
  std::uint64_t step = 8 * pitch_of(q) / q.bits;
  for (std::size_t d = 1; d < q.box.size(); ++d) {
    shape.push_back(fmt::format("{}", copied(q, d)));
    stride.push_back(fmt::format("{}", step));
    step *= copied(q, d);
  }
  Swizzle const s = q.mode->swizzle;
  std::string const plain = fmt::format("({}):({})", fmt::join(shape, ","), fmt::join(stride, ","));
  return fmt::format("Sw<{},{},{}> o smem_ptr[{}b](unset) o {}", s.bits, s.base, s.shift, q.bits, plain);
}

}  // namespace

TmaBoxAnswer tma_box(TmaBoxQuestion const& q, Architecture const& arch) {
  TmaBoxAnswer out;
  out.broken = broken_rules(q, arch);
  for (TmaModeName const& mode : tma_mode_names) {
    TmaBoxQuestion other = q;
    other.mode = &mode;
    if (mode.name != q.mode->name && is_of_cuda(mode) && broken_rules(other, arch).empty())
      out.takes.push_back(mode.name);
  }
  if (!out.broken.empty()) {
    out.split = split_of(q, arch);
    return out;
  }
  out.line_bytes = line_bytes_of(q);
  out.pitch = pitch_of(q);
  out.bytes = bytes_of(q);
  out.layout = layout_of(q);
  return out;
}

Support tma_box_basis(Architecture const& arch) {
  std::optional<Support> const support = tma_support(arch);
  if (!support)
    throw InputError::whole("no TMA is known of this architecture", std::string(arch.name),
                            "it came with compute capability 9.0: --arch sm_90");
  return &arch == &sm_90 ? *support : weaker(*support, Support::documented);
}

}  // namespace swizproof
