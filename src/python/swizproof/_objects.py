"""The objects in the answers: a dataclass for each."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from ._record import Record, record


@record
class Values(Record):
    """A counterexample in the variables of a question."""

    question: str
    values: Dict[str, int]


@record
class Coverage(Record):
    """Bytes of the tile that an access reaches, for an access with explicit positions."""

    reached: int
    of: int


@record
class CollidingLane(Record):
    """A lane of a collision: its address in bytes, its bank word, and its element if the tile is known."""

    lane: int
    address: int
    word: int
    coordinate: Optional[List[int]] = None
    offset: Optional[int] = None
    swizzled_offset: Optional[int] = None


@record
class Collision(Record):
    """Lanes of one phase that one bank serves one after the other: one pass for each distinct word, or for each lane (`by_lane`)."""

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
    """Worst-case cost of an access over all positions in the tile and all bases; `at_footprints`: only at multiples of its footprint. `lost_store`: two lanes that store to one byte."""

    wavefronts: int
    ideal: int
    excess: int
    at_most: int
    degree: List[int]
    engines: List[str]
    total: Optional[int] = None
    coverage: Optional[Coverage] = None
    lost_store: Optional[List[int]] = None
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
    """A store to elements that share an address; `counterexample` has two of them."""

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
    coordinate: Optional[List[int]] = None


@record
class Candidate(Record):
    """One of the best candidates of `find`: a swizzle, a pitch or a linear map, with its cost."""

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
    """Verdict on a fact of `inspect`, and the engines that decided it."""

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
    """Alignment requirements of the tensor in global memory, in bytes."""

    address_multiple_of: int
    strides_multiple_of: int


@record
class TmaLimits(Record):
    """Limits of a box."""

    elements: int
    dimensions: int
    line_multiple_of: int
    line_at_most: Optional[int] = None


@record
class TmaWitness(Record):
    """A coordinate that no TMA box writes to the layout's address."""

    at: List[int]
    byte: Optional[int] = None
    tma: Optional[int] = None
    other: Optional[List[int]] = None
    layout: Optional[int] = None


@record
class Recast(Record):
    """The layout in elements of the size that the TMA box uses."""

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
    """A fix by another pitch, in bytes. `moves`: bytes by which each range is shifted, if the ranges have no common start."""

    pitch: int
    padding: int
    after: int
    memory: int
    starts: Optional[List[int]] = None
    moves: Optional[List[int]] = None


@record
class PaddingFamily(Record):
    """The paddings that were searched, in bytes; `what` is a description."""

    step: int
    most: int
    longest: int
    longer: List[int]
    all: bool
    what: str


@record
class Fix(Record):
    """A fix for the accesses to a region of shared memory, with wavefronts before and after."""

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
    swizzle_memory: Optional[List[int]] = None
    padding: Optional[Padding] = None
    element_bytes: Optional[int] = None
    patterns: Optional[int] = None
    searched: Optional[int] = None
    too_many: Optional[bool] = None
    searched_what: Optional[str] = None
    padding_searched: Optional[PaddingFamily] = None


@record
class PipeUse(Record):
    """Use of the shared-memory pipe, as the profiler counted it: `wavefronts` in `cycles`. `of`: "busiest SM"; or an average of the "active SMs" in the cycles in which they have a warp, or of "all SMs" in all cycles."""

    wavefronts: int
    cycles: int
    of: str


@record
class TracedKernel(Record):
    """A traced kernel, line by line. `pipe`: with --ncu."""

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
    pipe: Optional[PipeUse] = None


@record
class Source(Record):
    """A file of source that a trace names, and where it was found."""

    file: str
    path: Optional[str] = None
    reason: Optional[str] = None
    doubt: Optional[str] = None


@record
class HeldElement(Record):
    """An element of the matrix, and the lane and register that hold it."""

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
    """Address of a lane, with and without the swizzle."""

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
