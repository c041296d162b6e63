#!/usr/bin/env python3
"""races_rings.py --binary swizproof --cases N --seed S: rings of mbarriers in `kernel --races` against a model that runs small blocks in random orders.

A kernel has a ring of 1 to 4 stages: producers fill a stage by bulk copies or by stores, consumers read it, and mbarriers `full` and `empty` pass it between them. Producers and consumers
are threads of their own, or one thread of the consumers fills ahead, as in CUTLASS's tutorial. Half of the kernels have flaws: a wait, a parity, a count, a number of bytes, a stage, an arrival, a barrier that is
wrong, missing or twice, a second producer, an access too early or too late, a thread that leaves early. In some kernels a thread of tcgen05.mma reads the stages and tcgen05.commit arrives
for it, bytes are expected by an instruction of their own, tcgen05.alloc writes a word that all read, or the first lane gives the number of the warp. The model is written from the PTX ISA's text on mbarriers: it runs all threads that do anything in random orders, completes copies at random times, and follows
happens-before with a clock for each thread and each copy. A wait is behind the arrivals and copies of the last complete phase of its parity alone. What is proved has no race and no arrival
too many in any of these orders. How many kernels without flaws are proved is counted.
"""
import collections
import random
import sys

from asking import batches_of, options_of, races_of

BASE, BARRIERS, SLOT, MASK = 1024, 6144, 7168, 0xffffffff
DESCRIPTOR, INSTRUCTION = 1 << 46, 4 << 24 | 1 << 17 | 1 << 4  # no swizzle, all rows at one place: 128 bytes; 64 rows of A, 8 of B
FLAWS = ("parity", "no wait", "count", "bytes", "offset", "early", "some", "no flip", "wrap", "producers", "twice", "no barrier", "late", "start", "length", "gap", "again", "leave", "token", "plain", "expected late", "allocated late", "shuffle")


class Leaves(Exception):
    """A thread ends."""


class Misuse(Exception):
    """More arrivals in a phase than it counts."""


class Writer:
    """Lines of PTX, and registers."""

    def __init__(self):
        self.lines, self.registers, self.predicates, self.labels = [], 0, 0, 0

    def emit(self, text):
        self.lines.append(text)

    def new(self):
        self.registers += 1
        return f"%r{self.registers}"

    def predicate(self):
        self.predicates += 1
        return f"%p{self.predicates}"

    def label(self):
        self.labels += 1
        return f"$L{self.labels}"


class Kernel(Writer):
    """A random kernel: its text, and what a thread does as a list of statements. ("op", name, f..) yields a tuple; ("if", f, body); ("do", body, goes_on)."""

    def __init__(self, rng, name):
        super().__init__()
        self.rng, self.name = rng, name
        self.flaws = set(rng.sample(FLAWS, rng.choice([1, 1, 1, 2]))) if rng.random() < 0.5 else set()
        self.has, self.tail = set(), False  # flaws that it has; a read at the end
        self.same = rng.random() < 0.35
        self.stages = rng.choice([1, 2, 2, 3, 4])
        self.consumers = rng.choice([1, 2, 3])
        self.plain = not self.same and rng.random() < 0.3
        self.producers = rng.choice([1, 2]) if self.plain else 1
        self.tensor = not self.plain and self.consumers == 1 and rng.random() < 0.5
        self.apart_bytes, self.allocates = rng.random() < 0.3, rng.random() < 0.3
        self.size = 128 if self.plain or self.tensor else rng.choice([16, 64, 128])
        self.copies = rng.choice([1, 1, 2])
        self.interleaved = rng.random() < 0.5
        self.by_warp = not self.same and rng.random() < 0.4  # the first lane of a warp gives its number
        self.first_consumer = 0 if self.same else 32
        self.body = []
        self.build()

    def flaw(self, name):
        """True for a flaw that the kernel has, at each of its places with a chance."""
        if name in self.flaws and self.rng.random() < 0.7:
            self.has.add(name)
        return name in self.has and name in self.flaws and self.rng.random() < 0.9

    # ------------------------------------------------------------------------------------- parts

    def guarded(self, test, holds, body_of):
        """Statements of the threads for which holds(e) is true; test: a comparison with a number, which is true for the others."""
        p, label = self.predicate(), self.label()
        register, comparison, number = test
        self.emit(f"setp.{comparison}.u32 {p}, {register}, {number};\n@{p} bra {label};")
        inside = body_of()
        self.emit(f"{label}:")
        return ("if", holds, inside)

    def barrier_at(self, kind, stage):
        """A register with the address of an mbarrier. stage: a name of a variable, or a number."""
        where = self.new()
        scale, offset = (16, 8 * (kind == "empty")) if self.interleaved else (8, 64 * (kind == "empty"))
        if isinstance(stage, int):
            self.emit(f"mov.u32 {where}, memory;\nadd.u32 {where}, {where}, {BARRIERS + scale * stage + offset};")
            return where, lambda e: BARRIERS + scale * stage + offset
        self.emit(f"mul.lo.u32 {where}, {stage}, {scale};\nadd.u32 {where}, {where}, memory;")
        return f"{where}+{BARRIERS + offset}", lambda e: BARRIERS + scale * e[stage] + offset & MASK

    def wait(self, kind, stage, parity):
        if self.flaw("no wait"):
            return []
        where, at = self.barrier_at(kind, stage)
        p, label = self.predicate(), self.label()
        form = self.rng.choice(["try_wait", "test_wait"])
        relaxed = self.flaw("token")
        self.emit(f"{label}:\nmbarrier.{form}.parity{'.relaxed.cta' if relaxed else ''}.shared::cta.b64 {p}, [{where}], {parity};")
        if self.rng.random() < 0.3:
            word, q = self.new(), self.predicate()
            self.emit(f"selp.b32 {word}, 1, 0, {p};\nsetp.eq.u32 {q}, {word}, 0;\n@{q} bra {label};")
        else:
            self.emit(f"@!{p} bra {label};")
        value = (lambda e: parity) if isinstance(parity, int) else (lambda e: e[parity] & 1)
        return [("op", "wait", at, value, lambda e: relaxed)]

    def arrive(self, kind, stage, expected=None):
        where, at = self.barrier_at(kind, stage)
        if expected is None:
            self.emit(f"mbarrier.arrive.shared::cta.b64 _, [{where}];")
        else:
            self.emit(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{where}], {expected};")
        return [("op", "arrive", at, lambda e: expected)]

    def stage_address(self, stage, offset, of_thread=False):
        where = self.new()
        pitch = self.size * self.copies
        wrong = self.rng.choice([16, -16, pitch]) if self.flaw("offset") else 0
        if isinstance(stage, int):
            self.emit(f"mov.u32 {where}, {stage * pitch};")
        else:
            self.emit(f"mul.lo.u32 {where}, {stage}, {pitch};")
        if of_thread:
            self.emit(f"mad.lo.u32 {where}, %role, 4, {where};")
        self.emit(f"add.u32 {where}, {where}, memory;\nadd.u32 {where}, {where}, {1024 + offset + wrong};")
        shift = 0
        if self.by_warp:  # %z is 0, and %w the number of the warp
            shift = 64 if self.flaw("shuffle") else 0
            self.emit(f"mad.lo.u32 {where}, {'%w' if shift else '%z'}, 64, {where};")
        number = (lambda e: stage) if isinstance(stage, int) else (lambda e: e[stage])
        return where, lambda e: 1024 + offset + wrong + number(e) * pitch + (4 * e["role"] if of_thread else 0) + shift * (e["t"] // 32) & MASK

    def at_some(self, counter, number, body_of):
        """Statements of iterations whose low bit is not this number."""
        p, label, bit = self.predicate(), self.label(), self.new()
        self.emit(f"and.b32 {bit}, {counter}, 1;\nsetp.eq.u32 {p}, {bit}, {number};\n@{p} bra {label};")
        inside = body_of()
        self.emit(f"{label}:")
        return [("if", lambda e: e[counter] & 1 != number, inside)]

    def fill(self, stage):
        """What a producer does with its stage, with the arrival at `full`."""
        out = []
        if self.plain:
            where, at = self.stage_address(stage, 0, True)
            self.emit(f"st.shared.u32 [{where}], 1;")
            out.append(("op", "access", lambda e: "st", at, lambda e: 4))
            return out + self.arrive("full", stage)
        total = self.size * self.copies
        expected = total + self.rng.choice([16, -16]) if self.flaw("bytes") else total
        before = self.rng.random() < 0.6
        if before:
            out += self.expect(stage, expected) if self.apart_bytes else self.arrive("full", stage, expected)
        bar, bar_at = self.barrier_at("full", stage)
        for k in range(self.copies + (1 if self.flaw("twice") else 0)):
            where, at = self.stage_address(stage, self.size * min(k, self.copies - 1))
            self.emit(f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{where}], [%rd], {self.size}, [{bar}];")
            out.append(("op", "copy", at, lambda e: self.size, bar_at))
        if self.apart_bytes:
            late = not before and self.flaw("expected late")
            bytes_first = [] if before or late else self.expect(stage, expected)
            out += bytes_first + self.arrive("full", stage)
            return out + (self.expect(stage, expected) if late else [])
        if not before:
            out += self.arrive("full", stage, expected)
        return out

    def expect(self, stage, expected):
        where, at = self.barrier_at("full", stage)
        self.emit(f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{where}], {expected};")
        return [("op", "expect", at, lambda e: expected)]

    def multiply(self, stage):
        """tcgen05.mma: A and B are the same 128 bytes."""
        where, at = self.stage_address(stage, self.size * self.rng.randrange(self.copies))
        self.emit(f"shr.u32 {where}, {where}, 4;\nand.b32 {where}, {where}, 0x3fff;\ncvt.u64.u32 %rm, {where};\nor.b64 %rm, %rm, {DESCRIPTOR};\n"
                  "tcgen05.mma.cta_group::1.kind::f16 [%s], %rm, %rm, %idesc, %pm;")
        return [("op", "mma", at, lambda e: 128)]

    def read(self, stage):
        if self.tensor:
            return [one for _ in range(self.rng.choice([1, 1, 2])) for one in self.multiply(stage)]
        out = []
        for _ in range(self.rng.choice([1, 1, 2])):
            offset = self.rng.randrange(0, self.size * self.copies, 4) if not self.plain else 4 * self.rng.randrange(self.producers)
            where, at = self.stage_address(stage, offset)
            self.emit(f"ld.shared.u32 %s, [{where}];")
            out.append(("op", "access", lambda e: "ld", at, lambda e: 4))
        return out

    def release(self, stage, counter):
        arrive = self.commit if self.tensor and not self.flaw("plain") else lambda where: self.arrive("empty", where)
        if self.flaw("some"):
            return self.at_some(counter, 0, lambda: arrive(stage))
        return arrive(stage)

    def commit(self, stage):
        where, at = self.barrier_at("empty", stage)
        self.emit(f"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [{where}];")
        return [("op", "commit", at)]

    def allocate(self):
        """By warp 1: any of its lanes writes the word."""
        def alloc():
            self.emit(f"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [memory+{SLOT}], 32;")
            return [("if", lambda e: e["t"] == e["writer"], [("op", "access", lambda e: "st", lambda e: SLOT, lambda e: 4)])]
        self.body.append(self.guarded(("%t", "lt", 32), lambda e: e["t"] >= 32, alloc))

    def consume(self, stage, parity, counter):
        waits = self.wait("full", stage, parity)
        if self.flaw("again"):
            waits += self.wait(self.rng.choice(["full", "full", "empty"]), stage, parity)
        if self.flaw("leave"):
            p = self.predicate()
            self.emit(f"setp.eq.u32 {p}, {counter}, 2;\n@{p} ret;")
            waits.append(("leave", lambda e: e[counter] == 2))
        if self.flaw("early"):
            return waits + self.release(stage, counter) + self.read(stage)
        out = waits + self.read(stage) + self.release(stage, counter)
        return out + (self.read(stage) if self.flaw("late") else [])

    def set(self, name, text, f):
        self.emit(text)
        return ("set", name, f)

    def position(self, first_stage, first_parity, counter):
        """Registers with a stage and a parity: statements before a loop, those at the beginning of an iteration, and those that go on to the next stage. counter: one that
        begins with 0, or nothing."""
        s, p = self.new(), self.new()
        first_parity ^= 1 if self.flaw("parity") else 0
        first_stage = (first_stage + 1) % self.stages if self.flaw("start") else first_stage
        wrap = self.stages + 1 if self.flaw("wrap") else self.stages
        flips = not self.flaw("no flip")
        if counter and first_stage == 0 and self.stages in (1, 2, 4) and wrap == self.stages and flips and self.rng.random() < 0.4:
            log = self.stages.bit_length() - 1
            each = lambda: [self.set(s, f"and.b32 {s}, {counter}, {self.stages - 1};", lambda e: e[counter] & self.stages - 1),
                            self.set(p, f"shr.u32 {p}, {counter}, {log};\nxor.b32 {p}, {p}, {first_parity};\nand.b32 {p}, {p}, 1;", lambda e: (e[counter] >> log ^ first_parity) & 1)]
            return s, p, lambda: [], each, lambda: []
        before = lambda: [self.set(s, f"mov.u32 {s}, {first_stage};", lambda e: first_stage), self.set(p, f"mov.u32 {p}, {first_parity};", lambda e: first_parity)]

        def advance():
            q, bit = self.predicate(), self.new()
            self.emit(f"add.u32 {s}, {s}, 1;\nsetp.eq.u32 {q}, {s}, {wrap};\nselp.u32 {s}, 0, {s}, {q};" + (f"\nselp.u32 {bit}, 1, 0, {q};\nxor.b32 {p}, {p}, {bit};" if flips else ""))

            def go(e):
                e[s] = e[s] + 1 & MASK
                if e[s] == wrap:
                    e[s] = 0
                    if flips:
                        e[p] ^= 1
            return [("go", go)]

        return s, p, before, lambda: [], advance

    def loop(self, counter, limit, inside_of):
        label, p = self.label(), self.predicate()
        self.emit(f"mov.u32 {counter}, 0;\n{label}:")
        inside = inside_of()
        self.emit(f"add.u32 {counter}, {counter}, 1;\nsetp.lt.u32 {p}, {counter}, {limit};\n@{p} bra {label};")
        step = ("go", lambda e: e.__setitem__(counter, e[counter] + 1))
        ends = (lambda e: limit) if isinstance(limit, int) else (lambda e: e[limit])
        return [("set", counter, lambda e: 0), ("do", inside + [step], lambda e: e[counter] < ends(e))]

    # ------------------------------------------------------------------------------------- the kernel

    def build(self):
        rng = self.rng
        counts = {"full": self.producers, "empty": self.consumers}
        for kind in counts:
            if self.flaw("count"):
                counts[kind] = max(1, counts[kind] + rng.choice([1, -1]))

        def init():
            out = []
            for stage in range(self.stages):
                for kind in ("full", "empty"):
                    where, at = self.barrier_at(kind, stage)
                    self.emit(f"mbarrier.init.shared::cta.b64 [{where}], {counts[kind]};")
                    out.append(("op", "init", at, lambda e, kind=kind: counts[kind]))
            return out

        self.body.append(self.guarded(("%t", "ne", 0), lambda e: e["t"] == 0, init))
        late = self.allocates and self.flaw("allocated late")
        if self.allocates and not late:
            self.allocate()
        if not self.flaw("no barrier"):
            self.emit("bar.sync 0;")
            self.body.append(("op", "barrier"))
        if late:
            self.allocate()
        if self.allocates:
            self.emit(f"ld.shared.u32 %s, [memory+{SLOT}];")
            self.body.append(("op", "access", lambda e: "ld", lambda e: SLOT, lambda e: 4))
        (self.together if self.same else self.apart)()
        if rng.random() < 0.2:
            self.emit("bar.sync 0;")
            self.body.append(("op", "barrier"))
            self.tail = True
            where, at = self.stage_address(0, 0)
            self.emit(f"ld.shared.u32 %s, [{where}];")
            self.body.append(("op", "access", lambda e: "ld", at, lambda e: 4))

    def apart(self):
        rng = self.rng
        limit = rng.choice(["%n", "%n", rng.randrange(1, 9)])
        longer = self.flaw("length")
        producers = self.producers + (1 if self.flaw("producers") else 0)

        def produce():
            counter = self.new()
            s, p, before, each, advance = self.position(0, 1, counter)
            start = before()
            filling = lambda: self.wait("empty", s, p) + self.fill(s)
            some = self.flaw("gap")
            body = self.loop(counter, limit, lambda: each() + (self.at_some(counter, self.rng.randrange(2), filling) if some else filling()) + advance())
            return start + body

        def consume():
            counter = self.new()
            s, p, before, each, advance = self.position(0, 0, counter)
            start = before()
            ends = limit + 2 if longer and isinstance(limit, int) else limit
            return start + self.loop(counter, ends, lambda: each() + self.consume(s, p, counter) + advance())

        roles = [lambda: self.guarded(("%t", "ge", producers), lambda e: e["t"] < producers, produce),
                 lambda: self.guarded(("%role", "ge", self.consumers), lambda e: e["role"] < self.consumers, consume) if rng.random() < 0.5 else
                 self.guarded(("%c", "ge", self.consumers), lambda e: 32 <= e["t"] < 32 + self.consumers, consume)]
        # %role is the number of a thread in its warp: the first threads of warp 0 are producers, those of warp 1 consumers.
        p, label, end = self.predicate(), self.label(), self.label()
        self.emit(f"setp.ge.u32 {p}, {'%w, 1' if self.by_warp else '%t, 32'};\n@{p} bra {label};")
        first = roles[0]()
        self.emit(f"bra {end};\n{label}:")
        second = roles[1]()
        self.emit(f"{end}:")
        self.body += [("if", lambda e: e["t"] < 32, [first]), ("if", lambda e: e["t"] >= 32, [second])]

    def together(self):
        """All consumers, where thread 0 fills the first stages, and then each one behind its release."""
        rng = self.rng
        limit = rng.choice(["%n", rng.randrange(1, 9)])
        ahead = rng.randrange(1, self.stages + 1)
        only_first = not self.flaw("producers")

        def filling(body_of):
            if only_first:
                return [self.guarded(("%t", "ne", 0), lambda e: e["t"] == 0, body_of)]
            return body_of()

        def consume():
            counter = self.new()
            start = filling(lambda: [one for k in range(ahead) for one in self.fill(k)])
            s, p, before, each, advance = self.position(0, 0, counter)
            w, q, before_fill, _, next_fill = self.position(ahead % self.stages, 0 if ahead == self.stages else 1, None)
            start += before() + before_fill()

            def behind():
                # while there is more to fill
                more, label = self.predicate(), self.label()
                left = self.new()
                self.emit(f"add.u32 {left}, {counter}, {ahead};\nsetp.ge.u32 {more}, {left}, {limit};\n@{more} bra {label};")
                inside = self.wait("empty", w, q) + self.fill(w) + next_fill()
                self.emit(f"{label}:")
                ends = (lambda e: limit) if isinstance(limit, int) else (lambda e: e[limit])
                return [("if", lambda e: e[counter] + ahead < ends(e), inside)]

            return start + self.loop(counter, limit, lambda: each() + self.consume(s, p, counter) + filling(behind) + advance())

        self.body.append(self.guarded(("%t", "ge", self.consumers), lambda e: e["t"] < self.consumers, consume))

    def ptx(self):
        body = "\n".join(self.lines)
        return (f".visible .entry {self.name}(.param .u32 n, .param .u64 p)\n.reqntid 64, 1, 1\n{{\n.reg .pred %p<{self.predicates + 1}>;\n.reg .b32 %r<{self.registers + 1}>, %s, %t, %c, %n, %role, %idesc, %w, %z;\n.reg .pred %pm;\n"
                f".reg .b64 %rd, %rm;\n.shared .align 1024 .b8 memory[8192];\nld.param.u64 %rd, [p];\nld.param.u32 %n, [n];\nmov.u32 %t, %tid.x;\nsub.u32 %c, %t, 32;\nand.b32 %role, %t, 31;\nshr.u32 %z, %t, 5;\nshfl.sync.idx.b32 %w, %z, 0, 31, -1;\nsub.u32 %z, %w, %z;\nmov.b32 %idesc, {INSTRUCTION};\nsetp.eq.u32 %pm, %n, 0;\n{body}\nret;\n}}\n")


# ----------------------------------------------------------------------------------------- the model

def whole(body, e):
    """What a thread does to its end."""
    try:
        yield from run(body, e)
    except Leaves:
        pass


def run(body, e):
    """What a thread does, as a generator of operations."""
    for one in body:
        if one[0] == "leave":
            if one[1](e):
                raise Leaves
        elif one[0] == "op":
            yield (one[1], *[f(e) for f in one[2:]])
        elif one[0] == "set":
            e[one[1]] = one[2](e)
        elif one[0] == "go":
            one[1](e)
        elif one[0] == "if":
            if one[1](e):
                yield from run(one[2], e)
        else:
            while True:
                yield from run(one[1], e)
                if not one[2](e):
                    break


class Barrier:
    """An mbarrier: what its phases release."""

    def __init__(self, count):
        self.count, self.pending, self.bytes, self.phase, self.now = count, count, 0, 0, {}
        self.complete = {}  # by parity: what the last complete phase released

    def change(self, clock):
        merge(self.now, clock)
        if self.pending < 0:
            raise Misuse
        if self.pending == 0 and self.bytes == 0:
            self.complete[self.phase & 1] = self.now
            self.phase, self.pending, self.now = self.phase + 1, self.count, {}


def merge(into, clock):
    for who, time in clock.items():
        into[who] = max(into.get(who, 0), time)


class Block:
    """One order of a block's threads and copies."""

    def __init__(self, kernel, n, rng, threads):
        self.rng = rng
        writer = rng.choice([t for t in threads if t >= 32])
        self.threads = {t: whole(kernel.body, {"t": t, "role": t % 32, "%n": n, "writer": writer}) for t in threads}
        self.products = {t: [] for t in threads}  # clocks of those that may not be complete
        self.clocks = {t: {t: 1} for t in threads}
        self.next = {t: None for t in threads}
        self.barriers, self.copies, self.seen, self.race = {}, [], collections.defaultdict(dict), None
        self.number = 1000

    def access(self, who, clock, write, at, size):
        for word in range(at // 4, (at + size + 3) // 4):
            known = self.seen[word]
            for (other, wrote), time in known.items():
                if other != who and (write or wrote) and clock.get(other, 0) < time:
                    self.race = self.race or f"bytes at {4 * word} of {who} and {other}"
            known[who, write] = clock[who]

    def go(self):
        """Runs to the end, or until nothing moves."""
        for _ in range(6000):
            if self.race:
                return
            for t in self.threads:
                if self.next[t] is None:
                    self.next[t] = next(self.threads[t], ("end",))
            ready = [t for t, op in self.next.items() if self.can(op)]
            if all(op[0] in ("barrier", "end") for op in self.next.values()) and any(op[0] == "barrier" for op in self.next.values()):
                self.meet()
            elif not ready and not self.copies:
                return
            elif self.copies and (not ready or self.rng.random() < 0.2):
                self.complete(self.copies.pop(self.rng.randrange(len(self.copies))))
            else:
                t = self.rng.choice(ready)
                for _ in range(self.rng.choice([1, 1, 3, 20])):
                    self.do(t, self.next[t])
                    self.next[t] = next(self.threads[t], ("end",))
                    if not self.can(self.next[t]):
                        break

    def can(self, op):
        if op[0] in ("barrier", "end"):
            return False
        if op[0] == "wait":
            b = self.barriers.get(op[1])
            return b is not None and b.phase & 1 != op[2]
        return True

    def meet(self):
        clock = {}
        for c in self.clocks.values():
            merge(clock, c)
        for t, c in self.clocks.items():
            merge(c, clock)
            c[t] += 1
            if self.next[t][0] == "barrier":
                self.next[t] = None

    def complete(self, copy):
        """A copy, or an arrival by a commit behind its products."""
        _, size, at, clock = copy
        b = self.barriers.get(at)
        if b:
            b.bytes -= size or 0
            b.pending -= size is None
            b.change(clock)

    def do(self, t, op):
        clock = self.clocks[t]
        clock[t] += 1
        if op[0] == "access":
            self.access(t, clock, op[1] == "st", op[2], op[3])
        elif op[0] == "init":
            self.access(t, clock, True, op[1], 8)
            self.barriers[op[1]] = Barrier(op[2])
        elif op[0] == "copy":
            self.number += 1
            own = {**clock, self.number: 1}
            self.access(self.number, own, True, op[1], op[2])
            self.touch(t, clock, op[3])
            self.copies.append((op[1], op[2], op[3], own))
        elif op[0] == "mma":
            self.number += 1
            own = {**clock, self.number: 1}
            self.access(self.number, own, False, op[1], op[2])
            self.products[t].append(own)
        elif op[0] == "commit":
            self.touch(t, clock, op[1])
            behind = dict(clock)
            for own in self.products[t]:
                merge(behind, own)
            self.copies.append((None, None, op[1], behind))
        elif op[0] == "expect":
            self.touch(t, clock, op[1])
            b = self.barriers.get(op[1])
            if b:
                b.bytes += op[2]
        elif op[0] == "arrive":
            self.touch(t, clock, op[1])
            b = self.barriers.get(op[1])
            if b:
                b.bytes += op[2] or 0
                b.pending -= 1
                b.change(clock)
        elif op[0] == "wait":
            self.touch(t, clock, op[1])
            if not op[3]:
                merge(clock, self.barriers[op[1]].complete.get(op[2], {}))

    def touch(self, t, clock, at):
        """An operation of an mbarrier: it meets mbarrier.init and stores, not operations of its own kind."""
        for word in (at // 4, at // 4 + 1):
            for (other, wrote), time in self.seen[word].items():
                if other != t and wrote and clock.get(other, 0) < time:
                    self.race = self.race or f"the mbarrier at {at} of {t} and {other}"


def complaint(kernel, rng):
    """What an order of the threads has that a proof excludes; nothing if none has."""
    threads = sorted(set(range(3)) | {32, 33, 34, 35})
    for _ in range(8):
        n = rng.choice([0, 1, 2, 3, 4, 5, 7, 9, 12])
        block = Block(kernel, n, rng, threads)
        try:
            block.go()
        except Misuse:
            return f"n = {n}: a phase has more arrivals than it counts"
        if block.race:
            return f"n = {n}: {block.race}"
    return None


def main():
    given = options_of(__doc__, 100)
    counts, reasons, wrong = collections.Counter(), collections.Counter(), 0
    for kernels in batches_of(given, Kernel):
        answers = races_of(given.binary, kernels)
        for kernel in kernels:
            answer = answers[kernel.name]
            found = complaint(kernel, random.Random(f"{given.seed} {kernel.name} orders"))
            kind = "flawed" if kernel.has else "ends" if kernel.tail else "sound"
            counts[kind, answer["verdict"]] += 1
            counts["race found"] += bool(found)
            if kind == "sound" and answer["verdict"] != "proved":
                reasons[(answer["reason"] or "")[:150]] += 1
            if found and (answer["verdict"] == "proved" or kind != "flawed"):
                wrong += 1
                print(f"seed {given.seed}, {kernel.name}, {kind} {sorted(kernel.has)}: {answer['verdict']}, but {found}\n{kernel.ptx()}")
    print(f"{given.cases} kernels, {counts['race found']} with a race in some order; " + ", ".join(f"{k} {v}: {counts[k, v]}" for k in ("sound", "ends", "flawed") for v in ("proved", "refuted", "unknown")) + f"; {wrong} wrong")
    for reason, times in reasons.most_common(8):
        print(f"  {times} sound ones undecided: {reason}")
    if wrong or not counts["sound", "proved"] or not counts["race found"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
