#!/usr/bin/env python3
"""NVIDIA/compute-sanitizer-samples: kernels with one error each. The names of the tool and of the file tell its kind. Launches are those of the samples."""
import suite

#: File, kernel, label, options.
KERNELS = [
    ("Racecheck/block_error", "sumKernel", "race", "--block 128 --param 0=in:i32[128] --param 1=sum:i32[1]"),
    ("Racecheck/warp_error", "sumKernel", "race", "--block 64 --param 0=in:i32[64] --param 1=sum:i32[1]"),
    ("Synccheck/divergent_threads", "myKernel", "misuse", "--block 64 --param 0=in:i32[1008] --param 1=sum:i32[1]"),
    ("Synccheck/illegal_syncwarp", "myKernel", "misuse", "--block 32 --param 0=sum:i32[1]"),
    ("Memcheck/memcheck_demo", "unaligned_kernel", "misaligned", "--block 1"),
    ("Memcheck/memcheck_demo", "out_of_bounds_kernel", "out of bounds", "--block 1"),
]


def main():
    for file, kernel, label, options in KERNELS:
        source, name = s.checkout / (file + ".cu"), f"{file} {kernel}"
        if not source.exists() or not s.wanted(name):
            continue
        try:
            ptx, more = suite.lifted(suite.cut(s.compile(source, file), kernel)[0])
            s.ask(name, label, ptx, *options.split(), *more)
        except suite.Failed as failed:
            s.not_asked(name, label, str(failed))
    if (s.checkout / "Initcheck/memset_error.cu").exists():
        s.not_asked("Initcheck/memset_error vectorAdd", "uninitialised", "the error is in host code: flow assumes nothing about the values in arrays")
    s.end()


if __name__ == "__main__":
    s = suite.Suite("NVIDIA/compute-sanitizer-samples")
    main()
