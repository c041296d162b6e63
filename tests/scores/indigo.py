#!/usr/bin/env python3
"""Indigo's microbenchmarks (as in JohnJacobsonIII/HiRace-Artifact-SC24, indigo/indigo_sources): loops over a graph, with bugs that are in the names of the files.

`flow` executes each kernel on one graph of 16 vertices, in 16 blocks of 64 threads, as nvcc compiles it. The labels are of the names: atomicBug, guardBug (an unguarded read next to atomics), raceBug and syncBug are
races; boundsBug is an access out of bounds, for the first vertex and the last have no neighbours; without a bug a kernel is race free. Kernels that go through their edges in the other direction (reverse) are left out.
"""
import suite

VERTICES = 16
LAST = VERTICES - 1
#: The first neighbours of many vertices are the same, and so are the last: threads meet there.
EDGES = {i: [LAST - i % 2, (i + 1) % VERTICES, (i + 5) % VERTICES, LAST - (i + 1) % 2] for i in range(1, LAST)}
STARTS = [sum(len(EDGES.get(i, [])) for i in range(end)) for end in range(VERTICES + 1)]
NLIST = [edge for i in range(VERTICES) for edge in EDGES.get(i, [])]
NUMBERS = {"nindex": STARTS, "nlist": NLIST, "data1": [0] * len(NLIST), "data2": [(7 * k + 3) % 61 for k in range(len(NLIST))]}
KINDS = {"atomicBug": "race", "guardBug": "race", "raceBug": "race", "syncBug": "race", "boundsBug": "out of bounds"}


def label_of(name):
    """The kinds of fault that a name has."""
    kinds = dict.fromkeys(kind for bug, kind in KINDS.items() if bug in name)
    return "/".join(kinds) or "race free"


def main():
    options = ["--block", "64", "--grid", str(VERTICES), "--param", f"4={VERTICES}"]
    for k, (name, values) in enumerate(NUMBERS.items()):
        options += ["--param", f"{k}={name}:i32[{len(values)}]={','.join(map(str, values))}"]
    folder = s.checkout / "indigo"
    for source in sorted((folder / "indigo_sources").rglob("*.cu")):
        name = source.stem
        if not s.wanted(name) or "reverse" in name:
            continue
        try:
            s.ask(name, label_of(name), s.compile(source, name, f"-I{folder / 'indigo_include'}"), *options)
        except suite.Failed as failed:
            s.not_asked(name, label_of(name), str(failed))
    s.end()


if __name__ == "__main__":
    s = suite.Suite("Indigo in JohnJacobsonIII/HiRace-Artifact-SC24")
    main()
