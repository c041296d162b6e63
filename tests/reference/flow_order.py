#!/usr/bin/env python3
"""flow_order.py --cases N --seed S: a reference model of the orders of `swizproof flow`, written from the PTX ISA alone.

Random kernels of two to four warps: named barriers, mbarriers, barriers of a warp, loads and stores of a few words of shared memory, straight or in rounds. Most are
right patterns (exchange, producer and consumer, ping-pong, ring, reduction, pairs, multicast) with one or two instructions deleted, repeated, moved or changed; others are drawn at random.
Here all orders of the warps are enumerated. Happens-before is a set of accesses that each thread has behind it; a launch is right if in no order there is a deadlock, a
race, a read of a word that is not written, a misuse of a barrier, or another value. The command may prove right ones alone, and refute others alone; "unknown" is counted.
Where it proves, each value that it names is the value of every order. The last line has the numbers; exit code 1 if there are differences. --binary PATH asks a
program in place of the Python module; --keep DIR keeps the kernels of differences there; --whole N: of every N-th case the loads and stores are interleaved, too, and the answer is the same;
--show prints each kernel of a case; --first N starts with case N.
"""
import copy
import sys

from flow_kernels import Text, arrive, bar, cluster, complete, copied, init, inval, ld, noise, options_of, permutation, run_cases, st, sync, wait, warp
from flow_orders import ALL, HALF, LANES, ONE, Kernel, Op, Orders, Part


def exchange(rng):
    """Each warp stores its buffer and reads its neighbour's, in some generations."""
    w = rng.randint(2, 4)
    every, ops = range(w), []
    for i in range(rng.randint(1, 2)):
        ops += [st(("buffer", "own", permutation(rng)), rng.choice(["x", "r", 1])), sync(rng, w), ld(("buffer", "next", permutation(rng)))]
        ops += [sync(rng, w)]
    if rng.random() < 0.5:
        ops.pop()
    if rng.random() < 0.4:
        return Kernel(w, [Part(every, ops[:3] + [sync(rng, w)], rng.randint(2, 3))])
    return Kernel(w, [Part(every, ops)])


def stages(rng):
    """Two buffers in turn, one barrier in each round."""
    w = rng.randint(2, 4)
    ops = [st(("buffer", "own", "own"), "x", stage=True), sync(rng, w), ld(("buffer", "next", permutation(rng)), stage=True)]
    return Kernel(w, [Part(range(w), ops, rng.randint(2, 4))])


def producer(rng):
    """Named barriers full and empty between a producer and its consumers."""
    w = rng.randint(2, 4)
    consumers, rounds, count = list(range(1, w)), rng.randint(1, 3), 32 * w
    shared = rng.choice([("buffer", 0, "own"), ("word", 0)])
    value, lanes = ("x", ALL) if shared[0] == "buffer" else (rng.choice(["x", 1]), ONE)
    make = [st(shared, value, lanes=lanes), bar(1, count, "arrive"), bar(2, count, rng.choice(["sync", "barrier"]))]
    take = [bar(1, count), ld((shared[0], 0, permutation(rng)) if shared[0] == "buffer" else shared), bar(2, count, "arrive")]
    return Kernel(w, [Part([0], make, rounds), Part(consumers, take, rounds)])


def ping_pong(rng):
    """Two warps answer each other in one word or a buffer each."""
    w, rounds = rng.randint(2, 3), rng.randint(1, 3)
    a = [st(("buffer", 0, "own"), rng.choice(["x", "r"])), bar(1, 64), bar(2, 64), ld(("buffer", 1, permutation(rng)))]
    b = [bar(1, 64), ld(("buffer", 0, permutation(rng))), st(("buffer", 1, "own"), rng.choice(["r", "x"])), bar(2, 64)]
    if rng.random() < 0.6:
        a[1], a[2] = bar(1, 64, "arrive"), bar(2, 64)
        b[0], b[3] = bar(1, 64), bar(2, 64, rng.choice(["sync", "arrive"]))
    extra = [Part([2], [st(("buffer", 2, "own")), warp(), ld(("buffer", 2, "reverse"))])] if w > 2 else []
    return Kernel(w, [Part([0], a, rounds), Part([1], b, rounds)] + extra)


def named_ring(rng):
    """Two stages, each with a full and an empty barrier; the producer waits for empty from the third round on."""
    w, rounds = rng.randint(2, 3), rng.randint(2, 4)
    consumers, count = list(range(1, w)), 32 * w
    make = [bar(3, count, stage=True), st(("buffer", 0, "own"), "x", stage=True), bar(1, count, "arrive", stage=True)]
    take = [bar(3, count, "arrive", stage=True), bar(1, count, stage=True), ld(("buffer", 0, permutation(rng)), stage=True)]
    return Kernel(w, [Part([0], make, rounds), Part(consumers, take, rounds)])


def prepared(rng, w, mbarriers, initialiser=0):
    """Parts that initialise mbarriers, with the barrier behind."""
    return [Part([initialiser], [init(m, c) for m, c in mbarriers] + ([noise(rng)] if rng.random() < 0.2 else [])), Part(range(w), [sync(rng, w)])]


def single(rng):
    """One mbarrier between all warps, in some phases."""
    w, rounds = rng.randint(2, 4), rng.randint(1, 3)
    one = rng.random() < 0.5
    ops = [st(("buffer", "own", "own"), rng.choice(["x", "r"]))]
    ops += [warp(), arrive(0, lanes=ONE)] if one else [arrive(0)]
    ops += [wait(0, 0, "round", form=rng.choice(["try_wait", "test_wait"])), ld(("buffer", "next", permutation(rng)))]
    parts = prepared(rng, w, [(0, w if one else 32 * w)], rng.randrange(w))
    if rounds > 1:
        ops += [sync(rng, w)]
    parts.append(Part(range(w), ops, rounds))
    if rng.random() < 0.2:
        parts += [Part(range(w), [sync(rng, w)]), Part([0], [inval(0)])]
        if rng.random() < 0.5:
            parts += [Part([0], [init(0, 32 * w)]), Part(range(w), [sync(rng, w), arrive(0), wait(0)])]
    return Kernel(w, parts)


def mbarrier_producer(rng):
    """Mbarriers full (0) and empty (2), of one or two stages, between a producer and its consumers."""
    w, rounds = rng.randint(2, 4), rng.randint(1, 4)
    two = rng.random() < 0.5
    consumers = list(range(1, w))
    one = rng.random() < 0.6
    turn = "pair" if two else "round"
    make = [wait(2, 1, turn, stage=two), st(("buffer", 0, "own"), "x", stage=two)]
    make += [warp(), arrive(0, lanes=ONE, stage=two)] if one else [arrive(0, stage=two)]
    take = [wait(0, 0, turn, stage=two, form=rng.choice(["try_wait", "test_wait"])), ld(("buffer", 0, permutation(rng)), stage=two)]
    each = rng.random() < 0.6
    take += [warp(), arrive(2, lanes=ONE, stage=two)] if each else [arrive(2, stage=two)]
    full, empty = (1 if one else 32), (len(consumers) if each else 32 * len(consumers))
    if rng.random() < 0.15:  # one lane waits for its warp
        take[:1] = [take[0].changed(lanes=ONE), warp()]
    mbarriers = [(0, full), (2, empty)] + ([(1, full), (3, empty)] if two else [])
    return Kernel(w, prepared(rng, w, mbarriers, rng.randrange(w)) + [Part([0], make, rounds), Part(consumers, take, rounds)])


def reduction(rng):
    """A tree: in each step the upper half has arrived, and ends."""
    w = rng.choice([2, 4, 4])
    parts = [Part(range(w), [st(("buffer", "own", "own"))])]
    n = w
    while n > 1:
        parts.append(Part(range(n), [bar(0 if rng.random() < 0.5 else n % 3, None if n == w else 32 * n)]))
        for i in range(n // 2):
            parts.append(Part([i], [ld(("buffer", i + n // 2, permutation(rng))), st(("buffer", i, "own"), "r")] if rng.random() < 0.7
                              else [ld(("buffer", i + n // 2, "own"))]))
        n //= 2
    return Kernel(w, parts)


def pairs(rng):
    """Pairs of warps meet at a barrier each, and then all."""
    parts = [Part(range(4), [st(("buffer", "own", "own"))]), Part([0, 1], [bar(1, 64)]), Part([2, 3], [bar(rng.choice([2, 2, 2, 1]), 64)])]
    for i in range(4):
        if rng.random() < 0.7:
            parts.append(Part([i], [ld(("buffer", i ^ 1, permutation(rng)))]))
    parts.append(Part(range(4), [sync(rng, 4)]))
    for i in range(4):
        if rng.random() < 0.7:
            parts.append(Part([i], [rng.choice([ld(("buffer", (i + 2) % 4, permutation(rng))), st(("buffer", (i + 1) % 4, "own"))])]))
    parts = [p for i, p in enumerate(parts) if i < 3 or rng.random() < 0.9]
    return Kernel(4, parts)


def multicast(rng):
    """One thread writes a word, all read it; then another one."""
    w = rng.randint(2, 4)
    a, b = rng.randrange(w), rng.randrange(w)
    value = rng.choice(["x", 1])
    parts = [Part([a], [st(("word", 0), value, lanes=ONE)]), Part(range(w), [sync(rng, w), ld(("word", 0))]), Part(range(w), [sync(rng, w)])]
    parts += [Part([b], [st(("word", rng.choice([0, 0, 1])), rng.choice([1, 2]), lanes=rng.choice([ONE, ALL]))])]
    if rng.random() < 0.5:
        parts += [Part(range(w), [sync(rng, w), ld(("word", 0))])]
    return Kernel(w, parts)


def in_warp(rng):
    """Lanes of one warp exchange; other warps do so elsewhere."""
    w = rng.randint(2, 3)
    ops = []
    for i in range(rng.randint(1, 3)):
        ops += [st(("buffer", "own", permutation(rng)), rng.choice(["x", "r"])), warp(), ld(("buffer", "own", permutation(rng))), warp()]
    return Kernel(w, [Part(range(w), ops[:-1])])


def clusters(rng):
    """The barrier of the cluster, which is one block."""
    w = rng.randint(2, 3)
    first, last = cluster(rng.random() < 0.3)
    ops = [st(("buffer", "own", "own"), rng.choice(["x", "r"])), first] + ([st(("buffer", "own", "own"), upper=True)] if rng.random() < 0.5 else [])
    ops += [last, ld(("buffer", "next", permutation(rng)))]
    ops += [sync(rng, w)] if rng.random() < 0.5 else cluster()
    if rng.random() < 0.5:
        ops[1:1] = [Op("noise", what=rng.choice(["membar", "fence"]))]
    if rng.random() < 0.3:  # mbarriers behind a relaxed arrival
        first, last = cluster(True)
        head = [Part([0], [init(0, w), Op("noise", what=rng.choice(["init", "fence", "init"]))]), Part(range(w), [first, last])]
        return Kernel(w, head + [Part(range(w), [ops[0], warp(), arrive(0, lanes=ONE), wait(0), ld(("buffer", "next", "own"))])])
    return Kernel(w, [Part(range(w), ops, rng.randint(1, 2))])


def relaxed(rng):
    """One mbarrier between all warps, with relaxed operations and fences."""
    w = rng.randint(2, 3)
    fenced = lambda: [Op("noise", what=rng.choice(["membar", "fence"]))]
    gives, takes = rng.choice([(True, True), (True, False), (False, True)])
    ops = [st(("buffer", "own", "own"))] + (fenced() if gives else []) + [arrive(0, relaxed=gives), wait(0, relaxed=takes)] + (fenced() if takes else [])
    return Kernel(w, prepared(rng, w, [(0, 32 * w)]) + [Part(range(w), ops + [ld(("buffer", "next", permutation(rng)))])])


def strong(rng):
    """A word of strong accesses, with barriers between some of them; it gives nothing on."""
    w = rng.randint(2, 3)
    how = lambda: rng.choice(["volatile", "relaxed", "ordered"])
    parts = [Part([0], [st(("word", 0), 1, lanes=ONE, strong=rng.choice(["", how()]))]), Part(range(w), [sync(rng, w)])]
    parts.append(Part([rng.randrange(w)], [st(("buffer", 0, "own"))] + ([warp()] if rng.random() < 0.5 else []) + [st(("word", 0), rng.choice([1, 2]), lanes=ONE, strong=how())]))
    if rng.random() < 0.7:
        parts.append(Part(range(w), [sync(rng, w)]))
    parts.append(Part([rng.randrange(w)], [ld(("word", 0), strong=how())] + ([ld(("buffer", 0, "own"))] if rng.random() < 0.5 else [])))
    return Kernel(w, parts)


def equal_values(rng):
    """Writes of one value, and a write or a read of another warp behind some of them."""
    w = rng.randint(3, 4)
    value = rng.choice([1, 1, 2])
    parts = [Part(rng.sample(range(w), rng.randint(1, w)), [st(("word", 0), value, lanes=rng.choice([ONE, ALL]))])]
    parts.append(rng.choice([Part(range(w), [sync(rng, w)]), Part([0, 1], [bar(1, 64)]), Part(range(1, w), [bar(1, 32 * (w - 1))])]))
    parts.append(Part([rng.randrange(w)], [rng.choice([st(("word", 0), rng.choice([1, 2]), lanes=ONE), ld(("word", 0))])]))
    parts.append(Part(range(w), [sync(rng, w)]))
    parts.append(Part([rng.randrange(w)], [ld(("word", 0))]))
    return Kernel(w, parts, rng.random() < 0.5)


def tokens(rng):
    """arrive, and a wait for the state that it has returned."""
    w, rounds = rng.randint(2, 4), rng.randint(1, 3)
    ops = [st(("buffer", "own", "own"), rng.choice(["x", "r"]), stage=True), arrive(0), wait(0, 0, "token"), ld(("buffer", "next", permutation(rng)), stage=True)]
    return Kernel(w, prepared(rng, w, [(0, 32 * w)], rng.randrange(w)) + [Part(range(w), ops, rounds)])


def staged_copies(rng):
    """cp.async into two buffers in turn, the wait for its group, a barrier."""
    w, rounds = rng.randint(2, 4), rng.randint(1, 3)
    if rng.random() < 0.4:
        ops = copied(("buffer", "own", permutation(rng))) + [complete(rng.choice([0, None])), sync(rng, w), ld(("buffer", "next", permutation(rng))), sync(rng, w)]
        return Kernel(w, [Part(range(w), ops, rounds)])
    ops = copied(("buffer", "own", "own"))
    for i in range(rounds):
        here, there = i % 2 == 1, i % 2 == 0
        ops += copied(("buffer", "own", "own"), upper=there) + [complete(1), sync(rng, w), ld(("buffer", "next", permutation(rng)), upper=here), sync(rng, w)]
    return Kernel(w, [Part(range(w), ops)])


def counted(rng):
    """Arrivals with counts, elected and of all lanes, at one mbarrier."""
    w = rng.randint(2, 4)
    parts, total = [], 0
    ops = []
    for i in range(w):
        n = rng.choice([1, 1, 2, 3])
        lanes = rng.choice([ONE, ONE, ALL, HALF])
        ops.append(Part([i], [st(("buffer", i, "own"))] + ([warp()] if lanes == ONE else []) + [arrive(0, n, lanes=lanes)]))
        total += n * lanes
    parts = prepared(rng, w, [(0, total)], rng.randrange(w)) + ops
    parts.append(Part([rng.randrange(w)], [wait(0), ld(("buffer", rng.randrange(w), permutation(rng)))]))
    if rng.random() < 0.5:
        parts.append(Part(range(w), [sync(rng, w)]))
        parts.append(Part(range(w), [ld(("buffer", "next", permutation(rng)))]))
    return Kernel(w, parts)


def random_op(rng, w):
    place = rng.choice([("word", rng.randrange(2)), ("buffer", "own", permutation(rng)), ("buffer", "next", permutation(rng)), ("buffer", rng.randrange(2), permutation(rng))])
    lanes = ONE if place[0] == "word" and rng.random() < 0.6 else rng.choice([ALL, ALL, ALL, HALF])
    kind = rng.randrange(12)
    if kind < 3:
        return st(place, rng.choice(["x", "r", 1, 2]) if lanes == ONE or place[0] == "buffer" else rng.choice([1, 2]), lanes=lanes)
    if kind < 6:
        return ld(place, lanes=lanes)
    if kind < 8:
        return bar(rng.choice([0, 0, 1, 2]), rng.choice([None, 32 * w, 64, 64, 96, 32]), rng.choice(["sync", "sync", "arrive", "barrier"])).changed()
    if kind == 8:
        return rng.choice([warp(), noise(rng)])
    if kind == 9:
        return arrive(rng.randrange(2), rng.choice([1, 1, 1, 2]), rng.random() < 0.2, lanes=rng.choice([ONE, ALL]))
    if kind == 10:
        return wait(rng.randrange(2), rng.choice([0, 0, 1]), relaxed=rng.random() < 0.15, lanes=rng.choice([ALL, ALL, ONE]))
    return rng.choice([init(rng.randrange(2), rng.choice([1, 2, 32, 64])), inval(rng.randrange(2)), warp(), sync(rng, w)])


def repaired(op, w):
    """bar.arrive has a count: the assembler requires one."""
    return op.changed(count=32 * w) if op.kind == "bar" and op.form == "arrive" and op.count is None else op


def pure(rng):
    """Random instructions, a barrier of all warps between them now and then."""
    w = rng.randint(2, 3)
    parts = []
    if rng.random() < 0.6:
        parts += prepared(rng, w, [(m, rng.choice([1, w, 32, 32 * w])) for m in range(rng.randint(1, 2))])
    for _ in range(rng.randint(2, 5)):
        warps = range(w) if rng.random() < 0.5 else [rng.randrange(w)]
        parts.append(Part(warps, [random_op(rng, w) for _ in range(rng.randint(1, 3))], rng.choice([1, 1, 1, 2])))
        if rng.random() < 0.6:
            parts.append(Part(range(w), [sync(rng, w)]))
    return Kernel(w, parts)


FAMILIES = {f.__name__: f for f in (exchange, stages, producer, ping_pong, named_ring, single, mbarrier_producer, reduction, pairs, multicast, in_warp, strong, clusters, relaxed,
                                    equal_values, counted, tokens, staged_copies, pure)}


def altered(rng, op, w):
    """The instruction with one field changed."""
    if op.kind == "bar":
        return rng.choice([lambda: op.changed(number=rng.choice([0, 1, 2, 3, 16] if rng.random() < 0.1 else [0, 1, 2, 3])),
                           lambda: op.changed(count=rng.choice([32, 64, 96, 128, None, 32 * w])),
                           lambda: op.changed(form=rng.choice(["sync", "arrive"])), lambda: op.changed(stage=not op.stage), warp,
                           lambda: op.changed(form="sync", lanes=HALF) if rng.random() < 0.3 else op])()
    if op.kind == "arrive":
        return rng.choice([lambda: op.changed(relaxed=not op.relaxed), lambda: op.changed(lanes=rng.choice([ALL, HALF, ONE])),
                           lambda: op.changed(n=rng.choice([1, 2, 3])), lambda: op.changed(number=rng.randrange(3)), lambda: op.changed(stage=not op.stage)])()
    if op.kind == "wait":
        return rng.choice([lambda: op.changed(relaxed=not op.relaxed), lambda: op.changed(lanes=rng.choice([ALL, HALF, ONE])),
                           lambda: op.changed(parity=1 - op.parity), lambda: op.changed(turn=rng.choice(["fixed", "round", "pair", "token"])),
                           lambda: op.changed(number=rng.randrange(3)), lambda: op.changed(stage=not op.stage)])()
    if op.kind == "init":
        return rng.choice([lambda: op.changed(count=rng.choice([1, 2, 3, 31, 32, 33, 48, 64, 96])), lambda: op.changed(lanes=ALL),
                           lambda: op.changed(number=rng.randrange(3))])()
    if op.kind in ("st", "ld"):
        return rng.choice([lambda: op.changed(place=rng.choice([("word", 0), ("buffer", "own", permutation(rng)), ("buffer", "next", permutation(rng)),
                                                                ("buffer", rng.randrange(3), permutation(rng)), ("mbarrier", 0)])),
                           lambda: op.changed(lanes=rng.choice([ALL, HALF, ONE])), lambda: op.changed(stage=not op.stage),
                           lambda: op.changed(strong="volatile" if op.place[0] == "word" and op.fields.get("value", 1) in (1, 2) else op.strong),
                           lambda: op.changed(value=rng.choice(["x", "r", 1, 2])) if op.kind == "st" else op])()
    if op.kind == "complete":
        return op.changed(pending=rng.choice([0, 1, 2, None]))
    if op.kind == "cluster_arrive":
        return op.changed(relaxed=not op.relaxed)
    if op.kind == "warp":
        return rng.choice([op.changed(lanes=HALF), noise(rng)])
    if op.kind in ("copy", "commit"):
        return op.changed(lanes=rng.choice([ALL, HALF]))
    return noise(rng)


def mutated(rng, kernel):
    """One instruction deleted, repeated, moved, exchanged with its neighbour, altered or added; or warps or rounds of a part changed."""
    k = copy.deepcopy(kernel)
    parts = [p for p in k.parts if p.ops]
    if not parts:
        return k
    part = rng.choice(parts)
    i = rng.randrange(len(part.ops))
    choice = rng.randrange(12)
    if choice < 2:
        del part.ops[i]
    elif choice == 2:
        part.ops.insert(i, part.ops[i].changed())
    elif choice == 3:
        op = part.ops.pop(i)
        part.ops.insert(rng.randint(0, len(part.ops)), op)
    elif choice == 4:
        op = part.ops.pop(i)
        other = rng.choice(parts)
        other.ops.insert(rng.randint(0, len(other.ops)), op)
    elif choice < 9:
        part.ops[i] = altered(rng, part.ops[i], k.warps)
    elif choice == 9:
        part.ops.insert(rng.randint(0, len(part.ops)), random_op(rng, k.warps))
    elif choice == 10:
        part.warps = tuple(sorted(rng.sample(range(k.warps), rng.randint(1, k.warps))))
    else:
        part.rounds = max(1, part.rounds + rng.choice([-1, 1]))
    return k


def drawn(rng):
    """A family and a kernel of it."""
    name = rng.choice(list(FAMILIES))
    kernel = FAMILIES[name](rng)
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        kernel = mutated(rng, kernel)
    for part in kernel.parts:
        part.ops = [repaired(op, kernel.warps) for op in part.ops]
        part.rounds = min(part.rounds, 4)
    kernel.same_values = kernel.same_values or rng.random() < 0.1
    if rng.random() < 0.1:
        kernel.half = True
        for part in kernel.parts:
            part.ops = [op.changed(count=kernel.threads()) if op.kind == "init" and op.count == 32 * kernel.warps else op for op in part.ops]
    return name, kernel


# ---------------------------------------------------------------- questions


def values_of(kernel, log):
    """Name of an element -> its value, as the command writes it."""
    out, threads = {}, 32 * kernel.warps
    for w in range(kernel.warps):
        for slot, values in enumerate(log[w]):
            for l, value in enumerate(values):
                out[f"y[{slot * threads + w * 32 + LANES[l]}]"] = f"x[{value[1]}]" if value[0] == "x" else str(value[1])
    return out


if __name__ == "__main__":
    sys.exit(run_cases("flow_order", options_of(200), drawn, Orders, Text, values_of))
