#!/usr/bin/env python3
"""ZLUDA's tests of instructions (vosen/ZLUDA, ptx/src/test/spirv_run): kernels of PTX with the numbers that they read and those that they shall write.

`flow` executes each kernel on its input, one thread or 64, and prints what it has written. The label is right: each number is as the test has it. Bits are compared; of floating-point
numbers, both zeros are one. A value that `flow` gives no number is undecided. A test without numbers is not asked, nor is one whose label takes what one GPU does for what PTX says.
"""
import re
import struct
import time

import suite

SIZES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8, "f16": 2, "f32": 4, "f64": 8}
FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
SPECIAL = {"NAN": float("nan"), "INFINITY": float("inf"), "NEG_INFINITY": float("-inf")}
TYPES = "[iuf](?:8|16|32|64)"


def literal(text):
    """A literal of Rust and its type, None if it has none."""
    m = re.fullmatch(rf"(-?)(0x[\da-fA-F_]+?|0b[01_]+|[\d_]+(?:\.\d*)?)_?({TYPES})?", text.strip())
    if not m:
        raise suite.Failed(f"the number {text} is not read")
    sign, digits, kind = m.groups()
    digits = digits.replace("_", "")
    value = float(digits) if "." in digits or (kind or "i").startswith("f") and not digits.startswith("0x") else int(digits, 0 if digits[:2] in ("0x", "0b") else 10)
    return -value if sign else value, kind or ("float" if isinstance(value, float) else None)


def element(text):
    """Value, and type, of an element of an array in Rust; its bits as bytes where it is given by them."""
    text = re.sub(r"\b(?:half|std)::", "", text.strip())
    if m := re.fullmatch(r"(f\d+)::(\w+)(\.to_bits\(\))?", text):
        value = SPECIAL[m.group(2)]
        return (int.from_bytes(packed(value, m.group(1)), "little"), "u" + m.group(1)[1:]) if m.group(3) else (value, m.group(1))
    if m := re.fullmatch(r"(f\d+)::from_bits\((.*)\)", text):
        return literal(m.group(2))[0].to_bytes(SIZES[m.group(1)], "little"), m.group(1)
    if m := re.fullmatch(r"(f\d+)::from_f\d+\((.*)\)", text):
        return literal(m.group(2))[0], m.group(1)
    if m := re.fullmatch(r"([iu])(\d+)::(MIN|MAX|max_value\(\))", text):
        bits, signed = int(m.group(2)), m.group(1) == "i"
        return (-(1 << bits - 1) if signed else 0) if m.group(3) == "MIN" else (1 << bits - signed) - 1, m.group(1) + m.group(2)
    if m := re.fullmatch(r"f32::consts::PI(?: / (\d)f32)?", text):
        return 3.14159274101257324 / int(m.group(1) or 1), "f32"
    return literal(text)


def packed(value, kind):
    if isinstance(value, bytes):
        return value
    if kind in FLOATS:
        return struct.pack(FLOATS[kind], value)
    return (int(value) & (1 << 8 * SIZES[kind]) - 1).to_bytes(SIZES[kind], "little")


def array(text):
    """Type and bytes of each element of an array in Rust."""
    elements = [element(one) for one in split(text.strip()[1:-1])]
    kinds = [kind for _, kind in elements if kind in SIZES]
    kind = kinds[0] if kinds else "f64" if any(k == "float" for _, k in elements) else "i32"
    return kind, [packed(value, kind) for value, _ in elements]


def split(text):
    """Parts between commas that are in no bracket."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [one.strip() for one in parts if one.strip()]


def tests(text):
    """Name, input, output and threads of each test; the arrays may be None."""
    text = re.sub(r"//.*", "", text)
    for m in re.finditer(r"^test_ptx(_warp|_with_32)?!\(", text, re.M):
        depth, end = 1, m.end()
        while depth:
            depth += (text[end] in "([") - (text[end] in ")]")
            end += 1
        name, *rest = split(text[m.end():end - 1])
        if m.group(1) == "_warp" and rest:
            rest = [None, *rest]
        yield name, *(rest or [None, None]), 64 if m.group(1) == "_warp" else 1


def words(data):
    """Type of whole words of so many bytes, and the words."""
    size = next(n for n in (4, 2, 1) if len(data) % n == 0)
    return f"u{8 * size}", [int.from_bytes(data[at:at + size], "little") for at in range(0, len(data), size)]


def wrong(kind, found, expected):
    """The first element that is not as expected, or -1."""
    size = SIZES[kind]
    for k, one in enumerate(expected):
        other = found[k * size:(k + 1) * size]
        if one != other and not (kind in FLOATS and struct.unpack(FLOATS[kind], one) == struct.unpack(FLOATS[kind], other)):
            return k
    return -1


def ask(name, ptx, given, expected, threads):
    """The document that `flow` answers with, made one about these numbers."""
    kind, out = array(expected)
    types = ["32" if p in ("u32", "b32") else "64" for p in suite.parameters(ptx)]
    of_words, numbers = words(b"".join(out))
    options, last = ["--block", str(threads), "--shared-bytes", "1024", "--every-element"], len(types) - 1
    if given:
        of_input, values = words(b"".join(array(given)[1]))
        options += ["--param", f"0=in:{of_input}[{len(values)}]={','.join(map(str, values))}"]
    elif last == 1:
        options += ["--param", "0=0"]
    document = s.flow(ptx, *options, "--param", f"{last}=out:{of_words}[{len(numbers)}]=zeros")
    if document["verdict"] != "proved":
        return document
    size, found = SIZES[of_words], bytearray(sum(map(len, out)))
    for text in document["values"]:
        if not (m := re.fullmatch(r"out\[(\d+)\] = (-?\d+)", text)):
            if text.startswith("out["):
                return {"verdict": "unknown", "reason": f"a value that is no number: {text}"}
            continue
        at = int(m.group(1)) * size
        found[at:at + size] = (int(m.group(2)) & (1 << 8 * size) - 1).to_bytes(size, "little")
    k = wrong(kind, bytes(found), out)
    if k < 0:
        return document
    bits = found[k * SIZES[kind]:(k + 1) * SIZES[kind]][::-1].hex()
    return {"verdict": "refuted", "kind": "wrong element", "fault": {"kind": "wrong element", "text": f"element {k} is 0x{bits}, expected 0x{out[k][::-1].hex()}", "lines": []}}


#: Tests whose labels PTX does not bear out, with the rule.
EXPLAINED = {
    "ldmatrix": "both warps store the same words and load them with no barrier between: PTX ISA, Memory Consistency Model: unordered weak accesses are a race",
    "mma_m16n8k16_f32_bf16_bf16_f32_2x": "64 threads store 8 numbers each, and the test allocates 256: the second warp stores behind them, which only the room around an allocation hides",
}


def main():
    folder = s.checkout / "ptx/src/test/spirv_run"
    for name, given, expected, threads in tests((folder / "mod.rs").read_text()):
        if not s.wanted(name):
            continue
        if expected is None:
            s.not_asked(name, "", "the test has no numbers")
            continue
        start = time.time()
        try:
            document = ask(name, (folder / f"{name}.ptx").read_text(), given, expected, threads)
        except suite.Failed as failed:
            s.not_asked(name, "right", str(failed))
            continue
        s.line(name, "right", document, time.time() - start, explained=EXPLAINED.get(name, ""))
    s.end()


if __name__ == "__main__":
    s = suite.Suite("vosen/ZLUDA ptx/src/test/spirv_run")
    main()
