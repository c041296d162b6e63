"""Parts that the scripts of this folder share: arguments, nvcc, `swizproof flow`, edits of PTX, and the lines that are printed.

A script prints a line a case: `name | label | answer | score | reason | seconds`, and the counts in its last line. label: right, wrong or race free, what the suite
says of the kernel, or the kinds of fault that it names, in the words of `flow`; answer: proved, refuted, unknown, or none if nothing was asked. score: right, wrong, undecided, explained (the
answer is not the label's, and `reason` has the rule that the label breaks) or not asked. Exit code 1 if an answer is wrong.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

NOT_ASKED = "not asked"


class Failed(Exception):
    """A case that cannot be asked: the reason."""


class Suite:
    """A checkout, the programs that read it, and the answers so far. title: the suite's name, or a function that returns it for a checkout."""

    def __init__(self, title, arguments=None, commit=""):
        parser = argparse.ArgumentParser(description=title if isinstance(title, str) else None)
        parser.add_argument("checkout", type=pathlib.Path)
        parser.add_argument("--binary", default="swizproof")
        parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
        parser.add_argument("--only", default="", help="a part of the names of the cases")
        parser.add_argument("--keep", type=pathlib.Path, help="folder that keeps the PTX")
        parser.add_argument("--asked", type=pathlib.Path, help="file for racecheck.py: what flow was asked, a JSON line a case")
        for name, options in (arguments or {}).items():
            parser.add_argument(name, **options)
        self.given = parser.parse_args()
        self.checkout = self.given.checkout.resolve()
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = self.given.keep or pathlib.Path(self._temporary.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.scores, self.title, self._last = collections.Counter(), title if isinstance(title, str) else title(self.checkout), None
        print(f"# {self.title}, {commit or commit_of(self.checkout)}", flush=True)

    def wanted(self, name):
        return self.given.only in name

    def compile(self, source, name, *flags, text=None, arch="sm_90a"):
        """PTX of a source, which `text` replaces."""
        to = self.folder / (name.replace("/", "_") + ".ptx")
        if text is not None:
            source = self.folder / (name.replace("/", "_") + ".cu")
            source.write_text(text)
        r = subprocess.run([self.given.nvcc, "-ptx", f"-arch={arch}", "-lineinfo", "-w", *flags, source, "-o", to], capture_output=True, text=True, check=False)
        if not to.exists():
            lines = [line for line in (r.stderr + r.stdout).split("\n") if "error" in line] or ["nvcc fails"]
            raise Failed(f"not compiled: {pathlib.Path(lines[0]).name if '/' in lines[0].split(':')[0] else lines[0]}"[:200])
        return to.read_text()

    def flow(self, ptx, *options, seconds=300):
        """The JSON of `swizproof flow`; a refusal has the verdict unknown."""
        path = self.folder / "asked.ptx"
        path.write_text(ptx)
        self._last = {"ptx": ptx, "options": [str(word) for word in options]}
        try:
            r = subprocess.run([self.given.binary, "flow", path, *options, "--repair-steps", "0", "--json"], capture_output=True, text=True, check=False, timeout=seconds)
        except subprocess.TimeoutExpired:
            return {"verdict": "unknown", "reason": f"no answer after {seconds} s"}
        if r.returncode not in (0, 1, 3) or not r.stdout:
            return {"verdict": "unknown", "reason": " ".join(r.stderr.split())[:300] or f"exit code {r.returncode}", "error": r.stderr}
        return json.loads(r.stdout)

    def races(self, ptx, *options, seconds=300, values=("--same-values",)):
        """What `swizproof kernel --races` says of the only kernel, as `flow` words it."""
        path = self.folder / "asked.ptx"
        path.write_text(ptx)
        try:
            r = subprocess.run([self.given.binary, "kernel", path, "--races", *values, *options, "--json"], capture_output=True, text=True, check=False, timeout=seconds)
        except subprocess.TimeoutExpired:
            return {"verdict": "unknown", "reason": f"no answer after {seconds} s"}
        if r.returncode not in (0, 1, 3) or not r.stdout:
            return {"verdict": "unknown", "reason": " ".join(r.stderr.split())[:300] or f"exit code {r.returncode}"}
        answer = json.loads(r.stdout)["kernels"][0].get("races")
        if answer is None:
            return {"verdict": "unknown", "reason": "no kernel is decided"}
        out = {"verdict": answer["verdict"], "reason": answer["reason"]}
        if answer["found"]:
            one = answer["found"][0]
            both = [f"thread {one[k]['thread']} {'writes' if one[k]['write'] else 'reads'} it" for k in ("first", "second")]
            out |= {"kind": "race", "fault": {"kind": one["kind"], "text": f"byte {one['offset']} of {one['array']}: {both[0]}, {both[1]}; block {one['block']}, {one['params']}",
                                              "lines": [one[k] for k in ("first", "second")]}}
        elif answer["ptx_lines"]:
            out["reason"] += f" (PTX lines {answer['ptx_lines']})"
        return out

    def ask(self, name, label, ptx, *options, note="", explained="", seconds=300):
        """Asks one case and prints its line. label: `right`, `wrong`, `race free`, or kinds of fault that `/` separates."""
        start = time.time()
        document = self.flow(ptx() if callable(ptx) else ptx, *options, seconds=seconds)
        return self.line(name, label, document, time.time() - start, note, explained)

    def line(self, name, label, document, seconds=0.0, note="", explained=""):
        answer, score = document["verdict"], scored(label, document)
        if score == "wrong" and explained:
            score = "explained"
        if self.given.asked and self._last:
            with self.given.asked.open("a") as file:
                file.write(json.dumps({"suite": self.title, "name": name, "label": label, "answer": answer} | self._last) + "\n")
        self._last = None
        reason = "; ".join(part for part in (reason_of(document), explained if score == "explained" else "", note) if part)
        self.write(name, label, answer, score, reason, seconds)
        return document

    def not_asked(self, name, label, reason):
        self.write(name, label, "none", NOT_ASKED, reason, 0.0)

    def write(self, name, label, answer, score, reason, seconds):
        self.scores[score] += 1
        print(" | ".join([name, label, answer, score, " ".join(reason.split()).replace("|", "/"), f"{seconds:.2f} s"]), flush=True)

    def end(self):
        names = ("right", "wrong", "explained", "undecided", NOT_ASKED)
        print(f"{sum(self.scores.values())} cases: " + ", ".join(f"{self.scores[name]} {name}" for name in names))
        sys.exit(1 if self.scores["wrong"] else 0)


def commit_of(checkout):
    """The commit of a checkout, from git or from a file .commit."""
    held = checkout / ".commit"
    if held.exists():
        return held.read_text().strip()
    r = subprocess.run(["git", "-C", checkout, "log", "-1", "--format=%h %as"], capture_output=True, text=True, check=False)
    return r.stdout.strip() if r.returncode == 0 else "unknown"


def scored(label, document):
    """right, wrong or undecided. A wrong kernel that is refuted for another fault than the suite's is undecided."""
    answer = document["verdict"]
    if answer == "unknown":
        return "undecided"
    if label == "race free":  # of other faults the suite says nothing
        return "right" if answer == "proved" else "wrong" if document["kind"] in ("race", "same-value race") else "undecided"
    if label in ("right", "wrong"):
        return "right" if (answer == "proved") == (label == "right") else "wrong"
    if answer == "proved":
        return "wrong"
    kinds = label.split("/")
    return "right" if document["kind"] in kinds or (document["kind"] == "same-value race" and "race" in kinds) else "undecided"


def reason_of(document):
    """What an answer names."""
    if document["verdict"] == "proved":
        return ", ".join(document.get("not_checked", []))
    fault = document.get("fault")
    if not fault:
        at = document.get("at")
        return str(document.get("reason")) + (f" (PTX line {at['ptx_line']}, {at['op']})" if at else "")
    lines = ", ".join(f"{pathlib.Path(one['file']).name}:{one['line']}" if one.get("file") else f"PTX line {one['ptx_line']}" for one in fault["lines"][:2])
    return f"{fault['kind']}: {fault['text']}" + (f" ({lines})" if lines else "")


# ---------------------------------------------------------------------------------------------- PTX


def in_shared(text, size=1 << 20):
    """The PTX with what its pointers point to in shared memory, each in an array of its own: races of global memory within a block become races of shared memory."""
    names = re.findall(r"\.param\s+\.u64\s+(?:\.ptr\s+[\w. ]*?)?(\w+)", re.search(r"\.entry [^()]*\((.*?)\)", text, re.S).group(1))
    declared = ""
    for name in names:
        text, used = re.subn(rf"ld\.param\.u64 (\s*%\w+), \[{name}\];", rf"mov.u64 \1, in_shared_{name};", text)
        declared += f".shared .align 16 .b8 in_shared_{name}[{size}];\n" if used else ""
    text = re.sub(r"^((?:\.visible |\.extern )?)\.global (\.align \d+ \.\w+ \w+(?:\[\d*\])?)( = [^;]*)?;", r".shared \2;", text, flags=re.M)
    text = re.sub(r"cvta(?:\.to)?\.global\.u64", "mov.u64", text)
    text = re.sub(r"\b(ld|st|atom|red)(\.\w+)?\.global(\.nc)?(?=\.)", lambda m: m.group(1) + (m.group(2) or "") + ".shared", text)
    return re.sub(r"^\.address_size 64\n", lambda m: m.group(0) + declared, text, count=1, flags=re.M)


def cut(text, part=""):
    """A module with one of its kernels, the only one if `part` is a part of one name alone, and the name."""
    starts = [m for m in re.finditer(r"^(?:\.visible |\.weak )?\.entry (\S+?)\(?$", text, re.M)]
    found = [m for m in starts if part in m.group(1)]
    if len(found) != 1:
        raise Failed(f"{len(found)} kernels have '{part}' in their name")
    out, last = "", 0
    for m in starts:
        end = closing(text, text.index("\n{", m.end()) + 1) + 1
        if m is not found[0]:
            out += text[last:m.start()]
            last = end
    return out + text[last:], found[0].group(1)


def closing(text, at):
    """Index of the brace that closes the one at `at`."""
    depth = 0
    for m in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if m.group(0) == "{" else -1
        if depth == 0:
            return m.start()
    raise Failed("a brace is not closed")


def maxntid(text):
    """Threads of a block, as __launch_bounds__ says."""
    m = re.search(r"^\.(?:max|req)ntid (\d+)", text, re.M)
    return int(m.group(1)) if m else 0


def parameters(text):
    """Types of the parameters of the only kernel."""
    head = re.search(r"\.entry [^()]*\((.*?)\)", text, re.S)
    return re.findall(r"\.param\s+(?:\.align \d+ )?\.(\w+)", head.group(1)) if head else []


def lifted(text, known=()):
    """Variables of the module, constant memory too, become parameters: arrays of any content, or, if `known`, structures with the bytes of their initialisation.

    The PTX and the options for these parameters.
    """
    pattern = re.compile(r"^(?:\.visible )?\.(?:const|global) \.align (\d+) \.(\w+) (\w+)(?:\[(\d+)\])?(?: = ([^;]*))?;\n", re.M)
    first, options, heads, body = len(parameters(text)), [], "", ""
    variables = [m for m in pattern.finditer(text) if m.group(2) != "texref"]
    text = pattern.sub("", text)
    for k, m in enumerate(variables):
        align, kind, name, count, values = int(m.group(1)), m.group(2), m.group(3), int(m.group(4) or 1), m.group(5)
        total = count * (1 if kind == "b8" else int(kind[1:]) // 8)
        if not re.search(rf"\b{name}\b", text):
            continue
        number = first + heads.count(".param")
        heads += f",\n\t.param {'.align ' + str(align) + ' .b8 ' if name in known else '.u64 '}lifted_{k}{f'[{total}]' if name in known else ''}"
        body += f"\t.reg .b64 %lifted_{k};\n\t{'mov.b64' if name in known else 'ld.param.u64'} %lifted_{k}, {f'lifted_{k}' if name in known else f'[lifted_{k}]'};\n"
        if name in known:
            numbers = [int(v) for v in values.strip("{} ").split(",")]
            numbers += [0] * (total - len(numbers))
            for at in range(0, total, 4):
                options += ["--param", f"{number}+{at}={int.from_bytes(bytes(numbers[at:at + 4]), 'little')}:u32"]
        else:
            each = min(align, 8) if kind == "b8" else total // count
            options += ["--param", f"{number}={name}:{ {8: 'f64', 4: 'f32', 2: 'f16', 1: 'u8'}[each]}[{max(total // each, 1)}]"]
        text = re.sub(rf"(mov\.\w+\s+%\w+, ){name}\+(\d+);", rf"\g<1>%lifted_{k};\n\tadd.s64 SAME, SAME, \2;", text)
        text = re.sub(rf"\b{name}\b", f"%lifted_{k}", text)
    if not heads:
        return text, []
    text = re.sub(r"(mov\.\w+\s+(%\w+), [^\n]*\n\tadd\.s64 )SAME, SAME", r"\1\2, \2", text)
    text = text.replace("ld.const", "ld.global").replace("cvta.const.u64", "mov.u64").replace("cvta.global.u64", "mov.b64")
    text = re.sub(r"(\.entry [^()]*\(.*?)\n?\)", lambda m: m.group(1) + (heads if first else heads[1:]) + "\n)", text, count=1, flags=re.S)
    return re.sub(r"^\{\n", lambda m: "{\n" + body, text, count=1, flags=re.M), options
