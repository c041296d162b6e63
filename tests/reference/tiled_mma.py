#!/usr/bin/env python3
"""tiled_mma.py --cases N --seed S: a reference model of tiles of several atoms, written from CuTe's definition of a TiledMMA alone.

The definition is a loop over coordinates. A position along M, N or K is a + A (t + T r): element a of the atom's A, atom t of T side by
side, repetition r. The permutation is a list that has the coordinate of each position; the coordinates that it leaves out follow as copies
of it. A thread is found by its coordinate (V,M,N,K). Atoms are those of CuTe's traits and random ones: any threads and values that take the
elements of A, B and C; those of the traits also by name, in the C++ that makes the TiledMMA. Every value of every thread, the number of holders, --at and --lane are compared.
"""
import argparse
import collections
import itertools
import json
import os
import random
import re
import sys

try:
    from swizproof import _swizproof
except ImportError:
    sys.path.insert(0, os.path.join(os.environ.get("PYTHONPATH", "").split(":")[0], "swizproof"))
    import _swizproof

# Of M, N, K; ThrID; A, B and C, each as the (extent, stride) of threads and of values.
KNOWN = [
    ((16, 8, 16), [(32, 1)], {"a": ([(4, 32), (8, 1)], [(2, 16), (2, 8), (2, 128)]), "b": ([(4, 16), (8, 1)], [(2, 8), (2, 64)]),
                              "c": ([(4, 32), (8, 1)], [(2, 16), (2, 8)])}, "MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>"),
    ((8, 8, 4), [(4, 1), (2, 16)], {"a": ([(8, 1)], [(4, 8)]), "b": ([(4, 8), (2, 4)], [(4, 1)]),
                                    "c": ([(2, 1), (2, 16), (2, 4)], [(2, 8), (2, 2), (2, 32)])}, "SM70_8x8x4_F32F16F16F32_TT"),
    ((8, 8, 4), [(4, 1), (2, 16)], {"a": ([(4, 8), (2, 4)], [(4, 1)]), "b": ([(8, 1)], [(4, 8)]), "c": ([(8, 1)], [(8, 8)])},
     "mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16"),
    ((1, 1, 1), [(1, 0)], {"a": ([(1, 0)], [(1, 0)]), "b": ([(1, 0)], [(1, 0)]), "c": ([(1, 0)], [(1, 0)])}, "cute::UniversalFMA<float, float>"),
    ((1, 1, 4), [(1, 0)], {"a": ([(1, 0)], [(4, 1)]), "b": ([(1, 0)], [(4, 1)]), "c": ([(1, 0)], [(1, 0)])}, "SM61_DP4A"),
]
MODES = {"a": (0, 2), "b": (1, 2), "c": (0, 1)}


def numbers(modes):
    """The values of modes (extent, stride), the first fastest."""
    return [sum(i * s for i, (_, s) in zip(reversed(at), modes)) for at in itertools.product(*(range(n) for n, _ in reversed(modes)))]


def text(modes):
    if len(modes) == 1:
        return f"_{modes[0][0]}:_{modes[0][1]}"
    return f"({','.join(f'_{n}' for n, _ in modes)}):({','.join(f'_{s}' for _, s in modes)})"


def joined(parts):
    """A layout of one mode for each part."""
    texts = [text(p).split(":") for p in parts]
    return f"({','.join(t[0] for t in texts)}):({','.join(t[1] for t in texts)})"


def copies(taken, count):
    """The least starts of `count` copies of a set of numbers that do not meet."""
    used, starts, start = set(), [], 0
    while len(starts) < count:
        if not any(start + x in used for x in taken):
            used |= {start + x for x in taken}
            starts.append(start)
        start += 1
    return starts


def primes(n):
    found, p = [], 2
    while n > 1:
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    return found


class Case:
    def __init__(self, draw):
        self.draw, self.odd = draw, set()
        self.operand = draw.choice("abcd")
        self.name = None
        if draw.random() < 0.6:
            self.extents, self.thread_id, layouts, self.name = draw.choice(KNOWN)
            self.layouts = dict(layouts)
        else:
            self.random_atom()
        self.atoms = [draw.choice([1, 1, 2, 2, 3, 4]) for _ in range(3)]
        threads = len(numbers(self.thread_id))
        if len(self.thread_id) > 1:
            self.odd.add("threads of an atom with gaps")
            self.atoms = [draw.choice([1, 2, 4]) for _ in range(3)]
        while threads * self.atoms[0] * self.atoms[1] * self.atoms[2] > 256:
            self.atoms[draw.randrange(3)] = 1
        self.thread_layout()
        self.permutations = [self.permutation(i) for i in range(3)]

    def random_atom(self):
        draw = self.draw
        self.odd.add("random atoms")
        self.extents = [draw.choice([1, 2, 3, 4, 6, 8, 12, 16]) for _ in range(3)]
        threads = draw.choice([1, 2, 3, 4, 6, 8, 12, 32])
        self.thread_id = [(threads, 1 if threads > 1 else 0)]
        if threads in (4, 6, 8) and draw.random() < 0.3:
            self.thread_id = [(2, 1), (threads // 2, draw.choice([2, 4, 8]))]
            if threads == 6 or self.thread_id[1][1] == 2:
                self.thread_id = [(threads, 1)]
        self.layouts = {}
        for operand, (i, j) in MODES.items():
            modes, step = [], 1
            for p in primes(self.extents[i]) + primes(self.extents[j]):
                modes.append((p, step))
                step *= p
            draw.shuffle(modes)
            of_threads, of_values, left = [], [], threads
            for n, s in modes:
                if left % n == 0 and draw.random() < 0.8:
                    of_threads.append((n, s))
                    left //= n
                else:
                    of_values.append((n, s))
            if left > 1:
                self.odd.add("threads of an atom that hold the same")
                of_threads.insert(draw.randrange(len(of_threads) + 1), (left, 0))
            self.layouts[operand] = (of_threads or [(1, 0)], of_values or [(1, 0)])

    def thread_layout(self):
        """The atoms in any order; each is a copy of the threads of the first."""
        draw = self.draw
        order = [0, 1, 2]
        if draw.random() < 0.5:
            draw.shuffle(order)
            self.odd.add("order of atoms")
        parts, count = [None] * 3, 1
        for mode in order:
            leaves = []
            for p in primes(self.atoms[mode]):
                leaves.append((p, count))
                count *= p
            if len(leaves) > 1 and draw.random() < 0.3:
                draw.shuffle(leaves)
                self.odd.add("nested atoms")
            parts[mode] = leaves or [(1, 0)]
        starts = copies(numbers(self.thread_id), count)
        self.atom_parts = parts
        self.parts = [[(n, starts[s] if n > 1 else 0) for n, s in part] for part in parts]

    def permutation(self, mode):
        """Text, and the coordinate of each position."""
        draw = self.draw
        size = self.extents[mode] * self.atoms[mode] * draw.choice([1, 1, 1, 2, 3])
        kind = draw.random()
        if kind < 0.3:
            return "_", list(range(self.extents[mode] * self.atoms[mode]))
        if kind < 0.5 or size == 1:
            return f"_{size}", list(range(size))
        part = draw.choice([d for d in range(1, self.extents[mode] + 1) if self.extents[mode] % d == 0])
        leaves = [n for n in (part, self.extents[mode] // part, self.atoms[mode], size // self.extents[mode] // self.atoms[mode]) if n > 1]
        order = list(range(len(leaves)))
        draw.shuffle(order)
        self.odd.add("permutations")
        strides, step = [0] * len(leaves), 1
        for at, j in enumerate(order):
            if at > 0 and draw.random() < 0.15:
                self.odd.add("gaps")
                step *= draw.choice([2, 3])
            strides[j] = step
            step *= leaves[j]
        modes = list(zip(leaves, strides))
        first = numbers(modes)
        every = copies(first, step // len(first))
        return text(modes), [start + x for start in every for x in first]

    def written(self):
        """As C++ makes it, its atom by name."""
        shape, stride = joined(self.atom_parts).split(":")
        cpp = [re.sub(r"\(", kind, side).replace(")", ">") for kind, side in (("Shape<", shape), ("Stride<", stride))]
        tile = ", ".join(p[0] for p in self.permutations)
        if self.draw.random() < 0.5:
            return f"make_tiled_mma({self.name}{{}}, Layout<{cpp[0]}, {cpp[1]}>{{}}, Tile<{tile}>{{}}):{self.operand}"
        return f"using Mma = TiledMMA<{self.name}, Layout<{cpp[0]},{cpp[1]}>, Tile<{tile}>>; :{self.operand}"

    def block(self):
        if self.name and not hasattr(self, "text"):
            self.text = self.written() if self.draw.random() < 0.6 else None
            if self.text:
                self.odd.add("by name")
        if self.name and self.text:
            return self.text
        threads = joined([self.thread_id] + self.parts)
        out = f"TiledMMA\n  ThrLayoutVMNK:  {threads}\n  PermutationMNK: ({','.join(p[0] for p in self.permutations)})\nMMA_Atom\n"
        out += f"  ThrID:      {text(self.thread_id)}\n  Shape_MNK:  ({','.join(f'_{n}' for n in self.extents)})\n"
        for operand in "abc":
            out += f"  Layout{operand.upper()}_TV: {joined(self.layouts[operand])}\n"
        return out + f":{self.operand}"

    def model(self):
        """{thread: [(i, j) of each value]} and the extents of the tile."""
        of = "c" if self.operand == "d" else self.operand
        i, j = MODES[of]
        thread_of, values_of = map(numbers, self.layouts[of])
        positions = [self.permutations[m][1] for m in (i, j)]
        extents = [len(p) for p in positions]
        rests = [n // self.extents[m] // self.atoms[m] for n, m in zip(extents, (i, j))]
        v_numbers = numbers(self.thread_id)
        atoms = [numbers(part) for part in self.parts]
        held = {}
        for v, start in enumerate(v_numbers):
            for at in itertools.product(*(range(len(a)) for a in atoms)):
                thread = start + sum(a[x] for a, x in zip(atoms, at))
                mine = []
                for rj in range(rests[1]):
                    for ri in range(rests[0]):
                        for value in values_of:
                            e = thread_of[v] + value
                            a = (e % self.extents[i], e // self.extents[i])
                            mine.append(tuple(p[x + n * (t + count * r)] for p, x, n, t, count, r in
                                              zip(positions, a, (self.extents[i], self.extents[j]), (at[i], at[j]),
                                                  (self.atoms[i], self.atoms[j]), (ri, rj))))
                held[thread] = mine
        return held, extents


def compare(case, draw, counts):
    """Where the program says something else, in words; or nothing."""
    held, extents = case.model()
    turned = case.operand == "b"
    code, document, _ = _swizproof.answer(["fragment", case.block(), "--json"])
    out = json.loads(document)
    if "error" in out and "divisibility condition" in out["error"]["message"]:
        counts["not made by CuTe: a layout of the atom splits a factor of the permutation"] += 1
        return None
    if "error" in out:
        return out["error"]["message"]
    if "fragment" not in (out["elements"] or [{}])[0]:  # one atom that is an instruction
        counts["one known atom"] += 1
        return None
    if out["shape"] != (extents[::-1] if turned else extents):
        return f"shape {out['shape']}, model {extents}"
    found = collections.defaultdict(list)
    for e in out["elements"]:
        found[e["lane"]].append((e["column"], e["row"]) if turned else (e["row"], e["column"]))
    counts["values"] += len(out["elements"])
    for thread, mine in held.items():
        if found[thread] != mine:
            return f"thread {thread}: {found[thread][:8]}, model {mine[:8]}"
    if len(found) > len(held):
        counts["with threads between those of the atoms"] += 1
        for thread, theirs in found.items():
            if thread not in held and theirs not in held.values():
                return f"thread {thread} holds what no thread of an atom does"
    number = collections.Counter(e for mine in found.values() for e in mine)
    if out["held_by"] != [min(number.values()), max(number.values())] or out["verdict"] != "proved":
        return f"held by {out['held_by']}, {out['verdict']}; model {min(number.values())} to {max(number.values())}"
    counts["held by several"] += max(number.values()) > 1
    if draw.random() < 0.2:
        i, j = draw.randrange(extents[0]), draw.randrange(extents[1])
        _, document, _ = _swizproof.answer(["fragment", case.block(), "--json", "--at", f"{j},{i}" if turned else f"{i},{j}"])
        theirs = [(e["lane"], e["value"]) for e in json.loads(document)["elements"]]
        ours = [(t, v) for t, mine in found.items() for v, e in enumerate(mine) if e == (i, j)]
        counts["--at"] += 1
        if sorted(theirs) != sorted(ours):
            return f"--at {i},{j}: {theirs}, model {ours}"
    if draw.random() < 0.2:
        thread = draw.choice(list(held))
        _, document, _ = _swizproof.answer(["fragment", case.block(), "--json", "--lane", str(thread)])
        theirs = [(e["column"], e["row"]) if turned else (e["row"], e["column"]) for e in json.loads(document)["elements"]]
        counts["--lane"] += 1
        if theirs != held[thread]:
            return f"--lane {thread}: {theirs}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    counts, odd, wrong = collections.Counter(), collections.Counter(), 0
    for n in range(options.cases):
        case = Case(random.Random(draw.randrange(1 << 60)))
        case.block()
        for what in case.odd:
            odd[what] += 1
        difference = compare(case, draw, counts)
        if difference:
            wrong += 1
            print(f"seed {options.seed} case {n}: {difference}\n{case.block()}")
    print(f"{options.cases} cases, seed {options.seed}: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    print("odd: " + ", ".join(f"{k} {v}" for k, v in sorted(odd.items())) + f"; {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
