#!/usr/bin/env python3
"""positions.py --binary PATH --cases N --seed S: a reference model of the positions of an access in a tile.

It moves a random access, named or written by hand, to every position at which it fits in a random tile, and counts words of banks at each.
Most accesses cost more at some positions than at others. It compares worst case, sum, domain, and the statement about multiples of the
footprint; `at`, `step` and `for` narrow the positions. From the rule of banks and the text of `swizproof language` alone.
"""
import collections
import json
import math
import random
import subprocess
import sys

from asking import Failure, expect, options_of, print_sums

NAMED = {  # instruction, row, byte
    "ldmatrix.x1": ("ldmatrix.x1", lambda l: l % 8, lambda l: 0),
    "ldmatrix.x2": ("ldmatrix.x2", lambda l: l % 8, lambda l: 16 * (l // 8 % 2)),
    "ldmatrix.x4": ("ldmatrix.x4", lambda l: l % 16, lambda l: 16 * (l // 16)),
    "stmatrix.x2": ("stmatrix.x2", lambda l: l % 16, lambda l: 0),
    "copy.row128": ("st.shared.b128", lambda l: l // 8, lambda l: 16 * (l % 8)),
    "copy.row64": ("st.shared.b128", lambda l: l // 4, lambda l: 16 * (l % 4)),
    "fragment.a.b32": ("ld.shared.b32", lambda l: l // 4, lambda l: 4 * (l % 4)),
    "fragment.c.b32x2": ("st.shared.b64", lambda l: l // 4, lambda l: 8 * (l % 4)),
    "fragment.mn.b16": ("ld.shared.b16", lambda l: 2 * (l % 4), lambda l: 2 * (l // 4)),
    "column.b16": ("ld.shared.b16", lambda l: l, lambda l: 0),
    "row.b32.store": ("st.shared.b32", lambda l: 0, lambda l: 4 * l),
    "pair1.b64": ("ld.shared.b64", lambda l: l // 8, lambda l: 8 * (l // 2 % 4)),
}
WIDTHS = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "b128": 16}


class Instruction:
    def __init__(self, name):
        self.name = name
        self.matrices = int(name.split(".x")[1][0]) if "matrix" in name else 0
        self.width = 16 if self.matrices else WIDTHS[name.split(".")[-1]]
        self.lanes = 8 * self.matrices or 32
        self.loads = name.startswith("ld.")
        self.ideal = self.matrices or max(1, self.width // 4)

    def cost(self, addresses):
        """addresses: lane -> byte, of the lanes that take part."""
        group = {8: 16, 16: 8}.get(self.width, 32)
        if self.matrices:
            group = 8
        elif self.loads and self.width >= 8 and any(
                all(addresses[l] == addresses.get(l ^ other, addresses[l]) for l in addresses) for other in (1, 2)):
            group *= 2
        total = 0
        for first in range(0, self.lanes, group):
            words = {a // 4 + w for l, a in addresses.items() if first <= l < first + group for w in range(max(1, self.width // 4))}
            total += max(collections.Counter(word % 32 for word in words).values(), default=0)
        return total if self.matrices else max(total, 32 // group)


class Tile:
    """A layout as text, and the offset of each element."""

    def __init__(self, r):
        self.bits = r.choice((8, 16, 16, 32, 32, 64))
        self.rows = r.choice((8, 16, 20, 24, 32, 34))
        row_bytes = r.choice((16, 32, 64, 64, 128, 128, 96, 144))
        self.cols = row_bytes * 8 // self.bits
        self.down = False
        rows, cols = self.rows, self.cols
        power = cols & (cols - 1) == 0
        whole = int(math.log2(128 // self.bits or 1)) if r.random() < 0.8 else 0  # vectors of 16 bytes stay whole
        kind = r.randrange(100)
        if kind < 12 or not power:
            pitch = cols + r.choice((0, 0, 1 if r.random() < 0.2 else 0, 16 * 8 // self.bits, 4 * 8 // self.bits or 1))
            if r.random() < 0.25:
                self.down = True
                pitch = rows + r.choice((0, 0, 16, 1))
                self.text = f"({rows},{cols}):(1,{pitch})"
                self.offset = lambda row, col: row + pitch * col
            else:
                self.text = f"({rows},{cols}):({pitch},1)"
                self.offset = lambda row, col: row * pitch + col
        elif kind < 35:
            bits, base, shift = r.randint(1, 3), r.randint(whole, whole + 2), r.randint(3, 4)
            self.text = f"Sw<{bits},{base},{shift}> o 0 o ({rows},{cols}):({cols},1)"

            def offset(row, col):
                x = row * cols + col
                return x ^ ((x >> shift) & (((1 << bits) - 1) << base))
            self.offset = offset
        else:
            low = min(whole + r.choice((0, 0, 1)), int(math.log2(cols)))
            mask = (cols - 1) >> low
            by, more, below = r.choice((4, 8, 16)), r.randint(0, 7), r.choice((0, 0, 4, 5, 8, 99))
            if below:
                self.text = f"fn(row,col) = row*{cols} + (row < {below} ? col ^ (((row + {more}*(row/{by})) & {mask}) << {low}) : col) ({rows},{cols})"
            else:
                self.text = f"fn(row,col) = row*{cols} + (col ^ (((row + {more}*(row/{by})) & {mask}) << {low})) ({rows},{cols})"
            self.offset = lambda row, col: row * cols + (
                col ^ (((row + more * (row // by)) & mask) << low) if not below or row < below else col)
        self.table = [[self.offset(row, col) for col in range(cols)] for row in range(rows)]

    def fits(self, row, col):
        return 0 <= row < self.rows and 0 <= col < self.cols


class Axis:
    def __init__(self, name, least, most, extent, unit):
        self.name, self.least, self.most, self.extent, self.unit = name, least, most, extent, unit
        self.span = most - least
        self.footprint = max(1 << (self.span).bit_length(), unit)

    def positions(self, clause=None):
        if self.least < 0 or self.most >= self.extent:
            return [self.least]
        word, number = clause or ("step", self.unit)
        last = self.extent - 1 - self.span
        if word == "at":
            return [number] if number <= last else None
        if number % self.unit:
            return None
        return list(range(self.least % number, last + 1, number))


def draw_index(r, extent, unit):
    """An expression of lane, as text and function, within the extent mostly."""
    most = max(1, extent // unit)
    parts = [(f"lane%{n}", lambda l, n=n: l % n) for n in (2, 4, 8, 16) if n <= most]
    parts += [(f"lane/{n}", lambda l, n=n: l // n) for n in (2, 4, 8, 16) if 32 // n <= most]
    parts += [("0", lambda l: 0), (f"{most // 2}", lambda l: most // 2)][:r.randint(0, 2)] or [("0", lambda l: 0)]
    if most >= 8:
        parts += [("(lane%8)^(lane/8)", lambda l: l % 8 ^ l // 8)]
    if most >= 32 or r.random() < 0.02:
        parts += [("lane", lambda l: l)]
    text, f = r.choice(parts)
    more = r.choice((0, 0, 0, 1, 2)) if r.random() < 0.3 else 0
    if unit > 1:
        text, g = f"{unit}*({text})", lambda l: unit * f(l)
    else:
        text, g = f"({text})", f
    return (f"{text} + {unit * more}" if more else text), (lambda l: g(l) + unit * more)


class Access:
    def __init__(self, tile, r):
        self.tile = tile
        self.loop = self.condition = None
        self.active = lambda l: True
        count = lambda i: max(1, i.width * 8 // tile.bits)
        kind = r.randrange(100)
        if kind < 35:
            name = r.choice([n for n, (_, row, byte) in NAMED.items()
                             if row(31) < tile.rows and byte(31) < (tile.rows if tile.down else tile.cols) * tile.bits // 8] or ["ldmatrix.x1"])
            op, self.row, self.byte = NAMED[name]
            self.op, self.text, self.form = Instruction(op), name, "byte"
        else:
            ops = ["ld.shared.b16", "ld.shared.b32", "st.shared.b32", "ld.shared.b64", "st.shared.b64", "ld.shared.b128", "st.shared.b128",
                   "ld.shared.b8", "ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "stmatrix.x4"]
            self.op = Instruction(r.choice(ops))
            unit = count(self.op)
            along = (tile.rows if tile.down else tile.cols)
            if kind < 50:
                row_text, self.row = draw_index(r, tile.cols if tile.down else tile.rows, 1)
                byte_text, self.byte = draw_index(r, along * tile.bits // 8, self.op.width)
                self.form, self.text = "byte", f"{self.op.name}: row = {row_text}, byte = {byte_text}"
            else:
                row_text, self.row = draw_index(r, tile.rows, unit if tile.down else 1)
                col_text, self.col = draw_index(r, tile.cols, 1 if tile.down else unit)
                self.form = "col"
                if r.random() < 0.7:
                    self.text = f"{self.op.name}: row = {row_text}, col = {col_text}"
                elif r.random() < 0.5:
                    self.text = f"{self.op.name}: coord = ({row_text}, {col_text})"
                else:
                    self.text = f"{self.op.name}: coord = ({row_text}) + {tile.rows}*({col_text})"
                    row, col = self.row, self.col
                    self.row = lambda l: (row(l) + tile.rows * col(l)) % tile.rows
                    self.col = lambda l: (row(l) + tile.rows * col(l)) // tile.rows
            if not self.op.matrices and r.random() < 0.15:
                limit = r.choice((1, 8, 20))
                self.text += f" if lane < {limit}"
                self.active = lambda l: l < limit
        self.lanes = [l for l in range(self.op.lanes) if self.active(l)]
        self.axes = self.find_axes()
        self.clauses = {}
        if r.random() < 0.35:
            self.narrow(r)

    def find_axes(self):
        t, width = self.tile, self.op.width
        rows = [self.row(l) for l in self.lanes]
        if self.form == "byte":
            bytes_ = [self.byte(l) for l in self.lanes]
            lines, along = (t.cols, t.rows) if t.down else (t.rows, t.cols)
            return [Axis("row", min(rows), max(rows), lines, 1),
                    Axis("byte", min(bytes_), max(bytes_) + width - 1, along * t.bits // 8, width)]
        cols = [self.col(l) for l in self.lanes]
        more, unit = (width * 8 - 1) // t.bits, max(1, width * 8 // t.bits)
        down = t.down
        return [Axis("row", min(rows), max(rows) + (more if down else 0), t.rows, unit if down else 1),
                Axis("col", min(cols), max(cols) + (0 if down else more), t.cols, 1 if down else unit)]

    def narrow(self, r):
        for axis in r.sample(self.axes, r.randint(1, 2)):
            if r.random() < 0.4:
                self.clauses[axis.name] = ("at", r.randrange(max(1, axis.extent - axis.span + (r.random() < 0.05))))
            else:
                unit = axis.unit if r.random() < 0.95 else 1
                self.clauses[axis.name] = ("step", unit * r.choice((1, 2, 3, 4, 8, 16)))
        for name, (word, number) in self.clauses.items():
            self.text += f" {word} {name} {number}"

    def positions(self, clauses):
        all_ = [axis.positions(clauses.get(axis.name)) for axis in self.axes]
        return None if None in all_ else [(p, q) for p in all_[0] for q in all_[1]]

    def place(self, lane, position):
        """Row, column and bit of the element that the lane's vector starts in."""
        t = self.tile
        p, q = position[0] - self.axes[0].least, position[1] - self.axes[1].least
        if self.form == "col":
            return self.row(lane) + p, self.col(lane) + q, 0
        line, bit = self.row(lane) + p, 8 * (self.byte(lane) + q)
        along, rest = divmod(bit, t.bits)
        return (along, line, rest) if t.down else (line, along, rest)

    def addresses(self, position):
        """lane -> byte, or a fault."""
        t, out = self.tile, {}
        for lane in self.lanes:
            row, col, rest = self.place(lane, position)
            first = None
            for bit in range(0, 8 * self.op.width, 8):
                step = (rest + bit) // t.bits
                r, c = (row + step, col) if t.down else (row, col + step)
                if not t.fits(r, c):
                    return f"outside {lane}"
                address = (t.table[r][c] * t.bits + (rest + bit) % t.bits) // 8
                if first is None:
                    first = address
                    if first % self.op.width:
                        return f"misaligned {lane}"
                elif address != first + bit // 8:
                    return f"split {lane}"
            out[lane] = first
        return out

    def costs(self, clauses):
        """Wavefronts at each position, or a fault."""
        out = []
        for position in self.positions(clauses):
            addresses = self.addresses(position)
            if isinstance(addresses, str):
                return addresses
            out.append(self.op.cost(addresses))
        return out

    def footprint_clause(self):
        parts = [f"{a.name} {a.footprint}" for a in self.axes if len(a.positions()) > 1 and a.footprint != a.unit]
        return "step " + ", ".join(parts) if parts else ""


def words_of(positions, name):
    if len(positions) < 2:
        return ""
    step = positions[1] - positions[0]
    if step == 1:
        return f"{name} = {positions[0]}..{positions[-1]}; "
    middle = ", .., " if len(positions) > 2 else ""
    return f"{name} = {positions[0]}, {positions[1]}" + (f"{middle}{positions[-1]}" if middle else "") + "; "


def check(binary, r, odd):
    tile = Tile(r)
    access = Access(tile, r)
    words = ["check", tile.text, "--element", {8: "u8", 16: "f16", 32: "f32", 64: "f64"}[tile.bits], "--access", access.text, "--json"]
    done = subprocess.run([binary, *words], capture_output=True, text=True, check=False)
    shown = " ".join(f"'{w}'" for w in words)
    if access.positions(access.clauses) is None:
        expect(done.returncode == 2 and ("leaves the tile" in done.stderr or "no multiple of" in done.stderr), shown, done.stderr)
        odd["positions that are refused"] += 1
        return
    expect(done.returncode in (0, 1), shown, done.stderr)
    got = json.loads(done.stdout)["accesses"][0]
    costs = access.costs(access.clauses)
    domain = "".join(words_of(axis.positions(access.clauses.get(axis.name)), axis.name) for axis in access.axes)
    expect(got["domain"].startswith(domain + "every base"), shown, "domain", got["domain"], "model", domain)
    clause = "" if access.clauses else access.footprint_clause()
    steps = {a.name: ("step", a.footprint) for a in access.axes if len(a.positions()) > 1}
    there = access.costs(steps) if clause else None
    if isinstance(costs, str):
        odd["a lane that does not fit"] += 1
        expect(got["kind"] == "misfit", shown, "kind", got["kind"], "model", costs)
        known = not isinstance(there, (str, type(None)))
    else:
        expect(got["kind"] == "cost", shown, "kind", got["kind"], got.get("reason"))
        expect(got["wavefronts"] == max(costs), shown, "wavefronts", got["wavefronts"], "model", max(costs))
        expect(got["total"] == sum(costs), shown, "total", got["total"], "model", sum(costs))
        odd["costs differ between positions"] += max(costs) != min(costs)
        known = clause and max(costs) > access.op.ideal and max(costs) != min(costs)
        if known and max(there) < max(costs):
            odd["the worst is not at the footprint's multiples"] += 1
    expected = (clause, max(there)) if known else (None, None)
    footprints = got.get("at_footprints") or {}
    said = footprints.get("clause"), footprints.get("wavefronts")
    expect(said == expected, shown, "footprints", said, "model", expected)
    odd["narrowed"] += bool(access.clauses)
    odd["by hand"] += ":" in access.text


def main():
    options = options_of("positions of accesses")
    odd = collections.Counter()
    for case in range(options.cases):
        try:
            check(options.binary, random.Random(f"{options.seed} {case}"), odd)
        except Failure as failure:
            sys.exit(f"case {case}: {failure}")
    print(f"{options.cases} cases, 0 different")
    print_sums(odd)


if __name__ == "__main__":
    main()
