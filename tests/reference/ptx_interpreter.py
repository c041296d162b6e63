"""Executes PTX: all threads of one block, for the shared-memory patterns of its warps.

Written from NVIDIA's PTX ISA 9.1 and from the hardware facts H1 to H7 (include/swizproof/hardware/bank.hpp), not from the C++ reader.
Registers are numpy vectors over the block's threads; divergent branches run one side after the other and join at the immediate
postdominator. Loads give arbitrary data, equal for equal addresses of one instruction. kernel.py compares the result with the tool.
"""
import re
import struct

import numpy as np

np.seterr(all="ignore")
U = np.uint64
ONES = U(0xFFFFFFFFFFFFFFFF)
SIZES = {"8": 8, "16": 16, "32": 32, "64": 64, "128": 128}
TYPE = re.compile(r"^(?:([usbf])(8|16|32|64|128)|pred|bf16|f16x2|bf16x2|tf32|[us]16x2)$")


class Unreadable(Exception):
    """A text that is no PTX of known shape."""


class Stop(Exception):
    """The limit of steps is used up: what was seen until then counts."""


def mask_of(width):
    return U((1 << width) - 1) if width < 64 else ONES


def width_of(name):
    if name in ("f16x2", "bf16x2", "tf32", "u16x2", "s16x2"):
        return 32
    if name == "bf16":
        return 16
    if name == "pred":
        return 1
    return int(name[1:])


def signed(value, width):
    """The value's low `width` bits as a signed number."""
    shift = 64 - width
    return np.asarray(value << U(shift), dtype=U).view(np.int64) >> np.int64(shift)


def bits(value, width):
    return np.asarray(value).astype(np.int64).view(U) & mask_of(width)


def mixed(value):
    """A hash of 64 bits (splitmix64)."""
    value = np.asarray(value, dtype=U) + U(0x9E3779B97F4A7C15)
    value = (value ^ (value >> U(30))) * U(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> U(27))) * U(0x94D049BB133111EB)
    return value ^ (value >> U(31))


# ---------------------------------------------------------------- costs (H1 to H7)


def most_words(words, active, by_lane):
    """For each row: most distinct words (or lanes, H7) in one of the 32 banks. words: (rows, lanes, words of a lane)."""
    rows = words.shape[0]
    key = ((words % 32) * (1 << 40) + words).astype(np.int64)
    key[~active] = -1
    key = np.sort(key.reshape(rows, -1), axis=1)
    counted = key >= 0
    if not by_lane:
        counted[:, 1:] &= key[:, 1:] != key[:, :-1]
    row = np.broadcast_to(np.arange(rows)[:, None], key.shape)
    counts = np.bincount((row * 32 + (key >> 40))[counted], minlength=32 * rows)
    return counts.reshape(rows, 32).max(axis=1)


def paired(address, active, bit):
    """For each warp: every active lane whose partner l^bit is active has the partner's address (H4)."""
    partner = np.arange(32) ^ bit
    return np.all(~active | ~active[:, partner] | (address == address[:, partner]), axis=1)


def wavefronts(kind, size, address, active, matrices=0):
    """Wavefronts of warps (rows of 32 addresses): kind ld, st, cp (cp.async), matrix, or an atomic (H14): atom, count (adds the constant 1),
    cas. Addresses are multiples of `size`."""
    address = np.asarray(address).astype(np.int64)
    warps = address.shape[0]
    words = max(1, size // 4)
    each = address[:, :, None] // 4 + np.arange(words)
    if kind == "matrix":
        return sum(most_words(each[:, 8 * i:8 * i + 8], active[:, 8 * i:8 * i + 8], False) for i in range(matrices))

    by_lane = kind in ("cp", "atom", "cas")

    def total(lanes):
        split = each.reshape(warps * (32 // lanes), lanes, words)
        degrees = most_words(split, active.reshape(-1, lanes), by_lane).reshape(warps, -1)
        return degrees.sum(axis=1)

    lanes = 32 if size <= 4 else 128 // size
    result = total(lanes)
    if kind == "cp":
        return result
    if by_lane:
        return np.maximum(result, size // 4) * (2 if kind == "cas" else 1)
    result = np.maximum(result, 32 // lanes)
    if kind == "ld" and size >= 8:
        merges = paired(address, active, 1) | paired(address, active, 2)
        result = np.where(merges, np.maximum(total(2 * lanes), 32 // (2 * lanes)), result)
    return result


# ---------------------------------------------------------------- reader


class Variable:
    def __init__(self, space, name, align, size, values):
        self.space, self.name, self.align, self.size, self.values = space, name, align, size, values


class Instruction:
    __slots__ = ("line", "guard", "negated", "parts", "operands", "scope", "text")

    def __init__(self, line, guard, negated, parts, operands, scope, text):
        self.line, self.guard, self.negated, self.parts, self.operands, self.scope = line, guard, negated, parts, operands, scope
        self.text = text


class Scope:
    """Names of registers and labels between two braces."""

    def __init__(self, parent):
        self.parent, self.registers, self.labels, self.targets = parent, {}, {}, {}

    def find(self, table, name):
        scope = self
        while scope is not None:
            found = getattr(scope, table).get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None


class Function:
    def __init__(self, name, entry, line):
        self.name, self.entry, self.line = name, entry, line
        self.params, self.results, self.code, self.directives = [], [], [], ""
        self.widths = []  # of each register


def blanked(text):
    """The text without comments, .loc, .file and debug sections; line numbers stay."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r"/\*.*?\*/|//[^\n]*", spaces, text, flags=re.S)
    text = re.sub(r"^[ \t]*\.(loc|file)\b[^\n]*", spaces, text, flags=re.M)
    return re.sub(r"\.section\s+[.\w]+\s*\{[^}]*\}", spaces, text, flags=re.S)


def statements(text):
    """Yields (line, text) of statements with their semicolon, of labels with their colon, and of the braces of scopes."""
    line, start, begin, depth = 1, None, 0, 0
    for i, c in enumerate(text):
        if start is None and not c.isspace():
            start, begin = i, line
        if start is not None:
            if c == ";":
                yield begin, text[start:i].strip()
                start, depth = None, 0
            elif c == "{" and i == start:
                yield line, "{"
                start = None
            elif c == "}" and i == start:
                yield line, "}"
                start = None
            elif c == "{" and "=" not in text[start:i] and re.match(r"(\.visible\s+|\.weak\s+|\.extern\s+)*\.(entry|func)\b", text[start:i]):
                yield begin, text[start:i].strip()
                yield line, "{"
                start = None
            elif c == ":" and re.fullmatch(r"[\w$%]+", text[start:i].strip()) and text[i + 1:i + 2] != ":":
                yield begin, text[start:i].strip() + ":"
                start = None
            elif c == "\n" and re.match(r"\.(version|target|address_size|section|pragma)\b", text[start:i]) and not text[start:].startswith(".pragma"):
                start = None
        if c == "\n":
            line += 1
    if start is not None:
        raise Unreadable(f"line {begin}: the text ends inside a statement")


def split(text):
    """Operands between commas outside of brackets."""
    found, depth, last = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            found.append(text[last:i].strip())
            last = i + 1
    rest = text[last:].strip()
    if rest:
        found.append(rest)
    return found


DECLARED = re.compile(r"(?:\.(?:visible|weak|extern|common)\s+)*\.(shared|local|global|const|param)\b(.*)", re.S)


def variables(text):
    """The variables of one declaration."""
    match = DECLARED.match(text)
    space, rest = match.group(1), match.group(2)
    values = None
    if "=" in rest:
        rest, given = rest.split("=", 1)
        values = given.strip()
    align = re.search(r"\.align\s+(\d+)", rest)
    kind = re.search(r"\.(b128|pred|[usbf](?:8|16|32|64)|texref|samplerref|surfref)\b", rest)
    vector = re.search(r"\.v([248])\b", rest)
    width = width_of(kind.group(1)) // 8 if kind and not kind.group(1).endswith("ref") else 8
    width *= int(vector.group(1)) if vector else 1
    for part in split(re.sub(r"\.(align\s+\d+|ptr|attribute\s*\([^)]*\)|[\w:]+)", " ", rest)):
        name = re.match(r"[\w$%]+", part)
        if not name:
            continue
        extents = re.findall(r"\[\s*(\w*)\s*\]", part)
        size = width
        for extent in extents:
            size *= int(extent, 0) if extent else 0
        yield Variable(space, name.group(0), int(align.group(1)) if align else width, size, values), width


class Module:
    """A PTX text: its variables and functions."""

    def __init__(self, text):
        self.variables, self.functions = {}, {}
        function, scope = None, None
        for line, s in statements(blanked(text)):
            if function is None:
                if re.match(r"(\.\w+\s+)*\.(entry|func)\b", s):
                    function = self.header(line, s)
                    scope = None
                elif DECLARED.match(s):
                    for v, width in variables(s):
                        self.variables[v.name] = v
                elif s == "{" or s.startswith(".") or s == "}":
                    pass
                else:
                    raise Unreadable(f"line {line}: {s[:40]}")
                continue
            if s == "{":
                scope = Scope(scope)
                if scope.parent is None:
                    for v in function.params + function.results:
                        if v.space == "reg":
                            scope.registers[v.name] = len(function.widths)
                            v.register = len(function.widths)
                            function.widths.append(v.size * 8)
            elif scope is None:  # a prototype
                function = None
                if re.match(r"(\.\w+\s+)*\.(entry|func)\b", s):
                    function = self.header(line, s)
                elif DECLARED.match(s):
                    for v, width in variables(s):
                        self.variables[v.name] = v
            elif s == "}":
                scope = scope.parent
                if scope is None:
                    self.functions[function.name] = function
                    function = None
            elif s.endswith(":"):
                scope.labels[s[:-1].strip()] = len(function.code)
                self.last = s[:-1].strip()
            elif s.startswith("."):
                self.directive(function, scope, s)
            else:
                function.code.append(self.instruction(line, s, scope))
        if function is not None and scope is not None:
            raise Unreadable("a function has no end")

    def header(self, line, s):
        match = re.match(r"(?:\.\w+\s+)*\.(entry|func)\s*(\([^)]*\))?\s*([\w$%]+)\s*(\(.*?\))?\s*((?:\.|$).*)?$", s, re.S)
        if not match:
            raise Unreadable(f"line {line}: {s[:60]}")
        function = Function(match.group(3), match.group(1) == "entry", line)
        function.directives = match.group(5) or ""
        for which, group in ((function.results, match.group(2)), (function.params, match.group(4))):
            for part in split((group or "()").strip()[1:-1]):
                if part.startswith(".reg"):
                    kind, name = re.match(r"\.reg\s+\.(\w+)\s+([\w$%]+)", part).groups()
                    which.append(Variable("reg", name, 1, max(1, width_of(kind) // 8), None))
                elif part.startswith(".param"):
                    which += [v for v, width in variables(part)]
        return function

    def directive(self, function, scope, s):
        if s.startswith(".reg"):
            match = re.match(r"\.reg\s+(?:\.v[24]\s+)?\.(\w+)\s+(.*)", s, re.S)
            width = width_of(match.group(1))
            for name in split(match.group(2)):
                many = re.match(r"([\w$%]+)\s*<\s*(\d+)\s*>", name)
                for each in [many.group(1) + str(i) for i in range(int(many.group(2)))] if many else [name]:
                    scope.registers[each] = len(function.widths)
                    function.widths.append(width)
        elif DECLARED.match(s):
            for v, width in variables(s):
                self.variables[v.name if v.space != "param" else function.name + " " + v.name] = v
        elif s.startswith(".branchtargets"):
            scope.targets[self.last] = split(s[len(".branchtargets"):])

    @staticmethod
    def instruction(line, s, scope):
        match = re.match(r"(?:@\s*(!?)\s*([\w$%]+)\s+)?([a-z_][\w.:]*)\s*(.*)$", s, re.S)
        if not match:
            raise Unreadable(f"line {line}: {s[:60]}")
        operands = match.group(4).strip()
        return Instruction(line, match.group(2), match.group(1) == "!", match.group(3).split("."), split(operands), scope, s)


# ---------------------------------------------------------------- control flow


def joins(successors):
    """For each block the immediate postdominator, or -1 for the end. The last number is the end of the function."""
    count = len(successors)
    end = count
    predecessors = [[] for _ in range(count + 1)]
    for b, list_ in enumerate(successors):
        for s in list_ or [end]:
            predecessors[s].append(b)
    order, seen = [], {end}
    stack = [(end, iter(predecessors[end]))]
    while stack:
        node, rest = stack[-1]
        for p in rest:
            if p not in seen:
                seen.add(p)
                stack.append((p, iter(predecessors[p])))
                break
        else:
            order.append(node)
            stack.pop()
    number = {b: i for i, b in enumerate(order)}
    parent = {end: end}
    changed = True
    while changed:
        changed = False
        for b in reversed(order):
            if b == end:
                continue
            new = None
            for s in successors[b] or [end]:
                if s in parent:
                    if new is None:
                        new = s
                    else:
                        x, y = s, new
                        while x != y:
                            while number[x] < number[y]:
                                x = parent[x]
                            while number[y] < number[x]:
                                y = parent[y]
                        new = x
            if new is not None and parent.get(b) != new:
                parent[b] = new
                changed = True
    return [parent.get(b, end) for b in range(count)]


class Seen:
    """What one instruction did: patterns of warps with their costs."""

    def __init__(self, line, text, kind, size, matrices):
        self.line, self.text, self.kind, self.size, self.matrices = line, text, kind, size, matrices
        self.most, self.warps, self.worst, self.misaligned, self.outside = 0, 0, None, False, False
        self.patterns = set()


# ---------------------------------------------------------------- execution

SHARED_BYTES = 232448
FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}
WORD = {16: np.uint16, 32: np.uint32, 64: np.uint64}


def as_float(value, width):
    return np.asarray(value, dtype=U).astype(WORD[width]).view(FLOAT[width])


def from_float(value, width):
    return np.asarray(value).astype(FLOAT[width]).view(WORD[width]).astype(U)


def high_unsigned(a, b):
    """The upper 64 bits of a product of unsigned 64-bit numbers."""
    m = U(0xFFFFFFFF)
    al, ah, bl, bh = a & m, a >> U(32), b & m, b >> U(32)
    low, x, y = al * bl, ah * bl, al * bh
    carry = ((low >> U(32)) + (x & m) + (y & m)) >> U(32)
    return ah * bh + (x >> U(32)) + (y >> U(32)) + carry


def high(a, b, width, is_signed):
    if width < 64:
        if is_signed:
            return bits((signed(a, width) * signed(b, width)) >> np.int64(width), width)
        return ((a * b) >> U(width)) & mask_of(width)
    result = high_unsigned(np.asarray(a, dtype=U), np.asarray(b, dtype=U))
    if is_signed:
        result = result - np.where(signed(a, 64) < 0, b, U(0)) - np.where(signed(b, 64) < 0, a, U(0))
    return result


def divided(a, b, width, is_signed, rest, open_):
    """Quotient or remainder, truncated; by zero some function of the dividend (the ISA leaves it open)."""
    by_zero = mixed(a ^ open_) & mask_of(width)
    if not is_signed:
        zero = b == 0
        safe = np.where(zero, U(1), b)
        return np.where(zero, by_zero, a % safe if rest else a // safe)
    x, y = signed(a, width), signed(b, width)
    negative_x, negative_y = x < 0, y < 0
    ux = np.where(negative_x, U(0) - x.view(U), x.view(U))
    uy = np.where(negative_y, U(0) - y.view(U), y.view(U))
    zero = uy == 0
    safe = np.where(zero, U(1), uy)
    result = ux % safe if rest else ux // safe
    minus = negative_x if rest else negative_x != negative_y
    result = np.where(minus, U(0) - result, result)
    return np.where(zero, by_zero, result) & mask_of(width)


def shift_left(a, by, width):
    by = by & U(0xFFFFFFFF)
    return np.where(by >= U(width), U(0), (a << np.minimum(by, U(63)))) & mask_of(width)


def shift_right(a, by, width, is_signed):
    by = np.minimum(by & U(0xFFFFFFFF), U(width if not is_signed else width - 1))
    if is_signed:
        return bits(signed(a, width) >> by.astype(np.int64), width)
    return np.where(by >= U(width), U(0), a >> np.minimum(by, U(63)))


def highest(a):
    """The number of the highest bit set, -1 if none."""
    a = np.array(np.atleast_1d(a), dtype=U)
    result = np.full(a.shape, -1, dtype=np.int64)
    for step in (32, 16, 8, 4, 2, 1):
        up = a >= (U(1) << U(step))
        result = np.where(up, result + step, result)
        a = np.where(up, a >> U(step), a)
    return np.where(a > 0, result + 1, result)


def population(a):
    a = np.asarray(a, dtype=U)
    return np.unpackbits(np.atleast_1d(a).view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1).astype(U)


def reversed_bits(a, width):
    result = U(0)
    for i in range(width):
        result = result | (((a >> U(i)) & U(1)) << U(width - 1 - i))
    return result


def permuted(a, b, select, mode):
    """prmt: PTX ISA 9.7.9.7."""
    both = (a & U(0xFFFFFFFF)) | (b << U(32))
    def byte(i):
        return (both >> (U(8) * i)) & U(255)
    result = U(0)
    low = select & U(3)
    for i in range(4):
        at = U(i)
        if mode is None:
            s = (select >> U(4 * i)) & U(15)
            v = byte(s & U(7))
            v = np.where(s & U(8), np.where(v & U(128), U(255), U(0)), v)
        elif mode == "f4e":
            v = byte(low + at)
        elif mode == "b4e":
            v = byte((low - at) & U(7))
        elif mode == "rc8":
            v = byte(low)
        elif mode == "ecl":
            v = byte(np.maximum(low, at))
        elif mode == "ecr":
            v = byte(np.minimum(low, at))
        else:  # rc16
            v = byte((low & U(1)) * U(2) + U(i % 2))
        result = result | (v << U(8 * i))
    return result


def looked_up(a, b, c, table):
    """lop3."""
    result = U(0)
    for i in range(8):
        if table >> i & 1:
            x = a if i & 4 else ~a
            y = b if i & 2 else ~b
            z = c if i & 1 else ~c
            result = result | (x & y & z)
    return result & U(0xFFFFFFFF)


COMPARED = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}
PURE = {"ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt", "copysign", "testp"}
WINDOWS = {"shared": U(0x7F4A00000000), "local": U(0x7F4B00000000), "param": U(0x7F4C00000000)}
VOLATILE = {"mov"}


class Machine:
    """One kernel, decoded once, run on many blocks."""

    def __init__(self, module, function):
        self.module, self.entry = module, function
        self.programs = {}
        code = " ".join(i.text for i in function.code)
        self.constants = sorted({int(x) & 0xFFFFFFFF for x in re.findall(r"(?<![\w.$%])-?\d{1,9}(?![\w.])", code)})[:200] or [0]
        texts = [i.text for f in module.functions.values() if f is function or not f.entry for i in f.code]
        self.named = set(re.findall(r"[\w$%]+", " ".join(texts)))  # variables of other kernels have no place here
        self.R = []
        self.S = {}
        self.seen = {}
        self.all_finished = True  # of the runs so far
        self.program(function)

    # -- decoding

    def program(self, function):
        if function.name not in self.programs:
            self.programs[function.name] = None  # recursion finds itself by name at the call
            self.programs[function.name] = Program(self, function)
        return self.programs[function.name]

    # -- one run

    def run(self, block, seed, steps=200000, params=None, choose=None, base=None, bases=None):
        """Executes a block of threads. `params`: name -> value, or byte offset -> value; `choose`: special register -> value;
        `bases`: variable -> address. Returns {(line, lines of the calls that lead to it): Seen}."""
        self.rng = np.random.default_rng(seed)
        rng = self.rng
        nx, ny, nz = block
        n = self.n = nx * ny * nz
        self.all = np.ones(n, dtype=bool)
        self.warps = (n + 31) // 32
        t = np.arange(n, dtype=U)
        grid = getattr(self, "grid", None) or [int(rng.choice([1, 2, 3, 7, 64, 100])) for _ in range(3)]
        s = self.S = {}
        at = {"x": t % U(nx), "y": (t // U(nx)) % U(ny), "z": t // U(nx * ny)}
        for d, size, g in zip("xyz", block, grid):
            s["%tid." + d], s["%ntid." + d], s["%nctaid." + d] = at[d], U(size), U(g)
            s["%ctaid." + d] = U(rng.integers(0, g))
            for name in ("%cluster_ctaid.", "%clusterid."):
                s[name + d] = U(0)
            for name in ("%cluster_nctaid.", "%nclusterid."):
                s[name + d] = U(1)
        s["%laneid"], s["%warpid"], s["%nwarpid"] = t % U(32), t // U(32), U(self.warps)
        one = U(1)
        lane = t % U(32)
        s["%lanemask_eq"] = one << lane
        s["%lanemask_lt"] = (one << lane) - one
        s["%lanemask_le"] = ((one << lane) - one) | (one << lane)
        s["%lanemask_gt"] = U(0xFFFFFFFF) & ~s["%lanemask_le"]
        s["%lanemask_ge"] = U(0xFFFFFFFF) & ~s["%lanemask_lt"]
        for name, value in (("%smid", int(rng.integers(0, 132))), ("%nsmid", 132), ("%gridid", 1), ("%cluster_ctarank", 0),
                            ("%cluster_nctarank", 1), ("%is_explicit_cluster", 0), ("%dynamic_smem_size", 0),
                            ("%total_smem_size", SHARED_BYTES), ("WARP_SZ", 32)):
            s[name] = U(value)
        for name, value in (choose or {}).items():
            s[name] = U(value)
        self.place(base, bases or {})
        self.shared = rng.integers(0, 256, SHARED_BYTES, dtype=np.uint8)
        self.local = rng.integers(0, 256, (n, max(16, self.local_bytes)), dtype=np.uint8)
        self.salt = U(rng.integers(0, 1 << 62))
        self.forgets = rng.random() < 0.3  # memory changes between two loads
        self.random_shared = rng.random() < 0.5
        self.clock = 0
        self.reads_absent = False  # whether a shuffle reads a lane of the block that does not execute it
        self.small = rng.random() < 0.85
        self.param_bytes = {}
        self.calls = []  # lines of the calls that are being executed
        self.entry_bytes = self.parameters(params or {})
        self.alive = np.ones(n, dtype=bool)
        self.left = steps
        self.CC = np.zeros(n, dtype=U)
        self.seen = {}
        self.finished = False
        try:
            self.programs[self.entry.name].execute(None)
            self.finished = True
        except Stop:
            self.all_finished = False
        return self.seen

    def place(self, base, bases):
        """Gives each variable an address: shared ones at random multiples of their alignment, with gaps, or as `bases` says."""
        rng = self.rng
        self.address, self.space = {}, {}
        shared = [v for v in self.module.variables.values() if v.space == "shared" and v.name in self.named]
        fixed = [v for v in shared if v.size]
        self.placed = []
        bases = {name.rsplit(".", 1)[-1]: at for name, at in bases.items()}  # of a function's variable: function.variable
        for v in shared:
            if v.name in bases:
                at = bases[v.name]
                assert at % max(1, v.align) == 0 and 0 <= at <= at + v.size <= SHARED_BYTES, (v.name, at)
                self.address[v.name] = U(at)
                self.placed.append((at, at + v.size if v.size else SHARED_BYTES, v.name))
        fixed = [v for v in fixed if v.name not in bases]
        at = max([1024 if base is None else base, *(end for _, end, _ in self.placed if end < SHARED_BYTES)])
        gaps = rng.random() < 0.7 and base is None and sum(v.size for v in fixed) < 150000
        for v in sorted(fixed, key=lambda v: rng.random()) if gaps else fixed:
            align = max(1, v.align)
            room = (200000 - at - sum(w.size + w.align for w in fixed if w.name not in self.address)) // (len(fixed) + 1)
            if gaps and room > 2 * align:
                at += int(rng.integers(0, min(room, 8192)))
            at = -(-at // align) * align
            self.address[v.name] = U(at)
            self.placed.append((at, at + v.size, v.name))
            at += v.size
        for v in shared:
            if not v.size and v.name not in bases:
                align = max(1, v.align)
                start = -(-at // align) * align
                if gaps and start + align * 8 < 220000:
                    start += align * int(rng.integers(0, 8))
                self.address[v.name] = U(start)
                self.placed.append((start, SHARED_BYTES, v.name))
        at = 0
        self.local_bytes = 0
        for v in self.module.variables.values():
            if v.space == "local":
                align = max(8, v.align)
                self.local_bytes = -(-self.local_bytes // align) * align
                self.address[v.name] = U(self.local_bytes)
                self.local_bytes += v.size
            elif v.space in ("global", "const"):
                self.address[v.name] = U(0x7F1000000000) + U(rng.integers(0, 1 << 20)) * U(4096)
            self.space[v.name] = v.space

    def parameters(self, given):
        """Random parameters of the kernel; integers small more often than not, pointers aligned."""
        rng = self.rng
        result = {}
        def number():
            kind = rng.integers(0, 13)
            if kind >= 10:  # what the kernel compares with
                return (int(rng.choice(self.constants)) + int(rng.choice([0, 0, 0, 1, -1]))) & 0xFFFFFFFF
            if kind < 3:
                return int(rng.integers(0, 9))
            if kind < 5:
                return int(rng.integers(0, 130))
            if kind < 7:
                return 1 << int(rng.integers(0, 13))
            if kind < 8:
                return 32 * int(rng.integers(0, 100))
            if kind < 9:
                return (1 << 32) - int(rng.integers(1, 200))
            return int(rng.integers(0, 1 << 32))
        def pointer():
            return 0x7F2000000000 + int(rng.integers(0, 1 << 28)) * int(rng.choice([4, 16, 256]))
        for v in self.entry.params:
            data = bytearray()
            while len(data) < v.size + 16:
                if v.size == 8 or (v.size > 8 and rng.random() < 0.5):
                    data += struct.pack("<Q", pointer() if rng.random() < 0.8 else number())
                else:
                    data += struct.pack("<I", number())
            values = given.get(v.name, {})
            for offset, value in (values if isinstance(values, dict) else {0: values}).items():
                wide = v.size == 8 or (offset % 8 == 0 and offset + 8 <= v.size and offset + 4 not in (values if isinstance(values, dict) else {}))
                size = 8 if wide else min(4, v.size)
                data[offset:offset + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
            result[v.name] = np.frombuffer(bytes(data), dtype=np.uint8)
        self.param_at, at = {}, 0
        for name, data in result.items():
            self.param_at[name] = at
            at += -(-len(data) // 64) * 64
        self.param_image = np.zeros(at + 64, dtype=np.uint8)
        for name, data in result.items():
            self.param_image[self.param_at[name]:self.param_at[name] + len(data)] = data
        return result

    # -- memory

    def words(self, address):
        """Arbitrary 32-bit words at word addresses."""
        h = mixed((address >> U(2)) ^ self.salt)
        if not self.small:
            return h & U(0xFFFFFFFF)
        small = (h >> U(40)) & U(31)
        return np.where((h >> U(61)) < U(6), small, h & U(0xFFFFFFFF))

    def memory(self, address, size, changing):
        """Arbitrary data of `size` bytes at addresses, the same for the same address."""
        if changing or self.forgets:
            self.clock += 1
            address = address ^ (U(self.clock) << U(50))
        low = self.words(address) >> (U(8) * (address & U(3)))
        if size == 8:
            low = low | (self.words(address + U(4)) << U(32))
        return low & mask_of(8 * size)

    def gather(self, table, address, size):
        at = (np.broadcast_to(address, (self.n,)).astype(np.int64)[:, None] + np.arange(size)) % table.shape[-1]
        found = np.zeros((self.n, 8), dtype=np.uint8)
        found[:, :size] = table[at] if table.ndim == 1 else table[np.arange(self.n)[:, None], at]
        return found.view(U)[:, 0]

    def scatter(self, table, address, size, value, mask):
        at = (np.broadcast_to(address, (self.n,)).astype(np.int64)[:, None] + np.arange(size)) % table.shape[-1]
        data = np.ascontiguousarray(np.broadcast_to(value, (self.n,))).astype(U).view(np.uint8).reshape(self.n, 8)[:, :size]
        if mask is not None:
            at, data = at[mask], data[mask]
        if table.ndim == 1:
            table[at] = data
        else:
            rows = np.arange(self.n)[:, None] if mask is None else np.arange(self.n)[mask][:, None]
            table[rows, at] = data

    def record(self, line, text, kind, size, address, mask, matrices=0):
        """Notes the patterns of the warps that execute an instruction."""
        active = self.alive if mask is None else mask
        count = 32 * self.warps
        a = np.zeros(count, dtype=np.int64)
        a[:self.n] = np.broadcast_to(address, (self.n,)).astype(np.int64)
        on = np.zeros(count, dtype=bool)
        on[:self.n] = active
        a, on = a.reshape(-1, 32), on.reshape(-1, 32)
        if matrices:
            on = on & (np.arange(32) < 8 * matrices)
        rows = on.any(axis=1)
        if not rows.any():
            return
        a, on = a[rows], on[rows]
        numbers = np.nonzero(rows)[0]
        key = (line, tuple(self.calls))
        seen = self.seen.get(key)
        if seen is None:
            seen = self.seen[key] = Seen(line, text, kind, size, matrices)
        seen.warps += len(numbers)
        inside = np.zeros(a.shape, dtype=bool)
        for begin, end, name in self.placed:
            inside |= (a >= begin) & (a + size <= end)
        if (on & ~inside).any():
            seen.outside = True
        odd = on & (a % size != 0)
        if odd.any():
            seen.misaligned = True
            keep = ~odd.any(axis=1)
            a, on, numbers = a[keep], on[keep], numbers[keep]
            if not len(numbers):
                return
        costs = wavefronts(kind, size, a & 0xFFFFFFFF, on, matrices)
        best = int(costs.argmax())
        if costs[best] > seen.most:
            seen.most = int(costs[best])
            seen.worst = (int(numbers[best]), [int(x) if o else None for x, o in zip(a[best], on[best])])
        if len(seen.patterns) < 2000:
            low = np.where(on, a, np.int64(1) << 60).min(axis=1)
            for row in np.where(on, a - low[:, None], -1):
                seen.patterns.add(row.tobytes())


class Program:
    """The instructions of a function as Python functions of a mask of threads (None: all)."""

    def __init__(self, machine, function):
        self.m, self.f, self.pending = machine, function, []
        self.first = len(machine.R)  # of its registers
        machine.R.extend([None] * len(function.widths))
        starts = {0}
        code = function.code
        for i, ins in enumerate(code):
            if ins.parts[0] in ("bra", "brx", "ret", "exit", "trap"):
                starts.add(i + 1)
                for target in self.targets(ins):
                    starts.add(target)
        self.starts = sorted(x for x in starts if x < len(code)) or [0]
        self.block_of = {x: b for b, x in enumerate(self.starts)}
        self.end = len(self.starts)
        ends = self.starts[1:] + [len(code)]
        successors, self.blocks = [], []
        for b, (x, y) in enumerate(zip(self.starts, ends)):
            last = code[y - 1] if y > x else None
            next_ = [b + 1] if b + 1 < len(self.starts) else []
            body, jump = range(x, y), None
            if last is not None and last.parts[0] in ("bra", "brx"):
                jump, body = last, range(x, y - 1)
                to = [self.at(t) for t in self.targets(last)]
                successors.append(sorted(set(to) | (set(next_) if last.guard or last.parts[0] == "brx" else set())) or [])
            elif last is not None and last.parts[0] in ("ret", "exit", "trap"):
                jump, body = last, range(x, y - 1)
                successors.append(next_ if last.guard else [])
            else:
                successors.append(next_)
            self.blocks.append(([self.decode(code[i]) for i in body], jump))
        successors = [[s for s in list_ if s < self.end] for list_ in successors]
        self.join = joins(successors)

    def at(self, instruction):
        return self.block_of.get(instruction, self.end)

    def targets(self, ins):
        if ins.parts[0] == "bra":
            return [self.label(ins, ins.operands[0])]
        if ins.parts[0] == "brx":
            names = ins.scope.find("targets", ins.operands[1])
            if names is None:
                raise Unreadable(f"line {ins.line}: {ins.operands[1]} has no targets")
            return [self.label(ins, name) for name in names]
        return []

    def label(self, ins, name):
        found = ins.scope.find("labels", name)
        if found is None:
            raise Unreadable(f"line {ins.line}: no label {name}")
        return found

    def execute(self, mask):
        m, f = self.m, self.f
        n = m.n
        for i in range(len(f.widths)):
            if f.widths[i] == 1:
                m.R[self.first + i] = np.zeros(n, dtype=bool)
            else:
                m.R[self.first + i] = np.full(n, U(m.rng.integers(0, 1 << 32)), dtype=U) & mask_of(f.widths[i])
        for p, value in self.pending:
            m.R[self.first + p.register] = np.broadcast_to(value, (n,)) & mask_of(p.size * 8)
        self.pending = []
        running = m.alive.copy() if mask is None else mask & m.alive
        returned = np.zeros(n, dtype=bool)
        stack = [[0, self.end, running]]
        while stack:
            top = stack[-1]
            b, join, active = top
            active = active & m.alive & ~returned
            if b == join or b >= self.end or not active.any():
                stack.pop()
                continue
            full = None if active.all() else active
            body, jump = self.blocks[b]
            m.left -= len(body) + 1
            if m.left < 0:
                raise Stop()
            alive = m.alive
            for step in body:
                step(full)
                if m.alive is not alive:  # lanes have left the kernel in a function
                    alive = m.alive
                    full = active = active & alive
            top[0] = b + 1
            if jump is None:
                continue
            active = active & m.alive
            taken = active & self.guard(jump) if jump.guard else active
            kind = jump.parts[0]
            if kind in ("ret", "exit", "trap"):
                if kind == "ret":
                    returned |= taken
                else:
                    m.alive = m.alive & ~taken
                continue
            if kind == "bra":
                paths = [(self.at(self.label(jump, jump.operands[0])), taken), (b + 1, active & ~taken)]
            else:
                index = np.broadcast_to(self.value(jump, jump.operands[0], 32)(), (n,))
                targets = self.targets(jump)
                lanes_to = {}  # lanes of one target are together, whichever of its numbers they have
                for i, t in enumerate(targets):
                    lanes_to[self.at(t)] = lanes_to.get(self.at(t), False) | (taken & (index == U(i)))
                paths = [*lanes_to.items(), (b + 1, active & ~taken)]
            paths = [(to, lanes) for to, lanes in paths if lanes.any()]
            if not paths:
                stack.pop()
            elif len(paths) == 1:
                top[0] = paths[0][0]
            else:
                reunion = self.join[b]
                top[0] = reunion
                if reunion == join:
                    stack.pop()
                for to, lanes in paths:
                    if to != reunion:
                        stack.append([to, reunion, lanes])

    # -- operands

    def guard(self, ins):
        value = self.m.R[self.register(ins, ins.guard)]
        return ~value if ins.negated else value

    def register(self, ins, name):
        found = ins.scope.find("registers", name)
        return None if found is None else self.first + found

    def value(self, ins, text, width):
        """A function that returns the operand as unsigned numbers of `width` bits."""
        m, R = self.m, self.m.R
        keep = mask_of(width)
        r = self.register(ins, text)
        if r is not None:
            if self.f.widths[r - self.first] <= width:
                return lambda: R[r]
            return lambda: R[r] & keep
        if text.startswith("%") or text == "WARP_SZ":
            if re.match(r"%(clock|globaltimer|pm|envreg)", text):
                return lambda: U(m.rng.integers(0, 1 << 31))
            return lambda: m.S.get(text, U(0)) & keep
        if re.match(r"-?\d|-\s*\d", text):
            return (lambda c: lambda: c)(U(number(text, width)) & keep)
        match = re.match(r"(?:generic\()?([\w$%]+)\)?\s*(?:\+\s*(-?\w+))?$", text)
        if not match:
            raise Unreadable(f"line {ins.line}: operand {text}")
        name, plus = match.group(1), U(number(match.group(2) or "0", 64))
        if name in m.module.functions:
            return lambda: U(0x1000) & keep
        entry = {p.name for p in self.f.params}
        if name in entry:
            return lambda: (U(m.param_at.get(name, 0)) + plus) & keep
        return lambda: (m.address.get(name, U(0)) + plus) & keep

    def predicate(self, ins, text):
        negated = text.startswith("!")
        r = self.register(ins, text.lstrip("! "))
        R = self.m.R
        if r is None:
            truth = text.strip() not in ("0", "false")
            return lambda: np.full(self.m.n, truth)
        return (lambda: ~R[r]) if negated else (lambda: R[r])

    def address(self, ins, text):
        """A function for [base + offset]; and the named variable or parameter, if there is one."""
        inner = text.strip()[1:-1].strip() if text.strip().startswith("[") else text
        inner = split(inner)[0]
        match = re.match(r"([\w$%.]+)\s*(?:\+\s*(-?\s*\w+)|(-\s*\w+))?$", inner)
        if not match:
            raise Unreadable(f"line {ins.line}: address {text}")
        base, offset = match.group(1), number((match.group(2) or match.group(3) or "0").replace(" ", ""), 64)
        r = self.register(ins, base)
        if r is not None:
            width, R, plus = self.f.widths[r - self.first], self.m.R, U(offset)
            keep = mask_of(width)
            return (lambda: R[r]) if offset == 0 else (lambda: (R[r] + plus) & keep), None, offset
        if re.match(r"\d", base):
            return (lambda: U(number(base, 64) + offset)), None, offset
        plus, m = U(offset), self.m
        return (lambda: m.address.get(base, U(0)) + plus), base, offset

    def put(self, ins, text):
        """A function that writes a register under a mask."""
        if text == "_":
            return lambda v, mask: None
        r = self.register(ins, text)
        if r is None:
            raise Unreadable(f"line {ins.line}: no register {text}")
        R, m, width = self.m.R, self.m, self.f.widths[r - self.first]
        if width == 1:
            def put_bool(v, mask):
                v = np.broadcast_to(v, (m.n,)).astype(bool)
                R[r] = v if mask is None else np.where(mask, v, R[r])
            return put_bool
        keep = mask_of(width)
        def put_word(v, mask):
            v = np.asarray(v, dtype=U) & keep
            if v.shape != (m.n,):
                v = np.full(m.n, v, dtype=U)
            R[r] = v if mask is None else np.where(mask, v, R[r])
        return put_word

    def elements(self, text):
        text = text.strip()
        return [t.strip() for t in split(text[1:-1])] if text.startswith("{") else [text]

    # -- instructions

    def decode(self, ins):
        body = self.decoded(ins)
        if ins.guard is None:
            return body
        m = self.m
        r = self.register(ins, ins.guard)
        if r is None:
            raise Unreadable(f"line {ins.line}: no register {ins.guard}")
        R, negated = m.R, ins.negated
        def guarded(mask):
            p = ~R[r] if negated else R[r]
            p = p & m.alive if mask is None else p & mask
            if p.any():
                body(None if p.all() else p)
        return guarded

    def decoded(self, ins):
        name = ins.parts[0]
        method = getattr(self, "op_" + name.replace("::", "_"), None)
        if name in ("and", "or", "not", "xor"):
            method = self.op_logic
        try:
            found = method(ins) if method else None
        except (IndexError, KeyError):
            found = None
        return found or self.unknown(ins)

    def unknown(self, ins):
        """An instruction that is not modelled: its first operand becomes arbitrary, lane by lane (PURE ones: a function of the inputs)."""
        if ins.parts[0] in ("bar", "barrier", "membar", "fence", "st", "red", "prefetch", "prefetchu", "nanosleep", "brkpt", "pmevent",
                            "discard", "applypriority", "griddepcontrol", "setmaxnreg", "stackrestore") or not ins.operands:
            if not (ins.parts[0] in ("bar", "barrier") and "red" in ins.parts):
                return lambda mask: None
        m = self.m
        targets = []
        if not ins.operands[0].startswith("["):
            for text in re.split(r"\|", ins.operands[0]):
                for e in self.elements(text):
                    e = e.strip()
                    if self.register(ins, e) is not None:
                        targets.append((self.put(ins, e), self.f.widths[self.register(ins, e) - self.first]))
        inputs = []
        if ins.parts[0] in PURE:
            for text in ins.operands[1:]:
                inputs.append(self.value(ins, text, 64))
        def run(mask):
            for i, (put, width) in enumerate(targets):
                if inputs:
                    v = U(hash(tuple(ins.parts)) & 0xFFFFFFFF)
                    for x in inputs:
                        v = mixed(v ^ np.asarray(x(), dtype=U))
                elif width == 1:
                    v = m.rng.random(m.n) < 0.5 if m.rng.random() < 0.5 else np.full(m.n, m.rng.random() < 0.8)
                    put(v, mask)
                    continue
                else:
                    v = m.rng.integers(0, 1 << 62, m.n, dtype=np.int64).view(U)
                    if m.small:
                        v = np.where(v & U(0x30000), v & U(63), v)
                put(v & U(1) if width == 1 else v, mask)
        return run

    def kind(self, ins):
        """(letter, width) of the last type of the opcode."""
        for part in reversed(ins.parts[1:]):
            if TYPE.match(part):
                return part[0] if part != "pred" else "p", width_of(part), part
        return None, 0, None

    def binary(self, ins, function):
        put = self.put(ins, ins.operands[0])
        letter, width, _ = self.kind(ins)
        a, b = self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], width)
        return lambda mask: put(function(a(), b()), mask)

    def floating(self, ins, function, count=2):
        letter, width, kind = self.kind(ins)
        if kind not in ("f16", "f32", "f64"):
            return None
        put = self.put(ins, ins.operands[0])
        inputs = [self.value(ins, text, width) for text in ins.operands[1:1 + count]]
        return lambda mask: put(from_float(function(*[as_float(x(), width) for x in inputs]), width), mask)

    def op_add(self, ins):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return self.floating(ins, lambda a, b: a + b)
        if kind in ("u16x2", "s16x2", "bf16", "bf16x2") or "sat" in ins.parts:
            return self.saturated(ins, 1) if kind == "s32" else None
        m, keep = self.m, mask_of(width)
        if "cc" in ins.parts:
            return self.carrying(ins, width, False)
        return self.binary(ins, lambda a, b: a + b & keep)

    def saturated(self, ins, sign):
        return self.binary(ins, lambda a, b: bits(np.clip(signed(a, 32) + sign * signed(b, 32), -2**31, 2**31 - 1), 32))

    def carrying(self, ins, width, with_carry, minus=False):
        m, keep = self.m, mask_of(width)
        put = self.put(ins, ins.operands[0])
        a, b = self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], width)
        sets = "cc" in ins.parts
        def run(mask):
            x, y = np.broadcast_to(a(), (m.n,)), np.broadcast_to(b(), (m.n,))
            c = m.CC if with_carry else np.zeros(m.n, dtype=U)
            if minus:
                result = (x - y - c) & keep
                out = (x < y) | ((x == y) & (c > 0))
            else:
                result = (x + y + c) & keep
                out = (result < x) | ((result == x) & (c > 0) & (y == keep)) | ((result == x) & (y > 0))
            if sets:
                m.CC = out.astype(U) if mask is None else np.where(mask, out.astype(U), m.CC)
            put(result, mask)
        return run

    def op_addc(self, ins):
        return self.carrying(ins, self.kind(ins)[1], True)

    def op_subc(self, ins):
        return self.carrying(ins, self.kind(ins)[1], True, True)

    def op_sub(self, ins):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return self.floating(ins, lambda a, b: a - b)
        if kind in ("u16x2", "s16x2", "bf16", "bf16x2") or "sat" in ins.parts:
            return self.saturated(ins, -1) if kind == "s32" else None
        if "cc" in ins.parts:
            return self.carrying(ins, width, False, True)
        keep = mask_of(width)
        return self.binary(ins, lambda a, b: a - b & keep)

    def product(self, ins):
        """The function of a multiplication, and the width of its result."""
        letter, width, kind = self.kind(ins)
        keep, is_signed = mask_of(width), letter == "s"
        if "wide" in ins.parts:
            if is_signed:
                return lambda a, b: bits(signed(a, width) * signed(b, width), 2 * width), 2 * width
            return lambda a, b: a * b & mask_of(2 * width), 2 * width
        if ins.parts[0].endswith("24"):
            cut = (lambda v: bits(signed(v, 24), 64)) if is_signed else (lambda v: v & U(0xFFFFFF))
            by = U(16 if "hi" in ins.parts else 0)
            if is_signed and by:
                return lambda a, b: bits((signed(a, 24) * signed(b, 24)) >> np.int64(16), 32), 32
            return lambda a, b: ((cut(a) * cut(b)) >> by) & U(0xFFFFFFFF), 32
        if "hi" in ins.parts:
            return lambda a, b: high(a, b, width, is_signed), width
        return lambda a, b: a * b & keep, width

    def op_mul(self, ins):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return self.floating(ins, lambda a, b: a * b)
        if letter == "b":
            return None
        return self.binary(ins, self.product(ins)[0])

    op_mul24 = op_mul

    def op_mad(self, ins):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return self.floating(ins, lambda a, b, c: a * b + c, 3)
        if "cc" in ins.parts or "sat" in ins.parts or ins.parts[0] == "madc":
            return self.mad_carrying(ins)
        multiply, out = self.product(ins)
        put, keep = self.put(ins, ins.operands[0]), mask_of(out)
        a, b, c = self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], width), self.value(ins, ins.operands[3], out)
        return lambda mask: put(multiply(a(), b()) + c() & keep, mask)

    def mad_carrying(self, ins):
        letter, width, kind = self.kind(ins)
        multiply, out = self.product(ins)
        m, keep = self.m, mask_of(out)
        put = self.put(ins, ins.operands[0])
        a, b, c = self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], width), self.value(ins, ins.operands[3], out)
        def run(mask):
            x = np.broadcast_to(multiply(a(), b()), (m.n,))
            y = np.broadcast_to(c(), (m.n,))
            carry = m.CC if ins.parts[0] == "madc" else np.zeros(m.n, dtype=U)
            result = (x + y + carry) & keep
            out_carry = (result < x) | ((result == x) & (y > 0))
            if "cc" in ins.parts:
                m.CC = out_carry.astype(U) if mask is None else np.where(mask, out_carry.astype(U), m.CC)
            put(result, mask)
        return run

    op_madc = mad_carrying
    op_mad24 = op_mad

    def op_fma(self, ins):
        return self.floating(ins, lambda a, b, c: a * b + c, 3)

    def op_sad(self, ins):
        letter, width, kind = self.kind(ins)
        put, keep, is_signed = self.put(ins, ins.operands[0]), mask_of(width), letter == "s"
        a, b, c = [self.value(ins, ins.operands[i], width) for i in (1, 2, 3)]
        def run(mask):
            x, y = a(), b()
            less = signed(x, width) < signed(y, width) if is_signed else x < y
            put(c() + np.where(less, y - x, x - y) & keep, mask)
        return run

    def op_div(self, ins):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return self.floating(ins, lambda a, b: a / b)
        return self.binary(ins, lambda a, b: divided(np.asarray(a), np.asarray(b), width, letter == "s", False, self.m.salt))

    def op_rem(self, ins):
        letter, width, kind = self.kind(ins)
        return self.binary(ins, lambda a, b: divided(np.asarray(a), np.asarray(b), width, letter == "s", True, self.m.salt))

    def extreme(self, ins, pick):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return self.floating(ins, pick) if len(ins.operands) == 3 else None
        if kind in ("u16x2", "s16x2", "bf16", "bf16x2") or "relu" in ins.parts:
            return None
        if letter == "s":
            return self.binary(ins, lambda a, b: bits(pick(signed(a, width), signed(b, width)), width))
        return self.binary(ins, pick)

    def op_min(self, ins):
        return self.extreme(ins, np.minimum)

    def op_max(self, ins):
        return self.extreme(ins, np.maximum)

    def unary(self, ins, function, width=None):
        put = self.put(ins, ins.operands[0])
        a = self.value(ins, ins.operands[1], width or self.kind(ins)[1])
        return lambda mask: put(function(a()), mask)

    def op_abs(self, ins):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return self.floating(ins, np.abs, 1)
        return self.unary(ins, lambda a: bits(np.abs(signed(a, width)), width)) if letter == "s" else None

    def op_neg(self, ins):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return self.floating(ins, np.negative, 1)
        return self.unary(ins, lambda a: U(0) - a & mask_of(width)) if letter == "s" else None

    def op_popc(self, ins):
        return self.unary(ins, population)

    def op_clz(self, ins):
        width = self.kind(ins)[1]
        return self.unary(ins, lambda a: (width - 1 - highest(a)).astype(U))

    def op_bfind(self, ins):
        letter, width, kind = self.kind(ins)
        def find(a):
            if letter == "s":
                a = np.where(signed(a, width) < 0, ~a, a) & mask_of(width)
            at = highest(a)
            return np.where(at < 0, U(0xFFFFFFFF), (width - 1 - at if "shiftamt" in ins.parts else at).astype(U))
        return self.unary(ins, find)

    def op_brev(self, ins):
        width = self.kind(ins)[1]
        return self.unary(ins, lambda a: reversed_bits(a, width))

    def op_cnot(self, ins):
        return self.unary(ins, lambda a: np.where(a == 0, U(1), U(0)))

    def op_bfe(self, ins):
        letter, width, kind = self.kind(ins)
        put = self.put(ins, ins.operands[0])
        a, b, c = self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], 32), self.value(ins, ins.operands[3], 32)
        def run(mask):  # PTX ISA: pos and len are the low 8 bits; the sign is bit min(pos+len-1, msb)
            x, pos, length = np.asarray(a()), b() & U(255), c() & U(255)
            field = shift_right(x, pos, width, False)
            kept = np.where(length >= U(width), mask_of(width), (U(1) << np.minimum(length, U(63))) - U(1))
            result = field & kept
            if letter == "s":
                top = np.minimum(pos + np.maximum(length, U(1)) - U(1), U(width - 1))
                minus = ((x >> top) & U(1)).astype(bool) & (length > 0)
                result = np.where(minus, result | (~kept & mask_of(width)), result)
                reach = np.where(U(width) > pos, U(width) - np.minimum(pos, U(width)), U(0))  # bits beyond the operand are the sign
                beyond = np.where(reach >= U(64), U(0), ~((U(1) << np.minimum(reach, U(63))) - U(1)))
                result = np.where(minus, result | (beyond & mask_of(width)), result)
            put(result, mask)
        return run

    def op_bfi(self, ins):
        width = self.kind(ins)[1]
        put = self.put(ins, ins.operands[0])
        a, b = self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], width)
        c, d = self.value(ins, ins.operands[3], 32), self.value(ins, ins.operands[4], 32)
        def run(mask):
            pos, length = c() & U(255), d() & U(255)
            field = np.where(length >= U(width), mask_of(width), (U(1) << np.minimum(length, U(63))) - U(1))
            field = shift_left(field, pos, width)
            put((b() & ~field) | (shift_left(np.asarray(a()), pos, width) & field), mask)
        return run

    def op_szext(self, ins):
        letter, width, kind = self.kind(ins)
        put, a, b = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], 32), self.value(ins, ins.operands[2], 32)
        def run(mask):
            x, by = a(), b() & U(31) if "wrap" in ins.parts else np.minimum(b(), U(32))
            low = x & ((U(1) << by) - U(1))
            minus = (by > 0) & (((x >> (np.maximum(by, U(1)) - U(1))) & U(1)) > 0)
            put(np.where(minus & (letter == "s"), low | ~((U(1) << by) - U(1)), low) & U(0xFFFFFFFF), mask)
        return run

    def op_bmsk(self, ins):
        wrap = "wrap" in ins.parts
        def make(a, b):
            a, b = (a & U(31), b & U(31)) if wrap else (a, b)
            ones = shift_left(U(1), b, 64) - U(1)
            ones = np.where(b >= U(64), ONES, ones) & U(0xFFFFFFFF)
            return shift_left(ones, a, 32)
        put, a, b = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], 32), self.value(ins, ins.operands[2], 32)
        return lambda mask: put(make(a(), b()), mask)

    def op_logic(self, ins):
        letter, width, kind = self.kind(ins)
        which = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.bitwise_not}[ins.parts[0]]
        put = self.put(ins, ins.operands[0])
        read = (lambda t: self.predicate(ins, t)) if kind == "pred" else (lambda t: self.value(ins, t, width))
        inputs = [read(t) for t in ins.operands[1:]]
        if ins.parts[0] == "not":
            return lambda mask: put(~np.asarray(inputs[0]()) if kind == "pred" else ~inputs[0]() & mask_of(width), mask)
        return lambda mask: put(which(inputs[0](), inputs[1]()), mask)

    def op_lop3(self, ins):
        if "|" in ins.operands[0] or len(ins.operands) != 5:
            return None
        put, table = self.put(ins, ins.operands[0]), number(ins.operands[4], 32)
        a, b, c = [self.value(ins, ins.operands[i], 32) for i in (1, 2, 3)]
        return lambda mask: put(looked_up(a(), b(), c(), table), mask)

    def op_shl(self, ins):
        letter, width, kind = self.kind(ins)
        put, a, b = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], 32)
        return lambda mask: put(shift_left(a(), b(), width), mask)

    def op_shr(self, ins):
        letter, width, kind = self.kind(ins)
        put, a, b = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], 32)
        return lambda mask: put(shift_right(np.asarray(a()), np.asarray(b()), width, letter == "s"), mask)

    def op_shf(self, ins):
        put = self.put(ins, ins.operands[0])
        a, b, c = [self.value(ins, ins.operands[i], 32) for i in (1, 2, 3)]
        left, wrap = "l" in ins.parts, "wrap" in ins.parts
        def run(mask):  # [b, a] shifted; the high word of a left shift, the low word of a right shift
            by = c() & U(31) if wrap else np.minimum(c(), U(32))
            both = (b() << U(32)) | a()
            put((both << by) >> U(32) if left else both >> by, mask)
        return run

    def op_prmt(self, ins):
        put = self.put(ins, ins.operands[0])
        a, b, c = [self.value(ins, ins.operands[i], 32) for i in (1, 2, 3)]
        mode = next((p for p in ins.parts[1:] if p in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")), None)
        return lambda mask: put(permuted(a(), b(), c(), mode), mask)

    def op_dp4a(self, ins):
        put = self.put(ins, ins.operands[0])
        a, b, c = [self.value(ins, ins.operands[i], 32) for i in (1, 2, 3)]
        sa, sb = ins.parts[1] == "s32", ins.parts[2] == "s32"
        def byte(v, i, is_signed):
            v = (v >> U(8 * i)) & U(255)
            return signed(v, 8) if is_signed else v.astype(np.int64)
        def run(mask):
            x, y = np.asarray(a()), np.asarray(b())
            total = sum(byte(x, i, sa) * byte(y, i, sb) for i in range(4))
            put(bits(total, 64) + c() & U(0xFFFFFFFF), mask)
        return run

    def op_setp(self, ins):
        compare, test, kinds = self.comparison(ins)
        targets = [t.strip() for t in ins.operands[0].split("|")]
        puts = [self.put(ins, t) for t in targets]
        combine = next((p for p in ins.parts[2:] if p in ("and", "or", "xor")), None)
        if combine:
            with_ = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[combine]
            c = self.predicate(ins, ins.operands[3])
        def run(mask):
            p = np.asarray(compare())
            q = ~p
            if combine:
                p, q = with_(p, c()), with_(q, c())
            puts[0](p, mask)
            if len(puts) > 1:
                puts[1](q, mask)
        return run

    def comparison(self, ins):
        letter, width, kind = self.kind(ins)
        test = ins.parts[1]
        a, b = self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], width)
        if letter == "f":
            if kind not in FLOAT_NAMES:
                m = self.m
                return (lambda: m.rng.random(m.n) < 0.5), test, kind
            plain = test[:2] if test.endswith("u") else test
            if plain in ("num", "nan"):
                return (lambda: (np.isnan(as_float(a(), width)) | np.isnan(as_float(b(), width))) == (plain == "nan")), test, kind
            def floats():
                x, y = as_float(a(), width), as_float(b(), width)
                nan = np.isnan(x) | np.isnan(y)
                result = COMPARED[plain](x, y)
                return result | nan if test.endswith("u") else result & ~nan
            return floats, test, kind
        which = COMPARED[test]
        if letter == "s":
            return (lambda: which(signed(a(), width), signed(b(), width))), test, kind
        return (lambda: which(a(), b())), test, kind

    def op_set(self, ins):
        types = [p for p in ins.parts[1:] if TYPE.match(p)]
        combine = any(p in ("and", "or", "xor") for p in ins.parts[2:])
        if combine:
            return None
        compare, test, kind = self.comparison(ins)
        yes = U(0x3F800000) if types[0] == "f32" else mask_of(width_of(types[0]))
        put = self.put(ins, ins.operands[0])
        return lambda mask: put(np.where(compare(), yes, U(0)), mask)

    def op_selp(self, ins):
        letter, width, kind = self.kind(ins)
        put, p = self.put(ins, ins.operands[0]), self.predicate(ins, ins.operands[3])
        read = self.predicate if kind == "pred" else lambda i, t: self.value(i, t, width)
        a, b = read(ins, ins.operands[1]), read(ins, ins.operands[2])
        return lambda mask: put(np.where(p(), a(), b()), mask)

    def op_slct(self, ins):
        types = [p for p in ins.parts[1:] if TYPE.match(p)]
        width = width_of(types[0])
        put, a, b = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], width), self.value(ins, ins.operands[2], width)
        c = self.value(ins, ins.operands[3], 32)
        if types[1] == "f32":
            return lambda mask: put(np.where(as_float(c(), 32) >= 0, a(), b()), mask)
        return lambda mask: put(np.where(signed(c(), 32) >= 0, a(), b()), mask)

    def op_mov(self, ins):
        letter, width, kind = self.kind(ins)
        to, source = self.elements(ins.operands[0]), self.elements(ins.operands[1])
        if kind == "pred":
            put, p = self.put(ins, to[0]), self.predicate(ins, source[0])
            return lambda mask: put(p(), mask)
        if len(to) == 1 and len(source) == 1:
            put, a = self.put(ins, to[0]), self.value(ins, source[0], width)
            return lambda mask: put(a(), mask)
        if len(to) == 1:
            each = width // len(source)
            put, parts = self.put(ins, to[0]), [self.value(ins, t, each) for t in source]
            def pack(mask):
                v = U(0)
                for i, p in enumerate(parts):
                    v = v | (p() << U(each * i))
                put(v, mask)
            return pack if width <= 64 else None
        each = width // len(to)
        if width > 64:
            return None
        a, puts = self.value(ins, source[0], width), [self.put(ins, t) for t in to]
        def unpack(mask):
            v = a()
            for i, put in enumerate(puts):
                put((v >> U(each * i)) & mask_of(each), mask)
        return unpack

    def op_cvt(self, ins):
        types = [p for p in ins.parts[1:] if TYPE.match(p)]
        if len(types) != 2 or len(ins.operands) != 2:
            return None
        to, source = types
        wt, ws = width_of(to), width_of(source)
        register = self.register(ins, ins.operands[0])
        if register is None:
            return None
        wide = max(wt, self.f.widths[register - self.first])
        put, a = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], ws)
        saturate = "sat" in ins.parts
        if to[0] in "us" and source[0] in "us":
            low, top = (0, 2**wt - 1) if to[0] == "u" else (-2**(wt - 1), 2**(wt - 1) - 1)
            def integers(mask):
                v = a() if source[0] == "u" else bits(signed(a(), ws), 64)
                if saturate:
                    if source[0] == "u":
                        v = np.minimum(v, U(top))
                    else:
                        v = bits(np.clip(signed(v, 64), low, min(top, 2**63 - 1)), 64)
                v = v & mask_of(wt)
                put(v if to[0] == "u" else bits(signed(v, wt), wide), mask)
            return integers
        if to in FLOAT_NAMES and source[0] in "us":
            return lambda mask: put(from_float(a().astype(np.float64) if source[0] == "u" else signed(a(), ws).astype(np.float64), wt), mask)
        if to in FLOAT_NAMES and source in FLOAT_NAMES:
            rounding = next((f for n, f in ROUNDED.items() if n in ins.parts), None)
            def floats(mask):
                v = as_float(a(), ws).astype(np.float64)
                put(from_float(rounding(v) if rounding else v, wt), mask)
            return floats
        if source in FLOAT_NAMES and to[0] in "us":
            rounding = next((f for n, f in ROUNDED.items() if n in ins.parts), np.trunc)
            low, top = (0.0, 2.0**wt) if to[0] == "u" else (-2.0**(wt - 1), 2.0**(wt - 1))
            def to_integer(mask):
                v = np.nan_to_num(rounding(as_float(a(), ws).astype(np.float64)), nan=0.0, posinf=top, neginf=low)
                over = v >= top
                v = np.clip(v, low, np.nextafter(top, 0))
                whole = v.astype(U) if to[0] == "u" else v.astype(np.int64).view(U)
                put(np.where(over, mask_of(wt) if to[0] == "u" else mask_of(wt - 1), whole & mask_of(wt)), mask)
            return to_integer
        return None

    def op_cvta(self, ins):
        put, width = self.put(ins, ins.operands[0]), self.kind(ins)[1]
        a = self.value(ins, ins.operands[1], width)
        space = next((p.split("::")[0] for p in ins.parts[1:] if p.split("::")[0] in ("shared", "local", "param", "global", "const")), "global")
        window = WINDOWS.get(space)
        if window is None:
            return lambda mask: put(a(), mask)
        if width == 32:
            return lambda mask: put(a(), mask)
        return lambda mask: put(a() - window if "to" in ins.parts else a() + window, mask)

    def op_isspacep(self, ins):
        put, a = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], 64)
        window = WINDOWS.get(ins.parts[1].split("::")[0])
        if window is None:
            return lambda mask: put(~np.isin(np.asarray(a()) >> U(32), [int(w) >> 32 for w in WINDOWS.values()]), mask)
        return lambda mask: put((a() >> U(32)) == (window >> U(32)), mask)

    # -- memory

    def space_of(self, ins):
        for part in ins.parts[1:]:
            base = part.split("::")[0]
            if base in ("shared", "global", "local", "const", "param"):
                return base if part != "shared::cluster" else "cluster"
        return None

    def op_ld(self, ins):
        space = self.space_of(ins)
        letter, width, kind = self.kind(ins)
        m = self.m
        to = self.elements(ins.operands[0])
        puts = [self.put(ins, t) for t in to]
        wides = [0 if t == "_" else self.f.widths[self.register(ins, t) - self.first] for t in to]
        address, name, offset = self.address(ins, ins.operands[1])
        size = width // 8
        total = size * len(to)
        half = width == 128
        changing = any(p in ("volatile", "relaxed", "acquire", "mmio") for p in ins.parts)

        def finish(values, mask):
            for put, value, wide in zip(puts, values, wides):
                put(bits(signed(value, width), wide) if letter == "s" and wide > width else value, mask)

        if space == "param":
            if name is None:
                read = lambda a: m.gather(m.param_image, a, min(size, 8))
                return lambda mask: finish([read(address() + U(size * i)) for i in range(len(to))], mask)
            def parameter(mask):
                table = m.param_bytes.get((self.f.name, name))
                if table is None:
                    table = m.entry_bytes.get(name)
                if table is None:
                    table = m.param_bytes[(self.f.name, name)] = np.zeros((m.n, 4096), dtype=np.uint8)
                finish([m.gather(table, U(offset + size * i), min(size, 8)) for i in range(len(to))], mask)
            return parameter

        def shared(a, mask):
            if m.random_shared or half:
                m.clock += 1
                return [m.memory(a + U(size * i), min(size, 8), True) for i in range(len(to))]
            return [m.gather(m.shared, a + U(size * i), size) for i in range(len(to))]

        def run(mask):
            a = np.broadcast_to(address(), (m.n,))
            if space == "shared":
                m.record(ins.line, ins.text, "ld", total, a, mask)
                return finish(shared(a, mask), mask)
            if space == "local":
                return finish([m.gather(m.local, a + U(size * i), min(size, 8)) for i in range(len(to))], mask)
            values = [m.memory(a + U(size * i), min(size, 8), changing) for i in range(len(to))]
            if space in ("const", "global") and name in m.module.variables and m.module.variables[name].values and size <= 8:
                pass
            if space is None:
                for window_name, read in (("shared", shared), ("local", lambda b, k: [m.gather(m.local, b + U(size * i), min(size, 8)) for i in range(len(to))]),
                                          ("param", lambda b, k: [m.gather(m.param_image, b + U(size * i), min(size, 8)) for i in range(len(to))])):
                    window = WINDOWS[window_name]
                    here = (a >> U(32)) == (window >> U(32))
                    if here.any():
                        b = np.where(here, a - window, U(0))
                        inside = here & m.alive if mask is None else here & mask
                        if window_name == "shared" and inside.any():
                            m.record(ins.line, ins.text, "ld", total, b, inside)
                        values = [np.where(here, x, y) for x, y in zip(read(b, inside), values)]
            finish(values, mask)
        return run

    op_ldu = op_ld

    def op_st(self, ins):
        if "async" in ins.parts or "bulk" in ins.parts:
            return lambda mask: None
        space = self.space_of(ins)
        letter, width, kind = self.kind(ins)
        m = self.m
        source = [self.value(ins, t, min(width, 64)) for t in self.elements(ins.operands[1])]
        address, name, offset = self.address(ins, ins.operands[0])
        size = width // 8
        total = size * len(source)
        if space == "param":
            def parameter(mask):
                table = m.param_bytes.get((self.f.name, name))
                if table is None:
                    table = m.param_bytes[(self.f.name, name)] = np.zeros((m.n, 4096), dtype=np.uint8)
                for i, s in enumerate(source):
                    m.scatter(table, U(offset + size * i), size, s(), mask)
            return parameter
        def store(table, a, mask):
            for i, s in enumerate(source):
                m.scatter(table, a + U(size * i), min(size, 8), s(), mask)
        def run(mask):
            a = np.broadcast_to(address(), (m.n,))
            if space == "shared":
                m.record(ins.line, ins.text, "st", total, a, mask)
                store(m.shared, a, mask)
            elif space == "local":
                store(m.local, a, mask)
            elif space is None:
                for window_name, table in (("shared", m.shared), ("local", m.local)):
                    window = WINDOWS[window_name]
                    here = (a >> U(32)) == (window >> U(32))
                    here = here & m.alive if mask is None else here & mask
                    if here.any():
                        if window_name == "shared":
                            m.record(ins.line, ins.text, "st", total, a - window, here)
                        store(table, np.where(here, a - window, U(0)), here)
        return run

    def op_atom(self, ins):
        if self.space_of(ins) not in ("shared", None):
            return None
        letter, width, kind = self.kind(ins)
        m = self.m
        has_result = ins.parts[0] == "atom"
        address, name, offset = self.address(ins, ins.operands[1 if has_result else 0])
        unknown = self.unknown(ins) if has_result else (lambda mask: None)
        generic = self.space_of(ins) is None
        window = WINDOWS["shared"]
        what = "cas" if "cas" in ins.parts else "count" if "add" in ins.parts and ins.operands[-1] == "1" else "atom"
        def run(mask):
            a = np.broadcast_to(address(), (m.n,))
            if generic:
                here = (a >> U(32)) == (window >> U(32))
                here = here & m.alive if mask is None else here & mask
                if here.any():
                    m.record(ins.line, ins.text, what, width // 8, a - window, here)
            else:
                m.record(ins.line, ins.text, what, width // 8, a, mask)
            unknown(mask)
        return run

    op_red = op_atom

    def op_ldmatrix(self, ins):
        load = ins.parts[0] == "ldmatrix"
        address, name, offset = self.address(ins, ins.operands[1 if load else 0])
        if "m8n8" not in ins.parts:
            return None
        count = next(int(p[1]) for p in ins.parts if p in ("x1", "x2", "x4"))
        m, generic = self.m, self.space_of(ins) is None
        unknown = self.unknown(ins) if load else (lambda mask: None)
        def run(mask):
            a = np.broadcast_to(address(), (m.n,))
            m.record(ins.line, ins.text, "matrix", 16, a - WINDOWS["shared"] if generic else a, mask, count)
            unknown(mask)
        return run

    op_stmatrix = op_ldmatrix

    def op_cp(self, ins):
        if ins.parts[1] != "async" or "bulk" in ins.parts or len(ins.parts) < 3 or ins.parts[2] not in ("ca", "cg"):
            return lambda mask: None
        address, name, offset = self.address(ins, ins.operands[0])
        size, m = number(ins.operands[2], 32), self.m
        return lambda mask: m.record(ins.line, ins.text, "cp", size, address(), mask)

    # -- warps

    def by_warp(self, v):
        m = self.m
        padded = np.zeros(32 * m.warps, dtype=np.asarray(v).dtype)
        padded[:m.n] = np.broadcast_to(v, (m.n,))
        return padded.reshape(-1, 32)

    def op_shfl(self, ins):
        mode = next(p for p in ins.parts if p in ("up", "down", "bfly", "idx"))
        targets = [t.strip() for t in ins.operands[0].split("|")]
        puts = [self.put(ins, t) for t in targets]
        a, b, c = [self.value(ins, ins.operands[i], 32) for i in (1, 2, 3)]
        m = self.m
        def run(mask):  # PTX ISA 9.7.9.6, the pseudo-code of shfl
            values, by, clamp = self.by_warp(a()), self.by_warp(b()) & U(31), self.by_warp(c())
            lane = np.arange(32, dtype=np.int64)
            segment = (clamp >> U(8) & U(31)).astype(np.int64)
            limit = (clamp & U(31)).astype(np.int64)
            step = by.astype(np.int64)
            top = (lane & segment) | (limit & ~segment)
            low = lane & segment
            if mode == "up":
                j = lane - step
                good = j >= top
            elif mode == "down":
                j = lane + step
                good = j <= top
            elif mode == "bfly":
                j = lane ^ step
                good = j <= top
            else:
                j = low | (step & ~segment)
                good = j <= top
            j = np.where(good, j, lane) & 31
            result = np.take_along_axis(values, j, axis=1)
            # A lane that does not execute the shuffle gives any value: here one that no lane holds.
            on = self.lanes_on(mask) & self.by_warp(m.alive)
            gives = np.take_along_axis(on, j, axis=1) | (j == lane)
            result = np.where(gives, result, U(0x5A5A5A50) + (lane * 20).astype(U))
            exists = self.by_warp(np.ones(m.n, dtype=bool))
            m.reads_absent |= bool((on & ~gives & np.take_along_axis(exists, j, axis=1)).any())
            puts[0](result.reshape(-1)[:m.n], mask)
            if len(puts) > 1:
                puts[1](good.reshape(-1)[:m.n], mask)
        return run

    def lanes_on(self, mask):
        return self.by_warp(self.m.alive if mask is None else mask)

    def op_vote(self, ins):
        m = self.m
        put, p = self.put(ins, ins.operands[0]), self.predicate(ins, ins.operands[1])
        mode = next(x for x in ins.parts if x in ("all", "any", "uni", "ballot"))
        def run(mask):
            on, votes = self.lanes_on(mask), self.by_warp(p())
            if mode == "ballot":
                r = ((on & votes).astype(U) << np.arange(32, dtype=U)).sum(axis=1).astype(U)
            elif mode == "all":
                r = (~on | votes).all(axis=1)
            elif mode == "any":
                r = (on & votes).any(axis=1)
            else:
                r = (~on | votes).all(axis=1) | (~on | ~votes).all(axis=1)
            put(np.repeat(r, 32)[:m.n], mask)
        return run

    def op_redux(self, ins):
        letter, width, kind = self.kind(ins)
        if letter == "f":
            return None
        put, a = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], 32)
        m, how, is_signed = self.m, ins.parts[2], letter == "s"
        first = {"add": U(0), "or": U(0), "xor": U(0), "and": U(0xFFFFFFFF)}.get(how)
        def run(mask):
            on, values = self.lanes_on(mask), self.by_warp(a())
            if how in ("min", "max"):
                order = signed(values, 32) if is_signed else values.astype(np.int64)
                worst = np.int64(1 << 40) if how == "min" else np.int64(-(1 << 40))
                r = getattr(np, how)(np.where(on, order, worst), axis=1).astype(np.int64).view(U)
            else:
                r = {"add": np.add, "or": np.bitwise_or, "xor": np.bitwise_xor, "and": np.bitwise_and}[how].reduce(np.where(on, values, first), axis=1)
            put(np.repeat(r & U(0xFFFFFFFF), 32)[:m.n], mask)
        return run

    def op_match(self, ins):
        if "any" not in ins.parts:
            return None
        put, a = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], self.kind(ins)[1])
        m = self.m
        def run(mask):
            on, values = self.lanes_on(mask), self.by_warp(a())
            same = (values[:, :, None] == values[:, None, :]) & on[:, None, :]
            put((same.astype(U) << np.arange(32, dtype=U)).sum(axis=2).astype(U).reshape(-1)[:m.n], mask)
        return run

    def op_activemask(self, ins):
        m, put = self.m, self.put(ins, ins.operands[0])
        def run(mask):
            r = (self.lanes_on(mask).astype(U) << np.arange(32, dtype=U)).sum(axis=1).astype(U)
            put(np.repeat(r, 32)[:m.n], mask)
        return run

    def op_elect(self, ins):
        m = self.m
        names = [t.strip() for t in ins.operands[0].split("|")]
        puts = [self.put(ins, t) for t in names]
        def run(mask):
            on = self.lanes_on(mask)
            leader = on.argmax(axis=1)
            puts[0](np.repeat(leader.astype(U), 32)[:m.n], mask)
            puts[1]((np.arange(32) == leader[:, None]).reshape(-1)[:m.n], mask)
        return run

    # -- calls

    def op_call(self, ins):
        """PTX ISA 7.1 and 9.7.12.5: parameters are passed by value, in registers or in the .param space; each call has its own of both."""
        m, mine = self.m, self.f.name
        operands, results, arguments = list(ins.operands), [], []
        if operands[0].startswith("("):
            results = split(operands.pop(0)[1:-1])
        name = operands.pop(0)
        if operands and operands[0].startswith("("):
            arguments = split(operands[0][1:-1])
        function = m.module.functions.get(name)
        is_register = {r: self.register(ins, r) is not None for r in results + arguments}
        if function is None:
            def outside(mask):
                for r in results:
                    if is_register[r]:
                        self.put(ins, r)(m.rng.integers(0, 1 << 62, m.n, dtype=np.int64).view(U), mask)
                    else:
                        m.param_bytes[(mine, r)] = m.rng.integers(0, 256, (m.n, 4096), dtype=np.uint8)
            return outside
        m.program(function)
        if len(results) != len(function.results) or len(arguments) != len(function.params):
            raise Unreadable(f"line {ins.line}: the call of {name} does not match its parameters")

        def table(size):
            return np.zeros((m.n, max(16, size + 8)), dtype=np.uint8)

        def passed(formal, given):
            """The number in a register, or the bytes, that a formal parameter gets."""
            words = formal.size <= 8
            bytes_ = m.param_bytes.get((mine, given))
            if formal.space == "reg":
                return m.gather(bytes_, U(0), formal.size) if bytes_ is not None else self.value(ins, given, formal.size * 8)()
            fresh = table(formal.size)
            if bytes_ is not None:
                fresh[:, :formal.size] = bytes_[:, :formal.size]
            elif words and not re.match(r"[A-Za-z_$]", given):
                m.scatter(fresh, U(0), formal.size, self.value(ins, given, formal.size * 8)(), None)
            return fresh

        def run(mask):
            callee = m.programs[name]
            values = [passed(formal, given) for formal, given in zip(function.params, arguments)]
            m.calls.append(ins.line)
            if len(m.calls) > 20:
                raise Stop()
            registers = list(m.R[callee.first:callee.first + len(function.widths)])
            frame = {key: m.param_bytes.pop(key) for key in list(m.param_bytes) if key[0] == name}
            for formal, value in zip(function.params, values):
                if formal.space != "reg":
                    m.param_bytes[(name, formal.name)] = value
            for formal in function.results:
                if formal.space != "reg":
                    m.param_bytes[(name, formal.name)] = table(formal.size)
            callee.pending = [(formal, value) for formal, value in zip(function.params, values) if formal.space == "reg"]
            callee.execute(mask)
            given = [m.R[callee.first + formal.register] if formal.space == "reg" else m.param_bytes[(name, formal.name)]
                     for formal in function.results]
            for key in [key for key in m.param_bytes if key[0] == name]:
                del m.param_bytes[key]
            m.param_bytes.update(frame)
            m.R[callee.first:callee.first + len(function.widths)] = registers
            m.calls.pop()
            for formal, value, taken in zip(function.results, given, results):
                if is_register[taken]:
                    self.put(ins, taken)(value if formal.space == "reg" else m.gather(value, U(0), formal.size), mask)
                    continue
                to = m.param_bytes.setdefault((mine, taken), table(4088))
                lanes = slice(None) if mask is None else mask
                if formal.space == "reg":
                    m.scatter(to, U(0), formal.size, value, mask)
                else:
                    to[lanes, :formal.size] = value[lanes, :formal.size]
        return run


FLOAT_NAMES = ("f16", "f32", "f64")
ROUNDED = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def number(text, width):
    """An immediate: decimal, hexadecimal, octal, binary, 0f and 0d floats."""
    text = text.replace(" ", "")
    minus = text.startswith("-")
    body = text.lstrip("-")
    if re.match(r"0[fF][0-9a-fA-F]{8}$", body):
        value = int(body[2:], 16)
        if width == 64:  # an f32 immediate of an f64 instruction does not occur
            return value
        return value ^ (1 << 31) if minus else value
    if re.match(r"0[dD][0-9a-fA-F]{16}$", body):
        return int(body[2:], 16)
    if re.match(r"\d+\.\d*", body):
        return struct.unpack("<I", struct.pack("<f", float(text)))[0]
    body = body.rstrip("uU")
    value = int(body, 8) if re.match(r"0[0-7]+$", body) else int(body, 0)
    return (-value if minus else value) & 0xFFFFFFFFFFFFFFFF


def load(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return Module(file.read())
