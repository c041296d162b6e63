#!/usr/bin/env python3
"""flow_any_data.py --binary PATH --cases N --seed S: a reference model of launches in which data choose what is executed, in `swizproof flow`.

Random kernels of two or four warps, one lane of each: loads and stores of words of shared memory, barriers of the block, branches and
guards. Conditions are comparisons of elements of an array of small integers: of one element for all warps, or of one for each, some of them twice with another comparison. All values of
the elements are enumerated here, and for each of them all accesses between two barriers: a race is two of them to one word by two warps, one of them a store; a
barrier that not all warps come to is an error, too. The command has to prove a kernel only if no values lead to an error, and to refute it only if the numbers that it gives do;
--show prints each kernel. The last line has the numbers; exit code 1 if there are differences.
"""
import collections
import itertools
import os
import random
import re
import sys
import tempfile

from asking import answered, options_of

VALUES = (0, 1, 2, 3)


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        self.warps = rng.choice([2, 2, 4])
        self.elements = []  # (name of the element, for one warp or None)
        self.conditions = []
        for _ in range(rng.randint(1, 3)):
            own = rng.random() < 0.4
            self.conditions.append((own, rng.randrange(2), rng.choice(["lt", "ge", "eq", "ne"]), rng.choice([1, 2])))
        self.body = self.block(2)

    def block(self, depth):
        out = []
        for _ in range(self.rng.randint(1, 4)):
            kind = self.rng.random()
            if depth and kind < 0.3:
                n = self.rng.randrange(len(self.conditions))
                out.append(("if", n, self.block(depth - 1), self.block(depth - 1) if self.rng.random() < 0.5 else []))
            elif kind < 0.55:
                out.append(("bar",))
            elif kind < 0.6 and depth < 2:
                out.append(("ret",))
            else:
                guard = self.rng.randrange(len(self.conditions)) if self.rng.random() < 0.3 else None
                word = self.rng.randrange(4) if self.rng.random() < 0.3 else None  # its own word, or one of all
                out.append((self.rng.choice(["ld", "st", "st"]), guard, word))
        return out

    def element(self, n, warp):
        own, which, _, _ = self.conditions[n]
        return 2 + 4 * which + warp if own else which

    def holds(self, n, warp, data):
        _, _, op, with_ = self.conditions[n]
        x = data[self.element(n, warp)]
        return {"lt": x < with_, "ge": x >= with_, "eq": x == with_, "ne": x != with_}[op]

    def text(self):
        lines = ["mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mov.u32 %r3, tile; shl.b32 %r4, %r2, 2; add.s32 %r4, %r4, %r3; ld.param.u64 %rd1, [a];",
                 "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd2, %rd1; and.b32 %r5, %r1, 31; setp.ne.u32 %p9, %r5, 0; cvt.u64.u32 %rd3, %r1;"]
        for n, (own, which, op, with_) in enumerate(self.conditions):
            lines.append(f"ld.global.s32 %r6, [{'%rd2' if own else '%rd1'}+{4 * (2 + 4 * which if own else which)}]; setp.{op}.s32 %p{n}, %r6, {with_};")
        # Every word is written before: a load is of a word that holds something.
        lines += ["setp.lt.u32 %p8, %r1, 12; shl.b32 %r7, %r1, 2; add.s32 %r7, %r7, %r3; @%p8 st.shared.u32 [%r7], %r1; bar.sync 0;"]
        self.labels = 0
        self.lower(self.body, lines)
        return (".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n.reg .pred %p<10>; .reg .b32 %r<12>; .reg .b64 %rd<4>;\n"
                ".shared .align 16 .b8 tile[64];\n" + "\n".join(lines) + "\nret;\n}\n")

    def lower(self, statements, lines):
        for s in statements:
            if s[0] == "if":
                self.labels += 1
                other, join = f"$L{self.labels}", f"$M{self.labels}"
                lines.append(f"@!%p{s[1]} bra {other};")
                self.lower(s[2], lines)
                lines.append(f"bra {join};\n{other}:")
                self.lower(s[3], lines)
                lines.append(f"{join}:")
            elif s[0] == "bar":
                lines.append("bar.sync 0;")
            elif s[0] == "ret":
                lines.append("ret;")
            else:
                self.labels += 1
                address = "[%r4+16]" if s[2] is None else f"[tile+{4 * s[2]}]"
                access = f"ld.shared.u32 %r8, {address};" if s[0] == "ld" else f"st.shared.u32 {address}, %r2;"
                if s[1] is None:
                    lines.append(f"@!%p9 {access}")  # one lane of the warp
                else:
                    lines.append(f"setp.ne.u32 %p7, %r5, 0; @%p7 bra $E{self.labels}; @%p{s[1]} {access}\n$E{self.labels}:")

    def run(self, statements, warp, data, events):
        """False if the warp has ended."""
        for s in statements:
            if s[0] == "if":
                if not self.run(s[2] if self.holds(s[1], warp, data) else s[3], warp, data, events):
                    return False
            elif s[0] == "bar":
                events.append("bar")
            elif s[0] == "ret":
                return False
            elif s[1] is None or self.holds(s[1], warp, data):
                events.append((s[0], 4 + warp if s[2] is None else s[2]))
        return True

    def error(self, data):
        """True if a launch has a race. An ended warp is not waited for."""
        phases = []
        for warp in range(self.warps):
            events = []
            self.run(self.body, warp, data, events)
            phases.append([[]])
            for e in events:
                if e == "bar":
                    phases[-1].append([])
                else:
                    phases[-1][-1].append(e)
        # No barrier orders an ended warp's last phase before later phases of the others.
        for p, q in itertools.combinations(range(self.warps), 2):
            a, b = phases[p], phases[q]
            for i, x in enumerate(a):
                for j, y in enumerate(b):
                    together = i == j or (i == len(a) - 1 and j > i) or (j == len(b) - 1 and i > j)
                    if together and any(e[1] == f[1] and "st" in (e[0], f[0]) for e in x for f in y):
                        return True
        return False


def main():
    options = options_of(__doc__, 200, by_number=True)
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.first, options.first + options.cases):
            rng = random.Random(options.seed * 1000003 + case)
            kernel, found = Kernel(rng), []
            used = sorted({kernel.element(n, w) for n in range(len(kernel.conditions)) for w in range(kernel.warps)})
            wrong = [values for values in itertools.product(VALUES, repeat=len(used)) if kernel.error(dict(zip(used, values)))] if len(used) <= 6 else None
            if wrong is None:
                tally["too many elements"] += 1
                continue
            path, text = os.path.join(folder, "k.ptx"), kernel.text()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            code, document = answered(options.binary, ["flow", path, "--block", str(32 * kernel.warps), "--param", "0=a:i32[10]", "--same-values", "--json"])
            tally[{0: "proved", 1: "refuted", 3: "unknown"}.get(code, "error")] += 1
            tally["ways"] += document.get("ways", 0)
            if code not in (0, 1, 3):
                found.append(f"exit code {code}: {document}")
            if code == 0 and wrong:
                found.append(f"proved, and {dict(zip(used, wrong[0]))} has a race")
            if code == 1 and not wrong:
                found.append(f"refuted, and no values have a race: {document['fault']['text']}")
            if code == 1:
                given = [d for d in document["data"] if d.startswith("0=a:")]
                if given:
                    tally["refuted with data"] += 1
                    values = given[0].split("=")[-1]
                    numbers = list(range(10)) if values == "iota" else [0] * 10 if values == "zeros" else [int(n) for n in values.split(",")]
                    if not kernel.error(dict(enumerate(numbers))):
                        found.append(f"refuted with {numbers}, which have no race: {document['fault']['text']}")
                elif len(wrong) != len(VALUES) ** len(used):
                    found.append("refuted for all data, and some have no race")
            if code == 3:
                tally["unknown, and no values have a race" if not wrong else "unknown, and values have a race"] += 1
            if options.show:
                print(text, code, wrong[:2], document.get("reason"), found)
            for what in found[:2]:
                print(f"DIFFERENT: seed {options.seed}, case {case}: {what}", flush=True)
            differences += bool(found)
    print(f"flow_any_data: {options.cases} kernels; " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())) + f"; {differences} different")
    return int(differences != 0)


if __name__ == "__main__":
    sys.exit(main())
