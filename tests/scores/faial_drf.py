#!/usr/bin/env python3
"""faial's examples of data races (elliotsayes/faial, examples/drf). The labels are the exit codes in test.ml: 0 is race free, 1 is a race.

faial decides every launch, this script one: 64 threads, one block, or the shape that the file or the test gives, n = 100 and arrays of 4096 elements. Arrays are volatile
for nvcc, which keeps each access, and weak in the PTX. As faial does, two writes of one value are accepted.
"""
import re
import time

import suite

PRELUDE = """#define __assume(x)
#define __requires(x)
#undef assert
#define assert(x)
#define float volatile float
#define uint volatile unsigned int
__device__ inline int atomicInc(int* at, int most) { return atomicInc((unsigned*)at, (unsigned)most); }
"""
#: Text behind a source: what a template is instantiated with, and bodies of functions that have none.
BEHIND = {"drf-template-index": "template __global__ void saxpy<int>(float, float*, float*, int);", "drf-local-array": "__device__ uint func() { return 7; }",
          "racy-template": "template __global__ void saxpy<float>(float, float*, float*);", "racy-template-alias": "template __global__ void saxpy<float>(float, float*, float*);"}
#: Edits of a source. What faial takes as initialised is written first.
EDITS = {"drf-local-array": ("typedef unsigned int  uint;", ""),
         "drf-shared-mem": ("int i = blockIdx", "for (int k = threadIdx.x; k < 1024; k += blockDim.x) y[k] = 0;\n  __syncthreads();\n  int i = blockIdx")}
BLOCKS = {"drf-2d": "256", "drf-local-array": "16,16", "drf-warp": "32", "racy-warp": "32", "racy-reduce": "32", "drf-assert-loop": "16"}
VALUES = {"mode": 2, "N": 4, "d": 4, "Bc": 4, "k": 3, "w": 16}
#: Cases that --races does not check for every launch, with the reason.
ASSUMING = {"parse-gv": "the label is that of one grid", "racy-grid-level": "the label is only about accesses of two blocks", "drf-enum-constraint": "the label takes an enumeration to have its named values alone",
            "drf-loop1": "the label rests on an assumption of the source: n > 0", "drf-loop-comma-in-cond": "the label rests on an assumption of the source: n > 0",
            "drf-loop2": "the label rests on an assumption of the source: n > 0", "drf-loop-aligned-1": "the label rests on an assumption of the source: n > 0"}
WITHOUT_BODY = {"racy-funcion-call-unknowns": "the offsets come from a function without a body"}
TYPES = {"float": "f32", "int": "i32", "uint": "u32", "unsigned int": "u32", "foo": "i32", "float2": "f32", "T": "f32"}


def cases(test_ml):
    """File, arguments, and exit code of each test; then the files that it does not check, whose names are their labels."""
    body = re.sub(r"\(\*.*?\*\)", "", test_ml, flags=re.S)
    for file, arguments, code in re.findall(r'"([\w-]+)\.cu",\s*\[([^\]]*(?:\[\d\][^\]]*)?)\],\s*(\d)', body):
        yield file, re.findall(r'"([^"]*)"', arguments), int(code)
    for file in re.findall(r'"([\w-]+)\.cu";', body):
        yield file, [], 0 if file.startswith("drf") else 1


def launch_of(name, text, arguments):
    """Block, grid, and values of parameters."""
    block, grid, values = BLOCKS.get(name, "64"), "1", dict(VALUES)
    shape = re.search(r"^//\s*--.*gridDim=\[([\d,]+)\]", text, re.M)
    if name == "parse-gv":
        grid = shape.group(1)
    for i, argument in enumerate(arguments):
        if argument.startswith("--gridDim="):
            grid = f"{argument[10:]},2,2"
        if argument in ("--grid-level", "--all-levels"):
            grid = "2"
        if argument == "-p":
            key, value = arguments[i + 1].split("=")
            values[key] = int(value)
    return ["--block", block, "--grid", grid, *([] if grid in ("1", "2") else ["--only-block", "0"])], values


def parameters_of(text, values):
    """Options for the parameters of the kernel, by their types in the source."""
    head = re.search(r"__global__\s+void\s+\w+\s*\(([^)]*)\)", text).group(1)
    options = []
    for number, one in enumerate(re.split(r",", head)):
        m = re.match(r"\s*(?:const\s+)?(\w+(?: int)?)\s*(\*?)\s*(\w+)\s*((?:\[\w*\])*)", one)
        kind, star, name, extents = m.groups()
        if kind == "foo" and not star:  # a structure
            options += ["--param", f"{number}+0=3", "--param", f"{number}+4=3", "--param", f"{number}+8=data:i32[64]"]
        elif star or extents:
            options += ["--param", f"{number}={name}:{TYPES[kind]}[{'16][256' if extents else '16384'}]"]
        elif kind in ("float", "T"):
            options += ["--param", f"{number}={name}:f32"]
        else:
            options += ["--param", f"{number}={values.get(name, 100)}"]
    return options


def ask(name, arguments, label, title):
    text = (s.checkout / "examples/drf" / (name + ".cu")).read_text()
    flags = [a for a in arguments if a.startswith("-D")]
    for old, new in [EDITS[name]] if name in EDITS else []:
        text = text.replace(old, new)
    launch, values = launch_of(name, text, arguments)
    ptx = s.compile(None, name, *flags, "-include", "cuda_runtime.h", "-include", "assert.h", "-include", prelude, text=text + "\n" + BEHIND.get(name, "") + "\n")
    plain = ptx
    ptx, more = suite.lifted(re.sub(r"\.volatile\b", "", ptx))
    shared = ["--shared-bytes", "1024"] if "extern .shared" in ptx else []
    if s.given.races:
        start = time.time()
        block = ["--block", launch[1]] if name in BLOCKS else []
        if name in ASSUMING:
            return s.not_asked(title, label, ASSUMING[name])
        return s.line(title, label, s.races(suite.in_shared(re.sub(r"\.volatile\b", "", plain)), *block), time.time() - start)
    s.ask(title, label, ptx, *launch, *parameters_of(text, values), *more, *shared, "--same-values")


def main():
    for name, arguments, code in cases((s.checkout / "examples/drf/test.ml").read_text()):
        title, label = " ".join([name, *arguments]), ("race free", "race", "not CUDA")[code]
        if not s.wanted(title):
            continue
        if code == 2 or name in WITHOUT_BODY:
            s.not_asked(title, label, WITHOUT_BODY.get(name, "the source is not CUDA"))
        elif "--grid-level" in arguments and code == 0:
            s.not_asked(title, label, "the label is only about accesses of two blocks")
        else:
            try:
                ask(name, arguments, label, title)
            except suite.Failed as failed:
                s.not_asked(title, label, str(failed))
    s.end()


if __name__ == "__main__":
    s = suite.Suite("elliotsayes/faial examples/drf", {"--races": {"action": "store_true", "help": "ask kernel --races for every launch: global memory as shared memory"}})
    prelude = s.folder / "prelude.h"
    prelude.write_text(PRELUDE)
    main()
