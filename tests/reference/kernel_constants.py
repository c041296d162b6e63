#!/usr/bin/env python3
"""kernel_constants.py --binary PATH --cases N --seed S: tables in constant memory, by a model written from the PTX ISA (state space .const, initialisers).

A case is a kernel that reads a table, of any integer type, as a list of numbers or of bytes, whole, in part or not initialised, at an index made of the
lane, the parameter n and constants, and loads a word of shared memory that the number chooses. The model has the bytes of the table, zeros behind the
numbers that are given, and tries every n that matters. `kernel` must give its wavefronts where lanes choose the number or it is one number, and at
least them elsewhere; where content is used, its answer names that. The last line has the numbers; exit code 1 if something differs.
"""
import sys

try:
    import numpy as np
except ImportError:
    print("kernel_constants.py: not run (numpy is not installed)")
    sys.exit(77)

from kernel_batches import run
from ptx_interpreter import wavefronts

TYPES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "b32": 4, "u64": 8}
ASSUMED = "constant memory is as the PTX initialises it"
THREADS = 64


class Case:
    def __init__(self, rng, number):
        self.name = f"k{number}"
        self.type = rng.choice(list(TYPES))
        self.size = TYPES[self.type]
        self.count = rng.choice([1, 2, 4, 5, 8, 13, 16, 32, 64])
        most = min(1 << 8 * self.size - 1, 512)
        unit = rng.choice([1, 1, 2, 4, 8, 16, 32])
        values = [rng.randrange(most) // unit * unit for _ in range(self.count)]
        if self.type[0] == "s" and rng.random() < 0.5:
            values = [v if rng.random() < 0.5 else -v for v in values]
        self.given = rng.choice([self.count, self.count, self.count, rng.randrange(1, self.count + 1), 0])
        self.values = [v if k < self.given else 0 for k, v in enumerate(values)]
        self.content = b"".join((v & (1 << 8 * self.size) - 1).to_bytes(self.size, "little") for v in self.values)
        power = 1 << self.count.bit_length() - 1
        self.mask = rng.choice([power, power, power, power * 2, max(power // 2, 1)]) - 1
        self.kind = rng.choice(["lane", "lane", "both", "number", "uniform"])
        self.a, self.b, self.shift = rng.choice([1, 1, 2, 3, 5]), rng.randrange(64), rng.choice([0, 0, 1, 2, 3])
        self.p, self.q = rng.choice([0, 0, 1, 1, 2, 4, 32, 33]), rng.choice([1, 1, 2, 3, 32])
        self.as_bytes = rng.random() < 0.5
        self.inside = all(i < self.count for i in self.indices())

    def indices(self):
        return range(self.mask + 1) if self.kind != "number" else [self.b % self.count]

    def index(self, tid, n):
        if self.kind == "number":
            return self.b % self.count
        if self.kind == "uniform":
            return n & self.mask
        return ((tid * self.a + self.b >> self.shift) + (n if self.kind == "both" else 0)) & self.mask

    def element(self, index, content):
        at = index * self.size
        return int.from_bytes(content[at:at + self.size], "little", signed=self.type[0] == "s")

    def cost(self, content):
        """Most wavefronts of a warp, over all n that matter."""
        worst = 0
        for n in range(self.mask + 1) if self.kind in ("both", "uniform") else (0,):
            words = [(self.p * t + self.q * self.element(self.index(t, n), content)) & 1023 for t in range(THREADS)]
            address = 0x400 + 4 * np.array(words).reshape(-1, 32)
            worst = max(worst, int(wavefronts("ld", 4, address, np.ones((THREADS // 32, 32), bool)).max()))
        return worst

    def declaration(self):
        head = f".const .align {max(self.size, 4)} "
        if not self.given:
            return f"{head}.b8 t_{self.name}[{self.size * self.count}];"
        if self.as_bytes:
            data = ", ".join(map(str, self.content[:self.given * self.size]))
            return f"{head}.b8 t_{self.name}[{self.size * self.count}] = {{{data}}};"
        return f"{head}.{self.type} t_{self.name}[{self.count}] = {{{', '.join(map(str, self.values[:self.given]))}}};"

    def text(self):
        load = {1: "%h1", 2: "%h1", 4: "%r6", 8: "%d5"}[self.size]
        wide = {1: f"cvt.{'s' if self.type[0] == 's' else 'u'}32.{'s' if self.type[0] == 's' else 'u'}16 %r6, %h1;", 4: "", 8: "cvt.u32.u64 %r6, %d5;"}
        wide[2] = wide[1]
        if self.kind == "number":
            where = f"ld.const.{self.type} {load}, [t_{self.name}+{self.size * (self.b % self.count)}];"
        else:
            index = {"lane": f"mad.lo.u32 %r4, %r1, {self.a}, {self.b}; shr.u32 %r4, %r4, {self.shift};",
                     "both": f"mad.lo.u32 %r4, %r1, {self.a}, {self.b}; shr.u32 %r4, %r4, {self.shift}; add.u32 %r4, %r4, %r3;",
                     "uniform": "mov.u32 %r4, %r3;"}[self.kind]
            where = (f"{index} and.b32 %r4, %r4, {self.mask}; mul.wide.u32 %d2, %r4, {self.size}; mov.u64 %d1, t_{self.name}; "
                     f"add.s64 %d3, %d1, %d2; ld.const.{self.type} {load}, [%d3];")
        return (f"{self.declaration()}\n.entry {self.name}(.param .u32 n)\n{{\n.reg .b16 %h<9>; .reg .b32 %r<30>; .reg .b64 %d<9>;\n.shared .align 1024 .b8 s_{self.name}[4096];\n"
                f"mov.u32 %r1, %tid.x; ld.param.u32 %r3, [n];\n{where} {wide[self.size]}\n"
                f"mul.lo.u32 %r7, %r1, {self.p}; mad.lo.u32 %r7, %r6, {self.q}, %r7; and.b32 %r7, %r7, 1023; shl.b32 %r7, %r7, 2;\n"
                f"mov.u32 %r2, s_{self.name}; add.u32 %r7, %r7, %r2;\nld.shared.u32 %r8, [%r7];\nret;\n}}\n")


def wrong(case, kernel, rng, tally):
    """Reason if the answer is not that of the model."""
    [a] = kernel["accesses"]
    known = case.given > 0
    worst = case.cost(case.content if known else rng.randbytes(len(case.content))) if case.inside else 0
    assumed = ASSUMED in kernel.get("assumed", [])
    tally[a["verdict"]] += 1
    if a["wavefronts"] < worst:
        return f"{a['wavefronts']} wavefronts, and {worst} occur"
    if not known:
        return "content is assumed, and none is given" if assumed else ""
    if case.kind == "uniform" or not case.inside:
        return ""
    tally["exact"] += 1
    if not assumed and case.mask + 1 > 0 and (a["wavefronts"] != worst):
        return f"content is not used: {a['wavefronts']} for {worst}"
    if a["wavefronts"] != worst or a["verdict"] != ("proved" if worst == 1 else "refuted"):
        return f"{a['verdict']} {a['wavefronts']}, and it is {worst}: {a['reason']}"
    return "" if assumed else "content is used and not named"


if __name__ == "__main__":
    sys.exit(run(__doc__, Case, wrong, THREADS))
