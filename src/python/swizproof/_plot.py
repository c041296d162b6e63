"""Plots of answers by matplotlib: the lanes of a phase over the banks of shared memory, or wavefronts as bars."""

from __future__ import annotations

import io
import itertools
import json
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple

if TYPE_CHECKING:
    from ._results import Answer

#: Panels of one figure: accesses, each with and without the swizzle.
MOST_PANELS = 8
#: Bars of one figure.
MOST_BARS = 32
#: Of a bank with one word, of a bank with several, of the ideal.
FREE, COLLIDING, IDEAL = "#8ec5ff", "#f4a3a8", "#1a7f37"


class Box(NamedTuple):
    """Words of neighbouring banks that the same lanes access in the same wavefront."""

    bank: int
    banks: int
    level: int
    lanes: str
    collides: bool


class Bar(NamedTuple):
    """The wavefronts of an instruction; None where it has no cost."""

    name: str
    wavefronts: Optional[int]
    ideal: int


class Group(NamedTuple):
    """The bars of a kernel, or of an answer without kernels."""

    title: str
    bars: List[Bar]


def _matplotlib() -> Tuple[Any, Any]:
    """matplotlib's Figure, which a notebook shows as a picture, and its ticker; or an error that names what to install."""
    try:
        from matplotlib import ticker
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise ImportError(
            "plot() needs matplotlib: pip install matplotlib, or apt-get install python3-matplotlib; an answer draws itself without it, "
            "and show(...).svg() is a figure"
        ) from missing

    class Plot(Figure):
        """A figure that a notebook shows without pyplot, which would show it twice."""

        def _repr_png_(self) -> bytes:
            from PIL import Image  # matplotlib needs it, too

            file, small = io.BytesIO(), io.BytesIO()
            self.savefig(file, format="png")
            Image.open(file).convert("RGB").quantize(32).save(small, format="png", optimize=True)  # a third of the bytes
            return small.getvalue()

    return Plot, ticker


# ------------------------------------------------------------------------------ lanes over banks


def _shown_lanes(lanes: List[int]) -> str:
    """`3`, `0 1`, `0-7`, `0..31`: few lanes by name, others by the first and the last."""
    if len(lanes) <= 2:
        return " ".join(map(str, lanes))
    return f"{lanes[0]}{'-' if lanes[-1] - lanes[0] == len(lanes) - 1 else '..'}{lanes[-1]}"


def boxes_of(side: Dict[str, Any]) -> List[Box]:
    """The boxes of a phase: the lanes that each bank serves, one word above the other. Neighbouring banks share a box where the
    same lanes have them in the same pass."""
    boxes: List[Box] = []
    for bank, served in enumerate(side["lanes"]):
        for level, lanes in enumerate(served):
            box = Box(bank, 1, level, _shown_lanes(lanes), len(served) > 1)
            left = [i for i, one in enumerate(boxes) if one.bank + one.banks == bank and one[2:] == box[2:]]
            if left:
                boxes[left[0]] = boxes[left[0]]._replace(banks=boxes[left[0]].banks + 1)
            else:
                boxes.append(box)
    return boxes


def _draw_lanes(axes: Any, ticker: Any, access: Dict[str, Any], side: Dict[str, Any]) -> None:
    banks, boxes = len(side["lanes"]), boxes_of(side)
    high = max(map(len, side["lanes"]))
    for box in boxes:
        axes.bar(
            box.bank, 1, box.banks, box.level, align="edge", color=COLLIDING if box.collides else FREE, edgecolor="white", linewidth=1
        )
        size = min(9, 150 / high, 12 * box.banks / max(1, len(box.lanes)))
        axes.text(box.bank + box.banks / 2, box.level + 0.5, box.lanes, ha="center", va="center", fontsize=size)
    first, last = access["phase_lanes"]
    waves = side["wavefronts"]
    cost = "a vector is split" if side["split"] else f"{waves} wavefront{'' if waves == 1 else 's'}, ideal {side['ideal']}"
    axes.set_title(f"{access['name']}, {side['name']}: {cost}", fontsize=10, loc="left")
    axes.set(xlim=(0, banks), ylim=(0, max(high, 2)), ylabel="pass")
    axes.set_xlabel(f"bank; a box: lanes with this word, of lanes {first} to {last} (phase {access['phase']} of {access['phases']})")
    axes.set_xticks([bank + 0.5 for bank in range(0, banks, max(1, banks // 16))])
    axes.set_xticklabels([str(bank) for bank in range(0, banks, max(1, banks // 16))])
    axes.yaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    _open(axes)


def _sides(answer: "Answer") -> List[Tuple[Dict[str, Any], Dict[str, Any]]]:
    """Each access of an answer's pictures, with each side of the picture: no swizzle, the swizzle."""
    from ._picture import pictures_of

    sides = []
    for document in pictures_of(answer, "--json"):
        (picture,) = json.loads(document)["pictures"]
        if "access" in picture:
            sides += [(picture["access"], side) for side in picture["sides"]]
    return sides


# --------------------------------------------------------------------------------------- bars


def _counted(bars: List[Bar]) -> List[Bar]:
    """Equal bars that follow each other as one: `4 x transpose.cu:33`."""
    runs = [(bar, len(list(same))) for bar, same in itertools.groupby(bars)]
    return [bar if count == 1 else bar._replace(name=f"{count} x {bar.name}") for bar, count in runs]


def _groups(answer: "Answer") -> List[Group]:
    """The wavefronts that an answer has: of accesses, of rows of addresses, of the lines of kernels."""
    accesses = [one for one in getattr(answer, "accesses", None) or [] if hasattr(one, "access")]
    groups = [Group("", [Bar(one.access, getattr(one, "wavefronts", None), getattr(one, "ideal", 0)) for one in accesses])]
    predictions = getattr(answer, "predictions", None) or []
    groups.append(Group("", [Bar(f"row {row}", one.wavefronts, one.ideal) for row, one in enumerate(predictions)]))
    for kernel in getattr(answer, "kernels", None) or []:
        lines = getattr(kernel, "lines", None) or getattr(kernel, "accesses", None) or []
        bars = [Bar(f"{_where(one)} {one.op}", one.wavefronts, one.ideal) for one in lines if getattr(one, "wavefronts", None)]
        groups.append(Group(kernel.kernel, _counted(bars)))
    return [group for group in groups if group.bars]


def _where(line: Any) -> str:
    return f"{line.file.rsplit('/', 1)[-1]}:{line.line}" if line.file and line.line else getattr(line, "sass", None) or ""


def _cut(text: str, most: int) -> str:
    """The end of a text, by which lines of one file differ."""
    return text if len(text) <= most else "..." + text[3 - most :]


def _draw_bars(axes: Any, ticker: Any, group: Group) -> None:
    bars = group.bars[:MOST_BARS]
    rows = range(len(bars))
    axes.barh(rows, [bar.wavefronts or 0 for bar in bars], color=[COLLIDING if (bar.wavefronts or 0) > bar.ideal else FREE for bar in bars])
    axes.plot([bar.ideal for bar in bars], rows, "|", color=IDEAL, markersize=12, markeredgewidth=2)
    for row, bar in zip(rows, bars):
        axes.text(bar.wavefronts or 0, row, "  no cost" if bar.wavefronts is None else f"  {bar.wavefronts}", va="center", fontsize=9)
    axes.set_yticks(rows, [_cut(bar.name, 48) for bar in bars])
    axes.invert_yaxis()
    left_out = len(group.bars) - len(bars)
    axes.set_xlabel("wavefronts; | ideal" + (f"; {left_out} more are not drawn" if left_out else ""))
    if group.title:
        axes.set_title(group.title if len(group.title) <= 100 else group.title[:97] + "...", fontsize=9, loc="left")
    axes.margins(x=0.12)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(nbins=6, integer=True))
    _open(axes)


def _open(axes: Any) -> None:
    for spine in ("top", "right"):
        axes.spines[spine].set_visible(False)


# ------------------------------------------------------------------------------------ the figure


def _figure(Figure: Any, inches: List[float], left_out: int, share: bool) -> Tuple[Any, List[Any]]:
    """A figure with axes of these heights, of one scale if they share it."""
    figure = Figure(figsize=(9, sum(inches) + 0.6 * len(inches)), layout="constrained")
    if left_out:
        figure.supxlabel(f"{left_out} more are not drawn: ask about fewer", fontsize=9)
    return figure, list(figure.subplots(len(inches), squeeze=False, sharex=share, gridspec_kw={"height_ratios": inches})[:, 0])


def figure_of(answer: "Answer") -> Any:
    """An answer as a figure of matplotlib. Raises ImportError without matplotlib, TypeError for what has nothing to plot."""
    Figure, ticker = _matplotlib()
    sides = _sides(answer)
    if sides:
        shown = sides[:MOST_PANELS]
        inches = [min(4.0, 0.5 + 0.22 * max(2, *map(len, side["lanes"]))) for _, side in shown]
        figure, panels = _figure(Figure, inches, len(sides) - len(shown), share=False)
        for axes, (access, side) in zip(panels, shown):
            _draw_lanes(axes, ticker, access, side)
        return figure
    groups = _groups(answer)
    if not groups:
        raise TypeError(
            f"{type(answer).__name__} has no lanes and no wavefronts to plot: check, find and show have them with an access, and so have "
            "predict, explain and kernel"
        )
    inches = [0.3 + 0.28 * min(len(group.bars), MOST_BARS) for group in groups[:MOST_PANELS]]
    figure, panels = _figure(Figure, inches, len(groups) - len(inches), share=True)
    for axes, group in zip(panels, groups):
        _draw_bars(axes, ticker, group)
    return figure
