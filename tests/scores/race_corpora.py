#!/usr/bin/env python3
"""race_corpora.py FOLDER.. [--binary swizproof] [--each 1] [--seconds 20]: `kernel --races` on kernels of folders of PTX, for page.py --races.

Of each file it asks the first kernels that name shared memory, as many as --each says, without a block, so that the answer is that of every launch; those that read tid.y with blocks of 32,4. A line a kernel:
`folder/file: kernel | - | answer | race free, race or undecided | reason | seconds`. The last line counts.
"""
import argparse
import collections
import json
import pathlib
import re
import resource
import subprocess
import time

#: Races that were read by hand, by a part of the file's name.
READ = {"fused_residual_forward": "not read in the source: all rows of the block seem to store the same global words",
        "layernorm_backward": "both threads store 0, for some numbers of channels",
        "matmul_forward": "true for blocks of 32,4; the launch was not looked up",
        "trimat_forward": "true for blocks of 32,4: the host launches 16,16, which --block decides",
        "wgmma_sm90": "true: the main loop waits for the copies of its own threads, and no __syncthreads() is before wgmma reads those of all (lines 243 to 275)",
        "flex_attention": "true: the four threads of a row store its reduced value, which is equal: --same-values accepts it",
        "w8a8_w8a8_gemm_cuda": "true: all threads store the bias from the same global words, so the values are equal",
        "w4a8_per_chn_gemm": "true: a thread copies the same 16 bytes twice in one group, so the values are equal",
        "w4a8_per_group_gemm": "true: a thread copies the same 16 bytes twice in one group, so the values are equal"}
SCORES = {"proved": "race free", "refuted": "race", "unknown": "undecided"}


def kernels_of(path):
    """Names of the entries whose bodies name shared memory."""
    text = path.read_text(errors="replace")
    for part in re.split(r"^\s*(?:\.visible |\.weak )?\.entry\s+", text, flags=re.M)[1:]:
        if re.search(r"\.shared\b", part):
            yield re.match(r"[\w$]+", part).group(0)


def ask(given, path, name, *block):
    """Verdict and reason, or the race."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (given.seconds, given.seconds))
    r = subprocess.run([given.binary, "kernel", path, "--races", "--kernel", f"^{re.escape(name)}$", "--json", *block], capture_output=True, text=True, check=False, preexec_fn=limit)
    if not block and "shape of the kernel's block is not known" in r.stderr:
        return ask(given, path, name, "--block", "32,4")
    if r.returncode not in (0, 1, 3) or not r.stdout:
        return "unknown", f"no answer in {given.seconds} s" if r.returncode < 0 else " ".join(r.stderr.split())[:200]
    kernels = json.loads(r.stdout)["kernels"]
    answer = kernels[0].get("races") if kernels else None
    if not answer:
        return "unknown", "no kernel is decided"
    if not answer["found"]:
        return answer["verdict"], f"{answer['reason'] or ''}{' (PTX lines ' + str(answer['ptx_lines'][:4]) + ')' if answer['ptx_lines'] else ''}"
    one = answer["found"][0]
    both = [f"{one[k]['op']} of thread {one[k]['thread']} at line {one[k]['ptx_line']}" for k in ("first", "second")]
    return answer["verdict"], f"{one['kind']} at {one['array']}+{one['offset']}: {both[0]}, {both[1]}; block {one['block']}, {one['params']}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--binary", default="swizproof")
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--only", default="", help="regular expression: only files of these names")
    given = parser.parse_args()
    counts = collections.Counter()
    print(f"# kernels of public projects, {given.each} of each file, 2026-11-28", flush=True)
    for folder in given.folders:
        for path in sorted(folder.glob("*.ptx")):
            if not re.search(given.only, str(path)):
                continue
            for name, _ in zip(kernels_of(path), range(given.each)):
                start = time.time()
                verdict, reason = ask(given, path, name)
                counts[SCORES[verdict]] += 1
                print(" | ".join([f"{folder.name}/{path.stem[-60:]}: {name[:60]}", "-", verdict, SCORES[verdict], reason.replace("|", "/"), f"{time.time() - start:.2f} s",
                                  *(note for part, note in READ.items() if verdict == "refuted" and part in path.stem)]), flush=True)
    print(f"{sum(counts.values())} kernels: " + ", ".join(f"{counts[s]} {s}" for s in SCORES.values()))


if __name__ == "__main__":
    main()
