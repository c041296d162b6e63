#!/usr/bin/env python3
"""flow_odds.py --binary PATH --cases N --seed S: a reference model of brx.idx, .const, activemask, mapa and st.async in `swizproof flow`.

Programs of two kinds. The first has threads with a sum of elements and an integer each: brx.idx to blocks of a list, branches by the thread, tables in constant memory with less initial
values than elements, activemask. An interpreter here runs each thread, and lanes that have branched alike together; some indices are behind the list, some tables are
read behind their end. The second has producers that store by st.async to mapped addresses, an mbarrier that expects their bytes, and readers; one thing may be
wrong: the bytes, the arrivals, the wait, the parity. --show prints each kernel. The last line has the numbers; exit code 1 if there are differences.
"""
import collections
import os
import random
import sys
import tempfile

from asking import answered, options_of
from flow_choices import polynomial

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"


class Beyond(Exception):
    """An index behind its list, or an address behind its table."""


class Threads:
    """A random program, as statements; `run` is its meaning for one warp."""

    def __init__(self, rng):
        self.rng, self.lists, self.labels, self.lines, self.count = rng, 0, 0, [], 32
        self.tables = []
        for n in range(rng.randint(1, 2)):
            size = rng.choice([4, 8])
            self.tables.append((size, [rng.randrange(0, 8) for _ in range(rng.randint(1, size))]))
        self.body = self.block(2)
        self.lower(self.body)

    def block(self, depth):
        out = []
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if depth and kind < 0.25:
                ways = self.rng.randint(2, 4)
                mask = self.rng.choice([1, 1, 3, 3] if ways > 2 else [1, 1, 1, 3])
                out.append(("brx", self.rng.randrange(3), mask, [self.block(depth - 1) for _ in range(ways)]))
            elif depth and kind < 0.45:
                out.append(("if", self.rng.randrange(32), self.rng.choice(["lt", "ge", "eq"]), self.block(depth - 1), self.block(depth - 1)))
            elif kind < 0.6:
                out.append(("mask",))
            elif kind < 0.8:
                out.append(("table", self.rng.randrange(len(self.tables)), self.rng.choice([1, 3, 3, 7])))
            else:
                out.append(("add", self.rng.randrange(4)))
        return out

    def lower(self, statements):
        out = self.lines
        for s in statements:
            self.labels += 1
            n = self.labels
            if s[0] == "add":
                out.append(f"ld.global.f32 %f2, [%rd3+{128 * s[1]}]; add.f32 %f1, %f1, %f2;")
            elif s[0] == "mask":
                out.append("activemask.b32 %r5; popc.b32 %r5, %r5; add.u32 %r2, %r2, %r5;")
            elif s[0] == "table":
                out.append(f"and.b32 %r5, %r1, {s[2]}; mul.wide.u32 %rd5, %r5, 4; mov.u64 %rd6, t{s[1]}; add.u64 %rd6, %rd6, %rd5; ld.const.u32 %r6, [%rd6]; add.u32 %r2, %r2, %r6;")
            elif s[0] == "if":
                out.append(f"setp.{s[2]}.u32 %p1, %r1, {s[1]}; @!%p1 bra $E{n};")
                self.lower(s[3])
                out.append(f"bra $J{n};\n$E{n}:")
                self.lower(s[4])
                out.append(f"$J{n}:")
            else:
                names = [f"$B{n}_{k}" for k in range(len(s[3]))]
                out.append(f"shr.u32 %r5, %r1, {s[1]}; and.b32 %r5, %r5, {s[2]};\n$L{n}: .branchtargets {', '.join(names)};\nbrx.idx %r5, $L{n};")
                for name, inner in zip(names, s[3]):
                    out.append(f"{name}:")
                    self.lower(inner)
                    out.append(f"bra $J{n};")
                out.append(f"$J{n}:")

    def text(self):
        tables = "".join(f".const .align 4 .u32 t{n}[{size}] = {{{', '.join(map(str, values))}}};\n" for n, (size, values) in enumerate(self.tables))
        return (HEAD + tables + ".visible .entry k(.param .u64 y, .param .u64 x, .param .u64 z)\n{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<8>;\n"
                "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.f32 %f1, 0f00000000; ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.u64 %rd7, [z];\n"
                "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd7, %rd7, %rd3; add.u64 %rd3, %rd3, %rd2;\n" + "\n".join(self.lines)
                + "\nst.global.f32 [%rd4], %f1; st.global.u32 [%rd7], %r2;\nret;\n}\n")

    def run(self, statements, lanes, state):
        for s in statements:
            if s[0] == "add":
                for t in lanes:
                    state[t][0][f"x[{32 * s[1] + t}]"] += 1
            elif s[0] == "mask":
                for t in lanes:
                    state[t][1] += len(lanes)
            elif s[0] == "table":
                size, values = self.tables[s[1]]
                for t in lanes:
                    at = t & s[2]
                    if at >= size:
                        raise Beyond
                    state[t][1] += values[at] if at < len(values) else 0
            elif s[0] == "if":
                yes = [t for t in lanes if {"lt": t < s[1], "ge": t >= s[1], "eq": t == s[1]}[s[2]]]
                for side, part in ((s[3], yes), (s[4], [t for t in lanes if t not in yes])):
                    if part:
                        self.run(side, part, state)
            else:
                groups = collections.defaultdict(list)
                for t in lanes:
                    groups[t >> s[1] & s[2]].append(t)
                if max(groups) >= len(s[3]):
                    raise Beyond
                for k in sorted(groups):
                    self.run(s[3][k], groups[k], state)


def of_threads(rng, ask, tally, show):
    program, found = Threads(rng), []
    code, document = ask(program.text(), ["--block", "32", "--param", "0=y:f32[32]", "--param", "1=x:f32[128]", "--param", "2=z:u32[32]", "--every-element"])
    state = [[collections.Counter(), 0] for _ in range(32)]
    try:
        program.run(program.body, list(range(32)), state)
    except Beyond:
        tally["behind a list or a table"] += 1
        return [] if code in (1, 3) else [f"exit code {code}, and an index is behind its list"]
    if show:
        print(program.text())
    if code != 0:
        return [f"exit code {code}: {document.get('reason') or document}"]
    named = dict(v.split(" = ", 1) for v in document["values"])
    for t in range(32):
        tally["values"] += 2
        if polynomial(named[f"y[{t}]"]) != {k: float(n) for k, n in state[t][0].items()}:
            found.append(f"y[{t}] = {named[f'y[{t}]']}, and in the model {dict(state[t][0])}")
        if named[f"z[{t}]"] != str(state[t][1]):
            found.append(f"z[{t}] = {named[f'z[{t}]']}, and in the model {state[t][1]}")
    return found


def of_stores(rng, ask, tally, show):
    """Warp 0 stores 32 elements by st.async; warp 1 waits and reads them, turned by some lanes."""
    size = rng.choice([4, 8])
    lanes, turn = 32, rng.randrange(32)
    what = rng.choice(["right"] * 4 + ["bytes", "no wait", "parity", "arrivals", "block", "late expectation"])
    expected = lanes * size + (rng.choice([-4, 4, 8]) if what == "bytes" else 0)
    arrivals = 2 if what == "arrivals" else 1
    rank = "2" if what == "block" else "%r8"
    kind = "b32" if size == 4 else "b64"
    value = f"ld.global.{kind} %v, [%rd3];"
    wait = f"W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], {1 if what == 'parity' else 0};\n@!%p2 bra W;"
    expect = f"@%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {expected};"
    text = (HEAD + ".visible .entry k(.param .u64 y, .param .u64 x)\n{\n" + f".reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<8>; .reg .{kind} %v;\n"
            f".shared .align 16 .b8 tile[{lanes * size}]; .shared .align 8 .b64 bar;\n"
            f"mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; mul.wide.u32 %rd3, %r2, {size}; add.u64 %rd4, %rd1, %rd3; add.u64 %rd3, %rd3, %rd2;\n"
            f"setp.eq.u32 %p3, %r1, 0; setp.lt.u32 %p1, %r1, 32; @%p3 mbarrier.init.shared::cta.b64 [bar], {arrivals}; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
            + ("" if what == "late expectation" else expect + "\n")
            + f"mov.u32 %r3, tile; mad.lo.u32 %r4, %r2, {size}, %r3; mov.u32 %r5, bar; mov.u32 %r8, %cluster_ctarank; mad.wide.u32 %rd4, %r8, {32 * size}, %rd4; mapa.shared::cluster.u32 %r6, %r4, {rank}; mapa.shared::cluster.u32 %r7, %r5, {rank};\n"
            f"@!%p1 bra R;\n{value}\nst.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{kind} [%r6], %v, [%r7];\nbra D;\nR:\n"
            + ("" if what == "no wait" else wait + "\n")
            + f"add.u32 %r8, %r2, {turn}; and.b32 %r8, %r8, 31; mad.lo.u32 %r8, %r8, {size}, %r3; ld.shared.{kind} %v, [%r8]; st.global.{kind} [%rd4], %v;\nD:\n"
            + (expect + "\n" if what == "late expectation" else "") + "ret;\n}\n")
    if show:
        print(text, what)
    element = "f32" if size == 4 else "f64"
    # The reader gets element (lane + turn) % 32.
    code, document = ask(text, ["--block", "64", "--grid", "2", "--cluster", "2", "--param", f"0=y:{element}[64]", "--param", f"1=x:{element}[32]", "--expect", f"y[i] = x[(i + {turn}) % 32]", "--repair-steps", "0"])
    tally[f"st.async, {what}"] += 1
    tally[f"{what}: exit {code}"] += 1
    wanted = {"right": (0,), "block": (1,), "late expectation": (0, 1, 3)}.get(what, (1, 3))
    return [] if code in wanted else [f"exit code {code}, and the stores are {what}: {document.get('reason') or document.get('fault') or document}"]


def main():
    options = options_of(__doc__, 100, by_number=True)
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.ptx")

        def ask(text, words):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            code, document = answered(options.binary, ["flow", path, *words, "--json"])
            tally[{0: "proved", 1: "refuted", 3: "unknown"}.get(code, "error")] += 1
            return code, document
        for case in range(options.first, options.first + options.cases):
            rng = random.Random(options.seed * 1000003 + case)
            found = (of_stores if rng.random() < 0.3 else of_threads)(rng, ask, tally, options.show)
            for what in found[:2]:
                print(f"DIFFERENT: seed {options.seed}, case {case}: {what}"[:700], flush=True)
            differences += bool(found)
    print(f"flow_odds: {options.cases} kernels; " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())) + f"; {differences} different")
    return int(differences != 0)


if __name__ == "__main__":
    sys.exit(main())
