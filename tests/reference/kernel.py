#!/usr/bin/env python3
"""kernel.py --cases N --seed S: a reference model of `swizproof kernel`, written from the PTX ISA and hardware facts H1 to H7 alone.

Random kernels (ptx_cases.py), written ones (ptx/*.ptx) or given files go to the command and to an interpreter of PTX (ptx_interpreter.py),
which runs all threads of one block several times with random parameters, data and places of variables. For each access:
  - the most wavefronts seen are at most the command's bound (proved, refuted, and data with a bound);
  - a bound that is called reached is seen, or its counterexample replays: its lanes cost it, and a run shows it where the values say how
    (an access that no run arrives at, without such values, is counted and no difference);
  - addresses that are seen misaligned or outside of every variable are not called aligned or in bounds, and what is called misaligned or out of
    bounds is seen in a run;
  - an access that is said to depend on data names a line that loads;
  - each access that is executed is listed.
The last line has the numbers of cases, of compared accesses, of odd ones by kind, and of differences; exit code 1 if there are some.
--binary PATH asks a program in place of the Python module; --keep DIR keeps the file of each difference there.
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
    print("kernel.py: not run (numpy is not installed)")
    sys.exit(77)

import ptx_cases
import ptx_interpreter as ptx

HERE = os.path.dirname(os.path.abspath(__file__))
IDEAL = {"ld": lambda size, n: max(1, size // 4), "st": lambda size, n: max(1, size // 4), "cp": lambda size, n: max(1, size // 4),
         "matrix": lambda size, n: n}


def ask(binary, words):
    """Exit code, document and complaint."""
    if binary:
        r = subprocess.run([binary] + words, capture_output=True, text=True)
        return r.returncode, r.stdout, r.stderr
    from swizproof import _swizproof
    code, document, complaint = _swizproof.answer([w.encode() for w in words])
    return code, document.decode(), complaint.decode()


class Tally:
    def __init__(self, keep, stop):
        self.count, self.odd, self.verdicts, self.reasons = collections.Counter(), collections.Counter(), collections.Counter(), collections.Counter()
        self.keep, self.differences, self.stop = keep, 0, stop
        self.kinds, self.replays = collections.Counter(), 6

    def differ(self, kind, path, words, what):
        self.differences += 1
        self.kinds[kind] += 1
        if self.kinds[kind] <= self.stop:
            print(f"DIFFERENT ({kind}): swizproof {' '.join(words)}: {what}", flush=True)
            if self.keep:
                os.makedirs(self.keep, exist_ok=True)
                with open(path, encoding="utf-8") as source, open(os.path.join(self.keep, os.path.basename(path)), "w", encoding="utf-8") as to:
                    to.write(source.read())


def key_of(access):
    """An access by its line and by the lines of the calls that lead to it: a function's is one for each place that calls it."""
    return access["ptx_line"], tuple(access.get("calls") or ())


def truth(value):
    """Whether a claim such as aligned or in_bounds is made."""
    return value is True or value in ("proved", "yes")


def merged(runs):
    """The union of the accesses of several runs, by line and calls."""
    total = {}
    for seen in runs:
        for key, s in seen.items():
            t = total.get(key)
            if t is None:
                total[key] = s
                continue
            t.warps += s.warps
            t.misaligned |= s.misaligned
            t.outside |= s.outside
            if s.most > t.most:
                t.most, t.worst = s.most, s.worst
    return total


def lanes_of(example):
    """The byte addresses of a counterexample's lanes, None where a lane is off; or None."""
    lanes = example.get("lanes")
    if isinstance(lanes, dict):
        lanes = lanes.get("address")
    if not isinstance(lanes, list) or not lanes:
        return None
    result = [None] * 32
    for i, lane in enumerate(lanes):
        if isinstance(lane, dict):
            at = lane.get("address")
            if lane.get("lane", i) < 32 and isinstance(at, int):
                result[lane.get("lane", i)] = at
        elif isinstance(lane, int) and i < 32:
            result[i] = lane
    return result


def given_of(values, machine):
    """Parameters of a counterexample, by name and offset, and numbers of the block."""
    params, choose = {}, {}
    for name, value in values.items():
        if not isinstance(value, int):
            continue
        plain, offset = re.fullmatch(r"(?:(?:param|parameter)[ .:]+)?(.*?)(?:\[(\d+)\])?", name).groups()
        named = [p.name for p in machine.entry.params if p.name == plain or p.name.endswith("_" + plain)]
        if named:
            params.setdefault(named[0], {})[int(offset or 0)] = value
        elif plain.startswith("%"):
            choose[plain] = value
        elif plain.startswith(("ctaid", "nctaid", "tid")):
            choose["%" + plain] = value
    return params, choose


def replayed(access, seen, machine, block, steps, tally):
    """Shows a bound that is called reached: 'seen', 'replayed' or 'lanes' (its lanes cost it); or None."""
    bound = access["wavefronts"] if access.get("reached") else access.get("seen")

    def shows(s):
        return s is not None and (s.most == bound if access.get("reached") else s.most >= bound)
    if shows(seen):
        return "seen"
    example = access.get("counterexample") or {}
    params, choose = given_of(example.get("values") or {}, machine)
    bases = example.get("bases") or {}
    if params or choose or bases:
        for seed in range(min(4, tally.replays)):
            again = machine.run(block, 77 + seed, steps, params=params, choose=choose, bases=bases).get(key_of(access))
            if shows(again):
                return "replayed"
    for seed in range(100, 100 + (tally.replays if seen is not None else 4 * tally.replays)):
        if seed not in machine.further:
            machine.further[seed] = machine.run(block, seed, 4 * steps)
        again = machine.further[seed].get(key_of(access))
        if shows(again):
            return "seen"
    for place in range(64 if seen is not None and tally.replays else 0):  # every multiple of 16 below 1024 for the first variable
        again = machine.run(block, 1000 + place, steps, base=1024 + 16 * place).get(key_of(access))
        if shows(again):
            return "seen"
    lanes = lanes_of(example)
    if lanes and any(a is not None for a in lanes) and seen is not None:
        address = np.array([[0 if a is None else a for a in lanes]])
        active = np.array([[a is not None for a in lanes]])
        if seen.kind == "matrix":
            active &= np.arange(32) < 8 * seen.matrices
        if int(ptx.wavefronts(seen.kind, seen.size, address, active, seen.matrices)[0]) == bound:
            return "lanes"
    return None


def fault_seen(access, what, seen, machine, block, steps, tally):
    """Whether a run shows an access misaligned or outside: one of those so far, one with the values that its reason names, or of the first block, or of more."""
    tally.count[f"{what} claimed"] += 1
    if getattr(seen, what):
        return True
    key, values = key_of(access), re.search(r", if (.* = \d+)$", access.get("reason") or "")
    params, choose = given_of({k: int(v) for k, v in re.findall(r"([^ ,]+) = (\d+)", values.group(1))} if values else {}, machine)
    if not values:
        choose = {f"%ctaid.{d}": 0 for d in "xyz"}  # the first block: another one may take more steps than a run has
    for seed in range(4):
        again = machine.run(block, 177 + seed, steps, params=params, choose=choose).get(key)
        if again is not None and getattr(again, what):
            return True
    for seed in range(100, 100 + 4 * tally.replays):
        if seed not in machine.further:
            machine.further[seed] = machine.run(block, seed, 4 * steps)
        again = machine.further[seed].get(key)
        if again is not None and getattr(again, what):
            return True
    return False


def beyond_its_array(access, machine):
    """Whether the lanes that a claim names lie behind their static array: a run does not see it if they are in another one."""
    if ", if " in (access.get("reason") or "") and len(machine.module.variables) > 1:
        return True
    sizes = [v.size for v in machine.module.variables.values() if v.name.split(".")[-1] == access["address"].split(" ")[0].split(".")[-1]]
    lanes = (access.get("counterexample") or {}).get("lanes") or []
    return len(sizes) == 1 and sizes[0] > 0 and any(lane is not None and lane >= sizes[0] for lane in lanes)


def compare(kernel, seen, machine, block, path, words, steps, tally):
    listed = set()
    for access in kernel["accesses"]:
        listed.add(key_of(access))
        s = seen.get(key_of(access))
        tally.count["in functions"] += bool(access.get("calls"))
        verdict = access["verdict"]
        tally.verdicts[verdict] += 1
        if verdict in ("unknown", "data"):
            tally.reasons[f"{verdict}: {re.sub(r'[0-9]+', 'N', str(access.get('reason')))[:70]}"] += 1
        tally.count["accesses"] += 1
        bypasses = str(access.get("op", "")).startswith("cp.async.cg")  # its cost is that of both sides: kernel_copies.py
        bound = None if bypasses else access.get("wavefronts")
        where = f"{kernel['kernel']} line {access['ptx_line']} ({access.get('op')}, {verdict})"
        if s is not None:
            tally.count["executed"] += 1
            if isinstance(bound, int) and verdict != "unknown":
                tally.count["compared"] += 1
                if s.most > bound:
                    outside = " (addresses outside of shared memory seen)" if s.outside else ""
                    tally.differ("bound too low", path, words, f"{where}: bound {bound}, seen {s.most} in warp {s.worst[0]}{outside}: {s.worst[1]}")
                if s.most == bound:
                    tally.count["bounds seen"] += 1
                if s.misaligned and "misaligned" not in where and truth(access.get("aligned")):
                    tally.differ("aligned", path, words, f"{where}: called aligned, a misaligned address was seen")
            elif s.misaligned and truth(access.get("aligned")):
                tally.differ("aligned", path, words, f"{where}: called aligned, a misaligned address was seen")
            if s.outside and truth(access.get("in_bounds")):
                tally.differ("in bounds", path, words, f"{where}: called in bounds, an address outside of every variable was seen")
            for claim, seen_in in (("aligned", "misaligned"), ("in_bounds", "outside")):
                if access.get(claim) is False and not fault_seen(access, seen_in, s, machine, block, steps, tally):
                    if claim == "in_bounds" and beyond_its_array(access, machine):
                        tally.count["outside claimed: in another array"] += 1
                        continue
                    tally.differ(f"no {claim} fault", path, words, f"{where}: {claim} is false, and no run shows it")
            ideal = access.get("ideal")
            if s.kind in IDEAL and not bypasses and isinstance(ideal, int) and ideal != IDEAL[s.kind](s.size, s.matrices):
                tally.differ("ideal", path, words, f"{where}: ideal {ideal}, expected {IDEAL[s.kind](s.size, s.matrices)}")
        if verdict == "data":
            named = re.search(r"the (?:load|atomic) at PTX line (\d+)$", access.get("reason") or "")
            if not named or not re.search(r"\b(ld|ldu|atom|ldmatrix|tex|wmma)\b", machine.lines[int(named.group(1)) - 1]):
                tally.differ("data of no load", path, words, f"{where}: {access.get('reason')}")
        if (access.get("reached") is True or access.get("seen")) and isinstance(bound, int) and bound > 0:
            how = replayed(access, s, machine, block, steps, tally)
            tally.count[f"reached: {how}"] += 1
            if how is None and s is not None and s.misaligned and s.most == 0:
                tally.count["reached where all addresses are misaligned"] += 1
            elif how is None and s is None and not (machine.all_finished and (access.get("counterexample") or {}).get("values")):
                tally.count["reached where the interpreter did not arrive"] += 1
            elif how is None:
                tally.differ("not reached", path, words,
                             f"{where}: {bound if access.get('reached') else access['seen']} called reached, seen {s.most if s is not None else 'never'}; counterexample {json.dumps(access.get('counterexample'))[:300]}")
    for (line, calls), s in seen.items():
        # A call that is not inlined is listed in place of its function's accesses.
        if any((call, calls[:i]) in listed for i, call in enumerate(calls)):
            tally.count["executed in functions that are not inlined"] += 1
        elif (line, calls) not in listed and s.kind in IDEAL:
            tally.differ("missing", path, words, f"{kernel['kernel']} line {line} ({s.text[:60]}): executed, not listed")


def check_file(path, block, binary, tally, runs, steps, seed, pattern=None, odd=None, grid=None):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    words = ["kernel", path, "--json", "--base", "ptx"] + (["--block", ",".join(map(str, block))] if block else []) + (["--kernel", pattern] if pattern else [])
    words += ["--grid", ",".join(map(str, grid))] if grid else []
    code, document, complaint = ask(binary, words)
    try:
        answer = json.loads(document)
        answer["kernels"]
    except (ValueError, KeyError, TypeError):
        tally.differ("no answer", path, words, f"exit code {code}: {(complaint or document).strip()[:300]}")
        return
    counts = collections.Counter(a["verdict"] for k in answer["kernels"] for a in k["accesses"])
    expected = 1 if counts["refuted"] else 3 if counts["unknown"] else 0
    if code not in (expected, 3 if counts["data"] and not counts["refuted"] else expected):
        tally.differ("exit code", path, words, f"exit code {code}, verdicts {dict(counts)}")
    try:
        module = ptx.Module(text)
    except ptx.Unreadable as error:
        tally.count["not read by the interpreter"] += 1
        print(f"interpreter: {path}: {error}")
        return
    named = {k.get("mangled") or k["kernel"]: k for k in answer["kernels"]}
    for function in module.functions.values():
        if not function.entry or (pattern and not re.search(pattern, function.name)):
            continue
        kernel = named.get(function.name)
        machine = ptx.Machine(module, function)
        machine.program(function)
        machine.grid = grid
        machine.lines = text.split("\n")
        shape = tuple(kernel["block"]) if kernel and isinstance(kernel.get("block"), list) and kernel["block"] else block
        shape = tuple(shape or (128,)) + (1,) * (3 - len(shape or (128,)))
        machine.further = {}
        # A kernel whose shuffles read lanes that do not execute them is not defined: such runs show nothing where the command names that.
        assumes = any(a.startswith("shfl from a lane") for a in (kernel or {}).get("assumed", ()))
        every = []
        for r in range(runs):
            one = machine.run(shape, seed * 1000 + r, steps)
            tally.count["runs"] += 1
            tally.count["runs that an assumption excludes"] += assumes and machine.reads_absent
            every += [] if assumes and machine.reads_absent else [one]
        seen = merged(every)
        tally.count["kernels"] += 1
        tally.count["runs finished"] += machine.finished
        if odd:
            for what in odd.get(function.name, ()):
                tally.odd[what] += 1
            if shape[0] * shape[1] * shape[2] % 32:
                tally.odd["partial warps"] += 1
        if kernel is None:
            if any(s.kind in IDEAL for s in seen.values()):
                tally.differ("missing", path, words, f"kernel {function.name} accesses shared memory and is not listed")
            continue
        compare(kernel, seen, machine, shape, path, words, steps, tally)


def hand_written(folder, binary, tally):
    """The kernels of ptx/*.ptx: `// block X,Y,Z` in the head, and `// worst N`, `// at most N` or `// never` behind accesses."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".ptx"):
            continue
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        block = tuple(int(x) for x in re.search(r"// block ([\d,]+)", text).group(1).split(","))
        block += (1,) * (3 - len(block))
        module = ptx.Module(text)
        expected = {}
        for number, line in enumerate(text.split("\n"), 1):
            match = re.search(r"// (worst|at most|never|misaligned|outside)\s*(\d*)", line)
            if match and not line.startswith("//"):
                expected[number] = (match.group(1), int(match.group(2) or 0))
        found = {}
        for function in module.functions.values():
            if function.entry:
                machine = ptx.Machine(module, function)
                machine.program(function)
                by_call = merged(machine.run(block, 500 + r, 20000) for r in range(48))
                found.update(merged({line: s} for (line, calls), s in by_call.items()))
        for line, (what, value) in expected.items():
            tally.count["hand-worked"] += 1
            most = found[line].most if line in found else 0
            right = {"worst": most == value, "at most": most <= value, "never": line not in found,
                     "misaligned": line in found and found[line].misaligned, "outside": line in found and found[line].outside}[what]
            if not right:
                tally.differ("interpreter", path, [name], f"line {line}: {what} {value} by hand, the interpreter saw {most}")
        check_file(path, block, binary, tally, 12, 20000, 3)


def corpus(paths, blocks, binary, tally, runs, steps, seed):
    """Files, each with the block shape that blocks.tsv (file, kernel regex, shape) has for it, else 256 threads."""
    shapes = collections.defaultdict(list)
    if blocks:
        with open(blocks, encoding="utf-8") as file:
            for row in file:
                name, pattern, shape = row.rstrip("\n").split("\t")
                shapes[name].append((pattern, tuple(int(x) for x in shape.split(","))))
    for path in paths:
        key = "/".join(path.split("/")[-2:])
        for pattern, shape in shapes.get(key, [(None, (256,))]):
            check_file(path, shape + (1,) * (3 - len(shape)), binary, tally, runs, steps, seed, None if pattern == ".*" else pattern)


def random_cases(count, seed, binary, tally, runs, steps, data):
    rng, grids = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        while done < count:
            many = min(20, count - done)
            block = ptx_cases.BLOCKS[int(rng.integers(0, len(ptx_cases.BLOCKS)))]
            text, odd = ptx_cases.cases(rng, many, block, data)
            path = os.path.join(folder, f"case_{seed}_{done}.ptx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            grid = [int(grids.choice([1, 1, 2, 3, 5, 8, 33, 1000, most])) for most in (0x7fffffff, 65535, 65535)] if grids.random() < 0.5 else None
            tally.count["kernels in a given grid"] += many if grid else 0
            check_file(path, block, binary, tally, runs, steps, seed + done, None, odd, grid)
            os.remove(path)
            done += many


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--data", type=float, default=0.12, help="share of accesses with loaded values")
    parser.add_argument("--replays", type=int, default=6, help="further runs for a bound that is called reached and was not seen")
    parser.add_argument("--binary")
    parser.add_argument("--keep")
    parser.add_argument("--show", type=int, default=12, help="differences of a kind to print")
    parser.add_argument("--blocks")
    parser.add_argument("files", nargs="*")
    o = parser.parse_args()
    tally = Tally(o.keep, o.show)
    tally.replays = o.replays
    if "--block" not in ask(o.binary, ["kernel", "--help"])[1]:
        print("kernel.py: not run (the tool has no command `kernel`)")
        return 77
    if o.files:
        corpus(o.files, o.blocks, o.binary, tally, o.runs, o.steps, o.seed)
    else:
        hand_written(os.path.join(HERE, "ptx"), o.binary, tally)
        random_cases(o.cases, o.seed, o.binary, tally, o.runs, o.steps, o.data)
    for title, counter in (("verdicts", tally.verdicts), ("reasons", tally.reasons), ("odd", tally.odd), ("differences by kind", tally.kinds)):
        if counter:
            print(f"{title}: " + ", ".join(f"{k} {v}" for k, v in counter.most_common(70 if title == "odd" else 25)))
    print(", ".join(f"{v} {k}" for k, v in tally.count.items()) + f"; {tally.differences} differences")
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
