#!/usr/bin/env python3
"""build/page/swizproof.html, opened from its file in headless Chromium, compared with the program: the same answers to random
questions, and the page's own features. Needs SWIZPROOF_BINARY and SWIZPROOF_PAGE."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from browser import Browser
from questions import Questions, difference, disagreement

BINARY, PAGE = os.environ["SWIZPROOF_BINARY"], os.environ["SWIZPROOF_PAGE"]
ADDRESS = "file://" + PAGE
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
QUESTIONS = 100
BAD_COLUMN = "check '(32,32):(32,1)' --element f32 --access 'ld.shared.b32: row = lane, col = i for i in 0..31'"
# 2^18 cases, hardly two alike, under 6801 swizzles.
LONG = ("find '(1024,1024):(1024,1)' --element f16 --access "
        "'ld.shared.b16: row = i, col = (lane*(2*j+1) + i*7) % 1024 for i in 0..511 for j in 0..511'")

# Waits until the page has answered this line, opens what is closed, and returns what a reader sees.
SEEN = """line => new Promise(resolve => {
  const answer = document.getElementById('answer');
  const look = () => {
    if (answer.getAttribute('aria-busy') !== 'false' || answer.dataset.line !== line) return false;
    watch.disconnect();
    const json = document.getElementById('json');
    json.open = true;
    json.ontoggle?.();
    resolve({verdict: answer.dataset.verdict, word: document.getElementById('verdict').innerText,
      gist: document.getElementById('gist').textContent, details: document.getElementById('details').innerText,
      json: json.hidden ? null : json.querySelector('pre').textContent});
    return true;
  };
  const watch = new MutationObserver(look);
  watch.observe(answer, {attributes: true});
  look();
})"""
# A file that a user drops on the page.
DROP = """(name, text) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent('drop', {dataTransfer, bubbles: true, cancelable: true}));
}"""
# Resolves when an attribute of an element has a value.
BECOMES = """(id, attribute, value) => new Promise(resolve => {
  const element = document.getElementById(id);
  const look = () => { if (element.getAttribute(attribute) === value) { watch.disconnect(); resolve(true); } };
  const watch = new MutationObserver(look);
  watch.observe(element, {attributes: true});
  look();
})"""
TYPE = """(id, text) => {
  const field = document.getElementById(id);
  field.value = text;
  field.dispatchEvent(new InputEvent('input', {bubbles: true}));
}"""
FIELDS = """() => Object.fromEntries(['layout', 'accesses', 'element', 'arch', 'options', 'line']
  .map(id => [id, document.getElementById(id).value]))"""


def hash_of(line):
    return "#" + urllib.parse.quote(line, safe="")


def program_says(line):
    run = subprocess.run([BINARY, *shlex.split(line), "--json", "--color=never"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return (run.returncode, json.loads(run.stdout)), run.stderr


class Webpage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.open(ADDRESS)

    def tearDown(self):
        self.assertEqual(self.browser.loaded(), [ADDRESS], "nothing is loaded from elsewhere")
        self.assertEqual(self.browser.complaints(), [])

    def ask(self, line):
        """By the address bar, as a link does it."""
        self.browser.run("hash => { location.hash = hash; }", hash_of(line))
        return self.browser.run(SEEN, line)

    def test_a_hundred_random_questions(self):
        questions, counts = Questions(17), {}
        for number in range(QUESTIONS):
            line = questions.line()
            with self.subTest(number=number, line=line):
                seen, ((code, document), complaint) = self.ask(line), program_says(line)
                self.assertIsNotNone(seen["json"])
                page = json.loads(seen["json"])
                exits = {"proved": 0, "refuted": 1, "error": 2, "unknown": 3, "none": 0}
                self.assertIsNone(disagreement((code, document), (exits[seen["verdict"]], page)))
                counts[seen["verdict"]] = counts.get(seen["verdict"], 0) + 1
                # What is drawn is what is answered.
                self.assertEqual(seen["verdict"], "error" if "error" in page else page.get("verdict", "none"))
                if code == 2:
                    self.assertEqual(seen["details"].rstrip(), complaint.rstrip())
                for access in page.get("accesses", []) if line.startswith("check") and "verdict" in page else []:
                    self.assertIn(access["access"].split("\n")[0], seen["details"])
                    if access.get("wavefronts") is not None:
                        self.assertRegex(seen["details"], rf"wavefronts\s+{access['wavefronts']}\s+ideal\s+{access['ideal']}\s")
        print("webpage:", ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())), file=sys.stderr)
        # A page without answers would agree, too.
        self.assertGreater(counts["proved"], QUESTIONS // 6)
        self.assertGreater(counts["refuted"], QUESTIONS // 6)
        self.assertGreater(counts["error"], QUESTIONS // 10)
        self.assertLess(counts.get("unknown", 0), QUESTIONS // 8)

    def test_a_link_is_the_question(self):
        line = "check 'Sw<3,4,3> o smem_ptr[16b](unset) o (64,64):(64,1)' --arch sm_80 --at-most 8 --access ldmatrix.x4 --access 'ld.shared.b32: row = lane, col = 0'"
        self.browser.open(ADDRESS + hash_of(line))
        seen = self.browser.run(SEEN, line)
        fields = self.browser.run(FIELDS)
        self.assertEqual(fields["layout"], "Sw<3,4,3> o smem_ptr[16b](unset) o (64,64):(64,1)")
        self.assertEqual(fields["accesses"], "ldmatrix.x4\nld.shared.b32: row = lane, col = 0")
        self.assertEqual((fields["arch"], fields["options"], fields["line"]), ("sm_80", "--at-most 8", line))
        self.assertIsNone(difference(program_says(line)[0][1], json.loads(seen["json"])))
        # Typed text is in the address bar at once, as another link.
        self.browser.run(TYPE, "layout", "(64,64):(64,1)")
        self.browser.run(TYPE, "element", "f16")
        line = self.browser.run(FIELDS)["line"]
        seen = self.browser.run(SEEN, line)
        self.assertEqual(self.browser.run("() => decodeURIComponent(location.hash.slice(1))"), line)
        self.assertIn("--element f16", line)
        self.assertIsNone(difference(program_says(line)[0][1], json.loads(seen["json"])))

    def test_options_may_have_an_equals_sign(self):
        line = "check '(64,64):(64,1)' --element=f16 --arch=sm_80 --at-most=8 --access=ldmatrix.x4"
        self.assertEqual(self.ask(line)["verdict"], "refuted")
        fields = self.browser.run(FIELDS)
        self.assertEqual((fields["element"], fields["arch"], fields["accesses"], fields["options"]), ("f16", "sm_80", "ldmatrix.x4", "--at-most=8"))
        # The picture is of the same architecture.
        words = self.browser.run("line => pictureWords(wordsOf(line))", line)
        self.assertEqual(words, ["show", "(64,64):(64,1)", "--element", "f16", "--arch", "sm_80", "--access", "ldmatrix.x4", "--html=-"])

    def test_lanes_that_count_each_are_no_different_words(self):
        line = "check '(32,32):(32,1)' --element f32 --access '{}: row = lane/2, col = 0'"
        self.assertIn("bank 0: 32 lanes, each for itself (", self.ask(line.format("cp.async.b32"))["details"])
        self.assertIn("bank 0: 16 different words (", self.ask(line.format("ld.shared.b32"))["details"])

    def test_an_access_without_a_cost_has_its_values(self):
        lost = self.ask("check '(16,64):(0,1)' --element f16 --access 'st.shared.b32: row = lane%16, col = 2*(lane/16)'")["details"]
        self.assertIn("x = 0, y = 1, f(x) = 0", lost)
        misfit = self.ask("check '(16,64):(65,1)' --element f16 --access ldmatrix.x4")["details"]
        self.assertIn("lane = 1", misfit)
        for text in (lost, misfit):
            self.assertNotIn("undefined", text)

    def test_a_program_that_does_not_start_is_not_started_for_ever(self):
        self.assertEqual(self.browser.run("""() => {
          let starts = 0;
          class Counted extends Program { start() { ++starts; super.start(); this.worker.terminate(); } }
          const broken = new Counted();
          broken.fail('first'), broken.fail('second');
          const said = broken.ask('answer', []).catch(error => error.message);
          broken.fail('third');
          return said.then(why => [starts, why]);
        }"""), [2, "third"])

    def test_stop_ends_a_question_and_the_next_is_answered(self):
        self.browser.run("hash => { location.hash = hash; }", hash_of(LONG))
        self.browser.run("""() => new Promise(resolve => {
          const stop = document.getElementById('stop');
          const look = () => { if (!stop.hidden) { watch.disconnect(); stop.click(); resolve(true); } };
          const watch = new MutationObserver(look);
          watch.observe(stop, {attributes: true});
          look();
        })""")
        seen = self.browser.run(SEEN, LONG)
        self.assertEqual(seen["verdict"], "failure")
        self.assertIn("undecided", seen["word"])
        self.assertIn("stopped", seen["gist"])
        self.assertEqual(self.ask(BAD_COLUMN)["verdict"], "refuted")

    def test_another_question_ends_a_long_one(self):
        self.browser.run("hash => { location.hash = hash; }", hash_of(LONG))
        self.browser.run(BECOMES, "answer", "aria-busy", "true")
        self.assertEqual(self.ask(BAD_COLUMN)["verdict"], "refuted")

    def test_an_error_shows_its_caret(self):
        seen = self.ask("check '(8,64):(64,1' --access ldmatrix.x4")
        self.assertEqual(seen["verdict"], "error")
        self.assertEqual(seen["details"].rstrip(), "swizproof: error: expected ')' or ',' in the tuple\n  (8,64):(64,1\n              ^")
        self.assertEqual(self.browser.run("() => document.getElementById('layout').getAttribute('aria-invalid')"), "true")

    def test_what_needs_the_program_is_never_green(self):
        for line in ("equal 'fn(x) = x*3 + 1' 'fn(x) = x*2 + x + 1'", "align 'fn(x) = x*3 + 1'"):
            self.assertEqual(program_says(line)[0][0], 0)
            seen = self.ask(line)
            self.assertEqual((seen["verdict"], seen["word"].split()[-1]), ("unknown", "undecided"))
            self.assertIn("swizproof " + line, seen["details"])
        for command in ("prove", "prove --only period", "explain x.trace", "recheck d", "predict", "crosscheck a b", "flow a.ptx"):
            seen = self.ask(command)
            self.assertEqual(seen["verdict"], "error")
            self.assertIn("this page cannot " + command.split()[0], seen["gist"])

    def test_nothing_is_written(self):
        seen = self.ask("show '(8,64):(64,1)' --element f16 --svg picture.svg")
        self.assertEqual(seen["verdict"], "error")
        self.assertIn("picture.svg", seen["details"])

    def test_text_never_becomes_markup(self):
        for text in ("<img src=x onerror=document.title=1>", "</script><script>document.title=1</script>", "(8,8):(8,1)<b id=injected>",
                     "'\"><svg onload=document.title=1>"):
            for line in (f"check {shlex.quote(text)} --access ldmatrix.x4", f"check '(64,64):(64,1)' --element f16 --access {shlex.quote(text)}", text,
                         f"equal {shlex.quote(text)} {shlex.quote(text)}", f"show '(8,8):(8,1)' --element f16 --access {shlex.quote(text)}"):
                self.ask(line)
        self.assertEqual(self.browser.run("() => [document.title, document.querySelectorAll('img, svg, b#injected, script[src]').length]"), ["swizproof", 0])

    def test_numbers_of_64_bits_survive(self):
        line = "equal 'fn(x) = x' 'fn(x) = x & 0x7fffffffffffffff'"
        seen = self.ask(line)
        self.assertIn("9223372036854775808", seen["details"])
        self.assertEqual(self.browser.run("text => parsed(text).a", '{"a": 9223372036854775809, "b": "1234567890123456789"}'), "9223372036854775809")

    def test_pasted_blocks_and_large_input(self):
        block = ("ld.shared.b64: TiledCopy\n  Tiler_MN:       (_32,_8)\n  TiledLayout_TV: ((_32,_4),_2):((_1,_64),_32)\nCopy_Atom\n"
                 "  ThrID:        _1:_0\n  ValLayoutSrc: (_1,_2):(_0,_1)\n  ValLayoutDst: (_1,_2):(_0,_1)\n  ValLayoutRef: (_1,_2):(_0,_1)\n  ValueType:    32b")
        self.ask("check '(32,8):(8,1)' --element f32 --access ldmatrix.x4")
        self.browser.run(TYPE, "accesses", "ld.shared.b32: row = lane, col = 0\n" + block)
        line = self.browser.run(FIELDS)["line"]
        self.assertEqual(shlex.split(line)[-3:], ["ld.shared.b32: row = lane, col = 0", "--access", block])
        self.assertIsNone(difference(program_says(line)[0][1], json.loads(self.browser.run(SEEN, line)["json"])))
        for line in ("inspect '(1048576,1048576):(1048576,1)'", "check '(" + "8," * 30000 + "8):(1)' --access ldmatrix.x4",
                     "inspect '" + "(" * 100000 + "'", "eval '(65536,64):(64,1)'", "inspect 'fn(x) = " + "x+" * 900 + "x'"):
            (code, document), _ = program_says(line)
            seen = self.ask(line)
            self.assertIsNone(disagreement((code, document), ({"error": 2, "proved": 0, "refuted": 1, "unknown": 3, "none": 0}[seen["verdict"]], json.loads(seen["json"]))))

    def test_the_picture_is_the_programs(self):
        self.browser.run("""() => {
          const make = URL.createObjectURL;
          URL.createObjectURL = blob => { if (blob.type === 'text/html') window.drawn = blob; return make(blob); };
        }""")
        self.ask(BAD_COLUMN)
        self.browser.run("""() => new Promise(resolve => {
          const frame = document.querySelector('iframe');
          const look = () => { if (!frame.hidden && window.drawn) { watch.disconnect(); resolve(); } };
          const watch = new MutationObserver(look);
          watch.observe(frame, {attributes: true});
          look();
        })""")
        show = shlex.split(BAD_COLUMN.replace("check", "show", 1))
        page = subprocess.run([BINARY, *show, "--html=-"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.browser.run("() => drawn.text()"), page)
        self.ask("inspect 'Sw<3,4,3>'")  # which has no shape
        self.browser.run(BECOMES, "picture", "hidden", "")

    def until(self, condition):
        self.browser.run("() => new Promise(resolve => { const look = () => %s ? resolve() : setTimeout(look, 50); look(); })" % condition)

    def program_prints(self, name, text, options):
        """What the program prints of a file that lies in a folder without its source, with the name that the page has for its solver."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
            run = subprocess.run([BINARY, "kernel", name, *options, "--color=never"], cwd=folder, capture_output=True, text=True)
        return run.returncode, (run.stdout + run.stderr).replace("the banks, Z3", "the banks, no solver").rstrip()

    def test_a_dropped_kernel_is_decided(self):
        for path, block, options in (("gpu/examples/ptx/transpose.ptx", "32,8", []), ("gpu/examples/sass/transpose.sass", "32,8", []),
                                     ("tests/golden/data/kernel/global.ptx", "", ["--global"]), ("gpu/examples/ptx/gemm_mma.ptx", "128", ["--brief"]),
                                     ("tests/golden/data/kernel/truncated.ptx", "", [])):
            name = os.path.basename(path)
            with self.subTest(name=name):
                with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                    text = file.read()
                self.browser.run(DROP, name, text)
                self.until(f"document.getElementById('line').value.startsWith('kernel {name}')")
                self.browser.run(TYPE, "block", block)
                self.browser.run(TYPE, "options", " ".join(options))
                words = [name, *(["--block", block] if block else []), *options]
                seen = self.browser.run(SEEN, " ".join(["kernel", *words]))
                code, printed = self.program_prints(name, text, words[1:])
                self.assertEqual(seen["verdict"], ["proved", "refuted", "error", "unknown"][code])
                self.assertEqual(seen["details"].rstrip().replace("\xa0", " "), printed)

    def test_a_file_is_there_after_a_stop_and_in_its_new_version(self):
        with open(os.path.join(ROOT, "gpu/examples/ptx/transpose.ptx"), encoding="utf-8") as file:
            text = file.read()
        line = "kernel a.ptx --block 32,8 --kernel Naive --brief"
        self.assertIn("Drop a .ptx or .sass file", self.ask(line)["details"])
        self.browser.run(DROP, "a.ptx", text)
        self.until("document.getElementById('details').innerText.includes('ld.shared')")
        self.browser.run("() => program.fail(stopped)")
        self.assertIn("ld.shared", self.ask(line)["details"])
        self.browser.run(DROP, "a.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry Naive() { ret; }\n")
        self.until("document.getElementById('details').innerText.includes('0 in all')")
        self.assertIn("plain text, which is what this page finds", self.ask("kernel a.ptx --kernel 'N.*e'")["details"])
        self.assertIn("files of this page do not change", self.ask("kernel a.ptx --watch")["details"])

    def test_a_kernel_fits_500_pixels(self):
        self.browser.call("Emulation.setDeviceMetricsOverride", width=500, height=900, deviceScaleFactor=1, mobile=False)
        try:
            with open(os.path.join(ROOT, "gpu/examples/ptx/transpose.ptx"), encoding="utf-8") as file:
                self.browser.run(DROP, "a_name_that_is_longer_than_the_page_is_wide_" * 2 + ".ptx", file.read())
            self.until("document.getElementById('details').innerText.includes('in all')")
            self.assertLessEqual(self.browser.run("() => document.documentElement.scrollWidth"), 500)
        finally:
            self.browser.call("Emulation.clearDeviceMetricsOverride")

    def test_it_fits_a_telephone(self):
        self.browser.call("Emulation.setDeviceMetricsOverride", width=360, height=780, deviceScaleFactor=2, mobile=True)
        try:
            for line in (BAD_COLUMN, "find '(64,64):(64,1)' --element f16 --access ldmatrix.x4", "inspect 'Sw<3,4,3>'", "tma " + "x" * 300):
                self.ask(line)
                self.assertLessEqual(self.browser.run("() => document.documentElement.scrollWidth"), 360, line)
        finally:
            self.browser.call("Emulation.clearDeviceMetricsOverride")

    def test_one_file_without_addresses(self):
        with open(PAGE, encoding="utf-8") as page:
            text = page.read()
        self.assertLess(len(text), 10 << 20)
        self.assertEqual(re.findall(r"https?:[^\s\"']*|<link[^>]*>|<script src[^>]*>|@import", text), [])


if __name__ == "__main__":
    for there, what in ((os.path.exists(PAGE), "page: see webpage.build"), (shutil.which("chromium"), "chromium")):
        if not there:
            print(f"webpage: not run (there is no {what})")
            sys.exit(77)
    unittest.main()
