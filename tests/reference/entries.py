#!/usr/bin/env python3
"""entries.py --cases N --seed S: a reference model of the entries that `fragment --tv`, `tma --box`, `tma --im2col` and `convert --to` print with
--emit toml.

Random questions go to the commands in one process, through the Python module; their entries, and each with a value changed, go to one call of
`prove`. Compared are the command's verdict, the entry's, and this file's:
  tv       CuTe's number of every thread and value, from PTX's formulas of m16n8k8, m16n8k16 and m16n8k32, and of ldmatrix
  box      the rules of cuda.h, as in tma_box.py
  convert  the units that the tile and its conversion cover, one by one
Every difference is printed with its command line; exit 1.
"""
import argparse
import collections
import json
import random
import re
import sys
import tempfile

from emitted import Case, ask, product, read_layout
from tma_box import INNER, PACKED, PLAIN, SHARED, legal

OPERANDS = {  # (row, column) of value v of a lane, rows, and values; CuTe's number is row + rows * column, of B n + 8 k
    "mma.m16n8k16.f16:a": (lambda l, v: (l // 4 + v // 2 % 2 * 8, l % 4 * 2 + v % 2 + v // 4 * 8), 16, 8),
    "mma.m16n8k16.bf16:b": (lambda l, v: (l // 4, l % 4 * 2 + v % 2 + v // 2 * 8), 8, 4),
    "mma.m16n8k16.f16:d": (lambda l, v: (l // 4 + v // 2 * 8, l % 4 * 2 + v % 2), 16, 4),
    "mma.m16n8k8.f16:a": (lambda l, v: (l // 4 + v // 2 * 8, l % 4 * 2 + v % 2), 16, 4),
    "mma.m16n8k32.s8:b": (lambda l, v: (l // 4, l % 4 * 4 + v % 4 + v // 4 * 16), 8, 8),
}
RIGHT = {
    "mma.m16n8k16.f16:a": "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "mma.m16n8k16.bf16:b": "((4,8),(2,2)):((16,1),(8,64))",
    "mma.m16n8k16.f16:d": "((4,8),(2,2)):((32,1),(16,8))",
    "mma.m16n8k8.f16:a": "((4,8),(2,2)):((32,1),(16,8))",
    "mma.m16n8k32.s8:b": "((4,8),(4,2)):((32,1),(8,128))",
}


def numbers_of(text):
    """All leaves of a shape or of strides."""
    return list(map(int, re.findall(r"-?\d+", text)))


def evaluated(text, thread, value):
    """A layout of two modes at (thread, value)."""
    shape, stride = text.split(":")
    pairs, out = list(zip(numbers_of(shape), numbers_of(stride))), 0
    first = eval(shape)[0]
    of_threads = len(numbers_of(str(first)))
    for index, part in ((thread, pairs[:of_threads]), (value, pairs[of_threads:])):
        for extent, step in part:
            out += index % extent * step
            index //= extent
    return out


def tv_case(rng):
    of = rng.choice(list(OPERANDS))
    holds, rows, values = OPERANDS[of]
    shape, stride = RIGHT[of].split(":")
    how = rng.choice(["right", "right", "split", "strides", "values", "number"])
    steps = numbers_of(stride)
    if how == "strides":
        a, b = rng.sample(range(len(steps)), 2)
        steps[a], steps[b] = steps[b], steps[a]
    elif how == "values":
        steps[-1], steps[-2] = steps[-2], steps[-1]
    elif how == "number":
        steps[rng.randrange(len(steps))] += rng.choice([-1, 1, 8])
    given = iter(steps)
    stride = re.sub(r"\d+", lambda _: str(next(given)), stride)
    if how == "split":  # the same function, written in smaller modes
        shape, stride = shape.replace(",8)", ",(4,2))", 1), stride.replace(",1)", ",(1,4))", 1)
    tv = f"{shape}:{stride}"
    same = all(evaluated(tv, l, v) == holds(l, v)[0] + rows * holds(l, v)[1] for l in range(32) for v in range(values))
    arch = rng.choice([[], [], ["--arch", "sm_90"], ["--arch", "sm_100"]])
    return ["fragment", of, "--tv", tv] + arch, same, None


def box_case(rng):
    kind, mode, arch = rng.choice(list(PLAIN) + list(PACKED) * 3), rng.choice(list(INNER)), rng.choice(["sm_90", "sm_100", "sm_120"])
    im2col = rng.random() < 0.3
    extent = lambda: rng.choice([1, 2, 3, 8, 16, 32, 48, 64, 128, 128, 256, 257, 0, 512, 1024, 1025])
    box = [extent() for _ in range(2 if im2col else rng.choice([1, 2, 2, 3, 5, 6]))]
    words = ["tma", "--im2col" if im2col else "--box", ",".join(map(str, box)), "--element", kind, "--swizzle", mode, "--arch", arch]
    right = legal(kind, box, mode, arch, im2col) and size_of(kind, box, mode) <= SHARED[arch]
    changed = None
    if not im2col and len(box) < 5:  # another box in the entry
        other = box[:-1] + [max(1, box[-1] // 2)]
        fits = legal(kind, other, mode, arch, im2col) and size_of(kind, other, mode) <= SHARED[arch]
        changed = (lambda text: text.replace(f"box = [{', '.join(map(str, box))}]", f"box = [{', '.join(map(str, other))}]"), fits)
    return words, right, changed


def size_of(kind, box, mode):
    bits, group = PACKED[kind] if kind in PACKED else (PLAIN[kind], 2 * PLAIN[kind])
    return max(box[0] * group // 16, INNER[mode] or 0) * product(tuple(box[1:]) or 1)


def keeps_units(case, n):
    """True if the tile has whole units of n elements alone, and its swizzle of elements leaves each of them whole."""
    if case.by_bytes or not case.f or n < 2:
        return False
    units = collections.defaultdict(set)
    for i in range(case.layout.size):
        before, after = case.first(i), case.value(i)
        units[before // n].add((before % n, after % n, after // n))
    return all(len(u) == n and all(b == a for b, a, _ in u) and len({to for _, _, to in u}) == 1 for u in units.values())


def convert_case(rng):
    case = Case(rng)
    if case.kind == "function" or case.element == "fp4":
        return None
    unit = rng.choice([8, 16, 32, 64, 4, 1])
    if unit == case.bits:
        return None
    words = ["convert", case.text(), "--element", f"{case.bits}b", "--to", f"{unit}b"]
    code, answer, _ = ask(words)
    if code == 2:
        return None
    layout, value = read_layout(answer["converted"])
    given = []
    for i in range(case.layout.size):
        if case.by_bytes:
            given += [case.bit(i, b) for b in range(case.bits)]
        else:
            v = case.value(i) if case.f else case.first(i)
            given += range(v * case.bits, (v + 1) * case.bits)
    covered = sorted(value(i) * unit + b for i in range(layout.size) for b in range(unit))
    # A conversion keeps elements whole: it is another tile where the swizzle of bytes splits them.
    whole = all(given[i] == given[i - i % case.bits] + i % case.bits for i in range(len(given)))
    same = whole and sorted(given) == covered
    if any("units do not stay whole" in note for note in answer.get("notes", [])):
        same = keeps_units(case, unit // case.bits)  # of the tile: elsewhere the swizzle may split them
    # What it gives, with one stride that is another: false, unless the mode has one index.
    gives = answer["converted"]
    shape, stride = gives.rsplit(":", 1)
    steps = numbers_of(stride)
    at = rng.randrange(len(steps))
    steps[at] += 1
    given_steps = iter(steps)
    other = shape + ":" + re.sub(r"-?\d+", lambda _: str(next(given_steps)), stride)
    _, wrong_value = read_layout(other)
    still = same and all(value(i) == wrong_value(i) for i in range(layout.size))
    return words, same, (lambda text: text.replace(gives, other), still)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, counts, differences = random.Random(options.seed), collections.Counter(), 0
    asked, entries = [], []
    while counts["cases"] < options.cases:
        made = rng.choice([tv_case, box_case, convert_case])(rng)
        if made is None:
            continue
        words, right, changed = made
        code, answer, error = ask(words + ["--emit", "toml"])
        counts["cases"] += 1
        counts[words[0]] += 1
        if code == 2:
            differences += 1
            print(words, "is refused:", error)
            continue
        counts[answer["verdict"]] += 1
        if (answer["verdict"] == "proved") != right:
            differences += 1
            print(words, "is", answer["verdict"])
        for text, expected in [(answer["obligation"], right)] + ([(changed[0](answer["obligation"]), changed[1])] if changed else []):
            entries.append(re.sub(r"^name = .*$", f'name = "{len(entries)}"', text, count=1, flags=re.M))
            asked.append((words, text, expected))
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write("\n".join(entries))
        file.flush()
        _, document, error = ask(["prove", file.name])
    claims = document.get("claims", [])
    if len(claims) != len(asked):
        differences += 1
        print(f"{len(claims)} verdicts of {len(asked)} entries: {error}")
    for claim, (words, text, expected) in zip(claims, asked):
        counts["entries"] += 1
        counts["entries " + claim["verdict"]] += 1
        if claim["verdict"] != ("proved" if expected else "refuted"):
            differences += 1
            print(words, "\n" + text + "is", claim["verdict"], claim.get("error", claim["detail"]))
    print(f"{counts['cases']} cases, seed {options.seed}: " + ", ".join(f"{counts[k]} {k}" for k in (
        "fragment", "tma", "convert", "proved", "refuted", "entries", "entries proved", "entries refuted")) + f"; {differences} differences")
    sys.exit(1 if differences or not counts["entries refuted"] or not counts["entries proved"] else 0)


if __name__ == "__main__":
    main()
