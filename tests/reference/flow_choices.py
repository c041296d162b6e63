#!/usr/bin/env python3
"""flow_choices.py --binary PATH --cases N --seed S: a reference model of branches by data in `swizproof flow`.

Random kernels of two threads: sums and products of elements in registers, nested branches and guards, some by data, some by the thread. All outcomes of the branches by
data are enumerated here. A result that is named by the command has this value in every outcome; the launch has no race, so it is proved. --show prints each kernel. The last line has
the numbers; exit code 1 if there are differences.
"""
import collections
import itertools
import os
import random
import re
import sys
import tempfile

from asking import answered, options_of

REGISTERS, OUTPUTS, THREADS = 5, 4, 2


def block(rng, depth, conditions):
    """Statements: ("op", guard, to, op, a, b) or ("if", condition, then, else)."""
    out = []
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.45:
            then = block(rng, depth - 1, conditions)
            out.append(("if", condition(rng, conditions), then, block(rng, depth - 1, conditions) if rng.random() < 0.6 else []))
        else:
            guard = condition(rng, conditions) if rng.random() < 0.25 else None
            out.append(("op", guard, rng.randrange(REGISTERS), rng.choice(["add", "sub", "mov", "number", "double"]), rng.randrange(REGISTERS), rng.randrange(REGISTERS)))
    return out


def condition(rng, conditions):
    """The number of a condition: of data (which element, which register holds it), or of the thread."""
    if conditions and rng.random() < 0.3:
        return rng.randrange(len(conditions))
    conditions.append("thread" if rng.random() < 0.25 else "data")
    return len(conditions) - 1


class Text:
    def __init__(self, statements, conditions):
        self.lines, self.labels = [], 0
        for n, kind in enumerate(conditions):
            self.lines.append(f"setp.eq.u32 %p{n}, %r1, 0;" if kind == "thread" else f"ld.global.f32 %f9, [%rd2+{4 * (32 + n)}]; setp.lt.f32 %p{n}, %f9, 0f3F800000;")
        self.block(statements)
        body = "\n".join(self.lines)
        loads = "\n".join(f"ld.global.f32 %f{r}, [%rd3+{8 * r}];" for r in range(REGISTERS))
        stores = "\n".join(f"st.global.f32 [%rd4+{8 * k}], %f{k};" for k in range(OUTPUTS))
        self.text = (".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y, .param .u64 x)\n{\n"
                     f".reg .pred %p<{len(conditions) + 1}>; .reg .b32 %r<4>; .reg .f32 %f<12>; .reg .b64 %rd<8>;\n"
                     "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; mul.wide.u32 %rd5, %r1, 4;\n"
                     "add.s64 %rd3, %rd2, %rd5; add.s64 %rd4, %rd1, %rd5;\n" + loads + "\n" + body + "\n" + stores + "\nret;\n}\n")

    def block(self, statements):
        for s in statements:
            if s[0] == "if":
                self.labels += 1
                other, join = f"$L{self.labels}", f"$M{self.labels}"
                self.lines.append(f"@!%p{s[1]} bra {other};")
                self.block(s[2])
                self.lines.append(f"bra {join};\n{other}:")
                self.block(s[3])
                self.lines.append(f"{join}:")
                continue
            _, guard, to, op, a, b = s
            on = "" if guard is None else f"@%p{guard} "
            self.lines.append(on + {"add": f"add.f32 %f{to}, %f{a}, %f{b};", "sub": f"sub.f32 %f{to}, %f{a}, %f{b};", "mov": f"mov.f32 %f{to}, %f{a};",
                                    "number": f"mov.f32 %f{to}, 0f{0x40000000 + (a << 23):08x};", "double": f"mul.f32 %f{to}, %f{a}, 0f40000000;"}[op])


def executed(statements, outcome, registers):
    for s in statements:
        if s[0] == "if":
            executed(s[2] if outcome[s[1]] else s[3], outcome, registers)
            continue
        _, guard, to, op, a, b = s
        if guard is not None and not outcome[guard]:
            continue
        x, y = registers[a], registers[b]
        if op in ("add", "sub"):
            sign = 1 if op == "add" else -1
            new = {k: x.get(k, 0) + sign * y.get(k, 0) for k in x.keys() | y.keys()}
        else:
            new = {"mov": lambda: dict(x), "number": lambda: {"": 2.0 * 2 ** a}, "double": lambda: {k: 2 * v for k, v in x.items()}}[op]()
        registers[to] = {k: v for k, v in new.items() if v}


TERM = re.compile(r"(?:(-?[0-9.e+]+)\*)?(x\[\d+\])|(-?[0-9.e+]+)")


def polynomial(text):
    """Of a sum of elements with coefficients; None if it is none."""
    out = {}
    for term in text.split(" + "):
        match = TERM.fullmatch(term)
        if not match:
            return None
        if match[2]:
            out[match[2]] = float(match[1] or 1)
        elif float(match[3]):
            out[""] = float(match[3])
    return out


def main():
    options = options_of(__doc__, 200, by_number=True)
    tally, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.first, options.first + options.cases):
            rng = random.Random(options.seed * 1000003 + case)
            conditions = []
            statements = block(rng, 3, conditions)
            data = [n for n, kind in enumerate(conditions) if kind == "data"]
            if len(data) > 8:
                tally["too many conditions"] += 1
                continue
            path, text, found = os.path.join(folder, "k.ptx"), Text(statements, conditions).text, []
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            code, document = answered(options.binary, ["flow", path, "--block", str(THREADS), "--param", "0=y:f32[16]", "--param", "1=x:f32[64]", "--every-element", "--json"])
            tally[{0: "proved", 1: "refuted", 3: "unknown"}.get(code, "error")] += 1
            if code != 0:
                found.append(f"exit code {code}: {document.get('reason') or document}")
            named = dict(v.split(" = ", 1) for v in document.get("values", []))
            for thread in range(THREADS):
                results = collections.defaultdict(list)
                for bits in itertools.product([False, True], repeat=len(data)):
                    outcome = {n: thread == 0 for n in range(len(conditions))} | dict(zip(data, bits))
                    registers = [{f"x[{2 * r + thread}]": 1.0} for r in range(REGISTERS)]
                    executed(statements, outcome, registers)
                    for k in range(OUTPUTS):
                        if registers[k] not in results[k]:
                            results[k].append(registers[k])
                for k in range(OUTPUTS):
                    answer = polynomial(named.get(f"y[{2 * k + thread}]", "nothing"))
                    tally["named" if answer is not None else "choices"] += 1
                    if answer is not None and results[k] != [answer]:
                        found.append(f"y[{2 * k + thread}] = {named[f'y[{2 * k + thread}]']}, and in the model {results[k][:3]}")
                    if answer is None and len(results[k]) == 1:
                        tally["choices of one value"] += 1
            if options.show:
                print(text, found)
            for what in found[:2]:
                print(f"DIFFERENT: seed {options.seed}, case {case}: {what}", flush=True)
            differences += bool(found)
    print(f"flow_choices: {options.cases} kernels; " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())) + f"; {differences} different")
    return int(differences != 0)


if __name__ == "__main__":
    sys.exit(main())
