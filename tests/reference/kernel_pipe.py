#!/usr/bin/env python3
"""kernel_pipe.py --cases N --seed S: a reference model of the time of the shared-memory pipe, written from docs/kernels.md alone.

Random kernels (kernel_fixes.py) are executed as formulas: every warp and iteration of every access, its wavefronts counted. `pipe` has, for the
accesses with a known number of executions, the executions counted here times the most wavefronts of one, no less than their sum; its loss is the same above the ideal; the others are counted as open. A swizzle adds three instructions to each execution of its array.
"""
import sys

from kernel_fixes import IDEAL, Kernel, campaign, cost_of


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
    sys.exit(campaign(__doc__, Kernel, "pipe", check))
