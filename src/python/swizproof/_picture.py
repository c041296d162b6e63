"""Pages of notebooks: a verdict, its numbers, and the picture that `swizproof show` draws."""

from __future__ import annotations

import base64
import dataclasses
import html
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from . import _lines

if TYPE_CHECKING:
    from ._results import Answer

#: Of verdicts.
COLOURS = {"proved": "#1a7f37", "refuted": "#cf222e", "unknown": "#9a6700"}
#: Commands about a tile.
DRAWN = ("align", "check", "convert", "equal", "eval", "find", "inspect", "show", "tma")
#: Pages of this many bytes and more are left out of a notebook.
MOST_BYTES = 4 << 20
#: Rows of a table, and lines of a text, that a notebook shows.
MOST_ROWS = 32


def drawn(answer: "Answer", form: str) -> str:
    """The picture to an answer's command line: `svg` or `html`."""
    from ._ask import asked

    return asked([*answer._words, f"--{form}=-"])


def _image(picture: str) -> str:
    """A figure as an image of its own, whose styles and names are not the notebook's."""
    data = base64.b64encode(picture.encode()).decode()
    return f'<img alt="banks of shared memory" style="max-width:100%;background:#fff" src="data:image/svg+xml;base64,{data}"/>'


def _options_of(words: List[str], names: List[str]) -> List[str]:
    """The options of these names among words."""
    return [word for word in words if any(word.startswith(f"--{name}=") for name in names)]


def pictures_of(answer: "Answer", form: str) -> List[str]:
    """What `show` draws to an answer about a tile, as `--svg=-` or `--json`: once for each layout and each access. Nothing where there
    is no tile, or too large a one to draw."""
    command, *rest = answer._words
    if command not in DRAWN:
        return []
    layouts = [rest[0]] if command != "equal" else rest[:2]
    winner = getattr(answer, "winner", None)
    kept = _options_of(rest, ["element", "arch", "block"])
    if command == "show":
        kept = [word for word in rest[1:] if not word.startswith("--access=")]
    options = [[*kept, *filter(None, [access])] for access in _options_of(rest, ["access"]) or [""]]
    if not winner:
        return _shown(layouts, options, form)
    # A swizzle's picture shows the tile without it, too. An access that names an array of C has the array's own tile alone.
    return _shown([winner] if winner.startswith("Sw<") else [*layouts, winner], options, form) or _shown(layouts, options, form)


def _shown(layouts: List[str], options: List[List[str]], form: str) -> List[str]:
    from ._errors import InputError
    from ._ask import asked

    pictures = []
    for layout in layouts:
        for words in options:
            try:
                pictures.append(asked(["show", layout, *words, form]))
            except InputError:
                pass
    return pictures


def _pictures(answer: "Answer") -> List[str]:
    """The pictures of a notebook's page."""
    if answer._words[0] == "explain":
        page = drawn(answer, "html")
        if len(page) > MOST_BYTES:
            return []
        return [f'<iframe style="width:100%;height:40em;border:0" srcdoc="{html.escape(page)}"></iframe>']
    return [f"<div>{_image(picture)}</div>" for picture in pictures_of(answer, "--svg=-")]


def _cell(value: Any) -> str:
    return html.escape("" if value is None else str(value))


def _table(rows: List[Any], names: List[str]) -> str:
    if any(getattr(row, "reason", None) for row in rows):  # why a row has no cost
        names = [*names, "reason"]
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(getattr(row, name, None))}</td>" for name in names) + "</tr>" for row in rows[:MOST_ROWS]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{_more(len(rows), 'accesses')}"


def _kernels(answer: Any) -> str:
    """A table for each compiled kernel, of the accesses that a lane executes; MOST_ROWS in all."""
    parts, left = [], MOST_ROWS
    for kernel in answer.kernels:
        names = ["line", "op", "verdict", "wavefronts", "ideal", "excess", "layout", "source"]
        rows = _together([_Line(one) for one in kernel.accesses or [] if one.executed is not False], names)
        names = names if any(one.source for one in rows) else names[:-1]
        parts.append(f"<p><code>{_cell(_lines.title_of(kernel))}</code>, block {_cell(kernel.block)}</p>")
        parts.append(f"<p>{_cell(kernel.refused)}</p>" if kernel.refused else "")
        parts.append(_table(rows[:left], names) if left and rows else "")
        parts.append(f"<p>and {len(rows) - left} more accesses</p>" if len(rows) > left else "")
        left = max(0, left - len(rows))
        rest = dataclasses.replace(kernel, accesses=None, refused=None)
        lines = _lines.kernel_lines(rest)
        parts.append(_text("\n".join(lines)) if lines else "")
    parts.append(_text("\n".join(_lines.since_lines(answer.since))) if answer.since else "")
    return "".join(parts)


def _together(rows: List[Any], names: List[str]) -> List[Any]:
    """Rows with equal cells as one, whose instruction has their number: `ld.shared.f32 x4`."""
    kept: Dict[Any, List[Any]] = {}
    for row in rows:
        kept.setdefault(tuple(getattr(row, name, None) for name in [*names, "reason"]), []).append(row)
    for first, *more in kept.values():
        first.op += f" x{1 + len(more)}" if more else ""
    return [same[0] for same in kept.values()]


class _Line:
    """An access whose `line` has the name of its file, or is the line of the PTX."""

    def __init__(self, access: Any) -> None:
        self.__dict__.update(vars(access))
        self.line = _lines.place_of(access) if access.file else f"PTX {access.ptx_line}" if access.ptx_line else access.sass_line
        self.source = access.source and access.source.strip()


def _descriptor(answer: Any) -> str:
    """The first descriptor of an answer, field by field; the others, for other bases, are folded."""
    bases = answer.bases
    fields = {
        "descriptor": answer.expression or answer.descriptor,
        "read by": f"{answer.for_}, operand {answer.operand}" if answer.operand else answer.for_,
        "mode": answer.mode,
        "major": answer.major,
        "stride byte offset": _read(answer.stride_byte_offset, answer.stride_byte_offset_read),
        "leading byte offset": _read(answer.leading_byte_offset, answer.leading_byte_offset_read),
        "base offset": answer.base_offset,
        "start": answer.start,
        "start of each step of k": answer.k_starts,
        "bases": bases and _bases(bases),
        "domain": answer.domain,
        "evidence": answer.evidence,
        "reads": answer.reads,
        "notes": "; ".join(answer.notes or []) or None,
        "suspicions": "; ".join(answer.suspicions or []) or None,
        "reasons": "; ".join(answer.reasons or []) or None,
        "counterexample": answer.counterexample and repr(answer.counterexample),
    }
    rows = "".join(f"<tr><th>{name}</th><td>{_cell(value)}</td></tr>" for name, value in fields.items() if value is not None)
    others = (answer.solutions or [])[1:]
    if not others:
        return f"<table>{rows}</table>"
    lines = "\n".join(f"{one.expression}   bases: {_bases(one.bases)}; steps of k: {one.k_starts}" for one in others)
    folded = f"<details><summary>{len(others)} other descriptors, for some of these bases</summary>{_text(lines)}</details>"
    return f"<table>{rows}</table>{folded}"


def _bases(bases: Any) -> str:
    if bases.residues == [0]:
        return f"every multiple of {bases.period} bytes"
    return f"{', '.join(map(str, bases.residues))} modulo {bases.period} bytes"


def _read(value: Optional[int], is_read: Optional[bool]) -> Optional[str]:
    return None if value is None else f"{value} bytes" if is_read else f"{value} bytes, not read"


def _more(count: int, what: str) -> str:
    return f"<p>and {count - MOST_ROWS} more {what}</p>" if count > MOST_ROWS else ""


def _text(text: str) -> str:
    lines = text.split("\n")
    return f"<pre>{_cell(chr(10).join(lines[:MOST_ROWS]))}</pre>{_more(len(lines), 'lines')}"


def page_of(answer: "Answer") -> str:
    """An answer as a notebook shows it."""
    verdict = getattr(answer, "verdict", None)
    parts = []
    if verdict is not None:
        colour = COLOURS.get(verdict, "inherit")
        parts.append(f'<b style="color:{colour}">{_cell(verdict)}</b> ')
    parts.append(f"<code>{_cell(answer.command)}</code>")
    accesses = getattr(answer, "accesses", None)
    pictures = _pictures(answer)
    if answer._words[0] == "descriptor":
        parts.append(_descriptor(answer))
    elif answer._words[0] == "kernel":
        parts.append(_kernels(answer))
    elif accesses and verdict is not None:
        parts.append(f"<p>best: <code>{_cell(answer.winner)}</code></p>" if getattr(answer, "winner", None) else "")
        parts.append(_table(accesses, ["access", "verdict", "wavefronts", "ideal", "excess", "domain"]))
    elif not any("<iframe" in one for one in pictures):  # the page of a trace says it all
        parts.append(_text(repr(answer)))
    return "<div>" + "".join(parts + pictures) + "</div>"
