#!/usr/bin/env python3
"""ptx_expressions.py --cases N --seed S: a reference model of constant expressions, written from PTX ISA 9.1, 4.5.4 to 4.5.6.

Where the ISA leaves a type open, it has what ptxas does: with --ptxas its values are compared, too. Each random expression is an offset of an
address, whose number `kernel` prints: bits 0 to 5, 20 to 25 and 58 to 63 of it.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

M = (1 << 64) - 1
PRECEDENCE = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]
LEVEL = {op: k for k, ops in enumerate(PRECEDENCE) for op in ops}


def signed(x):
    return x - (1 << 64) if x >> 63 else x


def number(rng):
    v = rng.choice([0, 1, 2, 3, 7, 31, 63, 64, M >> 1, M, rng.getrandbits(64), rng.getrandbits(8)])
    text = rng.choice([hex(v), str(v), "0" + oct(v)[2:] if v else "0", bin(v)])
    unsigned = rng.random() < 0.2
    return text + ("U" if unsigned else ""), 99, (v, not unsigned and v < 1 << 63)


def unary(op, v, is_signed):
    return {"-": (-v & M, is_signed), "+": (v, is_signed), "~": (~v & M, False), "!": (int(v == 0), True), "(.s64)": (v, True), "(.u64)": (v, False)}[op]


def binary(op, a, b):
    (x, xs), (y, ys) = a, b
    both = xs and ys
    p, q = (signed(x), signed(y)) if both else (x, y)
    if op in ("/", "%") and y == 0:
        raise ZeroDivisionError
    if op == "%":
        return x % y, False
    if op == "/":
        quotient = abs(p) // abs(q)
        return (-quotient if (p < 0) != (q < 0) else quotient) & M, both
    if op == "<<":
        return x << (y & 63) & M, xs
    if op == ">>":
        return (signed(x) if xs else x) >> (y & 63) & M, xs
    if op in ("&&", "||", "<", ">", "<=", ">=", "==", "!="):
        return int({"&&": x and y, "||": x or y, "<": p < q, ">": p > q, "<=": p <= q, ">=": p >= q, "==": x == y, "!=": x != y}[op] not in (0, False)), True
    return {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[op] & M, both


def expression(rng, depth):
    """Text, precedence and value."""
    if depth == 0 or rng.random() < 0.2:
        return number(rng)
    inner = lambda least: (lambda t: (t[0] if t[1] >= least and rng.random() < 0.9 else f"({t[0]})", t[2]))(expression(rng, depth - 1))
    kind, space = rng.random(), rng.choice(["", " "])
    if kind < 0.25:
        op, (text, value) = rng.choice(["-", "~", "!", "+", "(.s64)", "(.u64)"]), inner(20)
        return f"{op} {text}", 20, unary(op, *value)
    if kind < 0.3:
        (c, cv), (a, av), (b, bv) = inner(0), inner(-1), inner(-1)
        return f"{c} ? {a} : {b}", -1, av if cv[0] else bv
    op = rng.choice(list(LEVEL))
    (a, av), (b, bv) = inner(LEVEL[op]), inner(LEVEL[op] + 1)
    space = " " if op == "%" else space  # "%1" is a name
    return f"{a}{space}{op}{space}{b}", LEVEL[op], binary(op, av, bv)


def by_ptxas(cases):
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = os.path.join(folder, "e.ptx"), os.path.join(folder, "e.cubin")
        first, last = 0x1122334455667788, 0x8877665544332211
        with open(ptx, "w") as f:
            f.write(f".version 9.0\n.target sm_90\n.address_size 64\n.visible .global .align 8 .u64 x[{len(cases) + 2}] = {{{first},\n" + ",\n".join(t for t, v in cases) + f",\n{last}}};\n")
        subprocess.run(["ptxas", "-arch=sm_90", ptx, "-o", cubin], check=True)
        with open(cubin, "rb") as f:
            data = f.read()
    at = data.find(struct.pack("<Q", first)) + 8
    return struct.unpack(f"<{len(cases)}Q", data[at:at + 8 * len(cases)])


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--cases", type=int, default=200)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--binary", default="build/default/swizproof")
    parse.add_argument("--ptxas", action="store_true")
    args = parse.parse_args()
    rng, cases, differences = random.Random(args.seed), [], 0
    while len(cases) < args.cases:
        try:
            text, _, (value, _) = expression(rng, 3)
            cases.append((text, value))
        except ZeroDivisionError:
            pass
    if args.ptxas:
        for (text, value), theirs in zip(cases, by_ptxas(cases)):
            if value != theirs:
                differences += 1
                print(f"{text}: {value:#x}, and {theirs:#x} by ptxas")
    shifts = (0, 20, 58)
    lines = [f"ld.shared.u8 %r1, [s+(((.u64)({text}) >> {k}) & 63)];" for text, _ in cases for k in shifts]
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {\n.reg .b32 %r<4>; .shared .b8 s[64];\n" + "\n".join(lines) + "\nret; }\n")
        f.flush()
        run = subprocess.run([args.binary, "kernel", f.name, "--json", "--block", "32"], capture_output=True, text=True)
    if run.returncode not in (0, 1, 3):
        print(run.stderr)
        return 1
    listed = {a["ptx_line"]: a["address"] for a in json.loads(run.stdout)["kernels"][0]["accesses"]}
    for number_of, (text, value) in enumerate(cases):
        for place, k in enumerate(shifts):
            offset = value >> k & 63
            wanted, said = f"s + {offset}" if offset else "s", listed.get(6 + number_of * len(shifts) + place)
            if said != wanted:
                differences += 1
                print(f"{text}: bits {k} to {k + 5} are {offset}, and the address is {said}")
    print(f"{args.cases} expressions, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
