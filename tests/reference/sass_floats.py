"""Floats of SASS for sass_interpreter.py: the three instructions by which ptxas begins a division. A reciprocal is off by up to an ulp, by its operand."""
import numpy as np

INFINITY = np.float32(np.inf)


def float_of(word):
    return word.astype(np.uint32).view(np.float32)


def word_of(number):
    return number.astype(np.float32).view(np.uint32).astype(np.uint64)


class Floats:
    def do_I2F(self, i, on):
        if i.opcode not in ("I2F.U32.RP", "I2F.RP"):
            return self.unknown(i, on)
        word = self.value(i.ops[1]).astype(np.uint32)
        exact = (word if "U32" in i.mods else word.view(np.int32)).astype(np.float64)
        f = exact.astype(np.float32)
        self.put(i.ops[0], word_of(np.where(f.astype(np.float64) < exact, np.nextafter(f, INFINITY), f)), on)

    def do_MUFU(self, i, on):
        if i.opcode != "MUFU.RCP" or i.ops[1].neg or i.ops[1].abs:
            return self.unknown(i, on)
        word = self.value(i.ops[1])
        with np.errstate(divide="ignore"):
            exact = 1 / float_of(word).astype(np.float64)
        near = exact.astype(np.float32)
        other = np.nextafter(near, np.where(near.astype(np.float64) < exact, INFINITY, -INFINITY).astype(np.float32))
        off = np.isfinite(near) & (near.astype(np.float64) != exact) & ((word * np.uint64(2654435761) >> np.uint64(17)) + self.seed & np.uint64(1) == 1)
        self.put(i.ops[0], word_of(np.where(off, other, near)), on)

    def do_F2I(self, i, on):
        if i.opcode != "F2I.FTZ.U32.TRUNC.NTZ":
            return self.unknown(i, on)
        f = float_of(self.value(i.ops[1])).astype(np.float64)
        self.put(i.ops[0], np.clip(np.trunc(np.where(np.isnan(f), 0, f)), 0, 2.0 ** 32 - 1).astype(np.uint64), on)
