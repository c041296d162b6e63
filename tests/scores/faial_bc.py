#!/usr/bin/env python3
"""faial's examples of bank conflicts and of uncoalesced accesses (elliotsayes/faial, examples/bc), in `swizproof kernel`. The labels are the costs in test.ml.

A cost of bank conflicts is the sum of the wavefronts that all accesses of a warp take above one each; here it is what a block loses, divided by its warps, and for a label with parameters these have numbers.
faial takes the lanes of all iterations together where a loop's bounds depend on the thread, so its cost may be above that of any launch: such a label is a bound. A cost of
uncoalesced accesses is the most sectors of 32 bytes that a warp touches; pointers are multiples of 256. With --only-reads and --only-writes the cost is the wavefronts of the one load
or store. Arrays are volatile for nvcc, which keeps each access, and those of 1,024 elements are longer: some
cases leave them.
"""
import json
import re
import subprocess
import time

import suite

N, STEPS = {"n": 37}, {"lb": 2, "ub": 33, "step": 5}
#: Labels with parameters: their numbers here, and the cost by the label.
NUMBERS = {
    "Σ_{i | 0 ≤ i ≤ (n - 1)} 1": (N, 37),
    "Σ_{j | 0 ≤ j ≤ ⌊(ub - lb) / step⌋} 1": (STEPS, 7),
    "Σ_{i | 0 ≤ i ≤ ((n << m) - 1)} 1": ({"n": 5, "m": 2}, 20),
    "Σ_{i | 0 ≤ i ≤ n} 1": (N, 38),
    "Σ_{i | 1 ≤ i ≤ ⌊log₂((n - 1))⌋} 1": (N, 5),
    "Σ_{i | 0 ≤ i ≤ ((31 + n) - 1)} 1": (N, 68),
    "Σ_{i | 0 ≤ i ≤ (n - 1)} Σ_{j | i ≤ j ≤ (n - 1)} 1": ({"n": 9}, 45),
    "Σ_{i | 0 ≤ i ≤ (n - 1)} Σ_{j | 0 ≤ j ≤ (n - 1)} 1": ({"n": 9}, 81),
    "Σ_{i | 0 ≤ i ≤ (n - 1)} Σ_{j | 1 ≤ j ≤ ⌊log₂((n - 1))⌋} 1": (N, 185),
    "Σ_{i | 0 ≤ i ≤ ⌊(n - 1) / step1⌋} Σ_{j | 0 ≤ j ≤ ⌊((m - 1) - (i * step1)) / step2⌋} 1": ({"n": 9, "m": 13, "step1": 3, "step2": 2}, 7 + 5 + 4),
    "if ((n < 4)) then 1 else 3": ({"n": 4}, 3),
    "min((4 * n), 32)": ({"n": 3}, 12),
    "min((4 * n), 16)": ({"n": 3}, 12),
    "min((32 + (4 * n)), 16)": ({"n": 3}, 16),
}
#: Reasons of labels that no launch has, by the start of the file's name; the first are bounds.
BOUND = "faial takes the lanes of all iterations together: its cost is a bound"
EXPLAINED = {
    "loops-1-tid-": BOUND,
    **dict.fromkeys(("loops-1-div", "loops-1-rsh", "loops-1-pow", "loops-nested-2-pow"), "the counter is a power of two from 1 on: faial leaves out one of its iterations"),
    "ifs-1": "the label is the cost of warp 0; the others, whose lanes are all behind the else, have 3",
}
#: An assumption ends the threads that break it.
ASSUME = "-D__assume(x)=if (!(x)) return"
TABLE = re.compile(r'"([\w-]+\.cu)", \[([^\]]*(?:\[[^\]]*\])?[^\]]*)\], "([^"]*)"')


def source_of(path):
    text = path.read_text()
    text = re.sub(r"__shared__ (?!volatile)", "__shared__ volatile ", text).replace("y[1024];", "y[12000];")
    return re.sub(r"__device__ (\w+) (\w+)\(\);", r"__device__ \1 \2() { return clock(); }", text)  # a number of each lane


def shape_of(path, args):
    """The block of the arguments, or of the file, or faial's default."""
    found = re.search(r"--block-?[dD]im[=\", ;]*\[?([\d,]+)", args.replace('";', "")) or re.search(r"--blockDim=\[?([\d,]+)", path.read_text())
    return found.group(1) if found else "1024"


def words_of(path, args, label):
    parameters = dict(re.findall(r"(\w+)=(\d+)", " ".join(re.findall(r'"-p"; "([^"]+)"', args)))) or dict(NUMBERS[label][0] if label in NUMBERS else {})
    grid = re.search(r"--gridDim=(\d+)", args + path.read_text())
    words = ["--block", shape_of(path, args)] + (["--grid", grid.group(1)] if grid else [])
    if path.name == "assume.cu":
        parameters = {"n": 2}
    return words, parameters


def ask(name, ptx, words):
    to = s.folder / (name + ".asked.ptx")
    to.write_text(ptx)
    r = subprocess.run([s.given.binary, "kernel", to, "--json", *words], capture_output=True, text=True, check=False)
    if not r.stdout:
        raise suite.Failed(r.stderr.strip().split("\n")[0][:200])
    return json.loads(r.stdout)["kernels"][0]


def indexed(ptx, path, parameters):
    """Parameters by their places in the source."""
    heads = re.search(r"__global__\s+void\s+\w+\(([^)]*)\)", path.read_text()).group(1).split(",")
    names = [re.findall(r"\w+", h)[-1] for h in heads if h.strip()]
    return [w for name, value in parameters.items() if name in names for w in ("--param", f"#{names.index(name)}={value}")]


def cost_of(kernel, block, kind):
    """The cost; or nothing and the reason."""
    warps = 1
    for d in block.split(","):
        warps *= int(d)
    warps = (warps + 31) // 32
    if kind == "ua":
        got = [a["sectors"] for a in kernel["global_accesses"] if a["op"].startswith("st")]
        return (None, "sectors of a store are not known") if None in got else (max(got, default=0), "")
    if kind != "bc":
        got = [a["wavefronts"] for a in kernel["accesses"] if a["op"].startswith("ld" if "reads" in kind else "st")]
        return (None, "wavefronts are not known") if None in got else (max(got, default=0), "")
    for a in kernel["accesses"]:
        if a["executed"] and a["lost"] is None:
            return None, f"{a['op']} at PTX line {a['ptx_line']}: {a['reason'] or 'how often it is executed is not known'}"
    return sum(a["lost"] or 0 for a in kernel["accesses"]) / warps, ""


def main():
    text = (s.checkout / "examples/bc/test.ml").read_text()
    parts = {"requests": text[text.index("per_request_tests"):text.index("bc_tests")], "bc": text[text.index("let bc_tests"):text.index("let ua_tests")],
             "ua": text[text.index("let ua_tests"):text.index("let unsupported")]}
    for kind, part in parts.items():
        for file, args, label in TABLE.findall(part):
            path = s.checkout / "examples/bc" / file
            name = " ".join([file, *re.findall(r'"([^"]*)"', args)])
            if not s.wanted(name):
                continue
            start = time.time()
            wanted = NUMBERS[label][1] if label in NUMBERS else int(label)
            try:
                ptx = s.compile(path, name.replace(" ", "_").replace("[", "").replace("]", ""), ASSUME, text=source_of(path))
                words, parameters = words_of(path, args, label)
                words += indexed(ptx, path, parameters) + (["--global", "--pointers", "256"] if kind == "ua" else [])
                got, reason = cost_of(ask(file[:-3], ptx, words), shape_of(path, args), re.sub(r"\W", "", args) if kind == "requests" else kind)
            except suite.Failed as failed:
                s.not_asked(name, label.replace(" | ", ": "), str(failed))
                continue
            if got is None:
                score = "undecided"
            elif got == wanted:
                score = "right"
            else:
                reason = next((why for start_of, why in EXPLAINED.items() if file.startswith(start_of) and (got < wanted or why != BOUND)), "")
                score = "explained" if reason else "wrong"
            s.write(name, label.replace(" | ", ": "), "none" if got is None else f"{got:g}", score, reason, time.time() - start)
    s.end()


if __name__ == "__main__":
    s = suite.Suite("elliotsayes/faial examples/bc")
    main()
