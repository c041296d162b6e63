#!/usr/bin/env python3
"""compiled.py --cases N --seed S: a reference model of `swizproof crosscheck TRACE FILE.ptx`.

Random kernels (ptx_cases.py) are executed by the interpreter of PTX (ptx_interpreter.py), and what their warps access is written as a trace.
No row of it may differ from the PTX. Then each row gets a fault: a lane moved, a lane off or on, another width, another instruction's
pattern, all lanes moved. A row with a fault may be `as proved` only if another execution of the kernel has its pattern:
  - equal: the same lanes, and the same addresses up to a translation that keeps words (4 bytes) and the access's bytes;
  - lanes open: the tool says that it is not certain, and an execution has these addresses in more lanes;
  - merged: two or more narrower accesses of the kernel have the parts, one of them on the line;
  - not certain: the tool says so, of values or lanes that may not occur. A moved lane has no such excuse.
Counts, and files with a count of 0, a truncated pattern or a wrong sum, are refused. A case is one row. The last line has the numbers of cases
by what the tool says, and of differences; exit code 1 if there are some. --keep DIR keeps the files of each difference.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("compiled.py: not run (numpy is not installed)")
    sys.exit(77)

import ptx_cases
import ptx_interpreter as ptx

ACCESS = re.compile(r"^\s*(@!?%\w+\s+)?(ld|st|ldmatrix|stmatrix|cp\.async|atom|red)\b(?!\.(param|global|const|local))")
IDEAL = {"ld": lambda size, n: max(1, size // 4), "st": lambda size, n: max(1, size // 4), "cp": lambda size, n: max(1, size // 4),
         "matrix": lambda size, n: n}


class Recorder(ptx.Machine):
    """A machine that keeps the addresses of each access."""

    def __init__(self, *words):
        self.kept = {}
        super().__init__(*words)

    def record(self, line, text, kind, size, address, mask, matrices=0):
        super().record(line, text, kind, size, address, mask, matrices)
        active = self.alive if mask is None else mask
        count = 32 * self.warps
        a, on = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
        a[:self.n] = np.broadcast_to(address, (self.n,)).astype(np.int64) & 0xFFFFFFFF
        on[:self.n] = active
        a, on = a.reshape(-1, 32), on.reshape(-1, 32)
        if matrices:
            on = on & (np.arange(32) < 8 * matrices)
        table = self.kept.setdefault((line, tuple(self.calls)), (text, kind, size, matrices, {}))[4]
        for row, lanes in zip(a, on):
            used = row[lanes]
            if len(used) and (used % size == 0).all() and (used + size <= 1 << 18).all() and (not matrices or len(used) == 8 * matrices):
                key = tuple(int(x) if l else None for x, l in zip(row, lanes))
                if key in table or len(table) < 4000:
                    table[key] = table.get(key, 0) + 1


def unit(size):
    """Translations by its multiples keep what an access costs."""
    return max(4, size)


def normal(pattern, size):
    """A pattern up to a translation by whole units."""
    low = min(a for a in pattern if a is not None)
    by = low - low % unit(size)
    return tuple(None if a is None else a - by for a in pattern)


def op_of(text, kind, size, matrices):
    if kind == "matrix":
        return f"{'stmatrix' if 'stmatrix' in text else 'ldmatrix'}.x{matrices}{'.trans' if '.trans' in text else ''}"
    return {"ld": "ld.shared", "st": "st.shared", "cp": "cp.async"}[kind] + f".b{8 * size}"


def cost(kind, size, matrices, pattern):
    a = np.array([[0 if x is None else x for x in pattern]])
    on = np.array([[x is not None for x in pattern]])
    return int(ptx.wavefronts(kind, size, a, on, matrices)[0])


class Row:
    """An instruction of a trace."""

    def __init__(self, kernel, line, source, text, kind, size, matrices, patterns):
        self.kernel, self.line, self.source, self.text, self.kind, self.size, self.matrices = kernel, line, source, text, kind, size, matrices
        self.patterns, self.fault, self.of = patterns, "", self

    def changed(self, fault, pattern, **other):
        row = Row(self.kernel, self.line, self.source, self.text, self.kind, self.size, self.matrices, {tuple(pattern): 1})
        row.fault, row.of = fault, self
        for name, value in other.items():
            setattr(row, name, value)
        return row

    def json(self, pc, block, lines):
        costs = {p: cost(self.kind, self.size, self.matrices, p) for p in self.patterns}
        distribution = collections.Counter()
        for p, n in self.patterns.items():
            distribution[str(costs[p])] += n
        executed = sum(self.patterns.values())
        worst = max(self.patterns, key=lambda p: costs[p])
        return {"kernel": self.kernel, "launches": 1, "grid": [1, 1, 1], "block": list(block), "pc": 16 * pc, "sass": None,
                "file": "src/case.cu" if lines else None, "line": self.source if lines else None, "op": op_of(self.text, self.kind, self.size, self.matrices),
                "executed": executed, "wavefronts": sum(int(k) * n for k, n in distribution.items()),
                "ideal": executed * IDEAL[self.kind](self.size, self.matrices), "distribution": dict(distribution),
                "patterns": [{"executed": n, "wavefronts": costs[p], "address": list(p)} for p, n in self.patterns.items()], "not_kept": 0,
                "worst": {"wavefronts": costs[worst], "address": list(worst)}}


def trace(rows, block, lines):
    head = {"format": "swizproof trace 1", "device": "interpreter", "architecture": "sm_90", "driver": "", "toolkit": "none", "commit": "",
            "recorded": "2026-11-24T00:00:00Z", "program": ["case"]}
    texts = [json.dumps(head)] + [json.dumps(r.json(i, block, lines)) for i, r in enumerate(rows)]
    return "\n".join(texts + [json.dumps({"lines": len(texts), "dropped": 0})]) + "\n"


def located(text):
    """The PTX with a .loc before each access, the same for up to three neighbours; and the source line of each of its lines."""
    out, source, number = [], {}, 0
    for line in text.split("\n"):
        if ACCESS.match(line):
            number += 1
            out.append(f"\t.loc 1 {1 + number // 3} 0")
            source[len(out) + 1] = 1 + number // 3
        out.append(line)
    return "\n".join(out) + '\n.file 1 "/some/where/case.cu"\n', source


class Kernel:
    """A kernel, its executions, and those that were made later."""

    def __init__(self, module, function, block):
        self.name, self.block = function.name, block
        self.machine = Recorder(module, function)
        self.seeds = 0

    def run(self, first, count, steps):
        for seed in range(first + self.seeds, first + self.seeds + count):
            self.machine.run(self.block, seed, steps)
        self.seeds += count

    def executed(self, kind, size, matrices, transposed, line=None, source=None):
        """Patterns of accesses of this kind, of all lines or of one of the source."""
        for (at, _), (text, k, s, m, table) in self.machine.kept.items():
            if (k, s, m, ".trans" in text) == (kind, size, matrices, transposed) and (line is None or source.get(at) == line):
                yield from table


class Model:
    def __init__(self, options):
        self.o, self.says, self.odd, self.differences = options, collections.Counter(), collections.Counter(), 0
        self.reasons = collections.Counter()

    def differ(self, what, files=()):
        self.differences += 1
        if self.differences <= self.o.show:
            print(f"DIFFERENT: {what}", flush=True)
            for name, text in files if self.o.keep else ():
                os.makedirs(self.o.keep, exist_ok=True)
                with open(os.path.join(self.o.keep, f"{self.differences}_{name}"), "w", encoding="utf-8") as file:
                    file.write(text)

    def ask(self, words):
        if self.o.binary:
            r = subprocess.run([self.o.binary] + words, capture_output=True, text=True)
            return r.returncode, r.stdout, r.stderr
        from swizproof import _swizproof
        code, document, complaint = _swizproof.answer([w.encode() for w in words])
        return code, document.decode(), complaint.decode()

    def compare(self, rows, block, lines, folder, files):
        """What the tool says of each row."""
        text = trace(rows, block, lines)
        path = os.path.join(folder, "case.trace")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        code, document, complaint = self.ask(["crosscheck", path, os.path.join(folder, "case.ptx"), "--json"])
        files.append((f"{len(files)}.trace", text))
        try:
            answer = json.loads(document)["compiled"][0]
        except (ValueError, KeyError, IndexError):
            self.differ(f"no answer, exit code {code}: {(complaint or document).strip()[:300]}", files)
            return None
        said = answer["instructions"]
        count = collections.Counter(i["comparison"] for i in said)
        open_ = count["undecided"] or not (count["as proved"] or count["DIFFERS from the PTX"])
        if code != (1 if count["DIFFERS from the PTX"] else 3 if open_ else 0):
            self.differ(f"exit code {code} of {dict(count)}", files)
        if sum(answer["sums"][k] for k in ("as_proved", "differs", "undecided", "not_compared", "no_kernel", "not_modelled")) != len(rows):
            self.differ(f"sums {answer['sums']} of {len(rows)} rows", files)
        return said

    def produced(self, kernel, row, lines, source, answer):
        """How the kernel's executions have the pattern of a row; or None."""
        pattern = next(iter(row.patterns))
        transposed = ".trans" in row.text
        line = row.source if lines else None
        seen = set(kernel.executed(row.kind, row.size, row.matrices, transposed, line, source))
        if normal(pattern, row.size) in {normal(p, row.size) for p in seen}:
            return "equal"
        on = [l for l in range(32) if pattern[l] is not None]
        def with_lanes(p):
            return all(p[l] is not None for l in on) and normal([p[l] if l in on else None for l in range(32)], row.size) == normal(pattern, row.size)
        if not answer["certain"] and any(with_lanes(p) for p in seen):
            return "lanes open"
        if answer["merged"] > 1:
            size, near = row.size // answer["merged"], False
            for part in range(answer["merged"]):
                its = normal([None if a is None else a + part * size for a in pattern], size)
                if its not in {normal(p, size) for p in kernel.executed(row.kind, size, 0, False)}:
                    return None
                near = near or its in {normal(p, size) for p in kernel.executed(row.kind, size, 0, False, line, source)}
            return "merged" if near or not lines else None
        return None

    def faults(self, rng, row, others):
        """A row for each kind of fault."""
        patterns = list(row.patterns)
        p = list(patterns[rng.integers(len(patterns))])
        on = [l for l in range(32) if p[l] is not None]
        lane = int(rng.choice(on))
        size = row.size
        step = int(rng.choice([-16, -8, -4, -2, -1, 1, 1, 2, 4, 8, 16, 32])) * size
        def fits(q, by=size):
            return all(a is None or (0 <= a and a + by <= 1 << 18 and a % by == 0) for a in q) and any(a is not None for a in q)
        def make(fault, q, **other):
            if fits(q, other.get("size", size)):
                yield row.changed(fault, q, **other)
        if len(on) > 1:
            yield from make("lane moved", [a + step if l == lane else a for l, a in enumerate(p)])
            if not row.matrices:
                yield from make("lane off", [None if l == lane else a for l, a in enumerate(p)])
        off = [l for l in range(32) if p[l] is None]
        if off and not row.matrices:
            new = int(rng.choice(off))
            yield from make("lane on", [p[lane] + int(rng.choice([0, size, -size])) if l == new else a for l, a in enumerate(p)])
        if not row.matrices:
            yield from make("width", p, size=int(rng.choice([s for s in (1, 2, 4, 8, 16) if s != size and (row.kind != "cp" or s > 2)])))
        kinds = {"ld": "st", "st": "ld"}
        if row.kind in kinds:
            yield from make("operation", p, kind=kinds[row.kind])
        other = [o for o in others if (o.kind, o.size, o.matrices) == (row.kind, size, row.matrices) and o is not row]
        if other:
            o = other[rng.integers(len(other))]
            yield from make("another's pattern", list(o.patterns)[rng.integers(len(o.patterns))])
        by = size * int(rng.choice([1, 1, 2, 3, 4, 8, 32, 64, 1024]))
        yield from make("all moved", [None if a is None else a + by for a in p])

    def check_true(self, rows, said, bounds, lines, files):
        """A trace of executions: nothing differs, and what is proved is a bound of `swizproof kernel`."""
        for row, i in zip(rows, said):
            self.says["true: " + i["comparison"]] += 1
            where = f"{row.kernel} PTX line {row.line} ({row.text.strip()[:60]})"
            if i["comparison"] == "undecided":
                self.reasons[re.sub(r"\d+", "N", i["why"])[:80]] += 1
                if "a lane is off" in i["why"] or "on this line" in i["why"] or "launches" in i["why"] or "it may be a part of" in i["why"]:
                    self.differ(f"{where}: {i['why']}", files)
            elif i["comparison"] != "as proved":
                self.differ(f"{where}: {i['comparison']}: {json.dumps(i.get('nearest'))}", files)
            else:
                self.says["true: certain"] += i["certain"]
                of = {b for (kernel, ptx_line), b in bounds if kernel == row.kernel and ptx_line in i["ptx_lines"]}
                if i["merged"] == 1 and i["proved"] not in of:
                    self.differ(f"{where}: proved {i['proved']}, `kernel` has {sorted(of)}", files)
                if lines and i["merged"] == 1 and row.line not in i["ptx_lines"]:
                    self.odd["as proved by another access of the line"] += 1
                if i["found"] != len(row.patterns) or i["wavefronts"] > i["proved"]:
                    self.differ(f"{where}: {json.dumps(i)[:300]}", files)

    def check_fault(self, row, i, kernels, source, lines, first, files):
        self.says[f"{row.fault}: {i['comparison']}"] += 1
        if i["comparison"] != "as proved":
            return
        kernel = kernels[row.kernel]
        how = self.produced(kernel, row, lines, source, i)
        if how is None and not i["certain"] and row.fault != "lane moved":
            self.odd[f"fault as proved: {row.fault}: not certain, not shown"] += 1
            return
        while how is None and kernel.seeds < self.o.further:
            kernel.run(first, 20, 4 * self.o.steps)
            how = self.produced(kernel, row, lines, source, i)
        self.odd[f"fault as proved: {row.fault}: {how}"] += 1
        if how is None:
            self.differ(f"{row.fault}: {row.kernel} PTX line {row.line} ({row.text.strip()[:60]}) as proved by {i['ptx_lines']}, in no execution of "
                        f"{kernel.seeds}: {list(row.patterns)[0]}", files)

    def refused(self, text, folder, files):
        """Broken traces: exit code 2."""
        lines = text.split("\n")
        row = json.loads(lines[1])
        def changed(**other):
            return "\n".join([lines[0], json.dumps({**row, **other})] + lines[2:])
        first = row["patterns"][0]
        for name, broken in (("count of 0", changed(patterns=[{**first, "executed": 0}] + row["patterns"][1:])), ("executed 0", changed(executed=0)),
                             ("31 lanes", changed(patterns=[{**first, "address": first["address"][:31]}] + row["patterns"][1:])),
                             ("cut off", "\n".join(lines[:-2]) + "\n")):
            path = os.path.join(folder, "broken.trace")
            with open(path, "w", encoding="utf-8") as file:
                file.write(broken)
            code = self.ask(["crosscheck", path, os.path.join(folder, "case.ptx")])[0]
            self.says[f"{name}: exit code {code}"] += 1
            if code != 2:
                self.differ(f"{name}: exit code {code}", files + [("broken.trace", broken)])

    def case(self, rng, first, folder):
        """A file of kernels; returns the number of rows."""
        block = ptx_cases.BLOCKS[int(rng.integers(0, len(ptx_cases.BLOCKS)))]
        text, _ = ptx_cases.cases(rng, self.o.kernels, block, self.o.data)
        lines = bool(rng.random() < 0.85)
        text, source = located(text) if rng.random() < 0.9 or lines else (text, {})
        with open(os.path.join(folder, "case.ptx"), "w", encoding="utf-8") as file:
            file.write(text)
        files = [("case.ptx", text)]
        module = ptx.Module(text)
        kernels, rows = {}, []
        for function in module.functions.values():
            if not function.entry:
                continue
            kernel = kernels[function.name] = Kernel(module, function, block)
            kernel.run(first, self.o.runs, self.o.steps)
            for (line, _), (written, kind, size, matrices, table) in kernel.machine.kept.items():
                if not table or kind not in IDEAL:
                    continue
                chosen = list(table)
                rng.shuffle(chosen)
                chosen = [tuple(p) for p in chosen[:24]]
                rows.append(Row(function.name, line, source.get(line, 1), written, kind, size, matrices, {p: table[p] for p in chosen}))
        if not rows:
            return 0
        said = self.compare(rows, block, lines, folder, files)
        if said is None:
            return 0
        code, document, _ = self.ask(["kernel", os.path.join(folder, "case.ptx"), "--json", "--block", ",".join(map(str, block))])
        bounds = [((k.get("mangled") or k["kernel"], a["ptx_line"]), a.get("wavefronts")) for k in json.loads(document)["kernels"] for a in k["accesses"]]
        self.check_true(rows, said, bounds, lines, files)
        wrong = [f for row in rows for f in self.faults(rng, row, rows)]
        said = self.compare(wrong, block, lines, folder, files) if wrong else []
        for row, i in zip(wrong, said or []):
            self.check_fault(row, i, kernels, source, lines, first, files)
        self.refused(trace(rows, block, lines), folder, files)
        return len(rows) + len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--further", type=int, default=404, help="runs of a kernel at most, to show a pattern")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--kernels", type=int, default=12, help="kernels in one file")
    parser.add_argument("--data", type=float, default=0.06, help="share of accesses with loaded values")
    parser.add_argument("--show", type=int, default=12, help="differences to print")
    parser.add_argument("--binary")
    parser.add_argument("--keep")
    model = Model(parser.parse_args())
    rng = np.random.default_rng(model.o.seed)
    done = files = 0
    with tempfile.TemporaryDirectory() as folder:
        while done < model.o.cases:
            done += model.case(rng, model.o.seed * 100003 + 1000 * files, folder)
            files += 1
    for title, counter in (("says", model.says), ("reasons", model.reasons), ("odd", model.odd)):
        print(f"{title}: " + ", ".join(f"{k} {v}" for k, v in sorted(counter.items())))
    print(f"{done} cases in {files} files, {model.differences} differences")
    return 1 if model.differences else 0


if __name__ == "__main__":
    sys.exit(main())
