#!/usr/bin/env python3
"""races_values.py --binary swizproof --cases N --seed S: random reductions by shuffles whose results several threads store to one word, in `kernel --races` against a model that computes them.

Each thread of a block begins with a number of global memory, of its own number or of a parameter; then it adds, multiplies, compares or xors, as integers or floats, with what another lane has (bfly, up, down or idx; of the whole warp, of
half warps by their masks, or behind a branch for lanes below 16), with numbers of its own, or takes a word that another thread stored before a barrier. Two of the threads store to one word, or none. The model computes all threads on
random memories, and on those of the program's launches. A lane that a mask does not name gives any number.
A `same-value race` has one value in each memory, at the byte that is named; a `lost store` has two in some memory; what is proved with --same-values has one value in all pairs of threads; what is refuted then has two in one of the
program's launches.
"""
import collections
import random
import struct
import sys

from asking import batches_of, options_of, races_of

TILE, MASK = 1024, 0xFFFFFFFF
INTEGERS = {"add.u32": lambda a, b: a + b & MASK, "mul.lo.u32": lambda a, b: a * b & MASK, "min.u32": min, "max.s32": lambda a, b: max(a, b, key=lambda x: x ^ 1 << 31), "xor.b32": lambda a, b: a ^ b, "and.b32": lambda a, b: a & b,
            "or.b32": lambda a, b: a | b, "sub.u32": lambda a, b: a - b & MASK}
FLOATS = {"add.f32": lambda a, b: a + b, "add.rn.f32": lambda a, b: a + b, "mul.f32": lambda a, b: a * b, "max.f32": max, "min.f32": min, "sub.f32": lambda a, b: a - b}


def number(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def bits_of(value):
    try:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


class Kernel:
    """Lines of PTX, and what they do: functions from the registers of all threads to those behind."""

    def __init__(self, rng, name):
        self.rng, self.name, self.steps = rng, name, []
        self.threads = rng.choice([32, 32, 64, 64, 96, 48, 128])
        self.floats = rng.random() < 0.5
        self.lines = [f".entry {name}(.param .u64 g, .param .u32 n)", f".reqntid {self.threads}, 1, 1", "{", ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>;", ".shared .align 16 .b8 tile[8192];",
                      "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u64 %rd1, [g]; ld.param.u32 %r3, [n]; and.b32 %r4, %r1, 31;"]
        self.begin()
        for k in range(rng.randrange(1, 6)):
            rng.choice([self.butterfly, self.butterfly, self.butterfly, self.shuffle, self.own, self.shared, self.half, self.branch])(k)
        shift, mask = rng.choice([(0, 127), (0, 127), (1, 127), (5, 127), (0, 15), (0, 7), (2, 7), (5, 0)])
        self.place = [t >> shift & mask for t in range(self.threads)]
        if rng.random() < 0.15:
            self.own(9)
        self.lines += [f"shr.u32 %r8, %r1, {shift}; and.b32 %r8, %r8, {mask}; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r2;", "st.shared.b32 [%r8], %r5;", "ret;", "}"]

    def ptx(self):
        return "\n".join(self.lines) + "\n"

    def operation(self, commutative=0.9):
        table = FLOATS if self.floats else INTEGERS
        name = self.rng.choice([o for o in table if not o.startswith("sub")]) if self.rng.random() < commutative else next(o for o in table if o.startswith("sub"))
        if not self.floats:
            return name, table[name]
        return name, lambda a, b: bits_of(table[name](number(a), number(b)))

    def begin(self):
        shift, mask, kind = self.rng.choice([0, 0, 1, 3]), self.rng.choice([127, 31, 15, 7]), self.rng.choice(["load", "load", "load", "tid", "n"])
        if kind == "n" or self.floats and kind == "tid":
            kind, self.floats = "n", False
        if kind == "load":
            self.lines.append(f"shr.u32 %r5, %r1, {shift}; and.b32 %r5, %r5, {mask}; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; ld.global.b32 %r5, [%rd3];")
            self.steps.append(lambda values, memory, any_word: [memory(t >> shift & mask) for t in range(self.threads)])
        elif kind == "tid":
            self.lines.append(f"and.b32 %r5, %r1, {mask};")
            self.steps.append(lambda values, memory, any_word: [t & mask for t in range(self.threads)])
        else:
            self.lines.append("mov.u32 %r5, %r3;")
            self.steps.append(lambda values, memory, any_word: [memory("n")] * self.threads)

    def exchange(self, form, by, clamp, mask_of, takes, op):
        """Values of lanes with those of others; `takes`: which threads execute it."""
        def step(values, memory, any_word):
            out = list(values)
            for t in range(self.threads):
                if not takes(t):
                    continue
                lane, mask, of = t % 32, mask_of(t), by
                source = {"bfly": lane ^ of, "up": lane - of, "down": lane + of, "idx": of}[form]
                inside = source >= clamp if form == "up" else source <= clamp
                if not inside:
                    source = lane
                other = t - lane + source
                given = values[other] if mask >> source & 1 and other < self.threads and takes(other) else any_word()
                out[t] = op(values[t], given) if op else given
            return out
        self.steps.append(step)

    def emit(self, form, by, mask, op):
        clamp = 0 if form == "up" else 31
        name = op[0] if op else None
        use = f"{name} %r5, %r5, %r6;" if name else "mov.b32 %r5, %r6;"
        return f"shfl.sync.{form}.b32 %r6, %r5, {by}, {clamp}, {mask}; {use}", clamp, op[1] if op else None

    def butterfly(self, _):
        op = self.operation(0.95)
        for by in self.rng.choice([[16, 8, 4, 2, 1], [8, 4, 2, 1], [4, 2, 1], [1], [16], [2, 1], [16, 8]]):
            text, clamp, of = self.emit("bfly", by, "-1", op)
            self.lines.append(text)
            self.exchange("bfly", by, clamp, lambda t: MASK, lambda t: True, of)

    def shuffle(self, _):
        form, by = self.rng.choice([("idx", 0), ("idx", self.rng.randrange(32)), ("up", 1), ("down", 2), ("down", 16)])
        text, clamp, of = self.emit(form, by, "0xffffffff", self.rng.choice([None, self.operation()]))
        self.lines.append(text)
        self.exchange(form, by, clamp, lambda t: MASK, lambda t: True, of)

    def half(self, _):
        """Masks of half warps, in a register."""
        form, by = self.rng.choice([("bfly", 8), ("bfly", 1), ("bfly", 4), ("bfly", 16), ("idx", 3)])
        text, clamp, of = self.emit(form, by, "%r7", self.operation())
        self.lines.append("setp.lt.u32 %p1, %r4, 16; selp.b32 %r7, 0xffff, 0xffff0000, %p1; " + text)
        self.exchange(form, by, clamp, lambda t: 0xFFFF if t % 32 < 16 else 0xFFFF0000, lambda t: True, of)

    def branch(self, k):
        text, clamp, of = self.emit("bfly", self.rng.choice([8, 4, 1]), "0xffff", self.operation())
        by = int(text.split(", ")[2])
        self.lines.append(f"setp.ge.u32 %p1, %r4, 16; @%p1 bra B{k}; {text} B{k}:")
        self.exchange("bfly", by, clamp, lambda t: 0xFFFF, lambda t: t % 32 < 16, of)

    def own(self, _):
        name, of = self.operation()
        mask = self.rng.choice([0, 1, 7, 31, 127])
        if self.floats:
            self.lines.append(f"and.b32 %r6, %r1, {mask}; cvt.rn.f32.u32 %r6, %r6; {name} %r5, %r5, %r6;")
            self.steps.append(lambda values, memory, any_word: [of(values[t], bits_of(float(t & mask))) for t in range(self.threads)])
        else:
            self.lines.append(f"and.b32 %r6, %r1, {mask}; {name} %r5, %r5, %r6;")
            self.steps.append(lambda values, memory, any_word: [of(values[t], t & mask) for t in range(self.threads)])

    def shared(self, _):
        by = self.rng.choice([0, 1, 32, 64, 3])
        count = 1 << (self.threads - 1).bit_length()
        if count != self.threads:
            return
        by %= count
        self.lines.append(f"bar.sync 0; shl.b32 %r7, %r1, 2; add.u32 %r7, %r7, %r2; st.shared.b32 [%r7+4096], %r5; bar.sync 0; xor.b32 %r7, %r1, {by}; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r2; ld.shared.b32 %r6, [%r7+4096];")
        name, of = self.operation()
        self.lines.append(f"{name} %r5, %r5, %r6;")
        self.steps.append(lambda values, memory, any_word: [of(values[t], values[t ^ by]) for t in range(self.threads)])

    def values(self, memory, rng):
        out = []
        for step in self.steps:
            out = step(out, memory, lambda: bits_of(rng.uniform(1, 2)) if self.floats else rng.getrandbits(32))
        return out


def random_memory(kernel, rng, scale, known):
    known = dict(known)

    def memory(at):
        if at not in known:
            known[at] = bits_of(scale * rng.uniform(0.5, 1.5) if scale >= 0 else rng.choice([-1, 1]) * 2.0 ** rng.uniform(-9, 9)) if kernel.floats else 0 if scale == 0 else rng.getrandbits(32) if scale == 1 else MASK ^ 1 << rng.randrange(99) & MASK
        return known[at]
    return memory


def runs_of(kernel, rng, known=()):
    """Values of the threads on random memories, and on numbers that rise and fall."""
    rising = [{at: first + by * at & MASK for at in range(kernel.threads)} for first, by in ((0, 1), (rng.randrange(1000), 1), (1023, -1))]
    memories = [(scale, {}) for scale in (0, 0.001, 1, 4) for _ in range(3)] + [(-1 if kernel.floats else 1, {}) for _ in range(40)] + [(1, numbers) for numbers in rising]
    return [kernel.values(random_memory(kernel, rng, scale, {**numbers, **dict(known)}), rng) for scale, numbers in memories]


def check(kernel, plain, same, rng):
    """A complaint, and what is to be counted."""
    runs = runs_of(kernel, rng)
    meeting = [(a, b) for a in range(kernel.threads) for b in range(a) if kernel.place[a] == kernel.place[b]]
    counts = collections.Counter()
    if not meeting:
        return ("no two threads meet" if plain["verdict"] == "refuted" or same["verdict"] == "refuted" else ""), counts
    equal = all(run[a] == run[b] for run in runs for a, b in meeting)
    counts["equal" if equal else "different"] += 1
    if plain["verdict"] == "proved":
        return "two threads write a word", counts
    counts["no race found"] += plain["verdict"] == "unknown"
    for one in plain["found"]:
        of_launch = {"n": value for name, value in one["params"].items()}
        runs = runs_of(kernel, rng, of_launch)
        a, b = one["first"]["thread"][0], one["second"]["thread"][0]
        if kernel.place[a] != kernel.place[b]:
            return f"threads {a} and {b} do not meet", counts
        at = one["byte"] % 4
        values = [(run[a] >> 8 * at & 255, run[b] >> 8 * at & 255) for run in runs]
        differ = any(x != y for x, y in values)
        counts[one["kind"], "equal" if equal else "different"] += 1
        if one["kind"] == "same-value race" and differ:
            return f"threads {a} and {b} store different values: {values}", counts
        if one["kind"] == "lost store" and all(run[a] == run[b] for run in runs):
            return f"threads {a} and {b} store one value: {values}", counts
    if same["verdict"] == "proved" and not equal:
        return "proved with --same-values, but values differ", counts
    for one in same["found"]:
        of_launch = {"n": value for name, value in one["params"].items()}
        runs += runs_of(kernel, rng, of_launch)
    if same["verdict"] == "refuted" and all(run[a] == run[b] for run in runs for a, b in meeting):
        return "refuted with --same-values, but values are equal", counts
    counts["--same-values", same["verdict"], "equal" if equal else "different"] += 1
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
    kinds = {"same-value race", "lost store", "race"}
    print(f"{given.cases} kernels: {counts['equal']} whose threads that meet store equal values, {counts['different']} different ones; " + "; ".join(f"{kind} of {what} ones {n}" for (kind, what), n in
          sorted((k, n) for k, n in counts.items() if k[0] in kinds)) + "; " + "; ".join(f"--same-values {v} of {what} ones {n}" for (_, v, what), n in sorted((k, n) for k, n in counts.items() if len(k) == 3)) + f"; no race found in {counts['no race found']}; {wrong} wrong")
    if wrong or not counts["same-value race", "equal"] or not counts["lost store", "different"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
