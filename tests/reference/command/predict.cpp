// predict: raw lane addresses, a JSON line each.
#include "reference/model/warp.hpp"

namespace reference {
namespace {

long long draw_address(Random& r, int width, int style, int lane, long long a, long long b) {
  switch (style) {
    case 0:
      return r.below(4096) * width;
    case 1:
      return (lane * a + b) * width;
    case 2:
      return (lane / 2 * a + b) * width;  // pairs l, l^1
    case 3:
      return (lane % 2 + lane / 4 * 2) * a * width;  // pairs l, l^2
    case 4:
      return ((lane < 16 ? lane / 2 : lane % 2 + lane / 4 * 2) + b) * width;  // half by half: no merge
    case 5:
      return (r.below(4) * a + b) * width;
    case 6:
      return ((lane * a) ^ (lane >> 2) ^ b) * width;
    case 7:
      return r.chance(10) ? r.below(1ll << 32) / width * width : r.below(64) * width;
    default:
      return (4294967296ll - width) - lane * width * (a % 8);
  }
}

struct Line {
  Instruction op;
  Warp warp;
  bool good = true;
};

Line draw_line(Campaign& c, Random& r) {
  Line line;
  line.op = r.pick(instructions());
  auto const style = static_cast<int>(r.below(9));
  auto const a = r.pick({1ll, 1ll, 2ll, 3ll, 4ll, 8ll, 16ll, 32ll, 33ll}), b = r.below(64);
  auto const mask = r.below(8);
  for (int lane = 0; lane < 32; ++lane) {
    bool const active = mask < 3 || (mask == 3 && r.chance(50)) || (mask == 4 && lane < 8) ||
                        (mask == 5 && lane == 17) || (mask == 6 && lane % 2 == 0);
    if (!active && !(line.op.is_matrix() && r.chance(99))) continue;
    auto const address = draw_address(r, line.op.width, style, lane, a, b);
    line.warp[lane] = std::max(0ll, std::min(address, 4294967296ll - line.op.width));
  }
  if (r.chance(2)) {
    auto const lane = r.below(32);
    if (line.op.width > 1 && line.warp[lane]) line.warp[lane] = *line.warp[lane] + 1;
  }
  for (int lane = 0; lane < line.op.lanes(); ++lane) {
    if (line.warp[lane] && *line.warp[lane] % line.op.width != 0) line.good = false;
    if (!line.warp[lane] && line.op.is_matrix()) line.good = false;
  }
  if (mask > 3) c.drew("few active lanes or none");
  if (!line.good) c.drew("misaligned vectors, or lanes that a matrix lacks");
  if (line.op.width < 4) c.drew("8- and 16-bit accesses");
  if (line.op.kind == Instruction::async) c.drew("cp.async");
  return line;
}

void compare_line(Campaign& c, Line const& line, Json const& got, std::string const& where, bool explain) {
  auto const model = cost(line.op, line.warp, explain);
  if (model.merged) c.drew("merged loads");
  c.same(got.at("wavefronts"), model.wavefronts, where + "wavefronts");
  c.same(got.at("degree"), model.degree, where + "degree");
  c.same(got.at("ideal"), line.op.ideal(), where + "ideal");
  c.same(got.at("excess"), std::max(0, model.wavefronts - line.op.ideal()), where + "excess");
  if (!explain) return;
  std::map<std::pair<int, int>, Json> mine, theirs;
  for (auto const& m : model.meetings) {
    Json& lanes = mine[{m.group, m.bank}] = Json::array();
    for (auto const& [lane, word] : m.served)
      lanes.push_back({{"lane", lane}, {"address", *line.warp[lane]}, {"word", word}});
  }
  for (auto const& m : got.at("conflicts")) {
    c.same(m.at("by_lane"), line.op.kind == Instruction::async, where + "by_lane");
    theirs[{m.at("phase").get<int>(), m.at("bank").get<int>()}] = m.at("lanes");
  }
  c.same(theirs, mine, where + "conflicts");
}

}  // namespace

long long predict_case(Campaign& c, Random& r) {
  std::vector<Line> lines;
  std::string text;
  bool const explain = r.chance(50);
  auto const count = r.between(20, 40);
  for (long long n = 0; n < count; ++n) {
    lines.push_back(draw_line(c, r));
    Json json{{"op", lines.back().op.name}, {"address", Json::array()}};
    for (auto const& address : lines.back().warp)
      json["address"].push_back(address ? Json(*address) : Json(nullptr));
    text += json.dump() + "\n";
  }
  std::vector<std::string> words{"predict", c.file("lines.jsonl", text)};
  if (explain) words.emplace_back("--explain"), c.drew("--explain");
  auto const answer = c.ask(words);
  auto const predictions = answer.json().at("predictions");
  c.same(predictions.size(), lines.size(), "predictions");
  bool bad = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto const where = "line " + std::to_string(i + 1) + " ";
    if (lines[i].good) {
      compare_line(c, lines[i], predictions[i], where, explain);
      continue;
    }
    c.same(predictions[i].at("line"), i + 1, where + "is bad");
    c.refused();
    bad = true;
  }
  c.same(answer.code, bad ? 2 : 0, "exit code");
  return count;
}

}  // namespace reference
