#!/usr/bin/env python3
"""flow_small_integers.py --binary PATH --cases N --seed S: a reference model of mma.sync and wmma with elements of 4 bits in `swizproof flow`, from the formulas of the PTX ISA alone.

One warp loads A and B, whose bytes hold two elements each, multiplies them in one to three steps along k, and stores D. Shapes, signs, layouts and pitches are random, and so is the way into the
registers: words, bytes that are joined, prmt, ldmatrix from shared memory, wmma.load. The order of k may be any that A and B share. In half of the kernels one thing is wrong. The model follows each
number of 4 bits: an element of D is a list of products of two such numbers, each with its sign. Where a kernel exchanges the halves of bytes, flow may answer `unknown`. --show prints each
kernel. The last line has the numbers; exit code 1 if there are differences.
"""
import collections
import os
import random
import sys
import tempfile

from asking import answered, options_of

SHAPES = {"m8n8k32": (8, 32), "m16n8k32": (16, 32), "m16n8k64": (16, 64)}
WRONG = ["sign", "registers", "bytes", "threads", "groups", "lane", "zero", "tile", "results", "columns", "start", "twice", "range", "halves", "matrix"]


def element_of_a(shape, lane, i):
    """PTX ISA, Matrix fragments for mma.m8n8k32, m16n8k32 and m16n8k64 with .s4 and .u4."""
    group, thread = lane >> 2, lane % 4
    if shape == "m8n8k32":
        return group, thread * 8 + i
    if shape == "m16n8k32":
        return (group if i < 8 else group + 8), thread * 8 + (i & 7)
    return (group if i < 8 or 16 <= i < 24 else group + 8), thread * 8 + (i & 7) + (0 if i < 16 else 32)


def element_of_b(lane, i):
    group, thread = lane >> 2, lane % 4
    return thread * 8 + (i & 7) + (0 if i < 8 else 32), group


def element_of_d(lane, i):
    group, thread = lane >> 2, lane % 4
    return (group if i < 2 else group + 8), thread * 2 + (i & 1)


class Side:
    """A or B: its array, and how its bytes come into the registers."""

    def __init__(self, rng, name, rows, depth, tiles):
        self.name, self.rows, self.depth = name, rows, depth  # depth: pairs of one step
        self.registers = rows // 8 * (depth // 16)
        self.declared = self.used = rng.choice(["s4", "u4"])
        self.along = rng.random() < 0.75  # pairs of one row of A, or column of B, follow each other
        self.way = rng.choice(["words", "bytes", "prmt", "ldmatrix"]) if self.along else "bytes"
        unit = 16 if self.way == "ldmatrix" else 1 if self.way == "bytes" else 4
        self.pitch = (tiles * depth if self.along else rows) + unit * rng.choice([0, 0, 1, 3])
        self.lines = rows if self.along else tiles * depth
        self.order, self.swap, self.thread, self.group = [0, 1, 2, 3], 0, 0, 0
        self.exchange = self.lane = self.zero = self.tile = self.halves = None

    def start(self, register, byte, tile):
        """Place of a byte of a register in lane 0: row, pair."""
        if self.exchange and register in self.exchange:
            register = sum(self.exchange) - register
        low = register % 2 * 8 if self.rows == 16 else 0
        half = register // (self.rows // 8)
        if self.depth == 32:
            half ^= self.swap
        tile = self.tile[tile] if self.tile else tile
        return low, tile * self.depth + 16 * half + self.order[byte]

    def place(self, lane, register, byte, tile):
        """Number of the byte in the array, or None: zero."""
        if self.zero == register:
            return None
        row, pair = self.start(register, byte, tile)
        row, pair = row + ((lane >> 2) ^ self.group), pair + 4 * ((lane % 4) ^ self.thread)
        at = row * self.pitch + pair if self.along else pair * self.pitch + row
        if self.lane == (lane, register):
            at ^= 1 if self.way == "bytes" else 4
        return at

    def loads(self, tile):
        """PTX that fills the registers %ar0.. of a step."""
        out = [f"xor.b32 %h, %g, {self.group}; xor.b32 %u, %t, {self.thread};"]
        row_step, pair_step = (self.pitch, 1) if self.along else (1, self.pitch)
        for register in range(self.registers):
            to = f"%{self.name}r{register}"
            if self.zero == register:
                out.append(f"mov.b32 {to}, 0;")
                continue
            parts = range(4) if self.way == "bytes" else [self.order.index(0)]
            for byte in parts:
                row, pair = self.start(register, byte, tile)
                out.append(f"mad.lo.u32 %x, %h, {row_step}, {row * row_step + pair * pair_step}; mad.lo.u32 %x, %u, {4 * pair_step}, %x;")
                if self.lane and self.lane[1] == register:
                    out.append(f"setp.eq.u32 %p, %l, {self.lane[0]}; @%p xor.b32 %x, %x, {1 if self.way == 'bytes' else 4};")
                out.append(f"cvt.u64.u32 %w, %x; add.u64 %w, %{self.name}, %w;")
                if self.way == "bytes":
                    out.append("ld.global.u8 %y, [%w];")
                    out.append(f"mov.b32 {to}, %y;" if byte == 0 else f"shl.b32 %y, %y, {8 * byte}; or.b32 {to}, {to}, %y;")
                else:
                    out.append(f"ld.global.u32 {to}, [%w];")
                    if self.order != [0, 1, 2, 3]:
                        out.append(f"prmt.b32 {to}, {to}, 0, {sum(x << 4 * i for i, x in enumerate(self.order))};")
            if self.halves == register:
                out.append(f"and.b32 %x, {to}, 0x0f0f0f0f; shl.b32 %x, %x, 4; shr.u32 %y, {to}, 4; and.b32 %y, %y, 0x0f0f0f0f; or.b32 {to}, %x, %y;")
        return out

    def matrix_loads(self, tile, base):
        """ldmatrix of rows of 16 bytes: lane l of each eight has row l of a matrix, and gets 4 bytes (l % 4) of row l / 4."""
        out = []
        count = self.registers
        out.append("mov.b32 %x, 0; mov.b32 %y, 0;")
        for register in range(count):
            row, pair = self.start(register, 0, tile)
            out.append(f"shr.u32 %y, %l, 3; setp.eq.u32 %p, %y, {register}; @%p mov.b32 %x, {row * self.pitch + pair};")
        out.append(f"and.b32 %y, %l, 7; xor.b32 %y, %y, {self.group}; mad.lo.u32 %x, %y, {self.pitch}, %x; mov.u32 %y, tile; add.u32 %x, %x, %y;")
        to = "{" + ", ".join(f"%{self.name}r{i}" for i in range(count)) + "}"
        out.append(f"ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {to}, [%x+{base}];")
        return out


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        self.shape = rng.choice(list(SHAPES))
        self.m, self.k = SHAPES[self.shape]
        self.tiles = rng.choice([1, 1, 2, 3])
        self.a = Side(rng, "a", self.m, self.k // 2, self.tiles)
        self.b = Side(rng, "b", 8, self.k // 2, self.tiles)
        self.wmma = self.shape == "m8n8k32" and rng.random() < 0.3
        if self.wmma:
            for side in (self.a, self.b):
                side.along, side.way, side.lines = True, "wmma", 8
                side.pitch = self.tiles * side.depth + rng.choice([0, 4, 16])
            self.b.declared = self.b.used = self.a.used
        self.results = self.m // 4
        self.start = rng.choice(["none", "before", "after"])
        self.parts = 1 if self.tiles == 1 or self.wmma else rng.choice([1, 2])  # accumulators
        self.double, self.saturates = rng.random() < 0.3, rng.random() < 0.2
        self.stored, self.column = list(range(self.results)), 0
        self.expected_double, self.expected_start, self.first = self.double, self.start != "none", 0
        self.unsure = False
        self.reorder()
        self.wrong = None
        if rng.random() < 0.5:
            self.spoil(rng.choice(WRONG))

    def reorder(self):
        """An order of k that both have."""
        rng, sides = self.rng, (self.a, self.b)
        if all(s.way in ("bytes", "prmt") for s in sides) and rng.random() < 0.5:
            order = rng.sample(range(4), 4)
            self.a.order, self.b.order = order, list(order)
        if self.k == 64 and not self.wmma and rng.random() < 0.3:
            self.a.swap = self.b.swap = 1
        if all(s.way in ("words", "bytes", "prmt") for s in sides) and rng.random() < 0.3:
            self.a.thread = self.b.thread = rng.randrange(1, 4)
        if self.tiles > 1 and rng.random() < 0.3:
            self.a.tile = self.b.tile = rng.sample(range(self.tiles), self.tiles)
        if all(s.way in ("words", "bytes", "prmt") for s in sides) and rng.random() < 0.03:
            if self.a.registers == self.b.registers:
                self.a.halves = self.b.halves = 0
                self.unsure = True

    def spoil(self, what):
        rng = self.rng
        side = rng.choice([self.a, self.b])
        free = side.way in ("words", "bytes", "prmt")
        self.wrong = what
        if what == "sign":
            other = {"s4": "u4", "u4": "s4"}
            for one in (self.a, self.b) if self.wmma else (side,):
                one.used = other[one.used]
        elif what == "registers" and side.registers > 1 and not self.wmma:
            side.exchange = rng.sample(range(side.registers), 2)
        elif what == "bytes" and side.way in ("bytes", "prmt"):
            order = list(side.order)
            x, y = rng.sample(range(4), 2)
            order[x], order[y] = order[y], order[x]
            side.order = order
        elif what == "threads" and free:
            side.thread ^= rng.randrange(1, 4)
        elif what == "groups" and not self.wmma:
            side.group = rng.randrange(1, 8)
        elif what == "lane" and free:
            side.lane = rng.randrange(32), rng.randrange(side.registers)
        elif what == "zero" and free:
            side.zero = rng.randrange(side.registers)
        elif what == "tile" and self.tiles > 1:
            tile = list(side.tile or range(self.tiles))
            tile[rng.randrange(self.tiles)] = rng.randrange(self.tiles)
            side.tile = tile
        elif what == "results" and not self.wmma:
            x, y = rng.sample(range(self.results), 2)
            self.stored[x], self.stored[y] = self.stored[y], self.stored[x]
        elif what == "columns" and not self.wmma:
            self.column = rng.randrange(1, 4)
        elif what == "start":
            self.expected_start = not self.expected_start
        elif what == "twice":
            self.expected_double = not self.expected_double
        elif what == "range":
            self.first = 1
        elif what == "halves" and free:
            side.halves, self.unsure = rng.randrange(side.registers), True
        elif what == "matrix" and self.wmma:  # rows that are no rows
            side.pitch_used = side.pitch - 4
            return
        else:
            self.wrong = None

    def tile_of(self, side, tile):
        return side.tile[tile] if side.tile else tile

    def extents(self, side):
        return side.lines, side.pitch

    def shared(self):
        """Where the copies in shared memory begin."""
        out, at = {}, 0
        for side in (self.a, self.b):
            if side.way == "ldmatrix":
                out[side.name] = at
                at += -(-side.lines * side.pitch // 512) * 512
        return out, at

    def text(self):
        bases, size = self.shared()
        body = ["mov.u32 %l, %tid.x; shr.u32 %g, %l, 2; and.b32 %t, %l, 3;"]
        for side in (self.a, self.b):
            if side.way != "ldmatrix":
                continue
            body.append(f"shl.b32 %y, %l, 4; mov.u32 %x, tile; add.u32 %x, %x, %y; cvt.u64.u32 %w, %y; add.u64 %w, %{side.name}, %w;")
            total = side.lines * side.pitch
            for at in range(0, total, 512):
                body.append(f"setp.lt.u32 %p, %y, {total - at}; @%p ld.global.v4.b32 {{%q0, %q1, %q2, %q3}}, [%w+{at}]; @%p st.shared.v4.b32 [%x+{bases[side.name] + at}], {{%q0, %q1, %q2, %q3}};")
        body.append("bar.warp.sync 0xffffffff;")
        body += [f"mov.b32 %d{part}r{i}, 0;" for part in range(2) for i in range(self.results)]
        places = [f"mad.lo.u32 %x, %g, 32, {row * 32 + column * 4}; xor.b32 %u, %t, {{}}; mad.lo.u32 %x, %u, 8, %x; cvt.u64.u32 %w, %x;" for row, column in (element_of_d(0, i) for i in range(self.results))]
        if self.wmma:
            self.move_matrix(body)
        elif self.start == "before":
            for i, place in enumerate(places):
                body.append(place.format(0) + f" add.u64 %w, %e, %w; ld.global.u32 %d0r{i}, [%w];")
        for tile in range(self.tiles):
            d = "{" + ", ".join(f"%d{tile % self.parts}r{i}" for i in range(self.results)) + "}"
            vectors = {}
            for side in (self.a, self.b):
                vectors[side.name] = "{" + ", ".join(f"%{side.name}r{i}" for i in range(side.registers)) + "}"
                if side.way == "wmma":
                    layout = "row" if side.name == "a" else "col"
                    start = self.tile_of(side, tile) * side.depth
                    body.append(f"mov.u32 %x, {2 * getattr(side, 'pitch_used', side.pitch)}; wmma.load.{side.name}.sync.aligned.{layout}.m8n8k32.global.{side.used} {vectors[side.name]}, [%{side.name}+{start}], %x;")
                else:
                    body += side.matrix_loads(tile, bases["a" if side is self.a else "b"]) if side.way == "ldmatrix" else side.loads(tile)
            verb = "wmma.mma.sync.aligned.row.col" if self.wmma else "mma.sync.aligned"
            order = "" if self.wmma else ".row.col"
            sat = ".satfinite" if self.saturates else ""
            types = f"s32.{self.a.used}.{self.b.used}.s32"
            body.append(f"{verb}.{self.shape}{order}.{types}{sat} {d}, {vectors['a']}, {vectors['b']}, {d};" if self.wmma else f"{verb}.{self.shape}{order}{sat}.{types} {d}, {vectors['a']}, {vectors['b']}, {d};")
        for i in range(self.results):
            if self.parts == 2:
                body.append(f"add.s32 %d0r{i}, %d0r{i}, %d1r{i};")
            if self.start == "after" and not self.wmma:
                body.append(places[i].format(0) + f" add.u64 %w, %e, %w; ld.global.u32 %y, [%w]; add.s32 %d0r{i}, %d0r{i}, %y;")
            if self.double:
                body.append(f"add.s32 %d0r{i}, %d0r{i}, %d0r{i};")
        if self.wmma:
            body.append("mov.u32 %x, 8; wmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%c], {%d0r0, %d0r1}, %x;")
        else:
            for i, place in enumerate(places):
                body.append(place.format(self.column) + f" add.u64 %w, %c, %w; st.global.u32 [%w], %d0r{self.stored[i]};")
        loads = "\n".join(f"ld.param.u64 %{f}, [p{f}];" for f in "cabe")
        return (".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(" + ", ".join(f".param .u64 p{f}" for f in "cabe") + ")\n{\n"
                ".reg .b64 %a, %b, %c, %e, %w; .reg .b32 %l, %g, %t, %h, %u, %x, %y, %q<4>, %ar<4>, %br<4>, %d0r<4>, %d1r<4>; .reg .pred %p;\n"
                f".shared .align 128 .b8 tile[{max(size, 16)}];\n" + loads + "\n" + "\n".join(body) + "\nret;\n}\n")

    def move_matrix(self, body):
        if self.start != "none":
            body.append("mov.u32 %x, 8; wmma.load.c.sync.aligned.row.m8n8k32.global.s32 {%d0r0, %d0r1}, [%e], %x;")

    def matrices(self, tile):
        """Numbers of 4 bits of A and B: (array, byte, upper half, sign) or None."""
        a, b = {}, {}
        for lane in range(32):
            for side, out, count in ((self.a, a, self.m * self.k // 32), (self.b, b, self.k * 8 // 32)):
                for i in range(count):
                    register, byte, half = i // 8, i % 8 // 2, i % 2
                    at = element_of_a(self.shape, lane, i) if side is self.a else element_of_b(lane, i)
                    if side.way == "wmma":
                        line, depth = at if side is self.a else at[::-1]
                        place = line * getattr(side, "pitch_used", side.pitch) + self.tile_of(side, tile) * side.depth + depth // 2
                    else:
                        place = side.place(lane, register, byte, tile)
                    if side.halves == register:
                        half ^= 1
                    out[at] = None if place is None else (side.name, place, half, side.used)
        return a, b

    def results_of(self):
        sums = collections.defaultdict(collections.Counter)
        factor = 2 if self.double else 1
        for tile in range(self.tiles):
            a, b = self.matrices(tile)
            for row in range(self.m):
                for column in range(8):
                    out = sums[row, column]
                    for k in range(self.k):
                        if a[row, k] and b[k, column]:
                            out[a[row, k], b[k, column]] += factor
        if self.start != "none":
            for row in range(self.m):
                for column in range(8):
                    sums[row, column]["e", row, column] += factor
        if self.wmma:
            return sums
        stored = {}
        for lane in range(32):
            for i in range(self.results):
                row, column = element_of_d(lane, i)
                stored[row, column ^ (2 * self.column)] = sums[element_of_d(lane, self.stored[i])]
        return stored

    def expected(self):
        factor = 2 if self.expected_double else 1
        out = {}
        for row in range(self.m):
            for column in range(8):
                terms = out[row, column] = collections.Counter()
                for pair in range(self.first, self.tiles * self.k // 2):
                    x = row * self.a.pitch + pair if self.a.along else pair * self.a.pitch + row
                    y = column * self.b.pitch + pair if self.b.along else pair * self.b.pitch + column
                    for half in (0, 1):
                        terms[("a", x, half, self.a.declared), ("b", y, half, self.b.declared)] += factor
                if self.expected_start:
                    terms["e", row, column] += factor
        return out

    def expectation(self):
        times = "2*" if self.expected_double else ""
        a = "a[m][p]" if self.a.along else "a[p][m]"
        b = "b[n][p]" if self.b.along else "b[p][n]"
        start = f" + {times}e[m][n]" if self.expected_start else ""
        return f"c[m][n] = {times}sum(p in {self.first}..{self.tiles * self.k // 2 - 1}) {a}*{b}{start} for m in 0..{self.m - 1} for n in 0..7"


def main():
    options = options_of(__doc__, 100, by_number=True)
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.first, options.first + options.cases):
            kernel, found = Kernel(random.Random(options.seed * 1000003 + case)), []
            path = os.path.join(folder, "k.ptx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(kernel.text())
            words = ["flow", path, "--block", "32", "--repair-steps", "0", "--expect", kernel.expectation(), "--json",
                     "--param", f"0=c:i32[{kernel.m}][8]", "--param", f"3=e:i32[{kernel.m}][8]"]
            for number, side in ((1, kernel.a), (2, kernel.b)):
                words += ["--param", f"{number}={side.name}:{side.declared}x2[{side.lines}][{side.pitch}]"]
            code, document = answered(options.binary, words)
            results, expected = kernel.results_of(), kernel.expected()
            wrong = sum(results[e] != expected[e] for e in expected)
            tally[{0: "proved", 1: "refuted", 3: "unknown"}.get(code, "error")] += 1
            tally[("wmma " if kernel.wmma else "") + kernel.shape] += 1
            tally["wrong: " + kernel.wrong if kernel.wrong and wrong else "wrong" if wrong else "right"] += 1
            if code != (1 if wrong else 0) and not (code == 3 and kernel.unsure):
                found.append(f"exit code {code}, and the model has {wrong} wrong elements: {document.get('reason') or document}")
            if code == 1 and (document["fault"] is not None or (document["wrong"] != wrong and not kernel.unsure)):
                found.append(f"{document['wrong']} wrong elements, and {wrong} in the model; fault {document['fault']}")
            if code in (0, 1) and kernel.saturates != any(".satfinite" in what for what in document.get("assumed", [])):
                found.append(f"assumed: {document.get('assumed')}")
            if options.show:
                print(kernel.text(), kernel.expectation(), code, found)
            for what in found[:2]:
                print(f"DIFFERENT: seed {options.seed}, case {case}: {kernel.shape} {kernel.wrong}: {what}"[:700], flush=True)
            differences += bool(found)
    print(f"flow_small_integers: {options.cases} kernels; " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())) + f"; {differences} different")
    return int(differences != 0)


if __name__ == "__main__":
    sys.exit(main())
