// LAYOUT in all its forms: what CuTe prints, CuTe's algebra, atoms by name, functions.
//
//   mapping.cpp         the whole text; compositions f o offset o g; flags; calls
//   part.cpp            swizzles and offsets
//   pointer.cpp         tensors: bound pointers and coordinates before a layout
//   algebra.cpp         composition(L, L) and its kin
//   atom.cpp            tma:..., gmma:..., umma:...
//   descriptor.cpp      desc:...
//   view.cpp            partition_A(TILEDMMA, thread, L) and its kin
//   coordinate.cpp      fn(row, col) = ... (64,64)
//   triton.cpp          #ttg.swizzled_shared<{...}> (64,64) and its kin
//   kernel_language.cpp st<bf16, 64, 64> and tiles of other languages of kernels
//   table.cpp           what print_layout and print_tensor print below their first line
//   declaration.cpp     __shared__ half a[64][72]
//   spelling.cpp        what C++, CuTe DSL and Mojo write around these, and names that are none of them
//   layout_parser.cpp   shapes, strides, layouts and tilers, the parts of all of these
#pragma once

#include "parse/expression/c_type.hpp"
#include "parse/layout/layout_parser.hpp"
#include "parse/layout/part_parser.hpp"

#include <swizproof/layout/composed.hpp>

namespace swizproof {

/// The start of the note on a result that CuTe has otherwise where integers are known at run time alone.
inline constexpr std::string_view run_time_note = "plain integers are read as static ones here; ";

/// Argument or result of a function of the algebra.
using Value = std::variant<Tiler, Mapping, Order>;

/// A value, and where in the text it stands.
struct Argument {
  Value value;
  std::size_t at = 0;
  std::size_t length = 0;
};

/// A call as it was written: `upcast<2>(L)`.
struct Call {
  std::string_view name;
  std::vector<std::int64_t> numbers{};  ///< numbers in angle brackets
  std::vector<Argument> arguments{};
};

/// True for the name of a function of the algebra.
[[nodiscard]] bool is_algebra(std::string_view name);
/// All of these names.
[[nodiscard]] std::vector<std::string> algebra_names();
/// The result of a call; what it says about the result goes to `notes`. Throws AlgebraError.
[[nodiscard]] Value evaluate(Call const& call, std::vector<std::string>& notes);

/// True for the name of a view of one thread: `partition_A`, `partition_S`.
[[nodiscard]] bool is_view(std::string_view name);
/// CuTe's get_flat_coord: the index of a thread, an integer, in each mode of a layout of threads. Of a thread that is known at run
/// time alone so are the indices in modes longer than 1.
[[nodiscard]] std::vector<Tiler> flat_coordinate(Layout const& threads, IntTuple const& thread);

/// True before the name of a mode of TMA: `tma:`, `CU_TENSOR_MAP_SWIZZLE_`, Mojo's `TensorMapSwizzle.SWIZZLE_`.
[[nodiscard]] bool at_tma(Scanner& in);
/// True before the name of an atom of wgmma or tcgen05: `gmma:`, `umma:`, CUTLASS's `GMMA::Layout_`.
[[nodiscard]] bool at_operand_atom(Scanner& in);

/// `tma:128B`, `tma:128B<f16> (128,64)`; `CU_TENSOR_MAP_SWIZZLE_128B` for the mode.
[[nodiscard]] Mapping parse_tma(Scanner& in, MappingOptions const& options);
/// `gmma:K_SW128<f16>`, `umma:MN_SW128_32B<tf32> (128,64,3)`: the atoms of wgmma and of tcgen05; as CUTLASS names them,
/// `GMMA::Layout_K_SW128_Atom<half_t>{}`, `UMMA::Layout_SW128_Atom<half_t, UMMA::Major::K>`.
[[nodiscard]] Mapping parse_operand_atom(Scanner& in, MappingOptions const& options);
/// `desc:0x4000004000010000<f16>,K (64,16)`: what one instruction reads.
[[nodiscard]] Mapping parse_descriptor(Scanner& in, MappingOptions const& options);
/// `#ttg.swizzled_shared<{vec = 8, ...}> (64,64)`, `#shared = #ttg...`, `!ttg.memdesc<64x64xf16, #ttg..., #smem>`; as Gluon
/// writes the same, `SwizzledSharedLayout(vec=8, ...) (64,64)`.
[[nodiscard]] Mapping parse_triton(Scanner& in, MappingOptions const& options);
/// True before a shared layout of Gluon: `ttgl.NVMMASharedLayout(`.
[[nodiscard]] bool at_gluon(Scanner& in);
/// fn(row, col) = expression (64,64): element offsets by coordinate. A layout, or a swizzle on one, where it is one; else the
/// expression on a compact layout. `text` is how it is written.
[[nodiscard]] Mapping coordinate_function(Expression const& expression,
                                          std::vector<std::int64_t> const& shape, std::string text);
/// True before a tile of ThunderKittens, TileLang or Mosaic: `st<`, `make_full_bank_swizzled_layout(`, `SMEM(`.
[[nodiscard]] bool at_kernel_language(Scanner& in);
/// `kittens::st_bf<64, 64>`, `tilelang.layout.make_full_bank_swizzled_layout(64, 64, 16)`,
/// `plgpu.SMEM((64, 64), jnp.bfloat16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)))`.
[[nodiscard]] Mapping parse_kernel_language(Scanner& in, MappingOptions const& options);
/// The element type that comes next, up to a '>', ',' or ')'.
[[nodiscard]] Element parse_element_here(Scanner& in);
/// `<f16>` behind a name, or what --element says; `type` becomes its first name.
[[nodiscard]] std::optional<unsigned> parse_angled_element(Scanner& in, MappingOptions const& options,
                                                           std::string& type);
/// The extents behind an atom or a descriptor, all static: numbers that kernels know when they are compiled.
[[nodiscard]] IntTuple parse_extents(Scanner& in, std::string const& hint = {});
/// Probable meaning of a swizzle that is written in the wrong unit, bytes or elements; nothing if none seems so.
[[nodiscard]] std::optional<std::string> note_of_unit(Mapping const& map);
/// Output of std::cout for a wgmma atom, which loses the flag; nothing if the map is not one.
[[nodiscard]] std::optional<std::string> note_of_lost_flag(Mapping const& map);

/// Passes the table that follows a printed layout or tensor, if the rest of the text is one.
void skip_table(Scanner& in, Mapping const& map, bool of_tensor);

/// True before an array of C.
[[nodiscard]] bool at_declaration(Scanner& in);
/// An array of one to four extents, `alignas(16) __shared__ half a[64][72];`. Its layout has row-major strides.
[[nodiscard]] Mapping parse_declaration(Scanner& in, LayoutParser& layouts, MappingOptions const& options);
/// ArithTuple(_0,_0) o layout: a coordinate map and the coordinate at which it starts.
[[nodiscard]] Value coordinates(Scanner& in, LayoutParser& layouts);

/// `l{}` and `l` before a semicolon, behind the type of a layout: `static constexpr Layout<Shape<_8,_64>> l{};`. Returns the name.
[[nodiscard]] std::string take_declared_name(Scanner& in);
/// True at a function of the algebra, `Layout(` of pycute and `Layout.row_major(` of Mojo among them.
[[nodiscard]] bool at_call(Scanner& in);
/// Takes `stride=` of `cute.make_layout((8,64), stride=(64,1))`, if it names the argument at this position.
void take_keyword(Scanner& in, std::string_view function, std::size_t position);
/// CuTe DSL's `mode=[0, 2]` of get and select, as the numbers in <> that C++ writes. False at another argument.
[[nodiscard]] bool take_modes(Scanner& in, Call& call);
/// `row_major` or `col_major` of Mojo's `Layout.row_major(8, 64)`.
[[nodiscard]] Order mojo_order(Scanner& in);
/// Says what a name is that is no layout.
[[noreturn]] void fail_at_name(Scanner& in);

/// Stages as they are read, and where each of map.on_elements begins.
struct Chain {
  Mapping map{};
  std::vector<std::size_t> places{};
  bool flagged = false;  ///< smem_ptr[..](unset) has come
  bool bound = false;    ///< a pointer precedes it
};
/// Makes the swizzle that was read act on bytes, and sets the bits of elements.
void flag(Scanner& in, Chain& chain, unsigned bits, std::size_t from);

/// A TiledMMA or TiledCopy, and the thread that get_slice() took of it.
struct Tiled {
  std::string block;
  std::optional<std::int64_t> thread{};
  std::size_t at = 0;  ///< position of its last use
  std::size_t length = 0;
};

/// Reads views of one thread, from a scanner that its owner shares.
class ViewParser {
 public:
  /// `argument` reads the layout of a tensor.
  ViewParser(Scanner& in, LayoutParser& layouts, MappingOptions const& options, int& depth,
             std::function<Argument()> argument)
      : in_(in), layouts_(layouts), options_(options), depth_(depth), argument_(std::move(argument)) {}

  [[nodiscard]] bool take_tiled(std::string const& name);
  [[nodiscard]] Value view();
  [[nodiscard]] std::optional<Value> method_view();
  /// True if a view was read.
  [[nodiscard]] bool called() const { return called_; }

 private:
  std::optional<Tiled> take_part();
  Value view_of(std::string_view name, Tiled const& tiled, std::size_t from);

  Scanner& in_;
  LayoutParser& layouts_;
  MappingOptions const& options_;
  int& depth_;
  std::function<Argument()> argument_;
  std::map<std::string, Tiled, std::less<>> tiled_{};
  bool called_ = false;
};

class MappingParser {
 public:
  MappingParser(std::string_view text, MappingOptions const& options)
      : in_(text), layouts_(in_, [this] { return call_in_tiler(); }), options_(options) {}

  /// The whole text. A Tiler holds an integer, a shape, or a layout that is a coordinate map.
  [[nodiscard]] Value parse();
  /// The whole text as a swizzle.
  [[nodiscard]] Swizzle parse_swizzle();
  /// Notes of parse() about an integer or a shape; a Mapping has its own notes.
  [[nodiscard]] std::vector<std::string> const& notes() const { return notes_; }
  /// The whole text as a function of offsets or addresses.
  [[nodiscard]] Mapping parse_mapping();
  /// True if the text calls the algebra, whose results for integers that are known at run time alone may be others.
  [[nodiscard]] bool calls_algebra() const { return calls_algebra_ || views_.called(); }

 private:
  Value line();
  Value composition();
  Value composed_type();
  Value inside_decltype();
  std::string take_declaration();
  bool at_type();
  bool take_definition(std::string const& name);
  void define(std::string const& name, Value value, std::size_t from);
  std::optional<Value> defined();
  Value rest_of(Chain chain);
  void add_stage(Chain& chain);
  void add_value(Chain& chain, Value value, std::size_t from);
  bool take_flag(Chain& chain);
  Value tensor(Pointer const& pointer);
  Value call();
  Tiler call_in_tiler();
  Argument argument();
  Mapping function();
  Mapping function_on_layout(Expression expression, std::string const& text);

  Scanner in_;
  LayoutParser layouts_;
  MappingOptions options_;
  std::vector<std::string> notes_{};
  int depth_ = 0;
  PartParser parts_{in_, layouts_, notes_};
  ViewParser views_{in_, layouts_, options_, depth_, [this] { return argument(); }};
  std::map<std::string, Value, std::less<>> definitions_{};
  bool is_tensor_ = false;
  bool calls_algebra_ = false;
};

}  // namespace swizproof
