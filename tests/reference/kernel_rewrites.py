#!/usr/bin/env python3
"""kernel_rewrites.py --cases N --seed S: `swizproof kernel` says the same of a kernel that is written in another way.

Random kernels (ptx_cases.py), or those of given files, are decided twice: as they are, and rewritten so that every execution is the same:
  - registers are renamed, and independent instructions permuted;
  - sums are split, also those of an address and its offset; constants come from registers that the kernel's start sets;
  - products by powers of two are shifts, and shifts are products;
  - instructions whose results nothing reads are added;
  - instructions are wrapped in functions.
Of each access the verdict, the wavefronts, alignment and bounds must not change. There is no model: the command is compared with itself.
What one of the two leaves open is counted, and no difference: a search of launches may find a fault, or an execution above the bound, for one alone.
The last line has the numbers of pairs, accesses, rewrites by kind, and differences; exit code 1 if there are some.
--binary PATH asks a program in place of the Python module; --keep DIR keeps both files of each difference there.
"""
import argparse
import collections
import json
import os
import re
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("kernel_rewrites.py: not run (numpy is not installed)")
    sys.exit(77)

import ptx_cases
from kernel import ask

PURE = {"add", "sub", "mul", "mad", "and", "or", "xor", "not", "shl", "shr", "min", "max", "setp", "selp", "mov", "cvt", "bfe", "bfi", "prmt", "lop3",
        "popc", "clz", "brev", "neg", "abs", "mul24", "mad24", "sad", "div", "rem", "shf", "slct", "set", "cnot", "bfind"}
STORES = {"st", "red", "bar", "barrier", "membar", "fence", "bra", "ret", "exit", "trap", "call", "stmatrix", "cp", "prefetch", "brx", "nanosleep"}
ENDS = {"bra", "ret", "exit", "trap", "call", "brx"}
SPECIALS = {"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%laneid"}
WORD = re.compile(r"(?<![\w$.%])[%A-Za-z_$][\w$]*(?:\.[xyz]\b)?")
FIELDS = ("verdict", "wavefronts", "aligned", "in_bounds")


class Item:
    """A statement of a body: a label, a brace, a declaration or an instruction. `id` is that of the one it was written from; 0: none."""

    def __init__(self, text, number):
        self.text, self.id = text, number
        match = re.match(r"(@!?\s*[%\w$]+\s+)?([a-z][\w.:]*)\s*(.*);$", text, re.S)
        self.op = match.group(2) if match and not text.startswith(".") else None
        if self.op:
            self.guard, self.rest = (match.group(1) or ""), match.group(3).strip()
            self.name = self.op.split(".")[0]

    def operands(self):
        return [o.strip() for o in re.split(r",(?![^{\[(]*[}\])])", self.rest)] if self.rest else []

    def words(self):
        """Registers that it writes, and those that it reads."""
        guard, parts = set(WORD.findall(self.guard)), self.operands()
        if self.name in STORES or not parts:
            return set(), guard | set(WORD.findall(self.rest))
        written = set(WORD.findall(parts[0]))
        return written, guard | set(WORD.findall(",".join(parts[1:]))) | (written if self.guard else set())

    def is_pure(self):
        if not self.op or self.name not in PURE or ".cc" in self.op:
            return False
        return all("." not in w or w in SPECIALS for w in self.words()[1]) and not re.search(
            r"%(clock|warpid|smid|globaltimer|lanemask|nwarpid|envreg|gridid|pm|total|dynamic|nctaid|cluster|is_explicit|nsmid)", self.rest)


def items_of(body, number):
    """The statements of a body, without its own braces."""
    out, at = [], 0
    body = re.sub(r"//[^\n]*|/\*.*?\*/|^[ \t]*\.loc[^\n]*", " ", body, flags=re.S | re.M)
    while True:
        at += len(body[at:]) - len(body[at:].lstrip())
        if at >= len(body):
            return out
        label = re.compile(r"[\w$%]+\s*:(?!:)").match(body, at)
        end = at + 1 if body[at] in "{};" else label.end() if label and not re.match(r"\s*\.(branch|call)", body[label.end():]) else body.index(";", at) + 1
        if body[at] != ";":
            out.append(Item(" ".join(body[at:end].split()), number + len(out)))
        at = end


class Function:
    """A function's head and statements; `sizes` of its registers, by name or prefix."""

    def __init__(self, head, body, number):
        self.head, self.items, self.new, self.made = head, items_of(body, number), 0, []
        self.counted, self.named = {}, {}
        for item in self.items:
            match = re.match(r"\.reg\s+\.(\w+)\s+(.*);$", item.text)
            for name in match.group(2).split(",") if match else ():
                count = re.match(r"\s*([%\w$]+)<(\d+)>", name)
                if count:
                    self.counted[count.group(1)] = (int(count.group(2)), match.group(1))
                else:
                    self.named[name.strip()] = match.group(1)

    def size(self, register):
        """Bits of a register; 0: not one of 16 to 64 bits."""
        kind = self.named.get(register)
        match = re.fullmatch(r"(%[A-Za-z_$]*?)(\d+)", register)
        if kind is None and match and match.group(1) in self.counted and int(match.group(2)) < self.counted[match.group(1)][0]:
            kind = self.counted[match.group(1)][1]
        return int(kind[1:]) if kind and kind[0] in "bus" and kind[1:].isdigit() else 0

    def fresh(self, size=32):
        self.new += 1
        name = f"%new{size}x{self.new}"
        self.made.append(f".reg .b{size} {name};")
        return name


class Rewriter:
    def __init__(self, rng, tally):
        self.rng, self.tally, self.wrappers = rng, tally, 0

    def chance(self, p):
        return self.rng.random() < p

    def rewrite(self, function):
        """The function's statements, written another way, and functions that stand before it."""
        f, out, start, functions = function, [], [], []
        for item in f.items:
            out += self.expand(f, item, start) if item.op else [item]
        first = next((i for i, item in enumerate(out) if item.op), len(out))
        out[first:first] = start
        self.dead(f, out)
        self.permute(out)
        out = self.wrap(f, out, functions)
        declarations = [Item(t, 0) for t in f.made]
        return self.rename(f, declarations + out), functions

    def expand(self, f, item, start):
        """One instruction as one or several others."""
        parts, op = item.operands(), item.op

        def same(text, kind, *before):
            self.tally[kind] += 1
            return [*(Item(b, 0) for b in before), Item(text, item.id)]

        def constant(text):
            return re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", text)

        address = next((p for p in parts if re.fullmatch(r"\[%[\w$]+\s*\+\s*-?\d+\]", p)), None)
        if address and self.chance(0.4) and "param" not in op:
            base, offset = re.fullmatch(r"\[(%[\w$]+)\s*\+\s*(-?\d+)\]", address).groups()
            if f.size(base) in (32, 64):
                r = f.fresh(f.size(base))
                rest = ", ".join(f"[{r}]" if p is address else p for p in parts)
                return same(f"{item.guard}{op} {rest};", "address split", f"add.s{f.size(base)} {r}, {base}, {offset};")
        if len(parts) != 3 or item.name not in ("add", "sub", "mul", "and", "or", "xor", "shl", "shr", "min", "max") or f.size(parts[0]) != 32:
            return [item]
        to, a, b = parts
        number = int(b, 0) if constant(b) else None
        if number is None or not op.endswith("32"):
            return [item]
        if op in ("add.s32", "add.u32") and self.chance(0.4):
            r, one = f.fresh(), int(self.rng.integers(-100, 100))
            return same(f"{item.guard}{op} {to}, {r}, {number - one};" if abs(number) < 1 << 30 else f"{item.guard}{op} {to}, {r}, {(number - one) & 0xffffffff};",
                        "sum split", f"{op} {r}, {a}, {one};")
        if re.fullmatch(r"mul\.lo\.[su]32", op) and number > 0 and number & (number - 1) == 0 and self.chance(0.6):
            return same(f"{item.guard}shl.b32 {to}, {a}, {number.bit_length() - 1};", "product as shift")
        if op == "shl.b32" and 0 <= number < 31 and self.chance(0.4):
            return same(f"{item.guard}mul.lo.u32 {to}, {a}, {1 << number};", "shift as product")
        if self.chance(0.3):
            r = f.fresh()
            start.append(Item(f"mov.u32 {r}, {number};", 0))
            return same(f"{item.guard}{op} {to}, {a}, {r};", "constant hoisted")
        return [item]

    def dead(self, f, items):
        for _ in range(int(self.rng.integers(0, 4))):
            places = [i for i, item in enumerate(items) if item.op]
            at = places[int(self.rng.integers(0, len(places)))] if places else len(items)
            op = ["add.s32", "xor.b32", "mul.lo.s32", "min.u32"][int(self.rng.integers(0, 4))]
            items.insert(at, Item(f"{op} {f.fresh()}, {int(self.rng.integers(0, 99))}, {int(self.rng.integers(0, 99))};", 0))
            self.tally["dead code"] += 1

    def permute(self, items):
        for _ in range(4 * len(items)):
            i = int(self.rng.integers(0, max(len(items) - 1, 1)))
            if i + 1 >= len(items):
                break
            a, b = items[i], items[i + 1]
            if not a.op or not b.op or a.name in ENDS or b.name in ENDS or not (a.is_pure() or b.is_pure()):
                continue
            (wa, ra), (wb, rb) = a.words(), b.words()
            if wa & (wb | rb) or wb & ra:
                continue
            items[i], items[i + 1] = b, a
            self.tally["permuted"] += 1

    def wrap(self, f, items, functions):
        """Instructions on words as calls of functions, which do the same."""
        out = []
        for item in items:
            simple = item.op and not item.guard and (item.is_pure() or re.fullmatch(r"(ld|st)\.shared(\.[uf]32)", item.op)) and self.chance(0.08)
            written, read = item.words() if simple else (set(), set())
            inputs = sorted(r for r in read if r not in SPECIALS)
            if not simple or any(not r.startswith("%") or f.size(r) != 32 for r in [*written, *inputs]) or len(written) > 1 or (written and "{" in item.operands()[0]):
                out.append(item)
                continue
            self.wrappers += 1
            self.tally["wrapped"] += 1
            name = f"wrapper_{self.wrappers}"
            names = {r: f"%x{i}" for i, r in enumerate(inputs)}
            names.update({r: "%to" for r in written if r not in names})
            body = WORD.sub(lambda m: names.get(m.group(), m.group()), item.text)
            first = "mov.b32 %to, " + names[next(iter(written))] + "; " if written and next(iter(written)) in inputs else ""
            if first:  # one register is read and written
                parts = item.operands()
                body = f"{item.op} %to, " + WORD.sub(lambda m: names.get(m.group(), m.group()), ", ".join(parts[1:])) + ";"
            functions.append((f".func {'(.reg .b32 %to) ' if written else ''}{name}({', '.join(f'.reg .b32 {names[r]}' for r in inputs)})",
                              [Item(body, item.id), Item("ret;", 0)]))
            result = f"({next(iter(written))}), " if written else ""
            arguments = f", ({', '.join(inputs)})" if inputs else ""
            out.append(Item(f"call {result}{name}{arguments};", 0))
            out[-1].wrapper = True
        return out

    def rename(self, f, items):
        renamed = {}
        for prefix, (count, _) in f.counted.items():
            order = self.rng.permutation(count)
            renamed.update({f"{prefix}{i}": f"{prefix}{order[i]}" for i in range(count)})
        for item in items:
            if item.op:
                item.text = WORD.sub(lambda m: renamed.get(m.group(), m.group()), item.text)
        self.tally["registers renamed"] += len(renamed)
        return items


def parts_of(text):
    """A file in pieces: text between functions, and functions."""
    pieces, at, number = [], 0, 1
    for match in re.finditer(r"^[ \t]*(?:\.visible |\.weak |\.extern )*\.(?:entry|func)\b", text, re.M):
        if match.start() < at:
            continue
        opened, ended = text.find("{", match.start()), text.find(";", match.start())
        if opened < 0 or 0 <= ended < opened:
            continue  # a declaration
        depth, end = 0, opened
        while True:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        pieces.append(text[at:match.start()])
        f = Function(text[match.start():opened].strip(), text[opened + 1:end - 1], number)
        number += len(f.items)
        pieces.append(f)
        at = end
    return pieces + [text[at:]]


def written(pieces):
    """The text of a file, one statement a line; the statements' ids by line; and lines of calls of wrappers."""
    lines, ids, wrappers = [], {}, set()
    for piece in pieces:
        if isinstance(piece, str):
            lines += piece.split("\n")
            continue
        head, items = piece
        lines += head.split("\n") + ["{"]
        for item in items:
            lines += [item.text]
            ids[len(lines)] = item.id
            if getattr(item, "wrapper", False):
                wrappers.add(len(lines))
        lines += ["}"]
    return "\n".join(lines) + "\n", ids, wrappers


def accesses_of(document, ids, wrappers):
    """Accesses by kernel, statement, and statements of the calls that lead to it."""
    out = {}
    for kernel in document["kernels"]:
        for a in kernel["accesses"]:
            calls = tuple(ids.get(c) for c in a.get("calls") or () if c not in wrappers)
            out[kernel.get("mangled") or kernel["kernel"], ids.get(a["ptx_line"]), calls] = a
    return out


def is_known_once(a, b):
    """Whether two answers differ by what one of them leaves open: a fault, or an execution above the bound, that a search found for the other;
    alignment and bounds of an access whose cost is open in both; or the bound and the alignment of one that both refute for its bounds."""
    if all(x["verdict"] == "refuted" and x.get("in_bounds") is False for x in (a, b)):
        return a.get("aligned") == b.get("aligned") or None in (a.get("aligned"), b.get("aligned"))
    if a["wavefronts"] != b["wavefronts"]:
        return False
    pairs = [(a.get(f), b.get(f)) for f in ("aligned", "in_bounds")]
    opened = [p for p in pairs if p[0] != p[1] and None in p]
    verdicts = {a["verdict"], b["verdict"]}
    if any(x != y and None not in (x, y) for x, y in pairs):
        return False
    if any(False in p for p in opened) or verdicts <= {"unknown"} or verdicts <= {"data"}:
        return True
    return len(verdicts) == 2 and "refuted" in verdicts and "proved" not in verdicts


class Comparison:
    def __init__(self, binary, keep, rng):
        self.binary, self.keep, self.rng = binary, keep, rng
        self.tally, self.rewrites, self.differences = collections.Counter(), collections.Counter(), 0

    def differ(self, name, what, texts):
        self.differences += 1
        print(f"DIFFERENT: {name}: {what}", flush=True)
        if self.keep:
            os.makedirs(self.keep, exist_ok=True)
            for kind, text in zip(("before", "after"), texts):
                with open(os.path.join(self.keep, f"{name}.{kind}.ptx"), "w", encoding="utf-8") as file:
                    file.write(text)

    def asked(self, text, folder, words):
        path = os.path.join(folder, "asked.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        _, document, complaint = ask(self.binary, ["kernel", path, "--json", *words])
        try:
            answer = json.loads(document)
        except ValueError:
            answer = {}
        return answer if "kernels" in answer else {"complaint": (complaint or str(answer.get("error"))).replace(path, "FILE").strip()}

    def pair(self, text, name, words, folder):
        try:
            pieces = parts_of(text)
        except (IndexError, ValueError):  # a brace or a semicolon is missing
            self.tally["not read"] += 1
            return
        before = written([p if isinstance(p, str) else (p.head, p.items) for p in pieces])
        rewriter, after = Rewriter(self.rng, self.rewrites), []
        for piece in parts_of(text):
            if isinstance(piece, str):
                after.append(piece)
                continue
            items, functions = rewriter.rewrite(piece)
            after += [*functions, (piece.head, items)]
        after = written(after)
        texts = (before[0], after[0])
        answers = [self.asked(t[0], folder, words) for t in (before, after)]
        if any("complaint" in a for a in answers):
            if "complaint" not in answers[0]:
                self.differ(name, answers[1].get("complaint"), texts)
            self.tally["not read"] += 1
            return
        self.tally["pairs"] += len(answers[0]["kernels"])
        one, two = accesses_of(answers[0], *before[1:]), accesses_of(answers[1], *after[1:])
        for key in sorted(set(one) | set(two), key=str):
            self.tally["accesses"] += 1
            a, b = one.get(key), two.get(key)
            if a is None or b is None:
                self.differ(name, f"{key}: only {'before' if b is None else 'after'}: {(a or b)['op']}", texts)
                continue
            self.tally[a["verdict"]] += 1
            limits = [str(x.get("reason")) for x in (a, b)]
            if any("limit of" in r or "cases" in r for r in limits):
                self.tally["at a limit"] += 1
            elif all(a.get(f) == b.get(f) for f in FIELDS):
                continue
            elif is_known_once(a, b):
                self.tally["known in one alone"] += 1
            else:
                self.differ(name, f"{key[0]} PTX line {a['ptx_line']}, then {b['ptx_line']} ({a['op']}): " + ", ".join(
                    f"{f} {a.get(f)} -> {b.get(f)}" for f in FIELDS if a.get(f) != b.get(f)) + f"; {limits}", texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary")
    parser.add_argument("--keep")
    parser.add_argument("--block", default="256")
    parser.add_argument("files", nargs="*")
    o = parser.parse_args()
    rng = np.random.default_rng(o.seed)
    c = Comparison(o.binary, o.keep, rng)
    with tempfile.TemporaryDirectory() as folder:
        for path in o.files:
            with open(path, encoding="utf-8", errors="replace") as file:
                c.pair(file.read(), os.path.basename(path).removesuffix(".ptx"), ["--block", o.block], folder)
        done = 0
        while not o.files and done < o.cases:
            many = min(20, o.cases - done)
            block = ptx_cases.BLOCKS[int(rng.integers(0, len(ptx_cases.BLOCKS)))]
            text, _ = ptx_cases.cases(rng, many, block, 0.12)
            c.pair(text, f"case_{o.seed}_{done}", ["--block", ",".join(map(str, block))], folder)
            done += many
    print("rewrites: " + ", ".join(f"{k} {v}" for k, v in c.rewrites.most_common()))
    print(", ".join(f"{v} {k}" for k, v in c.tally.items()) + f"; {c.differences} differences")
    return 1 if c.differences else 0


if __name__ == "__main__":
    sys.exit(main())
