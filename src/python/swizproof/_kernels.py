"""The answers about compiled kernels: a dataclass for the document of kernel and of flow, and for each object in it."""

from __future__ import annotations

from typing import Dict, List, Optional

from . import _lines
from ._answer import Answer
from ._objects import Fix
from ._record import Record, record


@record
class KernelWarp(Record):
    """The most expensive warp: addresses of its lanes without their common part, None for an inactive lane. `values` are the smallest numbers that it needs; with `every_launch` it needs none. `bases` has the addresses of arrays in that execution, where the cost may depend on them; `open_lanes` are inactive here, and may take part."""

    warp: int
    every_launch: bool
    values: Dict[str, int]
    lanes: List[Optional[int]]
    bases: Optional[Dict[str, int]] = None
    open_lanes: Optional[List[int]] = None


@record
class SourceLine(Record):
    """A line of a source file."""

    file: Optional[str] = None
    line: int = 0


@record
class KernelFunction(Record):
    """Wavefronts of an access for every value n of a parameter: at most `at_most[n % len(at_most)]`."""

    parameter: str
    at_most: List[int]


@record
class CompiledAccess(Record):
    """An instruction that accesses memory, at a line of PTX or of a dump of SASS; `pc` is its address in the kernel's SASS."""

    file: Optional[str] = None
    line: Optional[int] = None
    source: Optional[str] = None
    ptx_line: Optional[int] = None
    sass_line: Optional[int] = None
    op: str = ""
    pc: Optional[int] = None
    inlined_at: Optional[List[SourceLine]] = None
    calls: Optional[List[int]] = None
    verdict: str = "unknown"


@record
class KernelAccess(CompiledAccess):
    """One shared-memory instruction of a compiled kernel. `loop_depth`: loops around it. `executions`: by the warps of a block, if each launch has as many; `lost`: wavefronts above the ideal ones in these. `on_bases`: it rests on H18."""

    wavefronts: Optional[int] = None
    reached: bool = False
    seen: Optional[int] = None
    ideal: Optional[int] = None
    excess: Optional[int] = None
    loop_depth: int = 0
    executions: Optional[int] = None
    lost: Optional[int] = None
    address: Optional[str] = None
    layout: Optional[str] = None
    reason: Optional[str] = None
    executed: bool = True
    counterexample: Optional[KernelWarp] = None
    aligned: Optional[bool] = None
    in_bounds: Optional[bool] = None
    bounds_reason: Optional[str] = None
    on_bases: bool = False
    function: Optional[KernelFunction] = None


@record
class KernelFix(Record):
    """Fixes of an array in shared memory, for `executions` of a kernel's warps; `left_out` has the PTX lines of accesses that it was not searched for. A swizzle adds `added` instructions of warps to a block, as the source writes it: shift, and, xor for each address."""

    array: str
    start: str
    executions: int
    added: int
    accesses: int
    left_out: List[int]
    fixes: List[Fix]


@record
class KernelScales(Record):
    """Scale factors of a tcgen05.mma: their type, and the bytes of their words that the instruction descriptor selects for A and B."""

    type: str = ""
    a: Optional[int] = None
    b: Optional[int] = None


@record
class KernelInstruction(Record):
    """Fields of the instruction descriptor of a tcgen05.mma: shape, types, majors, signs, sparsity."""

    m: int = 0
    n: int = 0
    k: int = 0
    a: Optional[str] = None
    b: Optional[str] = None
    d: Optional[str] = None
    a_major: str = ""
    b_major: str = ""
    negates_a: bool = False
    negates_b: bool = False
    sparse: bool = False
    saturates: bool = False
    scales: Optional[KernelScales] = None


@record
class KernelOperand(Record):
    """A descriptor, an instruction descriptor of tcgen05.mma (`instruction`; a matrix in shared memory then has `reads` bytes), or an address of a bulk copy (`in_bounds`: all of its bytes lie in `array`): its pattern's start, or the address, must be a multiple of `needed` bytes and is proved to be a multiple of `guaranteed`; address `base` of `array` is a counterexample."""

    file: Optional[str] = None
    line: Optional[int] = None
    source: Optional[str] = None
    ptx_line: Optional[int] = None
    sass_line: Optional[int] = None
    op: str = ""
    calls: Optional[List[int]] = None
    operand: str = ""
    verdict: str = "unknown"
    descriptor: Optional[str] = None
    mode: Optional[str] = None
    leading_byte_offset: Optional[int] = None
    stride_byte_offset: Optional[int] = None
    base_offset: Optional[int] = None
    start: Optional[str] = None
    needed: int = 0
    guaranteed: Optional[int] = None
    instruction: Optional[KernelInstruction] = None
    reads: Optional[int] = None
    in_bounds: Optional[bool] = None
    reason: Optional[str] = None
    executed: bool = True
    array: Optional[str] = None
    base: Optional[int] = None
    on_bases: bool = False
    values: Optional[Dict[str, int]] = None


@record
class KernelVector(Record):
    """One vector access that replaces neighbouring accesses at these PTX lines: wavefronts of a warp before, in sum, and after."""

    array: str
    file: Optional[str] = None
    line: Optional[int] = None
    ptx_lines: Optional[List[int]] = None
    instruction: str = ""
    before: int = 0
    after: int = 0


@record
class RaceAccess(Record):
    """An access of a race: `thread` is threadIdx, `write` is true for stores and atomics."""

    op: str
    ptx_line: int
    thread: List[int]
    write: bool
    file: Optional[str] = None
    line: Optional[int] = None
    inlined_at: Optional[List[SourceLine]] = None


@record
class RaceData(Record):
    """A number that a thread loads and that a race needs: `value` at `address`, such as "p+12", 12 bytes behind what the parameter p points to."""

    op: str
    ptx_line: int
    thread: List[int]
    value: int
    address: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None
    inlined_at: Optional[List[SourceLine]] = None


@record
class Race(Record):
    """Two threads of a block access `byte` in one interval between barriers, after `barriers` barriers: `offset` bytes into `array`. `kind` is "lost store" (both write, and values differ, or differ for some data), "race" (one reads, or it is not known whether what both write differs) or "same-value race" (both write one value for all data); `block`, `block_index` and `params` are the launch. It happens in this launch for all data, or if the loaded numbers in `data` have these values; with `more_data` others lead to it too."""

    kind: str
    byte: int
    offset: int
    barriers: int
    block: List[int]
    block_index: List[int]
    params: Dict[str, int]
    first: RaceAccess
    second: RaceAccess
    array: Optional[str] = None
    data: Optional[List[RaceData]] = None
    more_data: Optional[bool] = None


@record
class Races(Record):
    """Races of a kernel for shared memory, over all launches, with `races`: `accesses` to shared memory, `pairs` of them that may meet, races that were `found`."""

    verdict: str
    ptx_lines: List[int]
    accesses: int
    pairs: int
    found: List[Race]
    reason: Optional[str] = None
    assumed: Optional[List[str]] = None


@record
class ComparedLine(Record):
    """A line of two builds: its `accesses`, wavefronts above the ideal summed over them (`excess`), and by all executions of a block (`lost`), `before` and `after`; None if no bound or no number of executions is known. `memory` is "global" for a line of global memory: there `excess` is the number of sectors above the allowed one. A line of operands has the name of one, `operand`, and how many are `refuted` and `unknown`. A line of races has `race`; its `source` is the kind, its `op` both accesses."""

    kernel: str
    block: str
    source: str
    op: str
    accesses: Dict[str, int]
    excess: Dict[str, Optional[int]]
    lost: Dict[str, Optional[int]]
    memory: Optional[str] = None
    was_at: Optional[str] = None
    operand: Optional[str] = None
    refuted: Optional[Dict[str, int]] = None
    unknown: Optional[Dict[str, int]] = None
    race: Optional[bool] = None
    why: Optional[str] = None


@record
class Since(Record):
    """An earlier build, compared with this one: lines that are worse, better, added, removed, or may be worse (`undecided`), and how many are the same."""

    file: str
    same: int
    worse: List[ComparedLine]
    better: List[ComparedLine]
    added: List[ComparedLine]
    removed: List[ComparedLine]
    undecided: List[ComparedLine]
    kernels_added: List[str]
    kernels_removed: List[str]
    not_read: Optional[List[Dict[str, str]]] = None
    notes: Optional[List[str]] = None


@record
class PipeTime(Record):
    """Cycles of the shared-memory pipe for one block, each of one wavefront (H12): at most `wavefronts`, `lost` of them above the ideal. `open` accesses are not counted: their executions or wavefronts are not known."""

    wavefronts: int
    lost: int
    open: int


@record
class KernelGlobalAccess(CompiledAccess):
    """One access to global memory, with `global`: sectors of 32 bytes and lines of 128 bytes that a warp touches, at most and at least (`least`: by all lanes that may take part). `ideal` sectors hold the bytes of the lanes. `sectors` is a bound: with `reached` an execution takes as many, else `seen` is what a known one takes, if that is more than `allowed`. `stride` is the distance in bytes of each lane from the one before, in the worst case. None where the addresses are not known."""

    sectors: Optional[int] = None
    reached: bool = False
    seen: Optional[int] = None
    least: Optional[int] = None
    ideal: Optional[int] = None
    allowed: Optional[int] = None
    lines: Optional[int] = None
    least_lines: Optional[int] = None
    stride: Optional[int] = None
    loop_depth: int = 0
    executions: Optional[int] = None
    address: Optional[str] = None
    reason: Optional[str] = None
    executed: bool = True
    counterexample: Optional[KernelWarp] = None


@record
class CompiledKernel(Record):
    """A kernel of a file of PTX or SASS. `assumed` are the forms of SASS instructions that it uses and whose meaning was not measured, shuffles of lanes that are not known to execute them, and what the answers in `global_accesses` rest on."""

    kernel: str
    mangled: str
    file: str
    block: Optional[str] = None
    grid: Optional[str] = None
    refused: Optional[str] = None
    accesses: Optional[List[KernelAccess]] = None
    pipe: Optional[PipeTime] = None
    fixes: Optional[List[KernelFix]] = None
    unfixed: Optional[List[Dict[str, str]]] = None
    vectors: Optional[List[KernelVector]] = None
    operands: Optional[List[KernelOperand]] = None
    global_accesses: Optional[List[KernelGlobalAccess]] = None
    assumed: Optional[List[str]] = None
    races: Optional[Races] = None


@record
class Kernel(Answer):
    """What each shared-memory instruction of compiled kernels costs at most. `bounds_undecided` and `alignment_undecided` count accesses whose cost is decided
    without it: they change neither a verdict nor the exit code."""

    verdict: str
    arch: str
    kernels: List[CompiledKernel]
    proved: int
    refuted: int
    data_dependent: int
    unknown: int
    bounds_undecided: int
    alignment_undecided: int
    notes: Optional[List[str]] = None
    not_read: Optional[List[Dict[str, str]]] = None
    obligation: Optional[str] = None
    since: Optional[Since] = None

    def __str__(self) -> str:
        return _lines.text_of(self)


@record
class FlowLine(Record):
    """An instruction of a PTX file that moved data; `file` and `line` are those of the source, if the PTX has them."""

    ptx_line: int
    op: str
    file: Optional[str] = None
    line: Optional[int] = None
    inlined_at: Optional[List[SourceLine]] = None


@record
class FlowWrong(Record):
    """An element that is not what is expected: the first terms that are `missing` and `extra`, and the instructions that moved them."""

    element: str
    block: List[int]
    expected_terms: int
    found_terms: int
    missing: List[str]
    extra: List[str]
    lines: List[FlowLine]


@record
class FlowAccess(Record):
    """An access of a fault: its thread or unit (`by`), and the number of the execution by its warp, from 1."""

    by: str
    execution: Optional[int]
    at: FlowLine


@record
class FlowFault(Record):
    """A fault of a launch: its kind, both accesses in the order that was executed, the paragraph of the PTX ISA, and a possible fix.
    `why`: why the launch is not well synchronised, which may be the cause."""

    kind: str
    text: str
    block: List[int]
    lines: List[FlowLine]
    first: Optional[FlowAccess] = None
    second: Optional[FlowAccess] = None
    rule: Optional[str] = None
    fix: Optional[str] = None
    why: Optional[str] = None


@record
class FlowRepair(FlowLine):
    """A change of one instruction with which a refuted launch is proved."""

    edit: str = ""


@record
class FlowParameter(Record):
    """A kernel parameter and its use; `value` is usable in `--param NUMBER=value`."""

    key: str
    kind: str
    bytes: int
    type: str
    read: bool
    written: bool
    given: bool
    guessed: bool
    value: Optional[str] = None


@record
class FlowProposed(Record):
    """A question for a kernel: what is missing, which values are guesses, and the command line."""

    kernel: str
    parameters: List[FlowParameter]
    missing: List[str]
    guessed: List[str]
    reason: Optional[str] = None
    command: Optional[str] = None


@record
class Flow(Answer):
    """Which elements of global memory reach which element of a kernel's result, in one launch."""

    verdict: str
    kernel: str
    block: List[int]
    grid: List[int]
    blocks: int
    only_blocks: List[List[int]]
    expect: List[str]
    not_checked: List[str]
    assumed: List[str]
    elements: int
    right: int
    wrong: int
    missing: int
    unexpected: int
    missing_names: List[str]
    unexpected_names: List[str]
    values: List[str]
    instructions: int
    ways: int
    data: List[str]
    hints: List[str]
    cluster: Optional[List[int]] = None
    kind: Optional[str] = None
    domain: Optional[str] = None
    first_wrong: Optional[FlowWrong] = None
    fault: Optional[FlowFault] = None
    repairs: Optional[List[FlowRepair]] = None
    spare: Optional[List[FlowLine]] = None
    proposed: Optional[List[FlowProposed]] = None
    reason: Optional[str] = None
    at: Optional[FlowLine] = None
    obligation: Optional[str] = None
