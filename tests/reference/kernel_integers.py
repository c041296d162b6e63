#!/usr/bin/env python3
"""kernel_integers.py --cases N --seed S: a reference model of integer instructions that few kernels have, written from the PTX ISA 9.1.

Each case is one instruction with one of its modes, on numbers of the lanes and constants (0, negative, the largest, those at which a field ends),
and a store to a word that ten bits of its result choose. All lanes are known, so `swizproof kernel` gives exactly the wavefronts that the
model gives, in whole warps and partial ones. The last line has the numbers; exit code 1 if something differs.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import asking

EDGES = [0, 1, 2, 5, 7, 8, 15, 16, 23, 24, 30, 31, 32, 33, 63, 64, 100, 255, 256, 1000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001,
         0xFFFFFF00, 0xFFFFFFFE, 0xFFFFFFFF]


def cut(x, bits):
    return x & (1 << bits) - 1


def signed(x, bits):
    x = cut(x, bits)
    return x - (1 << bits) if x >> (bits - 1) else x


def bit(x, k):
    return x >> k & 1


def bfe(a, b, c, w, is_signed):
    pos, length, msb = b & 255, c & 255, w - 1
    sign = 0 if not is_signed or length == 0 else bit(a, min(pos + length - 1, msb))
    return sum((bit(a, pos + i) if i < length and pos + i <= msb else sign) << i for i in range(w))


def bfi(a, b, c, d, w):
    pos, length, f = c & 255, d & 255, b
    for i in range(length):
        if pos + i < w:
            f = f & ~(1 << pos + i) | bit(a, i) << pos + i
    return f


def bfind(a, w, is_signed, shift):
    if is_signed and bit(a, w - 1):
        a = cut(~a, w)
    for i in range(w - 1, -1, -1):
        if bit(a, i):
            return w - 1 - i if shift else i
    return 0xFFFFFFFF


def prmt(a, b, c, mode):
    data = [(b << 32 | a) >> 8 * k & 255 for k in range(8)]
    n = c & 3
    picks = {"f4e": [n, n + 1, n + 2, n + 3], "b4e": [n % 8, (n - 1) % 8, (n - 2) % 8, (n - 3) % 8], "rc8": [n] * 4,
             "ecl": [max(n, k) for k in range(4)], "ecr": [min(n, k) for k in range(4)], "rc16": [0, 1, 0, 1] if n % 2 == 0 else [2, 3, 2, 3]}
    if mode:
        return sum(data[p] << 8 * k for k, p in enumerate(picks[mode]))
    out = 0
    for k in range(4):
        s = c >> 4 * k & 15
        out |= (255 if data[s & 7] & 128 else 0) << 8 * k if s & 8 else data[s & 7] << 8 * k
    return out


def draw_instruction(r):
    """Text with {d}, {a}, {b}, {c}, {e}; widths of its operands; its function."""
    sign = r.choice("us")
    is_s = sign == "s"
    w = r.choice([32, 32, 64])
    num = lambda x, bits=32: signed(x, bits) if is_s else cut(x, bits)
    mode = r.choice(["wrap", "clamp"])
    count = lambda x: x & 31 if mode == "wrap" else min(x, 32)
    low = lambda n: (1 << n) - 1
    test = r.choice(["eq", "ne", "lt", "le", "gt", "ge"])
    holds = {"eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__}[test]
    kinds = [r.choice("us"), r.choice("us")]
    part = lambda x, k, bits, kind: signed(x >> bits * k, bits) if kind == "s" else cut(x >> bits * k, bits)
    half = r.choice(["lo", "hi"])
    prmt_mode = r.choice(["", "", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"])
    clip = lambda x: max(-1 << 31, min((1 << 31) - 1, x))
    def szext(a, b, c, e):
        n = count(b)
        return 0 if n == 0 else signed(a, n) if is_s else cut(a, n)
    def mul24(a, b):
        p = signed(a, 24) * signed(b, 24) if is_s else cut(a, 24) * cut(b, 24)
        return p >> 16 if half == "hi" else p
    borrow = lambda a, b, c: a - b - c
    return r.choice([
        (f"bfe.{sign}{w} {{d}}, {{a}}, {{b}}, {{c}};", (w, w, 32, 32, 0), lambda a, b, c, e: bfe(a, b, c, w, is_s)),
        (f"bfi.b{w} {{d}}, {{a}}, {{b}}, {{c}}, {{e}};", (w, w, w, 32, 32), lambda a, b, c, e: bfi(a, b, c, e, w)),
        (f"bmsk.{mode}.b32 {{d}}, {{a}}, {{b}};", (32, 32, 32, 0, 0), lambda a, b, c, e: low(count(b)) << count(a) if count(a) < 32 else 0),
        (f"szext.{mode}.{sign}32 {{d}}, {{a}}, {{b}};", (32, 32, 32, 0, 0), szext),
        (f"cnot.b{w} {{d}}, {{a}};", (w, w, 0, 0, 0), lambda a, b, c, e: int(a == 0)),
        (f"bfind.{sign}{w} {{d}}, {{a}};", (32, w, 0, 0, 0), lambda a, b, c, e: bfind(a, w, is_s, False)),
        (f"bfind.shiftamt.{sign}{w} {{d}}, {{a}};", (32, w, 0, 0, 0), lambda a, b, c, e: bfind(a, w, is_s, True)),
        (f"sad.{sign}{w} {{d}}, {{a}}, {{b}}, {{c}};", (w, w, w, w, 0), lambda a, b, c, e: c + abs(num(a, w) - num(b, w))),
        (f"mul24.{half}.{sign}32 {{d}}, {{a}}, {{b}};", (32, 32, 32, 0, 0), lambda a, b, c, e: mul24(a, b)),
        (f"mad24.{half}.{sign}32 {{d}}, {{a}}, {{b}}, {{c}};", (32, 32, 32, 32, 0), lambda a, b, c, e: mul24(a, b) + c),
        (f"dp4a.{kinds[0]}32.{kinds[1]}32 {{d}}, {{a}}, {{b}}, {{c}};", (32, 32, 32, 32, 0),
         lambda a, b, c, e: c + sum(part(a, k, 8, kinds[0]) * part(b, k, 8, kinds[1]) for k in range(4))),
        (f"dp2a.{half}.{kinds[0]}32.{kinds[1]}32 {{d}}, {{a}}, {{b}}, {{c}};", (32, 32, 32, 32, 0),
         lambda a, b, c, e: c + sum(part(a, k, 16, kinds[0]) * part(b, k + (2 if half == "hi" else 0), 8, kinds[1]) for k in range(2))),
        (f"prmt.b32{'.' + prmt_mode if prmt_mode else ''} {{d}}, {{a}}, {{b}}, {{c}};", (32, 32, 32, 32, 0), lambda a, b, c, e: prmt(a, b, c, prmt_mode)),
        (f"slct.b{w}.s32 {{d}}, {{a}}, {{b}}, {{c}};", (w, w, w, 32, 0), lambda a, b, c, e: a if signed(c, 32) >= 0 else b),
        (f"set.{test}.{r.choice(['u32', 's32'])}.{sign}{w} {{d}}, {{a}}, {{b}};", (32, w, w, 0, 0), lambda a, b, c, e: 0xFFFFFFFF if holds(num(a, w), num(b, w)) else 0),
        (f"set.{test}.f32.{sign}{w} {{d}}, {{a}}, {{b}};", (32, w, w, 0, 0), lambda a, b, c, e: 0x3F800000 if holds(num(a, w), num(b, w)) else 0),
        ("add.sat.s32 {d}, {a}, {b};", (32, 32, 32, 0, 0), lambda a, b, c, e: clip(signed(a, 32) + signed(b, 32))),
        ("sub.sat.s32 {d}, {a}, {b};", (32, 32, 32, 0, 0), lambda a, b, c, e: clip(signed(a, 32) - signed(b, 32))),
        # The carry of a + b, or the borrow of a - b, counts in the upper word: of c and e, and once more.
        (f"add.cc.{sign}{w} {{d}}, {{a}}, {{b}}; addc.{sign}{w} {{d}}, {{c}}, {{e}};", (w, w, w, w, w), lambda a, b, c, e: (a + b >> w) + c + e),
        (f"sub.cc.{sign}{w} {{d}}, {{a}}, {{b}}; subc.{sign}{w} {{d}}, {{c}}, {{e}};", (w, w, w, w, w), lambda a, b, c, e: borrow(c, e, int(a < b))),
        (f"add.cc.u{w} {{d}}, {{a}}, {{b}}; addc.cc.u{w} {{d}}, {{c}}, {{e}}; addc.u{w} {{d}}, {{a}}, 0;", (w, w, w, w, w),
         lambda a, b, c, e: a + ((a + b >> w) + c + e >> w)),
        (f"sub.cc.u{w} {{d}}, {{a}}, {{b}}; subc.cc.u{w} {{d}}, {{c}}, {{e}}; subc.u{w} {{d}}, {{a}}, 0;", (w, w, w, w, w),
         lambda a, b, c, e: borrow(a, 0, int(borrow(c, e, int(a < b)) < 0))),
    ])


class Value:
    """A number of a lane: tid * factor + constant, its low bits, or a constant."""

    def __init__(self, r, width):
        self.width, self.wide = width, width == 64
        self.factor = r.choice([0, 0, 1, 1, 3, -1, 0x10001, 0x8000000, 33])
        self.add = r.choice(EDGES) if r.random() < .7 else r.randrange(1 << 32)
        self.mask = r.choice([None, None, 1, 31, 63, 0xFF, 0x80000001])
        self.high = r.choice([0, 0, 1, 0x80000000, 0xFFFFFFFF]) if self.wide else 0

    def text(self, name):
        lines = f"mad.lo.s32 {name}, %t, {signed(self.factor, 32)}, {signed(self.add, 32)};"
        if self.mask is not None:
            lines += f" and.b32 {name}, {name}, {signed(self.mask, 32)};"
        return lines + (f" mov.b64 {name}d, {{{name}, {signed(self.high, 32)}}};" if self.wide else "")

    def of(self, tid):
        x = cut(tid * self.factor + self.add, 32)
        return (x if self.mask is None else x & self.mask) | self.high << 32


def kernel(r, name, block, count):
    text, expected = "", []
    for k in range(count):
        form, widths, function = draw_instruction(r)
        values = [Value(r, w) if w else None for w in widths[1:]]
        names = {}
        for letter, v in zip("abce", values):
            if v:
                names[letter] = f"%{letter}{k}" + ("d" if v.wide else "")
                text += v.text(f"%{letter}{k}") + "\n"
        names["d"] = f"%d{k}d" if widths[0] == 64 else f"%d{k}"
        text += form.format(**names) + "\n"
        shift = r.choice([0, 0, 0, 3, 8, 16, 22])
        if widths[0] == 64:
            shift = r.choice([0, 20, 32, 54])
            text += f"shr.u64 %d{k}d, %d{k}d, {shift}; cvt.u32.u64 %d{k}, %d{k}d;\n"
        else:
            text += f"shr.u32 %d{k}, %d{k}, {shift};\n"
        text += f"and.b32 %d{k}, %d{k}, 1023; shl.b32 %d{k}, %d{k}, 2; add.u32 %d{k}, %d{k}, %s; st.shared.u32 [%d{k}], %t;\n"
        most = 0
        for warp in range(0, block, 32):
            banks = {}
            for tid in range(warp, min(warp + 32, block)):
                result = cut(function(*[v.of(tid) if v else 0 for v in values]), widths[0])
                word = result >> shift & 1023
                banks.setdefault(word % 32, set()).add(word)
            most = max([most] + [len(words) for words in banks.values()])
        expected.append((most, form))
    regs = "".join(f".reg .b32 %{x}<{count}>; .reg .b64 " + ", ".join(f"%{x}{k}d" for k in range(count)) + ";\n" for x in "abced")
    return f".visible .entry {name}() .maxntid 1024\n{{\n.shared .align 16 .b8 s[4096]; .reg .b32 %t, %s;\n{regs}mov.u32 %t, %tid.x; mov.u32 %s, s;\n{text}ret;\n}}\n", expected


def main():
    given = asking.options_of(__doc__)
    r, done, different, forms = random.Random(given.seed), 0, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        while done < given.cases:
            block, count = r.choice([32, 64, 20, 44, 96]), min(25, given.cases - done)
            text, expected = kernel(r, "k", block, count)
            path = os.path.join(folder, "a.ptx")
            with open(path, "w") as f:
                f.write(".version 9.0\n.target sm_90a\n.address_size 64\n" + text)
            answer = subprocess.run([given.binary, "kernel", path, "--json", "--block", str(block)], capture_output=True, text=True)
            accesses = json.loads(answer.stdout)["kernels"][0]["accesses"] if answer.stdout else []
            if len(accesses) != count:
                print("DIFFERENT:", answer.stderr[:300], len(accesses))
                return 1
            for (most, form), access in zip(expected, accesses):
                forms.add(form.split()[0])
                if access["wavefronts"] != most or access["verdict"] != ("proved" if most == 1 else "refuted"):
                    different += 1
                    if different <= 10:
                        print(f"DIFFERENT: {form} in a block of {block}: {access['verdict']} {access['wavefronts']} ({access.get('reason')}), not {most}")
                        print(text if count == 1 else "")
            done += count
    print(f"{done} cases of {len(forms)} instructions; {different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
