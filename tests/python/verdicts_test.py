"""The class of an access's verdict says which case it is."""

import unittest

import swizproof


class Cases(unittest.TestCase):
    def only(self, layout, access, **options):
        verdicts = swizproof.check(layout, access, **options).accesses
        self.assertEqual(len(verdicts), 1)
        return verdicts[0]

    def test_a_cost(self):
        found = self.only("(128,64):(64,1)", "ldmatrix.x4", element="f16")
        self.assertIs(type(found), swizproof.AccessCost)
        self.assertEqual((found.verdict, found.kind, found.wavefronts, found.excess, found.degree), ("refuted", "cost", 32, 28, [8, 8, 8, 8]))
        lanes = found.counterexample.lanes
        self.assertEqual([lane.address for lane in lanes], [128 * i for i in range(8)])
        self.assertEqual([lane.word for lane in lanes], [32 * i for i in range(8)])
        self.assertFalse(found.counterexample.by_lane)

    def test_a_cost_of_lanes_that_count_for_themselves(self):
        found = self.only("(32,32):(32,1)", "cp.async.b32: row = 0, col = 0", element="f32")
        self.assertTrue(found.counterexample.by_lane)
        self.assertEqual({lane.word for lane in found.counterexample.lanes}, {0})

    def test_a_misfit(self):
        found = self.only("(8,64):(64,1)", "ldmatrix.x4", element="f16")
        self.assertIs(type(found), swizproof.AccessMisfit)
        self.assertEqual(found.counterexample.lane, 8)
        self.assertIn("outside the tile", found.reason)
        self.assertFalse(hasattr(found, "wavefronts"))

    def test_a_lost_store(self):
        found = self.only("(32,32):(1,0)", "st.shared.b32: row = 0, col = lane", element="f32")
        self.assertIs(type(found), swizproof.LostStore)
        self.assertEqual(found.counterexample, {"x": 0, "y": 32, "f(x)": 0})

    def test_an_undecided_access(self):
        found = self.only(
            "(1024,4096):(4096,1)",
            "ld.shared.b32: row = (1ull*lane*i*j) % 1021, col = 0 for i in 0..65535 for j in 0..65535",
            element="f32",
            timeout=0.01,
        )
        self.assertIs(type(found), swizproof.UndecidedAccess)
        self.assertTrue(found.reason)


if __name__ == "__main__":
    unittest.main()
