#!/usr/bin/env python3
"""flow_atomics.py --binary PATH --cases N --seed S: a reference model of atomics and shuffles in `swizproof flow`, written from the PTX ISA alone.

Random kernels of at most four threads in two warps, some of them on arrays whose numbers are given, that load, store, and change words of shared and global memory by atomics, in phases between
barriers; and shuffles with bounds. All orders of the threads are enumerated on integers as data. A launch is wrong if a word that no thread
has written is read, or if two accesses of a phase by two threads are of one word, one of them a write, and not both strong; an atomic is strong.
Wrong ones may be refuted alone, right ones proved, or unknown, which is counted. Where the command proves, each sum that it names is the value in
every order. --show prints each kernel. The last line has the numbers; exit code 1 if there are differences.
"""
import collections
import os
import random
import re
import sys
import tempfile

from asking import answered, options_of

MASK = {32: (1 << 32) - 1, 64: (1 << 64) - 1}
WORDS, OUT = 3, 24


def signed(bits, width):
    return bits - (1 << width) if bits >> (width - 1) else bits


def after(op, kind, width, old, b, c):
    """What memory holds after an atomic operation [PTX ISA, atom]."""
    if kind == "f":
        return old + b if op == "add" else b
    if op in ("min", "max"):
        key = (lambda x: signed(x, width)) if kind == "s" else (lambda x: x)
        return (min if op == "min" else max)(old, b, key=key)
    table = {"add": old + b, "and": old & b, "or": old | b, "xor": old ^ b, "exch": b, "cas": c if old == b else old,
             "inc": 0 if old >= b else old + 1, "dec": b if old == 0 or old > b else old - 1}
    return table[op] & MASK[width]


class Word:
    """A word of memory: its number of bits, and if it holds floats."""

    def __init__(self, rng, number, everywhere):
        self.width, self.float = rng.choice([(32, False), (32, False), (64, False), (32, True)])
        self.shared = not everywhere or rng.random() < 0.7
        self.name = number

    def address(self):
        return f"[%rs+{8 * self.name}]" if self.shared else f"[%g{'f' if self.float else self.width}+{8 * self.name}]"

    def space(self, rng):
        return ("shared" if self.shared else "global") if rng.random() < 0.9 else ("shared::cta" if self.shared else "global")


def operand(rng, word, small=False):
    """A number, or an element of the thread."""
    if word.float:
        return ("x",) if rng.random() < 0.6 else ("n", rng.randint(-4, 9))
    if not small and rng.random() < 0.4:
        return ("x",)
    return ("n", rng.choice([0, 1, 1, 2, 3, 7, rng.randrange(16), MASK[word.width], rng.getrandbits(word.width)]))


def operation(rng, words, favourite):
    """(kind, word, ...) of one instruction."""
    word = rng.choice(words)
    draw = rng.random()
    if draw < 0.62:
        if word.float:
            op, kind = rng.choice(["add", "add", "add", "exch"]), "f"
            kind = "f" if op == "add" else "b"
        else:
            op = favourite[word.name] if rng.random() < 0.8 else rng.choice(["add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"])
            if op in ("inc", "dec") and word.width == 64:
                op = "add"
            kind = {"add": rng.choice("us"), "min": rng.choice("us"), "max": rng.choice("us"), "inc": "u", "dec": "u"}.get(op, "b")
            if op == "add" and word.width == 64:
                kind = "u"
            if op in ("min", "max") and rng.random() < 0.7:
                kind = "s" if word.name % 2 else "u"
        bound = ("n", 5) if op in ("inc", "dec") and rng.random() < 0.7 else operand(rng, word, op in ("inc", "dec", "cas"))
        return ("red" if rng.random() < 0.7 and op not in ("exch", "cas") else "atom", word, op, kind, bound, operand(rng, word))
    if draw < 0.82:
        return ("st", word, rng.random() < 0.15, operand(rng, word))
    return ("ld", word, rng.random() < 0.15)


class Kernel:
    """Phases of lists of (warp, lanes, operation)."""

    def __init__(self, rng):
        self.words = [Word(rng, i, True) for i in range(WORDS)]
        favourite = [rng.choice(["add", "add", "min", "max", "and", "or", "xor", "inc", "dec"]) for _ in range(WORDS)]
        first = [(0, 1, ("st", w, False, operand(rng, w))) for w in self.words if w.shared and rng.random() < 0.97]
        self.phases = [first] if rng.random() < 0.97 else []
        for _ in range(rng.randint(1, 2)):
            some = rng.sample(self.words, rng.randint(1, WORDS))
            atomic = rng.random() < 0.6
            phase = []
            for warp in range(2):
                for _ in range(rng.randint(0, 2)):
                    op = operation(rng, some, favourite)
                    while atomic and op[0] in ("st", "ld"):
                        op = operation(rng, some, favourite)
                    phase.append((warp, rng.choice([1, 1, 2]), op))
            self.phases.append(phase)
        self.phases.append([(0, 1, ("ld", w, False)) for w in self.words])
        self.rng = rng

    def instruction(self, warp, lanes, op, at):
        """PTX of one operation; the result of thread t goes to element OUT * t + at."""
        word, width = op[1], op[1].width
        guard = f"@%p{2 * warp + lanes}"
        reg = "%f" if word.float else "%r" if width == 32 else "%d"

        def source(what, into):
            number = f"0f{float_bits(what[1]):08x}" if what[0] == "n" and word.float else what[1] if what[0] == "n" else None
            if what[0] == "x":
                return f"{guard} mov.b{width} {reg}{into}, {reg}1;\n", f"{reg}{into}"
            if self.rng.random() < 0.5 and not word.float:
                return "", str(number if number < 1 << 63 or width == 32 else number - (1 << 64))
            return f"{guard} mov.b{width} {reg}{into}, {number};\n", f"{reg}{into}"

        space, out = word.space(self.rng), f"{guard} st.global.b{width} [%o{'f' if word.float else width}+{width // 8 * at}], {reg}5;\n"
        if op[0] == "ld":
            return f"{guard} ld{'.volatile' if op[2] else ''}.{space}.b{width} {reg}5, {word.address()};\n" + out
        if op[0] == "st":
            before, value = source(op[3], 4)
            return before + f"{guard} st{'.volatile' if op[2] else ''}.{space}.b{width} {word.address()}, {value};\n"
        kind, name = op[0], op[2]
        before, value = source(op[4], 4)
        more, last = source(op[5], 6) if name == "cas" else ("", "")
        scope = self.rng.choice(["", "", ".relaxed.cta", ".relaxed.gpu"])
        type_of = f"{op[3]}{width}"
        return (before + more + f"{guard} {kind}{scope}.{space}.{name}.{type_of} {f'{reg}5, ' if kind == 'atom' else ''}{word.address()}, {value}"
                + (f", {last}" if name == "cas" else "") + ";\n" + (out if kind == "atom" else ""))

    def text(self):
        body, self.results = "", []
        at = 0
        for number, phase in enumerate(self.phases):
            body += "bar.sync 0;\n" if number else ""
            for warp, lanes, op in phase:
                body += self.instruction(warp, lanes, op, at)
                self.results.append(at)
                at += 1
        guards = "".join(f"setp.lt.u32 %p{lanes}, %r1, {lanes};\nsub.u32 %r9, %r1, 32; setp.lt.u32 %p{2 + lanes}, %r9, {lanes};\n" for lanes in (1, 2))
        arrays = "".join(f"ld.param.u64 %o{n}, [o{n}]; ld.param.u64 %g{n}, [g{n}]; ld.param.u64 %x{n}, [x{n}];\n"
                         f"mad.wide.u32 %o{n}, %r1, {OUT * b}, %o{n}; mad.wide.u32 %x{n}, %r1, {b}, %x{n};\n" for n, b in (("32", 4), ("64", 8), ("f", 4)))
        params = ", ".join(f".param .u64 {a}{n}" for n in ("32", "64", "f") for a in "ogx")
        return (f".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k({params})\n{{\n.reg .pred %p<9>; .reg .b32 %r<10>; .reg .b32 %rs; .reg .f32 %f<10>; "
                ".reg .b64 %d<10>;\n.reg .b64 %o32, %o64, %of, %g32, %g64, %gf, %x32, %x64, %xf;\n.shared .align 8 .b8 s[64];\nmov.u32 %r1, %tid.x; mov.u32 %rs, s;\n"
                + guards + arrays + "ld.global.u32 %r1, [%x32]; ld.global.u64 %d1, [%x64]; ld.global.f32 %f1, [%xf];\n" + body + "ret;\n}\n")


def float_bits(value):
    import struct
    return struct.unpack("<I", struct.pack("<f", float(value)))[0]


THREADS = {(0, 0): 0, (0, 1): 1, (1, 0): 32, (1, 1): 33}


class Model:
    """All orders of the threads, phase by phase."""

    def __init__(self, kernel, data):
        self.kernel, self.data = kernel, data
        memory = {w.name: None if w.shared else data(("g", self.kind(w), w.name * (1 if w.width == 64 else 2))) for w in kernel.words}
        self.states, self.fault, self.number = {(tuple(memory[i] for i in range(WORDS)), frozenset())}, None, 0

    @staticmethod
    def kind(word):
        return "f" if word.float else str(word.width)

    def value(self, what, word, thread):
        if what[0] == "n":
            return what[1]
        return self.data(("x", self.kind(word), thread))

    def race(self, programs):
        for a in programs:
            for b in programs:
                for i, x in programs[a] if a < b else ():
                    for j, y in programs[b]:
                        if x[1] is not y[1] or (x[0] == "ld" and y[0] == "ld"):
                            continue
                        strong = all(o[0] in ("atom", "red") or o[2] for o in (x, y))
                        one = i == j and x[0] == "st" and self.value(x[3], x[1], a) == self.value(y[3], y[1], b) and x[3][0] == "n"
                        if not strong and not one:
                            return f"race of threads {a} and {b}"
        return None

    def run(self):
        for phase in self.kernel.phases:
            programs = collections.defaultdict(list)
            for warp, lanes, op in phase:
                for lane in range(lanes):
                    programs[THREADS[warp, lane]].append((self.number, op))
                self.number += 1
            self.fault = self.fault or self.race(programs)
            threads = sorted(programs)
            work = {(tuple(0 for _ in threads), *state) for state in self.states}
            seen, done = set(work), set()
            work = list(work)
            while work:
                at, memory, out = work.pop()
                if all(at[i] == len(programs[t]) for i, t in enumerate(threads)):
                    done.add((memory, out))
                for i, t in enumerate(threads):
                    if at[i] == len(programs[t]):
                        continue
                    number, op = programs[t][at[i]]
                    after_it = (at[:i] + (at[i] + 1,) + at[i + 1:], *self.step(memory, out, t, number, op))
                    if after_it not in seen:
                        seen.add(after_it)
                        work.append(after_it)
                if len(seen) > 60000:
                    return False
            self.states = done
        return True

    def step(self, memory, out, thread, number, op):
        word = op[1]
        old = memory[word.name]
        if op[0] != "st" and old is None:
            self.fault = self.fault or "a word that is not written"
            old = 0
        if op[0] in ("ld", "atom"):
            out = out | {((self.kind(word), thread, number), old)}
        if op[0] == "ld":
            return memory, out
        if op[0] == "st":
            new = self.value(op[3], word, thread)
        else:
            kind = "f" if word.float else op[3]
            new = after(op[2], kind, word.width, old, self.value(op[4], word, thread), self.value(op[5], word, thread))
        return memory[:word.name] + (new,) + memory[word.name + 1:], out


TERM = re.compile(r"-?[0-9.e+]+|[gx](?:32|64|f)\[\d+\]")


def evaluated(text, data, kind):
    """The number that a sum of products is; None if it is none."""
    total = 0
    for term in text.split(" + "):
        product = 1
        for factor in term.split("*"):
            if not TERM.fullmatch(factor):
                return None
            if factor[0] in "gx":
                name, index = factor[:-1].split("[")
                product *= data((name[0], name[1:], int(index)))
            else:
                if kind != "f" and ("e" in factor or "." in factor):
                    return None  # printed with too few digits
                product *= float(factor) if kind == "f" else int(factor)
        total += product
    return total if kind == "f" else total & MASK[int(kind)]


def asked(options, folder, text, block, params):
    path = os.path.join(folder, "k.ptx")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return answered(options.binary, ["flow", path, "--block", str(block), *[w for p in params for w in ("--param", p)], "--every-element", "--json"])


def atomics(rng, options, folder, tally):
    kernel = Kernel(rng)
    numbers = {}

    def data(key):
        if key not in numbers:
            numbers[key] = float(rng.randint(-50, 50)) if key[1] == "f" else rng.getrandbits(int(key[1]))
        return numbers[key]
    text = kernel.text()
    model = Model(kernel, data)
    if not model.run():
        tally["not enumerated"] += 1
        return text, []
    given = rng.random() < 0.3  # with the numbers of the data

    def numbers_of(array, kind):
        return "=" + ",".join(f"{data((array, kind, i)):g}" if kind == "f" else str(data((array, kind, i))) for i in range(64)) if given and array != "o" else ""
    params = [f"{i}={a}{n}:{'f32' if n == 'f' else 'u' + n}[{size}]{numbers_of(a, n)}" for i, (n, a, size) in enumerate(
        (n, a, 34 * OUT if a == "o" else 64) for n in ("32", "64", "f") for a in "ogx")]
    code, document = asked(options, folder, text, 64, params)
    tally[{0: "proved", 1: "refuted", 3: "unknown"}.get(code, "error")] += 1
    found = []
    if code not in (0, 1, 3) or (code == 1) != bool(model.fault) and code != 3:
        found.append(f"the model: {model.fault}; the program: {code} {document.get('fault') or document}")
    outcomes = collections.defaultdict(set)
    for memory, out in model.states:
        for place, value in out:
            outcomes[place].add(value)
    if code == 3:
        one = not model.fault and all(len(v) == 1 for v in outcomes.values())
        tally["unknown, wrong" if model.fault else "unknown, one result in all orders" if one else "unknown, several results"] += 1
    if code == 0:
        answers = dict(v.split(" = ", 1) for v in document["values"])
        for (kind, thread, number), values in outcomes.items():
            name = f"o{kind}[{OUT * thread + number}]"
            value = evaluated(answers[name], data, kind) if name in answers else None
            if name not in answers:
                found.append(f"{name} is not written")
            elif value is None:
                tally["not followed"] += 1
            else:
                tally["values"] += 1
                if values != {value}:
                    found.append(f"{name} = {answers[name]} is {value}, and in the model {values}")
    return text, found


def shuffled(mode, lane, b, c):
    """The lane that a lane reads, and the predicate [PTX ISA, shfl.sync]."""
    segment, bval, cval = c >> 8 & 31, b & 31, c & 31
    most, least = (lane & segment) | (cval & ~segment & 31), lane & segment
    j, inside = {"up": (lane - bval, lane - bval >= most), "down": (lane + bval, lane + bval <= most), "bfly": (lane ^ bval, lane ^ bval <= most),
                 "idx": (least | (bval & ~segment & 31), (least | (bval & ~segment & 31)) <= most)}[mode]
    return (j, True) if inside else (lane, False)


def shuffles(rng, options, folder, tally):
    mode = rng.choice(["up", "down", "bfly", "idx"])
    factor, offset = rng.choice([0, 0, 1, 3, rng.randrange(32)]), rng.choice([1, 2, 4, 8, 16, 31, rng.randrange(64)])
    c = rng.choice([0, 31, rng.getrandbits(13), rng.choice([0, 16, 24, 28, 30]) << 8 | rng.choice([0, 31, 7])])
    text = (".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 c)\n{\n.reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<9>;\n"
            "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [c]; mad.wide.u32 %rd1, %r1, 8, %rd1;\n"
            f"mul.lo.u32 %r2, %r1, {factor}; add.u32 %r2, %r2, {offset}; mul.lo.u32 %r3, %r1, 7;\n"
            f"shfl.sync.{mode}.b32 %r4|%p1, %r3, %r2, {c}, -1;\nselp.u32 %r5, 1, 0, %p1;\nst.global.v2.u32 [%rd1], {{%r4, %r5}};\nret;\n}}\n")
    code, document = asked(options, folder, text, 32, ["0=c:u32[32][2]"])
    tally["shuffles"] += 1
    answers = dict(v.split(" = ", 1) for v in document.get("values", []))
    found = []
    for lane in range(32):
        source, inside = shuffled(mode, lane, lane * factor + offset & MASK[32], c)
        for name, value in ((f"c[{lane}][0]", 7 * source), (f"c[{lane}][1]", int(inside))):
            if answers.get(name) != str(value):
                found.append(f"{name} is {value}, and the program has {answers.get(name)} ({code})")
    return text, found


def main():
    options = options_of(__doc__, 300, by_number=True)
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.first, options.first + options.cases):
            rng = random.Random(options.seed * 1000003 + case)
            text, found = (shuffles if case % 8 == 7 else atomics)(rng, options, folder, tally)
            if options.show:
                print(text, found)
            for what in found[:3]:
                print(f"DIFFERENT: seed {options.seed}, case {case}: {what}", flush=True)
            differences += bool(found)
    print(f"flow_atomics: {options.cases} kernels; " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())) + f"; {differences} different")
    return int(differences != 0)


if __name__ == "__main__":
    sys.exit(main())
