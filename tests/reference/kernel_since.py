#!/usr/bin/env python3
"""kernel_since.py --binary PATH --cases N --seed S: two builds compared, against `kernel --global --since`.

A case is a kernel in two builds. Each line has one access of a warp of 32 lanes, s * 4 bytes apart, to shared or to global memory; from one build to the other
distances change, lines move, come and go. Other lines copy 64 bytes in bulk to a number of bytes behind the tile's start: they are refuted unless 16
divides it. The model counts words of a bank and 32-byte sectors of every pointer that is a multiple of 4, pairs the lines by
number and instruction, the rest by their order, and lists what is worse, better, added, removed and the same. It has no line of the program.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

OPS = {("global", "load"): "ld.global.u32", ("global", "store"): "st.global.u32", ("shared", "load"): "ld.shared.u32", ("shared", "store"): "st.shared.u32",
       ("bulk", "destination"): "destination of cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"}
BARRIER = OPS["bulk", "destination"].replace("destination of", "mbarrier of")


def wavefronts(stride):
    return max(Counter(word % 32 for word in {lane * stride for lane in range(32)}).values())


def sectors(stride):
    return max(len({(pointer + 4 * lane * stride) // 32 for lane in range(32)}) for pointer in range(0, 32, 4))


def excess_of(access, allowed):
    (memory, _), stride = access[1:]
    if memory == "bulk":  # refuted instructions
        return int(stride % 16 != 0)
    return max(0, sectors(stride) - 4 - allowed) if memory == "global" else wavefronts(stride) - 1


def build(rng):
    lines = rng.sample(range(1, 40), rng.randrange(1, 7))
    return [(line, rng.choice(list(OPS)), rng.choice([0, 1, 1, 2, 3, 8, 16, 32, 33])) for line in sorted(lines)]


def changed(rng, accesses):
    out = []
    for line, kind, stride in accesses:
        change = rng.random()
        if change < 0.15:
            continue
        out.append((line + (50 if 0.15 <= change < 0.25 else 0), kind, rng.choice([0, 1, 2, 8, 32, 33]) if change > 0.6 else stride))
    taken = {line for line, _, _ in out}
    return out + [one for one in build(rng)[:2] if one[0] not in taken and rng.random() < 0.4]


def ptx(name, accesses):
    text = [f".visible .entry {name}(.param .u64 p)", ".reqntid 32, 1, 1\n{", "  .reg .b32 %r<9>;", "  .reg .b64 %rd<9>;",
            "  .shared .align 128 .b8 tile[8192];", "  ld.param.u64 %rd1, [p];", "  cvta.to.global.u64 %rd2, %rd1;", "  mov.u32 %r1, %tid.x;", "  mov.u32 %r2, tile;"]
    for line, (memory, way), stride in accesses:
        if memory == "bulk":
            text += [f"  .loc 1 {line} 0", f"  {OPS[memory, way].split(' of ')[1]} [%r2+{stride}], [%rd2], 64, [%r2+4096];"]
            continue
        text += [f"  .loc 1 {line} 0", f"  mul.lo.u32 %r3, %r1, {4 * stride};"]
        text += ["  add.u32 %r4, %r2, %r3;"] if memory == "shared" else ["  cvt.u64.u32 %rd3, %r3;", "  add.s64 %rd4, %rd2, %rd3;"]
        at = "[%r4]" if memory == "shared" else "[%rd4]"
        text.append(f"  {OPS[memory, way]} " + (f"%r5, {at};" if way == "load" else f"{at}, %r1;"))
    return "\n".join(text + ["  ret;", "}"])


def compared(old, new, allowed):
    """{"worse": {(op, line, before, after)}, ..}, and the number of lines that are the same."""
    out = {key: set() for key in ("worse", "better", "added", "removed")}
    same = 0
    for kind, op in OPS.items():
        before, after = [a for a in old if a[1] == kind], [a for a in new if a[1] == kind]
        numbers = {a[0] for a in before} & {a[0] for a in after}
        pairs = [(b, a) for b in before for a in after if b[0] == a[0]]
        rest_before, rest_after = ([a for a in side if a[0] not in numbers] for side in (before, after))
        pairs += list(zip(rest_before, rest_after))
        if kind[0] == "bulk":  # its mbarrier is at a multiple of 8
            same += len(pairs)
            out["added"] |= {(BARRIER, a[0], None, 0) for a in rest_after[len(rest_before):]}
            out["removed"] |= {(BARRIER, b[0], 0, None) for b in rest_before[len(rest_after):]}
        for b, a in pairs:
            x, y = excess_of(b, allowed), excess_of(a, allowed)
            same += x == y
            if x != y:
                out["worse" if y > x else "better"].add((op, a[0], x, y))
        for a in rest_after[len(rest_before):]:
            y = excess_of(a, allowed)
            out["worse" if y else "added"].add((op, a[0], None, y))
        for b in rest_before[len(rest_after):]:
            out["removed"].add((op, b[0], excess_of(b, allowed), None))
    return out, same


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    done, failed, counts = 0, 0, Counter()
    while done < options.cases:
        cases = []
        for number in range(done, min(done + 50, options.cases)):
            old = build(rng)
            cases.append((f"k{number}", old, changed(rng, old)))
        done += len(cases)
        allowed = rng.choice([0, 1, 1, 4])
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("old.ptx", "new.ptx")]
            for which, path in enumerate(paths):
                with open(path, "w") as file:
                    file.write('.version 8.0\n.target sm_90\n.address_size 64\n' + "\n".join(ptx(c[0], c[1 + which]) for c in cases) + '\n.file 1 "k.cu"\n')
            run = subprocess.run([options.binary, "kernel", paths[1], "--global", "--excess-sectors", str(allowed), "--since", paths[0], "--json"],
                                 capture_output=True, text=True)
        if run.returncode not in (0, 1):
            print(run.stdout[-2000:], run.stderr)
            return 1
        said = json.loads(run.stdout)["since"]
        want = {key: set() for key in ("worse", "better", "added", "removed")}
        same = 0
        for name, old, new in cases:
            lists, equal = compared(old, new, allowed)
            same += equal
            for key, lines in lists.items():
                want[key] |= {(name, *line) for line in lines}
        def sums(one, side):
            if "operand" not in one:
                return one["excess"][side]
            return one["refuted"][side] if one["accesses"][side] else None

        found = {key: {(one["kernel"].split("(")[0], f"{one['operand']} of {one['op']}" if "operand" in one else one["op"],
                        int(one["source"].split(":")[1]), sums(one, "before"), sums(one, "after"))
                       for one in said[key]} for key in want}
        for key in want:
            counts[key] += len(want[key])
            for one in sorted(want[key] ^ found[key], key=str):
                failed += 1
                print(f"{key}: {'missing' if one in want[key] else 'not expected'}: {one}")
        if same != said["same"] or (run.returncode == 1) != bool(want["worse"]):
            failed += 1
            print(f"{said['same']} the same instead of {same}, exit code {run.returncode}")
        counts["same"] += same
    print(f"{done} kernels in two builds: " + ", ".join(f"{count} {key}" for key, count in sorted(counts.items())) + f"; {failed} differences")
    return 1 if failed or not all(counts[key] for key in ("worse", "better", "added", "removed", "same")) else 0


if __name__ == "__main__":
    sys.exit(main())
