"""The package as it is installed: its stubs say what the module has, and the examples of its docstrings hold."""

import ast
import dataclasses
import doctest
import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing
import unittest

import swizproof
from swizproof import _questions, _record, _results, _swizproof

ROOT = pathlib.Path(__file__).parent.parent.parent
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
        for name in _questions.__all__:
            answer = typing.get_type_hints(getattr(swizproof, name))["return"]
            self.assertIs(answer, getattr(_results, name.capitalize()))
            self.assertIn(answer.__name__, swizproof.__all__)

    def test_the_version_is_the_programs(self):
        self.assertRegex(swizproof.__version__, r"^\d+\.\d+\.\d+$")


class Installed(unittest.TestCase):
    def test_what_is_installed_is_imported(self):
        with tempfile.TemporaryDirectory() as prefix:
            install = [os.environ["SWIZPROOF_CMAKE"], "--install", os.environ["SWIZPROOF_BUILD"], "--prefix", prefix]
            subprocess.run([*install, "--component", "python"], check=True, capture_output=True)
            (package,) = pathlib.Path(prefix).glob("lib/python3.*/site-packages/swizproof")
            self.assertEqual({one.name for one in package.iterdir()}, {one.name for one in FOLDER.iterdir()} - {"__pycache__"})
            program = "import swizproof; print(swizproof.__file__, swizproof.eval('2:3').values)"
            there = {**os.environ, "PYTHONPATH": str(package.parent)}
            said = subprocess.run([sys.executable, "-c", program], env=there, capture_output=True, text=True, check=True).stdout
            self.assertEqual(said, f"{package / '__init__.py'} [0, 3]\n")

    @unittest.skipUnless(importlib.util.find_spec("pip"), "not run: there is no pip here")
    def test_a_wheel_has_all_that_it_needs(self):
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
        with tempfile.TemporaryDirectory() as folder:
            build = ["--config-settings", "build-dir=" + os.environ["SWIZPROOF_BUILD"]]
            subprocess.run([*pip, "wheel", "--no-index", "--no-deps", *build, "--wheel-dir", folder, ROOT], check=True, capture_output=True)
            (wheel,) = pathlib.Path(folder).glob(f"swizproof-{swizproof.__version__}-cp3*-*linux*.whl")
            there = pathlib.Path(folder) / "there"
            subprocess.run([*pip, "install", "--no-index", "--no-deps", "--target", there, wheel], check=True, capture_output=True)
            bare = {"PYTHONPATH": str(there), "PATH": os.environ["PATH"]}

            def says(*words):
                return subprocess.run([sys.executable, *words], env=bare, cwd=folder, capture_output=True, text=True)

            self.assertRegex(says("-m", "swizproof", "--version").stdout, f"^swizproof {swizproof.__version__}(, commit [0-9a-f]+)?\n$")
            refused = says("-m", "swizproof", "check", "(64,64):(64,1)", "--access", "ldmatrix.x4")
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn("the element size is not known", refused.stderr)
            proved = says("-m", "swizproof", "prove", str(ROOT / "proofs" / "examples" / "layouts.toml"), "--brief")
            self.assertEqual((proved.returncode, proved.stderr), (0, ""))
            program = "import swizproof; print(swizproof.equal('Sw<3,4,3>', 'tma:128B').verdict); print(open('/proc/self/maps').read())"
            verdict, *maps = says("-c", program).stdout.splitlines()
            self.assertEqual(verdict, "proved")
            solver = {line.split()[-1] for line in maps if "libz3" in line}
            if solver:  # a static Z3 is in the module
                self.assertEqual({pathlib.Path(path).parent for path in solver}, {there / "swizproof.libs"})
            self.assertTrue((there / "bin" / "swizproof").exists())

    @unittest.skipIf(sys.version_info < (3, 11), "not run: this Python does not read TOML")
    def test_pyproject_needs_no_other_package(self):
        import tomllib

        project = tomllib.loads((ROOT / "pyproject.toml").read_text())
        self.assertEqual(project["build-system"]["requires"], [])
        self.assertTrue((ROOT / project["build-system"]["backend-path"][0] / (project["build-system"]["build-backend"] + ".py")).exists())
        # From the prefix, given in any way: a cached PATH would be made absolute where cmake is called.
        cmake = "".join(file.read_text() for file in (ROOT / "cmake").glob("*.cmake"))
        self.assertIn('CACHE STRING "Where `cmake --install` puts', cmake)


class Records(unittest.TestCase):
    def test_a_key_of_a_later_program_is_an_attribute(self):
        document = {"name": "x", "bits": 3}
        coverage = _record.read(_results.Coverage, {"reached": 1, "of": 2, "later": document})
        self.assertEqual((coverage.reached, coverage.of, coverage.later), (1, 2, document))
        self.assertIn("later=", repr(coverage))


def load_tests(loader, tests, pattern):
    for module in (swizproof, _questions):
        tests.addTests(doctest.DocTestSuite(module, extraglobs={"swizproof": swizproof}))
    page = str(ROOT / "src" / "python" / "README.md")
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("package: the page is not run: there is no NumPy here")
        return tests
    tests.addTests(doctest.DocFileSuite(page, module_relative=False, optionflags=doctest.REPORT_NDIFF))
    return tests


if __name__ == "__main__":
    unittest.main()
