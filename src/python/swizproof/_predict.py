"""Rows of addresses, as `predict` asks about them."""

from __future__ import annotations

import itertools
import json
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from . import _results
from ._ask import answer_of, asked
from ._errors import InputError
from ._text import refused

_HINT = "give integers of shape (32,) or (n, 32)"


def _rows_of(address: Any) -> Tuple[List[List[Optional[int]]], bool, bool]:
    """The rows of addresses, None for an inactive lane; whether there was one alone; whether they were NumPy's."""
    if hasattr(address, "__array_interface__"):
        import numpy

        if address.dtype.kind not in "iu":
            raise refused(f"addresses are integers, not {address.dtype}", address, "an inactive lane is masked or negative")
        if address.ndim not in (1, 2) or address.shape[-1] != 32:
            raise refused(f"addresses of shape {address.shape} are no warps", address, _HINT)
        table = numpy.ma.asarray(address).reshape(-1, 32)
        inactive = numpy.ma.getmaskarray(table) | (table.data < 0)
        rows: List[List[Optional[int]]] = table.data.tolist()
        for row, lane in zip(*inactive.nonzero()):
            rows[row][lane] = None
        return rows, address.ndim == 1, True
    if isinstance(address, (str, bytes)) or not isinstance(address, Iterable):
        raise refused("TYPE is no table of addresses", address, _HINT)
    given = list(address)
    alone = not given or not isinstance(given[0], Iterable)
    table = [given] if alone else [list(row) if isinstance(row, Iterable) else [row] for row in given]
    rows = []
    for row in table:
        if len(row) != 32:
            raise refused(f"a row has {len(row)} addresses, a warp 32 lanes", address, _HINT)
        if any(one is not None and (isinstance(one, bool) or not hasattr(one, "__index__")) for one in row):
            raise refused("addresses are integers", address, "an inactive lane is None or negative")
        rows.append([None if one is None or one.__index__() < 0 else one.__index__() for one in row])
    return rows, alone, False


def predicted(op: Union[str, Sequence[str]], address: Any, *options: List[str]) -> _results.Predict:
    """The answer of `predict` to rows of addresses, in the shape that they have."""
    rows, alone, is_array = _rows_of(address)
    ops = [op] * len(rows) if isinstance(op, str) else list(op)
    if len(ops) != len(rows):
        raise InputError(f"{len(ops)} instructions for {len(rows)} rows of addresses", hint="give one, or one for each row")
    if not rows:
        raise InputError("there are no rows of addresses", hint=_HINT)
    dumps = json.JSONEncoder(separators=(",", ":")).encode
    lines = "".join(f'{{"op":{dumps(one)},"address":{dumps(row)}}}\n' for one, row in zip(ops, rows)).encode()
    words = ["predict", *itertools.chain(*options)]
    document = asked(words, lines, answers_bad_lines=True)
    for row, one in enumerate(json.loads(document)["predictions"]):
        if "error" in one:
            wrong = lines.split(b"\n")[row].decode()
            raise InputError(one["error"], wrong, None, None, text=f"swizproof: error: {one['error']}\n  in row {row}", line=one["line"])
    answer = answer_of(_results.Predict, words, document)

    def shaped(values: List[Any]) -> Any:
        if alone:
            values = values[0]
        if not is_array:
            return values
        import numpy

        return numpy.asarray(values) if not alone or isinstance(values, list) else values

    answer._shaped = shaped
    return answer
