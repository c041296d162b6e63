#!/usr/bin/env python3
"""kernel_global.py --binary PATH --cases N --seed S: sectors and lines of global memory by enumeration, compared with `kernel --global` on PTX.

A case is a kernel with one access at p + bytes * f(tid) + g. f is made of 32-bit arithmetic that wraps: a factor of any sign, a constant, a
permutation of the lanes, a shift; it is extended with or without sign. Some kernels add an unknown n before or after the extension. In others f is row * n + column, with an
unknown pitch n, and rows of 1 to 32 lanes: the number that is said to be reached must be the most over pitches and pointers, any other one a bound. The model
computes the addresses of every lane of every warp as Python integers, for every residue modulo 128 of the pointer and of n, and counts pieces of 32
and 128 bytes. It has no line of the program. The allowances of --emit lock are compared too: `prove` must hold with them, and fail with one sector less.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
LOADS = {1: "ld.global.u8 %s1, [%rd9];", 2: "ld.global.u16 %s1, [%rd9];", 4: "ld.global{nc}.u32 %r20, [%rd9];",
         8: "ld.global{nc}.u64 %rd10, [%rd9];", 16: "ld.global{nc}.v4.u32 {{%r20, %r21, %r22, %r23}}, [%rd9];"}
STORES = {1: "st.global.u8 [%rd9], %s1;", 2: "st.global.u16 [%rd9], %s1;", 4: "st.global.u32 [%rd9], %r20;",
          8: "st.global.v2.u32 [%rd9], {{%r20, %r21}};", 16: "st.global.v4.u32 [%rd9], {{%r20, %r21, %r22, %r23}};"}


def signed(x):
    return x - (1 << 32) if x >> 31 else x


class Case:
    """One access: its PTX, and the addresses of its lanes."""

    def __init__(self, number, rng):
        self.name = f"k{number}"
        self.bytes = rng.choice([1, 2, 4, 4, 4, 8, 16])
        self.threads = rng.choice([32, 64, 64, 96, 128, 17, 40, 1])
        self.factor = rng.choice([0, 1, 1, 1, 1, -1, -1, 2, 3, 4, 5, 8, 31, 32, 33, 64, 256, 1024, -7, rng.randrange(-5000, 5000)])
        self.constant = rng.choice([0, 0, 0, 1, 3, 7, 8, 32, -1, -16, M32 - 15, 1 << 31, (1 << 31) - 9, (1 << 32) - 40, rng.randrange(1 << 20)])
        self.flip = rng.choice([0, 0, 0, 1, 2, 7, 16, 31, rng.randrange(32)])
        self.divide = rng.choice([0, 0, 0, 0, 1, 2, 5])
        self.signed = rng.random() < 0.6
        self.align = rng.choice([1, 4, 16, 32, 128, 256, 256])
        self.n = rng.choice(["", "", "", "index", "bytes"])  # where an unknown number is added
        if self.n == "index":  # else the case depends on the number that wraps
            self.constant, self.factor = abs(signed(self.constant & M32)) % 4096, rng.choice([0, 1, 2, 4, 32])
        self.guard = rng.choice(["", "", "", "below", "even", "one"])
        self.limit = rng.randrange(1, 40)
        self.load = rng.random() < 0.6
        if rng.random() < 0.3:
            self.n, self.divide, self.factor, self.constant, self.flip = "pitch", rng.randrange(6), 1, rng.choice([0, 0, 0, 1, 5]), 0
            self.swapped, self.unit = rng.random() < 0.3, rng.choice([1, 1, 1, 2, 8])  # rows and columns; what the pitch is a multiple of
        self.nc = ".nc" if self.load and rng.random() < 0.3 else ""

    def ptx(self):
        extend = "s32" if self.signed else "u32"
        text = [f".visible .entry {self.name}(.param .u64 .ptr .global .align {self.align} p, .param .u32 n, .param .u64 m)",
                f".reqntid {self.threads}, 1, 1\n{{", "  .reg .pred %q<4>;", "  .reg .b16 %s<4>;", "  .reg .b32 %r<30>;",
                "  .reg .b64 %rd<20>;", "  ld.param.u64 %rd1, [p];", "  mov.u32 %r1, %tid.x;"]
        if self.guard == "below":
            text += [f"  setp.ge.u32 %q1, %r1, {self.limit};", "  @%q1 bra DONE;"]
        elif self.guard == "even":
            text += ["  and.b32 %r2, %r1, 1;", "  setp.ne.u32 %q1, %r2, 0;", "  @%q1 bra DONE;"]
        elif self.guard == "one":
            text += [f"  setp.ne.u32 %q1, %r1, {self.limit};", "  @%q1 bra DONE;"]
        text += [f"  xor.b32 %r3, %r1, {self.flip};", f"  shr.u32 %r4, %r3, {self.divide};", f"  mul.lo.s32 %r5, %r4, {self.factor};",
                 f"  add.s32 %r6, %r5, {signed(self.constant & M32)};"]
        if self.n == "pitch":
            row, column = ("%r11", "%r10") if self.swapped else ("%r10", "%r11")
            text += ["  ld.param.u32 %r7, [n];", f"  mul.lo.s32 %r7, %r7, {self.unit};", f"  shr.u32 %r10, %r1, {self.divide};", f"  and.b32 %r11, %r1, {(1 << self.divide) - 1};",
                     f"  mad.lo.s32 %r6, {row}, %r7, {column};", f"  add.s32 %r6, %r6, {self.constant};"]
        if self.n == "index":
            text += ["  ld.param.u32 %r7, [n];", "  add.s32 %r6, %r6, %r7;"]
        text += [f"  mul.wide.{extend} %rd2, %r6, {self.bytes};", "  add.s64 %rd9, %rd1, %rd2;"]
        if self.n == "bytes":
            text += ["  ld.param.u64 %rd3, [m];", f"  mul.lo.s64 %rd4, %rd3, {self.bytes};", "  add.s64 %rd9, %rd9, %rd4;"]
        op = (LOADS if self.load else STORES)[self.bytes]
        return "\n".join(text + ["  " + (op.format(nc=self.nc) if "{" in op else op), "DONE:", "  ret;", "}"])

    def active(self, tid):
        if tid >= self.threads:
            return False
        return {"": True, "below": tid < self.limit, "even": tid % 2 == 0, "one": tid == self.limit}[self.guard]

    def offset(self, tid, n):
        if self.n == "pitch":
            high, low = tid >> self.divide, tid & ((1 << self.divide) - 1)
            row, column = (low, high) if self.swapped else (high, low)
            return (row * n * self.unit + column + self.constant) * self.bytes
        index = ((((tid ^ self.flip) >> self.divide) * self.factor) + self.constant + (n if self.n == "index" else 0)) & M32
        wide = (signed(index) if self.signed else index) * self.bytes
        return (wide + (n * self.bytes if self.n == "bytes" else 0)) & M64

    def answer(self):
        """Most and least sectors and lines over all warps, pointers and n, and the most lanes of a warp; None if all lanes are misaligned."""
        most, least, lines, least_lines, lanes = 0, None, 0, None, 0
        base = 1 << 45
        for first in range(0, self.threads, 32):
            tids = [t for t in range(first, first + 32) if self.active(t)]
            if not tids:
                continue
            lanes = max(lanes, len(tids))
            pitches = [*range(40), *range(4096, 4128)]
            for n in pitches if self.n == "pitch" else range(128 if self.n else 1):
                offsets = [self.offset(t, n) for t in tids]
                for pointer in range(0, 32 if self.n == "pitch" else 128, min(self.align, 128)):
                    addresses = [(base + pointer + o) & M64 for o in offsets]
                    if any(a % self.bytes for a in addresses):
                        continue
                    pieces = [len({(a + k) // size for a in addresses for k in (0, self.bytes - 1)}) for size in (32, 128)]
                    most, lines = max(most, pieces[0]), max(lines, pieces[1])
                    least = pieces[0] if least is None else min(least, pieces[0])
                    least_lines = pieces[1] if least_lines is None else min(least_lines, pieces[1])
        return most, least, lines, least_lines, lanes


def check_pitch(case, said, excess):
    """The same where rows are an unknown distance apart."""
    most, *_, lanes = case.answer()
    ideal = -(-lanes * case.bytes // 32)
    wrong = [] if said["ideal"] == ideal else [f"ideal: {said['ideal']} instead of {ideal}"]
    if said["reached"] and said["sectors"] != most or said["sectors"] < most:
        wrong.append(f"sectors: {said['sectors']} instead of {most}, reached: {said['reached']}")
    if said.get("seen", 0) > most:
        wrong.append(f"seen: {said['seen']}, and at most {most}")
    sure = said["reached"] or said.get("seen", 0) > ideal + excess
    verdict = "proved" if said["sectors"] <= ideal + excess else "refuted" if sure else "unknown"
    return wrong + ([] if said["verdict"] == verdict else [f"verdict: {said['verdict']} instead of {verdict}"])


def check(case, said, excess):
    """Differences of one case, as texts."""
    if case.n == "pitch" and case.answer()[-1]:
        return check_pitch(case, said, excess)
    most, least, lines, least_lines, lanes = case.answer()
    if lanes == 0:
        return [] if not said["executed"] and said["verdict"] == "proved" else [f"no lane executes it, and it is {said}"]
    ideal = -(-lanes * case.bytes // 32)
    verdict = "proved" if most <= ideal + excess else "refuted"
    want = {"sectors": most, "least": least, "lines": lines, "least_lines": least_lines, "ideal": ideal, "verdict": verdict}
    return [f"{key}: {said[key]} instead of {value}" for key, value in want.items() if said[key] != value]


def check_lock(binary, path, excess, cases, said, rng):
    """Compares the allowances of `--emit lock` with the model, and the verdicts of `prove` with them; differences as texts, number of allowances."""
    text = subprocess.run([binary, "kernel", path, "--global", "--excess-sectors", str(excess), "--emit", "lock"], capture_output=True, text=True).stdout
    found = {}
    for line, rest, kernel in re.findall(r'\{line = "global\.ptx:(\d+)", (.*), kernel = "\^(\w+)\$"\}', text):
        found[kernel] = (int(line), rest)
    wrong = []
    for case in cases:
        most, *_, lanes = case.answer()
        if case.n == "pitch" and lanes:
            most = said[case.name]["global_accesses"][0]["sectors"]
        ideal = -(-lanes * case.bytes // 32)
        warps = sum(any(case.active(t) for t in range(first, first + 32)) for first in range(0, case.threads, 32))
        want = None
        if lanes and most > ideal + excess:
            want = (said[case.name]["global_accesses"][0]["ptx_line"], f"sectors = {most}, excess = {most - ideal}, lost = {(most - ideal) * warps}")
        if found.get(case.name) != want:
            wrong.append(f"{case.name}: the lock has {found.get(case.name)} instead of {want}")

    def proved(lock):
        run = subprocess.run([binary, "prove", "/dev/stdin", "--json"], input=lock, capture_output=True, text=True)
        return {c["name"].split(": ")[1].split("(")[0].split()[0]: c["verdict"] for c in json.loads(run.stdout)["claims"]}

    verdicts = proved(text)
    wrong += [f"{name}: {verdict} with its own lock" for name, verdict in verdicts.items() if verdict != "proved"]
    if found:
        name = rng.choice(sorted(found))
        key = rng.choice(["sectors", "lost"])
        less = re.sub(r"(.*%s = )(\d+)(.*kernel = \"\^%s\$.*)" % (key, name), lambda m: f"{m[1]}{int(m[2]) - 1}{m[3]}", text)
        expected = "refuted" if said[name]["global_accesses"][0]["reached"] else "unknown"  # a bound alone may be too high
        if less == text or proved(less)[name] not in ("refuted", expected):
            wrong.append(f"{name}: {proved(less)[name]} with {key} less by one")
    return wrong, len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    failed, verdicts, done, locked, rows = 0, {}, 0, 0, [0, 0]  # rows an unknown pitch apart: not reached, reached
    while done < options.cases:
        cases = [Case(done + k, rng) for k in range(min(200, options.cases - done))]
        done += len(cases)
        excess = rng.choice([0, 1, 1, 3])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "global.ptx")
            with open(path, "w") as file:
                file.write(".version 8.0\n.target sm_90\n.address_size 64\n" + "\n".join(c.ptx() for c in cases))
            run = subprocess.run([options.binary, "kernel", path, "--global", "--excess-sectors", str(excess), "--json"],
                                 capture_output=True, text=True)
            if run.returncode not in (0, 1, 3):
                print(run.stdout, run.stderr)
                return 1
            said = {k["kernel"].split("(")[0]: k for k in json.loads(run.stdout)["kernels"]}
            lock, lines = check_lock(options.binary, path, excess, cases, said, rng)
        locked += lines
        for text in lock:
            failed += 1
            print(f"seed {options.seed}, excess {excess}: {text}")
        for case in cases:
            found = said[case.name].get("global_accesses", [])
            wrong = ["no access is listed"] if len(found) != 1 else check(case, found[0], excess)
            if found:
                verdicts[found[0]["verdict"]] = verdicts.get(found[0]["verdict"], 0) + 1
            if found and case.n == "pitch":
                rows[found[0]["reached"] or found[0]["verdict"] == "proved"] += 1
            if wrong:
                failed += 1
                print(f"seed {options.seed}, {case.name}, excess {excess}: {'; '.join(wrong)}\n{case.ptx()}\n{found}")
            if failed > 5:
                return 1
    print(f"kernel_global: {done} cases, {verdicts}, {locked} allowances, {failed} differ; with a pitch {rows[1]} proved or reached, {rows[0]} with a bound alone")
    return 1 if failed or rows[0] * 5 > rows[1] else 0


if __name__ == "__main__":
    sys.exit(main())
