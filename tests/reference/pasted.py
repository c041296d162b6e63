#!/usr/bin/env python3
"""Reference model of pasted tensors, Triton's and Gluon's shared layouts, and C's literals.

Written from the documentation alone: docs/reference.md for the text, CuTe's Swizzle and Triton's definition of its
encodings for the addresses, the cost model of hardware.md for conflicts. No line of it is the program's. Every case is a
command line; the program answers it through its Python module.

Called as: pasted.py --cases N --seed S. PYTHONPATH holds the folder of the module _swizproof.
"""
import argparse
import collections
import json
import os
import random
import shlex
import sys

try:
    from swizproof import _swizproof
except ImportError:
    sys.path.insert(0, os.path.join(os.environ.get("PYTHONPATH", "").split(":")[0], "swizproof"))
    import _swizproof

odd = collections.Counter()
kinds = collections.Counter()
differences = []


def ask(words):
    code, document, _ = _swizproof.answer([*words, "--json"], b"")
    return code, json.loads(document.decode("utf-8", "replace"))


def compare(words, what, mine, theirs):
    if mine != theirs:
        differences.append((what, mine, theirs, "swizproof " + shlex.join(words)))


# ------------------------------------------------------------------------------------------------- literals

def literal(n, draw):
    """n as C++ may write it."""
    kind = draw.choice(["decimal", "hexadecimal", "octal", "binary"])
    digits = {"decimal": str(n), "hexadecimal": f"{n:x}", "octal": f"{n:o}", "binary": f"{n:b}"}[kind]
    if len(digits) > 1 and draw.random() < 0.4:
        at = draw.randrange(1, len(digits))
        digits = digits[:at] + "'" + digits[at:]
        odd["digit separators"] += 1
    if kind == "octal":
        odd["octal"] += 1
    if kind == "binary":
        odd["binary"] += 1
    prefix = {"decimal": "", "hexadecimal": draw.choice(["0x", "0X"]), "octal": "0", "binary": draw.choice(["0b", "0B"])}
    if kind == "octal" and n == 0:
        return "0"
    return prefix[kind] + digits + draw.choice(["", "", "", "u", "UL"])


def case_literal(draw):
    if draw.random() < 0.3:
        a, x = draw.randrange(1 << draw.randrange(1, 40)), draw.randrange(1 << 20)
        words = ["eval", f"fn(x) = x + {literal(a, draw)}", "--at", str(x)]
        code, answer = ask(words)
        compare(words, "values", (0, [x + a]), (code, answer.get("values")))
        return
    rows, cols = draw.randrange(1, 12), draw.randrange(1, 12)
    strides = [draw.randrange(0, 200), draw.randrange(0, 200)]
    names = draw.choice(["plain", "type", "make", "black"])
    t = [literal(n, draw) for n in (rows, cols, *strides)]
    layout = {"plain": f"({t[0]},{t[1]}):({t[2]},{t[3]})",
              "type": f"Layout<Shape<Int<{t[0]}>,C<{t[1]}>>, /* strides */ Stride<Int<{t[2]}>,Int<{t[3]}>>>{{}}",
              "make": f"constexpr int M = {t[0]}, N = {t[1]}; "
                      f"make_layout(make_shape(Int<M>{{}}, Int<N>{{}}), make_stride(Int<{t[2]}>{{}}, Int<{t[3]}>{{}}))",
              "black": f"cute.make_layout(\n    (\n        {t[0]},\n        {t[1]},\n    ),\n    stride=({t[2]}, {t[3]},),\n)"}[names]
    words = ["eval", layout]
    code, answer = ask(words)
    values = [r * strides[0] + c * strides[1] for c in range(cols) for r in range(rows)]
    compare(words, "values", (0, values), (code, answer.get("values")))


# --------------------------------------------------------------------------------------------- Triton, Gluon

def spelled(draw, names, parts):
    """A Gluon call: some arguments by position, the others by name."""
    first = draw.randrange(len(parts) + 1)
    odd["by position"] += first > 0
    text = [v for _, v in parts[:first]] + [f"{n}={v}" for n, v in parts[first:]]
    return draw.choice(["", "ttgl.", "gl."]) + names + "(" + ", ".join(text) + draw.choice(["", ","]) + ")"


def index_order(shape):
    """Coordinates of the plain indices: the first extent is fastest."""
    out = [()]
    for n in reversed(shape):
        out = [(i,) + rest for rest in out for i in range(n)]
    return out


def case_swizzled(draw):
    rank = draw.choice([1, 2, 2, 2, 3])
    shape = [2 ** draw.randrange(0, 6 - rank) for _ in range(rank)]
    order = list(range(rank))
    draw.shuffle(order)
    vec, per_phase, phases = (2 ** draw.randrange(0, 4) for _ in range(3))
    strides, step = [0] * rank, 1
    for axis in order:
        strides[axis], step = step, step * shape[axis]

    def place(at):
        at = list(at)
        if rank > 1:
            phase = at[order[1]] // per_phase % phases
            at[order[0]] ^= vec * phase % shape[order[0]]
        return sum(i * s for i, s in zip(at, strides))
    lists = str(order)
    if draw.random() < 0.5:
        text = spelled(draw, "SwizzledSharedLayout", [("vec", str(vec)), ("per_phase", str(per_phase)),
                                                      ("max_phase", str(phases)), ("order", lists)])
        odd["Gluon"] += 1
    else:
        text = f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {phases}, order = {lists}}}>"
    odd["three axes"] += rank == 3
    odd["phases wider than the row"] += rank > 1 and vec * phases > shape[order[0]]
    words = ["eval", text + " " + "(" + ",".join(map(str, shape)) + ")"]
    code, answer = ask(words)
    compare(words, "values", (0, [place(at) for at in index_order(shape)]), (code, answer.get("values")))


def nvmma_place(r, c, rows, cols, width, bits):
    """Row and column of the contiguous axis: lines of `width` bytes, 16-byte chunks exchanged by the line's number."""
    if width == 0:
        br, bc = min(rows, 256), min(cols, 256)
        return c % bc + r % br * bc + c // bc * bc * br + r // br * (bc * br * (cols // bc))
    line, chunk = 8 * width // bits, 128 // bits
    phase = r // (128 // width) % (width // 16)
    inside = c % line
    inside = (inside // chunk ^ phase) * chunk + inside % chunk
    return ((c // line) * rows + r) * line + inside


def case_nvmma(draw):
    width, bits = draw.choice([0, 0, 32, 64, 128]), draw.choice([8, 16, 32, 64])
    transposed = draw.random() < 0.5
    line = max(8 * width // bits, 1)
    lines, contiguous = 2 ** draw.randrange(3, 7), line * 2 ** draw.randrange(0, 2)
    if width == 0:
        lines, contiguous = 2 ** draw.randrange(0, 6), 2 ** draw.randrange(0, 6)
        if draw.random() < 0.02:
            lines, contiguous = draw.choice([(512, 4), (4, 512), (512, 512)])
            odd["more than 256 along an axis"] += 1
    shape = [contiguous, lines] if transposed else [lines, contiguous]
    if draw.random() < 0.5:
        text = spelled(draw, "NVMMASharedLayout", [("swizzle_byte_width", str(width)), ("element_bitwidth", str(bits)),
                                                   ("rank", "2"), ("transposed", str(transposed))])
        odd["Gluon"] += 1
    else:
        text = (f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {str(transposed).lower()}, "
                f"elementBitWidth = {bits}}}>")
    odd["transposed without a swizzle"] += transposed and width == 0
    layout = f"{text} ({shape[0]},{shape[1]})"
    words = ["eval", layout, "--bytes"]
    code, answer = ask(words)

    def place(at):
        r, c = (at[1], at[0]) if transposed else at
        return nvmma_place(r, c, lines, contiguous, width, bits) * bits // 8
    compare(words, "values", (0, [place(at) for at in index_order(shape)]), (code, answer.get("values")))
    said = any("10453" in note for note in answer.get("notes", []))
    compare(words, "note of Triton's change", transposed and width == 0, said)


def case_padded(draw):
    shape, order = [2 ** draw.randrange(0, 5), 2 ** draw.randrange(0, 5)], draw.choice([[0, 1], [1, 0]])
    pads, intervals = [], [2 ** i for i in range(1, 8)]
    draw.shuffle(intervals)
    for interval in intervals[:draw.randrange(1, 3)]:
        pads.append((interval, 2 ** draw.randrange(0, 4)))
    if draw.random() < 0.5:
        text = spelled(draw, "PaddedSharedLayout", [("interval_padding_pairs", str([list(p) for p in pads]))])
        text = text.rstrip(",)") if text.endswith(",)") else text[:-1]
        text += f", shape={shape}, order={order})"
        odd["Gluon"] += 1
    else:
        text = ("#ttg.padded_shared<[" + ", ".join(f"{i}:+{p}" for i, p in pads) +
                f"] {{order = {order}, shape = {shape}}}>")

    def place(at):
        i = at[order[0]] + at[order[1]] * shape[order[0]]
        return i + sum(i // interval * pad for interval, pad in pads)
    words = ["eval", text]
    code, answer = ask(words)
    compare(words, "values", (0, [place(at) for at in index_order(shape)]), (code, answer.get("values")))


def case_linear(draw):
    bits = [draw.randrange(1, 4), draw.randrange(1, 4)]
    total = sum(bits)
    units = [[1 << b, 0] for b in range(bits[0])] + [[0, 1 << b] for b in range(bits[1])]
    draw.shuffle(units)
    for i in range(total):  # invertible: each may take in those before it
        for j in range(i):
            if draw.random() < 0.2:
                units[i] = [units[i][0] ^ units[j][0], units[i][1] ^ units[j][1]]
    shape = [1 << bits[0], 1 << bits[1]]
    offsets = {}
    for offset in range(1 << total):
        at = [0, 0]
        for b in range(total):
            if offset >> b & 1:
                at = [at[0] ^ units[b][0], at[1] ^ units[b][1]]
        offsets[tuple(at)] = offset
    text = (f"SharedLinearLayout(offset_bases={units})" if draw.random() < 0.5 else
            f"#ttg.shared_linear<{{offset = {units}}}>")
    words = ["eval", text]
    code, answer = ask(words)
    if code == 2 and "no swizzle" in str(answer):  # a permutation that no layout is
        kinds["refused"] += 1
        return
    compare(words, "values", (0, [offsets[at] for at in index_order(shape)]), (code, answer.get("values")))


# ------------------------------------------------------------------------ other languages of kernels

def exchanged(byte, line):
    """16-byte vectors of lines of `line` bytes, exchanged by the number of the 128 bytes: TMA's swizzles of 32, 64 and 128 bytes."""
    vector = byte // 16
    return (vector ^ byte // 128 % (line // 16)) * 16 + byte % 16


def case_kittens(draw):
    """ThunderKittens, include/types/shared/st.cuh: swizzle_bytes by the columns, idx() in columns of lines."""
    name, size = draw.choice([("st<bf16, ", 2), ("st_bf<", 2), ("st_hf<", 2), ("st_fl<", 4), ("st<float, ", 4), ("st_fp8e4m3<", 1), ("st<half, ", 2)])
    rows, cols = 16 * draw.randrange(1, 5), (32 if size == 1 else 16) * draw.randrange(1, 7)
    widths = cols // (32 if size == 1 else 16)
    line = (128 if widths % 2 == 0 else 64) if size == 4 else 128 if widths % 4 == 0 else 64 if widths % 2 == 0 else 32
    more, swizzled = draw.choice([("", True), ("", True), (", true", True), (", false", False)])
    if more == ", true" and draw.random() < 0.5:
        line = draw.choice([n for n in (32, 64, 128) if cols * size % n == 0])
        more += f", {line}"
        odd["swizzle_bytes"] += 1
    odd["tiles without a swizzle"] += not swizzled
    elements = line // size

    def place(at):
        r, c = at
        if not swizzled:
            return (r * cols + c) * size
        return exchanged(size * (c // elements * rows * elements + r * elements + c % elements), line)
    words = ["eval", draw.choice(["", "kittens::"]) + f"{name}{rows}, {cols}{more}>" + draw.choice(["", "{}"]), "--bytes"]
    code, answer = ask(words)
    compare(words, "values", (0, [place(at) for at in index_order([rows, cols])]), (code, answer.get("values")))


def case_tile_lang(draw):
    """TileLang, src/layout/gemm_layouts.cc: (tc, ts, index) of a tile of 8 rows."""
    name, vectors = draw.choice([("full", 8), ("half", 4), ("quarter", 2)])
    bits = draw.choice([8, 16, 32, 64])
    size = 128 // bits
    rows, cols = 8 * draw.randrange(1, 6), size * vectors * draw.randrange(1, 5)

    def xor(a, b):
        return sum(((a >> i & 1) + (b >> i & 1)) % 2 << i for i in range(3))

    def place(at):
        i, j = at
        ts, s, tc, c, vec = i // 8, i % 8, j // size // vectors, j // size % vectors, j % size
        return ((tc * (rows // 8) + ts) * 8 * vectors + s * vectors + xor(c, s // (8 // vectors))) * size + vec
    words = ["eval", draw.choice(["", "tilelang.layout."]) + f"make_{name}_bank_swizzled_layout({rows}, {cols}, {bits})"]
    code, answer = ask(words)
    compare(words, "values", (0, [place(at) for at in index_order([rows, cols])]), (code, answer.get("values")))


def case_mosaic(draw):
    """JAX: TileTransform of launch_context.py, then SwizzleTransform's bytes of the last extent."""
    name, bits = draw.choice([("jnp.float16", 16), ("jnp.bfloat16", 16), ("jnp.float32", 32), ("jnp.int8", 8)])
    line = draw.choice([32, 64, 128])
    tile = [8, line * 8 // bits]
    lead = [draw.randrange(1, 4)] if draw.random() < 0.3 else []
    shape = lead + [8 * draw.randrange(1, 5), tile[1] * draw.randrange(1, 4)]
    tiled, swizzled = draw.random() < 0.8, draw.random() < 0.7
    if not tiled:
        shape[-1] = tile[1]
    transforms = ([f"plgpu.TilingTransform(({tile[0]}, {tile[1]}))"] if tiled else []) + ([f"plgpu.SwizzleTransform({line})"] if swizzled else [])
    text = f"plgpu.SMEM(({', '.join(map(str, shape))}), {name}"
    if transforms:
        text += f", transforms=({', '.join(transforms)}{',' if len(transforms) == 1 else ''})"
    odd["three axes"] += bool(lead)
    odd["no transform"] += not transforms

    def place(at):
        first, (r, c) = list(at[:-2]), at[-2:]
        full = lead + ([shape[-2] // tile[0], shape[-1] // tile[1], *tile] if tiled else shape[-2:])
        index = first + ([r // tile[0], c // tile[1], r % tile[0], c % tile[1]] if tiled else [r, c])
        offset = 0
        for i, n in zip(index, full):
            offset = offset * n + i
        byte = offset * bits // 8
        return exchanged(byte, line) if swizzled else byte
    words = ["eval", text + ")", "--bytes"]
    code, answer = ask(words)
    compare(words, "values", (0, [place(at) for at in index_order(shape)]), (code, answer.get("values")))


def case_default(draw):
    """Triton, gluon/language/_layouts.py: NVMMASharedLayout.get_default_for is the layout with the width that it computes."""
    name, bits = draw.choice([("gl.float16", 16), ("ttgl.bfloat16", 16), ("float32", 32), ("gl.int8", 8)])
    shape, transposed = [2 ** draw.randrange(1, 8), 2 ** draw.randrange(3, 8)], draw.random() < 0.4
    contiguous = shape[0] if transposed else shape[1]
    size = contiguous * bits // 8
    width = next((n for n in (128, 64, 32) if size >= n and size % n == 0), 0)
    if shape[0] * shape[1] // contiguous < 8:
        width = 0
    same = [f"gl.NVMMASharedLayout.get_default_for([{shape[0]}, {shape[1]}], {name}" + (", transposed=True)" if transposed else ")"),
            f"gl.NVMMASharedLayout({width}, {bits}, 2, {transposed}) ({shape[0]},{shape[1]})"]
    answers = [ask(["eval", text, "--bytes"]) for text in same]
    odd["less than 8 lines"] += width == 0
    compare(["eval", same[0], "--bytes"], "values", (answers[1][0], answers[1][1].get("values")), (answers[0][0], answers[0][1].get("values")))


# ----------------------------------------------------------------------------------------- known addresses

class Tensor:
    """A tensor of rank 2: a pointer with an address or without, a swizzle of bytes or none."""

    def __init__(self, draw, address=True, rows=None, cols=None, bits=None):
        self.bits = bits or draw.choice([8, 16, 16, 32, 32, 64, 128])
        size = self.bits // 8
        self.swizzle = None
        if draw.random() < 0.8:
            b, m = draw.randrange(0, 4), draw.randrange(0, 6)
            s = draw.randrange(b, 5)
            self.swizzle = (b, m, -s if draw.random() < 0.3 else s)
            odd["negative shift"] += self.swizzle[2] < 0
            odd["splits elements"] += b > 0 and (1 << m) < size
        rows, cols = rows or draw.randrange(1, 17), cols or draw.randrange(1, 17)
        self.shape = (rows, cols)
        self.strides = draw.choice([(cols, 1), (1, rows), (cols + draw.randrange(5), 1), (cols, 1)])
        if draw.random() < 0.15:
            self.strides = (draw.randrange(-20, 20), draw.randrange(-20, 20))
            odd["negative stride"] += min(self.strides) < 0
            odd["zero stride"] += 0 in self.strides
        odd["extents that divide nothing"] += any(n & (n - 1) for n in self.shape)
        self.address = None
        if address:
            self.address = size * draw.randrange(1 << draw.choice([2, 6, 10, 14]))
            if draw.random() < 0.2:
                self.address += 0x7f0000000000
                odd["generic address"] += 1
        if self.swizzle is None and address is False:
            self.swizzle = (0, 4, 3)

    def text(self):
        (r, c), (a, b) = self.shape, self.strides
        layout = f"({r},{c}):({a},{b})"
        flag = f"smem_ptr[{self.bits}b]({'unset' if self.address is None else hex(self.address)})"
        if self.swizzle is None:
            return f"{flag} o {layout}"
        sw = "Sw<%d,%d,%d>" % self.swizzle
        return f"{sw}{' o ' if self.address is None else '_'}{flag} o {layout}"

    def swizzled(self, x):
        """CuTe's Swizzle<B,M,S> of a 64-bit number."""
        if self.swizzle is None:
            return x
        b, m, s = self.swizzle
        mask = (1 << b) - 1
        if s >= 0:
            return x ^ ((x >> (m + s) & mask) << m)
        return x ^ ((x >> m & mask) << (m - s))

    def offset(self, r, c):
        return r * self.strides[0] + c * self.strides[1]

    def byte(self, base, r, c, k=0):
        """Where byte k of the element lies, if the tile starts at `base`."""
        return signed(self.swizzled((base + self.offset(r, c) * (self.bits // 8) + k) & (2 ** 64 - 1)))

    def banks(self, lanes, width):
        """Wavefronts of lanes that read `width` bytes each: the most words of one bank."""
        words_of = {(self.byte(self.address, r, q) + k) // 4 for r, q in lanes for k in range(width)}
        return max(collections.Counter(w % 32 for w in words_of).values())

    def indices(self):
        return [(r, c) for c in range(self.shape[1]) for r in range(self.shape[0])]


def signed(x):
    return x - 2 ** 64 if x >> 63 else x


def case_eval(draw):
    t = Tensor(draw)
    words = ["eval", t.text(), "--bytes"]
    code, answer = ask(words)
    compare(words, "values", (0, [t.byte(t.address, r, c) for r, c in t.indices()]), (code, answer.get("values")))


def case_below_a_byte(draw):
    bits = draw.choice([1, 2, 4])
    first = draw.randrange(8 // bits)
    rows, cols = draw.randrange(1, 9), draw.randrange(1, 9)
    text = f"smem_ptr[{bits}b](0x{draw.randrange(1 << 12):x}.{first * bits}) o ({rows},{cols}):({cols},1)"
    odd["below a byte"] += 1
    words = ["eval", text]
    code, answer = ask(words)
    values = [first + r * cols + c for c in range(cols) for r in range(rows)]
    compare(words, "values", (0, values), (code, answer.get("values")))


def case_equal(draw):
    a = Tensor(draw, address=draw.random() < 0.7)
    b = Tensor(draw, draw.random() < 0.7, *a.shape, a.bits)
    if draw.random() < 0.7:
        b.strides = a.strides
    if draw.random() < 0.7:
        b.swizzle = a.swizzle
        if b.swizzle is None and b.address is None:
            b.swizzle = (0, 4, 3)
    if a.address is not None and b.address is not None and draw.random() < 0.6:
        b.address = a.address
    if a.address is None and b.address is None:
        a.address = 16 * draw.randrange(64)
    base_a = a.address if a.address is not None else b.address
    base_b = b.address if b.address is not None else a.address
    odd["two addresses"] += base_a != base_b
    odd["one address"] += a.address is None or b.address is None
    words = ["equal", a.text(), b.text()]
    same = all(a.byte(base_a, r, c, k) == b.byte(base_b, r, c, k) for r, c in a.indices() for k in range(a.bits // 8))
    code, answer = ask(words)
    compare(words, "verdict", "proved" if same else "refuted", answer.get("verdict", answer))
    found = answer.get("counterexample")
    if found and not same and answer.get("unit") == "bytes":
        r, c = a.indices()[found["input"]]
        k = found["bit"] // 8
        compare(words, "counterexample", (a.byte(base_a, r, c, k), b.byte(base_b, r, c, k)),
                (found["left"], found["right"]))


def case_align(draw):
    t = Tensor(draw)
    words = ["align", t.text()]
    places = [t.offset(r, c) * (t.bits // 8) + k for r, c in t.indices() for k in range(t.bits // 8)]
    mask = 2 ** 64 - 1
    holds = all(t.swizzled((t.address + x) & mask) == (t.address + t.swizzled(x & mask)) & mask for x in places)
    code, answer = ask(words)
    if t.swizzle is None:  # nothing comes behind the base
        holds = True
    compare(words, "verdict", ("proved" if holds else "refuted", 0 if holds else 1), (answer.get("verdict", answer), code))


def case_check(draw):
    matrices = draw.choice([0, 0, 1, 2, 4])
    width = 16 if matrices else draw.choice([1, 2, 4])
    t = Tensor(draw, bits=8 * width)
    for _ in range(50):
        if len({t.offset(r, c) for r, c in t.indices()}) == t.shape[0] * t.shape[1]:
            break
        t = Tensor(draw, bits=8 * width)
    else:
        return
    rows, cols = t.shape
    a, b, c, d = (draw.randrange(8) for _ in range(4))
    e = draw.choice([1, 2, 4, 8, 16])
    op = f"ldmatrix.x{matrices}" if matrices else f"ld.shared.b{8 * width}"
    words = ["check", t.text(), "--access", f"{op}: row = (lane*{a} + {b})%{rows}, col = (lane/{e}*{c} + {d})%{cols}"]
    lanes = 8 * matrices if matrices else 32
    lowest = [((lane * a + b) % rows, (lane // e * c + d) % cols) for lane in range(lanes)]
    down, left = min(r for r, _ in lowest), min(q for _, q in lowest)
    up, right = rows - max(r for r, _ in lowest), cols - max(q for _, q in lowest)
    fits, cost = True, 0
    for dr, dq in ((r, q) for r in range(-down, up) for q in range(-left, right)):  # each position in the tile
        at = [(r + dr, q + dq) for r, q in lowest]
        fits = fits and all(t.byte(t.address, r, q) % width == 0 and
                            all(t.byte(t.address, r, q, k) == t.byte(t.address, r, q) + k for k in range(width)) for r, q in at)
        phases = [at[i:i + 8] for i in range(0, lanes, 8)] if matrices else [at]
        cost = max(cost, sum(t.banks(phase, width) for phase in phases))
    code, answer = ask(words)
    if "accesses" not in answer or not answer["accesses"]:
        compare(words, "an answer", True, answer.get("one_to_one") == "refuted" and code == 1)
        return
    one = answer["accesses"][0]
    if not fits:
        odd["misaligned or split"] += 1
        compare(words, "does not fit", (1, 0), (code, one.get("wavefronts") or 0))
        return
    ideal = matrices or 1
    compare(words, "wavefronts", (cost, 0 if cost <= ideal else 1), (one.get("wavefronts"), code))


cases = [(case_literal, 3), (case_swizzled, 3), (case_nvmma, 3), (case_padded, 2), (case_linear, 1), (case_kittens, 2),
         (case_tile_lang, 2), (case_mosaic, 2), (case_default, 1), (case_eval, 3),
         (case_below_a_byte, 1), (case_equal, 3), (case_align, 2), (case_check, 4)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cases of this kind alone, such as align")
    options = parser.parse_args()
    functions = [f for f, _ in cases if options.only in f.__name__]
    weights = [w for f, w in cases if options.only in f.__name__]
    for i in range(options.cases):
        draw = random.Random(f"{options.seed} {i}")
        case = draw.choices(functions, weights)[0]
        kinds[case.__name__[5:]] += 1
        case(draw)
    for what, mine, theirs, line in differences[:20]:
        print(f"{what}: model {str(mine)[:200]}, program {str(theirs)[:200]}\n  {line}")
    compared = options.cases - kinds["refused"]
    print(f"{options.cases} cases, {compared} compared, {len(differences)} different; "
          f"{', '.join(f'{k} {n}' for k, n in sorted(kinds.items()))}; "
          f"odd: {', '.join(f'{k} {n}' for k, n in sorted(odd.items()) if n)}")
    return 1 if differences else 0


sys.exit(main())
