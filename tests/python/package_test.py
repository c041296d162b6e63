"""The package as it is installed: its stubs say what the module has, and the examples of its docstrings hold."""

import ast
import dataclasses
import doctest
import inspect
import pathlib
import re
import typing
import unittest

import swizproof
from swizproof import _questions, _record, _results, _swizproof

FOLDER = pathlib.Path(swizproof.__file__).parent


class Stubs(unittest.TestCase):
    def test_the_stub_says_what_the_module_has(self):
        stub = ast.parse((FOLDER / "_swizproof.pyi").read_text())
        functions = {one.name: one for one in stub.body if isinstance(one, ast.FunctionDef)}
        values = {one.target.id: one for one in stub.body if isinstance(one, ast.AnnAssign)}
        public = {name for name in dir(_swizproof) if not name.startswith("_")}
        self.assertEqual(public, set(functions) | set(values))
        for name, function in functions.items():
            signature = getattr(_swizproof, name).__doc__.split("\n")[0]  # pybind11 writes it there
            given = re.findall(r"(\w+): ", signature[: signature.index(")")])
            stated = [one.arg for one in function.args.args]
            self.assertEqual(given, stated, name)
            self.assertEqual(signature.count(" = "), len(function.args.defaults), name)
            self.assertEqual(signature.split("-> ")[1].split("[")[0], ast.unparse(function.returns).split("[")[0], name)
        for name, value in values.items():
            self.assertEqual(type(getattr(_swizproof, name)).__name__, ast.unparse(value.annotation))

    def test_the_package_is_typed(self):
        self.assertTrue((FOLDER / "py.typed").exists())
        for name in swizproof.__all__:
            value = getattr(swizproof, name)
            if inspect.isfunction(value):
                hints = typing.get_type_hints(value)
                self.assertEqual(set(hints), {*inspect.signature(value).parameters, "return"}, name)
                self.assertTrue(value.__doc__, name)
            elif dataclasses.is_dataclass(value):
                self.assertTrue(all(one.name in _record.hints_of(value) for one in dataclasses.fields(value)), name)
        self.assertEqual(sorted(swizproof.__all__), sorted({name for name in dir(swizproof) if not name.startswith("_")}))

    def test_every_question_has_an_answer_of_its_own(self):
        for name, function in vars(_questions).items():
            if not name.startswith("_") and inspect.isfunction(function) and hasattr(_results, name.capitalize()):
                self.assertIs(typing.get_type_hints(function)["return"], getattr(_results, name.capitalize()))
                self.assertIn(name, swizproof.__all__)

    def test_the_version_is_the_programs(self):
        self.assertRegex(swizproof.__version__, r"^\d+\.\d+\.\d+$")


class Records(unittest.TestCase):
    def test_a_key_of_a_later_program_is_an_attribute(self):
        document = {"name": "x", "bits": 3}
        coverage = _record.read(_results.Coverage, {"reached": 1, "of": 2, "later": document})
        self.assertEqual((coverage.reached, coverage.of, coverage.later), (1, 2, document))
        self.assertIn("later=", repr(coverage))


def load_tests(loader, tests, pattern):
    for module in (swizproof, _questions):
        tests.addTests(doctest.DocTestSuite(module, extraglobs={"swizproof": swizproof}))
    return tests


if __name__ == "__main__":
    unittest.main()
