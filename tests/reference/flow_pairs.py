#!/usr/bin/env python3
"""flow_pairs.py --binary PATH --cases N --seed S: a reference model of tcgen05 with .cta_group::2 in `swizproof flow`, written from the text of the PTX ISA alone.

Random clusters of two blocks, one or two warps of each (the others end at once). They allocate columns of Tensor Memory together, store A and B in both blocks, one thread
multiplies for the pair, a commit arrives at mbarriers of one block or both, warps load D in both, and the columns are freed. Most kernels are right patterns with one or two
instructions deleted, repeated, moved or changed: waits, fences, barriers, an early tcgen05.dealloc, a block that ends early. Here all orders of the warps' steps, of the ends of
products and of the arrivals of commits are enumerated, twice: once tcgen05.alloc, .dealloc and .relinquish_alloc_permit wait for the peer's warp, and once they do not [9.7.16.5: it
"could block"]. Each thread has sets of events behind it: by the memory model (`mem`), by execution, which relaxed operations order too (`exe`), stores with a proxy fence behind
them (`pf`), what its last tcgen05.fence::after_thread_sync is behind (`view`), and what it has waited for (`got`, `fenced`): a commit releases that, as far as its products are
behind it, and not the thread's own accesses, about which the text is silent. A warp has two of them: lane 0, which initialises, multiplies, commits and arrives, and the other lanes.
A launch is right if in no order there is a deadlock, a race, something read that nothing has written, columns that are not allocated or not freed, a peer that has not begun or has
ended, or another value. [PTX ISA 9.1, 9.7.16.5 to .7, .10, .12] Accesses to the peer's columns that only tcgen05.alloc of the own block is before are not specified.
"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

from asking import options_of, print_sums
from flow_clusters import Wrong, explored
from flow_pairs_kernels import PARTS, drawn, text_of

MOST_STATES = 15000
LOCAL = ("fbefore", "fafter", "pfence", "wld", "out")  # no other warp has a part in them


Sets = collections.namedtuple("Sets", "mem exe pf view got fenced")
State = collections.namedtuple("State", "pc sets begun done results loaded shared written d columns relinquished parts issued mbarriers cluster bars flying")
# sets: of lane 0 and of the others, by warp. shared, written: values of A and B, and the events that wrote them, by (rank, buffer). d: by accumulator
# (terms of the sum, of exponents, events of the products, the last one, loads since). columns: of each block, (events of alloc, free). mbarriers: None or
# (count, pending, phase, now, complete, init): now and complete are (mem, exe, pf). issued: what the products of each warp are behind. flying: products that are not complete, and arrivals.
NOTHING = (0, 0, 0)


def joined(a, b):
    return tuple(x | y for x, y in zip(a, b))


def columns_are_free(state):
    if any(freed == 0 for block in state.columns for _, freed in block):
        raise Wrong("columns are allocated at the end")


class Orders:
    """All orders of a kernel."""

    def __init__(self, kernel, blocks_wait):
        self.k, self.blocks_wait = kernel, blocks_wait
        self.threads = sorted(kernel.code)
        self.code = [kernel.code[t] for t in self.threads]
        self.rank = [t[0] for t in self.threads]
        self.of_rank = [[i for i, r in enumerate(self.rank) if r == rank] for rank in range(2)]
        self.number = {}
        for t, code in enumerate(self.code):
            for i in range(len(code) + 1):
                self.number[t, i] = len(self.number)
        self.slots, self.unspecified = {}, False
        for t, code in enumerate(self.code):
            for i, op in enumerate(code):
                if op.kind == "out":
                    self.slots[t, i] = len(self.slots)

    def bit(self, t, i, which):
        """Event of an instruction: by lane 0 (0), by the other lanes (1), or the completion of its access (2)."""
        return 1 << 3 * self.number[t, i] + which

    def run(self):
        """The values that warps store; raises Wrong; None if there are too many orders."""
        n = len(self.threads)
        empty = Sets(0, 0, 0, 0, 0, 0)
        start = State((0,) * n, ((empty, empty),) * n, 0, 0, (None,) * len(self.slots), (None,) * n, (None,) * 4, (0,) * 4, ((None, (), ()),) * 2, ((),) * 2, (0, 0), ((),) * 2,
                      (NOTHING,) * n, (None,) * 4, (0, 0, NOTHING, NOTHING, (-1,) * n), ((0, NOTHING),) * 2, ())
        return explored(self, start, MOST_STATES, columns_are_free)

    def steps(self, s):
        for t, code in enumerate(self.code):
            if s.begun >> t & 1 and s.pc[t] < len(code) and code[s.pc[t]].kind in LOCAL:
                yield self.step(s, t, s.pc[t], code[s.pc[t]])
                return
        for i, flight in enumerate(s.flying):
            after = self.land(s, i, flight)
            if after is not None:
                yield after
        for t, code in enumerate(self.code):
            if not s.begun >> t & 1:
                yield s._replace(begun=s.begun | 1 << t)
            elif s.pc[t] < len(code):
                after = self.step(s, t, s.pc[t], code[s.pc[t]])
                if after is not None:
                    yield after
            elif s.pc[t] == len(code):
                yield self.barriers(self.moved(s, t))

    @staticmethod
    def put(values, i, value):
        return values[:i] + (value,) + values[i + 1:]

    def moved(self, s, t):
        return s._replace(pc=self.put(s.pc, t, s.pc[t] + 1))

    def grown(self, s, t, classes, mem=0, exe=0, pf=0):
        sets = list(s.sets[t])
        for c in classes:
            old = sets[c]
            sets[c] = Sets(old.mem | mem, old.exe | exe, old.pf | pf, old.view, old.got | mem, old.fenced | pf)
        return s._replace(sets=self.put(s.sets, t, tuple(sets)))

    def did(self, s, t, i, classes=(0, 1)):
        """The events of an instruction: they are behind what follows in their threads."""
        sets = list(s.sets[t])
        for c in classes:
            sets[c] = sets[c]._replace(mem=sets[c].mem | self.bit(t, i, c), exe=sets[c].exe | self.bit(t, i, c))
        s = self.moved(s, t)._replace(sets=self.put(s.sets, t, tuple(sets)))
        return s._replace(done=s.done | sum(self.bit(t, i, c) for c in classes))

    def ended(self, s, rank):
        return all(s.pc[t] > len(self.code[t]) for t in self.of_rank[rank])

    def reach(self, s, own, rank):
        if own == rank:
            return
        if not any(s.begun >> t & 1 for t in self.of_rank[rank]):
            raise Wrong("the peer has not begun")
        if self.ended(s, rank):
            raise Wrong("the peer has ended")

    @staticmethod
    def sees(sets, event):
        """An access to Tensor Memory is ordered behind a completion: behind a fence, or by the memory model."""
        return bool((sets.mem | sets.view) & event)

    def step(self, s, t, i, op):
        rank, (lane, rest) = self.rank[t], s.sets[t]
        if op.kind in PARTS:
            return self.part(s, t, i, op)
        if op.kind == "st":
            at = 2 * rank + op.buffer
            for c, sets in enumerate((lane, rest)):
                for u, code in enumerate(self.code):
                    for j, other in enumerate(code):
                        if other.kind == "st" and self.rank[u] == rank and other.buffer == op.buffer and s.done & self.bit(u, j, c) & ~sets.mem:
                            raise Wrong("race of two stores")
                        if other.kind == "mma" and s.done & self.bit(u, j, 0) and not sets.mem & self.bit(u, j, 2):
                            raise Wrong("race with a product")
            after = self.did(s, t, i)
            return after._replace(shared=self.put(s.shared, at, op.value), written=self.put(s.written, at, s.written[at] | self.bit(t, i, 0) | self.bit(t, i, 1)))
        if op.kind == "mma":
            return self.mma(s, t, i, op)
        if op.kind == "ld":
            if not s.columns[rank] or any(freed for block in s.columns for _, freed in block):
                raise Wrong("no columns")
            terms, last, loads = s.d[op.acc]
            for sets in (lane, rest):
                if not sets.exe & s.columns[rank][0][0]:
                    raise Wrong("no barrier behind tcgen05.alloc")
                if terms is None or op.column >= self.k.rows // 16:  # of 128 rows a block has half of the 16 columns
                    raise Wrong("uninitialised")
                if not self.sees(sets, self.bit(*last, 2)):
                    raise Wrong("race with a product")
            return self.did(s, t, i)._replace(d=self.put(s.d, op.acc, (terms, last, loads + (self.bit(t, i, 2),))), loaded=self.put(s.loaded, t, self.value(s, t, op)))
        if op.kind == "out":
            return self.did(s, t, i)._replace(results=self.put(s.results, self.slots[t, i], s.loaded[t]))
        if op.kind == "wld":
            bits = sum(self.bit(t, j, 2) for j, other in enumerate(self.code[t][:i]) if other.kind == "ld")
            return self.grown(self.did(s, t, i), t, (0, 1), bits, bits)
        if op.kind == "pfence":
            after = self.did(s, t, i)
            return after._replace(sets=self.put(after.sets, t, tuple(x._replace(pf=x.pf | x.mem) for x in after.sets[t])))
        if op.kind == "fafter":
            after = self.did(s, t, i)
            return after._replace(sets=self.put(after.sets, t, tuple(x._replace(view=x.exe) for x in after.sets[t])))
        if op.kind == "fbefore":
            return self.did(s, t, i)
        if op.kind == "commit":
            return self.commit(s, t, i, op)
        if op.kind in ("arrive", "wait", "init"):
            return self.mbarrier(s, t, i, op)
        if op.kind == "cluster_arrive":
            phase, arrived, releases, complete, of = s.cluster
            if of[t] >= 0:
                raise Wrong("arrives twice")
            return self.barriers(self.did(s, t, i)._replace(cluster=(phase, arrived | 1 << t, joined(releases, self.gives(s, t)), complete, self.put(of, t, phase))))
        if op.kind == "cluster_wait":
            phase, arrived, releases, complete, of = s.cluster
            if of[t] < 0:
                raise Wrong("waits without an arrival")
            if of[t] == phase:
                return None
            return self.grown(self.did(s, t, i), t, (0, 1), *complete)._replace(cluster=(phase, arrived, releases, complete, self.put(of, t, -1)))
        assert op.kind == "bar"
        arrived, releases = s.bars[rank]
        if arrived >> t & 1:
            return None
        return self.barriers(s._replace(bars=self.put(s.bars, rank, (arrived | 1 << t, joined(releases, self.gives(s, t))))))

    def gives(self, s, t):
        lane, rest = s.sets[t]
        return (lane.mem | rest.mem, lane.exe | rest.exe, lane.pf | rest.pf)

    def barriers(self, s):
        """The cluster's barrier waits for warps that have not ended, and is behind what others executed, not their memory; that of a block has a count."""
        phase, arrived, releases, _, of = s.cluster
        live = [t for t in range(len(self.threads)) if s.pc[t] <= len(self.code[t])]
        if arrived and live and all(arrived >> t & 1 for t in live):
            for t in set(range(len(self.threads))) - set(live):
                releases = joined(releases, (0, self.gives(s, t)[1], 0))
            s = s._replace(cluster=(phase + 1, 0, NOTHING, releases, of))
        for rank, threads in enumerate(self.of_rank):
            arrived, releases = s.bars[rank]
            if arrived and all(arrived >> t & 1 for t in threads):
                s = s._replace(bars=self.put(s.bars, rank, (0, NOTHING)))
                for t in threads:
                    s = self.grown(self.did(s, t, s.pc[t]), t, (0, 1), *releases)
        return s

    def value(self, s, t, load):
        """Element that lane 0 of a warp loads: of 128 rows lanes from 64 on have the second half of N; it is the odd block's B."""
        half = self.threads[t][1] // 2 if self.k.rows == 128 else load.column // 8
        return 8 * sum(2 ** (a[self.rank[t]] + b[half]) for a, b in s.d[load.acc][0])

    def mma(self, s, t, i, op):
        rank, lane = self.rank[t], s.sets[t][0]
        self.reach(s, rank, 1 - rank)
        if not s.columns[rank] or any(freed for block in s.columns for _, freed in block):
            raise Wrong("no columns")
        if not lane.exe & s.columns[rank][0][0]:
            raise Wrong("no barrier behind tcgen05.alloc")
        if not s.columns[1 - rank] or not lane.exe & s.columns[1 - rank][0][0]:
            self.unspecified = True
        if None in s.shared:
            raise Wrong("uninitialised")
        if any(events & ~lane.pf for events in s.written):
            raise Wrong("a store without a barrier or a proxy fence")
        terms, last, loads = s.d[op.acc]
        if op.adds and terms is None:
            raise Wrong("uninitialised")
        if last and last[0] != t and not self.sees(lane, self.bit(*last, 2)):
            fences = [self.bit(last[0], j, 0) for j, other in enumerate(self.code[last[0]]) if other.kind == "fbefore" and j > last[1]]
            if not any(self.sees(lane, fence) for fence in fences):
                raise Wrong("two products without an order")
        if any(not self.sees(lane, load) for load in loads):
            raise Wrong("a product overwrites what a warp loads")
        term = ((s.shared[0], s.shared[2]), (s.shared[1], s.shared[3]))
        new = ((terms if op.adds else ()) + (term,), (t, i), ())
        after = self.did(s, t, i, (0,))
        return after._replace(d=self.put(s.d, op.acc, new), flying=tuple(sorted(s.flying + (("mma", t, i),))),
                              issued=self.put(s.issued, t, joined(s.issued[t], (lane.got, lane.exe, lane.fenced))))

    def commit(self, s, t, i, op):
        rank, lane = self.rank[t], s.sets[t][0]
        self.reach(s, rank, 1 - rank)
        after = self.did(s, t, i, (0,))
        gives = (0, lane.exe | self.bit(t, i, 0), 0)
        for j, other in enumerate(self.code[t][:i]):
            if other.kind == "mma":
                gives = joined(gives, (self.bit(t, j, 2), self.bit(t, j, 2), 0))
        flying = s.flying
        gives = joined(gives, s.issued[t])  # what the products are behind is behind their completion
        for to in [rank] if op.mask is None else [r for r in range(16) if op.mask >> r & 1]:
            if to > 1:
                raise Wrong("no such rank")
            self.used(s, lane, to, op.number)
            flying += (("arrival", t, i, (to, op.number), gives),)
        return after._replace(flying=tuple(sorted(flying)))

    def land(self, s, i, flight):
        """A product is complete, or a commit arrives whose products are."""
        rest = s.flying[:i] + s.flying[i + 1:]
        if flight[0] == "mma":
            if self.ended(s, 1 - self.rank[flight[1]]):
                raise Wrong("the peer has ended before the product")
            return s._replace(flying=rest)
        _, t, index, (to, number), gives = flight
        if any(f[0] == "mma" and f[1] == t and f[2] < index for f in rest):
            return None
        if to != self.rank[t] and self.ended(s, to):
            raise Wrong("the block of an mbarrier has ended")
        at = 2 * to + number
        count, pending, phase, now, complete, init = s.mbarriers[at]
        if pending == 0:
            raise Wrong("one arrival too many")
        b = self.advanced((count, pending - 1, phase, joined(now, gives), complete, init))
        return s._replace(flying=rest, mbarriers=self.put(s.mbarriers, at, b))

    def part(self, s, t, i, op):
        """An instruction that a warp of the peer has a part of, too."""
        rank, lane = self.rank[t], s.sets[t][0]
        number = next((n for n, (_, who, at) in enumerate(s.parts[rank]) if (who, at) == (t, i)), None)
        if number is None:
            self.reach_begun(s, 1 - rank)
            for _, who, at in s.parts[rank][-1:]:
                if who != t and not lane.exe & self.bit(who, at, 0):
                    self.unspecified = True
            s = self.effect(s, t, i, op)
            number = len(s.parts[rank])
            s = s._replace(parts=self.put(s.parts, rank, s.parts[rank] + ((op.kind, t, i),)))
            if self.blocks_wait:
                return s
        others = s.parts[1 - rank]
        if self.blocks_wait and (len(others) <= number or others[number][0] != op.kind):
            return None
        return self.did(s, t, i)

    def reach_begun(self, s, rank):
        if not any(s.begun >> t & 1 for t in self.of_rank[rank]):
            raise Wrong("the peer has not begun")

    def effect(self, s, t, i, op):
        rank, lane = self.rank[t], s.sets[t][0]
        columns = s.columns[rank]
        event = self.bit(t, i, 0)
        if op.kind == "alloc":
            if s.relinquished[rank]:
                raise Wrong("alloc behind relinquish")
            if any(freed == 0 or not lane.exe & freed for _, freed in columns):
                self.unspecified = True  # which columns it gives: kernels here use the first ones
                if any(freed == 0 for _, freed in columns):
                    raise Wrong("columns that nothing frees")
            again = s._replace(d=((None, (), ()),) * 2) if columns else s  # what is in them is not specified
            return again._replace(columns=self.put(s.columns, rank, ((event, 0),)))
        if op.kind == "relinquish":
            if any(not lane.exe & alloc for alloc, _ in columns):
                raise Wrong("relinquish without an order behind alloc")
            return s._replace(relinquished=self.put(s.relinquished, rank, 1))
        if not columns or columns[0][1]:
            raise Wrong("nothing to free")
        if not lane.exe & columns[0][0]:
            raise Wrong("dealloc without an order behind alloc")
        for _, last, loads in s.d:
            if any(not lane.exe & e for e in ((self.bit(*last, 2),) if last else ()) + loads):
                raise Wrong("dealloc while columns are accessed")
        return s._replace(columns=self.put(s.columns, rank, ((columns[0][0], event),)))

    def used(self, s, sets, rank, number):
        b = s.mbarriers[2 * rank + number]
        if b is None:
            raise Wrong("not initialised")
        if not sets.mem & b[5]:
            raise Wrong("race with the initialisation")
        return b

    @staticmethod
    def advanced(b):
        count, pending, phase, now, complete, init = b
        return (count, count, phase + 1, NOTHING, now, init) if pending == 0 else b

    def mbarrier(self, s, t, i, op):
        rank, (lane, rest) = self.rank[t], s.sets[t]
        if op.kind == "init":
            at = 2 * rank + op.number
            if s.mbarriers[at] is not None:
                raise Wrong("initialised twice")
            return self.did(s, t, i, (0,))._replace(mbarriers=self.put(s.mbarriers, at, (op.count, op.count, 0, NOTHING, NOTHING, self.bit(t, i, 0))))
        if op.kind == "wait":
            for sets in (lane, rest):
                _, _, phase, _, complete, _ = self.used(s, sets, rank, op.number)
            if phase & 1 == op.parity:
                return None
            after = self.did(s, t, i)
            return self.grown(after, t, (0, 1), 0, complete[1], 0) if op.relaxed else self.grown(after, t, (0, 1), *complete)
        self.reach(s, rank, op.rank)
        count, pending, phase, now, complete, init = self.used(s, lane, op.rank, op.number)
        if pending == 0:
            raise Wrong("one arrival too many")
        after = self.did(s, t, i, (0,))
        own = self.bit(t, i, 0)
        gives = (0, lane.exe | own, 0) if op.relaxed else (lane.mem | own, lane.exe | own, lane.pf)
        b = self.advanced((count, pending - 1, phase, joined(now, gives), complete, init))
        return after._replace(mbarriers=self.put(s.mbarriers, 2 * op.rank + op.number, b))


# ------------------------------------------------------------------------------------------ questions


def modelled(kernel):
    """The values of the loads, or why it is wrong; `unspecified`; nothing if there are too many orders."""
    values, unspecified = None, False
    for waits in (False, True):
        orders = Orders(kernel, waits)
        try:
            values = orders.run()
        except Wrong as wrong:
            return None, str(wrong)
        if values is None:
            return None, None
        unspecified = unspecified or orders.unspecified
    return values, "unspecified" if unspecified else ""


def asked(binary, kernel, slots, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(kernel, slots))
    words = [binary, "flow", path, "--block", "128", "--grid", "2", "--cluster", "2", "--param", f"y=y:f32[{max(1, len(slots))}]", "--every-element", "--repair-steps", "0", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2, 3) or not done.stdout.startswith("{"):
        raise RuntimeError(f"{' '.join(words)}\n{done.stderr}{done.stdout}")
    return json.loads(done.stdout)


def main():
    options = options_of(__doc__, 150)
    tally, reasons, differences = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.cases):
            name, kernel = drawn(random.Random(f"{options.seed} {case}"))
            values, why = modelled(kernel)
            if why is None:
                tally["too many orders"] += 1
                continue
            slots = Orders(kernel, False).slots
            answer = asked(options.binary, kernel, slots, os.path.join(folder, "k.ptx"))
            verdict = answer["verdict"]
            found = {v.split(" = ")[0]: v.split(" = ")[1] for v in answer["values"]} if verdict == "proved" else {}
            right = {"proved": why == "" and values == found, "refuted": values is None}.get(verdict, True)
            tally[verdict] += 1
            tally[f"{name}, {verdict}"] += 1
            if verdict == "unknown":
                reasons[(why or "right") + ": " + answer["reason"][:70]] += 1
            if not right:
                differences += 1
                print(f"case {case} of {name}: {verdict}, and the model says {why or values}: {answer['fault'] and answer['fault']['text']} {found}")
                print(text_of(kernel, slots))
    print_sums(tally)
    print_sums(reasons)
    print(f"flow_pairs: {options.cases} kernels, {tally['proved']} proved, {tally['refuted']} refuted, {tally['unknown']} unknown, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
