#!/usr/bin/env python3
"""emitted.py --cases N --seed S [--compiled M]: a reference model of the code that `convert --emit` and `find --emit` print, and of
`convert --to`, written from their documentation, CuTe's, CuTe DSL's, Triton's and CUDA's.

Random layouts go to the command in one process, through the Python module. Every text is evaluated at every offset of the tile:
  cuda    by Python, as C's arithmetic of 32 bits
  dsl     by Python, with a stand-in for CuTe DSL: its layouts, its types' names and sizes, and what its allocator refuses
  triton  by the formula of swizzled_shared
  cute    by this file's reading of cute::Layout, composition and cosize
  tma     tiles of two modes: the box and the copies, as bytes that they write
and its array must hold every offset from a base that is aligned as it says. `--compiled M` compiles M of the cuda texts, and M of the
cute texts if --cutlass is given, in batches, and compares what the programs print; elements below a byte are written and read back.
Conversions are compared with `equal` and with this file's arithmetic. Every difference is printed with its command line; exit 1.
"""
import argparse, json, random, re, shlex, subprocess, sys, tempfile, collections, itertools, pathlib

from swizproof import _swizproof

CASES_OF_A_BATCH = 60
ODD = ["below a byte", "64 bits", "128 bits", "offset", "negative stride", "zero stride", "nested", "odd size", "byte swizzle", "splits elements",
       "function", "find"]

# Name: bits, and the type in each language. None: the language has none. "open": the name leaves open which type is meant.
TYPES = {
    "f64": (64, "double", "Float64", "double", "f64"),
    "f32": (32, "float", "Float32", "float", "f32"),
    "tf32": (32, "cute::tfloat32_t", "TFloat32", "float", "f32"),
    "f16": (16, "cute::half_t", "Float16", "__half", "f16"),
    "bf16": (16, "cute::bfloat16_t", "BFloat16", "__nv_bfloat16", "bf16"),
    "e4m3": (8, "cute::float_e4m3_t", "Float8E4M3FN", "__nv_fp8_e4m3", "f8E4M3FN"),
    "e5m2": (8, "cute::float_e5m2_t", "Float8E5M2", "__nv_fp8_e5m2", "f8E5M2"),
    "e2m1": (4, "cute::float_e2m1_t", "Float4E2M1FN", None, None),
    "fp8": (8, "open", "open", "open", "open"),
    "fp4": (4, "open", "open", None, None),
    "i4": (4, "cute::int4b_t", "Int4", None, None),
    "u4": (4, "cute::uint4b_t", None, None, None),
    "4b": (4, "cute::uint4b_t", None, None, None),
    "2b": (2, "cute::uint2b_t", None, None, None),
    "1b": (1, "cute::uint1b_t", None, None, None),
    "128b": (128, "cute::uint128_t", "Uint128", None, None),
}
for _bits in (8, 16, 32, 64):
    TYPES[f"i{_bits}"] = (_bits, f"cute::int{_bits}_t", f"Int{_bits}", f"std::int{_bits}_t", f"i{_bits}")
    for _name in (f"u{_bits}", f"{_bits}b"):
        TYPES[_name] = (_bits, f"cute::uint{_bits}_t", f"Uint{_bits}", f"std::uint{_bits}_t", f"i{_bits}")
LANGUAGES = ["cute", "dsl", "cuda", "triton"]
DSL_WIDTHS = {"Boolean": 8, "Int4": 4, "Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64, "Int128": 128, "Uint8": 8, "Uint16": 16,
              "Uint32": 32, "Uint64": 64, "Uint128": 128, "Float64": 64, "Float32": 32, "TFloat32": 32, "Float16": 16, "BFloat16": 16,
              "Float8E5M2": 8, "Float8E4M3FN": 8, "Float8E4M3B11FNUZ": 8, "Float8E4M3": 8, "Float8E8M0FNU": 8, "Float4E2M1FN": 4,
              "Float6E3M2FN": 6, "Float6E2M3FN": 6}


def leaves(tree):
    return [tree] if isinstance(tree, int) else [x for one in tree for x in leaves(one)]


def product(tree):
    out = 1
    for x in leaves(tree):
        out *= x
    return out


def modes(tree):
    return [tree] if isinstance(tree, int) else list(tree)


class Layout:
    """shape:stride; the first leaf runs fastest."""

    def __init__(self, shape, stride):
        self.shape, self.stride = shape, stride
        self.pairs = list(zip(leaves(shape), leaves(stride)))
        self.size = product(shape)
        self.extents = [product(m) for m in modes(shape)]

    def __call__(self, index):
        out = 0
        for extent, stride in self.pairs:
            out += index % extent * stride
            index //= extent
        return out

    def cosize(self):
        """CuTe's: 1 + the sum of (extent - 1) * |stride|."""
        return 1 + sum((e - 1) * abs(s) for e, s in self.pairs)

    def text(self, mark=""):
        def show(tree):
            return mark + str(tree) if isinstance(tree, int) else "(" + ",".join(show(x) for x in tree) + ")"
        return show(self.shape) + ":" + show(self.stride)


def swizzle(bits, base, shift):
    """CuTe's Swizzle<bits, base, shift>."""
    mask = ((1 << bits) - 1) << (base + max(0, shift))
    if shift >= 0:
        return lambda x: x ^ ((x & mask) >> shift)
    mask = ((1 << bits) - 1) << base
    return lambda x: x ^ ((x & mask) << -shift)


class Case:
    """A random tile and what it is: value(index) in elements, or bit by bit under a swizzle of bytes."""

    def __init__(self, rng):
        self.odd = set()
        self.element = rng.choice(list(TYPES))
        self.bits = TYPES[self.element][0]
        self.layout = self.draw_layout(rng)
        self.offset = 0
        if rng.random() < 0.3 or min(map(self.layout, range(self.layout.size))) < 0:
            low = -min(0, min(map(self.layout, range(self.layout.size))))
            self.offset = rng.choice([low, low + rng.randrange(1, 70), low + 64, rng.randrange(0, 200)])
        self.f = None  # (bits, base, shift)
        self.kind = "function" if rng.random() < 0.03 else rng.choice(["plain", "elements", "elements", "bytes", "bytes"])
        if self.kind != "plain":
            bits, shift = rng.randrange(0, 4), rng.choice([-4, -3, 3, 3, 3, 4, 5])
            self.f = (bits, rng.randrange(0, 6), shift)
        if self.kind in ("bytes", "function") and rng.random() < 0.7:
            self.f = (self.f[0], max(self.f[1], (self.bits // 8).bit_length() - 1), self.f[2])  # whole elements
        if rng.random() < 0.15:
            self.draw_for_tma(rng)
        self.by_bytes = self.kind == "bytes" or (self.kind == "function" and rng.random() < 0.5)
        self.mark()
        self.values = [self.value(i) for i in range(self.layout.size)]

    def draw_for_tma(self, rng):
        """Rows of whole units of 16 bytes, as wide as a swizzle of the TMA or without one."""
        mode = rng.randrange(0, 4)
        width = (16 << mode if mode else 16 * rng.choice([1, 2, 3, 8, 20])) * 8 // self.bits
        rows = rng.choice([2, 3, 8, 9, 16, 24]) if width <= 64 else 2
        self.layout = Layout((rows, width), (width, 1)) if rng.random() < 0.7 else Layout((width, rows), (1, width))
        self.offset, self.kind, self.f = 0, "bytes" if mode else "plain", (mode, 4, 3) if mode else None

    def draw_layout(self, rng):
        def extent():
            return rng.choice([1, 2, 3, 4, 5, 7, 8, 8, 16, rng.randrange(1, 12)])
        while True:
            shape = tuple((extent(), extent()) if rng.random() < 0.25 else extent() for _ in range(rng.choice([1, 2, 2, 2, 3])))
            if product(shape) <= 400:
                break
        count = leaves(shape)
        how = rng.choice(["columns", "rows", "rows", "rows", "padded", "random"])
        strides, run = [0] * len(count), 1
        order = range(len(count)) if how == "columns" else range(len(count) - 1, -1, -1)
        for i in order:
            strides[i] = run if how != "random" else rng.randrange(0, 40)
            run = run * count[i] + (rng.choice([0, 8, 3]) if how == "padded" else 0)
        for i in range(len(count)):
            if rng.random() < 0.06:
                strides[i] = -strides[i]
            if rng.random() < 0.05:
                strides[i] = 0
        given = iter(strides)
        stride = tuple(tuple(next(given) for _ in m) if isinstance(m, tuple) else next(given) for m in shape)
        if len(shape) == 1:
            return Layout(shape[0], stride[0])
        return Layout(shape, stride)

    def mark(self):
        at = lambda name, when: self.odd.add(name) if when else None
        at("below a byte", self.bits < 8)
        at("64 bits", self.bits == 64)
        at("128 bits", self.bits == 128)
        at("offset", self.offset != 0)
        at("negative stride", any(s < 0 for _, s in self.layout.pairs))
        at("zero stride", any(s == 0 for _, s in self.layout.pairs))
        at("nested", any(isinstance(m, tuple) for m in modes(self.layout.shape)))
        at("odd size", any(e & (e - 1) for e, _ in self.layout.pairs))
        at("byte swizzle", self.by_bytes)
        at("function", self.kind == "function")
        at("splits elements", self.splits())

    def splits(self):
        return self.by_bytes and self.f[0] > 0 and (1 << self.f[1]) * 8 < self.bits

    def first(self, index):
        return self.offset + self.layout(index)

    def bit(self, index, bit, base=0):
        """The address of a bit, in bits, from a base in bytes."""
        place = base * 8 + self.first(index) * self.bits + bit
        if not self.by_bytes:
            raise AssertionError
        return swizzle(*self.f)(place >> 3) * 8 + (place & 7)

    def value(self, index):
        """The element offset; None where the element is split."""
        x = self.first(index)
        if self.f is None:
            return x
        if not self.by_bytes:
            return swizzle(*self.f)(x)
        start = self.bit(index, 0)
        if start % self.bits or any(self.bit(index, b) != start + b for b in range(0, self.bits, 8)):
            return None
        return start // self.bits

    def text(self):
        inner = self.layout.text()
        if self.offset:
            inner = f"_{self.offset} o {inner}"
        if self.f is None:
            return f"Sw<0,0,0> o {inner}" if self.offset else inner
        b, m, s = self.f
        name = f"Sw<{b},{m},{s}>"
        if self.kind == "function":
            mask = ((1 << b) - 1) << (m if s > 0 else m - s)
            name = f"fn(x) = x ^ ((x {'>>' if s > 0 else '<<'} {abs(s)}) & {hex(mask)})"
        if self.by_bytes:
            return f"{name} o smem_ptr[{self.bits}b](unset) o {inner}"
        return f"{name} o {inner if self.offset or self.kind == 'function' else '_0 o ' + inner}"

    def coordinates(self):
        """In the order of the index."""
        for c in itertools.product(*[range(e) for e in reversed(self.layout.extents)]):
            yield c[::-1]

    def aligned(self, bytes_):
        """Whether f(base + x) = base + f(x) at multiples of this many bytes."""
        if self.f is None:
            return True
        f = swizzle(*self.f)
        for k in (1, 2, 3, 5, 7, 8, 64, 129):
            base = k * bytes_
            if self.by_bytes:
                for i in range(self.layout.size):
                    for bit in range(0, self.bits, 8):
                        if self.bit(i, bit, base) != base * 8 + self.bit(i, bit):
                            return False
            else:
                if base * 8 % self.bits:
                    return False
                b = base * 8 // self.bits
                for i in range(self.layout.size):
                    if f(b + self.first(i)) != b + f(self.first(i)):
                        return False
        return True


def ask(words):
    code, document, complaint = _swizproof.answer(words + ["--json"], "")
    return code, json.loads(document) if document else {}, complaint.decode()


class Tally:
    def __init__(self):
        self.counts, self.differences = collections.Counter(), 0

    def differs(self, words, what):
        self.differences += 1
        if self.differences <= 20:
            print("difference:", what, "\n  swizproof", shlex.join(words))


# ------------------------------------------------------------------------------------------ the texts, evaluated


def count_of(text, layout):
    """The extent of the array: `tile[N]`, or CuTe's cosize."""
    found = re.search(r"tile\[(?:(\d+)|cute::cosize_v<SmemLayout>)\]|ArrayEngine<[^,]+, (?:(\d+)|cute::cosize_v<SmemLayout>)> tile", text)
    number = found.group(1) or found.group(2)
    return int(number) if number else layout.cosize()


def alignment_of(text):
    return int(re.search(r"alignas\((\d+)\)", text).group(1))


def evaluate_cuda(case, text):
    head = re.search(r"constexpr unsigned offset\(([^)]*)\) \{\n(.*?)\n\}\n", text, re.S)
    names = [p.split()[-1] for p in head.group(1).split(", ")]
    scope = {}
    lines = ["def offset(" + ", ".join(names) + "):"]
    for line in head.group(2).split("\n"):
        line = line.strip().rstrip(";").replace("unsigned ", "").replace("/", "//")
        if line.startswith("return "):
            lines.append(" return (" + line[7:] + ") & 0xffffffff")
        else:
            name, expression = line.split(" = ", 1)
            lines.append(f" {name} = ({expression}) & 0xffffffff")
    exec("\n".join(lines), scope)
    type_ = re.search(r"__shared__ (\S+) tile\[(\d+)\]", text)
    return [scope["offset"](*c) for c in case.coordinates()], int(type_.group(2)), type_.group(1), alignment_of(text)


class Dsl:
    """What CuTe DSL documents of make_layout, make_swizzle, make_composed_layout, SmemAllocator.allocate, allocate_tensor, recast_ptr
    and make_tensor. A composed layout's cosize is taken for that of its layout, the least that any version may allocate."""

    def __init__(self):
        self.bits = self.alignment = self.type = None

    def make_layout(self, shape, stride):
        return Layout(shape, stride)

    def make_swizzle(self, b, m, s):
        if b < 0 or m < 0 or abs(s) < b:
            raise ValueError("swizzle")
        return swizzle(b, m, s)

    def make_composed_layout(self, inner, offset, outer):
        out = Layout(outer.shape, outer.stride)
        out.function = lambda i: inner(offset + outer(i))
        return out

    def allocate(self, bytes_, byte_alignment):
        if byte_alignment > 1024:
            raise AssertionError("max shared memory alignment limit to 1024 bytes")
        self.bits, self.alignment = bytes_ * 8, byte_alignment

    def allocate_tensor(self, type_, layout, byte_alignment):
        bits = layout.cosize() * DSL_WIDTHS[type_]
        if bits % 8:
            raise ValueError("invalid allocation that is not byte-aligned")
        self.type = type_
        self.allocate(bits // 8, byte_alignment)

    def recast_ptr(self, pointer, dtype):
        self.type = dtype

    def make_tensor(self, pointer, layout):
        return None


class Names:
    def __getattr__(self, name):
        if name not in DSL_WIDTHS:
            raise AttributeError("cutlass has no " + name)
        return name


def evaluate_dsl(case, text):
    dsl = Dsl()
    scope = {"cute": dsl, "smem": dsl, "cutlass": Names()}
    exec(text, scope)
    layout = scope["layout"]
    function = getattr(layout, "function", layout)
    return [function(i) for i in range(layout.size)], dsl.bits // DSL_WIDTHS[dsl.type], dsl.type, dsl.alignment


def evaluate_cute(case, text):
    def tree(s):
        s = re.sub(r"cute::Int<(-?\d+)>", r"\1", s)
        while "cute::" in s:
            s = re.sub(r"cute::(?:Shape|Stride)<([^<>]*)>", r"(\1,)", s)
        return eval(s)
    using = re.search(r"using SmemLayout = (.*?);\n", text, re.S).group(1)
    found = re.search(r"cute::Layout<(.*)>(?:\{\}\)\))?$", using, re.S).group(1)
    depth = 0
    for at, c in enumerate(found):
        depth += {"<": 1, ">": -1}.get(c, 0)
        if c == "," and depth == 0:
            break
    layout = Layout(tree(found[:at]), tree(found[at + 1:].strip()))
    values = [layout(i) for i in range(layout.size)]
    composed = re.search(r"composition\(cute::Swizzle<(-?\d+), (-?\d+), (-?\d+)>\{\}, cute::Int<(-?\d+)>", using)
    if composed:
        b, m, s, offset = map(int, composed.groups())
        values = [swizzle(b, m, s)(offset + v) for v in values]
    array = re.search(r"__shared__ (?:cute::ArrayEngine<([^,]+), [^;]*> tile|(\S+) tile\[)", text)
    if (case.bits < 8) != bool(array.group(1)):
        raise ValueError("an array of elements below a byte that are not packed")
    return values, count_of(text, layout), array.group(1) or array.group(2), alignment_of(text)


def evaluate_triton(case, text):
    vec, per_phase, max_phase, fast, slow = map(int, re.search(
        r"vec = (\d+), perPhase = (\d+), maxPhase = (\d+), order = \[(\d), (\d)\]", text).groups())
    rows, columns, type_ = re.search(r"memdesc<(\d+)x(\d+)x(\w+),", text).groups()
    extents = [int(rows), int(columns)]
    if extents != case.layout.extents:
        raise ValueError("another shape")
    values = []
    for c in case.coordinates():
        line, column = c[slow], c[fast]
        values.append(line * extents[fast] + ((column // vec) ^ (line // per_phase % max_phase)) * vec + column % vec)
    return values, extents[0] * extents[1], type_, None


EVALUATE = {"cuda": evaluate_cuda, "dsl": evaluate_dsl, "cute": evaluate_cute, "triton": evaluate_triton}


def expected_refusal(case, language):
    """A part of the message with which a text must be refused; None where there is one; "" where either will do."""
    if any(v is not None and v < 0 for v in case.values):
        return "reaches below its first element|do not stay whole|linear over GF"
    if case.kind == "function" and case.f[0] and (None in case.values or case.splits()):
        return "" if None not in case.values else "do not stay whole|linear over GF"
    if case.splits():
        return "do not stay whole"
    type_ = TYPES[case.element][1 + LANGUAGES.index(language)]
    if type_ is None:
        return "has no type"
    if type_ == "open":
        return "leaves open"
    if language == "triton":
        return ""
    if case.kind == "function" and language in ("cute", "dsl"):
        return ""  # a function that is no swizzle on this tile
    return None


def compare_text(tally, case, language, words):
    code, answer, complaint = ask(words)
    wanted = expected_refusal(case, language)
    if code == 2:
        too_far = language == "dsl" and "aligns by 1024 at most" in complaint
        tally.counts[language + " refused"] += 1
        if not too_far and (wanted is None or (wanted and not re.search(wanted, complaint))):
            tally.differs(words, f"{language} is refused: {complaint.splitlines()[0]}, wanted {wanted}")
        return None
    text = answer["code"]["text"]
    if wanted:
        tally.differs(words, f"{language} is not refused: {wanted}")
        return None
    try:
        values, count, type_, alignment = EVALUATE[language](case, text)
    except Exception as error:
        tally.differs(words, f"{language} cannot be evaluated: {type(error).__name__} {error}\n{text}")
        return None
    tally.counts[language] += 1
    if values != case.values:
        at = next(i for i, (a, b) in enumerate(zip(values, case.values)) if a != b) if len(values) == len(case.values) else -1
        tally.differs(words, f"{language}: index {at}: {values[at]}, not {case.values[at]}")
    if count <= max(case.values):
        tally.differs(words, f"{language}: {count} elements for offset {max(case.values)}")
    if type_ != TYPES[case.element][1 + LANGUAGES.index(language)]:
        tally.differs(words, f"{language}: the type {type_}")
    if alignment is not None and (alignment < 16 or not case.aligned(alignment)):
        tally.differs(words, f"{language}: not the same from multiples of {alignment} bytes")
    for at, value in re.findall(r"static_assert\((?:SmemLayout\{\}|offset)\(([^)]*)\) == (\d+)\)", text):
        index, unit = 0, 1
        for c, extent in zip(map(int, at.split(", ")), case.layout.extents):
            index, unit = index + c * unit, unit * extent
        if case.values[index] != int(value):
            tally.differs(words, f"{language}: the assertion at ({at})")
    return text


# ------------------------------------------------------------------------------------------ TMA


def compare_tma(tally, case, words):
    """Tiles of two plain modes, one of them contiguous: the bytes that the copies write are the tile's."""
    code, answer, _ = ask(words)
    if code != 0:
        tally.counts["tma refused"] += 1
        return
    text = answer["code"]["text"]
    plain = len(case.layout.pairs) == 2 and len(case.layout.extents) == 2 and all(e > 1 for e in case.layout.extents)
    box = re.search(r"box\[2\] = \{(\d+), (\d+)\}", text)
    if not plain or not box or case.bits < 8 or case.bits > 64:
        tally.counts["tma not evaluated"] += 1
        return
    box = [int(x) for x in box.groups()]
    base = re.search(r"^// writes the tile if (?:and only if )?the tile's base is (?:a multiple of (\d+)|(?:one of )?(\d+).*modulo)", text)
    order = re.search(r"dimensions are modes (\d), (\d) of the tile", text)
    if not base or not order:
        tally.differs(words, "tma: the text names no base, or no order")
        return
    base, inner = int(base.group(1) or base.group(2)), int(order.group(1))
    mode = re.search(r"SWIZZLE_(NONE|32B|64B|128B)(_ATOM\w*)?,", text)
    if not mode or mode.group(2):
        tally.counts["tma not evaluated"] += 1
        return
    bits = {"NONE": 0, "32B": 1, "64B": 2, "128B": 3}[mode.group(1)]
    f, size = swizzle(bits, 4, 3), case.bits // 8
    pitch = 16 << bits if bits else -(-box[0] * size // 16) * 16  # lines of a swizzled box lie a span apart
    written = {}
    loops = re.findall(r"for \(int (\w) = 0; \w < (\d+);", text)
    copies = re.findall(r"^ *cp\.async[^\n]*?\[tile(.*?)\], \[map, \{(.*?)\}\]", text, re.M)
    scope = {"c0": 0, "c1": 0}
    for name, numbers in re.findall(r"int const (\w+)\[[^=]*= (\{.*?\});", text, re.S):
        scope[name] = eval(numbers.replace("{", "[").replace("}", "]"))
    for numbers in itertools.product(*[range(int(count)) for _, count in loops]):
        scope.update(zip((name for name, _ in loops), numbers))
        for start, at in copies:
            start = eval("0" + start, scope)
            at = [eval(x, scope) for x in at.split(",")]
            for b in range(box[1]):
                for a in range(box[0]):
                    for byte in range(size):
                        c = [at[1] + b, at[0] + a] if inner == 1 else [at[0] + a, at[1] + b]
                        written[f(base + start + b * pitch + a * size + byte)] = (*c, byte)
    stored = {}
    for c, i in zip(case.coordinates(), range(case.layout.size)):
        for byte in range(size):
            where = case.bit(i, 8 * byte, base) // 8 if case.by_bytes else base + case.values[i] * size + byte
            stored[where] = (*c, byte)
    tally.counts["tma"] += 1
    expected = re.search(r"expect_tx\.shared\.b64 _, \[bar\], (\d+);", text)
    if int(expected.group(1)) != len(stored):
        tally.differs(words, f"tma: the barrier expects {expected.group(1)} bytes of {len(stored)}")
    if written != stored:
        tally.differs(words, "tma: the copies write other bytes")


# ------------------------------------------------------------------------------------------ conversions


def read_layout(text):
    """What convert prints: [Sw<b,m,s> o] [_K o] shape:stride."""
    parts = text.replace("_", "").split(" o ")
    shape, stride = parts[-1].split(":")
    layout, functions = Layout(eval(shape), eval(stride)), []
    for part in reversed(parts[:-1]):
        found = re.match(r"Sw<(-?\d+),(-?\d+),(-?\d+)>", part)
        functions.append(swizzle(*map(int, found.groups())) if found else (lambda k: lambda x: x + k)(int(part)))
    def value(i):
        x = layout(i)
        for f in functions:
            x = f(x)
        return x
    return layout, value


def compare_conversion(tally, case, rng):
    if case.kind == "function" or case.element in ("fp4",):
        return
    unit = rng.choice([case.bits, case.bits, 8, 16, 32, 64, 4, 1])
    words = ["convert", case.text(), "--element", f"{case.bits}b", "--to", f"{unit}b"]
    code, answer, _ = ask(words)
    if code == 2:
        tally.counts["conversion refused"] += 1
        return
    said = answer["verdict"]
    layout, value = read_layout(answer["converted"])
    given = []
    for i in range(case.layout.size):
        x = case.first(i)
        if case.by_bytes:
            given += [case.bit(i, b) for b in range(case.bits)]
        else:
            v = case.value(i) if case.f else x
            given += range(v * case.bits, (v + 1) * case.bits)
    converted = [value(i) * unit + b for i in range(layout.size) for b in range(unit)]
    same = (given == converted) if unit == case.bits else (sorted(given) == sorted(converted))
    tally.counts["conversion"] += 1
    if said == "proved" and not same:
        tally.differs(words, "convert proves the same addresses; they differ")
    if said == "refuted" and not answer.get("notes"):
        tally.differs(words, "convert refutes without a note")
    if unit == case.bits:
        if said == "refuted" and same:
            tally.differs(words, "convert refutes the same addresses")
        asked = ["equal", case.text(), answer["converted"], "--element", f"{unit}b"]
        if case.by_bytes:
            asked += ["--align", str(max(16, answer["alignment"]))]
        other = ask(asked)[1].get("verdict")
        tally.counts["conversion against equal"] += 1
        if other != said:
            tally.differs(asked, f"equal says {other}, convert says {said}")


# ------------------------------------------------------------------------------------------ compiled


def program(cases, language, cuda):
    """One file of many cases, which prints a line for each: the values, the size, and how packed elements are read back."""
    head = ["#define __host__", "#define __device__", "#include <cstdio>", "#include <cstdint>", "#include <cstring>"]
    if language == "cute":
        head += ["#include <cute/tensor.hpp>", "#define __shared__ static"]
    elif not cuda:
        head += ["#define __shared__ static", "struct __half { short bits; };", "struct __nv_bfloat16 { short bits; };",
                 "struct __nv_fp8_e4m3 { char bits; };", "struct __nv_fp8_e5m2 { char bits; };"]
    else:
        head += ["#include <cuda_fp16.h>", "#include <cuda_bf16.h>", "#include <cuda_fp8.h>", "#undef __shared__", "#undef __host__",
                 "#undef __device__", "#define __host__", "#define __device__", "#define __shared__ static"]
    if language == "cute":
        head = head[2:]
    body, main = [], ["int main() { std::setvbuf(stdout, nullptr, _IONBF, 0);"]
    for k, (case, text, _) in enumerate(cases):
        text = "\n".join(line for line in text.split("\n") if not line.startswith("#include"))
        call = "SmemLayout{}" if language == "cute" else "offset"
        names = [f"c{m}" for m in range(len(case.layout.extents))]
        loops = [f"for (int {n} = 0; {n} < {e}; ++{n})" for n, e in reversed(list(zip(names, case.layout.extents)))]
        arguments = ", ".join(names)
        lines = [f"{' '.join(loops)} std::printf(\"%d \", int({call}({arguments})));"]
        lines.append("std::printf(\"| %zu %d\", sizeof tile * 8, int(reinterpret_cast<std::uintptr_t>(&tile) % " +
                     f"{alignment_of(text)}));")
        if language == "cute" and case.bits < 8 and len(set(case.values)) == len(case.values):
            # Element i holds i + 1 modulo its width; each bit is then looked up where element SmemLayout(i) must have it.
            wide = (1 << case.bits) - 1
            lines.append("auto tensor = cute::make_tensor(cute::make_smem_ptr(tile.begin()), SmemLayout{}); int n = 0, wrong = 0;")
            lines.append("using T = cute::remove_cvref_t<decltype(tensor)>::value_type;")
            lines.append(f"{' '.join(loops)} {{ ++n; auto v = std::uint8_t(n & {wide}); tensor({arguments}) = " +
                         {"e2m1": "T::bitcast(v);", "i4": "T(v > 7 ? v - 16 : v);"}.get(case.element, "T(v);") + " }")
            lines.append("auto const* raw = reinterpret_cast<unsigned char const*>(&tile); n = 0;")
            lines.append(f"{' '.join(loops)} {{ ++n; int at = {case.bits} * int(SmemLayout{{}}({arguments})); " +
                         f"wrong += (raw[at / 8] >> at % 8 & {wide}) != (n & {wide}); }}")
            lines.append("std::printf(\" packed %d\", wrong);")
        body.append(f"namespace n{k} {{\n{text}\nvoid print() {{\n  " + "\n  ".join(lines) + "\n}\n}")
        main.append(f"  n{k}::print(); std::puts(\"\");")
    return "\n".join(head + body + main + ["}"])


def compile_batch(tally, cases, language, options):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "code.cpp"
        source.write_text(program(cases, language, options.cuda))
        include = [f for d in ([options.cutlass + "/include"] if options.cutlass else []) + ([options.cuda, options.cuda + "/cccl"]
                   if options.cuda else []) for f in ("-isystem", d)]
        built = subprocess.run([options.compiler, "-std=c++17", "-O0", "-w", *include, str(source), "-o", folder + "/code"],
                               capture_output=True, text=True)
        if built.returncode:
            if len(cases) > 1:  # which one is it?
                half = len(cases) // 2
                compile_batch(tally, cases[:half], language, options)
                compile_batch(tally, cases[half:], language, options)
                return
            tally.differs(cases[0][2], f"{language} does not compile: " + built.stderr[:600])
            return
        ran = subprocess.run([folder + "/code"], capture_output=True, text=True)
        lines = ran.stdout.splitlines()
        if ran.returncode or len(lines) != len(cases):
            tally.differs(cases[min(len(lines), len(cases)) - 1][2], f"{language}, compiled: exit {ran.returncode} after {len(lines)} lines")
            return
    for (case, text, words), line in zip(cases, lines):
        values, rest = line.split("|", 1)
        rest = rest.split()
        tally.counts[language + " compiled"] += 1
        if list(map(int, values.split())) != case.values:
            tally.differs(words, f"{language}, compiled: other values")
        if int(rest[0]) < (max(case.values) + 1) * case.bits:
            tally.differs(words, f"{language}, compiled: an array of {rest[0]} bits for offset {max(case.values)}")
        if rest[1] != "0":
            tally.differs(words, f"{language}, compiled: the array is not aligned")
        if len(rest) > 2:
            tally.counts["packed elements read back"] += 1
            if rest[3] != "0":
                tally.differs(words, f"{language}, compiled: {rest[3]} packed elements are elsewhere")
    if len(lines) != len(cases):
        tally.differs(cases[0][2], f"{language}, compiled: {len(lines)} lines of {len(cases)}")


# ------------------------------------------------------------------------------------------ find


def compare_find(tally, case, rng, language):
    """The code of find's winner is that of convert for the layout which find names."""
    if case.kind != "plain" or case.offset or case.element in ("fp8", "fp4") or case.bits not in (8, 16, 32) or len(case.layout.pairs) != 2:
        return
    words = ["find", case.text(), "--element", case.element, "--access", f"ld.shared.b{case.bits}: row = lane % {case.layout.extents[0]}, col = 0"]
    code, answer, _ = ask(words + ["--emit", language])
    if code != 0 or "code" not in answer or not answer.get("best"):
        tally.counts["find without code"] += 1
        return
    best = answer["best"][0]
    if best.get("unit") != "elements":
        tally.counts["find without code"] += 1
        return
    winner = best["swizzle"] + " o _0 o " + case.layout.text() if best["swizzle"] != "Sw<0,0,0>" else case.layout.text()
    other = ask(["convert", winner, "--element", case.element, "--emit", language])[1]
    tally.counts["find"] += 1
    if other.get("code", {}).get("text") != answer["code"]["text"]:
        tally.differs(words + ["--emit", language], "find's code is not convert's")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compiled", type=int, default=0)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--cutlass", default="")
    parser.add_argument("--cuda", default="")
    options = parser.parse_args()
    rng, tally = random.Random(options.seed), Tally()
    batches = {"cuda": [], "cute": []}
    for _ in range(options.cases):
        case = Case(rng)
        tally.counts["cases"] += 1
        for odd in case.odd:
            tally.counts["odd: " + odd] += 1
        for language in LANGUAGES:
            words = ["convert", case.text(), "--element", case.element, "--emit", language]
            text = compare_text(tally, case, language, words)
            can = language == "cuda" or (language == "cute" and options.cutlass and options.cuda)
            if text and can and tally.counts[language + " compiled"] + len(batches[language]) < options.compiled:
                batches[language].append((case, text, words))
                if len(batches[language]) == CASES_OF_A_BATCH:
                    compile_batch(tally, batches[language], language, options)
                    batches[language] = []
        if None not in case.values and min(case.values) >= 0 and case.element not in ("fp8", "fp4"):
            compare_tma(tally, case, ["convert", case.text(), "--element", case.element, "--emit", "tma"])
        compare_conversion(tally, case, rng)
        compare_find(tally, case, rng, rng.choice(LANGUAGES))
    for language, batch in batches.items():
        if batch:
            compile_batch(tally, batch, language, options)
    c = tally.counts
    if options.compiled and not (options.cutlass and options.cuda):
        print("cute texts compiled: not run, no CUTLASS is given (--cutlass DIR --cuda DIR)")
    print(f"{c['cases']} cases, seed {options.seed}: " + ", ".join(f"{c[k]} {k}" for k in (
        "cute", "dsl", "cuda", "triton", "tma", "conversion", "conversion against equal", "find")) + " compared; " +
        ", ".join(f"{c[k]} {k}" for k in ("cuda compiled", "cute compiled", "packed elements read back")) + "; refused: " +
        ", ".join(f"{c[k + ' refused']} {k}" for k in LANGUAGES + ["tma", "conversion"]) + f", {c['tma not evaluated']} tma not evaluated; odd: " +
        ", ".join(f"{c['odd: ' + k]} {k}" for k in ODD if k != "find") + f"; {tally.differences} differences")
    sys.exit(1 if tally.differences or not c["cuda"] else 0)


if __name__ == "__main__":
    main()
