#!/usr/bin/env python3
"""flow_cancel.py --binary PATH --cases N --seed S: a reference model of clusterlaunchcontrol in `swizproof flow`, written from the text of the PTX ISA alone.

Random persistent kernels of one to three blocks, of one or two warps with one thread each. The first requests to cancel a block, both copy the elements of their block, wait, read the
response and go on with the canceled block. Most are right patterns with one or two instructions deleted, repeated, moved or changed: waits, fences, barriers, buffers, bytes. Here all orders
of the warps and of the ends of requests are enumerated, and all outcomes: a request fails, or it cancels any block that has not started [9.7.13.17]. Each thread has sets of events behind
it: `mem`, by the memory model, and `pf`, with a proxy fence behind them. A kernel is right if in no order and outcome there is a deadlock, a race, a missing proxy fence, a response that
nothing has written, the first block of a failed request [9.7.13.18], a request behind an observed failure [9.7.13.17], or elements of a canceled block that nothing writes.
"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

from asking import options_of, print_sums

MOST_STATES = 30000
Op = collections.namedtuple("Op", "kind a b", defaults=(0, 0))
State = collections.namedtuple("State", "pc mem pf cta held content done releases canceled flying failed bar mbarrier written")
# held: response in the registers of each thread. content: of each buffer. done: accesses, as (event, buffer, kind). releases: one-way fences, as (event, mem). failed: a failure was
# observed. bar: threads that wait, with what is behind them. mbarrier: (pending, bytes, phase, now, complete), the last two are (mem, pf).


class Wrong(Exception):
    pass


class Unspecified(Exception):
    pass


class Orders:
    """All orders and outcomes of one block."""

    def __init__(self, code, grid, own):
        self.code, self.grid, self.own = code, grid, own
        self.bits = {}

    def bit(self, *what):
        return 1 << self.bits.setdefault(what, len(self.bits))

    def run(self):
        n = len(self.code)
        start = State((0,) * n, (0,) * n, (0,) * n, (self.own,) * n, (None,) * n, (None,) * 2, frozenset(), frozenset(), (), (), False, (None,) * n, (1, 0, 0, (0, 0), (0, 0)), frozenset())
        seen, work = {start}, [start]
        while work:
            s = work.pop()
            nexts = list(self.steps(s))
            if not nexts:
                self.end(s)
            for other in nexts:
                if other not in seen:
                    seen.add(other)
                    work.append(other)
            if len(seen) > MOST_STATES:
                return False
        return True

    def end(self, s):
        if any(pc < len(code) for pc, code in zip(s.pc, self.code)):
            if any(b is not None for b in s.bar) and any(pc >= len(code) for pc, code in zip(s.pc, self.code)):
                raise Unspecified
            raise Wrong("never released")
        if s.written != {(c, t) for c in (self.own,) + s.canceled for t in range(len(self.code))}:
            raise Wrong("elements of canceled blocks")

    @staticmethod
    def put(values, i, value):
        return values[:i] + (value,) + values[i + 1:]

    def steps(self, s):
        for i, flight in enumerate(s.flying):
            yield self.land(s, i, flight)
        for t, code in enumerate(self.code):
            if s.pc[t] < len(code) and s.bar[t] is None:
                yield from self.step(s, t, code[s.pc[t]])

    def land(self, s, i, flight):
        event, buffer, response = flight
        pending, size, phase, now, complete = s.mbarrier
        now = (now[0] | event, now[1])
        s = s._replace(content=self.put(s.content, buffer, response), flying=s.flying[:i] + s.flying[i + 1:])
        return self.phases(s, (pending, size - 16, phase, now, complete))

    @staticmethod
    def phases(s, mbarrier):
        pending, size, phase, now, _ = mbarrier
        if pending == 0 and size == 0:
            mbarrier = (1, 0, phase + 1, (0, 0), now)
        return s._replace(mbarrier=mbarrier)

    def moved(self, s, t):
        return s._replace(pc=self.put(s.pc, t, s.pc[t] + 1))

    def access(self, s, t, buffer, kind):
        """A read or a write of a buffer by a thread: races with what is not behind it."""
        for event, other, how in s.done:
            if other == buffer and (kind == "write" or how != "read") and not s.mem[t] & event:
                raise Wrong("race")
        event = self.bit(t, s.pc[t], s.cta[t], len(s.canceled))
        return s._replace(done=s.done | {(event, buffer, kind)}, mem=self.put(s.mem, t, s.mem[t] | event))

    def step(self, s, t, op):
        after = self.moved(s, t)
        if op.kind == "request":
            yield from self.request(s, t, op.a)
        elif op.kind == "arrive":
            pending, size, phase, now, complete = s.mbarrier
            if pending == 0:
                raise Wrong("more arrivals than the phase has")
            yield self.phases(after, (0, size + op.a, phase, (now[0] | s.mem[t], now[1] | s.pf[t]), complete))
        elif op.kind == "wait":
            if (s.mbarrier[2] & 1) != op.a:
                mem, pf = s.mbarrier[4]
                yield after._replace(mem=self.put(s.mem, t, s.mem[t] | mem), pf=self.put(s.pf, t, s.pf[t] | pf))
        elif op.kind == "bar":
            yield self.barrier(s, t)
        elif op.kind == "both":
            yield after._replace(pf=self.put(s.pf, t, s.pf[t] | s.mem[t]))
        elif op.kind == "release":
            event = self.bit(t, s.pc[t])
            yield after._replace(releases=s.releases | {(event, s.mem[t])}, mem=self.put(s.mem, t, s.mem[t] | event))
        elif op.kind == "acquire":
            pf = s.pf[t]
            for event, before in s.releases:
                if s.mem[t] & event:
                    pf |= before
            yield after._replace(pf=self.put(s.pf, t, pf))
        elif op.kind == "store":
            yield self.access(after._replace(pc=s.pc), t, op.a, "write")._replace(pc=after.pc, content=self.put(s.content, op.a, "zeros"))
        elif op.kind == "read":
            if s.content[op.a] is None:
                raise Wrong("nothing has written the response")
            yield self.access(s, t, op.a, "read")._replace(pc=after.pc, held=self.put(s.held, t, s.content[op.a]))
        elif op.kind == "work":
            yield after._replace(written=s.written | {(s.cta[t], t)})
        else:
            yield self.query(s, after, t, op)

    def query(self, s, after, t, op):
        held = s.held[t]
        if held is None or held == "zeros":
            raise Unspecified
        if op.kind == "leave":
            return after if held[0] is not None else s._replace(failed=True, pc=self.put(s.pc, t, len(self.code[t])))
        if held[0] is None:
            raise Wrong("the first block of a failed request")
        return after._replace(cta=self.put(s.cta, t, held[0] if op.a == 0 else 0))

    def request(self, s, t, buffer):
        if s.failed:
            raise Wrong("a request behind an observed failure")
        for event, other, how in s.done:
            if other == buffer and not s.mem[t] & event:
                raise Wrong("race of a response")
            if other == buffer and how != "response" and not s.pf[t] & event:
                raise Wrong("a missing proxy fence")
        number = sum(how == "response" for _, _, how in s.done)
        event = self.bit("response", number)
        gone = {self.own, *s.canceled}
        for block in [None] + [b for b in range(self.grid) if b not in gone]:
            after = s._replace(done=s.done | {(event, buffer, "response")}, flying=s.flying + ((event, buffer, (block, number)),))
            yield self.moved(after._replace(canceled=s.canceled + (() if block is None else (block,))), t)

    def barrier(self, s, t):
        bar = self.put(s.bar, t, (s.mem[t], s.pf[t]))
        if any(b is None for b in bar):
            return s._replace(bar=bar)
        mem, pf = 0, 0
        for of_mem, of_pf in bar:
            mem, pf = mem | of_mem, pf | of_pf
        n = len(self.code)
        return s._replace(pc=tuple(pc + 1 for pc in s.pc), mem=(mem,) * n, pf=(pf,) * n, bar=(None,) * n)


# ------------------------------------------------------------------------------------------ kernels


def drawn(rng):
    """A name, the blocks of the grid, and the code of each warp."""
    grid, warps = rng.choice((1, 2, 2, 3)), rng.choice((1, 2))
    fences = rng.choice(("one way", "before", "behind"))
    two = rng.random() < 0.4
    code = [[] for _ in range(warps)]
    for k in range(grid):
        buffer = k & 1 if two else 0
        for t, ops in enumerate(code):
            ops.append(Op("bar"))
            if t == 0:
                ops += [Op("acquire")] * (fences == "one way") + [Op("both")] * (fences == "before") + [Op("request", buffer), Op("arrive", 16)]
            ops += [Op("work"), Op("wait", k & 1), Op("read", buffer), Op("leave"), Op("take")]
            ops += [Op("release")] * (fences == "one way") + [Op("both")] * (fences == "behind")
    name = "right"
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        name = changed(code, rng)
    return name, grid, code


def changed(code, rng):
    ops = rng.choice(code)
    at = rng.randrange(len(ops))
    name = rng.choice(("deleted", "repeated", "moved", "other", "store"))
    if name == "deleted":
        del ops[at]
    elif name == "repeated":
        ops.insert(at, ops[at])
    elif name == "moved":
        op = ops.pop(at)
        ops.insert(max(0, min(len(ops), at + rng.choice((-3, -2, -1, 1, 2, 3)))), op)
    elif name == "store":
        ops.insert(at, Op("store", rng.randrange(2)))
    else:
        op = ops[at]
        others = {"request": Op("request", 1 - op.a), "arrive": Op("arrive", rng.choice((0, 8, 32))), "wait": Op("wait", 1 - op.a), "read": Op("read", 1 - op.a), "take": Op("take", 1),
                  "release": Op(rng.choice(("acquire", "both"))), "acquire": Op(rng.choice(("release", "both"))), "both": Op(rng.choice(("release", "acquire"))), "leave": Op("take"),
                  "bar": Op("both"), "work": Op("read", 0)}
        ops[at] = others.get(op.kind, op)
    return name


def text_of(code):
    out = [".version 8.7", ".target sm_100a", ".address_size 64", ".entry k(.param .u64 c, .param .u64 a)", "{", ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f1; .reg .b64 %rd<9>; .reg .b128 %q1;",
           ".shared .align 16 .b8 buffers[48];", "ld.param.u64 %rd1, [c]; ld.param.u64 %rd2, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, buffers; shr.u32 %r4, %r1, 5;",
           "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3+32], 1; bar.sync 0; and.b32 %r5, %r1, 31; setp.ne.u32 %p1, %r5, 0; @%p1 ret;",
           "setp.eq.u32 %p1, %r4, 1; @%p1 bra T1;"]
    for t, ops in enumerate(code):
        out.append(f"T{t}:")
        for i, op in enumerate(ops):
            out += instruction(op, len(code), f"{t}_{i}")
        out.append(f"E{t}: ret;")
    if len(code) == 1:
        out.append("T1: ret;")
    return "\n".join(out + ["}", ""])


def instruction(op, warps, label):
    one_way = "fence.proxy.async::generic"
    return {
        "bar": ["bar.sync 0;"],
        "both": ["fence.proxy.async.shared::cta;"],
        "release": [f"{one_way}.release.sync_restrict::shared::cta.cluster;"],
        "acquire": [f"{one_way}.acquire.sync_restrict::shared::cluster.cluster;"],
        "request": [f"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r3+{16 * op.a}], [%r3+32];"],
        "arrive": [f"mbarrier.arrive.expect_tx.shared::cta.b64 %rd7, [%r3+32], {op.a};"],
        "work": [f"mad.lo.u32 %r6, %r2, {warps}, %r4; mul.wide.u32 %rd5, %r6, 4; add.u64 %rd6, %rd2, %rd5; ld.global.f32 %f1, [%rd6]; add.u64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1;"],
        "wait": [f"W{label}: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3+32], {op.a}; @!%p2 bra W{label};"],
        "read": [f"ld.shared.b128 %q1, [%r3+{16 * op.a}];"],
        "store": [f"st.shared.v4.b32 [%r3+{16 * op.a}], {{0, 0, 0, 0}};"],
        "leave": [f"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1; @!%p3 bra E{label.split('_')[0]};"],
        "take": [f"clusterlaunchcontrol.query_cancel.get_first_ctaid::{'xy'[op.a & 1]}.b32.b128 %r2, %q1;"],
    }[op.kind]


# ------------------------------------------------------------------------------------------ comparison


def modelled(code, grid):
    """`right`, `wrong: ..`, or nothing where the text says nothing or there are too many orders."""
    try:
        for own in range(grid):
            if not Orders(code, grid, own).run():
                return None
    except Wrong as wrong:
        return f"wrong: {wrong}"
    except Unspecified:
        return None
    return "right"


def asked(binary, code, grid, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(code))
    n = grid * len(code)
    words = [binary, "flow", path, "--json", "--block", str(32 * len(code)), "--grid", str(grid), "--param", f"c=C:f32[{n}]".replace("c=", "0="), "--param", f"1=A:f32[{n}]",
             "--expect", f"C[i] = A[i] for i in 0..{n - 1}", "--repair-steps", "0"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"{done.returncode}: {done.stderr}\n{text_of(code)}")
    return json.loads(done.stdout)


def main():
    options = options_of(__doc__, 150)
    tally, reasons, differences = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.cases):
            name, grid, code = drawn(random.Random(f"{options.seed} {case}"))
            model = modelled(code, grid)
            if model is None:
                tally["not specified, or too many orders"] += 1
                continue
            answer = asked(options.binary, code, grid, os.path.join(folder, "k.ptx"))
            verdict = answer["verdict"]
            tally[verdict] += 1
            tally[f"{name}, {verdict}"] += 1
            if verdict == "unknown":
                reasons[model + "; " + answer["reason"][:90]] += 1
            if {"proved": "right", "refuted": "wrong"}.get(verdict, model[:5]) != model[:5]:
                differences += 1
                print(f"case {case} of {name}: {verdict}, and the model says {model}: {answer['fault'] and answer['fault']['text']} {answer['missing_names']}")
                print(f"grid {grid}\n{text_of(code)}")
    print_sums(tally)
    print_sums(reasons)
    print(f"flow_cancel: {options.cases} kernels, {tally['proved']} proved, {tally['refuted']} refuted, {tally['unknown']} unknown, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
