#!/usr/bin/env python3
"""races_groups.py --binary swizproof --cases N --seed S: named barriers of some warps in `kernel --races` against a model that runs small blocks.

The warps of a block are divided among two or three bodies, which store to shared memory, load from it, copy from it by cp.async.bulk, and wait for each other at barriers with a number and a count,
in loops, too. The number of a warp is that of its threads, or its first lane gives it by shfl. Half of the kernels have flaws: a barrier that is missing, has another number, counts too few threads or too
many, is for some threads alone, or is bar.arrive; a body without threads of one warp, a word of other threads, a copy that is not waited for, or by another thread. The model is written from the PTX ISA's text
on bar and cp.async.bulk: it runs all threads with a clock for each thread and each copy. What is proved has no two accesses to one word without an order.
"""
import collections
import random
import sys

from asking import batches_of, options_of, races_of
from races_rings import Writer, merge

BASE = 1024
FLAWS = ("none", "number", "few", "many", "some", "arrive", "warp", "word", "wait", "waiter", "shared", "lane")


class Kernel(Writer):
    """A random kernel: its text, and what a thread does: ("op", name, f..), ("if", f, body), ("do", body, times)."""

    def __init__(self, rng, name):
        super().__init__()
        self.rng, self.name = rng, name
        self.flaws = {rng.choice(FLAWS)} if rng.random() < 0.5 else set()
        self.has = set()
        self.warps = rng.choice([2, 3, 4])
        self.cuts = sorted(rng.sample(range(1, self.warps), rng.choice([1, 1, min(2, self.warps - 1)])))
        self.shuffles = rng.random() < 0.4
        self.body = []
        self.build()

    def flaw(self, name):
        """True for a flaw that the kernel has, at each of its places with a chance."""
        if name in self.flaws and self.rng.random() < 0.5:
            self.has.add(name)
            return True
        return False

    def address(self, first, words, shift):
        """Register with the address of a word: of the thread's own one, moved by `shift` threads within its group of `words`."""
        where = self.new()
        if self.shuffles:
            self.emit(f"shl.b32 {where}, %w, 5;\nadd.u32 {where}, {where}, %lane;")
        else:
            self.emit(f"mov.u32 {where}, %t;")
        self.emit(f"sub.u32 {where}, {where}, {first};")
        if shift:
            self.emit(f"xor.b32 {where}, {where}, {shift};")
        self.emit(f"shl.b32 {where}, {where}, 2;\nadd.u32 {where}, {where}, memory;")
        return where, lambda t: 4 * ((t - first & 0xffffffff) ^ shift)

    def touch(self, group, write):
        first, count, area = group
        shift = self.rng.choice([1, 2, 31, 32 if count > 32 else 3]) if not write or self.flaw("word") else 0
        where, at = self.address(first, count, shift)
        offset = BASE * (area if not self.flaw("shared") else self.rng.randrange(4))
        self.emit(f"st.shared.u32 [{where}+{offset}], %t;" if write else f"ld.shared.u32 %s, [{where}+{offset}];")
        return [("op", "access", write, lambda t: at(t) + offset, 4)]

    def barrier(self, group, number):
        first, count, _ = group
        if self.flaw("none"):
            return []
        number = number + 1 if self.flaw("number") else number
        threads = count - 32 if count > 32 and self.flaw("few") else count + 32 if self.flaw("many") else count
        name = "arrive" if self.flaw("arrive") else "sync"
        text = f"bar.{name} {number}, {threads};"
        op = ("op", name, number, threads)
        if self.flaw("some"):
            p, label = self.predicate(), self.label()
            self.emit(f"setp.ge.u32 {p}, %t, {first + 32};\n@{p} bra {label};\n{text}\n{label}:")
            return [("if", lambda t: t < first + 32, [op])]
        self.emit(text)
        return [op]

    def copy(self, group, number):
        """One thread copies what all have stored, and waits, before they store again."""
        first, count, area = group
        out = self.touch(group, True) + self.barrier(group, number)
        for part in ("copy", "wait"):
            who = first + (1 if part == "wait" and self.flaw("waiter") else 0)
            if part == "wait" and self.flaw("wait"):
                continue
            p, label = self.predicate(), self.label()
            self.emit(f"setp.ne.u32 {p}, %t, {who};\n@{p} bra {label};")
            if part == "copy":
                self.emit(f"cp.async.bulk.global.shared::cta.bulk_group [%rd], [memory+{BASE * area}], {4 * count};\ncp.async.bulk.commit_group;")
                inside = [("op", "copy", BASE * area, 4 * count)]
            else:
                self.emit("cp.async.bulk.wait_group.read 0;")
                inside = [("op", "wait")]
            self.emit(f"{label}:")
            out.append(("if", lambda t, who=who: t == who, inside))
        return out + self.barrier(group, number) + (self.touch(group, True) if self.rng.random() < 0.7 else [])

    def part(self, group, number):
        kind = self.rng.random()
        if kind < 0.2:
            return self.copy(group, number)
        return self.touch(group, True) + self.barrier(group, number) + self.touch(group, False) + (self.barrier(group, number) if kind < 0.9 else [])

    def parts(self, group, number):
        out = []
        for _ in range(self.rng.choice([1, 1, 2])):
            if self.rng.random() < 0.4:
                counter, p, label = self.new(), self.predicate(), self.label()
                self.emit(f"mov.u32 {counter}, 0;\n{label}:")
                inside = self.part(group, number) + self.barrier(group, number)
                self.emit(f"add.u32 {counter}, {counter}, 1;\nsetp.lt.u32 {p}, {counter}, %n;\n@{p} bra {label};")
                out.append(("do", inside))
            else:
                out += self.part(group, number) + self.barrier(group, number)
        return out

    def build(self):
        ends = self.cuts + [self.warps]
        first, end = 0, self.label()
        for k, last in enumerate(ends):
            group = (32 * first, 32 * (last - first), k)
            p, label = self.predicate(), self.label()
            limit = last - 1 if last - first > 1 and self.flaw("warp") else last
            self.emit(f"setp.ge.u32 {p}, %w, {limit};\n@{p} bra {label};")
            inside = self.parts(group, k + 1)
            self.emit(f"bra {end};\n{label}:")
            self.body.append((limit, inside))
            first = last
        self.emit(f"{end}:")
        if self.rng.random() < 0.3:
            self.emit("bar.sync 0;")
            self.tail = self.touch((0, 32 * self.warps, 0), False)
        else:
            self.tail = None

    def of_thread(self, t):
        body = next((inside for limit, inside in self.body if t // 32 < limit), [])
        return body + ([("op", "sync", 0, 32 * self.warps)] + self.tail if self.tail else [])

    def ptx(self):
        lane = 1 if self.flaw("lane") else 0
        warp = f"shr.u32 %w, %t, 5;\nshfl.sync.idx.b32 %w, %w, {lane}, 31, -1;" if self.shuffles else "shr.u32 %w, %t, 5;"
        return (f".visible .entry {self.name}(.param .u32 n, .param .u64 p)\n.reqntid {32 * self.warps}, 1, 1\n{{\n.reg .pred %p<{self.predicates + 1}>;\n.reg .b32 %r<{self.registers + 1}>, %s, %t, %n, %w, %lane;\n"
                f".reg .b64 %rd;\n.shared .align 16 .b8 memory[8192];\nld.param.u64 %rd, [p];\nld.param.u32 %n, [n];\nmov.u32 %t, %tid.x;\nand.b32 %lane, %t, 31;\n{warp}\n" + "\n".join(self.lines) + "\nret;\n}\n")


class Wrong(Exception):
    """Waits for several counts at one barrier: undefined."""


def run(body, t, n):
    for one in body:
        if one[0] == "op":
            yield tuple(f(t) if callable(f) else f for f in one[1:])
        elif one[0] == "if":
            if one[1](t):
                yield from run(one[2], t, n)
        else:
            for _ in range(max(n, 1)):
                yield from run(one[1], t, n)


def race(kernel, n, rng):
    """Two accesses to a word without an order, in a run of all threads."""
    threads = {t: run(kernel.of_thread(t), t, n) for t in range(32 * kernel.warps)}
    clocks = {t: {t: 1} for t in threads}
    copies = collections.defaultdict(list)
    seen = collections.defaultdict(dict)
    waiting, ready, number = {}, list(threads), 1000

    def access(who, clock, write, at, size):
        for word in range(at // 4, (at + size) // 4):
            for (other, wrote), time in seen[word].items():
                if other != who and (write or wrote) and clock.get(other, 0) < time:
                    return f"word {word} of {who} and {other}"
            seen[word][who, write] = clock[who]
        return None

    while ready:
        t = ready.pop(rng.randrange(len(ready)))
        for op in threads[t]:
            clock = clocks[t]
            clock[t] += 1
            found = None
            if op[0] == "access":
                found = access(t, clock, op[1], op[2] & 0xffff, op[3])
            elif op[0] == "copy":
                number += 1
                own = {**clock, number: 1}
                copies[t].append(own)
                found = access(number, own, False, op[1], op[2])
            elif op[0] == "wait":
                for own in copies.pop(t, []):
                    merge(clock, own)
            else:  # a barrier
                count, there, released = waiting.setdefault(op[1], (op[2], [], {}))
                if count != op[2]:
                    raise Wrong
                merge(released, clock)
                there.append(t if op[0] == "sync" else None)
                if len(there) == count:
                    del waiting[op[1]]
                    for other in there:
                        if other is not None:
                            merge(clocks[other], released)
                    ready += [other for other in there if other is not None and other != t]
                    if op[0] == "sync":
                        continue
                if op[0] == "sync":
                    break
            if found:
                return found
    return None


def main():
    given = options_of(__doc__, 100)
    counts, reasons, wrong = collections.Counter(), collections.Counter(), 0
    for kernels in batches_of(given, Kernel):
        answers = races_of(given.binary, kernels, "--proxy", "off")
        for kernel in kernels:
            answer, found = answers[kernel.name], None
            try:
                for n in (1, 2, 3):
                    found = found or race(kernel, n, random.Random(f"{given.seed} {kernel.name} {n}"))
            except Wrong:
                counts["undefined"] += 1
                continue
            kind = "flawed" if kernel.has else "sound"
            counts[kind, answer["verdict"]] += 1
            counts["race found"] += bool(found)
            if kind == "sound" and answer["verdict"] != "proved" and not found:
                reasons[(answer["reason"] or "")[:150]] += 1
            if found and answer["verdict"] == "proved":
                wrong += 1
                print(f"seed {given.seed}, {kernel.name}, {sorted(kernel.has)}: proved, but {found}\n{kernel.ptx()}")
    print(f"{given.cases} kernels, {counts['race found']} with a race, {counts['undefined']} undefined; " + ", ".join(f"{k} {v}: {counts[k, v]}" for k in ("sound", "flawed") for v in ("proved", "refuted", "unknown")) + f"; {wrong} wrong")
    for reason, times in reasons.most_common(8):
        print(f"  {times} without a race undecided: {reason}")
    if wrong or not counts["sound", "proved"] or not counts["race found"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
