"""Pages of notebooks: a verdict, its numbers, and the picture that `swizproof show` draws."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from ._results import Answer

#: Of verdicts.
COLOURS = {"proved": "#1a7f37", "refuted": "#cf222e", "unknown": "#9a6700"}
#: Commands about a tile.
DRAWN = ("align", "check", "convert", "descriptor", "equal", "eval", "find", "inspect", "show", "tma")
#: Pages of this many bytes and more are left out of a notebook.
MOST_BYTES = 4 << 20
#: Rows of a table, and lines of a text, that a notebook shows.
MOST_ROWS = 32


def drawn(answer: "Answer", form: str) -> str:
    """The picture to an answer's command line: `svg` or `html`."""
    from ._ask import asked

    return asked([*answer._words, f"--{form}=-"])


def _svg(words: List[str]) -> str:
    """A figure as an image of its own, whose styles and names are not the notebook's; nothing where there is none."""
    from ._errors import InputError
    from ._ask import asked

    try:
        picture = asked([*words, "--svg=-"])
    except InputError:
        return ""  # no tile, or too large a one to draw
    data = base64.b64encode(picture.encode()).decode()
    return f'<img alt="banks of shared memory" style="max-width:100%;background:#fff" src="data:image/svg+xml;base64,{data}"/>'


def _options_of(words: List[str], names: List[str]) -> List[str]:
    """The options of these names among words."""
    return [word for word in words if any(word.startswith(f"--{name}=") for name in names)]


def _pictures(answer: "Answer") -> List[str]:
    """The pictures to an answer: the tile, once for each access that is asked about."""
    command, *rest = answer._words
    if command == "explain":
        page = drawn(answer, "html")
        if len(page) > MOST_BYTES:
            return []
        return [f'<iframe style="width:100%;height:40em;border:0" srcdoc="{html.escape(page)}"></iframe>']
    if command not in DRAWN:
        return []
    layouts = [rest[0]] if command != "equal" else rest[:2]
    winner = getattr(answer, "winner", None)
    if winner:  # a swizzle's picture shows the tile without it, too
        layouts = [winner] if winner.startswith("Sw<") else [*layouts, winner]
    kept = _options_of(rest, ["element", "arch"])
    if command == "show":
        kept = [word for word in rest[1:] if not word.startswith("--access=")]
    accesses = _options_of(rest, ["access"])
    return [
        f"<div>{picture}</div>"
        for layout in layouts
        for access in accesses or [""]
        for picture in [_svg(["show", layout, *kept, *filter(None, [access])])]
        if picture
    ]


def _cell(value: Any) -> str:
    return html.escape("" if value is None else str(value))


def _table(rows: List[Any]) -> str:
    names = ["access", "verdict", "wavefronts", "ideal", "excess", "domain"]
    if any(hasattr(row, "reason") for row in rows):  # of what has no cost
        names.append("reason")
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(getattr(row, name, None))}</td>" for name in names) + "</tr>" for row in rows[:MOST_ROWS]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{_more(len(rows), 'accesses')}"


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
    if accesses and verdict is not None:
        parts.append(_table(accesses))
    elif not any("<iframe" in one for one in pictures):  # the page of a trace says it all
        parts.append(_text(repr(answer)))
    return "<div>" + "".join(parts + pictures) + "</div>"
