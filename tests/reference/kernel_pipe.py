#!/usr/bin/env python3
"""kernel_pipe.py --cases N --seed S: a reference model of the time of the shared-memory pipe, written from docs/kernels.md alone.

Random kernels (kernel_fixes.py) are executed as formulas: every warp and iteration of every access, its wavefronts counted. `pipe` has, for the
accesses with a known number of executions, the executions counted here times the most wavefronts of one, no less than their sum; its loss is the same above the ideal; the others are counted as open. A swizzle adds three instructions to each execution of its array.
Some accesses are behind a condition on a parameter or on loaded data, or in a loop of as many iterations as a parameter says: they must be open. In some
kernels threads beyond a number leave at once.
"""
import sys

from kernel_fixes import IDEAL, Kernel, campaign, cost_of


class OddKernel(Kernel):
    """A kernel with accesses whose number of executions no launch fixes, and threads that leave at once."""

    def __init__(self, rng, name, block):
        super().__init__(rng, name, block)
        self.labels, self.left = 0, None

    def body(self, arrays, sources, enclosing, depth):
        if depth == 0 and self.chance(0.25):
            x, y, z = self.block
            self.left = self.number(1, x * y * z)
            self.lines.append(f"setp.ge.u32 %p8, {sources[2][0]}, {self.left}; @%p8 ret;")
            self.odd.add("threads that leave")
        super().body(arrays, sources, enclosing, depth)

    def access(self, arrays, sources, enclosing):
        what, label = self.rng.random(), f"O{self.name}_{self.labels}"
        self.labels += 1
        number, counter = self.word(), self.word()
        if what < 0.1:
            self.lines.append(f"ld.param.u32 {number}, [n]; setp.gt.u32 %p7, {number}, 5; @%p7 bra {label};")
            self.odd.add("condition on a parameter")
        elif what < 0.2:
            self.lines.append(f"ld.global.u32 {number}, [%rd1]; setp.gt.u32 %p7, {number}, 5; @%p7 bra {label};")
            self.odd.add("condition on data")
        elif what < 0.3:
            self.lines.append(f"ld.param.u32 {number}, [n]; mov.u32 {counter}, 0;\n{label}:")
            self.odd.add("loop of unknown length")
        super().access(arrays, sources, enclosing)
        one = self.accesses[-1]
        one.open = what < 0.3
        if what < 0.2:
            self.lines.append(f"{label}:")
        elif what < 0.3:
            self.lines.append(f"add.u32 {counter}, {counter}, 1; setp.lt.u32 %p7, {counter}, {number}; @%p7 bra {label};")
        if self.left is not None:
            one.guard = lambda x, guard=one.guard: guard(x) & (x["flat"] < self.left)

    def text(self):
        return super().text().replace("(.param .u64 g)", "(.param .u64 g, .param .u32 n)")


def check(kernel, answer, _rng, differ, tally):
    listed = {a["ptx_line"]: a for a in answer["accesses"]}
    took = taken_at_most = lost = lost_at_most = open_ = 0
    executions_of = {}
    for a in kernel.accesses:
        runs = list(kernel.executions(a))
        said = listed[a.line]
        if not said["executed"]:
            if runs and not a.left_out:
                differ(f"line {a.line} is called dead, and {len(runs)} warps execute it")
            continue
        executions_of[a.line] = len(runs)
        if a.open and said["executions"] is not None:
            differ(f"line {a.line}: {said['executions']} executions, and a launch may have others")
        if said["executions"] is None or said["wavefronts"] is None:
            open_ += 1
            continue
        if said["executions"] != len(runs):
            differ(f"line {a.line}: {said['executions']} executions, expected {len(runs)}")
        costs, ideal = [cost_of(a, address, active) for address, active in runs], IDEAL[a.size]
        bound = said["wavefronts"] if a.left_out else max(max(costs), said["wavefronts"] if not said["reached"] else 0)
        took, taken_at_most = took + sum(costs), taken_at_most + bound * len(runs)
        lost, lost_at_most = lost + sum(max(c - ideal, 0) for c in costs), lost_at_most + max(bound - ideal, 0) * len(runs)
        tally["bounds above the mean"] += bound * len(runs) > sum(costs)
    pipe = answer["pipe"]
    if pipe != {"wavefronts": taken_at_most, "lost": lost_at_most, "open": open_}:
        differ(f"{pipe}, expected {taken_at_most}, {lost_at_most}, {open_}")
    if not all(a.left_out for a in kernel.accesses) and (took > pipe["wavefronts"] or lost > pipe["lost"]):
        differ(f"{pipe} is less than {took} and {lost} of an execution")
    for fix in answer["fixes"]:
        swizzled = any(f["swizzle"] for f in fix["fixes"])
        if fix["added"] != 3 * fix["executions"] * swizzled:
            differ(f"{fix['added']} instructions added for {fix['executions']} executions")
        tally["swizzles"] += swizzled
    tally["open accesses"] += open_
    tally["kernels with a loss"] += lost > 0
    tally["kernels where the share is exact"] += lost > 0 and lost * pipe["wavefronts"] == pipe["lost"] * took


if __name__ == "__main__":
    sys.exit(campaign(__doc__, OddKernel, "pipe", check))
