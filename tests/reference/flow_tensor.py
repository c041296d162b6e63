#!/usr/bin/env python3
"""flow_tensor.py --binary SWIZPROOF --cases N --seed S: a reference model of Tensor Memory for `swizproof flow`, written from the PTX ISA alone.

The figures of 9.7.16.2.3.1 show the thread and the register of each cell: `holder` is their transcript, from (lane, column) to (thread, register). Random kernels of up to
four warps fill 32 columns, store some cells by one shape and load some by another, several rounds each. A case is a round. The numbers that are stored are chosen so that
each element of the result is its own index. A part of the kernels lacks a wait, leaves the columns or the lanes of the warp, reads what nothing has written, or frees or
allocates another number of columns: the model says from sets of cells in flight if the kernel is right. The last line has the numbers; exit code 1 if there are differences.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

COLUMNS = 32
#: Shape: lanes, columns and registers of .x1.
SHAPES = {"32x32b": (32, 1, 1), "16x64b": (16, 2, 1), "16x128b": (16, 4, 2), "16x256b": (16, 8, 4), "16x32bx2": (16, 1, 1)}


def holder(shape, lane, column):
    """Thread and register of a cell, counted from the address, as the figures draw them."""
    low, row = lane < 8, lane % 8
    if shape == "32x32b":  # a lane is a thread, a column a register
        return lane, column
    if shape == "16x64b":  # lanes 0 to 7: T0 T2, T4 T6, ..; lanes 8 to 15: T1 T3, T5 T7, ..; each two columns a register
        return 4 * row + 2 * (column % 2) + (0 if low else 1), column // 2
    if shape == "16x128b":  # T0 T1 T2 T3 in four columns; lanes 8 to 15 have the next register
        return 4 * row + column % 4, 2 * (column // 4) + (0 if low else 1)
    if shape == "16x256b":  # T0: r0 r1, T1: r0 r1, .. in eight columns; lanes 8 to 15 have r2 r3
        return 4 * row + column % 8 // 2, 4 * (column // 8) + column % 2 + (0 if low else 2)
    raise KeyError(shape)


class Move:
    """A tcgen05.ld or .st: cells by (thread, register) of a warp."""

    def __init__(self, rng, split_apart, wild):
        self.shape = rng.choice(list(SHAPES))
        lanes, width, registers = SHAPES[self.shape]
        self.halves = 2 if self.shape == "16x32bx2" else 1
        most = COLUMNS // width
        self.repeats = 1 << rng.randrange(most.bit_length())
        if self.shape == "16x32bx2":
            self.repeats = min(self.repeats, 16)
        self.width = width * self.repeats
        self.registers = registers * self.repeats
        self.first_lane = 0 if lanes == 32 else rng.choice([0, 16])
        room = COLUMNS - self.width
        self.column = rng.randint(0, room)
        self.split = 0
        if self.halves == 2:
            self.column = rng.randint(0, COLUMNS - 2 * self.width)
            self.split = rng.randint(self.width if split_apart else 0, COLUMNS - self.column - self.width)
        self.quarter = 0  # lanes of another warp
        if wild == "columns":
            self.column += rng.choice([COLUMNS, COLUMNS - self.column - self.width + 1])
        if wild == "lanes":
            self.quarter = rng.choice([1, 2, 3])

    def cells(self):
        out = {}
        for lane in range(SHAPES[self.shape][0]):
            for column in range(self.width):
                if self.halves == 2:
                    out[lane, column] = (self.first_lane + lane, self.column + column)
                    out[lane + 16, column] = (self.first_lane + lane, self.column + self.split + column)
                else:
                    out[holder(self.shape, lane, column)] = (self.first_lane + lane, self.column + column)
        return out

    def inside(self):
        return self.quarter == 0 and all(c < COLUMNS for _, c in self.cells().values())

    def text(self, load, offset):
        regs = "{" + ", ".join(f"%v{r}" for r in range(self.registers)) + "}"
        half = f", {self.split}" if self.halves == 2 else ""
        name = f"tcgen05.{'ld' if load else 'st'}.sync.aligned.{self.shape}.x{self.repeats}.b32"
        where = f"[%a{offset}]"
        lane = f"add.u32 %q, %w, {self.quarter}; and.b32 %q, %q, 3; shl.b32 %q, %q, 21; add.u32 %a{offset}, %d, %q; add.u32 %a{offset}, %a{offset}, {(self.first_lane << 16) + self.column};\n"
        return lane + (f"{name} {regs}, {where}{half};" if load else f"{name} {where}{half}, {regs};")


class Full(Move):
    """All cells of the warp."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.shape, self.halves, self.repeats, self.width, self.registers = "32x32b", 1, COLUMNS, COLUMNS, COLUMNS
        self.first_lane = self.column = self.split = self.quarter = 0


class Kernel:
    """A kernel, what is right of it, and the numbers that it stores."""

    def __init__(self, rng, rounds):
        self.warps, self.rounds = rng.randint(1, 4), rounds
        fault = rng.choice([None] * 6 + ["no wait::st", "no wait::st", "no wait::ld", "columns", "lanes", "no fill", "dealloc", "alloc", "leak"])
        at = rng.randrange(rounds)
        self.alloc = rng.choice([0, 16, 31, 33, 48, 1024]) if fault == "alloc" else COLUMNS
        self.dealloc = None if fault == "leak" else rng.choice([16, 64, 96]) if fault == "dealloc" else COLUMNS
        self.right = fault not in ("dealloc", "alloc", "leak")
        self.by = rng.randrange(self.warps)
        self.numbers, self.body, self.results = [], [], 0
        written, storing, loading, self.source = set(), set(), set(), {}
        for k in range(rounds):
            here = fault if k == at else None
            ops = [] if here == "no fill" else [Full()]
            ops.append(Move(rng, True, here if rng.random() < 0.5 else None))
            load = Move(rng, False, here if here in ("columns", "lanes") else None)
            for n, op in enumerate(ops):
                cells = set(op.cells().values())
                self.right &= op.inside() and not cells & (storing | loading)
                self.put(op)
                written |= cells
                storing |= cells
                if here == "no wait::st" and (n + 1 == len(ops)) == (at % 2 == 0):
                    continue
                storing = set()
                self.body.append("tcgen05.wait::st.sync.aligned;")
            cells = set(load.cells().values())
            self.right &= load.inside() and not cells & storing and cells <= written
            loading |= cells
            self.get(load)
            if here != "no wait::ld":
                loading = set()
                self.body.append("tcgen05.wait::ld.sync.aligned;")
            self.body.append(self.store(load))
        self.right &= not storing and not loading  # tcgen05.dealloc

    def put(self, op):
        """Registers are loaded from x, at a slot of the thread, and stored."""
        slot = len(self.numbers)
        self.numbers += [0] * (self.warps * 32 * op.registers)
        for w in range(self.warps):
            for (thread, register), (lane, column) in op.cells().items():
                self.source[w, lane, column] = slot + (w * 32 + thread) * op.registers + register
        self.body.append(f"mad.lo.u32 %q, %t, {op.registers * 4}, {slot * 4}; cvt.u64.u32 %c, %q; add.u64 %c, %c, %x;\n" +
                         "".join(f"ld.global.b32 %v{r}, [%c+{4 * r}]; " for r in range(op.registers)))
        self.body.append(op.text(False, 0))

    def get(self, op):
        for w in range(self.warps):
            for (thread, register), (lane, column) in op.cells().items():
                at = self.source.get((w, lane, column))
                if at is not None:
                    self.set(at, self.results + (w * 32 + thread) * op.registers + register)
        self.body.append(op.text(True, 1))

    def set(self, slot, result):
        """The number of a slot; one that is loaded twice, by .16x32bx2 whose halves meet, makes the second result the first one's number."""
        if self.numbers[slot]:
            self.aliases = getattr(self, "aliases", {})
            self.aliases[result] = self.numbers[slot]
        else:
            self.numbers[slot] = result + 1

    def store(self, op):
        text = (f"mad.lo.u32 %q, %t, {op.registers * 4}, {self.results * 4}; cvt.u64.u32 %c, %q; add.u64 %c, %c, %y;\n" +
                "".join(f"st.global.b32 [%c+{4 * r}], %v{r}; " for r in range(op.registers)))
        self.results += self.warps * 32 * op.registers
        return text

    def expected(self):
        aliases = getattr(self, "aliases", {})
        return [aliases.get(i, i + 1) for i in range(self.results)]

    def text(self):
        alloc = f"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%s], {self.alloc};"
        free = "" if self.dealloc is None else f"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, {self.dealloc};"
        return (".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 y, .param .u64 x, .param .u64 w)\n{\n"
                ".reg .pred %p; .reg .b32 %t, %w, %s, %d, %q, %a<2>, %v<33>; .reg .b64 %c, %x, %y; .shared .align 4 .b8 slot[4];\n"
                "mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %s, slot; ld.param.u64 %y, [y]; ld.param.u64 %x, [x];\n"
                f"setp.ne.u32 %p, %w, {self.by}; @%p bra $a; {alloc}\n$a: bar.sync 0; ld.shared.b32 %d, [%s];\n" + "\n".join(self.body) +
                f"\nbar.sync 0; @%p bra $z; {free}\n$z: ret;\n}}\n")

    def answer(self, binary, folder):
        ptx = pathlib.Path(folder, "k.ptx")
        ptx.write_text(self.text())
        pathlib.Path(folder, "x.json").write_text(json.dumps(self.numbers))
        pathlib.Path(folder, "w.json").write_text(json.dumps(self.expected()))
        r = subprocess.run([binary, "flow", str(ptx), "--block", str(32 * self.warps), "--param", f"y=Y:i32[{self.results}]", "--param", f"x=X:i32[{len(self.numbers)}]={folder}/x.json",
                            "--param", f"w=W:i32[{self.results}]={folder}/w.json", "--expect", "Y[i] = W[i]", "--repair-steps", "0", "--json"],
                           capture_output=True, text=True, check=False)
        return r.returncode, r.stdout[:400] + r.stderr[:400]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print kernels that differ")
    a = parser.parse_args()
    rng, cases, kernels, proved, different = random.Random(a.seed), 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while cases < a.cases:
            kernel = Kernel(rng, rng.randint(3, 8))
            cases, kernels = cases + kernel.rounds, kernels + 1
            code, text = kernel.answer(a.binary, folder)
            proved += code == 0
            if code == (0 if kernel.right else 1):
                continue
            different += 1
            print(f"different: kernel {kernels} of seed {a.seed}: exit {code}, the model says {'right' if kernel.right else 'wrong'}: {text}")
            if a.show:
                print(kernel.text())
    print(f"{cases} cases in {kernels} kernels: {proved} proved, {kernels - proved} refuted, {different} different")
    sys.exit(different != 0)


if __name__ == "__main__":
    main()
