"""What a notebook shows: verdict, numbers, and the picture of the program."""

import base64
import html
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import swizproof

PROGRAM = os.environ["SWIZPROOF_BINARY"]
TRACES = pathlib.Path(__file__).parent.parent / "golden" / "data" / "trace"
TILE = {"layout": "(16,64):(64,1)", "access": "ldmatrix.x4", "element": "f16"}


def pictures_of(page):
    return [base64.b64decode(one).decode() for one in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)]


def drawn(*words):
    return subprocess.run([PROGRAM, "show", *words, "--svg", "-"], capture_output=True, text=True, check=True).stdout


class Pages(unittest.TestCase):
    def test_a_verdict_has_its_numbers_and_the_programs_picture(self):
        page = swizproof.check(**TILE)._repr_html_()
        self.assertEqual(pictures_of(page), [drawn(TILE["layout"], "--element", "f16", "--access", "ldmatrix.x4")])
        for text in ("refuted", "<td>32</td>", "<td>28</td>", "swizproof check"):
            self.assertIn(text, page)
        xml.etree.ElementTree.fromstring(page)

    def test_a_search_shows_before_and_after(self):
        rest = ("--element", "f16", "--access", "ldmatrix.x4")
        found = swizproof.find(**TILE)
        self.assertEqual(pictures_of(found._repr_html_()), [drawn(found.winner, *rest)])  # with and without the swizzle
        padded = swizproof.find(**TILE, padding=True)
        self.assertEqual(pictures_of(padded._repr_html_()), [drawn(one, *rest) for one in (TILE["layout"], padded.winner)])

    def test_each_access_has_a_picture(self):
        accesses = ["ldmatrix.x4", "copy.row128"]
        page = swizproof.check(TILE["layout"], accesses, element="f16")._repr_html_()
        self.assertEqual(pictures_of(page), [drawn(TILE["layout"], "--element", "f16", "--access", one) for one in accesses])

    def test_the_picture_itself(self):
        shown = swizproof.show("(16,64):(64,1)", "ldmatrix.x4", element="f16", phase=2)
        self.assertEqual(shown.pictures[0].access.phase, 2)
        self.assertEqual(shown.svg(), drawn("(16,64):(64,1)", "--element", "f16", "--access", "ldmatrix.x4", "--phase", "2"))
        self.assertIn("<html", shown.html())
        self.assertEqual(pictures_of(shown._repr_html_()), [shown.svg()])

    def test_a_trace_shows_its_page(self):
        answer = swizproof.explain(TRACES / "gemm.jsonl")
        page = subprocess.run(
            [PROGRAM, "explain", TRACES / "gemm.jsonl", "--html", "-"], capture_output=True, text=True, check=False
        ).stdout
        self.assertIn("<html", page)
        self.assertEqual(html.unescape(re.search(r'srcdoc="([^"]*)"', answer._repr_html_())[1]), page)

    def test_what_has_no_picture_has_a_page(self):
        raw = "ld.shared.b32: address = 128*lane"
        for answer in (
            swizproof.check("-", raw), swizproof.predict("ld.shared.b32", [0] * 32), swizproof.fragment("mma.m16n8k16.f16:a"),
            swizproof.equal("Sw<3,4,3>", "tma:128B"), swizproof.inspect("Sw<3,4,3>"), swizproof.eval("8:1"),
            swizproof.descriptor(0x4000004000010000), swizproof.tma("gmma:K_SW128<f16> (64,64)"),
            swizproof.align("gmma:K_SW128<f16> (64,64)"), swizproof.accesses(), swizproof.language("element"),
        ):  # fmt: skip
            with self.subTest(type(answer).__name__):
                xml.etree.ElementTree.fromstring(answer._repr_html_())

    def test_an_access_without_a_cost_has_its_reason(self):
        misfit = swizproof.check("(16,64):(65,1)", ["ldmatrix.x4", "ld.shared.b16: row = lane%16, col = 0"], element="f16")
        page = misfit._repr_html_()
        xml.etree.ElementTree.fromstring(page)
        self.assertIn("which is not a multiple of the 16 bytes", page)
        self.assertIn("<th>reason</th>", page)

    def test_a_notebook_shows_32_rows(self):
        access = "ld.shared.b32: row = lane%16, col = 2*(lane/16)"
        for count, rows, more in ((32, 33, "more"), (40, 33, "and 8 more accesses")):
            page = swizproof.check("(16,64):(64,1)", [access] * count, element="f16")._repr_html_()
            self.assertEqual(page.count("<tr>"), rows)
            self.assertEqual(more in page, count > 32)
        lines = swizproof.eval("4096:1")._repr_html_()
        self.assertLessEqual(lines.count("\n"), 32)

    def test_texts_are_escaped(self):
        page = swizproof.inspect("fn(x) = (x < 3) & (x >> 1)")._repr_html_()
        xml.etree.ElementTree.fromstring(page)
        self.assertIn("x &lt; 3", page)

    @unittest.skipUnless(shutil.which("chromium"), "not run: there is no chromium here")
    def test_a_browser_draws_it(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            script = (
                "<script>onload = () => { document.title = [...document.images].map(i => i.naturalWidth > 300 && i.width > 300 &&"
                " i.height > 100).join() + ' ' + getComputedStyle(document.body).fontFamily }</script>"
            )
            body = swizproof.find(**TILE, padding=True)._repr_html_()
            page.write_text(f"<!DOCTYPE html><html><head>{script}</head><body style='font-family:Mine'>{body}</body></html>")
            done = subprocess.run(
                ["timeout", "3600", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()],
                capture_output=True, text=True,
            )  # fmt: skip
            self.assertIn("<title>true,true Mine</title>", done.stdout, done.stderr)


class Reprs(unittest.TestCase):
    def test_a_repr_is_python_and_short(self):
        answer = swizproof.eval("(64,64):(64,1)")
        self.assertLess(len(repr(answer)), 400)
        self.assertIn("... 4088 more", repr(answer))
        self.assertEqual(repr(swizproof.predict("ld.shared.b32", [0] * 32).predictions[0]),
                         "Prediction(wavefronts=1, ideal=1, excess=0, degree=[1])")
        self.assertTrue(all(len(line) <= 130 for line in repr(swizproof.check(**TILE)).split("\n")))


if __name__ == "__main__":
    unittest.main()
