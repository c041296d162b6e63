#!/usr/bin/env python3
"""flow_proxies.py --cases N --seed S: a reference model of the proxies in `swizproof flow`, written from the PTX ISA alone.

Random kernels of one to three warps: loads and stores of shared and global memory, bulk copies in both directions, mbarriers with bytes, bulk groups, fences of
proxies, barriers. Patterns (load, store, load and store in place, a scratch array, producer and consumer) with instructions deleted, moved, changed and added; others
at random. All orders of the warps and of the completions are enumerated. The rules, over happens-before (PTX ISA, Memory Consistency Model, Proxies; Async proxy):

  generic write, then async read or async write   a proxy fence between them            --proxy strict, write
  generic read, then async write                  a proxy fence between them            --proxy strict
  mbarrier.init, then a bulk copy that uses it    fence.mbarrier_init of its thread, or a proxy fence   --proxy strict
  async access, then any access                   its completion between them: the phase of its mbarrier, or its bulk group; no fence
  cp.reduce and another one of the same kind      nothing

A fence is between two accesses if it is behind the first and before the second, whichever thread executes it; fence.proxy.async.global is for global memory, .shared::cta for
shared memory. A launch is right if in no order there is a race, a missing fence, a deadlock, a misuse or a read of a word that is not written. The command may prove right ones
alone, and refute others alone; "unknown" is counted. The last line has the numbers; exit code 1 if there are differences. --binary, --keep, --first, --show: as flow_order.py.
"""
import sys

from flow_kernels import Text, arrive, bar, init, ld, options_of, run_cases, st, wait, warp
from flow_orders import ALL, N, ONE, Fault, Kernel, Op, Orders, Part

BYTES = 128  # of a bulk copy: a buffer


class Proxies(Orders):
    """All orders of a kernel with bulk copies. The set of a thread also has the events that a proxy fence is behind, once for each state space: they
    are passed on as events are. `more` holds the bytes that a phase still expects, bulk loads on their way, and bulk groups of a thread."""

    local_kinds = Orders.local_kinds + ("fence", "bulk_store", "reduce", "bulk_commit", "bulk_wait")

    def __init__(self, kernel, whole=False, most=60000):
        super().__init__(kernel, whole, most)
        self.width = 1 + max(b for warp_bits in self.bits for bits in warp_bits for b in bits).bit_length()

    def fenced(self, events, space):
        return events << self.width * (1 if space == "shared" else 2)

    def op_fence(self, s, w, op, i):
        self.pass_(s, w)
        every = (1 << self.width) - 1
        for l in self.lanes(op):
            seen = s.seen[w * N + l]
            if op.what == "init":
                mine = sum(self.bits[w][at][l] for at in range(s.at[w]) if self.programs[w][at][0].kind == "init" and l in self.lanes(self.programs[w][at][0]))
                seen |= self.fenced(mine, "shared")
            else:
                for space in ("shared", "global"):
                    if op.what in ("all", space):
                        seen |= self.fenced(s.seen[w * N + l] & every, space)
            s.seen[w * N + l] = seen

    # memory: word -> (generic reads, generic writes, async reads, async writes)

    def space(self, word):
        return "global" if word[0] == "z" or word[0] == "y" else "shared"

    def word(self, w, op, i, lane):
        if op.place[0] in ("z", "y"):
            return op.place[0], op.place[1], lane
        return super().word(w, op, i, lane)

    def op_ld(self, s, w, op, i):
        for l in self.lanes(op):
            word = self.word(w, op, i, self.lane(l))
            gr, gw, ar, aw = s.memory.get(word, (0, 0, 0, 0))
            if not gw | aw and word[0] != "z":
                raise Fault("uninitialised", f"read of {word}")
            self.behind(s, w, gw | aw, f"read of {word}", (l,))
            s.memory[word] = (gr | self.bits[w][s.at[w]][l], gw, ar, aw)
        self.pass_(s, w)

    def op_st(self, s, w, op, i):
        for l in self.lanes(op):
            word = self.word(w, op, i, self.lane(l))
            gr, gw, ar, aw = s.memory.get(word, (0, 0, 0, 0))
            self.behind(s, w, gr | gw | ar | aw, f"write of {word}", (l,))
            s.memory[word] = (gr, gw | self.bits[w][s.at[w]][l], ar, aw)
        self.pass_(s, w)

    @staticmethod
    def lane(l):
        return (0, 1, 30, 31)[l]

    def words(self, w, op, i, place):
        op = op.changed(place=place)
        return [self.word(w, op, i, self.lane(l)) for l in range(N)]

    def async_access(self, s, w, words, bit, writes):
        """An access of the async proxy that a thread, lane 0, issues now."""
        seen, proxy = s.seen[w * N], self.kernel.proxy
        for word in words:
            gr, gw, ar, aw = s.memory.get(word, (0, 0, 0, 0))
            before = gw | aw | (gr | ar if writes else 0)
            if before & ~seen:
                raise Fault("race", f"a bulk copy and {word}")
            if not writes and not gw | aw and word[0] not in ("x", "z"):
                raise Fault("uninitialised", f"bulk copy of {word}")
            need = (gw if proxy != "off" else 0) | (gr if writes and proxy == "strict" else 0)
            if self.fenced(need, self.space(word)) & ~seen:
                raise Fault("fence", f"a bulk copy and {word}")
            s.memory[word] = (gr, gw, ar, aw | bit) if writes else (gr, gw, ar | bit, aw)

    # bulk loads: from x or z to a buffer

    def op_expect(self, s, w, op, i):
        """expect_tx, and the arrival."""
        number, _ = self.use(s, w, op, i)
        s.more["bytes", number] = s.more.get(("bytes", number), 0) + op.bytes
        if op.arrives:
            self.op_arrive(s, w, op, i)
        else:
            self.use_of(s, w, op, i)

    def use_of(self, s, w, op, i):
        number, b = self.object(s, op, i)
        s.mbars[number] = b[:7] + (b[7] | self.bits[w][s.at[w]][0],)
        self.issued(s, w)

    def issued(self, s, w):
        """The event of lane 0: the bits of lanes 1 and 2 are those of the async read and write."""
        s.seen[w * N] |= self.bits[w][s.at[w]][0]

    def op_bulk_load(self, s, w, op, i):
        number, b = self.use(s, w, op, i)
        if self.kernel.proxy == "strict" and self.fenced(b[6], "shared") & ~s.seen[w * N]:
            raise Fault("fence", "mbarrier.init and a bulk copy")
        read, written = self.bits[w][s.at[w]][1], self.bits[w][s.at[w]][2]
        if op.source[0] == "z":
            self.async_access(s, w, self.words(w, op, i, op.source), read, False)
        self.async_access(s, w, self.words(w, op, i, op.place), written, True)
        s.more["loads"] = tuple(sorted(s.more.get("loads", ()) + ((number, read | written),)))
        self.use_of(s, w, op, i)

    def others(self, s):
        out = []
        loads = s.more.get("loads", ())
        for k, (number, events) in enumerate(loads):
            t = s.copy()
            t.more["loads"] = loads[:k] + loads[k + 1:]
            left = t.more["bytes", number] = t.more.get(("bytes", number), 0) - BYTES
            live, count, pending, phase, arrived, done, makers, users = t.mbars[number]
            arrived |= events
            if pending == 0 and left == 0:
                pending, phase, arrived, done = count, phase + 1, 0, arrived
            t.mbars[number] = (live, count, pending, phase, arrived, done, makers, users)
            out.append(self.settled(t))
        return out

    # bulk stores: from a buffer to y or z

    def op_bulk_store(self, s, w, op, i):
        read, written = self.bits[w][s.at[w]][1], self.bits[w][s.at[w]][2]
        self.async_access(s, w, self.words(w, op, i, op.place), read, False)
        self.async_access(s, w, self.words(w, op, i, op.target), written, True)
        groups, opened = s.more.get(("groups", w), ((), ()))
        s.more["groups", w] = (groups, opened + ((read, written),))
        self.issued(s, w)

    def op_reduce(self, s, w, op, i):
        """A bulk store of atomic operations: those of one kind need no order among each other (PTX ISA, cp.reduce.async.bulk: each of them is relaxed)."""
        read, written = self.bits[w][s.at[w]][1], self.bits[w][s.at[w]][2]
        self.async_access(s, w, self.words(w, op, i, op.place), read, False)
        for word in self.words(w, op, i, op.target):
            same = s.more.get(("atomic", op.what, word), 0)
            gr, gw, ar, aw = s.memory.get(word, (0, 0, 0, 0))
            s.memory[word] = (gr, gw, ar, aw & ~same)
            self.async_access(s, w, [word], written, True)
            s.more["atomic", op.what, word] = same | written
            gr, gw, ar, aw = s.memory[word]
            s.memory[word] = (gr, gw, ar, aw | same)
        groups, opened = s.more.get(("groups", w), ((), ()))
        s.more["groups", w] = (groups, opened + ((read, written),))
        self.issued(s, w)

    def op_bulk_commit(self, s, w, op, i):
        groups, opened = s.more.get(("groups", w), ((), ()))
        s.more["groups", w] = (groups + (opened,), ())
        self.pass_(s, w)

    def op_bulk_wait(self, s, w, op, i):
        groups, opened = s.more.get(("groups", w), ((), ()))
        for group in groups[:max(len(groups) - op.pending, 0)]:
            for read, written in group:
                s.seen[w * N] |= read if op.read else read | written
        self.pass_(s, w)


class ProxyText(Text):
    """The same as PTX. z is an array of two buffers, which a kernel may also write."""

    params = ".param .u64 y, .param .u64 x, .param .u64 z"
    more = "ld.param.u64 %rd6, [z]; ld.param.u64 %rd7, [x]; ld.param.u64 %rd8, [y]; and.b64 %rd9, %rd3, 127;"

    def __init__(self, kernel):
        super().__init__(kernel)
        self.arrays = {"y": self.outputs + 128, "x": max(64, 32 * kernel.warps), "z": max(96, 32 * kernel.warps)}

    def at_global(self, place):
        base = {"x": "%rd7", "z": "%rd6", "y": "%rd8"}[place[0]]
        return f"[{base}+{self.base(place)}]"

    def base(self, place):
        return 128 * place[1] + (4 * self.outputs if place[0] == "y" else 0)

    def op_fence(self, op):
        what = {"init": "fence.mbarrier_init.release.cluster", "all": "fence.proxy.async", "shared": "fence.proxy.async.shared::cta",
                "global": "fence.proxy.async.global"}[op.what]
        return f"{self.on(op)}{what};"

    def op_expect(self, op):
        before, at = self.mbarrier(op)
        name = "mbarrier.arrive.expect_tx.shared.b64 %rd4," if op.arrives else "mbarrier.expect_tx.relaxed.cta.shared.b64"
        return f"{before}{self.on(op)}{name} {at}, {op.bytes};"

    def op_bulk_load(self, op):
        before, at = self.mbarrier(op)
        return (f"{before}add.s32 %r21, %r2, {128 * op.place[1]}; {self.on(op)}cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], "
                f"{self.at_global(op.source)}, {BYTES}, {at};")

    def op_bulk_store(self, op):
        return f"{self.on(op)}cp.async.bulk.global.shared::cta.bulk_group {self.at_global(op.target)}, [%r2+{128 * op.place[1]}], {BYTES};"

    def op_reduce(self, op):
        return (f"{self.on(op)}cp.reduce.async.bulk.global.shared::cta.bulk_group.{op.what} {self.at_global(op.target)}, "
                f"[%r2+{128 * op.place[1]}], {BYTES};")

    def op_bulk_commit(self, op):
        return f"{self.on(op)}cp.async.bulk.commit_group;"

    def op_bulk_wait(self, op):
        return f"{self.on(op)}cp.async.bulk.wait_group{'.read' if op.read else ''} {op.pending};"

    def op_st(self, op):
        if op.place[0] not in ("z", "y"):
            return super().op_st(op)
        base = "%rd6" if op.place[0] == "z" else "%rd8"
        return f"add.s64 %rd10, {base}, %rd9; {self.on(op)}st.global.b32 [%rd10+{self.base(op.place)}], %r5;"

    def op_ld(self, op):
        if op.place[0] not in ("z", "y"):
            return super().op_ld(op)
        base = "%rd6" if op.place[0] == "z" else "%rd8"
        return f"add.s64 %rd10, {base}, %rd9; {self.on(op)}ld.global.b32 %r6, [%rd10+{self.base(op.place)}];"


# ---------------------------------------------------------------- kernels


def fence(what="shared", lanes=ALL):
    return Op("fence", what=what, lanes=lanes)


def expect(number=0, arrives=True, count=BYTES):
    return Op("expect", number=number, bytes=count, arrives=arrives, n=1, relaxed=not arrives, lanes=ONE)


def load(buffer=0, source=("x", 0), number=0):
    return Op("bulk_load", place=("buffer", buffer, "own"), source=source, number=number, lanes=ONE)


def store(buffer=0, target=("y", 0)):
    return Op("bulk_store", place=("buffer", buffer, "own"), target=target, lanes=ONE)


def reduction(rng, buffer=0, target=("z", 0)):
    return Op("reduce", place=("buffer", buffer, "own"), target=target, what=rng.choice(["add.u32", "add.u32", "min.s32", "or.b32"]), lanes=ONE)


def commit():
    return Op("bulk_commit", lanes=ONE)


def wait_read(pending=0, read=True):
    return Op("bulk_wait", pending=pending, read=read, lanes=ONE)


def get(rng, buffer=0):
    return ld(("buffer", buffer, rng.choice(["own", "reverse"])))


def put(buffer=0):
    return st(("buffer", buffer, "own"))


def some_fence(rng, lanes=ALL):
    return fence(rng.choice(["shared", "shared", "all"]), lanes)


def ready(rng, w, mbarriers=((0, 1),)):
    """Mbarriers, initialised and fenced."""
    return [Part([0], [init(m, c) for m, c in mbarriers] + [fence(rng.choice(["init", "init", "shared", "all"]), ONE)]), Part(range(w), [bar()])]


def issue(rng, *more, **place):
    ops = [expect(), load(**place)]
    return Part([0], list(more) + (ops if rng.random() < 0.7 else ops[::-1]))


def loads(rng):
    """The same buffer is loaded in some rounds and read by one warp or two."""
    w, rounds = rng.randint(1, 3), rng.randint(1, 3)
    parts = ready(rng, w)
    if rng.random() < 0.5:
        parts += [Part([rng.randrange(w)], [put()] + ([warp(), get(rng)] if rng.random() < 0.5 else []) + [some_fence(rng)]), Part(range(w), [bar()])]
    for i in range(rounds):
        parts.append(issue(rng, source=("x", i % 2)))
        readers = range(w) if rng.random() < 0.6 else [rng.randrange(w)]
        parts.append(Part(range(w), [wait(0, i % 2)]))
        parts.append(Part(readers, [get(rng)] ))
        if i + 1 < rounds:
            if rng.random() < 0.5:
                parts.append(Part(range(w), [some_fence(rng), bar()]))
            else:
                parts.append(Part(range(w), [bar()]))
                parts.append(Part([0], [some_fence(rng, rng.choice([ONE, ALL]))]))
    return parts, w


def stores(rng):
    """A buffer is stored in some rounds."""
    w, rounds = rng.randint(1, 3), rng.randint(1, 3)
    parts = []
    for i in range(rounds):
        parts += [Part([rng.randrange(w)], [put()] + ([some_fence(rng)])), Part(range(w), [bar()])]
        parts.append(Part([0], [store(0, ("y", i)), commit()]))
        if i + 1 < rounds:
            parts += [Part([0], [wait_read(0, rng.random() < 0.7)]), Part(range(w), [bar()])]
    return parts, w


def in_place(rng):
    """Loaded, changed, stored, and loaded again."""
    w = rng.randint(1, 2)
    parts = ready(rng, w) + [issue(rng), Part(range(w), [wait(0)])]
    parts.append(Part([w - 1], [get(rng)] + ([warp(), put()] if rng.random() < 0.8 else []) + [some_fence(rng)]))
    parts += [Part(range(w), [bar()]), Part([0], [store(), commit(), wait_read(0, rng.random() < 0.7)])]
    if rng.random() < 0.6:
        if rng.random() < 0.5:
            parts += [Part(range(w), [bar()]), Part([rng.randrange(w)], [put()])]
        else:
            parts += [issue(rng, source=("x", 1)), Part(range(w), [wait(0, 1)]), Part([w - 1], [get(rng)])]
    return parts, w


def scratch(rng):
    """A global array is written, and loaded or stored by a bulk copy, in either order."""
    w = rng.randint(1, 2)
    z = ("z", rng.randrange(2))
    parts = ready(rng, w)
    if rng.random() < 0.6:
        parts += [Part([w - 1], [st(z), fence(rng.choice(["global", "all"]))]), Part(range(w), [bar()]), issue(rng, source=z), Part(range(w), [wait(0)])]
        parts += [Part([rng.randrange(w)], [get(rng)])]
        if rng.random() < 0.5:
            parts += [Part(range(w), [bar()]), Part([rng.randrange(w)], [st(z)])]
    else:
        parts += [Part([w - 1], [put(), some_fence(rng)]), Part(range(w), [bar()]), Part([0], [store(0, z), commit(), wait_read(0, False)])]
        parts += [Part(range(w), [bar()]), Part([rng.randrange(w)], [ld(z)])]
    return parts, w


def ring(rng):
    """Full and empty mbarriers of one stage between the thread that issues and the warps that read."""
    w, rounds = rng.randint(2, 3), rng.randint(1, 3)
    one = rng.random() < 0.5
    parts = ready(rng, w, ((0, 1), (1, (w - 1) * (1 if one else 32))))
    make, take = [wait(1, 1, "round", lanes=ONE)], [wait(0, 0, "round"), get(rng)]
    before = rng.random() < 0.5
    if before:
        take.append(some_fence(rng))
    else:
        make.append(some_fence(rng, ONE))
    take += [warp(), arrive(1, lanes=ONE)] if one else [arrive(1)]
    make += [expect(), load()]
    return parts + [Part([0], make, rounds), Part(range(1, w), take, rounds)], w


def reductions(rng):
    """Warps add their buffers to one array, and it is read behind their waits."""
    w = rng.randint(1, 3)
    z, what = ("z", rng.randrange(2)), rng.choice(["add.u32", "add.u32", "max.u32"])
    parts = [Part([rng.randrange(w)], [st(z), fence(rng.choice(["global", "all"]))]), Part(range(w), [bar()])] if rng.random() < 0.5 else []
    for i in rng.sample(range(w), rng.randint(1, w)):
        parts.append(Part([i], [put(i), some_fence(rng), warp(), reduction(rng, i, z).changed(what=what), commit(), wait_read(0, rng.random() < 0.3)]))
    parts.append(Part(range(w), [bar()]))
    if rng.random() < 0.7:
        parts.append(Part([rng.randrange(w)], [rng.choice([ld(z), st(z), put(0)])]))
    return parts, w


def random_op(rng):
    return rng.choice([lambda: reduction(rng, rng.randrange(2), ("z", rng.randrange(2))),
        lambda: put(rng.randrange(2)), lambda: get(rng, rng.randrange(2)), lambda: some_fence(rng, rng.choice([ONE, ALL])),
        lambda: fence(rng.choice(["init", "global", "shared", "all"]), rng.choice([ONE, ALL])), warp, lambda: load(rng.randrange(2), (rng.choice("xz"), rng.randrange(2))),
        expect, lambda: expect(0, False), lambda: store(rng.randrange(2), (rng.choice("yz"), rng.randrange(2))), commit, lambda: wait_read(rng.randrange(2), rng.random() < 0.6),
        lambda: wait(0, rng.randrange(2)), lambda: st(("z", rng.randrange(2))), lambda: ld(("z", rng.randrange(2))), lambda: arrive(0, lanes=ONE), bar])()


def pure(rng):
    """At random: instructions of a warp, and barriers of all."""
    w = rng.randint(1, 2)
    parts = ready(rng, w)
    for _ in range(rng.randint(2, 4)):
        parts.append(Part([rng.randrange(w)], [random_op(rng) for _ in range(rng.randint(1, 4))]))
        if rng.random() < 0.7:
            parts.append(Part(range(w), [bar()]))
    return parts, w


FAMILIES = (loads, stores, in_place, scratch, ring, reductions, pure)


def altered(rng, op):
    """The instruction with one field changed."""
    if op.kind == "fence":
        return op.changed(**rng.choice([{"what": rng.choice(["init", "shared", "all", "global"])}, {"lanes": rng.choice([ONE, ALL])}]))
    if op.kind == "wait":
        return op.changed(**rng.choice([{"parity": 1 - op.parity}, {"lanes": rng.choice([ONE, ALL])}, {"relaxed": True}]))
    if op.kind == "bulk_wait":
        return op.changed(**rng.choice([{"pending": 1 - op.pending if op.pending < 2 else 0}, {"read": not op.read}]))
    if op.kind == "expect":
        return op.changed(**rng.choice([{"bytes": rng.choice([BYTES // 2, 2 * BYTES])}, {"arrives": not op.arrives}]))
    if op.kind == "bulk_load":
        return load(rng.randrange(2), (rng.choice("xz"), rng.randrange(2)))
    if op.kind == "bulk_store":
        return store(rng.randrange(2), (rng.choice("yz"), rng.randrange(3)))
    if op.kind == "reduce":
        return reduction(rng, rng.randrange(2), ("z", rng.randrange(2)))
    if op.kind == "init":
        return op.changed(count=rng.choice([1, 2, 32]))
    if op.kind in ("st", "ld") and op.place[0] == "buffer":
        return op.changed(place=("buffer", rng.randrange(2), rng.choice(["own", "reverse"])))
    return Op("noise", what=rng.choice(["membar", "fence", "shfl"]))


def mutated(rng, parts, w):
    """One instruction deleted, repeated, moved, altered or added, or a part executed by another warp."""
    full = [p for p in parts if p.ops]
    if not full:
        return
    part = rng.choice(full)
    i, choice = rng.randrange(len(part.ops)), rng.randrange(10)
    fences = [(p, k) for p in full for k, op in enumerate(p.ops) if op.kind == "fence"]
    if fences and rng.random() < 0.4:
        part, i = rng.choice(fences)
    if choice < 3:
        del part.ops[i]
    elif choice == 3:
        part.ops.insert(i, part.ops[i])
    elif choice < 6:
        op = part.ops.pop(i)
        other = rng.choice(full) if choice == 5 else part
        other.ops.insert(rng.randint(0, len(other.ops)), op)
    elif choice < 8:
        part.ops[i] = altered(rng, part.ops[i])
    elif choice == 8:
        part.ops.insert(rng.randint(0, len(part.ops)), random_op(rng))
    else:
        part.warps = tuple(sorted(rng.sample(range(w), rng.randint(1, w))))


def drawn(rng):
    """A family and a kernel of it."""
    family = rng.choice(FAMILIES)
    parts, w = family(rng)
    for _ in range(rng.choice([0, 1, 1, 2])):
        mutated(rng, parts, w)
    for part in parts:
        if part.rounds > 1:  # two bulk stores to one element are no question here
            part.ops = [op for op in part.ops if op.kind not in ("bulk_store", "reduce")]
    return family.__name__, Kernel(w, parts, proxy=rng.choice(["strict", "strict", "strict", "write", "off"]))


if __name__ == "__main__":
    sys.exit(run_cases("flow_proxies", options_of(150), drawn, Proxies, ProxyText))
