#!/usr/bin/env python3
"""kernel_since.py --binary PATH --cases N --seed S: two builds compared, against `kernel --global --since`.

A case is a kernel in two builds. Each line has one or two accesses of a warp of 32 lanes to shared or to global memory: their distance is fixed, or data or the clock
decides it. They are executed once, in a loop of known or of unknown length, or if a parameter is not 0. From one build to the other all of this
changes, and lines move, come and go; one build may have no line numbers. Other lines copy 64 bytes in bulk to a number of bytes behind the tile's start:
they are refuted unless 16 divides it. The model counts words of a bank and 32-byte sectors of every pointer that is a multiple of 4, pairs the lines by
number and instruction, the rest by their order, and lists what is worse, better, undecided, added, removed and the same. It has no line of the program.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple

OPS = {("global", "load"): "ld.global.u32", ("global", "store"): "st.global.u32", ("shared", "load"): "ld.shared.u32", ("shared", "store"): "st.shared.u32",
       ("bulk", "destination"): "destination of cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"}
BARRIER = OPS["bulk", "destination"].replace("destination of", "mbarrier of")
LISTS = ("worse", "better", "added", "removed", "undecided")
PLACES = [("once", 1)] * 6 + [("loop", 2), ("loop", 3), ("open", 1), ("open", 1), ("guard", 1)]
Access = namedtuple("Access", "address place")  # a distance in words, ("data", mask) or ("clock", mask); how often it is executed
Line = namedtuple("Line", "number kind accesses")


def wavefronts(stride):
    return max(Counter(word % 32 for word in {lane * stride for lane in range(32)}).values())


def sectors(stride):
    return max(len({(pointer + 4 * lane * stride) // 32 for lane in range(32)}) for pointer in range(0, 32, 4))


def new_access(rng, memory):
    if memory == "bulk":
        return Access(rng.choice([0, 1, 8, 16, 32]), ("once", 1))
    open_address = memory == "shared" and rng.random() < 0.15
    address = (rng.choice(["data", "data", "clock"]), rng.choice([1023, 2047])) if open_address else rng.choice([0, 1, 1, 2, 3, 8, 16, 32, 33])
    return Access(address, rng.choice(PLACES))


def build(rng):
    lines = []
    for number in sorted(rng.sample(range(1, 40), rng.randrange(1, 6))):
        kind = rng.choice(list(OPS))
        lines.append(Line(number, kind, [new_access(rng, kind[0]) for _ in range(1 if kind[0] == "bulk" or rng.random() < 0.7 else 2)]))
    return lines


def changed(rng, lines):
    out = []
    for line in lines:
        change = rng.random()
        if change < 0.15:
            continue
        accesses = list(line.accesses)
        if change > 0.5:
            at = rng.randrange(len(accesses))
            new = new_access(rng, line.kind[0])
            part = rng.random()
            accesses[at] = new if part < 0.2 else accesses[at]._replace(address=new.address) if part < 0.6 else accesses[at]._replace(place=new.place)
            if line.kind[0] != "bulk" and rng.random() < 0.15:
                accesses = accesses[:1] if len(accesses) == 2 else accesses + [new]
        out.append(Line(line.number + (50 if 0.15 <= change < 0.25 else 0), line.kind, accesses))
    taken = {line.number for line in out}
    return out + [one for one in build(rng)[:2] if one.number not in taken and rng.random() < 0.4]


def address_of(access, memory):
    """Instructions that leave the address of shared memory in %r4, of global memory in %rd4."""
    if isinstance(access.address, tuple):
        what, mask = access.address
        value = ["  ld.local.u32 %r3, [own];"] if what == "data" else ["  mov.u32 %r3, %clock;"]
        return value + ["  mul.lo.u32 %r3, %r1, %r3;", f"  and.b32 %r3, %r3, {mask};", "  mad.lo.u32 %r4, %r3, 4, %r2;"]
    product = f"  mul.lo.u32 %r3, %r1, {4 * access.address};"
    if memory == "shared":
        return [product, "  add.u32 %r4, %r2, %r3;"]
    return [product, "  cvt.u64.u32 %rd3, %r3;", "  add.s64 %rd4, %rd2, %rd3;"]


def ptx(name, lines, numbered):
    text = [f".visible .entry {name}(.param .u64 p, .param .u32 n)", ".reqntid 32, 1, 1\n{", "  .reg .b32 %r<9>;", "  .reg .b64 %rd<9>;", "  .reg .pred %p<3>;",
            "  .shared .align 128 .b8 tile[8192];", "  .local .align 4 .b8 own[4];", "  ld.param.u64 %rd1, [p];", "  cvta.to.global.u64 %rd2, %rd1;", "  ld.param.u32 %r7, [n];",
            "  mov.u32 %r1, %tid.x;", "  mov.u32 %r2, tile;"]
    for count, (number, (memory, way), access) in enumerate((l.number, l.kind, a) for l in lines for a in l.accesses):
        loc = [f"  .loc 1 {number} 0"] if numbered else []
        if memory == "bulk":
            text += loc + [f"  {OPS[memory, way].split(' of ')[1]} [%r2+{access.address}], [%rd2], 64, [%r2+4096];"]
            continue
        how, times = access.place
        before, behind = [], []
        if how == "guard":
            before, behind = ["  setp.eq.u32 %p1, %r7, 0;", f"  @%p1 bra $over{count};"], [f"$over{count}:"]
        if how in ("loop", "open"):
            before = ["  mov.u32 %r6, 0;", f"$again{count}:"]
            behind = ["  add.u32 %r6, %r6, 1;", f"  setp.lt.u32 %p1, %r6, {'%r7' if how == 'open' else times};", f"  @%p1 bra $again{count};"]
        at = "[%r4]" if memory == "shared" else "[%rd4]"
        text += loc + before + address_of(access, memory) + [f"  {OPS[memory, way]} " + (f"%r5, {at};" if way == "load" else f"{at}, %r1;")] + behind
    return "\n".join(text + ["  ret;", "}"])


class Loss:
    """What the accesses of a line lose: least and most, by the number of loops of unknown length."""

    def __init__(self, line, allowed, at_most):
        memory = line.kind[0]
        self.bulk = sum(a.address % 16 != 0 for a in line.accesses) if memory == "bulk" else None
        self.undecided = memory != "bulk" and any(isinstance(a.address, tuple) and a.address[0] == "clock" for a in line.accesses)
        self.facts = []  # (least, most, loops, runs or None, most runs, address)
        for a in () if memory == "bulk" else line.accesses:
            how, times = a.place
            if isinstance(a.address, tuple):
                least, most = 0, 32 - at_most
            elif memory == "global":
                least = most = max(0, sectors(a.address) - 4 - allowed)
            else:
                least = most = max(0, wavefronts(a.address) - at_most)
            self.facts.append((least, most, int(how == "open"), times if how in ("once", "loop") else None, times, a.address))

    def once(self):
        return self.bulk if self.bulk is not None else sum(f[1] for f in self.facts)

    def certain(self):
        return self.bulk if self.bulk is not None else sum(f[0] for f in self.facts)


def order(now, before):
    """-1, 0, 1; "no more" where it is at most as much, and None."""
    def runs(facts, losing):
        return Counter((f[3], f[4]) for f in facts if f[1] or not losing)

    def between(facts, as_often):
        return [sum(f[0] * (f[4] if as_often or f[3] else 1) for f in facts), sum(f[1] * f[4] for f in facts)]

    as_often = runs(now, False) == runs(before, False) or runs(now, True) == runs(before, True)
    (least, most), (old_least, old_most) = between(now, as_often), between(before, as_often)
    if least > old_most:
        return 1
    if most < old_least:
        return -1
    if (least, most) == (old_least, old_most) and (least == most or [f for f in now if f[1]] == [f for f in before if f[1]]):
        return 0
    return "no more" if most <= old_least else None


def verdict(before, after):
    if after.bulk is not None:
        return "worse" if after.bulk > before.bulk else "better" if after.bulk < before.bulk else "same"
    answer, fewer = None, False
    for loops in (1, 0):
        one = order([f for f in after.facts if f[2] == loops], [f for f in before.facts if f[2] == loops])
        if one == 1:
            answer = "undecided" if fewer else "worse"
        elif one == -1:
            answer = "better"
        elif one is None:
            answer = "undecided"
        if answer:
            break
        fewer = fewer or one == "no more"
    answer = answer or ("better" if fewer else "same")
    return "undecided" if after.undecided and answer != "worse" else answer


def compared(old, new, allowed, at_most, numbered):
    """Counters of (op, source, before, after) by list, and the number of lines that are the same."""
    out = {key: Counter() for key in LISTS}
    same = 0
    by_line = numbered[0] == numbered[1] or not old or not new
    old, new = (side if by_line and has_numbers else [Line(l.number, l.kind, [a]) for l in side for a in l.accesses]
                for side, has_numbers in zip((old, new), numbered))  # else each instruction for itself

    def at(line, has_numbers):
        return f"k.cu:{line.number}" if has_numbers else "PTX"

    for kind, op in OPS.items():
        before, after = [l for l in old if l.kind == kind], [l for l in new if l.kind == kind]
        numbers = {l.number for l in before} & {l.number for l in after} if numbered == (True, True) else set()
        pairs = [(b, a) for b in before for a in after if b.number == a.number and a.number in numbers]
        rest_before, rest_after = ([l for l in side if l.number not in numbers] for side in (before, after))
        pairs += list(zip(rest_before, rest_after))
        fresh, gone = rest_after[len(rest_before):], rest_before[len(rest_after):]
        if kind[0] == "bulk":  # its mbarrier is at a multiple of 8
            same += len(pairs)
            out["added"] += Counter((BARRIER, at(a, numbered[1]), None, 0) for a in fresh)
            out["removed"] += Counter((BARRIER, at(b, numbered[0]), 0, None) for b in gone)
        for b, a in pairs:
            x, y = Loss(b, allowed, at_most), Loss(a, allowed, at_most)
            answer = verdict(x, y)
            same += answer == "same"
            if answer != "same":
                out[answer][op, at(a, numbered[1]), x.once(), y.once()] += 1
        for a in fresh:
            y = Loss(a, allowed, at_most)
            answer = "worse" if y.certain() else "undecided" if y.undecided or y.once() else "added"
            out[answer][op, at(a, numbered[1]), None, y.once()] += 1
        for b in gone:
            out["removed"][op, at(b, numbered[0]), Loss(b, allowed, at_most).once(), None] += 1
    return out, same


def sums(one, side):
    if "operand" not in one:
        return one["excess"][side]
    return one["refuted"][side] if one["accesses"][side] else None


def asked(binary, cases, allowed, at_most, numbered):
    """The answer to --since about these kernels, and the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("old.ptx", "new.ptx")]
        for which, path in enumerate(paths):
            with open(path, "w") as file:
                file.write('.version 8.0\n.target sm_90\n.address_size 64\n' + "\n".join(ptx(c[0], c[1 + which], numbered[which]) for c in cases) + '\n.file 1 "k.cu"\n')
        limit = ["--at-most", str(at_most)] if at_most > 1 else []
        run = subprocess.run([binary, "kernel", paths[1], "--global", "--excess-sectors", str(allowed), *limit, "--since", paths[0], "--json"],
                             capture_output=True, text=True)
    if run.returncode not in (0, 1, 3):
        sys.exit(run.stdout[-2000:] + run.stderr)
    return json.loads(run.stdout)["since"], run.returncode


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
        for number in range(done, min(done + rng.choice([5, 20, 50]), options.cases)):
            old = build(rng)
            cases.append((f"k{number}", old, changed(rng, old)))
        done += len(cases)
        allowed, at_most = rng.choice([0, 1, 1, 4]), rng.choice([1, 1, 1, 8])
        numbered = rng.choice([(True, True)] * 4 + [(True, False), (False, True), (False, False)])
        said, code = asked(options.binary, cases, allowed, at_most, numbered)
        want = {key: Counter() for key in LISTS}
        same = 0
        for name, old, new in cases:
            lists, equal = compared(old, new, allowed, at_most, numbered)
            same += equal
            for key, lines in lists.items():
                want[key] += Counter({(name, *line): count for line, count in lines.items()})
        found = {key: Counter((one["kernel"].split("(")[0], f"{one['operand']} of {one['op']}" if "operand" in one else one["op"], one["source"],
                               sums(one, "before"), sums(one, "after")) for one in said[key]) for key in want}
        for key in want:
            counts[key] += sum(want[key].values())
            for what, rest in (("missing", want[key] - found[key]), ("not expected", found[key] - want[key])):
                for one in sorted(rest, key=str):
                    failed += 1
                    print(f"{key}: {what}: {one}; --excess-sectors {allowed} --at-most {at_most}, numbers {numbered}")
        right = 1 if want["worse"] else 3 if want["undecided"] else 0
        if same != said["same"] or code != right:
            failed += 1
            print(f"{said['same']} the same instead of {same}, exit code {code} instead of {right}")
        counts["same"] += same
    print(f"{done} kernels in two builds: " + ", ".join(f"{count} {key}" for key, count in sorted(counts.items())) + f"; {failed} differences")
    return 1 if failed or not all(counts[key] for key in (*LISTS, "same")) else 0


if __name__ == "__main__":
    sys.exit(main())
