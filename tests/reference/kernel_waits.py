#!/usr/bin/env python3
"""kernel_waits.py --binary PATH --cases N --seed S: loops that end with a plain load, and a column of 32 words behind them.

A case is a loop with two registers, i and j, and one load of four words of shared memory that another lane may write behind the loop. What is loaded may go
through a lane's own memory, or an inner loop that counts up to it. No lane has to wait that comes to the words behind. The model runs
each of three kinds of lanes with every content of the words, every parameter n of 0..3, and no write: if in none of these runs all kinds leave the
loop, and with writes they may, a lane has to wait for another one, and `kernel` may not call the column refuted. The last line has the numbers, among them the loops
that `kernel` takes for waits though all lanes may leave them; exit code 1 if something differs.
"""
import itertools
import re
import sys

try:
    import numpy as np
except ImportError:
    print("kernel_waits.py: not run (numpy is not installed)")
    sys.exit(77)

from kernel_batches import run

THREADS, ROUNDS, KINDS = 32, 40, 3
MEMORY = np.array(list(itertools.product(range(4), repeat=5)))  # four words, and what is behind them
INDEX = {"0": "mov.u32 %r10, 0;", "i": "mov.u32 %r10, %r3;", "j": "mov.u32 %r10, %r4;", "i & 1": "and.b32 %r10, %r3, 1;", "i + t & 3": "add.u32 %r10, %r3, %r2; and.b32 %r10, %r10, 3;",
         "(i + j) >> 1": "add.u32 %r10, %r3, %r4; shr.u32 %r10, %r10, 1;", "t": "mov.u32 %r10, %r2;"}
NEXT = {"{0}": "", "{0} + 1": "add.u32 {0}, {0}, 1;", "v": "mov.u32 {0}, %r7;", "{0} ^ 1": "xor.b32 {0}, {0}, 1;",
        "{0} + (v == t)": "setp.eq.u32 %p1, %r7, %r2; selp.u32 %r11, 1, 0, %p1; add.u32 {0}, {0}, %r11;",
        "v < n ? {0} + 1 : {0}": "setp.lt.u32 %p1, %r7, %r5; @%p1 add.u32 {0}, {0}, 1;",
        "v < n ? {0} : {1}": "setp.lt.u32 %p1, %r7, %r5; selp.u32 {0}, {0}, {1}, %p1;", "v + {0} & 3": "add.u32 {0}, {0}, %r7; and.b32 {0}, {0}, 3;",
        "{0} + v": "add.u32 {0}, {0}, %r7;", "v == t ? {0} + 1 : {0} - 1": "setp.eq.u32 %p1, %r7, %r2; selp.b32 %r11, 1, -1, %p1; add.u32 {0}, {0}, %r11;"}
THROUGH = ("", "st.local.u32 [own], %r7; ld.local.u32 %r7, [own];", "mov.u32 %r16, 0;\nI: setp.ge.u32 %p4, %r16, %r7;\n@%p4 bra J;\nadd.u32 %r16, %r16, 1;\nbra I;\nJ: mov.u32 %r7, %r16;")
TEST = {"v == t": "setp.eq.u32 {0}, %r7, %r2;", "v >= t": "setp.ge.u32 {0}, %r7, %r2;", "v != 0": "setp.ne.u32 {0}, %r7, 0;", "i > t": "setp.gt.u32 {0}, %r3, %r2;",
        "j > n": "setp.gt.u32 {0}, %r4, %r5;", "i >= j": "setp.ge.u32 {0}, %r3, %r4;", "v > n": "setp.gt.u32 {0}, %r7, %r5;"}
EITHER = {"a": "", "a and b": "and.pred %p2, %p2, %p3;", "a or b": "or.pred %p2, %p2, %p3;"}


class Case:
    def __init__(self, rng, number):
        self.name = f"k{number}"
        self.index = rng.choice(list(INDEX))
        self.i, self.j = rng.choice(list(NEXT)), rng.choice(list(NEXT))
        self.through = rng.choice(THROUGH[:1] * 2 + THROUGH)
        self.a, self.b, self.both, self.early = rng.choice(list(TEST)), rng.choice(list(TEST)), rng.choice(list(EITHER)), rng.choice([0, 0, 1])
        self.first = rng.choice([(0, 0), (1, 0), (0, 1)])

    def after(self, i, j, v, n):
        """The registers behind an iteration that loads v and does not leave: of 5 bits, so that a count comes round."""
        new = []
        for mine, other, how in ((i, j, self.i), (j, i, self.j)):
            x = new[0] if new else other
            new.append({"{0}": mine, "{0} + 1": mine + 1, "v": v + 0 * mine, "{0} ^ 1": mine ^ 1, "{0} + (v == t)": mine + (v == self.t), "v + {0} & 3": (v + mine) & 3,
                        "v < n ? {0} + 1 : {0}": mine + (v < n), "v < n ? {0} : {1}": np.where(v < n, mine, x), "{0} + v": mine + v, "v == t ? {0} + 1 : {0} - 1": np.where(v == self.t, mine + 1, mine - 1)}[how] & 31)
        return new

    def leaves(self, i, j, v, n):
        a, b = (eval(test, {}, {"v": v, "t": self.t, "i": i, "j": j, "n": n}) for test in (self.a, self.b))  # pylint: disable=eval-used
        return {"a": a, "a and b": a & b, "a or b": a | b}[self.both]

    def may_leave(self, t, n):
        """True if a lane leaves with loads that other lanes may change at any time."""
        self.t = t
        states = {self.first}
        for _ in range(ROUNDS):
            i, j, v = (x.ravel() for x in np.broadcast_arrays(*np.array(sorted(states)).T[:, :, None], np.arange(4)))
            if self.leaves(i, j, v, n).any():
                return True
            states = set(zip(*(x.tolist() for x in self.after(i, j, v, n))))
        return False

    def waits(self):
        """True if each kind of lane may leave, for a parameter, but with no content of memory all of them do; of lanes that differ."""
        if "i >= j" in (self.a, self.b) and "{0} + 1" in (self.i, self.j):
            return False  # a count of 32 bits comes round
        needed, parts = set(), [self.a, self.b if self.both != "a" else ""]
        while parts:  # what the ends depend on
            new = set(re.findall(r"[ijvt]", parts.pop())) - needed
            needed |= new
            parts += [{"i": self.i.format("i", "j"), "j": self.j.format("j", "i"), "v": self.index, "t": ""}[name] for name in new]
        differ = "t" in needed
        return differ and not any(self.all_leave(n) for n in range(4)) and any(all(self.may_leave(t, n) for t in range(KINDS)) for n in range(4))

    def all_leave(self, n):
        all_left = np.ones(len(MEMORY), bool)
        for self.t in range(KINDS):
            i, j = (np.full(len(MEMORY), x) for x in self.first)
            left = np.zeros(len(MEMORY), bool)
            for _ in range(ROUNDS):
                at = {"0": 0 * i, "i": i, "j": j, "i & 1": i & 1, "i + t & 3": (i + self.t) & 3, "(i + j) >> 1": (i + j) >> 1, "t": 0 * i + self.t}[self.index]
                v = MEMORY[np.arange(len(MEMORY)), np.minimum(at, 4)]
                left |= self.leaves(i, j, v, n) | (at > 4)
                i, j = (np.where(left, old, new) for old, new in zip((i, j), self.after(i, j, v, n)))
            all_left &= left
        return all_left.any()

    def text(self):
        names = "%r3", "%r4"
        update = NEXT[self.i].format(*names) + " " + NEXT[self.j].format(*reversed(names))
        test = TEST[self.a].format("%p2") + " " + TEST[self.b].format("%p3") + " " + EITHER[self.both]
        body = f"{test}\n@%p2 bra X;\n{update}\nbra L;\nX:" if self.early else f"{test}\n@!%p2 {{}}bra M;\nbra X;\nM: {update}\nbra L;\nX:".replace("{}", "")
        return (f".entry {self.name}(.param .u32 n)\n{{\n.reg .pred %p<5>; .reg .b32 %r<30>;\n.shared .align 1024 .b8 s_{self.name}[8192];\n.shared .align 16 .b8 f_{self.name}[1024]; .local .align 4 .b8 own[4];\n"
                f"mov.u32 %r1, %tid.x; ld.param.u32 %r5, [n]; and.b32 %r2, %r1, 3; min.u32 %r2, %r2, 2; mov.u32 %r3, {self.first[0]}; mov.u32 %r4, {self.first[1]}; mov.u32 %r6, f_{self.name};\n"
                f"L: {INDEX[self.index]} shl.b32 %r10, %r10, 2; add.u32 %r10, %r10, %r6; ld.shared.b32 %r7, [%r10];\n{self.through}\n{body}\n"
                f"shl.b32 %r12, %r1, 7; mov.u32 %r13, s_{self.name}; add.u32 %r12, %r12, %r13; ld.shared.u32 %r14, [%r12];\nadd.u32 %r15, %r2, 1; st.shared.u32 [%r6], %r15; "
                f"st.shared.u32 [%r6+4], %r15;\nret;\n}}\n")


def wrong(case, kernel, _, tally):
    [column] = [a for a in kernel["accesses"] if a["op"] == "ld.shared.u32"]
    waits = case.waits()
    tally[f"{column['verdict']} where lanes {'have to' if waits else 'need not'} wait"] += 1
    return f"{column['verdict']} {case.__dict__}" if waits and column["verdict"] == "refuted" else ""


if __name__ == "__main__":
    sys.exit(run(__doc__, Case, wrong, THREADS))
