"""`predict` on arrays, compared with a plain loop over the program's `predict`, one line a process."""

import json
import os
import random
import subprocess
import unittest

import swizproof

try:
    import numpy
except ImportError:
    numpy = None

PROGRAM = os.environ["SWIZPROOF_BINARY"]
WIDTHS = {"ld.shared.b8": 1, "ld.shared.b32": 4, "st.shared.b64": 8, "ld.shared.b128": 16, "ldmatrix.x4": 16, "stmatrix.x2.trans": 16}


def looped(op, row, *options):
    """What the program says of one line."""
    line = json.dumps({"op": op, "address": row})
    done = subprocess.run([PROGRAM, "predict", *options], input=line, capture_output=True, text=True)
    return json.loads(done.stdout)


def rows_of(op, count, inactive):
    random.seed(op)
    rows = [[WIDTHS[op] * random.randrange(256) for _ in range(32)] for _ in range(count)]
    if inactive and "matrix" not in op:
        rows = [[None if random.random() < 0.3 else one for one in row] for row in rows]
    return rows


class Lists(unittest.TestCase):
    def test_rows_cost_what_the_program_says(self):
        for op in WIDTHS:
            rows = rows_of(op, 5, inactive=True)
            found = swizproof.predict(op, rows, explain=True)
            for row, prediction in zip(rows, found.predictions):
                said = looped(op, row, "--explain")
                with self.subTest(op, row=row):
                    given = json.dumps(prediction, default=lambda one: {k: v for k, v in vars(one).items() if v is not None})
                    self.assertEqual(json.loads(given), said)
            self.assertEqual(found.wavefronts, [one.wavefronts for one in found.predictions])

    def test_one_row_has_numbers(self):
        found = swizproof.predict("ld.shared.b32", [128 * lane for lane in range(32)])
        self.assertEqual((found.wavefronts, found.ideal, found.excess, found.degree), (32, 1, 31, [32]))
        self.assertEqual(found.verdict, "proved")

    def test_negative_addresses_are_inactive_lanes(self):
        rows = rows_of("ld.shared.b32", 6, inactive=True)
        negative = [[-1 if one is None else one for one in row] for row in rows]
        self.assertEqual(swizproof.predict("ld.shared.b32", negative).predictions, swizproof.predict("ld.shared.b32", rows).predictions)

    def test_each_row_may_have_its_own_instruction(self):
        found = swizproof.predict(["ld.shared.b32", "ld.shared.b64"], [[8 * lane for lane in range(32)]] * 2)
        self.assertEqual(found.wavefronts, [2, 2])
        self.assertEqual(found.ideal, [1, 2])

    def test_an_unmeasured_architecture_says_so(self):
        self.assertEqual(swizproof.predict("ld.shared.b32", [0] * 32, arch="sm_80").evidence, "documented")

    def test_bad_rows_are_refused_with_their_number(self):
        good = [4 * lane for lane in range(32)]
        with self.assertRaises(swizproof.InputError) as caught:
            swizproof.predict("ld.shared.b32", [good, good, [1] + good[1:], good])
        said = looped("ld.shared.b32", [1] + good[1:])
        self.assertEqual(caught.exception.message, said["error"])
        self.assertEqual(caught.exception.line, 3)
        self.assertIn("in row 2", str(caught.exception))
        for address, what in (
            (good[:31], "31 addresses"), ([], "0 addresses"), ([good, good[:3]], "3 addresses"), ("ld.shared", "is no table"),
            (3, "is no table"), ([0.5] * 32, "integers"), ([True] * 32, "integers"), ([good, 3], "1 addresses"),
        ):  # fmt: skip
            with self.subTest(address=address), self.assertRaisesRegex(swizproof.InputError, what):
                swizproof.predict("ld.shared.b32", address)
        with self.assertRaisesRegex(swizproof.InputError, "unknown op"):
            swizproof.predict("ld.shared.b7", good)
        with self.assertRaisesRegex(swizproof.InputError, "2 instructions for 1 rows"):
            swizproof.predict(["ld.shared.b32"] * 2, good)
        with self.assertRaisesRegex(swizproof.InputError, "known"):
            swizproof.predict("ld.shared.b32", good, arch="sm_1")
        with self.assertRaises(swizproof.InputError):
            swizproof.predict("ld.shared.b32", [1 << 70] * 32)


@unittest.skipIf(numpy is None, "not run: there is no NumPy here")
class Arrays(unittest.TestCase):
    def test_arrays_cost_what_the_program_says(self):
        for op in WIDTHS:
            rows = rows_of(op, 4, inactive=False)
            found = swizproof.predict(op, numpy.array(rows))
            said = [looped(op, row) for row in rows]
            for name in ("wavefronts", "ideal", "excess", "degree"):
                column = getattr(found, name)
                self.assertIsInstance(column, numpy.ndarray)
                self.assertEqual(column.tolist(), [one[name] for one in said], (op, name))
            alone = swizproof.predict(op, numpy.array(rows[0], dtype=numpy.uint32))
            self.assertEqual((alone.wavefronts, alone.degree.tolist()), (said[0]["wavefronts"], said[0]["degree"]))

    def test_masked_and_negative_addresses_are_inactive_lanes(self):
        rows = rows_of("ld.shared.b32", 6, inactive=True)
        said = [looped("ld.shared.b32", row)["wavefronts"] for row in rows]
        negative = numpy.array([[-1 if one is None else one for one in row] for row in rows])
        masked = numpy.ma.masked_less(negative, 0)
        masked.data[masked.mask] = 12345678  # any value below the mask
        for array in (negative, masked, negative.astype(numpy.int16)):
            self.assertEqual(swizproof.predict("ld.shared.b32", array).wavefronts.tolist(), said)
        self.assertNotEqual(said, swizproof.predict("ld.shared.b32", abs(negative) * 4).wavefronts.tolist())

    def test_arrays_of_another_kind_are_refused(self):
        for array, what in (
            (numpy.zeros(32), "not float64"), (numpy.zeros(32, bool), "not bool"), (numpy.zeros(31, int), r"shape \(31,\)"),
            (numpy.zeros((2, 2, 32), int), "are no warps"), (numpy.zeros((0, 32), int), "no rows"), (numpy.array(3), "are no warps"),
            (numpy.full(32, 2**63, numpy.uint64), ""), (numpy.full(32, 2**32), ""),
        ):  # fmt: skip
            with self.subTest(what), self.assertRaisesRegex(swizproof.InputError, what):
                swizproof.predict("ld.shared.b32", array)


if __name__ == "__main__":
    unittest.main()
