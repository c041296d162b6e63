#!/usr/bin/env python3
"""flow_tensor_copies.py --binary SWIZPROOF --cases N --seed S: a reference model of tcgen05.cp, tcgen05.shift, and of products with block scales and by .ws for `swizproof flow`,
written from the PTX ISA alone (9.7.16.2.3, 9.7.16.4.1, 9.7.16.6.2, 9.7.16.9.2, 9.7.16.9.3, 9.7.16.10.5, 9.7.16.10.7).

Three families of random kernels. *Copies*: every word of 8 KiB of shared memory and every cell of 32 columns has a number of its own; one thread copies by
random shapes, modes, strides and addresses, and shifts rows, with and without tcgen05.commit and a wait between; all cells are loaded and stored. The model keeps 128 x 32 numbers.
*Scales*: four warps store random words as scale factors, at random columns; mxf8f6f4 takes random bytes of them. A and B are numbers; the model multiplies.
*Folded*: tcgen05.mma.ws of 32 or 64 rows, whose columns lie in four or two parts of the lanes.
A part is wrong on purpose: a pair of overlapping operations that is not pipelined without a wait, lanes or columns out of bounds, no proxy fence, shared memory that is
overwritten early, a copy of the scale factors that differs between the four parts of 32 lanes. Of right ones, a part has one wrong number in the expected result.
The last line has the numbers; exit code 1 if there are differences.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

COLUMNS, WORDS = 32, 2048
#: Shape: rows, words of a row, and the lanes that get row r. Warps of .warpx2::02_13 are pairs that hold all rows: 0 and 2 the first half.
SHAPES = {
    "128x256b": (128, 8, lambda r: [r]),
    "128x128b": (128, 4, lambda r: [r]),
    "4x256b": (4, 8, lambda r: [32 * r]),
    "64x128b.warpx2::02_13": (64, 4, lambda r: [r, r + 64]),
    "64x128b.warpx2::01_23": (64, 4, lambda r: [r + 32 * (r // 32), r + 32 * (r // 32) + 32]),
    "32x128b.warpx4": (32, 4, lambda r: [r, r + 32, r + 64, r + 96]),
}
#: Mode: its number in bits 61 to 63, bytes of a row of the pattern.
MODES = {"none": (0, 16), "32B": (6, 32), "64B": (4, 64), "128B": (2, 128)}
HEAD = (".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 y, .param .u64 x, .param .u64 w, .param .u64 a, .param .u64 sa)\n{\n"
        ".reg .pred %p<5>; .reg .b32 %t, %w, %s, %d, %q, %m, %z, %h, %a<4>, %v<33>; .reg .b64 %c, %x, %y, %e<3>;\n"
        ".shared .align 1024 .b8 tile[8192]; .shared .align 8 .b8 bar[16]; .shared .align 4 .b8 slot[4];\n"
        "mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %s, slot; mov.u32 %m, bar; mov.u32 %z, tile; ld.param.u64 %y, [y]; ld.param.u64 %x, [x];\n"
        "setp.ne.u32 %p1, %t, 0; @%p1 bra $i; mbarrier.init.shared::cta.b64 [%m], 1; mbarrier.init.shared::cta.b64 [%m+8], 1;\n$i: setp.ne.u32 %p0, %w, 0; @%p0 bra $a;\n"
        f"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%s], {COLUMNS};\n$a:\n")
MEET = "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%m];\n"
LAST = COMMIT.replace("[%m]", "[%m+8]")


def wait(label, parity):
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%m], {parity}; @!%p2 bra {label}; tcgen05.fence::after_thread_sync;\n"


def address(mode, start, leading, stride, row, byte):
    """Address of a byte of a row, K-major [9.7.16.4.1, 9.7.16.5.1]: 8 rows to a group, `stride` to the next; without a swizzle 16 bytes to a column of `leading`."""
    wide = MODES[mode][1]
    at = start + row % 8 * wide + row // 8 * stride + (byte % 16 + byte // 16 * leading if mode == "none" else byte)
    return at ^ {"none": 0, "32B": (at >> 7 & 1) << 4, "64B": (at >> 7 & 3) << 4, "128B": (at >> 7 & 7) << 4}[mode]


class Copy:
    def __init__(self, rng):
        self.shape = rng.choice(list(SHAPES))
        self.rows, self.width, self.lanes = SHAPES[self.shape]
        while True:
            self.mode = rng.choice(list(MODES))
            wide = MODES[self.mode][1]
            self.leading, self.stride = 16 * rng.randint(1, 64), 16 * rng.randint(1, 128) if self.mode == "none" else 8 * wide * rng.randint(1, 3)
            self.start = 16 * rng.randrange(64) if self.mode == "none" else 1024 * rng.randrange(8) + 32 * rng.randrange(wide // 32)
            if self.mode != "none" and self.start % wide + 4 * self.width > wide:
                continue
            words = [[address(self.mode, self.start, self.leading, self.stride, r, 4 * k) // 4 for k in range(self.width)] for r in range(self.rows)]
            if max(map(max, words)) < WORDS:
                break
        self.words, self.column = words, rng.randint(0, COLUMNS - self.width)
        self.first = rng.choice([0, 0, 31, rng.randrange(32)]) if self.rows == 4 else 0
        self.read = {w for row in words for w in row}

    def writes(self):
        return {(self.first + lane, self.column + k) for r in range(self.rows) for lane in self.lanes(r) for k in range(self.width)}

    def reads(self):
        return set()

    def inside(self):
        return all(lane < 128 and c < COLUMNS for lane, c in self.writes())

    def apply(self, cells, memory):
        for r in range(self.rows):
            for lane in self.lanes(r):
                for k in range(self.width):
                    cells[self.first + lane, self.column + k] = memory[self.words[r][k]]

    def before_mma(self):
        return True

    def text(self):
        bits = MODES[self.mode][0] << 61 | 1 << 46 | self.stride // 16 << 32 | self.leading // 16 << 16
        return (f"add.u32 %q, %z, {self.start}; shr.u32 %q, %q, 4; cvt.u64.u32 %e0, %q; or.b64 %e0, %e0, {bits}; add.u32 %a0, %d, {(self.first << 16) + self.column};\n"
                f"tcgen05.cp.cta_group::1.{self.shape} [%a0], %e0;\n")


class Shift:
    def __init__(self, rng):
        self.first, self.column, self.rows = 32 * rng.randrange(4), rng.randint(0, COLUMNS - 8), 32
        self.read = set()

    def reads(self):
        return {(self.first + r, self.column + k) for r in range(31) for k in range(8)}

    def writes(self):
        return {(self.first + r + 1, self.column + k) for r in range(31) for k in range(8)}

    def inside(self):
        return self.first % 32 == 0 and all(c < COLUMNS for _, c in self.writes())

    def apply(self, cells, _):
        for r in range(31, 0, -1):
            for k in range(8):
                cells[self.first + r, self.column + k] = cells[self.first + r - 1, self.column + k]

    def text(self):
        return f"add.u32 %a0, %d, {(self.first << 16) + self.column}; tcgen05.shift.cta_group::1.down [%a0];\n"


def pipelined(first, second):
    """9.7.16.6.2 of two operations that are no products: shift, then cp.4x256b."""
    return isinstance(first, Shift) and isinstance(second, Copy) and second.rows == 4


class Copies:
    """Cells before the operations have numbers from 1000000 on, words of shared memory from 1 on."""

    def __init__(self, rng):
        count, self.right = rng.randint(1, 5), True
        fault = rng.choice([None] * 5 + ["wait", "wait", "columns", "lanes", "proxy", "early", "last"])
        cells = {(lane, c): 1000000 + lane * COLUMNS + c for lane in range(128) for c in range(COLUMNS)}
        memory, ops, self.body, parity = [w + 1 for w in range(WORDS)], [], [], 0
        for k in range(count):
            op = Copy(rng) if rng.random() < 0.7 else Shift(rng)
            if fault == "columns" and k == 0:
                op.column = COLUMNS - 1
            if fault == "lanes" and k == 0:
                op.first = 33 if isinstance(op, Shift) else 32 if op.rows == 4 else 16
            self.right &= op.inside()
            touched = op.writes() | op.reads()
            self.right &= all(pipelined(o, op) or not (o.writes() & touched or o.reads() & op.writes()) for o in ops)
            ops.append(op)
            if self.right:
                op.apply(cells, memory)
            self.body.append(op.text())
            if k + 1 < count and not (fault == "wait" and rng.random() < 0.7) and rng.random() < 0.8:
                self.body.append(COMMIT + wait(f"$w{k}", parity))
                parity, ops = parity ^ 1, []
        if fault == "early" and any(isinstance(o, Copy) for o in ops):
            at = min(next(o for o in ops if isinstance(o, Copy)).read)
            self.body.append(f"st.shared.b32 [%z+{4 * at}], 7;\n")
            self.right = False
        if fault == "last":
            self.right = False
        else:
            self.body.append(LAST)
        self.proxy = "" if fault == "proxy" else "fence.proxy.async.shared::cta;\n"
        self.right &= fault != "proxy" or not any("tcgen05.cp" in b for b in self.body)
        self.expected = [cells[lane, c] for lane in range(128) for c in range(COLUMNS)]
        self.numbers, self.last = {"x": ("i32", memory)}, fault != "last"

    def text(self):
        regs = "{" + ", ".join(f"%v{r}" for r in range(COLUMNS)) + "}"
        fill = "mul.lo.u32 %q, %t, 4; cvt.u64.u32 %c, %q; add.u64 %c, %c, %x; add.u32 %h, %z, %q;\n"
        fill += "".join(f"ld.global.b32 %v0, [%c+{512 * i}]; st.shared.b32 [%h+{512 * i}], %v0;\n" for i in range(WORDS // 128))
        fill += "".join(f"mad.lo.u32 %v{c}, %t, {COLUMNS}, {1000000 + c};\n" for c in range(COLUMNS))
        out = "".join(f"st.global.b32 [%c+{4 * c}], %v{c};\n" for c in range(COLUMNS))
        return (HEAD + fill + self.proxy + "bar.sync 0; ld.shared.b32 %d, [%s]; shl.b32 %q, %w, 21; add.u32 %a1, %d, %q;\n"
                f"tcgen05.st.sync.aligned.32x32b.x{COLUMNS}.b32 [%a1], {regs}; tcgen05.wait::st.sync.aligned;\n" + MEET + "@%p1 bra $b;\n" + "".join(self.body) +
                "$b: bar.warp.sync -1;\n" + (wait("$l", 0).replace("[%m]", "[%m+8]") if self.last else MEET) +
                f"tcgen05.ld.sync.aligned.32x32b.x{COLUMNS}.b32 {regs}, [%a1]; tcgen05.wait::ld.sync.aligned;\n"
                f"mad.lo.u32 %q, %t, {4 * COLUMNS}, 0; cvt.u64.u32 %c, %q; add.u64 %c, %c, %y;\n" + out +
                f"bar.sync 0; @%p0 bra $z; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, {COLUMNS};\n$z: ret;\n}}\n")

    kind, result = "i32", "[4096]"


class Scales:
    """D of 128 x 8 from A 128 x 32 and B 8 x 32 of e4m3 in shared memory; scale factors of e8m0. Thread t stores row t of A; threads below 8 row t of B behind it."""

    kind, result = "f32", "[1024]"

    def __init__(self, rng):
        fault = rng.choice([None] * 5 + ["differs", "unwritten"])
        self.a_id, self.b_id = rng.randrange(4), rng.randrange(4)
        # D has columns 0 to 7; scale factors of A four columns behind it, of B one.
        self.sa = rng.randint(8, 20)
        self.sb = rng.choice([c for c in range(8, 24) if c + 1 <= self.sa or c >= self.sa + 4])
        rows = [[rng.choice([-2, -1, -0.5, 0, 0.5, 1, 1.5, 3]) for _ in range(32)] for _ in range(136)]
        words = [[2.0 ** rng.randint(-3, 3) for _ in range(4)] for _ in range(32 * 5)]  # of lane l: column j, byte b at [5 l + j][b]
        self.right, self.differs = fault is None, fault == "differs"
        self.unwritten = fault == "unwritten"
        if self.differs:
            self.lane = rng.randrange(32)
            words.append([2.0 ** 5] * 4)
        scale = lambda lane, j, byte: words[5 * lane + j][byte]
        self.expected = [sum(rows[m][k] * rows[128 + n][k] for k in range(32)) * scale(m % 32, m // 32, self.a_id) * scale(n, 4, self.b_id)
                         for m in range(128) for n in range(8)]
        self.numbers = {"a": ("e4m3", sum(rows, [])), "sa": ("e8m0", sum(words, []))}
        self.instruction = 1 << 27 | 1 << 23 | 1 << 17 | self.a_id << 29 | self.b_id << 4

    def text(self):
        # No swizzle: 8 rows of 16 bytes, the next 16 bytes of k 128 on, the next 8 rows 256 on.
        row = ("shr.u32 %q, %h, 3; shl.b32 %q, %q, 8; and.b32 %v0, %h, 7; shl.b32 %v0, %v0, 4; add.u32 %q, %q, %v0; add.u32 %q, %q, %z; mul.wide.u32 %c, %h, 32; "
               "ld.param.u64 %e0, [a]; add.u64 %c, %c, %e0; ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%c]; ld.global.v4.b32 {%v4, %v5, %v6, %v7}, [%c+16];\n"
               "st.shared.v4.b32 [%q], {%v0, %v1, %v2, %v3}; st.shared.v4.b32 [%q+128], {%v4, %v5, %v6, %v7};\n")
        out = (HEAD + "mov.u32 %h, %t;\n" + row + "setp.gt.u32 %p3, %t, 7; @%p3 bra $r; add.u32 %h, %t, 128;\n" + row + "$r: fence.proxy.async.shared::cta; bar.sync 0;\n"
               "ld.shared.b32 %d, [%s]; shl.b32 %q, %w, 21; add.u32 %a1, %d, %q; and.b32 %h, %t, 31; mul.wide.u32 %c, %h, 20; ld.param.u64 %e0, [sa]; add.u64 %c, %c, %e0;\n"
               "ld.global.b32 %v0, [%c]; ld.global.b32 %v1, [%c+4]; ld.global.b32 %v2, [%c+8]; ld.global.b32 %v3, [%c+12]; ld.global.b32 %v4, [%c+16];\n")
        if self.differs:  # one lane of the last warp has another word
            out += f"setp.eq.u32 %p3, %t, {96 + self.lane}; @%p3 ld.global.b32 %v1, [%e0+640];\n"
        stores = f"add.u32 %a2, %a1, {self.sa}; tcgen05.st.sync.aligned.32x32b.x4.b32 [%a2], {{%v0, %v1, %v2, %v3}};\n"
        if self.unwritten:
            out += "setp.eq.u32 %p3, %w, 2; @%p3 bra $u;\n" + stores + "$u:\n"
        else:
            out += stores
        out += f"add.u32 %a2, %a1, {self.sb}; tcgen05.st.sync.aligned.32x32b.x1.b32 [%a2], {{%v4}}; tcgen05.wait::st.sync.aligned;\n" + MEET
        out += ("@%p1 bra $b; shr.u32 %q, %z, 4; cvt.u64.u32 %e0, %q; or.b64 %e0, %e0, 0x0000401000080000; add.u64 %e1, %e0, 256; setp.ne.u32 %p3, %t, 0;\n"
                f"mov.u32 %q, {self.instruction}; add.u32 %a2, %d, {self.sa}; add.u32 %a3, %d, {self.sb};\n"
                "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%d], %e0, %e1, %q, [%a2], [%a3], %p3;\n" + COMMIT + "$b: bar.warp.sync -1;\n" + wait("$l", 0))
        return (out + "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%a1]; tcgen05.wait::ld.sync.aligned;\n"
                "mul.wide.u32 %c, %t, 32; add.u64 %c, %c, %y; st.global.v4.b32 [%c], {%v0, %v1, %v2, %v3}; st.global.v4.b32 [%c+16], {%v4, %v5, %v6, %v7};\n"
                f"bar.sync 0; @%p0 bra $z; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, {COLUMNS};\n$z: ret;\n}}\n")


class Folded:
    """D of 32 or 64 rows and 64 columns by tcgen05.mma.ws, A and B of f16 in shared memory, 16 of k. Thread t stores row t of A and row t of B behind A."""

    kind = "f32"

    def __init__(self, rng):
        fault = rng.choice([None] * 5 + ["lane", "columns", "proxy"])
        self.rows = rng.choice([32, 64])
        self.width = self.rows // 2  # columns of a part of the lanes
        rows = [[rng.choice([-2, -1, -0.5, 0, 0.5, 1, 1.5, 3]) for _ in range(16)] for _ in range(self.rows + 64)]
        self.right, self.proxy = fault is None, fault != "proxy"
        self.at = COLUMNS - self.width + 1 if fault == "columns" else rng.randint(0, COLUMNS - self.width)
        self.first = 16 if fault == "lane" else 0
        self.expected = [sum(rows[lane % self.rows][k] * rows[self.rows + lane // self.rows * self.width + n][k] for k in range(16))
                         for lane in range(128) for n in range(self.width)]
        self.result = f"[{len(self.expected)}]"
        self.numbers = {"a": ("f16", sum(rows, []))}

    def text(self):
        row = ("shr.u32 %q, %h, 3; shl.b32 %q, %q, 8; and.b32 %v0, %h, 7; shl.b32 %v0, %v0, 4; add.u32 %q, %q, %v0; add.u32 %q, %q, %z; mul.wide.u32 %c, %h, 32; "
               "ld.param.u64 %e0, [a]; add.u64 %c, %c, %e0; ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%c]; ld.global.v4.b32 {%v4, %v5, %v6, %v7}, [%c+16];\n"
               "st.shared.v4.b32 [%q], {%v0, %v1, %v2, %v3}; st.shared.v4.b32 [%q+128], {%v4, %v5, %v6, %v7};\n")
        out = (HEAD + "mov.u32 %h, %t; setp.ge.u32 %p3, %t, 64; @%p3 bra $r; " + f"add.u32 %h, %t, {self.rows};\n" + row +
               f"setp.ge.u32 %p3, %t, {self.rows}; @%p3 bra $r; mov.u32 %h, %t;\n" + row + "$r:\n" + ("fence.proxy.async.shared::cta;\n" if self.proxy else "") +
               "bar.sync 0; ld.shared.b32 %d, [%s]; shl.b32 %q, %w, 21; add.u32 %a1, %d, %q;\n" +
               f"add.u32 %a1, %a1, {min(self.at, COLUMNS - self.width)}; add.u32 %a2, %d, {self.first << 16 | self.at};\n"
               "@%p1 bra $b; shr.u32 %q, %z, 4; cvt.u64.u32 %e0, %q; or.b64 %e0, %e0, 0x0000401000080000; "
               f"add.u64 %e1, %e0, {2 * self.rows}; setp.ne.u32 %p3, %t, 0; mov.u32 %q, {self.rows >> 4 << 24 | 64 >> 3 << 17 | 1 << 4};\n"
               "tcgen05.mma.ws.cta_group::1.kind::f16 [%a2], %e0, %e1, %q, %p3;\n" + COMMIT + "$b: bar.warp.sync -1;\n" + wait("$l", 0))
        out += f"tcgen05.ld.sync.aligned.32x32b.x{self.width}.b32 {{" + ", ".join(f"%v{c}" for c in range(self.width)) + "}, [%a1]; tcgen05.wait::ld.sync.aligned;\n"
        out += f"mul.wide.u32 %c, %t, {4 * self.width}; add.u64 %c, %c, %y;\n" + "".join(f"st.global.b32 [%c+{4 * c}], %v{c};\n" for c in range(self.width))
        return out + f"bar.sync 0; @%p0 bra $z; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, {COLUMNS};\n$z: ret;\n}}\n"


def answer(case, binary, folder, wrong_at):
    pathlib.Path(folder, "k.ptx").write_text(case.text())
    expected = list(case.expected)
    if wrong_at is not None:
        expected[wrong_at] += 1
    words = []
    for name, (kind, values) in dict(case.numbers, w=(case.kind, expected)).items():
        pathlib.Path(folder, f"{name}.json").write_text(json.dumps(values))
        words += ["--param", f"{name}={name.upper()}:{kind}[{len(values)}]={folder}/{name}.json"]
    for name in ("x", "a", "sa"):
        if name not in case.numbers:
            words += ["--param", f"{name}={name.upper()}:i32[1]"]
    r = subprocess.run([binary, "flow", f"{folder}/k.ptx", "--block", "128", "--param", f"y=Y:{case.kind}{case.result}", *words, "--expect", "Y[i] = W[i]",
                        "--repair-steps", "0"], capture_output=True, text=True, check=False)
    return r.returncode, r.stdout[:600] + r.stderr[:400]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print kernels that differ")
    a = parser.parse_args()
    rng, proved, different = random.Random(a.seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for n in range(a.cases):
            case = [Copies, Scales, Folded][n % 3](rng)
            wrong_at = rng.randrange(len(case.expected)) if rng.random() < 0.15 else None
            right = case.right and wrong_at is None
            code, text = answer(case, a.binary, folder, wrong_at)
            proved += code == 0
            if code == (0 if right else 1):
                continue
            different += 1
            print(f"different: case {n + 1} of seed {a.seed}, {type(case).__name__}: exit {code}, the model says {'right' if right else 'wrong'}: {text}")
            if a.show:
                print(case.text())
    print(f"{a.cases} cases: {proved} proved, {a.cases - proved} refuted, {different} different")
    sys.exit(different != 0)


if __name__ == "__main__":
    main()
