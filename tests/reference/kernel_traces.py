#!/usr/bin/env python3
"""kernel_traces.py TRACE PTX BLOCK [SEEDS]: looks for each lane pattern that a GPU recorded among those of the interpreter.

Checks ptx_interpreter.py and assumption H17 (ptxas executes the shared-memory instructions of the PTX) at once. A recorded pattern
counts as found if an instruction of the same kind and width on the same source line has it, up to a translation, and as merged if two
instructions of half the width have it 0 and half the width further (ptxas joins neighbours). No recorded instruction may cost more than
the interpreter saw. Exit code 1 if a pattern is missing.
"""
import json
import re
import shutil
import subprocess
import sys

import numpy as np

import ptx_interpreter as ptx

KINDS = {"ld.shared": "ld", "st.shared": "st", "ldmatrix": "matrix", "stmatrix": "matrix", "cp.async": "cp"}


def source_lines(text):
    """For each line of the PTX the set of source lines of its .loc: its own and those that it is inlined at."""
    current, result = set(), {}
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*\.loc\s+\d+\s+(\d+)\s+\d+(.*)", line)
        if match:
            current = {int(match.group(1))}
            inlined = re.search(r"inlined_at\s+\d+\s+(\d+)", match.group(2))
            if inlined:
                current.add(int(inlined.group(1)))
        result[number] = current
    return result


def demangled(name):
    for tool in ("cu++filt", "/usr/local/cuda/bin/cu++filt", "c++filt"):
        if shutil.which(tool):
            return subprocess.run([tool, name], capture_output=True, text=True, check=True).stdout.strip()
    return name


def key(name):
    """What the compiler's name and the trace's have in common."""
    name = re.sub(r"\(anonymous namespace\)|_GLOBAL__N__\w+?_main|::|\b_INTERNAL_\w+", "", name)
    return re.sub(r"\s|\(int\)", "", name.split("(float")[0])


def pattern_key(address):
    low = min(a for a in address if a is not None)
    return np.array([-1 if a is None else a - low for a in address], dtype=np.int64).tobytes()


def kind_of(op):
    for prefix, kind in KINDS.items():
        if op.startswith(prefix):
            size = 16 if kind == "matrix" else int(re.search(r"b(\d+)", op).group(1)) // 8
            matrices = int(op.split(".x")[1][0]) if kind == "matrix" else 0
            return kind, size, matrices
    return None


def main(trace, path, block, seeds=6):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    module, where = ptx.Module(text), source_lines(text)
    kernels = {}
    for function in module.functions.values():
        if not function.entry:
            continue
        machine = ptx.Machine(module, function)
        machine.program(function)
        table = kernels[key(demangled(function.name))] = {}
        for seed in range(int(seeds)):
            for (line, _), seen in machine.run(block, seed, 2000000, base=1024).items():
                for source in where[line]:
                    entry = table.setdefault((source, seen.kind, seen.size, seen.matrices), [set(), 0])
                    entry[0] |= seen.patterns
                    entry[1] = max(entry[1], seen.most)
    with_shared = [table for table in kernels.values() if table]
    alone = with_shared[0] if len(with_shared) == 1 else None  # names of templates differ between demanglers
    found = missing = skipped = instructions = worse = merged = 0
    with open(trace, encoding="utf-8") as file:
        for row in map(json.loads, file):
            if "patterns" not in row:
                continue
            what = kind_of(row["op"])
            table = kernels.get(key(row["kernel"]), alone)
            if what is None or table is None:
                skipped += 1
                continue
            instructions += 1
            patterns, most = table.get((row["line"],) + what, (set(), 0))
            recorded = max(p["wavefronts"] for p in row["patterns"])
            halves = table.get((row["line"], what[0], what[1] // 2, 0), (set(), 0))[0]
            joined = not patterns and all(pattern_key(p["address"]) in halves for p in row["patterns"])
            worse += recorded > most and not joined
            for p in row["patterns"]:
                here = pattern_key(p["address"]) in patterns
                found, merged, missing = found + here, merged + joined, missing + (not here and not joined)
                if not here and not joined:
                    print(f"not found: {row['file']}:{row['line']} {row['sass']} {row['op']} wavefronts {p['wavefronts']} {p['address']}")
    print(f"{trace}: {instructions} instructions, {found + merged + missing} patterns: {found} found, {merged} merged, {missing} missing; {worse} instructions cost more"
          f" than the interpreter saw; {skipped} instructions without a model or kernel")
    return 1 if missing or worse or not found else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    shape = tuple(int(x) for x in sys.argv[3].split(","))
    sys.exit(main(sys.argv[1], sys.argv[2], shape + (1,) * (3 - len(shape)), *sys.argv[4:]))
