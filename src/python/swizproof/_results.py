"""The answers: a dataclass for each command's JSON document; of compiled kernels in _kernels.py, their objects in _objects.py."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

from . import _picture
from ._answer import Answer
from ._kernels import *
from ._objects import *
from ._record import Record, record

__all__ = [
    "AccessCost", "AccessMisfit", "AccessVerdict", "Accesses", "Align", "Answer", "Check", "Convert", "Crosscheck", "Descriptor", "Equal",
    "Eval", "Explain", "Find", "Flow", "Fragment", "Inspect", "Kernel", "Language", "LostStore", "Predict", "Prove", "Show", "Tma", "UndecidedAccess",
]  # fmt: skip


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
    """A layout in other units, or as code. `unit_bits`: size of the unit of its values, in bits; `alignment` is in bytes."""

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
    """Properties of a layout as a map. None: not decided."""

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
    """The shared-memory descriptor with which the instruction reads this tile, the first of `solutions`; or what a number reads. `address` is that of the tile, if the start of `number` is one."""

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
    address: Optional[int] = None
    counterexample: Optional[Misread] = None
    domain: Optional[str] = None
    engines: Optional[List[str]] = None
    notes: Optional[List[str]] = None
    reads: Optional[str] = None
    number: Optional[str] = None
    suspicions: Optional[List[str]] = None
    kind: Optional[str] = None
    instruction: Optional[KernelInstruction] = None
    section: Optional[str] = None
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
class Fragment(Answer):
    """The element in each register of each lane; with `into` or `tv`, whether it belongs there."""

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
    """Share of one access in a budget: the cost of all its cases at its most expensive base, times its weight."""

    obligation: str
    access: str
    weight: int
    total: int
    ideal: int


@record
class Budget(Record):
    """Wavefronts of a kernel: the limit, the cost, and the ideal."""

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

    def _entries(self, indent: int) -> List[str]:
        long = [f"{name}={type(value).__name__}(..)" for name, value in (("kernel", self.kernel), ("flow", self.flow)) if value]
        return [one for one in super()._entries(indent) if not one.startswith(("kernel=", "flow="))] + long


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
    """The picture: `pictures` as numbers; `svg()` and `html()` as text of files."""

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
    """A named warp access pattern: lanes, footprint, ideal wavefronts, and where real code uses it."""

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
