"""Random kernels in files of 50, which `swizproof kernel` decides: the command line and the counts of the models that ask it so."""

import argparse
import collections
import json
import os
import random
import subprocess
import tempfile


def run(description, case_of, wrong, threads):
    """Exit code. `case_of(rng, number)` has name and text(), declarations at its start; `wrong(case, kernel, rng, tally)` is a reason, or empty."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    rng, tally, different, done = random.Random(o.seed), collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.ptx")
        while done < o.cases:
            cases = [case_of(rng, k) for k in range(min(50, o.cases - done))]
            done += len(cases)
            with open(path, "w", encoding="utf-8") as file:
                file.write(".version 9.0\n.target sm_90a\n.address_size 64\n" + "".join(c.text() for c in cases))
            answer = subprocess.run([o.binary, "kernel", path, "--json", "--block", str(threads)], capture_output=True, text=True, check=False)
            kernels = {k["mangled"]: k for k in json.loads(answer.stdout)["kernels"]}
            for case in cases:
                if why := wrong(case, kernels[case.name], rng, tally):
                    different += 1
                    if different <= 5:
                        print(f"DIFFERENT: {why}\n{case.text()}")
    print(f"{done} kernels: " + ", ".join(f"{v} {k}" for k, v in sorted(tally.items())) + f"; {different} differences")
    return 1 if different else 0
