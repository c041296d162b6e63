#!/usr/bin/env python3
"""bases.py --cases N --seed S --binary SWIZPROOF: random kernels with shared arrays, and the addresses that `swizproof kernel` takes them to have.

The model is H18 alone, as gpu/README.md states it: a block's memory starts at 0x400; the arrays that a kernel names lie behind each other, its own first,
then the module's, each at a multiple of its alignment counted from the start; extern arrays follow, all of the module, as arrays of no bytes at multiples
of 16 or more. A kernel that calls a function with arrays has no known addresses. Nothing else of the program is taken.

An address is read bit by bit: lane l accesses word l or word 2l, as a bit says, so that one wavefront or two are needed. With --base ptx only the bits
below the alignment are known, and those below 1024: a greater alignment is one of the distance from the start. Odd on purpose: alignments of 1 to 4096, lengths of 1, arrays that no instruction names, two extern arrays, a name
that hides another one, several kernels of one module, functions with and without arrays.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

BITS = 15


def up(x, unit):
    return -(-x // unit) * unit


class Array:
    def __init__(self, rng, name, external=False):
        self.name, self.external = name, external
        self.align = 1 << rng.choice([0, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, rng.choice([11, 12])])
        self.bytes = 0 if external else rng.choice([1, 2, 3, 4, 7, 8, 12, 33, 100, 128, 132, 256, 1000, 1024])

    def text(self):
        kind, length = (".extern .shared", "") if self.external else (".shared", self.bytes)
        return f"{kind} .align {self.align} .b8 {self.name}[{length}];\n"


def placed(own, module, named):
    """Address of each array that a kernel names."""
    end, out = 0, {}
    hidden = {a.name for a in own}
    for a in own + [m for m in module if m.name not in hidden and not m.external]:
        if a.name in named:
            end = up(end, a.align)
            out[a.name] = 0x400 + end
            end += a.bytes
    for a in module:
        if a.external:
            end = up(end, max(16, a.align))
            out[a.name] = 0x400 + end
    return out


def kernel_text(rng, name, own, named, calls):
    body = "".join(a.text() for a in own) + "mov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\n"
    asked = []
    names = [n for n in named if n != "tile"]
    rng.shuffle(names)
    for array in names:
        body += f"mov.u32 %r3, {array};\n"
        for bit in rng.sample(range(BITS), 5):
            body += f"shr.u32 %r4, %r3, {bit}; and.b32 %r4, %r4, 1; add.u32 %r4, %r4, 1; shl.b32 %r4, %r4, 2; mad.lo.u32 %r5, %r4, %r1, %r2;\n"
            body += "ld.shared.u32 %r6, [%r5];\n"
            asked.append((array, bit))
    for callee in calls:
        body += f"call {callee}, ();\n"
    return f".visible .entry {name}()\n{{\n.reg .b32 %r<9>;\n{body}ret;\n}}\n", asked


class Case:
    """A module of one to three kernels."""

    def __init__(self, rng):
        module = [Array(rng, f"m{i}") for i in range(rng.choice([0, 0, 1, 2, 3]))]
        module += [Array(rng, f"d{i}", True) for i in range(rng.choice([0, 1, 1, 2]))]
        rng.shuffle(module)
        harmless = rng.random() < 0.1
        arrays = rng.random() < 0.1
        functions = ".func harmless()\n{\nret;\n}\n" if harmless else ""
        if arrays:
            functions += ".func arrays()\n{\n.reg .b32 %r<2>;\n.shared .align 4 .b8 mine[8];\nmov.u32 %r0, mine; st.shared.u32 [%r0], %r0;\nret;\n}\n"
        self.text = ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(a.text() for a in module) + functions
        self.kernels = []
        for n in range(rng.choice([1, 1, 2, 3])):
            own = [Array(rng, f"a{i}") for i in range(rng.choice([0, 1, 2, 3]))]
            if module and rng.random() < 0.1 and not module[0].external:
                own.append(Array(rng, module[0].name))
            tile = Array(rng, "tile")
            tile.align, tile.bytes = 1 << rng.randrange(2, 8), 256
            own.insert(rng.randrange(len(own) + 1), tile)
            hidden = {a.name for a in own}
            seen = own + [a for a in module if a.name not in hidden]
            named = [a.name for a in seen if a.name == "tile" or rng.random() < 0.7]
            calls = [f for f, there in (("harmless", harmless), ("arrays", arrays)) if there and rng.random() < 0.7]
            text, asked = kernel_text(rng, f"k{n}", own, named, calls)
            self.text += text
            align = {a.name: a.align for a in seen}
            self.kernels.append((f"k{n}", asked, None if "arrays" in calls else placed(own, module, set(named)), align))

    def expected(self, base):
        """Of each kernel the verdicts in the order of its accesses."""
        for name, asked, addresses, align in self.kernels:
            out = []
            for array, bit in asked:
                known = (1 << bit) < min(align[array], 1024)
                if base == "ptx" or addresses is None:
                    out.append("proved" if known else "refuted" if base == "ptx" else "unknown")
                else:
                    out.append("refuted" if addresses[array] >> bit & 1 and not known else "proved")
            yield name, out


def agree(expected, answer, base):
    """With --base ptx an execution that refutes need not be found."""
    return answer == expected or (base == "ptx" and expected == "refuted" and answer == "unknown")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--binary", default="swizproof")
    options = options.parse_args()
    rng = random.Random(options.seed)
    count, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, options.cases, 50):
            base = "ptx" if rng.random() < 0.2 else "device"
            cases = {os.path.join(folder, f"{n}.ptx"): Case(rng) for n in range(first, min(first + 50, options.cases))}
            for path, case in cases.items():
                with open(path, "w", encoding="utf-8") as file:
                    file.write(case.text)
            done = subprocess.run([options.binary, "kernel", *cases, "--block", "32", "--base", base, "--json"], capture_output=True, text=True, check=False)
            found = {(k["file"], k["kernel"]): [a["verdict"] for a in k["accesses"] if a["op"] == "ld.shared.u32"] for k in json.loads(done.stdout)["kernels"]}
            for path, case in cases.items():
                for name, verdicts in case.expected(base):
                    count[f"kernels, --base {base}"] += 1
                    answers = found[path, name]
                    for expected, answer in zip(verdicts, answers):
                        count[f"bits {answer}, --base {base}"] += 1
                    if len(answers) != len(verdicts) or not all(map(agree, verdicts, answers, [base] * len(answers))):
                        wrong += 1
                        if wrong <= 5:
                            print(f"{name}, --base {base}: expected {verdicts}\nfound {answers}\n{case.text}")
    for what, number in sorted(count.items()):
        print("%7d  %s" % (number, what))
    print("%d cases, seed %d: %d kernels differ" % (options.cases, options.seed, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
