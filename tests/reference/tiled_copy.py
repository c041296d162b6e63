#!/usr/bin/env python3
"""tiled_copy.py --cases N --seed S: a reference model of `swizproof check` on thread-value layouts and pasted TiledCopies.

Written from docs/reference.md and CuTe's documentation: a partition by plain loops over threads, values and tiles, the swizzles bit by bit,
and the banks of sm_90. It shares no line with the tool. Compared are exit code, wavefronts (nothing for accesses that do not fit), and the
total over all instructions. The last line has the counts of cases, of odd ones by kind, and of differences; exit code 1 if there is one.
"""

import argparse
import collections
import json
import random
import sys

INSTRUCTIONS = {f"{kind}.b{bits}": (kind[0] if kind != "cp.async" else "c", bits // 8, 0)
                for kind in ("ld.shared", "st.shared") for bits in (8, 16, 32, 64, 128)}
INSTRUCTIONS.update({f"cp.async.b{bits}": ("c", bits // 8, 0) for bits in (32, 64, 128)})
MATRICES = {f"{kind}matrix.x{n}": ("m", 16, n) for kind in ("ld", "st") for n in (1, 2, 4)}


def product(values):
    out = 1
    for v in values:
        out *= v
    return out


def index_of(extents, strides, index):
    """A plain index, leftmost extent fastest; the last takes what is left."""
    out = 0
    for i, (n, d) in enumerate(zip(extents, strides)):
        digit = index if i + 1 == len(extents) else index % n
        out += digit * d
        index //= n
    return out


def text_of(extents, strides, static=True):
    mark = "_" if static else ""
    inner = lambda values: mark + str(values[0]) if len(values) == 1 else "(" + ",".join(mark + str(v) for v in values) + ")"
    return inner(extents), inner(strides)


def tuple_text(modes):
    """((extents, strides), ...) as CuTe prints a layout."""
    parts = [text_of(*mode) for mode in modes]
    return "(" + ",".join(p[0] for p in parts) + "):(" + ",".join(p[1] for p in parts) + ")"


def gaps_of(extents, strides):
    """What a tiler leaves out, as (number, stride) of its translations, and the coordinates that all of them take together; None where
    they meet twice. Leaves of one coordinate leave nothing out."""
    gaps, reached = [], 1
    for d, n in sorted((d, n) for n, d in zip(extents, strides) if n > 1):
        if d % reached or d == 0:
            return None
        if d > reached:
            gaps.append((d // reached, reached))
        reached = d * n
    return gaps, reached


def swizzled(swizzle, x):
    b, m, s = swizzle
    out = x
    for i in range(b):
        out ^= (x >> (m + s + i if s > 0 else m + i) & 1) << (m + i if s > 0 else m - s + i)
    return out


def wavefronts(kind, size, matrices, at):
    """hardware.md, section 0; at[lane] is None of a lane that takes no part."""
    lanes = 8 if kind == "m" or size == 16 else 16 if size == 8 else 32
    if kind == "l" and size >= 8:
        for bit in (1, 2):
            if all(at[l] is None or at[l ^ bit] is None or at[l] == at[l ^ bit] for l in range(32)):
                lanes *= 2
                break
    phases = matrices if kind == "m" else 32 // lanes
    total = 0
    for p in range(phases):
        banks = collections.defaultdict(list)
        for l in range(p * lanes, (p + 1) * lanes):
            if at[l] is None:
                continue
            for word in range(at[l] // 4, (at[l] + max(size, 4)) // 4 if size >= 4 else at[l] // 4 + 1):
                if kind == "c" or word not in banks[word % 32]:
                    banks[word % 32].append(word)
        total += max((len(words) for words in banks.values()), default=0)
    return max(total, 1) if kind == "c" else total if kind == "m" else max(total, phases)


class Case:
    def __init__(self, draw):
        self.draw, self.odd = draw, []
        self.refused = None
        self.bits = draw.choice([4, 8, 16, 16, 32, 32, 64, 6, 24]) if draw.random() < 0.3 else draw.choice([8, 16, 32, 64, 4])
        self.pasted = draw.random() < 0.5
        if draw.random() < 0.2:
            self.instruction = draw.choice(list(MATRICES))
            self.rule = MATRICES[self.instruction]
        else:
            self.instruction = draw.choice([i for i in INSTRUCTIONS if INSTRUCTIONS[i][1] * 8 >= self.bits or draw.random() < 0.05])
            self.rule = INSTRUCTIONS[self.instruction]
        self.each = max(self.rule[1] * 8 // self.bits, 1)
        self.tiler()
        self.thread_values()
        self.layout()
        self.rules()

    def factors(self, most):
        out = [2] * self.draw.randrange(0, most)
        while self.draw.random() < 0.15:
            out.insert(self.draw.randrange(len(out) + 1), self.draw.choice([3, 5]))
        return out

    def tiler(self):
        """Tilers: for each mode the factors of its extent, their strides in the tensor's mode, and what the gaps are moved by."""
        draw = self.draw
        self.along = draw.randrange(2)
        width = (self.each & -self.each).bit_length() - 1 if self.each > 1 else 0
        self.modes = []
        for i in range(2):
            factors = self.factors(6)
            if i == self.along and draw.random() < 0.9:
                factors = [2] * width + factors[: max(1, 7 - width)]
            factors = factors or [1]
            strides, step = [], 1
            order = list(range(len(factors)))
            gap_at = None
            as_layout = draw.random() < 0.4
            if as_layout:
                keep = width if i == self.along and draw.random() < 0.9 else 0
                tail = order[keep:]
                draw.shuffle(tail)
                order = order[:keep] + tail
                if draw.random() < 0.3:
                    gap_at = draw.randrange(len(order))
            strides = [0] * len(factors)
            gaps = []
            for position, j in enumerate(order):
                if position == gap_at:
                    n = draw.choice([2, 3])
                    gaps.append((n, step))
                    step *= n
                strides[j] = step
                step *= factors[j]
            if as_layout and draw.random() < 0.02:
                strides[0] += 1
            found = gaps_of(factors, strides)
            if found is None:
                self.refused = "a tiler that is not one to one"
            else:
                gaps, step = found
            self.modes.append({"factors": factors, "strides": strides, "gaps": gaps, "extent": step, "layout": as_layout})
        if any(m["layout"] for m in self.modes):
            self.odd.append("strides in tilers")
        if any(m["gaps"] for m in self.modes):
            self.odd.append("gaps in tilers")

    def thread_values(self):
        """Threads and values take the tile's factors in some order."""
        draw = self.draw
        pairs, step = [[], []], 1
        for i, m in enumerate(self.modes):
            for f in m["factors"]:
                pairs[i].append((f, step))
                step *= f
        self.size = step
        width = (self.each & -self.each).bit_length() - 1
        first = [p for p in pairs[self.along][:width] if p[0] == 2] if draw.random() < 0.92 else []
        rest = [p for p in pairs[0] + pairs[1] if p not in first]
        draw.shuffle(rest)
        cut = draw.randrange(0, min(3, len(rest)) + 1)
        threads, values = rest[cut:], first + rest[:cut]
        if draw.random() < 0.1:
            threads.insert(draw.randrange(len(threads) + 1), (2, 0))
            self.odd.append("broadcast")
        while product(f for f, _ in threads) > 256:
            f, d = threads.pop()
            values.append((f, d))
        if draw.random() < 0.03 and threads:
            threads[-1] = (threads[-1][0] + 1, threads[-1][1])
            self.odd.append("beyond the tile")
        threads, values = threads or [(1, 0)], values or [(1, 0)]
        if self.rule[0] == "m" and draw.random() < 0.8:
            # Whole warps: more threads that repeat what others do.
            n = product(f for f, _ in threads)
            more = 1
            while n * more % 32 and more < 64:
                more *= 2
            if more > 1 and n * more <= 256:
                threads.append((more, 0))
        if draw.random() < 0.02:
            threads[0] = (threads[0][0], -threads[0][1])
            self.odd.append("negative strides of the copy")
        self.threads, self.values = threads, values

    def layout(self):
        draw = self.draw
        extents = [m["extent"] * draw.choice([1, 1, 1, 2, 3]) for m in self.modes]
        if draw.random() < 0.06:
            i = draw.randrange(2)
            extents[i] += draw.randrange(1, 4)
        along = self.along if draw.random() < 0.93 else 1 - self.along
        pitch = extents[along] + self.each * draw.choice([0, 0, 1, 2, 3]) if draw.random() < 0.9 else extents[along] + draw.randrange(4)
        strides = [0, 0]
        strides[along], strides[1 - along] = 1, pitch
        chance = draw.random()
        if chance < 0.05:
            strides[1 - along] = 0
        elif chance < 0.08:
            strides[along] = draw.choice([2, 3])
            if draw.random() < 0.9:
                pitch = strides[1 - along] = 3 * pitch
        if draw.random() < 0.15:
            extents.append(draw.choice([2, 3]))
            strides.append(extents[1 - along] * pitch)
            self.odd.append("stages")
        self.extents, self.strides = extents, strides
        self.on_elements = self.on_bytes = None
        self.offset = 0
        b = draw.randrange(0, 4)
        swizzle = (b, max(self.each, 1).bit_length() - 1 if draw.random() < 0.9 else draw.randrange(0, 5),
                   draw.choice([1, -1]) * (b + draw.randrange(0, 3)) or 3)
        shape = "(" + ",".join(map(str, extents)) + "):(" + ",".join(map(str, strides)) + ")"
        kind = draw.random()
        if kind < 0.06 and 0 not in strides:
            # Negative strides, and the offset that keeps all elements at 0 or above.
            i = draw.randrange(len(strides)) if draw.random() < 0.3 else 1 - along
            strides[i] = -strides[i]
            self.on_elements, self.offset = (0, 0, 3), -strides[i] * (extents[i] - 1)
            shape = "(" + ",".join(map(str, extents)) + "):(" + ",".join(map(str, strides)) + ")"
            self.text = f"Sw<0,0,3> o {self.offset} o {shape}"
            self.odd.append("negative strides of the layout")
        elif kind < 0.3:
            self.on_elements = swizzle
            self.offset = draw.choice([0, 0, self.each * 8, 64])
            self.text = f"Sw<{swizzle[0]},{swizzle[1]},{swizzle[2]}> o {self.offset} o {shape}"
            self.odd.append("swizzles of elements")
            if self.offset:
                self.odd.append("offsets")
        elif kind < 0.6 and self.bits in (4, 8, 16, 32, 64):
            b, m, s = swizzle
            self.on_bytes = (b, 4 if draw.random() < 0.85 else draw.randrange(0, 5), s)
            self.text = f"Sw<{b},{self.on_bytes[1]},{s}> o smem_ptr[{self.bits}b](unset) o {shape}"
            self.odd.append("swizzles of bytes")
        else:
            self.text = shape

    def rules(self):
        """What is refused, before anything is computed."""
        draw = self.draw
        threads = product(f for f, _ in self.threads)
        values = product(f for f, _ in self.values)
        reach = sum((f - 1) * max(d, 0) for f, d in self.threads + self.values)
        least = sum((f - 1) * min(d, 0) for f, d in self.threads + self.values)
        self.value_bits = self.bits
        if self.pasted:
            if draw.random() < 0.05:
                self.value_bits = draw.choice([b for b in (4, 8, 16, 32, 64) if b != self.bits])
                self.odd.append("another ValueType")
        if self.value_bits != self.bits:
            self.refused = self.refused or "ValueType"
        if self.rule[1] * 8 % self.bits:
            self.refused = self.refused or "vectors of no whole number of elements"
        if values % self.each:
            self.refused = self.refused or "values"
        if least < 0 or reach >= self.size:
            self.refused = self.refused or "beyond the tile"
        if self.rule[0] == "m" and threads % 32:
            self.refused = self.refused or "whole warps"
        for i, m in enumerate(self.modes):
            if self.extents[i] % m["extent"]:
                self.refused = self.refused or "remainders"
        if threads % 32:
            self.odd.append("partial warps")
        if self.bits < 8:
            self.odd.append("below a byte")
        if any(e & (e - 1) for e in self.extents):
            self.odd.append("extents that are no power of 2")
        if any(d == 0 for d, e in zip(self.strides, self.extents) if e > 1):
            self.odd.append("stride 0")

    def tiler_text(self):
        modes = []
        for m in self.modes:
            if m["layout"]:
                extents, strides = text_of(m["factors"], m["strides"])
                modes.append((extents, strides))
            else:
                modes.append((f"_{product(m['factors'])}", None))
        if all(s is None for _, s in modes):
            return "(" + ",".join(e for e, _ in modes) + ")"
        return "(" + ",".join(e if s is None else f"{e}:{s}" for e, s in modes) + ")"

    def access(self):
        tv = tuple_text([([f for f, _ in self.threads], [d for _, d in self.threads]),
                         ([f for f, _ in self.values], [d for _, d in self.values])])
        if not self.pasted:
            return f"{self.instruction}: tv {tv} tile {self.tiler_text()}"
        # A Copy_Atom of one thread and one value: TiledLayout_TV is both sides' thread-value layout.
        return (f"{self.instruction}: TiledCopy\n  Tiler_MN:       {self.tiler_text()}\n  TiledLayout_TV: {tv}\nCopy_Atom\n"
                "  ThrID:        _1:_0\n  ValLayoutSrc: (_1,_1):(_0,_0)\n  ValLayoutDst: (_1,_1):(_0,_0)\n"
                f"  ValLayoutRef: (_1,_1):(_0,_0)\n  ValueType:    {self.value_bits}b\n")

    def bit(self, offset, bit):
        """The bit address of a bit of an element."""
        if self.on_elements:
            offset = swizzled(self.on_elements, offset + self.offset)
        at = offset * self.bits + bit
        return swizzled(self.on_bytes, at // 8) * 8 + at % 8 if self.on_bytes else at

    def coordinate(self, index):
        out = []
        for m in self.modes:
            n = product(m["factors"])
            out.append(index_of(m["factors"], m["strides"], index % n) if m["layout"] else index % n)
            index //= n
        return out

    def may_carry(self):
        """True if a sum of two steps of the layout, or one and its offset, may carry under a swizzle of elements: any bit of theirs below
        the swizzle's top is another's, or a step is no power of two."""
        if not self.on_elements or self.on_elements[0] == 0:
            return False
        top = 1 << (self.on_elements[1] + self.on_elements[0] + abs(self.on_elements[2]))
        reached = self.offset % top
        for extent, stride in zip(self.extents, self.strides):
            steps = [stride * (1 << i) for i in range((extent - 1).bit_length())] if extent & (extent - 1) == 0 else [stride * i for i in range(extent)]
            for step in steps:
                if step % top & reached or bin(stride % top).count("1") > 1:
                    return True
                reached |= step % top
        return False

    def answer(self):
        """(the most wavefronts, their sum); None for one that does not fit."""
        kind, size, matrices = self.rule
        stores = self.instruction.startswith(("st", "cp"))
        if stores and any(d == 0 and n > 1 for n, d in zip(self.extents, self.strides)):
            return None  # elements that share an address: one of them is lost
        threads, values = product(f for f, _ in self.threads), product(f for f, _ in self.values)
        table = {}
        for t in range(threads):
            for v in range(values):
                index = (index_of([f for f, _ in self.threads], [d for _, d in self.threads], t) +
                         index_of([f for f, _ in self.values], [d for _, d in self.values], v))
                at = self.coordinate(index)
                table[t, v] = at[0] * self.strides[0] + at[1] * self.strides[1]
        moves = [0]
        for i, m in enumerate(self.modes):
            steps = m["gaps"] + [(self.extents[i] // m["extent"], m["extent"])]
            for n, d in steps:
                moves = [a + k * d * self.strides[i] for a in moves for k in range(n)]
        for n, d in zip(self.extents[2:], self.strides[2:]):
            moves = [a + k * d for a in moves for k in range(n)]
        lanes = 8 * matrices if kind == "m" else 32
        step = self.bits if not self.on_bytes else 8 if self.bits % 8 == 0 else self.bits & -self.bits
        most, total, known = 0, 0, {}
        for warp in range(0, threads, 32):
            for first in range(0, values, self.each):
                for move in moves:
                    at = [None] * 32
                    for lane in range(min(lanes, threads - warp)):
                        start = self.bit(table[warp + lane, first] + move, 0)
                        if start % 8 or start // 8 % size:
                            return None
                        for j in range(self.each):
                            offset = table[warp + lane, first + j] + move
                            for bit in range(0, self.bits, step):
                                if self.bit(offset, bit) != start + j * self.bits + bit:
                                    return None
                        at[lane] = start // 8
                    low = min(a for a in at if a is not None) // 128 * 128
                    key = tuple(None if a is None else a - low for a in at)
                    if key not in known:
                        known[key] = wavefronts(kind, size, matrices, at)
                    most, total = max(most, known[key]), total + known[key]
        return most, total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    from swizproof import _swizproof

    draw = random.Random(options.seed)
    counts, odd, refusals = collections.Counter(), collections.Counter(), collections.Counter()
    wrong = 0
    for n in range(options.cases):
        case = Case(random.Random(draw.randrange(1 << 60)))
        if case.size > 4096:
            counts["too large"] += 1
            continue
        words = ["check", case.text, "--element", f"{case.bits}b", "--access", case.access(), "--json"]
        code, document, _ = _swizproof.answer(words)
        found = json.loads(document)
        if code == 1 and found["one_to_one"] == "refuted" and not found["accesses"]:
            # Two elements in one place: no access is looked at. The counterexample is computed again.
            values = found["counterexample"]["values"]
            pair = [index_of(case.extents, case.strides, values[name]) for name in "xy"]
            mine, its = (values["x"] != values["y"], True), (True, pair[0] == pair[1])
            counts["not one-to-one"] += 1
        elif case.refused:
            mine, its = ("refused",), ("refused",) if code == 2 else ("accepted",)
            counts["refused"] += 1
            refusals[case.refused] += 1
        else:
            result = case.answer()
            mine = ("does not fit",) if result is None else result
            if code == 2:
                its = ("refused", found["error"]["message"])
                if its[1].startswith("CuTe's partition of this layout may be another function") and case.may_carry():
                    counts["offsets may carry"] += 1
                    mine = its
            else:
                access = found["accesses"][0]
                its = (access["wavefronts"], access.get("total")) if access["kind"] == "cost" else ("does not fit",)
                if its[-1] is None:
                    its, mine = its[:1], mine[:1]
            counts["does not fit" if result is None else "with conflicts" if result[0] > {4: 1, 8: 2, 16: 4}.get(case.rule[1], 1) else "fits"] += 1
        counts["pasted" if case.pasted else "tv"] += 1
        for kind in set(case.odd):
            odd[kind] += 1
        if mine != its:
            wrong += 1
            print(f"seed {options.seed} case {n}: the model says {mine} ({case.refused}), the tool {its}:\n"
                  f"  swizproof check '{case.text}' --element {case.bits}b --access $'{case.access()}'".replace("\n  T", "\\n  T")
                  .replace("\nC", "\\nC").replace("\n  V", "\\n  V"))
    print(f"tiled_copy: {options.cases} cases, " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    print("refused for: " + ", ".join(f"{k} {v}" for k, v in sorted(refusals.items())))
    print("odd: " + ", ".join(f"{k} {v}" for k, v in sorted(odd.items())) + f"; {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
