#!/usr/bin/env python3
"""kernel_fixes.py --cases N --seed S: a reference model of the fixes of `swizproof kernel`, written from docs/kernels.md alone.

Random kernels over arrays in shared memory are written as formulas, in PTX and in Python. The formulas are executed for every warp and
every value of the loop counters. A fix must say the wavefronts of these executions before, after its swizzle and after its padding, the
ideal number, and how many instructions it is for; one that helps must be printed where a single swizzle or padding is known to help.
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
    print("kernel_fixes.py: not run (numpy is not installed)")
    sys.exit(77)

from kernel import ask
from ptx_interpreter import wavefronts

MASK = 0xFFFFFFFF
LANES = np.arange(32)
BLOCKS = [(32, 1, 1), (64, 1, 1), (128, 1, 1), (40, 1, 1), (7, 1, 1), (16, 4, 1), (8, 3, 2), (33, 2, 1)]
IDEAL = {1: 1, 2: 1, 4: 1, 8: 2, 16: 4}


class Access:
    """A load or store of `size` bytes at terms(x) from an array, by the lanes of guard(x); x has the numbers of the lanes, loops and n."""

    def __init__(self, array, kind, size, terms, guard):
        self.array, self.kind, self.size, self.terms, self.guard = array, kind, size, terms, guard
        self.left_out = False


class Kernel:
    def __init__(self, rng, name, block):
        self.rng, self.name, self.block = rng, name, block
        self.lines, self.accesses, self.odd, self.registers, self.loops = [], [], set(), 50, 0
        self.n, self.mask = 0, 0

    def pick(self, choices):
        return choices[int(self.rng.integers(0, len(choices)))]

    def number(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, share):
        return self.rng.random() < share

    def word(self):
        self.registers += 1
        return f"%r{self.registers}"

    def value(self, sources):
        """A register and a function of (threads, counters): sum of multiples, shifts, masks and XORs."""
        total, parts = None, []
        for _ in range(self.number(1, 3)):
            name, f = self.pick(sources)
            r = self.word()
            how = self.pick(["mul", "mul", "shl", "and", "shr", "neg"])
            k = self.number(0, 9)
            if how == "mul":
                k = self.pick([0, 1, 2, 3, 4, 5, 8, 12, 16, 17, 32, 33, 64, 128])
                self.lines.append(f"mul.lo.u32 {r}, {name}, {k};")
                g = lambda x, f=f, k=k: f(x) * k & MASK
            elif how == "shl":
                k = self.number(0, 7)
                self.lines.append(f"shl.b32 {r}, {name}, {k};")
                g = lambda x, f=f, k=k: f(x) << k & MASK
            elif how == "and":
                k = self.pick([1, 3, 7, 12, 15, 24, 28, 31])
                self.lines.append(f"and.b32 {r}, {name}, {k};")
                g = lambda x, f=f, k=k: f(x) & k
            elif how == "shr":
                k = self.number(0, 4)
                self.lines.append(f"shr.u32 {r}, {name}, {k};")
                g = lambda x, f=f, k=k: f(x) >> k
            else:
                k = self.number(0, 63)
                self.lines.append(f"sub.u32 {r}, {k}, {name};")
                g = lambda x, f=f, k=k: (k - f(x)) & MASK
                self.odd.add("negative stride")
            parts.append((r, g))
        total, h = parts[0]
        for r, g in parts[1:]:
            s = self.word()
            op = self.pick(["add", "add", "xor"])
            self.lines.append(f"{'add.u32' if op == 'add' else 'xor.b32'} {s}, {total}, {r};")
            h = (lambda x, a=h, b=g: (a(x) + b(x)) & MASK) if op == "add" else (lambda x, a=h, b=g: a(x) ^ b(x))
            total = s
        return total, h

    def access(self, arrays, sources, enclosing):
        array, base = self.pick(arrays)
        size = self.pick([1, 2, 4, 4, 4, 8, 16])
        kind = self.pick(["ld", "st"])
        name, f = self.value(sources)
        index, offset, at = self.word(), self.word(), self.word()
        most = self.pick([255, 511, 1023])  # elements
        self.lines.append(f"and.b32 {index}, {name}, {most};")
        self.lines.append(f"mul.lo.u32 {offset}, {index}, {size};")
        self.lines.append(f"add.u32 {at}, {offset}, {base};")
        add = self.pick([0, 0, 0, size, 3 * size])
        guard, on = "", lambda x: np.ones(32, dtype=bool)
        if self.chance(0.3):
            r = self.word()
            mask, limit = self.pick([(31, self.number(0, 32)), (1, 1), (3, 2), (7, 3)])
            self.lines.append(f"and.b32 {r}, %r1, {mask}; setp.lt.u32 %p5, {r}, {limit};")
            guard, on = "@%p5 ", lambda x, mask=mask, limit=limit: (x["tid"] & mask) < limit
            self.odd.add("predicate")
        one = Access(array, kind, size, (lambda x, f=f: (f(x) & (self.mask or most)) * size + add), on)
        what = self.rng.random()
        atomic = 0.05 <= what < 0.08 and size == 4
        if what < 0.05:  # of data
            d = self.word()
            self.lines.append(f"ld.global.u32 {d}, [%rd1]; and.b32 {d}, {d}, 63; mad.lo.u32 {at}, {d}, {size}, {at};")
            one.left_out = True
            self.odd.add("data")
        elif atomic:
            self.lines.append(f"{guard}red.shared.add.u32 [{at}+{add}], 1;")
            one.left_out = True
            self.odd.add("atomic")
        if not atomic:
            types = {1: ("u8", "%h1"), 2: ("u16", "%h1"), 4: ("u32", "%r9"), 8: ("v2.u32", "{%r8, %r9}"), 16: ("v4.u32", "{%r6, %r7, %r8, %r9}")}
            t, regs = types[size]
            place = f"[{at}+{add}]"
            self.lines.append(f"{guard}{kind}.shared.{t} " + (f"{regs}, {place};" if kind == "ld" else f"{place}, {regs};"))
        one.loops = list(enclosing)
        if enclosing:
            self.odd.add("loop")
        if size < 4:
            self.odd.add("below a word")
        one.index = sum(line.count("\n") + 1 for line in self.lines) - 1  # of its line in the body
        self.accesses.append(one)

    def body(self, arrays, sources, enclosing, depth):
        for _ in range(self.number(1, 3)):
            if depth < 2 and self.chance(0.3):
                self.loops += 1
                name, label = f"i{self.loops}", f"L{self.name}_{self.loops}"
                trips, step = self.pick([1, 2, 3, 4, 5, 8]), self.pick([1, 1, 2, 3])
                counter = self.word()
                self.lines.append(f"mov.u32 {counter}, 0;\n{label}:")
                inner = sources + [(counter, lambda x, name=name, step=step: x[name] * step + 0 * x["tid"])]
                self.body(arrays, inner, enclosing + [(name, trips)], depth + 1)
                self.lines.append(f"add.u32 {counter}, {counter}, {step}; setp.lt.u32 %p{depth + 1}, {counter}, {trips * step}; @%p{depth + 1} bra {label};")
            else:
                self.access(arrays, sources, enclosing)

    def text(self):
        self.lines = ["mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; ld.param.u64 %rd1, [g]; cvta.to.global.u64 %rd1, %rd1;",
                      "mov.u32 %r4, a; mov.u32 %r5, dyn;"]
        arrays = [("a", "%r4"), ("dyn", "%r5")]
        if self.chance(0.3):
            self.lines.append("add.u32 %r10, %r5, 1023; and.b32 %r10, %r10, -1024;")
            arrays = [("dyn", "%r10")]
            self.odd.add("rounded up")
        x, y, z = self.block
        flat = self.word()
        self.lines.append(f"mad.lo.u32 {flat}, %r2, {x}, %r1; mad.lo.u32 {flat}, %r3, {x * y}, {flat};")
        sources = [("%r1", lambda v: v["tid"]), ("%r2", lambda v: v["y"]), (flat, lambda v: v["flat"])]
        self.body(arrays, sources, [], 0)
        return (f".visible .entry {self.name}(.param .u64 g)\n{{\n.reg .pred %p<9>; .reg .b16 %h<4>; .reg .b32 %r<{self.registers + 2}>; .reg .b64 %rd<9>;\n"
                + "\n".join(self.lines) + "\nret;\n}\n")

    def executions(self, access):
        """(address, active) of each warp and iteration in which a lane is on."""
        x, y, z = self.block
        threads = x * y * z
        for first in range(0, threads, 32):
            flat = first + LANES
            v = {"n": self.n, "flat": flat, "tid": flat % x, "y": flat // x % y}
            present = flat < threads
            counts = [n for _, n in access.loops]
            for index in np.ndindex(*counts):
                for (name, _), i in zip(access.loops, index):
                    v[name] = int(i)
                active = present & access.guard(v)
                if active.any():
                    yield np.broadcast_to(access.terms(v), (32,)).astype(np.int64), active


def cost_of(access, address, active):
    return int(wavefronts(access.kind, access.size, address[None, :], active[None, :])[0])


def swizzled(fix, address):
    if fix["swizzle"] is None:
        return address
    bits, base, shift = (int(t) for t in fix["swizzle"][3:-1].split(","))
    mask = (1 << bits) - 1 << base + max(shift, 0)
    return address ^ ((address & mask) >> shift if shift >= 0 else (address & (1 << bits) - 1 << base) << -shift)


def padded(fix, address):
    p = fix["padding"]
    out = address.copy()
    moves = p.get("moves") or [0] * len(p["starts"])
    for (begin, end), start, move in zip(fix["region"], p["starts"], moves):
        inside = (begin <= address) & (address < end)
        out = np.where(inside, address + (address - start) // p["pitch"] * p["padding"] + move, out)
    return out


def meets(fix):
    """Whether a padding moves two bytes of its region to one address."""
    every = np.concatenate([np.arange(begin, end) for begin, end in fix["region"]])
    if not fix["padding"].get("moves"):  # counted from one start
        p = fix["padding"]
        return len(np.unique(every + (every - p["starts"][0]) // p["pitch"] * p["padding"])) < len(every)
    return len(np.unique(padded(fix, every))) < len(every)


def check(kernel, answer, _rng, differ, tally):
    expected = collections.defaultdict(list)
    for a in kernel.accesses:
        runs = list(kernel.executions(a))
        if runs:
            expected[a.array].append((a, runs))
    for found in answer["fixes"]:
        tally["arrays with fixes"] += 1
        all_of = expected[found["array"]]
        left_out = set(found["left_out"])
        if found["accesses"] != len(all_of) or not {a.line for a, _ in all_of if a.left_out} <= left_out <= {a.line for a, _ in all_of}:
            differ(f"accesses {found['accesses']}, left out {found['left_out']}; expected {[(a.line, a.left_out) for a, _ in all_of]}")
            continue
        known = [(a, runs) for a, runs in all_of if a.line not in left_out]
        tally["accesses of fixes"] += len(known)
        tally["left out though closed"] += len(left_out) - sum(a.left_out for a, _ in all_of)
        executions = [(a, address, active) for a, runs in known for address, active in runs]
        if found["executions"] != len(executions):
            differ(f"{found['executions']} executions, expected {len(executions)}")
        for fix in found["fixes"]:
            def within(address, active):
                return any(((begin <= address) & (address < end) & active).any() for begin, end in fix["region"])

            mine = [e for e in executions if within(e[1], e[2])]
            tally["fixes"] += 1
            sums = {"before": sum(cost_of(*e) for e in mine), "ideal": sum(min(IDEAL[e[0].size], cost_of(*e)) for e in mine),
                    "after": sum(cost_of(a, swizzled(fix, address), active) for a, address, active in mine)}
            if fix["padding"] is not None:
                tally["paddings"] += 1
                if meets(fix):
                    differ(f"the padding moves two bytes to one address: {fix['region']}, {fix['padding']}")
                after = sum(cost_of(a, padded(fix, address), active) for a, address, active in mine)
                if after != fix["padding"]["after"]:
                    differ(f"padding leaves {fix['padding']['after']}, expected {after}")
            tally["swizzles"] += fix["swizzle"] is not None
            for key, value in sums.items():
                if fix[key] != value:
                    differ(f"{key} {fix[key]}, expected {value}: {fix['region']}")
    # A column of words, one line of banks apart, has a fix.
    named = {f["array"] for f in answer["fixes"]}
    for array, all_of in expected.items():
        if len(all_of) == 1 and not all_of[0][0].left_out and all_of[0][0].size == 4 and len(all_of[0][1]) == 1:
            a, ((address, active),) = all_of[0]
            lanes = np.sort(address[active])
            if len(lanes) > 1 and (np.diff(lanes) == 128).all():
                tally["columns"] += 1
                if array not in named:
                    differ(f"no fix of a column of {array}")


def campaign(description, make, name, check):
    """Asks for random kernels, make(rng, name, block), in files of 20, and has check(kernel, answer, rng, differ, tally) compare each answer."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary")
    parser.add_argument("--keep")
    o = parser.parse_args()
    tally, odd, differences = collections.Counter(), collections.Counter(), 0
    rng = np.random.default_rng(o.seed)
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        while done < o.cases:
            block = BLOCKS[int(rng.integers(0, len(BLOCKS)))]
            kernels = [make(rng, f"k{done + i}", block) for i in range(min(20, o.cases - done))]
            text = (".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 1024 .b8 a[32768];\n.extern .shared .align 16 .b8 dyn[];\n"
                    + "".join(k.text() for k in kernels))
            for number, line in enumerate(text.split("\n"), 1):
                if line.startswith(".visible .entry"):
                    for a in kernels[int(line.split()[2].split("(")[0][1:]) - done].accesses:
                        a.line = number + 3 + a.index
            path = os.path.join(o.keep or folder, f"{name}_{o.seed}_{done}.ptx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            code, document, complaint = ask(o.binary, ["kernel", path, "--json", "--block", ",".join(map(str, block))])
            try:
                answers = {k["kernel"]: k for k in json.loads(document)["kernels"]}
            except (ValueError, KeyError):
                print(f"{path}: no answer, exit code {code}: {(complaint or document)[:300]}")
                return 1
            for k in kernels:
                def differ(what, k=k):
                    nonlocal differences
                    differences += 1
                    if differences <= 12:
                        print(f"{path}: {k.name}, block {block}: {what}")

                tally["kernels"] += 1
                odd.update(k.odd)
                odd["partial warps"] += block[0] * block[1] * block[2] % 32 != 0
                check(k, answers[k.name], rng, differ, tally)
            done += len(kernels)
    print("odd: " + ", ".join(f"{k} {v}" for k, v in odd.most_common()))
    print(", ".join(f"{v} {k}" for k, v in tally.items()) + f"; {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(campaign(__doc__, Kernel, "fixes", check))
