"""Random kernels in files of 50, which `swizproof kernel` decides: the command line and the counts of the models that ask it so."""

import collections
import random
import tempfile

from asking import kernels_of, options_of


def run(description, case_of, wrong, threads):
    """Exit code. `case_of(rng, number)` has name and text(), declarations at its start; `wrong(case, kernel, rng, tally)` is a reason, or empty."""
    o = options_of(description, 200)
    rng, tally, different, done = random.Random(o.seed), collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while done < o.cases:
            cases = [case_of(rng, k) for k in range(min(50, o.cases - done))]
            done += len(cases)
            kernels = kernels_of(o.binary, folder, "".join(c.text() for c in cases), "--block", str(threads))
            for case in cases:
                if why := wrong(case, kernels[case.name], rng, tally):
                    different += 1
                    if different <= 5:
                        print(f"DIFFERENT: {why}\n{case.text()}")
    print(f"{done} kernels: " + ", ".join(f"{v} {k}" for k, v in sorted(tally.items())) + f"; {different} differences")
    return 1 if different else 0
