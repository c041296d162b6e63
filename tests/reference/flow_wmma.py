#!/usr/bin/env python3
"""flow_wmma.py --binary PATH --cases N --seed S: a reference model of wmma in `swizproof flow`, from the text of the PTX ISA alone.

One warp loads A, B and C by wmma.load, from global memory or from a copy in shared memory, multiplies by wmma.mma, and stores D. Shapes, types, layouts and strides are random; sums may be
doubled in all registers of the fragment. In half of the kernels one thing is wrong: a layout, a stride, the start of a matrix, two operands, C left out. The model has the
meaning of the matrices in memory, and no fragment: an element of D is a list of products. --show prints each kernel. The last line has the numbers; exit code 1 if there are differences.
"""
import collections
import os
import random
import sys
import tempfile

from asking import answered, options_of

BYTES = {"f16": 2, "bf16": 2, "s8": 1, "u8": 1, "tf32": 4, "f64": 8, "f32": 4, "s32": 4}
ARRAY = {"s8": "i8", "s32": "i32", "tf32": "f32"}
KINDS = [("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("s8", "s32"), ("u8", "s32"), ("tf32", "f32"), ("f64", "f64")]
WIDE = ["m16n16k16", "m8n32k16", "m32n8k16"]


def registers(fragment, shape, kind):
    """Of the table of the PTX ISA, wmma: fragments."""
    m, n, k = shape
    if fragment in "cd":
        return 4 if kind == "f16" else 2 if kind == "f64" else 8
    if kind == "f16":
        return 8
    return max(1, (m * k if fragment == "a" else k * n) * BYTES[kind] // (32 * (8 if kind == "f64" else 4)))


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        self.kind, self.sums = rng.choice(KINDS)
        name = "m16n16k8" if self.kind == "tf32" else "m8n8k4" if self.kind == "f64" else rng.choice(WIDE)
        self.name, self.shape = name, tuple(int(x) for x in name[1:].replace("n", " ").replace("k", " ").split())
        m, n, k = self.shape
        self.size = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
        self.layout = {f: rng.choice(["row", "col"]) for f in "abcd"}
        self.right = {}  # extents of each array, as the expectation has them
        for f in "abcd":
            rows, columns = self.size[f]
            lines, positions = (rows, columns) if self.layout[f] == "row" else (columns, rows)
            unit = 16 // min(self.bytes(f), 16)
            self.right[f] = (lines, (positions + unit - 1) // unit * unit + unit * rng.choice([0, 0, 1, 2]))
        self.used = {f: [self.layout[f], self.right[f][1], 0] for f in "abcd"}  # layout, stride, elements from the start
        self.with_c, self.doubled = True, self.sums != "f16" and rng.random() < 0.3
        self.shared = {f: rng.random() < 0.5 for f in "abc"}
        if rng.random() < 0.5:
            self.spoil()

    def bytes(self, f):
        return BYTES[self.sums if f in "cd" else self.kind]

    def spoil(self):
        f = self.rng.choice("abcd")
        what = self.rng.randrange(5)
        unit = 16 // min(self.bytes(f), 16)
        if what == 0:
            self.used[f][0] = "col" if self.used[f][0] == "row" else "row"
        elif what == 1:
            self.used[f][1] += unit * self.rng.choice([1, 2])
        elif what == 2:
            self.used[f][2] += unit
        elif what == 3:
            self.with_c = not self.with_c
        else:
            self.doubled = not self.doubled and self.sums != "f16"

    def place(self, f, row, column):
        layout, stride, start = self.used[f]
        return start + (row * stride + column if layout == "row" else column * stride + row)

    def misaligned(self):
        """A matrix whose start is no multiple of the bytes of a lane's fragment: PTX ISA, Matrix Storage for WMMA, address alignment."""
        def fragment(f):
            kind = self.sums if f in "cd" else self.kind
            return registers(f, self.shape, kind) * (8 if kind == "f64" else 4)
        return any(self.used[f][2] * self.bytes(f) % fragment(f) for f in "abcd" if f != "c" or self.with_c)

    def count(self, f):
        """Elements of an array: also those that a wrong kernel touches."""
        rows, columns = self.size[f]
        touched = 1 + max(self.place(f, r, c) for r in range(rows) for c in range(columns))
        lines, width = self.right[f]
        return max(lines, -(-touched // width)), width

    def element(self, f, row, column):
        """Number of the element that the expectation means."""
        width = self.right[f][1]
        return row * width + column if self.layout[f] == "row" else column * width + row

    def text(self):
        regs, body = [], []
        fragments = {}
        start = 0
        for f in "abc":
            lines, width = self.count(f)
            size = lines * width * self.bytes(f)
            if self.shared[f]:
                body.append(f"mov.u64 %g, %{f}; mov.u32 %s, tile; add.u32 %s, %s, {start}; mov.u32 %t, %tid.x; shl.b32 %t, %t, 4; cvt.u64.u32 %w, %t; add.u64 %g, %g, %w; add.u32 %s, %s, %t;")
                for at in range(0, size, 512):
                    body.append(f"setp.lt.u32 %p, %t, {size - at}; @%p ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%g+{at}]; @%p st.shared.v4.b32 [%s+{at}], {{%x0, %x1, %x2, %x3}};")
                fragments[f] = start
                start += -(-size // 512) * 512
        body.append("bar.warp.sync 0xffffffff;")
        kinds = {"a": self.kind, "b": self.kind, "c": self.sums, "d": self.sums}
        vectors = {}
        for f in "abcd":
            kind = kinds[f]
            register = kind if kind in ("f32", "f64") else "b32"
            count = registers(f, self.shape, kind)
            regs.append(f".reg .{register} %{f}r<{count}>;")
            vectors[f] = "{" + ", ".join(f"%{f}r{i}" for i in range(count)) + "}"
        for f in "abc":
            layout, stride, first = self.used[f]
            if f == "c" and not self.with_c:
                zero = "0f00000000" if self.sums == "f32" else "0d0000000000000000" if self.sums == "f64" else "0"
                move = f"mov.{self.sums if self.sums in ('f32', 'f64') else 'b32'}"
                body += [f"{move} {r.strip()}, {zero};" for r in vectors[f][1:-1].split(",")]
                continue
            space, base = (".shared", f"tile+{fragments[f] + first * self.bytes(f)}") if self.shared[f] else (".global", f"%{f}+{first * self.bytes(f)}")
            body.append(f"mov.u32 %t, {stride}; wmma.load.{f}.sync.aligned.{layout}.{self.name}{space}.{kinds[f]} {vectors[f]}, [{base}], %t;")
        types = f"{self.sums}.{self.sums}" if self.kind == "f16" else f"{self.sums}.{self.kind}.{self.kind}.{self.sums}"
        rounding = ".rn" if self.kind == "f64" else ""
        body.append(f"wmma.mma.sync.aligned.{self.used['a'][0]}.{self.used['b'][0]}.{self.name}{rounding}.{types} {vectors['d']}, {vectors['a']}, {vectors['b']}, {vectors['c']};")
        if self.doubled:
            add = "add.s32" if self.sums == "s32" else f"add.{self.sums}"
            body += [f"{add} {r.strip()}, {r.strip()}, {r.strip()};" for r in vectors["d"][1:-1].split(",")]
        layout, stride, first = self.used["d"]
        body.append(f"mov.u32 %t, {stride}; wmma.store.d.sync.aligned.{layout}.{self.name}.global.{self.sums} [%d+{first * self.bytes('d')}], {vectors['d']}, %t;")
        loads = "\n".join(f"ld.param.u64 %{f}, [p{f}];" for f in "abcd")
        return (".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(" + ", ".join(f".param .u64 p{f}" for f in "abcd") + ")\n{\n" + "\n".join(regs)
                + f"\n.reg .b64 %a, %b, %c, %d, %g, %w; .reg .b32 %s, %t, %x<4>; .reg .pred %p;\n.shared .align 128 .b8 tile[{max(start, 16)}];\n" + loads + "\n" + "\n".join(body) + "\nret;\n}\n")

    def results(self):
        """Elements of D that the kernel computes, by their number in memory."""
        m, n, k = self.shape
        out = {}
        factor = 2 if self.doubled else 1
        for i in range(m):
            for j in range(n):
                terms = collections.Counter()
                for x in range(k):
                    terms[("a", self.place("a", i, x), self.place("b", x, j))] += factor
                if self.with_c:
                    terms[("c", self.place("c", i, j))] += factor
                out[self.place("d", i, j)] = terms
        return out

    def expected(self, wanted_double):
        m, n, k = self.shape
        out = {}
        factor = 2 if wanted_double else 1
        for i in range(m):
            for j in range(n):
                terms = collections.Counter()
                for x in range(k):
                    terms[("a", self.element("a", i, x), self.element("b", x, j))] += factor
                terms[("c", self.element("c", i, j))] += factor
                out[self.element("d", i, j)] = terms
        return out


def main():
    options = options_of(__doc__, 100, by_number=True)
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.first, options.first + options.cases):
            rng = random.Random(options.seed * 1000003 + case)
            kernel, found = Kernel(rng), []
            double = rng.random() < 0.3 if kernel.sums != "f16" else False
            if rng.random() < 0.8:
                double = kernel.doubled
            m, n, k = kernel.shape
            at = {f: (x, y) if kernel.layout[f] == "row" else (y, x) for f, x, y in (("a", "m", "k"), ("b", "k", "n"), ("c", "m", "n"), ("d", "m", "n"))}
            text = {f: f + "".join(f"[{x}]" for x in at[f]) for f in "abcd"}
            times = "2*" if double else ""
            expect = f"{text['d']} = {times}sum(k in 0..{k - 1}) {text['a']} * {text['b']} + {times}{text['c']} for m in 0..{m - 1} for n in 0..{n - 1}"
            if len(kernel.results()) != m * n:
                tally["elements of D that overlap"] += 1
                continue
            path = os.path.join(folder, "k.ptx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(kernel.text())
            words = ["flow", path, "--block", "32", "--repair-steps", "0", "--expect", expect, "--json"]
            for number, f in enumerate("abcd"):
                kind = kernel.sums if f in "cd" else kernel.kind
                lines, width = kernel.count(f)
                words += ["--param", f"{number}={f}:{ARRAY.get(kind, kind)}[{lines}][{width}]"]
            code, document = answered(options.binary, words)
            results, expected = kernel.results(), kernel.expected(double)
            bad = [e for e in expected if e in results and results[e] != expected[e]]
            misaligned = kernel.misaligned()
            right = results == expected and not misaligned
            tally["misaligned"] += misaligned
            tally[{0: "proved", 1: "refuted", 3: "unknown"}.get(code, "error")] += 1
            tally[f"{kernel.kind} {kernel.name}"] += 1
            if code != (0 if right else 1):
                found.append(f"exit code {code}, and the model says {'right' if right else 'wrong'}: {document.get('reason') or document}")
            if code == 1 and document["fault"] is None and document["wrong"] != len(bad):
                found.append(f"{document['wrong']} wrong elements, and {len(bad)} in the model")
            if code == 1 and (document["fault"] is not None and document["fault"]["kind"] == "misaligned") != misaligned:
                found.append(f"the model says misaligned: {misaligned}")
            if code == 1 and document["fault"] is not None and not misaligned:
                found.append(f"a fault: {document['fault']['text']}")
            if options.show:
                print(kernel.text(), expect, code, found)
            for what in found[:2]:
                print(f"DIFFERENT: seed {options.seed}, case {case}: {kernel.name} {kernel.kind}: {what}"[:700], flush=True)
            differences += bool(found)
    print(f"flow_wmma: {options.cases} kernels; " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())) + f"; {differences} different")
    return int(differences != 0)


if __name__ == "__main__":
    sys.exit(main())
