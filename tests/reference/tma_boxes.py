#!/usr/bin/env python3
"""tma_boxes.py --cases N --seed S: random tiles, and `swizproof tma` compared with boxes tried one by one.

A model of its own, from the documentation alone (cuda.h, cuTensorMapEncodeTiled; CUDA C++ Programming Guide, 10.29.3):
  a box is a list of dimensions (mode of the tile, step, extent); the first has step 1, and its line is whole 16 bytes, at most the swizzle's width;
  a tensor map has at most 5 dimensions, extents of at most 256, and one of step 1 for every mode longer than 1;
  line y1 + b1 * (y2 + b2 * ..) of a box lies `pitch` bytes times that behind its destination, a multiple of 128; pitch is the line, at least the width;
  the swizzle XORs bits of the absolute address: 32B bit 4 with 7, 64B 5:4 with 8:7, 128B 6:4 with 9:7, 128B_ATOM_32B 6:5 with 8:7, 128B_ATOM_64B 6 with 7.
Compared: whether equal boxes write the tile, how many at least, of all boxes and of those whose dimensions are the tile's modes; and of every
answer each byte of every box, from several bases.
"""
import argparse
import collections
import json
import random
import sys

from swizproof import _swizproof

SWIZZLES = {"none": (0, 0, 0), "32B": (1, 4, 3), "64B": (2, 4, 3), "128B": (3, 4, 3), "128B_ATOM_32B": (2, 5, 2), "128B_ATOM_64B": (1, 6, 1)}
WIDTHS = {"none": 0, "32B": 32, "64B": 64, "128B": 128, "128B_ATOM_32B": 128, "128B_ATOM_64B": 128}
FOUR = ["none", "32B", "64B", "128B"]
MODES = {"sm_90": FOUR, "sm_100": list(SWIZZLES), "sm_103": list(SWIZZLES), "sm_120": FOUR, "sm_121a": FOUR}
MOST_BYTES = {"sm_120": 99 * 1024, "sm_121a": 99 * 1024}


def xor(swizzle, x):
    bits, base, shift = swizzle
    mask = ((1 << bits) - 1) << base
    return x ^ ((x >> shift) & mask if shift >= 0 else (x << -shift) & (((1 << bits) - 1) << (base - shift)))


class Tile:
    """Extents and strides of each mode's own modes, an offset, and a swizzle of elements or of bytes."""

    def __init__(self, modes, offset, swizzle, kind, bits):
        self.modes, self.offset, self.swizzle, self.kind, self.bits = modes, offset, swizzle, kind, bits
        self.extents = [product(e for e, _ in mode) for mode in modes]
        self.size = product(self.extents)
        self.bytes = bits // 8

    def text(self):
        def of(mode, which):
            leaves = [str(leaf[which]) for leaf in mode]
            return leaves[0] if len(leaves) == 1 else "(" + ",".join(leaves) + ")"

        layout = "(%s):(%s)" % (",".join(of(m, 0) for m in self.modes), ",".join(of(m, 1) for m in self.modes))
        if self.offset:
            layout = "%s%d o %s" % ("Sw<0,4,3> o " if self.kind == "plain" else "", self.offset, layout)
        swizzle = "Sw<%d,%d,%d>" % self.swizzle
        if self.kind == "bytes":
            return "%s o smem_ptr[%db](unset) o %s" % (swizzle, self.bits, layout)
        return "%s o %s" % (swizzle, layout if self.offset else "0 o " + layout) if self.kind == "elements" else layout

    def coordinate(self, index):
        at = []
        for extent in self.extents:
            at.append(index % extent)
            index //= extent
        return tuple(at)

    def element(self, at):
        place = self.offset
        for index, mode in zip(at, self.modes):
            for extent, stride in mode:
                place += index % extent * stride
                index //= extent
        return place

    def places(self, base):
        """The byte address of every byte of every element from a base, by coordinate; nothing if an element is split."""
        out = {}
        for index in range(self.size):
            at = self.coordinate(index)
            element = self.element(at)
            if self.kind == "elements":
                out[at] = base + xor(self.swizzle, element) * self.bytes
                continue
            bytes_ = [base + element * self.bytes + j for j in range(self.bytes)]
            if self.kind == "bytes":
                bytes_ = [xor(self.swizzle, b) for b in bytes_]
            if any(b != bytes_[0] + j for j, b in enumerate(bytes_)):
                return None
            out[at] = bytes_[0]
        return out


def product(numbers):
    out = 1
    for n in numbers:
        out *= n
    return out


def bytes_of_box(mode, line_bytes, dimensions, element, start, destination):
    """(coordinate, plain address) of each element of a box; coordinates may lie outside of the tile."""
    pitch = max(line_bytes, WIDTHS[mode])
    count = [0] * len(dimensions)
    while True:
        at, line, lines = list(start), 0, 1
        for d, (m, step, extent) in enumerate(dimensions):
            at[m] += step * count[d]
            if d:
                line += lines * count[d]
                lines *= extent
        yield tuple(at), destination + line * pitch + count[0] * element
        for d in range(len(dimensions)):
            count[d] += 1
            if count[d] < dimensions[d][2]:
                break
            count[d] = 0
        else:
            return


class Memory:
    """What lies where before the swizzle of a mode."""

    def __init__(self, tile, places, mode):
        self.tile, self.mode = tile, mode
        self.plain = {at: xor(SWIZZLES[mode], place) for at, place in places.items()}
        self.long = [m for m, e in enumerate(tile.extents) if e > 1]
        self.unit = 16 // tile.bytes  # elements of 16 bytes
        self.pieces = sorted((at for at, place in self.plain.items() if place % 16 == 0), key=self.plain.get)
        self.known = {}

    def rank(self, dimensions):
        return len(dimensions) + sum(all(m != d[0] or d[1] != 1 for d in dimensions) for m in self.long)

    def lines(self, inner, line):
        """The coordinates from which so many elements along a mode follow each other in memory."""
        if (inner, line) not in self.known:
            step = lambda at, n: at[:inner] + (at[inner] + n,) + at[inner + 1:]
            self.known[inner, line] = {
                at for at, place in self.plain.items() if all(self.plain.get(step(at, n)) == place + n * self.tile.bytes for n in range(1, line))}
        return self.known[inner, line]

    def pitch(self, dimensions):
        return max(dimensions[0][2] * self.tile.bytes, WIDTHS[self.mode])

    def lines_fit(self, dimensions, start, destination):
        """Whether all lines of a box that begins at a coordinate lie where its copy to a plain address puts them."""
        whole = self.lines(dimensions[0][0], dimensions[0][2])
        lines = [(start, destination)]
        stride = self.pitch(dimensions)
        for m, step, extent in dimensions[1:]:
            lines = [(at[:m] + (at[m] + step * n,) + at[m + 1:], place + stride * n) for n in range(extent) for at, place in lines]
            stride *= extent
        return all(self.plain.get(at) == place and at in whole for at, place in lines)

    def fits(self, dimensions, start):
        return self.plain[start] % 128 == 0 and self.lines_fit(dimensions, start, self.plain[start])

    def pieces_of(self, dimensions, start):
        """The coordinates of the 16 bytes that a box has."""
        out = [start]
        for d, (m, step, extent) in enumerate(dimensions):
            counts = range(0, extent, self.unit) if d == 0 else range(extent)
            out = [at[:m] + (at[m] + step * n,) + at[m + 1:] for n in counts for at in out]
        return out

    def shapes(self, start, wanted):
        """All boxes that begin at this coordinate, of as many elements as are wanted, which may change; long ones first."""
        if self.plain[start] % 128:
            return
        width = WIDTHS[self.mode]
        for inner in self.long:
            for line in range(min(256, self.tile.extents[inner]) // self.unit * self.unit, 0, -self.unit):
                if (width == 0 or line * self.tile.bytes <= width) and start in self.lines(inner, line):
                    yield from self.grow([(inner, 1, line)], start, wanted)

    def grow(self, dimensions, start, wanted):
        if len(dimensions) < 5:
            stride = self.pitch(dimensions) * product(d[2] for d in dimensions[1:])
            destination = self.plain[start]
            for mode in self.long:
                for step in range(1, self.tile.extents[mode] - start[mode]):
                    there = lambda n: start[:mode] + (start[mode] + step * n,) + start[mode + 1:]
                    most = 1
                    while most < 256 and self.lines_fit(dimensions, there(most), destination + stride * most):
                        most += 1
                    for extent in range(most, 1, -1):
                        yield from self.grow(dimensions + [(mode, step, extent)], start, wanted)
        if self.rank(dimensions) <= 5 and wanted(product(d[2] for d in dimensions)):
            yield tuple(dimensions)

    def fewest(self, everywhere):
        """The fewest equal boxes, (count, elements written): of all shapes, and of those whose steps are 1."""
        starts = [at for at in self.pieces if self.plain[at] % 128 == 0]
        lowest = min(self.plain, key=self.plain.get)
        best = {"any": None, "own": None}
        seen = set()
        bound = lambda: max(b[0] if b else 10**9 for b in best.values())
        for start in starts if everywhere else [lowest]:
            for shape in self.shapes(start, lambda elements: -(-self.tile.size // elements) <= bound()):
                if shape in seen:
                    continue
                seen.add(shape)
                of_own = all(step == 1 for _, step, _ in shape)
                kinds = ["any", "own"] if of_own else ["any"]
                most = max(best[k][0] if best[k] else 10**9 for k in kinds)
                elements = product(d[2] for d in shape)
                if -(-self.tile.size // elements) > most:
                    continue
                count = self.cover(shape, starts, most)
                if count is None:
                    continue
                for kind in kinds:
                    best[kind] = min(filter(None, [best[kind], (count, count * elements)]))
        return best["any"], best["own"]

    def cover(self, shape, starts, most):
        """How many boxes of a shape cover the tile at least: from the lowest element on, the box that reaches furthest."""
        if len(self.pieces) * self.unit != self.tile.size:
            return None
        boxes = [start for start in starts if self.fits(shape, start)]
        holds = {}
        for number, start in enumerate(boxes):  # in the order of memory: the last that holds a piece reaches furthest
            for at in self.pieces_of(shape, start):
                holds[at] = number
        covered, count = set(), 0
        for at in self.pieces:
            if at in covered:
                continue
            if at not in holds or count == most:
                return None
            covered.update(self.pieces_of(shape, boxes[holds[at]]))
            count += 1
        return count


def exact_cover(memory, shape, starts, most):
    """The same by trying every set of boxes for the piece that the fewest hold; slow."""
    sets = [frozenset(memory.pieces_of(shape, start)) for start in starts if memory.fits(shape, start)]

    def search(rest, left):
        if not rest:
            return True
        if left == 0:
            return False
        at = min(rest, key=lambda a: sum(a in s for s in sets))
        return any(search(rest - s, left - 1) for s in sets if at in s)

    return next((count for count in range(1, most + 1) if search(frozenset(memory.pieces), count)), None)


def draw(random_):
    """A tile, and its odd kinds."""
    pick = random_.choice
    bits = pick([8, 16, 16, 32, 64])
    unit = 128 // bits
    odd = set()
    shape = pick(["rows"] * 12 + ["panels"] * 8 + ["planes"] * 8 + ["wild"] * 8 + ["long"])
    columns = unit * pick([1, 1, 2, 2, 3, 4, 5, 8])
    rows = pick([1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 24])
    swizzle_kind = pick(["plain", "bytes", "bytes", "elements"])
    width = pick([32, 64, 128])
    b = {32: 1, 64: 2, 128: 3}[width]
    if shape == "rows" and swizzle_kind != "plain" and pick([True, False]):
        columns = width * 8 // bits
    pitch = pick([columns, columns, columns, columns + unit * pick([1, 2, 4, 8]), 128 * 8 // bits])
    if pitch < columns:
        pitch = columns
    sign = pick([1, 1, 1, 1, -1])
    if shape == "long":
        rows = random_.randint(257, 400)
        columns = unit * pick([1, 2]) if swizzle_kind == "plain" else min(width, 32) * 8 // bits
        b, pitch, sign = (1 if swizzle_kind != "plain" else b), columns, 1
        odd.add("beyond 256 rows")
        modes = [[(rows, pitch)], [(columns, 1)]]
    elif shape == "panels":
        panels = pick([1, 2, 3])
        modes = [[(rows, pitch)], [(columns, 1), (panels, pitch * rows + unit * pick([0, 0, 0, 4, 8]))]]
        odd.add("composed modes")
    elif shape == "planes":
        planes = pick([2, 3])
        modes = [[(rows, sign * pitch)], [(columns, 1)], [(planes, pitch * rows + unit * pick([0, 0, 8, 1]))]]
    elif shape == "wild":
        modes, stride = [], unit if pick([True, True, False]) else 1
        inner = [(unit, 1)]
        for _ in range(random_.randint(1, 4)):
            extent = pick([2, 2, 3, 4, 5])
            modes.append([(extent, stride)])
            stride *= pick([extent, extent, extent, extent + 1])
        random_.shuffle(modes)
        if pick([True, False]) and len(modes) > 1:
            modes[0] += modes.pop()
            odd.add("composed modes")
        if pick([True, False]):
            modes[random_.randrange(len(modes))] = inner + modes[random_.randrange(len(modes))]
        else:
            modes.insert(random_.randrange(len(modes) + 1), inner)
    else:
        modes = [[(rows, sign * pitch)], [(columns, 1)]]
    if pick([True, False, False]):
        modes.reverse()
    if pick([1] * 12 + [0]) == 0:
        m = random_.randrange(len(modes))
        modes[m] = [(e, s if i else 0) for i, (e, s) in enumerate(modes[m])]
        odd.add("broadcast")
    offset = pick([0, 0, 0, 64 * unit, 8 * unit, unit, 1])
    if offset:
        odd.add("offsets")
    if any(s < 0 for mode in modes for _, s in mode):
        odd.add("negative strides")
    if any(e not in (1, 2, 4, 8, 16, 32, 64, 128, 256) for mode in modes for e, _ in mode):
        odd.add("extents that are no power of two")
    log = (bits // 8).bit_length() - 1
    if swizzle_kind == "bytes":
        swizzle = pick([(b, 4, 3), (b, 4, 3), (b, 4, 3), (2, 5, 2), (1, 6, 1), (random_.randint(1, 3), random_.randint(0, 5), pick([3, 4, -3]))])
    else:
        swizzle = pick([(b, 4 - log, 3), (b, 4 - log, 3), (2, 5 - log, 2), (random_.randint(1, 2), random_.randint(0, 4), pick([2, 3, -3]))])
    if swizzle_kind == "elements" and any(s < 0 for mode in modes for _, s in mode):
        offset = max(offset, sum((e - 1) * -s for mode in modes for e, s in mode if s < 0))
    tile = Tile(modes, offset, swizzle, swizzle_kind, bits)
    if bits == 8 and pick([True, False, False]) and swizzle_kind != "elements" and all(s == 1 or s % 2 == 0 for mode in modes for _, s in mode):
        odd.add("below a byte")
    return tile, pick(["sm_90"] * 6 + ["sm_100", "sm_103", "sm_120", "sm_121a"]), odd


def below_a_byte(tile):
    """The text of a tile of 4 bits whose pairs are the bytes of this one; nothing where it has no such."""
    modes, doubled = [], 0
    for mode in tile.modes:
        leaves = []
        for place, (extent, stride) in enumerate(mode):
            contiguous = place == 0 and stride == 1 and extent > 1
            doubled += contiguous
            leaves.append((2 * extent, 1) if contiguous else (extent, 2 * stride))
        modes.append(leaves)
    return Tile(modes, 2 * tile.offset, tile.swizzle, tile.kind, 4) if doubled == 1 else None


def ask(text, bits, arch):
    words = ["tma", text, "--element", "%db" % bits, "--arch", arch, "--json"]
    code, document, complaint = _swizproof.answer(words)
    return code, json.loads(document or b"{}"), complaint.decode(), " ".join("'%s'" % w if " " in w or "(" in w else w for w in ["swizproof"] + words)


def check_copies(tile, answer, base):
    """What the boxes of an answer write from a base, byte by byte, compared with the tile."""
    places = tile.places(base)
    dimensions = list(zip(answer["box_modes"], answer["box_steps"], answer["box"]))
    line_bytes = answer["box"][0] * tile.bytes
    written = {}
    if len(answer["copies"]) != answer["boxes"] or any(not 1 <= e <= 256 for e in answer["box"]) or len(answer["box"]) > 5:
        return "limits"
    if line_bytes % 16 or (WIDTHS[answer["swizzle"]] and line_bytes > WIDTHS[answer["swizzle"]]):
        return "line"
    for copy in answer["copies"]:
        destination = base + copy["destination"]
        if destination % 128:
            return "destination"
        for at, plain in bytes_of_box(answer["swizzle"], line_bytes, dimensions, tile.bytes, tuple(copy["at"]), destination):
            for j in range(tile.bytes):
                byte = xor(SWIZZLES[answer["swizzle"]], plain + j)
                if places.get(at, -1) + j != byte:
                    return "element %s at byte %d" % (at, byte)
            written[at] = True
    return "" if len(written) == tile.size else "%d of %d elements" % (len(written), tile.size)


def expected_of(tile, arch, everywhere):
    """("split"|"shared"|"large"), or the fewest boxes from base 0 and what a user is given: (main, fewest), None where none write."""
    places = tile.places(0)
    if places is None:
        return "split"
    if len(set(places.values())) < tile.size or tile.size > 1 and min_distance(places) < tile.bytes:
        return "shared"
    if max(places.values()) - min(places.values()) + tile.bytes > 227 * 1024:
        return "large"
    mains, all_ = [], []
    for mode in MODES[arch]:
        memory = Memory(tile, places, mode)
        if not memory.long:
            return "single"
        if len(memory.long) > 5:
            return "modes"
        any_, own = memory.fewest(everywhere)
        if any_ is None:
            continue
        all_.append(any_[0])
        mains.append(own[0] if own and (own[1] == tile.size or own[0] <= any_[0]) else any_[0])
    return (min(mains), min(all_)) if mains else None


def min_distance(places):
    ordered = sorted(places.values())
    return min(b - a for a, b in zip(ordered, ordered[1:]))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--cases", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--largest", type=int, default=6000, help="elements of a tile; larger ones are drawn again")
    options = arguments.parse_args()
    random_ = random.Random(options.seed)
    kinds, outcomes = collections.Counter(), collections.Counter()
    differences = compared = 0

    def differ(what, line):
        nonlocal differences
        differences += 1
        print("DIFFERENCE: %s: %s" % (what, line))

    for case in range(options.cases):
        tile, arch, odd = draw(random_)
        while tile.size > options.largest:
            tile, arch, odd = draw(random_)
        asked = below_a_byte(tile) if "below a byte" in odd else tile
        if asked is None:
            odd.discard("below a byte")
            asked = tile
        everywhere = tile.size <= 512 and random_.random() < 0.1
        expected = expected_of(tile, arch, everywhere)
        code, answer, complaint, line = ask(asked.text(), asked.bits, arch)
        if code == 2:
            differ("refused: " + complaint.split("\n")[0], line)
            continue
        compared += 1
        kinds.update(odd)
        kinds["every start tried"] += everywhere
        from_multiples = code == 0 and answer["destination_alignment"] is not None
        outcomes["proved" if from_multiples else "from other bases" if code == 0 else answer["verdict"]] += 1
        if not isinstance(expected, tuple) and expected is not None:
            outcomes[expected] += 1
            if code == 0 and expected == "split" and not from_multiples:  # from base 0 it is; the bases of the answer are others
                also = [b % answer["bases"]["period"] + answer["bases"]["period"] for b in answer["bases"]["also"][:4]]
                if not also or any(tile.places(b) is None or check_copies(tile, answer, b) for b in also):
                    differ("split, but proved from other bases", line)
            elif code == 0 and expected != "single":
                differ("%s, but proved" % expected, line)
            continue
        if (expected is not None) != from_multiples:
            differ("expected %s from multiples of the period, exit %d" % (expected, code), line)
            continue
        if code == 0:
            bases = [0, answer["destination_alignment"], 7 * answer["destination_alignment"]] if from_multiples else []
            bases += [b % answer["bases"]["period"] + answer["bases"]["period"] for b in answer["bases"]["also"][:4]]
            for base in bases:
                if wrong := check_copies(tile, answer, base):
                    differ("copies from base %d: %s" % (base, wrong), line)
                    break
            outcomes["overlap"] += answer["boxes"] * answer["bytes"] > tile.size * tile.bytes
            outcomes["split"] += any(s > 1 for s in answer["box_steps"])
        if from_multiples:
            fewest = answer["split"]["boxes"] if "split" in answer else answer["boxes"]
            if (answer["boxes"], fewest) != expected or answer["fewest"] != ("split" not in answer):
                differ("boxes %s, the fewest %s; expected %s" % (answer["boxes"], fewest, expected), line)
        if everywhere and expected is not None and expected[1] <= 3:
            kinds["every set of boxes tried"] += 1
            counts = []
            for mode in MODES[arch]:
                memory = Memory(tile, tile.places(0), mode)
                starts = [at for at, place in memory.plain.items() if place % 128 == 0]
                shapes = {shape for start in starts for shape in memory.shapes(start, lambda elements: elements * 3 >= tile.size)}
                counts += [c for c in (exact_cover(memory, s, starts, expected[1]) for s in shapes) if c]
            if min(counts, default=None) != expected[1]:
                differ("the model's own count %s is not %s" % (expected[1], min(counts, default=None)), line)
    shown = lambda counter: ", ".join("%s %d" % pair for pair in sorted(counter.items()))
    print("tma_boxes: %d cases, %d compared (%s); odd: %s; %d differences" % (options.cases, compared, shown(outcomes), shown(kinds), differences))
    return differences != 0


if __name__ == "__main__":
    sys.exit(main())
