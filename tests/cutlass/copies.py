#!/usr/bin/env python3
"""copies.py --cutlass DIR --cuda DIR [--cases N] [--seed S] [--jobs J] [--include DIR]: random TiledCopies of CuTe.

Each case is compiled against CUTLASS, and these numbers are compared: the wavefronts of swizproof/cute.hpp (evaluated when the program
runs, and of every fifth case by the compiler), those of a loop over partition_S or partition_D of a counting tensor (copies.hpp),
the answer of `swizproof check` about what print_obligation prints, and the answer about what print(TiledCopy) prints. -1 is an access that does not
fit: split or misaligned vectors. PYTHONPATH must have the Python module. The last line has the counts; exit code 1 if there is a difference.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
OTHER_SLICES = -3  # copies.hpp
ELEMENTS = {4: "uint4_t", 8: "uint8_t", 16: "half_t", 32: "float", 64: "double"}
WORD = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t", 128: "uint128_t"}


def shape(values):
    return "Shape<" + ", ".join(f"Int<{v}>" for v in values) + ">"


def plain(extents, strides):
    """A layout of one mode or of nested ones."""
    return f"Layout<{shape(extents)}, Stride<{', '.join(f'Int<{s}>' for s in strides)}>>"


class Case:
    """A case as C++ text, and the odd kinds that it is of."""

    def __init__(self, draw):
        self.draw = draw
        self.odd = []
        self.source = True
        self.instruction = "void"
        draw.choice([self.of_mma, self.of_mma, self.of_c_atom, self.of_values, self.of_modes, self.of_modes])()
        self.smem()

    # Copies ---------------------------------------------------------------------------------------------------------

    def words(self, bits, least=8):
        """A UniversalCopy, or cp.async, of some elements; sets the values of a vector."""
        draw = self.draw
        width = draw.choice([w for w in WORD if w >= max(bits, least)])
        self.vector = width // bits
        self.source = draw.random() < 0.5
        if not self.source and width >= 32 and draw.random() < 0.3:
            return f"SM80_CP_ASYNC_CACHEALWAYS<{WORD[width]}>"
        return f"UniversalCopy<{WORD[width]}>"

    def mma(self):
        draw = self.draw
        name, self.bits, m, n, k = draw.choice([("SM80_16x8x16_F32F16F16F32_TN", 16, 16, 8, 16), ("SM80_16x8x8_F16F16F16F16_TN", 16, 16, 8, 8),
                                                ("SM80_16x8x8_F32TF32TF32F32_TN", 32, 16, 8, 8), ("SM80_16x8x32_S32S8S8S32_TN", 8, 16, 8, 32)])
        wm, wn = draw.choice([(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2), (2, 4)])
        self.warps = {"A": wm, "B": wn, "C": wm * wn}  # that share an operand's elements
        pm, pn, pk = draw.choice([1, 1, 2]), draw.choice([2, 2, 4, 1]), draw.choice([1, 1, 2])
        self.k = k * pk
        rows, columns = f"Int<{m * wm * pm}>", f"Int<{n * wn * pn}>"
        self.mn = [m * wm * pm, n * wn * pn]
        if draw.random() < 0.4:
            self.odd.append("permuted tilers")
            columns = plain([n, wn, pn], [1, n * pn, n])
            if draw.random() < 0.4:
                rows = plain([m // 2, 2 * wm, pm], [1, m // 2 * pm, m // 2])
        return f"make_tiled_mma({name}{{}}, Layout<Shape<Int<{wm}>, Int<{wn}>, _1>>{{}}, Tile<{rows}, {columns}, Int<{self.k}>>{{}})"

    def matrices(self):
        """ldmatrix or stmatrix."""
        self.vector = 128 // self.bits
        if self.draw.random() < 0.5:
            self.source = True
            return self.draw.choice(["SM75_U32x1_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U32x4_LDSM_N"])
        self.source = False
        return self.draw.choice(["SM90_U32x1_STSM_N", "SM90_U32x2_STSM_N", "SM90_U32x4_STSM_N"])

    def of_mma(self):
        draw = self.draw
        mma = self.mma()
        operand = draw.choice("AABBC")
        if operand == "C":
            self.bits = draw.choice([16, 32])
        self.tile = {"A": [self.mn[0], self.k], "B": [self.mn[1], self.k], "C": self.mn}[operand]
        values = self.tile[0] * self.tile[1] // 32 // self.warps[operand]  # of a thread: the atom takes no more
        if draw.random() < 0.75 and self.bits <= 32:
            op = self.matrices()
            while int(re.search(r"x(\d)_", op)[1]) * 32 // self.bits > values and "x1" not in op:
                op = op.replace("x2", "x1").replace("x4", "x2")
        else:
            op = "UniversalCopy<" + WORD[self.bits] + ">"
            self.vector = 1
        self.kind = "operand " + operand
        self.copy = f"make_tiled_copy_{operand}(Copy_Atom<{op}, {ELEMENTS[self.bits]}>{{}}, {mma})"

    def of_c_atom(self):
        mma = self.mma()
        self.bits = self.draw.choice([16, 32])
        self.tile = self.mn
        values = self.mn[0] * self.mn[1] // 32 // self.warps["C"]
        op = self.matrices() if self.draw.random() < 0.7 else "UniversalCopy<" + WORD[self.bits] + ">"
        if "Universal" in op:
            self.vector = 1
        elif int(re.search(r"x(\d)_", op)[1]) * 32 // self.bits > values:
            op = op.replace("x4", "x1").replace("x2", "x1")
        self.kind = "C atom"
        self.odd.append("strides in tilers")
        self.copy = f"make_tiled_copy_C_atom(Copy_Atom<{op}, {ELEMENTS[self.bits]}>{{}}, {mma})"

    def of_values(self):
        """make_tiled_copy of a layout of threads and one of values."""
        draw = self.draw
        self.bits = draw.choice(list(ELEMENTS))
        op = self.words(self.bits)
        tm = draw.choice([1, 2, 3, 4, 8, 16, 32, 6, 12, 48])
        tn = draw.choice([n for n in (1, 2, 3, 4, 8, 16, 32) if tm * n <= 256])
        times = draw.choice([1, 1, 2, 3])
        along = draw.randrange(2)
        values = [[self.vector, times], [times, self.vector]][along]
        order = [1, tm] if draw.random() < 0.5 else [tn, 1]
        value_order = [1, values[0]] if along == 0 else [values[1], 1]
        self.tile = [tm * values[0], tn * values[1]]
        self.along = along
        if tm * tn % 32:
            self.odd.append("partial warps")
        self.kind = "value layout"
        self.copy = (f"make_tiled_copy(Copy_Atom<{op}, {ELEMENTS[self.bits]}>{{}}, {plain([tm, tn], order)}{{}}, "
                     f"{plain(values, value_order)}{{}})")

    def of_modes(self):
        """A thread-value layout of factors in any order, and tilers with strides and gaps."""
        draw = self.draw
        self.bits = draw.choice(list(ELEMENTS))
        op = self.words(self.bits)
        width = self.vector.bit_length() - 1
        m = max(draw.randrange(0, 6), width if draw.random() < 0.5 else 0)
        factors = [[2] * m, [2] * draw.randrange(0, 6)]
        self.along = 0 if m >= width and draw.random() < 0.8 else 1
        while len(factors[self.along]) < width:
            factors[self.along].append(2)
        for mode in factors:
            if draw.random() < 0.2:
                mode.append(3)
        modes = []  # (factor, stride in the tile's own order)
        step = 1
        for mode in factors:
            for f in mode:
                modes.append((f, step))
                step *= f
        first = [] if draw.random() < 0.1 else modes[sum(map(len, factors[:self.along])):][:width]
        rest = [x for x in modes if x not in first]
        draw.shuffle(rest)
        values = first + rest[:max(width - len(first), 0)]
        rest = rest[max(width - len(first), 0):]
        if any(f == 3 for f, _ in values):  # a vector has a power of two of values
            values, rest = modes[:0], modes
            even = [x for x in modes if x[0] == 2]
            values = even[:width]
            rest = [x for x in modes if x not in values]
            draw.shuffle(rest)
        more = draw.randrange(0, 3)
        threads, values = rest[more:], values + rest[:more]
        if not threads:
            threads = [(1, 0)]
        if not values:
            values = [(1, 0)]
        if draw.random() < 0.2:
            self.odd.append("broadcast")
            threads.insert(draw.randrange(len(threads) + 1), (2, 0))
        count = 1
        for f, _ in threads:
            count *= f
        if count % 32:
            self.odd.append("partial warps")
        tv = (f"Layout<Shape<{shape([f for f, _ in threads])}, {shape([f for f, _ in values])}>, "
              f"Stride<{shape([s for _, s in threads])}, {shape([s for _, s in values])}>>")
        tilers, self.tile = [], []
        for i, mode in enumerate(factors):
            extent = 1
            for f in mode:
                extent *= f
            if draw.random() < 0.5 or len(mode) < 2:
                tilers.append(f"Int<{extent}>")
                self.tile.append(extent)
                continue
            self.odd.append("strides in tilers")
            keep = width if i == self.along else 0
            order = list(range(keep, len(mode)))
            draw.shuffle(order)
            gap = draw.choice([1, 1, 1, 2, 3])
            strides, step = [0] * len(mode), 1
            for j in list(range(keep)) + order[:1]:
                strides[j] = step
                step *= mode[j]
            if gap > 1:
                self.odd.append("gaps in tilers")
            step *= gap
            for j in order[1:]:
                strides[j] = step
                step *= mode[j]
            tilers.append(plain(mode, strides))
            self.tile.append(step)
        self.kind = "factors"
        self.copy = f"make_tiled_copy_impl(Copy_Atom<{op}, {ELEMENTS[self.bits]}>{{}}, {tv}{{}}, Tile<{', '.join(tilers)}>{{}})"

    # Layouts --------------------------------------------------------------------------------------------------------

    def smem(self):
        draw = self.draw
        extents = [t * draw.choice([1, 1, 2, 3]) for t in self.tile]
        along = getattr(self, "along", 1 if draw.random() < 0.85 else 0)
        if draw.random() < 0.1:
            along = 1 - along
        unit = max(self.vector, 1)
        pitch = extents[along] + (unit * draw.choice([0, 0, 1, 2, 3]) if draw.random() < 0.9 else draw.randrange(8))
        if self.bits == 4 and pitch % 2:
            pitch += 1
        strides = [0, 0]
        strides[along], strides[1 - along] = 1, pitch
        if draw.random() < 0.08:
            strides[1 - along] = 0
            self.odd.append("stride 0")
        elif draw.random() < 0.05:
            strides[along] = 3
            pitch = strides[1 - along] = 3 * pitch
        if draw.random() < 0.25:
            self.odd.append("stages")
            extents = extents + [draw.choice([2, 3])]
            strides = strides + [extents[1 - along] * pitch]
        if any(t and (t & (t - 1)) for t in extents):
            self.odd.append("extents that are no power of 2")
        layout = plain(extents, strides)
        b = draw.randrange(0, 4)
        s = draw.choice([-1, 1]) * (b + draw.randrange(0, 3)) or 3
        kind = draw.random()
        if kind < 0.35:
            m = max(unit.bit_length() - 1 if draw.random() < 0.9 else draw.randrange(0, 4), 0)
            offset = unit * 8 * draw.choice([0, 0, 0, 1, 5, 16, 512])
            layout = f"decltype(composition(Swizzle<{b}, {m}, {s}>{{}}, Int<{offset}>{{}}, {layout}{{}}))"
            self.odd += ["swizzles of elements"] + (["offsets"] if offset else [])
        elif kind < 0.7:
            m = 4 if draw.random() < 0.8 else draw.randrange(0, 6)
            layout = f"decltype(composition(Swizzle<{b}, {m}, {s}>{{}}, smem_ptr_flag_bits<{self.bits}>{{}}, {layout}{{}}))"
            self.odd.append("swizzles of bytes")
        if self.bits < 8:
            self.odd.append("below a byte")
        if self.kind == "value layout" or self.kind == "factors":
            self.odd.append("atoms of words")
        self.layout = layout

    def text(self, number, asserted):
        return (f"  run<{str(asserted).lower()}, {str(self.source).lower()}, {self.instruction}, {ELEMENTS[self.bits]}>"
                f"({number}, {self.copy}, {self.layout}{{}});\n")


def compiler(options, work):
    command = [options.compiler, "-std=c++17", "-w", "-O0", "-I", work, "-I", HERE, "-I", options.include]
    for folder in (options.cutlass + "/include", options.cuda, options.cuda + "/cccl"):
        command += ["-isystem", folder]
    return command


def compile_and_run(options, work, number, cases):
    """The output of a program of these cases; the errors where it does not compile."""
    path = os.path.join(work, f"part{number}")
    with open(path + ".cpp", "w") as out:
        out.write(f'#include "{options.header}"\n')
        for n, case in cases:
            out.write(f"void case_{n}() {{\n{case.text(n, n % 5 == 0)}}}\n")
        out.write("int main() {\n" + "".join(f"  case_{n}();\n" for n, _ in cases) + "}\n")
    built = subprocess.run(compiler(options, work) + [path + ".cpp", "-o", path], capture_output=True, text=True)
    if built.returncode:
        return None, built.stderr
    ran = subprocess.run([path], capture_output=True, text=True)
    return (ran.stdout, "") if ran.returncode == 0 else (None, f"exit code {ran.returncode}")


def outputs(options, work, number, cases):
    """Output of all cases that compile, and those that do not with the first error: found by halves."""
    out, errors = compile_and_run(options, work, number, cases)
    if out is not None:
        return out, []
    if len(cases) == 1:
        error = next((line for line in errors.splitlines() if "error" in line), errors[:200])
        return "", [(cases[0], error)]
    half = len(cases) // 2
    left = outputs(options, work, f"{number}l", cases[:half])
    right = outputs(options, work, f"{number}r", cases[half:])
    return left[0] + right[0], left[1] + right[1]


def ask(answer, layout, bits, access):
    code, document, complaint = answer(["check", layout, "--element", f"{bits}b", "--access", access, "--json"])
    if code == 2:
        message = json.loads(document)["error"]["message"]
        return OTHER_SLICES if message.startswith("CuTe's partition of this layout may be another function") else "refused: " + message
    accesses = json.loads(document)["accesses"]
    if not accesses:
        return "no answer: the layout is not one-to-one"
    if accesses[0]["kind"] == "unknown":
        return "undecided: " + accesses[0]["reason"]
    return accesses[0].get("wavefronts", -1)  # not of an access that does not fit, and of lost stores


def options_of(name, cases, portion, *more):
    """The options of a comparison with CuTe: those that all have, and `more` of its own, (name, words of add_argument). Nothing without CUTLASS."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--portion", type=int, default=portion)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--cutlass", required=True)
    parser.add_argument("--cuda", required=True)
    parser.add_argument("--include", default=os.path.join(HERE, "..", "..", "include"))
    for option, words in more:
        parser.add_argument(option, **words)
    options = parser.parse_args()
    options.header = name + ".hpp"
    if not os.path.isdir(options.cutlass + "/include/cute"):
        print(f"{name}: not run (no CUTLASS)")
        return None
    return options


def main():
    options = options_of("copies", 30, 5)
    if not options:
        return 0
    from swizproof import _swizproof

    draw = random.Random(options.seed)
    cases = [(n, Case(random.Random(draw.randrange(1 << 60)))) for n in range(options.cases)]
    portions = [cases[i:i + options.portion] for i in range(0, len(cases), options.portion)]
    counts, odd, refused = collections.Counter(), collections.Counter(), collections.Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # The headers once: most of the time of a small program.
        subprocess.run(compiler(options, work) + ["-x", "c++-header", HERE + "/copies.hpp", "-o", work + "/copies.hpp.gch"], check=True)
        results = pool.map(lambda p: outputs(options, work, p[0], p[1]), enumerate(portions))
        for portion, (out, failed) in zip(portions, results):
            for (n, case), error in failed:
                from_cute = "/cute/" in error and "swizproof" not in error
                counts["not made by CuTe" if from_cute else "not compiled"] += 1
                refused[re.sub(r".*error: ", "", error)[:110]] += 1
                if not from_cute:
                    wrong += 1
                    print(f"seed {options.seed} case {n}: {error}\n{case.text(n, False)}")
            by_number = dict(portion)
            for block in re.findall(r"# case (\d+) header (-?\d+) compiled (-?\d+) partition (-?\d+) right (\d)\n(.*?)# copy\n(.*?)# end\n", out, re.S):
                n, header, compiled, partition, right = map(int, block[:5])
                case = by_number[n]
                obligation = tomllib.loads(block[5])["obligation"][0]
                layout, access = obligation["layout"], obligation["access"][0]
                instruction = access.split(":")[0]
                answers = [header, ask(_swizproof.answer, layout, case.bits, access),
                           ask(_swizproof.answer, layout, case.bits, f"{instruction}: {block[6].strip()}")]
                if compiled != -2:
                    answers.append(compiled)
                    counts["by the compiler, too"] += 1
                counts["compared"] += 1
                counts[case.kind] += 1
                counts["split"] += partition == -1
                counts["with conflicts"] += partition > 1
                for kind in set(case.odd):
                    odd[kind] += 1
                # Refused: rightly where CuTe's partition is another function than the layout, too early elsewhere.
                if header == OTHER_SLICES:
                    counts["carries refused" + (", not needed" if right else "")] += 1
                expected = OTHER_SLICES if header == OTHER_SLICES else partition
                if any(a != expected for a in answers) or (not right and expected != OTHER_SLICES):
                    wrong += 1
                    print(f"seed {options.seed} case {n}: partition {partition}; header, tv text, pasted text, compiler: {answers}\n{case.text(n, False)}"
                          f"  swizproof check '{layout}' --element {case.bits}b --access '{access}'")
    print("; ".join(f"{kind} {count}" for kind, count in refused.most_common(5)))
    print(f"{options.cases} cases, seed {options.seed}: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    print("odd: " + ", ".join(f"{k} {v}" for k, v in sorted(odd.items())) + f"; {wrong} differences")
    return 1 if wrong or not counts["compared"] else 0


if __name__ == "__main__":
    sys.exit(main())
