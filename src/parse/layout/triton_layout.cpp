// The meaning of Triton's encodings.
//
// An encoding with a shape says at which offset each coordinate lies, in elements. The coordinate is in the order of the
// shape, so that (row, col) of Triton's tensor is (row, col) of the layout here, and a plain index runs, as in CuTe, through
// the first extent fastest. The formulas are Triton's [LinearLayoutConversions.cpp, in 2026]: an offset's bits lead to coordinates,
// which places() inverts. Checked against plain loops by tests/unit/parse/triton_test.cpp.
#include "parse/layout/triton_encoding.hpp"

#include <swizproof/layout/bases.hpp>

#include <numeric>

namespace swizproof {

namespace {

int log2_of_power(std::int64_t n) { return std::countr_zero(static_cast<std::uint64_t>(n)); }

class TritonLayouts {
 public:
  TritonLayouts(Scanner& in, MappingOptions const& options, TritonEncoding const& encoding)
      : in_(in), options_(options), encoding_(encoding) {}

  Mapping lay_out(TritonShape const& shape) {
    refuse_unknown();
    Mapping map = lay_out_known(shape);
    if (TritonField const* const f = find("CTAOrder")) {
      (void)axes_of(*f);
      map.notes.push_back("CTAOrder orders the CTAs of a cluster: the layout is that of one CTA");
    }
    return map;
  }

 private:
  [[nodiscard]] TritonField const* find(std::string_view name) const {
    auto const found = std::find_if(encoding_.fields.begin(), encoding_.fields.end(),
                                    [&](TritonField const& f) { return f.name == name; });
    return found == encoding_.fields.end() ? nullptr : &*found;
  }
  [[noreturn]] void missing(std::string_view name) {
    in_.fail(std::string(encoding_.kind) + " needs " + std::string(name), encoding_.at, encoding_.length,
             "its parameters: " + std::string(names()));
  }
  std::int64_t number(std::string_view name, std::int64_t least, std::int64_t most) {
    TritonField const* const f = find(name);
    if (f == nullptr) missing(name);
    bool const fits = !f->value.is_tuple && !f->is_truth && f->value.value >= least && f->value.value <= most;
    if (!fits)
      in_.fail(
          std::string(name) + " is a number from " + std::to_string(least) + " to " + std::to_string(most),
          f->at, f->length);
    return f->value.value;
  }
  std::int64_t power(std::string_view name) {
    std::int64_t const n = number(name, 1, 1 << 20);
    if (is_power(n)) return n;
    TritonField const* const f = find(name);
    in_.fail(std::string(name) + " is " + std::to_string(n) + ", and Triton's layouts need a power of two",
             f->at, f->length);
  }
  bool truth(std::string_view name) {
    TritonField const* const f = find(name);
    if (f == nullptr) return false;
    if (!f->is_truth) in_.fail(std::string(name) + " is true or false", f->at, f->length);
    return f->value.value != 0;
  }
  /// The axes, fastest first.
  std::vector<std::size_t> order() {
    TritonField const* const f = find("order");
    if (f == nullptr) missing("order");
    return axes_of(*f);
  }
  std::vector<std::size_t> axes_of(TritonField const& field) {
    TritonField const* const f = &field;
    std::vector<std::int64_t> const axes = f->value.leaves();
    std::vector<std::int64_t> sorted = axes, wanted(axes.size());
    std::sort(sorted.begin(), sorted.end());
    std::iota(wanted.begin(), wanted.end(), 0);
    if (!f->value.is_tuple || axes.empty() || sorted != wanted)
      in_.fail(f->name + " lists every axis once, the fastest first", f->at, f->length,
               "row-major with two axes: order = [1, 0]");
    return {axes.begin(), axes.end()};
  }
  /// Only one CTA, or the same for all: what else there is says which CTA has which part.
  void refuse_splits() {
    for (char const* name : {"CTAsPerCGA", "CTASplitNum", "CGALayout", "block"}) {
      TritonField const* const f = find(name);
      if (f == nullptr) continue;
      bool const counts = std::string_view(name).starts_with("CTA");
      for (std::int64_t const n : f->value.leaves())
        if (n != (counts ? 1 : 0))
          in_.fail(std::string(name) +
                       " splits the tensor among the CTAs of a cluster, and a layout here is one CTA's",
                   f->at, f->length, "give the encoding without it, with the shape of one CTA's part");
    }
  }
  /// The parameters of an encoding, for its messages; those of CTAs are left out, as they can only state that there is one CTA.
  struct Parameters {
    std::string_view kind, names;
  };
  static constexpr Parameters parameters[] = {
      {"swizzled_shared", "vec perPhase maxPhase order"},
      {"shared", "vec perPhase maxPhase order hasLeadingOffset"},
      {"nvmma_shared", "swizzlingByteWidth transposed elementBitWidth fp4Padded rank"},
      {"padded_shared", "order shape offset block"},
      {"shared_linear", "offset block alignment"},
      {"linear", "offset block alignment register lane warp"},
  };
  [[nodiscard]] std::string_view names() const {
    return std::find_if(std::begin(parameters), std::end(parameters),
                        [&](Parameters const& p) { return p.kind == encoding_.kind; })
        ->names;
  }
  void refuse_unknown() const {
    std::string const known = " " + std::string(names()) + " CTAsPerCGA CTASplitNum CTAOrder CGALayout ";
    for (TritonField const& f : encoding_.fields)
      if (known.find(" " + f.name + " ") == known.npos)
        in_.fail(std::string(encoding_.kind) + " has no parameter '" + f.name + "'", f.at, f.name.size(),
                 "its parameters: " + std::string(names()));
  }
  [[noreturn]] void refuse_shape(TritonShape const& shape, std::string message, std::string hint = {}) {
    in_.fail(std::move(message), shape.at, std::max<std::size_t>(shape.length, 1), std::move(hint));
  }

  /// The extents of one buffer, powers of two: the last `rank` ones. Those before them count buffers.
  std::vector<std::int64_t> extents_of(TritonShape const& shape, std::size_t rank) {
    if (shape.extents.empty())
      in_.fail(std::string(encoding_.kind) + " says nothing of the extents: the shape is missing",
               encoding_.at, encoding_.length, std::string(triton_forms));
    if (shape.extents.size() < rank)
      refuse_shape(shape, "the encoding has " + std::to_string(rank) + " axes, the shape " +
                              std::to_string(shape.extents.size()));
    std::vector<std::int64_t> const own(shape.extents.end() - static_cast<std::ptrdiff_t>(rank),
                                        shape.extents.end());
    std::int64_t product = 1;
    for (std::int64_t const n : own) {
      if (!is_power(n))
        refuse_shape(shape,
                     "the extent " + std::to_string(n) + " is no power of two, and Triton's layouts need one",
                     "extents of Triton tensors are powers of two; give the shape of the allocation");
      product *= n;
      if (product > 1 << 28) refuse_shape(shape, "the shape has more than 2^28 elements");
    }
    return own;
  }

  Mapping lay_out_known(TritonShape const& shape) {
    std::string_view const kind = encoding_.kind;
    Mapping map = kind == "nvmma_shared"                        ? nvmma(shape)
                  : kind == "padded_shared"                     ? padded(shape)
                  : kind == "shared_linear" || kind == "linear" ? linear(shape)
                                                                : swizzled(shape);
    if (!map.element_bits) map.element_bits = shape.bits ? shape.bits : options_.element_bits;
    if (shape.bits && map.element_bits != shape.bits)
      refuse_shape(shape, "the encoding says elements of " + std::to_string(*map.element_bits) +
                              " bits, the shape " + std::to_string(*shape.bits));
    map.element = shape.element;
    map.text = to_string(map);
    return map;
  }

  /// The map of one buffer; of several, one behind the other, the last modes say which, as CuTe's stages do.
  Mapping finish(TritonShape const& shape, std::vector<std::int64_t> const& own, BitPlaces const& places,
                 std::int64_t each) {
    Mapping map;
    map.on_elements = stages_of_bits(own, places);
    auto& layout = std::get<Layout>(map.on_elements.back());
    std::size_t const buffers = shape.extents.empty() ? 0 : shape.extents.size() - own.size();
    for (std::size_t i = buffers; i-- > 0;) {
      layout.shape.modes.insert(layout.shape.modes.begin() + static_cast<std::ptrdiff_t>(own.size()),
                                IntTuple(shape.extents[i]));
      layout.stride.modes.insert(layout.stride.modes.begin() + static_cast<std::ptrdiff_t>(own.size()),
                                 IntTuple(each));
      if (__builtin_mul_overflow(each, shape.extents[i], &each) || each > std::int64_t{1} << 32)
        refuse_shape(shape, "the shape has more than 2^32 elements");
    }
    if (buffers != 0)
      map.notes.push_back("the encoding has " + std::to_string(own.size()) +
                          " axes: the extents before them count buffers, one behind the other, which are the "
                          "last modes here");
    return map;
  }

  /// Positions of the bits of each mode if the axes follow each other in `order`, without a swizzle.
  static BitPlaces in_order(std::vector<std::int64_t> const& shape, std::vector<std::size_t> const& order) {
    std::vector<std::uint64_t> start(shape.size());
    std::uint64_t next = 1;
    for (std::size_t const axis : order) {
      start[axis] = next;
      next *= static_cast<std::uint64_t>(shape[axis]);
    }
    BitPlaces out;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      for (int bit = 0; bit < log2_of_power(shape[axis]); ++bit) out.push_back(start[axis] << bit);
    return out;
  }

  /// offset(row, col) = row * columns + (col ^ (vec * (row / perPhase % maxPhase)) % columns); `col` is the axis order[0].
  Mapping swizzled(TritonShape const& shape) {
    std::int64_t const vec = power("vec"), per_phase = power("perPhase"), phases = power("maxPhase");
    std::vector<std::size_t> const axes = order();
    refuse_splits();
    bool const leading = encoding_.kind == "shared" && truth("hasLeadingOffset");
    if (leading) return leading_offset(shape, per_phase, phases, axes);
    std::vector<std::int64_t> const own = extents_of(shape, axes.size());
    BitPlaces places = in_order(own, axes);
    if (axes.size() > 1) {
      std::size_t first = 0;
      for (std::size_t axis = 0; axis < axes[1]; ++axis)
        first += static_cast<std::size_t>(log2_of_power(own[axis]));
      for (int bit = 0; bit < log2_of_power(own[axes[1]]); ++bit) {
        std::int64_t const row = std::int64_t{1} << bit;
        places[first + static_cast<std::size_t>(bit)] ^=
            static_cast<std::uint64_t>(vec * (row / per_phase % phases) % own[axes[0]]);
      }
    }
    return finish(shape, own, places,
                  std::accumulate(own.begin(), own.end(), std::int64_t{1}, std::multiplies<>()));
  }

  /// The 8 rows of a core matrix, whose columns are exchanged: bases of offsets, (row, col).
  struct CoreMatrix {
    std::int64_t columns = 0, vec = 0, per_phase = 0, phases = 0;
    bool padded = false;  ///< 8 bytes of fp4 and 8 bytes of nothing
    [[nodiscard]] std::vector<std::vector<std::int64_t>> bases() const {
      auto const packed = [&](std::int64_t column) { return padded ? column / 16 * 8 + column % 8 : column; };
      std::vector<std::vector<std::int64_t>> out;
      for (std::int64_t column = 1; column < columns; column *= 2) out.push_back({0, packed(column)});
      for (std::int64_t row = 1; row < 8; row *= 2)
        out.push_back({row, packed(vec * (row / per_phase % phases))});
      return out;
    }
  };

  /// More offsets for what of an axis is not reached yet.
  static void extend(OffsetBases& bases, std::size_t axis, std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step < to; step *= 2) {
      std::vector<std::int64_t> base(bases.shape.size(), 0);
      base[axis] = step;
      bases.coordinates.push_back(std::move(base));
    }
  }

  /// nvmma_shared, with its swizzle on byte addresses, where TMA and wgmma apply it; Triton aligns the buffer to its period.
  Mapping nvmma(TritonShape const& shape) {
    std::int64_t const width = number("swizzlingByteWidth", 0, 128), bits = number("elementBitWidth", 8, 64);
    if (width != 0 && width != 32 && width != 64 && width != 128)
      in_.fail("swizzlingByteWidth is 0, 32, 64 or 128", find("swizzlingByteWidth")->at,
               find("swizzlingByteWidth")->length);
    if (!is_power(bits))
      in_.fail("elementBitWidth is 8, 16, 32 or 64", find("elementBitWidth")->at,
               find("elementBitWidth")->length);
    bool const transposed = truth("transposed"), padded = truth("fp4Padded");
    std::int64_t const rank = find("rank") != nullptr ? number("rank", 1, 5) : 2;
    refuse_splits();
    std::vector<std::int64_t> const own = extents_of(shape, static_cast<std::size_t>(rank));
    if (padded && (bits != 8 || width != 128))
      in_.fail("fp4Padded needs elementBitWidth = 8 and swizzlingByteWidth = 128", find("fp4Padded")->at,
               find("fp4Padded")->length);
    if (width == 0 && transposed && rank > 2)
      in_.fail("transposed without a swizzle is read of two axes alone", find("transposed")->at,
               find("transposed")->length, "give the two axes that one buffer has");
    std::size_t const contiguous = transposed ? 0 : own.size() - 1;
    std::vector<std::int64_t> block = own;
    if (padded) block[contiguous] *= 2;
    for (std::int64_t& n : block) n = std::min<std::int64_t>(n, 256);
    std::int64_t const line = 8 * width / bits;
    if (width != 0) {
      if (rank < 2) refuse_shape(shape, "a swizzle needs two axes");
      if (block[contiguous] < line)
        refuse_shape(shape,
                     "the contiguous axis has " + std::to_string(block[contiguous]) +
                         " elements, the swizzle's lines " + std::to_string(line),
                     "swizzlingByteWidth is at most the bytes of a line; of a transposed one the first axis "
                     "is contiguous");
      block[contiguous] = line;
    }
    if (padded) block[contiguous] /= 2;
    OffsetBases const bases = width == 0 ? linear_block(own, block, transposed && rank > 1)
                                         : core_matrices(shape, own, block, transposed, padded);
    std::optional<BitPlaces> const found = places(bases);
    if (!found) refuse_shape(shape, "Triton lays out no tensor of this shape so");
    Mapping map = finish(shape, own, *found, std::int64_t{1} << bases.coordinates.size());
    if (width == 0 && transposed && rank > 1)
      map.notes.push_back(
          "Triton before its pull request 10453 (June 2026) ignores transposed where swizzlingByteWidth is "
          "0: "
          "there the last axis is contiguous, as with transposed = false");
    map.element_bits = static_cast<unsigned>(bits);
    if (map.on_elements.size() == 3 && std::holds_alternative<Swizzle>(map.on_elements[0])) {
      auto const on_bytes = recast(std::get<Swizzle>(map.on_elements[0]), -log2_of_power(bits / 8));
      if (on_bytes) {
        map.on_bytes = {*on_bytes};
        map.on_elements.erase(map.on_elements.begin(), map.on_elements.begin() + 2);
      }
    }
    return map;
  }

  /// Blocks of TMA one behind the other, in each the last axis fastest; transposed, the first of two.
  static OffsetBases linear_block(std::vector<std::int64_t> const& own,
                                  std::vector<std::int64_t> const& block, bool transposed) {
    OffsetBases bases{own, {}};
    std::vector<std::size_t> axes(own.size());
    std::iota(axes.rbegin(), axes.rend(), 0);  // the last one first
    if (transposed) std::reverse(axes.begin(), axes.end());
    for (std::size_t const axis : axes) extend(bases, axis, 1, block[axis]);
    for (std::size_t const axis : axes) extend(bases, axis, block[axis], own[axis]);
    return bases;
  }

  /// One TMA block, its outer axes as one, and behind it the blocks along each axis, the first axis fastest.
  OffsetBases core_matrices(TritonShape const& shape, std::vector<std::int64_t> const& own,
                            std::vector<std::int64_t> const& block, bool transposed, bool padded) {
    std::int64_t const bits = number("elementBitWidth", 8, 64), width = number("swizzlingByteWidth", 0, 128);
    std::size_t const rank = own.size();
    std::int64_t rows = 1, columns = block.back();
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) rows *= block[axis];
    if (transposed) std::swap(rows, columns);
    CoreMatrix const core{8 * width / bits, 128 / bits, 128 / width, width / 16, padded};
    if (rows < 8)
      refuse_shape(shape, "a core matrix has 8 lines, the shape " + std::to_string(rows),
                   "Triton refuses it too: expected collapsed shapePerCTA to be at least 8 lines");
    OffsetBases flat{{rows, columns}, core.bases()};
    extend(flat, 0, 8, rows);
    extend(flat, 1, padded ? core.columns / 2 : core.columns, columns);
    // The collapsed coordinate (row, column) is one number, whose digits are the block's axes, the last one fastest.
    std::vector<std::size_t> axes(rank);
    std::iota(axes.begin(), axes.end(), transposed ? 1 : 0);
    if (transposed) axes.back() = 0;
    OffsetBases out{own, {}};
    for (std::vector<std::int64_t> const& base : flat.coordinates) {
      std::int64_t index = base[0] * columns + base[1];
      std::vector<std::int64_t> coordinate(rank, 0);
      for (std::size_t i = rank; i-- > 0; index /= block[axes[i]])
        coordinate[axes[i]] = index % block[axes[i]];
      out.coordinates.push_back(std::move(coordinate));
    }
    for (std::size_t axis = 0; axis < rank; ++axis) extend(out, axis, block[axis], own[axis]);
    return out;
  }

  /// shared<{..., hasLeadingOffset = true}>, nvmma_shared before it had a name: tiles of 8 rows, then rows, then columns.
  Mapping leading_offset(TritonShape const& shape, std::int64_t per_phase, std::int64_t phases,
                         std::vector<std::size_t> const& axes) {
    std::vector<std::int64_t> const own = extents_of(shape, axes.size());
    auto const bits = static_cast<std::int64_t>(shape.bits ? *shape.bits : options_.element_bits.value_or(0));
    if (bits == 0)
      refuse_shape(shape, "hasLeadingOffset swizzles bytes: the element type is missing",
                   "write 64x64xf16, or --element f16");
    if (per_phase * phases != 8 || phases < 2)
      in_.fail("hasLeadingOffset needs perPhase and maxPhase of a wgmma swizzle", encoding_.at,
               encoding_.length,
               "perPhase = 1, maxPhase = 8 (128 bytes), 2 and 4 (64 bytes), or 4 and 2 (32 bytes)");
    if (axes.size() < 2) refuse_shape(shape, "a swizzle needs two axes");
    std::int64_t const line = 8 * 16 * phases / bits;
    if (own[axes[0]] < line || own[axes[1]] < 8)
      refuse_shape(shape,
                   "the shape is smaller than a tile of 8 rows of " + std::to_string(line) + " elements");
    if (std::int64_t const vec = power("vec"); vec != 128 / bits)
      in_.fail("hasLeadingOffset moves 16 bytes at once: vec is " + std::to_string(128 / bits) +
                   " elements here, not " + std::to_string(vec),
               find("vec")->at, find("vec")->length);
    CoreMatrix const core{line, 128 / bits, per_phase, phases, false};
    OffsetBases bases{own, {}};
    for (std::vector<std::int64_t> const& base : core.bases()) {
      std::vector<std::int64_t> coordinate(own.size(), 0);
      coordinate[axes[1]] = base[0], coordinate[axes[0]] = base[1];
      bases.coordinates.push_back(std::move(coordinate));
    }
    extend(bases, axes[1], 8, own[axes[1]]);
    extend(bases, axes[0], line, own[axes[0]]);
    for (std::size_t i = 2; i < axes.size(); ++i) extend(bases, axes[i], 1, own[axes[i]]);
    Mapping map = finish(shape, own, places(bases).value(), std::int64_t{1} << bases.coordinates.size());
    if (auto const* swizzle = std::get_if<Swizzle>(&map.on_elements[0]); swizzle != nullptr && bits >= 8)
      if (auto const on_bytes = recast(*swizzle, -log2_of_power(bits / 8))) {
        map.on_bytes = {*on_bytes};
        map.on_elements.erase(map.on_elements.begin(), map.on_elements.begin() + 2);
        map.element_bits = static_cast<unsigned>(bits);
      }
    return map;
  }

  /// The bases `offset = [[0, 1], [0, 2], ...]`; the extents are the powers of two above what they reach.
  OffsetBases offset_bases(TritonShape const& shape) {
    TritonField const* const f = find("offset");
    if (f == nullptr) {
      if (encoding_.kind == "linear")
        in_.fail(
            "a linear layout of registers, lanes and warps says which thread holds an element: it lays out "
            "no shared memory",
            encoding_.at, encoding_.length,
            "one of shared memory has offset = [[0, 1], ...], as shared_linear");
      missing("offset");
    }
    OffsetBases bases;
    bool const lists = f->value.is_tuple && !f->value.modes.empty() && f->value.modes[0].is_tuple;
    bases.shape.assign(lists ? f->value.modes[0].modes.size() : 0, 1);
    if (bases.shape.empty())
      in_.fail("offset is a list of coordinates, one for each bit of an offset", f->at, f->length,
               "row-major (2,4): offset = [[0, 1], [0, 2], [1, 0]]");
    for (IntTuple const& base : f->value.modes) {
      if (!base.is_tuple || base.modes.size() != bases.shape.size() || base.depth() != 1)
        in_.fail("the coordinates of offset have as many indices each", f->at, f->length);
      for (std::size_t m = 0; m < bases.shape.size(); ++m) {
        std::int64_t const n = base.modes[m].value;
        if (n < 0 || n > 1 << 20) in_.fail("indices are from 0 to 2^20", f->at, f->length);
        bases.shape[m] = std::max(
            bases.shape[m], static_cast<std::int64_t>(2 * std::bit_floor(static_cast<std::uint64_t>(n))));
      }
      bases.coordinates.push_back(base.leaves());
    }
    check_given(shape, bases.shape);
    return bases;
  }
  /// The shape behind an encoding that has its own must be that one, or have buffers before it.
  void check_given(TritonShape const& shape, std::vector<std::int64_t> const& own) {
    if (shape.extents.empty()) return;
    if (shape.extents.size() >= own.size() && std::equal(own.rbegin(), own.rend(), shape.extents.rbegin()))
      return;
    std::string text;
    for (std::int64_t const n : own) text += (text.empty() ? "(" : ",") + std::to_string(n);
    refuse_shape(shape, "the encoding is one of the shape " + text + ")");
  }
  BitPlaces inverse(OffsetBases const& bases) {
    if (auto found = places(bases)) return std::move(*found);
    TritonField const* const f = find("offset");
    in_.fail("these bases do not give every coordinate one offset", f->at, f->length,
             "as many bits of the offset as of the coordinates, none a sum (XOR) of others; a gap is a base "
             "of zeros");
  }

  /// shared_linear, and linear with an offset.
  Mapping linear(TritonShape const& shape) {
    OffsetBases const bases = offset_bases(shape);
    refuse_splits();
    for (char const* name : {"register", "lane", "warp"})
      if (TritonField const* const f = find(name))
        in_.fail(std::string(name) + " says which thread holds an element, and offset where it lies", f->at,
                 f->length, "of shared memory leave it out");
    std::optional<std::int64_t> alignment;
    if (find("alignment") != nullptr) alignment = power("alignment");
    Mapping map = finish(shape, bases.shape, inverse(bases), std::int64_t{1} << bases.coordinates.size());
    if (alignment)
      map.notes.push_back("alignment = " + std::to_string(*alignment) +
                          ": Triton starts the buffer at a multiple of it, which --align " +
                          std::to_string(*alignment) + " assumes");
    return map;
  }

  /// i + sum of (i / interval) * padding, of the offset i that the linear part gives: bits stay apart, so it is a layout.
  Mapping padded(TritonShape const& shape) {
    if (encoding_.pads.empty()) missing("intervals");
    OffsetBases bases;
    BitPlaces places;
    if (find("offset") != nullptr || find("order") == nullptr) {
      for (char const* name : {"order", "shape"})
        if (TritonField const* const f = find(name); f != nullptr && find("offset") != nullptr)
          in_.fail("offset says where every element lies: " + std::string(name) + " has no meaning with it",
                   f->at, f->length);
      bases = offset_bases(shape);
      for (std::vector<std::int64_t> const& base : bases.coordinates)
        if (std::count(base.begin(), base.end(), 0) + 1 != static_cast<std::ptrdiff_t>(base.size()) ||
            !is_power(std::accumulate(base.begin(), base.end(), std::int64_t{0})))
          in_.fail("each base of padded_shared moves along one axis by a power of two", find("offset")->at,
                   find("offset")->length);
      refuse_splits();
      places = inverse(bases);
    } else {
      std::vector<std::size_t> const axes = order();
      TritonField const* const f = find("shape");
      if (f == nullptr) missing("shape");
      TritonShape const own{f->value.leaves(), {}, {}, f->at, f->length};
      if (own.extents.size() != axes.size())
        in_.fail("shape and order have as many axes each", f->at, f->length);
      bases.shape = extents_of(own, axes.size());
      check_given(shape, bases.shape);
      places = in_order(bases.shape, axes);
    }
    if (shape.extents.size() > bases.shape.size())
      refuse_shape(shape, "buffers of a padded encoding are not laid out here", "give one buffer's shape");
    for (std::uint64_t& place : places) {
      std::uint64_t const offset = place;
      for (auto const& [interval, padding] : encoding_.pads)
        place += offset / static_cast<std::uint64_t>(interval) * static_cast<std::uint64_t>(padding);
    }
    Mapping map;
    map.on_elements = {layout_of_bits(bases.shape, places)};
    return map;
  }

  Scanner& in_;
  MappingOptions const& options_;
  TritonEncoding const& encoding_;
};

}  // namespace

Mapping lay_out_triton(Scanner& in, MappingOptions const& options, TritonEncoding const& encoding,
                       TritonShape const& shape) {
  return TritonLayouts(in, options, encoding).lay_out(shape);
}

}  // namespace swizproof
