#!/usr/bin/env python3
"""kernel_functions.py --cases N --seed S: a reference model of bounds that depend on a parameter, written from docs/kernels.md alone.

Random kernels whose addresses multiply numbers of the thread and of loops by the parameter n are written as formulas, in PTX and in Python
(kernel_fixes.py). For 40 values of n, large and small, of each residue that occurs, the formulas are executed: no access may take more
wavefronts than `function` allows for this n, nor than `wavefronts`; one that is called aligned is.
"""
import sys

from kernel_fixes import MASK, Kernel, campaign, np, wavefronts


class Multiplied(Kernel):
    """Each value is a thread's number, or a loop's, times n or a multiple of it, and more."""

    def value(self, sources):
        if self.chance(0.2):
            return super().value(sources)
        (name, f), k = self.pick(sources), self.pick([1, 1, 1, 2, 3, 4, 8])
        r, s = self.word(), self.word()
        self.lines.append(f"mul.lo.u32 {s}, %r50, {k}; mul.lo.u32 {r}, {name}, {s};")
        g = lambda x, f=f, k=k: f(x) * (x["n"] * k & MASK) & MASK
        if self.chance(0.6):
            other, h = super().value(sources)
            t = self.word()
            self.lines.append(f"add.u32 {t}, {r}, {other};")
            return t, lambda x, g=g, h=h: (g(x) + h(x)) & MASK
        return r, g

    def text(self):
        self.mask = 0xFFFFFF
        text = super().text()
        text = text.replace("(.param .u64 g)", "(.param .u32 n, .param .u64 g)").replace("ld.param.u64 %rd1, [g];", "ld.param.u64 %rd1, [g]; ld.param.u32 %r50, [n];")
        # The index is not cut to an array: its low bits alone decide.
        return text.replace(", 255;", ", 0xffffff;").replace(", 511;", ", 0xffffff;").replace(", 1023;", ", 0xffffff;")


def check(kernel, answer, rng, differ, tally):
    listed = {a["ptx_line"]: a for a in answer["accesses"]}
    for a in kernel.accesses:
        if a.left_out:
            continue
        said = listed.get(a.line)
        if said is None:
            differ(f"line {a.line} is not listed")
            continue
        tally["accesses"] += 1
        table = said.get("function") or {}
        table = table.get("at_most")
        tally["functions"] += table is not None
        reached = set()
        for _ in range(40):
            n = int(rng.integers(0, 1 << int(rng.integers(1, 33))))
            kernel.n = n
            most, aligned = 0, True
            for address, active in kernel.executions(a):
                aligned &= not (address[active] % a.size).any()
                most = max(most, int(wavefronts(a.kind, a.size, address[None, :] & MASK, active[None, :])[0]))
            if said["wavefronts"] is not None and most > said["wavefronts"] and said["verdict"] != "unknown":
                differ(f"line {a.line}: {most} for n = {n}, {said['wavefronts']} at most")
            if table is not None:
                tally["compared with a function"] += 1
                if most > table[n % len(table)]:
                    differ(f"line {a.line}: {most} for n = {n}, the function allows {table[n % len(table)]}")
                if most == table[n % len(table)]:
                    reached.add(n % len(table))
            if said["aligned"] and not aligned:
                differ(f"line {a.line}: misaligned for n = {n}")
        tally["residues that were reached"] += len(reached)
        tally["verdict " + said["verdict"]] += 1


if __name__ == "__main__":
    sys.exit(campaign(__doc__, Multiplied, "functions", check))
