"""Kernels of flow_order.py and flow_proxies.py: their instructions, their PTX, and the question to the command."""
import argparse
import collections
import json
import os
import random
import tempfile

from asking import answered
from flow_orders import ALL, HALF, ONE, Op, TooMany

# ---------------------------------------------------------------- PTX


class Text:
    """A kernel as PTX: y has the words that are loaded, one after the other; x is read."""

    params, more = ".param .u64 y, .param .u64 x", ""

    def __init__(self, kernel):
        self.kernel, self.lines, self.labels = kernel, [], 0
        loads = max(sum(op.kind == "ld" for op, _ in kernel.program(w)) for w in range(kernel.warps))
        self.outputs = max(loads, 1) * kernel.warps * 32
        self.arrays = {"y": self.outputs, "x": 32 * kernel.warps}
        for part in kernel.parts:
            self.part(part)

    def label(self):
        self.labels += 1
        return f"$L{self.labels}"

    def text(self):
        return f""".version 9.0
.target sm_90a
.address_size 64
.entry k({self.params})
{{
.reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %rd<12>;
.shared .align 128 .b8 tile[2048];
mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shr.u32 %r3, %r1, 5; and.b32 %r4, %r1, 31;
setp.eq.u32 %p1, %r4, 0; setp.lt.u32 %p6, %r4, 16;
ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x];
mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
ld.global.b32 %r5, [%rd2]; mov.b32 %r6, %r5;
shl.b32 %r7, %r4, 2; add.s32 %r7, %r7, %r2;
xor.b32 %r8, %r4, 31; shl.b32 %r8, %r8, 2; add.s32 %r8, %r8, %r2;
xor.b32 %r9, %r4, 1; shl.b32 %r9, %r9, 2; add.s32 %r9, %r9, %r2;
shl.b32 %r10, %r3, 7;
add.s32 %r11, %r3, 1; setp.eq.u32 %p2, %r11, {self.kernel.warps}; selp.b32 %r11, 0, %r11, %p2; shl.b32 %r11, %r11, 7;
{self.more}
{chr(10).join(self.lines)}
ret;
}}
"""

    def part(self, part):
        rest = None
        if len(part.warps) < self.kernel.warps:
            rest = self.label()
            if len(part.warps) == 1:
                self.lines.append(f"setp.ne.u32 %p3, %r3, {part.warps[0]};")
            else:
                mask = sum(1 << w for w in part.warps)
                self.lines.append(f"shr.u32 %r16, {mask}, %r3; and.b32 %r16, %r16, 1; setp.eq.u32 %p3, %r16, 0;")
            if part.rounds == 1 and all(op.kind == "bar" and op.lanes == ALL and not op.stage for op in part.ops) and len(part.ops) == 1:
                self.lines.append("@!%p3 " + self.op_bar(part.ops[0]))  # under a predicate in place of a branch
                return
            self.lines.append(f"@%p3 bra {rest};")
        self.lines.append("mov.u32 %r12, 0; mov.u32 %r13, 0; mov.u32 %r14, 0;")
        again = self.label()
        if part.rounds > 1:
            self.lines.append(f"{again}:")
            self.lines.append("and.b32 %r13, %r12, 1; shr.u32 %r14, %r12, 1; and.b32 %r14, %r14, 1;")
        for op in part.ops:
            self.lines.append(getattr(self, "op_" + op.kind)(op))
        if part.rounds > 1:
            self.lines.append(f"add.s32 %r12, %r12, 1; setp.lt.u32 %p4, %r12, {part.rounds}; @%p4 bra {again};")
        if rest:
            self.lines.append(f"{rest}:")

    @staticmethod
    def on(op):
        return {ALL: "", HALF: "@%p6 ", ONE: "@%p1 "}[op.lanes]

    def op_bar(self, op):
        number, before = str(op.number), ""
        if op.stage:
            number, before = "%r16", f"add.s32 %r16, %r13, {op.number}; "
        name = {"sync": "bar.sync", "arrive": "bar.arrive", "barrier": "barrier.sync", "cta": "barrier.cta.sync.aligned"}[op.form]
        return f"{before}{self.on(op)}{name} {number}{'' if op.count is None else f', {op.count}'};"

    def op_cluster_arrive(self, op):
        return f"{self.on(op)}barrier.cluster.arrive{'.relaxed' if op.relaxed else '.release'}.aligned;"

    def op_cluster_wait(self, op):
        return f"{self.on(op)}barrier.cluster.wait.acquire.aligned;"

    def mbarrier(self, op):
        if op.stage:
            return "shl.b32 %r16, %r13, 3; add.s32 %r16, %r16, %r2; ", f"[%r16+{1920 + 8 * op.number}]"
        return "", f"[%r2+{1920 + 8 * op.number}]"

    def op_init(self, op):
        before, at = self.mbarrier(op)
        return f"{before}{self.on(op)}mbarrier.init.shared.b64 {at}, {op.count};"

    def op_inval(self, op):
        before, at = self.mbarrier(op)
        return f"{before}{self.on(op)}mbarrier.inval.shared.b64 {at};"

    def op_arrive(self, op):
        before, at = self.mbarrier(op)
        sem = ".relaxed.cta" if op.relaxed else random.Random(repr(op)).choice(["", ".release.cta"])
        return f"{before}{self.on(op)}mbarrier.arrive{sem}.shared.b64 %rd4, {at}{'' if op.n == 1 else f', {op.n}'};"

    def op_wait(self, op):
        before, at = self.mbarrier(op)
        source = {"fixed": "", "token": "", "round": "%r13", "pair": "%r14"}[op.turn]
        parity = "%rd4" if op.turn == "token" else str(op.parity)
        if source:
            before, parity = before + f"xor.b32 %r17, {source}, {op.parity}; ", "%r17"
        again, over = self.label(), self.label()
        sem = ".relaxed.cta" if op.relaxed else ""
        loop = f"{again}: mbarrier.{op.form}{'' if op.turn == 'token' else '.parity'}{sem}.shared.b64 %p5, {at}, {parity}; @!%p5 bra {again};"
        return f"{before}{loop}" if op.lanes == ALL else f"{before}@!{self.on(op)[1:]}bra {over}; {loop} {over}:"

    def address(self, op):
        before = ""
        if op.place[0] in ("word", "mbarrier"):
            return "", f"[%r2+{1984 + 4 * op.place[1] if op.place[0] == 'word' else 1920 + 8 * op.place[1]}]"
        base = {"own": "%r7", "reverse": "%r8", "xor": "%r9"}[op.place[2]]
        offset = 512 if op.upper else 0
        if op.place[1] in ("own", "next"):
            before += f"add.s32 %r18, {base}, {'%r10' if op.place[1] == 'own' else '%r11'}; "
            base = "%r18"
        else:
            offset += 128 * op.place[1]
        if op.stage:
            before += f"shl.b32 %r19, %r13, 9; add.s32 %r18, {base}, %r19; "
            base = "%r18"
        return before, f"[{base}+{offset}]"

    def op_st(self, op):
        before, at = self.address(op)
        value = {"x": "%r5", "r": "%r6"}.get(op.value, str(op.value))
        sem = {"": "", "volatile": ".volatile", "relaxed": ".relaxed.cta", "ordered": ".release.cta"}[op.strong]
        return f"{before}{self.on(op)}st{sem}.shared.b32 {at}, {value};"

    def op_ld(self, op):
        before, at = self.address(op)
        on = self.on(op)
        sem = {"": "", "volatile": ".volatile", "relaxed": ".relaxed.cta", "ordered": ".acquire.cta"}[op.strong]
        return f"{before}{on}ld{sem}.shared.b32 %r6, {at}; {on}st.global.b32 [%rd1], %r6; add.s64 %rd1, %rd1, {128 * self.kernel.warps};"

    def op_copy(self, op):
        before, at = self.address(op)
        return f"{before}{self.on(op)}cp.async.ca.shared.global {at}, [%rd2], 4;"

    def op_commit(self, op):
        return f"{self.on(op)}cp.async.commit_group;"

    def op_complete(self, op):
        return f"{self.on(op)}cp.async.{'wait_all' if op.pending is None else f'wait_group {op.pending}'};"

    def op_warp(self, op):
        return f"{self.on(op)}bar.warp.sync {hex((1 << op.lanes) - 1)};"

    def op_noise(self, op):
        return {"membar": "membar.cta;", "init": "fence.mbarrier_init.release.cluster;", "fence": "fence.acq_rel.cta;", "shfl": "shfl.sync.idx.b32 %r20, %r5, 0, 31, -1;",
                "vote": "vote.sync.ballot.b32 %r20, %p1, -1;"}[op.what]


# ---------------------------------------------------------------- kernels


def st(place, value="x", **more):
    return Op("st", place=place, value=value, **more)


def ld(place, **more):
    return Op("ld", place=place, **more)


def bar(number=0, count=None, form="sync", **more):
    return Op("bar", number=number, count=count, form=form, **more)


def cluster(relaxed=False):
    return [Op("cluster_arrive", relaxed=relaxed), Op("cluster_wait")]


def arrive(number, n=1, relaxed=False, **more):
    return Op("arrive", number=number, n=n, relaxed=relaxed, **more)


def wait(number, parity=0, turn="fixed", relaxed=False, form="try_wait", **more):
    return Op("wait", number=number, parity=parity, turn=turn, relaxed=relaxed, form=form, **more)


def init(number, count, **more):
    return Op("init", number=number, count=count, lanes=ONE, **more)


def inval(number, **more):
    return Op("inval", number=number, lanes=ONE, **more)


def warp():
    return Op("warp")


def copied(place, **more):
    """cp.async of the thread's element, and its group."""
    return [Op("copy", place=place, **more), Op("commit")]


def complete(pending=0):
    return Op("complete", pending=pending)


def noise(rng):
    return Op("noise", what=rng.choice(["membar", "fence", "shfl", "vote", "init"]))


def sync(rng, warps):
    """A barrier of all warps."""
    return bar(rng.choice([0, 0, 1, 3]), rng.choice([None, None, 32 * warps]), rng.choice(["sync", "sync", "barrier", "cta"]))


def permutation(rng):
    return rng.choice(["own", "reverse", "xor"])


def question(options, folder, name, kernel, text, every):
    """The answer of the command: exit code and document."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.text())
    words = ["flow", path, "--block", str(kernel.threads()), "--json", "--proxy", kernel.proxy, "--repair-steps", "0"]
    for array, size in text.arrays.items():
        words += ["--param", f"{array}={array}:u32[{size}]"]
    words += ["--every-element"] if every else []
    words += ["--same-values"] if kernel.same_values else []
    answer = answered(options.binary, words)
    os.remove(path)
    return answer


def options_of(cases):
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--whole", type=int, default=50)
    parser.add_argument("--binary")
    parser.add_argument("--keep")
    parser.add_argument("--show", action="store_true")
    return parser.parse_args()


def alone(model, kernel, fault):
    """The model on all orders of all instructions: what it says otherwise, if anything."""
    try:
        other = model(kernel, whole=True, most=20000).run()
    except TooMany:
        return []
    return [] if (other is None) == (fault is None) else [f"the model alone: {fault}, and with loads and stores interleaved {other}"]


def compared(code, document, fault, values):
    """The differences between an answer and the model."""
    said = document.get("fault") or {}
    if code not in (0, 1, 3):
        return [f"exit code {code}: {json.dumps(document)[:300]}"]
    if code == 0 and fault:
        return [f"FALSE PROOF: {fault}"]
    if code == 1 and not fault:
        return [f"false fault: {said.get('kind')}: {said.get('text')}"]
    named = dict(v.split(" = ", 1) for v in document["values"]) if values else {}
    return [f"{e} is {v}, and the command says {named.get(e)}" for e, v in values.items() if code == 0 and named.get(e) != v][:1]


def run_cases(name, options, drawn, model, text_of, values_of=None):
    """Compares the command with a model on random kernels, prints the numbers, and returns the exit code."""
    tally, kinds, reasons = collections.Counter(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.first, options.first + options.cases):
            family, kernel = drawn(random.Random(options.seed * 1000003 + case))
            orders = model(kernel)
            try:
                fault = orders.run()
            except TooMany:
                tally["not enumerated"] += 1
                continue
            whole = options.whole and case % options.whole == 0
            found = alone(model, kernel, fault) if whole else []
            values = values_of(kernel, next(iter(orders.ends))) if values_of and not fault and case % 4 == 0 else {}
            text = text_of(kernel)
            code, document = question(options, folder, f"{name}{options.seed}_{case}.ptx", kernel, text, bool(values))
            found += compared(code, document, fault, values)
            tally.update({"states": len(orders.visited), "whole": int(bool(whole)), "values": len(values)})
            tally[{0: "proved", 1: "refuted", 3: "unknown"}.get(code, "error")] += 1
            kinds[fault.kind if fault else "right"] += 1
            if code == 3:
                tally["unknown, " + ("wrong" if fault else "right")] += 1
                reasons[str(document.get("reason"))[:56]] += 1
            if options.show:
                print(text.text(), fault, code, json.dumps(document)[:2000])
            for what in found:
                tally["differences"] += 1
                print(f"DIFFERENT ({family}), seed {options.seed}, case {case}: {what}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    with open(os.path.join(options.keep, f"{name}{options.seed}_{case}.ptx"), "w", encoding="utf-8") as file:
                        file.write(text.text())
    n = tally["proved"] + tally["refuted"] + tally["unknown"]
    for what, count in reasons.most_common(12):
        print(f"  unknown: {count} {what}")
    print(f"{name}: {n} kernels, {tally['states']} states, {tally['whole']} with loads and stores interleaved, {tally['not enumerated']} not enumerated; "
          f"{', '.join(f'{c} {k}' for k, c in kinds.most_common())}; {tally['proved']} proved, {tally['refuted']} refuted, {tally['unknown']} unknown "
          f"({100 * tally['unknown'] / max(n, 1):.1f} %, {tally['unknown, right']} of them right), {tally['values']} values; {tally['differences']} differences")
    return int(tally["differences"] != 0)
