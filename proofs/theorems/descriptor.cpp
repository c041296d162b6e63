// When a kernel may add bytes to the start of a descriptor, and from which base a tile is read.
//
// sigma is the mode's swizzle with a base offset b: swizzled() of H9. W are the 16-byte columns of its rows (2, 4, 8 for 32B, 64B, 128B).
//
//   K-major    block j of k, 32 bytes, is read with start + 32 j         iff it ends inside the row: 32 j + 32 <= 16 W
//   MN-major   the next block of k, 16 elements, with start + 2 SBO      always
//              rows from column c on, with start + 16 c                  iff they end inside the atom: c + columns <= W
//   none       the next block of k with start + 2 LBO                    always, K-major and MN-major
//   base       a tile that is swizzled from its own base p               iff p = 128 b modulo the pattern of 128 W bytes
//
// Every start of an advance is correct, so that neither the tile's base nor the base offset has a say in them. "Only if" is about
// tiles whose elements do not share places: the next panel (or atom) does not begin where the second row does, at 16 W.
// DeepGEMM, FlashMLA and CUTLASS's DescriptorIterator add such steps.
#include "theorem.hpp"

#include <swizproof/hardware/descriptor.hpp>

#include <bit>

namespace swizproof::proofs {

namespace {

constexpr char const* source =
    "PTX ISA 9.1, 9.7.15.5.1; CUTLASS DescriptorIterator, mma_traits_sm90_gmma.hpp";
constexpr char const* source_tcgen05 =
    "PTX ISA 9.1, 9.7.16.4.1; CUTLASS mma_sm100_desc.hpp, mma_traits_sm100.hpp; documented, not measured";

/// Blocks, or columns, of a question.
enum class Part : std::uint8_t {
  inside,  ///< those that end inside the row, or the atom: read from where they are stored
  beyond,  ///< the others, of tiles without shared places: read from elsewhere
  all,     ///< all of them read from where they are stored, which is false
};

constexpr unsigned blocks = 16;  ///< of k that an advance inside a row is stated of

/// Block j of k is read with start + 32 j. Rows may lie anywhere, and so may the panels into which the tile is cut. A byte k of a
/// row is read from the address start + row + k, before it is swizzled, and stored at the one that is k / width panels, less as
/// many rows, further on.
std::vector<Question> k_blocks(OperandMode const& mode, Part part) {
  std::vector<Question> questions;
  unsigned const width = mode.shape.row_bytes;
  for (unsigned j = 0; j < blocks; ++j) {
    bool const ends_inside = 32 * j + 32 <= width;
    if ((part == Part::inside && !ends_inside) || (part == Part::beyond && ends_inside)) continue;
    questions.push_back(ask("block " + std::to_string(j), 32,
                            {{"read/16", 28}, {"base offset", 3}, {"byte", 4}, {"half", 1}, {"panel/16", 14}},
                            [=](auto chunk, auto b, auto byte, auto half, auto panel) {
                              using W = decltype(chunk);
                              W const read = shl(chunk, 4) + byte, panel_bytes = shl(panel, 4);
                              auto const reads_right = [&](W at) {
                                W const panels = (at + 32 * j) / width;
                                return swizzled(mode.swizzle, b, read) ==
                                       swizzled(mode.swizzle, b, W(read + panels * (panel_bytes - width)));
                              };
                              // The last 16 bytes of a block that does not end inside are beyond the row.
                              if (part == Part::beyond)
                                return states(!(panel_bytes == width), !reads_right(like(read, 16)));
                              return states(reads_right(W(shl(half, 4) + byte)));
                            }));
  }
  return questions;
}

/// Rows from column c of an atom on: with start + 16 c the column `column` is read.
Question mn_major_rows(OperandMode const& mode, Part part) {
  return ask(std::string(mode.name) + (part == Part::inside ? ", inside" : ", beyond"), 32,
             {{"start/16", 28},
              {"base offset", 3},
              {"c", 3},
              {"columns", 5},
              {"column", 5},
              {"line", static_cast<unsigned>(std::bit_width(mode.shape.k_lines - 1U))},
              {"length/16", 14}},
             [=](auto start, auto b, auto c, auto columns, auto column, auto line, auto lbo) {
               using W = decltype(start);
               unsigned const width = mode.shape.row_bytes / 16;
               W const s = shl(start, 4), lbo_bytes = shl(lbo, 4);
               auto const place = [&](W at) {
                 return at % width * 16 + at / width * lbo_bytes + line * (16 * width);
               };
               auto const read = [&](W at) { return swizzled(mode.swizzle, b, W(s + c * 16 + place(at))); };
               auto const stored = [&](W at) { return swizzled(mode.swizzle, b, W(s + place(W(c + at)))); };
               auto const in_atom = c < width && columns < width + 1 && !(like(s, width) < W(c + columns));
               if (part == Part::inside)
                 return states(in_atom && column < columns, read(column) == stored(column));
               if (part == Part::all) return states(read(column) == stored(column));
               // The first column beyond the atom is one of them.
               W const first = width - c;
               return states(0 < c && c < width && first < columns && !(lbo_bytes == 16 * width),
                             !(read(first) == stored(first)));
             });
}

/// In an MN-major tile, and without a swizzle in a K-major one, the parts of a block of k, 2 or 4, lie one length apart: SBO under a
/// swizzle, LBO without. The next block is read with start + groups such lengths: the addresses that go into the swizzle are equal,
/// whichever it is. The place in the part holds all else. Since the start is any, so is the block before.
std::vector<Question> next_k(unsigned groups, unsigned parts = 2) {
  std::vector<Question> questions;
  for (unsigned part = 0; part < parts; ++part) {
    std::string const name = parts == 2 ? "half" : "quarter";
    questions.push_back(ask(name + " " + std::to_string(part), 32,
                            {{"start/16", 14}, {"place in the " + name, 18}, {"length/16", 14}},
                            [=](auto start, auto place, auto length) {
                              using W = decltype(start);
                              W const s = shl(start, 4), bytes = shl(length, 4);
                              return states(W(s + bytes * groups + (bytes * part + place)) ==
                                            W(s + (bytes * (parts + part) + place)));
                            }));
  }
  return questions;
}

/// "p = 128 b modulo the pattern", of bases that are multiples of 16.
template <class W>
auto base_is_good(OperandMode const& mode, W p, W b) {
  unsigned const pattern = 8 * mode.shape.row_bytes;
  return (p & (pattern - 1)) == (shl(b, 7) & (pattern - 1));
}

/// A tile swizzled from its own base: the place x of it lies at p + swizzle(x), and is read from sigma(p + x).
Question good_bases(OperandMode const& mode, bool any_base) {
  return ask(std::string(mode.name) + ", every place", 32, {{"start/16", 28}, {"base offset", 3}, {"x", 32}},
             [=](auto start, auto b, auto x) {
               using W = decltype(start);
               W const p = shl(start, 4);
               auto const equal = swizzled(mode.swizzle, b, W(p + x)) == W(p + mode.swizzle(x));
               return any_base ? states(equal) : states(base_is_good(mode, p, b), equal);
             });
}

/// From another base one of the 8 x W columns of the first atom is read from elsewhere.
Question other_bases(OperandMode const& mode) {
  return ask(std::string(mode.name) + ", other bases", 32, {{"start/16", 28}, {"base offset", 3}},
             [=](auto start, auto b) {
               using W = decltype(start);
               W const p = shl(start, 4);
               truth_of<W> all = true;
               for (unsigned x = 0; x < 8 * mode.shape.row_bytes; x += 16)
                 all = all && swizzled(mode.swizzle, b, W(p + x)) == W(p + mode.swizzle(like(p, x)));
               return states(!base_is_good(mode, p, b), !all);
             });
}

/// True if 64 bits are a descriptor of `reader`, except for the number of the mode.
template <class W>
auto is_descriptor(OperandReader reader, W d, bool with_version) {
  std::uint64_t reserved = 0;
  for (unsigned bit = 0; bit < 64; ++bit) reserved |= decode(reader, std::uint64_t{1} << bit).reserved;
  auto const clean = (d & reserved) == 0;
  if (reader == OperandReader::wgmma || !with_version) return clean;
  return clean && (shr(d, version_field.first) & 7) == 1;
}

Question one_generation(bool with_version) {
  return ask("64 bits", 64, {{"descriptor", 64}}, [=](auto d) {
    return states(is_descriptor(OperandReader::wgmma, d, with_version),
                  !is_descriptor(OperandReader::tcgen05, d, with_version));
  });
}

/// A descriptor of wgmma is one of tcgen05 with this number added: the same fields, and a mode of the same swizzle.
Question same_but_for(std::uint64_t added) {
  return ask("64 bits", 64, {{"descriptor", 64}}, [=](auto d) {
    using W = decltype(d);
    W const other = d + added;
    auto const field = [](W number, DescriptorField f) {
      return W(shr(number, f.first) & ((std::uint64_t{1} << f.bits) - 1));
    };
    truth_of<W> same = is_descriptor(OperandReader::tcgen05, other, true);
    for (DescriptorField const& f : {start_field, leading_field, stride_field, base_offset_field})
      same = same && field(other, f) == field(d, f);
    for (OperandMode const& mode : operand_modes) {
      if (mode.wgmma < 0) continue;
      auto const had = field(d, mode_field(OperandReader::wgmma)) == static_cast<unsigned>(mode.wgmma);
      auto const has =
          field(other, mode_field(OperandReader::tcgen05)) == static_cast<unsigned>(mode.tcgen05);
      same = same && !(had && !has);
    }
    return states(is_descriptor(OperandReader::wgmma, d, true), same);
  });
}

std::vector<Question> if_and_only_if(OperandMode const& mode) {
  std::vector<Question> all = k_blocks(mode, Part::inside);
  for (Question& q : k_blocks(mode, Part::beyond)) all.push_back(std::move(q));
  return all;
}

std::string starts_of_all() { return "all starts below 2^32 that are multiples of 16, all base offsets; "; }

/// "Rows from column c on", of MN-major tiles.
void add_columns(std::vector<Claim>& claims, OperandMode const& mode, char const* from) {
  claims.push_back(
      {"descriptor/" + std::string(mode.name) + ", MN-major, rows from column c on",
       several("MN-major, " + std::string(mode.name) +
                   ": start + 16 c reads 16-byte columns c .. c + n - 1 of the rows if and only "
                   "if they end inside an atom",
               {mn_major_rows(mode, Part::inside), mn_major_rows(mode, Part::beyond)}),
       starts_of_all() + "up to 31 columns of 16 bytes, " + std::to_string(mode.shape.k_lines) +
           " lines of k, LBO < 2^18, but for \"only if\" not one line, where elements share places",
       from, single("... however many they are", mn_major_rows(mode, Part::all))});
}

void add_swizzled(std::vector<Claim>& claims, OperandMode const& mode) {
  std::string const name = "descriptor/" + std::string(mode.name);
  claims.push_back({name + ", K-major, next k",
                    several("K-major, " + std::string(mode.name) +
                                ": start + 32 j reads bytes 32 j .. 32 j + 31 of each row's k if and only if "
                                "they lie in one row of the swizzle",
                            if_and_only_if(mode)),
                    starts_of_all() +
                        "j < 16, rows anywhere, panels < 2^18, but for \"only if\" not one row, where "
                        "elements share places",
                    source, several("... for every j", k_blocks(mode, Part::all))});
  add_columns(claims, mode, source);
  claims.push_back(
      {name + ", base",
       several(std::string(mode.name) +
                   ": a tile swizzled from its own base p is read with start p and base offset b if and only "
                   "if p = 128 b modulo " +
                   std::to_string(8 * mode.shape.row_bytes),
               {good_bases(mode, false), other_bases(mode)}),
       "all p below 2^32 that are multiples of 16, all base offsets; all 32-bit places, and one atom", "H9",
       single("... for every p", good_bases(mode, true))});
}

}  // namespace

void add_descriptor(std::vector<Claim>& claims) {
  claims.push_back({"descriptor/MN-major, and none, next k",
                    several("MN-major, 16-bit elements: start + 2 SBO reads the next 16 of k; without a "
                            "swizzle, of either order, start + 2 LBO does",
                            next_k(2)),
                    "all starts and lengths below 2^18 that are multiples of 16, all places below 2^18; any "
                    "swizzle, any base offset",
                    source, several("start + SBO does", next_k(1))});
  for (OperandMode const& mode : operand_modes)
    if (mode.shape.swizzled && mode.number(OperandReader::wgmma) >= 0) add_swizzled(claims, mode);
  claims.push_back(
      {"descriptor/of one generation",
       single("no 64 bits are a descriptor of wgmma and one of tcgen05, whose reserved bits are 0",
              one_generation(true)),
       "all 64-bit numbers", "PTX ISA 9.1, 9.7.15.5.1 and 9.7.16.4.1",
       single("... without the version in bits 48..46", one_generation(false))});
  // Differences of tcgen05: the version, a mode, and MN-major elements of 8 and 32 bits.
  claims.push_back(
      {"descriptor/tcgen05, bit 46",
       single("a descriptor of wgmma with bit 46 set is tcgen05's of the same start, lengths, base "
              "offset and swizzle",
              same_but_for(std::uint64_t{1} << version_field.first)),
       "all 64-bit numbers", source_tcgen05, single("... as it is", same_but_for(0))});
  claims.push_back(
      {"descriptor/tcgen05, MN-major, 8 bits, next k",
       several("MN-major, 8-bit elements: start + 4 SBO reads the next 32 of k, and without a swizzle "
               "start + 4 LBO",
               next_k(4, 4)),
       "all starts and lengths below 2^18 that are multiples of 16, all places below 2^18; any "
       "swizzle, any base offset",
       source_tcgen05, several("start + 2 SBO does, as of 16-bit elements", next_k(2, 4))});
  for (OperandMode const& mode : operand_modes)
    if (mode.number(OperandReader::wgmma) < 0) add_columns(claims, mode, source_tcgen05);
}

}  // namespace swizproof::proofs
