#!/usr/bin/env python3
"""wmma.py --binary PATH --cases N --seed S: what ptxas makes of every wmma.load and wmma.store, compared with `kernel` on their PTX (H19).

All 114 forms, in .shared and by a generic address, are compiled for sm_80, sm_86, sm_89 and sm_90. The model runs the machine code on 32 lanes: it has
the encodings of the few instructions there and no line of the program. For random strides it counts the wavefronts of each access by the
model of banks of ptx_interpreter.py. A case is one form with one stride on one architecture. Needs ptxas.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("wmma.py: not run (numpy is not installed)")
    sys.exit(77)

from ptx_interpreter import wavefronts

M = 0xFFFFFFFF
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
FIRST_PARAMETER = {80: 0x160, 86: 0x160, 89: 0x160, 90: 0x210}


def forms():
    """Operation, fragment, layout, shape, type, registers."""
    both = ("row", "col")
    for shape in ("m16n16k16", "m8n32k16", "m32n8k16"):
        m, n, k = map(int, re.findall(r"\d+", shape))
        for layout in both:
            for kind in ("f16", "bf16", "s8", "u8"):
                for fragment, size in (("a", m * k), ("b", k * n)):
                    yield "load", fragment, layout, shape, kind, 8 if kind == "f16" else size * BITS[kind] // 1024
            for kind in ("f16", "f32", "s32"):
                yield from ((op, fragment, layout, shape, kind, 4 if kind == "f16" else 8) for op, fragment in (("load", "c"), ("store", "d")))
    for layout in both:
        for fragment in "ab":
            yield "load", fragment, layout, "m16n16k8", "tf32", 4
            yield "load", fragment, layout, "m8n8k4", "f64", 1
        for op, fragment in (("load", "c"), ("store", "d")):
            for shape, kind, count in (("m16n16k8", "f32", 8), ("m8n8k4", "f64", 2), ("m8n8k32", "s32", 2), ("m8n8k128", "s32", 2)):
                yield op, fragment, layout, shape, kind, count
    for kind, shape in (("s4", "m8n8k32"), ("u4", "m8n8k32"), ("b1", "m8n8k128")):
        yield "load", "a", "row", shape, kind, 1
        yield "load", "b", "col", shape, kind, 1


FORMS = list(forms())


def module(arch, generic):
    """One kernel of PTX for each form."""
    text = f".version 8.7\n.target sm_{arch}\n.address_size 64\n.extern .shared .align 128 .b8 s[];\n"
    for k, (op, fragment, layout, shape, kind, count) in enumerate(FORMS):
        register = kind if kind in ("f32", "f64") else "b32"
        each = [f"%x{i}" for i in range(count)]
        where = "[%g]" if generic else "[%b]"
        name = f"wmma.{op}.{fragment}.sync.aligned.{layout}.{shape}{'' if generic else '.shared'}.{kind}"
        words = 8 if kind == "f64" else 4
        moved = [f"{'st' if op == 'load' else 'ld'}.global.{register} " + (f"[%p+{128 * words * i}], {x};" if op == "load" else f"{x}, [%p+{128 * words * i}];")
                 for i, x in enumerate(each)]
        access = f"{name} {{{', '.join(each)}}}, {where}, %st;" if op == "load" else f"{name} {where}, {{{', '.join(each)}}}, %st;"
        text += "\n".join([
            f".visible .entry k{k}(.param .u64 p, .param .u32 st)\n{{", f".reg .{register} %x<{count}>; .reg .b32 %st, %b, %t; .reg .b64 %p, %q, %g;",
            "ld.param.u64 %p, [p]; cvta.to.global.u64 %p, %p; ld.param.u32 %st, [st]; mov.u32 %t, %tid.x; mov.u32 %b, s;",
            f"mul.wide.u32 %q, %t, {words}; add.u64 %p, %p, %q; cvt.u64.u32 %g, %b; cvta.shared.u64 %g, %g; bar.sync 0;",
            *([access, *moved] if op == "load" else [*moved, access]), "ret;\n}\n"])
    return text


def sections(path):
    """Machine code by kernel."""
    with open(path, "rb") as file:
        data = file.read()
    start, = struct.unpack_from("<Q", data, 0x28)
    number, names = struct.unpack_from("<HH", data, 0x3C)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * i) for i in range(number)]
    for head in heads:
        at = heads[names][4] + head[0]
        name = data[at:data.index(b"\0", at)].decode()
        if name.startswith(".text."):
            code = data[head[4]:head[4] + head[5]]
            yield name[6:], [int.from_bytes(code[i:i + 16], "little") for i in range(0, len(code), 16)]


class Lanes:
    """One run of a kernel: registers of 32 lanes, as far as the addresses need them."""

    def __init__(self, constants):
        self.constants = constants
        self.r = collections.defaultdict(lambda: [None] * 32, {255: [0] * 32})
        self.u = collections.defaultdict(lambda: None, {63: 0})
        self.accesses = []  # kind, bytes, matrices, transposed, addresses

    def run(self, code):
        for w in code:
            if w & 0xFFF == 0x947:  # BRA: behind EXIT
                return self.accesses
            self.step(w, w & 0xFFF)
        return self.accesses

    def constant(self, offset):
        return 0 if offset < 0x160 else self.constants.get(offset)

    def second(self, w):
        """Second source: a register, a number, a constant, or a uniform register."""
        return {2: self.r[w >> 32 & 255], 8: [w >> 32 & M] * 32, 0xA: [self.constant((w >> 40 & 0x3FFF) * 4)] * 32, 0xC: [self.u[w >> 32 & 63]] * 32}[w >> 8 & 15]

    def step(self, w, op):
        high, d, a, c = w >> 72, w >> 16 & 255, w >> 24 & 255, w >> 64 & 255
        r, u = self.r, self.u

        def put(f, *sources):
            r[d] = [None if None in x else f(*x) & M for x in zip(*sources)]

        wide = (high >> 1 & 7) == 5
        low = op & 255
        if op in (0x918, 0xB1D, 0x986, 0x94D, 0x80C, 0xC0C, 0x20C, 0x23A):  # NOP, BAR, STG, EXIT, ISETP, MOVM
            return
        if op == 0x981:  # LDG
            r[d] = [None] * 32
        elif op == 0x919:  # S2R: SR_LANEID, SR_TID.X; the block in its cluster and the window of shared memory are 0
            r[d] = list(range(32)) if high & 255 in (0, 0x21) else [0] * 32
        elif op == 0x9C3:  # S2UR
            u[d & 63] = 0
        elif op == 0xAB9:  # ULDC
            for k in range(1 + wide):
                u[(d & 63) + k] = self.constant((w >> 40 & 0x3FFF) * 4 + 4 * k)
        elif op == 0xB82:  # LDC
            for k in range(1 + wide):
                r[d + k] = [self.constant((w >> 38 & 0xFFFF) + 4 * k)] * 32
        elif op == 0x435:  # HFMA2 of 0: a number
            r[d] = [w >> 32 & M] * 32
        elif op in (0x882, 0xC82):  # UMOV
            u[d & 63] = w >> 32 & M if op == 0x882 else u[w >> 32 & 63]
        elif op == 0x290:  # UIADD3
            x = (u[a & 63], u[w >> 32 & 63], u[c & 63])
            u[d & 63] = None if None in x else sum(x) & M
        elif op == 0x291:  # ULEA
            x, y = u[a & 63], u[w >> 32 & 63]
            u[d & 63] = None if None in (x, y) else (x << (high >> 3 & 31)) + y & M
        elif op == 0x899:  # USHF
            right, number = high >> 4 & 1, w >> 32 & 31
            x = u[c & 63] if right else u[a & 63]
            u[d & 63] = None if x is None else (x >> number if right else x << number) & M
        elif low == 0x02:  # MOV
            r[d] = list(self.second(w))
        elif low == 0x12:  # LOP3
            table = high & 255
            put(lambda x, y, z: sum(1 << i for i in range(32) if table >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | z >> i & 1) & 1), r[a], self.second(w), r[c])
        elif low == 0x19:  # SHF: of a word to the right, or to the left
            right, upper = high >> 4 & 1, high >> 8 & 1
            assert right == upper
            put((lambda x, y, z: z >> y) if right else (lambda x, y, z: x << y), r[a], self.second(w), r[c])
        elif low in (0x24, 0x25):  # IMAD: the third source may be the number, constant or uniform register
            form = op >> 8
            third = {4: lambda: [w >> 32 & M] * 32, 6: lambda: [self.constant((w >> 40 & 0x3FFF) * 4)] * 32, 0xE: lambda: [u[w >> 32 & 63]] * 32}.get(form)
            put(lambda x, y, z: x * y + z, r[a], r[c] if third else self.second(w), third() if third else r[c])
            if low == 0x25:
                r[d + 1] = [None] * 32
        elif low == 0x11:  # LEA; the upper word of an address is not needed
            put((lambda x, y: (x << (high >> 3 & 31)) + y) if not high >> 8 & 1 else (lambda x, y: None), r[a], self.second(w)) if not high >> 8 & 1 else r.update({d: [None] * 32})
        elif low == 0x10:  # IADD3
            put(lambda x, y, z: (-x if high & 1 else x) + y + z, r[a], self.second(w), r[c])
        elif low == 0x36:  # VIADD
            put(lambda x, y: x + y, r[a], self.second(w))
        elif op == 0x816:  # PRMT
            put(lambda x, y, z: sum(((z << 32 | x) >> 8 * (y >> 4 * k & 7) & 255) << 8 * k for k in range(4)), r[a], [w >> 32 & M] * 32, r[c])
        elif op in (0x984, 0x980, 0x388, 0x988, 0x385, 0x985, 0x83B):  # LDS, LD, STS, ST, LDSM
            self.access(w, op, high, d, a, c)
        else:
            raise NotImplementedError(hex(op))

    def access(self, w, op, high, d, a, c):
        offset = (w >> 40 & 0xFFFFFF ^ 0x800000) - 0x800000
        more = self.u[w >> 32 & 63] if op in (0x984, 0x83B) and high >> 19 & 1 else self.u[c & 63] if op == 0x988 else 0
        scale = (1, 4, 8, 16)[high >> 6 & 3] if op in (0x984, 0x388, 0x988) else 1
        at = [x * scale + offset + more & 0xFFFFFF for x in self.r[a]]
        if op == 0x83B:
            self.accesses.append(("matrix", 16, 1 << (high & 3), high >> 6 & 1, at))
        else:
            self.accesses.append(("ld" if op in (0x984, 0x980) else "st", (1, 1, 2, 2, 4, 8, 16)[high >> 1 & 7], 0, 0, at))
        if op in (0x984, 0x980, 0x83B):
            self.r[d] = [None] * 32


def name_of(kind, size, matrices, transposed):
    return f"ldmatrix.x{matrices}{'.trans' if transposed else ''}" if matrices else f"{kind}.shared.b{8 * size}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
    if ptxas is None:
        print("wmma.py: not run (ptxas is not there)")
        return 77
    rng = random.Random(o.seed)
    cases = accesses = different = misaligned = conflicts = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        compiled = {}
        while cases < o.cases:
            arch, generic = rng.choice(list(FIRST_PARAMETER)), rng.random() < 0.4
            path = os.path.join(folder, f"{arch}{generic}.ptx")
            if (arch, generic) not in compiled:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(module(arch, generic))
                subprocess.run([ptxas, f"-arch=sm_{arch}", path, "-o", path + ".cubin"], check=True)
                compiled[arch, generic] = dict(sections(path + ".cubin"))
            stride = rng.choice([16, 32, 64, 128, 136, 72, 40, 24, 8 * rng.randrange(2, 80), 32 * rng.randrange(1, 40), rng.randrange(16, 600)])
            done = subprocess.run([o.binary, "kernel", path, "--json", "--block", "32", "--param", f"st={stride}"], capture_output=True, text=True, check=False)
            answer = {k["mangled"]: k["accesses"] for k in json.loads(done.stdout)["kernels"]}
            for k, (op, fragment, layout, shape, kind, _) in enumerate(FORMS):
                if cases == o.cases:
                    break
                cases += 1
                first = FIRST_PARAMETER[arch]
                made = Lanes({first: 0, first + 4: 0, first + 8: stride}).run(compiled[arch, generic][f"k{k}"])
                expected = collections.Counter()
                for what, size, matrices, transposed, at in made:
                    lanes = np.arange(32) < (8 * matrices if matrices else 32)
                    base = np.array([at])
                    aligned = all(x % size == 0 for x in base[0][lanes])
                    misaligned += not aligned
                    cost = int(np.sum(wavefronts(what, size, base, lanes[None, :], matrices))) if aligned else None
                    conflicts += aligned and cost > (matrices or max(1, size // 4))
                    expected[name_of(what, size, matrices, transposed), aligned, cost] += 1
                found = collections.Counter((a["op"].split(": ")[-1], a["aligned"] is not False, a["wavefronts"] if a["aligned"] is not False else None) for a in answer[f"k{k}"])
                accesses += len(made)
                if stride * BITS[kind] % 128 and any(not aligned for _, aligned, _ in found):
                    refused += 1  # a line is no multiple of 16 bytes, which PTX does not allow: ptxas drops low bits of the stride
                elif found != expected:
                    different += 1
                    if different <= 10:
                        print(f"DIFFERENT: sm_{arch} {'generic' if generic else '.shared'} {op}.{fragment}.{layout}.{shape}.{kind} stride {stride}: {dict(found)}, ptxas {dict(expected)}")
    print(f"{cases} cases, {accesses} accesses, {conflicts} with conflicts, {misaligned} misaligned, {refused} cases of a stride that PTX does not allow; {different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
