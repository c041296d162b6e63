#!/usr/bin/env python3
"""tiles.py --cutlass DIR --cuda DIR [--cases N] [--several N] [--retiles N] [--seed S] [--atoms all|FEW]: random TiledMMAs of CuTe, TiledCopies of their operands,
and every MMA atom of the checkout.

Each case is compiled against CUTLASS. What print(TiledMMA) prints is given to `swizproof fragment`, for A, B and C, and so is the C++ text that makes
the TiledMMA, its atom by name; each value of
each thread is compared with CuTe's partition_A, partition_B and partition_C of a counting tensor, and with get_layoutA_TV and its kin.
A TiledCopy into the operand of a TiledMMA is compared with CuTe's retile: the first register that has another element.
Atoms are compared in their first, second and last thread. PYTHONPATH must have the Python module. Exit code 1 if there is a difference.
--write FILE only compiles and keeps what the programs print; --read FILE, with the same seed, compares it: for a faster machine. --jobs
compiles and compares that many portions at once.
"""

import ast
import collections
import concurrent.futures
import functools
import json
import math
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile

from copies import HERE, compiler, options_of, outputs, plain, shape

# Name, threads of ThrID, M, N, K.
ATOMS = [("UniversalFMA<float>", [(1, 0)], 1, 1, 1), ("SM61_DP4A", [(1, 0)], 1, 1, 4), ("SM61_DP2A", [(1, 0)], 1, 1, 2)]
ATOMS += [(f"SM70_8x8x4_{types}_{order}", [(4, 1), (2, 16)], 8, 8, 4)
          for types in ("F16F16F16F16", "F32F16F16F32") for order in ("TN", "NT", "NN", "TT")]
ATOMS += [(name, [(32, 1)], *map(int, re.search(r"_(\d+)x(\d+)x(\d+)", name).groups())) for name in
          ("SM75_16x8x8_F32F16F16F32_TN", "SM75_8x8x16_S32S8S8S32_TN", "SM80_16x8x8_F16F16F16F16_TN", "SM80_16x8x16_F32F16F16F32_TN",
           "SM80_16x8x4_F32TF32TF32F32_TN", "SM80_16x8x8_F32TF32TF32F32_TN", "SM80_8x8x4_F64F64F64F64_TN", "SM80_8x8x16_S32S8S8S32_TN",
           "SM80_16x8x16_S32S8S8S32_TN", "SM80_16x8x32_S32S8S8S32_TN", "SM80_8x8x32_S32S4S4S32_TN", "SM80_16x8x64_S32S4S4S32_TN",
           "SM80_8x8x128_S32U1U1S32_TN_XORPOPC", "SM80_16x8x256_S32U1U1S32_TN_ANDPOPC", "SM89_16x8x32_F32E4M3E5M2F32_TN",
           "SM90_16x8x4_F64F64F64F64_TN", "SM90_16x8x8_F64F64F64F64_TN", "SM90_16x8x16_F64F64F64F64_TN",
           "SM120_16x8x32_TN<float_e2m1_t, float_e4m3_t, float>",
           "SM120::BLOCKSCALED::SM120_16x8x64_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue8m0_t, 32>")]
ATOMS += [(f"SM90_64x{n}x16_F32F16F16_{kind}<GMMA::Major::K, GMMA::Major::K>", [(128, 1)], 64, n, 16) for n in (8, 16) for kind in ("SS", "RS")]
ATOMS += [("SM100_MMA_F16BF16_SS<half_t, half_t, float, 64, 16, UMMA::Major::K, UMMA::Major::K>", [(1, 0)], 64, 16, 16)]


class Case:
    """A TiledMMA as C++ text, and the odd kinds that it is of."""

    def __init__(self, draw):
        self.draw = draw
        self.odd = set()
        self.name, thread_id, *self.extents = draw.choice(ATOMS)
        size = math.prod(n for n, _ in thread_id)
        self.big = size == 128 or self.name.startswith("SM100")
        self.atoms = [draw.choice([1, 1, 2, 3, 4, 8] if size == 1 and not self.big else [1, 1, 2, 2, 3, 4]) for _ in range(3)]
        if self.big:
            self.atoms = [draw.choice([1, 2]), draw.choice([1, 1, 2]), 1]
        while math.prod(self.atoms) * size > 256:
            self.atoms[draw.randrange(3)] = 1
        self.threads(thread_id)
        self.whole = []
        self.tiled = True
        self.permutation = ", ".join(self.mode(i) for i in range(3))
        if size == 8:
            self.odd.add("quad pairs")

    def threads(self, thread_id):
        """The layout of atoms, in any order of strides; its modes may be nested."""
        draw = self.draw
        self.reach = math.prod(self.atoms) * math.prod(n for n, _ in thread_id)
        order = list(range(3))
        if draw.random() < 0.5:
            draw.shuffle(order)
            self.odd.add("order of atoms")
        strides, step = [0] * 3, 1
        for i in order:
            strides[i] = step
            step *= self.atoms[i]
        extents, steps = [], []
        for n, s in zip(self.atoms, strides):
            if n in (4, 8) and draw.random() < 0.3:
                self.odd.add("nested atoms")
                extents.append(f"Shape<_2, Int<{n // 2}>>")
                steps.append(f"Stride<Int<{s * (n // 2)}>, Int<{s}>>")
            else:
                extents.append(f"Int<{n}>")
                steps.append(f"Int<{s}>")
        self.layout = f"Layout<Shape<{', '.join(extents)}>, Stride<{', '.join(steps)}>>"
        self.reach = max(self.reach, 32 if len(thread_id) == 2 else 0)

    def mode(self, i):
        draw = self.draw
        atoms = self.extents[i] * self.atoms[i]
        times = draw.choice([1, 1, 2, 3]) if not self.big else 1
        kind = draw.random()
        if kind < 0.35 or atoms * times == 1:
            self.whole.append(atoms)
            return "Underscore"
        if kind < 0.6:
            self.odd.add("extents")
            self.whole.append(atoms * times)
            return f"Int<{atoms * times}>"
        if draw.random() < 0.85:  # along the atoms
            part = draw.choice([d for d in range(1, self.extents[i] + 1) if self.extents[i] % d == 0])
            factors = [f for f in (part, self.extents[i] // part, self.atoms[i], times) if f > 1]
        else:
            factors, rest = [], atoms * times
            while rest > 1:
                factors.append(draw.choice([d for d in range(2, rest + 1) if rest % d == 0]))
                rest //= factors[-1]
        order = list(range(len(factors)))
        draw.shuffle(order)
        self.odd.add("permutations")
        gap = draw.choice([1, 1, 1, 2, 3])
        strides, step = [0] * len(factors), 1
        for at, j in enumerate(order):
            if gap > 1 and at == len(order) - 1 and len(order) > 1:
                self.odd.add("gaps")
                self.tiled = False
                step *= gap
            strides[j] = step
            step *= factors[j]
        self.whole.append(step)
        return plain(factors, strides)

    def written(self):
        return f"make_tiled_mma({self.name}{{}}, {self.layout}{{}}, Tile<{self.permutation}>{{}})"

    def text(self, number, _):
        m, n, k = self.whole
        return f"  run<{str(self.tiled).lower()}, {m}, {n}, {k}>({number}, {self.reach}, {self.written()});\n"


class Several:
    """TiledMMAs of one atom and one permutation, with atoms side by side that are known when the program runs: compiled once."""

    def __init__(self, draw, count=16):
        self.odd = {"known at run time"}
        small = [a for a in ATOMS if "SM100" not in a[0] and "_SS" not in a[0]]
        self.name, thread_id, *extents = draw.choice(small)
        size = math.prod(n for n, _ in thread_id)
        modes, whole = [], []
        for e in extents:
            if draw.random() < 0.5:
                modes.append("Underscore")
                whole.append(None)
                continue
            self.odd.add("permutations")
            part = draw.choice([d for d in range(1, e + 1) if e % d == 0])
            factors = [f for f in (part, e // part, 4) if f > 1]
            order = list(range(len(factors)))
            draw.shuffle(order)
            strides, step = [0] * len(factors), 1
            for j in order:
                strides[j] = step
                step *= factors[j]
            modes.append(plain(factors, strides))
            whole.append(step)
        self.permutation = f"Tile<{', '.join(modes)}>"
        self.atoms = []
        for _ in range(count):
            atoms = [draw.choice([1, 1, 2, 4] + ([3, 8] if w is None and size != 8 else [])) for w in whole]
            while math.prod(atoms) * size > 256:
                atoms[draw.randrange(3)] = 1
            order, strides, step = [0, 1, 2], [0] * 3, 1
            draw.shuffle(order)
            for i in order:
                strides[i] = step
                step *= atoms[i]
            tile = [w or e * a for w, e, a in zip(whole, extents, atoms)]
            self.atoms.append(atoms + strides + [max(step * size, 32 if size == 8 else 0)] + tile)

    def text(self, number, _):
        return (f"  several<{self.name}, {self.permutation}>({number}, "
                f"{{{', '.join('{' + ', '.join(map(str, a)) + '}' for a in self.atoms)}}});\n")


class Retile:
    """A copy made for one TiledMMA, and the operand of another with as many threads, which may be the same."""

    def __init__(self, draw):
        self.draw = draw
        self.odd = set()
        name, element, m, n, k = draw.choice([("SM80_16x8x16_F32F16F16F32_TN", "half_t", 16, 8, 16), ("SM80_16x8x8_F16F16F16F16_TN", "half_t", 16, 8, 8)])
        wm, wn = draw.choice([(1, 1), (2, 1), (1, 2), (2, 2)])
        self.threads = 32 * wm * wn
        first, self.tile = self.mma(name, (m, n, k), wm, wn)
        second = first
        if draw.random() < 0.6:
            self.odd.add("another TiledMMA")
            second, _ = self.mma(name, (m, n, k), wm, wn, self.tile)
        self.operand = draw.choice("ABBC")
        self.loads = self.operand != "C"
        atoms = ["SM75_U32x1_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U32x4_LDSM_N", "UniversalCopy<uint16_t>", "SM75_U16x4_LDSM_T", "SM75_U16x8_LDSM_T"]
        if not self.loads:
            atoms = ["SM90_U32x1_STSM_N", "SM90_U32x2_STSM_N", "SM90_U32x4_STSM_N", "UniversalCopy<uint16_t>", "UniversalCopy<uint32_t>"]
        op = draw.choice(atoms)
        self.copy = f"make_tiled_copy_{self.operand}(Copy_Atom<{op}, {element}>{{}}, {first})"
        self.mma_text = second

    def mma(self, name, extents, wm, wn, tile=None):
        draw = self.draw
        tile = tile or [extents[0] * wm * draw.choice([1, 2]), extents[1] * wn * draw.choice([2, 4]), extents[2] * draw.choice([1, 2])]
        modes = [f"Int<{t}>" for t in tile]
        if draw.random() < 0.5:
            self.odd.add("permutations")
            p = tile[1] // (extents[1] * wn)
            modes[1] = plain([extents[1], wn, p], [1, extents[1] * p, extents[1]])
        order = [1, wm] if draw.random() < 0.7 else [wn, 1]
        return (f"make_tiled_mma({name}{{}}, Layout<Shape<Int<{wm}>, Int<{wn}>, _1>, Stride<Int<{order[0]}>, Int<{order[1]}>, _0>>{{}}, "
                f"Tile<{', '.join(modes)}>{{}})"), tile

    def text(self, number, _):
        i, j = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}[self.operand]
        return (f"  {{ auto const mma = {self.mma_text};\n    retiled<{self.tile[i]}, {self.tile[j]}, {str(self.loads).lower()}>({number}, {self.threads}, "
                f"'{self.operand.lower()}', {self.copy}, mma, [&](int t, auto const& x) {{ return mma.get_slice(t).partition_{self.operand}(x); }}); }}\n")


class Atom:
    def __init__(self, name):
        self.name = name

    def written(self):
        return f"TiledMMA<MMA_Atom<{self.name}>, Layout<Shape<_1, _1, _1>>>"

    def text(self, number, _):
        return f"  atom<{self.name}>({number});\n"


def all_atoms(cutlass):
    """Every atom that the checkout has traits for: those with template parameters once each."""
    names, left = [], []
    folder = os.path.join(cutlass, "include", "cute", "atom")
    for file in sorted(os.listdir(folder)):
        if not file.startswith("mma_traits"):
            continue
        text = open(os.path.join(folder, file)).read()
        for name in re.findall(r"^struct MMA_Traits<((?:[^<>;{]|<[^<>]*>)+)>\s*(?::[^{]*)?\{", text, re.M):
            name = " ".join(name.split()).replace(", sparse_args...", "")
            arguments = {"tnspA": "GMMA::Major::K", "tnspB": "GMMA::Major::K", "scaleA": "GMMA::ScaleIn::One", "scaleB": "GMMA::ScaleIn::One",
                         "spsel": "GMMA::SparseSel::Zero", "D": "float", "A": "float", "B": "float", "C": "float"}
            if "SM100_MMA" in name or "SM103" in name or "SM120" in name:
                arguments = blackwell(name)
            known = re.sub(r"\b(\w+)\b(?=[,>])", lambda m: arguments.get(m[1], m[1]), name)
            names.append(known) if not re.search(r"\b(a_type|b_type|c_type|tnspA)\b", known) else left.append(name)
    return names, left


def blackwell(name):
    wide = {"a_type": "half_t", "b_type": "half_t"}
    if "TF32" in name:
        wide = {"a_type": "tfloat32_t", "b_type": "tfloat32_t"}
    elif "S8" in name:
        wide = {"a_type": "int8_t", "b_type": "int8_t"}
    elif "F8F6F4" in name or "SM120_16x8x32" in name or "16x8x64_TN" in name and "SPARSE" in name:
        wide = {"a_type": "float_e4m3_t", "b_type": "float_e4m3_t"}
    elif "MXF4" in name or "VS" in name:
        wide = {"a_type": "float_e2m1_t", "b_type": "float_e2m1_t"}
    c = "int32_t" if "S8" in name else "float"
    m = "256" if "2x1SM" in name else "128"
    return wide | {"c_type": c, "sf_type": "float_ue8m0_t", "M": m, "N": "64", "VS": "32", "a_major": "UMMA::Major::K", "b_major": "UMMA::Major::K",
                   "a_neg": "UMMA::ScaleIn::One", "b_neg": "UMMA::ScaleIn::One", "c_sat": "UMMA::Saturate::False", "ScaleC": "1",
                   "a_sat": "UMMA::Saturate::False", "ab_vtype": "half_t"}


def flat(numbers):
    """The leaves of a tuple of tuples."""
    return [numbers] if isinstance(numbers, int) else [n for part in numbers for n in flat(part)]


def offsets(shape_of, strides):
    """The offsets of a mode, its first leaf fastest."""
    found = [0]
    for n, s in zip(flat(shape_of), flat(strides)):
        found = [offset + i * s for i in range(n) for offset in found]
    return found


class Held:
    """The elements of each thread: its offset plus that of each value, both from 0, so equal parts are equal elements."""

    def __init__(self, threads, values):
        self.threads, self.values = threads, values

    def __eq__(self, other):
        return (self.threads, self.values) == (other.threads, other.values)

    def __getitem__(self, thread):
        return [self.threads[thread] + value for value in self.values]


@functools.lru_cache(maxsize=64)  # many atoms print one block
def elements(answer, text, lane=0):
    """i + I j of each value by thread, of the layout that the program prints, and the document; or the message of a refusal. The elements
    of one lane are those of the layout."""
    code, document, _ = answer(["fragment", text, "--json", "--lane", str(lane)])
    document = json.loads(document)
    if "error" in document:
        return document["error"]["message"], document
    rows, columns = document["shape"]
    listed = [e["column"] + columns * e["row"] if text.endswith(":b") else e["row"] + rows * e["column"] for e in document.pop("elements")]
    shapes, strides = (ast.literal_eval(part.replace("_", "")) for part in document["layout"].split(":"))
    held = Held(offsets(shapes[0], strides[0]), offsets(shapes[1], strides[1]))
    if held[lane] != listed:
        return f"lane {lane} is listed as {listed[:8]}, and its layout has {held[lane][:8]}", document
    return held, document


def compare_written(answer, case, operand, numbers, counts):
    """The TiledMMA as C++ writes it, its atom by name: the elements that its block gave."""
    text = getattr(case, "written", lambda: None)()
    if text is None:
        return []
    other, _ = elements(answer, f"{text}:{operand}")
    if isinstance(other, str):
        if "is not modelled" not in other and "no register holds it" not in other:
            return [f"{text}:{operand}: {other}"]
        counts["by name: refused"] += 1
        return []
    counts["by name"] += 1
    return [] if other == numbers else [f"{text}:{operand}: {other[0][:8]}, of the block {numbers[0][:8]}"]


def refusal(message):
    """The kind of a refusal that is right: elements that no register holds, and threads that CuTe's own inverse loses."""
    if "no register holds it" in message:
        return "operands in shared memory refused"
    return "threads with gaps that are no multiples refused" if "CuTe's inverse loses threads" in message else None


def compare_tile(answer, block, counts, case):
    """Differences of the three operands of a printed TiledMMA."""
    wrong = []
    printed, values = block.split("# values\n")
    for operand, i, j, lines, other in re.findall(r"operand (\w) (\d+) (\d+)\n(.*?)# other (\d+)\n", values, re.S):
        if other != "0":
            counts["CuTe's partition and its layout of threads and values differ"] += 1
        numbers, document = elements(answer, f"{printed}:{operand}")
        if isinstance(numbers, str):
            known = refusal(numbers)
            counts[known or "refused"] += 1
            if not known:
                wrong.append(f"{operand}: {numbers}")
            continue
        expected = {t: list(map(int, line.split())) for t, line in enumerate(lines.splitlines())}
        counts["values"] += sum(map(len, expected.values()))
        extents = [int(i), int(j)]
        shape_of = extents[::-1] if operand == "b" else extents
        if document["shape"] != shape_of or document["lanes"] < len(expected):
            wrong.append(f"{operand}: shape {document['shape']}, {document['lanes']} threads; expected {shape_of}, {len(expected)}")
        elif any(numbers[t] != of for t, of in expected.items()):
            t = next(t for t, of in expected.items() if numbers[t] != of)
            wrong.append(f"{operand}: thread {t} {numbers[t]}, CuTe {expected[t]}")
        else:
            wrong += compare_written(answer, case, operand, numbers, counts)
    return wrong


def compare_atom(answer, block, counts, case):
    wrong = []
    printed, values = block.split("# values\n")
    for operand, lines in re.findall(r"operand (\w)\n((?:\d+:.*\n)+)", values):
        expected = {int(thread): list(map(int, line.split())) for thread, line in (line.split(":") for line in lines.splitlines())}
        numbers, document = elements(answer, f"{printed}:{operand}", max(expected))
        if isinstance(numbers, str):
            known = refusal(numbers)
            counts[known or "refused"] += 1
            if not known:
                wrong.append(f"{operand}: {numbers}")
            continue
        counts["values"] += sum(map(len, expected.values()))
        counts["threads"] += len(set(expected))
        differ = [t for t, of in expected.items() if numbers[t] != of]
        if differ:
            wrong.append(f"{operand}: thread {differ[0]} {numbers[differ[0]][:20]}, CuTe {expected[differ[0]][:20]}")
        else:
            wrong += compare_written(answer, case, operand, numbers, counts)
    return wrong


def compare_retile(answer, block, counts, _):
    """The verdict on a TiledCopy and a TiledMMA, and the first register that is another element."""
    mma, operand, way, copy, values = re.match(r"(.*)# operand (\w) (\w+)\n(.*)# values\n(.*)", block, re.S).groups()
    sides = [copy, f"{mma}:{operand}"]
    code, document, _ = answer(["fragment", sides[way == "store"], "--into", sides[way == "load"], "--json"])
    document = json.loads(document)
    if "error" in document:
        return [document["error"]["message"]]
    first = re.match(r"first (\d+) (\d+) (\d+) (\d+)", values)
    counts[f"{way}, {document['verdict']}"] += 1
    if not first:
        return [] if document["verdict"] == "proved" else [f"{document['counterexample']}, CuTe: the same"]
    w, (rows, _) = document["counterexample"], document["shape"]
    ours = w and [w["lane"], w["value"]] + [at[0] + rows * at[1] for at in (w["moved"], w["wanted"])]
    theirs = list(map(int, first.groups()))
    return [] if ours == theirs else [f"{w}, CuTe {theirs}"]


def main():
    options = options_of("tiles", 20, 5, ("--atoms", {"default": "0"}), ("--retiles", {"type": int, "default": 0}),
                         ("--several", {"type": int, "default": 0}), ("--write", {}), ("--read", {}))
    if not options:
        return 0
    draw = random.Random(options.seed)
    cases = [Case(random.Random(draw.randrange(1 << 60))) for _ in range(options.cases)]
    names, left = all_atoms(options.cutlass)
    if options.atoms != "all":
        names = draw.sample(names, int(options.atoms))
    cases += [Several(random.Random(draw.randrange(1 << 60))) for _ in range(options.several)]
    cases += [Retile(random.Random(draw.randrange(1 << 60))) for _ in range(options.retiles)]
    cases = list(enumerate(cases + [Atom(name) for name in names]))
    if options.read:
        printed = json.load(open(options.read))
    else:
        printed = compile_all(options, cases)
    if options.write:
        json.dump(printed, open(options.write, "w"))
        return 0
    return compare(options, dict(cases), printed, left)


def compile_all(options, cases):
    """What CuTe prints, by portions, and the cases that it does not make with their first error."""
    portions, single = [], len(cases) - sum(isinstance(case, Atom) for _, case in cases)
    for of, length in (cases[:single], options.portion), (cases[single:], 100):
        portions += [of[i:i + length] for i in range(0, len(of), length)]
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        subprocess.run(compiler(options, work) + ["-x", "c++-header", HERE + "/tiles.hpp", "-o", work + "/tiles.hpp.gch"], check=True)
        results = list(pool.map(lambda p: outputs(options, work, p[0], p[1]), enumerate(portions)))
    return [(out, [(number, error) for (number, _), error in failed]) for out, failed in results]


def compare_portion(seed, cases, portion):
    """Differences as lines, how many cases have one, and the counts."""
    from swizproof import _swizproof

    out, failed = portion
    counts, odd, wrong, lines = collections.Counter(), collections.Counter(), 0, []
    for number, error in failed:
        counts["not made by CuTe"] += 1
        lines.append(f"not made by CuTe: {cases[number].text(number, False).strip()}\n  {error[-160:]}")
    for kind, number, block in re.findall(r"# (case|retile|atom) (\d+)\n(.*?)# end\n", out, re.S):
        case = cases[int(number)]
        found = {"case": compare_tile, "retile": compare_retile, "atom": compare_atom}[kind](_swizproof.answer, block, counts, case)
        counts[{"case": "TiledMMAs", "retile": "TiledCopies", "atom": "atoms"}[kind]] += 1
        for what in getattr(case, "odd", ()):
            odd[what] += 1
        wrong += bool(found)
        for difference in found:
            lines.append(f"seed {seed}, {kind} {number}: {difference}\n{case.text(int(number), False)}{block.split('# values')[0]}")
    return lines, counts, odd, wrong


def compare(options, cases, printed, left):
    counts, odd, wrong = collections.Counter(), collections.Counter(), 0
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for lines, of, kinds, differ in pool.imap(functools.partial(compare_portion, options.seed, cases), printed):
            counts += of
            odd += kinds
            wrong += differ
            for line in lines:
                print(line, flush=True)
    print(f"{options.cases} cases, seed {options.seed}: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    if left:
        print(f"{len(left)} atoms without arguments for their templates: {', '.join(left)[:300]}")
    print("odd: " + ", ".join(f"{k} {v}" for k, v in sorted(odd.items())) + f"; {wrong} differences")
    return 1 if wrong or not printed else 0


if __name__ == "__main__":
    sys.exit(main())
