#!/usr/bin/env python3
"""races.py --binary swizproof --cases N --seed S: random kernels in `kernel --races` against a model that executes every thread.

A kernel is a list of statements on one shared array: loads and stores at an address of tid, ctaid, ntid, a parameter and loop counters (sums, products, xor, masks, shifts, modulo, negative strides),
barriers, loops and conditions, some of them different for threads; copies by cp.async of 4, 8 and 16 bytes, commits and waits for groups, in pipelines of stages, in any order, and
some with guards; tiles that wgmma reads, in pipelines of stages, with and without the fences, commits and waits that they need. The model executes all threads of some launches and looks at each byte in each interval. A copy writes in all intervals from its own to the one of the wait for its group,
and its own thread races with it before that wait. wgmma reads in all intervals from its own to the one of the wait for its group: the bytes of its descriptors by the ISA's
formulas, of A each warp its own 16 rows. A write before it, of cp.async the wait for it, needs a fence.proxy.async that is behind it and before wgmma. What is proved has no race in these launches; what is refuted has the race that is named, in the launch that is named, between the two threads that are named.
"""
import argparse
import collections
import functools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

MASK = 0xffffffff
BYTES = 8192
BASE = 1024  # of shared memory on a device


class Generator:
    """One kernel: its PTX, and its statements for the model."""

    def __init__(self, rng, name, kind):
        self.rng, self.name, self.lines, self.registers, self.predicates, self.labels = rng, name, [], 0, 0, 0
        self.block = rng.choice([None, None, (1, 32, 33, 64, 96, 100, 256)[rng.randrange(7)], rng.randrange(2, 130)])
        self.tidy = rng.choice([0.0, 0.5, 0.9, 1.0])
        self.counters, self.accesses, self.odd, self.copies = [], 0, rng.random() < 0.1, rng.random() < 0.5
        self.descriptors = 0
        self.tiles = kind == "tiles"
        if self.tiles:
            self.block, self.tidy = rng.choice([128, 128, 128, 256]), rng.choice([0.9, 1.0])
            self.careful = rng.choice([0.8, 0.9, 1.0])  # how often a fence, a barrier or a wait is there
        self.body = self.statements(0, rng.randrange(2, 5) if self.tiles else rng.randrange(2, 7), True)

    # ------------------------------------------------------------------------------------- expressions: a register, and a function of the environment

    def new(self):
        self.registers += 1
        return f"%r{self.registers}"

    def emit(self, text):
        self.lines.append(text)

    def leaf(self, uniform):
        kinds = ["constant", "n", "ctaid", "ntid"] + (["counter"] * 3 if self.counters else []) + ([] if uniform else ["tid"] * 6)
        kind = self.rng.choice(kinds)
        register = self.new()
        if kind == "constant":
            value = self.rng.choice([0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 100, MASK, MASK - 3])
            self.emit(f"mov.u32 {register}, {value};")
            return register, lambda e: value
        if kind == "counter":
            name = self.rng.choice(self.counters)
            self.emit(f"mov.u32 {register}, {name};")
            return register, lambda e: e[name]
        self.emit(f"ld.param.u32 {register}, [n];" if kind == "n" else f"mov.u32 {register}, %{kind}.x;")
        return register, lambda e: e[kind]

    def expression(self, depth, uniform=False):
        if depth == 0 or self.rng.random() < 0.2:
            return self.leaf(uniform)
        a, f = self.expression(depth - 1, uniform)
        op = self.rng.choice(["add", "add", "sub", "mul", "xor", "and", "or", "shl", "shr", "rem"])
        register = self.new()
        if op in ("shl", "shr", "rem", "and", "mul"):
            by = self.rng.choice({"shl": [1, 2, 3, 5], "shr": [1, 2, 4], "rem": [3, 5, 7, 32, 33], "and": [1, 3, 7, 15, 30, 31, 0x70, 255], "mul": [2, 3, 4, 5, 32, 33]}[op])
            self.emit(f"{ {'shl': 'shl.b32', 'shr': 'shr.u32', 'rem': 'rem.u32', 'and': 'and.b32', 'mul': 'mul.lo.u32'}[op]} {register}, {a}, {by};")
            g = {"shl": lambda x: x << by & MASK, "shr": lambda x: x >> by, "rem": lambda x: x % by, "and": lambda x: x & by, "mul": lambda x: x * by & MASK}[op]
            return register, lambda e: g(f(e))
        b, h = self.expression(depth - 1, uniform)
        self.emit(f"{ {'add': 'add.u32', 'sub': 'sub.u32', 'xor': 'xor.b32', 'or': 'or.b32'}[op]} {register}, {a}, {b};")
        g = {"add": lambda x, y: x + y & MASK, "sub": lambda x, y: x - y & MASK, "xor": lambda x, y: x ^ y, "or": lambda x, y: x | y}[op]
        return register, lambda e: g(f(e), h(e))

    def own(self):
        """An index that each thread may have to itself: tid, swizzled, behind a multiple of the block, or reversed."""
        kind, out = self.rng.choice(["tid", "xor", "row", "reversed", "wide", "half"]), self.new()
        self.emit(f"mov.u32 {out}, %tid.x;")
        if kind == "tid":
            return out, lambda e: e["tid"]
        b, g = self.expression(1, True)
        register, small = self.new(), self.new()
        if kind == "xor":
            self.emit(f"and.b32 {small}, {b}, 31;\nxor.b32 {register}, {out}, {small};")
            return register, lambda e: e["tid"] ^ (g(e) & 31)
        if kind == "row":
            self.emit(f"and.b32 {small}, {b}, 3;\nmad.lo.u32 {register}, {small}, %ntid.x, {out};")
            return register, lambda e: e["tid"] + (g(e) & 3) * e["ntid"] & MASK
        if kind == "reversed":
            self.emit(f"mov.u32 {small}, %ntid.x;\nsub.u32 {small}, {small}, 1;\nsub.u32 {register}, {small}, {out};")
            return register, lambda e: e["ntid"] - 1 - e["tid"] & MASK
        if kind == "wide":
            self.emit(f"and.b32 {small}, {b}, 3;\nshl.b32 {register}, {out}, 2;\nor.b32 {register}, {register}, {small};")
            return register, lambda e: e["tid"] << 2 | (g(e) & 3)
        self.emit(f"shr.u32 {small}, {out}, 1;\nand.b32 {register}, {out}, 1;\nshl.b32 {register}, {register}, 8;\nadd.u32 {register}, {register}, {small};")
        return register, lambda e: ((e["tid"] & 1) << 8) + (e["tid"] >> 1)

    def condition(self, uniform):
        a, f = self.expression(1, uniform)
        b, g = self.expression(self.rng.randrange(2), True)
        op = self.rng.choice(["lt", "ge", "eq", "ne"])
        self.predicates += 1
        predicate = f"%p{self.predicates}"
        self.emit(f"setp.{op}.u32 {predicate}, {a}, {b};")
        compare = {"lt": lambda x, y: x < y, "ge": lambda x, y: x >= y, "eq": lambda x, y: x == y, "ne": lambda x, y: x != y}[op]
        return predicate, lambda e: compare(f(e), g(e))

    # ------------------------------------------------------------------------------------- statements

    def statements(self, depth, count, together):
        return [self.statement(depth, together) for _ in range(count)]

    def statement(self, depth, together):
        if self.tiles and together and self.rng.random() < 0.7:
            return ("if", lambda e: True, self.tile_stage())
        if self.copies and self.rng.random() < (0.1 if self.tiles else 0.5):
            return self.copying(together)
        kind = self.rng.choice(["access"] * 5 + (["barrier"] * 3 if together or self.odd else []) + (["loop", "loop", "if", "if"] if depth < 2 else []))
        if kind == "access":
            return self.access()
        if kind == "barrier":
            self.emit("bar.sync 0;")
            return ("barrier", len(self.lines))
        if kind == "if":
            uniform = self.rng.random() < 0.5
            predicate, holds = self.condition(uniform)
            self.labels += 1
            label = f"$L{self.labels}"
            self.emit(f"@!{predicate} bra {label};")
            body = self.statements(depth + 1, self.rng.randrange(1, 3), together and uniform)
            self.emit(f"{label}:")
            return ("if", holds, body)
        return self.loop(depth, together)

    def loop(self, depth, together):
        uniform = self.rng.random() < 0.6
        self.labels += 1
        label, counter = self.labels, self.new()
        first = self.rng.choice([0, 1, 4])
        step = self.rng.choice([1, 1, 2, 4, MASK])
        self.emit(f"mov.u32 {counter}, {first};")
        start = len(self.lines)
        self.emit(f"$L{label}:")
        bound, limit = (self.leaf(True) if uniform else self.expression(1))
        low, small = self.new(), self.rng.choice([3, 7])
        self.emit(f"and.b32 {low}, {bound}, {small};")
        self.predicates += 1
        predicate = f"%p{self.predicates}"
        if step == MASK:
            self.emit(f"setp.eq.u32 {predicate}, {counter}, 0;")
            ends = lambda e: e[counter] == 0
        else:
            self.emit(f"setp.ge.u32 {predicate}, {counter}, {low};")
            ends = lambda e: e[counter] >= (limit(e) & small)
        self.emit(f"@{predicate} bra $E{label};")
        self.counters.append(counter)
        body = self.statements(depth + 1, self.rng.randrange(1, 4), together and (uniform or step == MASK))
        self.counters.pop()
        self.emit(f"add.u32 {counter}, {counter}, {step};\nbra $L{label};\n$E{label}:")
        del start
        return ("loop", counter, first, step, ends, body)

    def copying(self, together):
        """A copy, a commit or a wait, with a guard or without; or a stage of a pipeline."""
        kind = self.rng.choice(["cp", "cp", "commit", "commit", "wait", "wait", "stage", "stage", "stage"])
        if kind == "stage":
            return ("if", lambda e: True, self.stage(together))
        guard, holds = self.condition(self.rng.random() < 0.5) if self.rng.random() < 0.1 else (None, lambda e: True)
        before = f"@{guard} " if guard else ""
        return ("if", holds, [self.access(before) if kind == "cp" else self.commit(before) if kind == "commit" else self.wait(before)])

    def commit(self, before=""):
        self.emit(f"{before}cp.async.commit_group;")
        return ("commit", "cp")

    def wait(self, before="", pending=None):
        pending = self.rng.choice([0, 0, 1, 2, 3, None]) if pending is None else pending
        self.emit(f"{before}cp.async.wait_{'all' if pending is None else f'group {pending}'};")
        return ("wait", pending, "cp")

    def stage(self, together):
        """Into one of some buffers each thread copies a word of its own; a buffer that was copied before is read at another thread's word."""
        stages, ahead = self.rng.choice([1, 2, 2, 4]), self.rng.randrange(4)
        counter = self.rng.choice(self.counters) if self.counters else self.leaf(True)[0]
        name = counter if self.counters else None
        out = []

        def word(by, index, f):
            which, base = self.new(), self.new()
            self.emit(f"add.u32 {which}, {counter if name else 0}, {by};\nand.b32 {which}, {which}, {stages - 1};\nshl.b32 {which}, {which}, 8;\nadd.u32 {which}, {which}, {index};")
            self.emit(f"shl.b32 {which}, {which}, 2;\nmov.u32 {base}, memory;\nadd.u32 {base}, {base}, {which};")
            return base, lambda e: ((((e[name] if name else 0) + by & MASK) & (stages - 1)) << 8) + f(e) << 2 & MASK

        mine, other = self.new(), self.new()
        self.emit(f"mov.u32 {mine}, %tid.x;")
        base, at = word(ahead, mine, lambda e: e["tid"])
        self.emit(f"cp.async.ca.shared.global [{base}], [%rd], 4;")
        out += [("access", "cp", at, 4), self.commit(), self.wait("", self.rng.choice([0, max(stages - 2, 0), ahead, stages - 1]))]
        if together and self.rng.random() < 0.9:
            self.emit("bar.sync 0;")
            out.append(("barrier", len(self.lines)))
        by = self.rng.choice([0, 1, 3])
        self.emit(f"xor.b32 {other}, {mine}, {by};")
        base, at = word(self.rng.choice([0, 0, 0, 1]), other, lambda e: e["tid"] ^ by)
        self.emit(f"ld.shared.u32 %s, [{base}];")
        out.append(("access", "ld", at, 4))
        if together and self.rng.random() < 0.6:
            self.emit("bar.sync 0;")
            out.append(("barrier", len(self.lines)))
        return out

    # ------------------------------------------------------------------------------------- wgmma

    def tile_stage(self):
        """Threads fill a part of a buffer by stores or copies, and wgmma reads one: with what is needed between, or a part of it."""
        stages, ahead, out = self.rng.choice([1, 2, 2]), self.rng.choice([0, 0, 1]), []
        name = self.rng.choice(self.counters) if self.counters and self.rng.random() < 0.8 else None
        careful = lambda: self.rng.random() < self.careful

        def buffer(by):
            which = self.new()
            self.emit(f"add.u32 {which}, {name or 0}, {by};\nand.b32 {which}, {which}, {stages - 1};\nshl.b32 {which}, {which}, 12;")
            return which, lambda e: ((e[name] if name else 0) + by & MASK & stages - 1) << 12

        def barrier():
            if careful():
                self.emit("bar.sync 0;")
                out.append(("barrier", len(self.lines)))

        def fence():
            if careful():
                self.emit(self.rng.choice(["fence.proxy.async;", "fence.proxy.async.shared::cta;"]))
                out.append(("fence",))

        kind, early = self.rng.choice(["st", "st", "cp", "none"]), self.rng.random() < 0.5
        barrier()
        if kind != "none":
            base, at = buffer(ahead)
            mine, scale, offset = self.new(), self.rng.choice([2, 4]), self.rng.choice([0, 0, 512, 2048])
            self.emit(f"mov.u32 {mine}, %tid.x;\nshl.b32 {mine}, {mine}, {scale};\nadd.u32 {mine}, {mine}, {base};\nadd.u32 {mine}, {mine}, {offset};\nadd.u32 {mine}, {mine}, memory;")
            where = lambda e: at(e) + (e["tid"] << scale) + offset & MASK
            if kind == "st":
                self.emit(f"st.shared.u32 [{mine}], %ddata;")
                out.append(("access", "st", where, 4))
            else:
                self.emit(f"cp.async.ca.shared.global [{mine}], [%rd], {1 << scale};")
                out += [("access", "cp", where, 1 << scale), self.commit()]
                if careful():
                    out.append(self.wait("", self.rng.choice([0, 0, 0, 1])))
        if early:
            fence()
        barrier()
        if not early:
            fence()
        for _ in range(self.rng.choice([1, 1, 2])):
            out += self.wgmma(buffer(0))
        if careful():
            self.emit("wgmma.commit_group.sync.aligned;")
            out.append(("commit", "mma"))
        if careful():
            pending = self.rng.choice([0, 0, 1, 1, 2])
            self.emit(f"wgmma.wait_group.sync.aligned {pending};")
            out.append(("wait", pending, "mma"))
        barrier()
        return out

    def descriptor(self, buffer, rows, major_mn, quarters):
        """A register with a descriptor into a buffer, and the 16-byte units that a thread's warp reads."""
        base, at = buffer
        mode = self.rng.choice([0, 0, 1, 2, 3])
        row = {0: 16, 1: 128, 2: 64, 3: 32}[mode]
        start = self.rng.choice([0, 0, 0, 1024, 2048]) + (self.rng.choice([0, 32, 64, 96]) if mode == 1 and not major_mn else 0)
        stride = self.rng.choice([8 * row, 8 * row, 256, 1024]) if mode else self.rng.choice([256, 256, 128, 512])
        leading = self.rng.choice([128, 128, 1024])
        address, low, d = self.new(), self.new(), f"%k{self.descriptors}"
        self.descriptors += 1
        fields = mode << 62 | stride >> 4 << 32 | leading >> 4 << 16
        self.emit(f"mov.u32 {address}, memory;\nadd.u32 {address}, {address}, {base};\nadd.u32 {address}, {address}, {start};\nshr.u32 {low}, {address}, 4;\nand.b32 {low}, {low}, 16383;\n"
                  f"cvt.u64.u32 {d}, {low};\nor.b64 {d}, {d}, {fields};")

        @functools.lru_cache(None)
        def units(at, quarter):
            out = set()
            for mn in range(rows):
                if quarter is not None and mn // 16 != quarter:
                    continue
                for k in range(16):
                    if not major_mn:
                        offset = mn % 8 * row + mn // 8 * stride + k % 8 * 2 + k // 8 * (16 if mode else leading)
                    elif mode:
                        offset = mn % 8 * 2 + mn // 8 % (row // 16) * 16 + mn // (row // 2) * leading + k % 8 * row + k // 8 * stride
                    else:
                        offset = mn % 8 * 2 + mn // 8 * stride + k % 8 * 16 + k // 8 * leading
                    byte = BASE + at + start + offset
                    out.add(((byte ^ (byte >> 7 & (row // 16 - 1)) << 4) - BASE) // 16)
            return frozenset(out)

        return d, lambda e: units(at(e), e["tid"] // 32 % 4 if quarters else None)

    def wgmma(self, buffer):
        registers, columns = self.rng.random() < 0.6, self.rng.choice([8, 8, 16, 32])
        majors = [self.rng.randrange(2) if self.rng.random() < 0.3 else 0 for _ in range(1 if registers else 2)]
        reads = []
        if not registers:
            a, units = self.descriptor(buffer, 64, majors[0], True)
            reads.append(("access", "mma", units, 0))
        b, units = self.descriptor(buffer, columns, majors[-1], False)
        reads.append(("access", "mma", units, 0))
        result = ", ".join(["%s"] * (columns // 2))
        self.emit(f"wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n{columns}k16.f32.f16.f16 {{{result}}}, { '{%s, %s, %s, %s}' if registers else a}, {b}, 1, 1, 1, "
                  f"{', '.join(str(m) for m in majors)};")
        return reads

    def access(self, copy=None):
        address, f = self.own() if self.rng.random() < self.tidy else self.expression(self.rng.randrange(1, 4))
        size, scale = (4, 2) if self.rng.random() < self.tidy else (self.rng.choice([1, 4, 4, 8] if copy is None else [4, 8, 16]), self.rng.choice([0, 2, 2, 3]))
        masked, register = self.new(), self.new()
        limit = (BYTES - 1) >> scale
        loose = self.rng.random() < 0.3  # may leave the array
        if loose:
            self.emit(f"mov.u32 {masked}, {address};")
        else:
            self.emit(f"and.b32 {masked}, {address}, {limit};")
        self.emit(f"shl.b32 {register}, {masked}, {scale};\nand.b32 {register}, {register}, {MASK & ~(size - 1)};")
        base = self.new()
        self.emit(f"mov.u32 {base}, memory;\nadd.u32 {base}, {base}, {register};")
        kind = "cp" if copy is not None else self.rng.choice(["st", "st", "st", "ld", "ld", "red"])
        if kind == "red" and size != 4:
            kind = "st"
        word = {1: "u8", 4: "u32", 8: "u64", 16: "none"}[size]
        value = self.rng.choice(["data", "tid"])
        if kind == "cp":
            form = self.rng.choice(["cg.shared", "cg.shared::cta" if size == 16 else "ca.shared"]) if size == 16 else "ca.shared"
            self.emit(f"{copy}cp.async.{form}.global [{base}], [%rd], {size}{self.rng.choice(['', '', ', 0', ', %s'])};")
        elif kind == "st":
            stored = f"%d{'w' if size == 8 else ''}{value}"
            self.emit(f"st.shared.{word} [{base}], {stored};")
        elif kind == "ld":
            self.emit(f"ld.shared.{word} %{'sw' if size == 8 else 's'}, [{base}];")
        else:
            self.emit(f"red.shared.add.u32 [{base}], 1;")
        at = lambda e: ((f(e) if loose else f(e) & limit) << scale & MASK) & ~(size - 1)
        return ("access", kind, at, size)

    def ptx(self):
        shape = f".reqntid {self.block}, 1, 1\n" if self.block else ""
        body = "\n".join(self.lines)
        return (f".visible .entry {self.name}(.param .u32 n, .param .u64 p)\n{shape}{{\n.reg .pred %p<{self.predicates + 1}>;\n.reg .b32 %r<{self.registers + 1}>, %s, %ddata, %dtid;\n"
                f".reg .b64 %sw, %dwdata, %dwtid, %rd, %k<{self.descriptors + 1}>;\n.shared .align 1024 .b8 memory[{BYTES}];\nld.param.u64 %rd, [p];\nld.global.u32 %ddata, [%rd];\nld.global.u64 %dwdata, [%rd+8];\n"
                f"mov.u32 %dtid, %tid.x;\ncvt.u64.u32 %dwtid, %dtid;\n{body}\nret;\n}}\n")


class Left(Exception):
    """A thread leaves the array, or takes too many steps."""


FOREVER = 1 << 30
WRITES = ("st", "cp", "red")
Event = collections.namedtuple("Event", "kind at size interval number")  # number: order in its thread; wgmma: `at` has its units of 16 bytes


def meet(a, b):
    """A common byte of two accesses, or nothing."""
    if a.kind == "mma" or b.kind == "mma":
        mma, other = (a, b) if a.kind == "mma" else (b, a)
        return next((byte for byte in range(other.at, other.at + other.size) if byte // 16 in mma.at), None)
    return max(a.at, b.at) if a.at < b.at + b.size and b.at < a.at + a.size else None


class Thread:
    """What one thread does: its accesses, the intervals and the order in which they are, the ends of its copies, and the barriers that it passes."""

    def __init__(self, kernel, environment):
        self.events, self.barriers, self.steps, self.interval = [], [], 0, 0
        # For cp.async and wgmma: those that are not committed; those that are, by group; interval and number of the wait for each.
        self.open, self.groups, self.ends, self.fences = {"cp": [], "mma": []}, {"cp": [], "mma": []}, {}, []
        self.run(kernel.body, dict(environment))

    def run(self, body, e):
        for one in body:
            self.steps += 1
            if self.steps > 4000:
                raise Left
            if one[0] == "access":
                at = one[2](e)
                if max(at) >= BYTES // 16 or min(at) < 0 if one[1] == "mma" else at + one[3] > BYTES:
                    raise Left
                event = Event(one[1], at, one[3], self.interval, self.steps)
                self.events.append(event)
                if event.kind in self.open:
                    self.open[event.kind].append(event)
            elif one[0] == "fence":
                self.fences.append((self.interval, self.steps))
            elif one[0] == "barrier":
                self.barriers.append(one[1])
                self.interval += 1
            elif one[0] == "commit":
                self.groups[one[1]].append(self.open[one[1]])
                self.open[one[1]] = []
            elif one[0] == "wait":
                self.wait(*one[1:])
            elif one[0] == "if":
                if one[1](e):
                    self.run(one[2], e)
            else:
                _, counter, first, step, ends, inside = one
                e[counter] = first
                while not ends(e):
                    self.run(inside, e)
                    e[counter] = e[counter] + step & MASK
                    self.steps += 1

    def wait(self, pending, kind):
        groups = self.groups[kind]
        done = groups if pending is None else groups[:max(len(groups) - pending, 0)]
        for copy in [c for group in done for c in group] + (self.open[kind] if pending is None else []):
            self.ends.setdefault(copy.number, (self.interval, self.steps))

    def last(self, event):
        """The last interval in which an access may be executed, and the number of its thread's wait for it."""
        if event.kind not in self.open:
            return event.interval, event.number
        return self.ends.get(event.number, (FOREVER, FOREVER))

    def in_interval(self, interval, alone):
        """Accesses of an interval; of a thread that has ended those behind its last barrier. alone: no barrier orders them."""
        at = min(interval, self.interval)
        return [event for event in self.events if alone or event.interval <= at <= self.last(event)[0]]

    def own(self):
        """Bytes that a copy of the thread may write when another access of it meets them."""
        for copy in self.events:
            if copy.kind in self.open:
                for other in self.events:
                    if copy.number < other.number < self.last(copy)[1] and (copy.kind == "cp" or other.kind in WRITES) and meet(copy, other) is not None:
                        yield copy, other


def race(threads):
    """A race of a block: interval and byte of two threads. What a thread does behind its last barrier is ordered with no later interval; barriers that differ order nothing."""
    longest = max((t.barriers for t in threads), key=len)
    together = all(t.barriers == longest[:len(t.barriers)] for t in threads)  # some may end before others
    for t in threads:
        for copy, other in t.own():
            return other.interval, meet(copy, other)
    for interval in range(max(t.interval for t in threads) + 1):
        seen, tiles = collections.defaultdict(dict), collections.defaultdict(set)
        for number, t in enumerate(threads):
            for event in t.in_interval(interval, not together):
                if event.kind == "mma":
                    for unit in event.at:
                        tiles[unit].add(number)
                    continue
                for byte in range(event.at, event.at + event.size):
                    seen[byte].setdefault("st" if event.kind == "cp" else event.kind, set()).add(number)
        for byte, kinds in seen.items():
            stores = kinds.get("st", set())
            others = kinds.get("ld", set()) | kinds.get("red", set()) | stores
            reads = tiles.get(byte // 16, set())
            writes = stores | kinds.get("red", set())
            if writes and reads and len(writes | reads) > 1:
                return interval, byte
            if (stores and len(others) > 1) or (kinds.get("ld") and kinds.get("red") and len(kinds["ld"] | kinds["red"]) > 1):
                return interval, byte
    return unfenced(threads)


def unfenced(threads):
    """A write and wgmma behind it with no fence.proxy.async between, in blocks without races."""
    fences = [(number, *at) for number, t in enumerate(threads) for at in t.fences]
    before = lambda a, b: a[1] < b[1] or (a[0] == b[0] and a[2] < b[2])  # thread, interval, number
    writes = collections.defaultdict(set)  # by unit
    for number, t in enumerate(threads):
        for event in t.events:
            if event.kind in WRITES:
                for unit in range(event.at // 16, (event.at + event.size - 1) // 16 + 1):
                    writes[unit].add((number, *t.last(event)))
    for number, t in enumerate(threads):
        for event in t.events:
            if event.kind != "mma":
                continue
            read = (number, event.interval, event.number)
            for unit in event.at:
                for write in writes.get(unit, ()):
                    if before(write, read) and not any(before(write, f) and before(f, read) for f in fences):
                        return event.interval, unit * 16
    return None


def launch(kernel, block, n, ctaid):
    return [Thread(kernel, {"tid": t, "ntid": block, "n": n, "ctaid": ctaid}) for t in range(block)]


def covers(event, byte):
    return byte // 16 in event.at if event.kind == "mma" else event.at <= byte < event.at + event.size


def check(kernel, answer, rng):
    """A complaint, or nothing."""
    verdict = answer["verdict"]
    if verdict == "refuted":
        one = answer["found"][0]
        block, n, ctaid = one["block"][0], one["params"].get("n", 0), one["block_index"][0]
        if not 1 <= block <= 1024 or (kernel.block and block != kernel.block):
            return f"no launch has such a block: {one['block']}"
        byte = one["byte"] - BASE
        accesses, threads = [], []
        for side in ("first", "second"):
            t = one[side]["thread"][0]
            try:
                thread = Thread(kernel, {"tid": t, "ntid": block, "n": n, "ctaid": ctaid})
            except Left:
                return None  # the race comes before the thread leaves its array: not judged
            threads.append(thread)
            wanted = one[side]["op"][:2].replace("re", "red").replace("wg", "mma")
            accesses.append(any(a.kind == wanted and covers(a, byte) and a.interval <= one["barriers"] <= thread.last(a)[0] for a in thread.events))
        if one["first"]["thread"] == one["second"]["thread"]:
            found = any(all(covers(a, byte) for a in pair) for pair in threads[0].own())
            return None if found else f"the thread has waited for its copy: {json.dumps(one)}"
        writes = any(one[side]["op"].startswith(("st", "red", "cp")) for side in ("first", "second"))
        return None if all(accesses) and writes else f"the race is none: {json.dumps(one)}"
    if verdict == "proved":
        for _ in range(2 if kernel.tiles else 5):
            block = kernel.block or rng.choice([1, 2, 3, 31, 32, 33, 64, 65, 128])
            n, ctaid = rng.choice([0, 1, 2, 3, 5, 8, 31, 32, 100, 1024, MASK, rng.getrandbits(32)]), rng.choice([0, 0, 1, 2, 5])
            try:
                found = race(launch(kernel, block, n, ctaid))
            except Left:
                continue
            if found:
                return f"race free, but block {block}, n = {n}, ctaid = {ctaid} has a race: interval {found[0]}, byte {found[1]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=["any", "tiles", "plain"], default="any", help="tiles: kernels with wgmma alone")
    given = parser.parse_args()
    counts, wrong, done = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while done < given.cases:
            count = min(50, given.cases - done)
            kernels = [Generator(random.Random(f"{given.seed} {done + k}"), f"k{done + k}", given.kind if given.kind != "any" else "tiles" if (done + k) % 3 == 0 else "plain")
                       for k in range(count)]
            path = pathlib.Path(folder) / "cases.ptx"
            path.write_text(".version 8.0\n.target sm_90a\n.address_size 64\n" + "".join(k.ptx() for k in kernels))
            r = subprocess.run([given.binary, "kernel", path, "--races", "--json"], capture_output=True, text=True, check=False)
            if r.returncode not in (0, 1, 3):
                sys.exit(f"seed {given.seed}, cases from {done}: exit code {r.returncode}: {r.stderr[:500]}")
            answers = {k["mangled"]: k["races"] for k in json.loads(r.stdout)["kernels"]}
            for kernel in kernels:
                answer = answers.get(kernel.name, {"verdict": "proved"})
                counts[answer["verdict"]] += 1
                counts[answer["verdict"], any("cp.async.c" in line for line in kernel.lines)] += 1
                counts[answer["verdict"], "wgmma"] += any("wgmma" in line for line in kernel.lines)
                complaint = check(kernel, answer, random.Random(f"{given.seed} {kernel.name} launches"))
                if complaint:
                    wrong += 1
                    print(f"seed {given.seed}, {kernel.name}: {complaint}\n{kernel.ptx()}")
            done += count
    print(f"{done} kernels: {counts['proved']} proved, {counts['refuted']} refuted, {counts['unknown']} unknown; {wrong} wrong; "
          f"with copies {counts['proved', True]} proved, {counts['refuted', True]} refuted, {counts['unknown', True]} unknown")
    print("with wgmma " + ", ".join(f"{counts[v, 'wgmma']} {v}" for v in ("proved", "refuted", "unknown")))
    if wrong or given.kind == "any" and not all(counts[v, w] for v in ("proved", "refuted") for w in (True, "wgmma")):
        sys.exit(1)


if __name__ == "__main__":
    main()
