#!/usr/bin/env python3
"""races.py --binary swizproof --cases N --seed S: random kernels in `kernel --races` against a model that executes every thread.

A kernel is a list of statements on one shared array: loads and stores at an address of tid, ctaid, ntid, a parameter and loop counters (sums, products, xor, masks, shifts, modulo, negative strides),
barriers, loops and conditions, some of them different for threads; copies by cp.async of 4, 8 and 16 bytes, commits and waits for groups, in pipelines of stages, in any order, and
some with guards; indices and guards that are loaded from global memory; tiles that wgmma reads, in pipelines of stages, with and without the fences, commits and waits that they need. The model executes all threads of some launches and looks at each byte in each interval. A copy writes in all intervals from its own to the one of the wait for its group,
and its own thread races with it before that wait. wgmma reads in all intervals from its own to the one of the wait for its group: the bytes of its descriptors by the ISA's
formulas, of A each warp its own 16 rows. A bulk copy of a thread writes from its own interval until every thread
that meets it has waited for its mbarrier, or is behind a barrier and a wait for it; the model lets the wait be true only if its phase can be complete. A write before it, of cp.async the wait for it, needs a fence.proxy.async that is behind it and before wgmma. A row of ldmatrix or stmatrix is accessed by the
lane that gives its address, by one of the four lanes of the row, or with .trans by the one that holds the element: what is proved has no race in each of these readings, and what is refuted has one in all of them. What is proved has no race in these launches; what is refuted has the race that is named, in the launch that is named, between the two threads that are named:
if it lists loaded numbers, with these in any memory, else in any memory.
"""
import argparse
import collections
import json
import random
import sys
import tempfile

from asking import kernels_of
from races_kernels import BASE, BYTES, MASK, Generator


class Left(Exception):
    """A thread leaves the array, or takes too many steps."""


FOREVER = 1 << 30
WRITES = ("st", "cp", "red")
# number: order in its thread; warp: barriers of the warp before it; wgmma: `at` has its units of 16 bytes
Event = collections.namedtuple("Event", "kind at size interval number warp", defaults=[0])


def meet(a, b):
    """A common byte of two accesses, or nothing."""
    if a.kind == "mma" or b.kind == "mma":
        mma, other = (a, b) if a.kind == "mma" else (b, a)
        return next((byte for byte in range(other.at, other.at + other.size) if byte // 16 in mma.at), None)
    return max(a.at, b.at) if a.at < b.at + b.size and b.at < a.at + a.size else None


class Thread:
    """What one thread does: its accesses, the intervals and the order in which they are, the ends of its copies, and the barriers that it passes."""

    def __init__(self, kernel, environment):
        self.events, self.barriers, self.steps, self.interval = [], [], 0, 0
        # For cp.async and wgmma: those that are not committed; those that are, by group; interval and number of the wait for each.
        self.open, self.groups, self.ends, self.fences = {"cp": [], "mma": []}, {"cp": [], "mma": []}, {}, []
        self.marks = []  # operations of mbarriers
        self.warp, self.warp_ends = 0, {}  # barriers of the warp; by copy, those before the wait for it
        self.matrices, self.executions = [], collections.Counter()  # statement and execution, event, trans
        self.run(kernel.body, dict(environment))

    def run(self, body, e):
        for one in body:
            self.steps += 1
            if self.steps > 4000:
                raise Left
            if one[0] == "access":
                at = one[2](e)
                if max(at) >= BYTES // 16 or min(at) < 0 if one[1] == "mma" else at + one[3] > BYTES:
                    raise Left
                event = Event(one[1], at, one[3], self.interval, self.steps, self.warp)
                self.events.append(event)
                if event.kind in self.open:
                    self.open[event.kind].append(event)
            elif one[0] == "warp":
                self.warp += 1
            elif one[0] == "matrix":
                _, key, kind, where, count, trans = one
                self.executions[key] += 1
                event = Event(kind, where(e), 16 if e["tid"] % 32 < 8 * count else 0, self.interval, self.steps, self.warp)
                self.matrices.append(((key, self.executions[key]), event, trans))
            elif one[0] == "fence":
                self.fences.append((self.interval, self.steps))
            elif one[0] in ("init", "arrive", "bulk"):
                self.events.append(Event(one[0], one[1], {"init": 8, "arrive": 8}.get(one[0], one[2]), self.interval, self.steps))
                self.marks.append((one, self.interval, self.steps))
            elif one[0] == "phase":
                self.events.append(Event("phase", one[1], 8, self.interval, self.steps))
                self.marks.append((one, self.interval, self.steps))
            elif one[0] == "barrier":
                self.barriers.append(one[1])
                self.interval += 1
            elif one[0] == "commit":
                self.groups[one[1]].append(self.open[one[1]])
                self.open[one[1]] = []
            elif one[0] == "wait":
                self.wait(*one[1:])
            elif one[0] == "if":
                if one[1](e):
                    self.run(one[2], e)
            else:
                _, counter, first, step, ends, inside = one
                e[counter] = first
                while not ends(e):
                    self.run(inside, e)
                    e[counter] = e[counter] + step & MASK
                    self.steps += 1

    def wait(self, pending, kind):
        groups = self.groups[kind]
        done = groups if pending is None else groups[:max(len(groups) - pending, 0)]
        for copy in [c for group in done for c in group] + (self.open[kind] if pending is None else []):
            self.ends.setdefault(copy.number, (self.interval, self.steps))
            self.warp_ends.setdefault(copy.number, self.warp)

    def last(self, event):
        """The last interval in which an access may be executed, and the number of its thread's wait for it."""
        if event.kind not in self.open:
            return event.interval, event.number
        return self.ends.get(event.number, (FOREVER, FOREVER))

    def in_interval(self, interval, alone):
        """Accesses of an interval; of a thread that has ended those behind its last barrier. alone: no barrier orders them."""
        at = min(interval, self.interval)
        return [event for event in self.events if alone or event.interval <= at <= self.last(event)[0]]

    def own(self):
        """Bytes that a copy of the thread may write when another access of it meets them."""
        for copy in self.events:
            if copy.kind in self.open:
                for other in self.events + [event for _, event, _ in self.matrices]:
                    if copy.number < other.number < self.last(copy)[1] and (copy.kind == "cp" or other.kind in WRITES) and meet(copy, other) is not None:
                        yield copy, other


READINGS = ("giver", "group", "holder")


def lane_of(reading, giver, trans, byte):
    """The lane that accesses a byte of a row of a matrix: the one that gives the address; one of the four of the row; with .trans, the one that holds the element."""
    row, element = giver % 8, byte // 2
    if reading == "giver":
        return giver
    return 4 * element + row // 2 if trans and reading == "holder" else 4 * row + element // 2


def race_of_matrices(threads, reading):
    """A race of a block with barriers of warps, where ldmatrix and stmatrix access rows in a reading of the PTX ISA."""
    bytes_of = collections.defaultdict(list)
    for number, t in enumerate(threads):
        for event in t.events:
            for byte in range(event.at, event.at + event.size):
                bytes_of[byte].append((number, event))
        for key, event, trans in t.matrices:
            for k in range(event.size):
                by = number // 32 * 32 + lane_of(reading, number % 32, trans, k)
                same = next(other for at, other, _ in threads[by].matrices if at == key)
                bytes_of[event.at + k].append((by, event._replace(number=same.number)))

    def before(x, y):
        """The first is complete before the second, which is of another thread."""
        (n, a), (m, b) = x, y
        interval = threads[n].last(a)[0]
        warp = threads[n].warp_ends.get(a.number, FOREVER) if a.kind == "cp" else a.warp
        return b.interval > interval or (n // 32 == m // 32 and b.warp > warp)

    for byte, found in bytes_of.items():
        for k, x in enumerate(found):
            for y in found[k + 1:]:
                kinds = {x[1].kind, y[1].kind}
                if kinds in ({"ld"}, {"red"}):
                    continue
                if x[0] == y[0]:
                    if any(a.kind == "cp" and a.number < b.number < threads[x[0]].last(a)[1] for a, b in ((x[1], y[1]), (y[1], x[1]))):
                        return y[1].interval, byte
                elif not before(x, y) and not before(y, x):
                    return min(x[1].interval, y[1].interval), byte
    return None


def race(threads):
    """A race of a block: interval and byte of two threads. What a thread does behind its last barrier is ordered with no later interval; barriers that differ order nothing."""
    if any(t.matrices or t.warp for t in threads):
        return next(filter(None, (race_of_matrices(threads, reading) for reading in READINGS)), None)
    if any(t.marks for t in threads):
        return race_of_phases(threads)
    longest = max((t.barriers for t in threads), key=len)
    together = all(t.barriers == longest[:len(t.barriers)] for t in threads)  # some may end before others
    for t in threads:
        for copy, other in t.own():
            return other.interval, meet(copy, other)
    for interval in range(max(t.interval for t in threads) + 1):
        seen, tiles = collections.defaultdict(dict), collections.defaultdict(set)
        for number, t in enumerate(threads):
            for event in t.in_interval(interval, not together):
                if event.kind == "mma":
                    for unit in event.at:
                        tiles[unit].add(number)
                    continue
                for byte in range(event.at, event.at + event.size):
                    seen[byte].setdefault("st" if event.kind == "cp" else event.kind, set()).add(number)
        for byte, kinds in seen.items():
            stores = kinds.get("st", set())
            others = kinds.get("ld", set()) | kinds.get("red", set()) | stores
            reads = tiles.get(byte // 16, set())
            writes = stores | kinds.get("red", set())
            if writes and reads and len(writes | reads) > 1:
                return interval, byte
            if (stores and len(others) > 1) or (kinds.get("ld") and kinds.get("red") and len(kinds["ld"] | kinds["red"]) > 1):
                return interval, byte
    return unfenced(threads)


def race_of_phases(threads):
    """A race of a block with mbarriers, over an execution in which each wait that can be true is. Happens-before is computed event by event: a wait is behind
    all arrivals and copies of the phase that it is for; a thread that waits for a phase that is not complete goes no further, nor do the threads that meet it at a barrier.
    The phase of an mbarrier is complete in some order if the copies that its bytes can be of are: each choice of copies with that sum is tried."""
    operations = collections.defaultdict(lambda: {"init": [], "arrive": [], "bulk": []})
    for number, t in enumerate(threads):
        for one, interval, step in t.marks:
            if one[0] != "phase":
                operations[one[3] if one[0] == "bulk" else one[1]][one[0]].append((number, interval, step, one))
    complete = {}  # by mbarrier: the sets of copies that may be all that a wait is behind
    for b, found in operations.items():
        complete[b] = []
        if len(found["init"]) != 1 or found["init"][0][3][2] != len(found["arrive"]):
            if len(found["init"]) == 1 and found["init"][0][3][2] > len(found["arrive"]):
                continue  # never complete
            return None, 0  # misuse, or several phases: what the command may not prove
        expected = sum(a[3][2] for a in found["arrive"])
        for chosen in range(1 << len(found["bulk"])):
            copies = [c for k, c in enumerate(found["bulk"]) if chosen >> k & 1]
            if sum(c[3][2] for c in copies) == expected:
                complete[b].append(copies)
    stops = [FOREVER] * len(threads)  # step of the first wait of each thread that cannot be true
    for number, t in enumerate(threads):
        for one, interval, step in t.marks:
            if one[0] == "phase" and (one[2] == 0 and not complete.get(one[1])):
                stops[number] = min(stops[number], step)
    last = min([t.interval for t in threads] + [next(i for one, i, step in t.marks if step == stops[n]) for n, t in enumerate(threads) if stops[n] != FOREVER])
    events = [(number, event) for number, t in enumerate(threads) for event in t.events if event.number < stops[number] and event.interval <= last]

    def waited(thread, interval, step, copy):
        """The copy is complete before what a thread does then: it has waited, or another one has before a barrier that both passed."""
        b = copy[3][3]
        behind = [(n, i, s) for n, t in enumerate(threads) for one, i, s in t.marks if one == ("phase", b, 0) and all(copy in chosen for chosen in complete[b])]
        return any(i < interval or (n == thread and s < step) for n, i, s in behind)

    copies = {(n, i, s): (n, i, s, one) for n, t in enumerate(threads) for one, i, s in t.marks if one[0] == "bulk"}
    for k, (n, a) in enumerate(events):
        for m, c in events[k + 1:]:
            if a.at >= c.at + c.size or c.at >= a.at + a.size:
                continue
            kinds = {a.kind, c.kind}
            if not kinds & {"st", "red", "bulk", "init"} or kinds <= {"red", "phase", "arrive"}:
                continue
            if "bulk" in kinds:
                both = ((n, a), (m, c))
                ordered = False
                for (x, one), (y, other) in (both, both[::-1]):
                    copy = copies.get((x, one.interval, one.number))
                    if copy:
                        ordered = ordered or waited(y, other.interval, other.number, copy)
                        # what is before the copy
                        if not copies.get((y, other.interval, other.number)) or other.kind != "bulk":
                            before = other.interval < one.interval or (y == x and other.number < one.number)
                            ordered = ordered or before
                            if before and other.kind in ("st", "red", "init") and not between(threads, (y, other.interval, other.number), (x, one.interval, one.number)):
                                return one.interval, max(a.at, c.at)
                if not ordered:
                    return min(a.interval, c.interval), max(a.at, c.at)
            elif n != m and a.interval == c.interval:
                return a.interval, max(a.at, c.at)
    return None


def between(threads, first, second):
    """A fence.proxy.async behind the first and before the second."""
    before = lambda a, b: a[1] < b[1] or (a[0] == b[0] and a[2] < b[2])
    return any(before(first, (n, *f)) and before((n, *f), second) for n, t in enumerate(threads) for f in t.fences)


def unfenced(threads):
    """A write and wgmma behind it with no fence.proxy.async between, in blocks without races."""
    fences = [(number, *at) for number, t in enumerate(threads) for at in t.fences]
    before = lambda a, b: a[1] < b[1] or (a[0] == b[0] and a[2] < b[2])  # thread, interval, number
    writes = collections.defaultdict(set)  # by unit
    for number, t in enumerate(threads):
        for event in t.events:
            if event.kind in WRITES:
                for unit in range(event.at // 16, (event.at + event.size - 1) // 16 + 1):
                    writes[unit].add((number, *t.last(event)))
    for number, t in enumerate(threads):
        for event in t.events:
            if event.kind != "mma":
                continue
            read = (number, event.interval, event.number)
            for unit in event.at:
                for write in writes.get(unit, ()):
                    if before(write, read) and not any(before(write, f) and before(f, read) for f in fences):
                        return event.interval, unit * 16
    return None


def launch(kernel, block, n, ctaid, memory):
    return [Thread(kernel, {"tid": t, "ntid": block, "n": n, "ctaid": ctaid, "memory": memory}) for t in range(block)]


def any_memory(rng, known=None):
    """Numbers in global memory, by their offset: small ones, so that some are equal, or any; those that are known."""
    seed, kind = rng.getrandbits(32), rng.choice(["small", "any", "zeros", "mixed"])

    def number(offset):
        if known and offset in known:
            return known[offset]
        word = random.Random(f"{seed} {offset}")
        return {"small": word.randrange(4), "any": word.getrandbits(32), "zeros": 0, "mixed": word.choice([0, 1, 5, word.getrandbits(32)])}[kind]

    return number


def covers(event, byte):
    return byte // 16 in event.at if event.kind == "mma" else event.at <= byte < event.at + event.size


def check_race(kernel, one, memory):
    """A complaint about a race that is named, or nothing."""
    block, n, ctaid = one["block"][0], one["params"].get("n", 0), one["block_index"][0]
    if not 1 <= block <= 1024 or (kernel.block and block != kernel.block):
        return f"no launch has such a block: {one['block']}"
    byte = one["byte"] - BASE
    accesses, threads, lanes = [], [], []
    for side in ("first", "second"):
        t = one[side]["thread"][0]
        try:
            thread = Thread(kernel, {"tid": t, "ntid": block, "n": n, "ctaid": ctaid, "memory": memory})
        except Left:
            return None  # the race comes before the thread leaves its array: not judged
        threads.append(thread)
        if "matrix" in one[side]["op"]:
            rows = [(event, trans) for _, event, trans in thread.matrices if event.kind == one[side]["op"][:2] and covers(event, byte) and event.interval == one["barriers"]]
            accesses.append(bool(rows))
            lanes.append([[t // 32 * 32 + lane_of(reading, t % 32, trans, byte - event.at) for reading in READINGS] for event, trans in rows])
            continue
        lanes.append([[t] * len(READINGS)])
        wanted = one[side]["op"][:2].replace("re", "red").replace("wg", "mma")
        accesses.append(any(a.kind == wanted and covers(a, byte) and a.interval <= one["barriers"] <= thread.last(a)[0] for a in thread.events))
    if one["first"]["thread"] == one["second"]["thread"]:
        found = any(all(covers(a, byte) for a in pair) for pair in threads[0].own())
        return None if found else f"the thread has waited for its copy: {json.dumps(one)}"
    if not any(all(x != y for x, y in zip(a, b)) for a in lanes[0] for b in lanes[1]):
        return f"one lane may make both accesses: {json.dumps(one)}"
    writes = any(one[side]["op"].startswith(("st", "red", "cp")) for side in ("first", "second"))
    return None if all(accesses) and writes else f"the race is none: {json.dumps(one)}"


def check(kernel, answer, rng):
    """A complaint, or nothing."""
    verdict = answer["verdict"]
    if verdict == "refuted":
        one = answer["found"][0]
        if one.get("more_data"):
            return None  # which other numbers lead to it is not said
        known = {int(d["address"].split("+")[1]): d["value"] for d in one.get("data", [])}
        for _ in range(3 if kernel.loads else 1):
            complaint = check_race(kernel, one, any_memory(rng, known))
            if complaint:
                return complaint
        return None
    if verdict == "proved":
        for _ in range(2 if kernel.tiles or kernel.bulk else 5):
            block = kernel.block or rng.choice([1, 2, 3, 31, 32, 33, 64, 65, 128])
            n, ctaid = rng.choice([0, 1, 2, 3, 5, 8, 31, 32, 100, 1024, MASK, rng.getrandbits(32)]), rng.choice([0, 0, 1, 2, 5])
            try:
                found = race(launch(kernel, block, n, ctaid, any_memory(rng)))
            except Left:
                continue
            if found:
                return f"race free, but block {block}, n = {n}, ctaid = {ctaid} has a race: interval {found[0]}, byte {found[1]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=["any", "tiles", "bulk", "matrices", "plain"], default="any", help="tiles: kernels with wgmma alone; bulk: with mbarriers; matrices: with ldmatrix, stmatrix and barriers of warps")
    given = parser.parse_args()
    counts, wrong, done = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while done < given.cases:
            count = min(50, given.cases - done)
            kernels = [Generator(random.Random(f"{given.seed} {done + k}"), f"k{done + k}", given.kind if given.kind != "any" else ("tiles", "bulk", "matrices", "plain", "plain")[(done + k) % 5])
                       for k in range(count)]
            answers = {name: k["races"] for name, k in kernels_of(given.binary, folder, "".join(k.ptx() for k in kernels), "--races").items()}
            for kernel in kernels:
                answer = answers.get(kernel.name, {"verdict": "proved"})
                counts[answer["verdict"]] += 1
                if answer.get("found"):
                    counts["data"] += bool(answer["found"][0].get("data"))
                    counts["all data"] += kernel.loads and not answer["found"][0].get("data")
                counts[answer["verdict"], any("cp.async.c" in line for line in kernel.lines)] += 1
                counts[answer["verdict"], "mbarrier"] += any("mbarrier" in line for line in kernel.lines)
                counts[answer["verdict"], "matrices"] += any("matrix" in line for line in kernel.lines)
                counts[answer["verdict"], "wgmma"] += any("wgmma" in line for line in kernel.lines)
                complaint = check(kernel, answer, random.Random(f"{given.seed} {kernel.name} launches"))
                if complaint:
                    wrong += 1
                    print(f"seed {given.seed}, {kernel.name}: {complaint}\n{kernel.ptx()}")
            done += count
    print(f"{done} kernels: {counts['proved']} proved, {counts['refuted']} refuted, {counts['unknown']} unknown; {wrong} wrong; "
          f"with copies {counts['proved', True]} proved, {counts['refuted', True]} refuted, {counts['unknown', True]} unknown")
    print(f"{counts['data']} races for some data, {counts['all data']} for all data in kernels that load indices or guards")
    for what in ("wgmma", "mbarrier", "matrices"):
        print(f"with {what} " + ", ".join(f"{counts[v, what]} {v}" for v in ("proved", "refuted", "unknown")))
    if wrong or given.kind == "any" and not all(counts[v, w] for v in ("proved", "refuted") for w in (True, "wgmma", "matrices")) or given.kind in ("any", "bulk") and not counts["proved", "mbarrier"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
