#!/usr/bin/env python3
"""Reference model of arrays and subscripts of C as LAYOUT and ACCESS.

Written from the C++ standard's integer rules, the CUDA C++ Programming Guide's order of threads and table of vector types, and the cost model
of hardware.md. Random arrays, subscripts, casts, loops, names and blocks become command lines. A subscript is a tree that this file prints and
evaluates with Python's integers, one thread after the other. A C++ compiler evaluates the same text on an array in memory: --compile says for
how many cases. No line of it is the program's.

Called as: declarations.py --cases N --seed S [--compile N]. PYTHONPATH holds the folder of the module _swizproof.
"""
import argparse
import collections
import ctypes
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("declarations.py: not run (numpy is not installed)")
    sys.exit(77)

from ptx_interpreter import wavefronts

try:
    from swizproof import _swizproof
except ImportError:
    sys.path.insert(0, os.path.join(os.environ.get("PYTHONPATH", "").split(":")[0], "swizproof"))
    import _swizproof

odd, kinds, differences = collections.Counter(), collections.Counter(), []
SCALARS = {"char": 1, "unsigned char": 1, "int8_t": 1, "half": 2, "__nv_bfloat16": 2, "short": 2, "unsigned short": 2, "float": 4, "int": 4,
           "unsigned": 4, "uint32_t": 4, "double": 8, "long long": 8, "float2": 8, "float4": 16, "half2": 4, "uint4": 16, "uchar4": 4}
CASTS = {"uchar2": 2, "short2": 4, "half2": 4, "float": 4, "uint2": 8, "float2": 8, "double": 8, "float4": 16, "uint4": 16, "int4": 16}
IDEAL = {1: 1, 2: 1, 4: 1, 8: 2, 16: 4}


class Undefined(Exception):
    """C leaves the value undefined."""


class Ambiguous(Exception):
    """A subscript leaves its extent, and a number that is added may lead back into the array: the program counts it or not."""


class Crossing(Exception):
    """A vector that begins in a row and ends in the next: a coordinate has no such place, and the program refuses it."""


class Value:
    """An integer of C: its value, bits and sign."""

    def __init__(self, n, bits=32, signed=True):
        self.n, self.bits, self.signed = n, bits, signed

    def converted(self, bits, signed):
        n = self.n % (1 << bits)
        return Value(n - (1 << bits) if signed and n >> (bits - 1) else n, bits, signed)


def usual(a, b):
    """Both after the usual arithmetic conversions."""
    if a.bits != b.bits:
        wide = a if a.bits > b.bits else b
        return a.converted(wide.bits, wide.signed), b.converted(wide.bits, wide.signed)
    signed = a.signed and b.signed
    return a.converted(a.bits, signed), b.converted(b.bits, signed)


def limited(n, like):
    if not like.signed:
        return Value(n % (1 << like.bits), like.bits, False)
    if not -(1 << (like.bits - 1)) <= n < 1 << (like.bits - 1):
        raise Undefined
    return Value(n, like.bits, True)


def toward_zero(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


# An expression is a pair: its text with enough parentheses, and a function of the names' values.

def number(n, suffix=""):
    return f"{n}{suffix}", lambda names, n=n, u="u" in suffix: Value(n, 32, not u)


def name(text):
    return text, lambda names, text=text: names[text]


def binary(op, a, b):
    def value(names):
        if op in ("<<", ">>"):
            x, k = a[1](names), b[1](names).n
            if not 0 <= k < x.bits:
                raise Undefined
            return limited(x.n << k, x) if op == "<<" else Value(x.n >> k, x.bits, x.signed)
        x, y = usual(a[1](names), b[1](names))
        if op in ("/", "%"):
            q = toward_zero(x.n, y.n)
            return Value(q if op == "/" else x.n - q * y.n, x.bits, x.signed)
        if op in ("<", "<=", ">", ">=", "==", "!="):
            return Value(int({"<": x.n < y.n, "<=": x.n <= y.n, ">": x.n > y.n, ">=": x.n >= y.n, "==": x.n == y.n, "!=": x.n != y.n}[op]))
        if op in ("&", "|", "^"):
            n = x.n & y.n if op == "&" else x.n | y.n if op == "|" else x.n ^ y.n
            return Value(n, x.bits, x.signed)
        return limited(x.n + y.n if op == "+" else x.n - y.n if op == "-" else x.n * y.n, x)
    return f"({a[0]} {op} {b[0]})", value


def unary(op, a):
    def value(names):
        x = a[1](names)
        return limited(-x.n, x) if op == "-" else limited(~x.n, x)
    return f"({op}{a[0]})", value


def cast(type_name, a):
    bits, signed = {"int": (32, True), "unsigned": (32, False), "short": (16, True), "unsigned char": (8, False), "int64_t": (64, True)}[type_name]

    def value(names):
        x = a[1](names).converted(bits, signed)
        return x if bits >= 32 else x.converted(32, True)
    return (f"(({type_name}){a[0]})" if " " in type_name else f"static_cast<{type_name}>({a[0]})"), value


def choice(c, a, b):
    def value(names):
        x, y = usual(a[1](names), b[1](names))
        return x if c[1](names).n else y
    return f"({c[0]} ? {a[0]} : {b[0]})", value


class Case:
    """A command line, and a function of a thread and the loops that says which bytes it accesses."""

    def __init__(self, draw):
        self.draw = draw
        self.loops, self.suffix, self.prefix, self.conditions, self.locals = [], [], "", [], []
        self.block = draw.choice([None, None, (32, 1, 1), (64, 1, 1), (32, 8, 1), (8, 4, 1), (8, 8, 2), (16, 16, 1), (20, 1, 1), (33, 2, 1), (7, 3, 2)])
        self.array()
        self.names_of_loops()
        self.names_of_locals()
        self.place()
        self.statement()

    def chance(self, share):
        return self.draw.random() < share

    def array(self):
        draw = self.draw
        self.type = draw.choice(list(SCALARS))
        self.size = SCALARS[self.type]
        rank = draw.choice([1, 2, 2, 2, 2, 3, 4])
        inner = draw.choice([1, 3, 4, 8, 16, 20, 32, 33, 40, 64, 65, 72, 128])
        self.extents = [draw.choice([1, 2, 3, 4, 8]) for _ in range(rank - 2)] + ([draw.choice([1, 4, 8, 16, 31, 32, 64])] if rank > 1 else [])
        self.extents.append(inner if rank > 1 else inner * draw.choice([1, 8, 32, 33]))
        self.array_name = draw.choice(["a", "As", "smem", "tile", "row", "x"])
        self.alignment = draw.choice([None, None, 16, 16, 128])
        aligned = {None: "", 16: draw.choice(["alignas(16) ", "__align__(16) ", "alignas(float4) "]), 128: "alignas(128) "}[self.alignment]
        shared = draw.choice(["__shared__ ", "__shared__ ", "", "extern __shared__ ", "static __shared__ "])
        self.constants = ""
        texts = [str(e) for e in self.extents]
        if self.chance(0.2):
            self.constants = f"constexpr int N = {self.extents[-1]}; "
            texts[-1] = draw.choice(["N", "N + 0", "N * 1"])
            odd["named extents"] += 1
        order = [aligned, shared]
        if self.chance(0.3) and shared:
            order.reverse()
        self.declared = self.type + " " + self.array_name + "".join(f"[{t}]" for t in texts)
        self.declaration = self.constants + "".join(order) + self.declared + draw.choice(["", ";", " ;"])
        odd["rank 1"] += rank == 1
        odd["rank 3 and 4"] += rank > 2
        odd["extents of 1"] += 1 in self.extents
        odd["alignas"] += self.alignment is not None
        odd["partial warps"] += self.block is not None and self.block[0] * self.block[1] * self.block[2] % 32 != 0
        odd["vectors in the array"] += self.type[-1] in "24"

    def names_of_loops(self):
        draw = self.draw
        for loop in ["i", "kk"][:draw.choice([0, 1, 1, 2])]:
            first, count, step = draw.choice([0, 0, 1, 4]), draw.choice([1, 2, 3, 4, 8]), draw.choice([1, 1, 2, 4])
            end = first + (count - 1) * step + draw.choice([1, step])
            values = range(first, end, step)
            how = draw.choice(["for", "range", "C", "C"])
            if how == "for" and step == 1:
                self.suffix.append(f"for {loop} in {first}..{values[-1]}")
            elif how == "range" or how == "for":
                self.suffix.append(f"for {loop} in range({first}, {end}, {step})" if step > 1 or first or self.chance(0.3) else f"for {loop} in range({end})")
            else:
                kind = draw.choice(["int", "int", "unsigned", "int64_t"])
                self.c_loop(loop, kind, first, end, step)
                odd["loops of C"] += 1
                odd["loops of other types than int"] += kind != "int"
                self.loops.append((loop, values, kind))
                continue
            self.loops.append((loop, values, "int"))

    def c_loop(self, loop, kind, first, end, step):
        draw = self.draw
        increment = f"{loop} += {step}" if step > 1 or self.chance(0.3) else draw.choice([f"++{loop}", f"{loop}++"])
        test = f"{loop} < {end}" if self.chance(0.7) else f"{loop} <= {end - 1}"
        self.prefix += f"{draw.choice(['', '#pragma unroll' + chr(10), '#pragma unroll 4' + chr(10)])}for ({kind} {loop} = {first}; {test}; {increment}) "

    def known(self):
        names = ["threadIdx.x"] + [loop for loop, _, _ in self.loops] + [local for local, _, _ in self.locals]
        if self.block is not None:
            names += ["threadIdx.y", "blockDim.x"] + (["threadIdx.z"] if self.block[2] > 1 else [])
        elif self.chance(0.3):
            names.append("lane")
        return names

    def names_of_locals(self):
        for local in ["r", "c0"][:self.draw.choice([0, 0, 1, 2])]:
            type_name = self.draw.choice(["int", "unsigned", "const int", "auto"])
            expression = self.small(2)
            self.locals.append((local, type_name, expression))
            odd["names of integers"] += 1

    def small(self, depth):
        """An expression of small values, mostly at least 0."""
        draw = self.draw
        if depth == 0 or self.chance(0.15):
            return name(draw.choice(self.known())) if self.chance(0.75) else number(draw.choice([0, 1, 2, 3, 5, 8, 16, 31]), draw.choice(["", "", "u"]))
        how = draw.random()
        inner = self.small(depth - 1)
        if how < 0.25:
            return binary(draw.choice(["/", "%"]), inner, number(draw.choice([1, 2, 3, 4, 7, 8, 16, 32])))
        if how < 0.4:
            return binary("*", inner, number(draw.choice([1, 2, 4, 8])))
        if how < 0.55:
            return binary("+", inner, self.small(depth - 1))
        if how < 0.65:
            odd["subtractions"] += 1
            return binary("-", inner, self.small(depth - 1))
        if how < 0.8:
            return binary(draw.choice(["^", "&", "|"]), inner, self.small(depth - 1) if self.chance(0.5) else number(draw.choice([1, 3, 7, 12, 31])))
        if how < 0.9:
            return binary(draw.choice(["<<", ">>"]), inner, number(draw.choice([0, 1, 2, 3])))
        if how < 0.94:
            odd["conditionals"] += 1
            return choice(binary(draw.choice(["<", "<=", ">", "==", "!=", ">="]), inner, self.small(depth - 1)), inner, self.small(depth - 1))
        if how < 0.97:
            odd["signs"] += 1
            return unary(draw.choice(["-", "~"]), inner)
        odd["casts of integers"] += 1
        return cast(draw.choice(["int", "unsigned", "short", "unsigned char", "int64_t"]), inner)

    def index(self, extent):
        """A subscript, which is mostly inside."""
        inner = self.small(self.draw.choice([1, 2, 3]))
        return binary("%", inner, number(extent)) if self.chance(0.8) else inner

    def place(self):
        draw = self.draw
        self.indices = [self.index(e) for e in self.extents]
        target = draw.choice([t for t in CASTS if CASTS[t] % self.size == 0] or [None])
        self.moved, self.cast_to, self.beyond = self.size, None, None
        subscripts = "".join(f"[{self.bare(i[0])}]" for i in self.indices)
        element = self.array_name + subscripts
        self.text = element
        if target is None or self.chance(0.35):
            return
        self.moved, self.cast_to = CASTS[target], target
        odd["casts"] += 1
        vector = self.moved // self.size
        if self.chance(0.6):  # aligned to the vector
            self.indices[-1] = binary("*", binary("%", self.small(2), number(max(self.extents[-1] // vector, 1))), number(vector))
            element = self.array_name + "".join(f"[{self.bare(i[0])}]" for i in self.indices)
        const = draw.choice(["", "const "])
        how = draw.choice(["star", "index", "index", "old", "reference", "flat", "flat", "plus"])
        if how == "reference":
            self.text = f"reinterpret_cast<{const}{target}&>({element})"
        elif how == "old":
            self.text = f"*({const}{target}*)&{element}"
        elif how == "star":
            self.text = f"*reinterpret_cast<{const}{target}*>(&{element})"
        elif how == "plus":
            self.beyond = self.small(1)
            self.text = f"*reinterpret_cast<{const}{target} *>(&{element} + {self.beyond[0]})"
            self.beyond_size = self.size
        else:
            flat = how == "flat" and self.chance(0.7)
            if flat:
                self.indices = [number(0) for _ in self.extents]
                odd["flat vectors"] += 1
            self.beyond = self.small(2) if flat or self.chance(0.3) else number(0)
            self.beyond_size = self.moved
            address = self.array_name if flat and self.chance(0.5) else "&" + self.array_name + "".join(f"[{self.bare(i[0])}]" for i in self.indices)
            self.text = draw.choice([f"reinterpret_cast<{const}{target}*>({address})[{self.bare(self.beyond[0])}]",
                                     f"(({const}{target}*)({address}))[{self.bare(self.beyond[0])}]"])

    def bare(self, text):
        """Without the parentheses around all of it, sometimes."""
        if text.startswith("(") and text.endswith(")") and self.chance(0.7):
            depth = 0
            for i, c in enumerate(text):
                depth += (c == "(") - (c == ")")
                if depth == 0 and i + 1 < len(text):
                    return text
            return text[1:-1]
        return text

    def statement(self):
        draw = self.draw
        self.store = self.chance(0.4)
        value = "v" if self.cast_to is None else f"make_{self.cast_to}(v)"
        body = f"{self.text} = {value}" if self.store else draw.choice([self.text, f"v = {self.text}", f"{self.type} v = {self.text}", f"sum[1] += {self.text}"])
        condition = ""
        if self.chance(0.2):
            test = binary(draw.choice(["<", ">=", "!="]), self.small(1), number(draw.choice([1, 4, 16])))
            self.conditions.append(test)
            odd["conditions"] += 1
            if self.chance(0.5):
                self.prefix += f"if ({self.bare(test[0])}) "
            else:
                condition = " if " + self.bare(test[0])
        declared = "".join(f"{t} {local} = {self.bare(e[0])}; " for local, t, e in self.locals)
        self.access = self.hoisted(declared) + body + draw.choice(["", ";"] if not self.suffix and not condition else [""]) + condition
        self.access += "".join(" " + s for s in self.suffix)

    def hoisted(self, declared):
        return self.prefix.split("if (")[0] + declared + ("if (" + self.prefix.split("if (", 1)[1] if "if (" in self.prefix else "")

    # ------------------------------------------------------------------------------------------ what happens

    def threads(self):
        x, y, z = self.block or (32, 1, 1)
        return [(t % x, t // x % y, t // (x * y)) for t in range(x * y * z)]

    def assignments(self):
        out = [{}]
        for loop, values, _ in self.loops:
            out = [dict(a, **{loop: v}) for a in out for v in values]
        return out

    def names(self, thread, number, loops):
        block = self.block or (32, 1, 1)
        names = {loop: Value(loops[loop], 64 if kind == "int64_t" else 32, kind != "unsigned") for loop, _, kind in self.loops}
        for axis, t, n in zip("xyz", thread, block):
            names[f"threadIdx.{axis}"], names[f"blockDim.{axis}"] = Value(t, 32, False), Value(n, 32, False)
        names["lane"] = Value(number % 32)
        for local, type_name, expression in self.locals:
            v = expression[1](names)
            names[local] = v if type_name == "auto" else v.converted(32, type_name != "unsigned")
        return names

    def at(self, names):
        """Coordinate, elements behind it, or None for a thread that takes no part."""
        if any(not c[1](names).n for c in self.conditions):
            return None
        return [i[1](names).n for i in self.indices], (self.beyond[1](names).n * (self.beyond_size // self.size) if self.beyond else 0)

    def byte(self, place):
        flat = 0
        for i, e in zip(place[0], self.extents):
            flat = flat * e + i
        return (flat + place[1]) * self.size

    def outside(self, place):
        """Out of the array, by C's rule that each subscript is in its extent; a vector and an index of a pointer may only leave by the end."""
        indices, beyond = place
        total = 1
        for e in self.extents:
            total *= e
        start = self.byte(place) // self.size
        vector = self.moved // self.size
        along = max([m for m, e in enumerate(self.extents) if e > 1] or [0])  # rows of one element lie side by side
        row = self.extents[along]
        left = [not 0 <= i < e for i, e in zip(indices, self.extents)]
        if self.beyond is not None and self.beyond[0] != "0":
            if any(left):
                raise Ambiguous
            if not 0 <= start <= total - vector:
                return True
        elif any(left):
            return True
        if along > 0 and start % row + vector > row and row % vector:
            raise Crossing
        return start % row + vector > row if along > 0 else start + vector > total


def expected(case):
    """The verdict's kind and the worst number of wavefronts; None where C leaves a value undefined."""
    threads = case.threads()
    warps = (len(threads) + 31) // 32
    worst, accessed, bad = 0, False, set()
    rows, masks = [], []
    for loops in case.assignments():
        for w in range(warps):
            address, active = [0] * 32, [False] * 32
            for lane in range(32):
                if 32 * w + lane >= len(threads):
                    continue
                place = case.at(case.names(threads[32 * w + lane], 32 * w + lane, loops))
                if place is None:
                    continue
                byte = case.byte(place)
                if case.outside(place):
                    bad.add("outside")
                elif byte % case.moved:
                    bad.add("misaligned")
                address[lane], active[lane] = byte, True
            accessed = accessed or any(active)
            rows.append(address)
            masks.append(active)
    if not accessed:
        return "nothing", 0
    if bad:
        return "misfit", 0
    mask = np.array(masks)
    n = wavefronts("st" if case.store else "ld", case.moved, np.array(rows), mask)
    return "cost", int(max(n[mask.any(axis=1)]))


REFUSALS = ("may overflow", "which C leaves undefined", "may cross the rows", "may not fit", "by a number that varies", "of 64 bits may overflow")


def words_of(case):
    words = ["check", case.declaration, "--access", case.access]
    return words + (["--block", ",".join(map(str, case.block))] if case.block else [])


def run(case):
    words = words_of(case)
    line = "swizproof " + shlex.join(words)
    code, document, _ = _swizproof.answer([*words, "--json", "--timeout", "5"], b"")
    answer = json.loads(document.decode("utf-8", "replace"))
    try:
        mine = expected(case)
    except Ambiguous:
        kinds["ambiguous"] += 1
        return
    except Crossing:
        kinds["vectors across rows, refused"] += 1
        if not any(r in answer.get("error", {}).get("message", "") for r in REFUSALS):
            differences.append(("a vector across rows", "refused", answer.get("verdict"), line))
        return
    except Undefined:
        mine = None
    if "error" in answer:
        message = answer["error"]["message"]
        if message.startswith("no lane takes part"):
            theirs = ("nothing", 0)
        elif any(r in message for r in REFUSALS):
            kinds["refused for the bounds" if mine is not None else "undefined, refused"] += 1
            return
        else:
            differences.append((message, mine, "", line))
            return
    else:
        access = answer["accesses"][0]
        theirs = (access["kind"], access.get("wavefronts", 0))
        if access["ideal"] != IDEAL[case.moved]:
            differences.append(("ideal", IDEAL[case.moved], access["ideal"], line))
        name = ("st" if case.store else "ld") + f".shared.b{8 * case.moved}: "
        if not access["access"].startswith(name):
            differences.append(("instruction", name, access["access"], line))
        if answer["layout"].replace("_", "") != layout_of(case):
            differences.append(("layout", layout_of(case), answer["layout"], line))
    if mine is None:
        differences.append(("C leaves a value undefined, and it was not refused", None, theirs, line))
        return
    kinds[mine[0]] += 1
    if mine != theirs:
        differences.append(("verdict", mine, theirs, line))


def layout_of(case):
    strides, step = [], 1
    for e in reversed(case.extents):
        strides.insert(0, step)
        step *= e
    if len(strides) == 1:
        return f"{case.extents[0]}:1"
    return "({}):({})".format(",".join(map(str, case.extents)), ",".join(map(str, strides)))


# ------------------------------------------------------------------------------------------------ a compiler's opinion

HEAD = """#include <cstdint>
struct dim { unsigned x, y, z; };
struct half { uint16_t v; }; struct __nv_bfloat16 { uint16_t v; };
struct alignas(4) half2 { uint16_t x, y; }; struct alignas(8) float2 { float x, y; }; struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) uint4 { unsigned x, y, z, w; }; struct alignas(16) int4 { int x, y, z, w; }; struct alignas(8) uint2 { unsigned x, y; };
struct alignas(2) uchar2 { unsigned char x, y; }; struct alignas(4) uchar4 { unsigned char x, y, z, w; }; struct alignas(4) short2 { short x, y; };
"""


def function_of(case, k):
    """A function that gives the byte that a thread accesses, relative to the array; -1 for a thread that takes no part."""
    loops = "".join(f", {kind} {loop}" for loop, _, kind in case.loops)
    declared = "".join(f"{t} {local} = {e[0]}; " for local, t, e in case.locals)
    conditions = "".join(f"if (!({c[0]})) return INT64_MIN; " for c in case.conditions)
    return (f"static {case.type} array{k}" + "".join(f"[{e}]" for e in case.extents) + ";\n"
            f'extern "C" int64_t f{k}(dim threadIdx, dim blockDim, int lane{loops}) {{ auto& {case.array_name} = array{k}; {declared}{conditions}'
            f"return (int64_t)(uintptr_t)&({case.text}) - (int64_t)(uintptr_t)&array{k}; }}\n")


class Dim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


def compare_with_compiler(cases):
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "c.cpp"), os.path.join(folder, "c.so")
        with open(source, "w") as f:
            f.write(HEAD + "".join(function_of(c, k) for k, c in enumerate(cases)))
        subprocess.run(["g++", "-std=c++20", "-w", "-O0", "-fwrapv", "-shared", "-fPIC", source, "-o", library], check=True)
        loaded = ctypes.CDLL(library)
        for k, case in enumerate(cases):
            f = loaded[f"f{k}"]
            f.restype = ctypes.c_int64
            kinds_of = {"int": ctypes.c_int, "unsigned": ctypes.c_uint, "int64_t": ctypes.c_int64}
            f.argtypes = [Dim, Dim, ctypes.c_int, *(kinds_of[kind] for _, _, kind in case.loops)]
            block = Dim(*(case.block or (32, 1, 1)))
            draw = random.Random(k)
            all_threads = case.threads()
            for loops in case.assignments():
                for number in draw.sample(range(len(all_threads)), min(8, len(all_threads))):
                    thread = all_threads[number]
                    theirs = f(Dim(*thread), block, number % 32, *(loops[loop] for loop, _, _ in case.loops))
                    try:
                        place = case.at(case.names(thread, number, loops))
                    except Undefined:
                        continue
                    kinds["addresses compared with a compiler's"] += 1
                    mine = -(1 << 63) if place is None else case.byte(place)
                    if mine != theirs:
                        differences.append((f"compiler: thread {thread}, {loops}", mine, theirs, shlex.join(words_of(case))))
        handle = loaded._handle
        del loaded
        ctypes.CDLL(None).dlclose(ctypes.c_void_p(handle))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compile", type=int, default=0)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    waiting = []
    for n in range(arguments.cases):
        case = Case(draw)
        run(case)
        if n < arguments.compile and shutil.which("g++"):
            waiting.append(case)
        if waiting and (len(waiting) == 250 or n + 1 == arguments.cases):
            compare_with_compiler(waiting)
            waiting = []
        if len(differences) > 20:
            break
    if waiting:
        compare_with_compiler(waiting)
    for difference in differences[:10]:
        print("DIFFERENCE {}: mine {}, the program's {}\n    {}".format(*difference))
    print(f"{sum(kinds[k] for k in kinds if not k.startswith('addresses'))} cases, {len(differences)} differences")
    print("  " + ", ".join(f"{k} {n}" for k, n in sorted(kinds.items())))
    print("  odd: " + ", ".join(f"{k} {n}" for k, n in sorted(odd.items())))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
