// show --json: the picture's numbers.
#include <algorithm>

#include "access.hpp"

namespace stranger {
namespace {

long long floor_div(long long a, long long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

long long show_case(Campaign& c, Random& r) {
  Question q;
  do {
    q = draw_question(r, true, false);
  } while (!q.tile || q.tile->rank() != 2 || q.tile->size() > 1024);
  note(c, q);
  auto const& tile = *q.tile;
  std::optional<Access> access;
  if (r.chance(60)) access = q.accesses.front();
  if (access && access->form == Access::thread_value) access.reset();
  auto words = q.layout_words();
  words.insert(words.begin(), "show");
  long long base = 0;
  if (r.chance(40)) {
    base = 16 * r.below(70);
    words.insert(words.end(), {"--base", std::to_string(base)});
    c.drew("--base");
  }
  Origin origin;
  Shot shot;
  Cost price;
  if (access) {
    auto const all = origins(*access, nullptr);
    origin = r.pick(all);
    words.insert(words.end(), {"--access", access->text});
    if (access->form == Access::named) {
      // --origin is in elements: along the lines it is the byte's element.
      auto const along = origin["byte"] * 8 / tile.bits;
      bool const columns = access->coordinate[0].op == "/";
      words.insert(words.end(),
                   {"--origin", columns ? std::to_string(along) + "," + std::to_string(origin["row"])
                                        : std::to_string(origin["row"]) + "," + std::to_string(along)});
    } else {
      for (auto const& [name, value] : origin)
        words.insert(words.end(), {"--set", name + "=" + std::to_string(value)});
    }
    shot = shoot(q, *access, origin, base);
    price = cost(access->op, shot.warp);
  }
  auto const answer = c.ask(words);
  bool idle = true;
  for (auto const& lane : shot.warp) idle = idle && !lane;
  if (access && (!shot.fit.fits || idle)) {
    c.drew(idle ? "nothing is accessed" : "a lane that does not fit");
    // It is drawn with what is wrong, or refused.
    if (answer.code == 2) return c.refused(), 1;
    return 1;
  }
  c.expect(answer.code == 0, "model: exit 0");
  auto const picture = answer.json().at("pictures").at(0);
  c.same(picture.at("rows"), tile.extent(0), "rows");
  c.same(picture.at("cols"), tile.extent(1), "cols");
  c.same(picture.at("element_bits"), tile.bits, "element_bits");
  c.same(picture.at("base"), base, "base");
  auto const& side = picture.at("sides").back();
  std::vector<long long> address, bank;
  for (long long row = 0; row < tile.extent(0); ++row)
    for (long long col = 0; col < tile.extent(1); ++col) {
      address.push_back(floor_div(tile.place(tile.index({row, col}), 0, base), 8));
      bank.push_back(((floor_div(address.back(), 4) % 32) + 32) % 32);
    }
  c.same(side.at("address"), address, "address");
  c.same(side.at("bank"), bank, "bank");
  if (!access) return 1;
  c.same(side.at("wavefronts"), price.wavefronts, "wavefronts");
  c.same(side.at("degree"), price.degree, "degree");
  c.same(side.at("ideal"), access->op.ideal(), "ideal");
  c.same(side.at("excess"), std::max(0, price.wavefronts - access->op.ideal()), "excess");
  for (auto const& lane : picture.at("access").at("lanes")) {
    auto const l = lane.at("lane").get<std::size_t>();
    c.expect(shot.warp.at(l).has_value(), "lane " + std::to_string(l) + " is not active");
    c.same(lane.at("address"), *shot.warp[l], "address of lane " + std::to_string(l));
  }
  return 1;
}

}  // namespace stranger
