"""The answers: a dataclass for each command's JSON document, and for each object in it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

from . import _picture
from ._answer import Answer
from ._record import Record, record

__all__ = [
    "AccessCost", "AccessMisfit", "AccessVerdict", "Accesses", "Align", "Answer", "Check", "Convert", "Crosscheck", "Descriptor", "Equal",
    "Eval", "Explain", "Find", "Flow", "Fragment", "Inspect", "Kernel", "Language", "LostStore", "Predict", "Prove", "Show", "Tma", "UndecidedAccess",
]  # fmt: skip


@record
class Values(Record):
    """A counterexample in the variables of a question."""

    question: str
    values: Dict[str, int]


@record
class Coverage(Record):
    """How much of the tile an access reaches whose text gives its positions, in bytes."""

    reached: int
    of: int


@record
class CollidingLane(Record):
    """A lane of a collision: its address in bytes, the bank word it requests, and its element if the tile is known."""

    lane: int
    address: int
    word: int
    coordinate: Optional[List[int]] = None
    offset: Optional[int] = None
    swizzled_offset: Optional[int] = None


@record
class Collision(Record):
    """Lanes of one phase that one bank serves one after the other: one for each word, or each lane for itself (`by_lane`)."""

    phase: int
    bank: int
    by_lane: bool
    lanes: List[CollidingLane]


@record
class WorstCase(Record):
    """Where an access costs most: `phase`, `bank` and `lanes` are those of a collision, if two lanes collide."""

    origin: Dict[str, int]
    base: int
    lanes: List[CollidingLane]
    phase: Optional[int] = None
    bank: Optional[int] = None
    by_lane: Optional[bool] = None


@record
class Misfit(Record):
    """The lane that the instruction cannot serve, and why."""

    origin: Dict[str, int]
    base: int
    lane: int
    reason: str


@record
class AccessVerdict(Record):
    """The verdict on one access. Its class says which case it is: AccessCost, AccessMisfit, LostStore or UndecidedAccess."""

    access: str
    verdict: str
    kind: str
    domain: str
    evidence: str


@record
class AccessCost(AccessVerdict):
    """What an access costs in the worst case over all positions in the tile and all bases; `at_footprints`: at multiples of its size."""

    wavefronts: int
    ideal: int
    excess: int
    at_most: int
    degree: List[int]
    engines: List[str]
    total: Optional[int] = None
    coverage: Optional[Coverage] = None
    counterexample: Optional[WorstCase] = None
    at_footprints: Optional[Dict[str, Any]] = None


@record
class AccessMisfit(AccessVerdict):
    """An access that does not fit its tile: a lane is outside, misaligned, or its vector is split."""

    reason: str
    ideal: int
    at_most: int
    engines: List[str]
    counterexample: Misfit
    at_footprints: Optional[Dict[str, Any]] = None


@record
class LostStore(AccessVerdict):
    """A store to elements that share a place; `counterexample` names two of them."""

    reason: str
    ideal: int
    at_most: int
    engines: List[str]
    counterexample: Dict[str, int]


@record
class UndecidedAccess(AccessVerdict):
    """An access that no engine decided, and why."""

    reason: str


AccessVerdict._cases = {"cost": AccessCost, "misfit": AccessMisfit, "lost_store": LostStore, "unknown": UndecidedAccess}


@record
class Difference(Record):
    """An input at which two layouts differ, from this base."""

    input: int
    left: int
    right: int
    base: int
    bit: Optional[int] = None


@record
class Candidate(Record):
    """One of the best that `find` has found: a swizzle, a pitch or a linear map, with what it costs."""

    swizzle: Optional[str] = None
    unit: Optional[str] = None
    excess: Optional[int] = None
    total: Optional[int] = None
    wavefronts: Optional[List[int]] = None
    totals: Optional[List[int]] = None
    on_bytes: Optional[str] = None
    tma: Optional[str] = None
    tma_reason: Optional[str] = None
    box: Optional[List[int]] = None
    box_modes: Optional[List[int]] = None
    boxes: Optional[int] = None
    box_element_bits: Optional[int] = None
    keeps_16_byte_vectors: Optional[bool] = None
    period: Optional[int] = None
    memory: Optional[int] = None
    pitch: Optional[int] = None
    map: Optional[str] = None
    rows: Optional[List[int]] = None


@record
class Fact(Record):
    """How a fact of `inspect` was decided, and by which engines."""

    verdict: str
    engines: Optional[List[str]] = None
    reason: Optional[str] = None
    counterexample: Optional[Values] = None


@record
class FactEvidence(Record):
    """How each fact of `inspect` was decided."""

    injective: Fact
    bijective: Fact
    involution: Fact
    linear: Fact
    kept_low_bits: Fact
    span: Fact
    period: Fact
    alignment: Fact


@record
class Bases(Record):
    """The base addresses for which an answer holds: by residues of a period, or as multiples."""

    period: Optional[int] = None
    residues: Optional[List[int]] = None
    multiples_of: Optional[int] = None
    also: Optional[List[int]] = None
    exact: Optional[bool] = None


@record
class TileDescriptor(Record):
    """One descriptor that reads a tile. Offsets and steps are bytes."""

    major: Optional[str] = None
    mode: Optional[str] = None
    leading_byte_offset: Optional[int] = None
    leading_byte_offset_read: Optional[bool] = None
    stride_byte_offset: Optional[int] = None
    stride_byte_offset_read: Optional[bool] = None
    base_offset: Optional[int] = None
    start: Optional[int] = None
    k_step: Optional[int] = None
    k_step_is_every: Optional[bool] = None
    mn_step: Optional[int] = None
    mn_step_is_every: Optional[bool] = None
    k_starts: Optional[List[int]] = None
    mn_starts: Optional[List[int]] = None
    rest_starts: Optional[List[int]] = None
    starts: Optional[List[int]] = None
    descriptor: Optional[str] = None
    expression: Optional[str] = None
    bases: Optional[Bases] = None


@record
class Misread(Record):
    """An element that the instruction reads from another byte than it is stored at."""

    row: int
    k: int
    rest: int
    base: int
    read: int
    stored: int


@record
class TmaBoxes(Record):
    """Boxes of one mode that write a tile."""

    swizzle: Optional[str] = None
    interleave: Optional[str] = None
    box: Optional[List[int]] = None
    box_modes: Optional[List[int]] = None
    box_steps: Optional[List[int]] = None
    boxes: Optional[int] = None
    pitch: Optional[int] = None
    bytes: Optional[int] = None
    destination_alignment: Optional[int] = None
    layout: Optional[str] = None
    engines: Optional[List[str]] = None


@record
class TmaBoxType(Record):
    """One box of one data type: the rules of cuda.h that it breaks, and what it writes if it breaks none."""

    data_type: str
    data_type_number: int
    verdict: str
    broken: List[str]
    takes: List[str]
    line_bytes: Optional[int] = None
    pitch: Optional[int] = None
    bytes: Optional[int] = None
    layout: Optional[str] = None
    split: Optional[TmaBoxes] = None


@record
class TmaCopy(Record):
    """One box: where it starts in the tensor and where it lands, in bytes from the tile's base."""

    at: List[int]
    destination: int


@record
class TmaTensor(Record):
    """What the tensor in global memory must keep, in bytes."""

    address_multiple_of: int
    strides_multiple_of: int


@record
class TmaLimits(Record):
    """What a box may be."""

    elements: int
    dimensions: int
    line_multiple_of: int
    line_at_most: Optional[int] = None


@record
class TmaWitness(Record):
    """A coordinate that no box of TMA can write as the layout wants it."""

    at: List[int]
    byte: Optional[int] = None
    tma: Optional[int] = None
    other: Optional[List[int]] = None
    layout: Optional[int] = None


@record
class Recast(Record):
    """The layout in elements of another size, as TMA has them."""

    element_bits: int
    layout: str


@record
class Prediction(Record):
    """What one instruction costs with these addresses."""

    wavefronts: int
    ideal: int
    excess: int
    degree: List[int]
    conflicts: Optional[List[Collision]] = None


@record
class Worst(Record):
    """The most expensive execution of a traced line: `address` has None for inactive lanes."""

    address: List[Optional[int]]
    wavefronts: int
    ideal: int
    degree: List[int]
    conflicts: List[Collision]


@record
class Line(Record):
    """What one instruction of a traced kernel costs, over all its executions."""

    pc: int
    sass: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None
    source: Optional[str] = None
    op: Optional[str] = None
    executed: Optional[int] = None
    wavefronts: Optional[int] = None
    ideal: Optional[int] = None
    excess: Optional[int] = None
    not_kept: Optional[int] = None
    worst: Optional[Worst] = None


@record
class Padding(Record):
    """A fix by another pitch, in bytes. `moves` has the bytes that each range moves further, if the ranges have no common start."""

    pitch: int
    padding: int
    after: int
    memory: int
    starts: Optional[List[int]] = None
    moves: Optional[List[int]] = None


@record
class PaddingFamily(Record):
    """The paddings that were searched, in bytes; `what` says it in words."""

    step: int
    most: int
    longest: int
    longer: List[int]
    all: bool
    what: str


@record
class Fix(Record):
    """What makes the accesses to a region of shared memory cheaper: wavefronts before and after."""

    region: List[List[int]]
    before: int
    ideal: int
    swizzle: Optional[str] = None
    after: Optional[int] = None
    unit: Optional[str] = None
    c: Optional[str] = None
    on_elements: Optional[str] = None
    on_offsets: Optional[bool] = None
    offset_starts: Optional[List[int]] = None
    padding: Optional[Padding] = None
    element_bytes: Optional[int] = None
    patterns: Optional[int] = None
    searched: Optional[int] = None
    too_many: Optional[bool] = None
    searched_what: Optional[str] = None
    padding_searched: Optional[PaddingFamily] = None


@record
class TracedKernel(Record):
    """A traced kernel, line by line."""

    kernel: str
    launches: int
    grid: List[int]
    block: List[int]
    executed: int
    wavefronts: int
    ideal: int
    excess: int
    unseen: List[str]
    lines: List[Line]
    fixes: List[Fix]


@record
class Source(Record):
    """A file of source that a trace names, and where it was found."""

    file: str
    path: Optional[str] = None
    reason: Optional[str] = None
    doubt: Optional[str] = None


@record
class HeldElement(Record):
    """An element of the matrix, and who holds it."""

    lane: int
    row: int
    column: int
    register: Optional[int] = None
    bit: Optional[int] = None
    value: Optional[int] = None
    fragment: Optional[List[int]] = None


@record
class Contradiction(Record):
    """A record that the model does not predict."""

    where: str
    recorded: str
    predicted: str


@record
class PictureLane(Record):
    """Where a lane asks, with and without the swizzle."""

    lane: int
    row: int
    col: int
    unswizzled: int
    address: int


@record
class PictureAccess(Record):
    """The phase of an access that a picture shows."""

    name: str
    instruction: str
    origin: Dict[str, int]
    phase: int
    phases: int
    phase_lanes: List[int]
    lanes: List[PictureLane]


@record
class PictureData(Record):
    """What a picture shows, as numbers."""

    layout: str
    element_bits: int
    base: int
    rows: int
    cols: int
    first_row: int
    first_col: int
    offset: List[int]
    access: Optional[PictureAccess] = None
    sides: Optional[List[Dict[str, Any]]] = None


# ------------------------------------------------------------------------------------------ the answers


@record
class Check(Answer):
    """Is each access free of bank conflicts, at every position and base?"""

    verdict: str
    layout: str
    one_to_one: str
    arch: str
    evidence: str
    certainty: str
    accesses: List[AccessVerdict]
    counterexample: Optional[Values] = None
    shared_place: Optional[Values] = None
    broadcast: Optional[bool] = None
    notes: Optional[List[str]] = None
    obligation: Optional[str] = None


@record
class Code(Record):
    """A layout as code."""

    language: str
    text: str


@record
class Find(Answer):
    """The best swizzle, padding or linear map for all accesses together."""

    verdict: str
    evidence: str
    certainty: str
    arch: str
    layout: str
    best: List[Candidate]
    optimal: bool
    searched: int
    searched_what: str
    conclusion: str
    winner: Optional[str]
    weights: List[int]
    ideal_total: Optional[int]
    accesses: List[AccessVerdict]
    splitting: Optional[int] = None
    cases: Optional[int] = None
    patterns: Optional[int] = None
    least_excess: Optional[Candidate] = None
    own_pitch_fits: Optional[bool] = None
    best_swizzle_excess: Optional[int] = None
    best_swizzle_total: Optional[int] = None
    beats_every_swizzle: Optional[bool] = None
    code: Optional[Code] = None
    notes: Optional[List[str]] = None
    obligation: Optional[str] = None


@record
class Convert(Answer):
    """A layout in other units, or as code. `unit_bits` is what its values count; `alignment` is bytes."""

    verdict: str
    layout: str
    converted: str
    unit_bits: int
    alignment: int
    code: Optional[Code] = None
    obligation: Optional[str] = None
    notes: Optional[List[str]] = None


@record
class Equal(Answer):
    """Are two layouts the same function?"""

    verdict: str
    left: str
    right: str
    domain: str
    unit: str
    engines: List[str]
    counterexample: Optional[Difference] = None
    reason: Optional[str] = None
    notes: Optional[List[str]] = None
    obligation: Optional[str] = None


@record
class Align(Answer):
    """For which bases does addressing relative to the base equal absolute addressing? `alignment` is bytes."""

    verdict: str
    layout: str
    alignment: Optional[int]
    exact: bool
    domain: str
    engines: List[str]
    reason: Optional[str] = None
    period: Optional[int] = None
    also: Optional[List[int]] = None
    witnesses: Optional[List[int]] = None
    address: Optional[int] = None
    notes: Optional[List[str]] = None
    obligation: Optional[str] = None


@record
class Inspect(Answer):
    """What kind of map a layout is. None is a fact that was not decided."""

    verdict: str
    layout: str
    domain: str
    unit: str
    injective: Optional[bool]
    bijective: Optional[bool]
    involution: Optional[bool]
    linear: Optional[bool]
    kept_low_bits: Optional[int]
    span: Optional[int]
    period: Optional[int]
    alignment: Optional[int]
    evidence: FactEvidence
    matrix: Optional[List[int]] = None
    notes: Optional[List[str]] = None


@record
class Eval(Answer):
    """Offsets, addresses or coordinates of a layout; or the integer that a function of the algebra gives, in `value`."""

    layout: Optional[str] = None
    unit: Optional[str] = None
    size: Optional[int] = None
    cosize: Optional[int] = None
    least: Optional[int] = None
    most: Optional[int] = None
    values: Union[List[int], List[str], None] = None
    value: Optional[str] = None
    notes: Optional[List[str]] = None


@record
class Descriptor(Answer):
    """The shared-memory descriptor with which the instruction reads this tile, the first of `solutions`; or what a number reads."""

    verdict: str
    layout: Optional[str]
    for_: str
    evidence: str
    operand: Optional[str] = None
    extent: Optional[List[int]] = None
    instructions: Optional[List[int]] = None
    major: Optional[str] = None
    mode: Optional[str] = None
    leading_byte_offset: Optional[int] = None
    leading_byte_offset_read: Optional[bool] = None
    stride_byte_offset: Optional[int] = None
    stride_byte_offset_read: Optional[bool] = None
    base_offset: Optional[int] = None
    start: Optional[int] = None
    k_step: Optional[int] = None
    k_step_is_every: Optional[bool] = None
    mn_step: Optional[int] = None
    mn_step_is_every: Optional[bool] = None
    k_starts: Optional[List[int]] = None
    mn_starts: Optional[List[int]] = None
    rest_starts: Optional[List[int]] = None
    starts: Optional[List[int]] = None
    descriptor: Optional[str] = None
    expression: Optional[str] = None
    bases: Optional[Bases] = None
    solutions: Optional[List[TileDescriptor]] = None
    reason: Optional[str] = None
    reasons: Optional[List[str]] = None
    counterexample: Optional[Misread] = None
    domain: Optional[str] = None
    engines: Optional[List[str]] = None
    notes: Optional[List[str]] = None
    reads: Optional[str] = None
    number: Optional[str] = None
    suspicions: Optional[List[str]] = None
    obligation: Optional[str] = None

    def _entries(self, indent: int) -> List[str]:
        several = len(self.solutions or [])
        entries = [one for one in super()._entries(indent) if not one.startswith("solutions=")]
        return entries + ([f"solutions=[... {several} more]"] if several > 1 else [])


@record
class Tma(Answer):
    """The arguments of cuTensorMapEncodeTiled that write exactly this tile, or the `reason` why none do; whether a `box` is legal, by `types`."""

    verdict: str
    arch: str
    evidence: str
    layout: Optional[str] = None
    types: Optional[List[TmaBoxType]] = None
    im2col: Optional[bool] = None
    swizzle: Optional[str] = None
    interleave: Optional[str] = None
    box: Optional[List[int]] = None
    boxes: Optional[int] = None
    pitch: Optional[int] = None
    bytes: Optional[int] = None
    destination_alignment: Optional[int] = None
    expect_tx: Optional[int] = None
    data_type: Optional[str] = None
    data_types: Optional[List[str]] = None
    data_type_number: Optional[int] = None
    swizzle_number: Optional[int] = None
    rank: Optional[int] = None
    box_modes: Optional[List[int]] = None
    box_steps: Optional[List[int]] = None
    fewest: Optional[bool] = None
    extents: Optional[List[int]] = None
    element_strides: Optional[List[int]] = None
    tensor: Optional[TmaTensor] = None
    limits: Optional[TmaLimits] = None
    bases: Optional[Bases] = None
    copies: Optional[List[TmaCopy]] = None
    image: Optional[str] = None
    engines: Optional[List[str]] = None
    domain: Optional[str] = None
    others: Optional[List[TmaBoxes]] = None
    code: Optional[List[str]] = None
    reason: Optional[str] = None
    searched: Optional[str] = None
    counterexample: Optional[TmaWitness] = None
    hint: Optional[str] = None
    recast: Optional[Recast] = None
    split: Optional[TmaBoxes] = None
    notes: Optional[List[str]] = None
    obligation: Optional[str] = None


@record
class Explain(Answer):
    """What each line of a traced kernel costs, which lanes conflict, and how to fix it."""

    verdict: str
    arch: str
    evidence: str
    certainty: str
    device: str
    recorded: str
    program: List[str]
    executed: int
    wavefronts: int
    ideal: int
    excess: int
    dropped: int
    failures: List[str]
    sources: List[Source]
    kernels: List[TracedKernel]


@record
class KernelWarp(Record):
    """A warp that takes the most: addresses of its lanes but for a part that all of them share, None for an inactive lane. `values` are the smallest numbers that it needs; with `every_launch` it needs none. `bases` has the addresses of arrays in that execution, where the cost may depend on them; `open_lanes` are inactive here, and may take part."""

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
class KernelAccess(Record):
    """One shared-memory instruction of a compiled kernel, at a line of PTX or of a dump of SASS; `pc` is its address in the kernel's SASS. `loop_depth`: loops around it. `executions`: by the warps of a block, if each launch has as many; `lost`: wavefronts above the ideal ones in these. `on_bases`: it rests on H18."""

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
    """Fixes of an array in shared memory, for `executions` of a kernel's warps; `left_out` has the PTX lines of accesses that it was not searched for."""

    array: str
    start: str
    executions: int
    accesses: int
    left_out: List[int]
    fixes: List[Fix]


@record
class KernelOperand(Record):
    """A descriptor, or an address of a bulk copy: `needed` bytes must divide its pattern's start or the address, `guaranteed` do; `base` of `array` refutes it."""

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


@record
class Race(Record):
    """Two threads of a block access `byte` in one interval, behind `barriers` barriers: `offset` bytes into `array`. `kind` is "lost store", "race" or "same-value race"; `block`, `block_index` and `params` are the launch."""

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
    """A line of two builds: its `accesses` and wavefronts above the ideal (`excess`) `before` and `after`; None if no bound is known."""

    kernel: str
    block: str
    source: str
    op: str
    accesses: Dict[str, int]
    excess: Dict[str, Optional[int]]
    was_at: Optional[str] = None
    why: Optional[str] = None


@record
class Since(Record):
    """An earlier build, compared with this one: lines that are worse, better, added, removed, and how many are the same."""

    file: str
    same: int
    worse: List[ComparedLine]
    better: List[ComparedLine]
    added: List[ComparedLine]
    removed: List[ComparedLine]
    kernels_added: List[str]
    kernels_removed: List[str]


@record
class CompiledKernel(Record):
    """A kernel of a file of PTX or SASS. `assumed` are the forms of SASS instructions that it uses and whose meaning was not measured, and shuffles of lanes that are not known to execute them."""

    kernel: str
    mangled: str
    file: str
    block: Optional[str] = None
    refused: Optional[str] = None
    accesses: Optional[List[KernelAccess]] = None
    fixes: Optional[List[KernelFix]] = None
    unfixed: Optional[List[Dict[str, str]]] = None
    vectors: Optional[List[KernelVector]] = None
    operands: Optional[List[KernelOperand]] = None
    assumed: Optional[List[str]] = None
    races: Optional[Races] = None


@record
class Kernel(Answer):
    """What each shared-memory instruction of compiled kernels costs at most."""

    verdict: str
    arch: str
    kernels: List[CompiledKernel]
    proved: int
    refuted: int
    data_dependent: int
    unknown: int
    notes: Optional[List[str]] = None
    not_read: Optional[List[Dict[str, str]]] = None
    obligation: Optional[str] = None
    since: Optional[Since] = None


@record
class FlowLine(Record):
    """An instruction of a PTX file that moved data; `file` and `line` are those of the source, if the PTX has them."""

    ptx_line: int
    op: str
    file: Optional[str] = None
    line: Optional[int] = None


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
    """An access of a fault: who makes it, and which execution of the instruction by its warp, from 1 on."""

    by: str
    execution: Optional[int]
    at: FlowLine


@record
class FlowFault(Record):
    """A fault of a launch: its kind, both accesses in the order that was executed, the paragraph of the PTX ISA, and what would do."""

    kind: str
    text: str
    block: List[int]
    lines: List[FlowLine]
    first: Optional[FlowAccess] = None
    second: Optional[FlowAccess] = None
    rule: Optional[str] = None
    fix: Optional[str] = None


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
    kind: Optional[str] = None
    domain: Optional[str] = None
    first_wrong: Optional[FlowWrong] = None
    fault: Optional[FlowFault] = None
    spare: Optional[List[FlowLine]] = None
    reason: Optional[str] = None
    at: Optional[FlowLine] = None
    obligation: Optional[str] = None


@record
class Fragment(Answer):
    """Which element reaches which register of which lane; with `into` or `tv`, whether it belongs there."""

    verdict: str
    evidence: Optional[str] = None
    engines: Optional[List[str]] = None
    instruction: Optional[str] = None
    operand: Optional[str] = None
    needs: Optional[str] = None
    atom: Optional[List[int]] = None
    atoms: Optional[List[int]] = None
    shape: Optional[List[int]] = None
    indices: Union[List[str], Dict[str, str], None] = None
    element_bits: Optional[int] = None
    lanes: Optional[int] = None
    values: Optional[List[int]] = None
    held_by: Optional[List[int]] = None
    registers: Optional[int] = None
    register_bits: Optional[int] = None
    layout: Optional[str] = None
    layout_unit: Optional[str] = None
    elements: Optional[List[HeldElement]] = None
    notes: Optional[List[str]] = None
    fragment: Optional[str] = None
    tv: Optional[str] = None
    from_: Optional[str] = None
    into: Optional[str] = None
    domain: Optional[str] = None
    access: Optional[str] = None
    tile: Optional[str] = None
    every_address: Optional[bool] = None
    packing: Optional[str] = None
    conversion: Optional[str] = None
    counterexample: Optional[Dict[str, Any]] = None
    misaligned: Optional[Dict[str, int]] = None
    split: Optional[Dict[str, Any]] = None
    up_to: Optional[Dict[str, Any]] = None
    transposed: Optional[bool] = None
    movmatrix: Optional[Dict[str, Any]] = None
    hint: Optional[str] = None
    instead: Optional[str] = None
    instead_how: Optional[str] = None
    reason: Optional[str] = None
    obligation: Optional[str] = None


@record
class Crosscheck(Answer):
    """Do recorded device results, a profile or a trace equal the model?"""

    verdict: str
    compared: int
    mismatches: int
    evidence: str
    contradictions: List[Contradiction]
    never_compared: Optional[List[str]] = None
    records: Optional[List[Dict[str, Any]]] = None
    measurements: Optional[List[Dict[str, Any]]] = None
    sums: Optional[Dict[str, Any]] = None
    counted: Optional[Dict[str, Any]] = None
    traces: Optional[List[Dict[str, Any]]] = None
    trace_sums: Optional[Dict[str, Any]] = None
    compiled: Optional[List[Dict[str, Any]]] = None


@record
class Expense(Record):
    """What one access costs a budget: all its cases at its most expensive base, as often as its weight says."""

    obligation: str
    access: str
    weight: int
    total: int
    ideal: int


@record
class Budget(Record):
    """The wavefronts that a kernel may cost, those that it costs, and the least that its bytes need."""

    at_most: int
    total: int
    ideal: int
    accesses: List[Expense]


@record
class Claim(Record):
    """A claim of the catalogue, or an obligation, and its verdict."""

    name: str
    verdict: str
    domain: str
    engine: str
    engines: List[str]
    seconds: float
    source: str
    arch: Optional[str] = None
    evidence: Optional[str] = None
    certainty: Optional[str] = None
    statement: Optional[str] = None
    domain_not_empty: Optional[bool] = None
    control: Optional[Dict[str, Any]] = None
    wavefronts: Optional[int] = None
    detail: Optional[str] = None
    expect: Optional[str] = None
    found: Optional[str] = None
    counterexample: Optional[Values] = None
    reason: Optional[str] = None
    budget: Optional[Budget] = None
    notes: Optional[List[str]] = None
    accesses: Optional[List[AccessVerdict]] = None
    about: Optional[Dict[str, str]] = None
    kernel: Optional[CompiledKernel] = None
    flow: Optional[Flow] = None


@record
class Prove(Answer):
    """Do all claims hold: the built-in catalogue, or the obligations of files?"""

    verdict: str
    claims: List[Claim]
    proved: int
    refuted: int
    unknown: int
    errors: Optional[int] = None
    controls_refuted: Optional[int] = None
    domains_not_empty: Optional[int] = None
    seconds: Optional[float] = None
    certainty: Optional[str] = None
    cutlass: Optional[str] = None


@record
class Show(Answer):
    """The picture: `pictures` in numbers; `svg()` and `html()` as files to keep."""

    arch: str
    evidence: str
    certainty: str
    pictures: List[PictureData]
    notes: Optional[List[str]] = None

    def svg(self) -> str:
        """The figure, of one access at most."""
        return _picture.drawn(self, "svg")

    def html(self) -> str:
        """The page on which swizzle, access, origin and phase are chosen."""
        return _picture.drawn(self, "html")


@record
class Predict(Answer):
    """What instructions cost. `wavefronts`, `ideal`, `excess`, `degree`: numbers for one row of addresses, NumPy arrays or lists for n; `predictions` has the rows."""

    predictions: List[Prediction]
    verdict: str
    evidence: str
    certainty: str

    @property
    def wavefronts(self) -> Any:
        return self._column("wavefronts")

    @property
    def ideal(self) -> Any:
        return self._column("ideal")

    @property
    def excess(self) -> Any:
        return self._column("excess")

    @property
    def degree(self) -> Any:
        """The most distinct words in one bank, for each phase: shape (phases,) or (n, phases)."""
        return self._column("degree")

    def _column(self, name: str) -> Any:
        values = [getattr(one, name) for one in self.predictions]
        return self._shaped(values)


@record
class NamedAccess(Record):
    """A warp access pattern of a name: its lanes, the tile that it takes, its ideal wavefronts and where real code has it."""

    name: str
    text: str
    instruction: str
    rows: int
    row_bytes: int
    ideal: int
    seen_in: str


@record
class Accesses(Answer):
    """The named warp access patterns."""

    arch: str
    evidence: str
    evidence_text: str
    certainty: str
    accesses: List[NamedAccess]


@record
class LanguageForm(Record):
    """A form of the language; `names` are other words, or all words, of it."""

    text: str
    means: str
    names: Optional[List[str]] = None


@record
class LanguagePart(Record):
    """A part of the language, such as LAYOUT."""

    name: str
    about: str
    forms: List[LanguageForm]


@record
class Language(Answer):
    """What LAYOUT, ACCESS and their parts may be."""

    parts: List[LanguagePart]
