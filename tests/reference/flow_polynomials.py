#!/usr/bin/env python3
"""flow_polynomials.py --cases N --seed S: a reference model of how `swizproof flow` compares results with expectations.

Half of the cases are polynomials of one or two integers of 8 to 64 bits, many of them 0 for all numbers: the kernel computes one of them, another one is
expected, and both are evaluated here on all numbers up to 7 and on random ones. The others are chains of add, sub, mul, fma and cvt on known
numbers of f32, f16 and bf16, rounded here by exact fractions: the result is the expected number, or one near it. `proved` and `refuted` have to be true;
`unknown` is counted. The last line has the numbers; exit code 1 if there are differences. --binary PATH asks a program in place of the Python module.
"""
import os
import random
import struct
import sys
import tempfile
from fractions import Fraction
from itertools import product

from asking import answered, options_of

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.entry k(.param .u64 c, .param .u64 a)
{
.reg .b16 %h<40>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %d<60>;
ld.param.u64 %d0, [c]; ld.param.u64 %d1, [a];
"""
TAIL = "ret;\n}\n"


# ---------------------------------------------------------------------------------------- polynomials of integers

def falling(x, n):
    """Coefficients by powers of x * (x - 1) * .. of n factors, x being the variable `x` of two."""
    out = {(0, 0): 1}
    for k in range(n):
        new = {}
        for power, c in out.items():
            up = (power[0] + (x == 0), power[1] + (x == 1))
            new[up] = new.get(up, 0) + c
            new[power] = new.get(power, 0) - k * c
        out = new
    return out


def times(p, q):
    out = {}
    for (a, b), c in p.items():
        for (d, e), f in q.items():
            out[a + d, b + e] = out.get((a + d, b + e), 0) + c * f
    return out


def value(p, x, y):
    return sum(c * x ** i * y ** j for (i, j), c in p.items())


def polynomial_case(rng):
    bits, sign = rng.choice([16, 32, 32, 64]), rng.choice("iu")
    first = {}
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(5)
        j = rng.randrange(5 - i)
        first[i, j] = first.get((i, j), 0) + rng.choice([1, -1, 2, 3, 5, 1 << rng.randrange(min(bits, 40))])
    m = rng.randrange(5)
    n = rng.randrange(5 - m)
    factor = rng.choice([1, 3]) << rng.randrange(max(bits - 8, 0), bits) if bits < 64 else 0
    null = {power: c * factor for power, c in times(falling(0, m), falling(1, n)).items()}
    second = dict(first)
    for power, c in null.items():
        second[power] = second.get(power, 0) + c
    if rng.random() < 0.3:
        first, second = second, first
    size = bits // 8
    lines = [f"ld.global.u{bits} %x0, [%d1]; ld.global.u{bits} %x1, [%d1+{size}]; mov.u{bits} %x2, 0;"]
    for (i, j), c in first.items():
        lines.append(f"mov.u{bits} %x3, {c % (1 << bits)};" if bits != 16 else f"mov.b16 %x3, {c % (1 << bits)};")
        lines += [f"mul.lo.u{bits} %x3, %x3, %x0;"] * i + [f"mul.lo.u{bits} %x3, %x3, %x1;"] * j
        lines.append(f"add.u{bits} %x2, %x2, %x3;")
    lines.append(f"st.global.u{bits} [%d0], %x2;")
    body = "\n".join(lines).replace("%x", {16: "%h", 32: "%r", 64: "%d2"}[bits])
    if bits == 16:
        body = body.replace("mov.u16", "mov.b16")
    terms = [f"({c % (1 << bits)})" + "*a[0]" * i + "*a[1]" * j for (i, j), c in second.items() if c % (1 << bits) != 0] or ["0"]
    modulo = 1 << bits
    points = list(product(range(8), repeat=2)) + [(rng.randrange(modulo), rng.randrange(modulo)) for _ in range(200)]
    same = all((value(first, x, y) - value(second, x, y)) % modulo == 0 for x, y in points)
    return HEAD + body + "\n" + TAIL, f"{sign}{bits}", f"{sign}{bits}", "c[i] = " + " + ".join(terms), same


# ---------------------------------------------------------------------------------------- known numbers

SHAPES = {"f32": (23, 127), "f16": (10, 15), "bf16": (7, 127)}


def rounded(x, kind, how):
    """A fraction that a format holds; None where it is too large."""
    fraction, bias = SHAPES[kind]
    if x == 0:
        return x
    exponent = 0
    while abs(x) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(x) < Fraction(2) ** exponent and exponent > 1 - bias:
        exponent -= 1
    unit = Fraction(2) ** (exponent - fraction)
    scaled = x / unit
    below = scaled.numerator // scaled.denominator
    rest = scaled - below
    if how == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1)
    else:
        up = rest > 0 and (how == "rp" or (how == "rz" and x < 0))
    out = (below + up) * unit
    return None if abs(out) >= Fraction(2) ** (bias + 1) else out


def bits_of(x, kind):
    fraction, bias = SHAPES[kind]
    sign, x = (1 if x < 0 else 0), abs(x)
    exponent = 1 - bias
    while x >= Fraction(2) ** (exponent + 1):
        exponent += 1
    m = x / Fraction(2) ** (exponent - fraction)
    assert m.denominator == 1
    m = m.numerator
    field = exponent + bias if m >= 1 << fraction else 0
    return sign << (31 if kind == "f32" else 15) | field << fraction | (m & ((1 << fraction) - 1))


def draw(rng, kind):
    fraction, _ = SHAPES[kind]
    m = rng.choice([1, 3, (1 << fraction) + 1, (2 << fraction) - 1, rng.getrandbits(fraction + 1)])
    return rng.choice([1, -1]) * Fraction(m) * Fraction(2) ** (rng.randrange(-4, 5) - rng.choice([0, fraction, fraction]))


def load(rng, kind, register, x, lines):
    word = "%f" if kind == "f32" else "%h"
    lines.append(f"mov.b{32 if kind == 'f32' else 16} {word}{register}, 0x{bits_of(x, kind):x};")


def number_case(rng):
    while True:
        kind, lines = rng.choice(["f32", "f32", "f16", "bf16"]), []
        word = "%f" if kind == "f32" else "%h"
        x = rounded(draw(rng, kind), kind, "rz")
        load(rng, kind, 1, x, lines)
        for _ in range(rng.randrange(1, 4)):
            op = rng.choice(["add", "sub", "mul", "fma"] if kind != "bf16" else ["fma"])
            how = rng.choice(["rn", "rz", "rm", "rp"]) if kind == "f32" else "rn"
            y, z = (rounded(draw(rng, kind), kind, "rz") for _ in range(2))
            load(rng, kind, 2, y, lines)
            load(rng, kind, 3, z, lines)
            lines.append(f"{op}.{how}.{kind} {word}1, {word}1, {word}2{', ' + word + '3' if op == 'fma' else ''};")
            exact = x + y if op == "add" else x - y if op == "sub" else x * y if op == "mul" else x * y + z
            x = rounded(exact, kind, how)
            if x is None or exact == 0:
                break
        if x is None or x == 0:
            continue
        if kind == "f32" and rng.random() < 0.4:
            kind, how = rng.choice(["f16", "bf16"]), rng.choice(["rn", "rz"])
            lines.append(f"cvt.{how}.{kind}.f32 %h1, %f1;")
            x, word = rounded(x, kind, how), "%h"
        elif kind == "f32" and rng.random() < 0.3:
            n, how = rng.getrandbits(rng.choice([26, 32, 54, 63])) | 1, rng.choice(["rn", "rz", "rm", "rp"])
            lines.append(f"mov.u64 %d5, {n}; cvt.{how}.f32.u64 %f1, %d5;")
            x = rounded(Fraction(n), kind, how)
        if x is None or x == 0:
            continue
        break
    bits = bits_of(x, kind)
    fraction, _ = SHAPES[kind]
    near = bits ^ rng.choice([0, 0, 1])
    sign = -1 if near >> (31 if kind == "f32" else 15) else 1
    if kind == "f32":
        other = struct.unpack("<f", struct.pack("<I", near))[0]
    elif kind == "bf16":
        other = struct.unpack("<f", struct.pack("<I", near << 16))[0]
    else:
        other = struct.unpack("<e", struct.pack("<H", near))[0]
    lines.append(f"st.global.b{32 if kind == 'f32' else 16} [%d0], {word}1;")
    text = f"{abs(other):.60f}".rstrip("0") if abs(other) > 1e-20 else f"{abs(other):.200f}".rstrip("0")
    return HEAD + "\n".join(lines) + "\n" + TAIL, kind, "f32", f"c[i] = {'-' if sign < 0 else ''}{text}0", near == bits


def main():
    options = options_of(__doc__, keep=True)
    counts = {"proved": 0, "refuted": 0, "unknown": 0}
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.ptx")
        for number in range(options.cases):
            rng = random.Random(options.seed * 1000003 + number)
            text, kind, kind_a, expect, same = polynomial_case(rng) if number % 2 == 0 else number_case(rng)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            code, _ = answered(options.binary, ["flow", path, "--block", "1", "--repair-steps", "0", "--param", f"0=c:{kind}[1]",
                                                "--param", f"1=a:{kind_a}[2]", "--expect", expect, "--json"])
            answer = {0: "proved", 1: "refuted", 3: "unknown"}.get(code, f"exit {code}")
            counts[answer] = counts.get(answer, 0) + 1
            if answer not in ("proved" if same else "refuted", "unknown"):
                different += 1
                print(f"case {number}: {answer}, and the element is {'right' if same else 'wrong'}: {expect}\n{text}")
                if options.keep:
                    with open(os.path.join(options.keep, f"{number}.ptx"), "w", encoding="utf-8") as f:
                        f.write(text)
    print(f"{options.cases} cases: {counts['proved']} proved, {counts['refuted']} refuted, {counts['unknown']} unknown; {different} different")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
