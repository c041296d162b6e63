#!/usr/bin/env python3
"""races_lifetimes.py --binary swizproof --cases N --seed S: mbarriers of one phase that are initialised again, in `kernel --races` against a model that runs small blocks in random orders.

A kernel has one to four lifetimes of mbarriers at one to three addresses, in a loop or not: mbarrier.init, a tile that threads store, tcgen05.mma of a lane of warp 0 with its tcgen05.commit, or bulk copies with
mbarrier.arrive.expect_tx, a wait of all threads, mbarrier.inval, and in some kernels data at the bytes of the mbarrier. Three of four kernels have flaws: a barrier, a wait, an arrival, an mbarrier.inval, a guard,
a parity, a number of bytes or an order that is wrong, missing or twice, threads that leave early. The model is that of races_rings.py: random orders of threads, copies and arrivals, with a clock for each. It checks
each pair of accesses to a byte, and that no mbarrier is used behind mbarrier.inval or initialised twice. What is proved has neither in any of these orders, but for arrivals behind mbarrier.inval that an answer assumes away: of rings. How many kernels without flaws are proved is counted.
"""
import collections
import random
import sys

from asking import batches_of, options_of, races_of
from races_rings import DESCRIPTOR, INSTRUCTION, Block, Misuse, Writer, whole

MBARRIERS, COPIED = 4096, 2048
THREADS = [0, 1, 2, 32, 33]
FLAWS = ("no barrier behind init", "no barrier behind fill", "no barrier behind wait", "no barrier behind inval", "no wait", "some wait", "parity", "relaxed", "no inval", "other inval", "other init", "some init", "init behind branch",
         "two commits", "no commit", "early commit", "other commit", "bytes", "twice", "late use", "data", "early fill", "leave", "skip", "count", "again", "inner", "old")


class Kernel(Writer):
    """A random kernel: its text, and what a thread does as a list of statements (races_rings.run)."""

    def __init__(self, rng, name):
        super().__init__()
        self.rng, self.name, self.body, self.has, self.last = rng, name, [], set(), None
        self.flaws = set(rng.sample(FLAWS, rng.choice([1, 1, 2]))) if rng.random() < 0.75 else set()
        self.loops = rng.random() < 0.6
        self.close = rng.random() < 0.3  # no barrier between mbarrier.init and the commit of the leader
        slots = [8 * rng.randrange(3) for _ in range(rng.choice([1, 2, 2, 3, 4]))]
        if self.flaw("leave"):
            self.branch("setp.lt.u32 {p}, %t, %n", lambda: self.lines.append("ret;"))
            self.body.append(("leave", lambda e: e["t"] < e["n"]))
        if self.loops:
            label, p = self.label(), self.predicate()
            self.emit(f"mov.u32 %i, 0;\n{label}:")
            inside = [one for k, slot in enumerate(slots) for one in self.life(slot, k)]
            self.emit(f"add.u32 %i, %i, 1;\nsetp.lt.u32 {p}, %i, %n;\n@{p} bra {label};")
            inside.append(("set", "i", lambda e: e["i"] + 1))
            self.body.append(("do", inside, lambda e: e["i"] < e["n"]))
        else:
            self.emit("mov.u32 %i, 0;")
            for k, slot in enumerate(slots):
                self.body += self.life(slot, k)

    def flaw(self, name):
        """True for a flaw that the kernel has, at each of its places with a chance."""
        if name in self.flaws and self.rng.random() < 0.6:
            self.has.add(name)
            return True
        return False

    def branch(self, test, body_of):
        """Statements that are executed where a test is true."""
        p, label = self.predicate(), self.label()
        self.emit(test.format(p=p) + f";\n@!{p} bra {label};")
        inside = body_of()
        self.emit(f"{label}:")
        return inside

    def barrier(self, missing=None):
        if missing and self.flaw(missing):
            return []
        self.emit("bar.sync 0;")
        return [("op", "barrier")]

    def where(self, slot):
        at = MBARRIERS + slot
        return f"memory+{at}", lambda e: at

    def guarded(self, text, what, thread=0, every=True):
        """An instruction of one thread; in all iterations, or in the first alone."""
        p = self.predicate()
        self.emit(f"setp.eq.u32 {p}, %t, {thread};")
        if not every:
            q = self.predicate()
            self.emit(f"setp.eq.u32 {q}, %i, 0;\nand.pred {p}, {p}, {q};")
        self.emit(f"@{p} {text}")
        return [("if", lambda e: e["t"] == thread and (every or e["i"] == 0), what)]

    def life(self, slot, number):
        bar, at = self.where(slot)
        copies, out = self.rng.random() < 0.3, []
        fill = [] if copies else self.fill(slot)
        out += fill + self.initialise(bar, at, slot)
        close = self.close and not copies
        if not close:
            out += self.barrier("no barrier behind init")
        if self.flaw("skip"):
            q = self.rng.choice(["%t", "%i"])
            out.append(("if", lambda e: e[q[1:]] != 1, self.branch("setp.ne.u32 {p}, " + q + ", 1", lambda: self.issue(bar, at, copies))))
        else:
            out += self.issue(bar, at, copies)
        if close:
            out += self.barrier("no barrier behind init")
        if self.flaw("early fill"):
            out += self.store(lambda e: 4 * e["t"], "shl.b32 {r}, %t, 2;")
        out += self.wait(bar, at)
        if copies:
            r = self.new()
            self.emit(f"shl.b32 {r}, %t, 2;\nadd.u32 {r}, {r}, %m;\nld.shared.u32 %s, [{r}+{COPIED}];")
            out.append(("op", "access", lambda e: "ld", lambda e: COPIED + 4 * e["t"], lambda e: 4))
        out += self.barrier("no barrier behind wait")
        if not self.flaw("no inval"):
            who = self.rng.choice([1, 32]) if self.flaw("other inval") else 0
            out += self.guarded(f"mbarrier.inval.shared::cta.b64 [{bar}];", [("op", "inval", at)], who)
        data = self.rng.random() < 0.3
        if data and not self.flaw("data"):
            out += self.barrier()
        if data:
            r = self.new()
            self.emit(f"and.b32 {r}, %t, 1;\nshl.b32 {r}, {r}, 2;\nadd.u32 {r}, {r}, %m;\nld.shared.u32 %s, [{r}+{MBARRIERS + slot}];")
            out.append(("op", "access", lambda e: "ld", lambda e: MBARRIERS + slot + 4 * (e["t"] & 1), lambda e: 4))
        if self.flaw("late use"):
            out += self.wait(bar, at)
        return out + (self.barrier("no barrier behind inval") if data or self.rng.random() < 0.6 else [])

    def store(self, address, text):
        r = self.new()
        self.emit(text.format(r=r) + f"\nadd.u32 {r}, {r}, %m;\nst.shared.u32 [{r}], %t;")
        return [("op", "access", lambda e: "st", address, lambda e: 4)]

    def fill(self, slot):
        out = self.store(lambda e: 4 * e["t"], "shl.b32 {r}, %t, 2;")
        self.emit("fence.proxy.async.shared::cta;")
        return out + self.barrier("no barrier behind fill")

    def initialise(self, bar, at, slot):
        count = 2 if self.flaw("count") else 1
        text, what = f"mbarrier.init.shared::cta.b64 [{bar}], {count};", [("op", "init", at, lambda e: count)]
        if self.flaw("init behind branch"):
            return [("if", lambda e: e["t"] == 0, self.branch("setp.eq.u32 {p}, %t, 0", lambda: self.emit(text) or what))]
        who = self.rng.choice([1, 32]) if self.flaw("other init") else 0
        every = not self.flaw("some init")
        out = self.guarded(text, what, who, every)
        return out + (self.guarded(text, what, who, every) if self.flaw("again") else [])

    def issue(self, bar, at, copies):
        if copies:
            expected, out = 256 - (16 if self.flaw("bytes") else 0), []
            self.emit(f"mov.u32 %s, {COPIED};")
            text = f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [memory+{COPIED}], [%rd], 256, [{bar}];"
            copy = ("op", "copy", lambda e: COPIED, lambda e: 256, at)
            out += self.guarded(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], {expected};", [("op", "arrive", at, lambda e: expected)])
            for _ in range(2 if self.flaw("twice") else 1):
                out += self.guarded(text, [copy])
            return out
        p, label = self.predicate(), self.label()
        self.emit(f"setp.ge.u32 {p}, %t, 32;\n@{p} bra {label};\nelect.sync %s|%pe, 0xffffffff;")
        mma = "@%pe tcgen05.mma.cta_group::1.kind::f16 [%s], %rm, %rm, %idesc, %pm;"
        commit = f"@%pe tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [{bar}];"
        leads, inside = (lambda e: e["t"] == e["leader"]), []

        def multiply():
            self.emit(mma)
            return [("if", leads, [("op", "mma", lambda e: 0, lambda e: 128)])]

        def arrive():
            if self.flaw("other commit"):
                who = self.rng.choice([0, 1, 2])
                return self.guarded(commit[5:], [("op", "commit", at)], who)
            self.emit(commit)
            return [("if", leads, [("op", "commit", at)])]

        if self.flaw("early commit"):
            inside = arrive() + multiply()
        elif self.flaw("inner"):
            q, again = self.predicate(), self.label()
            self.emit(f"mov.u32 %j, 0;\n{again}:")
            body = multiply() + arrive()
            self.emit(f"add.u32 %j, %j, 1;\nsetp.lt.u32 {q}, %j, %n;\n@{q} bra {again};")
            inside = [("set", "j", lambda e: 0), ("do", body + [("set", "j", lambda e: e["j"] + 1)], lambda e: e["j"] < e["n"])]
        else:
            inside = multiply()
            if not self.flaw("no commit"):
                inside += arrive()
            if self.flaw("two commits"):
                inside += arrive()
        self.emit(f"{label}:")
        return [("if", lambda e: e["t"] < 32, inside)]

    def wait(self, bar, at):
        if self.flaw("no wait"):
            return []
        parity, relaxed = int(self.flaw("parity")), self.flaw("relaxed")

        def loop():
            p, label = self.predicate(), self.label()
            self.emit(f"{label}:\nmbarrier.try_wait.parity{'.relaxed.cta' if relaxed else ''}.shared::cta.b64 {p}, [{bar}], {parity};\n@!{p} bra {label};")
            self.last = p
            return [("op", "wait", at, lambda e: parity, lambda e: relaxed)]

        if self.last and self.flaw("old"):  # what the last wait gave
            label = self.label()
            self.emit(f"{label}:\n@!{self.last} bra {label};")
            return []
        if self.flaw("some wait"):
            return [("if", lambda e: e["t"] != 1, self.branch("setp.ne.u32 {p}, %t, 1", loop))]
        return loop()

    def ptx(self):
        body = "\n".join(self.lines)
        return (f".visible .entry {self.name}(.param .u32 n, .param .u64 p)\n.reqntid 64, 1, 1\n{{\n.reg .pred %p<{self.predicates + 1}>, %pm, %pe;\n.reg .b32 %r<{self.registers + 1}>, %s, %t, %n, %i, %j, %m, %idesc;\n.reg .b64 %rd, %rm;\n"
                f".shared .align 1024 .b8 memory[8192];\nld.param.u64 %rd, [p];\nld.param.u32 %n, [n];\nmov.u32 %t, %tid.x;\nmov.u32 %m, memory;\nsetp.eq.u32 %pm, %t, 99;\nmov.u32 %idesc, {INSTRUCTION};\nmov.u32 %s, 0;\n"
                f"shr.u32 %i, %m, 4;\ncvt.u64.u32 %rm, %i;\nor.b64 %rm, %rm, {DESCRIPTOR};\n{body}\nret;\n}}\n")


class Lives(Block):
    """One order of a block's threads, copies and arrivals, with the ends of lifetimes."""

    def __init__(self, kernel, n, rng, leader, trusts):
        super().__init__(kernel, n, rng, THREADS)
        self.trusts = trusts  # copies and arrivals are assumed to be complete at mbarrier.inval
        for t in THREADS:
            self.threads[t] = whole(kernel.body, {"t": t, "n": n, "i": 0, "j": 0, "leader": leader})
        self.ended = set()  # addresses behind mbarrier.inval

    def touch(self, t, clock, at):
        super().touch(t, clock, at)
        for word in (at // 4, at // 4 + 1):
            self.seen[word][t, False] = clock[t]

    def use(self, at):
        if at in self.ended:
            self.race = self.race or f"the mbarrier at {at} is used behind mbarrier.inval"

    def complete(self, copy):
        bytes_at, size, at, clock = copy
        self.number += 1
        own = {**clock, self.number: 1}
        if not self.trusts:
            self.use(at)
            self.touch(self.number, own, at)
        super().complete((bytes_at, size, at, own))

    def do(self, t, op):
        kind = op[0]
        at = {"copy": 3}.get(kind, 1)
        if kind in ("arrive", "wait", "commit", "copy"):
            self.use(op[at])
        if kind in ("init", "inval"):
            for other, next_op in self.next.items():
                if other != t and next_op and next_op[0] == "wait" and next_op[1] == op[1]:
                    self.race = self.race or f"{kind} of the mbarrier at {op[1]}, for which {other} waits"
        if kind == "inval":
            self.use(op[1])
            self.clocks[t][t] += 1
            self.access(t, self.clocks[t], True, op[1], 8)
            self.barriers.pop(op[1], None)
            self.ended.add(op[1])
            return
        if kind == "init":
            if self.barriers.get(op[1]):
                self.race = self.race or f"the mbarrier at {op[1]} is initialised twice"
            self.ended.discard(op[1])
        super().do(t, op)


def complaint(kernel, rng, leads, trusts):
    """What an order of the threads has that a proof excludes; nothing if none has."""
    for _ in range(10):
        n = rng.choice([0, 1, 2, 2, 3, 4])
        block = Lives(kernel, n, rng, 0 if leads else rng.choice([0, 1, 2]), trusts)
        try:
            block.go()
        except Misuse:
            return f"n = {n}: a phase has more arrivals than it counts"
        if block.race:
            return f"n = {n}: {block.race}"
    return None


def main():
    given = options_of(__doc__, 100)
    counts, reasons, flaws, wrong = collections.Counter(), collections.Counter(), collections.Counter(), 0
    for kernels in batches_of(given, Kernel):
        answers = races_of(given.binary, kernels)
        for kernel in kernels:
            answer = answers[kernel.name]
            assumed = " ".join(answer.get("assumed", []))
            leads, trusts = "elects lane 0" in assumed, "are complete by then" in assumed
            found = complaint(kernel, random.Random(f"{given.seed} {kernel.name} orders"), leads or not kernel.has, trusts)
            kind = "flawed" if kernel.has else "sound"
            counts[kind, answer["verdict"]] += 1
            counts["race found"] += bool(found)
            for name in kernel.has if found else ():
                flaws[name] += 1
            if kind == "sound" and answer["verdict"] != "proved":
                reasons[(answer["reason"] or "")[:150]] += 1
            if found and (answer["verdict"] == "proved" or kind == "sound"):
                wrong += 1
                print(f"seed {given.seed}, {kernel.name}, {kind} {sorted(kernel.has)}: {answer['verdict']}, but {found}\n{kernel.ptx()}")
    print(f"{given.cases} kernels, {counts['race found']} with a race in some order; " + ", ".join(f"{k} {v}: {counts[k, v]}" for k in ("sound", "flawed") for v in ("proved", "refuted", "unknown")) + f"; {wrong} wrong")
    for reason, times in reasons.most_common(8):
        print(f"  {times} sound ones undecided: {reason}")
    if wrong or not counts["sound", "proved"] or not counts["race found"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
