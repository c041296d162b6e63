"""Exchanges within a warp for sass_interpreter.py: what a lane gets from others."""
import numpy as np

from sass_words import ONES, U, mix

LANE = np.arange(32)


class Warps:
    def do_SHFL(self, i, on):
        a, b, c = (self.value(o) for o in i.ops[2:5])
        v, p = mix(self.seed, U(self.count), np.arange(self.n)) & ONES, np.zeros(self.n, dtype=bool)
        lane = np.arange(self.n) % 32
        by, clamp, segment = (b & U(31)).astype(np.int64), (c & U(31)).astype(np.int64), (c >> U(8) & U(31)).astype(np.int64)
        most = (lane & segment) | (clamp & ~segment & 31)
        least = lane & segment
        if "UP" in i.mods:
            source, within = lane - by, lane - by >= most
        elif "DOWN" in i.mods:
            source, within = lane + by, lane + by <= most
        elif "BFLY" in i.mods:
            source, within = lane ^ by, (lane ^ by) <= most
        else:
            source = least | (by & ~segment & 31)
            within = source <= most
        source = np.where(within, source, lane) + np.arange(self.n) // 32 * 32
        known = on[source]
        v = np.where(known, a[source], v)
        if i.guard:
            v = mix(v, U(self.count), np.arange(self.n)) & ONES
        self.put(i.ops[0], within, on)
        self.put(i.ops[1], v, on)

    def do_VOTE(self, i, on):
        p = self.truth(i.ops[-1]) & on
        warps = p.reshape(-1, 32)
        ballot = (warps * (1 << LANE)).sum(axis=1).repeat(32).astype(U)
        any_ = warps.any(axis=1).repeat(32)
        all_ = (warps | ~on.reshape(-1, 32)).all(axis=1).repeat(32)
        truth = all_ if "ALL" in i.mods else any_
        for o in i.ops[:-1]:
            if o.kind in ("P", "UP"):
                self.put(o, truth, on)
            else:
                self.put(o, ballot, on)

    do_VOTEU = do_VOTE

    def do_ELECT(self, i, on):
        first = on.reshape(-1, 32).argmax(axis=1).repeat(32)
        self.put(i.ops[0], first == np.arange(self.n) % 32, on)
        self.put(i.ops[1], first.astype(U), on)

    def first_value(self, i, on):
        """The warp gets the value of the first lane, a lane whether it has another one; OR: or had of another register."""
        v, another = self.value(i.ops[2]), self.truth(i.ops[0]) & ("OR" in i.mods)
        for w in range(0, self.n, 32):
            lanes = np.flatnonzero(on[w:w + 32]) + w
            if len(lanes):
                warp = np.arange(self.n) // 32 == w // 32
                self.put(i.ops[1], np.full(self.n, v[lanes[0]]), warp)
                another = np.where(warp, another | (v != v[lanes[0]]), another)
        self.put(i.ops[0], another, on)
