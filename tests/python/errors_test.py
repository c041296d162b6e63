"""What is no layout, no access and no address is refused with what was given, what is needed and how to get it."""

import os
import pathlib
import pickle
import subprocess
import unittest

import numpy
import swizproof

PROGRAM = os.environ["SWIZPROOF_BINARY"]


class Printed:
    """An object of another library, which prints as this."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


class Objects(unittest.TestCase):
    def test_layouts_are_taken_by_what_they_print(self):
        for text in ("(8,64):(64,1)", "((8,2),64):((64,512),1)", "S<3,3,3> o 0 o (8,64):(64,1)"):
            asked, written = (swizproof.inspect(one, element="f16") for one in (Printed(text + "\n"), text))
            self.assertEqual(asked, written)
        encoding = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
        self.assertEqual(swizproof.layout_text(Printed(encoding), (64, 64)), encoding + " (64,64)")
        atom = swizproof.eval(Printed("gmma:K_SW128<f16>"), shape=(64, 128), at=[64])
        self.assertEqual(atom.values, swizproof.eval("gmma:K_SW128<f16> (64,128)", at="64").values)

    def test_layouts_of_gluon_are_taken_as_the_encodings_that_they_are(self):
        # As triton.experimental.gluon.language prints them.
        swizzled = "SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0], ctas_per_cga={}, cta_split_num=None, cta_order=None)"
        nvmma = (
            "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2, transposed={}, fp4_padded={}, "
            "ctas_per_cga=None, cta_split_num=None, cta_order=None)"
        )
        for printed, encoding in (
            (swizzled.format(None), "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"),
            (swizzled.format([1, 1]), "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"),
            (nvmma.format(False, False), "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"),
            (nvmma.format(True, True), "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16, fp4Padded = true}>"),
        ):
            self.assertEqual(swizproof.layout_text(Printed(printed), shape=(64, 64)), encoding + " (64,64)")
        # As Triton 3.6 prints them: recorded from its objects.
        for printed, plain, shape in (
            ("SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0], cga_layout=[])", "Sw<3,3,3> o _0 o (64,64):(64,1)", (64, 64)),
            (
                "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2, transposed=False, fp4_padded=False, cga_layout=[])",
                "gmma:K_SW128<f16> (64,64)", (64, 64),
            ),
            (
                "PaddedSharedLayout(interval_padding_pairs=[[32, 4]], offset_bases=[[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], "
                "[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], block_bases=[], shape=[64, 64])",
                "(64,(32,2)):(72,(1,36))", None,
            ),
            ("SharedLinearLayout(offset_bases=[[0, 1], [0, 2], [1, 0], [2, 0]], block_bases=[], alignment=16)", "(4,4):(4,1)", (4, 4)),
        ):
            asked = swizproof.eval(Printed(printed), shape=shape, element="f16", bytes=True)
            self.assertEqual(asked.values, swizproof.eval(plain, element="f16", bytes=True).values, printed)
        spread = "SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0], cga_layout=[[1, 0]])"
        self.assertEqual(swizproof.layout_text(Printed(spread)), spread)
        for other in (swizzled.format([2, 1]), "SwizzledSharedLayout(vec=8)", "BlockedLayout(size_per_thread=[1])"):
            self.assertEqual(swizproof.layout_text(Printed(other)), other)
            with self.assertRaises(swizproof.InputError):
                swizproof.eval(Printed(other), shape=(64, 64))

    def test_a_text_that_is_no_layout_is_refused_as_on_the_command_line(self):
        with self.assertRaises(swizproof.InputError) as caught:
            swizproof.check(Printed("(8,?):(64,1)"), "ldmatrix.x4", element="f16")
        words = ["check", "(8,?):(64,1)", "--access", "ldmatrix.x4", "--element", "f16"]
        said = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(said.returncode, 2)
        self.assertEqual(str(caught.exception), said.stderr.rstrip("\n"))
        self.assertEqual((caught.exception.input, caught.exception.at), ("(8,?):(64,1)", 3))

    def test_other_objects_are_no_layouts(self):
        class Silent:
            pass

        for value in (None, 3, 2.5, True, [8, 64], ((8, 64), (64, 1)), {"shape": 8}, b"8:1", Silent(), Silent, len, os, Printed("")):
            for ask in (swizproof.eval, swizproof.inspect, swizproof.tma, lambda one: swizproof.equal("8:1", one)):
                with self.subTest(value=value), self.assertRaises(swizproof.InputError) as caught:
                    ask(value)
                error = caught.exception
                self.assertIn(type(value).__qualname__, error.message)
                self.assertIn("is no layout", error.message)
                self.assertIn("an object that prints as one", error.hint)
                self.assertEqual(error.at, 0)
                self.assertIn(error.hint, str(error))

    def test_arrays_are_no_layouts(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("not run: there is no NumPy here")
        with self.assertRaisesRegex(swizproof.InputError, "numpy.ndarray is no layout"):
            swizproof.eval(numpy.arange(4))

    def test_other_objects_are_no_accesses(self):
        for value in (None, 3, [None], [b"ldmatrix.x4"]):
            with self.subTest(value=value), self.assertRaisesRegex(swizproof.InputError, "is no access"):
                swizproof.check("(16,64):(64,1)", value, element="f16")
        with self.assertRaisesRegex(swizproof.InputError, "--access"):
            swizproof.check("(16,64):(64,1)", [], element="f16")

    def test_other_objects_are_no_paths_and_shapes(self):
        with self.assertRaisesRegex(swizproof.InputError, "int is no path"):
            swizproof.explain(3)
        with self.assertRaisesRegex(swizproof.InputError, "no such file"):
            swizproof.explain(pathlib.Path("/nonexistent.jsonl"))
        with self.assertRaisesRegex(swizproof.InputError, "a shape is a tuple"):
            swizproof.eval("gmma:K_SW128<f16>", shape=("a", "b"))

    def test_words_that_no_command_line_has(self):
        with self.assertRaises(swizproof.InputError) as caught:
            swizproof.eval("(4):(2)\0 and what a C string would lose")
        self.assertEqual(caught.exception.at, 7)
        for word in ("--help", "--version", "-h"):
            with self.assertRaisesRegex(swizproof.InputError, "is an option"):
                swizproof.eval(word)
        for word in ("\udcff", "\ud800", "(4):(\u20ac)"):
            with self.assertRaises(swizproof.InputError):
                swizproof.eval(word)

    def test_elements_are_taken_by_name(self):
        class float16:
            pass

        class Dtype:
            def __str__(self):
                return "torch.f16"

        texts = [swizproof.check("(16,64):(64,1)", "ldmatrix.x4", element=e).command for e in ("f16", Dtype())]
        self.assertEqual(texts[0], texts[1])
        with self.assertRaises(swizproof.InputError) as caught:
            swizproof.eval("8:1", element=type("complex7", (), {}), bytes=True)
        self.assertEqual(caught.exception.input, "complex7")


class Numbers(unittest.TestCase):
    def test_what_is_no_integer_is_refused_by_the_name_of_its_argument(self):
        for ask, name, given in (
            (lambda: swizproof.check("(8,64):(64,1)", "ldmatrix.x1", element="f16", at_most=True), "at_most", "True"),
            (lambda: swizproof.eval("8:1", at=[1, 2.5]), "at", "2.5"),
            (lambda: swizproof.find("(8,64):(64,1)", "ldmatrix.x1", element="f16", weight=[None]), "weight", "None"),
        ):
            with self.assertRaises(swizproof.InputError) as caught:
                ask()
            self.assertTrue(caught.exception.message.startswith(name + " is an integer"), caught.exception.message)
            self.assertEqual(caught.exception.input, given)

    def test_a_flag_is_true_or_false(self):
        for value in ("False", "", 0, 1, None, []):
            with self.assertRaisesRegex(swizproof.InputError, "padding is True or False, and an object of type .* is neither"):
                swizproof.find("(16,64):(64,1)", "ldmatrix.x4", element="f16", padding=value)
        swizproof.find("(16,64):(64,1)", "ldmatrix.x4", element="f16", padding=numpy.bool_(False))

    def test_an_architecture_is_a_name(self):
        for arch in (90, [1], ["sm_90", None]):
            with self.assertRaisesRegex(swizproof.InputError, "arch is a name, and an object of type .* is none"):
                swizproof.prove("proofs/examples/gemm.toml", arch=arch)

    def test_an_option_is_no_layout(self):
        for word in ("--json", "--help", "-h"):
            with self.assertRaises(swizproof.InputError) as caught:
                swizproof.eval(word)
            self.assertEqual(caught.exception.message, f"'{word}' is an option")


class Exceptions(unittest.TestCase):
    def test_an_error_is_a_value_error_with_a_place(self):
        with self.assertRaises(ValueError) as caught:
            swizproof.eval("(4):(2")
        error = caught.exception
        self.assertEqual((error.message, error.input, error.at), ("expected ')' or ',' in the tuple", "(4):(2", 6))
        self.assertTrue(str(error).endswith("  (4):(2\n        ^"), str(error))

    def test_an_error_survives_a_process_pool(self):
        with self.assertRaises(swizproof.InputError) as caught:
            swizproof.eval("(4):(2")
        copy = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(copy), copy.at, copy.input), (str(caught.exception), 6, "(4):(2"))

    def test_an_answer_survives_a_process_pool(self):
        answer = swizproof.check("(16,64):(64,1)", "ldmatrix.x4", element="f16")
        copy = pickle.loads(pickle.dumps(answer))
        self.assertEqual(copy, answer)
        self.assertEqual(copy.to_dict(), answer.to_dict())
        self.assertEqual(copy.command, answer.command)


if __name__ == "__main__":
    unittest.main()
