"""Words of lanes for sass_interpreter.py: numbers that are mixed of others, and signs."""
import numpy as np

U = np.uint64
ONES = U(0xFFFFFFFF)


def mix(*parts):
    """A number by others, 64 bits."""
    h = U(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        for p in parts:
            h = (h ^ (np.asarray(p).astype(U) + U(0x632BE59BD9B4E019))) * U(0xFF51AFD7ED558CCD)
            h = h ^ (h >> U(32))
    return h


def text_hash(text):
    value = 1469598103934665603
    for c in text.encode():
        value = (value ^ c) * 1099511628211 & (1 << 64) - 1
    return value


def signed(x):
    return (x & ONES).astype(np.int64) - ((x & ONES) >= U(1 << 31)).astype(np.int64) * (1 << 32)
