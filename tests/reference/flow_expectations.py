#!/usr/bin/env python3
"""flow_expectations.py --binary PATH --cases N --seed S: a reference model of `swizproof flow --expect`, from `swizproof language flow` only.

Random expectations: sums, differences and products of elements, numbers and parameters, nested sums with ranges and conditions that depend on indices, the largest and smallest of
sets and of values, several for one array, conditions of the elements. Each is evaluated here to polynomials with exact coefficients, element by element. A kernel of one thread
computes these polynomials from loads, in another order and association, or others: with a term dropped, exchanged, doubled or added, with other members of a set. The command has to
prove it if and only if all polynomials are equal, and name the first wrong element otherwise. Where sets differ, 2,000 drawn launches say if the values do; then
the command may also say that it is undecided. --show prints each case. The last line has the numbers; exit code 1 if there are differences.
"""
import collections
import math
import os
import random
import struct
import sys
import tempfile
from fractions import Fraction

from asking import answered, options_of

ARRAYS = {"x": [6], "z": [3, 4], "w": [3]}
SCALARS = ["alpha", "beta"]
TARGETS = {"y": [6], "v": [3, 4]}


def times(p, q):
    out = collections.Counter()
    for a, m in p.items():
        for b, n in q.items():
            out[tuple(sorted(a + b))] += m * n
    return out


def plus(p, q, sign=1):
    out = collections.Counter(p)
    for a, n in q.items():
        out[a] += sign * n
    return out


class Empty(Exception):
    """The largest of no values."""


SETS = {}  # name: (smallest, members), each a polynomial


def extreme(smallest, members):
    """The largest or smallest of polynomials, as a polynomial: a factor of its own if it is none of them."""
    flat, numbers = {}, []
    for p in members:
        p = {a: n for a, n in p.items() if n}
        (name, factor), = [(a[0], n) for a, n in p.items()] if len(p) == 1 and len(next(iter(p))) == 1 else [(None, 0)]
        inner = [p]
        if name in SETS and factor == 1 and SETS[name][0] == smallest:
            inner = SETS[name][1]
        for q in inner:
            if set(q) <= {()}:
                numbers.append(q.get((), Fraction(0)))
            else:
                flat[frozenset(q.items())] = q
    if numbers:
        n = (min if smallest else max)(numbers)
        q = {(): n} if n else {}
        flat[frozenset(q.items())] = q
    if not flat:
        raise Empty
    if len(flat) == 1:
        return collections.Counter(next(iter(flat.values())))
    for name, (is_smallest, known) in SETS.items():
        if is_smallest == smallest and {frozenset(q.items()) for q in known} == set(flat):
            return collections.Counter({(name,): 1})
    name = f"set{len(SETS)}"
    SETS[name] = (smallest, list(flat.values()))
    return collections.Counter({(name,): 1})


def value_of(p, data):
    return sum(n * math.prod(factor_of(f, data) for f in factors) for factors, n in p.items())


def factor_of(name, data):
    if name in SETS:
        smallest, members = SETS[name]
        return (min if smallest else max)(value_of(q, data) for q in members)
    if name not in data:
        data[name] = Fraction(data["rng"].randint(-8, 8) * data["rng"].choice([1, 1, 5, 25]), 2)
    return data[name]


def differ(p, q, rng):
    for _ in range(2000):
        data = {"rng": rng}
        if value_of(p, data) != value_of(q, data):
            return True
    return False


class Indices:
    """Texts of integer expressions, and their values."""

    def __init__(self, rng):
        self.rng = rng

    def expression(self, names, extent):
        """An index below `extent` for all values of the names, which are (name, last value)."""
        rng = self.rng
        fits = [n for n in names if n[1] < extent]
        choice = rng.randrange(6)
        if fits and choice < 4:
            name, last = rng.choice(fits)
            room = extent - 1 - last
            shift = rng.randint(0, room)
            if shift and rng.random() < 0.5:
                return f"{name} + {shift}", lambda v, n=name, s=shift: v[n] + s
            if rng.random() < 0.2:
                return f"{last} - {name}", lambda v, n=name, s=last: s - v[n]
            return name, lambda v, n=name: v[n]
        if names and choice == 4:
            name, _ = rng.choice(names)
            return f"({name} * 5 + 1) % {extent}", lambda v, n=name, e=extent: (v[n] * 5 + 1) % e
        n = rng.randrange(extent)
        return str(n), lambda v, n=n: n

    def condition(self, names):
        rng = self.rng
        name, last = rng.choice(names)
        n = rng.randint(0, last + 1)
        return rng.choice([(f"{name} < {n}", lambda v: v[name] < n), (f"{name} >= {n}", lambda v: v[name] >= n), (f"{name} % 2 == 0", lambda v: v[name] % 2 == 0),
                           (f"{name} != {n} && {name} <= {last}", lambda v: v[name] != n)])


class Side:
    """A random right side: its text, and its polynomial under values of the indices. `degree` is the number of factors that are left."""

    def __init__(self, rng, names):
        self.rng, self.indices, self.sums = rng, Indices(rng), 0
        self.text, self.value = self.sum(names, 3, 0)

    def sum(self, names, degree, depth):
        text, value = self.product(names, degree, depth)
        for _ in range(self.rng.choice([0, 0, 1, 1, 2])):
            sign = self.rng.choice("+-")
            more, other = self.product(names, degree, depth)
            blank = self.rng.choice(["", " "])
            text = f"{text}{blank}{sign}{blank}{more}"
            value = (lambda v, a=value, b=other, s=1 if sign == "+" else -1: plus(a(v), b(v), s))
        return text, value

    def product(self, names, degree, depth):
        parts, left = [], degree
        for _ in range(self.rng.choice([1, 1, 2, 2, 3])):
            kind = self.rng.random()
            if kind < 0.2:
                parts.append(self.number())
            elif left and kind < 0.75:
                parts.append(self.element(names))
                left -= 1
            elif left and kind < 0.85 and depth < 2:
                used = self.rng.randint(1, left)
                text, value = self.sum(names, used, depth + 1)
                parts.append((f"({text})", value))
                left -= used
            elif left and kind < 0.93 and depth < 2:
                parts.append(self.chosen(names, depth + 1))
                left -= 1
            elif left and depth < 2 and self.sums < 3:
                used = self.rng.randint(1, left)
                parts.append(self.summed(names, used, depth + 1))
                left -= used
                break  # a sum is of all that follows
        if not parts:
            parts = [self.number()]
        if self.rng.random() < 0.15:
            text, value = parts[-1]
            parts[-1] = ("-" + text, lambda v, a=value: plus({}, a(v), -1))
        text, value = parts[0]
        for more, other in parts[1:]:
            text, value = text + self.rng.choice(["*", " * "]) + more, (lambda v, a=value, b=other: times(a(v), b(v)))
        return text, value

    def number(self):
        text = self.rng.choice(["2", "3", "0.5", "0.25", "1.5", "4", "0", "1", "1e1", "7"])
        return text, lambda v: collections.Counter({(): Fraction(text)})

    def element(self, names):
        if self.rng.random() < 0.2:
            scalar = self.rng.choice(SCALARS)
            return scalar, lambda v: collections.Counter({(scalar,): 1})
        array = self.rng.choice(list(ARRAYS))
        at = [self.indices.expression(names, extent) for extent in ARRAYS[array]]
        return (array + "".join(f"[{t}]" for t, _ in at),
                lambda v: collections.Counter({(array + "".join(f"[{x(v)}]" for _, x in at),): 1}))

    def chosen(self, names, depth):
        """max, min or abs of values."""
        if self.rng.random() < 0.2:
            text, value = self.sum(names, 2, depth)
            return f"abs({text})", lambda v: extreme(False, [value(v), plus({}, value(v), -1)])
        word = self.rng.choice(["max", "min"])
        values = [self.sum(names, 2, depth) for _ in range(self.rng.randint(2, 3))]
        return f"{word}({', '.join(t for t, _ in values)})", lambda v: extreme(word == "min", [x(v) for _, x in values])

    def summed(self, names, degree, depth):
        self.sums += 1
        word = self.rng.choice(["sum", "sum", "max", "min"])
        name, last = f"k{self.sums}", self.rng.randint(1, 4)
        text, low, high = f"{name} in 0..{last}", lambda v: 0, lambda v: last
        outer = [n for n in names if n[1] <= 5]
        if outer and self.rng.random() < 0.4:
            other, end = self.rng.choice(outer)
            text, high, last = f"{name} in 0..{other}", lambda v: v[other], end
            if self.rng.random() < 0.3:
                text, high = f"{name} in 0..{other} - 1", lambda v: v[other] - 1
            elif self.rng.random() < 0.3:
                text, low, high, last = f"{name} in {other}..{end}", lambda v: v[other], lambda v: end, end
        inner = names + [(name, last)]
        condition = None
        if self.rng.random() < 0.3:
            words, condition = self.indices.condition(inner)
            text += f" if {words}"
        body, value = self.product(inner, degree, depth)
        if name not in body:  # an index is one of an element
            body, value = f"w[{name} % 3]", lambda v: collections.Counter({(f"w[{v[name] % 3}]",): 1})

        def total(v):
            out, members = collections.Counter(), []
            for n in range(low(v), high(v) + 1):
                inside = v | {name: n}
                if condition is None or condition(inside):
                    members.append(value(inside))
            if word != "sum":
                return extreme(word == "min", members)
            for p in members:
                out = plus(out, p)
            return out
        return f"{word}({text}) {body}", total


class Expectation:
    """One or two texts for an array, and what each element shall be; elements without one may not be written."""

    def __init__(self, rng, target):
        self.texts, self.elements = [], {}
        extents = TARGETS[target]
        names = [("i", extents[0] - 1)] + ([("j", extents[1] - 1)] if len(extents) > 1 else [])
        element = target + "".join(f"[{n}]" for n, _ in names)
        parts = [(0, extents[0] - 1)]
        if rng.random() < 0.3:
            cut = rng.randint(1, extents[0] - 1)
            parts = [(0, cut - 1), (cut, extents[0] - 1)]
        for first, last in parts:
            side = Side(rng, names)
            text, condition = f"{element} = {side.text}", None
            if rng.random() < 0.15:
                words, condition = Indices(rng).condition(names)
                text += f" if {words}"
            text += f" for i in {first}..{last}" + (f" for j in 0..{extents[1] - 1}" if len(extents) > 1 else "")
            self.texts.append(text)
            for i in range(first, last + 1):
                for j in range(extents[1]) if len(extents) > 1 else [None]:
                    v = {"i": i} | ({} if j is None else {"j": j})
                    if condition is None or condition(v):
                        self.elements[target + f"[{i}]" + ("" if j is None else f"[{j}]")] = {a: n for a, n in side.value(v).items() if n}


def bits(number):
    return f"0f{struct.unpack('<I', struct.pack('<f', float(number)))[0]:08x}"


def kernel(rng, wanted):
    """PTX of one thread that stores these polynomials."""
    body, loaded = [], {}

    def chosen(name):
        """A set: its members in another order, some twice, by instructions nested as a list or as a tree."""
        smallest, members = SETS[name]
        op, registers = "min" if smallest else "max", []
        order = members + rng.sample(members, rng.choice([0, 0, 1]))
        rng.shuffle(order)
        if len(members) == 2 and plus(members[0], members[1]) == {k: 0 for k in members[0]} and not smallest and rng.random() < 0.5:
            order, op = order[:1], "abs"
        for q in order:
            registers.append(sum_of(q))
        if op != "abs" and rng.random() < 0.3:
            registers.append(new())
            body.append(f"mov.f32 {registers[-1]}, {rng.choice(['0fFF800000', '0fFF7FFFFF'] if not smallest else ['0f7F800000', '0f7F7FFFFF'])};")
        if op == "abs":
            out = new()
            body.append(f"abs.f32 {out}, {registers[0]};")
            return out
        while len(registers) > 1:
            a, b, out = registers.pop(rng.randrange(len(registers))), registers.pop(0), new()
            body.append(f"{op}.f32 {out}, {a}, {b};")
            registers.append(out)
        return registers[0]

    def new():
        body.append("")
        return f"%f{len(body) + 10}"

    def register(name):
        if name in SETS:
            return chosen(name)
        if name not in loaded or rng.random() < 0.1:
            loaded[name] = new()
            if "[" not in name:
                body.append(f"ld.param.f32 {loaded[name]}, [{name}];")
            else:
                array, at = name.split("[", 1)
                at = [int(n) for n in at[:-1].split("][")]
                extents = ARRAYS.get(array) or TARGETS[array]
                offset = at[0] if len(at) == 1 else at[0] * extents[1] + at[1]
                body.append(f"ld.global.f32 {loaded[name]}, [%{array}+{4 * offset}];")
        return loaded[name]

    def sum_of(polynomial):
        terms = list(polynomial.items())
        rng.shuffle(terms)
        total = new()
        body.append(f"mov.f32 {total}, 0f00000000;")
        for factors, number in terms:
            factors = list(factors)
            rng.shuffle(factors)
            if rng.random() < 0.2 and number.denominator == 1 and 1 < number <= 3 and factors:
                repeat, number = int(number), Fraction(1)
            else:
                repeat = 1
            for _ in range(repeat):
                names = [register(f) for f in factors]
                body.append(f"mov.f32 %f2, {bits(number)};")
                for name in names[:-1] if names else []:
                    body.append(f"mul.rn.f32 %f2, %f2, {name};")
                if not names:
                    body.append(f"add.rn.f32 {total}, {total}, %f2;")
                else:
                    body.append(f"fma.rn.f32 {total}, %f2, {names[-1]}, {total};" if rng.random() < 0.7
                                else f"mul.rn.f32 %f2, %f2, {names[-1]}; add.rn.f32 {total}, {total}, %f2;")
        return total
    for element, polynomial in wanted.items():
        result = sum_of(polynomial)
        array, at = element.split("[", 1)
        at = [int(n) for n in at[:-1].split("][")]
        offset = at[0] if len(at) == 1 else at[0] * TARGETS[array][1] + at[1]
        body.append(f"st.global.f32 [%{array}+{4 * offset}], {result};")
    pointers = list(TARGETS) + list(ARRAYS)
    params = ", ".join([f".param .u64 {p}" for p in pointers] + [f".param .f32 {s}" for s in SCALARS])
    heads = "\n".join(f"ld.param.u64 %{p}, [{p}];" for p in pointers)
    return (f".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k({params})\n{{\n.reg .f32 %f<{len(body) + 20}>; .reg .b64 " + ", ".join("%" + p for p in pointers)
            + ";\n" + heads + "\n" + "\n".join(body) + "\nret;\n}\n")


def changed(rng, wanted):
    """The polynomials with one of them changed, if that is possible."""
    out = {e: dict(p) for e, p in wanted.items()}
    element = rng.choice(list(out))
    p = out[element]
    choice = rng.randrange(5)
    used = [a for a in p if any(f in SETS for f in a)]
    if used and rng.random() < 0.6:
        factors = rng.choice(used)
        name = rng.choice([f for f in factors if f in SETS])
        smallest, members = SETS[name]
        members = [dict(q) for q in members]
        kind = rng.randrange(4)
        if kind == 0 and len(members) > 1:
            members.pop(rng.randrange(len(members)))
        elif kind == 1:
            members.append({(rng.choice(["x[0]", "x[5]", "w[1]", "z[2][3]", "alpha"]),): Fraction(1)})
        elif kind == 2:
            smallest = not smallest
        else:
            q = rng.choice(members)
            q[("x[1]",)] = q.get(("x[1]",), 0) + 1
        other = extreme(smallest, members)
        number, rest = p.pop(factors), list(factors)
        rest.remove(name)
        for a, n in times({tuple(rest): number}, other).items():
            p[a] = p.get(a, 0) + n
    elif choice == 0 and p:
        del p[rng.choice(list(p))]
    elif choice == 1 and p:
        p[rng.choice(list(p))] *= rng.choice([2, -1, Fraction(1, 2)])
    elif choice == 2:
        new = tuple(sorted(rng.choice(["x[0]", "x[5]", "w[1]", "z[2][3]", "alpha"]) for _ in range(rng.randint(0, 2))))
        p[new] = p.get(new, 0) + 1
    elif choice == 3:
        other = rng.choice(list(out))
        out[element], out[other] = out[other], out[element]
    else:
        del out[element]
    return {e: {a: n for a, n in q.items() if n} for e, q in out.items()}


def main():
    options = options_of(__doc__, 200, by_number=True)
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.first, options.first + options.cases):
            rng = random.Random(options.seed * 1000003 + case)
            SETS.clear()
            try:
                expectations = [Expectation(rng, t) for t in rng.sample(list(TARGETS), rng.choice([1, 1, 2]))]
            except Empty:
                tally["sets without members"] += 1
                continue
            wanted = {e: p for x in expectations for e, p in x.elements.items()}
            if not wanted:
                continue
            if max((abs(float(n)) for p in wanted.values() for n in p.values()), default=0) > 1 << 20 or sum(map(len, wanted.values())) > 4000:
                tally["too large"] += 1
                continue
            written = wanted if rng.random() < 0.5 else changed(rng, wanted)
            differing = [e for e in wanted.keys() | written.keys() if wanted.get(e) != written.get(e)]
            with_sets = any(f in SETS for e in differing for p in (wanted, written) if e in p for a in p[e] for f in a)
            bad = [e for e in wanted if e in written and written[e] != wanted[e] and (not with_sets or differ(written[e], wanted[e], rng))]
            right = written == wanted or (with_sets and not bad and wanted.keys() == written.keys())
            if max((len(a) for p in written.values() for a in p), default=0) > 4:
                tally["too large"] += 1
                continue
            path = os.path.join(folder, "k.ptx")
            text = kernel(rng, written)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            words = ["flow", path, "--block", "1", "--repair-steps", "0", "--json"]
            for name, extents in (TARGETS | ARRAYS).items():
                words += ["--param", f"{name}={name}:f32" + "".join(f"[{n}]" for n in extents)]
            for name in SCALARS:
                words += ["--param", f"{name}={name}:f32"]
            texts = [t for x in expectations for t in x.texts]
            for t in texts:
                words += ["--expect", t]
            code, document = answered(options.binary, words)
            tally[{0: "proved", 1: "refuted", 3: "unknown"}.get(code, "error")] += 1
            tally["elements"] += len(wanted)
            found = []
            undecided = with_sets and code == 3
            if code != (0 if right else 1) and not undecided:
                found.append(f"exit code {code}, and the model says {'right' if right else 'wrong'}: {texts} {str(document)[:600]}")
            if code == 1 and document["wrong"] != len(bad) and not (with_sets and 0 < document["wrong"] < len(bad)):
                found.append(f"{document['wrong']} wrong elements, and {len(bad)} in the model: {texts}")
            if code == 1 and bad and document["first_wrong"]["element"] not in bad:
                found.append(f"{document['first_wrong']['element']} is right in the model: {texts}")
            if options.show:
                print(texts, text, code, found)
            for what in found[:2]:
                print(f"DIFFERENT: seed {options.seed}, case {case}: {what}", flush=True)
            differences += bool(found)
    print(f"flow_expectations: {options.cases} kernels; " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())) + f"; {differences} different")
    return int(differences != 0)


if __name__ == "__main__":
    sys.exit(main())
