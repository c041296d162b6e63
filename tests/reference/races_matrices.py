#!/usr/bin/env python3
"""races_matrices.py --binary swizproof --cases N --seed S: random kernels of mma, ldmatrix and stmatrix whose results several warps store to one word, in `kernel --races` against a model that computes them.

Each thread of two or four warps loads registers of A, B and C from words of global memory by its lane, and one warp may take other words; it moves them through shared memory by ldmatrix or stmatrix, takes the least or largest of two lanes,
and multiplies: s8 and s32, f16, bf16 or tf32 by the fragments that the PTX ISA 9.1, 9.7.14.5, gives as formulas. Memory holds small integers, so that each sum is exact, or any bits, where no product is computed. A `same-value race` has one value in each memory, at the byte that is
named; a `lost store` has two in some memory; what is proved with --same-values has one value in all threads that meet.
"""
import collections
import math
import random
import struct
import sys

from asking import batches_of, options_of, races_of

MASK = 0xFFFFFFFF
FORMULAS = {  # rows and columns of A, B and D by lane and index; then the bits of an element of A
    "m16n8k32.s8": (lambda g, t, i: (g + 8 * (i // 4 % 2), 4 * t + i % 4 + 16 * (i // 8)), lambda g, t, i: (4 * t + i % 4 + 16 * (i // 4), g), 32, 8),
    "m16n8k16.s8": (lambda g, t, i: (g + 8 * (i // 4), 4 * t + i % 4), lambda g, t, i: (4 * t + i, g), 16, 8),
    "m16n8k16.f16": (lambda g, t, i: (g + 8 * (i // 2 % 2), 2 * t + i % 2 + 8 * (i // 4)), lambda g, t, i: (2 * t + i % 2 + 8 * (i // 2), g), 16, 16),
    "m16n8k8.f16": (lambda g, t, i: (g + 8 * (i // 2), 2 * t + i % 2), lambda g, t, i: (2 * t + i, g), 8, 16),
    "m16n8k8.tf32": (lambda g, t, i: (g + 8 * (i % 2), t + 4 * (i // 2)), lambda g, t, i: (t + 4 * i, g), 8, 32),
}
SHAPES = [("m16n8k32.s8", "s32.s8.s8.s32"), ("m16n8k16.s8", "s32.s8.s8.s32"), ("m16n8k16.f16", "f32.f16.f16.f32"), ("m16n8k16.f16", "f16.f16.f16.f16"), ("m16n8k16.f16", "f32.bf16.bf16.f32"), ("m16n8k8.f16", "f32.f16.f16.f32"),
          ("m16n8k8.tf32", "f32.tf32.tf32.f32")]
ORDERS = {"min.u32": min, "max.u32": max, "min.s32": lambda a, b: min(a, b, key=lambda x: x ^ 1 << 31), "max.s32": lambda a, b: max(a, b, key=lambda x: x ^ 1 << 31), "add.u32": lambda a, b: a + b & MASK, "sub.u32": lambda a, b: a - b & MASK}


def encoded(value, kind):
    """Bits of a small integer in a type."""
    if kind in ("s8", "s32"):
        return value & (0xFF if kind == "s8" else MASK)
    if kind == "f16":
        half = value if abs(value) < 65520 else math.copysign(math.inf, value)
        return struct.unpack("<H", struct.pack("<e", half))[0]
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits >> 16 if kind == "bf16" else bits


def decoded(bits, kind):
    if kind in ("s8", "s32"):
        width = 8 if kind == "s8" else 32
        return bits - (1 << width) if bits >> width - 1 else bits
    if kind == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    return struct.unpack("<f", struct.pack("<I", bits << 16 if kind == "bf16" else bits))[0]


def parts(words, bits):
    return [word >> at & (1 << bits) - 1 for word in words for at in range(0, 32, bits)]


def words_of(elements, bits):
    each = 32 // bits
    return [sum(e << bits * k for k, e in enumerate(elements[at:at + each])) for at in range(0, len(elements), each)]


class Kernel:
    """Lines of PTX, and what they do to the registers of all threads: r10 .. r13 of A, r14 and r15 of B, r16 .. r19 of C and D."""

    def __init__(self, rng, name):
        self.rng, self.name, self.steps = rng, name, []
        self.threads = rng.choice([64, 64, 64, 128])
        self.shape, self.types = rng.choice(SHAPES)
        self.d, self.a = self.types.split(".")[0], self.types.split(".")[1]
        self.lines = [f".entry {name}(.param .u64 g)", f".reqntid {self.threads}, 1, 1", "{", ".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<4>;", ".shared .align 16 .b8 tile[8192];",
                      "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u64 %rd1, [g]; and.b32 %r3, %r1, 31; shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; add.u32 %r4, %r4, 4096;"]
        for r in range(10, 20):
            self.load(r)
        self.products = 0
        for _ in range(rng.randrange(1, 5)):
            rng.choice([self.product, self.product, self.matrices, self.rows, self.order, self.reload])()
        if not self.products and rng.random() < 0.8:
            self.product()
        kept = rng.choice([None, None, None, rng.randrange(32)])
        shift, mask = (0, 31) if kept is None else (5, 0)
        if kept is None and rng.random() < 0.1:
            shift, mask = rng.choice([(0, 127), (2, 7), (0, 15)])
        self.place = [t >> shift & mask if kept in (None, t % 32) else None for t in range(self.threads)]
        self.out = rng.choice([16, 16, 17, 18, 19, 10, 13, 14])
        if kept is not None:
            self.lines.append(f"setp.eq.u32 %p1, %r3, {kept};")
        self.lines += [f"shr.u32 %r8, %r1, {shift}; and.b32 %r8, %r8, {mask}; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r2;", f"{'@%p1 ' if kept is not None else ''}st.shared.b32 [%r8], %r{self.out};", "ret;", "}"]

    def ptx(self):
        return "\n".join(self.lines) + "\n"

    def load(self, register):
        """A word by the lane; in one warp a lane, or all, may have another one."""
        mask, base = self.rng.choice([31, 31, 31, 28, 3, 0]), 32 * register + (4096 if register > 15 else 0)
        changed = self.rng.random() < 0.08
        lane = self.rng.choice([None, self.rng.randrange(32), self.rng.randrange(32)])
        self.lines.append(f"and.b32 %r6, %r3, {mask}; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd2, %rd2, %rd1; ld.global.b32 %r{register}, [%rd2+{4 * base}];")
        if changed:
            where = "setp.ge.u32 %p1, %r1, 32;" if lane is None else f"setp.eq.u32 %p1, %r1, {32 + lane};"
            self.lines.append(f"{where} @%p1 ld.global.b32 %r{register}, [%rd2+{4 * base + 4096}];")

        def step(values, memory):
            for t in range(self.threads):
                other = changed and (t >= 32 if lane is None else t == 32 + lane)
                values[t][register] = memory(base + (t % 32 & mask) + (1024 if other else 0))
        self.steps.append(step)

    def reload(self):
        self.load(self.rng.randrange(10, 20))

    def product(self):
        if self.products == 2:
            return
        self.products += 1
        a_of, b_of, depth, bits = FORMULAS[self.shape]
        count_a, count_b, half = 16 * depth * bits // 1024, 8 * depth * bits // 1024, self.d == "f16"
        group = lambda first, count: "{" + ", ".join(f"%r{first + k}" for k in range(count)) + "}"
        count_d = 2 if half else 4
        self.lines.append(f"mma.sync.aligned.{self.shape.split('.')[0]}.row.col.{self.types} {group(16, count_d)}, {group(10, count_a)}, {group(14, count_b)}, {group(16, count_d)};")

        def step(values, _):
            for warp in range(0, self.threads, 32):
                if not self.exact:
                    for own in values[warp:warp + 32]:
                        own[16:16 + count_d] = [0] * count_d
                    continue
                a, b = [[0] * depth for _ in range(16)], [[0] * depth for _ in range(8)]
                for lane in range(32):
                    g, t, own = lane >> 2, lane % 4, values[warp + lane]
                    for i, e in enumerate(parts([own[10 + k] for k in range(count_a)], bits)):
                        row, k = a_of(g, t, i)
                        a[row][k] = decoded(e, self.a)
                    for i, e in enumerate(parts([own[14 + k] for k in range(count_b)], bits)):
                        k, column = b_of(g, t, i)
                        b[column][k] = decoded(e, self.a)
                for lane in range(32):
                    g, t, own = lane >> 2, lane % 4, values[warp + lane]
                    c, out = parts([own[16 + k] for k in range(count_d)], 16 if half else 32), []
                    for i in range(4):
                        row, column = g + 8 * (i // 2), 2 * t + i % 2
                        total = sum(x * y for x, y in zip(a[row], b[column])) + decoded(c[i], self.d)
                        out.append(encoded(total, self.d))
                    own[16:16 + count_d] = words_of(out, 16 if half else 32)
        self.steps.append(step)

    def moved(self, first, many, trans, load):
        """ldmatrix: row r of matrix m is that of lane 8 m + r, and lane l holds elements 2 (l % 4) and the next of row l / 4; with .trans of a column. stmatrix is its inverse."""
        def step(values, _):
            for warp in range(0, self.threads, 32):
                own = values[warp:warp + 32]
                if load:
                    rows = [parts(v[10:14], 16) for v in own]
                    for lane in range(32):
                        for m in range(many):
                            line, at = lane // 4, 2 * (lane % 4)
                            pair = [rows[8 * m + at + h][line] if trans else rows[8 * m + line][at + h] for h in range(2)]
                            own[lane][first + m] = words_of(pair, 16)[0]
                else:
                    rows = [[0] * 8 for _ in range(32)]
                    for lane in range(32):
                        for m in range(many):
                            for h, e in enumerate(parts([own[lane][first + m]], 16)):
                                line, at = lane // 4, 2 * (lane % 4) + h
                                rows[8 * m + (at if trans else line)][line if trans else at] = e
                    for lane in range(8 * many):
                        own[lane][10:14] = words_of(rows[lane], 16)
        self.steps.append(step)

    def matrices(self):
        first, many, trans = self.rng.choice([(10, 4), (14, 2), (10, 1), (12, 2)]) + (self.rng.random() < 0.4,)
        to = ", ".join(f"%r{first + k}" for k in range(many))
        self.lines.append(f"bar.sync 0; st.shared.v4.b32 [%r4], {{%r10, %r11, %r12, %r13}}; bar.sync 0; ldmatrix.sync.aligned.m8n8.x{many}{'.trans' if trans else ''}.shared.b16 {{{to}}}, [%r4];")
        self.moved(first, many, trans, True)

    def rows(self):
        first, many, trans = self.rng.choice([(10, 4), (14, 2), (16, 4)]) + (self.rng.random() < 0.4,)
        if self.shape == "m16n8k16.f16" and self.d == "f32" and first == 16:
            first, many = 14, 2
        held = ", ".join(f"%r{first + k}" for k in range(many))
        guard = "" if many == 4 else f"setp.lt.u32 %p2, %r3, {8 * many}; @%p2 "
        self.lines.append(f"bar.sync 0; stmatrix.sync.aligned.m8n8.x{many}{'.trans' if trans else ''}.shared.b16 [%r4], {{{held}}}; bar.sync 0; {guard}ld.shared.v4.b32 {{%r10, %r11, %r12, %r13}}, [%r4];")
        self.moved(first, many, trans, False)

    def order(self):
        """With another lane: of D or of a register that no product reads, so that each product is exact."""
        register, by, name = self.rng.choice([18, 19]) if self.d == "f16" else self.rng.choice([16, 17, 18, 19]), self.rng.choice([1, 4, 16]), self.rng.choice(list(ORDERS))
        if self.d == "f32":
            name = self.rng.choice(["min.u32", "max.u32", "min.s32", "max.s32"])
        self.lines.append(f"shfl.sync.bfly.b32 %r7, %r{register}, {by}, 31, -1; {name} %r{register}, %r{register}, %r7;")

        def step(values, _):
            old = [v[register] for v in values]
            for t in range(self.threads):
                values[t][register] = ORDERS[name](old[t], old[t ^ by])
        self.steps.append(step)

    def values(self, memory, exact=True):
        self.exact = exact
        out = [[0] * 20 for _ in range(self.threads)]
        for step in self.steps:
            step(out, memory)
        return [v[self.out] for v in out]


def memory_of(kernel, rng, size):
    known = {}

    def memory(at):
        if at not in known:
            kind = kernel.d if at >= 4096 else kernel.a
            bits = {"s8": 8, "f16": 16, "bf16": 16}.get(kind, 32)
            known[at] = words_of([encoded(rng.randint(-size, size), kind) for _ in range(32 // bits)], bits)[0]
        return known[at]
    return memory


def memory_of_bits(rng):
    known = {}
    return lambda at: known.setdefault(at, rng.getrandbits(32))


def check(kernel, plain, same, rng):
    """A complaint, and what is to be counted."""
    # Of any bits, where products are not computed: all elements of D are 0.
    others = [kernel.values(memory_of_bits(rng), exact=False) for _ in range(4)]
    runs = [kernel.values(memory_of(kernel, rng, size)) for size in (0, 1, 3, 3, 6, 6)]
    meeting = [(a, b) for a in range(kernel.threads) for b in range(a) if kernel.place[a] is not None and kernel.place[a] == kernel.place[b]]
    counts = collections.Counter()
    if not meeting:
        return ("no two threads meet" if "refuted" in (plain["verdict"], same["verdict"]) else ""), counts
    equal = all(run[a] == run[b] for run in runs for a, b in meeting)
    counts["equal" if equal else "different"] += 1
    if plain["verdict"] == "proved":
        return "two threads write a word", counts
    counts["no race found"] += plain["verdict"] == "unknown"
    for one in plain["found"]:
        a, b = one["first"]["thread"][0], one["second"]["thread"][0]
        if kernel.place[a] is None or kernel.place[a] != kernel.place[b]:
            return f"threads {a} and {b} do not meet", counts
        at = 8 * (one["byte"] % 4)
        values = [(run[a] >> at & 255, run[b] >> at & 255) for run in runs]
        counts[one["kind"], "equal" if equal else "different"] += 1
        if one["kind"] == "same-value race" and any(x != y for x, y in values):
            return f"threads {a} and {b} store different values: {values}", counts
        if one["kind"] == "lost store" and all(run[a] == run[b] for run in runs + others):
            return f"threads {a} and {b} store one value: {values}", counts
    if same["verdict"] == "proved" and not equal:
        return "proved with --same-values, but values differ", counts
    return "", counts


def main():
    given = options_of(__doc__, 200)
    counts, wrong = collections.Counter(), 0
    for kernels in batches_of(given, Kernel):
        plain, same = races_of(given.binary, kernels), races_of(given.binary, kernels, "--same-values")
        for kernel in kernels:
            complaint, more = check(kernel, plain[kernel.name], same[kernel.name], random.Random(f"memory {kernel.name}"))
            counts += more
            if complaint:
                wrong += 1
                print(f"seed {given.seed}, {kernel.name}: {complaint}\n{kernel.ptx()}")
    print(f"{given.cases} kernels: {counts['equal']} whose threads that meet store equal values, {counts['different']} different ones; " + "; ".join(f"{kind} of {what} ones {n}" for (kind, what), n in sorted(
        (k, n) for k, n in counts.items() if len(k) == 2)) + f"; no race found in {counts['no race found']}; {wrong} wrong")
    if wrong or not counts["same-value race", "equal"] or not counts["race", "different"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
