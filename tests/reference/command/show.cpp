// show --json: the picture's numbers.
#include <algorithm>

#include "reference/model/access.hpp"

namespace reference {
namespace {

// Access and origin: chosen with --origin or --set, or left to the tool, which takes the worst.
struct View {
  Access access;
  bool chosen = true;
  Origin origin;
};

void choose(View const& view, Tile const& tile, std::vector<std::string>& words) {
  if (view.access.form != Access::named) {
    for (auto const& [name, value] : view.origin)
      words.insert(words.end(), {"--set", name + "=" + std::to_string(value)});
    return;
  }
  // --origin is in elements: along the lines it is the byte's element.
  auto const along = std::to_string(view.origin.at("byte") * 8 / tile.bits),
             line = std::to_string(view.origin.at("row"));
  bool const columns = view.access.coordinate[0].op == "/";
  words.insert(words.end(), {"--origin", columns ? along + "," + line : line + "," + along});
}

void compare_tile(Campaign& c, Tile const& tile, long long base, Json const& picture) {
  c.same(picture.at("rows"), tile.extent(0), "rows");
  c.same(picture.at("cols"), tile.extent(1), "cols");
  c.same(picture.at("element_bits"), tile.bits, "element_bits");
  c.same(picture.at("base"), base, "base");
  std::vector<long long> address, bank;
  for (long long row = 0; row < tile.extent(0); ++row)
    for (long long col = 0; col < tile.extent(1); ++col) {
      address.push_back(floor_div(tile.place(tile.index({row, col}), 0, base), 8));
      bank.push_back(((floor_div(address.back(), 4) % 32) + 32) % 32);
    }
  c.same(picture.at("sides").back().at("address"), address, "address");
  c.same(picture.at("sides").back().at("bank"), bank, "bank");
}

void compare_access(Campaign& c, Question const& q, View const& view, long long base, Json const& picture) {
  auto origin = view.origin;
  if (!view.chosen)
    for (auto& [name, value] : origin)
      if (picture.at("access").at("origin").contains(name))
        value = picture.at("access").at("origin").at(name);
  auto const shot = shoot(q, view.access, origin, base);
  auto const price = cost(view.access.op, shot.warp);
  auto const& side = picture.at("sides").back();
  c.same(side.at("wavefronts"), price.wavefronts, "wavefronts");
  c.same(side.at("degree"), price.degree, "degree");
  c.same(side.at("ideal"), view.access.op.ideal(), "ideal");
  c.same(side.at("excess"), std::max(0, price.wavefronts - view.access.op.ideal()), "excess");
  for (auto const& lane : picture.at("access").at("lanes")) {
    auto const l = lane.at("lane").get<std::size_t>();
    c.expect(shot.warp.at(l).has_value(), "lane " + std::to_string(l) + " is not active");
    c.same(lane.at("address"), *shot.warp[l], "address of lane " + std::to_string(l));
  }
  if (view.chosen) return;
  c.drew("the worst origin, found by the tool");
  for (auto const& other : origins(view.access, nullptr)) {
    auto const other_cost = cost(view.access.op, shoot(q, view.access, other, base).warp).wavefronts;
    c.expect(other_cost <= price.wavefronts, "another origin costs " + std::to_string(other_cost));
  }
}

}  // namespace

long long show_case(Campaign& c, Random& r) {
  Question q;
  do {
    q = draw_question(r, true, false);
  } while (!q.tile || q.tile->rank() != 2 || q.tile->size() > 1024);
  note(c, q);
  auto words = q.layout_words();
  words.insert(words.begin(), "show");
  long long base = 0;
  if (r.chance(40)) {
    base = 16 * r.below(70);
    words.insert(words.end(), {"--base", std::to_string(base)});
    c.drew("--base");
  }
  std::optional<View> view;
  bool fits = true, idle = false;
  if (r.chance(60) && q.accesses[0].form != Access::thread_value) {
    auto const all = origins(q.accesses[0], nullptr);
    view = View{q.accesses[0], r.chance(65), r.pick(all)};
    words.insert(words.end(), {"--access", view->access.text});
    if (view->chosen) choose(*view, *q.tile, words);
    for (auto const& origin : view->chosen ? std::vector<Origin>{view->origin} : all) {
      auto const shot = shoot(q, view->access, origin, base);
      fits = fits && shot.fit.fits;
      idle = idle || std::none_of(shot.warp.begin(), shot.warp.end(),
                                  [](auto const& lane) { return lane.has_value(); });
    }
  }
  auto const answer = c.ask(words);
  if (!fits || idle) c.drew(idle ? "nothing is accessed" : "a lane that does not fit");
  // Such an access is refused, or drawn with what is wrong with it.
  if ((!fits || idle) && answer.code == 2) return c.refused(), 1;
  c.expect(answer.code == 0, "model: exit 0");
  auto const picture = answer.json().at("pictures").at(0);
  compare_tile(c, *q.tile, base, picture);
  if (view && fits && !idle) compare_access(c, q, *view, base, picture);
  return 1;
}

}  // namespace reference
