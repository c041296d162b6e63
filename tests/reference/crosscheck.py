#!/usr/bin/env python3
"""Reference model of `swizproof crosscheck`: random profiles, traces and obligations, and its own decision of the possible answers.

crosscheck.py --cases N --seed S [--dump DIR]

Three kinds of cases, a line of a profile or of a trace each:
  counts     a profile and obligations. The decision is taken over every way to distribute a count over the executions of a line.
  lanes      a trace and obligations. The decision is a search through every value of the variables and every base.
  tables     a trace and a profile of some launches, each printed once or twice, with copies and counts that are altered.

Costs are those of the documentation (phases of 32, 16 and 8 lanes, distinct words in a bank); nothing is read from the C++.
One line is printed: cases, odd ones by kind, differences. Each difference has a command line. Exit code 1 if there is one.
"""
import argparse
import collections
import functools
import json
import os
import random
import shutil
import sys
import tempfile

from swizproof import _swizproof

# op: SASS, bytes a lane, matrices
OPS = {
    "ld.shared.b8": ("LDS.U8 R0, [R1]", 1, 0), "ld.shared.b16": ("LDS.U16 R0, [R1]", 2, 0), "ld.shared.b32": ("LDS R0, [R1]", 4, 0),
    "ld.shared.b64": ("LDS.64 R0, [R1]", 8, 0), "ld.shared.b128": ("LDS.128 R0, [R1]", 16, 0), "st.shared.b32": ("STS [R1], R0", 4, 0),
    "st.shared.b64": ("STS.64 [R1], R0", 8, 0), "st.shared.b128": ("STS.128 [R1], R0", 16, 0),
    "cp.async.b32": ("LDGSTS.E [R1], desc[UR4][R2.64]", 4, 0), "cp.async.b64": ("LDGSTS.E.64 [R1], desc[UR4][R2.64]", 8, 0),
    "cp.async.b128": ("LDGSTS.E.128 [R1], desc[UR4][R2.64]", 16, 0),
    "ldmatrix.x1": ("LDSM.16.M88 R0, [R1]", 16, 1), "ldmatrix.x2": ("LDSM.16.M88.2 R0, [R1]", 16, 2),
    "ldmatrix.x4": ("LDSM.16.M88.4 R0, [R1]", 16, 4), "ldmatrix.x4.trans": ("LDSM.16.MT88.4 R0, [R1]", 16, 4),
    "stmatrix.x2": ("STSM.16.M88.2 [R1], R0", 16, 2), "stmatrix.x4.trans": ("STSM.16.MT88.4 [R1], R0", 16, 4),
}


def lanes_of(op):
    return 8 * OPS[op][2] if OPS[op][2] else 32


def phases_of(op):
    _, width, matrices = OPS[op]
    size = 8 if matrices else {8: 16, 16: 8}.get(width, 32)
    return [range(first, first + size) for first in range(0, lanes_of(op), size)]


def ideal_of(op):
    return len(phases_of(op))


def sum_of_degrees(op, address):
    """Of each phase the most words in one bank; a copy counts the lanes at a word."""
    total = 0
    for phase in phases_of(op):
        banks = collections.defaultdict(collections.Counter)
        for lane in phase:
            if address[lane] is None:
                continue
            for word in range(address[lane] // 4, (address[lane] + OPS[op][1] - 1) // 4 + 1):
                banks[word % 32][word] += 1
        total += max((sum(words.values()) if op.startswith("cp") else len(words) for words in banks.values()), default=0)
    return total


def pairs_merge(op, address):
    if not op.startswith("ld.") or OPS[op][1] < 8:
        return False
    return any(all(address[lane] is None or address[lane ^ by] is None or address[lane] == address[lane ^ by] for lane in range(32))
               for by in (1, 2))


def cost(op, address):
    """Wavefronts by the cost model."""
    assert not pairs_merge(op, address) or sum(a is not None for a in address) <= 1, "not modelled here"
    total = sum_of_degrees(op, address)
    floor = ideal_of(op) if op.startswith(("ld.", "st.")) else 0
    if floor > 1 and pairs_merge(op, address):
        floor //= 2
    return max(total, floor)


# ------------------------------------------------------------------------------------------- counts


@functools.lru_cache(maxsize=None)
def histories(live, sum_, ideal, lo, hi, full):
    """The pairs (least, most) of costs that `live` executions of `sum_` wavefronts can have. `ideal`: of all together, or None. Each
    costs lo..hi; its ideal is lo..full, and it costs no less than that."""
    if live == 0:
        return frozenset([(None, None)]) if sum_ == 0 and ideal in (None, 0) else frozenset()
    out = set()
    for one in range(lo, min(hi, sum_) + 1):
        for its in ([None] if ideal is None else range(lo, min(full, one, ideal) + 1)):
            for least, most in histories(live - 1, sum_ - one, None if ideal is None else ideal - its, lo, hi, full):
                out.add((one if least is None else min(one, least), one if most is None else max(one, most)))
    return frozenset(out)


def decide_count(op, executed, wavefronts, ideal, switched, bounds, refuted):
    """`bounds`: what the candidates cost at most, by each that is proved."""
    full = ideal_of(op)
    hi = 8 * OPS[op][2] if OPS[op][2] else 32
    wide = not OPS[op][2] and OPS[op][1] >= 8
    lo = 1 if wide else full
    copy = op.startswith("cp")
    if copy and wavefronts == 0:
        return "undecided"
    ways = [(live, way) for live in (range(0, executed + 1) if switched else [executed])
            for way in histories(live, wavefronts, ideal, lo, hi, full)]
    if not ways or wavefronts == 0:
        return "undecided"
    if all(most > max(bounds) for _, (_, most) in ways):
        return "undecided" if copy else "MORE than proved"
    if all(most <= min(bounds) for _, (_, most) in ways):
        exactly = all(least == most == max(bounds) for _, (least, most) in ways)
        sure = not copy or wavefronts == (ideal if ideal is not None else lo * ways[0][0])
        return ("as expected of a refuted layout" if refuted else "as proved") if exactly and sure else "below the worst case"
    return "undecided"


def strided(op, rng):
    """An access by every lane, at distinct addresses: its text, and what it costs."""
    width = OPS[op][1]
    stride = width * rng.choice([1, 1, 1, 2, 3, 4, 5, 8, 16, 32, 33])
    address = [stride * lane for lane in range(32)]
    return f"{op}: address = {stride}*lane", cost(op, address)


def some_obligation(rng, op, name, kernel):
    """TOML, and (kernel, op, wavefronts or None, expects to be refuted)."""
    access, wavefronts = strided(op, rng)
    text = f'[[obligation]]\nname = "{name}"\nlayout = "-"\naccess = ["{access}"]\nalign = 1024\n'
    if kernel:
        text += f'kernel = "{kernel}"\n'
    refuted = wavefronts > ideal_of(op) and rng.random() < 0.15
    expected = rng.random() < (0.5 if refuted else 0.03)
    text += f"at_most = {wavefronts - 1 if refuted else wavefronts}\n"
    if expected:
        text += 'expect = "refuted"\n'
    return text, (kernel, op, wavefronts if refuted == expected else None, expected)


def a_split(rng, op, live):
    """What `live` executions cost: (wavefronts, ideal) of each."""
    full = ideal_of(op)
    hi = 8 * OPS[op][2] if OPS[op][2] else 32
    wide = not OPS[op][2] and OPS[op][1] >= 8
    kind = rng.choice(["ideal", "same", "mixed", "idle"])
    same = rng.choice([full, 2 * full, hi, rng.randint(full, hi)])
    out = []
    for _ in range(live):
        its = rng.randint(1, full) if wide and kind in ("idle", "mixed") else full
        out.append((its if kind in ("ideal", "idle") else min(hi, same) if kind == "same" else rng.randint(its, hi), its))
    return out


def counts_case(rng, lines):
    toml, known, csv, expected, odd = "", [], "", [], collections.Counter()
    ops = rng.sample(sorted(OPS), 4)
    for i in range(rng.randint(1, 5)):
        text, one = some_obligation(rng, rng.choice(ops), f"o{i}", rng.choice(["", "", "^k", "other"]))
        toml += text
        known.append(one)
    with_ideal = rng.random() < 0.6
    csv = '"Kernel Name","kernel(float *)",""\n"Address","Source","Instructions Executed","L1 Wavefronts Shared"'
    csv += ',"L1 Wavefronts Shared Ideal"\n' if with_ideal else "\n"
    for i in range(lines):
        op = rng.choice(ops)
        sass = OPS[op][0]
        switched = rng.random() < 0.35
        if switched:
            sass = rng.choice(["@P0 ", "@!P3 ", "@UP1 "]) + sass
        executed = rng.randint(1, 4)
        live = rng.randint(0, executed) if switched else executed
        split = a_split(rng, op, live)
        wavefronts, ideal = sum(c for c, _ in split), sum(its for _, its in split)
        change = rng.random()
        if change < 0.08:
            wavefronts = max(0, wavefronts + rng.choice([-1, 1]))
        elif change < 0.12:
            executed += 1
        elif change < 0.16 and with_ideal:
            ideal = max(0, ideal + rng.choice([-1, 1]))
        elif change < 0.19:
            wavefronts = 0
        missing = rng.random() < 0.05
        fields = [f"0x{0x7000 + 16 * i:x}", sass, str(executed), str(wavefronts)] + ([str(ideal)] if with_ideal else [])
        if missing:
            fields[rng.choice([2, 3])] = rng.choice(["", "-", "N/A"])
        csv += ",".join(f'"{field}"' for field in fields) + "\n"
        odd["switched off"] += switched
        odd["count of 0"] += wavefronts == 0
        odd["no count"] += missing
        candidates = [k for k in known if k[1] == op and k[0] in ("", "^k")]
        if not missing and wavefronts == 0 and switched and (not with_ideal or ideal == 0):
            continue  # it never ran in any lane
        if not candidates:
            expected.append((sass, "no obligation"))
        elif missing or any(k[2] is None for k in candidates):
            expected.append((sass, "undecided"))
        else:
            bounds = [k[2] for k in candidates]
            expected.append((sass, decide_count(op, executed, wavefronts, ideal if with_ideal else None, switched, bounds,
                                                any(k[3] for k in candidates))))
    left_out = any(k[2] is None for k in known)
    return {"p.csv": csv, "o.toml": toml}, expected, left_out, odd


def counts_of(answer):
    return [(m["where"], m["comparison"]) for m in answer.get("measurements", [])]


# ------------------------------------------------------------------------------------------- lanes


def lanes_case(rng, lines):
    odd = collections.Counter()
    toml, accesses = "", []
    for i in range(rng.randint(1, 3)):
        op = rng.choice(["ld.shared.b32", "st.shared.b64", "ldmatrix.x4", "ldmatrix.x4.trans", "cp.async.b128", "ld.shared.b16"])
        width = OPS[op][1]
        stride, step = width * rng.choice([1, 2, 3, 8]), width * rng.choice([0, 1, 4, 7, 32])
        count, align = rng.randint(1, 6), rng.choice([16, 32, 128, 1024])
        active = rng.choice([32, 32, 20, 5]) if not OPS[op][2] else 32
        text = f"{op}: address = {stride}*lane + {step}*i" + (f" if lane < {active}" if active < 32 else "")
        text += f" for i in 0..{count - 1}"
        toml += f'[[obligation]]\nname = "o{i}"\nlayout = "-"\naccess = ["{text}"]\nalign = {align}\nat_most = 32\n'
        accesses.append((op, stride, step, count, align, active))
    head = {"format": "swizproof trace 1", "device": "d", "architecture": "sm_90", "driver": "1", "toolkit": "13", "commit": "c",
            "recorded": "2026-11-22T21:04:19Z", "program": ["p"]}
    out, expected = [head], []
    while len(out) <= lines:
        op, stride, step, count, align, active = rng.choice(accesses)
        width = OPS[op][1]
        i = rng.randrange(count)
        base = align * rng.randint(0, 8)
        address = [base + stride * lane + step * i if lane < active else None for lane in range(32)]
        change = rng.choice(["none", "none", "lane", "iteration", "base", "predicate", "trans", "op"])
        if change == "lane":
            lane = rng.randrange(active)
            address[lane] += width * rng.choice([1, 2, 16])
        elif change == "iteration":
            by = step * (count - i) + rng.choice([0, step])
            address = [None if a is None else a + by for a in address]
        elif change == "base":
            address = [None if a is None else a + width * rng.choice([1, 2]) for a in address]
        elif change == "predicate" and not OPS[op][2]:
            lane = rng.randrange(32)
            address[lane] = None if address[lane] is not None else base + stride * lane + step * i
        elif change == "trans" and OPS[op][2]:
            op = "ldmatrix.x4" if op.endswith("trans") else "ldmatrix.x4.trans"
        elif change == "op" and not OPS[op][2]:
            op = rng.choice([o for o in OPS if OPS[o][1] == width and not OPS[o][2]])
        if not any(a is not None for a in address):
            continue
        odd["changed " + change] += change != "none"
        w = cost(op, address)
        executed = rng.randint(1, 5)
        kept = executed if rng.random() < 0.93 else executed - 1
        patterns = [{"executed": kept, "wavefronts": w, "address": address}] if kept else []
        out.append({"kernel": "k", "launches": 1, "grid": [1, 1, 1], "block": [32, 1, 1], "pc": 16 * len(out), "sass": None, "file": None,
                    "line": None, "op": op, "executed": executed, "wavefronts": w * executed, "ideal": ideal_of(op) * executed,
                    "distribution": {str(w): executed}, "patterns": patterns, "not_kept": executed - kept,
                    "worst": {"wavefronts": w, "address": address}})
        odd["not kept"] += kept != executed
        candidates = [a for a in accesses if a[0] == op]
        if not candidates:
            other = op[:-6] if op.endswith(".trans") else op + ".trans"
            expected.append((16 * (len(out) - 1), "undecided" if any(a[0] == other for a in accesses) else "no obligation"))
            continue

        def is_instance(access):
            _, stride, step, count, align, active = access
            for i in range(count):
                lane = next(lane for lane in range(32) if address[lane] is not None)
                base = address[lane] - stride * lane - step * i
                if base >= 0 and base % align == 0 and address == [
                        base + stride * lane + step * i if lane < active else None for lane in range(32)]:
                    return True
            return False

        met = any(is_instance(a) for a in candidates)
        expected.append((16 * (len(out) - 1), "DIFFERS from what is proved" if kept and not met else
                         "undecided" if kept != executed else "as proved"))
    out.append({"lines": len(out), "dropped": 0, "unseen": {}, "failures": []})
    return {"t.trace": "".join(json.dumps(line) + "\n" for line in out), "o.toml": toml}, expected, False, odd


def lanes_of_answer(answer):
    return [(i["pc"], i["comparison"]) for t in answer.get("traces", []) for i in t["instructions"]]


# ------------------------------------------------------------------------------------------- tables


def tables_case(rng, lines):
    odd = collections.Counter()
    launches = rng.choice([1, 1, 2, 3])
    prints = rng.choice([1, 2])
    head = {"format": "swizproof trace 1", "device": "d", "architecture": "sm_90", "driver": "1", "toolkit": "13", "commit": "c",
            "recorded": "2026-11-22T21:04:19Z", "program": ["p"]}
    out, profile, keys = [head], [], []
    same_launches = rng.random() < 0.5
    for i in range(lines):
        op = rng.choice(["ld.shared.b32", "ld.shared.b32", "st.shared.b32", "ldmatrix.x4", "ld.shared.b64", "cp.async.b128"])
        kind = rng.choice(["plain", "plain", "predicated", "generic"])
        sass = OPS[op][0]
        if kind == "predicated":
            sass = "@!P0 " + sass
        if kind == "generic" and op[:2] in ("ld", "st") and not OPS[op][2]:
            sass = {"ld.shared.b32": "LD.E R0, [R2.64]", "st.shared.b32": "ST.E [R2.64], R0", "ld.shared.b64": "LD.E.64 R0, [R2.64]"}[op]
        stride = OPS[op][1] * rng.choice([1, 2, 8, 33])
        first = [stride * lane for lane in range(32)]
        second = [OPS[op][1] * lane for lane in range(32)]
        patterns, per_launch = collections.Counter(), []
        for launch in range(launches):
            a, b = (rng.randint(1, 3), rng.randint(0, 2)) if launch == 0 or not same_launches else per_launch[0]
            per_launch.append((a, b))
            patterns["first"] += a
            patterns["second"] += b
        both = [(first, patterns["first"])] + ([(second, patterns["second"])] if second != first and patterns["second"] else [])
        if second == first:
            both = [(first, patterns["first"] + patterns["second"])]
        executed = sum(n for _, n in both)
        distribution = collections.Counter()
        for address, n in both:
            distribution[cost(op, address)] += n
        worst = max((address for address, _ in both), key=lambda address: cost(op, address))
        out.append({"kernel": "void k<4>(float*)", "launches": launches, "grid": [1, 1, 1], "block": [32, 1, 1], "pc": 16 * i + 16,
                    "sass": sass, "file": None, "line": None, "op": op, "executed": executed,
                    "wavefronts": sum(w * n for w, n in distribution.items()), "ideal": ideal_of(op) * executed,
                    "distribution": {str(w): n for w, n in distribution.items()},
                    "patterns": [{"executed": n, "wavefronts": cost(op, address), "address": address} for address, n in both],
                    "not_kept": 0, "worst": {"wavefronts": cost(op, worst), "address": worst}})
        more = rng.randint(1, 4) if sass.startswith(("@", "LD.", "ST.")) and rng.random() < 0.7 else 0
        counted = [[a + b + more, a * cost(op, first) + b * cost(op, second)] for a, b in per_launch]
        profile.append([sass, op, counted])
        keys.append(16 * i + 16)
    # One change of the profile at most.
    change = rng.choice(["none", "none", "count", "zero", "executed", "missing", "all of a line"])
    at = rng.randrange(lines)
    if change == "count":
        profile[at][2][rng.randrange(launches)][1] += rng.choice([-1, 1])
    elif change == "all of a line":
        for one in profile[at][2]:
            one[1] += 1
    elif change == "zero":
        for one in profile[at][2]:
            one[1] = 0
    elif change == "executed":
        profile[at][2][rng.randrange(launches)][0] += rng.choice([-1, 1])
    elif change == "missing":
        for one in profile[at][2]:
            one[rng.randrange(2)] = rng.choice(["", "-", "N/A"])
    for _, _, counted in profile:
        for one in counted:
            if one[0] == 0 and one[1] not in (0, "", "-", "N/A"):
                one[0] = 1
    tables = [[(sass, *counted[launch]) for sass, _, counted in profile] for launch in range(launches) for _ in range(prints)]
    altered = rng.random() < 0.15
    if altered:
        t, line = rng.randrange(len(tables)), rng.randrange(lines)
        tables[t] = list(tables[t])
        sass, e, w = tables[t][line]
        if isinstance(w, int) and isinstance(e, int) and e:
            tables[t][line] = (sass, e, w + 1)
    if rng.random() < 0.1 and len(tables) > 1:
        tables.pop()
    rng.shuffle(tables)
    csv = ""
    for table in tables:
        csv += '"Kernel Name","void k<(int)4>(float *)",""\n"Address","Source","Instructions Executed","L1 Wavefronts Shared"\n'
        csv += '"0x7000","MOV R1, R2","1","0"\n'
        for pc, (sass, e, w) in zip(keys, table):
            csv += f'"0x{0x7000 + pc:x}","{sass}","{e}","{w}"\n'
    odd["changed " + change] += change != "none"
    odd["altered copy"] += altered
    odd["two prints"] += prints == 2
    odd["several launches"] += launches > 1
    return {"t.trace": "".join(json.dumps(line) + "\n" for line in out) + json.dumps(
        {"lines": len(out), "dropped": 0, "unseen": {}, "failures": []}) + "\n", "p.csv": csv}, decide_tables(
            out[1:], keys, tables, launches), False, odd


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def decide_tables(traced, keys, tables, launches):
    """Numbers of lines by outcome, with those that are left out."""
    result = collections.Counter()
    copies = collections.Counter(tuple(table) for table in tables)
    total = len(tables)
    if total % launches:
        return {"other_launches": len(traced)} if total else {"not_counted": len(traced)}
    hypotheses = [d for d in divisors(total) if all(n % d == 0 for n in copies.values())]
    prints = total // launches
    decided, other_run = [], False
    for line, _ in enumerate(keys):
        rows = [(table[line], n) for table, n in copies.items()]
        alike = len({(row[1], row[2]) for row, _ in rows}) == 1
        sass, op = rows[0][0][0], traced[line]["op"]
        if any(isinstance(x, str) for row, _ in rows for x in row[1:]):
            decided.append("undecided")
            continue
        if prints not in hypotheses and not alike:
            decided.append("undecided")
            continue
        if alike:
            e, w = launches * rows[0][0][1], launches * rows[0][0][2]
        else:
            e = sum(n // prints * row[1] for row, n in rows)
            w = sum(n // prints * row[2] for row, n in rows)
        # Another number of prints: of more launches, some were not traced; of fewer, some not profiled.
        explained = any(h > prints or (h < prints and not alike) for h in hypotheses)
        model, executed = traced[line]["wavefronts"], traced[line]["executed"]
        loose = sass.startswith(("@", "LD.", "ST."))
        if e != executed and not (e > executed and loose):
            other_run = other_run or not explained
            decided.append("undecided")
        elif op.startswith("cp"):
            decided.append("bounded" if w >= model else "undecided" if w == 0 or explained else "different")
        elif w != model:
            decided.append("undecided" if explained else "different")
        else:
            decided.append("equal" if e == executed else "predicated")
    for outcome in decided:
        result["undecided" if outcome == "different" and other_run else outcome] += 1
    return dict(result)


def tables_of(answer):
    counted = answer.get("counted", {})
    keys = ("equal", "predicated", "bounded", "different", "undecided", "other_launches", "not_counted", "no_law", "several")
    return {key: counted[key] for key in keys if counted.get(key)}


# ------------------------------------------------------------------------------------------- running


def exit_code_of(kind, expected, left_out):
    values = list(expected) if isinstance(expected, dict) else [word for _, word in expected]
    if any(v in ("different", "MORE than proved", "DIFFERS from what is proved") for v in values):
        return 1
    said = [v for v in values if v not in ("no obligation", "other_launches", "not_counted")]
    if kind == "lanes":
        said = [v for v in said if v != "undecided"]
    return 3 if not said or "undecided" in values or left_out else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dump", help="keep the files of each difference here")
    args = parser.parse_args()
    folder = tempfile.mkdtemp()
    kinds = {"counts": (counts_case, counts_of), "lanes": (lanes_case, lanes_of_answer), "tables": (tables_case, tables_of)}
    done, odd, said, differences = collections.Counter(), collections.Counter(), collections.Counter(), 0
    number = 0
    while sum(done.values()) < args.cases:
        kind = list(kinds)[number % 3]
        rng = random.Random(f"{args.seed} {number}")
        lines = rng.randint(1, 12)
        files, expected, left_out, its = kinds[kind][0](rng, lines)
        for name, text in files.items():
            with open(os.path.join(folder, name), "w", encoding="ascii") as out:
                out.write(text)
        words = ["crosscheck", *(os.path.join(folder, name) for name in files), "--json"]
        code, document, complaint = _swizproof.answer(words)
        try:
            found = kinds[kind][1](json.loads(document))
        except ValueError:
            found = complaint
        wanted = exit_code_of(kind, expected, left_out)
        if found != expected or code != wanted:
            differences += 1
            where = os.path.join(args.dump or folder, f"{args.seed}_{number}")
            os.makedirs(where, exist_ok=True)
            for name in files:
                shutil.copy(os.path.join(folder, name), where)
            if isinstance(found, list) and len(found) == len(expected):
                pairs = [(e, f) for e, f in zip(expected, found) if e != f]
            else:
                pairs = [(expected, found)]
            print(f"difference {kind}: exit {code}, expected {wanted}; (expected, found): {pairs[:3]}")
            print("  swizproof crosscheck " + " ".join(os.path.join(where, name) for name in files))
        done[kind] += lines
        odd.update({key: n for key, n in its.items() if n})
        said.update(expected if isinstance(expected, dict) else [word for _, word in expected])
        number += 1
    print(f"{sum(done.values())} cases ({dict(done)}), decided: {dict(said)}; odd: {dict(odd)}; {differences} differences")
    if not differences:
        shutil.rmtree(folder)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
