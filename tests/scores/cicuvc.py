#!/usr/bin/env python3
"""Wavefronts that cicuvc/nvidia-sass-document measured on an RTX 5090 (notes/sm90/arch/shared_bank_conflicts.md), in `predict --arch sm_120`.

The addresses are those of tests/bankconf/run.py of the checkout, whose function `pattern` is called; the label is the number of the note, whose row or sentence is searched for there. cp.async is measured with consecutive
sources and counts by its destination here, as there.
"""
import importlib.util
import json
import subprocess
import time

import suite

ROUTED, UNROUTED = "Routable set (empirical): full broadcast; contiguous power-of-2 lane blocks", "Not routable: tid^3, tid^4+, interleaved runs (half_lo_hi)"
#: What the note says, the bytes of a lane, and each pattern with the wavefronts of loads and stores.
LOADS = (
    ("| identity `t` | 1/0 | 1/0 |", 4, {"id": (1, 1)}),
    ("| broadcast `0` | **1/0** | **1/0** |", 4, {"bcast": (1, 1)}),
    ("| stride 2 / 4 / 8 / 16 | 2/1 · 4/3 · 8/7 · 16/15 | same |", 4, {f"stride:{n}": (n, n) for n in (2, 4, 8, 16)}),
    ("| stride 32 (all bank 0) | **32/31** | **32/31** |", 4, {"stride:32": (32, 32)}),
    ("| stride 33 (coprime) | 1/0 | 1/0 |", 4, {"stride:33": (1, 1)}),
    ("| 31 threads→word0 + 1→word32 | 2/1 | 2/1 |", 4, {"share31_plus1": (2, 2)}),
    (ROUTED, 8, {f"v2_{name}": (1, 2) for name in ("bcast", "pairmerge", "quadshare", "octshare", "revpair", "rotpair", "share:1", "share:2")}),
    (UNROUTED, 8, {f"v2_{name}": (2, 2) for name in ("share:3", "share:4", "share:8", "share:16", "half_lo_hi")}),
    ("| consec | 4 | 4 |", 16, {"v4_consec": (4, 4)}),
    ("| broadcast | **2** | 4 |", 16, {"v4_bcast": (2, 4)}),
    ("| share:1/2, quad, oct | **2** | 4 |", 16, {f"v4_{name}": (2, 4) for name in ("share:1", "share:2", "quadshare", "octshare")}),
    ("| share:4/8/16 | 4 | 4 |", 16, {f"v4_share:{n}": (4, 4) for n in (4, 8, 16)}),
    ("| estride 2/4/8 | 8/16/32 | 8/16/32 |", 16, {f"v4_estride:{n}": (4 * n, 4 * n) for n in (2, 4, 8)}),
    ("| `dist_q0` / `bnd_in` / `bnd_cross`| 6/5/4 | 6/5/4 |", 16, {"v4_dist_q0": (6, 6), "v4_bnd_in": (5, 5), "v4_bnd_cross": (4, 4)}),
)
COPIES = (
    ("| broadcast | **32** | 4 |", {"v4_bcast": 32}),
    ("| consecutive | 4 | 4 |", {"v4_consec": 4}),
    ("| pairshare / quad / oct | 8/16/32 |", {"v4_pairshare": 8, "v4_quadshare": 16, "v4_octshare": 32}),
)


def asked(op, words):
    line = json.dumps({"op": op, "address": [4 * word for word in words]})
    r = subprocess.run([s.given.binary, "predict", "--arch", "sm_120"], input=line, capture_output=True, text=True, check=False)
    return json.loads(r.stdout)["wavefronts"]


def main():
    spec = importlib.util.spec_from_file_location("cicuvc_run", s.checkout / "tests/bankconf/run.py")
    run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run)
    note = (s.checkout / "notes/sm90/arch/shared_bank_conflicts.md").read_text()
    cases = [(said, f"{op}.b{8 * size}", pattern, numbers[k]) for said, size, patterns in LOADS for pattern, numbers in patterns.items() for k, op in enumerate(("ld.shared", "st.shared"))]
    cases += [(said, "cp.async.b128", pattern, number) for said, patterns in COPIES for pattern, number in patterns.items()]
    for said, op, pattern, number in cases:
        if not s.wanted(f"{op} {pattern}"):
            continue
        if said not in note:
            s.not_asked(f"{op} {pattern}", str(number), "the note does not say so any more")
            continue
        start = time.time()
        got = asked(op, run.pattern(pattern))
        s.write(f"{op} {pattern}", str(number), str(got), "right" if got == number else "wrong", "" if got == number else said, time.time() - start)
    s.end()


if __name__ == "__main__":
    s = suite.Suite("cicuvc/nvidia-sass-document bank conflicts on sm_120")
    main()
