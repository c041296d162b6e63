#!/usr/bin/env python3
"""kernel_instructions.py --binary SWIZPROOF --cases N --seed S: instruction descriptors of tcgen05.mma in random kernels, and `swizproof kernel --json` on them.

A model of its own, tables 39, 42 to 44, 49, 50, 52, 54 and 55 of PTX ISA 9.1 (9.7.16) as lists: every kind, .cta_group, .ws, .sp and number of scale factors, with legal and odd
bits. A case is one instruction: its fields, and whether a rule is broken, also together with the descriptors of A and B: mode and major, and whether the matrices end in their
arrays. Where the bits of sparsity and the qualifier disagree, or bits depend on a parameter, the answer has to be unknown. The last line has the numbers; exit code 1 if there are
differences.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

F8 = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
#: Kind: types of A and B, of D, elements of k, bits in shared memory.
KINDS = {
    "f16": ({0: "f16", 1: "bf16"}, {0: "f16", 1: "f32"}, 16, 16),
    "tf32": ({2: "tf32"}, {1: "f32"}, 8, 32),
    "f8f6f4": (F8, {0: "f16", 1: "f32"}, 32, 8),
    "i8": ({0: "u8", 1: "s8"}, {2: "s32"}, 32, 8),
    "mxf8f6f4": (F8, None, 32, 8),
    "mxf4": ({1: "e2m1"}, None, 64, 4),
    "mxf4nvf4": ({1: "e2m1"}, None, 64, 4),
}
WIDTH = {"e2m3": 6, "e3m2": 6, "e2m1": 4, "e4m3": 8, "e5m2": 8, "u8": 8, "s8": 8, "f16": 16, "bf16": 16, "tf32": 32}
#: Mode: number, bytes of a row.
MODES = {"none": (0, 16), "128B_ATOM_32B": (1, 128), "128B": (2, 128), "64B": (4, 64), "32B": (6, 32)}
ARRAY = 32768


def reserved_of(kind):
    if kind in ("f16", "tf32", "f8f6f4", "i8"):
        return [6, 23, 29]
    return [0, 1, 3, 6, 24, 25, 26] + ([12] if kind != "mxf8f6f4" else [31])


class Instruction:
    def __init__(self, rng, number):
        self.kind, self.number = rng.choice(list(KINDS)), number
        self.scaled = self.kind.startswith("mx")
        self.packed = self.kind in ("mxf4", "mxf4nvf4")
        self.group = 2 if rng.random() < 0.3 else 1
        self.ws = not self.scaled and self.group == 1 and rng.random() < 0.2
        self.sp = rng.random() < 0.2
        scales = {"mxf8f6f4": ["1X", "block32"], "mxf4": ["2X", "block32", ""], "mxf4nvf4": ["2X", "4X", "block16", "block32"]}
        self.word = rng.choice(scales[self.kind]) if self.scaled else ""
        self.scales = 0 if not self.scaled else {"1X": 1, "2X": 2, "4X": 4, "block16": 4}.get(self.word, 1 if self.kind == "mxf8f6f4" else 2)
        types, results, _, _ = KINDS[self.kind]
        rare = lambda p: rng.random() < p
        f = {}
        f[7, 3] = rng.choice(list(types)) if not rare(0.05) else rng.randrange(8)
        f[10, 2 if self.packed else 3] = rng.choice(list(types)) if not rare(0.05) else rng.randrange(4 if self.packed else 8)
        for bit in (13, 14):
            f[bit, 1] = rare(0.1)
        for bit in (15, 16):
            f[bit, 1] = rare(0.08 if self.packed else 0.3)
        f[2, 1] = self.sp ^ rare(0.05)
        f[17, 6] = rng.choice([1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32]) if not rare(0.1) else rng.randrange(64)
        if self.scaled:
            f[27, 2] = self.group if not rare(0.15) else rng.randrange(4)
            f[23, 1] = not rare(0.3 if self.kind == "mxf4nvf4" else 0.05)
            legal = {1: [0, 1, 2, 3], 2: [0, 2], 4: [0]}[self.scales]
            f[4, 2], f[29, 2] = (rng.choice(legal) if not rare(0.1) else rng.randrange(4) for _ in range(2))
            if self.packed:
                f[31, 1] = rare(0.1)
        else:
            f[24, 5] = rng.choice([4, 8] if self.group == 1 else [8, 16]) if not rare(0.15) else rng.choice([2, 2, 4, 8, 16, rng.randrange(32)])
            f[4, 2] = rng.choice(list(results)) if not rare(0.05) else rng.randrange(4)
            f[3, 1] = rare(0.03)
            f[0, 2] = rng.randrange(4) if rare(0.2) else 0
            f[30, 2] = rng.randrange(4) if rare(0.1) else 0
        self.bits = sum(int(v) << first for (first, _), v in f.items())
        self.reserved = rare(0.04)
        if self.reserved:
            self.bits |= 1 << rng.choice(reserved_of(self.kind))
        self.f = {first: int(v) for (first, _), v in f.items()}
        self.open = rare(0.05)
        self.matrices = [self.matrix(rng, 0 if rare(0.3) else None), self.matrix(rng, None)]

    def matrix(self, rng, none):
        """Mode, LBO, SBO, start in the array; nothing of A in Tensor Memory."""
        if none is not None:
            return None
        mode = rng.choice(["128B", "128B", "64B", "32B", "none", "128B_ATOM_32B"])
        return mode, 16 * rng.choice([1, 8, 64, 128, 512]), 16 * rng.choice([8, 16, 32, 64, 128]), 16 * rng.choice([0, 0, 2, 64, 256, 1024])

    # ------------------------------------------------------------------------------------- the rules

    def types(self):
        table = KINDS[self.kind][0]
        return table.get(self.f[7]), table.get(self.f[10])

    def result(self):
        return "f32" if self.scaled else KINDS[self.kind][1].get(self.f[4])

    def shape(self):
        k = KINDS[self.kind][2] * (2 if self.f[2] else 1)
        if self.packed and self.f[31]:
            k = 96
        return (self.f[27] * 128 if self.scaled else self.f[24] * 16), self.f[17] * 8, k

    def broken(self):
        """A rule that the descriptor breaks by itself."""
        a, b = self.types()
        m, n, k = self.shape()
        if self.reserved or a is None or b is None or self.result() is None:
            return True
        if self.result() == "f16" and "bf16" in (a, b):
            return True
        if self.kind == "i8" and (self.f[13] or self.f[14]):
            return True
        if not self.scaled and self.kind != "i8" and self.f[3]:
            return True
        if self.packed and (self.f[15] or self.f[16]):
            return True
        if (self.f[15] and WIDTH[a] < 8) or (self.f[16] and WIDTH[b] < 8):
            return True
        if self.scaled:
            if (self.kind != "mxf4nvf4" or self.scales == 2) and not self.f[23]:
                return True
            if self.scales == 2 and (self.f[4] % 2 or self.f[29] % 2) or self.scales == 4 and (self.f[4] or self.f[29]):
                return True
            if k == 96 and (self.group == 1 or self.f[2] or m != 256):
                return True
        return not self.has_shape(m, n) or (self.f[16] and KINDS[self.kind][3] == 8 and n % (16 * self.group) != 0)

    def has_shape(self, m, n):
        if self.ws:
            return m in (32, 64, 128) and n in ((64, 128) if self.f[2] else (64, 128, 256))
        if self.group == 1:
            rows = (128,) if self.scaled else (64, 128)
            columns = [8, 16, 24, 32] + list(range(48, 257, 16)) if self.kind == "i8" else range(8, 257, 8)
        else:
            rows = (256,) if self.scaled and self.f[2] else (128, 256)
            columns = range(32, 257, 32) if self.kind == "i8" else range(16, 257, 16)
        return m in rows and n in columns

    def mode_is_wrong(self, which):
        """9.7.16.10.3, table 52."""
        matrix = self.matrices[which]
        if matrix is None:
            return False
        transposed, wide = self.f[15 + which], KINDS[self.kind][3] == 32
        return (matrix[0] == "128B_ATOM_32B") != (bool(transposed) and wide)

    def end(self, which):
        """The end of the last byte of the matrix in its array, whose base is a multiple of 1024."""
        mode, leading, stride, start = self.matrices[which]
        m, n, k = self.shape()
        rows, name = ((m, n)[which]) // self.group, self.types()[which]
        k = k // 2 if which == 0 and self.f[2] else k
        size = max(KINDS[self.kind][3] // 8, 1)
        row_bytes = MODES[mode][1]
        last = 0
        for r in range(rows):
            for c in range(k // 2 if self.packed else k):
                at, held = c, size
                if WIDTH[name] < 8 and not self.packed:  # 16 elements in 16 bytes
                    at, held = c - c % 16, -(-(c % 16 + 1) * WIDTH[name] // 8)
                if not self.f[15 + which]:  # K-major: 8 rows to a group
                    byte = at * size
                    where = r % 8 * row_bytes + r // 8 * stride + (byte % 16 + byte // 16 * leading if mode == "none" else byte)
                elif mode == "none":  # 8 k of 16 bytes of rows; the next 16 bytes of rows SBO on, the next 8 k LBO on
                    unit = 16 // size
                    where = r % unit * size + c % 8 * 16 + r // unit * stride + c // 8 * leading
                else:
                    unit, lines = row_bytes // size, 4 if mode == "128B_ATOM_32B" else 8
                    where = r % unit * size + c % lines * row_bytes + r // unit * leading + c // lines * stride
                where += start
                flip = {"128B": (where >> 7 & 7) << 4, "64B": (where >> 7 & 3) << 4, "32B": (where >> 7 & 1) << 4, "128B_ATOM_32B": (where >> 7 & 3) << 5, "none": 0}[mode]
                last = max(last, (where ^ flip) + held)
        return last

    # ------------------------------------------------------------------------------------- the text

    def text(self):
        op = "tcgen05.mma" + (".ws" if self.ws else "") + (".sp" if self.sp else "") + f".cta_group::{self.group}.kind::{self.kind}" + (".block_scale" if self.scaled else "")
        if self.word:
            op += "." + (self.word if self.word.startswith("block") else f"scale_vec::{self.word}")
        out, names = "", []
        for which, matrix in enumerate(self.matrices):
            if matrix is None:
                names.append("[%d]")
                continue
            mode, leading, stride, start = matrix
            bits = MODES[mode][0] << 61 | 1 << 46 | stride // 16 << 32 | leading // 16 << 16
            out += f"add.u32 %q, %z{which}, {start}; shr.u32 %q, %q, 4; cvt.u64.u32 %e{which}, %q; or.b64 %e{which}, %e{which}, {bits};\n"
            names.append(f"%e{which}")
        out += f"mov.u32 %i, {self.bits};" + (" xor.b32 %i, %i, %n;" if self.open else "") + "\n"
        return out + f"{op} [%d], {names[0]}, {names[1]}, " + ("[%d], " if self.sp else "") + "%i, " + ("[%d], [%d], " if self.scaled else "") + "%p;\n"

    def expected(self):
        if self.open:
            return "unknown"
        if self.broken():
            return "refuted"
        if any(self.mode_is_wrong(w) for w in (0, 1)):
            return "refuted"
        return "unknown" if self.sp != bool(self.f[2]) else "proved"


def text_of(instructions):
    return (".version 8.7\n.target sm_100a\n.address_size 64\n"
            f".visible .entry k(.param .u32 n)\n{{\n.reg .pred %p; .reg .b32 %q, %i, %d, %n, %z0, %z1; .reg .b64 %e0, %e1;\n.shared .align 1024 .b8 ta[{ARRAY}]; .shared .align 1024 .b8 tb[{ARRAY}];\n"
            "mov.u32 %z0, ta; mov.u32 %z1, tb; ld.param.u32 %n, [n]; mov.u32 %d, 0; setp.eq.u32 %p, %d, 1;\n" + "".join(i.text() for i in instructions) + "ret;\n}\n")


def compare(one, rows):
    """Differences of one instruction from its rows, by operand."""
    row, out = rows["instruction"], []
    if row["verdict"] != one.expected():
        out.append(f"{row['verdict']}, the model says {one.expected()}: {row.get('reason')}")
    if not one.open and row["verdict"] != "unknown" or "instruction" in row:
        fields, (m, n, k) = row["instruction"], one.shape()
        if (fields["m"], fields["n"], fields["k"]) != (m, n, k) or (fields["a"], fields["b"]) != one.types() or fields["d"] != one.result():
            out.append(f"fields {fields}")
        if (fields["a_major"] == "mn", fields["b_major"] == "mn", fields["negates_a"], fields["negates_b"], fields["sparse"]) != tuple(bool(one.f[b]) for b in (15, 16, 13, 14, 2)):
            out.append(f"flags {fields}")
    for which, name in enumerate(("descriptor A", "descriptor B")):
        if one.matrices[which] is None or one.open or one.broken():
            continue
        if any(one.mode_is_wrong(w) for w in (0, 1)):
            continue
        row, end = rows[name], one.end(which)
        if row.get("in_bounds") != (end <= ARRAY) or (row["verdict"] == "refuted") != (end > ARRAY):
            out.append(f"{name}: in_bounds {row.get('in_bounds')}, {row['verdict']} ({row.get('reason')}); the model ends at {end}: {one.matrices[which]}")
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    rng, verdicts, different, batch = random.Random(a.seed), collections.Counter(), 0, 50
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "k.ptx")
        for first in range(0, a.cases, batch):
            all_of = [Instruction(rng, n) for n in range(first, min(first + batch, a.cases))]
            path.write_text(text_of(all_of))
            r = subprocess.run([a.binary, "kernel", str(path), "--block", "32", "--json"], capture_output=True, text=True, check=False)
            rows, lines = collections.defaultdict(dict), []
            for o in json.loads(r.stdout)["kernels"][0]["operands"]:
                if o["ptx_line"] not in lines:
                    lines.append(o["ptx_line"])
                rows[o["ptx_line"]][o["operand"]] = o
            for one, line in zip(all_of, lines):
                verdicts[rows[line]["instruction"]["verdict"]] += 1
                for text in compare(one, rows[line]):
                    different += 1
                    print(f"different: case {one.number} of seed {a.seed}, {one.text().splitlines()[-1]} {one.bits:#x}: {text}")
    print(f"{sum(verdicts.values())} cases: " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())) + f", {different} different")
    sys.exit(different != 0 or sum(verdicts.values()) != a.cases)


if __name__ == "__main__":
    main()
