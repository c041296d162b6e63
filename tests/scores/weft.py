#!/usr/bin/env python3
"""Weft's examples (lightsighter/Weft): kernels with named barriers.

The labels are the answers of Weft itself without -s, for the same PTX: its README says that some of its kernels have races. --weft PROGRAM asks it
again; it needs two changes to read PTX of today: tokens.size() >= 5 for shfl, and no lines of source. Where a kernel has shuffles, Weft takes warps in lockstep.

Changes, each the same for Weft and for swizproof: short loops (Weft's own -D), tables of the module as parameters, volatile as plain accesses, `__shfl` and `__any` as the
instructions with .sync, exp, log and pow without their branches. For swizproof alone each comparison of data in the kernels of chemistry is false.
"""
import re
import subprocess

import suite

PRELUDE = """#define WIDTH(v, l, w, ...) w
#define __shfl(...) __shfl_sync(WIDTH(__VA_ARGS__, 32, 32) == 16 ? 0xffffu << (threadIdx.x & 16) : 0xffffffffu, __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(0xffffffffu, __VA_ARGS__)
#define __any(p) __any_sync(0xffffffffu, p)
__device__ __forceinline__ double opaque(double x) { double y; asm("sqrt.rn.f64 %0, %1;" : "=d"(y) : "d"(x)); return y; }
#define exp(x) opaque(x)
#define log(x) opaque(x)
#define log10(x) opaque(x)
#define pow(x, y) opaque(x)
"""
SHORT = ["-DNUM_ITERS=8", "-DSGEMV_ITERS=8", "-DRTM_ELMTS=16", "-DTOTAL_STEPS=2"]
SAXPY = ["y:f32[65536]", "x:f32[65536]", "a:f32", "0"]
SGEMV = ["896", "896", "448", "alpha:f32", "A:f32[16777216]", "896", "x:f32[65536]", "y:f32[65536]"]
RTM = ["N:f32[1048576]", "P:f32[1048576]", "a:f32[4194304]", "v:f32[1048576]", "40", "1600", "16", "160", "160", "4", "8", "20000", "0"]
STRIDES = ["32", "32", "2", "1024"]
VISCOSITY = ["T:f64[1024]", "M:f64[262144]", "A:f64[1024]", *STRIDES, "D:f64[262144]"]
DIFFUSION = ["T:f64[1024]", "P:f64[1024]", "M:f64[262144]", "A:f64[1024]", *STRIDES, "D:f64[262144]"]
CHEMISTRY = ["T:f64[1024]", "P:f64[1024]", "A:f64[1024]", "M:f64[262144]", "D:f64[262144]", "dt:f64", "r:f64", *STRIDES, "0", "W:f64[262144]"]
#: Example: label, parameters.
EXAMPLES = {
    **{f"negatives/{name}": ("wrong", []) for name in ("arrival", "deadlock", "different", "over")},
    **{f"saxpy/saxpy_{name}": ("right", SAXPY) for name in ("single", "double")},
    **{f"sgemv/{name}": ("right", SGEMV) for name in ("vec_single", "vec_double", "vec_manual", "both_single", "both_double", "both_manual")},
    **{f"RTM/{name}_buffer": ("race", RTM) for name in ("one_phase_manual", "one_phase_single", "two_phase_manual", "two_phase_quad", "two_phase_single")},
    "DME/diff_fermi": ("race", DIFFUSION), "DME/visc_fermi": ("right", VISCOSITY), "DME/chem_fermi": ("race", CHEMISTRY),
    "DME/diff_kepler": ("right", DIFFUSION), "DME/visc_kepler": ("right", VISCOSITY), "DME/chem_kepler": ("race", CHEMISTRY),
    "Heptane/diff_fermi": ("race", DIFFUSION), "Heptane/visc_fermi": ("race", VISCOSITY), "Heptane/chem_fermi": ("race", CHEMISTRY),
    "Heptane/diff_kepler": ("right", DIFFUSION), "Heptane/visc_kepler": ("right", VISCOSITY), "Heptane/chem_kepler": ("race", CHEMISTRY),
    "PRF/diff_fermi": ("right", DIFFUSION), "PRF/visc_fermi": ("", VISCOSITY), "PRF/diff_kepler": ("right", DIFFUSION), "PRF/visc_kepler": ("right", VISCOSITY),
}
THREADS = {"saxpy/saxpy_single": 320, "saxpy/saxpy_double": 384}
SAME = ("lanes of one store write the same value to one address, and Weft does not compare values; CUDA C++ Programming Guide, SIMT Architecture: one write is performed, and which lane's is undefined")
EXPLAINED = {"RTM/one_phase_manual_buffer": SAME, "RTM/one_phase_single_buffer": SAME,
             "negatives/arrival": "all threads arrive at barrier 1 and none waits; PTX ISA, barrier: the barrier completes, and bar.arrive does not block a thread or order memory"}


def label_of(weft, ptx, threads):
    """Weft's verdict on the PTX."""
    plain = re.sub(r"^\s*\.(loc|file|pragma|section)\b.*\n|^.*L__info_string.*\n", "", ptx, flags=re.M).replace("_ZZ", "__cuda_ZZ")  # so it finds a shared array
    path = suite_.folder / "weft.ptx"
    path.write_text(plain)
    r = subprocess.run([weft, "-n", str(threads), path], capture_output=True, check=False)
    text = (r.stdout + r.stderr).decode(errors="replace")
    if "RACES DETECTED" in text:
        return "race"
    return "right" if "No races detected" in text and "No deadlocks detected" in text else "wrong"


def main():
    prelude = suite_.folder / "prelude.h"
    prelude.write_text(PRELUDE)
    for name, (label, params) in EXAMPLES.items():
        if not suite_.wanted(name) or not (suite_.checkout / "examples" / (name + ".cu")).exists():
            continue
        try:
            ptx = suite_.compile(suite_.checkout / "examples" / (name + ".cu"), name, *SHORT, "-include", "cuda_runtime.h", "-include", prelude)
            weak = re.sub(r"\.volatile\b", "", ptx)
            threads = THREADS.get(name) or suite.maxntid(ptx)
            if suite_.given.weft:
                label = label_of(suite_.given.weft, weak, threads)
            if params is CHEMISTRY:
                weak = re.sub(r"setp\.\w+\.f64( \s*%\w+), [^;]*;", r"setp.ne.s32\1, 0, 0;", weak)
            ptx, options = suite.lifted(weak, ("chem_index",))
            if not label:
                raise suite.Failed("no label: Weft itself needs more than 13 GB of memory")
            for number, value in enumerate(params):
                options += ["--param", f"{number}={value}"]
            suite_.ask(name, label, ptx, "--block", str(threads), *options, explained=EXPLAINED.get(name, ""),
                       note="each comparison of loaded data is assumed false" if params is CHEMISTRY else "")
        except suite.Failed as failed:
            suite_.not_asked(name, label, str(failed))
    suite_.end()


if __name__ == "__main__":
    suite_ = suite.Suite("lightsighter/Weft", {"--weft": {"help": "the program of Weft, which gives the labels"}})
    main()
