#!/usr/bin/env python3
"""ESBMC's tests of CUDA (esbmc/esbmc, regression/cuda) in `kernel --races`, each with the block of its ESBMC_verify_kernel().

ESBMC looks for races only with --data-races-check: a test that it fails with this option is labelled a race. Kernels that are marked //pass are GPUVerify's, and race free. All other labels are about
assertions, mostly of host code, and are not asked. Global memory is shared memory, each pointer's an array of its own. Two writes of one value are accepted, as GPUVerify does, where the label is its own; ESBMC takes them for a race.
"""
import re
import time

import suite

PRELUDE = """#include <cuda_runtime.h>
#include <stdio.h>
#undef assert
#define assert(x) ((void)0)
"""


def label_of(text, description):
    """The label, and why it says nothing of races if it is empty."""
    failed = "VERIFICATION FAILED" in description
    if description.startswith("KNOWNBUG"):
        return "", "the test is one that ESBMC does not pass (KNOWNBUG)"
    if failed and "--data-races-check" in description:
        return "race", ""
    if not failed and re.match(r"\s*//\s*pass\b", text):
        return "race free", ""
    return "", "ESBMC does not look for races there: the label is about assertions"


def launch_of(text):
    """Threads of a block."""
    text = re.sub(r"//.*|/\*.*?\*/", "", text)
    call = re.search(r"ESBMC_verify_kernel\w*\s*\(\s*\w+\s*,([^,]*),([^,)]*)[,)]", text)
    if not call:
        raise suite.Failed("the test has no launch")
    defined, words = dict(re.findall(r"^\s*#define\s+(\w+)\s+([^\n/]+)", text, re.M)), call.group(2)
    for _ in range(4):
        words = re.sub(r"[A-Za-z_]\w*", lambda m: f"({defined[m.group(0)].strip()})" if m.group(0) in defined else m.group(0), words)
    if not re.fullmatch(r"[\d\s()*/+-]+", words):
        raise suite.Failed("the threads of a block are no number")
    return eval(words.replace("/", "//"), {"__builtins__": {}})  # pylint: disable=eval-used


def ask(name, label, source, text):
    threads = launch_of(text)
    device = text[:re.search(r"^\s*(?:int|void)?\s*main\s*\(", text, re.M).start()]
    ptx, _ = suite.cut(s.compile(None, name, "-include", prelude, f"-I{source.parent}", text=device))
    start = time.time()
    document = s.races(suite.in_shared(re.sub(r"\.volatile\b", "", ptx)), "--block", str(threads), values=() if label == "race" else ("--same-values",))
    s.line(name, label, document, time.time() - start)


def main():
    folder = s.checkout / "regression/cuda"
    for source in sorted(folder.rglob("main.cu")):
        name, text = str(source.parent.relative_to(folder)), source.read_text(errors="replace")
        if not s.wanted(name):
            continue
        label, why = label_of(text, (source.parent / "test.desc").read_text())
        try:
            s.not_asked(name, label, why) if why else ask(name, label, source, text)
        except suite.Failed as failed:
            s.not_asked(name, label, str(failed))
    s.end()


if __name__ == "__main__":
    s = suite.Suite("esbmc/esbmc regression/cuda")
    prelude = s.folder / "prelude.h"
    prelude.write_text(PRELUDE)
    main()
