#!/usr/bin/env python3
"""fragments.py --binary PATH --cases N --seed S: a reference model of fragments and of movements between them.

PTX ISA draws a fragment as a table: who holds the element at a row and a column? The model answers that question, the inverse of the
formulas that PTX prints below the tables, for every instruction and operand; then every lane and register of
`swizproof fragment --json` is compared with it. Random pairs of operands are moved into each other: the verdict, the
counterexample, the permutations and movmatrix are checked by moving every element, in Python's lists. Random operands are loaded by
ldmatrix and stored by stmatrix: the rows that are found are read from a tile in a dictionary, and where none are found none exist.
"""
import collections
import random
import re
import sys

from asking import Failure, ask, expect, options_of, print_sums

SHAPES = {  # m, n, k, bits: types
    (8, 8, 4, 64): "f64", (16, 8, 4, 64): "f64", (16, 8, 8, 64): "f64", (16, 8, 16, 64): "f64",
    (16, 8, 4, 32): "tf32", (16, 8, 8, 32): "tf32", (16, 8, 8, 16): "f16 bf16", (16, 8, 16, 16): "f16 bf16",
    (8, 8, 16, 8): "s8 u8", (16, 8, 16, 8): "s8 u8 e4m3 e5m2", (16, 8, 32, 8): "s8 u8 e4m3 e5m2",
    (8, 8, 32, 4): "s4 u4", (16, 8, 32, 4): "s4 u4", (16, 8, 64, 4): "s4 u4 e2m1",
    (8, 8, 128, 1): "b1", (16, 8, 128, 1): "b1", (16, 8, 256, 1): "b1"}
SPARSE = {  # k, bits: types, which lanes of four hold metadata
    (8, 32): ("tf32", "one"), (16, 32): ("tf32", "pair"), (16, 16): ("f16 bf16", "one"), (32, 16): ("f16 bf16", "pair"),
    (32, 8): ("s8 u8", "rows"), (64, 8): ("s8 u8 e4m3 e5m2", "all"), (64, 4): ("s4 u4", "rows"), (128, 4): ("s4 u4", "all")}
SMALL = "e4m3 e5m2 e3m2 e2m3 e2m1".split()


class Held:
    """(thread, value) -> (row, column), with the names of rows and columns; `spare` lanes hold an element, too."""

    def __init__(self, name, rows, columns, bits, owner, indices, threads=32, spare=None):
        self.name, self.rows, self.columns, self.bits, self.threads = name, rows, columns, bits, threads
        self.indices, self.at = indices, {}
        for row in range(rows):
            for column in range(columns):
                thread, value = owner(row, column)
                for extra in spare or [0]:
                    key = (thread + extra, value)
                    assert key not in self.at, (name, key)
                    self.at[key] = (row, column)
        self.values = 1 + max(value for _, value in self.at)
        assert len(self.at) == threads * self.values, name

    def operand(self):
        return self.name.rsplit(":", 1)[1] if ":" in self.name else "d"


def blocks(rows, columns, bits, by_row):
    """Registers are blocks of 8 lines of 4 lanes: those of A lie below each other first, those of B follow each other along k."""
    each = max(1, 32 // bits)

    def owner(row, column):
        line, along = (row, column) if by_row else (column, row)
        lanes, block = divmod(along, each)[0], 0
        lane = line % 8 * 4 + lanes % 4
        block = line // 8 + (rows // 8 if by_row else 1) * (along // (4 * each))
        return lane, block * each + along % each
    return owner


def results(rows):
    def owner(row, column):
        return row % 8 * 4 + column % 8 // 2, (column // 8 * (rows // 8) + row // 8) * 2 + column % 2
    return owner


def of_warpgroup(owner):
    """Warp w holds rows 16 w to 16 w + 15 as one warp's mma does."""
    def whole(row, column):
        lane, value = owner(row % 16, column)
        return row // 16 * 32 + lane, value
    return whole


def fragments():
    for (m, n, k, bits), types in SHAPES.items():
        for kind in types.split():
            name = f"mma.m{m}n{n}k{k}.{kind}"
            yield Held(name + ":a", m, k, bits, blocks(m, k, bits, True), ("m", "k"))
            yield Held(name + ":b", k, n, bits, blocks(k, n, bits, False), ("k", "n"))
            yield Held(name + ":d", m, n, 64 if bits == 64 else 32, results(m), ("m", "n"))
    yield from of_whole_names()
    yield from of_warpgroups()
    yield from of_kinds()
    yield from of_sparse()
    yield from of_quad_pairs()
    yield from of_cells()
    yield from of_matrices()
    yield from of_bytes()
    yield from of_tensor_memory()


def of_whole_names():
    """Names with all types: D and C of 16 bits, A and B of two kinds."""
    for k in (8, 16):
        for d in ("f16", "f32"):
            name = f"mma.sync.aligned.m16n8k{k}.row.col.{d}.f16.f16.{d}"
            yield Held(name + ":c", 16, 8, int(d[1:]), results(16), ("m", "n"))
    for k in (16, 32):
        for d in ("f16", "f32"):
            for a, b in (("e4m3", "e5m2"), ("e5m2", "e4m3")):
                name = f"mma.sync.aligned.m16n8k{k}.row.col.{d}.{a}.{b}.{d}"
                yield Held(name + ":a", 16, k, 8, blocks(16, k, 8, True), ("m", "k"))
                yield Held(name + ":d", 16, 8, int(d[1:]), results(16), ("m", "n"))
    for m, k, bits in ((8, 16, 8), (16, 16, 8), (16, 32, 8), (8, 32, 4), (16, 32, 4), (16, 64, 4)):
        for a, b in (("s", "u"), ("u", "s")):
            name = f"mma.sync.aligned.m{m}n8k{k}.row.col.satfinite.s32.{a}{bits}.{b}{bits}.s32"
            yield Held(name + ":a", m, k, bits, blocks(m, k, bits, True), ("m", "k"))
            yield Held(name + ":b", k, 8, bits, blocks(k, 8, bits, False), ("k", "n"))
            yield Held(name + ":c", m, 8, 32, results(m), ("m", "n"))


def of_warpgroups():
    """wgmma of every type, at every n."""
    for k, bits, types in ((8, 32, "tf32"), (16, 16, "f16 bf16"), (32, 8, "e4m3 e5m2 s8 u8")):
        for kind in types.split():
            yield Held(f"wgmma.m64n16k{k}.{kind}:a", 64, k, bits, of_warpgroup(blocks(16, k, bits, True)), ("m", "k"), 128)
            for n in range(8, 257, 8):
                if kind in ("s8", "u8") and n > 32 and n % 16:
                    continue
                yield Held(f"wgmma.m64n{n}k{k}.{kind}:d", 64, n, 32, of_warpgroup(results(16)), ("m", "n"), 128)
                if kind in ("f16", "e4m3", "e5m2"):
                    name = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.f16.{kind}.{kind}"
                    yield Held(name + ":d", 64, n, 16, of_warpgroup(results(16)), ("m", "n"), 128)


def of_kinds():
    for a, b in ((a, b) for a in SMALL for b in SMALL):
        for kind in (f"kind::f8f6f4.f32.{a}.{b}.f32", f"kind::mxf8f6f4.block_scale.scale_vec::1X.f32.{a}.{b}.f32.ue8m0"):
            name = "mma.m16n8k32." + kind
            yield Held(name + ":a", 16, 32, 8, blocks(16, 32, 8, True), ("m", "k"))
            yield Held(name + ":b", 32, 8, 8, blocks(32, 8, 8, False), ("k", "n"))
            yield Held(name + ":d", 16, 8, 32, results(16), ("m", "n"))
            if "block" in kind:
                yield from scales(name, 1)
    for kind, many in (("mxf4.block_scale", 2), ("mxf4nvf4.block_scale.scale_vec::2X", 2),
                       ("mxf4nvf4.block_scale.scale_vec::4X", 4)):
        for scale in ("ue8m0", "ue4m3"):
            if scale == "ue4m3" and many != 4:
                continue
            name = f"mma.sync.aligned.m16n8k64.row.col.kind::{kind}.f32.e2m1.e2m1.f32.{scale}"
            yield Held(name + ":a", 16, 64, 4, blocks(16, 64, 4, True), ("m", "k"))
            yield Held(name + ":b", 64, 8, 4, blocks(64, 8, 4, False), ("k", "n"))
            yield Held(name + ":c", 16, 8, 32, results(16), ("m", "n"))
            yield from scales(name, many)


def scales(name, many):
    """Selector {0, thread-id}: rows m and m + 8 of scale_A are in two lanes of one quad; thread-id 1 names the two after them."""
    yield Held(name + ":sfa", 16, many, 8, lambda m, j: (m % 8 * 4 + m // 8, j), ("m", "block"), spare=(0, 2))
    yield Held(name + ":sfb", many, 8, 8, lambda j, n: (4 * n, j), ("block", "n"), spare=(0, 1, 2, 3))


def metadata(kind, half):
    """Row m and index j: `half` indices are 16 bits of a register. Lanes that another selector reads hold the same."""
    def owner(m, j):
        line, below = m % 8 * 4, m // 8 % 2
        lane, value = {"one": (line, below * half + j), "pair": (line + j // half, below * half + j % half),
                       "rows": (line + below, j), "all": (line + below + j // 16 * 2, j % 16)}[kind]
        return m // 16 * 32 + lane, value
    return owner, {"one": (0, 1, 2, 3), "pair": (0, 2), "rows": (0, 2), "all": (0,)}[kind]


def of_sparse():
    for (k, bits), (types, kind) in SPARSE.items():
        names = [f"mma.sp.m16n8k{k}.{t}" for t in types.split()]
        if bits == 8 and k == 64:
            names += [f"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.{a}.{b}.f32" for a in SMALL for b in SMALL]
            names += ["mma.sp.m16n8k64.kind::mxf8f6f4.e5m2"]
        if bits == 4 and k == 128:
            names += ["mma.sp.m16n8k128.kind::mxf4.e2m1", "mma.sp.m16n8k128.kind::mxf4nvf4.scale_vec::4X.e2m1"]
        index = 4 if bits == 32 else 2
        indices = k // 4 if bits == 4 else k // 2
        for name in names:
            yield Held(name + ":a", 16, k // 2, bits, blocks(16, k // 2, bits, True), ("m", "nonzero"))
            yield Held(name + ":b", k, 8, bits, blocks(k, 8, bits, False), ("k", "n"))
            yield Held(name + ":d", 16, 8, 32, results(16), ("m", "n"))
            owner, spare = metadata(kind, 16 // index)
            yield Held(name + ":e", 16, indices, index, owner, ("m", "index"), spare=spare)
            if "kind::mx" in name:
                yield from scales(name, 4 if "4X" in name else 1 if "mxf8" in name else 2)
    for k, bits, types, kind in ((16, 32, "tf32", "pair"), (32, 16, "f16 bf16", "pair"), (64, 8, "e4m3 e5m2 s8 u8", "all")):
        for t in types.split():
            for n in range(8, 257, 8):
                name = f"wgmma.sp.m64n{n}k{k}.{t}"
                if t in ("s8", "u8") and n > 32 and n % 16:
                    continue
                yield Held(name + ":d", 64, n, 32, of_warpgroup(results(16)), ("m", "n"), 128)
            yield Held(name + ":a", 64, k // 2, bits, of_warpgroup(blocks(16, k // 2, bits, True)), ("m", "nonzero"), 128)
            owner, spare = metadata(kind, 4 if bits == 32 else 8)
            yield Held(name + ":e", 64, k // 2, 4 if bits == 32 else 2, owner, ("m", "index"), 128, spare=spare)


def of_quad_pairs():
    """Figures of m8n8k4: product q is in lanes 4q to 4q + 3, and 16 further, where the upper four rows, or columns, are."""
    def line(r, other):
        return r // 8 * 4 + r % 8 // 4 * 16 + r % 4, other

    def turned(r, other):
        return r // 8 * 4 + r % 8 // 4 * 16 + other, r % 4

    def f32(r, n):
        m = r % 8
        return r // 8 * 4 + m // 4 * 16 + n // 2 % 2 * 2 + m % 2, n // 4 * 4 + m // 2 % 2 * 2 + n % 2
    for a in ("row", "col"):
        for b in ("row", "col"):
            for d in ("f32", "f16"):
                name = f"mma.sync.aligned.m8n8k4.{a}.{b}.{d}.f16.f16.{d}"
                yield Held(name + ":a", 32, 4, 16, line if a == "row" else turned, ("m", "k"))
                of_b = line if b == "col" else turned
                yield Held(name + ":b", 4, 32, 16, lambda k, n, of=of_b: of(n, k), ("k", "n"))
                yield Held(name + ":c", 32, 8, int(d[1:]), f32 if d == "f32" else line, ("m", "n"))


def of_cells():
    """Lanes and columns of Tensor Memory after tcgen05.cp, and scale factors of tcgen05.mma in them."""
    both = ("row", "column")

    def plain(row, column):
        return row, column
    yield Held("tcgen05.cp.128x256b", 128, 8, 32, plain, both, 128)
    yield Held("tcgen05.cp.cta_group::1.128x128b", 128, 4, 32, plain, both, 128)
    yield Held("tcgen05.cp.4x256b", 4, 8, 32, plain, both, 4)
    yield Held("tcgen05.cp.cta_group::2.64x128b.warpx2::02_13", 64, 4, 32, plain, both, 128, spare=(0, 64))
    yield Held("tcgen05.cp.64x128b.warpx2::01_23", 64, 4, 32, lambda row, column: (row % 32 + row // 32 * 64, column), both, 128, spare=(0, 32))
    yield Held("tcgen05.cp.32x128b.warpx4", 32, 4, 32, plain, both, 128, spare=(0, 32, 64, 96))
    for kind, many in (("mxf8f6f4", 1), ("mxf4", 2), ("mxf4nvf4.scale_vec::2X", 2), ("mxf4nvf4.scale_vec::4X", 4)):
        for rows in (32, 64, 128, 192, 256):
            for operand, letter in (("sfa", "m"), ("sfb", "n")):
                yield Held(f"tcgen05.mma.kind::{kind}.{letter}{rows}:{operand}", rows, many, 8,
                           lambda row, j, n=many: (row % 32, row // 32 * n + j), (letter, "block"), 128, spare=(0, 32, 64, 96))


def of_matrices():
    def plain(bits):
        def owner(row, column):
            unit = column * bits // 16  # of 16 bits, in the 8 of a row
            half = unit % 2 * 16 + column * bits % 16
            return row % 8 * 4 + unit // 2, (row // 8 * 32 + half) // bits
        return owner

    def turned(bits):
        def owner(row, column):
            unit = column * bits // 16
            return unit * 4 + row % 8 // 2, (row // 8 * 32 + row % 2 * 16 + column * bits % 16) // bits
        return owner
    for kind in ("ldmatrix", "stmatrix"):
        for count in (1, 2, 4):
            for bits, element in ((4, "s4"), (8, "e4m3"), (16, "f16"), (32, "f32")):
                yield Held(f"{kind}.x{count} --element {element}", 8 * count, 128 // bits, bits, plain(bits), ("row", "column"))
                if bits < 32:
                    yield Held(f"{kind}.x{count}.trans --element {element}", 8 * count, 128 // bits, bits, turned(bits),
                               ("row", "column"))
    for bits, element in ((4, "s4"), (8, "e4m3"), (16, "bf16")):
        yield Held(f"movmatrix.sync.aligned.m8n8.trans.b16 --element {element}", 8, 128 // bits, bits, turned(bits),
                   ("row", "column"))


def of_bytes():
    """Figures 105 and 106 of ldmatrix: a group of four lanes holds a row of the (transposed) matrix, four elements in a register."""
    def m16n16(row, column):  # transposed: the register has four rows of one column
        return column % 8 * 4 + row % 16 // 4, (row // 16 * 2 + column // 8) * 4 + row % 4

    def m8n16(row, column):
        return row % 8 * 4 + column // 4, row // 8 * 4 + column % 4

    def m16n8(row, column):  # what D of m16n8 is, in one register: two columns of n, then the same eight rows of m further
        return column % 8 * 4 + row % 8 // 2, row // 8 * 4 + column // 8 * 2 + row % 2
    both = ("row", "column")
    for count in (1, 2):
        for kind in ("b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"):
            yield Held(f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{kind}", 16 * count, 16, 8, m16n16, both)
    for count in (1, 2, 4):
        for kind in ("b6x16_p32", "b4x16_p64"):
            yield Held(f"ldmatrix.m8n16.x{count}.b8x16.{kind}", 8 * count, 16, 8, m8n16, both)
        yield Held(f"stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8", 8 * count, 16, 8, m16n8, both)


def of_tensor_memory():
    """Figures 183 to 187: who has the 32 bits at a lane and a column."""
    def pairs(lane, column):
        return lane % 8 * 4 + column % 2 * 2 + lane // 8, column // 2

    def quads(lane, column):
        return lane % 8 * 4 + column % 4, column // 4 * 2 + lane // 8

    def eights(lane, column):
        return lane % 8 * 4 + column % 8 // 2, column // 8 * 4 + lane // 8 * 2 + column % 2
    both = ("lane", "column")
    for op in ("ld", "st"):
        for power in range(8):
            many = 1 << power
            yield Held(f"tcgen05.{op}.sync.aligned.32x32b.x{many}.b32", 32, many, 32, lambda lane, column: (lane, column), both)
            yield Held(f"tcgen05.{op}.16x64b.x{many}", 16, 2 * many, 32, pairs, both)
            yield Held(f"tcgen05.{op}.16x32bx2.x{many}", 16, 2 * many, 32,
                       lambda lane, column, n=many: (lane + 16 * (column // n), column % n), both)
            if power < 7:
                yield Held(f"tcgen05.{op}.16x128b.x{many}", 16, 4 * many, 32, quads, both)
            if power < 6:
                yield Held(f"tcgen05.{op}.16x256b.x{many}", 16, 8 * many, 32, eights, both)


def check_fragment(binary, held):
    answer = ask(binary, "fragment", *held.name.split(" "))
    expect(answer["verdict"] == "proved", held.name, answer["verdict"])
    expect(answer["shape"] == [held.rows, held.columns], held.name, answer["shape"])
    expect(tuple(answer["indices"]) == held.indices, held.name, answer["indices"])
    size = max(32, held.bits)
    seen = {}
    for e in answer["elements"]:
        value = (e["register"] * size + e["bit"]) // held.bits if "register" in e else e["value"]
        seen[e["lane"], value] = (e["row"], e["column"])
    expect(seen == held.at, held.name, "other elements")
    return len(seen)


# ------------------------------------------------------------------------------------------------- movements

def lcm(a, b):
    c = a
    while c % b:
        c += a
    return c


def repeated(held, rows, columns, turn):
    """Copies fill rows x columns, those below each other first: a list for each thread."""
    down = (columns if turn else rows) // held.rows
    across = (rows if turn else columns) // held.columns
    out = [[None] * (held.values * down * across) for _ in range(held.threads)]
    for copy in range(down * across):
        for (thread, value), (row, column) in held.at.items():
            at = (row + copy % down * held.rows, column + copy // down * held.columns)
            out[thread][copy * held.values + value] = at[::-1] if turn else at
    return out


def transposed(registers, bits):
    """movmatrix on one register of the 32 lanes of each warp: 8 x 8 units of 16 bits, a unit being a tuple of elements."""
    out = []
    for first in range(0, len(registers), 32):
        matrix = [[None] * 8 for _ in range(8)]
        units = 16 // bits
        for lane in range(32):
            for half in range(2):
                matrix[lane // 4][lane % 4 * 2 + half] = registers[first + lane][half * units:(half + 1) * units]
        for lane in range(32):
            out.append([e for half in range(2) for e in matrix[lane % 4 * 2 + half][lane // 4]])
    return out


def by_movmatrix(got, wanted, bits):
    """For each register of the operand the first of the source that movmatrix turns into it; None if one has none."""
    each = 32 // bits
    count = len(got[0]) // each
    parts = [transposed([line[r * each:(r + 1) * each] for line in got], bits) for r in range(count)]
    order = []
    for r in range(count):
        target = [line[r * each:(r + 1) * each] for line in wanted]
        match = [s for s in range(count) if parts[s] == target]
        if not match:
            return None
        order.append(match[0])
    return order


def check_up_to(name, found, got, wanted, operand):
    for thread, line in enumerate(wanted):
        for i, (row, column) in enumerate(line):
            k, other = (row, column) if operand == "b" else (column, row)
            k = found["k"][k] if found["k"] else k
            other = found["other"][other] if found["other"] else other
            value = found["values"][i] if found["values"] else i
            expect(got[thread][value] == ((k, other) if operand == "b" else (other, k)), name, "the changes do not do it")


def check_movement(binary, rng, pool, odd):
    source, target = rng.choice(pool), rng.choice(pool)
    if rng.random() < 0.5:  # near relatives: more of them are right
        target = rng.choice([h for h in pool if h.threads == source.threads and (h.rows == source.rows or h.bits == source.bits)])
    if source.threads != target.threads:
        return False
    turn = rng.random() < 0.4
    rows, columns = (source.columns, source.rows) if turn else (source.rows, source.columns)
    all_rows, all_columns = lcm(rows, target.rows), lcm(columns, target.columns)
    if all_rows * all_columns // source.threads > 64:
        return False
    got = repeated(source, all_rows, all_columns, turn)
    wanted = repeated(target, all_rows, all_columns, False)
    words = [source.name, "--into", target.name] + (["--transposed"] if turn else [])
    answer = ask(binary, "fragment", *words)
    right = got == wanted
    expect(answer["verdict"] == ("proved" if right else "refuted"), words, answer["verdict"])
    odd["transposed" if turn else "by position"] += 1
    odd["proved" if right else "refuted"] += 1
    if source.rows != target.rows and source.columns != target.columns:
        odd["neither rows nor columns alike"] += 1
    if right:
        return True
    first = answer["counterexample"]
    value = (first["register"] * max(32, target.bits) + first["bit"]) // target.bits
    row_name, column_name = target.indices
    expect(got[first["lane"]][value] == (first["got"][row_name], first["got"][column_name]), words, "got")
    expect(wanted[first["lane"]][value] == (first["wanted"][row_name], first["wanted"][column_name]), words, "wanted")
    expect(got[first["lane"]][value] != wanted[first["lane"]][value], words, "no counterexample")
    order = by_movmatrix(got, wanted, target.bits) if target.bits <= 16 and len(got[0]) * target.bits % 32 == 0 else None
    told = answer["movmatrix"]
    expect((told["registers"] if told else None) == order, words, "movmatrix", told, order)
    odd["movmatrix" if order else "no movmatrix"] += 1
    if answer["up_to"]:
        check_up_to(words, answer["up_to"], got, wanted, target.operand())
        odd["up to permutations"] += 1
    return True


# ------------------------------------------------------------------------------------------------- loads and stores

def rows_exist(memory, operand, instructions, operands, contiguous_columns):
    """For each row of each instruction its start, or None where two elements of a row do not lie side by side, or not from 16 bytes on."""
    starts = {}
    for thread in range(operand.threads):
        for value in range(max(operand.values, memory.values)):
            i, part = divmod(value, memory.values)
            row, column = memory.at[thread % 32, part]
            copy, own = divmod(value, operand.values)
            at = operand.at[thread, own]
            at = (at[0], at[1] + copy * operand.columns) if operand.operand() != "a" else (at[0] + copy * operand.rows, at[1])
            strided, along = at if contiguous_columns else at[::-1]
            start = (strided, along - column)
            if starts.setdefault((row, thread // 32, i), start) != start:
                return None
    if any(start[1] * operand.bits % 128 for start in starts.values()):
        return None
    return starts


def check_load(binary, rng, memories, pool, odd):
    memory, operand = rng.choice(memories), rng.choice(pool)
    name = memory.name.split(" ")[0]
    stores = name.startswith("stmatrix")
    if "tcgen05" in operand.name or operand.bits != memory.bits or (stores and operand.operand() == "b"):
        return False
    if max(operand.values, memory.values) % min(operand.values, memory.values):
        return False
    contiguous = rng.choice(operand.indices)
    pair = [operand.name, "--into", name] if stores else [name, "--into", operand.name]
    answer = ask(binary, "fragment", *pair, "--contiguous", contiguous)
    instructions, operands = max(1, operand.values // memory.values), max(1, memory.values // operand.values)
    starts = rows_exist(memory, operand, instructions, operands, contiguous == operand.indices[1])
    odd["rows exist" if starts else "no rows"] += 1
    expect(answer["verdict"] == ("proved" if starts else "refuted"), pair, contiguous, answer["verdict"])
    expect(answer["every_address"] == (starts is None), pair, contiguous, "every_address")
    if "m16n" in name or "m8n16" in name:
        odd["matrices of bytes, " + ("rows exist" if starts else "no rows")] += 1
    if starts:
        rows, columns = re.search(r": row = (.*?), col = (.*?)(?: for i in .*)?$", answer["access"]).groups()
        for (row, warp, i), start in starts.items():
            scope = {"lane": row, "warp": warp, "thread": 32 * warp + row, "i": i}
            told = tuple(eval(text.replace("/", "//"), {"__builtins__": {}}, scope) for text in (rows, columns))
            expect(told == start, pair, contiguous, answer["access"], scope, start)
    return True


def main():
    options = options_of(__doc__)
    rng, odd = random.Random(options.seed), collections.Counter()
    every = list(fragments())
    pool = [h for h in every if h.name.rsplit(":", 1)[-1] in ("a", "b", "c", "d") and "m8n8k4.row" not in h.name and "m8n8k4.col" not in h.name]
    pool += [h for h in every if "tcgen05.ld" in h.name and h.values <= 16]
    memories = [h for h in every if "matrix" in h.name and not h.name.startswith("movmatrix")]
    kinds = collections.defaultdict(list)  # names but for their numbers: of each kind every fifth, unless the cases are many
    for held in every:
        kinds[re.sub(r"\d+", "", held.name)].append(held)
    asked = [held for kind in kinds.values() for held in kind[::1 if options.cases >= 1000 else 5]]
    elements = cases = 0
    try:
        for held in asked:
            elements += check_fragment(options.binary, held)
        while cases < options.cases:
            if rng.random() < 0.3:
                cases += check_load(options.binary, rng, memories, pool, odd)
            else:
                cases += check_movement(options.binary, rng, pool, odd)
    except Failure as failure:
        print(f"fragments.py: seed {options.seed}, case {cases}: {failure}")
        return 1
    print(f"fragments.py: {len(asked)} fragments, {elements} elements, {cases} movements, loads and stores, seed {options.seed}: 0 differences")
    print_sums(odd)
    return 0


if __name__ == "__main__":
    sys.exit(main())
