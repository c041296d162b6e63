#!/usr/bin/env python3
"""hard_coded.py --cases N --seed S --binary SWIZPROOF: random obligations with hard-coded descriptors, boxes and register orders, and `swizproof
prove` compared with every element of each.

Models of its own, from the documentation alone. Nothing is searched by an algebra: addresses are computed one by one.
  descriptor  PTX ISA 9.1 (9.7.15.5.1, 9.7.16.4.1): the addresses that an instruction reads, as in descriptors.py; its start is the tile's base plus the
              start that is hard-coded; later instructions along k start at their first element. A field that is not hard-coded may have every value.
  tma         CUDA's cuTensorMapEncodeTiled: line y of a box lies y * max(line, width of the swizzle) behind a destination that is a multiple of 128, and
              the swizzle XORs bits of the address. Boxes may start anywhere in the tile; each element must be in one that is right as a whole.
  fragment    PTX ISA 9.1 (9.7.14.5): the element that each register of ldmatrix, mma's A and B (m16n8k8, m16n8k16) and mma's D holds.
A value is right, or wrong in one field. Of a refutation the counterexample is recomputed, and that it is the first. Odd on purpose: 8 to 24 rows, LBO and SBO that leave gaps, bases that are multiples of 16 to 2048 alone,
boxes that do not divide the tile, dimensions in the other order, rows of ldmatrix that are permuted.
"""
import argparse
import collections
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

MODES = {  # 16-byte columns of a row, XORed bits, number of wgmma, of tcgen05
    "none": (1, 0, 0, 0),
    "32B": (2, 1, 3, 6),
    "64B": (4, 2, 2, 4),
    "128B": (8, 3, 1, 2),
}
PERIOD = 1024


def xor(bits, x):
    return x ^ (x >> 3 & (1 << bits) - 1 << 4)


def xor_from(bits, base_offset, x):
    return x ^ ((x - 128 * base_offset) >> 3 & (1 << bits) - 1 << 4)




# ------------------------------------------------------------------------------------------------ descriptors


def operand_offset(mode, major, size, lbo, sbo, mn, k):
    w, t = MODES[mode][0], 16 // size
    if major == "k":
        return mn % 8 * 16 * w + mn // 8 * sbo + k // t * (lbo if mode == "none" else 16) + k % t * size
    if mode == "none":
        return mn % t * size + mn // t * sbo + k % 8 * 16 + k // 8 * lbo
    return mn % t * size + mn // t % w * 16 + mn // (t * w) * lbo + k % 8 * 16 * w + k // 8 * sbo


def allowed(reader, major, size):
    return major == "k" or (size == 2 if reader == "wgmma" else size != 4)


def number_of(reader, f):
    bits = (f["start"] & 0x3FFFF) >> 4 | f["lbo"] >> 4 << 16 | f["sbo"] >> 4 << 32 | f["base_offset"] << 49
    if reader == "wgmma":
        return bits | MODES[f["mode"]][2] << 62
    return bits | 1 << 46 | MODES[f["mode"]][3] << 61


class Operand:
    """A tile of one instruction's rows and `deep` instructions along k, as the formula lays it out, stored under a swizzle of bytes or of offsets."""

    def __init__(self, rng):
        self.reader = rng.choice(["wgmma", "wgmma", "tcgen05"])
        self.size = rng.choice([1, 2, 2, 2, 4])
        self.major = rng.choice(["k", "k", "mn"])
        if not allowed(self.reader, self.major, self.size):
            self.major = "k"
        self.mode = rng.choice(list(MODES))
        w, t = MODES[self.mode][0], 16 // self.size
        self.operand = rng.choice(["b", "b", "b", "a"])
        self.rows = 64 if self.operand == "a" else rng.choice([8, 8, 16, 24])
        if self.major == "mn" and (self.rows % (t * w) if self.mode != "none" else self.rows % t):
            self.rows = 64
        if self.major == "mn" and 64 % (t * w):  # 128 elements of 8 bits to a row
            self.mode = "64B"
            w = MODES[self.mode][0]
        self.depth = 32 // self.size
        self.deep = rng.choice([1, 1, 2])
        atom = 128 * w
        self.lbo = atom * rng.choice([1, 2, 3]) if self.mode == "none" or self.major == "mn" else 16
        self.sbo = atom * rng.choice([1, 2, 4]) + (16 * rng.randrange(3) if self.mode == "none" else 0)
        if self.mode == "none" or self.major == "mn":
            self.sbo = self.sbo * (self.rows // 8 + 1) if rng.random() < 0.5 else self.sbo
        self.step = rng.choice([32, 32, 64]) if self.major == "k" and self.mode != "none" else 16 * rng.randrange(1, 400)
        self.relative = rng.random() < 0.4  # the swizzle acts on offsets, not on addresses
        self.displaced = 16 * rng.choice([0, 0, 0, 1, 8, 64])

    def plain(self, mn, k):
        within = operand_offset(self.mode, self.major, self.size, self.lbo, self.sbo, mn, k % self.depth)
        return self.displaced + within + k // self.depth * self.step

    def stored(self, base, mn, k):
        bits = MODES[self.mode][1]
        if self.relative:
            return base + xor(bits, self.plain(mn, k))
        return xor(bits, base + self.plain(mn, k))

    def layout(self):
        """Modes of rows and of k with their strides in elements, as the formula has them."""
        w, t, s = MODES[self.mode][0], 16 // self.size, self.size
        if self.major == "k":
            rows = [(8, 16 * w), (self.rows // 8, self.sbo)]
            k = [(t, s), (self.depth // t, self.lbo if self.mode == "none" else 16)]
        elif self.mode == "none":
            rows = [(t, s), (self.rows // t, self.sbo)]
            k = [(8, 16), (self.depth // 8, self.lbo)]
        else:
            rows = [(t, s), (w, 16), (self.rows // (t * w), self.lbo)]
            k = [(8, 16 * w), (self.depth // 8, self.sbo)]
        k.append((self.deep, self.step))
        text = lambda part, which: "(%s)" % ",".join(str(m[which] if which == 0 else m[which] // s) for m in part)
        flat = "(%s,%s):(%s,%s)" % (text(rows, 0), text(k, 0), text(rows, 1), text(k, 1))
        swizzle = MODES[self.mode][1]
        unit = {1: 0, 2: 1, 4: 2}[s]
        offset = "%d o " % (self.displaced // s)
        if self.relative:
            return "Sw<%d,%d,3> o %s%s" % (swizzle, 4 - unit, offset, flat)
        return "Sw<%d,4,3> o smem_ptr[%db](unset) o %s%s" % (swizzle, 8 * s, offset if self.displaced else "", flat)

    def sound(self):
        """No two elements share a byte, and the tile fits a block."""
        places = {self.plain(mn, k) for mn in range(self.rows) for k in range(self.depth * self.deep)}
        return len(places) == self.rows * self.depth * self.deep and max(places) < 200000 and all(
            m % self.size == 0 for m in (self.lbo, self.sbo, self.step))

    def reads(self, f, major, base):
        """Whether a descriptor with all these fields reads each element from where it is stored."""
        bits = MODES[f["mode"]][1]
        for i in range(self.deep):
            # The start is an address before the swizzle: of the first instruction the hard-coded one, of the others what their first element needs.
            first = self.stored(base, 0, i * self.depth)
            start = base + f["start"] if i == 0 else xor_from(bits, f["base_offset"], first)
            if start % 16:
                return False
            for k in range(self.depth):
                for mn in range(self.rows):
                    at = start + operand_offset(f["mode"], major, self.size, f["lbo"], f["sbo"], mn, k)
                    if xor_from(bits, f["base_offset"], at) != self.stored(base, mn, i * self.depth + k):
                        return False
        return True


def descriptor_case(rng, count):
    tile = Operand(rng)
    while not tile.sound():
        tile = Operand(rng)
    f = {"mode": tile.mode, "lbo": tile.lbo, "sbo": tile.sbo, "base_offset": 0, "start": tile.displaced}
    wrong = rng.choice(["none", "none", "lbo", "sbo", "base_offset", "mode", "start", "major"])
    if wrong in ("lbo", "sbo"):
        f[wrong] = max(0, f[wrong] + rng.choice([-16, 16, f[wrong], 128, 1024]))
    elif wrong == "base_offset":
        f["base_offset"] = rng.randrange(8)
    elif wrong == "mode":
        f["mode"] = rng.choice(list(MODES))
    elif wrong == "start":
        f["start"] = max(0, f["start"] + rng.choice([-16, 16, 128, 1024]))
    major = {"k": "mn", "mn": "k"}[tile.major] if wrong == "major" else rng.choice([tile.major, None])
    align = rng.choice([None, None, 16, 128, 256, 512, 1024, 2048])
    count["descriptor, wrong " + wrong] += 1
    count["descriptor, %s, %s-major, mode %s" % (tile.reader, tile.major, tile.mode)] += 1
    keys = ['for = "%s"' % tile.reader, 'operand = "%s"' % tile.operand, 'extent = "%d,%d"' % (tile.rows, tile.depth)]
    if major:
        keys.append('major = "%s"' % major)
    free = []
    if rng.random() < 0.5:
        keys.append('number = "%#x"' % number_of(tile.reader, f))
    else:
        names = {"mode": "mode", "lbo": "leading_byte_offset", "sbo": "stride_byte_offset", "base_offset": "base_offset", "start": "start"}
        free = rng.choice([[], [], ["lbo"], ["sbo"], ["base_offset"], ["start"]])
        keys += ['%s = %s' % (names[n], json.dumps(f[n])) for n in names if n not in free]
        count["descriptor, a field left free"] += bool(free)
    # Values that a free field can usefully have: distances between elements before the swizzle; every base offset.
    def candidates(base):
        if not free:
            return [f]
        if free == ["base_offset"]:
            return [dict(f, base_offset=b) for b in range(8)]
        if free == ["start"]:
            return [dict(f, start=s) for s in {xor_from(MODES[f["mode"]][1], f["base_offset"], tile.stored(base, 0, 0)) - base}]
        places = [xor_from(MODES[f["mode"]][1], f["base_offset"], tile.stored(base, mn, k))
                  for k in range(tile.depth) for mn in range(tile.rows)]
        return [dict(f, **{free[0]: d}) for d in sorted({p - places[0] for p in places if 0 <= p - places[0] < 1 << 18 and (p - places[0]) % 16 == 0} | {0})]

    majors = [m for m in ([major] if major else ["k", "mn"]) if allowed(tile.reader, m, tile.size)]
    # A base may be any multiple of 16; both sides repeat with 1024.
    works = lambda base: any(tile.reads(one, m, base) for m in majors for one in candidates(base))
    bases = range(0, PERIOD, 16) if align is None else sorted({i * align % PERIOD for i in range(PERIOD)})
    far = 1 << 20  # bases from which nothing lies below address 0
    right = (any if align is None else all)(works(far + b) for b in bases)

    def check(values):
        """The first element that the hard-coded descriptor reads from elsewhere, from the base that is named."""
        base, bits = values["base"], MODES[f["mode"]][1]
        for k in range(tile.depth * tile.deep):
            i = k // tile.depth
            first = xor_from(bits, f["base_offset"], tile.stored(base, 0, i * tile.depth))
            start = base + f["start"] if i == 0 else first
            for mn in range(tile.rows):
                read = xor_from(bits, f["base_offset"], start + operand_offset(f["mode"], major, tile.size, f["lbo"], f["sbo"], mn, k % tile.depth))
                if read != tile.stored(base, mn, k):
                    return (mn, k, read, tile.stored(base, mn, k)) == (
                        values["row"], values["k"], values["read from byte"], values["stored at byte"])
        return False

    if free or not major or not allowed(tile.reader, major, tile.size):
        check = None
    text = "layout = '%s'\nelement = '%s'\n%sdescriptor = {%s}\n" % (
        tile.layout(), {1: "f8", 2: "f16", 4: "f32"}[tile.size].replace("f8", "8b"), "align = %d\n" % align if align else "", ", ".join(keys))
    return text, right, check


# ------------------------------------------------------------------------------------------------ boxes


def tma_case(rng, count):
    """Rows of panels: element (i, j) at i * pitch + (j % width) elements + j // width panels."""
    mode = rng.choice(list(MODES))
    size = rng.choice([1, 2, 4])
    widest = {"none": 256 // size, "32B": 32 // size, "64B": 64 // size, "128B": 128 // size}[mode]
    width = rng.choice([16 // size, 32 // size, widest])
    if width > widest:
        width = widest
    pitch = max(width * size, {"none": 0, "32B": 32, "64B": 64, "128B": 128}[mode])
    pitch += 16 * rng.choice([0, 0, 0, 0, 1]) if mode == "none" else 0
    rows, panels = rng.choice([4, 8, 13, 16]), rng.choice([1, 1, 2, 3])
    panel = rows * pitch + rng.choice([0, 0, 128, 64])
    panel += -panel % rng.choice([128, 128, 16])
    relative = rng.random() < 0.3
    bits = MODES[mode][1]
    row_first = rng.random() < 0.5
    if rows * width * panels > 4096:
        panels = 1

    def stored(base, i, j):
        plain = i * pitch + j % width * size + j // width * panel
        return base + xor(bits, plain) if relative else xor(bits, base + plain)

    columns = width * panels
    of_columns = ("(%d,%d)" % (width, panels), "(1,%d)" % (panel // size)) if panels > 1 else (str(width), "1")
    of_rows = (str(rows), str(pitch // size))
    pair = [of_rows, of_columns] if row_first else [of_columns, of_rows]
    layout = "(%s,%s):(%s,%s)" % (pair[0][0], pair[1][0], pair[0][1], pair[1][1])
    unit = {1: 0, 2: 1, 4: 2}[size]
    layout = ("Sw<%d,%d,3> o 0 o %s" % (bits, 4 - unit, layout)) if relative else "Sw<%d,4,3> o smem_ptr[%db](unset) o %s" % (bits, 8 * size, layout)

    box, used = [width, rows], mode
    wrong = rng.choice(["none", "none", "rows", "width", "mode", "order", "batch"])
    if wrong == "rows":
        box[1] = max(1, rng.choice([rows // 2, rows - 3, rows + 1, 1]))
    elif wrong == "width":
        box[0] = rng.choice([width // 2 or 1, width * 2, 16 // size])
    elif wrong == "mode":
        used = rng.choice(list(MODES))
    elif wrong == "order":
        box.reverse()
    elif wrong == "batch":
        box.append(1)
    box = [min(b, 256) for b in box]
    align = rng.choice([None, None, 16, 128, 256, 512, 1024])
    count["tma, wrong " + wrong] += 1
    count["tma, mode " + mode] += 1
    line, w = box[0] * size, {"none": 0, "32B": 32, "64B": 64, "128B": 128}[used]
    shape = [box[0]] + [b for b in box[1:] if b > 1]

    def works(base):
        if line % 16 or (w and line > w) or len(shape) > 2:
            return False
        step = max(line, w)
        ubits = MODES[used][1]
        # Which way do the box's dimensions run? Each way is tried: (columns along the line) and (rows along the line).
        for along_columns in (True, False):
            down = shape[1] if len(shape) > 1 else 1
            bi, bj = (down, shape[0]) if along_columns else (shape[0], down)
            if bi > rows or bj > columns:
                continue
            done = set()
            for i in range(rows - bi + 1):
                for j in range(columns - bj + 1):
                    destination = xor(ubits, stored(base, i, j))
                    if destination % 128:
                        continue
                    inside = [(i + y, j + x, y, x) if along_columns else (i + x, j + y, y, x) for y in range(down) for x in range(shape[0])]
                    if all(stored(base, a, b) == xor(ubits, destination + y * step + x * size) for a, b, y, x in inside):
                        done.update((a, b) for a, b, _, _ in inside)
            if len(done) == rows * columns:
                return True
        return False

    bases = range(0, PERIOD, 16) if align is None else sorted({i * align % PERIOD for i in range(PERIOD)})
    right = (any if align is None else all)(works((1 << 20) + b) for b in bases)

    def check(values):
        """An element that the layout has there, and that the TMA puts elsewhere."""
        i, j = (values["mode 0"], values["mode 1"]) if row_first else (values["mode 1"], values["mode 0"])
        place = values["the layout has it at byte"]
        return "TMA puts it at byte" in values and values["TMA puts it at byte"] != place and any(
            stored(base, i, j) == place for base in (bases if align else [0]))

    text = "layout = '%s'\nelement = '%s'\n%stma = {box = [%s]%s}\n" % (
        layout, {1: "8b", 2: "f16", 4: "f32"}[size], "align = %d\n" % align if align else "", ", ".join(map(str, box)), ', mode = "%s"' % used)
    return text, right, check


# ------------------------------------------------------------------------------------------------ fragments


def matrix_element(lane, value, trans):
    """ldmatrix: the row, as the number of the lane that gives it, and the element of it, of one of two values a matrix."""
    matrix, half = value // 2, value % 2
    row, column = lane // 4, lane % 4 * 2 + half
    return (8 * matrix + (column if trans else row), row if trans else column)


OPERANDS = {  # (row, column) of value v of lane l: A is (m, k), B is (k, n)
    "mma.m16n8k16.f16:a": (8, "a", lambda l, v: (l // 4 + v // 2 % 2 * 8, l % 4 * 2 + v % 2 + v // 4 * 8), (16, 16)),
    "mma.m16n8k16.f16:b": (4, "b", lambda l, v: (l % 4 * 2 + v % 2 + v // 2 * 8, l // 4), (16, 8)),
    "mma.m16n8k8.f16:a": (4, "a", lambda l, v: (l // 4 + v // 2 * 8, l % 4 * 2 + v % 2), (16, 8)),
    "mma.m16n8k8.f16:b": (2, "b", lambda l, v: (l % 4 * 2 + v % 2, l // 4), (8, 8)),
}


def fragment_case(rng, count):
    name = rng.choice(list(OPERANDS))
    values, letter, holds, shape = OPERANDS[name]
    if name == "mma.m16n8k16.f16:a" and rng.random() < 0.4:
        return accumulator_case(rng, count)
    trans = rng.random() < 0.4
    loaded = values
    copies = 1
    if letter == "b" and rng.random() < 0.4 and values < 8:
        copies = rng.choice([c for c in (2, 4) if values * c <= 8])
        loaded = values * copies
    instruction = "ldmatrix.x%d%s" % (loaded // 2, ".trans" if trans else "")
    # Rows: an address for each lane, from random bits of the lane.
    terms = [rng.choice(["lane%8", "lane%8 + 8*(lane/8%2)", "lane%16", "lane%8 + 8*(lane/16)", "lane/8", "0", "lane%8 + 8*(lane/8)"]),
             rng.choice(["0", "8*(lane/16)", "8*(lane/8%2)", "8*(lane/8)", "8*(lane/8%2) + 8*(lane/16)", "lane%8"])]
    row, col = (lambda lane, t=t: eval(t.replace("/", "//"), {}, {"lane": lane}) for t in terms)
    registers = list(range(loaded // 2))
    given = rng.random() < 0.7
    if given and rng.random() < 0.5:
        rng.shuffle(registers)
    contiguous = rng.choice(["k", {"a": "m", "b": "n"}[letter]])
    count["fragment, %s%s" % (name, " repeated" if copies > 1 else "")] += 1
    count["fragment, ldmatrix%s" % (".trans" if trans else "")] += 1
    count["fragment, %s" % ("order given" if given else "no order")] += 1

    def element(lane, value):
        """What ldmatrix puts into a value, as (row, column) of the operand."""
        r, c = matrix_element(lane, value, trans)
        strided, along = row(r), col(r) + c
        columns = contiguous == ("k" if letter == "a" else "n")
        return (strided, along) if columns else (along, strided)

    def right(along_columns, registers):
        for lane in range(32):
            for v in range(loaded):
                source = 2 * registers[v // 2] + v % 2
                a, b = holds(lane, v % values)
                wanted = (a, b + v // values * shape[1]) if along_columns else (a + v // values * shape[0], b)
                if element(lane, source) != wanted:
                    return False
        return True

    if given and rng.random() < 0.5:  # an order with which these rows are right, if there is one
        orders = [list(order) for order in itertools.permutations(registers) if right(True, order)]
        registers = orders[0] if orders else registers
        count["fragment, order that fixes the rows"] += bool(orders)
    def check(values):
        """The first value that is another element than wanted, of products side by side along n."""
        if "its row starts at byte" in values:
            return not aligned
        letters = ["m", "k"] if letter == "a" else ["k", "n"]
        for lane in range(32):
            for v in range(loaded):
                got = element(lane, 2 * registers[v // 2] + v % 2)
                a, b = holds(lane, v % values_of_one)
                wanted = (a, b + v // values_of_one * shape[1]) if letter == "b" else (a, b)
                if got != wanted:
                    return [lane, v // 2, v % 2 * 16] + list(got) + list(wanted) == [values[name] for name in (
                        "lane", "register", "bit", "holds " + letters[0], "holds " + letters[1], "wanted " + letters[0], "wanted " + letters[1])]
        return False

    values_of_one = values
    aligned = all(col(lane) % 8 == 0 for lane in range(min(32, 4 * loaded)))
    holds_it = aligned and (right(True, registers) or (copies > 1 and right(False, registers)))
    text = 'fragment = {from = "%s: row = %s, col = %s", into = "%s", contiguous = "%s"%s}\n' % (
        instruction, terms[0], terms[1], name, contiguous, ", registers = %s" % registers if given else "")
    return text, holds_it, check


def accumulator_case(rng, count):
    """Two products side by side, converted, as A of the next."""
    registers = list(range(4))
    if rng.random() < 0.6:
        rng.shuffle(registers)
    into = "mma.m16n8k16.f16:a"
    holds = OPERANDS[into][2]

    def result(lane, value):
        i = value % 4
        return (lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2 + value // 4 * 8)

    right = all(result(lane, 2 * registers[v // 2] + v % 2) == holds(lane, v) for lane in range(32) for v in range(8))
    count["fragment, results into A"] += 1
    return 'fragment = {from = "mma.m16n8k16.f16:d", into = "%s", registers = %s}\n' % (into, registers), right, None


# ------------------------------------------------------------------------------------------------


def prove(binary, texts):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.toml")
        with open(path, "w") as file:
            for i, text in enumerate(texts):
                file.write('[[obligation]]\nname = "%d"\n%s\n' % (i, text))
        done = subprocess.run([binary, "prove", path, "--json", "--timeout", "100000"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["claims"]


def asked_of_command(binary, text):
    """The verdict of `swizproof descriptor LAYOUT --number` on the words of an obligation without align; None for other obligations, and if the
    command takes the number's start for the tile's address."""
    words = dict(re.findall(r'(\w+) = ["\']([^"\']*)["\']', text))
    if "number" not in words or "align = " in text:
        return None
    command = [binary, "descriptor", words.pop("layout"), "--json", "--timeout", "100000"]
    for name, value in words.items():
        command += ["--" + name, value]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    return None if answer.get("address") else answer.get("verdict", "error")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--binary", default="swizproof")
    options.add_argument("--only", choices=["descriptor", "tma", "fragment"])
    options = options.parse_args()
    rng = random.Random(options.seed)
    count, wrong = collections.Counter(), 0
    kinds = {"descriptor": descriptor_case, "tma": tma_case, "fragment": fragment_case}
    cases = 0
    while cases < options.cases:
        batch = []
        for _ in range(min(200, options.cases - cases)):
            kind = options.only or rng.choice(list(kinds))
            batch.append((kind,) + kinds[kind](rng, count))
        for (kind, text, right, check), claim in zip(batch, prove(options.binary, [case[1] for case in batch])):
            cases += 1
            expected = "proved" if right else "refuted"
            count["%s %s" % (kind, expected)] += 1
            found = "error" if "error" in claim else claim["verdict"]
            values = claim.get("counterexample", {}).get("values", {})
            if found == "refuted" and not right and check and values:
                count["%s, counterexample recomputed" % kind] += 1
                if not check(values):
                    found = "another counterexample %s" % values
            asked = asked_of_command(options.binary, text) if kind == "descriptor" else None
            count["descriptor, asked of the command"] += asked is not None
            if asked not in (None, expected):
                found = "of the command %s" % asked
            if found != expected:
                wrong += 1
                if wrong <= 10:
                    print("case %d: expected %s, found %s: %s\n%s" % (cases, expected, found, claim["detail"] or claim.get("error"), text))
    for what, number in sorted(count.items()):
        print("%7d  %s" % (number, what))
    print("%d cases, seed %d: %d differ" % (cases, options.seed, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
