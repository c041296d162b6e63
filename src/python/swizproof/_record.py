"""JSON documents as dataclasses: the keys are the attributes."""

from __future__ import annotations

import dataclasses
import functools
import keyword
import reprlib
import typing
from typing import Any, TypeVar

T = TypeVar("T", bound="Record")

#: What a repr shows of a list, a text and a line before it is shortened or broken.
MOST_ENTRIES, MOST_CHARACTERS, WIDTH = 8, 120, 118


def attribute_of(key: str) -> str:
    """The attribute of a JSON key: the key, with `_` behind it where Python has that word for itself (`for_`)."""
    return key + "_" if keyword.iskeyword(key) else key


def _shown(value: Any, indent: int) -> str:
    if isinstance(value, Record):
        return value._shown(indent)
    if isinstance(value, str):
        return repr(value if len(value) <= MOST_CHARACTERS else value[: MOST_CHARACTERS - 3] + "...")
    if isinstance(value, dict):
        if not value or len(value) > 40:
            return reprlib.repr(value)
        return "{" + ", ".join(f"{key!r}: {_shown(one, indent)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        shown = [_shown(one, indent + 4) for one in value[:MOST_ENTRIES]]
        if len(value) > MOST_ENTRIES:
            shown.append(f"... {len(value) - MOST_ENTRIES} more")
        return _joined("[", shown, "]", indent)
    return repr(value)


def _joined(head: str, entries: list[str], tail: str, indent: int) -> str:
    """Entries on one line; where it gets too long, as many on each line as there is room for."""
    line = head + ", ".join(entries) + tail
    if "\n" not in line and indent + len(line) <= WIDTH:
        return line
    lines: list[str] = []
    for one in entries:
        if lines and "\n" not in lines[-1] + one and indent + 4 + len(lines[-1]) + len(one) + 2 <= WIDTH:
            lines[-1] += " " + one + ","
        else:
            lines.append(one + ",")
    return head + "".join("\n" + " " * (indent + 4) + one for one in lines) + "\n" + " " * indent + tail


class Record:
    """What every dataclass of this package is: an object of a JSON document.

    A key that a document may leave out is `None` where it does. A key of a later swizproof that the class does not declare
    is an attribute all the same. A class of several cases has the class of each by the value of the key `kind`.
    """

    _cases: typing.ClassVar[dict[str, type]] = {}

    def _entries(self, indent: int) -> list[str]:
        """What a repr shows of each field."""
        fields = [(name, value) for name, value in vars(self).items() if value is not None and not name.startswith("_")]
        return [f"{name}={_shown(value, indent)}" for name, value in fields]

    def _shown(self, indent: int) -> str:
        return _joined(type(self).__name__ + "(", self._entries(indent + 4), ")", indent)

    def __repr__(self) -> str:
        return self._shown(0)

    if typing.TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


record = dataclasses.dataclass(repr=False)


@functools.lru_cache(maxsize=None)
def hints_of(kind: type) -> dict[str, Any]:
    """The types of a record's fields."""
    return {f.name: h for f in dataclasses.fields(kind) for h in [typing.get_type_hints(kind)[f.name]]}


def _value(hint: Any, value: Any) -> Any:
    """A value of JSON as its field has it: objects as records, in lists too."""
    if isinstance(value, list):
        inner = next((typing.get_args(one)[0] for one in _choices(hint) if typing.get_origin(one) is list), Any)
        return [_value(inner, one) for one in value]
    if isinstance(value, dict):
        kinds = [one for one in _choices(hint) if isinstance(one, type) and issubclass(one, Record)]
        fitting = [one for one in kinds if not any(typing.get_origin(c) is dict for c in _choices(hint)) or _declares(one, value)]
        if fitting:
            return read(fitting[0], value)
    return value


def _choices(hint: Any) -> tuple[Any, ...]:
    """The alternatives of a Union; else the hint alone."""
    return typing.get_args(hint) if typing.get_origin(hint) is typing.Union else (hint,)


def _declares(kind: type, document: dict[str, Any]) -> bool:
    return all(attribute_of(key) in hints_of(kind) for key in document)


def read(kind: type[T], document: dict[str, Any]) -> T:
    """The record of this kind that a JSON object is; of a class of several cases, the case that it names."""
    kind = kind._cases.get(document.get("kind"), kind) if kind._cases else kind  # type: ignore[attr-defined]
    hints = hints_of(kind)
    values = {attribute_of(key): value for key, value in document.items()}
    out = kind(**{name: _value(hints[name], value) for name, value in values.items() if name in hints})
    for name, value in values.items():
        if name not in hints:
            setattr(out, name, value)
    return out
