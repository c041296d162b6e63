"""Kernels that packages compile and launch while a block of Python runs."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import os
import pathlib
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._compiled import Code, cute_code, plain, triton_code, triton_folder
from ._errors import InputError


def _triton(self: Any, call: Dict[str, Any], made: Any) -> List[Code]:
    return [] if made is None else [triton_code(made)]


def _inductor(self: Any, call: Dict[str, Any], made: Any) -> List[Code]:
    """The kernel that an autotuner of Inductor launched: of its configurations, the one that was chosen."""
    launcher = self.launchers[0]
    cache = os.environ.get("TRITON_CACHE_DIR")
    if cache is None:
        utils = importlib.import_module("torch._inductor.runtime.cache_dir_utils")
        cache = utils.triton_cache_dir(self.device_props.index)
    codes = triton_folder(pathlib.Path(cache, launcher.cache_hash), getattr(self, "triton_meta", {}).get("signature"))
    if not codes:
        raise InputError(f"the cache of Triton has no PTX of {self.fn.__name__} in {cache}/{launcher.cache_hash}")
    return codes


def _numba(self: Any, call: Dict[str, Any], made: Any) -> List[Code]:
    device = importlib.import_module("numba.cuda").get_current_device()
    text = plain(self.inspect_asm(device.compute_capability))
    return [Code(getattr(self, "entry_name", "kernel"), text, tuple(call["blockdim"]), call.get("sharedmem") or None)]


def _cute(self: Any, call: Dict[str, Any], made: Any) -> List[Code]:
    return [cute_code(self)]


#: Methods that are watched: module, class, method, and the function that takes the code.
WATCHED: Tuple[Tuple[str, str, str, Callable[[Any, Dict[str, Any], Any], List[Code]]], ...] = (
    ("triton.runtime.jit", "JITFunction", "run", _triton),
    ("torch._inductor.runtime.triton_heuristics", "CachingAutotuner", "run", _inductor),
    ("numba.cuda.dispatcher", "_Kernel", "launch", _numba),
    ("cutlass.base_dsl.jit_executor", "JitCompiledFunction", "__init__", _cute),
    ("cutlass.base_dsl.jit_executor", "JitCompiledFunction", "run_compiled_program", _cute),
)


class Hooks:
    """A context in which compiled and launched kernels are noted: `codes`, each once, and the `failures` of those that cannot be read, with the reason of each."""

    def __init__(self) -> None:
        self._codes: Dict[Code, None] = {}
        self.failures: Dict[str, InputError] = {}
        self._kept: List[Tuple[type, str, Any]] = []

    def __enter__(self) -> "Hooks":
        for module, kind, method, take in WATCHED:
            owner = _owner(module, kind)
            if owner is not None and method in vars(owner):
                self._kept.append((owner, method, vars(owner)[method]))
                setattr(owner, method, self._watching(vars(owner)[method], take))
        return self

    def __exit__(self, *error: object) -> None:
        while self._kept:
            setattr(*self._kept.pop())

    @property
    def codes(self) -> List[Code]:
        """Codes in the order in which they came, each once."""
        return list(self._codes)

    def raise_first(self) -> None:
        """Raises the first failure, if there is one."""
        for failure in self.failures.values():
            raise failure

    def _watching(self, original: Any, take: Callable[[Any, Dict[str, Any], Any], List[Code]]) -> Any:
        signature = inspect.signature(original)

        @functools.wraps(original)
        def watched(this: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(this, *args, **kwargs)
            try:
                codes = take(this, signature.bind(this, *args, **kwargs).arguments, made)
                self._codes.update(dict.fromkeys(codes))
            except Exception as error:  # of a package's insides: the program that is watched goes on
                failure = error if isinstance(error, InputError) else InputError(f"a kernel of {type(this).__name__} cannot be read: {error!r}")
                self.failures.setdefault(str(failure), failure)
            return made

        return watched


def _owner(module: str, kind: str) -> Optional[type]:
    """A class of a package, or None if the package is not installed or cannot be imported."""
    try:
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            return None
        return getattr(importlib.import_module(module), kind, None)
    except Exception:  # such as libcuda.so that is missing: the program cannot import it either
        return None
