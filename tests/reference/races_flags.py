#!/usr/bin/env python3
"""races_flags.py --binary swizproof --cases N --seed S: random kernels whose threads pass messages by flags, in `kernel --races` against a model that runs their threads in all orders.

Two or three threads of a block, of one warp or of several, store and load words of shared memory, execute fences, and write, read and wait for flags: volatile, relaxed, with release and acquire, by atomics, and now and
then by weak stores; barriers of the block or of the warp part the code. Flags are 0 at the start. The model executes strong accesses and barriers in each order that the values of the flags allow, with a vector clock of each
thread: a fence and a strong write, or a release, give a flag the clock of its thread, a strong read and a fence, or an acquire, take it over; an atomic leaves what was there. [PTX ISA 9.1, Memory Consistency Model]
Each race that is named must be one of the model's, with both threads and both lines; what is proved has none.
"""
import collections
import sys

from asking import batches_of, options_of, races_of

MOST_STATES = 30_000
FLAGS_AT, WORDS, FLAGS = 4096, 3, 3
FENCES = ("membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.cta", "fence.sc.cta", "fence.sc.gpu")
#: Forms of an access to a flag: opcode, release, acquire, strong.
WRITES = (("st.volatile", False, False, True), ("st.relaxed.cta", False, False, True), ("st.release.cta", True, False, True), ("st.release.gpu", True, False, True))
READS = (("ld.volatile", False, False, True), ("ld.relaxed.cta", False, False, True), ("ld.acquire.cta", False, True, True), ("ld.acquire.gpu", False, True, True))
UPDATES = (("atom", False, False, True), ("atom.relaxed.cta", False, False, True), ("atom.release.cta", True, False, True), ("atom.acq_rel.cta", True, True, True), ("atom.acquire.cta", False, True, True))
WEAK = ("st", False, False, False)
Op = collections.namedtuple("Op", "kind at form line")  # kind: ld, st, fence, set, get, once, spin, update, count


class Generator:
    """A kernel: phases, each with the operations of its threads and what is behind it."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.threads = rng.choice([(0, 1), (0, 1, 2), (0, 32), (0, 32, 33), (0, 32, 64), (1, 2, 40)])
        self.lines = [f".entry {name}(.param .u64 to)", f".reqntid {max(self.threads) + 1}, 1, 1", "{", ".reg .pred %p<4>; .reg .b32 %r<10>;", ".shared .align 16 .b8 tile[8192];", "mov.u32 %r1, %tid.x; mov.u32 %r2, tile;",
                      "setp.ne.u32 %p1, %r1, 0; @%p1 bra BEGIN;"]
        self.lines += [f"st.shared.u32 [%r2+{FLAGS_AT + 4 * f}], 0;" for f in range(FLAGS)] + ["BEGIN: bar.sync 0;"]
        self.phases = [({t: self.operations(k, t) for t in self.threads}, self.behind()) for k in range(rng.choice([1, 1, 2]))]
        self.lines += ["ret;", "}"]

    def line(self, text):
        self.lines.append(text)
        return len(self.lines) - 1

    def behind(self):
        kind = self.rng.choice(["block", "warp", ""])
        if kind:
            self.line("bar.sync 0;" if kind == "block" else "bar.warp.sync -1;")
        return kind

    def operations(self, phase, thread):
        rng, end = self.rng, f"E{phase}_{thread}"
        self.line(f"setp.ne.u32 %p1, %r1, {thread}; @%p1 bra {end};")
        # A message is the common case: data, a fence, a flag; or a flag, a fence, data.
        shape = rng.choice([("st", "fence", "set"), ("spin", "fence", "ld"), ("once", "fence", "st"), ("ld", "fence", "update"), None, None])
        kinds = shape or [rng.choice(["ld", "st", "st", "fence", "set", "get", "once", "spin", "update", "count"]) for _ in range(rng.randrange(1, 6))]
        out = []
        for kind in kinds:
            if not (shape and kind == "fence" and rng.random() < 0.2):
                out.append(self.operation(kind, end, f"S{phase}_{thread}_{len(out)}"))
        if shape and rng.random() < 0.4:
            out.append(self.operation(rng.choice(["ld", "st", "fence"]), end, ""))
        self.line(f"{end}:")
        return out

    def operation(self, kind, end, label):
        rng = self.rng
        if kind == "fence":
            return Op(kind, 0, None, self.line(rng.choice(FENCES) + ";"))
        if kind in ("ld", "st"):
            at = rng.randrange(WORDS)
            return Op(kind, at, WEAK, self.line(f"ld.shared.u32 %r5, [%r2+{4 * at}];" if kind == "ld" else f"st.shared.u32 [%r2+{4 * at}], %r1;"))
        at, address = rng.randrange(FLAGS), ""
        address = f"[%r2+{FLAGS_AT + 4 * at}]"
        if kind == "set":
            form = WEAK if rng.random() < 0.1 else rng.choice(WRITES)
            return Op(kind, at, form, self.line(f"{form[0]}.shared.u32 {address}, 1;"))
        if kind == "count":
            form = rng.choice([("red", False, False, True), ("red.release.cta", True, False, True)])
            return Op(kind, at, form, self.line(f"{form[0]}.shared.or.b32 {address}, 1;"))
        if kind == "update":
            form = rng.choice(UPDATES)
            return Op(kind, at, form, self.line(f"{form[0]}.shared.exch.b32 %r6, {address}, 1;"))
        if kind == "spin":
            self.line(f"{label}:")
        atomic = rng.random() < 0.25
        form = rng.choice(UPDATES if atomic else READS)
        number = self.line(f"{form[0]}.shared.or.b32 %r6, {address}, 0;" if atomic else f"{form[0]}.shared.u32 %r6, {address};")
        if kind != "get":
            self.line(f"setp.eq.u32 %p2, %r6, 0; @%p2 bra {end if kind == 'once' else label};")
        return Op(kind, at, form, number)

    def ptx(self):
        return "\n".join(self.lines) + "\n"


def joined(a, b):
    return tuple(map(max, a, b))


class Model:
    """All orders of the strong accesses and barriers: the races that they have."""

    def __init__(self, kernel):
        self.kernel, self.races, self.seen = kernel, set(), set()
        self.names, n = kernel.threads, len(kernel.threads)
        zero = (0,) * n
        # Of each thread: phase, operation, clock, clock at its last fence, what it has read of flags; of flags: value, message; all accesses.
        self.start = (tuple((0, 0, tuple(int(k == t) for k in range(n)), None, zero) for t in range(n)), ((0, zero),) * FLAGS, frozenset())

    def run(self):
        """The races; None if there are too many states."""
        work = [self.start]
        while work:
            state = work.pop()
            if state in self.seen:
                continue
            self.seen.add(state)
            if len(self.seen) > MOST_STATES:
                return None
            work.extend(self.steps(state))
        return self.races

    def steps(self, state):
        """The states behind one step of one thread: all that only it sees at once."""
        threads = state[0]
        for t, (phase, at, *_) in enumerate(threads):
            if phase < len(self.kernel.phases) and at < len(self.operations(t, phase)) and self.operations(t, phase)[at].kind in ("ld", "st", "fence"):
                return [self.execute(state, t)]
        out = [self.execute(state, t) for t, (phase, at, *_) in enumerate(threads) if phase < len(self.kernel.phases) and at < len(self.operations(t, phase)) and self.may(state, t)]
        return out + self.barriers(state)

    def operations(self, t, phase):
        return self.kernel.phases[phase][0][self.names[t]]

    def may(self, state, t):
        phase, at, *_ = state[0][t]
        op = self.operations(t, phase)[at]
        return op.kind != "spin" or state[1][op.at][0] != 0

    def barriers(self, state):
        """States behind a barrier, and behind the end of a phase that has none."""
        threads, out = state[0], []
        waits = [phase if phase < len(self.kernel.phases) and at == len(self.operations(t, phase)) else -1 for t, (phase, at, *_) in enumerate(threads)]
        for t, phase in enumerate(waits):
            if phase < 0:
                continue
            kind = self.kernel.phases[phase][1]
            group = [u for u in range(len(threads)) if kind == "block" or u == t or (kind == "warp" and self.names[u] // 32 == self.names[t] // 32)]
            if any(waits[u] != phase for u in group) or t != group[0]:
                continue
            clock = threads[t][2]
            for u in group:
                clock = joined(clock, threads[u][2])
            moved = list(threads)
            for u in group:
                moved[u] = (phase + 1, 0, clock if kind else threads[u][2], *threads[u][3:])
            out.append((tuple(moved), *state[1:]))
        return out

    def execute(self, state, t):
        threads, flags, accesses = state
        phase, at, clock, fenced, read = threads[t]
        op = self.operations(t, phase)[at]
        clock = clock[:t] + (clock[t] + 1,) + clock[t + 1:]
        after = at + 1
        if op.kind == "fence":
            clock = joined(clock, read)
            fenced = clock
        elif op.kind in ("ld", "st"):
            accesses = self.note(accesses, t, clock, op, ("word", op.at), op.kind == "st")
        else:
            atomic = op.form[0].startswith(("atom", "red"))
            reads, writes = atomic or op.kind in ("get", "once", "spin"), atomic or op.kind == "set"
            accesses = self.note(accesses, t, clock, op, ("flag", op.at), writes)
            value, message = flags[op.at]
            if reads and op.form[3] and op.kind != "count":
                read = joined(read, message)
                if op.form[2]:
                    clock = joined(clock, message)
            if op.kind == "once" and value == 0:
                after = len(self.operations(t, phase))
            if writes:
                nothing = (0,) * len(threads)
                own = clock if op.form[1] else fenced if op.form[3] and fenced else nothing
                message = joined(own, message if atomic else nothing)
                flags = flags[:op.at] + ((value if op.kind in ("get", "once", "spin") else 1, message),) + flags[op.at + 1:]
        return threads[:t] + ((phase, after, clock, fenced, read),) + threads[t + 1:], flags, accesses

    def note(self, accesses, t, clock, op, where, write):
        for other, tick, line, place, wrote, strong in accesses:
            if other != t and place == where and (wrote or write) and not (strong and op.form[3]) and clock[other] < tick:
                self.races.add(frozenset(((self.names[other], line), (self.names[t], op.line))))
        return accesses | {(t, clock[t], op.line, where, write, op.form[3])}


def check(kernel, answer, first):
    """A complaint, and if the model has an answer and a race. `first`: line of the PTX at which the kernel begins."""
    races = Model(kernel).run()
    if races is None:
        return "", None
    if answer["verdict"] == "proved" and races:
        return f"race free, but {sorted(map(sorted, races))} are races", True
    for one in answer["found"]:
        named = frozenset((one[k]["thread"][0], one[k]["ptx_line"] - first) for k in ("first", "second"))
        if named not in races:
            return f"{sorted(named)} is no race", bool(races)
    return "", bool(races)


def main():
    given = options_of(__doc__, 200)
    counts, wrong = collections.Counter(), 0
    for kernels in batches_of(given, Generator):
        answers, line = races_of(given.binary, kernels), 4
        for kernel in kernels:
            answer = answers[kernel.name]
            complaint, racy = check(kernel, answer, line)
            line += len(kernel.lines)
            counts[answer["verdict"]] += 1
            counts[answer["verdict"], racy] += 1
            counts["flag"] += "by a flag" in (answer["reason"] or "")
            if complaint:
                wrong += 1
                print(f"seed {given.seed}, {kernel.name}: {complaint}\n{kernel.ptx()}")
    print(f"{given.cases} kernels: {counts['proved']} proved, {counts['refuted']} refuted, {counts['unknown']} unknown, {counts['flag']} of them for a flag; of the unknown {counts['unknown', True]} have a race, "
          f"{counts['unknown', False]} have none, {counts['unknown', None] + counts['refuted', None] + counts['proved', None]} have too many orders; {wrong} wrong")
    if wrong or not all(counts[v] for v in ("proved", "refuted", "flag")):
        sys.exit(1)


if __name__ == "__main__":
    main()
