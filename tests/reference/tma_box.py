#!/usr/bin/env python3
"""tma_box.py --binary PATH --cases N --seed S: a reference model of `swizproof tma --box` and `--im2col`.

From the comments of cuda.h alone (cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col): a random box, half of them with a tensor, is legal if
and only if it keeps every rule. The model compares the verdict, the modes under which the same box is legal, the boxes that a long line is cut into, and for a legal
box each element's address in shared memory, which it gets by copying the box byte by byte.
"""
import collections
import random
import re
import sys

from asking import Failure, ask, expect, options_of, print_sums

PLAIN = {"UINT8": 8, "UINT16": 16, "UINT32": 32, "INT32": 32, "UINT64": 64, "INT64": 64, "FLOAT16": 16, "FLOAT32": 32, "FLOAT64": 64,
         "BFLOAT16": 16, "FLOAT32_FTZ": 32, "TFLOAT32": 32, "TFLOAT32_FTZ": 32}
PACKED = {"16U4_ALIGN8B": (4, 8), "16U4_ALIGN16B": (4, 16), "16U6_ALIGN16B": (6, 16)}  # bits; bytes of 16 elements in shared memory
INNER = {"none": None, "32B": 32, "64B": 64, "128B": 128, "128B_ATOM_32B": 128, "128B_ATOM_64B": 128,
         "128B_ATOM_32B_FLIP_8B": 128}
OLD = ("none", "32B", "64B", "128B")  # of compute capability 9.0, and of 12.x for loads
SHARED = {"sm_90": 227 * 1024, "sm_100": 227 * 1024, "sm_120": 99 * 1024}


def legal(kind, box, mode, arch, im2col):
    bits, group = PACKED[kind] if kind in PACKED else (PLAIN[kind], 2 * PLAIN[kind])
    if len(box) > 5 or (im2col and len(box) != 2):
        return False
    for d, extent in enumerate(box):
        if not 1 <= extent <= (1024 if im2col and d == 1 else 256):
            return False
    if kind.endswith("ALIGN16B"):
        if box[0] != 128 or mode not in ("none", "128B", "128B_ATOM_32B"):
            return False
    elif box[0] * bits % 128:
        return False
    if INNER[mode] and box[0] * group > 16 * INNER[mode]:
        return False
    if kind in PACKED and arch == "sm_90":
        return False
    return mode in OLD or arch == "sm_100"


def addresses(kind, box, mode):
    """The bit at which each element begins, from a base that is a multiple of every pattern; and the bytes in all. Of a box that no block
    has no elements."""
    bits, group = PACKED[kind] if kind in PACKED else (PLAIN[kind], 2 * PLAIN[kind])
    pitch = max(box[0] * group // 16, INNER[mode] or 0)
    lines = 1
    for extent in box[1:]:
        lines *= extent
    out = []
    for line in range(lines if lines * pitch <= 227 * 1024 else 0):
        for x in range(box[0]):
            bit = 8 * (line * pitch + x // 16 * group) + x % 16 * bits
            byte, rest = divmod(bit, 8)
            out.append(8 * swizzled(mode, byte) + rest)
    return out, pitch * lines


def swizzled(mode, byte):
    row = byte // 128
    if mode == "32B":
        return byte ^ (row % 2 * 16)
    if mode == "64B":
        return byte ^ (row % 4 * 16)
    if mode == "128B":
        return byte ^ (row % 8 * 16)
    if mode == "128B_ATOM_32B":
        return byte ^ (row % 4 * 32)
    if mode == "128B_ATOM_64B":
        return byte ^ (row % 2 * 64)
    return byte


def tuple_of(text):
    return eval(text.replace(")", ",)").replace(",,", ",")) if text.startswith("(") else (int(text),)  # digits and commas alone


def flat(nested):
    return [leaf for part in nested for leaf in (flat(part) if isinstance(part, tuple) else [part])]


def of_layout(text):
    """The bit of each element, colexicographically, of `Sw<b,m,s> o smem_ptr[Nb](unset) o shape:stride`."""
    found = re.fullmatch(r"Sw<(\d+),(\d+),(\d+)> o smem_ptr\[(\d+)b\]\(unset\) o ([\d(),]+):([\d(),]+)", text)
    expect(found, "layout", text)
    b, m, s, bits = (int(found.group(i)) for i in range(1, 5))
    shape, stride = flat(tuple_of(found.group(5))), flat(tuple_of(found.group(6)))
    out = [0]
    for extent, step in zip(shape, stride):
        out = [base + i * step for i in range(extent) for base in out]
    result = []
    for element in out:
        byte, rest = divmod(element * bits, 8)
        byte ^= (byte >> s) & ((1 << b) - 1) << m
        result.append(8 * byte + rest)
    return result


def draw_tensor(rng, kind, box, im2col):
    """Options of a tensor, whether it keeps the rules, and its element strides."""
    words, good, steps = [], True, [1] * len(box)
    wide = kind.endswith("ALIGN16B")
    rank = rng.choice((3, 4, 5)) if im2col else len(box)
    if im2col or rng.random() < 0.7:
        extents = [rng.choice((128, 256, 4096, 128 * rng.randint(1, 99), 1 << 32)) for _ in range(rank)]
        if rng.random() < 0.3:
            extents[rng.randrange(rank)] = rng.choice((0, 1, 2, 64, 129, (1 << 32) + 1, (1 << 32) + 128))
        if rng.random() < 0.05 and not im2col:
            extents.append(128)
        words += ["--extent", ",".join(map(str, extents))]
        first = 128 if wide else 2 if kind in PACKED else 1
        good = good and len(extents) == rank and all(1 <= e <= 1 << 32 for e in extents) and extents[0] % first == 0
    if rank > 1 and rng.random() < 0.7:
        strides = [32 * rng.randint(1, 1 << 20) for _ in range(rank - 1)]
        if rng.random() < 0.3:
            strides[rng.randrange(rank - 1)] = rng.choice((0, 16, 8, 48, 1 << 40, (1 << 40) - 32, (1 << 40) - 16, 1 << 61))
        words += ["--stride", ",".join(map(str, strides))]
        good = good and all(s < 1 << 40 and s % (32 if wide else 16) == 0 for s in strides)
    if rng.random() < 0.4:
        address = rng.choice((0, 16, 32, 8, 0x7f0000000000, 0x7f0000000010, 0x7f0000000020, 0x7f0000000004))
        words += ["--address", hex(address)]
        good = good and address % (32 if wide else 16) == 0
    if not im2col and rng.random() < 0.3:
        steps = [rng.choice((1, 1, 2, 3, 8)) for _ in range(rank)]
        if rng.random() < 0.2:
            steps[rng.randrange(rank)] = rng.choice((0, 9))
        words += ["--element-stride", ",".join(map(str, steps))]
        good = good and all(1 <= s <= 8 for s in steps)
    return words, good, [1] + steps[1:]  # that of the first dimension is ignored


def check(binary, rng, odd):
    kind = rng.choice(list(PLAIN) + 4 * list(PACKED))
    mode, arch = rng.choice(list(INNER)), rng.choice(list(SHARED))
    im2col = rng.random() < 0.3
    first = rng.choice([128, 128, 64, 48, 32, 16, 8, 256, 257, 130, rng.randint(1, 300)])
    box = [first] + [rng.choice([1, 2, 3, 7, 8, 16, 0, 257, rng.randint(1, 64)]) for _ in range(1 if im2col else rng.choice([0, 1, 1, 2, 3, 4, 5]))]
    if im2col and rng.random() < 0.2:
        box[1] = rng.choice([512, 1024, 1025])
    words = ["tma", "--im2col" if im2col else "--box", ",".join(map(str, box)), "--element", kind, "--swizzle", mode, "--arch", arch]
    more, tensor, steps = draw_tensor(rng, kind, box, im2col) if rng.random() < 0.5 else ([], True, [1] * len(box))
    words += more
    answer = ask(binary, *words)["types"][0]
    good = legal(kind, box, mode, arch, im2col) and tensor
    if more:
        odd["tensors"] += 1
        odd["tensors that break a rule"] += not tensor

    def copied(part):
        return [-(-n // max(step, 1)) for n, step in zip(part, steps)]
    where, size = addresses(kind, copied(box), mode) if good and len(box) <= 5 else ([], 0)
    fits = good and size <= SHARED[arch]
    expect(answer["verdict"] == ("proved" if fits else "refuted"), words, answer)
    expect(bool(answer["broken"]) == (not fits), words, answer)

    def fit(part, other):
        return tensor and legal(kind, part, other, arch, im2col) and addresses(kind, copied(part), other)[1] <= SHARED[arch]
    others = [other for other in INNER if other != mode and fit(box, other)]
    expect(sorted(answer["takes"]) == sorted(others), words, answer["takes"], others)
    odd["legal" if fits else "larger than a block" if good else "not legal"] += 1
    if kind in PACKED:
        odd[f"{kind}, {'legal' if fits else 'not legal'}"] += 1
    if not fits:
        cuts = [n for n in range(min(first, 256), 0, -1) if first % n == 0 and fit([n] + box[1:], mode)]
        told = answer["split"]
        expect((told["box"], told["boxes"]) == ([cuts[0]] + box[1:], first // cuts[0]) if cuts else told is None, words, told, cuts[:1])
        odd["cut into legal boxes" if cuts else "no cut is legal"] += 1
    else:
        expect(answer["bytes"] == size, words, answer["bytes"], size)
        if answer["layout"] is None:
            expect(PACKED.get(kind, (0, 0))[0] == 6 or mode.endswith("8B") and "FLIP" in mode, words, "no layout")
            odd["no layout"] += 1
        else:
            expect(of_layout(answer["layout"]) == where, words, answer["layout"])
            odd["addresses compared"] += len(where)


def main():
    options = options_of(__doc__)
    rng, odd = random.Random(options.seed), collections.Counter()
    for case in range(options.cases):
        try:
            check(options.binary, rng, odd)
        except Failure as failure:
            print(f"tma_box.py: seed {options.seed}, case {case}: {failure}")
            return 1
    print(f"tma_box.py: {options.cases} boxes, seed {options.seed}: 0 differences")
    print_sums(odd)
    return 0


if __name__ == "__main__":
    sys.exit(main())
