#!/usr/bin/env python3
"""views.py --cutlass DIR --cuda DIR [--cases N] [--seed S] [--jobs J]: CuTe's views, compared with CuTe.

Random layouts, with swizzles and without, are viewed by local_tile, local_partition (with projections and without), partition_A and its kin,
partition_S, partition_D, tidfrg_S, tidfrg_D, retile_S, retile_D, slice, select, get, take, replace, group and make_fragment_like. Each case is compiled against CUTLASS, and its
printed layout and each of its elements are compared with `swizproof eval` of the same C++ text; views of a thread also as methods,
`thr_mma.partition_A(L)`. PYTHONPATH must have the Python module. Exit code 1 if there is a difference.
"""

import collections
import concurrent.futures
import json
import random
import re
import subprocess
import sys
import tempfile

from copies import HERE, compiler, options_of, outputs, plain

MMAS = ["make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{}, Tile<_32,_32,_16>{})",
        "make_tiled_mma(SM80_16x8x8_F32TF32TF32F32_TN{}, Layout<Shape<_1,_4,_1>>{}, Tile<_16,_64,_8>{})",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_4,_1,_1>>{}, Tile<_64,Layout<Shape<_8,_2>,Stride<_1,_8>>,_16>{})",
        "make_tiled_mma(SM70_8x8x4_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>,Stride<_2,_1,_1>>{})",
        "make_tiled_mma(UniversalFMA<float,float,float>{}, Layout<Shape<_16,_16,_1>>{})"]
TILES = [(32, 32, 16, 128), (16, 64, 8, 128), (64, 16, 16, 128), (16, 16, 4, 32), (16, 16, 1, 256)]  # m, n, k, threads


class Case:
    """A view as C++ text: `cpp` in the program, `ours` in the question."""

    def __init__(self, number, draw):
        self.draw = draw
        self.blocks = False
        self.methods = []
        self.kind = draw.choice(["local_tile", "local_tile", "local_partition", "local_partition", "mma", "mma", "copy", "retile", "slice", "modes", "fragment_like"])
        getattr(self, self.kind)(number)

    def layout(self, extents, swizzled=True):
        """A layout of these extents, modes nested or in any order of strides, padded or swizzled."""
        draw = self.draw
        factors = [[e] if e % 2 or draw.random() < 0.6 else [2, e // 2] for e in extents]
        order = [(i, j) for i in range(len(factors)) for j in range(len(factors[i]))]
        if draw.random() < 0.5:
            order.reverse()
        if draw.random() < 0.2:
            draw.shuffle(order)
        strides, step = [[0] * len(f) for f in factors], 1
        for n, (i, j) in enumerate(order):
            strides[i][j] = step
            step = step * factors[i][j] + (draw.choice([0, 0, 0, 4]) if n == 0 else 0)

        def written(name, numbers):
            modes = [f"_{n[0]}" if len(n) == 1 else f"{name}<{','.join(f'_{x}' for x in n)}>" for n in numbers]
            return f"{name}<{','.join(re.sub(r'_([0-9]+)', r'Int<' + chr(92) + '1>', m) for m in modes)}>"
        text = f"Layout<{written('Shape', factors)},{written('Stride', strides)}>{{}}"
        powers = all(n & (n - 1) == 0 for numbers in factors + strides for n in numbers)  # CuTe slices no other swizzled layouts
        if swizzled and powers and draw.random() < 0.5:
            return f"composition(Swizzle<{draw.choice(['3,3,3', '2,3,3', '1,2,3', '2,0,4'])}>{{}}, {text})"
        return text

    def of_tensor(self, layout, expression, function="view"):
        self.cpp = f"{function}(NUMBER, {expression.replace('TENSOR', f'counting({layout})')});"
        self.ours = expression.replace("TENSOR", layout)

    def local_tile(self, number):
        draw = self.draw
        tile = [draw.choice([1, 2, 4, 8]) for _ in range(2)]
        rest = [draw.choice([1, 2, 3, 4]) for _ in range(2)]
        at = [draw.choice(["_", str(draw.randrange(r))]) for r in rest]
        layout = self.layout([t * r for t, r in zip(tile, rest)])
        tiler, step = [f"Int<{t}>" for t in tile], ""
        if draw.random() < 0.5:
            out = draw.randrange(3)
            tiler.insert(out, "_16")
            at.insert(out, draw.choice(["_", "7"]))
            kept = ["_1", "_1"]
            kept.insert(out, "X")
            step = f", Step<{','.join(kept)}>{{}}"
        self.of_tensor(layout, f"local_tile(TENSOR, Shape<{','.join(tiler)}>{{}}, make_coord({','.join(at)}){step})")

    def local_partition(self, number):
        draw = self.draw
        threads = [draw.choice([1, 2, 4, 8]) for _ in range(2)]
        layout = self.layout([t * draw.choice([1, 2, 3]) for t in threads])
        step = ""
        if draw.random() < 0.5:
            out = draw.randrange(3)
            threads.insert(out, draw.choice([1, 2, 4]))
            kept = ["_1", "_1"]
            kept.insert(out, "X")
            step = f", Step<{','.join(kept)}>{{}}"
        order = list(range(len(threads)))
        draw.shuffle(order)
        strides, size = [0] * len(threads), 1
        for i in order:
            strides[i] = size
            size *= threads[i]
        self.of_tensor(layout, f"local_partition(TENSOR, {plain(threads, strides)}{{}}, {draw.randrange(size)}{step})")

    def mma(self, number):
        draw = self.draw
        which = draw.randrange(len(MMAS))
        m, n, k, threads = TILES[which]
        operand = draw.choice("ABC")
        extents = [e * draw.choice([1, 2]) for e in {"A": (m, k), "B": (n, k), "C": (m, n)}[operand]]
        of_registers = draw.random() < 0.4
        layout = self.layout(extents, not of_registers)
        thread = draw.randrange(threads)
        name = f"partition_fragment_{operand}" if of_registers else f"partition_{operand}"
        self.cpp = f"{'fragment' if of_registers else 'view'}(NUMBER, {MMAS[which]}.get_slice({thread}).{name}(counting({layout})));"
        self.ours = f"{name}({MMAS[which]}, {thread}, {layout})"
        self.methods = [f"{MMAS[which]}.get_slice({thread}).{name}({layout})",
                        f"auto mma = {MMAS[which]}; auto tensor = {layout}; auto thr_mma = mma.get_thread_slice({thread}); thr_mma.{name}(tensor)"]

    def copy(self, number):
        draw = self.draw
        vector, tm, tn = draw.choice([1, 2, 4, 8]), draw.choice([4, 8, 16]), draw.choice([2, 4, 8])
        made = draw.choice([f"make_tiled_copy(Copy_Atom<UniversalCopy<uint16_t>, half_t>{{}}, {plain([tm, tn], [tn, 1])}{{}}, {plain([1, vector], [1, 1])}{{}})",
                            f"make_tiled_copy_{draw.choice('AB')}(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{{}}, {MMAS[0]})"])
        whole = [tm, tn * vector] if "_copy(" in made else [32, 16]
        threads = tm * tn if "_copy(" in made else 128
        side = draw.choice("SD")
        layout = self.layout([e * draw.choice([1, 2]) for e in whole])
        thread = draw.randrange(threads)
        self.blocks = True
        self.cpp = f"block(NUMBER, {made}); view(NUMBER, {made}.get_slice({thread}).partition_{side}(counting({layout})));"
        self.ours = f"partition_{side}(BLOCK, {thread}, {layout})"
        self.methods = [f"auto copy = BLOCK; auto thr_copy = copy.get_slice({thread}); thr_copy.partition_{side}({layout})"]
        if draw.random() < 0.3:  # all threads
            self.kind = "tidfrg"
            self.cpp = f"block(NUMBER, {made}); view(NUMBER, {made}.tidfrg_{side}(counting({layout})));"
            self.ours = f"tidfrg_{side}(BLOCK, {layout})"
            self.methods = [f"auto copy = BLOCK; copy.tidfrg_{side}({layout})"]

    def retile(self, number):
        """A fragment of an MMA's thread, in any order of registers, as a copy of the operand moves it."""
        draw = self.draw
        which = draw.randrange(3)
        m, n, k, threads = TILES[which]
        operand = draw.choice("ABC")
        extents = [e * draw.choice([1, 2, 3]) for e in {"A": (m, k), "B": (n, k), "C": (m, n)}[operand]]
        bits = 32 if operand == "C" or which == 1 else 16
        element = {16: "half_t", 32: "float"}[bits]
        atoms = {16: ["UniversalCopy<uint16_t>", "UniversalCopy<uint32_t>"], 32: ["UniversalCopy<uint32_t>", "UniversalCopy<uint64_t>"]}[bits]
        if operand != "C":
            atoms += ["SM75_U32x2_LDSM_N", "SM75_U32x4_LDSM_N", "SM75_U32x1_LDSM_N"]
        made = f"make_tiled_copy_{operand}(Copy_Atom<{draw.choice(atoms)}, {element}>{{}}, {MMAS[which]})"
        thread = draw.randrange(threads)
        shape = f"{MMAS[which]}.get_slice({thread}).partition_fragment_{operand}(counting({self.layout(extents, False)})).shape()"
        side = draw.choice("SD")
        order = draw.choice(["LayoutLeft", "LayoutRight"])
        self.blocks = True
        self.cpp = (f"{{ auto const fragment = make_layout({shape}, {order}{{}}); block(NUMBER, {made}); given(NUMBER, fragment); "
                    f"view(NUMBER, {made}.get_slice({thread}).retile_{side}(counting(fragment))); }}")
        self.ours = f"retile_{side}(BLOCK, GIVEN)"
        self.methods = [f"auto copy = BLOCK; auto thr_copy = copy.get_slice({thread}); thr_copy.retile_{side}(GIVEN)",
                        "auto copy = BLOCK; copy.retile(GIVEN)"]

    def slice(self, number):
        draw = self.draw
        extents = [draw.choice([2, 4, 6]) for _ in range(3)]
        at = [draw.choice(["_", str(draw.randrange(e))]) for e in extents]
        if "_" not in at:
            at[1] = "_"
        layout = self.layout(extents, False)
        coordinate = f"make_coord({','.join(at)})"
        self.cpp = f"view(NUMBER, slice({coordinate}, {layout}));"
        self.ours = f"slice({coordinate}, {layout})"
        self.methods = [f"slice({layout}, {coordinate})"]

    def modes(self, number):
        draw = self.draw
        layout = self.layout([draw.choice([2, 4, 6]) for _ in range(3)])
        expression = draw.choice(["select<0,2>(TENSOR)", "select<2,1,0>(TENSOR)", "layout<1>(TENSOR)", "take<0,2>(TENSOR)", "take<1,3>(TENSOR)",
                                  "group<0,2>(TENSOR)", "group<1,3>(TENSOR)"])
        if not layout.startswith("composition") and draw.random() < 0.3:
            expression = "replace<1>(TENSOR, Layout<_4,_3>{})"
        self.cpp = f"{{ auto const x = {layout}; view(NUMBER, {expression.replace('TENSOR', 'x')}); }}"
        self.ours = expression.replace("TENSOR", layout)

    def fragment_like(self, number):
        layout = self.layout([self.draw.choice([1, 2, 4, 6]) for _ in range(3)])
        self.cpp = f"view(NUMBER, make_fragment_like({layout}));"
        self.ours = f"make_fragment_like({layout})"

    def text(self, number, _):
        return "  " + self.cpp.replace("NUMBER", str(number)) + "\n"


def static(text):
    text = re.sub(r"M_\d+\|\(\d+&\d+\)=(\d+)", r"\1", text)  # an offset with dynamic bits
    return re.sub(r"_(-?\d)", r"\1", text.strip())


def differences(answer, case, block, given, printed, values):
    for text in [case.ours] + case.methods:
        text = text.replace("BLOCK", block).replace("GIVEN", given)
        _, document, _ = answer(["eval", text, "--json"])
        document = json.loads(document)
        if "error" in document:
            yield f"{text}: {document['error']['message']}"
            continue
        starts = [int(n) for note in document.get("notes", []) for n in re.findall(r"^the slice starts at offset (\d+)", note)]
        ours = [v + (starts[0] if starts and case.kind != "slice" else 0) for v in document["values"]]
        # CuTe is given threads and coordinates at run time: the program's answer, or what its note says of integers at run time.
        at_run_time = [m for note in document.get("notes", []) for m in re.findall(r"known at run time alone, CuTe's result is (.*), not .*: the same function$", note)]
        if static((at_run_time or [document["layout"]])[0]) != static(printed):
            yield f"{text}: {document['layout']}, CuTe {printed}"
        elif ours != values:
            yield f"{text}: {ours[:12]}, CuTe {values[:12]}"


def main():
    options = options_of("views", 40, 10)
    if not options:
        return 0
    draw = random.Random(options.seed)
    cases = [(n, Case(n, random.Random(draw.randrange(1 << 60)))) for n in range(options.cases)]
    portions = [cases[i:i + options.portion] for i in range(0, len(cases), options.portion)]
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        subprocess.run(compiler(options, work) + ["-x", "c++-header", HERE + "/views.hpp", "-o", work + "/views.hpp.gch"], check=True)
        results = list(pool.map(lambda p: outputs(options, work, p[0], p[1]), enumerate(portions)))
    return compare(options, dict(cases), results)


def compare(options, cases, results):
    from swizproof import _swizproof

    counts, wrong = collections.Counter(), 0
    for out, failed in results:
        for (number, case), error in failed:
            counts["not made by CuTe"] += 1
            print(f"not made by CuTe: {case.cpp}\n  {error[-160:]}")
        blocks, fragments = (dict(re.findall(r"# %s (\d+)\n(.*?)# end\n" % what, out, re.S)) for what in ("block", "given"))
        for number, printed, values in re.findall(r"# view (\d+)\n(.*?)\n(.*?)\n# end\n", out, re.S):
            case = cases[int(number)]
            values = list(map(int, values.split()))
            counts[case.kind] += 1
            counts["values"] += len(values)
            found = list(differences(_swizproof.answer, case, blocks.get(number, "").strip(), fragments.get(number, "").strip(), printed, values))
            wrong += bool(found)
            for difference in found:
                print(f"seed {options.seed}, case {number}: {difference}\n{case.text(int(number), False)}")
    print(f"{options.cases} cases, seed {options.seed}: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())) + f"; {wrong} differences")
    return 1 if wrong or not results else 0


if __name__ == "__main__":
    sys.exit(main())
