#!/usr/bin/env python3
"""kernel_divisors.py --binary PATH --cases N --seed S: numbers of lanes divided or shifted by a parameter, executed for each value that differs.

A case is a kernel that divides a number of each lane by a parameter n, takes the remainder, or shifts it by n, signed or not, with or without a guard
on n, and accesses a word that the result chooses. The model computes as the PTX ISA says, for every n of -1200 to 1200 and for large ones, and counts
the wavefronts. A division by 0 has no defined result, and the model leaves n = 0 out: `kernel` may call such an access unknown, or give more.
`kernel` may not give less than the model, nor call another number proved or refuted. The last line has the numbers; exit code 1 if something differs.
"""
import sys

try:
    import numpy as np
except ImportError:
    print("kernel_divisors.py: not run (numpy is not installed)")
    sys.exit(77)

from kernel_batches import run
from ptx_interpreter import wavefronts

THREADS = 128
LARGE = [1 << 12, 4095, 65536, 99999, (1 << 30) + 1, (1 << 31) - 1, -(1 << 31), -65535]
VALUES = sorted(set(range(-1200, 1201)) | set(LARGE))


def signed(x):
    return (x & 0xffffffff) - ((x & 0x80000000) << 1)


class Case:
    def __init__(self, rng, number):
        self.name = f"k{number}"
        self.op = rng.choice(["div.u32", "rem.u32", "div.s32", "rem.s32", "div.s32", "rem.s32", "shl.b32", "shr.u32", "shr.s32"])
        self.factor, self.first = rng.choice([1, 1, 1, 2, 3, 4, 0, 32]), rng.choice([0, 0, 0, 5, 17, 31, -7, -64])
        self.kept = rng.choice([127, 127, 31, 3, 1, 1])
        self.guard = rng.choice(["", "", "setp.gt.s32 %p1, %r3, 0;", "setp.ne.s32 %p1, %r3, 0;", "setp.lt.u32 %p1, %r3, 77;", "setp.ge.s32 %p1, %r3, 40;"])
        self.p, self.q = rng.choice([1, 1, 1, 2, 4, 8, 16, 33, 32, 17]), rng.choice([0, 0, 0, 1, 2, 32])
        self.mask = rng.choice([0, 0, 1, 3, 31])
        self.bytes = rng.choice([4, 4, 4, 8, 16])

    def on(self, n):
        return {"": True, "gt": n > 0, "ne": n != 0, "lt": 0 <= n < 77, "ge": n >= 40}[self.guard[5:7]]

    def result(self, a, n):
        kind, how = self.op.split(".")
        if kind in ("shl", "shr"):
            k = min(n & 0xffffffff, 32)
            return (a << k) & 0xffffffff if kind == "shl" else (signed(a) if how == "s32" else a & 0xffffffff) >> k
        x, d = (signed(a), signed(n)) if how == "s32" else (a & 0xffffffff, n & 0xffffffff)
        quotient = abs(x) // abs(d) * (1 if (x < 0) == (d < 0) else -1)
        return quotient if kind == "div" else x - quotient * d

    def cost(self):
        worst, lanes = 0, range(THREADS)
        numbers = [self.first + self.factor * int(t & self.kept) for t in lanes]
        for n in VALUES:
            if not self.on(n) or (n == 0 and self.op[:2] in ("di", "re")):
                continue
            rows = [((self.result(a, n) ^ (t & self.mask)) * self.p + t * self.q) % (8192 // self.bytes) for t, a in enumerate(numbers)]
            address = 0x400 + self.bytes * np.array(rows).reshape(-1, 32)
            worst = max(worst, int(wavefronts("ld", self.bytes, address, np.ones(address.shape, bool)).max()))
        return worst

    def text(self):
        width = {4: "u32 %r20", 8: "v2.u32 {%r20, %r21}", 16: "v4.u32 {%r20, %r21, %r22, %r23}"}[self.bytes]
        k = self.bytes.bit_length() - 1
        return (f".entry {self.name}(.param .u32 n)\n{{\n.reg .pred %p<3>; .reg .b32 %r<30>;\n.shared .align 1024 .b8 s_{self.name}[8192];\n"
                f"mov.u32 %r1, %tid.x; mov.u32 %r2, s_{self.name}; ld.param.u32 %r3, [n]; and.b32 %r4, %r1, {self.kept}; mad.lo.s32 %r4, %r4, {self.factor}, {self.first};\n{self.guard}\n"
                f"{self.op} %r5, %r4, %r3; and.b32 %r6, %r1, {self.mask}; xor.b32 %r5, %r5, %r6; mul.lo.u32 %r5, %r5, {self.p};\n"
                f"mad.lo.u32 %r5, %r1, {self.q}, %r5; and.b32 %r5, %r5, {8192 // self.bytes - 1}; shl.b32 %r5, %r5, {k}; add.u32 %r5, %r5, %r2;\n"
                f"{'@%p1 ' if self.guard else ''}ld.shared.{width}, [%r5];\nret;\n}}\n")


def wrong(case, kernel, _, tally):
    [a], worst, least = kernel["accesses"], case.cost(), case.bytes // 4
    tally[a["verdict"]] += 1
    tally["with the wavefronts of the model"] += a["wavefronts"] == worst
    decided = {"proved": worst <= least, "refuted": worst > least, "unknown": True}
    if a["wavefronts"] < worst or not decided.get(a["verdict"], False) or (a["reached"] and a["wavefronts"] != worst):
        return f"{a['verdict']} {a['wavefronts']}, and it is {worst}: {a['reason']}"
    return ""


if __name__ == "__main__":
    sys.exit(run(__doc__, Case, wrong, THREADS))
