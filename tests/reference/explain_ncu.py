#!/usr/bin/env python3
"""explain_ncu.py --binary PATH --cases N --seed S: the use of the shared-memory pipe that `explain --ncu` reads, against another reader of ncu's exports.

A case is an export of random launches of two kernels of a trace, and of others, as Nsight Compute writes it: a line for each metric, or a column, with a
row of units; with groups of thousands or fractions of zeros, n/a, columns in any order, messages of the profiler and the program before the table, several
tables. Written from docs/kernels.md: of the pairs of metrics that a launch has, the first counts, and launches are summed; a kernel whose launches
have different pairs has none.
"""
import argparse
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
PAIRS = [("busiest SM", WAVEFRONTS + ".max", "sm__cycles_elapsed.max"), ("active SMs", WAVEFRONTS + ".sum", "sm__cycles_active.sum"),
         ("all SMs", WAVEFRONTS + ".sum", "sm__cycles_elapsed.sum")]
METRICS = sorted({name for pair in PAIRS for name in pair[1:]})
OTHERS = ["gpu__time_duration.sum", "launch__grid_size", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed"]
#: Names of the trace, and as ncu writes them.
KERNELS = {"void transpose<32>(float*, float const*)": "void transpose<32>(float *, const float *)",
           "void transpose_padded<32>(float*, float const*)": "void transpose_padded<32>(float *, const float *)"}


def number(rng, value):
    return rng.choice([str(value), f"{value:,}", f"{value}.000000", f"{value:,}.00"])


class Export:
    def __init__(self, rng):
        self.rng, self.launches, self.wide = rng, [], rng.random() < 0.5
        # A table has some metrics; a launch lacks one now and then.
        for _ in range(rng.choice([1, 1, 1, 2])):
            metrics = [m for m in METRICS if rng.random() < 0.7]
            self.launches.append((metrics, [self.launch(metrics) for _ in range(rng.randrange(1, 6))]))

    def launch(self, metrics):
        name = self.rng.choice(list(KERNELS.values()) + ["other(int)", "void transpose<64>(float *, const float *)"])
        cycles = self.rng.randrange(2000, 10**self.rng.randrange(4, 9))
        values = {m: cycles if "cycles" in m else self.rng.randrange(0, cycles) for m in metrics}
        if values and self.rng.random() < 0.1:
            values[self.rng.choice(sorted(values))] = None
        return name, values

    def text(self):
        out = io.StringIO()
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        if self.rng.random() < 0.5:
            out.write("==PROF== Connected to process 1352 (app)\ntranspose, naive                 right   676885.7 us\n==PROF== Disconnected from process 1352\n")
        identity = 0
        for metrics, launches in self.launches:
            if self.wide:
                shown = metrics + [o for o in OTHERS if self.rng.random() < 0.6]
                self.rng.shuffle(shown)
                writer.writerow(["ID", "Process ID", "Kernel Name", "Grid Size"] + shown)
                writer.writerow(["", "", "", ""] + ["cycle" if "cycles" in m else "" for m in shown])
            else:
                writer.writerow(["ID", "Process ID", "Kernel Name", "Section Name", "Metric Name", "Metric Unit", "Metric Value"])
            for name, values in launches:
                if self.wide:
                    cells = [("n/a" if values[m] is None else number(self.rng, values[m])) if m in values else "17" for m in shown]
                    writer.writerow([identity, 7, name, "(1, 1, 1)"] + cells)
                for m in [] if self.wide else self.rng.sample(metrics, len(metrics)) + self.rng.sample(OTHERS, 1):
                    value = "17" if m not in values else "n/a" if values[m] is None else number(self.rng, values[m])
                    writer.writerow([identity, 7, name, "Command line profiler metrics", m, "cycle" if "cycles" in m else "", value])
                identity += 1
        return out.getvalue()

    def answer(self):
        """The pipe of each kernel of the trace, and whether any launch has one."""
        found, any_use = {}, False
        for _, launches in self.launches:
            for name, values in launches:
                use = next(((of, values[w], values[c]) for of, w, c in PAIRS if values.get(w) is not None and values.get(c) is not None), None)
                if use is None:
                    continue
                any_use = True
                found.setdefault(name, []).append(use)
        pipes = {}
        for ours, theirs in KERNELS.items():
            uses = found.get(theirs, [])
            if uses and len({u[0] for u in uses}) == 1:
                pipes[ours] = {"wavefronts": sum(u[1] for u in uses), "cycles": sum(u[2] for u in uses), "of": uses[0][0]}
        return pipes, any_use


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    trace = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/data/trace/transpose.jsonl")
    failed, kinds = 0, Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "export.csv")
        for case in range(options.cases):
            export = Export(rng)
            text = export.text()
            with open(path, "w") as file:
                file.write(text)
            want, any_use = export.answer()
            run = subprocess.run([options.binary, "explain", trace, "--ncu", path, "--json"], capture_output=True, text=True)
            if not any_use:
                said = {} if run.returncode == 2 else "an answer"
                kinds["refused"] += 1
            else:
                said = {k["kernel"]: k["pipe"] for k in json.loads(run.stdout)["kernels"] if "pipe" in k} if run.returncode in (0, 1) else run.stderr
                kinds.update(p["of"] for p in want.values())
                kinds["none"] += len(KERNELS) - len(want)
            if said != want:
                failed += 1
                print(f"seed {options.seed}, case {case}: {said} instead of {want}\n{text[:1500]}")
                if failed > 3:
                    return 1
    print(f"explain_ncu: {options.cases} exports, {dict(kinds)}, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
