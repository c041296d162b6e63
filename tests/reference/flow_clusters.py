#!/usr/bin/env python3
"""flow_clusters.py --binary PATH --cases N --seed S: a reference model of clusters in `swizproof flow`, written from the documentation alone.

Random clusters of two to four blocks of one or two warps, one thread of each (the others end at once). They load, store and add in the shared memory of all blocks
(mapa), and meet at barrier.cluster, at bar.sync of their block, and at mbarriers: remote arrivals, and bytes of st.async, of bulk copies to another block and of multicast
ones (without proxy fences, which flow_proxies.py has). Most kernels are right patterns with one or two instructions deleted, repeated, moved or changed. Here all orders of
the threads' steps and of the ends of copies are enumerated. Happens-before is a set of events that
each thread has behind it. A launch is right if in no order there is a deadlock, a race, a read of a word that is not written, a misuse of a barrier, an access to the
memory of a block that has not begun or has ended, or another value. [PTX ISA: Memory Consistency Model, barrier.cluster, mbarrier, mapa, st.async, cp.async.bulk; CUDA C++
Programming Guide: Distributed Shared Memory] The command may prove right ones alone, and refute others alone; where it proves, its values are those of every order.
"""
import collections
import copy
import os
import random
import subprocess
import sys
import tempfile

from asking import options_of, print_sums
import json

WORDS, MBARRIERS, MOST_STATES = 4, 2, 60000
SIZE = 16  # bytes of a word: what a copy moves
AT = SIZE * WORDS  # the first mbarrier


class Op:
    """One instruction of a thread: its kind and fields."""

    def __init__(self, kind, **fields):
        self.kind = kind
        self.__dict__.update(fields)

    def changed(self, **fields):
        return Op(**{**self.__dict__, **fields})

    def __repr__(self):
        return " ".join(f"{k}={v}" for k, v in self.__dict__.items())


class Kernel:
    """Blocks of a cluster, warps of a block, and the instructions of each thread by (rank, warp)."""

    def __init__(self, blocks, warps):
        self.blocks, self.warps = blocks, warps
        self.code = {(r, w): [] for r in range(blocks) for w in range(warps)}

    def all(self, *ops):
        for code in self.code.values():
            code.extend(op.changed() for op in ops)


# ------------------------------------------------------------------------------------------ the model


FLIGHTS = ("async", "send", "multi")  # what ends later than its instruction


class Wrong(Exception):
    """A fault in one order."""


class Skipped(Exception):
    """A sum of names."""


State = collections.namedtuple("State", "pc hb fenced inits begun done memory results mbarriers cluster bars flying")
# mbarriers: (count, pending, bytes, phase, releases now, releases of the last phase) or None; cluster: (phase, arrived, releases, complete, phase of each thread)


def explored(orders, start, most, check_end=lambda state: None):
    """The values of all orders from a state on; raises Wrong, and returns None if there are more than so many states."""
    seen, work, results = {start}, [start], set()
    while work:
        s = work.pop()
        nexts = list(orders.steps(s))
        if not nexts:
            if s.flying or any(at <= len(code) for at, code in zip(s.pc, orders.code)):
                raise Wrong("never released")
            check_end(s)
            results.add(s.results)
        for other in nexts:
            if other not in seen:
                seen.add(other)
                work.append(other)
        if len(seen) > most:
            return None
    if len(results) != 1:
        raise Wrong("values depend on the order")
    return {f"y[{slot}]": str(value) for slot, value in enumerate(results.pop())}


class Orders:
    """All orders of a kernel."""

    def __init__(self, kernel):
        self.k = kernel
        self.threads = sorted(kernel.code)
        self.code = [kernel.code[t] for t in self.threads]
        self.rank = [t[0] for t in self.threads]
        self.of_rank = [[i for i, r in enumerate(self.rank) if r == rank] for rank in range(kernel.blocks)]
        self.bit, self.slots = {}, {}
        self.accesses = collections.defaultdict(list)  # (rank, word) -> (bit, kind, thread, narrow)
        for t, code in enumerate(self.code):
            for i, op in enumerate(code):
                for rank in [None] + self.targets(op):
                    self.bit[t, i, rank] = 1 << len(self.bit)
                for rank, word, kind in self.touched(t, op):
                    bit = self.bit[t, i, rank if kind != "ld" else op.rank] if op.kind in FLIGHTS else self.bit[t, i, None]
                    self.accesses[rank, word].append((bit, kind, t, op.__dict__.get("narrow", False)))
                if op.kind == "ld":
                    self.slots[t, i] = len(self.slots)

    @staticmethod
    def targets(op):
        """Blocks that a copy writes to."""
        if op.kind == "multi":
            return [rank for rank in range(16) if op.mask >> rank & 1]
        return [op.rank] if op.kind in FLIGHTS else []

    def touched(self, t, op):
        """What an instruction accesses: blocks, words, and how."""
        if op.kind in ("st", "ld", "red"):
            return [(op.rank, op.word, op.kind)]
        return ([(self.rank[t], op.source, "ld")] if op.kind == "send" else []) + [(rank, op.word, "st") for rank in self.targets(op)]

    def run(self):
        """The values of all loads; raises Wrong, and returns None if there are too many orders."""
        n = len(self.threads)
        start = State((0,) * n, (0,) * n, (0,) * n, (0,) * n, 0, 0, (None,) * (self.k.blocks * WORDS), (None,) * len(self.slots),
                      (None,) * (self.k.blocks * MBARRIERS), (0, 0, 0, 0, (-1,) * n), ((0, 0),) * self.k.blocks, ())
        return explored(self, start, MOST_STATES)

    def steps(self, s):
        for i, flight in enumerate(s.flying):
            yield self.land(s, i, flight)
        for t, code in enumerate(self.code):
            if not s.begun >> t & 1:
                yield s._replace(begun=s.begun | 1 << t)
            elif s.pc[t] < len(code):
                after = self.step(s, t, s.pc[t], code[s.pc[t]])
                if after is not None:
                    yield after
            elif s.pc[t] == len(code):  # its end: barriers wait for the others
                yield self.barriers(self.moved(s, t))

    @staticmethod
    def put(values, i, value):
        return values[:i] + (value,) + values[i + 1:]

    def moved(self, s, t):
        return s._replace(pc=self.put(s.pc, t, s.pc[t] + 1))

    def did(self, s, t, i):
        """The event of an instruction: it is behind what follows in its thread."""
        bit = self.bit[t, i, None]
        return self.moved(s, t)._replace(done=s.done | bit, hb=self.put(s.hb, t, s.hb[t] | bit))

    def ended(self, s, t):
        return s.pc[t] > len(self.code[t])

    def reach(self, s, own, rank):
        """A block accesses the memory of another one."""
        if own == rank:
            return
        if rank >= self.k.blocks:
            raise Wrong("no such rank")
        if not any(s.begun >> t & 1 for t in self.of_rank[rank]):
            raise Wrong("not begun")
        if all(self.ended(s, t) for t in self.of_rank[rank]):
            raise Wrong("ended")

    def check_race(self, s, t, op, bit, behind, where=None, how=None):
        how = how or op.kind
        for other, kind, who, narrow in self.accesses[where or (op.rank, op.word)]:
            if other == bit or not s.done & other or behind & other or (kind == "ld" and how == "ld"):
                continue
            apart = (narrow or op.__dict__.get("narrow", False)) and self.rank[who] != self.rank[t]
            if not (kind == how == "red" and not apart):
                raise Wrong("race")

    def step(self, s, t, i, op):
        bit, rank = self.bit[t, i, None], self.rank[t]
        if op.kind in ("st", "ld", "red"):
            self.reach(s, rank, op.rank)
            self.check_race(s, t, op, bit, s.hb[t])
            at = op.rank * WORDS + op.word
            after = self.did(s, t, i)
            if op.kind == "st":
                return after._replace(memory=self.put(s.memory, at, op.value))
            if s.memory[at] is None:
                raise Wrong("uninitialised")
            if op.kind == "ld":
                return after._replace(results=self.put(s.results, self.slots[t, i], s.memory[at]))
            if isinstance(s.memory[at], str):
                raise Skipped
            return after._replace(memory=self.put(s.memory, at, s.memory[at] + op.value))
        if op.kind in FLIGHTS:
            flying = s.flying
            for to in self.targets(op):
                if to >= self.k.blocks or (op.kind != "multi" and op.barrier_rank >= self.k.blocks):
                    raise Wrong("no such rank")
                if op.kind != "multi" and to != op.barrier_rank:
                    raise Wrong("mbarrier of another block")
                self.reach(s, rank, to)
                if op.kind == "send" and to == rank:
                    raise Wrong("a copy to its own block")
                self.used(s, t, to, op.number)
                flying += ((t, i, to, s.hb[t]),)
            return self.moved(s, t)._replace(flying=tuple(sorted(flying)))
        if op.kind in ("arrive", "wait", "init"):
            return self.mbarrier(s, t, i, op)
        if op.kind == "fence":
            after = self.did(s, t, i)
            return after._replace(fenced=self.put(s.fenced, t, after.hb[t]))
        if op.kind == "fence_init":
            own = sum(self.bit[t, j, None] for j in range(i) if self.code[t][j].kind == "init")
            return self.did(s, t, i)._replace(inits=self.put(s.inits, t, own))
        if op.kind == "cluster_arrive":
            phase, arrived, releases, complete, of = s.cluster
            if of[t] >= 0:
                raise Wrong("arrives twice")
            gives = s.fenced[t] | s.inits[t] if op.relaxed else s.hb[t]
            return self.barriers(self.did(s, t, i)._replace(cluster=(phase, arrived | 1 << t, releases | gives, complete, self.put(of, t, phase))))
        if op.kind == "cluster_wait":
            phase, arrived, releases, complete, of = s.cluster
            if of[t] < 0:
                raise Wrong("waits without an arrival")
            if of[t] == phase:
                return None
            after = self.did(s, t, i)
            return after._replace(hb=self.put(after.hb, t, after.hb[t] | complete), cluster=(phase, arrived, releases, complete, self.put(of, t, -1)))
        assert op.kind == "bar"
        arrived, releases = s.bars[rank]
        if arrived >> t & 1:
            return None
        bars = self.put(s.bars, rank, (arrived | 1 << t, releases | s.hb[t] | bit))
        return self.barriers(s._replace(bars=bars, done=s.done | bit))

    def barriers(self, s):
        """Barriers that all have arrived at which have not ended."""
        n = len(self.threads)
        phase, arrived, releases, _, of = s.cluster
        live = [t for t in range(n) if not self.ended(s, t)]
        if arrived and all(arrived >> t & 1 for t in live) and live:
            s = s._replace(cluster=(phase + 1, 0, 0, releases, of))
        for rank, threads in enumerate(self.of_rank):
            arrived, releases = s.bars[rank]
            if arrived and all(arrived >> t & 1 for t in threads if not self.ended(s, t)):
                s = s._replace(bars=self.put(s.bars, rank, (0, 0)))
                for t in threads:
                    if arrived >> t & 1:
                        s = self.moved(s, t)._replace(hb=self.put(s.hb, t, s.hb[t] | releases))
        return s

    def used(self, s, t, rank, number):
        """The mbarrier, whose initialisation has to be behind the thread."""
        b = s.mbarriers[rank * MBARRIERS + number]
        if b is None:
            raise Wrong("not initialised")
        if not s.hb[t] & b[6]:
            raise Wrong("race with the initialisation")
        return b

    def advanced(self, b):
        count, pending, size, phase, now, complete, init = b
        return (count, count, 0, phase + 1, 0, now, init) if pending == 0 and size == 0 else b

    def mbarrier(self, s, t, i, op):
        bit, rank = self.bit[t, i, None], self.rank[t]
        after = self.did(s, t, i)
        if op.kind == "init":
            at = rank * MBARRIERS + op.number
            if s.mbarriers[at] is not None:
                raise Wrong("initialised twice")
            return after._replace(mbarriers=self.put(s.mbarriers, at, (op.count, op.count, 0, 0, 0, 0, bit)))
        where = rank if op.kind == "wait" else op.rank
        self.reach(s, rank, where)
        count, pending, size, phase, now, complete, init = self.used(s, t, where, op.number)
        at = where * MBARRIERS + op.number
        if op.kind == "wait":
            if phase & 1 == op.parity:
                return None
            return after._replace(hb=self.put(after.hb, t, after.hb[t] | complete))
        if pending == 0:
            raise Wrong("one arrival too many")
        orders = not op.relaxed and not (op.scope == "cta" and where != rank)
        gives = s.hb[t] if orders else s.fenced[t] if op.relaxed else 0
        b = self.advanced((count, pending - 1, size + op.size, phase, now | gives, complete, init))
        return after._replace(mbarriers=self.put(s.mbarriers, at, b))

    def land(self, s, i, flight):
        """The end of a copy: its value is there, and then its bytes are complete."""
        t, index, to, behind = flight
        op, bit, own = self.code[t][index], self.bit[t, index, to], self.rank[t]
        self.reach(s, own, to)
        value = f"x[{4 * op.source}]" if op.kind == "multi" else op.value if op.kind == "async" else None
        if op.kind == "send":
            if all(self.ended(s, other) for other in self.of_rank[own]):
                raise Wrong("ended")
            self.check_race(s, t, op, bit, behind, (own, op.source), "ld")
            value = s.memory[own * WORDS + op.source]
            if value is None:
                raise Wrong("uninitialised")
        self.check_race(s, t, op, bit, behind, (to, op.word), "st")
        at = to * MBARRIERS + op.number
        count, pending, size, phase, now, complete, init = s.mbarriers[at]
        over = sum({other for other, _, _, _ in self.accesses[to, op.word] if behind & other})  # what is behind the value behind it
        b = self.advanced((count, pending, size - SIZE, phase, now | bit | over, complete, init))
        return s._replace(flying=s.flying[:i] + s.flying[i + 1:], done=s.done | bit, memory=self.put(s.memory, to * WORDS + op.word, value),
                          mbarriers=self.put(s.mbarriers, at, b))


# ------------------------------------------------------------------------------------------ the text


def text_of(kernel, slots):
    """The kernel as PTX: word w is at tile + 16 w, mbarrier m at tile + 64 + 8 m. Stores write all 16 bytes, loads read 4."""
    out = [".version 8.6", ".target sm_90a", ".address_size 64", ".entry k(.param .u64 y, .param .u64 x)", "{", ".reg .pred %p<9>; .reg .b16 %h<2>; .reg .b32 %r<20>; .reg .b64 %rd<9>;",
           f".shared .align 16 .b8 tile[{AT + 8 * MBARRIERS}];", "ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, 0;", "@%p1 exit;",
           "mov.u32 %r3, %cluster_ctarank; shr.u32 %r4, %r1, 5;", f"mad.lo.u32 %r5, %r3, {kernel.warps}, %r4; mov.u32 %r6, tile;"]
    threads = sorted(kernel.code)
    for t in range(len(threads)):
        out += [f"setp.eq.u32 %p2, %r5, {t};", f"@%p2 bra T{t};"]
    out.append("ret;")
    for t, thread in enumerate(threads):
        out.append(f"T{t}:")
        for i, op in enumerate(kernel.code[thread]):
            out += instruction(op, thread[0], f"{t}_{i}", slots.get((t, i)))
        out.append("ret;")
    return "\n".join(out + ["}", ""])


def instruction(op, rank, label, slot):
    own = op.__dict__.get("rank", rank) == rank and not op.__dict__.get("mapped", True)
    space, base = ("shared::cta", "%r6") if own else ("shared::cluster", "%r7")
    head = [] if own or "rank" not in op.__dict__ else [f"mapa.shared::cluster.u32 %r7, %r6, {op.rank};"]
    if op.kind == "st":
        return head + [f"mov.u32 %r10, {op.value};", f"st.{space}.v4.u32 [{base}+{SIZE * op.word}], {{%r10, %r10, %r10, %r10}};"]
    if op.kind == "ld":
        return head + [f"ld.{space}.u32 %r8, [{base}+{SIZE * op.word}];", f"st.global.u32 [%rd1+{4 * slot}], %r8;"]
    if op.kind == "red":
        return head + [f"red.relaxed.{'cta' if op.narrow else 'cluster'}.{space}.add.u32 [{base}+{SIZE * op.word}], {op.value};"]
    if op.kind == "multi":
        return [f"mov.u16 %h1, {op.mask};", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                f"[%r6+{SIZE * op.word}], [%rd2+{SIZE * op.source}], {SIZE}, [%r6+{AT + 8 * op.number}], %h1;"]
    if op.kind in ("async", "send"):
        head = [f"mapa.shared::cluster.u32 %r7, %r6, {op.rank};", f"mapa.shared::cluster.u32 %r9, %r6, {op.barrier_rank};"]
        where = f"[%r9+{AT + 8 * op.number}];"
        if op.kind == "send":
            return head + [f"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7+{SIZE * op.word}], [%r6+{SIZE * op.source}], {SIZE}, {where}"]
        return head + [f"mov.u32 %r10, {op.value};", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
                       f"[%r7+{SIZE * op.word}], {{%r10, %r10, %r10, %r10}}, {where}"]
    if op.kind == "init":
        return [f"mbarrier.init.shared::cta.b64 [%r6+{AT + 8 * op.number}], {op.count};"]
    if op.kind == "arrive":
        sem = ".relaxed.cluster" if op.relaxed else f".release.{op.scope}" if op.scope else ""
        form, size = (".expect_tx", f", {op.size}") if op.size else ("", "")
        return head + [f"mbarrier.arrive{form}{sem}.{space}.b64 _, [{base}+{AT + 8 * op.number}]{size};"]
    if op.kind == "wait":
        return [f"W{label}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6+{AT + 8 * op.number}], {op.parity};", f"@!%p3 bra W{label};"]
    return {"fence": ["fence.acq_rel.cluster;"], "fence_init": ["fence.mbarrier_init.release.cluster;"], "bar": ["bar.sync 0;"],
            "cluster_arrive": [f"barrier.cluster.arrive{'.relaxed' if op.__dict__.get('relaxed') else ''}.aligned;"],
            "cluster_wait": ["barrier.cluster.wait.aligned;"]}[op.kind]


# ------------------------------------------------------------------------------------------ kernels


def st(rank, word, value, mapped=True):
    return Op("st", rank=rank, word=word, value=value, mapped=mapped)


def ld(rank, word, mapped=True):
    return Op("ld", rank=rank, word=word, mapped=mapped)


def red(rank, word, value):
    return Op("red", rank=rank, word=word, value=value, mapped=True, narrow=False)


def arrive(rank, number, size=0, scope="cluster", relaxed=False):
    return Op("arrive", rank=rank, number=number, size=size, scope=scope, relaxed=relaxed, mapped=True)


def meet(relaxed=False):
    return [Op("cluster_arrive", relaxed=relaxed), Op("cluster_wait")]


def shape(rng):
    blocks = rng.choice([2, 2, 2, 3, 4])
    return Kernel(blocks, rng.choice([1, 1, 2]) if blocks == 2 else 1)


def exchange(rng):
    """Each thread stores a word of its block, and reads one of the next block."""
    k = shape(rng)
    for (r, w), code in k.code.items():
        code.append(st(r, w, 10 * r + w, rng.random() < 0.3))
    k.all(*meet())
    for (r, w), code in k.code.items():
        code.append(ld((r + 1) % k.blocks, w))
        if rng.random() < 0.3 and k.warps == 2:
            code[1:1] = [Op("bar"), ld(r, 1 - w, False)]
    k.all(*meet(rng.random() < 0.3))
    if rng.random() < 0.3:
        for (r, w), code in k.code.items():
            code.append(st(r, w, 7, False))
    return k


def push(rng):
    """Each thread stores into the next block, which reads it behind a barrier of the cluster."""
    k = shape(rng)
    k.all(*meet(rng.random() < 0.3))
    for (r, w), code in k.code.items():
        code.append(st((r + 1) % k.blocks, w, 10 * r + w))
    k.all(*meet())
    for (r, w), code in k.code.items():
        code.append(ld(r, w, False))
    return k


def count(rng):
    """Atomics of all blocks on the words of one or more."""
    k = shape(rng)
    target = rng.randrange(k.blocks)
    for (r, w), code in k.code.items():
        if w == 0:
            code.append(st(r, 0, 0, False))
    k.all(*meet())
    for (r, w), code in k.code.items():
        code.append(red(rng.choice([target, (r + 1) % k.blocks]), 0, 1 + r))
    k.all(*meet())
    for (r, w), code in k.code.items():
        if w == 0:
            code.append(ld(r, 0, False))
    return k


def signal(rng):
    """Blocks store into a neighbour, arrive at its mbarrier, and wait for their own; once or twice."""
    k = Kernel(rng.choice([2, 2, 3]), 1)
    relaxed = rng.random() < 0.5
    for (r, w), code in k.code.items():
        code += [Op("init", number=0, count=1)] + ([Op("fence_init")] if relaxed or rng.random() < 0.3 else [])
    k.all(*meet(relaxed))
    rounds = rng.choice([1, 1, 2]) if k.blocks == 2 else 1
    for (r, w), code in k.code.items():
        to = (r + 1) % k.blocks
        for i in range(rounds):
            code += [st(to, i, 10 * r + i), arrive(to, 0, scope=rng.choice(["cluster", "cluster", ""])), Op("wait", number=0, parity=i), ld(r, i, False)]
    k.all(*(meet() if rng.random() < 0.8 else meet(True)))
    return k


def sent(rng):
    """st.async into a neighbour, whose mbarrier expects the bytes."""
    k = Kernel(rng.choice([2, 2, 3]), 1)
    words = rng.choice([1, 2]) if k.blocks == 2 else 1
    for (r, w), code in k.code.items():
        code += [Op("init", number=0, count=1), Op("fence_init"), arrive(r, 0, size=SIZE * words).changed(mapped=False)]
    k.all(*meet())
    for (r, w), code in k.code.items():
        to = (r + 1) % k.blocks
        code += [Op("async", rank=to, word=i, value=10 * r + i, number=0, barrier_rank=to) for i in range(words)]
        code += [Op("wait", number=0, parity=0)] + [ld(r, i, False) for i in range(words)]
    k.all(*(meet(rng.random() < 0.5) if rng.random() < 0.7 else []))
    return k


def copied(rng):
    """Each block sends a word of its memory to its neighbour."""
    k = Kernel(rng.choice([2, 2, 3]), 1)
    for (r, w), code in k.code.items():
        code += [st(r, 0, 10 + r, False), Op("init", number=0, count=1), Op("fence_init"), arrive(r, 0, size=SIZE).changed(mapped=False)]
    k.all(*meet())
    for (r, w), code in k.code.items():
        to = (r + 1) % k.blocks
        code += [Op("send", rank=to, word=1, source=0, number=0, barrier_rank=to), Op("wait", number=0, parity=0), ld(r, 1, False)]
    k.all(*meet(rng.random() < 0.3))
    if rng.random() < 0.3:
        for (r, w), code in k.code.items():
            code.append(st(r, 0, 3, False))
    return k


def multicast(rng):
    """One block or all of them copy a word to several."""
    k = Kernel(rng.choice([2, 2, 3, 4]), 1)
    everyone = (1 << k.blocks) - 1
    givers = range(k.blocks) if k.blocks == 2 and rng.random() < 0.5 else [rng.randrange(k.blocks)]
    for (r, w), code in k.code.items():
        code += [Op("init", number=0, count=1), Op("fence_init"), arrive(r, 0, size=SIZE * len(givers)).changed(mapped=False)]
    k.all(*meet())
    for i, r in enumerate(givers):
        k.code[r, 0].append(Op("multi", mask=everyone, word=i, source=r, number=0))
    for (r, w), code in k.code.items():
        code += [Op("wait", number=0, parity=0)] + [ld(r, i, False) for i in range(len(givers))]
    k.all(*(meet() if rng.random() < 0.3 else []))
    return k


def one_way(rng):
    """Block 0 gives a word to all others, and may end when they have read it."""
    k = Kernel(rng.choice([2, 3, 4]), 1)
    k.code[0, 0] += [st(0, 0, 5, False)]
    if rng.random() < 0.5:
        k.code[0, 0].append(Op("init", number=1, count=k.blocks - 1))
        k.all(*meet())
        for r in range(1, k.blocks):
            k.code[r, 0] += [ld(0, 0), arrive(0, 1, relaxed=rng.random() < 0.2)]
        k.code[0, 0] += [Op("wait", number=1, parity=0)] + ([st(0, 0, 6, False)] if rng.random() < 0.5 else [])
    else:
        k.all(*meet())
        for r in range(1, k.blocks):
            k.code[r, 0] += [ld(0, 0)]
        k.all(*meet(rng.random() < 0.5))
    return k


FAMILIES = [exchange, push, count, signal, sent, copied, multicast, one_way]


def altered(rng, op, k):
    if op.kind in ("st", "ld", "red"):
        return rng.choice([lambda: op.changed(rank=rng.choice([rng.randrange(k.blocks), rng.randrange(k.blocks), k.blocks])),
                           lambda: op.changed(word=rng.randrange(2)), lambda: op.changed(narrow=True) if op.kind == "red" else op.changed(mapped=True)])()
    if op.kind == "multi":
        return rng.choice([lambda: op.changed(mask=rng.randrange(1, 1 << k.blocks + 1)), lambda: op.changed(word=rng.randrange(2)), lambda: op.changed(number=rng.randrange(2))])()
    if op.kind in ("async", "send"):
        return rng.choice([lambda: op.changed(rank=rng.randrange(k.blocks)), lambda: op.changed(barrier_rank=rng.randrange(k.blocks)),
                           lambda: op.changed(word=rng.randrange(2)), lambda: op.changed(number=rng.randrange(2))])()
    if op.kind == "arrive":
        return rng.choice([lambda: op.changed(rank=rng.randrange(k.blocks)), lambda: op.changed(relaxed=not op.relaxed), lambda: op.changed(scope=rng.choice(["cta", "", "cluster"])),
                           lambda: op.changed(size=rng.choice([0, SIZE, 2 * SIZE])), lambda: op.changed(number=rng.randrange(2))])()
    if op.kind == "wait":
        return rng.choice([op.changed(parity=1 - op.parity), op.changed(number=rng.randrange(2))])
    if op.kind == "init":
        return rng.choice([op.changed(count=rng.choice([1, 2, 3])), op.changed(number=rng.randrange(2))])
    if op.kind == "cluster_arrive":
        return op.changed(relaxed=not op.relaxed)
    return rng.choice([Op("fence"), Op("fence_init"), op])


def mutated(rng, k):
    codes = [code for code in k.code.values() if code]
    if not codes:
        return
    code = rng.choice(codes)
    i = rng.randrange(len(code))
    choice = rng.randrange(8)
    if choice < 2:
        del code[i]
    elif choice == 2:
        code.insert(i, code[i].changed())
    elif choice == 3:
        op = code.pop(i)
        code.insert(rng.randint(0, len(code)), op)
    elif choice == 4:
        kind = code[i].kind
        for other in codes:  # of all threads
            at = [j for j, op in enumerate(other) if op.kind == kind]
            if at:
                del other[at[-1]]
    elif choice == 5:
        code.insert(i, rng.choice([Op("fence"), Op("bar"), st(rng.randrange(k.blocks), rng.randrange(2), 3), ld(rng.randrange(k.blocks), rng.randrange(2))]))
    else:
        code[i] = altered(rng, code[i], k)


def drawn(rng):
    family = rng.choice(FAMILIES)
    k = family(rng)
    for code in k.code.values():  # each has instructions of its own
        code[:] = [copy.copy(op) for op in code]
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        mutated(rng, k)
    return family.__name__, k


# ------------------------------------------------------------------------------------------ questions


def asked(binary, kernel, slots, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(kernel, slots))
    words = [binary, "flow", path, "--block", str(32 * kernel.warps), "--grid", str(kernel.blocks), "--cluster", str(kernel.blocks), "--param",
             f"y=y:u32[{max(1, len(slots))}]", "--param", "x=x:u32[16]", "--proxy", "off", "--every-element", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2) or not done.stdout.startswith("{"):
        raise RuntimeError(f"{' '.join(words)}\n{done.stderr}{done.stdout}")
    return json.loads(done.stdout)


def main():
    options = options_of(__doc__, 150)
    tally, reasons, differences = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.cases):
            name, kernel = drawn(random.Random(f"{options.seed} {case}"))
            orders = Orders(kernel)
            try:
                values, why = orders.run(), ""
                if values is None:
                    tally["too many orders"] += 1
                    continue
            except Wrong as wrong:
                values, why = None, str(wrong)
            except Skipped:
                tally["sums of names"] += 1
                continue
            answer = asked(options.binary, kernel, orders.slots, os.path.join(folder, "k.ptx"))
            verdict = answer["verdict"]
            found = {v.split(" = ")[0]: v.split(" = ")[1] for v in answer["values"]} if verdict == "proved" else {}
            right = verdict == "unknown" or (verdict == "proved" and values == found) or (verdict == "refuted" and values is None)
            tally[verdict] += 1
            tally[f"{name}, {verdict}"] += 1
            if verdict == "unknown":
                reasons[("right: " if values is not None else "wrong: ") + answer["reason"][:60]] += 1
            if not right:
                differences += 1
                print(f"case {case} of {name}: {verdict}, and the model says {why or values}: {answer['fault'] and answer['fault']['text']} {found}")
                print(text_of(kernel, orders.slots))
    print_sums(tally)
    print_sums(reasons)
    print(f"flow_clusters: {options.cases} kernels, {tally['proved']} proved, {tally['refuted']} refuted, {tally['unknown']} unknown, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
