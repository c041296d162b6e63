#!/usr/bin/env python3
"""kernel_layouts.py --cases N --seed S: a reference model of the layouts that `swizproof kernel` prints, written from docs/kernels.md alone.

The kernels of kernel_fixes.py, some of whose addresses go through a swizzle, are executed for every warp and every value of the loop
counters. In each execution one number K must exist with which lane l accesses byte swizzle(K + layout(l)). Where no loop is around an
access and this model finds a layout, with or without a swizzle, the command must print one.
"""
import re
import sys

from kernel_fixes import LANES, MASK, Kernel, campaign, np

SWIZZLES = [(b, m, s) for b in range(1, 6) for m in range(0, 12) for s in range(b, 12) if m + b + s <= 12]


def swizzle(name, x):
    bits, base, shift = name
    return x ^ (x >> shift & ((1 << bits) - 1) << base)


class Swizzled(Kernel):
    """An access in five of ten goes through a swizzle, as its offset from the array."""

    def access(self, arrays, sources, enclosing):
        super().access(arrays, sources, enclosing)
        one = self.accesses[-1]
        if one.left_out or not self.chance(0.5):
            return
        s = SWIZZLES[self.number(0, len(SWIZZLES) - 1)]
        bits, base, shift = s
        if base < (one.size - 1).bit_length():
            return
        line = self.lines.pop()
        at = re.search(r"\[(%r\d+)\+(\d+)\]", line)
        offset, high = self.word(), self.word()
        start = next(r for a, r in arrays if a == one.array)
        self.lines.append(f"add.u32 {offset}, {at[1]}, {at[2]}; sub.u32 {offset}, {offset}, {start}; shr.u32 {high}, {offset}, {shift}; and.b32 {high}, {high}, {((1 << bits) - 1) << base};"
                          f" xor.b32 {offset}, {offset}, {high}; add.u32 {offset}, {offset}, {start};")
        self.lines.append(line.replace(at[0], f"[{offset}+0]"))
        terms = one.terms
        one.terms = lambda x: swizzle(s, terms(x) & MASK)
        one.index += 1
        self.odd.add("swizzle")


def strides_of(runs, plain):
    """Strides of the five bits of a lane with which all runs are linear (None: lanes never differ in a bit), or None."""
    strides = [None] * 5
    runs = [(plain(address & MASK), active) for address, active in runs]
    for address, active in runs:
        for b in range(5):
            low = LANES[(LANES >> b & 1) == 0]
            pairs = low[active[low] & active[low + (1 << b)]]
            if strides[b] is None and len(pairs):
                strides[b] = int(address[pairs[0] + (1 << b)] - address[pairs[0]]) & MASK
    known = [s is not None for s in strides]
    if known != sorted(known, reverse=True):
        return None
    for address, active in runs:
        on = LANES[active]
        for b in range(5):
            if strides[b] is None and len(set(on >> b & 1)) > 1:
                return None
        value = sum((LANES >> b & 1) * (s or 0) for b, s in enumerate(strides))
        if len(set((address[on] - value[on]) & MASK)) > 1:
            return None
    return strides


def leaves(text):
    return [int(t) for t in re.findall(r"-?\d+", text)]


def check(kernel, answer, _rng, differ, tally):
    accesses = {}
    for a in answer["accesses"]:
        accesses[a["ptx_line"]] = a
    for mine in kernel.accesses:
        found = accesses.get(mine.line)
        if found is None:
            differ(f"no access at PTX line {mine.line}")
            continue
        runs = [(np.array(address), active) for address, active in kernel.executions(mine)]
        tally["accesses"] += 1
        if not runs or mine.left_out:
            tally["left out"] += 1
            if found["layout"] and not runs:
                differ(f"PTX line {mine.line} is never executed and has the layout {found['layout']}")
            continue
        if not found["layout"]:
            plain = strides_of(runs, lambda x: x)
            tally["without a layout"] += 1
            if plain is not None and plain[0] is not None and found["verdict"] in ("proved", "refuted") and not mine.loops:
                differ(f"PTX line {mine.line} has strides {plain}, and no layout was found")
            elif plain is None and not mine.loops and found["verdict"] in ("proved", "refuted"):
                for s in SWIZZLES:
                    if strides_of(runs, lambda x, s=s: swizzle(s, x)) is not None:
                        differ(f"PTX line {mine.line} has a layout under {s}")
                        break
            continue
        form = re.fullmatch(r"(.*):(.*?)(?: under Sw<(\d+),(\d+),(\d+)>)?", found["layout"])
        shape, stride = leaves(form[1]), leaves(form[2])
        size = int(np.prod(shape))
        rest, value = LANES % size, 0 * LANES
        for extent, step in zip(shape, stride):
            value, rest = value + rest % extent * step, rest // extent
        name = tuple(int(t) for t in form.groups()[2:]) if form[3] else None
        tally["layouts under a swizzle" if name else "plain layouts"] += 1
        if name and not mine.loops and strides_of(runs, lambda x: x) is not None:
            differ(f"PTX line {mine.line} needs no swizzle: {found['layout']}")
        for address, active in runs:
            before = swizzle(name, address & MASK) if name else address
            if len(set((before[active] - value[active]) & MASK)) > 1 or len(set((LANES // size)[active])) > 1:
                differ(f"PTX line {mine.line}: {found['layout']}; lanes {LANES[active].tolist()} access {address[active].tolist()}")
                break


if __name__ == "__main__":
    sys.exit(campaign(__doc__, Swizzled, "layouts", check))
