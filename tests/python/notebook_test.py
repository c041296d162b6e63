"""What a notebook shows: verdict, numbers, and the picture of the program."""

import base64
import html
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
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

    def test_kernels_are_tables(self):
        page = swizproof.kernel(TRACES.parents[3] / "gpu" / "examples" / "ptx" / "transpose.ptx", block=(32, 8))._repr_html_()
        xml.etree.ElementTree.fromstring(page)
        self.assertEqual((page.count("<table>"), page.count("<tr>")), (3, 3 + 6))  # four equal accesses are a row
        self.assertEqual((page.count("<td>32</td>"), page.count("<td>ld.shared.f32 x4</td>")), (1, 3))
        self.assertIn("fix of array staged", page)
        many = swizproof.kernel(TRACES.parents[3] / "gpu" / "examples" / "ptx" / "gemm_mma.ptx", block=128)
        for at, one in enumerate(one for kernel in many.kernels for one in kernel.accesses):
            one.op = f"op{at}"  # each is a row
        executed = sum(one.executed is not False for kernel in many.kernels for one in kernel.accesses)
        page = many._repr_html_()
        xml.etree.ElementTree.fromstring(page)
        heads = page.count("<table>")
        self.assertGreater(executed, 32)
        self.assertEqual(page.count("<tr>"), heads + 32)
        self.assertEqual(sum(map(int, re.findall(r"and (\d+) more accesses", page))), executed - 32)

    def test_a_search_names_the_best(self):
        self.assertIn("best: <code>Sw&lt;3,3,3&gt; o _0 o (16,64):(64,1)</code>", swizproof.find(**TILE)._repr_html_())

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


def stacks_of(axes):
    """What a picture shows above each bank: the texts of its boxes, the lowest first."""
    stacks = {}
    for box, text in zip(axes.patches, axes.texts):
        for bank in range(round(box.get_x()), round(box.get_x() + box.get_width())):
            stacks.setdefault(bank, {})[round(box.get_y())] = text.get_text()
    return {bank: [of_bank[level] for level in range(len(of_bank))] for bank, of_bank in sorted(stacks.items())}


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "not run: there is no matplotlib here")
class Plots(unittest.TestCase):
    def test_lanes_lie_over_their_banks(self):
        (axes,) = swizproof.check("(32,32):(34,1)", "ld.shared.b32: row = lane, col = 3 at col 3", element="f32").plot().axes
        wanted = {}  # by hand: lane l accesses word 34 l + 3
        for lane in range(32):
            wanted.setdefault((34 * lane + 3) % 32, []).append(str(lane))
        self.assertEqual(stacks_of(axes), dict(sorted(wanted.items())))
        self.assertIn("2 wavefronts, ideal 1", axes.get_title("left"))

    def test_lanes_of_a_word_share_a_box(self):
        (axes,) = swizproof.check("(64,64):(64,1)", "ld.shared.b16: row = lane/16, col = lane%16", element="f16").plot().axes
        self.assertEqual(stacks_of(axes), {bank: [f"{2*bank} {2*bank + 1}", f"{2*bank + 16} {2*bank + 17}"] for bank in range(8)})
        (axes,) = swizproof.check("(32,32):(32,1)", "ld.shared.b32: row = 0, col = lane/8", element="f32").plot().axes
        self.assertEqual(stacks_of(axes), {0: ["0-7"], 1: ["8-15"], 2: ["16-23"], 3: ["24-31"]})

    def test_a_search_plots_before_and_after(self):
        before, after = swizproof.find(**TILE).plot().axes
        self.assertEqual(stacks_of(before), {bank: [str(lane) for lane in range(8)] for bank in range(4)})
        self.assertEqual(stacks_of(after), {bank: [str(bank // 4)] for bank in range(32)})
        self.assertEqual((len(before.patches), len(after.patches)), (8, 8))  # a box for 4 banks
        array = swizproof.find("__shared__ float a[32][32]", "a[threadIdx.x][c] for c in 0..31")
        self.assertEqual([stacks_of(one) for one in array.plot().axes], [{0: [str(lane) for lane in range(32)]}])

    def test_asynchronous_copies_count_lanes(self):
        (axes,) = swizproof.check("(8,64):(64,1)", "cp.async.b32: row = 0, col = 2*(lane%8)", element="f16").plot().axes
        self.assertEqual(stacks_of(axes), {bank: [str(bank + lane) for lane in (0, 8, 16, 24)] for bank in range(8)})

    def test_wavefronts_are_bars(self):
        def bars(answer):
            return [[(label.get_text(), bar.get_width()) for label, bar in zip(axes.get_yticklabels(), axes.patches)] for axes in answer.plot().axes]

        rows = [[pitch * lane for lane in range(32)] for pitch in (128, 132)]
        self.assertEqual(bars(swizproof.predict("ld.shared.b32", rows)), [[("row 0", 32), ("row 1", 1)]])
        free = [("4 x transpose.cu:31 st.shared.f32", 1), ("4 x transpose.cu:33 ld.shared.f32", 1)]
        slow = [free[0], ("4 x transpose.cu:33 ld.shared.f32", 32)]
        kernels = swizproof.kernel(TRACES.parents[3] / "gpu" / "examples" / "ptx" / "transpose.ptx", block=(32, 8))
        self.assertEqual(bars(kernels), [slow, free, free])
        self.assertEqual(bars(swizproof.explain(TRACES / "gemm.jsonl"))[1], [("@!P0 LDS.64 R4, [R2] ld.shared.b64", 128)])
        self.assertEqual(bars(swizproof.check("-", "ld.shared.b32: address = 128*lane")), [[("ld.shared.b32: address = 128*lane", 32)]])

    def test_a_notebook_shows_a_plot_once(self):
        figure = swizproof.find(**TILE).plot()
        self.assertTrue(figure._repr_png_().startswith(b"\x89PNG"))
        self.assertNotIn("matplotlib.pyplot", sys.modules)

    def test_what_has_nothing_to_plot_says_so(self):
        for answer in (swizproof.descriptor("umma:K_SW128<f16> (128,64)"), swizproof.inspect("Sw<3,4,3>"), swizproof.show("(8,8):(8,1)", element="f32")):
            with self.subTest(type(answer).__name__), self.assertRaisesRegex(TypeError, "check, find and show"):
                answer.plot()


class WithoutMatplotlib(unittest.TestCase):
    def test_the_error_says_what_to_install(self):
        with unittest.mock.patch.dict(sys.modules, {"matplotlib": None}):
            with self.assertRaisesRegex(ImportError, "pip install matplotlib"):
                swizproof.find(**TILE).plot()


class Descriptors(unittest.TestCase):
    def test_one_descriptor_comes_first(self):
        answer = swizproof.descriptor("gmma:K_SW128<f16> (64,64)")
        self.assertEqual(len(answer.solutions), 5)
        self.assertEqual(answer.solutions[0].expression, answer.expression)
        self.assertEqual(repr(answer).count("TileDescriptor"), 0)
        self.assertIn("solutions=[... 5 more]", repr(answer))
        first, folded = answer._repr_html_().split("<details>")
        self.assertIn("<th>stride byte offset</th><td>1024 bytes</td>", first)
        self.assertIn("<th>leading byte offset</th><td>16 bytes, not read</td>", first)
        self.assertIn("<td>every multiple of 16 bytes</td>", first)
        self.assertEqual(first.count("0x40"), 1)
        self.assertIn("4 other descriptors", folded)
        self.assertEqual(folded.count("smem"), 4)
        one = swizproof.descriptor("umma:MN_SW128<e4m3> (128,64)")
        self.assertNotIn("solutions", repr(one))
        self.assertNotIn("<details>", one._repr_html_())


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
