#!/usr/bin/env python3
"""questions.py FOLDER: writes FOLDER/_questions.py, a function for each command, from the description of the command line that
--help and the manual page have too. The built module `_swizproof` is in FOLDER.

A command needs no line here, but for what a command line does not say: types of Python, examples, exceptions."""

import json
import keyword
import pathlib
import re
import sys
import textwrap

#: The commands and options that Python does not have, with the reason.
LEFT_OUT = {
    "recheck": "runs other solvers on the files of --certificates",
    "--certificates": "files for other solvers, and hours of work",
    "--junit": "a file of the verdicts: an answer has them",
    "--sarif": "a file of the verdicts: an answer has them",
    "--format": "lines for editors: an answer has the verdicts",
    "--page": "a file of the catalogue: an answer has its claims",
    "--svg": "a picture: the method svg() of an answer",
    "--html": "a page: the method html() of an answer",
    "--memory": "a text, which has no JSON form",
    "--content": "a text, which has no JSON form",
    "--watch": "text until Ctrl-C: swizproof.kernel() can be called again",
    "--list": "names, which have no JSON form",
    "--json": "an answer is the JSON document",
    "--brief": "a shorter text: an answer is the whole document",
    "--color": "an answer has no colours",
    "--help": "help(swizproof.check)",
    "--man": "help(swizproof)",
    "--version": "swizproof.__version__",
    "--completions": "for shells",
}

#: Options NAME=VALUE, which take a dict, too.
MAPPED = ("param", "block")

#: By kind of value: its type in Python, and the function of _text.py that writes it.
KINDS = {
    "LAYOUT": ("LayoutLike", "layout_option_text"),
    "ACCESS": ("str", "access_text"),
    "ELEMENT": ("Any", "element_text"),
    "ARCH": ("str", "names_text"),
    "FILE": ("PathLike", "path_text"),
    "FOLDER": ("PathLike", "path_text"),
    "INTEGER": ("Union[str, int]", "number_text"),
    "INTEGERS": ("Union[str, int, Iterable[int]]", "numbers_text"),
    "UINT": ("int", "number_text"),
    "INT": ("int", "number_text"),
    "FLOAT": ("float", "plain_text"),
    "RANGE": ("str", "number_text"),
    "TEXT": ("str", "plain_text"),
    "FRAGMENT": ("str", "plain_text"),
    "PART": ("str", "plain_text"),
}

#: Of a command that takes lines: its words in Python, the parameters with their words, and the function that asks.
ROWS = {
    "predict": (
        "Wavefronts of instructions whose lanes access these byte addresses",
        {
            "op: Union[str, Sequence[str]]": "one instruction for all rows, or one for each",
            "address: Any": "a NumPy array of integers, or a list, of shape (32,) or (n, 32). A lane is inactive where its address is "
            "masked (numpy.ma), negative or None",
        },
        "predicted(\n        op, address,",
    )
}

#: The functions that write a LAYOUT which is more than one.
LAYOUTS = {"descriptor": "descriptor_text"}

#: An architecture that counts if it is given, even the default; and several at a time.
ARCHES = {
    "descriptor": "Optional[str] = None",
    "explain": "Optional[str] = None",
    "prove": 'Union[str, Sequence[str]] = "sm_90"',
}

SHAPE = "shape: extents of the tile, behind a LAYOUT that needs them: atoms, Triton's encodings; such as (64, 64)"

#: What a docstring adds to the words of --help.
NOTES = {
    "check": """
        >>> swizproof.check("Sw<3,4,3> o smem_ptr[16b](unset) o (16,64):(64,1)", "ldmatrix.x4").verdict
        'proved'
        >>> refuted = swizproof.check("(16,64):(64,1)", "ldmatrix.x4", element="f16")
        >>> refuted.verdict, refuted.accesses[0].wavefronts, refuted.accesses[0].ideal
        ('refuted', 32, 4)""",
    "find": """
        >>> swizproof.find("(16,64):(64,1)", "ldmatrix.x4", element="f16").best[0].swizzle
        'Sw<3,3,3>'""",
    "equal": """
        >>> swizproof.equal("fn(x) = x ^ ((x >> 3) & 0x70)", "tma:128B").verdict
        'proved'""",
    "convert": """
        >>> swizproof.convert("Sw<3,4,3>", to="f16").converted
        'Sw<3,3,3>'""",
    "align": """
        >>> swizproof.align("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)").alignment
        1024""",
    "inspect": """
        >>> swizproof.inspect("Sw<3,4,3>").involution
        True""",
    "eval": """
        >>> swizproof.eval("(2,4):(4,1)").values
        [0, 4, 1, 5, 2, 6, 3, 7]""",
    "descriptor": """
        LAYOUT may be a descriptor, an int or '0x...'.

        >>> swizproof.descriptor("umma:K_SW128<f16> (128,64)").stride_byte_offset
        1024""",
    "tma": """
        >>> plan = swizproof.tma("gmma:K_SW128<f16> (64,128)")
        >>> plan.swizzle, plan.box, plan.boxes
        ('128B', [64, 64], 2)""",
    "fragment": """
        >>> swizproof.fragment("ldmatrix.x4", into="mma.m16n8k16.f16:a").verdict
        'proved'""",
    "kernel": """
        FILE may be a kernel of a Python package: swizproof.kernel(fn, *args) takes a kernel of Triton with its arguments and constants (or none: what it
        was compiled for), one of Numba with its arguments or their types, of CuPy, what cute.compile of CuTe DSL returns, and a function of torch.compile
        with its arguments. Its block and its dynamic shared memory are taken from it; with sass=True the machine code of a kernel of Triton. A keyword that is an argument of the kernel, too, is refused:
        options={"seed": 1} is swizproof's, and with `options` the keyword is the kernel's.""",
    "flow": """
        One launch: `param` has its arrays, `expect` what they hold at the end.""",
    "predict": """
        >>> swizproof.predict("ld.shared.b32", [128 * lane for lane in range(32)]).wavefronts
        32
        >>> swizproof.predict("ld.shared.b32", [[4 * lane for lane in range(32)], [-1] * 31 + [0]]).wavefronts
        [1, 1]""",
    "prove": """
        Without files: all claims of the built-in catalogue. With several architectures each obligation about banks has a claim
        for each of them, `claim.arch`. A malformed obligation raises InputError, when the others have been tried.""",
    "accesses": """
        >>> swizproof.accesses().accesses[0].name
        'ldmatrix.x1'""",
    "language": """
        >>> swizproof.language("element").parts[0].forms[0].text
        'f64'""",
}

HEAD = '''"""The questions: a function for each command, with its arguments and options. Written by src/python/questions.py."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _results
from ._ask import ask, flag, option, options
from ._predict import predicted
from ._text import (
    AccessLike,
    LayoutLike,
    PathLike,
    {texts},
)

__all__ = {names}
'''


def parameter_of(option):
    """`at_most` of --at-most, `files` of FILE..., `for_` of --for."""
    name = option["name"].lstrip("-").replace("-", "_").lower()
    if not option["name"].startswith("-") and option["several"]:
        name += "s"
    return name + "_" if keyword.iskeyword(name) else name


def declared(option, command):
    """A parameter with its type and default."""
    name, kind = parameter_of(option), option["kind"]
    if kind == "FLAG":
        return f"{name}: bool = False"
    if kind == "ARCH":
        return f"{name}: " + ARCHES.get(command, f'str = "{option["default"]}"')
    hint = KINDS[kind][0]
    if kind == "ACCESS":
        hint = "AccessLike"
    elif option["several"]:
        hint = f"Union[{hint}, Sequence[{hint}]{', Mapping[Any, Any]' if name in MAPPED else ''}]"
    if option["required"]:
        return f"{name}: {hint}"
    return f"{name}: {hint if hint == 'Any' else f'Optional[{hint}]'} = None"


def written(option, command):
    """The call that writes an option's words."""
    name, kind = parameter_of(option), option["kind"]
    start = f'("{option["name"].lstrip("-")}", '
    if kind == "FLAG":
        return f"flag{start}{name})"
    start += f"{KINDS[kind][1]}, {name}"
    if option["several"]:
        return f"options{start}{', required=True' if option['required'] else ''})"
    given = kind == "ARCH" and "None" not in ARCHES.get(command, "")
    return f"option{start}{', ' + json.dumps(option['default']) if given else ''})"


def argument(option, command):
    """A parameter for an argument, and the list of its words."""
    name, kind = parameter_of(option), option["kind"]
    if kind == "LAYOUT":
        return f"{name}: LayoutLike", f"[{LAYOUTS.get(command, 'layout_text')}({name}, shape)]"
    hint, text = KINDS[kind]
    if option["several"]:
        return f"*{name}: {hint}", f'[{text}(one, "{name}") for one in {name}]'
    if option["required"]:
        return f"{name}: {hint}", f'[{text}({name}, "{name}")]'
    return f"{name}: Optional[{hint}] = None", f'[] if {name} is None else [{text}({name}, "{name}")]'


def in_python(about):
    """Words of --help, with options as Python has them."""
    return re.sub(r"--([a-z-]+)", lambda one: one[1].replace("-", "_"), about).replace("\n", " ").replace("\\", "\\\\")


def documented(name, about, entries):
    """The docstring of a function: what it asks, an entry for each parameter, notes."""
    lines = textwrap.wrap(about if about[-1] in ".?" else about + ".", 116)
    lines.append("")
    for entry in entries:
        lines += textwrap.wrap(entry, 116, subsequent_indent="    ", break_long_words=False)
    notes = textwrap.dedent(NOTES.get(name, "")).strip("\n")
    lines += ["", *notes.split("\n")] if notes else []
    return f'"""{lines[0]}\n' + "".join(f"    {one}\n" if one else "\n" for one in lines[1:]) + '    """'


def function(command, common):
    """The function of a command."""
    name = command["name"]
    options = [one for one in command["options"] + common if one["name"] not in LEFT_OUT]
    about, arguments = in_python(command["about"]), command["arguments"]
    if name in ROWS:
        about, rows, call = ROWS[name]
        arguments, parameters = [], list(rows)
        entries = [f"{one.partition(':')[0]}: {words}" for one, words in rows.items()]
    else:
        pairs = [argument(one, name) for one in arguments]
        parameters = [one for one, _ in pairs]
        words = " + ".join(words for _, words in pairs) or "[]"
        call = f'ask(\n        _results.{name.capitalize()}, "{name}", {words},'
        entries = []
    has_shape = any(one["kind"] == "LAYOUT" for one in arguments)
    first = [one for one in options if one["kind"] == "ACCESS"]
    parameters = parameters + [declared(one, name) for one in first]
    if not any(one.startswith("*") for one in parameters):
        parameters.append("*")
    if has_shape:
        parameters.append("shape: Optional[Sequence[int]] = None")
    parameters += [declared(one, name) for one in options if one not in first]
    signature = "".join(f"    {one},\n" for one in parameters)
    entries += [f"{parameter_of(one)}: {in_python(one['about'])}" for one in arguments + options]
    if has_shape:
        entries.insert(len(arguments), SHAPE)
    calls = "".join(f"        {written(one, name)},\n" for one in options)
    return (
        f"\n\ndef {name}(\n{signature}) -> _results.{name.capitalize()}:\n    {documented(name, about, entries)}\n"
        f"    return {call}\n{calls}    )\n"
    )


def module_of(description):
    """The text of the module that the description of a command line is."""
    commands = [one for one in description["commands"] if one["name"] not in LEFT_OUT]
    common = sorted(description["options"], key=lambda one: one["kind"] != "ARCH")
    functions = "".join(function(one, common) for one in commands)
    texts = sorted(set(re.findall(r"\b\w+_text\b", functions)))
    return HEAD.format(texts=",\n    ".join(texts), names=json.dumps([one["name"] for one in commands])) + functions


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(folder))
    import _swizproof

    (folder / "_questions.py").write_text(module_of(json.loads(_swizproof.commands())), encoding="utf-8")
