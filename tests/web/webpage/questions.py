"""Random questions, decided, refused and undecided ones, the same for the same seed; and what it means that two answers to one
question are the same."""

import random
import shlex

NAMED = ["ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x4.b", "ldmatrix.x4.trans", "ldmatrix.x4.b.trans", "pair1.b64"]
TYPES = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "fp8": 8, "i8": 8}


class Questions:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_of(self, *choices):
        return self.random.choice(choices)

    def swizzle(self):
        bits, base = self.random.randint(0, 3), self.random.randint(0, 4)
        return f"Sw<{bits},{base},{self.random.randint(bits, 4) * self.one_of(1, 1, 1, -1)}>"

    def plain(self):
        rows, columns = self.one_of(8, 16, 32, 64, 128), self.one_of(8, 16, 32, 33, 64, 128)
        pitch = columns + self.one_of(0, 0, 0, 1, 2, 4, 8)
        return self.one_of(
            f"({rows},{columns}):({pitch},1)", f"({rows},{columns}):({pitch},1)", f"({rows},{columns}):(1,{rows})",
            f"((_8,{max(1, rows // 8)}),{columns}):(({pitch},{8 * pitch}),1)")

    def tile(self):
        element = self.one_of(16, 16, 32, 8)
        rotation = "fn(x) = (x & ~0x70) + ((x + ((x >> 7) & 7)*16) & 0x70)"
        return self.one_of(
            self.plain(), self.plain(), f"{self.swizzle()} o _0 o {self.plain()}",
            f"{self.swizzle()} o smem_ptr[{element}b](unset) o {self.plain()}",
            f"{self.one_of(rotation, 'fn(x) = x ^ ((x >> 3) & 0x70)')} o smem_ptr[{element}b](unset) o {self.plain()}",
            f"gmma:{self.one_of('K', 'MN')}_{self.one_of('SW128', 'SW64', 'SW32', 'INTER')}<{self.one_of('f16', 'f32')}> (64,64)",
            f"fn(row, col) = row*{self.one_of(32, 64, 72)} + (col ^ ((row & 7) << {self.one_of(2, 3)})) ({self.one_of(8, 32)},{self.one_of(32, 64)})")

    def function(self):
        return self.one_of(
            self.swizzle(), "tma:" + self.one_of("128B", "64B", "32B", "none"), "fn(x) = x ^ ((x >> 3) & 0x70)",
            "fn(x) = (x & ~0x70) | (((x >> 3) ^ x) & 0x70)", f"fn(x) = x + {self.one_of(1, 16, 128)}", "fn(x) = x*3 + 1",
            "fn(x) = x & 0x7fffffffffffffff", "fn(x) = (x & ~0x70) + ((x + ((x >> 7) & 7)*16) & 0x70)")

    def layout(self):
        return self.one_of(self.tile(), self.tile(), self.function())

    def access(self):
        width = self.one_of(8, 16, 32, 64, 128)
        return self.one_of(
            self.one_of(*NAMED), self.one_of(*NAMED),
            f"ld.shared.b{width}: row = lane, col = i for i in 0..{self.one_of(0, 7, 31)}",
            f"st.shared.b{width}: row = lane/8 + 4*i, col = {self.one_of(4, 8)}*(lane%8) for i in 0..{self.one_of(1, 3, 15)}",
            f"ld.shared.b{width}: row = lane/4, col = 2*(lane%4) if lane < {self.one_of(16, 32)}",
            f"cp.async.b{self.one_of(32, 64, 128)}: row = lane/8, col = 8*(lane%8)")

    def accesses(self, most=3):
        return [word for _ in range(self.random.randint(1, most)) for word in ("--access", self.access())]

    def broken(self, words):
        """The same with one character too few or another one."""
        at = self.random.randrange(len(words))
        word = words[at]
        place = self.random.randrange(len(word)) if word else 0
        return words[:at] + [word[:place] + self.one_of("", "?", "é", "<b>", "((") + word[place + 1:]] + words[at + 1:]

    def words(self):
        """What stands behind `swizproof`."""
        element = self.one_of([], ["--element", self.one_of(*TYPES)], ["--element", "f16"])
        arch = self.one_of([], [], ["--arch", self.one_of("sm_80", "sm_100")])
        tile = self.tile()
        limit = self.one_of([], [], ["--at-most", str(self.random.randint(1, 32))], ["--align", self.one_of("2", "128", "1024")])
        words = self.one_of(
            ["check", tile, *element, *arch, *limit, *self.accesses()],
            ["check", tile, *element, *limit, *self.accesses()],
            ["check", "-", "--access", f"ld.shared.b128: address = ((lane%8)*{self.one_of(128, 144)} + (lane/8)*16) ^ ((lane%8) << 4)"],
            ["find", tile, *element, *self.one_of([], [], ["--padding"], ["--xor"]), *self.accesses(2)],
            ["equal", self.function(), self.function()], ["equal", tile, self.tile(), *element],
            ["inspect", self.layout(), *element], ["align", self.layout(), *element],
            ["descriptor", tile, *element], ["tma", tile, *element], ["convert", tile, "--to", self.one_of("f32", "i8"), *element],
            ["eval", self.layout(), "--at", self.one_of("0,1,2,63", "18446744073709551615", "9007199254740993")], ["accesses"],
            ["fragment", "mma.m16n8k16.f16:" + self.one_of(*"abcd")])
        return self.broken(words) if self.random.random() < 0.12 else words

    def line(self):
        return " ".join(shlex.quote(word) for word in self.words())


ENGINES = {"engine", "engines", "second"}
WHY_UNDECIDED = {"reason", "domain", "exact"}


def by_solver(document):
    """Whether some part of an answer has been decided by a solver alone."""
    if isinstance(document, dict):
        return document.get("engine") == "SMT" or any(by_solver(value) for value in document.values())
    return isinstance(document, list) and any(by_solver(value) for value in document)


def lacks_solver(document):
    """Whether an answer says that an engine would be needed which the page has not."""
    text = str(document)
    return any(why in text for why in ("no solver in this build", "no engine can decide the period", "no period that is known"))


def difference(program, page, undecided=False, path=""):
    """Where two answers to one question differ, engines apart; where the page is undecided, it may say less and nothing else."""
    if isinstance(program, dict) and isinstance(page, dict):
        undecided = undecided or page.get("verdict") == "unknown"
        leave_out = WHY_UNDECIDED if undecided or "bases that are not known" in page.get("domain", "") else set()
        for key in sorted({*program, *page} - ENGINES - leave_out):
            if key not in page or key not in program:
                if not undecided or key in page:
                    return f"{path}.{key}: only one has it"
            elif found := difference(program[key], page[key], undecided, f"{path}.{key}"):
                return found
        return None
    if isinstance(program, list) and isinstance(page, list) and len(program) == len(page):
        return next(filter(None, (difference(a, b, undecided, f"{path}[{i}]") for i, (a, b) in enumerate(zip(program, page)))), None)
    if program == page and type(program) is type(page):
        return None
    if undecided and page in (None, "unknown", "", []):
        return None
    # Without a solver the period may be unknown to the page: its proof then ends with the bases of shared memory, and says so.
    if path.endswith(".domain") and isinstance(page, str) and page.replace(" and below 2^24", "").replace(" below 2^24", "") == program:
        return None
    return f"{path}: {program!r} and {page!r}"


def disagreement(program, page):
    """The error in the page's answer, as (exit code, document), compared with the program's; nothing if they agree, or if
    the page leaves undecided what needs a solver."""
    if found := difference(program[1], page[1]):
        return found
    if program[0] == page[0]:
        return None
    if page[0] == 3 and (by_solver(program[1]) or lacks_solver(page[1])):
        return None
    return f"exit codes {program[0]} and {page[0]}"
