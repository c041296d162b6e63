#include "reference/model/access.hpp"

#include <algorithm>
#include <numeric>

namespace reference {
namespace {

Range draw_range(Random& r, std::string name, int most) {
  Range range;
  range.name = std::move(name);
  range.first = r.chance(80) ? 0 : r.between(0, 3);
  range.last = range.first + r.below(most);
  return range;
}

Expression scaled(Expression e, long long by) { return by == 1 ? e : apply("*", number(by), std::move(e)); }

// An expression of lane and variables with values in 0 .. most, mostly.
Expression draw_coordinate(Random& r, std::vector<Range> const& ranges, long long most) {
  auto const lane = variable("lane");
  auto const pick_range = [&]() -> std::optional<Expression> {
    if (ranges.empty() || r.chance(40)) return std::nullopt;
    return variable(r.pick(ranges).name);
  };
  auto const some = r.below(100);
  Expression e;
  if (some < 25) {
    e = apply("%", lane, number(1ll << r.between(0, 5)));
  } else if (some < 45) {
    e = apply("/", lane, number(1ll << r.between(0, 4)));
  } else if (some < 55) {
    e = lane;
  } else if (some < 65) {
    e = number(r.below(3));
  } else if (some < 75) {
    e = apply("^", apply("%", lane, number(1ll << r.between(1, 3))),
              apply("/", lane, number(1ll << r.between(2, 4))));
  } else {
    std::vector<std::string> names{"lane"};
    for (auto const& range : ranges) names.push_back(range.name);
    return apply("%", draw_expression(r, names, 2), number(std::max(1ll, most + (r.chance(5) ? 3 : 1))));
  }
  if (auto v = pick_range()) e = apply("+", e, scaled(*v, r.pick({1, 1, 2, 4, 8})));
  return r.chance(92) ? apply("%", e, number(most + 1)) : e;
}

std::string ranges_text(std::vector<Range> const& ranges) {
  std::string s;
  for (auto const& range : ranges)
    s += " for " + range.name + " in " + std::to_string(range.first) + ".." + std::to_string(range.last);
  return s;
}

struct Pattern {
  char const* name;
  char const* op;
  int rows, row_bytes;
  long long (*row)(long long);
  long long (*byte)(long long);
};

// Patterns that `swizproof accesses` prints, written again independently.
constexpr Pattern patterns[] = {
    {"ldmatrix.x1", "ldmatrix.x1", 8, 16, [](long long l) { return l % 8; }, [](long long) { return 0ll; }},
    {"ldmatrix.x2", "ldmatrix.x2", 8, 32, [](long long l) { return l % 8; },
     [](long long l) { return 16 * (l / 8 % 2); }},
    {"ldmatrix.x4", "ldmatrix.x4", 16, 32, [](long long l) { return l % 16; },
     [](long long l) { return 16 * (l / 16); }},
    {"ldmatrix.x4.b", "ldmatrix.x4", 16, 32, [](long long l) { return l % 8 + 8 * (l / 16); },
     [](long long l) { return 16 * (l / 8 % 2); }},
    {"stmatrix.x2", "stmatrix.x2", 16, 16, [](long long l) { return l % 16; }, [](long long) { return 0ll; }},
    {"stmatrix.x4.trans", "stmatrix.x4.trans", 16, 32, [](long long l) { return l % 8 + 8 * (l / 16); },
     [](long long l) { return 16 * (l / 8 % 2); }},
    {"copy.row128", "st.shared.b128", 4, 128, [](long long l) { return l / 8; },
     [](long long l) { return 16 * (l % 8); }},
    {"copy.row64", "st.shared.b128", 8, 64, [](long long l) { return l / 4; },
     [](long long l) { return 16 * (l % 4); }},
    {"copy.row32.async", "cp.async.b128", 16, 32, [](long long l) { return l / 2; },
     [](long long l) { return 16 * (l % 2); }},
    {"row_per_lane.load", "ld.shared.b128", 32, 16, [](long long l) { return l; },
     [](long long) { return 0ll; }},
    {"fragment.c.b16x2", "st.shared.b32", 8, 16, [](long long l) { return l / 4; },
     [](long long l) { return 4 * (l % 4); }},
    {"fragment.c.b32x2", "st.shared.b64", 8, 32, [](long long l) { return l / 4; },
     [](long long l) { return 8 * (l % 4); }},
    {"fragment.mn.b16", "ld.shared.b16", 8, 16, [](long long l) { return 2 * (l % 4); },
     [](long long l) { return 2 * (l / 4); }},
    {"column.b16", "ld.shared.b16", 32, 2, [](long long l) { return l; }, [](long long) { return 0ll; }},
    {"column.b32.load", "ld.shared.b32", 32, 4, [](long long l) { return l; }, [](long long) { return 0ll; }},
    {"column.b64", "ld.shared.b64", 32, 8, [](long long l) { return l; }, [](long long) { return 0ll; }},
    {"broadcast.b128", "ld.shared.b128", 1, 16, [](long long) { return 0ll; }, [](long long) { return 0ll; }},
    {"pair1.b128", "ld.shared.b128", 8, 32, [](long long l) { return l / 4; },
     [](long long l) { return 16 * (l / 2 % 2); }},
    {"pair2.b64", "ld.shared.b64", 4, 32, [](long long l) { return l / 8; },
     [](long long l) { return 8 * (l % 2 + 2 * (l / 4 % 2)); }},
};

// Formulas of a named pattern (no text is made of them).
Expression looked_up(long long (*f)(long long)) {
  Expression e;
  e.op = "t";
  for (long long l = 0; l < 32; ++l) e.table.push_back(f(l));
  return e;
}

bool row_major(Tile const& tile) {
  return tile.rank() == 2 && tile.extent(1) > 1 && tile.inner.modes[1].at(1) == 1;
}
bool column_major(Tile const& tile) {
  return tile.rank() == 2 && tile.extent(0) > 1 && tile.inner.modes[0].at(1) == 1;
}

// One axis along which an access is moved: values that its lanes reach, and how many there are.
struct Axis {
  std::string name;
  long long least = 0, most = 0, extent = 1, unit = 1;
};

// The positions of an access along an axis: all at which it fits, or those of a clause, which joins the text.
Range positions(Axis const& axis, std::string& text, Random& r, int narrowed) {
  long long const span = axis.most - axis.least, last = axis.extent - 1 - span;
  if (axis.least < 0 || axis.most >= axis.extent) return {axis.name, axis.least, axis.least, 1};
  auto step = axis.unit;
  if (r.chance(narrowed)) {
    bool const at = r.chance(50);
    auto const value = at ? r.between(0, last / axis.unit) * axis.unit : axis.unit * (1ll << r.between(0, 4));
    text += (at ? " at " : " step ") + axis.name + " " + std::to_string(value);
    if (at) return {axis.name, value, value, 1};
    step = value;
  }
  auto const first = axis.least % step;
  return {axis.name, first, first + (last - first) / step * step, step};
}

// Moves an access without variables to every position.
void move_everywhere(Access& access, Tile const& tile, Random& r, int narrowed) {
  bool const places = access.form == Access::coordinates || access.form == Access::plain_index;
  if (!places || !access.ranges.empty()) return;
  std::size_t const rank = tile.rank();
  if (access.coordinate.size() < rank) {  // CuTe's index: the first mode is the fastest
    auto index = access.coordinate[0];
    access.coordinate.clear();
    for (std::size_t m = 0; m < rank; ++m) {
      access.coordinate.push_back(m + 1 < rank ? apply("%", index, number(tile.extent(m))) : index);
      index = apply("/", index, number(tile.extent(m)));
    }
    access.form = Access::coordinates;
  }
  auto const neighbours = [&](std::size_t m) {
    return tile.extent(m) > 1 && (rank == 1 ? tile.inner.at(1) : tile.inner.modes[m].at(1)) == 1;
  };
  std::size_t along = rank == 1 || neighbours(0) ? 0 : 1;
  for (std::size_t m = rank; m-- > 1;)
    if (neighbours(m)) along = m;
  for (std::size_t m = 0; m < rank; ++m) {
    Axis axis{rank == 1   ? "index"
              : rank == 2 ? (m == 0 ? "row" : "col")
                          : "mode " + std::to_string(m),
              0, 0, tile.extent(m), 1};
    bool first = true;
    for (int lane = 0; lane < access.op.lanes(); ++lane) {
      std::map<std::string, long long> const values{{"lane", lane}};
      if (access.condition && (*access.condition)(values) == 0) continue;
      auto const v = access.coordinate[m](values);
      axis.least = first ? v : std::min(axis.least, v);
      axis.most = first ? v : std::max(axis.most, v);
      first = false;
    }
    if (first) return;
    if (m == along) {
      axis.most += (8 * access.op.width - 1) / tile.bits;
      axis.unit = std::lcm<long long>(tile.bits, 8 * access.op.width) / tile.bits;
    }
    access.ranges.push_back(positions(axis, access.text, r, narrowed));
    access.coordinate[m] =
        apply("+", access.coordinate[m], apply("-", variable(axis.name), number(axis.least)));
  }
}

bool draw_named(Access& access, Tile const& tile, Random& r, int narrowed) {
  if (row_major(tile) == column_major(tile)) return false;
  auto const& p = patterns[r.below(std::size(patterns))];
  access.op = instruction(p.op);
  bool const rows_first = row_major(tile);
  auto const lines = tile.extent(rows_first ? 0 : 1), bytes = tile.extent(rows_first ? 1 : 0) * tile.bits / 8;
  if (tile.bits < 8 || access.op.width * 8 < tile.bits || lines < p.rows || bytes < p.row_bytes) return false;
  access.form = Access::named;
  access.text = p.name;
  Axis row{"row", 0, 0, lines, 1}, byte{"byte", 0, 0, bytes, access.op.width};
  for (int lane = 0; lane < access.op.lanes(); ++lane) {
    row.most = std::max(row.most, p.row(lane));
    byte.most = std::max(byte.most, p.byte(lane) + access.op.width - 1);
  }
  access.ranges = {positions(row, access.text, r, narrowed), positions(byte, access.text, r, narrowed)};
  auto const line = apply("+", variable("row"), looked_up(p.row));
  auto const at =
      apply("/", apply("*", apply("+", variable("byte"), looked_up(p.byte)), number(8)), number(tile.bits));
  access.coordinate = rows_first ? std::vector<Expression>{line, at} : std::vector<Expression>{at, line};
  return true;
}

bool draw_thread_value(Access& access, Tile const& tile, Random& r) {
  // A copy moves whole elements.
  if (tile.rank() != 2 || access.op.width * 8 % tile.bits != 0) return false;
  auto const count = access.op.width * 8 / tile.bits;
  // Threads of a block of rows, each with `count` elements of a row, and `more` such pieces.
  auto const across = 1ll << r.between(0, 3), down = 1ll << r.between(r.chance(20) ? 0 : 2, 5);
  auto const more = 1ll << r.between(0, 1);
  auto& tv = access.tv;
  bool const columns = column_major(tile) && !row_major(tile);
  tv.rows = down * more;
  tv.cols = across * count;
  auto const along = columns ? 1 : tv.rows, line = columns ? tv.cols : 1;
  if (columns) std::swap(tv.rows, tv.cols);
  auto const threads = r.chance(50) ? tuple({leaf(across, count * along), leaf(down, line)})
                                    : tuple({leaf(down, line), leaf(across, count * along)});
  auto const repeat = r.chance(10) ? tuple({threads, leaf(2, 0)}) : threads;
  auto values = more == 1 ? leaf(count, along) : tuple({leaf(count, along), leaf(more, down * line)});
  if (r.chance(6)) values = leaf(count * more, r.pick({along, line, 2 * along}));
  tv.layout = tuple({repeat, values});
  if (tv.rows > tile.extent(0) || tv.cols > tile.extent(1)) return false;
  if (tile.extent(0) % tv.rows != 0 || tile.extent(1) % tv.cols != 0) return false;
  auto const warps = (tv.layout.modes[0].size() + 31) / 32;
  auto const pieces = tv.layout.modes[1].size() / count;
  access.form = Access::thread_value;
  access.ranges = {{"warp", 0, warps - 1, 1},
                   {"instruction", 0, pieces - 1, 1},
                   {"tile 0", 0, tile.extent(0) / tv.rows - 1, 1},
                   {"tile 1", 0, tile.extent(1) / tv.cols - 1, 1}};
  access.text = access.op.name + ": tv " + text(tv.layout, r) + " tile (" + std::to_string(tv.rows) + "," +
                std::to_string(tv.cols) + ")";
  return true;
}

void draw_address(Access& access, Random& r) {
  access.form = Access::address;
  for (auto name : {"i", "k"})
    if (r.chance(40)) access.ranges.push_back(draw_range(r, name, 6));
  access.coordinate = {scaled(draw_coordinate(r, access.ranges, 255), r.chance(95) ? access.op.width : 2)};
  if (r.chance(30))
    access.coordinate[0] =
        apply("+", access.coordinate[0], scaled(draw_coordinate(r, access.ranges, 31), 128));
}

// A coordinate, or one index in CuTe's order; vectors of `count` elements mostly begin where one may.
void draw_place(Access& access, Tile const& tile, Random& r, bool one_index, long long count) {
  for (auto name : {"i", "k"})
    if (r.chance(45)) access.ranges.push_back(draw_range(r, name, 5));
  bool const columns = column_major(tile) && !row_major(tile);
  if (one_index || tile.rank() > 3) {
    access.form = Access::plain_index;
    // In CuTe's order the first mode is the fastest.
    auto const unit = columns ? count : 1;
    access.coordinate = {
        scaled(draw_coordinate(r, access.ranges, std::max(0ll, tile.size() / unit - 1)), unit)};
    return;
  }
  auto const fast = columns ? 0 : tile.rank() - 1;
  for (std::size_t m = 0; m < tile.rank(); ++m) {
    auto const unit = m == fast && r.chance(97) ? count : 1;
    access.coordinate.push_back(scaled(
        draw_coordinate(r, access.ranges, std::max(0ll, tile.extent(m) / unit - (r.chance(97) ? 1 : 0))),
        unit));
  }
  if (tile.rank() == 1) access.form = Access::plain_index;
}

// Result of an attempt: an access with its text, one without, or nothing if the tile does not allow one.
enum class Attempt { whole, without_text, nothing };

Attempt draw_on_tile(Access& access, Tile const& tile, Random& r, bool find, bool last) {
  auto const count = std::max(1, access.op.width * 8 / tile.bits);
  if (count > tile.size() && !last && r.chance(90)) return Attempt::nothing;
  auto const form = r.below(100);
  if (form < 18) {
    if (draw_named(access, tile, r, find ? 80 : 20)) return Attempt::whole;
    if (!last) return Attempt::nothing;
  }
  if (form < 36 && !find) {
    if (draw_thread_value(access, tile, r)) return Attempt::whole;
    if (!last) return Attempt::nothing;
  }
  draw_place(access, tile, r, form < 50, count);
  return Attempt::without_text;
}

Expression draw_condition(Access const& access, Random& r) {
  auto const lane = variable("lane");
  auto const kind = r.below(6);
  if (kind == 0) return apply(">", lane, number(31));
  if (kind == 1) return apply("==", lane, number(r.below(32)));
  if (kind == 2 && !access.ranges.empty())
    return apply("<", lane, apply("*", variable(access.ranges[0].name), number(8)));
  if (kind == 3) return apply("!=", apply("&", lane, number(3)), number(0));
  return apply("<", lane, number(r.between(1, 20)));
}

std::string draw_text(Access const& access, Random& r) {
  auto const condition = access.condition ? " if " + access.condition->text(r) : "";
  auto const tail =
      r.chance(50) ? ranges_text(access.ranges) + condition : condition + ranges_text(access.ranges);
  auto const text = [&](std::size_t m) { return access.coordinate[m].text(r); };
  if (access.form == Access::address) return access.op.name + ": address = " + text(0) + tail;
  if (access.form == Access::plain_index) return access.op.name + ": coord = " + text(0) + tail;
  if (access.coordinate.size() == 2 && r.chance(70)) {
    auto const row = text(0), col = text(1);
    return access.op.name + ": row = " + row + ", col = " + col + tail;
  }
  auto all = access.op.name + ": coord = (";
  for (std::size_t m = 0; m < access.coordinate.size(); ++m) all += (m ? ", " : "") + text(m);
  return all + ")" + tail;
}

Access draw_access(Question const& q, Random& r, bool find) {
  for (int tries = 0;; ++tries) {
    Access access;
    access.op = r.pick(instructions());
    auto attempt = Attempt::without_text;
    if (q.tile)
      attempt = draw_on_tile(access, *q.tile, r, find, tries >= 20);
    else
      draw_address(access, r);
    if (attempt == Attempt::nothing) continue;
    if (attempt == Attempt::whole) return access;
    if (!access.op.is_matrix() && r.chance(20)) access.condition = draw_condition(access, r);
    access.text = draw_text(access, r);
    if (q.tile) move_everywhere(access, *q.tile, r, find ? 80 : 20);
    return access;
  }
}

// A tile that kernels might have: rows or columns of a power of two, sometimes padded.
Tile draw_kernel_tile(Random& r, bool small, bool find) {
  auto const bits = r.chance(find ? 5 : 10) ? r.pick({1, 2, 4}) : r.pick({8, 16, 16, 32, 32, 64});
  auto const rows = r.chance(80) ? 1ll << r.between(2, small ? 4 : 5) : r.between(3, 33);
  auto const line_bytes = r.chance(80) ? 16ll << r.between(0, small ? 2 : 3) : 16 * r.between(1, 9);
  auto const cols = std::max(1ll, line_bytes * 8 / bits);
  auto const pad = r.chance(70)   ? 0
                   : r.chance(60) ? std::max(1, 128 / bits) * r.between(1, 2)
                                  : r.between(1, 5);
  auto const pitch = (cols + pad) * (r.chance(3) ? -1 : 1);
  Mode inner = tuple({leaf(rows, pitch), leaf(cols, 1)});
  if (r.chance(15))
    inner = tuple({leaf(cols, 1), leaf(rows, pitch)});
  else if (r.chance(12) && rows % 4 == 0)
    inner = tuple({tuple({leaf(4, pitch), leaf(rows / 4, 4 * pitch)}), leaf(cols, 1)});
  else if (r.chance(8) && cols % 4 == 0)
    inner =
        tuple({leaf(rows, cols), tuple({leaf(4, 1), leaf(cols / 4, r.chance(50) ? 4 : 4 * cols * rows)})});
  else if (r.chance(3))
    inner = tuple({leaf(rows, 0), leaf(cols, 1)});
  else if (r.chance(4))
    inner = tuple({leaf(rows, 2 * pitch), leaf(cols, 2)});
  Wish wish;
  wish.top = 12;
  wish.negative = r.chance(10);
  return dress(inner, bits, wish, r);
}

}  // namespace

std::vector<std::string> Question::layout_words() const {
  return tile ? tile->words() : function ? function->words() : std::vector<std::string>{"-"};
}

std::vector<std::string> Question::words() const {
  auto words = layout_words();
  for (auto const& access : accesses) words.insert(words.end(), {"--access", access.text});
  if (at_most) words.insert(words.end(), {"--at-most", std::to_string(*at_most)});
  if (align) words.insert(words.end(), {"--align", std::to_string(*align)});
  return words;
}

Question draw_question(Random& r, bool small, bool find) {
  Question q;
  auto const kind = r.below(100);
  if (find || kind < 70) {
    q.tile = draw_kernel_tile(r, small, find);
  } else if (kind < 88) {
    Wish wish;
    wish.most = 256;
    q.tile = draw_tile(wish, r);
  } else if (kind < 95) {
    auto f = draw_function(r, 11);
    f.bytes = true;
    f.bits = 8;
    f.options.clear();
    if (!f.expression) q.function = f;
  }
  for (auto n = r.chance(75) ? 1 : r.between(2, 3); n > 0; --n) q.accesses.push_back(draw_access(q, r, find));
  if (!find && r.chance(20)) q.at_most = static_cast<int>(r.between(1, 32));
  if (!find && r.chance(15)) {
    q.align = r.chance(85) ? 1ll << r.between(0, 10) : r.between(1, 300);
  }
  return q;
}

void note(Campaign& c, Question const& q) {
  if (q.tile) note(c, *q.tile);
  if (q.accesses.size() > 1) c.drew("several accesses");
  if (q.at_most) c.drew("--at-most");
  if (q.align) c.drew("--align");
  for (auto const& access : q.accesses) {
    if (access.op.width < 4) c.drew("8- and 16-bit accesses");
    if (access.op.kind == Instruction::async) c.drew("cp.async");
    if (access.form == Access::named) c.drew("named patterns");
    if (access.form == Access::thread_value) c.drew("thread-value layouts");
    if (access.form == Access::address) c.drew("raw addresses");
    if (access.condition) c.drew("few active lanes or none");
    if (access.form == Access::thread_value && access.tv.layout.modes[0].size() % 32 != 0)
      c.drew("too few threads in tv");
  }
}

}  // namespace reference
