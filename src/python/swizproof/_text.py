"""Texts that values of Python are on the command line."""

from __future__ import annotations

import operator
import os
import re
from typing import Any, Iterable, Optional, Sequence, Union

from ._errors import InputError

#: A LAYOUT: the command line's text, or an object that prints as one (of CuTe's DSL, of Triton).
LayoutLike = Any
#: An ACCESS, or several.
AccessLike = Union[str, Iterable[str]]
PathLike = Union[str, os.PathLike[str]]

_NO_LAYOUT = (bool, int, float, complex, bytes, bytearray, list, tuple, dict, set, frozenset, type(None), type)
#: What Python prints of an object that does not say what it is.
_ANONYMOUS = re.compile(r"^<.* object at 0x[0-9a-fA-F]+>$|^<(function|class|module|built-in|bound method|enum)\b.*>$", re.S)
_HINT = "give the text, such as '(8,64):(64,1)', or an object that prints as one: a Layout of CuTe's DSL, a layout of Triton"


def refused(what: str, value: object, hint: Optional[str] = None) -> InputError:
    """Error about a value, which it shows; `TYPE` in `what` is the value's type."""
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    shown = repr(value).split("\n")[0]
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    message = what.replace("TYPE", f"an object of type {name}")
    return InputError(message, shown, 0, len(shown.encode("utf-8", "replace")), hint)


#: What Gluon's layouts print, and the encoding of Triton's IR that each is, attribute by attribute.
_GLUON = {
    "SwizzledSharedLayout": ("swizzled_shared", {"vec": "vec", "per_phase": "perPhase", "max_phase": "maxPhase", "order": "order"}),
    "NVMMASharedLayout": (
        "nvmma_shared",
        {
            "swizzle_byte_width": "swizzlingByteWidth", "transposed": "transposed", "element_bitwidth": "elementBitWidth",
            "fp4_padded": "fp4Padded",
        },
    ),
}  # fmt: skip


def _encoding_of(text: str) -> str:
    """Of a layout of Gluon (`triton.experimental.gluon.language`) the encoding that it stands for, in one block of threads;
    any other text as it is. As Triton 3.4 to 3.6 print them."""
    match = re.fullmatch(r"(\w+)\((.*)\)", text, re.S)
    if not match or ")" in match[2]:  # with a shape behind it the program reads it as it is
        return text
    name = match[1]
    fields = dict(re.findall(r"(\w+)=(\[(?:[^\[\]]|\[[^\[\]]*\])*\]|[^,\[]+)", match[2]))
    spread = ("ctas_per_cga", "cta_split_num", "cga_layout", "block_bases")  # over the blocks of a cluster
    if not all(set(re.findall(r"\d+", fields.get(key, "None"))) <= {"1"} for key in spread):
        return text
    if name in _GLUON:
        encoding, keys = _GLUON[name]
        if not set(keys) - {"fp4_padded"} <= set(fields):
            return text
        words = {"True": "true", "False": "false"}
        values = [
            f"{keys[key]} = {words.get(fields[key], fields[key])}"
            for key in keys
            if fields.get(key, "False") != "False" or key == "transposed"
        ]
        return f"#ttg.{encoding}<{{{', '.join(values)}}}>"
    if name == "SharedLinearLayout" and "offset_bases" in fields:
        return f"#ttg.shared_linear<{{offset = {fields['offset_bases']}, block = []}}, alignment = {fields.get('alignment', '16')}>"
    if name == "PaddedSharedLayout" and {"interval_padding_pairs", "offset_bases", "shape"} <= set(fields):
        pairs = re.findall(r"\[(\d+), (\d+)\]", fields["interval_padding_pairs"])
        pads = ", ".join(f"{interval}:+{padding}" for interval, padding in pairs)
        shape = fields["shape"].strip("[]")
        return f"#ttg.padded_shared<[{pads}] {{offset = {fields['offset_bases']}, block = []}}> ({shape})"
    return text


def layout_text(layout: LayoutLike, shape: Optional[Sequence[int]] = None) -> str:
    """The text of a LAYOUT: a `str` as it is, another object as it prints; with `shape` behind it, which atoms and Triton's
    encodings need. Raises InputError for what is no layout."""
    if isinstance(layout, str):
        text = str(layout)
    else:
        is_array = hasattr(layout, "__array_interface__") or hasattr(layout, "__cuda_array_interface__")
        text = "" if is_array or isinstance(layout, _NO_LAYOUT) else str(layout).strip()
        if not text or _ANONYMOUS.match(text):
            raise refused("TYPE is no layout", layout, _HINT)
    text = _encoding_of(text)
    if shape is not None:
        try:
            text += " (" + ",".join(str(int(extent)) for extent in shape) + ")"
        except (TypeError, ValueError):
            raise refused("a shape is a tuple of integers", shape, "such as shape=(64, 64)") from None
    return text


def descriptor_text(layout: LayoutLike, shape: Optional[Sequence[int]] = None) -> str:
    """The text of a LAYOUT; of an integer the descriptor `0x...`."""
    return hex(layout) if isinstance(layout, int) and not isinstance(layout, bool) else layout_text(layout, shape)


# The texts of options, by kind. `name` is that of the parameter, for messages.


def plain_text(value: object, name: str) -> str:
    return str(value)


def layout_option_text(value: LayoutLike, name: str) -> str:
    return layout_text(value)


def element_text(value: object, name: str) -> str:
    """An element type: a `str` as it is; of NumPy's, PyTorch's and CUTLASS's types the name."""
    if isinstance(value, str):
        return value
    return str(getattr(value, "__name__", None) or getattr(value, "name", None) or value).rsplit(".", 1)[-1]


def access_text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise refused("TYPE is no access", value, "give a str or a list of them, such as access=['ldmatrix.x4']")
    return value


def path_text(value: Any, name: str) -> str:
    if not isinstance(value, str) and not hasattr(value, "__fspath__"):
        raise refused("TYPE is no path", value, "give the file's name")
    return os.fsdecode(value)


def names_text(value: object, name: str) -> str:
    """`sm_90,sm_100` of several."""
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    for one in several:
        if not isinstance(one, str):
            raise refused(f"{name} is a name, and TYPE is none", one, "such as 'sm_90'")
    return ",".join(several)


def number_text(value: object, name: str) -> str:
    """An integer of Python or NumPy, or its text; True and False are none."""
    if isinstance(value, str):
        return value
    try:
        if not isinstance(value, bool):
            return str(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        pass
    raise refused(f"{name} is an integer, and TYPE is none", value)


def numbers_text(value: object, name: str) -> str:
    """`0,1,2` of integers."""
    several = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    return ",".join(number_text(one, name) for one in several)
