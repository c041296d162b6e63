#!/usr/bin/env python3
"""kernel_bounds.py --cases N --seed S: a reference model of bounds, alignment and "no lane executes it", written from docs/kernels.md alone.

Random kernels access an array at an index that integer instructions make of the thread's number, a parameter n, a loaded number x and the
number of the block, behind comparisons of such values, in and behind a loop. As many others have elements of 1 to 8 bytes, and branches and
loops that depend on parameters alone: all but one in RARE must be decided, and the parameters and lane that the answer names must leave the array. Each is executed in Python for many values, among them those at the edges of what
it compares with. None that the program calls in bounds or aligned leaves the array or is odd; none that no lane executes is executed.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

M = 0xFFFFFFFF
BLOCK = 64
RARE = 1000
signed = lambda v: ((v & M) ^ 0x80000000) - 0x80000000


class Kernel:
    def __init__(self, rng, number):
        self.rng, self.lines, self.steps, self.count, self.edges = rng, [], [], 4, [0, 1, M]
        names = {"x": "%r0", "n": "%r1", "t": "%r2", "c": "%r3"}
        self.values = list(names.values())
        for _ in range(rng.randint(1, 4)):
            self.operation()
        guards = [self.condition() for _ in range(rng.randint(0, 3))]
        for _ in range(rng.randint(0, 3)):
            self.operation()
        self.trips = rng.choice([0, 0, 1, 3, 8])
        self.step = rng.choice([1, 4, 16, 64])
        self.size, self.unit = rng.choice([64, 256, 1024, 4096]), rng.choice([1, 2, 4, 4, 8, 16])
        self.scale, self.offset = rng.choice([0, 0, 1, 2, 2, 4]), rng.choice([0, 0, 4, 16, -4])
        index = self.values[-1]
        if rng.random() < 0.6:  # what makes it small
            index = self.emit(*rng.choice([("and.b32", rng.choice([7, 31, 63, 255, 1023])), ("min.u32", rng.choice([15, 63, 255])),
                                           ("shr.u32", rng.choice([22, 26])), ("rem.u32", rng.choice([10, 64]))]), of=index)
        self.index, self.guards = index, guards
        branch = rng.random() < 0.5
        text = [f".entry k{number}(.param .u32 n, .param .u64 g)\n{{ .reg .b32 %r<64>; .reg .pred %p<16>; .reg .b64 %d<8>; .reg .b32 %a<4>;"
                f" .shared .align 16 .b8 s[{self.size}];",
                "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.y; ld.param.u32 %r1, [n]; ld.param.u64 %d1, [g]; mad.wide.u32 %d1, %r2, 4, %d1; ld.global.u32 %r0, [%d1];"]
        text += self.lines
        text.append("setp.eq.u32 %p0, 0, 0; " + " ".join(f"and.pred %p0, %p0, {'!' if negated else ''}{p};" for p, negated in guards))
        if branch:
            text.append("@!%p0 bra X;")
        text.append(f"shl.b32 %a0, {index}, {self.scale}; mov.u32 %a1, s; add.u32 %a0, %a0, %a1; mov.u32 %a2, 0;")
        guard = "" if branch else "@%p0 "
        access = {1: "ld.shared.u8 %a3", 2: "ld.shared.u16 %a3", 4: "ld.shared.u32 %a3", 8: "ld.shared.v2.u32 {%a3,%r60}",
                  16: "ld.shared.v4.u32 {%a3,%r60,%r61,%r62}"}[self.unit]
        if self.trips:
            text.append(f"L: {guard}{access}, [%a0+{self.offset}]; add.u32 %a0, %a0, {self.step}; add.u32 %a2, %a2, 1; setp.lt.u32 %p1, %a2, {self.trips}; @%p1 bra L;")
        else:
            text.append(f"{guard}{access}, [%a0+{self.offset}];")
        self.text = "\n".join(text) + "\nX: ret; }\n"

    def number(self):
        n = self.rng.choice([1, 2, 3, 5, 8, 10, 16, 63, 64, 255, 256, 1000, 1023, 1024, 0x7FFFFFFF, 0x80000000, M])
        self.edges += [n, n - 1 & M, n + 1 & M, -n & M]
        return n

    def emit(self, op, number, of=None):
        out = f"%r{self.count}"
        self.count += 1
        a = of or self.rng.choice(self.values)
        b = number if number is not None else self.rng.choice(self.values)
        self.lines.append(f"{op} {out}, {a}, {b};")
        self.steps.append((op, out, a, b))
        self.values.append(out)
        return out

    def operation(self):
        op = self.rng.choice(["add.u32", "sub.u32", "mul.lo.u32", "and.b32", "or.b32", "xor.b32", "shl.b32", "shr.u32", "shr.s32", "min.u32", "min.s32",
                              "max.u32", "max.s32", "div.u32", "rem.u32", "selp"])
        if op == "selp":
            p, _ = self.condition()
            out, a, b = f"%r{self.count}", self.rng.choice(self.values), self.rng.choice(self.values)
            self.count += 1
            self.lines.append(f"selp.u32 {out}, {a}, {b}, {p};")
            self.steps.append(("selp", out, a, b, p))
            return self.values.append(out)
        if op.startswith("sh"):
            return self.emit(op, self.rng.choice([1, 2, 3, 5, 24, 28]))
        self.emit(op, self.number() if op[:3] in ("div", "rem") or self.rng.random() < 0.7 else None)

    def condition(self):
        p, a = f"%p{self.count % 12 + 2}", self.rng.choice(self.values)
        kind, sign = self.rng.choice(["lt", "le", "gt", "ge", "eq", "ne"]), self.rng.choice("us")
        b = self.number() if self.rng.random() < 0.8 else self.rng.choice(self.values)
        p = f"%q{len(self.steps)}"
        self.lines.append(f".reg .pred {p}; setp.{kind}.{sign}32 {p}, {a}, {b};")
        self.steps.append(("setp", p, a, b, kind, sign))
        return p, self.rng.random() < 0.3

    def run(self, x, n, t, c):
        v = {"%r0": x, "%r1": n, "%r2": t, "%r3": c}
        of = lambda o: v[o] if isinstance(o, str) else np.full(x.shape, o & M, dtype=np.int64)
        ops = {"add.u32": lambda a, b: a + b, "sub.u32": lambda a, b: a - b, "mul.lo.u32": lambda a, b: (a.astype(object) * b) & M, "and.b32": lambda a, b: a & b,
               "or.b32": lambda a, b: a | b, "xor.b32": lambda a, b: a ^ b, "shl.b32": lambda a, b: a << b, "shr.u32": lambda a, b: a >> b,
               "shr.s32": lambda a, b: signed(a) >> b, "min.u32": np.minimum, "max.u32": np.maximum, "div.u32": lambda a, b: a // b, "rem.u32": lambda a, b: a % b,
               "min.s32": lambda a, b: np.minimum(signed(a), signed(b)), "max.s32": lambda a, b: np.maximum(signed(a), signed(b))}
        for s in self.steps:
            a, b = of(s[2]), of(s[3])
            if s[0] == "setp":
                if s[5] == "s":
                    a, b = signed(a), signed(b)
                v[s[1]] = {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": a != b}[s[4]]
            elif s[0] == "selp":
                v[s[1]] = np.where(v[s[4]], a, b)
            else:
                v[s[1]] = (ops[s[0]](a, b) & M).astype(np.int64)
        on = np.ones(x.shape, dtype=bool)
        for p, negated in self.guards:
            on &= v[p] != negated
        at = (v[self.index] << self.scale) + self.offset
        return on, [signed(at + k * self.step) for k in range(max(self.trips, 1))]


class Direct:
    """Elements of 1 to 8 bytes at scale * thread + step * iteration, in an array that may start anywhere its type allows, behind comparisons of the
    parameters n and m, and in loops of n iterations: whether a thread can leave the array is known by enumeration, and must be decided."""
    CONDITIONS = [("lt.s32", lambda a, b: signed(a) < signed(b)), ("gt.s32", lambda a, b: signed(a) > signed(b)), ("ge.u32", lambda a, b: a >= b),
                  ("eq.u32", lambda a, b: a == b), ("ne.u32", lambda a, b: a != b), ("le.u32", lambda a, b: a <= b)]

    open = False  # its bounds, though no thread leaves the array

    def __init__(self, rng, number):
        self.unit = rng.choice([1, 1, 1, 2, 2, 4, 8])
        self.scale, self.flip = rng.choice([1, 1, 1, 2, 3, -1]), rng.choice([0, 0, 1, 2, 31])
        self.first = rng.choice([0, 0, 1, 5, 64]) + (BLOCK - 1 if self.scale < 0 else 0)
        self.step, self.trips = 0, rng.choice(["", "", "n", "n", 1, 3, 9])
        if self.trips and rng.random() < 0.4:
            self.step = rng.choice([1, 4, 16])
        reach = [self.first + self.scale * (t ^ self.flip) for t in range(BLOCK)]
        last = max(reach) + self.step * (self.trips - 1 if isinstance(self.trips, int) else 5)
        self.size = self.unit * max(1, last + 1 - rng.choice([0, 0, 0, 1, 1, 2, 7, 40]))
        if rng.random() < 0.15:
            self.first -= rng.choice([1, 3])  # before the array
        self.guards = []  # (register, comparison, number or register, negated)
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            of = rng.choice("nmmt")
            self.guards.append((of, rng.choice(self.CONDITIONS), rng.choice([0, 1, 3, 10, 31, 32, 40, 63, 64, 1000, 0x7FFFFFFF]), rng.random() < 0.3))
        name = {"n": "%r1", "m": "%r5", "t": "%r2"}
        text = [f".entry d{number}(.param .u32 n, .param .u32 m)\n{{ .reg .b32 %r<64>; .reg .pred %p<16>; .reg .b64 %d<2>; .reg .b16 %h<2>;"
                f" .shared .align {self.unit} .b8 s[{self.size}];",
                f"mov.u32 %r2, %tid.x; ld.param.u32 %r1, [n]; ld.param.u32 %r5, [m]; xor.b32 %r6, %r2, {self.flip}; mul.lo.s32 %r6, %r6, {self.scale * self.unit};",
                f"mov.u32 %r7, s; add.s32 %r6, %r6, %r7; add.s32 %r6, %r6, {self.first * self.unit}; mov.u32 %r8, 0;"]
        for i, (of, (kind, _), number_, negated) in enumerate(self.guards):
            text.append(f"setp.{kind} %p{i}, {name[of]}, {number_}; @{'' if negated else '!'}%p{i} bra X;")
        access = {1: "st.shared.u8 [%r6], %h0;", 2: "st.shared.u16 [%r6], %h0;", 4: "st.shared.u32 [%r6], %r2;", 8: "st.shared.u64 [%r6], %d0;"}[self.unit]
        if self.trips:
            trips = "%r1" if self.trips == "n" else self.trips
            text.append(f"setp.ge.s32 %p9, 0, {trips}; @%p9 bra X;" if self.trips == "n" else "")
            text.append(f"L: {access} add.u32 %r6, %r6, {self.step * self.unit}; add.u32 %r8, %r8, 1; setp.lt.s32 %p8, %r8, {trips}; @%p8 bra L;")
        else:
            text.append(access)
        self.name, self.text = f"d{number}", "\n".join(text) + "\nX: ret; }\n"

    def passes(self, n, m, t):
        return all(check({"n": n, "m": m, "t": t}[of], number) != negated for of, (_, check), number, negated in self.guards)

    def iterations(self, n):
        """Iterations of the loop; of so many that the array ends before, as many as that takes."""
        if self.trips == "":
            return 1
        return self.trips if isinstance(self.trips, int) else min(max(signed(n), 0), 1 if self.step == 0 else self.size // self.unit + 70)

    def byte(self, t, k):
        return (self.first + self.scale * (t ^ self.flip) + self.step * k) * self.unit

    def leaves(self, n, m, t):
        count = self.iterations(n)
        ends = [self.byte(t, k) for k in {0, count - 1}] if count else []
        return self.passes(n, m, t) and any(at < 0 or at + self.unit > self.size for at in ends)

    def values(self, of):
        edges = {0, 1, 2, M} | {number + d & M for g, _, number, _ in self.guards if g == of for d in (-1, 0, 1)}
        if of == "n" and self.trips == "n":
            edges |= {self.size // self.unit + 80, 7}
        return sorted(edges)

    def answer(self):
        """Whether some thread of some launch executes it, and whether one leaves the array."""
        runs = [(n, m, t) for n in self.values("n") for m in self.values("m") for t in range(BLOCK) if self.passes(n, m, t) and self.iterations(n)]
        return bool(runs), any(self.leaves(*r) for r in runs)

    def wrong(self, said):
        runs, leaves = self.answer()
        executed = said["executed"] is not False
        if executed != runs:
            yield "executed is not what it is" if runs or said["verdict"] == "refuted" else ""
        if not runs:
            return
        if (said["in_bounds"] is False) != leaves or (said["in_bounds"] is True) == leaves:
            # Iterations that are further than runs go are open.
            if said["in_bounds"] is None and not leaves:
                self.open = not (self.step and self.trips == "n")
            elif not (self.step and self.trips == "n" and said["in_bounds"] is None):
                yield f"in_bounds is {said['in_bounds']}, and {'a' if leaves else 'no'} thread leaves the array"
        if said["in_bounds"] is not False or not leaves:
            return
        found = re.fullmatch(r"lane (\d+) of warp (\d+) accesses byte (-?\w+) of s, which has (\d+) bytes(?:, if (.*))?", said["reason"])
        if not found or int(found[4]) != self.size:
            yield "its reason is of another form: " + said["reason"]
            return
        given = dict(part.split(" = ") for part in (found[5] or "").split(", ") if part)
        for n in ([int(given["n"])] if "n" in given else self.values("n")):
            for m in ([int(given["m"])] if "m" in given else self.values("m")):
                if not self.leaves(n, m, 32 * int(found[2]) + int(found[1])):
                    yield f"with n = {n}, m = {m} this lane does not leave the array: " + said["reason"]
                    return


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--cases", type=int, default=100)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--binary", default="build/default/swizproof")
    args = parse.parse_args()
    rng, differ, opened, tally = random.Random(args.seed), 0, 0, {}
    for start in range(0, args.cases, 100):
        kernels = [Kernel(rng, k) for k in range(min(100, args.cases - start))]
        direct = [Direct(rng, k) for k in range(len(kernels))]
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
            f.write(".version 9.0\n.target sm_90a\n.address_size 64\n" + "".join(k.text for k in kernels + direct))
            f.flush()
            run = subprocess.run([args.binary, "kernel", f.name, "--json", "--block", str(BLOCK)], capture_output=True, text=True)
        if run.returncode not in (0, 1, 3):
            print(run.stderr)
            return 1
        answers = {a["kernel"]: a for a in json.loads(run.stdout)["kernels"]}
        for number, k in enumerate(direct):
            (said,) = answers[k.name]["accesses"]
            key = f"direct: bounds {said['in_bounds']}"
            tally[key] = tally.get(key, 0) + 1
            for w in filter(None, k.wrong(said)):
                differ += 1
                print(f"seed {args.seed}, case {start + number}, direct: {w}\n{k.text}")
            opened += k.open
        for number, k in enumerate(kernels):
            (said,) = answers[f"k{number}"]["accesses"]
            r = np.random.default_rng(rng.getrandbits(32))
            edges, size = np.array(sorted(set(k.edges)), dtype=np.int64), 6000
            draw = lambda: np.where(r.random(size) < 0.5, r.choice(edges, size), r.integers(0, 1 << 32, size) >> r.integers(0, 32, size))
            on, all_at = k.run(draw(), draw(), r.integers(0, BLOCK, size), np.where(r.random(size) < 0.2, 65534, r.integers(0, 65535, size) >> r.integers(0, 16, size)))
            out = any(bool((on & ((at < 0) | (at + k.unit > k.size))).any()) for at in all_at)
            odd = any(bool((on & (at % k.unit != 0)).any()) for at in all_at)
            wrong = []
            if said["executed"] is False and on.any():
                wrong.append("no lane executes it, and one does")
            if said["in_bounds"] is True and out:
                wrong.append("in bounds, and a lane leaves the array")
            if said["aligned"] is True and odd:
                wrong.append("aligned, and a lane is not")
            if said["verdict"] == "unknown" and "line" not in said["reason"]:
                wrong.append("its reason names no line: " + said["reason"])
            key = f"executed {said['executed']}, bounds {said['in_bounds']}, aligned {said['aligned']}"
            tally[key] = tally.get(key, 0) + 1
            undecided = said["executed"] and said["in_bounds"] is None and not out
            tally["open, and no sample leaves the array"] = tally.get("open, and no sample leaves the array", 0) + undecided
            for w in wrong:
                differ += 1
                print(f"seed {args.seed}, case {start + number}: {w}\n{k.text}")
    for key in sorted(tally):
        print(f"{tally[key]:7} {key}")
    print(f"{args.cases} kernels, {differ} differences; {opened} of the direct ones are open, {args.cases // RARE} may be")
    return 1 if differ or RARE * opened > args.cases else 0


if __name__ == "__main__":
    sys.exit(main())
