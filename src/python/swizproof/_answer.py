"""What all answers share: the command line, the document, the picture."""

from __future__ import annotations

import json
import shlex
from typing import Any, Dict

from . import _picture, _plot
from ._record import Record


class Answer(Record):
    """What a command answers. Its fields are the keys of the JSON document that the command line prints."""

    @property
    def command(self) -> str:
        """The command line with the same answer."""
        return "swizproof " + shlex.join(self._words)

    def to_dict(self) -> Dict[str, Any]:
        """The JSON document, as `swizproof ... --json` prints it."""
        document: Dict[str, Any] = json.loads(self._document)
        return document

    def plot(self) -> Any:
        """A figure of matplotlib: the lanes of the worst phase over the banks, with and without the swizzle; or wavefronts and
        ideal as bars (predict, explain, kernel). `plot().savefig("banks.png")` writes it."""
        return _plot.figure_of(self)

    def _repr_html_(self) -> str:
        return _picture.page_of(self)

    # Set in addition to the fields: the words of the question, the answer's document, and the shape of predict's columns.
    _words: Any
    _document: Any
    _shaped: Any
