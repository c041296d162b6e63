"""Floats of SASS for sass_interpreter.py: the three instructions by which ptxas begins a division. A reciprocal is off by up to an ulp, by its operand."""
import numpy as np

INFINITY = np.float32(np.inf)
ROUNDED = {"TRUNC": np.trunc, "FLOOR": np.floor, "CEIL": np.ceil}


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
        how = i.mods & set(ROUNDED)
        if len(how) != 1 or i.mods - {"FTZ", "U32", "S32", "NTZ", *how} or i.ops[1].odd:
            return self.unknown(i, on)
        f = ROUNDED[how.pop()](self.floats(i.ops[1], i).astype(np.float64))
        least, most = (0.0, 2.0 ** 32 - 1) if "U32" in i.mods else (-2.0 ** 31, 2.0 ** 31 - 1)
        whole = np.clip(np.where(np.isnan(f), 0, f), least, most).astype(np.int64)
        self.put(i.ops[0], whole.astype(np.uint64) & np.uint64(0xFFFFFFFF), on)

    def floats(self, o, i):
        """An operand as floats, |x| before -x."""
        try:
            word = word_of(np.full(self.n, np.float32(o.text)))
        except ValueError:
            plain = type(o)(o.text.lstrip("-").replace("|", ""))
            word = self.value(plain) & np.uint64(0x7FFFFFFF if o.abs else 0xFFFFFFFF)
            word = word ^ np.uint64(0x80000000 if o.neg else 0)
        f = float_of(word)
        return np.where(np.abs(f) < np.float32(2.0 ** -126), np.copysign(np.float32(0), f), f) if "FTZ" in i.mods else f

    def put_float(self, i, f, on):
        f = f.astype(np.float32)
        flushed = np.where(np.abs(f) < np.float32(2.0 ** -126), np.copysign(np.float32(0), f), f) if "FTZ" in i.mods else f
        self.put(i.ops[0], word_of(flushed), on)

    def in_floats(self, i, on):
        """FADD, FMUL, FFMA, FRND: double numbers, rounded to odd, so that the float is that of one rounding."""
        how = i.mods & set(ROUNDED) if i.base == "FRND" else set()
        if i.mods - {"FTZ", *how} or any(o.odd for o in i.ops) or (i.base == "FRND" and len(how) != 1):
            return self.unknown(i, on)
        with np.errstate(all="ignore"):
            a, *rest = (self.floats(o, i).astype(np.float64) for o in i.ops[1:])
            if i.base == "FRND":
                return self.put_float(i, ROUNDED[how.pop()](a), on)
            if i.base == "FMUL":
                return self.put_float(i, a * rest[0], on)
            x, y = (a, rest[0]) if i.base == "FADD" else (a * rest[0], rest[1])
            total = x + y
            back = total - x
            error = (x - (total - back)) + (y - back)
            even = total.view(np.int64) & 1 == 0
            odd = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
            return self.put_float(i, np.where(np.isfinite(total) & (error != 0) & even, odd, total), on)

    do_FADD = do_FMUL = do_FFMA = do_FRND = in_floats

    def do_I2FP(self, i, on):
        if i.mods not in ({"F32", "U32"}, {"F32", "S32"}) or i.ops[1].neg or i.ops[1].abs:
            return self.unknown(i, on)
        word = self.value(i.ops[1]).astype(np.uint32)
        self.put(i.ops[0], word_of((word if "U32" in i.mods else word.view(np.int32)).astype(np.float64)), on)
