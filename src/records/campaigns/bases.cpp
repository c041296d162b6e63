// Addresses of shared arrays, as the device gave them, and H18 as `kernel` reads it of the PTX; and what readers made of tiles.
#include "records/campaigns/recomputation.hpp"

#include "campaign/bases.hpp"

#include <swizproof/ptx/arrays.hpp>
#include <swizproof/ptx/lower.hpp>

namespace swizproof {

namespace {

/// Addresses of the arrays that a kernel of the campaign names, in the order of its row.
std::vector<std::uint32_t> addresses_of(gpu::ArrayKernel const& kernel) {
  ptx::Module const module = ptx::read_module(kernel.ptx(), "the campaign");
  program::Program program = ptx::lower(module, module.functions.at(0));
  (void)ptx::place_arrays(module, module.functions[0], sm_90.code.value().reserved_shared, program);
  std::vector<std::uint32_t> out;
  for (char const kind : {'a', 'm', 'd'}) {
    auto const& list = kind == 'a' ? kernel.own : kind == 'm' ? kernel.of_module : kernel.external;
    for (std::size_t i = 0; i < list.size(); ++i)
      for (program::Variable const& v : program.symbols)
        if (list[i].is_named && v.name == kind + text_of(i))
          out.push_back(static_cast<std::uint32_t>(v.placed.value_or(0)));
  }
  return out;
}

/// A row of `arrays`.
std::string name_of(std::uint64_t unit, std::uint64_t compiler, std::uint64_t block) {
  return "arrays " + text_of(unit) + ", compiler " + text_of(compiler) + ", block " + text_of(block);
}
/// A row of `tiles`.
std::string name_of(gpu::BasedTile const& tile) {
  return "tile, mode " + text_of(static_cast<unsigned>(tile.mode)) + ", " +
         (tile.major == Major::k ? "k" : "mn") + "-major, at " + text_of(tile.base);
}

/// Rows [unit, compiler, block of the cluster, [address of each named array]].
std::uint64_t check_arrays(Recomputation& r, std::vector<gpu::ArrayKernel> const& kernels) {
  std::map<std::string, std::vector<std::uint32_t>> wanted;
  std::uint64_t addresses = 0;
  for (std::size_t unit = 0; unit < kernels.size(); ++unit) {
    if (!r.share.has(unit)) continue;
    std::vector<std::uint32_t> const first = addresses_of(kernels[unit]);
    for (std::uint64_t const compiler : {0U, 1U})
      for (unsigned block = 0; block < kernels[unit].cluster; ++block) {
        std::vector<std::uint32_t> all = first;
        for (std::uint32_t& a : all) a += block * gpu::cluster_stride;
        addresses += all.size();
        wanted[name_of(unit, compiler, block)] = std::move(all);
      }
  }
  std::map<std::string, std::vector<std::uint32_t> const*> kept;
  for (auto const& [about, all] : wanted) kept[about] = &all;
  auto const about = [](Json const& row) {
    return name_of(integer<std::uint64_t>(with_members(row, 4).at(0)), integer<std::uint64_t>(row.at(1)),
                   integer<std::uint64_t>(row.at(2)));
  };
  check_kept(r, r.list_of_rows("arrays"), kept, about,
             [&](std::string const& name, Json const& row, std::vector<std::uint32_t> const& all) {
               r.equal(name, integers<std::uint32_t>(row.at(3)), all);
             });
  return addresses;
}

/// Rows [mode, order, base, wrong elements of each reader].
void check_tiles_at_bases(Recomputation& r, std::vector<gpu::BasedTile> const& tiles, std::size_t first) {
  std::map<std::string, gpu::BasedTile const*> kept;
  for (std::size_t i = 0; i < tiles.size(); ++i)
    if (r.share.has(first + i)) kept[name_of(tiles[i])] = &tiles[i];
  auto const about = [](Json const& row) {
    std::string const major = with_members(row, 3 + gpu::tile_readers).at(1);
    if (major != "k" && major != "mn") malformed("a tile is k-major or mn-major");
    return name_of({static_cast<TmaMode>(integer<std::uint8_t>(row.at(0))),
                    major == "k" ? Major::k : Major::mn, integer<std::uint32_t>(row.at(2))});
  };
  check_kept(r, r.list_of_rows("tiles"), kept, about,
             [&](std::string const& name, Json const& row, gpu::BasedTile const& tile) {
               for (unsigned i = 0; i < gpu::tile_readers; ++i)
                 r.equal(name + ", reader " + text_of(i), integer<std::uint32_t>(row.at(3 + i)),
                         wrong_elements(tile, static_cast<gpu::TileReader>(i)));
             });
}

}  // namespace

void check_bases(Recomputation& r) {
  std::vector<gpu::ArrayKernel> const kernels = gpu::array_kernels();
  std::vector<gpu::BasedTile> const tiles = gpu::based_tiles();
  r.check_units(kernels.size() + tiles.size());
  std::uint64_t const addresses = check_arrays(r, kernels);
  check_tiles_at_bases(r, tiles, kernels.size());
  r.equal("addresses", r.counts.count("addresses"), addresses);
  r.equal<std::uint64_t>("mismatches", r.counts.count("mismatches"), 0);
  (void)r.longest.measured("seconds");
  r.evidence.scope =
      text_of(addresses) + " addresses of arrays and the readers of " + text_of(tiles.size()) + " tiles";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
