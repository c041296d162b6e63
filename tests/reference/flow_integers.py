#!/usr/bin/env python3
"""flow_integers.py --cases N --seed S: a reference model of how `swizproof flow` follows integers and bf16 through the moves of compilers.

Random chains of cvt, shl, shr, bfe, and, xor, prmt, mul.wide, mov of halves and loads of any sign take one element of 8, 16 or 32 bits to
an element of the result. Here each chain is computed as PTX defines it, on all values of 8 and 16 bits and on edges and random ones of 32.
`proved` has to be right for all of them, `refuted` wrong for one of them; `unknown` is counted. The last line has the numbers; exit code 1
if there are differences. --binary PATH asks a program in place of the Python module; --keep DIR keeps the kernels of differences there.
"""
import os
import random
import struct
import sys
import tempfile

from asking import answered, options_of

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.entry k(.param .u64 c, .param .u64 a)
{
.reg .b16 %h<40>; .reg .b32 %r<40>; .reg .b64 %d<40>;
mov.u32 %r0, %tid.x; ld.param.u64 %d0, [c]; ld.param.u64 %d1, [a];
"""
REG = {16: "h", 32: "r", 64: "d"}


def mask(bits):
    return (1 << bits) - 1


def signed(x, bits):
    return (x & mask(bits)) - ((x >> (bits - 1) & 1) << bits)


class Chain:
    """A value in registers, and what PTX makes of it: a list of functions of the loaded bits."""

    def __init__(self, rng):
        self.rng, self.lines, self.steps, self.used = rng, [], [], 4

    def emit(self, text, bits, function):
        self.lines.append(text.replace("@", f"%{REG[bits]}{self.used}"))
        self.steps.append(function)
        self.at, self.bits = f"%{REG[bits]}{self.used}", bits
        self.used += 1

    def load(self, size, address):
        sign = self.rng.choice("sub")
        bits = self.rng.choice([b for b in (16, 32, 64) if b >= size])
        if sign == "b":
            bits = max(16, size)
        self.emit(f"ld.global.{sign}{size} @, [{address}];", bits, lambda x: (signed(x, size) if sign == "s" else x) & mask(bits))

    def step(self):
        rng, a, w = self.rng, self.at, self.bits
        kind = rng.choice(["cvt", "cvt", "cvt", "shift", "pair", "bfe", "and", "flip", "prmt", "wide", "pack", "sub"])
        if kind == "cvt":
            to, s, narrow = rng.choice([16, 32, 64]), rng.choice("su"), rng.choice([8, 16, 32, 64])
            narrow = min(narrow, w)
            t = rng.choice([s, s, "u"])
            self.emit(f"cvt.{t}{to}.{s}{narrow} @, {a};", to, lambda x: (signed(x, narrow) if s == "s" else x & mask(narrow)) & mask(to))
        elif kind == "shift":
            n, op = rng.choice([8, 16, 24, 4]), rng.choice(["shl.b", "shr.u", "shr.s"])
            if n >= w:
                n = 8
            self.emit(f"{op}{w} @, {a}, {n};", w, {"shl.b": lambda x: x << n & mask(w), "shr.u": lambda x: x >> n,
                                                   "shr.s": lambda x: signed(x, w) >> n & mask(w)}[op])
        elif kind == "pair":
            n, s = rng.choice([k for k in (8, 16, 24, 32) if k < w]), rng.choice("su")
            self.emit(f"shl.b{w} @, {a}, {n};", w, lambda x: x << n & mask(w))
            self.emit(f"shr.{s}{w} @, {self.at}, {n};", w, lambda x: (signed(x, w) >> n if s == "s" else x >> n) & mask(w))
        elif kind == "bfe" and w > 16:
            at, n, s = rng.choice([0, 0, 8, 16]), rng.choice([8, 16, 24]), rng.choice("su")
            n = min(n, w - at)
            self.emit(f"bfe.{s}{w} @, {a}, {at}, {n};", w,
                      lambda x: (signed(x >> at, n) if s == "s" else x >> at & mask(n)) & mask(w))
        elif kind == "and":
            m = rng.choice([0xff, 0xffff, 0xff00, 0xffff0000, 0xffffffff]) & mask(w)
            self.emit(f"and.b{w} @, {a}, {m};", w, lambda x: x & m)
        elif kind == "flip":
            m = rng.choice([0x80, 0x8000, 0x80000000, 1 << 63]) & mask(w)
            self.emit(f"xor.b{w} @, {a}, {m};", w, lambda x: x ^ m)
            if rng.random() < 0.7:
                op = rng.choice(["xor.b", "sub.u", "add.u"])
                self.emit(f"{op}{w} @, {self.at}, {m};", w, {"xor.b": lambda x: x ^ m, "sub.u": lambda x: x - m & mask(w),
                                                             "add.u": lambda x: x + m & mask(w)}[op])
        elif kind == "prmt" and w == 32:
            selector = rng.choice([0x3210, 0x4440, 0x4410, 0x1044, 0x8880, 0x9910, 0x4321, 0x0123, 0x4432])
            def permuted(x, sel=selector):
                out = 0
                for k in range(4):
                    pick = sel >> 4 * k & 15
                    byte = (x >> 8 * (pick & 3) & 0xff) if pick & 4 == 0 else 0
                    if pick & 8:
                        byte = 0xff if byte & 0x80 else 0
                    out |= byte << 8 * k
                return out
            self.emit(f"prmt.b32 @, {a}, 0, {selector};", 32, permuted)
        elif kind == "wide" and w < 64:
            s = rng.choice("su")
            self.emit(f"mul.wide.{s}{w} @, {a}, 1;", 2 * w, lambda x: (signed(x, w) if s == "s" else x) & mask(2 * w))
        elif kind == "pack" and w < 64:
            high = rng.random() < 0.5
            zero = f"%{REG[w]}3"
            self.lines.append(f"mov.b{w} {zero}, 0;")
            self.emit(f"mov.b{2 * w} @, {{{zero + ', ' + a if high else a + ', ' + zero}}};", 2 * w,
                      lambda x: x << w if high else x)
        elif kind == "sub":  # there and back: sums alone may overflow, which `flow` excludes
            m = rng.choice([0, 0x100, 0x10000, 0x80, 1 << 31, mask(w)]) & mask(w)
            self.emit(f"add.s{w} @, {a}, {m};", w, lambda x: (x + m) & mask(w))
            self.emit(f"sub.s{w} @, {self.at}, {m};", w, lambda x: (x - m) & mask(w))

    def value(self, x):
        for f in self.steps:
            x = f(x)
        return x


def case(rng):
    size, out = rng.choice([8, 16, 16, 32]), rng.choice([8, 16, 32, 32, 64])
    sign, sign_out = rng.choice("iu"), rng.choice("iu")
    kind, kind_out = f"{sign}{size}", f"{sign_out}{out}"
    chain = Chain(rng)
    chain.load(size, "%d3")
    if size == 16 and rng.random() < 0.25:
        kind, out, kind_out = rng.choice(["bf16", "f16"]), 32, "f32"
    for _ in range(rng.randrange(5)):
        chain.step()
    store = rng.choice("bsu")
    if chain.bits < out:
        s = rng.choice("su")
        w = chain.bits
        to = max(out, 16)
        chain.emit(f"cvt.{s}{to}.{s}{w} @, {chain.at};", to, lambda x: (signed(x, w) if s == "s" else x) & mask(to))
    body = f"mul.wide.u32 %d2, %r0, {size // 8}; add.s64 %d3, %d1, %d2; mul.wide.u32 %d2, %r0, {out // 8}; add.s64 %d2, %d0, %d2;\n"
    body += "\n".join(chain.lines) + f"\nst.global.{store}{out} [%d2], {chain.at};\nret;\n}}\n"
    return HEAD + body, kind, kind_out, chain, size, out


def wanted(x, kind, size, out):
    """The bits of the element's value in the result's type; none of NaN, whose bits are free."""
    if kind == "bf16":
        bits = x << 16
    elif kind == "f16":
        value = struct.unpack("<e", struct.pack("<H", x))[0]
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
    else:
        return (signed(x, size) if kind[0] == "i" else x) & mask(out)
    return None if bits & 0x7f800000 == 0x7f800000 and bits & 0x7fffff else bits


def right(chain, kind, size, out, rng):
    values = range(1 << size) if size < 32 else [0, 1, mask(31), 1 << 31, mask(32), 0x7fff, 0x8000, 0xff, 0x80, 0xffff] + [
        rng.getrandbits(32) >> rng.randrange(28) for _ in range(200)]
    for x in values if size < 16 else sorted(values, key=lambda v: v * 40503 & 0xffff)[:4096]:
        want = wanted(x, kind, size, out)
        if want is not None and chain.value(x) & mask(out) != want:
            return False
    return True


def main():
    options = options_of(__doc__, keep=True)
    counts = {"proved": 0, "refuted": 0, "unknown": 0}
    unknown_right = different = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.ptx")
        for number in range(options.cases):
            rng = random.Random(options.seed * 1000003 + number)
            text, kind, kind_out, chain, size, out = case(rng)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            code, document = answered(options.binary, ["flow", path, "--block", "4", "--repair-steps", "0", "--param", f"0=c:{kind_out}[4]", "--param",
                                                  f"1=a:{kind}[4]", "--expect", "c[i] = a[i]", "--json"])
            answer = {0: "proved", 1: "refuted", 3: "unknown"}.get(code, f"exit {code}")
            truth = right(chain, kind, size, out, rng)
            if answer not in counts or (answer == "proved" and not truth) or (answer == "refuted" and truth):
                different += 1
                print(f"case {number}: {answer}, and the chain is {'right' if truth else 'wrong'} for {kind} -> {kind_out}\n" + "\n".join(chain.lines))
                if options.keep:
                    with open(os.path.join(options.keep, f"{number}.ptx"), "w", encoding="utf-8") as f:
                        f.write(text)
                continue
            counts[answer] += 1
            unknown_right += answer == "unknown" and truth
    print(f"{options.cases} chains: {counts['proved']} proved, {counts['refuted']} refuted, {counts['unknown']} unknown "
          f"({unknown_right} of these right); {different} different")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
