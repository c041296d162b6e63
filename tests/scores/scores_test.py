#!/usr/bin/env python3
"""scores_test.py BINARY: each script of this folder on a small checkout of own text, with a case that is answered as its label says and one that is not."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
#: Stands for nvcc: the sources below are PTX.
NVCC = """#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in -o) out="$2"; shift;; -include) shift;; *.cu) source="$1";; esac; shift; done
cp "$source" "$out"
"""
#: Both warps store; thread i reads what thread 63 - i has stored.
KERNEL = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry {name}(
{params}
)
{{
.reg .b32 %r<9>; .reg .pred %p<3>;
.shared .align 16 .b8 tile[4096];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r2, %r2, %r3;
st.shared.u32 [%r2], %r1;
{between}
xor.b32 %r4, %r1, 63;
shl.b32 %r4, %r4, 2;
add.u32 %r4, %r4, %r3;
ld.shared.u32 %r5, [%r4];
ret;
}}
"""

#: Thread i stores word i, and reads the first word of row i.
READER = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry reader(.param .u64 to)
{{
.reg .b32 %r<9>; .reg .b64 %d<3>;
.shared .align 16 .b8 tile[8192];
.loc 1 5 1
mov.u32 %r1, %tid.x;
mov.u32 %r3, tile;
mad.lo.u32 %r2, %r1, 4, %r3;
st.shared.u32 [%r2], %r1;
bar.sync 0;
.loc 1 7 1
mad.lo.u32 %r4, %r1, {pitch}, %r3;
ld.shared.u32 %r5, [%r4];
ld.param.u64 %d1, [to];
st.global.u32 [%d1], %r5;
ret;
}}
.file 1 "/checkout/own/src/a.cu"
"""
TABLE = """date = "2026-11-29"
compiler = "nvcc"
device = "a device."
[[project]]
name = "Own"
url = "https://github.com/a/own"
commit = "abc"
folder = "own"
[[project.file]]
ptx = "a"
source = "src/a.cu"
block = ["32"]
[[fixed]]
project = "Own"
ptx = "a"
file = "a.cu"
line = {line}
after_line = 7
change = "rows of 33"
report = "own"
times = [["32 rows", 3.0, 2.0]]
"""


def kernel(name, params, right):
    return KERNEL.format(name=name, params=",\n".join(f".param .{p} p{i}" for i, p in enumerate(params)), between="bar.sync 0;" if right else "")


class Scores(unittest.TestCase):
    def run_script(self, script, files, commits=()):
        """Lines of a script, without seconds, and its exit code. commits: (tag, files) of a git repository HeCBench."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "checkout")
            for file, text in files.items():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text)
            for tag, changed in commits:
                self.commit(root / "HeCBench", tag, changed)
            nvcc = pathlib.Path(folder, "nvcc")
            nvcc.write_text(NVCC)
            nvcc.chmod(0o755)
            r = subprocess.run([sys.executable, HERE / script, root, "--binary", BINARY, "--nvcc", nvcc, "--keep", pathlib.Path(folder, "keep")], capture_output=True, text=True, check=False)
            self.assertEqual(r.stderr, "")
            page = pathlib.Path(folder, "output")
            page.write_text(r.stdout)
            made = subprocess.run([sys.executable, HERE / "page.py", page], capture_output=True, text=True, check=True).stdout
            return [line.rsplit(" | ", 1)[0] for line in r.stdout.strip().split("\n")[1:]], r.returncode, made

    def test_cicuvc_compares_wavefronts(self):
        run = "def pattern(spec): return [32 * t for t in range(32)]\n"
        note = "| identity `t` | 1/0 | 1/0 |\n| stride 32 (all bank 0) | **32/31** | **32/31** |\n"
        lines, code, page = self.run_script("cicuvc.py", {"tests/bankconf/run.py": run, "notes/sm90/arch/shared_bank_conflicts.md": note})
        self.assertEqual(code, 1)
        self.assertEqual([line.split(" | ")[:4] for line in lines[:2]], [["ld.shared.b32 id", "1", "32", "wrong"], ["st.shared.b32 id", "1", "32", "wrong"]])
        self.assertIn(["st.shared.b32 stride:32", "32", "32", "right"], [line.split(" | ")[:4] for line in lines])
        self.assertIn("| cicuvc/nvidia-sass-document bank conflicts on sm_120 | unknown | 79 | 2 | 2 | 0 | 0 | 75 |", page)

    def test_racecheck_stands_beside_the_suites(self):
        rows = ["S | a | race | refuted | launched: SUCCESS | 3", "S | b | race | proved | launched: SUCCESS | 0", "S | c | right | proved | launched: does not end | ", "S | d | misuse | refuted | not launched: X | "]
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "output")
            page.write_text("\n".join(["# racecheck on the launches of flow, 1.2", *rows, "4 cases\n"]))
            made = subprocess.run([sys.executable, HERE / "page.py", page], capture_output=True, text=True, check=True).stdout
        for row in ("S | race | 2 | 1 | 1 | 0 | 1 | 1 | 0", "S | race free | 1 | 1 | 0 | 0 | 0 | 0 | 1", "S | another fault | 1 | 0 | 1 | 0 | 0 | 0 | 1"):
            self.assertIn(f"| {row} |\n", made)

    def test_what_was_asked_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = pathlib.Path(folder, "asked")
            checkout = pathlib.Path(folder, "microbenchmarks/src")
            checkout.mkdir(parents=True)
            checkout.joinpath("norace_x.cu").write_text("// #define NBLOCKS 1\n// #define TPERBLK 64\n" + kernel("x", ["u64"], True))
            nvcc = pathlib.Path(folder, "nvcc")
            nvcc.write_text(NVCC)
            nvcc.chmod(0o755)
            subprocess.run([sys.executable, HERE / "scor.py", folder, "--binary", BINARY, "--nvcc", nvcc, "--asked", asked], capture_output=True, check=True)
            (case,) = map(json.loads, asked.read_text().splitlines())
        self.assertEqual((case["name"], case["label"], case["answer"], case["options"][:2]), ("norace_x", "race free", "proved", ["--block", "64"]))
        self.assertIn(".entry x(", case["ptx"])

    @staticmethod
    def commit(repo, tag, files):
        for file, text in files.items():
            (repo / file).parent.mkdir(parents=True, exist_ok=True)
            (repo / file).write_text(text)
        git = ["git", "-C", repo, "-c", "user.name=n", "-c", "user.email=e"]
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "c"], ["tag", tag]):
            subprocess.run([*git, *words], check=True, env=environment)

    def check(self, result, *starts, code=1):
        lines, exit_code, page = result
        self.assertEqual(exit_code, code, lines)
        self.assertEqual(len(lines), len(starts), lines)
        for line, start in zip(lines, starts):
            self.assertTrue(line.startswith(start), f"{line} does not begin with {start}")
        self.assertIn(f"| {lines[0].split(' | ')[0]} |" if "| right |" not in lines[0] else "| 1 |", page)

    def test_weft(self):
        params = ["u64", "u64", "f32", "u64"]
        files = {f"examples/saxpy/saxpy_{n}.cu": kernel("k", params, right) for n, right in (("single", True), ("double", False))}
        files["examples/negatives/arrival.cu"] = kernel("k", [], True).replace("\n{", "\n.maxntid 64, 1, 1\n{")
        self.check(self.run_script("weft.py", files), "negatives/arrival | wrong | proved | explained | all threads arrive", "saxpy/saxpy_single | right | proved | right",
                   "saxpy/saxpy_double | right | refuted | wrong | race: thread ", "3 cases: 1 right, 1 wrong, 1 explained, 0 undecided, 0 not asked")

    def test_sanitizer_samples(self):
        files = {f"Racecheck/{n}_error.cu": kernel("_Z9sumKernel", ["u64", "u64"], right) for n, right in (("block", False), ("warp", True))}
        self.check(self.run_script("sanitizer_samples.py", files), "Racecheck/block_error sumKernel | race | refuted | right | race: thread ",
                   "Racecheck/warp_error sumKernel | race | proved | wrong", "2 cases: 1 right, 1 wrong")

    def test_faial(self):
        head = "// __global__ void saxpy(int n, float a, float *x, float *y)\n"
        files = {f"examples/drf/{n}.cu": head + kernel("saxpy", ["u32", "f32", "u64", "u64"], right) for n, right in (("drf-saxpy", True), ("racy-saxpy", True))}
        files["examples/drf/test.ml"] = 'let tests = [\n  (* one [] *)\n  "drf-saxpy.cu", [], 0;\n  "racy-saxpy.cu", ["-p"; "n=1"; "--index=[0]"], 1;\n  "macro.cu", [], 2;\n]\n'
        self.check(self.run_script("faial_drf.py", files), "drf-saxpy | race free | proved | right", "racy-saxpy -p n=1 --index=[0] | race | proved | wrong",
                   "macro | not CUDA | none | not asked", "3 cases: 1 right, 1 wrong")

    def test_faial_bc(self):
        head = "// __global__ void reader(int *to)\n"
        files = {f"examples/bc/{n}.cu": head + READER.format(pitch=pitch) for n, pitch in (("row", 128), ("pad", 132), ("half", 64))}
        files["examples/bc/test.ml"] = ('let per_request_tests = [\n  "pad.cu", ["--only-reads"], "1";\n]\nlet bc_tests = [\n  "row.cu", ["--blockDim=[64,1]"; "--gridDim=2";], "31";\n'
                                        '  "half.cu", ["--blockDim=64"], "31";\n]\nlet ua_tests = [\n  "pad.cu", [], "1";\n]\nlet unsupported = [\n')
        files["examples/bc/pad.cu"] = "// --blockDim=[32,1,1]\n" + files["examples/bc/pad.cu"]
        self.check(self.run_script("faial_bc.py", files), "pad.cu --only-reads | 1 | 1 | right", "row.cu --blockDim=[64,1] --gridDim=2 | 31 | 31 | right",
                   "half.cu --blockDim=64 | 31 | 15 | wrong", "pad.cu | 1 | 1 | right", "4 cases: 3 right, 1 wrong")

    def test_dat3m(self):
        test = "PTX t\n{\nx=0;\nP1:r0=0;\n}\n P0@cta 0,gpu 0 | P1@cta %d,gpu 0 ;\n st.weak x, 1   | bar.cta.sync 1 ;\n bar.cta.sync 1 | ld.weak r0, x  ;\n%s\n(P1:r0 == %d)\n"
        cases = {"all": (0, "forall", 1, 1), "never": (0, "exists", 0, 0), "false": (0, "exists", 0, 1), "blocks": (1, "forall", 1, 0)}
        files = {f"litmus/PTX/{n}.litmus": test % case[:3] for n, case in cases.items()}
        resources = "dartagnan/src/test/resources/PTXv7_5-"
        files[resources + "expected.csv"] = "".join(f"litmus/PTX/{n}.litmus,{case[3]}\n" for n, case in cases.items())
        files[resources + "Liveness-expected.csv"] = "litmus/PTX/never.litmus,1\n"
        self.check(self.run_script("dat3m.py", files), "all | one outcome | proved | right", "never | condition | proved | right", "false | two outcomes | proved | wrong",
                   "blocks | expected 0 | none | not asked | threads of several blocks", "4 cases: 2 right, 1 wrong")

    def test_zluda(self):
        body = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry {0}(.param .u64 from, .param .u64 to)\n{{\n.reg .b64 %a<3>; .reg .f32 %f<2>;\nld.param.u64 %a1, [from];\nld.param.u64 %a2, [to];\n" \
               "ld.f32 %f1, [%a1];\n{0}.f32 %f1, %f1;\nst.f32 [%a2+4], %f1;\nret;\n}}\n"
        tests = "test_ptx!(neg, [1.5f32], [0f32, -1.5f32]); // of one\ntest_ptx!(abs, [\n  0xc0000000u32, // of bits\n  7], [0u32, 0xc0000000u32]);\ntest_ptx!(sin);\ntest_ptx!(sin.approx, [f32::NAN], [0f32, 1f32]);\n"
        files = {f"ptx/src/test/spirv_run/{op}.ptx": body.format(op) for op in ("neg", "abs", "sin", "sin.approx")}
        self.check(self.run_script("zluda.py", {**files, "ptx/src/test/spirv_run/mod.rs": tests}), "neg | right | proved | right", "abs | right | refuted | wrong | wrong element: element 1 is 0x40000000, expected 0xc0000000",
                   "sin |  | none | not asked", "sin.approx | right | unknown | undecided", "4 cases: 1 right, 1 wrong, 0 explained, 1 undecided, 1 not asked")

    def test_scor(self):
        head = "// #define NBLOCKS 1\n// #define TPERBLK 64\n"
        files = {f"microbenchmarks/src/{n}.cu": head + kernel("kmain", ["u64"], right) for n, right in (("race_a", False), ("race_b", True), ("norace_c", True))}
        self.check(self.run_script("scor.py", files), "norace_c | race free | proved | right", "race_a | race | refuted | right", "race_b | race | proved | wrong", "3 cases: 2 right, 1 wrong")

    def test_indigo(self):
        files = {f"indigo/indigo_sources/push/{n}.cu": kernel("test_kernel", ["u64"] * 4 + ["u32"], right)
                 for n, right in (("push", True), ("push_boundsBug", True), ("push_reverse", True), ("push_syncBug_atomicBug", False))}
        self.check(self.run_script("indigo.py", files), "push | race free | proved | right", "push_boundsBug | out of bounds | proved | wrong", "push_syncBug_atomicBug | race | refuted | right", "3 cases: 2 right, 1 wrong")

    def test_esbmc(self):
        launch = "\nint main() {\n#define N 2 * 32 // 64\n// k<<<1, N>>>();\nESBMC_verify_kernel(k, 1, N);\n}\n"
        cases = {"fine": ("//pass\n", True, "SUCCESSFUL"), "host": ("", False, "FAILED"), "known": ("", False, "FAILED", "KNOWNBUG"), "none": ("//pass\n", True, "SUCCESSFUL"),
                 "racy": ("", False, "--data-races-check FAILED"), "wrong": ("// pass\n", False, "SUCCESSFUL")}
        files = {}
        for name, (head, right, label, *mode) in cases.items():
            files[f"regression/cuda/a/{name}/main.cu"] = head + kernel("k", [], right) + ("int main() {}" if name == "none" else launch)
            files[f"regression/cuda/a/{name}/test.desc"] = "\n".join([*(mode or ["CORE"]), "main.cu", label.replace("SUCC", "^VERIFICATION SUCC").replace("FAIL", "^VERIFICATION FAIL")])
        self.check(self.run_script("esbmc.py", files), "a/fine | race free | proved | right", "a/host |  | none | not asked | ESBMC does not look", "a/known |  | none | not asked | the test is one",
                   "a/none | race free | none | not asked | the test has no launch", "a/racy | race | refuted | right", "a/wrong | race free | refuted | wrong", "6 cases: 2 right, 1 wrong")

    def test_gpuverify(self):
        head = "//{}\n//--blockDim=64 --gridDim=1\n{}"
        files = {f"testsuite/CUDA/{name}/kernel.cu": head.format(label, "") + kernel("k", ["u64"], right)
                 for name, label, right in (("free", "pass", True), ("racy", "xfail:NOT_ALL_VERIFIED", False), ("wrong", "pass", False))}
        files["testsuite/CUDA/requires/kernel.cu"] = head.format("pass", "// __requires(n == 1)\n") + kernel("k", [], True)
        result = self.run_script("gpuverify.py", files)
        self.check(result, "free | race free | proved | right", "racy | race | refuted | right", "requires | race free | none | not asked | the label rests on an assumption of the source",
                   "wrong | race free | refuted | wrong", "4 cases: 2 right, 1 wrong")

    def test_gpuverify_benchmarks(self):
        head = "//pass\n//--blockDim=[64,1] --gridDim=[1]{}\n{}"
        cases = {"a/kernel.cu": ("", "typedef unsigned int size_t;\n", True), "b/memory.cu": ("", "// __requires(table[0] == 1)\n", True), "b/requires.cu": ("", "// __requires(n == 1)\n", True),
                 "c/lockstep.cu": (" --warp-sync=32", "", True), "c/racy.cu": ("", "", False)}
        files = {f"CUDA50/{name}": head.format(more, line) + kernel("k", ["u64"], right) for name, (more, line, right) in cases.items()}
        self.check(self.run_script("gpuverify.py", files), "CUDA50/a | race free | proved | right", "CUDA50/b/memory.cu | race free | none | not asked | the label rests on an assumption of memory",
                   "CUDA50/b/requires.cu | race free | proved | right", "CUDA50/c/lockstep.cu | race free | none | not asked | the label takes a warp", "CUDA50/c/racy.cu | race free | refuted | wrong",
                   "5 cases: 2 right, 1 wrong, 0 explained, 0 undecided, 2 not asked")

    def test_page_counts_false_alarms(self):
        rows = ["a | race free | refuted | wrong | race | 0.1 s", "b | race free | refuted | explained | race | 0.1 s", "c | race | proved | wrong |  | 0.1 s"]
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "output")
            page.write_text("\n".join(["# S, 1", *rows, "3 cases\n"]))
            made = subprocess.run([sys.executable, HERE / "page.py", "--races", page], capture_output=True, text=True, check=True).stdout
        self.assertIn("Wrong kernels that were proved, without an explanation: 1.\n", made)
        self.assertIn("refuted, without an explanation: 1.\n", made)

    def test_pairs(self):
        commits = [(tag, {"src/fsm-cuda/main.cu": kernel("_Z9FSMKernel", ["u32", *["u64"] * 8], right), "src/include/a.h": ""}) for tag, right in (("before", False), ("75d70c1f2", True))]
        lines, code, _ = self.run_script("pairs.py", {}, commits)
        answers = [line for line in lines if line.startswith("HeCBench/fsm 7")]
        self.assertEqual([line.split(" | ")[:4] for line in answers],
                         [["HeCBench/fsm 75d70c1f2^", "race", "refuted", "right"], ["HeCBench/fsm 75d70c1f2", "right", "proved", "right"]])
        self.assertEqual(code, 0)

    def test_audit(self):
        code, page, errors = self.audit(132)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("| [Own](#own) | abc | 1 | 1 | 1 | 0 | 0 | 1 | 1 | 32 of 1 |", page)
        self.assertIn("| src/a.cu:7 | `reader` | `ld.shared.u32` | 32 | 1 | 31 | 0 | 1 | 1 element after each 32: 33 → 2 |", page)
        self.assertIn("| [Own](../proofs/reports/own.md) | a.cu:7 | 32 → 1, ideal 1 | rows of 33 | 32 rows | 3.00 → 2.00 µs | 1.50 |", page)

    def test_audit_of_a_fix_that_is_none(self):
        code, page, errors = self.audit(128)
        self.assertEqual((code, errors), (1, "Own, a.cu:7: 32 wavefronts before, 32 after\n"))
        self.assertIn("32 → 32, ideal 1", page)
        self.assertEqual(self.audit(132, line=9)[::2], (2, "a.cu:9: no access\n"))

    def audit(self, pitch, line=7):
        """Exit code, page and errors of audit.py for a kernel whose lanes read rows of 128 bytes, and the same with another pitch."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for place, bytes_a_row in (("own", 128), ("fixed/own", pitch)):
                (root / place).mkdir(parents=True)
                (root / place / "a.ptx").write_text(READER.format(pitch=bytes_a_row))
            (root / "table.toml").write_text(TABLE.format(line=line))
            r = subprocess.run([sys.executable, HERE / "audit.py", root / "table.toml", root, "--binary", BINARY], capture_output=True, text=True, check=False)
            return r.returncode, r.stdout, r.stderr


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main()
