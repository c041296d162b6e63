#!/usr/bin/env python3
"""GPUVerify's tests of CUDA (mc-imperial/gpuverify, testsuite/CUDA) and its benchmarks (mc-imperial/GPUVerifyBenchmarks, the 250 cases in CUDA) in `kernel --races`. The label is the first line of a
source: `//pass` is race free, `//xfail:NOT_ALL_VERIFIED` is a race.

The block and the grid are those of the second line; parameters are any. Global memory is shared memory, each pointer's an array of its own, as GPUVerify takes them: a race between
two blocks is none here. Assumptions (__requires, __assume) and assertions are left out: a label about an assertion is not asked. As GPUVerify does, two writes of one value are accepted, but without
`--equality-abstraction` on the second line it takes two loaded values to differ: a kernel with a race that is undecided otherwise is decided again without it: a race of two loaded values counts.

Of the benchmarks, an assumption of the parameters (`__requires(w == 512)`) ends each thread where it is false; a label that rests on one of memory or of another thread is not asked. nvcc compiles a copy
of their sources with EDITS, and with gpuverify.cuh: texture references of CUDA 11 as texture objects, the vector operations of the samples, and bodies for functions that are only declared.
"""
import pathlib
import re
import time

import suite

PRELUDE = pathlib.Path(__file__).with_name("gpuverify.cuh")
TESTS, BENCHMARKS = "mc-imperial/gpuverify testsuite/CUDA", "mc-imperial/GPUVerifyBenchmarks"
#: Regular expressions and their replacements in sources of the benchmarks, which clang of 2014 compiles and nvcc 13 does not.
EDITS = {r"^(?=texture<)": "__constant__ ",
         r"(template\s*<>\s*__device__\s+)static ": r"\1",
         r"(__attribute__\(\(always_inline\)\)\s+)static ": r"\1",
         r"^typedef unsigned int (size_t|clock_t);": "",
         r"^__device__ float fabs\(float\);": "",
         r"\bulong4\b": "uint4"}
RACE = "PTX ISA, Memory Consistency Model, Data-Race"
#: Kernels whose label breaks a rule, and the rule.
EXPLAINED = {"CUDA50/6_Advanced/segmentationTreeThrust/_removeCycles.cu": f"a thread stores successors[tid], and one with this successor loads it, without an order: {RACE}",
             "CUDA50/6_Advanced/threadFenceReduction/_reduceSinglePass.cu": "the last warp reduces without __syncwarp(): CUDA Programming Guide, Independent Thread Scheduling: a warp is not in lockstep",
             "gpgpu-sim_ispass2009/BFS/_kernel.cu": f"threads whose nodes have a common neighbour store g_cost[tid] + 1 to it, values that differ if theirs do, without an order: {RACE}"}
ASSERTING = r"\b(?:assert|__assert|__global_assert|__invariant|__global_invariant|__ensures|__requires)\s*\("


def unasked(label, head, text):
    """Why a label says nothing of races within a block that a device can have; empty if it does."""
    if label == "race" and "race" not in head and re.search(ASSERTING, text):
        return "the label is about an assertion"
    if label == "race" and re.search(r"null pointer|constant memory|0-sized|\bNULL\b|mem(?:cpy|set)\(0", text):
        return "the label is about null pointers or constant memory"
    if "--warp-sync" in head:
        return "the label takes a warp to be in lockstep"
    if benchmarks and re.search(r"__assume\(|__requires\([^;]*(?:\[|__other_int)", text):
        return "the label rests on an assumption of memory or of two threads"
    if not benchmarks and re.search(r"__requires\((?!true)", text) and label == "race free":
        return "the label rests on an assumption of the source"
    block = blocks_of(head)
    if block and eval(block.replace(",", "*"), {"__builtins__": {}}) > 1024:  # pylint: disable=eval-used
        return "no device has a block of so many threads"
    return ""


def blocks_of(text):
    shape = re.search(r"--blockDim=\[?([\d,]+)\]?", text)
    return shape.group(1) if shape else None


def main():
    folder = copied() if benchmarks else s.checkout / "testsuite/CUDA"
    for source in sorted(folder.rglob("*.cu")):
        name = str(source.relative_to(folder).parent if source.name == "kernel.cu" else source.relative_to(folder))
        text = source.read_text(errors="replace")
        first = text.split("\n", 1)[0].strip()
        label = {"//pass": "race free", "//xfail:NOT_ALL_VERIFIED": "race"}.get(first)
        if not s.wanted(name):
            continue
        head = "\n".join(line for line in text.split("\n")[:12] if line.startswith("//"))
        if label is None:
            s.not_asked(name, first.strip("/"), "the label is about the front end")
        elif why := unasked(label, head, text):
            s.not_asked(name, label, why)
        else:
            try:
                ask(name, label, source, text, head)
            except suite.Failed as failed:
                s.not_asked(name, label, str(failed))
    s.end()


def copied():
    """A copy of the benchmarks in CUDA, with EDITS."""
    to = s.folder / "sources"
    for source in [one for ending in ("cu", "h", "cuh") for one in s.checkout.rglob(f"*.{ending}")]:
        text = source.read_text(errors="replace")
        for pattern, new in EDITS.items():
            text = re.sub(pattern, new, text, flags=re.M)
        copy = to / source.relative_to(s.checkout)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
    return to


def ask(name, label, source, text, head):
    block = blocks_of(head)
    flags = re.findall(r"(?<=\s)-[DI]\S+", text.split("\n")[1])
    own = ["-DGPUVERIFY_BENCHMARKS", *(["-include", "curand_kernel.h"] if "curand" in text else [])] if benchmarks else []
    options = ["-include", PRELUDE, f"-I{source.parent}", *own, *flags]
    try:  # nvcc removes stores to shared memory that nothing loads
        ptx = s.compile(None, name, *options, text=re.sub(r"__shared__\s+(?!volatile)", "__shared__ volatile ", text))
    except suite.Failed:  # a pointer to it is not volatile
        ptx = s.compile(None, name, *options, text=text)
    if ".entry" not in ptx:
        raise suite.Failed("the kernel is a comment of its source")
    ptx, _ = suite.cut(ptx)
    if label == "race" and not re.search(r"\b(st|atom|red)\b", ptx):
        raise suite.Failed("nvcc removes the stores, which nothing loads")
    if benchmarks and not re.search(r"\b(st|atom|red|sust|sured|call)\b", ptx[ptx.index(".entry"):]):
        raise suite.Failed("nvcc leaves no store in the kernel")
    if re.search(r"\bsu(?:st|red)\b", ptx):
        raise suite.Failed("the kernel writes a surface, which is no array")
    if re.search(r"^\.extern \.func", ptx, re.M):
        raise suite.Failed("a function has no body")
    start = time.time()
    asked, launch = suite.in_shared(re.sub(r"\.volatile\b", "", ptx)), [*(["--block", block] if block else []), *grid_of(head)]
    if len(re.findall(r"^\.shared.* in_shared_", asked, re.M)) <= 3:  # a grid of 1024 blocks of 1024 threads takes 4 MiB
        asked = asked.replace("[1048576]", "[4194304]")
    answer = s.races(asked, *launch)
    if str(answer.get("reason")).startswith("an access leaves its array"):  # refutations are replayed in 16 MiB alone, so these arrays are the second ones
        asked = re.sub(r"^(\.shared.* in_shared_\w+\[)\d+", rf"\g<1>{1 << 26}", asked, flags=re.M)
        answer = s.races(asked, *launch)
    if label == "race" and answer["verdict"] == "unknown" and "--equality-abstraction" not in head:
        loaded = s.races(asked, *launch, values=())
        if loaded.get("fault", {}).get("kind") in ("lost store", "race"):
            answer = loaded
    s.line(name, label, answer, time.time() - start, explained=EXPLAINED.get(name, ""))


def grid_of(head):
    """--grid of a test's --gridDim."""
    found = re.search(r"--gridDim=\[?([\d,]+)\]?", head)
    return ["--grid", found.group(1)] if found else []


if __name__ == "__main__":
    s = suite.Suite(lambda checkout: TESTS if (checkout / "testsuite").is_dir() else BENCHMARKS)
    benchmarks = s.title == BENCHMARKS
    main()
