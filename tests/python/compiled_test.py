"""Kernels of Python packages: their PTX is found, decided and compared with a budget. The packages are stand-ins; Numba and Triton themselves are tried, too, where they are."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock
import xml.etree.ElementTree

import swizproof
from swizproof import _compiled, _hooks, _parameters

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
TRANSPOSE = ROOT / "gpu" / "examples" / "ptx" / "transpose.ptx"
PTX = TRANSPOSE.read_text()
#: One warp, 32 words of a column: 32 wavefronts; and one that has its block.
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 out)
.reqntid 32
{{
  .reg .b32 %r<8>;
  .shared .align 4 .b8 tile[4096];
  mov.u32 %r1, %tid.x;
  mul.lo.u32 %r2, %r1, {stride};
  mov.u32 %r3, tile;
  add.u32 %r4, %r3, %r2;
  ld.shared.u32 %r5, [%r4];
  ret;
}}
"""
SLOW, FAST = KERNEL.format(name="slow", stride=128), KERNEL.format(name="fast", stride=4)


def fn(x, y):
    pass


class Folder(unittest.TestCase):
    """A test with a folder of its own, in which the user's cache is, and with the stand-ins."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        environment = {"XDG_CACHE_HOME": str(self.folder / "cache"), "SWIZPROOF_STANDIN_PTX": str(TRANSPOSE)}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        self.enterContext(unittest.mock.patch.object(sys, "path", [str(HERE / "standins"), *sys.path]))

    if sys.version_info < (3, 11):

        def enterContext(self, context):
            self.addCleanup(context.__exit__, None, None, None)
            return context.__enter__()

    def file(self, text, name="kernel.ptx"):
        path = self.folder / name
        path.write_text(text)
        return str(path)


class Triton(Folder):
    def setUp(self):
        super().setUp()
        from triton.runtime.jit import Autotuner, JITFunction

        self.kernel, self.tuned = JITFunction(fn), Autotuner

    def test_arguments_compile_it(self):
        answer = swizproof.kernel(self.kernel, 1, 2, PTX=self.file(SLOW))
        self.assertEqual([(one.kernel, one.block) for one in answer.kernels], [("slow", "32,1,1")])
        self.assertEqual((answer.kernels[0].accesses[0].wavefronts, answer.verdict), (32, "refuted"))
        self.assertEqual(swizproof.kernel(self.kernel).to_dict(), answer.to_dict())  # what it was compiled for
        again = subprocess.run([os.environ["SWIZPROOF_BINARY"], *answer.command.split()[1:]], capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 1, again.stderr)  # the command line that the answer names
        self.assertIn("32", again.stdout)

    def test_warps_and_shared_memory_are_taken(self):
        dynamic = SLOW.replace(".reqntid 32\n", "").replace("  .shared .align 4 .b8 tile[4096];\n", "")
        dynamic = dynamic.replace(".visible", ".extern .shared .align 16 .b8 tile[];\n.visible")
        answer = swizproof.kernel(self.kernel, PTX=self.file(dynamic), num_warps=2, shared=8192)
        self.assertEqual((answer.kernels[0].block, answer.kernels[0].accesses[0].in_bounds), ("64,1,1", True))
        answer = swizproof.kernel(self.kernel, PTX=self.file(dynamic, "b.ptx"), num_warps=2, shared=8192, shared_bytes=4096)
        self.assertEqual(answer.kernels[0].accesses[0].in_bounds, False)

    def test_an_autotuner_has_all_its_configurations(self):
        tuned = self.tuned(self.kernel, [{"PTX": self.file(SLOW)}, {"PTX": self.file(FAST, "fast.ptx")}])
        self.assertEqual(sorted(one.kernel for one in swizproof.kernel(tuned, 1).kernels), ["fast", "slow"])
        open_block = SLOW.replace(".reqntid 32\n", "")
        tuned = self.tuned(type(self.kernel)(fn), [{"PTX": self.file(open_block), "num_warps": n} for n in (1, 2)])
        with self.assertRaisesRegex(swizproof.InputError, r"several blocks: \(32,\), \(64,\)[\s\S]*block=128"):
            swizproof.kernel(tuned, 1)
        self.assertEqual([one.block for one in swizproof.kernel(tuned, 1, block=32).kernels], ["32,1,1"])

    def test_parameters_have_the_names_of_the_arguments(self):
        def scale(x, BLOCK: "tl.constexpr", pair, n, one):
            pass

        head = "(.param .u64 .ptr .global .align 1 scale_param_0, .param .u32 scale_param_1, .param .f32 scale_param_2,\n .param .u32 scale_param_3{})"
        scratch = ", .param .u64 .ptr .global .align 1 scale_param_4, .param .u64 scale_param_5"
        text = SLOW.replace("(.param .u64 out)", head.format(scratch)).replace("slow", "scale").replace("mul.lo.u32 %r2, %r1, 128;", "ld.param.u32 %r7, [scale_param_3];\n  mul.lo.u32 %r2, %r1, %r7;")
        kernel, path = type(self.kernel)(scale), self.file(text)
        answer = swizproof.kernel(kernel, "x", 64, (3, 1.5), 5, 1, PTX=path)
        (access,) = answer.kernels[0].accesses
        self.assertEqual((access.counterexample.values, "n" in access.address, "param_" in str(answer.to_dict())), ({"n": 64}, True, False))
        self.assertEqual(swizproof.kernel(kernel, "x", 64, (3, 1.5), 5, 1, PTX=path, param="n=4").verdict, "proved")
        # What does not fit the signature keeps its numbers: the size, the number, and a name that the PTX has for something else.
        types = {"x": "*fp32", "BLOCK": "constexpr", "pair": ("i32", "fp32"), "n": "i32", "one": "constexpr"}
        for changed, kept in (({"n": "i64"}, text), ({"one": "i32"}, text), ({"x": "nvTmaDesc"}, text), ({}, text.replace(scratch, scratch + ", .param .u64 scale_param_6"))):
            self.assertEqual(_parameters.named_parameters(kept, "scale", {**types, **changed}), kept)
        named = _parameters.named_parameters(text, "scale", {"x": "*fp32", "pair": ("i32", "fp32"), "tile": "i32"})
        self.assertIn("[scale_param_3]", named)
        self.assertEqual(re.findall(r"\w+(?=[,)\n])", named[named.index("(") : named.index(")") + 1]), ["x", "pair_0", "pair_1", "scale_param_3", "global_scratch", "profile_scratch"])

    def test_configurations_of_one_kernel_are_told_apart(self):
        def matmul(x, n, BLOCK: "tl.constexpr", PTX: "tl.constexpr"):
            pass

        slow, fast = self.file(SLOW), self.file(FAST.replace("fast", "slow"), "fast.ptx")
        configs = [{"BLOCK": 64, "PTX": slow, "num_warps": 4}, {"BLOCK": 32, "PTX": fast, "num_warps": 8}]
        kernel = type(self.kernel)(matmul)
        with unittest.mock.patch.object(_compiled, "triton_text", lambda text, metadata, signature: _compiled.Code(metadata["name"], text)):
            answer = swizproof.kernel(self.tuned(kernel, configs), "x", 1)
            with self.assertRaises(swizproof.NotProved) as caught, swizproof.recording() as seen:
                self.tuned(kernel, configs).warmup("x", 1, grid=(1,))
        self.assertRegex(str(answer), r"(?m)^slow  BLOCK: 64, PTX: \S*, num_warps: 4  block 32,1,1$")
        self.assertRegex(str(answer), r"(?m)^slow  BLOCK: 32, PTX: \S*, num_warps: 8  block 32,1,1$")
        self.assertIn("BLOCK: 32", answer._repr_html_())
        self.assertRegex(str(caught.exception), r"(?m)^refuted  matmul.BLOCK=64,PTX=\S*,num_warps=4.ptx: slow$")
        self.assertEqual(len({claim.name for claim in seen.claims}), 2)
        two = _compiled.told_apart([_compiled.Code("k", text, choices=(("n", "i32"),)) for text in (SLOW, FAST)])
        self.assertEqual([one.config for one in two], ["", "variant: 2"])

    def test_machine_code_is_that_of_the_compiled_kernel(self):
        cubin = b"\x7fELF".ljust(18, b"\0") + b"\xbe\0" + bytes(40)
        dump = ROOT / "gpu" / "examples" / "sass" / "transpose.sass"
        kernel, slow = type(self.kernel)(fn), self.file(SLOW)
        tools = self.folder / "triton" / "backends" / "nvidia" / "bin"
        (self.folder / "sh").symlink_to(shutil.which("sh"))
        with unittest.mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            with self.assertRaisesRegex(swizproof.InputError, "needs nvdisasm of the CUDA toolkit, which is not in the PATH"):
                swizproof.kernel(kernel, PTX=slow, CUBIN=cubin, sass=True)
            # The one that Triton brings is found.
            tools.mkdir(parents=True)
            (tools / "nvdisasm").write_text(f"#!/bin/sh\nexec /bin/cat {dump}\n")
            (tools / "nvdisasm").chmod(0o755)
            found = unittest.mock.Mock(submodule_search_locations=[str(self.folder / "triton")])
            with unittest.mock.patch.object(_compiled.importlib.util, "find_spec", return_value=found):
                answer = swizproof.kernel(kernel, PTX=slow, CUBIN=cubin, sass=True, block=(32, 8))
            self.assertEqual(os.environ["PATH"], str(self.folder))
        self.assertEqual((len(answer.kernels), answer.kernels[0].accesses[0].sass_line is not None), (3, True))
        self.assertEqual(_compiled.Code("k", SLOW).block_of(True), (32,))
        with self.assertRaisesRegex(swizproof.InputError, "no machine code of fn[\\s\\S]*gemm.cubin"):
            swizproof.kernel(kernel, PTX=slow, sass=True)

    def test_a_name_of_both_is_refused(self):
        def dropout(x, seed, base=0):
            pass

        kernel, slow = type(self.kernel)(dropout), self.file(SLOW)
        with self.assertRaisesRegex(swizproof.InputError, r"seed and base: .*both have[\s\S]*options=\{'seed': 7, 'base': 2\} for swizproof's; .*by position, or add options=\{\}"):
            swizproof.kernel(kernel, "x", seed=7, base=2, PTX=slow)
        with unittest.mock.patch.object(type(kernel), "warmup", autospec=True, side_effect=type(kernel).warmup) as asked:
            answer = swizproof.kernel(kernel, "x", seed=7, PTX=slow, races=True, options={"base": "ptx", "shared_bytes": 64})
        self.assertEqual(asked.call_args.kwargs["seed"], 7)
        self.assertEqual([one for one in answer.command.split() if "=" in one], ["--shared-bytes=64", "--base=ptx"])
        self.assertNotIn("base", asked.call_args.kwargs)
        self.assertIsNotNone(answer.kernels[0].races)
        for wrong in ({"options": {"sed": 1}}, {"options": 3}, {"races": True, "options": {"races": False}}):
            with self.subTest(wrong), self.assertRaises(swizproof.InputError):
                swizproof.kernel(kernel, "x", 7, PTX=slow, **wrong)
        numba = unittest.mock.Mock(spec=["py_func", "inspect_asm", "overloads"], py_func=lambda block: None)
        with self.assertRaisesRegex(swizproof.InputError, "block: .*both"):
            swizproof.kernel(numba, 1, block=(32, 8))
        with self.assertRaisesRegex(swizproof.InputError, "block: .*both"), swizproof.recording() as seen:
            seen.add(numba, 1, block=(32, 8))

    def test_what_is_not_compiled_says_so(self):
        with self.assertRaisesRegex(swizproof.InputError, "the kernel fn is not compiled yet\n.*swizproof.kernel\\(fn, x"):
            swizproof.kernel(self.kernel)

    def test_a_notebook_has_the_source(self):
        source = self.file("a\nload(x)\n", "gemm.py")
        lines = FAST.replace("  ld.shared", "  .loc 1 2 0\n  ld.shared") + f'.file 1 "{source}"\n'
        page = swizproof.kernel(self.kernel, PTX=self.file(lines))._repr_html_()
        xml.etree.ElementTree.fromstring(page)
        self.assertIn("<td>gemm.py:2</td>", page)
        self.assertIn("<td>load(x)</td>", page)


class Texts(Folder):
    """What print() shows of an answer about files."""

    #: Each lane writes its word and reads that of the next lane, with no barrier between; and both words lie in global memory, too.
    RACE = FAST.replace("  ld.shared.u32 %r5, [%r4];", """  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 128;
  add.u64 %rd3, %rd1, %rd2;
  .loc 1 2 0
  st.shared.u32 [%r4], %r1;
  .loc 1 3 0
  ld.shared.u32 %r5, [%r4+4];
  .loc 1 4 0
  st.global.u32 [%rd3], %r5;""")

    def setUp(self):
        super().setUp()
        source = self.file("\nwrite(x)\nread(x)\nstore(y)\n", "k.py")
        self.race = self.file(self.RACE.replace(".reqntid 32", ".reqntid 64") + f'.file 1 "{source}"\n', "race.ptx")

    def test_races_and_the_verdict_are_shown(self):
        answer = swizproof.kernel(self.race, races=True)
        lines = str(answer).splitlines()
        self.assertEqual((answer.verdict, lines[-1].split("; ")), ("refuted", ["refuted: 2 proved, 0 refuted, 0 depend on data, 0 unknown", "kernels: 0 race free, 1 with races, 0 undecided"]))
        (at,) = [i for i, one in enumerate(lines) if "race: thread" in one]
        self.assertRegex(lines[at], r"^refuted  race: thread \(0,0,0\) reads byte 0x\w+ \(tile\+4\) at k.py:3, thread \(1,0,0\) writes it at k.py:2$")
        self.assertEqual([one.strip() for one in lines[at + 1 : at + 3]], ["read(x)", "write(x)"])
        self.assertIn("in a block of 64,1,1", lines[at + 3])
        self.assertIn("race: thread", answer._repr_html_())
        free = swizproof.kernel(self.file(FAST, "fast.ptx"), races=True)
        self.assertRegex(str(free), "\nproved   race free[^\n]*\nproved: 1 proved, [^\n]*kernels: 1 race free, 0 with races, 0 undecided$")

    def test_inlined_code_has_the_line_of_the_kernel(self):
        """As Triton inlines tl.sum: code of standard.py, at a line of the kernel."""
        files = '.file 1 "/a/k.py"\n.file 2 "/b/standard.py"\n.section .debug_str {\n$L__info_string0: .b8 115, 0\n}\n'
        inlined = "  .loc 2 290 4, function_name $L__info_string0, inlined_at {} 9 3\n  ld.shared"
        for of, shown in ((1, "standard.py:290 from k.py:9"), (2, "standard.py:290 from 9")):
            path = self.file(self.RACE.replace(".reqntid 32", ".reqntid 64").replace("  ld.shared", inlined.format(of)).replace("  .loc 1 3 0\n", "") + files, f"inlined{of}.ptx")
            answer = swizproof.kernel(path, races=True)
            self.assertRegex(str(answer), f"\nproved   {shown}  ld.shared.u32")
            self.assertRegex(str(answer), f"reads byte 0x\\w+ .tile.4. at {shown}, thread .* writes it at k.py:2")
            self.assertIn(f"<td>{shown}</td>", answer._repr_html_())

    def test_global_memory_is_shown(self):
        answer = swizproof.kernel(self.race, global_=True)
        self.assertIn("refuted  k.py:4  st.global.u32  32 sectors of global memory, ideal 4\n         store(y)\n", str(answer))
        self.assertRegex(str(answer), "refuted: 2 proved, 1 refuted, [^\n]*$")

    def test_a_comparison_is_shown(self):
        fast, slow = self.file(FAST.replace("fast", "k"), "a.ptx"), self.file(SLOW.replace("slow", "k"), "b.ptx")
        worse, better = swizproof.kernel(slow, since=fast), swizproof.kernel(fast, since=slow)
        self.assertRegex(str(worse), f"^worse    .*ld.shared.u32  31 wavefronts above the ideal, 0 before  k\nrefuted: compared with {fast}: 1 worse, 0 unknown, 0 better, .*0 the same")
        self.assertRegex(str(better), "^better   .*ld.shared.u32  0 wavefronts above the ideal, 31 before  k\nproved: compared with .*: 0 worse, 0 unknown, 1 better")
        self.assertIn("1 worse", worse._repr_html_())

    def test_a_dict_gives_names_and_values(self):
        shape = swizproof.kernel(TRANSPOSE, block={".*Naive.*": (32, 8), ".*Padded.*": (16, 16)}, param={0: 256, "#1": "512"})
        self.assertEqual([word for word in shape._words if word.startswith("--")][:4], ["--block=.*Naive.*=32,8", "--block=.*Padded.*=16,16", "--param=0=256", "--param=#1=512"])

    def test_operands_and_fixes_are_shown(self):
        answer = swizproof.kernel(TRANSPOSE, block=(32, 8), kernel="Naive")
        self.assertIn("fix of array staged, bytes 0x0..0x1000: 1056 wavefronts, ideal 64; 64 with Sw<5,2,5> of bytes, fn(x) = x ^ ((x >> 5) & 0x7c); 64 with 4 bytes after each 128", str(answer))
        copy = SLOW.replace("  ld.shared.u32 %r5, [%r4];", "  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [out];\n  add.u32 %r6, %r3, 4;\n"
                            "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd1], 64, [%r3];")  # fmt: skip
        answer = swizproof.kernel(self.file(copy))
        self.assertEqual((answer.verdict, answer.kernels[0].operands[0].verdict), ("refuted", "refuted"))
        self.assertRegex(str(answer), "refuted  PTX line .*destination: a multiple of 16 bytes is needed, 4 found")

    def test_a_claim_is_short(self):
        entry = self.file(f'[[kernel]]\nptx = "{self.race}"\nraces = true\n', "entry.toml")
        self.assertLess(len(repr(swizproof.prove(entry).claims[0]).splitlines()), 12)


class OfNumba(Folder):
    def setUp(self):
        super().setUp()
        import numba.cuda
        import numba.cuda.dispatcher as dispatcher

        self.asked = numba.cuda.asked
        self.asked.clear()
        self.types = numba.types
        self.kernel = dispatcher.CUDADispatcher(fn, {})
        self.compiled = dispatcher._Kernel("transpose", PTX)

    def test_arguments_or_types_compile_it(self):
        answer = swizproof.kernel(self.kernel, 1.5, self.types.Type("float32"), block=(32, 8), arch="sm_80")
        self.assertEqual([len(answer.kernels), answer.kernels[0].block], [3, "32,8,1"])
        ((function, types, cc, lines),) = self.asked
        self.assertEqual((function, [one.name for one in types], cc, lines), (fn, ["float", "float32"], (8, 0), True))

    def test_a_configured_kernel_has_its_block(self):
        self.assertEqual(swizproof.kernel(self.kernel[1, (32, 16, 1)], 1).kernels[0].block, "32,16,1")

    def test_what_was_compiled_is_taken(self):
        with self.assertRaisesRegex(swizproof.InputError, "fn is not compiled yet"):
            swizproof.kernel(self.kernel)
        self.kernel.overloads["sig"] = self.compiled
        self.assertEqual(len(swizproof.kernel(self.kernel, block=(32, 8)).kernels), 3)
        with self.assertRaisesRegex(swizproof.InputError, "no keyword blok\n[\\s\\S]*by position"):
            swizproof.kernel(self.kernel, blok=3)

    def test_launches_are_recorded(self):
        self.kernel.overloads["sig"] = self.compiled
        with self.assertRaisesRegex(swizproof.NotProved, "Naive[\\s\\S]*32 wavefronts, ideal 1") as caught:
            with swizproof.recording() as seen:
                self.kernel[1, (32, 8, 1)](1, 2)
        self.assertIs(caught.exception.recording, seen)
        self.assertEqual([claim.verdict for claim in seen.claims], ["refuted", "proved", "proved"])
        self.assertTrue(all("block 32,8,1" in claim.name for claim in seen.claims))


class OfOthers(Folder):
    def test_cupy_is_compiled_by_nvrtc(self):
        import cupy
        from cupy.cuda import nvrtc

        nvrtc.asked.clear()
        self.enterContext(unittest.mock.patch.dict(os.environ, {"CUDA_PATH": str(self.folder)}))
        answer = swizproof.kernel(cupy.RawKernel("// mine\n", "transpose", ("-DN=1",)), block=(32, 8))
        self.assertEqual(len(answer.kernels), 3)
        ((source, name, words),) = nvrtc.asked
        self.assertEqual(pathlib.Path(name).read_text(), source)  # lines of the PTX name this file
        self.assertIn(f"-I{self.folder}/include", words)  # CuPy's headers include the toolkit's cuda_fp16.h
        self.assertEqual(set(words) >= {"-DN=1", "-lineinfo", "-arch=compute_90", "--std=c++17"}, True)
        with self.assertRaisesRegex(swizproof.InputError, "NVRTC does not compile bad[\\s\\S]*identifier is undefined"):
            swizproof.kernel(cupy.RawKernel("error", "bad"))
        with self.assertRaisesRegex(swizproof.InputError, "takes no arguments here[\\s\\S]*block=\\(32, 8\\)"):
            swizproof.kernel(cupy.RawKernel("", "k"), 1)

    def test_cute_dsl_keeps_its_ptx_or_says_how(self):
        from cutlass.base_dsl.jit_executor import JitCompiledFunction

        self.assertEqual(swizproof.kernel(JitCompiledFunction("gemm", FAST + "\0\0")).verdict, "proved")
        with self.assertRaisesRegex(swizproof.InputError, "kept no PTX of gemm\n.*CUTE_DSL_KEEP=ptx"):
            swizproof.kernel(JitCompiledFunction("gemm", None))
        with self.assertRaisesRegex(swizproof.NotProved, "not read .*kept no PTX of gemm"), swizproof.recording():
            JitCompiledFunction("gemm", None)

    def test_inductor_reads_the_cache_of_what_was_launched(self):
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner
        from triton.runtime.jit import CompiledKernel, write_cache

        write_cache(self.folder / "triton" / "HASH", CompiledKernel("triton_red", SLOW, 1, 0))

        def compiled(x):
            CachingAutotuner(fn, x).run(stream=0)

        compiled._torchdynamo_orig_callable = fn
        with unittest.mock.patch.dict(os.environ, {"TRITON_CACHE_DIR": str(self.folder / "triton")}):
            self.assertEqual(swizproof.kernel(compiled, "HASH").kernels[0].kernel, "slow")
            with self.assertRaisesRegex(swizproof.InputError, "no PTX of fn in .*OTHER"):
                swizproof.kernel(compiled, "OTHER")
        compiled = unittest.mock.Mock(spec=["_orig_mod", "__call__"])
        with self.assertRaisesRegex(swizproof.InputError, "no kernel of Triton was launched"):
            swizproof.kernel(compiled, 1)

    def test_other_objects_are_refused(self):
        with self.assertRaisesRegex(swizproof.InputError, "an object of type function is no compiled kernel[\\s\\S]*@cuda.jit"):
            swizproof.kernel(fn)
        with self.assertRaisesRegex(swizproof.InputError, "an object of type int is no"):
            swizproof.kernel(3)


class Recording(Folder):
    def setUp(self):
        super().setUp()
        from triton.runtime.jit import JITFunction

        self.slow, self.fast, self.jit = self.file(SLOW, "slow.ptx"), self.file(FAST, "fast.ptx"), JITFunction
        self.kernel = JITFunction(fn)

    def test_each_kernel_is_checked_once(self):
        with swizproof.recording() as seen:
            for _ in range(3):
                self.kernel[(1,)](1, 2, PTX=self.fast)
        self.assertEqual([(claim.verdict, "fast" in claim.name) for claim in seen.claims], [("proved", True)])
        with swizproof.recording() as seen:  # in memory already, but launched
            self.kernel[(1,)](1, 2, PTX=self.fast)
        self.assertEqual(len(seen.claims), 1)

    def test_a_budget_is_kept_or_broken(self):
        with swizproof.recording(excess=31):
            self.kernel[(1,)](PTX=self.slow)
        with self.assertRaises(swizproof.NotProved) as caught, swizproof.recording(excess=30):
            self.kernel[(1,)](PTX=self.slow)
            self.kernel[(1,)](PTX=self.fast)
        self.assertRegex(str(caught.exception), "1 of 2 kernels are not proved .* 30 wavefronts[\\s\\S]*refuted .*slow[\\s\\S]*ld.shared.u32  32 wavefronts, ideal 1")
        self.assertNotIn("fast", str(caught.exception))

    def test_what_is_not_decided_fails_unless_it_is_allowed(self):
        odd = SLOW.replace("mul.lo.u32 %r2, %r1, 128", "popc.b32 %r2, %clock").replace("%r2, %clock", "%r2, %r7")
        path = self.file(odd, "odd.ptx")
        with self.assertRaisesRegex(swizproof.NotProved, "unknown"), swizproof.recording():
            self.kernel[(1,)](PTX=path)
        with swizproof.recording(undecided="allow") as seen:
            self.kernel[(1,)](PTX=path)
        self.assertEqual([claim.verdict for claim in seen.claims], ["unknown"])

    def test_nothing_recorded_is_no_proof(self):
        with self.assertRaisesRegex(swizproof.NotProved, "no kernel was compiled or launched"), swizproof.recording():
            pass
        with swizproof.recording(empty="allow"):
            pass

    def test_an_error_of_the_block_comes_first(self):
        with self.assertRaises(ZeroDivisionError), swizproof.recording():
            self.kernel[(1,)](PTX=self.slow)
            1 // 0

    def test_afterwards_nothing_is_watched(self):
        before = vars(self.jit)["run"]
        with self.assertRaises(swizproof.NotProved), swizproof.recording(), swizproof.recording(empty="allow"):
            self.assertIsNot(vars(self.jit)["run"], before)
        self.assertIs(vars(self.jit)["run"], before)

    def test_a_kernel_is_added_by_hand(self):
        with self.assertRaisesRegex(swizproof.NotProved, "slow"), swizproof.recording() as seen:
            seen.add(self.kernel, PTX=self.slow)

    def test_what_cannot_be_read_fails(self):
        with self.assertRaisesRegex(swizproof.NotProved, "1 of 1 kernels.*\n.*not read .*fn: "), swizproof.recording():
            self.kernel[(1,)](PTX=self.file("not PTX", "bad.ptx"))
        with unittest.mock.patch.object(_hooks, "triton_code", side_effect=AttributeError("asm")):
            with self.assertRaisesRegex(swizproof.NotProved, "cannot be read: AttributeError\\('asm'\\)"), swizproof.recording():
                self.kernel[(1,)](PTX=self.fast)

    def test_races_are_checked(self):
        race = self.file(Texts.RACE, "race.ptx").replace(" ", "")
        with swizproof.recording():
            self.kernel[(1,)](PTX=race)
        with self.assertRaisesRegex(swizproof.NotProved, "and to have no race\n[\\s\\S]*refuted  .*race: thread"), swizproof.recording(races=True):
            self.kernel[(1,)](PTX=race)
        with swizproof.recording(races=True, proxy="off"):
            self.kernel[(1,)](PTX=self.fast)

    def test_lines_are_allowed_more(self):
        lines = "  .loc 1 {} 0\n  ld.shared"
        slow, fast = (self.file(text.replace("  ld.shared", lines.format(at)) + '.file 1 "/a/k.py"\n', f"{at}.ptx") for text, at in ((SLOW, 3), (FAST, 4)))
        allow = [{"line": "k.py:3", "at_most": 32, "kernel": "slow"}, {"line": "k.py:4", "at_most": 2}]
        with swizproof.recording(allow=allow) as seen:
            self.kernel[(1,)](PTX=slow)
            self.kernel[(1,)](PTX=fast)
        self.assertEqual([claim.verdict for claim in seen.claims], ["proved", "proved"])
        with self.assertRaisesRegex(swizproof.NotProved, "32 wavefronts, ideal 1"), swizproof.recording(allow=[{"line": "k.py:3", "at_most": 31}]):
            self.kernel[(1,)](PTX=slow)
        with self.assertRaisesRegex(swizproof.NotProved, r'^swizproof: no recorded kernel has an access at the line of the allowance {line = "k.py:4", at_most = 2}$'), swizproof.recording(allow=allow):
            self.kernel[(1,)](PTX=slow)
        with self.assertRaisesRegex(swizproof.NotProved, "not read [\\s\\S]*at_mots"), swizproof.recording(allow=[{"line": "k.py:3", "at_mots": 31}]):
            self.kernel[(1,)](PTX=slow)

    def test_wrong_words_are_refused(self):
        for options in ({"allow": ["k.py:3"]}, {"allow": [{"line": None}]}, {"races": 1}, {"proxy": "off"}, {"proxy": "x", "races": True}, {"excess": -1}, {"excess": True}, {"excess": "0"}, {"data": "no"}, {"undecided": "x"}, {"empty": "x"}):
            with self.subTest(options), self.assertRaises(swizproof.InputError):
                swizproof.recording(**options)


class Cache(Folder):
    def test_a_text_has_one_file(self):
        one, two = (_compiled.Code("k", text).path() for text in (SLOW, FAST))
        self.assertEqual((one.read_text(), two.read_text()), (SLOW, FAST))
        self.assertEqual(_compiled.Code("k", SLOW).path(), one)
        self.assertEqual(_compiled.Code("a/../b c", SLOW).path().name, "a_.._b_c.ptx")

    def test_a_folder_that_cannot_be_written_has_another(self):
        with unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": self.file("", "cache-is-a-file")}):
            self.assertEqual(_compiled.Code("k", SLOW).path().read_text(), SLOW)


@unittest.skipUnless(importlib.util.find_spec("pytest"), "not run: there is no pytest here")
class Pytest(Folder):
    def run_pytest(self, text, *words):
        self.file(textwrap.dedent(text), "test_it.py")
        path = os.pathsep.join([str(pathlib.Path(swizproof.__file__).parent.parent), str(HERE / "standins"), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "swizproof.pytest_plugin", "-p", "no:cacheprovider", "-q", *words, "test_it.py"],
            cwd=self.folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    TEST = """
        import pytest, unittest, asyncio
        from triton.runtime.jit import JITFunction
        def fn(): pass
        kernel = JITFunction(fn)
        def test_slow(): kernel[(1,)](PTX="slow.ptx")
        def test_fast(): kernel[(1,)](PTX="fast.ptx")
        @pytest.mark.swizproof(excess=31)
        def test_marked(): kernel[(1,)](PTX="slow.ptx")
        def test_none(): pass
        class Old(unittest.TestCase):
            def test_old(self): kernel[(1,)](PTX="slow.ptx")
        """

    def test_tests_over_the_budget_fail(self):
        self.file(SLOW, "slow.ptx"), self.file(FAST, "fast.ptx")
        code, text = self.run_pytest(self.TEST)
        self.assertEqual(code, 0, text)
        self.assertIn("5 passed", text)
        code, text = self.run_pytest(self.TEST, "--swizproof-excess", "0")
        self.assertEqual(code, 1, text)
        self.assertRegex(text, "2 failed, 3 passed")
        self.assertRegex(text, "FAILED test_it.py::test_slow - swizproof.NotProved")
        self.assertRegex(text, "FAILED test_it.py::Old::test_old")
        self.assertIn("32 wavefronts, ideal 1", text)
        self.assertNotIn("pytest_plugin.py", text)  # no line of the plugin is shown
        self.assertIn("swizproof: 4 kernels checked", text)

    def test_races_fail_tests(self):
        self.file(Texts.RACE, "slow.ptx"), self.file(FAST, "fast.ptx")
        code, text = self.run_pytest(self.TEST, "--swizproof-excess", "0")
        self.assertEqual(code, 0, text)
        code, text = self.run_pytest(self.TEST, "--swizproof-races")
        self.assertEqual((code, "3 failed, 2 passed" in text, "race: thread" in text), (1, True, True), text)
        self.assertIn("swizproof: 4 kernels checked", text)

    def test_wrong_words_are_refused(self):
        code, text = self.run_pytest("def test_none(): pass", "--swizproof-excess", "-1")
        self.assertEqual(code, 4, text)
        self.assertIn("such as --swizproof-excess 0", text)
        code, text = self.run_pytest("import pytest\n@pytest.mark.swizproof(exces=1)\ndef test_none(): pass")
        self.assertEqual(code, 1, text)
        self.assertIn("exces", text)
        code, text = self.run_pytest("def test_none(): pass", "--swizproof-excess", "0")
        self.assertIn("no kernel was compiled or launched", text)


class Real(Folder):
    """The packages themselves."""

    def said(self, package, text, excuses):
        """What a script says, without stand-ins; skips where a package says that it cannot compile here."""
        script = self.file(textwrap.dedent(text), "script.py")
        done = subprocess.run([sys.executable, "-W", "ignore", script], capture_output=True, text=True, check=False)
        if done.returncode and any(one in done.stderr for one in [*excuses, f"No module named '{package}'"]):
            self.skipTest(f"not run: {done.stderr.strip().splitlines()[-1]}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_numba(self):
        lines = self.said(
            "numba",
            """
            import swizproof
            from numba import cuda, float32
            @cuda.jit
            def transpose(a, b):
                tile = cuda.shared.array((32, 32), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                tile[y, x] = a[y, x]
                cuda.syncthreads()
                b[y, x] = tile[x, y]
            answer = swizproof.kernel(transpose, float32[:, :], float32[:, :], block=(32, 32))
            for one in answer.kernels[0].accesses:
                print(one.line, one.op, one.wavefronts, one.source.strip())
            """,
            ["NvvmSupportError", "NVVM_ERROR"],
        )
        self.assertEqual(lines, ["8 st.f32 1 tile[y, x] = a[y, x]", "10 ld.f32 32 b[y, x] = tile[x, y]"])

    def test_the_page(self):
        page = (ROOT / "docs" / "python-kernels.md").read_text()
        script, said = (re.search(rf"```{kind}\n(.*?)```", page, re.S)[1] for kind in ("python", "text"))
        lines = self.said("numba", script.replace("with swizproof", "try:\n  with swizproof").replace("\n    seen", "\n      seen") + "except swizproof.NotProved as error:\n    print(error)\n", ["NvvmSupportError", "NVVM_ERROR"])
        lines = [one for one in lines if not one.startswith(("fix of", "no fix of", "assumed:"))]  # which the page leaves out
        self.assertEqual("\n".join(lines), said.replace("kernels.py", "script.py").rstrip())

    def test_triton(self):
        lines = self.said(
            "triton",
            """
            import torch, triton, triton.language as tl, swizproof
            @triton.jit
            def transpose(x, y, B: tl.constexpr):
                i, j = tl.arange(0, B), tl.arange(0, B)
                tl.store(y + i[:, None] * B + j[None, :], tl.trans(tl.load(x + i[:, None] * B + j[None, :])))
            x = torch.zeros(64, 64, device="cuda")
            answer = swizproof.kernel(transpose, x, x, B=64)
            print(len(answer.kernels), {one.line for one in answer.kernels[0].accesses} <= {6})
            with swizproof.recording(excess=31) as seen:
                transpose[(1,)](x, x, B=64)
            print(len(seen.claims))
            """,
            ["0 active drivers", "libcuda", "No module named 'torch'", "NVIDIA driver"],
        )
        self.assertEqual(lines, ["1 True", "1"])


if __name__ == "__main__":
    unittest.main()
