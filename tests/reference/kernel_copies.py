#!/usr/bin/env python3
"""kernel_copies.py --binary PATH --cases N --seed S: wavefronts of cp.async.cg by enumeration (H22), compared with `kernel` on PTX.

A case is a kernel with one copy of 16 bytes a lane. Its lanes read rows of 1 to 32 units and write rows, each at a pitch, with a shift and perhaps an XOR of the units by
the number of the row; a guard may switch lanes off, a loop may move both sides, a pitch may be the parameter n. The model computes the addresses of every lane of every
warp in each iteration, for each start modulo 128 that --pointers leaves (0 without it) and for many n. It counts moves of sectors as sets, in its own words, and has no line of the
program. Each execution must cost no more than a proof says, a refuted copy must have an execution above its allowance, and a number that is reached must be the most.
"""
import collections
import itertools
import random
import sys
import tempfile

from asking import kernels_of, options_of, print_sums

UNIT, SECTOR, LINE = 16, 32, 128


def wavefronts(pairs):
    """Wavefronts of pairs (source, destination) of addresses, in the order of the lanes."""
    moved = {}
    for source, destination in pairs:
        moved.setdefault(destination // UNIT, source // UNIT)
    sectors = collections.defaultdict(set)
    for destination, source in moved.items():
        sectors[source >> 1, destination >> 1].add((source & 1, destination & 1))
    groups = collections.defaultdict(list)
    for (source, destination), halves in sectors.items():
        whole = halves in ({(0, 0), (1, 1)}, {(0, 1), (1, 0)})
        for kind in [tuple(sorted(halves))] if whole else halves:
            groups[source >> 2, destination >> 2, kind, (source ^ destination) & 1].append((source, destination))
    return sum(max(max(collections.Counter(side).values()) for side in zip(*moves)) for moves in groups.values())


def best(pairs):
    """The fewest wavefronts with any destination that gives each lane a unit of its own: how many sectors of a line are moved whole is tried."""
    lines = collections.defaultdict(lambda: [[0, 0] for _ in range(4)])
    for source, _ in pairs:
        lines[source // LINE][source // SECTOR % 4][source // UNIT % 2] += 1
    total = 0
    for line in lines.values():
        total += min(max(x) + max(a - k for (a, _), k in zip(line, x)) + max(b - k for (_, b), k in zip(line, x))
                     for x in itertools.product(*(range(min(a, b) + 1) for a, b in line)))
    return total


class Side:
    """Bytes of thread t from a start: row * pitch + unit, swizzled and shifted."""

    def __init__(self, rng, shared, unknown):
        self.width = rng.choice([1, 2, 4, 4, 8, 8, 16, 32])
        pitches = [self.width, self.width, 8, 16, 64, self.width + 1, rng.randrange(0 if rng.random() < 0.2 else 1, 12 if shared else 70)]
        self.pitch = rng.choice(pitches)
        self.shift = rng.choice([0, 0, 0, 0, 1, 2, 3, 4, 8, rng.randrange(16)])
        self.mask = rng.choice([0, 0, 1, 3, 7]) if self.width > 1 else 0
        self.mask &= self.width - 1
        self.every = rng.randrange(3)
        self.flip = rng.choice([0, 0, 0, 1, 2, 5, 31])
        self.unknown = unknown
        self.step = rng.choice([0, 0, 1, 2, 8, 64, 256])  # units for each iteration

    def at(self, t, n, i):
        t ^= self.flip
        row, column = t // self.width, t % self.width ^ (t // self.width >> self.every & self.mask)
        return UNIT * (row * (n if self.unknown else self.pitch) + column + self.shift + i * self.step)

    def ptx(self, r):
        """Leaves the bytes in %r{r}; %r1 has t, %r3 n, %r2 i."""
        bits = self.width.bit_length() - 1
        pitch = "%r3" if self.unknown else str(self.pitch)
        return [f"xor.b32 %r{r + 1}, %r1, {self.flip};", f"shr.u32 %r{r + 2}, %r{r + 1}, {bits};", f"and.b32 %r{r + 3}, %r{r + 1}, {self.width - 1};",
                f"shr.u32 %r{r + 4}, %r{r + 2}, {self.every};", f"and.b32 %r{r + 4}, %r{r + 4}, {self.mask};", f"xor.b32 %r{r + 3}, %r{r + 3}, %r{r + 4};",
                f"mad.lo.u32 %r{r}, %r{r + 2}, {pitch}, %r{r + 3};", f"mad.lo.u32 %r{r}, %r2, {self.step}, %r{r};",
                f"add.u32 %r{r}, %r{r}, {self.shift};", f"shl.b32 %r{r}, %r{r}, 4;"]


class Case:
    """A kernel with one copy."""

    def __init__(self, number, rng, threads):
        self.name, self.threads = f"k{number}", threads
        self.unknown = rng.random() < 0.15
        self.source, self.destination = Side(rng, False, self.unknown), Side(rng, True, False)
        if rng.random() < 0.4:
            self.destination.flip, self.destination.width = self.source.flip, self.source.width
            self.destination.mask &= self.source.width - 1
        if rng.random() < 0.3:
            self.destination.pitch = self.destination.width
        self.guard = rng.choice(["", "", "", "below", "even", "n", "bit"])
        self.limit = rng.randrange(1, 40)
        self.trips = rng.choice([1, 1, 1, 2, 3])

    def active(self, t, n):
        return {"": True, "below": t < self.limit, "even": t % 2 == 0, "n": t < n, "bit": n % 2 == 1}[self.guard]

    def takes_n(self):
        return self.unknown or self.guard in ("n", "bit")

    def ptx(self):
        guards = {"": [], "below": [f"setp.lt.u32 %p1, %r1, {self.limit};"], "even": ["and.b32 %r4, %r1, 1;", "setp.eq.u32 %p1, %r4, 0;"],
                  "n": ["setp.lt.u32 %p1, %r1, %r3;"], "bit": ["and.b32 %r4, %r3, 1;", "setp.eq.u32 %p1, %r4, 1;"]}
        text = [f".visible .entry {self.name}(.param .u64 g, .param .u32 n)", f".reqntid {self.threads}, 1, 1", "{", ".reg .pred %p<4>;",
                ".reg .b32 %r<40>;", ".reg .b64 %rd<9>;", f".shared .align 128 .b8 {self.name}_tile[65536];",
                "ld.param.u64 %rd1, [g];", "ld.param.u32 %r3, [n];", "mov.u32 %r1, %tid.x;", f"mov.u32 %r5, {self.name}_tile;", "mov.u32 %r2, 0;", "LOOP:"]
        text += self.source.ptx(10) + self.destination.ptx(20) + guards[self.guard]
        text += ["cvt.u64.u32 %rd2, %r10;", "add.u64 %rd3, %rd1, %rd2;", "add.u32 %r6, %r5, %r20;",
                 ("@%p1 " if self.guard else "") + "cp.async.cg.shared.global [%r6], [%rd3], 16;",
                 "add.u32 %r2, %r2, 1;", f"setp.lt.u32 %p2, %r2, {self.trips};", "@%p2 bra LOOP;", "ret;", "}"]
        return "\n".join(text) + "\n"

    def executions(self, starts, numbers):
        """Pairs of each execution, each once."""
        seen = set()
        for n, i, warp in itertools.product(numbers if self.takes_n() else [0], range(self.trips), range(0, self.threads, 32)):
            lanes = [t for t in range(warp, min(warp + 32, self.threads)) if self.active(t, n)]
            if not lanes:
                continue
            offsets = [(self.source.at(t, n, i), 0x400 + self.destination.at(t, n, i)) for t in lanes]
            for start in starts:
                pairs = tuple((start + s, d) for s, d in offsets)
                if pairs not in seen:
                    seen.add(pairs)
                    yield pairs


def compare(case, answer, at_most, pointers, odd):
    """What is wrong with an answer; nothing if it is right."""
    access, = answer["accesses"]
    verdict = access["verdict"]
    assumed = " ".join(answer.get("assumed", []) + answer.get("rests_on", []))
    rows = "whole sectors of one line" in assumed
    above, most, excess, repeated = False, 0, 0, False
    costs = set()
    numbers = list(range(0, 72)) + [77, 128, 256, 1000]
    for pairs in case.executions(range(0, LINE, LINE if pointers is None else max(pointers, UNIT)), numbers):
        if rows:
            cost, least = len({d // LINE for _, d in pairs}), 4
        else:
            cost, least = wavefronts(pairs), best(pairs)
            if len({s for s, _ in pairs}) < len(pairs):
                repeated = True
        allowed = at_most if at_most is not None else least
        most, excess = max(most, cost), max(excess, cost - least)
        costs.add((cost, least))
        # Lanes that read one unit may take more, and the best destination for them is not known.
        twice = not rows and len({s for s, _ in pairs}) < len(pairs)
        above = above or (cost > allowed and (not twice or (at_most is not None and cost == len(pairs))))
        if verdict == "proved" and cost > allowed:
            return f"proved, but {cost} of {allowed}: {pairs}"
        if access["wavefronts"] is not None and cost > access["wavefronts"]:
            return f"{cost} wavefronts are more than {access['wavefronts']}"
    if not rows and not repeated and access["wavefronts"] is not None:
        if access["excess"] < excess:
            return f"excess {access['excess']}, and an execution has {excess}"
        shown = access["wavefronts"] if access["reached"] else access.get("seen")
        if at_most is None and verdict == "refuted" and shown and not case.takes_n():
            if (shown, access["ideal"]) not in costs:
                return f"{shown} of {access['ideal']} is the cost of no execution"
            if access["excess"] != excess:
                return f"excess {access['excess']}, and {excess} is the most"
    odd[f"{verdict}{', rows' if rows else ''}{', n' if case.takes_n() else ''}{', repeated' if repeated else ''}"] += 1
    if verdict == "refuted" and not access.get("reason") and not above:
        return "refuted, but no execution takes more"
    if verdict == "proved" and not rows and not repeated and not case.takes_n() and access["wavefronts"] != most:
        return f"{access['wavefronts']} wavefronts, and {most} are the most"
    if verdict != "refuted" and not rows and above and not case.takes_n() and not (verdict == "unknown" and repeated):
        return f"{verdict}, but an execution takes more"
    return ""


def main():
    arguments = options_of(__doc__, 400)
    rng = random.Random(arguments.seed)
    odd, wrong, done = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while done < arguments.cases:
            at_most = rng.choice([None, None, rng.randrange(1, 33)])
            pointers = rng.choice([None, 1, 16, 32, 64, 128, 256])
            words = ([] if pointers is None else ["--pointers", str(pointers)]) + ([] if at_most is None else ["--at-most", str(at_most)])
            cases = [Case(done + k, rng, rng.choice([32, 32, 64, 96, 17, 40])) for k in range(min(40, arguments.cases - done))]
            answers = kernels_of(arguments.binary, folder, "".join(case.ptx() for case in cases), *words)
            for case in cases:
                fault = compare(case, answers[case.name], at_most, pointers, odd)
                if fault:
                    wrong += 1
                    print(f"{case.name} {' '.join(words)}: {fault}\n{case.ptx()}", file=sys.stderr)
            done += len(cases)
    print(f"{done} cases, {wrong} wrong")
    print_sums(odd)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
