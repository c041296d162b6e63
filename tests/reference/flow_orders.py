"""All orders of the warps of a small kernel, written from the PTX ISA alone: the model of flow_order.py and flow_proxies.py.

A launch is right if no order has a deadlock, a race, a read of a word that is not written, a misuse of a barrier, or another value.
"""

LANES = (0, 1, 30, 31)  # of each warp: closed under the permutations of the accesses
N = len(LANES)
PERMUTATIONS = {"own": lambda l: l, "reverse": lambda l: 31 - l, "xor": lambda l: l ^ 1}
ALL, HALF, ONE = 32, 16, 1  # the first lanes of a warp, which execute an instruction


class Op:
    """One instruction of a warp. `stage` adds the parity of the round to the number of its barrier, and 4 times that to that of its buffer; `upper` adds 4."""

    def __init__(self, kind, **fields):
        self.kind = kind
        self.fields = {"stage": False, "upper": False, "lanes": ALL, "strong": ""} | fields

    def __getattr__(self, name):
        try:
            return self.__dict__["fields"][name]
        except KeyError as error:
            raise AttributeError(name) from error

    def changed(self, **fields):
        return Op(self.kind, **(self.fields | fields))

    def __deepcopy__(self, memo):
        return self.changed()

    def __repr__(self):
        return f"{self.kind}({', '.join(f'{k}={v}' for k, v in self.fields.items())})"


class Part:
    """Instructions of some warps, executed a number of rounds."""

    def __init__(self, warps, ops, rounds=1):
        self.warps, self.ops, self.rounds = tuple(warps), list(ops), rounds


class Kernel:
    """Warps and their instructions; `half`: the last warp has 16 threads."""

    def __init__(self, warps, parts, same_values=False, proxy="strict", half=False):
        self.warps, self.parts, self.same_values, self.proxy, self.half = warps, parts, same_values, proxy, half

    def threads(self):
        return 32 * self.warps - (HALF if self.half else 0)

    def program(self, warp):
        """The instructions that a warp executes, each with its round."""
        out = [(op, i) for part in self.parts if warp in part.warps for i in range(part.rounds) for op in part.ops]
        if self.half and warp == self.warps - 1:  # at barriers of the block a warp counts as 32 threads
            barriers = ("bar", "cluster_arrive", "cluster_wait")
            out = [(op.changed(lanes=ALL if op.kind in barriers and op.lanes >= HALF else min(op.lanes, HALF)), i) for op, i in out]
        return out


# ---------------------------------------------------------------- all orders


class Fault(Exception):
    """What is wrong in an order: a kind, and the instruction."""

    def __init__(self, kind, what=""):
        super().__init__(f"{kind}: {what}")
        self.kind = kind


class TooMany(Exception):
    """More states than are enumerated."""


class State:
    """What a moment of an execution is: where each warp is, what it has behind it, barriers, mbarriers and memory."""

    __slots__ = ("at", "waits", "seen", "bars", "mbars", "memory", "log", "registers", "tokens", "copies", "more")

    def copy(self):
        s = State()
        s.at, s.waits, s.seen, s.log, s.registers = self.at[:], self.waits[:], self.seen[:], self.log[:], self.registers[:]
        s.bars, s.mbars, s.memory = dict(self.bars), dict(self.mbars), dict(self.memory)
        s.tokens, s.copies, s.more = self.tokens[:], self.copies[:], dict(self.more)
        return s

    def key(self):
        return (tuple(self.at), tuple(self.waits), tuple(self.seen), tuple(sorted(self.bars.items())), tuple(sorted(self.mbars.items())),
                frozenset(self.memory.items()), tuple(self.log), tuple(self.registers), tuple(self.tokens), tuple(self.copies),
                frozenset(self.more.items()))


class Orders:
    """All orders of a kernel's warps.

    An event is one instruction of one lane, a bit; `seen` of a thread holds the events that happen before its next one. A barrier (PTX ISA, bar): the events
    of all that arrive happen before what those do that have waited, and those behind an arrival do not. An mbarrier (PTX ISA, mbarrier): the events of the arrivals
    of a phase, if they are not relaxed, happen before what a thread does behind a wait for this phase, if that is not relaxed.
    """

    # What only its own warp takes notice of, but for races.
    local_kinds = ("st", "ld", "warp", "noise", "copy", "commit", "complete")

    def __init__(self, kernel, whole=False, most=60000):
        self.kernel, self.whole, self.most = kernel, whole, most
        self.programs = [kernel.program(w) for w in range(kernel.warps)]
        longest = max(map(len, self.programs)) + 1
        self.bits = [[[1 << ((w * longest + i) * N + l) for l in range(N)] for i in range(longest)] for w in range(kernel.warps)]
        # Events of strong accesses (relaxed, volatile, acquire, release): no data races with each other (PTX ISA, Morally Strong Operations).
        self.strong = sum(b for w, program in enumerate(self.programs) for i, (op, _) in enumerate(program) if op.strong for b in self.bits[w][i])
        self.visited, self.ends = set(), set()

    def run(self):
        """None, or the fault of some order."""
        s = State()
        n = self.kernel.warps
        s.at, s.waits, s.seen, s.log = [0] * n, [False] * n, [0] * (n * N), [()] * n
        s.registers = [("x", w * 32 + l) for w in range(n) for l in LANES]
        s.bars, s.mbars, s.memory = {}, {}, {}
        s.tokens, s.copies = [(None, 0)] * (n * N), [((), 0)] * (n * N)  # of each thread: its last arrival; its groups of cp.async, and the open one
        s.more = {}  # of flow_proxies.py
        try:
            todo = [self.settled(s)]
            while todo:
                s = todo.pop()
                key = s.key()
                if key in self.visited:
                    continue
                self.visited.add(key)
                if len(self.visited) > self.most:
                    raise TooMany
                todo += self.successors(s)
        except Fault as fault:
            return fault
        if len(self.ends) > 1:
            return Fault("value", "depends on the order")
        return None

    def settled(self, s):
        """Executes what no other warp takes notice of: races are found by happens-before, so the order of loads and stores does not matter. Warps that end may
        release others, and these may end."""
        before = None
        while before != s.at:
            before = s.at[:]
            for w in range(self.kernel.warps):
                while not self.whole and not s.waits[w] and s.at[w] < len(self.programs[w]) and self.is_local(self.programs[w][s.at[w]][0]):
                    self.local(s, w)
            self.release(s)
            self.release_cluster(s)
        return s

    def is_local(self, op):
        return op.kind in self.local_kinds and not op.strong

    def local(self, s, w):
        op, i = self.programs[w][s.at[w]]
        getattr(self, "op_" + op.kind)(s, w, op, i)
        s.at[w] += 1

    def successors(self, s):
        out, ended = [], True
        for w in range(self.kernel.warps):
            if s.at[w] == len(self.programs[w]):
                continue
            ended = False
            if s.waits[w]:
                continue
            op, i = self.programs[w][s.at[w]]
            if op.kind == "wait" and not self.may_leave(s, w, op, i) or op.kind == "cluster_wait" and not self.may_leave_cluster(s, w, op):
                continue
            if self.whole and self.is_local(op):
                t = s.copy()
                self.local(t, w)
                out.append(self.settled(t))
            elif op.kind == "arrive" and self.splits(s, op, i):
                for early in range(1 << N):
                    t = s.copy()
                    self.op_arrive_split(t, w, op, i, early)
                    t.at[w] += 1
                    out.append(self.settled(t))
            else:
                t = s.copy()
                getattr(self, "op_" + op.kind)(t, w, op, i)
                if not t.waits[w]:
                    t.at[w] += 1
                out.append(self.settled(t))
        out += self.others(s)
        if ended:  # arrivals that no warp waits for may be left
            self.ends.add(tuple(s.log))
        elif not out:
            raise Fault("deadlock")
        return out

    def others(self, s):
        """What happens next that is no instruction of a warp."""
        return []

    # named barriers: number -> (count or None, arrived, events, warps that wait)

    @staticmethod
    def lanes(op):
        return range(sum(l < op.lanes for l in LANES))

    def op_bar(self, s, w, op, i):
        number, count, block = op.number + (op.stage and i % 2), op.count, 32 * self.kernel.warps
        if op.lanes != ALL:
            raise Fault("misuse", "a part of a warp at a barrier")
        if number > 15 or count is not None and (count <= 0 or count % 32):
            raise Fault("misuse", f"barrier {number} with count {count}")
        if count is None and op.form == "arrive":
            raise Fault("misuse", "an arrival without a count")
        had, arrived, events, waiting = s.bars.get(number, (count, 0, 0, ()))
        if arrived and (had or block) != (count or block):
            raise Fault("misuse", "two counts in one generation")
        for l in range(N):
            events |= s.seen[w * N + l] | self.bits[w][s.at[w]][l]
        if op.form != "arrive":
            waiting += (w,)
            s.waits[w] = True
        # One that waits for all threads of the block is released by those that end (PTX ISA, exit); one with a count is not.
        s.bars[number] = (had if count is None else count, arrived + 32, events, tuple(sorted(waiting)))
        self.pass_(s, w)

    def pass_(self, s, w):
        """The event of the instruction itself is behind its lanes."""
        for l in range(N):
            s.seen[w * N + l] |= self.bits[w][s.at[w]][l]

    def release(self, s):
        """Completes barriers, by arrivals or by warps that have ended."""
        live = sum(s.at[w] < len(self.programs[w]) for w in range(self.kernel.warps))
        for number, (count, arrived, events, waiting) in list(s.bars.items()):
            if arrived and (arrived >= 32 * live if count is None else arrived == count):
                for w in waiting:
                    s.waits[w] = False
                    s.at[w] += 1
                    for l in range(N):
                        s.seen[w * N + l] |= events
                del s.bars[number]

    # barrier.cluster of the only block: generation, events of it, warps that have arrived, events of the one before

    def op_cluster_arrive(self, s, w, op, i):
        generation, events, arrived, done = s.more.get("cluster", (0, 0, (), 0))
        if op.lanes != ALL or ("waits", w) in s.more:
            raise Fault("misuse", "a part of a warp, or a second arrival, at the barrier of the cluster")
        for l in range(N):
            events |= self.released(s, w, l, op.relaxed)
        s.more["waits", w] = generation
        s.more["cluster"] = (generation, events, arrived + (w,), done)
        self.pass_(s, w)

    def op_cluster_wait(self, s, w, op, i):
        for l in range(N):
            s.seen[w * N + l] |= s.more["cluster"][3]
        del s.more["waits", w]
        self.pass_(s, w)

    def may_leave_cluster(self, s, w, op):
        if op.lanes != ALL or ("waits", w) not in s.more:
            raise Fault("misuse", "a wait at the barrier of the cluster without an arrival")
        return s.more["cluster"][0] > s.more["waits", w]

    def release_cluster(self, s):
        """All warps that have not ended have arrived (PTX ISA, barrier.cluster)."""
        generation, events, arrived, _ = s.more.get("cluster", (0, 0, (), 0))
        if arrived and all(w in arrived or s.at[w] == len(self.programs[w]) for w in range(self.kernel.warps)):
            s.more["cluster"] = (generation + 1, 0, (), events)

    # mbarriers: number -> (live, count, pending, phase, events of this phase, of the one before, init and inval, all other operations)

    def object(self, s, op, i):
        number = op.number + (op.stage and i % 2)
        return number, s.mbars.get(number, (False, 0, 0, 0, 0, 0, 0, 0))

    def op_init(self, s, w, op, i):
        number, (live, _, _, _, _, _, makers, users) = self.object(s, op, i)
        if op.lanes != ONE:
            raise Fault("race", "several lanes initialise")
        if live:
            raise Fault("misuse", "initialised again")
        if op.count < 1:
            raise Fault("misuse", "count 0")
        self.behind(s, w, makers | users, "init")
        s.mbars[number] = (True, op.count, op.count, 0, 0, 0, makers | self.bits[w][s.at[w]][0], users)
        self.pass_(s, w)

    def op_inval(self, s, w, op, i):
        number, (live, _, _, _, _, _, makers, users) = self.object(s, op, i)
        if op.lanes != ONE:
            raise Fault("race", "several lanes invalidate")
        if not live:
            raise Fault("misuse", "inval of no mbarrier")
        self.behind(s, w, makers | users, "inval")
        s.mbars[number] = (False, 0, 0, 0, 0, 0, makers | self.bits[w][s.at[w]][0], users)
        self.pass_(s, w)

    def behind(self, s, w, events, what, lanes=range(1)):
        if any(events & ~s.seen[w * N + l] for l in lanes):
            raise Fault("race", what)

    def use(self, s, w, op, i):
        number, b = self.object(s, op, i)
        if not b[0]:
            raise Fault("misuse", f"{op.kind} at no mbarrier")
        self.behind(s, w, b[6], op.kind + " is not behind init", self.lanes(op))
        return number, b

    def splits(self, s, op, i):
        _, b = self.object(s, op, i)
        return b[0] and op.lanes != ONE and op.lanes * op.n > b[2]

    def op_arrive(self, s, w, op, i):
        number, (live, count, pending, phase, events, done, makers, users) = self.use(s, w, op, i)
        total = op.n * op.lanes
        if op.n < 1 or total > pending:
            raise Fault("misuse", "count of an arrival")
        for l in self.lanes(op):
            s.tokens[w * N + l] = (number, phase)
            users |= self.bits[w][s.at[w]][l]
            events |= self.released(s, w, l, op.relaxed)
        pending -= total
        if pending == 0 and not s.more.get(("bytes", number)):
            pending, phase, events, done = count, phase + 1, 0, events
        s.mbars[number] = (live, count, pending, phase, events, done, makers, users)
        self.pass_(s, w)

    def op_arrive_split(self, s, w, op, i, early):
        """Lanes of one arrival in several phases: which of them is first is open. The lanes that count here arrive first or last."""
        number, (live, count, pending, phase, events, done, makers, users) = self.use(s, w, op, i)
        lanes = self.lanes(op)
        order = [l for l in lanes if early >> l & 1] + [None] * (op.lanes - len(lanes)) + [l for l in lanes if not early >> l & 1]
        for l in order:
            if op.n < 1 or op.n > pending:
                raise Fault("misuse", "count of an arrival")
            if l is not None:
                s.tokens[w * N + l] = (number, phase)
                users |= self.bits[w][s.at[w]][l]
                events |= self.released(s, w, l, op.relaxed)
            pending -= op.n
            if pending == 0:
                pending, phase, events, done = count, phase + 1, 0, events
        s.mbars[number] = (live, count, pending, phase, events, done, makers, users)
        self.pass_(s, w)

    def parity(self, op, i):
        return {"fixed": 0, "round": i, "pair": i >> 1}[op.turn] + op.parity & 1

    def may_leave(self, s, w, op, i):
        """The loop of tests is over. Each test uses the mbarrier, the first one, too."""
        number, b = self.use(s, w, op, i)
        if op.turn != "token":
            return b[3] & 1 != self.parity(op, i)
        phases = set()
        for l in self.lanes(op):
            of, phase = s.tokens[w * N + l]
            if of != number or b[3] > phase + 1:
                raise Fault("misuse", "a state of another mbarrier or of a phase before the last one")
            phases.add(phase)
        return all(b[3] > phase for phase in phases)

    def op_wait(self, s, w, op, i):
        number, b = self.use(s, w, op, i)
        users = b[7]
        for l in self.lanes(op):
            users |= self.bits[w][s.at[w]][l]
            if op.relaxed:
                s.more["acquires", w, l] = s.more.get(("acquires", w, l), 0) | b[5]
            else:
                s.seen[w * N + l] |= b[5]
        s.mbars[number] = b[:7] + (users,)
        self.pass_(s, w)

    # memory: word -> (value, readers, ((value, writers), ..))

    def word(self, w, op, i, lane):
        area, number = op.place[0], op.place[1]
        if area == "word":
            return "word", number
        if area == "mbarrier":
            return area, number
        number = {"own": w, "next": (w + 1) % self.kernel.warps}.get(number, number)
        return number + (4 * (i % 2) if op.stage else 0) + (4 if op.upper else 0), PERMUTATIONS[op.place[2]](lane)

    def op_st(self, s, w, op, i):
        written = {}
        for l in self.lanes(op):
            value = s.registers[w * N + l] if op.value == "r" else ("x", w * 32 + LANES[l]) if op.value == "x" else ("c", op.value)
            word = self.word(w, op, i, LANES[l])
            self.not_an_mbarrier(s, word)
            if word in written and written[word][0] != value:
                raise Fault("race", "two lanes of one store")
            written.setdefault(word, (value, []))[1].append(l)
        for word, (value, lanes) in written.items():
            _, readers, writers = s.memory.get(word, (None, 0, ()))
            bad = readers
            for v, events in writers:
                if not (self.kernel.same_values and v == value):
                    bad |= events
            self.behind(s, w, bad & ~self.strong if op.strong else bad, f"write of {word}", lanes)
            mine = 0
            for l in lanes:
                mine |= self.bits[w][s.at[w]][l]
            all_of = dict(writers)
            all_of[value] = all_of.get(value, 0) | mine
            s.memory[word] = (value, readers, tuple(sorted(all_of.items(), key=str)))
        self.pass_(s, w)

    def not_an_mbarrier(self, s, word):
        if word[0] == "mbarrier":
            b = s.mbars.get(word[1])
            if b:
                raise Fault("misuse", "access to an mbarrier")

    def op_ld(self, s, w, op, i):
        log = []
        for l in self.lanes(op):
            word = self.word(w, op, i, LANES[l])
            self.not_an_mbarrier(s, word)
            value, readers, writers = s.memory.get(word, (None, 0, ()))
            if value is None:
                raise Fault("uninitialised", f"read of {word}")
            bad = 0
            for _, events in writers:
                bad |= events
            self.behind(s, w, bad & ~self.strong if op.strong else bad, f"read of {word}", (l,))
            s.memory[word] = (value, readers | self.bits[w][s.at[w]][l], writers)
            s.registers[w * N + l] = value
            log.append(value)
        s.log[w] += (tuple(log),)
        self.pass_(s, w)

    # cp.async: a write of its own, which is behind its thread once that has waited for its group

    def op_copy(self, s, w, op, i):
        for l in self.lanes(op):
            word, bit = self.word(w, op, i, LANES[l]), self.bits[w][s.at[w]][l]
            self.not_an_mbarrier(s, word)
            _, readers, writers = s.memory.get(word, (None, 0, ()))
            bad = readers
            for _, events in writers:
                bad |= events
            self.behind(s, w, bad, f"copy to {word}", (l,))
            value, all_of = ("x", w * 32 + LANES[l]), dict(writers)
            all_of[value] = all_of.get(value, 0) | bit
            s.memory[word] = (value, readers, tuple(sorted(all_of.items(), key=str)))
            groups, opened = s.copies[w * N + l]
            s.copies[w * N + l] = (groups, opened | bit)

    def op_commit(self, s, w, op, i):
        for l in self.lanes(op):
            groups, opened = s.copies[w * N + l]
            s.copies[w * N + l] = (groups + (opened,), 0)

    def op_complete(self, s, w, op, i):
        for l in self.lanes(op):
            groups, opened = s.copies[w * N + l]
            done = len(groups) - op.pending if op.pending is not None else len(groups)
            for events in groups[:max(done, 0)]:
                s.seen[w * N + l] |= events
            if op.pending is None:
                s.seen[w * N + l] |= opened
                groups, opened = (), 0
            s.copies[w * N + l] = (groups[max(done, 0):], opened)

    def op_warp(self, s, w, op, i):
        all_of = 0
        for l in self.lanes(op):
            all_of |= s.seen[w * N + l] | self.bits[w][s.at[w]][l]
        for l in self.lanes(op):
            s.seen[w * N + l] = all_of

    def op_noise(self, s, w, op, i):
        """An exchange of registers orders no two threads. A fence does with relaxed operations: an arrival behind it releases what is before the fence, and
        it acquires what waits before it have seen (PTX ISA, Release and Acquire Patterns). fence.mbarrier_init is for initialisations of its thread."""
        self.pass_(s, w)
        for l in range(N):
            if op.what in ("membar", "fence"):
                s.seen[w * N + l] |= s.more.pop(("acquires", w, l), 0)
                s.more["released", w, l] = s.more.get(("released", w, l), 0) | s.seen[w * N + l]
            elif op.what == "init":
                mine = sum(self.bits[w][at][l] for at in range(s.at[w]) if self.programs[w][at][0].kind in ("init", "inval") and l == 0)
                s.more["released", w, l] = s.more.get(("released", w, l), 0) | mine

    def released(self, s, w, l, relaxed):
        """Events that an arrival of a lane orders before what follows its barrier."""
        return s.more.get(("released", w, l), 0) if relaxed else s.seen[w * N + l] | self.bits[w][s.at[w]][l]

