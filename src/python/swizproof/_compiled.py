"""PTX of kernels that Python packages compile: Triton, Numba, CuPy, CuTe DSL, torch.compile. None of them is imported before a kernel of it is given."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import pathlib
import re
import shutil
import tempfile
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from ._errors import InputError
from ._parameters import named_parameters
from ._text import refused

#: Shape of a block.
Block = Tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Code:
    """A compiled kernel: `text` is its PTX; `block` and `shared` (dynamic shared memory, in bytes) are None if they are not known. `choices` are constants, types of
    arguments and numbers of warps and stages that it was compiled for, `config` those that tell it from other kernels of its name: `BLOCK_M: 64, num_warps: 4`."""

    name: str
    text: str
    block: Optional[Block] = None
    shared: Optional[int] = None
    choices: Tuple[Tuple[str, str], ...] = dataclasses.field(default=(), compare=False)
    config: str = ""
    cubin: Optional[bytes] = dataclasses.field(default=None, compare=False, repr=False)

    def path(self, sass: bool = False) -> pathlib.Path:
        """The file of the PTX, or of the machine code, in the user's cache: the same text and `config` have the same file."""
        config = self.config.replace(": ", "=").replace(", ", ",")
        name = f"{self.name}{'.' * bool(config)}{config}"
        if not sass:
            return written(f"{name}.ptx", self.text)
        if self.cubin is None:
            raise InputError(f"there is no machine code of {self.name}: sass=True takes it from kernels of Triton alone", hint="give the file: swizproof.kernel('gemm.cubin', sass=True)")
        return written(f"{name}.cubin", self.cubin)

    def block_of(self, sass: bool) -> Optional[Block]:
        """The shape of a block, of machine code also that in the PTX's `.reqntid`."""
        found = re.search(r"\.reqntid\s+(\d+(?:\s*,\s*\d+)*)", self.text) if sass else None
        return tuple(map(int, found[1].split(","))) if found and not self.block else self.block


def told_apart(codes: Sequence[Code]) -> List[Code]:
    """The codes, with the `config` of each that shares its name with another."""
    names = collections.Counter(code.name for code in codes)
    seen: collections.Counter[Tuple[str, str]] = collections.Counter()
    out = []
    for code in codes:
        others = [one for one in codes if one.name == code.name]
        config = ", ".join(f"{key}: {value}" for key, value in code.choices if any(dict(one.choices).get(key) != value for one in others))
        seen[code.name, config] += 1
        number = seen[code.name, config]
        config += f"{', ' * bool(config)}variant: {number}" if number > 1 else ""
        out.append(dataclasses.replace(code, config=config) if names[code.name] > 1 else code)
    return out


def written(name: str, content: Union[str, bytes]) -> pathlib.Path:
    """A file of this content, in a folder of the user's cache that is named after it."""
    content = content.encode() if isinstance(content, str) else content
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(cache, "swizproof", hashlib.sha256(content).hexdigest()[:16])
    name = re.sub(r"[^\w.,=-]+", "_", name)[-200:]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="swizproof-"))
    path = folder / name
    if not path.exists():
        handle, draft = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(draft, path)
    return path


def plain(text: Any) -> str:
    """PTX as packages keep it: bytes, or text that ends with NUL."""
    return (text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)).rstrip("\0")


def fixed_block(text: str, threads: int) -> Optional[Block]:
    """The shape of a block of this many threads, or None if the PTX has its own in `.reqntid`."""
    return None if ".reqntid" in text else (threads,)


def is_triton_kernel(given: Any) -> bool:
    """True for a compiled kernel of Triton."""
    return hasattr(getattr(given, "asm", None), "keys") and hasattr(given, "metadata")


def triton_code(compiled: Any) -> Code:
    """The code of a compiled kernel of Triton."""
    compiled = compiled.result() if hasattr(compiled, "result") else compiled  # still in the making
    if "ptx" not in compiled.asm:
        raise InputError(f"the kernel {compiled.metadata.name} has no PTX: it was not compiled for a GPU of NVIDIA")
    metadata, source = vars_of(compiled.metadata), getattr(compiled, "src", None)
    code = triton_text(plain(compiled.asm["ptx"]), metadata, getattr(source, "signature", None))
    cubin = compiled.asm["cubin"] if "cubin" in compiled.asm else None
    return dataclasses.replace(code, choices=tuple(_choices(source, metadata)), cubin=cubin if isinstance(cubin, bytes) else None)


@contextlib.contextmanager
def tools_of_triton() -> Iterator[None]:
    """Within it the nvdisasm that Triton brings is in the PATH, if there is no other one."""
    spec = importlib.util.find_spec("triton")
    own = [str(pathlib.Path(folder, "backends", "nvidia", "bin")) for folder in (spec.submodule_search_locations or [] if spec else [])]
    path = os.environ.get("PATH", "")
    if shutil.which("nvdisasm") is None:
        os.environ["PATH"] = os.pathsep.join([path, *own])
    try:
        yield
    finally:
        os.environ["PATH"] = path


def _choices(source: Any, metadata: Dict[str, Any]) -> Iterator[Tuple[str, str]]:
    """Values of the constants, types of the other arguments, and what the launch fixes, in the order in which Triton's autotuner prints them."""
    constants = getattr(source, "constants", None) or {}
    for i, (name, kind) in enumerate((getattr(source, "signature", None) or {}).items()):
        yield name, str(constants.get((i,), kind) if kind == "constexpr" else kind)[:40]
    for name in ("num_warps", "num_ctas", "num_stages", "maxnreg"):
        if metadata.get(name) is not None:
            yield name, str(metadata[name])


def vars_of(metadata: Any) -> Dict[str, Any]:
    """The fields of a named tuple or an object."""
    return metadata._asdict() if hasattr(metadata, "_asdict") else dict(vars(metadata))


def triton_text(text: str, metadata: Dict[str, Any], signature: Optional[Dict[str, Any]] = None) -> Code:
    """PTX of Triton with the metadata next to it, and the types of its arguments."""
    text = named_parameters(text, str(metadata["name"]), signature or {})
    return Code(str(metadata["name"]), text, fixed_block(text, 32 * int(metadata["num_warps"])), metadata.get("shared") or None)


def triton_folder(folder: pathlib.Path, signature: Optional[Dict[str, Any]] = None) -> List[Code]:
    """The kernels of a folder of Triton's cache."""
    return [triton_text(ptx.read_text(), json.loads(ptx.with_suffix(".json").read_text()), signature) for ptx in sorted(folder.glob("*.ptx"))]


def innermost(fn: Any) -> Any:
    """The JITFunction within autotuners and heuristics."""
    while not inspect.isfunction(getattr(fn, "fn", None)) and hasattr(fn, "fn"):
        fn = fn.fn
    return fn


def argument_names(fn: Any) -> List[str]:
    """Names of the arguments of a kernel, or of a compiled function; none of an object without a function of Python."""
    owner = getattr(fn, "dispatcher", fn)  # of Numba's fn[grid, block]
    module = getattr(fn, "_orig_mod", None)
    found = (getattr(innermost(fn), "fn", None), getattr(owner, "py_func", None), getattr(fn, "_torchdynamo_orig_callable", None), getattr(module, "forward", None))
    for one in found:
        if inspect.isroutine(one):
            kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            return [name for name, parameter in inspect.signature(one).parameters.items() if parameter.kind not in kinds]
    return []


def _of_triton(fn: Any, args: Sequence[Any], launch: Dict[str, Any], arch: str) -> List[Code]:
    from ._hooks import Hooks

    jit = innermost(fn)
    name = getattr(jit, "__name__", "kernel")
    if args or launch:
        launch = {"grid": (1,), **launch}
        with Hooks() as seen:
            made = fn.warmup(*args, **launch)
        codes = [*seen.codes, *map(triton_code, filter(is_triton_kernel, made if isinstance(made, list) else [made]))]
        seen.raise_first()
        if not codes:
            raise InputError(f"Triton compiled nothing for {name}", hint="unset TRITON_INTERPRET, which runs kernels without a compiler")
        return codes
    caches = getattr(jit, "device_caches", None) or getattr(jit, "cache", {})
    per_device = [one[0] if isinstance(one, tuple) else one for one in caches.values()]
    codes = [triton_code(compiled) for cache in per_device for compiled in cache.values() if compiled is not None]
    if not codes:
        raise InputError(
            f"the kernel {name} is not compiled yet",
            hint="run it once, or give its arguments and constants: swizproof.kernel(fn, x, y, 1024, BLOCK=128, num_warps=4)",
        )
    return codes


def _of_numba(fn: Any, args: Sequence[Any], launch: Dict[str, Any], arch: str) -> List[Code]:
    block = tuple(fn.blockdim) if hasattr(fn, "blockdim") else None  # fn[grid, block]
    shared = getattr(fn, "sharedmem", None) or None
    fn = getattr(fn, "dispatcher", fn)
    name = fn.py_func.__name__
    if launch:
        raise refused(f"a kernel of Numba has no keyword {next(iter(launch))}", next(iter(launch.values())), "give its arguments by position")
    if not args:
        texts = list(fn.inspect_asm().values()) if fn.overloads else []
        if not texts:
            raise InputError(f"the kernel {name} is not compiled yet", hint="run it once, or give its arguments, or their types: swizproof.kernel(fn, float32[:, :])")
        return [Code(name, plain(text), block, shared) for text in texts]
    numba, cuda = importlib.import_module("numba"), importlib.import_module("numba.cuda")
    types = tuple(one if isinstance(one, numba.types.Type) else numba.typeof(one) for one in args)
    number = re.match(r"sm_(\d+)(\d)", arch)
    options = {"fastmath": bool(getattr(fn, "targetoptions", {}).get("fastmath")), "lineinfo": True}
    text, _ = cuda.compile_ptx(fn.py_func, types, device=False, cc=(int(number[1]), int(number[2])) if number else (9, 0), **options)
    return [Code(name, plain(text), block, shared)]


def _of_cupy(fn: Any, args: Sequence[Any], launch: Dict[str, Any], arch: str) -> List[Code]:
    if args or launch:
        raise refused("a kernel of CuPy takes no arguments here", (args or list(launch))[0], "give its block: swizproof.kernel(fn, block=(32, 8))")
    options: Tuple[str, ...] = ("-DCUPY_JIT_MODE", "--std=c++17")
    if hasattr(fn, "cached_codes"):
        name, texts = getattr(fn, "__name__", "kernel"), list(fn._cached_codes) and list(fn.cached_codes.values())
        if not texts:
            raise InputError(f"the kernel {name} is not compiled yet", hint="run it once")
    elif getattr(fn, "file_path", None):
        return [Code(fn.name, pathlib.Path(fn.file_path).read_text())]
    else:
        name, texts, options = fn.name, [fn.code], tuple(fn.options)
        if getattr(fn, "translate_cucomplex", False) or getattr(fn, "jitify", False):
            raise InputError(f"the source of {name} is rewritten before it is compiled (translate_cucomplex, jitify)", hint="compile it with nvcc -ptx -lineinfo, and give the file")
    return [Code(name, _nvrtc(name, text, options, getattr(fn, "name_expressions", None) or (), arch)) for text in texts]


def _toolkit_headers() -> List[str]:
    """Folders of the toolkit's headers, where CuPy finds them: CuPy's own headers include cuda_fp16.h."""
    root = importlib.import_module("cupy.cuda").get_cuda_path()
    found = [os.path.join(root, "include")] if root else []
    if importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.pathfinder"):
        wheels = importlib.import_module("cuda.pathfinder").find_nvidia_header_directory("cudart")
        found += [wheels] if wheels else []
    return found


def _nvrtc(name: str, source: str, options: Tuple[str, ...], expressions: Sequence[str], arch: str) -> str:
    """PTX of CUDA C++, by the NVRTC of CuPy; the source is in a file that lines can name."""
    cupy = importlib.import_module("cupy")
    nvrtc = getattr(importlib.import_module("cupy.cuda"), "nvrtc", None) or importlib.import_module("cupy_backends.cuda.libs.nvrtc")
    number = re.match(r"sm_\d+", arch)
    include = pathlib.Path(cupy.__file__).parent / "_core" / "include"
    headers = [f"-I{folder}" for folder in (include, *sorted((include / "cupy" / "_cccl").glob("*")), *_toolkit_headers())]
    std = () if any("std" in one for one in options) else ("--std=c++17",)
    words = (*options, *std, *headers, "-lineinfo", f"-arch={number[0].replace('sm', 'compute') if number else 'compute_90'}")
    program = nvrtc.createProgram(source, str(written(f"{name}.cu", source)), (), ())
    try:
        for one in expressions:
            nvrtc.addNameExpression(program, one)
        nvrtc.compileProgram(program, words)
        return plain(nvrtc.getPTX(program))
    except nvrtc.NVRTCError as error:
        raise InputError(f"NVRTC does not compile {name}: {error}", hint=plain(nvrtc.getProgramLog(program))) from error
    finally:
        nvrtc.destroyProgram(program)


def cute_code(compiled: Any) -> Code:
    """The code of a compiled function of CuTe DSL."""
    name = str(getattr(compiled, "function_name", "kernel"))
    if not compiled.__ptx__:
        hint = "set CUTE_DSL_KEEP=ptx (before 4.4 CUTE_DSL_KEEP_PTX=1) before cutlass is imported, or call cute.compile[cute.KeepPTX](..)"
        raise InputError(f"CuTe DSL kept no PTX of {name}", hint=hint)
    return Code(name, plain(compiled.__ptx__))


def _of_cute(fn: Any, args: Sequence[Any], launch: Dict[str, Any], arch: str) -> List[Code]:
    if args or launch:
        raise refused("a compiled function of CuTe DSL takes no arguments here", (args or list(launch))[0], "give what cute.compile returns, alone")
    return [cute_code(fn)]


def _of_inductor(fn: Any, args: Sequence[Any], launch: Dict[str, Any], arch: str) -> List[Code]:
    from ._hooks import Hooks

    with Hooks() as seen:
        fn(*args, **launch)
    seen.raise_first()
    if not seen.codes:
        raise InputError("no kernel of Triton was launched by this call", hint="give the arguments of a call on a GPU: swizproof.kernel(fn, x)")
    return seen.codes


def codes_of(fn: Any, args: Sequence[Any], launch: Dict[str, Any], arch: str) -> List[Code]:
    """The compiled kernels of an object, each once; with `args` and `launch`, those that a call with them takes. Raises InputError."""
    if is_triton_kernel(fn):
        codes = [triton_code(fn)]
    elif hasattr(fn, "_torchdynamo_orig_callable") or hasattr(fn, "_orig_mod"):
        codes = _of_inductor(fn, args, launch, arch)
    elif hasattr(getattr(fn, "dispatcher", fn), "inspect_asm"):
        codes = _of_numba(fn, args, launch, arch)
    elif hasattr(fn, "warmup") and hasattr(fn, "fn"):
        codes = _of_triton(fn, args, launch, arch)
    elif hasattr(fn, "cached_codes") or (hasattr(fn, "code") and hasattr(fn, "backend")):
        codes = _of_cupy(fn, args, launch, arch)
    elif hasattr(type(fn), "__ptx__") or hasattr(fn, "__ptx__"):
        codes = _of_cute(fn, args, launch, arch)
    else:
        hint = "give a file, or a kernel of Triton, Numba (@cuda.jit), CuPy (RawKernel), CuTe DSL (what cute.compile returns) or torch.compile"
        raise refused("TYPE is no compiled kernel", fn, hint)
    return list(dict.fromkeys(codes))
