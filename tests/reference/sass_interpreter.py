"""An interpreter of SASS, written from what its instructions mean and from no code of swizproof: all threads of one block at once.

Threads that stand at the lowest address take the next step, so that lanes of a warp come together where code does. Constants, parameters and
what is loaded are random numbers by a seed. What is not known here (floating point, tensor cores) is a number by its operands or a random one.
"""
import re
import numpy as np

from ptx_interpreter import wavefronts
from sass_calls import failing_of
from sass_floats import Floats
from sass_warps import Warps
from sass_words import ONES, U, mix, signed, text_hash

LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?)(U?P[0-6T]+)\s+)?([A-Z0-9_a-z.]+)\s*(.*)$")


class Unreadable(Exception):
    pass


class Op:
    """An operand: kind R, UR, P, UP, imm, const, mem, label, sr or other."""

    def __init__(self, text):
        self.text = text = text.strip()
        self.neg = self.inv = self.abs = self.no = False
        self.odd = False
        t = text
        while t and t[0] in "!~-" and not re.match(r"-\d", t):
            self.no |= t[0] == "!"
            self.inv |= t[0] == "~"
            self.neg |= t[0] == "-"
            t = t[1:]
        if t.startswith("|"):
            self.abs = True
            t = t[1:].replace("|", "", 1)
        t = t.replace(".reuse", "")
        self.kind, self.value, self.regs, self.base = "other", 0, [], ""
        m = re.fullmatch(r"(U?R|U?P)(\d+|Z|T)((?:\.\w+)*)", t)
        if m and not (m[1][-1] == "R" and m[2] == "T") and not (m[1][-1] == "P" and m[2] == "Z"):
            self.kind = m[1]
            self.value = None if m[2] in "ZT" else int(m[2])
            self.odd = m[3] not in ("", ".64")
        elif re.fullmatch(r"[-+]?0x[0-9a-f]+", t):
            self.kind, self.value = "imm", int(t, 16) & (1 << 64) - 1
        elif t.startswith("`("):
            self.kind, self.base = "label", t[2:-1]
        elif t.startswith("c[") or t.startswith("cx["):
            self.kind = "const"
            bank, inner = re.fullmatch(r"cx?\[(.*?)\]\[(.*)\]", t).groups()
            self.bank = int(bank, 16) if bank.startswith("0x") else -1
            self.sum(inner)
        elif "[" in t:
            self.kind = "mem"
            self.sum(t[t.rindex("[") + 1:t.rindex("]")])
        elif t.startswith("SR"):
            self.kind = "sr"

    def sum(self, inner):
        for part in inner.split("+"):
            part = part.strip()
            if re.fullmatch(r"-?0x[0-9a-f]+", part):
                self.value += int(part, 16)
                continue
            m = re.fullmatch(r"(U?R)(\d+|Z)(?:\.(64|X4|X8|X16))?", part)
            if not m:
                self.odd = True
            elif m[2] != "Z":
                self.regs.append((m[1], int(m[2]), m[3] or ""))


def split(text):
    out, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            out += [text[start:i].strip()]
            start = i + 1
    return [o for o in out if o]


class Instr:
    def __init__(self, pc, line, no, guard, opcode, ops, targets):
        self.pc, self.line, self.no, self.guard, self.opcode, self.targets = pc, line, no, guard, opcode, targets
        self.parts = opcode.split(".")
        base = self.parts[0]
        uniform = base[1:] if base[0] == "U" else ""
        self.base = uniform if uniform in NAMES else base
        self.mods = set(self.parts[1:])
        self.ops = [Op(o) for o in ops]


NAMES = {"IADD3", "IMAD", "LEA", "SHF", "LOP3", "SEL", "ISETP", "MOV", "PLOP3", "PRMT", "FLO", "POPC", "BMSK", "SGXT", "BREV", "IABS",
         "LDC", "VIADD", "VIMNMX", "IMNMX"}


class Kernel:
    def __init__(self, name, failing):
        self.name, self.code, self.labels, self.entry = name, [], {}, False
        self.at, self.failing = {}, failing


def kernels(path):
    arch, all_, k, failing = 0, [], None, failing_of(path)
    for number, line in enumerate(open(path, errors="replace"), 1):
        s = line.strip()
        if s.startswith(".target"):
            arch = int(re.search(r"sm_(\d+)", s)[1])
        elif re.match(r"\.section\s+\.text\.", s):
            k = Kernel(name := s.split(",")[0].split(".text.")[1], failing.get(name, set()))
            all_.append(k)
        elif re.match(r"\.section\s", s):
            k = None
        elif k is not None and s.startswith(".other") and "STO_CUDA_ENTRY" in s and k.name in s:
            k.entry = True
        elif k is not None and s.endswith(":") and " " not in s:
            k.labels[s[:-1]] = len(k.code)
        elif k is not None and (m := LINE.match(line)):
            targets = re.search(r'BRANCH_TARGETS ([^"]*)"', m[5])
            body = m[5].split("(*")[0].split("/*")[0].strip().rstrip(";").strip()
            ops = split(body)
            if m[4].startswith("BRX"):
                ops = [ops[0].split()[0]]
            k.at[int(m[1], 16)] = len(k.code)
            k.code.append(Instr(int(m[1], 16), number, m[2], m[3], m[4], ops, targets[1].split(",") if targets else []))
    return arch, [k for k in all_ if k.entry]


class Machine(Floats, Warps):
    """One run of one block."""

    def __init__(self, kernel, arch, block, seed, steps):
        self.k, self.arch, self.block, self.steps = kernel, arch, block, steps
        self.rng = np.random.default_rng(seed)
        self.seed = U(int(self.rng.integers(1 << 62)))
        n = block[0] * block[1] * block[2]
        self.real = n
        self.n = (n + 31) // 32 * 32
        t = np.arange(self.n, dtype=np.int64)
        self.there = t < n
        self.tid = [t % block[0], t // block[0] % block[1], t // block[0] // block[1]]
        self.regs = {}
        self.grid = [int(self.rng.integers(1, 300)) for _ in range(3)]
        self.ctaid = [int(self.rng.integers(g)) for g in self.grid]
        self.window = int(self.rng.integers(0, 8)) if arch >= 90 else 0
        self.style = int(self.rng.integers(0, 5))
        self.param = {}
        self.seen = {}  # of each access: kind, size, matrices, and rows of lanes and addresses
        self.odd = set()
        self.local, self.count = {}, 0

    # ------------------------------------------------------------------ values

    def r(self, kind, number):
        got = self.regs.get((kind, number))
        if got is None:
            got = mix(self.seed, text_hash(f"{kind}{number}"), np.arange(self.n)) & ONES
            if kind[-1] == "P":
                got = got & U(1)
            self.regs[kind, number] = got
        return got

    def full(self, value):
        return np.full(self.n, value & 0xFFFFFFFFFFFFFFFF, dtype=U)

    def parameter_word(self, offset):
        if offset not in self.param:
            s = self.style if self.rng.random() < 0.7 else int(self.rng.integers(0, 5))
            r = self.rng
            self.param[offset] = [lambda: int(r.integers(0, 1 << 32)), lambda: int(r.integers(0, 4096)), lambda: 1 << int(r.integers(0, 16)),
                                  lambda: int(r.integers(1, 9)), lambda: int(r.choice([0, 1, 64, 256, 1000, 1024]))][s]()
        return self.param[offset]

    def constant_byte_word(self, bank, address, size):
        """Bytes of the constant bank, little-endian."""
        if bank == 0 and np.all(address == address[0]):
            at = int(address[0])
            block, grid = (0x360, 0x370) if self.arch >= 100 else (0, 12)
            for first, numbers in ((block, list(self.block)), (grid, self.grid)):
                if size == 4 and first <= at < first + 12 and at % 4 == 0:
                    return self.full(numbers[(at - first) // 4])
            word = self.parameter_word(at // 4 * 4)
            return self.full(word >> 8 * (at % 4) & (1 << 8 * size) - 1)
        return mix(self.seed, U(bank & 0xFF), address) & U((1 << 8 * size) - 1)

    def special(self, name):
        lane = np.arange(self.n) % 32
        known = {"SR_TID.X": self.tid[0], "SR_TID.Y": self.tid[1], "SR_TID.Z": self.tid[2], "SR_LANEID": lane,
                 "SR_EQMASK": 1 << lane, "SR_LTMASK": (1 << lane) - 1, "SR_LEMASK": (2 << lane) - 1,
                 "SR_GTMASK": 0xFFFFFFFF & ~((2 << lane) - 1), "SR_GEMASK": 0xFFFFFFFF & ~((1 << lane) - 1)}
        if name in known:
            return known[name].astype(U)
        for i, axis in enumerate("XYZ"):
            if name == "SR_CTAID." + axis:
                return self.full(self.ctaid[i])
            if name == "SR_NCTAID." + axis:
                return self.full(self.grid[i])
            if name == "SR_NTID." + axis:
                return self.full(self.block[i])
        if name == "SRZ":
            return self.full(0)
        if name == "SR_CgaCtaId":
            return self.full(self.window)
        if name in ("SR_SWINHI", "SR_CgaSize"):
            return self.full(int(mix(self.seed, text_hash(name))) & 0xFFFFFFFF)
        return mix(self.seed, text_hash(name), np.arange(self.n), U(self.count)) & ONES

    def word(self, o, plus=0):
        if o.kind in ("R", "UR"):
            v = self.full(0) if o.value is None or o.value + plus > 254 else self.r(o.kind, o.value + plus)
        elif o.kind == "imm":
            v = self.full(o.value & 0xFFFFFFFF if plus == 0 else 0)
        elif o.kind == "const":
            v = self.constant_byte_word(o.bank, self.index(o) + U(4 * plus), 4)
        elif o.kind == "sr":
            v = self.special(o.text)
        else:
            v = mix(self.seed, text_hash(o.text), np.arange(self.n), U(self.count)) & ONES
        if o.odd:
            v = mix(v, text_hash(o.text)) & ONES
        return v

    def value(self, o):
        v = self.word(o)
        if o.abs:
            v = np.where(signed(v) < 0, (U(0) - v) & ONES, v)
        if o.inv:
            v = v ^ ONES
        if o.neg:
            v = (U(0) - v) & ONES
        return v & ONES

    def pair(self, o, is_signed):
        if o.kind == "imm":
            return signed(self.full(o.value & 0xFFFFFFFF)).astype(U) if is_signed else self.full(o.value & 0xFFFFFFFF)
        v = self.word(o) | self.word(o, 1) << U(32)
        if o.inv:
            v = ~v
        return U(0) - v if o.neg else v

    def truth(self, o):
        if o.kind not in ("P", "UP"):
            return mix(self.seed, np.arange(self.n), U(self.count)) & U(1) != 0
        v = np.ones(self.n, dtype=bool) if o.value is None else self.r(o.kind, o.value) != 0
        return ~v if o.no else v

    def index(self, o):
        total = self.full(o.value if o.value >= 0 else o.value + (1 << 64))
        for kind, number, how in o.regs:
            v = self.r(kind, number)
            if how.startswith("X"):
                v = v * U(int(how[1:])) & ONES
            total = total + v
        return total

    def put(self, o, v, on, plus=0):
        if o.kind not in ("R", "UR", "P", "UP") or o.value is None or o.value + plus > 254:
            return
        old = self.r(o.kind, o.value + plus)
        self.regs[o.kind, o.value + plus] = np.where(on, v.astype(U) & (U(1) if o.kind[-1] == "P" else ONES), old)

    def put_pair(self, o, v, on):
        self.put(o, v & ONES, on)
        self.put(o, v >> U(32), on, 1)

    # ------------------------------------------------------------------ running

    def run(self):
        pc = np.where(self.there, 0, 1 << 30)
        code = self.k.code
        while self.count < self.steps:
            here = int(pc.min())
            if here >= len(code):
                return True
            self.count += 1
            on = self.here = pc == here
            i = code[here]
            pc = np.where(on, here + 1, pc)
            if i.guard:
                g = Op(i.no + i.guard)
                on = on & self.truth(g)
            if not on.any():
                continue
            jumped = self.control(i, on, pc)
            if jumped is not None:
                pc = jumped
                continue
            method = getattr(self, "do_" + i.base, None)
            if i.base in NOTHING:
                continue
            if method is None:
                self.unknown(i, on)
            else:
                method(i, on)
        return False

    def target(self, o):
        if o.kind == "label":
            if o.base not in self.k.labels:
                raise Unreadable("label " + o.base)
            return self.k.labels[o.base]
        return self.k.at[o.value]

    def control(self, i, on, pc):
        b = i.base
        if b in ("EXIT", "KILL") or i.opcode == "BPT.TRAP" or i.pc in self.k.failing:
            return np.where(np.logical_and.reduce([on, *(self.truth(o) for o in i.ops if b == "EXIT")]), 1 << 30, pc)  # EXIT P2: both
        if b == "BRA":
            if "DIV" in i.mods:
                return pc
            for o in i.ops[:-1]:
                on = on & self.truth(o)
            if {"U", "ANY"} <= i.mods:  # a warp goes if any of its lanes would
                on = self.here & np.repeat([on[w:w + 32].any() for w in range(0, self.n, 32)], 32)[:self.n]
            elif i.mods & {"ANY", "ALL", "CONV"}:
                on = on & (mix(self.seed, U(self.count), np.arange(self.n) // 32) & U(1) != 0)
            return np.where(on, self.target(i.ops[-1]), pc)
        if b in ("BRX", "BRXU"):
            if not i.targets:
                raise Unreadable("BRX without targets")
            to = np.array([self.k.labels[t] for t in i.targets])
            which = mix(self.word(i.ops[0]), self.word(i.ops[0], 1) * U(0)) % U(len(to))
            return np.where(on, to[which.astype(np.int64)], pc)
        if b == "CALL":
            if "REL" in i.mods:
                return np.where(on, self.target(i.ops[-1]), pc)
            for n in range(255):
                if n != 1 and not 16 <= n <= 19 and not 22 <= n <= 31:
                    self.put(Op(f"R{n}"), mix(self.seed, U(n), U(self.count), np.arange(self.n)), on)
            for n in range(36):
                self.put(Op(f"UR{n}"), mix(self.seed, U(n + 300), U(self.count), np.arange(self.n)), on)
            for n in range(7):
                self.put(Op(f"P{n}"), mix(self.seed, U(n + 600), U(self.count), np.arange(self.n)) >> U(7), on)
                self.put(Op(f"UP{n}"), mix(self.seed, U(n + 700), U(self.count), np.arange(self.n)) >> U(7), on)
            return pc
        if b == "RET":
            back = self.word(i.ops[0])
            out = pc.copy()
            for at in np.unique(back[on]):
                if int(at) not in self.k.at:
                    raise Unreadable("RET to nowhere")
                out[on & (back == at)] = self.k.at[int(at)]
            return out
        if b in ("JMP", "JMX", "RTT"):
            raise Unreadable(i.opcode)
        return None

    # ------------------------------------------------------------------ integers

    def unknown(self, i, on):
        """Destinations by the operands, or random: R first, and predicates in front."""
        lane = np.arange(self.n)
        first = next((k for k, o in enumerate(i.ops[:3]) if o.kind not in ("P", "UP")), 0)
        sources = [self.word(o) for o in i.ops[first + 1:] if o.kind in ("R", "UR", "const")]
        width = WIDE.get(i.base, 1)
        if width == 1 and i.mods & {"F64", "S64", "U64", "64"}:
            width = 2
        pure = i.base in PURE and width == 1 and not any(o.kind in ("P", "UP") for o in i.ops[first:])
        for k, o in enumerate(i.ops[:3]):
            if o.kind in ("P", "UP") and not o.no and k != first:
                self.put(o, mix(self.seed, U(self.count), lane, U(k)) >> U(9), on)
        d = i.ops[first] if i.ops else Op("")
        if d.kind in ("R", "UR"):
            for k in range(width):
                key = (text_hash(i.opcode + ",".join(o.text for o in i.ops[first + 1:] if o.kind not in ("R", "UR"))), *sources)
                v = mix(self.seed, *key) if pure else mix(self.seed, U(self.count), lane, U(k))
                self.put(d, np.broadcast_to(v, (self.n,)), on, k)

    def do_MOV(self, i, on):
        self.put(i.ops[0], self.value(i.ops[-1]) if len(i.ops) == 2 else self.value(i.ops[1]), on)

    def do_R2UR(self, i, on):
        if len(i.ops) == 3 and i.ops[0].kind == "P" and not i.mods - {"OR"}:
            return self.first_value(i, on)
        if len(i.ops) != 2 or i.mods:
            return self.unknown(i, on)
        v = self.value(i.ops[1])
        for w in range(0, self.n, 32):
            lanes = on[w:w + 32]
            if lanes.any() and len(set(v[w:w + 32][lanes].tolist())) > 1:
                self.odd.add("R2UR of different values")
        self.put(i.ops[0], v, on)

    def do_S2R(self, i, on):
        self.put(i.ops[0], self.value(i.ops[1]), on)

    do_S2UR = do_S2R

    def do_CS2R(self, i, on):
        v = self.value(i.ops[1])
        if "32" in i.mods:
            return self.put(i.ops[0], v, on)
        if i.ops[1].text != "SRZ":
            v = mix(v, np.arange(self.n))
        self.put_pair(i.ops[0], v, on)

    def do_LDC(self, i, on):
        c = i.ops[1]
        at = self.index(c)
        small = next((s for s in ("U8", "S8", "U16", "S16") if s in i.mods), None)
        if small:
            bits = int(small[1:])
            v = self.constant_byte_word(c.bank, at, bits // 8)
            if small[0] == "S":
                v = np.where(v >> U(bits - 1) != 0, v | U(0xFFFFFFFF & ~((1 << bits) - 1)), v)
            return self.put(i.ops[0], v, on)
        words = [self.constant_byte_word(c.bank, at + U(4 * k), 4) for k in range(4 if "128" in i.mods else 2 if "64" in i.mods else 1)]
        for k, v in enumerate(words):
            self.put(i.ops[0], v, on, k)

    do_LDCU = do_LDC

    def do_IADD3(self, i, on):
        ops = i.ops[1:]
        outs = []
        while ops[0].kind in ("P", "UP"):
            outs.append(ops.pop(0))
        total = self.full(0)
        for o in ops[:3]:
            v = self.value(o)
            if o.neg and "X" not in i.mods:  # two's complement: ~x + 1, whose carry counts
                plain = Op(o.text.replace("-", "", 1)) if o.kind != "imm" else o
                v = (self.value(plain) ^ ONES) + U(1)
            total = total + v
        for o in ops[3:]:
            if "X" in i.mods:
                total = total + self.truth(o).astype(U)
        carry = total >> U(32)
        for k, o in enumerate(outs):
            self.put(o, (carry > U(k)).astype(U) if len([x for x in outs if x.value is not None]) < 2
                     else mix(self.seed, U(self.count), np.arange(self.n), U(k)), on)
        self.put(i.ops[0], total & ONES, on)

    def do_VIADD(self, i, on):
        self.put(i.ops[0], self.value(i.ops[-2]) + self.value(i.ops[-1]), on)

    do_IADD = do_VIADD

    def do_IMAD(self, i, on):
        ops = i.ops[1:]
        out = ops.pop(0) if ops[0].kind in ("P", "UP") else None
        is_signed = "U32" not in i.mods
        a, b = self.value(ops[0]), self.value(ops[1])
        if i.mods & {"WIDE", "HI"}:
            x = signed(a).astype(U) if is_signed else a
            y = signed(b).astype(U) if is_signed else b
            product, c = x * y, self.pair(ops[2], is_signed)
            total = product + c
            carry = total < product
            if "X" in i.mods:
                more = self.truth(ops[3]).astype(U)
                carry = carry | (total + more < total)
                total = total + more
            if out is not None:
                self.put(out, carry.astype(U), on)
            return self.put_pair(i.ops[0], total, on) if "WIDE" in i.mods else self.put(i.ops[0], total >> U(32), on)
        if i.mods - {"MOV", "SHL", "IADD", "U32", "X"}:
            return self.unknown(i, on)
        total = a * b + self.value(ops[2])
        if "X" in i.mods:
            total = total + self.truth(ops[3]).astype(U)
        if out is not None:
            self.put(out, mix(self.seed, U(self.count), np.arange(self.n)), on)
        self.put(i.ops[0], total & ONES, on)

    def do_LEA(self, i, on):
        ops = i.ops[1:]
        out = ops.pop(0) if ops[0].kind in ("P", "UP") else None
        a, b = self.value(ops[0]), self.value(ops[1])
        if "HI" in i.mods:
            if "SX32" in i.mods:
                whole, rest = signed(a).astype(U), ops[2:]
            else:
                whole, rest = a | self.value(ops[2]) << U(32), ops[3:]
            moved = (whole << U(rest[0].value)) >> U(32)
        else:
            rest, moved = ops[2:], a << U(ops[2].value) & ONES
        total = (moved & ONES) + b
        if "X" in i.mods:
            total = total + self.truth(rest[1]).astype(U)
        if out is not None:
            self.put(out, total >> U(32) != 0, on)
        self.put(i.ops[0], total & ONES, on)

    def do_SHF(self, i, on):
        low, n, up = self.value(i.ops[1]), self.value(i.ops[2]), self.value(i.ops[3])
        two = bool(i.mods & {"U64", "S64"})
        width = 64 if two else 32
        n = n & U(width - 1) if "W" in i.mods else np.minimum(n, U(width))
        whole = low | up << U(32)
        big = n >= U(64)
        m = np.where(big, U(0), n)
        if "L" in i.mods:
            v = np.where(big, U(0), whole << m)
        elif i.mods & {"S32", "S64"}:
            v = (whole.astype(np.int64) >> np.minimum(n, U(63)).astype(np.int64)).astype(U)
        else:
            v = np.where(big, U(0), whole >> m)
        self.put(i.ops[0], (v >> U(32) if "HI" in i.mods else v) & ONES, on)

    def do_LOP3(self, i, on):
        out = i.ops[0] if i.ops[0].kind in ("P", "UP") else None
        ops = i.ops[1:] if out is not None else i.ops
        a, b, c = (self.value(o) for o in ops[1:4])
        v = self.full(0)
        for row in range(8):
            if ops[4].value >> row & 1:
                v = v | (a if row & 4 else a ^ ONES) & (b if row & 2 else b ^ ONES) & (c if row & 1 else c ^ ONES)
        if out is not None:
            given = self.truth(ops[5])
            self.put(out, (v != 0) & given if "PAND" in i.mods else (v != 0) | given, on)
        self.put(ops[0], v, on)

    def do_PLOP3(self, i, on):
        a, b, c = (self.truth(o).astype(np.int64) for o in i.ops[2:5])
        row = 4 * a + 2 * b + c
        first, second = i.ops[5].value >> row & 1, i.ops[6].value >> row & 1
        self.put(i.ops[0], first, on)
        self.put(i.ops[1], second, on)

    def do_ISETP(self, i, on):
        a, b = self.value(i.ops[2]), self.value(i.ops[3])
        x, y = (a.astype(np.int64), b.astype(np.int64)) if "U32" in i.mods else (signed(a), signed(b))
        how = i.parts[1]
        extended = "EX" in i.mods
        low = self.truth(i.ops[5]) if extended else np.zeros(self.n, dtype=bool)
        same = x == y
        p = {"EQ": same & (low if extended else True), "NE": ~same | low,
             "LT": (x < y) | (same & low), "GT": (x > y) | (same & low),
             "LE": (x < y) | (same & low) if extended else x <= y, "GE": (x > y) | (same & low) if extended else x >= y,
             "T": x == x, "F": x != x}[how]
        q = self.truth(i.ops[4])

        def joined(t):
            return t & q if "AND" in i.mods else t | q if "OR" in i.mods else t ^ q
        first, second = joined(p), joined(~p)
        self.put(i.ops[0], first, on)
        self.put(i.ops[1], second, on)

    def do_SEL(self, i, on):
        if i.mods:
            return self.unknown(i, on)
        self.put(i.ops[0], np.where(self.truth(i.ops[3]), self.value(i.ops[1]), self.value(i.ops[2])), on)

    def do_IMNMX(self, i, on):
        if i.mods - {"U32"}:
            return self.unknown(i, on)
        read = (lambda o: self.value(o).astype(np.int64)) if "U32" in i.mods else (lambda o: signed(self.value(o)))
        least = self.truth(i.ops[-1])
        values = [read(o) for o in i.ops[1:-1]]
        if i.base == "VIADDMNMX":
            total = (self.value(i.ops[1]) + self.value(i.ops[2])) & ONES
            values = [total.astype(np.int64) if "U32" in i.mods else signed(total), values[2]]
        v = values[0]
        for w in values[1:]:
            v = np.where(least, np.minimum(v, w), np.maximum(v, w))
        self.put(i.ops[0], v.astype(U) & ONES, on)

    do_VIMNMX = do_VIMNMX3 = do_VIADDMNMX = do_IMNMX

    def do_IABS(self, i, on):
        self.put(i.ops[0], np.abs(signed(self.value(i.ops[1]))).astype(U) & ONES, on)

    def do_PRMT(self, i, on):
        if i.mods or i.ops[2].kind != "imm":
            return self.unknown(i, on)
        whole = self.value(i.ops[1]) | self.value(i.ops[3]) << U(32)
        v = self.full(0)
        for k in range(4):
            pick = i.ops[2].value >> 4 * k & 15
            byte = whole >> U(8 * (pick & 7)) & U(255)
            if pick & 8:
                byte = np.where(byte >= 128, U(255), U(0))
            v = v | byte << U(8 * k)
        self.put(i.ops[0], v, on)

    def do_SGXT(self, i, on):
        n = i.ops[2].value
        if i.ops[2].kind != "imm" or not 1 <= n <= 32:
            return self.unknown(i, on)
        v = self.value(i.ops[1]) & U((1 << n) - 1)
        if "U32" not in i.mods:
            v = np.where(v >> U(n - 1) != 0, v | U(0xFFFFFFFF & ~((1 << n) - 1)), v)
        self.put(i.ops[0], v, on)

    def do_BMSK(self, i, on):
        limit = (lambda x: x & U(31)) if "W" in i.mods else (lambda x: np.minimum(x, U(32)))
        at, length = limit(self.value(i.ops[1])), limit(self.value(i.ops[2]))
        self.put(i.ops[0], ((U(1) << length) - U(1)) << at & ONES, on)

    def do_POPC(self, i, on):
        v = self.value(i.ops[1])
        self.put(i.ops[0], sum((v >> U(k) & U(1)) for k in range(32)), on)

    def do_BREV(self, i, on):
        v = self.value(i.ops[1])
        self.put(i.ops[0], sum((v >> U(k) & U(1)) << U(31 - k) for k in range(32)), on)

    def do_HFMA2(self, i, on):
        if len(i.ops) == 5 and i.ops[1].text == "-RZ" and i.ops[2].text == "RZ" and i.ops[3].kind == i.ops[4].kind == "other":
            def bits(o):
                x = np.float32(float(o.text))
                if "BF16_V2" in i.mods:
                    return int(x.view(np.uint32)) >> 16
                return int(np.float16(x).view(np.uint16))
            return self.put(i.ops[0], self.full(bits(i.ops[3]) << 16 | bits(i.ops[4])), on)
        self.unknown(i, on)

    def do_P2R(self, i, on):
        if i.mods:
            return self.unknown(i, on)
        m = i.ops[3].value
        v = self.value(i.ops[2]) & U(0xFFFFFFFF & ~m)
        for k in range(7):
            if m >> k & 1:
                v = v | (self.r("P", k) & U(1)) << U(k)
        self.put(i.ops[0], v, on)

    def do_R2P(self, i, on):
        m = re.fullmatch(r"(R\d+|RZ)(?:\.B(\d))?", i.ops[1].text)
        if i.mods or not m:
            raise Unreadable(i.opcode)
        v = self.word(Op(m[1])) >> U(8 * int(m[2] or 0))
        for k in range(7):
            if i.ops[2].value >> k & 1:
                self.put(Op(f"P{k}"), v >> U(k) & U(1), on)

    # ------------------------------------------------------------------ memory and the warp

    def access(self, i, where, on, kind, size, matrices=0):
        """Keeps the rows of the warps that execute it, in the block's window."""
        if where.kind != "mem" or where.odd:
            return
        at = self.index(where) & ONES & U((1 << 24) - 1)
        active = on & self.there
        rows = self.seen.setdefault(i.pc, [kind, size, matrices, [], []])
        a, t = at.reshape(-1, 32).astype(np.int64), active.reshape(-1, 32)
        for w in np.flatnonzero(t.any(axis=1)):
            if kind == "matrix" and not t[w].all():
                continue
            if len(rows[3]) < 400:
                rows[3].append(a[w])
                rows[4].append(t[w])

    def size(self, i):
        for s, n in (("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2), ("64", 8), ("128", 16)):
            if s in i.mods:
                return n
        return 4

    def loaded(self, i, d, on, address, size, own=False):
        lane = np.arange(self.n) if own else U(0)
        if size < 4:
            bits = 8 * size
            v = mix(self.seed, U(self.count), address, lane) & U((1 << bits) - 1)
            if i.mods & {"S8", "S16"}:
                v = np.where(v >> U(bits - 1) != 0, v | U(0xFFFFFFFF & ~((1 << bits) - 1)), v)
            return self.put(d, v, on)
        small = self.style in (1, 3)
        for k in range(size // 4):
            v = mix(self.seed, U(self.count), address + U(4 * k), lane)
            self.put(d, v & (U(63) if small else ONES), on, k)

    def do_LDS(self, i, on):
        size = self.size(i)
        self.access(i, i.ops[1], on, "ld", size)
        self.loaded(i, i.ops[0], on, self.index(i.ops[1]), size)

    def do_STS(self, i, on):
        self.access(i, i.ops[0], on, "st", self.size(i))

    def do_LDGSTS(self, i, on):
        self.access(i, i.ops[0], on, "cp", self.size(i))

    def do_LDSM(self, i, on):
        n = 4 if "4" in i.mods else 2 if "2" in i.mods else 1
        where = next(o for o in i.ops if o.kind == "mem")
        if "16" in i.mods:
            self.access(i, where, on, "matrix", 16, n)
        if i.base == "LDSM":
            for k in range(4):
                self.put(i.ops[0], mix(self.seed, U(self.count), np.arange(self.n), U(k)), on, k)

    do_STSM = do_LDSM

    def do_ATOMS(self, i, on):
        at = next(k for k, o in enumerate(i.ops) if o.kind == "mem")
        if not i.mods & {"CAST", "F16x2", "BF16x2", "F32", "F64", "ARRIVE"} and ("64" not in i.mods or i.mods & {"CAS", "EXCH"}):
            self.access(i, i.ops[at], on, "cas" if "CAS" in i.mods else "count" if "POPC" in i.mods else "atom", 8 if "64" in i.mods else 4)
        for o in i.ops[:at]:
            for k in range(2 if "64" in i.mods and o.kind == "R" else 1):
                self.put(o, mix(self.seed, U(self.count), np.arange(self.n), U(k)), on, k)

    def do_LDG(self, i, on):
        at = next(k for k, o in enumerate(i.ops) if o.kind == "mem")
        for o in i.ops[:max(at - 1, 0)]:
            self.put(o, mix(self.seed, U(self.count), np.arange(self.n)), on)
        where = i.ops[at]
        address = self.full(where.value if where.value >= 0 else where.value + (1 << 64))
        for kind, number, how in where.regs:
            address = address + (self.r(kind, number) | self.r(kind, number + 1) << U(32))
        own = i.base in ("LDL", "ATOMG", "ATOM", "LD")
        self.loaded(i, i.ops[max(at - 1, 0)], on, address, self.size(i), own)

    do_LD = do_ATOMG = do_ATOM = do_LDG

    def do_QSPC(self, i, on):
        """The window of shared memory has one upper word."""
        address = self.full(i.ops[2].value & (1 << 64) - 1)
        for kind, number, how in i.ops[2].regs:
            address = address + (self.r(kind, number) | self.r(kind, number + 1) << U(32))
        self.put(i.ops[0], address >> U(32) == self.word(Op("SR_SWINHI")), on)
        self.put(i.ops[1], self.full(0), on)

    def do_STL(self, i, on):
        """Words of each thread's own memory, by address; what is narrower, or at several addresses at once, is forgotten."""
        at = self.index(i.ops[0]) & ONES
        size = self.size(i)
        if size < 4 or len(set(at[on].tolist())) != 1:
            for a in set(at[on].tolist()):
                for k in range(-3, 16):
                    self.local.pop(a + k, None)
            return
        first = int(at[on][0])
        for k in range(size // 4):
            value = self.word(i.ops[1], k)
            old = self.local.get(first + 4 * k)
            self.local[first + 4 * k] = np.where(on, value, old if old is not None else mix(self.seed, U(self.count), np.arange(self.n)) & ONES)

    def do_LDL(self, i, on):
        at = self.index(i.ops[1]) & ONES
        size = self.size(i)
        one = size >= 4 and len(set(at[on].tolist())) == 1
        for k in range(max(size, 4) // 4):
            known = self.local.get(int(at[on][0]) + 4 * k) if one else None
            v = known if known is not None else mix(self.seed, U(self.count), np.arange(self.n), U(k))
            self.put(i.ops[0], v, on, k)


NOTHING = set("""NOP BSSY BSYNC BREAK WARPSYNC YIELD BAR MEMBAR DEPBAR LDGDEPBAR ERRBAR CGAERRBAR CCTL NANOSLEEP STG RED REDG ST FENCE
ENDCOLLECTIVE PREEXIT ACQBULK WARPGROUP UTMACCTL UTMACMDFLUSH UTMAPF UCGABAR_ARV UCGABAR_WAIT BPT UTMALDG UTMASTG UTMAREDG UBLKCP""".split())
WIDE = {"HMMA": 4, "IMMA": 4, "DMMA": 8, "DADD": 2, "DMUL": 2, "DFMA": 2, "LEPC": 2, "HGMMA": 128, "SYNCS": 1}
PURE = {"FADD", "FMUL", "FFMA", "FMNMX", "MUFU", "HADD2", "HMUL2", "F2FP", "I2FP", "F2I", "I2F", "FLO"}
