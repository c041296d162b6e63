#!/usr/bin/env python3
"""ScoR's microbenchmarks (csl-iisc/ScoR, microbenchmarks/src): two threads that meet with fences, atomics and locks of a block or of the device. The names tell which have a race.

`flow` or, with --races, `kernel --races` decides the launch of each; in the latter global memory is shared memory, and only threads of one block meet there. The suite takes its volatile accesses for weak ones,
so .volatile is cut from the PTX; with it they would be strong and no part of a race. Variables are 0 at the start, in --races any number.
"""
import re
import time

import suite

#: Cases whose labels PTX does not bear out, with the rule.
NO_FENCE = ("the thread that reads has no fence behind its atomicExch, which orders nothing: PTX ISA, Memory Consistency Model: an acquire pattern is a strong read and a fence")
EXPLAINED = {"norace_interwarp_blkfence_raw": NO_FENCE, "norace_interwarp_fence_raw": NO_FENCE}


def launch_of(text):
    """Blocks, and threads of a block."""
    return tuple(int(re.search(rf"#define {name}\s+(\d+)", text).group(1)) for name in ("NBLOCKS", "TPERBLK"))


def ask(name, label, text):
    blocks, threads = launch_of(text)
    ptx = re.sub(r"\.volatile\b", "", s.compile(None, name, text=text))
    start = time.time()
    if not s.given.races:
        variables = re.findall(r"^(?:\.visible )?\.global \.align 4 \.\w+ (\w+)", ptx, re.M)
        options = [word for v in variables for word in ("--param", f"{v}={v}:u32[1]=zeros")]
        document = s.flow(ptx, "--block", str(threads), "--grid", str(blocks), "--param", "0=data:u32[1]", *options)
    elif blocks > 1:
        return s.not_asked(name, label, "the threads are in two blocks")
    else:
        document = s.races(suite.in_shared(ptx, 64), "--block", str(threads), values=())
    return s.line(name, label, document, time.time() - start, explained=EXPLAINED.get(name, ""))


def main():
    for source in sorted((s.checkout / "microbenchmarks/src").glob("*.cu")):
        name = source.stem
        if not s.wanted(name):
            continue
        label = "race" if name.startswith("race_") else "race free"
        try:
            ask(name, label, source.read_text())
        except suite.Failed as failed:
            s.not_asked(name, label, str(failed))
    s.end()


if __name__ == "__main__":
    s = suite.Suite("csl-iisc/ScoR microbenchmarks", {"--races": {"action": "store_true", "help": "ask kernel --races: global memory as shared memory"}})
    main()
