#!/usr/bin/env python3
"""sass.py FILE.. --runs N: a reference model of `swizproof kernel` on SASS (sass_interpreter.py): random executions compared with its answers.

For each access that an execution reaches:
  - its wavefronts are at most the bound of the command (proved, refuted, and data with a bound);
  - a known worst warp costs what is claimed, by another model of the banks;
  - addresses of one that is called aligned are multiples of its bytes;
  - it is listed, and not as one that no lane executes.
A case is one execution of one block. The last line has the numbers; exit code 1 if something differs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("sass.py: not run (numpy is not installed)")
    sys.exit(77)

import sass_interpreter as sass


def decided(binary, path, block):
    r = subprocess.run([binary, "kernel", path, "--json", "--block", ",".join(map(str, block))], capture_output=True, text=True)
    if r.returncode not in (0, 1, 3):
        return None, r.stderr
    return {k["mangled"]: k for k in json.loads(r.stdout)["kernels"]}, ""


class Tally:
    def __init__(self):
        self.cases = self.accesses = self.different = self.worst = self.reached = self.unreadable = self.cut = 0
        self.odd = {}

    def differ(self, what):
        self.different += 1
        if self.different <= 20:
            print("DIFFERENT:", what, flush=True)


def accesses_by_pc(answer):
    """The listed accesses by their instruction's address: an inlined function may be there several times."""
    by_pc = {}
    for a in answer["accesses"]:
        by_pc.setdefault(a["pc"], []).append(a)
    return by_pc


def compare(kernel, answer, machine, path, block, seed, tally):
    by_pc = accesses_by_pc(answer)
    for pc, (kind, size, matrices, addresses, active) in machine.seen.items():
        if not addresses:
            continue
        at, on = np.array(addresses), np.array(active)
        where = f"{path} {kernel.name[:80]} pc {pc:#x} block {block} seed {seed}"
        answers = by_pc.get(pc)
        if not answers:
            tally.differ(f"{where}: not listed")
            continue
        tally.accesses += len(addresses)
        aligned = ((at % size == 0) | ~on).all(axis=1)
        if kind == "matrix":
            lanes = np.arange(32) < 8 * matrices
            aligned = ((at % size == 0) | ~lanes).all(axis=1)
        if not aligned.all() and all(a["aligned"] for a in answers):
            tally.differ(f"{where}: called aligned, and is not")
        if all(not a["executed"] for a in answers):
            tally.differ(f"{where}: executed, and called not executed")
        bounds = [a["wavefronts"] for a in answers]
        if any(b is None for b in bounds) or not aligned.any():
            continue
        cost = sass.wavefronts(kind, size, at[aligned], on[aligned], matrices)
        if cost.max() > max(bounds):
            tally.differ(f"{where}: takes {cost.max()}, at most {max(bounds)} proved")
        tally.reached += int(cost.max() == max(bounds))


def check_examples(answer, kernel, path, tally):
    """The claimed worst warps cost what is claimed."""
    code = {i.pc: i for i in kernel.code}
    for a in answer["accesses"]:
        example = a["counterexample"]
        if not example or not a["reached"]:
            continue
        i = code[a["pc"]]
        machine = sass.Machine(kernel, 90, (32, 1, 1), 0, 0)
        kind = {"LDS": "ld", "STS": "st", "LDGSTS": "cp", "LDSM": "matrix", "STSM": "matrix"}.get(i.base)
        if kind is None:
            continue
        size = 16 if kind == "matrix" else machine.size(i)
        matrices = (4 if "4" in i.mods else 2 if "2" in i.mods else 1) if kind == "matrix" else 0
        lanes = example["lanes"]
        cost = sass.wavefronts(kind, size, np.array([[x or 0 for x in lanes]]), np.array([[x is not None for x in lanes]]), matrices)
        tally.worst += 1
        if int(cost[0]) != (a.get("seen") or a["wavefronts"]):
            tally.differ(f"{path} {kernel.name[:80]} pc {a['pc']:#x}: the worst warp takes {int(cost[0])}, not {a['wavefronts']}")


def check_kernel(binary, path, head, kernel, arch, block, runs, steps, seed, tally, answers):
    answer = answers.get(kernel.name)
    if answer is None or answer["refused"]:
        return
    check_examples(answer, kernel, path, tally)
    for r in range(runs):
        machine = sass.Machine(kernel, arch, block, seed + r, steps)
        try:
            if not machine.run():
                tally.cut += 1
        except sass.Unreadable:
            tally.unreadable += 1
            return
        for o in machine.odd:
            tally.odd[o] = tally.odd.get(o, 0) + 1
        tally.cases += 1
        if not machine.odd:
            compare(kernel, answer, machine, path, block, seed + r, tally)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("files", nargs="+")
    p.add_argument("--binary", required=True)
    p.add_argument("--blocks", default="32,8,1 256,1,1")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--steps", type=int, default=3000)
    p.add_argument("--kernels", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=1e9)
    given = p.parse_args()
    tally = Tally()
    for path in given.files:
        arch, kernels = sass.kernels(path)
        for text in given.blocks.split():
            block = tuple(int(x) for x in text.split(","))
            answers, complaint = decided(given.binary, path, block)
            if answers is None:
                tally.differ(f"{path}: {complaint[:200]}")
                continue
            for k in kernels[:given.kernels]:
                check_kernel(given.binary, path, "", k, arch, block, given.runs, given.steps, given.seed, tally, answers)
    print(f"sass.py: {tally.cases} cases ({tally.cut} cut off), {tally.accesses} executed accesses, {tally.reached} bounds seen reached, "
          f"{tally.worst} worst warps, {tally.unreadable} kernels not executed, odd: {tally.odd}, {tally.different} different")
    return 1 if tally.different or tally.cases == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
