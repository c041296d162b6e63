#!/usr/bin/env python3
"""kernel_quotients.py --binary PATH --cases N --seed S: quotients and remainders of signed loop counters, executed for all lanes and iterations.

A case is a kernel with one loop whose counter starts at a number of the lane, may be negative, and ends at a number. Its body divides the counter by a
constant, as compilers write it for powers of two or by div.s32 and rem.s32, and accesses a word that both results choose. The model divides as the PTX
ISA says, rounding to zero, and counts the wavefronts of the lanes that are in an iteration together. `kernel` may not give less, nor call another
number proved or refuted. The last line has the numbers; exit code 1 if something differs.
"""
import sys

try:
    import numpy as np
except ImportError:
    print("kernel_quotients.py: not run (numpy is not installed)")
    sys.exit(77)

from kernel_batches import run
from ptx_interpreter import wavefronts

THREADS = 64


class Case:
    def __init__(self, rng, number):
        self.name = f"k{number}"
        self.factor, self.first = rng.choice([1, 1, 1, 2, 4]), rng.choice([0, 0, 0, 5, 32, -7, -64, -300])
        self.step = rng.choice([1, 32, 64, 64, 128, 256, 96])
        self.end = self.first + self.step * rng.randrange(1, 24) + rng.choice([0, 0, 0, 17, 64 * self.factor])
        self.by_shift = rng.random() < 0.7
        self.d = 1 << rng.randrange(1, 8) if self.by_shift else rng.choice([3, 5, 10, 33, 64, 100])
        self.p, self.q = rng.choice([1, 8, 16, 32, 33, self.d]), rng.choice([1, 1, 1, 2, 4])
        self.mask, self.shift = rng.choice([0, 0, 1, 3, 7]), rng.choice([0, 2, 3])

    def index(self, i):
        quotient = abs(i) // self.d * (1 if i >= 0 else -1)
        rest = i - quotient * self.d
        return (quotient * self.p + (rest ^ (quotient & self.mask) << self.shift) * self.q) & 1023

    def cost(self):
        worst, now = 0, np.array([self.first + self.factor * t for t in range(THREADS)]).reshape(-1, 32)
        active = np.ones(now.shape, bool)
        while active.any():
            address = 0x400 + 4 * np.array([self.index(int(i)) for i in now.reshape(-1)]).reshape(now.shape)
            costs = wavefronts("st", 4, address, active)
            worst = max(worst, int(costs[active.any(axis=1)].max()))
            now = now + self.step
            active &= now < self.end
        return worst

    def text(self):
        k = self.d.bit_length() - 1
        divide = (f"shr.s32 %r10, %r20, 31; shr.u32 %r10, %r10, {32 - k}; add.s32 %r10, %r20, %r10; shr.s32 %r11, %r10, {k}; "
                  f"and.b32 %r12, %r10, {-self.d}; sub.s32 %r12, %r20, %r12;" if self.by_shift
                  else f"div.s32 %r11, %r20, {self.d}; rem.s32 %r12, %r20, {self.d};")
        return (f".entry {self.name}()\n{{\n.reg .pred %p<3>; .reg .b32 %r<30>;\n.shared .align 1024 .b8 s_{self.name}[4096];\n"
                f"mov.u32 %r1, %tid.x; mov.u32 %r2, s_{self.name}; mad.lo.s32 %r20, %r1, {self.factor}, {self.first};\n"
                f"L_{self.name}:\n{divide}\nand.b32 %r13, %r11, {self.mask}; shl.b32 %r13, %r13, {self.shift}; xor.b32 %r13, %r12, %r13;\n"
                f"mul.lo.s32 %r14, %r11, {self.p}; mad.lo.s32 %r14, %r13, {self.q}, %r14; and.b32 %r14, %r14, 1023; shl.b32 %r14, %r14, 2;\n"
                f"add.s32 %r14, %r14, %r2; st.shared.u32 [%r14], %r1;\n"
                f"add.s32 %r20, %r20, {self.step}; setp.lt.s32 %p1, %r20, {self.end}; @%p1 bra L_{self.name};\nret;\n}}\n")


def wrong(case, kernel, _, tally):
    [a], worst = kernel["accesses"], case.cost()
    tally[a["verdict"]] += 1
    tally["with the wavefronts of the model"] += a["wavefronts"] == worst
    decided = {"proved": worst == 1, "refuted": worst > 1, "unknown": True}
    if a["wavefronts"] < worst or not decided.get(a["verdict"], False) or a["in_bounds"] is False or a["aligned"] is False:
        return f"{a['verdict']} {a['wavefronts']}, and it is {worst}: {a['reason']}"
    return ""


if __name__ == "__main__":
    sys.exit(run(__doc__, Case, wrong, THREADS))
