#!/usr/bin/env python3
"""sass_launches.py --binary B --kernels N --runs R --seed S: launch facts of cubins, checked on random kernels that nvcc compiles.

A kernel has random parameters, static and dynamic shared arrays, and launch bounds or a fixed block. Its dump by nvdisasm, without -c, is
answered by the command, with values for some parameters, and executed by sass_interpreter.py. Offsets of parameters are those of C here, and
the block is that of the source. A case is one execution of one block:
  - the block is that of the source, and a larger one than the launch bounds is refused;
  - every address of an access that is called within bounds lies in the block's own shared memory;
  - an access that is called beyond them has such an address, where all parameters are given;
  - wavefronts and alignment are as in sass.py.
The last line has the numbers; exit code 1 if something differs, 77 without nvcc or nvdisasm.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("sass_launches.py: not run (numpy is not installed)")
    sys.exit(77)

import sass
import sass_interpreter

SCALARS = {"signed char": (1, True), "unsigned char": (1, False), "short": (2, True), "unsigned short": (2, False), "int": (4, True),
           "unsigned": (4, False), "long long": (8, True)}
ELEMENTS = {"unsigned char": 1, "short": 2, "float": 4, "double": 8, "float4": 16}


class Source:
    """One random kernel: its text, and what a launch of it is."""

    def __init__(self, rng, name):
        self.name, self.rng = name, rng
        self.params, self.at = [], 8  # out is the first
        for k in range(rng.randrange(0, 6)):
            self.add_parameter(k)
        self.fixed = self.most = None
        self.shape = rng.choice([(32, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1), (256, 1, 1), (32, 4, 1), (8, 8, 2), (16, 3, 2)])
        how = rng.random()
        if how < 0.4:
            self.fixed = self.shape
        elif how < 0.7:
            threads = self.shape[0] * self.shape[1] * self.shape[2]
            self.most = threads + rng.choice([0, 0, 32, 160])
        self.dynamic = rng.random() < 0.4
        self.arrays = [(f"s{k}", rng.choice(list(ELEMENTS)), rng.choice([7, 32, 33, 64, 100, 256, 1000])) for k in range(rng.randrange(0 if self.dynamic else 1, 4))]
        self.text = self.make()

    def add_parameter(self, k):
        kind = self.rng.choice(list(SCALARS) + ["S12", "S40", "double"])
        size, align = {"S12": (12, 4), "S40": (40, 8), "double": (8, 8)}.get(kind) or (SCALARS[kind][0],) * 2
        self.at = (self.at + align - 1) // align * align
        self.params.append((k + 1, kind, f"p{k}", self.at, size))
        self.at += size

    def index(self, count):
        """An index into `count` elements, or beyond them."""
        r, axes = self.rng, ["threadIdx.x", "threadIdx.y", "threadIdx.z"]
        terms = [f"{axes[0]} * {r.choice([1, 1, 2, 3, 4, 8, 32, 33])}"]
        if self.shape[1] > 1 or self.shape[2] > 1:
            terms += [f"{a} * {r.choice([1, 8, 32, 33])}" for a in axes[1:]]
        for number, kind, name, _, _ in self.params:
            if kind in SCALARS and r.random() < 0.5:
                terms.append(r.choice([f"(unsigned){name} % {r.choice([4, 8, 10])}", f"(int){name} * {r.choice([1, 2, 4])}", f"((int){name} & {r.choice([1, 7, 31])})"]))
            if kind in ("S12", "S40") and r.random() < 0.5:
                terms.append(f"({name}.a[1] & {r.choice([3, 15])})")
        text = " + ".join(terms)
        if r.random() < 0.5:
            return f"(unsigned)({text}) % {count}u"
        return f"({text}) & {(1 << count.bit_length() - 1) - 1}" if r.random() < 0.4 else text

    def make(self):
        r = self.rng
        body, sums = [], []
        for name, kind, count in self.arrays:
            body.append(f"  __shared__ {kind} {name}[{count}];")
        places = [(n, k, c) for n, k, c in self.arrays]
        if self.dynamic:
            kind = r.choice(["float", "double"])
            body.append(f"  extern __shared__ __align__({r.choice([8, 16, 128, 1024])}) char dynamic[];")
            places.append((f"(({kind}*)dynamic)", kind, r.choice([64, 256, 512])))
        zero = lambda kind: f"make_float4(v, v, v, v)" if kind == "float4" else f"({kind})v"
        body.append("  float v = out[threadIdx.x];")
        for name, kind, count in places:
            condition = r.choice(["", "", f"if (threadIdx.x < {r.choice([5, 16, 40])}) ", "if (v > 1) "])
            body.append(f"  {condition}{name}[{self.index(count)}] = {zero(kind)};")
        body.append("  __syncthreads();")
        for name, kind, count in places:
            body.append(f"  v += {name}[{self.index(count)}]{'.y' if kind == 'float4' else ''};")
        bound = f"__launch_bounds__({self.most}) " if self.most else ""
        if self.fixed:
            bound = f"__block_size__(({','.join(map(str, self.fixed))})) "
        given = "".join(f", {k} {n}" for _, k, n, _, _ in self.params)
        return f'extern "C" __global__ void {bound}{self.name}(float* out{given}) {{\n' + "\n".join(body) + "\n  out[threadIdx.x] = v;\n}\n"


def compiled(sources, folder, nvcc, nvdisasm):
    cuda = os.path.join(folder, "k.cu")
    with open(cuda, "w") as f:
        f.write("struct S12 { int a[3]; };\nstruct __align__(8) S40 { int a[10]; };\n" + "".join(s.text for s in sources))
    subprocess.run([nvcc, "-w", "-cubin", "-arch=sm_90", "-o", cuda + "bin", cuda], check=True)
    dump = os.path.join(folder, "k.sass")
    with open(dump, "w") as f:
        subprocess.run([nvdisasm, cuda + "bin"], stdout=f, check=True)
    return dump


def static_bytes(dump):
    """End of each kernel's static shared memory, and the alignment of the memory behind it."""
    out = {}
    for part in re.split(r"\n\t\.section\t", open(dump).read()):
        m = re.match(r"\.nv\.shared\.(\w+),", part)
        if m:
            out[m[1]] = (sum(int(n) for n in re.findall(r"\.zero\s+(\d+)", part)), max([1] + [int(n) for n in re.findall(r"\.align\s+(\d+)", part)]))
    return out


def asked(binary, dump, source, block, params, dynamic):
    command = [binary, "kernel", dump, "--json", "--kernel", f"^{source.name}$"]
    command += ["--block", ",".join(map(str, block))] if block else []
    command += ["--shared-bytes", str(dynamic)] if dynamic is not None else []
    for number, value in params.items():
        command += ["--param", f"#{number}={value}"]
    r = subprocess.run(command, capture_output=True, text=True)
    return (json.loads(r.stdout)["kernels"][0], "") if r.returncode in (0, 1, 3) else (None, r.stderr)


def values_of(source, rng):
    """Values of some parameters, or of all that are numbers: by number and by offset."""
    numbers, words = {}, {}
    every = rng.random() < 0.5
    for number, kind, _, at, size in source.params:
        if kind not in SCALARS or not (every or rng.random() < 0.5):
            continue
        low, high = (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if SCALARS[kind][1] else (0, (1 << 8 * size) - 1)
        value = rng.choice([0, 1, 2, 4, rng.randrange(0, 40), rng.randrange(low, high + 1)])
        numbers[number], words[at] = value, (value, size)
    return numbers, words


def give(machine, words, rng):
    """Bytes of the parameters that have values; other bytes of their words are random."""
    for at, (value, size) in words.items():
        for k in range(size):
            place, shift = (0x210 + at + k) // 4 * 4, 8 * ((at + k) % 4)
            old = machine.param.setdefault(place, rng.randrange(1 << 32))
            machine.param[place] = old & ~(0xFF << shift) & 0xFFFFFFFF | (value >> 8 * k & 0xFF) << shift


def check_bounds(answer, machine, static, dynamic, where, certain, tally, bounds):
    end, align = static
    by_pc = sass.accesses_by_pc(answer)
    for pc, (_, size, _, addresses, active) in machine.seen.items():
        if not addresses:
            continue
        at, on = np.array(addresses).astype(np.int64), np.array(active)
        at = at & 0xFFFFFF  # within the window of the block
        outside = ((at < 0x400) | (at + size > end + (dynamic or 0))) & on
        surely = ((at < 0) | (at + size > end + align - 1 + (dynamic or 0))) & on
        for a in by_pc.get(pc, []):
            verdict = a["in_bounds"]
            bounds[str(verdict)] += 1
            if verdict and outside.any():
                tally.differ(f"{where} pc {pc:#x}: called within bounds, and {at[outside][0]:#x} is not")
            if verdict is False and certain and not surely.any():
                tally.differ(f"{where} pc {pc:#x}: called beyond its bounds, and no address is")


def check_source(binary, dump, source, kernel, static, runs, rng, tally, counts, bounds):
    block = None if source.fixed else source.shape
    if source.most and source.most < 1024:
        answer, why = asked(binary, dump, source, (source.most + 32, 1, 1), {}, None)
        counts["refused"] += 1
        if not answer or "(.maxntid)" not in (answer["refused"] or ""):
            tally.differ(f"{source.name}: a block of {source.most + 32} threads is not refused {why}")
    for _ in range(max(1, runs // 4)):
        numbers, words = values_of(source, rng)
        dynamic = rng.choice([512, 2048, 4096]) if source.dynamic and rng.random() < 0.7 else None
        answer, why = asked(binary, dump, source, block, numbers, dynamic)
        if answer is None or answer["refused"] or answer["block"] != ",".join(map(str, source.shape)):
            tally.differ(f"{dump} {source.name} {numbers}: {why or answer['refused'] or answer['block']}")
            continue
        sass.check_examples(answer, kernel, dump, tally)
        certain = all(kind not in SCALARS or n in numbers for n, kind, _, _, _ in source.params) and not any(k[0] == "S" for _, k, _, _, _ in source.params)
        for _ in range(4):
            machine = sass_interpreter.Machine(kernel, 90, source.shape, rng.randrange(1 << 31), 3000)
            give(machine, words, rng)
            if not machine.run():
                tally.cut += 1
            tally.cases += 1
            counts["fixed block"] += source.fixed is not None
            counts["launch bounds"] += source.most is not None
            counts["values"] += bool(numbers)
            counts["below a word"] += any(size < 4 for _, _, _, _, size in source.params)
            counts["structure"] += any(size > 8 for _, _, _, _, size in source.params)
            counts["dynamic"] += source.dynamic
            where = f"{dump} {source.name} {numbers} dynamic {dynamic}"
            if not machine.odd:
                sass.compare(kernel, answer, machine, where, source.shape, 0, tally)
                check_bounds(answer, machine, static, dynamic, where, certain and "if (v > 1)" not in source.text, tally, bounds)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--binary", required=True)
    p.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    p.add_argument("--nvdisasm", default=shutil.which("nvdisasm") or "nvdisasm")
    p.add_argument("--kernels", type=int, default=40)
    p.add_argument("--runs", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    given = p.parse_args()
    if not shutil.which(given.nvcc) or not shutil.which(given.nvdisasm):
        print("sass_launches.py: not run (no nvcc, or no nvdisasm)")
        return 77
    tally, rng = sass.Tally(), random.Random(given.seed)
    counts = dict.fromkeys(["refused", "fixed block", "launch bounds", "values", "below a word", "structure", "dynamic"], 0)
    bounds = dict.fromkeys(["True", "False", "None"], 0)
    for first in range(0, given.kernels, 40):
        sources = [Source(rng, f"k{first + k}") for k in range(min(40, given.kernels - first))]
        with tempfile.TemporaryDirectory() as folder:
            dump = compiled(sources, folder, given.nvcc, given.nvdisasm)
            by_name = {k.name: k for k in sass_interpreter.kernels(dump)[1]}
            static = static_bytes(dump)
            for s in sources:
                check_source(given.binary, dump, s, by_name[s.name], static.get(s.name, (0x400, 1)), given.runs, rng, tally, counts, bounds)
            if tally.different:
                shutil.copy(dump, tempfile.gettempdir())
                shutil.copy(os.path.join(folder, "k.cu"), tempfile.gettempdir())
    print(f"sass_launches.py: {tally.cases} cases ({tally.cut} cut off) of {given.kernels} kernels, {tally.accesses} executed accesses, "
          f"{tally.reached} bounds seen reached, {tally.worst} worst warps, within bounds {bounds}, {counts}, {tally.different} different")
    return 1 if tally.different or tally.cases == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
