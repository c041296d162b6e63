"""What the questions raise."""

from __future__ import annotations

from typing import Optional


class InputError(ValueError):
    """Bad input: the message of the command line, with its place. `str` of it is what the command line says.

    `at` and `length` are bytes of the UTF-8 of `input`; both and `input` are None where the message is about no text.
    """

    def __init__(
        self,
        message: str,
        input: Optional[str] = None,
        at: Optional[int] = None,
        length: Optional[int] = None,
        hint: Optional[str] = None,
        text: Optional[str] = None,
        line: Optional[int] = None,
    ) -> None:
        self.message = message
        self.input = input
        self.at = at
        self.length = length
        self.hint = hint
        #: Of predict: the row that is wrong, from 1.
        self.line = line
        super().__init__(text if text is not None else _described(message, input, at, length, hint))

    def __reduce__(self) -> object:
        return type(self), (self.message, self.input, self.at, self.length, self.hint, str(self), self.line)


class Disagreement(RuntimeError):
    """Two engines gave two answers: a bug of swizproof. Please report it."""


# As which they are shown, and caught by name.
for _kind in (InputError, Disagreement):
    _kind.__module__ = "swizproof"


def _described(
    message: str, input: Optional[str], at: Optional[int], length: Optional[int], hint: Optional[str]
) -> str:
    lines = ["swizproof: error: " + message]
    if input is not None:
        lines.append("  " + input)
        lines.append("  " + " " * (at or 0) + "^" * max(length or 1, 1))
    if hint:
        lines.append("  " + hint)
    return "\n".join(lines)
