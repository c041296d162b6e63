#!/usr/bin/env python3
"""flow_more.py --cases N --seed S: a reference model of further instructions of `swizproof flow`, written from the PTX ISA alone.

Random kernels of two to four warps, as those of flow_order.py, with barrier.red, cp.async.mbarrier.arrive with and without .noinc, cp.async that ignores its source, and
st.bulk; most of them right patterns with one or two instructions deleted, repeated, moved or changed. All orders of the warps and of the ends of copies are enumerated:

  barrier.red            the number of threads whose predicate is true, or if all or any of them is, in one generation; no other instruction may use this barrier with it
  cp.async.mbarrier.arrive   once all copies that the thread has issued are complete, it arrives: one of the arrivals that are counted (.noinc), or one more than these
  ignore-src             the copy writes 0
  st.bulk                one thread writes 0 to all bytes, as a store

The last line has the numbers; exit code 1 if there are differences. --binary, --keep, --first, --show, --whole: as flow_order.py.
"""
import copy
import sys

import flow_order
from flow_kernels import Text, arrive, bar, complete, copied, inval, ld, options_of, permutation, run_cases, st, sync, wait, warp
from flow_orders import ALL, HALF, LANES, N, ONE, Fault, Kernel, Op, Orders, Part, TooMany


def red(rng, number, count):
    return Op("red", number=number, count=count, what=rng.choice(["popc", "popc", "and", "or"]), mask=rng.choice([0, 1, 3, 31, 32, 64, 127]), negated=rng.random() < 0.3)


def arrives(number, noinc, **more):
    return Op("arrive_copies", number=number, noinc=noinc, **more)


class More(Orders):
    """All orders of a kernel; the ends of copies that arrive at an mbarrier are events of their own."""

    local_kinds = Orders.local_kinds + ("zeros",)

    def op_bar(self, s, w, op, i):
        number = op.number + (op.stage and i % 2)
        if ("votes", number) in s.more:
            raise Fault("misuse", "barrier.red and another instruction at one barrier")
        super().op_bar(s, w, op, i)

    def op_red(self, s, w, op, i):
        threads = [t for t in range(32 * w, 32 * w + 32) if t < self.kernel.threads()]
        true = sum(((t & op.mask) == 0) != op.negated for t in threads)
        had = s.bars.get(op.number, (None, 0))[1]
        before = s.more.get(("votes", op.number))
        if had and before is None:
            raise Fault("misuse", "barrier.red and another instruction at one barrier")
        yes, no = before or (0, 0)
        s.more.pop(("votes", op.number), None)
        super().op_bar(s, w, op.changed(form="sync", stage=False), i)
        s.more["votes", op.number] = (yes + true, no + len(threads) - true)

    def release(self, s):
        before = {n: b[3] for n, b in s.bars.items()}
        super().release(s)
        for n, waiting in before.items():
            if n in s.bars or ("votes", n) not in s.more:
                continue
            yes, no = s.more.pop(("votes", n))
            for w in waiting:
                op = self.programs[w][s.at[w] - 1][0]
                value = {"popc": yes, "and": int(no == 0), "or": int(yes != 0)}[op.what]
                s.log[w] += ((("c", value),) * N,)

    def op_copy(self, s, w, op, i):
        super().op_copy(s, w, op, i)
        for l in self.lanes(op):
            bit = self.bits[w][s.at[w]][l]
            s.more["copies", w, l] = s.more.get(("copies", w, l), 0) | bit
            if op.fields.get("ignore") and LANES[l] % 2:
                word = self.word(w, op, i, LANES[l])
                _, readers, writers = s.memory[word]
                mine = ("x", w * 32 + LANES[l])
                rest = {v: e & ~bit if v == mine else e for v, e in writers}
                rest = {v: e for v, e in rest.items() if e}
                rest["c", 0] = rest.get(("c", 0), 0) | bit
                s.memory[word] = (("c", 0), readers, tuple(sorted(rest.items(), key=str)))

    def op_zeros(self, s, w, op, i):
        bit = self.bits[w][s.at[w]][0]
        for lane in LANES:
            word = self.word(w, op.changed(place=(*op.place[:2], "own")), i, lane)
            _, readers, writers = s.memory.get(word, (None, 0, ()))
            bad = readers
            for value, events in writers:
                if not (self.kernel.same_values and value == ("c", 0)):
                    bad |= events
            self.behind(s, w, bad, f"st.bulk to {word}")
            all_of = dict(writers)
            all_of["c", 0] = all_of.get(("c", 0), 0) | bit
            s.memory[word] = (("c", 0), readers, tuple(sorted(all_of.items(), key=str)))
        self.pass_(s, w)

    def op_arrive_copies(self, s, w, op, i):
        number, (live, count, pending, phase, events, done, makers, users) = self.use(s, w, op, i)
        mine = 0
        for l in self.lanes(op):
            users |= self.bits[w][s.at[w]][l]
            mine |= s.more.get(("copies", w, l), 0)
        if not op.noinc:
            pending += op.lanes
        s.mbars[number] = (live, count, pending, phase, events, done, makers, users)
        s.more["ends"] = tuple(sorted(s.more.get("ends", ()) + ((number, op.lanes, mine, bool(op.noinc)),)))
        self.pass_(s, w)

    def others(self, s):
        """The copies of an instruction are complete, in all lanes at once."""
        out, ends = [], s.more.get("ends", ())
        for k, (number, lanes, mine, noinc) in enumerate(ends):
            t = s.copy()
            t.more["ends"] = ends[:k] + ends[k + 1:]
            live, count, pending, phase, events, done, makers, users = t.mbars[number]
            if not live:
                raise Fault("misuse", "an mbarrier is invalidated while copies are on their way to it")
            if lanes > pending:
                if lanes == ONE:
                    raise Fault("misuse", "an arrival of copies too many")
                raise TooMany  # some of them in this phase, some in the next one
            pending, events = pending - lanes, events | mine
            if pending == 0:
                pending, phase, events, done = count, phase + 1, 0, events
            t.mbars[number] = (live, count, pending, phase, events, done, makers, users)
            out.append(self.settled(t))
        return out


class MoreText(Text):
    def __init__(self, kernel):
        super().__init__(kernel)
        results = max(sum(op.kind in ("ld", "red") for op, _ in kernel.program(w)) for w in range(kernel.warps))
        self.outputs = self.arrays["y"] = max(results, 1) * kernel.warps * 32

    def op_red(self, op):
        count = "" if op.count is None else f", {op.count}"
        name = f"barrier.cta.red.{op.what}.aligned.{'u32' if op.what == 'popc' else 'pred'}" if op.negated else f"bar.red.{op.what}.{'u32' if op.what == 'popc' else 'pred'}"
        to = "%r20" if op.what == "popc" else "%p5"
        after = "" if op.what == "popc" else "selp.u32 %r20, 1, 0, %p5; "
        return (f"and.b32 %r21, %r1, {op.mask}; setp.eq.u32 %p7, %r21, 0; {name} {to}, {op.number}{count}, {'!' if op.negated else ''}%p7; {after}"
                f"st.global.b32 [%rd1], %r20; add.s64 %rd1, %rd1, {128 * self.kernel.warps};")

    def op_copy(self, op):
        if not op.fields.get("ignore"):
            return super().op_copy(op)
        before, at = self.address(op)
        return f"{before}and.b32 %r21, %r1, 1; setp.ne.u32 %p7, %r21, 0; {self.on(op)}cp.async.ca.shared.global {at}, [%rd2], 4, %p7;"

    def op_zeros(self, op):
        before, at = self.address(op.changed(place=(*op.place[:2], "own")))
        return f"{before}@%p1 st.bulk.weak.shared::cta {at}, 128, 0;"  # %p1: lane 0, whose word is the first

    def op_arrive_copies(self, op):
        before, at = self.mbarrier(op)
        return f"{before}{self.on(op)}cp.async.mbarrier.arrive{'.noinc' if op.noinc else ''}.shared.b64 {at};"


# ---------------------------------------------------------------- kernels


def votes(rng):
    """Exchanges with barrier.red in place of some barriers."""
    w = rng.randint(2, 4)
    one = lambda: red(rng, rng.choice([0, 0, 1, 3]), rng.choice([None, None, 32 * w]))
    ops = [st(("buffer", "own", "own"), rng.choice(["x", "r"])), one(), ld(("buffer", "next", permutation(rng)))]
    ops += [one() if rng.random() < 0.7 else sync(rng, w)]
    if rng.random() < 0.5:
        ops += [st(("buffer", "own", "own"), 1), one(), ld(("buffer", "next", permutation(rng)))]
    return Kernel(w, [Part(range(w), ops, rng.randint(1, 2))])


def pairs_of_votes(rng):
    """Pairs of warps vote at barriers of their own."""
    parts = [Part([0, 1], [red(rng, 1, 64)]), Part([2, 3], [red(rng, rng.choice([2, 2, 1]), 64)])]
    parts += [Part(range(4), [rng.choice([sync(rng, 4), red(rng, 0, None)])])]
    return Kernel(4, parts)


def copies_arrive(rng):
    """Each thread copies and lets its copies arrive; all wait, and read what a neighbour has copied."""
    w, rounds, noinc = rng.randint(2, 3), rng.randint(1, 2), rng.random() < 0.5
    ops = [Op("copy", place=("buffer", "own", permutation(rng)), ignore=rng.random() < 0.3), arrives(0, noinc)]
    if not noinc:
        ops += [arrive(0)]
    ops += [wait(0, 0, "round"), ld(("buffer", "next", permutation(rng))), sync(rng, w)]
    return Kernel(w, flow_order.prepared(rng, w, [(0, 32 * w)], rng.randrange(w)) + [Part(range(w), ops, rounds)])


def producer_copies(rng):
    """One warp copies into two stages, the others wait for the mbarrier of each and give it back."""
    w, noinc = rng.randint(2, 3), rng.random() < 0.6
    rounds = rng.randint(1, 3)
    consumers = list(range(1, w))
    make = [wait(2, 1, "pair", stage=True), Op("copy", place=("buffer", 0, "own"), stage=True), arrives(0, noinc, stage=True)]
    make += [] if noinc else [arrive(0, stage=True)]
    take = [wait(0, 0, "pair", stage=True), ld(("buffer", 0, permutation(rng)), stage=True), warp(), arrive(2, lanes=ONE, stage=True)]
    mbarriers = [(0, 32), (1, 32), (2, len(consumers)), (3, len(consumers))]
    return Kernel(w, flow_order.prepared(rng, w, mbarriers) + [Part([0], make, rounds), Part(consumers, take, rounds)])


def apart(rng):
    """One warp copies, and its copies arrive in addition to what the other warps do: they hold the phase only if that is behind it."""
    w = rng.randint(2, 3)
    place, other = rng.randrange(w), rng.randrange(w)
    ops = [Part([place], [Op("copy", place=("buffer", 0, "own")), arrives(0, rng.random() < 0.2)])]
    ops += [Part(range(w), [sync(rng, w)])] if rng.random() < 0.5 else []
    ops += [Part([other], [arrive(0, lanes=rng.choice([ALL, ALL, ONE]))]), Part(range(w), [wait(0, 0), ld(("buffer", 0, permutation(rng)))])]
    if rng.random() < 0.3:
        ops += [Part(range(w), [sync(rng, w)]), Part([rng.randrange(w)], [inval(0)])]
    return Kernel(w, flow_order.prepared(rng, w, [(0, 32)], rng.randrange(w)) + ops)


def ignored(rng):
    """cp.async that ignores its source in half of the lanes, and the wait for its group."""
    w = rng.randint(2, 3)
    ops = copied(("buffer", "own", permutation(rng)), ignore=True) + [complete(rng.choice([0, None])), sync(rng, w), ld(("buffer", "next", permutation(rng)))]
    return Kernel(w, [Part(range(w), ops + [sync(rng, w)], rng.randint(1, 2))])


def cleared(rng):
    """st.bulk of a buffer, then stores and loads of it."""
    w = rng.randint(2, 3)
    ops = [Part([rng.randrange(w)], [Op("zeros", place=("buffer", 0), lanes=ONE)]), Part(range(w), [sync(rng, w)])]
    ops += [Part([rng.randrange(w)], [ld(("buffer", 0, permutation(rng)))])]
    if rng.random() < 0.7:
        ops += [Part(range(w), [sync(rng, w)]), Part([rng.randrange(w)], [rng.choice([st(("buffer", 0, "own")), Op("zeros", place=("buffer", 0), lanes=ONE)])])]
        ops += [Part(range(w), [sync(rng, w), ld(("buffer", 0, permutation(rng)))])]
    return Kernel(w, ops)


FAMILIES = {f.__name__: f for f in (votes, pairs_of_votes, copies_arrive, producer_copies, apart, ignored, cleared)}


def altered(rng, op, w):
    if op.kind == "red":
        return rng.choice([lambda: op.changed(number=rng.choice([0, 1, 2])), lambda: op.changed(count=rng.choice([32, 64, 96, None, 32 * w])),
                           lambda: op.changed(mask=rng.choice([0, 1, 32])), lambda: bar(op.number, op.count)])()
    if op.kind == "arrive_copies":
        return rng.choice([lambda: op.changed(noinc=not op.noinc), lambda: op.changed(lanes=rng.choice([ALL, HALF, ONE])), lambda: op.changed(number=rng.randrange(3)),
                           lambda: arrive(op.number)])()
    if op.kind == "zeros":
        return rng.choice([lambda: op.changed(place=("buffer", rng.choice([0, 1, "own", "next"]))), lambda: st(("buffer", 0, "own"), 1)])()
    if op.kind == "copy" and rng.random() < 0.4:
        return op.changed(ignore=not op.fields.get("ignore"))
    return flow_order.altered(rng, op, w)


def mutated(rng, kernel):
    """One instruction deleted, repeated, moved, exchanged or altered."""
    k = copy.deepcopy(kernel)
    parts = [p for p in k.parts if p.ops]
    if not parts:
        return k
    part = rng.choice(parts)
    i, choice = rng.randrange(len(part.ops)), rng.randrange(8)
    if choice < 2:
        del part.ops[i]
    elif choice == 2:
        part.ops.insert(i, part.ops[i].changed())
    elif choice == 3:
        part.ops.insert(rng.randint(0, len(part.ops) - 1), part.ops.pop(i))
    elif choice < 7:
        part.ops[i] = altered(rng, part.ops[i], k.warps)
    else:
        part.warps = tuple(sorted(rng.sample(range(k.warps), rng.randint(1, k.warps))))
    return k


def drawn(rng):
    name = rng.choice(list(FAMILIES))
    kernel = FAMILIES[name](rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        kernel = mutated(rng, kernel)
    for part in kernel.parts:
        part.ops = [flow_order.repaired(op, kernel.warps) for op in part.ops]
    kernel.same_values = rng.random() < 0.1
    return name, kernel


if __name__ == "__main__":
    sys.exit(run_cases("flow_more", options_of(200), drawn, More, MoreText, flow_order.values_of))
