"""Answers about compiled kernels as short lines: what print(), NotProved and notebooks show."""

from __future__ import annotations

import linecache
import os
import re
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple

if TYPE_CHECKING:
    from ._kernels import CompiledKernel, Kernel, KernelFix, Race, Races, Since

#: Races that are shown of a kernel.
MOST_RACES = 4


def without_tags(name: str) -> str:
    """The name of a kernel without the ABI tags that Numba adds."""
    return re.sub(r"\[abi:[^]]*\]", "", name)


def title_of(one: "CompiledKernel") -> str:
    """The name of a kernel, and its configuration if other kernels have the same name."""
    config = getattr(one, "config", "")
    return without_tags(one.kernel) + (f"  {config}" if config else "")


def place_of(one: Any) -> str:
    """The place of an instruction: in the source, with the line of the kernel that inlined code belongs to, or else in PTX or SASS."""
    if one.file:
        outer = (getattr(one, "inlined_at", None) or [None])[-1]
        name = os.path.basename(outer.file or "") + ":" if outer and outer.file != one.file else ""
        return f"{os.path.basename(one.file)}:{one.line}" + (f" from {name}{outer.line}" if outer else "")
    return f"PTX line {one.ptx_line}" if one.ptx_line else f"line {one.sass_line}"


def _source_of(one: Any) -> str:
    """The line of source, below the columns; empty if it cannot be read."""
    source = (getattr(one, "source", None) or linecache.getline(one.file or "", one.line or 0)).strip()
    return f"\n         {source}" if source else ""


def _grouped(rows: Iterable[Tuple[str, str]], more: str) -> List[str]:
    """Equal rows together, with their number."""
    counts: Dict[Tuple[str, str], int] = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    return [text + (f" ({count} {more})" if count > 1 else "") + source for (text, source), count in counts.items()]


def _row(one: Any, cost: str, reason: Optional[str] = None) -> Tuple[str, str]:
    return f"{one.verdict:8} {place_of(one)}  {one.op}  {cost}" + (f"; {reason}" if reason and reason != cost else ""), _source_of(one)


def _most(one: Any, most: int) -> str:
    """`8`, which an execution takes; `<=8`, a bound; or `4, <=8`."""
    return f"{one.seen}, <={most}" if one.seen else f"{'' if one.reached or not one.executed else '<='}{most}"


def _access_lines(accesses: Optional[List[Any]], number: str, what: str) -> List[str]:
    """Accesses in lines, equal ones together: verdict, place in the source, instruction, cost, and below it the source. `number`: the attribute."""
    rows = []
    for one in accesses or []:
        most = getattr(one, number)
        rows.append(_row(one, str(one.reason) if most is None else f"{_most(one, most)} {what}, ideal {one.ideal}", one.reason))
    return _grouped(rows, "instructions")


def _operand_lines(operands: Optional[List[Any]]) -> List[str]:
    rows = []
    for one in operands or []:
        found = f"{one.operand}: a multiple of {one.needed} bytes is needed, {one.guaranteed} found" if one.needed and one.guaranteed else one.operand
        rows.append(_row(one, found, one.reason))
    return _grouped(rows, "operands")


def _race_lines(one: "Race") -> List[str]:
    """A race: both threads with their lines of source, and the launch."""
    array = f" ({one.array}+{one.offset})" if one.array else ""
    parts = []
    for access, what in ((one.first, f"byte {one.byte:#x}{array}"), (one.second, "it")):
        thread = ",".join(map(str, access.thread))
        parts.append(f"thread ({thread}) {'writes' if access.write else 'reads'} {what} at {place_of(access)}")
    values = "".join(f", {name} = {value}" for name, value in one.params.items())
    launch = f"in a block of {','.join(map(str, one.block))}, block {','.join(map(str, one.block_index))}{values}"
    sources = dict.fromkeys(filter(None, map(_source_of, (one.first, one.second))))
    some = " for some data" if one.data else ""
    return [f"{one.kind}{some}: {parts[0]}, {parts[1]}" + "".join(sources), f"         {launch}"]


def _races_lines(races: "Optional[Races]") -> List[str]:
    if races is None:
        return []
    if races.verdict == "proved":
        assumed = f", if {', '.join(races.assumed)}" if races.assumed else ""
        return [f"proved   race free in shared memory for every launch{assumed}"]
    if not races.found:
        return [f"{races.verdict:8} races: {races.reason}"]
    lines = []
    for i, one in enumerate(races.found[:MOST_RACES]):
        text, launch = _race_lines(one)
        lines += [f"{races.verdict:8} {text}", *([launch] if i == 0 else [])]
    more = len(races.found) - MOST_RACES
    return lines + ([f"         and {more} more races"] if more > 0 else [])


def _fix_lines(fixes: "Optional[List[KernelFix]]", unfixed: Optional[List[Dict[str, str]]]) -> List[str]:
    lines = []
    for of in fixes or []:
        for one in of.fixes:
            ranges = ", ".join(f"{start:#x}..{end:#x}" for start, end in one.region)
            parts = [f"fix of array {of.array}, bytes {ranges}: {one.before} wavefronts, ideal {one.ideal}"]
            if one.swizzle:
                parts.append(f"{one.after} with {one.swizzle} of {one.unit}" + (f", {one.c}" if one.c else ""))
            if one.padding:
                parts.append(f"{one.padding.after} with {one.padding.padding} bytes after each {one.padding.pitch}")
            lines.append("; ".join(parts))
    return lines + [f"no fix of array {one['array']}: {one['reason']}" for one in unfixed or []]


def kernel_lines(one: "CompiledKernel", failing: bool = False) -> List[str]:
    """All that is decided of a kernel; operands only if they are not proved; with `failing` no row that is."""

    def shown(rows: Optional[List[Any]], all_rows: bool) -> List[Any]:
        return [row for row in rows or [] if row.executed is not False and (all_rows or row.verdict != "proved")]

    lines = [f"not decided: {one.refused}"] if one.refused else []
    lines += _access_lines(shown(one.accesses, not failing), "wavefronts", "wavefronts")
    lines += _access_lines(shown(one.global_accesses, not failing), "sectors", "sectors of global memory")
    lines += _operand_lines(shown(one.operands, False))
    lines += _races_lines(None if failing and one.races and one.races.verdict == "proved" else one.races)
    lines += _fix_lines(one.fixes, one.unfixed)
    return lines + [f"assumed: {text}" for text in one.assumed or []]


def since_lines(since: "Since") -> List[str]:
    """The comparison with an earlier build: how many lines are worse, better and the same, and those that changed."""
    kinds = {"worse": since.worse, "unknown": since.undecided, "better": since.better, "added": since.added, "removed": since.removed}
    counts = ", ".join(f"{len(lines)} {kind}" for kind, lines in kinds.items())
    lines = [f"compared with {since.file}: {counts}, {since.same} the same (lines)"]
    for kind, changed in kinds.items():
        for one in changed:
            op = f"{one.operand} of {one.op}" if one.operand else one.op
            was = f" (was {one.was_at})" if one.was_at else ""
            lines.append(f"{kind:8} {one.source}{was}  {op}{_change(one)}  {without_tags(one.kernel)}")
    lines += [f"not read {one['file']}: {one['reason']}" for one in since.not_read or []]
    lines += [f"only in the new build, or renamed: {name}" for name in since.kernels_added]
    return lines + [f"not compared, only in the old build: {name}" for name in since.kernels_removed]


def _change(one: Any) -> str:
    """What a line lost before, and loses now."""
    if one.operand:
        return f"  {one.why}" if one.why else ""
    unit = "sectors above the allowed ones" if one.memory == "global" else "wavefronts above the ideal"
    before, after = ("?" if one.excess.get(when) is None else str(one.excess[when]) for when in ("before", "after"))
    return f"  {after} {unit}, {before} before"


def text_of(answer: "Kernel") -> str:
    """The text of an answer; its last line has the verdict."""
    lines = []
    for one in [] if answer.since else answer.kernels:
        lines += [f"{title_of(one)}  block {one.block}", *kernel_lines(one)]
    lines += [f"not read {one['file']}: {one['reason']}" for one in answer.not_read or []]
    if answer.since:
        first, *rest = since_lines(answer.since)
        return "\n".join([*lines, *rest, f"{answer.verdict}: {first}"])
    sums = f"{answer.proved} proved, {answer.refuted} refuted, {answer.data_dependent} depend on data, {answer.unknown} unknown"
    races = [one.races.verdict for one in answer.kernels if one.races]
    counts = ((races.count("proved"), "race free"), (races.count("refuted"), "with races"), (races.count("unknown"), "undecided"))
    kernels = "; kernels: " + ", ".join(f"{count} {what}" for count, what in counts) if races else ""
    return "\n".join([*lines, f"{answer.verdict}: {sums}{kernels}"])
