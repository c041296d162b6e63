#!/usr/bin/env python3
"""kernel_operands.py --cases N --seed S: random kernels with descriptors and bulk copies, and `operands` of `swizproof kernel` compared with all executions.

A model of its own, from PTX ISA 9.1 (9.7.9.25.4.1, 9.7.9.25.5.2, 9.7.15.5.1, 9.7.16.4.1): each value of a kernel is a line of PTX and a function of the
array's base, the thread, the iteration and the parameter n. All bases that .align permits modulo 1024, all threads, iterations up to a bound and some n are run.
  - fields, needed bytes, array and verdict are as the executions have them; `guaranteed` divides in all of them, and no larger power of two does
  - proved: no execution is wrong. refuted: one is, with the base that is named. An operand is wrong if its address is no multiple of 16, 128 or 8 bytes, if its bytes leave its array, if its
    descriptor has no mode or version, or if bases move its start to another row of the swizzle pattern
  - unknown: only where a kernel has what the command does not decide (Case.open says what), or where a descriptor starts in another row than the first
The last line has the numbers of cases by verdict and of differences; exit code 1 if there are some. --binary PATH asks a program in place of the Python
module; --keep DIR keeps the kernels that differ.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("kernel_operands.py: not run (numpy is not installed)")
    sys.exit(77)

#: mode: bytes of a row, of the pattern, numbers of wgmma and tcgen05
MODES = {"none": (16, 0, 0, 0), "32B": (32, 256, 3, 6), "64B": (64, 512, 2, 4), "128B": (128, 1024, 1, 2), "128B_ATOM_32B": (128, 1024, None, 1)}
FIRST = 4096  #: a base: this plus every residue modulo 1024 that .align permits
WORD = 0xFFFFFFFF


def lowest_bit(x):
    return x & -x


class Value:
    """A 32-bit register and what it holds: a function of the context."""

    def __init__(self, name, of):
        self.name, self.of = name, of


class Context:
    """One run: bases along the first axis, threads along the second; the parameter and the iteration."""

    def __init__(self, bases, threads, n, i):
        self.base = np.asarray(bases, dtype=np.int64).reshape(-1, 1)
        self.tid = np.arange(threads, dtype=np.int64).reshape(1, -1)
        self.n, self.i = n, i


class Case:
    """One kernel with one operand that is looked at: `text`, and all executions."""

    def __init__(self, rng, number):
        self.rng, self.name = rng, f"k{number}"
        self.lines, self.head, self.registers = [], "", 1
        self.open, self.rounds = set(), False
        self.array, self.align = f"a{number}", rng.choice([1, 2, 4, 8, 16, 16, 16, 32, 64, 128, 128, 256, 512, 1024, 1024, 1024, 2048])
        self.threads = rng.choice([32, 32, 64, 48, 20])
        self.ns = [0]
        extern = rng.random() < 0.5
        self.bytes = None if extern else 32768  # of a dynamic array the start is known
        self.declaration = f".extern .shared .align {self.align} .b8 {self.array}[];" if extern else f".shared .align {self.align} .b8 {self.array}[{self.bytes}];"
        self.kind = rng.choice(["wgmma", "wgmma", "wgmma", "tcgen05", "bulk", "tensor", "store", "mbarrier", "tile"])
        self.trips, self.guard, self.trap = None, None, None
        self.build()

    # ------------------------------------------------------------------------------------- PTX

    def emit(self, line):
        self.lines.append("  " + line)

    def fresh(self, of, template, *names):
        name = f"%r{self.registers}"
        self.registers += 1
        self.emit(template.format(name, *names) + ";")
        return Value(name, of)

    def plus(self, a, k):
        return a if k == 0 else self.fresh(lambda c: a.of(c) + k & WORD, "add.s32 {}, {}, {}", a.name, k)

    def add(self, a, b):
        return self.fresh(lambda c: a.of(c) + b.of(c) & WORD, "add.u32 {}, {}, {}", a.name, b.name)

    def times(self, a, k):
        form = "mul.lo.s32 {}, {}, {}" if k & (k - 1) or self.rng.random() < 0.5 else "shl.b32 {}, {}, {}"
        return self.fresh(lambda c: a.of(c) * k & WORD, form, a.name, k if form[0] == "m" else k.bit_length() - 1)

    def masked(self, a, mask):
        return self.fresh(lambda c: a.of(c) & mask, "and.b32 {}, {}, {}", a.name, mask)

    def rounded(self, a):
        """a, or a rounded up or down to some power of two, as code writes it."""
        to = self.rng.choice([16, 64, 128, 256, 512, 1024, 1024, 1024, 4096])
        how = self.rng.choice(["", "", "up", "up", "down", "rem", "div"])
        self.rounds = how != ""
        if how == "up":
            return self.masked(self.plus(a, to - 1), WORD & -to)
        if how == "down":
            return self.masked(a, WORD & -to)
        if how == "rem":
            rest = self.masked(a, to - 1)
            return self.plus(self.fresh(lambda c: a.of(c) - rest.of(c) & WORD, "sub.u32 {}, {}, {}", a.name, rest.name), to)
        if how == "div":
            up = self.plus(a, to - 1)
            self.open.add("division")
            return self.times(self.fresh(lambda c: up.of(c) // to, "div.u32 {}, {}, {}", up.name, to), to)
        return a

    def address(self, tile=False):
        rng = self.rng
        base = self.fresh(lambda c: c.base + 0 * c.tid, "mov.u32 {}, {}", self.array)
        at = self.rounded(base)
        at = self.plus(at, rng.choice([0, 0, 0, 8192, 1024, 512, 128, 64, 32, 16, 8, 4, 3072, 1000]) if not tile else rng.choice([0, 8192]))
        if self.trips is not None:
            stage = Value("%r900", lambda c: c.i + 0 * c.tid + 0 * c.base)
            if rng.random() < 0.3:
                stage = self.masked(stage, rng.choice([1, 3]))
            at = self.add(at, self.times(stage, rng.choice([8192, 1024, 256, 128, 64, 32, 16, 8, 1000])))
        if tile:
            return at
        if rng.random() < 0.15:
            tid = self.fresh(lambda c: c.tid + 0 * c.base, "mov.u32 {}, %tid.x")
            if rng.random() < 0.5:
                tid = self.fresh(lambda c: tid_of(c) >> 5, "shr.u32 {}, {}, 5", tid.name)
            at = self.add(at, self.times(tid, rng.choice([1024, 128, 32, 16, 8])))
        if rng.random() < 0.1:
            n = self.parameter(range(0, 65))
            at = self.add(at, self.times(n, rng.choice([1024, 128, 64, 16, 8])))
            self.open.add("parameter")
        return at

    def parameter(self, values):
        self.ns = sorted(set(self.ns) | set(values))
        return self.fresh(lambda c: c.n + 0 * c.tid + 0 * c.base, "ld.param.u32 {}, [n]")

    # ------------------------------------------------------------------------------------- lanes and loops

    def condition(self):
        """Which lanes execute it, as a function, and the predicate %p1."""
        rng = self.rng
        how = rng.choice(["", "", "", "below", "equal", "never", "elect", "elect", "n", "data", "equal n"])
        if how == "":
            return lambda c: np.ones((len(c.base), self.threads), dtype=bool)
        tid = self.fresh(lambda c: c.tid, "mov.u32 {}, %tid.x")
        if how in ("below", "equal", "never"):
            k = rng.randrange(self.threads) + (1 if how == "below" else 0)
            k = 5000 if how == "never" else k
            self.emit(f"setp.{'lt' if how == 'below' else 'eq'}.u32 %p1, {tid.name}, {k};")
            return (lambda c: (c.tid < k) & (c.base >= 0)) if how == "below" else (lambda c: (c.tid == k) & (c.base >= 0))
        if how == "elect":
            self.emit("elect.sync _|%p1, -1;")
            self.elects = True
            # Any lane may be elected: a violation must be one in all of them, and so must be what is proved.
            return lambda c: np.ones((len(c.base), self.threads), dtype=bool)
        if how in ("n", "equal n"):
            n = self.parameter([0, 1, 7, 77, 100])
            self.emit(f"setp.{'lt' if how == 'n' else 'eq'}.u32 %p1, {n.name}, 77;")
            self.open.add("parameter")
            return (lambda c: (c.tid >= 0) & (c.base >= 0) & (c.n < 77)) if how == "n" else (lambda c: (c.tid >= 0) & (c.base >= 0) & (c.n == 77))
        self.emit("ld.param.u64 %rd8, [g]; cvta.to.global.u64 %rd8, %rd8; ld.global.u32 %r950, [%rd8]; setp.eq.u32 %p1, %r950, 0;")
        self.open.add("data")
        return lambda c: np.ones((len(c.base), self.threads), dtype=bool)

    elects = False

    def build(self):
        rng = self.rng
        if rng.random() < 0.1:  # other bases end the kernel
            to = rng.choice([128, 512, 1024])
            base = self.fresh(lambda c: c.base, "mov.u32 {}, {}", self.array)
            rest = self.masked(base, to - 1)
            self.emit(f"setp.ne.u32 %p2, {rest.name}, 0; @%p2 trap;")
            self.trap = to
        loop = rng.choice(["", "", "", "constant", "constant", "n"])
        if loop:
            self.trips = rng.choice([1, 2, 3, 4, 5, 8]) if loop == "constant" else "n"
            if loop == "n":
                limit = self.parameter([0, 1, 2, 3, 5, 9, 40]).name
                self.open.add("parameter")
            else:
                limit = self.trips
            self.emit("mov.u32 %r900, 0;")
            self.emit("LOOP:")
            if loop == "constant" and 1024 // min(self.align, 1024) * (self.trips + 1) >= 4096:
                self.open.add("more cases than the command tries")
        self.guard = self.condition()
        guarded = len(self.lines) and "%p1" in " ".join(self.lines)
        self.operand(guarded)
        if loop:
            self.emit(f"add.u32 %r900, %r900, 1; setp.lt.u32 %p3, %r900, {limit}; @%p3 bra LOOP;")

    def of_leader(self, at):
        """The same address in the leader alone: all elect.sync of one mask have one leader."""
        if not self.elects or self.rng.random() < 0.6:
            return at
        self.emit("elect.sync _|%p5, -1;")
        return self.fresh(at.of, "selp.b32 {}, {}, 0, %p5", at.name)

    def of_block(self, at):
        """The same address, also of another block: as far from its array."""
        how = self.rng.choice(["", "", "1", "%r901", "%cluster_ctarank", "mask"])
        if how in ("", "mask"):
            return self.fresh(at.of, "and.b32 {}, {}, 0xfeffffff", at.name) if how else at
        if how[1:] == "cluster_ctarank":
            self.emit(f"mov.u32 %r901, {how}; xor.b32 %r901, %r901, 1;")
            how = "%r901"
        return self.fresh(at.of, "mapa.shared::cluster.u32 {}, {}, {}", at.name, how)

    def operand(self, guarded):
        rng, on = self.rng, "@%p1 " if guarded else ""
        self.unit, self.fields, self.wrong, self.pattern, self.size = 16, None, "", None, None
        if self.kind in ("wgmma", "tcgen05"):
            return self.descriptor(on, self.of_leader(self.address()))
        if self.kind == "tile":  # a destination, and a descriptor that may read it
            at = self.address(tile=True)
            self.kind, self.unit = "tensor", 128
            self.address_of = at.of
            self.tensor(on, at)
            other = self.plus(at, rng.choice([0, 0, 32, 96, 128, 4096]))
            lost = self.unit, self.address_of
            self.descriptor("", other, reader="wgmma", plain=True)
            (self.unit, self.address_of), self.fields = lost, None
            self.pattern = None  # both swizzle bits of the address: every base of the copy is right
            return None
        at = self.of_leader(self.address())
        if self.kind != "store":
            at = self.of_block(at)
        self.address_of = at.of
        if self.kind == "tensor":
            self.unit = 128
            return self.tensor(on, at)
        if self.kind == "store":
            self.unit = 128
            return self.emit(f"{on}cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {{%r901}}], [{at.name}];")
        if self.kind == "mbarrier":
            self.unit = self.size = 8
            self.emit("mov.u32 %r902, big;")
            return self.emit(f"{on}cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r902], [%rd1, {{%r901}}], [{at.name}];")
        size = self.size = rng.choice([16, 64, 64, 64, 24, 8, 4096, 16384, 32768, 32784])
        self.wrong = "size" if size % 16 else ""
        self.emit("mov.u32 %r902, big;")
        return self.emit(f"{on}cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{at.name}], [%rd1], {size}, [%r902];")

    def tensor(self, on, at):
        self.emit("mov.u32 %r902, big;")
        self.emit(f"{on}cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{at.name}], [%rd1, {{%r901}}], [%r902];")

    def descriptor(self, on, at, reader=None, plain=False):
        rng = self.rng
        reader = reader or self.kind
        mode = rng.choice([m for m in MODES if reader == "tcgen05" or MODES[m][2] is not None] + ["128B"] * 3)
        row, pattern, of_wgmma, of_tcgen05 = MODES[mode]
        lbo, sbo = rng.choice([0, 16, 128, 2048]), rng.choice([0, 256, 1024, 4096])
        offset = 0 if plain else rng.choice([0] * 8 + [1, 3, 4])
        bits = lbo >> 4 << 16 | sbo >> 4 << 32 | offset << 49
        bits |= of_wgmma << 62 if reader == "wgmma" else of_tcgen05 << 61 | 1 << 46
        self.fields = {"mode": mode, "leading_byte_offset": lbo, "stride_byte_offset": sbo, "base_offset": offset, "descriptor": f"{bits:#018x}"}
        if reader == "tcgen05" and rng.random() < 0.15:
            wrong = rng.choice(["mode", "version"])
            bits = bits & ~(7 << 61) | rng.choice([3, 5, 7]) << 61 if wrong == "mode" else bits & ~(7 << 46) | rng.choice([0, 2, 3]) << 46
            self.wrong, self.fields = wrong, None
        self.moved = at_constant(at, self)
        self.unit, self.address_of = 16, at.of
        if pattern and self.fields:
            # A base offset counts lines of 128 bytes from a multiple of 1024 on.
            self.pattern = (1024 if offset else pattern, row, 128 * offset, False, 512 if mode == "128B_ATOM_32B" else pattern)
        step = at
        if rng.random() < 0.6:
            step = self.masked(at, 0x3FFFF)
        step = self.fresh(None, "shr.u32 {}, {}, 4", step.name)  # `at` is looked at, not what is made of it
        if rng.random() < 0.5:
            step = self.masked(step, 0x3FFF)
        self.emit(f"cvt.u64.u32 %rd2, {step.name}; {rng.choice(['or.b64', 'add.s64'])} %rd3, %rd2, {bits:#x};")
        self.advance = 0
        if rng.random() < 0.6:
            self.advance = 16 * rng.choice([1, 2, 2, 4, 6, 8, 64, 128])
            if rng.random() < 0.5:
                self.emit(f"add.s64 %rd3, %rd3, {self.advance // 16};")
            else:
                self.emit(f"mov.b64 {{%r903, %r904}}, %rd3; add.s32 %r903, %r903, {self.advance // 16}; mov.b64 %rd3, {{%r903, %r904}};")
        if not plain and rng.random() < 0.04:
            self.emit("ld.param.u32 %r905, [n]; cvt.u64.u32 %rd4, %r905; shl.b64 %rd4, %rd4, 32; xor.b64 %rd3, %rd3, %rd4;")
            self.fields, self.wrong, self.pattern = None, "", None
            self.open.add("fields")
        if reader == "wgmma":
            self.emit(f"{on}wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f1,%f2,%f3,%f4}}, {{%r906,%r906,%r906,%r906}}, %rd3, 1, 1, 1, 0;")
        else:
            self.emit(f"{on}tcgen05.mma.cta_group::1.kind::f16 [%r906], [%r907], %rd3, %r908, %p4;")
        self.is_descriptor = True

    is_descriptor = False
    advance = 0

    def text(self):
        body = "\n".join(self.lines)
        return (f"{self.declaration}\n.entry {self.name}(.param .u32 n, .param .u64 g)\n.reqntid {self.threads}, 1, 1\n{{\n"
                f".reg .pred %p<9>; .reg .b32 %r<999>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\nld.param.u64 %rd1, [g];\n{body}\n  ret;\n}}\n")

    # ------------------------------------------------------------------------------------- all executions

    def executions(self):
        """Addresses (bases x threads), lanes that execute, n and iteration of each step of each run."""
        align = self.align
        bases = [FIRST * max(1, align // FIRST) + r for r in range(0, 1024, align)] if align < 1024 else [max(FIRST, align)]
        for n in self.ns:
            trips = 1 if self.trips is None else max(1, n) if self.trips == "n" else self.trips
            for i in range(trips):
                c = Context(bases, self.threads, n, i)
                lanes = self.guard(c) & np.ones((len(bases), self.threads), dtype=bool)
                if self.trap:
                    lanes = lanes & (c.base % self.trap == 0)
                at = np.broadcast_to(self.address_of(c) + self.advance * (1 if self.fields or self.is_descriptor and self.unit == 16 else 0), lanes.shape)
                yield bases, at, lanes, n, i


def tid_of(c):
    return c.tid + 0 * c.base


def at_constant(at, case):
    """What an address adds to its base in thread 0 and iteration 0, without rounding's part."""
    return int(at.of(Context([1 << 17], case.threads, 0, 0))[0, 0]) - (1 << 17)


class Expected:
    """Verdict of the executions: which are wrong, with which base, and what divides."""

    def __init__(self, case):
        self.executed, self.outside_row, self.lanes_differ, self.elected_lanes_differ = False, False, False, False
        self.bad_bases, self.moved = set(), False
        pattern = case.pattern
        self.needed = max(case.unit, pattern[0] if pattern else 0)
        self.guaranteed = self.needed
        self.half, self.leaves = False, False
        for bases, at, lanes, _, _ in case.executions():
            if not lanes.any():
                continue
            self.executed = True
            self.elected_lanes_differ |= case.elects and bool((at != at[:, :1]).any())
            if case.kind == "wgmma":  # each lane issues a tcgen05.mma of its own
                for w in range(0, case.threads, 32):
                    part, on = at[:, w:w + 32] % (1 << 18), lanes[:, w:w + 32]
                    for x, o in zip(part, on):
                        self.lanes_differ |= o.any() and len(set(x[o])) > 1
            if case.size is not None:
                first = at - np.asarray(bases, dtype=np.int64).reshape(-1, 1)
                end = first if case.bytes is None else first + case.size - case.bytes
                self.leaves |= bool((((first < 0) | ((end > 0) & (case.bytes is not None))) & lanes).any())
            bad = (at % case.unit != 0) & lanes
            if bad.any():
                for row in np.nonzero(bad.any(axis=1))[0]:
                    self.bad_bases.add(bases[row] % 1024)
                self.guaranteed = min(self.guaranteed, int(lowest_bit(at[bad] % 1024).min()))
            if case.wrong:
                self.bad_bases |= {b % 1024 for b, o in zip(bases, lanes.any(axis=1)) if o}
            if pattern:
                size, row, shift, anywhere, least = pattern
                within = (at - shift) % size
                for t in range(case.threads):
                    x = within[:, t][lanes[:, t] & ~bad[:, t]]
                    ok = [b % 1024 for b, o, w in zip(bases, lanes[:, t], bad[:, t]) if o and not w]
                    if not len(x):
                        continue
                    apart = (x - x[0]) % size
                    if (apart != 0).any():
                        self.guaranteed = min(self.guaranteed, int(lowest_bit(apart[apart != 0]).min()))
                    rows = x // row
                    for b, r, d in zip(ok, rows, apart):
                        if r != rows[0]:
                            if least and d % least == 0:
                                self.half = True
                            else:
                                self.bad_bases.add(b if r != 0 else ok[0])
                                self.moved = True
                    if not anywhere and (rows != 0).any():
                        self.outside_row = True


def differences(case, operand):
    """In what an operand's entry is not what the executions say; a list of words."""
    e = Expected(case)
    wrong = []
    verdict = operand["verdict"]
    if operand["needed"] != e.needed and "fields" not in case.open and not case.wrong:
        wrong.append(f"needed {e.needed}")
    if operand["array"] != case.array:
        wrong.append("array")
    for key, value in (case.fields or {}).items():
        if operand[key] != value:
            wrong.append(f"{key} {value}")
    if not e.executed:
        if verdict != "proved" and not case.open or operand["executed"] and not case.open:
            wrong.append("not executed")
        return wrong, "not executed"
    may_be_open = bool(case.open) or e.lanes_differ or e.elected_lanes_differ or e.half
    if "fields" in case.open or e.lanes_differ:
        if verdict == "proved":
            wrong.append("proved, and its fields or lanes differ")
        return wrong, "fields"
    within = operand.get("in_bounds")
    if within is not None and within == e.leaves:
        wrong.append("bounds")
    if e.leaves and within is None and not may_be_open and not case.rounds and verdict != "refuted":
        wrong.append("leaves its array in an execution")
    bad = bool(e.bad_bases or within is False) and "data" not in case.open
    if bad and verdict != "refuted" and not may_be_open:
        wrong.append("wrong in an execution")
    if (e.bad_bases or e.half or e.outside_row) and verdict == "proved":
        wrong.append("proved, and wrong in an execution")
    if verdict == "refuted":
        if not bad:
            wrong.append("refuted, and right in all executions")
        elif within is not False and operand["base"] is not None and operand["base"] % 1024 not in e.bad_bases:
            wrong.append(f"base, not among {sorted(e.bad_bases)[:8]}")
    if not bad and not e.outside_row and verdict == "unknown" and not may_be_open:
        wrong.append("right in all executions")
    if e.outside_row and not bad and verdict != "unknown":
        wrong.append("starts in another row")
    if not case.open and not e.lanes_differ and not case.wrong and operand["guaranteed"] != e.guaranteed:
        wrong.append(f"guaranteed {e.guaranteed}")
    if case.open and operand["guaranteed"] and operand["guaranteed"] > e.guaranteed:
        wrong.append(f"guaranteed at most {e.guaranteed}")
    return wrong, verdict


def ask(binary, words):
    if binary:
        r = subprocess.run([binary] + words, capture_output=True, text=True, check=False)
        return r.stdout, r.stderr
    from swizproof import _swizproof
    _, document, complaint = _swizproof.answer([w.encode() for w in words])
    return document.decode(), complaint.decode()


def operand_of(case, kernel):
    """The entry that the case is about."""
    what = {"wgmma": "descriptor B", "tcgen05": "descriptor B", "mbarrier": "mbarrier", "store": "source"}.get(case.kind, "destination")
    found = [o for o in kernel["operands"] if o["operand"] == what]
    return found[0] if len(found) == 1 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--binary")
    parser.add_argument("--keep")
    a = parser.parse_args()
    counts, found, compared = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for start in range(a.first, a.first + a.cases, 50):
            cases = [Case(random.Random(f"{a.seed}/{k}"), k) for k in range(start, min(start + 50, a.first + a.cases))]
            path = os.path.join(folder, "cases.ptx")
            with open(path, "w", encoding="utf-8") as out:
                out.write(".version 9.0\n.target sm_100a\n.address_size 64\n.shared .align 1024 .b8 big[1024];\n" + "".join(c.text() for c in cases))
            document, complaint = ask(a.binary, ["kernel", path, "--json", "--base", "ptx"])
            if not document:
                print("no answer:", complaint)
                return 1
            kernels = {k["mangled"]: k for k in json.loads(document)["kernels"]}
            for case in cases:
                compared += 1
                operand = operand_of(case, kernels[case.name])
                wrong, kind = differences(case, operand) if operand else (["not listed"], "none")
                counts[kind] += 1
                if wrong:
                    found += 1
                    if found <= 5:
                        print(f"DIFFERENT {case.name} ({case.kind}, open {sorted(case.open)}): {', '.join(wrong)}\n{case.text()}{json.dumps(operand)}")
                    if a.keep:
                        os.makedirs(a.keep, exist_ok=True)
                        with open(os.path.join(a.keep, case.name + ".ptx"), "w", encoding="utf-8") as out:
                            out.write(".version 9.0\n.target sm_100a\n.address_size 64\n.shared .align 1024 .b8 big[1024];\n" + case.text())
    print(f"{compared} cases, {', '.join(f'{k} {v}' for k, v in sorted(counts.items()))}: {found} different")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
