"""Asks a command: the words of a command line, and the answer as a dataclass."""

from __future__ import annotations

import itertools
import json
from typing import Any, Callable, Iterable, List, Mapping, Sequence, Type, TypeVar

from . import _results, _swizproof
from ._errors import Disagreement, InputError
from ._record import read
from ._text import numbers_text, refused

A = TypeVar("A", bound=_results.Answer)


def flag(name: str, value: bool) -> List[str]:
    """`--all` of True, nothing of False. Refuses other values: "False" of a file of settings would count as True."""
    if value is not True and value is not False and type(value).__name__ not in ("bool_", "bool"):
        raise refused(f"{name.replace('-', '_')} is True or False, and TYPE is neither", value)
    return [f"--{name}"] if value else []


def option(name: str, text: Callable[[Any, str], str], value: Any, default: Any = None) -> List[str]:
    """`--at-most=4`; nothing of None and of the default."""
    return [] if default is not None and value == default else options(name, text, None if value is None else [value])


def options(name: str, text: Callable[[Any, str], str], values: Any, required: bool = False) -> List[str]:
    """The option once for each value; a single value is one, and so are the integers of one such as block=(32, 8). A dict has names and values:
    param={"n": 64}, block={"gemm.*": (32, 8)}."""
    if values is None and not required:
        return []
    if isinstance(values, Mapping):
        return options(name, lambda word, _: str(word), [f"{key}={text(value, name.replace('-', '_'))}" for key, value in values.items()])
    several = [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
    if text is numbers_text and len(several) > 1 and all(hasattr(value, "__index__") for value in several):
        several = [several]
    words: List[str] = []
    for value in several:
        word = text(value, name.replace("-", "_"))
        words += [f"--{name}={word}"] if word else [f"--{name}", ""]  # an empty word behind `=` is none
    return words


def _encoded(word: str) -> bytes:
    if "\0" in word:
        before = word.split("\0")[0].encode("utf-8", "replace")
        raise InputError("a text has no NUL character", word.replace("\0", "?"), len(before), 1)
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return word.encode("utf-8", "replace")


def asked(words: Sequence[str], input: bytes = b"", answers_bad_lines: bool = False) -> str:
    """The document of a command line. Raises what its exit code and its error say."""
    code, raw, complaint_raw = _swizproof.answer([_encoded(word) for word in words], input)
    document, complaint = raw.decode("utf-8", "replace"), complaint_raw.decode("utf-8", "replace").rstrip("\n")
    if code == 4:
        raise Disagreement(complaint)
    error = _error_of(document) if code in (2, 3) else None
    if error is None and code == 2 and not answers_bad_lines:
        error = {"message": complaint}  # not even a document: the output could not be written
    if error and code == 3:  # undecided without an answer: out of memory, or a compiler at its limit
        raise (TimeoutError if " s; --compile-seconds" in error["message"] else MemoryError)(error["message"])
    if error:
        places = (error.get(key) for key in ("input", "at", "length", "hint"))
        raise InputError(error["message"], *places, text=complaint)
    return document


def _error_of(document: str) -> Any:
    """The error of a document, if it has one."""
    try:
        return json.loads(document).get("error")
    except (ValueError, AttributeError):
        return None


def ask(kind: Type[A], command: str, places: Sequence[str], *options: List[str]) -> A:
    """The answer of a command to these arguments and options."""
    for word in places:
        if word.startswith("-") and word != "-":
            raise InputError(f"'{word}' is an option", word, 0, len(word.encode()), "give a layout here")
    words = [command, *places, *itertools.chain(*options)]
    return answer_of(kind, words, asked(words))


def answer_of(kind: Type[A], words: List[str], document: str) -> A:
    """The document of these words as a dataclass."""
    answer = read(kind, json.loads(document))
    answer._words, answer._document = words, document
    return answer
