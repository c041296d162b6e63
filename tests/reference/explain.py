#!/usr/bin/env python3
"""explain.py --cases N --seed S: a reference model of `swizproof explain`, written from its documentation alone.

Random traces go to the command in one process, through the Python module. Compared are, for each kernel: every line's sums and worst
execution; the regions; every fix (its figure is counted again over all recorded accesses with the addresses that it leads to);
and what the output says that nothing is better than: all swizzles and all paddings of the family that it names, by plain loops in C.
The last line has the numbers of cases, of compared facts, of odd cases by kind and of differences; exit code 1 if there are some.
"""

import argparse
import collections
import ctypes
import json
import os
import random
import re
import subprocess
import sys
import tempfile

PLAIN_LOOPS = r"""
#include <stdint.h>
#include <string.h>
enum { load, store, matrix, copy };
typedef struct { int kind, bytes, lanes, range; int64_t times; int64_t at[32]; } access_t;

/* Wavefronts of one warp instruction on sm_90: hardware.md, section 0. at[lane] is -1 where the lane takes no part. */
int cost(const access_t *a, int *degrees) {
  int size = a->bytes <= 4 ? 32 : a->bytes == 8 ? 16 : 8, sum = 0, phases;
  if (a->kind == load && a->bytes >= 8)
    for (int bit = 1, merged = 0; bit <= 2 && !merged; bit *= 2) {
      merged = 1;
      for (int l = 0; l < 32; ++l)
        if (a->at[l] >= 0 && a->at[l ^ bit] >= 0 && a->at[l] != a->at[l ^ bit]) merged = 0;
      if (merged) size *= 2;
    }
  phases = a->lanes / size;
  for (int p = 0; p < phases; ++p) {
    int64_t words[32][33];
    int many[32] = {0}, degree = 0;
    for (int l = p * size; l < (p + 1) * size; ++l) {
      if (a->at[l] < 0) continue;
      int64_t last = -1;
      for (int b = 0; b < a->bytes; ++b) {
        int64_t word = (a->at[l] + b) / 4;
        int bank = word % 32, known = 0;
        if (word == last) continue;
        last = word;
        for (int i = 0; i < many[bank] && a->kind != copy; ++i) known |= words[bank][i] == word;
        if (!known) words[bank][many[bank]++] = word;
        if (many[bank] > degree) degree = many[bank];
      }
    }
    if (degrees) degrees[p] = degree;
    sum += degree;
  }
  if (degrees) degrees[phases] = -1;
  return (a->kind == load || a->kind == store) && sum < phases ? phases : a->kind == copy && sum < 1 ? 1 : sum;
}

int64_t padded(const access_t *all, int n, int range, int64_t start, int64_t pitch, int64_t padding) {
  int64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    if (all[i].range != range) continue;
    access_t a = all[i];
    for (int l = 0; l < a.lanes; ++l)
      if (a.at[l] >= 0) a.at[l] += (a.at[l] - start) / pitch * padding;
    sum += a.times * cost(&a, 0);
  }
  return sum;
}

/* The least sum of all starts of each range, of all paddings at a pitch. */
int64_t best_at_pitch(const access_t *all, int n, const int64_t *begin, int ranges, int64_t step, int64_t pitch, int64_t most) {
  int64_t best = INT64_MAX;
  for (int64_t padding = step; padding <= most && padding <= pitch; padding += step) {
    int64_t sum = 0;
    for (int r = 0; r < ranges; ++r) {
      int64_t least = INT64_MAX;
      for (int64_t start = 0; start <= begin[r]; start += step) {
        int64_t total = padded(all, n, r, start, pitch, padding);
        if (total < least) least = total;
      }
      sum += least;
    }
    if (sum < best) best = sum;
  }
  return best;
}

uint64_t swizzle(int b, int m, int s, uint64_t x) {
  uint64_t mask = ((1ull << b) - 1) << (s >= 0 ? m + s : m);
  return s >= 0 ? x ^ ((x & mask) >> s) : x ^ ((x & mask) << -s);
}

/* Total under a swizzle, -1 where a byte that is touched leaves the rooms. */
int64_t swizzled(const access_t *all, int n, int b, int m, int s, const int64_t *rooms, int many) {
  int64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    access_t a = all[i];
    for (int l = 0; l < a.lanes; ++l) {
      if (a.at[l] < 0) continue;
      for (int byte = 0; byte < a.bytes; ++byte) {
        int64_t y = swizzle(b, m, s, a.at[l] + byte);
        int in = 0;
        for (int r = 0; r < many; ++r) in |= rooms[2 * r] <= y && y < rooms[2 * r + 1];
        if (!in) return -1;
      }
      a.at[l] = swizzle(b, m, s, a.at[l]);
    }
    sum += a.times * cost(&a, 0);
  }
  return sum;
}

/* The same of offsets from a start of each range. */
int64_t on_offsets(const access_t *all, int n, int b, int m, int s, const int64_t *starts, const int64_t *rooms, int many) {
  int64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    access_t a = all[i];
    int64_t start = starts[a.range];
    for (int l = 0; l < a.lanes; ++l) {
      if (a.at[l] < 0) continue;
      for (int byte = 0; byte < a.bytes; ++byte) {
        int64_t y = start + swizzle(b, m, s, a.at[l] + byte - start);
        int in = 0;
        for (int r = 0; r < many; ++r) in |= rooms[2 * r] <= y && y < rooms[2 * r + 1];
        if (!in) return -1;
      }
      a.at[l] = start + swizzle(b, m, s, a.at[l] - start);
    }
    sum += a.times * cost(&a, 0);
  }
  return sum;
}

int64_t best_swizzle(const access_t *all, int n, int whole, int bits, const int64_t *rooms, int many, int64_t before, int *searched) {
  *searched = 0;
  for (int b = 1; b <= bits; ++b)
    for (int m = whole; m <= bits; ++m)
      for (int s = -bits; s <= bits; ++s) {
        int far = s < 0 ? -s : s;
        if (far < b || b + m + far > bits) continue;
        ++*searched;
        int64_t total = swizzled(all, n, b, m, s, rooms, many);
        if (total >= 0 && total < before) before = total;
      }
  return before;
}

uint64_t digest(const char *text, int64_t n) {
  uint64_t value = 0xcbf29ce484222325ull;
  for (int64_t i = 0; i < n; ++i) value = (value ^ (unsigned char)text[i]) * 0x100000001b3ull;
  return value;
}
"""


class Access(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("bytes", ctypes.c_int), ("lanes", ctypes.c_int), ("range", ctypes.c_int),
                ("times", ctypes.c_int64), ("at", ctypes.c_int64 * 32)]


def compiled(folder):
    with open(f"{folder}/loops.c", "w") as file:
        file.write(PLAIN_LOOPS)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-shared", "-fPIC", "-o", f"{folder}/loops.so", f"{folder}/loops.c"], check=True)
    loops = ctypes.CDLL(f"{folder}/loops.so")
    for name in ("padded", "best_at_pitch", "swizzled", "on_offsets", "best_swizzle"):
        getattr(loops, name).restype = ctypes.c_int64
    loops.digest.restype = ctypes.c_uint64
    return loops


def op_of(name):
    """kind, bytes, lanes, ideal of an instruction's name; None where nothing is modelled."""
    if m := re.fullmatch(r"(ld|st)\.shared\.b(\d+)", name):
        size = int(m[2]) // 8
        return (0 if m[1] == "ld" else 1), size, 32, max(1, size // 4)
    if m := re.fullmatch(r"(?:ld|st)matrix\.x(\d)(?:\.trans)?", name):
        return 2, 16, 8 * int(m[1]), int(m[1])
    if m := re.fullmatch(r"cp\.async\.b(\d+)", name):
        size = int(m[1]) // 8
        return 3, size, 32, max(1, size // 4)
    return None


NAMES = ([f"{k}.shared.b{w}" for k in ("ld", "st") for w in (8, 16, 32, 64, 128)] + [f"cp.async.b{w}" for w in (32, 64, 128)] +
         [f"{k}matrix.x{n}{t}" for k in ("ld", "st") for n in (1, 2, 4) for t in ("", ".trans")])


# ------------------------------------------------------------------------------------------ random traces


class Case:
    """A trace, and its odd kinds."""

    def __init__(self, rng):
        self.rng = rng
        self.odd = set()
        self.lines = []  # (pc, op, sass, [(times, address)], not kept)
        arrays = rng.choice([1, 1, 1, 2])
        at = 0 if rng.random() < 0.1 else 16 * rng.randrange(1, 12)
        pc = 0
        names = rng.sample(NAMES, rng.choice([1, 1, 2, 3]))
        if rng.random() < 0.6:  # one width makes small steps likelier than a mixture with 16 bytes
            width = rng.choice(["b8", "b16", "b32", "b32", "b32", "b64", "b128"])
            names = [n for n in NAMES if n.endswith("." + width)]
        for _ in range(arrays):
            pc, at = self.array(at, pc, names)
        if arrays > 1:
            self.odd.add("several arrays")
        if rng.random() < 0.1:
            self.odd.add("atomics")
            self.lines.append((pc + 16, "atom.shared.b32", "ATOMS.ADD R3, [R6], R7", [(3, [4 * l for l in range(32)])], 2))

    def array(self, at, pc, names):
        rng = self.rng
        element = rng.choice([1, 2, 4, 4, 4, 8, 16])
        pitch = element * rng.choice([rng.randrange(1, 40), 2 ** rng.randrange(0, 6), max(1, 128 // element)])
        if pitch & (pitch - 1):
            self.odd.add("rows that divide nothing")
        limit = rng.choice([160, 300, 600, 1200])
        rows = max(2, min(32, limit // max(pitch, 1)))
        halo = rng.choice([0, 0, 1, 2, rows // 2]) if rng.random() < 0.5 else 0
        if halo:
            self.odd.add("halo")
        stages = 2 if rng.random() < 0.15 else 1
        gap = 16 * rng.randrange(0, 8)
        size = pitch * rows
        distance = (size + 15) // 16 * 16 + gap
        if stages == 2:
            self.odd.add("stages")
        for _ in range(rng.choice([1, 2, 2, 3])):
            name = rng.choice(names)
            kind, width, lanes, _ = op_of(name)
            patterns = collections.Counter()
            how = rng.choice(["column", "column", "row", "block", "random", "same"])
            mask = rng.choice(["all", "all", "partial", "predicated"])
            if mask != "all" and kind != 2:
                self.odd.add(mask + " warps")
            live = rng.randrange(1, 33) if mask == "partial" else 32
            for i in range(rng.choice([1, 2, 4, rng.randrange(1, 9)])):
                base = at + distance * rng.randrange(stages)
                address = []
                for l in range(32):
                    if how == "column":
                        x = (halo + l) % rows * pitch + i * width
                    elif how == "row":
                        x = (halo + i) % rows * pitch + l * width
                    elif how == "block":
                        x = (halo + l // 8) % rows * pitch + (l % 8 + i) * width
                    elif how == "same":
                        x = halo * pitch + i * width
                    else:
                        x = rng.randrange(max(1, size // width)) * width
                    x = base + x % max(size, width)
                    x = x // width * width
                    active = l < live and (mask != "predicated" or rng.random() < 0.7)
                    address.append(x if active or kind == 2 else None)
                if all(a is None for a in address):
                    address[rng.randrange(32)] = base // width * width
                if kind == 2:  # the hardware ignores the others
                    address = address[:lanes] + [None if rng.random() < 0.5 else 7] * 0 + address[lanes:]
                patterns[tuple(address)] += rng.choice([1, 1, 7, 100])
            pc += 16
            not_kept = rng.choice([0, 0, 0, 5])
            if not_kept:
                self.odd.add("not kept")
            sass = None
            if kind < 2 and rng.random() < 0.1:
                self.odd.add("generic")
                sass = "LD.E R2, [R4]" if kind == 0 else "ST.E [R4], R2"
            self.lines.append((pc, name, sass, [(n, list(a)) for a, n in patterns.items()], not_kept))
        if len({op_of(line[1])[1] for line in self.lines if op_of(line[1])}) > 1:
            self.odd.add("several widths")
        overlap = rng.random() < 0.2
        if overlap:
            self.odd.add("arrays that overlap")
        return pc, at + (size // 2 // 16 * 16 if overlap else stages * distance + 16 * rng.randrange(0, 3))


def access_of(name, address, times=1, where=0):
    kind, width, lanes, _ = op_of(name)
    at = [-1 if l >= lanes or address[l] is None else address[l] for l in range(32)]
    return Access(kind, width, lanes, where, times, (ctypes.c_int64 * 32)(*at))


def cost(loops, name, address):
    degrees = (ctypes.c_int * 9)()
    wavefronts = loops.cost(ctypes.byref(access_of(name, address)), degrees)
    return wavefronts, list(degrees)[:list(degrees).index(-1)]


def written(case, loops, rng):
    """The trace as text, and what each line sums to."""
    head = {"format": "swizproof trace 1", "device": "reference", "architecture": "sm_90", "driver": "1", "toolkit": "13.0", "commit": "",
            "recorded": "2026-11-22T08:00:00Z", "program": ["p"]}
    text = [json.dumps(head)]
    sums = {}
    for pc, op, sass, patterns, not_kept in case.lines:
        line = {"kernel": "k", "launches": 1, "grid": [1, 1, 1], "block": [32, 1, 1], "pc": pc, "sass": sass, "file": None, "line": None, "op": op}
        executed = sum(n for n, _ in patterns) + not_kept
        if op_of(op) is None:
            line.update(executed=executed, wavefronts=None, ideal=None, distribution={},
                        patterns=[{"executed": n, "wavefronts": None, "address": a} for n, a in patterns], not_kept=not_kept, worst=None)
            text.append(json.dumps(line))
            continue
        costs = [cost(loops, op, a)[0] for _, a in patterns]
        distribution = collections.Counter()
        for (n, _), c in zip(patterns, costs):
            distribution[c] += n
        if not_kept:
            distribution[min(costs)] += not_kept
        worst = max(range(len(costs)), key=lambda i: costs[i])
        ideal = op_of(op)[3]
        sums[pc] = {"executed": executed, "wavefronts": sum(w * n for w, n in distribution.items()), "ideal": executed * ideal,
                    "excess": sum(max(0, w - ideal) * n for w, n in distribution.items()), "worst": costs[worst], "op": op}
        line.update(executed=executed, wavefronts=sums[pc]["wavefronts"], ideal=executed * ideal,
                    distribution={str(w): n for w, n in sorted(distribution.items())},
                    patterns=[{"executed": n, "wavefronts": c, "address": a} for (n, a), c in zip(patterns, costs)], not_kept=not_kept,
                    worst={"wavefronts": costs[worst], "address": patterns[worst][1]})
        text.append(json.dumps(line))
    end = json.dumps({"lines": len(text), "dropped": 0, "unseen": {}, "failures": []})[:-1]
    whole = "\n".join(text) + "\n" + end
    raw = whole.encode()
    return whole + ', "digest": "%016x"}\n' % loops.digest(raw, ctypes.c_int64(len(raw))), sums


# ------------------------------------------------------------------------------------------ the model


class Region:
    def __init__(self):
        self.ranges, self.rooms, self.accesses = [], [], []  # accesses: (name, address, times)


def regions_of(case):
    """Accesses whose bytes overlap, and those of one instruction, are of one region."""
    every = []
    for pc, op, _, patterns, _ in case.lines:
        if op_of(op) is None:
            continue
        _, width, lanes, _ = op_of(op)
        for n, a in patterns:
            at = [x for x in a[:lanes] if x is not None]
            if at:
                every.append((min(at), max(at) + width, pc, op, a, n))
    every.sort(key=lambda e: e[0])
    ranges = []
    for e in every:
        if not ranges or e[0] >= ranges[-1][1]:
            ranges.append([e[0], e[1], []])
        ranges[-1][1] = max(ranges[-1][1], e[1])
        ranges[-1][2].append(e)
    group = list(range(len(ranges)))
    for pc in {e[2] for e in every}:
        joined = {group[i] for i, r in enumerate(ranges) if any(e[2] == pc for e in r[2])}
        group = [min(joined) if g in joined else g for g in group]
    out = []
    for g in sorted(set(group)):
        region = Region()
        for i, r in enumerate(ranges):
            if group[i] != g:
                continue
            low = max(r[0] // 128 * 128, ranges[i - 1][1] if i else 0)
            high = min((r[1] + 127) // 128 * 128, ranges[i + 1][0] if i + 1 < len(ranges) else 1 << 40)
            if region.ranges and region.ranges[-1][1] == r[0]:
                region.ranges[-1][1], region.rooms[-1][1] = r[1], high
            else:
                region.ranges.append([r[0], r[1]])
                region.rooms.append([low, high])
            region.accesses += [(e[3], e[4], e[5], len(region.ranges) - 1) for e in r[2]]
        out.append(region)
    return out


def array_of(region):
    return (Access * len(region.accesses))(*[access_of(op, a, n, r) for op, a, n, r in region.accesses])


class Checker:
    def __init__(self, loops):
        self.loops = loops
        self.facts = collections.Counter()
        self.wrong = []

    def equal(self, what, said, found):
        self.facts[what] += 1
        if said != found:
            self.wrong.append(f"{what}: it says {said}, found {found}")

    def lines(self, said, sums):
        for line in said:
            if line["op"].startswith("atom"):
                self.equal("no cost of atomics", line["wavefronts"], None)
                continue
            own = sums[line["pc"]]
            for key in ("executed", "wavefronts", "ideal", "excess"):
                self.equal("sums", line[key], own[key])
            self.equal("worst", line["worst"]["wavefronts"], own["worst"])
            wavefronts, degrees = cost(self.loops, line["op"], line["worst"]["address"])
            self.equal("worst execution", [line["worst"]["wavefronts"], line["worst"]["degree"]], [wavefronts, degrees])

    def region(self, said, region, text):
        loops, every, n = self.loops, array_of(region), len(region.accesses)
        widths = [op_of(op)[1] for op, _, _, _ in region.accesses]
        step = max(widths)
        before = sum(a.times * loops.cost(ctypes.byref(a), None) for a in every)
        self.equal("before", said["before"], before)
        self.equal("ideal of a region", said["ideal"], sum(t * min(op_of(op)[3], loops.cost(ctypes.byref(a), None)) for a, (op, _, t, _) in zip(every, region.accesses)))
        self.equal("element", said["element_bytes"], min(2 if op_of(op)[0] == 2 else op_of(op)[1] for op, _, _, _ in region.accesses))
        # swizzles
        flat = [x for room in region.rooms for x in room]
        rooms, many = (ctypes.c_int64 * len(flat))(*flat), len(region.rooms)
        bits, searched = (region.ranges[-1][1] - 1).bit_length(), ctypes.c_int()
        least = loops.best_swizzle(every, n, step.bit_length() - 1, bits, rooms, many, ctypes.c_int64(before), ctypes.byref(searched))
        self.equal("swizzles", said["searched"], searched.value)
        self.equal("the family of swizzles", [int(x) for x in re.findall(r"\d+", said["searched_what"])],
                   [searched.value, step.bit_length() - 1, bits])  # all N, m >= .., b + m + |s| <= ..
        if said["swizzle"]:
            self.equal("a swizzle is the best", said["after"], least)
            b, m, s = (int(x) for x in re.fullmatch(r"Sw<(\d+),(\d+),(-?\d+)>", said["swizzle"]).groups())
            self.equal("a swizzle's figure", said["after"], loops.swizzled(every, n, b, m, s, rooms, many))
            for aligned in [1] if said["on_offsets"] else [1 << k for k in range(8)]:
                starts = [r[0] // aligned * aligned for r in region.ranges]
                low = (ctypes.c_int64 * len(starts))(*starts)
                good = all(x % step == 0 for x in starts) and 0 <= loops.on_offsets(every, n, b, m, s, low, rooms, many) <= said["after"]
                if good:
                    break
            self.equal("offsets", said["offset_starts"], starts if good else [])
            self.equal("offsets from the start", said["on_offsets"], good and starts == [r[0] for r in region.ranges])
        else:
            self.equal("no swizzle is better", before, least)
        # paddings
        family = said["padding_searched"]
        self.equal("steps of paddings", [family["step"], family["most"]], [step, 128 - step])
        longest = max(end - begin // step * step for begin, end in region.ranges)
        pitches = list(range(step, family["longest"] + 1, step)) + family["longer"]
        if family["all"]:  # a longer row ends in no other place, and adds no more
            pitches = range(step, max(longest + step, 128) + 1, step)
        begins = (ctypes.c_int64 * len(region.ranges))(*[r[0] for r in region.ranges])
        best = min((loops.best_at_pitch(every, n, begins, len(region.ranges), ctypes.c_int64(step), ctypes.c_int64(p), ctypes.c_int64(128 - step))
                    for p in pitches), default=before)
        spoken = "any length" if family["all"] else ", ".join(
            ([f"{step} to {family['longest']}"] if family["longest"] else []) + [str(p) for p in family["longer"]]) + " bytes"
        self.equal("the family of paddings", family["what"],
                   f"rows of {spoken}, counted from any address, in steps of {step} bytes; each longer by {step} to {128 - step} bytes, at most doubled")
        if said["padding"]:
            p = said["padding"]
            self.equal("a padding is the best", p["after"], best)
            total = sum(loops.padded(every, n, r, ctypes.c_int64(s), ctypes.c_int64(p["pitch"]), ctypes.c_int64(p["padding"]))
                        for r, s in enumerate(p["starts"]))
            self.equal("a padding's figure", p["after"], total)
            right = all(0 <= s <= r[0] and s % step == 0 for s, r in zip(p["starts"], region.ranges))
            self.equal("starts", [len(p["starts"]), right], [len(region.ranges), True])
            self.equal("padding in its family", p["pitch"] % step == 0 and p["padding"] % step == 0 and p["padding"] <= min(p["pitch"], 128 - step), True)
            first = p["starts"][0]
            rows = next(n for n in (1, 2, 4) if n * p["padding"] % 4 == 0) * p["pitch"]  # after so many the ranges move by whole words
            if all((s - first) % rows == 0 for s in p["starts"]):  # the text names one start for all: the gaps between the ranges count
                counted = [(first, region.ranges[-1])]
                total = sum(loops.padded(every, n, r, ctypes.c_int64(first), ctypes.c_int64(p["pitch"]), ctypes.c_int64(p["padding"]))
                            for r in range(len(region.ranges)))
                self.equal("a padding's figure, of one start", p["after"], total)
            else:
                counted = list(zip(p["starts"], region.ranges))
            self.equal("memory", p["memory"], sum((r[1] - 1 - s) // p["pitch"] * p["padding"] for s, r in counted))
            self.equal("better than nothing", p["after"] < before, True)
        else:
            self.equal("no padding is better", before, min(best, before))
            self.equal("the sentence", text is None or f"no padding helps; searched: {family['what']}" in text, True)
        if not said["swizzle"]:
            self.equal("the sentence", text is None or f"no swizzle helps; searched: {said['searched_what']}" in text, True)


def work_of(region):
    """Lanes that the plain loops look at."""
    step = max(op_of(op)[1] for op, _, _, _ in region.accesses)
    pitches = max(max(end - begin for begin, end in region.ranges) // step, 128 // step)
    return pitches * (region.ranges[-1][0] // step + 1) * min(128 // step, pitches) * len(region.accesses) * 32


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="", help="a folder for the traces that differ")
    parser.add_argument("--binary", default="", help="the program, whose text is compared in each 20th case")
    parser.add_argument("--most", type=int, default=8_000_000, help="lanes that the plain loops look at in a case; larger cases are left out")
    options = parser.parse_args()
    from swizproof import _swizproof

    odd, compared, different, too_large, fixes = collections.Counter(), 0, 0, 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(compiled(folder))
        path = f"{folder}/case.trace"
        for number in range(options.cases):
            rng = random.Random(f"{options.seed}.{number}")
            case = Case(rng)
            regions = regions_of(case)
            while sum(work_of(r) for r in regions) > options.most:
                too_large += 1
                case = Case(rng)
                regions = regions_of(case)
            text, sums = written(case, checker.loops, rng)
            with open(path, "w") as file:
                file.write(text)
            checker.wrong = []
            code, document, complaint = _swizproof.answer(["explain", path, "--json"])
            if code not in (0, 1, 3):
                checker.wrong.append(f"exit code {code}: {complaint.decode()}")
            else:
                answer = json.loads(document)
                shown = None  # the module answers in JSON alone
                if options.binary and number % 20 == 0:
                    command = [options.binary, "explain", path, "--color", "never"]
                    shown = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.decode()
                kernel = answer["kernels"][0]
                checker.lines(kernel["lines"], sums)
                bad = {json.dumps(r.ranges): r for r in regions
                       if any(cost(checker.loops, op, a)[0] > op_of(op)[3] for op, a, _, _ in r.accesses)}
                checker.equal("regions", sorted(json.dumps(m["region"]) for m in kernel["fixes"]), sorted(bad))
                for said in kernel["fixes"] if not checker.wrong else []:
                    checker.region(said, bad[json.dumps(said["region"])], shown)
                    fixes["swizzle"] += said["swizzle"] is not None
                    fixes["padding"] += said["padding"] is not None
                    fixes["neither"] += said["swizzle"] is None and said["padding"] is None
                    fixes["searched to an end"] += said["padding_searched"]["all"]
            compared += 1
            odd.update(case.odd)
            if checker.wrong:
                different += 1
                kept = f"{options.keep or tempfile.gettempdir()}/explain_{options.seed}_{number}.trace"
                with open(kept, "w") as file:
                    file.write(text)
                print(f"swizproof explain {kept} --json\n  " + "\n  ".join(checker.wrong[:4]))
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(odd.items()))
    found = ", ".join(f"{n} {kind}" for kind, n in fixes.items())
    print(f"explain: {options.cases} cases, seed {options.seed}; {compared} compared, {sum(checker.facts.values())} facts; regions: {found}; odd: {kinds}; "
          f"{too_large} drawn again, too large for plain loops; {different} differences")
    sys.exit(different != 0)


if __name__ == "__main__":
    main()
