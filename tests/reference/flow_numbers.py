#!/usr/bin/env python3
"""flow_numbers.py --binary PATH --cases N --seed S: a reference model of `swizproof flow --param '0=x:i32[4]=FILE'`.

Files in the three forms, written here from their documentation: the bytes of the elements, little-endian; .npy, versions 1 to 3 (numpy.lib.format); JSON, flat or in
rows. A kernel copies each element, and the terms that the command prints are the numbers. Odd ones on purpose: other types, shapes, lengths and orders,
numbers that a type does not have, headers that are cut: each is refused.
"""
import collections
import os
import random
import struct
import sys
import tempfile

from asking import answered, options_of

#: Type, bits, letter of struct, that of numpy.
TYPES = [("i8", 8, "b", "|i1"), ("u8", 8, "B", "|u1"), ("i16", 16, "h", "<i2"), ("u16", 16, "H", "<u2"), ("i32", 32, "i", "<i4"), ("u32", 32, "I", "<u4"),
         ("i64", 64, "q", "<i8"), ("f16", 16, "e", "<f2"), ("f32", 32, "f", "<f4"), ("f64", 64, "d", "<f8")]


def kernel(count, bits):
    register = "%h1" if bits == 8 else "%r1"
    lines = [f"ld.global.b{bits} {register}, [%rd1+{i * bits // 8}]; st.global.b{bits} [%rd2+{i * bits // 8}], {register};" for i in range(count)]
    return (".version 9.0\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 y, .param .u64 x)\n{\n.reg .b16 %h<2>; .reg .b64 %rd<3>;\n"
            f".reg .b{max(bits, 16)} %r<2>;\nld.param.u64 %rd2, [y]; ld.param.u64 %rd1, [x];\n" + "\n".join(lines) + "\nret;\n}\n")


def drawn(rng, kind, bits):
    if kind[0] == "f":
        return rng.choice([0.0, -1.5, 0.25, float(rng.randint(-2000, 2000)), rng.randint(-64, 64) / 64])
    low, high = (0, (1 << bits) - 1) if kind[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    if bits == 64:  # what is printed has 53 bits
        low, high = -(1 << 40), 1 << 40
    return rng.choice([low, high, 0, 1, rng.randint(low, high), rng.randint(0, 100)])


def nested(values, shape):
    if len(shape) == 1:
        return list(values)
    step = len(values) // shape[0]
    return [nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def shape_of(rng):
    shape = [rng.randint(1, 5) for _ in range(rng.choice([1, 1, 2, 3]))]
    count = 1
    for n in shape:
        count *= n
    return shape, count


def npy(rng, descr, shape, data, fortran=False):
    version = rng.choice([1, 1, 2, 3])
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}), }}"
    size = 10 if version == 1 else 12
    text += " " * (-(size + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode() + data


def case_of(rng):
    """Parameter without the file, bytes of the file, the numbers or None where it is refused, bits, and what is odd."""
    kind, bits, letter, descr = rng.choice(TYPES)
    shape, count = shape_of(rng)
    values = [drawn(rng, kind, bits) for _ in range(count)]
    data = struct.pack(f"<{count}{letter}", *values)
    param = f"x:{kind}" + "".join(f"[{n}]" for n in shape)
    form = rng.choice(["raw", "npy", "json"])
    stored = rng.choice([shape, [count]])
    odd = rng.choice([None, None, None, "short", "long", "shape", "type", "number", "order", "cut"])
    if form == "raw":
        if data[:1] == b"[" or data.startswith(b"\x93NUMPY") or data.lstrip(b" \t\r\n")[:1] == b"[":
            return None  # it begins as another form
        if odd in ("short", "long"):
            return param, data[:-1] if odd == "short" else data + b"\0", None, bits, f"raw {odd}"
        return param, data, values, bits, "raw"
    if form == "npy":
        if odd == "short":
            return param, npy(rng, descr, stored, data[:-1]), None, bits, "npy short"
        if odd == "shape":
            return param, npy(rng, descr, [count + 1], data + data[:bits // 8]), None, bits, "npy shape"
        if odd == "type":
            other = rng.choice([d for _, _, _, d in TYPES if d != descr] + [">" + descr[1:] if bits > 8 else "<c8", "|V4", "|b1"])
            return param, npy(rng, other, stored, data), None, bits, "npy type"
        if odd == "order":
            return param, npy(rng, descr, stored, data, True), None, bits, "npy order"
        if odd == "cut":
            return param, npy(rng, descr, stored, data)[:rng.randint(6, 40)], None, bits, "npy cut"
        return param, npy(rng, descr, stored, data), values, bits, "npy"
    rows = nested(values, stored)
    if odd in ("short", "long", "shape"):
        flat = values[:-1] if odd == "short" else values + [1]
        return param, repr(flat).encode(), None, bits, f"json {odd}"
    if odd == "number":
        wrong = 0.5 if kind[0] != "f" else 1e300 if bits < 64 else "NaN"
        at = rng.randrange(count)
        return param, repr(nested(values[:at] + [wrong] + values[at + 1:], stored)).replace("'", '"').encode(), None, bits, "json number"
    if odd == "cut":
        return param, repr(rows).encode()[:-1], None, bits, "json cut"
    return param, repr(rows).encode(), values, bits, "json"


def main():
    options = options_of(__doc__, 200, by_number=True)
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.first, options.first + options.cases):
            rng = random.Random(options.seed * 1000003 + number)
            case = case_of(rng)
            if case is None:
                continue
            param, data, values, bits, what = case
            path, numbers = os.path.join(folder, "k.ptx"), os.path.join(folder, "numbers")
            count = 1
            for extent in param.split("[")[1:]:
                count *= int(extent[:-1])
            with open(path, "w", encoding="utf-8") as file:
                file.write(kernel(count, bits))
            with open(numbers, "wb") as file:
                file.write(data)
            kind = param[2:param.index("[")]
            words = ["flow", path, "--block", "1", "--json", "--every-element", "--param", f"0=y:{kind}[{count}]", "--param", f"1={param}={numbers}"]
            code, document = answered(options.binary, words)
            tally[what] += 1
            if values is None:
                good = code == 2
            else:
                whole = 1 << bits  # integers are printed with a sign
                found = [float(one.split(" = ")[1]) for one in document["values"]] if code == 0 else []
                good = [n if kind[0] == "f" else int(n) % whole for n in found] == [v if kind[0] == "f" else v % whole for v in values]
            if options.show:
                print(param, data[:200], code, document)
            if not good:
                differences += 1
                print(f"DIFFERENT: seed {options.seed}, case {number}: {what}: {param} {data[:300]}: {values}: exit {code}, {str(document)[:600]}", flush=True)
    print(f"flow_numbers: {sum(tally.values())} files; " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())) + f"; {differences} different")
    return int(differences != 0)


if __name__ == "__main__":
    sys.exit(main())
