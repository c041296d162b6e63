#!/usr/bin/env python3
"""descriptors.py --cases N --seed S: random matrix descriptors and operand tiles, and `swizproof descriptor` and `desc:` compared element by element.

A model of its own, from PTX ISA 9.1 (9.7.15.5.1, 9.7.16.4.1) and CUTLASS (mma_sm90_desc.hpp, mma_sm100_desc.hpp), with T = 16 / element bytes and W
= 16-byte columns of a row (1, 2, 4, 8); a base offset is subtracted from the number of the 128-byte line that is XORed:
  K-major, swizzled   start + (mn%8)*16W + (mn/8)*SBO + (k/T)*16 + (k%T)*bytes
  K-major, none       start + (mn%8)*16  + (mn/8)*SBO + (k/T)*LBO + (k%T)*bytes
  MN-major, swizzled  start + (mn%T)*bytes + (mn/T%W)*16 + (mn/(T*W))*LBO + (k%8)*16W + (k/8)*SBO      (128B_ATOM_32B: 4 lines of k, not 8)
  MN-major, none      start + (mn%T)*bytes + (mn/T)*SBO + (k%8)*16 + (k/8)*LBO
"""
import argparse
import collections
import json
import random
import sys

from swizproof import _swizproof

#: mode: columns of 16 bytes, swizzle, number of wgmma, number of tcgen05, lines of k
MODES = {
    "none": (1, (0, 4, 3), 0, 0, 8),
    "32B": (2, (1, 4, 3), 3, 6, 8),
    "64B": (4, (2, 4, 3), 2, 4, 8),
    "128B": (8, (3, 4, 3), 1, 2, 8),
    "128B_ATOM_32B": (8, (2, 5, 2), None, 1, 4),
}


def xor(swizzle, x):
    bits, base, shift = swizzle
    return x ^ ((x >> shift) & (((1 << bits) - 1) << base))


def xor_from(swizzle, base_offset, x):
    """The swizzle with lines of 128 bytes counted from a base offset on."""
    line = x - 128 * base_offset
    return x ^ line ^ xor(swizzle, line)


def offset(mode, major, bytes_, lbo, sbo, mn, k):
    w, _, _, _, lines = MODES[mode]
    t = 16 // bytes_
    if major == "k":
        return mn % 8 * 16 * w + mn // 8 * sbo + k // t * (lbo if mode == "none" else 16) + k % t * bytes_
    if mode == "none":
        return mn % t * bytes_ + mn // t * sbo + k % 8 * 16 + k // 8 * lbo
    return mn % t * bytes_ + mn // t % w * 16 + mn // (t * w) * lbo + k % lines * 16 * w + k // lines * sbo


def bits_of(reader, mode, start, lbo, sbo, base_offset):
    bits = start >> 4 | lbo >> 4 << 16 | sbo >> 4 << 32 | base_offset << 49
    if reader == "wgmma":
        return bits | MODES[mode][2] << 62
    return bits | 1 << 46 | MODES[mode][3] << 61


def reads(reader, mode, major, bits):
    """Whether the instruction has such operands."""
    if MODES[mode][2] is None and reader == "wgmma":
        return False
    if major == "k":
        return mode != "128B_ATOM_32B"
    if reader == "wgmma":
        return bits == 16
    return (bits == 32) == (mode == "128B_ATOM_32B")


def reads_rows(reader, rows):
    return rows > 0 and rows <= 256 and rows % 8 == 0 or rows == 64


def is_layout(values):
    """Whether values are those of a layout: sums of a digit of the index times a stride."""
    if len(values) == 1:
        return values[0] == 0
    for d in range(2, len(values) + 1):
        if len(values) % d:
            continue
        if all(v == i % d * values[1] + values[i // d * d] for i, v in enumerate(values)) and is_layout(values[::d]):
            return True
    return False


def ask(words):
    code, document, complaint = _swizproof.answer(words + ["--json"])
    text = " ".join("'%s'" % w if set(w) & set(" (<;") else w for w in ["swizproof"] + words)
    return code, json.loads(document or b"{}"), complaint.decode().split("\n")[0], text


class Report:
    def __init__(self):
        self.differences, self.kinds, self.outcomes = 0, collections.Counter(), collections.Counter()

    def differ(self, what, line):
        self.differences += 1
        print("DIFFERENCE: %s: %s" % (what, line))


def check_number(random_, report):
    """What a number reads, through desc: and its addresses; or that it is refused."""
    pick = random_.choice
    reader, mode, major, bits = pick(["wgmma", "tcgen05"]), pick(list(MODES)), pick(["k", "mn", "mn"]), pick([8, 8, 16, 32])
    if MODES[mode][2] is None and reader == "wgmma":
        mode = "128B"
    bytes_, w = bits // 8, MODES[mode][0]
    rows = pick([0, 8, 16, 24, 40, 56, 64, 72, 96, 104, 120, 128, 136, 184, 192, 248, 256, pick([7, 20, 264, 300, 8 * random_.randint(1, 32)])])
    usual = [16, 128, 256, 128 * w, 256 * w, 16 * random_.randrange(1 << 14), 0]
    start, lbo, sbo, base_offset = pick([0, 1024, 16 * random_.randrange(1 << 14)]), pick(usual), pick(usual), pick([0, 0, 0, random_.randrange(8)])
    depth = 32 // bytes_
    number = bits_of(reader, mode, start, lbo, sbo, base_offset)
    text = "desc:0x%016x<%db>,%s (%d,%d)" % (number, bits, major.upper(), rows, depth)
    code, answer, complaint, line = ask(["eval", text, "--bytes"])
    number_code, fields, number_complaint, number_line = ask(
        ["descriptor", "0x%x" % number, "--for", reader, "--element", "%db" % bits, "--major", major, "--extent", "%d,%d" % (rows, depth)]
    )
    if rows % 16:
        report.kinds["rows that fill no 16 bytes"] += 1
    if base_offset:
        report.kinds["base offsets"] += 1
    if rows == 0:
        report.kinds["extents of 0"] += 1
    if not reads(reader, mode, major, bits) or not reads_rows(reader, rows):
        report.outcomes["refused"] += 1
        if code != 2 or number_code != 2:
            report.differ("read, and no instruction reads it (%d, %d)" % (code, number_code), line)
        return
    if number_code != 0 or (fields["mode"], fields["start"], fields["leading_byte_offset"], fields["stride_byte_offset"], fields["base_offset"]) != (
        mode, start, lbo, sbo, base_offset):
        report.differ("fields: %s" % (number_complaint or fields), number_line)
        return
    at = lambda mn, k: offset(mode, major, bytes_, lbo, sbo, mn, k)
    layout = is_layout([at(mn, 0) for mn in range(rows)]) and is_layout([at(0, k) for k in range(depth)])
    if (fields["reads"] is not None) != layout:
        report.differ("%s, and it is %s layout" % (fields["reads"], "a" if layout else "no"), number_line)
        return
    if not layout:
        report.outcomes["no layout"] += 1
        if code != 2 or "rows are no layout" not in complaint:
            report.differ("exit %d, %s" % (code, complaint), line)
        return
    report.outcomes["read"] += 1
    expected = [xor_from(MODES[mode][1], base_offset, start + at(mn, k)) for k in range(depth) for mn in range(rows)]
    if code != 0 or [v % (1 << 64) for v in answer["values"]] != [v % (1 << 64) for v in expected]:
        report.differ("other addresses; %s" % complaint, line)


def draw_tile(random_):
    """Rows, depth, element bits, and a layout of rows and k as leaves; an offset; a swizzle; how it was made."""
    pick = random_.choice
    reader, mode, major, bits = pick(["wgmma", "tcgen05"]), pick(list(MODES)), pick(["k", "mn"]), pick([8, 16, 16, 32])
    bytes_, w, lines = bits // 8, MODES[mode][0], MODES[mode][4]
    t, depth = 16 // bytes_, 32 // bytes_
    operand = pick(["a", "b"])
    rows_of_one = 64 if operand == "a" else pick([8, 16, 24, 32, 40, 64, 72, 128])
    along_rows, along_k = pick([1, 1, 2]), pick([1, 1, 2, 3])
    rows, k = rows_of_one * along_rows, depth * along_k
    gap = lambda: pick([0, 0, 0, 16, 128, 48, 1024])
    if major == "k":
        row_leaves = [(8, 16 * w), (rows // 8, 128 * w + gap())]
        inner = [(t, bytes_), (min(k // t, w), 16)] if mode != "none" else [(t, bytes_)]
        count = k // product(e for e, _ in inner)
        k_leaves = inner + [(max(1, count), rows // 8 * row_leaves[1][1] + gap())]
        if product(e for e, _ in k_leaves) != k:
            k_leaves = [(t, bytes_), (k // t, rows // 8 * row_leaves[1][1] if mode == "none" else 16)]
    else:
        columns = t * w if rows % (t * w) == 0 else rows if rows < t * w else t if rows % t == 0 else 8
        row_leaves = [(columns, bytes_), (rows // columns, pick([lines * 16 * w, 16 * w * k]) + gap())]
        lines = min(lines, k)
        k_leaves = [(lines, 16 * w), (k // lines, lines * 16 * w * pick([1, rows // columns]) + gap())]
    swizzle = pick([MODES[mode][1]] * 5 + [MODES[pick(list(MODES))][1]])
    shift = pick([0, 0, 0, 0, 16, 128, 256, 64, bytes_, -128])
    if pick([True] * 6 + [False]) is False:  # one stride is another
        leaves = pick([row_leaves, k_leaves])
        place = random_.randrange(len(leaves))
        leaves[place] = (leaves[place][0], leaves[place][1] + pick([bytes_, 16, -16, 32]))
    return reader, mode, major, bits, operand, rows_of_one, (row_leaves, k_leaves), shift, swizzle


def product(numbers):
    out = 1
    for n in numbers:
        out *= n
    return out


def place_of(leaves, index):
    place = 0
    for extent, stride in leaves:
        place += index % extent * stride
        index //= extent
    return place


def good_bases(reader, major, bits, rows_of_one, depth, row_places, k_places, swizzle, period):
    """Residues of bases, multiples of 16, from which some descriptor reads every instruction."""
    bytes_ = bits // 8
    out = set()
    origin = 1 << 20
    for residue in range(0, period, 16):
        stored = lambda r, c: xor(swizzle, origin + residue + row_places[r] + k_places[c])
        for mode, (w, sigma, wgmma, _, lines) in MODES.items():
            for m in ["k", "mn"] if major is None else [major]:
                if residue not in out and reads(reader, mode, m, bits):
                    if any(fits(mode, m, bytes_, rows_of_one, depth, len(row_places), len(k_places), stored, b) for b in (range(8) if mode != "none" else [0])):
                        out.add(residue)
    return out


def fits(mode, major, bytes_, rows_of_one, depth, rows, k, stored, base_offset):
    """Whether one pair of LBO and SBO reads all instructions: both from the elements that have them alone."""
    sigma = MODES[mode][1]
    plain = lambda r, c: xor_from(sigma, base_offset, stored(r, c))
    one = {}
    first = plain(0, 0)
    for r in range(rows_of_one):
        for c in range(depth):
            parts = [offset(mode, major, bytes_, l, s, r, c) for l, s in ((0, 0), (1, 0), (0, 1))]
            key = (parts[1] - parts[0], parts[2] - parts[0])
            if key in ((1, 0), (0, 1)) and key not in one:
                one[key] = plain(r, c) - first - parts[0]
    lbo, sbo = one.get((1, 0), 0), one.get((0, 1), 0)
    if any(v % 16 or not 0 <= v < 1 << 18 for v in (lbo, sbo)):
        return False
    for r0 in range(0, rows, rows_of_one):
        for c0 in range(0, k, depth):
            start = plain(r0, c0)
            if start % 16:
                return False
            for r in range(rows_of_one):
                for c in range(depth):
                    if xor_from(sigma, base_offset, start + offset(mode, major, bytes_, lbo, sbo, r, c)) != stored(r0 + r, c0 + c):
                        return False
    return True


def check_tile(random_, report):
    """Which bases have a descriptor, and what each descriptor that is named reads."""
    reader, mode, major, bits, operand, rows_of_one, (row_leaves, k_leaves), shift, swizzle = draw_tile(random_)
    bytes_, depth = bits // 8, 32 * 8 // bits
    rows, k = product(e for e, _ in row_leaves), product(e for e, _ in k_leaves)
    if any(s % bytes_ for _, s in row_leaves + k_leaves) or shift % bytes_:
        return
    row_places = [place_of(row_leaves, r) + shift for r in range(rows)]
    k_places = [place_of(k_leaves, c) for c in range(k)]
    if max(row_places) + max(k_places) - min(row_places) - min(k_places) >= 227 * 1024:
        return
    text_of = lambda which: ",".join("(" + ",".join(str(leaf[0] if which == 0 else leaf[1] // bytes_) for leaf in leaves) + ")" for leaves in (row_leaves, k_leaves))
    text = "Sw<%d,%d,%d> o smem_ptr[%db](unset) o %s(%s):(%s)" % (swizzle + (bits, "%d o " % (shift // bytes_) if shift else "", text_of(0), text_of(1)))
    wanted = random_.choice([None, None, major])
    words = ["descriptor", text, "--for", reader, "--operand", operand, "--extent", "%d,%d" % (rows_of_one, depth)]
    code, answer, complaint, line = ask(words + (["--major", wanted] if wanted else []))
    if code == 2:
        report.differ("refused: " + complaint, line)
        return
    report.kinds["offsets"] += shift != 0
    report.kinds["rows that fill no 16 bytes"] += rows_of_one * bytes_ % 16 != 0
    report.kinds["several instructions"] += rows * k != rows_of_one * depth
    found = set()
    for solution in answer.get("solutions", []):
        period = solution["bases"]["period"]
        sigma, b = MODES[solution["mode"]][1], solution["base_offset"]
        for residue in solution["bases"]["residues"]:
            found.update(range(residue, 1024, period))
            base = (1 << 20) + residue
            starts = solution.get("starts") or [
                c + r for r in solution["mn_starts"] for c in solution["k_starts"]]
            for i, from_first in enumerate(starts):
                c0, r0 = i % (k // depth) * depth, i // (k // depth) * rows_of_one
                start = base + solution["start"] + from_first
                for r in range(rows_of_one):
                    for c in range(depth):
                        at = offset(solution["mode"], solution["major"], bytes_, solution["leading_byte_offset"], solution["stride_byte_offset"], r, c)
                        if xor_from(sigma, b, start + at) != xor(swizzle, base + row_places[r0 + r] + k_places[c0 + c]):
                            report.differ("row %d, k %d from base %d is read from another address" % (r0 + r, c0 + c, residue), line)
                            return
    expected = good_bases(reader, wanted, bits, rows_of_one, depth, row_places, k_places, swizzle, 1024)
    report.outcomes["tile read" if expected else "tile not read"] += 1
    if found != expected or code != (0 if expected else 1):
        report.differ("bases %s, expected %s, exit %d" % (sorted(found)[:9], sorted(expected)[:9], code), line)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--cases", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    random_, report = random.Random(options.seed), Report()
    for case in range(options.cases):
        (check_tile if case % 40 == 39 else check_number)(random_, report)
    shown = lambda counter: ", ".join("%s %d" % pair for pair in sorted(counter.items()))
    print("descriptors: %d cases, %d compared (%s); odd: %s; %d differences" % (
        options.cases, sum(report.outcomes.values()), shown(report.outcomes), shown(report.kinds), report.differences))
    return report.differences != 0


if __name__ == "__main__":
    sys.exit(main())
