#!/usr/bin/env python3
"""kernel_descriptors.py --cases N --seed S: random kernels whose descriptors come from rings, loops, shuffles and halves, executed, and `operands` of `swizproof kernel`.

Each kernel has one wgmma with a descriptor at an address of `tile` (.align 1024). The interpreter of ptx_interpreter.py executes it for all lanes, with several
parameters and contents of memory, and notes the descriptors.
  - proved: in each execution all lanes that execute it have one descriptor, its fields are those that are printed, and it starts in the first row of its pattern at
    an address whose low bits are 0
  - refuted: an execution shows a wrong address
  - a kernel of parts that are decided (Case.hard is empty) and that no execution refutes is proved
The last line has the numbers of cases by verdict and of differences; exit code 1 if there are some. --keep DIR keeps the kernels that differ.
"""
import argparse
import collections
import os
import random
import sys
import tempfile

try:
    import numpy as np
    import ptx_interpreter as ptx
except ImportError:
    print("kernel_descriptors.py: not run (numpy is not installed)")
    sys.exit(77)
from asking import answered

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[131072];\n"
ROW, PATTERN = {1: 128, 2: 64, 3: 32}, {1: 1024, 2: 512, 3: 256}


class Case:
    """One kernel: `text`, and in `hard` what the command need not decide."""

    def __init__(self, rng, number):
        self.rng, self.name, self.lines, self.hard = rng, f"k{number}", [], set()
        self.threads = rng.choice([32, 64, 128, 128, 256, 48])
        self.labels = 0
        self.build()

    def emit(self, *lines):
        self.lines += lines

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    # ------------------------------------------------------------------------------------- stages

    def trips(self, register):
        """A number of iterations: a constant, a parameter, or data."""
        how = self.rng.choice(["constant", "parameter", "data", "data"])
        if how == "constant":
            self.emit(f"mov.u32 {register}, {self.rng.choice([1, 2, 3, 4, 6])};")
        elif how == "parameter":
            self.emit(f"ld.param.u32 {register}, [n]; and.b32 {register}, {register}, 15;")
        else:
            self.emit(f"ld.global.u32 {register}, [%rd1+{4 * self.rng.randrange(4)}]; and.b32 {register}, {register}, 15;")

    def first(self):
        """The first stage in %r20, and the number of stages."""
        rng = self.rng
        count = rng.choice([2, 3, 4, 4, 5, 6])
        how = rng.choice(["zero", "zero", "constant", "remainder", "parameter", "data"])
        if how == "zero":
            self.emit("mov.u32 %r20, 0;")
        elif how == "constant":
            self.emit(f"mov.u32 %r20, {rng.randrange(count + 2)};")  # from which a wrap by == may never come
            self.hard.add("first stage")
        elif how == "remainder":
            self.emit(f"ld.param.u32 %r20, [n]; rem.u32 %r20, %r20, {count};")
        elif how == "parameter":
            self.emit("ld.param.u32 %r20, [n];")
            self.hard.add("first stage")
        else:
            self.emit("ld.global.u32 %r20, [%rd1+16];", f"and.b32 %r20, %r20, {rng.choice([1, 3, 7])};")
            self.hard.add("first stage")
        return count

    def next_stage(self, count):
        rng = self.rng
        how = rng.choice(["equal", "equal", "unequal", "above", "signed", "after", "flip", "mask", "rem", "branch"])
        if how == "equal":
            self.emit(f"add.u32 %r21, %r20, 1; setp.eq.u32 %p1, %r20, {count - 1}; selp.b32 %r20, 0, %r21, %p1;")
        elif how == "unequal":
            self.emit(f"add.u32 %r21, %r20, 1; setp.ne.u32 %p1, %r21, {count}; selp.b32 %r20, %r21, 0, %p1;")
        elif how == "above":
            self.emit(f"setp.gt.u32 %p1, %r20, {count - 2}; add.u32 %r21, %r20, 1; selp.b32 %r20, 0, %r21, %p1;")
        elif how == "signed":
            self.emit(f"add.s32 %r21, %r20, 1; setp.lt.s32 %p1, %r21, {count}; selp.b32 %r20, %r21, 0, %p1;")
        elif how == "after":
            self.emit(f"add.u32 %r20, %r20, 1; setp.ge.u32 %p1, %r20, {count}; selp.b32 %r20, 0, %r20, %p1;")
        elif how == "flip":
            self.emit("xor.b32 %r20, %r20, 1;")
        elif how == "mask":
            self.emit("add.u32 %r20, %r20, 1; and.b32 %r20, %r20, 3;")
        elif how == "rem":
            self.emit(f"add.u32 %r20, %r20, 1; rem.u32 %r20, %r20, {count};")
        else:
            label = self.label()
            self.emit(f"add.u32 %r20, %r20, 1; setp.ne.u32 %p1, %r20, {count}; @%p1 bra {label}; mov.u32 %r20, 0;", f"{label}:")
        if how in ("unequal", "branch", "after"):
            self.hard.add(how)
        if how == "flip":  # of a stage that another step counts, the set of values is not an interval
            self.hard.add(how)

    # ------------------------------------------------------------------------------------- descriptors

    def shuffled(self, register):
        rng = self.rng
        how = rng.random()
        if how < 0.5:
            self.emit(f"shfl.sync.idx.b32 {register}, {register}, 0, 31, -1;")
        elif how < 0.6:
            self.emit(f"shfl.sync.idx.b32 {register}, {register}, {rng.choice([5, 31])}, 31, -1;")
            if self.threads % 32:
                self.hard.add("lanes that do not exist")
        elif how < 0.65:
            self.emit(f"shfl.sync.bfly.b32 {register}, {register}, 1, 31, -1;")
            self.hard.add("butterfly")

    def build(self):
        rng = self.rng
        mode = rng.choice([1, 1, 1, 2, 3])
        self.mode, self.size = mode, rng.choice([1024, 2048, 4096, 8192, 16384])
        high = mode << 30 | 64 >> (mode - 1)
        start = rng.choice([0, 0, 1024, 8192, 32768])
        if rng.random() < 0.07:
            start += rng.choice([4, 8, 16, 128, 512])
            self.hard.add("start")
        self.emit("mov.u32 %r1, tile;", f"add.u32 %r2, %r1, {start};" if start else "mov.u32 %r2, %r1;")
        if rng.random() < 0.5:  # a part of the warp group
            self.emit(f"mov.u32 %r3, %tid.x; shr.u32 %r3, %r3, {rng.choice([5, 7])};")
            self.shuffled("%r3")
            self.emit(f"shl.b32 %r3, %r3, {rng.choice([10, 11, 12])}; add.u32 %r2, %r2, %r3;")
        if rng.random() < 0.08:
            self.emit(f"mov.u32 %r3, %tid.x; shl.b32 %r3, %r3, {rng.choice([0, 3, 4, 8])}; add.u32 %r2, %r2, %r3;")
            self.hard.add("lanes")
        self.emit("mov.u32 %r50, %r2;")
        shift = rng.choice(["and", "bfe", "plain"])
        if shift == "bfe":
            self.emit("bfe.u32 %r4, %r2, 4, 14;")
        else:
            self.emit("shr.u32 %r4, %r2, 4;", *(["and.b32 %r4, %r4, 16383;"] if shift == "and" else []))
        leading = rng.choice([0, 0x10000, 0x400000])
        before = rng.random() < 0.5
        if before and leading:
            self.emit(f"or.b32 %r4, %r4, {leading};")
        if rng.random() < 0.7:
            self.shuffled("%r4")
        if not before and leading:
            self.emit(f"or.b32 %r4, %r4, {leading};")
        self.high = high
        loop = rng.choice(["ring", "ring", "ring", "nested", "nested", "counter", "none"])
        if rng.random() < 0.1:
            end = self.label()
            self.emit(f"mov.u32 %r6, %tid.x; setp.lt.u32 %p4, %r6, {rng.choice([1, 32, 40])}; @%p4 bra {end};")
            self.hard.add("lanes that end")
            self.loop(loop)
            self.emit(f"{end}:")
        else:
            self.loop(loop)

    def loop(self, kind):
        rng = self.rng
        if kind == "none":
            self.emit("mov.u32 %r20, 0;")
            return self.use()
        if kind == "counter":
            self.emit("mov.u32 %r20, 0;")
            count = rng.choice([1, 2, 4, 5])
            label = self.label()
            self.emit(f"{label}:")
            self.use()
            self.emit(f"add.u32 %r20, %r20, 1; setp.lt.s32 %p2, %r20, {count}; @%p2 bra {label};")
            return None
        count = self.first()
        self.trips("%r30")
        outer, inner = self.label(), self.label()
        if kind == "nested":
            self.trips("%r31")
            self.emit("mov.u32 %r33, 0;", f"{outer}:")
        self.emit("mov.u32 %r32, 0;", f"{inner}:")
        steps = rng.choice([1, 1, 2, 3])
        at = rng.randrange(steps)
        for k in range(steps):
            if k == at:
                self.use()
            self.next_stage(count)
        self.emit(f"add.u32 %r32, %r32, 1; setp.lt.u32 %p2, %r32, %r30; @%p2 bra {inner};")
        if kind == "nested":
            self.emit(f"add.u32 %r33, %r33, 1; setp.lt.u32 %p2, %r33, %r31; @%p2 bra {outer};")
        return None

    def use(self):
        rng = self.rng
        units = self.size // 16
        how = rng.choice(["shl", "mul", "wide", "lanes"])
        advance = 2 * rng.randrange(4) if self.mode == 1 else 0
        if how == "lanes":
            return self.table(units, advance)
        self.emit(f"shl.b32 %r10, %r20, {units.bit_length() - 1};" if how == "shl" else f"mul.lo.u32 %r10, %r20, {units};")
        if how == "wide":
            self.emit(f"mov.b64 %rd2, {{%r4, {self.high}}}; cvt.u64.u32 %rd3, %r10; add.s64 %rd2, %rd2, %rd3;",
                      f"add.s64 %rd2, %rd2, {advance};")
        else:
            self.emit("add.u32 %r11, %r4, %r10;", *([f"add.s32 %r11, %r11, {advance};"] if advance else []))
            if rng.random() < 0.3:
                self.shuffled("%r11")
            self.emit(f"mov.b64 %rd2, {{%r11, {self.high}}};")
        self.emit("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, %rd2, 1, 1, 1, 0;")

    def table(self, units, advance):
        """Lane i has the start of stage i, and lanes from a number on have 0."""
        rng = self.rng
        held = rng.choice([2, 3, 4, 8, 32])
        lane = rng.choice(["mov.u32 %r40, %laneid;", "mov.u32 %r40, %tid.x; and.b32 %r40, %r40, 31;"])
        self.emit(lane, f"mad.lo.u32 %r41, %r40, {units}, %r4; setp.lt.u32 %p5, %r40, {held}; selp.b32 %r41, %r41, {rng.choice([0, 0, 64])}, %p5;")
        self.emit(f"shfl.sync.idx.b32 %r11, %r41, {rng.choice(['%r20', '%r20', '0', '1'])}, {rng.choice([31, 31, 31, 31, 15])}, -1;",
                  *([f"add.s32 %r11, %r11, {advance};"] if advance else []), f"mov.b64 %rd2, {{%r11, {self.high}}};")
        self.emit("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, %rd2, 1, 1, 1, 0;")
        self.hard.add("lanes that hold stages")

    def text(self):
        body = "\n".join("  " + line for line in self.lines)
        return (f".entry {self.name}(.param .u32 n, .param .u64 g)\n.reqntid {self.threads}, 1, 1\n{{\n.reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<9>; "
                f".reg .f32 %f<9>;\nld.param.u64 %rd1, [g]; cvta.to.global.u64 %rd1, %rd1;\n{body}\n  ret;\n}}\n")


class Recorder(ptx.Program):
    """Notes the descriptor of each lane, and the address that it was made of."""

    def op_wgmma(self, ins):
        value, address, m = self.value(ins, ins.operands[2], 64), self.value(ins, "%r50", 32), self.m

        def run(mask):
            on = self.lanes_on(mask)
            m.found.append((self.by_warp(value()), self.by_warp(address()), on))
        return run


class Machine(ptx.Machine):
    def program(self, function):
        if function.name not in self.programs:
            self.programs[function.name] = Recorder(self, function)
        return self.programs[function.name]


class Executions:
    """Descriptors of all executions; what is wrong in one."""

    def __init__(self, case):
        module = ptx.Module(HEAD + case.text())
        machine = Machine(module, module.functions[case.name])
        self.executed, self.differ, self.outside, self.misaligned, self.absent = False, False, False, False, False
        self.fields, self.other_row = set(), False
        for seed, n in enumerate([0, 1, 2, 3, 4, 5, 7, 12, 0xFFFFFFFF, 1000]):
            machine.found = []
            machine.run((case.threads, 1, 1), seed, steps=20000, params={"n": n}, base=8192)
            self.absent |= machine.reads_absent
            for value, address, on in machine.found:
                for v, a, o in zip(value, address, on):
                    if o.any():
                        self.add(case, v[o], a[o])

    def add(self, case, values, addresses):
        self.executed = True
        self.differ |= len(set(values.tolist())) > 1
        self.misaligned |= bool((addresses % np.uint64(16)).any())
        for value in values.tolist():
            self.fields.add(value >> 14)
            within = value % 16384 * 16 % PATTERN[case.mode]
            self.other_row |= within >= ROW[case.mode]


def differences(case, operand):
    e = Executions(case)
    verdict, wrong = operand["verdict"], []
    right = e.executed and not (e.differ or e.misaligned or e.other_row or len(e.fields) > 1)
    if verdict == "proved" and operand["executed"]:
        if e.executed and not right and not e.absent:
            wrong.append("proved, and wrong in an execution")
        if e.fields and not e.absent and int(operand["descriptor"], 16) >> 14 not in e.fields:
            wrong.append(f"fields {[hex(f << 14) for f in e.fields]}")
    if verdict == "proved" and not operand["executed"] and e.executed:
        wrong.append("executed")
    if verdict == "refuted" and not (e.misaligned or e.other_row):
        wrong.append("refuted, and right in all executions")
    if verdict == "unknown" and right and not case.hard:
        wrong.append("right in all executions: " + operand["reason"])
    return wrong, verdict + (" (hard)" if verdict == "unknown" and case.hard else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--binary")
    parser.add_argument("--keep")
    a = parser.parse_args()
    counts, found = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for start in range(a.first, a.first + a.cases, 100):
            cases = [Case(random.Random(f"{a.seed}/{k}"), k) for k in range(start, min(start + 100, a.first + a.cases))]
            path = os.path.join(folder, "cases.ptx")
            with open(path, "w", encoding="utf-8") as out:
                out.write(HEAD + "".join(c.text() for c in cases))
            _, document = answered(a.binary, ["kernel", path, "--json"])
            kernels = {k["mangled"]: k for k in document["kernels"]}
            for case in cases:
                operands = kernels[case.name]["operands"]
                wrong, kind = differences(case, operands[0]) if len(operands) == 1 else (["not listed"], "none")
                counts[kind] += 1
                if not wrong:
                    continue
                found += 1
                if found <= 5:
                    print(f"DIFFERENT {case.name} (hard {sorted(case.hard)}): {', '.join(wrong)}\n{case.text()}{operands}")
                if a.keep:
                    os.makedirs(a.keep, exist_ok=True)
                    with open(os.path.join(a.keep, case.name + ".ptx"), "w", encoding="utf-8") as out:
                        out.write(HEAD + case.text())
    print(f"{a.cases} cases, {', '.join(f'{k} {v}' for k, v in sorted(counts.items()))}: {found} different")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
