"""Kernels that are compiled within a block of Python, checked against a budget."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from . import _questions
from ._compiled import Code, argument_names, codes_of, told_apart, tools_of_triton, written
from ._errors import InputError
from ._hooks import Hooks
from ._lines import kernel_lines, without_tags
from ._results import Claim, Kernel
from ._text import refused

_OPTIONS = tuple(inspect.signature(_questions.kernel).parameters)


@functools.wraps(_questions.kernel)
def kernel(*files: Any, **keywords: Any) -> Kernel:
    """Answers for files as the command does; else for a kernel and its arguments."""
    if not files or isinstance(files[0], str) or hasattr(files[0], "__fspath__"):
        return _questions.kernel(*files, **keywords)
    launch, options = split_keywords(files[0], keywords, _OPTIONS)
    codes = codes_of(files[0], files[1:], launch, str(options.get("arch", "sm_90")))
    sass = options.get("sass") is True
    _take_common([dataclasses.replace(code, block=code.block_of(sass)) for code in codes], "block", options)
    _take_common(codes, "shared_bytes", options)
    configs = {str(code.path(sass)): code.config for code in told_apart(list({code.text: code for code in reversed(codes)}.values())[::-1])}
    with tools_of_triton():
        answer = _questions.kernel(*configs, **options)
    for one in answer.kernels:
        one.config = configs.get(one.file, "")
    return answer


def split_keywords(fn: Any, keywords: Dict[str, Any], own: Sequence[str]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Keywords of a kernel's launch, and options of swizproof (`own` has their names). A name that both have is refused, unless the keyword
    `options` has swizproof's: then it is the kernel's."""
    names, given = argument_names(fn), dict(keywords)
    if "options" in given and "options" in names:
        raise InputError("the kernel has an argument options, and so has swizproof", hint="give the kernel's by position")
    options = given.pop("options", None)
    both = [name for name in given if name in names and name in own]
    if both and options is None:
        words = ", ".join(f"{name!r}: {given[name]!r}" for name in both)
        hint = f"type options={{{words}}} for swizproof's; for the kernel's give it by position, or add options={{}}"
        raise InputError(f"{' and '.join(both)}: the kernel and swizproof both have an argument of this name", hint=hint)
    if options is not None and not isinstance(options, dict):
        raise refused("options is a dict, and TYPE is none", options, "such as options={'seed': 1}")
    mine = {name: value for name, value in given.items() if name in own and name not in names}
    for name in options or {}:
        if name not in own:
            raise InputError(f"swizproof has no option {name} here", hint=f"it has {', '.join(own)}")
        if name in mine:
            raise InputError(f"{name} is given twice", hint="give it as a keyword or in options")
    return {name: value for name, value in given.items() if name not in mine}, {**mine, **(options or {})}


def _take_common(codes: List[Code], name: str, options: dict[str, Any]) -> None:
    """Takes what all codes agree on into the options that lack it."""
    found = {code.block if name == "block" else code.shared for code in codes}
    if name in options or found == {None}:
        return
    if len(found) == 1:
        options[name] = found.pop()
    elif name == "block":
        shapes = ", ".join(sorted(map(str, found)))
        raise InputError(f"the kernel was compiled for several blocks: {shapes}", hint="choose one, such as block=128, or give one compiled kernel")


def _allowance(one: Any) -> str:
    """An allowance as a line of TOML."""
    if not isinstance(one, dict) or not all(isinstance(value, (str, int)) for value in one.values()):
        raise refused("an allowance is a dict, and TYPE is none", one, "such as allow=[{'line': 'gemm.py:88', 'at_most': 8}]")
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in one.items()) + "}"


class NotProved(AssertionError):
    """Recorded kernels that are not proved to stay within their budget. `recording` has them."""

    def __init__(self, recording: "recording") -> None:
        self.recording = recording
        super().__init__(recording.report())


NotProved.__module__ = "swizproof"  # as which it is shown


class recording:
    """A context that checks each kernel that Triton, torch.compile, Numba or CuTe DSL compiles or launches within it.

    excess: wavefronts above the ideal number that each access may take
    data: "allow" accepts accesses whose addresses depend on loaded data; "refuse" does not
    undecided: "fail", or "allow" for kernels with an access that is not decided
    empty: "fail", or "allow" for a block without a kernel
    arch: the architecture, if it is not that of the code
    races: True also fails kernels with a race for shared memory, or one that is not decided
    proxy: with races, "off" needs no fence.proxy.async between writes and wgmma or bulk copies, as Triton compiles them
    allow: allowances for lines, as in `[[kernel]]` entries: {"line": "gemm.py:88", "at_most": 8, "reason": ".."}, each for the kernels that have an access there

    At the end `claims` has a verdict for each kernel, as `prove` gives it for a `[[kernel]]` entry, and NotProved is raised for those that are over
    their budget or not decided. `add` takes a kernel that is not seen by itself, such as one of CuPy.
    """

    def __init__(self, excess: int = 0, data: str = "allow", undecided: str = "fail", empty: str = "fail", arch: Optional[str] = None, races: bool = False, proxy: str = "write", allow: Sequence[Dict[str, Any]] = ()) -> None:
        if isinstance(excess, bool) or not isinstance(excess, int) or excess < 0:
            raise refused("excess is a number of wavefronts, and TYPE is none", excess, "such as excess=0")
        for name, value, words in (("data", data, ("allow", "refuse")), ("undecided", undecided, ("fail", "allow")), ("empty", empty, ("fail", "allow")), ("proxy", proxy, ("write", "off"))):
            if value not in words:
                raise refused(f"{name} is '{words[0]}' or '{words[1]}'", value)
        if not isinstance(races, bool):
            raise refused("races is True or False, and TYPE is neither", races)
        if proxy != "write" and not races:
            raise refused("proxy is a part of races", proxy, "add races=True")
        self.allow = list(map(_allowance, allow))
        self.races, self.proxy = races, proxy
        self.excess, self.data, self.undecided, self.empty, self.arch = excess, data, undecided, empty, arch
        self.claims: List[Claim] = []
        self.not_read: List[str] = []
        self.not_used: List[str] = []
        self._hooks, self._added = Hooks(), list[Code]()

    def __enter__(self) -> "recording":
        self._hooks.__enter__()
        return self

    def __exit__(self, kind: Optional[type], *error: object) -> None:
        __tracebackhide__ = True  # of pytest
        self._hooks.__exit__()
        if kind is None:
            self.decide()
            if not self.holds():
                raise NotProved(self)

    def add(self, fn: Any, *args: Any, **keywords: Any) -> None:
        """Checks this kernel, too, as swizproof.kernel() takes it, with its options `block` and `shared_bytes`."""
        launch, options = split_keywords(fn, keywords, ("block", "shared_bytes"))
        block, shared_bytes = options.get("block"), options.get("shared_bytes")
        for code in codes_of(fn, args, launch, self.arch or "sm_90"):
            shape = code.block if block is None else tuple(block) if hasattr(block, "__iter__") else (block,)
            self._added.append(dataclasses.replace(code, block=shape, shared=code.shared if shared_bytes is None else shared_bytes))

    def decide(self) -> None:
        """Decides the kernels that were recorded."""
        self.not_read = [str(failure) for failure in self._hooks.failures.values()]
        self.claims = []
        used: Set[str] = set()
        for code in told_apart(list(dict.fromkeys([*self._hooks.codes, *self._added]))):
            try:
                self.claims += self._claims(code, used)
            except InputError as error:
                self.not_read.append(f"{code.name}: {error}")
        self.not_used = [one for one in self.allow if one not in used] if self.claims else []

    def _claims(self, code: Code, used: Set[str]) -> List[Claim]:
        """The claims of a kernel, with the allowances for lines that it has."""
        allow = list(self.allow)
        while True:
            try:
                claims = _questions.prove(written(f"{code.name}.toml", self._entry(code, allow))).claims
                used.update(allow)
                return claims
            except InputError as error:
                line = (error.input or "").strip().rstrip(",")
                if line not in allow or "no access to" not in error.message:
                    raise
                allow.remove(line)

    def _entry(self, code: Code, allow: List[str]) -> str:
        lines = ["[[kernel]]", f"ptx = {json.dumps(str(code.path()))}", f"excess = {self.excess}", f'data = "{self.data}"']
        lines += [f"block = {list(code.block)}"] if code.block else []
        lines += [f"shared_bytes = {code.shared}"] if code.shared else []
        lines += [f'arch = "{self.arch}"'] if self.arch else []
        lines += ["races = true", f'proxy = "{self.proxy}"'] if self.races else []
        lines += ["allow = [", *(f"  {one}," for one in allow), "]"] if allow else []
        return "\n".join(lines) + "\n"

    def _failing(self) -> List[Claim]:
        passing = ("proved", "unknown") if self.undecided == "allow" else ("proved",)
        return [claim for claim in self.claims if claim.verdict not in passing]

    def holds(self) -> bool:
        """True if each recorded kernel was read and stays within the budget."""
        nothing = not self.claims and not self.not_read and self.empty == "fail"
        return not self._failing() and not self.not_read and not self.not_used and not nothing

    def report(self) -> str:
        """The kernels that are not proved, with the lines that cost more than they may."""
        if not self.claims and not self.not_read:
            return "swizproof: no kernel was compiled or launched here by Triton, torch.compile, Numba or CuTe DSL"
        failing = self._failing()
        number, budget = len(failing) + len(self.not_read), f"to take at most {self.excess} wavefronts above the ideal{' and to have no race' if self.races else ''}"
        lines = [f"swizproof: {number} of {len(self.claims) + len(self.not_read)} kernels are not proved {budget}"] if number else []
        for claim in failing:
            lines.append(f"{claim.verdict:8} {without_tags(claim.name)}")
            lines += (kernel_lines(claim.kernel, failing=True) if claim.kernel else []) or [f"  {claim.reason or claim.detail}"]
        lines += [f"not read {one}" for one in self.not_read]
        return "\n".join(lines + [f"swizproof: no recorded kernel has an access at the line of the allowance {one}" for one in self.not_used])

