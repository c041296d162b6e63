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

from . import _questions, _results, _swizproof
from ._errors import Disagreement, InputError
from ._questions import *
from ._recording import NotProved, kernel, recording
from ._results import *
from ._text import layout_text

__version__: str = _swizproof.version

__all__ = ["Disagreement", "InputError", "NotProved", "layout_text", "recording"]
__all__ += _questions.__all__
__all__ += _results.__all__


@_atexit.register
def _wait() -> None:
    """Questions that Ctrl-C has left behind stop soon; a second Ctrl-C does not wait for them."""
    try:
        while _swizproof.left_behind():
            _time.sleep(0.05)
    except KeyboardInterrupt:
        _os._exit(130)
