#!/usr/bin/env python3
"""flow.py --cases N --seed S: a reference model of `swizproof flow`, written from the PTX ISA alone.

Random kernels move and add elements through shared memory: swizzles, paddings, vectors, halves, predicates, partial warps, stages of cp.async, shuffles,
ldmatrix, stmatrix, movmatrix and mma; boxes of the TMA of one to three dimensions in every swizzle, loaded and stored, plain bulk copies in both directions, wgmma
through random descriptors and of A in registers; and structures as parameters, with numbers that have names and numbers that have none. Each runs twice: here, in the interpreter of ptx_interpreter.py with random integers as data; and in the command, which gives
each element of the result as a sum of products of elements. These sums, computed from the same integers, must equal the elements that the run has written,
and the same elements must be written. Kernels without a barrier, or with a missing wait, are among them: the command must report a race if
two threads share bytes. The last line has the numbers; exit code 1 if there are differences. --binary PATH asks a program in place of the Python module; --keep DIR
keeps the files of differences there.
"""
import argparse
import collections
import json
import os
import random
import re
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("flow.py: not run (numpy is not installed)")
    sys.exit(77)

from asking import answered
import ptx_interpreter as ptx
from ptx_interpreter import U

TYPES = {"f16": (2, np.float16), "f32": (4, np.float32), "f64": (8, np.float64), "u8": (1, np.uint8), "i8": (1, np.int8), "u16": (2, np.uint16),
         "i16": (2, np.int16), "u32": (4, np.uint32), "i32": (4, np.int32)}


# ---------------------------------------------------------------- concrete execution


class Machine(ptx.Machine):
    """The interpreter with arrays as global memory."""

    def program(self, function):
        if function.name not in self.programs:
            self.programs[function.name] = None
            self.programs[function.name] = Program(self, function)
        return self.programs[function.name]

    def launch(self, block, arrays, fields=None, numbers=None):
        """Runs block 0. `arrays`: parameter -> bytes, which it changes. `fields`: offset in the structure s -> name; `numbers`: name -> bits."""
        self.arrays, params = {}, {}
        for i, (name, data) in enumerate(arrays.items()):
            params[name] = (i + 1) << 40
            self.arrays[i + 1] = data
        if fields is not None:
            params = {"s": {offset: params.get(name, (numbers or {}).get(name)) for offset, name in sorted(fields.items())}}
        self.written = {i: np.zeros(len(d), dtype=bool) for i, d in self.arrays.items()}
        self.run(block, 1, params=params, choose={"%ctaid.x": 0, "%ctaid.y": 0, "%ctaid.z": 0}, base=1024)
        if not self.finished:
            raise RuntimeError("the run has no end")
        return dict(zip(arrays, (self.written[i + 1] for i in range(len(arrays)))))

    def find(self, address):
        return self.arrays[int(address) >> 40], int(address) & ((1 << 40) - 1)


def element_a(lane, i):
    """mma.m16n8k16 of 16 bits, A: PTX ISA 9.7.14.5.8."""
    row = lane // 4 + (8 if i in (2, 3, 6, 7) else 0)
    return row, lane % 4 * 2 + i % 2 + (8 if i >= 4 else 0)


def element_b(lane, i):
    return lane % 4 * 2 + i % 2 + (8 if i >= 2 else 0), lane // 4


def element_c(lane, i):
    return lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + i % 2


class Program(ptx.Program):
    def active(self, mask):
        on = self.m.alive if mask is None else mask & self.m.alive
        return np.nonzero(on)[0]

    def bytes_at(self, space, address, size):
        m = self.m
        if space == "shared":
            return m.shared[int(address):int(address) + size]
        data, at = m.find(address)
        return data[at:at + size]

    def op_ld(self, ins):
        space = self.space_of(ins)
        if space not in ("shared", "global"):
            return super().op_ld(ins)
        letter, width, _ = self.kind(ins)
        m, size = self.m, width // 8
        to = self.elements(ins.operands[0])
        puts = [self.put(ins, t) for t in to]
        wides = [self.f.widths[self.register(ins, t) - self.first] for t in to]
        address = self.address(ins, ins.operands[1])[0]

        def run(mask):
            a = np.broadcast_to(address(), (m.n,))
            for k, put in enumerate(puts):
                values = np.zeros(m.n, dtype=U)
                for t in self.active(mask):
                    values[t] = int.from_bytes(self.bytes_at(space, int(a[t]) + k * size, size).tobytes(), "little")
                put(ptx.bits(ptx.signed(values, width), wides[k]) if letter == "s" and wides[k] > width else values, mask)
        return run

    def store(self, space, address, data):
        m = self.m
        if space == "shared":
            m.shared[address:address + len(data)] = data
            return
        array, at = m.find(address)
        array[at:at + len(data)] = data
        m.written[address >> 40][at:at + len(data)] = True

    def op_st(self, ins):
        space = self.space_of(ins)
        if space not in ("shared", "global"):
            return super().op_st(ins)
        _, width, _ = self.kind(ins)
        m, size = self.m, width // 8
        source = [self.value(ins, t, width) for t in self.elements(ins.operands[1])]
        address = self.address(ins, ins.operands[0])[0]

        def run(mask):
            a = np.broadcast_to(address(), (m.n,))
            for k, s in enumerate(source):
                v = np.broadcast_to(s(), (m.n,))
                for t in self.active(mask):
                    self.store(space, int(a[t]) + k * size, np.frombuffer(int(v[t]).to_bytes(8, "little")[:size], dtype=np.uint8))
        return run

    def op_cp(self, ins):
        if ins.parts[2] == "bulk":
            return self.op_bulk(ins) if "tensor" in ins.parts else self.op_bytes(ins)
        if ins.parts[2] not in ("ca", "cg"):
            return lambda mask: None
        to, source = self.address(ins, ins.operands[0])[0], self.address(ins, ins.operands[1])[0]
        size, m = ptx.number(ins.operands[2], 32), self.m
        fill = self.value(ins, ins.operands[3], 32) if len(ins.operands) > 3 else (lambda: U(size))

        def run(mask):
            d, s, n = (np.broadcast_to(x, (m.n,)) for x in (to(), source(), fill()))
            for t in self.active(mask):
                data = np.zeros(size, dtype=np.uint8)
                data[:int(n[t])] = self.bytes_at("global", int(s[t]), int(n[t]))
                self.store("shared", int(d[t]), data)
        return run

    def op_ldmatrix(self, ins):
        load = ins.parts[0] == "ldmatrix"
        address = self.address(ins, ins.operands[1 if load else 0])[0]
        count = next(int(p[1]) for p in ins.parts if p in ("x1", "x2", "x4"))
        regs = self.elements(ins.operands[0 if load else 1])
        trans, m = "trans" in ins.parts, self.m
        puts = [self.put(ins, r) for r in regs] if load else []
        values = [] if load else [self.value(ins, r, 32) for r in regs]

        def run(mask):
            a = np.broadcast_to(address(), (m.n,))
            for r in range(count):
                out = np.zeros(m.n, dtype=U)
                v = None if load else np.broadcast_to(values[r](), (m.n,))
                for t in range(m.n):
                    for half in range(2):
                        row, column = (t % 32) // 4, (t % 4) * 2 + half
                        if trans:
                            row, column = column, row
                        at = int(a[t // 32 * 32 + 8 * r + row]) + 2 * column
                        if load:
                            out[t] |= U(int.from_bytes(m.shared[at:at + 2].tobytes(), "little")) << U(16 * half)
                        else:
                            m.shared[at:at + 2] = np.frombuffer((int(v[t]) >> 16 * half & 0xFFFF).to_bytes(2, "little"), dtype=np.uint8)
                if load:
                    puts[r](out, mask)
        return run

    op_stmatrix = op_ldmatrix

    def op_movmatrix(self, ins):
        put, value, m = self.put(ins, ins.operands[0]), self.value(ins, ins.operands[1], 32), self.m

        def run(mask):
            v = np.broadcast_to(value(), (m.n,))
            out = np.zeros(m.n, dtype=U)
            for t in range(m.n):
                for half in range(2):
                    row, column = (t % 32) // 4, (t % 4) * 2 + half
                    source = int(v[t // 32 * 32 + column * 4 + row // 2])
                    out[t] |= U(source >> 16 * (row % 2) & 0xFFFF) << U(16 * half)
            put(out, mask)
        return run

    def op_mbarrier(self, ins):
        """Copies are complete at once: a wait ends."""
        if "try_wait" not in ins.parts:
            return lambda mask: None
        put = self.put(ins, ins.operands[0])
        return lambda mask: put(np.ones(self.m.n, dtype=U), mask)

    def op_fence(self, ins):
        return lambda mask: None

    def op_bulk(self, ins):
        """A box of the only tensor map: its lines stand one after the other, each as wide as the swizzle at least; of each 128 bytes the number of 16 bytes is
        XORed with that of the 128 bytes. What is outside of the tensor is 0, and not written by a store."""
        stores = "bulk_group" in ins.parts
        to, m = self.address(ins, ins.operands[1 if stores else 0])[0], self.m
        at = [self.value(ins, c, 32) for c in self.elements(ptx.split(ins.operands[0 if stores else 1][1:-1])[1])][::-1]

        def run(mask):
            extents, box, mode, size = m.tensor
            lines = list(np.ndindex(*box[:-1])) if len(box) > 1 else [()]
            pitch = max(box[-1] * size, 16 << mode if mode else 0)
            for t in self.active(mask):
                first = [int(np.int32(np.uint32(int(np.broadcast_to(c(), (m.n,))[t]) & 0xFFFFFFFF))) for c in at]
                for number, line in enumerate(lines):
                    for x in range(box[-1]):
                        index = [f + o for f, o in zip(first, list(line) + [x])]
                        data = np.zeros(size, dtype=np.uint8)
                        there = all(0 <= i < e for i, e in zip(index, extents))
                        flat = int(np.ravel_multi_index(index, extents)) * size if there else 0
                        if there and not stores:
                            data = m.arrays[m.tensor_array][flat:flat + size]
                        byte = int(np.broadcast_to(to(), (m.n,))[t]) + number * pitch + x * size
                        piece, inside = divmod(byte, 16)
                        piece ^= piece >> 3 & ((1 << mode) - 1)
                        at_ = 16 * piece + inside
                        if there and stores:
                            self.store("global", (m.tensor_array << 40) + flat, m.shared[at_:at_ + size].copy())
                        elif not stores:
                            self.store("shared", at_, data)
        return run

    def op_bytes(self, ins):
        """cp.async.bulk of bytes as they lie there. Groups and their waits do nothing: copies are complete at once."""
        if "commit_group" in ins.parts or "wait_group" in ins.parts:
            return lambda mask: None
        to, source, m = self.address(ins, ins.operands[0])[0], self.address(ins, ins.operands[1])[0], self.m
        count, stores = self.value(ins, ins.operands[2], 32), "bulk_group" in ins.parts

        def run(mask):
            d, s, n = (np.broadcast_to(x(), (m.n,)) for x in (to, source, count))
            for t in self.active(mask):
                data = self.bytes_at("shared" if stores else "global", int(s[t]), int(n[t])).copy()
                self.store("global" if stores else "shared", int(d[t]), data)
        return run

    def op_wgmma(self, ins):
        """m64nNk16 of f16, both operands in shared memory: core matrices of 8 rows of 16 bytes, as the pictures of PTX have them."""
        if "mma_async" not in ins.parts:
            return lambda mask: None
        m, regs = self.m, self.elements(ins.operands[0])
        values, puts = [self.value(ins, r, 32) for r in regs], [self.put(ins, r) for r in regs]
        registers = [self.value(ins, r, 32) for r in self.elements(ins.operands[1])] if ins.operands[1].startswith("{") else None
        descriptors = [self.value(ins, ins.operands[i], 64) for i in ((2,) if registers else (1, 2))]
        adds = self.value(ins, ins.operands[3], 1)
        majors = [ptx.number(ins.operands[i], 32) for i in ((6,) if registers else (6, 7))]
        columns = 2 * len(regs)

        def matrix(bits, mn_major, rows):
            field = lambda low, count: bits >> low & ((1 << count) - 1)
            wide = {0: 1, 1: 8, 2: 4, 3: 2}[field(62, 2)]  # pieces of 16 bytes in a row of the pattern
            start, lbo, sbo = (16 * field(low, 14) for low in (0, 16, 32))
            base = field(49, 3)
            out = np.zeros((rows, 16))
            for r in range(rows):
                for k in range(16):
                    inner, outer = (r, k) if mn_major else (k, r)
                    piece, line = inner // 8, outer % 8
                    at = start + line * 16 * wide + inner % 8 * 2
                    if wide == 1:
                        at += (piece * sbo + outer // 8 * lbo) if mn_major else (piece * lbo + outer // 8 * sbo)
                    elif mn_major:
                        at += piece % wide * 16 + piece // wide * lbo + outer // 8 * sbo
                    else:
                        at += piece * 16 + outer // 8 * sbo
                    chunk, inside = divmod(at, 16)
                    chunk ^= (at // 128 - base) & (wide - 1)
                    byte = 16 * chunk + inside
                    out[r, k] = m.shared[byte:byte + 2].view(np.float16)[0]
            return out

        def fragments():
            """A of a warpgroup: each warp has 16 rows, as A of mma.m16n8k16."""
            out = np.zeros((64, 16))
            for i, value in enumerate(registers):
                words = np.broadcast_to(value(), (m.n,))
                for t in range(m.n):
                    for half in range(2):
                        row, k = element_a(t % 32, 2 * i + half)
                        out[16 * (t // 32) + row, k] = half_of(words[t], half)
            return out

        def run(mask):
            bits = [int(np.broadcast_to(d(), (m.n,))[0]) for d in descriptors]
            left = fragments() if registers else matrix(bits[0], majors[0], 64)
            product = left @ matrix(bits[-1], majors[-1], columns).T
            keep = int(np.broadcast_to(adds(), (m.n,))[0]) & 1
            for i, (value, put) in enumerate(zip(values, puts)):
                before = np.broadcast_to(value(), (m.n,))
                out = np.zeros(m.n, dtype=U)
                for t in range(m.n):
                    row, column = 16 * (t // 32) + t % 32 // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + t % 4 * 2 + i % 2
                    total = product[row, column] + (float(ptx.as_float(before[t], 32)) if keep else 0)
                    out[t] = ptx.from_float(np.float32(total), 32)
                put(out, mask)
        return run

    def op_mma(self, ins):
        """m16n8k16 of f16 with accumulators of f32."""
        m = self.m
        a, b, c = ([self.value(ins, r, 32) for r in self.elements(ins.operands[k])] for k in (1, 2, 3))
        puts = [self.put(ins, r) for r in self.elements(ins.operands[0])]

        def run(mask):
            va, vb, vc = ([np.broadcast_to(x(), (m.n,)) for x in part] for part in (a, b, c))
            out = np.zeros((4, m.n), dtype=U)
            for w in range(m.n // 32):
                left, right, total = np.zeros((16, 16)), np.zeros((16, 8)), np.zeros((16, 8))
                for lane in range(32):
                    for i in range(8):
                        left[element_a(lane, i)] = half_of(va[i // 2][32 * w + lane], i % 2)
                    for i in range(4):
                        right[element_b(lane, i)] = half_of(vb[i // 2][32 * w + lane], i % 2)
                        total[element_c(lane, i)] = float(ptx.as_float(vc[i][32 * w + lane], 32))
                total = total + left @ right
                for lane in range(32):
                    for i in range(4):
                        out[i][32 * w + lane] = ptx.from_float(np.float32(total[element_c(lane, i)]), 32)
            for put, v in zip(puts, out):
                put(v, mask)
        return run


def half_of(word, which):
    return float(np.uint16(int(word) >> 16 * which & 0xFFFF).view(np.float16))


# ---------------------------------------------------------------- random kernels


class Kernel:
    """PTX that is being written: lines, and registers by kind."""

    def __init__(self, rng, arrays, shared):
        self.rng, self.arrays, self.shared = rng, arrays, shared
        self.lines, self.count, self.local, self.barrier = [], collections.Counter(), False, False
        self.map, self.mapped = None, "a"  # extents, box, mode; and the array that has them
        self.fields, self.plain = None, {}  # offset in the structure s -> name; numbers without a name: name -> (text, bits)
        self.numbers = {}  # numbers that keep their name -> type

    def new(self, kind):
        self.count[kind] += 1
        return f"%{kind}{self.count[kind]}"

    def emit(self, text):
        self.lines.append("\t" + text + ";")

    def op(self, text, kind="r"):
        """`add.s32 {}, %r1, 3`: the register that takes the place of {}."""
        to = self.new(kind)
        self.emit(text.replace("{}", to, 1))
        return to

    def text(self):
        params = ",\n".join(f"\t.param .align 64 .b8 {name}[128]" if self.map and name == self.mapped else f"\t.param .u64 {name}" for name in self.arrays)
        if self.fields is not None:
            params = f"\t.param .align 8 .b8 s[{max(self.fields) + 8}]"
        kinds = {"p": "pred", "h": "b16", "r": "b32", "f": "f32", "d": "b64"}
        regs = "".join(f"\t.reg .{kinds[k]} %{k}<{self.count[k] + 1}>;\n" for k in sorted(self.count))
        return (".version 9.0\n.target sm_90a\n.address_size 64\n\n.visible .entry kernel(\n" + params + "\n)\n{\n" + regs +
                f"\t.shared .align 1024 .b8 tile[{self.shared}];\n" + ("\t.shared .align 8 .b64 barrier;\n" if self.map or self.barrier else "") + ("\t.local .align 8 .b8 own[8];\n" if self.local else "") + "\n".join(self.lines) + "\n\tret;\n}\n")


def permuted(k, index, bits):
    """A random one-to-one function of numbers below 2^bits, as PTX and as a register."""
    rng = k.rng
    for _ in range(rng.randint(0, 2)):
        kind = rng.choice(["xor", "odd", "add", "turn"]) if bits > 1 else "add"
        if kind == "xor":
            shift = rng.randint(1, bits - 1)
            field = k.op(f"shr.u32 {{}}, {index}, {shift}")
            field = k.op(f"and.b32 {{}}, {field}, {rng.randrange(1 << (bits - shift))}")
            index = k.op(f"xor.b32 {{}}, {index}, {field}")
        elif kind == "odd":
            index = k.op(f"mul.lo.s32 {{}}, {index}, {2 * rng.randrange(1 << (bits - 1)) + 1}")
            index = k.op(f"and.b32 {{}}, {index}, {(1 << bits) - 1}")
        elif kind == "add":
            index = k.op(f"add.s32 {{}}, {index}, {rng.randrange(1 << bits)}")
            index = k.op(f"and.b32 {{}}, {index}, {(1 << bits) - 1}")
        else:
            by = rng.randint(1, bits - 1)
            low = k.op(f"shl.b32 {{}}, {index}, {by}")
            low = k.op(f"and.b32 {{}}, {low}, {(1 << bits) - 1}")
            high = k.op(f"shr.u32 {{}}, {index}, {bits - by}")
            index = k.op(f"or.b32 {{}}, {low}, {high}")
    return index


def address_of(k, base, index, size):
    wide = k.op(f"mul.wide.u32 {{}}, {index}, {size}", "d")
    return k.op(f"add.s64 {{}}, {base}, {wide}", "d")


def header(k):
    bases = {}
    for name in k.arrays:
        if k.map and name == k.mapped:
            continue
        bases[name] = k.op(f"ld.param.u64 {{}}, [{name}]", "d") if k.fields is None else field(k, name, "u64", "d")
    return bases, k.op("mov.u32 {}, %tid.x"), k.op("mov.u32 {}, tile")


def field(k, name, kind, register):
    """A part of the structure, by its name or at an address that is computed."""
    offset = next(o for o, n in k.fields.items() if n == name)
    if k.rng.random() < 0.7:
        return k.op(f"ld.param.{kind} {{}}, [s+{offset}]", register)
    base = k.op("mov.b64 {}, s", "d")
    by = k.rng.choice([0, 4, offset])
    base = k.op(f"add.s64 {{}}, {base}, {by}", "d")
    return k.op(f"ld.param.{kind} {{}}, [{base}+{offset - by}]", register)


def moves(rng):
    """Elements go through shared memory at one place and come back at another; some are combined."""
    kind = rng.choice(["u8", "u16", "i16", "f16", "u32", "i32", "f32", "f32", "f64"])
    size = TYPES[kind][0]
    vector = rng.choice([v for v in (1, 1, 2, 4) if v * size <= 16])
    bits = rng.randint(4, 8)
    n = 1 << bits  # vectors
    threads = rng.choice([32, 64, 96, 20, 50, 128, 33])
    pad_at, pad = rng.choice([(0, 0), (3, 1), (4, 1), (5, 3)])
    k = Kernel(rng, {"c": (kind, n * vector), "a": (kind, n * vector)}, (n + (n >> pad_at) * pad + 4) * vector * size)
    bases, tid, tile = header(k)
    register, letter = {1: ("h", "u8"), 2: ("h", "b16"), 4: ("r", "b32"), 8: ("d", "b64")}[size]
    if kind == "f32":
        register, letter = "f", "f32"

    def place(index):
        if pad:
            row = k.op(f"shr.u32 {{}}, {index}, {pad_at}")
            row = k.op(f"mul.lo.s32 {{}}, {row}, {pad}")
            index = k.op(f"add.s32 {{}}, {index}, {row}")
        at = k.op(f"mul.lo.s32 {{}}, {index}, {vector * size}")
        return k.op(f"add.s32 {{}}, {tile}, {at}")

    v = f".v{vector}" if vector > 1 else ""
    group = lambda regs: "{" + ", ".join(regs) + "}" if vector > 1 else regs[0]
    stored = rng.getrandbits(30)
    for phase in ("in", "out"):
        for step in range(-(-n // threads)):
            index = k.op(f"add.s32 {{}}, {tid}, {step * threads}")
            p = k.op(f"setp.lt.u32 {{}}, {index}, {n}", "p")
            k.rng = random.Random(stored if phase == "in" else stored + 1)  # the same map in each step
            source, to = permuted(k, index, bits), permuted(k, index, bits)
            k.rng = rng
            regs = [k.new(register) for _ in range(vector)]
            if phase == "in":
                k.emit(f"@{p} ld.global{v}.{letter} {group(regs)}, [{address_of(k, bases['a'], source, vector * size)}]")
                k.emit(f"@{p} st.shared{v}.{letter} [{place(to)}], {group(regs)}")
                continue
            k.emit(f"@{p} ld.shared{v}.{letter} {group(regs)}, [{place(source)}]")
            regs = combined(k, kind, regs, p, place, permuted(k, index, bits), v, letter, group, register)
            k.emit(f"@{p} st.global{v}.{letter} [{address_of(k, bases['c'], to, vector * size)}], {group(regs)}")
        if phase == "in":
            k.emit("bar.sync 0")
    return k, threads


def combined(k, kind, regs, p, place, index, v, letter, group, register):
    """Now and then a second element of shared memory is added or multiplied, or halves are exchanged."""
    rng = k.rng
    what = rng.random()
    if kind in ("f32", "u32", "i32") and what < 0.5:
        other = [k.new(register) for _ in regs]
        k.emit(f"@{p} ld.shared{v}.{letter} {group(other)}, [{place(index)}]")
        op = rng.choice(["add", "sub", "mul", "fma"])
        t = "f32" if kind == "f32" else "s32"
        if op == "fma":
            return [k.op(f"fma.rn.f32 {{}}, {a}, {b}, {a}" if t == "f32" else f"mad.lo.s32 {{}}, {a}, {b}, {a}", register) for a, b in zip(regs, other)]
        name = op + (".lo" if op == "mul" and t == "s32" else "")
        return [k.op(f"{name}.{t} {{}}, {a}, {b}", register) for a, b in zip(regs, other)]
    if kind in ("f16", "u16", "i16") and len(regs) > 1 and what < 0.7:
        pair = k.op(f"mov.b32 {{}}, {{{regs[1]}, {regs[0]}}}")
        if rng.random() < 0.5:
            pair = k.op(f"prmt.b32 {{}}, {pair}, {pair}, {rng.choice([0x1032, 0x3210, 0x1010, 0x5476, 0x3254])}")
        low, high = k.new("h"), k.new("h")
        k.emit(f"mov.b32 {{{low}, {high}}}, {pair}")
        return [low, high] + regs[2:]
    if kind == "f32" and what < 0.7:
        return [k.op(f"mul.f32 {{}}, {r}, 0f40000000", "f") for r in regs]
    return regs


def stages(rng):
    """Rows of a come by cp.async in stages; each thread adds its element of every row, which another thread has copied, times one of b."""
    threads = rng.choice([32, 64, 128])
    rows = rng.randint(3, 6)
    depth = rng.randint(2, 3)
    bits = {32: 5, 64: 6, 128: 7}[threads]
    k = Kernel(rng, {"c": ("f32", threads), "a": ("f32", rows * threads), "b": ("f32", rows)}, depth * threads * 4)
    bases, tid, tile = header(k)
    total = k.op("mov.f32 {}, 0f00000000", "f")
    width = rng.choice([4, 8, 16])
    chunks = threads * 4 // width
    p = k.op(f"setp.lt.u32 {{}}, {tid}, {chunks}", "p")
    seed = rng.getrandbits(30)

    def issue(row):
        k.rng = random.Random(seed)
        to = permuted(k, tid, bits - width.bit_length() + 3)
        k.rng = rng
        at = k.op(f"mul.lo.s32 {{}}, {to}, {width}")
        at = k.op(f"add.s32 {{}}, {tile}, {at}")
        at = k.op(f"add.s32 {{}}, {at}, {row % depth * threads * 4}")
        source = k.op(f"add.s32 {{}}, {tid}, {row * chunks}")
        k.emit(f"@{p} cp.async.{'cg' if width == 16 else 'ca'}.shared.global [{at}], [{address_of(k, bases['a'], source, width)}], {width}")

    for row in range(depth - 1):
        issue(row)
        k.emit("cp.async.commit_group")
    for row in range(rows):
        if row + depth - 1 < rows:
            issue(row + depth - 1)
        k.emit("cp.async.commit_group")
        k.emit(f"cp.async.wait_group {depth - 1}")
        k.emit("bar.sync 0")
        other = permuted(k, tid, bits)
        at = k.op(f"mul.lo.s32 {{}}, {other}, 4")
        at = k.op(f"add.s32 {{}}, {at}, {tile}")
        x = k.op(f"ld.shared.f32 {{}}, [{at}+{row % depth * threads * 4}]", "f")
        y = k.op(f"ld.global.f32 {{}}, [{bases['b']}+{4 * row}]", "f")
        total = k.op(f"fma.rn.f32 {{}}, {x}, {y}, {total}", "f")
        k.emit("bar.sync 0")
    if rng.random() < 0.5:
        for _ in range(rng.randint(1, 3)):
            other = k.op(f"shfl.sync.{rng.choice(['bfly', 'up', 'down', 'idx'])}.b32 {{}}, {total}, {rng.randint(1, 16)}, {rng.choice([31, 0, 0x181f, 0x1c1f])}, -1", "f")
            total = k.op(f"add.f32 {{}}, {total}, {other}", "f")
    k.emit(f"st.global.f32 [{address_of(k, bases['c'], tid, 4)}], {total}")
    return k, threads


def matrices(rng):
    """A product of a tile: 16 x 16 halves of a and 16 x 8 of b, each row 16 bytes times a number, through ldmatrix with or without .trans."""
    warps = rng.choice([1, 2])
    threads = 32 * warps
    k = Kernel(rng, {"c": ("f32", 128 * warps), "a": ("f16", 256 * warps), "b": ("f16", 128 * warps)}, 768 * warps)
    bases, tid, tile = header(k)
    seed = rng.getrandbits(30)

    def chunk(index, which):
        k.rng = random.Random(seed + which)
        out = permuted(k, index, 5 + warps - 1)
        k.rng = rng
        return out

    # a: 32 chunks of 16 bytes for each warp; b: 16, by the first half of the threads
    x = [k.new("r") for _ in range(4)]
    k.emit(f"ld.global.v4.b32 {{{', '.join(x)}}}, [{address_of(k, bases['a'], tid, 16)}]")
    at = k.op(f"shl.b32 {{}}, {chunk(tid, 0)}, 4")
    at = k.op(f"add.s32 {{}}, {at}, {tile}")
    k.emit(f"st.shared.v4.b32 [{at}], {{{', '.join(x)}}}")
    p = k.op(f"setp.lt.u32 {{}}, {tid}, {16 * warps}", "p")
    at = k.op(f"shl.b32 {{}}, {tid}, 4")
    at = k.op(f"add.s32 {{}}, {at}, {tile}")
    k.emit(f"@{p} cp.async.cg.shared.global [{at}+{512 * warps}], [{address_of(k, bases['b'], tid, 16)}], 16")
    k.emit(rng.choice(["cp.async.wait_all", "cp.async.commit_group;\n\tcp.async.wait_group 0"]))
    k.emit("bar.sync 0")
    row = chunk(k.op(f"xor.b32 {{}}, {tid}, {rng.randrange(32)}"), rng.choice([0, 0, 1]))
    at = k.op(f"shl.b32 {{}}, {row}, 4")
    at = k.op(f"add.s32 {{}}, {at}, {tile}")
    a = [k.new("r") for _ in range(4)]
    k.emit(f"ldmatrix.sync.aligned.m8n8.x4{rng.choice(['', '.trans'])}.shared.b16 {{{', '.join(a)}}}, [{at}]")
    rows = rng.choice([15, 15, 7])
    low = k.op(f"and.b32 {{}}, {tid}, {rows}")
    warp = k.op(f"shr.u32 {{}}, {tid}, 5")
    row = k.op(f"mad.lo.s32 {{}}, {warp}, 16, {low}")
    at = k.op(f"shl.b32 {{}}, {row}, 4")
    at = k.op(f"add.s32 {{}}, {at}, {tile}")
    b = [k.new("r") for _ in range(2)]
    k.emit(f"ldmatrix.sync.aligned.m8n8.x2{rng.choice(['', '.trans'])}.shared.b16 {{{', '.join(b)}}}, [{at}+{512 * warps}]")
    if rng.random() < 0.4:
        b[0] = k.op(f"movmatrix.sync.aligned.m8n8.trans.b16 {{}}, {b[0]}")
    if rows == 15 and rng.random() < 0.4:
        k.emit("bar.sync 0")
        k.emit(f"stmatrix.sync.aligned.m8n8.x2{rng.choice(['', '.trans'])}.shared.b16 [{at}+{512 * warps}], {{{a[0]}, {a[3]}}}")
        k.emit("bar.sync 0")
        b[1] = k.op(f"ld.shared.b32 {{}}, [{at}+{512 * warps + 4 * rng.randrange(4)}]")
    f = [k.op("mov.f32 {}, 0f00000000", "f") for _ in range(4)]
    for _ in range(rng.randint(1, 2)):
        rng.shuffle(a)
        k.emit(f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{{', '.join(f)}}}, {{{', '.join(a)}}}, {{{', '.join(b)}}}, {{{', '.join(f)}}}")
    to = permuted(k, tid, 5 + warps - 1)
    k.emit(f"st.global.v4.f32 [{address_of(k, bases['c'], to, 16)}], {{{', '.join(f)}}}")
    return k, threads


def conversions(rng):
    """Integers and halves become integers of 32 bits or floats, by loads that extend, cvt or shifts, and are added in a loop whose length depends on the thread."""
    kind = rng.choice(["u8", "i8", "u16", "i16", "f16", "f32", "i32", "u32"])
    size = TYPES[kind][0]
    to = rng.choice(["f32", "f32", "i32"]) if kind not in ("f16", "f32") else "f32"
    threads = rng.choice([32, 64, 40, 96])
    n = 128
    k = Kernel(rng, {"c": (to, threads), "a": (kind, n)}, n * size)
    bases, tid, tile = header(k)
    letter = {"f16": "b16", "f32": "f32"}.get(kind, ("s" if kind[0] == "i" else "u") + str(8 * size))
    # All of a goes to shared memory, an element at a time.
    index, p, q = k.op("mov.u32 {}, " + tid), k.new("p"), k.new("p")
    k.lines.append("$COPY:")
    narrow = {1: "h", 2: "h", 4: "f" if kind == "f32" else "r"}[size]
    plain = {1: "u8", 2: "b16", 4: "b32" if narrow == "r" else "f32"}[size]
    k.emit(f"setp.ge.u32 {p}, {index}, {n}")
    k.emit(f"@{p} bra $COPIED")
    x = k.op(f"ld.global.{plain} {{}}, [{address_of(k, bases['a'], index, size)}]", narrow)
    at = k.op(f"mad.lo.s32 {{}}, {index}, {size}, {tile}")
    k.emit(f"st.shared.{plain} [{at}], {x}")
    k.emit(f"add.s32 {index}, {index}, {threads}")
    k.emit("bra $COPY")
    k.lines.append("$COPIED:")
    k.emit("bar.sync 0")
    # The sum of a[index], a[index + step], .. below a bound.
    total = k.op("mov.f32 {}, 0f00000000", "f") if to == "f32" else k.op("mov.u32 {}, 0")
    index = permuted(k, k.op(f"and.b32 {{}}, {tid}, 63"), 6)
    k.lines.append("$SUM:")
    at = k.op(f"mad.lo.s32 {{}}, {index}, {size}, {tile}")
    wide = kind[0] in "ui" and rng.random() < 0.5
    if kind == "f16":
        x = k.op(f"cvt.f32.f16 {{}}, {k.op(f'ld.shared.b16 {{}}, [{at}]', 'h')}", "f")
    elif kind == "f32":
        x = k.op(f"ld.shared.f32 {{}}, [{at}]", "f")
    else:
        x = k.op(f"ld.shared.{letter} {{}}, [{at}]", "r" if wide or size == 4 else "h")
        sign = letter[0] + ("32" if wide or size == 4 else str(8 * size))
        if to == "f32":
            x = k.op(f"cvt.rn.f32.{sign} {{}}, {x}", "f")
        elif sign[1:] != "32":
            x = k.op(f"cvt.{'s' if kind[0] == 'i' else 'u'}32.{sign} {{}}, {x}")
    k.emit(f"add.{'f32' if to == 'f32' else 's32'} {total}, {total}, {x}")
    k.emit(f"add.s32 {index}, {index}, {rng.choice([1, 3, 17, 31])}")
    k.emit(f"setp.lt.u32 {q}, {index}, {rng.randint(40, 128)}")
    k.emit(f"@{q} bra $SUM")
    if rng.random() < 0.5:  # through memory of the thread
        k.local = True
        k.emit(f"st.local.{'f32' if to == 'f32' else 'u32'} [own], {total}")
        total = k.op("ld.local.u32 {}, [own]")
    k.emit(f"st.global.b32 [{address_of(k, bases['c'], tid, 4)}], {total}")
    return k, threads


MODES = ["none", "32B", "64B", "128B"]


def random_box(rng):
    """Type of the elements and its bytes, mode, bytes from line to line, box and extents of the array."""
    kind = rng.choice(["u8", "f16", "f32"])
    size, mode = TYPES[kind][0], rng.randrange(4)
    widest = (16 << mode) if mode else 128
    line = 16 * rng.randint(1, widest // 16)
    rank = rng.randint(1, 3)
    box = [rng.randint(1, {2: 24, 3: 5}[rank]) for _ in range(rank - 1)] + [line // size]
    extents = [rng.randint(1, 30) for _ in range(rank - 1)] + [16 // size * rng.randint(1, 12)]
    return kind, size, mode, widest if mode else line, box, extents


def boxes(rng):
    """A box of the TMA in shared memory that was filled with zeros; it is read back as it lies there."""
    kind, size, mode, pitch, box, extents = random_box(rng)
    at = [rng.randint(-3, e) if rng.random() < 0.3 else rng.randint(0, max(e - b, 0)) for e, b in zip(extents, box)]
    lines = int(np.prod(box[:-1]))
    shift = 128 * rng.randint(0, 8)
    shared = -(-(shift + lines * pitch) // 1024) * 1024
    k = Kernel(rng, {"c": (kind, shared // size), "a": (kind, int(np.prod(extents)))}, shared)
    k.map = (extents, box, mode)
    bases, tid, tile = header(k)
    threads = rng.choice([32, 64, 128])
    zero = k.op("mov.u32 {}, 0")
    first = k.op(f"shl.b32 {{}}, {tid}, 4")
    for step in range(0, shared, 16 * threads):
        at_ = k.op(f"add.s32 {{}}, {first}, {step}")
        p = k.op(f"setp.lt.u32 {{}}, {at_}, {shared}", "p")
        to = k.op(f"add.s32 {{}}, {at_}, {tile}")
        k.emit(f"@{p} st.shared.v4.u32 [{to}], {{{zero}, {zero}, {zero}, {zero}}}")
    barrier = k.op("mov.u32 {}, barrier")
    p = k.op(f"setp.eq.u32 {{}}, {tid}, 0", "p")
    k.emit(f"@{p} mbarrier.init.shared.b64 [{barrier}], 1")
    k.emit("fence.proxy.async.shared::cta")
    k.emit("bar.sync 0")
    map_ = k.op("mov.b64 {}, a", "d")
    map_ = k.op(f"cvta.param.u64 {{}}, {map_}", "d")
    where = k.op(f"add.s32 {{}}, {tile}, {shift}")
    coordinates = [k.op(f"mov.u32 {{}}, {c}") for c in reversed(at)]
    bytes_ = k.op(f"mov.u32 {{}}, {int(np.prod(box)) * size}")
    k.emit(f"@{p} mbarrier.arrive.expect_tx.shared.b64 _, [{barrier}], {bytes_}")
    k.emit(f"@{p} cp.async.bulk.tensor.{len(box)}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{where}], "
           f"[{map_}, {{{', '.join(coordinates)}}}], [{barrier}]")
    q = k.new("p")
    k.lines.append("$AGAIN:")
    k.emit(f"mbarrier.try_wait.parity.shared.b64 {q}, [{barrier}], {zero}")
    k.emit(f"@!{q} bra $AGAIN")
    words = {1: ("u8", "h", 1), 2: ("u16", "h", 2), 4: ("u32", "r", 4)}[size]
    index = k.op(f"mov.u32 {{}}, {tid}")
    end = k.new("p")
    k.lines.append("$READ:")
    from_ = k.op(f"mad.lo.s32 {{}}, {index}, {words[2]}, {tile}")
    x = k.op(f"ld.shared.{words[0]} {{}}, [{from_}]", words[1])
    k.emit(f"st.global.{words[0]} [{address_of(k, bases['c'], index, words[2])}], {x}")
    k.emit(f"add.s32 {index}, {index}, {threads}")
    k.emit(f"setp.lt.u32 {end}, {index}, {shared // size}")
    k.emit(f"@{end} bra $READ")
    return k, threads


def products(rng):
    """wgmma through random descriptors of 16 KiB that threads have stored, once or twice."""
    shared, columns = 16384, 8 * rng.randint(1, 4)
    k = Kernel(rng, {"c": ("f32", 64 * columns), "a": ("f16", shared // 2)}, shared)
    bases, tid, tile = header(k)
    first = k.op(f"shl.b32 {{}}, {tid}, 4")
    for step in range(0, shared, 2048):
        at = k.op(f"add.s32 {{}}, {first}, {step}")
        x = [k.new("r") for _ in range(4)]
        k.emit(f"ld.global.v4.b32 {{{', '.join(x)}}}, [{address_of(k, bases['a'], at, 1)}]")
        k.emit(f"st.shared.v4.b32 [{k.op(f'add.s32 {{}}, {at}, {tile}')}], {{{', '.join(x)}}}")
    k.emit("fence.proxy.async.shared::cta")
    k.emit("bar.sync 0")
    low = k.op(f"shr.u32 {{}}, {tile}, 4")
    low = k.op(f"cvt.u64.u32 {{}}, {low}", "d")
    f = [k.op("mov.f32 {}, 0f00000000", "f") for _ in range(columns // 2)]
    left = None
    if rng.random() < 0.4:
        left = []
        for _ in range(4):
            at = address_of(k, bases["a"], permuted(k, k.op(f"add.s32 {{}}, {tid}, {rng.randrange(64)}"), 11), 4)
            left.append(k.op(f"ld.global.b32 {{}}, [{at}]"))
    k.emit("wgmma.fence.sync.aligned")
    for _ in range(rng.randint(1, 2)):
        descriptors, majors = [], []
        for rows in (columns,) if left else (64, columns):
            while True:
                mode, mn, base = rng.randrange(4), rng.randrange(2), rng.choice([0, 0, rng.randrange(8)])
                wide = {0: 1, 1: 8, 2: 4, 3: 2}[mode]
                lbo, sbo, start = 16 * rng.randrange(64), 16 * rng.randrange(128), 16 * rng.randrange(512)
                most = start + 7 * 16 * wide + 14 + 112 + max(rows // 8, 2) * (lbo + sbo)  # an upper bound of the formulas
                if most < shared - 1024:
                    break
            bits = start >> 4 | (lbo >> 4) << 16 | (sbo >> 4) << 32 | base << 49 | mode << 62
            wide_ = k.op(f"mov.b64 {{}}, {bits}", "d")
            descriptors.append(k.op(f"add.s64 {{}}, {wide_}, {low}", "d"))
            majors.append(mn)
        p = k.op(f"setp.{rng.choice(['eq', 'ne'])}.u32 {{}}, {tile}, 0", "p")
        operands = ([f"{{{', '.join(left)}}}"] if left else []) + descriptors
        k.emit(f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.f16.f16 {{{', '.join(f)}}}, {', '.join(operands)}, {p}, 1, 1, {', '.join(str(m) for m in majors)}")
    k.emit("wgmma.commit_group.sync.aligned")
    k.emit("wgmma.wait_group.sync.aligned 0")
    at = k.op(f"mul.lo.s32 {{}}, {tid}, {columns // 2}")
    to = address_of(k, bases["c"], at, 4)
    for i, x in enumerate(f):
        k.emit(f"st.global.f32 [{to}+{4 * i}], {x}")
    return k, 128


def filled(k, bases, tid, tile, threads, shared):
    """All of shared memory gets array a, 16 bytes at a time, in another order."""
    bits = (shared // 16 - 1).bit_length()
    order = k.rng.getrandbits(30)
    rng, whole = k.rng, shared // 16 == 1 << bits
    for step in range(-(-(shared // 16) // threads)):
        chunk = k.op(f"add.s32 {{}}, {tid}, {step * threads}")
        p = k.op(f"setp.lt.u32 {{}}, {chunk}, {shared // 16}", "p")
        k.rng = random.Random(order)  # the same map in each step
        to = permuted(k, chunk, bits) if whole and bits > 0 else chunk
        k.rng = rng
        x = [k.new("r") for _ in range(4)]
        k.emit(f"@{p} ld.global.v4.b32 {{{', '.join(x)}}}, [{address_of(k, bases['a'], chunk, 16)}]")
        k.emit(f"@{p} st.shared.v4.b32 [{k.op(f'mad.lo.s32 {{}}, {to}, 16, {tile}')}], {{{', '.join(x)}}}")


def stores(rng):
    """Boxes of shared memory, which threads have filled, are stored by the TMA; parts of them are outside of the array."""
    kind, size, mode, pitch, box, extents = random_box(rng)
    lines = int(np.prod(box[:-1]))
    shared = 1 << (1024 * 2 + lines * pitch - 1).bit_length()
    k = Kernel(rng, {"c": (kind, int(np.prod(extents))), "a": (kind, shared // size)}, shared)
    k.map, k.mapped = (extents, box, mode), "c"
    bases, tid, tile = header(k)
    threads = rng.choice([32, 64, 128])
    filled(k, bases, tid, tile, threads, shared)
    k.emit("fence.proxy.async.shared::cta" if rng.random() < 0.7 else "fence.proxy.async")
    k.emit("bar.sync 0")
    p = k.op(f"setp.eq.u32 {{}}, {tid}, {rng.randrange(threads)}", "p")
    map_ = k.op("mov.b64 {}, c", "d")
    map_ = k.op(f"cvta.param.u64 {{}}, {map_}", "d")
    for _ in range(rng.randint(1, 2)):
        at = [rng.randint(-3, e) if rng.random() < 0.3 else rng.randint(0, max(e - b, 0)) for e, b in zip(extents, box)]
        where = k.op(f"add.s32 {{}}, {tile}, {128 * rng.randint(0, 8)}")
        coordinates = [k.op(f"mov.u32 {{}}, {c}") for c in reversed(at)]
        k.emit(f"@{p} cp.async.bulk.tensor.{len(box)}d.global.shared::cta{rng.choice(['', '.tile'])}.bulk_group [{map_}, {{{', '.join(coordinates)}}}], [{where}]")
        k.emit(f"@{p} cp.async.bulk.commit_group")
        k.emit(f"@{p} cp.async.bulk.wait_group 0")
    return k, threads


def chunks_of(rng, total, parts):
    """Disjoint pieces of 16-byte units: [first, count], in any order."""
    cuts = sorted(rng.sample(range(total + 1), parts + 1))
    out = [(a, rng.randint(0, b - a)) for a, b in zip(cuts, cuts[1:])]
    rng.shuffle(out)
    return out


def bulk_bytes(rng):
    """Some threads load pieces of a by plain bulk copies, all move elements, and some threads store pieces by bulk copies."""
    kind = rng.choice(["f16", "f32", "u32", "u8"])
    size, bits = TYPES[kind][0], rng.randint(5, 7)
    n = 16 // size << bits  # elements
    half = 16 << bits
    k = Kernel(rng, {"c": (kind, n), "a": (kind, n)}, 2 * half)
    k.barrier = True
    bases, tid, tile = header(k)
    threads = rng.choice([32, 64, 96])
    filled(k, bases, tid, tile, threads, half)
    barrier = k.op("mov.u32 {}, barrier")
    first = k.op(f"setp.eq.u32 {{}}, {tid}, 0", "p")
    k.emit(f"@{first} mbarrier.init.shared.b64 [{barrier}], 1")
    k.emit("fence.proxy.async.shared::cta")
    k.emit("bar.sync 0")
    loads = chunks_of(rng, 1 << bits, rng.randint(1, 4))
    bytes_ = k.op(f"mov.u32 {{}}, {16 * sum(count for _, count in loads)}")
    k.emit(f"@{first} mbarrier.arrive.expect_tx.shared.b64 _, [{barrier}], {bytes_}")
    k.emit("bar.sync 0")
    for start, count in loads:
        p = k.op(f"setp.eq.u32 {{}}, {tid}, {rng.randrange(threads)}", "p")
        source = rng.randint(0, (1 << bits) - count)
        from_ = k.op(f"add.s64 {{}}, {bases['a']}, {16 * source}", "d")
        to = k.op(f"add.s32 {{}}, {tile}, {16 * start}")
        k.emit(f"@{p} cp.async.bulk.{rng.choice(['shared::cluster', 'shared::cta'])}.global.mbarrier::complete_tx::bytes [{to}], [{from_}], {16 * count}, [{barrier}]")
    zero, q = k.op("mov.u32 {}, 0"), k.new("p")
    k.lines.append("$AGAIN:")
    k.emit(f"mbarrier.try_wait.parity.shared.b64 {q}, [{barrier}], {zero}")
    k.emit(f"@!{q} bra $AGAIN")
    order = rng.getrandbits(30)
    for step in range(-(-(1 << bits) // threads)):
        chunk = k.op(f"add.s32 {{}}, {tid}, {step * threads}")
        p = k.op(f"setp.lt.u32 {{}}, {chunk}, {1 << bits}", "p")
        k.rng = random.Random(order)
        from_, to = permuted(k, chunk, bits), permuted(k, chunk, bits)
        k.rng = rng
        x = [k.new("r") for _ in range(4)]
        k.emit(f"@{p} ld.shared.v4.b32 {{{', '.join(x)}}}, [{k.op(f'mad.lo.s32 {{}}, {from_}, 16, {tile}')}]")
        k.emit(f"@{p} st.shared.v4.b32 [{k.op(f'mad.lo.s32 {{}}, {to}, 16, {tile}')}+{half}], {{{', '.join(x)}}}")
    k.emit("fence.proxy.async.shared::cta")
    k.emit("bar.sync 0")
    for start, count in chunks_of(rng, 1 << bits, rng.randint(1, 4)):
        p = k.op(f"setp.eq.u32 {{}}, {tid}, {rng.randrange(threads)}", "p")
        to = k.op(f"add.s64 {{}}, {bases['c']}, {16 * start}", "d")
        from_ = k.op(f"add.s32 {{}}, {tile}, {half + 16 * rng.randint(0, (1 << bits) - count)}")
        k.emit(f"@{p} cp.async.bulk.global.shared::cta.bulk_group [{to}], [{from_}], {16 * count}")
        k.emit(f"@{p} cp.async.bulk.commit_group")
    k.emit("cp.async.bulk.wait_group 0")
    return k, threads


def structures(rng):
    """Pointers and numbers are parts of a structure. An element is scaled by a number that keeps its name, and one by a number without a name, where that is not 0."""
    kind = rng.choice(["f16", "f32", "i32"])
    size, threads = TYPES[kind][0], rng.choice([32, 64, 40])
    out = "i32" if kind == "i32" else "f32"
    k = Kernel(rng, {"c": (out, threads), "a": (kind, 64)}, 16)
    parts = [("c", 8), ("a", 8), ("x", size), ("n", 4), ("y", 4)]
    rng.shuffle(parts)
    k.fields, at = {}, 4 * rng.randint(0, 3)
    for name, bytes_ in parts:
        at = -(-at // bytes_) * bytes_
        k.fields[at] = name
        at += bytes_ + 4 * rng.randint(0, 1)
    y, n = rng.choice([0.0, 0.0, 1.0, -2.0, 0.5, 3.0]), rng.randint(0, threads + 5)
    k.plain = {"n": (str(n), n), "y": (f"{y}:f32", int(np.float32(y).view(np.uint32)))}
    k.numbers = {"x": kind}
    bases, tid, _ = header(k)
    register, letter = {"f16": ("h", "b16"), "f32": ("f", "f32"), "i32": ("r", "b32")}[kind]
    x = field(k, "x", letter, register)
    bound = field(k, "n", "u32", "r")
    p = k.op(f"setp.ge.s32 {{}}, {tid}, {bound}", "p")
    k.emit(f"@{p} bra $DONE")
    load = lambda: k.op(f"ld.global.{letter} {{}}, [{address_of(k, bases['a'], permuted(k, k.op(f'and.b32 {{}}, {tid}, 63'), 6), size)}]", register)
    v, w = load(), load()
    t = {"f16": "f16", "f32": "f32", "i32": "s32"}[kind]
    lo, rn = (".lo", ".lo") if kind == "i32" else ("", ".rn")
    for _ in range(rng.randint(1, 2)):
        what = rng.choice(["mul", "fma", "add", "sub", "neg"])
        if what == "mul":
            v = k.op(f"mul{lo}.{t} {{}}, {v}, {x}" if rng.random() < 0.7 else f"mul{lo}.{t} {{}}, {x}, {v}", register)
        elif what == "fma":
            v = k.op(f"{'mad' if kind == 'i32' else 'fma'}{rn}.{t} {{}}, {w}, {x}, {v}", register)
            x = v if rng.random() < 0.2 and kind == "f32" else x
        elif what == "neg":
            v = k.op(f"neg.{t} {{}}, {v}", register)
        else:
            v = k.op(f"{what}.{t} {{}}, {v}, {rng.choice([x, w])}", register)
    if kind == "f16":
        v, w = (k.op(f"cvt.f32.f16 {{}}, {r}", "f") for r in (v, w))
    if out == "f32":
        beta = field(k, "y", "f32", "f")
        q = k.op(f"setp.{rng.choice(['eq', 'neu', 'lt', 'le', 'gt', 'ge', 'ltu', 'geu', 'num', 'nan', 'ne', 'equ'])}.f32 {{}}, {beta}, {rng.choice(['0f00000000', '0f3F800000', '0f7FC00000'])}", "p")
        k.emit(f"@{q} bra $STORE")
        k.emit(f"fma.rn.f32 {v}, {beta}, {w}, {v}")
        k.lines.append("$STORE:")
    k.emit(f"st.global.{'f32' if out == 'f32' else 'b32'} [{address_of(k, bases['c'], tid, 4)}], {v}")
    k.lines.append("$DONE:")
    return k, threads


FAMILIES = {"moves": moves, "stages": stages, "matrices": matrices, "conversions": conversions, "boxes": boxes, "products": products,
            "stores": stores, "bytes": bulk_bytes, "structures": structures}


# ---------------------------------------------------------------- comparison


def data_of(rng, kind, count):
    low, high = (0, 9) if kind[0] == "u" else (-4, 4)
    return np.array([rng.randint(low, high) for _ in range(count)], dtype=TYPES[kind][1])


def element(indices, extents):
    """The number of an element `[3][0]`; 0 of a number that is no array."""
    at = [int(n) for n in re.findall(r"\d+", indices)]
    return int(np.ravel_multi_index(at, extents)) if len(at) > 1 else at[0] if at else 0


def evaluated(text, arrays, kind, extents):
    """The value of `a[3]*b[0] + 2*a[1]` on the arrays."""
    total = 0.0
    for term in text.split(" + "):
        value = 1.0
        for factor in term.split("*"):
            match = re.fullmatch(r"([a-z]\w*)((?:\[\d+\])*)", factor)
            if match:
                value *= float(arrays[match.group(1)][element(match.group(2), extents)])
            else:
                value *= float(factor)
        total += value
    if kind[0] in "ui":
        width = 8 * TYPES[kind][0]
        return int(total) & ((1 << width) - 1)
    return total


def bits_value(value, kind):
    return int(value) & ((1 << 8 * TYPES[kind][0]) - 1) if kind[0] in "ui" else float(value)


class Tally:
    def __init__(self):
        self.cases, self.elements, self.differences = collections.Counter(), 0, 0
        self.races, self.not_followed = 0, 0


def compare(tally, family, text, kernel, threads, document, rng):
    """One kernel: what it writes, and what the command says that it writes."""
    arrays = {name: data_of(rng, kind, count) for name, (kind, count) in kernel.arrays.items()}
    images = {name: a.view(np.uint8).copy() for name, a in arrays.items()}
    numbers = {name: data_of(rng, kind, 1) for name, kind in kernel.numbers.items()}
    given = {name: bits for name, (_, bits) in kernel.plain.items()}
    given.update({name: int.from_bytes(x.tobytes(), "little") for name, x in numbers.items()})
    module = ptx.Module(text)
    machine = Machine(module, module.functions["kernel"])
    extents = kernel.map[0] if kernel.map else None
    if kernel.map:
        machine.tensor, machine.tensor_array = (*kernel.map, TYPES[kernel.arrays[kernel.mapped][0]][0]), 1 + list(images).index(kernel.mapped)
    written = machine.launch((threads, 1, 1), images, kernel.fields, given)
    kind = kernel.arrays["c"][0]
    result = images["c"].view(TYPES[kind][1])
    size = TYPES[kind][0]
    said = {}
    for value in document["values"]:
        name, sum_ = value.split(" = ", 1)
        said[element(re.fullmatch(r"c((?:\[\d+\])+)", name).group(1), extents)] = sum_
    found = []
    for i in range(len(result)):
        if written["c"][i * size:(i + 1) * size].any() != (i in said):
            found.append(f"c[{i}] is written by one alone")
        elif i in said:
            if "bits of" in said[i] or "more than four factors" in said[i] or re.search(r"\bof\b", said[i]):
                tally.not_followed += 1
                continue
            tally.elements += 1
            if evaluated(said[i], arrays | numbers, kind, extents) != bits_value(result[i], kind):
                found.append(f"c[{i}] is {result[i]}, and {said[i]} is {evaluated(said[i], arrays | numbers, kind, extents)}")
    tally.cases[family] += 1
    return found


def broken(rng, text):
    """The kernel without one of its barriers, or with a wait that waits for less."""
    places = [m for m in re.finditer(r"bar\.sync 0|cp\.async\.(?:bulk\.)?wait_group \d+|cp\.async\.wait_all|fence\.proxy\.async[.:\w]*", text)]
    if not places:
        return None
    m = rng.choice(places)
    new = "membar.cta" if m.group(0) != "cp.async.wait_all" else "cp.async.commit_group"
    return text[:m.start()] + new + text[m.end():]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary")
    parser.add_argument("--keep")
    options = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.cases):
            rng = random.Random(options.seed * 1000003 + case)
            family = list(FAMILIES)[case % len(FAMILIES)]
            kernel, threads = FAMILIES[family](rng)
            text = kernel.text()
            path = os.path.join(folder, f"case{options.seed}_{case}.ptx")

            def asked(body):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(body)
                words = ["flow", path, "--block", str(threads), "--every-element", "--json"]
                place = {name: f"s+{offset}" for offset, name in (kernel.fields or {}).items()}
                for name, (kind, count) in kernel.arrays.items():
                    size = f"[{count}]"
                    if kernel.map and name == kernel.mapped:
                        extents, box, mode = kernel.map
                        size = "".join(f"[{e}]" for e in extents) + " box" + "".join(f"[{b}]" for b in box) + " " + MODES[mode]
                    words += ["--param", f"{place.get(name, name)}={name}:{kind}{size}"]
                for name, kind in kernel.numbers.items():
                    words += ["--param", f"{place[name]}={name}:{kind}"]
                for name, (number, _) in kernel.plain.items():
                    words += ["--param", f"{place[name]}={number}"]
                return answered(options.binary, words)

            code, document = asked(text)
            if code != 0:
                found = [json.dumps(document)[:400]]
            else:
                found = compare(tally, family, text, kernel, threads, document, rng)
            if not found and rng.random() < 0.3:
                mutant = broken(rng, text)
                if mutant and threads > 32:
                    code, document = asked(mutant)
                    tally.races += code == 1 and document["fault"] is not None
                    # Where no two threads share bytes a barrier is for nothing: then the values are the same.
                    found = compare(tally, family, mutant, kernel, threads, document, rng) if code == 0 else []
            if found:
                tally.differences += len(found)
                print(f"DIFFERENT ({family}), seed {options.seed}, case {case}: {found[0]}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    with open(os.path.join(options.keep, os.path.basename(path)), "w", encoding="utf-8") as file:
                        file.write(text)
    families = ", ".join(f"{n} {f}" for f, n in sorted(tally.cases.items()))
    print(f"flow: {sum(tally.cases.values())} runs compared ({families}), {tally.elements} elements, {tally.not_followed} not followed, "
          f"{tally.races} kernels without a barrier called races; {tally.differences} differences")
    sys.exit(tally.differences != 0)


if __name__ == "__main__":
    main()
