#!/usr/bin/env python3
"""kernel_smallest.py --cases N --seed S: a reference model of the executions that `swizproof kernel` shows, written from docs/kernels.md alone.

Random small kernels, whose accesses lie behind conditions on parameters, numbers of the block and iterations, go to the command and to the
interpreter of PTX (ptx_interpreter.py), which shares no code with it. For each access that is refuted for its cost:
  - the warp that is shown takes as many wavefronts with the numbers that are shown, with any others; "every launch" needs none;
  - no warp below it does with these numbers, and it does with none of them alone replaced by 0 to 16, by a power of two below it, or by one less
    (256 comes before all others in a parameter of 64 bits), where the numbers that are not shown are the least ones.
For each access: `executions` is how often the warps of a block execute it, in each launch that is tried.
The last line has the numbers of comparisons and of differences; exit code 1 if there are some.
--binary PATH asks a program in place of the Python module.
"""
import argparse
import collections
import json
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("kernel_smallest.py: not run (numpy is not installed)")
    sys.exit(77)

import ptx_interpreter as ptx
from kernel import ask, given_of

BLOCKS = [(32, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1), (32, 3, 1), (80, 1, 1)]
HEAD = """.version 9.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 tile[16384];
"""
LEAST = {"n": 0, "m": 0, "g": 256}


class Kernel:
    """A kernel of conditions, loops and columns of words."""

    def __init__(self, rng, name):
        self.rng, self.name, self.lines, self.registers, self.predicates, self.labels = rng, name, [], 20, 0, 0
        self.counters = []

    def number(self, least, most):
        return int(self.rng.integers(least, most + 1))

    def pick(self, of):
        return of[self.number(0, len(of) - 1)]

    def word(self):
        self.registers += 1
        return f"%r{self.registers}"

    def predicate(self):
        self.predicates += 1
        return f"%p{self.predicates}"

    def constant(self):
        return self.pick([0, 1, 2, 3, 5, 7, 8, 12, 16, 17, 31, 33, 100, 255, 1000, 4097, self.number(0, 1 << 20)])

    def source(self):
        """A number that is the same in all lanes."""
        return self.pick(["%r3", "%r3", "%r4", "%r5", "%r6"] + self.counters)

    def condition(self):
        """A predicate, most often one that a launch can make true."""
        p, x, c = self.predicate(), self.source(), self.constant()
        kind = self.number(0, 9)
        if kind < 3:
            self.lines.append(f"setp.{self.pick(['gt', 'ge', 'ne'])}.u32 {p}, {x}, {c};")
        elif kind < 5:
            self.lines.append(f"setp.eq.u32 {p}, {x}, {c % (64 if x in ('%r5', '%r6') else 1 << 20)};")
        elif kind == 5:
            r, of = self.word(), self.pick([3, 4, 6, 10, 64])
            self.lines.append(f"rem.u32 {r}, {x}, {of}; setp.eq.u32 {p}, {r}, {self.number(0, of - 1)};")
        elif kind == 6:
            r = self.word()
            self.lines.append(f"and.b32 {r}, {x}, {self.pick([1, 6, 24, 4096])}; setp.ne.u32 {p}, {r}, 0;")
        elif kind == 7:
            r = self.word()
            self.lines.append(f"add.u32 {r}, %r5, 1; setp.eq.u32 {p}, {r}, %r6;")  # the last block
        elif kind == 8:
            self.lines.append(f"setp.{self.pick(['lt', 'gt'])}.u32 {p}, %r3, %r4;")
        else:
            d = self.pick([f"setp.ne.u64 {p}, %rd1, 0;", f"shr.u32 {self.word()}, %r1, 5; setp.ge.u32 {p}, %r{self.registers}, {self.number(0, 3)};"])
            self.lines.append(d)
        return p

    def access(self):
        r, t = self.word(), self.word()
        stride = self.pick([4, 8, 16, 64, 128, 128, 132, 256])
        self.lines.append(f"and.b32 {t}, %r1, 31; mad.lo.u32 {r}, {t}, {stride}, %r2;")
        for _ in range(self.number(0, 2)):
            x, u = self.source(), self.word()
            self.lines.append(f"and.b32 {u}, {x}, {self.pick([1, 7, 31])}; mad.lo.u32 {r}, {u}, {self.pick([4, 8, 128])}, {r};")
        if self.number(0, 5) == 0:
            u = self.word()
            self.lines.append(f"and.b32 {u}, %r3, 7; mul.lo.u32 {u}, {u}, {t}; mad.lo.u32 {r}, {u}, 4, {r};")
        guard = f"@{self.condition()} " if self.number(0, 1) else ""
        self.lines.append(f"{guard}{self.pick(['ld.shared.u32 %r7, [' + r + '];', 'st.shared.u32 [' + r + '], %r1;'])}")

    def statement(self, depth):
        kind = self.number(0, 9)
        if kind < 5 or depth >= 3:
            return self.access()
        self.labels += 1
        label = f"L{self.labels}"
        if kind < 7:
            p = self.condition()
            self.lines.append(f"@!{p} bra {label};")
            self.statement(depth + 1)
            self.lines.append(f"{label}:")
            return None
        counter, p = self.word(), self.predicate()
        bound = "%r3" if self.number(0, 3) == 0 else str(self.number(1, 6))
        top = self.number(0, 1) and bound != "%r3"
        self.lines.append(f"mov.u32 {counter}, 0;")
        self.lines.append(f"{label}:")
        if top:
            self.lines.append(f"setp.ge.u32 {p}, {counter}, {bound}; @{p} bra {label}_end;")
        self.counters.append(counter)
        for _ in range(self.number(1, 2)):
            self.statement(depth + 1)
        self.counters.pop()
        self.lines.append(f"add.u32 {counter}, {counter}, 1;")
        if top:
            self.lines.append(f"bra {label};\n{label}_end:")
        else:
            self.lines.append(f"setp.lt.u32 {p}, {counter}, {bound}; @{p} bra {label};")
        return None

    def text(self):
        for _ in range(self.number(1, 3)):
            self.statement(0)
        registers = f".reg .pred %p<{self.predicates + 1}>; .reg .b32 %r<{self.registers + 1}>; .reg .b64 %rd<3>;"
        head = (f".visible .entry {self.name}(.param .u32 n, .param .u32 m, .param .u64 g)\n{{\n{registers}\n"
                "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m]; mov.u32 %r5, %ctaid.x;\n"
                "mov.u32 %r6, %nctaid.x; ld.param.u64 %rd1, [g];\n")
        return head + "\n".join(self.lines) + "\nret;\n}\n"


def smaller(name, value):
    """Numbers that are tried in place of one that is shown."""
    tried = {c for c in range(17)} | {1 << b for b in range(4, 64)} | {value - 1}
    if name.startswith("nctaid"):
        tried.discard(0)
    below = {c for c in tried if 0 <= c < value}
    if name == "g":
        return [] if value == 256 else sorted(below | {256})
    return sorted(below)


class Machine(ptx.Machine):
    """Counts what each warp does: by_warp of an instruction has its executions and its most wavefronts, by the warp's number."""

    def record(self, line, text, kind, size, address, mask, matrices=0):
        super().record(line, text, kind, size, address, mask, matrices)
        on = np.zeros(32 * self.warps, dtype=bool)
        on[:self.n] = self.alive if mask is None else mask
        a = np.zeros(32 * self.warps, dtype=np.int64)
        a[:self.n] = np.broadcast_to(address, (self.n,)).astype(np.int64)
        a, on = a.reshape(-1, 32), on.reshape(-1, 32)
        seen = self.seen.get((line, tuple(self.calls)))
        for warp in np.nonzero(on.any(axis=1))[0]:
            of = seen.__dict__.setdefault("by_warp", {}).setdefault(int(warp), [0, 0])
            of[0] += 1
            if not (a[warp][on[warp]] % size).any():
                of[1] = max(of[1], int(ptx.wavefronts(kind, size, a[warp:warp + 1] & 0xFFFFFFFF, on[warp:warp + 1], matrices)[0]))


class Comparison:
    def __init__(self, steps):
        self.steps, self.count, self.differences = steps, collections.Counter(), 0

    def differ(self, text, words, what):
        self.differences += 1
        if self.differences <= 12:
            print(f"DIFFERENT: swizproof {' '.join(words)}: {what}\n{text}", flush=True)

    def run(self, machine, block, seed, values, hidden):
        params, choose = given_of(values, machine)
        if hidden:
            params = {**{k: {0: v} for k, v in LEAST.items()}, **params}
            choose = {**{"%ctaid.x": 0, "%nctaid.x": max(1, choose.get("%ctaid.x", 0) + 1)}, **choose}
        elif "%nctaid.x" not in choose and "%ctaid.x" in choose:
            choose["%nctaid.x"] = choose["%ctaid.x"] + 1 + seed % 3
        elif "%ctaid.x" not in choose and "%nctaid.x" in choose:
            choose["%ctaid.x"] = seed % choose["%nctaid.x"]
        seen = machine.run(block, seed, self.steps, params=params, choose=choose)
        return seen if machine.finished else None

    def cost(self, machine, block, seed, values, access, hidden=False):
        """Wavefronts of each warp, or None where the kernel does not end in so many steps."""
        seen = self.run(machine, block, seed, values, hidden)
        if seen is None:
            return None
        one = seen.get((access["ptx_line"], ()))
        return {w: most for w, (_, most) in one.by_warp.items()} if one else {}

    def check_execution(self, machine, block, access, differ):
        example = access["counterexample"]
        values, warp = example["values"], example["warp"]
        bound = access["wavefronts"] if access["reached"] else access.get("seen", 0)
        known = ("n", "m", "g", "ctaid.x", "nctaid.x")
        if any(name not in known for name in values):
            self.count["executions of a residue or an iteration"] += 1
            return
        self.count["executions"] += 1
        self.count["executions of every launch"] += example["every_launch"]
        for seed in range(1, 7 if example["every_launch"] else 4):
            costs = self.cost(machine, block, seed, values, access)
            self.count["executions that do not end"] += costs is None
            if costs is not None and costs.get(warp, 0) < bound:
                differ(f"line {access['ptx_line']}: warp {warp} takes {costs.get(warp, 0)} with {values}, shown as {bound}")
                return
        least = self.cost(machine, block, 1, values, access, hidden=True)
        for w in range(warp):
            if least is not None and least.get(w, 0) >= bound:
                differ(f"line {access['ptx_line']}: warp {w} takes {bound} with {values}, too, and warp {warp} is shown")
                return
        for name, value in values.items():
            for other in smaller(name, value):
                changed = {**values, name: other}
                if "ctaid.x" in changed and changed["ctaid.x"] >= changed.get("nctaid.x", 1 << 31):
                    continue
                costs = self.cost(machine, block, 1, changed, access, hidden=True)
                self.count["smaller numbers"] += 1
                if costs is not None and costs.get(warp, 0) >= bound:
                    differ(f"line {access['ptx_line']}: {name} = {other} will do in place of {value}: {values}")
                    return

    def check_executions(self, machine, block, access, differ):
        said = access["executions"]
        self.count["executions of a block that are known" if said is not None else "that are not"] += 1
        if said is None:
            return
        for seed in range(11, 16):
            seen = self.run(machine, block, seed, {}, False)
            if seen is None:
                continue
            one = seen.get((access["ptx_line"], ()))
            found = sum(runs for runs, _ in one.by_warp.values()) if one else 0
            if found != said:
                differ(f"line {access['ptx_line']}: {found} executions, and {said} are said")
                return

    def kernel(self, rng, binary, folder):
        text = HEAD + Kernel(rng, "k").text()
        block = BLOCKS[int(rng.integers(0, len(BLOCKS)))]
        path = os.path.join(folder, "k.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        words = ["kernel", path, "--json", "--block", ",".join(map(str, block))]
        code, document, complaint = ask(binary, words)
        try:
            accesses = json.loads(document)["kernels"][0]["accesses"]
        except (ValueError, KeyError, IndexError):
            return self.differ(text, words, f"exit code {code}: {complaint[:300]}")
        module = ptx.Module(text)
        machine = Machine(module, module.functions["k"])
        machine.program(module.functions["k"])
        for access in accesses:
            self.count["accesses"] += 1
            self.check_executions(machine, block, access, lambda what: self.differ(text, words, what))
            conflict = access["verdict"] == "refuted" and access["counterexample"] and access["in_bounds"] is not False
            if conflict and (access["reached"] or access.get("seen")):
                self.check_execution(machine, block, access, lambda what: self.differ(text, words, what))
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--binary")
    o = parser.parse_args()
    comparison, rng = Comparison(o.steps), np.random.default_rng(o.seed)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(o.cases):
            comparison.kernel(rng, o.binary, folder)
    print(", ".join(f"{v} {k}" for k, v in comparison.count.items()) + f"; {comparison.differences} differences")
    return 1 if comparison.differences or not comparison.count["executions"] else 0


if __name__ == "__main__":
    sys.exit(main())
