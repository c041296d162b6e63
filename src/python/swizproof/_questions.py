"""The questions: a function for each command, which takes the command line's words and options."""

from __future__ import annotations

import json
import operator
import re
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _results, _swizproof
from ._errors import Disagreement, InputError
from ._record import read

#: A LAYOUT: the command line's text, or an object that prints as one (of CuTe's DSL, of Triton).
LayoutLike = Any
#: An ACCESS, or several.
AccessLike = Union[str, Iterable[str]]

A = TypeVar("A", bound=_results.Answer)

# ---------------------------------------------------------------------------------------- words

_NO_LAYOUT = (bool, int, float, complex, bytes, bytearray, list, tuple, dict, set, frozenset, type(None), type)
#: What Python prints of an object that does not say what it is.
_ANONYMOUS = re.compile(r"^<.* object at 0x[0-9a-fA-F]+>$|^<(function|class|module|built-in|bound method|enum)\b.*>$", re.S)
_HINT = "give the text, such as '(8,64):(64,1)', or an object that prints as one: a Layout of CuTe's DSL, a layout of Triton"


def _kind_of(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _is_array(value: object) -> bool:
    return hasattr(value, "__array_interface__") or hasattr(value, "__cuda_array_interface__")


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
        text = _encoding_of(str(layout))
    else:
        text = "" if isinstance(layout, _NO_LAYOUT) or _is_array(layout) else str(layout).strip()
        if not text or _ANONYMOUS.match(text):
            shown = text or repr(layout)
            shown = shown if len(shown) <= 60 else shown[:57] + "..."
            raise InputError(f"an object of type {_kind_of(layout)} is no layout", shown, 0, len(shown.encode()), _HINT)
        text = _encoding_of(text)
    if shape is not None:
        try:
            text += " (" + ",".join(str(int(extent)) for extent in shape) + ")"
        except (TypeError, ValueError):
            shown = repr(shape)
            raise InputError(
                "a shape is a tuple of integers", shown, 0, len(shown.encode()), "such as shape=(64, 64)"
            ) from None
    return text


def _element_text(element: object) -> str:
    """The word for an element type: a `str` as it is; of NumPy's, PyTorch's and CUTLASS's types the name."""
    if isinstance(element, str):
        return element
    name = getattr(element, "__name__", None) or getattr(element, "name", None) or str(element)
    return str(name).rsplit(".", 1)[-1]


def _accesses(access: AccessLike) -> List[str]:
    accesses = [access] if isinstance(access, str) else list(access) if isinstance(access, Iterable) else [access]
    for one in accesses:
        if not isinstance(one, str):
            shown = repr(one)
            raise InputError(
                f"an object of type {_kind_of(one)} is no access", shown, 0, len(shown.encode()),
                "give a str or a list of them, such as access=['ldmatrix.x4']",
            )
    return [str(one) for one in accesses]


def _number(value: object, what: str) -> int:
    """An integer of Python or NumPy; True and False are none."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    shown = repr(value)
    raise InputError(f"{what} is an integer, and an object of type {_kind_of(value)} is none", shown, 0, len(shown.encode()))


def _listed(numbers: Union[str, int, Iterable[int], None]) -> Optional[str]:
    """`0,1,2` of integers."""
    if numbers is None or isinstance(numbers, str):
        return numbers
    return ",".join(str(_number(one, "at")) for one in (numbers if isinstance(numbers, Iterable) else [numbers]))


#: Options whose values are integers, where True is none.
_INTEGERS = ("at_most", "shared_bytes", "align", "base", "lane", "phase", "rows", "cols", "seed", "weight")


def _options(**options: Any) -> List[str]:
    """`--at-most=4` of at_most=4; of True the flag alone, of False and None nothing, of a list one for each."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if name in _INTEGERS and value is not None:
            listed = value if isinstance(value, (list, tuple)) else [value]
            value = [one if isinstance(one, str) else _number(one, name) for one in listed]
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [f"{option}={one}"] if str(one) else [option, ""]  # an empty word behind `=` is none
    return words


# --------------------------------------------------------------------------------------- answers


def _encoded(word: str) -> bytes:
    if "\0" in word:
        raise InputError(
            "a text has no NUL character", word.replace("\0", "?"), len(word.split("\0")[0].encode("utf-8", "replace")), 1
        )
    return word.encode("utf-8", "surrogateescape") if _encodes(word) else word.encode("utf-8", "replace")


def _encodes(word: str) -> bool:
    try:
        word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _asked(words: Sequence[str], input: bytes = b"", answers_bad_lines: bool = False) -> str:
    """The document of a command line. Raises what its exit code and its error say."""
    code, raw, complaint_raw = _swizproof.answer([_encoded(word) for word in words], input)
    document, complaint = raw.decode("utf-8", "replace"), complaint_raw.decode("utf-8", "replace").rstrip("\n")
    if code == 4:
        raise Disagreement(complaint)
    error = _error_of(document) if code in (2, 3) else None
    if error is None and code == 2 and not answers_bad_lines:
        error = {"message": complaint}  # not even a document: the output could not be written
    if error and code == 3:  # nothing but out of memory is undecided without an answer
        raise MemoryError(error["message"])
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


def _ask(kind: Type[A], command: str, places: Sequence[str], options: Sequence[str], input: bytes = b"") -> A:
    for word in places:
        if word.startswith("-") and word != "-":
            raise InputError(f"'{word}' is an option", word, 0, len(word.encode()), "give a layout here")
    words = [command, *places, *options]
    document = _asked(words, input)
    answer = read(kind, json.loads(document))
    answer._words, answer._document = words, document
    return answer


def _common(arch: str, timeout: Optional[float], seed: Optional[int]) -> List[str]:
    return _options(arch=None if arch == "sm_90" else arch, timeout=timeout, seed=seed)


# -------------------------------------------------------------------------------------- questions


def check(
    layout: LayoutLike,
    access: AccessLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    at_most: Optional[int] = None,
    align: Optional[int] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Check:
    """Is each access free of bank conflicts, from every origin and base?

    >>> swizproof.check("Sw<3,4,3> o smem_ptr[16b](unset) o (16,64):(64,1)", "ldmatrix.x4").verdict
    'proved'
    >>> refuted = swizproof.check("(16,64):(64,1)", "ldmatrix.x4", element="f16")
    >>> refuted.verdict, refuted.accesses[0].wavefronts, refuted.accesses[0].ideal
    ('refuted', 32, 4)
    """
    words = _options(element=_element(element), access=_accesses(access), at_most=at_most, align=align)
    return _ask(_results.Check, "check", [layout_text(layout, shape)], words + _common(arch, timeout, seed))


def find(
    layout: LayoutLike,
    access: AccessLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    unit: Optional[str] = None,
    weight: Union[int, Sequence[int], None] = None,
    padding: bool = False,
    xor: bool = False,
    all: bool = False,
    emit: Optional[str] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Find:
    """The best swizzle (padding=True: row pitch; xor=True: linear map) for all accesses together, and a proof; its code with
    emit="cute", "dsl", "cuda", "triton" or "tma".

    >>> swizproof.find("(16,64):(64,1)", "ldmatrix.x4", element="f16").best[0].swizzle
    'Sw<3,3,3>'
    """
    weights = list(weight) if isinstance(weight, Iterable) else weight
    words = _options(
        element=_element(element), access=_accesses(access), unit=unit, weight=weights, padding=padding, xor=xor, all=all,
        emit=emit,
    )
    return _ask(_results.Find, "find", [layout_text(layout, shape)], words + _common(arch, timeout, seed))


def equal(
    layout: LayoutLike,
    other: LayoutLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    align: Optional[int] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Equal:
    """Are two layouts the same function, and on which domain? `shape` goes to both.

    >>> swizproof.equal("fn(x) = x ^ ((x >> 3) & 0x70)", "tma:128B").verdict
    'proved'
    """
    words = _options(element=_element(element), align=align)
    places = [layout_text(layout, shape), layout_text(other, shape)]
    return _ask(_results.Equal, "equal", places, words + _common(arch, timeout, seed))


def convert(
    layout: LayoutLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    to: Optional[str] = None,
    emit: Optional[str] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Convert:
    """The layout in "bits", "bytes", "elements" or units of a type, or as code: emit="cute", "dsl", "cuda", "triton" or "tma".

    >>> swizproof.convert("Sw<3,4,3>", to="f16").converted
    'Sw<3,3,3>'
    """
    words = _options(element=_element(element), to=to, emit=emit) + _common(arch, timeout, seed)
    return _ask(_results.Convert, "convert", [layout_text(layout, shape)], words)


def align(
    layout: LayoutLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Align:
    """For exactly which base addresses does addressing relative to the base equal absolute addressing? In bytes.

    >>> swizproof.align("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)").alignment
    1024
    """
    words = _options(element=_element(element)) + _common(arch, timeout, seed)
    return _ask(_results.Align, "align", [layout_text(layout, shape)], words)


def inspect(
    layout: LayoutLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Inspect:
    """What kind of map is this: bijective, involutive, linear; span, period, alignment, GF(2) matrix.

    >>> swizproof.inspect("Sw<3,4,3>").involution
    True
    """
    words = _options(element=_element(element)) + _common(arch, timeout, seed)
    return _ask(_results.Inspect, "inspect", [layout_text(layout, shape)], words)


def eval(
    layout: LayoutLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    at: Union[str, int, Iterable[int], None] = None,
    bytes: bool = False,
    base: Union[str, int, None] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Eval:
    """Offsets of 0..size-1 in CuTe's order, or of `at`; bytes=True: byte addresses.

    >>> swizproof.eval("(2,4):(4,1)").values
    [0, 4, 1, 5, 2, 6, 3, 7]
    """
    words = _options(element=_element(element), at=_listed(at), bytes=bytes, base=base)
    return _ask(_results.Eval, "eval", [layout_text(layout, shape)], words + _common(arch, timeout, seed))


def descriptor(
    layout: LayoutLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    operand: Optional[str] = None,
    major: Optional[str] = None,
    for_: Optional[str] = None,
    extent: Union[str, Sequence[int], None] = None,
    arch: Optional[str] = None,
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Descriptor:
    """Which descriptor makes wgmma or tcgen05 read this tile; what does a descriptor, an int or '0x...', read?

    >>> swizproof.descriptor("gmma:K_SW128<f16> (64,64)").stride_byte_offset
    1024
    """
    is_number = isinstance(layout, int) and not isinstance(layout, bool)
    place = hex(layout) if is_number else layout_text(layout, shape)
    words = _options(element=_element(element), operand=operand, major=major, for_=for_, extent=_listed(extent))
    return _ask(_results.Descriptor, "descriptor", [place], words + _options(arch=arch, timeout=timeout, seed=seed))


def tma(
    layout: LayoutLike,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    all: bool = False,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Tma:
    """Which cuTensorMapEncodeTiled arguments write exactly this tile?

    >>> plan = swizproof.tma("gmma:K_SW128<f16> (64,128)")
    >>> plan.swizzle, plan.box, plan.boxes
    ('128B', [64, 64], 2)
    """
    words = _options(element=_element(element), all=all) + _common(arch, timeout, seed)
    return _ask(_results.Tma, "tma", [layout_text(layout, shape)], words)


def explain(
    trace: Any,
    *,
    kernel: Optional[str] = None,
    source: Union[str, Sequence[str], None] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Explain:
    """What does each line of a traced kernel cost, which lanes conflict, and how to fix it? `trace` is the path of a file that
    swizproof-trace wrote."""
    sources = [source] if isinstance(source, str) else None if source is None else [str(one) for one in source]
    words = _options(kernel=kernel, source=sources) + _common(arch, timeout, seed)
    return _ask(_results.Explain, "explain", [_path(trace)], words)


def kernel(
    *files: Any,
    kernel: Optional[str] = None,
    block: Union[str, Sequence[str], None] = None,
    param: Union[str, Sequence[str], None] = None,
    shared_bytes: Optional[int] = None,
    at_most: Optional[int] = None,
    source: Union[str, Sequence[str], None] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Kernel:
    """What does each shared-memory instruction of a compiled kernel cost at most? `files` are paths of PTX or of folders,
    `block` is "128" or "32,8", or several of them."""
    blocks = [block] if isinstance(block, str) else block if block is None else list(block)
    params = [param] if isinstance(param, str) else param if param is None else list(param)
    sources = [source] if isinstance(source, str) else None if source is None else [str(one) for one in source]
    words = _options(
        kernel=kernel, block=blocks, param=params, shared_bytes=shared_bytes, at_most=at_most, source=sources
    )
    return _ask(_results.Kernel, "kernel", [_path(one) for one in files], words + _common(arch, timeout, seed))


def fragment(
    fragment: str,
    *,
    operand: Optional[str] = None,
    element: Any = None,
    at: Union[str, Sequence[int], None] = None,
    lane: Optional[int] = None,
    tv: Optional[LayoutLike] = None,
    into: Optional[str] = None,
    contiguous: Optional[str] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Fragment:
    """Which element reaches which register of which lane; with `into`, does it lie there as that operand wants it?

    >>> swizproof.fragment("ldmatrix.x4", into="mma.m16n8k16.f16:a").verdict
    'proved'
    """
    words = _options(
        operand=operand, element=_element(element), at=_listed(at), lane=lane,
        tv=None if tv is None else layout_text(tv), into=into, contiguous=contiguous,
    )
    return _ask(_results.Fragment, "fragment", [fragment], words + _common(arch, timeout, seed))


def crosscheck(
    *files: Any, arch: str = "sm_90", timeout: Optional[float] = None, seed: Optional[int] = None
) -> _results.Crosscheck:
    """Do recorded device results, or a profile or a trace of your own kernel, equal the model? Paths of files."""
    return _ask(_results.Crosscheck, "crosscheck", [_path(one) for one in files], _common(arch, timeout, seed))


def prove(
    *files: Any,
    only: Optional[str] = None,
    name: Optional[str] = None,
    jobs: Optional[int] = None,
    shard: Optional[str] = None,
    arch: Union[str, Sequence[str]] = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Prove:
    """Do all obligations of these files hold; without files, all claims of the built-in catalogue? Paths of TOML files.

    Several architectures: each obligation about banks has a claim for each of them, `claim.arch`.

    A malformed obligation raises InputError, when the others have been tried.
    """
    words = _options(only=only, name=name, jobs=jobs, shard=shard) + _common(arch if isinstance(arch, str) else ",".join(arch), timeout, seed)
    return _ask(_results.Prove, "prove", [_path(one) for one in files], words)


def show(
    layout: LayoutLike,
    access: Optional[AccessLike] = None,
    *,
    shape: Optional[Sequence[int]] = None,
    element: Any = None,
    origin: Union[str, Sequence[int], None] = None,
    set: Union[str, Sequence[str], None] = None,
    phase: Optional[int] = None,
    base: Union[str, int, None] = None,
    rows: Optional[str] = None,
    cols: Optional[str] = None,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Show:
    """The picture: banks by colour, lanes, conflicts, of the worst instruction of each access unless chosen."""
    chosen = [set] if isinstance(set, str) else None if set is None else [str(one) for one in set]
    words = _options(
        element=_element(element), access=None if access is None else _accesses(access), origin=_listed(origin), set=chosen,
        phase=phase, base=base, rows=rows, cols=cols,
    )
    return _ask(_results.Show, "show", [layout_text(layout, shape)], words + _common(arch, timeout, seed))


def _element(element: object) -> Optional[str]:
    return None if element is None else _element_text(element)


def _path(path: Any) -> str:
    if not isinstance(path, str) and not hasattr(path, "__fspath__"):
        shown = repr(path)
        raise InputError(f"an object of type {_kind_of(path)} is no path", shown, 0, len(shown.encode()), "give the file's name")
    import os

    return os.fsdecode(path)


# ---------------------------------------------------------------------------------------- predict


def _rows_of(address: Any) -> Tuple[List[List[Optional[int]]], bool, bool]:
    """The rows of addresses, None for an inactive lane; whether there was one alone; whether they were NumPy's."""

    def refuse(what: str, hint: str = "give integers of shape (32,) or (n, 32)") -> InputError:
        shown = repr(address).split("\n")[0]
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return InputError(what, shown, 0, len(shown.encode("utf-8", "replace")), hint)

    if hasattr(address, "__array_interface__"):
        import numpy

        if address.dtype.kind not in "iu":
            raise refuse(f"addresses are integers, not {address.dtype}", "an inactive lane is masked or negative")
        if address.ndim not in (1, 2) or address.shape[-1] != 32:
            raise refuse(f"addresses of shape {address.shape} are no warps")
        table = numpy.ma.asarray(address).reshape(-1, 32)
        inactive = numpy.ma.getmaskarray(table) | (table.data < 0)
        rows: List[List[Optional[int]]] = table.data.tolist()
        for row, lane in zip(*inactive.nonzero()):
            rows[row][lane] = None
        return rows, address.ndim == 1, True
    if isinstance(address, (str, bytes)) or not isinstance(address, Iterable):
        raise refuse(f"an object of type {_kind_of(address)} is no table of addresses")
    given = list(address)
    alone = not given or not isinstance(given[0], Iterable)
    table = [given] if alone else [list(row) if isinstance(row, Iterable) else [row] for row in given]
    rows = []
    for row in table:
        if len(row) != 32:
            raise refuse(f"a row has {len(row)} addresses, a warp 32 lanes")
        if any(one is not None and (isinstance(one, bool) or not hasattr(one, "__index__")) for one in row):
            raise refuse("addresses are integers", "an inactive lane is None or negative")
        rows.append([None if one is None or one.__index__() < 0 else one.__index__() for one in row])
    return rows, alone, False


def predict(
    op: Union[str, Sequence[str]],
    address: Any,
    *,
    explain: bool = False,
    arch: str = "sm_90",
    timeout: Optional[float] = None,
    seed: Optional[int] = None,
) -> _results.Predict:
    """What instructions cost whose lanes ask for these byte addresses.

    `address` is a NumPy array of integers, or a list, of shape (32,) or (n, 32). A lane is inactive where its address is
    masked (numpy.ma), negative or None. `op` is one instruction for all rows, or one for each.

    >>> swizproof.predict("ld.shared.b32", [128 * lane for lane in range(32)]).wavefronts
    32
    >>> swizproof.predict("ld.shared.b32", [[4 * lane for lane in range(32)], [-1] * 31 + [0]]).wavefronts
    [1, 1]
    """
    rows, alone, is_array = _rows_of(address)
    ops = [op] * len(rows) if isinstance(op, str) else list(op)
    if len(ops) != len(rows):
        raise InputError(f"{len(ops)} instructions for {len(rows)} rows of addresses", hint="give one, or one for each row")
    if not rows:
        raise InputError("there are no rows of addresses", hint="give integers of shape (32,) or (n, 32)")
    dumps = json.JSONEncoder(separators=(",", ":")).encode
    lines = "".join(f'{{"op":{dumps(one)},"address":{dumps(row)}}}\n' for one, row in zip(ops, rows)).encode()
    words = _options(explain=explain) + _common(arch, timeout, seed)
    document = _asked(["predict", *words], lines, answers_bad_lines=True)
    parsed = json.loads(document)
    for row, one in enumerate(parsed["predictions"]):
        if "error" in one:
            wrong = lines.split(b"\n")[row].decode()
            raise InputError(one["error"], wrong, None, None, text=f"swizproof: error: {one['error']}\n  in row {row}", line=one["line"])
    answer = read(_results.Predict, parsed)
    answer._words, answer._document = ["predict", *words], document

    def shaped(values: List[Any]) -> Any:
        if alone:
            values = values[0]
        if not is_array:
            return values
        import numpy

        return numpy.asarray(values) if not alone or isinstance(values, list) else values

    answer._shaped = shaped
    return answer
