#!/usr/bin/env python3
"""Dat3M's litmus tests of PTX (hernanponcedeleon/Dat3M, litmus/PTX), with the expected answers of PTXv7_5-expected.csv: 1 if the test's condition is what the model says.

A test whose threads are in one block becomes a kernel: a warp for each thread, whose first lane loads and stores; locations in shared memory, which are initialised before;
registers are stored to `out` at the end. A barrier without a quorum has the threads that the test has at it. The label is what the expected answers say of the orders:
  hang: some order never ends (PTXv7_5-Liveness-expected.csv, or the title says Deadlock). flow shall name it;
  one outcome: the condition holds in all of them and names each register that is loaded. flow shall prove;
  two outcomes: the condition is true in some order and false in another: one of these is the order of the threads. flow shall not prove;
  condition: neither. What flow proves must have the expected truth of the condition; if it proves nothing, the label does not tell who is right.
"""
import re

import suite


class Litmus:
    """A test: initial values, lines of each thread, quantifier and condition."""

    def __init__(self, text):
        head, rest = text.split("{", 1)
        init, rest = rest.split("}", 1)
        self.values = dict(re.findall(r"(?<![\w:])([a-z]\w*)\s*=\s*(\d+)", init))
        self.registers = {(int(t), r): int(v) for t, r, v in re.findall(r"P(\d+):(r\d+)\s*=\s*(\d+)", init)}
        self.aliases = "aliases" in init or re.search(r"=\s*&?\s*[a-z]", init)
        where = re.search(r"(~exists|exists|forall)", rest)
        self.quantifier, self.condition = where.group(1), rest[where.end():].strip()
        rows = [row.split("|") for row in rest[:where.start()].split(";") if row.strip()]
        self.scopes = {re.sub(r".*@\s*", "", one).strip().replace(" ", "") for one in rows[0]}
        self.threads = [[row[t].strip() for row in rows[1:] if t < len(row) and row[t].strip()] for t in range(len(rows[0]))]

    def outcome(self, registers, memory):
        """True if the condition holds for these final values."""
        text = re.sub(r"P?(\d+):(r\d+)", lambda m: str(registers.get((int(m.group(1)), m.group(2)), 0)), self.condition)
        text = re.sub(r"\b[a-z]\w*", lambda m: str(memory[m.group(0)]) if m.group(0) in memory else m.group(0), text)
        text = text.replace("/\\", " and ").replace("\\/", " or ").replace("~", " not ")
        return eval(re.sub(r"(?<![=!<>])=(?!=)", "==", text), {"__builtins__": {}})  # pylint: disable=eval-used

    def loaded(self):
        return {(t, m.group(1)) for t, lines in enumerate(self.threads) for line in lines if (m := re.match(r"ld\.\S+ (r\d+), [a-z]", line))}


def barrier_of(line):
    """Mode, instance, number and quorum of a barrier."""
    mode, rest = re.match(r"bar\.cta\.(\w+) (.*)", line).groups()
    parts = [one.strip() for one in rest.split(",")]
    return mode, parts[0], parts[1] if len(parts) > 1 else parts[0], parts[2] if len(parts) > 2 else None


def number_of(test, t, line):
    """The number of a barrier; None if a load gives it."""
    number = barrier_of(line)[2]
    return None if (t, number) in test.loaded() else test.registers.get((t, number), number if not number.startswith("r") else 0)


def quorum_of(test, t, line):
    _, instance, _, quorum = barrier_of(line)
    if quorum:
        return int(quorum)
    number = number_of(test, t, line)

    def meets(other, one):
        theirs = number_of(test, other, one)
        return barrier_of(one)[1] == instance and (number is None or theirs is None or str(number) == str(theirs))

    return sum(any(one.startswith("bar.") and meets(other, one) for one in lines) for other, lines in enumerate(test.threads))


def instruction(test, t, line):
    """PTX of a line of thread t. %rN of the thread is rN, %a_x the address of x."""
    value = lambda v: f"%{v}_{t}" if v.startswith("r") else v
    if m := re.match(r"(LC\w+):$", line):
        return f"$T{t}_{m.group(1)}:"
    if m := re.match(r"goto (\w+)", line):
        return f"bra $T{t}_{m.group(1)};"
    if m := re.match(r"b(eq|ne|ge|le|gt|lt) (\w+)\s*,\s*(\w+)\s*,\s*(\w+)", line):
        return f"setp.{m.group(1)}.s32 %p9, {value(m.group(2))}, {value(m.group(3))};\n@%p9 bra $T{t}_{m.group(4)};"
    if m := re.match(r"ld\.([\w.]+) (r\d+)\s*,\s*([a-z]\w*)$", line):
        guard = "" if any(one.startswith("LC") for one in test.threads[t]) else "@%p0 "  # all lanes follow a branch
        return f"{guard}ld.{m.group(1)}.shared.u32 {value(m.group(2))}, [%a_{m.group(3)}];"
    if m := re.match(r"st\.([\w.]+) ([a-z]\w*)\s*,\s*(\w+)$", line):
        return f"@%p0 st.{m.group(1)}.shared.u32 [%a_{m.group(2)}], {value(m.group(3))};"
    if m := re.match(r"atom\.(\w+)\.(\w+)\.(\w+) (r\d+)\s*,\s*([a-z]\w*)\s*,\s*([\w, ]+)$", line):
        return f"@%p0 atom.{m.group(1)}.{m.group(2)}.shared.{m.group(3)}.{'b32' if m.group(3) in ('cas', 'exch') else 'u32'} {value(m.group(4))}, [%a_{m.group(5)}], {m.group(6)};"
    if m := re.match(r"red\.(\w+)\.(\w+)\.(\w+) ([a-z]\w*)\s*,\s*(\w+)$", line):
        return f"@%p0 red.{m.group(1)}.{m.group(2)}.shared.{m.group(3)}.u32 [%a_{m.group(4)}], {value(m.group(5))};"
    if re.match(r"fence\.(sc|acq_rel)\.(cta|gpu|sys)$", line):
        return line + ";"
    if line.startswith("bar."):
        mode, _, number, _ = barrier_of(line)
        return f"bar.{mode} {value(number)}, {32 * quorum_of(test, t, line)};"
    raise suite.Failed(f"'{line}' has no translation")


def kernel_of(test):
    """The PTX of a test, and the registers that it stores, in their order."""
    registers = sorted({(t, r) for t, lines in enumerate(test.threads) for line in lines for r in re.findall(r"\br\d+\b", line)} | set(test.registers))
    stored = [one for one in registers if one in test.loaded()]
    names = sorted(test.values)
    body = [f".reg .b32 %a_{x};" for x in names] + [f".reg .b32 %{r}_{t};" for t, r in registers]
    body += [f"mov.u32 %a_{x}, memory;\nadd.u32 %a_{x}, %a_{x}, {4 * i};" for i, x in enumerate(names)]
    body += [f"mov.u32 %{r}_{t}, {test.registers.get((t, r), 0)};" for t, r in registers]
    body += ["mov.u32 %t, %tid.x;\nand.b32 %lane, %t, 31;\nshr.u32 %warp, %t, 5;\nsetp.eq.u32 %p0, %lane, 0;\nsetp.eq.u32 %p1, %t, 0;"]
    body += [f"@%p1 st.shared.u32 [%a_{x}], {test.values[x]};" for x in names] + ["bar.sync 0;", "ld.param.u64 %out, [out];"]
    for t, lines in enumerate(test.threads):
        body += [f"setp.ne.u32 %p2, %warp, {t};\n@%p2 bra $END{t};", *(instruction(test, t, line) for line in lines)]
        body += [f"@%p0 st.global.u32 [%out+{4 * i}], %{r}_{t};" for i, (owner, r) in enumerate(stored) if owner == t] + [f"$END{t}:"]
    return (".version 9.0\n.target sm_90a\n.address_size 64\n.entry litmus(.param .u64 out)\n{\n.reg .pred %p<10>;\n.reg .b32 %t, %lane, %warp;\n.reg .b64 %out;\n"
            f".shared .align 16 .b8 memory[{4 * len(names) + 4}];\n" + "\n".join(body) + "\nret;\n}\n"), stored


class Sequential:
    """One order: each thread runs until it waits. The final registers and memory, or nothing if the threads wait for ever."""

    def __init__(self, test):
        self.test, self.memory = test, {x: int(v) for x, v in test.values.items()}
        self.registers = {(t, r): v for (t, r), v in test.registers.items()}
        self.at, self.waits, self.arrived = [0] * len(test.threads), [None] * len(test.threads), {}

    def value(self, t, text):
        return self.registers.get((t, text), 0) if text.startswith("r") else int(text)

    def barrier(self, t, line):
        mode, _, number, _ = barrier_of(line)
        who = self.arrived.setdefault(self.value(t, number), [])
        who.append(t)
        if mode == "sync":
            self.waits[t] = self.value(t, number)
        if len(who) >= quorum_of(self.test, t, line):
            for one in who:
                self.waits[one] = None if self.waits[one] == self.value(t, number) else self.waits[one]
            who.clear()

    def step(self, t):
        line = self.test.threads[t][self.at[t]]
        self.at[t] += 1
        jump = re.match(r"goto (\w+)", line)
        if m := re.match(r"b(eq|ne) (\w+)\s*,\s*(\w+)\s*,\s*(\w+)", line):
            same = self.value(t, m.group(2)) == self.value(t, m.group(3))
            jump = re.match(r"(\w+)", m.group(4)) if same == (m.group(1) == "eq") else None
        if jump:
            self.at[t] = next(i for i, one in enumerate(self.test.threads[t]) if one.startswith(jump.group(1) + ":"))
        elif m := re.match(r"ld\.\S+ (r\d+)\s*,\s*(\w+)$", line):
            self.registers[t, m.group(1)] = self.memory[m.group(2)]
        elif m := re.match(r"st\.\S+ (\w+)\s*,\s*(\w+)$", line):
            self.memory[m.group(1)] = self.value(t, m.group(2))
        elif m := re.match(r"(?:atom|red)\.\w+\.\w+\.add (?:(r\d+)\s*,\s*)?(\w+)\s*,\s*(\w+)$", line):
            self.registers[t, m.group(1)] = self.memory[m.group(2)]
            self.memory[m.group(2)] += self.value(t, m.group(3))
        elif line.startswith("bar."):
            self.barrier(t, line)
        elif line.startswith(("atom", "red")):
            raise suite.Failed("an atomic other than add")

    def run(self):
        for _ in range(200):
            for t, lines in enumerate(self.test.threads):
                for _ in range(50):
                    if self.at[t] < len(lines) and self.waits[t] is None:
                        self.step(t)
        done = all(at == len(lines) and wait is None for at, lines, wait in zip(self.at, self.test.threads, self.waits))
        return (self.registers, self.memory) if done else None


def label_of(test, expected, hangs):
    """What the expected answers say of the orders."""
    if hangs:
        return "hang"
    holds_in_all = test.quantifier == "forall" and expected or test.quantifier == "~exists" and expected or test.quantifier == "exists" and not expected
    named = {(int(t), r) for t, r in re.findall(r"P?(\d+):(r\d+)\s*==?", test.condition)}
    if test.quantifier == "forall" and expected and "\\/" not in test.condition and "!=" not in test.condition and test.loaded() <= named:
        return "one outcome"
    end = Sequential(test).run()
    if end is None:
        return "two outcomes" if not holds_in_all else "condition"
    if not holds_in_all and test.outcome(*end) == (test.quantifier == "forall"):
        return "two outcomes"
    return "condition"


def consistent(test, expected, document, stored):
    """True if the outcome that flow proves has the expected truth."""
    found = {int(m.group(1) or 0): int(m.group(2)) for v in document["values"] if (m := re.fullmatch(r"out\[(\d+)\] = (\d+)", v))}
    if len(found) != len(stored):
        raise suite.Failed(f"flow has no numbers for the registers: {document['values']}")
    truth = test.outcome({one: found[i] for i, one in enumerate(stored)}, Sequential(test).memory)
    return truth == (bool(expected) == (test.quantifier != "~exists"))


def ask(name, test, expected, live):
    """live: 0 if some order never ends, 1 if none, else None."""
    ptx, stored = kernel_of(test)
    label = label_of(test, expected, live == 0)
    count = str(32 * len(test.threads))
    document = s.flow(ptx, "--block", count, "--param", f"out=out:u32[{max(len(stored), 1)}]", "--every-element", "--steps", "200000")
    answer, reason = document["verdict"], suite.reason_of(document)
    if answer == "proved" and stored and not re.search(r"(?<![:\w])[a-qs-z]\w*", re.sub(r"\bor\b|\band\b", "", test.condition)):
        score = "right" if consistent(test, expected, document, stored) and label not in ("hang", "two outcomes") else "wrong"
    elif answer == "proved":
        score = "wrong" if label in ("hang", "two outcomes") else "undecided"
        reason = "race free; the condition is about memory"
    elif answer == "refuted":
        stuck = document["kind"] == "never released"
        score = {"one outcome": "wrong", "two outcomes": "right", "condition": "undecided", "hang": "right" if stuck else "undecided"}[label]
        score = "wrong" if stuck and live == 1 and not document["fault"].get("fix") else score
        reason += "; the label does not say if there is only one outcome" if score == "undecided" else ""
    else:
        score = "undecided"
    s.write(name, label, answer, score, reason, 0.0)


def main():
    folder = s.checkout / "dartagnan/src/test/resources"
    rows = (folder / "PTXv7_5-expected.csv").read_text().split()
    live = dict(row.split(",") for row in (folder / "PTXv7_5-Liveness-expected.csv").read_text().split())
    for file, expected in (row.split(",") for row in rows):
        name = file.removeprefix("litmus/PTX/").removesuffix(".litmus")
        if not s.wanted(name):
            continue
        text = (s.checkout / file).read_text()
        try:
            test = Litmus(text)
            if len(test.scopes) != 1:
                raise suite.Failed("threads of several blocks")
            if test.aliases or "proxy" in text.split("}", 1)[1] or re.search(r"\b(sust|suld|tld|cold|suatom|sured)\b", text):
                raise suite.Failed("proxies of textures, surfaces and constants, or aliases")
            ask(name, test, int(expected), 0 if "Deadlock." in text else int(live[file]) if file in live else None)
        except suite.Failed as failed:
            s.not_asked(name, f"expected {expected}", str(failed))
    s.end()


if __name__ == "__main__":
    s = suite.Suite("hernanponcedeleon/Dat3M litmus/PTX")
    main()
