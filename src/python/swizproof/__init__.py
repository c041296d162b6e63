"""swizproof: proofs about CuTe swizzles, layouts and banks of shared memory.

The questions are the commands of the program `swizproof`, their arguments its words, their answers its JSON documents as
dataclasses: the keys are the attributes, and a key that Python has for itself ends in `_` (`for_`, `from_`).

>>> import swizproof
>>> swizproof.check("(16,64):(64,1)", access=["ldmatrix.x4"], element="f16").accesses[0].wavefronts
32

`InputError` is bad input (exit code 2 of the program), with `message`, `input` and `at`; `Disagreement` is a bug of swizproof
(exit code 4). What could not be decided in time is an answer with the verdict "unknown".
"""

import atexit as _atexit
import os as _os
import time as _time

from . import _swizproof
from ._errors import Disagreement, InputError
from ._questions import (
    align,
    check,
    convert,
    crosscheck,
    descriptor,
    equal,
    eval,
    explain,
    find,
    fragment,
    inspect,
    kernel,
    layout_text,
    predict,
    prove,
    show,
    tma,
)
from ._results import (
    AccessCost,
    AccessMisfit,
    AccessVerdict,
    Align,
    Answer,
    Check,
    Convert,
    Crosscheck,
    Descriptor,
    Equal,
    Eval,
    Explain,
    Find,
    Fragment,
    Inspect,
    Kernel,
    LostStore,
    Predict,
    Prove,
    Show,
    Tma,
    UndecidedAccess,
)

__version__: str = _swizproof.version

__all__ = [
    "AccessCost", "AccessMisfit", "AccessVerdict", "Align", "Answer", "Check", "Convert", "Crosscheck", "Descriptor", "Disagreement", "Equal",
    "Eval", "Explain", "Find", "Fragment", "InputError", "Inspect", "Kernel", "LostStore", "Predict", "Prove", "Show", "Tma",
    "UndecidedAccess", "align", "check", "convert", "crosscheck", "descriptor", "equal", "eval", "explain", "find", "fragment", "inspect", "kernel", "layout_text", "predict", "prove", "show", "tma",
]  # fmt: skip


@_atexit.register
def _wait() -> None:
    """Questions that Ctrl-C has left behind stop soon; a second Ctrl-C does not wait for them."""
    try:
        while _swizproof.left_behind():
            _time.sleep(0.05)
    except KeyboardInterrupt:
        _os._exit(130)
